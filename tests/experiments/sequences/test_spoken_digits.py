"""spoken-digits: its cases, its numbers against hand-made predictions, and its figure."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from experiments.sequences import spoken_digits
from experiments.sequences.speech_items import SPEAKERS, Recordings, some_labels, toy_recordings
from experiments.sequences.spoken_digits import (
    LABELS,
    OPTIMIZATION,
    OURS,
    ROWS,
    cases,
    conversions,
    draw_conversions,
    errors,
    with_offsets,
)


class TableClassifier:
    """Predicts the classes that are written into the first frame of an item."""

    def predict(self, x: torch.Tensor, length: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"digit": x[:, 0, 0].long(), "speaker": x[:, 0, 1].long()}


def written(items: Recordings) -> torch.Tensor:
    x = items.x.clone()
    x[:, 0, 0], x[:, 0, 1] = items.digit.float(), items.speaker.float()
    return x


def test_ours_and_the_classifier_on_the_labels_have_the_same_number_of_steps() -> None:
    assert ROWS[OURS]["steps"] == ROWS[LABELS]["steps"] == OPTIMIZATION["steps"]
    assert {case["held_out"] for case in cases("quick")} == {"test"}
    assert {case["held_out"] for case in cases("smoke")} == {"toy"}
    assert len({case["per_digit"] for case in cases("quick")}) == 1


def test_errors_are_shares_of_wrong_classes() -> None:
    items = toy_recordings(1, 0)
    predicted = {"digit": items.digit.clone(), "speaker": (items.speaker + 1) % SPEAKERS}
    predicted["digit"][:15] = (predicted["digit"][:15] + 1) % 10
    assert errors(predicted, items) == {"digit": 25.0, "speaker": 100.0}


def test_conversions_to_other_speakers_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ideal conversions give 100 and 100; unchanged items keep the digit and never have the new speaker."""
    items = toy_recordings(1, 0)
    test = Recordings(written(items), items.length, items.digit, items.speaker)
    monkeypatch.setattr(spoken_digits, "fit_labels", lambda *arguments: TableClassifier())
    unchanged = test.x.expand(SPEAKERS, *test.x.shape)
    found = conversions(items, test, unchanged, 1, 0)
    assert found == {"new_speaker": 0.0, "kept_digit": 100.0, "judge_digit": 0.0, "judge_speaker": 0.0}
    ideal = unchanged.clone()
    ideal[:, :, 0, 1] = torch.arange(float(SPEAKERS))[:, None]
    assert conversions(items, test, ideal, 1, 0)["new_speaker"] == 100.0
    ideal[0, :, 0, 0] = -1  # five sixths of the conversions are to others, and a sixth of these to the first
    assert conversions(items, test, ideal, 1, 0)["kept_digit"] == pytest.approx(100 * 5 / 6)


def test_conversions_are_judged_by_a_classifier_with_all_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    train, test = toy_recordings(1, 0), toy_recordings(1, 1)
    given: list[tuple[Recordings, int]] = []

    def fit(items: Recordings, settings: object, seed: int) -> TableClassifier:
        given.append((items, seed))
        return TableClassifier()

    monkeypatch.setattr(spoken_digits, "fit_labels", fit)
    conversions(train, test, test.x.expand(SPEAKERS, *test.x.shape), 1, 3)
    ((items, seed),) = given
    assert (items.digit >= 0).all()
    assert (items.speaker >= 0).all()
    assert seed != 3  # not the weights that a row starts from


def test_offsets_are_differences_of_mean_frames() -> None:
    labeled = some_labels(toy_recordings(3, 0), 12, 0)
    test = toy_recordings(1, 1)
    converted = with_offsets(labeled, test)

    def mean_frame(speaker: int) -> torch.Tensor:
        rows = (labeled.speaker == speaker).nonzero()[:, 0].tolist()
        return torch.cat([labeled.x[row, : int(labeled.length[row])] for row in rows]).mean(0)

    row, new = 17, 4
    length = int(test.length[row])
    offset = mean_frame(new) - mean_frame(int(test.speaker[row]))
    torch.testing.assert_close(converted[new, row, :length], test.x[row, :length] + offset)
    assert not converted[new, row, length:].any()
    torch.testing.assert_close(converted[test.speaker, torch.arange(len(test))], test.x)


def test_the_figure_shows_originals_and_conversions(tmp_path: Path) -> None:
    test = toy_recordings(1, 0)
    draw_conversions(test, test.x.expand(SPEAKERS, *test.x.shape), tmp_path / "speakers.png", rows=2)
    assert (tmp_path / "speakers.png").stat().st_size > 1000
