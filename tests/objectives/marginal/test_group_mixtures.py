"""Mixtures of several groups at once: each is the mixture of its own matrix, also where no item explains all groups."""

from __future__ import annotations

import pytest
import torch

from unknot.objectives.marginal.log_mixture import group_mixtures, log_mixture, two_mixtures
from unknot.objectives.marginal.weights import Mixture, naive, stratified

R, C = 4, 6


def matrices(groups: int, spread: float = 3.0, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    torch.manual_seed(1)
    return [spread * torch.randn(R, C, dtype=dtype) for _ in range(groups)]


def one_by_one(joints: list[torch.Tensor], weights: Mixture) -> list[torch.Tensor]:
    """The slow twin: a mixture for every matrix, and one for their sum."""
    return [log_mixture(joint, weights) for joint in [*joints, torch.stack(joints).sum(0)]]


WEIGHTS = {"stratified": stratified(1000, C, torch.arange(R)), "naive": naive(1000, C)}


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("groups", [1, 2, 3])
@pytest.mark.parametrize("spread", [3.0, 300.0], ids=["", "no item explains all groups"])
def test_they_are_the_mixtures_one_by_one_gradients_included(
    weights: Mixture, groups: int, spread: float
) -> None:
    ours = [joint.requires_grad_() for joint in matrices(groups, spread)]
    theirs = [joint.detach().clone().requires_grad_() for joint in ours]
    found, wanted = group_mixtures(ours, weights), one_by_one(theirs, weights)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other)
    prices = torch.arange(1.0, groups + 2)
    torch.stack(found).sum(-1).double().mul(prices).sum().backward()
    torch.stack(wanted).sum(-1).double().mul(prices).sum().backward()
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one.grad, other.grad)


def test_samples_before_the_items_are_rows() -> None:
    joints = [torch.stack([joint, 2 * joint]) for joint in matrices(2)]
    weights = WEIGHTS["stratified"]
    for one, other in zip(group_mixtures(joints, weights), one_by_one(joints, weights), strict=True):
        assert one.shape == (2, R)
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize(
    "shapes",
    [[(3, 1, R), (3, R)], [(R, 1, R), (R, R)], [(R,), (2, R)], [(2, R), (R,)], [(3, 1, R), (2, R), (R,)]],
    ids=str,
)
def test_matrices_with_other_leading_axes_are_broadcast(shapes: list[tuple[int, ...]]) -> None:
    """An enumerated class (K, 1, B), a style (S, B) and an observed class (B,), K = S among them."""
    weights, common = WEIGHTS["stratified"], torch.broadcast_shapes(*shapes)
    ours = [torch.randn(*shape, C, dtype=torch.float64, requires_grad=True) for shape in shapes]
    wide = [joint.detach().expand(*common, C).clone().requires_grad_() for joint in ours]
    found = [log.expand(common) for log in group_mixtures(ours, weights)]
    for log, wanted in zip(found, one_by_one(wide, weights), strict=True):
        torch.testing.assert_close(log, wanted)
    slopes = torch.randn(len(found), *common, dtype=torch.float64)
    (torch.stack(found) * slopes).sum().backward()
    (torch.stack(one_by_one(wide, weights)) * slopes).sum().backward()
    for one, other in zip(ours, wide, strict=True):
        torch.testing.assert_close(one.grad, other.grad.sum_to_size(one.shape))


def test_the_operator_refuses_matrices_of_different_shapes() -> None:
    with pytest.raises(ValueError, match="same shape"):
        two_mixtures(torch.zeros(2, C), torch.zeros(4, C), None, -1.0, -1.0)


def test_an_own_item_that_holds_everything_does_not_cancel() -> None:
    """Own weight 1/N far below the others': correcting a finished sum would leave no digits in float32."""
    joints = [torch.full((2, 2), -30.0).fill_diagonal_(0.0), torch.full((2, 2), -1.0).fill_diagonal_(0.0)]
    weights = stratified(10**6, 2, torch.arange(2))
    wide = one_by_one([joint.double() for joint in joints], weights)
    for one, other in zip(group_mixtures(joints, weights), wide, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-6, atol=0)


def test_a_draw_that_no_item_explains_gives_finite_numbers() -> None:
    first, second = matrices(2, dtype=torch.float32)
    first[1] = -torch.inf
    first.requires_grad_()
    found = group_mixtures([first, second], WEIGHTS["naive"])
    assert found[0][1] < -1e38
    assert found[2][1] < -1e38
    torch.stack(found).sum().backward()
    assert first.grad is not None
    assert first.grad.isfinite().all()


def test_the_operator_keeps_its_promises_to_autograd_and_compile() -> None:
    joints = [joint.requires_grad_() for joint in matrices(2)]
    assert torch.autograd.gradcheck(lambda *two: two_mixtures(*two, torch.arange(R), -2.0, -1.0)[0], joints)
    torch.library.opcheck(
        two_mixtures.op, (*(joint.detach() for joint in joints), torch.arange(R), -2.0, -1.0)
    )
