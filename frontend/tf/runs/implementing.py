"""Functions that say to other programs what they implement."""

from __future__ import annotations

from collections.abc import Sequence

from ...function.arguments import Bound, spec_for
from ...function.function import Function
from ...function.traces import ConcreteFunction
from ...values import nest
from ..core.values import convert

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


class Implementing(Function):
    """A function that may implement another one: then it takes tensors, and arguments alone."""

    def bind(self, args: Sequence[object], kwargs: dict[str, object]) -> Bound:
        """Return the arguments by parameter: of what implements a function, all are tensors."""
        if IMPLEMENTS in self.stated:
            args = list(map(as_argument, args))
            kwargs = {name: as_argument(value) for name, value in kwargs.items()}
        return super().bind(args, kwargs)

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
