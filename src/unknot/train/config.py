"""TrainConfig: everything that says how a model is trained, complete enough to run again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from unknot.errors import SpecError
from unknot.schema import check
from unknot.train.config_schema import TRAIN
from unknot.train.objective import resolve
from unknot.train.schedules import schedule


@dataclass(frozen=True)
class TrainConfig:
    """How to train. Every field can be written in a YAML file, except an objective given as a function.

    Parameters
    ----------
    objective : str, mapping or callable, default="elbo"
        A name, a name with its symbols ``{"name": "semi_supervised", "alpha": 50}``, or a function of the two traces,
        ``(q, p) -> Terms``. A function that has parameters called ``batch`` and ``program``,
        ``(q, p, batch, program) -> Terms``, also receives the batch and the model
        (:class:`unknot.core.program.Program`).
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
    progress : bool, default=True
        Draw a progress bar, where there is a terminal.
    """

    objective: str | Mapping[str, Any] | Callable[..., Any] = "elbo"
    stages: tuple[Mapping[str, Any], ...] = ()
    steps: int | None = None
    epochs: int | None = None
    batch_size: int = 256
    labeled_share: float | None = None
    labeled_by: str | tuple[str, ...] | None = None
    references: int = 0
    learning_rate: float | Mapping[str, Any] = 1e-3
    temperature: float | Mapping[str, Any] | None = None
    betas: tuple[float, float] = (0.9, 0.999)
    weight_decay: float = 0.0
    clip_norm: float | None = None
    precision: str = "32-true"
    compile: bool = False
    device: str = "auto"
    seed: int = 0
    log_every: int = 50
    checkpoint_every: int = 500
    validate_every: int | None = None
    patience: int | None = None
    average_weights: float | None = None
    progress: bool = True

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> TrainConfig:
        """From the ``given`` settings, the ``train`` part of a config.yaml; a key that does not exist is refused."""
        check(
            {k: v for k, v in given.items() if k != "objective" or isinstance(v, str | Mapping)},
            TRAIN,
            "train",
        )
        made = dict(given)
        for key in ("betas", "labeled_by", "stages"):
            if isinstance(made.get(key), list):
                made[key] = tuple(made[key])
        config = cls(**made)
        config.refuse_wrong_settings()
        return config

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dictionaries, for config.yaml."""
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
