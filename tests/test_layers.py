"""Imports go down: between our folders, and to the heavy packages."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gravure as gv

ROOT = Path(__file__).parent.parent
MAY_IMPORT: dict[str, set[str]] = {
    "ir": set(),
    "runtime": set(),
    "passes": {"ir"},
    "codegen": {"ir", "passes", "runtime"},
    "frontend": {"ir", "passes", "codegen", "runtime"},
    "tools": {"ir", "passes", "codegen", "runtime", "frontend"},
}
EVERYWHERE = {"errors", "target", "__version__"}
COMPILER = ("ir/", "passes/", "codegen/", "frontend/", "tools/")
# Package from outside -> the only places that import it ("" is everywhere).
OUTSIDE: dict[str, tuple[str, ...]] = {
    "argcomplete": ("tools/",),
    "google": ("frontend/onnx/",),  # protobuf, which comes with onnx
    "lark": ("frontend/text/",),
    "llvmlite": ("codegen/llvm/",),
    "matplotlib": ("tools/",),
    "ml_dtypes": ("",),
    "mpi4py": ("runtime/comm.py",),
    "mpmath": ("tools/",),
    "numpy": ("",),
    "onnx": ("frontend/onnx/",),
    "pycuda": ("runtime/cuda.py",),
    "rich": ("tools/",),
    "safetensors": ("",),
    "torch": ("tools/torch_models.py",),
    "xdsl": COMPILER,
}
FILES = [path for folder in MAY_IMPORT for path in sorted((ROOT / folder).rglob("*.py"))]


def imported(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Give line and absolute dotted name, in parts, of each thing a file imports."""
    package = ["gravure", *path.relative_to(ROOT).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name.split(".")
        elif isinstance(node, ast.ImportFrom):
            assert node.level <= len(package), f"line {node.lineno}: reaches out of gravure"
            base = package[: len(package) - node.level + 1] if node.level else []
            base = base + (node.module.split(".") if node.module else [])
            for alias in node.names:
                yield node.lineno, [*base, alias.name]


def absolute(path: Path) -> Iterator[int]:
    """Give the lines that import gravure by its name instead of by dots."""
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        if {name.split(".")[0] for name in names} & {*MAY_IMPORT, "gravure", "tests"}:
            yield node.lineno


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down(path: Path) -> None:
    place = path.relative_to(ROOT).as_posix()
    folder = place.split("/")[0]
    allowed = {*MAY_IMPORT[folder], folder, *EVERYWHERE}
    for line, (top, *rest) in imported(path):
        if top == "gravure":
            assert rest[0] in allowed, f"line {line}: {folder} may not import {rest[0]}"
        elif top not in sys.stdlib_module_names:
            assert top in OUTSIDE, f"line {line}: {top} is not a dependency"
            assert place.startswith(OUTSIDE[top]), f"line {line}: {top} has no business in {place}"
    assert not [*absolute(path)], f"lines {[*absolute(path)]}: import our folders by dots"


@pytest.mark.parametrize(
    ("statement", "kept_out"),
    [
        ("import gravure", {"numpy", "xdsl", "llvmlite", "onnx"}),
        ("import gravure.runtime", {"xdsl", "llvmlite", "onnx", "lark"}),
        ("import gravure.ir, gravure.passes", {"llvmlite", "onnx", "lark"}),
    ],
)
def test_import_is_light(statement: str, kept_out: set[str]) -> None:
    code = f"{statement}; import sys; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert not kept_out & set(out.stdout.decode().split())


def test_what_is_in_the_cache_starts_without_the_compiler(tmp_path: Path) -> None:
    model = ROOT / "tests/models/mlp.onnx"
    code = f"""if True:
        import sys, gravure
        made = gravure.compile({str(model)!r})
        made.save({str(tmp_path / "m.so")!r}) if sys.argv[1:] else None
        print(*sys.modules)
    """
    environment = {**os.environ, "GRAVURE_CACHE": str(tmp_path / "cache")}
    found = []
    for more in (["save"], []):
        command = [sys.executable, "-c", code, *more]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
        found.append({"xdsl", "llvmlite.binding", "onnx"} & set(done.stdout.decode().split()))
    assert found == [{"xdsl", "llvmlite.binding", "onnx"}, set()]
    code = f"import sys, gravure; gravure.load({str(tmp_path / 'm.so')!r}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert not {"xdsl", "llvmlite.binding", "onnx"} & set(done.stdout.decode().split())


def test_public_names_are_listed_once() -> None:
    assert gv.__all__ == sorted(["__version__", *gv.PUBLIC])
    for name in gv.__all__:
        assert hasattr(gv, name)


def test_unknown_public_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = gv.no_such_name
