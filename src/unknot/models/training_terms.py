"""What training adds to the generative program: log-terms that are no part of the bound.

The two programs of :class:`unknot.models.graphical_model.GraphicalModel` make the bound. Where its description asks for
it, training adds that two views are read alike (:mod:`unknot.models.agreement`), what a critic says
(:mod:`unknot.models.critic`), the price of dependence (:mod:`unknot.models.independence`) and that items with swapped
factors are read as they were made (:mod:`unknot.models.swap`). Each is one site of p; none is there after training.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

from unknot.core.evidence import given
from unknot.core.node import Variable
from unknot.core.trace import Trace
from unknot.models.agreement import divergence, target
from unknot.models.independence import dependence
from unknot.models.node_spec import NodeSpec
from unknot.models.swap import at_rest, kept_value, swapped_label, unchanged

if TYPE_CHECKING:
    from unknot.models.graphical_model import GraphicalModel


def add_training_terms(model: GraphicalModel, q: Trace, p: Trace, second_view: Tensor) -> None:
    """Add to p all that the model's description asks for; ``second_view``: the items, jittered."""
    if model.spec.agreement > 0:
        _agree(model, q, p, second_view)
    if model.critic is not None:
        for name, term in model.critic(q, model.temperature).items():
            p.log_term(term, name=f"critic_{name}")
    if model.spec.independence > 0:
        _part(model, q, p)
    if model.spec.swap > 0:
        _swap(model, q, p)


# ---- two views ------------------------------------------------------------------------------------------


def _agree(model: GraphicalModel, q: Trace, p: Trace, second_view: Tensor) -> None:
    """How well the second view of the items is read as the first: of the nodes with labels or classes."""
    nodes = [n for n in model.spec.latents if n.labels or model.family_of(n.name).has_classes]
    features = model.trunk.of_parts({node.sees for node in nodes}, second_view)
    for node in nodes:
        if node.labels:
            agreed = _agreed_value(model, node, q, features)
        else:
            first: Any = q[node.name].dist
            reading = model.family_of(node.name).reading(first).value
            second: Any = _second_view(model, node, q, features, reading).dist
            agreed = -divergence(first.logits, second.logits)
        p.log_term(model.spec.agreement * agreed, name=f"agreement_{node.name}")


def _agreed_value(model: GraphicalModel, node: NodeSpec, q: Trace, features: Tensor) -> Tensor:
    """log q(v | x̃) at the label or the first view's own reading, where that is sure."""
    first = q[node.name]
    threshold = model.spec.confidence if node.confidence is None else node.confidence
    value, counts = target(first, model.family_of(node.name).reading(first.dist), threshold)
    # observed: classes are scored by their mass
    return counts * _second_view(model, node, q, features, value).log_prob


def _second_view(
    model: GraphicalModel, node: NodeSpec, q: Trace, features: Tensor, value: Tensor
) -> Variable:
    """The node as recognized from the second view's features, observed at ``value``."""
    inputs = {model.spec.data.name: features}
    for name in node.inferred_from:
        if name not in inputs:
            inputs[name] = model.family_of(name).features(q[name].value)
    second = Trace()
    model.family_of(node.name).site(second, model.recognized(node, inputs), value, model.temperature, None)
    return second[node.name]


# ---- style and factors apart ----------------------------------------------------------------------------


def _part(model: GraphicalModel, q: Trace, p: Trace) -> None:
    """What the style and each labeled node have to do with each other, the same for every item."""
    factors = [n.name for n in model.spec.labeled]
    families = {n.name: model.family_of(n.name) for n in model.spec.latents}
    for name, value in dependence(q, model.style, factors, families).items():
        price = -model.spec.independence * value
        p.log_term(price.expand(p.leading_shape[-1:]), name=f"independence_{name}")


# ---- swapped factors ------------------------------------------------------------------------------------


def _swap(model: GraphicalModel, q: Trace, p: Trace) -> None:
    """How well items made with the factors of others are read as they were made."""
    spec = model.spec
    values: dict[str, Tensor] = {}
    inputs: dict[str, Tensor] = {}
    for name in spec.recognition_order:
        node, family = spec[name], model.family_of(name)
        if node.labels:
            values[name] = swapped_label(q, name, family)
        elif spec.data.name in node.inferred_from:
            values[name] = kept_value(q, name)
        else:  # computed from other nodes alone: it follows them
            outputs = model.recognized(node, inputs)
            values[name] = family.recognize(Trace(), outputs, None, model.temperature).detach()
        inputs[name] = family.features(values[name])
    made = model.expected_data(given(len(inputs[name]), values))
    of_factors, of_rest = _seen_in_made(model, made)
    read = Trace()
    for name in spec.recognition_order:
        node = spec[name]
        if spec.data.name in node.inferred_from:
            inputs[spec.data.name] = of_factors if node.labels else of_rest
            with unchanged(model.recognition[name], node.gradient == "detached"):
                outputs = model.recognized(node, inputs)
            model.family_of(name).site(read, outputs, values[name], model.temperature, None)
    p.log_term(spec.swap * read.log_prob(), name="swap")


def _seen_in_made(model: GraphicalModel, made: Tensor) -> tuple[Tensor, Tensor]:
    """The features of made items that the factors are read from, and those for the rest."""
    spec = model.spec
    read = [n for n in spec.latents if spec.data.name in n.inferred_from]
    factors, rest = ([n for n in read if n.labels is labeled] for labeled in (True, False))
    apart = all(n.gradient == "detached" for n in factors)
    with at_rest(model.trunk):
        if spec.swap_teaches == 1.0 and not apart:
            features = model.trunk(made)
            return features, features
        with unchanged(model.trunk, apart):
            of_factors = model.trunk.of_parts({n.sees for n in factors}, made)
        damped = made.detach() + spec.swap_teaches * (made - made.detach())
        return of_factors, model.trunk.of_parts({n.sees for n in rest}, damped)
