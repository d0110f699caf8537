"""Nodes that are given: conditioned on in both programs, never scored; unknown values are the population's mean."""

from __future__ import annotations

import pytest
import torch

from unknot.core.evidence import given
from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.errors import SpecError
from unknot.models import GraphicalModel, node
from unknot.models.known_inputs import KnownInput
from unknot.objectives import elbo


def model() -> GraphicalModel:
    torch.manual_seed(0)
    return GraphicalModel(
        [
            node("donor", "concrete", 3, given=True),
            node("dose", "normal", 1, given=True),
            node("z", "normal", 2, inferred_from=["x", "donor", "dose"]),
            node("x", "normal", parents=["z", "donor", "dose"]),
        ],
        shape=(4,),
    )


def data(donors: list[int], doses: list[float]) -> Dataset:
    beside = {
        "donor": Factor("donor", "categorical", torch.tensor(donors), ("a", "b", "c")),
        "dose": Factor("dose", "continuous", torch.tensor(doses)),
    }
    return Dataset("d", torch.randn(len(donors), 4), torch.arange(len(donors)), given=beside)


def test_given_nodes_are_no_sites_and_change_both_programs() -> None:
    made, x = model(), torch.zeros(3, 4)
    known = {"donor": torch.tensor([0, 1, 2]), "dose": torch.tensor([0.0, 0.0, 0.0])}
    q = made.encode(x, known)
    p = made.decode(x, q)
    assert (list(q), list(p)) == (["z"], ["z", "x"])
    assert q["z"].dist.mean[0].ne(q["z"].dist.mean[1]).all()  # the items are equal, the donors are not
    values = {"z": torch.zeros(2, 2), "donor": torch.tensor([0, 1]), "dose": torch.zeros(2, 1)}
    same = made.expected_data(given(2, values))
    assert same[0].ne(same[1]).all()
    assert elbo(q, p).per_item.shape == (3,)


def test_unknown_values_are_the_mean_over_the_training_items() -> None:
    made = model()
    made.prepare(data([0, 0, 1, -1], [1.0, 2.0, float("nan"), 6.0]))
    donor, dose = made.known_input("donor"), made.known_input("dose")
    known = donor(torch.tensor([0, 1]))
    assert torch.allclose(donor(torch.tensor([-1]))[0], (2 * known[0] + known[1]) / 3)
    assert dose(torch.tensor([[float("nan")], [5.0]])).tolist() == [[3.0], [5.0]]
    x = torch.zeros(2, 4)
    nothing = {"donor": torch.tensor([-1, -1]), "dose": torch.full((2,), float("nan"))}
    assert torch.equal(made.encode(x)["z"].dist.mean, made.encode(x, nothing)["z"].dist.mean)


def test_a_batch_brings_what_is_given() -> None:
    made, some = model(), data([0, 1, 2], [1.0, 2.0, 3.0])
    q, _ = made(some.batch([0, 1, 2]), samples=2)
    assert q.inputs["donor"].tolist() == [0, 1, 2]
    assert q.inputs["dose"].tolist() == [[1.0], [2.0], [3.0]]
    assert some.subset([2]).given["donor"].values.tolist() == [2]


@pytest.mark.parametrize("wrong", [{"labels": True}, {"parents": ["z"]}, {"inferred_from": ["x"]}])
def test_given_nodes_have_no_parents_and_no_labels(wrong: dict[str, object]) -> None:
    nodes = [node("d", "concrete", 2, given=True, **wrong), node("z", "normal", 2, inferred_from=["x"])]  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="node 'd' is given: it takes no parents"):
        GraphicalModel([*nodes, node("x", "normal", parents=["z"])], shape=(4,))


def test_data_without_the_values_are_refused() -> None:
    known = KnownInput(node("donor", "concrete", 2, given=True))
    with pytest.raises(SpecError, match="node 'donor' is given, but the data have no values"):
        known.prepare(Dataset("d", torch.zeros(2, 4), torch.arange(2)))
