"""Run `loops` kernels compiled and interpreted, on buffers that end where memory ends."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from gravure.codegen.llvm.compile import assemble
from gravure.codegen.llvm.emit.kernel import emit_kernel
from gravure.ir.dialects.kernel import loops_context
from gravure.ir.interpret.loops import interpret_kernel
from gravure.target import PROCESSORS, Target, native

sys.path.insert(0, str(Path(__file__).parent))
from guard_pages import guarded

Array = np.ndarray[Any, Any]


def runnable_targets() -> list[str]:
    """Return one processor of each vector width that this machine can stand in for."""
    mine = set(native().features)
    levels = ("x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64", "riscv64")
    return [
        name
        for name in levels
        if PROCESSORS[name].architecture is native().architecture
        and set(PROCESSORS[name].features) <= mine
    ]


@pytest.fixture(params=runnable_targets())
def target(request: pytest.FixtureRequest) -> Target:
    return Target.parse(request.param)


def parse_kernel(text: str) -> FuncOp:
    module = Parser(loops_context(), text).parse_module()
    module.verify()
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    return function


class Loaded:
    """An object in memory."""

    def __init__(self, data: bytes, target: Target) -> None:
        empty = llvm.parse_assembly("", context=llvm.create_context())
        empty.triple = target.triple
        # The engine will own its machine: not the one that is shared.
        machine = llvm.Target.from_triple(target.triple).create_target_machine(reloc="pic")
        self.engine = llvm.create_mcjit_compiler(empty, machine)
        self.engine.add_object_file(llvm.ObjectFileRef.from_data(data))
        self.engine.finalize_object()

    def __call__(self, name: str, arguments: Sequence[Array | int]) -> None:
        *context, low, high, slot = arguments
        slots = [x.ctypes.data if isinstance(x, np.ndarray) else int(x) for x in context]
        table = (ctypes.c_int64 * max(1, len(slots)))(*slots)
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 3)
        kind(self.engine.get_function_address(name))(ctypes.addressof(table), low, high, slot)


def compile_kernel(function: FuncOp, target: Target) -> Callable[..., None]:
    loaded = Loaded(assemble(emit_kernel(function, target), target), target)
    return lambda *arguments: loaded(function.sym_name.data, arguments)


@pytest.fixture
def both(target: Target) -> Callable[..., list[tuple[Array, Array]]]:
    """Return a function that gives each array as the interpreter and as the machine left it."""

    def run(text: str, *arguments: Array | int) -> list[tuple[Array, Array]]:
        function = parse_kernel(text)
        copies = [
            [guarded(x) if isinstance(x, np.ndarray) else x for x in arguments] for _ in range(2)
        ]
        interpret_kernel(function, copies[0])
        compile_kernel(function, target)(*copies[1])
        return [
            (x, y)
            for x, y in zip(*copies, strict=True)
            if isinstance(x, np.ndarray) and isinstance(y, np.ndarray)
        ]

    return run
