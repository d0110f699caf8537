"""Checks between q and p: each refusal says what is wrong and what to do."""

from __future__ import annotations

import pytest
import torch

import unknot
from unknot.errors import TraceError


def pair() -> tuple[unknot.Trace, unknot.Trace]:
    q = unknot.Trace()
    q.concrete(torch.zeros(3, 4), 0.5, name="y")
    q.normal(torch.zeros(3, 2), 1.0, name="style")
    return q, unknot.Trace()


def test_a_good_pair() -> None:
    q, p = pair()
    p.concrete(torch.zeros(4), 0.5, value=q["y"], name="y")
    p.normal(0.0, 1.0, value=q["style"], name="style")
    p.normal(torch.zeros(3, 5), 1.0, value=torch.zeros(3, 5), name="x")
    unknot.check(q, p)


def test_a_variable_that_p_never_scores() -> None:
    q, p = pair()
    p.concrete(torch.zeros(4), 0.5, value=q["y"], name="y")
    with pytest.raises(
        TraceError, match=r"q proposes 'style' but p never scores it\. Give p a site .*q\['style'\]"
    ):
        unknot.check(q, p)
    p.normal(0.0, 1.0, value=q["style"], name="styles")
    with pytest.raises(TraceError, match="never scores it; did you mean 'styles' in p"):
        unknot.check(q, p)


def test_p_draws_its_own() -> None:
    q, p = pair()
    p.concrete(torch.zeros(4), 0.5, name="y")
    with pytest.raises(TraceError, match=r"'y': p scores another value .* pass value=q\['y'\]"):
        unknot.check(q, p)


@pytest.mark.parametrize("labels", [None, unknot.partial(torch.tensor([1, -1, 2]))])
def test_a_relaxed_draw_given_to_p_as_a_bare_value_is_no_label(labels: unknot.Partial | None) -> None:
    q, p = unknot.Trace(), unknot.Trace()
    y = q.concrete(torch.zeros(3, 4), 0.5, value=labels, name="y")
    p.concrete(torch.zeros(4), 0.5, value=y, name="y")
    with pytest.raises(
        TraceError, match=r"'y': p was given the bare value, .* pass the node, value=q\['y'\]"
    ):
        unknot.objectives.elbo(q, p)


@pytest.mark.parametrize("gradient", ["score_function", "enumerate"])
def test_a_bare_value_with_axes_of_samples_is_no_observation(gradient: str) -> None:
    q, p = unknot.Trace(samples=3), unknot.Trace()  # as many samples as items: nothing else would notice
    y = q.categorical(logits=torch.zeros(3, 3), name="y", gradient=gradient)
    p.categorical(logits=torch.zeros(3), value=y, name="y")
    with pytest.raises(
        TraceError, match=r"'y': p was given the bare value, .* pass the node, value=q\['y'\]"
    ):
        unknot.objectives.elbo(q, p)


def test_labels_of_all_items_may_be_given_to_both() -> None:
    q, p, labels = unknot.Trace(), unknot.Trace(), torch.tensor([1, 0, 2])
    q.concrete(torch.zeros(3, 4), 0.5, value=unknot.partial(labels), name="y")
    p.concrete(torch.zeros(4), 0.5, value=labels, name="y")
    unknot.check(q, p)


@pytest.mark.parametrize("value", [torch.zeros(3, dtype=torch.long), torch.zeros(1, 3)])
def test_other_types_and_shapes_are_other_values(value: torch.Tensor) -> None:
    q, p = unknot.Trace(), unknot.Trace()
    q.normal(torch.zeros(3), 1.0, value=torch.zeros(3), name="z")
    p.normal(torch.zeros(3), 1.0, value=torch.zeros(3), name="z")
    unknot.check(q, p)
    p["z"].value = value
    with pytest.raises(TraceError, match="p scores another value"):
        unknot.check(q, p)


def test_a_variable_in_q_but_a_log_term_in_p() -> None:
    q, p = pair()
    p.log_term(torch.zeros(3), name="y")
    with pytest.raises(TraceError, match="'y' is a random variable in q but a LogTerm in p"):
        unknot.check(q, p)


def test_discrete_and_continuous_supports() -> None:
    q, p = unknot.Trace(), unknot.Trace()
    q.poisson(torch.ones(3), name="n")
    p.normal(0.0, 1.0, value=q["n"], name="n")
    with pytest.raises(TraceError, match="'n': q's Poisson and p's Normal have different supports"):
        unknot.check(q, p)


def test_a_relaxed_draw_needs_a_relaxed_prior() -> None:
    """A Dirichlet density lives on the simplex, the Concrete's on its logarithm: their ratio means nothing."""
    q, p = pair()
    p.dirichlet(torch.ones(4), value=q["y"], name="y")
    with pytest.raises(TraceError, match=r"'y': q scores its relaxed draw by the density .* Dirichlet"):
        unknot.check(q, p)


def test_masks_that_differ() -> None:
    q, p = pair()
    p.concrete(torch.zeros(4), 0.5, value=q["y"], name="y")
    with p.where(torch.tensor([True, True, False])):
        p.normal(0.0, 1.0, value=q["style"], name="style")
    with pytest.raises(TraceError, match="'style' is switched off for other items in q than in p"):
        unknot.check(q, p)


def test_masks_that_agree() -> None:
    active = torch.tensor([True, False, True])
    q, p = unknot.Trace(samples=2), unknot.Trace()
    with q.where(active):
        q.normal(torch.zeros(3, 2), 1.0, name="z")
    with p.where(active.expand(2, 3)):
        p.normal(0.0, 1.0, value=q["z"], name="z")
    unknot.check(q, p)


def test_p_enumerates_a_site_of_its_own() -> None:
    q, p = unknot.Trace(), unknot.Trace()
    q.categorical(logits=torch.zeros(3, 2), name="k", gradient="enumerate")
    p.categorical(logits=torch.zeros(2), value=q["k"], name="k")
    unknot.check(q, p)
    p.categorical(logits=torch.zeros(3, 2), name="c", gradient="enumerate")
    assert p["c"].value.shape == (2, 1, 1, 1)  # an axis beside the one of q's site
    with pytest.raises(TraceError, match="'c': p enumerates it, but only q's sites are summed over"):
        unknot.check(q, p)


def test_a_prior_that_does_not_reach_the_draws() -> None:
    """Gamma(1, 1) gives -5 a finite log-density, so only its support tells."""
    q, p = unknot.Trace(), unknot.Trace()
    q.normal(torch.full((3,), -5.0), 0.1, name="z")
    p.gamma(1.0, 1.0, value=q["z"], name="z")
    with pytest.raises(TraceError, match=r"'z': q's Normal draws -[45].*outside the support of p's Gamma"):
        unknot.check(q, p)


def test_log_probabilities_that_are_not_finite() -> None:
    q, p = unknot.Trace(), unknot.Trace()
    q.uniform(torch.full((3,), 2.0), 3.0, name="z")
    p.uniform(0.0, 1.0, value=q["z"], name="z")
    with pytest.raises(TraceError, match="site 'z': log-probability -inf at item 0 of Uniform"):
        unknot.check(q, p)
