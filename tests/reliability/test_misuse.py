"""What a program may do wrong with a model: refused by name, or right all the same."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

import gravure as gv
from gravure.codegen.compile import Options
from gravure.errors import RuntimeInputError
from gravure.ir import Program, parse
from gravure.ir.program import set_ranges
from gravure.target import Target

MODELS = Path(__file__).parent.parent / "models"
X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(3, 8)


def misaligned() -> Any:
    """Return the numbers of X where no float may begin."""
    room = np.zeros(X.nbytes + 1, np.uint8)
    array = room[1:].view(np.float32).reshape(X.shape)
    array[...] = X
    return array


def read_only() -> Any:
    """Return the numbers of X, not to be changed."""
    array = X.copy()
    array.flags.writeable = False
    return array


@pytest.fixture(scope="module")
def model() -> Any:
    return gv.compile(MODELS / "mlp_batch.onnx", dims={"batch": (1, 64)})


@pytest.fixture(scope="module")
def wanted(model: Any) -> Any:
    return model.run([X])[0]


LAYOUTS: dict[str, Any] = {
    "read-only": read_only(),
    "misaligned": misaligned(),
    "columns first": np.asfortranarray(X),
    "every other": np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": X[::-1, ::-1].copy()[::-1, ::-1],
    "other byte order": X.astype(">f4"),
    "list": X.tolist(),
    "memoryview": memoryview(X),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_same_numbers_give_the_same_result(model: Any, wanted: Any, layout: str) -> None:
    given = LAYOUTS[layout]
    before = np.array(given)
    [found] = model.run([given])
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.array(given), before)


def test_one_row_for_all_is_read_as_often_as_it_stands(model: Any) -> None:
    rows = np.broadcast_to(X[:1], X.shape)
    np.testing.assert_array_equal(model(rows), model(rows.copy()))


WRONG: dict[str, tuple[Any, str]] = {
    "f64": (X.astype(np.float64), r"f64\[3, 8\]"),
    "f16": (X.astype(np.float16), r"f16\[3, 8\]"),
    "bf16": (X.astype(ml_dtypes.bfloat16), r"bf16\[3, 8\]"),
    "f8": (X.astype(ml_dtypes.float8_e4m3fn), r"f8e4m3fn\[3, 8\]"),
    "i64": (X.astype(np.int64), r"i64\[3, 8\]"),
    "bool": (X > 0, r"bool\[3, 8\]"),
    "complex": (X.astype(np.complex64), r"c64\[3, 8\]"),
    "object": (X.astype(object), r"object\[3, 8\]"),
    "text": (X.astype(str), "<U32"),
    "dates": (np.zeros((3, 8), "M8[s]"), "datetime64"),
    "records": (np.zeros((3, 8), [("a", "f4")]), "'a'"),
    "masked": (np.ma.masked_array(X, X > 0), "[Mm]asked"),
    "0-d": (np.array(1, np.float32), r"f32\[\]"),
    "empty": (np.zeros((0, 8), np.float32), r"batch from 1 to 64 and called with f32\[0, 8\]"),
    "too many": (np.zeros((65, 8), np.float32), r"batch from 1 to 64"),
    "wide": (np.zeros((3, 9), np.float32), r"f32\[3, 9\]"),
    "another rank": (X[None], r"f32\[1, 3, 8\]"),
    "None": (None, "object|NoneType"),
    "ragged": ([[1.0], [1.0, 2.0]], "found list|called with list"),
    "a name": ("abc", "U3|str"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_anything_else_is_refused_by_name(model: Any, kind: str) -> None:
    given, found = WRONG[kind]
    calls: list[Callable[[], Any]] = [
        lambda: model.run({"x": given}),
        lambda: model(given),
        lambda: model.bind({"x": given}),
    ]
    for call in calls:
        with pytest.raises(RuntimeInputError, match=rf"(?s)'x'.*({found})"):
            call()


def test_bound_array_in_another_byte_order_is_said_to_be_that(model: Any) -> None:
    with pytest.raises(RuntimeInputError, match="in foreign byte order"):
        model.bind([X.astype(">f4")])


def test_output_that_lies_in_an_input_is_refused(model: Any) -> None:
    room = np.zeros(24, np.float32)
    with pytest.raises(RuntimeInputError, match="'y' overlaps"):
        model.bind([room.reshape(3, 8)], [room[12:].reshape(3, 4)])


@pytest.mark.parametrize("threads", [0, -1, 10**6, "2", 1.5])
def test_number_of_threads_that_cannot_be_meant(model: Any, threads: Any) -> None:
    with pytest.raises(RuntimeInputError, match="threads: expected 1 to 1024"):
        gv.compile(MODELS / "mlp.onnx", threads=threads)
    with pytest.raises(RuntimeInputError, match="threads: expected 1 to 1024"):
        model.threads = threads


def test_threads_that_the_system_does_not_give(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    model = gv.compile(MODELS / "mlp.onnx", threads=7)
    model.threads = 1
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeInputError, match="5 threads: can't start new thread"):
            model.threads = 5
    model.threads = 5
    assert model(X[:1]).shape == (1, 4)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_model_in_memory(kind: Callable[[bytes], Any], wanted: Any) -> None:
    source = kind((MODELS / "mlp_batch.onnx").read_bytes())
    np.testing.assert_array_equal(gv.compile(source, dims={"batch": (1, 64)})(X), wanted)


def test_a_model_of_the_package_onnx_is_one_in_memory(wanted: Any) -> None:
    model = onnx.load(MODELS / "mlp_batch.onnx")
    np.testing.assert_array_equal(gv.compile(model, dims={"batch": (1, 64)})(X), wanted)


@pytest.mark.parametrize("source", [None, 3, ["mlp.onnx"], object()])
def test_what_is_no_model_is_said_to_be_none(source: Any) -> None:
    with pytest.raises(gv.GravureError, match=f"the model is {type(source).__name__}, expected"):
        gv.compile(source)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": "O9"}, "level 'O9' is unknown, expected one of O0, O1, O2, O3"),
        ({"target": "zx81"}, "unknown target 'zx81'"),
        ({"tag": "a b"}, "tag 'a b' is no identifier of C"),
        ({"disable": ("nope",)}, "pass 'nope' is unknown"),
        ({"dims": {"batch": "x"}}, "dimension 'batch': 'x' is neither a size"),
        ({"dims": {"batch": 2.5}}, "dimension 'batch': 2.5 is neither a size"),
        ({"dims": {"batch": (4, 1)}}, "dimension 'batch': (4, 1) is neither a size"),
        ({"dims": {"batch": (1, 2**62)}}, "is neither a size nor a range"),
        ({"dims": {"rows": 1}}, "there is no dimension 'rows'"),
        ({"shapes": {"z": (1, 8)}}, "there is no input 'z'"),
        ({"shapes": {"x": (-1, 8)}}, "the shape given for 'x' is [-1, 8]"),
        ({"dims": {"batch": (1, 2**61)}}, "bytes, expected fewer than"),
    ],
)
def test_option_that_makes_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(gv.GravureError) as caught:
        gv.compile(MODELS / "mlp_batch.onnx", **options)
    assert message in str(caught.value)


def test_text_takes_no_negative_sizes_either() -> None:
    with pytest.raises(gv.GravureError, match="the shape given for 'x' is"):
        gv.compile(b"model m(x: f32[N, 3]) -> (y) { y = relu(x) }", shapes={"x": (-2, 3)})


def test_a_header_counts_arguments_in_64_bits(tmp_path: Path) -> None:
    sizes = {"N": (1, 10**11), "M": (1, 10**11)}
    model = gv.compile(b"model m(x: f32[N, M]) -> (y) { y = relu(x) }", dims=sizes)
    with pytest.raises(gv.GravureError, match=r"input 'x' may have .* bytes, expected fewer than"):
        model.save(tmp_path / "m.h")


def test_more_memory_than_there_is_says_how_much() -> None:
    with pytest.raises(MemoryError, match=r"\d{14,} bytes of memory"):
        gv.compile(MODELS / "mlp_batch.onnx", dims={"batch": 2**41})


def test_target_among_the_options_is_kept() -> None:
    options = Options(target="x86-64-v2")
    made = gv.compile(MODELS / "digits.onnx", options=options)
    assert made.compiled.target == Target.parse("x86-64-v2")
    made = gv.compile(MODELS / "digits.onnx", target="x86-64-v3", options=options)
    assert made.compiled.target == Target.parse("x86-64-v3")


def test_sizes_for_which_a_result_has_no_shape() -> None:
    source, result = (f'tensor<1x1x?xf32, #gv.dims<"1, 1, {size}">>' for size in ("N", "N - 2"))
    moves = "{strides = array<i64: 1>, pads = [array<i64: 0, 0>], dilations = array<i64: 1>}"
    weight = "tensor<1x1x3xf32>"
    module = parse(f"""func.func @main(%x: {source}, %w: {weight}) -> {result} {{
      %0 = gv.conv %x, %w {moves} : ({source}, {weight}) -> {result}
      func.return %0 : {result}
    }}""")
    set_ranges(module, {"N": (0, 9)})
    model = gv.compile(Program(module))
    with pytest.raises(RuntimeInputError, match=r"window over 3 elements does not fit .*N = 1"):
        model.run([np.ones((1, 1, 1), np.float32), np.ones((1, 1, 3), np.float32)])
