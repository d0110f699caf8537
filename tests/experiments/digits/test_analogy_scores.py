"""Reading analogies: a model whose images say their class is read right, and one that ignores it at chance."""

import numpy as np
import pytest
import torch

from experiments.digits.analogy_scores import (
    Classifier,
    analogy_numbers,
    fitted_classifier,
    kept_colors,
    share_with_specks,
)
from experiments.ledger.baselines import style_leak
from tests.workflow.models import untrained
from unknot.errors import SpecError
from unknot.models import node
from unknot.workflow.evaluation import predict_dataset
from unknot.workflow.recipe import Recipe
from unknot.workflow.trained_model import TrainedModel

SETTINGS = {
    "model": {"style": 2, "width": 16},
    "train": {"steps": 60, "batch_size": 100, "learning_rate": 0.01},
}


def model_of(parents: list[str]) -> TrainedModel:
    torch.manual_seed(0)
    nodes = [
        node("digit", "concrete", 10, inferred_from=["x"], labels=True),
        node("style", "normal", 2, inferred_from=["x", "digit"]),
        node("x", "bernoulli", parents=parents),
    ]
    return untrained(nodes, (1, 8, 8))


def test_the_classifier_is_a_classifier_of_its_own_made_once() -> None:
    classifier = fitted_classifier("digits", "digit", SETTINGS, seed=0)
    assert classifier.error < 15
    assert fitted_classifier("digits", "digit", SETTINGS, seed=0) is classifier
    recipe = Recipe({"name": "digits"})
    test = recipe.test_data(recipe.dataset())
    wrong = classifier.predict(test.batch(range(len(test))).x) != test.factor("digit").values.numpy()
    assert abs(100 * wrong.mean() - classifier.error) < 1e-6


def test_images_that_ignore_the_class_are_read_at_chance() -> None:
    classifier = Classifier(model_of(["digit", "style"]), "digit", 0.0)
    numbers = analogy_numbers(model_of(["style"]), classifier, torch.rand(20, 1, 8, 8))
    assert numbers["read"] == 10.0  # the same image for every class is right for one of ten
    assert numbers["shift"] > 0


def test_a_model_that_reads_itself_is_read_as_its_own_encoder_says() -> None:
    model, x = model_of(["digit", "style"]), torch.rand(5, 1, 8, 8)
    numbers = analogy_numbers(model, Classifier(model, "digit", 0.0), x)
    right = 0
    style = model.predict(x).values["style"]
    for i in range(5):
        for k in range(10):
            image = model.generate(1, {"digit": torch.tensor([k]), "style": style[i : i + 1]})
            right += int(model.predict(image).predictions["digit"].argmax()) == k
    assert abs(numbers["read"] - 100 * right / 50) < 1e-6
    anew = model.reconstruct(x).double()
    nats = [-float((x[i] * anew[i].log() + (1 - x[i]) * (1 - anew[i]).log()).sum()) for i in range(5)]
    assert abs(numbers["reconstruction"] - sum(nats) / 5) < 1e-3
    assert 0 < numbers["sharpness"] < 100  # an untrained generator's greys beside noise
    assert "color" not in numbers


def test_a_style_that_copies_the_class_leaks_and_one_of_noise_does_not() -> None:
    recipe = Recipe({"name": "digits"})
    data = recipe.dataset()
    train, test = recipe.training_data(data), recipe.test_data(data)
    model = model_of(["digit", "style"])
    found = style_leak(model, train, test, "digit")  # features of the image: even random ones tell the digit
    assert found["style_linear"] < 85
    assert found["style_neighbors"] < 80
    last = model.module.recognition["style"].network[-1]
    torch.nn.init.zeros_(last.weight)  # a style that is the same for all
    assert abs(predict_dataset(model, test).predictions["style"].std(0)).max() < 1e-6
    assert min(style_leak(model, train, test, "digit").values()) > 80


def test_colors_are_those_of_the_whole_the_ink_and_the_background() -> None:
    torch.manual_seed(1)
    ink, wall = torch.rand(2, 6, 3).numpy()
    x = np.repeat(np.repeat(wall[:, :, None, None], 16, 2), 16, 3)
    x[:, :, 5:11, 5:11] = ink[:, :, None, None]
    kept = kept_colors(x, np.stack([x, x], 1))
    assert kept.pop("sides") == 100
    assert all(abs(value - 1) < 1e-5 for value in kept.values())
    turned = kept_colors(x, np.stack([x, 1 - x], 1))  # dark becomes light in one of two
    assert turned["sides"] == 50
    darker = kept_colors(x, np.stack([x / 2, x / 2], 1))
    assert abs(darker["hue"] - 1) < 1e-5
    other = kept_colors(x, np.stack([x[:, [1, 2, 0]]], 1))  # every color in the place of another
    assert other["hue"] < 0.5


# ---- Specks against a search for connected parts pixel by pixel ------------------------------------------


def by_search(image: np.ndarray) -> bool:
    """Whether an image has a speck: from every pixel of ink, walk to its neighbors until there are no more."""
    left = {(int(i), int(j)) for i, j in np.argwhere(image > 0.3)}
    while left:
        part, edge = set(), {left.pop()}
        while edge:
            i, j = edge.pop()
            part.add((i, j))
            around = {(i + a, j + b) for a in (-1, 0, 1) for b in (-1, 0, 1)} & left
            left -= around
            edge |= around
        if len(part) < 6:
            return True
    return False


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5])
def test_it_equals_a_walk_over_the_pixels(share: float) -> None:
    images = (np.random.default_rng(0).random((5, 8, 1, 12, 12)) < share).astype(float)
    expected = np.mean([by_search(image) for image in images.reshape(-1, 12, 12)])
    assert share_with_specks(images) == expected


def test_a_stroke_and_a_pens_dot_are_none_and_faint_pixels_are_no_ink() -> None:
    image = np.zeros((12, 12))
    image[2:10, 3] = 1
    image[5:7, 7:10] = 1
    image[0, 11] = 0.3
    assert share_with_specks(image) == 0
    image[0, 11] = 0.31
    assert share_with_specks(image) == 1


def test_corners_connect_and_nothing_at_all_has_none() -> None:
    assert share_with_specks(np.eye(8)) == 0
    assert share_with_specks(np.zeros((3, 8, 8))) == 0


def test_what_is_no_image_is_refused() -> None:
    for wrong in (np.zeros(5), np.zeros((0, 8, 8))):
        with pytest.raises(SpecError, match="expected images"):
            share_with_specks(wrong)
