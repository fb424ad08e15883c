"""The displays as methods of a result: what ``result.plot`` is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from localmdi.plots.bars import BarDisplay, WaterfallDisplay
from localmdi.plots.display import check_local
from localmdi.plots.maps import ImageDisplay
from localmdi.plots.rows import BeeswarmDisplay, DependenceDisplay, HeatmapDisplay

if TYPE_CHECKING:
    from localmdi.results import GlobalImportance, LocalImportance
    from localmdi.typing import ArrayLike


class PlotMethods:
    """The displays as methods of a result; made by ``result.plot``.

    Options are those of the displays' ``from_result``. Global results have bars and images only.

    Parameters
    ----------
    result : LocalImportance or GlobalImportance
        What to draw.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from localmdi.results import LocalImportance
    >>> result = LocalImportance(np.array([[0.5, 0.25], [0.25, 0.0]]), 1.0, unit="bits",
    ...     residual=np.array([0.25, 0.75]), feature_names=("age", "dose"), n_trees=10)
    >>> display = result.plot.waterfall(row=1)
    >>> plt.close(display.figure_)
    """

    def __init__(self, result: LocalImportance | GlobalImportance) -> None:
        self._result: Any = result

    def bar(self, *, by: ArrayLike | None = None, **options: Any) -> BarDisplay:
        """Draw the importance of each feature; with `by`, a bar for each label of the rows.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> import numpy as np
        >>> from localmdi.results import LocalImportance
        >>> result = LocalImportance(np.array([[0.5, 0.25], [0.25, 0.0]]), unit="bits",
        ...                          feature_names=("age", "dose"), n_trees=10)
        >>> display = result.plot.bar(by=["ill", "well"], max_features=1)
        >>> plt.close(display.figure_)
        """
        if by is None:
            return BarDisplay.from_result(self._result, **options)
        check_local(self._result, "BarDisplay with by")
        return BarDisplay.from_result(self._result.mean(by=by), **options)

    def beeswarm(self, **options: Any) -> BeeswarmDisplay:
        """Draw every row as a dot.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> import numpy as np
        >>> from localmdi.results import LocalImportance
        >>> result = LocalImportance(np.array([[0.5, 0.25], [0.25, 0.0]]), unit="bits", n_trees=10,
        ...     feature_names=("age", "dose"), data=np.array([[61, 2], [30, 5]]))
        >>> display = result.plot.beeswarm()
        >>> plt.close(display.figure_)
        """
        return BeeswarmDisplay.from_result(self._result, **options)

    def dependence(self, feature: str | int, **options: Any) -> DependenceDisplay:
        """Draw the values of one feature over what the rows hold in it.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> import numpy as np
        >>> from localmdi.results import LocalImportance
        >>> result = LocalImportance(np.array([[0.5, 0.25], [0.25, 0.0]]), unit="bits", n_trees=10,
        ...     feature_names=("age", "dose"), data=np.array([[61, 2], [30, 5]]))
        >>> display = result.plot.dependence("age")
        >>> plt.close(display.figure_)
        """
        return DependenceDisplay.from_result(self._result, feature=feature, **options)

    def heatmap(self, **options: Any) -> HeatmapDisplay:
        """Draw all rows and features as a map.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> import numpy as np
        >>> from localmdi.results import LocalImportance
        >>> result = LocalImportance(np.array([[0.5, 0.25], [0.25, 0.0]]), unit="bits", n_trees=10,
        ...     feature_names=("age", "dose"), data=np.array([[61, 2], [30, 5]]))
        >>> display = result.plot.heatmap()
        >>> plt.close(display.figure_)
        """
        return HeatmapDisplay.from_result(self._result, **options)

    def image(self, **options: Any) -> ImageDisplay:
        """Draw features that are pixels in their places.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> import numpy as np
        >>> from localmdi.results import LocalImportance
        >>> result = LocalImportance(np.array([[0.5, 0.25], [0.25, 0.0]]), unit="bits", n_trees=10,
        ...     feature_names=("age", "dose"), data=np.array([[61, 2], [30, 5]]))
        >>> display = result.plot.image(row=0, shape=(1, 2))
        >>> plt.close(display.figure_)
        """
        return ImageDisplay.from_result(self._result, **options)

    def waterfall(self, row: int = 0, **options: Any) -> WaterfallDisplay:
        """Draw the story of one row, from the root to what is left.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> import numpy as np
        >>> from localmdi.results import LocalImportance
        >>> result = LocalImportance(np.array([[0.5, 0.25], [0.25, 0.0]]), unit="bits", n_trees=10,
        ...     feature_names=("age", "dose"), data=np.array([[61, 2], [30, 5]]))
        >>> display = result.plot.waterfall(1)
        >>> plt.close(display.figure_)
        """
        return WaterfallDisplay.from_result(self._result, row=row, **options)
