"""Accesses of a GPU's kernels: shown to be inside of their buffers, or looked at in the run.

The emulator finds each access outside of memory by itself; here buffers are said to be shorter than
they are, so that only what was emitted can find it. That all kernels of the other tests are shown
is asked where these compile (`gpu_cases.compiled_text`).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr
from xdsl.dialects.func import FuncOp

from gravure.codegen.compile import Compiled, Options
from gravure.codegen.ptx import assemble
from gravure.codegen.ptx.listing import llvm_text
from gravure.errors import CompileError
from gravure.frontend.programs.compile import compile_source
from gravure.ir import Program, interpret, parse
from gravure.ir.dialects.gpu import SHARED_BYTES
from gravure.ir.interpret.launch import SIZES
from gravure.runtime.ptx_emulator import KernelFault
from gravure.target import Target

sys.path.insert(0, str(Path(__file__).parent))
from gpu_cases import TARGET, looked_at, module_of, plan_of, run_wrong

Array = np.ndarray[Any, Any]
HOPPER = "cuda:sm_90a"


def draw(*shapes: tuple[int, ...], dtype: str = "float32") -> list[Array]:
    """Return random arrays."""
    random = np.random.default_rng(5)
    return [random.standard_normal(shape).astype(dtype) for shape in shapes]


FLAT = {"transpose_lhs": False, "transpose_rhs": False}
CASES: dict[str, tuple[str, str, list[Array], dict[str, Any]]] = {
    "elements": (TARGET, "gv.exp", draw((7, 33)), {}),
    "rows": (TARGET, "gv.softmax", draw((5, 300)), {"axis": 1}),
    "sums": (TARGET, "gv.cumsum", draw((3, 70)), {"axis": 1, "exclusive": False, "reverse": False}),
    "products": (TARGET, "gv.matmul", draw((40, 36), (36, 24)), FLAT),
    "copied products": (TARGET, "gv.matmul", draw((64, 64), (64, 64), dtype="float16"), FLAT),
    "warpgroups": (HOPPER, "gv.matmul", draw((128, 128), (128, 128), dtype="float16"), FLAT),
    "taken": (
        TARGET, "gv.gather", [*draw((9, 5)), np.array([4, 0, 8, 2])], {"axis": 0},
    ),
}  # fmt: skip


def compiled(name: str) -> Compiled:
    """Compile a case, with accesses that are not shown."""
    target, op, arrays, attributes = CASES[name]
    source = Program(parse(module_of(op, arrays, **attributes)))
    return compile_source(source, Options(target=target, cache=False))


@pytest.fixture
def shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all buffers be said to be one element shorter than they are."""
    whole = assemble.lower

    def lower(kernel: FuncOp, target: Target) -> FuncOp:
        made = whole(kernel, target)
        sizes = made.attributes[SIZES]
        assert isinstance(sizes, ArrayAttr)
        said = [each.data for each in sizes.data if isinstance(each, StringAttr)]
        made.attributes[SIZES] = ArrayAttr(StringAttr(str(int(each) - 1)) for each in said)
        return made

    monkeypatch.setattr(assemble, "lower", lower)


@pytest.mark.parametrize("name", CASES)
def test_what_is_shown_is_not_looked_at(name: str) -> None:
    assert looked_at(compiled(name)) == []


@pytest.mark.parametrize("name", CASES)
def test_looking_at_all_accesses_changes_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAVURE_CHECK", "bounds")
    made, (_, op, arrays, attributes) = compiled(name), CASES[name]
    assert made.program is not None
    assert "@llvm.trap()" in llvm_text(made.program, plan_of(made), made.target)
    wanted = interpret(parse(module_of(op, arrays, **attributes)), arrays)
    for got, want in zip(run_wrong(made, arrays), wanted, strict=True):
        np.testing.assert_allclose(got.astype("f"), want.astype("f"), rtol=2e-3, atol=2e-2)


@pytest.mark.parametrize("name", [name for name in CASES if name != "warpgroups"])
@pytest.mark.usefixtures("shorter")
def test_what_is_outside_ends_the_launch(name: str) -> None:
    made = compiled(name)
    assert looked_at(made)
    with pytest.raises(KernelFault, match="the kernel stops itself"):
        run_wrong(made, CASES[name][2])


def test_stages_that_a_launch_gives_no_memory_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = assemble.lower

    def lower(kernel: FuncOp, target: Target) -> FuncOp:
        made = whole(kernel, target)
        made.attributes[SHARED_BYTES] = IntegerAttr(1024, 64)
        return made

    monkeypatch.setattr(assemble, "lower", lower)
    with pytest.raises(CompileError, match=r"(stages in|up to byte \d+ of) 1024"):
        compiled("warpgroups")


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("depth", [0, 1, 40])
def test_products_of_open_depths_read_nothing_where_there_is_none(depth: int, dtype: str) -> None:
    """The first tile was fetched before the loop over depths, from in front of what is empty."""
    row = {"float32": "f32", "float16": "f16"}[dtype]
    text = f"""module attributes {{gv.level = "graph", gv.ranges = {{d = array<i64: 0, 64>}}}} {{
      func.func @main(%x: tensor<40x?x{row}, #gv.dims<"40, d">> {{gv.name = "x"}},
                      %w: tensor<?x24x{row}, #gv.dims<"d, 24">> {{gv.name = "w"}})
          -> (tensor<40x24x{row}> {{gv.name = "y"}}) {{
        %y = gv.matmul %x, %w : (tensor<40x?x{row}, #gv.dims<"40, d">>,
                                 tensor<?x24x{row}, #gv.dims<"d, 24">>) -> tensor<40x24x{row}>
        func.return %y : tensor<40x24x{row}>
      }}
    }}"""
    made = compile_source(Program(parse(text)), Options(target=TARGET, cache=False))
    assert looked_at(made) == []
    arrays = draw((40, depth), (depth, 24), dtype=dtype)
    (found,) = run_wrong(made, arrays)
    wanted = arrays[0].astype("f8") @ arrays[1].astype("f8")
    np.testing.assert_allclose(found.astype("f8"), wanted, rtol=2e-3, atol=2e-2)
