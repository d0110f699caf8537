"""An ensemble of wide rows is the ensemble of their components."""

from __future__ import annotations

import numpy as np
import torch

from unknot import StructuredVAE
from unknot.models.ensemble.ensemble import Ensemble
from unknot.models.ensemble.wide_ensemble import WideEnsemble

ROWS = np.random.default_rng(0).poisson(2.0, (40, 510))


def test_its_programs_are_those_of_the_components() -> None:
    quick = {"steps": 3, "verbose": False, "verdict": False}
    vae = StructuredVAE(**quick).fit(ROWS, kind=np.where(np.arange(40) < 20, np.arange(40) % 2, -1))
    module = vae.trained_.module
    assert isinstance(module, WideEnsemble)
    x = torch.from_numpy(ROWS[:5]).float()
    components = module.components(x)
    with torch.no_grad():
        torch.manual_seed(0)
        q = module.encode(x)
        torch.manual_seed(0)
        expected = Ensemble.encode(module, components)
        assert list(q) == list(expected)
        torch.testing.assert_close(q.log_prob(), expected.log_prob())
        torch.testing.assert_close(
            module.decode(x, q).log_prob(), Ensemble.decode(module, components, q).log_prob()
        )
