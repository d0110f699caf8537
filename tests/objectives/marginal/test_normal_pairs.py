import pytest
import torch
from torch import Tensor
from torch.distributions import Normal

from tests.references.pairwise import joint_and_marginals, pair_loop, weight_loop
from unknot.errors import SpecError
from unknot.objectives.marginal import normal_pairs as row_blocks
from unknot.objectives.marginal.normal_pairs import normal_pairs
from unknot.objectives.marginal.pairwise import normal
from unknot.objectives.marginal.weights import Mixture, exact, stratified

N = 50


def make(
    rows: int, columns: int, dims: int, dtype: torch.dtype = torch.float64
) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(3)
    loc = torch.randn(columns, dims, generator=generator, dtype=dtype)
    scale = torch.rand(columns, dims, generator=generator, dtype=dtype) + 0.1
    value = torch.randn(rows, dims, generator=generator, dtype=dtype)
    return value, loc, scale


@pytest.mark.parametrize("block", [1, 40, 10**6], ids=["row by row", "uneven blocks", "one block"])
@pytest.mark.parametrize("columns", [6, 9], ids=["batch", "reference batch"])
def test_agrees_with_the_double_loop(block: int, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_blocks, "CPU_BLOCK", block)
    value, loc, scale = make(6, columns, 3)
    pairs = normal(value, loc, scale, stratified(N, columns, torch.arange(6)))
    logs = pair_loop(6, columns, lambda b, c: Normal(loc[c], scale[c]).log_prob(value[b]))
    joint, marginals = joint_and_marginals(logs, weight_loop("stratified", N, columns, range(6)))
    torch.testing.assert_close(pairs.joint, joint)
    torch.testing.assert_close(pairs.marginals, marginals)


def test_sample_axis_repeats_the_own_items() -> None:
    _, loc, scale = make(4, 4, 2)
    value = torch.randn(3, 4, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    weights = stratified(N, 4, torch.arange(4))
    together = normal(value, loc, scale, weights)
    assert together.joint.shape == (3, 4, 4)
    assert together.marginals.shape == (3, 4, 2)
    for s in range(3):
        alone = normal(value[s], loc, scale, weights)
        torch.testing.assert_close(together.joint[s], alone.joint)
        torch.testing.assert_close(together.marginals[s], alone.marginals)


def test_discrete_parent_uses_the_rows_parent_and_the_columns_item() -> None:
    value, _, _ = make(6, 6, 2)
    generator = torch.Generator().manual_seed(5)
    loc = torch.randn(3, 6, 2, generator=generator, dtype=torch.float64)
    scale = torch.rand(3, 6, 2, generator=generator, dtype=torch.float64) + 0.1
    parent = torch.tensor([2, 0, 2, 2, 0, 2])  # value 1 does not occur
    pairs = normal(value, loc, scale, stratified(N, 6, torch.arange(6)), parent)

    def log_prob(b: int, c: int) -> Tensor:
        k = int(parent[b])
        return Normal(loc[k, c], scale[k, c]).log_prob(value[b])

    joint, marginals = joint_and_marginals(
        pair_loop(6, 6, log_prob), weight_loop("stratified", N, 6, range(6))
    )
    torch.testing.assert_close(pairs.joint, joint)
    torch.testing.assert_close(pairs.marginals, marginals)


@pytest.mark.parametrize("parent", [None, torch.tensor([1, 0, 1, 1])], ids=["no parent", "parent"])
@pytest.mark.parametrize(
    "mixture", [stratified(N, 5, torch.arange(1, 5)), exact(5, 5)], ids=["own", "uniform"]
)
def test_gradients_agree_with_finite_differences(
    parent: Tensor | None, mixture: Mixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_blocks, "CPU_BLOCK", 30)
    value, loc, scale = make(4, 5, 3)
    if parent is not None:
        loc, scale = torch.stack([loc, loc.flip(0)]), torch.stack([scale, scale.flip(1)])
    inputs = [tensor.clone().requires_grad_() for tensor in (value, loc, scale)]

    def outputs(value: Tensor, loc: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
        pairs = normal(value, loc, scale, mixture, parent)
        return pairs.joint, pairs.marginals

    assert torch.autograd.gradcheck(outputs, inputs)


def plain(value: Tensor, loc: Tensor, scale: Tensor, log_weights: Tensor) -> tuple[Tensor, Tensor]:
    logs = Normal(loc, scale).log_prob(value[:, None])  # (B, C, D)
    return logs.sum(-1), (logs + log_weights[:, :, None]).logsumexp(1)


@pytest.mark.parametrize("sigma", [1e-3, 1e-2, 1e-1, 1.0, 10.0])
@pytest.mark.parametrize("offset", [0.0, 10.0], ids=["centered", "far from zero"])
def test_float32_keeps_four_digits_at_any_scale(sigma: float, offset: float) -> None:
    generator = torch.Generator().manual_seed(7)
    batch, dims = 128, 10
    loc = torch.randn(batch, dims, generator=generator) + offset
    scale = sigma * (0.5 + torch.rand(batch, dims, generator=generator))
    value = loc + scale * torch.randn(batch, dims, generator=generator)
    mixture = stratified(60000, batch, torch.arange(batch))
    log_weights = torch.tensor(
        weight_loop("stratified", 60000, batch, range(batch)), dtype=torch.float64
    ).log()

    single = [tensor.clone().requires_grad_() for tensor in (value, loc, scale)]
    double = [tensor.double().requires_grad_() for tensor in (value, loc, scale)]
    pairs = normal(*single, mixture)
    joint, marginals = plain(*double, log_weights)
    torch.testing.assert_close(pairs.joint.double(), joint, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(pairs.marginals.double(), marginals, rtol=1e-4, atol=1e-4)

    # The objective's own use of the joint: its mixture, not the matrix.
    (pairs.marginals.sum() + (pairs.joint + log_weights.float()).logsumexp(1).sum()).backward()
    (marginals.sum() + (joint + log_weights).logsumexp(1).sum()).backward()
    for ours, theirs in zip(single, double, strict=True):
        assert ours.grad is not None
        assert theirs.grad is not None
        error = (ours.grad.double() - theirs.grad).abs().max() / theirs.grad.abs().max()
        assert error < 1e-4


def test_the_operator_keeps_its_promises_to_autograd_and_compile() -> None:
    value, loc, scale = make(4, 4, 2)
    leaves = [tensor.requires_grad_() for tensor in (value, loc[None], scale[None])]
    arguments = (*leaves, torch.zeros(4, dtype=torch.long), torch.arange(4), -2.0, -1.0)
    torch.library.opcheck(normal_pairs.op, arguments)


def test_half_precision_is_computed_in_single() -> None:
    value, loc, scale = (tensor.bfloat16() for tensor in make(4, 4, 2))
    assert normal(value, loc, scale, exact(4, 4)).joint.dtype == torch.float32


def test_an_unknown_parent_is_refused() -> None:
    value, loc, scale = make(2, 2, 2)
    tables = torch.stack([loc, loc]), torch.stack([scale, scale])
    with pytest.raises(SpecError, match="class index"):
        normal(value, *tables, exact(2, 2), parent=torch.tensor([0, -1]))
