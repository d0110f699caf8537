"""Estimates of the inference marginal q(z) over a tree of groups (E19 sec. 3.1)."""
