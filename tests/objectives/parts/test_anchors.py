"""The information of anchors: of variables together, of single dimensions, where they were drawn."""

import pytest
import torch

import unknot
from tests.objectives.marginal.structured_programs import B, Encoder, N, data, decoder
from unknot.errors import SpecError
from unknot.objectives import (
    anchor_vae,
)


@pytest.fixture
def traces() -> tuple[unknot.Trace, unknot.Trace]:
    x = data()
    q = Encoder()(x)
    return q, decoder(x, q)


def test_anchors_may_be_single_dimensions(traces):
    q, p = traces
    terms = anchor_vae(q, p, N, anchors={"z": [0, 2]}, lambda_=1.0, parents={name: [] for name in q})
    loc, scale = q["z"].dist.loc, q["z"].dist.scale
    want = torch.zeros(B, dtype=torch.float64)
    for b in range(B):
        for d in (0, 2):
            logs = torch.distributions.Normal(loc[:, d], scale[:, d]).log_prob(q["z"].value[b, d])
            weights = torch.full((B,), (N - 1) / (N * (B - 1)), dtype=torch.float64)
            weights[b] = 1 / N
            want[b] += logs[b] - torch.logsumexp(logs + weights.log(), 0)
    torch.testing.assert_close(terms["anchors"], want)


def test_anchors_count_where_they_were_drawn():
    x = data()
    known = torch.tensor([1, -1, 2, -1, -1, 0])
    q = Encoder()(x, unknot.partial(known))
    terms = anchor_vae(q, decoder(x, q), N, anchors=["y"], parents={name: [] for name in q})
    assert (terms["anchors"] == 0).tolist() == (known >= 0).tolist()


@pytest.mark.parametrize("anchors", [["v"], []])
def test_anchors_must_be_variables(traces, anchors):
    with pytest.raises(SpecError, match="anchor_vae"):
        anchor_vae(*traces, N, anchors=anchors)
