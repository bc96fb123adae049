"""Imports go down: between our folders, and to the heavy packages."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

import gravure as gv

from .sources import called, nodes

ROOT = Path(__file__).parent.parent
MAY_IMPORT: dict[str, set[str]] = {
    "ir": set(),
    "runtime": set(),
    "passes": {"ir"},
    "codegen": {"ir", "passes", "runtime"},
    "frontend": {"ir", "passes", "codegen", "runtime"},
    "tools": {"ir", "passes", "codegen", "runtime", "frontend"},
}
EVERYWHERE = {
    *("budget", "capabilities", "collection", "counting", "errors", "extensions", "forks"),
    *("interrupts", "knobs", "lazy", "plugins", "requirements", "target", "trees"),
    "__version__",
}
COMPILER = ("ir/", "passes/", "codegen/", "frontend/", "tools/")
# Package from outside -> the only places that import it ("" is everywhere).
OUTSIDE: dict[str, tuple[str, ...]] = {
    "absl": ("frontend/tf/program/",),
    "argcomplete": ("tools/",),
    "google": ("frontend/formats/", "frontend/onnx/", "frontend/programs/onnx_cases.py"),
    "google_crc32c": ("frontend/formats/",),
    "keras": ("frontend/keras/",),
    "lark": ("frontend/text/",),
    "llvmlite": ("codegen/llvm/",),
    "matplotlib": ("tools/",),
    "ml_dtypes": ("",),
    "mpi4py": ("runtime/comm/mpi.py", "runtime/comm/shared.py"),
    "mpmath": ("tools/",),
    "numpy": ("",),
    "onnx": ("frontend/onnx/", "frontend/programs/onnx_", "tools/fuzz/making/"),
    "pycuda": ("runtime/gpu/cuda.py",),
    "rich": ("tools/",),
    "safetensors": ("",),
    "torch": ("tools/torch_models.py",),
    "xdsl": COMPILER,
}
FILES = [path for folder in MAY_IMPORT for path in sorted((ROOT / folder).rglob("*.py"))]


Name = tuple[int, list[str]]
"""A line, and the parts of the absolute name of what it imports."""


@dataclass
class Looked:
    """What one file imports, and which classes it makes."""

    imports: list[Name] = field(default_factory=list)
    by_string: list[Name] = field(default_factory=list)
    by_name: list[int] = field(default_factory=list)
    """The lines that import gravure by its name instead of by dots."""
    hides: bool = False
    """Whether it imports what cannot be seen in the text."""
    classes: list[tuple[int, str]] = field(default_factory=list)


@cache
def looked(path: Path) -> Looked:
    """Return what a file imports and makes."""
    package, found = ["gravure", *path.relative_to(ROOT).parts[:-1]], Looked()
    for node in nodes(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.imports += [(node.lineno, alias.name.split(".")) for alias in node.names]
            found.by_name += [node.lineno for alias in node.names if is_ours(alias.name)]
        elif isinstance(node, ast.ImportFrom):
            assert node.level <= len(package), f"line {node.lineno}: reaches out of gravure"
            base = package[: len(package) - node.level + 1] if node.level else []
            base = base + (node.module.split(".") if node.module else [])
            found.imports += [(node.lineno, [*base, alias.name]) for alias in node.names]
            found.by_name += [node.lineno] if not node.level and is_ours(node.module or "") else []
        elif isinstance(node, ast.Call) and called(node).endswith("_module"):
            found.by_string += strings(node, package)
            seen = node.args and isinstance(node.args[0], ast.Constant)
            found.hides |= called(node).endswith("import_module") and not seen
        elif isinstance(node, ast.ClassDef):
            found.classes.append((node.lineno, node.name))
    return found


def is_ours(name: str) -> bool:
    """Say whether a name is of our folders, or of the package."""
    return name.split(".", maxsplit=1)[0] in {*MAY_IMPORT, "gravure", "tests"}


def strings(call: ast.Call, package: Sequence[str]) -> Iterator[Name]:
    """Give the modules of ours that a call names in strings, as that of `import_module`."""
    for given in call.args:
        text = given.value if isinstance(given, ast.Constant) else None
        found = re.fullmatch(r"(\.+)([a-z_]+(?:\.[a-z_]+)*)", str(text))
        if found:
            level = len(found[1])
            yield call.lineno, [*package[: len(package) - level + 1], *found[2].split(".")]


def module_of(path: Path) -> str:
    """Return the dotted name of a file's module below gravure."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path) for path in FILES}


@cache
def arrows() -> dict[str, set[str]]:
    """Return which of our modules each one imports: at once, lazily, for types, and by string."""
    found: dict[str, set[str]] = {}
    for path in FILES:
        here = module_of(path)
        for _, (top, *rest) in [*looked(path).imports, *looked(path).by_string]:
            if top != "gravure":
                continue
            ends = (".".join(rest[:end]) for end in range(len(rest), 0, -1))
            target = next((name for name in ends if name in MODULES), None)
            if target is not None and target != here:
                found.setdefault(here, set()).add(target)
    return found


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the circles of a graph: modules of which each leads to all others (Tarjan, 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            circle = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(circle) > 1:
                found.append(sorted(circle))

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10 * len(MODULES))
    for node in sorted(graph):
        if node not in index:
            visit(node)
    sys.setrecursionlimit(limit)
    return sorted(found)


FLOORS: dict[str, tuple[str, ...]] = {
    "frontend": (
        "dims", "files formats values", "eager", "array", "models", "onnx text", "graph",
        "function autograph", "distributed", "programs data", "tf", "keras",
    ),
    "frontend/tf": (
        "core", "ops runs", "special", "graph", "variables", "train",
        "arrays image layers program", "rnn",
        "io linalg lookup nondense ragged text draws summary",
        "data distributions extension metrics",
        "distribute monitored",
        "names",
    ),
    "ir": (
        "types dialects",
        "facts iteration placement program reading samples scalar_math",
        "narrow op", "build demands families interpret levels",
        "compose gradient host verify windows", "ops", "text whole",
    ),
    "codegen": (
        "aot cache children kernels prepare required scratch work", "describe digests", "keys",
        "llvm", "limits objects ptx", "compiled", "backends export profile store",
        "compile report state", "serial single stages",
    ),
    "codegen/llvm": (
        "text cpu shared uninterrupted", "math", "emit entry limits compile ptx", "listing serial",
    ),
    "passes": ("base", "analysis", "*"),
    "runtime": (
        "deadline elf expression files", "artifact", "buffer container queues traces tracing",
        "arguments compare executable library measure ptx_emulator comm", "direct gpu pool values",
        "devices model", "profile",
    ),
    "tools": (
        "errors given launching machine talk tensorflow_names torch_models", "console inputs",
        "accuracy bench_gpu failures fuzz measuring viewing", "options", "watch",
        "onnx_tests", "verbs comparing", "checking", "surgery completion", "commands site",
        "cli operator_table tensorflow_table tune_gpu",
    ),
}  # fmt: skip
"""The rooms and the single files of a wing from the bottom up: imports go sideways and down. A star
is all that is not named."""


def test_no_file_imports_itself_through_others() -> None:
    assert not circles(arrows())


@pytest.mark.parametrize("wing", FLOORS)
def test_floors(wing: str) -> None:
    prefix = wing.replace("/", ".") + "."
    floor = {room: n for n, rooms in enumerate(FLOORS[wing]) for room in rooms.split()}

    def height(module: str) -> int:
        room = module.removeprefix(prefix).split(".")[0]
        return floor[room if room in floor else "*"]

    every = ((source, target) for source, found in arrows().items() for target in found)
    inside = [pair for pair in every if all(module.startswith(prefix) for module in pair)]
    assert inside
    assert not [(source, target) for source, target in inside if height(target) > height(source)]


def test_every_room_of_a_wing_has_a_floor() -> None:
    for wing, floors in FLOORS.items():
        rooms = {
            path.stem
            for path in (ROOT / wing).iterdir()
            if (path / "__init__.py").exists() or (path.suffix == ".py" and path.stem[0] != "_")
        }
        named = {room for rooms in floors for room in rooms.split()}
        assert named - {"*"} <= rooms, wing
        assert "*" in named or rooms == named, wing


FIND_BY_NAME = {
    "codegen/kernels/__init__.py", "frontend/data/placed.py", "frontend/keras/as_tensorflow.py",
    "frontend/keras/hook.py",
    "frontend/onnx/export/rules.py", "frontend/onnx/registry.py", "ir/ops/__init__.py",
    "passes/manager.py", "tools/cli.py",
}  # fmt: skip
"""Files that import what lies in a folder of theirs, by a name that only the run knows."""


def test_what_is_imported_by_string_can_be_seen() -> None:
    hidden = [path.relative_to(ROOT).as_posix() for path in FILES if looked(path).hides]
    programs = (
        "beside_tensorflow", "eager_operations", "onnx_operators", "session_steps",
        "whole_programs",
    )  # fmt: skip
    beside = {f"tools/measuring/{name}.py" for name in programs}
    assert {*hidden} - beside == FIND_BY_NAME


MOST_OF_A_NAME = 2


def test_few_classes_have_the_same_name() -> None:
    places: dict[str, list[str]] = {}
    for path in FILES:
        for line, name in looked(path).classes:
            places.setdefault(name, []).append(f"{path.relative_to(ROOT)}:{line}")
    assert not {name: found for name, found in places.items() if len(found) > MOST_OF_A_NAME}


FOUND_BY_NAME = ("ir/ops", "passes", "frontend/onnx/rules", "codegen/kernels", "tools/commands")
"""Folders of things that are found by their name: operations, passes, rules, templates, verbs."""
MOST_FILES = 20


def test_folders_are_small() -> None:
    folders: dict[str, int] = {}
    for path in FILES:
        folder = path.parent.relative_to(ROOT).as_posix()
        if path.name != "__init__.py" and folder not in FOUND_BY_NAME:
            folders[folder] = folders.get(folder, 0) + 1
    assert not {folder: n for folder, n in folders.items() if n > MOST_FILES}


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_imports_go_down(folder: str) -> None:
    allowed = {*MAY_IMPORT[folder], folder, *EVERYWHERE}
    wrong: list[str] = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        for line, (top, *rest) in looked(path).imports:
            if top == "gravure":
                if rest[0] not in allowed:
                    wrong.append(f"{place}:{line}: {folder} may not import {rest[0]}")
            elif top not in sys.stdlib_module_names:
                if top not in OUTSIDE:
                    wrong.append(f"{place}:{line}: {top} is not a dependency")
                elif not place.startswith(OUTSIDE[top]):
                    wrong.append(f"{place}:{line}: {top} has no business here")
        wrong += [f"{place}:{line}: import our folders by dots" for line in looked(path).by_name]
    assert not wrong


@pytest.mark.parametrize("frozen", [False, True])
def test_what_is_imported_is_not_looked_through(frozen: bool) -> None:
    """Nor is what a program has put aside by `gc.freeze` taken back."""
    code = f"""if True:
        import gc
        if {frozen}:
            gc.freeze()
        looked = []
        gc.callbacks.append(lambda *_: looked.append(len(gc.get_objects(generation=0))))
        import gravure.tf
        gc.callbacks.clear()
        print(max(looked, default=0) < 50_000, gc.get_freeze_count() > 0)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{not frozen} {frozen}\n"


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
