"""Programs of the kinds that people publish, each of which once found something missing."""

import re
import string

import numpy as np


def losses_scaled_for_half_precision(tf):
    tf.keras.utils.set_random_seed(2)
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        rs = np.random.RandomState(0)
        x = rs.randn(32, 8).astype("f4")
        y = x.sum(1, keepdims=True) * 2
        model = tf.keras.Sequential(
            [
                tf.keras.Input((8,)),
                tf.keras.layers.Dense(16, activation="relu"),
                tf.keras.layers.Dense(1, dtype="float32"),
            ]
        )
        model.compile(tf.keras.optimizers.SGD(0.01), "mse")
        found = model.fit(x, y, epochs=3, batch_size=16, shuffle=False, verbose=0)
        return found.history["loss"], model.optimizer.dynamic_scale
    finally:
        tf.keras.mixed_precision.set_global_policy("float32")


def sentiment_of_standardised_text(tf):
    keras = tf.keras
    keras.utils.set_random_seed(2)
    texts = ["I <br /> loved this!", "Terrible; awful film", "great acting", "the worst plot"] * 3
    marks = [1, 0, 1, 0] * 3

    def standard(text):
        plain = tf.strings.regex_replace(tf.strings.lower(text), "<br />", " ")
        return tf.strings.regex_replace(plain, f"[{re.escape(string.punctuation)}]", "")

    vectors = keras.layers.TextVectorization(
        standardize=standard, max_tokens=50, output_sequence_length=6
    )
    raw = tf.data.Dataset.from_tensor_slices((texts, marks)).batch(4)
    vectors.adapt(raw.map(lambda text, mark: text))
    ds = raw.map(lambda text, mark: (vectors(tf.expand_dims(text, -1)), mark)).cache()
    model = keras.Sequential(
        [
            keras.layers.Embedding(50, 4),
            keras.layers.GlobalAveragePooling1D(),
            keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile("adam", keras.losses.BinaryCrossentropy())
    found = model.fit(ds, epochs=2, shuffle=False, verbose=0)
    whole = keras.Sequential([vectors, model])
    said = whole.predict(tf.constant(["great fun", "awful"]), verbose=0)
    return vectors.get_vocabulary()[:8], found.history, said


def optimisers_of_double_precision(tf):
    made = []
    for name in ("Adam", "Nadam", "RMSprop", "Adafactor", "Lion"):
        x = tf.Variable([[1.0, -2.0], [3.0, 0.5]], dtype=tf.float64)
        optimiser = getattr(tf.keras.optimizers, name)(0.1)
        optimiser.build([x])

        @tf.function
        def step(x=x, optimiser=optimiser):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(x**2 * [1.0, 0.5])
            optimiser.apply_gradients([(tape.gradient(loss, x), x)])

        for _ in range(3):
            step()
        made.append([x, optimiser.learning_rate])
    return made


def an_optimiser_with_a_variable_of_its_own(tf):
    tf.keras.utils.set_random_seed(1)
    rs = np.random.RandomState(0)
    x = rs.rand(16, 3).astype("f4")
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.Nadam(0.02), "mse")
    return model.fit(x, x[:, :1], epochs=2, batch_size=8, shuffle=False, verbose=0).history


def bigrams_of_ragged_queries(tf):
    queries = tf.ragged.constant([["who", "is", "dan"], ["pause"], ["will", "it", "rain", "now"]])
    marker = tf.fill([queries.nrows(), 1], "#")
    padded = tf.concat([marker, queries, marker], axis=1)
    pairs = tf.strings.join([padded[:, :-1], padded[:, 1:]], separator="+")
    buckets = tf.strings.to_hash_bucket_fast(pairs, 16)
    table = tf.Variable(tf.reshape(tf.range(68.0), [17, 4]))
    return pairs.to_list(), tf.reduce_mean(tf.nn.embedding_lookup(table, buckets), axis=1)


def lists_of_numbers_and_tensors(tf):
    many = tf.constant(3, tf.int64)
    scale = tf.Variable(2.0, dtype=tf.float64)
    rows = tf.data.Dataset.from_tensor_slices(["1,a,2.5", "2,b,3.5"])
    parts = rows.map(lambda row: tf.io.decode_csv(row, [0, "", 0.0]))
    return (
        tf.convert_to_tensor([[1, many], [2, 3]]),
        tf.convert_to_tensor([scale, 1]),
        tf.constant([1, 2], dtype=2),
        [list(each) for each in parts],
    )
