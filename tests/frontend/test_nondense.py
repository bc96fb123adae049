"""Programs on sparse and ragged values beside TensorFlow 2.21, whose values are recorded."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import gravure.tf as tf

HERE = Path(__file__).parent / "nondense"


def module(name):
    """Return a file of the folder as a module."""
    spec = importlib.util.spec_from_file_location(f"nondense_{name}", HERE / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


programs, record = module("programs"), module("record")
RECORDED = json.loads((HERE / "values.json").read_text())


@pytest.mark.parametrize("text", programs.EXPRESSIONS)
def test_expression(text):
    assert record.outcome(lambda: record.evaluated(text, tf), tf) == RECORDED[text]


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_program(name):
    found = record.outcome(lambda: programs.PROGRAMS[name](tf), tf)
    assert json.loads(json.dumps(found)) == RECORDED[name]


def test_rows_of_ragged_tensors_become_rows_of_batches():
    rows = tf.ragged.constant([[1, 2], [3], []])
    found = tf.data.Dataset.from_tensor_slices((rows, [1, 2, 3])).ragged_batch(2)
    assert [(a.to_list(), b.numpy().tolist()) for a, b in found] == [
        ([[1, 2], [3]], [1, 2]),
        ([[]], [3]),
    ]
    assert found.element_spec[0] == tf.RaggedTensorSpec([None, None], tf.int32, 1)


def test_counts_are_those_of_all_or_of_each_row():
    dense, sparse = tf.constant([[1, 2], [0, 1]]), tf.sparse.from_dense([[1, 2], [0, 1], [0, 0]])
    count = tf.math.bincount
    for _ in range(2):
        assert count(dense, axis=0).numpy().tolist() == [1, 2, 1]
        assert count(dense, binary_output=True).numpy().tolist() == [1, 1, 1]
        assert count(tf.zeros([2, 0], tf.int32), axis=-1, minlength=2).shape == (2, 2)
        assert count(sparse, axis=0).numpy().tolist() == [0, 2, 1]
        assert count(sparse, axis=-1).numpy().tolist() == [[0, 1, 1], [0, 1, 0], [0, 0, 0]]
        weighted = count(sparse, sparse, axis=-1, minlength=4)
        assert weighted.numpy().tolist() == [[0, 1, 2, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
        assert count(sparse, axis=-1, maxlength=2, dtype=tf.float32).numpy().sum() == 2.0
        assert count(sparse, axis=-1, binary_output=True).numpy().max() == 1
    other = tf.sparse.from_dense([[1, 2], [1, 0], [0, 0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have the same indices"):
        count(sparse, other, axis=-1)
    with pytest.raises(ValueError, match="must be a SparseTensor"):
        count(sparse, dense)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have the same shape"):
        tf.sparse.bincount(dense, weights=tf.ones([2, 3]))


def test_the_first_version_has_its_own_calls_of_sparse_functions():
    v1 = tf.compat.v1
    a, value = tf.sparse.from_dense([[1, 2]]), v1.SparseTensorValue([[0, 0]], [5], [1, 2])
    assert tf.sparse.to_dense(v1.sparse.add(a, value, thresh=7)).numpy().tolist() == [[0, 2]]
    wide = v1.sparse.concat(0, [a, tf.sparse.from_dense([[1, 2, 3]])], expand_nonconcat_dim=True)
    assert wide.dense_shape.numpy().tolist() == [2, 3]
    assert v1.sparse.split(sp_input=a, num_split=2, axis=1)[1].values.numpy().tolist() == [2]
    assert v1.sparse.reduce_sum(a, reduction_axes=1, keep_dims=True).numpy().tolist() == [[3]]
    assert v1.sparse.matmul(a, [[1], [1]]).numpy().tolist() == [[3]]
    with v1.Graph().as_default():
        assert v1.sparse.placeholder(tf.float32, [2, 3]).shape == (2, 3)
    with pytest.raises(ValueError, match="Ranks of all input tensors must match"):
        tf.sparse.concat(0, [a, tf.sparse.expand_dims(a, 0)])


@pytest.mark.parametrize("space", [tf.nn, tf.compat.v1.nn], ids=["second", "first"])
def test_rows_of_a_table_are_looked_up_by_ragged_ids(space):
    table = tf.reshape(tf.range(8.0), [4, 2])
    ids, weights = tf.ragged.constant([[1, 3], [0]]), tf.ragged.constant([[1.0, 2.0], [0.5]])
    for name in ("embedding_lookup_sparse", "safe_embedding_lookup_sparse"):
        look = getattr(space, name)
        for by in (None, weights):
            sparse = None if by is None else by.to_sparse()
            for fast in (False, True):
                found = look(table, ids, by, combiner="sum", allow_fast_lookup=fast)
                expected = look(table, ids.to_sparse(), sparse, combiner="sum")
                assert found.numpy().tolist() == expected.numpy().tolist()
        with pytest.raises(TypeError, match="must both be RaggedTensor"):
            look(table, ids, weights.to_sparse())
    if space is not tf.nn:
        parts = [table[::2], table[1::2]]
        found = space.embedding_lookup(parts, tf.constant([3, 0], tf.int64))
        assert found.numpy().tolist() == [[6.0, 7.0], [0.0, 1.0]]
    with pytest.raises(ValueError, match="expected that of weights"):
        space.safe_embedding_lookup_sparse(tf.cast(table, "float64"), ids, weights)


@pytest.mark.parametrize("told", ["constant", "computed", "numbers"])
def test_sizes_of_a_fed_sparse_tensor_may_be_a_tensor(told):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        sizes = {
            "constant": lambda: tf.constant(np.array([3, 4]), tf.int64),
            "computed": lambda: tf.stack([tf.constant(3), v1.placeholder_with_default(4, [])]),
            "numbers": lambda: [3, 4],
        }[told]()
        fed = v1.sparse_placeholder(tf.float32, shape=sizes)
        assert fed.get_shape().as_list() == ([None, None] if told == "computed" else [3, 4])
        rows = v1.sparse_tensor_to_dense(fed)
        found = session.run(rows, {fed.indices: [[0, 1]], fed.values: [2.0]})
        assert found.tolist() == [[0, 2, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
        given = v1.SparseTensorValue(np.int64([[1, 0]]), np.float32([5.0]), np.int64([3, 4]))
        assert session.run(rows, {fed: given})[1].tolist() == [5, 0, 0, 0]
