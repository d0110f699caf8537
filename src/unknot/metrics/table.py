"""All scores of one set of codes at once, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unknot.errors import DataError, SpecError, UnknotError
from unknot.metrics.beta_vae import beta_vae
from unknot.metrics.clusters import ari, class_accuracy, nmi
from unknot.metrics.dci_es import dci_and_es, dci_es
from unknot.metrics.explicitness import explicitness
from unknot.metrics.gaps import dcimig, jemmig, mig, mig_sup
from unknot.metrics.importance import dci, med
from unknot.metrics.infomec import infomec
from unknot.metrics.information_about import class_gap, information_about
from unknot.metrics.irs import irs
from unknot.metrics.modularity import modularity
from unknot.metrics.parts.columns import Arrays, Columns, Discrete, at_most, read_pair
from unknot.metrics.parts.result import Result
from unknot.metrics.prediction_error import half_samples, interval
from unknot.metrics.protocols import PROTOCOLS, settings
from unknot.metrics.sap import sap
from unknot.metrics.votes import factor_vae
from unknot.suggest import did_you_mean

SCORES: dict[str, Callable[..., Result]] = {
    "factor_vae": factor_vae,
    "beta_vae": beta_vae,
    "dci": dci,
    "dci_es": dci_es,
    "mig": mig,
    "mig_sup": mig_sup,
    "jemmig": jemmig,
    "dcimig": dcimig,
    "sap": sap,
    "modularity": modularity,
    "explicitness": explicitness,
    "irs": irs,
    "infomec": infomec,
    "med": med,
    "information_about": information_about,
    "class_gap": class_gap,
    "class_accuracy": class_accuracy,
    "nmi": nmi,
    "ari": ari,
}
"""Scores of codes and factors; those over restarts are `udr` and `model_centrality`."""

_NOT_ALWAYS = (
    "beta_vae",
    "class_gap",
    "class_accuracy",
    "nmi",
    "ari",
)  # they want two factors, or categories


@dataclass(frozen=True)
class Row:
    """One number of one score."""

    score: str
    number: str
    value: float
    low: float
    high: float
    protocol: str


@dataclass(frozen=True)
class Table:
    """``rows`` as they print, each score's full ``results``, and why some scores are ``skipped``."""

    rows: tuple[Row, ...]
    results: dict[str, Result]
    skipped: dict[str, str]
    codes: tuple[str, ...]
    factors: tuple[str, ...]
    level: float

    def __getitem__(self, score: str) -> Result:
        return self.results[score]

    def __repr__(self) -> str:
        lines = [
            f"{_label(row):28} {row.value:7.3f}   [{row.low:.3f}, {row.high:.3f}]   {row.protocol}".rstrip()
            for row in self.rows
        ]
        lines += [f"{score:28} {'-':>7}   {why}" for score, why in self.skipped.items()]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """For JSON; the importance matrix is DCI's, or the first there is."""
        matrix = self.importance
        return {
            "rows": [vars(row) for row in self.rows],
            "skipped": self.skipped,
            "level": self.level,
            "codes": list(self.codes),
            "factors": list(self.factors),
            "importance": None if matrix is None else matrix.tolist(),
        }

    @property
    def importance(self) -> np.ndarray | None:
        """``(codes, factors)``: DCI's importances, or the shares of information if DCI was not asked for."""
        for score in ("dci", "med", "infomec", "mig", "information_about"):
            if score in self.results:
                return getattr(self.results[score], "matrix", None)
        return None


def table(
    codes: Arrays,
    factors: Arrays,
    discrete: Discrete = None,
    *,
    discrete_factors: Discrete = None,
    seed: int | None = 0,
    protocol: str | None = None,
    only: Sequence[str] | None = None,
    resamples: int = 8,
    level: float = 0.95,
    jobs: int = 1,
) -> Table:
    """Every score that these codes and factors allow, with intervals by half-samples.

    A ``protocol`` is used for the scores it speaks of, the others keep their own. ``resamples`` half-samples make the
    intervals (0: none), in ``jobs`` processes. Scores that compare categories, or
    several factors, are skipped where there are none.
    """
    wanted = wanted_scores(only)
    if protocol is not None and protocol not in PROTOCOLS:
        settings("mig", protocol)  # refuses it, with a hint
    read = read_pair(codes, factors, discrete, discrete_factors)
    results, skipped = {}, {}
    together = _together(wanted, *_rows_of("dci", *read, protocol, seed), seed, protocol)
    for score in wanted:
        try:
            rows = _rows_of(score, *read, protocol, seed)
            results[score] = together.get(score) or _compute(score, *rows, seed, protocol)
        except DataError as error:
            if score not in _NOT_ALWAYS:
                raise
            skipped[score] = str(error)
    spread = _resample(list(results), read, protocol, seed, resamples, jobs)
    lines = []
    for score, result in results.items():
        for number, value in result.numbers.items():
            halves = np.array([found.get((score, number), np.nan) for found in spread])
            lines.append(Row(score, number, value, *interval(value, halves, level), result.protocol))
    return Table(tuple(lines), results, skipped, read[0].names, read[1].names, level)


def wanted_scores(only: Sequence[str] | None) -> list[str]:
    """The scores that ``only`` names, or all; one that there is not is refused with the nearest."""
    unknown = [name for name in only or () if name not in SCORES]
    if unknown:
        raise SpecError(f"There is no score '{unknown[0]}': {did_you_mean(unknown[0], SCORES)}")
    return list(SCORES if only is None else only)


def _protocol_for(score: str, protocol: str | None) -> str | None:
    return protocol if protocol is not None and score in PROTOCOLS[protocol].settings else None


def _rows_of(
    score: str, codes: Columns, factors: Columns, protocol: str | None, seed: int | None
) -> tuple[Columns, Columns]:
    """The rows a score is made from: halves are halves of these."""
    return at_most(codes, factors, settings(score, _protocol_for(score, protocol)).points, seed)


def _compute(score: str, codes: Columns, factors: Columns, seed: int | None, protocol: str | None) -> Result:
    return SCORES[score](codes, factors, seed=seed, protocol=_protocol_for(score, protocol))


def _together(
    scores: Sequence[str], codes: Columns, factors: Columns, seed: int | None, protocol: str | None
) -> dict[str, Result]:
    """DCI and DCI-ES, where both are wanted and read the same forests: growing these is most of a table's time."""
    if not {"dci", "dci_es"} <= set(scores):
        return {}
    try:
        both = dci_and_es(
            codes, factors, seed, _protocol_for("dci", protocol), _protocol_for("dci_es", protocol)
        )
    except UnknotError:
        return {}  # each says what is wrong in its turn
    return {} if both is None else {"dci": both[0], "dci_es": both[1]}


def _resample(
    scores: list[str],
    read: tuple[Columns, Columns],
    protocol: str | None,
    seed: int | None,
    resamples: int,
    jobs: int,
) -> list[dict[tuple[str, str], float]]:
    """Numbers of every half-sample."""
    tasks = [(scores, read, protocol, seed, turn) for turn in range(resamples)]
    if jobs == 1 or not tasks:
        return [_half(*task) for task in tasks]
    from sklearn.utils.parallel import Parallel, delayed

    return list(Parallel(n_jobs=jobs)(delayed(_half)(*task) for task in tasks))


def _half(
    scores: list[str], read: tuple[Columns, Columns], protocol: str | None, seed: int | None, turn: int
) -> dict[tuple[str, str], float]:
    """The numbers of one half-sample; a score that it does not allow is left out."""
    start = None if seed is None else seed + 1 + turn
    found: dict[tuple[str, str], float] = {}

    def half(score: str) -> tuple[Columns, Columns]:
        codes, factors = _rows_of(score, *read, protocol, seed)
        (rows,) = half_samples(len(codes), 1, start)
        return codes.rows(rows), factors.rows(rows)

    together = _together(scores, *half("dci"), start, protocol)
    for score in scores:
        try:
            result = together.get(score) or _compute(score, *half(score), start, protocol)
        except UnknotError:
            continue
        found |= {(score, number): value for number, value in result.numbers.items()}
    return found


def _label(row: Row) -> str:
    return row.score if row.number == "value" else f"{row.score}.{row.number}"
