"""How a site comes by its value: a node of another trace, an observation, a draw, or every value that there is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Size, Tensor
from torch.distributions import Categorical, Distribution, OneHotCategorical
from torch.nn.functional import one_hot

from unknot.core import gradients, validation
from unknot.core.axes import Layout, per_item, sum_event
from unknot.core.distributions import drawable, over
from unknot.core.evidence import FromPrior, Partial
from unknot.core.node import Node, Variable
from unknot.core.numerics import seen_finite
from unknot.core.potentials import Evidence
from unknot.core.relaxed import Concrete, Relaxed
from unknot.errors import TraceError


def reuse(name: str, dist: Distribution, source: Node, layout: Layout) -> Variable:
    """The node of a site that scores the value of ``source``, a node of another trace."""
    if not isinstance(source, Variable):
        raise TraceError(
            f"site '{name}': value= takes a random variable's node, not a {type(source).__name__}"
        )
    node = Variable(name, dist, source.value, source.known, source.leading_dims, source.event_dims)
    node.gradient, node.unbounded, node.scored_by = source.gradient, source.unbounded, source.scored_by
    node.label, node.source, node.axis = source.label, source, source.axis
    node.active, node.mask = source.active, source.mask  # what is switched off in q is off in p
    if source.evidence is not None:
        if source.evidence.about_classes:
            source.evidence.refuse_unfit(name, dist)
        node.condition(dist, source.evidence, source.evidence.condition_score(dist))
    node.shared_by, node.group = source.shared_by, source.group
    for slot, axis in source.axes.items():  # from now on these slots mean the axes that the value has
        position = source.leading_dims - 3 - slot
        if position >= 0 and source.value.shape[position] > 1:
            layout.own(axis)
    if node.axis is not None:
        layout.own(node.axis)
    check_shapes(name, dist, node.value, node.leading_dims, strict=name not in layout.known)
    return node


def observe(
    name: str,
    dist: Distribution,
    given: Any,
    event_dims: int | None,
    layout: Layout,
    active: Tensor | None,
    mask: Tensor | None,
) -> Variable:
    """The node of a site whose value is given for all items.

    Items outside a ``where`` block, ``active``, and elements outside a ``mask`` may hold anything, NaN for example:
    they are replaced by a value inside the support before they are looked at.
    """
    said = event_dims
    event_dims = layout.known.get(name) if event_dims is None else event_dims
    value = as_value(name, dist, given, event_dims=event_dims)
    own = len(dist.event_shape) if event_dims is None else event_dims
    leading = min(1, value.ndim - own)  # 0: one value shared by all items
    if leading == 1 and layout.has_items and value.shape[0] != layout.batch:
        raise TraceError(
            f"site '{name}': the observed value has shape {tuple(value.shape)}, {value.shape[0]} items, but the sites "
            f"before it have a batch of {layout.batch} items"
        )
    if leading < (1 if said else 0):
        raise TraceError(
            f"site '{name}': one value of {type(dist).__name__} has {own} axes, but the observed value has shape "
            f"{tuple(value.shape)}; expected (B, ...) with {1 + own} axes"
        )
    node = Variable(name, dist, value, True, leading, value.ndim - leading)
    check_shapes(name, dist, value, leading, strict=name not in layout.known)
    if mask is not None:
        node.mask = element_mask(name, mask, node)
        value = _filled(dist, value, node.mask if not dist.event_shape else node.mask[..., None])
    if active is not None and leading == 1 and not _seen_valid(value):
        value = _filled(dist, value, per_item(over(active, value.shape[:1]), node.event_dims))
    node.value = value
    if validation.is_on():
        _check_observed(name, dist, given, value, True, node.event_dims)
    return node


def draw(
    name: str,
    dist: Distribution,
    given: Partial | FromPrior | None,
    gradient: str,
    event_dims: int | None,
    layout: Layout,
    active: Tensor | None,
    use_mode: bool,
) -> Variable:
    """The node of a site that is drawn, or enumerated, for all items or for those that ``given`` leaves unknown."""
    if isinstance(given, FromPrior):
        event_dims = layout.prior_event_axes(name, dist, given.batch, event_dims, given.event_dims)
        layout.admit(name, Size((given.batch,)), has_items=True)
    elif isinstance(given, Partial):
        _check_items(name, given, layout)
        _check_evidence(name, dist, given)
        layout.admit(name, given.known.shape, has_items=True)
        event_dims = _label_event(dist, given.values) if event_dims is None else event_dims
    if gradient == "enumerate" and not use_mode:
        return _enumerate(name, dist, given, layout, event_dims, active)
    extra = layout.event_axes(name, dist, event_dims)  # event axes beyond the distribution's own
    if isinstance(given, Partial):
        _check_label_items(name, dist, given, extra)
    dist, sample_shape = layout.to_draw(name, dist, extra)
    event = extra + len(dist.event_shape)
    evidence = given.evidence if isinstance(given, Partial) else None
    plain = dist
    if evidence is not None:
        if evidence.about_classes and extra:
            raise TraceError(
                f"site '{name}': evidence about classes is about one variable per item, but each item has several; "
                "make one site for each, in a scope"
            )
        _check_possible(name, dist, evidence, active)
        dist = evidence.condition(dist)
    if use_mode:
        gradient, mode = "pathwise", gradients.mode(dist)
        drawn = gradients.Draw(mode.expand(sample_shape + mode.shape))
    else:
        source = dist if active is None else drawable(dist, active, event)
        drawn = gradients.draw(source, gradient, sample_shape, event)
    node = Variable(name, dist, drawn.value, False, drawn.value.ndim - event, event)
    node.gradient, node.unbounded = gradient, drawn.unbounded
    if isinstance(dist, Relaxed) and drawn.unbounded is not None:
        node.scored_by = dist.draws_scored_by
    if isinstance(given, Partial):
        label = _label(name, dist, given, event)
        _check_label_shape(name, label, drawn.value, event)
        node.value = torch.where(per_item(given.known, event), label, drawn.value)
        node.known = given.known
    if gradient == "detached":
        node.undetached = plain
        dist, plain = (gradients.detach_unlabeled(one, node.known, event) for one in (dist, plain))
        node.dist = dist
    if evidence is not None:
        node.condition(plain, evidence, dist)
    return node


def _enumerate(
    name: str,
    dist: Distribution,
    given: Partial | FromPrior | None,
    layout: Layout,
    event_dims: int | None,
    active: Tensor | None,
) -> Variable:
    """All values of a site on an axis of their own, ``(K, 1, ..., 1, 1, event...)``: all items share them.

    What is computed from the values alone is computed once, not for each item.

    An item whose label is known puts all its weight on that label, so one enumerated program serves labeled and
    unlabeled items alike (M2's objective).
    """
    event = len(dist.event_shape)
    extra = 0 if event_dims is None else event_dims - event
    known = event_dims is not None or name in layout.known
    many = not known and len(layout.shape) < len(dist.batch_shape) and bool(layout.shape)
    if extra or many:
        more = dist.batch_shape[-extra:] if extra else dist.batch_shape[len(layout.shape) :]
        raise TraceError(
            f"site '{name}': gradient='enumerate' takes one variable per item, but each item has {tuple(more)} of "
            "them; make one site for each, in a scope"
        )
    support = layout.support_of(gradients.support(dist))  # (K, event...)
    items = [
        layout.batch or 1,
        *dist.batch_shape[-1:],
        *(given.known.shape if isinstance(given, Partial) else ()),
    ]
    axis = layout.allocate(name, support.shape[0], max(items))
    ones = (1,) * (axis.slot + 2)  # the slots below, samples and items
    value = support.reshape(support.shape[0], *ones, *support.shape[1:])
    node = Variable(name, dist, value, False, axis.slot + 3, event)
    node.gradient, node.axis = "enumerate", axis
    if isinstance(given, Partial):
        node.label = _label(name, dist, given, event)
        node.known = given.known
        if given.evidence is not None:
            _check_possible(name, dist, given.evidence, active)
            node.condition(dist, given.evidence, given.evidence.condition(dist))
    return node


# ---- observations -----------------------------------------------------------------------------------------


def as_value(
    name: str, dist: Distribution, given: Any, known: Tensor | bool = True, event_dims: int | None = None
) -> Tensor:
    """An observed value in the form of the site's draws: class indices become one-hot where draws are.

    At one-of-K sites integers are class indices if they have an axis less than one-hot vectors, which is known from
    ``event_dims``; else unless their last axis has size K, then they are one-hot.
    """
    value = given if isinstance(given, Tensor) else torch.as_tensor(given)
    if isinstance(dist, Concrete | OneHotCategorical):
        return _as_one_hot(name, dist, value, known, event_dims)
    if isinstance(dist, Categorical):
        if value.is_floating_point():
            raise TraceError(f"site '{name}': classes are whole numbers, but the labels are {value.dtype}")
        return value.long() if known is True else value.long().clamp_min(0)
    parameters = [p for p in dist.__dict__.values() if isinstance(p, Tensor) and p.is_floating_point()]
    return value.to(parameters[0].dtype) if parameters and value.dtype != parameters[0].dtype else value


def _as_one_hot(
    name: str,
    dist: Concrete | OneHotCategorical,
    value: Tensor,
    known: Tensor | bool,
    event_dims: int | None,
) -> Tensor:
    classes = dist.event_shape[0]
    if not _is_index(name, dist, value, event_dims):
        if value.ndim == 0 or value.shape[-1] != classes:
            raise TraceError(
                f"site '{name}' has {classes} classes: expected class indices (whole numbers) or one-hot vectors "
                f"of size {classes}, but got {value.dtype} of shape {tuple(value.shape)}"
            )
        return value.to(dist.logits.dtype)
    inside = value.clamp(0, classes - 1)
    if validation.is_on() and not torch.equal(inside, value):
        _check_range(name, value, inside, classes, known)
    return one_hot(inside.long(), classes).to(dist.logits.dtype)


def _is_index(name: str, dist: Distribution, value: Tensor, event_dims: int | None) -> bool:
    """Whether a one-of-K value is given as class indices."""
    if value.is_floating_point():
        return False
    if event_dims is not None:
        return value.ndim <= event_dims
    if value.ndim < 2 or value.shape[-1] != dist.event_shape[0]:
        return True
    if len(dist.batch_shape) < 2 or dist.batch_shape[-2:] != value.shape[-2:]:
        return False
    if (
        value.shape[-2] == value.shape[-1]
    ):  # (B, D) variables, or parameters (S, B) and one-hot vectors (B, K)
        raise TraceError(
            f"site '{name}': whole numbers of shape {tuple(value.shape)} could be class indices of several variables "
            f"per item, or one-hot vectors of {dist.event_shape[0]} classes; say event_dims at the site"
        )
    return True


def _check_observed(
    name: str, dist: Distribution, given: Any, value: Tensor, known: Tensor | bool, event_dims: int
) -> None:
    """Refuse an observation outside the support; ``value`` is what :func:`as_value` made of what was ``given``."""
    if isinstance(dist, Concrete | OneHotCategorical) and value.ndim > torch.as_tensor(given).ndim:
        return  # their range was checked, and one-hot vectors made of them are what they must be
    validation.check_value(name, dist, value, known, event_dims)


def _check_range(name: str, index: Tensor, inside: Tensor, classes: int, known: Tensor | bool) -> None:
    """Refuse labels of known items that are not ``inside`` the range of classes."""
    bad = inside != index
    if isinstance(known, Tensor):
        bad = bad & known.reshape(known.shape + (1,) * (bad.ndim - known.ndim))
    if bool(bad.any()):
        item = int(bad.nonzero()[0, 0])
        raise TraceError(
            f"site '{name}': the label of item {item} is {index[item].tolist()}, but classes are 0 to {classes - 1}. "
            "If it marks an unknown label, use unknot.partial(labels) or unknot.partial(labels, known)."
        )


def check_shapes(
    name: str, dist: Distribution, value: Tensor, leading_dims: int, strict: bool = True
) -> None:
    """Refuse parameters that cannot broadcast with the value, or that would enlarge one item's value.

    ``strict`` also refuses those that may pair items with items; a program that was run at other sizes does not.
    """
    own = dist.batch_shape + dist.event_shape
    if own == value.shape:
        return
    event = value.shape[leading_dims:]
    aligned = own[len(own) - len(event) :] if len(own) >= len(event) else own
    fits = all(size in (1, want) for size, want in zip(reversed(aligned), reversed(event), strict=False))
    crosses = strict and _crosses_items(own, value.shape, leading_dims)
    if fits and _broadcasts(own, value.shape) and not crosses:
        return
    raise TraceError(
        f"site '{name}': the value has shape {tuple(value.shape)} ({leading_dims} leading axes, one item is "
        f"{tuple(event) or 'a number'}), but the parameters of {type(dist).__name__} have shape {tuple(own)}; "
        "axes are (samples, batch, event...), aligned from the right"
    )


def _crosses_items(own: torch.Size, shape: torch.Size, leading_dims: int) -> bool:
    """Whether parameters such as ``(B, 1)`` would meet a value ``(B,)`` as ``(B, B)``, items times items.

    Their batch axis has size one, and the axis before it, that of samples, the size of the batch.
    """
    batch = len(shape) - leading_dims + 1  # from the right
    if leading_dims == 0 or len(own) <= batch:
        return False
    items = shape[-batch]
    return own[-batch] == 1 != items and own[-batch - 1] == items


def _check_label_shape(name: str, label: Tensor, drawn: Tensor, event_dims: int) -> None:
    """Refuse labels for another number of items, or of another size, than the site draws."""
    leading = drawn.ndim - event_dims
    batch = drawn.shape[leading - 1 : leading]
    if label.shape[1:] == drawn.shape[leading:] and batch in (label.shape[:1], (1,)):
        return
    raise TraceError(
        f"site '{name}': labels of shape {tuple(label.shape)} do not fit draws of shape {tuple(drawn.shape)}, of "
        f"which the last {event_dims} axes are one item's value; expected {tuple(batch + drawn.shape[leading:])}"
    )


def _broadcasts(one: torch.Size, other: torch.Size) -> bool:
    pairs = zip(reversed(one), reversed(other), strict=False)
    return all(a == b or a == 1 or b == 1 for a, b in pairs)


def _check_label_items(name: str, dist: Distribution, given: Partial, extra: int) -> None:
    """Refuse labels of other items, or of values with another number of axes, than the parameters are of."""
    leading = dist.batch_shape[: len(dist.batch_shape) - extra]
    if leading and leading[-1] not in (1, len(given.known)) and len(given.known) != 1:
        raise TraceError(
            f"site '{name}': labels of shape {tuple(given.values.shape)} do not fit parameters of "
            f"{type(dist).__name__} with shape {tuple(dist.batch_shape + dist.event_shape)}; expected one label per "
            "item, of the shape of one item's value"
        )


def _label_event(dist: Distribution, values: Tensor) -> int | None:
    """How many axes one item's value has, as its labels show it; None for integers ``(B, D)``, which may be one-hot."""
    if isinstance(dist, Concrete | OneHotCategorical) and not values.is_floating_point():
        return 1 if values.ndim == 1 else None
    return values.ndim - 1


def _check_items(name: str, given: Partial, layout: Layout) -> None:
    """Refuse labels of another batch."""
    if layout.batch not in (None, 1, len(given.known)):
        raise TraceError(
            f"site '{name}': the labels are of {len(given.known)} items, but the sites before it have a batch of "
            f"{layout.batch} items"
        )


def _check_evidence(name: str, dist: Distribution, given: Partial) -> None:
    """Refuse evidence that does not fit the site's family, or that no value can have."""
    if given.evidence is not None:
        given.evidence.refuse_unfit(name, dist)
        if validation.is_on():
            given.evidence.check(name)


def _check_possible(name: str, dist: Distribution, evidence: Evidence, active: Tensor | None) -> None:
    """Refuse evidence that the site's parameters rule out, by logits of -inf for example."""
    if active is not None or not validation.is_on():
        return
    log_mass = evidence.log_mass(dist)
    if seen_finite(log_mass):
        return
    validation.check_parameters(name, dist)
    bad = ~log_mass.isfinite().reshape(-1, *log_mass.shape[-1:])
    if bool(bad.any()):
        raise TraceError(
            f"site '{name}': the evidence about item {int(bad.any(0).nonzero()[0])} has probability zero; the site's "
            "parameters rule out every value that it allows"
        )


def _label(name: str, dist: Distribution, given: Partial, event: int) -> Tensor:
    label = as_value(name, dist, given.values, given.known, event)
    if label.ndim != 1 + event:
        raise TraceError(
            f"site '{name}': labels have shape {tuple(given.values.shape)}, but one item's value has "
            f"{event} axes, so (B{', ...' if event else ','}) with {1 + event} axes was expected"
        )
    if validation.is_on():
        _check_observed(name, dist, given.values, label, given.known, event)
    return label


# ---- masks ------------------------------------------------------------------------------------------------


def element_mask(name: str, mask: Tensor, node: Variable) -> Tensor:
    """A mask ``(B,)`` or ``(B, event...)`` over the elements of a node's value that are scored one by one."""
    elements = node.event_dims - len(node.dist.event_shape)
    event = node.value.shape[node.leading_dims : node.leading_dims + elements]
    if mask.ndim > 1 + elements or any(
        size not in (1, own) for size, own in zip(mask.shape[1:], event, strict=False)
    ):
        raise TraceError(
            f"site '{name}': a mask of shape {tuple(mask.shape)} does not fit values of which one item has elements "
            f"{tuple(event)}; expected (B,) or (B, {', '.join(map(str, event))})"
        )
    return mask.reshape(mask.shape + (1,) * (1 + elements - mask.ndim))


def _seen_valid(value: Tensor) -> bool:
    """Whether no value is NaN; a compiled program does not look, and takes it that there may be some."""
    if not value.is_floating_point():
        return True
    return not torch.compiler.is_compiling() and not bool(value.isnan().any())


def _filled(dist: Distribution, value: Tensor, keep: Tensor) -> Tensor:
    """``value`` where ``keep``, and elsewhere the mean of the distribution, which is inside the support."""
    try:
        fill = dist.mean.detach().nan_to_num(0.0, 0.0, 0.0).to(value.dtype)
    except NotImplementedError:
        fill = torch.zeros_like(value)
    while fill.ndim > value.ndim:
        fill = fill[0]
    return torch.where(keep, value, fill)


# ---- losses -----------------------------------------------------------------------------------------------


def loss_event(name: str, value: Tensor, target: Tensor, layout: Layout, event_dims: int | None) -> int:
    """How many trailing axes of a prediction belong to one item.

    As many as the target has, or one more if the target holds class indices. Where both are possible, it must be said
    or known from the program.
    """
    if target.ndim == 0:
        raise TraceError(
            f"site '{name}': the target has no batch axis; expected one target per item, (B, ...)"
        )
    event_dims = layout.known.get(name) if event_dims is None else event_dims
    event = target.ndim - 1
    if event_dims is None:
        same = not target.is_sparse and value.shape[value.ndim - event :] == target.shape[1:]
        fitting = [event] if same or target.is_floating_point() else []
        if not target.is_floating_point() and value.is_floating_point() and value.ndim > target.ndim:
            fitting.append(event + 1)
        possible = [axes for axes in fitting if _is_batch(value.shape[: value.ndim - axes], target, layout)]
        if len(possible) > 1:
            raise TraceError(
                f"site '{name}': a prediction of shape {tuple(value.shape)} for targets of shape {tuple(target.shape)} "
                f"can be one value per target or logits of classes; say event_dims={possible[0]} or "
                f"event_dims={possible[1]} at the site, or run the program by unknot.trace(program, ...)"
            )
        event_dims = (possible or fitting or [event])[0]
    if value.ndim <= event:
        return event  # one prediction for all items
    leading = value.ndim - event_dims
    shared = (
        leading >= 1
        and value.shape[leading - 1] == 1
        and ((layout.batch == 1 and not layout.has_items) or name in layout.known or bool(layout.axes))
    )
    if leading < 1 or (value.shape[leading - 1] != target.shape[0] and not shared):
        raise TraceError(
            f"site '{name}': the prediction has shape {tuple(value.shape)} and the target {tuple(target.shape)}, which "
            f"are not of the same {target.shape[0]} items; axes are (samples, batch, event...)"
        )
    return event_dims


def _is_batch(leading: Size, target: Tensor, layout: Layout) -> bool:
    """Whether axes can be the leading ones of a prediction for the items of a target."""
    known = layout.shape[:-1] + target.shape[:1]
    if not leading or len(leading) > max(len(known), 1) or leading[-1] not in (1, target.shape[0]):
        return False
    return all(size in (1, own) for size, own in zip(reversed(leading), reversed(known), strict=False))


def item_loss(
    name: str, fn: Callable[[Tensor, Tensor], Tensor], value: Tensor, target: Tensor, event_dims: int
) -> tuple[Tensor, int]:
    """``fn(value, target)`` summed over each item, and how many leading axes it has.

    ``event_dims`` trailing axes of the prediction belong to one item. A target of the same axes, ``(B, event...)``, is
    repeated along the sample axes of the prediction, since torch's loss functions want two tensors of one shape; class
    indices and sparse targets go to ``fn`` as they are.
    """
    event = target.ndim - 1
    if value.ndim <= event:
        value = value.expand(target.shape[:1] + target.shape[1 : 1 + event - value.ndim] + value.shape)
    leading = value.ndim - event_dims
    if value.shape[leading - 1] != target.shape[0]:  # one prediction for all items, with a batch axis
        value = value.expand(value.shape[: leading - 1] + target.shape[:1] + value.shape[leading:])
    full = value.shape[:leading] + target.shape[1:]
    if event_dims == event and leading > 1 and not target.is_sparse:
        target = target.expand(full)
    loss = fn(value, target)
    if loss.ndim == 0:
        raise TraceError(
            f"site '{name}': the loss function returned one number for the whole batch; it must return one per "
            "item or per element (in torch.nn.functional: reduction='none')"
        )
    is_batch = loss.ndim >= leading and loss.shape[leading - 1] == value.shape[leading - 1]
    if loss.ndim == leading and is_batch:
        return loss, leading
    if loss.ndim == leading + event and is_batch:
        return sum_event(loss, event), leading
    raise TraceError(
        f"site '{name}': the loss has shape {tuple(loss.shape)}; expected one value per item, "
        f"{tuple(value.shape[:leading])}, or one per element, {tuple(full)}"
    )
