"""GraphicalModel: nodes and parents as data, compiled to an encoder and a decoder program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Size, Tensor, nn

from unknot.core.axes import cat
from unknot.core.evidence import GivenValues, Partial, partial
from unknot.core.program import Program
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.models.augment import augmenter
from unknot.models.by_node import ByNode
from unknot.models.classed_words import ClassedWords
from unknot.models.critic import Critic
from unknot.models.evidence import log_evidence
from unknot.models.families import Family, family
from unknot.models.families.concrete import ConcreteFamily
from unknot.models.independence import nodes_at_rest
from unknot.models.likelihoods import Likelihood, likelihood
from unknot.models.networks import mlp
from unknot.models.node_spec import NodeSpec
from unknot.models.principal_components import PrincipalComponents
from unknot.models.spec import ModelSpec, read_spec
from unknot.models.training_terms import add_training_terms
from unknot.models.whitening import Whitening
from unknot.models.word_weights import WordWeights
from unknot.suggest import did_you_mean


class GraphicalModel(Program):
    """A generative and a recognition model from a description of their nodes (S17 sec. 2.2).

    The recognition program runs a network over the data once and then, node by node in the order of
    ``inferred_from``, a small network over that and the values of the node's parents. The generative
    program gives every node its prior or a network over its parents' values.

    Arguments:
        spec: the description: a list of nodes, a checked ``ModelSpec``, a dictionary, or the path of a YAML file.
        shape: the shape of one item, ``(C, H, W)`` for images.

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
        data = self.spec.data
        self.register_buffer("temperature", torch.tensor(float(self.spec.temperature)))
        self.temperature: Tensor  # of relaxed draws; schedules set it
        self.likelihood: Likelihood = likelihood(data, self.shape, self.spec.width)
        self.families = ByNode({n.name: family(n) for n in self.spec.latents})
        self.weigh = WordWeights(self.shape[0]) if data.weights == "tfidf" else nn.Identity()
        self.trunk = self.likelihood.trunk()
        self.jitter = _augmenter(self.spec, self.shape)
        own = [n for n in self.spec.latents if n.encoder != "bayes"]
        self.recognition = ByNode({n.name: self._recognition_network(n) for n in own})
        self.whitening = ByNode({n.name: self._whitening(n) for n in own if n.whiten})
        self.generation = ByNode({n.name: self._generative_network(n) for n in self.spec.nodes if n.parents})
        families = {n.name: self.family_of(n.name) for n in self.spec.latents}
        self.critic = Critic(self.spec, families) if self.spec.critic else None
        self.style = nodes_at_rest(self.spec, "independence") if self.spec.independence else []

    # ---- the two programs ---------------------------------------------------------------------------

    def encode(
        self, x: Tensor, labels: Mapping[str, Tensor | Partial] | None = None, samples: int | None = None
    ) -> Trace:
        """The recognition program: labels where known, draws elsewhere.

        Arguments:
            x: items ``(B, ...)``.
            labels: by node, class indices ``(B,)`` with -1 for unknown, numbers ``(B, D)`` with NaN for unknown, or
                ``unknot.partial(values, known)``.
            samples: how many draws of every node, on a leading axis; None: one, without the axis.
        """
        labels = {name: self._label(name, value) for name, value in (labels or {}).items()}
        q = Trace(samples=samples)
        x = self.weigh(x)
        inputs = {self.spec.data.name: self.trunk(x)} if len(self.recognition) else {}  # (B, H)
        for name in self.spec.recognition_order:
            node = self.spec[name]
            by_rule = node.encoder == "bayes"
            outputs = self._by_bayes(node, x) if by_rule else self.recognized(node, inputs, self.training)
            if node.evidence and not self.training:
                outputs = self._with_evidence(node, outputs, x, inputs)
            value = self.family_of(name).recognize(q, outputs, labels.get(name), self.temperature)
            inputs[name] = self.family_of(name).features(value)
        return q

    def decode(self, x: Tensor | None, q: Trace | GivenValues) -> Trace:
        """The generative program.

        Arguments:
            x: the items to score; None: draw them.
            q: the values of the nodes: a recognition trace, or ``unknot.given(...)`` to generate.
        """
        return self._decode_weighed(x if x is None else self.weigh(x), q)

    def _decode_weighed(self, x: Tensor | None, q: Trace | GivenValues) -> Trace:
        """The generative program of items whose words, if they are words, are weighed."""
        p, outputs = self._generative_program(q)
        self.likelihood.site(p, outputs, x, self.spec.data.name)
        words = self.generation[self.spec.data.name]
        prior = words.log_prior() if isinstance(words, ClassedWords) and x is not None else None
        if prior is not None and self.training:
            p.log_term(prior.expand(p.leading_shape[-1:]), name=f"{self.spec.data.name}_prior")
        return p

    def forward(self, batch: Any, samples: int | None = None) -> tuple[Trace, Trace]:
        """Both programs on a batch: its data, and its labels for the nodes that take labels.

        Jittered items, where the description asks for them, take the place of the items; with ``agreement`` they are
        a second view instead, which only the encoder sees (:mod:`unknot.models.agreement`). While it is trained, a
        critic (:mod:`unknot.models.critic`), the price of dependence (:mod:`unknot.models.independence`) and swapped
        factors (:mod:`unknot.models.swap`) add their log-terms.

        Arguments:
            batch: items ``x`` and, by node, label ``values``, as :class:`unknot.data.batch.Batch` has them.
            samples: how many draws of every node; None: as the description says.
        """
        jittered = batch.x if self.jitter is None else self.jitter(batch.x)
        two_views = self.training and self.spec.agreement > 0
        x = batch.x if two_views or jittered is batch.x else self.likelihood.possible(jittered)
        labels = {n.name: batch.values[n.name] for n in self.spec.labeled if n.name in batch.values}
        q = self.encode(x, labels, samples or self.spec.samples)
        p = self.decode(x, q)
        if self.training:
            add_training_terms(self, q, p, jittered)
        return q, p

    def set_temperature(self, value: float) -> None:
        """Set the temperature of relaxed draws."""
        self.temperature.fill_(value)

    def prepare(self, data: Any) -> None:
        """Take from the training data what training starts from."""
        bases = [part for part in self.modules() if isinstance(part, PrincipalComponents)]
        for basis in bases[:1]:
            basis.take(data)
        for basis in bases[1:]:
            basis.load_state_dict(bases[0].state_dict())
        if isinstance(self.weigh, WordWeights):
            self.weigh.prepare(data)
        words = self.generation[self.spec.data.name]
        if isinstance(words, ClassedWords):
            words.prepare(data, self.weigh)

    # ---- use ----------------------------------------------------------------------------------------

    def decode_mean(self, q: Trace | GivenValues) -> tuple[Trace, Tensor]:
        """The generative program up to the data: the trace of the latent nodes, and the expected data.

        The data is neither drawn nor scored.

        Arguments:
            q: the values of the nodes, as :meth:`decode` takes them.
        """
        p, outputs = self._generative_program(q)
        return p, self.likelihood.mean(outputs)

    def sample_data(self, q: Trace | GivenValues) -> Tensor:
        """Data drawn from the likelihood at the values of the nodes in ``q``."""
        return self.likelihood.draw(self._generative_program(q)[1])

    # ---- parts --------------------------------------------------------------------------------------

    def family_of(self, name: str) -> Family:
        kind = self.families[name]
        assert isinstance(kind, Family)
        return kind

    def recognized(self, node: NodeSpec, inputs: Mapping[str, Tensor], learn: bool = False) -> Tensor:
        """What a node's recognition network gives for the features of the data and the values of other nodes.

        Whitened where the description asks for it; ``learn``: items to take the moments from.
        """
        chosen = {name: inputs[name] for name in node.inferred_from}
        if node.sees:
            chosen[self.spec.data.name] = chosen[self.spec.data.name][..., self.trunk.parts[node.sees]]
        outputs: Tensor = self.recognition[node.name](cat(list(chosen.values())))
        if not node.whiten:
            return outputs
        white, classes = self.whitening[node.name], self.family_of(node.whiten)
        assert isinstance(white, Whitening)
        assert isinstance(classes, ConcreteFamily)
        y = classes.from_features(inputs[node.whiten])
        if learn and torch.is_grad_enabled():  # not where a program is run to see what it does
            white.renew(outputs.detach(), y.detach())
        result: Tensor = white(outputs, y)
        return result

    def _with_evidence(
        self, node: NodeSpec, outputs: Tensor, x: Tensor, inputs: Mapping[str, Tensor]
    ) -> Tensor:
        """The network's logits ``(B, K)`` and, where they are not sure, what the generative model says of them."""
        data = self.spec.data.name
        unsure = outputs.softmax(-1).max(-1).values <= node.evidence_below
        if not unsure.any():
            return outputs
        found = log_evidence(
            node.name,
            x[unsure],
            {data: inputs[data][unsure]},
            self.spec.recognition_order,
            {n.name: self.family_of(n.name) for n in self.spec.latents},
            lambda other, seen: self.recognized(self.spec[other], seen),
            self._decode_weighed,
            self.temperature,
            node.evidence_steps,
        )
        more = torch.zeros_like(outputs)
        more[unsure] = node.evidence * found.to(outputs.dtype)
        return outputs + more

    def _whitening(self, node: NodeSpec) -> Whitening:
        return Whitening(self.family_of(node.whiten).size, self.family_of(node.name).size)

    def _by_bayes(self, node: NodeSpec, x: Tensor) -> Tensor:
        """log p(y) + log p(x | y) but for a constant, of every class; other parents at their prior mean."""
        words = self.generation[self.spec.data.name]
        if not isinstance(words, ClassedWords) or words.name != node.name:
            raise SpecError(
                f"node '{node.name}': encoder bayes needs words (multinomial) that are made from it"
            )
        return words.at_rest().class_log_likelihoods(x) + self._prior(node.name)

    def _recognition_network(self, node: NodeSpec) -> nn.Module:
        from_data = self._seen(node) if self.spec.data.name in node.inferred_from else 0
        parents = [p for p in node.inferred_from if p != self.spec.data.name]
        inputs = from_data + sum(self.family_of(p).value_size for p in parents)
        # a node read off the data alone needs no layer of its own after the trunk
        default = (self.spec.width // 2,) if parents else ()
        size = self.family_of(node.name).parameters_size
        return self.likelihood.head(inputs, node.recognition_hidden or default, size)

    def _seen(self, node: NodeSpec) -> int:
        """How many features of the data the node's recognition network sees."""
        if not node.sees:
            return self.trunk.features
        if node.sees not in self.trunk.parts:
            there = ", ".join(self.trunk.parts) or "no parts"
            raise SpecError(
                f"node '{node.name}' sees '{node.sees}', but this encoder of the data has {there}"
            )
        part = self.trunk.parts[node.sees]
        return int(part.stop - part.start)

    def _generative_network(self, node: NodeSpec) -> nn.Module:
        inputs = sum(self.family_of(p).value_size for p in node.parents)
        if node.is_data:
            by_parts = self.likelihood.decoder_of([self.family_of(p) for p in node.parents])
            return self.likelihood.decoder(inputs) if by_parts is None else by_parts
        return mlp(inputs, node.hidden or (self.spec.width // 2,), self.family_of(node.name).parameters_size)

    def _generative_program(self, q: Trace | GivenValues) -> tuple[Trace, Any]:
        """All latent sites of p, and the parameters of the data, as its likelihood takes them."""
        p = Trace()
        inputs: dict[str, Tensor] = {}
        values: dict[str, Tensor] = {}
        for node in self.spec.latents:
            outputs = self._generated(node, inputs) if node.parents else self._prior(node.name)
            family = self.family_of(node.name)
            values[node.name] = family.generate(p, outputs, q[node.name], self.temperature)
            inputs[node.name] = family.features(values[node.name])
        words = self.generation[self.spec.data.name]
        if isinstance(words, ClassedWords):
            return p, words({**inputs, words.name: values[words.name]})
        return p, self._generated(self.spec.data, inputs)

    def _generated(self, node: NodeSpec, inputs: Mapping[str, Tensor]) -> Tensor:
        return self.generation[node.name](cat([inputs[p] for p in node.parents]))

    def _prior(self, name: str) -> Tensor:
        outputs = self.family_of(name).prior_outputs()
        reference = next(self.parameters())
        return outputs.to(reference.device, reference.dtype)

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


def _augmenter(spec: ModelSpec, shape: Size) -> nn.Module | None:
    if spec.augment is None:
        return None
    if len(shape) != 3:
        raise SpecError(f"model: augment is for images (C, H, W), but data is {tuple(shape)}")
    return augmenter(spec.augment)
