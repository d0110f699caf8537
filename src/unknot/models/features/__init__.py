"""Features: numbers of an item that linear models and forests learn from, one module per kind of data."""

# modules register their features; the first that suits the data is used
from unknot.models.features import genes  # noqa: F401, I001
from unknot.models.features import words  # noqa: F401
from unknot.models.features import wide  # noqa: F401
from unknot.models.features import columns  # noqa: F401
from unknot.models.features import pixels  # noqa: F401
from unknot.models.features import series  # noqa: F401
