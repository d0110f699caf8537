"""What a site's ``value=`` can be besides a tensor: partial observations, and given values for generation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor

from unknot.core.potentials import Evidence, Interval, Measurement, potential
from unknot.core.validation import is_on
from unknot.errors import SpecError, TraceError
from unknot.schema import shown


class Tree(Protocol):
    """A tree of classes."""

    def mask(self, node: Any) -> Any:
        """The classes below the node of each item, ``(B, K)`` of bool: all of them for an item without a label."""


@dataclass(frozen=True)
class Partial:
    """What is known about a site, item by item. Make one with :func:`partial`.

    Attributes
    ----------
    values : Tensor
        Values ``(B, event...)``. What stands where ``known`` is false is never used.
    known : Tensor
        The items whose value is known, ``(B,)`` of bool.
    evidence : Evidence or None
        What is known about the others (:mod:`unknot.core.potentials`).
    """

    values: Tensor
    known: Tensor
    evidence: Evidence | None = None

    @property
    def informed(self) -> Tensor:
        """The items about which anything is known, ``(B,)`` of bool."""
        return self.known if self.evidence is None else self.known | self.evidence.informed

    def rows(self, index: Tensor) -> Partial:
        """The same for some items, or for items in another order.

        Parameters
        ----------
        index : Tensor
            Their indices.
        """
        evidence = None if self.evidence is None else self.evidence.rows(index)
        return Partial(self.values[index], self.known[index], evidence)

    def to(self, device: torch.device | str) -> Partial:
        """The same on another device.

        Parameters
        ----------
        device : torch.device or str
            Where to.
        """
        evidence = None if self.evidence is None else self.evidence.to(device)
        return Partial(self.values.to(device), self.known.to(device), evidence)


def partial(
    values: Any = None,
    known: Any = None,
    *,
    allowed: Any = None,
    probabilities: Any = None,
    tree: Tree | None = None,
    node: Any = None,
    confusion: Any = None,
    low: Any = None,
    high: Any = None,
    scale: Any = None,
) -> Partial:
    """Say what is known about the items' values: the one way to supervise, at any site, item by item.

    ``values`` alone are the values themselves. The other arguments are evidence about them: a non-negative potential
    ψ(y) for each item, which takes the place of a label in all objectives (docs/equations.md). An item with ψ = 1
    counts as unlabeled, one with a single possible value as labeled with it.

    Parameters
    ----------
    values : array, optional
        One value per item, ``(B, event...)``; what stands where nothing is known is never read. With ``confusion`` the
        class that was reported, ``(B,)``, or that each of M raters reported, ``(B, M)``.
    known : array of bool, optional
        The items whose value is known, ``(B,)``. Without it, -1 marks an unknown class (integers) and NaN an unknown
        number (floats); an item with a NaN in any of its entries is unknown.
    allowed : array of bool, optional
        The classes that are possible for each item, ``(B, K)``: "one of these", "none of those".
    probabilities : array, optional
        Soft labels, or likelihoods of each class, ``(B, K)``, of at least zero. Equal weights tell nothing, unless
        they are learned: gradient flows to them.
    tree, node : Tree and its nodes, optional
        A tree of classes and the node of each item, at any depth; it allows the classes below the node.
    confusion : array, optional
        p(reported r | true class k), ``(K, R)``, or ``(M, K, R)`` with a matrix for each of M raters, whose errors are
        independent given the class. Gradient flows to it, so it may be learned.
    low, high : array, optional
        The value is between them, ``(B, event...)``; an end that is infinite, or left out, is open.
    scale : array, optional
        ``values`` are measurements with a normal error of this standard deviation, a number or ``(B, event...)``.

    Returns
    -------
    Partial
        For a site's ``value=``.

    Examples
    --------
    >>> partial(torch.tensor([3, -1, 7])).known
    tensor([ True, False,  True])
    >>> partial(torch.tensor([[0.1, 0.2], [float("nan"), 0.0]])).known
    tensor([ True, False])
    >>> partial(torch.tensor([3, 5]), known=[True, False]).known
    tensor([ True, False])
    >>> several = partial(allowed=[[True, True, False], [False, False, True], [True, True, True]])
    >>> several.known, several.informed  # the second item has a single possible class, the third is unlabeled
    (tensor([False,  True, False]), tensor([ True,  True, False]))
    >>> partial(low=[0.0, 1.0], high=[1.0, 1.0]).known
    tensor([False,  True])
    """
    kinds = {
        "allowed": allowed,
        "probabilities": probabilities,
        "tree": tree,
        "confusion": confusion,
        "low= or high": low if high is None else high,
        "scale": scale,
    }
    chosen = [name for name, kind in kinds.items() if kind is not None]
    if len(chosen) > 1:
        raise TraceError(
            f"partial() takes one kind of evidence, but got {'= and '.join(chosen)}=; multiply potentials over the "
            "classes yourself and give them as probabilities="
        )
    takes_values = not chosen or chosen[0] in ("confusion", "scale")
    if takes_values != (values is not None):
        wanted = "needs values" if takes_values else f"takes {chosen[0]}= instead of values"
        raise TraceError(f"partial() {wanted}, the first argument")
    if (node is None) != (tree is None):
        raise TraceError(
            "partial() takes tree= and node= together: a tree of classes and the node of each item"
        )
    if tree is not None:
        allowed, chosen = tree.mask(node), ["allowed"]
    if not chosen:
        return _points(values, known)
    if chosen[0] == "allowed":
        mask = _table(allowed, "allowed").bool()
        return _classes(torch.where(mask, 0.0, -math.inf), "allowed", known)
    if chosen[0] == "probabilities":
        log_weights = _log(_table(probabilities, "probabilities"))
        every = torch.ones(len(log_weights), dtype=torch.bool, device=log_weights.device)
        return _classes(log_weights, "probabilities", known, every if log_weights.requires_grad else None)
    if chosen[0] == "confusion":
        return _reports(values, known, confusion)
    if chosen[0] == "scale":
        return _measurements(_points(values, known), scale)
    return _intervals(low, high, known)


def _points(values: Any, known: Any) -> Partial:
    try:
        values = torch.as_tensor(values)
    except (TypeError, ValueError, RuntimeError):  # words, None, rows of different length
        raise TraceError(
            "partial() takes numbers, one value per item, of which -1 is an unknown class and NaN an unknown number; "
            f"got {shown(values)}"
        ) from None
    if values.ndim == 0:
        raise TraceError("partial() takes one value per item, shape (B, ...), but got a single number")
    return Partial(values, _flags(known, values) if known is not None else _known_from(values))


def _flags(known: Any, values: Tensor) -> Tensor:
    """One known flag per item."""
    known = torch.as_tensor(known, dtype=torch.bool, device=values.device)
    if known.shape != values.shape[:1]:
        raise TraceError(
            f"partial() takes one known flag per item: values of shape {tuple(values.shape)} need known of "
            f"shape ({values.shape[0]},), but got {tuple(known.shape)}"
        )
    return known


def _known_from(values: Tensor) -> Tensor:
    present = values >= 0 if not values.is_floating_point() else ~torch.isnan(values)
    return present if present.ndim == 1 else present.flatten(1).all(1)


# ---- evidence about classes -------------------------------------------------------------------------------


def _classes(log_potential: Tensor, what: str, known: Any = None, informed: Tensor | None = None) -> Partial:
    """Evidence from log ψ ``(B, K)``; items that are not ``known`` to have any get ψ = 1."""
    if known is not None:
        log_potential = torch.where(_flags(known, log_potential).unsqueeze(1), log_potential, 0.0)
    return Partial(*potential(log_potential, what, informed))


def _table(given: Any, what: str) -> Tensor:
    """A row of numbers for each item."""
    table = torch.as_tensor(given)
    if table.ndim != 2 or 0 in table.shape:
        raise TraceError(
            f"partial({what}=) takes a row of K classes for each item, shape (B, K), but got {tuple(table.shape)}"
        )
    return table


def _log(weights: Tensor) -> Tensor:
    """log of weights; -inf for zero, without gradient, and NaN for what is negative."""
    weights = weights if weights.is_floating_point() else weights.to(torch.get_default_dtype())
    zero = weights == 0
    return torch.where(zero, -math.inf, torch.where(zero, 1.0, weights).log())


def _reports(values: Any, known: Any, confusion: Any) -> Partial:
    """Evidence Π_m C_m[y, r_m] from the classes that raters reported."""
    reports, matrices = torch.as_tensor(values), torch.as_tensor(confusion)
    reports = reports.unsqueeze(1) if reports.ndim == 1 else reports
    matrices = matrices.unsqueeze(0) if matrices.ndim == 2 else matrices
    if reports.ndim != 2 or reports.is_floating_point():
        raise TraceError(
            "partial(confusion=) takes the class that was reported for each item as whole numbers, (B,), or (B, M) for "
            f"M raters, with -1 for none; got {reports.dtype} of shape {tuple(torch.as_tensor(values).shape)}"
        )
    if matrices.ndim != 3 or len(matrices) != reports.shape[1]:
        raise TraceError(
            f"partial(confusion=) takes a matrix (K, R) for each of {reports.shape[1]} raters, but got shape "
            f"{tuple(torch.as_tensor(confusion).shape)}"
        )
    reported = reports >= 0
    if known is not None:
        reported = reported & _flags(known, reports).unsqueeze(1)
    _check_reports(reports, reported, matrices)
    inside = reports.clamp(0, matrices.shape[2] - 1)
    rater = torch.arange(len(matrices), device=reports.device)
    log_likelihood = _log(matrices).mT[rater, inside]  # (B, M, K)
    log_potential = torch.where(reported.unsqueeze(-1), log_likelihood, 0.0).sum(1)
    return _classes(log_potential, "confusion", informed=reported.any(1))


def _check_reports(reports: Tensor, reported: Tensor, matrices: Tensor) -> None:
    """Refuse reports that a matrix has no column for, and matrices whose rows are no probabilities."""
    if not is_on():
        return
    outside = reported & (reports >= matrices.shape[2])
    if bool(outside.any()):
        item = int(outside.any(1).nonzero()[0])
        raise TraceError(
            f"partial(confusion=): item {item} was reported as {reports[item].tolist()}, but the matrix has columns 0 "
            f"to {matrices.shape[2] - 1}"
        )
    rows = matrices.detach().sum(-1)
    if bool(((rows - 1).abs() > 1e-3).any()):
        rater, row = ((rows - 1).abs() > 1e-3).nonzero()[0].tolist()
        raise TraceError(
            f"partial(confusion=): row {row} of the matrix of rater {rater} sums to {rows[rater, row].item():.4g}, but "
            "C[k, r] is the probability of the report r given the class k; rows are true classes and sum to one"
        )


# ---- evidence about numbers -------------------------------------------------------------------------------


def _intervals(low: Any, high: Any, known: Any) -> Partial:
    ends = [
        torch.as_tensor(infinite if end is None else end)
        for end, infinite in ((low, -math.inf), (high, math.inf))
    ]
    try:
        start, end = torch.broadcast_tensors(*ends)
    except RuntimeError:
        raise TraceError(
            f"partial(low=, high=) takes ends of one shape, but got {tuple(ends[0].shape)} and {tuple(ends[1].shape)}"
        ) from None
    if start.ndim == 0:
        raise TraceError(
            "partial(low=, high=) takes one interval per item, (B, ...), but got a single number"
        )
    floats = [one.dtype for one, given in zip((start, end), (low, high), strict=True) if given is not None]
    dtype = torch.promote_types(floats[0], floats[-1])
    dtype = dtype if dtype.is_floating_point else torch.get_default_dtype()
    start, end = start.to(dtype), end.to(dtype)
    if known is not None:
        given = _per_item(_flags(known, start), start)
        start, end = torch.where(given, start, -math.inf), torch.where(given, end, math.inf)
    points = start == end
    exact = points if points.ndim == 1 else points.flatten(1).all(1)
    bounded = ~(start.isneginf() & end.isposinf())
    informed = (bounded if bounded.ndim == 1 else bounded.flatten(1).any(1)) & ~exact
    return Partial(torch.where(_per_item(exact, start), start, 0.0), exact, Interval(informed, start, end))


def _measurements(points: Partial, scale: Any) -> Partial:
    values = (
        points.values if points.values.is_floating_point() else points.values.to(torch.get_default_dtype())
    )
    try:
        error = torch.as_tensor(scale, dtype=values.dtype, device=values.device).expand_as(values)
    except RuntimeError:
        raise TraceError(
            f"partial(scale=) takes a number or one for each value, shape {tuple(values.shape)}, but got "
            f"{tuple(torch.as_tensor(scale).shape)}"
        ) from None
    zero = error == 0
    exact = points.known & (zero if zero.ndim == 1 else zero.flatten(1).all(1))
    return Partial(values, exact, Measurement(points.known & ~exact, values, error))


def _per_item(flags: Tensor, like: Tensor) -> Tensor:
    return flags.reshape(-1, *(1,) * (like.ndim - 1))


# ---- the labels of a batch --------------------------------------------------------------------------------


def site_value(batch: Any, name: str, confusion: Tensor | None = None) -> Tensor | Partial:
    """Return what is known about one factor of a batch, for the ``value=`` of its site.

    Parameters
    ----------
    batch : Batch
        By factor label ``values``, and ``evidence`` and ``votes`` of factors that have such labels.
    name : str
        The factor.
    confusion : Tensor, optional
        p(reported class | class) of each rater, ``(M, K, K)``.

    Returns
    -------
    Tensor or Partial
        The values themselves where all labels are single values.
    """
    values: Tensor = batch.values[name]
    all_votes, all_evidence = (
        getattr(batch, "votes", {}),
        getattr(batch, "evidence", {}),
    )  # not in a batch of users' own
    if name in all_votes:
        if confusion is None:
            raise SpecError(
                f"the labels of '{name}' are votes, but the model has no confusion matrices of raters: say raters: "
                f"{all_votes[name].shape[1]} at its node, or give the node of your program "
                "unknot.partial(votes, confusion=...)."
            )
        certain = torch.eye(confusion.shape[-1]).to(confusion)[None]  # a label is a vote that is always right
        votes = torch.cat([all_votes[name], values[:, None]], 1)
        return partial(votes, confusion=torch.cat([confusion, certain]))
    if name not in all_evidence:
        return values
    evidence: Tensor = all_evidence[name]
    if values.is_floating_point():
        return partial(low=evidence[:, :1], high=evidence[:, 1:])  # (B, 1): a vector of one number
    return partial(probabilities=evidence.exp())


# ---- values for generation ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class FromPrior:
    """As a site's ``value=``: draw it from the site's own distribution, for ``batch`` items.

    ``event_dims`` is how many axes one item's value has, where that is known from elsewhere: parameters of as many
    numbers as there are items could be one vector for all of them, or one number each.
    """

    batch: int
    event_dims: int | None = field(default=None, repr=False)


class GivenValues:
    """Stands where a decoder expects q: given values for some sites, draws from the prior for the rest.

    Make one with :func:`given`.
    """

    def __init__(
        self, batch: int, values: dict[str, Tensor | Partial], prefix: str = "", asked: set[str] | None = None
    ) -> None:
        self.batch = batch
        self.values = values
        self.prefix = prefix
        # full names, shared with the parts below a prefix
        self._asked = asked if asked is not None else set()
        self._event_dims: Mapping[str, int] = {}  # by full name

    def with_event_dims(self, event_dims: Mapping[str, int]) -> GivenValues:
        """The same, for sites of which it is known how many axes one item's value has."""
        twin = GivenValues(self.batch, self.values, self.prefix, self._asked)
        twin._event_dims = event_dims
        return twin

    def __getitem__(self, name: str) -> Tensor | Partial | FromPrior:
        full = self.prefix + name
        self._asked.add(full)
        return self.values.get(name, FromPrior(self.batch, self._event_dims.get(full)))

    def get(self, name: str) -> Tensor | Partial | FromPrior:
        """The same as ``given[name]``: whatever is not given is drawn, so nothing is ever missing."""
        return self[name]

    def __contains__(self, name: str) -> bool:
        return True

    def under(self, *prefix: str | int) -> GivenValues:
        """The given values below a prefix, for a sub-model: see :meth:`unknot.Trace.under`."""
        from unknot.core.trace import join

        start = join("", prefix) + "."
        below = {name[len(start) :]: v for name, v in self.values.items() if name.startswith(start)}
        part = GivenValues(self.batch, below, self.prefix + start, self._asked)
        return part.with_event_dims(self._event_dims)

    @property
    def asked(self) -> set[str]:
        """The names that sites have asked for: of a program's sites, all but its data."""
        return set(self._asked)

    @property
    def unused(self) -> set[str]:
        """Given names that no site has asked for: most often a misspelling."""
        return {name for name in self.values if self.prefix + name not in self._asked}


def given(batch: int, values: dict[str, Any] | None = None, **more: Any) -> GivenValues:
    """Run a decoder on nothing, or on some sites: ``decoder(None, unknot.given(64, digit=3))``.

    Arguments:

    * ``batch``: how many items are made;
    * ``values``: a dictionary from site to value, for names with dots; each value is a tensor ``(batch, ...)``, a
      partial observation, or one number or vector for the whole batch;
    * ``more``: the same as keywords.

    Returns what stands where the decoder expects q. Sites that are not given are drawn from the prior.

    >>> threes = given(4, digit=3)
    >>> threes["digit"]
    tensor([3, 3, 3, 3])
    >>> threes["style"]
    FromPrior(batch=4)
    """
    if batch < 1:
        raise TraceError(f"given() makes a batch of at least one item, but batch is {batch}")
    return GivenValues(
        batch, {name: _expanded(name, v, batch) for name, v in {**(values or {}), **more}.items()}
    )


def _expanded(name: str, value: Any, batch: int) -> Tensor | Partial:
    if isinstance(value, Partial):
        return value
    tensor = torch.as_tensor(value)
    if tensor.ndim == 0 or (tensor.ndim == 1 and tensor.is_floating_point() and tensor.shape[0] != batch):
        return tensor.expand(batch, *tensor.shape)
    if tensor.shape[0] != batch:
        raise TraceError(f"given(): '{name}' has {tensor.shape[0]} items, but the batch has {batch}")
    return tensor
