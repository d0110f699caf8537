"""All experiments by name; each is one file of this folder."""

from __future__ import annotations

from unknot.errors import SpecError
from experiments.faces import celeba
from experiments.digits import decomposition_toy
from experiments.sprites import dsprites
from experiments.sprites import dsprites_best
from experiments.faces import faces
from experiments.faces import faces_counterfactuals
from experiments.digits import fashion_hfvae
from experiments.digits import latent_maps
from experiments.digits import mnist
from experiments.digits import mnist_analogies
from experiments.digits import mnist_demo
from experiments.digits import mnist_hfvae
from experiments.digits import mnist_restarts
from experiments.digits import mnist_style_grid
from experiments.digits import mnist_supervision_rate
from experiments.digits import mnist_tradeoff
from experiments.canvases import multi_mnist
from experiments.tables import own_data
from experiments.tables import own_data_generative
from experiments.tables import own_data_more
from experiments.digits import sensitivity
from experiments.sequences import sequences
from experiments.sequences import sequences_exact
from experiments.sequences import spoken_digits
from experiments.digits import svhn
from experiments.digits import svhn_analogies
from experiments.digits import svhn_style_grid
from experiments.tables import table_counterfactuals
from experiments.topics import topics_labels
from experiments.topics import topics_nvdm
from experiments.topics import topics_prodlda
from experiments.digits import zero_shot
from experiments.sprites import zero_shot_sprites
from experiments.ledger.experiment import Experiment
from unknot.suggest import did_you_mean

_FILES = (
    mnist_demo,
    mnist,
    mnist_supervision_rate,
    mnist_analogies,
    mnist_style_grid,
    svhn,
    svhn_analogies,
    svhn_style_grid,
    table_counterfactuals,
    faces,
    decomposition_toy,
    faces_counterfactuals,
    multi_mnist,
    mnist_hfvae,
    fashion_hfvae,
    mnist_restarts,
    mnist_tradeoff,
    dsprites,
    dsprites_best,
    sensitivity,
    celeba,
    zero_shot,
    zero_shot_sprites,
    latent_maps,
    own_data,
    own_data_more,
    own_data_generative,
    topics_prodlda,
    topics_nvdm,
    topics_labels,
    sequences_exact,
    sequences,
    spoken_digits,
)
EXPERIMENTS: dict[str, Experiment] = {file.EXPERIMENT.name: file.EXPERIMENT for file in _FILES}


def experiment(name: str) -> Experiment:
    """The experiment of that name."""
    if name not in EXPERIMENTS:
        raise SpecError(f"there is no experiment '{name}'; {did_you_mean(name, EXPERIMENTS)}")
    return EXPERIMENTS[name]
