"""Calibration: a known temperature and known class shares are found."""

import pytest
import torch

from unknot.models.predictor.calibration import class_offsets, inverse_temperature


@pytest.mark.parametrize("known", [0.5, 1.0, 2.0])
def test_a_known_temperature_is_found(known: float) -> None:
    # 5,000 labels: the standard error of log t is about .02, so the bound of .12 fails with probability below 1e-6
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(5000, 3, generator=generator)
    labels = torch.multinomial((known * logits).softmax(1), 1, generator=generator)[:, 0]
    found = inverse_temperature(logits.log_softmax(1), labels)
    assert abs(float(found.log()) - torch.tensor(known).log().item()) < 0.12


def test_without_labels_enough_the_temperature_stays_near_one() -> None:
    assert 0.8 < float(inverse_temperature(torch.tensor([[0.6, 0.4]]).log(), torch.tensor([0]))) < 1.3


def test_offsets_move_class_shares_to_those_of_the_labels() -> None:
    log_prob = torch.full((400, 2), 0.5).log()
    labels = (torch.arange(400) < 100).long()
    shares = (log_prob + class_offsets(log_prob, labels)).softmax(1)[0]
    torch.testing.assert_close(shares, torch.tensor([0.75, 0.25]), atol=0.02, rtol=0)
