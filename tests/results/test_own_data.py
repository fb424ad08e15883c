"""The rows' own values: matched by name, kept by groups, and set by `attach_data`."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from localmdi.plots import BeeswarmDisplay, DependenceDisplay, WaterfallDisplay
from localmdi.report.row_data import own_values
from localmdi.results import LocalImportance
from localmdi.results.own_data import too_many_values


@pytest.fixture(autouse=True)
def close_figures():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


FRAME = pd.DataFrame({"hours": [40.0, 38.0], "school": ["Some-college", "HS"]})


def make(names=("hours", "school"), **fields):
    values = np.arange(1.0, 2 * len(names) + 1).reshape(2, len(names)) / 100
    settings = {"residual": 1.0 - values.sum(axis=1), "unit": "bits", "n_trees": 10}
    return LocalImportance(values, 1.0, feature_names=names, **(settings | fields))


def cells(result, row=0):
    display = WaterfallDisplay.from_result(result, row=row)
    return dict(zip(display.step_names, display.data or (), strict=False))


@pytest.mark.parametrize("make_frame", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_columns_in_another_order_are_matched_by_name(make_frame):
    turned = make_frame(FRAME[["school", "hours"]])
    for result in (replace(make(), data=turned), make().attach_data(turned)):
        assert cells(result) == {"hours": "40", "school": "Some-college"}
        found = own_values(result, np.arange(2), columns=np.arange(2))
        assert found == [[40.0, 38.0], ["Some-college", "HS"]]
        display = DependenceDisplay.from_result(result, feature="school")
        assert display.categories == ("HS", "Some-college")


def test_columns_of_other_names_are_not_shown_as_the_features():
    result = replace(make(), data=FRAME.rename(columns={"hours": "weeks"}))
    assert cells(result) == {}
    assert own_values(result, np.arange(2), columns=np.arange(2)) is None


def test_attach_data_refuses_what_it_cannot_match():
    with pytest.raises(ValueError, match=r"named 'hours'\. Rename"):
        make().attach_data(FRAME.rename(columns={"hours": "weeks"}))
    with pytest.raises(ValueError, match=r"shape \(2, 2\)"):
        make().attach_data(np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"shape \(2, 2\)"):
        make().attach_data(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="2 rows"):
        make().attach_data(FRAME.iloc[:1])


def test_attach_data_takes_the_columns_it_needs():
    result = make().attach_data(FRAME.assign(other=1))
    assert list(result.data.columns) == ["hours", "school"]
    assert cells(result[:, "school"]) == {"school": "Some-college", "features left out": ""}


def test_the_advice_of_the_dependence_display_works():
    result = make()
    with pytest.raises(ValueError, match=r"result\.attach_data\(X\)"):
        DependenceDisplay.from_result(result, feature="hours")
    shown = DependenceDisplay.from_result(result.attach_data(FRAME), feature="hours")
    assert shown.position.tolist() == [40.0, 38.0]


def test_selected_features_keep_their_own_values():
    result = replace(make(), data=FRAME[["school", "hours"]])
    assert cells(result[:, ["school"]])["school"] == "Some-college"


ONE_HOT = ("age", "sex_f", "sex_m")
MEMBERS = {"sex": ["sex_f", "sex_m"]}


@pytest.mark.parametrize(
    "make_table", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas, np.asarray]
)
def test_a_group_keeps_its_members_values(make_table):
    frame = pd.DataFrame({"age": [31.0, 47.0], "sex_f": [1.0, 0.0], "sex_m": [0.0, 1.0]})
    result = make(ONE_HOT, data=make_table(frame)).group(MEMBERS)
    assert cells(result) == {"sex": "f", "age": "31"}
    assert cells(result, row=1) == {"sex": "m", "age": "47"}
    BeeswarmDisplay.from_result(result)
    shown = DependenceDisplay.from_result(result, feature="sex")
    assert shown.categories == ("f", "m")


def test_a_group_of_measurements_names_them_all():
    frame = pd.DataFrame({"low": [1.5, 2.0], "high": [3.0, np.nan]})
    result = make(("low", "high"), data=frame).group({"pressure": ["low", "high"]})
    found = own_values(result, np.arange(2), columns=np.arange(1))
    assert found == [["low 1.5, high 3", "low 2, high missing"]]


def test_errors_of_a_group_are_a_bound():
    errors = np.array([[0.1, 0.02, 0.03], [0.2, 0.01, 0.01]])
    result = make(ONE_HOT, standard_error=errors, mean_standard_error=errors[0]).group(MEMBERS)
    assert np.allclose(result.standard_error, [[0.1, 0.05], [0.2, 0.02]])
    assert np.allclose(result.mean_standard_error, [0.1, 0.05])


def test_grouped_columns_find_the_column_they_were_made_of():
    raw = pd.DataFrame({"sex": ["f", "m"], "age": [31.0, 47.0]})
    result = make(("num__age", "cat__sex_f", "cat__sex_m"), data=raw)
    assert cells(result) == {}
    grouped = result.group({"age": ["num__age"], "sex": ["cat__sex_f", "cat__sex_m"]})
    assert cells(grouped) == {"sex": "f", "age": "31"}


def test_the_printed_order_is_that_of_the_mean():
    values = np.array([[0.5, 0.1], [-0.4, 0.1]])
    result = make(values.shape[1] * ("x",), data=None)
    result = replace(result, values=values, feature_names=("turning", "steady"))
    lines = str(result).splitlines()
    assert "mean value" in lines[2]
    assert lines[3].split() == ["steady", "0.1"]
    assert str(result.mean()).splitlines()[1].split() == ["steady", "0.1"]


def test_shap_draws_text():
    shap = pytest.importorskip("shap")
    explanation = make().attach_data(FRAME).to_shap()
    assert explanation.data.dtype == np.float64
    assert explanation.display_data[0].tolist() == [40.0, "Some-college"]
    shap.plots.violin(explanation, show=False)


def test_a_failed_save_names_the_file(tmp_path):
    with pytest.raises(OSError, match=r"result\.lmdi"):
        make().save(tmp_path / "absent" / "result.lmdi")


def test_fifty_values_are_many():
    assert too_many_values(49, 200) is None
    assert too_many_values(50, 200) == "has 50 different values, about 4 rows each"
