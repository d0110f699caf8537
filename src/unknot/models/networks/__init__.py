"""Networks by name: each class declares its options, and is built for its place in a model."""

from unknot.models.networks.network import Decoder, Head, Place, Trunk

__all__ = ["Decoder", "Head", "Place", "Trunk"]
