"""Estimators of log q(z) against double loops and against exact mixtures over tiny data sets."""

import math
from itertools import combinations

import pytest
import torch
from torch import Tensor
from torch.distributions import Categorical, Normal

from tests.references.pairwise import mixture_loop, weight_loop
from unknot.errors import SpecError
from unknot.objectives.marginal.marginal_tree import Marginal, marginal_tree
from unknot.objectives.marginal.pairwise import Pairs, distribution_pairs
from unknot.objectives.marginal.weights import Mixture, exact, mixture, stratified

ITEMS, BATCH = 6, 3
GROUPS = {"content": ["y"], "style": {"shape": ["z", "v"], "rest": ["w"]}}


class Encoder:
    """A tiny data set whose encoder is a table: two Normals, a scalar Normal and a categorical per item."""

    def __init__(self) -> None:
        generator = torch.Generator().manual_seed(11)

        def draw(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.float64)

        self.parameters = {
            "z": (draw(ITEMS, 2), 0.7 + draw(ITEMS, 2).abs()),
            "v": (draw(ITEMS, 3), 0.7 + draw(ITEMS, 3).abs()),
            "w": (draw(ITEMS), 0.7 + draw(ITEMS).abs()),
        }
        self.logits = draw(ITEMS, 4)
        self.values = {
            name: loc + scale * torch.randn(loc.shape, generator=generator, dtype=torch.float64)
            for name, (loc, scale) in self.parameters.items()
        }
        self.labels = torch.multinomial(self.logits.softmax(-1), 1, generator=generator).squeeze(-1)

    def variables(self, rows: list[int], columns: list[int], weights: Mixture) -> dict[str, Pairs]:
        """One draw per row, under the parameters of the columns' items."""
        variables = {
            name: distribution_pairs(Normal(loc[columns], scale[columns]), self.values[name][rows], weights)
            for name, (loc, scale) in self.parameters.items()
        }
        label = Categorical(logits=self.logits[columns])
        return variables | {"y": distribution_pairs(label, self.labels[rows], weights)}

    def leaf_logs(self, n: int, m: int) -> dict[str, Tensor]:
        """log q(z_n | x_m) of every variable and leaf, one pair."""
        logs = {
            name: Normal(loc[m], scale[m]).log_prob(self.values[name][n]).reshape(-1)
            for name, (loc, scale) in self.parameters.items()
        }
        return logs | {"y": self.logits[m].log_softmax(-1)[self.labels[n]].reshape(1)}

    def estimate(self, rows: list[int], columns: list[int], weights: Mixture) -> Marginal:
        return marginal_tree(self.variables(rows, columns, weights), GROUPS, weights)


@pytest.fixture(name="encoder", scope="module")
def fixture_encoder() -> Encoder:
    return Encoder()


def nodes(tree: Marginal) -> dict[str, Tensor]:
    """Every estimate of the tree by name, (B,) each."""
    style = tree.parts["style"]
    shape = style.parts["shape"]
    named = {"all": tree.log_q, "style": style.log_q, "shape": shape.log_q, "y": tree.parts["content"].log_q}
    for name, leaf in (*shape.parts.items(), *style.parts["rest"].parts.items()):
        named[name] = leaf.log_q
        assert leaf.dimensions is not None
        named |= {f"{name}{d}": leaf.dimensions[..., d] for d in range(leaf.dimensions.shape[-1])}
    return named


# Which leaves each node multiplies, written out by hand.
MEMBERS: dict[str, list[tuple[str, int]]] = {
    **{f"z{d}": [("z", d)] for d in range(2)},
    **{f"v{d}": [("v", d)] for d in range(3)},
    "z": [("z", 0), ("z", 1)],
    "v": [("v", 0), ("v", 1), ("v", 2)],
    "w": [("w", 0)],
    "w0": [("w", 0)],
    "y": [("y", 0)],
    "shape": [("z", 0), ("z", 1), ("v", 0), ("v", 1), ("v", 2)],
    "style": [("z", 0), ("z", 1), ("v", 0), ("v", 1), ("v", 2), ("w", 0)],
    "all": [("z", 0), ("z", 1), ("v", 0), ("v", 1), ("v", 2), ("w", 0), ("y", 0)],
}


def loop(
    encoder: Encoder, node: str, rows: list[int], columns: list[int], weights: list[list[float]]
) -> Tensor:
    logs = torch.zeros(len(rows), len(columns), dtype=torch.float64)
    for i, n in enumerate(rows):
        for j, m in enumerate(columns):
            for name, d in MEMBERS[node]:
                logs[i, j] += encoder.leaf_logs(n, m)[name][d]
    return mixture_loop(logs, weights)


@pytest.mark.parametrize("estimator", ["stratified", "minibatch_weighted", "naive", "exact"])
def test_every_node_of_the_tree_agrees_with_the_double_loop(encoder: Encoder, estimator: str) -> None:
    rows = [4, 0, 2]
    columns = list(range(ITEMS)) if estimator == "exact" else [*rows, 5]
    own = torch.arange(len(rows))
    tree = encoder.estimate(rows, columns, mixture(estimator, ITEMS, len(columns), own))
    weights = weight_loop(estimator, ITEMS, len(columns), own.tolist())
    estimates = nodes(tree)
    assert estimates.keys() == MEMBERS.keys()
    for node, estimate in estimates.items():
        torch.testing.assert_close(estimate, loop(encoder, node, rows, columns, weights), msg=node)


def expectation(encoder: Encoder, estimator: str, columns_per_row: int, own: Tensor) -> dict[str, Tensor]:
    """E q^(z_n) over every batch that holds item n, enumerated: (ITEMS,) per node.

    The batch's items come first and are the rows; further columns are a reference batch.
    """
    sums: dict[str, Tensor] = {node: torch.zeros(ITEMS, dtype=torch.float64) for node in MEMBERS}
    count = torch.zeros(ITEMS)
    weights = mixture(estimator, ITEMS, columns_per_row, own)
    for batch in combinations(range(ITEMS), BATCH):
        rest = [n for n in range(ITEMS) if n not in batch]
        for reference in combinations(rest, columns_per_row - BATCH):
            estimates = nodes(encoder.estimate(list(batch), [*batch, *reference], weights))
            for node, estimate in estimates.items():
                sums[node].index_add_(0, torch.tensor(batch), estimate.exp())
            count.index_add_(0, torch.tensor(batch), torch.ones(BATCH))
    return {node: total / count for node, total in sums.items()}


def truth(encoder: Encoder) -> dict[str, Tensor]:
    """q(z_n), the mixture over the whole data set."""
    everything = list(range(ITEMS))
    uniform = [[1 / ITEMS] * ITEMS for _ in everything]
    return {node: loop(encoder, node, everything, everything, uniform).exp() for node in MEMBERS}


@pytest.mark.parametrize("columns", [BATCH, BATCH + 2], ids=["batch", "reference batch"])
def test_the_stratified_estimate_is_unbiased_at_every_node(encoder: Encoder, columns: int) -> None:
    exact_q = truth(encoder)
    for node, mean in expectation(encoder, "stratified", columns, torch.arange(BATCH)).items():
        torch.testing.assert_close(mean, exact_q[node], msg=node)


def test_filling_column_zero_instead_of_the_diagonal_is_caught(encoder: Encoder) -> None:
    mistaken = expectation(encoder, "stratified", BATCH, torch.zeros(BATCH, dtype=torch.long))
    exact_q = truth(encoder)
    for node in MEMBERS:
        assert not torch.allclose(mistaken[node], exact_q[node], rtol=0.05), node


def test_naive_and_weighted_estimates_have_the_expectation_they_document(encoder: Encoder) -> None:
    exact_q = truth(encoder)
    own = torch.arange(BATCH)
    naive_mean = expectation(encoder, "naive", BATCH, own)
    weighted_mean = expectation(encoder, "minibatch_weighted", BATCH, own)
    for node in MEMBERS:
        rows = [[1.0 if n == m else 0.0 for m in range(ITEMS)] for n in range(ITEMS)]
        everything = list(range(ITEMS))
        own_q = loop(encoder, node, everything, everything, rows).exp()
        others = (ITEMS * exact_q[node] - own_q) / (ITEMS - 1)
        expected = own_q / BATCH + (BATCH - 1) / BATCH * others
        torch.testing.assert_close(naive_mean[node], expected)
        torch.testing.assert_close(weighted_mean[node], expected / ITEMS)


def test_the_log_is_biased_downwards_and_less_so_for_larger_batches(encoder: Encoder) -> None:
    everything = list(range(ITEMS))
    target = nodes(encoder.estimate(everything, everything, exact(ITEMS, ITEMS)))["all"][0].item()
    biases = []
    for size in range(2, ITEMS + 1):
        weights = stratified(ITEMS, size, torch.zeros(1, dtype=torch.long))
        batches = [[0, *others] for others in combinations(range(1, ITEMS), size - 1)]
        logs = [encoder.estimate([0], batch, weights).log_q.item() for batch in batches]
        biases.append(math.fsum(logs) / len(logs) - target)
    assert biases == sorted(biases)
    assert biases[0] < -0.01
    assert biases[-1] == pytest.approx(0.0, abs=1e-12)


def test_total_correlation_of_a_node(encoder: Encoder) -> None:
    rows = [1, 3, 5]
    tree = encoder.estimate(rows, rows, stratified(ITEMS, BATCH, torch.arange(BATCH)))
    named = nodes(tree)
    torch.testing.assert_close(tree.sum_of_parts, named["y"] + named["style"])
    shape = tree.parts["style"].parts["shape"]
    torch.testing.assert_close(shape.sum_of_parts, named["z"] + named["v"])
    torch.testing.assert_close(shape.parts["z"].sum_of_parts, named["z0"] + named["z1"])


@pytest.mark.parametrize(
    ("groups", "word"),
    [
        ({"a": ["y", "z", "v"]}, "left out: \\['w'\\]"),
        ({"a": ["y", "z", "v", "w", "y"]}, "repeated: \\['y'\\]"),
        ({"a": ["y", "z"], "b": ["v", "w", "x"]}, "unknown: \\['x'\\]"),
        ({"a": ["y", "z", "v", "w"], "b": []}, "without variables"),
    ],
)
def test_groups_that_do_not_cover_the_variables_once_are_refused(
    encoder: Encoder, groups: dict[str, list[str]], word: str
) -> None:
    weights = exact(ITEMS, ITEMS)
    variables = encoder.variables([0], list(range(ITEMS)), weights)
    with pytest.raises(SpecError, match=word):
        marginal_tree(variables, groups, weights)
