"""Programs of a trial: samplers, filters, decoders, types of users, numpy's names."""

from collections.abc import Mapping

import numpy as np


def masked_type(tf):
    class Masked(tf.experimental.ExtensionType):
        values: tf.Tensor
        mask: tf.Tensor
        named: Mapping[str, tf.Tensor]
        kind: str = "plain"

        def with_default(self, default):
            return tf.where(self.mask, self.values, default)

    @tf.function
    def grown(x, count):
        for _ in tf.range(count):
            x = Masked(x.values * 2.0, x.mask, x.named)
        return x

    x = Masked([[1.0, 2, 3], [4, 5, 6]], [[True, True, False], [True, False, True]], {"a": 3})
    y = grown(x, tf.constant(3))
    return y.with_default(0.0), y.named["a"], y.kind, tf.nest.flatten(y, expand_composites=True)


def regression_by_numpy_names(tf):
    tnp = tf.experimental.numpy
    x = tnp.reshape(tnp.arange(12, dtype=tnp.float32), (4, 3))
    w = tf.Variable(tf.ones([3, 1]))

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tnp.mean(tnp.square(tnp.matmul(x, w) - tnp.sum(x, axis=1, keepdims=True) * 2))
        w.assign_sub(1e-3 * tape.gradient(loss, w))
        return loss

    losses = [step() for _ in range(4)]
    parts = tnp.concatenate([tnp.where(x > 5, x, 0.0), tnp.flip(x, 0)], axis=1)
    return losses, parts, tnp.argsort(-x, 1), tnp.std(x, axis=0), tnp.outer(x[0], x[1])


def spectrum_of_any_window(tf):
    x = tf.sin(tf.range(64.0) * 0.7) + 0.3 * tf.cos(tf.range(64.0) * 2.1)

    @tf.function
    def energy(x, n):
        pieces = tf.signal.frame(x, n, n // 2, pad_end=True) * tf.signal.hann_window(n)
        return tf.reduce_sum(tf.abs(tf.signal.rfft(pieces, fft_length=[n])) ** 2, -1)

    return energy(x, tf.constant(16)), energy(x, tf.constant(12))


def kalman_filter_with_smoother(tf):
    rng = np.random.RandomState(2)
    move = tf.constant([[1, 0.1], [0, 1]], tf.float32)
    look = tf.constant([[1.0, 0.0]])
    seen = tf.constant(np.sin(np.arange(20) * 0.1)[:, None] + 0.1 * rng.randn(20, 1), tf.float32)

    @tf.function
    def forward(seen):
        n = tf.shape(seen)[0]
        means = tf.TensorArray(tf.float32, n, element_shape=[2])
        spreads = tf.TensorArray(tf.float32, n, element_shape=[2, 2])
        mean, spread, score = tf.zeros([2]), tf.eye(2), tf.constant(0.0)
        for t in tf.range(n):
            mean = tf.linalg.matvec(move, mean)
            spread = move @ spread @ tf.transpose(move) + 0.01 * tf.eye(2)
            noise = look @ spread @ tf.transpose(look) + 0.1 * tf.eye(1)
            gain = tf.transpose(tf.linalg.solve(noise, look @ spread))
            off = seen[t] - tf.linalg.matvec(look, mean)
            score -= 0.5 * tf.reduce_sum(off * tf.linalg.matvec(tf.linalg.inv(noise), off))
            mean += tf.linalg.matvec(gain, off)
            spread = (tf.eye(2) - gain @ look) @ spread
            means, spreads = means.write(t, mean), spreads.write(t, spread)
        return means.stack(), spreads.stack(), score

    @tf.function
    def backward(means, spreads):
        def step(later, here):
            (m, p), (mean, spread) = later, here
            ahead = move @ spread @ tf.transpose(move) + 0.01 * tf.eye(2)
            gain = spread @ tf.transpose(move) @ tf.linalg.inv(ahead)
            mean += tf.linalg.matvec(gain, m - tf.linalg.matvec(move, mean))
            return mean, spread + gain @ (p - ahead) @ tf.transpose(gain)

        first = (means[-1], spreads[-1])
        return tf.scan(step, (means[:-1], spreads[:-1]), initializer=first, reverse=True)

    means, spreads, score = forward(seen)
    return means[::6], score, backward(means, spreads)[0][::6]


def hamiltonian_sampler(tf):
    rng = np.random.RandomState(0)
    x = tf.constant(rng.randn(50, 3), tf.float32)
    y = tf.constant(rng.rand(50) < 0.5, tf.float32)

    def log_density(w):
        logits = tf.linalg.matvec(x, w)
        loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits)
        return -tf.reduce_sum(loss) - 0.5 * tf.reduce_sum(w**2)

    def with_slope(w):
        with tf.GradientTape() as tape:
            tape.watch(w)
            value = log_density(w)
        return value, tape.gradient(value, w)

    @tf.function
    def step(w, seed, size=0.1, turns=5):
        p = tf.random.stateless_normal([3], seed)
        value, slope = with_slope(w)
        before = -value + 0.5 * tf.reduce_sum(p**2)
        q, p = w, p + 0.5 * size * slope
        for i in tf.range(turns):
            q += size * p
            value, slope = with_slope(q)
            p += tf.where(i < turns - 1, size, 0.5 * size) * slope
        after = -log_density(q) + 0.5 * tf.reduce_sum(p**2)
        taken = tf.math.log(tf.random.stateless_uniform([], seed + 1)) < before - after
        return tf.cond(taken, lambda: q, lambda: w), taken

    w, found = tf.zeros(3), []
    for i in range(5):
        w, taken = step(w, tf.constant([i, 3]))
        found.append((w, taken))
    return found


def beam_over_growing_texts(tf):
    size, width = 7, 3
    table = tf.random.stateless_normal([size, size], [4, 2])

    @tf.function
    def search(count):
        texts = tf.ones([width, 1], tf.int32)
        scores = tf.constant([0.0] + [-1e9] * (width - 1))
        for _ in tf.range(count):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(texts, tf.TensorShape([None, None]))]
            )
            total = scores[:, None] + tf.nn.log_softmax(tf.gather(table, texts[:, -1]))
            scores, places = tf.math.top_k(tf.reshape(total, [-1]), width)
            before, chosen = places // size, places % size
            texts = tf.concat([tf.gather(texts, before), chosen[:, None]], 1)
        return texts, scores

    return search(tf.constant(4))


def learned_rotation_of_qubits(tf):
    kind = tf.complex64
    swap = tf.constant(np.eye(4)[[0, 1, 3, 2]], kind)
    seen = tf.constant(np.diag([1, -1, -1, 1]), kind)
    angles = tf.Variable(np.random.RandomState(0).rand(2, 2).astype(np.float32))

    def turn(angle):
        angle = tf.cast(angle, kind) / 2
        rows = [tf.cos(angle), -tf.sin(angle), tf.sin(angle), tf.cos(angle)]
        return tf.reshape(tf.stack(rows), [2, 2])

    def energy():
        state = tf.one_hot(0, 4, dtype=kind)[:, None]
        for layer in range(2):
            both = tf.einsum("ij,kl->ikjl", turn(angles[layer, 0]), turn(angles[layer, 1]))
            state = swap @ (tf.reshape(both, [4, 4]) @ state)
        return tf.math.real(tf.linalg.adjoint(state) @ seen @ state)[0, 0]

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            value = energy()
        angles.assign_sub(0.3 * tape.gradient(value, angles))
        return value

    return [step() for _ in range(4)], angles


def meta_learning_of_waves(tf):
    rng = np.random.default_rng(4)
    weights = [
        tf.Variable(tf.random.stateless_normal(shape, [i, 7]) * 0.3)
        for i, shape in enumerate(([1, 8], [8], [8, 1], [1]))
    ]

    def loss_of(w, x, y):
        return tf.reduce_mean((tf.tanh(x @ w[0] + w[1]) @ w[2] + w[3] - y) ** 2)

    def adapted(case):
        x, y, more_x, more_y = case
        fast = [tf.identity(w) for w in weights]
        for _ in range(2):
            with tf.GradientTape() as tape:
                tape.watch(fast)
                loss = loss_of(fast, x, y)
            fast = [w - 0.05 * g for w, g in zip(fast, tape.gradient(loss, fast), strict=True)]
        return loss_of(fast, more_x, more_y)

    @tf.function
    def step(*cases):
        with tf.GradientTape() as tape:
            losses = tf.map_fn(adapted, cases, fn_output_signature=tf.float32)
            loss = tf.reduce_mean(losses)
        for w, g in zip(weights, tape.gradient(loss, weights), strict=True):
            w.assign_sub(0.1 * g)
        return loss

    x = tf.constant(rng.uniform(-3, 3, (3, 10, 1)), tf.float32)
    y = tf.sin(x + tf.constant(rng.uniform(0, 3, (3, 1, 1)), tf.float32))
    return [step(x[:, :5], y[:, :5], x[:, 5:], y[:, 5:]) for _ in range(3)]


def texts_of_numpy_functions(tf):
    def load(i):
        rng = np.random.RandomState(int(i))
        return rng.rand(2).astype(np.float32), f"file{int(i)}"

    data = tf.data.Dataset.range(4)
    data = data.map(lambda i: tf.numpy_function(load, [i], (tf.float32, tf.string)))
    data = data.map(lambda x, text: (tf.ensure_shape(x, [2]), tf.strings.upper(text))).batch(2)
    return [(x, text) for x, text in data]


def shortest_paths_and_primes(tf):
    lengths = tf.constant(np.random.RandomState(0).rand(6, 6) * 10, tf.float32)

    @tf.function
    def paths(lengths):
        n = tf.shape(lengths)[0]
        found = tf.concat([[0.0], tf.fill([n - 1], 1e9)], 0)
        done = tf.zeros([n], tf.bool)
        for _ in tf.range(n):
            u = tf.argmin(tf.where(done, 2e9, found), output_type=tf.int32)
            done = done | (tf.range(n) == u)
            found = tf.minimum(found, found[u] + lengths[u])
        return found

    @tf.function
    def primes(n):
        sieve = tf.tensor_scatter_nd_update(tf.ones([n + 1], tf.bool), [[0], [1]], [False, False])
        i = 2
        while i * i <= n:
            if sieve[i]:
                places = tf.range(i * i, n + 1, i)
                no = tf.zeros_like(places, tf.bool)
                sieve = tf.tensor_scatter_nd_update(sieve, places[:, None], no)
            i += 1
        return tf.where(sieve)[:, 0]

    return paths(lengths), primes(tf.constant(40))


def attention_in_blocks_and_turned_places(tf):
    q, k, v = (tf.random.stateless_normal([10, 4], [i, 1]) for i in range(3))

    @tf.function
    def in_blocks(q, k, v, size):
        most = tf.fill([tf.shape(q)[0]], -1e30)
        total, made = tf.zeros_like(most), tf.zeros_like(q)
        for i in tf.range(0, tf.shape(k)[0], size):
            score = q @ tf.transpose(k[i : i + size])
            higher = tf.maximum(most, tf.reduce_max(score, 1))
            share, scale = tf.exp(score - higher[:, None]), tf.exp(most - higher)
            total = total * scale + tf.reduce_sum(share, 1)
            made = made * scale[:, None] + share @ v[i : i + size]
            most = higher
        return made / total[:, None]

    @tf.function
    def turned(x):
        n, d = tf.shape(x)[0], x.shape[-1]
        angle = tf.cast(tf.range(n), tf.float32)[:, None]
        angle /= 1e4 ** (tf.range(0, d, 2, dtype=tf.float32) / d)
        a, b, c, s = x[:, ::2], x[:, 1::2], tf.cos(angle), tf.sin(angle)
        return tf.reshape(tf.stack([a * c - b * s, a * s + b * c], -1), tf.shape(x))

    return in_blocks(turned(q), turned(k), v, tf.constant(4))


def newton_by_hessians(tf):
    def valley(x):
        return tf.reduce_sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    @tf.function
    def step(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = valley(x)
            slope = inner.gradient(y, x)
        bend = outer.jacobian(slope, x) + 1e-3 * tf.eye(tf.shape(x)[0])
        return x - tf.linalg.solve(bend, slope[:, None])[:, 0], y

    x, found = tf.constant([-1.2, 1.0, 0.5]), []
    for _ in range(4):
        x, y = step(x)
        found.append(y)
    return x, found
