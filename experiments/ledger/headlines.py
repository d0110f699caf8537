"""The lines that a newcomer reads: one cell of a result each, in plain words, beside the simple thing to do instead."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Headline:
    """A cell of a result: the first row's first measure in a column, and the row of what one would do without us.

    Of an experiment that has a line of its own (``Experiment.short``) only the words are said here.
    """

    experiment: str
    words: str
    column: str = ""
    simple: str = ""
    simple_words: str = ""


ALONE = "the same network on the labels alone"
HEADLINES = (
    Headline(
        "own-data",
        "ten strangers' tables, looked at by nobody before, 30 and 100 labels: mean accuracy",
        simple_words="logistic regression",
    ),
    Headline(
        "mnist-demo",
        "MNIST digits from 100 labels, by `make demo`: test error",
        "M = 100",
        "logistic regression on the pixels",
        "logistic regression",
    ),
    Headline(
        "mnist",
        "MNIST digits from 100 labels, best recipe: test error",
        "M = 100",
        "labels alone: the best encoder, jittered",
        ALONE,
    ),
    Headline(
        "mnist-analogies",
        "MNIST style kept, digit changed: read as the new digit",
        "",
        "the bound alone",
        "the bound alone",
    ),
    Headline(
        "svhn",
        "SVHN house numbers from 1,000 labels: test error",
        "M = 1000",
        "labels alone: the best encoder",
        ALONE,
    ),
    Headline(
        "faces",
        "who it is, from 6 labeled photographs a person: error",
        "6 labels a person",
        "labels alone: the same encoder",
        ALONE,
    ),
    Headline(
        "faces-counterfactuals",
        "faces under another light, from 6 labeled photographs a person: PSNR to the real photograph",
        "6 labels a person",
        "multilinear analysis (person x light)",
        "multilinear analysis",
    ),
    Headline(
        "multi-mnist",
        "canvases with one to three digits, a tenth of them labeled: counts right",
        "M/(M+N) = 0.1",
        "a plain convolutional counter, labeled canvases alone",
        "a plain counter trained as long",
    ),
    Headline(
        "mnist-hfvae",
        "MNIST digits found without a label: median and worst share of images in the right class",
        "",
        "HFVAE as printed, β = 12, γ = 4",
        "E19's weights as printed",
    ),
    Headline(
        "topics-labels",
        "20 Newsgroups from 100 labeled texts: test error",
        "100",
        "naive Bayes with EM",
        "naive Bayes with EM",
    ),
)
