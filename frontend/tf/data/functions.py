"""Functions of elements: traced once, for all elements of a dataset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...autograph import to_trace
from ...data.programs import GraphProgram, Opening
from ...graph.func_graph import touched_in
from ...graph.graph import Graph
from ...values.context import STATE, entered
from ..core.bridge import SymbolicTfTensor, TfTensor
from ..core.nested import flatten
from ..core.structures import Pipeline, core_spec, normal, packed, spec_of, tensor_of
from ..core.values import convert
from ..graph.state import TfFuncGraph


@dataclass(frozen=True)
class Traced:
    """A function as a program of elements, and what it gives."""

    graph: TfFuncGraph
    spec: Any
    """What the results are like, in their structure."""

    def program(self) -> GraphProgram:
        """Return the function of arrays."""
        return GraphProgram(self.graph)

    def opening(self) -> Opening:
        """Return the function that opens the pipeline that it gives."""
        return Opening(self.graph)


def name_of(function: Callable[..., object]) -> str:
    """Return what a function is called."""
    return getattr(function, "__name__", type(function).__name__)


def spread(function: Callable[..., object], element: object) -> object:
    """Call a function with an element: the parts of a tuple are arguments."""
    found = to_trace(function)
    return found(*element) if type(element) is tuple else found(element)


def trace(
    function: Callable[..., object], *specs: object, adapt: Callable[[object], object] = normal
) -> Traced:
    """Trace a function of elements that are as specs say; `adapt` makes its result an element."""
    outer = STATE.context if isinstance(STATE.context, Graph) else None
    graph = TfFuncGraph(f"function {name_of(function)!r}", outer, SymbolicTfTensor)
    leaves = [leaf for spec in specs for leaf in flatten(spec)]
    with entered(graph):
        tensors = [graph.argument(core_spec(leaf), "args") for leaf in leaves]
        found = function(*_elements(specs, tensors))
        made = adapt(tuple(found) if type(found) is list else found)  # parts, not to be stacked
        outputs = [graph.output(tensor_of(leaf)) for leaf in flatten(made)]
    graph.finish(outputs)
    graph.held = list(touched_in(graph.operations))  # who has the pipeline may drop the function
    return Traced(graph, spec_of(made))


def _elements(specs: Sequence[object], tensors: Sequence[object]) -> list[object]:
    """Return the elements that a function is called with."""
    made, first = [], 0
    for spec in specs:
        count = len(flatten(spec))
        made.append(packed(spec, tensors[first : first + count]))
        first += count
    return made


def trace_element(function: Callable[..., object], spec: object, method: str = "") -> Traced:
    """Trace a function of one element, which was given to a method of a dataset."""

    def adapt(made: object) -> object:
        try:
            return normal(made)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"Unsupported return value from function passed to Dataset.{method}(): {made}: "
                f"{error}"
            ) from error

    traced = named(function, lambda element: spread(function, element))
    return trace(traced, spec, adapt=adapt) if method else trace(traced, spec)


def named(function: Callable[..., object], made: Callable[..., object]) -> Callable[..., object]:
    """Give a function the name of the user's."""
    made.__name__ = name_of(function)
    return made


def trace_predicate(function: Callable[..., object], spec: object) -> Traced:
    """Trace a function that says yes or no."""
    traced = trace_element(function, spec)
    found = traced.spec
    if str(getattr(found, "dtype", None)) not in ("bool", "<dtype: 'bool'>", "tf.bool"):
        raise ValueError(
            "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor but its return "
            f"type is {found}."
        )
    return traced


def trace_opening(
    function: Callable[..., object],
    spec: object,
    said: str = "Invalid `map_func`. `map_func` must return a `Dataset` object.",
) -> Traced:
    """Trace a function that gives a dataset; `said` is what an error says where it does not."""

    def adapt(made: object) -> Pipeline:
        if not isinstance(made, Pipeline):
            raise TypeError(f"{said} Got {type(made)}.")
        return made

    return trace(named(function, lambda element: spread(function, element)), spec, adapt=adapt)


PLAIN_VALUES = (bool, int, float, str, bytes, np.generic, np.ndarray)


def scalar(value: object, dtype: str = "int64") -> TfTensor:
    """Return a number as a tensor of a type."""
    from ..ops.math_ops import cast  # noqa: PLC0415

    if isinstance(value, PLAIN_VALUES):
        return convert(value, dtype)  # which refuses what is no such number: fractions, texts
    found = convert(value)
    return found if found.dtype.name == dtype else cast(found, dtype)
