"""How precisely types are said: `Any` is counted, and the counts may only shrink."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("codegen", "frontend", "ir", "passes", "runtime", "tools")

MOST = {"frontend": 2350, "frontend/tf": 1420}
"""How often files below a folder may say `Any`. It only goes down."""


@cache
def files(folder: str) -> dict[str, ast.Module]:
    """Return the trees of all files below a folder."""
    paths = sorted((ROOT / folder).rglob("*.py"))
    return {str(p.relative_to(ROOT)): ast.parse(p.read_text(encoding="utf-8")) for p in paths}


@pytest.mark.parametrize("folder", MOST)
def test_any_is_said_ever_less(folder: str) -> None:
    counts = {
        name: sum(isinstance(node, ast.Name) and node.id == "Any" for node in ast.walk(tree))
        for name, tree in files(folder).items()
    }
    most = sorted(counts.items(), key=lambda pair: -pair[1])[:5]
    assert sum(counts.values()) <= MOST[folder], f"`Any` is said more often than before: {most}"


CHANGED = {"frontend/tf/core/bridge.py"}
"""Files that assign `__class__`. There shall be none."""


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_object_changes_its_class(folder: str) -> None:
    found = {
        name
        for name, tree in files(folder).items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr == "__class__"
        and isinstance(node.ctx, ast.Store)
    }
    assert found <= CHANGED
