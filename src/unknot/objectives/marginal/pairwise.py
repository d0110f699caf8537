"""The fast B x C densities: every draw of a variable under every reference item.

The draws z_b of one variable of the encoder (rows) meet the parameters of C reference items
(columns), and two things come out, from which the marginal of any group of variables or dimensions follows:

* ``joint``, log q(z_b | x_c) of the whole variable; groups of variables add these matrices;
* ``marginals``, log Σ_c w_bc q(z_bd | x_c) for each leaf d (:mod:`unknot.objectives.marginal.leaf_logs`): a single
  dimension, or a class. They are None for a vector whose single dimensions have no closed form.

Draws have shape (*rows, event...) with rows (B,) or (S, B); parameters (C, event...).

**Variables that depend on a discrete parent in the encoder** (z on y): the mixture over items must score z_b at
q(z | x_c, y_b), the parent's value of the *draw* with the input of the *column*. Evaluate the encoder at all K
parent values, pass tables (K, C, event...) and ``parent``, the value k_b of each row: pair (b, c) then uses
entry [k_b, c]. For a continuous parent there is no table; :func:`evaluated` takes log-densities pair by pair.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Size, Tensor
from torch.distributions import Categorical, Distribution, Independent, Normal, OneHotCategorical
from torch.nn.functional import one_hot

from unknot.core.distributions import without_autocast
from unknot.core.relaxed import Concrete
from unknot.errors import SpecError
from unknot.objectives.marginal.leaf_logs import is_one_leaf, leaf_log_probs, log_prob, normal_leaves
from unknot.objectives.marginal.log_mixture import flat_rows, log_mixture
from unknot.objectives.marginal.normal_pairs import normal_pairs
from unknot.objectives.marginal.weights import Mixture

Score = Callable[[Distribution, Tensor], Tensor]

# Two exponents of this size still multiply to a normal float64: exp(-680) > 2.2e-308.
WIDEST = 340.0
# And of this size to a normal float32, whose logarithm takes half of the time: exp(-80) > 1.2e-38, exp(80) < 3e38.
_NARROW = 40.0


@dataclass(frozen=True)
class Labels:
    """Rows of a relaxed variable that are labels: ``where`` (*rows) is True, at ``value`` (*rows, K)."""

    value: Tensor
    where: Tensor


@dataclass(frozen=True)
class Pairs:
    """One variable's densities: ``joint`` (*rows, C) and ``marginals`` (*rows, D), None if it has no leaves."""

    joint: Tensor
    marginals: Tensor | None


def normal(
    value: Tensor, loc: Tensor, scale: Tensor, mixture: Mixture, parent: Tensor | None = None
) -> Pairs:
    """Diagonal Normal: value (*rows, D), loc and scale (C, D), or (K, C, D) with ``parent``.

    >>> from unknot.objectives.marginal.weights import stratified
    >>> loc, scale = torch.zeros(64, 10), torch.ones(64, 10)
    >>> z = loc + scale * torch.randn(64, 10)
    >>> normal(z, loc, scale, stratified(60000, 64, own=torch.arange(64))).marginals.shape
    torch.Size([64, 10])
    """
    loc, scale = torch.broadcast_tensors(loc, scale)
    _check_tables("normal", loc, value, mixture, parent)
    rows = value.shape[:-1]
    dtype = _result_dtype(value, loc)
    joint, marginals = normal_pairs(
        value.reshape(-1, value.shape[-1]).to(dtype),
        _with_table_axis(loc, parent).to(dtype),
        _with_table_axis(scale, parent).to(dtype),
        flat_rows(parent, rows),
        flat_rows(mixture.own, rows),
        mixture.log_own,
        mixture.log_other,
    )
    return Pairs(joint.reshape(*rows, -1), marginals.reshape(*rows, -1))


def concrete(
    log_value: Tensor,
    logits: Tensor,
    temperature: Tensor | float,
    mixture: Mixture,
    parent: Tensor | None = None,
    labels: Labels | None = None,
) -> Pairs:
    """Concrete draws, one leaf: see :func:`concrete_joint`."""
    return one_leaf(concrete_joint(log_value, logits, temperature, mixture, parent, labels), mixture)


def concrete_joint(
    log_value: Tensor,
    logits: Tensor,
    temperature: Tensor | float,
    mixture: Mixture,
    parent: Tensor | None = None,
    labels: Labels | None = None,
) -> Tensor:
    """Concrete draws u = log y (*rows, K), scored by the density of u; logits (C, K) or (T, C, K) with ``parent``.

    By matrix products: float64 keeps their sums from underflow while
    no exponent is more than 340 below the largest. Beyond that, and for masked classes (logits of -inf), every pair is
    worked out by itself.

    Where there are ``labels`` the density does not exist: these rows are scored by the categorical :func:`mass`.
    """
    _check_tables("concrete", logits, log_value, mixture, parent)
    dtype = _result_dtype(log_value, logits)
    heat = float(temperature.detach() if isinstance(temperature, Tensor) else temperature)
    most = max(_largest(log_value) * heat, _largest(logits))
    if most <= _NARROW:
        return _products(log_value.to(dtype), logits.to(dtype), temperature, parent, labels)
    wide, wide_logits = log_value.double(), logits.double()
    s, a = _below_largest(-temperature * wide), _below_largest(wide_logits)
    if max(_largest(s), _largest(a)) <= WIDEST:
        return _products(s / -temperature, a, temperature, parent, labels).to(dtype)
    joint = Concrete(_pick_table(wide_logits, parent), temperature).log_density(wide.unsqueeze(-2)).to(dtype)
    if labels is None:
        return joint
    return joint.where(~labels.where[..., None], mass_joint(labels.value, logits, mixture, parent))


def _products(
    u: Tensor, logits: Tensor, temperature: Tensor | float, parent: Tensor | None, labels: Labels | None
) -> Tensor:
    """All pairs by matrix products, (*rows, C): L_rc = o_r + Σ_k m_rk a_ck - n_r log Σ_k exp(s_rk) exp(a_ck).

    For draws m = 1, n = K, s = -τ u and o = log Γ(K) + (K-1) log τ + Σ_k s_k; for labels m = y, n = 1, s = o = 0. So it
    takes K exponentials per row and per column, not per pair; all terms of the sum are positive, so nothing cancels.
    """
    classes = u.shape[-1]
    heat = torch.as_tensor(temperature, dtype=u.dtype, device=u.device)
    with without_autocast(u):
        s = -heat * u
        offset = s.sum(-1, keepdim=True) + (math.lgamma(classes) + (classes - 1) * heat.log())
        if labels is None:
            count = torch.ones_like(u)
        else:
            where = labels.where[..., None]
            s, offset = s.masked_fill(where, 0.0), offset.masked_fill(where, 0.0)
            count = torch.where(where, labels.value.to(u.dtype), 1.0)
        shares, columns = _flat(s.exp(), logits.exp(), parent)
        counts, log_columns = _flat(count, logits, parent)
        pairs = offset.flatten(0, -2) + counts @ log_columns.mT
        pairs = pairs - count.sum(-1, keepdim=True).flatten(0, -2) * (shares @ columns.mT).log()
    return pairs.reshape(*u.shape[:-1], -1)


def mass(value: Tensor, logits: Tensor, mixture: Mixture, parent: Tensor | None = None) -> Pairs:
    """A class by its mass, one leaf: see :func:`mass_joint`."""
    return one_leaf(mass_joint(value, logits, mixture, parent), mixture)


def mass_joint(value: Tensor, logits: Tensor, mixture: Mixture, parent: Tensor | None = None) -> Tensor:
    """Categorical log-mass Σ_k y_k log π_k at y (*rows, K), one-hot or between the vertices."""
    _check_tables("categorical", logits, value, mixture, parent)
    # 0 * -inf is NaN: a class that cannot be drawn gets the lowest finite log-mass instead.
    dtype = _result_dtype(value, logits)
    log_mass = logits.double().log_softmax(-1).clamp(min=torch.finfo(dtype).min / 2)
    with without_autocast(value):
        rows, columns = _flat(value.double(), log_mass, parent)
        pairs = rows @ columns.mT
    return pairs.to(dtype).reshape(*value.shape[:-1], -1)


def one_leaf(joint: Tensor, mixture: Mixture) -> Pairs:
    """A variable that is one leaf, from its matrix (*rows, C)."""
    return Pairs(joint, log_mixture(joint, mixture)[..., None])


def distribution_pairs(
    dist: Distribution,
    value: Tensor,
    mixture: Mixture,
    parent: Tensor | None = None,
    score: Score | None = None,
) -> Pairs:
    """Any torch distribution of batch shape (C, dims...), or (K, C, dims...) with ``parent``.

    Each entry of ``dims`` has leaves of its own; dimensions that ``Independent`` declares as one event are leaves too,
    for they are independent given x. Normal and categorical variables take the fast paths above; others broadcast:
    R x C x D log-densities, K times as many with a parent. ``score(dist, value)`` replaces ``log_prob``.
    """
    while isinstance(dist, Independent):
        dist = dist.base_dist
    lead = 1 if parent is None else 2
    dims = dist.batch_shape[lead:]
    rows = value.shape[: value.dim() - len(dims) - len(dist.event_shape)]
    if score is None and isinstance(dist, Normal):
        table = (*dist.batch_shape[:lead], -1)
        return normal(
            value.reshape(*rows, -1), dist.loc.reshape(table), dist.scale.reshape(table), mixture, parent
        )
    if score is None and not dims and isinstance(dist, Categorical | OneHotCategorical):
        is_index = isinstance(dist, Categorical)
        one_hot_value = one_hot(value.long(), dist.logits.shape[-1]) if is_index else value
        return mass(one_hot_value, dist.logits, mixture, parent)

    _check_columns(type(dist).__name__, dist.batch_shape, mixture, parent)
    logs = _all_pairs(dist, value, rows, parent, score or log_prob)
    assert logs is not None
    if is_one_leaf(dist):
        return evaluated(logs, mixture)
    joint, singles = logs.sum(-1), normal_leaves(dist)
    if singles is not None:
        return Pairs(joint, distribution_pairs(singles, value, mixture, parent).marginals)
    leaves = _all_pairs(dist, value, rows, parent, leaf_log_probs)
    return Pairs(joint, None if leaves is None else evaluated(leaves, mixture).marginals)


def distribution_joint(
    dist: Distribution, value: Tensor, mixture: Mixture, parent: Tensor | None = None
) -> Tensor:
    """The matrix (*rows, C) of :func:`distribution_pairs` alone, for a vector that need not have leaves."""
    if is_one_leaf(dist) or isinstance(dist, Independent):
        return distribution_pairs(dist, value, mixture, parent).joint
    _check_columns(type(dist).__name__, dist.batch_shape, mixture, parent)
    dims = dist.batch_shape[1 if parent is None else 2 :]
    rows = value.shape[: value.dim() - len(dims) - len(dist.event_shape)]
    logs = _all_pairs(dist, value, rows, parent, log_prob)
    assert logs is not None
    return logs.sum(-1)


def _all_pairs(
    dist: Distribution,
    value: Tensor,
    rows: Size,
    parent: Tensor | None,
    score: Callable[[Distribution, Tensor], Tensor | None],
) -> Tensor | None:
    """``score`` of every row under every column, (*rows, C, -1); None where it gives none."""
    lead = 1 if parent is None else 2
    columns, dims = dist.batch_shape[lead - 1], dist.batch_shape[lead:]
    flat = value.reshape(-1, *(1,) * lead, *dims, *dist.event_shape)
    logs = score(dist.expand(Size((1, *dist.batch_shape))), flat)
    if logs is None:
        return None
    if parent is not None:
        row_parent = flat_rows(parent, rows)
        logs = logs[torch.arange(len(logs), device=logs.device), row_parent]  # (R, K, C, ...) -> (R, C, ...)
    return logs.reshape(*rows, columns, -1)


def evaluated(logs: Tensor, mixture: Mixture) -> Pairs:
    """From log q(z_bd | x_c), evaluated by the caller for every pair and leaf: (*rows, C, D).

    The way for a variable with a continuous parent, whose parameters belong to a pair and not to an item.
    """
    rows = logs.shape[:-2]
    by_leaf = logs.movedim(-1, 0)  # (D, *rows, C)
    marginals = log_mixture(by_leaf, mixture).movedim(0, -1)
    return Pairs(by_leaf.sum(0), marginals.reshape(*rows, -1))


def _below_largest(logs: Tensor) -> Tensor:
    """Shift the largest entry of the last axis to zero."""
    return logs - logs.detach().amax(-1, keepdim=True)


def _largest(logs: Tensor) -> float:
    """The largest number, whatever its sign; a compiled graph cannot look, and takes the worst."""
    if torch.compiler.is_compiling():
        return math.inf
    largest = torch.linalg.vector_norm(logs.detach(), math.inf).item()
    return math.inf if math.isnan(largest) else largest


def _flat(value: Tensor, table: Tensor, parent: Tensor | None) -> tuple[Tensor, Tensor]:
    """Factors (R, K) and (C, K) of a product; with a parent, (R, T K) and (C, T K).

    Then rows become value ⊗ one-hot(parent), zero wherever the table is another parent's.
    """
    if parent is None:
        return value.flatten(0, -2), table
    tables, columns, classes = table.shape
    where = one_hot(parent.expand(value.shape[:-1]), tables).to(value.dtype)  # (*rows, T)
    wide = (where[..., :, None] * value[..., None, :]).flatten(-2)  # (*rows, T K)
    return wide.flatten(0, -2), table.movedim(1, 0).reshape(columns, tables * classes)


def _pick_table(table: Tensor, parent: Tensor | None) -> Tensor:
    """(C, ...) as it is, or (T, C, ...) -> (*rows, C, ...)."""
    return table if parent is None else table[parent]


def _result_dtype(value: Tensor, parameter: Tensor) -> torch.dtype:
    """At least float32, whatever precision the networks run in."""
    return torch.promote_types(torch.promote_types(value.dtype, parameter.dtype), torch.float32)


def _with_table_axis(table: Tensor, parent: Tensor | None) -> Tensor:
    return table[None] if parent is None else table


def _check_tables(family: str, table: Tensor, value: Tensor, mixture: Mixture, parent: Tensor | None) -> None:
    _check_columns(family, table.shape[:-1], mixture, parent)
    if value.shape[-1] != table.shape[-1]:
        raise SpecError(
            f"{family}: expected draws and parameters of the same size, got {value.shape[-1]} and {table.shape[-1]}"
        )


def _check_columns(family: str, batch: Size, mixture: Mixture, parent: Tensor | None) -> None:
    lead = 1 if parent is None else 2
    if len(batch) < lead or batch[lead - 1] != mixture.columns:
        wanted = f"({mixture.columns}, ...)" if parent is None else f"(parent values, {mixture.columns}, ...)"
        raise SpecError(
            f"{family}: expected parameters of {mixture.columns} reference items, shape {wanted}, got {tuple(batch)}; "
            "give one row per item the weights were made for"
        )
