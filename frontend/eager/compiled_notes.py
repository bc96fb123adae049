"""Compile what is noted of a function, where numpy would go over much or in many small steps.

Only what has the same bits however it is carried out is compiled: element-wise operations, and
elements that are brought elsewhere or drawn. Where nothing but element-wise operations is done to
operands of one shape and to numbers, one kernel is for all sizes; else it is for the exact ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.ir import SSAValue

from ...ir.build import GraphEmit
from ...ir.families import Elementwise
from ...ir.op import REGISTRY, Array, Op
from ...ir.types.dims import parse
from ...ir.types.dtypes import of_numpy
from ...ir.types.tensor import TensorSpec
from .kernels import SIGNED

STEPS = 24
"""So many operations one after the other cost more than a call of compiled code."""
ELEMENTS = 1 << 18
"""So many elements in between cost more, written and read, than it costs to compile once."""
LONGEST = 1 << 40
"""The most elements that an array may have."""
MOST = 512
"""How many kernels for all sizes are remembered."""
Kernel = Callable[..., Array]
ROWS: dict[object, Kernel] = {}
"""The kernels for all sizes, by what they are for."""


@dataclass(frozen=True)
class NotedCall:
    """One operation on numbered arrays."""

    op: type[Op]
    operands: tuple[int, ...]
    results: tuple[int, ...]
    attributes: tuple[tuple[str, object], ...]

    def is_exact(self, arrays: Sequence[Array]) -> bool:
        """Say whether the results have the same bits however they are computed."""
        op = self.op
        signed = op.name in SIGNED and arrays[self.results[0]].dtype.kind not in "iu"
        moves = op.has("source_index") or op.has("element_at") or op.INDICES == 0
        known = REGISTRY.get(op.name) is op and not signed
        given = [of_numpy(arrays[place].dtype) for place in self.operands]
        return known and (issubclass(op, Elementwise) or moves or (op.PURE and op.is_exact(given)))


@dataclass(frozen=True)
class Noted:
    """What was done to arrays, of which the first are given, and which one came out."""

    calls: tuple[NotedCall, ...]
    arrays: Sequence[Array]
    given: int
    result: int

    def constants(self) -> dict[int, Array]:
        """Return the arrays that are neither given nor made, by their numbers."""
        made = {place for call in self.calls for place in call.results}
        used = {place for call in self.calls for place in call.operands}
        return {i: self.arrays[i] for i in sorted(used - made) if i >= self.given}

    def used(self) -> list[int]:
        """Return the numbers of what is not made."""
        return [*range(self.given), *self.constants()]

    def is_worth_it(self) -> bool:
        """Say whether compiled code is faster by more than it takes to make it."""
        made = sum(self.arrays[i].size for call in self.calls for i in call.results)
        return len(self.calls) >= STEPS or (len(self.calls) > 1 and made >= ELEMENTS)

    def can_be_compiled(self) -> bool:
        """Say whether there is a kernel of the same bits."""
        used = [*self.used(), *[i for call in self.calls for i in call.results]]
        kinds = {(self.arrays[i].dtype.kind, self.arrays[i].dtype.itemsize) for i in used}
        usual = all(kind in "biu" or (kind == "f" and size > 2) for kind, size in kinds)
        filled = all(self.arrays[i].size for i in used)
        return usual and filled and all(call.is_exact(self.arrays) for call in self.calls)

    def in_rows(self) -> bool:
        """Say whether all that is done is element-wise, on arrays of one shape and on numbers."""
        shape = self.arrays[self.result].shape
        fits = all(x.shape == shape or x.size == 1 for x in self.arrays[: self.given])
        alone = all(x.size == 1 for x in self.constants().values())
        return fits and alone and all(issubclass(call.op, Elementwise) for call in self.calls)

    def specs(self, *, rows: bool) -> list[TensorSpec]:
        """Return the types of what is given: in rows, those that have the result's shape."""
        shape = self.arrays[self.result].shape
        found = []
        for x in self.arrays[: self.given]:
            dims = (parse("N"),) if x.shape == shape else ()
            found.append(TensorSpec(of_numpy(x.dtype), dims if rows else x.shape))
        return found

    def row_key(self) -> object:
        """Return what all have in common that one kernel for all sizes is for."""
        numbers = [(i, x.dtype, x.tobytes()) for i, x in self.constants().items()]
        return self.calls, self.result, tuple(self.specs(rows=True)), tuple(numbers)

    def built(self, emit: GraphEmit, *values: SSAValue, rows: bool) -> SSAValue:
        """Carry out all that is noted on the values of what is given."""
        known: dict[int, SSAValue] = dict(enumerate(values))
        for i, x in self.constants().items():
            known[i] = emit(REGISTRY["gv.constant"], value=x.reshape(()) if rows else x)
        for call in self.calls:
            made = emit(call.op, *[known[i] for i in call.operands], **dict(call.attributes))
            known |= zip(call.results, made if isinstance(made, tuple) else (made,), strict=True)
        return known[self.result]


def compiled(noted: Noted) -> Kernel | None:
    """Return compiled code that does what is noted to the arrays given; None: there is none."""
    if not noted.is_worth_it() or not noted.can_be_compiled():
        return None
    from ...codegen import single  # noqa: PLC0415  (only who computes needs it)

    rows = noted.in_rows()
    build = partial(noted.built, rows=rows)
    specs = noted.specs(rows=rows)
    if not rows:
        return single.together(build, specs)
    if (key := noted.row_key()) not in ROWS:
        if len(ROWS) >= MOST:
            ROWS.clear()
        ROWS[key] = single.in_a_row(build, specs, LONGEST)
    return partial(_in_a_row, ROWS[key], noted.arrays[noted.result].shape)


def _in_a_row(kernel: Kernel, shape: Sequence[int], *given: Array) -> Array:
    """Carry out a kernel on all elements in a row, and on numbers."""
    flat = [x.reshape(-1 if x.shape == shape else ()) for x in given]
    return kernel(*flat).reshape(shape)
