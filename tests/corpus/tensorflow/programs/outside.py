"""Programs of a stranger: policies, loops over open sizes, solvers, beams, maps of the plane."""

import numpy as np


def a_policy_is_trained_until_it_is_too_far(tf):
    numbers = np.random.RandomState(3)
    seen, acted = (tf.constant(numbers.randn(12, 2).astype(np.float32)) for _ in range(2))
    gain = tf.constant(numbers.randn(12).astype(np.float32))
    w, spread = tf.Variable(tf.zeros([2, 2])), tf.Variable([-0.5, -0.5])

    def likelihood():
        away = (acted - tf.tanh(seen @ w)) / tf.exp(spread)
        return tf.reduce_sum(-0.5 * away**2 - spread, 1)

    @tf.function
    def train(before, most, limit):
        far, done = tf.constant(0.0), tf.constant(0)
        for _ in tf.range(most):
            with tf.GradientTape() as tape:
                now = likelihood()
                ratio = tf.exp(now - before)
                least = tf.where(gain > 0, 1.2 * gain, 0.8 * gain)
                loss = -tf.reduce_mean(tf.minimum(ratio * gain, least))
            far = tf.reduce_mean(before - now)
            if far > limit:
                break
            for variable, slope in zip([w, spread], tape.gradient(loss, [w, spread]), strict=True):
                variable.assign_sub(0.3 * slope)
            done += 1
        return far, done, loss

    return [train(likelihood(), tf.constant(9), tf.constant(limit)) for limit in (0.5, 0.01)], w


def states_of_batches_of_any_size(tf):
    numbers = np.random.RandomState(0)
    w = tf.Variable(numbers.randn(5, 12).astype(np.float32) * 0.4)

    @tf.function(input_signature=[tf.TensorSpec([None, None, 2])])
    def train(x):
        batch, steps = tf.shape(x)[0], tf.shape(x)[1]
        kept = tf.TensorArray(tf.float32, size=steps)
        with tf.GradientTape() as tape:
            h = c = tf.zeros([batch, 3])
            for t in tf.range(steps):
                gates = tf.concat([x[:, t], h], 1) @ w
                i, f, o, g = tf.split(gates, 4, axis=1)
                c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(g)
                h = tf.sigmoid(o) * tf.tanh(c)
                kept = kept.write(t, h)
            rows = tf.transpose(kept.stack(), [1, 0, 2])
            loss = tf.reduce_mean((rows - 0.5) ** 2)
        w.assign_sub(tape.gradient(loss, w))
        return loss, rows[:, -1]

    sizes = [(3, 4), (2, 5), (3, 4)]
    return [train(tf.constant(numbers.randn(*s, 2).astype(np.float32))) for s in sizes]


def steps_of_a_solver_follow_the_error(tf):
    rows = [[], [0.5], [0.0, 0.75]]

    @tf.function
    def solved(y, end, limit):
        t, h = tf.constant(0.0, tf.float64), tf.constant(0.5, tf.float64)
        taken, dropped = 0, 0
        while t < end:
            h = tf.minimum(h, end - t)
            slopes = []
            for row in rows:
                at = y
                for a, k in zip(row, slopes, strict=True):
                    at = at + h * a * k
                slopes.append(tf.stack([at[1], -tf.sin(at[0])]))
            one, two, three = slopes
            made = y + h * (2.0 * one + 3.0 * two + 4.0 * three) / 9.0
            error = tf.reduce_max(tf.abs(made - (y + h * two))) + 1e-15
            if error < limit:
                t, y = t + h, made
                taken += 1
            else:
                dropped += 1
            h *= tf.clip_by_value(0.9 * (limit / error) ** 0.5, 0.2, 4.0)
        return y, taken, dropped

    return solved(*(tf.constant(v, tf.float64) for v in ([1.0, 0.0], 4.0, 1e-3)))


def the_best_ways_are_gone_on_with(tf):
    numbers = np.random.RandomState(8)
    table = tf.constant(numbers.randn(7, 7).astype(np.float32))

    @tf.function
    def searched(start, width, most, last):
        rows = tf.tile(start[:, None, None], [1, width, 1])
        first = tf.concat([tf.zeros([1]), tf.fill([width - 1], -1e9)], 0)
        scores = tf.tile(first[None], [tf.shape(start)[0], 1])
        over = tf.zeros_like(scores, tf.bool)
        for _ in tf.range(most):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[
                    (rows, tf.TensorShape([None, None, None])),
                    (scores, tf.TensorShape([None, None])),
                    (over, tf.TensorShape([None, None])),
                ]
            )
            if tf.reduce_all(over):
                break
            chances = tf.nn.log_softmax(tf.gather(table, rows[:, :, -1]))
            chances = tf.where(over[:, :, None], tf.one_hot(last, 7, 0.0, -1e9), chances)
            total = tf.reshape(scores[:, :, None] + chances, [tf.shape(start)[0], -1])
            scores, places = tf.math.top_k(total, width)
            word = places % 7
            rows = tf.gather(rows, places // 7, batch_dims=1)
            rows = tf.concat([rows, word[:, :, None]], -1)
            over = tf.gather(over, places // 7, batch_dims=1) | (word == last)
        return rows, scores

    return searched(tf.constant([1, 4]), 3, tf.constant(5), tf.constant(2))


def paths_through_a_field_cost_least(tf):
    field = tf.constant(np.random.RandomState(0).randint(1, 9, (5, 4)).astype(np.int32))

    @tf.function
    def cheapest(field):
        count, width = field.shape
        best = tf.fill([width], tf.constant(10**6))
        for i in tf.range(count):
            left, row = tf.constant(10**6), tf.TensorArray(tf.int32, size=width)
            for j in tf.range(width):
                if i == 0 and j == 0:
                    left = field[0, 0]
                else:
                    left = field[i, j] + tf.minimum(left, best[j])
                row = row.write(j, left)
            best = row.stack()
            best.set_shape([width])
        return best

    return cheapest(field), tf.raw_ops.Bucketize(input=field, boundaries=[2.0, 5.0, 8.0])
