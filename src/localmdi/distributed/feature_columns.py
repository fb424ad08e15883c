"""Which columns of a frame are the model's features, and how a worker reads them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from localmdi._text import count, quote_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from localmdi.adapters import AdaptedModel
    from localmdi.typing import AnyArray, Names

ColumnKind: TypeAlias = Literal["number", "value", "vector", "other"]
"""Numbers and booleans; other single values, such as strings; many numbers; anything else."""


@dataclass(frozen=True)
class FeatureColumns:
    """The feature columns of a frame, in the model's order; made by `choose_features`.

    Parameters
    ----------
    names : tuple of str
        The columns; a single one if `vector`.
    model_names : tuple of str or None
        The names that the model was fitted with.
    width : int or None
        Number of features; None if the first step of a Pipeline does not say.
    vector : bool
        Whether one column holds all features.
    pipeline : bool
        Whether rows go through a Pipeline, which gets what it was fitted to: pandas or an array.
    """

    names: tuple[str, ...]
    model_names: tuple[str, ...] | None
    width: int | None
    vector: bool = False
    pipeline: bool = False

    @property
    def row_names(self) -> tuple[str, ...] | None:
        """The names of the columns that an explainer gets; None for an array."""
        return None if self.vector else self.names

    def rows_of(self, part: Any) -> Any:
        """Return what an explainer gets of an Arrow table, a pandas frame, or an array of rows."""
        import pyarrow as pa

        if isinstance(part, np.ndarray):
            return self._vector_rows(part)
        is_arrow = isinstance(part, pa.Table)
        if self.vector:
            column = part[self.names[0]]
            vectors = column.combine_chunks() if is_arrow else pa.array(column)
            return self._vector_rows(self._read_vectors(vectors))
        chosen = part.select(list(self.names)) if is_arrow else part[list(self.names)]
        if not self.pipeline:
            return chosen
        frame = chosen.to_pandas() if is_arrow else chosen
        return frame.to_numpy() if self.model_names is None else frame

    @contextmanager
    def named_errors(self, part: Any) -> Iterator[None]:
        """Add the names of the columns that have missing values to an error about values."""
        try:
            yield
        except ValueError as error:
            missing = self._missing_in(part)
            if not missing:
                raise
            found = f"{error} Missing values are in column {quote_names(missing)}."
            raise ValueError(found) from None

    def _missing_in(self, part: Any) -> list[str]:
        import pyarrow as pa

        if self.vector:
            return []
        frame = part.select(list(self.names)).to_pandas() if isinstance(part, pa.Table) else part
        return [name for name in self.names if frame[name].isna().any()]

    def _vector_rows(self, rows: AnyArray) -> Any:
        if not self.pipeline or self.model_names is None:
            return rows
        import pandas as pd

        return pd.DataFrame(rows, columns=list(self.model_names))

    def _read_vectors(self, vectors: Any) -> AnyArray:
        import pyarrow as pa

        if vectors.null_count:
            raise ValueError(
                f"column {self.names[0]!r} must have a vector in every row; some are null. "
                "Drop or fill these rows."
            )
        length = vectors.value_lengths().to_numpy(zero_copy_only=False)
        width = self.width if self.width is not None else int(length[0]) if len(length) else 0
        if (length != width).any():
            wrong = int(length[length != width][0])
            raise ValueError(
                f"the vectors of column {self.names[0]!r} must have the model's "
                f"{count(width, 'feature')}; one has {wrong}. Pass the vectors that the model was "
                "fitted with."
            )
        values = vectors.flatten()
        if values.null_count or not pa.types.is_floating(values.type):
            values = values.cast(pa.float64())
        numbers: AnyArray = values.to_numpy(zero_copy_only=False)
        return numbers.reshape(len(vectors), width)


def choose_features(
    adapted: AdaptedModel, kinds: Mapping[str, ColumnKind], *, features: str | Names | None
) -> FeatureColumns:
    """Return the columns of the features, or raise an error that says what does not fit.

    Parameters
    ----------
    adapted : AdaptedModel
        The model.
    kinds : mapping of str to ColumnKind
        The columns of the frame.
    features : str, sequence of str or None
        What the user chose; None: the columns with the names of the model's features.
    """
    is_pipeline = adapted.transform is not None
    known = adapted.input_names or (None if is_pipeline else adapted.forest.feature_names)
    width = adapted.n_features_in if is_pipeline else adapted.forest.n_features
    chosen = _chosen_names(features, known, kinds=kinds)
    check_exist(chosen, kinds)
    vectors = [name for name in chosen if kinds[name] == "vector"]
    if vectors and len(chosen) > 1:
        raise ValueError(
            f"features must be one column of vectors or columns of single values; got both: "
            f"{quote_names(vectors)} among {count(len(chosen), 'column')}. "
            "Assemble all features into one vector, or spread the vector over columns."
        )
    columns = FeatureColumns(chosen, known, width, bool(vectors), is_pipeline)
    if vectors:
        return columns
    if width is not None and len(chosen) != width:
        raise ValueError(
            f"features must name the model's {count(width, 'feature')}; got {len(chosen)}. "
            "Name the columns in the order in which the model was fitted."
        )
    _check_kinds(adapted, chosen, kinds=kinds)
    return columns


def _chosen_names(
    features: str | Names | None, known: tuple[str, ...] | None, *, kinds: Mapping[str, ColumnKind]
) -> tuple[str, ...]:
    if features is None:
        if known is None:
            raise ValueError(
                "features must name the columns: the model was fitted without feature names. "
                "Pass features=[...] in the order in which it was fitted, or the name of one "
                "column of vectors."
            )
        return known
    chosen = (features,) if isinstance(features, str) else tuple(features)
    is_vector = len(chosen) == 1 and kinds.get(chosen[0]) == "vector"
    if known is None or is_vector or len(set(chosen) & set(kinds)) < len(chosen):
        return chosen
    if sorted(chosen) != sorted(known):
        raise ValueError(
            f"features must be the names that the model was fitted with, {quote_names(known)}; "
            f"got {quote_names(chosen)}. Rename the columns of the frame."
        )
    return known


def check_exist(chosen: tuple[str, ...], kinds: Mapping[str, ColumnKind]) -> None:
    """Refuse features that are no columns, or the same one twice."""
    absent = [name for name in chosen if name not in kinds]
    if absent:
        raise ValueError(
            f"the frame must have every feature column; no column {quote_names(absent)}, it has "
            f"{quote_names(kinds)}. Rename the columns, or pass features=[...]."
        )
    if len(set(chosen)) < len(chosen):
        raise ValueError(
            f"features must not repeat; got {quote_names(chosen)}. Name every column once."
        )


def _check_kinds(
    adapted: AdaptedModel, chosen: tuple[str, ...], *, kinds: Mapping[str, ColumnKind]
) -> None:
    if adapted.transform is not None:
        return
    categories: Sequence[AnyArray | None]
    categories = adapted.forest.categories or (None,) * len(chosen)
    for name, labels in zip(chosen, categories, strict=True):
        allowed = ("number",) if labels is None else ("number", "value")
        if kinds[name] not in allowed:
            raise ValueError(
                f"the features must hold {' or '.join(f'{kind}s' for kind in allowed)}; column "
                f"{name!r} does not. Encode it as the model's training data was encoded."
            )


def choose_kept(
    keep: str | Names | None, kinds: Mapping[str, ColumnKind], *, features: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the columns that are passed through: those of the user, or all but the features."""
    if keep is None:
        return tuple(name for name in kinds if name not in set(features))
    kept = (keep,) if isinstance(keep, str) else tuple(keep)
    absent = [name for name in kept if name not in kinds]
    if absent or len(set(kept)) < len(kept):
        raise ValueError(
            f"keep must name columns of the frame, each once; got {quote_names(kept)}. "
            f"The frame has {quote_names(kinds)}."
        )
    return kept
