"""Pictures of results, in the style of scikit-learn's displays: they carry what they show."""

from localmdi.plots.agreement import AgreementDisplay
from localmdi.plots.bars import BarDisplay, WaterfallDisplay
from localmdi.plots.maps import ImageDisplay, InteractionDisplay, SegmentDisplay
from localmdi.plots.rows import BeeswarmDisplay, DependenceDisplay, HeatmapDisplay

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
