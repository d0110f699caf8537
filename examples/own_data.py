"""Ten lines for your own data: 100 labels of 1400 images, an encoder, and new images in an old style."""

from sklearn.datasets import load_digits

from unknot import StructuredVAE

images, digits = load_digits(return_X_y=True)
images = (images / 16).reshape(-1, 1, 8, 8)  # (N, colors, height, width), from 0 to 1
labels = digits.copy()
labels[100:] = -1  # all but 100 digits are unknown

vae = StructuredVAE().fit(images[:1400], digit=labels[:1400])
print(f"right on new images: {vae.score(images[1400:], digit=digits[1400:]):.1%}")
print("classes, and how sure:", vae.predict(images[1400:1403]), vae.predict_proba(images[1400:1403]).max(1))
print("the same hand writing 0 to 9:", vae.vary(images[1400:1401], digit=range(10)).shape)
