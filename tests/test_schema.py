"""Settings checked by a schema: what is refused, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from unknot.errors import SpecError
from unknot.schema import (
    Schema,
    check,
    choice,
    either,
    flag,
    left_out_or,
    list_of,
    number,
    table,
    table_of,
    text,
    whole,
)

TABLE = table(
    {
        "steps": left_out_or(whole()),
        "rate": either(table({"start": number(0)}, "a schedule", required=("start",)), number(0)),
        "share": number(0, 1),
        "above": number(above=0),
        "device": choice(["cpu", "cuda"]),
        "layers": list_of(whole(1, 9)),
        "pair": list_of(number(), 2, 2, "two numbers"),
        "names": table_of(text(), "a table of names", 1),
        "loud": flag(),
    },
    "settings",
)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"steps": 0}, "train.steps is a whole number of at least 1, but got 0."),
        ({"steps": 2.0}, "train.steps is a whole number of at least 1, but got 2.0."),
        ({"steps": True}, "train.steps is a whole number of at least 1, but got True."),
        ({"rate": "fast"}, "train.rate is a number of at least 0, but got 'fast'."),
        ({"rate": {}}, "train.rate: needs 'start', a number of at least 0."),
        ({"rate": {"start": -1}}, "train.rate.start is a number of at least 0, but got -1."),
        ({"share": float("nan")}, "train.share is a number from 0 to 1, but got nan."),
        ({"share": float("inf")}, "train.share is a number from 0 to 1, but got inf."),
        ({"share": 10**300}, "train.share is a number from 0 to 1, but got 1000000"),
        ({"above": 0}, "train.above is a number above 0, but got 0."),
        ({"device": "cdua"}, "train.device is one of cpu, cuda, but got 'cdua'; did you mean 'cuda'?"),
        ({"device": [1]}, "train.device is one of cpu, cuda, but got [1]."),
        ({"layers": [1, 10]}, "train.layers[1] is a whole number from 1 to 9, but got 10."),
        ({"pair": [1]}, "train.pair is two numbers, but got [1]."),
        ({"names": {}}, "train.names is a table of names, but got {}."),
        ({"names": {"a": None}}, "train.names.a is a word or a text, but got None."),
        ({"loud": "yes"}, "train.loud is true or false, but got 'yes'."),
        ({"step": 1, "share": 7}, "train: unknown key 'step'; did you mean 'steps'?"),
        ({5: 1}, "train: unknown key '5'; there are: "),
        ([], "train is settings, but got []."),
    ],
)
def test_what_is_refused(given: Any, sentence: str) -> None:
    with pytest.raises(SpecError) as caught:
        check(given, TABLE, "train")
    assert str(caught.value).startswith(sentence)


def test_what_is_taken() -> None:
    check(
        {
            "steps": None,
            "rate": {"start": 1},
            "share": 1,
            "above": 0.5,
            "device": "cpu",
            "layers": (1, 2),
            "pair": [1, 2.5],
            "names": {"a": "b"},
            "loud": False,
        },
        TABLE,
        "train",
    )


@pytest.mark.parametrize(
    "value", ["x" * 10_000, 10**5000, [[["deep"]]] * 1000], ids=["text", "number", "list"]
)
def test_a_sentence_is_short(value: Any) -> None:
    schema: Schema = table({"steps": whole(1, 5)}, "settings")
    with pytest.raises(SpecError) as caught:
        check({"steps": value}, schema, "train")
    assert len(str(caught.value)) < 200
