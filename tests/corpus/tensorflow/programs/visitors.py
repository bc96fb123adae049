"""Programs of another stranger: rows of several lengths, tables that forget, records, refusals."""

import os
import tempfile

import numpy as np


def elements_of_several_lengths(tf):
    rng = np.random.RandomState(0)
    x, lengths = tf.constant(rng.randn(3, 6, 2), tf.float32), tf.constant([6, 2, 4])
    w = tf.Variable(rng.randn(4, 2).astype(np.float32) * 0.3)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            every = tf.TensorArray(tf.float32, tf.shape(x)[1])
            state = tf.zeros([3, 2])
            for t in tf.range(tf.shape(x)[1]):
                new = tf.tanh(tf.concat([x[:, t], state], 1) @ w)
                state = tf.where((t < lengths)[:, None], new, state)
                every = every.write(t, state)
            loss = tf.reduce_mean(tf.square(every.stack() - 0.5))
        w.assign_sub(0.5 * tape.gradient(loss, w))
        return loss

    losses = [step() for _ in range(5)]
    parts = tf.TensorArray(tf.float32, 3, infer_shape=False)
    for i, length in enumerate(lengths.numpy()):
        parts = parts.write(i, x[i, :length, 0])
    pieces = tf.TensorArray(tf.float32, 3).split(tf.range(6.0), [1, 2, 3])
    return losses, w, parts.concat(), pieces.read(2), pieces.size()


def words_counted_in_tables(tf):
    counts = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)
    seen = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, [-1.0, -1.0], -1, -2)
    seen.insert_or_assign(tf.constant([5, 6, 5], tf.int64), [[1.0, 2], [3, 4], [5, 6]])
    seen.erase(tf.constant([6], tf.int64))

    @tf.function
    def count(lines):
        words = tf.strings.split(lines, maxsplit=2)
        for word in words.flat_values:
            counts.insert(word, counts.lookup(word) + 1)
        return words.row_lengths(), counts.lookup(tf.constant(["a", "b", ""]))

    found = [count(tf.constant(["a b", "b  c d e ", "", " a"])) for _ in range(3)]
    return found, seen.lookup(tf.constant([5, 6], tf.int64)), seen.size()


def records_of_many_features(tf):
    rng = np.random.RandomState(1)

    def feature(**values):
        kinds = {"ints": tf.train.Int64List, "floats": tf.train.FloatList}
        kinds["texts"] = tf.train.BytesList
        kind, value = next(iter(values.items()))
        name = {"ints": "int64_list", "floats": "float_list", "texts": "bytes_list"}[kind]
        return tf.train.Feature(**{name: kinds[kind](value=value)})

    def record(i):
        features = {
            "label": feature(ints=[i * 97 % 1000]),
            "at": feature(floats=rng.rand(3).tolist()),
            "tags": feature(texts=[b"t%d" % i] * (i % 3)),
            "raw": feature(texts=[bytes(range(i % 200))]),
        }
        if i % 2:
            features["odd"] = feature(ints=[-i, i])
        made = tf.train.Example(features=tf.train.Features(feature=features))
        return made.SerializeToString()

    wanted = {
        "label": tf.io.FixedLenFeature([], tf.int64),
        "at": tf.io.FixedLenFeature([3], tf.float32),
        "tags": tf.io.VarLenFeature(tf.string),
        "raw": tf.io.FixedLenFeature([], tf.string),
        "odd": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=7),
        "none": tf.io.FixedLenFeature([2], tf.float32, default_value=[0.5, 1.5]),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "records")
        with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions("GZIP")) as writer:
            for i in range(180):
                writer.write(record(i))
        data = tf.data.TFRecordDataset(path, "GZIP").batch(120)
        parsed = list(data.map(lambda texts: tf.io.parse_example(texts, wanted)))
    return [
        [p["label"], tf.reduce_sum(p["at"], 0), p["tags"].indices[-3:], p["tags"].values[:4],
         tf.strings.length(p["raw"]), p["odd"][:4], tf.shape(p["none"]), p["none"][0]]
        for p in parsed
    ]  # fmt: skip


def refusals_by_name(tf):
    def name_of(function):
        try:
            function()
        except Exception as error:
            return type(error).__name__, isinstance(error, tf.errors.OpError)
        return "none"

    asked = [
        lambda: tf.reshape([1, 2, 3], [2, 2]),
        lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])),
        lambda: tf.constant([1]) + tf.constant([1.0]),
        lambda: tf.concat([tf.ones([2, 3]), tf.ones([3, 2])], 0),
        lambda: tf.linalg.inv(tf.zeros([2, 2])),
        lambda: tf.math.top_k([1.0, 2.0], 5),
        lambda: tf.meshgrid([1], [2], indexing="zz"),
    ]
    return [name_of(f) for f in asked]


def signatures_in_order(tf):
    module = tf.Module()
    module.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    rows = tf.TensorSpec([None, 2], tf.float32, name="x")
    module.serve = tf.function(lambda x: {"out": x @ module.w}, input_signature=[rows])
    module.total = tf.function(lambda x: {"sum": tf.reduce_sum(x)}, input_signature=[rows])
    names = {"serving_default": module.serve, "all": module.total}
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder, signatures=names)
        loaded = tf.saved_model.load(folder)
    x = tf.constant([[1.0, 2.0]])
    called = [(n, sorted(f(x=x).items())) for n, f in loaded.signatures.items()]
    return list(loaded.signatures), called
