"""topics-prodlda: ProdLDA with one group of topics and with two whose correlation is free (E19 sec. 5.2, App. D)."""

from __future__ import annotations

from experiments.ledger.experiment import Case, Experiment, Tier, Yardstick
from experiments.topics.topics import (
    BUDGETS,
    CORRELATIONS,
    MEASURES,
    ONE,
    TWO,
    model_case,
    rival_cases,
    run,
    train_settings,
)

PRINTED_MODEL = {"groups": ONE, "dropout": 0.6, "share_dropout": 0.6, "scale": False, "logarithm": False}
PRINTED_TRAIN = {
    "objective": "elbo",
    "epochs": 80,
    "batch_size": 200,
    "learning_rate": 1e-3,
    "betas": [0.99, 0.999],
}
MODEL = {"hidden": [500], "concentration": 0.6}
TRAIN = train_settings(6e-3)
HFVAE = {"name": "hfvae", "alpha": 1.0, "beta": 0.1, "gamma": 4.0}


def cases(tier: Tier) -> list[Case]:
    """Our models, the printed settings, and what a user would do instead."""
    return [
        model_case(tier, "VAE(50)", {**MODEL, "groups": ONE}, TRAIN),
        model_case(tier, "HFVAE(25 + 25)", {**MODEL, "groups": TWO}, {**TRAIN, "objective": HFVAE}),
        model_case(tier, "VAE(50), settings as printed", PRINTED_MODEL, PRINTED_TRAIN),
        *rival_cases(tier),
    ]


EXPERIMENT = Experiment(
    name="topics-prodlda",
    place="E19 sec. 5.2, App. D",
    about="ProdLDA on 20 Newsgroups: 50 topics, and two groups of 25 whose correlation with each other is free.",
    cases=cases,
    run=run,
    measures=MEASURES,
    budgets=BUDGETS,
    yardsticks=(
        Yardstick("ProdLDA's paper", {"": 1009.0}, measure="per_document"),
        Yardstick("goal", {"": 935.0}, tag="goal", measure="per_document"),
        Yardstick("goal", {"": 0.65}, tag="goal", measure="diversity"),
        Yardstick("E19's HFVAE", {"": 11.0}, measure="active"),
    ),
    judged={"VAE(50)": "goal", "HFVAE(25 + 25)": "E19's HFVAE"},
    captions={"product": CORRELATIONS},
)
