"""Table 1: each objective is the weighted sum it says, over the terms of one decomposition."""

import math
from typing import Any

import pytest
import torch

import unknot
from tests.objectives.marginal.structured_programs import Encoder, N, data, decoder
from unknot.errors import SpecError
from unknot.objectives import (
    Discriminator,
    anchor_vae,
    beta_tcvae,
    beta_vae,
    capacity_vae,
    decompose,
    dip_vae,
    elbo,
    factor_vae,
    hfvae,
    info_vae,
    information_dropout,
    vae,
)
from unknot.objectives.parts.groups import WITHIN

TREE = {"content": ["y"], "style": ["z", "w"]}
APART: dict[str, Any] = {"parents": {"z": []}}  # every variable is read from x alone


@pytest.fixture
def traces() -> tuple[unknot.Trace, unknot.Trace]:
    x = data()
    q = Encoder()(x)
    return q, decoder(x, q)


def parts(q: unknot.Trace, p: unknot.Trace) -> dict[str, torch.Tensor]:
    """(1)+(3), (2), (A)*, (ii) and (4) per item."""
    terms = decompose(q, p, N, **APART)
    correlation = terms["between"] + terms[WITHIN]
    return {
        "13": terms["reconstruction"],
        "2": terms["mutual_information"],
        "A": correlation,
        "ii": terms["marginal"],
        "4": correlation + terms["marginal"],
    }


def test_vae_is_the_elbo(traces):
    torch.testing.assert_close(vae(*traces).per_item, elbo(*traces).per_item)


def test_beta_vae_weighs_information_and_divergence(traces):
    t = parts(*traces)
    torch.testing.assert_close(beta_vae(*traces, beta=3.0).per_item, t["13"] + 3 * (t["2"] + t["4"]))


def test_info_vae_weighs_the_divergence_alone(traces):
    t = parts(*traces)
    torch.testing.assert_close(info_vae(*traces, N, lambda_=7.0, **APART).per_item, t["13"] + 7 * t["4"])


def test_capacity_vae_pays_for_the_distance_of_the_mean_divergence_from_c(traces):
    t = parts(*traces)
    kl = -(t["2"] + t["4"]).mean()
    for capacity in (0.0, kl.item() + 1.0):
        terms = capacity_vae(*traces, gamma=5.0, C=capacity)
        torch.testing.assert_close(terms.per_item, t["13"] - 5 * (kl - capacity).abs())
        torch.testing.assert_close(terms.means()["kl"], -kl.detach())


def test_capacity_vae_refuses_score_function_draws():
    x = data()
    q = Encoder("score_function")(x)
    with pytest.raises(SpecError, match="not an expectation"):
        capacity_vae(q, decoder(x, q))


def test_anchor_vae_pays_back_the_anchors_information(traces):
    q, p = traces
    joint = decompose(q, p, N, {"a": ["z", "w"], "b": ["y"]}, **APART)
    alone = decompose(q, p, N, ["y", "z", "w"], **APART)
    # log q(z, w) from the tree: what is left of log q^ when between is taken apart
    terms = anchor_vae(q, p, N, anchors=["z", "w"], lambda_=2.0, **APART)
    y = unknot.Trace()
    y._store("y", q["y"])
    p_y = unknot.Trace()
    p_y._store("y", p["y"])
    log_q_y = decompose(y, p_y, N)["mutual_information"] + q["y"].log_prob
    log_q = joint["mutual_information"] + q.log_prob()
    log_q_zw = (
        joint["between"] + log_q - log_q_y
    )  # between = log q(a) + log q(b) - log q, the prior's share being 0
    own = q["z"].log_prob + q["w"].log_prob
    torch.testing.assert_close(terms.per_item, alone.per_item + 2 * (own - log_q_zw))


def test_information_dropout_leaves_single_dimensions_out(traces):
    t = parts(*traces)
    terms = information_dropout(*traces, N, beta=0.5, gamma=3.0, **APART)
    torch.testing.assert_close(terms.per_item, t["13"] + 0.5 * t["2"] + 3 * t["A"])


def test_beta_tcvae_weighs_total_correlation(traces):
    t = parts(*traces)
    torch.testing.assert_close(
        beta_tcvae(*traces, N, beta=6.0, **APART).per_item, t["13"] + t["2"] + t["ii"] + 6 * t["A"]
    )


def test_beta_tcvae_is_the_same_for_any_split_of_the_dimensions_into_variables(traces):
    q, p = traces
    whole = sum(
        decompose(q, p, N, tree, **APART)[name] for tree in [["y", "z", "w"]] for name in ("between", WITHIN)
    )
    deep = decompose(q, p, N, TREE, **APART)
    below = [deep[name] for name in deep if name.startswith(("between", "within"))]
    torch.testing.assert_close(whole, sum(below))


def test_factor_vae_takes_the_correlation_from_the_discriminator(traces):
    q, p = traces

    class Exact(torch.nn.Module):
        def forward(self, z):
            return z.sum(-1)

    terms = factor_vae(q, p, Exact(), gamma=3.0, variables=["z", "w"])
    want = elbo(q, p).per_item - 3 * (q["z"].value.sum(-1) + q["w"].value.sum(-1))
    torch.testing.assert_close(terms.per_item, want)


def test_factor_vae_leaves_the_discriminator_without_gradient(traces):
    q, p = traces
    discriminator = Discriminator(9, hidden=8, layers=2).double()
    factor_vae(q, p, discriminator).loss.backward()
    assert all(weight.grad is None for weight in discriminator.parameters())


def test_hfvae_is_equation_4(traces):
    terms = decompose(*traces, N, **APART)
    want = terms["reconstruction"] + terms["marginal"] + 0.5 * terms["mutual_information"]
    want = want + 4 * terms["between"] + 3 * terms[WITHIN]
    torch.testing.assert_close(hfvae(*traces, N, alpha=0.5, beta=4.0, gamma=3.0, **APART).per_item, want)


def test_hfvae_weighs_every_node_below_the_root_by_gamma_unless_told(traces):
    terms = hfvae(*traces, N, beta=4.0, gamma=3.0, groups=TREE, weights={"between[style]": 0.5}, **APART)
    assert terms.weights == {
        "reconstruction": 1.0,
        "mutual_information": 1.0,
        "between": 4.0,
        "between[style]": 0.5,
        "within[z]": 3.0,
        "within[w]": 3.0,
        "marginal": 1.0,
    }
    with pytest.raises(SpecError, match=r"between\[content\]"):
        hfvae(*traces, N, groups=TREE, weights={"between[content]": 1.0}, **APART)


def test_the_two_level_objective_of_the_paper_is_that_of_the_deep_tree_with_one_gamma(traces):
    """(i) of E19 compares a group with its single dimensions, whatever lies between."""
    q, p = traces
    deep = hfvae(q, p, N, beta=4.0, gamma=3.0, groups=TREE, **APART)
    nested = hfvae(
        q, p, N, beta=4.0, gamma=3.0, groups={"content": ["y"], "style": {"z": ["z"], "w": ["w"]}}, **APART
    )
    torch.testing.assert_close(deep.per_item, nested.per_item)


def test_dip_vae_adds_squares_of_covariances(traces):
    q, p = traces
    mean = torch.cat([q["z"].dist.loc, q["w"].dist.loc], -1)
    spread = torch.cat([q["z"].dist.scale, q["w"].dist.scale], -1) ** 2
    prior = torch.tensor([1.0] * 3 + [4.0] * 2).double()
    for kind in ("I", "II"):
        covariance = torch.zeros(5, 5, dtype=torch.float64)
        for i in range(5):
            for j in range(5):
                covariance[i, j] = (mean[:, i] * mean[:, j]).mean() - mean[:, i].mean() * mean[:, j].mean()
        if kind == "II":
            covariance = covariance + torch.diag(spread.mean(0))
        off = sum(covariance[i, j] ** 2 for i in range(5) for j in range(5) if i != j)
        on = sum((covariance[i, i] - prior[i]) ** 2 for i in range(5))
        terms = dip_vae(q, p, lambda_od=3.0, lambda_d=5.0, kind=kind)
        torch.testing.assert_close(terms.per_item, elbo(q, p).per_item - 3 * off - 5 * on)


def test_dip_vae_has_the_authors_default_ratios(traces):
    assert dip_vae(*traces, lambda_od=2.0, kind="I").weights["diagonal"] == 20.0
    assert dip_vae(*traces, lambda_od=2.0, kind="II").weights["diagonal"] == 2.0
    with pytest.raises(SpecError, match="'I' or 'II'"):
        dip_vae(*traces, kind="III")


def test_dip_vae_names_its_variables(traces):
    with pytest.raises(SpecError, match="Normal variables"):
        dip_vae(*traces, variables=["y"])
    assert not math.isclose(dip_vae(*traces, variables=["z"]).total.item(), dip_vae(*traces).total.item())
