"""Ragged text, averages of layers, checks within gradients, complex numbers, generators."""

import numpy as np


def ragged_text_pipeline(tf):
    texts = tf.constant(["The quick, brown fox!", "jumped over", "", "the lazy dogs. The end"])
    clean = tf.strings.regex_replace(tf.strings.lower(texts), r"[^a-z ]", "")
    words = tf.strings.split(clean)
    flat, idx, cnt = tf.unique_with_counts(words.flat_values)
    order = tf.argsort(cnt, direction="DESCENDING", stable=True)
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(tf.gather(flat, order), tf.range(tf.size(flat))), -1
    )
    ids = tf.ragged.map_flat_values(table.lookup, words)
    emb = tf.Variable(np.random.RandomState(0).randn(12, 3).astype("f"))

    @tf.function
    def bag(r):
        with tf.GradientTape() as t:
            e = tf.gather(emb, r)
            m = (
                tf.reduce_sum(e, axis=1)
                / tf.cast(tf.maximum(r.row_lengths(), 1), tf.float32)[:, None]
            )
            loss = tf.reduce_sum(m**2)
        g = t.gradient(loss, emb)
        return loss, tf.convert_to_tensor(g)

    bi = tf.strings.ngrams(words, 2, separator="_")
    ch = tf.strings.unicode_split(clean, "UTF-8")
    r = bag(ids)
    return (
        r,
        ids.to_list(),
        bi.to_list(),
        ch.row_lengths(),
        ids.to_tensor(-1),
        words.to_sparse().indices,
        tf.concat([ids, ids[:, :1]], 1).to_list(),
        tf.ragged.boolean_mask(ids, ids > 1).to_list(),
        tf.reduce_max(ids, 1),
        ids[1:3, -1:].to_list(),
        tf.strings.reduce_join(words, axis=1, separator="-"),
        tf.ragged.stack([ids[0], ids[3]]).to_list(),
        ids.bounding_shape(),
        tf.strings.length(words).to_list(),
        tf.sort(ids[3]),
    )


def moving_averages_of_keras_variables(tf):
    k = tf.keras
    m = k.Sequential([k.Input((3,)), k.layers.Dense(2, kernel_initializer="ones")])
    ema = tf.train.ExponentialMovingAverage(0.9)
    ema.apply([v.value for v in m.trainable_variables])
    opt = k.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.8, ema_overwrite_frequency=3)
    x = tf.constant(np.random.RandomState(0).randn(5, 3), tf.float32)

    @tf.function
    def step(x):
        with tf.GradientTape() as t:
            loss = tf.reduce_mean(m(x) ** 2)
        opt.apply_gradients(zip(t.gradient(loss, m.trainable_variables), m.trainable_variables))
        ema.apply([v.value for v in m.trainable_variables])
        return loss

    r = [step(x) for _ in range(5)]
    return r, [ema.average(v.value) for v in m.trainable_variables], m.trainable_variables[0].value
