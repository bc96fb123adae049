"""What is done to texts in functions is what eager code does, also once they are compiled."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.values.texts import Texts

PAIRS = tf.constant([[b"a", b"bb"], [b"", b"a"]])
WAYS: dict[str, Callable[[Any], Any]] = {
    "equal to a constant": lambda x: x == b"a",
    "equal to a column": lambda x: x == [["a"], ["b"]],
    "equal to texts": lambda x: tf.equal(x, x[0]),
    "other than a constant": lambda x: tf.not_equal(x, "a"),
    "chosen": lambda x: tf.where(x == "a", "yes", x),
    "numbers": lambda x: tf.where(x == "a", 1, 0),
    "counted": lambda x: tf.reduce_sum(tf.cast(x == "a", tf.int32), 1),
    "any": lambda x: tf.reduce_any(x == "bb"),
    "branch": lambda x: tf.cond(tf.reduce_all(x == "a"), lambda: x, lambda: x + "?"),
    "loop": lambda x: tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y + "z"), [0, x])[1],
    "mapped": lambda x: tf.map_fn(lambda row: tf.strings.join([row, "q"]), x),
    "masked": lambda x: tf.boolean_mask(x, x == "a"),
    "moved": lambda x: tf.transpose(tf.tile(tf.reverse(x, [0]), [2, 1])),
    "stacked": lambda x: tf.stack([x, tf.concat([x[1:], x[:1]], 0)]),
    "gathered": lambda x: tf.gather_nd(x, [[0, 1]]),
    "padded": lambda x: tf.pad(x, [[0, 1], [0, 0]]),
    "sizes": lambda x: tf.shape(x) + tf.size(x) * tf.rank(x),
    "longest": lambda x: tf.argmax(tf.strings.length(x), 1),
    "in another type": lambda x: tf.one_hot(tf.cast(x == "a", tf.int32), 3),
}


@pytest.mark.parametrize("shape", [(2, 2), (None, None), None], ids=["fixed", "open", "unknown"])
@pytest.mark.parametrize("way", WAYS)
def test_functions_give_what_eager_code_gives(way: str, shape: Any) -> None:
    wanted = WAYS[way](PAIRS).numpy()
    function = tf.function(WAYS[way], input_signature=[tf.TensorSpec(shape, tf.string)])
    for _ in range(5):  # from the third call on it is compiled
        np.testing.assert_array_equal(function(PAIRS).numpy(), wanted)


@pytest.mark.parametrize("used", [b"abc", b"\xff\xfeab", b"\xff\xfe\0\1"])
@pytest.mark.parametrize("count", [0, 1, 63, 500])
def test_texts_of_any_bytes_are_separated(used: bytes, count: int) -> None:
    random = np.random.default_rng(count)
    texts = [bytes(random.choice([*used], random.integers(0, 6)).tolist()) for _ in range(count)]
    found = Texts.of(texts).separate()
    assert (found.tolist(), found.dtype) == (texts, object)
