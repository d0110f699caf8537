"""Minibatch estimates of log q(z), log q(z_group) and log q(z_d) over a tree of groups (E19 sec. 3.1, Fig. 3).

Every density of the hierarchical decomposition is a mixture over the same reference items with the same
weights (:mod:`unknot.objectives.marginal.weights`); only the set of dimensions changes:

    log q^(z_G)_b = log Σ_c w_bc Π_{v in G} q(z_bv | x_c)

A product over variables is a sum of their pairwise matrices, so a tree costs one B x C addition and one
log-sum-exp per inner node, whatever the number of dimensions below it.

The draws may be those of one process while the columns are the *global* batch: see
:mod:`unknot.objectives.marginal.gather`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torch import Tensor

from unknot.errors import SpecError
from unknot.objectives.marginal.log_mixture import log_mixture
from unknot.objectives.marginal.pairwise import Pairs
from unknot.objectives.marginal.weights import Mixture

Groups = Mapping[str, "Groups"] | Sequence[str]  # {"content": ["y"], "style": {"shape": ["z1", "z2"], ...}}


@dataclass(frozen=True)
class Marginal:
    """log q^ of one node of the tree and, below it, of its parts.

    ``log_q`` (*rows) is the joint of everything below. A group has ``parts``; a variable has ``dimensions``
    (*rows, D), one log-marginal for each of its leaves, or None if they have no closed form. ``refusal`` then says so
    when :meth:`leaf_logs` is called. A variable with parents in the encoder also has ``own`` and
    ``own_dimensions``, log q(z_v | x) and log q(z_vd | x) of the items themselves, parents summed out.
    """

    log_q: Tensor
    parts: Mapping[str, "Marginal"] = field(default_factory=dict)
    dimensions: Tensor | None = None
    own: Tensor | None = None
    own_dimensions: Tensor | None = None
    refusal: str | None = None

    @property
    def is_variable(self) -> bool:
        """Whether it is a variable at an end of the tree, not a group."""
        return not self.parts

    def leaf_logs(self) -> Tensor:
        """``dimensions`` of a variable; raises SpecError where they have no closed form."""
        if self.dimensions is None:
            raise SpecError(self.refusal or "a group has no dimensions of its own")
        return self.dimensions

    @property
    def sum_of_parts(self) -> Tensor:
        """Σ over children of their log q^: what ``log_q`` would be if the children were independent."""
        if self.is_variable:
            return self.leaf_logs().sum(-1)
        first, *others = (part.log_q for part in self.parts.values())
        return sum(others, start=first)


def marginal_tree(
    variables: Mapping[str, Pairs],
    groups: Groups,
    mixture: Mixture,
    refusals: Mapping[str, str] | None = None,
) -> Marginal:
    """Estimate the marginal of every node of ``groups``, whose leaves name ``variables``.

    ``refusals`` has, for variables whose single dimensions have no closed form, the sentence of the error.

    ``Marginal.log_q - Marginal.sum_of_parts`` at a node is the (pointwise) total correlation between its
    children, E19 Eq. 3: between groups at the root, within a group below, between its dimensions at a variable.

    >>> from unknot.objectives.marginal.weights import stratified
    >>> from unknot.objectives.marginal.pairwise import normal
    >>> weights, unit = stratified(60000, 8, own=torch.arange(8)), torch.ones(8, 2)
    >>> pairs = {name: normal(torch.randn(8, 2), torch.randn(8, 2), unit, weights) for name in ("y", "z")}
    >>> tree = marginal_tree(pairs, {"content": ["y"], "style": ["z"]}, weights)
    >>> (tree.log_q - tree.sum_of_parts).shape                 # (A), between content and style
    torch.Size([8])
    >>> tree.parts["style"].parts["z"].dimensions.shape        # (ii), log q^(z_d)
    torch.Size([8, 2])
    """
    check_names(variables, groups)
    return _node(variables, groups, mixture, refusals or {})[1]


def variable_names(groups: Groups) -> list[str]:
    """The leaves of the tree, from left to right."""
    if isinstance(groups, Mapping):
        return [name for part in groups.values() for name in variable_names(part)]
    return list(groups)


def _node(
    variables: Mapping[str, Pairs], groups: Groups, mixture: Mixture, refusals: Mapping[str, str]
) -> tuple[Tensor, Marginal]:
    """The pairwise matrix of a node, (*rows, C), and its marginals."""
    if isinstance(groups, Mapping):
        built = {name: _node(variables, part, mixture, refusals) for name, part in groups.items()}
    else:
        built = {
            name: (variables[name].joint, leaf_marginal(variables[name], mixture, refusals.get(name)))
            for name in groups
        }
    parts = {name: marginal for name, (_, marginal) in built.items()}
    first, *others = (joint for joint, _ in built.values())
    if not others:  # a group of one is that one
        return first, Marginal(next(iter(parts.values())).log_q, parts)
    joint = sum(others, start=first)
    return joint, Marginal(log_mixture(joint, mixture), parts)


def leaf_marginal(pairs: Pairs, mixture: Mixture, refusal: str | None = None) -> Marginal:
    """log q^ of a variable without parents and of its leaves, if they have a closed form."""
    if pairs.marginals is None:
        return Marginal(log_mixture(pairs.joint, mixture), refusal=refusal)
    if pairs.marginals.shape[-1] == 1:
        return Marginal(pairs.marginals.squeeze(-1), dimensions=pairs.marginals)
    return Marginal(log_mixture(pairs.joint, mixture), dimensions=pairs.marginals)


def check_names(variables: Mapping[str, object], groups: Groups) -> None:
    """Refuse a tree that does not have every variable once."""
    names = variable_names(groups)
    repeated = sorted({name for name in names if names.count(name) > 1})
    missing, unknown = sorted(set(variables) - set(names)), sorted(set(names) - set(variables))
    if repeated or missing or unknown:
        raise SpecError(
            f"groups: every variable must appear once; repeated: {repeated}, left out: {missing}, "
            f"unknown: {unknown}; the variables are {sorted(variables)}"
        )
    if not _no_empty_group(groups):
        raise SpecError("groups: a group without variables; remove it or name its variables")


def _no_empty_group(groups: Groups) -> bool:
    if isinstance(groups, Mapping):
        return len(groups) > 0 and all(_no_empty_group(part) for part in groups.values())
    return len(groups) > 0
