"""StructuredVAE: scikit-learn's habits, every kind of label and of data, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler

import unknot
from unknot import StructuredVAE, node
from unknot.errors import DataError, RunError, SpecError

DIGITS = load_digits()
IMAGES = np.round(DIGITS.images * 255 / 16).astype(np.uint8)  # (N, 8, 8)
CLASSES = DIGITS.target
COUNT = 400


def small(**settings: Any) -> StructuredVAE:
    return StructuredVAE(**{"steps": 6, "batch_size": 64, "style": 3, "verbose": False, **settings})


def half_known(labels: np.ndarray, unknown: Any = -1) -> np.ndarray:
    shown = labels[:COUNT].copy()
    shown[COUNT // 2 :] = unknown
    return shown


@pytest.fixture(scope="module")
def fitted() -> StructuredVAE:
    """Trained for long enough to know most digits."""
    torch.manual_seed(0)
    with unknot.validation(True):
        return small(steps=150, batch_size=128).fit(IMAGES[:1000], digit=CLASSES[:1000])


def test_it_learns_to_recognise_digits(fitted: StructuredVAE) -> None:
    # 150 steps reach about nine of ten; a guess would be one of ten
    assert fitted.score(IMAGES[1000:], digit=CLASSES[1000:]) > 0.75
    guess = fitted.predict(IMAGES[:7])
    assert guess.shape == (7,)
    assert np.issubdtype(guess.dtype, np.integer)
    shares = fitted.predict_proba(IMAGES[:7])
    assert shares.shape == (7, 10)
    np.testing.assert_allclose(shares.sum(1), 1, rtol=1e-5)
    np.testing.assert_array_equal(shares.argmax(1), guess)


def test_transform_gives_named_columns(fitted: StructuredVAE) -> None:
    codes = fitted.transform(IMAGES[:5])
    names = fitted.get_feature_names_out()
    assert codes.shape == (5, 13) == (5, len(names))
    assert list(names[[0, 10]]) == ["digit[0]", "style[0]"]
    np.testing.assert_allclose(codes[:, :10], fitted.predict_proba(IMAGES[:5]), rtol=1e-5)
    np.testing.assert_array_equal(codes, fitted.transform(IMAGES[:5]))  # nothing is drawn


def test_samples_obey_what_is_given(fitted: StructuredVAE) -> None:
    sampled = fitted.sample(40, digit=0)
    assert sampled.shape == (40, 1, 8, 8)
    assert (fitted.predict((255 * sampled).astype(np.uint8)) == 0).mean() > 0.75
    each = fitted.sample(3, digit=[1, 2, 3], style=np.zeros(3))
    one = fitted.sample(3, digit=2, style=np.zeros((3, 3)))
    np.testing.assert_allclose(each[1], one[0], rtol=1e-5)
    torch.manual_seed(1)
    first = fitted.sample(4)
    torch.manual_seed(1)
    np.testing.assert_array_equal(first, fitted.sample(4))


def test_vary_changes_the_factor_and_keeps_the_rest(fitted: StructuredVAE) -> None:
    varied = fitted.vary(IMAGES[:6], digit=range(10))
    assert varied.shape == (6, 10, 1, 8, 8)
    swept = fitted.vary(IMAGES[:6], style=[np.zeros(3), np.ones(3)])
    assert swept.shape == (6, 2, 1, 8, 8)
    best = fitted.predict(IMAGES[:1])[0]
    same = fitted.trained_.reconstruct(torch.from_numpy(IMAGES[:1, None] / 255).float()).numpy()
    np.testing.assert_allclose(varied[0, best], same[0], rtol=1e-5)


@pytest.mark.parametrize(
    "asked", [{"digit": 11}, {"digit": "three"}, {"digit": [1, 2]}, {"style": [1.0, 2.0]}]
)
def test_values_that_do_not_fit_are_refused(fitted: StructuredVAE, asked: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=r"digit|style"):
        fitted.sample(5, **asked)
    with pytest.raises(SpecError, match="no factor 'colour'"):
        fitted.sample(5, colour=1)
    with pytest.raises(SpecError, match="one factor at a time"):
        fitted.vary(IMAGES[:2], digit=[1], style=[np.zeros(3)])


def test_a_seed_makes_it_repeatable_and_leaves_torch_alone() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    one = small(seed=3).fit(IMAGES[:COUNT], digit=half_known(CLASSES)).transform(IMAGES[:9])
    assert torch.equal(before, torch.get_rng_state())
    torch.manual_seed(6)
    two = small(seed=3).fit(IMAGES[:COUNT], digit=half_known(CLASSES)).transform(IMAGES[:9])
    np.testing.assert_array_equal(one, two)
    other = small(seed=4).fit(IMAGES[:COUNT], digit=half_known(CLASSES)).transform(IMAGES[:9])
    assert not np.array_equal(one, other)


# ---- labels -------------------------------------------------------------------------------------------


def test_words_come_back_as_words() -> None:
    names = np.array([f"digit {d}" for d in CLASSES[:COUNT]], dtype=object)
    names[5:60] = None
    vae = small().fit(IMAGES[:COUNT], digit=names)
    assert set(vae.predict(IMAGES[:20])) <= set(names[60:])
    assert vae.sample(2, digit="digit 4").shape == (2, 1, 8, 8)
    assert 0 <= vae.score(IMAGES[:COUNT], digit=names) <= 1


def test_bools_come_back_as_bools() -> None:
    vae = small().fit(IMAGES[:COUNT], even=CLASSES[:COUNT] % 2 == 0)
    assert vae.predict(IMAGES[:5]).dtype == bool
    assert vae.vary(IMAGES[:2], even=[False, True]).shape == (2, 2, 1, 8, 8)


@pytest.mark.parametrize(
    "labels",
    [
        half_known(CLASSES),
        np.ma.MaskedArray(CLASSES[:COUNT], np.arange(COUNT) >= COUNT // 2),
        [int(d) if i < COUNT // 2 else None for i, d in enumerate(CLASSES[:COUNT])],
        torch.from_numpy(half_known(CLASSES)),
    ],
    ids=["-1", "masked", "None", "tensor"],
)
def test_every_mark_for_unknown_says_the_same(labels: Any) -> None:
    vae = small().fit(IMAGES[:COUNT], digit=labels)
    assert int(vae.factors_["digit"].known.sum()) == COUNT // 2
    reference = small().fit(IMAGES[:COUNT], digit=half_known(CLASSES))
    np.testing.assert_array_equal(vae.transform(IMAGES[:3]), reference.transform(IMAGES[:3]))


def test_whole_floats_beside_nan_must_be_declared() -> None:
    labels = half_known(CLASSES.astype(float), np.nan)
    with pytest.raises(DataError, match="kinds="):
        small().fit(IMAGES[:COUNT], digit=labels)
    vae = small(kinds={"digit": "categorical"}).fit(IMAGES[:COUNT], digit=labels)
    reference = small().fit(IMAGES[:COUNT], digit=half_known(CLASSES))
    np.testing.assert_array_equal(vae.predict_proba(IMAGES[:3]), reference.predict_proba(IMAGES[:3]))
    described = small(model=class_and_style())
    assert described.fit(IMAGES[:COUNT], digit=labels).factors_["digit"].kind == "categorical"


def test_continuous_factors_are_learned_in_their_own_units() -> None:
    brightness = 500 + 10 * IMAGES[:COUNT].mean((1, 2))  # about 1300
    vae = small(steps=120).fit(IMAGES[:COUNT], brightness=half_known(brightness, np.nan))
    guess = vae.predict(IMAGES[:COUNT])
    assert guess.shape == (COUNT,)
    assert np.corrcoef(guess, brightness)[0, 1] > 0.8
    assert vae.score(IMAGES[:COUNT], brightness=brightness) > -brightness.var()
    assert vae.sample(3, brightness=1300.0).shape == (3, 1, 8, 8)
    assert vae.vary(IMAGES[:2], brightness=[1000.0, 1500.0]).shape == (2, 2, 1, 8, 8)
    with pytest.raises(SpecError, match="no class probabilities"):
        vae.predict_proba(IMAGES[:3])


def test_vectors_and_counts() -> None:
    vectors = np.stack([np.sin(CLASSES), np.cos(CLASSES)], 1)[:COUNT]
    vectors[::2] = np.nan
    vae = small(kinds={"strokes": "count"}).fit(
        IMAGES[:COUNT], light=vectors, strokes=half_known(CLASSES % 4)
    )
    assert vae.predict(IMAGES[:5], "light").shape == (5, 2)
    assert set(vae.predict(IMAGES[:50], "strokes")) <= {0, 1, 2, 3}
    assert vae.sample(4, light=[0.0, 1.0], strokes=2).shape == (4, 1, 8, 8)
    assert np.isfinite(vae.score(IMAGES[:COUNT], light=vectors))


def test_factors_may_be_known_for_different_items() -> None:
    first, second = CLASSES[:COUNT].copy(), (CLASSES[:COUNT] % 2).copy()
    first[: COUNT // 2], second[COUNT // 2 :] = -1, -1
    vae = small().fit(IMAGES[:COUNT], digit=first, odd=second)
    assert vae.predict(IMAGES[:5], "digit").shape == vae.predict(IMAGES[:5], "odd").shape == (5,)
    with pytest.raises(SpecError, match="say which factor: one of digit, odd"):
        vae.predict(IMAGES[:5])


def test_without_labels_it_is_an_autoencoder() -> None:
    vae = small().fit(IMAGES[:COUNT])
    assert vae.transform(IMAGES[:5]).shape == (5, 3)
    with pytest.raises(SpecError, match="nothing was labelled"):
        vae.predict(IMAGES[:5])


# ---- data ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "family"),
    [
        (IMAGES[:COUNT, None], "bernoulli"),
        (DIGITS.data[:COUNT] / 16, "bernoulli"),
        (DIGITS.data[:COUNT] - 8, "normal"),
        (DIGITS.data[:COUNT].astype(int), "multinomial"),
        (IMAGES[:COUNT] > 100, "bernoulli"),
        (np.repeat(IMAGES[:COUNT, None], 3, 1), "bernoulli"),
    ],
    ids=["images", "shares", "real", "counts", "bools", "colours"],
)
def test_every_kind_of_data_trains_and_comes_back_in_its_shape(x: np.ndarray, family: str) -> None:
    vae = small().fit(x, digit=half_known(CLASSES))
    assert vae.trained_.nodes[-1].family == family
    assert vae.sample(3, digit=1).shape[1:] == vae.trained_.shape
    assert vae.predict(x[:4]).shape == (4,)


def mixed_table(count: int = COUNT) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, count)
    rows = np.stack(
        [
            kind * 100 + rng.normal(0, 20, count),
            rng.random(count) < 0.2 + 0.3 * kind,
            kind,
            rng.poisson(1 + 3 * kind),
        ],
        axis=1,
    ).astype(float)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    return rows, kind


KINDS = ["real", "binary", "category", "count"]


def test_tables_with_gaps() -> None:
    rows, kind = mixed_table()
    vae = small(columns=KINDS, steps=60).fit(rows, kind=half_known(kind))
    assert vae.score(rows, kind=kind) > 0.6
    assert vae.sample(5, kind=1).shape == (5, 4)
    assert np.isfinite(vae.transform(rows)).all()
    with pytest.raises(DataError, match="category column cannot be 9"):
        vae.predict(np.array([[0.0, 1.0, 9.0, 1.0]]))


def test_tables_of_words(tmp_path: Path) -> None:
    rows, kind = mixed_table()
    spoken = rows.astype(object)
    spoken[:, 2] = [None if np.isnan(v) else ("red", "green", "blue")[int(v)] for v in rows[:, 2]]
    columns = dict(zip(["age", "smokes", "colour", "visits"], KINDS, strict=True))
    vae = small(columns=columns).fit(spoken, kind=half_known(kind))
    sampled = vae.sample(6, kind=2)
    assert set(sampled[:, 2]) <= {"red", "green", "blue"}
    vae.save(tmp_path)
    again = StructuredVAE.load(tmp_path)
    np.testing.assert_array_equal(again.transform(spoken[:9]), vae.transform(spoken[:9]))
    with pytest.raises(DataError, match="column 'colour', row 2: got 'pink'"):
        vae.predict([[50.0, 1.0, "pink", 2.0]])


def class_and_style() -> list[unknot.models.NodeSpec]:
    return [
        node("digit", "concrete", 10, recognised_from=["x"], labels=True),
        node("style", "normal", 2, recognised_from=["x", "digit"]),
        node("x", "bernoulli", parents=["digit", "style"]),
    ]


def test_factors_recognised_from_other_latents_are_predicted() -> None:
    nodes = [
        node("style", "normal", 2, recognised_from=["x"]),
        node("digit", "categorical", 10, parents=["style"], recognised_from=["x", "style"], labels=True),
        node("odd", "bernoulli", 1, recognised_from=["digit"], labels=True),
        node("x", "bernoulli", parents=["digit", "style", "odd"]),
    ]
    vae = small(model=nodes, kinds={"odd": "binary"}).fit(
        IMAGES[:COUNT], digit=half_known(CLASSES), odd=half_known(CLASSES % 2)
    )
    assert vae.predict(IMAGES[:5], "digit").shape == (5,)
    shares = vae.predict_proba(IMAGES[:5], "odd")
    assert shares.shape == (5, 2)
    np.testing.assert_array_equal(vae.predict(IMAGES[:5], "odd"), shares[:, 1] > 0.5)


# ---- scikit-learn ---------------------------------------------------------------------------------------


def test_parameters_and_clones() -> None:
    vae = StructuredVAE(
        class_and_style(), steps=7, learning_rate={"name": "cosine", "start": 1e-3}, columns=["real"]
    )
    twin = clone(vae)
    assert twin.get_params().keys() == vae.get_params().keys()
    assert (twin.steps, twin.learning_rate, twin.columns) == (7, vae.learning_rate, ["real"])
    assert twin.set_params(steps=9).steps == 9
    assert vae.steps == 7
    assert "steps=7" in repr(vae)


def test_it_works_in_a_pipeline() -> None:
    pipeline = Pipeline([("scale", MinMaxScaler()), ("vae", small(steps=60))])
    pipeline.fit(DIGITS.data[:COUNT], half_known(CLASSES))
    assert pipeline.predict(DIGITS.data[:5]).shape == (5,)
    assert pipeline.score(DIGITS.data[:COUNT], CLASSES[:COUNT]) > 0.3
    assert pipeline[-1].classes_.keys() == {"label"}
    assert len(pipeline.get_feature_names_out()) == pipeline.transform(DIGITS.data[:5]).shape[1] == 13
    assert clone(pipeline)[-1].steps == 60


def test_a_positional_y_goes_to_the_one_factor_of_a_described_model() -> None:
    vae = small(model=class_and_style()).fit(IMAGES[:COUNT], half_known(CLASSES))
    assert list(vae.factors_) == ["digit"]
    assert small().fit_transform(IMAGES[:COUNT], half_known(CLASSES)).shape == (COUNT, 13)
    with pytest.raises(SpecError, match="given twice"):
        small().fit(IMAGES[:COUNT], CLASSES[:COUNT], label=CLASSES[:COUNT])


@pytest.mark.parametrize("ask", ["predict", "transform", "predict_proba", "get_feature_names_out"])
def test_an_unfitted_model_says_so(ask: str) -> None:
    with pytest.raises(NotFittedError, match="call fit"):
        getattr(small(), ask)(IMAGES[:2])
    with pytest.raises(unknot.UnknotError, match="not fitted"):
        small().sample(3)


# ---- mistakes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "labels", "message"),
    [
        (IMAGES[:0], {}, "no rows"),
        (IMAGES[:9], {"digit": CLASSES[:8]}, "8 labels for 9 items"),
        (IMAGES[:9], {"digit": np.zeros(9, int)}, "one class only"),
        ([np.zeros((2, 2)).tolist(), [[1.0]]], {}, "one size"),
        (IMAGES[:9].astype(int), {}, "make images uint8"),
        (np.full((9, 4), np.nan), {}, "every entry is missing"),
        (np.full((9, 4), np.inf), {}, "infinity in row 0"),
        (np.arange(9.0), {}, "Reshape your data"),
        (np.ones((9, 4)) * 1j, {}, "Complex data not supported"),
    ],
)
def test_bad_data_is_refused(x: Any, labels: dict[str, Any], message: str) -> None:
    x = np.array(x, dtype=object) if isinstance(x, list) else x
    vae = small()
    with pytest.raises(DataError, match=message):
        vae.fit(x, **labels)
    assert not hasattr(vae, "trained_")


def test_labels_the_model_does_not_take_are_refused() -> None:
    vae = small(model=class_and_style())
    with pytest.raises(SpecError, match="labels for 'light', but the model takes labels of digit"):
        vae.fit(IMAGES[:COUNT], digit=half_known(CLASSES), light=np.zeros(COUNT))
    with pytest.raises(SpecError, match="node 'digit' takes labels, but data has no such factor"):
        vae.fit(IMAGES[:COUNT])
    with pytest.raises(SpecError, match="size 10, but its labels have 12 classes"):
        vae.fit(IMAGES[:12], digit=np.arange(12))


def test_other_shapes_are_refused_after_fitting(fitted: StructuredVAE) -> None:
    with pytest.raises(
        DataError, match=r"items of shape \(1, 4, 4\), but the model was fitted on \(1, 8, 8\)"
    ):
        fitted.predict(IMAGES[:3, :4, :4])
    with pytest.raises(DataError, match="no rows"):
        fitted.predict(IMAGES[:0])
    with pytest.raises(DataError, match="some of them known"):
        fitted.score(IMAGES[:3], digit=np.full(3, -1))


# ---- files ----------------------------------------------------------------------------------------------


def test_a_saved_model_answers_as_before(fitted: StructuredVAE, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model")
    again = StructuredVAE.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(IMAGES[:9]), fitted.predict_proba(IMAGES[:9]))
    np.testing.assert_array_equal(again.predict(IMAGES[:9]), fitted.predict(IMAGES[:9]))
    assert again.get_params() == fitted.get_params()
    assert {p.name for p in (tmp_path / "model").iterdir()} == {"model.json", "model.safetensors"}


def test_what_cannot_be_loaded_is_said(fitted: StructuredVAE, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="holds no model"):
        StructuredVAE.load(tmp_path)
    fitted.save(tmp_path)
    weights, settings = tmp_path / "model.safetensors", tmp_path / "model.json"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-100])
    with pytest.raises(RunError, match="damaged"):
        StructuredVAE.load(tmp_path)
    weights.write_bytes(whole)
    settings.write_text(json.dumps({"format": 99}))
    with pytest.raises(RunError, match="another version"):
        StructuredVAE.load(tmp_path)
    with pytest.raises(SpecError, match="cannot be saved"):
        small(objective=lambda q, p: unknot.objectives.elbo(q, p)).fit(IMAGES[:64]).save(tmp_path)


# ---- gaps, outliers, intervals ----------------------------------------------------------------------------


def test_missing_entries_are_imputed_and_the_rest_is_kept() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(300, 1))
    x = 50 + 10 * (z @ np.ones((1, 4)) + 0.2 * rng.normal(size=(300, 4)))  # each column tells the others
    holes = x.copy()
    holes[rng.random(x.shape) < 0.2] = np.nan
    vae = small(steps=300, style=2, learning_rate=1e-2).fit(holes, high=(z[:, 0] > 0).astype(int))
    filled, missing = vae.impute(holes), np.isnan(holes)
    np.testing.assert_allclose(filled[~missing], holes[~missing], rtol=1e-6)
    error = np.sqrt(np.mean((filled[missing] - x[missing]) ** 2))
    assert error < 0.7 * np.sqrt(np.mean((x[missing] - 50) ** 2))  # the mean of a column would do so
    assert vae.reconstruct(holes).shape == x.shape
    assert vae.score_samples(holes).shape == (300,)
    assert vae.score_samples(x[:50]).mean() > vae.score_samples(x[:50] + 200).mean()
    assert vae.history_[-1]["step"] == 300


def test_intervals_hold_about_as_many_as_they_say() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 3))
    y = 5 * x[:, 0] + rng.normal(size=400)
    vae = small(steps=300, learning_rate=1e-2).fit(x, y=y)
    ends = vae.predict_interval(x, level=0.9)
    assert ends.shape == (400, 2)
    np.testing.assert_allclose(ends.mean(1), vae.predict(x), rtol=1e-3, atol=1e-3)
    assert 0.75 < np.mean((ends[:, 0] < y) & (y < ends[:, 1])) <= 1
    with pytest.raises(SpecError, match="for continuous factors"):
        vae.predict_interval(x, level=2.0)


def test_counterfactuals_of_images(fitted: StructuredVAE) -> None:
    found = fitted.counterfactuals(IMAGES[1000:1300], digit=CLASSES[1000:1300])["digit"]
    assert (found.items, found.labels, found.settings) == (150, 150, 10)
    assert found.recogniser.real is not None
    assert found.recogniser.real > 0.6
    assert found.verdict.startswith("digit ")
    assert str(found).startswith(found.verdict)
    bare = fitted.counterfactuals(IMAGES[1000:1020])["digit"]
    assert (bare.items, bare.reader) == (20, None)


def test_counterfactuals_of_a_table_in_the_users_words() -> None:
    rng = np.random.default_rng(0)
    kind = np.where(rng.random(200) < 0.5, "ill", "well")
    size = np.where(kind == "ill", 3.0, -3.0) + rng.normal(size=200)
    rows = np.stack([size, rng.normal(size=200)], 1)
    vae = StructuredVAE(steps=100, verbose=False).fit(rows, kind=kind)
    found = vae.counterfactuals(rows, kind)["kind"]
    assert found.reader is not None
    for judge in (found.recogniser, found.reader):
        assert judge.real is not None
        assert min(judge.share, judge.real) > 0.9
    with pytest.raises(DataError, match="got healthy, expected one of the classes ill, well"):
        vae.counterfactuals(rows[:2], ["healthy", "ill"])
    with pytest.raises(SpecError, match="say which factor"):
        vae.counterfactuals(rows[:2], sort=["ill", "ill"])
