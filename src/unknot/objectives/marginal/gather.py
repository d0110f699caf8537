"""The global batch under data-parallel training: reference items from every process.

Each of P processes holds B/P items. Its draws are rows; the columns must be all B items, or the estimates of
q(z) are those of a smaller batch. So the encoder's parameters are gathered, and gradients must find their way
back to the process that owns the item.

**What the backward does.** One process with the whole batch would minimize L = 1/B Σ_b l_b. Process p minimizes
L_p = P/B Σ_{b in p} l_b, a mean over its own items, and data-parallel training averages the gradients of the
processes, so together they minimize 1/P Σ_p L_p = L. Let φ_c be the parameters of an item c of process r. L
has the gradient 1/P Σ_p ∂L_p/∂φ_c with respect to them. Process r carries whatever arrives at φ_c into the
network, and averaging divides it by P. What must arrive is therefore Σ_p ∂L_p/∂φ_c: the **sum over all
processes** of their gradients for the columns of r, and no other weight.

Every process must bring the same number of items, and call in the same order.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.distributed as processes
from torch import Tensor
from torch.distributions import Distribution

from unknot.core.distributions import map_parameters
from unknot.errors import SpecError

# One distribution from several: parameters of many items, or of one encoder run at many parent values.


def parameters(dist: Distribution) -> list[Tensor]:
    """The parameter tensors, each with all of the distribution's batch axes."""
    found: list[Tensor] = []

    def note(tensor: Tensor) -> Tensor:
        found.append(tensor)
        return tensor

    map_parameters(dist, note)
    return found


def join_distributions(dists: Sequence[Distribution], join: Callable[[list[Tensor]], Tensor]) -> Distribution:
    """Each parameter of the result is ``join`` of theirs.

    >>> import torch
    >>> from torch.distributions import Normal
    >>> join_distributions([Normal(torch.zeros(3), 1.0), Normal(torch.ones(2), 2.0)], torch.cat).loc.shape
    torch.Size([5])
    """
    if any(type(dist) is not type(dists[0]) for dist in dists):
        kinds = ", ".join(sorted({type(dist).__name__ for dist in dists}))
        raise SpecError(f"expected distributions of one family at a site, got {kinds}")
    joined = iter([join(list(tensors)) for tensors in zip(*map(parameters, dists), strict=True)])
    return map_parameters(dists[0], lambda _: next(joined))


def process_count() -> int:
    return processes.get_world_size() if processes.is_available() and processes.is_initialized() else 1


def process_rank() -> int:
    return processes.get_rank() if process_count() > 1 else 0


def own_columns(batch: int, device: torch.device | None = None) -> Tensor:
    """Where this process's items stand among the gathered columns: shape (batch,)."""
    start = process_rank() * batch
    return torch.arange(start, start + batch, device=device)


def gather_items(tensor: Tensor, axis: int = 0) -> Tensor:
    """Join the processes' tensors along ``axis``, in the order of their ranks; differentiable (see above)."""
    if process_count() == 1:
        return tensor
    return all_gather_rows(tensor.movedim(axis, 0)).movedim(0, axis)


def gather_distribution(dist: Distribution, axis: int = 0) -> Distribution:
    """The same distribution for the items of all processes; ``axis`` of its batch shape counts items."""
    if process_count() == 1:
        return dist
    return map_parameters(dist, lambda parameter: gather_items(parameter, axis))


@torch.library.custom_op("unknot::all_gather_rows", mutates_args=())
def all_gather_rows(rows: Tensor) -> Tensor:
    """(B, ...) of every process -> (P B, ...)."""
    gathered = rows.new_empty(process_count() * rows.shape[0], *rows.shape[1:])
    processes.all_gather_into_tensor(gathered, rows.contiguous())
    return gathered


@all_gather_rows.register_fake
def _(rows: Tensor) -> Tensor:
    return rows.new_empty(process_count() * rows.shape[0], *rows.shape[1:])


@torch.library.custom_op("unknot::sum_own_rows", mutates_args=())
def sum_own_rows(rows: Tensor) -> Tensor:
    """Σ over processes of their (P B, ...), and of it the rows of this process: (B, ...).

    All-reduce and cut, which every backend has; the tensors are small (parameters, not pairs).
    """
    total = rows.clone(memory_format=torch.contiguous_format)
    processes.all_reduce(total)
    return total.chunk(process_count())[process_rank()].clone()


@sum_own_rows.register_fake
def _(rows: Tensor) -> Tensor:
    return rows.new_empty(rows.shape[0] // process_count(), *rows.shape[1:])


def _differentiate(ctx: Any, grad: Tensor) -> Tensor:
    return sum_own_rows(grad)


all_gather_rows.register_autograd(_differentiate)
