"""Terms: named parts, their weighted sum, and what joins it or does not."""

from __future__ import annotations

import pytest
import torch

import unknot
from unknot.errors import UnknotWarning
from unknot.objectives import Terms, elbo
from unknot.objectives.terms import weighted_sum

FIT, COST = torch.tensor([1.0, 3.0]), torch.tensor([-1.0, -2.0])


def test_the_sum_is_weighted_by_term_and_then_by_item() -> None:
    terms = Terms({"fit": FIT, "cost": COST}, {"cost": 2.0}, item_weight=torch.tensor([1.0, 10.0]))
    torch.testing.assert_close(terms.per_item, torch.tensor([1.0 - 2.0, 10.0 * (3.0 - 4.0)]))
    torch.testing.assert_close(terms.total, torch.tensor(-5.5))
    torch.testing.assert_close(terms.loss, torch.tensor(5.5))
    assert terms.weights == {"fit": 1.0, "cost": 2.0}


def test_it_is_a_mapping_of_unweighted_terms() -> None:
    terms = Terms({"fit": FIT, "cost": COST}, {"cost": 2.0})
    assert list(terms) == ["fit", "cost"]
    assert len(terms) == 2
    assert terms["cost"] is COST
    with pytest.raises(KeyError):
        terms["nothing"]


def test_diagnostics_are_logged_and_do_not_count() -> None:
    terms = Terms({"fit": FIT}, diagnostics={"samples": torch.tensor([4.0, 6.0])})
    assert {name: value.item() for name, value in terms.means().items()} == {"fit": 2.0, "samples": 5.0}
    torch.testing.assert_close(terms.per_item, FIT)


def test_a_score_passes_its_gradient_through_the_items_weight() -> None:
    logit = torch.zeros(2, requires_grad=True)
    terms = Terms({"fit": FIT}, item_weight=torch.tensor([1.0, 3.0]), score=logit - logit.detach())
    torch.testing.assert_close(terms.per_item.detach(), torch.tensor([1.0, 9.0]))
    (slope,) = torch.autograd.grad(terms.total, logit)
    torch.testing.assert_close(slope, torch.tensor([0.5, 1.5]))


def test_a_term_without_a_weight_has_weight_one_and_weights_may_be_learned() -> None:
    weight = torch.tensor(2.0, requires_grad=True)
    total = weighted_sum({"fit": FIT, "cost": COST}, {"cost": weight})
    (slope,) = torch.autograd.grad(total.sum(), weight)
    assert slope == COST.sum()


def test_its_text_shows_weights_and_means() -> None:
    assert (
        repr(Terms({"fit": FIT, "cost": COST}, {"cost": 2.0})) == "Terms(1.0 · fit (2) + 2.0 · cost (-1.5))"
    )


@pytest.mark.parametrize(
    ("dtype", "expected"), [(torch.float64, torch.float64), (torch.float16, torch.float32)]
)
def test_means_keep_double_precision_and_sum_half_precision_in_single(
    dtype: torch.dtype, expected: torch.dtype
) -> None:
    values = torch.tensor([1.0, 1.0, 1.5], dtype=dtype)
    mean = Terms({"fit": values}).means()["fit"]
    assert mean.dtype == expected
    assert mean.item() == pytest.approx(3.5 / 3, rel=1e-12 if dtype == torch.float64 else 1e-6)


def scored_terms(logits: torch.Tensor, scale: torch.Tensor) -> Terms:
    q, p = unknot.Trace(), unknot.Trace()
    y = q.categorical(logits=logits, gradient="score_function", name="y")
    p.categorical(logits=torch.zeros(3), value=q["y"], name="y")
    p.normal(y * scale, 1.0, value=torch.ones(len(logits)), name="x")
    return elbo(q, p)


def test_the_gradient_of_a_single_term_lacks_the_score_function_and_says_so() -> None:
    logits, scale = torch.zeros(4, 3, requires_grad=True), torch.ones((), requires_grad=True)
    terms = scored_terms(logits, scale)
    parts = terms["reconstruction"].mean() + terms["kl[y]"].mean()
    with pytest.warns(
        UnknotWarning, match=r"gradient of terms\['(reconstruction|kl\[y\])'\] lacks the score-func"
    ):
        (single,) = torch.autograd.grad(parts, logits, retain_graph=True)
    torch.testing.assert_close(parts, terms.total)
    (whole,) = torch.autograd.grad(terms.loss, logits)  # warnings are errors in tests
    assert not torch.allclose(single, whole)


def test_single_terms_compile_without_graph_breaks() -> None:
    logits, scale = torch.zeros(4, 3, requires_grad=True), torch.ones((), requires_grad=True)

    @torch.compile(backend="eager", fullgraph=True)
    def step() -> torch.Tensor:
        return scored_terms(logits, scale)["reconstruction"].mean()

    assert step().requires_grad
