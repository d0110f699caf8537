"""sequences-exact: objectives of hidden Markov models against sums over all paths and forward-backward, in float64.

The states are enumerated in a markov loop, so that every expectation is an exact sum. Sequences have different
lengths, and 30 % of the steps have labels. Every number is a largest absolute difference.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from experiments.sequences.sequence_models import HiddenMarkov, Quantities, by_all_paths, by_forward_backward
from unknot.core.tracing import trace
from unknot.objectives import elbo, importance_weighted, semi_supervised
from unknot.objectives.infer_discrete import infer_discrete

SYMBOLS, ALPHA, LABELED = 5, 2.0, 0.3
UNIT = 1e-12  # of the numbers in the table
REFERENCES = {"all paths": by_all_paths, "forward-backward": by_forward_backward}


def cases(tier: Tier) -> list[Case]:
    """Short sequences against all paths, long ones against forward-backward."""
    short = [(steps, states) for states in (2, 3) for steps in (1, 2, 4, 6)]
    long = [(12, 3)] if tier == "smoke" else [(60, 3), (1000, 3)]
    return [
        {
            "row": f"T = {steps}, K = {states}, {reference}",
            "reference": reference,
            "steps": steps,
            "states": states,
            "items": 16 if steps < 1000 else 4,
        }
        for reference, sizes in (("all paths", short), ("forward-backward", long))
        for steps, states in sizes
    ]


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Largest absolute differences between objectives of traces and the reference, of values and of gradients."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return differences(
                settings["reference"], settings["steps"], settings["states"], settings["items"]
            )
    finally:
        torch.set_default_dtype(before)


def differences(reference: str, steps: int, states: int, items: int) -> Numbers:
    """One random model and random sequences, in the default dtype."""
    model = HiddenMarkov(states, SYMBOLS)
    x, lengths, labels = random_sequences(steps, states, items)
    expected = REFERENCES[reference](*model.tables(x, lengths), labels, ALPHA)
    found = by_traces(model, x, lengths, labels)
    alive = torch.arange(steps) < lengths[:, None]
    gaps = {
        "evidence": found.evidence - expected.evidence,
        "elbo": found.elbo - expected.elbo,
        "eq8": found.eq8 - expected.eq8,
        "marginals": (found.marginals - expected.marginals)[alive],
        "gradients": torch.cat(
            [a - b for a, b in zip(gradients(model, found), gradients(model, expected), strict=True)]
        ),
    }
    return {name: float(gap.detach().abs().max()) / UNIT for name, gap in gaps.items()}


def random_sequences(steps: int, states: int, items: int) -> tuple[Tensor, Tensor, Tensor]:
    """Symbols ``(B, T)``, lengths ``(B,)`` of which the first is T, and labels ``(B, T)``, -1 where unknown."""
    x = torch.randint(0, SYMBOLS, (items, steps))
    lengths = torch.randint(1, steps + 1, (items,))
    lengths[0] = steps
    known = (torch.rand(items, steps) < LABELED) & (torch.arange(steps) < lengths[:, None])
    return x, lengths, torch.where(known, torch.randint(0, states, (items, steps)), -1)


def by_traces(model: HiddenMarkov, x: Tensor, lengths: Tensor, labels: Tensor) -> Quantities:
    """The same quantities as the references', by objectives of two traces."""
    q = trace(model.encode, x, None, lengths)
    bound = elbo(q, trace(model.decode, x, q, lengths)).per_item
    q = trace(model.encode, x, labels, lengths)
    p = trace(model.decode, x, q, lengths)
    marginals = infer_discrete(q, p, "marginals")
    return Quantities(
        evidence=importance_weighted(q, p)["evidence"],
        elbo=bound,
        eq8=semi_supervised(q, p, alpha=ALPHA).per_item,
        marginals=torch.stack([marginals[f"step[{t}].state"] for t in range(x.shape[1])], 1),
    )


def gradients(model: HiddenMarkov, found: Quantities) -> list[Tensor]:
    """Gradients of the three objectives with respect to every parameter, flat."""
    parameters = list(model.parameters())
    slopes = []
    for objective in (found.evidence, found.elbo, found.eq8):
        each = torch.autograd.grad(objective.mean(), parameters, retain_graph=True, materialize_grads=True)
        slopes += [one.flatten() for one in each]
    return slopes


EXPERIMENT = Experiment(
    name="sequences-exact",
    place="Sums over enumerated sites of a sequence, in float64",
    about="Objectives of hidden Markov models, computed from traces, equal independent sums over their states.",
    cases=cases,
    run=run,
    measures=(
        Measure("evidence", "log p(x, y)", "1e-12 nats", decimals=4),
        Measure("elbo", "ELBO", "1e-12 nats", decimals=4),
        Measure("eq8", "S17 Eq. 8", "1e-12 nats", decimals=4),
        Measure("marginals", "p(z_t | x, y)", "1e-12", decimals=4),
        Measure("gradients", "gradients", "1e-12", decimals=4),
    ),
    budgets={"smoke": "seconds", "quick": "about a CPU minute per seed", "paper": "the same"},
)
