"""The page: content drawn into one self-contained HTML file."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unknot.files import write_file
from unknot.objectives.diagnostics import UNUSED_BELOW
from unknot.plots.curves import bars, curves
from unknot.plots.images import boxed_images, image_grid
from unknot.plots.style import data_uri
from unknot.report.content import Content
from unknot.report.gallery import Picture
from unknot.report.section import Section
from unknot.report.term_names import term_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_report(content: Content, path: Path) -> None:
    """Draw the content and write the page, whole or not at all."""
    write_file(path, render(content).encode())


def render(content: Content) -> str:
    """The HTML text."""
    return fill(
        "report.html.jinja",
        title=content.title,
        summary=content.summary,
        content=content,
        parts=_numbered(_parts(content)),
        graph=content.graph_svg,
    )


def fill(template: str, **values: Any) -> str:
    """A page from one of the templates, which all extend the same base."""
    from jinja2 import Environment, PackageLoader

    templates = Environment(loader=PackageLoader("unknot.report"), autoescape=True)
    return templates.get_template(template).render(**values)


@dataclass(frozen=True)
class Part:
    """Sections under one heading.

    Parameters
    ----------
    name : {"data", "doubts", "changes", "model"}
        What it is about.
    title : str
        The heading.
    sections : list of dict
        The sections in the form of the template.
    """

    name: str
    title: str
    sections: list[dict[str, Any]]


def _parts(content: Content) -> list[Part]:
    """The sections in the order of the page."""
    return [
        Part("numbers", "", [drawn(one) for one in content.numbers]),
        Part("data", "The data", [drawn(one) for one in content.data]),
        Part("doubts", "Mistakes and doubts", [drawn(one) for one in content.doubts]),
        Part(
            "changes",
            "What predictions rest on, and what changes with each factor",
            [*_pictures(content, about_change=True), *(drawn(one) for one in content.changes)],
        ),
        Part("model", "The model and its training", _model(content)),
    ]


def _numbered(parts: list[Part]) -> dict[str, Part]:
    """The parts by name, with figures and tables numbered from the top; the graph is a figure too."""
    figures, tables = count(1), count(1)
    for part in parts:
        if part.name == "model":
            part.sections.insert(0, {"title": "The graphical model", "graph": True})
        for section in part.sections:
            has_figure = section.get("graph") or section.get("image")
            section["number"] = f"Figure {next(figures)}" if has_figure else f"Table {next(tables)}"
    return {part.name: part for part in parts}


def _pictures(content: Content, *, about_change: bool) -> list[dict[str, Any]]:
    chosen = [one for one in content.pictures if one.about_change == about_change]
    return [_section(one.title, one.caption, picture_figure(one), one.wide) for one in chosen]


def _model(content: Content) -> list[dict[str, Any]]:
    sections = [*_pictures(content, about_change=False), *(drawn(one) for one in content.model)]
    if content.information:
        names, nats = zip(*content.information, strict=True)
        caption = (
            "Mutual information between the data and each dimension of the Gaussian variables, in nats. Gray "
            f"dimensions (below {UNUSED_BELOW:g}) are unused."
        )
        shown = bars(names, nats, "mutual information in nats", [value < UNUSED_BELOW for value in nats])
        sections.append(_section("Information per dimension", caption, shown))
    if content.records:
        caption = "Every term of the objective that changes, averaged between logged steps."
        titles = {name: term_name(name) for record in content.records for name in record}
        sections.append(_section("Training curves", caption, curves(content.records, titles), wide=True))
    return sections


def picture_figure(picture: Picture) -> Figure:
    """One picture of the report as a figure."""
    if picture.boxes is not None:
        boxes, names = picture.boxes
        return boxed_images(picture.images, boxes, names, rows=picture.rows, ink=picture.ink)
    return image_grid(
        picture.images,
        columns=picture.columns,
        rows=picture.rows,
        separate_first=picture.separate_first,
        ink=picture.ink,
        cell=0.8 if picture.wide else 0.5,
    )


def _section(title: str, caption: str, figure: Figure, wide: bool = False) -> dict[str, Any]:
    return drawn(Section(title, caption, figure, wide=wide))


def drawn(section: Section) -> dict[str, Any]:
    """A section in the form of the template, its figure drawn."""
    values = {**vars(section), "image": None}
    if section.figure is not None:
        width, _ = section.figure.get_size_inches()
        values |= {"image": data_uri(section.figure), "width": int(width * 96)}
    return values
