"""An ensemble: each member's objective against a slow twin, what is hidden stays hidden, and it is one model in use."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.distributions import Categorical, Normal, kl_divergence
from torch.nn.functional import silu, softplus

from tests.models.tables import only, prepared, rows_of, table
from unknot.core.evidence import given
from unknot.core.handlers import modes
from unknot.data.dataset import Dataset
from unknot.errors import SpecError
from unknot.models.ensemble.ensemble import Ensemble
from unknot.objectives import elbo, semi_supervised
from unknot.objectives.encoder_objectives import supervised
from unknot.workflow.default_models import TableEnsemble

SMALL = {"folds": 2, "settings": [{}, {"rank": False, "hidden": True}, {"generative": False, "hidden": True}]}


def slow_objective(ensemble: Ensemble, data: Dataset, rows: list[int], style: Tensor) -> Tensor:
    """The total of all members, by loops over members, rows and classes; ``style`` are the draws (K, 1, M B, Z)."""
    views = ensemble.views(rows_of(data))
    labels = data.factors["kind"].values
    held = ensemble._held["0"]
    seen_by = {int(i): held.visible[:, n] for n, i in enumerate(held.ids)}
    kind = ensemble.factors[0]
    g, r = ensemble.generators, ensemble.encoders
    total = torch.zeros(())
    for m, setting in enumerate(ensemble.members):

        def logits(row: int, m: int = m) -> Tensor:
            x = views.inputs[row]
            found = x @ r.linear["0"][m] + r.bias["0"][m, 0]
            if m in r.deep:
                d = r.deep.index(m)
                found = found + silu(x @ r.hidden[d] + r.hidden_bias[d, 0]) @ r.out["0"][d]
            return found

        visible = [i for i in range(len(data)) if labels[i] >= 0 and seen_by[int(data.ids[i])][m]]
        right = sum((Categorical(logits=logits(i)).log_prob(labels[i]) for i in visible), torch.zeros(()))
        pays = setting.ridge * 0.5 * (r.linear["0"][m] ** 2).sum()
        if m in r.deep:
            d = r.deep.index(m)
            pays = pays + setting.ridge_hidden * ((r.hidden[d] ** 2).sum() / 8 + (r.out["0"][d] ** 2).sum())
        total = total + setting.alpha * (right - pays) / len(visible)
        if not setting.generative:
            continue
        bound = torch.zeros(())
        for place, row in enumerate(rows):
            x = views.columns[1 if setting.rank else 0, row]
            known = row in visible
            posterior = Categorical(logits=logits(row))
            for k in range(2):
                weight = float(labels[row] == k) if known else posterior.probs[k]
                code = torch.eye(2)[k]
                h = silu(x @ g.enc_x[m] + code @ g.enc_y["0"][m])
                mean = h @ g.enc_mean[m] + x @ g.enc_linear[m] + g.enc_mean_bias[m, 0]
                scale = (h @ g.enc_scale[m] + g.enc_scale_bias[m, 0]).exp()
                z = style[k, 0, m * len(rows) + place]
                h = silu(z @ g.dec_z[m] + code @ g.dec_y["0"][m])
                made = torch.cat([h, z, code]) @ g.dec_out[m]
                likelihood = (
                    Normal(made, softplus(g.dec_noise[m, 0]) + 0.05).log_prob(x)[views.seen[row]].sum()
                )
                kl = kl_divergence(Normal(mean, scale), Normal(0.0, 1.0)).sum()
                prior = Categorical(logits=kind.prior[m]).logits[k]
                entropy = 0.0 if known else -posterior.logits[k]
                bound = bound + weight * (likelihood - kl + prior + entropy)
        total = total + bound / len(rows)
    return total / ensemble.generating


@pytest.mark.parametrize("holes", [False, True])
def test_all_members_together_are_each_members_own_objective(holes: bool) -> None:
    data = only(table(holes=holes), "kind")
    ensemble, rows = prepared(data, **SMALL), [0, 5, 23, 24, 40]
    q, p = ensemble(data.batch(rows))
    assert q["kind"].log_prob.shape[-1] == 4 * 5  # members that generate times rows
    fast = elbo(q, p, analytic=True).total
    torch.testing.assert_close(
        fast, slow_objective(ensemble, data, rows, q["style"].value), rtol=1e-4, atol=1e-3
    )


def test_the_bound_is_that_of_eq_8_without_its_classifier() -> None:
    data = table()
    q, p = prepared(data, **SMALL)(data.batch(range(30)))
    torch.testing.assert_close(elbo(q, p).per_item, semi_supervised(q, p, alpha=0.0).per_item)


def test_a_hidden_label_moves_no_member_that_may_not_see_it() -> None:
    data = only(table(), "kind")
    ensemble = prepared(data, **SMALL)
    held = ensemble._held["0"]
    row = int((held.folds == 0).nonzero()[0])
    gradients = []
    for flip in (False, True):
        held.labels.values[row] ^= int(flip)
        batch = data.batch([row])
        values = {"kind": held.labels.values[row : row + 1].clone()}
        torch.manual_seed(1)
        q, p = ensemble(type(batch)(batch.x, batch.ids, values, batch.known, batch.dataset_size))
        ensemble.zero_grad()
        elbo(q, p).loss.backward()
        gradients.append(ensemble.encoders.linear["0"].grad.clone())
    change = (gradients[0] - gradients[1]).abs().sum((1, 2))
    assert (change[::2] == 0).all()  # the members of fold 0
    assert (change[1::2] > 0).all()


def test_the_best_plain_line_is_ridge_regression() -> None:
    data = only(table(), "amount")
    ensemble = prepared(data, folds=2, settings=[{}, {"generative": False, "plain": True, "ridge": 0.5}])
    held, amount, r = ensemble._held["0"], ensemble.factors[0], ensemble.encoders
    for m in (2, 3):  # in each fold
        seen = held.visible[m]
        x = held.inputs[seen, ensemble.views.inputs :].double()
        y = ((held.labels.values - amount.center) / amount.spread)[seen].double()
        strength = 4 * 0.5 * amount.log_noise[m].exp().square().double()  # numbers have four times the ridge
        gram = (x - x.mean(0)).T @ (x - x.mean(0)) + strength * torch.eye(x.shape[1])
        weights = torch.linalg.solve(gram, (x - x.mean(0)).T @ (y - y.mean(0)))
        with torch.no_grad():
            r.plain["0"][m - 2] = weights
            r.bias["0"][m] = y.mean(0) - x.mean(0) @ weights
    ensemble.zero_grad()
    sum(ensemble._label_terms().values()).backward()
    assert r.plain["0"].grad.abs().max() < 1e-4
    assert r.bias["0"].grad[2:].abs().max() < 1e-4
    assert r.linear["0"].grad.abs().max() > 1e-2  # the others have something to learn


def test_labels_alone_leaves_the_generators_out() -> None:
    data = table()
    ensemble = prepared(data, **SMALL)
    q, p = ensemble(data.batch(range(10)))
    supervised(q, p, alpha=0.0).loss.backward()
    assert all(w.grad is None or w.grad.abs().max() == 0 for w in ensemble.generators.parameters())
    assert ensemble.encoders.linear["0"].grad.abs().sum() > 0


def test_the_mixture_hears_each_label_from_members_that_did_not_see_it() -> None:
    data = only(table(), "kind")
    ensemble = prepared(data, **SMALL)
    held, labels = ensemble._held["0"], data.factors["kind"].values[:24]
    with torch.no_grad():  # the first setting knows every label that it may see and is wrong about the others
        ensemble.encoders.linear["0"].zero_()
        ensemble.encoders.out["0"].zero_()
        ensemble.encoders.bias["0"].zero_()
    right = 4.0 * torch.eye(2)[labels]
    out = torch.zeros(6, 24, 2)
    for m in (0, 1):
        out[m] = torch.where(held.visible[m][:, None], right, -right)
    ensemble.encoders.forward = lambda inputs, members: {"0": out}  # type: ignore[method-assign]
    ensemble.finalize()
    assert ensemble.factors[0].weights[0] < 0.05
    assert int(ensemble.generator_index) == 2  # the other setting that generates


def test_in_use_it_is_one_model() -> None:
    data = table(holes=True)
    ensemble = prepared(data).eval()
    x = rows_of(data)
    q = ensemble.encode(x, {"kind": data.factors["kind"].values})
    p = ensemble.decode(x, q)
    assert list(q) == ["kind", "amount", "style"]
    assert q["kind"].value.shape == (60, 2)
    assert p.log_prob().shape == (60,)
    with modes():
        seen = ensemble.encode(x)
    assert ensemble.expected_data(seen).shape == (60, 4)
    made = ensemble.expected_data(given(7, {"kind": 1}))
    assert made.shape == (7, 4)
    assert set(made[:, 3].tolist()) <= {0.0, 1.0, 2.0}
    assert 50 < made[:, 1].mean() < 150  # in the column's own units
    drawn = ensemble.sample_data(
        given(7, {"kind": 1, "amount": torch.ones(7, 1), "style": torch.zeros(7, 3)})
    )
    assert drawn.shape == (7, 4)
    assert len(drawn[:, 1].unique()) == 7  # the same variables, each row with noise of its own
    draws = ensemble.encode(x, samples=3)
    assert ensemble.decode(x, draws).log_prob().shape == (3, 60)


def test_a_missing_entry_counts_nothing() -> None:
    data = only(table(holes=True), "kind")
    ensemble = prepared(data).eval()
    x = rows_of(data)[:1].clone()
    q = ensemble.encode(x)
    assert x[0, 0].isnan()
    before = ensemble.decode(x, q)["x"].log_prob
    with torch.no_grad():
        ensemble.generators.dec_noise[:, :, 0] += 5.0
    torch.testing.assert_close(ensemble.decode(x, q)["x"].log_prob, before)


def test_training_before_it_knows_the_data_is_refused() -> None:
    data = table()
    with pytest.raises(SpecError, match="prepare"):
        Ensemble(TableEnsemble().spec(data))(data.batch([0]))
