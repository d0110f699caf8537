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


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_without_gradients_every_earlier_site_is_a_possible_parent_unless_axes_rule_it_out(mode):
    encoder, x = Encoder(None, dependent=True), data()
    with mode():
        assert encoder_parents(encoder(x)) == {"y": [], "z": ["y"], "w": ["y", "z"]}
        assert encoder_parents(encoder(x, samples=3)) == Z_ON_Y  # only z's parameters have the axis


def test_validation_is_about_values_and_changes_nothing():
    with unknot.validation(False):
        assert encoder_parents(Encoder(None, dependent=True)(data())) == Z_ON_Y


@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("gradient", ["concrete", "straight_through", "score_function", "enumerate"])
def test_the_program_tells_in_every_mode(mode, gradient):
    encoder, x = Encoder(gradient, dependent=True), data()
    with mode():
        assert encoder_parents(encoder(x), encoder=lambda given: encoder(x, given["y"])) == Z_ON_Y


def test_the_program_shows_paths_that_carry_no_gradient():
    table = torch.randn(4, 2, requires_grad=True)
    x = torch.randn(B, 4, requires_grad=True)

    def encode(given):
        q = unknot.Trace()
        y = q.concrete(x, 0.66, value=given["y"], name="y")
        q.normal(table[y.argmax(-1)], 1.0, name="z")
        return q

    assert encoder_parents(encode({"y": None}), encoder=encode) == {"y": [], "z": ["y"]}


def test_another_program_is_refused():
    with pytest.raises(SpecError, match="no site"):
        encoder_parents(Encoder()(data()), encoder=lambda given: unknot.Trace())


def test_leading_axes_are_those_of_the_parameters():
    q = unknot.Trace(samples=3)
    q.normal(torch.zeros(B, 2), torch.ones(B, 2), name="a")
    q.normal(torch.zeros(()), 1.0, name="b", event_dims=0)
    assert own_leading(q["a"]) == (B,)
    assert own_leading(q["b"]) == ()
