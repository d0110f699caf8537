"""One member trained and measured: in its folder, where it goes on if it was stopped, or elsewhere, to be sent back."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from unknot.train.run_folder import is_run
from unknot.workflow.run import resume, train_recipe
from unknot.workflow.sweep.measured import measure, read_measured, with_scores, write_measured
from unknot.workflow.sweep.member import Member


@dataclass(frozen=True)
class Task:
    """What a process must know to do a member's work."""

    member: Member
    folder: Path  # the member's own run folder
    scores: Sequence[str]
    data_dir: Path | None = None

    @property
    def trained(self) -> bool:
        """Whether at most scores are missing."""
        return read_measured(self.folder) is not None

    @property
    def done(self) -> bool:
        found = read_measured(self.folder)
        return found is not None and found.has(self.scores)


def train_here(task: Task) -> None:
    """Whatever is not yet done of the task, in its folder, with one thread; an interrupt saves first."""
    import torch

    torch.set_num_threads(1)
    found = read_measured(task.folder)
    if found is None:
        if is_run(task.folder):
            trained, result = resume(task.folder, {}, task.data_dir)
        else:
            trained, result = train_recipe(task.member.recipe, task.folder, task.data_dir)
        if result.stopped_because == "interrupted":
            raise KeyboardInterrupt
        found = measure(trained)
        write_measured(task.folder, found)
    if not found.has(task.scores):
        write_measured(task.folder, with_scores(found, task.folder, task.scores))


def train_away(task: Task) -> dict[str, bytes]:
    """The files of the finished run by their place in its folder: for a machine that does not see that folder."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        train_here(Task(task.member, folder, task.scores, task.data_dir))
        files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".lock")
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}
