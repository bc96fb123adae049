"""Small models that ask for vast work: left out where it is for nothing, else refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import gravure as gv
from gravure.errors import GravureError, OutOfMemoryError
from gravure.frontend.onnx.windows import Windows, clamped
from gravure.runtime.buffer import aligned_bytes

VAST = 2**31 - 1
IMAGE = np.linspace(-1, 1, 100, dtype=np.float32).reshape(1, 4, 5, 5)


def model(op: str, more: dict[str, Any], given: dict[str, Any], shape: Any, opset: int) -> bytes:
    info = helper.make_tensor_value_info
    names = ["x", *given]
    node = helper.make_node(op, ["" if n.startswith("_") else n for n in names], ["y"], **more)
    stored = [numpy_helper.from_array(np.array(a), n) for n, a in given.items() if n[0] != "_"]
    inputs = [info("x", TensorProto.FLOAT, shape)]
    outputs = [info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph([node], "g", inputs, outputs, stored)
    opsets = [helper.make_opsetid("", opset)]
    made: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()
    return made


@pytest.mark.parametrize("kernel", [9, 11, 2**20 + 1, VAST])
@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
def test_windows_far_larger_than_the_image(kernel: int, mode: str) -> None:
    given = {"kernel_shape": [kernel, kernel], "auto_pad": mode}
    zeros = np.zeros_like(IMAGE)
    largest = gv.compile(model("MaxPool", given, {}, IMAGE.shape, 20))(IMAGE)
    np.testing.assert_array_equal(largest, zeros + IMAGE.max((2, 3), keepdims=True))
    mean = gv.compile(model("AveragePool", given, {}, IMAGE.shape, 20))(IMAGE)
    np.testing.assert_allclose(mean, zeros + IMAGE.mean((2, 3), keepdims=True), rtol=1e-5)
    with_pads = {**given, "count_include_pad": 1}
    counted = gv.compile(model("AveragePool", with_pads, {}, IMAGE.shape, 20))(IMAGE)
    total = IMAGE.sum((2, 3), keepdims=True, dtype=np.float64)
    np.testing.assert_allclose(counted, zeros + total / kernel**2, rtol=1e-4)
    norm = gv.compile(model("LpPool", given, {}, IMAGE.shape, 18))(IMAGE)
    wanted = np.sqrt((IMAGE.astype(np.float64) ** 2).sum((2, 3), keepdims=True))
    np.testing.assert_allclose(norm, zeros + wanted, rtol=1e-5)


def seen(windows: Windows, extent: int) -> list[list[int]]:
    """Return the elements of an axis that each window sees."""
    (kernel,), (stride,), (dilation,), ((low, high),) = (
        windows.kernel, windows.strides, windows.dilations, windows.pads,
    )  # fmt: skip
    count = (extent + low + high - (kernel - 1) * dilation - 1) // stride + 1
    starts = [i * stride - low for i in range(count)]
    return [[p for k in range(kernel) if 0 <= (p := at + k * dilation) < extent] for at in starts]


def test_a_clamped_window_sees_the_same() -> None:
    random = np.random.default_rng(11)
    smaller = 0
    for _ in range(3000):
        extent, stride, dilation = (int(n) for n in random.integers(1, 6, 3))
        kernel, low, high = (int(n) for n in random.integers((1, 0, 0), (30, 30, 30)))
        windows = Windows((kernel,), (stride,), (dilation,), ((low, high),))
        if extent + low + high < windows.spans[0]:
            continue
        made = clamped(windows, (extent,))
        assert seen(made, extent) == seen(windows, extent), (windows, made)
        assert min(*made.kernel, *made.pads[0] + (1,)) >= 0
        smaller += made.kernel < windows.kernel
    assert smaller > 500


@pytest.mark.parametrize("size", [9, 10, 2**31, 2**31 + 1])
def test_more_channels_than_there_are(size: int) -> None:
    found = gv.compile(model("LRN", {"size": size, "alpha": 3e3}, {}, IMAGE.shape, 20))(IMAGE)
    squares = (IMAGE.astype(np.float64) ** 2).sum(1, keepdims=True)
    np.testing.assert_allclose(found, IMAGE / (1 + 3e3 / size * squares) ** 0.75, rtol=1e-5)


@pytest.mark.parametrize(
    ("op", "more", "given", "shape", "opset", "message"),
    [
        ("DFT", {}, {"n": np.int64(10**9)}, [1, 8, 1], 20, "1000000000 points, expected at most"),
        ("DFT", {"axis": 1}, {"n": np.int64(10**9)}, [1, 8, 1], 17, "expected at most 4194304"),
        ("Resize", {"mode": "linear", "antialias": 1},
         {"_r": 0, "_s": 0, "s": np.array([1, 1, 5, 10**9])}, [1, 1, 5, 5], 20,
         "resizing 5 to 1000000000 elements takes 4000000000 taps, expected at most"),
    ],
)  # fmt: skip
def test_vast_work_is_refused_by_name(
    op: str, more: Any, given: Any, shape: Any, opset: int, message: str
) -> None:
    with pytest.raises(GravureError, match=message):
        gv.compile(model(op, more, given, shape, opset))


@pytest.mark.parametrize("size", [1 << 20, 1 << 50, 1 << 62])
def test_memory_that_there_is_not_is_refused_by_name(size: int) -> None:
    if size < 1 << 30:
        assert aligned_bytes(size).nbytes == size
        return
    with pytest.raises(OutOfMemoryError, match=f"{size} bytes of memory are needed") as raised:
        aligned_bytes(size)
    assert isinstance(raised.value, MemoryError)
