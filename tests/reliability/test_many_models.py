"""Models whose open sizes have no narrow bound reserve vast memory: many of them live together."""

import threading
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import gravure as gv
from gravure.runtime.buffer import ADDRESSES, VAST

MANY, KINDS = 36, 3
MOST = 1 << 20
"""A side of a matrix: one of as many rows and columns takes four terabytes."""


def similarities(number: int) -> bytes:
    """Return a model of products of all rows with all rows."""
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["N", "M"]) for n in "xy"]
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"]),
        helper.make_node("MatMul", ["x", "t"], ["products"]),
        helper.make_node("Softmax", ["products"], ["weights"]),
        helper.make_node("MatMul", ["weights", "x"], ["mixed"]),
        helper.make_node("Add", ["mixed", "number"], ["y"]),
    ]
    stored = [helper.make_tensor("number", TensorProto.FLOAT, [1], [float(number)])]
    graph = helper.make_graph(nodes, "similarities", ends[:1], ends[1:], stored)
    made: onnx.ModelProto = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    return made.SerializeToString()


def expected(x: Any, number: int) -> Any:
    """Return what a model gives."""
    products = np.exp(x @ x.T - (x @ x.T).max(axis=1, keepdims=True))
    return products / products.sum(axis=1, keepdims=True) @ x + number


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Return models in one process; each of them may be as large as no other one could."""
    folder = tmp_path_factory.mktemp("models")
    for kind in range(KINDS):
        made = gv.compile(similarities(kind), dims={"N": (1, MOST), "M": (1, MOST)})
        made.save(folder / f"{kind}.so")
    found = [gv.load(folder / f"{number % KINDS}.so") for number in range(MANY)]
    assert all(model.workspace_bytes > VAST for model in found)
    assert sum(model.workspace_bytes for model in found) > ADDRESSES
    return found


def test_dozens_of_models_of_open_sizes_live_in_one_process(models: list[Any]) -> None:
    x = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)
    for _ in range(2):
        for number, model in enumerate(models):
            np.testing.assert_allclose(model.run([x])[0], expected(x, number % KINDS), rtol=1e-5)


def test_models_that_share_memory_run_in_several_threads(models: list[Any]) -> None:
    wrong: list[int] = []

    def work(number: int) -> None:
        x = np.random.default_rng(number).standard_normal((64, 3)).astype(np.float32)
        for turn in range(20):
            which = MANY - 1 - (number + turn) % 6  # the last ones have no room of their own
            found = models[which].run([x])[0]
            if not np.allclose(found, expected(x, which % KINDS), rtol=1e-4):
                wrong.append(turn)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
