"""Models that select elements as libraries: results have bounds, and the run tells their sizes."""

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import gravure as gv
from gravure.codegen.compile import compile_program
from gravure.codegen.compiled import Options
from gravure.errors import CompileError, RuntimeInputError
from gravure.frontend.models.pieces import SteppedModel
from gravure.frontend.models.told import ToldModel
from gravure.frontend.programs.compile import compile_source
from gravure.frontend.programs.load import load_program

node = helper.make_node
Make = Callable[..., onnx.ModelProto]
RANDOM = np.random.default_rng(7)
STRICT = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")


def library(made: onnx.ModelProto, folder: Path, **options: Any) -> tuple[Any, ToldModel]:
    """Return a model with host steps, and the library that is made of it."""
    gv.compile(made.SerializeToString(), **options).save(folder / "m.so")
    stepped = SteppedModel(load_program(made.SerializeToString(), **options), Options(), 1)
    found = gv.load(folder / "m.so")
    assert isinstance(found, ToldModel)
    return stepped, found


def check(made: onnx.ModelProto, folder: Path, sets: Sequence[Any], **options: Any) -> ToldModel:
    """Compare a library with the host's steps."""
    stepped, found = library(made, folder, **options)
    assert [str(info) for info in found.outputs] == [str(info) for info in stepped.outputs]
    for inputs in sets:
        for result, wanted in zip(found.run(inputs), stepped.run(inputs), strict=True):
            assert result.shape == wanted.shape
            assert result.dtype == wanted.dtype
            np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-6)
    return found


def f32(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def test_what_is_selected_is_computed_with(model: Make, tmp_path: Path) -> None:
    made = model(
        [
            node("Relu", ["x"], ["a"]),
            node("NonZero", ["a"], ["places"]),
            node("Transpose", ["places"], ["rows"]),
            node("GatherND", ["a", "rows"], ["b"]),
            node("ReduceMax", ["b"], ["most"], keepdims=1),
            node("Sub", ["b", "most"], ["c"]),
            node("Softmax", ["c"], ["d"]),
            node("ReduceSum", ["b"], ["y"], keepdims=0),
        ],
        {"x": ("f32", ["n", 3])},
        ["places", "d", "y"],
    )
    found = check(made, tmp_path, [[f32(n, 3)] for n in (1, 4, 8)], dims={"n": (1, 8)})
    none, _, total = found.run([-np.ones((2, 3), np.float32)])
    assert (none.shape, total) == ((2, 0), 0)
    assert [info["name"] for info in found.manifest["outputs"]][3:] == ["places_count"]


def test_sizes_are_added_and_selected_from_again(model: Make, tmp_path: Path) -> None:
    made = model(
        [
            node("NonZero", ["x"], ["p"]),
            node("NonZero", ["y"], ["q"]),
            node("Concat", ["p", "q"], ["both"], axis=1),
            node("Mod", ["both", "two"], ["odd"]),
            node("NonZero", ["odd"], ["r"]),
            node("Shape", ["both"], ["size"]),
            node("Expand", ["one", "size"], ["ones"]),
        ],
        {"x": ("f32", [5]), "y": ("f32", [7])},
        ["both", "r", "ones", "size"],
        {"two": np.int64([2]), "one": np.float32([1])},
    )
    sets = [[f32(5).round(), f32(7).round()] for _ in range(4)]
    check(made, tmp_path, [*sets, [np.zeros(5, np.float32), np.zeros(7, np.float32)]])


@pytest.mark.parametrize("classes", [1, 3])
@pytest.mark.parametrize("most", [0, 2, 1 << 40])
def test_boxes_that_stand_out(model: Make, tmp_path: Path, classes: int, most: int) -> None:
    made = model(
        [
            node("NonMaxSuppression", ["boxes", "scores", "most", "iou", "low"], ["y"]),
            node("Slice", ["y", "from", "to", "from"], ["which"]),
            node("Gather", ["boxes", "which"], ["kept"], axis=1),
        ],
        {"boxes": ("f32", [2, "n", 4]), "scores": ("f32", [2, classes, "n"])},
        ["y"],
        {
            "most": np.int64([most]), "iou": np.float32([0.4]), "low": np.float32([-0.3]),
            "from": np.int64([2]), "to": np.int64([3]),
        },
    )  # fmt: skip
    del made.graph.node[1:]
    sets = [[RANDOM.random((2, n, 4), np.float32), f32(2, classes, n)] for n in (1, 9, 20, 20)]
    even = [np.zeros((2, 5, 4), np.float32), np.ones((2, classes, 5), np.float32)]
    found = check(made, tmp_path, [*sets, even], dims={"n": (1, 20)})
    rows = found.manifest["outputs"][0]["shape"]
    assert rows == [2 * classes * min(most, 20), 3]


def test_centres_of_boxes_and_scores_that_are_no_numbers(model: Make, tmp_path: Path) -> None:
    made = model(
        [node("NonMaxSuppression", ["boxes", "scores", "most", "iou"], ["y"], center_point_box=1)],
        {"boxes": ("f32", [1, 6, 4]), "scores": ("f32", [1, 1, 6]), "most": ("i64", [1])},
        ["y"],
        {"iou": np.float32([0.2])},
    )
    boxes, scores = RANDOM.random((1, 6, 4), np.float32), f32(1, 1, 6)
    odd = np.float32([[[np.nan, 1, -np.inf, np.inf, 0, 1]]])
    check(made, tmp_path, [[boxes, s, np.int64([k])] for s in (scores, odd) for k in (0, 2, 9)])


def test_a_detector_from_scores_to_boxes(model: Make, tmp_path: Path) -> None:
    """Take what is good, suppress it, take as many as there are, or ten, and their boxes."""
    made = model(
        [
            node("Greater", ["scores", "low"], ["good"]),
            node("NonZero", ["good"], ["found"]),
            node("Squeeze", ["found", "zero"], ["where"]),
            node("Gather", ["scores", "where"], ["s"]),
            node("Gather", ["boxes", "where"], ["b"]),
            node("Unsqueeze", ["s", "first"], ["s3"]),
            node("Unsqueeze", ["b", "zero"], ["b3"]),
            node("NonMaxSuppression", ["b3", "s3", "all", "iou"], ["kept"]),
            node("Gather", ["kept", "two"], ["which"], axis=1),
            node("Gather", ["s", "which"], ["best"]),
            node("Shape", ["best"], ["count"]),
            node("Min", ["count", "ten"], ["k"]),
            node("TopK", ["best", "k"], ["top", "order"]),
            node("Gather", ["which", "order"], ["places"]),
            node("Gather", ["b", "places"], ["y"]),
        ],
        {"boxes": ("f32", [30, 4]), "scores": ("f32", [30])},
        ["top", "y"],
        {
            "low": np.float32([0.2]), "zero": np.int64([0]), "first": np.int64([0, 1]),
            "all": np.int64([1 << 40]), "iou": np.float32([0.3]), "two": np.int64(2),
            "ten": np.int64([10]),
        },
    )  # fmt: skip
    sets = [[RANDOM.random((30, 4), np.float32), f32(30)] for _ in range(4)]
    check(made, tmp_path, [*sets, [sets[0][0], -np.ones(30, np.float32)]])


def test_other_host_steps_are_still_refused(model: Make, tmp_path: Path) -> None:
    made = model(
        [node("NonZero", ["x"], ["p"]), node("Unique", ["p"], ["y"], name="once")],
        {"x": ("f32", [3])},
        ["y"],
    )
    with pytest.raises(CompileError, match=r"host steps.*\(non_zero\).*once \(unique\)"):
        gv.compile(made.SerializeToString()).save(tmp_path / "m.so")


@pytest.mark.parametrize("second", ["argument", "selection"])
def test_sizes_that_must_be_equal_are_compared_in_the_run(
    model: Make, tmp_path: Path, second: str
) -> None:
    """As many rows are put into `x` as there are places; code that tells one size of two did not
    look, and read behind the shorter one."""
    nodes = [
        node("NonZero", ["x"], ["places"]), node("Transpose", ["places"], ["at"], perm=[1, 0]),
        node("ScatterND", ["x", "at", "new"], ["y"]),
    ]  # fmt: skip
    inputs = {"x": ("f32", [6]), "new": ("f32", ["m"])}
    if second == "selection":
        inputs["new"] = ("f32", [6])
        nodes[2].input[2] = "chosen"
        nodes[2:2] = [
            node("NonZero", ["new"], ["others"]), node("Squeeze", ["others", "zero"], ["which"]),
            node("Gather", ["new", "which"], ["chosen"]),
        ]  # fmt: skip
    made = model(nodes, inputs, ["y"], {"zero": np.int64([0])})
    dims = {"m": (0, 6)} if second == "argument" else {}
    compiled = gv.compile(made.SerializeToString(), dims=dims)
    x, new = np.float32([0, 1, 0, 2, 3, 0]), np.float32([7, 8, 9, 4, 5, 6])
    some = new[:3] if second == "argument" else new * np.float32([1, 0, 0, 1, 1, 0])
    values = some[some != 0]
    np.testing.assert_array_equal(
        compiled(x, some), np.float32([0, *values[:1], 0, *values[1:], 0])
    )
    for wrong in (new[:2], new[:6]) if second == "argument" else (new, new * 0):
        with pytest.raises(RuntimeInputError):
            compiled(x, wrong)
    with pytest.raises(gv.GravureError, match="host"):
        compiled.save(tmp_path / "m.so")


def test_a_size_without_a_bound_is_refused(model: Make) -> None:
    made = model([node("NonZero", ["x"], ["y"])], {"x": ("f32", ["n"])}, ["y"])
    with pytest.raises(CompileError, match="dimension n has no upper bound"):
        compile_source(made.SerializeToString(), Options())


def test_bound_arrays_and_threads(model: Make, tmp_path: Path) -> None:
    made = model([node("NonZero", ["x"], ["y"])], {"x": ("f32", [3])}, ["y"])
    _, found = library(made, tmp_path)
    x = np.float32([0, 2, 1])
    found.threads = 2
    again = found.bind([x])
    first = again()
    x[:] = [1, 0, 0]
    assert [first[0].tolist(), again()[0].tolist(), found(x).tolist()] == [[[1, 2]], [[0]], [[0]]]
    with pytest.raises(RuntimeInputError, match="no place ahead"):
        found.bind([x], [first[0]])


MAIN = r"""
#include <stdio.h>
#include "m.h"

int main(void) {
    float x[6] = {0, 3, 0, -1, 0, 5};
    static unsigned char workspace[M_WORKSPACE_BYTES + 64];
    unsigned char *room = workspace + 64 - (size_t)workspace % 64;
    int64_t places[12], count;
    const int64_t in_shape[] = {2, 3}, shape[] = {2, 6};
    const gravure_tensor inputs[] = {{x, in_shape, 2, GRAVURE_F32}};
    const gravure_tensor outputs[] = {
        {places, shape, 2, GRAVURE_I64}, {&count, NULL, 0, GRAVURE_I64}};
    int32_t status = m_run(inputs, outputs, room, NULL);
    if (status != 0) return puts(m_status(status));
    printf("%d:", (int)count);
    for (int i = 0; i < 12; i++) printf(" %d", (int)places[i]);
    return 0;
}
"""


@pytest.mark.skipif(not shutil.which("gcc"), reason="no C compiler")
def test_c_is_told_how_many_there_are(model: Make, tmp_path: Path) -> None:
    made = model([node("NonZero", ["x"], ["y"])], {"x": ("f32", [2, 3])}, ["y"])
    compiled = gv.compile(made.SerializeToString(), tag="m")
    for suffix in ("h", "o"):
        compiled.save(tmp_path / f"m.{suffix}")
    text = " ".join((tmp_path / "m.h").read_text().split())
    assert "of axis 1 the first *outputs[1], behind them zeros" in text
    (tmp_path / "main.c").write_text(MAIN)
    command = ["gcc", *STRICT, "main.c", "m.o", "-o", "main"]
    subprocess.run(command, check=True, cwd=tmp_path)
    done = subprocess.run(["./main"], check=True, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "3: 0 1 1 0 0 0 1 0 2 0 0 0"


def branch(name: str, *nodes: onnx.NodeProto) -> onnx.GraphProto:
    """Return a branch that gives what its last node makes."""
    made = helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.INT64, None)
    return helper.make_graph(nodes, name, [], [made])


def test_branches_that_select_differently_are_compiled(model: Make, tmp_path: Path) -> None:
    """As detectors end that are written as programs: nothing, or what is selected."""
    none = helper.make_tensor("none", TensorProto.INT64, [0, 1], [])
    then = branch("then", node("Constant", [], ["nothing"], value=none))
    other = branch(
        "other", node("NonZero", ["a"], ["found"]), node("Transpose", ["found"], ["places"])
    )
    made = model(
        [
            node("Relu", ["x"], ["a"]),
            node("ReduceSum", ["x"], ["sum"], keepdims=0),
            node("Greater", ["sum", "limit"], ["over"]),
            node("If", ["over"], ["kept"], then_branch=then, else_branch=other),
            node("GatherND", ["x", "kept"], ["y"]),
        ],
        {"x": ("f32", ["n"])},
        ["y", "kept"],
        {"limit": np.float32(3)},
    )
    sets = [[np.float32(x)] for x in ([1, -2, 3, -4], [1, 2, 3], [-1], [0.5, 0.5, 0.5, -1, 0.5])]
    found = check(made, tmp_path, sets, dims={"n": (1, 6)})
    assert [found.run(each)[0].size for each in sets] == [2, 0, 0, 4]


def test_computed_sizes_are_told_and_must_be_in_range(model: Make, tmp_path: Path) -> None:
    made = model(
        [
            node("ReduceSum", ["x"], ["sum"], keepdims=1),
            node("Cast", ["sum"], ["k"], to=TensorProto.INT64),
            node("TopK", ["x", "k"], ["best", "where"]),
            node("Exp", ["best"], ["y"]),
        ],
        {"x": ("f32", [6])},
        ["y", "where"],
    )
    sets = [[np.float32(x)] for x in ([1, -2, 3, -4, 3, 0], [0] * 6, [1] * 6)]
    found = check(made, tmp_path, sets)
    for wrong in (9, -1):
        with pytest.raises(RuntimeInputError, match=r"TopK.*a computed size, expected 0 to 6"):
            found.run([np.full(6, wrong, np.float32)])


def suppressing(model: Make, most: int) -> Any:
    """Return a model that picks the boxes that stand out, of any number of them."""
    return model(
        [node("NonMaxSuppression", ["boxes", "scores", "most", "iou"], ["y"])],
        {"boxes": ("f32", [1, "n", 4]), "scores": ("f32", [1, 2, "n"])},
        ["y"],
        {"most": np.int64([most]), "iou": np.float32([0.4])},
    )


def test_boxes_are_suppressed_in_compiled_code(model: Make) -> None:
    made = suppressing(model, 9)
    options: Any = {"dims": {"n": (1, 9)}}
    found = gv.compile(made.SerializeToString(), **options)
    assert isinstance(found, ToldModel)
    inputs = [RANDOM.random((1, 7, 4), np.float32), f32(1, 2, 7)]
    stepped = SteppedModel(load_program(made.SerializeToString(), **options), Options(), 1)
    np.testing.assert_array_equal(found.run(inputs)[0], stepped.run(inputs)[0])


def test_rounds_are_for_the_boxes_that_there_are(model: Make) -> None:
    """What is picked so far was as large as the most boxes there may be, and copied each round."""
    made = suppressing(model, 1 << 40)
    program = load_program(made.SerializeToString(), dims={"n": (1, 12345)})
    text = gv.ir.print_module(compile_program(program, Options()).program.module)
    assert "1x2x12345" not in text


def test_runs_that_tell_sizes_are_profiled(model: Make) -> None:
    """What a launch costs was asked of sizes that only the run knows: that was an error."""
    made = suppressing(model, 9)
    told = gv.compile(made.SerializeToString(), dims={"n": (1, 9)})
    assert isinstance(told, ToldModel)
    with gv.profile() as noted:
        told.run([RANDOM.random((1, 7, 4), np.float32), f32(1, 2, 7)])
    assert any(each.kind == "launch" for each in noted.timeline.slices)


def test_equal_steps_tell_one_size(model: Make) -> None:
    """A size that each of two told was compared by the host: boxes in steps, at ten times."""
    made = model(
        [node("Greater", ["scores", "low"], ["m"]), node("NonZero", ["m"], ["p"]),
         node("NonZero", ["m"], ["q"]), node("Squeeze", ["p", "first"], ["i"]),
         node("Squeeze", ["q", "first"], ["j"]), node("Gather", ["boxes", "i"], ["b"]),
         node("Gather", ["scores", "j"], ["s"]), node("Unsqueeze", ["b", "first"], ["bs"]),
         node("Unsqueeze", ["s", "two"], ["ss"]),
         node("NonMaxSuppression", ["bs", "ss", "most", "overlap"], ["y"])],
        {"boxes": ("f32", [9, 4]), "scores": ("f32", [9])}, ["y"],
        {"low": np.float32(0.5), "first": np.array([0]), "two": np.array([0, 1]),
         "most": np.array([5]), "overlap": np.array([0.5], np.float32)},
    )  # fmt: skip
    found = gv.compile(made.SerializeToString())
    assert isinstance(found, ToldModel)
    boxes = np.tile(np.array([0, 0, 2, 2], np.float32), (9, 1))
    scores = np.linspace(0, 1, 9, dtype=np.float32)
    assert found.run([boxes, scores])[0].tolist() == [[0, 0, 3]]


def parsed(graph: str) -> bytes:
    """Return a model of ONNX's text."""
    head = '<ir_version: 10, opset_import: ["" : 21]> '
    data: bytes = onnx.parser.parse_model(head + graph).SerializeToString()
    return data


@pytest.mark.parametrize(("rows", "is_told"), [(7, True), (5000, False)])
def test_little_is_selected_and_chosen_by_compiled_code(rows: int, is_told: bool) -> None:
    """What is much is a host's step: it is not computed at its most."""
    selected = gv.compile(
        parsed(
            f"""g (float[{rows},3] v, bool[{rows}] c) => (int64[2,A] x, float[B,3] y) {{
              x = NonZero(v) y = Compress<axis=0>(v, c)
            }}"""
        )
    )
    assert isinstance(selected, ToldModel) == is_told
    random = np.random.default_rng(0)
    for share in (0.0, 0.5, 1.0):
        v = (random.random((rows, 3)) < share).astype(np.float32)
        c = random.random(rows) < share
        x, y = selected.run([v, c])
        np.testing.assert_array_equal(x, np.stack(v.nonzero()))
        np.testing.assert_array_equal(y, v[c])
    chosen = gv.compile(
        parsed(
            f"""g (bool c, float[{rows}] v) => (float[A] y)
            <int64[1] a = {{0}}, int64[1] b = {{5}}> {{
              y = If (c) < then_branch = t () => (float[T] t) {{ t = Slice(v, a, b) }},
                           else_branch = e () => (float[E] e) {{ e = Concat<axis=0>(v, v) }} >
            }}"""
        )
    )
    assert isinstance(chosen, ToldModel) == is_told
    v = random.random(rows, np.float32)
    np.testing.assert_array_equal(chosen.run([np.array(True), v])[0], v[:5])
    np.testing.assert_array_equal(chosen.run([np.array(False), v])[0], np.tile(v, 2))


def test_a_library_refuses_parts_that_are_not_all(model: Make, tmp_path: Path) -> None:
    """The last part was what the others leave, whatever its own size was said to be."""
    nodes = [node("Split", ["x", "sizes"], ["a", "b"], axis=0), node("Neg", ["b"], ["c"])]
    made = model(nodes, {"x": ("f32", ["N"]), "sizes": ("i64", [2])}, ["a", "c"])
    _, found = library(made, tmp_path, dims={"N": (1, 64)})
    x = np.arange(10, dtype=np.float32)
    for count in (0, 3, 10):
        first, rest = found.run([x, np.array([count, 10 - count])])
        np.testing.assert_array_equal(first, x[:count])
        np.testing.assert_array_equal(rest, -x[count:])
    for sizes in ([3, 5], [3, 9], [-1, 11], [12, -2]):
        with pytest.raises(RuntimeInputError, match="expected"):
            found.run([x, np.array(sizes)])
