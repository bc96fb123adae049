"""Single operations on arrays as compiled code computes them.

    near(Exp, f32, {})(x)
    whole(Softmax, [f32[1000, 30]], {"axis": 1})(x)

Each is a program of one operation on axes of any length, compiled when it is first called, and
kept in the cache. So an element-wise function has the same value, to the last bit, wherever it is
computed: at once, in a program, in a library. Neither LLVM nor the passes are imported for what is
in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from math import prod
from typing import Any, ClassVar, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from ..ir.build import GraphEmit, take_apart
from ..ir.families import Elementwise
from ..ir.op import Array, Op
from ..ir.ops.reduce import leaves_few
from ..ir.program import Program, finish, new_function, set_level, set_ranges
from ..ir.text import print_module
from ..ir.types.dims import Dim, Range, parse
from ..ir.types.dtypes import DType, bf16, of_numpy
from ..ir.types.shapes import few_axes
from ..ir.types.tensor import TensorSpec
from ..runtime.model import Model
from .compiled import Compiled, Options, target_of
from .store import find, keep, program_key

Kernel = Callable[..., Array]
Build = Callable[..., Any]

LONGEST = 1 << 40
"""The most elements that an array may have."""
LEAST = 16
"""The smallest bound of a size."""


def near(op: type[Elementwise], dtype: DType, attributes: Mapping[str, Any]) -> Kernel:
    """Return an element-wise operation as a function of arrays of one type that broadcast.

    It raises a `ValueError` where their shapes do not.
    """
    made: list[Kernel] = []
    given = tuple(attributes.items())
    spread = Broadcasting(op, attributes)

    def call(*arrays: Array) -> Array:
        """Carry the operation out on all elements in a row."""
        if not made:
            made.append(_compiled(op, dtype, given))
        shape = arrays[0].shape
        for x in arrays[1:]:
            if x.shape != shape:
                shape = np.broadcast_shapes(*[x.shape for x in arrays])
                if (found := spread(shape, arrays)) is not None:
                    return found
                arrays = tuple([np.broadcast_to(x, shape) for x in arrays])
                break
        if 0 in shape:
            return np.empty(shape, dtype.numpy)
        result: Array = made[0](*[x.ravel() for x in arrays])
        return result if len(shape) == 1 else result.reshape(shape)

    return call


class Broadcasting:
    """Computes an element-wise operation on arrays that broadcast, without copies of their size.

    That is a kernel for each way to broadcast, of a few axes: it pays where there are many
    elements, and from some calls on.
    """

    MANY: ClassVar[int] = 1 << 14
    """The fewest elements."""
    WORTH: ClassVar[int] = 1 << 22
    """So many elements in all calls are worth a kernel."""
    DEEPEST: ClassVar[int] = 4
    """The most axes of which some broadcast and some do not, in turns."""

    def __init__(self, op: type[Elementwise], attributes: Mapping[str, Any]) -> None:
        self.op, self.attributes = op, dict(attributes)
        self.seen = 0
        self.known: dict[tuple[object, ...], tuple[Kernel, Sequence[tuple[int, ...]]] | None] = {}

    def __call__(self, shape: tuple[int, ...], arrays: Sequence[Array]) -> Array | None:
        """Return the result, which has a shape; None: it is to be computed in another way."""
        size = prod(shape)
        if size < self.MANY:
            return None
        if self.seen < self.WORTH:
            self.seen += size
            return None
        if not all(x.flags.c_contiguous for x in arrays):
            return None
        key = tuple([(x.dtype, x.shape) for x in arrays])
        if key not in self.known:
            if len(self.known) >= 512:
                self.known.clear()
            self.known[key] = self.made(shape, arrays)
        found = self.known[key]
        if found is None:
            return None
        kernel, shapes = found
        flat = [x.reshape(few) for x, few in zip(arrays, shapes, strict=True)]
        result: Array = kernel(*flat).reshape(shape)
        return result

    def made(
        self, shape: tuple[int, ...], arrays: Sequence[Array]
    ) -> tuple[Kernel, Sequence[tuple[int, ...]]] | None:
        """Return a kernel and the shapes that it takes."""
        shapes = few_axes(shape, [x.shape for x in arrays])
        if len(shapes[0]) > self.DEEPEST:
            return None
        specs = [TensorSpec(of_numpy(x.dtype), few) for x, few in zip(arrays, shapes, strict=True)]
        return whole(self.op, specs, self.attributes), shapes


@lru_cache(maxsize=512)
def _compiled(op: type[Elementwise], dtype: DType, attributes: Sequence[tuple[str, Any]]) -> Kernel:
    """Return the function of arrays with one axis."""
    spec = TensorSpec(dtype, (parse("N"),))
    count = len(op.signature().operands)
    build = partial(_applied, op, dict(attributes))
    return _made(_program(build, [spec] * count, {"N": (1, LONGEST)}), "elementwise")


def in_a_row(build: Build, specs: Sequence[TensorSpec], longest: int) -> Kernel:
    """Return what is built of values as a function of arrays, where `N` is a size up to `longest`.

    `build` is given an `emit` and the values.
    """
    return _made(_program(build, specs, {"N": (1, longest)}), "row")


def of_sizes(build: Build, specs: Sequence[TensorSpec], ranges: Mapping[str, Range]) -> Kernel:
    """Return what is built of values as a function of arrays whose sizes are in these ranges."""
    return _made(_program(build, specs, ranges), "single")


def of_any_length(build: Build, specs: Sequence[TensorSpec]) -> Kernel:
    """Return what is built of rows of any length, and of numbers, as a function of such arrays.

    Where something lies between two kernels, they are gone through in parts, and that is small.
    """
    found = _found(_program(build, specs, {"N": (1, LONGEST)}), "row")
    return in_parts(build, specs) if found.description.workspace else _loaded(found)


def in_parts(build: Build, specs: Sequence[TensorSpec], most: int = 1 << 15) -> Kernel:
    """Return what is built of rows of any length, and of numbers, as a function of such arrays.

    They are gone through in parts of at most so many elements, which stay in a processor's cache.
    """
    kernel = in_a_row(build, specs, most)
    rows = [bool(spec.dims) for spec in specs]
    first = rows.index(True)

    def call(*arrays: Array) -> Array | list[Array]:
        """Carry it out part by part."""
        count = len(arrays[first])
        if 0 < count <= most:
            return kernel(*arrays)
        if not count:  # (the kernel has rows of one element at least)
            ones = [np.ones(1, x.dtype) if cut else x for x, cut in zip(arrays, rows, strict=True)]
            made = kernel(*ones)
            return made[:0] if isinstance(made, np.ndarray) else [x[:0] for x in made]
        parts = [
            kernel(*[x[i : i + most] if cut else x for x, cut in zip(arrays, rows, strict=True)])
            for i in range(0, count, most)
        ]
        if isinstance(parts[0], np.ndarray):
            return np.concatenate(parts)
        return [np.concatenate(results) for results in zip(*parts, strict=True)]

    return cast("Kernel", call)


def together(build: Build, specs: Sequence[TensorSpec]) -> Kernel:
    """Return what is built of values as a function of arrays of exactly these types and shapes.

    Where several values are built, it returns as many arrays.
    """
    return _made(_program(build, specs, {}), "together")


def whole(op: type[Op], specs: Sequence[TensorSpec], attributes: Mapping[str, Any]) -> Kernel:
    """Return an operation with one result as a function of arrays of these types and shapes.

    It is the same function for all shapes that only differ in their sizes, unless it is to be for
    exact ones or its rule needs numbers; it is for arrays without gaps that have elements. Channels
    that are last keep their number: how vectors lie in an image depends on it.
    """
    given = tuple(attributes.items())
    in_pairs = op.WIDENS and specs[0].dtype == bf16  # which are laid out for sizes that are known
    is_sized = op.COMPILED_FIXED or op.COMPILED_SIZED or leaves_few(specs[0], attributes)
    if is_sized or in_pairs:
        return _whole(op, tuple(specs), given, ())
    opened, ranges = _opened(specs, 1 if attributes.get("channels_last") else 0)
    try:
        op.inferred(opened, dict(attributes))
    except TypeError:  # its rule compares sizes that have different names here
        return _whole(op, tuple(specs), given, ())
    return _whole(op, opened, given, ranges)


@lru_cache(maxsize=512)
def _whole(
    op: type[Op],
    specs: tuple[TensorSpec, ...],
    attributes: Sequence[tuple[str, Any]],
    ranges: tuple[tuple[str, Range], ...],
) -> Kernel:
    return _made(_program(partial(_applied, op, dict(attributes)), specs, dict(ranges)), "single")


def _applied(op: type[Op], attributes: dict[str, Any], emit: GraphEmit, *values: Any) -> Any:
    return emit(op, *values, **attributes)


def _opened(
    specs: Sequence[TensorSpec], kept: int = 0
) -> tuple[tuple[TensorSpec, ...], tuple[tuple[str, Range], ...]]:
    """Return shapes with a name for each size but 1, and the range of each.

    Equal sizes that broadcast have one name. Each is at most the next power of two: the room for
    what lies between is made for the largest. So many of the last axes stay as they are `kept`.
    """
    names: dict[tuple[int, Dim], Dim] = {}
    for spec in specs:
        for place in enumerate(reversed(spec.dims)):
            if place[1] != 1 and place[0] >= kept:
                names.setdefault(place, parse(f"N{len(names)}"))
    made = []
    for spec in specs:
        dims = [names.get(place, place[1]) for place in enumerate(reversed(spec.dims))]
        made.append(replace(spec, shape=tuple(reversed(dims))))
    ranges = [(str(name), (1, bound(dim))) for (_, dim), name in names.items()]
    return tuple(made), tuple(ranges)


def bound(size: Dim) -> int:
    """Return the next power of two."""
    if not isinstance(size, int):
        raise TypeError(f"an array has sizes that are numbers, not {size}")
    return max(LEAST, 1 << (size - 1).bit_length())


def _made(program: Program, kind: str) -> Kernel:
    """Return the function of arrays that a program is, compiled or out of the cache."""
    return _loaded(_found(program, kind))


def _found(program: Program, kind: str) -> Compiled:
    """Return what a program is compiled to, or was; its memory goes."""
    options = Options(numerics="exact", slots=1, jobs=1)  # (with the tag of all: one support)
    target = target_of(options)
    key = program_key(f"{kind}\n{print_module(program.module)}", options, target)
    found = find(key, options, target, [])
    if found is None:
        found = _lowered(program, options)
        keep(key, found, [])
    take_apart(program.module.regions)  # it is compiled once: its memory goes
    return found


def _loaded(found: Compiled) -> Kernel:
    """Return the function of arrays that compiled code is."""
    weights = found.blob if found.description.weights else None
    kernel: Kernel = Model.load(found.code(), weights=weights).call
    return kernel


def _lowered(program: Program, options: Options) -> Compiled:
    from .compile import compile_program  # noqa: PLC0415  (LLVM, not for what is in the cache)

    return compile_program(program, options)


def _program(build: Build, specs: Sequence[TensorSpec], ranges: Mapping[str, Range]) -> Program:
    """Return the program of what is built."""
    main = new_function("main", [(f"x{i}", spec) for i, spec in enumerate(specs)])
    block = main.body.block
    made = build(GraphEmit.at_end(block), *block.args)
    results = list(made) if isinstance(made, list | tuple) else [made]
    finish(main, results, ["y"] if len(results) == 1 else [f"y{i}" for i in range(len(results))])
    module = ModuleOp([main])
    set_level(module, "graph")
    set_ranges(module, ranges)
    return Program(module, {})
