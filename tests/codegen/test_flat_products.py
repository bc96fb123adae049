"""Products of little depth, which are bounded by what they write, in blocks of few rows."""

from __future__ import annotations

import numpy as np
import pytest

import gravure as gv


@pytest.mark.parametrize("depth", [1, 3, 8])
@pytest.mark.parametrize(("rows", "columns"), [(1031, 1100), (700, 2048), (2051, 520)])
@pytest.mark.parametrize("turned", [False, True])
def test_a_product_of_little_depth(depth: int, rows: int, columns: int, *, turned: bool) -> None:
    random = np.random.default_rng(depth)
    a = random.integers(-9, 9, (rows, depth)).astype(np.float32)
    b = random.integers(-9, 9, (columns, depth) if turned else (depth, columns))
    b = b.astype(np.float32)

    @gv.function
    def product(a: gv.Tensor, b: gv.Tensor) -> gv.Tensor:
        return gv.maximum(gv.matmul(a, gv.permute_dims(b, (1, 0)) if turned else b) + 1, 0)

    wanted = np.maximum(a @ (b.T if turned else b) + 1, 0)
    np.testing.assert_array_equal(product(a, b), wanted)
