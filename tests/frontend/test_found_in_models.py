"""What models that others wrote and graphs made by hand have shown."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

import gravure as gv

node = helper.make_node
Make = Callable[..., onnx.ModelProto]
RANDOM = np.random.default_rng(1)


def i64(*numbers: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(numbers, np.int64)


def floats(*shape: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    return RANDOM.standard_normal(shape).astype(np.float32)


def compiled(made: onnx.ModelProto, **options: Any) -> Any:
    return gv.compile(made.SerializeToString(), cache=False, **options)


def test_a_size_that_another_step_tells_later_is_told_by_what_is_made_of_it(model: Make) -> None:
    made = model(  # as an exporter writes x[x > 0] = n rows of four of w
        [node("Greater", ["x", "zero"], ["m"]), node("Expand", ["m", "whole"], ["e"]),
         node("NonZero", ["e"], ["u"]), node("Transpose", ["u"], ["at"]),
         node("Expand", ["w", "n"], ["v"]), node("Reshape", ["v", "flat"], ["new"]),
         node("ScatterND", ["y", "at", "new"], ["z"])],
        {"x": ("f32", [3, 1]), "y": ("f32", [3, 4]), "w": ("f32", [1, 4]), "n": ("i64", [2])},
        ["z"], {"zero": np.float32(0), "whole": i64(3, 4), "flat": i64(-1)},
    )  # fmt: skip
    found = compiled(made)
    x, y, w = np.array([[1], [-1], [2]], np.float32), floats(3, 4), floats(1, 4)
    (z,) = found.run([x, y, w, i64(2, 1)])
    np.testing.assert_array_equal(z, np.where(x > 0, w, y))
    with pytest.raises(gv.GravureError, match=r"found shape \[3, 4\]"):
        found.run([x, y, w, i64(3, 1)])


def test_a_first_row_is_one_where_it_broadcasts_against_a_count(model: Make) -> None:
    made = model(  # experts: what a mask selects is spread to the first row of a buffer's shape
        [node("Flatten", ["x"], ["y"], axis=2), node("Gather", ["y", "first"], ["c"], axis=1),
         node("Greater", ["c", "zero"], ["m"]), node("NonZero", ["m"], ["u"]),
         node("Gather", ["u", "first"], ["rows"]), node("Gather", ["y", "rows"], ["some"]),
         node("Slice", ["y", "from", "to", "from"], ["row"]), node("Shape", ["row"], ["s"]),
         node("Expand", ["some", "s"], ["z"]), node("Add", ["row", "some"], ["w"])],
        {"x": ("f32", ["b", "n", 4])}, ["z", "w"],
        {"zero": np.float32(0), "first": np.int64(0), "from": i64(0), "to": i64(1)},
    )  # fmt: skip
    found = compiled(made, dims={"b": (0, 9), "n": (0, 9)})
    for sizes in ((1, 1), (1, 5), (3, 4)):
        x = floats(*sizes, 4)
        y, (z, w) = x.reshape(-1, 4), found.run([x])
        np.testing.assert_array_equal(z, y[y[:, 0] > 0])
        np.testing.assert_array_equal(w, y[:1] + z)


def test_floats_beside_open_sizes_are_compared(model: Make) -> None:
    made = model(
        [node("Shape", ["x"], ["s"]), node("Cast", ["s"], ["f"], to=1),
         node("Concat", ["f", "c"], ["a"], axis=0), node("Less", ["a", "b"], ["y"]),
         node("Equal", ["a", "d"], ["z"]), node("Div", ["f", "four"], ["q"]),
         node("Cast", ["q"], ["w"], to=9)],
        {"x": ("f32", ["n", 2])}, ["y", "z", "w"],
        {"c": np.array([0.5, 7, np.nan], np.float32), "four": np.float32(4),
         "b": np.array([-0.5, 2.5, 0.25, 6.5, np.nan], np.float32),
         "d": np.array([-0.5, 2, 0.5, 7, np.nan], np.float32)},
    )  # fmt: skip
    found = compiled(made, dims={"n": (0, 9)})
    for n in (0, 1, 4, 9):
        y, z, w = found.run([floats(n, 2)])
        np.testing.assert_array_equal(y, [False, True, False, False, False])
        np.testing.assert_array_equal(z, [False, True, True, True, False])
        np.testing.assert_array_equal(w, [n != 0, True])


def test_a_loop_of_steps_sees_nothing_of_what_is_equal_outside(model: Make) -> None:
    inner = helper.make_graph(  # sums of parts of x, as an exporter writes bags of words
        [node("Gather", ["c", "i"], ["a"]), node("Gather", ["d", "i"], ["b"]),
         node("Unsqueeze", ["a", "zero"], ["from"]), node("Unsqueeze", ["b", "zero"], ["to"]),
         node("Slice", ["x", "from", "to", "zero"], ["s"]),
         node("ReduceSum", ["s", "zero"], ["r"], keepdims=0), node("Cast", ["on"], ["go"], to=9)],
        "inner",
        [helper.make_tensor_value_info("i", 7, []), helper.make_tensor_value_info("was", 9, [])],
        [helper.make_tensor_value_info("go", 9, []), helper.make_tensor_value_info("r", 1, [])],
    )  # fmt: skip
    made = model(
        [node("Shape", ["c"], ["m"]), node("Squeeze", ["m"], ["trips"]),
         node("Loop", ["trips", "on"], ["y"], body=inner)],
        {"x": ("f32", ["n"]), "c": ("i64", ["m"]), "d": ("i64", ["m"])}, ["y"],
        {"zero": i64(0), "on": np.array(True)},
    )  # fmt: skip
    found = compiled(made, dims={"n": (0, 9), "m": (0, 9)})
    x = floats(9)
    (y,) = found.run([x, i64(0, 3, 5), i64(3, 9, 5)])
    np.testing.assert_allclose(y, [x[:3].sum(), x[3:].sum(), 0], rtol=1e-6)


def test_backwards_from_before_the_first_element_by_data_gives_the_first(model: Make) -> None:
    given = [node("Slice", ["x", "a", "b", "zero", "by"], ["y"])]
    whole = {"zero": i64(0), "by": i64(-1)}
    bounds = (-9, -4, -3, -1, 0, 2, 9)
    by_data = compiled(model(given, {"x": ("f32", ["n"]), "a": ("i64", [1]), "b": ("i64", [1])},
                             ["y"], whole), dims={"n": (0, 9)})  # fmt: skip
    for a in bounds:
        known = model(
            given, {"x": ("f32", ["n"]), "b": ("i64", [1])}, ["y"], {**whole, "a": i64(a)}
        )
        other = compiled(known, dims={"n": (0, 9)})
        for b in (-9, -1, 0):
            for n in (0, 1, 3):
                x = floats(n)
                start = min(max(a + n * (a < 0), 0), n - 1)
                stop = max(b + n * (b < 0), -1)
                wanted = [x[i] for i in range(start, stop, -1)]
                np.testing.assert_array_equal(by_data.run([x, i64(a), i64(b)])[0], wanted)
                np.testing.assert_array_equal(other.run([x, i64(b)])[0], wanted)


@pytest.mark.parametrize(
    ("kind", "x", "given", "attributes", "said"),
    [
        ("Resize", floats(1, 1, 4, 4), np.array([1, 1, -1, 2], np.float32), {}, "scale -1.0"),
        ("Resize", floats(1, 1, 4, 4), np.array([1, 1, 2, np.nan], np.float32), {}, "scale nan"),
        ("Pad", floats(3, 2), i64(5, 0, -5, 0), {"mode": "wrap"}, "take away more than 3"),
        ("Pad", floats(3, 2), i64(-2, 0, -2, 0), {"mode": "wrap"}, "take away more than 3"),
    ],
)
def test_numbers_that_are_no_scales_and_pads_are_refused(
    model: Make, kind: str, x: Any, given: Any, attributes: Any, said: str
) -> None:
    names = ["x", "", "s"] if kind == "Resize" else ["x", "s"]
    of = {"float32": "f32", "int64": "i64"}
    inputs = {"x": ("f32", x.shape), "s": (of[given.dtype.name], given.shape)}
    found = compiled(model([node(kind, names, ["y"], **attributes)], inputs, ["y"], opset=19))
    with pytest.raises(gv.GravureError, match=said):
        found.run([x, given])


@pytest.mark.parametrize("upper", [0, 1])
def test_a_diagonal_far_off_is_outside_of_the_matrix(model: Make, upper: int) -> None:
    made = model([node("Trilu", ["x", "k"], ["y"], upper=upper)],
                 {"x": ("f32", ["n", 2]), "k": ("i64", [])}, ["y"])  # fmt: skip
    found = compiled(made, dims={"n": (0, 5)})
    far = np.iinfo(np.int64)
    for n in (0, 1, 3):
        x = floats(n, 2)
        for k in (far.min, far.min + 1, -3, -1, 0, 1, 3, far.max - 1, far.max):
            wanted = (np.triu if upper else np.tril)(x, int(np.clip(k, -9, 9)))
            np.testing.assert_array_equal(found.run([x, np.array(k)])[0], wanted)


def test_counts_that_a_trace_has_split_into_rows_are_assumed_and_checked(model: Make) -> None:
    made = model(  # which experts were chosen, one by one, as an exporter writes a loop over them
        [node("Greater", ["x", "zero"], ["m"]), node("NonZero", ["m"], ["u"]),
         node("Split", ["u", "ones"], ["a", "b"], axis=1), node("Gather", ["x", "b"], ["y"])],
        {"x": ("f32", [4])}, ["a", "y"], {"zero": np.float32(0), "ones": i64(1, 1)},
    )  # fmt: skip
    found = compiled(made)
    a, y = found.run([np.array([-1, 2, -3, 5], np.float32)])
    np.testing.assert_array_equal(a, [[1]])
    np.testing.assert_array_equal(y, [[5]])
    for x in ([1, 2, 3, -4], [-1, -2, -3, 4]):
        with pytest.raises(gv.GravureError, match="NonZero"):
            found.run([np.array(x, np.float32)])


@pytest.mark.parametrize("onesided", [0, 1])
def test_real_signals_may_lack_the_axis_of_their_parts(model: Make, onesided: int) -> None:
    window = np.hanning(4).astype(np.float32)
    made = model(
        [node("STFT", ["x", "step", "w"], ["y"], onesided=onesided)], {"x": ("f32", ["b", "n"])},
        ["y"], {"step": np.int64(2), "w": window},
    )  # fmt: skip
    found = compiled(made, dims={"b": (0, 4), "n": (0, 9)})
    for x in (floats(2, 9), floats(1, 4), floats(3, 2)):
        (y,) = found.run([x])
        starts = range(0, x.shape[1] - 3, 2)
        frames = np.array([x[:, i : i + 4] * window for i in starts]).reshape(-1, len(x), 4)
        wanted = np.fft.fft(frames).swapaxes(0, 1)[..., : 3 if onesided else 4]
        np.testing.assert_allclose(y[..., 0] + 1j * y[..., 1], wanted, atol=1e-5)


def test_attention_wants_a_value_for_each_key(model: Make) -> None:
    nodes = [node("Attention", ["q", "k", "v"], ["y"], q_num_heads=2, kv_num_heads=1)]
    inputs = {"q": ("f32", ["b", "n", 8]), "k": ("f32", ["b", "m", 4]), "v": ("f32", ["b", "t", 4])}
    found = compiled(model(nodes, inputs, ["y"], opset=23), dims=dict.fromkeys("bnmt", (0, 5)))
    q, k, v = floats(1, 2, 8), floats(1, 3, 4), floats(1, 3, 4)
    rows = q.reshape(2, 2, 4) @ k[0].T / 2
    weights = np.exp(rows) / np.exp(rows).sum(-1, keepdims=True)
    wanted = (weights @ v[0]).reshape(1, 2, 8)
    np.testing.assert_allclose(found.run([q, k, v])[0], wanted, rtol=1e-4, atol=1e-5)
    for rows_of_k in (0, 1, 2):
        with pytest.raises(gv.GravureError, match="along axis 1"):
            found.run([q, k[:, :rows_of_k], v])
    fixed = {"q": ("f32", [1, 2, 8]), "k": ("f32", [1, 1, 4]), "v": ("f32", [1, 3, 4])}
    with pytest.raises(gv.GravureError, match="Attention"):
        compiled(model(nodes, fixed, ["y"], opset=23))
