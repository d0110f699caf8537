"""topics-prodlda and topics-nvdm: one group of 50 topics and two of 25 (E19 sec. 5.2, App. D)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier, Yardstick
from experiments.topics.topic_baselines import BASELINES, baseline_numbers
from experiments.topics.topic_corpus import Corpus, corpus
from experiments.topics.topic_model import TopicModel
from experiments.topics.topic_scores import Topics, completion, perplexities, topic_numbers, topics_of
from unknot.plots.codes import topic_correlations
from unknot.plots.style import save
from unknot.train.config import TrainConfig
from unknot.train.loop import fit

MEASURES = (
    Measure("per_document", "perplexity per document", decimals=0),
    Measure("per_token", "perplexity per token", decimals=0),
    Measure("completion", "document completion, refined", decimals=0),
    Measure("completion_plain", "document completion, encoder alone", decimals=0),
    Measure("npmi", "NPMI, training and test documents", better="higher", decimals=3),
    Measure("npmi_test", "NPMI, test documents", better="higher", decimals=3),
    Measure("npmi_active", "NPMI of active topics", better="higher", decimals=3),
    Measure("diversity", "diversity of the top 25 words", better="higher"),
    Measure("duplicates", "duplicate topics", decimals=0),
    Measure("active", "topics above .1 nats", better="match", decimals=0),
    Measure("within", "mean |r| within a group", decimals=2),
    Measure("between", "mean |r| between groups", better="higher", decimals=2),
    Measure("seconds", "CPU seconds of training", decimals=0),
    Measure("npmi_acting", "NPMI of active topics, acting weights", better="higher", decimals=3),
    Measure("diversity_acting", "diversity, acting weights", better="higher"),
)
ONE, TWO = {"topics": 50}, {"first": 25, "second": 25}
BUDGETS = {"smoke": "seconds", "quick": "about 1 CPU minute a seed and row; tomotopy 2"}
CORRELATIONS = (
    "HFVAE(25 + 25): correlations of the topics above .1 nats over the test documents, with lines between the two "
    "groups, and the most correlated pairs between the groups, with their information and top words."
)


def train_settings(rate: float) -> dict[str, Any]:
    """Return settings of 40 epochs with a learning rate that decreases from ``rate`` to zero."""
    schedule = {"name": "cosine", "start": rate, "end": 0.0, "warmup": 300}
    return {"objective": "elbo", "epochs": 40, "batch_size": 200, "learning_rate": schedule}


def baseline_cases(tier: Tier) -> list[Case]:
    """Return the baselines; the smoke tier has no Gibbs LDA, which needs another library."""
    rounds = {"unigram": 0, "online LDA": 20, "Gibbs LDA": 1000}
    titles = {
        "unigram": "word frequencies alone",
        "online LDA": "scikit-learn's LDA, online",
        "Gibbs LDA": "tomotopy's LDA, Gibbs",
    }
    small = tier == "smoke"
    return [
        {
            "row": titles[name],
            "baseline": name,
            "corpus": "made" if small else "20news",
            "topics": 4 if small else 50,
            "rounds": min(rounds[name], 2) if small else rounds[name],
        }
        for name in rounds
        if not (small and name == "Gibbs LDA")
    ]


def model_case(tier: Tier, row: str, model: Mapping[str, Any], train: Mapping[str, Any]) -> Case:
    """Return a row of ours; in the smoke tier a small model on a small corpus."""
    case = {"row": row, "corpus": "20news", "refine": 30, "model": dict(model), "train": dict(train)}
    if tier != "smoke":
        return case
    groups = dict.fromkeys(model["groups"], 2)
    small = {
        "model": {**model, "groups": groups, "hidden": [8]},
        "train": {**train, "epochs": 2, "batch_size": 40},
    }
    return {**case, **small, "corpus": "made", "refine": 2}


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Train one model or baseline, and measure it on the test documents."""
    documents = corpus(settings["corpus"])
    if "baseline" in settings:
        baseline = BASELINES[settings["baseline"]](documents, settings["topics"], seed, settings["rounds"])
        return baseline_numbers(baseline, documents)
    model, seconds = trained(documents, settings, seed)
    topics = topics_of(model, documents.test)
    if pictures is not None and len(model.groups) == 2 and topics.active.sum() > 1:
        save(topic_picture(topics, documents), pictures / f"{settings['model'].get('mixing', 'product')}.png")
    return {
        **perplexities(model, documents.test),
        "completion_plain": completion(model, documents.test),
        "completion": completion(model, documents.test, settings["refine"]),
        **topic_numbers(topics, documents),
        "seconds": seconds,
    }


def trained(documents: Corpus, settings: Settings, seed: int) -> tuple[TopicModel, float]:
    """Return the trained model in evaluation mode and the CPU seconds of its training."""
    torch.manual_seed(seed)
    model = TopicModel(len(documents.words), **settings["model"])
    config = TrainConfig.from_dict({**settings["train"], "seed": seed, "progress": False})
    start = time.process_time()
    fit(model, documents.train, config)
    return model.eval(), time.process_time() - start


def topic_picture(topics: Topics, documents: Corpus, pairs: int = 6) -> Any:
    """Draw correlations of the active topics, and the most correlated pairs of both groups with their words."""
    rows = np.flatnonzero(topics.active)
    rows = rows[np.argsort(topics.groups[rows], kind="stable")]
    matrix = topics.correlations()[np.ix_(rows, rows)]
    words = [" ".join(documents.words[w] for w in topics.acting[row][:8]) for row in rows]
    return topic_correlations(matrix, words, topics.groups[rows], topics.nats[rows], pairs)


PRINTED_MODEL = {"groups": ONE, "dropout": 0.6, "share_dropout": 0.6, "scale": False, "logarithm": False}
PRINTED_TRAIN = {
    "objective": "elbo",
    "epochs": 80,
    "batch_size": 200,
    "learning_rate": 1e-3,
    "betas": [0.99, 0.999],
}
PRODLDA_MODEL = {"hidden": [500], "concentration": 0.6}
PRODLDA_TRAIN = train_settings(6e-3)
PRODLDA_HFVAE = {"name": "hfvae", "alpha": 1.0, "beta": 0.1, "gamma": 4.0}


def prodlda_cases(tier: Tier) -> list[Case]:
    """Return our models, the printed settings and the baselines."""
    return [
        model_case(tier, "VAE(50)", {**PRODLDA_MODEL, "groups": ONE}, PRODLDA_TRAIN),
        model_case(
            tier,
            "HFVAE(25 + 25)",
            {**PRODLDA_MODEL, "groups": TWO},
            {**PRODLDA_TRAIN, "objective": PRODLDA_HFVAE},
        ),
        model_case(tier, "VAE(50), settings as printed", PRINTED_MODEL, PRINTED_TRAIN),
        *baseline_cases(tier),
    ]


PRODLDA = Experiment(
    name="topics-prodlda",
    place="E19 sec. 5.2, App. D",
    about="ProdLDA on 20 Newsgroups: 50 topics, and two groups of 25 whose correlation with each other is free.",
    cases=prodlda_cases,
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

NVDM_MODEL = {"mixing": "linear", "hidden": [500], "dropout": 0.0}
NVDM_TRAIN = train_settings(2e-3)
NVDM_HFVAE = {"name": "hfvae", "alpha": 1.0, "beta": 7.0, "gamma": 4.0}


def nvdm_cases(tier: Tier) -> list[Case]:
    """Return our models and the baselines."""
    return [
        model_case(tier, "VAE(50)", {**NVDM_MODEL, "groups": ONE}, NVDM_TRAIN),
        model_case(
            tier, "HFVAE(25 + 25)", {**NVDM_MODEL, "groups": TWO}, {**NVDM_TRAIN, "objective": NVDM_HFVAE}
        ),
        *baseline_cases(tier),
    ]


NVDM = Experiment(
    name="topics-nvdm",
    place="E19 sec. 5.2, App. D",
    about="NVDM on 20 Newsgroups: 50 topics, and two groups of 25.",
    cases=nvdm_cases,
    run=run,
    measures=MEASURES,
    budgets=BUDGETS,
    yardsticks=(Yardstick("NVDM's paper", {"": 836.0}, measure="per_token"),),
    judged={"VAE(50)": "NVDM's paper"},
    captions={"linear": CORRELATIONS},
)
EXPERIMENTS = (PRODLDA, NVDM)
