"""Images of integers that are resized with antialias, beside onnxruntime: it rounds.

Those with signs are compared as others: onnxruntime reads them as if they had none.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

import gravure as gv

KINDS = {"u8": np.uint8, "i8": np.int8}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("by_data", [False, True])
@pytest.mark.parametrize("size", [(20, 30), (7, 61), (40, 9)])
def test_integers_that_stand_for_many_are_rounded(
    model: Callable[..., onnx.ModelProto], kind: str, mode: str, size: tuple[int, int], *,
    by_data: bool,
) -> None:  # fmt: skip
    signed = kind == "i8"
    shades = np.random.default_rng(5).integers(0, 256, (1, 3, 40, 50))
    shades[:, 0] = np.where(shades[:, 0] > 128, 255, 0)  # a cubic goes beyond what there is
    x = (shades - 128 * signed).astype(KINDS[kind])
    sizes = np.int64([1, 3, *size])
    resize = helper.make_node("Resize", ["x", "", "", "s"], ["y"], mode=mode, antialias=1)
    inputs = {"x": (kind, list(x.shape)), **({"s": ("i64", [4])} if by_data else {})}
    made = model([resize], inputs, ["y"], {} if by_data else {"s": sizes}, opset=18)
    feeds = {"x": x, **({"s": sizes} if by_data else {})}
    (found,) = gv.compile(made.SerializeToString()).run(feeds)
    bright = model([resize], {**inputs, "x": ("u8", list(x.shape))}, ["y"],
                   {} if by_data else {"s": sizes}, opset=18)  # fmt: skip
    session = onnxruntime.InferenceSession(bright.SerializeToString())
    (wanted,) = session.run(None, {**feeds, "x": shades.astype(np.uint8)})
    apart = np.abs(found.astype(np.int64) + 128 * signed - wanted)
    assert found.dtype == x.dtype
    assert apart.max() <= 1
    assert (apart > 0).mean() < 0.1  # halves, by weights of 22 bits
