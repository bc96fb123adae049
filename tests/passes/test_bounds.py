"""What the prover shows of index expressions, and that it shows nothing that is wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeAlias
from unittest import mock

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gravure.ir.program import functions
from gravure.ir.text import parse
from gravure.ir.types import dims
from gravure.passes.bounds.accesses import Accesses
from gravure.passes.bounds.factors import count_from
from gravure.passes.bounds.points import LARGE, MOST, Atoms, Origin, Points, Some
from gravure.passes.bounds.polynomial import ONE, ZERO, Polynomial, atom, number
from gravure.passes.bounds.prover import EARLY, Prover
from gravure.passes.bounds.rests import Rests


def holds_by_rests(prover: Prover, value: Polynomial) -> bool:
    """Say whether something is shown by quotients, and know no more afterwards than before."""
    rests = Rests(prover)
    found = rests.show(value)
    rests.leave()
    return found


def test_rows_and_columns_of_a_place_lie_inside() -> None:
    prover = Prover()
    m, n = prover.symbol("M"), prover.symbol("N")
    prover.suppose(m * n - 1)
    place = prover.counter("u", ZERO, m * n, ONE)
    column, row = prover.remainder(place, n, unsigned=True), prover.quotient(place, n)
    assert prover.holds(m - 1 - row)
    assert prover.holds(n - 1 - column)
    assert prover.holds(m * n - 1 - (row * n + column))
    assert not prover.holds(m - 2 - row)


def test_a_quotient_by_what_may_be_nothing_has_no_bounds() -> None:
    prover = Prover()
    n = prover.symbol("N")
    place = prover.counter("u", ZERO, number(6), ONE)
    row = prover.quotient(place, n, unsigned=True)
    assert not prover.holds(number(5) - row)
    with prover.given([n - 1]):
        assert prover.holds(number(5) - row)


def test_vectors_end_before_the_rest() -> None:
    prover = Prover()
    n = prover.symbol("N")
    whole = n - prover.remainder(n, number(8), unsigned=True)
    at = prover.counter("i", ZERO, whole, number(8))
    assert prover.holds(n - 1 - (at + 7))
    assert not prover.holds(n - 1 - (at + 8))


def test_a_fact_holds_as_long_as_it_is_given() -> None:
    prover = Prover()
    n, m = prover.symbol("N"), prover.symbol("M")
    assert not prover.holds(n - m)
    with prover.given([n - m]):
        assert prover.holds(n - m)
    assert not prover.holds(n - m)


def test_what_a_fact_shows_of_the_next_one_ends_with_it() -> None:
    prover = Prover()
    n, m = prover.symbol("N"), prover.symbol("M")
    with prover.given([n - 5, (n - 3) * m - 1]):  # that n - 4 holds is asked of the second
        assert prover.holds(n - 4)
    assert not prover.holds(n - 4)


def test_facts_are_learned_from_once_a_proof_needs_them() -> None:
    prover, learned = Prover(), []
    n, m = prover.symbol("N"), prover.symbol("M")
    learn_of = prover._learn_of
    with mock.patch.object(prover, "_learn_of", lambda f: (learned.append(f), learn_of(f))[1]):
        with prover.given([n - 8]):
            at = prover.counter("i", ZERO, n, ONE)
            assert prover.holds(n - 1 - at)
            with prover.given([m - n]):
                assert prover.holds(n - 1 - at)
                assert not learned
                assert prover.holds(n - 5)
                assert prover.holds(m - 5)
                assert learned == [n - 8, m - n]
            assert prover.holds(n - 6)
            assert not prover.holds(m - 5)
            assert len(learned) == 2
        assert not prover.holds(n - 5)


def test_facts_that_do_not_help_are_not_learned_from() -> None:
    prover = Prover()
    n, m = prover.symbol("N"), prover.symbol("M")
    with (
        prover.given([n - 8]),
        mock.patch.object(prover, "_learn_of", side_effect=AssertionError("it was learned from")),
    ):
        assert not prover.holds(m - 1000000)


def test_tiles_of_images_of_an_open_number_lie_inside() -> None:
    prover = Prover()
    n = prover.symbol("N")
    prover.suppose(n - 1)
    block = prover.counter("u", ZERO, prover.quotient(n * 64 + 43, number(44)), ONE)
    turns = prover.one_of("min", n * 64 - block * 44, number(44))
    place = block * 44 + prover.counter("i", ZERO, turns, ONE)  # 44 tiles, of 8 by 8 an image
    image, tile = prover.quotient(place, number(64)), prover.remainder(place, number(64))
    row, column = prover.quotient(tile, number(8)), prover.remainder(tile, number(8))
    at = (image * 32 + row * 4) * 32 + column * 4
    spare = n * 1024 - 1 - (at + 3 * 32 + 3)
    assert holds_by_rests(prover, spare)
    assert not holds_by_rests(prover, spare - 1)
    with prover.given([row - 1, number(6) - row, column - 1, number(6) - column]):
        assert holds_by_rests(prover, at - 4 * 32 - 4)
        assert holds_by_rests(prover, spare - 4 * 32 - 4)
        assert not holds_by_rests(prover, spare - 4 * 32 - 5)


def test_what_is_known_of_quotients_is_kept_for_both_ends_of_a_place() -> None:
    prover = Prover()
    n = prover.symbol("N")
    prover.suppose(n - 1)
    block = prover.counter("u", ZERO, prover.quotient(n * 64 + 43, number(44)), ONE)
    turns = prover.one_of("min", n * 64 - block * 44, number(44))
    place = block * 44 + prover.counter("i", ZERO, turns, ONE)
    image, tile = prover.quotient(place, number(64)), prover.remainder(place, number(64))
    row, column = prover.quotient(tile, number(8)), prover.remainder(tile, number(8))
    spare = n * 1024 - 1 - ((image * 32 + row * 4) * 32 + column * 4 + 3 * 32 + 3)
    rests, facts = Rests(prover), len(prover.facts)
    with mock.patch.object(prover, "enter", wraps=prover.enter) as enter:
        assert rests.show(spare)
        assert rests.show(spare + 7)
        assert not rests.show(spare - 1)
    assert enter.call_count == 1
    assert len(prover.facts) > facts
    rests.leave()
    assert len(prover.facts) == facts
    rests.leave()
    assert len(prover.facts) == facts


def test_an_atom_between_numbers_is_found_without_a_look_at_every_bound() -> None:
    prover = Prover()
    n = prover.symbol("N")
    inner = prover.counter("i", ZERO, number(9), ONE)
    outer = prover.counter("j", ZERO, n, ONE)
    data = prover.new("data")
    assert prover.single(inner * 3 + outer + n) == inner.latest
    assert prover.single(outer + data) == data.latest
    assert prover.single(outer + n) == outer.latest
    prover.later = {inner.latest: ([], []), n.latest: ([], [])}
    assert prover.counter_first(inner + outer + n) == inner.latest
    assert prover.counter_first(outer + n) == n.latest
    assert prover.counter_first(outer + data) == data.latest


def test_what_cannot_be_is_not_reached() -> None:
    prover = Prover()
    lane = prover.counter("lane", ZERO, number(16), ONE)
    with prover.given([-lane - 1]):  # a mask of no lanes
        assert prover.holds(number(-1))
    assert not prover.holds(number(-1))


def test_a_window_that_is_walked_lies_inside_of_its_row() -> None:
    """Places of seven taps at every other one of a row, but for those that stand out of it."""
    prover = Prover()
    width = prover.symbol("W")
    prover.suppose(width - 1)
    places = prover.quotient(width + 1, number(2))
    first = prover.one_of("min", number(2), places)
    inner = prover.quotient(prover.one_of("max", width - 2, ZERO), number(2))
    last = prover.one_of("max", first, prover.one_of("min", inner, places))
    assert not prover.holds(first - 2)
    with prover.given([last - first - 1]):
        assert prover.holds(first - 2)
        assert prover.holds(width - 2 - last * 2)
        assert not prover.holds(width - 3 - last * 2)
    sixes = prover.quotient(last - first, number(6))
    fours = prover.quotient(last - first - sixes * 6, number(4))
    assert not prover.holds(width - 2 - last * 2)
    with prover.given([fours - 1]):
        assert prover.holds(width - 2 - last * 2)


def test_facts_that_follow_from_each_other_come_to_an_end() -> None:
    prover = Prover()
    first = prover.counter("lo", ZERO, number(80), ONE)
    at = prover.counter("i", first, number(80), ONE)
    row = prover.remainder(at, number(80), unsigned=True)
    before = prover.one_of("min", at - first, ONE)
    low = prover.one_of("max", row + before + before - 1, ZERO)
    high = prover.one_of("min", row + 2, number(80))
    prover.quotient(row, number(4))  # cuts the row: what is learned of its digits goes in circles
    with prover.given([high - low - 1]):
        assert prover.holds(high - low - 1)
        assert prover.holds(number(1) - before)
        assert not prover.holds(-before)


def test_a_long_chain_of_bounds_leaves_room_on_the_stack() -> None:
    prover = Prover()
    factor, below = prover.new("f"), number(0)
    for turn in range(200):  # each is the one before, and so 0 at last
        below = prover.counter(f"x{turn}", below, below + 1, ONE)
    depth, frame = 0, sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 600)
    try:
        assert not prover.holds(factor * below)
    finally:
        sys.setrecursionlimit(limit)


def test_clamps_of_dimensions_follow() -> None:
    prover = Prover({"N": (0, None)})
    n = dims.symbol("N")
    assert prover.holds(prover.dim(n - dims.minimum(n, 5)))
    assert prover.holds(prover.dim(dims.maximum(n, 3) - 3))
    assert not prover.holds(prover.dim(n - 1))


Row: TypeAlias = tuple[Polynomial, np.ndarray[Any, Any]]
STEPS = st.lists(
    st.tuples(
        st.sampled_from("+-*/%<>"), st.integers(0, 20), st.integers(0, 20), st.integers(1, 7)
    ),
    min_size=1,
    max_size=7,
)


def combined(prover: Prover, kind: str, one: Row, other: Row, size: int) -> Row:
    """Return an operation on expressions and on all their values."""
    (a, x), (b, y) = one, other
    found: dict[str, Callable[[], Row]] = {
        "+": lambda: (a + b, x + y),
        "-": lambda: (a - b, x - y),
        "*": lambda: (a * size, x * size),
        "/": lambda: (prover.quotient(a, number(size)), x // size),
        "%": lambda: (prover.remainder(a, number(size)), x % size),
        "<": lambda: (prover.one_of("min", a, b), np.minimum(x, y)),
        ">": lambda: (prover.one_of("max", a, b), np.maximum(x, y)),
    }
    return found[kind]()


@settings(max_examples=200)
@given(STEPS, st.integers(1, 9), st.integers(1, 9), st.integers(-3, 40))
def test_what_is_shown_is_so(
    steps: list[tuple[str, int, int, int]], m: int, n: int, top: int
) -> None:
    """Build expressions of two counters, and look at all values of what is said of them."""
    prover = Prover()
    i = prover.counter("i", ZERO, number(m), ONE)
    j = prover.counter("j", ZERO, number(n), ONE)
    grid = np.indices((m, n))
    rows: list[Row] = [
        (i, grid[0]), (j, grid[1]),
    ]  # fmt: skip
    for kind, first, second, size in steps:
        (a, x), (b, y) = rows[first % len(rows)], rows[second % len(rows)]
        rows.append(combined(prover, kind, (a, x), (b, y), size))
    for expression, values in rows:
        if prover.holds(expression) or holds_by_rests(prover, expression):
            assert values.min() >= 0
        spare = number(top) - expression
        if prover.holds(spare) or holds_by_rests(prover, spare):
            assert values.max() <= top


TERMS = st.dictionaries(
    st.lists(st.integers(0, 2), max_size=3).map(lambda row: tuple(sorted(row))),
    st.integers(-6, 6),
    max_size=4,
)


def polynomial(terms: dict[tuple[int, ...], int]) -> Polynomial:
    """Return a sum of products of three atoms."""
    total = ZERO
    for row, coefficient in terms.items():
        product = number(coefficient)
        for each in row:
            product = product * atom(each)
        total = total + product
    return total


@given(TERMS, TERMS, st.tuples(*[st.integers(-4, 9)] * 3))
def test_polynomials_are_what_their_values_are(
    first: dict[tuple[int, ...], int], second: dict[tuple[int, ...], int], values: tuple[int, ...]
) -> None:
    atoms = Atoms([], [])
    for value in values:
        atoms.add(Origin("from", (number(value),)))
    point = Some([0], atoms)
    a, b = polynomial(first), polynomial(second)

    def at(value: Polynomial) -> int:
        (found,) = point.row(value)
        return found

    x, y = at(a), at(b)
    assert [at(each) for each in (a + b, a - b, a * b, -a, a + 3, a * 3)] == [
        x + y, x - y, x * y, -x, x + 3, x * 3,
    ]  # fmt: skip
    assert (at(a.reduced()) >= 0) == (x >= 0)
    for which in range(3):
        factor, rest = a.parted(which)
        assert at(factor) * values[which] + at(rest) == x
        if (which,) in a.terms:
            replaced = None if factor.terms else (factor * b + rest).reduced()
            assert a.bounded(which, b) == replaced
    assert (a + b) - b == a
    assert hash((a + b) - b) == hash(a)
    if not b.is_zero:
        whole, rest = a.split(b)
        assert at(whole) * y + at(rest) == x
        assert (a * b).divided(b) == a


def test_values_at_some_points_are_digits_of_one_number() -> None:
    atoms, data, place = Atoms([], []), atom(0), atom(1)
    atoms.add(Origin("data"))
    atoms.add(Origin("walk", (number(-3), number(7))))
    some = Some(range(5), atoms)
    assert some.row(data - 1) == [-2, (1 << 40) - 1] * 2 + [-2]
    assert some.row(place) == [3, -3, -3, 3, 0]  # the last, the first, and others
    assert some.row(data * place + 2) == [
        a * b + 2 for a, b in zip(some.row(data), some.row(place), strict=True)
    ]
    assert some.sides(place) == (some.below(place), some.below(-place))
    large = data * data * data * data
    assert LARGE <= 1 << 160
    some.at(large)  # says nothing any more where it does not fit
    assert [bool(some.fitting >> shift >> 191 & 1) for shift in some.shifts] == [
        True, False, True, False, True,
    ]  # fmt: skip


def test_points_are_found_where_sizes_are_small_and_rows_are_at_an_edge() -> None:
    points, size, place = Points(), atom(0), atom(1)
    points.add(Origin("symbol", (ZERO,)))
    count = len(points.known)
    points.know((number(50) - size,))  # all there were before are larger
    assert points.refute(size - 50)
    assert not points.refute(number(50) - size)
    points.add(Origin("walk", (ZERO, size)))
    points.know((place - size + 1,))
    assert points.refute(number(1) - place)
    assert not points.refute(place - size + 1)
    points.know((size - 51,))  # now nothing is left
    assert not points.refute(number(-1) - size)
    points.restore(count)
    assert points.refute(number(100) - size)
    assert sum(len(some.numbers) for some in points.all) <= MOST


def test_proofs_hold_where_no_point_was_before() -> None:
    prover = Prover()
    n = prover.symbol("N")
    with prover.given((number(50) - n,)):
        row = prover.counter("i", ZERO, n, ONE)
        assert prover.holds(number(49) - row)
        assert not prover.holds(number(12) - row)
        assert prover.points.refute(number(12) - row)
    assert not prover.holds(number(50) - n)


ROWS = """
func.func @rows(%x: memref<?xf32>, %n: index, %w: index, %lo: index, %hi: index, %slot: index)
    attributes {{gv.symbols = ["N", "W"], gv.sizes = ["N*W + {more}"], gv.units = "N"}} {{
  %one = arith.constant 1 : index
  scf.for %i = %lo to %hi step %one {{
    %0 = arith.muli %i, %w : index
    {loads}
  }}
  func.return
}}
"""
NEXT = """
    %{at} = arith.addi %{before}, %w : index
    %v{at} = memref.load %x[%{at}] : memref<?xf32>
"""


def rows(count: int, more: str) -> Accesses:
    """Return a kernel that reads some places, each one row behind the one before."""
    loads = "".join(NEXT.format(at=at + 1, before=at) for at in range(count))
    (function,) = functions(parse(ROWS.format(loads=loads, more=more)))
    return Accesses(function)


def test_the_first_and_the_last_of_many_rows_are_proven() -> None:
    few, many = rows(2, "8*W + 1"), rows(8, "8*W + 1")
    assert few.prove() == many.prove() == []
    assert few.prover.budget == many.prover.budget
    assert [each.op.results[0].name_hint for each in rows(8, "5*W + 1").prove()] == ["v7", "v8"]


CHOICES = """
func.func @choices(%x: memref<?xf32>, %n: index, %w: index, %lo: index, %hi: index, %slot: index)
    attributes {{gv.symbols = ["N", "W"], gv.sizes = ["N"], gv.units = "N"}} {{
  %0 = arith.muli %slot, %w : index
  {choices}
  func.return
}}
"""
CHOICE = """
  %{at} = arith.addi %{before}, %w : index
  %c{at} = arith.cmpi slt, %{at}, %n : index
  scf.if %c{at} {{
    %v{at} = memref.load %x[%{at}] : memref<?xf32>
  }}
"""


def test_facts_that_were_needed_are_learned_from_at_once_the_next_time() -> None:
    def early(count: int) -> int:
        choices = "".join(CHOICE.format(at=at + 1, before=at) for at in range(count))
        (function,) = functions(parse(CHOICES.format(choices=choices)))
        accesses = Accesses(function)
        prover = accesses.prover
        with mock.patch.object(prover, "_holds_by", wraps=prover._holds_by) as tried:
            assert accesses.prove() == []
        return sum(call.args[2] == EARLY for call in tried.mock_calls)

    few, many = early(4), early(40)
    assert few == many > 0


def test_steps_without_a_choice_take_no_fuel() -> None:
    prover = Prover()
    low = prover.symbol("N")
    place = low
    for _ in range(200):  # a place is not below the one before, by which alone it is bounded
        place = prover.new("i", low=place + 1)
    assert prover.holds(place - low - 200)
    assert not prover.holds(place - low - 201)


def test_sizes_that_are_products_of_sums_are_products_of_atoms() -> None:
    prover = Prover()
    n, rows, columns = (prover.symbol(name) for name in ("N", "X", "Y"))
    size = n * (rows - 1) * (columns - 1)
    for fact in (n - 1, rows - 3, columns - 2):
        prover.suppose(fact)
        count_from(prover, fact, [size])
    assert len(prover.resolved(size).terms) == 1
    assert prover.holds(size - 2)
    assert not prover.holds(size - 3)  # X is 3, Y is 2
    image = prover.counter("image", ZERO, n, ONE)
    row = prover.counter("row", ZERO, rows - 1, ONE)
    column = prover.counter("column", ZERO, columns - 1, ONE)
    at = (image * (rows - 1) + row) * (columns - 1) + column
    assert prover.holds(size - 1 - at)
    assert not prover.holds(size - 2 - at)


def test_the_bound_that_helped_last_is_tried_first() -> None:
    prover = Prover()
    n, m = prover.symbol("N"), prover.symbol("M")
    row = prover.counter("row", ZERO, n, ONE)

    def steps(place: Polynomial) -> int:
        before = prover.budget
        assert prover.holds(place, expected=True)
        return before - prover.budget

    with prover.given((m - row,)):
        prover.learn()
        assert [steps(n - row + more) for more in (-1, 0, 1)] == [2, 1, 1]


def test_points_give_values_to_what_is_asked_for() -> None:
    points = Points()
    for _ in range(3):
        points.add(Origin("symbol", (ZERO,)))
    points.add(Origin("//", (atom(0), atom(1))))
    assert not points.refute(atom(3))
    assert {point.valued for point in points.all} == {0b1011}


def test_what_a_quotient_leaves_is_a_digit() -> None:
    prover = Prover()
    m, n = prover.symbol("M"), prover.symbol("N")
    place = prover.counter("u", ZERO, m * n, ONE)
    assert prover.remainder(place, n).is_atom
