"""The library's model of canvases as a program that a spec can name: it counts, finds and reads what lies on them.

A trained model of single digits is nested in it. With the small embedded digits::

    unknot fit examples/digit.yaml --run runs/digit
    python examples/multi_digit.py --write canvases.npz
    unknot fit examples/canvas.yaml canvases.npz --run runs/canvas
    unknot predict runs/canvas canvases.npz -o found.csv
    unknot report runs/canvas
"""

from unknot.models.canvas import Canvas

__all__ = ["Canvas"]
