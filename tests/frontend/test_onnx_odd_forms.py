"""Forms of operators that few models have, beside onnxruntime: fixed and open, run, bound, saved.

What a random search over operators, attributes and operator sets has found.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

import gravure as gv
from gravure.errors import GraphError, RequirementError, RuntimeInputError
from gravure.frontend.models.several import SeveralModel
from gravure.frontend.programs.load import load_program
from gravure.ir import interpret

node, info = helper.make_node, helper.make_tensor_value_info
Make = Callable[..., onnx.ModelProto]
RANDOM = np.random.default_rng(0)
pytestmark = pytest.mark.filterwarnings("ignore:.*a model is compiled for each new number")


def image(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def check(made: onnx.ModelProto, *cases: Mapping[str, Any], **dims: Any) -> Any:
    """Compare a model that is run, bound and saved with onnxruntime."""
    data = made.SerializeToString()
    peer = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    compiled: Any = gv.compile(data, dims=dims)
    ways: list[Any] = [compiled.run, lambda feeds: compiled.bind(feeds)()]
    if type(compiled).__name__ == "CompiledModel":
        with tempfile.TemporaryDirectory() as folder:
            compiled.save(f"{folder}/model.so")
            ways.append(gv.load(f"{folder}/model.so").run)
    for case in cases:
        feeds = {name: np.asarray(x) for name, x in case.items()}
        wanted = peer.run(None, feeds)
        for way in ways:
            for found, expected in zip(way(feeds), wanted, strict=True):
                assert found.dtype == expected.dtype
                assert found.shape == expected.shape
                np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    return compiled


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
def test_padding_that_repeats_takes_no_number(model: Make, mode: str) -> None:
    """A number that came as data was put there."""
    inputs = {"x": ("f32", ["n"]), "v": ("f32", [])}
    nodes = [node("Pad", ["x", "p", "v"], ["y"], mode=mode)]
    made = model(nodes, inputs, ["y"], {"p": np.int64([1, 2])}, opset=19)
    check(made, {"x": image(5), "v": np.float32(7)}, {"x": image(3), "v": np.float32(7)}, n=(3, 8))


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
def test_rows_of_a_few_elements_are_repeated_at_open_ends(model: Make, mode: str) -> None:
    pads = {"p": np.int64([0, 1, 1, 0, 0, 1, 1, 0])}
    inputs = {"x": ("f32", ["b", "h", "w", 3])}
    made = model([node("Pad", ["x", "p"], ["y"], mode=mode)], inputs, ["y"], pads, opset=19)
    least = 2 if mode == "reflect" else 1
    shapes = [(1, least, least, 3), (2, 3, 4, 3), (1, 5, 9, 3)]
    check(made, *({"x": image(*shape)} for shape in shapes), b=(1, 4), h=(1, 16), w=(1, 16))


@pytest.mark.filterwarnings("ignore:.*fit no model of open sizes")
def test_a_size_in_a_shape_that_is_none_keeps_another_one(model: Make) -> None:
    """As a number that is stored does; `Shape` of the other axis is not 0 for all else."""
    nodes = [
        node("Shape", ["x"], ["s"], start=1), node("Concat", ["s", "rest"], ["t"], axis=0),
        node("Reshape", ["x", "t"], ["y"]),
    ]  # fmt: skip
    made = model(nodes, {"x": ("f32", ["n", "m"])}, ["y"], {"rest": np.int64([-1])}, opset=20)
    data = made.SerializeToString()
    compiled = gv.compile(data, dims={"n": (0, 8), "m": (0, 8)})
    for rows, columns, wanted in ((3, 4, (4, 3)), (0, 4, (4, 0)), (3, 0, (3, 0)), (1, 2, (2, 1))):
        x = image(rows, columns)
        (found,) = compiled.run({"x": x})
        np.testing.assert_array_equal(found, x.reshape(wanted))
    with tempfile.TemporaryDirectory() as folder:
        compiled.save(f"{folder}/model.so")
        with pytest.raises(RuntimeInputError, match="stop 1, expected 0 to m"):
            gv.load(f"{folder}/model.so").run({"x": image(3, 0)})


def test_whole_numbers_that_no_float_is_are_put_around(model: Make) -> None:
    made = model([node("Pad", ["x", "p", "v"], ["y"])], {"x": ("i64", [3])}, ["y"],
                 {"p": np.int64([1, -1]), "v": np.int64((1 << 60) + 1)})  # fmt: skip
    check(made, {"x": np.arange(3)})


def test_simple_resizing_by_factors_that_are_data(model: Make) -> None:
    for mode, kind, opset in (("nearest", "Resize", 10), ("linear", "Resize", 10)):
        nodes = [node(kind, ["x", "s"], ["y"], mode=mode)]
        inputs = {"x": ("f32", [1, 2, "h", "w"]), "s": ("f32", [4])}
        rows = [(0.5, 2), (2, 2), (0.7, 0.5), (1, 1.5), (3, 0.4)]
        made = model(nodes, inputs, ["y"], opset=opset)
        cases = [{"x": image(1, 2, 6, 5), "s": np.float32([1, 1, a, b])} for a, b in rows]
        check(made, *cases, h=(1, 8), w=(1, 8))


@pytest.mark.parametrize("functions", [["Sigmoid", "Tanh", "Tanh"], ["Tanh", "Tanh", "Softsign"]])
@pytest.mark.parametrize("coupled", [0, 1])
def test_clipped_gates_leave_the_cell_as_it_is(
    model: Make, functions: Sequence[str], coupled: int
) -> None:
    """What a cell shows was clipped too."""
    weights = {"w": image(1, 8, 3), "r": image(1, 8, 2), "c": 3 * image(1, 2, 2)}
    rules: Any = {"activations": functions, "clip": 0.7, "hidden_size": 2, "input_forget": coupled}
    lstm = node("LSTM", ["x", "w", "r", "", "", "", "c"], ["y", "h", "e"], **rules)
    made = model([lstm], {"x": ("f32", ["t", 2, 3])}, ["y", "h", "e"], weights)
    check(made, {"x": image(1, 2, 3)}, {"x": image(4, 2, 3)}, t=(1, 5))


@pytest.mark.parametrize("kind", ["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"])
def test_classes_are_counted_from_the_end_too(model: Make, kind: str) -> None:
    inputs = {"x": ("f32", ["n", 3]), "t": ("i64", ["n"])}
    made = model([node(kind, ["x", "t"], ["y"], reduction="none")], inputs, ["y"], opset=13)
    check(made, {"x": image(2, 3), "t": [-1, 0]}, {"x": image(3, 3), "t": [-3, 1, 2]}, n=(1, 4))
    compiled = gv.compile(made.SerializeToString(), dims={"n": (1, 4)})
    for wrong in (-4, 3):
        with pytest.raises(RequirementError, match=r"is not in \[-3, 3\)"):
            compiled.run({"x": image(1, 3), "t": np.int64([wrong])})


def test_an_axis_that_is_none_in_a_branch_that_is_not_taken(model: Make) -> None:
    sums = helper.make_graph([node("CumSum", ["x", "a"], ["s"])], "then", [], [info("s", 1, None)])
    plain = helper.make_graph([node("Relu", ["x"], ["r"])], "else", [], [info("r", 1, None)])
    choice = node("If", ["c"], ["y"], then_branch=sums, else_branch=plain)
    inputs = {"x": ("f32", [2, 3]), "c": ("bool", [])}
    made = model([choice], inputs, ["y"], {"a": np.array(2)})
    compiled = check(made, {"x": image(2, 3), "c": False})
    with pytest.raises(RequirementError, match=r"axis = 2 is not in \[-2, 2\)"):
        compiled.run({"x": image(2, 3), "c": np.array(True)})
    outside = model([node("CumSum", ["x", "a"], ["y"])], {"x": ("f32", [2, 3])}, ["y"], {"a": 2})
    with pytest.raises(GraphError, match="axis 2 is out of range"):
        load_program(outside.SerializeToString())


def test_parts_that_are_data_fill_the_axis(model: Make) -> None:
    """The interpreter took the last one for the first."""
    inputs = {"x": ("f32", [4]), "s": ("i64", [2])}
    made = model([node("Split", ["x", "s"], ["y", "z"], axis=0)], inputs, ["y", "z"])
    check(made, {"x": image(4), "s": [3, 1]}, {"x": image(4), "s": [0, 4]})
    program = load_program(made.SerializeToString())
    assert [len(x) for x in interpret(program, [image(4), np.int64([1, 3])])] == [1, 3]
    for wrong in ([3, 3], [1, 1]):
        with pytest.raises(RuntimeInputError, match="expected"):
            interpret(program, [image(4), np.int64(wrong)])


def test_determinants_of_open_sizes_are_a_model_for_each(model: Make) -> None:
    made = model([node("Det", ["x"], ["y"])], {"x": ("f32", [2, "n", "n"])}, ["y"], opset=11)
    cases = [{"x": image(2, n, n)} for n in (1, 3, 2)]
    assert isinstance(check(made, *cases, n=(1, 4)), SeveralModel)


@pytest.mark.parametrize("kind", ["Conv", "ConvTranspose"])
def test_channels_are_as_many_as_the_weights_have(model: Make, kind: str) -> None:
    rules = {"group": 2} if kind == "Conv" else {}
    weights = {"w": image(4, 2, 3)}
    made = model(
        [node(kind, ["x", "w"], ["y"], **rules)], {"x": ("f32", [1, "c", 7])}, ["y"], weights
    )
    check(made, {"x": image(1, 4, 7)})
    with pytest.raises(GraphError, match="dimension 'c' has to be 4"):
        gv.compile(made.SerializeToString(), dims={"c": (1, 8)})


def test_a_size_in_a_sum_is_the_number_that_parts_need(model: Make) -> None:
    nodes = [node("Concat", ["x", "o"], ["a"], axis=0), node("Split", ["a", "s"], ["y", "z"])]
    constants = {"o": image(1, 2), "s": np.int64([2, 2])}
    made = model(nodes, {"x": ("f32", ["n", 2])}, ["y", "z"], constants)
    check(made, {"x": image(3, 2)})


@pytest.mark.parametrize("parts", [1, 2])
def test_transforms_of_numbers_with_as_many_parts_as_a_run_says(model: Make, parts: int) -> None:
    """The imaginary part was left out where the axis of the parts was open."""
    inputs = {"x": ("f32", ["n", 4, "p"])}
    made = model([node("DFT", ["x"], ["y"], axis=1)], inputs, ["y"], opset=17)
    cases = [{"x": image(n, 4, parts)} for n in (2, 3)]
    assert isinstance(check(made, *cases, n=(1, 4), p=(1, 2)), SeveralModel)


def test_a_state_of_a_scan_has_the_shape_of_what_a_trip_gives(model: Make) -> None:
    """Where the trip's own sizes are others the size is that number."""
    body = helper.make_graph(
        [node("Add", ["s", "x"], ["o"]), node("Mul", ["o", "o"], ["p"])], "body",
        [info("s", 1, [2]), info("x", 1, [2])], [info("o", 1, [2]), info("p", 1, [2])],
    )  # fmt: skip
    scan = node("Scan", ["i", "x"], ["o", "p"], num_scan_inputs=1, body=body)
    inputs = {"i": ("f32", ["m"]), "x": ("f32", ["t", 2])}
    made = model([scan], inputs, ["o", "p"])
    check(made, {"i": image(2), "x": image(3, 2)}, t=(1, 4))
    with pytest.raises(GraphError, match="dimension 'm' has to be 2"):
        gv.compile(made.SerializeToString(), dims={"m": (1, 4), "t": (1, 4)})


def test_a_size_that_decides_inside_of_a_loop(model: Make) -> None:
    body = helper.make_graph(
        [node("ConstantOfShape", ["s"], ["c"]), node("Size", ["c"], ["z"]),
         node("Cast", ["z"], ["f"], to=1), node("Add", ["a", "f"], ["b"]),
         node("Identity", ["g"], ["h"])], "body",
        [info("i", 7, []), info("g", 9, []), info("a", 1, [])],
        [info("h", 9, []), info("b", 1, [])],
    )  # fmt: skip
    inputs = {"n": ("i64", []), "x": ("f32", []), "s": ("i64", ["k"])}
    made = model([node("Loop", ["n", "", "x"], ["y"], body=body)], inputs, ["y"])
    cases = [{"n": 3, "x": np.float32(1), "s": shape} for shape in ([2, 3], [4], [1, 2, 3])]
    with pytest.warns(gv.PerformanceWarning, match="k decides about ranks or weights") as told:
        compiled = check(made, *cases, k=(1, 4))
    assert isinstance(compiled, SeveralModel)
    assert len(told) == 1, "it is said once"
    assert "ConstantOfShape" in str(told[0].message)
    assert "s for k = 3" in str(told[0].message)


def test_places_of_extremes_of_what_has_no_elements(model: Make) -> None:
    made = model([node("ArgMax", ["x"], ["y"], axis=1)], {"x": ("f32", [4, 0, 0])}, ["y"])
    check(made, {"x": image(4, 0, 0)})


def test_points_of_as_many_indices_as_a_run_says(model: Make) -> None:
    """What is taken has another rank for each number, and what is put there has."""
    inputs = {"x": ("f32", [3, 4, 5]), "i": ("i64", ["n", "k"])}
    taken = model([node("GatherND", ["x", "i"], ["y"])], inputs, ["y"])
    places = {k: RANDOM.integers(0, 3, (n, k)) for n, k in ((2, 1), (4, 3), (3, 2))}
    cases = [{"x": image(3, 4, 5), "i": points} for points in places.values()]
    assert isinstance(check(taken, *cases, n=(1, 4), k=(1, 3)), SeveralModel)
    nodes = [node("GatherND", ["x", "i"], ["u"]), node("Neg", ["u"], ["v"]),
             node("ScatterND", ["x", "i", "v"], ["y"])]  # fmt: skip
    put = model(nodes, inputs, ["y"])
    cases = [{"x": image(3, 4, 5), "i": np.int64([[0] * k, [2] * k])} for k in (1, 3, 2)]
    check(put, *cases, n=(1, 4), k=(1, 3))


def test_heads_of_as_many_elements_as_a_run_says(model: Make) -> None:
    """What scores are divided by was refused."""
    rules: Any = {"domain": "com.microsoft", "num_heads": 2}
    attention = node("MultiHeadAttention", ["q", "k", "v"], ["y"], **rules)
    inputs = {name: ("f32", ["b", size, "w"]) for name, size in zip("qkv", "stt", strict=True)}
    made = model([attention], inputs, ["y"])
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    cases = [dict(zip("qkv", (image(2, 3, w), image(2, 4, w), image(2, 4, w)), strict=True))
             for w in (8, 16)]  # fmt: skip
    check(made, *cases, b=(1, 2), s=(1, 4), t=(1, 4), w=(2, 16))


HALF_WAY = [(6, 2.59), (3, 2.46), (6, 1.6), (4, 2.8), (8, 1.4), (16, 0.9), (18, 2.6), (12, 2.94)]


@pytest.mark.parametrize("nearest", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
@pytest.mark.parametrize("where", ["half_pixel_symmetric", "half_pixel"])
def test_places_half_way_between_two_elements_stay_so(
    model: Make, where: str, nearest: str
) -> None:
    """A shift in more digits than the quotient brought them, the middle too, to one side."""
    rules = {"coordinate_transformation_mode": where, "nearest_mode": nearest}
    for extent, factor in HALF_WAY:
        weights = {"s": np.float32([factor])}
        resized = node("Resize", ["x", "", "s"], ["y"], axes=[0], **rules)
        for dim in (extent, "n"):
            made = model([resized], {"x": ("f32", [dim])}, ["y"], weights, opset=19)
            bounds = {} if dim == extent else {"n": (2, 24)}
            check(made, {"x": np.arange(extent, dtype=np.float32)}, **bounds)


def test_factors_that_are_data_leave_places_half_way(model: Make) -> None:
    inputs = {"x": ("f32", ["n"]), "s": ("f32", [1])}
    rules = {"coordinate_transformation_mode": "half_pixel_symmetric", "axes": [0]}
    for nearest in ("round_prefer_ceil", "ceil"):
        resized = node("Resize", ["x", "", "s"], ["y"], nearest_mode=nearest, **rules)
        made = model([resized], inputs, ["y"], opset=19)
        cases = [{"x": np.arange(n, dtype=np.float32), "s": np.float32([s])} for n, s in HALF_WAY]
        check(made, *cases, n=(2, 24))


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize(("begin", "end", "extent", "size"), [
    (0.4, 1.0, 8, 17), (0.1, 1.0, 6, 19), (-0.1, 1.0, 18, 45), (0.3, 0.6, 6, 13), (0.1, 0.7, 6, 5),
])  # fmt: skip
def test_what_is_cropped_up_to_the_end_ends_inside(
    model: Make, mode: str, begin: float, end: float, extent: int, size: int
) -> None:
    """In more digits than onnxruntime's the last place lay beyond the image, where the fill is."""
    rules = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 99.0}
    weights = {"r": np.float32([0, begin, 1, end]), "z": np.int64([2, size])}
    for nearest in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
        resized = node(
            "Resize", ["x", "r", "", "z"], ["y"], mode=mode, nearest_mode=nearest, **rules
        )
        made = model([resized], {"x": ("f32", [2, extent])}, ["y"], weights, opset=19)
        check(made, {"x": np.arange(2 * extent, dtype=np.float32).reshape(2, -1)})


@pytest.mark.parametrize("bias", [(4, 4), (1, 2)])
def test_a_bias_is_no_larger_than_the_product(model: Make, bias: tuple[int, ...]) -> None:
    """The product was repeated to that shape, which onnxruntime refuses too."""
    weights = {"w": image(3, 1 if bias[1] == 2 else 4), "c": image(*bias)}
    made = model([node("Gemm", ["x", "w", "c"], ["y"])], {"x": ("f32", [1, 3])}, ["y"], weights)
    with pytest.raises(GraphError, match=r"a bias of \d elements along an axis"):
        gv.compile(made.SerializeToString())
