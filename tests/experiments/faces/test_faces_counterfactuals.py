"""faces-counterfactuals: whose photograph is changed into whose, and that the truth would score best."""

from __future__ import annotations

import numpy as np

from experiments.faces.face_baselines import BASELINES
from experiments.faces.faces import toy_faces
from experiments.faces.faces_counterfactuals import EXPERIMENT, OURS, photographs, sources


def test_sources_share_one_factor_and_differ_in_the_other() -> None:
    test = photographs(toy_faces(people=6, lights=10, seed=0).split("test"))
    relit_from, swapped_from = sources(test, seed=0)
    for k, (relit, swapped) in enumerate(zip(relit_from, swapped_from, strict=True)):
        if relit >= 0:
            assert test.person[relit] == test.person[k]
            assert not np.allclose(test.light[relit], test.light[k])
        if swapped >= 0:
            assert test.person[swapped] != test.person[k]
            np.testing.assert_allclose(test.light[swapped], test.light[k], atol=1e-2)
        others = [j for j in range(len(test.x)) if np.allclose(test.light[j], test.light[k], atol=1e-4)]
        assert (swapped < 0) == (len(others) == 1)
    assert (relit_from >= 0).all()  # a person has two test photographs


def test_every_rival_stands_beside_ours() -> None:
    cases = EXPERIMENT.cases("quick")
    for column in {case["column"] for case in cases}:
        assert {case["row"] for case in cases if case["column"] == column} == {OURS, *BASELINES}
