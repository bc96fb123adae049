"""What is assumed of sizes so that a model fits: each run that does not meet it is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

import gravure as gv
from gravure.errors import RuntimeInputError

node = helper.make_node
Make = Callable[..., onnx.ModelProto]
LAST = {"from": np.int64([-6]), "to": np.int64([2**31]), "axis": np.int64([0])}
FOUR = {name: ("f32", [size, 2]) for name, size in zip("xuzv", "nmpq", strict=True)}


def test_sums_that_are_cut_alike_are_equal_and_not_as_long_as_what_they_are_cut_to(
    model: Make,
) -> None:
    nodes = [
        node("Concat", ["x", "u"], ["one"], axis=0), node("Concat", ["z", "v"], ["two"], axis=0),
        node("Slice", ["one", "from", "to", "axis"], ["a"]),
        node("Slice", ["two", "from", "to", "axis"], ["b"]), node("Mul", ["a", "b"], ["y"]),
    ]  # fmt: skip
    made = model(nodes, FOUR, ["y"], LAST)
    compiled = gv.compile(made.SerializeToString(), dims=dict.fromkeys("nmpq", (1, 9)), level="O1")
    for n, m, p in ((1, 1, 1), (3, 1, 2), (5, 4, 3)):
        given = [np.random.default_rng(0).random((k, 2), "f4") for k in (n, m, p, n + m - p)]
        found = compiled.run(dict(zip("xuzv", given, strict=True)))[0]
        wanted = np.concatenate(given[:2])[-6:] * np.concatenate(given[2:])[-6:]
        np.testing.assert_array_equal(found, wanted)
    with pytest.raises(RuntimeInputError):
        compiled.run({name: np.ones((2 + (name == "v"), 2), "f4") for name in FOUR})


PLACES = [
    node("Concat", ["x", "u"], ["both"], axis=0), node("Shape", ["both"], ["shape"]),
    node("Slice", ["shape", "zero", "one"], ["rows"]),
    node("Slice", ["table", "zero", "rows", "zero"], ["places"]),
    node("Add", ["both", "places"], ["y"]),
]  # fmt: skip
TABLE = {"table": np.ones((8, 2), "f4"), "zero": np.int64([0]), "one": np.int64([1])}
TWO = {name: FOUR[name] for name in "xu"}


def test_a_run_looks_at_what_is_assumed_of_several_sizes(model: Make, tmp_path: Path) -> None:
    made = model(PLACES, TWO, ["y"], TABLE).SerializeToString()
    compiled = gv.compile(made, dims={"n": (1, 9), "m": (1, 9)}, level="O1")
    compiled.save(tmp_path / "places.so")
    for each in (compiled, gv.load(tmp_path / "places.so")):
        found = each.run({"x": np.ones((5, 2), "f4"), "u": np.ones((3, 2), "f4")})[0]
        np.testing.assert_array_equal(found, np.full((8, 2), 2.0))
        with pytest.raises(RuntimeInputError, match=r"n \+ m <= 8|m \+ n <= 8"):
            each.run({"x": np.ones((5, 2), "f4"), "u": np.ones((4, 2), "f4")})


def test_a_run_in_steps_looks_at_it_too(model: Make) -> None:
    nodes = [*PLACES, node("NonZero", ["y"], ["where"])]
    made = model(nodes, TWO, ["where", "y"], TABLE).SerializeToString()
    compiled = gv.compile(made, dims={"n": (1, 9), "m": (1, 9)}, level="O1")
    assert compiled.run({"x": np.ones((5, 2), "f4"), "u": np.ones((3, 2), "f4")})[0].shape[1] == 16
    with pytest.raises(RuntimeInputError, match="<= 8"):
        compiled.run({"x": np.ones((5, 2), "f4"), "u": np.ones((4, 2), "f4")})


SIZES = [node("Shape", ["z"], ["shape"]), node("Slice", ["shape", "two", "four"], ["image"])]


def test_a_row_that_becomes_an_image_is_as_long_as_its_sides_say(model: Make) -> None:
    """What tokens are put back to an image was refused, where another input tells its sides."""
    nodes = [
        *SIZES, node("Concat", ["batch", "image"], ["to"], axis=0),
        node("Reshape", ["x", "to"], ["a"]), node("Add", ["a", "z"], ["y"]),
    ]  # fmt: skip
    by = {"two": np.int64([2]), "four": np.int64([4]), "batch": np.int64([0, 3])}
    inputs = {"x": ("f32", ["n", 3, "L"]), "z": ("f32", ["n", 3, "h", "w"])}
    dims = {"n": (1, 4), "L": (0, 99), "h": (0, 9), "w": (0, 9)}
    compiled = gv.compile(model(nodes, inputs, ["y"], by).SerializeToString(), dims=dims)
    for n, h, w in ((2, 3, 4), (1, 1, 1), (3, 0, 2), (1, 9, 9)):
        x, z = (np.random.default_rng(n).random(s, "f4") for s in ((n, 3, h * w), (n, 3, h, w)))
        np.testing.assert_array_equal(compiled.run({"x": x, "z": z})[0], x.reshape(z.shape) + z)
    with pytest.raises(RuntimeInputError, match=r"h\*w"):
        compiled.run({"x": np.ones((1, 3, 5), "f4"), "z": np.ones((1, 3, 2, 2), "f4")})


@pytest.mark.parametrize("number", [None, 6])
def test_a_part_of_a_sum_has_what_others_leave(model: Make, number: int | None) -> None:
    """Two sums of two sizes each, and a sum and a number, were refused."""
    nodes = [
        node("Concat", ["x", "u"], ["one"], axis=0),
        node("Concat", ["z", "v"], ["two"], axis=0),
    ]
    by = {} if number is None else {"fixed": np.ones((number, 2), "f4")}
    nodes.append(node("Mul", ["one", "two" if number is None else "fixed"], ["y"]))
    names = "xuzv" if number is None else "xu"
    made = model(
        nodes[:1] + nodes[-1:] if number else nodes, {k: FOUR[k] for k in names}, ["y"], by
    )
    compiled = gv.compile(
        made.SerializeToString(), dims=dict.fromkeys("nmpq"[: len(names)], (0, 9))
    )
    for sizes in ((2, 4, 5, 1), (6, 0, 0, 6), (3, 3, 3, 3), (0, 6, 1, 5)):
        given = [np.random.default_rng(0).random((k, 2), "f4") for k in sizes]
        found = compiled.run(dict(zip(names, given, strict=False)))[0]
        other = np.concatenate(given[2:]) if number is None else np.ones((6, 2), "f4")
        np.testing.assert_array_equal(found, np.concatenate(given[:2]) * other)
    wrong = zip(names, (2, 3, 5, 1), strict=False)
    with pytest.raises(RuntimeInputError):
        compiled.run({name: np.ones((k, 2), "f4") for name, k in wrong})
