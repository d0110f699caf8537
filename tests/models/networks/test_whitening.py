"""Whitening against moments computed class by class in numpy, and the laws that it is for."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.models.digits import NODES, batch_of_digits
from unknot.errors import SpecError
from unknot.models.graphical_model import GraphicalModel
from unknot.models.networks.whitening import Whitening

WHITENED = {"name": "mlp", "whiten": "digit"}
STYLE = {"family": "normal", "size": 3, "inferred_from": ["x", "digit"], "encoder": WHITENED}


def model_with(**settings: object) -> GraphicalModel:
    torch.manual_seed(0)
    return GraphicalModel({"nodes": {**NODES, "style": {**STYLE, **settings}}}, (1, 8, 8))


def items_of_classes(count: int = 600) -> tuple[torch.Tensor, torch.Tensor]:
    """Outputs ``(N, 6)`` whose moments differ by class, and one-hot classes ``(N, 4)``, the last of which is empty."""
    draw = np.random.default_rng(0)
    classes = draw.integers(0, 3, count)
    turns = draw.normal(size=(3, 3, 3))
    means = np.einsum("nij,nj->ni", turns[classes], draw.normal(size=(count, 3))) + 5.0 * classes[:, None]
    raw = draw.normal(size=(count, 3)) - 1.0
    return torch.from_numpy(np.concatenate([means, raw], 1)), torch.eye(4, dtype=torch.float64)[classes]


def whitened_by_loops(outputs: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """m̃ of every item from the moments of its class, by numpy's own covariance and eigenvectors."""
    mean = outputs[:, :3]
    found = np.empty_like(mean)
    for n, k in enumerate(classes):
        own = mean[classes == k]
        values, vectors = np.linalg.eigh(np.cov(own.T, bias=True))
        root = sum(np.outer(v, v) / np.sqrt(e) for e, v in zip(values, vectors.T, strict=True))
        found[n] = np.sqrt(0.9) * (root @ (mean[n] - own.mean(0)))
    return found


def settled(outputs: torch.Tensor, classes: torch.Tensor) -> Whitening:
    """After so many batches alike that nothing is left of the start."""
    white = Whitening(classes.shape[-1], outputs.shape[-1] // 2).double()
    for _ in range(2000):
        white.update(outputs, classes)
    return white


def test_it_is_the_loop_over_items() -> None:
    outputs, classes = items_of_classes()
    found = settled(outputs, classes)(outputs, classes)
    expected = whitened_by_loops(outputs.numpy(), classes.argmax(-1).numpy())
    np.testing.assert_allclose(found[:, :3].numpy(), expected, atol=1e-6)
    torch.testing.assert_close(found[:, 3:], outputs[:, 3:])


def test_every_class_has_the_same_two_moments() -> None:
    outputs, classes = items_of_classes()
    mean = settled(outputs, classes)(outputs, classes)[:, :3]
    for k in range(3):
        own = mean[classes[:, k] > 0]
        torch.testing.assert_close(own.mean(0), torch.zeros(3).double(), atol=1e-6, rtol=0)
        torch.testing.assert_close(own.T.cov(correction=0), 0.9 * torch.eye(3).double(), atol=1e-6, rtol=0)


def test_a_class_that_never_comes_is_left_as_it_is() -> None:
    outputs, classes = items_of_classes()
    white = settled(outputs, classes)
    torch.testing.assert_close(white.mean()[3], torch.zeros(3).double())
    torch.testing.assert_close(white.covariance()[3], torch.eye(3).double())


def test_linear_changes_of_the_network_within_a_class_change_nothing_but_a_rotation() -> None:
    """m̃ᵀ m̃ / τ is the square of Mahalanobis's distance, which no invertible map of m changes."""
    outputs, classes = items_of_classes()
    mapped = outputs.clone()
    mapped[:, :3] = outputs[:, :3] @ torch.tensor([[2.0, 1, 0], [0, 0.5, 1], [0, 0, 3]]).double() + 7
    found = []
    for one in (outputs, mapped):
        found.append(settled(one, classes)(one, classes)[:, :3].square().sum(-1))
    torch.testing.assert_close(found[0], found[1], atol=1e-6, rtol=1e-6)


def test_a_relaxed_class_mixes_the_means_of_the_classes() -> None:
    outputs, classes = items_of_classes()
    white = settled(outputs, classes)
    each = torch.stack([white(outputs, torch.eye(4).double()[k].expand(600, 4)) for k in range(4)])
    weights = torch.tensor([0.2, 0.5, 0.3, 0.0]).double()
    mixed = white(outputs, weights.expand(600, 4))
    torch.testing.assert_close(mixed, torch.einsum("k,knd->nd", weights, each))


def test_draws_on_an_axis_count_each() -> None:
    outputs, classes = items_of_classes(12)
    one, several = Whitening(4, 3).double(), Whitening(4, 3).double()
    several.update(outputs, torch.stack([classes, classes]))  # outputs without the axis
    one.update(outputs.repeat(2, 1), classes.repeat(2, 1))
    torch.testing.assert_close(one.state_dict(), several.state_dict())
    assert several(outputs, torch.stack([classes, classes])).shape == (2, 12, 6)


def test_processes_share_their_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs, classes = items_of_classes(12)
    one, two = Whitening(4, 3).double(), Whitening(4, 3).double()
    one.update(outputs.repeat(2, 1), classes.repeat(2, 1))
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(
        torch.distributed, "all_reduce", lambda sums: sums.mul_(2)
    )  # another with the same items
    two.update(outputs, classes)
    torch.testing.assert_close(one.state_dict(), two.state_dict())


def test_moments_keep_their_precision_where_networks_run_in_half() -> None:
    outputs, classes = (t.float() for t in items_of_classes(60))
    full, half = Whitening(4, 3), Whitening(4, 3)
    full.update(outputs.bfloat16().float(), classes)
    with torch.autocast("cpu", torch.bfloat16):
        half.update(outputs.bfloat16(), classes)
        found = half(outputs.bfloat16(), classes)
    torch.testing.assert_close(half.state_dict(), full.state_dict())
    torch.testing.assert_close(found, full(outputs.bfloat16().float(), classes))


# ---- in a model -----------------------------------------------------------------------------------------


def test_the_site_has_the_whitened_mean_and_its_own_density() -> None:
    model, batch = model_with().eval(), batch_of_digits()
    white = model.recognition["style"].white
    assert isinstance(white, Whitening)
    white.total.copy_(0.3 * torch.rand(10, 3))
    q = model.encode(batch.x, {"digit": batch["digit"]})
    seen = torch.cat([model.trunk(batch.x), model.family_of("digit").features(q["digit"].value)], -1)
    outputs = model.recognition["style"].network(seen)
    loc, raw = white(outputs, q["digit"].value).chunk(2, -1)
    scale = torch.nn.functional.softplus(raw) + 1e-3
    assert not torch.allclose(loc, outputs[:, :3])
    density = -0.5 * ((q["style"].value - loc) / scale) ** 2 - scale.log() - 0.5 * np.log(2 * np.pi)
    torch.testing.assert_close(q["style"].log_prob, density.sum(-1), atol=1e-4, rtol=1e-4)


def test_moments_move_in_training_steps_only() -> None:
    model, batch = model_with(), batch_of_digits()
    white = model.recognition["style"].white

    def moved() -> bool:
        before = {name: value.clone() for name, value in white.state_dict().items()}
        model(batch)
        return any(not torch.equal(before[name], value) for name, value in white.state_dict().items())

    assert moved()
    with torch.no_grad():
        assert not moved()
    model.eval()
    assert not moved()


def test_moments_are_kept_with_the_weights() -> None:
    model, again, batch = model_with(), model_with(), batch_of_digits()
    model(batch)
    again.load_state_dict(model.state_dict())
    torch.testing.assert_close(
        again.recognition["style"].white.state_dict(),
        model.recognition["style"].white.state_dict(),
        rtol=0,
        atol=0,
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"encoder": {**WHITENED, "whiten": "x"}},
        {"inferred_from": ["x"]},
        {"labels": True},
        {"family": "direction"},
    ],
)
def test_what_cannot_be_whitened_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(SpecError, match="node 'style': whiten is for a normal node"):
        model_with(**wrong)


def test_an_enumerated_class_is_refused() -> None:
    nodes = {**NODES, "digit": {**NODES["digit"], "gradient": "enumerate"}, "style": STYLE}  # type: ignore[dict-item]
    with pytest.raises(SpecError, match="choose another gradient"):
        GraphicalModel({"nodes": nodes}, (1, 8, 8))
