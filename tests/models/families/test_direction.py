"""Unit vectors: what networks see of them, and where they are set to."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import normalize

from unknot.errors import SpecError
from unknot.models import node
from unknot.models.families.direction import DirectionFamily
from unknot.models.spec import read_spec


def test_directions_have_three_numbers() -> None:
    with pytest.raises(SpecError, match="of size 3, not 2"):
        read_spec([node("z", "direction", 2, inferred_from=["x"]), node("x", "normal", parents=["z"])])


def test_networks_see_a_direction_standardized() -> None:
    light = DirectionFamily(node("light", "direction", 3, inferred_from=["x"]))
    directions = normalize(torch.randn(200_000, 3), dim=-1)
    seen = light.features(directions)
    torch.testing.assert_close(seen.mean(0), torch.zeros(8), rtol=0, atol=5 / 200_000**0.5)
    covariance = seen.T @ seen / len(seen)  # entries have a standard error of about 1 / sqrt(N)
    torch.testing.assert_close(covariance, torch.eye(8), rtol=0, atol=6 * 1.5 / 200_000**0.5)


def test_it_is_set_to_directions_from_left_to_right() -> None:
    settings = DirectionFamily.settings(3)
    torch.testing.assert_close(settings.values.norm(dim=-1), torch.ones(7))
    assert (settings.values[:, 0].diff() > 0).all()
    assert settings.values[3].tolist() == [0.0, 0.0, 1.0]
    assert settings.names == ("-75°", "-50°", "-25°", "0°", "25°", "50°", "75°")
