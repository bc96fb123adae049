"""Operations that the host carries out: at once, or as nodes of a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NoReturn

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.dims import Dim
from ....ir.types.dtypes import DType
from ....ir.types.tensor import TensorSpec
from ...data.host import ArrayKind, lacks_gradient
from ...data.placed import ROOMS
from ...dims.unknown import unknown_dim
from ...eager.fourier import transformed
from ...eager.remembered import ElementsError, notes_of
from ...formats.examples import Wanted
from ...graph.graph import Graph, Operation, spec_with_unknowns
from ...graph.kinds import NoGradientError
from ...values.context import STATE, record
from ...values.texts import TEXT, Text
from .bridge import COMPUTED, EagerTexts, TfTensor, dressed, text_of, wrap
from .values import InGraph, graph_of

Specs = Sequence[TensorSpec] | Callable[[Sequence[TensorSpec]], Sequence[TensorSpec]]
SCALAR_TEXT = TensorSpec(TEXT, ())
ROOMS.update(x.__module__ for x in (Text, Wanted, transformed))
ROOMS.update(
    f"{__name__.rpartition('.core.')[0]}.{room}"
    for room in (
        *("draws", "image", "linalg", "metrics", "nondense", "ops", "ragged", "special", "text"),
        *(f"io.{name}" for name in ("decoding", "features", "jpeg_quality", "parsing")),
        *(f"io.{name}" for name in ("pictures", "sequences", "sounds")),
        *(f"names.raw_{name}" for name in ("axes", "counts", "layers")),
    )
)


def host(
    type_: str,
    compute: Callable[..., Sequence[object]],
    tensors: Sequence[TfTensor],
    specs: Specs,
    *,
    effect: bool = False,
    reads_text: bool = False,
    name: str | None = None,
) -> list[TfTensor]:
    """Return what a function of arrays gives for tensors; `specs` is what is known of it.

    One that reads text takes `Text`, and may give some.
    """
    if not isinstance(STATE.context, Graph) and COMPUTED.issuperset([x.__class__ for x in tensors]):
        given = [_text_or_array(x) if reads_text else x._array for x in tensors]
        return _refusing(type_, tensors, [wrap(x) for x in compute(*given)])
    graph = graph_of(list(tensors))
    if graph is None and (notes := notes_of(tensors)) is not None:
        if effect:
            raise ElementsError
        return [dressed(x) for x in notes.step(compute, tensors, is_open=not _fixed(specs))]
    if graph is None:
        given = [_text_or_array(x) if reads_text else x._array for x in tensors]
        return _refusing(type_, tensors, [wrap(x) for x in compute(*given)])
    kind = ArrayKind(type_, compute, _rule_of(specs), effect=effect, reads_text=reads_text)
    return _refusing(type_, tensors, [*map(dressed, host_node(graph, kind, tensors, name).outputs)])


def _refusing(type_: str, tensors: Sequence[TfTensor], made: list[TfTensor]) -> list[TfTensor]:
    """Return results, of which recorders know that they have no gradient."""
    if STATE.recorders:
        dtypes = ([x.spec.dtype for x in each] for each in (tensors, made))
        if lacks_gradient(type_, *dtypes):
            record(type_, tensors, made, partial(refused, type_))
    return made


def refused(type_: str, *grads: object) -> NoReturn:
    """Refuse the gradient of an operation of a type that has none."""
    raise NoGradientError(f"No gradient defined for operation {type_!r}")


def _text_or_array(x: TfTensor) -> Text | Array:
    """Return the texts of a tensor of such, of another one the array."""
    return text_of(x) if isinstance(x, EagerTexts) or x._array.dtype.kind == "O" else x._array


def _fixed(specs: Specs) -> bool:
    """Say whether results are known to have one shape for operands of one shape."""
    return not callable(specs) and all(s.shape is not None and s.is_static for s in specs)


def host_effect(
    type_: str,
    compute: Callable[..., Sequence[object]],
    tensors: Sequence[TfTensor],
    name: str | None = None,
) -> Operation | None:
    """Carry out a function of arrays for what it does, which gives nothing."""
    graph = graph_of(list(tensors))
    if graph is None:
        compute(*[x._array for x in tensors])
        return None
    return host_node(graph, ArrayKind(type_, compute, _rule_of([]), effect=True), tensors, name)


def _rule_of(specs: Specs) -> Callable[[Sequence[TensorSpec]], Sequence[TensorSpec]]:
    """Return what gives the specs of results by those of operands."""
    return specs if callable(specs) else lambda _: specs


def host_node(
    graph: Graph, kind: ArrayKind, tensors: Sequence[TfTensor], name: str | None
) -> Operation:
    """Return the operation of a graph that carries out a function of arrays."""
    with InGraph(graph):
        return graph.add(kind, [graph.owned(x) for x in tensors], name=name)


def text(value: bytes) -> Array:
    """Return one text as an array."""
    made = np.empty((), object)
    made[()] = value
    return made


def each(
    function: Callable[[bytes], object], array: Array, dtype: np.dtype[np.generic] | type = object
) -> Array:
    """Return what a function gives for each text of an array."""
    flat = array.ravel().tolist()
    if dtype is object:
        return texts([function(x) for x in flat]).reshape(array.shape)
    made = np.empty(array.shape, dtype)
    made.ravel()[:] = [function(x) for x in flat]
    return made


def texts(flat: Sequence[object]) -> Array:
    """Return texts as an array of them."""
    made = np.empty(len(flat), object)
    made[:] = flat
    return made


def like_input(row: DType) -> Callable[[Sequence[TensorSpec]], Sequence[TensorSpec]]:
    """Return what gives the spec of results of a type that have the shape of the first input."""
    return lambda specs: [TensorSpec(row, specs[0].shape)]


def unknown(row: DType, *dims: Dim | None) -> TensorSpec:
    """Return a spec with extents that are not known; those of one symbol are one."""
    return spec_with_unknowns(row, dims)


def of_elements(row: DType, rank: Dim | None) -> list[TensorSpec]:
    """Return what is known of a sparse tensor's parts: there are as many indices as values."""
    count = unknown_dim()
    return [unknown(rows.i64, count, rank), unknown(row, count), unknown(rows.i64, rank)]
