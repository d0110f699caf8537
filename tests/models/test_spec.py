"""Descriptions of models: what is refused, in which words, and what order nodes come in."""

from dataclasses import fields
from pathlib import Path

import pytest

from unknot.errors import SpecError
from unknot.models.spec import MODEL, ModelSpec, check_spec, node, read_spec
from unknot.schema import settings_table

DIGIT = node("digit", "concrete", 10, inferred_from=["x"], labels=True)
STYLE = node("style", "normal", 5, inferred_from=["x", "digit"])
X = node("x", "bernoulli", parents=["digit", "style"])


def test_a_good_model_is_put_in_generative_and_inference_order() -> None:
    spec = read_spec([X, STYLE, DIGIT])
    assert [n.name for n in spec.nodes][-1] == "x"
    assert spec.inference_order == ("digit", "style")
    assert spec.data.name == "x"
    assert [n.name for n in spec.labeled] == ["digit"]


def test_a_model_survives_the_way_through_plain_data() -> None:
    spec = read_spec([DIGIT, STYLE, X])
    assert read_spec(spec.to_dict()) == spec


def test_yaml_says_the_same(tmp_path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(
        "nodes:\n"
        "  digit: {family: concrete, size: 10, inferred_from: x, labels: true}\n"
        "  style: {family: normal, size: 5, inferred_from: [x, digit]}\n"
        "  x: {family: bernoulli, parents: [digit, style]}\n"
    )
    assert read_spec(path) == read_spec([DIGIT, STYLE, X])


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([DIGIT, X], "node 'x': unknown node 'style' in parents"),
        ([DIGIT, DIGIT, STYLE, X], "node 'digit' is described twice"),
        ([node("digt", "concrete", 10, inferred_from=["y"]), X], "unknown node 'y' in inferred_from"),
        ([node("z", "norml", 3, inferred_from=["x"]), X], "did you mean 'normal'"),
        (
            [node("z", "normal", inferred_from=["x"]), node("x", "normal", parents=["z"])],
            "'z': needs a size",
        ),
        ([node("z", "normal", 3), node("x", "normal", parents=["z"])], "needs generative parents"),
        ([node("x", "normal")], "data needs generative parents"),
        ([DIGIT, STYLE], "unknown node 'x'"),
        (
            [
                node("a", "normal", 2, parents=["b"], inferred_from=["x"]),
                node("b", "normal", 2, parents=["a"], inferred_from=["x"]),
                node("x", "normal", parents=["a"]),
            ],
            "the generative model has a cycle among: a, b, x",
        ),
        (
            [
                node("a", "normal", 2, inferred_from=["b"]),
                node("b", "normal", 2, inferred_from=["a"]),
                node("x", "normal", parents=["a", "b"]),
            ],
            "the recognition model has a cycle among: a, b",
        ),
        (
            [
                node("z", "normal", 2, parents=["x"], inferred_from=["x"]),
                node("x", "normal", parents=["z"]),
            ],
            "node 'z': data ('x') cannot be a generative parent",
        ),
        (
            [DIGIT, STYLE, node("x", "bernoulli", parents=["digit"], labels=True)],
            "labels belong to latent nodes",
        ),
    ],
)
def test_what_is_no_model_is_refused_by_the_node(nodes, message) -> None:
    with pytest.raises(SpecError) as caught:
        read_spec(nodes)
    assert message in str(caught.value)


def test_wrong_keys_are_refused_with_the_nearest() -> None:
    with pytest.raises(SpecError, match="did you mean 'labels'"):
        node("digit", "concrete", 10, label=True)
    with pytest.raises(SpecError, match="unknown key 'node'; did you mean 'nodes'"):
        read_spec({"node": {}})
    with pytest.raises(SpecError, match=r"model.temperature is a number above 0"):
        check_spec(ModelSpec((DIGIT, STYLE, X), temperature=0.0))


def test_unreadable_files_are_refused(tmp_path) -> None:
    with pytest.raises(SpecError, match="cannot read the model file"):
        read_spec(tmp_path / "absent.yaml")
    (tmp_path / "bad.yaml").write_text("nodes: [")
    with pytest.raises(SpecError, match="not valid YAML"):
        read_spec(tmp_path / "bad.yaml")


def test_the_schema_and_the_guide_come_from_the_declaration() -> None:
    assert set(MODEL["properties"]) == {one.name for one in fields(ModelSpec)} - {"inference_order"}
    guide = Path(__file__).parent.parent.parent / "docs" / "guide.md"
    assert settings_table(ModelSpec) in guide.read_text()
