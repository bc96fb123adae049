"""`tf.debugging.enable_check_numerics`: each result is looked at, where operations run alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....ir.op import Op
from ....ir.types.tensor import Array
from ....runtime.tracing import EARS
from ...eager.kernels import LOOKS
from ...function.function import Settings, run_functions_eagerly
from ...values.run_errors import InvalidArgumentError, UnimplementedError

HEIGHT, LENGTH = 30, 50
"""What TensorFlow's function takes if nothing is said."""


class Enabled:
    """Whether results are looked at, and how functions were run before that."""

    now = False
    ran_eagerly = False


def enable_check_numerics(
    stack_height_limit: int = HEIGHT, path_length_limit: int = LENGTH
) -> None:
    """Raise where an operation gives NaN or infinity, and say which one, and from what.

    Functions run operation by operation as long as this is on, so that each is looked at; models
    that were compiled and functions of data sets are not. Operations that only move elements are
    left out. The error's location is the user's line, so there is no stack to be cut short.
    """
    if (stack_height_limit, path_length_limit) != (HEIGHT, LENGTH):
        raise UnimplementedError(
            "enable_check_numerics: no stack is printed, so stack_height_limit and "
            f"path_length_limit have no effect; expected {HEIGHT} and {LENGTH}"
        )
    if Enabled.now:
        return
    Enabled.now, Enabled.ran_eagerly = True, Settings.run_eagerly
    run_functions_eagerly(True)
    LOOKS.append(look)
    with EARS.lock:
        EARS.count += 1


def disable_check_numerics() -> None:
    """Look at results no more."""
    if not Enabled.now:
        return
    with EARS.lock:
        EARS.count -= 1
    LOOKS.remove(look)
    run_functions_eagerly(Enabled.ran_eagerly)
    Enabled.now = False


def look(op: type[Op], operands: Sequence[Array], results: Sequence[Array]) -> None:
    """Raise `InvalidArgumentError` if a result of an operation that computes is not finite."""
    if op.has("source_index") or op.has("element_at"):
        return
    for number, result in enumerate(results):
        if result.dtype.kind == "f" and not np.isfinite(result).all():
            raise InvalidArgumentError(_message(op, operands, results, number))


def _message(op: type[Op], operands: Sequence[Array], results: Sequence[Array], number: int) -> str:
    """Return what is wrong with a result, in TensorFlow's form."""
    result = results[number]
    name = op.NODE or "".join(word.title() for word in op.name.removeprefix("gv.").split("_"))
    counts = {
        "-Inf": int(np.isneginf(result).sum()),
        "+Inf": int(np.isposinf(result).sum()),
        "+NaN": int(np.isnan(result).sum()),
    }
    kinds = [name.replace("+NaN", "NaN") for name, count in counts.items() if count]
    given = [str(x) for x in operands]
    inputs = (
        [f"  Input tensor: {given[0]}"]
        if len(given) == 1
        else [f"  Input tensors ({len(given)}):", *(f"    {i}: {x}" for i, x in enumerate(given))]
    )
    lines = [
        f'!!! Detected Infinity or NaN in output {number} of eagerly-executing op "{name}"'
        f" (# of outputs: {len(results)}) !!!",
        f"  dtype: {result.dtype}",
        f"  shape: {result.shape}",
        *(f"  # of {kind} elements: {count}" for kind, count in counts.items() if count),
        "",
        *inputs,
        "",
        f" : Tensor had {' and '.join(kinds)} values",
    ]
    return "\n".join(lines)
