"""What the ``train`` section of a description may hold."""

from __future__ import annotations

from unknot.schema import Schema, choice, either, flag, left_out_or, list_of, number, table, text, whole
from unknot.train.schedules import SCHEDULE

PRECISIONS = ("32-true", "bf16-mixed")
DEVICES = ("auto", "cpu", "cuda", "mps")
_MOST = 10**12  # steps, epochs and the like: beyond any run

_changing = either(SCHEDULE, number(0))
_named = {"type": "object", "required": ["name"], "properties": {"name": text()}}
_objective = either(
    {**_named, "description": "an objective's name with its symbols"},
    {**text(), "description": "an objective's name"},
)

_stage = table(
    {"steps": whole(1, _MOST), "objective": _objective, "frozen": list_of(text())},
    "a stage, {steps, objective, frozen}",
    required=("steps",),
)

TRAIN: Schema = table(
    {
        "objective": left_out_or(_objective),
        "stages": list_of(_stage),
        "steps": left_out_or(whole(1, _MOST)),
        "epochs": left_out_or(whole(1, _MOST)),
        "batch_size": whole(1, 10**9),
        "labeled_share": left_out_or(number(0, 1)),
        "labeled_by": {
            "if": {"type": ["array", "null"]},
            "then": left_out_or(list_of(text(), 1)),
            "else": {**text(), "description": "a factor's name or a list of them"},
        },
        "references": whole(0, 10**9),
        "learning_rate": _changing,
        "temperature": left_out_or(_changing),
        "betas": list_of(
            {
                "type": "number",
                "minimum": 0,
                "exclusiveMaximum": 1,
                "description": "a number from 0 to below 1",
            },
            2,
            2,
            "a list of two numbers from 0 to below 1",
        ),
        "weight_decay": number(0),
        "clip_norm": left_out_or(number(0)),
        "precision": choice(PRECISIONS),
        "compile": flag(),
        "device": choice(DEVICES),
        "seed": whole(0, 2**32 - 1),
        "log_every": whole(1, _MOST),
        "checkpoint_every": whole(1, _MOST),
        "validate_every": left_out_or(whole(1, _MOST)),
        "patience": left_out_or(whole(1, _MOST)),
        "average_weights": left_out_or(number(0, 1)),
        "progress": flag(),
    },
    "how to train",
)
