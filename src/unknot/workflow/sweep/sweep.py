"""A sweep in its folder: missing runs are trained, in several processes or on a cluster, and finished ones are kept."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from unknot.files import atomic_folder
from unknot.parallel.processes import run_all
from unknot.train.run_folder import is_run
from unknot.workflow.run import resume, train_recipe
from unknot.workflow.sweep.measured import measure, read_measured, with_scores, write_measured
from unknot.workflow.sweep.member import Member
from unknot.workflow.sweep.ranking import Finished


@dataclass(frozen=True)
class Task:
    """The work on one member: training, results and scores."""

    member: Member
    folder: Path  # the member's own run folder
    scores: Sequence[str]
    data_dir: Path | None = None

    @property
    def trained(self) -> bool:
        """Whether nothing but scores is missing."""
        return read_measured(self.folder) is not None

    @property
    def done(self) -> bool:
        found = read_measured(self.folder)
        return found is not None and found.has(self.scores)


def train_here(task: Task) -> None:
    """Do what is missing of a task in its run folder, with one thread; a stopped run is resumed."""
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
    """Do a task on a machine that does not see its folder, and return the files of the run by their paths."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        train_here(Task(task.member, folder, task.scores, task.data_dir))
        files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".lock")
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}


RUNS = "runs"  # the folder of run folders


@dataclass(frozen=True)
class Sweep:
    """Members in the folder ``path``, each with a run folder below it, and the ``scores`` to compute."""

    members: Sequence[Member]
    path: Path
    scores: Sequence[str] = ()
    data_dir: Path | None = None

    def folder(self, member: Member) -> Path:
        """Return a member's run folder."""
        return self.path / RUNS / member.folder

    def tasks(self) -> list[Task]:
        """Return what is not done."""
        return [task for task in map(self._task, self.members) if not task.done]

    def finished(self) -> list[Finished]:
        """Return the finished runs, in the order of the members."""
        found = []
        for member in self.members:
            folder = self.folder(member)
            measured = read_measured(folder)
            if measured is not None:
                found.append(Finished(member, measured, folder))
        return found

    def others(self) -> int:
        """Return how many runs in the folder do not belong to this sweep."""
        ours = {member.folder for member in self.members}
        there = (self.path / RUNS).iterdir() if (self.path / RUNS).is_dir() else ()
        return sum(folder.name not in ours and is_run(folder) for folder in there)

    def run(self, workers: int, ray: str | None = None) -> Iterator[tuple[Member, Exception | None]]:
        """Do what is missing; yield each member when it ends, with its error if it failed."""
        tasks = self.tasks()
        here = [task for task in tasks if ray is None or task.trained]
        for task, result in run_all(train_here, here, workers):
            yield task.member, result if isinstance(result, Exception) else None
        away = [task for task in tasks if task not in here]
        for task, files in run_all(train_away, away, ray=ray):
            if isinstance(files, Exception):
                yield task.member, files
            else:
                keep_files(task.folder, files)
                yield task.member, None

    def _task(self, member: Member) -> Task:
        return Task(member, self.folder(member), tuple(self.scores), self.data_dir)


def keep_files(target: Path, files: dict[str, bytes]) -> None:
    """Write a run that was trained elsewhere to its folder, all at once, replacing an interrupted one."""
    with atomic_folder(target, replace=True) as folder:
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
