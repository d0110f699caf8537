"""The page in Chromium: the pixels of Python's decoder, the keyboard, names for screen readers, no network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from tests.explorer.browser import AXE, needs_axe, needs_chromium, opened
from tests.explorer.models import digits, items, wine
from unknot import StructuredVAE
from unknot.workflow.prediction import predict

pytestmark = [pytest.mark.slow, needs_chromium]
HOSTILE = '"></script><script>document.title="broken"</script><img src=x onerror=alert(1)>'


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "explorer.html"
    digits().export(path, items("digits", 40).numpy(), digit=np.arange(40) % 10)
    return path


def pixels(tab: Any, name: str) -> np.ndarray:
    """The gray values of a canvas, from 0 to 255."""
    read = """name => { const c = document.getElementById(name);
        return Array.from(c.getContext('2d').getImageData(0, 0, c.width, c.height).data); }"""
    return np.array(tab.evaluate(read, name)).reshape(8, 8, 4)[..., 0]


def setting(tab: Any) -> dict[str, torch.Tensor]:
    text = tab.evaluate("JSON.stringify(S.values, (k, v) => v.buffer ? Array.from(v) : v)")
    return {name: torch.tensor([values]) for name, values in json.loads(text).items()}


def as_drawn(x: torch.Tensor, ink: bool) -> np.ndarray:
    return np.asarray(255 * ((1 - x) if ink else x).reshape(8, 8))


def test_pixels_are_those_of_pythons_decoder(page: Path) -> None:
    model = digits().trained_
    with opened(page) as tab:
        ink = tab.evaluate("M.content.ink")
        x = items("digits", 40)[:1]
        expected = predict(model.program, x).values
        for name, values in setting(tab).items():
            np.testing.assert_allclose(values, expected[name], atol=1e-4)
        np.testing.assert_allclose(pixels(tab, "item"), as_drawn(x[0], ink), atol=1)
        slider = tab.locator("#site-1 input[type=range]").first
        slider.focus()
        for _ in range(5):
            slider.press("ArrowRight")
        tab.locator("#site-0 button.class").nth(3).click()
        tab.wait_for_function("S.values.digit[3] === 1")
        tab.wait_for_timeout(100)
        values = setting(tab)
        assert (values["style"] - expected["style"]).abs().max() > 1e-3
        np.testing.assert_allclose(pixels(tab, "after"), as_drawn(model.generate(1, values)[0], ink), atol=1)
        tab.keyboard.press("Control+z")
        tab.wait_for_timeout(100)
        assert setting(tab)["digit"].argmax() == expected["digit"][0].argmax()
        np.testing.assert_allclose(
            pixels(tab, "after"), as_drawn(model.generate(1, setting(tab))[0], ink), atol=1
        )


def test_the_python_call_gives_the_same_picture(page: Path) -> None:
    vae, x = digits(), items("digits", 40).numpy()
    with opened(page) as tab:
        tab.locator("#tray button").nth(2).click()
        tab.locator("#site-0 button.class").nth(7).click()
        tab.wait_for_timeout(100)
        call, shown = tab.locator("#python").text_content(), pixels(tab, "after")
        ink = tab.evaluate("M.content.ink")
        assert call == "vae.vary(x[2:3], digit=[7])"
        made = eval(call, {"vae": vae, "x": x})
        np.testing.assert_allclose(shown, as_drawn(torch.as_tensor(made), ink), atol=1)
        tab.locator("#site-1 input[type=range]").first.press("ArrowLeft")
        tab.wait_for_timeout(100)
        call, shown = tab.locator("#python").text_content(), pixels(tab, "after")
        assert call.startswith('vae.sample(1, {"digit": 7, "style": [')
        made = eval(call, {"vae": vae})
        np.testing.assert_allclose(shown, as_drawn(torch.as_tensor(made), ink), atol=1)


def test_every_view_and_tool_works(page: Path) -> None:
    with opened(page, width=420) as tab:
        assert tab.evaluate("document.documentElement.scrollWidth") <= 420
        for view, inside in (("mix", "#mix-pictures figure"), ("samples", "#samples button"),
                             ("map", "#map-legend span"), ("graph", "#graph-picture g[role=button]"),
                             ("analogies", "#analogies button")):  # fmt: skip
            tab.locator(f"#tab-{view}").click()
            assert tab.locator(f"#view-{view} {inside.split(' ', 1)[1]}").count() > 0, view
        tab.locator("#analogies button").nth(5).click()
        tab.locator("#undo").click()
        tab.locator("#draw").click()
        canvas = tab.locator("#item")
        for _ in range(3):
            canvas.press("Shift+ArrowDown")
        assert tab.evaluate("S.x.reduce((a, b) => a + b, 0)") > 1
        assert "Your item" in tab.locator("#recognized").text_content()
        assert tab.evaluate("Math.abs(S.predicted.predictions.digit.reduce((a, b) => a + b) - 1)") < 1e-5


def test_the_keyboard_reaches_everything(page: Path) -> None:
    with opened(page) as tab:
        tab.locator("body").press("Control+z")
        tab.wait_for_selector("button.cell[aria-label*=' as ']")  # analogies come after the first picture
        tab.wait_for_timeout(1000)
        wanted = tab.evaluate(
            """() => { window.reached = new Set();
            document.addEventListener('focusin', (event) => window.reached.add(event.target));
            return [...document.querySelectorAll('button, input, select, summary, [tabindex="0"]')]
              .filter((one) => one.offsetParent && !one.disabled && one.tabIndex >= 0).length; }"""
        )
        for _ in range(wanted + 5):
            tab.keyboard.press("Tab")
        assert tab.evaluate(
            """[...document.querySelectorAll('button, input, select, summary, [tabindex="0"]')]
            .filter((one) => one.offsetParent && !one.disabled && one.tabIndex >= 0 && !window.reached.has(one))
            .map((one) => one.outerHTML.slice(0, 80))"""
        ) == []  # fmt: skip


@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_screen_readers_find_names(page: Path, scheme: str) -> None:
    with opened(page, scheme=scheme, bypass_csp=True) as tab:
        tab.evaluate(AXE.read_text())
        for view in ("analogies", "mix", "samples", "map", "graph"):
            tab.evaluate("view => showView(view)", view)
            found = tab.evaluate("axe.run()")["violations"]
            assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []


def test_a_row_of_a_table_is_edited(tmp_path: Path) -> None:
    vae, path = wine(), tmp_path / "wine.html"
    vae.export(path)
    model = vae.trained_
    with opened(path, width=420) as tab:
        field = tab.get_by_label("alcohol", exact=True)
        field.fill("14.5")
        field.press("Enter")
        tab.get_by_label("strength", exact=True).select_option("")
        x = torch.tensor([[np.nan if v is None else v for v in tab.evaluate(
            "Array.from(S.x, (v) => Number.isNaN(v) ? null : v)")]])  # fmt: skip
        assert x[0, 0] == 14.5
        assert torch.isnan(x[0, 3])
        expected = predict(model.program, x)
        for name, values in setting(tab).items():
            np.testing.assert_allclose(values, expected.values[name], atol=1e-4)
        shown = tab.evaluate("Array.from(S.predicted.predictions.cultivar)")
        np.testing.assert_allclose([shown], expected.predictions["cultivar"], atol=1e-4)
        cells = tab.locator("#row tbody tr").first.locator("td").all_text_contents()
        made = model.generate(1, expected.values)[0, 0]
        np.testing.assert_allclose(float(cells[1]), float(made), rtol=1e-3)


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    x = np.random.default_rng(0).random((60, 3))
    frame = pd.DataFrame(x, columns=[HOSTILE, "b", "c"])
    labels = np.where(x[:, 0] > 0.5, HOSTILE, "other")
    vae = StructuredVAE("class_style", style=2, steps=3, cross_fit=0, verbose=False, verdict=False)
    vae.fit(frame, **{HOSTILE: labels})
    path = tmp_path / "explorer.html"
    vae.export(path, frame)
    with opened(path) as tab:
        assert "broken" not in tab.title()
        assert tab.locator("img").count() == 0
        assert tab.locator("script").count() == 3
        assert HOSTILE in tab.locator("#site-0 legend").text_content()
