"""Arguments that may be left out, have two names, or a value of their own meaning."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure import tf
from gravure.frontend.autograph.loops import leaves_of_shapes
from gravure.frontend.tf.names.keras_names import WITHOUT

v1 = tf.compat.v1


def test_a_transposed_convolution_without_padding_has_all_places() -> None:
    x, w = gv.asarray(np.ones((1, 1, 3), np.float32)), gv.asarray(np.ones((1, 1, 2), np.float32))
    made = gv.nn.conv_transpose(x, w)
    np.testing.assert_array_equal(np.asarray(made), [[[1, 2, 2, 1]]])
    made = gv.nn.conv_transpose(x, w, padding=((1, 0),))
    np.testing.assert_array_equal(np.asarray(made), [[[2, 2, 1]]])


def test_no_shape_is_a_leaf_of_shapes() -> None:
    assert leaves_of_shapes([None, (3, None)]) == [None, (3, None)]
    assert leaves_of_shapes(None) == [None]
    assert leaves_of_shapes([(3, None), [(2,), ()]]) == [(3, None), (2,), ()]


@pytest.mark.parametrize("count", [0, -2])
def test_records_are_read_by_as_many_as_is_chosen_here(tmp_path: Path, count: int) -> None:
    path = str(tmp_path / "records")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"one")
    for chosen in (None, 1, 2, tf.data.AUTOTUNE):
        data = tf.data.TFRecordDataset([path], num_parallel_reads=chosen)
        assert [x.numpy() for x in data] == [b"one"]
    with pytest.raises(ValueError, match=f"num_parallel_reads must be positive, got {count}"):
        tf.data.TFRecordDataset([path], num_parallel_reads=count)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(1.0, True), (1 + 2j, True), (np.int8(3), True), ("text", False), (True, False)],
)
def test_tensors_of_numbers(value: object, wanted: bool) -> None:
    assert tf.debugging.is_numeric_tensor(tf.constant(value)) is wanted
    assert v1.is_numeric_tensor(tf.constant(value)) is wanted
    assert not tf.debugging.is_numeric_tensor(value if isinstance(value, str) else [value])


def test_both_names_of_the_texts_that_go_into_buckets() -> None:
    wanted = tf.strings.to_hash_bucket(["a", "b"], 10).numpy().tolist()
    assert v1.string_to_hash_bucket(["a", "b"], 10).numpy().tolist() == wanted
    assert v1.string_to_hash_bucket(input=["a", "b"], num_buckets=10).numpy().tolist() == wanted


@pytest.mark.parametrize("truth", [[0.0, 1.0, 1.0], [1.0, 1.0, 1.0], [-1.0, 1.0, 1.0]])
def test_sides_are_numbers_of_either_sign_or_zero_and_one(truth: list[float]) -> None:
    found = float(WITHOUT["keras"].losses.hinge([truth], [[0.3, -0.2, 2.0]])[0])
    signs = np.array([x if -1.0 in truth else 2 * x - 1 for x in truth])
    assert found == pytest.approx(np.maximum(1 - signs * [0.3, -0.2, 2.0], 0).mean())


def test_channels_may_come_before_places_in_a_transposed_convolution() -> None:
    x = np.arange(120, dtype=np.float32).reshape(2, 3, 4, 5)
    first = v1.layers.Conv2DTranspose(6, 3, strides=2, data_format="channels_first")
    last = v1.layers.Conv2DTranspose(6, 3, strides=2)
    found = first(tf.constant(x)).numpy()
    turned = tf.constant(x.transpose(0, 2, 3, 1))
    last(turned)
    last.kernel.assign(first.kernel)
    np.testing.assert_allclose(found, last(turned).numpy().transpose(0, 3, 1, 2), rtol=1e-5)


def test_rows_of_a_sparse_tensor_are_as_many_as_its_height() -> None:
    @tf.function
    def splits(places: object) -> object:
        sparse = tf.sparse.SparseTensor(places, [1, 2, 3], [3, 7])
        found = tf.RaggedTensor.from_sparse(sparse).row_splits
        assert found.shape.as_list() == [4]
        return found

    given = tf.constant([[0, 0], [0, 1], [2, 0]], tf.int64)
    assert splits(given).numpy().tolist() == [0, 2, 2, 3]


@pytest.mark.parametrize("more", [{}, {"epsilon": 3.0}])
def test_what_is_added_to_the_sum_of_squares(more: dict[str, float]) -> None:
    v = tf.Variable(1.0)
    WITHOUT["keras"].optimizers.Adagrad(0.5, **more).apply_gradients([(tf.constant(2.0), v)])
    root = np.sqrt(0.1 + 4 + more.get("epsilon", 1e-7))
    assert float(v) == pytest.approx(1 - 0.5 * 2 / root)
    v1.train.AdagradOptimizer(0.5).apply_gradients([(tf.constant(2.0), w := tf.Variable(1.0))])
    assert float(w) == pytest.approx(1 - 0.5 * 2 / np.sqrt(4.1))


def test_parts_of_a_declared_dictionary_are_told_apart_by_their_keys():
    spec = {"q": tf.TensorSpec([2], tf.int32, "q"), "p": tf.TensorSpec([3], name="p")}

    @tf.function(input_signature=[spec])
    def change(x):
        return tf.cast(tf.reduce_sum(x["q"]), tf.float32) - tf.reduce_sum(x["p"])

    q, p = tf.constant([1, 2]), tf.ones([3])
    assert float(change({"p": p, "q": q})) == float(change({"q": q, "p": p})) == 0.0
    trace = change.get_concrete_function()
    assert float(trace(q=q, p=p)) == 0.0
    assert [x.op.name for x in trace.inputs] == ["p", "q"]


def slices(whole=True):
    """Return rows of a matrix."""
    sizes = tf.constant([4, 2], tf.int64) if whole else None
    return tf.IndexedSlices(tf.ones([2, 2]), tf.constant([0, 2], tf.int64), sizes)


@pytest.mark.parametrize("whole", [True, False])
def test_slices_with_indices_are_arguments_and_have_descriptions(whole):
    kind = tf.int64 if whole else None
    spec = tf.IndexedSlicesSpec([None, 2], tf.float32, tf.int64, kind)
    traces = []

    def change(given, factor):
        traces.append(given)
        values = [x.values * factor for x in given] if isinstance(given, list) else given.values
        return values, factor

    fixed = tf.function(lambda x: (x.values * 2.0, x.indices + 1), input_signature=[spec])
    values, indices = fixed(slices(whole))
    assert (values.numpy().tolist(), indices.numpy().tolist()) == ([[2, 2]] * 2, [1, 3])
    free = tf.function(change)
    for number in (3.0, 4.0):
        [found], _ = free([slices(whole)], tf.constant(number))
        assert found.numpy().tolist() == [[number] * 2] * 2
    assert len(traces) == 1
    assert isinstance(traces[0][0], tf.IndexedSlices)
    found = tf.type_spec_from_value(slices(whole))
    shape = [4, 2] if whole else [None, 2]
    assert found == tf.IndexedSlicesSpec(shape, tf.float32, tf.int64, kind, [2])
    assert spec.is_compatible_with(slices(whole))
    assert repr(tf.IndexedSlicesSpec([3, 2])) == (
        "IndexedSlicesSpec(TensorShape([3, 2]), tf.float32, tf.int64, None, TensorShape([None]))"
    )


def test_signatures_give_their_results_by_name_and_refuse_others(tmp_path):
    class Model(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], name="x")])
        def named(self, x):
            return {"zeta": x, "alpha": x + 1.0}

        @tf.function(input_signature=[tf.TensorSpec([None], name="x")])
        def nested(self, x):
            return [x, {"b": x}]

    model, folder = Model(), str(tmp_path)
    tf.saved_model.save(model, folder, signatures=model.named)
    found = tf.saved_model.load(folder).signatures["serving_default"]
    assert [*found.structured_outputs] == [*found(x=tf.ones([1]))] == ["alpha", "zeta"]
    assert [x.dtype for x in found.outputs] == [tf.float32] * 2
    with pytest.raises(ValueError, match="non-Tensor value"):
        tf.saved_model.save(model, folder, signatures=model.nested)
    with pytest.raises(ValueError, match="Expected a TensorFlow function"):
        tf.saved_model.save(model, folder, signatures={"a": 3})


def test_a_function_sees_dictionaries_in_the_order_that_they_were_given_in() -> None:
    seen = []

    @tf.function
    def differences(named: dict[str, Any], listed: list[dict[str, Any]]) -> Any:
        seen.append((list(named), list(listed[0])))
        values = list(named.values())
        return values[0] - values[1]

    def called(one: float, two: float) -> float:
        named = {"b": tf.constant(one), "a": tf.constant(two)}
        return float(differences(named, [{"z": 1, "y": {"x": tf.constant(one)}}]))

    assert [called(5.0, 2.0), called(1.0, 4.0)] == [3.0, -3.0]
    in_other_order = {"a": tf.constant(1.0), "b": tf.constant(7.0)}
    same_trace = differences(in_other_order, [{"y": {"x": tf.constant(0.0)}, "z": 1}])
    assert float(same_trace) == 6.0
    assert seen == [(["b", "a"], ["z", "y"])]
