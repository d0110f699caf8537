"""Reading analogies: a model whose images say their class is read right, and one that ignores it at chance."""

import numpy as np
import torch

from experiments.digits.analogy_reader import Reader, analogy_numbers, kept_colors, make_reader
from experiments.ledger.baselines import style_leak
from tests.workflow.models import untrained
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


def test_the_reader_is_a_classifier_of_its_own_made_once() -> None:
    reader = make_reader("digits", "digit", SETTINGS, seed=0)
    assert reader.error < 15
    assert make_reader("digits", "digit", SETTINGS, seed=0) is reader
    recipe = Recipe({"name": "digits"})
    test = recipe.test_data(recipe.dataset())
    wrong = reader.read(test.batch(range(len(test))).x) != test.factor("digit").values.numpy()
    assert abs(100 * wrong.mean() - reader.error) < 1e-6


def test_images_that_ignore_the_class_are_read_at_chance() -> None:
    reader = Reader(model_of(["digit", "style"]), "digit", 0.0)
    numbers = analogy_numbers(model_of(["style"]), reader, torch.rand(20, 1, 8, 8))
    assert numbers["read"] == 10.0  # the same image for every class is right for one of ten
    assert numbers["shift"] > 0


def test_a_model_that_reads_itself_is_read_as_its_own_encoder_says() -> None:
    model, x = model_of(["digit", "style"]), torch.rand(5, 1, 8, 8)
    numbers = analogy_numbers(model, Reader(model, "digit", 0.0), x)
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
