"""`tf.print`: writes values when the operation runs.

Elements are written as TensorFlow writes them: floats as short as is exact, truth values as 0
and 1, of long axes only the first and the last elements.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np

from ...data.stored import StoredStep, stored
from ...graph.graph import Operation
from ...graph.kinds import PyFunction
from ...values.nest import TensorGroup
from ..core.values import InGraph, convert, graph_of


def element_text(value: Any) -> str:
    """Return one element: a float with 6 digits or, where they are not exact, with all."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, np.bool_):
        return str(int(value))
    if isinstance(value, np.complexfloating):
        return f"({element_text(value.real)},{element_text(value.imag)})"
    if not isinstance(value, np.integer | int | str):
        wide = isinstance(value, np.float64)
        few, many = ("{:.15g}", "{:.17g}") if wide else ("{:.6g}", "{:.9g}")
        text = few.format(float(value))
        exact = (np.float64 if wide else np.float32)(text) == value
        return text if exact or np.isnan(value) else many.format(float(value))
    return str(value)


def shown(array: Any, ends: int, depth: int = 0, *, quoted: bool = False) -> str:
    """Return an array as it is printed, with so many elements at each end of an axis."""
    if not array.ndim:
        text = element_text(array[()])
        return f'"{text}"' if quoted and array.dtype.kind in "OS" else text
    extent = len(array)
    places: Sequence[int] = range(extent)
    if ends >= 0 and extent > 2 * ends:
        places = [*range(ends), -1, *range(extent - ends, extent)]
    parts = [
        "..." if i < 0 else shown(np.asarray(array[i]), ends, depth + 1, quoted=True)
        for i in places
    ]
    between = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * (depth + 1)
    return f"[{between.join(parts)}]"


def _texts(value: object, given: Iterator[object], ends: int, *, inside: bool = False) -> str:
    """Return a structure as it is printed, with the values of its tensors."""
    if isinstance(value, TensorGroup):
        return value.printed([np.asarray(next(given)) for _ in _tensors(value)], ends)
    if hasattr(value, "spec"):
        return shown(np.asarray(next(given)), ends, quoted=True)
    if isinstance(value, dict):
        pairs = [f"{k!r}: {_texts(v, given, ends, inside=True)}" for k, v in value.items()]
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list | tuple):
        parts = ", ".join(_texts(v, given, ends, inside=True) for v in value)
        if isinstance(value, list):
            return f"[{parts}]"
        return f"({parts},)" if len(value) == 1 else f"({parts})"
    return repr(value) if inside else str(value)


def _tensors(value: object) -> list[object]:
    if isinstance(value, TensorGroup):
        return list(value.components())
    if isinstance(value, dict | list | tuple):
        parts = value.values() if isinstance(value, dict) else value
        return [x for part in parts for x in _tensors(part)]
    return [value] if hasattr(value, "spec") else []


def _put(text: str, stream: Any) -> None:
    """Write to a stream of Python's, or add to the file that a text `file://...` names."""
    if isinstance(stream, str):
        if not stream.startswith("file://"):
            raise ValueError(f"output_stream is {stream!r}, expected a stream or 'file://...'")
        with open(stream.removeprefix("file://"), "a") as file:
            file.write(text)
    else:
        (stream or sys.stderr).write(text)


class NotFixedError(Exception):
    """A structure is printed in a way that its tensors decide."""


def _pieces(value: object, *, inside: bool = False) -> Iterator[str | None]:
    """Give the text of a structure piece by piece, None where a tensor's value stands."""
    if isinstance(value, TensorGroup):
        raise NotFixedError
    if hasattr(value, "spec"):
        yield None
    elif isinstance(value, dict | list | tuple):
        begin, end = "{}" if isinstance(value, dict) else "[]" if isinstance(value, list) else "()"
        yield begin
        for place, part in enumerate(value):
            yield ", " * (place > 0) + (f"{part!r}: " if isinstance(value, dict) else "")
            yield from _pieces(value[part] if isinstance(value, dict) else part, inside=True)
        yield "," * (isinstance(value, tuple) and len(value) == 1) + end
    else:
        yield repr(value) if inside else str(value)


@stored("print")
def printing(pieces: Sequence[str | None], ends: int, stream: str) -> Callable[..., tuple[()]]:
    """Return what writes pieces of text, and values between them, to a stream of a name."""

    def run(*values: object) -> tuple[()]:
        given = iter(values)
        texts = [
            shown(np.asarray(next(given)), ends, quoted=pieces[0] is not None or len(pieces) > 2)
            if piece is None
            else piece
            for piece in pieces
        ]
        _put("".join(texts), getattr(sys, stream, stream))
        return ()

    return run


def _stored_form(
    inputs: Sequence[object], stream: object, sep: str, end: str, ends: int
) -> StoredStep | None:
    """Return the form of printing outside of this process, if there is one."""
    names = {id(None): "stderr", id(sys.stderr): "stderr", id(sys.stdout): "stdout"}
    name = stream if isinstance(stream, str) else names.get(id(stream))
    if name is None:
        return None
    pieces: list[str | None] = []
    try:
        for place, value in enumerate(inputs):
            pieces += [*([sep] if place else []), *_pieces(value)]
    except NotFixedError:
        return None
    return StoredStep("print", {"pieces": [*pieces, end], "ends": ends, "stream": name})


def write(
    inputs: Any, stream: object, sep: str, end: str, summarize: Any = None, most: int = -1
) -> Operation | None:
    """Write values now, or add the operation that does to a graph, `most` times if not negative."""
    ends = 3 if summarize is None else int(summarize)
    turns: Iterator[object] = count() if most < 0 else iter(range(most))
    tensors = _tensors(list(inputs))

    def run(*values: Any) -> tuple[()]:
        given = iter(values)
        if next(turns, None) is None:
            return ()
        if len(inputs) == 1 and hasattr(inputs[0], "spec") and not np.ndim(values[0]):
            _put(shown(np.asarray(values[0]), ends) + end, stream)  # one text has no quotes
            return ()
        _put(sep.join(_texts(x, given, ends) for x in inputs) + end, stream)
        return ()

    graph = graph_of(tensors)
    with InGraph(graph):
        values = [convert(x) for x in tensors]
        if graph is None:
            run(*[v.numpy() for v in values])
            return None
        form = _stored_form(inputs, stream, sep, end, ends) if most < 0 else None
        if form is not None:
            run.as_stored = lambda: form  # type: ignore[attr-defined]
        return graph.add(PyFunction(run, (), pure=False), [graph.owned(v) for v in values])
