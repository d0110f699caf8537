"""The catalogue: every objective that a model can be trained with, by name. The one registry of them.

Training by name, ``unknot objectives`` and the tests of the docs read it and nothing else: an objective that is not
listed here has no name in a config file. First S17's, for partly labeled data; then the rows of E19's Table 1, which
say how q(z) meets the prior.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from torch import nn

from unknot.objectives import literature
from unknot.objectives.discriminator import FactorVAE, factor_vae
from unknot.objectives.elbo import elbo
from unknot.objectives.encoder_objectives import information_maximization, sleep, supervised
from unknot.objectives.importance_weighted import importance_weighted
from unknot.objectives.semi_supervised import semi_supervised
from unknot.objectives.symbols import symbols_of
from unknot.objectives.terms import Terms


@dataclass(frozen=True)
class Entry:
    """One objective.

    * ``name``: what config files and the command line call it;
    * ``function``: of (q, p, ...), returns :class:`~unknot.objectives.terms.Terms`;
    * ``formula``, ``rewards``, ``reference``: what it maximizes, to which end, and who says so;
    * ``symbols``: the parameters that make it what it is, each with its meaning; defaults are the function's own;
    * ``row``: its row in E19's Table 1, None for the others;
    * ``own_network``: the parameter that takes a network which is trained beside the model, if there is one, and
      ``with_network`` makes a module of the objective and such a network, from a trace of the encoder;
    * ``estimates_with``: symbols with which it estimates the inference marginal q(z), if it can do without;
    * ``of_sleep_phase``: whether its two traces are of items that the generative program makes, not of the batch's.
    """

    name: str
    function: Callable[..., Terms]
    formula: str
    rewards: str
    reference: str
    symbols: Mapping[str, str]
    row: int | None = None
    own_network: str | None = None
    with_network: Callable[..., nn.Module] | None = None
    estimates_with: tuple[str, ...] = ()
    of_sleep_phase: bool = False

    @property
    def defaults(self) -> dict[str, object]:
        """Symbol -> default; None where there is none and the caller must choose."""
        known, _ = symbols_of(self.function)
        return {name: None if known[name].required else known[name].default for name in self.symbols}

    @property
    def takes_dataset_size(self) -> bool:
        """Whether it can estimate the inference marginal q(z), for which it must know N."""
        return "dataset_size" in symbols_of(self.function)[0]

    def estimates_marginal(self, symbols: Collection[str]) -> bool:
        """Whether it estimates the inference marginal q(z) when it is given these symbols."""
        known, _ = symbols_of(self.function)
        size = known.get("dataset_size")
        return size is not None and (size.required or not set(self.estimates_with).isdisjoint(symbols))


_WITH_LABELS = {
    "alpha": "weight of log q(y | x), the encoder of the labels",
    "gamma": "weight of a labeled item beside an unlabeled one",
}

_FROM_LABELS = (
    Entry(
        "elbo",
        elbo,
        "E_q [log p(x, y, z) − log q(z | x, y)]",
        "codes that explain the data and whatever labels each item has, close to the prior",
        "S17 Eq. 1",
        {"beta": "weight of the KL terms; 1 is the bound"},
    ),
    Entry(
        "semi_supervised",
        semi_supervised,
        "Σ_s w̄_s log [p(x, y, z_s) / q(y, z_s | x)] + (1 + α) mean_s log w_s, times γ for labeled items",
        "the bound, and an encoder that names the labels; for any graph and any pattern of labels",
        "S17 Eqs. 2-8; Kingma et al. 2014 (M2)",
        {
            **_WITH_LABELS,
            "alpha": f"{_WITH_LABELS['alpha']}; or by site, {{'digit': 50}}",
            "beta": "weight of the KL terms; 1 is the paper",
            "relaxed_kl": "divergence of a relaxed draw: of the densities, or of the discrete classes behind them",
            "between": "weight of correlation between groups; 1 is the bound; or by pair, {'digit, style': 6}",
            "within": "weight of correlation inside a group; 1 is the bound; or by term",
            "information": "weight of information about x; 1 is the bound; or by group, {'style': 2}; below 0 a reward",
            "marginal": "by class, {'digit': 121}: weight of classes not as common as the prior says; 1 is the bound",
            "groups": "tree of groups; by default each variable is one",
        },
        estimates_with=("information", "between", "within"),
    ),
    Entry(
        "importance_weighted",
        importance_weighted,
        "log mean_s [p(x, y, z_s) / q(z_s | x)] + α log mean_s w_s, times γ for labeled items",
        "a tighter bound with more samples; IWAE where nothing is labeled",
        "S17 Eq. 9; Burda et al. 2016",
        _WITH_LABELS,
    ),
    Entry(
        "supervised",
        supervised,
        "mean_s log w_s, which is log q(y | x) where no label comes after a draw",
        "an encoder that names the labels, and nothing else: what the same network does without a model",
        "S17 Eq. 7",
        {"alpha": "weight of the labels beside the log-terms that p adds, if any; or by site"},
    ),
    Entry(
        "information_maximization",
        information_maximization,
        "−λ I(x; c) − μ KL(q̄(c) || p(c)), and p's log-terms",
        "an encoder that sorts items into classes of its own; what a class needs before the style explains all",
        "Krause et al. 2010",
        {
            "information": "weight of the information of a class about x; below 0 a reward",
            "marginal": "weight of classes not as common as the prior says",
        },
    ),
    Entry(
        "sleep",
        sleep,
        "log q(v | x̂), at values v and an item x̂ drawn from p",
        "an encoder that infers what generated items were generated from; a start that needs no label",
        "Hinton et al. 1995 (wake-sleep)",
        {"alpha": "weight of the whole; or by site, {'count': 10}"},
        of_sleep_phase=True,
    ),
)

_TABLE_ONE = (
    Entry(
        "vae",
        literature.vae,
        "(1) + (2) + (3) + (4)",
        "codes that explain the data and stay, item by item, close to the prior",
        "Kingma & Welling 2013; Rezende et al. 2014",
        {},
        row=1,
    ),
    Entry(
        "beta_vae",
        literature.beta_vae,
        "(1) + (3) + β ((2) + (4))",
        "for β > 1, codes near the prior: less correlation, but also less information about x",
        "Higgins et al. 2016",
        {"beta": "weight of the whole KL divergence; 1 is the VAE, below 1 favors reconstruction"},
        row=2,
    ),
    Entry(
        "dip_vae",
        literature.dip_vae,
        "(1) + (2) + (3) + λ (4), with (4) as −Σ_{i≠j} C_ij² and −Σ_i (C_ii − V_i)²",
        "codes whose covariance over the data set is the prior's: uncorrelated, not necessarily independent",
        "Kumar et al. 2017",
        {
            "lambda_od": "weight of the covariances (off the diagonal)",
            "lambda_d": "weight of the variances (on it); by default 10 λ_od for I, λ_od for II",
            "kind": "I: covariance of the encoder's means; II: covariance of z under q(z)",
        },
        row=3,
    ),
    Entry(
        "info_vae",
        literature.info_vae,
        "(1) + (3) + λ (4)",
        "codes that are distributed like the prior over the whole data set, each as sharp as it likes",
        "Zhao et al. 2017",
        {"lambda_": "weight of the divergence between q(z) and p(z)"},
        row=4,
    ),
    Entry(
        "capacity_vae",
        literature.capacity_vae,
        "(1) + (3) − γ |KL − C|, with KL = −((2) + (4))",
        "codes that use exactly C nats; raising C while training lets one code in after another",
        "Burgess et al. 2018; Alemi et al. 2018; by variable Dupont 2018 (JointVAE)",
        {
            "gamma": "weight of the distance from C",
            "C": "capacity in nats, or by variable",
        },
        row=5,
    ),
    Entry(
        "anchor_vae",
        literature.anchor_vae,
        "(1) + (2) + (3) + (4) − λ (2)ᵃ",
        "for λ > 0, anchor codes z_a that carry much of x",
        "Gao et al. 2018",
        {"anchors": "variables, or dimensions of variables, that are anchors", "lambda_": "reward per nat"},
        row=6,
    ),
    Entry(
        "information_dropout",
        literature.information_dropout,
        "(1) + (3) + β (2) + γ (A)*",
        "codes that keep little of x beyond what reconstruction needs, with independent dimensions",
        "Achille & Soatto 2018",
        {"beta": "weight of information about x", "gamma": "weight of total correlation"},
        row=7,
    ),
    Entry(
        "beta_tcvae",
        literature.beta_tcvae,
        "(1) + (2) + (3) + (ii) + β (A)*",
        "independent dimensions, without a weight on information",
        "Chen et al. 2018",
        {"beta": "weight of the total correlation; 1 is the VAE"},
        row=8,
    ),
    Entry(
        "factor_vae",
        factor_vae,
        "(1) + (2) + (3) + (4) − γ TC, which is (1) + (2) + (3) + (ii) + β (A)* with β = 1 + γ",
        "independent dimensions, without a weight on information; TC comes from a discriminator",
        "Kim & Mnih 2018",
        {"discriminator": "network z -> log q(z)/Π q(z_d), trained beside", "gamma": "extra weight of TC"},
        row=8,
        own_network="discriminator",
        with_network=FactorVAE,
    ),
    Entry(
        "hfvae",
        literature.hfvae,
        "(1) + (3) + (ii) + α (2) + β (A) + γ (i)",
        "groups that are independent of each other and codes that are independent inside a group, each with its weight",
        "Esmaeili et al. 2019 (E19)",
        {
            "alpha": "weight of information about x",
            "beta": "weight of correlation between groups; below 1 lets them correlate",
            "gamma": "weight of correlation inside a group",
            "groups": "tree of groups; by default each variable is one",
            "information": "by class, {c: -19}: weight of what it knows of x, in the place of α; below zero a reward",
            "marginal": "by class, {c: 41}: weight of its share of (ii), which keeps all classes in use",
        },
        row=9,
    ),
)

CATALOGUE: dict[str, Entry] = {entry.name: entry for entry in (*_FROM_LABELS, *_TABLE_ONE)}
