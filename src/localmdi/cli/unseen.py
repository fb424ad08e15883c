"""Categories that a model has never met: a row that has one stops at the split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from localmdi.cli.kinds import Kind
from localmdi.cli.text import clean

if TYPE_CHECKING:
    from localmdi.cli.console import Console
    from localmdi.cli.plan import Plan
    from localmdi.forest import Forest

__all__ = ["UnseenCounter"]


class UnseenCounter:
    """Counts, column by column, the cells that no training row had.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from localmdi.cli.console import Console
    >>> from localmdi.cli.plan import Plan
    >>> from localmdi.trees import RandomizedForestClassifier
    >>> model = RandomizedForestClassifier(2).fit(pa.table({"sex": ["f", "m"]}), [0, 1])
    >>> counter = UnseenCounter(model.forest_, Plan(("sex",), {"sex": Kind.CATEGORY}))
    >>> counter.see(pa.table({"sex": ["f", "d"]}))
    >>> console = Console(quiet=True, as_json=False)
    >>> counter.tell(console)
    >>> console.notes[0][:60]
    "column 'sex' has 1 cell such as 'd' that the model has never"
    """

    def __init__(self, forest: Forest, plan: Plan) -> None:
        import pyarrow as pa

        categories = forest.categories or ()
        self._known = {
            name: pa.array(labels.tolist(), pa.string())
            for name, labels in zip(plan.columns, categories, strict=False)
            if labels is not None and plan.kinds[name] == Kind.CATEGORY
        }
        self._found: dict[str, tuple[int, Any]] = {}

    def see(self, frame: Any) -> None:
        """Look at the next rows."""
        import pyarrow.compute as pc

        for name, known in self._known.items():
            column = frame[name]
            unseen = column.filter(pc.invert(pc.is_in(column, value_set=known)))
            if len(unseen):
                n, example = self._found.get(name, (0, unseen[0].as_py()))
                self._found[name] = n + len(unseen), example

    def tell(self, console: Console) -> None:
        """Say what was found."""
        for name, (n, example) in self._found.items():
            what = "an empty one" if example is None else repr(clean(example))
            cells = "cell" if n == 1 else "cells"
            console.note(
                f"column {name!r:.80} has {n:,} {cells} such as {what} that the model has never "
                "seen: there a row goes no further down a tree."
            )
