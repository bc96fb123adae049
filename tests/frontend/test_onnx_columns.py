"""Columns of windows that are added up to an image, beside adding up each window by itself."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
import onnx
import pytest
from onnx import helper

import gravure as gv
from gravure.frontend.programs.load import load_program

Make = Callable[..., onnx.ModelProto]
Rows = Sequence[tuple[int, int, int, int, int, int]]
"""For each axis of the image: extent, taps, stride, dilation, pads at both ends."""


def added_up(x: np.ndarray, channels: int, rows: Rows) -> np.ndarray:
    """Add up each element of each window."""
    places = [(e + low + high - (k - 1) * d - 1) // s + 1 for e, k, s, d, low, high in rows]
    taps = [row[1] for row in rows]
    every = x.reshape(len(x), channels, *taps, *places)
    made = np.zeros((len(x), channels, *(e + low + high for e, _, _, _, low, high in rows)), "f4")
    for tap in itertools.product(*map(range, taps)):
        for place in itertools.product(*map(range, places)):
            at = [p * row[2] + t * row[3] for p, t, row in zip(place, tap, rows, strict=True)]
            made[(..., *at)] += every[(slice(None), slice(None), *tap, *place)]
    return made[(..., *(slice(row[4], row[4] + row[0]) for row in rows))]


CASES: dict[str, Rows] = {
    "side by side": ((6, 2, 2, 1, 0, 0), (8, 4, 4, 1, 0, 0)),
    "one apart": ((7, 3, 1, 1, 1, 1), (5, 3, 1, 1, 0, 2)),
    "strides": ((7, 3, 2, 1, 1, 0), (9, 4, 3, 1, 0, 1)),
    "holes between windows": ((9, 2, 3, 1, 1, 0), (5, 1, 2, 1, 0, 0)),
    "dilated": ((9, 3, 2, 2, 1, 1), (8, 2, 2, 2, 0, 0)),
    "a row": ((3, 2, 2, 2, 1, 1),),
    "a volume": ((5, 2, 2, 1, 0, 1), (4, 3, 1, 1, 1, 1), (6, 2, 2, 2, 0, 0)),
    "many taps": ((12, 9, 1, 1, 2, 2), (11, 9, 2, 1, 1, 0)),
}


@pytest.mark.parametrize("case", CASES)
def test_columns_are_added_up(model: Make, case: str) -> None:
    """Windows of few taps took 5 to 10 times as long as in onnxruntime, as a convolution back."""
    rows, channels = CASES[case], 2
    extents, taps, strides, dilations, lows, highs = map(list, zip(*rows, strict=True))
    parts = zip(extents, taps, strides, dilations, lows, highs, strict=True)
    places = [(e + low + high - (k - 1) * d - 1) // s + 1 for e, k, s, d, low, high in parts]
    columns = channels * int(np.prod(taps))
    node = helper.make_node("Col2Im", ["x", "image", "window"], ["y"], pads=lows + highs,
                            strides=strides, dilations=dilations)  # fmt: skip
    by = {"image": np.int64(extents), "window": np.int64(taps)}
    inputs = {"x": ("f32", ["n", columns, int(np.prod(places))])}
    data = model([node], inputs, ["y"], by, opset=18).SerializeToString()
    compiled = gv.compile(data, dims={"n": (1, 4)}, level="O1")
    for n in (1, 3):
        x = np.random.default_rng(n).standard_normal((n, *inputs["x"][1][1:])).astype("f4")
        wanted = added_up(x, channels, rows)
        np.testing.assert_allclose(compiled.run([x])[0], wanted, rtol=1e-5, atol=1e-5)
    is_folded = any(op.name == "gv.conv_transpose" for op in load_program(data).main.walk())
    assert is_folded == (case == "many taps")
