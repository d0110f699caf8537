"""The labels of a batch as what sites take."""

import pytest
import torch

from unknot.core.evidence import Partial, site_value
from unknot.data import Votes, from_arrays
from unknot.errors import SpecError

X = torch.zeros(3, 1)


def test_single_values_stay_as_they_are():
    batch = from_arrays(X, {"kind": ["a", None, "b"]}).batch([0, 1, 2])
    assert site_value(batch, "kind").tolist() == [0, -1, 1]


def test_several_classes_are_potentials():
    batch = from_arrays(X, {"kind": [{"a": 1, "b": 0.5}, None, "c"]}).batch([0, 1, 2])
    value = site_value(batch, "kind")
    assert isinstance(value, Partial)
    assert value.known.tolist() == [False, False, True]
    assert value.informed.tolist() == [True, False, True]
    dist = torch.distributions.OneHotCategorical(logits=torch.zeros(3, 3))
    mass = value.evidence.log_mass(dist)[0]
    assert float(mass) == pytest.approx(float(torch.tensor(1.5 / 3).log()))


def test_votes_take_the_confusion_matrices_and_labels_are_certain():
    votes = Votes({"Ann": ["a", "b", None], "Bob": ["b", None, None]}, labels=[None, None, "b"])
    batch = from_arrays(X, {"kind": votes}).batch([0, 1, 2])
    confusion = torch.tensor([[[0.8, 0.2], [0.3, 0.7]], [[0.6, 0.4], [0.1, 0.9]]])
    value = site_value(batch, "kind", confusion)
    assert value.known.tolist() == [False, False, True]
    dist = torch.distributions.OneHotCategorical(probs=torch.tensor([0.5, 0.5]).expand(3, 2))
    mass = value.evidence.log_mass(dist).exp()
    assert mass[:2].tolist() == pytest.approx([(0.8 * 0.4 + 0.3 * 0.9) / 2, (0.2 + 0.7) / 2])
    with pytest.raises(SpecError, match="say raters: 2 at its node"):
        site_value(batch, "kind")


def test_intervals_have_the_shape_of_a_vector_of_one_number():
    batch = from_arrays(X, {"age": [(1, 2), None, 3.0]}, kinds={"age": "interval"}).batch([0, 1, 2])
    value = site_value(batch, "age")
    assert value.values.shape == (3, 1)
    assert value.known.tolist() == [False, False, True]
    assert value.informed.tolist() == [True, False, True]
