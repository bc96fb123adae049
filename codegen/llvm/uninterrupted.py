"""Calls of LLVM that Ctrl-C does not cut short.

Python raises `KeyboardInterrupt` between any two of its instructions: in llvmlite, between taking
LLVM's lock and noting that, which then is held for ever, or between freeing a text and noting
that, which then is freed twice. But it raises it in the main thread only. So that thread lets
another one call LLVM, and waits; when it is interrupted, the other one ends what it has begun.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
ResultT = TypeVar("ResultT")


def uninterrupted(function: Callable[P, ResultT]) -> Callable[P, ResultT]:
    """Return a function that does the same, and in the main thread is interrupted at its end only.

    What LLVM made for it is to be freed when it returns.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> ResultT:
        if threading.current_thread() is not threading.main_thread():
            return function(*args, **kwargs)
        given: Future[ResultT] = Future()

        def work() -> None:
            try:
                given.set_result(function(*args, **kwargs))
            except BaseException as error:
                given.set_exception(error)

        try:
            threading.Thread(target=work, name="llvm").start()
        except RuntimeError:  # the process ends, or has as many threads as it may have
            work()
        return given.result()

    return call
