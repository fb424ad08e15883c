"""
Regression
==========

A forest that predicts a number has no bits: its trees reduce the variance of the target.
Everything else stays the same. Here: how diabetes progressed in 442 patients within a year.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor

import localmdi as lm

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = RandomForestRegressor(500, min_samples_leaf=5, random_state=0).fit(X, y)
result = lm.local_mdi(model, X)
print(result)

# %%
# The baseline is the variance of the target, the residual what is left of it in the leaves. The
# share that a row's features removed says how sure the forest is of this patient.

removed = 1 - result.residual / result.baseline
print(f"removed of the variance: {removed.min():.0%} to {removed.max():.0%} of a row's")

# %%
# The body mass index and the logarithm of triglycerides (s5) tell most.

lm.plots.BeeswarmDisplay.from_result(result)

# %%
# A low index tells much: the disease of these patients progresses little, and alike. From about 27
# on it tells less, and how much depends on what else is known of the patient.

lm.plots.DependenceDisplay.from_result(result, feature="bmi")

# %%
# One patient: from the variance of all patients to that of the patients at the same leaves.

patient = int(removed.argmax())
print(f"progression {y[patient]:.0f}, predicted {model.predict(X.iloc[[patient]])[0]:.0f}")
lm.plots.WaterfallDisplay.from_result(result, row=patient)
