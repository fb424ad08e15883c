"""scikit-learn's models, and any that show the same public attributes, as forests."""

from localmdi.adapters.scikit_learn.estimator import adapt_estimator, check_fitted

__all__ = ["adapt_estimator", "check_fitted"]
