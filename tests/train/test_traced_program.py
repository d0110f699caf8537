"""Programs as training runs them: event axes are learned once, traces know the program and can be run again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

import unknot
from tests.train.programs import digits, model
from unknot.core.program import Program, as_program
from unknot.core.tracing import upstream
from unknot.data.batch import Batch
from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.errors import SpecError, TraceError
from unknot.objectives import hfvae
from unknot.train import TrainConfig, fit
from unknot.train.step import TracedProgram

K = 5


class M2(nn.Module):
    """Kingma et al.'s M2: a class that is enumerated, and a style that depends on it; no site says its event axes."""

    def __init__(self, style: int = K) -> None:
        super().__init__()
        self.style = style
        self.kind = nn.Linear(3, K)
        self.code = nn.Linear(3 + K, 2 * style)
        self.mean = nn.Linear(K + style, 3)

    def encode(self, x: Tensor, labels: Any = None) -> unknot.Trace:
        q = unknot.Trace()
        known = unknot.partial(labels["y"]) if labels else None
        y = q.categorical(logits=self.kind(x), value=known, name="y", gradient="enumerate")
        loc, raw = self.code(unknot.cat([x, one_hot(y, K).float()])).chunk(2, -1)
        q.normal(loc, raw.exp(), name="z")
        return q

    def decode(self, x: Tensor | None, q: Any) -> unknot.Trace:
        p = unknot.Trace()
        y = p.categorical(logits=torch.zeros(K), value=q["y"], name="y")
        z = p.normal(torch.zeros(self.style), 1.0, value=q["z"], name="z")
        p.normal(self.mean(unknot.cat([one_hot(y, K).float(), z])), 1.0, value=x, name="x")
        return p


class M2Forward(M2):
    """The same with a forward of its own."""

    def forward(self, batch: Batch) -> tuple[unknot.Trace, unknot.Trace]:
        q = self.encode(batch.x, batch.values)
        return q, self.decode(batch.x, q)


def data(items: int = 40) -> Dataset:
    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(0, K, (items,), generator=generator)
    labels[items // 2 :] = -1
    x = torch.randn(items, 3, generator=generator)
    factors = {"y": Factor("y", "categorical", labels, tuple("abcde"))}
    return Dataset("some", x, torch.arange(items), factors, {}, "none")


def config(**more: Any) -> TrainConfig:
    settings = {
        "objective": "semi_supervised",
        "steps": 3,
        "device": "cpu",
        "log_every": 1,
        "progress": False,
    }
    return TrainConfig(**{**settings, **more})


def history(kind: type[M2], batch_size: int, **more: Any) -> list[float]:
    torch.manual_seed(0)
    return [record["loss"] for record in fit(kind(), data(), config(batch_size=batch_size, **more)).history]


# ---- sizes that coincide ----------------------------------------------------------------------------------


def test_a_batch_of_as_many_items_as_classes_is_ambiguous_without_the_program() -> None:
    with pytest.raises(TraceError, match="can be read in several ways"):
        M2().encode(torch.randn(K, 3))


@pytest.mark.parametrize("kind", [M2, M2Forward])
@pytest.mark.parametrize("objective", ["elbo", "semi_supervised", "sleep", {"name": "hfvae", "beta": 2.0}])
def test_a_batch_may_have_as_many_items_as_classes(kind: type[M2], objective: Any) -> None:
    losses = history(kind, K, objective=objective)
    assert all(torch.isfinite(torch.tensor(losses)))


def test_the_loss_is_that_of_a_program_that_states_its_event_axes() -> None:
    class Stated(M2):
        def encode(self, x: Tensor, labels: Any = None) -> unknot.Trace:
            q = unknot.Trace()
            known = unknot.partial(labels["y"]) if labels else None
            y = q.categorical(logits=self.kind(x), value=known, name="y", gradient="enumerate", event_dims=0)
            loc, raw = self.code(unknot.cat([x, one_hot(y, K).float()])).chunk(2, -1)
            q.normal(loc, raw.exp(), name="z", event_dims=1)
            return q

    assert history(M2, K) == history(Stated, K)


def test_batches_of_sparse_counts_are_resized_too() -> None:
    class Words(M2):
        def encode(self, x: Tensor, labels: Any = None) -> unknot.Trace:
            assert x.is_coalesced()
            return super().encode(x.to_dense(), labels)

        def decode(self, x: Tensor | None, q: Any) -> unknot.Trace:
            return super().decode(None if x is None else x.to_dense(), q)

    dense = data().batch(range(K))
    batch = replace(dense, x=dense.x.to_sparse())
    traced = TracedProgram(as_program(Words()))
    q, p = traced(batch)
    assert q["z"].leading_shape == p["x"].log_prob.shape == (K, 1, K)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's compiler still imports torch.jit
def test_compiled_steps_use_the_learned_event_axes() -> None:
    eager, compiled = history(M2, K, objective="elbo"), history(M2, K, objective="elbo", compile=True)
    assert compiled[0] == pytest.approx(eager[0])  # the first step is not compiled
    assert compiled[-1] == pytest.approx(eager[-1], rel=0.3)  # compiled code draws its noise in another way


def test_a_run_is_resumed_with_the_learned_event_axes(tmp_path: Any) -> None:
    from unknot.train import RunFolder

    whole, parts = M2(), M2()
    parts.load_state_dict(whole.state_dict())
    fit(whole, data(), config(batch_size=K, steps=4))
    run = RunFolder.create(tmp_path / "run")
    fit(parts, data(), config(batch_size=K, steps=2), run)
    fit(parts, data(), config(batch_size=K, steps=4), run)
    for one, other in zip(whole.parameters(), parts.parameters(), strict=True):
        assert torch.equal(one, other)


# ---- what the traces know ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [M2, M2Forward])
def test_dependences_of_both_traces_are_read_from_the_program(kind: type[M2]) -> None:
    traced = TracedProgram(as_program(kind()))
    q, p = traced(data().batch(range(7)))
    assert q.call is not None
    assert p.call is not None
    assert q.call.parents() == {"y": [], "z": ["y"]}
    assert p.call.parents() == {"y": [], "z": [], "x": ["y", "z"]}
    assert upstream(q, p) == {
        "y": frozenset(),
        "z": frozenset({"y"}),
        "p:y": frozenset(),
        "p:z": frozenset(),
        "p:x": frozenset({"y", "z"}),
    }


def test_the_program_runs_again_at_other_values() -> None:
    batch = data().batch(range(7))
    q, _ = TracedProgram(as_program(M2()))(batch)
    assert q.call is not None
    again = q.call.again({"y": torch.full((7,), 2)})
    assert again["y"].value.tolist() == [2] * 7
    assert again["z"].value.shape == (7, K)


def test_runs_after_the_first_are_of_the_program_alone() -> None:
    counts: list[int] = []

    class Counted(M2):
        def encode(self, x: Tensor, labels: Any = None) -> unknot.Trace:
            counts.append(len(x))
            return super().encode(x, labels)

    traced, batch = TracedProgram(as_program(Counted())), data().batch(range(8))
    traced(batch)
    assert len(counts) > 1
    counts.clear()
    traced(batch)
    assert counts == [8]


def test_dry_runs_leave_random_states_and_buffers_as_they_were() -> None:
    class Normed(M2):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.BatchNorm1d(3)

        def encode(self, x: Tensor, labels: Any = None) -> unknot.Trace:
            return super().encode(self.norm(x), labels)

    program, batch = as_program(Normed()), data().batch(range(8))
    torch.manual_seed(0)
    one = program(batch)[0]["z"].value
    twin = as_program(Normed())
    twin.load_state_dict(program.state_dict())
    twin.module.norm.reset_running_stats()
    torch.manual_seed(0)
    other = TracedProgram(twin)(batch)[0]["z"].value
    assert torch.equal(one, other)
    assert int(twin.module.norm.num_batches_tracked) == 1


def test_a_prior_whose_variables_depend_on_each_other_needs_no_argument() -> None:
    """The marginals of the prior come from decode(None, given), also for a model with a forward of its own."""

    class Chain(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.code = nn.Linear(3, 4)

        def encode(self, x: Tensor, labels: Any = None) -> unknot.Trace:
            q = unknot.Trace()
            first, second = self.code(x).chunk(2, -1)
            q.normal(first, 1.0, name="a")
            q.normal(second, 1.0, name="b")
            return q

        def decode(self, x: Tensor | None, q: Any) -> unknot.Trace:
            p = unknot.Trace()
            a = p.normal(torch.zeros(2), 1.0, value=q["a"], name="a")
            b = p.normal(0.5 * a, 1.0, value=q["b"], name="b")
            p.normal(torch.cat([a, b[..., :1]], -1), 1.0, value=x, name="x")
            return p

    class ChainForward(Chain):
        def forward(self, batch: Batch) -> tuple[unknot.Trace, unknot.Trace]:
            q = self.encode(batch.x)
            return q, self.decode(batch.x, q)

    batch, found = data().batch(range(6)), []
    for kind in (Chain, ChainForward):
        torch.manual_seed(0)
        module = kind()
        q, p = TracedProgram(as_program(module))(batch)
        torch.manual_seed(1)
        terms = hfvae(q, p, dataset_size=40)
        torch.manual_seed(1)
        stated = hfvae(q, p, dataset_size=40, prior=lambda given, m=module: m.decode(None, given))
        for name, value in terms.items():
            torch.testing.assert_close(value, stated[name])
        found.append(terms.total)
    torch.testing.assert_close(found[0], found[1])


def test_relaxed_parents_need_no_encoder_argument() -> None:
    config = TrainConfig({"name": "hfvae", "beta": 2.0}, steps=2, batch_size=16, device="cpu", progress=False)
    assert fit(model(), digits(), config).steps == 2


def test_traces_of_a_program_that_traces_itself_are_left_alone() -> None:
    class Traced(Program):
        def __init__(self) -> None:
            super().__init__()
            self.own = M2()

        def forward(self, batch: Batch) -> tuple[unknot.Trace, unknot.Trace]:
            q = unknot.trace(self.own.encode, batch.x)
            return q, unknot.trace(self.own.decode, batch.x, q)

    traced = Traced()
    q, p = TracedProgram(traced)(data().batch(range(K)))
    assert q.call is not None
    assert q.call.program == traced.own.encode
    assert p.call is not None
    assert p.call.program == traced.own.decode


def test_a_forward_that_returns_something_else_is_refused() -> None:
    class Wrong(nn.Module):
        def forward(self, batch: Batch) -> Any:
            return unknot.Trace()

    with pytest.raises(SpecError, match=r"returns two traces \(q, p\), but this one returned Trace"):
        TracedProgram(as_program(Wrong()))(data().batch(range(4)))
