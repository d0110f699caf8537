"""Scores: arrays in, numbers out. One score per file."""
