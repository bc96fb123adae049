"""Symbolic dimensions are the integers they stand for."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gravure.ir.types.dims import (
    LOWEST,
    Dim,
    DimExpr,
    bounds,
    ceil_divide,
    divide_terms,
    evaluate,
    floor_divide,
    maximum,
    minimum,
    parse,
    product,
    remainder,
    substitute,
    symbol,
    symbols,
)
from gravure.ir.types.indices import sign
from gravure.ir.types.shapes import broadcast, normalize_axes, normalize_axis

N, M = symbol("N"), symbol("M")
VALUES = st.fixed_dictionaries({"N": st.integers(0, 40), "M": st.integers(0, 40)})
BINARY = ("+", "-", "*", "max", "min")
RULES: dict[str, Any] = {
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
    "max": max,
    "min": min,
    "//": int.__floordiv__,
    "%": int.__mod__,
}


def combine(op: str, a: Dim, b: Dim) -> Dim:
    """Return an operation on dimensions."""
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "max":
            return maximum(a, b)
        case "min":
            return minimum(a, b)
        case "//":
            return floor_divide(a, b)
        case _:
            return remainder(a, b)


Tree = int | str | tuple[str, "Tree", "Tree"]
LEAVES = st.integers(-9, 9) | st.sampled_from(["N", "M"])
TREES: st.SearchStrategy[Tree] = st.recursive(
    LEAVES,
    lambda inner: (
        st.tuples(st.sampled_from([*BINARY]), inner, inner)
        | st.tuples(st.sampled_from(["//", "%"]), inner, st.integers(1, 9))
    ),
    max_leaves=6,
)


def build(tree: Tree) -> Dim:
    """Return the dimension that a tree describes."""
    if isinstance(tree, tuple):
        return combine(tree[0], build(tree[1]), build(tree[2]))
    return tree if isinstance(tree, int) else symbol(tree)


def compute(tree: Tree, values: dict[str, int]) -> int:
    """Return the value of a tree by Python's own arithmetic."""
    if isinstance(tree, int):
        return tree
    if isinstance(tree, str):
        return values[tree]
    a, b = compute(tree[1], values), compute(tree[2], values)
    return int(RULES[tree[0]](a, b))


@given(TREES, VALUES)
def test_expression_is_its_value(tree: Tree, values: dict[str, int]) -> None:
    assert evaluate(build(tree), values) == compute(tree, values)


@given(TREES)
def test_text_reads_back(tree: Tree) -> None:
    dim = build(tree)
    assert parse(str(dim)) == dim


@given(TREES, TREES, VALUES)
@settings(max_examples=50)
def test_substitution_comes_before_or_after_evaluation(
    tree: Tree, inner: Tree, values: dict[str, int]
) -> None:
    replaced = substitute(build(tree), {"N": build(inner)})
    inside = {**values, "N": evaluate(build(inner), values)}
    assert evaluate(replaced, values) == evaluate(build(tree), inside)


@given(TREES, st.integers(0, 6), st.integers(0, 6))
@example(("*", "N", ("min", -1, "N")), 0, 1)
def test_bounds_hold_everywhere(tree: Tree, low: int, more: int) -> None:
    ranges = {"N": (low, low + more), "M": (1, 4)}
    bottom, top = bounds(build(tree), ranges)
    for n in range(low, low + more + 1):
        for m in range(1, 5):
            value = compute(tree, {"N": n, "M": m})
            assert bottom <= value
            assert top is None or value <= top


@given(TREES, TREES, st.integers(1, 9), st.integers(-3, 3), VALUES)
@settings(max_examples=300)
def test_what_is_rounded_to_multiples_is_its_value(
    tree: Tree, other: Tree, by: int, times: int, values: dict[str, int]
) -> None:
    x, y = build(tree), build(other)
    for made, wanted in (
        (x * times * y + (x * -1) % by * times * y, -(-compute(tree, values) // by) * by),
        (x * times * y - x % by * times * y, compute(tree, values) // by * by),
    ):
        assert evaluate(made, values) == wanted * times * compute(other, values)
        low, high = bounds(made, {"N": (0, 40), "M": (0, 40)})
        assert low <= evaluate(made, values)
        assert high is None or evaluate(made, values) <= high


@pytest.mark.parametrize(
    ("dim", "wanted"),
    [
        ("N + (7 - N % 7) % 7", "7*((N + 6) // 7)"),
        ("N + N % 2", "2*((N + 1) // 2)"),
        ("N - 3 + (3 - N) % 7", "7*((N + 3) // 7)"),
        ("N // 4 + (-(N // 4)) % 7", "7*((N + 24) // 28)"),
        ("N - N % 7", "7*(N // 7)"),
        ("M*N + M*((-N) % 5)", "5*M*((N + 4) // 5)"),
        ("(N + (-N) % 7) * (M + (-M) % 7) // 49", "((N + 6) // 7) * ((M + 6) // 7)"),
        ("(N + N % 14) % 7", "2*N % 7"),
        ("(N % 7 + N % 7 // 6) % 7", "(N + N % 7 // 6) % 7"),
        ("N + (-N) % 7 - (-N) % 7", "N"),
        ("2*M*(N + N % 2) - 2*M*(N % 2)", "2*M*N"),
        ("N + (-N) % 7 - N", "(-N) % 7"),
        ("M*(7 * ((N + 6) // 7) - N)", "M*((-N) % 7)"),
        ("N - 3 + (3 - N) % 7 - N", "(3 - N) % 7 - 3"),
        ("N - N % 6 - N", "-(N % 6)"),
        ("7*(N // 7) + N % 7", "N"),
        ("N - N % 5 + N % 5", "N"),
        ("N + M % 2", "N + M % 2"),
    ],
)
def test_what_is_padded_to_a_multiple_is_one(dim: str, wanted: str) -> None:
    assert parse(dim) == parse(wanted)


@pytest.mark.parametrize(
    ("dim", "text"),
    [
        ((N + 1) * 2 - N, "N + 2"),
        (N + M - M, "N"),
        (M * N, "M*N"),
        (N * M * N, "M*N*N"),
        (4 - N, "-N + 4"),
        (N // 2 + 1, "((N) // (2)) + 1"),
        (maximum(M, N), "max(M, N)"),
        (minimum(N + 3, 2), "min(2, N + 3)"),
    ],
)
def test_text_is_canonical(dim: Dim, text: str) -> None:
    assert str(dim) == text


def test_equal_expressions_are_equal_objects_to_python() -> None:
    assert (N + 1) * (N - 1) == N * N - 1
    assert hash(N + M) == hash(M + N)
    assert N - N == 0
    assert isinstance(N - N, int)
    assert parse("N") in {N: 1}


def test_division_that_is_exact_disappears() -> None:
    assert (N * 6) // 3 == N * 2
    assert (N * 6 + 4) // 3 == N * 2 + 1
    assert (N * M * 2) // (N * 2) == M
    assert (N * M) // N == M
    assert N // N == 1
    assert (N * M) % M == 0
    assert (N * 8 + 3) % 4 == 3
    assert N // 1 == N
    assert N % 1 == 0
    assert (N * 0) // M == (N * 0) % M == 0
    assert (N * 4 + 4) // (N * 2 + 2) == 2
    assert (N * N + 2 * N * M + M * M) // (N + M) == N + M
    assert (N * M + M) % (N + 1) == 0


@given(TREES, TREES, VALUES)
def test_long_division_gives_what_it_is_made_of(
    tree: Tree, divisor: Tree, values: dict[str, int]
) -> None:
    a, b = build(tree), build(divisor)
    if isinstance(b, DimExpr):
        quotient, rest = divide_terms(a, b)
        assert evaluate(quotient * b + rest, values) == compute(tree, values)


def test_extremes_of_a_known_difference_disappear() -> None:
    assert maximum(N + 1, N) == N + 1
    assert minimum(N + 1, N) == N


def test_products_and_quotients_of_numbers_are_numbers() -> None:
    assert product((2, 3)) == 6
    assert product(()) == 1
    assert product((N, 0)) == 0
    assert ceil_divide(7, 4) == 2
    assert evaluate(ceil_divide(N, 4), {"N": 9}) == 3


def test_symbols_are_found_inside_functions() -> None:
    assert symbols((N // 2) % maximum(M, 3)) == {"N", "M"}
    assert symbols(3) == frozenset()


@pytest.mark.parametrize(
    "text", ["", "N +", "1.5", "True", "N ** 2", "f(N)", "N if M else 1", "'N'", "1 // 0", "[N]"]
)
def test_text_that_is_no_dimension_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not an integer expression"):
        parse(text)


def test_symbol_is_an_identifier() -> None:
    with pytest.raises(ValueError, match="is not an identifier"):
        symbol("a-b")


def test_unbounded_symbols_have_no_top() -> None:
    assert bounds(N * 2 + 1, {}) == (1, None)
    assert bounds(N * 2 + 1, {"N": (3, None)}) == (7, None)
    assert bounds(N * 2 + 1, {"N": (3, 5)}) == (7, 11)


def test_what_has_no_bottom_is_not_said_to_have_one() -> None:
    assert bounds(3 - N, {}) == (LOWEST, 3)
    assert bounds((3 - N) // 2, {}) == (LOWEST, 1)
    assert bounds(maximum(3 - N, 1), {}) == (1, 3)


def test_bounds_of_a_rest_and_of_the_smaller_are_attained() -> None:
    assert bounds(N % 4, {}) == (0, 3)
    assert bounds(N % 4, {"N": (0, 2)}) == (0, 2)
    assert bounds((N - 9) % 4, {"N": (0, 2)}) == (0, 3)
    for wide, narrow in ("NM", "MN"):
        ranges = {wide: (2, 9), narrow: (4, 5)}
        assert bounds(minimum(N, M), ranges) == (2, 5)
        assert bounds(maximum(N, M), ranges) == (4, 9)


def test_what_is_divided_and_multiplied_again_is_no_larger() -> None:
    ranges = {"N": (1, 64), "M": (1, 64), "K": (1, 8)}
    halves = (N // 2) * (M // 2)
    K = symbol("K")  # noqa: N806
    assert bounds(12 * (K * N * M // (4 * halves)) * halves, ranges)[1] == 3 * 8 * 64 * 64
    assert bounds(5 * (K * N // (2 * (N // 2))) * (N // 2), ranges)[1] == 5 * 8 * 64 // 2
    assert bounds((K * N // (N // 2)) * (N // 2) * M, {"N": (1, 4), "K": (1, 2)})[1] is None
    assert bounds((K * N // (N // 2)) * (N // 2), ranges)[1] == 8 * 64


def test_quotients_of_quotients_are_one() -> None:
    assert (N // 2) // 2 == N // 4
    assert ((N - 1) // 2 + 1) // 4 == (N + 1) // 8
    assert ((N // 3 + M) // 2) == (N + 3 * M) // 6
    assert (N // 2 * 2) // 2 == N // 2


def test_what_is_cut_off_and_put_to_the_other_end_leaves_the_size() -> None:
    assert maximum(N - 2, 0) + minimum(N, 2) == N
    assert M * 3 * maximum(N, M) + minimum(M, N) * 3 * M == 3 * M * N + 3 * M * M
    assert maximum(N + 5, M) - maximum(N + 2, M - 3) == 3
    assert minimum(2 - N, 4) - minimum(N + 2, 4 + N * 2) == N * -2
    assert str(maximum(N, 2) + minimum(N, 3)) == "max(2, N) + min(3, N)"
    assert str(maximum(N, 2) - minimum(N, 2)) == "max(2, N) - min(2, N)"


def test_shapes_broadcast_by_structure() -> None:
    assert broadcast((N, 1), (M,)) == (N, M)
    assert broadcast((N, 1, 3), (N, 2, 1)) == (N, 2, 3)
    assert broadcast() == ()
    with pytest.raises(TypeError, match=r"shapes \(N,\) and \(M,\) do not broadcast: N against M"):
        broadcast((N,), (M,))
    with pytest.raises(TypeError, match="3 against N"):
        broadcast((3,), (N,))


def test_axes_count_from_either_end() -> None:
    assert normalize_axis(-1, 3) == 2
    assert normalize_axes((-1, 0), 3) == (0, 2)
    assert normalize_axes(None, 2) == (0, 1)
    with pytest.raises(TypeError, match="axis 3 is out of range for rank 3"):
        normalize_axis(3, 3)


def test_repr_says_what_it_is() -> None:
    assert repr(N + 1) == "DimExpr('N + 1')"
    assert isinstance(N + 1, DimExpr)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(0, 0), (3, 1), (-1, -1), (N, 1), (N + 1, 1), (-1 * N, -1), (-1 * N - 1, -1), (N - 1, None)],
)
def test_the_sign_of_a_coefficient(value: Dim, wanted: int | None) -> None:
    assert sign(value) == wanted
