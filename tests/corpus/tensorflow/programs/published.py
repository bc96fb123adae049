"""Programs of the kinds that people publish, each of which once found something missing."""

import re
import string
import tempfile
from pathlib import Path

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


def words_looked_up_while_training(tf):
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["good", "bad"], [1, 2]), 0
    )
    rows = tf.Variable(tf.reshape(tf.range(12.0), [3, 4]) / 12.0)
    w = tf.Variable(tf.ones([4, 1]))

    @tf.function
    def step(words, wanted):
        with tf.GradientTape() as tape:
            told = tf.gather(rows, table.lookup(words)) @ w
            loss = tf.reduce_mean((told[:, 0] - wanted) ** 2)
        for v, g in zip([rows, w], tape.gradient(loss, [rows, w]), strict=True):
            v.assign_sub(0.1 * tf.convert_to_tensor(g))
        return loss, tf.strings.upper(words)

    words = tf.constant(["good", "bad", "unknown"])
    return [step(words, tf.constant([1.0, 0.0, 0.5])) for _ in range(5)], rows, w


def summaries_within_a_step(tf):
    folder = tempfile.mkdtemp()
    writer = tf.summary.create_file_writer(folder)
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def step(i):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v**2)
        v.assign_sub(0.1 * tape.gradient(loss, v))
        with writer.as_default():
            tf.summary.scalar("loss", loss, step=i)
        return loss

    found = [step(i) for i in tf.range(5, dtype=tf.int64)]
    writer.close()
    return found, len(list(Path(folder).iterdir()))


def text_in_arrays(tf):
    @tf.function
    def numbered(words):
        made = tf.TensorArray(tf.string, size=0, dynamic_size=True)
        for i in tf.range(tf.shape(words)[0]):
            made = made.write(i, tf.strings.join([words[i], "_", tf.strings.as_string(i)]))
        return made.stack()

    @tf.function
    def pairs(words):
        made = tf.TensorArray(tf.string, size=2)
        return made.write(0, words).write(1, tf.strings.upper(words)).stack()

    return numbered(tf.constant(["x", "y", "z"])), numbered(tf.constant(["q"])), pairs(["a", "b"])


def beams_of_a_width_that_is_computed(tf):
    odds = tf.constant(np.random.RandomState(0).rand(6, 6), tf.float32)
    told = tf.math.log(odds / tf.reduce_sum(odds, 1, keepdims=True))

    @tf.function
    def search(start, width, steps):
        found = tf.fill([1, 1], start)
        score = tf.zeros([1])
        for _ in tf.range(steps):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[
                    (found, tf.TensorShape([None, None])),
                    (score, tf.TensorShape([None])),
                ]
            )
            both = tf.reshape(tf.gather(told, found[:, -1]) + score[:, None], [-1])
            score, place = tf.math.top_k(both, tf.minimum(width, tf.size(both)))
            found = tf.concat([tf.gather(found, place // 6), (place % 6)[:, None]], 1)
        return found, score

    return search(tf.constant(2), tf.constant(3), tf.constant(4))


def windows_of_pictures_and_waves(tf):
    x = tf.reshape(tf.range(2 * 8 * 8, dtype=tf.float32), [2, 8, 8, 1])
    places = [[0.0, 0.5], [-0.9, 0.9]]
    cut = [
        tf.image.extract_glimpse(x, [3, 4], places, centered=c, normalized=n, noise="zero")
        for c in (True, False)
        for n in (True, False)
    ]
    wave = tf.reshape(tf.sin(tf.range(64.0) / 5), [32, 2])
    file = tf.audio.encode_wav(wave, 16000)
    sound = tf.audio.decode_wav(file)
    short = tf.audio.decode_wav(file, desired_channels=1, desired_samples=40).audio
    return cut, tf.strings.length(file), sound.audio, sound.sample_rate, short


def one_at_a_time_and_python(tf):
    section, count = tf.CriticalSection(), tf.Variable(0.0)

    @tf.numpy_function(Tout=[tf.float32, tf.int32])
    def world(action):
        return np.float32(action * 2), np.int32(action > 1)

    @tf.py_function(Tout=tf.float32)
    def half(x):
        return x / 2

    @tf.function
    def act(x):
        section.execute(lambda: count.assign_add(x))
        return [*world(x), half(x)]

    return act(tf.constant(1.0)), act(tf.constant(3.0)), count
