"""Networks with an axis of members do what each member's own network would."""

import torch
from torch.distributions import Normal
from torch.nn.functional import silu, softplus

from unknot.models.ensemble.networks import MemberEncoders, MemberGenerators, per_member
from unknot.models.ensemble.spec import Setting


def test_items_go_through_their_own_members_weights() -> None:
    x, weight = torch.randn(2, 12, 3), torch.randn(4, 3, 5)
    made = per_member(x, weight)
    for item in range(12):
        torch.testing.assert_close(made[:, item], x[:, item] @ weight[item // 3])


def test_encoders_are_linear_and_some_have_a_hidden_layer() -> None:
    settings = [Setting(), Setting(hidden=True), Setting(generative=False, hidden=True)]
    net = MemberEncoders(settings, 4, 2, 8, {"kind": 3})
    with torch.no_grad():
        net.linear["kind"].normal_()
    x = torch.randn(6, 4)
    made = net(x, 3)["kind"]
    for m in range(3):
        expected = x @ net.linear["kind"][m] + net.bias["kind"][m]
        if m > 0:
            expected = (
                expected + silu(x @ net.hidden[m - 1] + net.hidden_bias[m - 1]) @ net.out["kind"][m - 1]
            )
        torch.testing.assert_close(made[m], expected)
    torch.testing.assert_close(net(x, 2)["kind"], made[:2])
    assert net.hidden_length("kind")[0] == 0
    torch.testing.assert_close(net.linear_length("kind")[1], 0.5 * (net.linear["kind"][1] ** 2).sum())


def test_plain_members_are_lines_in_the_last_columns() -> None:
    settings = [Setting(hidden=True), Setting(generative=False), Setting(generative=False, plain=True)]
    net = MemberEncoders(settings, 5, 2, 8, {"amount": 1})
    with torch.no_grad():
        for weights in (net.linear, net.plain, net.bias):
            weights["amount"].normal_()
    x = torch.randn(6, 5 + 2)
    made = net(x, 3)["amount"]
    torch.testing.assert_close(made[2], x[:, 5:] @ net.plain["amount"][0] + net.bias["amount"][2])
    torch.testing.assert_close(made[1], x[:, :5] @ net.linear["amount"][1] + net.bias["amount"][1])
    torch.testing.assert_close(net(x, 2)["amount"], made[:2])
    torch.testing.assert_close(net.linear_length("amount")[2], 0.5 * (net.plain["amount"][0] ** 2).sum())
    assert net.hidden_length("amount").shape == (3,)


def test_the_likelihood_is_the_sum_of_normals_over_what_is_seen() -> None:
    for columns in (5, 80):  # the wide one never makes a prediction
        net = MemberGenerators(2, columns, 4, 3, {"kind": 2})
        with torch.no_grad():
            for weight in net.parameters():
                weight.normal_(std=0.3)
        x, z = torch.randn(6, columns), torch.randn(6, 3)
        code = torch.eye(2)[torch.arange(6) % 2]
        features = net.features(z, {"kind": code}, slice(0, 2))
        for seen in (torch.ones(6, columns, dtype=torch.bool), torch.rand(6, columns) < 0.5):
            found = net.log_likelihood(features, x, seen, slice(0, 2))
            for item in range(6):
                m = item // 3
                h = silu(z[item] @ net.dec_z[m] + code[item] @ net.dec_y["kind"][m])
                mean = torch.cat([h, z[item], code[item]]) @ net.dec_out[m]
                each = Normal(mean, softplus(net.dec_noise[m, 0]) + 0.05).log_prob(x[item])
                torch.testing.assert_close(found[item], each[seen[item]].sum(), atol=1e-3, rtol=1e-4)


def test_the_style_of_a_member_is_that_of_its_own_weights() -> None:
    net = MemberGenerators(3, 5, 4, 2, {"kind": 2})
    x, code = torch.randn(6, 5), torch.randn(6, 2)
    mean, scale = net.style(x, {"kind": code}, slice(0, 3))
    alone = net.style(x[2:4], {"kind": code[2:4]}, slice(1, 2))
    torch.testing.assert_close(mean[2:4], alone[0])
    torch.testing.assert_close(scale[2:4], alone[1])
