"""Weights of very many layers are brought to their places without a look at each."""

import threading
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import gravure as gv
from gravure.codegen import prepare
from gravure.runtime import buffer, direct

WIDTH = 8


def layers(count: int) -> bytes:
    """Return layers of a product."""
    nodes, stored, value = [], [], "x"
    for i in range(count):
        weight = np.full((WIDTH, WIDTH), 0.01, np.float32)
        weight[0] = i
        stored.append(numpy_helper.from_array(weight, f"w{i}"))
        nodes.append(helper.make_node("MatMul", [value, f"w{i}"], [f"p{i}"]))
        nodes.append(helper.make_node("Tanh", [f"p{i}"], [f"v{i}"]))
        value = f"v{i}"
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, (2, WIDTH)) for n in ("x", value)]
    graph = helper.make_graph(nodes, "layers", ends[:1], ends[1:], stored)
    opsets = [helper.make_opsetid("", 17)]
    data: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    return data


def test_where_weights_lie_is_not_described_weight_by_weight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = {10: 0, 600: 0}
    address = buffer.address
    for count in calls:

        def noted(array: Any, count: int = count) -> int:
            calls[count] += 1
            return address(array)

        for module in (buffer, direct, prepare):
            monkeypatch.setattr(module, "address", noted)
        model = gv.compile(layers(count), cache=False)
        assert np.isfinite(model(np.zeros((2, WIDTH), np.float32))).all()
    assert calls[600] <= calls[10] + 5, calls


def test_addresses_are_those_that_arrays_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.arange(24, dtype=np.float32)
    arrays = [whole, whole[3:], whole.reshape(4, 6)[2], whole[:0], np.array(1.0)]
    wanted = [buffer.address(array) for array in arrays]
    assert direct.addresses(arrays).tolist() == wanted
    monkeypatch.setattr(direct, "is_possible", lambda: False)
    assert direct.addresses(arrays).tolist() == wanted


def test_pages_of_weights_that_are_not_large_are_kept(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(layers(40) + b"\x1a\x80\x80\x80\x0a" + bytes(20 << 20))  # a long text
    started = list[object]()
    start = threading.Thread.start
    monkeypatch.setattr(
        threading.Thread, "start", lambda self: (started.append(self), start(self))[1]
    )
    gv.compile(path, cache=False, jobs=1)
    assert not [each for each in started if getattr(each, "_target", None) is prepare._forget]
