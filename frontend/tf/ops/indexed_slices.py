"""`IndexedSlices`: the gradient of taking rows, as the rows and where they belong."""

from __future__ import annotations

import typing
from collections import namedtuple
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import wraps
from typing import Any, NamedTuple, Protocol, TypeVar

from ....ir.types.tensor import TensorSpec
from ...eager.backward import Slices
from ...eager.tensor import Tensor
from ...graph.graph import Graph, GraphTensor, Operation
from ...graph.kinds import Composite
from ...values.context import STATE, Use
from ...values.dispatch import BEHIND
from ...values.dtypes import DataType, DTypeLike
from ...values.nest import Parted, flatten, pack_level
from ..core.bridge import TfTensor, dressed, dressed_leaves
from ..core.element_types import as_dtype
from ..core.shapes import ShapeLike, TensorShape
from ..core.specs import Specified, TypeSpec
from ..core.specs import TensorSpec as Spec
from ..core.values import InGraph, convert, graph_of, static
from .array_ops import broadcast_to, concat, expand_dims, reshape, shape, stack
from .creation import range_
from .gathering import scatter_nd
from .math_ops import FUNCTIONS, cast
from .math_ops import scalar_mul as number_times

IndexedSlicesValue = namedtuple("IndexedSlicesValue", "values indices dense_shape")


def _of_graph(tensor: TfTensor) -> GraphTensor:
    """Return a tensor, or raise if it belongs to no graph."""
    if not isinstance(tensor, GraphTensor):
        raise AttributeError("slices that have been computed belong to no graph")
    return tensor


class IndexedSlices(Slices, Parted, Specified):
    """Slices along the first axis of a tensor that is zero elsewhere; equal indices add up."""

    def __init__(
        self, values: TfTensor, indices: TfTensor, dense_shape: TfTensor | None = None
    ) -> None:
        self._values, self._indices, self._dense_shape = values, indices, dense_shape

    @property
    def values(self) -> TfTensor:
        """Return the slices."""
        return self._values

    @property
    def indices(self) -> TfTensor:
        """Return where each slice belongs."""
        return self._indices

    @property
    def dense_shape(self) -> TfTensor | None:
        """Return the shape of the whole tensor."""
        return self._dense_shape

    @property
    def dtype(self) -> DataType:
        """Return the element type."""
        return self._values.dtype

    @property
    def spec(self) -> TensorSpec:
        """Return the spec of the slices."""
        return self._values.spec

    @property
    def shape(self) -> TensorShape:
        """Return the shape of the whole tensor as far as it is known."""
        known = static(self._dense_shape)
        if isinstance(known, list):
            return TensorShape(known)
        if isinstance(known, GraphTensor) and known.op.type == "Shape":
            return dressed(known.op.inputs[0]).shape
        rest = self._values.shape._dims
        return TensorShape(None if rest is None else [None, *rest[1:]])

    @property
    def name(self) -> str:
        """Return the name of the slices in their graph."""
        return _of_graph(self._values).name

    @property
    def device(self) -> Any:
        """Return the device of the slices."""
        return self._values.device

    @property
    def op(self) -> Operation:
        """Return the operation that the slices come from."""
        return _of_graph(self._values).op

    @property
    def graph(self) -> Graph:
        """Return the graph of the slices."""
        return _of_graph(self._values).graph

    def type_spec(self) -> IndexedSlicesSpec:
        """Return what they are like."""
        whole = self._dense_shape
        return IndexedSlicesSpec(
            self.shape, self.dtype, self._indices.dtype, None if whole is None else whole.dtype,
            self._indices.shape,
        )  # fmt: skip

    def components(self) -> list[TfTensor]:
        """Return the slices, where they belong, and the whole shape if there is one."""
        whole = [] if self._dense_shape is None else [self._dense_shape]
        return [self._values, self._indices, *whole]

    def with_components(self, parts: Sequence[object]) -> IndexedSlices:
        """Return slices of other tensors."""
        return IndexedSlices(*parts)  # type: ignore[arg-type]

    def to_dense(self) -> TfTensor:
        """Return the whole tensor."""
        with InGraph(graph_of([self._values])):
            return scatter_nd(expand_dims(self._indices, -1), self._values, self._dense_shape)

    def __neg__(self) -> IndexedSlices:
        return self.with_values(FUNCTIONS["negative"](self._values))

    def like(self, whole: object) -> IndexedSlices:
        """Return the same slices as those of a value, whatever was said of the shape."""
        return IndexedSlices(self._values, self._indices, shape(whole))

    def joined(self, other: IndexedSlices) -> IndexedSlices:
        """Return the slices of both."""
        values = concat([self._values, other.values], 0)
        indices = [self._indices, other.indices]
        if indices[0].dtype != indices[1].dtype:
            indices = [cast(x, "int64") for x in indices]
        return IndexedSlices(values, concat(indices, 0), self._dense_shape)

    def with_values(self, values: TfTensor) -> IndexedSlices:
        """Return other slices at the same places."""
        return IndexedSlices(values, self._indices, self._dense_shape)

    @property
    def fetched_parts(self) -> list[TfTensor]:
        """Return the tensors that a session fetches for it."""
        every = (self._values, self._indices, self._dense_shape)
        return [part for part in every if part is not None]

    def fetched(self, found: Sequence[object]) -> IndexedSlicesValue:
        """Return what a session gives for it."""
        return IndexedSlicesValue(*found, *[None] * (3 - len(found)))

    def __str__(self) -> str:
        dense = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{dense})"


Function = TypeVar("Function", bound=Callable[..., TfTensor])


def of_slices(function: Function) -> Function:
    """Let a function of a tensor give slices for slices: it is given their values."""

    @wraps(function)
    def made(*args: object, **options: object) -> TfTensor | IndexedSlices:
        every = [x for x in (*args, *options.values()) if isinstance(x, IndexedSlices)]
        if not every:
            return function(*args, **options)
        inner = [x.values if isinstance(x, IndexedSlices) else x for x in args]
        named = {k: x.values if isinstance(x, IndexedSlices) else x for k, x in options.items()}
        return every[0].with_values(function(*inner, **named))

    BEHIND[made] = function
    return typing.cast("Function", made)


scalar_mul = of_slices(number_times)


class SlicesParts(tuple[object, ...]):
    """The parts of `IndexedSlices` as a structure of tensors, which becomes slices when packed."""

    __slots__ = ()
    _fields = ("values", "indices", "dense_shape")

    def __new__(cls, values: Any, indices: Any, dense_shape: Any) -> Any:
        """Return the slices."""
        return IndexedSlices(values, indices, dense_shape)


class IndexedSlicesSpec(TypeSpec):
    """What slices are like: the whole tensor, and the element types of their parts."""

    value_type = IndexedSlices

    def __init__(
        self,
        shape: ShapeLike = None,
        dtype: DTypeLike = "float32",
        indices_dtype: DTypeLike = "int64",
        dense_shape_dtype: DTypeLike | None = None,
        indices_shape: ShapeLike = None,
    ) -> None:
        self.shape, self.dtype = TensorShape(shape), as_dtype(dtype)
        self.indices_dtype = as_dtype(indices_dtype)
        self.dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        self.indices_shape = TensorShape([None] if indices_shape is None else indices_shape)

    def parts(self) -> ArgumentParts:
        """Return the specs of the parts, as the parts of slices stand."""
        whole = self.shape._dims
        values = None if whole is None else [*self.indices_shape.as_list(), *whole[1:]]
        places = Spec(self.indices_shape, self.indices_dtype)
        kind = self.dense_shape_dtype
        sizes = None if kind is None else Spec([self.shape.rank], kind)
        return ArgumentParts(Spec(values, self.dtype), places, sizes)

    def components(self) -> list[Spec]:
        """Return the specs of the tensors that there are."""
        return [x for x in self.parts() if isinstance(x, Spec)]

    def as_invariant(self, shape: ShapeLike) -> IndexedSlicesSpec:
        """Return the description of slices whose values have a shape."""
        dims = TensorShape(shape)._dims
        whole = None if dims is None else [None, *dims[1:]]
        first = None if dims is None else dims[:1]
        return IndexedSlicesSpec(
            whole, self.dtype, self.indices_dtype, self.dense_shape_dtype, first
        )

    def form(self) -> tuple[Hashable, ...]:
        """Return all that it says."""
        types = self.dtype, self.indices_dtype, self.dense_shape_dtype
        names = [None if t is None else t.name for t in types]
        return self.shape._dims, *names, self.indices_shape._dims

    def is_compatible_with(self, spec_or_value: object) -> bool:
        """Say whether slices, or their description, are of this kind."""
        found = (
            spec_or_value.type_spec() if isinstance(spec_or_value, IndexedSlices) else spec_or_value
        )
        return (
            isinstance(found, IndexedSlicesSpec)
            and found.form()[1:4] == self.form()[1:4]
            and self.shape.is_compatible_with(found.shape)
            and self.indices_shape.is_compatible_with(found.indices_shape)
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IndexedSlicesSpec) and self.form() == other.form()

    def __hash__(self) -> int:
        return hash(self.form())

    def __repr__(self) -> str:
        kinds = (self.dtype, self.indices_dtype, self.dense_shape_dtype)
        types = ", ".join("None" if t is None else f"tf.{t.name}" for t in kinds)
        return f"IndexedSlicesSpec({self.shape!r}, {types}, {self.indices_shape!r})"


class ArgumentParts(NamedTuple):
    """The parts of slices that are an argument of a function."""

    values: object
    indices: object
    dense_shape: object


def as_argument(value: object) -> object:
    """Return slices, or what is said of them, as parts of an argument; else what it is."""
    if isinstance(value, IndexedSlicesSpec):
        return value.parts()
    if not isinstance(value, IndexedSlices):
        return value
    return ArgumentParts(value.values, value.indices, value.dense_shape)


def as_slices(tree: object) -> object:
    """Return a structure with slices where the parts of an argument stand."""
    if isinstance(tree, ArgumentParts):
        return IndexedSlices(*tree)  # type: ignore[arg-type]
    if type(tree) is dict:
        return {key: as_slices(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return pack_level(tree, [as_slices(value) for value in tree])
    return tree


def holds_slices(values: Iterable[object]) -> bool:
    """Say whether there are slices, or their description, among values or in their structures."""
    return any(
        isinstance(x, IndexedSlices | IndexedSlicesSpec)
        or (isinstance(x, list | tuple | dict) and holds_slices(flatten(x)))
        for x in values
    )


def as_parts(value: object) -> object:
    """Return slices as a structure of their parts, anything else as it is."""
    if not isinstance(value, IndexedSlices):
        return value
    return tuple.__new__(SlicesParts, (value.values, value.indices, value.dense_shape))


def of_gather(params: Tensor, indices: Tensor, grad: Tensor) -> IndexedSlices:
    """Return the gradient of rows taken along the first axis."""
    with InGraph(graph_of([params, indices, grad])):
        full = shape(params)
        dims = params.spec.shape
        is_known = dims is not None and all(isinstance(d, int) for d in dims[1:])
        rows = [-1, *dims[1:]] if dims is not None and is_known else concat([[-1], full[1:]], 0)
        return IndexedSlices(reshape(dressed(grad), rows), reshape(dressed(indices), [-1]), full)


def of_node(op: Operation, grads: Sequence[Any]) -> list[IndexedSlices | None] | None:
    """Return the gradients of a node that takes rows, None of any other."""
    kind = op.kind
    if op.type not in ("GatherV2", "GatherNd") or not isinstance(kind, Composite):
        return None  # (one of the IR itself has a whole gradient)
    if kind.options.get("axis", 0) != 0 or kind.options["batch_dims"]:
        return None
    return _of_rows(op.inputs, grads[0], is_column=op.type == "GatherNd")


def _of_rows(
    operands: Sequence[Tensor], grad: Tensor | None, *, is_column: bool
) -> list[IndexedSlices | None] | None:
    """Return the gradients if there is one, and indices are a column if they must."""
    params, indices = operands
    places = indices.spec.shape
    if grad is None:
        return None
    if is_column and (places is None or len(places) != COLUMN or places[-1] != 1):
        return None
    return [of_gather(params, indices, grad), None]


COLUMN = 2
"""The axes of a column."""


def of_use(use: Use, grads: Sequence[Any]) -> list[IndexedSlices | None] | None:
    """Return the gradients of a use that takes rows, None of any other."""
    options = use.attributes or {}
    whole = None if use.op is None else use.op.name
    rows = whole == "gv.gather" and options.get("axis") == 0 and use.name in ("GatherV2", whole)
    column = whole == "gv.gather_nd" and not options.get("batch_dims")
    column = column and use.name in ("GatherNd", whole)
    if not rows and not column:
        return None
    return _of_rows([dressed_leaves(use.operands[0]), use.operands[1]], grads[0], is_column=column)


def batch_places(indices: object) -> TfTensor:
    """Return indices with those of the axes before the last in front of each."""
    places = convert(indices)
    rank, sizes = len(places.shape), shape(places)
    outer = [
        reshape(range_(sizes[axis]), [-1, *[1] * (rank - 1 - axis)]) for axis in range(rank - 1)
    ]
    return stack([*[broadcast_to(cast(x, places.dtype), sizes) for x in outer], places], axis=-1)


class Scattered(Protocol):
    """A variable that is changed at indices."""

    def scatter_nd_update(
        self, indices: object, updates: object, name: str | None = None
    ) -> object:
        """Write slices at indices."""

    def assign(self, value: object, *, name: str | None = None) -> object:
        """Give it another value."""


def in_column(slices: Any) -> tuple[object, object]:
    """Return the indices of slices as a column, and their values."""
    return expand_dims(slices.indices, -1), slices.values


def scattered_at(what: str, change: Callable[..., object]) -> Callable[..., object]:
    """Return a method of variables that combines slices with those at indices."""

    def method(
        self: Scattered, indices: object, updates: object, name: str | None = None
    ) -> object:
        """Combine slices with those at indices."""
        if STATE.replica is not None:
            STATE.replica.refuse_rows(self, what)
        return self.assign(change(self, indices, updates), name=name)

    return method


def scattered(what: str, change: Callable[..., object]) -> Callable[..., object]:
    """Return the same of slices with their indices."""

    def method(
        self: Scattered, sparse_delta: object, use_locking: object = None, name: str | None = None
    ) -> object:
        """Combine slices with those at their indices."""
        if STATE.replica is not None:
            STATE.replica.refuse_rows(self, what)
        return self.assign(change(self, *in_column(sparse_delta)), name=name)

    return method


def change_batches(
    self: Scattered, sparse_delta: object, use_locking: object = None, name: str | None = None
) -> object:
    """Give slices of a variable new values: the axes of indices before the last are its own."""
    if not isinstance(sparse_delta, IndexedSlices):
        raise TypeError(f"`sparse_delta` must be a `tf.IndexedSlices`, got {sparse_delta!r}")
    places = batch_places(sparse_delta.indices)
    return self.scatter_nd_update(places, sparse_delta.values, name=name)
