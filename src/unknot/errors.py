"""Errors: one base class, so that callers can catch everything Unknot refuses."""


class UnknotError(Exception):
    """Something the user can fix. The message says what was expected, what came, where, what to try."""


class TraceError(UnknotError):
    """A Trace program did something that cannot be right: a repeated name, a shape, a label, a NaN."""


class DataError(UnknotError):
    """A data file, a label or a table is not what it should be."""


class SpecError(UnknotError):
    """A model description, an objective or a setting cannot be used as given."""


class RunError(UnknotError):
    """A run folder or a checkpoint cannot be used, or training had to stop."""
