"""`tf.autograph`: Python's choices and loops in functions, by TensorFlow's names."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, ClassVar

from ....ir.types import dtypes as rows
from ....ir.types.dtypes import DType
from ...autograph import SETTINGS, SURFACES, Surface, code_of, do_not_convert, strictly_converted
from ...eager.tensor import Tensor
from ...graph.graph import Graph
from ..core.bridge import SymbolicTfTensor, TfTensor
from ..ops import sorting
from ..ops.creation import range_
from ..ops.math_ops import cast
from .features import Feature, names_of, options_of
from .printing import write
from .state import TfFunction


class TfSurface(Surface):
    """TensorFlow's way: ranges are tensors, numbers are int32 and float32."""

    types: ClassVar[dict[type, DType]] = {int: rows.i32, float: rows.f32}

    def range(self, graph: Graph, start: object, limit: object, step: object) -> TfTensor:
        """Return a range of numbers as a tensor."""
        return range_(start, limit, step)

    def number(self, graph: Graph, value: object, kind: type[int | float]) -> Tensor:
        """Return a tensor as int32 or float32."""
        return cast(value, self.types[kind])

    def sorted(self, value: object, *, reverse: bool) -> TfTensor:
        """Return a tensor sorted."""
        return sorting.sort(value, direction="DESCENDING" if reverse else "ASCENDING")

    def print(self, values: tuple[object, ...], options: dict[str, Any]) -> None:
        """Print when the graph runs."""
        stream = options.get("file") or sys.stdout
        write(values, stream, options.get("sep", " "), options.get("end", "\n"))


SURFACES[SymbolicTfTensor] = TfSurface()


def set_loop_options(
    parallel_iterations: object = None,
    swap_memory: object = None,
    maximum_iterations: object = None,
    shape_invariants: object = None,
) -> None:
    """Say how the loop runs in whose body this stands; elsewhere it says nothing."""


def to_code(
    entity: Callable[..., object],
    recursive: bool = True,
    experimental_optional_features: object = None,
) -> str:
    """Return the source that a function is converted to."""
    names_of(experimental_optional_features)
    return code_of(getattr(entity, "python_function", entity))


def to_graph(
    entity: Callable[..., object],
    recursive: bool = True,
    experimental_optional_features: object = None,
) -> Callable[..., object]:
    """Return a function converted: its choices and loops go into the graph that is being made."""
    names_of(experimental_optional_features)
    return strictly_converted(getattr(entity, "python_function", entity))


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Let conversions be said, from 1 on."""
    SETTINGS.verbosity, SETTINGS.also_prints = int(level), bool(alsologtostdout)


def trace(*args: object) -> None:
    """Print values when a function is traced."""
    print(*args)


autograph = SimpleNamespace(
    experimental=SimpleNamespace(
        Feature=Feature, do_not_convert=do_not_convert, set_loop_options=set_loop_options
    ),
    set_verbosity=set_verbosity,
    to_code=to_code,
    to_graph=to_graph,
    trace=trace,
)


def function(
    func: Callable[..., object] | None = None,
    input_signature: object = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    **options: object,
) -> Any:
    """Let a Python function run as a graph, its choices and loops too (`autograph`)."""
    if not isinstance(input_signature, tuple | list | None):
        raise TypeError(
            f"input_signature must be either a tuple or a list, got {input_signature!r}"
        )
    first = {"input_signature": input_signature, "autograph": autograph}
    more = {"jit_compile": jit_compile, "reduce_retracing": reduce_retracing}
    kept = options_of({**first, **more, **options})
    return (lambda f: TfFunction(f, **kept)) if func is None else TfFunction(func, **kept)
