"""What is read from a run: inputs, programs on their own, and what the run leaves behind."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import unknot
from tests.graph.graph_programs import PIXELS, B, Decoder, Encoder, arrows, data, faces_decoder, network, read


def test_data_is_named_by_the_site_that_observes_it() -> None:
    def encoder(pixels: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        q.normal(network(2, pixels), 1.0, name="z")
        return q

    def decoder(pixels: Tensor, q: unknot.Trace) -> unknot.Trace:
        p = unknot.Trace()
        z = p.normal(torch.zeros(2), 1.0, value=q["z"], name="z")
        p.bernoulli(logits=network(PIXELS, z), value=(pixels > 0.5).float(), name="image")
        return p

    graph = unknot.graph(encoder, decoder, data())
    assert graph.edges == [("z", "image", "generative"), ("image", "z", "recognition")]
    assert [node.name for node in graph.nodes] == ["z", "image"]


def test_inputs_that_no_site_observes_are_nodes_of_their_own() -> None:
    def encoder(x: Tensor, condition: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        q.normal(network(2, x, condition), 1.0, name="z")
        return q

    graph = unknot.graph(encoder, lambda x, q: faces_like(x, q), (data(), torch.ones(B, 1)))
    assert arrows(graph, "recognition") == {"x -> z", "condition -> z"}
    assert graph["condition"] == ("condition", "observed", "input", ("recognition",), None)


def faces_like(x: Tensor, q: unknot.Trace) -> unknot.Trace:
    p = unknot.Trace()
    z = p.normal(torch.zeros(2), 1.0, value=q["z"], name="z")
    p.normal(network(PIXELS, z), 1.0, value=x, name="x")
    return p


def test_decoder_alone() -> None:
    graph = unknot.graph(None, faces_decoder)
    assert arrows(graph, "generative") == {"s -> x", "i -> x", "l -> x", "r -> x"}
    assert {node.kind for node in graph.nodes} == {"latent"}
    assert unknot.graph(None, faces_decoder, data())["x"].kind == "observed"


def test_encoder_alone() -> None:
    graph = unknot.graph(Encoder(), None, data())
    assert arrows(graph, "recognition") == {"x -> y", "x -> z", "y -> z"}
    assert arrows(graph, "generative") == set()


@pytest.mark.filterwarnings(
    "ignore:.*script_method.*:DeprecationWarning"
)  # torch's own, on loading its compiler
def test_compiled_programs_are_read_as_they_were_written() -> None:
    graph = unknot.graph(torch.compile(Encoder()), torch.compile(Decoder()), data())
    assert arrows(graph, "generative") == {"y -> x", "z -> x"}
    assert arrows(unknot.graph(torch.compile(Encoder()), None, data()), "recognition") == {
        *("x -> y", "x -> z", "y -> z"),
    }


def test_nothing_is_disturbed() -> None:
    encoder, decoder, x = Encoder(), Decoder(), data()
    decoder.eval()
    modules = nn.ModuleList([encoder, decoder])
    before = {name: value.clone() for name, value in modules.state_dict().items()}
    modes = [module.training for module in modules.modules()]
    torch.manual_seed(3)
    state, held = torch.get_rng_state(), x.clone()
    unknot.graph(encoder, decoder, x)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(x, held)
    assert all(torch.equal(value, before[name]) for name, value in modules.state_dict().items())
    assert all(parameter.grad is None for parameter in modules.parameters())
    assert [module.training for module in modules.modules()] == modes


def test_buffers_of_modules_behind_functions_are_put_back() -> None:
    norm = nn.BatchNorm1d(PIXELS)
    counter = torch.zeros(2, 3)

    def encoder(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        counter[0, 1:] += 1
        q.normal(norm(x), 1.0, name="z")
        return q

    unknot.graph(encoder, None, data())
    assert counter.count_nonzero() == 0
    assert norm.running_mean is not None
    assert norm.running_mean.count_nonzero() == 0
    assert norm.num_batches_tracked == 0
    encoder(data())  # and the program does write to them
    assert counter.count_nonzero() == 2
    assert norm.num_batches_tracked == 1


def test_replaced_buffers_are_put_back() -> None:
    class Model(nn.Module):
        mean: Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mean", torch.zeros(PIXELS))

        def encode(self, x: Tensor) -> unknot.Trace:
            q = unknot.Trace()
            self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
            q.normal(x - self.mean, 1.0, name="z")
            return q

    model = Model()
    held = model.mean
    assert arrows(unknot.graph(model.encode, None, data()), "recognition") == {"x -> z"}
    assert model.mean is held


def test_state_is_put_back_when_the_program_fails() -> None:
    counter = torch.zeros(1)

    def encoder(x: Tensor) -> unknot.Trace:
        counter.add_(1)
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        unknot.graph(encoder, None, data())
    assert counter.item() == 0
    q = unknot.Trace()
    assert q.normal(torch.zeros(B), 1.0, name="z") is q["z"].value  # nobody listens any more


@pytest.mark.parametrize("way", ["cat and split", "slices of a buffer"])
def test_variables_that_only_shared_a_tensor_are_no_parents(way: str) -> None:
    """Two heads read two halves of what two sites wrote side by side."""

    def encoder(x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        one, two = q.normal(network(2, x), 1.0, name="one"), q.normal(network(2, x), 1.0, name="two")
        if way == "cat and split":
            left, right = torch.cat([one, two], -1).split(2, -1)
        else:
            both = torch.zeros(len(x), 4)
            both[:, :2], both[:, 2:] = one, two
            left, right = both[:, :2], both[:, 2:]
        q.normal(network(2, left), 1.0, name="left")
        q.normal(network(2, right), 1.0, name="right")
        return q

    assert read(encoder) == {"x -> one", "x -> two", "one -> left", "two -> right"}
