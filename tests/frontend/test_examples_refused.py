"""Examples that do not fit are named, with the feature and their place, as TensorFlow does."""

from typing import Any

import pytest

from gravure import tf

Refused = tf.errors.InvalidArgumentError


def example(**features: Any) -> bytes:
    made = tf.train.Example()
    for name, values in features.items():
        kind = "bytes_list" if isinstance(values[0], bytes) else "float_list"
        getattr(made.features.feature[name], kind).value.extend(values)
    found: bytes = made.SerializeToString()
    return found


def sequence(*steps: Any) -> bytes:
    made = tf.train.SequenceExample()
    for values in steps:
        step = made.feature_lists.feature_list["a"].feature.add()
        kind = "int64_list" if isinstance(values[0], int) else "float_list"
        getattr(step, kind).value.extend(values)
    found: bytes = made.SerializeToString()
    return found


FIXED = tf.io.FixedLenFeature([2], tf.float32)
STEPS = tf.io.FixedLenSequenceFeature([2], tf.string, allow_missing=True)


@pytest.mark.parametrize(
    ("given", "feature", "text"),
    [
        ([[1.0, 2], [3.0]], FIXED, r"Name: two, Key: a, Index: 1.  Number of float values != exp.*"
         r"values size: 1 but output shape: \[2\]"),
        ([[1.0, 2], None], FIXED, r"Name: two, Feature: a \(data type: float\) is required but"),
        ([[b"x", b"y"], [b"z"]], STEPS, "Name: two, Key: a, Index: 1.  Number of bytes values is "
         "not a multiple of stride length"),
    ],
)  # fmt: skip
def test_examples_of_a_batch_are_named(given: Any, feature: Any, text: str) -> None:
    texts = [example(**({} if x is None else {"a": x})) for x in given]
    with pytest.raises(Refused, match=text):
        tf.io.parse_example(texts, {"a": feature}, example_names=["one", "two"])
    with pytest.raises(Refused, match=text.replace("two", "<unknown>")):
        tf.io.parse_example(texts, {"a": feature})
    alone = text.replace("Name: two, ", "").replace(", Index: 1", "")
    with pytest.raises(Refused, match=alone):
        tf.io.parse_single_example(texts[1], {"a": feature})


@pytest.mark.parametrize("batch", [False, True])
def test_steps_are_numbered(batch: bool) -> None:
    def parse(text: bytes, feature: Any) -> None:
        features = {"a": feature}
        if batch:
            tf.io.parse_sequence_example([text], None, features, example_names=["one"])
        else:
            tf.io.parse_single_sequence_example(text, None, features, example_name="one")

    steps = tf.io.FixedLenSequenceFeature([2], tf.int64)
    with pytest.raises(
        Refused, match=r"Name: one, Feature list: a, Index: 1.  Data types don't ma"
    ):
        parse(sequence([1, 2], [1.0, 2.0]), steps)
    with pytest.raises(
        Refused, match=r"Name: one, Feature list: a, Index: 1.  Data types don't ma"
    ):
        parse(sequence([1], [1.0]), tf.io.VarLenFeature(tf.int64))
    with pytest.raises(Refused, match=r"Name: one, Key: a, Index: 1.  Number of int64 values != e"):
        parse(sequence([1, 2], [3]), steps)
    with pytest.raises(Refused, match="Name: one, Feature list 'a' is required but could not be"):
        parse(sequence(), steps)


def test_tensors_that_are_none_are_shown() -> None:
    with pytest.raises(Refused, match="Could not parse `serialized` as TensorProto, base64: Ym9n"):
        tf.io.parse_tensor("bogus", tf.int32)
    written = tf.io.serialize_tensor(tf.constant([1], tf.uint8))
    with pytest.raises(Refused, match=r"between parsed tensor \(uint8\) and dtype \(uint16\)"):
        tf.io.parse_tensor(written, tf.uint16)
    with pytest.raises(Refused, match=r"to be a scalar, got shape: \[1\]"):
        tf.io.parse_tensor(["bogus"], tf.int32)
    with pytest.raises(Refused, match="must be a multiple of"):
        tf.io.decode_raw(["abc"], tf.float32, fixed_length=7)
    with pytest.raises(ValueError, match="Missing shape for feature a"):
        tf.io.parse_example([b""], {"a": tf.io.FixedLenFeature(None, tf.float32)})
    with pytest.raises(ValueError, match="All dimensions of shape for feature a need to be known"):
        tf.io.parse_example([b""], {"a": tf.io.FixedLenFeature([None], tf.float32)})
