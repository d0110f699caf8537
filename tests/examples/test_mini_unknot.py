"""``examples/mini_unknot.py`` and the library: the same draws, losses and gradients."""

from __future__ import annotations

from types import ModuleType

import pytest
import torch
from torch import Tensor, nn

import unknot
from tests.examples.loading import EXAMPLES, load

NAN = float("nan")
mini = load("mini_unknot")


class Model(nn.Module):
    """Three sites, written once for both libraries: their traces have the same methods.

    In the order "class first" the labels' probabilities do not depend on draws; in the order "class last" they do, and
    the importance weights of Eq. 6 vary.
    """

    def __init__(self, class_first: bool) -> None:
        super().__init__()
        self.class_first = class_first
        self.y = nn.Linear(6 if class_first else 8, 3)
        self.z = nn.Linear(9 if class_first else 6, 4)
        self.light = nn.Linear(8, 4)
        self.prior = nn.Parameter(torch.randn(3))
        self.x = nn.Linear(7, 6)

    def encode(self, library: ModuleType, x: Tensor, y: Tensor, light: Tensor, samples: int) -> object:
        q = library.Trace(samples)
        labels = library.partial(y)
        if self.class_first:
            given = q.concrete(self.y(x), 0.66, value=labels, name="y")
            z = self.normal(q, self.z(library.cat([x, given])), "z")
        else:
            z = self.normal(q, self.z(x), "z")
            q.concrete(self.y(library.cat([x, z])), 0.66, value=labels, name="y")
        self.normal(q, self.light(library.cat([x, z])), "light", library.partial(light))
        return q

    def decode(self, library: ModuleType, x: Tensor, q: dict) -> object:
        p = library.Trace(q.samples)
        y = p.concrete(self.prior, 0.66, value=q["y"], name="y")
        z = p.normal(torch.zeros(2), torch.ones(2), value=q["z"], name="z")
        light = p.normal(torch.zeros(2), torch.ones(2), value=q["light"], name="light")
        p.bernoulli(logits=self.x(library.cat([y, z, light])), value=x, name="x")
        return p

    @staticmethod
    def normal(q, parameters: Tensor, name: str, value=None) -> Tensor:
        loc, log_scale = parameters.chunk(2, -1)
        return q.normal(loc, log_scale.exp(), value=value, name=name)


@pytest.mark.parametrize("class_first", [True, False])
@pytest.mark.parametrize("samples", [1, 2, 5])
@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0), (50.0, 2.0, 3.0)])
def test_loss_and_gradients_equal_those_of_the_library(
    class_first: bool, samples: int, weights: tuple[float, float, float], double: None
) -> None:
    model = Model(class_first)
    x = torch.rand(4, 6)
    y = torch.tensor([2, -1, 0, -1])  # both labels, one of them, none
    light = torch.tensor([[0.3, -1.0], [0.1, 0.2], [NAN, NAN], [NAN, 0.0]])
    losses, gradients = [], []
    for library in (mini, unknot):
        torch.manual_seed(1)
        q = model.encode(library, x, y, light, samples)
        p = model.decode(library, x, q)
        if library is mini:
            losses.append(mini.semi_supervised(q, p, *weights)["loss"])
        else:
            losses.append(unknot.objectives.semi_supervised(q, p, *weights).loss)
        gradients.append(torch.autograd.grad(losses[-1], list(model.parameters())))
    torch.testing.assert_close(*losses, atol=1e-11, rtol=0)
    for gradient, expected in zip(*gradients, strict=True):
        torch.testing.assert_close(gradient, expected, atol=1e-11, rtol=0)


def test_values_and_log_probabilities_equal_those_of_the_library() -> None:
    model = Model(class_first=True)
    x, light = torch.rand(3, 6), torch.full((3, 2), NAN)
    traces = []
    for library in (mini, unknot):
        torch.manual_seed(2)
        traces.append(model.encode(library, x, torch.tensor([1, -1, -1]), light, 4))
    for name in ("y", "z", "light"):
        torch.testing.assert_close(traces[0][name].value, traces[1][name].value)
        torch.testing.assert_close(traces[0][name].log_prob, traces[1][name].log_prob)


def test_it_is_short_and_imports_nothing_of_the_library() -> None:
    text = (EXAMPLES / "mini_unknot.py").read_text()
    assert len(text.splitlines()) <= 200
    assert "import unknot" not in text
    assert "from unknot" not in text


def test_it_learns() -> None:
    assert mini.main(steps=100) > 0.5
