"""Wide: components that an ensemble has learned, or those of a data set."""

import torch

from tests.models.features.test_features import items, wide_rows
from unknot.models.ensemble.components import Components
from unknot.models.features.wide import Wide


def test_learned_components_are_used_as_they_are() -> None:
    data = wide_rows()
    components = Components(600, 4, False)
    components.learn(data.x)
    rows = Wide(components)(items(data))
    assert torch.equal(rows, components(items(data)))
    assert rows.shape[1] == 4
