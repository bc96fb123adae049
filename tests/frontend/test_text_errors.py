"""What is wrong with a text is said with the line and a caret, all at once."""

from pathlib import Path
from time import process_time

import pytest

from gravure.errors import GraphError, GravureError, ParseError
from gravure.frontend.programs.load import load_program
from gravure.frontend.text import stored
from gravure.frontend.text.reader import read_text


def message(text: str) -> str:
    """Return what reading a text says."""
    with pytest.raises(GravureError) as caught:
        read_text(text, "m.gv")
    return str(caught.value)


def test_all_faults_of_a_text_are_one_error() -> None:
    text = """\
model mlp(x: f32[N, 784]) -> (logits) {
  weight w1: f32[785, 128] = random(seed=1)
  h = relu(matmul(x, w1) + b1)
  y = sofmax(x, axis=1)
  q = softmax(x, axes=1) + softmax(x, axis="a")
  g: f32[3] = relu(x)
  u = relu(x, x) + x[0, 1, 2]
  logits = h + 1
}
"""
    assert (
        message(text)
        == """\
m.gv:3:12: error: gv.matmul: 784 columns on the left, expected 785 as the rows on the right
      h = relu(matmul(x, w1) + b1)
               ^
m.gv:3:28: error: there is no value 'b1'
      h = relu(matmul(x, w1) + b1)
                               ^
m.gv:4:7: error: there is no operation 'sofmax'
      y = sofmax(x, axis=1)
          ^
  help: did you mean 'softmax'?
m.gv:5:7: error: gv.softmax: attribute axes is unknown, attribute axis is missing
      q = softmax(x, axes=1) + softmax(x, axis="a")
          ^
m.gv:5:28: error: gv.softmax: attribute axis is 'a', expected a whole number
      q = softmax(x, axes=1) + softmax(x, axis="a")
                               ^
m.gv:6:3: error: 'g' is f32[N,784], declared f32[3]
      g: f32[3] = relu(x)
      ^
m.gv:7:7: error: gv.relu: 2 operands, expected 1
      u = relu(x, x) + x[0, 1, 2]
          ^
m.gv:7:21: error: 3 axes of a tensor of 2
      u = relu(x, x) + x[0, 1, 2]
                        ^"""
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y = relu(x", "1:40: error: unexpected \"}\", expected ',', '=', '(', '[', ')'"),
        ("y = relu(x))", "1:40: error: unexpected \")\", expected 'const', 'if', a name, '}', "
                         "'weight', 'while'"),
        ("y = x $ 2", "1:35: error: unexpected '$'"),
        ("y = x + ", "1:38: error: unexpected \"}\", expected a number, '(', a name, '~', '[', "
                     "a text"),
        ('y = "abc', '1:33: error: " is not closed'),
        ("y = `x", "1:33: error: ` is not closed"),
        ("y = x\0", "1:34: error: unexpected '\\x00'"),
        ("y = \u0661", "1:33: error: unexpected '\u0661'"),
        ("y = 1x", "1:33: error: unexpected '1'"),
        ("y = " + "(" * 10**5, "1:232: error: nested deeper than 200"),
        ("y = " + "[" * 10**5, "1:232: error: nested deeper than 200"),
    ],
)  # fmt: skip
def test_text_that_is_no_graph(body: str, expected: str) -> None:
    start = process_time()
    text = f"model m(x: f32[2]) -> (y) {{ {body} }}"
    with pytest.raises(ParseError) as caught:
        read_text(text, "m.gv")
    assert str(caught.value).splitlines()[0] == f"m.gv:{expected}"
    assert process_time() - start < 1


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y = x + 1e400", "the number is too large"),
        ("y = n + 99999999999999999999", "gv.add: a number is not a value of i64"),
        ("y = x & 1.5", "gv.bitwise_and: element type f32, expected an integer"),
        ("y = relu()", "gv.relu: 0 operands, expected 1"),
        ("y = x + \"a\"", "gv.add: operand 1 is neither a tensor nor a number"),
        ("y = x * [[1, 2], [3]]", "gv.mul: operand 1 is neither a tensor nor a number"),
        ("y = 1 / 0", "division by zero"),
        ("y = 2 ** 3", "** of numbers is not supported"),
        ("y = 9223372036854775807 + 1", "the number is too large"),
        ("y = x[5]", "index 5 may be outside of an axis of 2"),
        ("y = x[0:1:0]", "step 0, expected a number other than 0"),
        ("y = x[x]", "indices are whole numbers or dimensions"),
        ("y = f32", "this is not a tensor"),
        ("y = constant(value=1)", "there is no operation 'constant'"),
        ("y, z = relu(x)", "2 names for 1 values"),
        ("y = top_k(x, k=1, axis=0)\n z = y + 1", "1 names for 2 values"),
        ("x = relu(x); y = x", "'x' is given a value twice"),
        ("N = x; y = x", "'N' is a dimension, expected another name"),
        ("f32 = x; y = x", "'f32' is a word of the language, expected another name"),
        ("y = relu(x, axis=1, axis=2)", "relu: an attribute is given twice"),
        ("y: f64[2, 3] = x", "'y' is f32[2,3], declared f64[2,3]"),
        ("y: f99[2] = x", "element type 'f99' is unknown"),
        ("y: f32[K] = x", "there is no value 'K'"),
        ("y: f32[-1] = x", "this is not a dimension"),
        ("y: f32[1.5] = x", "this is not a dimension"),
        ("y = reshape(x, shape=[2, 4])", "gv.reshape: shape (2, 4) of 8 elements, expected 6 as "
                                         "in (2, 3)"),
        ("y = reshape(x, shape=6)", "gv.reshape: attribute shape is 6, expected a list"),
        ("y = cast(x, dtype=7)", "gv.cast: attribute dtype is 7, expected an element type"),
        ("y = cast(x, dtype=x)", "gv.cast: attribute dtype is blockargument, expected an element "
                                 "type"),
        ("weight y: f32[N]", "'y' is f32[N], expected numbers as dimensions"),
        ("weight y: f32[2] = [1, 2, 3]", "the list has shape [3], declared f32[2]"),
        ("weight y: i8[2] = [1, 300]", "this is not a number or a list of numbers of i8"),
        ("weight y: i8[2] = random(seed=1)", "weight 'y': random numbers are floats, at most "
                                             "2147483648 of them"),
        ("weight y: f32[2] from \"w\"", "weight 'y': its data is in 'w', beside a text that is "
                                        "not a file"),
        ("const y: u8[3] = base64(\"AQ==\")", "base64 does not hold u8[3]: cannot reshape array of "
                                              "size 1 into shape (3,)"),
        ("y = undefined(x)", "there is no operation 'undefined'"),
        ("z = x", "there is no value 'y'"),
        ("y = if true { yield x } else { yield 0 }", "there is no value 'x'"),
        ("y = if x with a = x { yield a } else { yield a }", "gv.if: the condition is f32[2,3], "
                                                             "expected bool[]"),
        ("y = if true with a = x { yield a } else { yield 0 }",
         "gv.if: region 1 yields i64[] as result 0, expected f32[2,3]"),
        ("y, z = if true with a = x { yield a } else { yield a }", "2 names for 1 values"),
        ("y = while v = x { yield true } do { yield v, v }",
         "gv.while: region 1 yields 2 values, expected 1"),
        ("y = read(variable=1, dtype=f32, shape=[])", "gv.read: attribute variable is 1, expected "
                                                      "a name as text"),
    ],
)  # fmt: skip
def test_statement_that_makes_no_sense(body: str, expected: str) -> None:
    text = f"model m(x: f32[2, 3], n: i64[N]) -> (y) {{\n {body} }}"
    with pytest.raises(GraphError) as caught:
        read_text(text, "m.gv")
    assert f"error: {expected}\n" in f"{caught.value}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("function f() -> (y) { const y: f32[] = 1 }", "0 models in the text, expected one"),
        ("model a() -> (y) {const y: f32[] = 1} model b() -> (y) {const y: f32[] = 1}",
         "2 models in the text, expected one"),
        ("model m(x: f32[2], x: f32[2]) -> (x) { }", "input 'x' is declared twice"),
        ("model m(x: f32[N], N in 8..4) -> (x) { }", "8 to 4 is not a range of sizes"),
        ("model m(x: f32[2]) -> () { }", "'m' has no results"),
        ("model m(x: f32[2]) -> (y) { y = f(x) } function f(a: f32[2]) -> (b) { b = f(a) }",
         "function 'f' calls itself"),
        ("model m(x: f32[2]) -> (y) { y = f(x) } function f(a: f32[3]) -> (b) { b = a + 1 }",
         "f: arguments f32[2], expected f32[3]"),
        ("model m(x: f32[1099511627776, 99999999]) -> (x) { }",
         "f32[1099511627776,99999999] is too large"),
    ],
)  # fmt: skip
def test_definition_that_makes_no_sense(text: str, expected: str) -> None:
    assert f"error: {expected}\n" in message(text)


def test_regions_nested_too_deep() -> None:
    start, end = "z = if true { ", " yield z } else { yield 1 }\n"
    deep = start * 99 + "z = 1" + end * 99
    assert "regions nest deeper than 40" in message(f"model m() -> (z) {{ {deep} }}")


def test_options_that_do_not_fit() -> None:
    text = "model m(x: f32[N]) -> (y) { y = relu(x) }"
    with pytest.raises(GraphError) as caught:
        read_text(text, "m.gv", dims={"M": 3})
    assert str(caught.value) == "m.gv: there is no dimension 'M', the model's are 'N'"
    with pytest.raises(GraphError, match=r"m\.gv: there is no input 'z', inputs are \['x'\]"):
        read_text(text, "m.gv", shapes={"z": (1,)})


def test_long_lines_are_shown_in_part() -> None:
    text = f"model m(x: f32[2]) -> (y) {{ y = x{' + x' * 200} + nothing{' + x' * 200} }}"
    shown = message(text).splitlines()[1]
    assert len(shown) < 110
    assert "nothing" in shown


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"model m\xff", "m.gv:1: byte 7 is not UTF-8"),
        (b"", "m.gv: the file is empty, expected a model"),
    ],
)
def test_bytes_that_are_no_text(tmp_path: Path, data: bytes, expected: str) -> None:
    (tmp_path / "m.gv").write_bytes(data)
    with pytest.raises(ParseError) as caught:
        load_program(tmp_path / "m.gv")
    assert str(caught.value) == expected


def test_no_data_is_made_of_a_shape_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """One stands in for a wrong dimension; the numbers of such a weight may not fit in memory."""
    monkeypatch.setattr(stored, "_filled", lambda *_: pytest.fail("data was made"))
    text = "model m() -> (w) { weight w: f32[2147483647, -32] = random(seed=1)\n"
    text += "const c: f32[2147483647, n + 1] = 1 }"
    assert message(text).count("error: ") == 2


def test_random_numbers_that_do_not_fit_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr(stored.np, "empty", none_left)
    found = message("model m() -> (w) { weight w: f64[2147483648] = random(seed=1) }")
    assert found.startswith("m.gv:1:20: error: weight 'w': no memory for 2147483648 random")


def test_weight_file_is_checked(tmp_path: Path) -> None:
    (tmp_path / "w.safetensors").write_bytes(b"\xff" * 64)
    (tmp_path / "m.gv").write_text(
        'model m() -> (w) { weight w: f32[2] from "w.safetensors"\n'
        'weight v: f32[2] from "../w.safetensors" }'
    )
    with pytest.raises(GraphError) as caught:
        load_program(tmp_path / "m.gv")
    assert "'w.safetensors' is not a safetensors file: a header of" in str(caught.value)
    assert "file '../w.safetensors' is not inside the model's folder" in str(caught.value)
