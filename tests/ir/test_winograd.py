"""Winograd's form of a convolution gives what the direct sum gives."""

from __future__ import annotations

import numpy as np
import pytest

from gravure.ir import EagerEmit
from gravure.ir.op import REGISTRY
from gravure.ir.ops.winograd import transform_weights
from gravure.ir.tensor import spec_of_array


@pytest.mark.parametrize("pads", [((1, 1), (1, 1)), ((0, 2), (3, 0)), ((0, 0), (0, 0))])
@pytest.mark.parametrize("columns", [8, 5])
def test_the_tiles_are_the_convolution(pads: tuple[tuple[int, int], ...], columns: int) -> None:
    random = np.random.default_rng(0)
    x = random.standard_normal((2, 7, 10, 3))
    w = random.standard_normal((columns, 3, 3, 3))
    panels = np.asarray(transform_weights(EagerEmit(), w, spec_of_array(w), 4))
    flags = {"strides": (1, 1), "dilations": (1, 1), "groups": 1, "channels_last": True}
    (wanted,) = REGISTRY["gv.conv"].evaluate(x, w, pads=pads, **flags)
    (found,) = REGISTRY["gv.winograd_packed"].evaluate(x, panels, columns=columns, pads=pads)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
