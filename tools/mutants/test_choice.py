"""A plugin of pytest: run chosen tests only, in the order given, and note how long each took."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

TIME = "seconds of processor time"
CHOICE = "LOCALMDI_CHOSEN_TESTS"
_seconds: dict[str, float] = {}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    chosen = os.environ.get(CHOICE)
    if chosen:
        place = {test: at for at, test in enumerate(json.loads(Path(chosen).read_text("utf-8")))}
        # A file stands for all its tests.
        found = {item: place.get(item.nodeid, place.get(file_of(item.nodeid))) for item in items}
        items[:] = [item for item in items if found[item] is not None]
        items.sort(key=found.__getitem__)


def file_of(test: str) -> str:
    return test.partition("::")[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    # Of processor time, with that of child processes: a busy machine changes the clock's.
    begin = sum(os.times()[:4])
    try:
        return (yield)
    finally:
        item.user_properties.append((TIME, sum(os.times()[:4]) - begin))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if not report.skipped:
        _seconds[report.nodeid] = dict(report.user_properties).get(TIME, 0.0)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput") and not os.environ.get(CHOICE):
        Path("seconds.json").write_text(json.dumps(_seconds), encoding="utf-8")
