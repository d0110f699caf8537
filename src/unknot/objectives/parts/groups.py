"""A tree of groups over an encoder's variables, and the names its terms go by (E19 sec. 3, Fig. 3).

Each inner node has a correlation between its children. With log q of a node and of its children,

    C = [log p(node) - Σ log p(child)] - [log q(node) - Σ log q(child)]

is how far the inference marginal is *more* correlated there than the prior, as it enters the objective.

=====================  ===========================================================================
``between``            the root: between groups, E19's (A)
``between[style]``     a group below the root that has several members; nested ones are ``between[style.shape]``
``within[z]``          a variable of several dimensions: between its dimensions
``within``             the sum of all below the root, E19's (i)
``marginal``           Σ over single dimensions of log p - log q, E19's (ii)
=====================  ===========================================================================

Where every group holds one variable, the correlations below the root are one term, ``within``. In a deeper
tree each has its own name and may have its own weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from unknot.errors import SpecError
from unknot.objectives.marginal.marginal_tree import Groups, Marginal

ROOT = "between"
WITHIN = "within"
MARGINAL = "marginal"


def as_groups(groups: Groups | None, variables: Sequence[str]) -> Groups:
    """The tree as nested dicts whose ends are lists of names; by default each variable is its own group.

    >>> as_groups({"content": "y", "style": {"pose": ["z1"], "shape": ["z2"]}}, ["y", "z1", "z2"])
    {'content': ['y'], 'style': {'pose': ['z1'], 'shape': ['z2']}}
    """
    if not variables:
        raise SpecError("groups: the encoder has no random variables to decompose over")
    return list(variables) if groups is None else _normal_form(groups)


def _normal_form(groups: Groups | str) -> Groups:
    if isinstance(groups, str):
        return [groups]
    if isinstance(groups, Mapping):
        return {str(name): _normal_form(part) for name, part in groups.items()}
    if not isinstance(groups, Sequence) or not all(isinstance(name, str) for name in groups):
        raise SpecError(
            f"groups: expected names of variables in a list, or a dict of named groups, got {groups!r}; "
            'for example {"content": ["y"], "style": ["z"]}'
        )
    return list(groups)


def is_flat(groups: Groups) -> bool:
    """Whether no group below the root has more than one member."""
    return not isinstance(groups, Mapping) or all(_is_chain(part) for part in groups.values())


def _is_chain(groups: Groups) -> bool:
    if len(groups) > 1:
        return False
    return not isinstance(groups, Mapping) or _is_chain(next(iter(groups.values())))


def correlations(q: Marginal, p: Marginal) -> dict[str, Tensor]:
    """The correlation C of every inner node, by name, root first: one value per draw each."""
    named = {ROOT: correlation(q, p)}
    named.update((name, correlation(*pair)) for name, pair in _below(q, p, ""))
    return named


def fold_within(named: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """``between`` and ``within``: all correlations below the root as one term."""
    root, below = named[ROOT], [value for name, value in named.items() if name != ROOT]
    return {ROOT: root, WITHIN: sum(below, start=torch.zeros_like(root))}


def marginal(q: Marginal, p: Marginal) -> Tensor:
    """(ii): Σ_d log p(z_d) - log q(z_d) over all single dimensions below a node."""
    if q.is_variable:
        return (p.leaf_logs() - q.leaf_logs()).sum(-1)
    first, *others = (marginal(part, p.parts[name]) for name, part in q.parts.items())
    return sum(others, start=first)


def leaves(tree: Marginal) -> dict[str, Marginal]:
    """The variables at the ends of the tree, by name."""
    found: dict[str, Marginal] = {}
    for name, part in tree.parts.items():
        found.update({name: part} if part.is_variable else leaves(part))
    return found


def _below(q: Marginal, p: Marginal, path: str) -> Iterator[tuple[str, tuple[Marginal, Marginal]]]:
    for name, part in q.parts.items():
        prior = p.parts[name]
        if part.is_variable:
            if part.leaf_logs().shape[-1] > 1:
                yield f"within[{name}]", (part, prior)
            continue
        full = f"{path}.{name}" if path else name
        if len(part.parts) > 1:
            yield f"between[{full}]", (part, prior)
        yield from _below(part, prior, full)


def correlation(q: Marginal, p: Marginal) -> Tensor:
    """The correlation C between the children of one node, for every draw."""
    return (p.log_q - p.sum_of_parts) - (q.log_q - q.sum_of_parts)
