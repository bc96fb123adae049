"""What is written reads back as the same program, whatever it holds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp

import gravure.ir as ir
from gravure.errors import UnsupportedOp
from gravure.frontend.programs.load import load_program
from gravure.frontend.text.reader import read_text
from gravure.frontend.text.writer import save_text, write_text
from gravure.ir.program import finish, new_function, set_level, set_ranges
from gravure.ir.types.dims import parse

f32 = ir.DTYPES["f32"]


def same(program: ir.Program) -> str:
    """Return the text of a program that reads back as the same program."""
    text = write_text(program)
    again = read_text(text, "again.gv")
    assert ir.canonical_hash(again.module) == ir.canonical_hash(program.module), text
    return text


def program_of(*functions: Any, **ranges: Any) -> ir.Program:
    """Return a program of functions."""
    module = ModuleOp([*functions])
    set_level(module, "graph")
    set_ranges(module, ranges)
    return ir.Program(module)


def samples() -> Iterator[Any]:
    """Give every sample of every operation with its first element type."""
    for op in ir.REGISTRY.values():
        if op.LEVEL == "graph":
            for number, sample in enumerate(op.SAMPLES):
                yield pytest.param(op, sample, id=f"{op.name}-{number}")


@pytest.mark.parametrize(("op", "sample"), [*samples()])
def test_every_operation_reads_back(op: Any, sample: Any) -> None:
    dtypes = [*sample.operand_dtypes, *(None,) * len(sample.shapes)]
    specs = [
        ir.TensorSpec(dtype or sample.dtypes[0], shape)
        for dtype, shape in zip(dtypes, sample.shapes, strict=False)
    ]
    main = new_function("main", [(f"x{i}", spec) for i, spec in enumerate(specs)])
    emit = ir.GraphEmit.at_end(main.body.block)
    made = emit(op, *main.body.block.args, **sample.attributes)
    values = made if isinstance(made, tuple) else (made,)
    finish(main, values, [f"y{i}" for i in range(len(values))])
    same(program_of(main))


@pytest.mark.parametrize(
    "value",
    [
        np.float32(0.1), np.float32(-0.0), np.float32("nan"), np.float32("-inf"), np.float16(0.1),
        np.float64(0.1), np.int64(-(2**63)), np.uint8(255), np.bool_(True), np.complex64(1 - 2j),
        np.float32([0.1, 1e-45, 3e38]), np.int8([[1, -2]]), np.zeros((0, 3), np.float32),
        np.arange(100, dtype=np.float32), np.broadcast_to(np.float32(2.5), (4, 5)),
        np.ones((1, 1), np.float32), np.array([True, False]), np.complex128([1j, -1]),
    ],
)  # fmt: skip
def test_every_constant_reads_back(value: Any) -> None:
    main = new_function("main", [])
    made = ir.GraphEmit.at_end(main.body.block)(ir.REGISTRY["gv.constant"], value=np.asarray(value))
    finish(main, [made], ["y"])
    same(program_of(main))


def test_numbers_stand_in_their_place() -> None:
    text = """model main(x: f32[2], i: i64[]) -> (y, z) {
  v0 = x * 2.5
  v1 = select(true, v0, 0.0)
  v2 = 1.0 - v1
  const half: f32[] = 0.5
  const one: i64[] = 1
  v4 = v2 ** half
  v5 = v4 + half
  v6 = i + one
  y = (-1.0) * v5
  z = gather(x, v6, axis=0)
}
"""
    program = read_text(text)
    written = same(program)
    assert "v0 = x * 2.5" in written
    assert "y = (-1.0) * v5" in written
    assert "const half: f32[] = 0.5" in written


def test_names_keep_their_letters() -> None:
    spec = ir.TensorSpec(f32, (2,))
    names = ["a/b:0", "weight", "f32", "N", "`\\", "x\ny\x01\u00e9", "N"]
    main = new_function("main", [(name, spec) for name in names[:-1]])
    main.body.block.args[0].name_hint = "same"
    finish(main, main.body.block.args, names[:-1])
    text = same(program_of(main, N=(1, 4)))
    assert "`a/b:0`: f32[2], `weight`: f32[2], `f32`: f32[2], `N`: f32[2]" in text


def test_ranges_and_symbols() -> None:
    spec = ir.TensorSpec(f32, (parse("N"), parse("max(N, 2)*M + N//3"), parse("K % 4")))
    main = new_function("main", [("x", spec), ("n", ir.TensorSpec(f32, (parse("N"),)))])
    finish(main, main.body.block.args[:1], ["y"])
    text = same(program_of(main, N=(1, 64), M=(0, None)))
    assert "N in 1..64, M in 0.., K in *" in text


def test_results_that_are_inputs_or_twice_the_same() -> None:
    spec = ir.TensorSpec(f32, (2,))
    main = new_function("main", [("x", spec), ("y", spec)])
    x, y = main.body.block.args
    made = ir.GraphEmit.at_end(main.body.block)(ir.REGISTRY["gv.relu"], x)
    finish(main, [y, x, made, made], ["x", "y", "r", "s"])
    assert "-> (x = y, y = x, r, s = r)" in same(program_of(main))


def test_functions_and_their_calls() -> None:
    spec = ir.TensorSpec(f32, (2,))
    inner = new_function("inner", [("a", spec)], private=True)
    emit = ir.GraphEmit.at_end(inner.body.block)
    made = emit(ir.REGISTRY["gv.relu"], inner.body.block.args[0])
    finish(inner, [made, inner.body.block.args[0]], ["b", "c"])
    main = new_function("main", [("x", spec)])
    call = CallOp("inner", [*main.body.block.args], [spec.type, spec.type])
    main.body.block.add_op(call)
    finish(main, call.results, ["y", "z"])
    for order in ((main, inner), (inner.clone(), main.clone())):
        assert "y, z = inner(x)" in same(program_of(*order))


def test_choices_loops_and_variables() -> None:
    text = """
    model m(x: f32[N], c: bool[], n: i64[]) -> (y, z, k) {
      y = if c with a = x, w = 2.5 { yield a * w } else { b = -a  yield b }
      k, z = while i = 0, v = x with limit = n {
        yield i < limit
      } do {
        t = if i > 1 with v = v { yield v + 1 } else { yield v }
        yield i + 1, t * 2
      }
      new = assign_add(n, variable="odd `name\\"")
      if c { yield } else { yield }
    }
    """
    written = same(read_text(text))
    assert "= while i = v" in written
    assert "if c {\n" in written


def test_weights_are_written_beside(tmp_path: Path) -> None:
    text = "model m(x: f32[2, 3]) -> (y) { weight `a/b` as w: f32[3] = [1, 2, 3]\n y = x + w }"
    program = read_text(text)
    save_text(program, tmp_path / "m.gv", name="m")
    assert (tmp_path / "m.safetensors").exists()
    again = load_program(tmp_path / "m.gv")
    assert ir.canonical_hash(again.module) == ir.canonical_hash(program.module)
    np.testing.assert_array_equal(again.weights["a/b"], [1, 2, 3])


def test_what_text_cannot_hold_is_refused() -> None:
    main = new_function("main", [("x", ir.TensorSpec(f32, (2,)))])
    finish(main, main.body.block.args, ["y"])
    program = program_of(main)
    program.module.attributes["gv.target"] = StringAttr("x86")
    with pytest.raises(UnsupportedOp, match=r"the module has attribute gv\.target"):
        write_text(program)
