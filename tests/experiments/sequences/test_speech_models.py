"""Networks for spoken digits: padding never counts, the programs score what they say, conversions use no label."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import pad

import unknot
from experiments.sequences.speech_items import Recordings, toy_recordings, true_frames
from experiments.sequences.speech_models import Classifier, SpeechModel


@pytest.fixture
def items() -> Recordings:
    return toy_recordings(1, 0)


@pytest.fixture
def model() -> SpeechModel:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return SpeechModel(width=16).eval()


def test_padding_does_not_change_logits(items: Recordings) -> None:
    torch.manual_seed(0)
    classifier = Classifier(width=16).eval()
    longer = pad(items.x, (0, 0, 0, 24))
    for name, logits in classifier(items.x, items.length).items():
        torch.testing.assert_close(logits, classifier(longer, items.length)[name])


def test_only_true_frames_are_scored(items: Recordings, model: SpeechModel) -> None:
    torch.manual_seed(0)
    q = model.encode(items.x, items.length, items.digit, items.speaker)
    p = model.decode(items.x, items.length, q)
    other = items.x + 5.0 * ~true_frames(items.length)[..., None]
    again = model.decode(other, items.length, q)
    assert torch.equal(p["x"].log_prob, again["x"].log_prob)
    mean = model.frames(q["digit"].value, q["speaker"].value, q["style"].value)
    scale = torch.nn.functional.softplus(model.scale) + 0.05
    row = 7
    length = int(items.length[row])
    expected = torch.distributions.Normal(mean[row, :length], scale).log_prob(items.x[row, :length]).sum()
    torch.testing.assert_close(p["x"].log_prob.flatten()[row], expected)


def test_labels_are_values_where_known_and_draws_elsewhere(items: Recordings, model: SpeechModel) -> None:
    known = torch.arange(len(items)) % 2 == 0
    digit = torch.where(known, items.digit, -1)
    q = model.encode(items.x, items.length, digit, torch.full_like(digit, -1))
    codes = torch.nn.functional.one_hot(items.digit, 10).float()
    assert torch.equal(q["digit"].value[known], codes[known])
    assert not torch.isin(q["digit"].value[~known].amax(-1), torch.tensor([0.0])).any()
    assert (q["speaker"].value.amax(-1) < 1).any()


def test_labels_of_other_items_have_no_influence_on_an_item(items: Recordings, model: SpeechModel) -> None:
    """An item's terms depend on its own labels alone, so -1 says that nothing is known."""
    from unknot.objectives import semi_supervised

    def terms(digit: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(0)
        q = unknot.trace(model.encode, items.x, items.length, digit, torch.full_like(digit, -1))
        p = unknot.trace(model.decode, items.x, items.length, q)
        return semi_supervised(q, p, alpha=3.0, relaxed_kl="discrete").per_item.detach()

    digit = items.digit.clone()
    digit[10:] = -1
    changed = digit.clone()
    changed[:5] = (changed[:5] + 1) % 10
    before, after = terms(digit), terms(changed)
    assert (before[:5] != after[:5]).all()
    torch.testing.assert_close(before[5:], after[5:])


def test_conversions_keep_style_and_predicted_digit(items: Recordings, model: SpeechModel) -> None:
    converted = model.converted(items.x, items.length)
    assert converted.shape == (6, *items.x.shape)
    assert not converted.masked_select(~true_frames(items.length)[..., None]).any()
    predicted = model.classifier.predict(items.x, items.length)
    digits = torch.nn.functional.one_hot(predicted["digit"], 10).float()
    speakers = torch.nn.functional.one_hot(predicted["speaker"], 6).float()
    h, _ = model.classifier.features(items.x, items.length)
    style, _ = model.style_parameters(h, digits, speakers)
    row, length = 3, int(items.length[3])
    expected = model.frames(digits[row : row + 1], torch.eye(6)[2:3], style[row : row + 1])[0, :length]
    torch.testing.assert_close(converted[2, row, :length], expected)
