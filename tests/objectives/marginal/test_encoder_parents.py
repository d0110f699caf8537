"""Dependences between an encoder's variables are found, stated or refused, never passed over."""

import pytest
import torch

import unknot
from tests.objectives.marginal.structured_programs import B, Encoder, data
from unknot.errors import SpecError
from unknot.objectives.marginal.encoder_parents import encoder_parents, own_leading

NONE = {"y": [], "z": [], "w": []}
Z_ON_Y = {"y": [], "z": ["y"], "w": []}


@pytest.mark.parametrize("gradient", ["concrete", "straight_through", "plug_in", "enumerate"])
@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.parametrize("samples", [None, 3])
def test_a_dependence_is_found_from_the_trace(gradient, dependent, samples):
    q = Encoder(gradient, dependent)(data(), samples=samples)
    assert encoder_parents(q) == (Z_ON_Y if dependent else NONE)


@pytest.mark.parametrize("dependent", [False, True])
def test_labels_for_some_items_leave_the_path_visible(dependent):
    q = Encoder(None, dependent)(data(), unknot.partial(torch.tensor([0, -1, 2, -1, -1, 3])))
    assert encoder_parents(q) == (Z_ON_Y if dependent else NONE)


def test_values_without_gradient_are_possible_parents_of_all_later_sites():
    q = Encoder()(data(), torch.zeros(B, dtype=torch.long))
    assert encoder_parents(q) == {"y": [], "z": ["y"], "w": ["y"]}
    assert encoder_parents(q, {}) == NONE


@pytest.mark.parametrize("dependent", [False, True])
def test_the_axis_of_samples_tells_of_draws_without_gradient(dependent):
    q = Encoder("score_function", dependent)(data(), samples=3)
    assert encoder_parents(q) == (Z_ON_Y if dependent else NONE)


def test_only_direct_parents_are_reported():
    q = unknot.Trace()
    a = q.normal(torch.zeros(B, 2, requires_grad=True), 1.0, name="a")
    b = q.normal(2 * a, 1.0, name="b")
    q.normal(b.exp(), 1.0, name="c")
    q.normal(a + b, 1.0, name="d")
    assert encoder_parents(q) == {"a": [], "b": ["a"], "c": ["b"], "d": ["a", "b"]}


def test_a_shared_trunk_is_no_dependence():
    weight = torch.ones(5, 2, requires_grad=True)
    q, h = unknot.Trace(), torch.ones(B, 5) @ weight
    q.normal(h, 1.0, name="a")
    q.normal(h.exp(), 1.0, name="b")
    assert encoder_parents(q) == {"a": [], "b": []}


def test_a_stated_graph_that_leaves_out_a_visible_dependence_is_refused():
    q = Encoder(None, dependent=True)(data())
    assert encoder_parents(q, {"z": ["y"]}) == Z_ON_Y
    with pytest.raises(SpecError, match="'z' was computed from y"):
        encoder_parents(q, {"w": []})


@pytest.mark.parametrize(
    ("stated", "message"), [({"z": ["v"]}, "'v' is not a variable"), ({"y": ["z"]}, "no earlier")]
)
def test_stated_names_are_checked(stated, message):
    with pytest.raises(SpecError, match=message):
        encoder_parents(Encoder()(data()), stated)


def test_without_gradients_or_validation_only_axes_speak():
    encoder, x = Encoder(None, dependent=True), data()
    with torch.no_grad():
        assert encoder_parents(encoder(x)) == NONE
    with unknot.validation(False):
        assert encoder_parents(encoder(x)) == NONE


def test_leading_axes_are_those_of_the_parameters():
    q = unknot.Trace(samples=3)
    q.normal(torch.zeros(B, 2), torch.ones(B, 2), name="a")
    q.normal(torch.zeros(()), 1.0, name="b", event_dims=0)
    assert own_leading(q["a"]) == (B,)
    assert own_leading(q["b"]) == ()
