"""
Handwritten digits
==================

The forest of the paper: 1000 totally randomized trees on images of 8 x 8 pixels. Every image's
values add up exactly to the uncertainty about the digit. They are not Shapley values: Theorem 2 of
the paper is about categories that are split exhaustively, and pixels are numbers.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier

import localmdi as lm

X, y = load_digits(return_X_y=True, as_frame=True)
model = ExtraTreesClassifier(1000, criterion="entropy", max_features=1, random_state=0).fit(X, y)
result = lm.local_mdi(model, X)
print(result)

# %%
# There are ten digits, so log2(10) = 3.32 bits of uncertainty at the start, and none at the leaves.
# Every pixel of every image has its share in removing them.

print(f"Row 0 is a {y[0]}. Before any pixel is known: {result.baseline:.3f} bits of uncertainty.")
print(f"The pixels removed {result.values[0].sum():.3f} bits; {result.residual[0]:.3f} are left.")

# %%
# The image of a zero, and how many bits each pixel removed. The empty middle removed most: few
# other digits are empty there.

figure, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.1), layout="constrained")
left.imshow(X.to_numpy()[0].reshape(8, 8), cmap="Greys")
left.set(xticks=[], yticks=[], title="row 0: a zero")
lm.plots.ImageDisplay.from_result(result, row=0, ax=right)
right.set_title("bits that its pixels removed")

# %%
# The mean over the images of each digit, on one colour scale. They do not show how a digit looks,
# but where to look to know it.

by_digit = result.mean(by=y)
limit = max(abs(mean.values).max() for mean in by_digit.values())
figure, axes = plt.subplots(2, 5, figsize=(8, 3.5), layout="constrained")
for (digit, mean), ax in zip(by_digit.items(), axes.flat, strict=True):
    display = lm.plots.ImageDisplay.from_result(mean, vmax=limit, colorbar=False, ax=ax)
    ax.set_title(f"{digit}")
figure.colorbar(display.mappable_, ax=axes, label="uncertainty removed (bits)")
