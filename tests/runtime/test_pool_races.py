"""What two threads of the pool do to each other between two of their steps, step by step."""

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import pytest

from gravure.codegen.llvm.compile import assemble
from gravure.codegen.llvm.entry.pool import emit_pool
from gravure.runtime.buffer import address, aligned_bytes
from gravure.target import Target

HOOK = ctypes.CFUNCTYPE(None)
TASK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
SOON = 20.0
"""Seconds after which a thread that has not returned never will."""


class Halted:
    """A pool of two threads whose code calls functions of Python at the labels that are named."""

    def __init__(self, **hooks: Callable[[], None]) -> None:
        text = emit_pool("t")
        self.hooks = {label: HOOK(hook) for label, hook in hooks.items()}
        for label, hook in self.hooks.items():
            place = ctypes.cast(hook, ctypes.c_void_p).value
            assert text.count(f"\n{label}:\n") == 1, label
            called = f"\n{label}:\n  call void inttoptr (i64 {place} to ptr)()\n"
            text = text.replace(f"\n{label}:\n", called)
        target = Target.parse("native")
        code = assemble(text, target)
        machine = llvm.Target.from_triple(target.triple).create_target_machine(reloc="pic")
        empty = llvm.parse_assembly("")
        self.engine: Any = llvm.create_mcjit_compiler(empty, machine)
        self.engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self.engine.finalize_object()
        self.memory = aligned_bytes(self.call("bytes", 2, returns=ctypes.c_int64))
        self.call("init", self.pool, 2)
        work = threading.Thread(target=self.call, args=("worker", self.pool), daemon=True)
        self.worker = work

    @property
    def pool(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(address(self.memory))

    def call(self, name: str, *arguments: Any, returns: Any = None) -> Any:
        kinds = [ctypes.c_int64 if isinstance(a, int) else ctypes.c_void_p for a in arguments]
        place = self.engine.get_function_address(f"t_pool_{name}")
        return ctypes.CFUNCTYPE(returns, *kinds)(place)(*arguments)

    def ended(self) -> bool:
        self.worker.join(SOON)
        return not self.worker.is_alive()


@pytest.mark.parametrize("label", ["claim", "look.again", "ready"])
def test_a_pool_may_be_stopped_while_a_worker_comes(label: str) -> None:
    halted = Halted(**{label: lambda: halted.call("stop", halted.pool)})
    halted.worker.start()
    assert halted.ended()


def test_a_worker_that_goes_to_sleep_again_is_woken_again() -> None:
    """Its word that it sleeps is not taken back for a sleep that comes after the one it was for.

    The worker was about to sleep when work came. It must not do that work and be about to sleep
    again before the one who gave it has taken the word back.
    """
    falls, gave, fell_again, taken = (threading.Event() for _ in range(4))
    sleeps: list[int] = []

    def sleep() -> None:
        sleeps.append(0)
        if len(sleeps) == 1:
            falls.set()
            assert gave.wait(SOON)
        elif len(sleeps) == 2:
            fell_again.set()
            assert taken.wait(SOON)

    def rouse() -> None:
        gave.set()
        fell_again.wait(0.2)  # it does not while its word is not taken back

    halted = Halted(sleep=sleep, rouse=rouse)
    halted.worker.start()
    assert falls.wait(SOON)
    came, rounds = threading.Event(), [0]

    def work(context: int, begin: int, end: int, slot: int) -> None:
        if threading.get_ident() == halted.worker.ident:
            came.set()
        elif rounds[0] == 2 and slot == 0:  # let the worker be the one who does its part
            came.wait(SOON)

    task = TASK(work)
    run = ("parallel_for", halted.pool, ctypes.cast(task, ctypes.c_void_p), None, 2)
    for rounds[0] in (1, 2):
        came.clear()
        halted.call(*run)
        taken.set()
    assert came.is_set(), "the worker sleeps for good"
    halted.call("stop", halted.pool)
    assert halted.ended()
