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
    with pytest.raises(TraceError, match=message):
        getattr(unknot.Trace(), family)(**arguments, name="s")


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
        unknot.Trace().normal(torch.zeros(2), 1.0, name="z")


def test_inside_compile_checks_are_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    assert not validation.is_on()
