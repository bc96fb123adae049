"""Ragged tensors of a graph whose parts have no known rank: what is done with rows is done."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gravure import tf

v1 = tf.compat.v1
ROWS = [[[1, 2], [3]], [], [[4, 5, 6]]]
DONE: dict[str, Callable[[Any], Any]] = {
    "filled up": lambda x: x.to_tensor(),
    "cut": lambda x: x.to_tensor(shape=[None, 1, 2]),
    "filled with another": lambda x: x.to_tensor(default_value=7),
    "combined": lambda x: x + 1,
    "added up": lambda x: tf.reduce_sum(x, axis=1),
    "joined": lambda x: tf.concat([x, x], 1),
    "stacked": lambda x: tf.stack([x, x]),
    "backwards": lambda x: tf.reverse(x, [1]),
    "repeated": lambda x: tf.tile(x, [1, 2, 1]),
    "with one axis more": lambda x: tf.expand_dims(x, 0),
    "with one within": lambda x: tf.expand_dims(x, 2),
    "gathered": lambda x: tf.gather(x, [2, 0]),
    "masked": lambda x: tf.ragged.boolean_mask(x, [True, False, True]),
}


@pytest.mark.parametrize("what", DONE)
def test_rows_are_known_where_what_is_in_them_has_no_rank(what: str) -> None:
    expected = DONE[what](tf.ragged.constant(ROWS))
    with tf.Graph().as_default(), v1.Session() as session:
        given = tf.nest.map_structure(
            lambda x: v1.placeholder_with_default(x, None),
            tf.ragged.constant(ROWS),
            expand_composites=True,
        )
        assert given.shape.rank is None
        found = session.run(DONE[what](given))
    if isinstance(expected, tf.RaggedTensor):
        assert found.to_list() == expected.to_list()
    else:
        np.testing.assert_array_equal(found, expected)
