"""Forests of our own: grown in the core, the training rows' importances added up on the way."""

from localmdi.trees.classifier import RandomizedForestClassifier
from localmdi.trees.regressor import RandomizedForestRegressor

__all__ = ["RandomizedForestClassifier", "RandomizedForestRegressor"]
