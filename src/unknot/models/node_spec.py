"""NodeSpec: one node of a model as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unknot.errors import SpecError
from unknot.models.spec_schema import NODE
from unknot.schema import check, text


@dataclass(frozen=True)
class NodeSpec:
    """One variable of a model. A node without ``inferred_from`` is data: it is observed and never inferred.

    Arguments:
        name: what it is called in traces, labels and reports.
        family: its distribution, one of :data:`unknot.models.families.FAMILIES` or, for data, of
            :data:`unknot.models.likelihoods.LIKELIHOODS`.
        size: how many numbers or classes; data takes it from the data.
        parents: its parents in the generative model.
        inferred_from: its parents in the recognition model, the data node among them or behind them.
        labels: whether a user may hand over labels for it, for some items or all.
        gradient: how draws carry gradient; None: the family's default.
        hidden: hidden layers of its generative network; (): the default.
        activation: of images and other numbers, "tanh" between the layers of its generative network; "": ReLU.
        recognition_hidden: hidden layers of its recognition network; (): the default.
        channels: of image data, the channels of the encoder's convolutions; (): the default.
        pooled: of image data, whether these convolutions are pooled instead of strided.
        dropout: of image data, the share of what these convolutions see that is hidden in training; None: the default.
        pixels: of bernoulli data, how many pixels each number is the mean of; the likelihood is that of all of them.
        encoder: of image data, "faces" for the encoder of faces under changing light, "apart" for convolutions
            and, apart from these, a perceptron, "doubled" for convolutions twice, "components" for convolutions and
            the coordinates in ``components`` (:mod:`unknot.models.two_trunks`), "framed" for convolutions of the image
            in the frame of its ink and, apart from these, of the image as it is (:mod:`unknot.models.ink_frame`);
            of a categorical node that words are made from, "bayes": by Bayes' rule, from the generative model itself;
            "": the default.
        evidence: of a node of classes, the weight of what the generative model says of them in their recognition
            (:mod:`unknot.models.evidence`).
        evidence_steps: steps of ascent by which the values of the other nodes are searched for, class by class
            (:mod:`unknot.models.search`); 0: they are the encoder's.
        evidence_below: evidence is asked for where the network's best class has at most this probability.
        prior_words: of words made from a categorical node, how many words of the whole corpus every class is believed
            to have seen beside its own; None: the default.
        weights: of words, "tfidf" for rare words that count more and documents of one length
            (:mod:`unknot.models.word_weights`); "": as they are counted.
        concentration: of words from topics, that of a symmetric Dirichlet prior of the topics' shares, approximated by
            Laplace's method; None: shares are softmax of standard normal numbers.
        sampled_words: of words from a product of topics, how many words that a batch does not hold are drawn for the
            normalizer in training; 0: it is a sum over all words.
        generator: of data, "product" for parents that act on each other (:mod:`unknot.models.product_decoder`), "posed"
            for images of which the last parent is the pose (:mod:`unknot.models.posed_decoder`); "": the default.
        components: of normal data, how many principal components of the training items they are made of, or all there
            are (:mod:`unknot.models.principal_components`); 0: their entries one by one.
        sees: which part of what the encoder makes of the data the node is recognized from; "": all.
        whiten: of a normal latent node, the class among the nodes it is recognized from within which its means are
            whitened (:mod:`unknot.models.whitening`); "": not at all.
        confidence: its own threshold of agreement; None: the model's.
        center: of a normal latent node, the prior's mean, in whose units its labels are; (): 0.
        spread: of a normal latent node, the prior's standard deviation; (): 1.
        scale: of normal data, the standard deviation; None: learned.
        color_scale: of normal images, the standard deviation of what is not brightness
            (:mod:`unknot.models.color_noise`); None: the same.
        columns: of a table, its columns; (): taken from the data.
    """

    name: str
    family: str
    size: int | None = None
    parents: tuple[str, ...] = ()
    inferred_from: tuple[str, ...] = ()
    labels: bool = False
    gradient: str | None = None
    hidden: tuple[int, ...] = ()
    activation: str = ""
    recognition_hidden: tuple[int, ...] = ()
    channels: tuple[int, ...] = ()
    pooled: bool = False
    dropout: float | None = None
    pixels: int = 1
    encoder: str = ""
    evidence: float = 0.0
    evidence_steps: int = 0
    evidence_below: float = 1.0
    prior_words: float | None = None
    weights: str = ""
    concentration: float | None = None
    sampled_words: int = 0
    generator: str = ""
    components: int = 0
    sees: str = ""
    whiten: str = ""
    confidence: float | None = None
    center: tuple[float, ...] = ()
    spread: tuple[float, ...] = ()
    scale: float | None = None
    color_scale: float | None = None
    columns: tuple[Mapping[str, Any], ...] = ()

    @property
    def is_data(self) -> bool:
        return not self.inferred_from


def node(
    name: str,
    family: str,
    size: int | None = None,
    *,
    parents: Sequence[str] = (),
    inferred_from: Sequence[str] = (),
    **settings: Any,
) -> NodeSpec:
    """Describe a node: ``node("digit", "concrete", 10, inferred_from=["x"], labels=True)``.

    Arguments:
        name: what it is called in traces, labels and reports.
        family: its distribution, by name.
        size: how many numbers or classes; data takes it from the data.
        parents: the nodes it is made from in the generative model; one alone needs no list.
        inferred_from: the nodes it is inferred from; none: it is the data.
        settings: whatever else a :class:`NodeSpec` says, lists as they come from a file.
    """
    check(name, text(), "model: a node's name")
    given = {"family": family, "size": size, "parents": parents, "inferred_from": inferred_from}
    check({**given, **settings}, NODE, f"model.nodes.{name}")
    for key in ("hidden", "recognition_hidden", "channels", "center", "spread", "columns"):
        if key in settings:
            settings[key] = tuple(settings[key])
    return NodeSpec(name, family, size, _names(parents), _names(inferred_from), **settings)


def refuse_units(spec: NodeSpec) -> None:
    """Refuse a prior's center or spread: only a normal latent node has them, one number for each dimension."""
    for key in ("center", "spread"):
        if getattr(spec, key):
            raise units_error(spec, key)


def units_error(spec: NodeSpec, key: str) -> SpecError:
    """What is wrong with a node's center or spread."""
    return SpecError(
        f"node '{spec.name}': {key} takes one number for each dimension of a normal latent node, "
        f"but got {len(getattr(spec, key))} for a {spec.family} node of size {spec.size}"
    )


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
