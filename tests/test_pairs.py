"""One pass, one file, one text test of the same name."""

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent


def defines_pass(path: Path) -> bool:
    """Tell whether a file has a class that is a pass."""
    return any(
        isinstance(node, ast.ClassDef)
        and any(ast.unparse(base).split(".")[-1] in ("Pass", "ModulePass") for base in node.bases)
        for node in ast.parse(path.read_text()).body
    )


def test_every_pass_has_its_text_test() -> None:
    passes = {path.stem for path in (ROOT / "passes").glob("*.py") if defines_pass(path)}
    tests = {path.stem for path in (ROOT / "tests" / "passes").glob("*.mlir")}
    assert passes - tests == set(), "passes without tests/passes/<name>.mlir"
    assert tests - passes == set(), "text tests without passes/<name>.py"
