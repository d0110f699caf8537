"""RunFolder: a run on the disk, its config, metrics, events, checkpoints and label budget."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from torch import nn

from unknot.data.label_budget import LabelBudget
from unknot.errors import DiskError, RunError
from unknot.files import disk_error, lock, remove_leftovers, write_file, write_folder
from unknot.train import checkpoint
from unknot.train.checkpoint import Checkpoint

FORMAT = 1
STAMP, CONFIG, BUDGET = "run.json", "config.yaml", "label_budget.json"
# Settings that may change when a run goes on, because what is already done does not depend on them.
_MAY_CHANGE = {
    "steps",
    "epochs",
    "patience",
    "device",
    "log_every",
    "checkpoint_every",
    "validate_every",
    "progress",
}


def is_run(path: str | Path) -> bool:
    """Whether a folder holds a run."""
    return (Path(path) / STAMP).exists()


class RunFolder:
    """One run, in the folder ``path``::

        run.json            the version that made it
        config.yaml         complete: the run can be made again from it
        label_budget.json   which items' labels may be seen
        metrics.jsonl       one line for each logged step
        tensorboard/        the same as events
        checkpoints/        the last two, see unknot.train.checkpoint

    Make one with :meth:`create`, read one with :meth:`open`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.metrics = path / "metrics.jsonl"
        self.tensorboard = path / "tensorboard"
        self.checkpoints = path / "checkpoints"

    @classmethod
    def create(
        cls,
        path: str | Path,
        config: Mapping[str, Any] | None = None,
        budget: LabelBudget | None = None,
        further: Mapping[str, bytes] | None = None,
    ) -> RunFolder:
        """A new run. A folder with anything in it is left alone and refused.

        Arguments:

        * ``path``: the folder; it appears whole;
        * ``config``: what config.yaml says; training adds its own settings;
        * ``budget``: which items' labels may be seen;
        * ``further``: more files of the run, by name.
        """
        from unknot import __version__

        path = Path(path)
        if (path / STAMP).exists():
            raise RunError(f"{path} holds a run already: continue it (--resume), or choose another folder.")
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise RunError(f"{path} is not empty and not a run: choose another folder for the run.")
        files = {
            STAMP: json.dumps({"format": FORMAT, "unknot": __version__}).encode(),
            CONFIG: _yaml(config or {}),
            **(further or {}),
        }
        if budget is not None:
            files[BUDGET] = budget.to_json().encode()
        try:
            write_folder(path.absolute(), files)
        except DiskError as error:
            raise RunError(f"the run folder {path} cannot be made: {error.reason}.") from error
        return cls(path)

    @classmethod
    def open(cls, path: str | Path) -> RunFolder:
        """The run in the folder ``path``, after a look at its version."""
        path = Path(path)
        try:
            stamp = json.loads((path / STAMP).read_text())
            found = stamp["format"]
        except OSError as error:
            raise RunError(f"{path} is not a run folder: it has no readable {STAMP}.") from error
        except (ValueError, KeyError, TypeError) as error:
            raise RunError(
                f"{path} is not a run folder of Unknot: its {STAMP} says something else."
            ) from error
        if found != FORMAT:
            raise RunError(
                f"{path} is a run folder of another version (format {found}, made by Unknot "
                f"{stamp.get('unknot', 'unknown')}); this one reads format {FORMAT}."
            )
        return cls(path)

    @property
    def config(self) -> dict[str, Any]:
        """The content of config.yaml."""
        import yaml

        try:
            content = yaml.safe_load((self.path / CONFIG).read_text()) or {}
        except (OSError, yaml.YAMLError) as error:
            raise RunError(f"{self.path / CONFIG} cannot be read ({error}).") from error
        if not isinstance(content, dict):
            raise RunError(f"{self.path / CONFIG} is not a table of settings.")
        return content

    def write_config(self, config: Mapping[str, Any]) -> None:
        """Replace config.yaml by ``config``."""
        with self.explains_disk_errors("config.yaml"):
            write_file(self.path / CONFIG, _yaml(config))

    @property
    def budget(self) -> LabelBudget | None:
        """The label budget of the run, if it has one."""
        path = self.path / BUDGET
        return LabelBudget.load(path) if path.exists() else None

    def settle(self, train: Mapping[str, Any], started: bool) -> None:
        """Keep the settings of ``train`` in config.yaml; a run that has ``started`` refuses other ones."""
        before = self.config
        old = before.get("train", {})
        for key in train if started else ():
            if key not in _MAY_CHANGE and key in old and old[key] != train[key]:
                raise RunError(
                    f"{self.path} was trained with {key} = {old[key]}, now it is {train[key]}: "
                    "go on with the same settings, or start a new run in another folder."
                )
        if old != train:
            self.write_config({**before, "train": dict(train)})

    # ---- checkpoints --------------------------------------------------------------------------------

    def save(self, made: Checkpoint) -> None:
        """Add the checkpoint ``made``. If the disk fails, the checkpoints that are there stay as they were."""
        with self.explains_disk_errors(f"the checkpoint of step {made.step}"):
            self.checkpoints.mkdir(exist_ok=True)
            checkpoint.save(self.checkpoints, made)

    def latest(self) -> Checkpoint | None:
        """The newest checkpoint that is whole, or None if there is none yet."""
        return checkpoint.latest(self.checkpoints) if self.checkpoints.exists() else None

    def load_weights(self, model: nn.Module) -> None:
        """Load the trained weights into ``model``: the best or averaged ones, where the run kept such."""
        made = self.latest()
        if made is None:
            raise RunError(f"{self.path} has no checkpoint yet: train it first.")
        load_model(model, made, self.path)

    # ---- one at a time, and what went wrong -----------------------------------------------------------

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes from training in this folder. Freed when the process ends, even killed."""
        with lock(self.path / ".lock", wait=False) as held:
            if not held:
                raise RunError(f"another process is training in {self.path}; wait for it, or stop it.")
            remove_leftovers(self.path)
            yield

    @contextlib.contextmanager
    def explains_disk_errors(self, what: str) -> Iterator[None]:
        """While ``what`` is written: a failure becomes one sentence that says what is safe."""
        try:
            yield
        except (OSError, DiskError) as error:
            reason = (error if isinstance(error, DiskError) else disk_error(self.path, error)).reason
            step = checkpoint.latest_step(self.checkpoints)
            safe = "There is no checkpoint yet" if step is None else f"The checkpoint of step {step} is safe"
            raise RunError(
                f"could not write {what} in {self.path}: {reason}. {safe}; make room, then {self.how_to_resume}."
            ) from error

    @property
    def how_to_resume(self) -> str:
        return f"continue with `unknot fit --resume {self.path}`"


def load_model(model: nn.Module, made: Checkpoint, where: Path) -> None:
    """The weights of a checkpoint for use: the best ones if kept, else the averaged, else the last."""
    for part in ("best", "average", "model"):
        weights = made.part(part)
        if weights:
            break
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise RunError(f"the weights in {where} do not fit this model: {reason}") from error


def _yaml(config: Mapping[str, Any]) -> bytes:
    import yaml

    return yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True).encode()
