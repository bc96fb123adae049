"""Examples of sequences in batches, sparse features, and examples in JSON."""

import pytest

import gravure.tf as tf

train, io = tf.train, tf.io


def whole(*values):
    return train.Feature(int64_list=train.Int64List(value=values))


def example(**features):
    return train.Example(features=train.Features(feature=features))


def sequence(context, **lists):
    return train.SequenceExample(
        context=train.Features(feature=context),
        feature_lists=train.FeatureLists(
            feature_list={key: train.FeatureList(feature=each) for key, each in lists.items()}
        ),
    ).SerializeToString()


@pytest.mark.parametrize("staged", [False, True])
def test_a_batch_of_sequences_is_filled_up_and_has_lengths(staged):
    first = sequence({"c": whole(7)}, a=[whole(1, 2), whole(3, 4)], v=[whole(5), whole(6, 7)])
    second = sequence({}, a=[whole(8, 9)])

    def parse(serialized):
        return io.parse_sequence_example(
            serialized,
            {"c": io.FixedLenFeature([], tf.int64, default_value=-1)},
            {
                "a": io.FixedLenSequenceFeature([2], tf.int64),
                "b": io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
                "v": io.VarLenFeature(tf.int64),
            },
        )

    function = tf.function(parse) if staged else parse
    context, steps, lengths = function(tf.constant([first, second]))
    assert context["c"].numpy().tolist() == [7, -1]
    assert steps["a"].numpy().tolist() == [[[1, 2], [3, 4]], [[8, 9], [0, 0]]]
    assert steps["b"].shape == (2, 0)
    assert lengths["a"].numpy().tolist() == [2, 1]
    assert lengths["b"].numpy().tolist() == [0, 0]
    assert steps["v"].indices.numpy().tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 1]]
    assert steps["v"].values.numpy().tolist() == [5, 6, 7]
    assert steps["v"].dense_shape.numpy().tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match="vector"):
        parse(tf.constant(first))


def test_a_sparse_feature_is_made_of_its_indices_and_values():
    floats = train.Feature(float_list=train.FloatList(value=[3.0, 4.0]))
    one = example(i=whole(5, 2), v=floats).SerializeToString()
    features = {"s": io.SparseFeature("i", "v", tf.float32, 10), "i": io.VarLenFeature(tf.int64)}
    found = io.parse_example([one, example().SerializeToString()], features)
    assert found["s"].indices.numpy().tolist() == [[0, 2], [0, 5]]
    assert found["s"].values.numpy().tolist() == [4.0, 3.0]
    assert found["s"].dense_shape.numpy().tolist() == [2, 10]
    assert found["i"].values.numpy().tolist() == [5, 2]
    single = io.parse_single_example(one, {"s": features["s"]})
    assert single["s"].indices.numpy().tolist() == [[2], [5]]
    with pytest.raises(ValueError, match="takes 'i'"):
        io.parse_example([one], {**features, "i": io.FixedLenFeature([2], tf.int64)})


def test_examples_are_read_from_json():
    text = '{"features": {"feature": {"a": {"int64List": {"value": ["1", "2"]}}}}}'
    (made,) = io.decode_json_example(tf.constant([text])).numpy()
    assert made == example(a=whole(1, 2)).SerializeToString()
    with pytest.raises(tf.errors.InvalidArgumentError, match="Error while parsing JSON"):
        io.decode_json_example("{]")
