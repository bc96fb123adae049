"""Which operations a kernel can read through, without a buffer between.

Code generation answers for these by index (moves) or by expression (element-wise rules), see
`codegen/kernels/builder/read.py`; fusion asks for the same rules.
"""

from __future__ import annotations

from xdsl.ir import Operation

from ....ir import Op, uses_of
from ....ir.scalar_math import ROOTS
from ....ir.types.dims import Dim, product
from ....ir.types.tensor import spec_of
from ..steps import counted
from ..walks import is_move

WORTH_A_KERNEL = 1 << 12
"""Elements from which on it takes longer to compute functions for them than to begin a kernel."""
OFTEN = 4
"""Times that the same is computed."""


def is_cheap(op: Operation) -> bool:
    """Say whether an operation is rather computed again in every kernel than stored."""
    return is_move(op) or (isinstance(op, Op) and op.CHEAP)


def is_indexed(op: Operation) -> bool:
    """Say whether kernels read through an operation at other indices than its own."""
    return is_move(op) or (isinstance(op, Op) and op.has("element_at"))


def is_splat(op: Operation) -> bool:
    """Say whether the operation is a constant with one value for all elements."""
    if op.name != "gv.constant" or not isinstance(op, Op):
        return False
    elements = op.properties["value"].data  # type: ignore[attr-defined]
    return bool(elements.array.size == 1 or elements.is_splat)


def is_elementwise(op: Operation) -> bool:
    """Say whether the operation has a scalar rule."""
    return isinstance(op, Op) and op.has("scalar")


def is_readable(op: Operation) -> bool:
    """Say whether a kernel can read the operation's element in place."""
    if op.name == "gv.constant":
        return is_splat(op)
    return is_elementwise(op) or is_indexed(op)


def is_dear(op: Operation) -> bool:
    """Say whether an operation calls functions: it is rather kept than computed twice."""
    return isinstance(op, Op) and is_elementwise(op) and counted(op).functions > 0


def is_slow(op: Operation) -> bool:
    """Say whether an operation calls functions, takes roots or divides: not so many at a time."""
    if not isinstance(op, Op) or not is_elementwise(op):
        return False
    found = counted(op)
    return found.functions > 0 or not found.counts.keys().isdisjoint({*ROOTS, "div"})


def is_repeated(op: Op) -> bool:
    """Say whether a user reads each row of an operation for many rows of its own.

    What is one for a whole row is computed before the row is walked.
    """
    own = product(op.result_specs[0].dims)
    for use in uses_of(op):
        value, user = op.results[0], use._operation
        while keeps_last(user) and user.results[0].has_one_use():
            value, user = user.results[0], next(iter(uses_of(user)))._operation
        if not isinstance(user, Op) or not is_elementwise(user):
            continue
        row, wide = spec_of(value.type).dims[-1:], user.result_specs[0].dims
        if row not in ((), (1,)) and row == wide[-1:] and is_many(own, product(wide)):
            return True
    return False


def keeps_last(op: Operation) -> bool:
    """Say whether an operation is a move that leaves the last axis as long as it is."""
    if not is_move(op) or not isinstance(op, Op):
        return False
    return op.specs[0].dims[-1:] == op.result_specs[0].dims[-1:]


def is_many(own: Dim, wide: Dim) -> bool:
    """Say whether so many elements are read so often that they are better computed once."""
    if isinstance(own, int) and isinstance(wide, int):
        return wide >= WORTH_A_KERNEL and wide >= OFTEN * own
    return own != wide


def turns(op: Op) -> bool:
    """Say whether an operation moves neighbours apart, and so many that it takes its time."""
    if op.name != "gv.transpose":
        return False
    dims, order = op.specs[0].dims, op.plain_attributes()["order"]
    long = [axis for axis in order if dims[axis] != 1]
    return is_large(op) and bool(long) and long[-1] != max(long)


def is_large(op: Op) -> bool:
    """Say whether a move is of so many elements, or may be, that it is worth a kernel."""
    size = product(op.specs[0].dims)
    return not isinstance(size, int) or size >= WORTH_A_KERNEL


def is_smaller(op: Operation, than: Op) -> bool:
    """Say whether a move leaves elements out."""
    if not is_move(op) or not isinstance(op, Op):
        return False
    made, source = product(op.result_specs[0].dims), product(than.result_specs[0].dims)
    return isinstance(made, int) and isinstance(source, int) and made < source
