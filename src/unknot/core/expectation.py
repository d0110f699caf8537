"""E_q[f]: from a value for every draw to one value per item, with the gradient each site asked for.

Enumerated sites are summed exactly (:mod:`unknot.core.elimination`), samples are averaged, and sites drawn without a
pathwise gradient contribute a score-function term. Its reward is what was computed from the draw, and nothing else
(Rao-Blackwellization): parts that were made before the draw, or that the program shows not to depend on it, would add
noise and no signal. A draw that nothing depends on has no score-function term at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor

from unknot.core.axes import SAMPLES, Axes, Axis
from unknot.core.elimination import Elimination, Factor, factor
from unknot.core.gradients import Baselines, leave_one_out
from unknot.core.node import Node, Variable
from unknot.core.numerics import where_unknown
from unknot.core.trace import Trace

Sites = Sequence[Variable]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Part:
    """A value per draw that enters an objective, ``(B,)``, ``(S, B)`` or ``(K, ..., S, B)``.

    Attributes
    ----------
    value : Tensor
        The values.
    axes : mapping from slot to Axis
        The enumerated sites that its axes belong to.
    name : str
        What it is, for messages.
    reads : frozenset of str or None
        The sites whose draws it was computed from, where that is known.
    order : int
        When it was made: draws at a later place do not reach it.
    """

    value: Tensor
    axes: Axes
    name: str
    reads: frozenset[str] | None = None
    order: int = 1 << 30

    def times(self, weight: float | Tensor) -> Part:
        if isinstance(weight, float) and weight == 1.0:
            return self
        return Part(self.value * weight, self.axes, self.name, self.reads, self.order)

    def depends_on(self, node: Variable, place: int) -> bool:
        """Whether the draw of a site, made at ``place``, may reach it."""
        return node.name in self.reads if self.reads is not None else self.order >= place


def part_of(node: Node, value: Tensor | None = None) -> Part:
    """The log-probability of a node, or a ``value`` computed from it, as a part."""
    return Part(node.log_prob if value is None else value, node.axes, f"site '{node.name}'")


def expect(q: Trace, values: Tensor) -> Tensor:
    """``E_q[f]`` per item, with the gradient that each site asked for.

    Parameters
    ----------
    q : Trace
        The trace whose sites were drawn or enumerated.
    values : Tensor
        f at every draw, of shape ``(B,)``, ``(S, B)`` or ``(K, ..., S, B)``.

    Returns
    -------
    Tensor
        One value per item, ``(B,)``. Add such expectations up and take the mean for an objective of your own.

    Examples
    --------
    >>> q = Trace()
    >>> k = q.categorical(logits=torch.zeros(4, 3), name="k", gradient="enumerate")
    >>> expect(q, k.float() ** 2)  # (0 + 1 + 4) / 3, exactly
    tensor([1.6667, 1.6667, 1.6667, 1.6667])
    """
    sites = q.variables()
    score = score_term(sites, [Part(values, q.axes, "f")])
    mean = average(sites, values)
    return mean if score is None else mean + score


def average(sites: Sites, values: Tensor) -> Tensor:
    """The value of ``E_q[f]`` and its gradient through f, the enumeration weights and the draws, ``(B,)``."""
    if values.ndim <= 2 and not _reaches(sites, values):
        return values.mean(SAMPLES) if values.ndim == 2 else values
    return averages(sites, {"f": [Part(values, _own_axes(sites), "f")]})["f"]


def averages(sites: Sites, parts: Mapping[str, Sequence[Part]]) -> dict[str, Tensor]:
    """``E_q`` of the sum of every named list of parts, ``(B,)`` each."""
    enumerated = [node for node in sites if node.enumerated]
    if not enumerated:
        return {name: _sample_mean(total(values)) for name, values in parts.items()}
    if len(enumerated) == 1:
        return {name: _sample_mean(_summed(enumerated[0], total(values))) for name, values in parts.items()}
    weights = conditionals(enumerated)
    terms = {
        name: [factor(one.value, one.axes, one.name) for one in values] for name, values in parts.items()
    }
    work = Elimination([*weights.values()], terms, weights).run()
    return {name: _sample_mean(mean) for name, mean in work.means().items()}


def conditionals(enumerated: Sites) -> dict[Axis, Factor]:
    """The log-probabilities that enumerated sites have given the sites before them, all on the label where known."""
    found = {}
    for node in enumerated:
        assert node.axis is not None
        found[node.axis] = factor(node.log_weight, node.axes, f"site '{node.name}'")
    return {axis: one for axis, one in found.items() if axis in one.axes}


def total(parts: Sequence[Part]) -> Tensor:
    """The sum of parts, which have no axis in common that belongs to two sites."""
    values = parts[0].value
    for one in parts[1:]:
        values = values + one.value
    return values


def score_term(sites: Sites, parts: Sequence[Part], baselines: Baselines | None = None) -> Tensor | None:
    """``Σ_sites mean_s (log q_s - stop(log q_s)) · stop(f_s - b_s)``, ``(B,)``: zero, but its gradient is not.

    Added to :func:`averages` it completes the gradient of ``E_q[f]``, where f is the sum of ``parts``. None if no site
    uses the score function, or nothing depends on those that do. ``baselines`` is the caller's block, where a step has
    several such terms.
    """
    if not any(is_scored(node) for node in sites):
        return None
    if baselines is None:
        with Baselines() as baselines:
            return score_term(sites, parts, baselines)
    enumerated = [node for node in sites if node.enumerated]
    weights = conditionals(enumerated)
    scores: list[Part] = []
    for place, node in enumerate(sites):
        if not is_scored(node):
            continue
        reward = [one for one in parts if one.depends_on(node, place)]
        if reward:
            scores.append(_score(node, reward, weights, baselines))
    return averages(sites, {"score": scores})["score"] if scores else None


def _score(
    node: Variable, reward: Sequence[Part], weights: Mapping[Axis, Factor], baselines: Baselines
) -> Part:
    """The score-function part of one site, before the mean over enumerated sites and samples."""
    log_prob = rise(node)
    if not weights:
        value = _per_draw(log_prob, total(reward).detach())
        return Part(log_prob * (value - _baseline(node, value, baselines)), {}, f"site '{node.name}'")
    own = factor(log_prob, node.axes, f"site '{node.name}'")
    detached = {axis: Factor(one.axes, one.table.detach()) for axis, one in weights.items()}
    terms = {"f": [factor(one.value.detach(), one.axes, one.name) for one in reward]}
    work = Elimination([*detached.values()], terms, detached).run(keep=own.axes)
    value = _per_draw(own.table, work.means(own.axes)["f"])
    score = own.table * (value - _baseline(node, value, baselines))
    return Part(*_slots(Factor(own.axes, score)), f"site '{node.name}'")


def _slots(one: Factor) -> tuple[Tensor, Axes]:
    """A factor's table as values over leading axes, on slots of its own."""
    return one.table, {len(one.axes) - 1 - place: axis for place, axis in enumerate(one.axes)}


def is_scored(node: Variable) -> bool:
    """Whether some items of this site were drawn with the score function, and a gradient is wanted."""
    return node.gradient == "score_function" and node.known is not True and torch.is_grad_enabled()


def rise(node: Variable) -> Tensor:
    """``log q - stop(log q)`` of the drawn items: zero, with the gradient of the log-probability.

    A draw that was masked later is a draw all the same: where it does not count it may still have decided on what does.
    """
    log_prob = where_unknown(node.known, node.drawn.log_prob)
    return log_prob - log_prob.detach()


def _reaches(sites: Sites, values: Tensor) -> bool:
    return any(node.enumerated and values.ndim >= node.leading_dims for node in sites)


def _own_axes(sites: Sites) -> Axes:
    axes = {node.axis.slot: node.axis for node in sites if node.axis is not None}
    return axes


def _summed(node: Variable, values: Tensor) -> Tensor:
    """Sum over the axis of the only enumerated site; values without that axis stay."""
    if values.ndim < node.leading_dims:
        return values
    if node.impossible is not None:  # 0 * -inf is 0 here
        values = torch.where(node.impossible, 0.0, values)
    return (node.weight * values).sum(0)


def _sample_mean(values: Tensor) -> Tensor:
    return values.mean(SAMPLES) if values.ndim >= 2 else values


def _per_draw(log_prob: Tensor, values: Tensor) -> Tensor:
    """f per draw of a site: samples that share one draw, as of a sub-model without samples, are averaged.

    Another sample's value would be no baseline for them, since it depends on the same draw.
    """
    shared = log_prob.ndim < 2 or log_prob.shape[SAMPLES] == 1
    return values.mean(SAMPLES, keepdim=True) if shared and values.ndim >= 2 else values


def _baseline(node: Variable, values: Tensor, baselines: Baselines) -> Tensor:
    return leave_one_out(values) if node.baseline is None else baselines.read(node.baseline, values)
