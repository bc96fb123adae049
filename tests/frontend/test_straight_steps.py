"""Host steps in a row are planned once, and give what they give one by one."""

import sys
from collections.abc import Callable
from types import FrameType

import numpy as np
import onnx
import pytest
from onnx import helper

import gravure as gv
from gravure.frontend.models.pieces import SteppedModel
from gravure.frontend.programs.load import load_program
from gravure.ir import Program
from gravure.ir.ops.host.late import ExpandTo
from gravure.ir.ops.host.texts import Lookup, in_a_row
from gravure.runtime.tracing import Trace, listening

node = helper.make_node
Make = Callable[..., onnx.ModelProto]
RANDOM = np.random.default_rng(1)


def named(model: Make) -> onnx.ModelProto:
    """Return a model that looks categories up, and gives the name of the largest."""
    made = model(
        [node("LabelEncoder", ["t"], ["i"], domain="ai.onnx.ml", keys_strings=["a", "b", "c"],
              values_floats=[1.0, -2.0, 5.0], default_float=0.5),
         node("Mul", ["i", "x"], ["y"]), node("ArgMax", ["y"], ["k"], axis=1, keepdims=0),
         node("LabelEncoder", ["k"], ["z"], domain="ai.onnx.ml", keys_int64s=[0, 1, 2],
              values_strings=["low", "mid", "high"], default_string="?")],
        {"t": ("string", ["N", 3]), "x": ("f32", ["N", 3])}, ["z", "y"],
    )  # fmt: skip
    made.opset_import.append(helper.make_opsetid("ai.onnx.ml", 2))
    return made


def test_steps_in_a_row_are_planned_once(model: Make) -> None:
    made = gv.compile(named(model).SerializeToString(), dims={"N": (1, 9)})
    assert isinstance(made, SteppedModel)
    assert made.straight is not None
    for rows in (1, 4, 7):
        texts = RANDOM.choice(np.array(["a", "b", "c", "d"], object), (rows, 3))
        x = RANDOM.standard_normal((rows, 3)).astype(np.float32)
        with listening(Trace()):  # who looks on is told of each step
            watched = made.run([texts, x])
        for each, other in zip(made.run([texts, x]), watched, strict=True):
            np.testing.assert_array_equal(each, other)
        factors = np.vectorize({"a": 1, "b": -2, "c": 5, "d": 0.5}.get, otypes=[float])(texts)
        np.testing.assert_allclose(watched[1], factors * x, rtol=1e-6)


def test_a_run_takes_few_steps_of_python(model: Make) -> None:
    made = gv.compile(named(model).SerializeToString(), dims={"N": (1, 9)})
    assert isinstance(made, SteppedModel)
    feed = {"t": np.full((1, 3), "a", object), "x": np.ones((1, 3), np.float32)}
    made.run(feed)
    calls: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            calls.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        made.run(feed)
    finally:
        sys.setprofile(None)
    assert len(calls) < 65, calls


def test_sizes_that_do_not_fit_are_refused_after_such_that_do(model: Make) -> None:
    made = gv.compile(named(model).SerializeToString(), dims={"N": (1, 9)})
    feed = {"t": np.full((1, 3), "a", object), "x": np.ones((1, 3), np.float32)}
    made.run(feed)
    for rows, others in ((10, 10), (2, 3)):
        wrong = {"t": np.full((rows, 3), "a", object), "x": np.ones((others, 3), np.float32)}
        with pytest.raises(gv.GravureError):
            made.run(wrong)
        made.run(feed)


@pytest.mark.parametrize("keys", [[3, -2, 4], [0, 1 << 40], [-(1 << 63), (1 << 63) - 1], [7]])
def test_numbers_are_looked_up_alike_one_by_one_and_together(keys: list[int]) -> None:
    values = np.array([f"t{key}" for key in keys], object)
    look = Lookup.ready(
        keys=np.array(keys, np.int64), values=values, default=np.array(["?"], object)
    )
    beside = [key + step for key in keys for step in (-1, 0, 1) if abs(key + step) < 1 << 63]
    asked = np.array([*beside, -(1 << 63), (1 << 63) - 1, 0] * 3, np.int64)
    together = look(asked.reshape(3, -1))[0]
    one_by_one = [look(each)[0] for each in asked.reshape(-1, 1)]
    assert together.ravel().tolist() == np.concatenate(one_by_one).tolist()


def test_labels_close_to_each_other_are_taken_by_their_places() -> None:
    """The list of all is made once; what is far apart is looked up in a table."""
    values, other = np.array(["no", "yes", "maybe"], object), np.array(["?"], object)
    assert in_a_row(np.arange(3), values, other) is not None
    assert in_a_row(np.array([0, 1, 1 << 30]), values, other) is None


def test_steps_that_give_sequences_go_straight_on(model: Make) -> None:
    made = model(
        [node("Split", ["x", "s"], ["a", "b", "c"], axis=0), node("Add", ["a", "a"], ["d"]),
         node("SequenceConstruct", ["b", "c"], ["q"]), node("SequenceLength", ["q"], ["n"])],
        {"x": ("f32", ["N", 3]), "s": ("i64", [3])}, ["d", "c", "n"],
    )  # fmt: skip
    found = gv.compile(made.SerializeToString(), dims={"N": (1, 20)})
    assert isinstance(found, SteppedModel)
    assert found.straight is not None
    x = RANDOM.standard_normal((9, 3)).astype(np.float32)
    for sizes in ([2, 3, 4], [9, 0, 0], [1, 1, 7]):
        given = [x, np.int64(sizes)]
        with listening(Trace()):
            watched = found.run(given)
        for each, other in zip(found.run(given), watched, strict=True):
            np.testing.assert_array_equal(each, other)
    for sizes in ([2, 3, 5], [-1, 5, 5]):
        with pytest.raises(gv.GravureError):
            found.run([x, np.int64(sizes)])


NESTED = """
<ir_version: 10, opset_import: ["" : 21]>
g (bool c, float[N] x) => (float[A] y, float[B,N] z) <int64[1] one = {1}, float most = {40.0},
int64[1] zero = {0}, int64[1] half = {3000}, bool on = {1}> {
  y = If (c) <
    then_branch = a () => (float[T] t) { t = Slice(x, zero, half) },
    else_branch = b () => (float[E] e) { p = Greater(x, most) e = Compress<axis=0>(x, p) }
  >
  s, z = Loop (, on, x) <
    body = d (int64 i, bool f, float[N] old) => (bool g, float[N] new, float[N] part) {
      new = Add(old, x) m = ReduceMax<keepdims=0>(new) g = Less(m, most) part = Identity(old)
    }
  >
}
"""


def test_choices_and_loops_go_straight_on() -> None:
    """So many elements that compiled code does not compute them at their most."""
    model = onnx.parser.parse_model(NESTED)
    made = gv.compile(model.SerializeToString(), dims={"N": (1, 9999)})
    assert isinstance(made, SteppedModel)
    assert made.straight is not None
    for size, condition in ((5000, True), (4000, False), (6000, True), (1, False)):
        x = RANDOM.uniform(1, 9, size).astype(np.float32)
        x[0] = 9
        given = [np.array(condition), x]
        with listening(Trace()):
            watched = made.run(given)
        y, z = made.run(given)
        np.testing.assert_array_equal(y, watched[0])
        np.testing.assert_array_equal(z, watched[1])
        np.testing.assert_array_equal(y, x[:3000] if condition else x[x > 40])
        np.testing.assert_allclose(z, [x * n for n in range(1, 5)], rtol=1e-6)


def test_weights_between_pieces_lie_where_code_can_work_on_them(model: Make) -> None:
    """Each run copied those that lay anywhere in the file: a hundred microseconds a trip."""
    x, w = (RANDOM.standard_normal((n, 8)).astype(np.float32) for n in (2, 8))
    number, flag = helper.make_tensor_value_info("i", 7, []), [9, []]
    go, on = (helper.make_tensor_value_info(name, *flag) for name in ("go", "on"))
    lists = [helper.make_tensor_sequence_value_info(name, 1, None) for name in ("s", "s2")]
    states = [helper.make_tensor_value_info(name, 1, None) for name in ("h", "h2")]
    trip = helper.make_graph(
        [node("MatMul", ["x", "w"], ["p"]), node("Concat", ["h", "p"], ["h2"], axis=0),
         node("Identity", ["go"], ["on"]), node("SequenceInsert", ["s", "h2"], ["s2"])],
        "trip", [number, go, states[0], lists[0]], [on, states[1], lists[1]],
    )  # fmt: skip
    made = model(
        [node("SequenceEmpty", [], ["s0"]),
         node("Loop", ["n", "", "x", "s0"], ["last", "all"], body=trip),
         node("ConcatFromSequence", ["all"], ["y"], axis=0)],
        {"x": ("f32", [2, 8]), "n": ("i64", [])}, ["y"], {"w": w},
    )  # fmt: skip
    program = load_program(made.SerializeToString())
    between = np.zeros(w.nbytes + 2, np.uint8)[2:].view(w.dtype).reshape(w.shape)
    between[:] = w
    found = gv.compile(Program(program.module, dict.fromkeys(program.weights, between)))
    assert isinstance(found, SteppedModel)
    assert not between.flags.aligned
    (weight,) = found.program.weights.values()
    assert weight.flags.aligned
    wanted = np.concatenate([x, x @ w])
    np.testing.assert_allclose(found.run([x, np.array(1)])[0], wanted, rtol=1e-4, atol=1e-5)


def test_sizes_that_are_read_are_looked_at(model: Make) -> None:
    made = model(
        [node("Split", ["x", "n"], ["a", "b", "c"], axis=0), node("Neg", ["b"], ["y"])],
        {"x": ("f32", [6, 2]), "n": ("i64", [3])}, ["y"],
    )  # fmt: skip
    found = gv.compile(made.SerializeToString())
    assert isinstance(found, SteppedModel)
    assert found.straight is not None
    x = RANDOM.standard_normal((6, 2)).astype(np.float32)
    for sizes in ([1, 2, 3], [0, 6, 0], [3, 0, 3]):
        y = found.run([x, np.array(sizes)])[0]
        np.testing.assert_array_equal(y, -x[sizes[0] : sizes[0] + sizes[1]])
        for wrong, said in (
            ([1, 2, 4], "found size 4, expected"),
            ([-1, 4, 3], "size -1, expected"),
            ([7, 0, -1], "size 7, expected 0 to 6"),
        ):
            with pytest.raises(gv.GravureError, match=said):
                found.run([x, np.array(wrong)])


def test_a_result_that_is_an_argument_is_a_copy_of_it(model: Make) -> None:
    made = model(
        [node("Expand", ["x", "n"], ["e"]), node("Exp", ["e"], ["y"]),
         node("Reshape", ["x", "k"], ["z"])],
        {"x": ("f32", [1, 3]), "n": ("i64", [2]), "k": ("i64", [2])}, ["y", "z"],
    )  # fmt: skip
    found = gv.compile(made.SerializeToString())
    x = RANDOM.standard_normal((1, 3)).astype(np.float32)
    y, z = found.run([x, np.array([4, 1]), np.array([3, -1])])
    np.testing.assert_allclose(y, np.exp(np.tile(x, (4, 1))), rtol=1e-6)
    assert not np.may_share_memory(x, z)
    with pytest.raises(gv.GravureError, match="do not broadcast"):
        found.run([x, np.array([4, 2]), np.array([3, -1])])
    expanded = ExpandTo.evaluate(x[:, :1], np.array([2, 3]))[0]
    assert expanded.flags.c_contiguous  # else each piece behind it copied it


def test_results_are_apart_from_weights_and_from_each_other(model: Make) -> None:
    w = RANDOM.standard_normal((3, 4)).astype(np.float32)
    made = model(
        [node("Reshape", ["w", "s"], ["a"]), node("Expand", ["x", "n"], ["b"]),
         node("Reshape", ["b", "s"], ["c"])],
        {"x": ("f32", [1, 4]), "n": ("i64", [2]), "s": ("i64", [2])}, ["c", "a", "b"], {"w": w},
    )  # fmt: skip
    found = gv.compile(made.SerializeToString())
    given = [np.ones((1, 4), np.float32), np.array([3, 4]), np.array([2, -1])]
    c, a, b = found.run(given)
    assert not np.may_share_memory(b, c)
    for each in (a, b, c):
        each[...] = 7
    for one, other in zip(found.run(given), (np.ones((2, 6)), w.reshape(2, 6), np.ones((3, 4))),
                          strict=True):  # fmt: skip
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("kind", "shapes"),
    [("Slice", [1, 1]), ("Pad", [4]), ("Expand", [2]), ("Tile", [2]), ("Reshape", [2])],
)
def test_steps_that_move_elements_ask_nothing_of_warnings(
    model: Make, kind: str, shapes: list[int]
) -> None:
    inputs = {f"s{i}": ("i64", [n]) for i, n in enumerate(shapes)}
    made = model([node(kind, ["x", *inputs], ["y"])], {"x": ("f32", [3, 4]), **inputs}, ["y"])
    found = gv.compile(made.SerializeToString())
    assert isinstance(found, SteppedModel)
    assert found.straight is not None
    assert not found.straight.warns
