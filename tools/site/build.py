"""Put the guides and the reference together for Sphinx, and let it build the site.

build(Path("site"))              # site/index.html, and a page for each guide
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from ..errors import NotInstalledError
from .reference import pages

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("sphinx", "myst_parser", "furo")
CONFIGURATION = """
project = "gravure"
extensions = ["myst_parser"]
html_theme = "furo"
myst_heading_anchors = 4
suppress_warnings = ["myst.xref_missing", "misc.highlighting_failure"]
"""
"""Links out of the guides lead into the code, which is no part of the site."""


def build(folder: Path) -> Path:
    """Write the site into a folder; return its first page.

    Raises `NotInstalledError` without Sphinx, and what Sphinx says is wrong as a
    `subprocess.CalledProcessError`: a warning is an error.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise NotInstalledError(
            f"{', '.join(missing)}: not installed", hint="pip install 'gravure[docs]'"
        )
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    gather(ROOT, source)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going"]
    subprocess.run([*command, str(source), str(folder / "html")], check=True)
    return folder / "html" / "index.html"


def gather(root: Path, source: Path) -> list[str]:
    """Write all pages into a folder; return their names in the order of the site."""
    source.mkdir(parents=True)
    readme = (root / "README.md").read_text()
    guides = readme.partition("## Guides")[2]
    order = list(dict.fromkeys(re.findall(r"\(docs/([\w-]+)\.md\)", guides)))
    for path in sorted((root / "docs").glob("*.md")):
        (source / path.name).write_text(path.read_text())
        if path.stem not in order:
            order.append(path.stem)
    reference = pages()
    for name, text in reference.items():
        (source / f"{name}.md").write_text(text)
    (source / "conf.py").write_text(CONFIGURATION)
    (source / "index.md").write_text(index(readme, order, list(reference)))
    return [*order, *reference]


def index(readme: str, guides: list[str], reference: list[str]) -> str:
    """Return the first page: what it is and sixty seconds of it, as in the README, and the rest."""
    head = readme.partition("\n## Three commands")[0]
    parts = [head.strip()]
    for caption, names in (("Guides", guides), ("Reference", reference)):
        body = "\n".join(names)
        parts.append(f"```{{toctree}}\n:caption: {caption}\n:maxdepth: 1\n\n{body}\n```")
    return "\n\n".join(parts) + "\n"
