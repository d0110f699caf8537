"""Every estimator of the inference marginal against the truth: the rows that the tests check.

Five kinds of check, each a row that says what was measured and what it should be:

* **double loop**: log q^ of every node of a tree, against a loop over pairs with the weights written out;
* **finite data set**: N items, so that q(z) is a mixture that can be summed. The mean of q^(z_b) / q(z_b) over
  batches drawn without replacement is 1 for an unbiased estimator; log q^ - log q shows what Jensen's inequality
  takes, and how it shrinks as B grows;
* **the column mistake**: weights that put 1/N in column 0 instead of on the diagonal, as widespread code does.
  It must come out biased: the check is worth nothing if it cannot see it;
* **linear Gaussian**: q(z | x) = N(Wx, σ²), x ~ N(0, I): information and total correlation in closed form;
* **dependent encoders**: variables read from others, see :mod:`tests.conformance.dependent_estimators`.

The sum of the terms is the ELBO whatever q^ is, so it cannot replace any of these.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.distributions import Normal

from tests.conformance.dependent_estimators import dependent_encoders
from tests.conformance.row import ALLOWED, Row, summary
from unknot.core.relaxed import Concrete
from unknot.core.trace import Trace
from unknot.objectives.diagnostics import information
from unknot.objectives.marginal.inference_marginal import InferenceMarginal
from unknot.objectives.marginal.log_mixture import log_mixture
from unknot.objectives.marginal.weights import ESTIMATORS, Mixture, mixture, stratified

COLUMN_MISTAKE = "column 0 (wrong)"


def conformance() -> list[Row]:
    """All rows; deterministic, a few seconds."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return [*double_loop(), *finite_data_sets(), *linear_gaussian(), *dependent_encoders()]


def double_loop(batch: int = 5, size: int = 40) -> list[Row]:
    """Normal(3) and Concrete(4) under a tree of two groups, each log q^ by a loop."""
    logits, loc, scale = _random(batch, 4), _random(batch, 3), _random(batch, 3).exp()
    q = Trace()
    q.concrete(2 * logits, 0.66, name="y")
    q.normal(2 * loc, scale, name="z")
    rows = []
    for estimator in ESTIMATORS:
        n = batch if estimator == "exact" else size
        tree = InferenceMarginal(n, estimator, parents={"y": [], "z": []}).tree(
            q, {"content": ["y"], "style": ["z"]}
        )
        found = [part.log_q for part in (tree, *tree.parts.values())]
        worst = max(float((a - b).abs().max()) for a, b in zip(found, _loop(q, estimator, n), strict=True))
        rows.append(Row("double loop: log q^", estimator, n, batch, worst, 0.0, 0.0, "0", worst < 1e-10))
    return rows


def _loop(q: Trace, estimator: str, n: int) -> list[Tensor]:
    """log q^(y, z), log q^(y) and log q^(z), pair by pair with weights from their formulas."""
    y, z = q["y"], q["z"]
    batch = len(z.value)
    other = {"stratified": (n - 1) / (n * (batch - 1)), "naive": 1 / batch, "exact": 1 / n}
    weight = other.get(estimator, 1 / (n * batch))
    totals = torch.zeros(3, batch, dtype=torch.float64)
    for b in range(batch):
        for c in range(batch):
            w = 1 / n if estimator == "stratified" and b == c else weight
            content = Concrete(y.dist.logits[c], y.dist.temperature).log_density(y.unbounded[b]).exp()
            style = Normal(z.dist.loc[c], z.dist.scale[c]).log_prob(z.value[b]).sum().exp()
            totals[:, b] += w * torch.stack([content * style, content, style])
    return list(totals.log())


def finite_data_sets(trials: int = 2000) -> list[Row]:
    """q^ / q - 1 and log q^ - log q over random batches of finite data sets, against B and N."""
    rows = []
    for n, batch, further in ((16, 4, 0), (16, 8, 0), (16, 16, 0), (64, 8, 0), (64, 8, 24), (64, 32, 0)):
        joint, log_q = _batches(n, batch, further, trials)
        for name, weight in _weights(n, batch, further).items():
            constant = (
                math.log(n) if name == "minibatch_weighted" else 0.0
            )  # it is low by log N: see its note
            gap = log_mixture(joint, weight) + constant - log_q  # (trials, B)
            rows.append(_ratio_row(name, n, batch, gap.exp().mean(-1) - 1))
            if name.startswith(("stratified", "exact")):
                rows.append(_log_row(name, n, batch, gap.mean(-1)))
    return rows


def _weights(n: int, batch: int, further: int) -> dict[str, Mixture]:
    """The estimators that apply: with a reference batch the stratified one, with all items also the exact one."""
    own = torch.arange(batch)
    if further:
        return {f"stratified, {further} more": mixture("stratified", n, batch + further, own)}
    weights = {name: mixture(name, n, batch, own) for name in ESTIMATORS if name != "exact" or batch == n}
    if batch < n:  # else all weights are 1/N, wherever they stand
        weights[COLUMN_MISTAKE] = _column_mistake(n, batch)
    return weights


def _batches(n: int, batch: int, further: int, trials: int) -> tuple[Tensor, Tensor]:
    """log q(z_b | x_c) over batches, (trials, B, C), and log q(z_b), (trials, B), for n items on a line.

    The columns are the batch and ``further`` items.
    """
    loc = torch.linspace(-3, 3, n, dtype=torch.float64)[:, None].expand(n, 2)
    scale = 0.3 + 0.2 * torch.rand(n, 1, dtype=torch.float64)
    columns = torch.rand(trials, n).argsort(-1)[:, : batch + further]
    chosen = columns[:, :batch]
    z = loc[chosen] + scale[chosen] * torch.randn(trials, batch, 2, dtype=torch.float64)
    logs = Normal(loc, scale).log_prob(z[:, :, None]).sum(-1)  # (trials, B, n)
    joint = logs.gather(-1, columns[:, None, :].expand(-1, batch, -1))
    return joint, torch.logsumexp(logs, -1) - math.log(n)


def _column_mistake(n: int, batch: int) -> Mixture:
    """Stratified weights with the own weight in column 0 of every row."""
    return stratified(n, batch, torch.zeros(batch, dtype=torch.long))


def _ratio_row(name: str, n: int, batch: int, ratio: Tensor) -> Row:
    mean, error, spread = summary(ratio)
    if name.startswith(("stratified", "exact")) or batch == n:
        expected, ok = "0: unbiased", abs(mean) <= ALLOWED * error + 1e-9
    else:
        found = "above 0: biased" if name != COLUMN_MISTAKE else "above 0: mistake found"
        expected, ok = found, mean > ALLOWED * error
    return Row("finite data set: q^/q - 1", name, n, batch, mean, error, spread, expected, ok)


def _log_row(name: str, n: int, batch: int, gap: Tensor) -> Row:
    mean, error, spread = summary(gap)
    expected, ok = "0 or below (Jensen)", mean <= ALLOWED * error + 1e-9
    return Row("finite data set: log q^ - log q", name, n, batch, mean, error, spread, expected, ok)


def linear_gaussian(batch: int = 1024, batches: int = 8, size: int = 1_000_000) -> list[Row]:
    """I(x; z), I(x; z_d) and TC(z) of a linear Gaussian encoder, in nats."""
    weight, sigma = _random(3, 4), 0.8
    covariance = weight @ weight.mT + sigma**2 * torch.eye(3, dtype=torch.float64)
    variance = covariance.diagonal()
    log_det = torch.logdet(covariance)
    truth = {
        "I(x; z)": 0.5 * (log_det - 3 * math.log(sigma**2)),
        "I(x; z_0)": 0.5 * (variance[0].log() - math.log(sigma**2)),
        "TC(z)": 0.5 * (variance.log().sum() - log_det),
    }
    found: dict[str, list[Tensor]] = {name: [] for name in truth}
    for _ in range(batches):
        q = Trace()
        q.normal(_random(batch, 4) @ weight.mT, sigma, name="z")
        one = information(q, size)
        for name, value in zip(
            truth, (one.joint, one.dimensions["z"][0], one.total_correlation), strict=True
        ):
            found[name].append(value)
    rows = []
    for name, values in found.items():
        mean, error, spread = summary(torch.stack(values) - truth[name])
        # log q^ is low by O(1/B): a fiftieth of a nat is granted on top of the standard errors
        ok = abs(mean) <= ALLOWED * error + 0.02
        expected = f"0 (truth {truth[name]:.3f})"
        rows.append(
            Row(f"linear Gaussian: {name}", "stratified", size, batch, mean, error, spread, expected, ok)
        )
    return rows


def _random(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)
