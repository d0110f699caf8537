"""All experiments by name; each is one file of this folder."""

from __future__ import annotations

from unknot.errors import SpecError
from unknot.papers import (
    celeba,
    decomposition_toy,
    dsprites,
    dsprites_best,
    faces,
    faces_counterfactuals,
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
    multi_mnist,
    own_data,
    own_data_generative,
    own_data_more,
    sensitivity,
    sequences,
    sequences_exact,
    spoken_digits,
    svhn,
    svhn_analogies,
    svhn_style_grid,
    table_counterfactuals,
    topics_labels,
    topics_nvdm,
    topics_prodlda,
    zero_shot,
    zero_shot_sprites,
)
from unknot.papers.experiment import Experiment
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
