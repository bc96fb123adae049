"""What depends on sizes that are not known until a run, beside onnxruntime at several of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

import gravure as gv
from gravure.frontend.models.compiled import CompiledModel
from gravure.frontend.programs.load import load_program
from gravure.ir.program import result_specs

node = helper.make_node
Make = Callable[..., onnx.ModelProto]
RANDOM = np.random.default_rng(0)
OPEN = {"x": ("f32", ["n", 3, "h", "w"])}
SIZES = ((1, 5, 6), (2, 8, 7), (3, 3, 9), (1, 10, 10))
RANGES = {"n": (1, 4), "h": (2, 12), "w": (2, 12)}


def check(made: onnx.ModelProto, tried: Sequence[tuple[int, int, int]] = SIZES) -> None:
    """Compare one compiled model with onnxruntime at several sizes."""
    data = made.SerializeToString()
    peer = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    named = {d.dim_param for d in made.graph.input[0].type.tensor_type.shape.dim}
    dims = {name: sizes for name, sizes in RANGES.items() if name in named}
    compiled = gv.compile(data, dims=dims, level="O1")
    assert isinstance(compiled, CompiledModel)
    for n, h, w in tried:
        x = RANDOM.standard_normal((n, 3, h, w)).astype(np.float32)
        (wanted,), (found,) = peer.run(None, {"x": x}), compiled.run({"x": x})
        assert np.asarray(found).shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize(("kernel", "stride"), [(3, 2), (1, 2), (2, 3), (4, 3)])
def test_windows_that_fit_as_often_as_strides_had_no_pads_of_an_open_size(
    model: Make, mode: str, kernel: int, stride: int
) -> None:
    more = {"auto_pad": mode, "strides": [stride, 1]}
    weights = RANDOM.standard_normal((4, 3, kernel, kernel)).astype(np.float32)
    check(model([node("Conv", ["x", "w"], ["y"], **more)], OPEN, ["y"], {"w": weights}))
    if kernel < stride:  # which onnxruntime does not pool
        return
    more["kernel_shape"] = [kernel, kernel]
    for kind in ("MaxPool", "AveragePool", "LpPool"):
        check(model([node(kind, ["x"], ["y"], **more)], OPEN, ["y"]))
    for rule in ("count_include_pad", "ceil_mode"):
        check(model([node("AveragePool", ["x"], ["y"], **{rule: 1}, **more)], OPEN, ["y"]))


def test_the_largest_of_windows_of_integers_is_above_their_pads(model: Make) -> None:
    pooled = node("MaxPool", ["q"], ["p"], kernel_shape=[3, 3], auto_pad="SAME_UPPER",
                  strides=[2, 2])  # fmt: skip
    nodes = [node("Cast", ["x"], ["q"], to=3), pooled, node("Cast", ["p"], ["y"], to=1)]
    check(model(nodes, OPEN, ["y"]))


def test_places_of_the_largest_with_pads_of_an_open_size_are_refused(model: Make) -> None:
    pooled = node("MaxPool", ["x"], ["y", "i"], kernel_shape=[3, 3], auto_pad="SAME_UPPER",
                  strides=[2, 2])  # fmt: skip
    made = model([pooled], OPEN, ["y", "i"])
    with pytest.raises(gv.GravureError, match="places of the largest, with an auto_pad"):
        gv.compile(made.SerializeToString(), dims=RANGES)


@pytest.mark.parametrize("factor", [0.5, 1.5, 0.25])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_open_sizes_are_resized_by_factors_that_are_no_integers(
    model: Make, factor: float, mode: str
) -> None:
    scales = np.float32([1, 1, factor, 2])
    for where in ("half_pixel", "asymmetric", "align_corners"):
        resized = node("Resize", ["x", "", "scales"], ["y"], mode=mode,
                       coordinate_transformation_mode=where)  # fmt: skip
        # where rounding makes the last element another, onnxruntime aligns that
        sizes = [each for each in SIZES if where != "align_corners" or each[1] * factor % 1 == 0]
        check(model([resized], OPEN, ["y"], {"scales": scales}), sizes)


@pytest.mark.parametrize(("size", "factor"), [(10, 0.7), (3, 5 / 3), (5, 0.6), (9, 7 / 9)])
def test_a_size_times_a_factor_was_one_too_small(
    model: Make, size: int, factor: float, same_as_onnxruntime: Any
) -> None:
    image = RANDOM.standard_normal((1, 1, size, size)).astype(np.float32)
    resized = node("Resize", ["x", "", "scales"], ["y"], mode="linear")
    scales = {"scales": np.float32([1, 1, factor, factor])}
    same_as_onnxruntime(model([resized], {"x": ("f32", image.shape)}, ["y"], scales), image)
    late = model([resized], {"x": ("f32", image.shape), "scales": ("f32", [4])}, ["y"])
    same_as_onnxruntime(late, image, scales["scales"])


@pytest.mark.parametrize("how", ["half_pixel", "asymmetric", "pytorch_half_pixel"])
@pytest.mark.parametrize(("size", "factor"), [(40, 3.3), (24, 1.1), (30, 0.3), (11, 2.7)])
def test_what_is_half_way_between_two_elements_is_there_in_32_bits(
    model: Make, how: str, size: int, factor: float, same_as_onnxruntime: Any
) -> None:
    image = np.arange(size * 2, dtype=np.float32).reshape(1, 1, 2, size)
    flags = {"mode": "nearest", "coordinate_transformation_mode": how}
    resized = node("Resize", ["x", "", "scales"], ["y"], **flags)
    scales = {"scales": np.float32([1, 1, 1, factor])}
    same_as_onnxruntime(model([resized], {"x": ("f32", image.shape)}, ["y"], scales), image)
    late = model([resized], {"x": ("f32", image.shape), "scales": ("f32", [4])}, ["y"])
    same_as_onnxruntime(late, image, scales["scales"])


def test_axes_that_stay_may_be_open_where_others_are_made_smaller_smoothly(model: Make) -> None:
    scales = {"scales": np.float32([1, 1, 0.5, 0.5])}
    resized = node("Resize", ["x", "", "scales"], ["y"], mode="linear", antialias=1)
    made = model([resized], {"x": ("f32", ["n", 3, 8, 10])}, ["y"], scales, opset=18)
    check(made, [(1, 8, 10), (3, 8, 10)])


WHERE = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric")


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize(("where", "exclude"), [(w, i % 2) for i, w in enumerate(WHERE)])
def test_open_sizes_are_made_smaller_smoothly_in_compiled_code(
    model: Make, mode: str, where: str, exclude: int
) -> None:
    rules = {"mode": mode, "coordinate_transformation_mode": where, "antialias": 1}
    rules |= {"exclude_outside": exclude, "axes": [2, 3]}
    to = {"sizes": np.int64([4, 5])}
    fixed = model(
        [node("Resize", ["x", "", "", "sizes"], ["y"], **rules)], OPEN, ["y"], to, opset=19
    )
    check(fixed, OPEN_SIZES)
    nodes = [
        node("Shape", ["x"], ["all"], start=2), node("Mul", ["all", "two"], ["more"]),
        node("Div", ["more", "five"], ["sizes"]),
        node("Resize", ["x", "", "", "sizes"], ["y"], **rules),
    ]  # fmt: skip
    by = {"two": np.int64([2, 7]), "five": np.int64([5, 5])}
    check(model(nodes, OPEN, ["y"], by, opset=19), OPEN_SIZES)
    if where == "align_corners":  # of which onnxruntime takes the size, not what it is made of
        return
    by = {"scales": np.float32([0.375, 1.5])}
    check(model([node("Resize", ["x", "", "scales"], ["y"], **rules)], OPEN, ["y"], by, opset=19))


OPEN_SIZES = ((2, 9, 7), (1, 3, 4), (1, 10, 12))


def test_long_axes_are_made_smaller_by_taps(model: Make) -> None:
    """By a matrix they took four times as long as in onnxruntime."""
    for size, others in ((100, (3, 400, 5)), (200, (1, 2000, 3))):
        rules = {"mode": "linear", "antialias": 1, "exclude_outside": 1, "axes": [2]}
        resized = node("Resize", ["x", "", "", "sizes"], ["y"], **rules)
        inputs = {"x": ("f32", [others[0], 3, *others[1:]])}
        made = model([resized], inputs, ["y"], {"sizes": np.int64([size])}, opset=18)
        check(made, [others])
        main = load_program(made.SerializeToString()).main
        assert not any(op.name == "gv.matmul" for op in main.walk())


def test_windows_of_one_element_fit_where_there_are_none(model: Make) -> None:
    """A sum over channels was refused in runs whose images have no rows."""
    given = {"begin": np.int64([2]), "end": np.int64([99]), "axis": np.int64([2])}
    nodes = [
        node("Slice", ["x", "begin", "end", "axis"], ["rest"]),
        node("LRN", ["rest"], ["y"], size=3),
    ]
    check(model(nodes, OPEN, ["y"], given), [(2, 4, 4), (2, 2, 4)])


def test_a_range_may_end_at_vectors_of_one(model: Make) -> None:
    ends = {"low": np.float32([-0.5]), "high": np.float32([0.5])}
    check(model([node("Clip", ["x", "low", "high"], ["y"])], OPEN, ["y"], ends))


def test_a_range_goes_in_steps_of_an_open_size(model: Make) -> None:
    """Where each row begins in all of them, one behind the other."""
    nodes = [
        node("Shape", ["x"], ["h"], start=2, end=3), node("Shape", ["x"], ["n"], start=0, end=1),
        node("Squeeze", ["h"], ["step"]), node("Mul", ["h", "n"], ["all"]),
        node("Squeeze", ["all"], ["end"]), node("Range", ["zero", "end", "step"], ["begins"]),
        node("Reshape", ["x", "flat"], ["row"]), node("Gather", ["row", "begins"], ["y"], axis=0),
    ]  # fmt: skip
    check(model(nodes, OPEN, ["y"], {"zero": np.int64(0), "flat": np.int64([-1])}))


def test_windows_of_a_signal_of_an_open_length(model: Make) -> None:
    turned = node("Reshape", ["x", "rows"], ["signal"])
    moved = node("STFT", ["signal", "step", "window"], ["y"])
    given = {"rows": np.int64([0, -1, 1]), "step": np.int64(3), "window": np.hanning(8)}
    made = model([turned, moved], OPEN, ["y"], {**given, "window": np.float32(given["window"])})
    check(made)


def test_what_is_halved_twice_is_what_is_divided_by_four(model: Make) -> None:
    """As torch's exporter writes a pyramid of features, which had to be multiples of four."""
    halved = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}
    nodes = [
        node("Conv", ["x", "w"], ["half"], **halved),
        node("Conv", ["half", "w"], ["quarter"], **halved),
        node("Conv", ["quarter", "w"], ["eighth"], **halved),
        node("Shape", ["x"], ["from"], start=2),
        node("Sub", ["from", "one"], ["less"]),
        node("Div", ["less", "four"], ["part"]),
        node("Add", ["part", "one"], ["size"]),
        node("Shape", ["x"], ["batch"], end=2),
        node("Concat", ["batch", "size"], ["sizes"], axis=0),
        node("Resize", ["eighth", "", "", "sizes"], ["large"], mode="nearest",
             coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
        node("Add", ["quarter", "large"], ["y"]),
    ]  # fmt: skip
    constants = {
        "w": RANDOM.standard_normal((3, 3, 3, 3)).astype(np.float32) / 5,
        "one": np.int64([1]), "four": np.int64([4]),
    }  # fmt: skip
    check(model(nodes, OPEN, ["y"], constants))


@pytest.mark.parametrize(("start", "end", "step"), [(-9, 9, 2), (-30, 20, 1), (20, -30, -1)])
def test_slices_beyond_the_largest_size_are_of_all(
    model: Make, start: int, end: int, step: int
) -> None:
    """What is never smaller or larger than an edge is the edge: two of them broadcast."""
    rows = {key: np.int64([n]) for key, n in zip("abde", (start, end, 0, step), strict=True)}
    cut = node("Slice", ["x", "a", "b", "d", "e"], ["part"])
    made = model([cut, node("Shape", ["part"], ["y"])], OPEN, ["y"], rows)
    (found,) = result_specs(load_program(made.SerializeToString(), dims=RANGES).main)
    assert found.dims == (4,)
    if abs(step) == 1:
        check(model([cut, node("Add", ["part", "x"], ["y"])], OPEN, ["y"], rows))


@pytest.mark.parametrize("shifts", [(1, 2), (2, 3, 4)])
def test_what_lacks_the_first_elements_is_as_long_as_what_lacks_the_last(
    model: Make, shifts: tuple[int, ...]
) -> None:
    """As volumes of costs shift one image against another: the width was taken for two."""
    nodes, rows = [], {"zero": np.int64([0]), "far": np.int64([1 << 62]), "across": np.int64([3])}
    for k in shifts:
        rows |= {f"k{k}": np.int64([k]), f"m{k}": np.int64([-k])}
        rows[f"p{k}"] = np.int64([0, 0, 0, k, 0, 0, 0, 0])
        nodes += [
            node("Slice", ["x", f"k{k}", "far", "across"], [f"a{k}"]),
            node("Slice", ["x", "zero", f"m{k}", "across"], [f"b{k}"]),
            node("Add", [f"a{k}", f"b{k}"], [f"c{k}"]),
            node("Pad", [f"c{k}", f"p{k}"], [f"d{k}"]),
        ]
    nodes.append(node("Concat", ["x", *(f"d{k}" for k in shifts)], ["y"], axis=1))
    made = model(nodes, {"x": ("f32", [1, 3, "H", "W"])}, ["y"], rows)
    found = gv.compile(made.SerializeToString(), dims={"H": (1, 8), "W": (1, 16)})
    plain = gv.compile(made.SerializeToString(), dims={"H": 5, "W": 9})
    x = RANDOM.standard_normal((1, 3, 5, 9)).astype(np.float32)
    np.testing.assert_array_equal(found(x), plain(x))


def test_sizes_that_windows_leave_are_at_least_one(model: Make) -> None:
    """As conformers shift scores of positions by a length that two convolutions leave."""
    halved = {"kernel_shape": [3], "strides": [2]}
    nodes = [
        node("Conv", ["x", "w"], ["half"], **halved), node("Conv", ["half", "w"], ["s"], **halved),
        node("Shape", ["s"], ["t"], start=2), node("Transpose", ["s"], ["turned"], perm=[0, 2, 1]),
        node("MatMul", ["turned", "s"], ["scores"]),
        node("Mul", ["t", "two"], ["tt"]), node("Sub", ["tt", "one"], ["most"]),
        node("Concat", ["scores", "scores"], ["wide"], axis=2),
        node("Concat", ["one", "tt", "t"], ["tall"], axis=0),
        node("Concat", ["one", "t", "most"], ["back"], axis=0),
        node("Reshape", ["wide", "tall"], ["long"]),
        node("Slice", ["long", "one", "far", "one"], ["less"]),
        node("Reshape", ["less", "back"], ["again"]),
        node("Slice", ["again", "zero", "t", "two"], ["front"]),
        node("Add", ["front", "scores"], ["y"]),
    ]  # fmt: skip
    rows = {"w": RANDOM.standard_normal((3, 3, 3)).astype(np.float32), "one": np.int64([1])}
    rows |= {"two": np.int64([2]), "far": np.int64([1 << 62]), "zero": np.int64([0])}
    made = model(nodes, {"x": ("f32", [1, 3, "T"])}, ["y"], rows)
    found = gv.compile(made.SerializeToString(), dims={"T": (1, 64)})
    for length in (7, 12, 41):
        x = RANDOM.standard_normal((1, 3, length)).astype(np.float32)
        plain = gv.compile(made.SerializeToString(), dims={"T": length})
        np.testing.assert_allclose(found(x), plain(x), rtol=1e-4, atol=1e-4)
    with pytest.raises(gv.GravureError):
        found(np.zeros((1, 3, 6), np.float32))


def cut_into_windows(size: int) -> list[onnx.NodeProto]:
    """Return what pads `x` to whole windows, multiplies these by `m`, and adds them to it."""
    sides = [
        step
        for side, axis in (("h", 2), ("w", 3))
        for step in (
            node("Shape", ["x"], [side], start=axis, end=axis + 1),
            node("Mod", [side, "size"], [f"{side}_rest"]),
            node("Sub", ["size", f"{side}_rest"], [f"{side}_lack"]),
            node("Mod", [f"{side}_lack", "size"], [f"{side}_more"]),
            node("Add", [side, f"{side}_more"], [f"{side}_all"]),
            node("Div", [f"{side}_all", "size"], [f"{side}_count"]),
        )
    ]
    pads = [*["zero"] * 6, "h_more", "w_more"]
    cut = ["n", "three", "h_count", "size", "w_count", "size"]
    windows = ["n", "h_count", "w_count", "three", "size", "size"]
    return [
        *sides,
        node("Shape", ["x"], ["n"], end=1),
        node("Concat", pads, ["pads"], axis=0),
        node("Pad", ["x", "pads"], ["p"]),
        node("Concat", cut, ["cut"], axis=0),
        node("Reshape", ["p", "cut"], ["r"]),
        node("Transpose", ["r"], ["t"], perm=[0, 2, 4, 1, 3, 5]),
        node("Mul", ["h_count", "w_count"], ["some"]),
        node("Mul", ["some", "n"], ["all"]),
        node("Concat", ["all", "three", "size", "size"], ["rows"], axis=0),
        node("Reshape", ["t", "rows"], ["each"]),
        node("MatMul", ["each", "m"], ["turned"]),
        node("Concat", windows, ["windows"], axis=0),
        node("Reshape", ["turned", "windows"], ["again"]),
        node("Transpose", ["again"], ["back"], perm=[0, 3, 1, 4, 2, 5]),
        node("Concat", ["n", "three", "h_all", "w_all"], ["whole"], axis=0),
        node("Reshape", ["back", "whole"], ["image"]),
        node("Concat", ["h", "w"], ["ends"], axis=0),
        node("Slice", ["image", "starts", "ends", "axes"], ["inside"]),
        node("Add", ["inside", "x"], ["y"]),
    ]


@pytest.mark.parametrize("size", [2, 3, 7])
def test_images_are_padded_to_whole_windows(model: Make, size: int) -> None:
    """As Swin does: what is padded to a multiple is seen to be one, and nothing is assumed."""
    rows = {"m": RANDOM.standard_normal((size, size)).astype(np.float32)}
    rows |= {"size": np.int64([size]), "zero": np.int64([0]), "three": np.int64([3])}
    rows |= {"starts": np.int64([0, 0]), "axes": np.int64([2, 3])}
    made = model(cut_into_windows(size), OPEN, ["y"], rows)
    program = load_program(made.SerializeToString())
    assert dict(program.ranges) == {"n": (1, None), "h": (1, None), "w": (1, None)}
    check(made, [*SIZES, (1, 2, 12)])


def test_sizes_of_what_is_cut_off_are_not_below_zero(model: Make) -> None:
    """As exporters write `expand`: each size is compared with -1, which means another."""
    rows = {"ends": np.int64([-7, -3]), "starts": np.int64([0, -7]), "axes": np.int64([2, 3])}
    rows |= {"minus": np.int64([-1] * 4), "ones": np.int64([1] * 4)}
    rows["v"] = np.ones((1, 1, 1, 1), np.float32)
    nodes = [
        node("Slice", ["x", "starts", "ends", "axes"], ["part"]),
        node("Shape", ["part"], ["shape"]),
        node("Equal", ["shape", "minus"], ["same"]),
        node("Where", ["same", "ones", "shape"], ["given"]),
        node("Expand", ["v", "given"], ["wide"]),
        node("Add", ["wide", "part"], ["y"]),
    ]
    made = model(nodes, OPEN, ["y"], rows)
    kept = [op.name for op in load_program(made.SerializeToString()).module.walk()]
    assert "gv.expand_to" not in kept
    check(made, [*SIZES, (1, 9, 12)])


def test_images_with_channels_last_are_resized_as_they_lie(model: Make) -> None:
    """tf2onnx turns them before and behind: both are left out, though resizing reads twice."""
    made = model(
        [
            node("Transpose", ["x"], ["front"], perm=[0, 3, 1, 2]),
            node("Resize", ["front", "", "twice"], ["large"], mode="linear"),
            node("Transpose", ["large"], ["y"], perm=[0, 2, 3, 1]),
        ],
        {"x": ("f32", ["N", 6, 5, 8])}, ["y"], {"twice": np.float32([1, 1, 2, 2])},
    )  # fmt: skip
    data = made.SerializeToString()
    found = gv.compile(data, dims={"N": (1, 4)})
    text = gv.ir.print_module(found.compiled.program.module)
    assert "gv.transpose" not in text
    x = np.random.default_rng(0).standard_normal((2, 6, 5, 8)).astype(np.float32)
    np.testing.assert_allclose(found(x), gv.compile(data, dims={"N": 2}, level="O0")(x), rtol=1e-6)


@pytest.mark.parametrize("equation", ["ii->i", "ibi->bi", "bii->b"])
def test_diagonals_are_taken_and_not_added_up(model: Make, equation: str) -> None:
    """All elements were looked at, and those beside the diagonal were added as zeros."""
    terms = equation.split("->", maxsplit=1)[0]
    made = model(
        [node("Einsum", ["x"], ["y"], equation=equation)],
        {"x": ("f32", [{"i": "N", "b": 3}[c] for c in terms])}, ["y"],
    )  # fmt: skip
    found = gv.compile(made.SerializeToString(), dims={"N": (1, 40)})
    text = gv.ir.print_module(found.compiled.program.module)
    assert "gv.select" not in text
    x = RANDOM.standard_normal([{"i": 7, "b": 3}[c] for c in terms]).astype(np.float32)
    np.testing.assert_allclose(found(x), np.einsum(equation, x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("onesided", [0, 1])
def test_transforms_back_take_any_number_of_rows(model: Make, onesided: int) -> None:
    """Only the points along the axis have to be known: other sizes were refused."""
    made = model(
        [node("DFT", ["x", "", "axis"], ["y"], inverse=1, onesided=onesided)],
        {"x": ("f32", ["N", 9, 4, 2])}, ["y"], {"axis": np.int64(1)}, opset=20,
    )  # fmt: skip
    found = gv.compile(made.SerializeToString(), dims={"N": (1, 9)})
    x = RANDOM.standard_normal((3, 9, 4, 2)).astype(np.float32)
    values = x[..., 0] + 1j * x[..., 1]
    wanted = np.fft.irfft(values, axis=1)[..., None] if onesided else np.fft.ifft(values, axis=1)
    got = found(x)
    parts = got if onesided else got[..., 0] + 1j * got[..., 1]
    np.testing.assert_allclose(parts, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize("more", [
    {"kernel_shape": [2, 3], "strides": [3, 3]},
    {"kernel_shape": [3, 2], "strides": [3, 4], "pads": [1, 0, 2, 1]},
    {"kernel_shape": [1, 1], "strides": [2, 5]},
])  # fmt: skip
def test_windows_that_may_begin_in_the_padding_are_left_out(
    model: Make, kind: str, more: dict[str, list[int]]
) -> None:
    """Rounding up was refused where strides are longer than what the last window must reach."""
    counted = [{}, {"count_include_pad": 1}] if kind == "AveragePool" else [{}]
    for rules in counted:
        pooled = node(kind, ["x"], ["y"], ceil_mode=1, **more, **rules)
        made = model([pooled], OPEN, ["y"], opset=19)
        check(made, [(1, h, w) for h, w in ((5, 7), (6, 8), (7, 9), (8, 10), (12, 6))])


@pytest.mark.parametrize("count", [2, 3, 4])
def test_open_axes_are_cut_into_parts_that_are_not_equal(model: Make, count: int) -> None:
    """Sizes that are no multiple were refused: the last parts are smaller since version 18."""
    parts = [f"part{i}" for i in range(count)]
    cut = node("Split", ["x"], parts, axis=2, num_outputs=count)
    made = model([cut, node("Concat", parts[::-1], ["y"], axis=2)], OPEN, ["y"], opset=18)
    check(made, [(1, h, 4) for h in (4, 6, 7, 8, 11, 12)])


def test_parts_that_are_multiplied_are_equal(model: Make) -> None:
    nodes = [
        node("Split", ["x"], ["a", "b"], axis=2, num_outputs=2),
        node("Sigmoid", ["b"], ["gate"]), node("Mul", ["a", "gate"], ["y"]),
    ]  # fmt: skip
    check(model(nodes, OPEN, ["y"], opset=18), [(1, 2, 4), (2, 8, 3)])


def test_sizes_that_exporters_wrote_down_are_those_numbers(model: Make) -> None:
    """A length that stands beside an open batch was refused: it can only be the one."""
    nodes = [
        node("Shape", ["x"], ["n"], start=0, end=1),
        node("Mul", ["n", "three"], ["rows"]),
        node("Concat", ["rows", "rest"], ["shape"], axis=0),
        node("Reshape", ["x", "shape"], ["y"]),
    ]
    constants = {"three": np.int64([3]), "rest": np.int64([5, 6])}
    made = model(nodes, {"x": ("f32", ["n", 3, "h", 6])}, ["y"], constants)
    found = gv.compile(made.SerializeToString(), dims={"n": (1, 4)}, level="O1")
    for n in (1, 3):
        x = RANDOM.standard_normal((n, 3, 5, 6)).astype(np.float32)
        np.testing.assert_array_equal(found(x), x.reshape(3 * n, 5, 6))
    with pytest.raises(gv.GravureError, match="5"):
        found(np.zeros((1, 3, 4, 6), np.float32))


def test_images_of_columns_are_as_many_as_fit(model: Make) -> None:
    made = model(
        [node("Col2Im", ["x", "size", "window"], ["y"])], {"x": ("f32", ["n", 12, "l"])}, ["y"],
        {"size": np.int64([5, 5]), "window": np.int64([2, 2])}, opset=18,
    )  # fmt: skip
    data = made.SerializeToString()
    x = RANDOM.standard_normal((2, 12, 16)).astype(np.float32)
    peer = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    found = gv.compile(data, dims={"n": (1, 3)}, level="O1")
    np.testing.assert_allclose(found(x), peer.run(None, {"x": x})[0], rtol=1e-5)


@pytest.mark.parametrize("aligned", [0, 1])
@pytest.mark.parametrize("rank", [2, 3])
def test_grids_of_one_image_have_its_batch(model: Make, rank: int, aligned: int) -> None:
    """The standard's function drops all axes of one element, the batch too: it was refused."""
    names = ["n", "c", "d", "h", "w"][-rank:]
    moved = node("AffineGrid", ["theta", "shape"], ["y"], align_corners=aligned)
    inputs = {"theta": ("f32", ["n", rank, rank + 1]), "x": ("f32", ["n", 1, *names])}
    made = model([node("Shape", ["x"], ["shape"]), moved], inputs, ["y"], opset=20)
    data = made.SerializeToString()
    peer = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    found = gv.compile(data, dims=dict.fromkeys(("n", *names), (1, 8)), level="O1")
    for n, sizes in ((1, (5, 2, 3)), (3, (2, 7, 4)), (2, (2, 2, 2))):
        feed = {
            "theta": RANDOM.standard_normal((n, rank, rank + 1)).astype(np.float32),
            "x": np.zeros((n, 1, *sizes[-rank:]), np.float32),
        }
        np.testing.assert_allclose(
            found.run(feed)[0], peer.run(None, feed)[0], rtol=1e-4, atol=1e-5
        )


@pytest.mark.parametrize(("factor", "compiles"), [(1.7, True), (0.3, True), (2.6, False)])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_open_sizes_times_factors_that_round_are_known_in_a_run(
    model: Make, mode: str, factor: float, compiles: bool
) -> None:
    """They were refused. 45 times 2.6 is 116 in 32 bits: no fraction says that of all sizes."""
    scales = {"scales": np.float32([1, 1, 1, factor])}
    made = model([node("Resize", ["x", "", "scales"], ["y"], mode=mode)], OPEN, ["y"], scales)
    data = made.SerializeToString()
    peer = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    found = gv.compile(data, dims={"n": 1, "h": (1, 8), "w": (4, 99)}, level="O1")
    assert compiles == ("host steps" not in repr(found))
    for w in (5, 7, 10, 45, 90):
        x = RANDOM.standard_normal((1, 3, 2, w)).astype(np.float32)
        np.testing.assert_allclose(found(x), peer.run(None, {"x": x})[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("more", [
    {}, {"onesided": 1}, {"inverse": 1}, {"inverse": 1, "onesided": 1},
])  # fmt: skip
def test_transforms_have_as_many_points_as_a_run_tells(model: Make, more: dict[str, int]) -> None:
    """They were refused: a host's step computes those of an open axis."""
    pairs = 2 if more.get("inverse") else 1
    made = model(
        [node("DFT", ["x", "", "axis"], ["y"], **more)], {"x": ("f32", ["n", "l", pairs])}, ["y"],
        {"axis": np.int64(1)}, opset=20,
    )  # fmt: skip
    data = made.SerializeToString()
    peer = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    found = gv.compile(data, dims={"n": (1, 4), "l": (2, 200)})
    for n, count in ((1, 2), (3, 8), (2, 97)):
        x = RANDOM.standard_normal((n, count, pairs)).astype(np.float32)
        np.testing.assert_allclose(found(x), peer.run(None, {"x": x})[0], rtol=1e-3, atol=2e-3)


def test_defaults_of_inputs_are_arguments_where_shapes_name_them(model: Make) -> None:
    """There was no way to give another value than the default."""
    nodes = [node("Mul", ["x", "w"], ["p"]), node("TopK", ["p", "k"], ["y", "i"], axis=1)]
    defaults = {"w": np.float32([2, 3, 4]), "k": np.int64([1])}
    inputs = {"x": ("f32", ["n", 3]), "w": ("f32", [3]), "k": ("i64", [1])}
    made = model(nodes, inputs, ["y"], defaults)
    data = made.SerializeToString()
    peer = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    x = RANDOM.standard_normal((4, 3)).astype(np.float32)
    others = {"w": np.float32([-1, 5, 0.5]), "k": np.int64([3])}
    for given in ([], ["w"], ["w", "k"]):
        found = gv.compile(
            data, dims={"n": (1, 5)}, shapes={name: inputs[name][1] for name in given}
        )
        feed = {"x": x, **{name: others[name] for name in given}}
        np.testing.assert_allclose(found.run(feed)[0], peer.run(None, feed)[0], rtol=1e-6)
    with pytest.raises(gv.GravureError, match="there is no input 'z'"):
        gv.compile(data, dims={"n": (1, 5)}, shapes={"z": [3]})


@pytest.mark.parametrize("sizes", [(7, 9), ("h", "w")])
def test_images_of_odd_sizes_are_undone_in_their_places(
    model: Make, sizes: tuple[int | str, int | str]
) -> None:
    """Elements were put where they are in an image of even sizes, and zeros added behind."""
    rules = {"kernel_shape": [2, 2], "strides": [2, 2]}
    nodes = [
        node("MaxPool", ["x"], ["p", "i"], **rules), node("Shape", ["x"], ["s"]),
        node("MaxUnpool", ["p", "i", "s"], ["y"], **rules),
    ]  # fmt: skip
    made = model(nodes, {"x": ("f32", ["n", 3, *sizes])}, ["y"])
    check(made, [(1, 7, 9), (2, 7, 9)] if sizes[0] == 7 else [(1, 7, 9), (2, 4, 5), (1, 8, 6)])
