"""The explorer in a real browser: the system's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
AXE = Path(os.environ.get("AXE_CORE", "node_modules/axe-core/axe.min.js"))
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here: apt-get install chromium to test the page in a browser"
)
needs_axe = pytest.mark.skipif(
    not AXE.exists(), reason=f"no {AXE}: npm install axe-core, or name axe.min.js in AXE_CORE"
)


@contextmanager
def opened(page: Path, width: int = 1400, scheme: str = "light", bypass_csp: bool = False) -> Iterator[Any]:
    """Open a page from disk; after the block it must have made no request and no error."""
    from playwright.sync_api import sync_playwright

    requests: list[str] = []
    errors: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=bypass_csp
        )
        tab = context.new_page()
        tab.on("request", lambda request: requests.append(request.url))
        tab.on(
            "console", lambda line: errors.append(line.text) if line.type in ("error", "warning") else None
        )
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.goto(page.as_uri())
        tab.wait_for_selector("body[data-ready]", timeout=60_000)
        yield tab
        browser.close()
    assert requests == [page.as_uri()]
    assert errors == []
