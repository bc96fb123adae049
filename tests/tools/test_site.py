"""The site of the guides: every page and every public name is in it, and Sphinx builds it."""

from __future__ import annotations

import html
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import gravure as gv
from gravure.errors import GravureError
from gravure.tools.site.build import NEEDED, ROOT, build, gather
from gravure.tools.site.reference import entry, markdown, pages

MISSING = [name for name in NEEDED if find_spec(name) is None]


def test_every_public_name_is_in_the_reference() -> None:
    text = "\n".join(pages().values())
    found = re.findall(r"^## `gravure\.(\w+)`$", text, re.MULTILINE)
    assert sorted(found) == sorted(name for name in gv.__all__ if not name.startswith("__"))
    assert not re.search(r" at 0x[0-9a-f]+", text)


def test_an_entry_has_signature_text_and_examples() -> None:
    text = entry("gravure.quantize", gv.quantize)
    assert "    percentile: float = 100.0," in text
    assert "- `percentile`: of the numbers of each sample" in text
    assert "```pycon\n>>> import gravure as gv\n" in text
    assert "## `gravure.Options`" in entry("gravure.Options", gv.Options)


def test_examples_of_docstrings_become_blocks() -> None:
    text = markdown("One.\n\n>>> 1\n1\n\nTwo.\n\n>>> 2\n2\n>>> 3\n3")
    assert text.count("```pycon") == 2
    assert text.endswith(">>> 2\n2\n>>> 3\n3\n```")


def test_every_guide_is_a_page_of_the_site(tmp_path: Path) -> None:
    names = gather(ROOT, tmp_path / "source")
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} <= {*names}
    assert names[0] == "start"
    assert {path.stem for path in (tmp_path / "source").glob("*.md")} == {*names, "index"}
    first = (tmp_path / "source" / "index.md").read_text()
    assert all(re.search(rf"^{name}$", first, re.MULTILINE) for name in names)


@pytest.mark.slow
@pytest.mark.skipif(bool(MISSING), reason=f"not installed (extra docs): {', '.join(MISSING)}")
def test_sphinx_builds_it_without_a_warning(tmp_path: Path) -> None:
    first = build(tmp_path)
    assert "Sixty seconds" in first.read_text()
    page = (tmp_path / "html" / "reference-what-the-command-does-as-functions.html").read_text()
    assert "gravure.quantize" in html.unescape(re.sub(r"<[^>]+>", "", page))
    assert (tmp_path / "html" / "errors.html").exists()


@pytest.mark.skipif(not MISSING, reason="Sphinx is installed")
def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(GravureError, match=f"{MISSING[0]}.*not installed"):
        build(tmp_path)
