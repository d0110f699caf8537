"""One contract for every latent family: its sites, and the facts that the rest of the package reads."""

from __future__ import annotations

import pytest
import torch

import unknot
from unknot.errors import SpecError
from unknot.models import GraphicalModel, NodeSpec, node
from unknot.models.families import FAMILIES, Family, family, family_of
from unknot.models.spec import read_spec

SIZE = 3  # every family has a node of this size
TEMPERATURE = torch.tensor(0.5)


def described(name: str) -> NodeSpec:
    return node("z", name, SIZE, inferred_from=["x"], labels=True)


def make(name: str) -> Family:
    return family(described(name))


@pytest.mark.parametrize("name", FAMILIES)
def test_sites(name: str) -> None:
    one = make(name)
    outputs = torch.randn(5, one.parameters_size)
    q, p = unknot.Trace(), unknot.Trace()
    value = one.recognize(q, outputs, None, TEMPERATURE)
    assert one.features(value).shape[-1] == one.value_size
    one.generate(p, one.prior_outputs(), q["z"], TEMPERATURE)
    assert p["z"].log_prob.shape[-1] == (1 if q["z"].enumerated else 5)
    assert torch.isfinite(p["z"].log_prob).all()
    drawn = one.generate(unknot.Trace(), one.prior_outputs(), unknot.given(3)["z"], TEMPERATURE)
    assert drawn.shape == (3, one.size)


@pytest.mark.parametrize("name", FAMILIES)
def test_kinds_of_labels(name: str) -> None:
    one = FAMILIES[name]
    assert one.has_classes == ("categorical" in one.label_kinds) == ("continuous" not in one.label_kinds)
    assert one.label_kind is None or one.label_kind in one.label_kinds
    assert set(one.suits) <= set(one.label_kinds)
    assert one.class_count(SIZE) == (SIZE if one.has_classes else 0)
    for kind in one.label_kinds:
        assert one.measure_for(kind) == (one.measure if kind == "continuous" else "error")


@pytest.mark.parametrize("name", FAMILIES)
def test_labels_and_settings_are_values_that_the_node_can_take(name: str) -> None:
    model = GraphicalModel([described(name), node("x", "normal", parents=["z"])], (4,))
    labels = FAMILIES[name].partly_labeled(SIZE, 4)
    q = model.encode(torch.randn(4, 4), {"z": labels})
    assert q["z"].known.tolist() == [True, False, False, False]
    settings = FAMILIES[name].settings(SIZE)
    if settings is not None:
        assert len(settings.values) == len(settings.names)
        model.encode(torch.randn(len(settings.names), 4), {"z": settings.values})
        made = model.expected_data(unknot.given(len(settings.names), z=settings.values))
        assert made.shape == (len(settings.names), 4)


@pytest.mark.parametrize("name", [name for name, one in FAMILIES.items() if not one.gaussian])
def test_only_a_gaussian_has_units(name: str) -> None:
    spec = described(name)
    standard = torch.randn(2, SIZE)
    assert family_of(spec).from_standard(spec, standard) is standard
    for units in ({"center": [1.0] * SIZE}, {"spread": [1.0] * SIZE}):
        wrong = node("z", name, SIZE, inferred_from=["x"], prior=units)
        with pytest.raises(SpecError, match=f"a prior of {name} has no parameters to set"):
            read_spec([wrong, node("x", "normal", parents=["z"])])


@pytest.mark.parametrize("name", ["concrete", "categorical", "bernoulli", "relaxed_bernoulli"])
def test_generated_classes_are_whole(name: str) -> None:
    one = make(name)
    drawn = one.generate(unknot.Trace(), one.prior_outputs(), unknot.given(50)["z"], TEMPERATURE)
    assert set(drawn.unique().tolist()) == {0.0, 1.0}
