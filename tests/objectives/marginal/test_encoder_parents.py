"""Dependences between an encoder's variables are found, stated or refused, never passed over."""

import pytest
import torch
from torch import Tensor

import unknot
from tests.objectives.marginal.structured_programs import B, Encoder, data
from unknot.errors import SpecError
from unknot.objectives import beta_tcvae, decompose, hfvae, info_vae, information, information_dropout
from unknot.objectives.marginal.encoder_parents import encoder_parents, own_leading, reached

NONE = {"y": [], "z": [], "w": []}
Z_ON_Y = {"y": [], "z": ["y"], "w": []}


MODES = [torch.enable_grad, torch.no_grad, torch.inference_mode]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("gradient", ["concrete", "straight_through", "plug_in", "score_function"])
@pytest.mark.parametrize("dependent", [False, True])
def test_a_trace_alone_makes_every_earlier_site_a_possible_parent(mode, gradient, dependent):
    with mode():
        q = Encoder(gradient, dependent)(data())
        assert encoder_parents(q) == {"y": [], "z": ["y"], "w": ["y", "z"]}
        with unknot.validation(False):
            assert encoder_parents(q) == {"y": [], "z": ["y"], "w": ["y", "z"]}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "gradient", ["concrete", "straight_through", "plug_in", "score_function", "enumerate"]
)
@pytest.mark.parametrize("dependent", [False, True])
def test_axes_of_samples_and_of_values_rule_parents_out(mode, gradient, dependent):
    with mode():
        q = Encoder(gradient, dependent)(data(), samples=3)
        assert encoder_parents(q) == (Z_ON_Y if dependent else NONE)


def test_what_is_stated_about_labels_is_believed():
    q = Encoder()(data(), torch.zeros(B, dtype=torch.long))
    assert encoder_parents(q, {}) == NONE


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("cut", [Tensor.detach, lambda y: torch.eye(4)[y.argmax(-1)], lambda y: y])
def test_a_direct_call_is_refused_by_name_in_every_mode_whatever_the_path(mode, cut):
    logits, weight = torch.randn(B, 4, requires_grad=True), torch.randn(4, 2, requires_grad=True)
    with mode():
        q, p = unknot.Trace(), unknot.Trace()
        y = q.concrete(logits, 0.66, name="y")
        q.normal(cut(y) @ weight, 1.0, name="z")
        p.concrete(torch.zeros(4), 0.66, value=q["y"], name="y")
        p.normal(torch.zeros(2), 1.0, value=q["z"], name="z")
        for objective in (decompose, hfvae, beta_tcvae, info_vae, information_dropout):
            with pytest.raises(
                SpecError, match=r"site 'z' .*depend.* on y in the encoder.*encoder=lambda given"
            ):
                objective(q, p, dataset_size=40)
        with pytest.raises(SpecError, match=r"site 'z' .*depend.* on y"):
            information(q, dataset_size=40)


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


@pytest.mark.parametrize("mode", MODES)
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


def test_only_direct_parents_are_reached():
    q = unknot.Trace()
    a = q.normal(torch.zeros(B, 2, requires_grad=True), 1.0, name="a")
    b = q.normal(2 * a, 1.0, name="b")
    q.normal(b.exp(), 1.0, name="c")
    q.normal(a + b, 1.0, name="d")
    found = {name: reached([q[name].dist.loc], [q["a"], q["b"]]) for name in ("c", "d")}
    assert found == {"c": ["b"], "d": ["a", "b"]}


def test_a_shared_trunk_is_not_reached():
    weight = torch.ones(5, 2, requires_grad=True)
    q, h = unknot.Trace(), torch.ones(B, 5) @ weight
    q.normal(h, 1.0, name="a")
    assert reached([h.exp()], [q["a"]]) == []


def test_leading_axes_are_those_of_the_parameters():
    q = unknot.Trace(samples=3)
    q.normal(torch.zeros(B, 2), torch.ones(B, 2), name="a")
    q.normal(torch.zeros(()), 1.0, name="b", event_dims=0)
    assert own_leading(q["a"]) == (B,)
    assert own_leading(q["b"]) == ()
