"""Formats of files: examples read where they lie, records, checksums, states of streams."""

import os

import numpy as np
import pytest
from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st

import gravure.tf as tf
from gravure.frontend.data.states import from_bytes, to_bytes
from gravure.frontend.formats import example_batches
from gravure.frontend.formats import examples as ex
from gravure.frontend.formats.messages import Example
from gravure.frontend.formats.records import RecordReader, RecordWriter

NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 300)
LISTS = st.one_of(
    st.lists(st.binary(max_size=200), max_size=4).map(lambda v: ("bytes_list", v)),
    st.lists(st.floats(width=32, allow_nan=False), max_size=40).map(lambda v: ("float_list", v)),
    st.lists(NUMBERS, max_size=40).map(lambda v: ("int64_list", v)),
)
KINDS = {"bytes_list": ex.BYTES, "float_list": ex.FLOATS, "int64_list": ex.INTEGERS}


def message(features):
    made = Example()
    for name, (kind, values) in features.items():
        getattr(made.features.feature[name], kind).value.extend(values)
    return made


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.text(max_size=140), LISTS, max_size=5))
def test_features_are_read_as_the_protobuf_library_reads_them(features):
    reading = ex.Reading(message(features).SerializeToString())
    for name, (kind, values) in features.items():
        found = reading.values(ex.Wanted(name, KINDS[kind]))
        assert (found if found is None else list(found)) in (values, [*values] or None)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 59), st.integers(0, 255))
def test_damaged_examples_are_refused_or_read_as_the_library_reads_them(noise, place, byte):
    data = bytearray(message({"a": ("int64_list", [5, 300]), "b": ("bytes_list", [noise])})
                     .SerializeToString())  # fmt: skip
    data[place % len(data)] = byte
    try:
        found = ex.Reading(bytes(data)).values(ex.Wanted("a", ex.INTEGERS))
        read = Example.FromString(bytes(data))
    except (tf.errors.InvalidArgumentError, DecodeError):
        return  # what damages other features is not looked at
    values = list(read.features.feature["a"].int64_list.value)
    assert ([] if found is None else list(found)) == values


def as_lists(column):
    return [None if x is None else list(x) for x in column.lists()]


WANTED = [ex.Wanted(name, kind) for name, kind in zip("abc", KINDS.values(), strict=True)]
ROWS = st.fixed_dictionaries({}, optional={
    "a": st.lists(st.binary(max_size=200), max_size=2).map(lambda v: ("bytes_list", v)),
    "b": st.lists(st.floats(width=32, allow_nan=False), max_size=9).map(
        lambda v: ("float_list", v)),
    "c": st.lists(NUMBERS, max_size=3).map(lambda v: ("int64_list", v)),
    "unasked" * 12: LISTS,
})  # fmt: skip


PLACES = st.integers(0, 10**6)


@settings(max_examples=100, deadline=None)
@given(st.lists(ROWS, max_size=6), st.sampled_from([1, 9, 40]), PLACES, st.integers(0, 255))
def test_many_examples_are_read_as_each_alone_is(kinds, times, place, byte):
    texts = [message(features).SerializeToString() for features in kinds * times]
    for damaged in (False, True):
        if damaged and texts and texts[0]:
            data = bytearray(texts[0])
            data[place % len(data)] = byte
            texts[len(texts) // 2] = bytes(data)
        try:
            wanted = [[ex.Reading(t).values(w) for t in texts] for w in WANTED]
        except tf.errors.InvalidArgumentError:
            with pytest.raises(tf.errors.InvalidArgumentError):
                example_batches.columns(texts, WANTED)
            continue
        found = example_batches.columns(texts, WANTED)
        lists = [[None if x is None else list(x) for x in each] for each in wanted]
        assert str([as_lists(x) for x in found]) == str(lists)  # a damaged number may be NaN


@pytest.mark.parametrize("size", [b"\x01", b"\x80"])
def test_a_text_that_ends_behind_its_list_is_no_text(size):
    rows = [{"a": ("bytes_list", [b""])}, {}] * 40
    texts = [message(row).SerializeToString() for row in rows]
    texts[40] = texts[40][:-1] + size
    for read in (lambda: ex.Reading(texts[40]).values(WANTED[0]),
                 lambda: example_batches.columns(texts, WANTED)):  # fmt: skip
        with pytest.raises(tf.errors.InvalidArgumentError):
            read()


def test_examples_of_one_writer_are_read_together():
    rows = [{"a": ("bytes_list", [b"x" * i]), "b": ("float_list", [i, 1.0]),
             "c": ("int64_list", [7**i])} for i in range(21)]  # fmt: skip
    texts = [message(row).SerializeToString() for row in rows]
    batch = example_batches.Batch(texts, {w.key for w in WANTED})
    assert not batch.alone.any()
    found = [as_lists(batch.column(w)) for w in WANTED]
    assert found == [[row[n][1] for row in rows] for n in "abc"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.binary(max_size=3000), max_size=8), st.sampled_from(["", "GZIP", "ZLIB"]))
def test_records_come_back(tmp_path_factory, records, compression):
    path = tmp_path_factory.mktemp("records") / "file"
    writer = RecordWriter(os.fspath(path), compression)
    for record in records:
        writer.write(record)
    writer.close()
    assert list(RecordReader(os.fspath(path), compression, chunk=64)) == records


def test_every_changed_byte_of_a_record_is_seen(tmp_path):
    path = os.fspath(tmp_path / "file")
    writer = RecordWriter(path)
    writer.write(b"some bytes")
    writer.close()
    with open(path, "rb") as file:
        whole = file.read()
    for place in range(len(whole)):
        with open(path, "wb") as file:
            file.write(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(tf.errors.DataLossError):
            list(RecordReader(path))


def test_states_come_back():
    text = np.empty((2,), object)
    text[:] = [b"a\0", b""]
    state = {
        "n": 3, "none": None, "list": [(np.arange(4), text), True], "map": {5: np.float32(2.5)},
        "half": np.ones(3, tf.bfloat16.numpy),
    }  # fmt: skip
    found = from_bytes(to_bytes(state))
    assert found["n"] == 3
    assert found["none"] is None
    assert found["list"][0][1].tolist() == [b"a\0", b""]
    assert found["list"][0][0].tolist() == [0, 1, 2, 3]
    assert found["map"] == {5: 2.5}
    assert found["half"].dtype == tf.bfloat16.numpy
    with pytest.raises(tf.errors.DataLossError):
        from_bytes(b"nothing of the kind")


PIPELINES = {
    "shuffled": lambda d: d.shuffle(5, seed=3).batch(2),
    "repeated": lambda d: d.shuffle(20, seed=3).repeat(3),
    "unseeded": lambda d: d.shuffle(6).map(lambda x: x * 2),
    "flattened": lambda d: d.flat_map(lambda x: tf.data.Dataset.range(x).map(lambda y: y + x)),
    "in turns": lambda d: d.interleave(tf.data.Dataset.range, 3, 2),
    "windows": lambda d: d.window(3, 1).flat_map(lambda w: w.batch(3)),
    "grouped": lambda d: d.group_by_window(lambda x: x % 3, lambda k, w: w.batch(2), 2),
    "ahead": lambda d: d.map(lambda x: x + 1, num_parallel_calls=2).prefetch(2),
    "joined": lambda d: d.take(4).concatenate(d.skip(4)).enumerate(),
    "cached": lambda d: d.cache().repeat(2),
    "scanned": lambda d: d.scan(np.int64(0), lambda s, x: (s + x, s)).filter(lambda x: x > 3),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_an_iterator_goes_on_from_its_state(name, tmp_path):
    data = PIPELINES[name](tf.data.Dataset.range(1, 9))
    iterator = iter(data)
    for _ in range(3):
        next(iterator)
    path = tf.train.Checkpoint(it=iterator).write(os.fspath(tmp_path / "state"))
    after = [np.asarray(x).tolist() if hasattr(x, "shape") else [int(v) for v in x]
             for x in iterator]  # fmt: skip
    other = iter(PIPELINES[name](tf.data.Dataset.range(1, 9)))
    tf.train.Checkpoint(it=other).read(path)
    again = [np.asarray(x).tolist() if hasattr(x, "shape") else [int(v) for v in x]
             for x in other]  # fmt: skip
    assert after == again


def test_a_generator_has_no_state(tmp_path):
    iterator = iter(tf.data.Dataset.from_generator(lambda: iter([1, 2]), tf.int32))
    with pytest.raises(tf.errors.FailedPreconditionError, match="PyFunc is stateful"):
        tf.train.Checkpoint(it=iterator).write(os.fspath(tmp_path / "state"))


@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_a_dataset_is_saved_and_loaded(compression, tmp_path):
    data = tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": (["x", "y"], [[1.5], [2.5]])})
    data.save(os.fspath(tmp_path), compression)
    loaded = tf.data.Dataset.load(os.fspath(tmp_path))
    assert loaded.element_spec == data.element_spec
    rows = [(int(e["a"]), e["b"][0].numpy(), float(e["b"][1][0])) for e in loaded]
    assert rows == [(1, b"x", 1.5), (2, b"y", 2.5)]
    with pytest.raises(tf.errors.NotFoundError):
        tf.data.Dataset.load(os.fspath(tmp_path / "none"))


def test_elements_are_kept_in_a_file_once_all_were_read(tmp_path):
    path, calls = os.fspath(tmp_path / "kept"), []

    def count(x):
        calls.append(1)
        return x

    data = tf.data.Dataset.range(3).map(lambda x: tf.py_function(count, [x], tf.int64)).cache(path)
    assert [int(x) for x in data.take(2)] == [0, 1]
    assert os.listdir(tmp_path) == []
    assert [[int(x) for x in data] for _ in range(2)] == [[0, 1, 2], [0, 1, 2]]
    assert len(calls) == 5
