"""The proof that hidden labels cannot reach training: corrupt them all, train, compare weights bit by bit."""

import dataclasses
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.label_budget import LabelBudget
from unknot.data.label_rule import per
from unknot.data.sets.computed import load_digits

STEPS = 50
Prepare = Callable[[LabelBudget, Dataset], Dataset]


@pytest.fixture(scope="module")
def data() -> Dataset:
    """The embedded digits, with a continuous label beside: the darkness and the width of the stroke."""
    digits = load_digits().split("train")
    x = digits.x.float().flatten(1) / 255
    ink = Factor("ink", "continuous", torch.stack([x.mean(1), (x > 0.5).float().mean(1)], -1))
    return dataclasses.replace(digits, factors={**digits.factors, "ink": ink})


@pytest.fixture(scope="module")
def budget(data: Dataset) -> LabelBudget:
    return LabelBudget.draw(data, 0, digit=100, ink=per("digit", 6))


def weights_after_training(data: Dataset) -> list[Tensor]:
    """An auto-encoder with two supervised heads, 50 steps of Adam, everything seeded."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        body, decode = nn.Sequential(nn.Linear(64, 32), nn.Tanh()), nn.Linear(32, 64)
        digit_head, ink_head = nn.Linear(32, 10), nn.Linear(32, 2)
        net = nn.ModuleList([body, decode, digit_head, ink_head])
        optimizer = torch.optim.Adam(net.parameters(), 1e-2)
        step = 0
        while step < STEPS:
            for batch in data.batches(64, seed=step, labeled_share=0.3):
                x = batch.x.flatten(1)
                h = body(x)
                loss = F.mse_loss(decode(h), x)
                digit, ink = batch.known["digit"], batch.known["ink"]
                if digit.any():
                    loss = loss + F.cross_entropy(digit_head(h[digit]), batch["digit"][digit])
                if ink.any():
                    loss = loss + F.mse_loss(ink_head(h[ink]), batch["ink"][ink])
                # Unknown labels are in the batch too, as -1 and NaN: were they others, this would show.
                loss = loss + 1e-3 * body[0].bias.sum() * batch["digit"].sum() * batch["ink"].nansum()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                step += 1
                if step == STEPS:
                    break
        return [p.detach().clone() for p in net.parameters()]


def corrupt(data: Dataset, budget: LabelBudget, how: str) -> Dataset:
    """The data set with every label outside the budget made wrong."""
    factors = {}
    for name, factor in data.factors.items():
        hidden = ~torch.isin(data.ids, torch.tensor(budget.items[name]))
        values = factor.values.clone()
        if how == "shuffled":
            rows = hidden.nonzero()[:, 0]
            values[rows] = values[rows[torch.randperm(len(rows), generator=torch.Generator().manual_seed(1))]]
        elif how == "99":
            values[hidden] = 99
        else:
            values[hidden] = torch.nan if factor.kind == "continuous" else -7
        factors[name] = dataclasses.replace(factor, values=values)
    return dataclasses.replace(data, factors=factors)


def same_weights(data: Dataset, budget: LabelBudget, how: str, prepare: Prepare) -> bool:
    clean = weights_after_training(prepare(budget, data))
    dirty = weights_after_training(prepare(budget, corrupt(data, budget, how)))
    return all(torch.equal(a, b) for a, b in zip(clean, dirty, strict=True))


@pytest.mark.parametrize("how", ["shuffled", "99", "nan"])
def test_hidden_labels_have_no_influence_on_training(data, budget, how):
    assert same_weights(data, budget, how, LabelBudget.apply)


def test_the_proof_can_fail(data, budget):
    """One hidden label let through, of 1337: the weights differ."""

    def leaky(budget: LabelBudget, data: Dataset) -> Dataset:
        hidden = sorted(set(data.ids.tolist()) - set(budget.items["digit"]))
        wider = {**budget.items, "digit": (*budget.items["digit"], hidden[0])}
        return dataclasses.replace(budget, items=wider).apply(data)

    assert not same_weights(data, budget, "shuffled", leaky)


def test_training_does_use_the_labels_of_the_budget(data, budget):
    """Without this, a model that ignores all labels would pass the proof."""
    clean = weights_after_training(budget.apply(data))
    nothing = LabelBudget.draw(data, 0, digit=100, ink=0)
    assert not all(
        torch.equal(a, b) for a, b in zip(clean, weights_after_training(nothing.apply(data)), strict=True)
    )
