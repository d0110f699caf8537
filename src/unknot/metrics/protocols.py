"""Every constant of every score, by protocol and with its source. A protocol is data; nothing is computed here.

Take another value by ``dataclasses.replace``: ``mig(..., protocol=replace(settings("mig"), bins=50))``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from unknot.errors import SpecError
from unknot.suggest import did_you_mean

DEAD_BELOW = 0.05
"""A code whose standard deviation is below this carries nothing: disentanglement_lib's `prune_dims.threshold`.
It belongs to codes with a prior of variance 1. Kim & Mnih go by the divergence from the prior, which arrays lack."""

GROUPS = 10
"""Continuous factors are held fixed by ten groups of equal mass: ours, since the papers' factors are discrete."""


@dataclass(frozen=True)
class Histogram:
    """Plug-in information from counts: MIG, MIG-sup, JEMMIG, DCIMIG, modularity, MED, E19's I(y;z)."""

    bins: int
    equal_mass: bool = False  # of the codes: equal width, or as many items in each bin
    points: int | None = None  # the largest number of rows
    divide_by: str = "factor"  # MIG-sup: information over the entropy of the "factor" or of the "code"
    dead_below: float = 0.0  # MIG-sup: codes whose standard deviation is below are left out


@dataclass(frozen=True)
class Votes:
    """FactorVAE and β-VAE scores: batches with one factor held fixed."""

    batch: int
    train: int
    test: int  # 0: scored on the training votes, which is optimistic
    dead_below: float = DEAD_BELOW
    groups: int = GROUPS
    points: int | None = None


@dataclass(frozen=True)
class Trees:
    """DCI and DCI-ES: one ensemble of trees a factor."""

    model: str  # "forest", "gradient boosting" or "histogram boosting"
    trees: int
    depths: tuple[int, ...]  # forest: the depths to choose from, or the capacities; boosting: its one depth
    shares: tuple[float, float, float]  # rows to train on, to choose the depth on, to test on
    points: int | None = None


@dataclass(frozen=True)
class Linear:
    """SAP, explicitness: a linear classifier a factor, rows to train on and to test on."""

    penalty: float  # scikit-learn's C
    train_share: float  # 1: tested on the rows it was trained on
    balanced: bool = False
    rescale: bool = False  # explicitness: 2 AUC - 1, so that chance is 0
    bins: int = 20  # of continuous factors where classes are needed
    points: int | None = None


@dataclass(frozen=True)
class Robustness:
    """IRS."""

    quantile: float
    groups: int = GROUPS
    points: int | None = None


@dataclass(frozen=True)
class InfoMec:
    """InfoMEC: neighbors of the estimator of I, and how the explicitness is measured."""

    neighbors: int = 10
    active_range: float = 1 / 20  # of the widest code
    tolerance: float = 1e-4
    iterations: int = 100
    null: str = "uniform"  # "uniform": log K, "entropy": H(factor)
    train_share: float = 1.0  # 1: in-sample
    bins: int = 20  # of continuous factors: ours, the paper's are discrete
    points: int | None = 10_000


@dataclass(frozen=True)
class Restarts:
    """UDR."""

    penalty: float = 0.1
    min_divergence: float = 0.01
    dead_below: float = DEAD_BELOW  # where no divergences are given
    points: int | None = 1_000


@dataclass(frozen=True)
class Plain:
    """Scores without constants."""

    points: int | None = None


@dataclass(frozen=True)
class Protocol:
    """Where the constants come from, and the settings of each score the source speaks of."""

    source: str
    settings: dict[str, Any] = field(default_factory=dict)


PROTOCOLS: dict[str, Protocol] = {
    "locatello2019": Protocol(
        "Locatello et al., ICML 2019, and the configurations of its library disentanglement_lib",
        {
            # 20 equal-width bins of each code over 10,000 points
            "mig": Histogram(bins=20, points=10_000),
            # as MIG; "a dead code counts 0"
            "modularity": Histogram(bins=20, points=10_000),
            # Cao et al., NeurIPS 2022, on this library's bins
            "med": Histogram(bins=20, points=10_000),
            # votes of 64 pairs, 10,000 to train a logistic regression (scikit-learn's defaults), 5,000 to test;
            # dead codes are kept
            "beta_vae": Votes(batch=64, train=10_000, test=5_000, dead_below=0.0),
            # the same numbers of votes, the variance of each code from 10,000 points
            "factor_vae": Votes(batch=64, train=10_000, test=5_000),
            # scikit-learn's GradientBoosting with its defaults (100 rounds, depth 3), 10,000 and 5,000 points
            "dci": Trees("gradient boosting", 100, (3,), (2 / 3, 0.0, 1 / 3), points=15_000),
            # LinearSVC(C=.01, class_weight="balanced"), 10,000 and 5,000 points
            "sap": Linear(penalty=0.01, train_share=2 / 3, balanced=True, points=15_000),
            # LogisticRegression() on standardized codes, AUC on the test points, not rescaled
            "explicitness": Linear(penalty=1.0, train_share=2 / 3, points=15_000),
            # Suter et al. take the maximum; the library the quantile .99
            "irs": Robustness(quantile=0.99, points=10_000),
            # Duan et al., ICLR 2020: Lasso α = .1, codes with a divergence above .01, 1,000 points
            "udr": Restarts(),
        },
    ),
    "locatello2019-histogram": Protocol(
        "as locatello2019, with scikit-learn's histogram boosting, which is much faster, and its gains: ours",
        {"dci": Trees("histogram boosting", 100, (3,), (2 / 3, 0.0, 1 / 3), points=15_000)},
    ),
    "kim2018": Protocol(
        "Kim & Mnih, ICML 2018, App. B; Gini variances of discrete codes from their footnote",
        # L = 100, 800 votes; as many separate votes for the accuracy: the number is ours
        {"factor_vae": Votes(batch=100, train=800, test=800)},
    ),
    "eastwood2018": Protocol(
        "Eastwood & Williams, ICLR 2018, and their code QEDR",
        # ten trees on standardized codes, every split free to use every code, depth chosen a factor, 80/10/10;
        # the depths on offer are ours
        {"dci": Trees("forest", 10, (2, 4, 6, 8, 10, 12, 16, 20, 32), (0.8, 0.1, 0.1), points=15_000)},
    ),
    "eastwood2023": Protocol(
        "Eastwood et al., ICLR 2023 (DCI-ES), and its code",
        # the depths are theirs; ten trees a forest as in eastwood2018 (their code: 100)
        {
            "dci_es": Trees(
                "forest", 10, (1, 2, 3, 4, 8, 10, 12, 14, 16, 18, 20, 32), (0.8, 0.1, 0.1), points=15_000
            )
        },
    ),
    "carbonneau2020": Protocol(
        "Carbonneau et al., Measuring disentanglement: a review of metrics, 2020, and its code",
        {
            # 10 equal-width bins of codes and of continuous factors everywhere
            "mig": Histogram(bins=10),
            "modularity": Histogram(bins=10),
            "jemmig": Histogram(bins=10),
            "dcimig": Histogram(bins=10),
            # I over H(code) here; Li et al., ICLR 2020, divide by H(factor) and leave dead codes out: see li2020
            "mig_sup": Histogram(bins=10, divide_by="code"),
            # balanced logistic regression, tested on its own training rows, rescaled so that chance is 0
            "explicitness": Linear(penalty=1.0, train_share=1.0, balanced=True, rescale=True, bins=10),
        },
    ),
    "li2020": Protocol(
        "Li et al., ICLR 2020 (MIG-sup), and its code, with bins where it has densities",
        # active: a variance above .01
        {"mig_sup": Histogram(bins=20, dead_below=0.1, points=10_000)},
    ),
    "hsu2023": Protocol(
        "Hsu et al., NeurIPS 2023 (InfoMEC), and its code: k = 10, active above 1/20 of the widest range, "
        "balanced logistic regression without penalty (lbfgs, 1e-4, 100 rounds), in-sample, null log K",
        {"infomec": InfoMec()},
    ),
    "hsu2023-held-out": Protocol(
        "as hsu2023; explicitness against H(factor), without balancing, on rows that were not trained on: ours",
        {"infomec": InfoMec(null="entropy", train_share=2 / 3)},
    ),
    "esmaeili2019": Protocol(
        "Esmaeili et al., AISTATS 2019, Figs. 5 and 6: ten bins of equal mass, plug-in estimate, in nats",
        {
            "class_gap": Histogram(bins=10, equal_mass=True),
            "information_about": Histogram(bins=10, equal_mass=True),
        },
    ),
    "lin2020": Protocol(
        "Lin et al., ICML 2020 (ModelCentrality): FactorVAE scores with another restart's codes as factors; "
        "kim2018's votes",
        {"model_centrality": Votes(batch=100, train=800, test=800)},
    ),
    "": Protocol("no constants", {"class_accuracy": Plain(), "nmi": Plain(), "ari": Plain()}),
}

DEFAULTS: dict[str, str] = {
    "factor_vae": "kim2018",
    "beta_vae": "locatello2019",
    "dci": "eastwood2018",
    "dci_es": "eastwood2023",
    "mig": "locatello2019",
    "mig_sup": "carbonneau2020",
    "jemmig": "carbonneau2020",
    "dcimig": "carbonneau2020",
    "class_gap": "esmaeili2019",
    "information_about": "esmaeili2019",
    "sap": "locatello2019",
    "modularity": "locatello2019",
    "explicitness": "locatello2019",
    "irs": "locatello2019",
    "infomec": "hsu2023",
    "med": "locatello2019",
    "udr": "locatello2019",
    "model_centrality": "lin2020",
    "class_accuracy": "",
    "nmi": "",
    "ari": "",
}
"""The protocol of a score when none is named."""


def settings(score: str, protocol: Any = None) -> Any:
    """The constants of a score: those of a protocol's name, of its default (None), or ``protocol`` itself.

    >>> settings("mig").bins, settings("mig", "carbonneau2020").bins
    (20, 10)
    """
    if protocol is None:
        protocol = DEFAULTS[score]
    if not isinstance(protocol, str):
        kind = type(PROTOCOLS[DEFAULTS[score]].settings[score])
        if not isinstance(protocol, kind):
            raise SpecError(
                f"{score} takes the name of a protocol or {kind.__name__}(...), not {protocol!r}."
            )
        return protocol
    if protocol not in PROTOCOLS:
        raise SpecError(
            f"There is no protocol '{protocol}': {did_you_mean(protocol, filter(None, PROTOCOLS))}"
        )
    if score not in PROTOCOLS[protocol].settings:
        speak = [name for name, entry in PROTOCOLS.items() if score in entry.settings]
        raise SpecError(
            f"{protocol} says nothing of {score}: {' or '.join(filter(None, speak)) or 'name none'}."
        )
    return PROTOCOLS[protocol].settings[score]


def protocol_name(score: str, protocol: Any) -> str:
    """How a result calls its protocol."""
    if protocol is None:
        return DEFAULTS[score]
    return protocol if isinstance(protocol, str) else "own settings"
