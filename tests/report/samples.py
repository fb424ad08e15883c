"""Results to report on, and the parts of a written page."""

import base64
import json
import re

import numpy as np

from localmdi.results import LocalImportance

HOSTILE = (
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 2</script>",
    "<img src=x onerror='window.hacked = 3'>",
    "\"quotes\" and 'quotes' and `quotes`",
    "${window.hacked = 4} $& $1",
    "{{ 7 * 7 }} {% raw %}",
    "a.b[0]\\c",
    "__proto__",
    "constructor",
    "datum.value",
    "<!--",
    "&lt;b&gt; &amp;",
    "שלום עולם",
    "\u202eright to left",
    "nul\x00 and \x1b[31m",
    "lone \ud800 surrogate",
    "two\nlines\u2028and more",
    "日本語 🎉",
    "javascript:window.hacked=5",
    "",
)


def make_result(n_rows=40, n_features=6, *, seed=0, **fields):
    """A result whose values add up; some of them are negative."""
    rng = np.random.default_rng(seed)
    values = rng.normal(0.06, 0.05, (n_rows, n_features))
    baseline = max(1.0, float(values.sum(axis=1).max()))
    settings = {
        "residual": baseline - values.sum(axis=1),
        "unit": "bits",
        "feature_names": tuple(f"feature {i}" for i in range(n_features)),
        "n_trees": 100,
        "data": np.round(rng.normal(size=(n_rows, n_features)), 4),
    }
    return LocalImportance(values, baseline, **(settings | fields))


def written_data(page):
    """What the page's script reads."""
    text = re.search(r'<script type="application/json" id="report-data">(.*?)</script>', page)[1]
    return json.loads(text)


def unpack(packed):
    return np.frombuffer(base64.b64decode(packed["data"]), dtype="<" + packed["type"])


def unpack_values(rows):
    """The importances of the page, rows by features."""
    steps = unpack(rows["values"]["steps"]).reshape(len(rows["names"]), -1).T.astype(float)
    steps[steps == -32768] = np.nan
    return steps * rows["values"]["scale"]


def unpack_column(column):
    if "array" in column:
        return unpack(column["array"]).tolist()
    levels = [*column["levels"]]
    codes = unpack(column["codes"]).tolist()
    return [levels[code] if code < len(levels) else None for code in codes]
