"""The features that the baselines learn from: those of the usual scikit-learn pipeline for each kind of data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.own_data.task import Task

COMPONENTS = 50


@dataclass(frozen=True)
class Rows:
    """Labeled, unlabeled and test rows."""

    x: Any
    more: Any
    test: Any


def linear_rows(task: Task) -> Rows:
    """Return what linear models learn from.

    Tables are imputed and standardized, categories one-hot; texts are tf-idf of words; pictures, wide rows and series
    are 50 principal components, of log-normalized values where they are counts.
    """
    if task.kind == "tables":
        return _of_table(task)
    if task.kind == "texts":
        return _of_texts(task)
    return _components(task)


def dense_rows(task: Task) -> Rows:
    """Return dense rows of few columns; of texts the components of tf-idf."""
    rows = linear_rows(task)
    if task.kind != "texts":
        return rows
    from sklearn.decomposition import TruncatedSVD

    size = min(COMPONENTS, rows.x.shape[1] - 1)
    model = TruncatedSVD(size, random_state=0).fit(_stacked(rows.x, rows.more))
    return Rows(model.transform(rows.x), model.transform(rows.more), model.transform(rows.test))


def convolution_rows(task: Task) -> Rows:
    """Return features of random convolutions of series."""
    import torch

    from unknot.data.from_arrays import from_arrays
    from unknot.models.features.series import Convolutions

    features = Convolutions.for_data(from_arrays(np.concatenate([task.x, task.more])))
    return Rows(*(features(torch.from_numpy(part)).numpy() for part in (task.x, task.more, task.test)))


def _of_table(task: Task) -> Rows:
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
    words = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    usual = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (words, make_column_selector(dtype_exclude="number")),
    )
    usual.fit(_stacked(task.x, task.more))
    x = usual.transform(task.x)
    more = usual.transform(task.more) if len(task.more) else x[:0]  # small tables may have none
    return Rows(x, more, usual.transform(task.test))


def _of_texts(task: Task) -> Rows:
    from sklearn.feature_extraction.text import TfidfVectorizer

    usual = TfidfVectorizer(sublinear_tf=True, min_df=2).fit(task.x + task.more)
    return Rows(*(usual.transform(part) for part in (task.x, task.more, task.test)))


def _components(task: Task) -> Rows:
    from sklearn.decomposition import PCA

    parts = [_flat(part) for part in (task.x, task.more, task.test)]
    train = np.concatenate(parts[:2])
    if task.kind == "wide" and (train >= 0).all() and (train == train.round()).all():
        size = np.median(train.sum(1))
        parts = [np.log1p(part * size / np.maximum(part.sum(1, keepdims=True), 1)) for part in parts]
    elif task.kind == "wide":
        center, scale = train.mean(0), train.std(0)
        parts = [(part - center) / np.where(scale > 0, scale, 1) for part in parts]
    train = np.concatenate(parts[:2])
    model = PCA(min(COMPONENTS, *train.shape), random_state=0).fit(train)
    return Rows(*(model.transform(part) for part in parts))


def _flat(x: Any) -> np.ndarray:
    """Return rows of numbers; steps behind the end of a series repeat its last one, per channel."""
    rows = np.asarray(x.todense() if hasattr(x, "todense") else x, np.float64)
    if np.isnan(rows).any():
        import pandas as pd

        flat = rows.reshape(-1, rows.shape[-1])
        filled = pd.DataFrame(flat).interpolate(axis=1, limit_direction="both").fillna(0.0)
        rows = filled.to_numpy().reshape(rows.shape)
    return rows.reshape(len(rows), -1)


def _stacked(x: Any, more: Any) -> Any:
    if hasattr(x, "iloc"):
        import pandas as pd

        return pd.concat([x, more], ignore_index=True)
    if hasattr(x, "tocsr"):
        from scipy.sparse import vstack

        return vstack([x, more])
    return np.concatenate([x, more])
