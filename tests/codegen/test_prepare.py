"""Weights that are given later: every byte of the blob is written, whatever was in it before."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import gravure as gv
from gravure.errors import GraphError, RuntimeInputError
from gravure.runtime.buffer import address, aligned_bytes
from gravure.runtime.library import Library

MODELS = Path(__file__).parent.parent / "models"
NAMES = ["mlp", "conv_norm", "embedding"]


def stored(path: Path) -> dict[str, Any]:
    return {t.name: numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer}


def arguments(model: Any) -> list[Any]:
    random = np.random.default_rng(5)
    shapes = [tuple(d if isinstance(d, int) else 2 for d in i.shape) for i in model.inputs]
    return [
        random.integers(0, 3, shape) if info.dtype == "i64" else random.random(shape, np.float32)
        for info, shape in zip(model.inputs, shapes, strict=True)
    ]


def names_of(model: Any) -> list[str]:
    """Return the names of the weights that a model is given, in its order."""
    return [name for row in model.manifest["raw"] for name in row["names"]]


def prepared(model: Any, library: Library, weights: dict[str, Any]) -> Any:
    """Return what `prepare` makes of a blob that is full of something else."""
    blob = aligned_bytes(int(model.manifest["weights_bytes"]))
    blob[:] = 0xAA
    workspace = aligned_bytes(int(model.manifest["prepare_bytes"]))
    raw = [np.ascontiguousarray(weights[name]) for name in names_of(model)]
    pointers = (ctypes.c_void_p * len(raw))(*map(address, raw))
    prepare = library.function("prepare", "ipppp")
    assert prepare(ctypes.addressof(pointers), address(blob), address(workspace), 0) == 0
    return blob


@pytest.mark.parametrize("embed", [True, False])
@pytest.mark.parametrize("level", ["O0", "O2"])
@pytest.mark.parametrize("name", NAMES)
def test_prepare_writes_all_of_the_blob(tmp_path: Path, name: str, level: str, embed: bool) -> None:
    path, out = MODELS / f"{name}.onnx", tmp_path / "m.so"
    model = gv.compile(path, level=level, embed=embed)
    model.save(out)
    given, values = stored(path), arguments(model)
    blob = prepared(model, Library.load(out), given)
    wanted = model.compiled.blob
    for _, offset, size in model.compiled.places:
        np.testing.assert_array_equal(blob[offset : offset + size], wanted[offset : offset + size])
    np.testing.assert_array_equal(gv.load(out, weights=blob)(*values), model(*values))


@pytest.mark.parametrize("level", ["O0", "O2"])
def test_the_same_weights_give_the_same_results(level: str) -> None:
    path = MODELS / "mlp.onnx"
    model = gv.compile(path, level=level)
    values, given = arguments(model), stored(path)
    wanted = model(*values)
    for _ in range(3):
        model.set_weights({name: given[name] for name in names_of(model)})
        np.testing.assert_array_equal(model(*values), wanted)


@pytest.mark.parametrize("level", ["O0", "O1", "O2", "O3"])
def test_statistics_of_a_folded_batch_norm_can_be_given(level: str) -> None:
    path = MODELS / "conv_norm.onnx"
    given, random = stored(path), np.random.default_rng(7)
    model = gv.compile(path, level=level, settable=[*given])
    assert {*names_of(model)} == given.keys()
    others = {n: random.uniform(0.5, 1.5, a.shape).astype(np.float32) for n, a in given.items()}
    model.set_weights(others)
    proto = onnx.load(path)
    for tensor in proto.graph.initializer:
        tensor.CopyFrom(numpy_helper.from_array(others[tensor.name], tensor.name))
    values = arguments(model)
    wanted = gv.compile(proto.SerializeToString(), level="O0")(*values)
    np.testing.assert_allclose(model(*values), wanted, rtol=1e-5, atol=1e-5)


def test_what_is_part_of_the_code_is_refused_by_name() -> None:
    model = gv.compile(MODELS / "conv_norm.onnx")
    with pytest.raises(
        RuntimeInputError, match=r"unknown weight 'mean': expected 'w'.*\n.*settable"
    ):
        model.set_weights({"mean": np.zeros(6, np.float32)})
    with pytest.raises(GraphError, match=r"no stored tensor 'maen'.*\n.*did you mean 'mean'"):
        gv.compile(MODELS / "conv_norm.onnx", settable=["maen"])


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"levl": "O2"}, r"gravure.compile has no option 'levl'\n.*did you mean 'level'\?"),
        ({"treads": 2}, r"gravure.compile has no option 'treads'\n.*did you mean 'threads'\?"),
        ({"level": 2}, "option level is 2, expected a str"),
        ({"settable": "w"}, "option settable is 'w', expected a tuple or list"),
    ],
)
def test_wrong_options_are_named(option: Any, message: str) -> None:
    with pytest.raises(gv.GravureError, match=message) as raised:
        gv.compile(MODELS / "mlp.onnx", **option)
    assert isinstance(raised.value, TypeError)


@pytest.mark.parametrize("ids", [[3, 0, 4999, -1, 17], [7]])
def test_an_embedding_that_is_the_last_product_is_stored_once(
    ids: list[int], tmp_path: Path
) -> None:
    table = np.random.default_rng(0).standard_normal((5000, 96)).astype(np.float32)
    nodes = [
        helper.make_node("Gather", ["w", "ids"], ["h"]),
        helper.make_node("Tanh", ["h"], ["t"]),
        helper.make_node("Gemm", ["t", "w"], ["y"], transB=1),
    ]
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, [len(ids)])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(table, "w")],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    found = []
    for threads in (1, 2):
        with gv.compile(model.SerializeToString(), threads=threads, cache=False) as compiled:
            compiled.save(tmp_path / "m.so")
            found.append(np.asarray(compiled.run([np.array(ids)])[0]))
    assert (tmp_path / "m.so").stat().st_size < 1.1 * table.nbytes
    wanted = np.tanh(table[ids]) @ table.T
    np.testing.assert_allclose(found[0], wanted, rtol=1e-4, atol=1e-4)
    assert found[0].tobytes() == found[1].tobytes()
