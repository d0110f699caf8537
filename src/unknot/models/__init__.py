"""Models: descriptions as data, compiled to Trace programs, and the networks inside them."""

from unknot.models.graphical_model import GraphicalModel
from unknot.models.node_spec import NodeSpec, node

__all__ = ["GraphicalModel", "NodeSpec", "node"]
