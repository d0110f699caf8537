"""Features: numbers of an item that linear models and forests learn from, one module per kind of data."""

from unknot.models.features import columns  # noqa: F401  # modules register their features, the first that suits is used
