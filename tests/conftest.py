"""Every test starts from the same random state, on one thread, with checks on."""

from collections.abc import Iterator

import pytest
import torch
from hypothesis import settings

import unknot

settings.register_profile("fixed", derandomize=True, deadline=None, print_blob=False, max_examples=50)
settings.load_profile("fixed")
torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _fixed_start() -> Iterator[None]:
    torch.manual_seed(0)
    with unknot.validation(True):
        yield
