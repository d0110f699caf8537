"""TrainConfig: everything that says how a model is trained, complete enough to run again.

Its fields are declared once, with their schema and a line of documentation, from which come the check of a spec file
and the table of settings in the guide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

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
    schema_of,
    setting,
    table,
    text,
    whole,
)
from unknot.train.objective import resolve
from unknot.train.schedules import SCHEDULE, schedule

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
_names: Schema = {
    "if": {"type": ["array", "null"]},
    "then": left_out_or(list_of(text(), 1)),
    "else": {**text(), "description": "a factor's name or a list of them"},
}
_folds = left_out_or(
    {
        "type": "integer",
        "anyOf": [{"const": 0}, {"minimum": 2}],
        "maximum": 100,
        "description": "0, or 2 to 100 folds",
    }
)
_beta = {
    "type": "number",
    "minimum": 0,
    "exclusiveMaximum": 1,
    "description": "a number from 0 to below 1",
}


@dataclass(frozen=True)
class TrainConfig:
    """How to train. Every field can be written in a YAML file, except an objective given as a function.

    Parameters
    ----------
    objective : str, mapping or callable, default="elbo"
        A name, a name with its symbols and regularizers ``{"name": "semi_supervised", "alpha": 50, "regularizers":
        {"swap": 1.0}}`` (:mod:`unknot.objectives.regularizers`), or a function of the two traces, ``(q, p) -> Terms``.
        A function that has parameters called ``batch`` and ``program``, ``(q, p, batch, program) -> Terms``, also
        receives the batch and the model (:class:`unknot.core.program.Program`).
    stages : tuple of mapping
        What comes first, each with its ``steps`` and an ``objective`` of its own or parts of the model that are
        ``frozen`` (see :mod:`unknot.train.stages`).
    steps, epochs : int
        The length of the run; one of them. The last incomplete batch of an epoch is dropped.
    batch_size : int, default=256
        Items of one step over all processes.
    labeled_share : float, optional
        The share of labeled items in each batch.
    labeled_by : str or tuple of str, optional
        The factors whose labels ``labeled_share`` counts; by default any.
    references : int, default=0
        Further items of each step, which the encoder sees without gradient. An objective that estimates q(z) from the
        batch has that many more items to estimate it from, and a smaller error.
    learning_rate, temperature : float or mapping
        A number, or a schedule (see :mod:`unknot.train.schedules`). The temperature is passed to the model's
        ``set_temperature``, or written to its buffer ``temperature``.
    betas, weight_decay
        Adam's.
    clip_norm : float, optional
        Gradients longer than this are shortened to it.
    precision : str, default="32-true"
        ``32-true`` or ``bf16-mixed``.
    compile : bool, default=False
        Whether to compile the whole step.
    device : str, default="auto"
        ``auto``, ``cpu``, ``cuda`` or ``mps``. The number of processes comes from ``torchrun``.
    seed : int, default=0
        The seed of the order of batches and of every draw.
    log_every, checkpoint_every, validate_every : int
        In steps. ``validate_every=None`` validates once per epoch.
    patience : int, optional
        Stop after this many validations without a better score, and return to the best weights.
    average_weights : float, optional
        The decay of an exponential moving average of the weights, for example 0.999, which validation and the trained
        model then use.
    cross_fit : int, optional
        In how many parts the labels are hidden in turn, to estimate the error and to stack the model with a linear
        model and a forest (:mod:`unknot.workflow.cross_fit`). By default only default models are; 0: none.
    progress : bool, default=True
        Draw a progress bar, where there is a terminal.
    """

    objective: str | Mapping[str, Any] | Callable[..., Any] = setting(
        left_out_or(_objective),
        "what is maximized: a name, or `name` with symbols and `regularizers`",
        "elbo",
    )
    stages: tuple[Mapping[str, Any], ...] = setting(
        list_of(_stage), "what comes first: each with its `steps`, an `objective` and `frozen` parts", ()
    )
    steps: int | None = setting(left_out_or(whole(1, _MOST)), "length of the run, or `epochs`", None)
    epochs: int | None = setting(left_out_or(whole(1, _MOST)), "length of the run, or `steps`", None)
    batch_size: int = setting(whole(1, 10**9), "items of one step over all processes", 256)
    labeled_share: float | None = setting(
        left_out_or(number(0, 1)), "share of labeled items in each batch", None
    )
    labeled_by: str | tuple[str, ...] | None = setting(
        _names, "factors whose labels `labeled_share` counts; any", None
    )
    references: int = setting(whole(0, 10**9), "further items of each step, to estimate q(z) from", 0)
    learning_rate: float | Mapping[str, Any] = setting(_changing, "a number or a schedule", 1e-3)
    temperature: float | Mapping[str, Any] | None = setting(
        left_out_or(_changing), "of relaxed draws: a number or a schedule; the model's own", None
    )
    betas: tuple[float, float] = setting(
        list_of(_beta, 2, 2, "a list of two numbers from 0 to below 1"), "Adam's", (0.9, 0.999)
    )
    weight_decay: float = setting(number(0), "Adam's", 0.0)
    clip_norm: float | None = setting(left_out_or(number(0)), "longest gradient", None)
    precision: str = setting(choice(PRECISIONS), "`32-true` or `bf16-mixed`", "32-true")
    compile: bool = setting(flag(), "whether to compile the step", False)
    device: str = setting(choice(DEVICES), "`auto`, `cpu`, `cuda` or `mps`", "auto")
    seed: int = setting(whole(0, 2**32 - 1), "seed of the order of batches and of every draw", 0)
    log_every: int = setting(whole(1, _MOST), "steps between records", 50)
    checkpoint_every: int = setting(whole(1, _MOST), "steps between checkpoints", 500)
    validate_every: int | None = setting(
        left_out_or(whole(1, _MOST)), "steps between validations; once per epoch", None
    )
    patience: int | None = setting(
        left_out_or(whole(1, _MOST)), "validations without a better score before the run stops", None
    )
    average_weights: float | None = setting(
        left_out_or(number(0, 1)), "decay of the moving average of the weights", None
    )
    cross_fit: int | None = setting(
        _folds,
        "parts in which labels are hidden in turn, to estimate the error; 0: none; default models alone",
        None,
    )
    progress: bool = setting(flag(), "draw a progress bar", True)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> TrainConfig:
        """Read the ``train`` section of a spec; a key that does not exist is refused.

        Parameters
        ----------
        given : mapping from str
            The settings by name; those left out have their defaults.
        """
        known = TRAIN["properties"]
        check({key: value for key, value in given.items() if key not in known}, TRAIN, "train")
        made = {key: value for key, value in given.items() if key != "objective" or value is not None}
        for key in ("betas", "labeled_by", "stages"):
            if isinstance(made.get(key), list):
                made[key] = tuple(made[key])
        config = cls(**made)
        config.refuse_wrong_settings()
        return config

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, strings, lists and dictionaries, for config.yaml."""
        plain = {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}
        if not isinstance(self.objective, str | Mapping):
            plain["objective"] = (
                f"function {getattr(self.objective, '__qualname__', type(self.objective).__name__)}"
            )
        return plain

    def refuse_wrong_settings(self) -> None:
        """Refuse settings that cannot be, naming the setting and what it takes."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        if not isinstance(self.objective, str | Mapping):
            del given["objective"]  # a function
        check(given, TRAIN, "train")
        for objective in (self.objective, *(stage.get("objective", "elbo") for stage in self.stages)):
            resolve(objective, dataset_size=1)
        if (self.steps is None) == (self.epochs is None):
            raise SpecError("train: give either steps or epochs, to say how long to train.")
        if self.references and self.labeled_share is not None:
            raise SpecError(
                "train: references are other items than the batch's, which an epoch with labeled_share does not "
                "promise; leave one of the two out."
            )
        for name in ("learning_rate", "temperature"):
            if given[name] is not None:
                schedule(given[name], 1, f"train.{name}")


TRAIN: Schema = schema_of(TrainConfig, "how to train")
