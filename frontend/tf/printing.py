"""`tf.print`: writes values when the operation runs."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..kinds import PyFunction
from .values import InGraph, convert, graph_of


def shown(value: Any) -> str:
    """Return a value as it is printed."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    array = np.asarray(value)
    if array.dtype.kind == "O":
        return str([shown(x) for x in array.ravel().tolist()] if array.ndim else shown(array[()]))
    text = np.array2string(array, separator=" ") if array.ndim else str(array[()])
    return "\n".join(line.rstrip() for line in text.splitlines())


def write(inputs: Any, stream: Any, sep: str, end: str) -> Any:
    """Write values now, or add the operation that does to a graph."""

    def run(*values: Any) -> Any:
        given = iter(values)
        parts = [str(x) if fixed else shown(next(given)) for x, fixed in listed]
        (stream or sys.stderr).write(sep.join(parts) + end)
        return ()

    listed = [(x, isinstance(x, str)) for x in inputs]
    tensors = [x for x, fixed in listed if not fixed]
    graph = graph_of(tensors)
    with InGraph(graph):
        values = [convert(x) for x in tensors]
        if graph is None:
            run(*[v.numpy() for v in values])
            return None
        return graph.add(PyFunction(run, (), pure=False), [graph.owned(v) for v in values])
