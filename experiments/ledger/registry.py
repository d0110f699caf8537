"""All experiments by name; each is one file of this folder."""

from __future__ import annotations

from experiments.canvases import multi_mnist
from experiments.digits import (
    decomposition_toy,
    fashion_hfvae,
    latent_maps,
    mnist,
    mnist_analogies,
    mnist_demo,
    mnist_hfvae,
    mnist_restarts,
    mnist_style_grid,
    mnist_supervision_rate,
    mnist_tradeoff,
    sensitivity,
    svhn,
    svhn_analogies,
    svhn_style_grid,
    zero_shot,
)
from experiments.faces import celeba, faces, faces_counterfactuals
from experiments.ledger.experiment import Experiment
from experiments.sequences import sequences, sequences_exact, spoken_digits
from experiments.sprites import dsprites, dsprites_best, zero_shot_sprites
from experiments.tables import own_data, own_data_generative, own_data_more, table_counterfactuals
from experiments.topics import topics_labels, topics_nvdm, topics_prodlda
from unknot.errors import SpecError
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
