"""Figures from arrays and records. Each function returns a matplotlib Figure; none opens a window."""
