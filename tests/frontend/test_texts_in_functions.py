"""What is done to texts in functions is what eager code does, also once they are compiled."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.values.texts import Texts

PAIRS = tf.constant([[b"a", b"bb"], [b"", b"a"]])
MANY = tf.constant(
    [[b"a", b"bb"], [b"", b"a"], [b"\0a\0", b" \xff\xfe\t"], [b"\xc3\xa9", b"A b"]] * 20
)
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
LONG: dict[str, Callable[[Any], Any]] = {
    "steps": lambda x: tf.strings.length(tf.strings.strip(tf.strings.lower(x)) + "!"),
    "the same": tf.identity,
    "Python": lambda x: tf.numpy_function(lambda a: a[::-1].copy(), [x + "."], tf.string) + "?",
    "kept": lambda x: tf.TensorArray(tf.string, 2).unstack(tf.strings.upper(x[:2])).stack(),
    "coded": lambda x: tf.strings.reduce_join(tf.io.encode_base64(x), 1, separator="|"),
    "in a branch": lambda x: tf.cond(
        tf.size(x) > 1, lambda: tf.strings.substr(x + "ab", 0, 2), lambda: x
    ),
    "numbers of texts": lambda x: tf.strings.to_number(tf.as_string(tf.strings.length(x)) + "5"),
    "different": lambda x: tf.unique(tf.reshape(tf.strings.upper(x), [-1]))[1],
    "read": lambda x: tf.io.decode_raw(tf.strings.substr(x + "abcd", 0, 4), tf.int32),
}


@pytest.mark.parametrize("shape", [(2, 2), (None, None), None], ids=["fixed", "open", "unknown"])
@pytest.mark.parametrize("way", WAYS)
def test_functions_give_what_eager_code_gives(way: str, shape: Any) -> None:
    wanted = WAYS[way](PAIRS).numpy()
    function = tf.function(WAYS[way], input_signature=[tf.TensorSpec(shape, tf.string)])
    for _ in range(5):  # from the third call on it is compiled
        np.testing.assert_array_equal(function(PAIRS).numpy(), wanted)


@pytest.mark.parametrize("open_", [True, False], ids=["open", "fixed"])
@pytest.mark.parametrize("way", {**WAYS, **LONG})
def test_functions_give_what_eager_code_gives_of_many_texts(way: str, open_: bool) -> None:
    given = {**WAYS, **LONG}[way]
    signature = [tf.TensorSpec((None, 2), tf.string)] if open_ else None
    function = tf.function(given, input_signature=signature)
    for texts in (MANY, MANY[:70], PAIRS, MANY) if way != "equal to a column" else (PAIRS,):
        wanted = given(texts).numpy()
        for _ in range(4):
            np.testing.assert_array_equal(function(texts).numpy(), wanted)


STEPS: dict[str, Callable[[Any], Any]] = {
    "measured": lambda x: tf.strings.length(tf.strings.substr(tf.strings.upper(x), 1, 2)),
    "hashed": lambda x: tf.strings.to_hash_bucket_fast(tf.strings.join([x, x], "-"), 9),
    "coded": lambda x: tf.strings.length(tf.strings.strip(tf.io.encode_base64(x))),
    "looked up": lambda x: tf.gather(tf.strings.lower(x), tf.range(100)[::-1]) == b"word7",
    "cut": lambda x: tf.strings.length(tf.strings.split(x, "o").flat_values),
    "grouped": lambda x: tf.strings.reduce_join(tf.reshape(x, [-1, 2]), 1) + x[::2],
    "different": lambda x: tf.unique(tf.strings.upper(x))[1],
    "written": lambda x: tf.as_string(tf.strings.length(x)) + x,
    "chosen": lambda x: tf.cond(tf.size(x) > 3, lambda: x + "!", lambda: x),
}


@pytest.mark.parametrize("way", STEPS)
def test_compiled_functions_hand_rows_of_bytes_on(monkeypatch: Any, way: str) -> None:
    """No step takes many texts apart, nor puts them together again."""
    texts = tf.constant([b"word%d" % i for i in range(200)])
    wanted = STEPS[way](texts).numpy()
    assert len(texts.text.row) == 200  # from here on there are no others to be made
    function = tf.function(STEPS[way])
    for _ in range(4):
        function(texts)
    monkeypatch.setattr(Texts, "separate", None)
    monkeypatch.setattr(Texts, "of", None)
    made = function(texts)
    monkeypatch.undo()
    np.testing.assert_array_equal(made.numpy(), wanted)


def test_texts_that_a_function_gives_are_apart_from_those_that_it_takes() -> None:
    texts = tf.constant([b"word%d" % i for i in range(200)])
    function = tf.function(tf.identity)
    for _ in range(4):
        made = function(texts)
        made.numpy()[0] = np.asarray(made)[1] = b"is its owner's"
        assert function(texts).numpy()[:2].tolist() == [b"word0", b"word1"]


@pytest.mark.parametrize("used", [b"abc", b"\xff\xfeab", b"\xff\xfe\0\1"])
@pytest.mark.parametrize("count", [0, 1, 63, 500])
def test_texts_of_any_bytes_are_separated(used: bytes, count: int) -> None:
    random = np.random.default_rng(count)
    texts = [bytes(random.choice([*used], random.integers(0, 6)).tolist()) for _ in range(count)]
    found = Texts.of(texts).separate()
    assert (found.tolist(), found.dtype) == (texts, object)


def test_what_a_text_of_two_bytes_a_character_begins_with_says_their_order() -> None:
    given = [b"\xfe\xff\x00*", b"\xff\xfe*\x00", b"\x00*", b"\xff\xfe<\x00\xff\xfe>\x00"]
    found = tf.strings.unicode_transcode(given, "UTF-16", "UTF-8").numpy().tolist()
    assert found == [b"*", b"*", b"*", b"<\xef\xbb\xbf>"]
    assert tf.strings.unicode_decode(given[1], "UTF-16").numpy().tolist() == [ord("*")]
    with pytest.raises(tf.errors.InvalidArgumentError, match="replacement_char"):
        tf.strings.unicode_decode("x", "UTF-8", replacement_char=0x110000)


def test_texts_are_joined_along_axes_that_only_a_run_knows() -> None:
    given = tf.constant([["a", "b"], ["c", "d"]])
    specs = [tf.TensorSpec(None, tf.string), tf.TensorSpec(None, tf.int32)]
    join = tf.function(lambda x, axis: tf.strings.reduce_join(x, axis, separator=" "), specs)
    assert join(given, 0).numpy().tolist() == [b"a c", b"b d"]
    assert join(given, [1, 0]).numpy() == b"a b c d"
    with pytest.raises(tf.errors.OutOfRangeError, match="dimension 2"):
        join(given, 2)
    with pytest.raises(ValueError, match="do not match"):
        tf.strings.join([["a", "b"], [["b"], ["c"]]])


def test_only_a_run_refuses_what_stands_for_no_character() -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        made = tf.strings.unicode_encode([104, -1], "UTF-8", replacement_char=0x110000)
        with pytest.raises(tf.errors.InvalidArgumentError, match="replacement_char"):
            session.run(made)


@pytest.mark.parametrize("options", [{"scientific": True}, {"shortest": True}, {"precision": 0}])
def test_whole_numbers_are_not_written_as_floats_are(options: dict[str, Any]) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="not supported"):
        tf.strings.as_string([1, 2], **options)
    assert tf.strings.as_string([1.5], **options).shape == [1]
