"""All experiments by name, in the order of the page."""

from __future__ import annotations

from experiments.canvases import multi_mnist
from experiments.cells import cells
from experiments.digits import (
    class_discovery,
    class_scorings,
    decomposition_toy,
    latent_maps,
    mnist,
    mnist_analogies,
    mnist_demo,
    mnist_supervision_rate,
    mnist_tradeoff,
    svhn,
    svhn_analogies,
    zero_shot,
)
from experiments.faces import celeba, faces, faces_counterfactuals
from experiments.ledger.experiment import Experiment
from experiments.own_data import error_estimates, novelty, own_data
from experiments.sequences import sequences, sequences_exact, spoken_digits
from experiments.sprites import dsprites, dsprites_best
from experiments.tables import own_data_generative, own_data_more, table_counterfactuals
from experiments.topics import topics, topics_labels
from experiments.weak_labels import asking, weak_labels
from unknot.errors import SpecError
from unknot.suggest import did_you_mean

_ALL = (
    mnist_demo.EXPERIMENT,
    mnist.EXPERIMENT,
    mnist_supervision_rate.EXPERIMENT,
    *mnist_analogies.EXPERIMENTS,
    svhn.EXPERIMENT,
    svhn_analogies.EXPERIMENT,
    table_counterfactuals.EXPERIMENT,
    faces.EXPERIMENT,
    decomposition_toy.EXPERIMENT,
    faces_counterfactuals.EXPERIMENT,
    multi_mnist.EXPERIMENT,
    class_scorings.EXPERIMENT,
    *class_discovery.EXPERIMENTS,
    mnist_tradeoff.EXPERIMENT,
    dsprites.EXPERIMENT,
    dsprites_best.EXPERIMENT,
    celeba.EXPERIMENT,
    zero_shot.EXPERIMENT,
    latent_maps.EXPERIMENT,
    own_data.EXPERIMENT,
    own_data_more.EXPERIMENT,
    own_data_generative.EXPERIMENT,
    error_estimates.EXPERIMENT,
    novelty.EXPERIMENT,
    cells.EXPERIMENT,
    *topics.EXPERIMENTS,
    topics_labels.EXPERIMENT,
    sequences_exact.EXPERIMENT,
    sequences.EXPERIMENT,
    spoken_digits.EXPERIMENT,
    weak_labels.EXPERIMENT,
    asking.EXPERIMENT,
)
EXPERIMENTS: dict[str, Experiment] = {one.name: one for one in _ALL}


def experiment(name: str) -> Experiment:
    """Return the experiment of that name."""
    if name not in EXPERIMENTS:
        raise SpecError(f"there is no experiment '{name}'; {did_you_mean(name, EXPERIMENTS)}")
    return EXPERIMENTS[name]
