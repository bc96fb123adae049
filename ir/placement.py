"""Where tensors lie: the names and rules that the `planned` level shares with what reads it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import repeat
from typing import NamedTuple

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
from xdsl.ir import Attribute, BlockArgument

from .program import NAME
from .types.attributes import to_attribute, to_python

ALIGNMENT = 64
"""Bytes that every buffer is aligned to: one cache line, one AVX-512 register."""

WEIGHTS = "gv.weights"
"""Module attribute: for each weight its name, offset in the blob, and bytes.

Weights of layers at equal distances are one row: their names as JSON, the offset of the first, the
bytes of each, and the distance.
"""

CONSTANT = "constant."
"""What the names of constants in the blob begin with."""

ROLE = "gv.role"
"""Argument attribute: `input`, `output`, `raw`, `workspace`, `weights` or `host`."""

FOLLOWERS = "gv.followers"
"""Argument attribute: the names of all weights that a `raw` argument stands for, as JSON.

They are given one behind the other; `gv.following` is one of them.
"""

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


def weights_row(names: Sequence[str], offset: int, size: int, distance: int) -> Attribute:
    """Return the row of weights that lie at equal distances."""
    return to_attribute((json.dumps(names), offset, size, distance))


class PlacedWeights(NamedTuple):
    """Weights in the blob: that of each layer, or one alone."""

    names: Sequence[str]
    offset: int
    """Where the first lies."""
    size: int
    """The bytes of each."""
    distance: int = 0
    """The bytes from one to the next."""

    @property
    def are_constants(self) -> bool:
        """Say whether these are in the blob and no weights."""
        return self.names[0].startswith(CONSTANT) and self.size > 0


def placed_weights(module: ModuleOp) -> list[PlacedWeights]:
    """Return where the weights lie in the blob."""
    rows = module.attributes.get(WEIGHTS)
    return [
        PlacedWeights(json.loads(name), offset, size, *distance)
        if distance
        else PlacedWeights([name], offset, size)
        for name, offset, size, *distance in (
            to_python(rows) if isinstance(rows, ArrayAttr) else ()
        )
    ]


def weight_rows(module: ModuleOp) -> list[tuple[str, int, int]]:
    """Return name, offset and bytes of each weight in the blob."""
    found: list[tuple[str, int, int]] = []
    for names, offset, size, distance in placed_weights(module):
        if len(names) == 1:
            found.append((names[0], offset, size))
        else:
            places = range(offset, offset + len(names) * distance, distance)
            found += zip(names, places, repeat(size), strict=False)
    return found


def raw_names(function: FuncOp) -> list[tuple[BlockArgument, list[str]]]:
    """Return the `raw` arguments of a planned function, and the weights that each stands for."""
    rows = function.arg_attrs
    assert rows is not None, f"@{function.sym_name.data} has no roles"
    found: list[tuple[BlockArgument, list[str]]] = []
    for value, row in zip(function.body.block.args, rows.data, strict=True):
        if row.data[ROLE] == StringAttr("raw"):
            every = row.data.get(FOLLOWERS)
            name = row.data[NAME]
            assert isinstance(name, StringAttr), "what is given has a name"
            names = json.loads(every.data) if isinstance(every, StringAttr) else [name.data]
            found.append((value, names))
    return found


def roles(function: FuncOp) -> list[str]:
    """Return the role of each argument of a planned function."""
    rows = function.arg_attrs
    assert rows is not None, f"@{function.sym_name.data} has no roles"
    found = [row.data[ROLE] for row in rows.data]
    return [role.data for role in found if isinstance(role, StringAttr)]
