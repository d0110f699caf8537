"""How well restarts agree, which needs no labels: UDR and ModelCentrality over the runs of a sweep."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from unknot.metrics import model_centrality, udr
from unknot.workflow.codes_file import Codes

AGREEMENTS = ("udr", "model_centrality")


def agreements(runs: Sequence[Codes], groups: Sequence[Hashable]) -> dict[str, list[float | None]]:
    """Both scores of every run, each against the runs of its own group; None where a run is alone in it.

    A group holds the restarts of one setting on the same items (Duan et al. 2020 compare within a setting too, which
    makes the scores of different settings comparable).
    """
    found: dict[str, list[float | None]] = {name: [None] * len(runs) for name in AGREEMENTS}
    for group in dict.fromkeys(groups):
        places = [place for place, one in enumerate(groups) if one == group]
        if len(places) < 2:
            continue
        codes = [runs[place].codes for place in places]
        live = [runs[place].columns_of_divergences() for place in places]
        known = None if any(one is None for one in live) else live
        scores = {
            "udr": udr(codes, divergences=known).scores,
            "model_centrality": model_centrality(codes).scores,
        }
        for name, values in scores.items():
            for place, value in zip(places, np.asarray(values).tolist(), strict=True):
                found[name][place] = value
    return found
