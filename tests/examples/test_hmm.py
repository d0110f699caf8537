"""The HMM against a forward algorithm, item by item, and against all paths."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

import unknot
from tests.examples.loading import load

recipe = load("recipes/hmm")
K, SYMBOLS, STEPS = 3, 4, 4


def forward_algorithm(model, x: Tensor, labels: Tensor) -> Tensor:
    """log p(x, known states) of one sequence."""
    start, transition, emission = (
        logits.log_softmax(-1) for logits in (model.start, model.transition, model.emission)
    )
    total = start
    for t in range(len(x)):
        if t > 0:
            total = (total[:, None] + transition).logsumexp(0)
        total = total + emission[:, x[t]]
        if labels[t] >= 0:
            allowed = torch.arange(K) == labels[t]
            total = torch.where(allowed, total, -torch.inf)
    return total.logsumexp(0)


def log_path(model, x: Tensor, path: tuple[int, ...]) -> float:
    total = model.start.log_softmax(-1)[path[0]]
    for t in range(len(x)):
        if t > 0:
            total = total + model.transition[path[t - 1]].log_softmax(-1)[path[t]]
        total = total + model.emission[path[t]].log_softmax(-1)[x[t]]
    return total.item()


def data(items: int) -> tuple[Tensor, Tensor, Tensor]:
    """Symbols, lengths and labels; some labels are at steps beyond the end, and must not count."""
    x = torch.randint(SYMBOLS, (items, STEPS))
    labels = torch.where(torch.rand(items, STEPS) < 0.3, torch.randint(K, (items, STEPS)), -1)
    labels[0], labels[-1, -1] = -1, 1
    return x, STEPS - torch.arange(items) % STEPS, labels


@pytest.mark.parametrize("items", [1, K, STEPS, 6])
def test_the_evidence_and_its_gradient_are_those_of_the_forward_algorithm(items: int, double: None) -> None:
    model, (x, lengths, labels) = recipe.HiddenMarkovModel(K, SYMBOLS), data(items)
    terms = unknot.objectives.importance_weighted(*model.traces(x, lengths, labels), alpha=0.0)
    rows = zip(x, lengths, labels, strict=True)
    expected = torch.stack([forward_algorithm(model, one[:n], known[:n]) for one, n, known in rows])
    torch.testing.assert_close(terms["evidence"], expected)
    parameters = list(model.parameters())
    found = torch.autograd.grad(terms.total, parameters)
    for gradient, twin in zip(found, torch.autograd.grad(expected.mean(), parameters), strict=True):
        torch.testing.assert_close(gradient, twin)


@torch.no_grad()
def test_marginals_and_the_most_likely_path_are_those_of_all_paths(double: None) -> None:
    model, (x, lengths, labels) = recipe.HiddenMarkovModel(K, SYMBOLS), data(5)
    traces = model.traces(x, lengths, labels)
    marginals, mode = unknot.infer_discrete(*traces), unknot.infer_discrete(*traces, "mode")
    for i in range(5):
        n = int(lengths[i])
        paths = [
            path
            for path in itertools.product(range(K), repeat=n)
            if all(labels[i, t] in (-1, path[t]) for t in range(n))
        ]
        weights = torch.tensor([log_path(model, x[i, :n], path) for path in paths]).softmax(0)
        best = paths[int(weights.argmax())]
        for t in range(n):
            exact = torch.stack([weights[[path[t] == k for path in paths]].sum() for k in range(K)])
            torch.testing.assert_close(marginals[f"step[{t}].k"][i], exact)
            assert mode[f"step[{t}].k"][i] == best[t]
