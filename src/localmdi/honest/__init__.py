"""What a forest really knew: values of rows by the trees that have not seen them.

Data go one way: a model, which trees saw which rows, sums and predictions, credits, a result.
"""

from localmdi.honest.api import honest_global_mdi, honest_mdi
from localmdi.honest.folds import HonestFolds, honest_folds

__all__ = ["HonestFolds", "honest_folds", "honest_global_mdi", "honest_mdi"]
