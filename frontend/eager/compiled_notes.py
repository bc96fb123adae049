"""Compile what is noted of a function, where numpy would go over much or in many small steps.

Only what has the same bits however it is carried out is compiled: element-wise operations, and
elements that are brought elsewhere or drawn. Where nothing but element-wise operations is done to
operands of one shape and to numbers, one kernel is for all sizes; else it is for the exact ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

from xdsl.ir import SSAValue

from ...ir.build import GraphEmit
from ...ir.families import Elementwise
from ...ir.op import REGISTRY, Array, Op
from ...ir.types.dims import parse
from ...ir.types.dtypes import of_numpy
from ...ir.types.tensor import TensorSpec
from .kernels import SIGNED

STEPS = 24
"""So many operations one after the other cost more than a call of compiled code, ..."""
SOON = 25
"""... which pays from so many calls on: it takes some tenths of a second to make it."""
SOME = 2
"""So many that compute do, where they are carried out often: ..."""
OFTEN = 500
"""... in so many calls."""
ELEMENTS = 1 << 18
"""So many elements, written and read, cost more than it costs to compile once."""
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

    def fits(self, arrays: Sequence[Array]) -> bool:
        """Say whether there is a kernel of the same bits."""
        usual = all(is_usual(arrays[place]) for place in (*self.operands, *self.results))
        return usual and self.op.HOST is None and self.is_exact(arrays)


def is_usual(x: Array) -> bool:
    """Say whether an array has elements, of a type that compiled code computes as numpy does."""
    return x.size > 0 and (x.dtype.kind in "biu" or (x.dtype.kind == "f" and x.dtype.itemsize > 2))


@dataclass(frozen=True, slots=True)
class NotedStep:
    """One function of numbered arrays; a single result is not a sequence."""

    function: Callable[..., object]
    operands: Sequence[int]
    results: Sequence[int]
    call: NotedCall | None = None
    """The operation that it carries out, if it is one."""


@dataclass(frozen=True)
class Noted:
    """What was done to numbered arrays: which are given, and which ones come out."""

    calls: tuple[NotedCall, ...]
    arrays: Sequence[Array]
    given: tuple[int, ...]
    results: tuple[int, ...]

    def constants(self) -> dict[int, Array]:
        """Return the arrays that are neither given nor made, by their numbers."""
        made = {place for call in self.calls for place in call.results}
        used = {place for call in self.calls for place in call.operands}
        return {i: self.arrays[i] for i in sorted(used - made - {*self.given})}

    def used(self) -> list[int]:
        """Return the numbers of what is not made."""
        return [*self.given, *self.constants()]

    def is_worth_it(self, times: int) -> bool:
        """Say whether compiled code is faster by more than it takes to make it.

        `times` is how often all of it was carried out.
        """
        computing = [call for call in self.calls if call.op.moved(len(call.operands)) is None]
        if len(self.calls) >= STEPS and (times >= SOON or self.is_known()):
            return True
        if times >= OFTEN and len(computing) >= SOME:
            return True
        written = [call for call in self.calls if not call.op.IS_VIEW]
        seen = [i for call in computing for i in call.operands]
        seen += [i for call in written for i in call.results]
        return len(written) > 1 and sum(self.arrays[i].size for i in seen) >= ELEMENTS

    def is_known(self) -> bool:
        """Say whether there is a kernel for other sizes that does it."""
        return self.in_rows() and self.row_key() in ROWS

    def can_be_compiled(self) -> bool:
        """Say whether there is a kernel of the same bits."""
        given = [self.arrays[i] for i in self.given]
        return all(map(is_usual, given)) and all(call.fits(self.arrays) for call in self.calls)

    def in_rows(self) -> bool:
        """Say whether all that is done is element-wise, on arrays of one shape and on numbers."""
        first, *others = [self.arrays[i].shape for i in self.results]
        given = [self.arrays[i] for i in self.given]
        fits = all(x.shape == first or x.size == 1 for x in given) and {*others} <= {first}
        alone = all(x.size == 1 for x in self.constants().values())
        return fits and alone and all(issubclass(call.op, Elementwise) for call in self.calls)

    def specs(self, *, rows: bool) -> list[TensorSpec]:
        """Return the types of what is given: in rows, those that have the result's shape."""
        shape = self.arrays[self.results[0]].shape
        found = []
        for x in [self.arrays[i] for i in self.given]:
            dims = (parse("N"),) if x.shape == shape else ()
            found.append(TensorSpec(of_numpy(x.dtype), dims if rows else x.shape))
        return found

    def row_key(self) -> object:
        """Return what all have in common that one kernel for all sizes is for."""
        numbers = [(i, x.dtype, x.tobytes()) for i, x in self.constants().items()]
        return self.calls, self.given, self.results, tuple(self.specs(rows=True)), tuple(numbers)

    def built(self, emit: GraphEmit, *values: SSAValue, rows: bool) -> Sequence[SSAValue]:
        """Carry out all that is noted on the values of what is given."""
        known: dict[int, SSAValue] = dict(zip(self.given, values, strict=True))
        for i, x in self.constants().items():
            known[i] = emit(REGISTRY["gv.constant"], value=x.reshape(()) if rows else x)
        for call in self.calls:
            made = emit(call.op, *[known[i] for i in call.operands], **dict(call.attributes))
            known |= zip(call.results, made if isinstance(made, tuple) else (made,), strict=True)
        return [known[i] for i in self.results]


def compiled(noted: Noted, times: int = 1) -> Kernel | None:
    """Return compiled code that does what is noted to the arrays given; None: there is none.

    `times` is how often it was done.
    """
    if not noted.is_worth_it(times) or not noted.can_be_compiled():
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
        ROWS[key] = single.of_any_length(build, specs)
    shape = noted.arrays[noted.results[0]].shape
    if len(noted.results) == 1:
        return partial(_in_a_row, ROWS[key], shape)
    return cast("Kernel", partial(_in_rows, ROWS[key], shape))


def _in_a_row(kernel: Kernel, shape: Sequence[int], *given: Array) -> Array:
    """Carry out a kernel on all elements in a row, and on numbers."""
    flat = [x.reshape(-1 if x.shape == shape else ()) for x in given]
    return kernel(*flat).reshape(shape)


def _in_rows(kernel: Kernel, shape: Sequence[int], *given: Array) -> Sequence[Array]:
    """Carry out a kernel that has several results."""
    flat = [x.reshape(-1 if x.shape == shape else ()) for x in given]
    return [x.reshape(shape) for x in kernel(*flat)]


def in_parts(
    steps: Sequence[NotedStep], arrays: Sequence[Array], given: int, wanted: set[int],
    times: int = 1,
) -> list[NotedStep]:  # fmt: skip
    """Return steps that do the same, of which each does as much as one kernel can.

    The first arrays are `given`; `wanted` are the numbers of those that are needed in the end;
    `times` is how often the steps were carried out.
    """
    known = {*range(given)}.union(*[step.results for step in steps])
    found: list[NotedStep] = []
    groups = _grouped(steps, arrays)
    for group in groups:
        others = [step for each in groups if each is not group for step in each]
        kept = wanted.union(*[step.operands for step in others])
        noted = _together(group, arrays, known, kept)
        kernel = compiled(noted, times) if len(group) > 1 and noted.results else None
        if kernel is None:
            found += group
        else:
            found.append(NotedStep(without_gaps(kernel), noted.given, noted.results))
    return found


def _grouped(steps: Sequence[NotedStep], arrays: Sequence[Array]) -> list[list[NotedStep]]:
    """Return the steps in an order in which those that one kernel can do are together."""
    groups: list[list[NotedStep]] = []
    together: list[NotedStep] = []
    behind: list[NotedStep] = []
    for step in steps:
        waits = _needs(step, behind)
        if step.call is not None and step.call.fits(arrays):
            if waits:
                groups += [together, *[[each] for each in behind]]
                together, behind = [], []
            together.append(step)
        elif waits or _needs(step, together):
            behind.append(step)
        else:
            groups.append([step])
    return [*groups, together, *[[each] for each in behind]]


def _needs(step: NotedStep, others: Sequence[NotedStep]) -> bool:
    """Say whether a step takes what one of the others makes."""
    return any(not {*step.operands}.isdisjoint(each.results) for each in others)


def _together(
    steps: Sequence[NotedStep], arrays: Sequence[Array], known: set[int], kept: set[int]
) -> Noted:
    """Return what steps do all in all, of which some results are kept.

    The arrays that are not `known` are constants.
    """
    made = [place for step in steps for place in step.results]
    used = {place for step in steps for place in step.operands}
    given = tuple(sorted((used & known).difference(made)))
    calls = tuple(step.call for step in steps if step.call is not None)
    return Noted(calls, arrays, given, tuple(place for place in made if place in kept))


def without_gaps(kernel: Kernel) -> Kernel:
    """Return a kernel that is given arrays in any order of their elements."""
    return lambda *given: kernel(*[x if x.flags.c_contiguous else x.copy() for x in given])
