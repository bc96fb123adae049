"""Axes that are data, and axes that must have one element, beside onnxruntime and numpy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

import gravure as gv
from gravure.errors import RuntimeInputError
from gravure.frontend.models.reducing import _layout
from gravure.frontend.programs.load import load_program
from gravure.ir import interpret
from gravure.ir.ops.host.along import ReduceAlong, axes_from
from gravure.runtime.tracing import Trace, listening

node = helper.make_node
Make = Callable[..., onnx.ModelProto]
STATES = onnxruntime.capi.onnxruntime_pybind11_state
REFUSALS = (STATES.RuntimeException, STATES.Fail, STATES.InvalidArgument)
Feeds = Mapping[str, np.ndarray]
OPEN = ("f32", ["n", "m", 3])
DIMS = {"n": (1, 16), "m": (1, 16), "k": (1, 16)}


def check(made: onnx.ModelProto, cases: Iterator[Feeds]) -> None:
    """Compare the compiled and the interpreted model with onnxruntime, also where it refuses."""
    data = made.SerializeToString()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    peer = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    named = {d.dim_param for i in made.graph.input for d in i.type.tensor_type.shape.dim}
    dims = {name: sizes for name, sizes in DIMS.items() if name in named}
    compiled = gv.compile(data, dims=dims)
    program = load_program(data, dims=dims)
    runs = 0
    for feeds in cases:
        inputs = [feeds[each.name] for each in made.graph.input]
        try:
            wanted = peer.run(None, dict(feeds))
        except REFUSALS:
            wanted = None
        for run in (compiled.run, lambda x: interpret(program, x)):
            if wanted is None:
                with pytest.raises(RuntimeInputError):
                    run(inputs)
                continue
            for found, expected in zip(run(inputs), wanted, strict=True):
                assert found.dtype == expected.dtype
                assert found.shape == expected.shape
                np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
                runs += 1
    assert runs


def image(random: np.random.Generator, *shape: int) -> np.ndarray:
    return random.standard_normal(shape).astype(np.float32)


def two_axes(random: np.random.Generator) -> np.ndarray:
    """Return two different axes of three, either way of counting."""
    axes = random.permutation(3)[:2]
    return np.where(random.random(2) < 0.5, axes, axes - 3)


@pytest.mark.parametrize("dtype", ["i64", "i32"])
@pytest.mark.parametrize("stepped", [False, True])
def test_slices_along_axes_that_are_data(model: Make, dtype: str, stepped: bool) -> None:
    random, kind = np.random.default_rng(1), {"i64": np.int64, "i32": np.int32}[dtype]
    names = ["s", "e", "a", *["t"] * stepped]
    made = model(
        [node("Slice", ["x", *names], ["y"])],
        {"x": OPEN, **{name: (dtype, [2]) for name in names}}, ["y"],
    )  # fmt: skip

    def cases() -> Iterator[Feeds]:
        for _ in range(40):
            bounds = {name: random.integers(-6, 7, 2).astype(kind) for name in ("s", "e")}
            steps = random.choice([-2, -1, 1, 3], 2).astype(kind)
            axes = two_axes(random).astype(kind)
            x = image(random, 5, 4, 3)
            yield {"x": x, **bounds, "a": axes, **({"t": steps} if stepped else {})}

    check(made, cases())


def test_as_many_axes_are_cut_as_a_run_says(model: Make) -> None:
    random = np.random.default_rng(2)
    three = {name: ("i64", ["k"]) for name in "sea"}
    made = model([node("Slice", ["x", "s", "e", "a"], ["y"])], {"x": OPEN, **three}, ["y"])

    def cases() -> Iterator[Feeds]:
        for count in (1, 2, 3, 1):
            starts, ends = (random.integers(-6, 7, count) for _ in range(2))
            axes = random.permutation([0, 1, -1])[:count]
            yield {"x": image(random, 5, 4, 3), "s": starts, "e": ends, "a": axes}

    check(made, cases())


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_pads_along_axes_that_are_data(model: Make, mode: str) -> None:
    random = np.random.default_rng(3)
    inputs = {"x": OPEN, "p": ("i64", [4]), "v": ("f32", []), "a": ("i64", [2])}
    made = model([node("Pad", ["x", "p", "v", "a"], ["y"], mode=mode)], inputs, ["y"], opset=19)

    def cases() -> Iterator[Feeds]:
        for _ in range(20):
            pads = random.integers(-1 if mode == "constant" else 0, 3, 4)
            axes = two_axes(random)
            yield {"x": image(random, 5, 4, 3), "p": pads, "v": image(random), "a": axes}

    check(made, cases())


def test_axes_that_are_data_are_dropped_and_put_in(model: Make) -> None:
    random = np.random.default_rng(4)
    inputs = {"x": ("f32", ["n", "m", "k"]), "a": ("i64", [2])}

    def dropped() -> Iterator[Feeds]:
        for trial in range(20):
            shape, axes = random.integers(2, 5, 3), two_axes(random)
            shape[axes] = 1
            shape[0] += trial == 7  # which is refused where the axis is one to be dropped
            yield {"x": image(random, *shape), "a": axes}

    check(model([node("Squeeze", ["x", "a"], ["y"])], inputs, ["y"]), dropped())

    def put_in() -> Iterator[Feeds]:
        for _ in range(20):
            axes = random.permutation(5)[:2] - random.integers(0, 2) * 5
            yield {"x": image(random, 2, 3, 4), "a": axes}

    check(model([node("Unsqueeze", ["x", "a"], ["y"])], inputs, ["y"]), put_in())


def test_an_axis_that_has_one_element_in_the_runs_that_come(model: Make) -> None:
    """Its range has other sizes, too: the model was refused."""
    random = np.random.default_rng(5)
    inputs = {"x": ("f32", ["n", "m"]), "z": ("f32", ["m"])}
    nodes = [node("Squeeze", ["x", "a"], ["q"]), node("Add", ["q", "z"], ["y"])]
    made = model(nodes, inputs, ["y"], {"a": np.int64([0])})
    sizes = ((1, 4), (1, 1), (2, 3), (1, 9))
    check(made, ({"x": image(random, n, m), "z": image(random, m)} for n, m in sizes))


@pytest.mark.parametrize("axes", [[0, 0], [0, -3], [3, 0], [0, -4]])
@pytest.mark.parametrize("kind", ["Slice", "Squeeze", "Pad", "ReduceSum"])
def test_axes_that_are_none_or_come_twice(model: Make, kind: str, axes: list[int]) -> None:
    given = {"Slice": ["s", "e", "a"], "Squeeze": ["a"], "Pad": ["p", "", "a"], "ReduceSum": ["a"]}
    inputs: dict[str, Any] = {"x": OPEN, "a": ("i64", [2])}
    inputs |= {name: ("i64", [2]) for name in "se"} if kind == "Slice" else {}
    inputs |= {"p": ("i64", [4])} if kind == "Pad" else {}
    made = model([node(kind, ["x", *given[kind]], ["y"])], inputs, ["y"], opset=18)
    compiled = gv.compile(made.SerializeToString(), dims={"n": (1, 16), "m": (1, 16)})
    feeds = {"x": np.ones((1, 1, 3), "f4"), "s": np.int64([0, 0]), "e": np.int64([1, 1])}
    feeds |= {"p": np.int64([1, 1, 1, 1]), "a": np.int64(axes)}
    with pytest.raises(RuntimeInputError, match="expected different ones"):
        compiled.run({name: feeds[name] for name in inputs})


def test_numbers_for_other_axes_than_there_are(model: Make) -> None:
    three = {"s": ("i64", ["k"]), "e": ("i64", ["k"]), "a": ("i64", [2])}
    made = model([node("Slice", ["x", "s", "e", "a"], ["y"])], {"x": OPEN, **three}, ["y"])
    compiled = gv.compile(made.SerializeToString(), dims=DIMS)
    feeds = {"x": np.ones((2, 2, 3), "f4"), "a": np.int64([0, 1])}
    with pytest.raises(RuntimeInputError, match="2, 3, 3, 2 numbers, expected as many of each"):
        compiled.run({**feeds, "s": np.int64([0, 0, 0]), "e": np.int64([1, 1, 1])})


SUMS = ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSumExp")


@pytest.mark.parametrize("kind", SUMS)
@pytest.mark.parametrize("keep", [0, 1])
def test_reductions_along_axes_that_are_data(model: Make, kind: str, keep: int) -> None:
    random = np.random.default_rng(6)
    inputs = {"x": ("f32", ["n", "m", 3, "k"]), "a": ("i64", [2])}
    made = model([node(f"Reduce{kind}", ["x", "a"], ["y"], keepdims=keep)], inputs, ["y"], opset=18)

    def cases() -> Iterator[Feeds]:
        for _ in range(20):
            shape = (*random.integers(1, 5, 2), 3, random.choice([1, 2, 9, 12]))
            axes = random.permutation(4)[:2]
            yield {"x": image(random, *shape), "a": axes - 4 * random.integers(0, 2)}

    check(made, cases())


@pytest.mark.parametrize("kind", ["Sum", "Mean", "Max", "L1", "SumSquare"])
def test_whole_numbers_along_axes_that_are_data(model: Make, kind: str) -> None:
    random = np.random.default_rng(7)
    inputs = {"x": ("i32", ["n", "m", 3]), "a": ("i64", [1])}
    made = model([node(f"Reduce{kind}", ["x", "a"], ["y"])], inputs, ["y"], opset=18)

    def cases() -> Iterator[Feeds]:
        for axis in (0, 1, 2, -1, -3):
            x = random.integers(-9, 9, (4, 5, 3)).astype(np.int32)
            yield {"x": x, "a": np.int64([axis])}

    check(made, cases())


@pytest.mark.parametrize("stays", [0, 1])
def test_no_axes_are_all_or_none(model: Make, stays: int) -> None:
    inputs = {"x": ("f32", ["n", "m"]), "a": ("i64", ["k"])}
    rules = {"noop_with_empty_axes": stays}
    made = model([node("ReduceSum", ["x", "a"], ["y"], **rules)], inputs, ["y"])
    compiled = gv.compile(made.SerializeToString(), dims={**DIMS, "k": (0, 2)})
    x = image(np.random.default_rng(8), 3, 4)
    for axes in ([], [0], [0, 1]):
        (found,) = compiled.run({"x": x, "a": np.array(axes, np.int64)})
        over = tuple(axes) if axes or stays else (0, 1)
        np.testing.assert_allclose(found, x.sum(over, keepdims=True), rtol=1e-5)


def test_axes_beside_each_other_are_reduced_where_they_lie() -> None:
    """They were moved last, which copied the tensor: four to nine times onnxruntime's time."""

    def layout(shape: tuple[int, ...], *axes: int) -> Any:
        return _layout(shape, axes, keep=False, none=False)

    assert layout((8, 64, 32), 1) == (None, (8, 64, 32), (8, 32))
    assert layout((8, 64, 32), 1, 0) == (None, (1, 512, 32), (32,))
    assert layout((8, 64, 32), -1) == (None, (512, 32), (8, 64))
    assert layout((8, 64, 2), 1) == ((0, 2, 1), (16, 64), (8, 2))
    assert layout((8, 64, 32), 0, 2) == ((1, 0, 2), (64, 256), (64,))
    assert layout((8, 0, 32), 0) is None


def test_a_watched_run_has_the_same_bits(model: Make) -> None:
    inputs = {"x": ("f32", ["n", "m"]), "a": ("i64", [1])}
    made = model([node("ReduceSum", ["x", "a"], ["y"])], inputs, ["y"])
    compiled = gv.compile(made.SerializeToString(), dims={"n": (1, 999), "m": (1, 999)})
    x = image(np.random.default_rng(9), 400, 300)
    for axis in (0, 1):
        feeds = {"x": x, "a": np.int64([axis])}
        (alone,) = compiled.run(feeds)
        with listening(Trace()):
            (watched,) = compiled.run(feeds)
        assert alone.tobytes() == watched.tobytes()


def test_reductions_of_kinds_and_types_that_are_none() -> None:
    assert axes_from((1, -3), 3) == (1, 0)
    made = ReduceAlong.evaluate(np.float32([[1, 2]]), np.int64([1]), kind="sum", keep=True,
                                none=False)  # fmt: skip
    assert made[0].tolist() == [[3.0]]
    empty = ReduceAlong.evaluate(np.empty((0, 2), "f4"), np.int64([0]), kind="max", keep=False,
                                 none=False)  # fmt: skip
    assert empty[0].tolist() == [-np.inf] * 2


def test_what_is_the_same_in_each_run_is_computed_once_and_stays(model: Make) -> None:
    """The piece was run again each time; what a view of its result shares is not handed out."""
    nodes = [
        node("ConstantOfShape", ["c"], ["zeros"]),
        node("Reshape", ["zeros", "s"], ["y"]),
        node("Slice", ["x", "b", "e"], ["z"]),
    ]
    inputs = {"x": ("f32", ["n"]), "s": ("i64", [2]), "b": ("i64", [1]), "e": ("i64", [1])}
    made = model(nodes, inputs, ["y", "z"], {"c": np.int64([6])})
    compiled = gv.compile(made.SerializeToString(), dims={"n": (1, 16)})
    feeds = {"x": np.arange(9, dtype="f4"), "s": np.int64([2, 3]), "b": np.int64([1])}
    feeds["e"] = np.int64([4])
    first, cut = compiled.run(feeds)
    first[...], cut[...] = 7, 7
    again, part = compiled.run(feeds)
    assert again.tolist() == [[0.0] * 3] * 2
    assert part.tolist() == [1.0, 2.0, 3.0]
    assert not np.shares_memory(again, compiled.run(feeds)[0])
    assert all(piece.is_constant for piece in compiled.pieces.values())
    for piece in compiled.pieces.values():
        piece.run = lambda _: pytest.fail("a piece that is the same in each run was run again")
    compiled.run(feeds)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_pads_that_take_away_more_than_there_is_are_refused(model: Make, mode: str) -> None:
    types = {"x": ("f32", ["n"]), "p": ("i64", [2]), "a": ("i64", [1])}
    made = model([node("Pad", ["x", "p", "", "a"], ["y"], mode=mode)], types, ["y"], opset=18)
    x, axes = np.arange(3, dtype=np.float32), np.array([0])
    pads = [(-1, -1), (-2, -2), (-4, 0), (-1, 0), (0, -5)]
    check(made, iter([{"x": x, "p": np.array(each), "a": axes} for each in pads]))
