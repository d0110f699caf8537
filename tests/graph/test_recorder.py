"""What is noted of a site: its parents, what it observes, its kind and family."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import unknot
from tests.graph.graph_programs import (
    PIXELS,
    B,
    Decoder,
    Encoder,
    arrows,
    data,
    network,
    read,
)


def test_distributions_built_of_others() -> None:
    def encoder(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        td = torch.distributions
        y = q.normal(network(2, x), 1.0, name="y")
        w = q.variable(td.Independent(td.LogNormal(y, 1.0), 1), name="w")
        shifted = td.transforms.AffineTransform(w, 1.0)
        q.variable(td.TransformedDistribution(td.Normal(torch.zeros(B, 2), 1.0), [shifted]), name="v")
        return q

    assert read(encoder) == {"x -> y", "y -> w", "w -> v"}


@pytest.mark.parametrize(
    "labels",
    [torch.arange(B), unknot.partial(torch.arange(B)), unknot.partial(torch.tensor([-1, 2, 3, -1])), None],
    ids=["all", "partial-all", "partial", "none"],
)
def test_labels_add_no_edges(labels: object) -> None:
    graph = unknot.graph(Encoder(), Decoder(), data(), y_values=labels)
    assert arrows(graph, "recognition") == {"x -> y", "x -> z", "y -> z"}
    kinds = {Tensor: "observed", unknot.Partial: "partly observed", type(None): "latent"}
    assert graph["y"].kind == kinds[type(labels)]


def test_labels_and_data_may_be_columns_of_one_table() -> None:
    table = torch.cat([data(), torch.zeros(B, 1)], -1)
    graph = unknot.graph(Encoder(), Decoder(), (table[:, :PIXELS], table[:, -1].long()))
    assert arrows(graph, "generative") == {"y -> x", "z -> x"}
    assert arrows(graph, "recognition") == {"x -> y", "x -> z", "y -> z"}


def test_included_models_keep_their_edges_under_new_names() -> None:
    def part(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        y = q.normal(network(2, x), 1.0, name="y")
        q.normal(network(2, y), 1.0, name="z")
        q.log_term(y.sum(-1), name="bonus")
        return q

    def encoder(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        count = q.categorical(logits=network(3, x), name="K")
        for k in range(2):
            with q.where(k < count):
                q.include(part(x), "digit", k)
        q.normal(part(x)["z"].value, 1.0, name="w")  # this one is included nowhere: a step from x to w
        return q

    graph = unknot.graph(encoder, None, data())
    masks = {f"K -> digit[k].{name}" for name in ("y", "z", "bonus")}
    inside = {"x -> digit[k].y", "digit[k].y -> digit[k].z", "digit[k].y -> digit[k].bonus"}
    assert arrows(graph, "recognition") == masks | inside | {"x -> K", "x -> w"}
    assert graph["digit[k].bonus"].kind == "log-term"
