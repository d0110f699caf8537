"""Who depends on whom is read from the program: no gradients, no numbers, nothing left behind."""

import pytest
import torch
from torch import nn

import unknot
from tests.objectives.marginal.structured_programs import Encoder, data
from unknot.errors import SpecError
from unknot.objectives import site_parents

Z_ON_Y = {"y": [], "z": ["y"], "w": []}


@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize(
    "gradient", ["concrete", "straight_through", "plug_in", "score_function", "enumerate"]
)
def test_every_mode_and_gradient_gives_the_same_answer(mode, gradient):
    with mode():
        assert site_parents(Encoder(gradient, dependent=True), data()) == Z_ON_Y
        assert site_parents(Encoder(gradient), data()) == {"y": [], "z": [], "w": []}


@pytest.mark.parametrize(
    "read", [lambda y: y.detach(), lambda y: y.argmax(-1, keepdim=True).double(), lambda y: 0.0 * y]
)
def test_paths_without_gradient_and_zero_weights_count(read):
    def program(x):
        q = unknot.Trace()
        y = q.concrete(x, 0.66, name="y")
        q.normal(x[:, :1] + read(y).sum(-1, keepdim=True), 1.0, name="z")
        return q

    assert site_parents(program, torch.randn(5, 3).double()) == {"y": [], "z": ["y"]}


def test_labels_are_parents_too():
    encoder, x = Encoder(None, dependent=True), data()
    assert site_parents(encoder, x, torch.zeros(len(x), dtype=torch.long)) == Z_ON_Y


def test_a_decoders_sites_by_its_own_names():
    """p reads q's value itself, not the value that its own site returned."""

    def decoder(q):
        p = unknot.Trace()
        p.normal(torch.zeros(2), 1.0, value=q["a"], name="a")
        p.normal(2 * q["a"].value, 1.0, value=q["b"], name="b")
        return p

    def both(x):
        q = unknot.Trace()
        q.normal(x, 1.0, name="a")
        q.normal(x, 1.0, name="b")
        return decoder(q)

    assert site_parents(both, torch.zeros(4, 2)) == {"a": [], "b": ["a"]}


def test_random_states_and_buffers_stay():
    norm = nn.BatchNorm1d(3)

    def program(x):
        q = unknot.Trace()
        q.normal(norm(x), 1.0, name="z")
        return q

    x = torch.randn(5, 3) + 4
    before, state = norm.running_mean.clone(), torch.random.get_rng_state()
    site_parents(program, x)
    assert torch.equal(norm.running_mean, before)
    assert torch.equal(torch.random.get_rng_state(), state)


def test_a_program_returns_its_trace():
    with pytest.raises(SpecError, match="returns its Trace"):
        site_parents(lambda: (unknot.Trace(), 1))
