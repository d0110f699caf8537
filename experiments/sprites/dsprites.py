"""dsprites: five objectives on images of shapes with known factors (E19 Table 3)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from experiments.ledger.codes import CLASS, STYLE, fixed_traces, metric_codes
from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier, Yardstick
from experiments.ledger.fit import fitted
from experiments.sprites.sprites import small_sprites, toy_sprites
from unknot.metrics import class_accuracy, dci, factor_vae, infomec, mig
from unknot.objectives import information
from unknot.objectives.parts.class_parts import class_parts
from unknot.plots.codes import importance_matrix
from unknot.plots.images import image_grid
from unknot.plots.style import save
from unknot.workflow.pictures import samples_by_class, traversals
from unknot.workflow.trained_model import TrainedModel

SHAPE = "shape"
ITEMS, BLOCK = 60_000, 2  # images of the quick tier, and side of the averaged blocks of pixels
STEPS, BATCH, RATE = 2400, 64, 2e-3
DRAWN_STEPS, DRAWN_RATE = 7200, 1e-3  # of convolutional decoders
MEASURED = 5000  # test images of the measures, at most
LIVE = 0.1  # nats of information from which a code counts as used
# The weights of information and correlation decrease in stages, (share of the steps, factor): the model first encodes x
# and y, in separate dimensions, then the size.
STAGES = ((0.25, 32.0), (0.125, 12.0), (0.125, 6.0), (0.125, 3.0))
# Objectives without a weight of correlation decrease more evenly, from this weight.
EVEN_FROM, EVEN_STAGES, EVEN_SHARE = 64.0, 8, 0.75
WITHOUT_CORRELATION = ("vae", "beta_vae", "factor_vae")
# Ours: first steps on the class alone, its reward per nat, and its modules, frozen while the weights decrease.
CLASS_STEPS, REWARD, EVENNESS = 300, 20.0, 2.0
FROZEN = ["trunk.networks.shapes", f"recognition.{CLASS}"]
CONVOLUTIONS = {"name": "conv", "channels": [16, 32, 32], "dropout": 0.0}
# E19's priors, with small convolutions and a perceptron as decoder. The class is inferred from centered ink.
NODES: dict[str, Any] = {
    CLASS: {
        "family": "concrete",
        "size": 3,
        "inferred_from": ["x"],
        "encoder": {"name": "mlp", "part": "shapes", "hidden": [64]},
    },
    STYLE: {
        "family": "normal",
        "size": 10,
        "inferred_from": ["x"],
        "encoder": {"name": "mlp", "part": "pixels", "hidden": [128]},
    },
    "x": {
        "family": "bernoulli",
        "parents": [CLASS, STYLE],
        "encoder": {
            "name": "parts",
            "shapes": {"name": "experiments.sprites.ink_frame:FramedTrunk", "encoder": CONVOLUTIONS},
            "pixels": CONVOLUTIONS,
        },
        "decoder": {"name": "mlp", "hidden": [128, 256]},
    },
}
# The same with a convolutional decoder.
DRAWN_NODES: dict[str, Any] = {
    **NODES,
    "x": {key: value for key, value in NODES["x"].items() if key != "decoder"},
}
# The same at full resolution, with networks that can draw squares, ellipses and hearts at their orientation.
SHUFFLED = "experiments.sprites.shuffled"
FULL_NODES: dict[str, Any] = {
    **NODES,
    "x": {
        **NODES["x"],
        "encoder": {**NODES["x"]["encoder"], "pixels": f"{SHUFFLED}:ShuffledTrunk"},
        "decoder": f"{SHUFFLED}:ShuffledDecoder",
    },
}
FULL_TRAIN: dict[str, Any] = {
    "steps": 2000,
    "batch_size": 512,
    "learning_rate": {"name": "cosine", "start": 2e-3, "warmup": 200},
    "precision": "bf16-mixed",
}
# E19's networks: 1200, 1200 and, for the style, 400; in the decoder 400, 1200, 1200 with hyperbolic tangents.
E19_NODES: dict[str, Any] = {
    CLASS: {"family": "concrete", "size": 3, "inferred_from": ["x"]},
    STYLE: {
        "family": "normal",
        "size": 10,
        "inferred_from": ["x"],
        "encoder": {"name": "mlp", "hidden": [400]},
    },
    "x": {
        "family": "bernoulli",
        "parents": [CLASS, STYLE],
        "encoder": {"name": "mlp", "hidden": [1200, 1200]},
        "decoder": {"name": "mlp", "hidden": [400, 1200, 1200], "activation": "tanh"},
    },
}
E19_STEPS, E19_RATE = 6000, 5e-4
OURS = "HFVAE, class first, β = 4, γ = 3"
PRINTED = "HFVAE, β = 4, γ = 3"
E19_NETWORKS = f"{PRINTED}, E19's networks"
FULL = "64 x 64 pixels"
E19_ROWS = {
    "VAE": ((0.63, 0.06), (0.30, 0.10)),
    "β-VAE, β = 4": ((0.63, 0.10), (0.41, 0.11)),
    "β-TCVAE, β = 4": ((0.62, 0.07), (0.29, 0.10)),
    "HFVAE, β = 4, γ = 3": ((0.63, 0.08), (0.39, 0.16)),
}
OBJECTIVES: dict[str, dict[str, Any]] = {
    "VAE": {"name": "vae"},
    "β-VAE, β = 4": {"name": "beta_vae", "beta": 4.0},
    "β-TCVAE, β = 4": {"name": "beta_tcvae", "beta": 4.0},
    "FactorVAE, γ = 10": {"name": "factor_vae", "gamma": 10.0},
    "HFVAE, β = 4, γ = 3": {"name": "hfvae", "beta": 4.0, "gamma": 3.0},
}


def cases(tier: Tier) -> list[Case]:
    """Return ours, the objectives of the literature with a convolutional decoder, and E19's networks."""
    smoke = tier == "smoke"
    data = {
        "items": 200 if smoke else ITEMS,
        "block": 0 if smoke else BLOCK,
    }
    pixels = {"family": {"name": "bernoulli", "pixels": max(data["block"], 1) ** 2}}
    small, drawn, wide = (
        {**nodes, "x": {**nodes["x"], **pixels}} for nodes in (NODES, DRAWN_NODES, E19_NODES)
    )

    def train(steps: int, rate: float) -> dict[str, Any]:
        return {
            "steps": 20 if smoke else steps,
            "batch_size": 40 if smoke else BATCH,
            "learning_rate": {"name": "cosine", "start": rate},
        }

    alone, long = 2 if smoke else CLASS_STEPS, train(DRAWN_STEPS, DRAWN_RATE)
    found: list[Case] = [
        {"row": OURS, **class_first(small, train(STEPS, RATE), alone)},
        *(
            {"row": row, "model": {"nodes": drawn}, "train": decreasing(objective, long)}
            for row, objective in OBJECTIVES.items()
        ),
        {
            "row": E19_NETWORKS,
            "model": {"nodes": wide},
            "train": {**train(E19_STEPS, E19_RATE), "objective": OBJECTIVES[PRINTED]},
        },
    ]
    return [*({**case, **data} for case in found), *_at_full_size(smoke)]


def _at_full_size(smoke: bool) -> list[Case]:
    """Return the objectives of E19 at 64 x 64 pixels, without a decrease of weights."""
    data = {"items": 200 if smoke else ITEMS, "block": 0 if smoke else 1}
    train = {**FULL_TRAIN, **({"steps": 4, "batch_size": 40} if smoke else {})}
    if smoke:
        train["learning_rate"] = 1e-3
    return [
        {
            "row": f"{row}, {FULL}",
            "model": {"nodes": FULL_NODES},
            "train": {**train, "objective": OBJECTIVES[row]},
            **data,
        }
        for row in E19_ROWS
    ]


def class_first(nodes: Mapping[str, Any], train: Mapping[str, Any], alone: int) -> dict[str, Any]:
    """Return ours: ``alone`` steps on the class, then HFVAE with a class that is first frozen and then rewarded."""
    # the decoder gets the class probabilities, whose information is rewarded; rotations keep the class
    exact = {**nodes, CLASS: {**nodes[CLASS], "gradient": "plug_in"}}
    model = {"augment": {"turn": math.pi}, "nodes": exact}
    reward = {"information": {CLASS: 1 - REWARD}, "marginal": {CLASS: 1 + EVENNESS * REWARD}}
    agreement = {"agreement": REWARD}
    first = {"name": "information_maximization", "information": -REWARD, "marginal": EVENNESS * REWARD}
    decreasing_weights = decreasing(OBJECTIVES[PRINTED], train)
    frozen = [
        {**one, "objective": {**one["objective"], "regularizers": agreement}, "frozen": FROZEN}
        for one in decreasing_weights["stages"]
    ]
    stages = [{"steps": alone, "objective": {**first, "regularizers": agreement}}, *frozen]
    last = {**decreasing_weights["objective"], **reward, "regularizers": agreement}
    whole = {
        **decreasing_weights,
        "steps": decreasing_weights["steps"] + alone,
        "objective": last,
        "stages": stages,
    }
    return {"model": model, "train": whole}


def decreasing(objective: Mapping[str, Any], train: Mapping[str, Any]) -> dict[str, Any]:
    """Return training settings with weights that decrease in stages to those of the objective."""
    stages_of = even_stages(objective) if objective["name"] in WITHOUT_CORRELATION else STAGES
    stages = [
        {"steps": int(share * train["steps"]), "objective": raised(objective, factor)}
        for share, factor in stages_of
    ]
    return {**train, "objective": dict(objective), "stages": stages}


def even_stages(objective: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Return (share of the steps, factor) from the first weight down by equal factors."""
    first = EVEN_FROM / objective.get("beta", 1.0)
    return [(EVEN_SHARE / EVEN_STAGES, first ** (1 - k / EVEN_STAGES)) for k in range(EVEN_STAGES)]


def raised(objective: Mapping[str, Any], factor: float) -> dict[str, Any]:
    """Return the objective with all weights but those of the marginals multiplied; FactorVAE starts as a VAE."""
    name, beta = objective["name"], objective.get("beta", 1.0)
    if name in WITHOUT_CORRELATION:
        return {"name": "beta_vae", "beta": factor * beta}
    gamma = objective.get("gamma", beta)  # β-TCVAE has one weight for both kinds of correlation
    return {"name": "hfvae", "alpha": factor, "beta": factor * beta, "gamma": factor * gamma}


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Train without labels, and compare codes of test images with their factors."""
    data = (
        small_sprites(settings["items"], settings["block"])
        if settings["block"]
        else toy_sprites(settings["items"])
    )
    train, test = data.split("train"), data.split("test")
    model = fitted(replace(train, factors={}), seed, settings["train"], settings["model"])
    test = test.subset(torch.arange(min(MEASURED, len(test))))
    x = test.batch(torch.arange(len(test))).x
    factors = {name: f.values.numpy() for name, f in test.factors.items()}
    known = information(fixed_traces(model, x)[0], len(train)).dimensions[STYLE].numpy()
    live = np.flatnonzero(known > LIVE)
    live = live if live.size else np.arange(len(known))
    numbers = _information(model, x, len(train))
    codes = metric_codes(model, x)
    codes = {**codes, STYLE: codes[STYLE][:, live]}
    dead = () if numbers["class_information"] > LIVE else (CLASS,)
    if pictures is not None:
        _draw(model, x, {k: v for k, v in codes.items() if k not in dead}, live, factors, pictures)
    return {**scores(codes, factors, dead), **numbers}


SCORES = (
    Measure("kim", "FactorVAE score (Kim)", better="higher"),
    Measure("dci", "DCI disentanglement (Eastwood)", better="higher"),
    Measure("mig", "MIG", better="higher"),
    Measure("info_m", "InfoM", better="higher"),
    Measure("info_e", "InfoE", better="higher"),
    Measure("info_c", "InfoC", better="higher"),
    Measure("shape", "shape predicted from the class", "%", "higher", 1),
)


def scores(
    codes: Mapping[str, Any], factors: Mapping[str, np.ndarray], dead: Collection[str] = ()
) -> Numbers:
    """Return scores of codes, with a class, against the factors; unused codes (``dead``) are left out."""
    classes = codes[CLASS].values.argmax(-1)
    codes = {name: values for name, values in codes.items() if name not in dead}
    by_information = infomec(codes, factors)
    # sizes, angles and positions are numbers, as in the code of Eastwood & Williams; only the shape is a class
    numbers = {name: found if name == SHAPE else found.astype(float) for name, found in factors.items()}
    return {
        "kim": factor_vae(codes, factors).value,
        "dci": dci(codes, numbers).disentanglement,
        "mig": mig(codes, factors).value,
        "info_m": by_information.modularity,
        "info_e": by_information.explicitness,
        "info_c": by_information.compactness,
        "shape": 100 * class_accuracy(classes, factors[SHAPE]).value,
    }


def _information(model: TrainedModel, x: Tensor, dataset_size: int) -> Numbers:
    """Return the information of the codes, and the total correlation estimated from a batch and from many items."""
    q, p = fixed_traces(model, x)
    found = information(q, dataset_size)
    batches = [information(fixed_traces(model, part)[0], dataset_size) for part in x.split(BATCH)[:20]]
    return {
        "live": float((found.dimensions[STYLE] > LIVE).sum()),
        "class_information": -float(class_parts(q, p, CLASS)[0].mean()),
        "reconstruction": -float(p["x"].log_prob.mean()),
        "correlation_batch": float(np.mean([float(one.total_correlation) for one in batches])),
        "correlation": float(found.total_correlation),
        "overlap": 100 * overlap(x, model.reconstruct(x)),
    }


def overlap(images: Tensor, drawn: Tensor) -> float:
    """Return the mean over images (N, ...) of intersection over union of the pixels above one half.

    >>> overlap(torch.tensor([[1.0, 1.0, 0.0]]), torch.tensor([[0.9, 0.2, 0.0]]))
    0.5
    """
    one, other = (found.flatten(1) > 0.5 for found in (images, drawn))
    both, either = (one & other).sum(1), (one | other).sum(1)
    return float((both / either.clamp(min=1)).mean())


def _draw(
    model: TrainedModel,
    x: Tensor,
    codes: Mapping[str, Any],
    live: np.ndarray,
    factors: Mapping[str, np.ndarray],
    folder: Path,
) -> None:
    """Draw the codes in use: the class, if it is used, and the dimensions ``live`` of the style."""
    styles = [f"{STYLE}[{d}]" for d in live]
    names = [CLASS, *styles] if CLASS in codes else styles
    matrix = infomec(codes, factors).matrix  # (codes, factors)
    save(
        importance_matrix(matrix, names, list(factors), "I(factor; code) / H(factor)"),
        folder / "information.png",
    )
    order = np.argsort(-matrix[-len(live) :].max(1))
    swept = traversals(model, x[:1], model.node(STYLE), live[order].tolist())
    rows = [styles[place] for place in order]
    save(image_grid(swept, rows=rows, ink=False), folder / "traversals.png")
    classes = samples_by_class(model, model.node(CLASS), 6)
    columns = [str(k) for k in range(classes.shape[1])]
    save(image_grid(classes, columns=columns, ink=False), folder / "classes.png")


def _yardsticks() -> list[Yardstick]:
    found = [Yardstick("goal", {"": 0.80}, "goal", "kim"), Yardstick("goal", {"": 0.50}, "goal", "dci")]
    for row, (kim, eastwood) in E19_ROWS.items():
        found += [
            Yardstick(f"E19, {row}", {"": kim}, "P", "kim"),
            Yardstick(f"E19, {row}", {"": eastwood}, "P", "dci"),
        ]
    return found


EXPERIMENT = Experiment(
    name="dsprites",
    place="E19 Table 3",
    about="Codes of dSprites compared with its factors: five objectives, the same priors.",
    cases=cases,
    run=run,
    measures=(
        *SCORES,
        Measure("class_information", "I(x; class)", "nats", "higher"),
        Measure("live", f"style dimensions above {LIVE:g} nats", "", "higher", 1),
        Measure("reconstruction", "-log p(x | class, style)", "nats", decimals=1),
        Measure("overlap", "overlap of images and reconstructions", "%", "higher", 1),
        Measure("correlation_batch", f"total correlation, estimated from {BATCH} items", "nats"),
        Measure("correlation", f"total correlation, estimated from {MEASURED:,} items", "nats"),
    ),
    budgets={
        "smoke": "seconds",
        "quick": "2 to 7 CPU minutes a row and seed",
    },
    yardsticks=_yardsticks(),
    judged={OURS: "goal", E19_NETWORKS: f"E19, {PRINTED}", **{row: f"E19, {row}" for row in E19_ROWS}},
    captions={
        "information": "Mutual information of codes and factors, as a share of the entropy of the factor.",
        "traversals": "One test image; in each row one dimension of the style varies.",
        "classes": "Generated images: a class in each column, a sample of the style in each row.",
    },
)
