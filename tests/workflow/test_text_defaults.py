"""The default model of labeled texts."""

from __future__ import annotations

import numpy as np

from unknot.data import from_arrays, from_texts
from unknot.models.spec import read_spec
from unknot.workflow.assembly import assemble
from unknot.workflow.text_defaults import suits_text_model, text_model

TEXTS = ["moon rocket", "car engine", "moon moon", "engine of a rocket"]


def test_texts_with_one_class_factor_get_it() -> None:
    data = from_texts(TEXTS, {"group": ["space", "cars", None, "cars"]})
    assert suits_text_model(data)
    assert not suits_text_model(from_texts(TEXTS))
    assert not suits_text_model(from_texts(TEXTS, {"score": [0.5, 0.1, 0.2, 0.9]}))
    assert not suits_text_model(from_arrays(np.zeros((4, 3)), {"group": [0, 1, 0, 1]}))
    made = assemble(data, {}, {})
    assert [(n.name, n.encoder) for n in made.model.latents] == [("group", "bayes")]
    assert made.config.learning_rate == {"name": "cosine", "start": 1e-2, "end": 0.0, "warmup": 20}
    assert made.config.batch_size == 4
    plain = assemble(data, {"style": 3}, {})  # whoever says something of the plain model gets it
    assert [n.name for n in plain.model.latents] == ["group", "style"]


def test_topics_beside_the_class_and_names_that_are_taken() -> None:
    data = from_texts(TEXTS, {"topics": ["a", "b", None, "a"]})
    spec = read_spec(text_model(data, topics=2))
    assert [n.name for n in spec.latents] == ["topics", "topics_"]
    assert spec.data.parents == ("topics", "topics_")
    assert read_spec(text_model(from_texts(TEXTS, {"x": ["a", "b", None, "a"]}))).data.name == "x_"


def test_a_class_with_many_labels_has_a_stronger_prior() -> None:
    few = from_texts(TEXTS, {"group": ["space", "cars", None, "cars"]})
    many = from_texts(TEXTS * 30, {"group": ["space", "cars", None, "cars"] * 30})  # 90 labels, 45 a class
    assert [text_model(data)["nodes"]["x"]["prior_words"] for data in (few, many)] == [2000.0, 9000.0]
