"""The part of a report that speaks words."""

from __future__ import annotations

from tests.estimator.test_text import CARS, SPACE, texts_of
from unknot.data import from_arrays
from unknot.data.dataset import Dataset
from unknot.data.text_dataset import from_texts
from unknot.report.content import collect_model
from unknot.report.page import render
from unknot.report.texts import words_of_classes, words_of_topics
from unknot.train.loop import fit
from unknot.workflow.assembly import assemble
from unknot.workflow.evaluation import predict_dataset
from unknot.workflow.trained_model import TrainedModel


def small() -> tuple[TrainedModel, Dataset]:
    spoken, topics = texts_of(80)
    strange = "engine engine wheel road brake"  # called space: a mistake for sure
    data = from_texts([*spoken, strange], {"topic": [*topics, "space"]}, options={"max_df": 1.0})
    made = assemble(data, {"kind": "topics", "style": 2}, {"steps": 40, "progress": False})
    fit(made.model.module, made.data, made.config)
    made.model.module.eval()
    return made.model, data


def test_words_of_classes_and_topics() -> None:
    model, data = small()
    answers = predict_dataset(model, data)
    (classes,) = words_of_classes(model, data, answers)
    rest = words_of_topics(model, data, answers)
    assert classes.table is not None
    for (name, words, nearest), own in zip(classes.table.rows, (CARS, SPACE), strict=True):
        assert name == ("cars" if own is CARS else "space")
        assert set(words.split()[0:8:2]) == set(own)  # words and weights in turn
        assert sum(word in own for word in nearest.split()) > 0.7 * len(nearest.split())
    assert [section.title for section in rest] == ["Words of topics", "Correlations of topics"]
    assert rest[1].figure is not None
    for sections in (words_of_classes, words_of_topics):
        assert sections(model, from_arrays([[1.0, 2.0]]), answers) == []


def test_the_page_shows_them_and_mistakes_as_excerpts() -> None:
    model, data = small()
    page = render(collect_model(model, data, "texts"))
    assert "Words of topic" in page
    assert "Most confident mistakes" in page
    assert "engine engine wheel" in page
