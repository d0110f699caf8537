"""Two processes with half a batch each give the terms and the gradients of one process with the whole batch."""

from pathlib import Path

import pytest
import torch
import torch.distributed as processes
import torch.multiprocessing
from torch import Tensor

import unknot
from tests.objectives.marginal.structured_programs import Encoder, decoder
from unknot.core import handlers
from unknot.objectives import Terms, capacity_vae, decompose, dip_vae, hfvae, information

pytestmark = pytest.mark.slow  # two fresh processes import torch

B, N = 8, 40
TREE = {"content": ["y"], "style": ["z", "w"]}
LABELS = torch.tensor([2, -1, 0, -1, 3, -1, 1, 1])


def objectives(q: unknot.Trace, p: unknot.Trace, encoder: Encoder, x: Tensor) -> dict[str, Terms]:
    if encoder.dependent:
        given = {"encoder": lambda given: encoder(x, given["y"])}
        return {"hfvae": hfvae(q, p, N, groups=TREE, **given)}
    return {
        "hfvae": hfvae(q, p, N, groups=TREE, parents={name: [] for name in q}),
        "decompose": decompose(q, p, N, parents={name: [] for name in q}),
        "capacity_vae": capacity_vae(q, p, C=1.0),
        "dip_vae": dip_vae(q, p, kind="II"),
    }


def results(rank: int, size: int) -> dict[str, Tensor]:
    """Terms of the local items and gradients of the local loss, for every objective, by name."""
    torch.manual_seed(0)
    found: dict[str, Tensor] = {}
    x = torch.randn(B, 5, dtype=torch.float64)
    mine = slice(rank * B // size, (rank + 1) * B // size)
    for kind in ("independent", "dependent"):
        encoder = Encoder("straight_through" if kind == "dependent" else None, dependent=kind == "dependent")
        labels = None if kind == "dependent" else unknot.partial(LABELS[mine])
        with handlers.shard(rank, size):
            torch.manual_seed(1)
            q = encoder(x[mine], labels)
            p = decoder(x[mine], q)
            for name, terms in objectives(q, p, encoder, x[mine]).items():
                for term, value in terms.items():
                    found[f"{kind} {name} term {term}"] = value.detach()
                gradients = torch.autograd.grad(terms.loss, list(encoder.parameters()), retain_graph=True)
                flat = torch.cat([gradient.flatten() for gradient in gradients])
                found[f"{kind} {name} gradient"] = flat
            if kind == "independent":
                found["information"] = information(q, N, parents={name: [] for name in q}).dimensions["z"]
    return found


def work(rank: int, folder: str, size: int) -> None:
    store = processes.FileStore(f"{folder}/store", size)
    processes.init_process_group("gloo", store=store, rank=rank, world_size=size)
    torch.save(results(rank, size), f"{folder}/{rank}.pt")
    processes.destroy_process_group()


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Tensor]]:
    folder: Path = tmp_path_factory.mktemp("processes")
    torch.multiprocessing.spawn(work, (str(folder), 2), nprocs=2)
    return [torch.load(folder / f"{rank}.pt", weights_only=True) for rank in range(2)]


@pytest.fixture(scope="module")
def alone() -> dict[str, Tensor]:
    return results(0, 1)


def test_terms_are_those_of_the_whole_batch(both, alone):
    names = [name for name in alone if " term " in name]
    assert len(names) > 15
    for name in names:
        torch.testing.assert_close(
            torch.cat([part[name] for part in both]), alone[name], rtol=1e-9, atol=1e-9
        )


def test_averaged_gradients_are_those_of_the_whole_batch(both, alone):
    names = [name for name in alone if name.endswith("gradient")]
    assert len(names) == 5
    for name in names:
        mean = (both[0][name] + both[1][name]) / 2
        torch.testing.assert_close(mean, alone[name], rtol=1e-9, atol=1e-9)


def test_diagnostics_are_those_of_the_whole_batch(both, alone):
    for part in both:
        torch.testing.assert_close(part["information"], alone["information"], rtol=1e-9, atol=1e-9)


def test_a_global_batch_differs_from_two_separate_ones(alone):
    """Without gathering, terms would be those of half a batch: the test above would see it."""
    torch.manual_seed(0)
    x = torch.randn(B, 5, dtype=torch.float64)
    encoder = Encoder()
    torch.manual_seed(1)
    q = encoder(x[: B // 2], unknot.partial(LABELS[: B // 2]))
    half = hfvae(q, decoder(x[: B // 2], q), N, groups=TREE, parents={name: [] for name in q})[
        "mutual_information"
    ]
    assert not torch.allclose(half, alone["independent hfvae term mutual_information"][: B // 2])
