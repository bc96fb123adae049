"""Register tiles: what is chosen fits the registers and pads little."""

import pytest

from gravure.ir import GraphEmit, TensorSpec
from gravure.ir.compose.maker import Maker
from gravure.ir.program import new_function
from gravure.ir.types.dtypes import DType, f32, f64, i32
from gravure.passes.analysis.kernels.short import Short, short_of
from gravure.passes.analysis.kernels.tiles import (
    TALLEST,
    panel_width,
    product_width,
    rows_for,
    vectors_for,
)
from gravure.target import Target

V3, V4 = Target.parse("x86-64-v3"), Target.parse("x86-64-v4")


@pytest.mark.parametrize("target", [V3, V4], ids=str)
@pytest.mark.parametrize("rows", [2, 5, 14, 100])
@pytest.mark.parametrize("columns", [1, 8, 40, 300])
@pytest.mark.parametrize("dtype", [f32, f64], ids=str)
def test_a_tile_fits_the_registers_and_is_not_wider_than_the_product(
    target: Target, rows: int, columns: int, dtype: DType
) -> None:
    vectors = vectors_for(target, rows, columns, dtype)
    height = rows_for(target, vectors)
    assert 1 <= height <= TALLEST
    assert height * vectors + vectors + 1 <= target.registers
    lanes = target.lanes * 4 // dtype.size
    assert vectors == 1 or (vectors - 1) * lanes < columns
    assert panel_width(target, rows, columns, dtype) == vectors * lanes


@pytest.mark.parametrize(
    ("target", "columns", "vectors"), [(V4, 1000, 8), (V4, 100, 7), (V4, 3, 1), (V3, 1000, 7)]
)
def test_one_row_takes_up_to_eight_vectors_and_half_of_the_registers(
    target: Target, columns: int, vectors: int
) -> None:
    assert vectors_for(target, 1, columns, f32) == vectors
    assert panel_width(target, 1, columns, f32) == vectors * target.lanes


@pytest.mark.parametrize(("columns", "width"), [(8, 8), (5, 8), (16, 16), (24, 24), (40, 40)])
def test_few_columns_are_vectors_of_half_the_lanes(columns: int, width: int) -> None:
    assert product_width(Target.parse("znver4"), 4, columns, f32) == width
    assert product_width(V4, 4, columns, f32) == -(-columns // 16) * 16


@pytest.mark.parametrize("dtype", [f32, i32], ids=str)
def test_only_sums_of_floats_are_bounded_in_their_registers(dtype: DType) -> None:
    main = new_function(
        "main",
        [(name, TensorSpec(dtype, (4, 4))) for name in "xy"] + [("b", TensorSpec(dtype, (4,)))],
    )
    x, y, b = main.body.block.args
    make = Maker(GraphEmit.at_end(main.body.block))
    product = make.matmul(x, y)
    root = make.relu(make.add(product, b))
    wanted = Short(bias=b, low=0.0) if dtype == f32 else None
    assert short_of(root, product.owner) == wanted
    wide = make.to(product, f64)
    assert short_of(wide, product.owner) is None
