"""Results: their numbers are the fields of type float, and they read well."""

from unknot.metrics.parts.result import Score


def test_numbers_and_repr() -> None:
    found = Score(value=0.5, score="mig", protocol="kim2018", by_factor={"a": 0.5})
    assert found.numbers == {"value": 0.5}
    assert repr(found) == "mig: 0.500 (kim2018)"
    assert repr(Score(value=0.25, score="nmi")) == "nmi: 0.250"
