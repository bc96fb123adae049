"""The examples in docstrings give what they say."""

import doctest
import importlib
from pathlib import Path

import pytest

import gravure

ROOT = Path(gravure.__file__).parent
pytestmark = pytest.mark.paying  # they say what compiling costs where nobody looks on
FOLDERS = {"ir", "passes", "codegen", "runtime", "frontend", "tools"}


def modules_with_examples() -> list[str]:
    found = []
    for path in sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*.py")):
        if "\n    >>> " in path.read_text("utf-8"):
            parts = path.relative_to(ROOT.parent).with_suffix("").parts
            found.append(".".join(parts).removesuffix(".__init__"))
    return found


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_give_what_they_say(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some write files
    module = importlib.import_module(name)
    # What examples define is a user's, and none of gravure's own functions.
    names = {**vars(module), "__name__": "example"}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    tests = doctest.DocTestFinder().find(module, name, globs=names)
    for test in tests:
        assert runner.run(test).failed == 0
