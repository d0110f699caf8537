"""decomposition-toy: its four terms against sums written out, and what leaving one out does."""

from __future__ import annotations

import math

import pytest
import torch

from experiments.digits.decomposition_toy import ROWS, TERMS, Toy, four_terms, points, train


def test_the_four_terms_add_up_to_the_bound_and_each_is_its_own_sum() -> None:
    torch.manual_seed(0)
    model, (x, _) = Toy(), points(0)
    torch.manual_seed(1)
    found = four_terms(model, x)
    torch.manual_seed(1)
    q, p = model(x)
    bound = (p.log_prob() - q.log_prob()).mean() + math.log(len(x))
    torch.testing.assert_close(sum(found.values()), bound)
    z, own = q["z"].value, q["z"].dist
    each = [
        torch.stack(
            [
                torch.distributions.Normal(m, s).log_prob(code).sum()
                for m, s in zip(own.mean, own.stddev, strict=True)
            ]
        )
        for code in z
    ]
    mixture = torch.stack([one.logsumexp(0) - math.log(len(x)) for one in each])
    torch.testing.assert_close(found["information"], (mixture - q["z"].log_prob).mean(), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(found["codes"], (p["z"].log_prob - mixture).mean(), rtol=1e-4, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("without", "other"), [("identifiable", "information"), ("information", "identifiable")]
)
def test_without_identifiable_codes_the_information_goes_and_without_its_price_it_grows(
    without: str, other: str
) -> None:
    def measured(left_out: str) -> float:
        model, x, _ = train(left_out, 800, 0)
        return four_terms(model, x)["information"].item()

    assert (measured(without) > measured("")) == (without == "identifiable")


def test_every_term_is_left_out_once() -> None:
    assert list(ROWS.values()) == ["", *TERMS]
