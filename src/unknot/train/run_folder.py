"""RunFolder: a run on the disk, its config, metrics, events, checkpoints and label budget."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from torch import nn

from unknot.data.label_budget import LabelBudget
from unknot.errors import DiskError, RunError
from unknot.files import disk_error, lock, remove_leftovers, write_file, write_folder
from unknot.seal import open_sealed_lines, sealed_lines
from unknot.train import checkpoint
from unknot.train.checkpoint import Checkpoint
from unknot.yaml_file import parse_yaml

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
    "cross_fit",
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
            write_folder(
                path.absolute(), files
            )  # one rename: of processes that come at once only one succeeds
        except DiskError as error:
            raise RunError(f"the run folder {path} cannot be made: {error.reason}.") from error
        return cls(path)

    @classmethod
    def create_next(
        cls,
        path: str | Path,
        config: Mapping[str, Any] | None = None,
        budget: LabelBudget | None = None,
        further: Mapping[str, bytes] | None = None,
    ) -> RunFolder:
        """A new run beside ``path``, in the first folder of ``path-1``, ``path-2``, ... that is free.

        Processes that start at once each get their own; ``path`` without its number, ``config``, ``budget`` and
        ``further`` are those of :meth:`create`.
        """
        path = Path(path)
        for number in itertools.count(1):
            numbered = path.with_name(f"{path.name}-{number}")
            if os.path.lexists(numbered):
                continue
            try:
                return cls.create(numbered, config, budget, further)
            except RunError:
                if not os.path.lexists(numbered):
                    raise
        raise AssertionError("the numbers do not end")

    def remove(self) -> None:
        """Remove a run that has no checkpoint, unless another process trains in it."""
        with lock(self.path / ".lock", wait=False) as held:
            if held and checkpoint.latest_step(self.checkpoints) is None:
                shutil.rmtree(self.path, ignore_errors=True)

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
        path = self.path / CONFIG
        try:
            return dict(parse_yaml(open_sealed_lines(path.read_bytes())) or {})
        except OSError as error:
            raise RunError(f"{path} cannot be read: {error.strerror}.") from error
        except (ValueError, TypeError) as error:
            raise RunError(
                f"{path} is damaged or edited by hand ({error}); put a good copy back, and change settings with "
                "`unknot fit --resume RUN --set KEY=VALUE`."
            ) from error

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

    def load_weights(self, model: nn.Module) -> int:
        """Load the trained weights into ``model``, the best or averaged ones if there are any; returns their step."""
        made = self.latest()
        if made is None:
            raise RunError(f"{self.path} has no checkpoint yet: train it first.")
        load_model(model, made, self.path)
        return made.step

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
            advice = f"The checkpoint of step {step} is safe; make room, then {self.how_to_resume}"
            if step is None:  # such a run is removed
                advice = "There is no checkpoint yet; make room, then start the training again"
            raise RunError(f"could not write {what} in {self.path}: {reason}. {advice}.") from error

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

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    text = yaml.dump(dict(config), Dumper=Dumper, sort_keys=False, allow_unicode=True)
    return sealed_lines(text.encode())
