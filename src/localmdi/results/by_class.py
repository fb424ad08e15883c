"""Local importances by class: which features told about which class of the target."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localmdi._text import clean, count, quote_names
from localmdi.results.fields import as_count, as_names, as_text
from localmdi.results.frames import FrameType, columns_to_frame
from localmdi.results.local import LocalImportance
from localmdi.results.notebook import classes_html

if TYPE_CHECKING:
    from collections.abc import Hashable

    from localmdi.results.global_ import GlobalImportance
    from localmdi.typing import FloatArray

__all__ = ["ClassImportance"]


@dataclass(frozen=True, eq=False, repr=False)
class ClassImportance:
    """How much of the uncertainty about each class every feature removed, row by row.

    Entropy and Gini impurity are sums over the classes, Σ −p log2 p and Σ p (1 − p); what a split
    removes is such a sum too. The parts of a row and feature add up to its `LocalImportance`. A
    feature can remove uncertainty about one class and raise it about another. For several targets
    the parts are those of the targets.

    Parameters
    ----------
    values : ndarray of float64, shape (n_rows, n_features, n_classes)
        The parts.
    baseline : ndarray of float64, shape (n_classes,)
        The parts of the impurity at the root.
    residual : ndarray of float64, shape (n_rows, n_classes)
        The parts of the impurity that is left at the leaf.
    classes : tuple
        The labels of the classes.
    unit : str
        "bits" or "gini".
    feature_names : sequence of str
        One name per feature.
    n_trees : int
        Number of trees.
    data, row_labels, frame_type
        As for `LocalImportance`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> import localmdi as lm
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = ExtraTreesClassifier(50, criterion="entropy", random_state=0).fit(X, y)
    >>> result = lm.local_mdi(model, X, by_class=True)
    >>> result
    ClassImportance: 150 rows, 4 features, 3 classes, 50 trees, in bits
      0  petal length (cm) 0.248
      1  petal width (cm) 0.2405
      2  petal width (cm) 0.2467
    >>> bool(np.allclose(result.values.sum(axis=2), lm.local_mdi(model, X).values))
    True
    """

    values: FloatArray
    baseline: FloatArray
    _: KW_ONLY
    residual: FloatArray
    classes: tuple[Any, ...]
    unit: str
    feature_names: tuple[str, ...]
    n_trees: int
    data: Any = None
    row_labels: Any = None
    frame_type: FrameType = None

    def __post_init__(self) -> None:
        names, classes = as_names(self.feature_names), tuple(self.classes)
        n_rows = len(self.residual)
        shapes = {
            "values": (n_rows, len(names), len(classes)),
            "baseline": (len(classes),),
            "residual": (n_rows, len(classes)),
        }
        for field, shape in shapes.items():
            array = getattr(self, field)
            if not isinstance(array, np.ndarray) or array.shape != shape:
                given = getattr(array, "shape", type(array).__name__)
                raise ValueError(
                    f"{field} must be an array of shape {shape}, by rows, features and classes; "
                    f"got {given}. Pass what local_mdi(..., by_class=True) gives."
                )
        as_text("unit", self.unit)
        as_count("n_trees", self.n_trees)
        object.__setattr__(self, "feature_names", names)
        object.__setattr__(self, "classes", classes)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of rows, of features and of classes.

        Examples
        --------
        >>> ClassImportance(np.zeros((5, 1, 2)), np.ones(2), residual=np.ones((5, 2)), unit="bits",
        ...                 classes=("a", "b"), feature_names=("age",), n_trees=10).shape
        (5, 1, 2)
        """
        n_rows, n_features, n_classes = self.values.shape
        return n_rows, n_features, n_classes

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        n_rows, n_features, n_classes = self.shape
        sizes = [count(n_rows, "row"), count(n_features, "feature"), count(n_classes, "class")]
        sizes.append(count(self.n_trees, "tree"))
        lines = [f"{type(self).__name__}: {', '.join(sizes)}, in {self.unit}"]
        if n_rows and n_features:
            for label, mean in list(self.mean().items())[:10]:
                name, value = mean.top(1)[0]
                lines.append(f"  {clean(label)}  {clean(name)} {value:.4g}")
            lines += ["  ..."] * (n_classes > 10)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return classes_html(self)

    def __getitem__(self, label: Hashable) -> LocalImportance:
        """Return the parts of one class, which every display shows.

        Examples
        --------
        >>> result = ClassImportance(np.ones((1, 1, 2)), np.full(2, 1.5),
        ...     residual=np.full((1, 2), 0.5), unit="bits", classes=("a", "b"),
        ...     feature_names=("age",), n_trees=10)
        >>> result["a"].values
        array([[1.]])
        """
        if label not in self.classes:
            raise KeyError(
                f"{label!r} is not among the classes {quote_names(self.classes)}. Choose one."
            )
        k = self.classes.index(label)
        return self._local(
            self.values[:, :, k], float(self.baseline[k]), residual=self.residual[:, k]
        )

    def total(self) -> LocalImportance:
        """Add up the classes: what `local_mdi` gives without ``by_class``, up to rounding.

        Examples
        --------
        >>> ClassImportance(np.ones((1, 1, 2)), np.full(2, 1.5), residual=np.full((1, 2), 0.5),
        ...     unit="bits", classes=("a", "b"), feature_names=("age",), n_trees=10).total().values
        array([[2.]])
        """
        return self._local(
            self.values.sum(axis=2), float(self.baseline.sum()), residual=self.residual.sum(axis=1)
        )

    def mean(self) -> dict[Hashable, GlobalImportance]:
        """Return the mean over rows of each class; `BarDisplay` draws them as bars by class.

        Examples
        --------
        >>> result = ClassImportance(np.ones((3, 1, 2)), np.full(2, 1.5),
        ...     residual=np.full((3, 2), 0.5), unit="bits", classes=("a", "b"),
        ...     feature_names=("age",), n_trees=10)
        >>> {label: mean.values for label, mean in result.mean().items()}
        {'a': array([1.]), 'b': array([1.])}
        """
        return {label: self[label].mean() for label in self.classes}

    def to_frame(self) -> Any:
        """Return one line per row and class: columns row, class, and one per feature.

        Examples
        --------
        >>> ClassImportance(np.ones((1, 1, 2)), np.full(2, 1.5), residual=np.full((1, 2), 0.5),
        ...     unit="bits", classes=("a", "b"), feature_names=("age",), n_trees=10).to_frame()
           row class  age
        0    0     a  1.0
        1    0     b  1.0
        """
        n_rows, n_features, n_classes = self.shape
        rows = np.repeat(np.arange(n_rows), n_classes)
        flat = self.values.transpose(0, 2, 1).reshape(-1, n_features)
        columns = {
            "row": rows if self.row_labels is None else np.asarray(self.row_labels)[rows],
            "class": np.tile(np.array(self.classes), n_rows),
        }
        columns |= {name: flat[:, j] for j, name in enumerate(self.feature_names)}
        return columns_to_frame(columns, self.frame_type)

    def _local(
        self, values: FloatArray, baseline: float, *, residual: FloatArray
    ) -> LocalImportance:
        return LocalImportance(
            np.ascontiguousarray(values),
            baseline,
            residual=np.ascontiguousarray(residual),
            unit=self.unit,
            feature_names=self.feature_names,
            n_trees=self.n_trees,
            data=self.data,
            row_labels=self.row_labels,
            frame_type=self.frame_type,
        )
