"""The library's model of canvases as a program that a spec can name: it counts, finds and reads what lies on them.

A trained model of single digits is nested in it. With the small embedded digits::

    unknot fit examples/class_and_style.yaml --set data.name=digits --set labels.digit=all --run runs/digit
    python examples/multi_digit.py --write canvases.npz
    unknot fit examples/canvas.yaml canvases.npz --set model.nested.digit=runs/digit --run runs/canvas
    unknot predict runs/canvas canvases.npz
"""

from unknot.models.canvas import Canvas

__all__ = ["Canvas"]
