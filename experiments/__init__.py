"""Experiments: the results of the papers and others, outside the package; ``python -m experiments`` runs them."""
