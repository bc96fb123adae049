"""Fields of files with very many layers: found by comparison, and as they are one by one."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import gravure as gv
from gravure.errors import ParseError
from gravure.frontend.onnx.file import wire
from gravure.frontend.onnx.file.columns import names_at
from gravure.frontend.onnx.file.wire import outlines

SIZES = (4, 40, 4000)
"""Lengths of one byte, of two and of three."""


def layers(count: int, *, odd: int = -1, hole: int = -1) -> bytes:
    """Return layers of a product; one of them may have another name, or a node without an input."""
    nodes, stored, value = [], [], "x"
    for i in range(count):
        name = f"a weight of layer {i}" if i == odd else f"w{i}"
        stored.append(numpy_helper.from_array(np.full((4, 4), i + 0.5, np.float32), name))
        nodes.append(helper.make_node("MatMul", [value, name][: 1 if i == hole else 2], [f"p{i}"]))
        nodes.append(helper.make_node("Tanh", [f"p{i}"], [f"v{i}"], name=f"layer/{i}/tanh"))
        value = f"v{i}"
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, (2, 4)) for n in ("x", value)]
    graph = helper.make_graph(nodes, "layers", ends[:1], ends[1:], stored)
    opsets = [helper.make_opsetid("", 17)]
    data: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    return data


def fields(data: bytes) -> list[list[int]]:
    """Return tags, starts and ends of all fields of the graph."""
    [found] = outlines(np.frombuffer(data, np.uint8))
    return [column.tolist() for column in (found.tags, found.starts, found.ends)]


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets how many fields are read one by one."""
    read, counts = wire.some_fields, list[int]()

    def noted(*given: Any) -> Any:
        rows = read(*given)
        counts.append(len(rows[0]))
        return rows

    monkeypatch.setattr(wire, "some_fields", noted)
    return counts


@pytest.mark.parametrize("count", [3, 170, 171, 900, 1200])
@pytest.mark.parametrize("odd", [-1, 0, 400, 899])
def test_fields_that_come_again_are_those_that_are_read_one_by_one(
    count: int, odd: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = layers(count, odd=odd)
    found = fields(data)
    monkeypatch.setattr(wire, "SOME", 1 << 40)
    assert found == fields(data)


@pytest.mark.parametrize("size", SIZES)
def test_records_of_any_length_come_again(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = helper.make_graph([], "g", [], [])
    for i in range(3000):
        graph.node.add(op_type="Relu", doc_string=str(i % 7) * (size + i // 1500))
    data = helper.make_model(graph).SerializeToString()
    counts = counted(monkeypatch)
    found = fields(data)
    assert sum(counts) < 4 * wire.SOME
    monkeypatch.setattr(wire, "SOME", 1 << 40)
    assert found == fields(data)


def test_few_of_the_fields_of_a_thousand_layers_are_read_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = counted(monkeypatch)
    assert len(fields(layers(20000))[0]) > 60000
    assert sum(counts) < 20 * wire.SOME


def test_a_field_that_goes_beyond_its_graph_is_found_behind_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = layers(2000)
    [graph] = outlines(np.frombuffer(data, np.uint8))
    place = int(graph.starts[1500]) - 1
    broken = data[:place] + b"\x7f" + data[place + 1 :]
    with pytest.raises(ParseError) as one:
        fields(broken)
    monkeypatch.setattr(wire, "SOME", 1 << 40)
    with pytest.raises(ParseError) as other:
        fields(broken)
    assert one.value.message == other.value.message


def test_numbers_as_long_as_they_say_themselves_are_no_comparison() -> None:
    # A field of a graph that is a number, which no graph has: one byte, then two.
    rows = b"".join(bytes([0x78, i % 100]) for i in range(2000)) + b"\x78\x81\x01" * 9
    size = len(rows)
    data = bytes([0x3A, size & 0x7F | 0x80, size >> 7]) + rows
    assert len(fields(data)[0]) == 2009


@pytest.mark.parametrize("rows", [[b"x", b"w1", b""], [b"\xff"], [b"a\0b"], [], ["ä".encode()]])
def test_names_are_taken_out_of_a_file(rows: list[bytes]) -> None:
    ends = np.cumsum([3 + len(row) for row in rows]).astype(np.int64)
    starts = ends - np.array([*map(len, rows)], np.int64)
    data = np.frombuffer(b"".join(b"..." + row for row in rows), np.uint8)
    wrong = any(row in (b"\xff", b"a\0b") for row in rows)
    assert names_at(data, starts, ends) == (None if wrong else [row.decode() for row in rows])


def test_a_chain_with_a_node_that_lacks_an_input_is_refused_by_its_name() -> None:
    with pytest.raises(gv.errors.GravureError, match="MatMul"):
        gv.compile(layers(500, hole=400), cache=False)
