"""Tensors: operators, conversions, exchange with numpy; rows A9, I1, I20 and I21."""

import copy
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure.frontend.eager.tensor import apply
from gravure.frontend.graph.symbolic import LeakedTensorError, SymbolicError
from gravure.frontend.values.context import entered
from gravure.ir import REGISTRY, spec
from gravure.ir.types import dims, dtypes

sys.path.insert(0, str(Path(__file__).parent))
from traced_blocks import Trace

X = np.array([[1.5, -2.0, 3.0], [0.5, 4.0, -1.0]], np.float32)
N = np.array([[7, -2, 3], [5, 4, -1]], np.int32)
B = np.array([True, False, True])


def symbolic(*shape: Any, name: str = "function 'f'") -> tuple[Trace, Any]:
    trace = Trace(name)
    return trace, trace.argument("x", spec(dtypes.f32, *shape))


@pytest.mark.parametrize("row", gv.__array_namespace_info__().dtypes())
def test_a9_every_number_type_goes_round(row: str) -> None:
    dtype = getattr(gv, row)
    x = gv.asarray([1, 0, 1], dtype=dtype)
    assert x.dtype == dtype == row == x.numpy().dtype
    assert (gv.asarray(x.numpy()).numpy() == x.numpy()).all()
    assert str(x.dtype) == row
    assert repr(x.dtype) == f"gravure.{row}"


def test_a9_complex_numbers_multiply_and_add() -> None:
    x = gv.asarray([1 + 2j, 3 - 1j])
    assert x.dtype == gv.complex64
    np.testing.assert_array_equal((x * x + x).numpy(), x.numpy() ** 2 + x.numpy())


def test_a9_text_is_kept_and_nothing_else() -> None:
    x = gv.asarray(["a", "bc"])
    assert x.dtype == gv.string
    assert gv.identity(x).tolist() == [b"a", b"bc"]
    assert x[1].item() == b"bc"
    with pytest.raises(TypeError, match="string"):
        x + x
    with pytest.raises(TypeError, match="string"):
        gv.exp(x)


@pytest.mark.parametrize(
    ("function", "operands"),
    [
        (lambda a, b: a + b, (X, X)),
        (lambda a, b: a - b, (X, 2)),
        (lambda a, b: a * b, (2.5, X)),
        (lambda a, b: a / b, (1, X)),
        (lambda a, b: a // b, (N, 2)),
        (lambda a, b: a % b, (N, -3)),
        (lambda a, b: a**b, (X, 2)),
        (lambda a, b: a @ b, (X, X.T.copy())),
        (lambda a, b: a & b, (N, 3)),
        (lambda a, b: a | b, (B, ~B)),
        (lambda a, b: a ^ b, (B, True)),
        (lambda a, b: a << b, (N, 2)),
        (lambda a, b: a >> b, (N, 1)),
        (lambda a, b: a < b, (X, 1)),
        (lambda a, b: a <= b, (X, X)),
        (lambda a, b: a > b, (0, X)),
        (lambda a, b: a >= b, (N, 4)),
        (lambda a, b: a == b, (N, 4)),
        (lambda a, b: a != b, (X, X)),
        (lambda a: -a, (X,)),
        (lambda a: +a, (X,)),
        (lambda a: ~a, (B,)),
        (lambda a: ~a, (N,)),
        (abs, (N,)),
    ],
)
def test_operators_are_those_of_numpy(function: Callable[..., Any], operands: Any) -> None:
    expected = function(*operands)
    tensors = [gv.asarray(x) if isinstance(x, np.ndarray) else x for x in operands]
    found = function(*tensors)
    assert isinstance(found, gv.Tensor)
    assert found.numpy().dtype == expected.dtype
    np.testing.assert_array_equal(found.numpy(), expected)


@pytest.mark.parametrize("other", [X, X.tolist(), np.float32(2), np.float64(2)])
def test_numpy_and_lists_are_operands_on_both_sides(other: Any) -> None:
    x = gv.asarray(X)
    for found in (x * other, other * x):
        assert isinstance(found, gv.Tensor)
        np.testing.assert_allclose(found.numpy(), X * np.asarray(other), rtol=1e-6)


def test_a_python_number_does_not_widen() -> None:
    assert (gv.asarray([1.0], dtype=gv.float16) * 3.1).dtype == gv.float16
    assert (gv.asarray([1], dtype=gv.uint8) + 3).dtype == gv.uint8
    assert (gv.asarray([1]) * 0.5).dtype == gv.float32
    with pytest.raises(OverflowError, match="-1 is outside of u8"):
        gv.asarray([1], dtype=gv.uint8) + -1


def test_unknown_operands_are_refused_by_python() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        gv.ones(2) + object()
    assert gv.ones(2) != None  # noqa: E711
    assert gv.ones(2) != "text"


def test_an_update_in_place_rebinds_the_name() -> None:
    x = y = gv.asarray(X)
    x += 1
    assert x is not y
    np.testing.assert_array_equal(y.numpy(), X)
    np.testing.assert_array_equal(x.numpy(), X + 1)


def test_an_assignment_to_elements_leaves_other_tensors_alone() -> None:
    base = np.array(X)
    x = gv.asarray(base)
    part, alias = x[0], gv.reshape(x, (6,))
    x[0, 1] = 9
    x[:, 2] = gv.asarray([7.0, 8.0])
    np.testing.assert_array_equal(base, X)
    np.testing.assert_array_equal(part.numpy(), X[0])
    np.testing.assert_array_equal(alias.numpy(), X.ravel())
    np.testing.assert_array_equal(x.numpy(), [[1.5, 9, 7], [0.5, 4, 8]])
    x[x > 7] = 0.5
    np.testing.assert_array_equal(x.numpy(), [[1.5, 0.5, 7], [0.5, 4, 0.5]])


def test_an_assignment_keeps_the_element_type() -> None:
    x = gv.asarray([1, 2, 3], dtype=gv.int8)
    x[1] = 5
    assert x.dtype == gv.int8
    with pytest.raises(TypeError, match="do not fit"):
        x[0] = 0.5
    with pytest.raises(OverflowError, match="300"):
        x[0] = 300


def test_assignments_to_own_memory_do_not_copy() -> None:
    x = gv.zeros(1000)
    before = x.numpy().__array_interface__["data"]
    x[3] = 1.0
    assert x.numpy().__array_interface__["data"] == before
    assert x[3] == 1.0


def test_dtypes_compare_and_pickle() -> None:
    assert gv.float32 == np.float32 == gv.float32
    assert gv.float32 == "float32"
    assert gv.float32 != gv.float64
    assert gv.int32 not in (np.dtype(np.int64), "int64", None, 3)
    assert pickle.loads(pickle.dumps(gv.bfloat16)) is gv.bfloat16
    assert np.zeros(2, gv.float64).dtype == np.float64  # numpy reads our types


def test_pickle_and_copy_keep_the_value() -> None:
    x = gv.asarray(X)
    for other in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x)):
        assert isinstance(other, gv.Tensor)
        np.testing.assert_array_equal(other.numpy(), X)
        assert not np.shares_memory(other.numpy(), x.numpy())


def test_i1_a_tensor_prints_value_shape_and_type() -> None:
    assert repr(gv.asarray([[2.0]])) == "gravure.Tensor([[2.]], shape=(1, 1), dtype=float32)"
    assert len(repr(gv.zeros((300, 300)))) < 1000


def test_i1_numpy_functions_take_tensors() -> None:
    x = gv.asarray(X)
    np.testing.assert_array_equal(np.sin(x), np.sin(X))
    assert np.asarray(x) is x.numpy()
    assert np.shares_memory(np.from_dlpack(x), x.numpy())


def test_scalars_and_lengths() -> None:
    x = gv.asarray([3])
    assert (int(x), float(x), complex(x), bool(x), len(x), range(5)[x[0]]) == (3, 3, 3, True, 1, 3)
    assert [row.shape for row in gv.ones((2, 3))] == [(3,), (3,)]
    with pytest.raises(TypeError, match="expected one element"):
        bool(gv.ones(2))
    with pytest.raises(TypeError, match="no length"):
        len(gv.asarray(1))
    with pytest.raises(TypeError, match="is no index"):
        range(5)[gv.asarray(1.0)]


def test_tensors_are_keys_by_identity() -> None:
    x, y = gv.ones(2), gv.ones(2)
    assert {x: 1, y: 2}[y] == 2


def test_exchange_through_dlpack_shares_memory() -> None:
    array = np.arange(6.0)
    x = gv.from_dlpack(array)
    assert np.shares_memory(x.numpy(), array)
    assert np.shares_memory(np.from_dlpack(x), array)
    assert x.__dlpack_device__() == array.__dlpack_device__()


@pytest.mark.parametrize("make", [gv.flip, lambda x: gv.broadcast_to(x[0], (4,))])
def test_only_plain_memory_is_given_away(make: Callable[..., Any]) -> None:
    x = make(gv.arange(4))
    given = np.from_dlpack(x)
    assert given.flags.c_contiguous
    assert given.flags.writeable
    np.testing.assert_array_equal(given, x.numpy())
    with pytest.raises(BufferError):
        x.__dlpack__(copy=False)


@pytest.mark.parametrize(
    ("use", "word"),
    [
        (bool, "gravure.cond"),
        (int, "gravure.astype"),
        (float, "gravure.astype"),
        (lambda x: [1, 2][x], "gravure.take"),
        (list, "gravure.while_loop"),
        (len, r"\.shape\[0\]"),
        (np.sin, "gravure"),
        (lambda x: x.numpy(), "return it"),
        (pickle.dumps, "return it"),
        (lambda x: x.__setitem__(0, 1), "gravure.where"),
    ],
)
def test_i20_what_wants_elements_of_a_graph_names_the_line(use: Any, word: str) -> None:
    trace, x = symbolic(dims.symbol("N"))
    with entered(trace):
        y = x * 2.0
        with pytest.raises(SymbolicError, match=word) as caught:
            use(y)
    assert "test_tensor.py:" in str(caught.value)
    assert "function 'f'" in str(caught.value)
    assert isinstance(caught.value, TypeError)


def test_i21_a_leaked_tensor_is_named_with_function_and_line() -> None:
    trace, x = symbolic(3)
    with entered(trace):
        y = x * 2.0
    trace.finish("f", {"y": y})
    for use in (lambda: y + 1.0, lambda: bool(y)):
        with pytest.raises(LeakedTensorError, match="function 'f'") as caught:
            use()
        assert str(caught.value).count("test_tensor.py:") == 2
    other, _ = symbolic(3, name="function 'g'")
    with entered(other), pytest.raises(LeakedTensorError, match="function 'f'"):
        gv.ones(3) + y


def test_a7_shapes_that_do_not_fit_name_operation_shapes_and_line() -> None:
    trace, x = symbolic(2, 3)
    with entered(trace), pytest.raises(ValueError, match=r"test_tensor.py:\d+: gv.matmul: 3") as e:
        gv.matmul(x, gv.ones((4, 5)))
    assert isinstance(e.value, TypeError)
    with pytest.raises(gv.GravureError, match=r"test_tensor.py:\d+: gv.add: shapes \(2, 3\)"):
        gv.ones((2, 3)) + gv.ones((4,))


def test_third_parties_apply_operations_by_class() -> None:
    found = apply(REGISTRY["gv.leaky_relu"], gv.asarray(X), alpha=0.5)
    np.testing.assert_allclose(found.numpy(), np.where(X < 0, X / 2, X))
    with pytest.raises(TypeError, match="attribute beta is unknown"):
        apply(REGISTRY["gv.leaky_relu"], gv.asarray(X), beta=0.5)
