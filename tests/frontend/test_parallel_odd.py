"""Odd models on two ranks: as the whole one gives, or refused by name; a way for each of them."""

from pathlib import Path

import pytest

import gravure as gv
from gravure.frontend.programs.parallel import ParallelError

from .test_parallel import compare

pytestmark = pytest.mark.sampled(2)


def weight(rows: int, columns: int, name: str = "w") -> str:
    """Return a line that makes a weight."""
    size = f"shape=[{rows * columns}], axis=0, dtype=f32"
    return f"{name} = reshape(iota({size}), shape=[{rows}, {columns}]) * 0.01"


def model(given: str, gives: str, *lines: str) -> str:
    """Return the text of a model."""
    return "\n  ".join([f"model m({given}) -> ({gives}) {{", *lines]) + "\n}"


X, NONE, FEW = "x: f32[2, 8]", "no product with a weight", "operations for 1 stages"
OUTSIDE = "a result that depends on no input"
SHARED = [weight(8, 8), "h = matmul(x, w)"]
ODD: dict[str, tuple[str, str, str]] = {
    "odd columns": (model(X, "y", weight(8, 7), "y = exp(matmul(x, w))"), NONE, ""),
    "odd rows": (model("x: f32[2, 7]", "y", weight(7, 8), "y = exp(matmul(x, w))"), "", ""),
    "odd both": (model("x: f32[2, 7]", "y", weight(7, 5), "y = exp(matmul(x, w))"), NONE, ""),
    "one column": (model(X, "y", weight(8, 1), "y = tanh(matmul(x, w))"), NONE, ""),
    "one row of one": (
        model("x: f32[1, 1]", "y", weight(1, 1), "y = tanh(matmul(x, w))"), NONE, ""),
    "an odd layer between even ones": (
        model(X, "y", weight(8, 6), weight(6, 3, "v"), weight(3, 8, "u"),
              "y = matmul(relu(matmul(relu(matmul(x, w)), v)), u)"), "", ""),
    "one weight three times": (
        model(X, "y", *SHARED, "g = matmul(tanh(h), w)", "y = matmul(tanh(g), w)"), "", ""),
    "a weight and its turned one": (
        model(X, "y", *SHARED, "y = matmul(h, w, transpose_rhs=true)"), "", ""),
    "a weight that is added too": (
        model("x: f32[8, 8]", "y", *SHARED, "y = tanh(h) + w"), "", ""),
    "branches that meet": (
        model(X, "y", *SHARED, "a = exp(h * 0.1)", "b = tanh(h)", "y = matmul(a * b, w)"), "", ""),
    "branches of other lengths": (
        model(X, "y", *SHARED, "a = matmul(matmul(tanh(h), w), w)", "y = a + x"), "", ""),
    "a branch that skips all": (
        model(X, "y", *SHARED, "y = tanh(matmul(tanh(h), w)) + x"), "", ""),
    "three results": (
        model(X, "a, b, c", *SHARED, "a = h", "b = exp(h * 0.1)", "c = matmul(tanh(h), w)"),
        "", ""),
    "one result twice": (model(X, "y, z", *SHARED, "y = tanh(h)", "z = y"), "", ""),
    "a result that is a constant": (
        model(X, "y, z", *SHARED, "y = tanh(h)", "z = w + 1.0"), OUTSIDE, OUTSIDE),
    "two inputs, one late": (
        model(f"{X}, z: f32[2, 8]", "y", *SHARED, "y = matmul(tanh(h) + z, w)"), "", ""),
    "an input that nothing uses": (
        model(f"{X}, z: f32[3]", "y", *SHARED, "y = tanh(h)"), "", ""),
    "one operation": (model(X, "y", "y = exp(x)"), NONE, FEW),
    "a product alone": (model(X, "y", weight(8, 8), "y = matmul(x, w)"), "", FEW),
    "no weight": (model("x: f32[8, 8]", "y", "y = tanh(matmul(x, x))"), NONE, ""),
    "a softmax over what is shared out": (
        model(X, "y", *SHARED, "y = matmul(softmax(h, axis=1), w)"), "", ""),
    "a sum over what is shared out": (
        model(X, "y", *SHARED, "y = sum(exp(h * 0.1), axes=[1])"), "", ""),
    "a turned result": (
        model(X, "y", *SHARED, "y = matmul(tanh(transpose(h, order=[1, 0])), x)"), "", ""),
    "open rows": (
        model("x: f32[N, 8], N in 1..5", "y", *SHARED, "y = matmul(relu(h), w)"), "", ""),
    "whole numbers": (
        model("x: i32[2, 8]", "y", "w = reshape(iota(shape=[64], axis=0, dtype=i32), shape=[8, 8])",
              "y = matmul(matmul(x, w), w)"), "", ""),
    "no rows": (model("x: f32[0, 8]", "y", *SHARED, "y = tanh(h)"), "", ""),
}  # fmt: skip
"""The model, and what is said where products are shared out and where there are stages."""


@pytest.mark.parametrize("how", ["tensor=2", "pipeline=2"])
@pytest.mark.parametrize("name", ODD)
def test_an_odd_model_gives_what_the_whole_gives_or_is_refused_by_name(
    tmp_path: Path, name: str, how: str
) -> None:
    text, *said = ODD[name]
    refused = said[how.startswith("pipeline")]
    if not refused:
        compare(text.encode(), tmp_path, how)
        return
    with pytest.raises(ParallelError, match=refused):
        gv.compile_parallel(text.encode(), tmp_path / "m.parallel.json", how)
    assert not [*tmp_path.iterdir()]
