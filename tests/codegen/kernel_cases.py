"""Kernel functions as text: lowered, interpreted and compiled, against their own evaluation."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from guard_pages import guarded
from xdsl.dialects.builtin import ModuleOp

from gravure.codegen.kernels import lower
from gravure.codegen.llvm.compile import assemble
from gravure.codegen.llvm.emit.kernel import emit_kernel
from gravure.ir import interpret, parse, print_module, spec_of, verify
from gravure.ir.interpret.launch import kernel_symbols, rounds_of
from gravure.ir.interpret.loops import interpret_kernel
from gravure.ir.levels import KIND
from gravure.ir.program import functions
from gravure.ir.types import dims
from gravure.ir.types.dtypes import DType, f32, of_element
from gravure.passes.bounds.accesses import Accesses
from gravure.target import Target

Array = np.ndarray[Any, Any]
TARGET = "native"
SHOWN = ("argreduce", "concat", "conv", "map", "reduce")
"""Kinds of kernels whose accesses are shown to lie inside of their buffers, for all sizes."""

READ_BACK = 5000
"""Characters of loops up to which they are read back from their text: three of four kernels. The
others have the same operations, unrolled, and took a third of the time of the tests of kernels."""


def random_arguments(function: Any, symbols: dict[str, int], seed: int = 0) -> list[Array]:
    """Return arrays for a kernel's arguments."""
    random = np.random.default_rng(seed)
    made = []
    for kind in function.function_type.inputs:
        spec = spec_of(kind)
        shape = [dims.evaluate(d, symbols) for d in spec.dims]
        if spec.dtype.kind == "f":
            made.append(random.standard_normal(shape).astype(spec.dtype.numpy))
        elif spec.dtype.kind == "b":
            made.append(random.integers(0, 2, shape).astype(bool))
        else:
            made.append(random.integers(0, 7, shape).astype(spec.dtype.numpy))
    return made


def tensor(*shape: int | str, dtype: DType = f32) -> str:
    """Return the text of a tensor's type; sizes that are texts are symbols."""
    sizes = "".join(f"{'?' if isinstance(d, str) else d}x" for d in shape)
    named = ", ".join(map(str, shape))
    rest = f', #gv.dims<"{named}">' if any(isinstance(d, str) for d in shape) else ""
    return f"tensor<{sizes}{dtype}{rest}>"


def check_kernel(
    text: str,
    arrays: list[Array] | None = None,
    *,
    symbols: dict[str, int] | None = None,
    rtol: float = 2e-5,
    target: str = TARGET,
) -> None:
    """Compare the loops, interpreted and compiled, with the evaluation of the kernel."""
    symbols = symbols or {}
    (function,) = functions(parse(text))
    arrays = random_arguments(function, symbols) if arrays is None else arrays
    wanted = interpret(function, arrays)
    machine = Target.parse(target)
    loops = lower(function, machine)
    text = f"module {{\n{print_module(loops)}\n}}"
    verify(parse(text) if len(text) < READ_BACK else ModuleOp([loops.clone()]))
    if str(function.attributes[KIND]).strip('"') in SHOWN:
        assert [str(fault) for fault in Accesses(loops).prove()] == []
    compiled = partial(run_compiled, code=assemble(emit_kernel(loops, machine), machine))
    for run in (run_interpreted, compiled, partial(compiled, at_end=False)):
        outputs = [np.full(w.shape, _junk(w.dtype), w.dtype) for w in wanted]
        run(loops, arrays, outputs, symbols)
        for got, want in zip(outputs, wanted, strict=True):
            wide = want.astype(np.float64)
            scale = float(np.max(np.abs(wide[np.isfinite(wide)]), initial=1.0))
            np.testing.assert_allclose(
                got.astype(np.float64), wide, rtol=rtol, atol=rtol * scale,
                err_msg=str(run),
            )  # fmt: skip


def _junk(dtype: Any) -> Any:
    return np.dtype(dtype).type(1 if np.dtype(dtype).kind == "b" else 77)


def _numbers(loops: Any, symbols: dict[str, int]) -> tuple[int, int, list[int]]:
    units = dims.evaluate(dims.parse(loops.attributes["gv.units"].data), symbols)
    scratch = int(loops.attributes["gv.scratch"].data)
    return units, scratch, [symbols[s] for s in kernel_symbols(loops)]


def run_interpreted(
    loops: Any, arrays: list[Array], outputs: list[Array], symbols: dict[str, int]
) -> None:
    """Run on the interpreter, in two calls."""
    units, scratch, values = _numbers(loops, symbols)
    flat = [np.ascontiguousarray(a).reshape(-1) for a in (*arrays, *outputs)]
    if scratch:
        kind = of_element(loops.function_type.inputs.data[len(flat)].element_type).numpy
        flat.append(np.full(scratch // kind.itemsize, 77, kind))
    middle = units // 2
    for number in rounds_of(loops, symbols):
        for low, high in ((0, middle), (middle, units)):
            interpret_kernel(loops, [*flat, *values, *number, low, high, 0])
    for output, made in zip(outputs, flat[len(arrays) :], strict=False):
        output[...] = made.reshape(output.shape)


def run_compiled(
    loops: Any, arrays: list[Array], outputs: list[Array], symbols: dict[str, int],
    *, code: bytes, at_end: bool = True,
) -> None:  # fmt: skip
    """Run the machine code, in two calls, between pages that cannot be touched."""
    units, scratch, values = _numbers(loops, symbols)
    flat = [guarded(np.ascontiguousarray(a), at_end=at_end) for a in (*arrays, *outputs)]
    if scratch:
        flat.append(guarded(np.full(scratch // 4, 77, np.float32), at_end=at_end))
    name = loops.sym_name.data
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), jit_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 3)(
        engine.get_function_address(name)
    )
    middle = units // 2
    for number in rounds_of(loops, symbols):
        slots = [*(a.ctypes.data for a in flat), *values, *number, 0]
        context = (ctypes.c_int64 * len(slots))(*slots)
        for low, high in ((0, middle), (middle, units)):
            call(ctypes.addressof(context), low, high, 0)
    for output, made in zip(outputs, flat[len(arrays) :], strict=False):
        output[...] = made


def jit_machine() -> Any:
    """Return a machine to load objects with."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(jit=True)
