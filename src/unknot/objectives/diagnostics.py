"""What a representation holds, from the terms of the decomposition: information, correlation, unused codes.

(The effective sample size of importance weights is in the ``diagnostics`` of the objectives that have them.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import torch
from torch import Tensor

from unknot.core.expectation import average
from unknot.core.node import Variable
from unknot.core.trace import Trace
from unknot.objectives.decomposition import Options, split_options
from unknot.objectives.marginal.gather import gather_items
from unknot.objectives.marginal.inference_marginal import leaf_information
from unknot.objectives.parts.groups import leaves

# A dimension with less than this, in nats, is called unused. One that the encoder ignores has the same posterior
# for every item, and its estimate is then exactly zero; a hundredth leaves room for an encoder that is still
# settling, and is a seventieth of a bit. E19 Fig. 4 (right) shows pruned dimensions at zero.
UNUSED_BELOW = 0.01


@dataclass(frozen=True)
class Information:
    """Estimates, in nats, over a batch. ``joint`` I(x; z), ``total_correlation`` TC(z) over all dimensions.

    ``variables`` I(x; z_v) for each variable, ``dimensions`` I(x; z_d) for each of its dimensions (E19 Fig. 4,
    right), ``between`` the correlation between variables alone. I(x; z) cannot exceed log N.
    """

    joint: Tensor
    total_correlation: Tensor
    between: Tensor
    variables: dict[str, Tensor]
    dimensions: dict[str, Tensor]

    def unused(self, below: float = UNUSED_BELOW) -> dict[str, list[int]]:
        """Dimensions of every variable that tell less than ``below`` nats of x; variables with none are left out."""
        found = {
            name: (values < below).nonzero().squeeze(-1).tolist() for name, values in self.dimensions.items()
        }
        return {name: those for name, those in found.items() if those}

    def ranked(self) -> list[tuple[str, int, float]]:
        """(variable, dimension, nats) in ascending order, as E19 Fig. 4 shows them."""
        rows = [
            (name, index, nats)
            for name, values in self.dimensions.items()
            for index, nats in enumerate(values.tolist())
        ]
        return sorted(rows, key=lambda row: row[2])


def information(q: Trace, dataset_size: int, **options: Unpack[Options]) -> Information:
    """How much of x the codes keep, and how they correlate, from the encoder's trace alone.

    Arguments:

    * ``q``: the encoder's trace of a batch;
    * ``dataset_size``: N, the number of training items;
    * ``options``: how q(z) is estimated, as for :func:`~unknot.objectives.decomposition.decompose`. A log q^ that is
      too low on average (stratified, by Jensen's inequality) makes I too high by as much; more items help.

    Returns an :class:`Information`. Its dimensions are the leaves of :mod:`unknot.objectives.marginal.leaf_logs`: a
    class is one, and of the shares of a Dirichlet the last is left out, since it follows from the others. Labels count
    by the mass that the encoder gives them.

    >>> q = Trace()  # the encoder uses its first dimension and ignores the second
    >>> _ = q.normal(torch.randn(100, 2) * torch.tensor([2.0, 0.0]), 1.0, name="z")
    >>> information(q, dataset_size=60000).unused()
    {'z': [1]}
    """
    marginals, _ = split_options(q, None, dataset_size, options)
    sites = q.variables()
    tree, found = leaf_information(q, marginals)
    independent = sum((leaf.sum_of_parts for leaf in leaves(tree).values()), start=torch.zeros(()))
    own = sum((node.log_prob for node in sites), start=torch.zeros(()))
    return Information(
        joint=_mean(sites, own - tree.log_q),
        total_correlation=_mean(sites, tree.log_q - independent),
        between=_mean(sites, tree.log_q - tree.sum_of_parts),
        variables={name: _mean(sites, one.joint) for name, one in found.items()},
        dimensions={name: _mean_dimensions(sites, one.dimensions) for name, one in found.items()},
    )


def _mean(sites: Sequence[Variable], values: Tensor) -> Tensor:
    """Mean over draws and over the items of all processes."""
    return gather_items(average(sites, values).detach()).mean()


def _mean_dimensions(sites: Sequence[Variable], values: Tensor) -> Tensor:
    return torch.stack([_mean(sites, one) for one in values.unbind(-1)])
