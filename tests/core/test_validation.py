"""Value checks: what they refuse, what they say, and that they can be switched off."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import unknot
from unknot.core import validation
from unknot.errors import TraceError

NAN = float("nan")


@pytest.mark.parametrize(
    ("family", "arguments", "message"),
    [
        (
            "normal",
            {"loc": torch.tensor([0.0, NAN]), "scale": 1.0},
            "site 's': parameter loc of Normal .* index 1",
        ),
        (
            "normal",
            {"loc": torch.zeros(2), "scale": torch.tensor([1.0, 0.0])},
            "scale of Normal must be positive",
        ),
        (
            "log_normal",
            {"loc": torch.zeros(2), "scale": torch.tensor([-1.0, 1.0])},
            "scale of Normal .* index 0",
        ),
        ("poisson", {"rate": torch.tensor([1.0, -2.0])}, "rate of Poisson must be not negative.* it is -2"),
        (
            "concrete",
            {"logits": torch.tensor([[0.0, NAN]]), "temperature": 1.0},
            "logits of Concrete.* index 0",
        ),
        (
            "bernoulli",
            {"probs": torch.tensor([0.5, 1.5])},
            "probs of Bernoulli must be between 0 and 1.* 1.5",
        ),
        ("dirichlet", {"concentration": torch.tensor([[1.0, 0.0]])}, "concentration of Dirichlet"),
    ],
)
def test_parameters_outside_their_domain(family: str, arguments: dict[str, Any], message: str) -> None:
    """At the latest when the sum is read; within an objective, when the two traces are checked."""

    def read() -> None:
        trace = unknot.Trace()
        getattr(trace, family)(**arguments, name="s")
        trace.log_prob()

    with pytest.raises(TraceError, match=message):
        read()


@pytest.mark.parametrize(
    ("family", "arguments", "value", "message"),
    [
        ("concrete", {"logits": torch.zeros(3, 4), "temperature": 0.5}, [0, -1, 2], "label of item 1 is -1.*0 to 3"),
        ("concrete", {"logits": torch.zeros(3, 4), "temperature": 0.5}, [0, 1, 4], "label of item 2 is 4"),
        ("one_hot_categorical", {"logits": torch.zeros(3, 4)}, [0, 1, 9], "label of item 2 is 9"),
        ("categorical", {"logits": torch.zeros(3, 4)}, [0, -1, 2], "item 1 is -1, .* from 0 to 3.*unknot.partial"),
        ("categorical", {"logits": torch.zeros(3, 4)}, [0.5, 1.0, 2.0], "classes are whole numbers"),
        ("normal", {"loc": torch.zeros(3), "scale": 1.0}, [0.0, NAN, 1.0], "item 1 is nan, .* real numbers"),
        ("bernoulli", {"logits": torch.zeros(3)}, [0.0, 2.0, 1.0], "item 1 is 2, .* between 0 and 1"),
        ("poisson", {"rate": torch.ones(3)}, [0.0, 1.0, -1.0], "item 2 is -1"),
        ("dirichlet", {"concentration": torch.ones(1, 2)}, [[0.5, 0.6]], "sum to one"),
        ("concrete", {"logits": torch.zeros(1, 2), "temperature": 0.5}, [[0.5, 0.6]], "item 0"),
        ("multivariate_normal", {"loc": torch.zeros(2, 1), "scale_tril": torch.eye(1)}, [[0.0], [NAN]], "item 1"),
        ("multinomial", {"logits": torch.zeros(2, 2)}, [[3.0, 1.0], [-1.0, 0.0]], "item 1"),
    ],
)  # fmt: skip
def test_observed_values_outside_the_support(
    family: str, arguments: dict[str, Any], value: Any, message: str
) -> None:
    with pytest.raises(TraceError, match=f"site 's'.*{message}"):
        getattr(unknot.Trace(), family)(**arguments, value=torch.tensor(value), name="s")


def test_labels_outside_the_support_count_only_where_known() -> None:
    labels, logits = torch.tensor([0, 7, 2]), torch.zeros(3, 4)
    unknot.Trace().concrete(logits, 0.5, value=unknot.partial(labels, [True, False, True]), name="y")
    with pytest.raises(TraceError, match="label of item 1 is 7"):
        unknot.Trace().concrete(logits, 0.5, value=unknot.partial(labels, [True, True, True]), name="y")
    with pytest.raises(TraceError, match="item 1 is 7"):
        unknot.Trace().categorical(logits=logits, value=unknot.partial(labels, [True, True, True]), name="y")


def test_grey_pixels_and_documents_of_any_length_are_fine() -> None:
    p = unknot.Trace()
    p.bernoulli(logits=torch.zeros(2, 3), value=torch.rand(2, 3), name="x")
    p.multinomial(logits=torch.zeros(2, 3), value=torch.tensor([[1.0, 0, 0], [9, 9, 9]]), name="words")


def test_a_log_probability_that_is_not_finite_names_site_item_and_parameters() -> None:
    p = unknot.Trace()
    p.gamma(torch.full((3,), 2.0), 1.0, value=torch.tensor([1.0, 1e38, 1.0]) * 10, name="v")
    with pytest.raises(
        TraceError, match=r"site 'v': log-probability nan at item 1 of Gamma\(concentration in \[2, 2\]"
    ):
        _ = p["v"].log_prob
    p.log_term(torch.tensor([0.0, 0.0, float("nan")]), name="f")
    with pytest.raises(TraceError, match="site 'f': log-probability nan at item 2 of LogTerm"):
        _ = p["f"].log_prob


def test_log_probabilities_of_items_switched_off_may_be_anything() -> None:
    p = unknot.Trace()
    with p.where(torch.tensor([True, False])):
        p.log_term(torch.tensor([1.0, float("nan")]), name="f")
    assert p.log_prob().tolist() == [1.0, 0.0]


def test_the_switch_and_the_block() -> None:
    bad = torch.tensor([NAN, 0.0])
    with unknot.validation(False):
        assert not validation.is_on()
        with unknot.validation(True):
            assert validation.is_on()
        assert not validation.is_on()
        q = unknot.Trace()
        q.normal(bad, 1.0, name="z")
        assert bool(q.log_prob()[0].isnan())
    assert validation.is_on()
    before = unknot.validation(False)  # the plain switch
    assert not validation.is_on()
    before.__exit__(None, None, None)
    assert validation.is_on()


def test_switched_off_no_check_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Off means off: none of the checking functions is entered."""

    def entered(*_: Any) -> None:
        raise AssertionError("a check ran")

    for check in ("check_parameters", "check_value", "check_log_prob"):
        monkeypatch.setattr(validation, check, entered)
    with unknot.validation(False):
        q = unknot.Trace()
        q.concrete(torch.zeros(2, 3), 0.5, value=unknot.partial([0, -1]), name="y")
        q.normal(torch.zeros(2), 1.0, value=torch.ones(2), name="x")
        q.log_prob()
    with pytest.raises(AssertionError, match="a check ran"):
        unknot.Trace().poisson(torch.ones(2), name="z")


def test_inside_compile_checks_are_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    assert not validation.is_on()


def diverged(where: str, loc: torch.Tensor) -> tuple[unknot.Trace, unknot.Trace]:
    """Two programs in which the parameters of z are wrong, and with them all that comes after it."""
    q, p = unknot.Trace(), unknot.Trace()
    z = q.normal(loc, 1.0, name="z")
    q.concrete(torch.stack([z, z], -1), 0.66, name="y")
    p.normal(0.0, 1.0, value=q["z"], name="z")
    p.concrete(torch.zeros(2), 0.66, value=q["y"], name="y")
    if where == "poisson":  # its parameters are checked at once
        p.poisson(z.exp(), value=torch.ones(2), name="x")
    else:
        p.bernoulli(logits=z, value=torch.ones(2), name="x")
    return q, p


@pytest.mark.parametrize("gradients", [True, False])
@pytest.mark.parametrize("where", ["poisson", "bernoulli"])
def test_the_first_site_that_is_wrong_is_named(where: str, gradients: bool) -> None:
    """Not the one at which it is noticed; with and without gradients."""
    loc = torch.tensor([0.0, NAN], requires_grad=True)
    message = "site 'z': parameter loc of Normal must be real numbers, but at index 1 it is nan"
    with torch.set_grad_enabled(gradients):
        with pytest.raises(TraceError, match=message):
            unknot.objectives.elbo(*diverged(where, loc))
        if where == "bernoulli":
            q, p = diverged(where, loc)
            for trace in (q, p):
                with pytest.raises(TraceError, match=message):
                    trace.log_prob()
            with pytest.raises(TraceError, match=message):
                _ = p["z"].log_prob


def test_each_wrong_parameter_of_a_family_that_is_not_checked_at_once_shows() -> None:
    """All that the constraints refuse makes the log-probability NaN or infinite, for draws and for observations."""
    wrong = {
        "normal": [{"loc": NAN, "scale": 1.0}, *({"loc": 0.0, "scale": s} for s in (0.0, -1.0, NAN))],
        "laplace": [{"loc": NAN, "scale": 1.0}, *({"loc": 0.0, "scale": s} for s in (0.0, -1.0, NAN))],
        "log_normal": [{"loc": NAN, "scale": 1.0}, *({"loc": 0.0, "scale": s} for s in (0.0, -1.0, NAN))],
        "relaxed_bernoulli": [{"logits": NAN, "temperature": 0.5}],
    }
    for family, cases in wrong.items():
        for case in cases:
            arguments = {k: torch.tensor([v, v]) if k != "temperature" else v for k, v in case.items()}
            for value in (None, torch.ones(2)):
                trace = unknot.Trace()
                with unknot.validation(False):
                    getattr(trace, family)(**arguments, value=value, name="s")
                    assert not bool(trace.log_prob().isfinite().all()), (family, case)


def test_a_sum_of_large_numbers_is_no_error() -> None:
    """The sum that is looked at may overflow where no log-probability does."""
    p = unknot.Trace()
    p.log_term(torch.tensor([3e38, 3e38]), name="f")
    assert p["f"].log_prob.tolist() == torch.tensor([3e38, 3e38]).tolist()
    p.log_prob()


def test_sites_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step without a fault enters no check of a single site."""

    def entered(*_: Any) -> None:
        raise AssertionError("a check ran")

    for check in ("check_parameters", "check_log_prob", "check_each"):
        monkeypatch.setattr(validation, check, entered)
    q, p = diverged("bernoulli", torch.zeros(2))
    unknot.objectives.semi_supervised(q, p)
