"""Data of own-data-more: small images, words, categories, missing values, and two factors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from experiments.ledger.fit import real_columns
from experiments.tables.own_data_sets import GROUPS, Source, design, frame, kind_of, read
from unknot.data.dataset import Column
from unknot.data.sets.loading import load

DOCUMENTS = 4000
HOLED = ("breast_cancer", "wine", "digits", "biopsy", "olive", "penguins")
HIDDEN = 0.4  # share of the entries that are removed


@dataclass(frozen=True)
class Items:
    """Items as input ``x`` of the library and as ``plain`` numbers (N, D) for other methods, with labels by factor."""

    x: np.ndarray
    plain: np.ndarray
    labels: dict[str, np.ndarray]
    table: tuple[Column, ...] = ()

    def classes(self, factor: str) -> int:
        return int(self.labels[factor].max()) + 1


def digit_images() -> Items:
    """Return scikit-learn's 1,797 digits as images of 8 x 8."""
    data = load("digits")
    x = np.asarray(data.x)
    return Items(x, x.reshape(len(x), -1) / 255, {"digit": np.asarray(data.factor("digit").values)})


def olivetti_faces() -> Items:
    """Return the 400 Olivetti faces at 32 x 32."""
    data = load("olivetti")
    x = np.asarray(data.x).reshape(-1, 1, 32, 2, 32, 2).mean((3, 5)).round().astype(np.uint8)
    return Items(x, x.reshape(len(x), -1) / 255, {"identity": np.asarray(data.factor("identity").values)})


def newsgroup_words() -> Items:
    """Return 4,000 posts of 20 Newsgroups as counts of 1,995 words, and as tf-idf."""
    from sklearn.feature_extraction.text import TfidfTransformer

    data = load("20news")
    counts = np.asarray(data.x)
    some = np.random.default_rng(0).permutation(np.flatnonzero(counts.sum(1) > 0))[:DOCUMENTS]
    counts = counts[some]
    plain = TfidfTransformer(sublinear_tf=True).fit_transform(counts).toarray()
    return Items(counts, plain, {"group": np.asarray(data.factor("group").values)[some]})


def digits_twice(as_table: bool) -> Items:
    """Return the digits with two factors, the digit and whether it is odd, as images or as a table."""
    images = digit_images()
    digit = images.labels["digit"]
    labels = {"digit": digit, "odd": digit % 2}
    if not as_table:
        return Items(images.x, images.plain, labels)
    pixels = images.plain[:, images.plain.std(0) > 0]
    return Items(pixels, pixels, labels, real_columns(pixels))


def hawks_twice() -> Items:
    """Return hawks with two factors, species and age."""
    source = next(one for one in GROUPS["tune"] if one.item == "Hawks")
    data = frame(source)
    data = data[data["Age"].notna()].reset_index(drop=True)
    labels = {name: np.unique(data[name], return_inverse=True)[1] for name in ("Species", "Age")}
    numbers = [c for c in data if kind_of(data[c]) == "number" and c not in (*source.without, "rownames")]
    x = design(data[numbers])
    return Items(x, x, labels, real_columns(x))


def with_holes(item: str) -> Items:
    """Return a table with two fifths of its entries removed at random."""
    rows = read(next(one for one in (*GROUPS["tune"], *GROUPS["look"]) if one.item == item))
    hidden = np.random.default_rng(0).random(rows.x.shape) < HIDDEN
    x = np.where(hidden, np.nan, rows.x)
    return Items(x, x, {"label": rows.y}, real_columns(x))


def with_categories(item: str) -> Items:
    """Return a table of the first group with categorical columns."""
    source = next(one for one in GROUPS["tune"] if one.item == item)
    return as_categories(source)


def as_categories(source: Source) -> Items:
    """Return a table with categories as class indices, NaN where missing."""
    data = frame(source)
    data = data[data[source.target].notna()].reset_index(drop=True)
    y = data.pop(source.target)
    out = (*source.without, "rownames")
    data = data[[c for c in data if c not in out and kind_of(data[c]) is not None]]
    columns, table = [], []
    for name in data:
        column, kind = data[name], kind_of(data[name])
        if kind == "number":
            columns.append(column.to_numpy(float, na_value=np.nan))
            table.append(Column(str(name), "real"))
            continue
        classes = sorted(column.dropna().unique().tolist())
        columns.append(column.map({c: float(i) for i, c in enumerate(classes)}).to_numpy(float))
        named = tuple(str(c) for c in classes) if kind == "category" else ()
        table.append(Column(str(name), "category" if named else "binary", named))
    return Items(
        np.stack(columns, 1), design(data), {"label": np.unique(y, return_inverse=True)[1]}, tuple(table)
    )


READERS: dict[str, Callable[[], Items]] = {
    "digits, 8 x 8": digit_images,
    "Olivetti faces, 32 x 32": olivetti_faces,
    "20 Newsgroups": newsgroup_words,
    "vcdExtra/Titanicp": lambda: with_categories("Titanicp"),
    "carData/Chile": lambda: with_categories("Chile"),
    "AER/HMDA": lambda: with_categories("HMDA"),
    **{f"{item}, two fifths missing": partial(with_holes, item) for item in HOLED},
    "digits, images": lambda: digits_twice(as_table=False),
    "digits, table": lambda: digits_twice(as_table=True),
    "Hawks": hawks_twice,
}
