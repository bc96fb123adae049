"""Print how fast the device math is: elements per nanosecond on one thread, beside numpy.

Each function goes over 65536 elements, which lie in the second-level cache.

    python -m gravure.tools.accuracy.math_speed [FUNCTION ...]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .native_math import DTYPES, Array, Map
from .ulp_table import BINARY, EXACT, Form, forms

COUNT = 1 << 16
ROUNDS, CALLS = 30, 4


def rate(call: Callable[[], Any]) -> float:
    """Return the elements per nanosecond of the fastest of some rounds of calls."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter_ns()
        for _ in range(CALLS):
            call()
        best = min(best, (time.perf_counter_ns() - start) / CALLS)
    return COUNT / best


def aligned(element: str) -> Array:
    """Return an array that begins at a page, of numbers between 0.1 and 0.95."""
    dtype = np.dtype(DTYPES[element])
    raw = np.zeros(COUNT * dtype.itemsize + 4096, np.uint8)
    start = -raw.ctypes.data % 4096
    result: Array = raw[start : start + COUNT * dtype.itemsize].view(dtype)
    result[:] = np.random.default_rng(0).uniform(0.1, 0.95, COUNT)
    return result


def form_rate(form: Form, name: str, element: str, arrays: Sequence[Array]) -> float:
    """Return the rate of one form."""
    function = Map(f"math.{name}", form.shape(element), form.target, 2)
    return rate(function.bound(*arrays))


def numpy_rate(name: str, operands: Sequence[Array], result: Array) -> str:
    """Return numpy's rate, if it has the function."""
    function = getattr(np, {"atan2": "arctan2", "powf": "power"}.get(name, name), None)
    if function is None:
        return "-"
    return f"{rate(lambda: function(*operands, out=result)):.2f}"


def rows(names: Sequence[str]) -> Iterator[str]:
    """Return the lines of the table."""
    found = forms()
    yield f"{'function':10}{'type':6}{''.join(f'{form.label:>9}' for form in found)}    numpy"
    for name in names:
        for element, kind in (("float", "f32"), ("double", "f64")):
            operands = [aligned(element) for _ in range(1 + (name in BINARY))]
            if name == "acosh":
                operands[0] += 1
            result = aligned(element)
            numbers = [form_rate(form, name, element, [*operands, result]) for form in found]
            beside = numpy_rate(name, operands, result)
            yield f"{name:10}{kind:6}{''.join(f'{x:9.2f}' for x in numbers)}{beside:>9}"


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    for line in rows(arguments or sorted(EXACT)):
        print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
