"""What is wrong with a model is said at once, by node, and never by a traceback."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from gravure.errors import GraphError, GravureError, ParseError, UnsupportedOp
from gravure.frontend.programs.load import load_program

node = helper.make_node
X = {"x": ("f32", [2, 3])}
SMALL = Path(__file__).parent.parent / "models" / "mlp.onnx"
Make = Callable[..., onnx.ModelProto]


def message(made: onnx.ModelProto, **options: Any) -> str:
    """Return what loading a model says."""
    with pytest.raises(GravureError) as caught:
        load_program(made.SerializeToString(), **options)
    return str(caught.value)


def test_all_unsupported_nodes_are_one_error(model: Make) -> None:
    made = model(
        [
            node("Nought", ["x"], ["a"], name="layer1/nought"),
            node("MyOp", ["a"], ["b"], domain="com.acme"),
            node("Sofmax", ["x"], ["c"], name="s"),
        ],
        X,
        ["b", "c"],
    )
    with pytest.raises(UnsupportedOp) as caught:
        load_program(made.SerializeToString())
    assert str(caught.value) == (
        "<bytes>: 3 faults\n"
        "  node 'layer1/nought': Nought (opset 17) on f32[2,3]: not supported\n"
        "  node 'MyOp_1': MyOp (com.acme 1) on ?: not supported\n"
        "    help: give the operator as a function inside the model\n"
        "  node 's': Sofmax (opset 17) on f32[2,3]: not supported\n"
        "    help: did you mean Softmax?"
    )


def test_shapes_that_do_not_fit_name_the_node(model: Make) -> None:
    made = model(
        [node("Add", ["x", "y"], ["a"], name="block3/add"), node("Gemm", ["x"], ["b"], name="g")],
        {**X, "y": ("f32", [2, 4])},
        ["a", "b"],
    )
    assert message(made) == (
        "<bytes>: 2 faults\n"
        "  node 'block3/add': Add (opset 17) on f32[2,3], f32[2,4]: "
        "gv.add: shapes (2, 3) and (2, 4) do not broadcast: 3 against 4\n"
        "  node 'g': Gemm (opset 17) on f32[2,3]: input 1 is missing"
    )


def test_cycle_is_spelled_out(model: Make) -> None:
    made = model(
        [node("Add", ["x", "b"], ["a"], name="first"), node("Relu", ["a"], ["b"], name="second")],
        X,
        ["b"],
    )
    assert message(made) == (
        "<bytes>: the nodes 'first' -> 'second' -> 'first' need each other in a circle"
    )


def test_nodes_may_stand_in_any_order(model: Make, run_onnx: Callable[..., Any]) -> None:
    made = model([node("Relu", ["a"], ["b"]), node("Neg", ["x"], ["a"])], X, ["b"])
    (found,) = run_onnx(made, -np.ones((2, 3), np.float32))
    np.testing.assert_array_equal(found, np.ones((2, 3)))


def test_doubled_and_missing_names(model: Make) -> None:
    nodes = [node("Relu", ["q"], ["b"], name="r"), node("Relu", ["x"], ["b"], name="r2")]
    assert message(model(nodes, X, ["b", "nope"])) == (
        "<bytes>: 3 faults\n"
        "  node 'r2': 'b' is made twice\n"
        "  node 'r': input 'q' is made by nothing\n"
        "  output 'nope' is made by nothing"
    )


RELU = [node("Relu", ["x"], ["y"], name="r")]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ([2, -1], "input 'x' has dimension -1, expected a size or a name"),
        ([1 << 40, 1 << 40], "input 'x': f32[1099511627776,1099511627776] is too large"),
    ],
)
def test_impossible_shape_of_an_input(model: Make, shape: list[int], expected: str) -> None:
    assert message(model(RELU, {"x": ("f32", shape)}, ["y"])) == f"<bytes>: {expected}"


def test_unknown_operator_set(model: Make) -> None:
    newest = onnx.defs.onnx_opset_version()
    assert message(model(RELU, X, ["y"], opset=9999)) == (
        f"<bytes>: operator set 9999 is not known, expected 1 to {newest}\n"
        f"  help: export the model with opset {newest} or lower"
    )


def test_model_without_outputs(model: Make) -> None:
    assert message(model(RELU, X, [])) == "<bytes>: the graph has no outputs"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"raw_data": b"123"}, "3 bytes of data, f32[2, 3] has 24"),
        ({"data_type": 77}, "element type 77 is unknown"),
        ({"data_type": 0}, "element type 0 is unknown"),
        ({"data_type": TensorProto.INT4}, "24 bytes of data, i4[2, 3] has 3"),
        ({"data_type": TensorProto.STRING}, "0 texts, shape [2, 3] has 6"),
        ({"dims": [-2, 3]}, "shape [-2, 3] has a negative dimension"),
        ({"dims": [1 << 40, 1 << 40]}, "shape [1099511627776, 1099511627776] is too large"),
        ({"float_data": [1.0] * 6}, "its values are given twice"),
        (
            {"raw_data": None, "int64_data": [1] * 6},
            "0 numbers in float_data, f32[2, 3] has 6 (but int64_data is filled)",
        ),
    ],
)
def test_tensor_that_is_not_what_it_says(
    model: Make, change: dict[str, Any], expected: str
) -> None:
    made = model([node("Add", ["x", "w"], ["y"])], X, ["y"], {"w": np.zeros((2, 3), np.float32)})
    tensor = made.graph.initializer[0]
    for name, value in change.items():
        tensor.ClearField(name)
        if isinstance(value, list):
            getattr(tensor, name).extend(value)
        elif value is not None:
            setattr(tensor, name, value)
    assert message(made) == f"<bytes>: tensor 'w': {expected}"


@pytest.mark.parametrize(
    ("nodes", "constants", "expected"),
    [
        (
            [node("Reshape", ["x", "s"], ["y"], name="n")],
            {"s": np.array([7])},
            "Reshape (opset 17) on f32[2,3], i64[1]: gv.reshape: "
            "shape (7) of 7 elements, expected 6 as in (2, 3)",
        ),
        (
            [node("Reshape", ["x", "s"], ["y"], name="n")],
            {"s": np.array([-1, -1])},
            "Reshape (opset 17) on f32[2,3], i64[2]: shape [-1, -1] has -1 twice",
        ),
        (
            [node("Pad", ["x", "s"], ["y"], name="n")],
            {"s": np.array([-8, 0, 0, 0])},
            "Pad (opset 17) on f32[2,3], i64[4]: gv.pad: "
            "pads (-8, 0) take more than the 2 of axis 0",
        ),
        (
            [node("Conv", ["x", "s"], ["y"], name="n", group=0)],
            {"s": np.zeros((2, 3), np.float32)},
            "Conv (opset 17) on f32[2,3], f32[2,3]: ranks 2 and 2, expected two equal ones from 3",
        ),
        (
            [node("Gather", ["x", "s"], ["y"], name="n", axis=5)],
            {"s": np.array([0])},
            "Gather (opset 17) on f32[2,3], i64[1]: axis 5 is out of range for rank 2",
        ),
        (
            [node("Gather", ["x", "s"], ["y"], name="n", axis=1)],
            {"s": np.array([0, 3])},
            "Gather (opset 17) on f32[2,3], i64[2]: index from 0 to 3, expected [-3, 3)",
        ),
        (
            [node("Relu", ["x"], ["y"], name="n", alpha=0.5)],
            {},
            "Relu (opset 17) on f32[2,3]: unrecognized attribute: alpha for operator Relu",
        ),
    ],
)
def test_node_that_makes_no_sense(
    model: Make, nodes: list[Any], constants: dict[str, Any], expected: str
) -> None:
    assert message(model(nodes, X, ["y"], constants)) == f"<bytes>: node 'n': {expected}"


OPERANDS = {
    "Attention": 3, "MatMul": 2, "Conv": 2, "TopK": 2, "Softmax": 1, "LayerNormalization": 2,
    "DequantizeLinear": 2, "QuantizeLinear": 2, "GridSample": 2, "LSTM": 3, "Gemm": 2, "Where": 3,
    "ScatterND": 3, "OneHot": 3, "Einsum": 2, "Slice": 3, "Split": 1, "GRU": 3,
}  # fmt: skip


SOUND = {"DequantizeLinear of numbers", "QuantizeLinear of numbers", "Split of text"}


@pytest.mark.parametrize("form", ["text", "missing", "numbers"])
@pytest.mark.parametrize("name", OPERANDS)
def test_operands_of_other_kinds_are_refused(model: Make, name: str, form: str) -> None:
    names = [f"x{i}" for i in range(OPERANDS[name])]
    kind = ("string", [1, 2, 3, 4]) if form == "text" else ("f32", [] if form == "numbers" else [2])
    if form == "missing":
        names[0] = ""
    inputs = {each: kind for each in names if each}
    made = model([node(name, names, ["y"], name="n")], inputs, ["y"], opset=23)
    if f"{name} of {form}" in SOUND:
        load_program(made.SerializeToString())
    else:
        assert message(made).startswith("<bytes>: node 'n': ")


def test_result_that_no_memory_holds(model: Make) -> None:
    constants = {"s": np.array([1 << 40, 1 << 40])}
    made = model([node("Tile", ["x", "s"], ["y"], name="n")], X, ["y"], constants)
    assert message(made).startswith("<bytes>: node 'n': Tile (opset 17) on f32[2,3], i64[2]: ")


def test_as_many_axes_as_a_run_says_are_refused(model: Make) -> None:
    given = {**X, "a": ("i64", ["k"])}
    made = model([node("Unsqueeze", ["x", "a"], ["y"], name="n")], given, ["y"])
    assert message(made) == (
        "<bytes>: node 'n': Unsqueeze (opset 17) on f32[2,3], i64[k]: "
        "input axes has k numbers, expected a known number of them"
    )


def test_symbols_that_do_not_fit_say_what_to_fix(model: Make) -> None:
    nodes = [node("Concat", ["x", "x"], ["y"], axis=0), node("Add", ["x", "y"], ["z"], name="n")]
    assert message(model(nodes, {"x": ("f32", ["N"])}, ["z"])) == (
        "<bytes>: node 'n': Add (opset 17) on f32[N], f32[2*N]: "
        "gv.add: shapes (N,) and (2*N,) do not broadcast: N against 2*N\n"
        "  help: it may fit when N is fixed: dims={'N': ...}"
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"shapes": {"z": (1, 2)}}, "there is no input 'z', inputs are ['x']"),
        ({"shapes": {"x": (1,)}}, "input 'x' has rank 2, the shape given for it [1]"),
        ({"constants": {"z": np.zeros(1)}}, "there is no input 'z', inputs are ['x']"),
        (
            {"dims": {"batsh": 3}},
            "there is no dimension 'batsh', the model's are 'batch'\n  help: did you mean 'batch'?",
        ),
        (
            {"dims": {"batch": (3, 1)}},
            "dimension 'batch': (3, 1) is neither a size nor a range of sizes",
        ),
    ],
)
def test_options_that_do_not_fit(model: Make, options: dict[str, Any], expected: str) -> None:
    made = model(RELU, {"x": ("f32", ["batch", 3])}, ["y"])
    assert message(made, **options) == f"<bytes>: {expected}"


def test_function_that_calls_itself_is_refused(model: Make) -> None:
    body = [node("F", ["a"], ["b"], domain="com.acme")]
    function = helper.make_function("com.acme", "F", ["a"], ["b"], body, made_opsets())
    made = model([node("F", ["x"], ["y"], domain="com.acme")], X, ["y"], functions=[function])
    assert "functions or graphs nest deeper than 50" in message(made)


def made_opsets() -> list[onnx.OperatorSetIdProto]:
    return [helper.make_opsetid("", 17), helper.make_opsetid("com.acme", 1)]


def test_name_that_is_no_text(model: Make) -> None:
    data = model(RELU, X, ["y"]).SerializeToString().replace(b"Relu", b"Rel\xff")
    with pytest.raises(ParseError, match=r"not an ONNX model: the name b'Rel\\xff' is not UTF-8"):
        load_program(data)


def record(number: int, content: bytes) -> bytes:
    """Return a field of protobuf that holds a record."""
    length, head = len(content), bytearray()
    while length > 127:
        head.append(length & 127 | 128)
        length >>= 7
    return bytes([number << 3 | 2, *head, length]) + content


def test_graphs_nested_deeper_than_protobuf_reads() -> None:
    graph = b""
    for _ in range(100):
        graph = record(1, record(5, record(6, graph)))  # graph -> node -> attribute -> graph
    with pytest.raises(ParseError, match="malformed, or nested deeper than protobuf reads"):
        load_program(b"\x08\x08" + record(7, graph))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "<bytes>: the file is empty, expected a model"),
        (b"\x08\x08", "<bytes>: not an ONNX model: it has no graph"),
        (b"\x08", "<bytes>: not an ONNX model: a number that does not end at byte 1"),
        (b"\x08\x08\x3a\x7f", "<bytes>: not an ONNX model: a field of 127 bytes where 0 are left "
                             "at byte 2"),
        (b"\x08\x08\x0b", "<bytes>: not an ONNX model: wire type 3 at byte 2"),
    ],
)  # fmt: skip
def test_bytes_that_are_no_model(data: bytes, expected: str) -> None:
    with pytest.raises(ParseError) as caught:
        load_program(data)
    assert str(caught.value) == expected


def test_every_prefix_is_refused() -> None:
    data = SMALL.read_bytes()
    for length in [*range(200), *range(200, len(data), 97), len(data) - 1]:
        with pytest.raises((ParseError, GraphError, UnsupportedOp)):
            load_program(data[:length], format="onnx")


def test_changed_bits_are_refused_or_read() -> None:
    data, random = SMALL.read_bytes(), np.random.default_rng(3)
    for place, bit in zip(random.integers(0, 400, 300), random.integers(0, 8, 300), strict=True):
        changed = bytearray(data)
        changed[place] ^= 1 << bit
        try:
            load_program(bytes(changed), format="onnx")
        except GravureError:
            continue
