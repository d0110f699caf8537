"""Predictors: linear models and forests on features of the items, stacked with a model's own prediction."""
