"""The page's text: whole, closed to the network, and nothing in it from names."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re

from unknot.explorer.content import Block
from unknot.explorer.page import render

HOSTILE = '"></script><script>alert(1)</script><img src=x onerror=alert(1)>'


def page_with(name: str) -> str:
    content = {"graph": None, "sites": [{"name": name}], "columns": [{"name": name}]}
    return render(name, name, content, Block(bytearray(b"numbers")), load=json.dumps(name), data_name=name)


def test_names_stay_text() -> None:
    page = page_with(HOSTILE)
    assert "<script>alert" not in page
    assert "<img" not in page
    text = re.search(r'<script type="application/json" id="content">(.*?)</script>', page, re.S)
    assert text is not None
    assert json.loads(text[1])["sites"][0]["name"] == HOSTILE


def test_only_the_pages_own_script_and_style_may_run() -> None:
    page = page_with("demo")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; ")
    for tag in ("script", "style"):
        text = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.S)[-1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy[1]
    assert not re.search(r"(src|href)=", re.sub(r"<script>.*?</script>", "", page, flags=re.S))


def test_the_block_is_packed() -> None:
    text = re.search(r'id="block">(.*?)</script>', page_with("demo"))
    assert text is not None
    assert gzip.decompress(base64.b64decode(text[1])) == b"numbers"
