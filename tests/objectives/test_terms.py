"""Terms: named parts, their weighted sum, and what joins it or does not."""

from __future__ import annotations

import pytest
import torch

from unknot.objectives import Terms
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
