"""
Can I trust these numbers?
==========================

Labels that are pure chance have nothing to explain. Plain values, which are measured on the rows
that the trees learned from, explain them all the same; the account of the forest's own loss does
not.
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
account = lm.honest_mdi(model, X, y, measure="loss")
print(account)

# %%
# Every tree has been grown on a bootstrap sample, so that each image is new to more than a third
# of the trees. The account divides their log loss: how surprising the image's digit is when nothing
# is known, and how surprising it still is to them. Each person wrote many of these digits; those of
# other people will be harder. The image of a zero, and what its pixels took away:

figure, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.1), layout="constrained")
left.imshow(X.to_numpy()[0].reshape(8, 8), cmap="Greys")
left.set(xticks=[], yticks=[], title="row 0: a zero")
lm.plots.ImageDisplay.from_result(account, row=0, ax=right)
right.set_title("what its pixels took away")

# %%
# Now the same with shuffled labels. The forest cannot know anything about a new image, and its
# out-of-bag accuracy says so.

chance = np.random.default_rng(0).permutation(y)
results = {}
for name, labels in {"true labels": y, "shuffled labels": chance}.items():
    model = forest.fit(X, labels)
    results["plain", name] = lm.local_mdi(model, X)
    results["honest", name] = (
        account if labels is y else lm.honest_mdi(model, X, labels, measure="loss")
    )
    print(f"{name}: accuracy {model.oob_score_:.3f}")
for (kind, name), result in results.items():
    if kind == "plain":
        before, left = result.baseline, result.residual.mean()
    else:
        before, left = result.quality().levels("bits")
    print(f"{kind:>6}, {name:<15}: {before:.2f} bits before, {left:.2f} bits left")

# %%
# The mean value of every pixel, on one colour scale. With shuffled labels the plain values find as
# much as with the true ones, in other places; the account finds less than nothing: who believes
# this forest is surprised more often than somebody who knows nothing.

limit = max(abs(result.mean().values).max() for result in results.values())
figure, axes = plt.subplots(1, 4, figsize=(8, 2.6), layout="constrained")
for ((kind, name), result), ax in zip(results.items(), axes, strict=True):
    removed = round(result.values.sum(axis=1).mean(), 2) + 0.0  # no minus before a zero
    display = lm.plots.ImageDisplay.from_result(result.mean(), vmax=limit, colorbar=False, ax=ax)
    ax.set_title(f"{kind}, {name}\n{removed:.2f} bits removed", fontsize=9)
figure.colorbar(display.mappable_, ax=axes, label="removed (bits)", shrink=0.8)

# %%
# To find features there is the honest gain, with errors and a test. Grey pixels cannot be told from
# noise: with shuffled labels that should be all of them.

importance = lm.honest_global_mdi(forest, X, chance)
print(f"{importance.significant().sum()} of 64 pixels tell something about shuffled labels")
lm.plots.BarDisplay.from_result(importance, max_features=12)
