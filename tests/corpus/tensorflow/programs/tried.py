"""Programs of a user's trial: episodes, caches, beams, values of no size, texts of files."""

import os
import tempfile

import numpy as np


def rewards_of_episodes(tf):
    walk = np.random.RandomState(1).randn(8, 3).astype(np.float32)

    @tf.numpy_function(Tout=[tf.float32, tf.float32, tf.int32])
    def after(at, choice):
        place = int(at[0] + 1 + choice) % 8
        return np.append(np.float32(place), walk[place]), walk[place].sum(), np.int32(place == 5)

    w = tf.Variable(np.linspace(-1, 1, 8).reshape(4, 2).astype(np.float32))

    @tf.function
    def episode(start, most):
        chances = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        rewards = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        state, known = start, start.shape
        for t in tf.range(most):
            chance = tf.nn.softmax(state[tf.newaxis] @ w)[0]
            choice = tf.argmax(chance, output_type=tf.int32)
            chances = chances.write(t, chance[choice])
            state, reward, done = after(state, choice)
            state.set_shape(known)
            rewards = rewards.write(t, reward)
            if tf.cast(done, tf.bool):
                break
        return chances.stack(), rewards.stack()

    @tf.function
    def step(start):
        with tf.GradientTape() as tape:
            chances, rewards = episode(start, 6)
            loss = -tf.reduce_sum(tf.math.log(chances) * tf.cumsum(rewards, reverse=True))
        w.assign_sub(0.01 * tape.gradient(loss, w))
        return loss, tf.size(rewards)

    return [step(tf.constant([0.0, 1, -1, 0.5])) for _ in range(5)], w


def decoding_with_caches_by_name(tf):
    rng = np.random.RandomState(0)
    words, width, heads = 11, 8, 2
    table, places = (tf.constant(rng.randn(n, width), tf.float32) for n in (words, 32))
    inner = tf.constant(rng.randn(width, 3 * width) * 0.4, tf.float32)

    def attend(x, cache):
        batch = tf.shape(x)[0]
        parts = tf.split(x @ inner, 3, -1)
        parted = [tf.reshape(p, [batch, -1, heads, width // heads]) for p in parts]
        q, k, v = (tf.transpose(p, [0, 2, 1, 3]) for p in parted)
        if cache is not None:
            k, v = tf.concat([cache["k"], k], 2), tf.concat([cache["v"], v], 2)
        found = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * 0.5) @ v
        joined = tf.reshape(tf.transpose(found, [0, 2, 1, 3]), [batch, -1, width])
        return x + joined, {"k": k, "v": v}

    @tf.function(
        input_signature=[tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([], "int32")]
    )
    def decode(ids, count):
        at = tf.shape(ids)[1]
        x, cache = attend(tf.gather(table, ids) + places[:at], None)
        word = tf.argmax(x[:, -1] @ tf.transpose(table), -1, output_type=tf.int32)[:, tf.newaxis]
        rows = tf.TensorShape([None, heads, None, width // heads])
        for _ in tf.range(count):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[
                    (ids, tf.TensorShape([None, None])),
                    (word, tf.TensorShape([None, 1])),
                    (cache, {"k": rows, "v": rows}),
                ]
            )
            ids = tf.concat([ids, word], 1)
            here = places[at : at + tf.shape(word)[1]]
            x, cache = attend(tf.gather(table, word) + here, cache)
            logits = x[:, -1] @ tf.transpose(table)
            word = tf.argmax(logits, -1, output_type=tf.int32)[:, tf.newaxis]
            at += 1
        return ids, cache["k"][:, 0, -1]

    return [decode(tf.constant([[1, 2, 3], [4, 5, 6]]), tf.constant(n)) for n in (0, 4, 7, 7)]


def values_that_begin_with_size_nothing(tf):
    @tf.function
    def sizes(count):
        x, seen = tf.zeros([3, 0]), tf.constant(0)
        for _ in tf.range(count):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(x, tf.TensorShape([3, None]))]
            )
            seen = seen * 10 + tf.shape(x)[1]
            x = tf.ones([3, 5])
        return seen, tf.shape(x)

    @tf.function
    def either(flag):
        made = tf.cond(flag, lambda: tf.zeros([3, 0]), lambda: tf.ones([3, 5]))
        return tf.shape(made), tf.reduce_sum(made)

    calls = [sizes(tf.constant(n)) for n in (3, 3, 3, 0, 3)]
    return calls, [either(tf.constant(n % 2 == 0)) for n in range(6)]


def beams_of_sizes_from_outside(tf):
    rng = np.random.RandomState(2)
    table = tf.constant(rng.randn(9, 9), tf.float32)
    width = 3

    @tf.function
    def search(first, most):
        batch = tf.shape(first)[0]
        scores = tf.tile(tf.constant([[0.0, -1e9, -1e9]]), [batch, 1])
        words = tf.repeat(first[:, tf.newaxis], width, 1)
        for _ in tf.range(most):
            steps = tf.nn.log_softmax(tf.gather(table, words))
            total = tf.reshape(scores[..., tf.newaxis] + steps, [batch, width * 9])
            scores, found = tf.math.top_k(total, width)
            words = found % 9
        return scores, words, scores.shape.as_list()

    return [search(tf.constant([2, 7]), tf.constant(4)) for _ in range(4)]


def sizes_that_are_rounded_up(tf):
    @tf.function
    def grid(height, stride):
        rows, columns = tf.math.ceil(height / stride), tf.math.ceil(10.0 / stride)
        made = tf.tile(tf.constant([[[1.0, 2.0]]]), [rows, columns, 1])
        return made, tf.zeros([rows, 2]), tf.reshape(made, [columns * rows, 2])

    rows = tf.math.ceil(tf.constant(2.5))
    return grid(tf.constant(7.0), tf.constant(4.0)), tf.ones([rows, 1]), tf.fill([2, rows], 3)


def texts_in_batches(tf):
    def written(number):
        text = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"text\0" * number]))
        few = {} if number == 2 else {"text": text}
        features = tf.train.Features(feature=few)
        return tf.train.Example(features=features).SerializeToString(deterministic=True)

    wanted = {"text": tf.io.FixedLenFeature([], tf.string, default_value=b"none\0")}
    name = os.path.join(tempfile.mkdtemp(), "texts")

    def told(number):
        return written(int(number))

    data = tf.data.Dataset.range(4).map(lambda n: tf.py_function(told, [n], tf.string))
    with tf.io.TFRecordWriter(name) as writer:
        for each in data:
            writer.write(each.numpy())
    read = tf.data.TFRecordDataset(name).batch(4).map(lambda x: tf.io.parse_example(x, wanted))
    texts = next(iter(read))["text"]
    queue = tf.queue.PaddingFIFOQueue(4, [tf.string, tf.int32], [[], [None]])
    queue.enqueue([b"a\0", [1, 2]])
    queue.enqueue([b"b", [3]])
    taken = queue.dequeue_many(2)
    same = tf.function(lambda: tf.numpy_function(lambda: b"end\0", [], tf.string))
    edges = tf.pad([b"x"], [[1, 1]])
    return texts, tf.strings.length(texts), taken, same(), tf.strings.length(same()), edges


def dropping_what_a_seed_says(tf):
    x = tf.reshape(tf.range(1.0, 13.0), [3, 4])
    drop = tf.function(
        lambda x, n: tf.nn.experimental.stateless_dropout(
            x, 0.4, tf.stack([n, 2]), "philox", [3, 1]
        )
    )
    every = tf.nn.experimental.stateless_dropout(x, 0.5, [1, 2])
    own = tf.nn.experimental.general_dropout(x, 0.5, lambda shape, dtype: tf.fill(shape, 0.7))
    return every, [drop(x, tf.constant(n)) for n in range(4)], own
