"""Places in shuffled sequences; the numbers are TensorFlow 2.21's."""

from typing import Any

import numpy as np
import pytest

import gravure.tf as tf

shuffle: Any = tf.random.experimental.index_shuffle


@pytest.mark.parametrize(
    ("most", "wanted"),
    [
        (9, [5, 0, 1, 4, 3, 6, 9]),
        (255, [63, 166, 146, 44, 19, 7, 196]),
        (65536, [9828, 30300, 46112, 54296]),
        (65537, [34619, 38067, 7599, 55298]),
        (
            2147483647,
            [1827048256, 929993771, 1892962649, 1747377584, 2007786959, 27591419, 1045831308],
        ),
        (
            8589934597,
            [5908342386, 2230769621, 1450068780, 1729268698, 193167098, 3555870629, 7577212313],
        ),
        (
            4611686018427387904,
            [
                4374098781604392493,
                4374098712884907892,
                4374098919043312799,
                4374099125201735110,
                4376350048569438841,
                4376349979849954080,
                4376367778192339147,
            ],
        ),
        (
            9223372036854775807,
            [
                8748197295276666285,
                8748197707593518196,
                8748197827852577415,
                8748198240169429854,
                8752734979489676265,
                8752735391806544432,
                8752700327695629507,
            ],
        ),
    ],
)
def test_places_are_those_of_tensorflow(most: int, wanted: list[int]) -> None:
    count = tf.range(len(wanted), dtype=tf.int64)
    assert shuffle(count, [1, -2] if most != 9 else [1, 2], most).numpy().tolist() == wanted


@pytest.mark.parametrize(
    ("rounds", "wanted"),
    [(4, [4, 9261526]), (6, [7, 173009524]), (8, [1, 231649234]), (20, [5, 929401543])],
)
def test_keys_have_as_many_words_as_there_are_rounds(rounds: int, wanted: list[int]) -> None:
    keys = {"seed": [1, 2, 3], "max_index": [9, 2**30]}
    made: Any = tf.raw_ops.RandomIndexShuffle(index=[3, 4], rounds=rounds, **keys)
    assert made.numpy().tolist() == wanted


@pytest.mark.parametrize("most", [0, 1, 6, 255, 300])
def test_each_place_is_there_once(most: int) -> None:
    for seed in ([0, 0], [3, 4]):
        made = shuffle(tf.range(most + 1), seed, most)
        assert made.dtype == tf.int32
        assert sorted(made.numpy().tolist()) == list(range(most + 1))


def test_places_are_found_in_pipelines_and_functions() -> None:
    data: Any = tf.data.Dataset.range(10).map(lambda i: shuffle(i, [5, 8], 9))
    assert [int(x) for x in data.as_numpy_iterator()] == [3, 8, 0, 1, 2, 7, 6, 9, 4, 5]
    function: Any = tf.function(lambda i: shuffle(i, [5, 9], 3))
    for _ in range(4):
        assert function(tf.range(4)).numpy().tolist() == [2, 0, 1, 3]
    assert function(tf.constant(2)).numpy() == 1


def test_large_numbers_are_exact() -> None:
    most = tf.constant([2**63 + 5, 9], tf.uint64)
    np.testing.assert_array_equal(most, np.array([2**63 + 5, 9], np.uint64))
    made = shuffle(tf.constant([3, 4], tf.uint64), [1, 2], most)
    assert made.dtype == tf.uint64


@pytest.mark.parametrize(("index", "seed", "most", "wrong"), [
    (11, [1, 2], 9, "max_index must be >= index, but 9 < 11"),
    (-1, [1, 2], 9, "index must be >= 0 but was -1"),
    (1, [1, 2, 3], 9, r"vector of size \[3\] or a matrix of size \[1, 3\] but got \[4\]"),
    ([0, 1], [[1, 2], [3, 4]], 9, r"matrix of size \[2, 3\] but got \[3,2\]"),
    (1.0, [1, 2], 9, "float32, expected one of int32"),
    (1, [1, 2], [[9]], r"max_index has shape \(1, 1\)"),
])  # fmt: skip
def test_what_is_no_index_is_refused(index: Any, seed: Any, most: Any, wrong: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=wrong):
        shuffle(index, seed, most)
