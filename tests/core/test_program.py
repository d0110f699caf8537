"""The contract of a model: what a plain module needs, every default, and every method that replaces one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import unknot
from unknot.core.program import Program, as_program, data_site, lacks, sampled_value
from unknot.errors import SpecError


class Line(nn.Module):
    """z ~ N(0, 1), x ~ N(3 z, 1): an encoder and a decoder, and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.ones(2))

    def encode(self, x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        q.normal(self.slope * x, 1.0, name="z")
        return q

    def decode(self, x: Tensor | None, q: Any) -> unknot.Trace:
        p = unknot.Trace()
        z = p.normal(torch.zeros(2), torch.ones(2), value=q["z"], name="z")
        p.normal(3 * z, 1.0, value=x, name="x")
        return p


class Pixels(Line):
    def decode(self, x: Tensor | None, q: Any) -> unknot.Trace:
        p = unknot.Trace()
        z = p.normal(torch.zeros(2), torch.ones(2), value=q["z"], name="z")
        p.bernoulli(torch.full_like(z, 0.3), value=x, name="x")
        return p


class ByLoss(Line):
    def decode(self, x: Tensor | None, q: Any) -> unknot.Trace:
        p = unknot.Trace()
        z = p.normal(torch.zeros(2), torch.ones(2), value=q["z"], name="z")
        p.loss(lambda mean, x: (mean - x) ** 2, 3 * z, x, name="x")
        return p


def batch(count: int = 4, **labels: Tensor) -> Any:
    return SimpleNamespace(x=torch.rand(count, 2), values=labels)


# ---- what a user writes -----------------------------------------------------------------------------------


def test_a_program_is_used_as_it_is_and_a_module_is_wrapped() -> None:
    class Own(Program):
        pass

    own, module = Own(), Line()
    assert as_program(own) is own
    program = as_program(module)
    assert isinstance(program, Program)
    assert next(program.parameters()) is module.slope
    assert lacks(program, "encode", "decode", "predictions") == ["predictions"]


def test_both_programs_run_on_a_batch_unless_the_module_has_a_forward() -> None:
    q, p = as_program(Line())(batch())
    assert (list(q), list(p)) == (["z"], ["z", "x"])

    class Forward(nn.Module):
        def forward(self, given: Any) -> tuple[unknot.Trace, unknot.Trace]:
            return as_program(Pixels())(given)

    module = Forward()
    called: list[int] = []
    module.register_forward_hook(lambda *_: called.append(1))
    assert isinstance(as_program(module)(batch())[1]["x"].dist, torch.distributions.Bernoulli)
    assert called == [1]


@pytest.mark.parametrize("method", ["encode", "decode"])
def test_a_missing_program_is_named(method: str) -> None:
    program = as_program(nn.Linear(2, 2))
    arguments = (torch.zeros(1, 2),) if method == "encode" else (None, unknot.given(1))
    with pytest.raises(SpecError, match=rf"Linear has no method {method}\(x"):
        getattr(program, method)(*arguments)


def test_labels_and_samples_go_to_encoders_that_take_them() -> None:
    received: list[tuple[Any, ...]] = []

    class Labels(Line):
        def encode(self, x: Tensor, labels: Any = "none") -> unknot.Trace:  # type: ignore[override]
            received.append((labels,))
            return super().encode(x)

    class Samples(Line):
        def encode(self, x: Tensor, labels: Any = "none", samples: Any = "none") -> unknot.Trace:  # type: ignore[override]
            received.append((labels, samples))
            return super().encode(x)

    x, y = torch.zeros(4, 2), {"y": torch.zeros(4)}
    as_program(Line()).encode(x, y)  # takes no labels
    for program in (as_program(Labels()), as_program(Samples())):
        program.encode(x)
        program.encode(x, y)
    as_program(Samples()).encode(x, None, 5)
    assert received == [("none",), (y,), ("none", "none"), (y, "none"), (None, 5)]
    with pytest.raises(SpecError, match=r"Labels.encode takes no samples, but 5 are needed"):
        as_program(Labels()).encode(x, None, 5)


def test_networks_may_be_the_two_programs_but_no_other_method() -> None:
    class Encoder(nn.Module):
        def forward(self, x: Tensor) -> unknot.Trace:
            return Line().encode(x)

    class Decoder(nn.Module):
        def forward(self, x: Tensor | None, q: Any) -> unknot.Trace:
            return Line().decode(x, q)

    module = nn.Module()
    module.encode, module.decode, module.parts = Encoder(), Decoder(), nn.Linear(2, 2)
    program = as_program(module)
    q, p = program(batch(y=torch.zeros(4)))
    assert list(p) == ["z", "x"]
    assert program.parts(q) is None


# ---- training ---------------------------------------------------------------------------------------------


def test_preparing_and_finalizing_do_nothing_by_default() -> None:
    as_program(Line()).prepare(None)
    as_program(Line()).finalize()


def test_the_temperature_is_a_buffer_or_a_method() -> None:
    with pytest.raises(SpecError, match="Line has no temperature to set"):
        as_program(Line()).set_temperature(0.5)
    module = Line()
    module.register_buffer("temperature", torch.tensor(1.0))
    as_program(module).set_temperature(0.5)
    assert module.temperature.item() == 0.5

    class Method(Line):
        def set_temperature(self, value: float) -> None:
            self.value = value

    own = Method()
    as_program(own).set_temperature(0.25)
    assert own.value == 0.25


def test_the_sleep_phase_observes_the_generated_values_without_gradient() -> None:
    torch.manual_seed(0)
    module = Line()
    q, p = as_program(module).sleep_phase(6)
    unknot.check(q, p)
    assert q["z"].known is True
    assert torch.equal(q["z"].value, p["z"].value)
    mean = q["z"].dist.mean
    torch.testing.assert_close(mean, module.slope * p["x"].value)
    assert not p["x"].value.requires_grad
    assert mean.requires_grad


def test_the_sleep_phase_uses_the_data_that_the_program_draws() -> None:
    class Sampled(Line):
        def sample_data(self, q: Any) -> Tensor:
            return 100 + 0 * q["z"].value

    q, _ = as_program(Sampled()).sleep_phase(3)
    assert (q["z"].dist.mean == 100).all()
    greys, _ = as_program(Pixels()).sleep_phase(3)
    torch.testing.assert_close(greys["z"].dist.mean, torch.full((3, 2), 0.3))


def test_the_sleep_phase_works_with_as_many_items_as_dimensions() -> None:
    """Two items and a prior of two numbers: not refused, since the event axes are learned."""
    q, p = as_program(Line()).sleep_phase(2)
    assert q["z"].event_dims == p["z"].event_dims == 1


# ---- generation -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Line, ByLoss])
def test_expected_data_is_the_mean_of_the_data_site(kind: type[Line]) -> None:
    z = torch.randn(5, 2)
    torch.testing.assert_close(as_program(kind()).expected_data(unknot.given(5, z=z)), 3 * z)


def test_data_are_drawn_except_grey_pixels_and_losses() -> None:
    torch.manual_seed(0)
    z = torch.zeros(5, 2)
    assert (as_program(Line()).sample_data(unknot.given(5, z=z)) != 0).all()
    torch.testing.assert_close(as_program(ByLoss()).sample_data(unknot.given(5, z=z)), z)
    torch.testing.assert_close(as_program(Pixels()).sample_data(unknot.given(5)), torch.full((5, 2), 0.3))
    p = Pixels().decode(None, unknot.given(5))
    torch.testing.assert_close(sampled_value(p["x"]), torch.full((5, 2), 0.3))


def test_a_generated_batch_may_have_the_size_of_an_item() -> None:
    assert as_program(Line()).sample_data(unknot.given(2)).shape == (2, 2)


def test_decode_mean_leaves_the_data_out_and_keeps_leading_axes_and_gradients() -> None:
    module, program = Line(), as_program(Line())
    q = unknot.Trace(samples=3)
    q.normal(module.slope * torch.randn(4, 2), 1.0, name="z")
    p, mean = program.decode_mean(q)
    assert list(p) == ["z"]
    torch.testing.assert_close(p["z"].log_prob, Line().decode(None, q)["z"].log_prob)
    torch.testing.assert_close(mean, 3 * q["z"].value)
    mean.sum().backward()
    assert module.slope.grad is not None


def test_methods_of_the_module_replace_the_defaults() -> None:
    class Mean(Line):
        def decode_mean(self, q: Any) -> tuple[unknot.Trace, Tensor]:
            return unknot.Trace(), torch.ones(1)

    class Expected(Mean):
        def expected_data(self, q: Any) -> Tensor:
            return torch.full((1,), 2.0)

    class Sampled(Expected):
        def sample_data(self, q: Any) -> Tensor:
            return torch.full((1,), 3.0)

    found = [
        [as_program(kind()).expected_data(unknot.given(1)), as_program(kind()).sample_data(unknot.given(1))]
        for kind in (Mean, Expected, Sampled)
    ]
    assert [[one.item() for one in pair] for pair in found] == [[1, 1], [2, 2], [2, 3]]


def test_there_is_one_data_site() -> None:
    q, p = unknot.Trace(), unknot.Trace()
    q.normal(torch.zeros(4, 2), 1.0, name="z")
    p.normal(0.0, 1.0, value=q["z"], name="z")
    p.log_term(torch.zeros(4), name="bonus")
    with pytest.raises(SpecError, match="found: none"):
        data_site(q, p)
    p.normal(torch.zeros(4, 2), 1.0, value=torch.zeros(4, 2), name="x")
    assert data_site(q, p) == "x"
    p.normal(torch.zeros(4, 2), 1.0, value=torch.zeros(4, 2), name="w")
    with pytest.raises(SpecError, match="found: x, w"):
        data_site(q, p)


def test_the_data_site_of_a_sub_model_is_found_below_its_prefix() -> None:
    below = unknot.given(4, {"turn[0].z": torch.zeros(4, 2)}).under("turn", 0)
    torch.testing.assert_close(as_program(Line()).expected_data(below), torch.zeros(4, 2))


# ---- prediction and reports -------------------------------------------------------------------------------


def test_prediction_and_reports_have_nothing_to_add_by_default() -> None:
    program, x = as_program(Line()), torch.zeros(4, 2)
    q = program.encode(x)
    assert program.predictions(q) == {}
    assert program.not_applicable({}) == {}
    assert program.candidates(x) is None
    assert program.parts(q) is None
    assert program.boxes(q) is None
    both = program.candidate_traces(x, {})
    assert [list(one) for one in both] == [["z"], ["z", "x"]]


@pytest.mark.parametrize(
    "name",
    ["predictions", "not_applicable", "candidates", "candidate_traces", "parts", "boxes", "sleep_phase"],
)
def test_every_optional_method_of_a_module_is_called(name: str) -> None:
    module = Line()
    setattr(module, name, lambda *given: ("called", *given))
    arguments = (1, 2) if name == "candidate_traces" else (1,)
    assert getattr(as_program(module), name)(*arguments) == ("called", *arguments)
