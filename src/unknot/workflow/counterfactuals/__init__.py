"""Counterfactuals: change one factor of an item, keep everything else, and measure what changes."""
