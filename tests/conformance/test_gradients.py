"""Gradients of every objective against central differences in float64, with common random numbers."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import unknot
from tests.objectives.marginal.structured_programs import Encoder, K, N, X, data
from unknot import objectives
from unknot.objectives import CATALOGUE, Discriminator, Terms, decompose

STEP = 1e-5
TREE = {"content": ["y"], "style": ["z", "w"]}


class Decoder(nn.Module):
    """Learned prior means and a linear likelihood, so that p has gradients too."""

    def __init__(self) -> None:
        super().__init__()
        self.y = nn.Parameter(torch.randn(K, dtype=torch.float64))
        self.loc = nn.Parameter(torch.randn(3, dtype=torch.float64))
        self.x = nn.Linear(5, X, dtype=torch.float64)

    def forward(self, x: Tensor, q: unknot.Trace) -> unknot.Trace:
        p = unknot.Trace()
        p.concrete(self.y, 0.66, value=q["y"], name="y")
        z = p.normal(self.loc, 1.0, value=q["z"], name="z")
        w = p.normal(0.0, 2.0, value=q["w"], name="w")
        p.normal(self.x(unknot.cat([z, w], -1)), 1.0, value=x, name="x")
        return p


torch.manual_seed(1)
DISCRIMINATOR = Discriminator(K + 5, hidden=16, layers=2).double()
ARGUMENTS: dict[str, dict] = {
    "info_vae": {"dataset_size": N, "parents": {"z": []}},
    "anchor_vae": {"dataset_size": N, "parents": {"z": []}, "anchors": ["z"]},
    "information_dropout": {"dataset_size": N, "parents": {"z": []}, "beta": 0.5, "gamma": 2.0},
    "beta_tcvae": {"dataset_size": N, "parents": {"z": []}},
    "factor_vae": {"discriminator": DISCRIMINATOR},
    "capacity_vae": {"C": 1.0, "gamma": 10.0},
    "hfvae": {"dataset_size": N, "parents": {"z": []}, "alpha": 0.5, "groups": TREE},
}


def directional(loss: Callable[[], Tensor], weights: list[nn.Parameter]) -> None:
    """d loss / d direction by autograd and by central differences, in three random directions."""
    gradient = torch.autograd.grad(loss(), weights)
    for _ in range(3):
        direction = [torch.randn_like(weight) for weight in weights]
        exact = sum((g * d).sum() for g, d in zip(gradient, direction, strict=True))
        values = []
        for sign in (1, -1):
            with torch.no_grad():
                for weight, d in zip(weights, direction, strict=True):
                    weight += sign * STEP * d
            values.append(loss().item())
            with torch.no_grad():
                for weight, d in zip(weights, direction, strict=True):
                    weight -= sign * STEP * d
        slope = torch.tensor((values[0] - values[1]) / (2 * STEP)).double()
        torch.testing.assert_close(exact.detach(), slope, rtol=2e-6, atol=2e-6)


def check(
    objective: Callable[[unknot.Trace, unknot.Trace, Encoder, Tensor], Terms],
    encoder: Encoder,
    labels: unknot.Partial | None = None,
    samples: int | None = None,
) -> None:
    x, decoder = data(), Decoder()

    def loss() -> Tensor:
        state = torch.random.get_rng_state()
        torch.manual_seed(7)
        q = encoder(x, labels, samples)
        terms = objective(q, decoder(x, q), encoder, x)
        torch.random.set_rng_state(state)
        return terms.loss

    directional(loss, [*encoder.parameters(), *decoder.parameters()])


# supervised, information_maximization and sleep read nothing of p's data: their gradients are held in their own tests
ENCODER_ALONE = ("supervised", "information_maximization")
OF_DATA = [name for name, entry in CATALOGUE.items() if not (name in ENCODER_ALONE or entry.of_sleep_phase)]


@pytest.mark.parametrize("name", OF_DATA)
@pytest.mark.parametrize("samples", [None, 2])
def test_every_objective_of_the_catalogue(name, samples):
    function = CATALOGUE[name].function
    check(lambda q, p, *_: function(q, p, **ARGUMENTS.get(name, {})), Encoder(), samples=samples)


def test_dip_vae_ii():
    check(lambda q, p, *_: objectives.dip_vae(q, p, kind="II"), Encoder())


@pytest.mark.parametrize("estimator", ["stratified", "minibatch_weighted", "naive"])
def test_every_estimator(estimator):
    check(
        lambda q, p, *_: objectives.hfvae(
            q, p, N, groups=TREE, estimator=estimator, parents={name: [] for name in q}
        ),
        Encoder(),
    )


def test_partial_labels():
    labels = unknot.partial(torch.tensor([2, -1, 0, -1, 3, -1]))
    check(lambda q, p, *_: objectives.hfvae(q, p, N, parents={name: [] for name in q}), Encoder(), labels)


@pytest.mark.parametrize("dependent", [False, True])
def test_an_enumerated_class(dependent):
    parents = {"z": ["y"]} if dependent else {"z": []}
    check(lambda q, p, *_: objectives.hfvae(q, p, N, parents=parents), Encoder("enumerate", dependent))


def test_a_dependent_variable_at_every_pair():
    def objective(q: unknot.Trace, p: unknot.Trace, encoder: Encoder, x: Tensor) -> Terms:
        given = {"encoder": lambda given: encoder(x, given["y"]), "all_pairs": True}
        return objectives.hfvae(q, p, N, **given)

    check(objective, Encoder(None, dependent=True))


def test_a_dependent_variable_of_labels():
    labels = torch.tensor([2, 1, 0, 1, 3, 0])

    def objective(q: unknot.Trace, p: unknot.Trace, encoder: Encoder, x: Tensor) -> Terms:
        return decompose(q, p, N, encoder=lambda given: encoder(x, given["y"]))

    check(objective, Encoder(None, dependent=True), labels)
