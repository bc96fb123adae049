"""Rows of few elements that are added up lie in one vector, several of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from xdsl.dialects import scf
from xdsl.dialects.builtin import VectorType

from gravure.codegen.kernels import lower
from gravure.ir import parse
from gravure.ir.program import functions
from gravure.ir.types.dtypes import DTYPES
from gravure.target import Target

sys.path.insert(0, str(Path(__file__).parent))
from kernel_cases import check_kernel, tensor


def added_up(op: str, shape: tuple[int | str, ...], dtype: str = "f32", axis: int = -2) -> str:
    """Return a kernel that puts the rows of squares together."""
    row = DTYPES[dtype]
    given, made = [*shape], [*shape]
    del made[axis]
    named = ", ".join(f'"{n}"' for n in shape if isinstance(n, str))
    kind = f'gv.kind = "reduce", gv.symbols = [{named}]'
    x, y = tensor(*given, dtype=row), tensor(*made, dtype=row)
    return f"""
func.func private @k(%x: {x}) -> {y} attributes {{{kind}}} {{
  %p = gv.mul %x, %x : ({x}, {x}) -> {x}
  %y = gv.{op} %p {{axes = array<i64: {axis % len(shape)}>}} : ({x}) -> {y}
  func.return %y : {y}
}}"""


@pytest.mark.parametrize("few", [2, 4, 8, 16])
@pytest.mark.parametrize("count", [1, 7, 64, 203, 20_000])
def test_sums_of_short_rows(few: int, count: int) -> None:
    check_kernel(added_up("sum", (2, count, few) if count < 1000 else (count, few)))


@pytest.mark.parametrize("dtype", ["f64", "f16", "bf16", "i32", "i64", "i16"])
@pytest.mark.parametrize("op", ["sum", "max", "min", "prod"])
def test_short_rows_of_all_types_are_put_together(op: str, dtype: str) -> None:
    check_kernel(added_up(op, (3, 13, 4), dtype), rtol=2e-2 if dtype in ("f16", "bf16") else 2e-5)


def test_short_rows_of_an_open_number() -> None:
    check_kernel(added_up("sum", ("n", "m", 2)), symbols={"n": 3, "m": 61})
    check_kernel(added_up("max", ("n", "m", 8)), symbols={"n": 3, "m": 1})


@pytest.mark.parametrize(
    ("op", "shape", "axis", "lanes"),
    [
        ("sum", (3, 100, 2), 1, 16),
        ("sum", (3, 100, 8), 1, 8),  # in the order in which other operands can be read, too
        ("max", (3, 100, 8), 1, 16),
        ("max", (3, 100, 3), 1, 4),
        ("max", (3, 4, 2, 2), 1, 16),
    ],
)
def test_vectors_are_of_several_rows(
    op: str, shape: tuple[int, ...], axis: int, lanes: int
) -> None:
    (function,) = functions(parse(added_up(op, shape, axis=axis)))
    loops = lower(function, Target.parse("x86-64-v4"))
    carried = [x.type for op in loops.walk() if isinstance(op, scf.ForOp) for x in op.iter_args]
    assert {kind.get_shape()[0] for kind in carried if isinstance(kind, VectorType)} == {lanes}
