"""
Can I trust these numbers?
==========================

Labels that are pure chance have nothing to explain. Plain values, which are measured on the rows
that the trees learned from, explain them all the same; honest ones do not.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier

import localmdi as lm

X, y = load_digits(return_X_y=True, as_frame=True)
forest = ExtraTreesClassifier(
    1000, criterion="entropy", bootstrap=True, oob_score=True, n_jobs=-1, random_state=0
)
model = forest.fit(X, y)
result = lm.honest_mdi(model, X, y, measure="drop")
print(result)

# %%
# Every tree has been grown on a bootstrap sample, so that each image is new to more than a third
# of the trees. These explain it, and every split counts for what it tells about images that its
# tree has not seen. The image of a zero, and what its pixels tell:

figure, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.1), layout="constrained")
left.imshow(X.to_numpy()[0].reshape(8, 8), cmap="Greys")
left.set(xticks=[], yticks=[], title="row 0: a zero")
lm.plots.ImageDisplay.from_result(result, row=0, ax=right)
right.set_title("what its pixels tell")

# %%
# Now the same with shuffled labels. The forest cannot know anything about a new image, and its
# out-of-bag accuracy says so.

chance = np.random.default_rng(0).permutation(y)
results = {}
for name, labels in {"true labels": y, "shuffled labels": chance}.items():
    model = forest.fit(X, labels)
    results["plain", name] = lm.local_mdi(model, X)
    results["honest", name] = lm.honest_mdi(model, X, labels, measure="drop")
    print(f"{name}: accuracy {model.oob_score_:.3f}")
for (kind, name), result in results.items():
    before, left = np.mean(result.baseline), result.residual.mean()
    print(f"{kind:>6}, {name:<15}: {before:.2f} bits before, {left:.2f} bits left")

# %%
# The mean value of every pixel, on one colour scale. With shuffled labels the plain values find as
# much as with the true ones, in other places; the honest ones find nothing.

limit = max(abs(result.mean().values).max() for result in results.values())
figure, axes = plt.subplots(1, 4, figsize=(8, 2.6), layout="constrained")
for ((kind, name), result), ax in zip(results.items(), axes, strict=True):
    removed = round(result.values.sum(axis=1).mean(), 2) + 0.0  # no minus before a zero
    display = lm.plots.ImageDisplay.from_result(result.mean(), vmax=limit, colorbar=False, ax=ax)
    ax.set_title(f"{kind}, {name}\n{removed:.2f} bits removed", fontsize=9)
figure.colorbar(display.mappable_, ax=axes, label="uncertainty\nremoved (bits)", shrink=0.8)

# %%
# Honest importances come with errors and a test. Grey pixels cannot be told from noise: with
# shuffled labels that should be all of them.

importance = lm.honest_global_mdi(forest, X, chance, measure="gain", min_rows=10)
print(f"{importance.significant().sum()} of 64 pixels tell something about shuffled labels")
lm.plots.BarDisplay.from_result(importance, max_features=12)
