"""Sizes that are sums of others, or the same, or at most a number, where an operation needs it."""

from collections.abc import Callable, Sequence

import numpy as np
import onnx
import pytest
from onnx import helper

import gravure as gv
from gravure.errors import PerformanceWarning, RuntimeInputError
from gravure.frontend.programs.load import load_program
from gravure.ir import interpret
from gravure.ir.program import argument_specs

node = helper.make_node
Make = Callable[..., onnx.ModelProto]


def i64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def decoder_with_a_mask(model: Make) -> onnx.ModelProto:
    """Positions of words behind those that were kept, by a mask of both, as decoders have them."""
    return model(
        [
            node("Shape", ["past"], ["p"], start=0, end=1),
            node("CumSum", ["mask", "axis"], ["every"]),
            node("Slice", ["every", "p", "most", "axis0"], ["own"]),
            node("Add", ["x", "own"], ["y"], name="positions"),
        ],
        {"x": ("f32", ["T"]), "mask": ("f32", ["W"]), "past": ("f32", ["P"])},
        ["y"],
        {"axis": np.array(0, np.int64), "axis0": i64(0), "most": i64(1 << 40)},
    )


def test_a_mask_is_as_long_as_what_is_behind_it_and_what_is_new(model: Make) -> None:
    data = decoder_with_a_mask(model).SerializeToString()
    program = load_program(data)
    assert [str(s) for s in argument_specs(program.main)] == ["f32[T]", "f32[P + T]", "f32[P]"]
    assert program.assumed[0][0] == "W = P + T"
    made = gv.compile(data, dims={"T": (1, 9), "P": (0, 9), "W": (2, 8)})
    for past, new in ((0, 2), (3, 2), (5, 3)):
        mask = np.arange(past + new, dtype=np.float32)
        (found,) = made.run([np.ones(new, np.float32), mask, np.zeros(past, np.float32)])
        np.testing.assert_array_equal(found, 1 + np.cumsum(mask)[past:])
    (found,) = made.run([np.ones(1, np.float32), np.ones(2, np.float32), np.ones(0, np.float32)])
    np.testing.assert_array_equal(found, [2, 3])  # one that is new goes to each of the mask
    with pytest.warns(PerformanceWarning, match="P = 3, T = 2"):  # one of the mask to each new one
        (found,) = made.run(
            [np.zeros(2, np.float32), np.ones(4, np.float32), np.ones(3, np.float32)]
        )
    np.testing.assert_array_equal(found, [4, 4])
    for past, new, whole in ((3, 2, 6), (0, 2, 3)):
        with pytest.raises(RuntimeInputError):
            made.run(
                [np.ones(new, np.float32), np.ones(whole, np.float32), np.ones(past, np.float32)]
            )
    of_five = load_program(data, dims={"W": 5})
    assert [str(s) for s in argument_specs(of_five.main)] == [
        "f32[-min(5, P) + 5]",
        "f32[5]",
        "f32[P]",
    ]


def test_axes_with_names_of_their_own_are_one_where_only_that_fits(model: Make) -> None:
    """The exporters of torch name each axis; a mask is made to fit by what words have."""
    made = model(
        [
            node("Shape", ["words"], ["n"], start=0, end=1),
            node("Concat", ["n", "rest"], ["shape"], axis=0),
            node("Reshape", ["mask", "shape"], ["row"]),
            node("Unsqueeze", ["row", "axis"], ["wide"]),
            node("MatMul", ["words", "turned"], ["scores"]),
            node("Add", ["scores", "wide"], ["y"]),
        ],
        {"words": ("f32", ["s1", "s2", 3]), "mask": ("f32", ["s3", "s4"]),
         "turned": ("f32", ["s1", 3, "s2"])},
        ["y"],
        {"rest": i64(-1), "axis": i64(1)},
    )  # fmt: skip
    data = made.SerializeToString()
    program = load_program(data)
    assert [each for each, _ in program.assumed] == ["s3 = s1", "s4 = s2"]
    compiled = gv.compile(data, dims=dict.fromkeys(["s1", "s2", "s3", "s4"], (1, 9)))
    random = np.random.default_rng(1)
    words, mask, turned = (
        random.standard_normal(shape).astype(np.float32) for shape in ((2, 5, 3), (2, 5), (2, 3, 5))
    )
    (found,) = compiled.run([words, mask, turned])
    np.testing.assert_allclose(found, words @ turned + mask[:, None], rtol=1e-5, atol=1e-6)
    with pytest.raises(RuntimeInputError):
        compiled.run([words, mask[:, :4], turned])


@pytest.mark.parametrize("cut", ["rows", "table"])
def test_a_length_is_at_most_that_of_a_table_that_is_cut(cut: str, model: Make) -> None:
    """The least of both may stand inside of a quotient, or be the whole without the rest."""
    if cut == "rows":  # 16 * min(63, n) * min(63, n) over n
        nodes = [
            node("Shape", ["x"], ["n"]),
            node("Slice", ["table", "zero", "n", "zero"], ["some"]),
            node("Slice", ["some", "zero", "n", "one"], ["square"]),
            node("Concat", ["n", "rest"], ["shape"], axis=0),
            node("Reshape", ["square", "shape"], ["fitted"]),
            node("Add", ["fitted", "x"], ["y"]),
        ]
    else:  # 63 - max(63 - n, 0)
        nodes = [
            node("Shape", ["x"], ["n"]),
            node("Neg", ["n"], ["back"]),
            node("Slice", ["table", "back", "most", "one"], ["some"]),
            node("Add", ["some", "x"], ["y"]),
        ]
    table = np.arange(63 * 63, dtype=np.float32).reshape(63, 63)
    constants = {"zero": i64(0), "one": i64(1), "rest": i64(-1), "most": i64(1 << 40)}
    made = model(nodes, {"x": ("f32", ["n"])}, ["y"], {**constants, "table": table})
    program = load_program(made.SerializeToString())
    assert [each for each, _ in program.assumed] == ["n <= 63"]
    (found,) = interpret(program, [np.ones(5, np.float32)])
    wanted = table[:5, :5] if cut == "rows" else table[:, -5:]
    np.testing.assert_array_equal(found, wanted + 1)


def test_a_pooled_and_a_convolved_length_are_seen_to_be_equal(model: Make) -> None:
    """(n - 8) // 6 + 1 and (n - 2) // 6 are one size, whichever way they come about."""
    made = model(
        [
            node("AveragePool", ["x"], ["a"], kernel_shape=[8], strides=[6]),
            node("Slice", ["x", "two", "most", "last"], ["b"]),
            node("AveragePool", ["b"], ["c"], kernel_shape=[6], strides=[6]),
            node("Add", ["a", "c"], ["y"]),
        ],
        {"x": ("f32", [1, 1, "n"])}, ["y"], {"two": i64(2), "most": i64(1 << 40), "last": i64(2)},
    )  # fmt: skip
    program = load_program(made.SerializeToString(), dims={"n": (8, 99)})
    assert not program.assumed
    x = np.arange(21, dtype=np.float32).reshape(1, 1, 21)
    (found,) = interpret(program, [x])
    starts = range(0, 14, 6)
    wanted = [x[0, 0, i : i + 8].mean() + x[0, 0, i + 2 : i + 8].mean() for i in starts]
    np.testing.assert_allclose(found[0, 0], wanted, rtol=1e-6)


@pytest.mark.parametrize("other", [1, 3])
def test_a_count_may_be_one_where_it_meets_a_fixed_size(other: int, model: Make) -> None:
    made = model(
        [
            node("NonZero", ["x"], ["places"]),
            node("Cast", ["places"], ["rows"], to=onnx.TensorProto.FLOAT),
            node("Transpose", ["rows"], ["columns"], perm=[1, 0]),
            node("Add", ["columns", "k"], ["y"], name="meets"),
        ],
        {"x": ("f32", ["n"])}, ["y"], {"k": np.ones((3, 2), np.float32)},
    )  # fmt: skip
    compiled = gv.compile(made.SerializeToString(), dims={"n": (1, 9)})
    (found,) = compiled.run([np.float32([0] * 2 + [1] * other)])
    places = np.arange(2, 2 + other, dtype=np.float32)[:, None]
    np.testing.assert_array_equal(found, places + np.ones((3, 2), np.float32))
    for wrong in (0, 2, 4):
        with pytest.raises(RuntimeInputError, match="'meets'"):
            compiled.run([np.float32([0] * 2 + [1] * wrong)])


BACK, FAR = {"end": i64(1 << 40), "step": i64(1)}, 1 << 40
SIGNED = {
    "from the end": ([node("Neg", ["m"], ["start"])], BACK, lambda x, m: x[-m:]),
    "half from the end": (
        [node("Div", ["n", "two"], ["h"]), node("Neg", ["h"], ["start"])], BACK,
        lambda x, m: x[-(len(x) // 2) or None :] if len(x) > 1 else x,
    ),
    "up to the end": (
        [node("Neg", ["m"], ["end"])], {"start": i64(0), "step": i64(1)}, lambda x, m: x[:-m],
    ),
    "between, of any sign": (
        [node("Sub", ["m", "two"], ["end"])], {"start": i64(1), "step": i64(1)},
        lambda x, m: x[1 : m - 2],
    ),
    "backwards": (
        [node("Neg", ["m"], ["start"])], {"end": i64(-FAR), "step": i64(-1)},
        lambda x, m: x[max(-m, -len(x)) :: -1],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SIGNED)
def test_a_symbolic_bound_below_zero_counts_from_the_end(name: str, model: Make) -> None:
    more, constants, wanted = SIGNED[name]
    made = model(
        [node("Shape", ["x"], ["n"]), node("Shape", ["z"], ["m"]), *more,
         node("Slice", ["x", "start", "end", "axis", "step"], ["y"])],
        {"x": ("f32", ["n"]), "z": ("f32", ["m"])}, ["y"],
        {**constants, "axis": i64(0), "two": i64(2)},
    )  # fmt: skip
    program = load_program(made.SerializeToString())
    for n, m in ((6, 2), (6, 1), (3, 5), (1, 1), (5, 5)):
        x = np.arange(n, dtype=np.float32)
        (found,) = interpret(program, [x, np.ones(m, np.float32)])
        np.testing.assert_array_equal(found, wanted(x, m))


def last(count: int, model: Make) -> bytes:
    """Return a model of the last elements of a row."""
    return model(
        [node("Shape", ["x"], ["n"]), node("Sub", ["n", "count"], ["start"]),
         node("Slice", ["x", "start", "end"], ["y"], name="last")],
        {"x": ("f32", ["n"])}, ["y"], {"count": i64(count), "end": i64(FAR)},
    ).SerializeToString()  # fmt: skip


def test_a_start_that_may_be_far_below_zero_is_demanded_to_be_inside(model: Make) -> None:
    compiled = gv.compile(last(100, model), dims={"n": (1, 200)})
    for n in (100, 150):
        assert compiled.run([np.zeros(n, np.float32)])[0].shape == (100,)
    with pytest.warns(PerformanceWarning, match=r"'last'.*start n - 100, expected 0 to n"):
        (found,) = compiled.run([np.arange(98, dtype=np.float32)])
    np.testing.assert_array_equal(found, [96, 97])  # from -2 on, in a model of 98


def test_a_start_that_is_little_below_zero_is_one_of_the_model(model: Make) -> None:
    compiled = gv.compile(last(5, model), dims={"n": (1, 9)})
    for n in (5, 9):
        assert compiled.run([np.zeros(n, np.float32)])[0].shape == (5,)
    (found,) = compiled.run([np.float32([1, 2, 3])])
    np.testing.assert_array_equal(found, [2, 3])  # from -2 on


def test_updates_have_as_many_rows_as_the_indices_that_data_shape(model: Make) -> None:
    made = model(
        [node("NonZero", ["x"], ["places"]), node("Transpose", ["places"], ["at"], perm=[1, 0]),
         node("ScatterND", ["x", "at", "new"], ["y"])],
        {"x": ("f32", [6]), "new": ("f32", ["m"])}, ["y"],
    )  # fmt: skip
    compiled = gv.compile(made.SerializeToString(), dims={"m": (0, 6)})
    (found,) = compiled.run([np.float32([0, 1, 0, 2, 3, 0]), np.float32([7, 8, 9])])
    np.testing.assert_array_equal(found, np.float32([0, 7, 0, 8, 9, 0]))
    with pytest.raises(RuntimeInputError, match="found shape"):
        compiled.run([np.float32([0, 1, 0, 2, 3, 0]), np.float32([7, 8])])


def test_an_axis_is_dropped_in_the_branch_for_one_element(model: Make) -> None:
    """So exporters write `squeeze` of an open axis; what its branch asks for is not for others."""
    branches = {
        "then_branch": helper.make_graph(
            [node("Squeeze", ["x", "axis"], ["a"], name="drop")], "then", [],
            [helper.make_empty_tensor_value_info("a")],
        ),
        "else_branch": helper.make_graph(
            [node("Identity", ["x"], ["b"])], "else", [], [helper.make_empty_tensor_value_info("b")]
        ),
    }  # fmt: skip
    made = model(
        [node("Shape", ["x"], ["n"], start=1, end=2), node("Equal", ["n", "axis"], ["flag"]),
         node("Squeeze", ["flag"], ["is_one"]), node("If", ["is_one"], ["y"], **branches)],
        {"x": ("f32", ["n", "m", 3])}, ["y"], {"axis": i64(1)},
    )  # fmt: skip
    compiled = gv.compile(made.SerializeToString(), dims={"n": (1, 4), "m": (1, 4)})
    for m, shape in ((1, (2, 3)), (2, (2, 2, 3))):
        x = np.arange(6 * m, dtype=np.float32).reshape(2, m, 3)
        (found,) = compiled.run([x])
        np.testing.assert_array_equal(found, x.reshape(shape))


def test_boxes_and_scores_of_two_names_are_as_many(model: Make) -> None:
    made = model(
        [node("NonMaxSuppression", ["boxes", "scores", "most"], ["y"])],
        {"boxes": ("f32", [1, "n", 4]), "scores": ("f32", [1, 1, "m"])}, ["y"], {"most": i64(2)},
    )  # fmt: skip
    program = load_program(made.SerializeToString())
    assert [each for each, _ in program.assumed] == ["n = m"]


@pytest.mark.parametrize(
    ("kind", "attribute", "assumed", "m"),
    [("Concat", {"axis": 0}, "m = 2*n", 6), ("Slice", {}, "m = ((n + 1) // (2))", 2)],
)
def test_a_size_is_what_it_has_to_be_equal_to(
    model: Make, kind: str, attribute: dict[str, int], assumed: str, m: int
) -> None:
    more = ["x"] if kind == "Concat" else ["zero", "most", "zero", "two"]
    made = model(
        [node(kind, ["x", *more], ["a"], **attribute), node("Add", ["a", "z"], ["y"])],
        {"x": ("f32", ["n"]), "z": ("f32", ["m"])}, ["y"],
        {"zero": i64([0]), "two": i64([2]), "most": i64([1 << 40])},
    )  # fmt: skip
    compiled = gv.compile(made, dims={"n": (1, 8)}, cache=False)
    assert [each for each, _ in load_program(made.SerializeToString()).assumed] == [assumed]
    x, z = np.arange(3, dtype=np.float32), np.ones(m, np.float32)
    np.testing.assert_array_equal(compiled(x, z), ([*x, *x] if m > 3 else x[::2]) + z)
    with pytest.raises(RuntimeInputError, match=r"argument 'z' .* with n = 3 and called"):
        compiled(x, np.ones(m + 1, np.float32))


@pytest.mark.parametrize(
    ("operator", "shapes", "attributes", "same"),
    [
        ("GatherND", (["n", "m", 2], ["k", 1]), {"batch_dims": 1}, ["n = k"]),
        ("GridSample", (["n", 3, 5, 5], ["k", 4, 4, 2]), {}, ["n = k"]),
        ("BatchNormalization", (["n", "c", "h"], *[["k"]] * 4), {}, ["k = c"]),
        ("InstanceNormalization", (["n", "c", 5], ["k"], ["k"]), {}, ["k = c"]),
        ("Einsum", (["a", "b"], ["c", "d"]), {"equation": "ij,jk->ik"}, ["c = b"]),
    ],
)
def test_sizes_are_the_same_that_an_operator_says(
    model: Make, operator: str, shapes: Sequence[Sequence[int | str]],
    attributes: dict[str, object], same: list[str],
) -> None:  # fmt: skip
    """Not those that stand in one column from the right."""
    names = [f"x{i}" for i in range(len(shapes))]
    kinds = ["i64" if name == "x1" and operator == "GatherND" else "f32" for name in names]
    inputs = dict(zip(names, zip(kinds, shapes, strict=True), strict=True))
    made = model([node(operator, names, ["y"], **attributes)], inputs, ["y"], opset=20)
    program = load_program(made.SerializeToString())
    assert [each for each, _ in program.assumed] == same


@pytest.mark.parametrize(("number", "sizes"), [(-5, (1, 2, 3, 4, 5, 6, 9)), (0, (1, 4, 5))])
def test_sizes_below_zero_are_divided_towards_it(
    model: Make, number: int, sizes: tuple[int, ...]
) -> None:
    """Of (n - 5) / 2 with four elements 0 is wanted, not -1."""
    name, operand = ("Add", "some") if number else ("Neg", "n")
    inputs = ["n", operand] if number else ["n"]
    made = model(
        [
            node("Shape", ["x"], ["n"]),
            node(name, inputs, ["a"]),
            node("Div", ["a", "two"], ["start"]),
            node("Slice", ["x", "start", "most"], ["y"]),
        ],
        {"x": ("f32", ["n"])},
        ["y"],
        {"some": i64(number), "two": i64(2), "most": i64(1 << 40)},
    )
    compiled = gv.compile(made, dims={"n": (1, 9)}, cache=False)
    for size in sizes:
        x = np.arange(size, dtype=np.float32)
        start = int((size + number if number else -size) / 2)
        np.testing.assert_array_equal(compiled(x), x[start:])


def test_what_a_sum_needs_is_not_looked_for_where_a_product_has_axes(model: Make) -> None:
    """The last axis was held against the last but one, and n - 1 = n was to be made true."""
    made = model(
        [
            node("Slice", ["x", "start", "stop", "axis", "step"], ["part"]),
            node("Add", ["part", "z"], ["y"]),
        ],
        {"x": ("f32", ["n", "n"]), "z": ("f32", ["n", "m"])},
        ["y"],
        {"start": i64([-2]), "stop": i64([-(1 << 62)]), "axis": i64([1]), "step": i64([-1])},
    )
    compiled = gv.compile(made, dims={"n": (0, 9), "m": (0, 9)}, cache=False)
    x, z = np.arange(36, dtype=np.float32).reshape(6, 6), np.ones((6, 5), np.float32)
    np.testing.assert_array_equal(compiled(x, z), x[:, -2::-1] + z)


@pytest.mark.parametrize("least", [0, 1])
def test_an_axis_that_stays_where_all_of_one_element_are_dropped_has_several(
    model: Make, least: int
) -> None:
    """A run with one row had it, where the standard's result has not."""
    made = model([node("Squeeze", ["x"], ["y"])], {"x": ("f32", ["n", 1, 3])}, ["y"])
    compiled = gv.compile(made, cache=False, dims={"n": (least, 8)})
    assert compiled(np.zeros((2, 1, 3), np.float32)).shape == (2, 3)
    with pytest.warns(PerformanceWarning, match="n from 2 to 8"):
        assert compiled(np.zeros((1, 1, 3), np.float32)).shape == (3,)
    one = gv.compile(made, cache=False, dims={"n": 1})
    assert one(np.zeros((1, 1, 3), np.float32)).shape == (3,)


def test_a_size_that_has_to_be_an_extreme_of_another_is_that(model: Make) -> None:
    """Below ten rows n = m + 2 makes them fit, and that was asked of all."""
    made = model(
        [
            node("Slice", ["x", "start", "stop", "axis", "step"], ["part"]),
            node("Add", ["part", "z"], ["y"]),
        ],
        {"x": ("f32", ["n", 2]), "z": ("f32", ["m", 2])},
        ["y"],
        {"start": i64([9]), "stop": i64([1]), "axis": i64([0]), "step": i64([-1])},
    )
    compiled = gv.compile(made, dims={"n": (0, 20), "m": (0, 20)}, cache=False)
    for rows in (5, 10, 11, 16):
        x = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)
        part = x[9:1:-1]
        np.testing.assert_array_equal(compiled(x, np.ones_like(part)), part + 1)
    with pytest.raises(RuntimeInputError, match="called with"):
        compiled(np.zeros((16, 2), np.float32), np.zeros((14, 2), np.float32))
