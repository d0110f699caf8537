"""Which columns and words matter, as tables of the report."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from unknot import StructuredVAE
from unknot.report.importance import importance

RNG = np.random.default_rng(0)
KIND = np.repeat(["war", "space"], 12)
QUICK = {"steps": 4, "verbose": False, "verdict": False}


def test_columns() -> None:
    x = pd.DataFrame({"a": (KIND == "war") + 0.3 * RNG.normal(size=24), "$b_$": RNG.normal(size=24)})
    model = {"kind": "ensemble", "folds": 2, "settings": [{"rank": False}]}
    vae = StructuredVAE(model=model, **QUICK).fit(x, kind=KIND)
    (section,) = importance(vae.trained_, vae._items(x))
    assert section.title == "What kind is predicted from"
    assert "if the column is drawn given the other columns, for 24 items" in section.caption
    assert section.table is not None
    assert {row[0] for row in section.table.rows} == {"a", "$b_$"}
    assert importance(replace(vae.trained_, out_of_fold={}), vae._items(x)) == []


@pytest.mark.filterwarnings("ignore:Predictions of kind")
def test_words() -> None:
    texts = ["gun law tank", "gun tank", "moon rocket sky", "sky moon"] * 6
    kind = ["war", "war", "space", "space"] * 6
    vae = StructuredVAE(**QUICK).fit(texts, kind=kind)
    (section,) = importance(vae.trained_, vae._items(texts[:4]))
    assert section.table is not None
    assert section.table.header == ("word", "increase", "makes more probable")
    assert {row[0] for row in section.table.rows} == {"gun", "law", "tank", "moon", "rocket", "sky"}
