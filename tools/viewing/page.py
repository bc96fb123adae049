"""One file that shows a model: data, script and style inside, nothing fetched from anywhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
"""What the browser is told that the page may load: nothing."""


def page(title: str, data: Mapping[str, Any], script: str) -> str:
    """Return the text of a page; `script` names a file beside this one, which finds the data."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    safe = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>\n<style>{asset('view.css')}</style></head>\n<body>"
        f'<script type="application/json" id="data">{safe}</script>\n'
        f"<script>{asset('common.js')}\n{asset(script)}</script></body></html>\n"
    )


def asset(name: str) -> str:
    """Return the text of a file beside this one."""
    return (files(__package__) / name).read_text(encoding="utf-8")
