"""Specs of arrays, as TensorFlow has them, and what takes the place of columns of features."""

import pytest

import gravure.tf as tf


def test_specs_of_arrays_say_what_arrays_are_like():
    spec = tf.TensorArraySpec([2], tf.float32, True, False)
    assert repr(spec) == "TensorArraySpec(TensorShape([2]), tf.float32, True, False)"
    assert (
        repr(tf.TensorArraySpec()) == "TensorArraySpec(TensorShape(None), tf.float32, False, True)"
    )
    assert spec == tf.TensorArraySpec([2], tf.float32, True, False)
    assert hash(spec) == hash(tf.TensorArraySpec([2], tf.float32, True, False))
    assert spec != tf.TensorArraySpec([3], tf.float32, True, False)
    assert spec.value_type is tf.TensorArray


def test_specs_of_arrays_are_compared_with_arrays():
    array = tf.TensorArray(tf.float32, size=3, element_shape=[2])
    spec = tf.type_spec_from_value(array)
    assert spec == tf.TensorArraySpec.from_value(array) == tf.TensorArraySpec([2])
    assert tf.TensorArraySpec([None]).is_compatible_with(array)
    assert not tf.TensorArraySpec([3]).is_compatible_with(array)
    assert not tf.TensorArraySpec([2], tf.int32).is_compatible_with(array)
    assert not spec.is_compatible_with(3)
    assert spec.is_subtype_of(tf.TensorArraySpec([None]))
    assert not tf.TensorArraySpec([None]).is_subtype_of(spec)
    assert spec.most_specific_common_supertype([tf.TensorArraySpec([3])]) == spec
    assert spec.most_specific_common_supertype([tf.TensorArraySpec([2], tf.int32)]) is None


def test_arrays_are_no_arguments_of_a_signature():
    with pytest.raises(TypeError, match="sequence of specs of tensors"):
        tf.function(lambda a: a.stack(), input_signature=[tf.TensorArraySpec([])])


@pytest.mark.parametrize("root", [tf, tf.compat.v1])
def test_columns_of_features_name_the_layers_that_take_their_place(root):
    with pytest.raises(AttributeError, match=r"Normalization.*StringLookup.*Hashing.*Embedding"):
        _ = root.feature_column
    names = "Normalization Discretization StringLookup IntegerLookup Hashing HashedCrossing"
    assert all(hasattr(tf.keras.layers, name) for name in [*names.split(), "CategoryEncoding"])
