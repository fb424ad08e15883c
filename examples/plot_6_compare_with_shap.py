"""
Beside shap
===========

shap says which way a feature pushed the prediction of a class, local MDI how much it told about
the target. The two answer different questions; on most rows they still name the same features.
"""

from time import perf_counter

import numpy as np
import shap
from sklearn.datasets import load_wine
from sklearn.ensemble import ExtraTreesClassifier

import localmdi as lm

X, y = load_wine(return_X_y=True, as_frame=True)
model = ExtraTreesClassifier(300, criterion="entropy", max_features=1, random_state=0).fit(X, y)

start = perf_counter()
result = lm.local_mdi(model, X)
ours = perf_counter() - start
start = perf_counter()
explanation = shap.TreeExplainer(model).shap_values(X, check_additivity=False)
theirs = perf_counter() - start
print(f"local MDI {result.shape}: {ours:.3f} s; TreeSHAP {explanation.shape}: {theirs:.1f} s")

# %%
# shap has one table for each class; we take that of the predicted one, as the paper does. Its
# values push the probability up or down, ours remove uncertainty: so absolute values are compared.
# Saabas' contributions follow the same paths through the trees as local MDI.

rows = np.arange(len(X))
predicted = model.predict_proba(X).argmax(axis=1)
measures = {
    "local MDI": result,
    "TreeSHAP": explanation[rows, :, predicted],
    "Saabas": lm.saabas(model, X)[rows, :, predicted],
}

# %%
# Our results can be drawn by shap's functions too: ``shap.plots.beeswarm(result.to_shap())``.

print(type(result.to_shap()))

# %%
# How far they agree on each wine: the correlation over the features, from the wine on which they
# agree least to the one on which they agree most.

lm.plots.AgreementDisplay.from_result(measures, absolute=True)
