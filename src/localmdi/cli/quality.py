"""How well rows are predicted: accuracy and Brier score of classes, R² of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from localmdi.typing import AnyArray, FloatArray

__all__ = ["RunningQuality", "quality_of"]


def quality_of(
    target: AnyArray, expected: FloatArray, *, classes: AnyArray | None
) -> dict[str, float]:
    """Return how well rows are predicted.

    Parameters
    ----------
    target : ndarray
        What is true.
    expected : ndarray of shape (n_rows, n_classes) or (n_rows, 1)
        The shares of the classes, or the number, that are predicted.
    classes : ndarray or None
        The labels of the columns; None for numbers.

    Examples
    --------
    >>> import numpy as np
    >>> found = quality_of(np.array(["a", "b"]), np.array([[1.0, 0.0], [0.5, 0.5]]),
    ...                    classes=np.array(["a", "b"]))
    >>> found["accuracy"], found["brier"]
    (0.5, 0.25)
    """
    import numpy as np

    if classes is None:
        y = target.astype(np.float64)
        error = float(((y - expected[:, 0]) ** 2).mean())
        return {"r2": 1.0 - error / float(y.var())}
    truth = (target[:, None] == classes[None, :]).astype(np.float64)
    frequent = np.unique(target, return_counts=True)[1].max() / len(target)
    return {
        "accuracy": float((classes[expected.argmax(axis=1)] == target).mean()),
        "most_frequent": float(frequent),
        "brier": float(((expected - truth) ** 2).sum(axis=1).mean()),
    }


class RunningQuality:
    """How well a stream of rows is predicted; the memory does not grow with the stream.

    Parameters
    ----------
    is_classifier : bool
        Whether predictions are classes.

    Examples
    --------
    >>> import numpy as np
    >>> running = RunningQuality(is_classifier=True)
    >>> running.add(np.array(["a", "b"]), np.array(["a", None], dtype=object))
    >>> running.add(np.array(["a"]), np.array(["b"]))
    >>> running.describe()
    {'accuracy': 0.5, 'most_frequent': 0.5}
    """

    def __init__(self, *, is_classifier: bool) -> None:
        self._is_classifier = is_classifier
        self._counts: dict[object, int] = {}
        self._n_right = 0
        self._n_rows = 0
        self._shift: float | None = None
        self._sums = [0.0, 0.0, 0.0]

    def add(self, prediction: AnyArray, target: AnyArray) -> None:
        """Add the next rows; those without a target do not count."""
        import numpy as np

        from localmdi._validation import find_missing

        known = ~find_missing(target)
        said, true = prediction[known].tolist(), target[known].tolist()
        self._n_rows += len(true)
        if self._is_classifier:
            self._n_right += sum(a == b for a, b in zip(said, true, strict=True))
            for label in true:
                self._counts[label] = self._counts.get(label, 0) + 1
            return
        if not all(isinstance(value, int | float) for value in true) or not true:
            self._n_rows -= len(true)
            return
        y = np.asarray(true, dtype=np.float64)
        # Around the first value, so that the sums keep their digits.
        self._shift = float(y[0]) if self._shift is None else self._shift
        parts = (y - self._shift, (y - self._shift) ** 2, (y - np.asarray(said)) ** 2)
        self._sums = [old + float(new.sum()) for old, new in zip(self._sums, parts, strict=True)]

    def describe(self) -> dict[str, float]:
        """Return the quality; empty if no row had both a prediction and a target."""
        n = self._n_rows
        if not n:
            return {}
        if self._is_classifier:
            most = max(self._counts.values())
            return {"accuracy": self._n_right / n, "most_frequent": most / n}
        total, squares, error = self._sums
        spread = squares - total**2 / n
        return {"r2": 1.0 - error / spread} if spread > 0 else {}
