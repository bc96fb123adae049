"""`RaggedTensor`: values that are cut into rows of different lengths, and what describes it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import pairwise
from typing import NoReturn, TypeAlias, cast

import numpy as np

from ....ir.op import Array
from ...data.batches import Pile
from ...function.graph_data import COMPOSITES
from ...graph.graph import Graph
from ...values.dispatch import Evaluated
from ...values.dtypes import DataType, DTypeLike
from ..core.bridge import EagerTensor, Fetching, SymbolicTfTensor, TfTensor
from ..core.element_types import as_dtype
from ..core.shapes import ShapeLike, TensorShape
from ..core.specs import TensorSpec
from ..core.values import InGraph, convert, graph_of
from ..nondense.composite import CompositeSpec, CompositeTensor
from ..ops import array_ops as a
from ..ops.creation import fill
from .partition import RowPartition
from .rows import splits_of

Ragged: TypeAlias = "TfTensor | RaggedTensor"
OPERATIONS: dict[str, Callable[..., object]] = {}
"""What methods and operators do, filled in by the files of the operations."""


class RaggedTensorValue(Evaluated):
    """The value of a ragged tensor as sessions give it: numpy's values and splits."""

    def __init__(self, values: Array | RaggedTensorValue, row_splits: Array) -> None:
        row_splits = np.asarray(row_splits)
        if row_splits.dtype not in (np.int32, np.int64):
            raise TypeError(
                f"Argument `row_splits` must have type int32 or int64, got {row_splits.dtype}"
            )
        if row_splits.ndim != 1:
            raise ValueError(f"Argument `row_splits` must be 1D, got {row_splits.ndim} axes")
        if not isinstance(values, RaggedTensorValue | np.ndarray | np.generic):
            raise TypeError(f"values must be arrays or ragged values, got {type(values)}")
        if not isinstance(values, RaggedTensorValue) and np.ndim(values) == 0:
            raise ValueError("values must have at least one axis")
        self.values, self.row_splits = values, row_splits

    def as_part(self) -> RaggedTensor:
        """Return the ragged tensor."""
        parts = [convert(x) for x in (self.flat_values, *self.nested_row_splits)]
        spec = RaggedTensorSpec(None, parts[0].dtype, len(parts) - 1, parts[1].dtype)
        return spec.made(parts)

    @property
    def flat_values(self) -> Array:
        """Return the values without rows."""
        inner = self.values
        return inner.flat_values if isinstance(inner, RaggedTensorValue) else inner

    @property
    def nested_row_splits(self) -> tuple[Array, ...]:
        """Return where rows begin and end at each level."""
        inner = self.values
        below = inner.nested_row_splits if isinstance(inner, RaggedTensorValue) else ()
        return (self.row_splits, *below)

    @property
    def ragged_rank(self) -> int:
        """Return how many levels of rows there are."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Return the type of the values."""
        return self.flat_values.dtype

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Return the shape; rows have no length."""
        return (len(self.row_splits) - 1, None, *self.values.shape[1:])

    def composite(self) -> Ragged:
        """Return the ragged tensor of such values."""
        return ragged_or_tensor(self)

    def to_list(self) -> list[object]:
        """Return rows as lists."""
        return listed(self.flat_values, self.nested_row_splits)

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self.values!r}, row_splits={self.row_splits!r})"


def listed(flat: Array, splits: Sequence[Array]) -> list[object]:
    """Return rows as lists."""
    made: list[object] = list(flat) if flat.dtype.kind == "V" else flat.tolist()
    for each in reversed(splits):
        ends = each.tolist()
        made = [made[i:j] for i, j in pairwise(ends)]
    return made


def _shown_rows(value: object, ends: int) -> str:
    """Return rows as `tf.print` writes them: elements as `tf.strings.as_string` gives them."""
    if isinstance(value, bytes):
        text = value.decode(errors="replace").replace("\\", "\\\\").replace("'", "\\'")
        return f"'{text}'"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, complex):
        return f"({value.real:f},{value.imag:f})"
    if not isinstance(value, list):
        return f"{value:f}" if isinstance(value, float) else str(value)
    places = [*range(len(value))]
    if 0 <= 2 * ends < len(places):
        places[ends : -ends or None] = [-1]
    shown = ("..." if i < 0 else _shown_rows(value[i], ends) for i in places)
    return f"[{', '.join(shown)}]"


class RaggedPile(Pile):
    """Values and splits as one part of an element; without splits it is a plain array."""

    def __init__(self, flat: Array, *splits: Array) -> None:
        self.flat, self.splits = flat, splits

    def arrays(self) -> Sequence[Array]:
        """Return the values, then splits from the outermost level."""
        return self.flat, *self.splits

    @classmethod
    def of(cls, arrays: Sequence[Array]) -> RaggedPile:
        """Return the one of values and splits."""
        return cls(*arrays)

    @classmethod
    def piled(cls, given: Sequence[object]) -> RaggedPile:
        """Return several along a new first axis."""
        piles = [each for each in given if isinstance(each, RaggedPile)]
        number = piles[0].splits[0].dtype if piles[0].splits else np.dtype(np.int64)
        sizes = [len(x.splits[0]) - 1 if x.splits else len(x.flat) for x in piles]
        made = [splits_of(np.array(sizes)).astype(number)]
        for level in range(len(piles[0].splits)):
            counts = np.concatenate([np.diff(x.splits[level]) for x in piles])
            made.append(splits_of(counts).astype(number))
        return cls(np.concatenate([x.flat for x in piles]), *made)

    def rows(self) -> list[RaggedPile]:
        """Return the parts along the first axis."""
        if not self.splits:
            return [RaggedPile(x) for x in self.flat]
        first, *rest = self.splits
        made = []
        for ends in pairwise(first):
            begin, end = ends
            cut = []
            for each in rest:
                cut.append(each[begin : end + 1] - each[begin])
                begin, end = each[begin], each[end]
            made.append(RaggedPile(self.flat[begin:end], *cut))
        return made


class RaggedTensor(CompositeTensor):
    """Values that are cut into rows of different lengths, at one level or several."""

    pile = RaggedPile
    __slots__ = ("_rows", "_values")

    def __init__(self, values: object, row_partition: object, internal: bool = False) -> None:
        if not internal:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods "
                "instead (e.g., RaggedTensor.from_row_lengths())"
            )
        assert isinstance(values, TfTensor | RaggedTensor), "values are tensors"
        assert isinstance(row_partition, RowPartition), "rows are a partition"
        self._values: Ragged = values
        self._rows: RowPartition = row_partition

    @classmethod
    def cut(cls, values: Ragged, rows: RowPartition) -> RaggedTensor:
        """Return values cut into rows; numbers of both levels have one type."""
        if isinstance(values, RaggedTensor) and values.row_splits.dtype != rows.dtype:
            values, rows = values.with_row_splits_dtype("int64"), rows.with_dtype("int64")
        return cls(values, rows, internal=True)

    @property
    def values(self) -> Ragged:
        """Return what the rows hold, one behind the other."""
        return self._values

    @property
    def row_partition(self) -> RowPartition:
        """Return how the values are cut."""
        return self._rows

    @property
    def row_splits(self) -> TfTensor:
        """Return where rows begin and end."""
        return self._rows.row_splits()

    @property
    def flat_values(self) -> TfTensor:
        """Return the values without rows."""
        inner = self._values
        return inner.flat_values if isinstance(inner, RaggedTensor) else inner

    @property
    def partitions(self) -> tuple[RowPartition, ...]:
        """Return how values are cut at each level, from the outermost one."""
        inner = self._values
        return (self._rows, *(inner.partitions if isinstance(inner, RaggedTensor) else ()))

    @property
    def nested_row_splits(self) -> tuple[TfTensor, ...]:
        """Return where rows begin and end at each level."""
        if not isinstance(self._values, RaggedTensor):
            return (self._rows.row_splits(),)
        return tuple(x.row_splits() for x in self.partitions)

    def nested_row_lengths(self, name: str | None = None) -> tuple[TfTensor, ...]:
        """Return the lengths of rows at each level."""
        return tuple(x.row_lengths() for x in self.partitions)

    def nested_value_rowids(self, name: str | None = None) -> tuple[TfTensor, ...]:
        """Return the row of each value at each level."""
        return tuple(x.value_rowids() for x in self.partitions)

    def value_rowids(self, name: str | None = None) -> TfTensor:
        """Return the row of each value."""
        return self._rows.value_rowids()

    def nrows(self, out_type: DTypeLike | None = None, name: str | None = None) -> TfTensor:
        """Return how many rows there are."""
        return self._rows.nrows(out_type)

    def row_starts(self, name: str | None = None) -> TfTensor:
        """Return where rows begin."""
        return self._rows.row_starts()

    def row_limits(self, name: str | None = None) -> TfTensor:
        """Return where rows end."""
        return self._rows.row_limits()

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Ragged:
        """Return the lengths of the rows along an axis."""
        if axis == 1 and axis.__class__ is int:
            return self._rows.row_lengths()  # known where somebody has asked: few words are said
        axis = _axis_of(axis, self.shape.rank) if axis < 0 or self.shape.rank else axis
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return self._rows.row_lengths()
        inner = self._values
        if isinstance(inner, RaggedTensor):
            return self.with_values(inner.row_lengths(axis - 1))
        sizes = a.shape(inner, self.row_splits.dtype)
        return self.with_values(fill(sizes[: axis - 1], sizes[axis - 1]))

    @property
    def uniform_row_length(self) -> TfTensor | None:
        """Return the length of all rows, None if rows may differ."""
        return self._rows.uniform_row_length()

    @property
    def ragged_rank(self) -> int:
        """Return how many levels of rows there are."""
        return len(self.partitions)

    @property
    def dtype(self) -> DataType:
        """Return the type of the values."""
        return self.flat_values.dtype

    @property
    def shape(self) -> TensorShape:
        """Return the shape as far as it is known; rows that may differ have no length."""
        dims = self.flat_values.shape._dims
        return TensorShape(None if dims is None else [*self.row_sizes(), *dims[1:]])

    def row_sizes(self) -> list[int | None]:
        """Return how many rows there are, and the length of those of each level, if it is known.

        They are known where the rank of what is in the rows is not.
        """
        levels = self.partitions
        count = levels[0].static_nrows
        if count is None and levels[0].static_uniform_row_length:
            inner = self._values.shape._dims
            number = None if not inner else inner[0]
            count = None if number is None else number // levels[0].static_uniform_row_length
        return [count, *(x.static_uniform_row_length for x in levels)]

    def get_shape(self) -> TensorShape:
        """Return the shape as far as it is known."""
        return self.shape

    @property
    def graph(self) -> Graph:
        """Return the graph that the values belong to."""
        found: Graph = self.flat_values.graph  # type: ignore[attr-defined]
        return found

    def with_values(self, new_values: object) -> RaggedTensor:
        """Return rows that hold other values."""
        values = ragged_or_tensor(new_values)
        rank = values.shape.rank
        if rank is not None and rank < 1:
            raise ValueError(f"Shape {values.shape} must have rank at least 1")
        have, wanted = (values.shape._dims or (None,))[0], (self._values.shape._dims or (None,))[0]
        if have is not None and wanted is not None and have != wanted:
            raise ValueError(f"Shapes ({have},) and ({wanted},) are incompatible")
        if isinstance(values, RaggedTensor) and values.row_splits.dtype != self._rows.dtype:
            return RaggedTensor.cut(values, self._rows)
        return RaggedTensor(values, self._rows, internal=True)

    def with_flat_values(self, new_values: object) -> RaggedTensor:
        """Return rows of other values without rows."""
        inner = self._values
        if isinstance(inner, RaggedTensor):
            return self.with_values(inner.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype: DTypeLike) -> RaggedTensor:
        """Return the same rows by splits of another type."""
        if as_dtype(dtype).name not in ("int32", "int64"):
            raise ValueError(f"Argument `row_splits` dtype must be int32 or int64, got {dtype}")
        if self.row_splits.dtype == as_dtype(dtype):
            return self
        inner = self._values
        below = inner.with_row_splits_dtype(dtype) if isinstance(inner, RaggedTensor) else inner
        return RaggedTensor(below, self._rows.with_dtype(dtype), internal=True)

    def is_cut_like(self, other: RaggedTensor) -> bool:
        """Say whether rows are the same ones, as far as that is known without looking."""
        mine, theirs = self.partitions, other.partitions
        return len(mine) == len(theirs) and all(map(RowPartition.is_like, mine, theirs))

    def eager(self) -> bool:
        """Say whether all of it is computed."""
        return all(isinstance(x, EagerTensor) for x in self.components())

    def to_list(self) -> list[object]:
        """Return rows as lists; there have to be computed values."""
        if not self.eager():
            raise ValueError("to_list can only be used in eager mode or with a value of a session.")
        return listed(self.flat_values._array, [x._array for x in self.nested_row_splits])

    def numpy(self) -> Array:
        """Return an array; of rows of different lengths one of arrays."""
        if not self.eager():
            raise ValueError("RaggedTensor.numpy() is only supported in eager mode.")
        values = self._values
        inner = values.numpy() if isinstance(values, RaggedTensor) else values._array
        ends = self.row_splits._array.tolist()
        rows = [inner[i:j] for i, j in pairwise(ends)]
        if not rows:
            return np.array([], inner.dtype)
        if any(len(x) != len(rows[0]) for x in rows):
            made = np.empty(len(rows), object)
            made[:] = rows
            return made
        return np.array(rows, inner.dtype if inner.dtype.kind != "O" else None)

    def eval(self, feed_dict: object = None, session: Fetching | None = None) -> object:
        """Return the value in a session."""
        parts = [x for x in self.components() if isinstance(x, SymbolicTfTensor)]
        return self.fetched([x.eval(feed_dict, session) for x in parts])

    def components(self) -> list[TfTensor]:
        """Return the values without rows, then splits from the outermost level."""
        return [self.flat_values, *self.nested_row_splits]

    def differentiated(self) -> int:
        """Return the place of the values."""
        return 0

    def with_gradients(self, parts: Sequence[object]) -> object:
        """Return the gradient: rows of the values' gradients."""
        return None if parts[0] is None else self.with_flat_values(parts[0])

    def printed(self, parts: Sequence[object], ends: int) -> str:
        """Return rows as they are printed, of long ones only both ends."""
        flat, *splits = (np.asarray(x) for x in parts)
        return _shown_rows(listed(flat, splits), ends)

    def type_spec(self) -> RaggedTensorSpec:
        """Return what it is like."""
        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, self.row_splits.dtype)

    def fetched(self, values: Sequence[object]) -> RaggedTensorValue:
        """Return what a session gives for it."""
        flat, *splits = (np.asarray(x) for x in values)
        made: Array | RaggedTensorValue = flat
        for each in reversed(splits):
            made = RaggedTensorValue(made, each)
        assert isinstance(made, RaggedTensorValue), "there are splits"
        return made

    def fed(self, value: object) -> Sequence[object]:
        """Return values and splits of what is fed."""
        return fed_parts(value)

    def rows(self) -> TfTensor:
        """Return how many slices there are along the first axis."""
        return self.nrows()

    def __gv_len__(self) -> TfTensor:
        """Return how many rows there are."""
        return self.nrows()

    def __iter__(self) -> Iterator[Ragged]:
        count = self._rows.static_nrows
        if count is None or not self.eager():
            raise TypeError("iterating over a RaggedTensor of a graph is not possible")
        return (self[i] for i in range(count))

    def __bool__(self) -> NoReturn:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __getitem__(self, key: object) -> Ragged:
        found = OPERATIONS["getitem"](self, key)
        assert isinstance(found, TfTensor | RaggedTensor), "rows hold tensors"
        return found

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        if self.eager():
            return f"<tf.RaggedTensor {_text(self.numpy())}>"
        return f"tf.RaggedTensor(values={self._values!s}, row_splits={self.row_splits!s})"

    def to_tensor(
        self, default_value: object = None, name: str | None = None, shape: object = None
    ) -> TfTensor:
        """Return rows filled up to one length."""
        found = OPERATIONS["to_tensor"](self, default_value, name, shape)
        assert isinstance(found, TfTensor), "it is dense"
        return found

    def to_sparse(self, name: str | None = None) -> CompositeTensor:
        """Return a sparse tensor of the elements."""
        found = OPERATIONS["to_sparse"](self, name)
        assert isinstance(found, CompositeTensor), "it is sparse"
        return found

    def bounding_shape(
        self, axis: object = None, name: str | None = None, out_type: DTypeLike | None = None
    ) -> TfTensor:
        """Return the shape of the smallest tensor that holds the rows."""
        found = OPERATIONS["bounding_shape"](self, axis, name, out_type)
        assert isinstance(found, TfTensor), "a shape is a tensor"
        return found

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Ragged:
        """Return the same values with several axes made one."""
        found = OPERATIONS["merge_dims"](self, outer_axis, inner_axis)
        assert isinstance(found, TfTensor | RaggedTensor), "rows are merged"
        return found


def _text(value: object) -> str:
    """Return an array of arrays as lists are written, its elements as numpy writes them."""
    if not isinstance(value, np.ndarray):
        return str(value)
    if not value.size:
        return repr(value.tolist())
    with np.printoptions(formatter={"all": _text}):
        return np.array2string(value, separator=", ")


def _axis_of(axis: int, rank: int | None) -> int:
    """Return an axis counted from the front, or raise."""
    if rank is None:
        raise ValueError(f"axis={axis} may only be negative if ndims is statically known.")
    if not -rank <= axis < rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    return axis % rank


def fed_parts(value: object) -> list[object]:
    """Return values and splits of a computed ragged value."""
    if isinstance(value, RaggedTensor):
        return [x.numpy() for x in value.components()]
    if isinstance(value, RaggedTensorValue):
        return [value.flat_values, *value.nested_row_splits]
    raise TypeError(f"found {type(value).__name__}, expected a ragged value to feed")


def ragged_or_tensor(
    value: object, dtype: DTypeLike | None = None, name: str | None = None
) -> Ragged:
    """Return a value as a ragged tensor if it is one, else as a tensor."""
    if isinstance(value, RaggedTensor):
        return value
    if isinstance(value, RaggedTensorValue):
        flat, *splits = fed_parts(value)
        made: Ragged = convert(flat, dtype)
        for each in reversed(splits):
            made = RaggedTensor.cut(made, RowPartition(convert(each)))
        return made
    return convert(value, dtype, name)


class RaggedTensorSpec(CompositeSpec):
    """What a ragged tensor is like: of no level of rows, a tensor."""

    value_type = RaggedTensor

    def __init__(
        self,
        shape: ShapeLike = None,
        dtype: DTypeLike | None = "float32",
        ragged_rank: int | None = None,
        row_splits_dtype: DTypeLike = "int64",
        flat_values_spec: object = None,
    ) -> None:
        if flat_values_spec is not None:
            raise NotImplementedError("flat_values_spec: values of ragged tensors are tensors")
        self._shape, self._dtype = TensorShape(shape), as_dtype(dtype)
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        self._levels, self._splits = ragged_rank, as_dtype(row_splits_dtype)
        if not isinstance(ragged_rank, int):
            raise TypeError(f"Argument `ragged_rank` must be an int, got {ragged_rank!r}")
        if rank is not None and ragged_rank >= rank:
            raise ValueError(
                f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank})."
            )
        if self._splits.name not in ("int32", "int64"):
            raise ValueError(f"row_splits_dtype must be int32 or int64, got {row_splits_dtype}")

    def as_invariant(self, shape: ShapeLike) -> RaggedTensorSpec:
        """Return what a loop carries where a shape is stated for it."""
        return RaggedTensorSpec(shape, self._dtype, self._levels, self._splits)

    @property
    def shape(self) -> TensorShape:
        """Return the shape."""
        return self._shape

    @property
    def dtype(self) -> DataType:  # type: ignore[override]
        """Return the type of the values."""
        return self._dtype

    @property
    def ragged_rank(self) -> int:
        """Return how many levels of rows there are."""
        return self._levels

    @property
    def row_splits_dtype(self) -> DataType:
        """Return the type of splits."""
        return self._splits

    @property
    def flat_values_spec(self) -> None:
        """Return nothing: values are tensors."""

    def made(self, parts: Sequence[TfTensor]) -> RaggedTensor:
        """Return a ragged tensor of values and splits."""
        found: Ragged = parts[0]
        dims = self._shape._dims
        for level in range(len(parts) - 1, 0, -1):
            length = None if dims is None else dims[level]
            each = None
            if length is not None:
                with InGraph(graph_of(parts)):
                    each = convert(length, self._splits)
            rows = RowPartition(parts[level], uniform=each)
            found = RaggedTensor(found, rows, internal=True)
        return cast("RaggedTensor", found)  # of no level, a tensor stands for it

    def specs_of_parts(self) -> list[TensorSpec]:
        """Return the specs of the values and of splits."""
        dims = self._shape._dims
        levels = self._levels
        if not levels:
            return [TensorSpec(self._shape, self._dtype)]
        inner = None if dims is None else [None, *dims[levels + 1 :]]
        first = None if dims is None or dims[0] is None else dims[0] + 1
        counts = [first, *[None] * (levels - 1)]
        return [
            TensorSpec(inner, self._dtype),
            *(TensorSpec([count], self._splits) for count in counts),
        ]

    def without_rows(self) -> list[Array]:
        """Return no values, and splits of no rows."""
        values, *splits = super().without_rows()
        return [values, *(np.zeros(1, x.dtype) for x in splits)]

    def relaxed(self) -> RaggedTensorSpec:
        """Return the description of values of this rank and any size."""
        rank, levels = self._shape.rank, self._levels
        dims: list[int | None] | None = None
        if rank is not None:
            dims = [*[None] * (levels + 1), *self._shape.as_list()[levels + 1 :]]
        return RaggedTensorSpec(dims, self._dtype, self._levels, self._splits)

    def form(self) -> Hashable:
        """Return shape, type, levels and type of splits."""
        return self._shape._dims, self._dtype.name, self._levels, self._splits.name

    def is_compatible_with(self, spec_or_value: object) -> bool:
        """Say whether a value or a description is of this kind."""
        found: object = spec_or_value
        if isinstance(spec_or_value, TfTensor) and not self._levels:
            found = RaggedTensorSpec(spec_or_value.shape, spec_or_value.dtype, 0, self._splits)
        elif isinstance(spec_or_value, CompositeTensor):
            found = spec_or_value.type_spec()
        return isinstance(found, RaggedTensorSpec) and bool(
            found._dtype == self._dtype
            and found._levels == self._levels
            and found._splits == self._splits
            and self._shape.is_compatible_with(found._shape)
        )

    def stacked(self, extent: int | None) -> RaggedTensorSpec:
        """Return what several are like along a new first axis."""
        dims = self._shape._dims
        more = None if dims is None else (extent, *dims)
        return RaggedTensorSpec(more, self._dtype, self._levels + 1, self._splits)

    def unstacked(self) -> RaggedTensorSpec:
        """Return what one is like of several along the first axis."""
        dims = self._shape._dims
        less = None if dims is None else dims[1:]
        return RaggedTensorSpec(less, self._dtype, max(self._levels - 1, 0), self._splits)

    def __repr__(self) -> str:
        return (
            f"RaggedTensorSpec({self._shape!r}, tf.{self._dtype.name}, {self._levels}, "
            f"tf.{self._splits.name})"
        )


COMPOSITES["RaggedTensorSpec"] = RaggedTensorSpec


def same_graph(*values: object) -> InGraph:
    """Enter the graph of values that may be ragged."""
    found: list[object] = []
    for x in values:
        found += x.components() if isinstance(x, RaggedTensor) else [x]
    return InGraph(graph_of(found))
