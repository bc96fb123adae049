"""Loops, scans and branches of ONNX models as compiled code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import NodeProto, helper

import gravure as gv
from gravure.frontend.models.pieces import SteppedModel
from gravure.frontend.models.told import ToldModel
from gravure.frontend.programs.load import load_program
from gravure.ir import interpret

node = helper.make_node
Make = Callable[..., onnx.ModelProto]


def graph(
    nodes: Sequence[NodeProto], inputs: Sequence[str], outputs: Sequence[str], shape: Any
) -> onnx.GraphProto:
    """Return a graph inside of a node; `i` is a number, what begins with `go` a truth value."""

    def info(name: str) -> onnx.ValueInfoProto:
        kind = 7 if name == "i" else 9 if name.startswith("go") else 1
        return helper.make_tensor_value_info(name, kind, [] if kind != 1 else shape)

    return helper.make_graph(nodes, "inner", [*map(info, inputs)], [*map(info, outputs)])


def agrees(made: onnx.ModelProto, cases: Sequence[Sequence[Any]], **options: Any) -> Any:
    """Compare compiled code with the interpreter; return the model."""
    data = made.SerializeToString()
    compiled = gv.compile(data, **options)
    for case in cases:
        arrays = [np.asarray(x) for x in case]
        wanted = interpret(load_program(data, dims=options.get("dims")), arrays)
        for got, want in zip(compiled.run(arrays), wanted, strict=True):
            assert got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    return compiled


def test_a_loop_of_trips_that_data_tell_packs_the_weights_it_captures(model: Make) -> None:
    body = graph(
        [
            node("MatMul", ["state", "w"], ["product"]),
            node("Tanh", ["product"], ["next"]),
            node("Identity", ["go"], ["goes"]),
        ],
        ["i", "go", "state"],
        ["goes", "next"],
        [4, 8],
    )
    weights = np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32)
    made = model(
        [node("Loop", ["n", "", "x"], ["last"], body=body), node("Add", ["last", "x"], ["y"])],
        {"n": ("i64", []), "x": ("f32", [4, 8])},
        ["y"],
        {"w": weights},
    )
    x = np.random.default_rng(1).standard_normal((4, 8)).astype(np.float32)
    found = agrees(made, [(trips, x) for trips in (0, 1, 7)])
    assert any(name.startswith("gemm") for name in found.compiled.description.kernels)
    assert found.compiled.description.prepare  # the weights are packed once, outside of the loop


def test_loops_nest_in_branches_in_loops(model: Make) -> None:
    inner = graph(
        [
            node("Mul", ["t", "two"], ["u"]),
            node("Abs", ["u"], ["size"]),
            node("ReduceMax", ["size"], ["most"], keepdims=0),
            node("Less", ["most", "limit"], ["gone"]),
        ],
        ["i", "go", "t"],
        ["gone", "u"],
        ["N", 3],
    )
    grow = graph([node("Loop", ["", "", "state"], ["g"], body=inner)], [], ["g"], ["N", 3])
    more = [node("Sin", [f"s{k}"], [f"s{k + 1}"]) for k in range(9)]
    turn = graph([node("Mul", ["state", "x"], ["s0"]), *more], [], ["s9"], ["N", 3])
    body = graph(
        [
            node("ReduceSum", ["state"], ["total"], keepdims=0),
            node("Less", ["total", "limit"], ["low"]),
            node("If", ["low"], ["next"], then_branch=grow, else_branch=turn),
            node("Identity", ["go"], ["goes"]),
        ],
        ["i", "go", "state"],
        ["goes", "next"],
        ["N", 3],
    )
    made = model(
        [node("Loop", ["n", "", "x"], ["y"], body=body)],
        {"n": ("i64", []), "x": ("f32", ["N", 3])},
        ["y"],
        {"two": np.float32(2), "limit": np.float32(20)},
    )
    rows = [np.full((k, 3), 1.5, np.float32) for k in (1, 4)]
    agrees(made, [(trips, x) for trips in (0, 1, 4) for x in rows], dims={"N": (1, 8)})


def test_a_scan_of_symbolic_length_is_one_loop(model: Make) -> None:
    body = graph(
        [
            node("Mul", ["state", "w"], ["scaled"]),
            node("Add", ["scaled", "part"], ["next"]),
            node("Neg", ["next"], ["seen"]),
        ],
        ["state", "part"],
        ["next", "seen"],
        [2],
    )
    made = model(
        [node("Scan", ["start", "x"], ["last", "all"], body=body, num_scan_inputs=1)],
        {"start": ("f32", [2]), "x": ("f32", ["T", 2])},
        ["last", "all"],
        {"w": np.float32([0.5, 0.9])},
    )
    random = np.random.default_rng(2)
    cases = [(np.float32([1, 2]), random.standard_normal((t, 2)).astype("f")) for t in (1, 90)]
    found = agrees(made, cases, dims={"T": (1, 100)})
    assert len(found.compiled.description.steps) < 12


def test_a_loop_that_may_end_early_collects_into_what_it_has_room_for(model: Make) -> None:
    body = graph(
        [
            node("Add", ["state", "x"], ["next"]),
            node("ReduceMax", ["next"], ["most"], keepdims=0),
            node("Less", ["most", "limit"], ["goes"]),
            node("Neg", ["next"], ["seen"]),
        ],
        ["i", "go", "state"],
        ["goes", "next", "seen"],
        [2],
    )
    made = model(
        [node("Loop", ["trips", "", "x"], ["last", "all"], body=body)],
        {"x": ("f32", [2])},
        ["last", "all"],
        {"trips": np.int64(100), "limit": np.float32(20)},
    )
    found = agrees(made, [(np.float32(x),) for x in ([1, 1], [30, 1], [6, 0])])
    assert isinstance(found, ToldModel)


def test_a_loop_of_as_many_trips_as_a_number_says_is_compiled_with_what_it_collects(
    model: Make,
) -> None:
    """The number is read as a size: each trip was a step of the host, at 8 times the time."""
    nodes = [node("Add", ["state", "x"], ["next"]), node("Identity", ["go"], ["goes"]),
             node("Neg", ["next"], ["seen"])]  # fmt: skip
    body = graph(nodes, ["i", "go", "state"], ["goes", "next", "seen"], ["N"])
    made = model(
        [node("Loop", ["trips", "", "x"], ["last", "all"], body=body)],
        {"x": ("f32", ["N"]), "trips": ("i64", [])}, ["last", "all"],
    )  # fmt: skip
    cases = [(np.arange(n, dtype=np.float32), np.int64(k)) for n, k in ((3, 5), (4, 0), (2, -1))]
    found = agrees(made, cases, dims={"N": (1, 8)})
    assert [step.operation for step in found.host_steps] == ["gv.read_sizes"]
    assert found.run([*map(np.asarray, cases[2])])[1].shape == (0, 2)


def test_what_is_cut_between_a_trip_and_the_next_is_one_row(model: Make) -> None:
    """As `x[:, i:i + 1]` in a scripted loop: of an unknown size, it was taken for all rows."""
    nodes = [
        node("Add", ["i", "one"], ["j"]), node("Unsqueeze", ["i", "zeros"], ["from"]),
        node("Unsqueeze", ["j", "zeros"], ["to"]),
        node("Slice", ["x", "from", "to", "ones"], ["row"]),
        node("Add", ["state", "row"], ["next"]), node("Identity", ["go"], ["goes"]),
    ]  # fmt: skip
    body = graph(nodes, ["i", "go", "state"], ["goes", "next"], ["B", "T", 3])
    made = model(
        [node("Shape", ["x"], ["sizes"], start=1, end=2), node("Squeeze", ["sizes"], ["trips"]),
         node("Loop", ["trips", "", "x"], ["y"], body=body)],
        {"x": ("f32", ["B", "T", 3])}, ["y"],
        {"one": np.int64(1), "ones": np.int64([1]), "zeros": np.int64([0])},
    )  # fmt: skip
    rows = [np.arange(6 * t, dtype=np.float32).reshape(2, t, 3) for t in (1, 4)]
    found = agrees(made, [(x,) for x in rows], dims={"B": (1, 4), "T": (1, 8)})
    assert found is not None
    np.testing.assert_array_equal(found.run([rows[1]])[0], rows[1] + rows[1].sum(1, keepdims=True))


def test_a_loop_that_never_begins_collects_nothing(model: Make) -> None:
    nodes = [node("Add", ["state", "x"], ["next"]), node("Identity", ["go"], ["goes"]),
             node("Concat", ["next", "x"], ["seen"], axis=0)]  # fmt: skip
    body = graph(nodes, ["i", "go", "state"], ["goes", "next", "seen"], ["N"])
    loops = [
        node("Loop", [trips, begins, "x"], [f"last{i}", f"all{i}"], body=body)
        for i, (trips, begins) in enumerate((("none", ""), ("none", "some"), ("trips", "no")))
    ]
    made = model(
        loops, {"x": ("f32", ["N"]), "some": ("bool", [])},
        [f"{name}{i}" for i in range(3) for name in ("last", "all")],
        {"none": np.int64(0), "trips": np.int64(3), "no": np.bool_(False)},
    )  # fmt: skip
    program = load_program(made.SerializeToString(), dims={"N": (1, 8)})
    for x in (np.float32([1, 2, 3]), np.float32([4])):
        found = interpret(program, [x, np.array(True)])
        for last, parts in zip(found[::2], found[1::2], strict=True):
            np.testing.assert_array_equal(last, x)
            assert parts.shape == (0, 2 * len(x))
    agrees(made, [(np.float32([1, 2, 3]), np.array(True))], dims={"N": (1, 8)})


def test_a_size_that_only_one_branch_has_is_spread_in_the_run(model: Make) -> None:
    first = graph([node("Slice", ["x", "zero", "one"], ["a"])], [], ["a"], [None, 3])
    second = graph([node("Neg", ["x"], ["b"])], [], ["b"], [None, 3])
    made = model(
        [node("If", ["go"], ["y"], then_branch=first, else_branch=second, name="either"),
         node("Add", ["y", "x"], ["z"])],
        {"x": ("f32", [2, 3]), "go": ("bool", [])},
        ["z"],
        {"zero": np.array([0]), "one": np.array([1])},
    )  # fmt: skip
    compiled = gv.compile(made.SerializeToString())
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(compiled.run([x, np.bool_(False)])[0], 0 * x)
    found = compiled.run([x, np.bool_(True)])[0]
    np.testing.assert_array_equal(found, x[:1] + x)


def test_a_scan_says_which_sizes_must_be_equal(model: Make) -> None:
    """Lengths with two names were taken for one of the width's: all other sizes were refused."""
    info = helper.make_tensor_value_info
    names = ("state", "a", "b", "next", "each")
    step = [
        node("Mul", ["state", "a"], ["product"]), node("Add", ["product", "b"], ["next"]),
        node("Identity", ["next"], ["each"]),
    ]  # fmt: skip
    body = helper.make_graph(
        step, "step", [info(n, 1, ["w"]) for n in names[:3]], [info(n, 1, ["w"]) for n in names[3:]]
    )
    scan = node("Scan", ["h", "x", "y"], ["last", "all"], body=body, num_scan_inputs=2)
    inputs = {"h": ("f32", ["w"]), "x": ("f32", ["t", "w"]), "y": ("f32", ["u", "w"])}
    made = model([scan], inputs, ["last", "all"])
    random = np.random.default_rng(0)
    cases = [
        [random.standard_normal(s).astype(np.float32) for s in ((w,), (t, w), (t, w))]
        for t, w in ((5, 3), (1, 1), (2, 4))
    ]
    agrees(made, cases, dims={"t": (1, 9), "w": (1, 9)})


def test_what_a_loop_collects_until_it_ends_is_written_by_compiled_code(model: Make) -> None:
    """A loop with no bound was gone round by the host, and so was one that looks at its end."""
    grow = [
        node("Slice", ["h", "last", "end"], ["r"]),
        node("MatMul", ["r", "w"], ["p"]),
        node("Tanh", ["p"], ["t"]),
        node("Concat", ["h", "t"], ["h2"], axis=0),
        node("Cast", ["i"], ["f"], to=1),
        node("ReduceSum", ["t"], ["total"], keepdims=0),
        node("Add", ["total", "f"], ["sum"]),
        node("Less", ["sum", "most"], ["goes"]),
    ]
    body = graph(grow, ["i", "go", "h"], ["goes", "h2", "total"], None)
    w = np.random.default_rng(0).standard_normal((3, 3)).astype(np.float32)
    made = model(
        [node("Loop", ["", "t0", "x"], ["all", "parts"], body=body)],
        {"x": ("f32", [2, 3]), "most": ("f32", [])},
        ["all", "parts"],
        {"w": w, "t0": np.array(True), "last": np.array([-1]), "end": np.array([1 << 40])},
    )
    x = np.random.default_rng(1).standard_normal((2, 3)).astype(np.float32)
    cases = [(x, np.float32(most)) for most in (4, 0, 90, 5)]
    found = agrees(made, cases)
    (loop,) = found.growing.values()
    assert [*loop.made] == [64, 256]
    assert found.straight is not None


@pytest.mark.parametrize("back", [0, 1])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_scan_of_any_length_collects_parts_whose_size_a_trip_tells(
    model: Make, back: int, axis: int
) -> None:
    body = graph(
        [
            node("Slice", ["table", "from", "to"], ["part"]),
            node("Add", ["part", "e"], ["moved"]),
            node("Add", ["state", "e"], ["next"]),
        ],
        ["state", "e"], ["next", "moved"], None,
    )  # fmt: skip
    scan = node(
        "Scan", ["h", "x"], ["last", "all"], body=body, num_scan_inputs=1,
        scan_input_directions=[back], scan_output_directions=[1 - back], scan_output_axes=[axis],
    )  # fmt: skip
    types = {
        "h": ("f32", [1]), "x": ("f32", ["N", 1]), "table": ("f32", [6]), "from": ("i64", [1]),
        "to": ("i64", [1]),
    }  # fmt: skip
    data = model([scan], types, ["last", "all"]).SerializeToString()
    dims = {"N": (0, 8)}
    program, run = load_program(data, dims=dims), gv.compile(data, dims=dims).run
    table = np.arange(6, dtype=np.float32)
    for count, start, stop in ((3, 1, 4), (1, 0, 6), (4, 2, 3), (2, 3, 3)):
        x = np.arange(count, dtype=np.float32)[:, None]
        wanted = np.stack([table[start:stop] + e for e in x[:: 1 - 2 * back]])
        wanted = np.moveaxis(wanted[:: 2 * back - 1], 0, axis)
        given = [np.ones(1, np.float32), x, table, np.array([start]), np.array([stop])]
        for way in (run, lambda arrays: interpret(program, arrays)):
            last, every = way(given)
            np.testing.assert_array_equal(last, [1 + x.sum()])
            np.testing.assert_array_equal(every, wanted)


def test_sizes_of_which_either_may_be_1_meet_in_a_scan_of_any_length(model: Make) -> None:
    body = graph([node("Add", ["table", "e"], ["sum"])], ["e"], ["sum"], None)
    scan = node("Scan", ["x"], ["y"], body=body, num_scan_inputs=1)
    types = {"x": ("f32", ["N", "A"]), "table": ("f32", [3, "B"])}
    dims = dict.fromkeys("NAB", (0, 8))
    run = gv.compile(model([scan], types, ["y"]).SerializeToString(), dims=dims).run
    for n, a, b in ((2, 4, 4), (2, 1, 4), (3, 4, 1), (1, 1, 0), (2, 1, 1)):
        x, table = np.random.rand(n, a).astype(np.float32), np.ones((3, b), np.float32)
        np.testing.assert_array_equal(run([x, table])[0], x[:, None] + table)


def test_trips_that_are_written_out_collect_parts_whose_sizes_data_tell(model: Make) -> None:
    part = node("Tile", ["table", "times"], ["part"])
    loop_body = graph(
        [part, node("Identity", ["go"], ["goes"])], ["i", "go"], ["goes", "part"], None
    )
    scan_body = graph([part, node("Add", ["part", "e"], ["sum"])], ["e"], ["sum"], None)
    nodes = [
        node("Loop", ["two", ""], ["a"], body=loop_body),
        node("Scan", ["x"], ["b"], body=scan_body, num_scan_inputs=1),
    ]
    types = {"x": ("f32", [2, 1]), "table": ("f32", [2, "A"]), "times": ("i64", [2])}
    whole = model(nodes, types, ["a", "b"], {"two": np.array(2)}).SerializeToString()
    run = gv.compile(whole, dims={"A": (1, 8)}).run
    x, table = np.array([[1], [2]], np.float32), np.arange(6, dtype=np.float32).reshape(2, 3)
    for times in ((1, 1), (2, 3), (3, 1)):
        tiled = np.tile(table, times)
        a, b = run([x, table, np.array(times)])
        np.testing.assert_array_equal(a, [tiled, tiled])
        np.testing.assert_array_equal(b, [tiled + 1, tiled + 2])


@pytest.mark.parametrize("end", [-1, 1, 3, 40, 64, 65, 200])
def test_a_counter_that_is_known_says_how_often_a_loop_goes_round(model: Make, end: int) -> None:
    """As torch's exporter writes bags of embeddings: no number of trips, a list, and a counter."""
    scalar, vector = (
        helper.make_tensor_value_info(n, 7, s) for n, s in (("at", []), ("following", []))
    )
    parts = helper.make_tensor_sequence_value_info("parts", 1, None)
    more = helper.make_tensor_sequence_value_info("more", 1, None)
    i, go, goes = (
        helper.make_tensor_value_info(n, k, []) for n, k in (("i", 7), ("go", 9), ("goes", 9))
    )
    body = helper.make_graph(
        [
            node("Add", ["at", "one"], ["following"]),
            node("Gather", ["offsets", "at"], ["first"]),
            node("Gather", ["offsets", "following"], ["behind"]),
            node("Reshape", ["first", "row"], ["begin"]),
            node("Reshape", ["behind", "row"], ["end_of_bag"]),
            node("Slice", ["x", "begin", "end_of_bag"], ["rows"]),
            node("ReduceMax", ["rows"], ["part"], axes=[0]),
            node("SequenceInsert", ["parts", "part"], ["more"]),
            node("Less", ["following", "end"], ["goes"]),
        ],
        "trip", [i, go, parts, scalar], [goes, more, vector],
    )  # fmt: skip
    nodes = [
        node("SequenceEmpty", [], ["empty"]),
        node("Loop", ["", "yes", "empty", "zero"], ["all", "last"], body=body),
        node("ConcatFromSequence", ["all"], ["y"], axis=0),
    ]
    offsets = np.cumsum([0, *(1 + i % 3 for i in range(200))])
    stored = {
        "row": np.array([-1]), "one": np.array(1), "offsets": offsets,
        "end": np.array(end), "yes": np.array(True), "zero": np.array(0),
    }  # fmt: skip
    made = model(nodes, {"x": ("f32", [400, 3])}, ["y", "last"], stored)
    x = np.random.default_rng(4).standard_normal((400, 3)).astype(np.float32)
    trips = max(end, 1)
    compiled = gv.compile(made.SerializeToString())
    found, last = compiled.run([x])
    np.testing.assert_array_equal(found, np.maximum.reduceat(x, offsets[:-1])[:trips])
    assert last == trips
    assert trips > 64 or not isinstance(compiled, SteppedModel)


NOTHING = """<ir_version: 10, opset_import: ["" : 20]>
m (float[0, M] x, float[M] a, bool go) => (float[M] y, float[T, M] all, float[M] z) {
    none = Constant <value = int64 {0}> ()
    y, all = Loop(none, "", a) <body = b (int64 i, bool c, float[M] s)
        => (bool d, float[M] t, float[M] u) { d = Identity(c) t = Gather(x, i) u = Add(s, t) }>
    z = If(go) <then_branch = one () => (float[M] p) { p = Gather(x, none) },
                else_branch = other () => (float[M] q) { q = Add(a, a) }>
}"""


def test_what_is_not_done_may_take_elements_of_nothing() -> None:
    made = gv.compile(onnx.parser.parse_model(NOTHING).SerializeToString(), dims={"M": (0, 9)})
    x, a = np.zeros((0, 3), np.float32), np.ones(3, np.float32)
    y, gathered, z = made.run([x, a, np.array(False)])
    np.testing.assert_array_equal(y, a)
    assert gathered.shape == (0, 3)
    np.testing.assert_array_equal(z, a + a)
    with pytest.raises(gv.GravureError, match="index"):
        made.run([x, a, np.array(True)])
