"""scikit-learn's models, and any that show the same public attributes, as forests."""

from localmdi.adapters.scikit_learn.estimator import adapt_estimator, check_fitted
from localmdi.adapters.scikit_learn.kinds import Kind, kind_of

__all__ = ["Kind", "adapt_estimator", "check_fitted", "kind_of"]
