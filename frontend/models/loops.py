"""Host steps that go step by step: compiled loops in place of numpy's calls, with the same bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from ...ir import Array
from ...ir.host import HostOp
from ...ir.ops.selecting import NonMaxSuppression
from ..values.boxes import standing_out

Compute: TypeAlias = Callable[..., Sequence[Array]]

LOOPS: Mapping[type[HostOp], Compute] = {NonMaxSuppression: standing_out}
"""What gives the results of an operation, in a loop."""


def computing(op: HostOp) -> Compute:
    """Return what gives the results of operands: a loop where there is one, else `evaluate`."""
    loop, attributes = LOOPS.get(type(op)), op.plain_attributes()
    return op.ready(**attributes) if loop is None else partial(loop, **attributes)


def is_loop(op: HostOp) -> bool:
    """Say whether an operation is a loop, of which numpy never warns."""
    return type(op) in LOOPS
