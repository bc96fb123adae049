"""Says so where functions are traced again and again, as TensorFlow does."""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from ...function.function import Function, Method

LOGGER = logging.getLogger("tensorflow")
"""The logger that `tf.get_logger` gives."""
MANY = 5
"""So many traces in a row of calls are said to be too many."""
CALLS = 10
"""How many of the last calls count."""
TIMES = 2
"""How often it is said of one function."""


@dataclass
class Traces:
    """When one function was traced: at which of its calls."""

    before: int = 0
    """How many calls there were of other objects of the same Python."""
    at: deque[int] = field(default_factory=deque)
    said: int = 0


KNOWN: WeakKeyDictionary[object, Traces] = WeakKeyDictionary()
"""By the code of functions, which many objects may be made of."""


def note_trace(function: Function) -> None:
    """Take note of a call that made a trace; warn if most of the last ones did."""
    python = function.python_function
    while isinstance(python, Method):
        python = python.function
    code = getattr(getattr(python, "func", python), "__code__", type(python))
    traces = KNOWN.setdefault(code, Traces())
    if function.calls == 1 and traces.at:
        traces.before = traces.at[-1]
    call = traces.before + function.calls
    traces.at.append(call)
    while call - traces.at[0] >= CALLS:
        traces.at.popleft()
    if len(traces.at) < MANY or traces.said == TIMES:
        return
    traces.said += 1
    LOGGER.warning(
        "%d out of the last %d calls to %r triggered tf.function retracing. Tracing is expensive; "
        "so many traces may come of functions that are made in a loop, of tensors whose shapes "
        "change, or of Python values among the arguments (pass tensors for them, or "
        "reduce_retracing=True).",
        len(traces.at),
        call - traces.at[0] + 1,
        python,
    )
