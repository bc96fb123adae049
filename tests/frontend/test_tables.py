"""CSV tables, features of records, sparse batches, snapshots: values of TensorFlow 2.21."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure.tf as tf

E = tf.data.experimental
A = """id,name,x,y,label
1,"a, b",1.5,,0
2,c,2.5,7,1
3,"line
break",3.25,9,0
4,,1e300,11,1
"""
B = "id,name,x,y,label\n5,e,5.5,NA,0\n6000000000,f,6.5,13,1\n"


@pytest.fixture(autouse=True)
def _no_seed() -> None:
    """Let orders follow from their own seeds alone, whatever ran before."""
    tf.random.set_seed(None)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Write two tables."""
    for name, text in (("a", A), ("b", B)):
        (tmp_path / f"{name}.csv").write_text(text)
    return [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]


def lists(dataset: Any) -> list[Any]:
    """Return the elements as lists."""

    def listed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: listed(each) for key, each in value.items()}
        if isinstance(value, tuple):
            return tuple(map(listed, value))
        return np.asarray(value).tolist()

    return [listed(each) for each in dataset.as_numpy_iterator()]


def test_columns_have_the_narrowest_type_of_all_files(files: list[str]) -> None:
    data = E.make_csv_dataset(
        files, 2, num_epochs=1, shuffle=False, label_name="label", na_value="NA"
    )
    spec, label = data.element_spec
    types = {key: each.dtype for key, each in spec.items()}
    assert types == {"id": tf.int64, "name": tf.string, "x": tf.float64, "y": tf.int32}
    assert label.dtype == tf.int32
    first, second, third = lists(data)
    assert first == ({"id": [1, 2], "name": [b"a, b", b"c"], "x": [1.5, 2.5], "y": [0, 7]}, [0, 1])
    assert second[0]["name"] == [b"line\nbreak", b""]
    assert third[0]["id"] == [5, 6000000000]
    assert third[0]["y"] == [0, 13]


def test_rows_are_shuffled_in_tensorflows_order(files: list[str]) -> None:
    data = E.make_csv_dataset(files, 3, num_epochs=2, shuffle_seed=7, select_columns=["id"])
    made = [each["id"] for each in lists(data)]
    assert made == [[5, 1, 3], [4, 6000000000, 2], [6000000000, 3, 2], [1, 5, 4]]


def test_rows_of_chosen_columns(files: list[str]) -> None:
    assert lists(E.CsvDataset(files, [tf.float64, tf.int64], header=True, select_cols=[2, 4]))[
        4:
    ] == [
        (5.5, 0),
        (6.5, 1),
    ]
    left = E.CsvDataset(
        files[1:], [tf.int64, tf.float32, tf.int32], header=True, exclude_cols=[1, 3]
    )
    assert lists(left) == [(5, 5.5, 0), (6000000000, 6.5, 1)]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Field 1 is required but missing"):
        lists(E.CsvDataset(files, [tf.int64, tf.string, tf.float64, [-1.0], tf.int32], header=True))


def test_tables_that_do_not_fit_are_refused(files: list[str], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="No files match"):
        E.make_csv_dataset(str(tmp_path / "none*"), 2)
    with pytest.raises(ValueError, match="`label_name` provided must be one of the columns"):
        E.make_csv_dataset(files, 2, label_name="z")
    with pytest.raises(ValueError, match="'z' of `select_columns`"):
        E.make_csv_dataset(files, 2, select_columns=["z"])
    (tmp_path / "open.csv").write_text('1,"never\nclosed\n')
    with pytest.raises(tf.errors.InvalidArgumentError, match="a quoted field is not closed"):
        lists(E.CsvDataset(str(tmp_path / "open.csv"), [tf.int32, tf.string]))


def test_the_place_in_a_table_is_part_of_a_checkpoint(files: list[str], tmp_path: Path) -> None:
    data = E.CsvDataset(files, [tf.int64], header=True, select_cols=[0])
    iterator = iter(data)
    for _ in range(3):
        next(iterator)
    path = tf.train.Checkpoint(at=iterator).save(str(tmp_path / "kept"))
    again = iter(data)
    tf.train.Checkpoint(at=again).restore(path)
    assert [int(x[0]) for x in again] == [4, 5, 6000000000]


def test_features_of_files_of_examples(tmp_path: Path) -> None:
    def number(*values: int) -> Any:
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

    path = str(tmp_path / "examples")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(5):
            made = tf.train.Features(feature={"a": number(i), "b": number(i * 2, i)})
            writer.write(tf.train.Example(features=made).SerializeToString())
    features = {"a": tf.io.FixedLenFeature([], tf.int64), "b": tf.io.FixedLenFeature([2], tf.int64)}
    data = E.make_batched_features_dataset(
        path, 2, features, label_key="a", num_epochs=1, shuffle=False
    )
    assert lists(data)[1:] == [({"b": [[4, 2], [6, 3]]}, [2, 3]), ({"b": [[8, 4]]}, [4])]
    shuffled = E.make_batched_features_dataset([path], 2, features, num_epochs=2, shuffle_seed=3)
    assert [each["a"] for each in lists(shuffled)] == [[4, 3], [2, 1], [0, 3], [4, 1], [2, 0]]
    with pytest.raises(ValueError, match="must be one of `features`"):
        E.make_batched_features_dataset(path, 2, features, label_key="z")


def test_dense_elements_become_sparse_batches() -> None:
    data = tf.data.Dataset.range(1, 5).map(tf.range).sparse_batch(3, [6])
    first, second = data
    assert first.indices.numpy().tolist() == [[0, 0], [1, 0], [1, 1], [2, 0], [2, 1], [2, 2]]
    assert first.values.numpy().tolist() == [0, 0, 1, 0, 1, 2]
    assert second.dense_shape.numpy().tolist() == [1, 6]
    with pytest.raises(tf.errors.InvalidArgumentError, match="larger than row_shape"):
        list(tf.data.Dataset.range(3, 5).map(tf.range).sparse_batch(3, [2]))


def test_a_snapshot_is_read_from_then_on_by_datasets_that_are_made_alike(tmp_path: Path) -> None:
    folder = str(tmp_path / "kept")
    seen: list[int] = []

    def made() -> tf.data.Dataset:
        return tf.data.Dataset.range(5).map(lambda x: x * 2).snapshot(folder)

    assert [lists(made()) for _ in range(2)] == [[0, 2, 4, 6, 8]] * 2
    assert len(list((tmp_path / "kept").iterdir())) == 1
    other = tf.data.Dataset.range(9).take(5).map(lambda x: -x).snapshot(folder)
    assert [lists(other) for _ in range(2)] == [[0, -1, -2, -3, -4]] * 2
    assert len(list((tmp_path / "kept").iterdir())) == 2
    assert int(made().cardinality()) == 5
    with pytest.raises(NotImplementedError, match="compression='SNAPPY'"):
        tf.data.Dataset.range(5).snapshot(folder, compression="SNAPPY")

    def counted(x: Any) -> Any:
        seen.append(int(x))
        return x

    once = tf.data.Dataset.range(3).map(lambda x: tf.py_function(counted, [x], tf.int64))
    kept = once.snapshot(folder, compression="GZIP")
    assert [lists(kept) for _ in range(3)] == [[0, 1, 2]] * 3
    assert seen == [0, 1, 2]


def test_snapshots_whose_functions_say_where_elements_go(tmp_path: Path) -> None:
    folder = str(tmp_path / "kept")

    def made(**options: Any) -> tf.data.Dataset:
        numbers = tf.data.Dataset.range(6)
        return numbers.snapshot(folder, shard_func=lambda x: x % 2, **options)

    def in_order(shards: tf.data.Dataset) -> tf.data.Dataset:
        return shards.interleave(lambda shard: shard, cycle_length=1)

    assert lists(made(reader_func=in_order)) == [0, 1, 2, 3, 4, 5]
    assert lists(made(reader_func=in_order)) == [0, 2, 4, 1, 3, 5]
    assert lists(made(reader_func=lambda shards: in_order(shards).map(lambda x: -x))) == [
        *(0, -2, -4),
        *(-1, -3, -5),
    ]
    with pytest.raises(TypeError, match="Invalid `shard_func`"):
        tf.data.Dataset.range(6).snapshot(folder, shard_func=lambda _: "one")
    with pytest.raises(TypeError, match="`reader_func` must return"):
        made(reader_func=lambda _: 3)


def test_snapshots_that_are_not_read_to_their_end(tmp_path: Path) -> None:
    folder = str(tmp_path / "kept")
    first, second = (iter(tf.data.Dataset.range(4).snapshot(folder)) for _ in range(2))
    pairs = [(int(next(first)), int(next(second))) for _ in range(3)]
    assert pairs == [(0, 0), (1, 1), (2, 2)]
    assert lists(tf.data.Dataset.range(4).snapshot(folder)) == [0, 1, 2, 3]
    assert [int(x) for x in first] == [3]

    iterator = iter(tf.data.Dataset.range(6).snapshot(folder))
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    next(iterator), next(iterator)
    path = checkpoint.save(str(tmp_path / "state"))
    assert [int(x) for x in iterator] == [2, 3, 4, 5]
    checkpoint.restore(path)
    assert [int(x) for x in iterator] == [2, 3, 4, 5]
    assert lists(tf.data.Dataset.range(6).snapshot(folder)) == [0, 1, 2, 3, 4, 5]


def test_texts_are_written_as_records_and_elements_found_by_place(tmp_path: Path) -> None:
    path = str(tmp_path / "records")
    E.TFRecordWriter(path).write(tf.data.Dataset.from_tensor_slices([b"a", b"bc"]))
    assert lists(tf.data.TFRecordDataset(path)) == [b"a", b"bc"]
    with pytest.raises(TypeError, match="expected one text each"):
        E.TFRecordWriter(path).write(tf.data.Dataset.range(2))
    assert int(E.at(tf.data.Dataset.range(10, 20), 3)) == 13


def test_options_by_their_names() -> None:
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = E.AutoShardPolicy.OFF
    options.autotune.autotune_algorithm = E.AutotuneAlgorithm.STAGE_BASED
    options.experimental_external_state_policy = E.ExternalStatePolicy.IGNORE
    assert tf.data.Dataset.range(2).with_options(options).options() == options
    assert [int(x) for x in E.AutoShardPolicy] == [-1, 0, 1, 2, 3]


def test_tables_are_filled_from_datasets():
    names, datasets = tf.data.experimental, tf.data.Dataset
    words = datasets.from_tensor_slices(["a", "b", "c"])
    pairs = datasets.range(3).map(lambda x: (x, x * 7))
    asked, numbers = tf.constant(["c", "z", "b"]), tf.constant([2, 9], tf.int64)
    assert names.index_table_from_dataset(words)[asked].numpy().tolist() == [2, -1, 1]
    short = names.index_table_from_dataset(words, vocab_size=2, default_value=5)
    assert short[asked].numpy().tolist() == [5, 5, 1]
    hashed = names.index_table_from_dataset(words, num_oov_buckets=2)[asked].numpy()
    assert hashed[[0, 2]].tolist() == [2, 1]
    assert hashed[1] in (3, 4)
    found = names.table_from_dataset(pairs, key_dtype=tf.int64)[numbers]
    assert found.numpy().tolist() == [14, -1]

    @tf.function
    def inside(keys):
        return tf.lookup.StaticHashTable(names.DatasetInitializer(pairs), -2).lookup(keys)

    assert inside(numbers).numpy().tolist() == [14, -2]
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        table = names.index_table_from_dataset(datasets.from_tensor_slices(["p", "q"]))
        found = table.lookup(tf.constant(["q"]))
        session.run(tf.compat.v1.tables_initializer())
        assert session.run(found).tolist() == [1]


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda x: x, TypeError),
        (lambda x: (x, x, x), ValueError),
        (lambda x: (x, [x, x]), ValueError),
        (lambda x: (x // 2, x), tf.errors.FailedPreconditionError),
    ],
)
def test_what_is_no_dataset_of_pairs_fills_no_table(make, error):
    dataset = tf.data.Dataset.range(3).map(make)
    with pytest.raises(error):
        tf.lookup.StaticHashTable(tf.data.experimental.DatasetInitializer(dataset), -1)
