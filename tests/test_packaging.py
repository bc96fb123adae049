"""What is in the checkout is in the wheel."""

import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("codegen", "frontend", "ir", "passes", "runtime", "tools")
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text())


def files() -> list[Path]:
    """Return all files of the product, from the root."""
    found = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))]
    return [p.relative_to(ROOT) for p in found if p.is_file() and "__pycache__" not in p.parts]


def test_every_folder_of_code_is_a_package() -> None:
    folders = {path.parent for path in files() if path.suffix == ".py"}
    missing = [str(f) for f in sorted(folders) if not (ROOT / f / "__init__.py").exists()]
    assert not missing, "without __init__.py they are left out of the wheel"


def test_every_other_file_is_package_data() -> None:
    patterns: dict[str, list[str]] = CONFIG["tool"]["setuptools"]["package-data"]
    listed = {
        path.relative_to(ROOT)
        for package, globs in patterns.items()
        if package != "gravure"
        for glob in globs
        for path in ROOT.joinpath(*package.split(".")[1:]).glob(glob)
    }
    other = [str(p) for p in files() if p.suffix not in (".py", ".pyi") and p not in listed]
    assert not other, "name them in [tool.setuptools.package-data]"


def test_folders_are_linked_into_the_package() -> None:
    for folder in FOLDERS:
        link = ROOT / "gravure" / folder
        assert link.is_symlink(), f"gravure/{folder} is not a link"
        assert link.readlink() == Path("..", folder)


KEPT = {
    *(".ci", ".gitignore", "HACKING.md", "LICENSE", "Makefile", "NOTICE", "README.md"),
    *("SECURITY.md", "docs", "gravure", "pyproject.toml", "tests", *FOLDERS),
}


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is no checkout")
def test_nothing_is_kept_in_the_root_that_a_run_or_an_install_left_there() -> None:
    words = ["git", "ls-files", "-z"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert {name.split("/")[0] for name in done.stdout.split("\0") if name} == KEPT
