"""Numbers in words."""

from __future__ import annotations

from unknot.report.section import Section, Table, three_digits


def test_numbers_have_three_digits_and_no_exponent_where_people_write_none() -> None:
    assert [three_digits(v) for v in (999.4, 999.6, 2008.0, -12345.6, 0.5, 0.0)] == [
        "999",
        "1000",
        "2008",
        "-12,346",
        "0.5",
        "0",
    ]


def test_a_section_has_a_figure_or_a_table() -> None:
    section = Section("Title", "How to read it.", table=Table(("a",), (("1",),)))
    assert section.figure is None
    assert not section.wide
