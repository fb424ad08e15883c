"""What a real notebook kernel is sent: a bar of progress, and results and estimators as tables."""

import pytest

CODE = """
import numpy as np
import localmdi as lm
from sklearn.ensemble import RandomForestClassifier

X = np.random.default_rng(0).normal(size=(300, 4))
model = RandomForestClassifier(10, random_state=0).fit(X, X[:, 0] > 0)
result = lm.local_mdi(model, X, progress=True)
forest = lm.RandomizedForestClassifier(10, random_state=0).fit(X, X[:, 0] > 0)
"""


@pytest.fixture(scope="module")
def sent():
    """Run cells in a kernel and return, for each, what it sends to the page."""
    reason = "notebooks have an environment of their own; run make test-dashboards"
    pytest.importorskip("ipywidgets", reason=reason)
    manager = pytest.importorskip("jupyter_client.manager", reason=reason)
    kernel, client = manager.start_new_kernel(kernel_name="python3")

    def run(code):
        messages = []
        client.execute(code)
        while True:
            message = client.get_iopub_msg(timeout=60)
            messages.append((message["msg_type"], message["content"]))
            if message["content"].get("execution_state") == "idle":
                assert not [content for kind, content in messages if kind == "error"]
                return messages

    yield {cell: run(cell) for cell in (CODE, "result", "forest")}
    client.stop_channels()
    kernel.shutdown_kernel(now=True)


def html_of(messages):
    return "".join(
        content["data"]["text/html"] for kind, content in messages if kind == "execute_result"
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_progress_is_a_widget(sent):
    shown = [content["data"] for kind, content in sent[CODE] if kind == "display_data"]
    assert len(shown) == 1
    assert "application/vnd.jupyter.widget-view+json" in shown[0]
    # Nothing is written below the cell: no text bar, no warning.
    assert not [content for kind, content in sent[CODE] if kind == "stream"]


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_tables_with_bars(sent):
    assert "300 rows, 4 features, 10 trees, in gini" in html_of(sent["result"])
    html = html_of(sent["forest"])
    assert "sk-container" in html
    assert "300 rows, 4 features, 10 trees, in bits" in html
