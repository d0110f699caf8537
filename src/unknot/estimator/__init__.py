"""The estimators: StructuredVAE with named factors, and its two forms for scikit-learn's tools."""

from unknot.estimator.structured_vae import StructuredVAE
from unknot.estimator.supervised import StructuredClassifier, StructuredRegressor

__all__ = ["StructuredClassifier", "StructuredRegressor", "StructuredVAE"]
