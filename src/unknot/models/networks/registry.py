"""The networks that a description can choose by name, and how a choice becomes a network."""

from __future__ import annotations

from collections.abc import Sequence

from unknot.models.by_name import Named, find_class
from unknot.models.networks.network import Decoder, Head, Place, Trunk
from unknot.models.node_spec import NodeSpec

TRUNKS: dict[str, str] = {
    "mlp": "unknot.models.networks.mlp:VectorTrunk",
    "conv": "unknot.models.networks.conv:ImageTrunk",
    "parts": "unknot.models.networks.parts:Parts",
}
"""Encoders of the data."""

HEADS: dict[str, str] = {
    "mlp": "unknot.models.networks.mlp:VectorHead",
    "bayes": "unknot.models.words.class_words:BayesHead",
    "topics": "unknot.models.words.topics:TopicHead",
}
"""Encoders of a latent node."""

DECODERS: dict[str, str] = {
    "mlp": "unknot.models.networks.mlp:VectorDecoder",
    "conv": "unknot.models.networks.conv:ImageDecoder",
    "class_words": "unknot.models.words.class_words:ClassWords",
    "topics": "unknot.models.words.topics:TopicDecoder",
}
"""Decoders of a latent node or of the data."""


def check_trunk(named: Named, node: NodeSpec, nodes: Sequence[NodeSpec], where: str) -> None:
    """Refuse an encoder of the data that does not exist, or options that it does not take."""
    find_class(named.name, TRUNKS, Trunk, where).check(named, node, nodes, where)


def check_decoder(named: Named, node: NodeSpec, nodes: Sequence[NodeSpec], where: str) -> None:
    """Refuse a decoder that does not exist, or options that it does not take."""
    find_class(named.name, DECODERS, Decoder, where).check(named, node, nodes, where)


def check_networks(node: NodeSpec, nodes: Sequence[NodeSpec]) -> None:
    """Refuse encoders and decoders of a node that do not exist, or options that they do not take."""
    where = f"model.nodes.{node.name}"
    if node.encoder is not None and node.is_data:
        check_trunk(node.encoder, node, nodes, f"{where}.encoder")
    elif node.encoder is not None:
        find_class(node.encoder.name, HEADS, Head, f"{where}.encoder").check(
            node.encoder, node, nodes, f"{where}.encoder"
        )
    if node.decoder is not None:
        check_decoder(node.decoder, node, nodes, f"{where}.decoder")


def build_trunk(named: Named, place: Place) -> Trunk:
    """Return the encoder of the data that a description chooses."""
    where = f"model.nodes.{place.node.name}.encoder"
    return find_class(named.name, TRUNKS, Trunk, where).build(place, **named.options)


def build_head(named: Named, place: Place) -> Head:
    """Return the encoder of a latent node that a description chooses."""
    where = f"model.nodes.{place.node.name}.encoder"
    return find_class(named.name, HEADS, Head, where).build(place, **named.options)


def build_decoder(named: Named, place: Place) -> Decoder:
    """Return the decoder of a node that a description chooses."""
    where = f"model.nodes.{place.node.name}.decoder"
    return find_class(named.name, DECODERS, Decoder, where).build(place, **named.options)
