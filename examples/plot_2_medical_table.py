"""
A medical table
===============

569 breast tumours, 30 measurements of their cells, and a forest that tells malignant from benign.
Which measurements tell most, do they tell the same about both kinds, and for which tumours did
they leave doubt?
"""

# sphinx_gallery_thumbnail_number = 4
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import train_test_split

import localmdi as lm

data = load_breast_cancer(as_frame=True)
tumour = data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(data.data, tumour, random_state=0)

model = ExtraTreesClassifier(1000, criterion="entropy", bootstrap=True, random_state=0)
model.fit(X_train, y_train)
print(f"accuracy on new tumours: {model.score(X_test, y_test):.3f}")

# %%
# Importances of a forest are estimates: another forest gives other ones. The whiskers say how far
# they may be off with this number of trees.

importance = lm.global_mdi(model)
lm.plots.BarDisplay.from_result(importance, max_features=12)

# %%
# Measurements of the same thing share what they tell: radius, perimeter and area could be one.
# Adding up a group is allowed, because the values are parts of one sum.

shape = {"size": [n for n in data.feature_names if n.split()[1] in ("radius", "perimeter", "area")]}
print(importance.group(shape))

# %%
# New tumours are explained as they are predicted: by the way they take through the trees.

result = lm.local_mdi(model, X_test)
by_kind = result.mean(by=y_test)
lm.plots.BarDisplay.from_result(by_kind, max_features=8)

# %%
# The trees are fully grown: their leaves hold one kind only, and nothing is left at them, not even
# for a tumour about which the trees disagree. The account says how surprising the answer still is
# to the forest; of new tumours, whose answer nobody knows yet, it says what is to be expected. That
# is doubt, and doubt is where errors are: all wrong predictions are among the most doubtful.

honest = lm.honest_mdi(model, X_train, y_train, at=X_test, measure="loss")
print(f"left at the leaves: {result.residual.max():.2f} bits at most")
print(f"surprise to be expected: {honest.residual.min():.2f} to {honest.residual.max():.2f} bits")
order = np.argsort(-honest.residual)
wrong = model.predict(X_test)[order] != y_test[order]
last = int(np.flatnonzero(wrong).max()) + 1
print(
    f"{wrong.sum()} wrong predictions, all among the {last} most doubtful of {len(X_test)} tumours"
)

# %%
# The most doubtful one: its measurements are expected to take away little of the surprise.

doubtful = int(order[0])
probability = model.predict_proba(X_test.iloc[[doubtful]])[0].max()
print(f"it is {y_test[doubtful]}; probability of the predicted kind: {probability:.2f}")
lm.plots.WaterfallDisplay.from_result(honest, row=doubtful)

# %%
# All new tumours at once: beside each other stand those with similar explanations.

lm.plots.HeatmapDisplay.from_result(result, by=y_test, max_features=15)
