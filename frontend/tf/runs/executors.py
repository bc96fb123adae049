"""By what functions are carried out: `tf.experimental.function_executor_type`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...values.run_errors import NotFoundError

EXECUTORS = ("DEFAULT", "", "SINGLE_THREADED_EXECUTOR")
"""The names that TensorFlow has: the values are the same by all of them."""


@contextmanager
def function_executor_type(executor_type: str | None) -> Iterator[None]:
    """Let functions that are called inside be carried out by the executor of a name.

    Compiled code has one of its own, whatever the name.
    """
    if executor_type is not None and executor_type not in EXECUTORS:
        raise NotFoundError(
            f"No executor factory registered for the given executor type: {executor_type} "
            f"Registered factories are {{{', '.join(EXECUTORS)}}}."
        )
    yield
