import pytest
import torch

from tests.references.pairwise import mixture_loop, weight_loop
from unknot.objectives.marginal.log_mixture import log_mixture, weighted_logsumexp
from unknot.objectives.marginal.weights import ESTIMATORS, exact, mixture, stratified


def logs(rows: int, columns: int) -> torch.Tensor:
    return 3 * torch.randn(rows, columns, generator=torch.Generator().manual_seed(2), dtype=torch.float64)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_agrees_with_the_double_loop(estimator: str) -> None:
    own = torch.tensor([3, 0, 2, 5])  # any columns, not only the diagonal
    size = 6 if estimator == "exact" else 40
    joint = logs(4, 6)
    weights = weight_loop(estimator, size, 6, own.tolist())
    torch.testing.assert_close(
        log_mixture(joint, mixture(estimator, size, 6, own)), mixture_loop(joint, weights)
    )


def test_sample_axis() -> None:
    joint = logs(6, 3).reshape(2, 3, 3)
    weights = stratified(10, 3, torch.arange(3))
    expected = torch.stack([log_mixture(part, weights) for part in joint])
    torch.testing.assert_close(log_mixture(joint, weights), expected)


def test_an_own_item_that_holds_everything_does_not_cancel() -> None:
    # Own weight 1/N far below the others': correcting a finished sum would leave no digits in float32.
    joint = torch.full((2, 2), -30.0)
    joint.fill_diagonal_(0.0)
    weights = weight_loop("stratified", 10**6, 2, range(2))
    result = log_mixture(joint, stratified(10**6, 2, torch.arange(2)))
    torch.testing.assert_close(result.double(), mixture_loop(joint, weights), rtol=1e-6, atol=0)


def test_gradients_agree_with_finite_differences() -> None:
    joint = logs(4, 6).requires_grad_()
    for weights in (stratified(40, 6, torch.arange(4)), exact(6, 6)):
        assert torch.autograd.gradcheck(lambda m, w=weights: log_mixture(m, w), [joint])


def test_a_draw_that_no_item_explains_gives_finite_numbers() -> None:
    joint = torch.zeros(2, 3)
    joint[1] = -torch.inf
    joint.requires_grad_()
    result = log_mixture(joint, exact(3, 3))
    assert result[1] < -1e38
    result.sum().backward()
    assert joint.grad is not None
    assert joint.grad.isfinite().all()


def test_the_operator_keeps_its_promises_to_autograd_and_compile() -> None:
    torch.library.opcheck(weighted_logsumexp.op, (logs(4, 6).requires_grad_(), torch.arange(4), -2.0, -1.0))
