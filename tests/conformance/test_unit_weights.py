"""With unit weights the terms are the ELBO, for every estimator, every tree and every kind of label."""

import torch
from hypothesis import given
from hypothesis import strategies as st

import unknot
from tests.objectives.marginal.structured_programs import B, Encoder, N, data, decoder
from unknot.objectives import decompose, elbo
from unknot.objectives.marginal.weights import ESTIMATORS


@st.composite
def trees(draw: st.DrawFn, names: tuple[str, ...] = ("y", "z", "w")) -> object:
    """Any tree over the names: a list of some in any order, or named groups of trees."""
    order = draw(st.permutations(names))
    if len(order) == 1 or draw(st.booleans()):
        return list(order)
    cut = draw(st.integers(1, len(order) - 1))
    groups = {"a": draw(trees(tuple(order[:cut]))), "b": draw(trees(tuple(order[cut:])))}
    return {"outer": groups} if draw(st.booleans()) else groups


@given(
    tree=trees(),
    estimator=st.sampled_from(sorted(ESTIMATORS)),
    labels=st.lists(st.integers(-1, 3), min_size=B, max_size=B),
    gradient=st.sampled_from([None, "straight_through", "score_function", "enumerate", "plug_in"]),
    samples=st.sampled_from([None, 1, 2]),
    correlated=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_the_terms_add_up_to_the_elbo(tree, estimator, labels, gradient, samples, correlated, seed):
    torch.manual_seed(seed)
    x = data()
    q = Encoder(gradient)(x, unknot.partial(torch.tensor(labels)), samples)
    p = decoder(x, q, correlated)
    size = B if estimator == "exact" else N
    terms = decompose(q, p, size, tree, estimator=estimator, parents={name: [] for name in q})
    torch.testing.assert_close(terms.per_item, elbo(q, p).per_item, rtol=1e-10, atol=1e-10)
    assert all(term.shape == (B,) for term in terms.values())
