"""Python's own functions, where they are given tensors of a graph."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from ..eager.tensor import Tensor
from ..graph.graph import Graph, dims_or_none
from ..values.context import STATE
from .iteration import Loopable, extent
from .state import is_tensor
from .surface import TensorRange, surface_of


def graph_of(*values: object) -> Graph | None:
    """Return the graph that is made if one of some values is a tensor, else None."""
    graph = STATE.context
    return graph if isinstance(graph, Graph) and any(map(is_tensor, values)) else None


def range_(*args: Any) -> range | TensorRange | Tensor:
    """Return `range(...)`."""
    graph = graph_of(*args)
    if graph is None or not 1 <= len(args) <= 3:
        return range(*args)
    start, limit, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    return surface_of(graph).range(graph, start, limit, step)


def len_(*args: Any) -> object:
    """Return `len(x)`; of a tensor whose size is open, a tensor."""
    graph = graph_of(*args)
    if graph is None:
        size = getattr(args[0], "staged_length", None) if len(args) == 1 else None
        return size() if size is not None and isinstance(STATE.context, Graph) else len(*args)
    [value] = args
    tensor = graph.owned(graph.convert(value))
    dims = dims_or_none(tensor.spec.shape)
    if dims and dims[0] is not None:
        return dims[0]
    if dims == ():
        raise TypeError("len() of a tensor without axes")
    return extent(graph, tensor)


def _number(kind: type[int | float]) -> Callable[..., object]:
    def convert(*args: Any, **options: Any) -> object:
        graph = graph_of(*args)
        if graph is None or len(args) != 1 or options:
            return kind(*args, **options)
        return surface_of(graph).number(graph, args[0], kind)

    return convert


def sorted_(*args: Any, **options: Any) -> object:
    """Return `sorted(x)`."""
    graph = graph_of(*args)
    if graph is None or options.get("key") is not None:
        return sorted(*args, **options)
    return surface_of(graph).sorted(args[0], reverse=bool(options.get("reverse")))


def enumerate_(*args: Any, **options: Any) -> object:
    """Return `enumerate(x)`."""
    numbered = getattr(args[0], "enumerate", None) if args else None
    if isinstance(STATE.context, Graph) and numbered is not None and isinstance(args[0], Loopable):
        return numbered(*args[1:], **options)
    return enumerate(*args, **options)


def zip_(*args: object, **options: Any) -> object:
    """Return `zip(...)`."""
    if isinstance(STATE.context, Graph) and args and all(isinstance(x, Loopable) for x in args):
        joined: Any = type(args[0])
        return joined.zip(tuple(args))
    return zip(*args, **options)  # noqa: B905  (what the user said)


OVERLOADS: dict[object, Callable[..., object]] = {
    builtins.range: range_,
    builtins.len: len_,
    builtins.int: _number(int),
    builtins.float: _number(float),
    builtins.sorted: sorted_,
    builtins.enumerate: enumerate_,
    builtins.zip: zip_,
}
