"""The element types as TensorFlow prints them; the texts were printed by TensorFlow 2.21."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf

NAMES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128", "string"),
)
NUMBERS = (10, 6, 5, 3, 9, 4, 17, 22, 23, 19, 14, 1, 2, 8, 18, 7)


@pytest.mark.parametrize(("name", "number"), [*zip(NAMES, NUMBERS, strict=True)])
def test_a_type_prints_as_in_tensorflow_and_is_one_object(name: str, number: int) -> None:
    found = getattr(tf, name)
    assert (str(found), f"{found}", repr(found)) == (f"<dtype: '{name}'>",) * 2 + (f"tf.{name}",)
    assert (found.name, int(found), found.as_datatype_enum) == (name, number, number)
    assert tf.as_dtype(name) is tf.as_dtype(number) is found.base_dtype is found
    assert pickle.loads(pickle.dumps(found)) is copy.deepcopy(found) is found
    assert isinstance(found, tf.DType)
    assert found == name
    assert found != "nothing"


def test_what_has_a_type_gives_that_of_tensorflow() -> None:
    x = tf.constant([1.0, 2.0])
    sparse = tf.sparse.from_dense(x)
    ragged = tf.ragged.constant([[1.0], []])
    spec = tf.TensorSpec([1])
    for each in (x, tf.Variable(x), sparse, ragged, spec, tf.TensorArray(tf.float32, 1)):
        assert each.dtype is tf.float32, each
    with tf.Graph().as_default():
        assert tf.constant(["a"]).dtype is tf.string
        assert str(tf.compat.v1.placeholder("int32", [None]).dtype) == "<dtype: 'int32'>"
    assert repr(x) == (
        "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>"
    )
    assert str(x) == "tf.Tensor([1. 2.], shape=(2,), dtype=float32)"
    assert repr(spec) == "TensorSpec(shape=(1,), dtype=tf.float32, name=None)"


def test_types_of_both_forms_and_of_numpy_are_equal() -> None:
    assert tf.float32 == gv.float32
    assert gv.float32 == tf.float32
    assert hash(gv.float32) == hash(tf.float32)
    assert tf.float32 == np.float32
    assert tf.float32 == np.dtype("float32")
    assert tf.float32 != tf.int32
    assert tf.complex64.real_dtype is tf.float32
    assert repr(gv.float32) == "gravure.float32"


def test_ends_of_types_are_those_of_tensorflow() -> None:
    assert (tf.int8.min, tf.int8.max, tf.int8.size) == (-128, 127, 1)
    assert (tf.bool.limits, tf.float32.limits, tf.string.size) == ((0, True), (0, 1), 0)
    for wrong in (tf.float16, tf.bfloat16, tf.complex64, tf.string):
        with pytest.raises(ValueError, match="does not have defined limits"):
            _ = wrong.limits
    for wrong in (tf.bool, tf.string):
        with pytest.raises(TypeError, match=f"Cannot find maximum value of {wrong} with type"):
            _ = wrong.max


def test_short_floats_show_all_digits_and_messages_name_types_as_tensorflow() -> None:
    assert repr(tf.constant(0.1, tf.float16)) == (
        "<tf.Tensor: shape=(), dtype=float16, numpy=0.0999755859375>"
    )
    assert repr(tf.constant(1, tf.bfloat16)) == "<tf.Tensor: shape=(), dtype=bfloat16, numpy=1.0>"
    message = "requested dtype int32 for Tensor with dtype float32: <tf.Tensor: shape=.., dtype"
    with pytest.raises(ValueError, match=message):
        tf.convert_to_tensor(tf.constant(1.0), tf.int32)


def test_a_class_that_says_its_element_type_was_none() -> None:
    class Halves:
        dtype = "f2"

    class Complex:
        dtype = np.dtype(np.complex64)

    assert tf.as_dtype(Halves) is tf.float16
    assert tf.as_dtype(Complex) is tf.complex64


def test_errors_of_runs_had_no_payloads() -> None:
    assert tf.errors.CancelledError(None, None, "stopped").experimental_payloads == {}


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.constant([70000.0], tf.float16),
        lambda: tf.Variable([70000.0], dtype=tf.float16),
        lambda: tf.constant([1e39]),
        lambda: tf.constant([1e39 + 0j], tf.complex64),
        lambda: tf.add([1.0], 1e39),
        lambda: tf.constant([1.0], tf.float16) * 1e39,
        lambda: tf.where([True], 1e39, [1.0]),
        lambda: tf.clip_by_value([np.inf], -1e39, 1e39),
    ],
)
def test_numbers_too_large_for_a_type_are_infinite_without_a_word(
    make: Callable[[], tf.Tensor],
) -> None:
    """A warning of numpy's came by, which tests take for an error."""
    assert np.isinf(make().numpy()).all()


def test_transforms_name_what_they_are_not_of() -> None:
    """Where it runs, TensorFlow's error is one of the run."""
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.signal.fft(tf.constant([1.0]))
    with pytest.raises(ValueError, match="RFFT requires"):
        tf.signal.rfft(tf.constant([1, 2]))
