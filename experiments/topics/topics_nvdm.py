"""topics-nvdm: the neural variational document model, one group of topics and two (E19 sec. 5.2, App. D)."""

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

NVDM = {"mixing": "linear", "hidden": [500], "dropout": 0.0}
TRAIN = train_settings(2e-3)
HFVAE = {"name": "hfvae", "alpha": 1.0, "beta": 7.0, "gamma": 4.0}


def cases(tier: Tier) -> list[Case]:
    """Our models, one that reads parts of documents, and what a user would do instead."""
    return [
        model_case(tier, "VAE(50)", {**NVDM, "groups": ONE}, TRAIN),
        model_case(tier, "HFVAE(25 + 25)", {**NVDM, "groups": TWO}, {**TRAIN, "objective": HFVAE}),
        model_case(
            tier, "VAE(50), half of the words seen", {**NVDM, "groups": ONE, "word_dropout": 0.5}, TRAIN
        ),
        *rival_cases(tier),
    ]


EXPERIMENT = Experiment(
    name="topics-nvdm",
    place="E19 sec. 5.2, App. D",
    about="NVDM on 20 Newsgroups: 50 topics, and two groups of 25.",
    cases=cases,
    run=run,
    measures=MEASURES,
    budgets=BUDGETS,
    yardsticks=(
        Yardstick("NVDM's paper", {"": 836.0}, measure="per_token"),
        Yardstick("goal, Gibbs LDA's trial", {"": 706.0}, tag="goal", measure="completion"),
    ),
    judged={"VAE(50)": "NVDM's paper", "VAE(50), half of the words seen": "goal, Gibbs LDA's trial"},
    captions={"linear": CORRELATIONS},
)
