"""to_frame, to_arrow, to_shap: the values, in the type of the explained frame."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

# Until shap sets its colours the way matplotlib 3.11 asks for; it warns when it is imported.
QUIET_SHAP = pytest.mark.filterwarnings("ignore:The set_:PendingDeprecationWarning")


def test_arrays_give_pandas(local, as_dense):
    frame = local.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["age", "sex_f", "dose", "sex_m"]
    pd.testing.assert_index_equal(frame.index, pd.RangeIndex(3))
    np.testing.assert_array_equal(frame.to_numpy(), as_dense(local.values))


def test_pandas_keeps_the_index(make_local):
    index = pd.MultiIndex.from_tuples([("x", 1), ("x", 2), ("y", 1)], names=["group", "n"])
    for sparse in (False, True):
        result = make_local(row_labels=index, frame_type="pandas", sparse=sparse)
        pd.testing.assert_index_equal(result.to_frame().index, index)


def test_frame_may_be_changed_without_changing_the_result(make_local):
    result = make_local()
    frame = result.to_frame()
    frame.loc[0, "age"] = 9.0
    assert result.values[0, 0] == 0.5


def test_sparse_values_give_sparse_columns(make_local):
    frame = make_local(sparse=True).to_frame()
    assert all(isinstance(dtype, pd.SparseDtype) for dtype in frame.dtypes)
    assert frame.sparse.density == pytest.approx(5 / 12)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("frame_type", "cls"), [("polars", pl.DataFrame), ("pyarrow", pa.Table)])
def test_polars_and_pyarrow(make_local, as_dense, sparse, frame_type, cls):
    result = make_local(frame_type=frame_type, sparse=sparse)
    frame = result.to_frame()
    assert isinstance(frame, cls)
    columns = frame.columns if frame_type == "polars" else frame.column_names
    assert columns == ["age", "sex_f", "dose", "sex_m"]
    dose = frame["dose"]
    assert (dose.to_list() if frame_type == "polars" else dose.to_pylist()) == [0.25, -0.125, 0.0]
    assert frame.shape == (3, 4)


def test_to_arrow(local):
    table = local.to_arrow()
    assert table.to_pydict() == {
        "age": [0.5, 0.0, 1.0],
        "sex_f": [0.0, 0.5, 0.0],
        "dose": [0.25, -0.125, 0.0],
        "sex_m": [0.0, 0.0, 0.0],
    }


@pytest.mark.parametrize("frame_type", [None, "polars", "pyarrow"])
@pytest.mark.parametrize("key", [slice(0), slice(1), (slice(None), [0])])
def test_small_frames(make_local, frame_type, key):
    part = make_local(frame_type=frame_type)[key]
    assert part.to_frame().shape == part.shape


@QUIET_SHAP
def test_shap_adds_up_to_minus_the_residual(local, as_dense):
    explanation = local.to_shap()
    np.testing.assert_array_equal(explanation.values, as_dense(local.values))
    np.testing.assert_array_equal(explanation.base_values, [-1.0] * 3)
    total = explanation.base_values + explanation.values.sum(axis=1)
    np.testing.assert_array_equal(total, -local.residual)
    assert explanation.feature_names == ["age", "sex_f", "dose", "sex_m"]
    assert explanation.data is None


@QUIET_SHAP
def test_shap_with_a_baseline_per_row(make_local):
    explanation = make_local(baseline=np.array([1.0, 2.0, 3.0])).to_shap()
    assert explanation[1].base_values == -2.0


PLAIN = np.arange(12.0).reshape(3, 4)
NAMES = ["age", "sex_f", "dose", "sex_m"]


@QUIET_SHAP
@pytest.mark.parametrize(
    "data",
    [
        PLAIN,
        csr_array(PLAIN),
        pd.DataFrame(PLAIN),
        pl.DataFrame(PLAIN, schema=NAMES),
        pa.table(dict(zip(NAMES, PLAIN.T, strict=True))),
    ],
    ids=["array", "sparse", "pandas", "polars", "pyarrow"],
)
def test_shap_gets_the_rows(make_local, data):
    np.testing.assert_array_equal(make_local(data=data).to_shap().data, PLAIN)


@QUIET_SHAP
def test_shap_does_not_get_rows_with_other_columns(make_local):
    assert make_local(data=PLAIN[:, :3]).to_shap().data is None


@QUIET_SHAP
@pytest.mark.parametrize("data", [None, PLAIN], ids=["without data", "with data"])
def test_shap_plots_accept_it(make_local, data):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    import shap

    explanation = make_local(data=data).to_shap()
    axes = shap.plots.waterfall(explanation[1], show=False)
    texts = [text.get_text() for axis in axes.figure.axes for text in axis.get_xticklabels()]
    # Where the bars start and where they end: minus the impurity at the root and at the leaf.
    assert any("-1" in text or "\N{MINUS SIGN}1" in text for text in texts)
    assert any("0.625" in text for text in texts)
    plt.close("all")
    shap.plots.bar(explanation, show=False)
    plt.close("all")


@QUIET_SHAP
def test_shap_is_told_what_the_values_are(make_local):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    import shap

    explanation = make_local(data=PLAIN).to_shap()
    assert explanation.output_names == "uncertainty removed (bits)"
    assert make_local(unit="gini").to_shap().output_names == "Gini impurity removed"
    honest = make_local(honest=True).to_shap()
    assert honest.output_names == "uncertainty removed on unseen rows (bits)"
    axes = shap.plots.beeswarm(explanation, show=False)
    axes.set_xlabel(explanation.output_names)
    plt.close("all")
    # A part keeps the words, and plots that look at the names of outputs take them.
    assert explanation[1].output_names == explanation.output_names
    for draw in (shap.plots.heatmap, shap.plots.violin, shap.plots.bar):
        draw(explanation, show=False)
        plt.close("all")
    shap.plots.scatter(explanation[:, "age"], show=False)
    plt.close("all")
    assert shap.plots.force(explanation[1]).html()
