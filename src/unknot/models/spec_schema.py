"""What the description of a model may hold: its nodes, and what is said of the model as a whole."""

from __future__ import annotations

from unknot.models.augment import AUGMENT
from unknot.schema import (
    Schema,
    flag,
    left_out_or,
    list_of,
    number,
    table,
    table_of,
    text,
    whole,
)

WIDEST = 1 << 14  # a layer; two of them in a row are a gigabyte of weights
HEAVIEST = (
    1e12  # weight beside the bound: beyond it nothing else counts, and tensors take no larger whole number
)
_layers = list_of(whole(1, WIDEST), words=f"a list of layers, each a whole number from 1 to {WIDEST}")
_word = {**text(), "maxLength": 40}
_names = {
    "if": {"type": "array"},
    "then": list_of(text(), words="a list of nodes' names"),
    "else": {**text(), "description": "a node's name or a list of them"},
}

IMAGE_ENCODERS = ("faces", "apart", "doubled", "framed", "components")
NODE: Schema = table(
    {
        "family": _word,
        "size": left_out_or(whole(1, 10**6)),
        "parents": _names,
        "inferred_from": _names,
        "labels": flag(),
        "gradient": left_out_or(_word),
        "hidden": _layers,
        "activation": {"enum": ["", "relu", "tanh"], "description": "relu, tanh, or left out"},
        "recognition_hidden": _layers,
        "channels": _layers,
        "pooled": flag(),
        "dropout": left_out_or(number(0, 0.99)),
        "pixels": whole(1, 10**6),
        "encoder": {
            "enum": ["", *IMAGE_ENCODERS, "bayes"],
            "description": f"{', '.join(IMAGE_ENCODERS)}, bayes, or left out",
        },
        "evidence": number(0, 1),
        "evidence_steps": whole(0, 10**4),
        "evidence_below": number(0, 1),
        "prior_words": left_out_or(number(0)),
        "weights": {"enum": ["", "tfidf"], "description": "tfidf, or left out"},
        "concentration": left_out_or(number(above=0)),
        "sampled_words": whole(0, 10**9),
        "generator": {"enum": ["", "product", "posed"], "description": "product, posed, or left out"},
        "components": whole(0, WIDEST),
        "sees": {"type": "string", "description": "a word, or left out"},
        "whiten": {"type": "string", "description": "a node's name, or left out"},
        "confidence": left_out_or(number(0, 1)),
        "center": list_of(number(), words="a list of numbers, one for each dimension"),
        "spread": list_of(number(above=0), words="a list of positive numbers, one for each dimension"),
        "scale": left_out_or(number(above=0)),
        "color_scale": left_out_or(number(above=0)),
        "columns": list_of(
            {
                "type": "object",
                "properties": {
                    "name": text(),
                    "kind": text(),
                    "size": whole(1, 10**6),
                    "mean": number(),
                    "sd": number(above=0),
                },
                "description": "a table {name, kind, ...} of a column",
            }
        ),
    },
    "settings with at least a family",
    required=("family",),
)

MODEL_SETTINGS: dict[str, Schema] = {
    "augment": left_out_or(AUGMENT),
    "agreement": number(0, HEAVIEST),
    "confidence": number(0, 1),
    "critic": number(0, HEAVIEST),
    "independence": number(0, HEAVIEST),
    "swap": number(0, HEAVIEST),
    "swap_teaches": number(0, 1),
    "width": whole(1, WIDEST),
    "temperature": number(above=0),
    "samples": left_out_or(whole(1, 10**4)),
}

MODEL: Schema = table(
    {"nodes": table_of(NODE, "a table that maps each node's name to its settings", 1), **MODEL_SETTINGS},
    "a model",
    required=("nodes",),
)
