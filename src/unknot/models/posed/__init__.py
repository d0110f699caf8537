"""One thing on an empty page: what it is, and its pose."""

from unknot.models.posed.posed import Posed

__all__ = ["Posed"]
