"""Pictures of results, in the style of scikit-learn's displays: they carry what they show."""

from localmdi.plots.agreement import AgreementDisplay
from localmdi.plots.bar import BarDisplay
from localmdi.plots.beeswarm import BeeswarmDisplay
from localmdi.plots.dependence import DependenceDisplay
from localmdi.plots.heatmap import HeatmapDisplay
from localmdi.plots.image import ImageDisplay
from localmdi.plots.interaction import InteractionDisplay
from localmdi.plots.segments import SegmentDisplay
from localmdi.plots.waterfall import WaterfallDisplay

__all__ = [
    "AgreementDisplay",
    "BarDisplay",
    "BeeswarmDisplay",
    "DependenceDisplay",
    "HeatmapDisplay",
    "ImageDisplay",
    "InteractionDisplay",
    "SegmentDisplay",
    "WaterfallDisplay",
]
