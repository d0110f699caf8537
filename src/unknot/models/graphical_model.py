"""GraphicalModel: nodes and parents as data, compiled to an encoder and a decoder program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Size, Tensor, nn

from unknot.core.evidence import GivenValues, Partial, partial, site_value
from unknot.core.node import Variable
from unknot.core.program import Program
from unknot.core.site_prediction import SitePrediction
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.models.augment import augmenter
from unknot.models.by_name import Named
from unknot.models.by_node import ByNode
from unknot.models.families import Family, family
from unknot.models.known_inputs import KnownInput
from unknot.models.likelihoods import Likelihood, likelihood
from unknot.models.networks.network import Decoder, Head, Place, Trunk
from unknot.models.networks.registry import build_decoder, build_head, build_trunk
from unknot.models.node_spec import NodeSpec
from unknot.models.raters import Raters
from unknot.models.spec import ModelSpec, read_spec
from unknot.suggest import did_you_mean


class GraphicalModel(Program):
    """An encoder and a decoder from a description of their nodes (S17 sec. 2.2).

    The encoder runs a network over the data once and then, node by node in the order of ``inferred_from``, a small
    network over that and the values of the node's parents. The decoder gives every node its prior, or a network over
    its parents' values.

    Parameters
    ----------
    spec : list of NodeSpec, ModelSpec, mapping, str or Path
        The description, or the path of a YAML file.
    shape : iterable of int
        The shape of one item, ``(C, H, W)`` for images.

    Examples
    --------
    >>> import torch
    >>> from unknot.models import node
    >>> model = GraphicalModel([
    ...     node("digit", "concrete", 10, inferred_from=["x"], labels=True),
    ...     node("style", "normal", 5, inferred_from=["x", "digit"]),
    ...     node("x", "bernoulli", parents=["digit", "style"]),
    ... ], shape=(1, 8, 8))
    >>> q = model.encode(torch.rand(4, 1, 8, 8), {"digit": torch.tensor([3, -1, -1, 0])})
    >>> p = model.decode(torch.rand(4, 1, 8, 8), q)
    >>> list(q), list(p), p.log_prob().shape
    (['digit', 'style'], ['digit', 'style', 'x'], torch.Size([4]))
    """

    def __init__(
        self, spec: ModelSpec | Mapping[str, Any] | str | Path | Iterable[NodeSpec], shape: Iterable[int]
    ) -> None:
        super().__init__()
        self.spec = spec if isinstance(spec, ModelSpec) else read_spec(spec)
        self.shape = Size(shape)
        self.register_buffer("temperature", torch.tensor(float(self.spec.temperature)))
        self.temperature: Tensor  # of relaxed draws; schedules set it
        self.likelihood: Likelihood = likelihood(self.spec.data, self.shape, self.spec.width)
        self.families = ByNode({n.name: family(n) for n in self.spec.latents})
        self.known_inputs = ByNode({n.name: KnownInput(n) for n in self.spec.known_inputs})
        self.trunk = self._trunk()
        self.augmentation = _augmentation(self.spec, self.shape)
        self.recognition = ByNode({n.name: self._head(n) for n in self.spec.latents})
        self.generation = ByNode({n.name: self._decoder(n) for n in self.spec.nodes if n.parents})
        self.raters = ByNode({n.name: Raters(n.raters, n.size or 0) for n in self.spec.latents if n.raters})

    # ---- the two programs ---------------------------------------------------------------------------

    def encode(
        self, x: Tensor, labels: Mapping[str, Tensor | Partial] | None = None, samples: int | None = None
    ) -> Trace:
        """Run the encoder: labels where known, draws elsewhere.

        Parameters
        ----------
        x : Tensor
            Items ``(B, ...)``.
        labels : mapping from str to Tensor or Partial, optional
            By node, class indices ``(B,)`` with -1 for unknown, numbers ``(B, D)`` with NaN for unknown, or
            ``unknot.partial(values, known)``. Values of nodes that are given come here too.
        samples : int, optional
            The number of draws of every node, on a leading axis; by default one, without the axis.
        """
        labels = dict(labels or {})
        q = Trace(samples=samples)
        inputs: dict[str, Tensor] = {}
        for node in self.spec.known_inputs:
            known_input = self.known_input(node.name)
            q.inputs[node.name] = known_input.values(_given(labels.pop(node.name, None)), len(x))
            inputs[node.name] = known_input(q.inputs[node.name])
        labels = {name: self._label(name, value) for name, value in labels.items()}
        x = self.likelihood.transform(x)
        if any(self.head_of(node.name).uses_features for node in self.spec.latents):
            inputs[self.spec.data.name] = self.trunk(x)  # (B, H)
        for name in self.spec.inference_order:
            node, family = self.spec[name], self.family_of(name)
            seen = {other: inputs[other] for other in node.inferred_from if other in inputs}
            outputs = self.head_of(name).recognize(self, x, seen)
            value = family.recognize(q, outputs, labels.get(name), self.temperature)
            inputs[name] = family.features(value)
        return q

    def decode(self, x: Tensor | None, q: Trace | GivenValues) -> Trace:
        """Run the decoder.

        Parameters
        ----------
        x : Tensor or None
            The items to score; None: draw them.
        q : Trace or GivenValues
            The values of the nodes: an encoder's trace, or ``unknot.given(...)`` to generate.
        """
        return self.decode_transformed(None if x is None else self.likelihood.transform(x), q)

    def decode_transformed(self, x: Tensor | None, q: Trace | GivenValues) -> Trace:
        """Run the decoder for items as the likelihood has transformed them."""
        p, outputs = self._generate(q)
        data = self.spec.data.name
        self.likelihood.site(p, outputs, x, data)
        if self.training and x is not None and (prior := self.decoder_of(data).log_prior()) is not None:
            p.log_term(prior.expand(p.leading_shape[-1:]), name=f"{data}_prior")
        return p

    def forward(self, batch: Any, samples: int | None = None) -> tuple[Trace, Trace]:
        """Run both programs on a batch, with its labels for the nodes that take labels.

        Parameters
        ----------
        batch : Batch
            Items ``x`` and, by node, label ``values``.
        samples : int, optional
            The number of draws of every node; by default that of the spec.
        """
        labels = {
            n.name: site_value(batch, n.name, self.confusion_of(n.name))
            for n in (*self.spec.labeled, *self.spec.known_inputs)
            if n.name in batch.values
        }
        q = self.encode(batch.x, labels, samples or self.spec.samples)
        p = self.decode(batch.x, q)
        for name in self.raters:
            log_prior = self.raters_of(name).log_prior() / batch.dataset_size
            p.log_term(log_prior.expand(len(batch)), name=f"{name}_raters_prior")
        return q, p

    def set_temperature(self, value: float) -> None:
        """Set the temperature of relaxed draws."""
        self.temperature.fill_(value)

    def prepare(self, data: Any) -> None:
        """Take from the training data what training starts from."""
        self.likelihood.prepare(data)
        for node in self.spec.known_inputs:
            self.known_input(node.name).prepare(data)
        for name in self.raters:
            if data.factors[name].votes is not None:
                data = self._with_votes_as_evidence(data, name)
        names = [node.name for node in self.spec.nodes]
        heads = [self.head_of(name) for name in names if name in self.recognition]
        decoders = [self.decoder_of(name) for name in names if name in self.generation]
        for network in (self.trunk, *heads, *decoders):
            network.prepare(data, self.likelihood.transform)

    # ---- regularizers -------------------------------------------------------------------------------

    def augment(self, x: Tensor, scored: bool) -> Tensor | None:
        """Return a random view of images; None without ``augment`` in the spec."""
        if self.augmentation is None:
            return None
        view: Tensor = self.augmentation(x)
        return self.likelihood.possible(view) if scored else view

    def factors_and_style(self, q: Trace, batch: Any) -> tuple[list[str], list[str]]:
        """Return the nodes that take labels, and those without labels that are inferred from the data."""
        from_data = [n for n in self.spec.latents if self.spec.data.name in n.inferred_from]
        return [n.name for n in self.spec.labeled], [n.name for n in from_data if not n.labels]

    def site_prediction(self, node: Variable) -> SitePrediction:
        """Return the mode of a node in the encoder's trace and its confidence."""
        return self.family_of(node.name).prediction(node.dist)

    def site_features(self, name: str, value: Tensor) -> Tensor:
        """Return values of a node in the form that other networks take, in the units of the prior."""
        return self.family_of(name).features(value)

    def score_latents(self, x: Tensor, scored: Mapping[str, Tensor], values: Mapping[str, Tensor]) -> Trace:
        """Return the encoder's distributions of some nodes for items ``x``, each observed at a given value.

        Nodes that are inferred from other nodes alone are left out: they do not depend on the items.
        """
        data = self.spec.data.name
        order = (self.spec[name] for name in self.spec.inference_order if name in scored)
        nodes = [node for node in order if data in node.inferred_from]
        inputs = self._all_features(values, len(x))
        inputs[data] = self.trunk.of_parts({self.head_of(node.name).part for node in nodes}, x)
        q = Trace()
        for node in nodes:
            outputs = self.recognized(node, inputs)
            self.family_of(node.name).site(q, outputs, scored[node.name], self.temperature, None)
        return q

    def derive_latent(self, name: str, values: Mapping[str, Tensor]) -> Tensor:
        """Return a draw of a node that is inferred from other nodes alone, at their values; without gradient."""
        inputs = self._all_features(values, len(next(iter(values.values()))))
        outputs = self.recognized(self.spec[name], inputs)
        return self.family_of(name).recognize(Trace(), outputs, None, self.temperature).detach()

    # ---- use ----------------------------------------------------------------------------------------

    def decode_mean(self, q: Trace | GivenValues) -> tuple[Trace, Tensor]:
        """Return the trace of the latent nodes and the expected data, which is neither drawn nor scored.

        Parameters
        ----------
        q : Trace or GivenValues
            The values of the nodes, as :meth:`decode` takes them.
        """
        p, outputs = self._generate(q)
        return p, self.likelihood.mean(outputs)

    def sample_data(self, q: Trace | GivenValues) -> Tensor:
        """Return data drawn from the likelihood at the values of the nodes in ``q``."""
        return self.likelihood.draw(self._generate(q)[1])

    # ---- parts --------------------------------------------------------------------------------------

    def family_of(self, name: str) -> Family:
        """Return the family of a latent node."""
        kind = self.families[name]
        assert isinstance(kind, Family)
        return kind

    def known_input(self, name: str) -> KnownInput:
        """Return the form in which networks see a node that is given."""
        known = self.known_inputs[name]
        assert isinstance(known, KnownInput)
        return known

    def head_of(self, name: str) -> Head:
        """Return the encoder of a latent node."""
        head = self.recognition[name]
        assert isinstance(head, Head)
        return head

    def decoder_of(self, name: str) -> Decoder:
        """Return the decoder of a node with generative parents."""
        decoder = self.generation[name]
        assert isinstance(decoder, Decoder)
        return decoder

    def recognized(self, node: NodeSpec, inputs: Mapping[str, Tensor]) -> Tensor:
        """Return a node's parameters at the features of the data and of other nodes; no statistics are updated."""
        outputs: Tensor = self.head_of(node.name)({name: inputs[name] for name in node.inferred_from})
        return outputs

    def raters_of(self, name: str) -> Raters:
        """Return the raters of a node."""
        raters = self.raters[name]
        assert isinstance(raters, Raters)
        return raters

    def confusion_of(self, name: str) -> Tensor | None:
        """Return p(reported class | class) of the raters of a node ``(M, K, K)``, or None if it has none."""
        return self.raters_of(name).confusion() if name in self.raters else None

    @torch.no_grad()
    def rater_confusion(self) -> dict[str, Tensor]:
        return {name: self.raters_of(name).confusion() for name in self.raters}

    def prior(self, name: str) -> Tensor:
        """Return the parameters of a node's prior."""
        outputs = self.family_of(name).prior_outputs()
        reference = next(self.parameters())
        return outputs.to(reference.device, reference.dtype)

    def _with_votes_as_evidence(self, data: Any, name: str) -> Any:
        """Learn the raters of a node from votes alone; return the data with the votes as log-potentials."""
        factor = data.factors[name]
        self.raters_of(name).learn(factor)
        return replace(data, factors={**data.factors, name: self.raters_of(name).as_evidence(factor)})

    def _trunk(self) -> Trunk:
        data = self.spec.data
        place = Place(data, self.shape, self.spec.width, self.likelihood)
        return build_trunk(data.encoder or self.likelihood.default_trunk(), place)

    def _head(self, node: NodeSpec) -> Head:
        data = self.spec.data.name
        parents = tuple(self._input_family(name) for name in node.inferred_from if name != data)
        trunk = self.trunk if data in node.inferred_from else None
        shape = Size((self.family_of(node.name).parameters_size,))
        place = Place(node, shape, self.spec.width, self.likelihood, parents, trunk)
        return build_head(node.encoder or self.likelihood.default_head(), place)

    def _decoder(self, node: NodeSpec) -> Decoder:
        parents = tuple(self._input_family(name) for name in node.parents)
        if node.is_data:
            shape, default = self.likelihood.parameters_shape, self.likelihood.default_decoder(parents)
        else:
            shape, default = Size((self.family_of(node.name).parameters_size,)), Named("mlp")
        place = Place(node, shape, self.spec.width, self.likelihood, parents)
        return build_decoder(node.decoder or default, place)

    def _generate(self, q: Trace | GivenValues) -> tuple[Trace, Any]:
        """Return p with all latent sites, and the parameters of the data, as its likelihood takes them."""
        p = Trace()
        features: dict[str, Tensor] = {}
        values: dict[str, Tensor] = {}
        for node in self.spec.known_inputs:
            known_input = self.known_input(node.name)
            if isinstance(q, Trace):
                given, count = q.inputs.get(node.name), q.leading_shape[-1]
            else:
                given, count = _given(q[node.name]), q.batch
            features[node.name] = known_input(known_input.values(given, count))
            values[node.name] = features[node.name]
        for node in self.spec.latents:
            outputs = self._decoded(node, features, values) if node.parents else self.prior(node.name)
            family = self.family_of(node.name)
            values[node.name] = family.generate(p, outputs, q[node.name], self.temperature)
            features[node.name] = family.features(values[node.name])
        return p, self._decoded(self.spec.data, features, values)

    def _decoded(self, node: NodeSpec, features: Mapping[str, Tensor], values: Mapping[str, Tensor]) -> Any:
        seen = {name: features[name] for name in node.parents}
        return self.decoder_of(node.name).decode(seen, {name: values[name] for name in node.parents})

    def _input_family(self, name: str) -> Family:
        """Return the family of a node that a network takes: a latent one, or one that is given."""
        return self.known_input(name).family if name in self.known_inputs else self.family_of(name)

    def _all_features(self, values: Mapping[str, Tensor], count: int) -> dict[str, Tensor]:
        """Return the features of latent nodes at their values, and of the nodes that are given, of ``count`` items."""
        made = {name: self.family_of(name).features(v) for name, v in values.items() if name in self.families}
        for node in self.spec.known_inputs:
            known_input = self.known_input(node.name)
            made[node.name] = known_input(known_input.values(values.get(node.name), count))
        return made

    def _label(self, name: str, value: Tensor | Partial) -> Partial:
        self._refuse_unknown(name)
        if not self.spec[name].labels:
            raise SpecError(
                f"node '{name}' takes no labels; say labels: true in its description to make it partly observed"
            )
        if isinstance(value, Partial):
            return value
        known = partial(value).known
        if value.ndim == 1 and self.spec[name].size == 1 and not self.family_of(name).has_classes:
            value = value.to(next(self.parameters()).dtype).unsqueeze(-1)  # (B,) for a node of size 1
        return partial(value, known)

    def _refuse_unknown(self, name: str) -> None:
        names = [n.name for n in self.spec.latents]
        if name not in names:
            raise SpecError(f"the model has no node '{name}' to label or set; {did_you_mean(name, names)}")


def _given(value: Any) -> Tensor | None:
    """Return the values of a node that is given; None where there are none."""
    if isinstance(value, Partial):
        unknown = torch.nan if value.values.is_floating_point() else -1
        known = value.known.reshape(-1, *[1] * (value.values.ndim - 1))
        return torch.where(known, value.values, unknown)
    return value if isinstance(value, Tensor) else None


def _augmentation(spec: ModelSpec, shape: Size) -> nn.Module | None:
    if spec.augment is None:
        return None
    if len(shape) != 3:
        raise SpecError(f"model: augment is for images (C, H, W), but data is {tuple(shape)}")
    return augmenter(spec.augment)
