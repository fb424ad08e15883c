"""First steps: explain every row of digits with the paper's forest of totally randomized trees.

Run by ``make demo``. With ``--picture FILE`` it also draws one digit beside its explanation.
"""

from __future__ import annotations

import argparse

from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier

import localmdi as lm


def main() -> None:
    """Print what the README shows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", metavar="FILE", help="draw row 0 (needs matplotlib)")
    options = parser.parse_args()

    X, y = load_digits(return_X_y=True, as_frame=True)
    model = ExtraTreesClassifier(1000, criterion="entropy", max_features=1, random_state=0)
    result = lm.local_mdi(model.fit(X, y), X)
    print(result)
    print(result[:3].top(3))

    print(
        f"Row 0 is a {y[0]}. Before any pixel is known: {result.baseline:.3f} bits of uncertainty."
    )
    print(
        f"The pixels removed {result.values[0].sum():.3f} bits; {result.residual[0]:.3f} are left."
    )
    ledger = abs(result.mean().values - lm.global_mdi(model).values).max()
    print(f"The rows' mean is the global importance: largest difference {ledger:.0e} bits.")
    if options.picture:
        draw(result, X, path=options.picture)


def draw(result: lm.LocalImportance, X: object, *, path: str) -> None:
    """Draw row 0: the image, and how many bits each pixel removed or added."""
    import matplotlib.pyplot as plt
    import numpy as np

    figure, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.1), layout="constrained")
    left.imshow(np.asarray(X)[0].reshape(8, 8), cmap="Greys")
    left.set_title("row 0: a zero")
    bits = result.values[0].reshape(8, 8)
    limit = np.abs(bits).max()
    shown = right.imshow(bits, cmap="PuOr_r", vmin=-limit, vmax=limit)
    right.set_title("bits of uncertainty removed")
    figure.colorbar(shown, ax=right, shrink=0.9)
    for axes in (left, right):
        axes.set(xticks=[], yticks=[])
    figure.savefig(path, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()
