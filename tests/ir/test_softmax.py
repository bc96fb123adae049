"""Softmax of many short rows: they stand side by side for numpy."""

import numpy as np
import pytest

from gravure.ir import REGISTRY
from gravure.ir.ops import softmax


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(200, 5), (20, 10, 5), (40, 31), (33, 2)])
def test_short_rows_are_gone_through_side_by_side(
    name: str, dtype: type, shape: tuple[int, ...]
) -> None:
    op, x = REGISTRY[f"gv.{name}"], np.random.default_rng(0).normal(size=shape).astype(dtype)
    x[0, ..., 0] = -np.inf
    wide, axis = softmax._in_columns(x, len(shape) - 1)
    assert (wide.shape, axis) == ((shape[-1], x.size // shape[-1]), 0)
    (found,) = op.evaluate(x, axis=len(shape) - 1)
    (each,) = op.evaluate(np.ascontiguousarray(np.moveaxis(x, -1, 0)), axis=0)
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, np.moveaxis(each, 0, -1), strict=True)
    few = x.reshape(-1, shape[-1])[:3]
    (alone,) = op.evaluate(few, axis=1)
    np.testing.assert_allclose(found.reshape(-1, shape[-1])[:3], alone, rtol=1e-12)
