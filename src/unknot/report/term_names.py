"""The logged terms of an objective by names that need no source code."""

from __future__ import annotations

import re

_WORDS = {
    "loss": "loss (lower is better)",
    "validation": "validation score (higher is better)",
    "reconstruction": "log-likelihood of the items",
    "labels": "log-likelihood of the labels",
    "ridge": "ridge penalty on the weights",
    "swap": "items generated with swapped factors",
}
_INSIDE = {
    "kl": "-KL divergence of {}",
    "labels": "log-likelihood of the labels of {}",
    "information": "-mutual information of {}",
    "marginal": "-KL divergence of the marginal of {}",
    "log_term": "term {}",
}
_SUFFIXED = {
    r"agreement_(.+)": "agreement of two views: {}",
    r"independence_(.+)": "independence of the style from {}",
    r"(.+)_prior": "prior of the decoder's weights: {}",
}


def term_name(term: str) -> str:
    """Return the name of a term in words.

    >>> term_name("log_term[ridge]"), term_name("kl[style]")
    ('ridge penalty on the weights', '-KL divergence of style')
    """
    if term in _WORDS:
        return _WORDS[term]
    found = re.fullmatch(r"(\w+)\[(.+)\]", term)
    if found is None:
        return term
    kind, inside = found.groups()
    if kind == "log_term":
        if inside in _WORDS:
            return _WORDS[inside]
        for pattern, words in _SUFFIXED.items():
            name = re.fullmatch(pattern, inside)
            if name is not None:
                return words.format(name.group(1))
    return _INSIDE[kind].format(inside) if kind in _INSIDE else term
