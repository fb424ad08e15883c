"""
One measure, five libraries
===========================

Boosted trees of five libraries, on one table. Each library has an importance of its own: gains of
its loss, changes of its prediction, counts of splits. They cannot be compared. Local MDI can:
the same bits about the same target, in every library's trees.
"""

import catboost
import lightgbm
import matplotlib.pyplot as plt
import numpy as np
import xgboost
import ydf
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier

import localmdi as lm

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X.columns = [name.replace(" ", "_") for name in X]
table = X.assign(malignant=1 - y)

models = {
    "scikit-learn": HistGradientBoostingClassifier(max_iter=50, max_depth=4).fit(X, y),
    "LightGBM": lightgbm.LGBMClassifier(n_estimators=50, max_depth=4, verbose=-1).fit(X, y),
    "XGBoost": xgboost.XGBClassifier(n_estimators=50, max_depth=4).fit(X, y),
    "CatBoost": catboost.CatBoostClassifier(
        iterations=50, depth=4, verbose=0, allow_writing_files=False
    ).fit(X, y),
    "ydf": ydf.GradientBoostedTreesLearner(label="malignant", num_trees=50, max_depth=5).train(
        table, verbose=0
    ),
}

# %%
# Every model becomes a forest that sends each row where the library sends it. The rows then say how
# much uncertainty about the diagnosis is left at every node.

results = {}
for name, model in models.items():
    forest = lm.as_forest(model).with_statistics(X, y, criterion="entropy")
    results[name] = lm.local_mdi(forest, X)
    print(f"{name}: {forest.n_trees} trees, {results[name].baseline:.3f} bits at the roots")

# %%
# Do they agree about single patients? The correlations of their values, patient by patient:

lm.plots.AgreementDisplay.from_result(results)

# %%
# The features that tell most, in all five:

mean = np.array([result.values.mean(axis=0) for result in results.values()])
best = np.argsort(mean.mean(axis=0))[-8:]
figure, bars = plt.subplots(figsize=(8, 4), layout="constrained")
for shift, (name, row) in enumerate(zip(results, mean, strict=True)):
    bars.barh(np.arange(len(best)) + 0.15 * (shift - 2), row[best], height=0.15, label=name)
bars.set_yticks(range(len(best)), X.columns[best])
bars.set_xlabel("mean local MDI (bits)")
bars.legend()

# %%
# XGBoost's own importance is local MDI too, of another impurity: the potential of its loss. Its
# trees store it, so that no target is needed.

own = lm.local_mdi(models["XGBoost"], X)
lm.plots.BarDisplay.from_result(own.mean(), max_features=8)
