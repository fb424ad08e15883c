"""What users pass in is checked here, once; the rooms above work with what comes out."""

from localmdi._validation.arguments import (
    check_names,
    check_sample_weight,
    check_target,
    count_threads,
    default_names,
    names_of,
)
from localmdi._validation.categories import Categories, find_missing, is_missing, learn_categories
from localmdi._validation.columns import (
    Columns,
    as_labels,
    encode_columns,
    from_labels,
    read_columns,
    read_encoded_rows,
)
from localmdi._validation.rows import (
    ColumnRule,
    RowRules,
    RowSource,
    apply_column_rules,
    check_batch,
    frame_labels,
    frame_type,
    has_effect,
    read_frame,
    read_rows,
)

__all__ = [
    "Categories",
    "ColumnRule",
    "Columns",
    "RowRules",
    "RowSource",
    "apply_column_rules",
    "as_labels",
    "check_batch",
    "check_names",
    "check_sample_weight",
    "check_target",
    "count_threads",
    "default_names",
    "encode_columns",
    "find_missing",
    "frame_labels",
    "frame_type",
    "from_labels",
    "has_effect",
    "is_missing",
    "learn_categories",
    "names_of",
    "read_columns",
    "read_encoded_rows",
    "read_frame",
    "read_rows",
]
