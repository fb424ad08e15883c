"""
First steps
===========

Fit a forest, explain every row, and read one of them: how many bits of uncertainty did each
feature remove for this flower?
"""

from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import localmdi as lm

X, y = load_iris(return_X_y=True, as_frame=True)
model = RandomForestClassifier(500, criterion="entropy", random_state=0).fit(X, y)

# %%
# One call explains all rows. The values have the shape of X, whatever the number of classes, and
# they are in bits: the unit of the forest's criterion, entropy.

result = lm.local_mdi(model, X)
print(result)

# %%
# Before anything is known about a flower, there are log2(3) = 1.58 bits of uncertainty about its
# species: the *baseline*. (The trees' bootstrap samples vary a little around it.) At the leaves
# there is a *residual*, mostly zero. What lies between was removed by the features, to the last
# digit.

row = 70
print(f"baseline {result.baseline:.3f}, residual {result.residual[row]:.3f}")
print(result[row].top(4))
print(f"largest error of any row's sum: {result.additivity_error():.0e}")

# %%
# With bootstrap, the training rows' shares of the global importance come from ``decompose_global``.
# Their mean *is* the global importance: the local values are its parts, row by row.

shares = lm.decompose_global(model, X)
difference = abs(shares.mean().values - lm.global_mdi(model).values).max()
print(f"largest difference from the global importance: {difference:.0e} bits")

# %%
# Flower 70 as a waterfall. Every step to the left removed uncertainty.

lm.plots.WaterfallDisplay.from_result(result, row=row)
