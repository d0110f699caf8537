"""Axes are never confused: objectives equal brute force, item by item, or the library refuses and names the site.

Programs run in three modes: "raw" (``q = encoder(x)``), "event_dims" (the same, and every site says how many axes one
item's value has) and "trace" (``unknot.trace(encoder, x, labels)``, which learns them).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from scipy.special import logsumexp
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot

import unknot
from tests.fuzz.random_programs import (
    Conditional,
    Data,
    Program,
    Reference,
    Site,
    Weights,
    WrongAxes,
    answer,
    batch,
    describe,
)
from tests.fuzz.simplest_program import simplest
from unknot.errors import UnknotError

MODES = ["raw", "event_dims", "trace"]
# The share of programs that may be refused. Constants of shape (1,), a number or a vector of one number, are open even
# to dry runs, and make up most of what is refused under "trace".
REFUSED = {"raw": 1.0, "event_dims": 0.05, "trace": 0.07}


@pytest.fixture(autouse=True)
def _double() -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


# ---- one program ------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    kind: str  # "equal", "refused", or a fault: "number", "axes", "exception", "nameless"
    message: str = ""

    @property
    def is_fault(self) -> bool:
        return self.kind not in ("equal", "refused")


def outcome(program: Program, mode: str) -> Outcome:
    """Run a program and compare its objectives with brute force."""
    weights, given = Weights(program.seed), batch(program)
    try:
        found = answer(program, weights, given, mode)
    except UnknotError as error:
        names = {f"'{site.full_name}'" for site in program.sites} | {
            f"'{data.name}'" for data in program.data
        }
        named = any(name in str(error) for name in (*names, "'bonus'"))
        return Outcome("refused" if named else "nameless", str(error))
    except Exception as error:
        return Outcome("exception", f"{type(error).__name__}: {error}")
    try:
        expected = Reference(program, weights, given, found.drawn).objectives()
    except WrongAxes as error:
        return Outcome("axes", str(error))
    for objective, terms in found.objectives.items():
        message = difference(program.batch, {**terms, "per_item": terms.per_item}, expected[objective])
        if message is not None:
            return Outcome("number", f"{objective} {message}")
    return Outcome("equal")


def difference(items: int, found: dict[str, Tensor], expected: dict[str, np.ndarray]) -> str | None:
    for name in expected.keys() - found.keys():  # constant weights: the term is zero and left out
        if name != "conditioning" or not np.allclose(expected[name], 0.0, atol=1e-9):
            return f"has no term {name}"
    for name, term in found.items():
        values = term.detach().numpy()
        if values.shape not in ((), (1,), (items,)):
            return f"{name}: shape {values.shape} for {items} items"
        if not np.allclose(values, expected[name], rtol=1e-9, atol=1e-9):
            return f"{name}: {values}, expected {expected[name]}"
    return None


def report(program: Program, mode: str, found: Outcome) -> str:
    """The fault, and the simplest program with a fault of the same kind."""
    allowed = (lambda one: not one.has_a_constant_like_a_batch) if mode == "raw" else (lambda one: True)
    small = simplest(program, lambda one: allowed(one) and outcome(one, mode).kind == found.kind)
    return (
        f"seed {program.seed}, {found.kind}: {found.message}\n  {small}\n  => {outcome(small, mode).message}"
    )


# ---- random programs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("count", [300, pytest.param(5000, marks=pytest.mark.slow)])
def test_random_programs(count: int, mode: str) -> None:
    kinds: Counter[str] = Counter()
    faults = []
    for seed in range(count):
        program = describe(seed)
        if mode == "raw" and program.has_a_constant_like_a_batch:
            continue  # by rule, its first axis is the batch, which is not what the description means
        found = outcome(program, mode)
        kinds[found.kind] += 1
        if found.is_fault:
            faults.append((program, found))
    reports = "\n".join(report(program, mode, found) for program, found in faults[:4])
    assert not faults, f"{dict(kinds)}; the first:\n{reports}"
    assert kinds["refused"] <= REFUSED[mode] * kinds.total(), dict(kinds)


SMOOTH = (
    "normal",
    "laplace",
    "categorical",
    "one_hot_categorical",
    "concrete",
    "bernoulli",
    "relaxed_bernoulli",
)


def is_smooth(program: Program) -> bool:
    """Whether the value of the objectives is a smooth function of the weights, with the same random numbers."""
    for site in program.sites:
        if site.family not in SMOOTH or (site.q is not None and site.labels == "all"):
            return False
        if site.way not in (None, "enumerate", "plug_in"):
            return False
        if site.way is None and site.family in ("categorical", "one_hot_categorical", "bernoulli"):
            return False
        if site.mask not in (None, "x"):
            return False
    return all(data.mask in (None, "x") for data in program.data)


def total(program: Program, mode: str, shift: float) -> float:
    """The mean of Eq. 8 and Eq. 9 by brute force, at weights moved along a fixed direction."""
    weights, given = Weights(program.seed, shift), batch(program)
    drawn = answer(program, weights, given, mode).drawn
    found = Reference(program, weights, given, drawn).objectives()
    return float(sum(found[name]["per_item"].mean() for name in ("semi_supervised", "importance_weighted")))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("count", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_gradients(count: int, mode: str) -> None:
    """Pathwise, enumerated, relaxed and plug-in sites: the gradient is that of the brute force."""
    seeds = (seed for seed in itertools.count() if is_smooth(describe(seed)))
    faults, checked = [], 0
    for seed in itertools.islice(seeds, count):
        program = describe(seed)
        if outcome(program, mode).kind != "equal":
            continue
        weights = Weights(seed)
        terms = answer(program, weights, batch(program), mode).objectives
        objective = terms["semi_supervised"].total + terms["importance_weighted"].total
        (slope,) = torch.autograd.grad(objective, weights.shift, allow_unused=True)
        slope = 0.0 if slope is None else slope.item()
        step = 1e-5
        numeric = (total(program, mode, step) - total(program, mode, -step)) / (2 * step)
        checked += 1
        if not math.isclose(slope, numeric, rel_tol=1e-4, abs_tol=1e-5):
            faults.append(f"seed {seed}: {slope}, expected {numeric}\n  {program}")
    assert checked > count / 3
    assert not faults, f"{len(faults)} of {checked}\n" + "\n".join(faults[:4])


# ---- small programs, by hand ------------------------------------------------------------------------------

NETWORK = ("network", "item")
PRIOR = Conditional(forms=("item", "item"))
LOGITS = Conditional(forms=("item",))


def normal(name: str, shape: tuple[int, ...], q: Conditional, p: Conditional = PRIOR, **more: Any) -> Site:
    return Site(name, "normal", shape, p, q, **more)


def classes(name: str, number: int, q: Conditional, p: Conditional = LOGITS, **more: Any) -> Site:
    return Site(name, "categorical", (), p, q, number, **{"way": "enumerate", **more})


def given(*parents: str, x: bool = True, heads: int = 2) -> Conditional:
    return Conditional(parents, x, "cat", NETWORK[:heads])


def pair(items: int, samples: int | None, *sites: Site, data: tuple[int, ...] = (2,)) -> Program:
    names = tuple(site.name for site in sites)
    likelihood = Data("x0", "normal", data, Conditional(names, forms=NETWORK))
    return Program(0, items, samples, 2, sites, names, (likelihood,))


def check(program: Program, mode: str) -> None:
    """Equal, or refused where the shapes leave two readings open: in raw mode, and for constants of shape (1,)."""
    found = outcome(program, mode)
    is_open = mode == "raw" or "could be a vector of one number or a number" in found.message
    assert found.kind == "equal" or (is_open and found.kind == "refused"), f"{found}\n  {program}"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("items", [9, 10, 11])
@pytest.mark.parametrize("shape", [(), (2,), (10,), (2, 3)])
def test_as_many_classes_as_items(shape: tuple[int, ...], items: int, mode: str) -> None:
    y = classes("y", 10, given(heads=1))
    check(pair(items, 5, y, normal("z1", shape, given("y")), normal("z2", shape, given("y"))), mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("items", [2, 3, 4])
@pytest.mark.parametrize("samples", [None, 1, 2, 3])
def test_two_enumerated_sites(samples: int | None, items: int, mode: str) -> None:
    sites = [classes("y1", 2, given(heads=1)), classes("y2", 3, given("y1", heads=1))]
    sites += [
        normal("z1", (2,), given("y1", "y2")),
        normal("z2", (2,), given("y2")),
        normal("z3", (), given("y1")),
    ]
    check(pair(items, samples, *sites), mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("samples", [2, 3, 4])
def test_one_item_and_as_many_samples_as_classes(samples: int, mode: str) -> None:
    y = classes("y", 3, given(heads=1))
    check(pair(1, samples, y, normal("z1", (2,), given("y")), normal("z2", (2,), given("y"))), mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("items", "samples"), [(2, 3), (3, 3), (3, 1), (1, 3), (1, 1)])
def test_numbers_at_as_many_samples_as_items(items: int, samples: int, mode: str) -> None:
    check(pair(items, samples, normal("z1", (), given()), normal("z2", (), given("z1")), data=()), mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", ["item", "one"])
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("samples", [None, 1, 3])
def test_constant_vector_after_the_batch_is_known(
    samples: int | None, size: int, form: str, mode: str
) -> None:
    constant = Conditional(forms=(form, form))
    check(pair(3, samples, normal("z1", (2,), given()), normal("z2", (size,), constant)), mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(), (2,), (3,)])
@pytest.mark.parametrize("samples", [None, 1, 3])
def test_shared_constant_before_the_batch_is_known(
    samples: int | None, shape: tuple[int, ...], mode: str
) -> None:
    """A batch axis of size one does not fix the number of items."""
    constant = Conditional(forms=("one", "one"))
    sites = [normal("z1", shape, constant), normal("z2", (), given()), normal("z3", (3,), given())]
    check(pair(3, samples, *sites), mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("labels", ["none", "all", "partial"])
@pytest.mark.parametrize(("items", "rows", "number"), [(2, 2, 2), (2, 3, 2), (3, 2, 2), (1, 2, 2), (2, 1, 1)])
def test_several_one_hot_variables_per_item(
    items: int, rows: int, number: int, labels: str, mode: str
) -> None:
    """Class indices (B, D) are not one-hot vectors because D is the number of classes."""
    y = Site("y", "one_hot_categorical", (rows, number), LOGITS, given(heads=1), number, None, labels)
    check(pair(items, None, y), mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("samples", [None, 2])
@pytest.mark.parametrize(("items", "length"), [(2, 3), (3, 3), (3, 1), (1, 3)])
def test_loss_of_class_sequences(items: int, length: int, samples: int | None, mode: str) -> None:
    program = pair(items, samples, normal("z", (2,), given()))
    data = Data("x0", "class_loss", (length,), Conditional(("z",), forms=("network",)), 3)
    check(replace(program, data=(data,)), mode)


# ---- chains of enumerated states --------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("samples", [None, 2])
@pytest.mark.parametrize(("items", "states", "steps"), [*itertools.product((1, 2, 3), repeat=3)])
def test_hidden_markov_model(items: int, states: int, steps: int, samples: int | None, mode: str) -> None:
    """With every state enumerated, Eq. 9 is the log-likelihood of the forward algorithm."""
    rng = np.random.default_rng(0)
    first, table, means = rng.normal(size=states), rng.normal(size=(states, states)), rng.normal(size=states)
    guess, x = rng.normal(size=(steps, states, states)), rng.normal(size=(items, steps))
    says = {"event_dims": 0} if mode == "event_dims" else {}

    def encoder(x: Tensor) -> unknot.Trace:
        q, state = unknot.Trace(samples), torch.zeros((), dtype=torch.long)
        for t in range(steps):
            with q.scope("s", t):
                logits = torch.as_tensor(guess[t])[state] + x[:, t, None]
                state = q.categorical(logits=logits, gradient="enumerate", name="state", **says)
        return q

    def decoder(x: Tensor, q: unknot.Trace) -> unknot.Trace:
        p, logits = unknot.Trace(), torch.as_tensor(first)
        for t in range(steps):
            with p.scope("s", t):
                state = p.categorical(logits=logits, value=q[f"s[{t}].state"], name="state", **says)
                p.normal(torch.as_tensor(means)[state], 1.0, value=x[:, t], name="x", **says)
                logits = torch.as_tensor(table)[state]
        return p

    def run() -> Any:
        data = torch.as_tensor(x)
        if mode == "trace":
            q = unknot.trace(encoder, data)
            p = unknot.trace(decoder, data, q)
        else:
            q = encoder(data)
            p = decoder(data, q)
        return unknot.objectives.importance_weighted(q, p)["evidence"]

    found = shapes(run)
    if isinstance(found, str):
        assert mode == "raw"
        return
    start, move = first - logsumexp(first), table - logsumexp(table, 1, keepdims=True)
    expected = []
    for item in x:
        forward = start
        for t in range(steps):
            forward = forward if t == 0 else logsumexp(forward[:, None] + move, 0)
            forward = forward - 0.5 * (item[t] - means) ** 2 - 0.5 * math.log(2 * math.pi)
        expected.append(logsumexp(forward))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9)


# ---- generation -------------------------------------------------------------------------------------------


def shapes(run: Callable[[], Any]) -> Any:
    """What a run returns, or "refused"."""
    try:
        return run()
    except UnknotError:
        return "refused"


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("items", [1, 2, 3])
@pytest.mark.parametrize("mode", MODES)
def test_prior_vector_generates_vectors(mode: str, items: int, size: int) -> None:
    says = {"event_dims": 1} if mode == "event_dims" else {}

    def decoder(x: Tensor | None, q: Any) -> unknot.Trace:
        p = unknot.Trace()
        z = p.normal(torch.zeros(size), torch.ones(size), value=q["z"], name="z", **says)
        p.normal(z @ torch.ones(size, 2), 1.0, value=x, name="x", **says)
        return p

    def run() -> Any:
        q = unknot.given(items)
        p = unknot.trace(decoder, None, q) if mode == "trace" else decoder(None, q)
        return p["z"].value.shape, p["z"].log_prob.shape, p["x"].value.shape

    allowed = [((items, size), (items,), (items, 2))] + (["refused"] if mode == "raw" else [])
    assert shapes(run) in allowed


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("items", [1, 2, 3])
def test_given_vector_is_one_vector_for_all_items(items: int, size: int) -> None:
    """As many items as the vector has entries: not one number for each item."""

    def run() -> Any:
        p = unknot.Trace()
        q = unknot.given(items, z=torch.arange(float(size)))
        p.normal(torch.zeros(size), torch.ones(size), value=q["z"], name="z", event_dims=1)
        return p["z"].value.shape, p["z"].log_prob.shape

    assert shapes(run) in [((items, size), (items,)), "refused"]


@pytest.mark.parametrize("items", [1, 2, 3])
def test_prior_of_numbers_in_a_column(items: int) -> None:
    p, q = unknot.Trace(), unknot.given(items)
    assert p.normal(torch.zeros(items, 1), torch.ones(items, 1), value=q["z"], name="z").shape == (items, 1)
    assert p["z"].log_prob.shape == (items,)


# ---- parameters, sub-models and losses whose axes meet the wrong ones --------------------------------------


@pytest.mark.parametrize("samples", [None, 1, 2, 3])
def test_column_for_a_number_is_refused(samples: int | None) -> None:
    """Parameters (B, 1) of a site with one number per item would pair every item with every other."""
    x = torch.randn(3, 2)
    q, p = unknot.Trace(samples), unknot.Trace()
    q.normal(x[:, 0], 1.0, name="z")
    with pytest.raises(UnknotError, match="'z'"):
        p.normal(x[:, :1], 1.0, value=q["z"], name="z")


@pytest.mark.parametrize("samples", [1, 2, 3])
@pytest.mark.parametrize("said", [False, True])
def test_included_trace_on_values_with_samples(said: bool, samples: int) -> None:
    """A sub-model in a trace of its own sees values (S, B, D); its items are B, not S."""
    q, inner = unknot.Trace(samples), unknot.Trace()
    z = q.normal(torch.zeros(3, 2), 1.0, name="z")

    def run() -> Any:
        inner.normal(2 * z, 1.0, name="u", event_dims=1 if said else None)
        q.include(inner, "m")
        return tuple(q["m.u"].log_prob.shape)

    assert shapes(run) in [(samples, 3), *(() if said else ("refused",))]


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("said", [False, True])
def test_included_trace_on_enumerated_values(said: bool, number: int) -> None:
    q, inner = unknot.Trace(), unknot.Trace()
    y = q.one_hot_categorical(logits=torch.zeros(3, number), gradient="enumerate", name="y")

    def run() -> Any:
        h = unknot.cat([torch.zeros(3, 2), y])
        inner.normal(h, 1.0, name="u", event_dims=1 if said else None)
        q.include(inner, "m")
        return tuple(q["m.u"].log_prob.shape)

    assert shapes(run) in [(number, 1, 3), *(() if said else ("refused",))]


@pytest.mark.parametrize("samples", [None, 1, 2, 3])
@pytest.mark.parametrize(("items", "number"), [(2, 3), (3, 3), (3, 2), (1, 3), (3, 1)])
@pytest.mark.parametrize("own", [False, True])
def test_loss_of_class_indices_without_samples(
    own: bool, items: int, number: int, samples: int | None
) -> None:
    """Predictions (B, K) and targets (B,), in a trace that has samples."""
    logits, target = torch.randn(items, number), torch.randint(number, (items,))
    expected = -cross_entropy(logits, target, reduction="none")

    def loss(logits: Tensor, target: Tensor) -> Tensor:
        if own:
            return -(logits.log_softmax(-1) * one_hot(target, number)).sum(-1)
        return cross_entropy(logits, target, reduction="none")

    q, p = unknot.Trace(samples), unknot.Trace()
    q.normal(torch.zeros(items), 1.0, name="z")
    p.normal(0.0, 1.0, value=q["z"], name="z")
    if samples == items and number in (1, items):  # (S, B) values or (B, K) logits
        with pytest.raises(UnknotError, match="'x'"):
            p.loss(loss, logits, target, name="x")
        return
    p.loss(loss, logits, target, name="x")
    torch.testing.assert_close(unknot.objectives.elbo(q, p)["reconstruction"], expected)


@pytest.mark.parametrize(("items", "number"), [(2, 3), (3, 3), (3, 2)])
def test_loss_of_class_indices_in_where(items: int, number: int) -> None:
    """Items that are switched off pass no gradient; all classes of the others do."""
    logits, target = torch.randn(items, number, requires_grad=True), torch.randint(number, (items,))
    mask = torch.arange(items) < 1
    p = unknot.Trace()
    with p.where(mask):
        p.loss(lambda a, b: cross_entropy(a, b, reduction="none"), logits, target, name="x")
    (found,) = torch.autograd.grad(p["x"].log_prob.sum(), logits)
    (expected,) = torch.autograd.grad(-(cross_entropy(logits, target, reduction="none") * mask).sum(), logits)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("loss", [False, True])
@pytest.mark.parametrize(("proposed", "observed"), [(3, 1), (2, 3)])
def test_data_of_another_number_of_items_is_refused(proposed: int, observed: int, loss: bool) -> None:
    """Data of one item is not data of all items that q has."""
    q, p = unknot.Trace(), unknot.Trace()
    q.normal(torch.randn(proposed, 2), 1.0, name="z")
    z = p.normal(torch.zeros(2), 1.0, value=q["z"], name="z")

    def score() -> None:
        if loss:
            p.loss(lambda a, b: (a - b) ** 2, z, torch.zeros(observed, 2), name="x")
        else:
            p.normal(z, 1.0, value=torch.zeros(observed, 2), name="x")

    with pytest.raises(UnknotError, match="'x'"):
        score()


@pytest.mark.parametrize(("samples", "shape"), [(None, (3,)), (3, (3,)), (1, (3, 1)), (2, (2,))])
def test_log_term_of_another_number_of_items_is_refused(samples: int | None, shape: tuple[int, ...]) -> None:
    """One item: a log-term of three entries is not one number per item, whatever their axis."""
    q, p = unknot.Trace(samples), unknot.Trace()
    q.normal(torch.zeros(1, 2), 1.0, name="z")
    p.normal(torch.zeros(2), 1.0, value=q["z"], name="z")
    with pytest.raises(UnknotError, match="'bonus'"):
        p.log_term(torch.ones(shape), name="bonus")


def test_number_as_a_parameter_keeps_the_precision_of_the_data() -> None:
    torch.set_default_dtype(torch.float32)
    p, x = unknot.Trace(), torch.ones(2, dtype=torch.float64)
    p.bernoulli(logits=0.3, value=x, name="x")
    assert p["x"].log_prob[0].item() == pytest.approx(-math.log1p(math.exp(-0.3)), rel=1e-12)
