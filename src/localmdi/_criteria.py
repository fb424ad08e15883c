"""The criteria: what each one is called, what it measures, and its formula.

To add a criterion, add a row to `CRITERIA` and, if the kernels should compute it, a case to
``cpp/include/localmdi/support/criterion.hpp``. Its unit needs a row in `UNITS`. ``theory/`` has
formulas of its own on purpose: it is the oracle that judges these.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

# NumPy is imported inside the formulas, so that the command line can list names without it.

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from localmdi.typing import FloatArray, ResultMeasure


@dataclass(frozen=True)
class Unit:
    """A unit of impurity, in the words that people read.

    Parameters
    ----------
    name : str
        The name that results carry in ``unit``.
    quantity : str
        What is measured, as in "a feature removed …".
    symbol : str
        What stands behind a number or in parentheses at an axis; may be empty.
    loss : str
        What of a single row is measured in this unit, given its answer; may be empty.
    """

    name: str
    quantity: str
    symbol: str = ""
    loss: str = ""

    def quantity_of(self, measure: ResultMeasure) -> str:
        """Return what the values of a measure are parts of.

        Examples
        --------
        >>> UNITS["bits"].quantity_of("drop"), UNITS["bits"].quantity_of("loss")
        ('uncertainty', 'surprise')
        """
        return self.loss or self.quantity if measure == "loss" else self.quantity

    def label(self, measure: ResultMeasure = "drop") -> str:
        """Return the quantity and its symbol, for an axis.

        Examples
        --------
        >>> UNITS["bits"].label(), UNITS["variance"].label()
        ('uncertainty (bits)', 'variance')
        """
        what = self.quantity_of(measure)
        return f"{what} ({self.symbol})" if self.symbol else what

    def value_label(self, measure: ResultMeasure, *, honest: bool) -> str:
        """Return what the value of a feature is, for an axis.

        Examples
        --------
        >>> UNITS["bits"].value_label("drop", honest=True)
        'uncertainty removed on unseen rows (bits)'
        >>> UNITS["bits"].value_label("loss", honest=True)
        'surprise removed on unseen rows (bits)'
        >>> UNITS["gini"].value_label("gain", honest=False)
        'gain'
        """
        quantity = self.quantity_of(measure)
        what = {"gain": "gain", "saabas": f"change of the {quantity}"}.get(
            measure, f"{quantity} removed"
        )
        where = " on unseen rows" if honest else ""
        return f"{what}{where} ({self.symbol})" if self.symbol else f"{what}{where}"


@dataclass(frozen=True)
class Criterion:
    """An impurity i(t) of the rows at a node.

    Parameters
    ----------
    name : str
        scikit-learn's name.
    unit : str
        The unit of the impurity, a key of `UNITS`.
    aliases : tuple of str
        Other names under which it is accepted.
    target : {"classes", "numbers"} or None
        What y must hold for the impurity to be computed from rows; None: it is only read from
        models that store it.
    kernel : int or None
        Its code in the kernels; None: they do not compute it.
    formula : callable or None
        From the sums of nodes, (n_nodes, n_sums), to their impurities. For classes the sums are
        the weight of each class; for numbers they are Σw, Σwy and Σwy².
    """

    name: str
    unit: str
    aliases: tuple[str, ...] = ()
    target: Literal["classes", "numbers"] | None = None
    kernel: int | None = None
    formula: Callable[[FloatArray], FloatArray] | None = None

    def weight(self, sums: FloatArray) -> FloatArray:
        """Return the total weight of each node."""
        return sums.sum(axis=1) if self.target == "classes" else sums[:, 0]

    def impurity(self, sums: FloatArray) -> FloatArray:
        """Return the impurity of each node."""
        if self.formula is None:
            raise ValueError(f"criterion {self.name!r} cannot be computed from rows")
        return self.formula(sums)


def _shares(counts: FloatArray) -> FloatArray:
    """Return the class frequencies p_k of each node; an empty node has none."""
    import numpy as np

    total = counts.sum(axis=1, keepdims=True)
    return counts / np.where(total > 0, total, 1.0)


def _entropy(counts: FloatArray) -> FloatArray:
    """Return H = −Σ_k p_k log2 p_k."""
    import numpy as np

    share = _shares(counts)
    impurity: FloatArray = -(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1)
    return impurity + 0.0  # no negative zero


def _gini(counts: FloatArray) -> FloatArray:
    """Return Σ_k p_k (1 − p_k)."""
    share = _shares(counts)
    impurity: FloatArray = (share * (1.0 - share)).sum(axis=1)
    return impurity


def _variance(moments: FloatArray) -> FloatArray:
    """Return E[y²] − E[y]²; the caller centres y, so that the difference keeps its digits."""
    import numpy as np

    weight = np.where(moments[:, 0] > 0, moments[:, 0], 1.0)
    mean = moments[:, 1] / weight
    impurity: FloatArray = np.maximum(moments[:, 2] / weight - mean**2, 0.0)
    return impurity


CRITERIA: tuple[Criterion, ...] = (
    Criterion("entropy", "bits", ("log_loss",), "classes", kernel=0, formula=_entropy),
    Criterion("gini", "gini", (), "classes", kernel=1, formula=_gini),
    Criterion(
        "squared_error",
        "variance",
        ("variance", "friedman_mse"),
        "numbers",
        kernel=2,
        formula=_variance,
    ),
    Criterion("absolute_error", "mae"),
    Criterion("poisson", "poisson"),
    # Boosting: −G²/((H + λ) n), the loss that a constant step takes away, per row.
    Criterion("loss", "loss"),
)
"""All criteria."""

UNITS: Mapping[str, Unit] = MappingProxyType(
    {
        unit.name: unit
        for unit in (
            Unit("bits", "uncertainty", "bits", "surprise"),
            Unit("gini", "Gini impurity", loss="Brier score"),
            Unit("variance", "variance", loss="squared error"),
            Unit("mae", "absolute error"),
            Unit("poisson", "Poisson deviance"),
            Unit("loss", "training loss"),
            Unit("share", "share of the total"),
            Unit("prediction", "prediction"),
        )
    }
)
"""All units; "share" is that of normalised importances, "prediction" that of Saabas' values."""

_BY_NAME = MappingProxyType(
    {name: criterion for criterion in CRITERIA for name in (criterion.name, *criterion.aliases)}
)

UNIT_OF: Mapping[str, str] = MappingProxyType(
    {name: criterion.unit for name, criterion in _BY_NAME.items()}
)
"""The unit of each criterion, by every name that it has."""


def criterion_names(
    *, target: Literal["classes", "numbers"] | None = None, computed: bool = False
) -> tuple[str, ...]:
    """Return the accepted names: all, or those for a kind of target, or those we can compute.

    Examples
    --------
    >>> criterion_names(target="classes")
    ('entropy', 'log_loss', 'gini')
    """
    return tuple(
        name
        for name, criterion in _BY_NAME.items()
        if target in (None, criterion.target) and not (computed and criterion.formula is None)
    )


def find_criterion(name: object, *, among: tuple[str, ...] | None = None) -> Criterion:
    """Return the criterion of this name, or raise an error that lists the accepted ones.

    Examples
    --------
    >>> find_criterion("log_loss").name
    'entropy'
    >>> find_criterion("entropie")
    Traceback (most recent call last):
    ValueError: criterion must be one of 'entropy', 'log_loss', ...; got 'entropie'.
    """
    accepted = tuple(_BY_NAME) if among is None else among
    if not isinstance(name, str) or name not in accepted:
        names = ", ".join(map(repr, accepted))
        raise ValueError(f"criterion must be one of {names}; got {name!r}.")
    return _BY_NAME[name]


def unit_of(name: str) -> Unit:
    """Return a unit by its name; results may carry units that this version does not know.

    Examples
    --------
    >>> unit_of("bits").quantity, unit_of("nats").label()
    ('uncertainty', 'impurity (nats)')
    """
    return UNITS.get(name, Unit(name, "impurity", name))
