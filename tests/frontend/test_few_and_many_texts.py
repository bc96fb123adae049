"""Few texts and many, at once and in functions: joined, compared, stripped, replaced the same."""

import base64
import re

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.values.texts import FEW, Texts

PIECES = [
    b"",
    b" ",
    b"\t\n\x0b\x0c\r a b \r",
    b"x",
    b"Word 12",
    b"\xff \xe2\x82",
    b"a\x00b7 ",
    b"\xa0 \x85",
]
COUNTS = [1, 8, 63, 64, 200]


def texts(count, *, zeros=True):
    pieces = [x for x in PIECES if zeros or b"\x00" not in x]
    return [pieces[i % len(pieces)] for i in range(count)]


def both(run, *given):
    """Return what a function gives at once, which has to be what it gives when it is staged."""
    found = [np.asarray(run(*given)) for _ in range(4)]  # noted, and remembered
    staged = np.asarray(tf.function(run)(*given))
    for each in (*found[1:], staged):
        np.testing.assert_array_equal(each, found[0], strict=True)
    return found[0]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("zeros", [False, True])
def test_texts_are_stripped_and_replaced_as_by_python(count, zeros):
    given = texts(count, zeros=zeros)
    x = tf.constant(given)
    assert both(tf.strings.strip, x).tolist() == [each.strip() for each in given]
    wanted = [each.replace(b"7", b"n").replace(b"12", b"n") for each in given]
    assert both(lambda x: tf.strings.regex_replace(x, "[0-9]+", "n"), x).tolist() == wanted
    wanted = [re.sub(rb"([aW])", rb"<\1>", each) for each in given]
    made = both(lambda x: tf.strings.regex_replace(x, "([aW])", r"<\1>"), x)
    assert made.tolist() == wanted


def test_what_is_written_for_a_match_may_have_a_byte_of_zero():
    made = tf.strings.regex_replace([b"ab", b"ba", b""], "a", "\0")
    assert made.numpy().tolist() == [b"\0b", b"b\0", b""]


SHAPES = {
    "rows": ([(3, 4), (2, 4)], 0),
    "columns": ([(3, 4), (3, 2)], 1),
    "columns of one row": ([(1, 40), (1, 50)], -1),
    "many rows": ([(30, 4), (20, 4), (1, 4)], 0),
    "many columns": ([(30, 4), (30, 2)], 1),
    "some and none": ([(70,), (0,)], 0),
    "none": ([(0,), (0,)], 0),
}


@pytest.mark.parametrize("name", SHAPES)
def test_texts_are_joined_along_axes_as_arrays_are(name):
    shapes, axis = SHAPES[name]
    parts = [np.array(texts(int(np.prod(x))), object).reshape(x) for x in shapes]
    made = both(lambda *xs: tf.concat([*xs], axis), *map(tf.constant, parts))
    np.testing.assert_array_equal(made, np.concatenate(parts, axis), strict=True)


@pytest.mark.parametrize(
    ("shapes", "axis"),
    [([(2, 3), (2, 4)], 0), ([(2, 3), (3,)], 0), ([(2,), (3,)], 1), ([(), ()], 0)],
)
def test_texts_that_do_not_fit_are_refused(shapes, axis):
    parts = [tf.constant(np.full(x, b"a", object)) for x in shapes]
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        tf.concat(parts, axis)


@pytest.mark.parametrize("count", COUNTS)
def test_texts_are_compared_at_each_place(count):
    one, other = texts(count), texts(count + 1)[1:]
    x, y = tf.constant(one), tf.constant(other)
    wanted = [a == b for a, b in zip(one, other, strict=True)]
    assert both(lambda x, y: x == y, x, y).tolist() == wanted
    assert both(lambda x, y: x != y, x, y).tolist() == [not each for each in wanted]
    assert both(lambda x, y: x == y[:1], x, y).tolist() == [a == other[0] for a in one]
    assert both(lambda x: x == "x", x).tolist() == [a == b"x" for a in one]


def test_a_text_alone_is_compared_as_a_tensor_without_axes():
    made = tf.constant("a") == tf.constant("a")
    assert (made.dtype, made.shape.as_list(), bool(made)) == (tf.bool, [], True)
    made = tf.constant(["a", "b", "c"]) == tf.constant(["a", "b"])
    assert (made.dtype, made.shape.as_list(), bool(made)) == (tf.bool, [], False)


@pytest.mark.parametrize("count", COUNTS)
def test_base_64_of_the_web_is_read(count):
    given = [bytes([i % 256, 251, 255])[: i % 4] for i in range(count)]
    coded = [base64.urlsafe_b64encode(x) for x in given]
    assert both(tf.io.decode_base64, tf.constant(coded)).tolist() == given
    bare = tf.constant([x.rstrip(b"=") for x in coded])
    assert both(tf.io.decode_base64, bare).tolist() == given


@pytest.mark.parametrize("text", [b"A", b"A+==", b"A/A", b"AA!A", b"AA=A", b"A\xff==", b"AA AA"])
@pytest.mark.parametrize("count", [1, 100])
def test_what_is_no_base_64_of_the_web_is_refused(text, count):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"[bB]ase ?64"):
        tf.io.decode_base64([b"AAAA"] * (count - 1) + [text])


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_texts_are_stacked_as_arrays_are(count, axis):
    one, other = texts(2 * count), texts(2 * count)[::-1]
    arrays = [np.array(x, object).reshape(2, count) for x in (one, other)]
    found = both(lambda *xs: tf.stack([*xs, xs[0]], axis), *map(tf.constant, arrays))
    np.testing.assert_array_equal(found, np.stack([*arrays, arrays[0]], axis), strict=True)


@pytest.mark.parametrize("dims", [(2, 3, 2), (4, 5, 6), (1, 70), (70, 1)])
@pytest.mark.parametrize("sign", ["", "-", "\0ab"])
@pytest.mark.parametrize("keepdims", [False, True])
def test_texts_are_put_together_along_any_axes(dims, sign, keepdims):
    array = np.array(texts(np.prod(dims)), object).reshape(dims)
    rank = len(dims)
    for axes in ([], [0], [-1], [1, 0], [0, 1], [0, rank - 1], [*range(rank)][::-1]):
        found = both(lambda x, axes=axes: tf.strings.reduce_join(x, axes, keepdims, sign), array)
        expected = array
        for place, axis in enumerate(axes):
            left = [x % rank for x in axes[:place]]
            at = axis % rank - sum(x < axis % rank for x in left)
            expected = joined(expected, at, sign.encode())
        ends = [1 if i in {a % rank for a in axes} else n for i, n in enumerate(dims)]
        np.testing.assert_array_equal(found, expected.reshape(ends) if keepdims else expected)


def test_no_texts_put_together_are_an_empty_one():
    empty = tf.zeros([3, 0, 70], tf.string)
    found = both(lambda x: tf.strings.reduce_join(x, [1, 0], separator="-"), empty)
    assert found.tolist() == [b""] * 70
    assert both(lambda x: tf.strings.reduce_join(x, 0), empty).shape == (0, 70)


def joined(array, axis, sign):
    """Put texts along one axis together, one after the other."""
    lines = np.moveaxis(array, axis, -1)
    made = np.empty(lines.shape[:-1], object)
    for place in np.ndindex(made.shape):
        made[place] = sign.join(lines[place].tolist())
    return made


@pytest.mark.parametrize("fill", ["", " ", "0", "-", "*"])
@pytest.mark.parametrize("count", [3, 500])
def test_numbers_are_filled_up_to_a_width(fill: str, count: int) -> None:
    numbers = np.arange(count) * 977 - 1500
    for width in (-1, 0, 1, 6):
        found = tf.strings.as_string(tf.constant(numbers), width=width, fill=fill)
        for number, text in zip(numbers.tolist(), found.numpy().tolist(), strict=True):
            sign, digits = ("-" if number < 0 else ""), str(abs(number))
            wanted = str(number).rjust(width, fill or " ")
            if fill == "-":
                wanted = str(number).ljust(width)
            elif fill == "0":
                wanted = sign + digits.rjust(width - len(sign), "0")
            assert text.decode() == wanted


@pytest.mark.parametrize("count", COUNTS)
def test_texts_are_rolled_at_once(count, monkeypatch):
    """Each axis had parts of all texts laid anew, which were then laid behind each other."""
    given = np.array(texts(8 * count), object).reshape(8, count)
    for shift, axis in (([3, -2], [0, 1]), ([1], [1]), ([2, 5, 1], [1, 1, -2]), ([], [])):
        wanted = np.roll(given, shift, axis).tolist()
        assert both(lambda x, s=shift, a=axis: tf.roll(x, s, a), given).tolist() == wanted
    x, laid = tf.constant(given), []
    taken = Texts.taken
    monkeypatch.setattr(Texts, "taken", lambda *args: laid.append(args) or taken(*args))
    tf.roll(x, [3, -2], [0, 1])
    assert len(laid) == (8 * count >= FEW)


@pytest.mark.parametrize("count", COUNTS)
def test_texts_of_one_shape_are_chosen_in_one_loop(count, monkeypatch):
    one, other = np.array(texts(count), object), np.array(texts(count)[::-1], object)
    holds = np.random.default_rng(0).random(count) < 0.5
    wanted = np.where(holds, one, other).tolist()
    assert both(tf.where, holds, one, other).tolist() == wanted
    assert both(tf.where, holds[:1], one, other).tolist() == (one if holds[0] else other).tolist()
    monkeypatch.setattr(Texts, "taken", None)
    assert tf.where(holds, tf.constant(one), tf.constant(other)).numpy().tolist() == wanted
