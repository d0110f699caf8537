"""Both encoders of places answer alike."""

from __future__ import annotations

import pytest
import torch

from experiments.canvases.model.finder import LOOKS
from experiments.canvases.model.looked import Looks
from unknot import partial


@pytest.mark.parametrize("name", LOOKS)
@pytest.mark.parametrize("samples", [None, 2])
def test_counts_and_a_place_for_every_look(name: str, samples: int | None) -> None:
    torch.manual_seed(0)
    looks: Looks = LOOKS[name](20, 0.3, fewest=0, most=2)
    known = partial(torch.tensor([[0.1, 0.2, 0.3], [torch.nan] * 3, [-0.5, 0.0, 0.3]]))
    looked = looks(torch.rand(3, 1, 20, 20), [known, None], samples)
    assert looked.count.shape[-2:] == (3, 3)
    assert len(looked.looks) == 2
    leading = (3,) if samples is None else (samples, 3)
    for look in looked.looks:
        assert look["place"].value.shape == (*leading, 3)
    first = looked.looks[0]["place"]
    assert first.known.tolist() == [True, False, True]
    assert torch.equal(first.value[..., 2, :].reshape(-1, 3)[0], known.values[2])
