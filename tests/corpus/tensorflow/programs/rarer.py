"""What few programs use: names of before, windows, decoders of labels, averages."""

import numpy as np


def older_functions(tf):
    x = tf.reshape(tf.range(24.0), (2, 3, 4))
    v1 = tf.compat.v1
    im = tf.constant(np.random.RandomState(0).randn(2, 5, 6, 2), tf.float32)
    k = tf.constant(np.random.RandomState(1).randn(2, 3, 2), tf.float32)
    a = tf.nn.max_pool_with_argmax(im, 2, 2, "SAME")
    b = tf.nn.max_pool_with_argmax(
        im, [1, 3, 2, 1], [1, 2, 1, 1], "VALID", include_batch_in_index=True
    )
    with tf.GradientTape() as t:
        t.watch([im, k])
        y = tf.reduce_sum(tf.nn.dilation2d(im, k, [1, 2, 1, 1], "SAME", "NHWC", [1, 1, 2, 1]) ** 2)
    g = t.gradient(y, [im, k])
    d = v1.setdiff1d([1, 2, 3, 4], [2, 4])
    return (
        v1.batch_gather(x, [[0, 2], [1, 1]]),
        v1.batch_to_space_nd(tf.reshape(tf.range(4.0), (4, 1, 1, 1)), [2, 2], [[0, 0], [0, 0]]),
        v1.clip_by_average_norm(x, 0.1),
        d.out,
        d.idx,
        v1.sparse_matmul(x[0], x[1], transpose_b=True),
        v1.is_numeric_tensor(x),
        tf.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], 5),
        tf.guarantee_const(3),
        tf.required_space_to_batch_paddings([5, 5], [2, 3]),
        tf.required_space_to_batch_paddings([5, 7], [2, 3], [[1, 0], [0, 2]]),
        tf.extract_volume_patches(
            tf.reshape(tf.range(54.0), (1, 3, 3, 3, 2)), [1, 2, 2, 2, 1], [1, 1, 1, 1, 1], "VALID"
        ),
        tf.space_to_batch_nd(tf.reshape(tf.range(16.0), (1, 4, 4, 1)), [2, 2], [[0, 0], [0, 0]]),
        tf.nn.log_poisson_loss([1.0, 2.0, 0.0], [0.5, 0.3, 0.1], compute_full_loss=True),
        tf.nn.dilation2d(im, k, [1, 2, 1, 1], "SAME", "NHWC", [1, 1, 2, 1]),
        tf.nn.erosion2d(im, k, [1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1]),
        a,
        b,
        g,
        v1.extract_image_patches(im, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"),
        tf.eye(2, batch_shape=tf.constant([2])),
    )


def ctc_of_first_and_second(tf):
    rs = np.random.RandomState(0)
    logits = tf.constant(rs.randn(7, 3, 5), tf.float32)
    tl = tf.constant([7, 5, 1])
    sp = tf.sparse.from_dense([[1, 2, 0], [2, 2, 3], [1, 0, 0]])
    out = []
    for kw in ({}, {"merge_repeated": False}, {"blank_index": 0}):
        d, lp = tf.nn.ctc_greedy_decoder(logits, tl, **kw)
        out.append((d[0].indices, d[0].values, d[0].dense_shape, lp))
    for w, k in ((1, 1), (3, 2), (20, 5)):
        d, lp = tf.nn.ctc_beam_search_decoder(logits, tl, beam_width=w, top_paths=k)
        out.append(([(x.indices, x.values, x.dense_shape) for x in d], lp))
    d, lp = tf.compat.v1.nn.ctc_beam_search_decoder(logits, tl, beam_width=20)
    out.append((d[0].values, lp))
    with tf.GradientTape() as t:
        t.watch(logits)
        loss = tf.compat.v1.nn.ctc_loss(tf.cast(sp, tf.int32), logits, tl)
    out.append((loss, t.gradient(loss, logits)))
    out.append(tf.nn.ctc_loss(tf.cast(sp, tf.int32), logits, None, tl, blank_index=-1))
    out.append(
        tf.nn.collapse_repeated(tf.constant([[1, 1, 2, 2], [3, 3, 3, 0]]), tf.constant([4, 3]))
    )
    out.append(tf.nn.ctc_unique_labels(tf.constant([[1, 1, 2, 4], [3, 3, 5, 3]])))
    f = tf.function(lambda z: tf.nn.ctc_greedy_decoder(z, tl)[0][0].values)
    return out, f(logits)


def exponential_moving_averages(tf):
    ema = tf.train.ExponentialMovingAverage(0.9, num_updates=None)
    v, w = tf.Variable(1.0), tf.Variable([2.0, 3.0])
    ema.apply([v, w])
    out = []

    @tf.function
    def f():
        v.assign_add(1.0)
        w.assign(w * 0.5)
        ema.apply([v, w])

    for _ in range(3):
        f()
        out.append((ema.average(v), ema.average(w)))
    return [(tf.identity(a), tf.identity(b)) for a, b in out], ema.average(v).name.split(":")[
        0
    ].endswith("ExponentialMovingAverage")
