"""topics-nvdm: the neural variational document model, one group of topics and two (E19 sec. 5.2, App. D)."""

from __future__ import annotations

from unknot.papers.experiment import Case, Experiment, Tier, Yardstick
from unknot.papers.topics import MEASURES, NOTES, ONE, TWO, model_case, rival_cases, run

NVDM = {"mixing": "linear", "hidden": [500], "dropout": 0.0}
TRAIN = {
    "objective": "elbo",
    "epochs": 40,
    "batch_size": 200,
    "learning_rate": {"name": "cosine", "start": 2e-3, "end": 0.0, "warmup": 300},
}
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
    budgets={
        "smoke": "seconds",
        "quick": "about 1 CPU minute a seed and row; tomotopy 2",
        "paper": "the same",
    },
    yardsticks=(
        Yardstick("NVDM's paper", {"": 836.0}, measure="per_token"),
        Yardstick("goal, Gibbs LDA's trial", {"": 706.0}, tag="goal", measure="completion"),
    ),
    judged={"VAE(50)": "NVDM's paper", "VAE(50), half of the words seen": "goal, Gibbs LDA's trial"},
    captions={
        "linear": (
            "HFVAE(25 + 25): correlations of the topics above .1 nats over the test documents (the lines part the two "
            "groups), and the most correlated pairs between the groups, with their information and first words."
        )
    },
    notes=NOTES
    + " *Half of the words seen*: in training the recogniser sees a random half of the words of each document, and "
    "explains all of them. Settings are those of an earlier trial, whose numbers on test documents were looked at; "
    "only that they train was checked on held-out ones.",
)
