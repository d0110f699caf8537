"""The simplest program that fails like a given one: sites, axes and sizes are taken away while it still does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.fuzz.random_programs import NO_NUMBERS, ONE_HOT, WAYS, Conditional, Data, Program, Site

STEPS = 200


def simplest(program: Program, fails: Callable[[Program], bool]) -> Program:
    """A program from which nothing more can be taken away."""
    for _ in range(STEPS):
        for candidate in _simpler(program):
            if candidate != program and _is_written_well(candidate) and fails(candidate):
                program = candidate
                break
        else:
            return program
    return program


def _simpler(program: Program) -> Iterator[Program]:
    if len(program.sites) > 1:
        yield from (_without(program, site.name) for site in program.sites)
    if len(program.data) > 1:
        for data in program.data:
            yield replace(program, data=tuple(other for other in program.data if other is not data))
    if program.log_term is not None:
        yield replace(program, log_term=None)
    order = tuple(site.name for site in program.sites)
    if program.p_order != order and all(
        set(site.p.parents) <= set(order[:i]) for i, site in enumerate(program.sites)
    ):
        yield replace(program, p_order=order)
    if program.samples is not None:
        yield replace(program, samples=None)
        yield replace(program, samples=max(1, program.samples - 1))
    yield replace(program, features=1)
    yield replace(program, batch=max(1, program.batch - 1))
    for i, site in enumerate(program.sites):
        for other in _simpler_site(site):
            yield replace(program, sites=(*program.sites[:i], other, *program.sites[i + 1 :]))
    for i, data in enumerate(program.data):
        for one in _simpler_data(data):
            yield replace(program, data=(*program.data[:i], one, *program.data[i + 1 :]))


def _without(program: Program, name: str) -> Program:
    sites = tuple(
        replace(
            site,
            q=None if site.q is None else _drop(site.q, name),
            p=_drop(site.p, name),
            mask=None if site.mask == name else site.mask,
        )
        for site in program.sites
        if site.name != name
    )
    data = tuple(
        _loss_of_something(replace(one, p=_drop(one.p, name), mask=None if one.mask == name else one.mask))
        for one in program.data
    )
    log_term = program.log_term
    if log_term is not None:
        log_term = replace(_drop(log_term, name), uses_x=True, forms=("network",))
    order = tuple(other for other in program.p_order if other != name)
    return replace(program, sites=sites, data=data, p_order=order, log_term=log_term)


def _drop(conditional: Conditional, name: str) -> Conditional:
    parents = tuple(parent for parent in conditional.parents if parent != name)
    forms = conditional.forms
    if not parents and not conditional.uses_x:
        forms = tuple("item" if form == "network" else form for form in forms)
    return replace(conditional, parents=parents, forms=forms)


def _loss_of_something(data: Data) -> Data:
    if "loss" in data.family and data.p.forms[0] != "network":
        return replace(data, p=replace(data.p, forms=("network",), uses_x=True))
    return data


def _simpler_conditional(conditional: Conditional) -> Iterator[Conditional]:
    yield from (_drop(conditional, parent) for parent in conditional.parents)
    if conditional.uses_x:
        yield _drop(replace(conditional, uses_x=False), "")
    yield replace(conditional, style="sum")
    for i, form in enumerate(conditional.forms):
        if form in ("one", "row", "number") or (form == "network" and i > 0):
            yield replace(conditional, forms=(*conditional.forms[:i], "item", *conditional.forms[i + 1 :]))


def _simpler_site(site: Site) -> Iterator[Site]:
    yield replace(site, labels="none")
    if site.labels == "partial":
        yield replace(site, labels="all")
    yield replace(site, mask=None, late=False)
    yield replace(site, late=False)
    yield replace(site, scoped=False)
    yield replace(site, one_hot_labels=False)
    yield replace(site, way=None)
    if site.family != "normal":
        q = None if site.q is None else replace(site.q, forms=(site.q.forms[0], "item"))
        p = replace(site.p, forms=(site.p.forms[0], "item"))
        yield replace(site, family="normal", way=None, classes=0, shape=(), p=p, q=q)
        yield replace(site, family="normal", way=None, classes=0, p=p, q=q)
    if site.family == "concrete":
        yield replace(site, family="one_hot_categorical")
    if site.family == "one_hot_categorical" and len(site.shape) == 1:
        way = site.way if site.way in WAYS["categorical"] else None
        yield replace(site, family="categorical", shape=(), way=way)
    if site.classes == 0 and site.family not in ("dirichlet", "multivariate_normal"):
        yield from (replace(site, shape=shape) for shape in _smaller(site.shape))
    elif len(site.shape) > 1:
        yield replace(site, shape=site.shape[1:])
    if site.classes > 2:
        shape = (*site.shape[:-1], site.classes - 1) if site.family in ONE_HOT else site.shape
        yield replace(site, classes=site.classes - 1, shape=shape)
    yield from (replace(site, p=p) for p in _simpler_conditional(site.p))
    if site.q is not None:
        yield from (replace(site, q=q) for q in _simpler_conditional(site.q))


def _simpler_data(data: Data) -> Iterator[Data]:
    yield replace(data, mask=None)
    yield from (replace(data, shape=shape) for shape in _smaller(data.shape))
    if data.family != "normal":
        yield replace(data, family="normal", classes=0, p=replace(data.p, forms=(data.p.forms[0], "number")))
    yield from (_loss_of_something(replace(data, p=p)) for p in _simpler_conditional(data.p))


def _smaller(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if shape:
        yield shape[1:]
        yield shape[:-1]
    for i, size in enumerate(shape):
        if size > 1:
            yield (*shape[:i], size - 1, *shape[i + 1 :])


def _is_written_well(program: Program) -> bool:
    """Whether a user could write it: the shape of a draw must come from somewhere."""
    for site in program.sites:
        prior = site.q is not None
        if site.q is not None and ("row" in site.q.forms or _is_number(site, site.q)):
            return False
        rank = len(site.shape) + (site.family == "categorical")
        if "row" in site.p.forms and (not prior or rank < 2):
            return False
        if _is_number(site, site.p) and not prior:
            return False
        if site.p.forms[0] == "number" and site.family in NO_NUMBERS:
            return False
    return not any(data.p.forms[0] == "number" and data.family in NO_NUMBERS for data in program.data)


def _is_number(site: Site, conditional: Conditional) -> bool:
    return conditional.forms[0] == "number" and (bool(site.shape) or site.family in NO_NUMBERS)
