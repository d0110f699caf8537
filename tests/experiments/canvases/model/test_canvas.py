"""Canvas: the two programs, their bound, labels of every kind, and what one can do with a trained one."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy

import unknot
from experiments.canvases.model import Canvas
from experiments.canvases.model.cell_choice import CellChoice
from experiments.canvases.model.finder import LOOKS
from experiments.canvases.model.placing import cut_out, put_down
from unknot import GraphicalModel, node
from unknot.core.handlers import modes
from unknot.errors import SpecError
from unknot.objectives import elbo, semi_supervised, sleep
from unknot.workflow.prediction import predict

NAN = float("nan")
NORMAL = torch.distributions.Normal


def digit_model() -> GraphicalModel:
    """A small model of single digits, as a nested one is: in evaluation mode."""
    torch.manual_seed(1)
    nodes = [
        node("digit", "concrete", 10, inferred_from=["x"], labels=True),
        node("style", "normal", 2, inferred_from=["x", "digit"]),
        node("x", "bernoulli", parents=["digit", "style"]),
    ]
    return GraphicalModel(nodes, (1, 8, 8)).eval()


def made(looks: str = "cell_choice", fewest: int = 1) -> Canvas:
    torch.manual_seed(0)
    return Canvas(digit_model(), looks, canvas=20, side=8, fewest=fewest, most=3)


def labels() -> dict[str, Tensor]:
    """Of four canvases: all is known of the first, the count of the second, a digit of the third, nothing."""
    return {
        "count": torch.tensor([2, 3, -1, -1]),
        "digit_1": torch.tensor([5, -1, 7, -1]),
        "digit_2": torch.tensor([1, -1, -1, -1]),
        "place_1": torch.tensor([[-0.4, 0.0, 0.3], [NAN] * 3, [NAN] * 3, [NAN] * 3]),
        "place_2": torch.tensor([[0.4, 0.1, 0.3], [NAN] * 3, [NAN] * 3, [NAN] * 3]),
    }


def make_unsure(looks: CellChoice, x: Tensor) -> None:
    """A threshold for which it depends on the first look whether there is more."""
    with torch.no_grad():
        looks.middle[-1].weight *= 10_000  # untrained cells hardly differ
        place = looks.ways(x, 30)[0][:, :, 0]  # (W, B, 3)
        _, there, loc, _ = looks._seen(x)
        looks.threshold.copy_((there - looks._bump(place, loc)).logsumexp(-1).median())


@pytest.mark.parametrize("looks", LOOKS)
@pytest.mark.parametrize("samples", [None, 3])
@pytest.mark.parametrize("fewest", [0, 1])
def test_any_labels_any_number_of_draws(looks: str, samples: int | None, fewest: int) -> None:
    model, x = made(looks, fewest), torch.rand(4, 1, 20, 20)
    q = model.encode(x, labels(), samples)
    p = model.decode(x, q)
    unknot.check(q, p)
    terms = semi_supervised(q, p, alpha=5.0)
    assert terms["classifier"][3] == 0
    assert (terms["classifier"][:3] != 0).all()
    terms.loss.backward()
    assert all(torch.isfinite(w.grad).all() for w in model.finder.parameters() if w.grad is not None)


@pytest.mark.parametrize("looks", LOOKS)
def test_the_bound_is_the_sum_over_counts_written_out(looks: str) -> None:
    """Σ_K q(K) [log p(K, things, x) - log q(K, things)], with only the first K things in it."""
    model, x = made(looks), torch.rand(4, 1, 20, 20)
    q = model.encode(x)
    p = model.decode(x, q)
    expected = torch.zeros(4)
    log_count = q["more"].dist.logits.log_softmax(-1)  # (B, 3)
    dark = torch.ones(4, 1, 20, 20)
    ratio = torch.zeros(4)
    for k in range(3):
        inner = q.under("thing", k)
        ratio = ratio + sum(
            p[f"thing[{k}].{name}"].dist.log_prob(inner[name].value).reshape(4, -1).sum(1)
            - inner[name].dist.log_prob(inner[name].value).reshape(4, -1).sum(1)
            for name in ("place", "style", *(["cell"] if looks == "cell_choice" else []))
        )
        ratio = ratio + (p[f"thing[{k}].digit"].log_prob - q[f"thing[{k}].digit"].log_prob)[k, 0]
        lit = torch.nn.functional.grid_sample(
            model.digit.decode_mean(inner)[1], pasted(inner["place"].value, 20), align_corners=False
        )
        dark = dark * (1 - lit)
        pixels = binary_cross_entropy((1 - dark).clamp(1e-3, 1 - 1e-3), x, reduction="none").sum((1, 2, 3))
        value = ratio - pixels - torch.tensor(3.0).log() - log_count[:, k]
        expected = expected + log_count[:, k].exp() * value
    torch.testing.assert_close(elbo(q, p).per_item, expected, atol=2e-3, rtol=1e-4)


def pasted(place: Tensor, canvas: int) -> Tensor:
    """Where every pixel of the canvas lies in the image that is put at a place."""
    scale = place[:, 2:].clamp(0.3 * 0.32, 2 * 0.32)  # no image is much smaller or larger than usual
    maps = torch.zeros(len(place), 2, 3)
    maps[:, 0, 0] = maps[:, 1, 1] = 1 / scale[:, 0]
    maps[:, :, 2] = -place[:, :2] / scale
    return torch.nn.functional.affine_grid(maps, [len(place), 1, canvas, canvas], align_corners=False)


def some_images() -> dict[str, Tensor]:
    """The first thing's image is known on the first two canvases, the second's on the first."""
    torch.manual_seed(3)
    first, second = torch.rand(4, 64), torch.rand(4, 64)
    first[2:], second[1:] = NAN, NAN
    return {"image_1": first, "image_2": second}


@pytest.mark.parametrize("looks", LOOKS)
def test_known_images_are_seen_scored_and_put_down(looks: str) -> None:
    """Of the first canvas all is known, two things: every term that its images change, written out."""
    model, x = made(looks).eval(), torch.rand(4, 1, 20, 20)
    told = {**labels(), **some_images()}
    q = model.encode(x, told)
    p = model.decode(x, q)
    unknot.check(q, p)
    assert semi_supervised(q, p, alpha=5.0).loss.isfinite()
    at, dark = 1, torch.ones(1, 20, 20)  # the site "more" is one: two things
    for k in range(2):
        own = told[f"image_{k + 1}"][0].reshape(1, 8, 8)
        place = q[f"thing[{k}].place"].value.reshape(-1, 4, 3)[0, 0]
        cut = cut_out(x[:1], place[None], 8)[0]
        in_q, in_p = (trace[f"thing[{k}].image"].log_prob[at, 0, 0] for trace in (q, p))
        torch.testing.assert_close(in_q, NORMAL(cut, 0.3).log_prob(own).sum(), rtol=1e-4, atol=1e-3)
        made_anew = model.digit.decode_mean(q.under("thing", k))[1].reshape(-1, 4, 1, 8, 8)[0, 0]
        torch.testing.assert_close(in_p, NORMAL(made_anew, 0.3).log_prob(own).sum(), rtol=1e-4, atol=1e-3)
        read = model.digit.encode(own[None])["digit"].dist.logits.log_softmax(-1)
        theirs = q[f"thing[{k}].digit"].dist.logits.reshape(-1, 4, 10)[0, 0].log_softmax(-1)
        torch.testing.assert_close(theirs, read[0], rtol=1e-4, atol=1e-4)
        dark = dark * (1 - put_down(own[None], place[None], 20)[0])
    whole = (1 - dark).clamp(1e-3, 1 - 1e-3)
    torch.testing.assert_close(p["x"].value[at, 0, 0], whole, rtol=1e-4, atol=1e-5)


def test_unknown_images_count_nothing() -> None:
    model, x = made().eval(), torch.rand(4, 1, 20, 20)
    q = model.encode(x, {**labels(), "image_1": torch.full((4, 64), NAN)})
    p = model.decode(x, q)
    for trace in (q, p):
        assert (trace["thing[0].image"].log_prob == 0).all()
    cut = cut_out(x, model._inside(q["thing[0].place"].value), 8)
    torch.testing.assert_close(
        model.digit.encode(cut)["digit"].dist.logits, q["thing[0].digit"].dist.logits, rtol=1e-4, atol=1e-5
    )


def test_a_known_image_says_where_it_lies() -> None:
    """Without a label of the place, the image's own term has a gradient for it."""
    model, x = made(), torch.rand(4, 1, 20, 20)
    q = model.encode(x, {"count": torch.tensor([1, 1, 1, 1]), "image_1": torch.rand(4, 64)})
    place = q["thing[0].place"].value
    (gradient,) = torch.autograd.grad(q["thing[0].image"].log_prob.sum(), place)
    assert (gradient.abs().sum(-1) > 0).all()


def test_things_beyond_the_count_are_not_there() -> None:
    model = made()
    q = model.encode(torch.rand(4, 1, 20, 20), {"count": torch.tensor([1, 2, 3, 1])})
    there = q["thing[1].place"].active  # (counts, 1, 1): the same for all items
    assert there.flatten().int().tolist() == [0, 1, 1]


def test_summaries_answer_by_the_labels_names() -> None:
    from unknot.workflow.prediction import predict

    model = made().eval()
    said = predict(model, torch.rand(4, 1, 20, 20)).predictions
    assert said["count"].shape == (4, 4)
    assert (said["count"][:, 0] == 0).all()
    assert said["digit_3"].shape == (4, 10)
    assert said["place_1"].shape == (4, 3)


def test_canvases_are_generated_at_any_values() -> None:
    model = made()
    given = unknot.given(5, {"more": torch.tensor([0, 0, 1, 2, 2]), "thing[0].digit": torch.full((5,), 3)})
    p = model.decode(None, given)
    assert p["x"].value.shape == (5, 1, 20, 20)
    assert p["thing[0].digit"].value.argmax(-1).tolist() == [3] * 5


@pytest.mark.parametrize("looks", LOOKS)
def test_dreams_teach_the_finder_alone_and_every_part_of_it(looks: str) -> None:
    model = made(looks)
    q, p = model.sleep_phase(16)
    unknot.check(q, p)
    sleep(q, p).loss.backward()
    assert all(w.grad is None for w in model.digit.parameters())
    idle = {name for name, w in model.finder.named_parameters() if w.grad is None}
    assert not idle


def test_dreams_are_labeled_from_left_to_right() -> None:
    model = made()
    p = model.decode(None, unknot.given(40))
    told = model.finder.labels(p)
    count = p["more"].value + 1
    assert torch.equal(told["count"], count)
    for b in range(40):
        drawn = [p[f"thing[{k}].place"].value[b].tolist() for k in range(int(count[b]))]
        labels = [told[f"place_{k + 1}"][b].tolist() for k in range(int(count[b]))]
        assert labels == sorted(drawn)
        assert all(told[f"place_{k + 1}"][b].isnan().all() for k in range(int(count[b]), 3))


def test_parts_add_up_to_what_is_made_anew() -> None:
    from unknot.workflow.prediction import mode_trace

    model, x = made().eval(), torch.rand(4, 1, 20, 20)
    q = mode_trace(model, x)
    parts = model.parts(q)
    whole = 1 - (1 - parts).prod(1)
    torch.testing.assert_close(model.decode(x, q)["x"].value, whole.clamp(1e-3, 1 - 1e-3))
    assert (parts.flatten(2).sum(-1) > 0).sum(1).tolist() == (q["more"].value + 1).tolist()


def test_more_looks_than_in_training() -> None:
    model = made()
    longer = model.with_most(5)
    assert longer.encode(torch.rand(2, 1, 20, 20))["more"].value.shape == (5, 1, 1)
    assert model.most == 3
    with pytest.raises(SpecError, match="cell_choice"):
        made("glances").with_most(5)


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(SpecError, match="cell_choice"):
        Canvas(digit_model(), "cell_choise")
    with pytest.raises(SpecError, match="fewest < most"):
        Canvas(digit_model(), fewest=3, most=3)


def test_a_canvas_is_read_in_the_way_that_it_explains_best() -> None:
    """Against a loop over the readings of each canvas, the bound from all views."""
    model, x = made().eval(), torch.rand(5, 1, 20, 20)
    with torch.no_grad():
        make_unsure(model.finder.looks, x)
        item, told = model.candidates(x)
        assert len(item)
        with modes():
            bounds = []
            for row in range(len(item)):
                one = x[item[row] : item[row] + 1]
                q = model.encode(one, {name: values[row : row + 1] for name, values in told.items()})
                bounds.append(elbo(q, model.decode(one, q), analytic=True).per_item)
        said = predict(model, x)
    bound = torch.cat(bounds)
    for row in item.unique():
        mine = (item == row).nonzero()[:, 0]
        best = mine[bound[mine].argmax()]
        assert said.values["more"][row] + model.fewest == told["count"][best]
        torch.testing.assert_close(said.values["thing[0].place"][row], told["place_1"][best])


def test_seen_in_one_way_a_canvas_is_read_as_each_look_is_drawn_to() -> None:
    model, x = made().eval(), torch.rand(5, 1, 20, 20)
    model.ways = 1
    with torch.no_grad(), modes():
        drawn = model.encode(x)["more"].value
    assert torch.equal(predict(model, x).values["more"], drawn)


def test_answers_go_from_left_to_right_in_whatever_order_things_were_found() -> None:
    model, x = made().eval(), torch.rand(3, 1, 20, 20)
    told = {"count": torch.tensor([3, 2, 1])}
    for k, at in enumerate(([0.5, 0.5, 0.5], [0.0, -0.6, NAN], [-0.5, NAN, NAN])):
        told[f"place_{k + 1}"] = torch.tensor([[one, 0.0, 0.3] if one == one else [NAN] * 3 for one in at])
    with torch.no_grad(), modes():
        q = model.encode(x, told)
    # untrained, the count is not what was told: summaries go by the encoder's own
    said, count = model.predictions(q), q["more"].dist.probs.argmax(-1) + model.fewest
    found = torch.stack([said[f"place_{k + 1}"][:, 0] for k in range(3)], 1)
    own = torch.stack([q[f"thing[{k}].place"].dist.mean[:, 0] for k in range(3)], 1)
    for row in range(3):
        there = int(count[row])
        torch.testing.assert_close(found[row, :there], own[row, :there].sort().values)
        torch.testing.assert_close(found[row, there:], own[row, there:])
        for k in range(there):
            at = int((own[row] == found[row, k]).nonzero()[0])
            torch.testing.assert_close(said[f"digit_{k + 1}"][row], q[f"thing[{at}].digit"].dist.probs[row])


def test_things_beyond_the_count_are_absent() -> None:
    said = {"count": torch.tensor([[0.1, 0.8, 0.1, 0.0], [0.0, 0.0, 0.3, 0.7]])}
    absent = made().not_applicable(said)
    assert {name: nothing.tolist() for name, nothing in absent.items()} == {
        "digit_1": [False, False],
        "place_1": [False, False],
        "digit_2": [True, False],
        "place_2": [True, False],
        "digit_3": [True, False],
        "place_3": [True, False],
    }


def test_boxes_stand_where_the_parts_lie_from_left_to_right() -> None:
    model, x = made().eval(), torch.rand(6, 1, 20, 20)
    with torch.no_grad(), modes():
        q = model.encode(x)
        places, names = model.boxes(q)
        parts = model.parts(q)
    assert names == ["digit_1", "digit_2", "digit_3"]
    count = q["more"].value + model.fewest
    assert torch.equal((~places[..., 0].isnan()).sum(1), count)
    for row in range(6):
        there = places[row, : int(count[row])]
        assert (there[1:, 0] >= there[:-1, 0]).all()
        for place, part in zip(there, parts[row], strict=False):
            drawn = [
                put_down(
                    model.digit.decode_mean(q.under("thing", k))[1], model._inside(place.expand(6, 3)), 20
                )
                for k in range(3)
            ]
            assert any(torch.allclose(one[row], part, atol=1e-5) for one in drawn)
