"""A sweep in its folder: what is missing is done, side by side or on a cluster, and what is finished is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from unknot.files import atomic_folder
from unknot.parallel.run_all import run_all
from unknot.train.run_folder import is_run
from unknot.workflow.sweep.measured import read_measured
from unknot.workflow.sweep.member import Member
from unknot.workflow.sweep.ranking import Finished
from unknot.workflow.sweep.training import Task, train_away, train_here

RUNS = "runs"  # the folder of run folders


@dataclass(frozen=True)
class Sweep:
    """``members`` in the folder ``path``, each a run folder below it, with the scores that are asked for."""

    members: Sequence[Member]
    path: Path
    scores: Sequence[str] = ()
    data_dir: Path | None = None

    def folder(self, member: Member) -> Path:
        """A member's run folder."""
        return self.path / RUNS / member.folder

    def tasks(self) -> list[Task]:
        """What is not yet done."""
        return [task for task in map(self._task, self.members) if not task.done]

    def finished(self) -> list[Finished]:
        """What is done, in the order of the members."""
        found = []
        for member in self.members:
            folder = self.folder(member)
            measured = read_measured(folder)
            if measured is not None:
                found.append(Finished(member, measured, folder))
        return found

    def others(self) -> int:
        """How many runs in the folder have other settings, data or seeds than this sweep asks for."""
        ours = {member.folder for member in self.members}
        there = (self.path / RUNS).iterdir() if (self.path / RUNS).is_dir() else ()
        return sum(folder.name not in ours and is_run(folder) for folder in there)

    def run(self, workers: int, ray: str | None = None) -> Iterator[tuple[Member, Exception | None]]:
        """Do what is missing; each member as soon as it has ended, with its failure if it failed."""
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
    """A run that was trained elsewhere, in its folder, all at once; what an interrupted one left there goes."""
    with atomic_folder(target, replace=True) as folder:
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
