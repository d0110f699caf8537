"""asking: the error after labels that were asked for, at random, by entropy, or by what they tell."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from unknot.estimator import StructuredVAE
from unknot.plots.style import COLORS, INK, new_figure, quiet, save

SETS = ("wine", "digits 8x8", "vehicle", "newsgroups, sciences")
ROWS = {"ask": "ask", "entropy": "entropy", "random": "random"}
MOST = 400  # items that labels may be asked of
SHARES = (0.04, 0.08, 0.12, 0.16, 0.2)  # of them that are labeled, from the start to the last round


def cases(tier: Tier) -> list[Case]:
    """Return every way to choose on every set."""
    smoke = tier == "smoke"
    sets, steps = (SETS[:1], 3) if smoke else (SETS, 150 if tier == "quick" else 500)
    return [
        {"row": row, "column": name, "data": name, "method": method, "steps": steps}
        for method, row in ROWS.items()
        for name in sets
    ]


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Return the test errors after each round of labels; the first labels are drawn at random, one per class first."""
    x, y, x_test, y_test = read_rows(settings["data"], seed)
    rng = np.random.default_rng([seed, 1])
    shown = np.zeros(len(y), dtype=bool)
    order = rng.permutation(len(y))
    firsts = [int(order[y[order] == k][0]) for k in np.unique(y)]
    start = max(round(SHARES[0] * len(y)), len(firsts))
    shown[firsts] = True
    shown[[row for row in order if not shown[row]][: start - len(firsts)]] = True
    vae = _fitted(x, y, shown, settings, seed)
    errors: Numbers = {"error_0": _error(vae, x_test, y_test)}
    for step, share in enumerate(SHARES[1:], 1):
        pool = np.flatnonzero(~shown)
        more = max(round(share * len(y)) - int(shown.sum()), 1)
        shown[pool[_chosen(settings["method"], vae, x[pool], more, rng)]] = True
        vae = _fitted(x, y, shown, settings, seed)
        errors[f"error_{step}"] = _error(vae, x_test, y_test)
    return {"mean": float(np.mean(list(errors.values())[1:])), **errors}


def _fitted(x: np.ndarray, y: np.ndarray, shown: np.ndarray, settings: Settings, seed: int) -> StructuredVAE:
    vae = StructuredVAE(
        {"kind": "ensemble", "folds": 2},
        cross_fit=0,
        steps=settings["steps"],
        seed=seed,
        verdict=False,
        verbose=False,
    )
    return vae.fit(x, label=np.where(shown, y, -1))


def _error(vae: StructuredVAE, x: np.ndarray, y: np.ndarray) -> float:
    return 100 * float((vae.predict(x) != y).mean())


def _chosen(method: str, vae: StructuredVAE, x: np.ndarray, count: int, rng: np.random.Generator) -> Any:
    if method == "random":
        return rng.permutation(len(x))[:count]
    if method == "ask":
        return vae.ask(x, count)
    p = vae.predict_proba(x)
    return np.argsort((p * np.log(np.clip(p, 1e-12, None))).sum(1))[:count]


def read_rows(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return items to ask for and items to test on, divided by the seed; posts as 30 components of tf-idf."""
    from sklearn import datasets

    if name in ("wine", "digits 8x8"):
        x, y = (datasets.load_wine if name == "wine" else datasets.load_digits)(return_X_y=True)
    elif name == "vehicle":
        from experiments.own_data.read_tables import read_table

        table = read_table("keel/vehicle")
        x, y = table.x.to_numpy(np.float32), table.y
    else:
        x, y = _sciences()
    order = np.random.default_rng(seed).permutation(len(y))
    tested = min(500, len(y) // 2)
    test, rows = order[:tested], order[tested : tested + MOST]
    return x[rows].astype(np.float32), y[rows], x[test].astype(np.float32), y[test]


def _sciences() -> tuple[np.ndarray, np.ndarray]:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer

    from unknot.data import load
    from unknot.data.sparse_counts import SparseCounts

    data = load("20news")
    groups = data.factor("group")
    assert isinstance(data.x, SparseCounts)
    assert groups.classes is not None
    kept = [k for k, one in enumerate(groups.classes) if one.startswith("sci.")]
    y = groups.values.numpy()
    rows = np.flatnonzero(np.isin(y, kept))[:1500]
    weights = TfidfTransformer(sublinear_tf=True).fit_transform(data.x.to_scipy().tocsr()[rows])
    return TruncatedSVD(30, random_state=0).fit_transform(weights), np.searchsorted(kept, y[rows])


def plot(content: Mapping[str, Any], folder: Path) -> None:
    """Draw the error against the share of labels, one panel per set."""
    sets = list(dict.fromkeys(row["case"]["column"] for row in content["summary"]))
    figure = new_figure(2.6 * len(sets), 2.6)
    for place, name in enumerate(sets):
        axes = figure.add_subplot(1, len(sets), place + 1)
        for color, (method, title) in zip(COLORS, ROWS.items(), strict=False):
            for row in content["summary"]:
                if row["case"]["column"] == name and row["case"]["method"] == method:
                    means = [row["numbers"][f"error_{step}"]["mean"] for step in range(len(SHARES))]
                    axes.plot(
                        [100 * share for share in SHARES],
                        means,
                        color=color,
                        label=title,
                        marker="o",
                        markersize=3,
                    )
        axes.set_title(name, fontsize=8, color=INK)
        axes.set_xlabel("labeled (%)", fontsize=8, color=INK)
        axes.set_ylabel("test error (%)" if place == 0 else "", fontsize=8, color=INK)
        quiet(axes)
    axes.legend(fontsize=7, frameon=False)
    save(figure, folder / "curves.png")


EXPERIMENT = Experiment(
    name="asking",
    place="this library; the papers do not choose labels",
    about="The error after rounds of labels that are asked for, beside labels at random and of the largest entropy.",
    cases=cases,
    run=run,
    measures=(
        Measure("mean", "mean test error after the first round", "%", decimals=1),
        *(
            Measure(f"error_{step}", f"test error at {100 * share:.0f} % of the labels", "%", decimals=1)
            for step, share in enumerate(SHARES)
        ),
    ),
    budgets={
        "smoke": "seconds",
        "quick": "about 2 CPU minutes a seed",
        "paper": "about 6 CPU minutes a seed",
    },
    plot=plot,
    captions={"curves": "Test error against the share of labels, by how they are chosen."},
)
