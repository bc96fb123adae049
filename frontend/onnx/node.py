"""`Node`: one ONNX node as its rule sees it, with attributes, shapes, knowledge and `emit`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

import numpy as np
from onnx import AttributeProto, GraphProto, NodeProto, TypeProto
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from ...errors import DecidingSize, UnsupportedOp
from ...ir import SOURCE, Array, Dim, DimExpr, DType, Op, Symbol, TensorSpec, spec_of, spec_of_array
from ...ir.compose import functions as c
from ...ir.compose.functions import HIDDEN
from ...ir.compose.maker import Maker
from ...ir.types import dims as dim_rules
from ...ir.types.dtypes import f32
from ...ir.types.values import ANY, Spec, value_spec
from ...lazy import cached_property
from ..values.moving import move, objects
from .file.data import Tensors, dtype_of
from .file.sparse import dense
from .shapes import MAX_KNOWN, KnownEmit, is_small

INLINE = 32
"""Constants up to this many elements stand in the text; others are weights."""

Value: TypeAlias = Any
"""An SSA value; `Any` because what emits gives is one value or several."""


@dataclass(frozen=True)
class Parts:
    """A sequence whose values are known while the model is read."""

    values: tuple[Value, ...]
    dtype: DType | None = None
    """The element type that it is declared with, where nothing is in it."""


_Kinds = AttributeProto.AttributeType


@dataclass
class Node:
    """One node being read. Rules use its methods and nothing else of the reader."""

    proto: NodeProto
    label: str
    """What errors and provenance call it."""
    domain: str
    version: int
    """The version of its domain's operator set."""
    emitter: KnownEmit
    tensors: Tensors
    add_weight: Callable[[str, Array], Symbol]
    """Store an array under a name like this one, and return the name it got."""
    read_graph: Callable[..., list[Any]]
    """Append the nodes of a graph of this node with these inputs; return its outputs.

    A loop gives the count of the trip too, as `trip`.
    """
    new_size: Callable[[str, int | None], Dim]
    """Return a new dimension, with a name like this one, that only a run tells."""
    find: Callable[[str], Any]
    """Return the value of a name that the graph has made before, None if there is none."""
    trips: tuple[Value, ...] = ()
    """The counts of the trips of the loops that the node is in, the outermost first."""
    used: set[str] = field(default_factory=set)
    """The attributes that the rule has asked for."""

    def __post_init__(self) -> None:
        self._attributes: dict[str, AttributeProto] = {a.name: a for a in self.proto.attribute}

    @property
    def op_type(self) -> str:
        """Return the operator's name."""
        return self.proto.op_type

    @property
    def unused(self) -> list[str]:
        """Return the attributes that nobody asked for."""
        known = {*self.used, "consumed_inputs"}  # before version 6, about memory
        return [name for name in self._attributes if name not in known]

    def wants(self, index: int) -> bool:
        """Say whether the node's output at this position has a name."""
        return index < len(self.proto.output) and bool(self.proto.output[index])

    @staticmethod
    def padded(inputs: Sequence[Value], count: int) -> Sequence[Any]:
        """Return as many inputs, None for those left out at the end."""
        return [*inputs, *(None,) * (count - len(inputs))]

    # Operations.

    @cached_property
    def make(self) -> Maker:
        """Append graph operations by name: `node.make.add(a, b)`."""
        return Maker(self.emit)

    def emit(self, op: type[Op], *operands: SSAValue, **attributes: object) -> Any:
        """Append a graph operation; return its result, or the tuple of several."""
        if any(isinstance(each, Parts) for each in operands):
            raise TypeError("a sequence, expected a tensor")
        return self.emitter(op, *operands, **attributes)

    def constant(self, value: object, dtype: DType | None = None) -> SSAValue:
        """Return a constant; a large one becomes a weight."""
        array = np.asarray(value) if dtype is None else np.asarray(value, dtype.numpy)
        is_splat = array.size > 1 and not any(array.strides)
        if array.size > INLINE and not is_splat and array.dtype != object:
            return self.weight(f"{self.label}.constant", array)
        made: SSAValue = self.make.constant(value=array)
        return made

    def weight(self, name: str, array: Array) -> SSAValue:
        """Return a stored array as a value."""
        spec, symbol = spec_of_array(array), self.add_weight(name, array)
        made: SSAValue = self.make.weight(weight=symbol, dtype=spec.dtype, shape=spec.dims)
        return made

    def stored(self, name: str, array: Array) -> SSAValue:
        """Return a tensor of the model: small ones stand in the text, others are weights."""
        is_small = array.size <= INLINE or array.dtype == object
        value = None if is_small else self.mask(array)
        if value is None:
            value = self.constant(array) if is_small else self.weight(name, array)
        if array.dtype.kind in "iub" and array.size <= MAX_KNOWN:
            self.emitter.learn(value, array)
        else:
            self.emitter.learn_many(value, array)
        return value

    def mask(self, array: Array) -> SSAValue | None:
        """Return a stored mask as what it says: one low number, or what hides later positions.

        So masks of attention are known by their meaning, and no matrix of them has to be kept.
        """
        if array.dtype not in (np.float32, np.bool_) or array.ndim < 2:
            return None
        rows, columns = array.shape[-2:]
        corner = array.flat[columns - 1]
        is_bias = array.dtype == np.float32
        if corner > HIDDEN if is_bias else corner:
            return None
        if is_bias and np.all(array == corner):
            return self.constant(np.broadcast_to(corner, array.shape))
        seen = np.tri(rows, columns, columns - rows, dtype=bool)
        wanted = np.where(seen, 0, corner) if is_bias else seen
        is_one = array.size == rows * columns and rows <= columns
        if not is_one or not np.array_equal(array.reshape(rows, columns), wanted):
            return None
        if is_bias:
            made = c.causal_bias(self.emit, rows, columns, corner)
        else:
            made = c.seen_before(self.emit, rows, columns)
        return self.make.reshape(made, shape=array.shape)  # type: ignore[no-any-return]

    @property
    def block(self) -> Block:
        """Return the block that operations are appended to."""
        return self.emitter.emit.point.block

    @property
    def given(self) -> Block:
        """Return the outermost block around that has arguments: the model's, in most."""
        block = self.block
        while (above := block.parent_block()) is not None and above.args:
            block = above
        return block

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """Append to another block for a while."""
        outer = self.emitter.emit.point
        self.emitter.emit.point = InsertPoint.at_end(block)
        try:
            yield
        finally:
            self.emitter.emit.point = outer

    def insert(self, op: Operation) -> None:
        """Append an operation with regions."""
        if self.emitter.emit.source is not None:
            op.attributes[SOURCE] = self.emitter.emit.source
        self.block.add_op(op)

    # Values.

    def spec(self, value: SSAValue) -> TensorSpec:
        """Return the spec of a value."""
        return spec_of(value.type)

    def shape(self, value: SSAValue) -> tuple[Dim, ...]:
        """Return the shape of a value."""
        return spec_of(value.type).dims

    def rank(self, value: SSAValue) -> int:
        """Return the number of dimensions of a value."""
        return spec_of(value.type).rank

    def dtype(self, value: SSAValue) -> DType:
        """Return the element type of a value."""
        return spec_of(value.type).dtype

    def static_shape(self, value: SSAValue, why: str) -> tuple[int, ...]:
        """Return the shape as numbers, or refuse symbols."""
        spec = self.spec(value)
        if not spec.is_static:
            self.refuse_sizes(f"shape {spec} must be numbers {why}", *spec.dims)
        return spec.static_shape

    def known(self, value: SSAValue) -> Array | None:
        """Return what is known of a value: numbers, or objects with dimensions among them."""
        spec = value_spec(value.type)
        if isinstance(spec, TensorSpec) and spec.shape is not None and spec.size == 0:
            return np.empty(spec.static_shape, spec.dtype.numpy) if spec.is_static else None
        return self.emitter.known(value)

    def numbers(self, value: SSAValue, what: str) -> Array:
        """Return the value of an input as numbers, or refuse."""
        found = self.known(value)
        if found is None:
            self.refuse(f"input {what} must be a constant")
        if found.dtype == object:
            message = f"input {what} must be numbers, it depends on symbolic dimensions"
            self.refuse_sizes(message, *(x for x in found.flat if isinstance(x, DimExpr)))
        return found

    def dims(self, value: SSAValue, what: str) -> tuple[Dim, ...]:
        """Return the elements of an input that gives dimensions, or refuse."""
        found = self.known(value)
        if found is None:
            self.refuse(f"input {what} must be computed from constants and shapes")
        if found.dtype != object and found.dtype.kind not in "iu":
            self.fail(f"input {what} has element type {self.dtype(value)}, expected i64")
        return tuple(found.ravel().tolist())

    def integers_of(self, value: SSAValue, what: str) -> tuple[int, ...]:
        """Return the elements of an input of integers, or refuse."""
        return tuple(int(x) for x in self.numbers(value, what).ravel())

    # Values of other kinds, and sizes that only a run tells.

    def kind(self, value: SSAValue) -> Spec:
        """Return the spec of a value that may be no tensor."""
        return value_spec(value.type)

    def value(self, found: SSAValue | Parts) -> SSAValue:
        """Return a value of the program: a sequence becomes one."""
        if not isinstance(found, Parts):
            return found
        if not found.values:
            made: SSAValue = self.make.empty_sequence(dtype=found.dtype or f32)
        else:
            made = self.make.sequence(*found.values)
        return made

    def unknown(self, count: int = 1, high: Dim | None = None) -> tuple[Dim, ...]:
        """Return sizes of the node's result that only a run tells, up to a highest."""
        most = None if high is None else dim_rules.bounds(high, self.emitter.ranges)[1]
        stem = next((name for name in self.proto.output if name), self.op_type)
        return tuple(self.new_size(stem, most) for _ in range(count))

    def opened(self, spec: Spec) -> tuple[Dim, ...]:
        """Return a size for each open dimension of a tensor's spec."""
        if not isinstance(spec, TensorSpec) or spec.shape is None:
            return ()
        return self.unknown(spec.shape.count(ANY))

    def is_data(self, value: SSAValue) -> bool:
        """Say whether an input of integers is known in a run only."""
        return self.known(value) is None

    def count(self, value: SSAValue, what: str) -> int:
        """Return how many numbers an input has, or refuse."""
        count = self.spec(value).size
        if not isinstance(count, int):
            message = f"input {what} has {count} numbers, expected a known number of them"
            self.refuse_sizes(message, count)
        return count

    def partly(self, value: SSAValue, what: str) -> list[Dim | None]:
        """Return what is known of an input of integers, None for the elements that are data."""
        self.count(value, what)
        return self._parts(value).ravel().tolist()

    def _parts(self, value: SSAValue) -> Array:
        """Return what is known of a value's elements, also behind operations that move them."""
        known, owner, shape = self.known(value), value.owner, self.static_shape(value, "here")
        if known is not None:
            return objects(known.ravel().tolist()).reshape(shape)
        if isinstance(owner, Op) and owner.name == "gv.cast":
            return self._parts(owner.operands[0])
        if isinstance(owner, Op) and self._is_moved(owner):
            count = type(owner).moved(len(owner.operands))
            parts = [self._parts(operand) for operand in owner.operands[:count]]
            indices = [self.known(operand) for operand in owner.operands[count:]]
            given = [index for index in indices if index is not None]
            if len(given) == len(indices) and all(index.dtype != object for index in given):
                made = move(type(owner), [*parts, *given], owner.plain_attributes())
                return made[owner.results.index(value)]
        return np.full(shape, None)

    def _is_moved(self, op: Op) -> bool:
        """Say whether small results of fixed shape are elements of operands."""
        values = [*op.operands, *op.results]
        moves = op.HOST is None and type(op).moved(len(op.operands)) is not None
        return moves and all(map(is_small, map(self.spec, values)))

    def fill_in(self, dims: Sequence[Dim | None], high: Dim | None = None) -> tuple[Dim, ...]:
        """Return sizes of which some are known; negative ones count as unknown."""
        return tuple(
            self.unknown(high=high)[0] if dim is None or (isinstance(dim, int) and dim < 0) else dim
            for dim in dims
        )

    def vector(self, value: SSAValue) -> SSAValue:
        """Return a value as a vector."""
        if self.rank(value) == 1:
            return value
        made: SSAValue = self.make.reshape(value, shape=(self.spec(value).size,))
        return made

    def sizes(self, value: SSAValue, what: str, high: Dim | None = None) -> tuple[Dim, ...]:
        """Return the elements of an input as sizes; a host step reads those that are data."""
        if not self.is_data(value) or self.dtype(value).kind not in "iu":
            return self.dims(value, what)
        sizes = self.fill_in(self.partly(value, what), high)
        most = () if high is None else (high,) * len(sizes)
        self.make.read_sizes(self.vector(value), sizes=sizes, most=most)
        return sizes

    # Attributes.

    def has(self, name: str) -> bool:
        """Say whether the node gives an attribute."""
        self.used.add(name)
        return name in self._attributes

    def integer(self, name: str, default: int | None = None) -> int:
        """Return an attribute that is an integer."""
        found = self._get(name, _Kinds.INT, default)
        return int(found.i) if found is not None else _given(default)

    def integers(self, name: str) -> tuple[int, ...] | None:
        """Return an attribute that is a list of integers, None if it is not given."""
        found = self._get(name, _Kinds.INTS, ())
        return tuple(found.ints) if found is not None else None

    def number(self, name: str, default: float | None = None) -> float:
        """Return an attribute that is a number."""
        found = self._get(name, _Kinds.FLOAT, default)
        return float(found.f) if found is not None else _given(default)

    def floats(self, name: str) -> tuple[float, ...] | None:
        """Return an attribute that is a list of numbers, None if it is not given."""
        found = self._get(name, _Kinds.FLOATS, ())
        return tuple(found.floats) if found is not None else None

    def text(self, name: str, default: str | None = None) -> str:
        """Return an attribute that is a text."""
        found = self._get(name, _Kinds.STRING, default)
        return found.s.decode(errors="replace") if found is not None else _given(default)

    def texts(self, name: str) -> tuple[str, ...] | None:
        """Return an attribute that is a list of texts, None if it is not given."""
        found = self._get(name, _Kinds.STRINGS, ())
        return tuple(s.decode(errors="replace") for s in found.strings) if found else None

    def only(self, name: str, usual: int | str) -> None:
        """Refuse an attribute that is not what it is where it is not given."""
        found = self.text(name, usual) if isinstance(usual, str) else self.integer(name, usual)
        if found != usual:
            self.refuse(f"{name} {found}, expected {usual}")

    def element_type(self, name: str, default: DType | None = None) -> DType:
        """Return an attribute that is the number of an element type."""
        found = self._get(name, _Kinds.INT, default)
        return dtype_of(found.i, f"attribute {name}") if found is not None else _given(default)

    def tensor(self, name: str) -> Array | None:
        """Return an attribute that is a tensor, None if it is not given."""
        found = self._get(name, _Kinds.TENSOR, ())
        return self.tensors.read(found.t) if found is not None else None

    def sparse(self, name: str) -> Array | None:
        """Return an attribute that is a sparse tensor with all its elements, None without it."""
        found = self._get(name, _Kinds.SPARSE_TENSOR, ())
        return self.tensors.read(dense(found.sparse_tensor, self.tensors)) if found else None

    def type_of(self, name: str) -> TypeProto | None:
        """Return an attribute that is a type, None if it is not given."""
        found = self._get(name, _Kinds.TYPE_PROTO, ())
        return found.tp if found is not None else None

    def graph(self, name: str) -> GraphProto:
        """Return an attribute that is a graph."""
        found = self._get(name, _Kinds.GRAPH, None)
        assert found is not None, "a missing graph is refused before"
        return found.g

    def _get(self, name: str, kind: int, default: object) -> AttributeProto | None:
        """Return the attribute, or None where it is absent and has a default."""
        self.used.add(name)
        found = self._attributes.get(name)
        if found is None:
            return None if default is not None else self.fail(f"attribute {name} is missing")
        if found.type != kind:
            name_of = {number: text.lower() for text, number in _Kinds.items()}
            kinds = name_of.get(found.type, "unknown"), name_of[kind]
            self.fail(f"attribute {name} is of kind {kinds[0]}, expected {kinds[1]}")
        return found

    # Refusals.

    def fail(self, message: str) -> NoReturn:
        """Say that the model is wrong here."""
        raise TypeError(message)

    def refuse(self, message: str, *, hint: str = "") -> NoReturn:
        """Say that this form of the operator is not supported."""
        raise UnsupportedOp(message, hint=hint)

    def refuse_sizes(self, message: str, *sizes: Dim) -> NoReturn:
        """Refuse what depends on sizes; with a number of the first that arguments have it may go.

        A size that the arguments have otherwise, as a part of a sum, says no number.
        """
        open_ones = [str(size) for size in sizes if not isinstance(size, int)]
        first = self.deciding(open_ones[0]) if open_ones else None
        raise UnsupportedOp(message).about(first)

    def deciding(self, name: str) -> DecidingSize | None:
        """Return where arguments of the model have a size of a name; None where none does."""
        places = [
            (number, axis)
            for number, argument in enumerate(self.emitter.entry.args)
            if isinstance(spec := value_spec(argument.type), TensorSpec)
            for axis, dim in enumerate(spec.shape or ())
            if str(dim) == name
        ]
        low, high = self.emitter.ranges.get(name, (1, None))
        return DecidingSize(name, tuple(places), low, high) if places else None


def _given(value: object) -> Any:
    assert value is not None, "an attribute without a default is refused before"
    return value


__all__ = ["INLINE", "Node", "Parts", "Value"]
