"""`TensorArray`: tensors that are written one by one, in loops too, and stacked in the end.

Eagerly it is a list. In a graph it is one tensor with the elements along the first axis; its
shape is that of the first element that is written, or as stated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ....ir.compose import functions as c
from ....ir.compose.maker import Maker
from ....ir.families import spec_of_value
from ....ir.op import Array
from ....ir.types import dims as dim_rules
from ....ir.types import dtypes as rows
from ....ir.types.dims import Dim
from ....ir.types.tensor import TensorSpec
from ...dims.computed import expressions
from ...graph.graph import Graph, GraphTensor, spec_with_unknowns
from ...values.context import STATE
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError, OutOfRangeError
from ...values.texts import TEXT
from ..core import shape_rules as shapes_of
from ..core.bridge import TfTensor, dressed
from ..core.calls import op
from ..core.element_types import as_dtype
from ..core.extents import read_extent
from ..core.host_ops import host
from ..core.required import demand, require_element
from ..core.shapes import ShapeLike, TensorShape
from ..core.specs import Specified, TypeSpec
from ..core.values import InGraph, convert, graph_of, static
from ..ops.array_ops import concat, expand_dims, reshape, shape, split, stack, unstack
from ..ops.creation import constant, zeros, zeros_like
from ..ops.gathering import gather
from .state import default_of


@op(
    "TensorArrayWrite",
    "array",
    "index",
    "value",
    strict=False,
    refuses=True,
    shapes=shapes_of.unranked,
)
def _write(m: Maker, array: object, index: object, value: object, grows: bool) -> object:
    """Put an element at an index; an array that grows gets as long as is needed."""
    place = m.reshape(index, shape=(1,))
    return _put(m, array, place, c.unsqueeze(m.emit, value, (0,)), grows)


@op(
    "TensorArrayScatter",
    "array",
    "indices",
    "values",
    strict=False,
    refuses=True,
    shapes=shapes_of.unranked,
)
def _write_all(m: Maker, array: object, indices: object, values: object, grows: bool) -> object:
    """Put as many elements at indices as there are."""
    return _put(m, array, indices, values, grows)


def _put(m: Maker, array: object, indices: object, values: object, grows: bool) -> object:
    """Put the rows of a tensor at indices."""
    dims, own = spec_of_value(array).dims, spec_of_value(values).dims[1:]
    if 0 in dims[1:] and dims[1:] != own:  # their shape was not known when the array was begun
        if not all(isinstance(d, int) for d in (*dims, *own)):
            raise TypeError("the shape of elements is that of the first one")
        array, dims = m.filled(0, spec_of_value(array).dtype, (dims[0], *own)), (dims[0], *own)
    _require_shape(dims[1:], own)
    if grows:
        missing = _missing(m, indices, dims[0])
        if not isinstance(missing, int) or missing > 0:
            more = m.filled(0, spec_of_value(array).dtype, (missing, *dims[1:]))
            array = m.concat(array, more, axis=0)
    require_element(m, indices, None if grows else dims[0], "modify")
    if not grows and dims[0] == 0:  # in a loop of no turns, or it was told by then
        return array
    at = c.unsqueeze(m.emit, m.to(indices, rows.i64), (1,))
    return m.scatter_nd(array, at, values, reduction="none")


def _require_shape(dims: Sequence[Dim], own: Sequence[Dim]) -> None:
    """Refuse an element of another shape: in a graph all elements are one tensor."""
    pairs = [*zip(dims, own, strict=False)]
    if len(dims) != len(own) or any(
        isinstance(a, int) and isinstance(b, int) and a != b for a, b in pairs
    ):
        raise TypeError(
            f"an element of shape {[*own]} is written into a TensorArray whose elements have shape "
            f"{[*dims]}: elements of several shapes are not supported in a graph"
        )


def _missing(m: Maker, indices: object, count: Dim) -> Dim:
    """Return how many elements more there are to be for indices; below 1: none."""
    known = expressions(indices)
    if known is not None and None not in known.ravel().tolist():
        behind = {index + 1 - count for index in known.ravel()}
        if all(isinstance(n, int) for n in behind):
            return max(behind, default=0)
    last = m.max(m.to(indices, rows.i64), axes=(0,), keepdims=False)
    more = m.add(m.sub(last, m.extent_of(count)), m.number(1, rows.i64))
    made: Dim = read_extent(m, m.maximum(more, m.number(0, rows.i64)))
    return made


def _write_text(
    array: TfTensor, indices: TfTensor, values: TfTensor, grows: bool, name: str | None = None
) -> TfTensor:
    """Put texts at indices: a step of the host's."""

    def put(found: Array, places: Array, texts: Array) -> Sequence[Array]:
        missing = int(places.max(initial=-1)) + 1 - len(found) if grows else 0
        made = np.full((len(found) + max(missing, 0), *texts.shape[1:]), b"", object)
        if found.shape[1:] == texts.shape[1:]:
            made[: len(found)] = found
        made[places] = texts
        return [made]

    def infer(specs: Sequence[TensorSpec]) -> Sequence[TensorSpec]:
        text = specs[2]
        if text.shape is None:
            return [TensorSpec(TEXT, None)]
        first = None if grows or specs[0].shape is None else specs[0].dims[0]
        sizes = [d if isinstance(d, int) else None for d in (first, *text.dims[1:])]
        return [spec_with_unknowns(TEXT, sizes)]

    return host("TensorArrayWrite", put, [array, indices, values], infer, name=name)[0]


@op("TensorArraySplit", "value", "lengths", strict=False, refuses=True)
def _in_pieces(m: Maker, value: object, lengths: object) -> object:
    """Cut the first axis into pieces of one length."""
    size, *rest = spec_of_value(value).dims
    (count,) = spec_of_value(lengths).dims
    length = 0 if count == 0 else dim_rules.floor_divide(size, count)
    if count != 0:
        demand(
            m,
            lengths,
            lambda x: m.equal(x, m.slice(x, starts=(0,), stops=(1,), steps=(1,))),
            lambda x: x != x[0],
            "pieces of one length are put into a TensorArray of a graph: lengths{at} = {value}",
        )
    return m.reshape(value, shape=(count, length, *rest))


@op("TensorArrayRead", "array", "index", strict=False, refuses=True, shapes=shapes_of.unranked)
def element_at(m: Maker, array: object, index: object) -> object:
    """Take the element at an index."""
    count, *rest = spec_of_value(array).dims
    require_element(m, index, count, "access")
    untold = rest == [0]  # nothing was written so far that says what elements are
    if count == 0 and not untold:  # in a loop of no turns
        return m.filled(0, spec_of_value(array).dtype, (*spec_of_value(index).dims, *rest))
    return m.gather(array, index, axis=0)


def _begun(empty: TfTensor, dims: Sequence[int | None] | None) -> TfTensor:
    """Return the array whose elements get the shape of the first that is written."""
    return dressed(default_of(empty, TensorShape(dims), begun=True))


def listed(found: TensorShape) -> list[int | None] | None:
    """Return extents as a list, None if their number is not known."""
    return None if found.rank is None else found.as_list()


class TensorArraySpec(TypeSpec):
    """What an array is like: shape and type of its elements, and how it grows."""

    def __init__(
        self,
        element_shape: ShapeLike = None,
        dtype: DTypeLike = "float32",
        dynamic_size: bool = False,
        infer_shape: bool = True,
    ) -> None:
        self._parts = TensorShape(element_shape), as_dtype(dtype), dynamic_size, infer_shape

    @classmethod
    def from_value(cls, value: TensorArray) -> TensorArraySpec:
        """Return what an array is like."""
        return cls(value.element_shape, value.dtype, value.dynamic_size, value._infers)

    @property
    def value_type(self) -> type[TensorArray]:
        """Return the class of what it describes."""
        return TensorArray

    def is_compatible_with(self, other: TensorArraySpec | TensorArray) -> bool:
        """Say whether an array, or what another spec describes, may stand for one of this."""
        if isinstance(other, TensorArray):
            other = TensorArraySpec.from_value(other)
        if not isinstance(other, TensorArraySpec):
            return False
        fits = self._parts[0].is_compatible_with(other._parts[0])
        return bool(fits) and self._parts[1:] == other._parts[1:]

    def is_subtype_of(self, other: object) -> bool:
        """Say whether all arrays of this are arrays of the other one."""
        if not isinstance(other, TensorArraySpec) or self._parts[1:] != other._parts[1:]:
            return False
        return bool(self._parts[0].is_subtype_of(other._parts[0]))

    def most_specific_common_supertype(
        self, others: Sequence[TensorArraySpec]
    ) -> TensorArraySpec | None:
        """Return this one where all others are the same but for shapes, which arrays learn."""
        alike = [x for x in others if isinstance(x, TensorArraySpec)]
        same = all(x._parts[1:] == self._parts[1:] for x in alike)
        return self if same and len(alike) == len(others) else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorArraySpec) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    def __repr__(self) -> str:
        return f"TensorArraySpec{self._parts!r}"


class TensorArray(Specified):
    """Elements of one type that are written by index."""

    def __init__(
        self,
        dtype: object,
        size: object = None,
        dynamic_size: object = None,
        clear_after_read: object = None,
        tensor_array_name: object = None,
        handle: object = None,
        flow: object = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        self.dtype = as_dtype(dtype)
        self._size = 0 if size is None else size
        self._grows = bool(dynamic_size)
        self._clears = clear_after_read is not False
        self._infers = infer_shape
        """Whether all elements have the shape of the first one that is written."""
        self.element_shape = TensorShape(element_shape)
        apart = not infer_shape and flow is None and isinstance(static(self._size), int)
        self._graph = None if apart else graph_of([size])  # elements may each have a shape
        self._list: list[TfTensor | None] = []
        self._cleared: set[int] = set()
        self._flow: Any = flow
        """The elements along the first axis, in a graph."""
        if self._graph is None:
            self._list = [None] * int(static(self._size))
        elif flow is None and self.element_shape.is_fully_defined():
            self._start(self.element_shape.as_list())

    def type_spec(self) -> TensorArraySpec:
        """Return what it is like."""
        return TensorArraySpec.from_value(self)

    @property
    def dynamic_size(self) -> bool:
        """Say whether it grows."""
        return self._grows

    @property
    def flow(self) -> TfTensor:
        """Return the elements as one tensor."""
        return self._flow if self._graph is not None else constant(0.0)

    def _like(self, flow: Any, dims: ShapeLike = None) -> TensorArray:
        """Return an array of the same kind with other elements."""
        made = self.copy()
        made._flow = flow
        made._graph = flow.graph
        if dims is not None:
            made.element_shape = TensorShape(dims)
        return made

    def _start(self, dims: Any, like: TfTensor | None = None) -> None:
        """Make the elements of a shape: zeros.

        Sizes that are not known are those of another tensor; without it, those of the first
        element that is written: until then they are 0.
        """
        with InGraph(self._graph):
            if dims is None:  # of whatever rank the first element has
                empty = zeros([self._size, 0], self.dtype)
                self._flow = _begun(empty, None)
                return
            sizes = [
                d if d is not None else 0 if like is None else shape(like)[i]
                for i, d in enumerate(dims)
            ]
            known = static(self._size)
            count = known if isinstance(known, int) else self._size
            self._flow = zeros([count, *sizes], self.dtype)
            if None in dims and like is None:
                self._flow = _begun(self._flow, [None, *dims])
            self.element_shape = TensorShape(dims)

    def started(self, dims: object, like: TfTensor | None = None) -> TensorArray:
        """Return the array with elements of a shape, for a loop that carries it."""
        if self._flow is None:
            self._start(dims, like)
        return self

    def _index(self, index: object, verb: str) -> int:
        at = int(static(index))
        if at < 0 or (at >= len(self._list) and not (self._grows and verb == "write")):
            tail = "" if self._grows else "but array is not resizeable and "
            kind = "Tried to write to" if verb == "write" else "Tried to read from"
            raise OutOfRangeError(f"{kind} index {at} {tail}size is: {len(self._list)} ")
        return at

    def write(self, index: object, value: object, name: str | None = None) -> TensorArray:
        """Put an element at an index; go on with what is returned."""
        with InGraph(graph_of([index, value]) or self._graph):
            found = self._element(value)
            graph = graph_of([index, found])
            if self._is_known(index) or (graph is None and self._graph is None):
                return self._write_now(index, found)
            array = self._with_shape(graph, listed(found.shape), found)
            if self.dtype.kind == "s":
                place = reshape(convert(index), [1])
                made = _write_text(array._flow, place, expand_dims(found, 0), self._grows, name)
            else:
                made = _write(array._flow, index, found, grows=self._grows, name=name)
            return array._written(made)

    def _with_shape(self, graph: Graph | None, dims: object, like: TfTensor | None) -> TensorArray:
        """Return the array in a graph, its elements begun with a shape if they were not."""
        array = self.copy()
        array._enter(graph)
        if array._flow is None:
            array._start(dims, like)
        return array

    def _written(self, flow: TfTensor) -> TensorArray:
        """Return the array with the elements that an operation made of its own."""
        dims = listed(self._flow.shape)
        if dims is not None:
            flow.set_shape([None if self._grows else dims[0], *dims[1:]])
        return self._like(flow)

    def _enter(self, graph: Graph | None) -> None:
        """Take what was written eagerly along into a graph."""
        if self._graph is None and graph is not None:
            self._graph = graph
            if any(x is not None for x in self._list):
                first = next(x for x in self._list if x is not None)
                self._flow = stack([zeros_like(first) if x is None else x for x in self._list])
            elif self.element_shape.is_fully_defined():
                self._start(self.element_shape.as_list())

    def _element(self, value: object) -> TfTensor:
        found = self._of_type(value)
        self._require(found.shape)
        return found

    def _of_type(self, value: object) -> TfTensor:
        """Return a value as a tensor of the type of elements; numbers take it if they can."""
        try:
            found = convert(value) if hasattr(value, "spec") else convert(value, self.dtype)
        except (TypeError, ValueError):
            found = convert(value)
        if found.dtype != self.dtype:
            raise InvalidArgumentError(
                f"TensorArray dtype is {self.dtype.name} but Op is trying to write dtype "
                f"{found.dtype.name} "
            )
        return found

    def _require(self, shape: TensorShape) -> None:
        """Raise for a shape that is not that of elements."""
        if not self.element_shape.is_compatible_with(shape):
            raise ValueError(
                f"Incompatible shape for value ({shape}), expected ({self.element_shape})"
            )

    def _is_known(self, index: object) -> bool:
        """Say whether an element of a graph is meant that stands by itself, in its own shape."""
        several = not self._infers or any(isinstance(x, GraphTensor) for x in self._list)
        alone = self._graph is None and several
        return alone and not isinstance(static(index), GraphTensor)

    def _write_now(self, index: object, value: TfTensor) -> TensorArray:
        at = self._index(index, "write")
        if at >= len(self._list):
            self._list.extend([None] * (at + 1 - len(self._list)))
        self._list[at] = value
        self._cleared.discard(at)
        if self._infers and self.element_shape._dims is None:
            self.element_shape = value.shape
        return self

    def read(self, index: object, name: str | None = None) -> TfTensor:
        """Return the element at an index."""
        if self._is_known(index) or (self._graph is None and graph_of([index]) is None):
            return self._read_now(self._index(index, "read"))
        self._enter(graph_of([index]))
        with InGraph(self._graph):
            return element_at(self._elements(), index, name=name)

    def _read_now(self, at: int, *, keep: bool = False) -> TfTensor:
        if at in self._cleared:
            raise InvalidArgumentError(
                f"Could not read index {at} twice because it was cleared after a previous read "
                "(perhaps try setting clear_after_read = false?)"
            )
        found = self._list[at]
        if found is None:
            if not self.element_shape.is_fully_defined():
                raise InvalidArgumentError(
                    f"Could not read from TensorArray index {at} because it has not yet been "
                    "written to."
                )
            found = zeros(self.element_shape.as_list(), self.dtype)
        if self._clears and not keep and STATE.context is None:  # (graphs read again as they like)
            self._list[at] = None
            self._cleared.add(at)
        return found

    def _elements(self) -> Any:
        if self._flow is None:  # here; a loop that writes later is traced again with a shape
            return _begun(zeros([0, 0], self.dtype), None)
        return self._flow

    def _all(self) -> list[TfTensor]:
        return [self._kept(i) for i in range(len(self._list))]

    def _kept(self, at: int) -> TfTensor:
        """Return an element that stays; one that a read took out is zeros from now on."""
        if at in self._cleared:
            self._cleared.discard(at)
            self._list[at] = zeros(self.element_shape.as_list(), self.dtype)
        return self._read_now(at, keep=True)

    def stack(self, name: str | None = None) -> TfTensor:
        """Return the elements along a new first axis."""
        if self._graph is not None:
            with InGraph(self._graph):
                return _same(self._elements(), name)
        if not self._list:
            return zeros([0, *(self.element_shape._dims or ())], self.dtype)
        return stack(self._all(), name=name)

    def gather(self, indices: object, name: str | None = None) -> TfTensor:
        """Return some elements along a new first axis."""
        if self._graph is not None:
            with InGraph(self._graph):
                return gather(self._elements(), indices, name=name)
        places = [self._index(i, "read") for i in static(indices)]
        return stack([self._kept(at) for at in places], name=name)

    def concat(self, name: str | None = None) -> TfTensor:
        """Return the elements joined along their first axis."""
        if self._graph is not None:
            with InGraph(self._graph):
                rest = self._elements().shape.as_list()[2:]
                return reshape(self._elements(), [-1, *rest], name=name)
        return concat(self._all(), 0, name=name)

    def unstack(self, value: object, name: str | None = None) -> TensorArray:
        """Put the slices along the first axis in."""
        with InGraph(graph_of([value]) or self._graph):
            found = convert(value, None if hasattr(value, "spec") else self.dtype)
            graph = graph_of([found])
            if graph is None:
                return self._filled(unstack(found))
            return self._like(_same(found, name), found.shape.as_list()[1:])

    def _filled(self, values: list[TfTensor]) -> TensorArray:
        alone = self._graph is None  # (of a graph's array, `_pieces` has looked)
        if alone and len(values) > len(self._list) and not self._grows:
            raise ValueError(
                f"Cannot unstack {len(values)} tensors into a TensorArray of static size "
                f"{len(self._list)} "
            )
        made = self.copy()
        made._list, made._cleared = list(values), set()
        if values and made.element_shape._dims is None:
            made.element_shape = values[0].shape
        return made

    def scatter(self, indices: object, value: object, name: str | None = None) -> TensorArray:
        """Put the slices along the first axis at indices."""
        with InGraph(graph_of([indices, value]) or self._graph):
            found, places = self._of_type(value), convert(indices, None)
            graph = graph_of([found, places])
            if graph is None and self._graph is None:
                made = self
                for at, each in zip(static(places), unstack(found), strict=True):
                    made = made.write(at, each)
                return made
            self._require(found.shape[1:])
            array = self._with_shape(graph, listed(found.shape[1:]), None)
            if self.dtype.kind == "s":
                made_of = _write_text(array._flow, places, found, self._grows, name)
            else:
                made_of = _write_all(array._flow, places, found, grows=self._grows, name=name)
            return array._written(made_of)

    def split(self, value: object, lengths: object, name: str | None = None) -> TensorArray:
        """Put pieces of the first axis in; of several lengths where these are known."""
        with InGraph(graph_of([value, lengths]) or self._graph):
            found = self._of_type(value)
            sizes = static(lengths)
            if not isinstance(sizes, GraphTensor):
                counts = self._pieces(sizes, found)
                if graph_of([found, lengths]) is None or len(set(counts)) > 1:
                    made = self._filled(split(found, counts, name=name))
                    made._graph, made._flow = None, None  # no tensor has rows of several lengths
                    return made
            every = convert(lengths)
            rest = listed(found.shape[1:])
            whole = _in_pieces(found, every, name=name)
            if rest is not None:
                whole.set_shape([every.shape.as_list()[0], None, *rest])
            self._require(whole.shape[1:])
            return self._like(whole, whole.shape[1:])

    def _pieces(self, lengths: object, value: TfTensor) -> list[int]:
        """Return lengths as numbers, or raise where they cut no whole into as many as there are."""
        sizes = np.asarray(lengths)
        if sizes.ndim != 1:
            raise InvalidArgumentError(
                f"Expected lengths to be a vector, received shape: {list(sizes.shape)} "
            )
        count, room = static(self._size), (listed(value.shape) or [None])[0]
        if room is not None and sizes.sum() != room:
            raise InvalidArgumentError(
                "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
                f"{sizes.sum()} and value's shape is: {value.shape.as_list()} "
            )
        if isinstance(count, int) and not self._grows and count != len(sizes):
            raise InvalidArgumentError(
                f"TensorArray's size is not equal to the size of lengths ({count} vs. "
                f"{len(sizes)}), and the TensorArray is not marked as dynamically resizeable."
            )
        counts: list[int] = sizes.tolist()
        return counts

    def size(self, name: str | None = None) -> TfTensor:
        """Return how many elements there are."""
        if self._graph is None:
            return constant(len(self._list))
        with InGraph(self._graph):
            if self._flow is None:
                return convert(self._size, "int32")
            return shape(self._flow)[0]

    def identity(self) -> TensorArray:
        """Return the array."""
        return self

    def grad(self, *_: object, **__: object) -> NoReturn:
        """Refuse: gradients go through the elements themselves."""
        raise NotImplementedError("TensorArray.grad: take the gradients of the elements")

    def close(self, name: str | None = None) -> None:
        """Forget the elements."""
        self._list = [None] * len(self._list)

    # What a choice gives and a loop carries of it (`autograph.Staged`).

    def staged_parts(self) -> list[GraphTensor] | None:
        """Return the tensor of all elements; None as long as their shape is not known."""
        made = self._entered()
        return None if made._flow is None else [made._flow]

    def _entered(self) -> TensorArray:
        """Return the array in the graph that is being traced."""
        made = self.copy()
        made._enter(STATE.context if isinstance(STATE.context, Graph) else None)
        return made

    def staged_copy(self) -> TensorArray:
        """Return another array with the same elements."""
        return self.copy()

    def staged_shapes(self) -> list[object]:
        """Return the shape of all elements in all turns of a loop."""
        return [self._entered().carried()[1]]

    def with_staged_parts(self, parts: Sequence[GraphTensor]) -> TensorArray:
        """Return the array of other elements."""
        return self._like(parts[0])

    def staged_like(self, other: TensorArray) -> TensorArray:
        """Return the array with elements of another one's shape, of which it has none yet."""
        return self if other._flow is None else self._begun(other)

    def _begun(self, other: TensorArray) -> TensorArray:
        return self.copy().started(listed(other.element_shape))

    def staged_length(self) -> TfTensor:
        """Return how many elements there are."""
        return self.size()

    # What a loop carries of it.

    def _graph_or_flow(self) -> object:
        return self._flow if self._flow is not None else self._size

    def copy(self) -> TensorArray:
        """Return another array with the same elements."""
        made = TensorArray.__new__(TensorArray)
        made.__dict__.update(self.__dict__)
        return made

    def carried(self) -> tuple[Any, object]:
        """Return the tensor that a loop carries, and its shape in all rounds."""
        dims = listed(self._elements().shape)
        if dims is None:
            return self._elements(), None
        return self._flow, [None if self._grows else dims[0], *dims[1:]]

    def carrying(self, flow: object) -> TensorArray:
        """Return the array whose elements are a tensor that a loop carries."""
        return self._like(flow)


def _same(value: object, name: str | None) -> TfTensor:
    from ..ops.math_ops import identity  # noqa: PLC0415

    return identity(value, name=name)
