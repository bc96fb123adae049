"""Keras's layers that prepare data: words, numbers, categories, and a classifier over them."""

import numpy as np


def text_vectorization_vocabulary(tf):
    layer = tf.keras.layers.TextVectorization(max_tokens=20, output_sequence_length=6)
    texts = ["the cat sat on the mat", "The dog, sat!", "a cat and a dog", "mat mat mat the"]
    layer.adapt(tf.data.Dataset.from_tensor_slices(texts).batch(2))
    return layer.get_vocabulary(), layer(tf.constant(texts)), layer.vocabulary_size()


def text_vectorization_modes(tf):
    texts = ["foo bar baz", "bar baz baz", "foo foo", "qux"]
    out = {}
    for mode in ("int", "multi_hot", "count", "tf_idf"):
        layer = tf.keras.layers.TextVectorization(output_mode=mode, ngrams=None)
        layer.adapt(texts)
        out[mode] = layer(tf.constant([["foo qux bar"], ["qux baz baz"]]))
    layer = tf.keras.layers.TextVectorization(
        vocabulary=["a b", "b c"], ngrams=2, standardize="lower", split="whitespace"
    )
    out["ngrams"] = layer(["a b c"])
    layer = tf.keras.layers.TextVectorization(
        split="character", standardize=None, vocabulary=list("abcdef")
    )
    out["characters"] = layer(["face", "bad"])
    return out


def text_classifier_end_to_end(tf):
    texts = np.array(
        ["good fun great", "bad awful", "great great", "awful bad bad", "fun good", "bad"] * 4
    )
    labels = np.array([1, 0, 1, 0, 1, 0] * 4, "f4")
    vec = tf.keras.layers.TextVectorization(max_tokens=12, output_sequence_length=4)
    vec.adapt(texts)
    ds = tf.data.Dataset.from_tensor_slices((texts, labels)).batch(8).map(lambda t, y: (vec(t), y))
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Embedding(12, 4, embeddings_initializer="ones"),
            tf.keras.layers.GlobalAveragePooling1D(),
            tf.keras.layers.Dense(
                3, activation="relu", kernel_initializer=tf.keras.initializers.Constant(0.1)
            ),
            tf.keras.layers.Dense(1, kernel_initializer="ones"),
        ]
    )
    model.compile(
        "adam", tf.keras.losses.BinaryCrossentropy(from_logits=True), metrics=["accuracy"]
    )
    h = model.fit(ds, epochs=3, shuffle=False, verbose=0)
    return h.history, model.predict(ds, verbose=0)


def string_lookup(tf):
    data = tf.constant([["a", "c", "d"], ["d", "z", "b"]])
    layer = tf.keras.layers.StringLookup(vocabulary=["a", "b", "c", "d"])
    inv = tf.keras.layers.StringLookup(vocabulary=["a", "b", "c", "d"], invert=True)
    oh = tf.keras.layers.StringLookup(vocabulary=["a", "b", "c", "d"], output_mode="multi_hot")
    oov = tf.keras.layers.StringLookup(vocabulary=["a", "b"], num_oov_indices=3)
    adapted = tf.keras.layers.StringLookup(mask_token="")
    adapted.adapt(np.array(["x", "y", "x", "", "w"]))
    return (
        layer(data),
        inv(layer(data)),
        oh(data),
        oov(data),
        adapted.get_vocabulary(),
        adapted(np.array(["y", "", "q"])),
    )


def integer_lookup(tf):
    data = tf.constant([[12, 1138, 42], [42, 1000, 36]])
    layer = tf.keras.layers.IntegerLookup(vocabulary=[12, 36, 1138, 42])
    inv = tf.keras.layers.IntegerLookup(vocabulary=[12, 36, 1138, 42], invert=True)
    cnt = tf.keras.layers.IntegerLookup(output_mode="count", mask_token=0)
    cnt.adapt(tf.constant([1, 2, 2, 3, 0, 3, 3]))
    return (
        layer(data),
        inv(layer(data)),
        cnt.get_vocabulary(),
        cnt(tf.constant([[3, 3, 0], [2, 9, 1]])),
    )


def normalization(tf):
    x = np.arange(24, dtype="f4").reshape(6, 4) ** 1.5
    layer = tf.keras.layers.Normalization(axis=-1)
    layer.adapt(x)
    inv = tf.keras.layers.Normalization(mean=[1.0, 2, 3, 4], variance=[1.0, 4, 9, 16], invert=True)
    all_ = tf.keras.layers.Normalization(axis=None)
    all_.adapt(tf.data.Dataset.from_tensor_slices(x).batch(4))
    return layer(x), layer.mean, layer.variance, inv(x), all_(x)


def discretization(tf):
    layer = tf.keras.layers.Discretization(bin_boundaries=[0.0, 1.0, 2.0])
    ad = tf.keras.layers.Discretization(num_bins=4, epsilon=0.01)
    ad.adapt(np.array([[-1.5, 1.0, 3.4, 0.5], [0.0, 3.0, 1.3, 0.0]]))
    mh = tf.keras.layers.Discretization(bin_boundaries=[0.0, 1.0], output_mode="multi_hot")
    x = np.array([[-1.5, 1.0, 3.4, 0.5], [0.0, 3.0, 1.3, 0.0]])
    return layer(x), ad(x), mh(x)


def category_encoding(tf):
    a = tf.keras.layers.CategoryEncoding(num_tokens=4, output_mode="one_hot")
    b = tf.keras.layers.CategoryEncoding(num_tokens=4, output_mode="multi_hot")
    c = tf.keras.layers.CategoryEncoding(num_tokens=4, output_mode="count")
    w = tf.constant([[0.1, 0.2], [0.1, 0.1], [0.2, 0.3], [0.4, 0.2]])
    return (
        a([3, 2, 0, 1]),
        b([[0, 1], [0, 0], [1, 2], [3, 1]]),
        c([[0, 1], [0, 0], [1, 2], [3, 1]], count_weights=w),
    )


def hashing_and_crossing(tf):
    h = tf.keras.layers.Hashing(num_bins=3)
    hs = tf.keras.layers.Hashing(num_bins=5, salt=[133, 137])
    hm = tf.keras.layers.Hashing(num_bins=4, mask_value="")
    inp = tf.constant([["A"], ["B"], ["C"], ["D"], [""]])
    hi = tf.keras.layers.Hashing(num_bins=7)
    x = tf.keras.layers.HashedCrossing(num_bins=5)
    xo = tf.keras.layers.HashedCrossing(num_bins=5, output_mode="one_hot")
    f1, f2 = np.array(["A", "B", "A", "B", "A"]), np.array([101, 101, 101, 102, 102])
    return h(inp), hs(inp), hm(inp), hi(tf.constant([[1], [2], [300]])), x((f1, f2)), xo((f1, f2))
