"""How many threads a staged function runs on: all that there are, if its parts are large."""

from __future__ import annotations

import os
from collections import Counter

from ... import knobs
from ...codegen.compiled import Compiled
from ...ir import Program
from ...ir.interpret.launch import kernel_symbols
from ...ir.ops.structure import Launch
from ...ir.program import by_name
from ...ir.types import dims
from ...passes.analysis.cost import Cost, cost_of_function
from ...runtime.arguments import MAX_THREADS
from ..values.run_errors import InvalidArgumentError

WORTH = 200_000
"""Operations and bytes of a launch, on average, for which it pays to wake other threads."""


class Asked:
    """What the program said of threads."""

    count = 0
    """How many a function may run on; 0: as many as `all_threads` says."""
    beside = 0
    """How many calls of Python may go on at once in a session that does not say; 0: all."""


def ask(num_threads: int) -> None:
    """Let functions that are compiled from now on run on so many threads; 0: as before."""
    if num_threads < 0:
        raise InvalidArgumentError(f"{num_threads} threads, expected 0 or more")
    Asked.count = int(num_threads)


def ask_beside(num_threads: int) -> None:
    """Let so many calls of Python go on at once, at most, in sessions made from now on; 0: all.

    The operations of a function are in order: there, one goes on at a time, which is no more.
    """
    if num_threads < 0:
        raise InvalidArgumentError(f"{num_threads} threads, expected 0 or more")
    Asked.beside = int(num_threads)


def threads_for(compiled: Compiled) -> int:
    """Return how many threads to share the work of a compiled program by."""
    return min(all_threads(), compiled.options.slots) if effort_of(compiled) > WORTH else 1


def all_threads() -> int:
    """Return how many threads to use: as asked, `GRAVURE_THREADS`, or all that there are.

    Raises `InvalidArgumentError` where the variable says anything but a number that can be.
    """
    if Asked.count:
        return Asked.count
    if told := knobs.THREADS.text():
        if not told.isdecimal() or not 1 <= int(told) <= MAX_THREADS:
            name = knobs.THREADS.name
            raise InvalidArgumentError(f"{name}={told!r}, expected 1 to {MAX_THREADS} threads")
        return int(told)
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return found or 1


def effort_of(compiled: Compiled) -> int:
    """Return the operations and bytes of a launch of a program on average, at the most."""
    if compiled.effort is None:
        compiled.effort = counted_effort(compiled)
    return compiled.effort


def counted_effort(compiled: Compiled) -> int:
    """Return the same of a program that was just compiled."""
    program = compiled.program
    assert program is not None, "the program was just compiled"
    kernels = by_name(program.module)
    every = program.main.body.block.walk()
    found = Counter((op.kernel, most(op, program)) for op in every if isinstance(op, Launch))
    total = 0
    for (name, sizes), count in found.items():
        known = dict(zip(kernel_symbols(kernels[name]), sizes, strict=True))
        total += count * size(cost_of_function(kernels[name], known))
    return total // max(found.total(), 1)


def most(launch: Launch, program: Program) -> tuple[int, ...]:
    """Return the sizes of a launch, those that only the run tells as large as they may be."""
    ends = [dims.bounds(size, program.ranges)[1] for size in launch.sizes]
    assert None not in ends, "a compiled program has bounds"
    return tuple(end for end in ends if end is not None)


def size(cost: Cost) -> int:
    """Return operations and bytes of a launch."""
    return cost.flops + cost.read + cost.written
