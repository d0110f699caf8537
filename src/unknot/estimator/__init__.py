"""The estimator: StructuredVAE, with scikit-learn's habits."""

from unknot.estimator.structured_vae import StructuredVAE

__all__ = ["StructuredVAE"]
