"""What TensorFlow's own tests of records and of summaries found."""

import os

import pytest

import gravure.tf as tf

v1 = tf.compat.v1


def test_an_iterator_goes_on_where_a_file_has_grown(tmp_path):
    path = str(tmp_path / "a")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write("one")
        writer.flush()
        records = v1.io.tf_record_iterator(path)
        assert [*records] == [*records, b"one"] == [b"one"]
        writer.write(b"two")
        writer.flush()
        assert next(records) == b"two"
    with pytest.raises(StopIteration):
        next(records)


def test_a_record_that_is_cut_short_is_read_when_the_rest_is_there(tmp_path):
    path, whole = str(tmp_path / "a"), str(tmp_path / "b")
    with tf.io.TFRecordWriter(whole) as writer:
        writer.write(b"truncated")
    data = (tmp_path / "b").read_bytes()
    with open(path, "wb", buffering=0) as file:
        file.write(data + data[:-1])
        records = v1.io.tf_record_iterator(path)
        assert next(records) == b"truncated"
        for _ in range(2):
            with pytest.raises(tf.errors.DataLossError, match="truncated record"):
                next(records)
        file.write(data[-1:])
        assert next(records) == b"truncated"


def test_a_file_that_was_replaced_is_read_from_the_same_place_on(tmp_path):
    for name, count in (("a", 2), ("b", 3)):
        with tf.io.TFRecordWriter(str(tmp_path / name)) as writer:
            for text in ("one", "two", "three")[:count]:
                writer.write(text)
    records = v1.io.tf_record_iterator(str(tmp_path / "a"))
    assert [*records] == [b"one", b"two"]
    os.replace(tmp_path / "b", tmp_path / "a")
    assert [*records] == []
    records.close()
    assert [*records] == []
    records.reopen()
    assert [*records] == [b"three"]


def test_events_behind_the_end_are_read_later(tmp_path):
    with v1.summary.FileWriter(str(tmp_path)) as writer:
        writer.flush()
        (file,) = tmp_path.iterdir()
        events = v1.train.summary_iterator(str(file))
        assert [each.file_version for each in events] == ["brain.Event:2"]
        writer.add_summary(v1.Summary(), 7)
        writer.flush()
        assert [each.step for each in events] == [7]


def test_writers_that_are_closed_write_nothing_and_say_so(tmp_path):
    writer = v1.summary.FileWriter(str(tmp_path))
    writer.close()
    with pytest.warns(UserWarning, match="Attempting to use a closed FileWriter"):
        writer.add_summary(v1.Summary(), 7)
    assert len([*tmp_path.iterdir()]) == 1
    records = tf.io.TFRecordWriter(str(tmp_path / "records"))
    records.close()
    with pytest.raises(tf.errors.FailedPreconditionError, match="previously closed"):
        records.flush()


def test_writers_of_one_session_have_a_file_together(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session, v1.Session() as other:
        writers = [
            v1.summary.FileWriter(str(tmp_path), session=s) for s in (session, session, other)
        ]
        for step, writer in enumerate(writers):
            writer.add_summary(v1.Summary(), step + 1)
            writer.close()
    steps = [[e.step for e in v1.train.summary_iterator(str(f))] for f in tmp_path.iterdir()]
    assert sorted(steps) == [[0, 1, 2], [0, 3]]


def test_a_graph_is_given_once_and_a_rate_is_one_number(tmp_path):
    with tf.Graph().as_default() as graph:
        with pytest.raises(ValueError, match="only graph, or graph_def"):
            v1.summary.FileWriter(str(tmp_path), graph=graph, graph_def=graph.as_graph_def())
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be a scalar"):
            v1.summary.audio("a", tf.ones([1, 2]), [1.0, 2.0])
        sound = v1.summary.audio("a", tf.ones([1, 2]), 0.2)
        with v1.Session() as session:
            assert v1.Summary.FromString(session.run(sound)).value[0].audio.length_frames == 2
    options = tf.io.TFRecordOptions(tf.io.TFRecordOptions("ZLIB"))
    assert options.compression_type == "ZLIB"


def test_a_folder_that_is_not_there_is_not_found(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="Could not find directory"):
        v1.gfile.ListDirectory(str(tmp_path / "none"))
