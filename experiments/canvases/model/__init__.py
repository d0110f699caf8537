"""A model of canvases with several objects, with a nested, trained model of a single object."""

from experiments.canvases.model.canvas import Canvas

__all__ = ["Canvas"]
