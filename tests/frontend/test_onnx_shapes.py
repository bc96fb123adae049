"""Dimensions with names, and the arithmetic on shapes that exporters write out."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given as given_by
from hypothesis import strategies as st
from onnx import helper

import gravure as gv
import gravure.ir as ir
from gravure.errors import GraphError, GravureError, RuntimeInputError, UnsupportedOp
from gravure.frontend.dims import assume
from gravure.frontend.programs.constraints import constraints
from gravure.frontend.programs.load import load_program
from gravure.frontend.text.writer import write_text
from gravure.ir.program import argument_specs, result_specs
from gravure.ir.types.dims import Dim, evaluate, symbol

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


@pytest.mark.parametrize(
    "step",
    [
        [node("Sign", ["s"], ["one"]), node("Mul", ["s", "one"], ["t"])],
        [node("Clip", ["s", "least"], ["t"])],
        [node("Greater", ["s", "zero"], ["g"]), node("Cast", ["g"], ["c"], to=7),
         node("Mul", ["s", "c"], ["t"])],
    ],
    ids=["sign", "clip", "greater"],
)  # fmt: skip
def test_any_formula_is_followed_on_dimensions(model: Make, step: list[Any]) -> None:
    made = model(
        [node("Shape", ["x"], ["s"]), *step, node("Reshape", ["x", "t"], ["y"])],
        {"x": ("f32", ["N", 3])},
        ["y"],
        {"least": np.int64(1), "zero": i64(0)},
    )
    program = load_program(made.SerializeToString())
    assert [str(s) for s in result_specs(program.main)] == ["f32[N,3]"]


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
    inputs = {"x": ("f32", ["N", "H"]), "y": ("f32", ["N", "H//2"])}
    made = model([node("Add", ["x", "y"], ["z"])], inputs, ["z"])
    with pytest.raises(UnsupportedOp, match="it may fit when H is fixed"):
        load_program(made.SerializeToString())


def u_net(model: Make) -> onnx.ModelProto:
    """Two halvings and two doublings, joined to what was there before."""
    half = {"kernel_shape": [2, 2], "strides": [2, 2]}
    return model(
        [
            node("MaxPool", ["x"], ["p"], **half),
            node("MaxPool", ["p"], ["q"], **half),
            node("Resize", ["q", "", "twice"], ["u"], mode="nearest"),
            node("Concat", ["u", "p"], ["c"], axis=1),
            node("Resize", ["c", "", "twice"], ["v"], mode="nearest"),
            node("Concat", ["v", "x"], ["y"], axis=1),
        ],
        {"x": ("f32", [1, 2, "h", "w"])},
        ["y"],
        {"twice": np.array([1, 1, 2, 2], np.float32)},
    )


def test_skip_connections_demand_multiples(model: Make) -> None:
    data = u_net(model).SerializeToString()
    program = load_program(data, dims={"h": (3, 64)})
    assert [str(s) for s in argument_specs(program.main)] == ["f32[1,2,4*h_by_4,4*w_by_4]"]
    assert program.ranges == {"h_by_4": (1, 16), "w_by_4": (1, None)}
    found = [str(row) for row in constraints(program)]
    assert found[0] == "1 <= h_by_4 <= 16: dimension 2 of input 'x', which is 4*h_by_4"
    assert found[2].startswith("h is a multiple of 4: node 'Concat_3': gv.concat: shapes")


def test_multiples_that_are_demanded_are_checked_in_each_run(model: Make) -> None:
    data = u_net(model).SerializeToString()
    made = gv.compile(data, dims={"h": (4, 64), "w": (4, 64, 4)})
    x = np.arange(2 * 8 * 12, dtype=np.float32).reshape(1, 2, 8, 12)
    (wanted,) = gv.compile(data, dims={"h": 8, "w": 12}).run([x])
    np.testing.assert_array_equal(made.run([x])[0], wanted)
    with pytest.raises(RuntimeInputError, match=r"4\*h_by_4.* called with f32\[1, 2, 6, 12\]"):
        made.run([x[:, :, :6]])


@pytest.mark.parametrize(
    ("given", "found"),
    [((8, 64, 8), "8*h_by_8"), ((6, 96, 3), "12*h_by_12"), ((8, 64, 2), "4*h_by_4"), (8, "8")],
)
def test_users_say_multiples(model: Make, given: Any, found: str) -> None:
    program = load_program(u_net(model).SerializeToString(), dims={"h": given, "w": 4})
    assert str(argument_specs(program.main)[0].dims[2]) == found


@pytest.mark.parametrize(
    ("given", "message"),
    [((5, 7), "no multiple of 4 from 5 to 7"), ((4, 8, 0), "neither a size nor a range")],
)
def test_ranges_without_a_multiple_are_refused(model: Make, given: Any, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        load_program(u_net(model).SerializeToString(), dims={"h": given})


def test_equal_parts_demand_multiples(model: Make) -> None:
    made = model([node("Split", ["x"], ["a", "b"], axis=0)], {"x": ("f32", ["N"])}, ["a"])
    program = load_program(made.SerializeToString())
    assert [str(s) for s in argument_specs(program.main)] == ["f32[2*N_by_2]"]


@given_by(st.integers(1, 40), st.lists(st.sampled_from([2, 3, 4, 8]), min_size=1, max_size=3))
def test_multiples_make_halved_and_doubled_sizes_equal(size: int, steps: list[int]) -> None:
    one: Dim = symbol("h")
    for step in steps:
        one = one // step
    for step in steps:
        one = one * step
    factor = assume._multiples(one - symbol("h"))["h"]
    assert factor == math.prod(steps)
    assert evaluate(one, {"h": factor * size}) == factor * size


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


@pytest.mark.parametrize("operator", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize(("window", "pad"), [(2, 0), (3, 0), (3, 1)])
def test_windows_rounded_up_on_open_images(
    model: Make, operator: str, window: int, pad: int
) -> None:
    sides = {"kernel_shape": [window] * 2, "strides": [2, 2], "pads": [pad] * 4, "ceil_mode": 1}
    data = model([node(operator, ["x"], ["y"], **sides)], {"x": ("f32", [1, 1, "h", 7])}, ["y"])
    made = gv.compile(data.SerializeToString(), dims={"h": (4, 12)})
    for height in (4, 5, 8, 11):
        x = np.arange(height * 7, dtype=np.float32).reshape(1, 1, height, 7)
        fixed = gv.compile(data.SerializeToString(), dims={"h": height})
        np.testing.assert_array_equal(made.run([x])[0], fixed.run([x])[0])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("aligned", [0, 1])
def test_sampling_images_of_open_size(model: Make, padding: str, aligned: int) -> None:
    how = {"padding_mode": padding, "align_corners": aligned}
    inputs = {"x": ("f32", ["b", 2, "h", 5]), "g": ("f32", ["b", 3, 4, 2])}
    data = model([node("GridSample", ["x", "g"], ["y"], **how)], inputs, ["y"], opset=20)
    made = gv.compile(data.SerializeToString(), dims={"b": (1, 3), "h": (1, 9)})
    random = np.random.default_rng(3)
    for batch, height in ((1, 1), (2, 7), (3, 2)):
        x = random.standard_normal((batch, 2, height, 5)).astype(np.float32)
        grid = random.uniform(-1.6, 1.6, (batch, 3, 4, 2)).astype(np.float32)
        fixed = gv.compile(data.SerializeToString(), dims={"b": batch, "h": height})
        wanted, found = fixed.run([x, grid])[0], made.run([x, grid])[0]
        np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_range_by_whole_floats_over_a_symbol(model: Make) -> None:
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Squeeze", ["s"], ["n"]),
        node("Cast", ["n"], ["f"], to=1),
        node("Range", ["zero", "f", "step"], ["y"]),
    ]
    numbers = {"zero": np.float32(0), "step": np.float32(2)}
    made = model(nodes, {"x": ("f32", ["N"])}, ["y"], numbers)
    (found,) = ir.interpret(load_program(made.SerializeToString()), [np.zeros(5, np.float32)])
    np.testing.assert_array_equal(found, [0, 2, 4])
    made = model(nodes, {"x": ("f32", ["N"])}, ["y"], {**numbers, "step": np.float32(0.5)})
    with pytest.raises(UnsupportedOp, match=r"0\.5 in a range over symbols"):
        load_program(made.SerializeToString())


def test_all_parts_of_a_split_are_the_whole(model: Make) -> None:
    nodes = [
        node("Split", ["x", "sizes"], ["a", "b", "c"], axis=0),
        node("Concat", ["c", "a", "b"], ["d"], axis=0),
        node("Add", ["d", "x"], ["y"]),
    ]
    inputs = {"x": ("f32", [6, 2]), "sizes": ("i64", [3])}
    made = gv.compile(model(nodes, inputs, ["y"]).SerializeToString())
    x = np.arange(12, dtype=np.float32).reshape(6, 2)
    (found,) = made.run([x, i64(2, 0, 4)])
    np.testing.assert_array_equal(found, np.concatenate([x[2:], x[:2]]) + x)
    with pytest.raises(GravureError):
        made.run([x, i64(2, 0, 3)])


def test_bounds_of_an_unknown_number_are_of_the_first_axis(model: Make) -> None:
    nodes = [
        node("Slice", ["all", "at", "behind"], ["start"]),
        node("Slice", ["x", "start", "end"], ["y"]),
    ]
    inputs = {"x": ("f32", [6, 2]), "all": ("i64", [4]), "at": ("i64", [1]),
              "behind": ("i64", [1]), "end": ("i64", [1])}  # fmt: skip
    made = gv.compile(model(nodes, inputs, ["y"]).SerializeToString())
    x = np.arange(12, dtype=np.float32).reshape(6, 2)
    (found,) = made.run([x, i64(0, 2, 4, 6), i64(1), i64(2), i64(5)])
    np.testing.assert_array_equal(found, x[2:5])
    with pytest.raises(GravureError):
        made.run([x, i64(0, 2, 4, 6), i64(1), i64(3), i64(5)])


def test_a_softcap_below_zero_is_none(model: Make) -> None:
    inputs = {name: ("f32", [1, 2, 4, 8]) for name in "qkv"}
    random = np.random.default_rng(4)
    arrays = [random.standard_normal((1, 2, 4, 8)).astype(np.float32) for _ in inputs]
    found = []
    for cap in (-1.0, 0.0):
        data = model([node("Attention", ["q", "k", "v"], ["y"], softcap=cap)], inputs, ["y"],
                     opset=23)  # fmt: skip
        found.append(gv.compile(data.SerializeToString()).run(arrays)[0])
    np.testing.assert_array_equal(*found)


def test_a_table_that_is_expanded_limits_the_length(model: Make) -> None:
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Slice", ["s", "one", "two"], ["n"]),
        node("Slice", ["table", "zero", "n", "one"], ["rows"]),
        node("Expand", ["rows", "s"], ["y"]),
    ]
    numbers = {"zero": i64(0), "one": i64(1), "two": i64(2), "table": np.ones((1, 64), np.float32)}
    program = load_program(
        model(nodes, {"x": ("f32", ["b", "L"])}, ["y"], numbers).SerializeToString()
    )
    assert program.ranges["L"] == (1, 64)
