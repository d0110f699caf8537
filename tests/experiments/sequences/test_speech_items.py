"""Spoken digits as items: splits, hidden labels, views."""

from __future__ import annotations

import pytest
import torch

from experiments.sequences.speech_items import (
    FRAMES,
    SPEAKERS,
    blanked,
    some_labels,
    spoken_digits,
    stretched,
    toy_recordings,
    true_frames,
)
from unknot.data import load
from unknot.errors import DataError


@pytest.fixture
def torch_seed() -> None:
    torch.manual_seed(0)


def test_labels_are_hidden_from_all_but_a_few_items_of_each_digit() -> None:
    train = toy_recordings(3, 0)
    labeled = some_labels(train, 5, 0)
    known = labeled.digit >= 0
    assert torch.equal(known, labeled.speaker >= 0)
    assert torch.equal(labeled.digit[known].bincount(), torch.full((10,), 5))
    assert torch.equal(labeled.digit[known], train.digit[known])
    assert torch.equal(labeled.speaker[known], train.speaker[known])
    assert (labeled.digit[~known] == -1).all()
    assert (labeled.speaker[~known] == -1).all()
    assert not torch.equal(known, some_labels(train, 5, 1).digit >= 0)


def test_the_validation_items_are_training_items() -> None:
    try:
        data = load("spoken-digits", frames=FRAMES)
    except DataError:
        pytest.skip("the data set is not on this machine")
    train, test = spoken_digits("test")
    rest, validation = spoken_digits("validation")
    assert (len(train), len(test), len(rest), len(validation)) == (2700, 300, 2400, 300)
    assert set((data.split("test").ids % 50).tolist()) == set(range(5))
    training = {row.numpy().tobytes() for row in train.x}
    parts = [{row.numpy().tobytes() for row in half.x} for half in (rest, validation)]
    assert parts[0] | parts[1] == training
    assert not parts[0] & parts[1]


def test_toy_items_of_one_digit_and_speaker_differ_by_noise_alone() -> None:
    first, second = toy_recordings(2, 0), toy_recordings(1, 5)
    both = true_frames(first.length[:60]) & true_frames(second.length)
    same = (first.x[:60] - second.x)[both]
    assert abs(float(same.std()) - 0.3 * 2**0.5) < 0.01
    assert torch.bincount(second.speaker * 10 + second.digit).tolist() == [1] * (10 * SPEAKERS)


@pytest.mark.usefixtures("torch_seed")
def test_views_keep_padding_zero_and_their_lengths_true() -> None:
    items = toy_recordings(1, 0)
    view, length = stretched(items.x, items.length)
    assert ((length >= 1) & (length <= FRAMES)).all()
    assert (length != items.length).any()
    for x in (view, blanked(view, length)):
        assert torch.equal(x.abs().sum(-1) > 0, x.abs().sum(-1) * true_frames(length) > 0)
    assert (view.abs().sum(-1) > 0).equal(true_frames(length))


@pytest.mark.usefixtures("torch_seed")
def test_a_stretched_ramp_is_a_ramp_of_the_drawn_speed() -> None:
    """A view of x_t = t is start + rate * t, plus a constant: its slope is the rate, its length what fits."""
    count = 200
    x = torch.arange(float(FRAMES))[None, :, None].expand(count, -1, 2)
    length = torch.full((count,), FRAMES)
    view, new_length = stretched(x, length)
    slopes = (view[:, 1:] - view[:, :-1])[..., 0]
    inside = true_frames(new_length)[:, 1:]
    rate = slopes[:, 0]
    assert ((rate > 0.8) & (rate < 1.25)).all()
    torch.testing.assert_close(slopes[inside], rate[:, None].expand_as(slopes)[inside], rtol=0, atol=1e-4)
    longest = ((FRAMES - 1) / rate).floor() + 1  # without an offset of the start
    assert (new_length <= longest.clamp(max=FRAMES)).all()


@pytest.mark.usefixtures("torch_seed")
def test_a_blanked_view_hides_one_span_of_frames_and_one_of_bands() -> None:
    x = torch.full((50, FRAMES, 40), 10.0)
    length = torch.full((50,), FRAMES)
    hidden = blanked(x, length) == 0
    frames, bands = hidden.all(2), hidden.all(1)
    assert torch.equal(hidden, frames[..., None] | bands[:, None])
    assert (frames.sum(1) <= 12).all()
    assert (bands.sum(1) <= 8).all()
    for spans in (frames, bands):  # a span has at most one beginning
        assert ((spans[:, 1:] & ~spans[:, :-1]).sum(1) + spans[:, 0] <= 1).all()
    assert frames.any()
    assert bands.any()
