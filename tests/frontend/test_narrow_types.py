"""Element types of a few bits: what TensorFlow 2.21 moves and converts, at once and traced."""

from __future__ import annotations

import numpy as np
import pytest

from gravure import tf

TYPES = tf.dtypes.experimental
FLOATS = ("float8_e5m2", "float8_e4m3fn")
NAMES = {
    "float8_e5m2": (24, -57344.0, 57344.0),
    "float8_e4m3fn": (25, -448.0, 448.0),
    "float8_e4m3fnuz": (26, -240.0, 240.0),
    "int4": (29, -8, 7),
    "uint4": (30, 0, 15),
    "int2": (31, -2, 1),
    "uint2": (32, 0, 3),
}
MOVES = {
    "concat": (lambda a: tf.concat([a, a], 0), [1, 2, 3, 1, 2, 3]),
    "gather": (lambda a: tf.gather(a, [2, 0]), [3, 1]),
    "reshape": (lambda a: tf.reshape(a, [3, 1]), [[1], [2], [3]]),
    "slice": (lambda a: a[1:], [2, 3]),
    "transpose": (lambda a: tf.transpose(tf.stack([a, a])), [[1, 1], [2, 2], [3, 3]]),
    "broadcast": (lambda a: tf.broadcast_to(a, [2, 3]), [[1, 2, 3], [1, 2, 3]]),
    "map": (lambda a: tf.map_fn(tf.identity, a), [1, 2, 3]),
    "variable": (lambda a: tf.Variable(a).read_value(), [1, 2, 3]),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_type_says_what_it_is(name):
    kind, (number, low, high) = getattr(TYPES, name), NAMES[name]
    assert getattr(tf.experimental, name) is kind is tf.as_dtype(number) is tf.as_dtype(name)
    assert (int(kind), kind.min, kind.max, kind.size) == (number, low, high, 1)
    assert (kind.is_floating, kind.is_unsigned) == (name[0] == "f", name[0] == "u")
    assert kind.is_floating != kind.is_integer


@pytest.mark.parametrize("name", ["float8_e5m2", "float8_e4m3fn", "int4", "uint4"])
@pytest.mark.parametrize("move", MOVES)
def test_elements_are_moved_at_once_and_traced(name, move):
    function, expected = MOVES[move]
    given = tf.constant([1, 2, 3], getattr(TYPES, name))
    found = [function(given)]
    if move != "variable":
        found.append(tf.function(function)(given))
    for each in found:
        assert each.dtype is getattr(TYPES, name)
        assert each.numpy().astype(np.int32).tolist() == expected


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("float8_e5m2", [1.5, -3.3, 1e6, 0.3], [1.5, -3.5, np.inf, 0.3125]),
        ("float8_e4m3fn", [1.5, -3.3, 1e6, 0.3], [1.5, -3.25, np.nan, 0.3125]),
        ("int4", [1, -3, 200, 9], [1, -3, -8, -7]),
        ("uint4", [1, -3, 200, 16], [1, 13, 8, 0]),
    ],
)
def test_numbers_are_converted_as_tensorflow_does(name, given, expected):
    def there_and_back(x):
        return tf.cast(tf.cast(x, getattr(TYPES, name)), x.dtype)

    x = tf.constant(given)
    for function in (there_and_back, tf.function(there_and_back, jit_compile=True)):
        np.testing.assert_array_equal(function(x), expected)


def test_messages_of_them_are_those_of_tensorflow():
    for name in (*FLOATS, "int4", "uint4"):
        values = tf.constant([1, 2], getattr(TYPES, name)).numpy()
        message = tf.make_tensor_proto(values)
        assert bool(message.tensor_content) == (name in FLOATS)
        assert tf.make_ndarray(message).dtype == values.dtype
        assert tf.make_ndarray(message).tolist() == values.tolist()
        text = tf.io.serialize_tensor(values)
        assert tf.io.parse_tensor(text, getattr(TYPES, name)).numpy().tolist() == values.tolist()
    one = tf.make_tensor_proto([1.0], TYPES.float8_e5m2)
    assert (one.float8_val, tf.make_ndarray(one).tolist()) == (b"<", [1.0])


def test_what_is_not_a_move_is_refused():
    for name in NAMES:
        a = tf.constant([1, 2], getattr(TYPES, name))
        for function in (lambda a=a: a + a, lambda a=a: tf.reduce_sum(a), lambda a=a: -a):
            with pytest.raises(tf.errors.InvalidArgumentError):
                function()
    with pytest.raises(TypeError, match=r"Cannot convert \[1.5\] to EagerTensor of dtype int4"):
        tf.constant([1.5], TYPES.int4)
    with pytest.raises(ValueError, match="does not have defined limits"):
        _ = TYPES.int4.limits
