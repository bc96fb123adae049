"""How precisely types are said: `Any` is counted, and the counts may only shrink."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from .sources import nodes

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("codegen", "frontend", "ir", "passes", "runtime", "tools")

MOST = {"frontend": 690, "frontend/tf": 385}
"""How often files below a folder may say `Any`. It only goes down."""


@dataclass
class Found:
    """What one file says, where that is looked at."""

    any: int = 0
    changes_class: bool = False
    has_getattr: bool = False
    broad: list[int] = field(default_factory=list)
    """The lines that catch any error and go on."""


def found_in(path: Path) -> Found:
    """Return what a file says."""
    found = Found()
    for node in nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Name):
            found.any += node.id == "Any"
            found.has_getattr |= node.id == "__getattr__"
        elif isinstance(node, ast.Attribute):
            stored = isinstance(node.ctx, ast.Store)
            found.changes_class |= stored and node.attr == "__class__"
        elif isinstance(node, ast.FunctionDef):
            found.has_getattr |= node.name == "__getattr__"
        elif isinstance(node, ast.ExceptHandler) and caught(node) & BROAD:
            found.broad += [] if isinstance(node.body[-1], ast.Raise) else [node.lineno]
    return found


@cache
def files(folder: str) -> dict[str, Found]:
    """Return what each file below a folder says."""
    return {str(p.relative_to(ROOT)): found_in(p) for p in sorted((ROOT / folder).rglob("*.py"))}


@pytest.mark.parametrize("folder", MOST)
def test_any_is_said_ever_less(folder: str) -> None:
    every = files(folder.split("/", maxsplit=1)[0])
    counts = {name: each.any for name, each in every.items() if name.startswith(f"{folder}/")}
    most = sorted(counts.items(), key=lambda pair: -pair[1])[:5]
    assert sum(counts.values()) <= MOST[folder], f"`Any` is said more often than before: {most}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_object_changes_its_class(folder: str) -> None:
    assert not [name for name, each in files(folder).items() if each.changes_class]


GETATTR = {
    "frontend/tf/__init__.py",
    "frontend/tf/core/space.py",
    "frontend/tf/program/flags.py",
}
"""Files with `__getattr__`: they refuse names of TensorFlow's that are not here, and say why; flags
are read when the first is asked for."""


@pytest.mark.parametrize("folder", FOLDERS)
def test_attributes_are_declared(folder: str) -> None:
    assert {name for name, each in files(folder).items() if each.has_getattr} <= GETATTR


BROAD = {"Exception", "BaseException"}
KEPT = {
    "frontend/distributed/tasks.py": "sent to the task that asked",
    "frontend/data/ahead.py": "kept for whoever takes the element",
    "frontend/function/custom_gradient.py": "kept for whoever asks for the gradient",
    "frontend/models/later.py": "kept for whoever waits for the result",
    "frontend/tf/distribute/lockstep.py": "kept for whoever started the replicas",
    "frontend/tf/train/coordinator.py": "kept for whoever joins the threads",
    "frontend/tf/program/testing.py": "kept for the test that joins the thread",
    "codegen/llvm/uninterrupted.py": "kept for the thread that waits",
    "runtime/comm/local.py": "kept for whoever started the ranks, which are told",
    "runtime/comm/rank.py": "printed, and the world is ended by it",
    "passes/manager.py": "raised with the reproducer",
    "frontend/programs/reduce.py": "the error is what is looked for",
    "tools/bench_gpu.py": "the error is a row of the table",
    "tools/failures.py": "the error becomes the exit status",
    "tools/fuzz/workers.py": "the error is what is looked for",
    "tools/measuring/peer_process.py": "the error is what is said of another runtime",
    "tools/verbs/doctor.py": "the error is what is to be found out",
}
"""Files that catch any error, and what becomes of it."""


def caught(handler: ast.ExceptHandler) -> set[str]:
    """Return the names of the classes that a handler catches."""
    if handler.type is None:
        return {"BaseException"}
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {node.id for node in kinds if isinstance(node, ast.Name)}


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_error_of_ours_is_taken_for_something_else(folder: str) -> None:
    found = {
        f"{name}:{line}"
        for name, each in files(folder).items()
        for line in each.broad
        if name not in KEPT
    }
    assert not found, f"these catch any error, and go on: {sorted(found)}"
