"""Losses of complex numbers, and rows that are sparse."""

import numpy as np


def gradients_through_complex_numbers(tf):
    x = tf.constant(np.random.RandomState(0).randn(2, 8), tf.float32)
    z = tf.Variable(tf.complex([1.0, 2.0], [0.5, -1.0]))
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        X = tf.signal.rfft(x)
        p = tf.reduce_sum(tf.abs(X) ** 2 * tf.range(5.0))
        ph = tf.reduce_sum(tf.math.angle(X[:, 1:4]))
        y = tf.signal.irfft(X * tf.cast(tf.exp(-tf.range(5.0)), tf.complex64))
        q = tf.reduce_sum(y**3)
        c = tf.signal.fft(tf.cast(x, tf.complex64))
        r = tf.reduce_sum(tf.math.real(c * tf.math.conj(c)) + tf.math.imag(tf.signal.ifft(c * c)))
        u = tf.reduce_sum(tf.math.real(tf.exp(z) * tf.sin(z) / (z + 1.0)))
        v = tf.reduce_sum(z * z)
        ab = tf.reduce_sum(
            tf.abs(z)
            + tf.math.real(tf.math.log(z))
            + tf.math.imag(tf.sqrt(z))
            + tf.math.real(tf.tanh(z))
            + tf.math.real(z**2.5)
        )
        mm = tf.reduce_sum(
            tf.math.real(tf.matmul(z[:, None], z[None], adjoint_b=False))
        ) + tf.math.real(tf.reduce_prod(z))
        f2 = tf.reduce_sum(
            tf.abs(tf.signal.fft2d(tf.cast(tf.reshape(x, (2, 2, 4)), tf.complex64))) ** 3
        )
    return [t.gradient(a, x) for a in (p, ph, q, r, f2)], [t.gradient(a, z) for a in (u, v, ab, mm)]


def classification_of_sparse_rows(tf):
    sp = tf.sparse.SparseTensor([[0, 1], [0, 3], [1, 0], [2, 2]], [1.0, 2.0, 3.0, 4.0], (3, 4))
    w = tf.Variable(np.arange(8.0).reshape(4, 2) * 0.1, dtype=tf.float32)
    y = tf.constant([0, 1, 0])

    @tf.function
    def step(s):
        with tf.GradientTape() as t:
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(
                    y, tf.sparse.sparse_dense_matmul(s, w)
                )
            )
        w.assign_sub(0.1 * t.gradient(loss, w))
        return loss

    S = tf.sparse
    st = tf.SparseTensor([[0, 0], [1, 1]], ["a", "b"], (2, 2))
    return (
        [step(sp) for _ in range(3)],
        w,
        S.to_dense(S.reorder(sp)),
        S.reduce_sum(sp, 1),
        S.softmax(sp).values,
        S.concat(0, [sp, sp]).dense_shape,
        S.transpose(sp).indices,
        S.slice(sp, [0, 1], [2, 3]).values,
        S.fill_empty_rows(sp, 0.0)[0].values,
        S.cross([st, st]).values,
        S.cross_hashed([st, st], 10).values,
        S.split(sp, 2, 1)[1].values,
        S.retain(sp, [True, False, True, False]).values,
        S.to_indicator(tf.cast(sp, tf.int64), 5),
        S.add(sp, sp).values,
        S.maximum(sp, S.add(sp, sp)).values,
        tf.edit_distance(
            tf.SparseTensor([[0, 0], [0, 1]], [1, 2], (1, 2)),
            tf.SparseTensor([[0, 0]], [1], (1, 1)),
        ),
        tf.sets.intersection([[1, 2, 3]], [[2, 3, 5]]).values,
        tf.sets.size(tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 2, 3], (2, 2))),
        tf.sets.union([[1, 2]], [[2, 5]]).values,
        tf.sets.difference([[1, 2]], [[2, 5]]).values,
        S.expand_dims(sp, 0).dense_shape,
        S.reset_shape(sp).dense_shape,
        S.segment_sum(w, [0, 1, 2], [0, 0, 1]),
        S.map_values(tf.square, sp).values,
        S.eye(2).indices,
        S.bincount(tf.cast(sp, tf.int32)).values,
    )
