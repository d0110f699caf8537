"""Draws as rows: the same numbers over more axes, or moved along the batch."""

import torch

import unknot
from unknot.objectives.marginal.site_graph import over_items, row_view, shifted_rows


def draws() -> unknot.Trace:
    q = unknot.Trace(samples=2)
    q.concrete(torch.randn(3, 4), 0.66, value=unknot.partial(torch.tensor([1, -1, 0])), name="y")
    return q


def test_more_axes_change_no_log_probability():
    node = draws()["y"]
    wide = row_view(node, torch.Size((5, 2, 3)))
    torch.testing.assert_close(wide.log_prob, node.log_prob.expand(5, 2, 3))
    assert row_view(node, node.leading_shape) is node


def test_a_shift_brings_the_next_items_draw_to_an_item():
    node = draws()["y"]
    moved = shifted_rows(node, node.dist, torch.Size((2, 3)), place=1, shift=1)
    torch.testing.assert_close(moved.value, node.value[1][[1, 2, 0]])
    assert moved.known.tolist() == [False, True, True]
    for item, draw in enumerate((1, 2, 0)):
        logits, known = node.dist.logits[item], bool(node.known[draw])
        alone = unknot.core.relaxed.Concrete(logits, 0.66)
        score = alone.log_mass(node.value[1, draw]) if known else alone.log_density(node.unbounded[1, draw])
        torch.testing.assert_close(moved.log_prob[item], score)


def test_a_draw_that_all_items_share_has_a_row_for_each():
    for shape, wide in (((2,), (3,)), ((1, 2), (3,))):
        q = unknot.Trace()
        q.normal(torch.zeros(*shape), 1.0, name="z", event_dims=1)
        view = over_items(q["z"], 3)
        assert view.leading_shape == wide
        torch.testing.assert_close(view.log_prob, q["z"].log_prob.expand(3))
    node = draws()["y"]
    assert over_items(node, 3) is node
