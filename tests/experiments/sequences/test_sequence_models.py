"""Hidden Markov models as programs, and the two references without traces."""

from __future__ import annotations

import torch

from experiments.sequences.sequence_models import (
    HiddenMarkov,
    Quantities,
    by_all_paths,
    by_forward_backward,
    messages,
)
from experiments.sequences.sequences_exact import random_sequences
from unknot.core.tracing import trace
from unknot.objectives import importance_weighted


def test_both_references_agree() -> None:
    torch.manual_seed(0)
    model = HiddenMarkov(3, 5).double()
    x, lengths, labels = random_sequences(5, 3, 6)
    tables = model.tables(x, lengths)
    paths, passed = by_all_paths(*tables, labels, 2.0), by_forward_backward(*tables, labels, 2.0)
    for name in Quantities.__dataclass_fields__:
        torch.testing.assert_close(getattr(paths, name), getattr(passed, name))


def test_the_elbo_is_below_the_evidence_and_marginals_sum_to_one() -> None:
    torch.manual_seed(1)
    model = HiddenMarkov(2, 5).double()
    x, lengths, labels = random_sequences(7, 2, 6)
    found = by_forward_backward(*model.tables(x, lengths), torch.full_like(labels, -1), 1.0)
    assert (found.elbo < found.evidence).all()
    torch.testing.assert_close(found.marginals.sum(-1), torch.ones(6, 7, dtype=torch.float64))


def test_a_sequence_of_one_step_has_no_pairs() -> None:
    model = HiddenMarkov(3, 5).double()
    x, lengths, _ = random_sequences(1, 3, 4)
    log_total, first, pairs = messages(model.tables(x, lengths)[0])
    assert pairs.shape == (4, 0, 3, 3)
    torch.testing.assert_close(first.sum(-1), torch.ones(4, dtype=torch.float64))
    assert log_total.shape == (4,)


def test_the_evidence_does_not_depend_on_the_encoder() -> None:
    torch.manual_seed(2)
    model = HiddenMarkov(3, 5).double()
    x, _, labels = random_sequences(6, 3, 4)
    evidence = []
    for encoder in (model.encode, model.propose):
        q = trace(encoder, x, labels)
        evidence.append(importance_weighted(q, trace(model.decode, x, q))["evidence"])
    torch.testing.assert_close(*evidence)
