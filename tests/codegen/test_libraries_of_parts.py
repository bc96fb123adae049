"""What a library says of itself: its symbols, its manifest, where its weights are."""

import json
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import gravure as gv
from gravure.codegen.aot.hashes import system_v_hash
from gravure.codegen.aot.manifest import manifest
from gravure.codegen.compiled import Options
from gravure.codegen.export import object_of
from gravure.frontend.programs.compile import compile_source
from gravure.runtime.artifact import If, While

FUNCTION, DATA = 2, 1
"""Kinds of symbols that are told to debuggers."""


def symbols(data: bytes) -> list[tuple[str, int, int]]:
    """Return name, kind and binding of the symbols in `.symtab` of a 64-bit ELF file."""
    start, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    heads = [struct.unpack_from("<IIQQQQIIQQ", data, start + size * i) for i in range(count)]
    [table] = [head for head in heads if head[1] == 2]
    names = heads[table[6]][4]
    found = []
    for place in range(table[4], table[4] + table[5], 24):
        name, info = struct.unpack_from("<IB", data, place)
        end = data.index(b"\0", names + name)
        found.append((data[names + name : end].decode(), info & 15, info >> 4))
    return found[1:]


def test_debuggers_see_functions_and_data_and_which_of_them_others_see(tmp_path: Path) -> None:
    path = tmp_path / "product.so"
    model = gv.compile(turns(), cache=False)
    model.save(path)
    found = symbols(path.read_bytes())
    assert {kind for _, kind, _ in found} <= {FUNCTION, DATA}
    seen = [name for name, _, binding in found if binding]
    assert any(name.endswith("run") for name in seen)
    assert len(seen) < len(found), "kernels are not seen by others"
    firsts = [bool(binding) for _, _, binding in found]
    assert firsts == sorted(firsts), "what is local comes first"


def turns() -> bytes:
    """Return a model with a loop."""

    def value(name: str, kind: int = TensorProto.FLOAT, shape: tuple[int, ...] = (4,)) -> Any:
        return helper.make_tensor_value_info(name, kind, shape)

    nodes = [helper.make_node("Exp", ["v"], ["next"]), helper.make_node("Identity", ["go"], ["on"])]
    given = [value("i", TensorProto.INT64, ()), value("go", TensorProto.BOOL, ()), value("v")]
    body = helper.make_graph(
        nodes, "body", given, [value("on", TensorProto.BOOL, ()), value("next")]
    )
    loop = helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)
    ends = [value("x"), value("n", TensorProto.INT64, ())], [value("y")]
    return written(helper.make_graph([loop], "turns", *ends))


def written(graph: Any) -> bytes:
    """Return a model of a graph."""
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return made.SerializeToString()  # type: ignore[no-any-return]


def test_a_manifest_counts_choices_and_loops() -> None:
    model = compile_source(turns(), Options(cache=False)).description
    [loop] = [step for step in model.steps if isinstance(step, While)]
    steps = (*model.steps, If(loop.condition, (), ()), If(loop.condition, (), ()))
    found = json.loads(manifest(replace(model, steps=steps)))
    assert (found["choices"], found["loops"]) == (2, 1)


@pytest.mark.parametrize("embed", [True, False])
def test_an_object_holds_weights_where_they_are_embedded(embed: bool) -> None:
    weight = np.arange(4096, dtype=np.float32).reshape(64, 64)
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, (2, 64)) for n in "xy"]
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    stored = [numpy_helper.from_array(weight, "w")]
    data = written(helper.make_graph([node], "product", ends[:1], ends[1:], stored))
    compiled = compile_source(data, Options(cache=False, embed=embed))
    assert (len(object_of(compiled)) > weight.nbytes) == embed


@pytest.mark.parametrize(
    ("name", "value"),
    [("", 0), ("printf", 0x77905A6), ("exit", 0x6CF04), ("a_rather_long_name", None)],
)
def test_the_hash_of_a_name_is_that_of_the_abi(name: str, value: int | None) -> None:
    expected = 0
    for letter in name.encode():
        expected = (expected * 16 + letter) % (1 << 32)
        top = expected // (1 << 28)
        expected = (expected ^ top * 16) % (1 << 28)
    assert system_v_hash(name) == expected
    assert value in (None, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_exact_quotient_by_a_number_is_rounded_once(dtype: Any) -> None:
    x = np.random.default_rng(0).standard_normal(20000).astype(dtype)
    for number in (3.0, 7.0, 0.1, 49.0):
        divided = gv.function(lambda v, by=number: v / by)
        for _ in range(3):
            assert np.array_equal(divided(gv.asarray(x)).numpy(), x / dtype(number))
