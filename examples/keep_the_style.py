"""Change one factor, keep the rest, and ask how cleanly that went; `python examples/keep_the_style.py [steps]`."""

import sys

from sklearn.datasets import load_digits

from unknot import StructuredVAE

images, digits = load_digits(return_X_y=True)
images = (images / 16).reshape(-1, 1, 8, 8)
labels = digits.copy()
labels[200:] = -1

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 600
vae = StructuredVAE("class_style", style=4, separate=True, augment="affine", steps=steps).fit(
    images[:1400], digit=labels[:1400]
)
sevens = vae.vary(images[1400:1405], digit=[7])  # (5, 1, 1, 8, 8): five hands, each writing a seven
print("read as", vae.predict(sevens[:, 0]))
print(vae.counterfactuals(images[1400:], digit=digits[1400:])["digit"])
