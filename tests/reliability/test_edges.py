"""Tensors of no elements and numbers at the ends of their types: an answer, or an error by name."""

from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

import gravure as gv
from gravure.errors import RequirementError


def run(op: str, *operands: Any, weights: tuple[Any, ...] = (), **attributes: Any) -> Any:
    """Return the result of a model of one operator; `weights` are operands that are constant."""
    names = [f"x{number}" for number in range(len(operands) + len(weights))]
    node = helper.make_node(op, names, ["y"], **attributes)
    inputs = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(operand.dtype), operand.shape
        )
        for name, operand in zip(names, operands, strict=False)
    ]
    constants = [
        numpy_helper.from_array(weight, name)
        for name, weight in zip(names[len(operands) :], weights, strict=True)
    ]
    graph = helper.make_graph([node], "one", inputs, [helper.make_empty_tensor_value_info("y")],
                              constants)  # fmt: skip
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    [found] = gv.compile(model).run(list(operands))
    return found


def ones(*shape: int) -> Any:
    return np.ones(shape, np.float32)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize(
    ("left", "right"),
    [((2, 0), (0, 3)), ((2, 3), (3, 0)), ((0, 3), (3, 2)), ((4, 2, 3), (4, 3, 0)), ((0,), (0,))],
)
def test_products_without_elements(left: Any, right: Any, constant: bool) -> None:
    a, b = ones(*left), ones(*right)
    found = run("MatMul", a, weights=(b,)) if constant else run("MatMul", a, b)
    np.testing.assert_array_equal(found, a @ b)


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
def test_images_without_channels(op: str) -> None:
    assert run(op, ones(1, 0, 5, 5), kernel_shape=[2, 2]).shape == (1, 0, 4, 4)
    assert run(op, ones(0, 3, 5, 5), kernel_shape=[2, 2]).shape == (0, 3, 4, 4)


def test_convolution_over_no_channels_is_zero() -> None:
    found = run("Conv", ones(1, 0, 5, 5), weights=(ones(4, 0, 3, 3),))
    np.testing.assert_array_equal(found, np.zeros((1, 4, 3, 3)))


@pytest.mark.parametrize(
    ("op", "wanted"),
    [("ReduceMax", -np.inf), ("ReduceMin", np.inf), ("ReduceProd", 1), ("ReduceMean", np.nan)],
)
def test_reductions_of_nothing(op: str, wanted: float) -> None:
    np.testing.assert_array_equal(run(op, ones(2, 0), axes=[1]), np.full((2, 1), wanted))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8])
def test_division_of_integers_never_ends_the_process(dtype: Any) -> None:
    least = np.iinfo(dtype).min
    a = np.array([7, 5, least, least], dtype)
    b = np.array([0, 2, -1 if least else 1, 1], dtype)
    np.testing.assert_array_equal(run("Div", a, b), np.array([0, 2, least, least], dtype))
    np.testing.assert_array_equal(run("Mod", a, b), np.array([0, 1, 0, 0], dtype))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8])
def test_floats_that_no_integer_is_become_the_nearest(dtype: Any) -> None:
    given = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30], np.float32)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    found = run("Cast", given, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
    np.testing.assert_array_equal(found, np.array([0, high, low, high, low], dtype))


@pytest.mark.parametrize("index", [3, -4, 2**31, 2**32 + 1, -(2**63), 2**63 - 1])
def test_an_index_out_of_range_ends_the_run(index: int) -> None:
    rows = np.arange(6, dtype=np.float32).reshape(3, 2) + 1
    with pytest.raises(RequirementError, match=rf"index = {index} is not in \[-3, 3\)"):
        run("Gather", rows, np.array([index]))
