"""Unknot: structured disentangled representations with partial labels."""

__version__ = "0.1.0"
