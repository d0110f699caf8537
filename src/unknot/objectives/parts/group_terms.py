"""Terms of some groups of variables alone: the correlation between them, and what one of them knows of x.

Both are parts of E19's decomposition for a tree in which the other variables are left aside:

=========================  ==========================================================================================
``between[digit, style]``  [log p(y, z) - log p(y) - log p(z)] - [log q(y, z) - log q(y) - log q(z)]
``information[style]``     log q(z) - log q(z | x), zero for items that know a variable of the group
=========================  ==========================================================================================

A name is that of a variable, or of a group at the top of the tree ``groups``.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from unknot.core.numerics import where_unknown
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.decomposition import Options, split_options
from unknot.objectives.marginal.encoder_parents import encoder_parents
from unknot.objectives.marginal.marginal_tree import Groups, check_names, variable_names
from unknot.objectives.marginal.programs import with_programs
from unknot.objectives.parts.groups import as_groups, correlation, leaves
from unknot.objectives.parts.site_terms import check_pair
from unknot.suggest import did_you_mean

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
            "summed out; put it into the group, or give its variables prices one by one."
        )
