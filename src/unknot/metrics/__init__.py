"""Scores: arrays in, numbers out. One score per file.

The scores of codes and factors are called alike, ``f(codes, factors, discrete=..., seed=..., protocol=...)``:
``codes`` and ``factors`` are ``(N, D)`` arrays of the same items, mappings from names to arrays, or frames;
``discrete`` and ``discrete_factors`` say which columns are categories (by default those that are not floats);
``protocol`` is a name of ``protocols`` or settings of one's own. Each returns an object with named numbers.
"""

from unknot.metrics.beta_vae import beta_vae
from unknot.metrics.clusters import ari, class_accuracy, nmi
from unknot.metrics.dci_es import dci_es
from unknot.metrics.explicitness import explicitness
from unknot.metrics.gaps import dcimig, jemmig, mig, mig_sup
from unknot.metrics.importance import dci, med
from unknot.metrics.infomec import infomec
from unknot.metrics.information_about import class_gap, information_about
from unknot.metrics.irs import irs
from unknot.metrics.modularity import modularity
from unknot.metrics.parts.columns import Probabilities
from unknot.metrics.restarts import model_centrality, udr
from unknot.metrics.sap import sap
from unknot.metrics.table import table
from unknot.metrics.votes import factor_vae

__all__ = [
    "Probabilities",
    "ari",
    "beta_vae",
    "class_accuracy",
    "class_gap",
    "dci",
    "dci_es",
    "dcimig",
    "explicitness",
    "factor_vae",
    "infomec",
    "information_about",
    "irs",
    "jemmig",
    "med",
    "mig",
    "mig_sup",
    "model_centrality",
    "modularity",
    "nmi",
    "sap",
    "table",
    "udr",
]
