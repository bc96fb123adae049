"""Where tensors lie: the names and rules that the `planned` level shares with what reads it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StringAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from .types.attributes import to_python

ALIGNMENT = 64
"""Bytes that every buffer is aligned to: one cache line, one AVX-512 register."""

WEIGHTS = "gv.weights"
"""Module attribute: for each weight its name, offset in the blob, and bytes."""

CONSTANT = "constant."
"""What the names of constants in the blob begin with."""

ROLE = "gv.role"
"""Argument attribute: `input`, `output`, `raw`, `workspace`, `weights` or `host`."""

WORKSPACE = "gv.workspace"
"""Function attribute: bytes of workspace that a run needs at the largest dimensions."""

HOST = "gv.host"
"""Function attribute: bytes of the host's memory that a GPU keeps buffers in meanwhile."""

LOWER_BOUND = "gv.max_live"
"""Function attribute: the largest sum of buffers that live at one time; no plan can be below."""


def align(size: int) -> int:
    """Return the size rounded up to whole cache lines."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def space_type() -> Attribute:
    """Return the type of a stretch of bytes."""
    return MemRefType(IntegerType(8), [DYNAMIC_INDEX], NoneAttr(), NoneAttr())


def weight_rows(module: ModuleOp) -> list[tuple[str, int, int]]:
    """Return name, offset and bytes of each weight in the blob."""
    rows = module.attributes.get(WEIGHTS)
    return list(to_python(rows)) if isinstance(rows, ArrayAttr) else []


def constant_rows(rows: Sequence[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """Return the rows of what is in the blob and no weight."""
    return [row for row in rows if row[0].startswith(CONSTANT) and row[2]]


def roles(function: FuncOp) -> list[str]:
    """Return the role of each argument of a planned function."""
    rows = function.arg_attrs
    assert rows is not None, f"@{function.sym_name.data} has no roles"
    found = [row.data[ROLE] for row in rows.data]
    return [role.data for role in found if isinstance(role, StringAttr)]
