"""Compile what is noted of a function, where numpy would go over much or in many small steps.

Only what has the same bits however it is carried out is compiled: element-wise operations, elements
that are brought elsewhere or drawn, and what compiled code puts together at once too, along rows.
Where nothing but element-wise operations is done to operands of one shape and to numbers, or all
elements are put together, one kernel is for all sizes; else it is for the exact ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import TypeAlias, cast

import numpy as np
from xdsl.ir import SSAValue

from ...ir.build import GraphEmit
from ...ir.families import Elementwise
from ...ir.op import REGISTRY, Array, Op
from ...ir.ops.elementwise import Add, Neg, Sub
from ...ir.ops.gradient import Same
from ...ir.ops.reduce import Reduction, is_along_rows, leaves_few
from ...ir.types.dims import parse
from ...ir.types.dtypes import bf16, f16, of_numpy
from ...ir.types.shapes import normalize_axes
from ...ir.types.tensor import TensorSpec
from .kernels import MANY, SIGNED, is_narrow
from .long_rows import is_usual

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
    copies: bool = False
    """Whether numpy copies what a view would do for, if the elements lay otherwise."""

    def what(self) -> object:
        """Return what tells it from what gives other elements; None where that has no hash.

        Whether axes that were put together are kept is no matter of elements.
        """
        attributes = dict(self.attributes)
        if issubclass(self.op, Reduction):
            attributes.pop("keepdims", None)
        key = (self.op, self.operands, *attributes.items())
        try:
            hash(key)
        except TypeError:  # an attribute that has no hash
            return None
        return key if self.op.PURE and self.operands else None

    def is_exact(self, arrays: Sequence[Array]) -> bool:
        """Say whether the results have the same bits however they are computed."""
        op = self.op
        signed = op.name in SIGNED and arrays[self.results[0]].dtype.kind not in "iu"
        moves = op.has("source_index") or op.has("element_at") or op.INDICES == 0
        known = REGISTRY.get(op.name) is op and not signed
        given = [of_numpy(arrays[place].dtype) for place in self.operands]
        alike = issubclass(op, Elementwise) or moves or (op.PURE and op.is_exact(given))
        return known and (alike or self.is_along_rows(arrays))

    def is_along_rows(self, arrays: Sequence[Array]) -> bool:
        """Say whether so many elements are put together that compiled code does it at once.

        Along rows, it does so in the same order whatever their sizes, and what they come from;
        where a last axis of few elements is left, it is for these sizes at once too.
        """
        if not issubclass(self.op, Reduction) or not self.is_large(arrays):
            return False
        x, attributes = arrays[self.operands[0]], dict(self.attributes)
        spec = TensorSpec(of_numpy(x.dtype), x.shape)
        return is_along_rows(spec, attributes) or leaves_few(spec, attributes)

    def is_large(self, arrays: Sequence[Array]) -> bool:
        """Say whether there is much to do."""
        return arrays[self.operands[0]].size >= MANY

    def is_moved(self) -> bool:
        """Say whether elements are only brought elsewhere."""
        return self.op.moved(len(self.operands)) is not None

    def axes(self, arrays: Sequence[Array]) -> Sequence[int]:
        """Return the axes along which elements are put together, none where they are not."""
        axes = dict(self.attributes).get("axes")
        if not issubclass(self.op, Reduction) or not isinstance(axes, tuple):
            return ()
        return sorted(normalize_axes(axes, arrays[self.operands[0]].ndim))

    def fits(self, arrays: Sequence[Array]) -> bool:
        """Say whether there is a kernel of the same bits."""
        seen = [arrays[place] for place in (*self.operands, *self.results)]
        if self.is_moved():
            seen = [stood_for(x, STAND_INS) for x in seen]
        elif issubclass(self.op, Elementwise) and self.op.has("scalar"):
            seen = [x for x in seen if not is_narrow(x) or not x.size]  # (rounded between)
        return all(map(is_usual, seen)) and self.op.HOST is None and self.is_exact(arrays)


BY_PARTS: frozenset[type[Op]] = frozenset({Add, Neg, Sub})
"""What is done to a complex number by doing it to both of its parts."""
StandIns: TypeAlias = Mapping[np.dtype[np.generic], np.dtype[np.generic]]
STAND_INS: StandIns = {
    np.dtype(np.complex64): np.dtype(np.int64),
    f16.numpy: np.dtype(np.int16),
    bf16.numpy: np.dtype(np.int16),
}
"""What stands for elements of a type that compiled code does not compute as numpy does, or not
everything of it: they are brought elsewhere as numbers of as many bits."""


def stood_for(x: Array, stand_ins: StandIns) -> Array:
    """Return the elements of an array as what stands for them where they are only moved."""
    kind = stand_ins.get(x.dtype)
    return x if kind is None else x.view(kind)


@dataclass(frozen=True, slots=True)
class NotedStep:
    """One function of numbered arrays; a single result is not a sequence."""

    function: Callable[..., object]
    operands: Sequence[int]
    results: Sequence[int]
    call: NotedCall | None = None
    """The operation that it carries out, if it is one."""


def reshaping(source: int, result: int, shape: tuple[int, ...]) -> NotedStep:
    """Return the step that gives the elements of a numbered array another shape."""
    call = NotedCall(REGISTRY["gv.reshape"], (source,), (result,), (("shape", shape),))
    return NotedStep(lambda x: x.reshape(shape), (source,), (result,), call)


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
        computing = [call for call in self.calls if not call.is_moved()]
        if len(self.calls) >= STEPS and (times >= SOON or self.is_known()):
            return True
        if times >= OFTEN and len(computing) >= SOME:
            return True
        written = [call for call in self.calls if not call.op.IS_VIEW or call.copies]
        if any(call.copies and call.is_large(self.arrays) for call in written):
            return len(self.calls) > 1  # numpy goes through rows, however short they have become
        seen = [i for call in computing for i in call.operands]
        seen += [i for call in written for i in call.results]
        return len(written) > 1 and sum(self.arrays[i].size for i in seen) >= ELEMENTS

    def is_known(self) -> bool:
        """Say whether there is a kernel for other sizes that does it."""
        return self.in_rows() and self.row_key() in ROWS

    def can_be_compiled(self) -> bool:
        """Say whether there is a kernel of the same bits."""
        given = [stood_for(self.arrays[i], STAND_INS) for i in self.given]
        return all(map(is_usual, given)) and all(call.fits(self.arrays) for call in self.calls)

    def stand_ins(self) -> StandIns:
        """Return what stands for the elements of types that nothing is computed of."""
        computing = [call for call in self.calls if not call.is_moved()]
        places = {i for call in computing for i in (*call.operands, *call.results)}
        computed = {self.arrays[i].dtype for i in places}
        return {kind: other for kind, other in STAND_INS.items() if kind not in computed}

    def part_by_part(self) -> Noted | None:
        """Return what is done to both parts of complex numbers; None: it is not the same."""
        places = {i for call in self.calls for i in (*call.operands, *call.results)}
        seen = [self.arrays[i] for i in sorted(places)]
        alike = {(x.dtype, x.shape) for x in seen}
        apart = all(call.op in BY_PARTS for call in self.calls) and not self.constants()
        if not apart or len(alike) != 1 or seen[0].dtype.kind != "c" or not seen[0].ndim:
            return None
        shape = (*seen[0].shape[:-1], 2 * seen[0].shape[-1])
        one = np.broadcast_to(np.zeros((), seen[0].real.dtype), shape)
        return replace(self, arrays=[one] * len(self.arrays))

    def in_rows(self) -> bool:
        """Say whether all that is done is element-wise, on arrays of one shape and on numbers.

        All elements of such arrays may be put together: that is a number.
        """
        shape = self.shape()
        folds = [call for call in self.calls if issubclass(call.op, Reduction)]
        others = [call for call in self.calls if call not in folds]
        whole = all(
            self.arrays[call.operands[0]].shape == shape
            and len(call.axes(self.arrays)) == len(shape)
            and call.is_large(self.arrays)
            for call in folds
        )
        seen = [*self.given, *[place for call in self.calls for place in call.results]]
        fits = all(x.shape == shape or x.size == 1 for x in [self.arrays[i] for i in seen])
        alone = all(x.size == 1 for x in self.constants().values())
        same = folds or {self.arrays[i].shape for i in self.results} == {shape}
        elements = all(issubclass(call.op, Elementwise | Same) for call in others)
        return bool(fits and alone and whole and same and elements)

    def shape(self) -> tuple[int, ...]:
        """Return the shape of the arrays that are no numbers."""
        folds = [call.operands[0] for call in self.calls if issubclass(call.op, Reduction)]
        first = self.arrays[[*folds, *self.results][0]]
        return tuple(first.shape)

    def specs(self, *, rows: bool) -> list[TensorSpec]:
        """Return the types of what is given: in rows, those that have the arrays' shape."""
        shape = self.shape()
        found = []
        for x in [self.arrays[i] for i in self.given]:
            dims = (parse("N"),) if x.shape == shape else ()
            found.append(TensorSpec(of_numpy(x.dtype), dims if rows else x.shape))
        return found

    def most(self) -> int:
        """Return how many elements a row may have: as many as there are, rounded up, for sums."""
        folds = any(issubclass(call.op, Reduction) for call in self.calls)
        return 1 << (prod(self.shape()) - 1).bit_length() if folds else 0

    def row_key(self) -> object:
        """Return what all have in common that one kernel for all sizes is for."""
        numbers = [(i, x.dtype, x.tobytes()) for i, x in self.constants().items()]
        specs = tuple(self.specs(rows=True))
        calls = [  # (all elements are put together, along however many axes)
            replace(call, attributes=()) if issubclass(call.op, Reduction) else call
            for call in self.calls
        ]
        return tuple(calls), self.given, self.results, specs, tuple(numbers), self.most()

    def built(self, emit: GraphEmit, *values: SSAValue, rows: bool) -> Sequence[SSAValue]:
        """Carry out all that is noted on the values of what is given."""
        known: dict[int, SSAValue] = dict(zip(self.given, values, strict=True))
        for i, x in self.constants().items():
            known[i] = emit(REGISTRY["gv.constant"], value=x.reshape(()) if rows else x)
        for call in self.calls:
            attributes = dict(call.attributes)
            if rows and issubclass(call.op, Reduction):
                attributes |= {"axes": (0,), "keepdims": False}
            made = emit(call.op, *[known[i] for i in call.operands], **attributes)
            known |= zip(call.results, made if isinstance(made, tuple) else (made,), strict=True)
        return [known[i] for i in self.results]


def compiled(noted: Noted, times: int = 1) -> Kernel | None:
    """Return compiled code that does what is noted to the arrays given; None: there is none.

    `times` is how often it was done.
    """
    if (parts := noted.part_by_part()) is not None:
        kinds = [noted.arrays[i].dtype for i in noted.results]
        kernel = compiled(parts, times)
        return None if kernel is None else cast("Kernel", partial(_of_parts, kernel, kinds))
    if not noted.is_worth_it(times) or not noted.can_be_compiled():
        return None
    types = [noted.arrays[i].dtype for i in noted.results]
    used = [call.operands + call.results for call in noted.calls]
    stand_ins = noted.stand_ins()
    if any(noted.arrays[i].dtype in stand_ins for places in used for i in places):
        moved = replace(noted, arrays=[stood_for(x, stand_ins) for x in noted.arrays])
        return cast("Kernel", partial(_moved, _kernel(moved), types, stand_ins))
    return _kernel(noted)


def _moved(
    kernel: Kernel,
    types: Sequence[np.dtype[np.generic]],
    stand_ins: StandIns,
    *given: Array,
) -> Array | Sequence[Array]:
    """Carry out a kernel on what stands for elements, and return these."""
    made = kernel(*[stood_for(x, stand_ins) for x in given])
    if len(types) == 1:
        return made.view(types[0])
    return [x.view(kind) for x, kind in zip(made, types, strict=True)]


def _of_parts(
    kernel: Kernel, types: Sequence[np.dtype[np.generic]], *given: Array
) -> Array | Sequence[Array]:
    """Carry a kernel out on the parts of complex numbers, which lie side by side."""
    made = kernel(*[np.ascontiguousarray(x).view(x.real.dtype) for x in given])
    if len(types) == 1:
        return made.view(types[0])
    return [x.view(kind) for x, kind in zip(made, types, strict=True)]


def _kernel(noted: Noted) -> Kernel:
    """Return compiled code that does what is noted."""
    from ...codegen import single  # noqa: PLC0415  (only who computes needs it)

    rows = noted.in_rows()
    build = partial(noted.built, rows=rows)
    specs = noted.specs(rows=rows)
    if not rows:
        return single.together(build, specs)
    if (key := noted.row_key()) not in ROWS:
        if len(ROWS) >= MOST:
            ROWS.clear()
        most = noted.most()
        ranges = {"N": (1, most)}
        ROWS[key] = (
            single.of_sizes(build, specs, ranges) if most else single.of_any_length(build, specs)
        )
    shapes = [noted.arrays[place].shape for place in noted.results]
    if len(shapes) == 1:
        return partial(_in_a_row, ROWS[key], noted.shape(), shapes[0])
    return cast("Kernel", partial(_in_rows, ROWS[key], noted.shape(), shapes))


def _in_a_row(kernel: Kernel, shape: Sequence[int], result: Sequence[int], *given: Array) -> Array:
    """Carry out a kernel on all elements in a row, and on numbers."""
    flat = [x.reshape(-1 if x.shape == shape else ()) for x in given]
    return np.asarray(kernel(*flat)).reshape(result)


def _in_rows(
    kernel: Kernel, shape: Sequence[int], results: Sequence[Sequence[int]], *given: Array
) -> Sequence[Array]:
    """Carry out a kernel that has several results."""
    flat = [x.reshape(-1 if x.shape == shape else ()) for x in given]
    made = zip(kernel(*flat), results, strict=True)
    return [np.asarray(x).reshape(own) for x, own in made]


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
