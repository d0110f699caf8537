"""Label budgets: balanced, by id, saved and loaded, and tied to their data set."""

import dataclasses
import json

import numpy as np
import pytest
import torch

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.label_budget import LabelBudget
from unknot.data.label_rule import per, same_as
from unknot.data.sets.computed import load_digits
from unknot.errors import DataError, DiskError


def faces(people: int = 5, pictures: int = 12) -> Dataset:
    n = people * pictures
    identity = Factor("identity", "categorical", torch.arange(n) // pictures, tuple("abcde"[:people]))
    light = Factor("light", "continuous", torch.linspace(-1, 1, 2 * n).reshape(n, 2))
    smile = Factor("smile", "binary", (torch.arange(n) % 3 == 0).long())
    glasses = Factor("glasses", "count", torch.arange(n) % 4)
    factors = {f.name: f for f in (identity, light, smile, glasses)}
    return Dataset("faces", torch.arange(n)[:, None].to(torch.uint8), 1000 + torch.arange(n), factors)


@pytest.fixture(scope="module")
def digits() -> Dataset:
    return load_digits().split("train")


def labels_of(budget: LabelBudget, dataset: Dataset, factor: str) -> torch.Tensor:
    return budget.apply(dataset).labeled(factor).factors[factor].values


@pytest.mark.parametrize("number", [0, 7, 100, 103])
def test_a_number_is_balanced_and_the_first_classes_get_the_rest(digits, number):
    budget = LabelBudget.draw(digits, 1, digit=number)
    counts = labels_of(budget, digits, "digit").bincount(minlength=10)
    assert counts.tolist() == [number // 10 + (c < number % 10) for c in range(10)]


def test_apply_keeps_the_true_label_of_the_chosen_and_no_other(digits):
    budget = LabelBudget.draw(digits, 1, digit=100)
    shown = budget.apply(digits).factors["digit"].values
    chosen = torch.isin(digits.ids, torch.tensor(budget.items["digit"]))
    assert int(chosen.sum()) == 100
    assert torch.equal(shown[chosen], digits.factors["digit"].values[chosen])
    assert (shown[~chosen] == -1).all()


def test_factors_without_a_rule_are_hidden():
    shown = LabelBudget.draw(faces(), 0, identity=10).apply(faces())
    assert not shown.factors["light"].known.any()
    assert not shown.factors["smile"].known.any()
    assert shown.factors["light"].values.isnan().all()


def test_per_gives_so_many_for_each_class_of_another_factor():
    data = faces()
    budget = LabelBudget.draw(data, 3, light=per("identity", 6), glasses=per("glasses", 2))
    shown = budget.apply(data)
    lit = data.factors["identity"].values[shown.factors["light"].known]
    assert lit.bincount().tolist() == [6] * 5
    assert labels_of(budget, data, "glasses").bincount().tolist() == [2] * 4


def test_same_as_all_mask_and_ids():
    data = faces()
    mask = np.arange(60) < 4
    budget = LabelBudget.draw(
        data, 0, light=same_as("identity"), identity=20, smile=mask, glasses=torch.tensor([1059, 1000])
    )
    assert budget.items["light"] == budget.items["identity"]
    assert budget.items["smile"] == (1000, 1001, 1002, 1003)
    assert budget.items["glasses"] == (1000, 1059)
    everything = LabelBudget.draw(data, 0, identity="all", smile=0)
    assert everything.items == {"identity": "all", "smile": ()}
    assert everything.apply(data).factors["identity"].known.all()


def test_the_draw_depends_on_seed_and_factor_not_on_order_or_global_state(digits):
    first = LabelBudget.draw(digits, 1, digit=100)
    torch.rand(3)
    assert LabelBudget.draw(digits, 1, digit=100) == first
    assert LabelBudget.draw(digits, 2, digit=100).items != first.items
    backwards = digits.subset(torch.arange(len(digits) - 1, -1, -1))
    assert LabelBudget.draw(backwards, 1, digit=100).items == first.items
    data = faces()
    both = LabelBudget.draw(data, 0, smile=20, glasses=20)
    assert both.items["smile"] != both.items["glasses"]
    assert LabelBudget.draw(data, 0, smile=20).items["smile"] == both.items["smile"]


def test_larger_budgets_of_a_seed_contain_smaller_ones(digits):
    small, large = (set(LabelBudget.draw(digits, 1, digit=n).items["digit"]) for n in (33, 100))
    assert small < large


def test_draws_only_where_a_label_is():
    data = faces()
    values = data.factors["identity"].values.clone()
    values[::2] = -1
    part = dataclasses.replace(
        data, factors={"identity": Factor("identity", "categorical", values, tuple("abcde"))}
    )
    budget = LabelBudget.draw(part, 0, identity=30)
    assert all((i - 1000) % 2 for i in budget.items["identity"])
    with pytest.raises(DataError, match="asked for 31 labels, 30 are known"):
        LabelBudget.draw(part, 0, identity=31)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"identity": -1}, "asked for -1"),
        ({"smile": 60}, "cannot be balanced, class 1 has only 20"),
        ({"light": per("identity", 13)}, "identity 'a' has only 12"),
        ({"smile": per("light", 2)}, "'light' has none"),
        ({"smile": [True, False]}, "mask with 60 entries"),
        ({"smile": [1000, 7]}, "no item with id 7"),
        ({"smile": "most"}, "got 'most'"),
        ({"smile": 0.5}, "got 0.5"),
        ({"light": same_as("identity")}, "no rule for 'identity'"),
        ({"age": 3}, "no factor 'age'"),
    ],
)
def test_rules_that_cannot_be_are_refused(rules, message):
    with pytest.raises(DataError, match=message):
        LabelBudget.draw(faces(), 0, **rules)


def test_save_and_load(tmp_path):
    budget = LabelBudget.draw(faces(), 5, identity=per("identity", 2), light=12, smile="all")
    path = tmp_path / "budget.json"
    budget.save(path)
    assert LabelBudget.load(path) == budget
    content = json.loads(path.read_text())
    assert content["fingerprint"] == faces().fingerprint()
    assert content["seed"] == 5
    assert content["rules"] == {"identity": "2 per identity", "light": "12", "smile": "all"}
    assert [p.name for p in tmp_path.iterdir()] == ["budget.json"]


def test_an_unwritable_place_is_named(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(DiskError, match=r"Could not write .*budget\.json: a file stands where"):
        LabelBudget.draw(faces(), 5, identity=5).save(tmp_path / "file" / "budget.json")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_unreadable_budgets_are_refused(tmp_path):
    path = tmp_path / "budget.json"
    with pytest.raises(DataError, match="cannot be read"):
        LabelBudget.load(path)
    LabelBudget.draw(faces(), 5, identity=5).save(path)
    text = path.read_text()
    for broken in (text[:50], "[]", "{}", text.replace('"seed"', '"sead"'), text.replace("[1", '["x", 1')):
        path.write_text(broken)
        with pytest.raises(DataError, match="not a budget file"):
            LabelBudget.load(path)
    path.write_text(text.replace('"format": 1', '"format": 2'))
    with pytest.raises(DataError, match="reads format 1"):
        LabelBudget.load(path)


def test_a_budget_is_for_its_own_data_set():
    budget = LabelBudget.draw(faces(), 0, identity=10)
    with pytest.raises(DataError, match="drawn for other data than faces"):
        budget.apply(faces().subset(torch.arange(59)))
    with pytest.raises(DataError, match="no factor 'identity'"):
        budget.apply(dataclasses.replace(faces(), factors={}))


@pytest.mark.parametrize(("part", "held"), [(20, 20), (0.3, 30)])
def test_validation_splits_the_budget_in_two(digits, part, held):
    budget = LabelBudget.draw(digits, 1, digit=100)
    training, validation = budget.validation(digits, part, seed=4)
    assert sorted(training.items["digit"] + validation.items["digit"]) == list(budget.items["digit"])
    assert labels_of(validation, digits, "digit").bincount().tolist() == [held // 10] * 10
    assert budget.validation(digits, part, seed=4) == (training, validation)
    assert budget.validation(digits, part, seed=5) != (training, validation)


def test_validation_of_all_and_too_much():
    data = faces()
    training, validation = LabelBudget.draw(data, 0, identity="all").validation(data, 10, 0)
    assert (len(training.items["identity"]), len(validation.items["identity"])) == (50, 10)
    with pytest.raises(DataError, match="asked for 11 labels, 10 are known"):
        LabelBudget.draw(data, 0, identity=10).validation(data, 11, 0)
