"""Values that functions take from outside at each call, and not once for all."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from ...function.arguments import CallTime
from ...graph.func_graph import FuncGraph
from ...values import nest
from ..core.bridge import dressed_leaves
from ..core.values import convert


def capture_call_time_value(
    self: FuncGraph,
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
