"""What a class knows of the data and how it is spread over the classes, by its exact masses.

For a site c with the classes 1...K, read from x, with q̄(c) = mean over the global batch of q(c | x):

    information[c]   log q̄(c) - log q(c | x),  in expectation -I(x; c) = E H[q(c | x)] - H[q̄(c)],
    marginal[c]      log p(c) - log q̄(c),      in expectation -KL(q̄(c) || p(c)), for a uniform prior H[q̄(c)] - log K.

They are the class's own share of (2) and (ii) (E19 Fig. 3), summed over the classes instead of drawn, so a relaxed or
sampled class has them without noise. Together they are -KL(q(c | x) || p(c)), item by item. An item whose class is
known is of that class, here and in q̄: its two parts add up to log p(c), what the bound of S17 Eq. 8 holds of it. With
evidence ψ on its class (:func:`unknot.partial`) it has the masses q(c | x) ψ(c) / Σ_c q(c | x) ψ(c), and the bound has
E log ψ(c) beside the two parts.

q̄ is the mean of a batch: exact when the batch is the data; else H[q̄] is too small by about (K - 1) / 2B at most, since
a batch of B items shows its own class shares and not those of the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor
from torch.distributions import Categorical, OneHotCategorical
from torch.nn.functional import one_hot

from unknot.core.node import Variable
from unknot.core.relaxed import Concrete
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.marginal.gather import gather_items
from unknot.suggest import did_you_mean

Number = float | Tensor


def class_parts(q: Trace, p: Trace, name: str) -> tuple[Tensor, Tensor]:
    """``information[name]`` and ``marginal[name]`` of each item, (B,) both, in expectation over its classes.

    >>> q, p = Trace(), Trace()
    >>> sure = torch.tensor([[20.0, 0.0], [0.0, 20.0]])
    >>> _ = p.concrete(torch.zeros(2), 0.66, value=q.concrete(sure, 0.66, name="c"), name="c")
    >>> information, marginal = class_parts(q, p, "c")
    >>> round(-float(information.mean()), 4), abs(float(marginal.mean())) < 1e-6
    (0.6931, True)
    """
    log_masses = _log_masses(q[name], "encoder")  # (B, K)
    log_prior = _log_masses(p[name], "prior")  # (K,)
    if log_masses.ndim != 2:
        raise SpecError(
            f"class '{name}': its masses are exact where it is read from x alone, not from draws."
        )
    if log_prior.ndim != 1:
        raise SpecError(
            f"class '{name}': its marginal is held against a prior that is the same for every item."
        )
    masses, log_own = _with_labels(q[name], log_masses)
    mean = gather_items(masses).mean(0)  # (K,)
    log_mean = torch.where(mean > 0, mean, 1.0).log()  # a class that never occurs counts nothing
    log_prior = torch.where(masses > 0, log_prior, 0.0)
    return (masses * (log_mean - log_own)).sum(-1), (masses * (log_prior - log_mean)).sum(-1)


def class_sites(q: Trace) -> list[str]:
    """The sites of q that are one of K classes."""
    return [node.name for node in q.variables() if _is_class(node)]


def refuse_unknown_classes(q: Trace, names: Iterable[str], what: str) -> None:
    """Refuse a weight on a site that is no class of q."""
    there = class_sites(q)
    for name in names:
        if name not in there:
            raise SpecError(f"{what}: there is no class '{name}'; {did_you_mean(name, there)}")


def by_masses(
    q: Trace, p: Trace, weights: Number | Mapping[str, Number]
) -> tuple[dict[str, Number], Number | dict[str, Number]]:
    """Weights of information by name: of classes whose masses say it exactly, and the others, to be estimated."""
    if not isinstance(weights, Mapping):
        return {}, weights
    exact = {name: weight for name, weight in weights.items() if _has_exact_masses(q, p, name)}
    return exact, {name: weight for name, weight in weights.items() if name not in exact}


def weighted_classes(
    q: Trace, p: Trace, information: Mapping[str, Number], marginal: Mapping[str, Number], bound: float
) -> tuple[dict[str, Tensor], dict[str, Number]]:
    """The parts of the classes that have a weight, and the weights that they get beside a bound that holds them.

    The bound counts a class's information ``bound`` times and its marginal once; a weight says how often it counts.
    """
    refuse_unknown_classes(q, information, "information")
    refuse_unknown_classes(q, marginal, "marginal")
    values: dict[str, Tensor] = {}
    weights: dict[str, Number] = {}
    for name in dict.fromkeys([*information, *marginal]):
        own, spread = class_parts(q, p, name)
        if name in information:
            values[f"information[{name}]"], weights[f"information[{name}]"] = own, information[name] - bound
        if name in marginal:
            values[f"marginal[{name}]"], weights[f"marginal[{name}]"] = spread, marginal[name] - 1.0
    return values, weights


def _has_exact_masses(q: Trace, p: Trace, name: str) -> bool:
    """Whether a site is a class that is read from x alone, with a prior that is the same for all items."""
    if name not in class_sites(q):
        return False
    return _log_masses(q[name], "encoder").ndim == 2 and _log_masses(p[name], "prior").ndim == 1


def _is_class(node: Variable) -> bool:
    return isinstance(node.dist, Categorical | OneHotCategorical | Concrete)


def _with_labels(node: Variable, log_masses: Tensor) -> tuple[Tensor, Tensor]:
    """Masses (B, K) and their logarithms, zero where a mass is: the encoder's, or all on a label that is known."""
    if node.evidence is not None:
        dist = node.plain if node.undetached is None else node.undetached
        conditioned = node.evidence.condition(dist)
        assert isinstance(conditioned, Categorical | OneHotCategorical | Concrete)
        log_masses = conditioned.logits.log_softmax(-1)
    masses = log_masses.exp()
    log_own = torch.where(masses > 0, log_masses, 0.0)
    if node.known is False:
        return masses, log_own
    label = node.value if node.label is None else node.label
    if isinstance(node.dist, Categorical):
        label = one_hot(label.clamp(min=0).long(), masses.shape[-1])
    label = label.reshape(-1, *masses.shape)[0].to(masses.dtype)  # the same at every draw
    known = torch.as_tensor(node.known, device=masses.device).expand(len(masses)).unsqueeze(-1)
    return torch.where(known, label, masses), torch.where(known, 0.0, log_own)


def _log_masses(node: Variable, whose: str) -> Tensor:
    """Of the distribution that the program gave, with all its gradient."""
    dist = node.plain if node.undetached is None else node.undetached
    if isinstance(dist, Categorical | OneHotCategorical | Concrete):
        return dist.logits.log_softmax(-1)
    raise SpecError(f"'{node.name}' is no class of the {whose}: it has no masses.")
