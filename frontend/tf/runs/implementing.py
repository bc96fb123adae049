"""Functions that say to other programs what they implement."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....ir.types.tensor import TensorSpec as Traced
from ...function.arguments import Bound, VariableArgument, spec_for
from ...function.function import Function
from ...function.traces import ConcreteFunction
from ...graph.graph import dims_or_none
from ...values import nest
from ...values.nest import map_structure
from ..core.specs import TensorSpec, VariableSpec
from ..core.values import convert
from ..ops.indexed_slices import as_argument as in_parts
from ..ops.indexed_slices import as_slices, holds_slices

IMPLEMENTS = "_implements"
"""The attribute that names what a function implements."""


def as_argument(value: object) -> object:
    """Return an argument of a function that implements another one: a tensor of what has a value.

    Variables are read where it is called. A list of numbers is one tensor.
    """
    if value is None or spec_for(value) is not None:
        return value
    if nest.is_nested(value) and not all(isinstance(x, int | float) for x in nest.flatten(value)):
        return nest.map_structure(as_argument, value)
    return convert(value)


@dataclass(frozen=True)
class FunctionSpec:
    """The parameters of a function: their names, all that Python says of them, their specs."""

    fullargspec: inspect.FullArgSpec
    input_signature: object

    @property
    def arg_names(self) -> list[str]:
        """Return the names of those that are given by position."""
        return self.fullargspec.args


class Implementing(Function):
    """A function that may implement another one: then it takes tensors, and arguments alone."""

    @property
    def function_spec(self) -> FunctionSpec:
        """Return what is known of the parameters."""
        return FunctionSpec(inspect.getfullargspec(self.python_function), self.input_signature)

    def _decorate(
        self, decorator: Callable[[Callable[..., object]], Callable[..., object]]
    ) -> None:
        """Put a decorator around the Python function; libraries of modules do by this name."""
        if self.traced:
            raise ValueError("Functions cannot be decorated after they have been traced.")
        self.python_function = decorator(self.python_function)

    def seen(self, spec: Traced) -> TensorSpec:
        """Return a spec as TensorFlow writes it."""
        return TensorSpec(dims_or_none(spec.shape), spec.dtype)

    def spec_of_variable(self, variable: VariableArgument) -> VariableSpec:
        """Return what a trace takes where it is given variables."""
        spec = variable.spec
        dims = dims_or_none(spec.shape)
        return VariableSpec(dims, spec.dtype, variable.trainable, variable.alias_id)

    def bind(self, args: Sequence[object], kwargs: dict[str, object]) -> Bound:
        """Return the arguments by parameter: of what implements a function, all are tensors.

        Slices are structures of their parts.
        """
        if holds_slices(args) or (kwargs and holds_slices(kwargs.values())):
            args, kwargs = (map_structure(in_parts, x) for x in (list(args), kwargs))
        if IMPLEMENTS in self.stated:
            args = list(map(as_argument, args))
            kwargs = {name: as_argument(value) for name, value in kwargs.items()}
        return super().bind(args, kwargs)

    def handed(self, arguments: dict[str, object]) -> dict[str, object]:
        """Return the arguments, with slices of their parts."""
        return {name: as_slices(value) for name, value in arguments.items()}

    def trace(self, bound: Bound) -> ConcreteFunction:
        """Trace; of what implements a function, no tensor comes from outside."""
        made = super().trace(bound)
        if IMPLEMENTS in self.stated and made.graph.captures:
            raise AssertionError(
                f"function {self.label!r} implements {self.stated[IMPLEMENTS]!r} and takes "
                f"{made.graph.captures[0]!r} from outside, expected arguments: variables are "
                "always captured, and nothing else is"
            )
        return made
