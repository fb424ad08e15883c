"""Check an installed localmdi as a user meets it: compiled module, stable ABI, one explanation."""

from __future__ import annotations

import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

import localmdi
import localmdi._core


def check_stable_abi(path: str) -> None:
    """From Python 3.12 on one wheel serves all versions; Windows leaves such modules untagged."""
    if sys.version_info < (3, 12):
        return
    suffix = "_core.pyd" if sys.platform == "win32" else "_core.abi3.so"
    if not path.endswith(suffix):
        sys.exit(f"the compiled module must end in {suffix}, to serve later Pythons; it is {path}")


def check_sum_rule() -> None:
    X, y = load_digits(return_X_y=True)
    forest = RandomForestClassifier(20, criterion="entropy", random_state=0).fit(X, y)
    result = localmdi.local_mdi(forest, X)
    if not np.allclose(result.values.sum(1), result.baseline - result.residual, atol=1e-12):
        sys.exit("the values of a row must add up to baseline - residual; they do not")


if __name__ == "__main__":
    check_stable_abi(localmdi._core.__file__)
    check_sum_rule()
    print(f"installed: localmdi in {localmdi.__file__}, compiled module {localmdi._core.__file__}")
