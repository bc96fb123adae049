"""The kernel of systems of equations, for all ways to look at a triangle: as in `test_kernels`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from kernel_cases import Array, check_kernel, tensor

import gravure as gv
from gravure.codegen import single
from gravure.ir import REGISTRY, TensorSpec
from gravure.ir.types.dtypes import DType, f32, f64

RANDOM = np.random.default_rng(5)
TOLERANCE: dict[DType, float] = {f32: 2e-4, f64: 1e-11}


def system(
    op: str, attributes: str, shapes: list[tuple[int | str, ...]], dtype: DType = f32
) -> str:
    """Return the kernel function of a solution; the first shape is that of the matrices."""
    a, b = (tensor(*shape, dtype=dtype) for shape in shapes)
    batch = max((shape[:-2] for shape in shapes), key=len)
    made = tensor(*batch, *shapes[1][-2:], dtype=dtype)
    names = sorted({d for shape in shapes for d in shape if isinstance(d, str)})
    symbols = ", ".join(f'"{name}"' for name in names)
    known = f"gv.symbols = [{symbols}], " if names else ""
    return (
        f'func.func @k(%a: {a}, %b: {b}) -> {made} attributes {{{known}gv.kind = "solve"}} {{\n'
        f"  %r = gv.{op} %a, %b {attributes} : ({a}, {b}) -> {made}\n"
        f"  func.return %r : {made}\n}}"
    )


def matrices(*shape: int, dtype: DType = f32) -> Array:
    """Return matrices that are well conditioned, but whose largest elements stand anywhere."""
    n = shape[-1]
    made = RANDOM.uniform(-1, 1, shape) + 2 * np.sqrt(n) * np.eye(n)[RANDOM.permutation(n)]
    return made.astype(dtype.numpy)


@pytest.mark.parametrize("dtype", [f32, f64], ids=str)
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 67), (16, 16), (19, 37)])
def test_systems_are_solved_with_pivots(rows: int, columns: int, dtype: DType) -> None:
    text = system("solve", "", [(rows, rows), (rows, columns)], dtype)
    right = RANDOM.uniform(-1, 1, (rows, columns)).astype(dtype.numpy)
    check_kernel(text, [matrices(rows, rows, dtype=dtype), right], rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("dtype", [f32, f64], ids=str)
def test_triangles_are_solved(dtype: DType, lower: bool, transpose: bool) -> None:
    flags = f"{{lower = {str(lower).lower()}, transpose = {str(transpose).lower()}}}"
    for rows, columns in ((3, 5), (18, 70)):
        text = system("triangular_solve", flags, [(rows, rows), (rows, columns)], dtype)
        a = (RANDOM.uniform(-1, 1, (rows, rows)) + 4 * np.eye(rows)).astype(dtype.numpy)
        right = RANDOM.uniform(-1, 1, (rows, columns)).astype(dtype.numpy)
        check_kernel(text, [a, right], rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("columns", [1, 16, 83])
def test_batches_and_columns_may_be_known_in_the_run_only(columns: int) -> None:
    symbols = {"B": 3, "N": columns}
    right = RANDOM.uniform(-1, 1, (3, 4, columns)).astype(np.float32)
    for op, attributes in (("solve", ""), ("triangular_solve", "{lower = false}")):
        text = system(op, attributes, [(4, 4), ("B", 4, "N")])
        a = (RANDOM.uniform(-1, 1, (4, 4)) + 4 * np.eye(4)).astype(np.float32)
        check_kernel(text, [a, right], symbols=symbols, rtol=2e-4)


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3"])
def test_processors_without_fused_products_or_with_short_vectors(target: str) -> None:
    text = system("solve", "", [(2, 9, 9), (9, 11)])
    right = RANDOM.uniform(-1, 1, (9, 11)).astype(np.float32)
    check_kernel(text, [matrices(2, 9, 9), right], rtol=2e-4, target=target)


def test_a_pivot_of_zero_shows_in_the_solution() -> None:
    a = np.ones((20, 20), np.float32)
    kernel = single.whole(REGISTRY["gv.solve"], [TensorSpec(f32, (20, 20))] * 2, {})
    assert not np.isfinite(kernel(a, np.eye(20, dtype=np.float32))).all()


@pytest.mark.parametrize("name", ["inv", "solve"])
@pytest.mark.parametrize("rows", [3, 100])
def test_a_matrix_without_an_inverse_is_refused_each_time(name: str, rows: int) -> None:
    import gravure.tf as tf  # noqa: PLC0415

    wrong = np.eye(rows, dtype=np.float32)
    wrong[1] = wrong[0]
    right = np.eye(rows, dtype=np.float32)
    given: list[Any] = [right] if name == "solve" else []
    function = getattr(tf.linalg, name)
    for _ in range(4):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
            function(tf.constant(wrong), *given)
        np.testing.assert_array_equal(function(tf.constant(right), *given), right)


def test_small_numbers_are_no_reason_to_refuse_a_matrix() -> None:
    """The determinant of this one is no float other than 0."""
    a = gv.asarray(1e-6 * np.eye(10, dtype=np.float32))
    import gravure.tf as tf  # noqa: PLC0415

    for _ in range(3):
        found = tf.linalg.inv(tf.constant(a.numpy()))
        np.testing.assert_allclose(found, 1e6 * np.eye(10), rtol=1e-5)
