"""What functions take from outside: variables, tensors, and values of each call."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from ...function.arguments import CallTime
from ...graph.func_graph import FuncGraph, touched_by
from ...graph.variables import VariableState
from ...values import nest
from ..core.bridge import dressed_leaves
from ..core.values import convert


class Taking(FuncGraph):
    """The graph of a function that says what it takes from outside."""

    @property
    def variables(self) -> tuple[object, ...]:
        """Return the variables that are used."""
        touched = touched_by([self])
        return tuple(v.owner() for v in touched if isinstance(v, VariableState))

    @property
    def trainable_variables(self) -> tuple[object, ...]:
        """Return the variables that are used and are among what optimisers change."""
        return tuple(v for v in self.variables if getattr(v, "trainable", False))

    @property
    def external_captures(self) -> list[object]:
        """Return what is taken from outside: tensors, and the handles of variables."""
        return [*self.captures, *(getattr(v, "handle", None) for v in self.variables)]

    def capture_call_time_value(
        self,
        closure: Callable[[], object],
        spec: object,
        key: Hashable = None,
        default_value: object = None,
        placeholder: object = None,
    ) -> object:
        """Return what stands for the value that a closure gives when the function is called.

        It is like the spec says. What was made for the same key is given again.
        """
        if default_value is not None or placeholder is not None:
            raise NotImplementedError(
                "capture_call_time_value: default_value and placeholder are not supported"
            )
        if key is None:
            key = ("call time", len(self.call_times))
        if key not in self.call_times:
            values = CallTime(closure, nest.described(spec), convert)
            self.call_times[key] = values, values.enter(self)
        return dressed_leaves(self.call_times[key][1])
