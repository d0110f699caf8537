"""Declared models: the two programs they compile to, their graphs, and their answers."""

from types import SimpleNamespace

import pytest
import torch

import unknot
from unknot.core.expectation import expect
from unknot.errors import SpecError
from unknot.models import GraphicalModel, node

X = node("x", "bernoulli", parents=["digit", "style"])


def class_and_style(family: str = "concrete", **settings) -> list:
    return [
        node("digit", family, 4, inferred_from=["x"], labels=True, **settings),
        node("style", "normal", 3, inferred_from=["x", "digit"]),
        X,
    ]


def batch(x: torch.Tensor, **values: torch.Tensor) -> SimpleNamespace:
    return SimpleNamespace(x=x, values=values)


@pytest.mark.parametrize(
    "gradient", [None, "straight_through", "plug_in", "enumerate", "score_function", "detached"]
)
@pytest.mark.parametrize("samples", [None, 3])
def test_every_gradient_gives_one_bound_per_item_and_trains_every_weight(gradient, samples) -> None:
    torch.manual_seed(0)
    model = GraphicalModel(class_and_style(gradient=gradient), (1, 8, 8))
    labels = torch.tensor([1, -1, 2, -1, 0])
    q, p = model(batch(torch.rand(5, 1, 8, 8), digit=labels), samples=samples)
    unknot.check(q, p)
    assert torch.equal(q["digit"].known, labels >= 0)
    bound = expect(q, p.log_prob() - q.log_prob())
    assert bound.shape == (5,)
    (bound.sum() + expect(q, q["digit"].log_prob).sum()).backward()
    for name, weight in model.named_parameters():
        assert weight.grad is not None, name
        assert torch.isfinite(weight.grad).all(), name


def test_the_graph_of_the_compiled_programs_is_the_described_one() -> None:
    nodes = [
        node("i", "concrete", 4, inferred_from=["x"], labels=True),
        node("l", "direction", 3, inferred_from=["x"], labels=True),
        node("s", "normal", 2, inferred_from=["i", "l"]),
        node("r", "normal", 2, inferred_from=["x"]),
        node("x", "normal", parents=["s", "i", "l", "r"]),
    ]
    model = GraphicalModel(nodes, (1, 12, 10))
    found = unknot.graph(model.encode, model.decode, torch.rand(3, 1, 12, 10))
    edges = {(e.source, e.target, e.model) for e in found.edges}
    recognition = {("x", "r"), ("x", "i"), ("x", "l"), ("i", "s"), ("l", "s")}
    generative = {("s", "x"), ("i", "x"), ("l", "x"), ("r", "x")}
    expected = {(*e, "recognition") for e in recognition} | {(*e, "generative") for e in generative}
    assert edges == expected


def test_the_standard_priors_are_what_they_say() -> None:
    model = GraphicalModel(class_and_style(), (1, 8, 8))
    p = model.decode(None, unknot.given(6))
    torch.testing.assert_close(p["style"].dist.loc, torch.zeros(3))
    torch.testing.assert_close(p["style"].dist.scale, torch.ones(3))
    torch.testing.assert_close(p["digit"].dist.probs, torch.full((4,), 0.25))


def test_generating_draws_real_classes_and_obeys_what_is_given() -> None:
    torch.manual_seed(0)
    model = GraphicalModel(class_and_style(), (1, 8, 8)).eval()
    p = model.decode(None, unknot.given(50))
    assert set(p["digit"].value.unique().tolist()) == {0.0, 1.0}
    style = torch.randn(6, 3)
    same = model.expected_data(unknot.given(6, digit=2, style=style))
    assert same.shape == (6, 1, 8, 8)
    torch.testing.assert_close(same, model.expected_data(unknot.given(6, digit=2, style=style)))


def test_labels_go_only_where_the_description_allows() -> None:
    model = GraphicalModel(class_and_style(), (1, 8, 8))
    with pytest.raises(SpecError, match="node 'style' takes no labels"):
        model.encode(torch.rand(2, 1, 8, 8), {"style": torch.zeros(2, 3)})
    with pytest.raises(SpecError, match="no node 'color'"):
        model.encode(torch.rand(2, 1, 8, 8), {"color": torch.zeros(2)})


def test_pixels_that_are_made_brighter_stay_pixels() -> None:
    spec = {"augment": {"gain": 2.0}, "nodes": {n.name: n.to_dict() for n in class_and_style()}}
    torch.manual_seed(0)
    view = GraphicalModel(spec, (1, 8, 8)).augment(torch.full((50, 1, 8, 8), 0.9), scored=True)
    assert view is not None
    assert float(view.max()) == 1.0
    assert float(view.min()) < 0.5


def test_augmentation_happens_in_training_only_and_needs_images() -> None:
    spec = {"augment": "affine", "nodes": {n.name: n.to_dict() for n in class_and_style()}}
    model = GraphicalModel(spec, (1, 8, 8))
    x = torch.rand(4, 1, 8, 8)
    view, plain = model.augment(x, scored=False), model.eval().augment(x, scored=False)
    assert view is not None
    assert not torch.equal(view, x)
    assert plain is not None
    assert torch.equal(plain, x)
    with pytest.raises(SpecError, match="for images"):
        GraphicalModel(spec, (64,))


def test_every_data_family_scores_its_kind_of_data() -> None:
    kinds = {
        "bernoulli": torch.rand(4, 6),
        "normal": torch.randn(4, 6),
        "poisson": torch.randint(0, 5, (4, 6)).float(),
        "multinomial": torch.randint(0, 5, (4, 6)).float(),
    }
    for family, x in kinds.items():
        model = GraphicalModel(
            [node("z", "normal", 2, inferred_from=["x"]), node("x", family, parents=["z"])], (6,)
        )
        q, p = model(batch(x))
        unknot.check(q, p)
        assert p["x"].log_prob.shape == (4,)
        assert model.expected_data(unknot.given(3)).shape == (3, 6)


@pytest.mark.parametrize("family", ["normal", "bernoulli", "relaxed_bernoulli"])
def test_one_number_for_each_item_needs_no_axis(family: str) -> None:
    nodes = [node("a", family, 1, inferred_from=["x"], labels=True), node("x", "normal", parents=["a"])]
    model, x, answers = GraphicalModel(nodes, (3,)), torch.randn(4, 3), torch.tensor([0, 1, 1, 0])
    assert model.encode(x, {"a": answers})["a"].value.tolist() == [[0.0], [1.0], [1.0], [0.0]]


def test_unknown_nodes_are_refused_with_the_nearest() -> None:
    model = GraphicalModel(class_and_style(), (1, 8, 8))
    with pytest.raises(SpecError, match="no node 'digti' to label or set; did you mean 'digit'"):
        model.encode(torch.rand(2, 1, 8, 8), {"digti": torch.zeros(2)})


def test_images_can_be_made_by_hyperbolic_tangents() -> None:
    decoder = {"name": "mlp", "hidden": [6], "activation": "tanh"}
    bent = node("x", "bernoulli", parents=["digit", "style"], decoder=decoder)
    made = GraphicalModel([*class_and_style()[:2], bent], (1, 8, 8)).generation["x"]
    assert any(isinstance(part, torch.nn.Tanh) for part in made.modules())
    assert not any(isinstance(part, torch.nn.ReLU) for part in made.modules())
