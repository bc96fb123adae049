"""Elements that lie a few apart: vectors are mixed, where each element was taken by itself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import SSAValue

sys.path.insert(0, str(Path(__file__).parent))
from kernel_cases import check_kernel

from gravure.codegen.kernels import lower
from gravure.ir import GraphEmit, TensorSpec, print_module
from gravure.ir.compose.maker import Maker
from gravure.ir.program import finish, functions, new_function
from gravure.ir.text import parse
from gravure.ir.types import dims
from gravure.ir.types.dtypes import DType, bool_, f16, f32, f64, i64, u8
from gravure.target import Target

Shape = Sequence[int | str]


def kernel(
    shapes: Sequence[Shape], kind: str, build: Callable[..., SSAValue], dtype: DType = f32
) -> str:
    """Return a kernel of operands of these shapes."""
    specs = [TensorSpec(dtype, tuple(dims.parse(str(d)) for d in shape)) for shape in shapes]
    function = new_function("k", [(f"x{n}", spec) for n, spec in enumerate(specs)])
    make = Maker(GraphEmit.at_end(function.body.block, "here"))
    finish(function, [build(make, *function.body.block.args)], ["y"])
    function.attributes["gv.kind"] = StringAttr(kind)
    if any(isinstance(d, str) for shape in shapes for d in shape):
        function.attributes["gv.symbols"] = ArrayAttr([StringAttr("N")])
    return print_module(function)


def operations(text: str) -> set[str]:
    """Return the names of what a kernel's loops consist of."""
    (function,) = functions(parse(text))
    return {op.name for op in lower(function, Target.parse("x86-64-v4")).walk()}


def every(step: int, size: int) -> Callable[..., SSAValue]:
    """Return what takes each so many-th column of so many, and works with it."""
    start, stop = (0, size) if step > 0 else (size - 1, -1 - size)
    taken = {"starts": (0, start), "stops": (3, stop), "steps": (1, step)}
    return lambda make, x: make.mul(make.slice(x, **taken), make.slice(x, **taken))


@pytest.mark.parametrize("step", [-5, -4, -3, -2, -1, 2, 3, 4, 5])
@pytest.mark.parametrize("size", [9, 64, 150])
def test_lanes_a_few_apart(step: int, size: int) -> None:
    check_kernel(kernel([(3, size)], "map", every(step, size)))


@pytest.mark.parametrize("dtype", [f64, f16, i64, u8], ids=str)
@pytest.mark.parametrize("step", [-3, 2])
def test_lanes_a_few_apart_of_any_type(dtype: DType, step: int) -> None:
    check_kernel(kernel([(3, 70)], "map", every(step, 70), dtype))


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", "aarch64"])
def test_lanes_a_few_apart_of_other_machines(target: str) -> None:
    (function,) = functions(parse(kernel([(3, 70)], "map", every(3, 70))))
    assert "vector.shuffle" in print_module(lower(function, Target.parse(target)))


@pytest.mark.parametrize(("step", "are_near"), [(-4, True), (-1, True), (3, True), (5, False)])
def test_near_lanes_are_taken_out_of_vectors(step: int, are_near: bool) -> None:
    text = kernel([(3, 64 * abs(step))], "map", every(step, 64 * abs(step)))
    assert ("vector.shuffle" in operations(text)) == are_near


def joined(make: Maker, *given: SSAValue) -> SSAValue:
    """Return rows of all, of which the first is computed."""
    first, *rest = given
    return make.concat(make.exp(first), *rest, axis=1)


COLUMNS = [(1, 1), (1, 1, 1), (2, 1), (1, 2, 1), (1, 1, 1, 1), (3, 1)]


@pytest.mark.parametrize("columns", COLUMNS, ids=str)
@pytest.mark.parametrize("rows", [4, 16, 37, 80])
def test_a_few_columns_are_stored_by_turns(columns: Sequence[int], rows: int) -> None:
    text = kernel([(rows, column) for column in columns], "concat", joined)
    check_kernel(text)
    assert "vector.shuffle" in operations(text)
    assert "memref.store" not in operations(text)


@pytest.mark.parametrize("rows", [0, 1, 3, 16, 45])
def test_columns_of_an_open_number_of_rows(rows: int) -> None:
    check_kernel(kernel([("N", 1), ("N", 2)], "concat", joined), symbols={"N": rows})


@pytest.mark.parametrize("dtype", [f64, i64, u8, bool_], ids=str)
def test_columns_of_any_type(dtype: DType) -> None:
    plain = lambda make, *given: make.concat(*given, axis=1)  # noqa: E731
    check_kernel(kernel([(37, 1), (37, 1), (37, 1)], "concat", plain, dtype))


def test_columns_of_rows_that_are_not_walked_as_one() -> None:
    def turned(make: Maker, x: SSAValue, y: SSAValue) -> SSAValue:
        return make.concat(make.transpose(x, order=(1, 0, 2)), y, axis=2)

    for shape in ((5, 20), (20, 5), (20, 3)):
        check_kernel(kernel([(*shape, 1), (*reversed(shape), 2)], "concat", turned))


def test_pixels_of_channels() -> None:
    def mixed(make: Maker, x: SSAValue) -> SSAValue:
        parts = [
            make.slice(x, starts=(0, 0, n), stops=(7, 30, n + 1), steps=(1, 1, 1)) for n in range(3)
        ]
        return make.concat(make.mul(parts[0], parts[1]), parts[2], make.exp(parts[1]), axis=2)

    text = kernel([(7, 30, 3)], "concat", mixed)
    check_kernel(text)
    assert "memref.store" not in operations(text)
