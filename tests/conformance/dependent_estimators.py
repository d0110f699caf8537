"""Estimates of q(z) for encoders with dependent variables, against the truth.

* **finite parent**: y of two classes, z read from it, all N items as the batch. q(z), q(y) and q(y, z) are sums that
  can be written out, and must come out exactly;
* **the shortcut**: z alone scored at the row's y, Σ_c w_bc q(z_b | x_c, y_b), as for the joint. It must be seen to be
  wrong;
* **continuous parent**: a ~ N(x, s), b ~ N(2a, t), items on a line, batches drawn without replacement. Both q(b | x)
  and q(a, b | x) are normal, so q(b) and q(a, b) are known mixtures. q^ must be unbiased; log q^ shows what
  Jensen's inequality takes, by batch size, pairs and draws.
"""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor
from torch.distributions import Normal

from tests.conformance.row import ALLOWED, Row, summary
from unknot.core.trace import Trace
from unknot.objectives.marginal.encoder_parents import Given
from unknot.objectives.marginal.inference_marginal import InferenceMarginal

SPREADS = 0.5, 0.6  # of a given x, of b given a
SETTINGS = ((8, 4, 4), (32, 4, 4), (32, 16, 8), (32, 31, 32))  # B, pairs, draws


def dependent_encoders(trials: int = 40) -> list[Row]:
    """All rows."""
    return [*finite_parent(), *continuous_parent(trials)]


def finite_parent(items: int = 16) -> list[Row]:
    """Every node of the tree over y and z, and z by the shortcut."""
    x = torch.linspace(-2, 2, items, dtype=torch.float64)

    def encode(given: Given) -> Trace:
        q = Trace()
        logits = torch.stack([-x, x], -1)
        y = q.categorical(logits=logits, value=given["y"], name="y", gradient="score_function")
        q.normal(x + 3.0 * y, 0.5 + 0.0 * x, name="z", event_dims=0)
        return q

    q = encode(Given())
    tree = InferenceMarginal(items, encoder=encode).tree(q, ["y", "z"])
    y, z = q["y"].value, q["z"].value
    log_pi = torch.stack([-x, x], -1).log_softmax(-1)  # (C, 2)
    at = Normal(x[:, None] + 3.0 * torch.arange(2), 0.5).log_prob(z[:, None, None])  # (B, C, 2)
    own = at.gather(-1, y[:, None, None].expand(-1, items, 1)).squeeze(-1)  # at the row's class
    truth = {
        "q(y, z)": (tree.log_q, own + log_pi[:, y].mT),
        "q(y)": (tree.parts["y"].log_q, log_pi[:, y].mT),
        "q(z)": (tree.parts["z"].log_q, (at + log_pi).logsumexp(-1)),
    }
    rows = []
    for name, (found, pairs) in truth.items():
        worst = float((found - _mean(pairs)).abs().max())
        rows.append(
            Row(f"finite parent: log {name}", "exact sums", items, items, worst, 0.0, 0.0, "0", worst < 1e-10)
        )
    mean, error, spread = summary(_mean(own) - _mean(truth["q(z)"][1]))
    wrong = ("shortcut (wrong)", items, items, mean, error, spread, "above 0: mistake found", mean > 0.1)
    return [*rows, Row("finite parent: log q(z)", *wrong)]


def continuous_parent(trials: int, items: int = 64) -> list[Row]:
    """q^ / q - 1 and log q^ - log q of b alone and of a and b together."""
    rows = []
    for batch, pairs, draws in SETTINGS:
        found = log_gaps(trials, items, batch, pairs, draws)
        rows += _rows("q(b)", f"{draws} draws", items, batch, found["q(b)"])
        rows += _rows("q(a, b)", f"{pairs} pairs", items, batch, found["q(a, b)"])
    return rows


def log_gaps(trials: int, items: int, batch: int, pairs: int, draws: int) -> dict[str, Tensor]:
    """log q^ - log q of a, of b and of both, (trials, B) each, and b by the shortcut: at its own draw of a."""
    x = torch.linspace(-3, 3, items, dtype=torch.float64)
    found: dict[str, list[Tensor]] = {"q(a)": [], "q(b)": [], "q(a, b)": [], "shortcut": []}
    for _ in range(trials):
        encode = partial(chain, x=x[torch.randperm(items)[:batch]])
        how = {"encoder": encode, "parents": {"b": ["a"]}, "pairs": pairs, "draws": draws}
        with torch.no_grad():
            q = encode(Given())
            tree = InferenceMarginal(items, **how).tree(q, ["a", "b"])  # type: ignore[arg-type]
        a, b = q["a"].value, q["b"].value
        alone = _mean(_alone(x).log_prob(b[:, None]))
        found["q(a)"].append(tree.parts["a"].log_q - _mean(_first(x).log_prob(a[:, None])))
        found["q(b)"].append(tree.parts["b"].log_q - alone)
        found["q(a, b)"].append(tree.log_q - _mean(_both(x, a, b)))
        found["shortcut"].append(q["b"].log_prob - alone)
    return {name: torch.stack(values) for name, values in found.items()}


def chain(given: Given, x: Tensor) -> Trace:
    """a from x, b from a."""
    q = Trace()
    spreads = torch.tensor(SPREADS, dtype=x.dtype)
    a = q.normal(x, spreads[0], value=given["a"], name="a", event_dims=0)
    q.normal(2 * a, spreads[1], value=given["b"], name="b", event_dims=0)
    return q


def _first(x: Tensor) -> Normal:
    return Normal(x, SPREADS[0])


def _alone(x: Tensor) -> Normal:
    return Normal(2 * x, math.hypot(2 * SPREADS[0], SPREADS[1]))


def _both(x: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """log q(a_b, b_b | x_n): (B, N)."""
    return _first(x).log_prob(a[:, None]) + Normal(2 * a, SPREADS[1]).log_prob(b)[:, None]


def _mean(logs: Tensor) -> Tensor:
    """log of the mean over items, the last axis."""
    return logs.logsumexp(-1) - math.log(logs.shape[-1])


def _rows(name: str, label: str, items: int, batch: int, gap: Tensor) -> list[Row]:
    ratio, error, spread = summary(gap.exp().mean(-1) - 1)
    fair = abs(ratio) <= ALLOWED * error
    bias, log_error, log_spread = summary(gap.mean(-1))
    low = bias <= ALLOWED * log_error
    return [
        Row(
            f"continuous parent: {name}^/q - 1",
            label,
            items,
            batch,
            ratio,
            error,
            spread,
            "0: unbiased",
            fair,
        ),
        Row(
            f"continuous parent: log {name}^ - log q",
            label,
            items,
            batch,
            bias,
            log_error,
            log_spread,
            "0 or below (Jensen)",
            low,
        ),
    ]
