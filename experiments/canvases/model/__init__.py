"""Several things on one canvas: a model that counts, finds and reads them, with a trained model of one thing nested."""

from experiments.canvases.model.canvas import Canvas

__all__ = ["Canvas"]
