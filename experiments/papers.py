"""The numbers, curves and pictures of the papers, and the rows that stand beside them on the scoreboard."""

from __future__ import annotations

from experiments.canvases import multi_mnist
from experiments.digits import (
    class_discovery,
    digit_pictures,
    latent_maps,
    mnist,
    mnist_supervision_rate,
    svhn,
    svhn_analogies,
)
from experiments.faces import faces
from experiments.ledger.scoreboard import Item

PAPERS = {
    "S17": "Siddharth et al., NIPS 2017, semi-supervised models with any graph",
    "S16": "Siddharth et al., workshop 2016, structured encoders and the plug-in estimator",
    "slides": "van de Meent, slides",
    "E19": "Esmaeili et al., AISTATS 2019, HFVAE",
}
MNIST_TEST, SVHN_TEST, CANVASES_TEST, FACES_TEST = 10_000, 10_000, 11_714, 342
SUBSET = "20,000 + 10,000 images of SVHN"
VADE = "VaDE 94.5 [P], a clustering model"
JOINT_VAE = "JointVAE 68.6–78.3 [P]"


def _mnist(labels: int, published: float, spread: float) -> Item:
    return Item(
        "S17",
        f"Fig. 3: MNIST test error (%), M = {labels}",
        "mnist",
        (published, spread),
        column=f"M = {labels}",
        model=mnist.LONGER_ROW,
        best=mnist.BEST_ROW,
        baseline=mnist.NO_DECODER_ROW if labels == 100 else f"{mnist.BEST_ROW}/network_error",
        items=MNIST_TEST,
        why="compare the same network with all 60,000 labels, in the last column of the page"
        if labels == 3000
        else "",
    )


def _svhn(paper: str, labels: int, published: tuple[float, float | None], model: str) -> Item:
    return Item(
        paper,
        f"{'Fig. 3' if paper == 'S17' else 'Fig. 2a'}: SVHN test error (%), M = {labels}, on {SUBSET}",
        "svhn",
        published,
        column=f"M = {labels}",
        model=model,
        best=svhn.BEST_ROW,
        baseline=svhn.NO_DECODER_ROW,
        items=SVHN_TEST,
        why="with the paper's networks the unlabeled images bring nothing: labels alone have the same error"
        if paper == "S17"
        else "",
    )


def _rates(labels: int) -> Item:
    return Item(
        "S17",
        f"Fig. 3 left: MNIST error against the supervision rate, M = {labels}",
        "mnist-supervision-rate",
        model=f"M = {labels}",
        curve=mnist_supervision_rate.THEIRS[labels][1],
        spread=0.3,
        tag="D",
        why="here α and the length of training change with ρ, for α = 50 left the digit to the style at small rates",
    )


def _faces(column: str, named: str, measure: str, published: tuple[float, float]) -> Item:
    return Item(
        "S17",
        f"Fig. 4: faces, {named}",
        "faces",
        published,
        column=column,
        measure=measure,
        best=faces.OURS,
        baseline=faces.NO_DECODER,
        items=FACES_TEST if measure == "identity" else 0,
        why="S17 does not print its networks; ours has its graph, with other networks and two views that agree",
    )


def _count(paper: str, share: str, nested: tuple[float, float]) -> Item:
    return Item(
        paper,
        f"Fig. 6: counts (%), nested digit model, {share}",
        "multi-mnist",
        nested,
        column=share,
        model=multi_mnist.GLANCES,
        best=multi_mnist.CELLS,
        baseline=multi_mnist.COUNTER,
        items=CANVASES_TEST,
    )


def _count_without(share: str, published: tuple[float, float]) -> Item:
    return Item(
        "S17",
        f"Fig. 6: counts (%), without the digit model, {share}",
        "multi-mnist",
        published,
        column=share,
        baseline=multi_mnist.COUNTER,
        items=CANVASES_TEST,
        why="the generative sequence model that is given single-digit images is not written",
    )


def _plug_in(labels: int, published: float, spread: float) -> Item:
    return Item(
        "S16",
        f"Fig. 2a: MNIST test error (%), {labels // 10} labels per class, plug-in",
        "mnist",
        (published, spread),
        column=f"M = {labels}",
        model=mnist.PLUG_IN_ROW,
        best=mnist.BEST_ROW,
        baseline=mnist.NO_DECODER_ROW if labels == 100 else f"{mnist.BEST_ROW}/network_error",
        items=MNIST_TEST,
    )


def _sprites(row: str, model: str, kim: tuple[float, float], dci: tuple[float, float]) -> list[Item]:
    return [
        Item(
            "E19",
            f"Table 3: dSprites, {row}, {name}",
            "dsprites",
            published,
            measure=key,
            model=model,
            best="HFVAE, class first, β = 4, γ = 3" if model else row,
            why="60,000 images at half the resolution for a fortieth of the steps"
            if model
            else "run with networks that are not E19's, on 60,000 images at half the resolution",
        )
        for key, name, published in (("kim", "Kim's score", kim), ("dci", "Eastwood's score", dci))
    ]


def _topics(name: str, measure: str, row: str, published: float) -> Item:
    return Item(
        "E19",
        f"Sec. 5.2: ProdLDA, {name}",
        "topics-prodlda",
        (published, None),
        measure=measure,
        model=row,
    )


TWO_GROUPS, ONE_GROUP = "HFVAE(25 + 25)", "VAE(50), settings as printed"
AUTHORS, PRINTED = class_discovery.AUTHORS_ROW, class_discovery.PRINTED_ROW
TENTH, HALF, WHOLE = multi_mnist.SHARES

ITEMS: tuple[Item, ...] = (
    # ---- S17
    _mnist(100, 9.71, 0.91),
    _mnist(600, 3.84, 0.86),
    _mnist(1000, 2.88, 0.79),
    _mnist(3000, 1.57, 0.93),
    _svhn("S17", 1000, (38.91, 1.06), svhn.S17_ROW),
    _svhn("S17", 3000, (29.07, 0.83), svhn.S17_ROW),
    *(_rates(labels) for labels in mnist_supervision_rate.LABELS),
    Item("S17", "Fig. 3 left: SVHN error against the supervision rate", "", why="not written"),
    Item(
        "S17",
        "Fig. 2a: MNIST analogies, 100 labels",
        "mnist-analogies",
        model=digit_pictures.S17_ROW,
        best="Unknot, M = 100",
        baseline="the bound alone, networks and steps as ours",
    ),
    Item(
        "S17",
        "Fig. 2b: grid of two style dimensions",
        "mnist-style-grid",
        model=digit_pictures.S17_ROW,
        best="Unknot, M = 100",
    ),
    Item(
        "S17",
        "Fig. 2c: SVHN analogies, 1,000 labels",
        "svhn-analogies",
        model=digit_pictures.S17_ROW,
        best="Unknot, M = 1000",
        baseline="the bound alone, networks and steps as ours",
    ),
    Item(
        "S17",
        "Fig. 2d: SVHN analogies, all labels",
        "svhn-analogies",
        model=svhn_analogies.S17_EVERY_LABEL_ROW,
    ),
    _faces(faces.FULL, "identity error (%), all labels", "identity", (1.9, 1.5)),
    _faces(faces.FULL, "lighting error (% of 90 degrees), all labels", "light", (3.1, 3.8)),
    _faces(faces.SEMI, "identity error (%), 6 labels a person", "identity", (3.5, 3.4)),
    _faces(faces.SEMI, "lighting error (% of 90 degrees), 6 labels a person", "light", (17.6, 1.8)),
    _count("S17", TENTH, (76.33, 8.91)),
    _count("S17", HALF, (80.27, 5.45)),
    _count("S17", WHOLE, (84.79, 5.11)),
    Item(
        "S17",
        f"Fig. 6: counts (%), nested digit model, {TENTH}, digits may overlap",
        "multi-mnist",
        (76.33, 8.91),
        column=TENTH,
        model=multi_mnist.GLANCES_OVERLAPPING,
        best=multi_mnist.OVERLAPPING,
        baseline=multi_mnist.COUNTER_OVERLAPPING,
        items=CANVASES_TEST,
    ),
    _count_without(TENTH, (85.45, 5.77)),
    _count_without(HALF, (93.27, 2.15)),
    _count_without(WHOLE, (99.81, 1.81)),
    # ---- S16
    _plug_in(100, 12.2, 1.38),
    _plug_in(600, 5.28, 0.76),
    _plug_in(1000, 4.23, 0.68),
    _plug_in(3000, 3.94, 0.77),
    _svhn("S16", 1000, (30.32, 2.74), svhn.PLUG_IN_ROW),
    _svhn("S16", 3000, (23.98, 1.83), svhn.PLUG_IN_ROW),
    Item(
        "S16",
        "Fig. 2b: MNIST error against the supervision rate, rates 0 to 1",
        "mnist-supervision-rate",
        why="run for S17's Concrete digit only",
    ),
    # ---- slides
    Item(
        "slides",
        "maps of the codes of an autoencoder and a VAE",
        "latent-maps",
        column="2 dimensions",
        model=latent_maps.VAE_ROW,
    ),
    Item(
        "slides",
        "map of a semi-supervised model's codes",
        "latent-maps",
        column="2 dimensions",
        model=latent_maps.SEMI_ROW,
    ),
    Item(
        "slides",
        "S17's model without labels",
        "latent-maps",
        column="2 dimensions",
        model=latent_maps.NO_LABELS_ROW,
    ),
    _count("slides", TENTH, (76.33, 8.91)),
    _count("slides", HALF, (80.27, 5.45)),
    _count("slides", WHOLE, (84.79, 5.11)),
    # ---- E19
    Item("E19", "Fig. 2: each term of the bound removed", "decomposition-toy", model="all terms"),
    Item(
        "E19",
        "Fig. 4: MNIST, style dimensions that are kept, of 10",
        "mnist-hfvae",
        (7.0, None),
        measure="style_dimensions",
        model=AUTHORS,
    ),
    Item(
        "E19",
        "Fig. 4: Fashion-MNIST, style dimensions that are kept, of 10",
        "fashion-hfvae",
        (6.0, None),
        measure="style_dimensions",
        model=AUTHORS,
    ),
    Item(
        "E19",
        "Sec. 5.3, Fig. 5 right: I(y; class) above every I(y; z_d) (difference in nats), Eq. 4",
        "mnist-hfvae",
        (0.0, None),
        shown_as="above 0",
        measure="gap",
        model=PRINTED,
        best=class_discovery.BEST_ROW,
        why="a relaxed density shows all logits of the class, so the class pays several times its divergence and dies",
    ),
    Item(
        "E19",
        "the same, class scored as in the authors' code",
        "mnist-hfvae",
        (0.0, None),
        shown_as="above 0",
        measure="gap",
        model=AUTHORS,
        best=class_discovery.BEST_ROW,
        why="the authors' code scores the class by the mass of its largest entry, which has no gradient on average",
    ),
    Item(
        "E19",
        "beside E19: digits found without labels (class accuracy, %), JointVAE",
        "mnist-hfvae",
        (68.6, None),
        model=class_discovery.JOINT_ROW,
        best=class_discovery.BEST_ROW,
        beside=VADE,
        items=MNIST_TEST,
        why="JointVAE's rise of capacities is run for 25,000 steps instead of E19's length",
    ),
    Item("E19", "Fig. 5 left: thickness of each digit, HFVAE beside β-VAE", "mnist-hfvae", model=AUTHORS),
    Item(
        "E19",
        "Fig. 6 left: information against total correlation for β = γ",
        "mnist-tradeoff",
        model="β = γ, as printed",
        column="β = 2",
        why="a few restarts of some epochs; E19 has 50 restarts",
    ),
    Item(
        "E19",
        "Fig. 6 right: gap of the class against β, γ = 3",
        "mnist-tradeoff",
        best="γ = 3, class rewarded",
        column="β = 4",
        why="run with a rewarded class only",
    ),
    Item(
        "E19",
        "Fig. 7: thick sevens and narrow zeros that were not in training",
        "zero-shot",
        best="HFVAE, class rewarded, β = 4, γ = 3",
        why="run with a rewarded class only; it reconstructs unseen zeros worse than a VAE",
    ),
    *_sprites("VAE", "", (0.63, 0.06), (0.30, 0.10)),
    *_sprites("β-VAE, β = 4", "", (0.63, 0.10), (0.41, 0.11)),
    *_sprites("β-TCVAE, β = 4", "", (0.62, 0.07), (0.29, 0.10)),
    *_sprites("HFVAE, β = 4, γ = 3", "HFVAE, β = 4, γ = 3, E19's networks", (0.63, 0.08), (0.39, 0.16)),
    Item(
        "E19",
        "App. Fig. 8: CelebA, one dimension per row",
        "celeba",
        model="HFVAE, β = 5, γ = 3",
        best="",
        why="one seed, far from converged, below principal components on every attribute",
    ),
    _topics("topics above .1 nats, HFVAE", "active", TWO_GROUPS, 11.0),
    _topics("topics above .1 nats, VAE", "active", ONE_GROUP, 50.0),
)

README_ITEMS: dict[str, tuple[str, str]] = {
    # paper -> the item of its own model, and the item of our best row
    "S17": ("Fig. 3: MNIST test error (%), M = 1000", "Fig. 3: MNIST test error (%), M = 100"),
    "S16": (
        "Fig. 2a: MNIST test error (%), 10 labels per class, plug-in",
        f"Fig. 2a: SVHN test error (%), M = 1000, on {SUBSET}",
    ),
    "slides": (
        f"Fig. 6: counts (%), nested digit model, {TENTH}",
        f"Fig. 6: counts (%), nested digit model, {TENTH}, digits may overlap",
    ),
    "E19": (
        "Table 3: dSprites, HFVAE, β = 4, γ = 3, Kim's score",
        "beside E19: digits found without labels (class accuracy, %), JointVAE",
    ),
}
