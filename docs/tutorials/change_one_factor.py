# %% [markdown]
# # Pictures: change one factor, keep the rest
#
# Handwritten digits, 8x8 pixels, a tenth of them labeled. We name one factor, the digit; everything else (slant, weight,
# width) is the style. Then we change the digit and keep the style.

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import unknot

images, digits = load_digits(return_X_y=True)
images = (images / 16).reshape(-1, 1, 8, 8)
labels = np.where(np.arange(len(digits)) < 150, digits, -1)  # -1: unknown

# %% [markdown]
# `separate=True` adds the terms that keep the digit out of the style.

# %%
vae = unknot.StructuredVAE("class_style", style=4, separate=True, steps=300, verbose=False, verdict=False)
vae.fit(images[:1400], digit=labels[:1400])
print(f"error on new images: {np.mean(vae.predict(images[1400:]) != digits[1400:]):.1%}")

# %% [markdown]
# `vary` sets the digit of each image to every value and keeps its style: one row per image, one column per digit.

# %%
chosen = images[1400:1406]
changed = vae.vary(chosen, digit=range(10))  # (6, 10, 1, 8, 8)
figure, axes = plt.subplots(6, 11, figsize=(7, 3.9))
for row, (image, variants) in enumerate(zip(chosen, changed, strict=True)):
    for column, picture in enumerate([image, *variants]):
        axes[row, column].imshow(picture[0], cmap="gray_r", vmin=0, vmax=1)
        axes[row, column].axis("off")
axes[0, 0].set_title("image", fontsize=8)
for digit in range(10):
    axes[0, digit + 1].set_title(str(digit), fontsize=8)
figure.tight_layout()

# %% [markdown]
# **Did only the digit change?** `counterfactuals` measures it: whether the changed images are classified as intended by a
# classifier that shares nothing with the model, and how much of the digit can still be predicted from the style.

# %%
print(vae.counterfactuals(images[1400:], digit=digits[1400:])["digit"])
