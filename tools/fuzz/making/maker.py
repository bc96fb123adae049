"""A graph under construction, in several worlds at once.

A dimension is the tuple of its sizes in all worlds. Whether a node fits is asked of the standard's
own inference of shapes, in each world.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper, shape_inference

from ....ir import Array

OPSET = 22
Dim = tuple[int, ...]
"""The size of a dimension in each world."""
T = TypeVar("T")

DIGITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}
"""Bits of the fraction."""
MOST = {"float64": 1e12, "float32": 1e12, "float16": 3e4, "bfloat16": 1e12}
"""What elements stay below."""
FLOATS = tuple(DIGITS)
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED


def numpy_type(dtype: str) -> np.dtype[Any]:
    """Return the type of numpy's of this name."""
    return np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)


def onnx_type(dtype: str) -> int:
    """Return the number of a type in ONNX."""
    return int(helper.np_dtype_to_tensor_dtype(numpy_type(dtype)))


class UnfitError(Exception):
    """A node that does not fit: it is taken back, and another is tried."""


@dataclass(frozen=True)
class Value:
    """A value of the graph, and what is known of its elements."""

    name: str
    dtype: str
    shape: tuple[Dim, ...]
    most: float = 1.0
    """No element is further from zero."""
    step: float = 0.0
    """All elements are multiples of this power of two; 0 if that is not known."""
    noise: float = 0.0
    """How far elements may be from those of another right way to compute them."""
    single: bool = True
    """Whether it is made by moves and by operations on single elements alone."""

    @property
    def rank(self) -> int:
        """Return the number of dimensions."""
        return len(self.shape)

    @property
    def is_float(self) -> bool:
        """Say whether the elements are floats."""
        return self.dtype in DIGITS

    @property
    def is_exact(self) -> bool:
        """Say whether elements are the same however they are computed."""
        return not self.noise

    @property
    def can_be_empty(self) -> bool:
        """Say whether there is no element in a world."""
        return any(0 in dim for dim in self.shape)


@dataclass(frozen=True)
class Input:
    """An input of the graph: its value, the names of its dimensions, and its elements."""

    value: Value
    dims: tuple[int | str, ...]
    array: Array | None = None
    """Its elements where they are not drawn."""


@dataclass
class Grower:
    """Appends nodes to a graph."""

    random: Random
    worlds: int
    symbols: dict[str, Dim] = field(default_factory=dict)
    inputs: list[Input] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[str, Array] = field(default_factory=dict)
    outer: Grower | None = None
    """The maker of the graph around this one."""
    wrong: list[tuple[Value, frozenset[int]]] = field(default_factory=list)
    """What operands that disagree made, and in which worlds they do."""
    count: int = 0

    # Choices

    def choose(self, options: Sequence[T]) -> T:
        """Return one of some options."""
        if not options:
            raise UnfitError
        return self.random.choice(options)

    def chance(self, share: float) -> bool:
        """Return true in this share of cases."""
        return self.random.random() < share

    def number(self, low: int, high: int) -> int:
        """Return a number, both ends included."""
        return self.random.randint(low, high)

    def pick(self, *, fits: Callable[[Value], bool] = lambda _: True) -> Value:
        """Return a value, younger ones more often."""
        found = [value for value in self.visible() if fits(value)]
        if found and self.chance(0.5):
            return self.choose(found[-4:])
        return self.choose(found)

    def axis(self, x: Value, *, fits: Callable[[Dim], bool] = lambda _: True) -> int:
        """Return an axis of a value."""
        return self.choose([n for n, dim in enumerate(x.shape) if fits(dim)])

    def axis_written(self, x: Value, axis: int) -> int:
        """Return an axis, perhaps counted from behind."""
        return axis - x.rank if self.chance(0.3) else axis

    def subset(self, x: Value) -> list[int]:
        """Return some axes."""
        return [axis for axis in range(x.rank) if self.chance(0.5)]

    def visible(self) -> list[Value]:
        """Return the values of this graph, and of those around it."""
        return [*(self.outer.visible() if self.outer else ()), *self.values]

    # Dimensions

    def fixed(self, size: int) -> Dim:
        """Return a dimension that is the same in all worlds."""
        return (size,) * self.worlds

    def root(self) -> Grower:
        """Return the maker of the outermost graph."""
        return self.outer.root() if self.outer else self

    def named(self, dim: Dim) -> int | str:
        """Return how an input declares a dimension: its size, or a name; sometimes a new one."""
        if len(set(dim)) == 1 and not self.chance(0.05):
            return dim[0]
        symbols = self.root().symbols
        for name, known in symbols.items():
            if known == dim and not self.chance(0.1):
                return name
        name = f"d{len(symbols)}"
        symbols[name] = dim
        return name

    def extent(self, dims: Sequence[Dim]) -> Value:
        """Return a shape: constants for what is fixed, computed where it is open."""
        if all(len(set(dim)) == 1 for dim in dims):
            return self.constant(np.array([dim[0] for dim in dims], np.int64))
        parts = [self.size(dim) for dim in dims]
        return self.append("Concat", parts, [(self.fixed(len(parts)),)], "int64", axis=0)

    def size(self, dim: Dim) -> Value:
        """Return a dimension as a vector of one element."""
        one = (self.fixed(1),)
        if len(set(dim)) == 1:
            return self.constant(np.array([dim[0]], np.int64))
        for value in self.visible():
            for axis, known in enumerate(value.shape):
                if known == dim:
                    return self.append(
                        "Shape", [value], [one], "int64", most=100.0, start=axis, end=axis + 1
                    )
        for factor in (2, 3, 4, 5, 6, 8):
            if all(size % factor == 0 for size in dim):
                part = self.size(tuple(size // factor for size in dim))
                times = self.constant(np.array([factor], np.int64))
                return self.append("Mul", [part, times], [one], "int64", most=100.0)
        raise UnfitError

    # Values

    def fresh(self) -> str:
        """Return a name that no value has."""
        root = self.root()
        root.count += 1
        return f"v{root.count}"

    def input(self, dtype: str, shape: Sequence[Dim], array: Array | None = None) -> Value:
        """Add an input; its elements are drawn by `elements` where they are not given."""
        root = self.root()
        most, step = (4.0, 0.5) if dtype in DIGITS else (3.0, 1.0)
        if array is not None:
            most, step = seen(array)
        value = Value(f"x{len(root.inputs)}", dtype, tuple(shape), most, step)
        dims = tuple(map(self.named, shape))
        root.inputs.append(Input(value, dims, array))
        root.values.append(value)
        return value

    def constant(self, array: Array) -> Value:
        """Add a constant."""
        name = self.fresh()
        self.root().constants[name] = array
        most, step = seen(array)
        return Value(name, array.dtype.name, tuple(map(self.fixed, array.shape)), most, step)

    def drawn(self, dtype: str, shape: Sequence[int], low: int = -4, high: int = 4) -> Value:
        """Add a constant of small numbers: halves where it holds floats."""
        count = math.prod(shape)
        low = max(low, 0) if dtype in UNSIGNED else low
        numbers = [self.number(low, high) for _ in range(count)]
        array = np.array(numbers, np.float64).reshape(tuple(shape))
        if dtype in DIGITS:
            array /= 2
        return self.constant(array.astype(numpy_type(dtype)))

    def operand(self, x: Value, shape: Sequence[Dim]) -> Value:
        """Return another value of a type and shape: one that there is, an input, a constant."""
        same = [v for v in self.visible() if (v.dtype, v.shape) == (x.dtype, tuple(shape))]
        if same and self.chance(0.4):
            return self.choose(same)
        if self.chance(0.4) and all(len(set(dim)) == 1 for dim in shape):
            return self.drawn(x.dtype, [dim[0] for dim in shape])
        return self.input(x.dtype, shape)

    # Nodes

    def append(  # noqa: PLR0913  (what is known of what is made)
        self,
        kind: str,
        operands: Sequence[Value | None],
        shapes: Sequence[tuple[Dim, ...]],
        dtype: str = "",
        *,
        domain: str = "",
        most: float | None = None,
        step: float | None = None,
        noise: float | None = None,
        single: bool = True,
        **attributes: Any,
    ) -> Value:
        """Append a node of which all is known, and return its first result.

        What is not said of elements is as with moves: at most what the operands have.
        """
        given = [operand for operand in operands if operand is not None]
        outputs = [self.fresh() for _ in shapes]
        names = [operand.name if operand is not None else "" for operand in operands]
        node = helper.make_node(kind, names, outputs, domain=domain, **attributes)
        self.nodes.append(node)
        value = Value(
            outputs[0],
            dtype or given[0].dtype,
            shapes[0],
            max((x.most for x in given), default=1.0) if most is None else most,
            min((x.step for x in given), default=1.0) if step is None else step,
            max((x.noise for x in given), default=0.0) if noise is None else noise,
            single and all(x.single for x in given),
        )
        return settled(value)

    def node(  # noqa: PLR0913  (as `append`)
        self,
        kind: str,
        operands: Sequence[Value | None],
        dtype: str = "",
        *,
        domain: str = "",
        most: float | None = None,
        step: float | None = None,
        noise: float | None = None,
        single: bool = True,
        outputs: int = 1,
        **attributes: Any,
    ) -> Value:
        """Append a node whose shape the standard infers; refuse what does not fit."""
        found = [
            self.inferred(kind, operands, domain, outputs, attributes, world)
            for world in self.different(operands)
        ]
        if any(shape is None for shape in found):
            self.disagree(kind, operands, found, domain, attributes)
            raise UnfitError
        shapes = [shape for shape in found if shape is not None]
        if len(shapes) == 1:
            shapes = shapes * self.worlds
        if len({len(shape) for shape in shapes}) != 1:
            raise UnfitError
        shape = tuple(zip(*shapes, strict=True))
        if math.prod(max(dim) for dim in shape) > 20000:
            raise UnfitError
        every = [shape, *((),) * (outputs - 1)]
        return self.append(
            kind, operands, every, dtype, domain=domain, most=most, step=step, noise=noise,
            single=single, **attributes,
        )  # fmt: skip

    def different(self, operands: Sequence[Value | None]) -> range:
        """Return the worlds to look at: the first alone where no size is open."""
        shapes = [x.shape for x in operands if x is not None]
        fixed = all(len(set(dim)) == 1 for shape in shapes for dim in shape)
        return range(1 if fixed else self.worlds)

    def inferred(
        self,
        kind: str,
        operands: Sequence[Value | None],
        domain: str,
        outputs: int,
        attributes: Mapping[str, Any],
        world: int,
    ) -> tuple[int, ...] | None:
        """Return the shape of a node's first result in a world, None if it does not fit there."""
        names = [x.name if x is not None else "" for x in operands]
        results = ["out", *(f"out{n}" for n in range(1, outputs))]
        node = helper.make_node(kind, names, results, domain=domain, **attributes)
        given = {x.name: x for x in operands if x is not None}
        known = self.root().constants
        graph = helper.make_graph(
            [node], "one",
            [helper.make_tensor_value_info(name, onnx_type(x.dtype), [d[world] for d in x.shape])
             for name, x in given.items() if name not in known],
            [onnx.ValueInfoProto(name="out")],
            [numpy_helper.from_array(known[name], name) for name in given if name in known],
        )  # fmt: skip
        model = helper.make_model(graph, opset_imports=imports())
        try:
            made = shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
        except shape_inference.InferenceError:
            return None
        shape = made.graph.output[0].type.tensor_type
        if not shape.HasField("shape") or any(not d.HasField("dim_value") for d in shape.shape.dim):
            raise UnfitError
        sizes = tuple(d.dim_value for d in shape.shape.dim)
        if any(size < 0 for size in sizes):  # a window is larger than what it slides over
            raise UnfitError
        return sizes

    def disagree(
        self,
        kind: str,
        operands: Sequence[Value | None],
        found: Sequence[tuple[int, ...] | None],
        domain: str,
        attributes: Mapping[str, Any],
    ) -> None:
        """Keep some nodes that do not fit in some worlds, as a result of their own."""
        worlds = frozenset(world for world, shape in enumerate(found) if shape is None)
        given = [x for x in operands if x is not None]
        if self.outer or self.wrong or len(worlds) == len(found) or not self.chance(0.05):
            return
        if domain or not all(x.is_exact for x in given):
            return
        names = [x.name if x is not None else "" for x in operands]
        name = self.fresh()
        self.nodes.append(helper.make_node(kind, names, [name], **attributes))
        self.wrong.append((Value(name, given[0].dtype, (), noise=1.0), worlds))

    @contextmanager
    def tried(self) -> Iterator[None]:
        """Take back what was appended where it does not fit."""
        root = self.root()
        before = len(self.nodes), len(self.values), len(root.inputs), len(root.values)
        kept = len(self.wrong)
        try:
            yield
        except UnfitError:
            wrong = self.nodes[-1:] if len(self.wrong) > kept else []
            used = {name for node in wrong for name in node.input}
            made = {name for node in self.nodes[before[0] :] for name in node.output}
            if wrong and not used & made:
                if not used & {x.value.name for x in root.inputs[before[2] :]}:
                    self._cut(before)
                    self.nodes += wrong
                return
            del self.wrong[kept:]
            self._cut(before)

    def _cut(self, before: tuple[int, int, int, int]) -> None:
        root = self.root()
        del self.nodes[before[0] :]
        del self.values[before[1] :]
        del root.inputs[before[2] :]
        if root is not self:
            del root.values[before[3] :]

    def inside(self) -> Grower:
        """Return a maker of a graph inside of a node of this one."""
        return Grower(self.random, self.worlds, outer=self)


def seen(array: Array) -> tuple[float, float]:
    """Return what no element is further from zero than, and what all are multiples of, or 0."""
    wide = np.abs(array.astype(np.float64)) if array.dtype.kind != "b" else np.ones(1)
    finite = wide[np.isfinite(wide)]
    most = float(finite.max()) if finite.size else 0.0
    return most, next((s for s in (1.0, 0.5, 0.25, 0.125) if not (finite / s % 1).any()), 0.0)


def imports() -> list[onnx.OperatorSetIdProto]:
    """Return the sets of operators that graphs use."""
    return [helper.make_opsetid("", OPSET)]


def settled(value: Value) -> Value:
    """Return a value with what its type makes of what is known; raise where it is too large."""
    most, step, noise = value.most, value.step, value.noise
    if value.is_float:
        if not most <= MOST[value.dtype] or noise > 0.02 * max(most, 1.0):
            raise UnfitError
        rounding = 2.0 ** -DIGITS[value.dtype]
        if not step or most / step > 1 / rounding:
            step, noise = 0.0, max(noise, 4 * rounding * most)
        if noise:
            step = 0.0
    else:
        if noise:
            raise UnfitError
        top = 1.0 if value.dtype == "bool" else float(np.iinfo(value.dtype).max)
        most, step = (most, 1.0) if most <= top else (top, 1.0)
    return Value(value.name, value.dtype, value.shape, most, step, noise, value.single)
