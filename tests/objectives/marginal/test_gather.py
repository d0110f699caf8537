"""Two processes with half a batch each must do what one process with the whole batch does."""

from pathlib import Path

import pytest
import torch
import torch.distributed as processes
import torch.multiprocessing
from torch import Tensor
from torch.distributions import Normal

from unknot.objectives.marginal.gather import gather_distribution, gather_items, own_columns, process_count
from unknot.objectives.marginal.marginal_tree import marginal_tree
from unknot.objectives.marginal.pairwise import concrete, distribution_pairs
from unknot.objectives.marginal.weights import stratified

N, B, D, K, TAU = 100, 8, 3, 4, 0.66


def setting() -> dict[str, Tensor]:
    """Inputs, frozen noise and the encoder's weights, the same in every process."""
    generator = torch.Generator().manual_seed(0)

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    return {"x": draw(B, 5), "noise": draw(B, D), "gumbel": draw(B, K), "weight": 0.5 * draw(5, 2 * D + K)}


def terms(weight: Tensor, x: Tensor, noise: Tensor, gumbel: Tensor) -> Tensor:
    """Five terms for each local item, (local batch, 5): every kind of marginal, through one linear encoder."""
    loc, log_scale, logits = (x @ weight).split([D, D, K], -1)
    local = Normal(loc, log_scale.exp())
    z = loc + log_scale.exp() * noise
    u = ((logits + gumbel) / TAU).log_softmax(-1)
    batch = len(x)
    weights = stratified(N, batch * process_count(), own_columns(batch))
    variables = {
        "z": distribution_pairs(gather_distribution(local), z, weights),
        "y": concrete(u, gather_items(logits), TAU, weights),
    }
    tree = marginal_tree(variables, {"content": ["y"], "style": ["z"]}, weights)
    style = tree.parts["style"]
    return torch.stack(
        [tree.log_q, tree.parts["content"].log_q, style.log_q, style.sum_of_parts, z[:, 0]], -1
    )


def loss(terms: Tensor) -> Tensor:
    return (terms * torch.arange(1.0, 6.0)).sum(-1).mean()


def work(rank: int, folder: str, size: int) -> None:
    store = processes.FileStore(f"{folder}/store", size)
    processes.init_process_group("gloo", store=store, rank=rank, world_size=size)
    inputs = setting()
    weight = inputs.pop("weight").requires_grad_()
    mine = slice(rank * B // size, (rank + 1) * B // size)
    local = {name: tensor[mine] for name, tensor in inputs.items()}
    result = terms(weight, **local)
    loss(result).backward()
    gradient = weight.grad
    assert gradient is not None
    processes.all_reduce(gradient)  # what data-parallel training does: the mean over processes
    compiled = torch.compile(terms, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(weight, **local), result)
    torch.save({"terms": result.detach(), "gradient": gradient / size}, f"{folder}/{rank}.pt")
    processes.destroy_process_group()


def test_one_process_gathers_nothing() -> None:
    x = torch.ones(3)
    assert gather_items(x) is x
    assert own_columns(3).tolist() == [0, 1, 2]


@pytest.mark.slow
def test_two_processes_with_half_the_batch_agree_with_one(tmp_path: Path) -> None:
    torch.multiprocessing.spawn(work, args=(str(tmp_path), 2), nprocs=2)
    parts = [torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in range(2)]

    inputs = setting()
    weight = inputs.pop("weight").requires_grad_()
    whole = terms(weight, **inputs)
    loss(whole).backward()
    torch.testing.assert_close(torch.cat([part["terms"] for part in parts]), whole.detach())
    for part in parts:
        torch.testing.assert_close(part["gradient"], weight.grad)
