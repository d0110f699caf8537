"""Words from classes: every shortcut against the array of all items, classes and words."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.distributions import Multinomial

from tests.models.words.test_counts import counts
from unknot.data import from_arrays
from unknot.models import GraphicalModel, node
from unknot.models.words.class_words import ClassLogits, ClassWords, log_shares_of
from unknot.objectives import semi_supervised


def slow(logits: Tensor, x: Tensor) -> Tensor:
    """torch's own multinomial, document by document."""
    return torch.stack(
        [Multinomial(int(d.sum()), logits=row).log_prob(d) for d, row in zip(x, logits, strict=True)]
    )


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_scores_are_those_of_the_sum_of_logits(sparse: bool, shared: bool) -> None:
    x = counts()
    torch.manual_seed(1)
    rest = torch.randn(7) if shared else torch.randn(5, 7)
    weights = 3 * torch.randn(4, 7)
    y = (
        torch.eye(4).reshape(4, 1, 1, 4).expand(4, 1, 5, 4)
    )  # all classes of all items, as enumeration has them
    found = ClassLogits(rest, y, weights).log_likelihood(x.to_sparse() if sparse else x)
    assert found.shape == (4, 1, 5)
    for c in range(4):
        torch.testing.assert_close(found[c, 0], slow((rest + weights[c]).expand(5, 7), x))


def test_shares_of_classes_follow_bayes() -> None:
    x = counts()
    words = ClassWords("y", 3, {}, 7, (), 0.0)
    torch.nn.init.normal_(words.weights)
    scores = words.at_prior_mean().class_log_likelihoods(x.to_sparse())
    by_hand = torch.stack([slow(words.weights[c].expand(5, 7), x) for c in range(3)], 1)
    torch.testing.assert_close(scores.softmax(-1), by_hand.softmax(-1))


def test_the_prior_is_a_number_of_common_words() -> None:
    """With m words of the corpus in every class and no document of its own, a class's best shares are the corpus's."""
    data = from_arrays(torch.randint(0, 5, (20, 6)))
    words = ClassWords("y", 2, {}, 6, (), prior_words=50.0)
    assert words.log_prior() is None
    words.prepare(data, torch.nn.Identity())
    torch.testing.assert_close(words.common.softmax(-1), log_shares_of(data.batches(1000)).exp())
    torch.nn.init.zeros_(words.weights)
    prior = words.log_prior()
    assert prior is not None
    shares = words.common.detach().softmax(-1)
    torch.testing.assert_close(prior, 50 / 20 * 2 * (shares * shares.log()).sum())
    gradient = torch.autograd.grad(prior, words.weights)[0]
    torch.testing.assert_close(gradient, torch.zeros_like(gradient), atol=1e-6, rtol=0)


def test_training_begins_where_naive_bayes_with_em_ends() -> None:
    """A slow EM in loops, over the same labels and the same prior."""
    x, labels = counts(12, 6), [0, 1, -1, 0, -1, -1, 1, -1, -1, -1, 0, -1]
    data = from_arrays(x.int(), {"y": labels}, classes={"y": [0, 1]})
    words = ClassWords("y", 2, {}, 6, (), prior_words=3.0)
    words.prepare(data, torch.nn.Identity())
    common = (x.sum(0) + 0.5) / (x.sum(0) + 0.5).sum()
    shares = [[float(label == c) for c in (0, 1)] for label in labels]
    for sweep in range(16):
        found = []
        for c in (0, 1):
            own = [
                3.0 * float(common[w]) + sum(shares[d][c] * float(x[d, w]) for d in range(12))
                for w in range(6)
            ]
            found.append([one / sum(own) for one in own])
        if sweep == 15:
            break
        for d, label in enumerate(labels):
            scores = [math.exp(sum(float(x[d, w]) * math.log(found[c][w]) for w in range(6))) for c in (0, 1)]
            if label < 0:
                shares[d] = [score / sum(scores) for score in scores]
    torch.testing.assert_close(
        (words.common + words.weights).softmax(-1), torch.tensor(found), atol=1e-4, rtol=1e-4
    )


def model(style: bool) -> GraphicalModel:
    rest = [node("z", "normal", 2, inferred_from=["x"])] if style else []
    return GraphicalModel(
        [
            node("y", "categorical", 3, inferred_from=["x"], labels=True, encoder="bayes"),
            *rest,
            node("x", "multinomial", parents=["y", *(["z"] if style else [])]),
        ],
        shape=(7,),
    )


def test_without_a_style_the_bound_is_exact() -> None:
    """Eq. 8 with y enumerated and recognized by Bayes' rule is the log likelihood of naive Bayes."""
    one, x = model(style=False), counts()
    words = one.generation["x"]
    assert isinstance(words, ClassWords)
    torch.nn.init.normal_(words.weights)
    labels = torch.tensor([0, -1, 2, -1, -1])
    q = one.encode(x.to_sparse(), {"y": labels})
    terms = semi_supervised(q, one.decode(x.to_sparse(), q), alpha=0.0)
    joint = (
        torch.stack([slow(words.weights[c].expand(5, 7), x) for c in range(3)], 1) - torch.tensor(3.0).log()
    )
    by_hand = torch.where(
        labels >= 0, joint.gather(1, labels.clamp(min=0)[:, None])[:, 0], joint.logsumexp(1)
    )
    torch.testing.assert_close(terms.per_item, by_hand)


def test_with_a_style_all_parts_run_and_generate() -> None:
    one, x = model(style=True), counts()
    labels = {"y": torch.tensor([0, -1, 2, -1, -1])}
    for given in (x, x.to_sparse()):
        q = one.encode(given, labels)
        terms = semi_supervised(q, one.decode(given, q))
        assert terms.per_item.shape == (5,)
        terms.loss.backward()
    assert one.expected_data(q).shape[-1] == 7
    torch.testing.assert_close(one.expected_data(q).sum(-1), torch.ones(one.expected_data(q).shape[:-1]))
