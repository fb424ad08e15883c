"""The infinite forest on the seven-segment display, beside forests of 10 to 10,000 trees.

Prints what docs/infinite.md shows. With ``--picture FILE`` it also draws the comparison.
"""

from __future__ import annotations

import argparse

import numpy as np

from localmdi.datasets import make_led
from localmdi.infinite import infinite_mdi

SIZES = (10, 100, 1000, 10_000)
DIGIT = 6


def main() -> None:
    """Print the exact values and how sampled trees approach them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", metavar="FILE", help="draw the comparison (needs matplotlib)")
    options = parser.parse_args()

    X, y = make_led()
    exact = infinite_mdi(X, y)
    print("Bits that each segment tells about the digit (exact, mean over digits):")
    print(" ".join(f"{value:.6f}" for value in exact.mean().values))
    sampled = {n: infinite_mdi(X, y, X, method="sampled", n_paths=n, random_state=0) for n in SIZES}
    print("Largest error of a local importance, and of 1.96 standard errors:")
    for n, result in sampled.items():
        error = np.abs(result.values - exact.values).max()
        print(f"  {n:>6} trees: {error:.4f} bits, {1.96 * result.standard_error.max():.4f} bits")
    if options.picture:
        draw(exact, sampled, path=options.picture)


def draw(exact: object, sampled: dict[int, object], *, path: str) -> None:
    """Draw digit 6: exact values as bars, sampled ones with their 95 % intervals."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 4, figsize=(9.6, 3.2), sharey=True, layout="constrained")
    segments = np.arange(1, 8)
    for axes, (n, result) in zip(panels, sampled.items(), strict=True):
        axes.bar(segments, exact.values[DIGIT], color="0.85", edgecolor="0.6", label="exact")
        axes.errorbar(
            segments,
            result.values[DIGIT],
            yerr=1.96 * result.standard_error[DIGIT],
            fmt="o",
            markersize=4,
            capsize=2,
            color="#b35806",
            label="sampled, 95 % interval",
        )
        axes.axhline(0, color="0.4", linewidth=0.8)
        axes.set(title=f"{n:,} trees", xlabel="segment", xticks=segments)
    panels[0].set_ylabel(f"bits about the digit, at a {DIGIT}")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(path, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()
