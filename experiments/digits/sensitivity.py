"""sensitivity: how much of each score's variance is the seed's and how much the weights' (E19 App. E)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.digits import class_discovery, mnist_hfvae, mnist_tradeoff
from experiments.ledger.experiment import RESULTS, Case, Experiment, Measure, Numbers, Settings, Tier
from experiments.ledger.ledger import read_result
from experiments.ledger.variance_parts import variance_parts
from experiments.sprites import dsprites


@dataclass(frozen=True)
class Source:
    """Cases of another experiment that differ in their weights alone: those of some ``rows``, or all."""

    experiment: Experiment
    title: str
    measures: Sequence[str]
    rows: tuple[str, ...] = ()


SOURCES = (
    Source(
        mnist_hfvae.EXPERIMENT,
        "mnist-hfvae, objectives",
        ("accuracy", "nmi", "class_information", "reconstruction"),
        (
            class_discovery.REWARDED_ROW,
            class_discovery.PRINTED_ROW,
            "β-VAE, β = 4",
            "β-TCVAE, β = 6",
            "VAE",
        ),
    ),
    Source(
        mnist_tradeoff.EXPERIMENT,
        "mnist-tradeoff, β = γ",
        ("gap", "information", "correlation"),
        (mnist_tradeoff.EQUAL_ROW,),
    ),
    Source(
        mnist_tradeoff.EXPERIMENT,
        "mnist-tradeoff, β, class rewarded",
        ("gap", "information", "correlation"),
        (mnist_tradeoff.GAP_ROW,),
    ),
    Source(
        dsprites.EXPERIMENT,
        "dsprites, objectives",
        ("kim", "dci", "mig", "info_m", "reconstruction"),
        tuple(dsprites.OBJECTIVES),  # the same networks and steps: not ours, whose class comes first
    ),
)


def cases(tier: Tier) -> list[Case]:
    """One for each score of each source; the smoke tier has scores of its own."""
    if tier == "smoke":
        return [{"row": "toy", "scores": [[0.0, 2.0], [10.0, 12.0]]}]
    return [
        {
            "row": f"{source.title}: {_title(source, measure)}",
            "experiment": source.experiment.name,
            "tier": tier,
            "rows": list(source.rows),
            "measure": measure,
        }
        for source in SOURCES
        for measure in source.measures
    ]


def _title(source: Source, key: str) -> str:
    return next(measure.title for measure in source.experiment.measures if measure.key == key)


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """The parts of a score's variance; nothing where too few runs are made."""
    groups = settings["scores"] if "scores" in settings else scores(settings, Path(settings[RESULTS]))
    found = variance_parts(groups)
    if found is None:
        return {}
    return {
        "seed": 100 * found.seed_share,
        "low": 100 * found.low,
        "high": 100 * found.high,
        "seed_sd": found.seed**0.5,
        "weights_sd": found.setting**0.5,
        "settings": len(groups),
        "runs": sum(map(len, groups)),
    }


def scores(settings: Settings, results: Path) -> list[list[float]]:
    """A score of the runs in the ledger, those of one setting together."""
    content = read_result(results, settings["experiment"], settings["tier"])
    groups: dict[str, list[float]] = {}
    for one in [] if content is None else content["runs"]:
        meant = not settings["rows"] or one["case"]["row"] in settings["rows"]
        if meant and settings["measure"] in one["numbers"]:
            case = json.dumps(one["case"], sort_keys=True)
            groups.setdefault(case, []).append(one["numbers"][settings["measure"]])
    return list(groups.values())


EXPERIMENT = Experiment(
    name="sensitivity",
    place="E19 App. E",
    about="How much of each score's variance is the seed's and how much the weights', from the runs in the ledger.",
    cases=cases,
    run=run,
    measures=(
        Measure("seed", "the seed's share of the variance", "%", "lower", 1),
        Measure("low", "from", "%", "lower", 1),
        Measure("high", "to", "%", "lower", 1),
        Measure("seed_sd", "sd of seeds", decimals=3),
        Measure("weights_sd", "sd of weights", decimals=3),
        Measure("settings", "settings", decimals=0),
        Measure("runs", "runs", decimals=0),
    ),
    budgets={"smoke": "no time", "quick": "no time: it reads the ledger", "paper": "the same"},
    reads_results=True,
)
