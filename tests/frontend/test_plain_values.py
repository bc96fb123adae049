"""Plain values: what is seen at once is what is seen element by element."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.tf.nondense.crossing import HASH_KEY, joined_fingerprints

WHOLE = ["0", "-7", "+12", " 5 ", "2147483647", "-2147483648", "007"]
NONE = ["", "+", "--1", "+-2", "1_0", "1.5", "2147483648", "0x10", "1 2", "\u0661"]


@pytest.mark.parametrize("count", [1, 100])
@pytest.mark.parametrize("text", WHOLE)
def test_whole_numbers_are_read(text: str, count: int) -> None:
    found = tf.strings.to_number([text, *["3"] * count], tf.int32)
    assert found.numpy().tolist() == [int(text), *[3] * count]
    assert found.dtype == tf.int32


@pytest.mark.parametrize("count", [1, 100])
@pytest.mark.parametrize("text", NONE)
def test_what_is_no_whole_number_is_refused(text: str, count: int) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert"):
        tf.strings.to_number([*["3"] * count, text], tf.int32)


def test_numbers_of_64_bits_are_read() -> None:
    ends = [b"-9223372036854775808", b"9223372036854775807"]
    found = tf.strings.to_number(ends, tf.int64)
    assert found.numpy().tolist() == [*map(int, ends)]
    assert tf.strings.to_number(tf.zeros([0], tf.string), tf.int64).shape == (0,)


TEXTS: list[tuple[Any, list[Any]]] = [
    ([b"a\0", b"", b"\xff"], [b"a\0", b"", b"\xff"]),
    (["\u00e9", b"x"], ["\u00e9".encode(), b"x"]),
    ([["a"], [b"b\0\0"]], [[b"a"], [b"b\0\0"]]),
    ((np.bytes_(b"a"), "b"), [b"a", b"b"]),
]


@pytest.mark.parametrize(("given", "expected"), TEXTS)
def test_lists_of_texts_are_tensors_of_bytes(given: Any, expected: list[Any]) -> None:
    found = tf.constant(given)
    assert found.dtype == tf.string
    assert found.numpy().tolist() == expected


@pytest.mark.parametrize("given", [[b"a", 1], [[b"a"], [1.5]], ["a", None], [b"a", [b"b"]]])
def test_texts_beside_others_are_refused(given: Any) -> None:
    with pytest.raises(ValueError, match="convert"):
        tf.constant(given)


def test_tensors_within_lists_are_seen() -> None:
    assert tf.convert_to_tensor([[1, tf.constant(2)], (3, 4)]).numpy().tolist() == [[1, 2], [3, 4]]
    assert tf.constant([[1, 2], [3, 4]]).numpy().tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("features", [1, 2, 3])
@pytest.mark.parametrize("buckets", [0, 7])
def test_crosses_are_choices_of_which_the_last_differs_fastest(features: int, buckets: int) -> None:
    rows = [[[1, 2], [], [5]], [[7], [8, 9], [10, 11, 12]], [[3, 4], [5], [-6]]][:features]
    ragged = [tf.ragged.constant(x, dtype=tf.int64) for x in rows]
    found = tf.ragged.cross_hashed(ragged, buckets).to_list()
    expected = []
    for row in zip(*rows, strict=True):
        made = []
        for choice in itertools.product(*row):
            number = HASH_KEY
            for word in choice:
                number = joined_fingerprints(number, word & (1 << 64) - 1)
            made.append(number % (buckets or (1 << 63) - 1))
        expected.append(made)
    assert found == expected
