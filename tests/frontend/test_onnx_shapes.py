"""Dimensions with names, and the arithmetic on shapes that exporters write out."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

import gravure.ir as ir
from gravure.errors import GraphError, UnsupportedOp
from gravure.frontend.load import load_program
from gravure.frontend.text.writer import write_text
from gravure.ir.program import argument_specs, result_specs

node = helper.make_node
Make = Callable[..., onnx.ModelProto]


def text(made: onnx.ModelProto, **options: Any) -> str:
    """Return the program of a model as graph text."""
    return write_text(load_program(made.SerializeToString(), **options), name="m")


def i64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


RELU = [node("Relu", ["x"], ["y"])]


@pytest.mark.parametrize(
    ("shape", "options", "expected"),
    [
        (["batch", 3], {}, "x: f32[batch, 3], batch in 1.."),
        ([None, 3], {}, "x: f32[x_d0, 3], x_d0 in 1.."),
        (["seq.len", "2*N"], {}, "x: f32[seq_len, 2*N], seq_len in 1.., N in 1.."),
        (["class", "max"], {}, "x: f32[d_class, d_max], d_class in 1.., d_max in 1.."),
        (["a b", "a-b"], {}, "x: f32[a_b, a - b], a_b in 1.., a in 1.., b in 1.."),
        (["N", 3], {"dims": {"N": (1, 64)}}, "x: f32[N, 3], N in 1..64"),
        (["N", 3], {"dims": {"N": 4}}, "x: f32[4, 3]"),
        (["N", 3], {"shapes": {"x": ("M", "M + 1")}}, "x: f32[M, M + 1], M in 1.."),
        ([1, 3], {"shapes": {"x": (None, 5)}}, "x: f32[x_d0, 5], x_d0 in 1.."),
        (["N", 3], {"shapes": {"x": ("M", 3)}, "dims": {"M": (2, 9)}}, "x: f32[M, 3], M in 2..9"),
    ],
)
def test_names_of_dimensions(
    model: Make, shape: list[Any], options: dict[str, Any], expected: str
) -> None:
    made = text(model(RELU, {"x": ("f32", shape)}, ["y"]), **options)
    assert made.splitlines()[0] == f"model m({expected}) -> (y) {{"


def test_flatten_as_exporters_write_it(model: Make) -> None:
    made = model(
        [
            node("Shape", ["x"], ["s"]),
            node("Gather", ["s", "zero"], ["n"]),
            node("Unsqueeze", ["n", "axes"], ["n1"]),
            node("Concat", ["n1", "rest"], ["shape"], axis=0),
            node("Reshape", ["x", "shape"], ["y"]),
        ],
        {"x": ("f32", ["N", 3, 4])},
        ["y"],
        {"zero": np.int64(0), "axes": i64(0), "rest": i64(-1)},
    )
    assert text(made) == (
        "model m(x: f32[N, 3, 4], N in 1..) -> (y) {\n  y = reshape(x, shape=[N, 12])\n}\n"
    )


def test_expand_as_pytorch_writes_it(model: Make) -> None:
    made = model(
        [
            node("Shape", ["x"], ["s"]),
            node("ConstantOfShape", ["two"], ["ones"], value=onnx.numpy_helper.from_array(i64(1))),
            node("Mul", ["ones", "minus"], ["unset"]),
            node("Equal", ["s", "unset"], ["is_unset"]),
            node("Where", ["is_unset", "ones", "s"], ["shape"]),
            node("Expand", ["row", "shape"], ["y"]),
        ],
        {"x": ("f32", ["N", 3]), "row": ("f32", [1, 3])},
        ["y"],
        {"two": i64(2), "minus": np.int64(-1)},
    )
    assert "y = broadcast_to(row, shape=[N, 3])" in text(made)


def test_sizes_of_a_resize_from_a_shape(model: Make) -> None:
    made = model(
        [
            node("Shape", ["x"], ["s"]),
            node("Slice", ["s", "two", "four"], ["image"]),
            node("Cast", ["image"], ["wide"], to=1),
            node("Mul", ["wide", "factor"], ["larger"]),
            node("Floor", ["larger"], ["floored"]),
            node("Cast", ["floored"], ["sizes"], to=7),
            node("Slice", ["s", "zero", "two"], ["front"]),
            node("Concat", ["front", "sizes"], ["all"], axis=0),
            node("Resize", ["x", "", "", "all"], ["y"], mode="nearest"),
        ],
        {"x": ("f32", [1, 3, "H", "W"])},
        ["y"],
        {"zero": i64(0), "two": i64(2), "four": i64(4), "factor": np.float32(2)},
    )
    assert "y = resize(x, shape=[1, 3, 2*H, 2*W])" in text(made)


def test_half_of_a_split_dimension(model: Make) -> None:
    made = model(
        [
            node("Shape", ["x"], ["s"], start=1),
            node("Div", ["s", "two"], ["half"]),
            node("Slice", ["x", "zero", "half", "one"], ["y"]),
        ],
        {"x": ("f32", [2, "L"])},
        ["y"],
        {"zero": i64(0), "one": i64(1), "two": i64(2)},
    )
    assert "y = slice(x, starts=[0, 0], steps=[1, 1], stops=[2, ((L) // (2))])" in text(made)


@pytest.mark.parametrize(
    ("start", "stop", "step", "expected"),
    [
        (1, 1 << 60, 1, "starts=[1], steps=[1], stops=[N]"),
        (0, -1, 1, "starts=[0], steps=[1], stops=[N - 1]"),
        (-3, 1 << 60, 1, "starts=[max(0, N - 3)], steps=[1], stops=[N]"),
        (0, 5, 1, "starts=[0], steps=[1], stops=[min(5, N)]"),
        (1 << 60, -(1 << 60), -1, "starts=[N - 1], steps=[-1], stops=[-N - 1]"),
    ],
)
def test_slices_of_a_symbolic_axis(
    model: Make, start: int, stop: int, step: int, expected: str
) -> None:
    made = model(
        [node("Slice", ["x", "s", "e", "a", "t"], ["y"])],
        {"x": ("f32", ["N"])},
        ["y"],
        {"s": i64(start), "e": i64(stop), "a": i64(0), "t": i64(step)},
    )
    program = load_program(made.SerializeToString())
    assert f"y = slice(x, {expected})" in write_text(program)
    for length in (1, 2, 5, 8):
        x = np.arange(length, dtype=np.float32)
        (found,) = ir.interpret(program, [x])
        np.testing.assert_array_equal(found, x[start:stop:step])


def test_position_embedding_up_to_the_length(model: Make) -> None:
    made = model(
        [
            node("Shape", ["x"], ["s"], start=1, end=2),
            node("Slice", ["table", "zero", "s", "zero"], ["rows"]),
            node("Add", ["x", "rows"], ["y"]),
        ],
        {"x": ("f32", [1, "L", 4])},
        ["y"],
        {"table": np.zeros((512, 4), np.float32), "zero": i64(0)},
    )
    program = load_program(made.SerializeToString(), dims={"L": (1, 512)})
    assert [str(s) for s in result_specs(program.main)] == ["f32[1,L,4]"]


TABLE = np.arange(64, dtype=np.float32).reshape(16, 4)


def rows_of_a_table(model: Make) -> onnx.ModelProto:
    """Return a model that adds the rows from the past's length on to x."""
    return model(
        [
            node("Shape", ["past"], ["p"], start=0, end=1),
            node("Shape", ["x"], ["t"], start=0, end=1),
            node("Add", ["p", "t"], ["end"]),
            node("Slice", ["table", "p", "end", "zero"], ["rows"]),
            node("Add", ["x", "rows"], ["y"], name="positions"),
        ],
        {"x": ("f32", ["T", 4]), "past": ("f32", ["P"])},
        ["y"],
        {"table": TABLE, "zero": i64(0)},
    )


def test_length_is_bounded_by_the_table_it_cuts(model: Make) -> None:
    made = model(
        [
            node("Shape", ["x"], ["s"], start=0, end=1),
            node("Slice", ["table", "zero", "s", "zero"], ["rows"]),
            node("Add", ["x", "rows"], ["y"], name="positions"),
        ],
        {"x": ("f32", ["L", 4])},
        ["y"],
        {"table": TABLE, "zero": i64(0)},
    )
    assert load_program(made.SerializeToString()).ranges == {"L": (1, 16)}
    within = load_program(made.SerializeToString(), dims={"L": (2, 8)})
    assert within.ranges == {"L": (2, 8)}
    with pytest.raises(GraphError) as caught:
        load_program(made.SerializeToString(), dims={"L": (1, 64)})
    assert str(caught.value) == (
        "<bytes>: dimension 'L' may be at most 16: node 'positions': "
        "gv.add: shapes (L, 4) and (min(16, L), 4) do not broadcast: L against min(16, L)"
    )


def test_range_that_is_only_assumed_inside_never_reads_outside(model: Make) -> None:
    program = load_program(rows_of_a_table(model).SerializeToString())
    assert [str(s) for s in result_specs(program.main)] == ["f32[T,4]"]
    assert "gv.gather" in [op.name for op in program.main.body.block.ops]
    x = np.ones((5, 4), np.float32)
    (found,) = ir.interpret(program, [x, np.zeros(3, np.float32)])
    np.testing.assert_array_equal(found, TABLE[3:8] + 1)


def test_axes_without_names_are_taken_for_equal(model: Make) -> None:
    inputs = {"x": ("f32", [None, 4]), "y": ("f32", [None, 4]), "z": ("f32", ["N", 4])}
    made = model([node("Add", ["x", "y"], ["a"]), node("Add", ["a", "z"], ["b"])], inputs, ["b"])
    program = load_program(made.SerializeToString())
    assert [str(s) for s in argument_specs(program.main)] == ["f32[N,4]"] * 3


def test_symbols_in_the_way_are_named(model: Make) -> None:
    inputs = {"x": ("f32", ["N", "H"]), "y": ("f32", ["N", "2*(H//2)"])}
    made = model([node("Add", ["x", "y"], ["z"])], inputs, ["z"])
    with pytest.raises(UnsupportedOp, match="it may fit when H is fixed"):
        load_program(made.SerializeToString())


def test_range_over_a_symbol(model: Make) -> None:
    made = model(
        [
            node("Shape", ["x"], ["s"]),
            node("Squeeze", ["s"], ["n"]),
            node("Range", ["zero", "n", "one"], ["y"]),
        ],
        {"x": ("f32", ["N"])},
        ["y"],
        {"zero": np.int64(0), "one": np.int64(1)},
    )
    program = load_program(made.SerializeToString())
    (found,) = ir.interpret(program, [np.zeros(5, np.float32)])
    np.testing.assert_array_equal(found, np.arange(5))


def test_condition_on_a_shape_is_decided(model: Make) -> None:
    branches = {
        f"{name}_branch": helper.make_graph(
            [node(operator, ["x"], [f"{name}_y"])],
            name,
            [],
            [helper.make_empty_tensor_value_info(f"{name}_y")],
        )
        for name, operator in (("then", "Neg"), ("else", "Relu"))
    }
    made = model(
        [
            node("Shape", ["x"], ["s"]),
            node("Greater", ["s", "zero"], ["some"]),
            node("If", ["some"], ["y"], **branches),
        ],
        {"x": ("f32", ["N"])},
        ["y"],
        {"zero": i64(0)},
    )
    assert text(made) == "model m(x: f32[N], N in 1..) -> (y) {\n  y = -x\n}\n".replace(
        "-x", "neg(x)"
    )


def test_both_branches_are_selected_from(model: Make, same_as_onnxruntime: Any) -> None:
    branches = {
        f"{name}_branch": helper.make_graph(
            [node(operator, ["x"], [f"{name}_y"])],
            name,
            [],
            [helper.make_tensor_value_info(f"{name}_y", 1, [3])],
        )
        for name, operator in (("then", "Neg"), ("else", "Relu"))
    }
    made = model(
        [node("If", ["c"], ["y"], **branches)], {"c": ("bool", []), "x": ("f32", [3])}, ["y"]
    )
    for condition in (True, False):
        same_as_onnxruntime(made, np.array(condition), np.float32([-1, 0, 2]))


def test_loop_of_known_trips_is_unrolled(model: Make, same_as_onnxruntime: Any) -> None:
    body = helper.make_graph(
        [
            node("Identity", ["go"], ["goes"]),
            node("Add", ["state", "x"], ["next"]),
            node("Mul", ["next", "next"], ["seen"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", 7, []),
            helper.make_tensor_value_info("go", 9, []),
            helper.make_tensor_value_info("state", 1, [2]),
        ],
        [
            helper.make_tensor_value_info("goes", 9, []),
            helper.make_tensor_value_info("next", 1, [2]),
            helper.make_tensor_value_info("seen", 1, [2]),
        ],
    )
    made = model(
        [node("Loop", ["trips", "", "start"], ["last", "all"], body=body)],
        {"x": ("f32", [2]), "start": ("f32", [2])},
        ["last", "all"],
        {"trips": np.int64(4)},
    )
    same_as_onnxruntime(made, np.float32([1, 2]), np.float32([3, 4]))


def test_one_slice_at_a_known_place_is_cut_out(model: Make) -> None:
    gathers = [node("Gather", ["x", c], [f"y{c}"], axis=1) for c in ("first", "last", "third")]
    constants = {"first": np.int64(0), "last": np.int64(-1), "third": np.int64(2)}
    made = model(gathers, {"x": ("f32", [2, "N"])}, ["yfirst", "ylast", "ythird"], constants)
    program = load_program(made.SerializeToString())
    assert "ythird = gather(x, third, axis=1)" in write_text(program)  # N may be 1 or 2
    assert "slice(x, starts=[0, 0], steps=[1, 1], stops=[2, 1])" in write_text(program)
    assert "slice(x, starts=[0, N - 1], steps=[1, 1], stops=[2, N])" in write_text(program)
    x = np.arange(10, dtype=np.float32).reshape(2, 5)
    for found, place in zip(ir.interpret(program, [x]), (0, -1, 2), strict=True):
        np.testing.assert_array_equal(found, x[:, place])


def test_unused_shape_arithmetic_and_weights_are_dropped(model: Make) -> None:
    made = model(
        [node("Relu", ["x"], ["y"]), node("Shape", ["x"], ["s"]), node("Add", ["x", "w"], ["z"])],
        {"x": ("f32", [64])},
        ["y"],
        {"w": np.zeros(64, np.float32)},
    )
    program = load_program(made.SerializeToString())
    assert not program.weights
    assert [op.name for op in program.main.body.block.ops] == ["gv.relu", "func.return"]


def test_shared_names_bind_one_symbol(model: Make) -> None:
    inputs = {"x": ("f32", ["N", 3]), "y": ("f32", ["N", 1])}
    made = model([node("Add", ["x", "y"], ["z"])], inputs, ["z"])
    program = load_program(made.SerializeToString())
    assert [str(s) for s in argument_specs(program.main)] == ["f32[N,3]", "f32[N,1]"]


def test_input_becomes_a_constant(model: Make) -> None:
    inputs = {"x": ("f32", [2, 6]), "shape": ("i64", [2])}
    made = model([node("Reshape", ["x", "shape"], ["y"])], inputs, ["y"])
    assert "y = reshape(x, shape=[3, 4])" in text(made, constants={"shape": i64(3, -1)})


def loop_body(*nodes: Any, collects: bool) -> onnx.GraphProto:
    """Return the body of a loop over `state`, which also gives `seen` if it collects."""
    infos = {"i": (7, []), "go": (9, []), "goes": (9, []), "state": (1, [2]), "next": (1, [2]),
             "seen": (1, [2])}  # fmt: skip
    made = {name: helper.make_tensor_value_info(name, *spec) for name, spec in infos.items()}
    results = ["goes", "next", *(["seen"] if collects else [])]
    return helper.make_graph(
        nodes, "body", [made[n] for n in ("i", "go", "state")], [made[n] for n in results]
    )


def test_loop_until_a_condition(model: Make, same_as_onnxruntime: Any) -> None:
    body = loop_body(
        node("Add", ["state", "x"], ["next"]),
        node("ReduceMax", ["next"], ["largest"], keepdims=0),
        node("Less", ["largest", "limit"], ["goes"]),
        collects=False,
    )
    made = model(
        [node("Loop", ["", "", "start"], ["last"], body=body), node("Neg", ["last"], ["y"])],
        {"x": ("f32", [2]), "start": ("f32", [2])},
        ["y"],
        {"limit": np.float32(100)},
    )
    program = load_program(made.SerializeToString())
    assert "gv.while" in [op.name for op in program.main.body.block.ops]
    same_as_onnxruntime(made, np.float32([3, 1]), np.float32([0, 0]))


def test_loop_of_many_trips_runs(model: Make, same_as_onnxruntime: Any) -> None:
    body = loop_body(
        node("Identity", ["go"], ["goes"]),
        node("Cast", ["i"], ["number"], to=1),
        node("Mul", ["state", "x"], ["scaled"]),
        node("Add", ["scaled", "number"], ["next"]),
        node("Neg", ["next"], ["seen"]),
        collects=True,
    )
    made = model(
        [node("Loop", ["trips", "", "start"], ["last", "all"], body=body)],
        {"x": ("f32", [2]), "start": ("f32", [2])},
        ["last", "all"],
        {"trips": np.int64(100)},
    )
    same_as_onnxruntime(made, np.float32([0.5, 0.25]), np.float32([3, 4]))


@pytest.mark.parametrize("length", [3, 70, "T"])
def test_scan_along_an_axis(model: Make, same_as_onnxruntime: Any, length: Any) -> None:
    body = helper.make_graph(
        [
            node("Mul", ["state", "w"], ["scaled"]),
            node("Add", ["scaled", "part"], ["next"]),
            node("Neg", ["next"], ["seen"]),
        ],
        "body",
        [helper.make_tensor_value_info(n, 1, [2]) for n in ("state", "part")],
        [helper.make_tensor_value_info(n, 1, [2]) for n in ("next", "seen")],
    )
    made = model(
        [
            node(
                "Scan",
                ["start", "x"],
                ["last", "all"],
                body=body,
                num_scan_inputs=1,
                scan_input_axes=[1],
                scan_input_directions=[1],
                scan_output_axes=[1],
            )
        ],
        {"start": ("f32", [2]), "x": ("f32", [2, length])},
        ["last", "all"],
        {"w": np.float32([0.5, 0.9])},
    )
    x = np.random.default_rng(1).standard_normal((2, 5 if length == "T" else length))
    same_as_onnxruntime(made, np.float32([1, 2]), x.astype(np.float32))


def test_branches_that_cost_something_run_one_at_a_time(
    model: Make, same_as_onnxruntime: Any
) -> None:
    branches = {
        f"{name}_branch": helper.make_graph(
            [node("Mul", ["x", "w"], ["t0"])]
            + [node("Tanh", [f"t{i}"], [f"t{i + 1}"]) for i in range(count)],
            name,
            [],
            [helper.make_tensor_value_info(f"t{count}", 1, [3])],
        )
        for name, count in (("then", 9), ("else", 12))
    }
    made = model(
        [node("If", ["c"], ["y"], **branches), node("Add", ["y", "w"], ["z"])],
        {"c": ("bool", []), "x": ("f32", [3])},
        ["z"],
        {"w": np.float32([1, 2, 3])},
    )
    program = load_program(made.SerializeToString())
    assert "gv.if" in [op.name for op in program.main.body.block.ops]
    for condition in (True, False):
        same_as_onnxruntime(made, np.array(condition), np.float32([-1, 0, 2]))


def test_weights_of_an_inner_graph_stand_outside(model: Make, same_as_onnxruntime: Any) -> None:
    body = loop_body(
        node("Add", ["state", "w"], ["moved"]),
        node("ReduceSum", ["moved"], ["next"], keepdims=1),
        node("Identity", ["go"], ["goes"]),
        collects=False,
    )
    body.input[2].type.tensor_type.shape.dim[0].dim_value = 1
    body.output[1].type.tensor_type.shape.dim[0].dim_value = 1
    made = model(
        [node("Loop", ["n", "", "start"], ["last"], body=body), node("Add", ["last", "w"], ["y"])],
        {"n": ("i64", []), "start": ("f32", [1])},
        ["y"],
        {"w": np.linspace(0, 1, 50, dtype=np.float32) / 50},
    )
    same_as_onnxruntime(made, np.array(3), np.float32([1]))


def test_loop_whose_state_grows(model: Make, run_onnx: Callable[..., list[np.ndarray]]) -> None:
    body = loop_body(
        node("Concat", ["state", "state"], ["next"], axis=0),
        node("Identity", ["go"], ["goes"]),
        collects=False,
    )
    made = model(
        [node("Loop", ["n", "", "start"], ["last"], body=body)],
        {"n": ("i64", []), "start": ("f32", [2])},
        ["last"],
    )
    [last] = run_onnx(made, 3, np.float32([1, 2]))
    np.testing.assert_array_equal(last, np.float32([1, 2] * 8))
