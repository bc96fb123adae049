"""`SparseTensor`: the elements of a tensor that are not zero, and where they are."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Hashable, Iterator, Sequence

import numpy as np

from ....ir.op import Array
from ...data.batches import Pile
from ...eager.tensor import Tensor
from ...function.graph_data import COMPOSITES
from ...graph.func_graph import FuncGraph
from ...graph.graph import Graph
from ...values.context import STATE
from ...values.dispatch import Evaluated
from ...values.dtypes import DataType, DTypeLike
from ..core.bridge import Fetching, SymbolicTfTensor, TfTensor
from ..core.element_types import as_dtype
from ..core.shapes import ShapeLike, TensorShape
from ..core.sizes import sizes_told
from ..core.specs import TensorSpec
from ..core.values import InGraph, convert, graph_of, static
from ..graph.printing import shown
from .composite import CompositeSpec, CompositeTensor


class SparseTensorValue(Evaluated, namedtuple("SparseTensorValue", "indices values dense_shape")):
    """The value of a sparse tensor as sessions give it: numpy's indices, values and shape."""

    __slots__ = ()

    def composite(self) -> SparseTensor:
        """Return the sparse tensor."""
        return self.as_part()

    def as_part(self) -> SparseTensor:
        """Return the sparse tensor."""
        return SparseTensor.from_value(self)


COMBINE: list[Callable[[str, SparseTensor, object], SparseTensor]] = []
"""What combines elements with those of a tensor, filled in by `sparse_math`."""


class SparsePile(Pile):
    """Indices, values and shape as one part of an element."""

    def __init__(self, indices: Array, values: Array, shape: Array) -> None:
        self.indices, self.values, self.shape = indices, values, shape

    def arrays(self) -> Sequence[Array]:
        """Return indices, values and shape."""
        return self.indices, self.values, self.shape

    @classmethod
    def of(cls, arrays: Sequence[Array]) -> SparsePile:
        """Return the one of indices, values and shape."""
        return cls(*arrays)

    @classmethod
    def piled(cls, given: Sequence[object]) -> SparsePile:
        """Return several along a new first axis."""
        piles = [each for each in given if isinstance(each, SparsePile)]
        counts = [len(each.values) for each in piles]
        first = np.repeat(np.arange(len(piles), dtype=np.int64), counts)[:, None]
        rest = np.concatenate([each.indices for each in piles])
        shapes = np.stack([each.shape for each in piles])
        extents = np.array([len(piles), *shapes.max(axis=0)], np.int64)
        values = np.concatenate([each.values for each in piles])
        return cls(np.concatenate([first, rest], axis=1), values, extents)

    def rows(self) -> list[SparsePile]:
        """Return the parts along the first axis."""
        made = []
        for number in range(int(self.shape[0])):
            here = self.indices[:, 0] == number
            made.append(SparsePile(self.indices[here, 1:], self.values[here], self.shape[1:]))
        return made


class SparseTensor(CompositeTensor):
    """The elements of a tensor that are not zero: where they are, what they are, its shape."""

    pile = SparsePile
    __slots__ = ("_indices", "_shape", "_stated", "_values")

    def __init__(self, indices: object, values: object, dense_shape: object) -> None:
        with InGraph(graph_of([indices, values, dense_shape])):
            self._indices = convert(indices, "int64", "indices")
            self._values = convert(values, None, "values")
            self._shape = convert(dense_shape, "int64", "dense_shape")
        self._stated: TensorShape | None = None
        for tensor, rank in ((self._indices, 2), (self._values, 1), (self._shape, 1)):
            tensor.shape.assert_has_rank(rank)
        count, width = self._indices.shape.with_rank(2).as_list()
        for one, other in ((count, self._values.shape), (width, self._shape.shape)):
            extent = other.with_rank(1).as_list()[0]
            if None not in (one, extent) and one != extent:
                raise ValueError(f"Dimensions {one} and {extent} are not compatible")

    @classmethod
    def stated(
        cls, indices: object, values: object, dense_shape: object, shape: ShapeLike
    ) -> SparseTensor:
        """Return a sparse tensor of whose shape something is known besides."""
        made = cls(indices, values, dense_shape)
        made.set_shape(shape)
        return made

    @classmethod
    def of_parts(cls, indices: TfTensor, values: TfTensor, dense_shape: TfTensor) -> SparseTensor:
        """Return a sparse tensor of parts that are there, and fit."""
        made = cls.__new__(cls)
        made._indices, made._values, made._shape = indices, values, dense_shape
        made._stated = None
        return made

    @classmethod
    def trusted(
        cls, indices: TfTensor, values: TfTensor, dense_shape: TfTensor, like: SparseTensor
    ) -> SparseTensor:
        """Return a sparse tensor of parts that fit, of the shape that another one has."""
        if STATE.context is not None:
            stated: SparseTensor = cls.stated(indices, values, dense_shape, like.shape)
            return stated
        made = cls.__new__(cls)
        made._indices, made._values, made._shape = indices, values, dense_shape
        made._stated = like._stated
        return made

    @classmethod
    def from_value(cls, sparse_tensor_value: object) -> SparseTensor:
        """Return what a value describes that has indices, values and a shape."""
        if not isinstance(sparse_tensor_value, SparseTensor | SparseTensorValue):
            raise TypeError(
                f"Argument sparse_tensor_value={sparse_tensor_value} is neither a SparseTensor nor "
                "SparseTensorValue."
            )
        return cls(
            sparse_tensor_value.indices, sparse_tensor_value.values, sparse_tensor_value.dense_shape
        )

    @property
    def indices(self) -> TfTensor:
        """Return where the elements are, a row for each."""
        return self._indices

    @property
    def values(self) -> TfTensor:
        """Return the elements."""
        return self._values

    @property
    def dense_shape(self) -> TfTensor:
        """Return the shape of the whole tensor.

        In a function it is a constant where it is stated: what is made of its numbers has sizes
        that are known.
        """
        stated = self._stated
        if stated is None or not isinstance(STATE.context, FuncGraph):
            return self._shape
        if isinstance(self._shape, SymbolicTfTensor) and stated.is_fully_defined():
            return convert(stated.known(), "int64", "dense_shape")
        return self._shape

    @property
    def dtype(self) -> DataType:
        """Return the element type."""
        return self._values.dtype

    @property
    def graph(self) -> Graph:
        """Return the graph that the elements belong to."""
        found: Graph = self._indices.graph  # type: ignore[attr-defined]
        return found

    @property
    def op(self) -> object:
        """Return the operation that the elements come from."""
        return self._values.op  # type: ignore[attr-defined]

    @property
    def shape(self) -> TensorShape:
        """Return the shape as far as it is known."""
        known = static(self._shape)
        if isinstance(known, list):
            return TensorShape(known)
        rank = self._shape.shape.num_elements()
        found = TensorShape(sizes_told(self._shape) or (None if rank is None else [None] * rank))
        return found if self._stated is None else found.merge_with(self._stated)

    def get_shape(self) -> TensorShape:
        """Return the shape as far as it is known."""
        return self.shape

    def set_shape(self, shape: ShapeLike) -> None:
        """State what is known of the shape, which must be true."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Shapes {self.shape} and {TensorShape(shape)} are not compatible")
        self._stated = self.shape.merge_with(shape)

    def with_values(self, new_values: object) -> SparseTensor:
        """Return other elements at the same places."""
        made: SparseTensor = SparseTensor.stated(self._indices, new_values, self._shape, self.shape)
        return made

    def eval(self, feed_dict: object = None, session: Fetching | None = None) -> object:
        """Return the value in a session."""
        parts = [x for x in self.components() if isinstance(x, SymbolicTfTensor)]
        return SparseTensorValue(*[x.eval(feed_dict, session) for x in parts])

    def components(self) -> list[TfTensor]:
        """Return indices, values and shape."""
        return [self._indices, self._values, self._shape]

    def differentiated(self) -> int:
        """Return the place of the elements."""
        return 1

    def type_spec(self) -> SparseTensorSpec:
        """Return what it is like."""
        return SparseTensorSpec(self.shape, self.dtype)

    def printed(self, parts: Sequence[object], ends: int) -> str:
        """Return its tensors as they are printed."""
        indices, values, shape = (shown(np.asarray(x), ends) for x in parts)
        return f"'SparseTensor(indices={indices}, values={values}, shape={shape})'"

    def fetched(self, values: Sequence[object]) -> SparseTensorValue:
        """Return what a session gives for it."""
        return SparseTensorValue(*values)

    def fed(self, value: object) -> Sequence[object]:
        """Return indices, values and shape of what is fed."""
        if isinstance(value, SparseTensor | SparseTensorValue):
            return [
                x.numpy() if isinstance(x, Tensor) and x.eager else x
                for x in (value.indices, value.values, value.dense_shape)
            ]
        assert isinstance(value, Sequence), f"{value!r} is fed, expected indices, values, shape"
        return value

    def rows(self) -> TfTensor:
        """Return how many slices there are along the first axis."""
        made: TfTensor = self._shape[0]
        return made

    def __iter__(self) -> Iterator[object]:
        raise TypeError("'SparseTensor' object is not iterable")

    def __mul__(self, other: object) -> SparseTensor:
        return COMBINE[0]("mul", self, other)

    def __truediv__(self, other: object) -> SparseTensor:
        return COMBINE[0]("truediv", self, other)

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self._shape!s})"
        )


class SparseTensorSpec(CompositeSpec):
    """What a sparse tensor is like."""

    value_type = SparseTensor

    def __init__(self, shape: ShapeLike = None, dtype: DTypeLike | None = "float32") -> None:
        self.shape, self.dtype = TensorShape(shape), as_dtype(dtype)

    def made(self, parts: Sequence[object]) -> SparseTensor:
        """Return a sparse tensor of indices, elements and shape."""
        indices, values, sizes = parts
        made: SparseTensor = SparseTensor.stated(indices, values, sizes, self.shape)
        return made

    def numpy_value(self, array: Array) -> Array:
        """Return all elements, those that are not there as well."""
        indices, values, sizes = array.item().arrays()
        dense: Array = np.zeros(sizes, values.dtype)
        if values.dtype.kind == "O":
            dense[...] = b""
        dense[tuple(indices.T)] = values
        return dense

    def specs_of_parts(self) -> list[TensorSpec]:
        """Return the specs of indices, elements and shape."""
        rank = self.shape.rank
        return [
            TensorSpec([None, rank], "int64"),
            TensorSpec([None], self.dtype),
            TensorSpec([rank], "int64"),
        ]

    def as_invariant(self, shape: ShapeLike) -> SparseTensorSpec:
        """Return the description of values of a rank: the shape that is stated is `[rank]`."""
        dims = TensorShape(shape)._dims
        if dims is not None and len(dims) != 1:
            raise ValueError(
                f"the shape invariant of a SparseTensor is [rank], found {TensorShape(shape)}"
            )
        return SparseTensorSpec(None if not dims or dims[0] is None else [None] * dims[0],
                                self.dtype)  # fmt: skip

    def relaxed(self) -> SparseTensorSpec:
        """Return the description of values of this rank and any size."""
        rank = self.shape.rank
        return SparseTensorSpec(None if rank is None else [None] * rank, self.dtype)

    def form(self) -> Hashable:
        """Return shape and element type."""
        return self.shape._dims, self.dtype.name

    def is_compatible_with(self, spec_or_value: object) -> bool:
        """Say whether a value or a description is of this kind."""
        found = (
            spec_or_value.type_spec()
            if isinstance(spec_or_value, CompositeTensor)
            else spec_or_value
        )
        return isinstance(found, SparseTensorSpec) and bool(
            found.dtype == self.dtype and self.shape.is_compatible_with(found.shape)
        )

    def stacked(self, extent: int | None) -> SparseTensorSpec:
        """Return what several are like along a new first axis."""
        dims = self.shape._dims
        return SparseTensorSpec(None if dims is None else (extent, *dims), self.dtype)

    def unstacked(self) -> SparseTensorSpec:
        """Return what one is like of several along the first axis."""
        dims = self.shape._dims
        return SparseTensorSpec(None if dims is None else dims[1:], self.dtype)

    def __repr__(self) -> str:
        return f"SparseTensorSpec({self.shape!r}, tf.{self.dtype.name})"


COMPOSITES["SparseTensorSpec"] = SparseTensorSpec


def known_sizes(sp: SparseTensor) -> list[int] | TfTensor:
    """Return the sizes of a sparse tensor: numbers if all are known, else the tensor of them."""
    return sp.shape.known() if sp.shape.is_fully_defined() else sp.dense_shape


def sparse_of(value: object, name: str = "sp_input") -> SparseTensor:
    """Return an argument that has to be a sparse tensor, or raise `TypeError`."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError(f"Input must be a SparseTensor: {name} is {value!r}")
    return value
