"""What the generic tests cannot show of matrix products: errors, symbols, shared operands."""

import numpy as np
import pytest

from gravure.ir import REGISTRY, Call, EagerEmit, spec, spec_of_array
from gravure.ir.ops import matrix
from gravure.ir.types import dims, dtypes

MATMUL, EINSUM = REGISTRY["gv.matmul"], REGISTRY["gv.einsum"]
N = dims.symbol("N")


def test_matmul_keeps_symbols() -> None:
    lhs, rhs = spec(dtypes.f32, N, 8, 3), spec(dtypes.f32, 3, N * 2)
    (made,) = MATMUL.infer(lhs, rhs)
    assert made == spec(dtypes.f32, N, 8, N * 2)


@pytest.mark.parametrize(
    ("lhs", "rhs", "message"),
    [
        ((2, 3), (4, 5), "3 columns on the left, expected 4 as the rows on the right"),
        ((N, N + 1), (N, 5), r"N \+ 1 columns on the left, expected N"),
        ((3,), (3, 2), "ranks 1 and 2, expected at least 2"),
        ((2, 3, 4), (3, 4, 5), "do not broadcast: 2 against 3"),
    ],
)
def test_matmul_refuses(lhs: tuple[dims.Dim, ...], rhs: tuple[dims.Dim, ...], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        MATMUL.infer(spec(dtypes.f32, *lhs), spec(dtypes.f32, *rhs))


def test_matmul_refuses_unlike_and_bool_elements() -> None:
    with pytest.raises(TypeError, match="element types differ: f32 and f64"):
        MATMUL.infer(spec(dtypes.f32, 2, 2), spec(dtypes.f64, 2, 2))
    with pytest.raises(TypeError, match="element type bool, expected"):
        MATMUL.infer(spec(dtypes.bool_, 2, 2), spec(dtypes.bool_, 2, 2))


def test_narrow_floats_are_added_up_in_f32() -> None:
    ones = np.full((1, 4096), 1.0, np.float16)
    (made,) = MATMUL.evaluate(ones, ones, transpose_lhs=False, transpose_rhs=True)
    assert made[0, 0] == 4096


def test_einsum_keeps_symbols() -> None:
    (made,) = EINSUM.infer(
        spec(dtypes.f32, N, 4, 3), spec(dtypes.f32, 1, 5, 3), equation="...qd,...kd->...qk"
    )
    assert made == spec(dtypes.f32, N, 4, 5)


@pytest.mark.parametrize(
    ("equation", "shapes", "message"),
    [
        ("ij,jk->ik", [(2, 3)], "has 2 operands, expected 1"),
        ("ij->ji", [(2, 3, 4)], "'ij' does not name the axes of rank 3"),
        ("ij->ik", [(2, 3)], "'k' in the result is repeated or unknown"),
        ("ij->ii", [(2, 3)], "'i' in the result is repeated or unknown"),
        ("ij,jk->ik", [(2, 3), (4, 5)], "axes 'j' have 3 and 4 elements"),
        ("...i,...i->...", [(2, 3), (4, 3)], r"axes '\.\.\.' have 2 and 4 elements"),
        ("i1->i", [(2, 3)], "does not name the axes"),
    ],
)
def test_einsum_refuses(equation: str, shapes: list[tuple[int, ...]], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        EINSUM.infer(*(spec(dtypes.f32, *shape) for shape in shapes), equation=equation)


def test_gradient_of_an_operand_used_twice_is_counted_once() -> None:
    x = np.arange(6.0).reshape(2, 3)
    call = Call(
        EINSUM, (x, x), (), {"equation": "ij,ij->"}, [spec_of_array(x)] * 2, EagerEmit(),
        (spec(dtypes.f64),),
    )  # fmt: skip
    parts = EINSUM.gradient(call, np.array(1.0))
    np.testing.assert_allclose(parts[0] + parts[1], 2 * x)


def test_an_equation_without_a_result_keeps_what_comes_once() -> None:
    (made,) = EINSUM.infer(spec(dtypes.f32, 2, 3), spec(dtypes.f32, 3, 5), equation="bj,ja")
    assert made == spec(dtypes.f32, 5, 2)


@pytest.mark.parametrize("is_left", [True, False])
def test_no_matrix_is_turned_for_a_single_vector(
    monkeypatch: pytest.MonkeyPatch, is_left: bool
) -> None:
    """A thousand rows of a thousand numbers were copied, which took longer than to multiply."""
    copied: list[int] = []

    def noted(x: np.ndarray) -> np.ndarray:
        copied.append(0 if x.flags.c_contiguous else x.size)
        return np.ascontiguousarray(x)

    monkeypatch.setattr(matrix, "widen", noted)
    random = np.random.default_rng(0)
    x, vector = random.random((6, 40)), random.random((6, 1))
    given = (x, vector) if is_left else (vector.T, x.T.copy())
    (made,) = matrix.Matmul.evaluate(*given, transpose_lhs=is_left, transpose_rhs=not is_left)
    np.testing.assert_allclose(made, x.T @ vector if is_left else vector.T @ x)
    assert max(copied) <= vector.size


@pytest.mark.parametrize("shape", [(9, 10, 500), (7, 4, 4), (2, 3, 17, 33), (2, 1, 8), (0, 3, 3)])
def test_small_matrices_by_themselves_have_the_bits_of_others(shape: tuple[int, ...]) -> None:
    """Turned ones are read as they lie, whatever memory that is: no copy is made of another's."""
    a = np.random.default_rng(3).normal(size=shape).astype(np.float32)
    options = {"transpose_lhs": False, "transpose_rhs": True}
    (wanted,) = MATMUL.evaluate(a, a.copy(), **options)
    lying = np.ascontiguousarray(np.moveaxis(a, -1, 0))
    for other in (a, a.view(), np.moveaxis(lying, 0, -1)):
        (made,) = MATMUL.evaluate(a, other, **options)
        assert made.tobytes() == wanted.tobytes()
    exact = a.astype(np.float64) @ np.swapaxes(a, -1, -2).astype(np.float64)
    np.testing.assert_allclose(wanted, exact, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(), (1,), (3, 4), (0,)])
def test_quotients_rounded_down_leave_what_they_are_of(shape: tuple[int, ...]) -> None:
    x, y = np.full(shape, -7.0), np.full(shape, 2.0)
    (made,) = REGISTRY["gv.floor_divide"].evaluate(x, y)
    assert made.shape == shape
    assert (made == -4).all()
    assert (x == -7).all()
    assert (y == 2).all()
