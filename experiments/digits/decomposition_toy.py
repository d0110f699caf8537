"""decomposition-toy: what each term of the bound does, seen in two dimensions by leaving it out (E19 Fig. 2).

With N items that are all in the batch q(z) is the exact mixture, and with z in two dimensions p(x) is an average over
many draws of the prior, so that the four terms of E19 Fig. 1 can be told apart:

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

ITEMS, KINDS = 96, 8  # points of the data, in so many heaps on a ring
NOISE = 0.15  # of p(x | z), about the spread of a heap
REACH = 2.5  # of what the model can make, along each axis
PRIOR_DRAWS = 1024  # for p(x)
TERMS = {
    "identifiable": "(1) log p(x | z) - log p(x)",
    "information": "(2) -I(x; z)",
    "data": "(3) -KL(q(x) || p(x))",
    "codes": "(4) -KL(q(z) || p(z))",
}
ROWS = {"all terms": "", **{f"without {title.split()[0]}": key for key, title in TERMS.items()}}


class Toy(nn.Module):
    """A code z ~ N(0, 1) in two dimensions and a point x in two; a small network each way."""

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
        """E[x | z], within a box around the data: without (3) it would flee from the data without end."""
        return REACH * torch.tanh(self.network(z))

    def log_marginal(self, x: Tensor) -> Tensor:
        """log p(x), (N,), by draws of the prior: log (1/K) Σ_k p(x | z_k)."""
        expected = self.decoder(torch.randn(PRIOR_DRAWS, 2))  # (K, 2)
        log_each = Normal(expected[:, None], NOISE).log_prob(x).sum(-1)  # (K, N)
        return log_each.logsumexp(0) - math.log(PRIOR_DRAWS)


def four_terms(model: Toy, x: Tensor) -> dict[str, Tensor]:
    """The terms of E19 Fig. 1 on the whole data, each a mean over items."""
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
    """The data: heaps on a ring, (N, 2), and the heap of each point."""
    made = torch.Generator().manual_seed(seed)
    kinds = torch.arange(ITEMS) % KINDS
    angles = kinds * (2 * math.pi / KINDS)
    centers = torch.stack([angles.cos(), angles.sin()], -1)
    return 1.5 * centers + NOISE * torch.randn(ITEMS, 2, generator=made), kinds


def train(without: str, steps: int, seed: int) -> tuple[Toy, Tensor, Tensor]:
    """A model trained without one term, with the data and its heaps."""
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
    """All terms, and each one left out."""
    steps = {"smoke": 3, "quick": 1500, "paper": 1500}[tier]
    return [{"row": row, "without": without, "steps": steps} for row, without in ROWS.items()]


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Train without a term, and measure all four."""
    model, x, _ = train(settings["without"], settings["steps"], seed)
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        measured = [four_terms(model, x) for _ in range(20)]
    return {name: sum(float(one[name]) for one in measured) / len(measured) for name in TERMS}


def plot(content: Mapping[str, Any], folder: Path) -> None:
    """Codes above, data below, a column for each objective; the terms of the first seed below its name."""
    figure = new_figure(2.3 * len(content["summary"]), 5.2)
    axes = figure.subplots(2, len(content["summary"]), squeeze=False)
    for column, found in enumerate(content["summary"]):
        case, numbers = found["case"], found["numbers"]
        model, x, kinds = train(case["without"], case["steps"], 0)
        told = "\n".join(f"({i}) {numbers[name]['values'][0]:.2f}" for i, name in enumerate(TERMS, 1))
        axes[0][column].set_title(f"{case['row']}\n{told}", fontsize=8, color=INK)
        _draw_codes(axes[0][column], model, x, kinds)
        _draw_data(axes[1][column], model, x, kinds)
    axes[0][0].set_ylabel("codes z", fontsize=8, color=INK)
    axes[1][0].set_ylabel("data x", fontsize=8, color=INK)
    save(figure, folder / "terms.png")


@torch.no_grad()
def _draw_codes(axes: Axes, model: Toy, x: Tensor, kinds: Tensor) -> None:
    """Each item's q(z | x) as an ellipse of one standard deviation, the prior's as circles."""
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
    """The items, over new ones drawn from the model."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        made = model.decoder(torch.randn(600, 2))
        made = made + NOISE * torch.randn_like(made)
    axes.scatter(made[:, 0], made[:, 1], s=4, color=FAINT, label="p(x)")
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
    about="What each of the four terms of the bound does: a model in two dimensions, trained without it.",
    cases=cases,
    run=run,
    measures=tuple(Measure(key, title, "nats", "higher") for key, title in TERMS.items()),
    budgets={"smoke": "seconds", "quick": "about 10 CPU seconds a row and seed", "paper": "the same"},
    plot=plot,
    captions={
        "terms": "The four terms of E19 Fig. 1, all and each left out. Above, q(z | x) of every item, one standard "
        "deviation wide, in the color of its heap, over circles of the prior; below, items in color over new ones "
        "drawn from the model, in gray. Numbers: the terms of the first seed, in nats."
    },
)
