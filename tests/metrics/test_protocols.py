"""Protocols: every score has a default, the constants of the sources stand, mistakes get a hint."""

from dataclasses import replace

import pytest

from unknot.errors import SpecError
from unknot.metrics.protocols import DEFAULTS, PROTOCOLS, protocol_name, settings
from unknot.metrics.table import SCORES


def test_every_score_has_a_default_and_a_source() -> None:
    assert set(DEFAULTS) == {*SCORES, "udr", "model_centrality"}
    for score in DEFAULTS:
        assert settings(score) is not None
    assert all(protocol.source for protocol in PROTOCOLS.values())
    named = {"locatello2019", "kim2018", "eastwood2018", "carbonneau2020", "hsu2023"}
    assert named <= set(PROTOCOLS)


def test_constants_of_the_sources() -> None:
    kim, locatello = settings("factor_vae", "kim2018"), settings("factor_vae", "locatello2019")
    assert (kim.batch, kim.train) == (100, 800)
    assert (locatello.batch, locatello.train, locatello.test, locatello.dead_below) == (
        64,
        10_000,
        5_000,
        0.05,
    )
    assert (settings("mig").bins, settings("mig").points) == (20, 10_000)
    assert settings("dci").trees == 10
    assert settings("dci").shares == (0.8, 0.1, 0.1)
    assert (settings("sap").penalty, settings("sap").balanced) == (0.01, True)
    assert settings("irs").quantile == 0.99
    assert (settings("udr").penalty, settings("udr").min_divergence, settings("udr").points) == (
        0.1,
        0.01,
        1000,
    )
    assert {settings(s).bins for s in ("jemmig", "dcimig", "mig_sup")} == {10}
    info = settings("infomec")
    assert (info.neighbors, info.active_range, info.tolerance, info.iterations) == (10, 1 / 20, 1e-4, 100)
    assert settings("dci_es").depths == (1, 2, 3, 4, 8, 10, 12, 14, 16, 18, 20, 32)


def test_mistakes_are_refused() -> None:
    with pytest.raises(SpecError, match="did you mean 'kim2018'"):
        settings("factor_vae", "kim2019")
    with pytest.raises(SpecError, match="kim2018 says nothing of mig: locatello2019 or carbonneau2020"):
        settings("mig", "kim2018")
    with pytest.raises(SpecError, match="Histogram"):
        settings("mig", settings("dci"))


def test_settings_of_ones_own() -> None:
    own = replace(settings("mig"), bins=50)
    assert settings("mig", own).bins == 50
    assert protocol_name("mig", own) == "own settings"
    assert protocol_name("mig", None) == "locatello2019"
