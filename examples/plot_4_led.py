"""
Seven segments and the infinite forest
======================================

A display shows the digits 0 to 9 with seven segments. What does each segment tell about the
digit? Here no forest is needed: the limit of infinitely many totally randomized trees can be
computed.
"""

# sphinx_gallery_thumbnail_number = 3
import matplotlib.pyplot as plt
import numpy as np

import localmdi as lm

X, y = lm.datasets.make_led()
exact = lm.infinite_mdi(X, y)
print("Bits that each segment tells about the digit (exact, mean over digits):")
print(" ".join(f"{value:.6f}" for value in exact.mean().values))

# %%
# How many trees does it take to see these numbers? Sampled trees come with standard errors: 95 % of
# the values should lie within 1.96 of them. Few trees cannot judge their own errors either.

sizes = (10, 100, 1000, 10_000)
sampled = {n: lm.infinite_mdi(X, y, X, method="sampled", n_paths=n, random_state=0) for n in sizes}
for n, result in sampled.items():
    error = np.abs(result.values - exact.values)
    held = np.mean(error <= 1.96 * result.standard_error)
    print(f"{n:>6} trees: off by at most {error.max():.4f} bits; {held:.0%} within their intervals")

# %%
# The digit 6, exactly (bars) and from sampled trees (dots with 95 % intervals).

digit = 6
segments = np.arange(1, 8)
figure, panels = plt.subplots(1, 4, figsize=(9.6, 3.2), sharey=True, layout="constrained")
for axes, (n, result) in zip(panels, sampled.items(), strict=True):
    axes.bar(segments, exact.values[digit], color="0.85", edgecolor="0.6", label="exact")
    axes.errorbar(
        segments,
        result.values[digit],
        yerr=1.96 * result.standard_error[digit],
        fmt="o",
        markersize=4,
        capsize=2,
        color="#b35806",
        label="sampled, 95 % interval",
    )
    axes.axhline(0, color="0.4", linewidth=0.8)
    axes.set(title=f"{n:,} trees", xlabel="segment", xticks=segments)
panels[0].set_ylabel(f"bits about the digit, at a {digit}")
handles, labels = panels[0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)

# %%
# Segments share what they tell. Where two of them tell the same, the interaction is negative; where
# both are needed, it is positive.

lm.plots.InteractionDisplay.from_result(lm.infinite_interactions(X, y))

# %%
# All ten digits. Lit segments have a dark frame; the colour says how many bits a segment removed. A
# dark segment can tell as much as a lit one: that the upper right one is dark leaves only 5 and 6.

figure, axes = plt.subplots(2, 5, figsize=(7.5, 5), layout="constrained")
limit = abs(exact.values).max()
for row, ax in enumerate(axes.flat):
    display = lm.plots.SegmentDisplay.from_result(exact, row=row, vmax=limit, colorbar=False, ax=ax)
    ax.set_title("")
figure.colorbar(display.mappable_, ax=axes, label="uncertainty removed (bits)")
