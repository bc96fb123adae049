"""Small parts of the passes that larger tests came by without looking."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gravure.errors import GraphError
from gravure.ir import Program, parse
from gravure.ir.ops.structure import Kernel
from gravure.ir.program import argument_specs, set_ranges
from gravure.ir.types.dtypes import f32
from gravure.passes.analysis.effects import is_pure
from gravure.passes.analysis.finite import first_not_finite
from gravure.passes.analysis.kernels.tiles import panel_width
from gravure.passes.base import PipelineError
from gravure.passes.cut_host import distinct
from gravure.passes.fuse import MAX_MEMBERS, is_laid_out
from gravure.passes.manager import run
from gravure.passes.pipelines import ulps_allowed
from gravure.passes.rematerialise import late_use
from gravure.passes.swap import Swap
from gravure.target import Target

CHOICE = """
func.func @main(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = gv.if %p, %x ({
  ^bb0(%a: tensor<2xf32>):
    BODY
  }, {
  ^bb0(%a: tensor<2xf32>):
    gv.yield %a : (tensor<2xf32>) -> ()
  }) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
"""


def test_a_choice_is_as_pure_as_what_is_in_it() -> None:
    neg = "%b = gv.neg %a : (tensor<2xf32>) -> tensor<2xf32>"
    checked = '%b = gv.check_numerics %a {message = ""} : (tensor<2xf32>) -> tensor<2xf32>'
    for line, pure in ((neg, True), (checked, False)):
        text = CHOICE.replace("BODY", f"{line}\n    gv.yield %b : (tensor<2xf32>) -> ()")
        op = Program(parse(text)).main.body.block.first_op
        assert op is not None
        assert is_pure(op) == pure


def test_what_is_not_finite_is_counted_by_kind() -> None:
    text = """
    func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
      %0 = gv.log %x : (tensor<5xf32>) -> tensor<5xf32>
      func.return %0 : tensor<5xf32>
    }
    """
    found = first_not_finite(Program(parse(text)), [np.float32([1, -1, 0, 0, 0])])
    assert found is not None
    assert (found.nans, found.infinities) == (1, 3)


def test_panels_of_one_row_are_as_wide_as_there_are_columns() -> None:
    target = Target.parse("x86-64-v3")
    widths = {n: panel_width(target, 1, n, f32) for n in (1, 8, 9, 64, 1000)}
    assert widths == {1: 8, 8: 8, 9: 16, 64: 56, 1000: 56}
    assert [panel_width(target, 64, n, f32) for n in (56, 48, 24)] == [8, 24, 24]


def test_reshapes_that_keep_runs_of_axes_are_laid_out() -> None:
    def reshape(source: str, result: str) -> bool:
        text = f"""
        func.func @main(%x: tensor<{source}xf32>) -> tensor<{result}xf32> {{
          %0 = gv.reshape %x {{shape = array<i64: {result.replace("x", ", ")}>}}
            : (tensor<{source}xf32>) -> tensor<{result}xf32>
          func.return %0 : tensor<{result}xf32>
        }}
        """
        op = Program(parse(text)).main.body.block.first_op
        assert op is not None
        return is_laid_out(op)

    assert reshape("2x12", "2x3x4")
    assert reshape("4x6", "24")


def test_bytes_that_another_order_saves_are_those_between_the_peaks() -> None:
    text = """
    func.func @main(%x: tensor<64x64xf32>, %y: tensor<32x32xf32>) -> tensor<f32> {
      %0 = gv.matmul %x, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %1 = gv.matmul %y, %y : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
      %2 = gv.sum %1 {axes = array<i64: 0, 1>} : (tensor<32x32xf32>) -> tensor<f32>
      %3 = gv.sum %0 {axes = array<i64: 0, 1>} : (tensor<64x64xf32>) -> tensor<f32>
      %4 = gv.add %2, %3 : (tensor<f32>, tensor<f32>) -> tensor<f32>
      func.return %4 : tensor<f32>
    }
    """
    report = run("fuse,outline-kernels,schedule-memory", Program(parse(text)))
    saved = report.steps[-1].rewrite.counts.get("bytes saved", 0)
    assert 0 < saved <= 4 * 32 * 32


def test_names_that_come_again_are_counted_and_none_comes_twice() -> None:
    assert distinct(["y", "y", "y_2", "y"]) == ["y", "y_2", "y_2_2", "y_3"]
    assert distinct(["y_2", "y", "y"]) == ["y_2", "y", "y_3"]
    many = distinct(["y"] * 100_000)  # in a moment: each was looked for among all before it
    assert many[-1] == "y_100000"


def test_calls_that_make_too_much_are_refused_before_they_are_made() -> None:
    rows = [
        """func.func private @f0(%x: tensor<f32>) -> tensor<f32> {
      %0 = gv.neg %x : (tensor<f32>) -> tensor<f32>
      func.return %0 : tensor<f32>
    }"""
    ]
    for number in range(1, 40):
        call = f"func.call @f{number - 1}"
        name = f"private @f{number}" if number < 39 else "@main"
        rows.append(f"""func.func {name}(%x: tensor<f32>) -> tensor<f32> {{
          %0 = {call}(%x) : (tensor<f32>) -> tensor<f32>
          %1 = {call}(%0) : (tensor<f32>) -> tensor<f32>
          func.return %1 : tensor<f32>
        }}""")
    with pytest.raises(GraphError, match=r"function 'f18' has \d+ operations .* at most 1048576"):
        run("inline-functions", Program(parse("\n".join(rows))))


def test_what_numerics_allow() -> None:
    assert [ulps_allowed(text) for text in ("exact", "ulp:3", "fast")] == [0, 3, None]
    for wrong in ("ulp", "ulp:0", "ulp:x", "exact:3", "none"):
        with pytest.raises(PipelineError, match="are unknown, expected"):
            ulps_allowed(wrong)


def test_kernels_have_no_more_operations_than_they_may() -> None:
    lines = [f"  %{n + 1} = gv.neg %{n} : (tensor<2xf32>) -> tensor<2xf32>" for n in range(250)]
    text = "\n".join([
        "func.func @main(%0: tensor<2xf32>) -> tensor<2xf32> {", *lines,
        "  func.return %250 : tensor<2xf32>", "}",
    ]).replace("%0", "%x0")  # fmt: skip
    program = Program(parse(text))
    run("fuse", program)
    kernels = [op for op in program.module.walk() if isinstance(op, Kernel)]
    sizes = [sum(op.name == "gv.neg" for op in kernel.walk()) for kernel in kernels]
    assert sum(sizes) == 250
    assert max(sizes) == MAX_MEMBERS


def test_sizes_may_be_at_the_ends_of_their_ranges() -> None:
    text = """func.func @main(%x: tensor<?xf32, #gv.dims<"N">>) -> tensor<?xf32, #gv.dims<"N">> {
      func.return %x : tensor<?xf32, #gv.dims<"N">>
    }"""
    for size in (2, 4):
        program = Program(parse(text))
        set_ranges(program.module, {"N": (2, 4)})
        run(f"infer-shapes{{dims=N={size}}}", program)
        assert argument_specs(program.main)[0].dims == (size,)
    for size in (1, 5):
        program = Program(parse(text))
        set_ranges(program.module, {"N": (2, 4)})
        with pytest.raises(GraphError, match=f"dimension N is {size}, expected 2 to 4"):
            run(f"infer-shapes{{dims=N={size}}}", program)


def test_what_is_used_late_is_used_before_and_behind_a_gap() -> None:
    lines = ["%0 = gv.exp %x : (tensor<f32>) -> tensor<f32>"]
    lines += [f"%{n} = gv.neg %{n - 1} : (tensor<f32>) -> tensor<f32>" for n in range(1, 9)]
    lines += ["%9 = gv.add %8, %0 : (tensor<f32>, tensor<f32>) -> tensor<f32>"]
    body = "\n".join([*lines, "func.return %9 : tensor<f32>"])
    program = Program(parse(f"func.func @main(%x: tensor<f32>) -> tensor<f32> {{ {body} }}"))
    ops = list(program.main.body.block.ops)
    places = {op: place for place, op in enumerate(ops)}
    assert late_use(ops[0], places, 7) == 9
    assert late_use(ops[0], places, 8) is None
    assert late_use(ops[1], places, 0) is None


def test_only_what_is_large_and_rests_is_moved_to_the_host() -> None:
    small, busy, good, brief = (object() for _ in range(4))

    def life(*, rests: bool, first: int = 0, last: int = 10) -> Any:
        gone = SimpleNamespace(left=1, back=9)
        return SimpleNamespace(
            first=first, last=last, can_rest=lambda distance: rests, returning=lambda ahead: gone
        )

    lives: Any = {small: life(rests=True), busy: life(rests=False), good: life(rests=True)}
    lives[brief] = life(rests=False, first=5, last=5)
    size: Any = {small: 10, busy: 1000, good: 1000, brief: 10}
    found: Any = Swap(limit=1, least=100).chosen(lives, size, 10)
    assert found == [good]
