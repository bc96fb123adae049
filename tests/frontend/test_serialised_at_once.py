"""Messages of tensors are written and read without the library of messages, byte for byte."""

import io
import wave

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.formats.messages import TensorProto
from gravure.frontend.formats.tensors import from_bytes, from_message, to_bytes, to_message
from gravure.ir.types import dtypes

RNG = np.random.default_rng(0)
SHAPES = [
    (),
    (0,),
    (1,),
    (3,),
    (2, 5),
    (3, 0, 2),
    (130,),
    (1, 1, 1, 2, 1, 3),
    (300, 200),
    (1,) * 40,
]


def number(shape, dtype="float32"):
    return RNG.integers(0, 2, shape).astype(dtype)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("row", ["f32", "i64", "bool", "c64", "f16", "bf16", "u8"])
def test_bytes_are_those_of_the_message(shape, row):
    array = np.asarray(number(shape, dtypes.DTYPES[row].numpy))
    data = to_bytes(array)
    assert data == to_message(array).SerializeToString()
    found = from_bytes(data)
    if not array.size:
        assert found is None, "the message says so itself"
        found = from_message(TensorProto.FromString(data))
    elif found is None:
        assert array.ndim > 20, "a head of many axes is read as others are"
        return
    np.testing.assert_array_equal(found, array, strict=True)
    assert found.flags.writeable
    assert found.flags.aligned


def test_elements_that_lie_apart_are_written_in_their_order():
    x = number((40, 30))[::3, ::-2]
    assert to_bytes(x) == to_message(x).SerializeToString()
    assert to_bytes(x.T) == to_message(x.T).SerializeToString()


DAMAGED = {
    "nothing": b"",
    "one byte": b"\x08",
    "a type alone": b"\x08\x01",
    "an end behind": to_bytes(number((2, 3))) + b"\x00",
    "an end too soon": to_bytes(number((2, 3)))[:-1],
    "a shape that ends behind": b"\x08\x01\x12\x7f",
    "an unknown type": b"\x08\x63" + to_bytes(number((2, 3)))[2:],
    "texts": to_bytes(np.array([b"a"], object)),
    "a list of values": TensorProto(dtype=1, float_val=[1.0]).SerializeToString(),
    "sizes of other forms": b"\x08\x01\x12\x05\x12\x03\x08\x81\x00\x22\x04\0\0\0\0",
    "a size below 0": b"\x08\x01\x12\x0d\x12\x0b\x08" + b"\xff" * 9 + b"\x01\x22\x04\0\0\0\0",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_other_forms_are_left_to_the_library_of_messages(name):
    assert from_bytes(DAMAGED[name]) is None


def test_what_is_no_message_is_refused_with_its_bytes():
    with pytest.raises(tf.errors.InvalidArgumentError, match="as TensorProto, base64: CQk="):
        tf.io.parse_tensor(b"\x09\x09", tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Type mismatch"):
        tf.io.parse_tensor(tf.io.serialize_tensor([1.0]), tf.int32)


def sparse(table, values):
    return tf.sparse.SparseTensor(np.array(table, np.int64).reshape(-1, 3), values, [4, 5, 6])


SPARSE = {
    "in order": sparse([[0, 1, 2], [0, 3, 4], [3, 0, 0]], [1.0, 2.0, 3.0]),
    "in no order": sparse([[3, 1, 2], [0, 3, 4], [3, 0, 0]], [1.0, 2.0, 3.0]),
    "texts": sparse([[2, 1, 2], [0, 3, 4], [2, 0, 0]], ["a", "", "c"]),
    "none": sparse([], np.zeros(0, np.float32)),
}


@pytest.mark.parametrize("name", SPARSE)
def test_slices_of_sparse_tensors_are_written_as_each_of_them_is(name):
    given = SPARSE[name]
    made = tf.io.serialize_many_sparse(given).numpy()
    places, values = given.indices.numpy(), given.values.numpy()
    for row in range(4):
        here = places[:, 0] == row
        each = tf.sparse.SparseTensor(
            places[here, 1:], tf.constant(values[here], given.dtype), [5, 6]
        )
        assert made[row].tolist() == tf.io.serialize_sparse(each).numpy().tolist()
    back = tf.io.deserialize_many_sparse(made, given.dtype)
    wanted = tf.sparse.reorder(given)
    assert sorted(back.indices.numpy().tolist()) == wanted.indices.numpy().tolist()
    staged = tf.function(tf.io.serialize_many_sparse)(given)
    assert staged.numpy().tolist() == made.tolist()


def written(samples, rate=8000, more=b""):
    room = io.BytesIO()
    with wave.open(room, "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())
    data = room.getvalue()
    if not more:
        return data
    size = (int.from_bytes(data[4:8], "little") + len(more)).to_bytes(4, "little")
    return data[:4] + size + data[8:36] + more + data[36:]


@pytest.mark.parametrize("more", [b"", b"LIST\x04\0\0\0abcd"], ids=["plain", "with a chunk"])
@pytest.mark.parametrize("channels", [1, 2, 3])
def test_sounds_with_heads_of_any_kind_are_read(channels, more):
    samples = RNG.integers(-(2**15), 2**15, (50, channels))
    audio, rate = tf.audio.decode_wav(written(samples, more=more))
    np.testing.assert_array_equal(audio, samples.astype(np.float32) / 32768)
    assert rate == 8000


@pytest.mark.parametrize("cut", [0, 10, 44 - 1])
def test_sounds_without_a_head_are_refused(cut):
    with pytest.raises(tf.errors.InvalidArgumentError, match="no WAV file"):
        tf.audio.decode_wav(written(np.zeros((9, 1)))[:cut])


WRONG_HEADS = {
    "bytes of a second": (28, b"\1\0\0\0", "Bad bytes per second"),
    "bytes of a frame": (32, b"\3\0", "Bad bytes per sample"),
    "channels": (22, b"\0\0", "Bad number of channels"),
    "bits": (34, b"\x08\0", "16-bit"),
    "form": (20, b"\3\0", "Bad audio format"),
    "size of the head": (16, b"\xff\xff\xff\x7f", "format chunk size"),
    "size of the data": (40, b"\x40\0\0\0", "Data too short"),
    "no data": (36, b"dara", "No data chunk"),
}


@pytest.mark.parametrize("what", WRONG_HEADS)
def test_sounds_with_heads_that_contradict_themselves_are_refused(what):
    at, wrong, message = WRONG_HEADS[what]
    data = written(RNG.integers(-99, 99, (9, 2)))
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.audio.decode_wav(data[:at] + wrong + data[at + len(wrong) :])


@pytest.mark.parametrize("cut", [44 + 1, 44 + 2, 44 + 17])
def test_sounds_that_end_early_are_refused(cut):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Data too short"):
        tf.audio.decode_wav(written(np.zeros((9, 1)))[:cut])
