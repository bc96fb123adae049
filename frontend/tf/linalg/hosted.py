"""Functions of matrices that the host carries out, at once or in a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ....ir.op import Array
from ...eager.remembered import notes_of
from ...graph.kinds import PyFunction
from ..core.bridge import TfTensor, dressed, wrap
from ..core.values import (
    InGraph,
    InvalidShapesError,
    InvalidTypesError,
    convert,
    graph_of,
    shape_spec,
)

Dims = Sequence[int | None] | None
WIDE = {"float32": "complex64", "float64": "complex128"}
"""The complex numbers whose parts are floats of a type."""
NARROW = {wide: narrow for narrow, wide in WIDE.items()}
"""The type of the parts of complex numbers."""


class Matrices(NamedTuple):
    """Matrices: the last two axes of a tensor, of which the extents may not be known."""

    tensor: TfTensor
    batch: list[int | None] | None
    """The axes before them, None where the rank is not known."""
    rows: int | None
    columns: int | None

    @property
    def least(self) -> int | None:
        """Return the smaller one of rows and columns."""
        if self.rows is None or self.columns is None:
            return None
        return min(self.rows, self.columns)

    @property
    def size(self) -> int:
        """Return the rows of square matrices, which have to be known."""
        if self.rows is None:
            raise NotImplementedError("how many rows matrices have must be known here")
        return self.rows

    def dims(self, *last: int | None) -> Dims:
        """Return extents behind those of the batch."""
        return None if self.batch is None else [*self.batch, *last]


def host(
    type_: str,
    function: Callable[..., Sequence[Array]],
    xs: Sequence[TfTensor],
    results: Sequence[tuple[str, Dims]],
) -> list[TfTensor]:
    """Carry out a function of arrays, whose results have these types and shapes."""
    specs = [shape_spec(dtype, dims) for dtype, dims in results]
    types = [spec.dtype.numpy for spec in specs]

    def compute(*arrays: Array) -> Sequence[Array]:
        made = function(*arrays)  # (of what is remembered no run warns)
        return [np.asarray(x).astype(t, copy=False) for x, t in zip(made, types, strict=True)]

    def silently(*arrays: Array) -> Sequence[Array]:
        with np.errstate(all="ignore"):
            return compute(*arrays)

    graph = graph_of(list(xs))
    try:
        if graph is None and (notes := notes_of(xs)) is not None:
            fixed = all(spec.shape is not None and spec.is_static for spec in specs)
            return [dressed(x) for x in notes.step(compute, xs, is_open=not fixed)]
        if graph is None:
            return [wrap(a) for a in silently(*[np.asarray(x) for x in xs])]
    except np.linalg.LinAlgError as error:  # (a graph's run names its node, too)
        raise InvalidShapesError(f"{error} [Op:{type_}]") from error
    with InGraph(graph):
        kind = PyFunction(silently, [s.dtype for s in specs], pure=True)
        kind.type = type_
        inputs = [graph.owned(x) for x in xs]
        return [dressed(o) for o in graph.add(kind, inputs, specs=specs).outputs]


def matrices(x: object, types: str = "fc") -> Matrices:
    """Return matrices of floats or, if `types` has c, of complex numbers."""
    with InGraph(graph_of([x])):
        found = convert(x)
    if found.dtype.is_integer or found.dtype.is_bool or found.dtype.name == "string":
        raise InvalidTypesError(f"Value for attr 'T' of {found.dtype.name} is not in the list")
    if found.dtype.name not in (*WIDE, *NARROW):
        raise NotImplementedError(f"matrices of {found.dtype.name} are not decomposed")
    if found.dtype.is_complex and "c" not in types:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {found.dtype.name}).")
    if found.shape.rank is None:
        return Matrices(found, None, None, None)
    dims = found.shape.as_list()
    if len(dims) < 2:
        raise InvalidShapesError(f"Input must have rank >= 2, got {len(dims)}")
    return Matrices(found, dims[:-2], dims[-2], dims[-1])


def square_matrices(x: object) -> Matrices:
    """Return matrices that have as many rows as columns, so far as that is known."""
    found = matrices(x)
    if found.least is not None and found.rows != found.columns:
        raise InvalidShapesError(
            f"Input matrix must be square: input matrix must be square, got shape "
            f"{found.tensor.shape}"
        )
    return found


def check_square(a: Array) -> None:
    """Raise where matrices turn out not to be square."""
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise InvalidShapesError(f"Input matrix must be square, got shape {a.shape}")
