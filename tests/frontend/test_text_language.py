"""Graphs as a person writes them."""

from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest

import gravure as gv
import gravure.ir as ir
from gravure.frontend.files.weights import write_safetensors
from gravure.frontend.programs.load import load_program
from gravure.frontend.text import stored
from gravure.frontend.text.reader import read_text
from gravure.ir.program import argument_names, argument_specs, result_names, result_specs

MLP = """\
# A model in ten lines.
model mlp(x: f32[N, 4], N in 1..64) -> (odds, hidden = h) {
  weight w1: f32[4, 8] = random(seed=1, scale=0.5)
  weight w2: f32[8, 3] = random(seed=2)
  weight b: f32[8] = zeros
  h: f32[N, 8] = relu(x @ w1 + b)
  odds = softmax(h @ w2, axis=-1)
}
"""


def run(text: str, *arguments: Any) -> list[np.ndarray]:
    """Read a text, verify the program and run it."""
    program = read_text(text)
    ir.verify(program.module)
    return ir.interpret(program, [np.asarray(a) for a in arguments])


def expression(text: str, x: Any, kind: str = "f32[2, 3]") -> np.ndarray:
    """Return what an expression of `x` is worth."""
    (result,) = run(f"model m(x: {kind}) -> (y) {{ y = {text} }}", x)
    return result


def test_mlp_in_ten_lines() -> None:
    program = read_text(MLP, "mlp.gv")
    ir.verify(program.module)
    assert argument_names(program.main) == ["x"]
    assert result_names(program.main) == ["odds", "hidden"]
    assert [str(s) for s in argument_specs(program.main)] == ["f32[N,4]"]
    assert [str(s) for s in result_specs(program.main)] == ["f32[N,3]", "f32[N,8]"]
    assert program.ranges == {"N": (1, 64)}
    x = np.random.default_rng(0).standard_normal((5, 4), np.float32)
    odds, hidden = ir.interpret(program, [x])
    w1, w2, b = (program.weights[name] for name in ("w1", "w2", "b"))
    np.testing.assert_allclose(hidden, np.maximum(x @ w1 + b, 0), rtol=1e-5)
    raised = np.exp(hidden @ w2)
    np.testing.assert_allclose(odds, raised / raised.sum(1, keepdims=True), rtol=1e-5)


def test_every_operation_knows_its_line() -> None:
    program = read_text(MLP, "mlp.gv")
    found = {
        op.name: op.attributes["source"].data
        for op in program.main.body.block.ops
        if "source" in op.attributes
    }
    assert found["gv.relu"] == "mlp.gv:6"
    assert found["gv.softmax"] == "mlp.gv:7"


X = np.array([[1, -2, 3], [-4, 5, 0.5]], np.float32)
INT = np.array([[1, -2, 3], [-4, 5, 7]], np.int64)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x + 2 * x", X + 2 * X),
        ("(x + 2) * x", (X + 2) * X),
        ("-x ** 2", -(X**2)),
        ("2 ** -x", 2**-X),
        ("2 - x", 2 - X),
        ("x / 2 // 1 % 3", (X / 2 // 1) % 3),
        ("x > 0", X > 0),
        ("select(x > 0, x, 0)", np.maximum(X, 0)),
        ("select((x > 0) & ~(x > 4), 1.0, -1.0)", np.where((X > 0) & (X <= 4), 1, -1)),
        ("x * [1, 10, 100]", X * np.float32([1, 10, 100])),
        ("x * [[1], [2]]", X * np.float32([[1], [2]])),
        ("x @ [[1], [2], [3]]", X @ np.float32([[1], [2], [3]])),
        ("maximum(x, -inf)", X),
        ("gather(x, [2, 0], axis=1)", X[:, [2, 0]]),
        ("gather(x, 1, axis=0)", X[1]),
        ("clip(x, -1, 1)", np.clip(X, -1, 1)),
        ("x[1]", X[1]),
        ("x[-1, 0]", X[-1, 0]),
        ("x[:, 1:]", X[:, 1:]),
        ("x[::-1, -2:]", X[::-1, -2:]),
        ("sum(x, axes=[-1])", X.sum(-1)),
        ("mean(x, axes=[0], keepdims=true)", X.mean(0, keepdims=True)),
        ("cast(x, dtype=i32)", X.astype(np.int32)),
        ("flip(x, axes=[-1])", X[:, ::-1]),
        ("squeeze(unsqueeze(x, axes=[0, -1]), axes=[0, 3])", X),
        ("stack(x, x * 2, axis=-1)", np.stack([X, X * 2], -1)),
        ("tile(x, repeats=[2, 1])", np.tile(X, (2, 1))),
        ("transpose(x, order=[1, 0])", X.T),
        ("leaky_relu(x, alpha=1)", X),
        ("iota(shape=[2, 3], axis=1, dtype=f32)", np.float32([[0, 1, 2]] * 2)),
    ],
)
def test_expressions(text: str, expected: Any) -> None:
    found = expression(text, X)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert found.shape == np.shape(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x // 2 * 2 + x % 2", INT),
        ("x & 3 | 4 ^ 1", (INT & 3) | (4 ^ 1)),
        ("~x", ~INT),
        ("(x << 2) >> 1", (INT << 2) >> 1),
        ("x == 3", INT == 3),
        ("x + 9223372036854775807 - 9223372036854775807", INT),
    ],
)
def test_expressions_of_integers(text: str, expected: Any) -> None:
    np.testing.assert_array_equal(expression(text, INT, "i64[2, 3]"), expected)


def test_numbers_take_the_type_of_the_tensor_beside_them() -> None:
    program = read_text("model m(x: f16[2]) -> (y, z) { y = x + 1; z = 3.5 }")
    assert [str(s) for s in result_specs(program.main)] == ["f16[2]", "f32[]"]


def test_dimensions_are_numbers_too() -> None:
    text = """model m(x: f32[N, M], N in 2..8) -> (y, z) {
      y = reshape(x, shape=[N * M // 2, 2])
      z = sum(x, axes=[0]) / N + x[N - 1, 0:min(M, 2)][0]
    }"""
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    y, z = run(text, x)
    np.testing.assert_array_equal(y, x.reshape(6, 2))
    np.testing.assert_allclose(z, x.sum(0) / 3 + x[2, 0])


def test_several_results_and_functions() -> None:
    text = """
    function halves(a: f32[4]) -> (low, high) { low, high = split(a, axis=0, sizes=[2, 2]) }
    model m(x: f32[4]) -> (y, best, where) {
      low, high = halves(x)
      y = low - high
      best, where = top_k(x, k=2, axis=0)
    }
    """
    y, best, where = run(text, np.float32([1, 5, 2, 4]))
    np.testing.assert_array_equal(y, [-1, 1])
    np.testing.assert_array_equal(best, [5, 4])
    np.testing.assert_array_equal(where, [1, 3])


def test_functions_may_stand_behind_their_use() -> None:
    text = "model m(x: f32[2]) -> (y) { y = f(x) } function f(a: f32[2]) -> (b) { b = a * 2 }"
    np.testing.assert_array_equal(run(text, np.ones(2, np.float32))[0], [2, 2])


def test_functions_are_compiled() -> None:
    text = """
    function twice(a: f32[3]) -> (b) { b = a + a }
    function both(a: f32[3]) -> (b, c) { b = twice(a)  c = twice(b) * a }
    model m(x: f32[3], c: bool[]) -> (y, z) {
      low, high = both(x)
      y = if c with a = low { yield twice(a) } else { yield a }
      z = high - x
    }"""
    x = np.float32([1, 2, 3])
    for level in ("O0", "O1", "O2"):
        model = gv.compile(text.encode(), level=level, cache=False)
        y, z = model.run([x, np.array(True)])
        np.testing.assert_array_equal(y, 4 * x)
        np.testing.assert_array_equal(z, 4 * x * x - x)


LOOPS = """
model m(x: f32[2], c: bool[], n: i64[]) -> (y, z, k) {
  y = if c with a = x, w = 2.5 { yield a * w } else { b = -a  yield b }
  k, z = while i = 0, v = x with limit = n {
    yield i < limit
  } do {
    t = if i > 1 with v = v { yield v + 1 } else { yield v }
    yield i + 1, t * 2
  }
}
"""


@pytest.mark.parametrize("condition", [True, False])
def test_choices_and_loops(condition: bool) -> None:
    x = np.float32([1, 2])
    y, z, k = run(LOOPS, x, np.array(condition), np.int64(4))
    np.testing.assert_array_equal(y, x * 2.5 if condition else -x)
    np.testing.assert_array_equal(z, ((x * 4 + 1) * 2 + 1) * 2)
    assert k == 4


def test_variables() -> None:
    text = """model m(x: f32[2]) -> (y) {
      old = read(variable="v", dtype=f32, shape=[2])
      new = assign_add(x, variable="v")
      y = old + new
    }"""
    program = read_text(text)
    (found,) = ir.interpret(program, [np.float32([1, 2])], weights={"v": np.float32([10, 20])})
    np.testing.assert_array_equal(found, [21, 42])


def test_names_of_any_letters() -> None:
    text = "model m(`in/put:0`: f32[2]) -> (`ou\\x74` = model.y) { model.y = relu(`in/put:0`) }"
    program = read_text(text)
    assert argument_names(program.main) == ["in/put:0"]
    assert result_names(program.main) == ["out"]


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("f32[2, 2] = [[1, 2.5], [-3e2, inf]]", [[1, 2.5], [-300, np.inf]]),
        ("i64[3] = [1, -2, 3]", [1, -2, 3]),
        ("bool[2] = [true, false]", [True, False]),
        ("f32[2, 3] = -0.5", [[-0.5] * 3] * 2),
        ("f32[] = 4", 4),
        ("f32[0, 3] = []", np.zeros((0, 3))),
        ("u8[4] = base64(\"AQIDBA==\")", [1, 2, 3, 4]),
        ("c64[2] = [\"1+2j\", \"-1j\"]", [1 + 2j, -1j]),
    ],
)  # fmt: skip
def test_constants_and_weights_spelled_out(declaration: str, expected: Any) -> None:
    constant = f"model m() -> (c) {{ const c: {declaration} }}"
    weight = f"model m() -> (c) {{ weight c: {declaration} }}"
    for text in (constant, weight):
        np.testing.assert_array_equal(run(text)[0], expected)


@pytest.mark.parametrize("dtype", ["f32", "f16", "f64"])
def test_random_numbers_are_those_of_one_draw(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "DRAWN", 7)
    found = run(f"model m() -> (w) {{ weight w: {dtype}[4, 5] = random(seed=3, scale=0.5) }}")[0]
    wanted = np.random.default_rng(3).standard_normal((4, 5)) * 0.5
    np.testing.assert_array_equal(found, wanted.astype(found.dtype))


def test_weights_from_a_file(tmp_path: Path) -> None:
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b.c": np.int8([1, 2])}
    write_safetensors(tmp_path / "w.safetensors", arrays)
    (tmp_path / "m.gv").write_text(
        'model m(x: f32[2, 3]) -> (y, z) {\n'
        '  weight a: f32[2, 3] from "w.safetensors"\n'
        '  weight other: i8[2] from "w.safetensors" at "b.c"\n'
        "  y = x + a; z = other\n}\n"
    )  # fmt: skip
    program = load_program(tmp_path / "m.gv")
    y, z = ir.interpret(program, [np.ones((2, 3), np.float32)])
    np.testing.assert_array_equal(y, arrays["a"] + 1)
    np.testing.assert_array_equal(z, [1, 2])


def test_weights_may_be_declared_only() -> None:
    program = read_text("model m(x: f32[2]) -> (y) { weight w: f32[2]\n y = x + w }")
    assert not program.weights
    program.weights = {"w": np.float32([1, 2])}
    np.testing.assert_array_equal(ir.interpret(program, [np.zeros(2, np.float32)])[0], [1, 2])


def test_shapes_and_dimensions_can_be_given() -> None:
    text = "model m(x: f32[N, 3], y: f32[2]) -> (z) { z = relu(x) }"
    fixed = read_text(text, dims={"N": 4})
    assert [str(s) for s in result_specs(fixed.main)] == ["f32[4,3]"]
    bounded = read_text(text, dims={"N": (2, 5)})
    assert bounded.ranges == {"N": (2, 5)}
    other = read_text(text, shapes={"x": ("A", "B")})
    assert [str(s) for s in result_specs(other.main)] == ["f32[A,B]"]


def test_comments_line_breaks_and_byte_order_marks(tmp_path: Path) -> None:
    text = "\ufeffmodel m(x: f32[2])\r\n-> (y) # why\r\n{ y = relu( # because\n\tx) ; }\n# end"
    (tmp_path / "m.gv").write_bytes(text.encode())
    assert result_names(load_program(tmp_path / "m.gv").main) == ["y"]


def time_of(lines: int) -> float:
    """Return the seconds that reading so many statements takes at least."""
    body = "".join(f"v{i + 1} = relu(v{i} + {i}.5)\n" for i in range(lines))
    taken = []
    for _ in range(3):  # in one of them Python may sweep all that other tests have made
        start = process_time()
        read_text(f"model m(v0: f32[2]) -> (v{lines}) {{\n{body}}}")
        taken.append(process_time() - start)
    return min(taken)


def test_time_is_linear_in_the_length() -> None:
    time_of(10)
    assert time_of(3000) < 4 * time_of(1500) + 0.1


def test_long_sums_are_read_without_recursion() -> None:
    text = f"model m(x: f32[2]) -> (y) {{ y = x{' + x' * 3000} }}"
    np.testing.assert_array_equal(run(text, np.ones(2, np.float32))[0], [3001, 3001])
