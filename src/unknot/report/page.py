"""The page: content drawn into one self-contained HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from unknot.files import write_file
from unknot.objectives.diagnostics import UNUSED_BELOW
from unknot.plots.classification import confusion
from unknot.plots.curves import bars, curves
from unknot.plots.images import boxed_images, image_grid
from unknot.plots.style import data_uri
from unknot.report.content import Content
from unknot.report.gallery import Picture
from unknot.report.section import Section

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_LEAST = 0.75  # of its full width: to this a figure may shrink and still be legible


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
        sections=_sections(content),
        graph=content.graph_svg,
    )


def fill(template: str, **values: Any) -> str:
    """A page from one of the templates, which all extend the same base."""
    from jinja2 import Environment, PackageLoader

    templates = Environment(loader=PackageLoader("unknot.report"), autoescape=True)
    return templates.get_template(template).render(**values)


def _sections(content: Content) -> list[dict[str, Any]]:
    """Titles, captions and figures in the order of the page."""
    sections = []
    for picture in content.pictures:
        sections.append(_section(picture.title, picture.caption, picture_figure(picture), picture.wide))
    for name, matrix, classes in content.confusions:
        caption = (
            f"Rows are the true {name}, columns the predicted {name}; shading is the share of a row. On the right: "
            "the recall, the share of a class that is predicted correctly."
        )
        sections.append(_section(f"Confusion: {name}", caption, confusion(matrix, classes, name)))
    sections += [drawn(section) for section in content.sections]
    if content.information:
        names, nats = zip(*content.information, strict=True)
        caption = (
            "Mutual information between the data and each dimension of the Gaussian nodes, I(x; z_d), in nats. "
            f"Gray dimensions (below {UNUSED_BELOW:g}) are unused."
        )
        shown = bars(names, nats, "I(x; z_d) in nats", [value < UNUSED_BELOW for value in nats])
        sections.append(_section("Information per dimension", caption, shown))
    if content.records:
        caption = (
            "Every term of the objective and every diagnostic that changes, averaged between logged steps."
        )
        sections.append(_section("Training", caption, curves(content.records), wide=True))
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
        least = _LEAST * width * 96  # on a narrower screen it is scrolled
        values |= {"image": data_uri(section.figure), "width": int(width * 96), "least": int(least)}
    return values
