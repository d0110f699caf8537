"""Features: numbers of an item that linear models and forests learn from, one module per kind of data."""
