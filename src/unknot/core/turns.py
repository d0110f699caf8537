"""The number of turns of a loop that may stop before each of them."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.distributions import Categorical
from torch.nn.functional import logsigmoid


def number_of_turns(stop_logits: Tensor) -> Categorical:
    """The distribution of n, 0 to K, of a loop of at most K turns, from the log-odds ``(..., K)`` of stopping.

    Stick-breaking: with s_k = sigmoid(stop_logits_k), the probability of no turn k given that all before it happened,

        P(n = k) = s_k Π_{j<k} (1 - s_j)  for k < K,        P(n = K) = Π_j (1 - s_j)

    K + 1 states, where K stops as sites of their own would have 2^K. Log-odds of -inf: that turn cannot be missed.

    >>> number_of_turns(torch.zeros(3)).probs
    tensor([0.5000, 0.2500, 0.1250, 0.1250])
    """
    stop, go_on = logsigmoid(stop_logits), logsigmoid(-stop_logits)
    none = torch.zeros_like(stop_logits[..., :1])
    so_far = torch.cat([none, go_on.cumsum(-1)], -1)  # (..., K + 1): all turns before k happened
    return Categorical(logits=so_far + torch.cat([stop, none], -1), validate_args=False)
