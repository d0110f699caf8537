"""Errors: one base class, so that callers can catch everything Unknot refuses."""


class UnknotError(Exception):
    """Something the user can fix. The message says what was expected, what came, where, what to try."""


class TraceError(UnknotError):
    """A Trace program did something that cannot be right: a repeated name, a shape, a label, a NaN."""


class HistoryError(TraceError):
    """A step of a ``markov`` loop used an enumerated value that is older than the loop's history."""


class DataError(UnknotError, ValueError):
    """A data file, a label or a table is not what it should be."""


class SpecError(UnknotError, ValueError):
    """A model description, an objective or a setting cannot be used as given."""


class RunError(UnknotError):
    """A run folder or a checkpoint cannot be used, or training had to stop."""


class DiskError(UnknotError):
    """A file or folder could not be written: which one, for what reason, and what to do."""

    def __init__(self, path: str, reason: str, advice: str) -> None:
        super().__init__(path, reason, advice)  # as they came, so that the error can cross processes
        self.path, self.reason, self.advice = path, reason, advice

    def __str__(self) -> str:
        return f"Could not write {self.path}: {self.reason}; {self.advice}."


class UnknotWarning(UserWarning):
    """Something that may not be what the user meant: what was understood, and how to say otherwise."""


class TrainingWarning(UnknotWarning):
    """A model seems badly trained: what was seen, in numbers, and what to do."""
