"""Which data gets which default model, how settings change it, and that a run keeps it by name."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.models.tables import only, rows_of, table
from unknot.data import from_arrays, from_texts
from unknot.data.dataset import Dataset
from unknot.errors import SpecError
from unknot.models.ensemble.ensemble import Ensemble
from unknot.models.graphical_model import GraphicalModel
from unknot.models.spec import ModelSpec
from unknot.schema import settings_table
from unknot.train.loop import fit
from unknot.workflow.assembly import assemble
from unknot.workflow.default_models import ALPHA, is_table
from unknot.workflow.default_models.base import tuned
from unknot.workflow.default_models.choose import DEFAULT_MODELS, choose
from unknot.workflow.default_models.images import Images
from unknot.workflow.default_models.tables import TableEnsemble
from unknot.workflow.default_models.topics import Topics
from unknot.workflow.default_models.wide import Wide
from unknot.workflow.evaluation import evaluate
from unknot.workflow.model_source import Described
from unknot.workflow.recipe import Recipe
from unknot.workflow.run import open_run, resume, train_recipe
from unknot.workflow.trained_model import TrainedModel

RANDOM = np.random.default_rng(0)
QUICK = {"steps": 40, "progress": False}


def trained(data: Dataset) -> TrainedModel:
    made = assemble(data, {}, QUICK)
    fit(made.model.module, data, made.config)
    made.model.module.eval()
    return made.model


def test_tables_with_labels_get_a_ensemble() -> None:
    assert TableEnsemble.suits(table())
    assert isinstance(assemble(table(), {}, QUICK).model.module, Ensemble)
    numbers = from_arrays(RANDOM.random((30, 4)).astype(np.float32), {"kind": np.arange(30) % 2})
    assert TableEnsemble.suits(numbers)


def test_nothing_else_does() -> None:
    images = from_arrays(RANDOM.random((30, 1, 8, 8)).astype(np.float32), {"kind": np.arange(30) % 2})
    words = from_arrays(np.arange(60).reshape(30, 2), {"kind": np.arange(30) % 2})
    assert not is_table(images)
    assert not is_table(words)
    assert not TableEnsemble.suits(only(table()))  # no factor
    assert not TableEnsemble.suits(table(labeled=1))
    wide = from_arrays(RANDOM.standard_normal((30, 1001)).astype(np.float32), {"kind": np.arange(30) % 2})
    assert not TableEnsemble.suits(wide)


def test_wide_rows_with_labels_get_the_ensemble_on_components() -> None:
    kind = {"kind": np.arange(30) % 2}
    assert choose(from_arrays(RANDOM.standard_normal((30, 501)).astype(np.float32), kind)) is Wide
    assert choose(from_arrays(RANDOM.standard_normal((30, 500)).astype(np.float32), kind)) is TableEnsemble
    assert choose(from_arrays(RANDOM.standard_normal((30, 501)).astype(np.float32))) is not Wide  # no factor
    for share in (0.02, 0.5):  # sparse, and dense whole numbers
        assert choose(from_arrays(RANDOM.binomial(3, share, (30, 501)), kind)) is Wide


def test_wide_counts_of_words_stay_texts() -> None:
    words = ["w" + "".join(letters) for letters in product("abcdefghij", repeat=3)]
    texts = [" ".join(word for j, word in enumerate(words) if (i + j) % 3) for i in range(20)]
    data = from_texts(texts, {"kind": [f"c{i % 2}" for i in range(20)]})
    assert data.item_shape[0] > Wide.FEWEST_COLUMNS
    assert choose(data) is Topics
    counts = from_arrays(RANDOM.binomial(3, 0.02, (20, 600)), {"kind": np.arange(20) % 2})
    assert choose(counts) is Wide
    vocabulary = tuple(f"word {i}" for i in range(600))
    assert choose(replace(counts, columns=vocabulary)) is Topics
    with pytest.raises(SpecError, match="is for rows of numbers or counts in memory"):
        assemble(data, {"kind": "wide"}, QUICK)


def test_many_classes_are_too_many_for_a_ensemble() -> None:
    x = RANDOM.random((800, 4)).astype(np.float32)
    names = [f"c{i % 201}" for i in range(800)]
    assert TableEnsemble.suits(from_arrays(x, {"kind": names[:200] * 4}))
    assert not TableEnsemble.suits(from_arrays(x, {"kind": names}))
    many = {f"kind {k}": np.arange(800) % (k + 40) for k in range(3)}  # 68,880 combinations
    assert not TableEnsemble.suits(from_arrays(x, many))
    assert TableEnsemble.suits(from_arrays(x, {"kind": np.arange(800) % 3, "size": x[:, 0]}))


def test_settings_change_a_default_and_never_choose_another() -> None:
    made = assemble(table(), {"style": 3, "folds": 2, "hidden": 8}, {"objective": "elbo", "steps": 7})
    assert isinstance(made.model.module, Ensemble)
    spec = made.model.module.spec
    assert (spec.style, spec.folds, spec.hidden) == (3, 2, 8)
    assert (made.config.steps, made.config.batch_size) == (7, 60)
    named = assemble(table(), {"kind": "class_style", "style": 3}, QUICK)
    assert isinstance(named.model.module, GraphicalModel)


def test_what_does_not_fit_the_model_is_refused() -> None:
    with pytest.raises(
        SpecError, match="ensemble, which is the default for these data, has no setting 'gradient'"
    ):
        assemble(table(), {"gradient": "enumerate"}, QUICK)
    with pytest.raises(SpecError, match="class_style, has no setting 'folds'"):
        assemble(table(), {"kind": "class_style", "folds": 3}, QUICK)
    with pytest.raises(SpecError, match="unknown key 'fold'; did you mean 'folds'"):
        assemble(table(), {"kind": "ensemble", "fold": 3}, QUICK)
    with pytest.raises(SpecError, match="folds is a whole number from 2"):
        assemble(table(), {"folds": 1}, QUICK)
    with pytest.raises(SpecError, match="ensemble is for tables in memory"):
        assemble(from_arrays(STROKES, {"kind": KINDS}), {"kind": "ensemble"}, QUICK)
    for objective in ({"alpha": 3.0}, {"name": "hfvae"}, "semi_supervised"):
        with pytest.raises(SpecError, match=r"an ensemble is trained by its own bound.*kind: class_style"):
            assemble(table(), {}, {**QUICK, "objective": objective})


def test_symbols_without_a_name_change_the_default_objective() -> None:
    assert tuned({"name": "semi_supervised", "alpha": 20.0}, None) == {
        "name": "semi_supervised",
        "alpha": 20.0,
    }
    data = from_arrays(STROKES[..., :7], {"kind": KINDS})
    config = assemble(data, {}, {"objective": {"alpha": 5.0, "beta": 2.0}}).config
    assert config.objective == {"name": "semi_supervised", "alpha": 5.0, "beta": 2.0}
    assert assemble(data, {}, {"objective": {"name": "elbo"}}).config.objective == {"name": "elbo"}


def test_sizes_follow_the_columns() -> None:
    assert [TableEnsemble._style_size(d) for d in (1, 4, 9, 30, 500)] == [2, 2, 4, 15, 20]
    spec = TableEnsemble().spec(table(holes=True))
    assert spec.style == 3  # six columns, the category one-hot
    assert [bool(c.get("missing")) for c in spec.columns] == [True, False, False, True]


def test_it_learns_two_factors_and_is_saved_and_loaded_whole(tmp_path: Path) -> None:
    data = table(rows=120, labeled=40, holes=True)
    model = trained(data)
    whole = table(rows=120, labeled=120, holes=True)
    kind, amount = evaluate(model, whole)
    assert kind.value < 0.3
    assert amount.value < 0.7  # the spread is 2
    model.save(tmp_path / "saved")
    again = TrainedModel.load(tmp_path / "saved")
    x = rows_of(data)
    for name, said in model.predict(x).predictions.items():
        assert torch.equal(said, again.predict(x).predictions[name])
    assert torch.equal(model.reconstruct(x), again.reconstruct(x))
    assert again.vary(x[:5], "kind", [torch.tensor(0), torch.tensor(1)]).shape == (5, 2, 4)
    assert again.sample(6, {"kind": "b", "amount": 7.0}).shape == (6, 4)
    assert "amount: normal" in again.describe()


def test_a_run_is_opened_and_continued(tmp_path: Path) -> None:
    data = only(table(rows=60, labeled=60), "kind")
    lines = ["a,b,c,d,kind"]
    for row, kind in zip(rows_of(data).tolist(), data.factors["kind"].values.tolist(), strict=True):
        lines.append(",".join([*(f"{v:.4f}" for v in row[:3]), "uvw"[int(row[3])], ("no", "yes")[kind]]))
    (tmp_path / "mine.csv").write_text("\n".join(lines))
    recipe = Recipe.from_dict(
        {
            "data": {"file": str(tmp_path / "mine.csv"), "factors": ["kind"]},
            "labels": {"budget": {"kind": 20}},
            "train": QUICK,
        }
    )
    run, _ = train_recipe(recipe, tmp_path / "run")
    assert run.run.config["model"] == {"kind": "ensemble"}
    assert isinstance(run.model.module, Ensemble)
    x = rows_of(run.train)
    for again in (open_run(tmp_path / "run").model, TrainedModel.load(tmp_path / "run")):
        assert torch.equal(again.predict(x).predictions["kind"], run.model.predict(x).predictions["kind"])
    resumed, result = resume(tmp_path / "run", {"train.steps": 45}, None)
    assert result.steps == 45
    assert isinstance(resumed.model.module, Ensemble)


def test_a_changed_class_changes_the_column_that_shows_it() -> None:
    model = trained(only(table(rows=120, labeled=60), "kind"))
    both = model.vary(rows_of(table())[:20], "kind", [torch.tensor(0), torch.tensor(1)])
    change = (both[:, 1] - both[:, 0]).mean(0)
    assert change[0] > 1.0  # three is true
    assert abs(change[2]) < 1.0


def test_the_same_seed_makes_the_same_ensemble() -> None:
    data = table()
    first, second = (trained(data).predict(rows_of(data)).predictions["kind"] for _ in range(2))
    assert torch.equal(first, second)


def test_factors_may_be_called_as_the_nodes_of_the_model() -> None:
    plain = only(table(), "kind", "amount")
    names = {"kind": "style", "amount": "x"}
    factors = {names[n]: replace(f, name=names[n]) for n, f in plain.factors.items()}
    model = trained(replace(plain, factors=factors))
    assert [node.name for node in model.nodes] == ["style", "x", "style_", "x_"]
    assert model.sample(3, {"style": "b", "x": 1.0}).shape == (3, 4)
    assert model.predict(rows_of(plain)).predictions["style"].shape == (60, 2)


# ---- images ------------------------------------------------------------------------------------------------

DRAW = np.random.default_rng(0)
PHOTOGRAPHS = DRAW.random((6, 3, 9, 8)).astype(np.float32)
STROKES = np.where(DRAW.random((6, 1, 9, 8)) < 0.3, 1.0, 0.0).astype(np.float32)
KINDS = [0, 1, -1, 1, 0, -1]


def image_spec(data: Dataset, model: dict[str, Any] | None = None, **train: Any) -> ModelSpec:
    source = assemble(data, model or {}, train).model.source
    assert isinstance(source, Described)
    return source.spec


def test_two_views_of_images_with_classes_must_agree() -> None:
    photographs, strokes = from_arrays(PHOTOGRAPHS, {"kind": KINDS}), from_arrays(STROKES, {"kind": KINDS})
    assert image_spec(photographs).augment == Images.PHOTOGRAPHED
    assert image_spec(strokes).augment == Images.DRAWN
    config = assemble(strokes, {}, {}).config
    assert config.objective["regularizers"] == {"agreement": {"weight": 100.0, "confidence": 0.9}}  # type: ignore[index]


def test_what_a_jitter_may_change_is_not_jittered() -> None:
    assert choose(from_arrays(PHOTOGRAPHS, {"kind": KINDS})) is Images
    assert not Images.suits(from_arrays(PHOTOGRAPHS))
    assert not Images.suits(from_arrays(PHOTOGRAPHS, {"light": DRAW.random(6)}))
    assert not Images.suits(from_arrays(PHOTOGRAPHS, {"kind": KINDS, "light": DRAW.random(6)}))
    assert not Images.suits(from_arrays(PHOTOGRAPHS[..., :7], {"kind": KINDS}))
    assert not Images.suits(from_arrays(PHOTOGRAPHS.reshape(6, -1), {"kind": KINDS}))


def test_settings_of_the_image_model() -> None:
    data = from_arrays(PHOTOGRAPHS, {"kind": KINDS})
    assert image_spec(data, {"style": 3})["style"].size == 3
    assert image_spec(data, {"style": 3}).augment == Images.PHOTOGRAPHED
    assert image_spec(data, {"augment": "affine"}).augment == "affine"
    plain = assemble(data, {"kind": "class_style"}, {})
    assert plain.config.objective == {"name": "semi_supervised", "alpha": ALPHA}
    assert plain.config.stages == ()
    weaker = assemble(data, {}, {"objective": {"regularizers": {"agreement": 5.0}}}).config
    assert weaker.objective["regularizers"] == {"agreement": {"weight": 5.0, "confidence": 0.9}}  # type: ignore[index]


def test_separate_adds_regularizers_to_any_objective_by_name() -> None:
    data = from_arrays(STROKES, {"kind": KINDS})
    found = assemble(data, {"kind": "class_style", "separate": True}, {"objective": {"name": "hfvae"}}).config
    assert found.objective == {"name": "hfvae", "regularizers": {"swap": 1.0, "independence": 1000.0}}
    other = assemble(
        data, {"separate": True}, {"objective": {"regularizers": {"swap": 2.0}}}
    ).config.objective
    assert set(other["regularizers"]) == {"agreement", "swap", "independence"}  # type: ignore[index]
    assert other["regularizers"]["swap"] == 2.0  # type: ignore[index]
    with pytest.raises(SpecError, match="the objective is a function"):
        assemble(data, {"separate": True}, {"objective": lambda q, p: None})


def test_the_style_has_time_to_begin() -> None:
    data = from_arrays(STROKES, {"kind": KINDS})
    config = assemble(data, {}, {"steps": 1000}).config
    assert [stage["steps"] for stage in config.stages] == [300]
    assert config.stages[0]["objective"]["beta"] == {"style": 0.1}
    assert config.stages[0]["objective"]["alpha"] == config.objective["alpha"] == ALPHA  # type: ignore[index]
    tuned_stage = assemble(data, {"style": 3}, {"objective": {"alpha": 3.0}}).config.stages[0]
    assert tuned_stage["objective"]["alpha"] == 3.0
    for train in ({"steps": 800}, {"epochs": 2}, {"steps": 1000, "stages": []}, {"objective": "elbo"}):
        assert assemble(data, {}, train).config.stages == ()
    named = assemble(from_arrays(STROKES, {"style": KINDS}), {}, {"steps": 1000}).config
    assert named.stages[0]["objective"]["beta"] == {"style_": 0.1}


def test_nothing_is_recognized_by_its_numbers() -> None:
    """A description with the numbers of the default is no default: it has no warm-up stage."""
    data = from_arrays(STROKES, {"kind": KINDS})
    made = assemble(data, {}, {})
    described = made.model.source.to_dict()
    assert described.pop("default") == {"kind": "images"}
    assert described["augment"] == Images.DRAWN
    for train in ({"steps": 1000}, {"steps": 1000, "objective": made.config.objective}):
        by_hand = assemble(data, described, train)
        assert by_hand.config.stages == ()
        assert by_hand.model.source.default is None


# ---- texts -------------------------------------------------------------------------------------------------

TEXTS = ["moon rocket", "car engine", "moon moon", "engine of a rocket"]


def test_texts_with_one_class_factor_get_classes_of_words() -> None:
    data = from_texts(TEXTS, {"group": ["space", "cars", None, "cars"]})
    assert choose(data) is Topics
    assert not Topics.suits(from_texts(TEXTS))
    assert not Topics.suits(from_texts(TEXTS, {"score": [0.5, 0.1, 0.2, 0.9]}))
    assert not Topics.suits(from_arrays(np.zeros((4, 3)), {"group": [0, 1, 0, 1]}))
    made = assemble(data, {}, {})
    assert [(n.name, str(n.encoder)) for n in made.model.latents] == [("group", "bayes")]
    assert made.config.learning_rate == {"name": "cosine", "start": 1e-2, "end": 0.0, "warmup": 20}
    assert made.config.batch_size == 4
    plain = assemble(data, {"kind": "class_style", "style": 3}, {})
    assert [n.name for n in plain.model.latents] == ["group", "style"]


def test_topics_beside_the_class_and_names_that_are_taken() -> None:
    spec = Topics(style=2).spec(from_texts(TEXTS, {"topics": ["a", "b", None, "a"]}))
    assert [n.name for n in spec.latents] == ["topics", "topics_"]
    assert spec.data.parents == ("topics", "topics_")
    assert Topics().spec(from_texts(TEXTS, {"x": ["a", "b", None, "a"]})).data.name == "x_"


def test_a_class_with_many_labels_has_a_stronger_prior() -> None:
    few = from_texts(TEXTS, {"group": ["space", "cars", None, "cars"]})
    many = from_texts(TEXTS * 30, {"group": ["space", "cars", None, "cars"] * 30})  # 90 labels, 45 a class
    assert [Topics().spec(data).data.family.options["prior_words"] for data in (few, many)] == [
        2000.0,
        9000.0,
    ]


def test_the_documentation_has_the_settings_of_every_default() -> None:
    page = (Path(__file__).parents[2] / "docs" / "defaults.md").read_text()
    for one in DEFAULT_MODELS.values():
        assert settings_table(one) in page
        assert f"`{one.name}`" in page


def test_larger_images_have_fewer_steps_and_smaller_batches() -> None:
    def settings(side: int) -> tuple[int, int]:
        x = np.zeros((300, 1, side, side), np.uint8)
        made = Images().training(from_arrays(x, {"kind": np.arange(300) % 2}))
        return made["steps"], made["batch_size"]

    assert [settings(side) for side in (16, 32, 64, 200)] == [(1000, 256), (1000, 256), (300, 64), (300, 64)]
