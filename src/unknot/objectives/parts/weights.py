"""Weights on the parts of a bound: S17's objective and E19's decomposition in one.

The bound holds the information, the correlation between groups and the correlation within them once each (E19 Fig. 3).
A weight c on a part makes it count c times, so what is added to the bound is (c - 1) times the part. A weight above one
discourages it, one between zero and one allows it, and one below zero rewards it. A weight on the correlation of some
groups alone, or on what one of them knows, adds (c - 1) times that term in the same way: between two groups that are
all there is, it is the weight of the root.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from unknot.core.numerics import where_unknown
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.decomposition import (
    MUTUAL_INFORMATION,
    RECONSTRUCTION,
    Options,
    decomposition_parts,
    split_options,
)
from unknot.objectives.marginal.encoder_parents import encoder_parents, with_programs
from unknot.objectives.marginal.marginal_tree import Groups, check_names, variable_names
from unknot.objectives.parts.groups import MARGINAL, ROOT, as_groups, correlation, leaves
from unknot.objectives.parts.site_terms import check_pair
from unknot.suggest import did_you_mean

# Terms of some groups of variables alone: the correlation between them, and what one of them knows of x.
# Both are parts of E19's decomposition for a tree in which the other variables are left aside:
#
# =========================  ==========================================================================================
# ``between[digit, style]``  [log p(y, z) - log p(y) - log p(z)] - [log q(y, z) - log q(y) - log q(z)]
# ``information[style]``     log q(z) - log q(z | x), zero for items that know a variable of the group
# =========================  ==========================================================================================
#
# A name is that of a variable, or of a group at the top of the tree ``groups``.

_CHOSEN, _REST = "chosen", "rest"


def correlation_between(
    q: Trace, p: Trace, names: str, dataset_size: int, groups: Groups | None, options: Options
) -> Tensor:
    """The correlation between the groups that ``names`` lists, "digit, style", beyond the prior's, for every draw."""
    members = {name.strip(): _members(q, name.strip(), groups, "between") for name in names.split(",")}
    listed = [variable for variables in members.values() for variable in variables]
    if len(members) < 2 or len(set(listed)) < len(listed):
        raise SpecError(
            f"between: '{names}' must name two or more groups that share no variable, 'digit, style'."
        )
    return _correlation(q, p, members, dataset_size, options)


def root_correlation(
    q: Trace, p: Trace, dataset_size: int, groups: Groups | None, options: Options
) -> Tensor:
    """The correlation between all groups: ``between`` of the decomposition, without its other terms."""
    tree = as_groups(groups, [node.name for node in q.variables()])
    check_names({node.name: node for node in q.variables()}, tree)
    parts = tree.items() if isinstance(tree, Mapping) else ((name, [name]) for name in tree)
    return _correlation(q, p, {name: variable_names(part) for name, part in parts}, dataset_size, options)


def _correlation(
    q: Trace, p: Trace, members: Mapping[str, list[str]], dataset_size: int, options: Options
) -> Tensor:
    check_pair(q, p)
    listed = [variable for variables in members.values() for variable in variables]
    marginals, prior = split_options(q, p, dataset_size, options)
    logs = marginals.group_logs(q, members) if prior.factorizes(p, listed) else None
    if logs is not None:
        *parts, whole = logs
        return sum(parts[1:], start=parts[0]) - whole
    tree, rest = _tree(q, members, listed)
    log_q = marginals.tree(q, tree)
    log_p = prior.tree(q, p, tree, log_q)
    return correlation(log_q.parts[_CHOSEN], log_p.parts[_CHOSEN]) if rest else correlation(log_q, log_p)


def information_of(q: Trace, name: str, dataset_size: int, groups: Groups | None, options: Options) -> Tensor:
    """Minus what a group knows of x, for every draw."""
    variables = _members(q, name, groups, "information")
    if len(variables) > 1:
        _refuse_parents_outside(q, name, variables, options)
    tree, rest = _tree(q, {variable: [variable] for variable in variables}, variables)
    marginals, _ = split_options(q, None, dataset_size, options)
    log_q = marginals.tree(q, tree)
    chosen = log_q.parts[_CHOSEN] if rest else log_q
    if len(variables) == 1:
        leaf = leaves(chosen)[variables[0]]
        own = q[variables[0]].log_prob if leaf.own is None else leaf.own  # parents summed out
        value = leaf.log_q - own
    else:
        first, *others = (q[variable].log_prob for variable in variables)
        value = chosen.log_q - sum(others, start=first)
    for variable in variables:
        value = where_unknown(q[variable].known, value)
    return value


def _tree(q: Trace, members: Mapping[str, list[str]], listed: list[str]) -> tuple[Groups, list[str]]:
    """The members as a group of their own, beside the other variables if there are any, and these."""
    rest = [node.name for node in q.variables() if node.name not in listed]
    return ({_CHOSEN: dict(members), _REST: rest} if rest else dict(members)), rest


def _members(q: Trace, name: str, groups: Groups | None, what: str) -> list[str]:
    variables = [node.name for node in q.variables()]
    if name in variables:
        return [name]
    if isinstance(groups, Mapping) and name in groups:
        part = groups[name]
        return [part] if isinstance(part, str) else variable_names(part)
    known = [*variables, *(groups if isinstance(groups, Mapping) else ())]
    raise SpecError(f"{what}: there is no variable or group '{name}'; {did_you_mean(name, known)}")


def _refuse_parents_outside(q: Trace, name: str, variables: list[str], options: Options) -> None:
    complete = with_programs(q, None, options)
    parents = encoder_parents(q, complete.get("parents"), complete.get("encoder"))
    outside = {one for variable in variables for one in parents.get(variable, ())} - set(variables)
    if outside:
        raise SpecError(
            f"information: the group '{name}' is read from {', '.join(sorted(outside))} too, which would have to be "
            "summed out; put it into the group, or give its variables weights one by one."
        )


Number = float | Tensor
Weights = Number | Mapping[str, Number]


def weighted_parts(
    q: Trace,
    p: Trace,
    dataset_size: int | None,
    groups: Groups | None,
    information: Weights,
    between: Weights,
    within: Weights,
    options: Options,
) -> tuple[dict[str, Tensor], dict[str, Number]]:
    """The parts of the bound whose weight is not one, for every draw, and their weights beside the bound.

    Arguments:

    * ``q``, ``p``: the two traces of a batch;
    * ``dataset_size``, ``groups``, ``options``: as of :func:`~unknot.objectives.decomposition.decompose`;
    * ``information``: the weight of ``mutual_information``; or by group, ``{"style": 2.0}``, of what each knows of x;
    * ``between``: the weight of the root's ``between``; or by pair, ``{"digit, style": 6.0}``, of the correlation of
      these two (or more) alone;
    * ``within``: the weight of all correlations below the root, or by name, ``{"within[z]": 3.0}``, and one for the
      others.
    """
    (knowing, whole), (pairs, root), (named, other) = map(_by_name, (information, between, within))
    if not (named or pairs or knowing) and all(_is_one(weight) for weight in (whole, root, other)):
        return {}, {}
    if dataset_size is None:
        raise SpecError(
            "semi_supervised: a weight on information, between or within needs dataset_size, the number of items."
        )
    values: dict[str, Tensor] = {}
    extra: dict[str, Number] = {}
    if not named and _is_one(whole) and _is_one(other):
        if not _is_one(root):
            values[ROOT] = root_correlation(q, p, dataset_size, groups, options)
            extra[ROOT] = root - 1.0
    else:
        parts = decomposition_parts(q, p, dataset_size, groups, options).values
        fixed = {RECONSTRUCTION: 1.0, MARGINAL: 1.0, MUTUAL_INFORMATION: whole, ROOT: root}
        _refuse_unknown_parts(named, [part for part in parts if part not in fixed])
        weights = {name: {**fixed, **named}.get(name, other) for name in parts}
        chosen = {name: weight for name, weight in weights.items() if not _is_one(weight)}
        values |= {name: parts[name] for name in chosen}
        extra |= {name: weight - 1.0 for name, weight in chosen.items()}
    for name, weight in pairs.items():
        values[f"between[{name}]"] = correlation_between(q, p, name, dataset_size, groups, options)
        extra[f"between[{name}]"] = weight - 1.0
    for name, weight in knowing.items():
        values[f"information[{name}]"] = information_of(q, name, dataset_size, groups, options)
        extra[f"information[{name}]"] = weight - 1.0
    return values, extra


def _by_name(weights: Weights) -> tuple[Mapping[str, Number], Number]:
    """Weights by name, and that of everything without a name."""
    return (weights, 1.0) if isinstance(weights, Mapping) else ({}, weights)


def _refuse_unknown_parts(named: Mapping[str, Number], below: list[str]) -> None:
    for name in named:
        if name not in below:
            raise SpecError(f"within: there is no term '{name}'; {did_you_mean(name, below)}")


def _is_one(weight: Number) -> bool:
    return isinstance(weight, float | int) and weight == 1
