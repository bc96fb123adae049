"""Shuffled rows and the judge of threads: what is done in bulk is what is done one by one."""

import sys
import time

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.data import ahead
from gravure.frontend.data.order import Words
from gravure.frontend.data.programs import Piece


def slices(rows):
    """Return a dataset of numbered rows of two parts."""
    number = np.arange(rows)
    return tf.data.Dataset.from_tensor_slices((number, np.stack([number, -number], 1) * 0.5))


def same_alone(data):
    """Return a dataset of the same elements that are taken one by one."""
    return data.map(lambda *parts: parts)


def taken(data):
    """Return all elements as lists."""
    return [[part.tolist() for part in element] for element in data.as_numpy_iterator()]


@pytest.mark.parametrize("rows", [0, 1, 2, 7, 64])
@pytest.mark.parametrize("buffer", [1, 2, 6, 64, 1000])
@pytest.mark.parametrize("batch", [1, 3, 64])
def test_rows_shuffle_as_elements_do(rows, buffer, batch):
    def pipeline(prepare):
        data = prepare(slices(rows)).shuffle(buffer, seed=11).repeat(3)
        return taken(data.batch(batch)), taken(data.batch(batch, drop_remainder=True)), taken(data)

    assert pipeline(lambda data: data) == pipeline(same_alone)


@pytest.mark.parametrize("rows", [0, 1, 5])
@pytest.mark.parametrize("batch", [1, 4, 100])
def test_turns_of_turns_are_stacked_as_elements_are(rows, batch):
    def pipeline(data):
        return taken(data.repeat(2).repeat(3).batch(batch))

    assert pipeline(slices(rows)) == pipeline(same_alone(slices(rows)))
    assert len(pipeline(slices(rows))) == -(-6 * rows // batch)


@pytest.mark.parametrize("before", [0, 1, 3, 9])
def test_a_shuffle_of_rows_goes_on_from_a_checkpoint(before, tmp_path):
    def data():
        return slices(20).shuffle(6, seed=4).repeat(2).batch(3)

    first = iter(data())
    for _ in range(before):
        next(first)
    path = tf.train.Checkpoint(it=first).save(str(tmp_path / "at"))
    rest = [x[0].numpy().tolist() for x in first]
    again = iter(data())
    next(again)
    tf.train.Checkpoint(it=again).restore(path)
    assert [x[0].numpy().tolist() for x in again] == rest
    assert len(rest) == 14 - before


@pytest.mark.parametrize("counts", [(1, 1, 1), (5, 2000, 3), (1024, 1, 1023, 2)])
def test_words_come_in_the_same_order_by_ones_and_by_many(counts):
    many, ones = Words(7, 9), Words(7, 9)
    for count in counts:
        assert many.several(count) == [ones.next() for _ in range(count)]
        assert many.state() == ones.state()


def test_a_turn_in_which_something_was_compiled_does_not_count(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    judge = ahead.Judge(2)

    def turn(seconds):
        """Let so many seconds pass in elements."""
        for _ in range(8):
            clock[0] += seconds / 8
            judge.seen(0.0)

    turn(0.25)
    turn(0.15)
    assert judge.taken.keys() == {"warm", "alone"}
    monkeypatch.setattr(Piece, "compiled", Piece.compiled + 1)
    turn(2.0)
    assert judge.threads
    assert "threads" not in judge.taken
    turn(0.11)
    turn(0.2)
    assert judge.settled
    assert judge.threads
    clock[0] += ahead.AGAIN + 1
    judge.doubt()
    assert not judge.settled
    assert not judge.threads


def test_jpegs_without_their_decoder_are_refused_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "simplejpeg", None)
    with pytest.raises(ImportError, match=r"takes the package simplejpeg.*gravure\[images\]"):
        tf.io.decode_jpeg(b"\xff\xd8\xff\xe0")


def epochs(data, count, size):
    """Return the elements of some epochs, each cut after so many."""
    found = []
    for _ in range(count):
        order = [int(x) for x in data]
        found.append([tuple(order[i : i + size]) for i in range(0, len(order), size)])
    return found


@pytest.mark.parametrize(
    ("between", "drawn"),
    [
        (lambda data: data, [[0, 1], [2, 3], [4, 5]]),
        (lambda data: data.map(lambda x: x + 0), [[0, 1], [3, 4], [6, 7]]),
        (lambda data: data.prefetch(2), [[0, 1], [3, 4], [6, 7]]),
        (lambda data: data.batch(1).unbatch(), [[0, 1], [3, 4], [6, 7]]),
        (lambda data: tf.data.Dataset.zip((data, data)).map(lambda x, y: x), [[0, 2], [6, 8]]),
    ],
)
def test_orders_of_repeated_shuffles_are_tensorflows(between, drawn):
    """TensorFlow opens one turn more than it reads, unless the shuffle is repeated itself."""
    order = [tuple(int(x) for x in one) for one in [tf.data.Dataset.range(13).shuffle(20, 1)] * 9]
    data = between(tf.data.Dataset.range(13).shuffle(20, 1)).repeat(2)
    found = epochs(data, len(drawn), 13)
    assert [[order.index(turn) for turn in epoch] for epoch in found] == drawn


@pytest.mark.parametrize(("asked", "kept"), [(12, False), (13, True), (14, True)])
def test_a_cache_is_whole_when_as_many_came_as_there_are(asked, kept):
    data = tf.data.Dataset.range(13).shuffle(20, 1).cache().take(asked)
    first, second = epochs(data, 2, 13)
    assert (first == second) == kept
