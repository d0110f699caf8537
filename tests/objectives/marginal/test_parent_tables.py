"""Tables of parameters at every value of the parents: read from enumeration, or from further runs."""

import pytest
import torch

import unknot
from unknot.errors import SpecError
from unknot.objectives.marginal.finite_parents import (
    EncoderRuns,
    class_index,
    class_masses,
    enumerated_table,
    is_finite,
)

B = 5
WEIGHT = torch.randn(3, 2, 4)


def encode(values, gradient="enumerate", samples=None):
    """a (3 classes), b (2 classes), z on both."""
    q = unknot.Trace(samples=samples)
    a = q.one_hot_categorical(logits=torch.zeros(B, 3), value=values.get("a"), name="a", gradient=gradient)
    b = q.categorical(logits=torch.zeros(B, 2), value=values.get("b"), name="b", gradient=gradient)
    b = torch.nn.functional.one_hot(b, 2).float()
    q.normal(torch.einsum("...i,...j,ijd->...d", a, b, WEIGHT), 1.0, name="z")
    return q


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
@pytest.mark.parametrize("samples", [None, 4])
def test_both_ways_give_the_same_table(order, samples):
    q = encode({}, samples=samples)
    parents = [q[name] for name in order]
    held = enumerated_table(q["z"], parents, B)
    assert held is not None
    want = WEIGHT if order == ("a", "b") else WEIGHT.transpose(0, 1)
    torch.testing.assert_close(held.loc, want.reshape(6, 1, 4).expand(6, B, 4))
    run = EncoderRuns(lambda given: encode(given, "score_function"), B, {}).table(q["z"], parents)
    torch.testing.assert_close(run.loc, held.loc)


def test_a_drawn_parent_has_no_table_in_the_trace():
    q = encode({}, "score_function")
    assert enumerated_table(q["z"], [q["a"]], B) is None


def test_an_enumerated_parent_that_is_left_out_is_refused():
    q = encode({})
    with pytest.raises(SpecError, match="leaves"):
        enumerated_table(q["z"], [q["a"]], B)


def test_places_and_masses_follow_the_support():
    q = encode({"a": torch.tensor([2, 0, 1, 1, 2])}, "score_function")
    assert class_index(q["a"]).tolist() == [2, 0, 1, 1, 2]
    assert torch.equal(class_index(q["b"]), q["b"].value)
    torch.testing.assert_close(class_masses(q["a"], q["a"].dist), torch.full((3, B), 1 / 3).log())
    torch.testing.assert_close(class_masses(q["b"], q["b"].dist), torch.full((2, B), 1 / 2).log())


def test_soft_draws_are_not_finite():
    q = unknot.Trace()
    q.concrete(torch.zeros(B, 3), 0.66, name="soft")
    q.concrete(torch.zeros(B, 3), 0.66, name="hard", gradient="straight_through")
    q.concrete(torch.zeros(B, 3), 0.66, name="label", value=torch.zeros(B, dtype=torch.long))
    q.bernoulli(logits=torch.zeros(B, 3), name="several")
    assert [is_finite(node) for node in q.variables()] == [False, True, True, False]


def test_an_encoder_that_ignores_what_it_is_given_is_refused():
    runs = EncoderRuns(lambda given: encode({}, "score_function"), B, {})
    with pytest.raises(SpecError, match="does not have 'a' at the given value"):
        runs.at({"a": torch.eye(3)[:1].expand(B, 3)})
