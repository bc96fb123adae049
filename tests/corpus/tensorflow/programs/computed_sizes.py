"""Programs whose sizes are computed of elements: graphs, masks, decoders, lists that grow."""

import numpy as np


def several(function, first, *others):
    """Call a function with each row of arguments, the first one until it is compiled."""
    return [function(*row) for row in (*[first] * 4, *others)]


def graph_attention(tf):
    rng = np.random.RandomState(0)
    weights = tf.Variable(rng.randn(5, 6).astype("f") * 0.3)
    left, right = (tf.Variable(rng.randn(2, 3).astype("f")) for _ in range(2))
    nodes = tf.constant(rng.randn(7, 5), tf.float32)
    source = tf.constant(rng.randint(0, 7, 20), tf.int32)
    target = tf.constant(np.sort(np.r_[rng.randint(0, 7, 19), 6]), tf.int32)

    def softmax(logits, ids, count):
        most = tf.math.unsorted_segment_max(logits, ids, count)
        powers = tf.exp(logits - tf.gather(most, ids))
        total = tf.math.unsorted_segment_sum(powers, ids, count)
        return powers / (tf.gather(total, ids) + 1e-9)

    @tf.function
    def layer(x, source, target):
        count = tf.reduce_max(target) + 1
        hidden = tf.reshape(tf.matmul(x, weights), [-1, 2, 3])
        first, second = tf.reduce_sum(hidden * left, -1), tf.reduce_sum(hidden * right, -1)
        logits = tf.nn.leaky_relu(tf.gather(first, source) + tf.gather(second, target), 0.2)
        shares = softmax(logits, target, count)
        found = tf.gather(hidden, source) * shares[..., None]
        return tf.math.unsorted_segment_sum(found, target, count) + hidden[:count]

    @tf.function
    def step(x, source, target):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(layer(x, source, target) ** 2)
        for variable, grad in zip(
            (weights, left, right), tape.gradient(loss, [weights, left, right]), strict=True
        ):
            variable.assign_sub(0.1 * grad)
        return loss

    made = several(layer, (nodes, source, target), (nodes, source, target // 2))
    return made, several(step, (nodes, source, target), (nodes, source, target // 2))


def segments_of_a_number_that_is_computed(tf):
    data, ids = tf.constant(np.arange(18.0).reshape(6, 3) - 5, tf.float32), [0, 2, 2, 1, -1, 0]

    @tf.function
    def combined(ids, count):
        math = tf.math
        return (
            math.unsorted_segment_sum(data, ids, count),
            math.unsorted_segment_max(data, ids, count),
            math.unsorted_segment_prod(data, ids, count),
            math.unsorted_segment_mean(data, ids, count),
        )

    return several(combined, (tf.constant(ids), tf.constant(3)), (tf.constant(ids), tf.constant(5)))


def parts_between_bounds_that_are_computed(tf):
    x = tf.constant(np.arange(24.0).reshape(6, 4), tf.float32)

    @tf.function
    def parts(n):
        return (
            *(x[:n], x[n:], x[1:n], x[-n:], x[:-n], x[n : n + 2], x[:, n:], x[..., :n]),
            *(x[n, 1:n], x[None, :n, None]),
        )

    @tf.function
    def slopes(n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.reduce_sum(x[1:n] ** 2) + tf.reduce_sum(x[:n, n - 1 :] ** 3)
        return tape.gradient(total, x)

    rows = [(tf.constant(n),) for n in (3, 2, 4)]
    return several(parts, *rows), several(slopes, *rows)


def tensors_of_sizes_that_are_computed(tf):
    @tf.function
    def made(n):
        return (
            *(tf.zeros([n, 2]), tf.ones([2, n]), tf.fill([n], 3), tf.range(n), tf.eye(n)),
            *(tf.range(2, n + 4, 2), tf.one_hot([0, 1, 5], n), tf.sequence_mask([n, 1, 0])),
            *(tf.broadcast_to(1.5, [n, 2]), tf.linspace(0.0, 1.0, n)),
        )

    return several(made, (tf.constant(3),), (tf.constant(5),), (tf.constant(1),))


def what_is_selected(tf):
    x = tf.constant(np.arange(24.0).reshape(6, 4) - 7, tf.float32)

    @tf.function
    def selected(least):
        holds = x > least
        places = tf.where(holds)
        return (
            *(places, tf.gather_nd(x, places), tf.boolean_mask(x, holds)),
            *(tf.boolean_mask(x, holds[:, 0]), tf.boolean_mask(x, holds[0], axis=1)),
            x[holds[:, 1]] * 2,
        )

    @tf.function
    def slope(least):
        with tf.GradientTape() as tape:
            tape.watch(x)
            kept = tf.boolean_mask(x, x[:, 0] > least)
            total = tf.reduce_sum(kept * kept)
        return tape.gradient(total, x)

    rows = [(tf.constant(least),) for least in (0.0, 3.0, 99.0, -99.0)]
    return several(selected, *rows), several(slope, *rows)


def masks_as_wide_as_the_longest(tf):
    x = tf.constant(np.arange(40.0).reshape(5, 8), tf.float32)

    @tf.function
    def masked(lengths):
        mask = tf.sequence_mask(lengths, dtype=tf.float32)
        kept = x[: tf.shape(lengths)[0], : tf.reduce_max(lengths)] * mask
        return kept, tf.reduce_sum(kept, 1) / tf.maximum(tf.reduce_sum(mask, 1), 1.0)

    return several(masked, (tf.constant([3, 1, 0, 2]),), (tf.constant([5, 0, 1, 8]),))


def cached_decoding(tf):
    rng = np.random.RandomState(1)
    queries, keys, values, outputs = (
        tf.constant(rng.randn(6, 6) * 0.4, tf.float32) for _ in range(4)
    )
    table = tf.constant(rng.randn(11, 6), tf.float32)

    def attended(x, kept_keys, kept_values):
        shares = tf.nn.softmax(tf.einsum("bd,btd->bt", x @ queries, kept_keys) / 2.4)
        return tf.einsum("bt,btd->bd", shares, kept_values) @ outputs + x

    def best(y):
        return tf.argmax(y @ tf.transpose(table), -1, output_type=tf.int32)

    @tf.function
    def grown(token, count):
        def turn(i, token, kept_keys, kept_values, found):
            x = tf.gather(table, token)
            kept_keys = tf.concat([kept_keys, (x @ keys)[:, None]], 1)
            kept_values = tf.concat([kept_values, (x @ values)[:, None]], 1)
            token = best(attended(x, kept_keys, kept_values))
            return i + 1, token, kept_keys, kept_values, found.write(i, token)

        none = tf.zeros([2, 0, 6])
        start = [0, token, none, none, tf.TensorArray(tf.int32, 0, dynamic_size=True)]
        open_ = tf.TensorShape([2, None, 6])
        shapes = [tf.TensorShape([]), tf.TensorShape([2]), open_, open_, tf.TensorShape([])]
        return tf.while_loop(lambda i, *_: i < count, turn, start, shapes)[-1].stack()

    @tf.function
    def written(token):
        found, kept_keys, kept_values = tf.TensorArray(tf.int32, 8), *[tf.zeros([2, 8, 6])] * 2
        for i in tf.range(8):
            x = tf.gather(table, token)
            places = [[0, i], [1, i]]
            kept_keys = tf.tensor_scatter_nd_update(kept_keys, places, x @ keys)
            kept_values = tf.tensor_scatter_nd_update(kept_values, places, x @ values)
            token = best(attended(x, kept_keys[:, : i + 1], kept_values[:, : i + 1]))
            found = found.write(i, token)
        return found.stack()

    token = tf.constant([1, 2])
    rows = (token, tf.constant(8)), (token, tf.constant(3)), (token, tf.constant(90))
    return several(grown, *rows), several(written, (token,))


def slopes_of_growing_memories(tf):
    rng = np.random.RandomState(2)
    weights = tf.Variable(rng.randn(4, 4).astype("f") * 0.5)
    x = tf.constant(rng.randn(2, 4), tf.float32)

    def mixed(kept, now):
        shares = tf.nn.softmax(tf.reduce_sum(kept * now, -1), axis=0)
        return tf.tanh(tf.reduce_sum(shares[..., None] * kept, 0) @ weights + x)

    @tf.function
    def written(x):
        with tf.GradientTape() as tape:
            kept, now = tf.zeros([5, 2, 4]), x
            for i in tf.range(5):
                kept = tf.tensor_scatter_nd_update(kept, [[i]], now[None])
                now = mixed(kept[: i + 1], now)
            loss = tf.reduce_sum(now * now)
        return loss, tape.gradient(loss, weights)

    @tf.function
    def grown(x):
        with tf.GradientTape() as tape:
            kept, now = tf.zeros([0, 2, 4]), x
            for _ in tf.range(5):
                tf.autograph.experimental.set_loop_options(
                    shape_invariants=[(kept, tf.TensorShape([None, 2, 4]))]
                )
                kept = tf.concat([kept, now[None]], 0)
                now = mixed(kept, now)
            loss = tf.reduce_sum(now * now)
        return loss, tape.gradient(loss, weights)

    return several(written, (x,)), several(grown, (x,))


def lists_that_grow_now_and_then(tf):
    @tf.function
    def primes(count):
        found = tf.TensorArray(tf.int32, 0, dynamic_size=True, element_shape=[])
        number = 2
        while found.size() < count:
            if not tf.reduce_any(number % found.stack() == 0):
                found = found.write(found.size(), number)
            number += 1
        return found.stack()

    @tf.function
    def pairs(count):
        found = tf.TensorArray(tf.int32, 0, dynamic_size=True)
        for i in tf.range(count):
            for j in tf.range(i):
                if (i + j) % 2 == 0:
                    continue
                found = found.write(found.size(), i * 10 + j)
        return found.stack()

    @tf.function
    def spread(count):
        found, i = tf.TensorArray(tf.int32, 0, dynamic_size=True), 0
        while i < count:
            found = found.write(2 * i, i)
            i += 1
        return found.stack()

    @tf.function
    def doubled(x, count):
        for _ in tf.range(count):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(x, tf.TensorShape([None]))]
            )
            x = tf.concat([x, x + 1.0], 0)
        return x

    x = tf.constant([1.0, 2.5])
    return (
        several(primes, (tf.constant(5),), (tf.constant(80),)),
        several(pairs, (tf.constant(5),), (tf.constant(7),)),
        several(spread, (tf.constant(4),), (tf.constant(6),)),
        several(doubled, (x, tf.constant(3)), (x, tf.constant(1))),
    )
