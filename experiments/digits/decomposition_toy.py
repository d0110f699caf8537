"""decomposition-toy: the effect of each term of the bound, by removing it, in two dimensions (E19 Fig. 2).

With all N items in the batch q(z) is the exact mixture, and with z in two dimensions p(x) is estimated by samples of
the prior. The four terms of E19 Fig. 1 are

    (1) log p(x | z) - log p(x),   (2) log q(z) - log q(z | x),   (3) log p(x) - log q(x),   (4) log p(z) - log q(z).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.distributions import Normal
from torch.nn.functional import softplus

from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from unknot.core.trace import Trace
from unknot.objectives import decompose
from unknot.plots.style import COLORS, FAINT, INK, new_figure, quiet, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ITEMS, KINDS = 96, 8  # points, and clusters on a ring
NOISE = 0.15  # standard deviation of p(x | z), and of a cluster
REACH = 2.5  # the largest mean of p(x | z) along each axis
PRIOR_DRAWS = 1024  # for p(x)
TERMS = {
    "identifiable": "(1) log p(x | z) - log p(x)",
    "information": "(2) -I(x; z)",
    "data": "(3) -KL(q(x) || p(x))",
    "codes": "(4) -KL(q(z) || p(z))",
}
ROWS = {"all terms": "", **{f"without {title.split()[0]}": key for key, title in TERMS.items()}}


class Toy(nn.Module):
    """A code z ~ N(0, I) and a point x in two dimensions, with a small encoder and decoder."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 4))
        self.network = nn.Sequential(
            nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2)
        )

    def forward(self, x: Tensor) -> tuple[Trace, Trace]:
        q, p = Trace(), Trace()
        center, spread = self.encoder(x).chunk(2, -1)
        z = q.normal(center, softplus(spread) + 1e-3, name="z")
        p.normal(torch.zeros(2), 1.0, value=z, name="z")
        p.normal(self.decoder(z), NOISE, value=x, name="x")
        return q, p

    def decoder(self, z: Tensor) -> Tensor:
        """Return E[x | z], bounded: without term (3) it would diverge."""
        return REACH * torch.tanh(self.network(z))

    def log_marginal(self, x: Tensor) -> Tensor:
        """Return log p(x), (N,), by samples of the prior: log (1/K) Σ_k p(x | z_k)."""
        expected = self.decoder(torch.randn(PRIOR_DRAWS, 2))  # (K, 2)
        log_each = Normal(expected[:, None], NOISE).log_prob(x).sum(-1)  # (K, N)
        return log_each.logsumexp(0) - math.log(PRIOR_DRAWS)


def four_terms(model: Toy, x: Tensor) -> dict[str, Tensor]:
    """Return the terms of E19 Fig. 1 on the whole data, each a mean over items."""
    q, p = model(x)
    parts = decompose(q, p, len(x), estimator="exact", reference=q)
    log_p = model.log_marginal(x)
    return {
        "identifiable": (parts["reconstruction"] - log_p).mean(),
        "information": parts["mutual_information"].mean(),
        "data": log_p.mean() + math.log(len(x)),  # q(x) = 1/N at every item
        "codes": (parts["within"] + parts["marginal"] + parts["between"]).mean(),
    }


def points(seed: int) -> tuple[Tensor, Tensor]:
    """Return clusters on a ring, (N, 2), and the cluster of each point."""
    generator = torch.Generator().manual_seed(seed)
    kinds = torch.arange(ITEMS) % KINDS
    angles = kinds * (2 * math.pi / KINDS)
    centers = torch.stack([angles.cos(), angles.sin()], -1)
    return 1.5 * centers + NOISE * torch.randn(ITEMS, 2, generator=generator), kinds


def train(without: str, steps: int, seed: int) -> tuple[Toy, Tensor, Tensor]:
    """Train a model without one term; return it with the data and their clusters."""
    x, kinds = points(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Toy()
        optimizer = torch.optim.Adam(model.parameters(), 3e-3)
        for _ in range(steps):
            terms = four_terms(model, x)
            optimizer.zero_grad()
            (-sum(value for name, value in terms.items() if name != without)).backward()  # type: ignore[union-attr]
            optimizer.step()
    return model, x, kinds


def cases(tier: Tier) -> list[Case]:
    """Return all terms, and each one removed."""
    steps = {"smoke": 3, "quick": 1500}[tier]
    return [{"row": row, "without": without, "steps": steps} for row, without in ROWS.items()]


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Train without a term, and measure all four."""
    model, x, _ = train(settings["without"], settings["steps"], seed)
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        measured = [four_terms(model, x) for _ in range(20)]
    return {name: sum(float(one[name]) for one in measured) / len(measured) for name in TERMS}


def plot(content: Mapping[str, Any], folder: Path) -> None:
    """Draw codes above and data below, a column for each objective, with the terms of the first seed."""
    figure = new_figure(2.3 * len(content["summary"]), 5.2)
    axes = figure.subplots(2, len(content["summary"]), squeeze=False)
    for column, found in enumerate(content["summary"]):
        case, numbers = found["case"], found["numbers"]
        model, x, kinds = train(case["without"], case["steps"], 0)
        values = "\n".join(f"({i}) {numbers[name]['values'][0]:.2f}" for i, name in enumerate(TERMS, 1))
        axes[0][column].set_title(f"{case['row']}\n{values}", fontsize=8, color=INK)
        _draw_codes(axes[0][column], model, x, kinds)
        _draw_data(axes[1][column], model, x, kinds)
    axes[0][0].set_ylabel("codes z", fontsize=8, color=INK)
    axes[1][0].set_ylabel("data x", fontsize=8, color=INK)
    save(figure, folder / "terms.png")


@torch.no_grad()
def _draw_codes(axes: Axes, model: Toy, x: Tensor, kinds: Tensor) -> None:
    """Draw q(z | x) of each item as an ellipse of one standard deviation, and the prior as circles."""
    from matplotlib.patches import Circle, Ellipse

    center, spread = model.encoder(x).chunk(2, -1)
    for (a, b), (width, height), kind in zip(
        center.tolist(), (2 * (softplus(spread) + 1e-3)).tolist(), kinds.tolist(), strict=True
    ):
        axes.add_patch(Ellipse((a, b), width, height, facecolor=COLORS[kind], alpha=0.35, linewidth=0))
    for radius in (1, 2):
        axes.add_patch(Circle((0, 0), radius, fill=False, edgecolor=INK, linewidth=0.6, linestyle=":"))
    reach = max(2.6, float(center.abs().max()) * 1.1)
    _square(axes, reach)


@torch.no_grad()
def _draw_data(axes: Axes, model: Toy, x: Tensor, kinds: Tensor) -> None:
    """Draw the items over samples of the model."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        samples = model.decoder(torch.randn(600, 2))
        samples = samples + NOISE * torch.randn_like(samples)
    axes.scatter(samples[:, 0], samples[:, 1], s=4, color=FAINT, label="p(x)")
    axes.scatter(x[:, 0], x[:, 1], s=6, color=[COLORS[k] for k in kinds.tolist()])
    _square(axes, 1.1 * REACH)


def _square(axes: Axes, reach: float) -> None:
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    axes.set_aspect("equal")
    quiet(axes)


EXPERIMENT = Experiment(
    name="decomposition-toy",
    place="E19 Fig. 2",
    about="The effect of each of the four terms of the bound: a model in two dimensions, trained without it.",
    cases=cases,
    run=run,
    measures=tuple(Measure(key, title, "nats", "higher") for key, title in TERMS.items()),
    budgets={"smoke": "seconds", "quick": "about 10 CPU seconds a row and seed"},
    plot=plot,
    captions={
        "terms": "The four terms of E19 Fig. 1, all and each removed. Above: q(z | x) of every item, one standard "
        "deviation, in the color of its cluster, with circles of the prior. Below: items in color, samples of the "
        "model in gray. Numbers: the terms of the first seed, in nats."
    },
)
