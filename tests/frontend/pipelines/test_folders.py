"""Datasets in folders: shards, readers, checkpoints on the way, in graphs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.data.files import element_bytes
from gravure.frontend.formats.records import RecordWriter

D = tf.data.Dataset


def numbers(dataset: tf.data.Dataset) -> list[object]:
    """Return the elements."""
    return [np.asarray(x).tolist() for x in dataset.as_numpy_iterator()]


def same(value: object) -> object:
    """Return what is given."""
    return value


def test_a_function_says_which_shard_and_shards_are_read_in_turns(tmp_path: Path) -> None:
    """As many shards at once as there are processors, by their numbers."""
    D.range(11).save(str(tmp_path), shard_func=lambda x: 10 * (x % 3))
    shards, cycle, expected = [list(range(n, 11, 3)) for n in range(3)], os.cpu_count() or 1, []
    now, rest = shards[:cycle], shards[cycle:]
    while now:
        for place in range(len(now)):
            if not now[place] and rest:
                now[place] = rest.pop(0)
            if now[place]:
                expected.append(now[place].pop(0))
        if not any(now) and not rest:
            break
    found = D.load(str(tmp_path))
    assert numbers(found) == expected
    assert int(found.cardinality()) == 11


def test_another_reader_reads_shard_after_shard(tmp_path: Path) -> None:
    """It is given a dataset of datasets."""
    D.range(11).save(tmp_path, shard_func=lambda x: x % 3, compression="GZIP")
    found = D.load(str(tmp_path), reader_func=lambda shards: shards.flat_map(lambda x: x))
    assert numbers(found) == [*range(0, 11, 3), *range(1, 11, 3), *range(2, 11, 3)]
    with pytest.raises(TypeError, match="reader_func"):
        D.load(str(tmp_path), reader_func=lambda shards: 3)


@pytest.mark.parametrize(
    "shard",
    [lambda x: tf.cast(x, tf.int32), lambda x: (x, x), lambda x: 3],
    ids=["int32", "two", "python"],
)
def test_what_is_no_number_of_a_shard_is_refused(
    shard: Callable[[tf.Tensor], object], tmp_path: Path
) -> None:
    """It is one number of 64 bits."""
    with pytest.raises(tf.errors.InvalidArgumentError, match="must return a scalar int64"):
        D.range(3).save(str(tmp_path), shard_func=shard)


def test_graphs_and_functions_write_when_they_run(tmp_path: Path) -> None:
    """There is nothing before, and each run writes what is there then."""
    count = tf.Variable(3, dtype=tf.int64)

    @tf.function
    def write() -> None:
        D.range(count).save(str(tmp_path / "function"))

    for number in (3, 5):
        count.assign(number)
        write()
        assert numbers(D.load(str(tmp_path / "function"))) == [*range(number)]
    with tf.Graph().as_default():
        op = D.range(4).save(str(tmp_path / "graph"), shard_func=lambda x: x % 2)
        spec = tf.TensorSpec([], tf.int64)
        read = tf.compat.v1.data.make_one_shot_iterator(D.load(str(tmp_path / "graph"), spec))
        element = read.get_next()
        with tf.compat.v1.Session() as session:
            assert not (tmp_path / "graph").exists()
            session.run(op)
            assert sorted(int(session.run(element)) for _ in range(4)) == [*range(4)]


def test_a_folder_that_is_not_complete_is_not_read(tmp_path: Path) -> None:
    """It says what is in it at the end."""

    def failing(x: tf.Tensor) -> tf.Tensor:
        tf.debugging.assert_less(x, tf.constant(2, tf.int64))
        return x

    with pytest.raises(tf.errors.InvalidArgumentError):
        D.range(4).map(failing).save(str(tmp_path))
    with pytest.raises(tf.errors.NotFoundError):
        D.load(str(tmp_path))


def test_writing_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    """Elements that are written are not computed again, and all of them are there at the end."""
    steps, seen, broken = tf.Variable(0), [], [True]

    def note(x: tf.Tensor) -> tf.Tensor:
        seen.append(int(x))
        if int(x) == 5 and broken:
            raise ValueError("the power is off")
        return x

    options = tf.data.Options()
    options.experimental_external_state_policy = tf.data.experimental.ExternalStatePolicy.IGNORE
    data = D.range(8).map(lambda x: tf.py_function(note, [x], tf.int64)).with_options(options)
    told = {"directory": str(tmp_path / "kept"), "step_counter": steps, "checkpoint_interval": 2}
    with pytest.raises(tf.errors.InvalidArgumentError, match="the power is off"):
        data.save(str(tmp_path / "data"), shard_func=lambda x: x % 2, checkpoint_args=told)
    broken.clear()
    data.save(str(tmp_path / "data"), shard_func=lambda x: x % 2, checkpoint_args=told)
    assert seen == [0, 1, 2, 3, 4, 5, 5, 6, 7]  # it was saved behind 0, 2 and 4
    assert sorted(numbers(D.load(str(tmp_path / "data")))) == [*range(8)]
    with pytest.raises(ValueError, match="checkpoint"):
        data.save(str(tmp_path / "data"), checkpoint_args={**told, "checkpoint": None})
    with pytest.raises(TypeError, match="other"):
        data.save(str(tmp_path / "data"), checkpoint_args={**told, "other": 1})
    with pytest.raises(TypeError, match="Dataset"):
        data.save(data, str(tmp_path))  # type: ignore[arg-type]


def test_a_reader_goes_on_within_shards(tmp_path: Path) -> None:
    """The shards that are open are part of the state."""
    D.range(20).save(str(tmp_path / "data"), shard_func=lambda x: x % 3)
    made = D.load(str(tmp_path / "data"))
    whole, iterator = numbers(made), iter(made)
    for _ in range(7):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "state"))
    other = iter(D.load(str(tmp_path / "data")))
    tf.train.Checkpoint(iterator=other).restore(path)
    assert [int(x) for x in other] == whole[7:]


def test_sparse_and_ragged_elements(tmp_path: Path) -> None:
    """The folder says what they are like."""
    sparse = tf.sparse.from_dense([[1, 0], [2, 3]])
    ragged = tf.ragged.constant([[1.0], [2.0, 3.0]])
    data = D.from_tensors((sparse, {"rows": ragged}))
    data.save(str(tmp_path))
    made = D.load(str(tmp_path))
    assert made.element_spec == data.element_spec
    ((first, second),) = made
    assert tf.sparse.to_dense(first).numpy().tolist() == [[1, 0], [2, 3]]
    assert second["rows"].to_list() == [[1.0], [2.0, 3.0]]


def test_folders_of_one_file_are_still_read(tmp_path: Path) -> None:
    """They were written when there were no shards."""
    with (tmp_path / "spec.json").open("w") as file:
        json.dump({"compression": "", "spec": {"type": "int64", "shape": []}}, file)
    writer = RecordWriter(str(tmp_path / "elements.records"))
    for number in range(3):
        writer.write(element_bytes((np.array(number, np.int64),)))
    writer.close()
    assert numbers(D.load(str(tmp_path))) == [0, 1, 2]


def test_states_hold_pipelines_and_values_of_several_arrays(tmp_path: Path) -> None:
    """What waits in an iterator is a dataset, or sparse."""
    parts = [D.from_tensor_slices([1, 2, 3]), D.from_tensor_slices([4, 5, 6]).map(lambda x: -x)]
    nested = D.from_tensor_slices(np.array([0, 0])).flat_map(
        lambda _: D.from_tensors(D.from_tensor_slices([1, 2, 3]).skip(1))
    )
    sparse = D.range(1, 5).map(lambda x: tf.sparse.from_dense([[x, 0]])).shuffle(4, seed=1)
    for made in (nested.interleave(same, 2), nested.flat_map(same)):
        iterator, whole = iter(made), numbers(made)
        next(iterator)
        path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "state"))
        other = iter(made)
        tf.train.Checkpoint(iterator=other).restore(path)
        assert [int(x) for x in other] == whole[1:]
    iterator = iter(sparse)
    next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "sparse"))
    rest = [x.values.numpy().tolist() for x in iterator]
    tf.train.Checkpoint(iterator=iterator).restore(path)
    assert [x.values.numpy().tolist() for x in iterator] == rest
    functions = iter(D.from_tensors(parts[1]).flat_map(same))
    next(functions)
    with pytest.raises(tf.errors.UnimplementedError):
        tf.train.Checkpoint(iterator=functions).save(str(tmp_path / "functions"))
