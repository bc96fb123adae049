"""An encoder of text as published for the first version: scopes, masks, its own optimiser."""

import math
import re

import numpy as np


def layer_norm(tf, x):
    """Normalise the last axis, by variables of the scope."""
    with tf.variable_scope(None, default_name="LayerNorm"):
        width = x.shape[-1].value
        gamma = tf.get_variable("gamma", [width], initializer=tf.ones_initializer())
        beta = tf.get_variable("beta", [width], initializer=tf.zeros_initializer())
        mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-12)


def dense(tf, x, width, name):
    """Apply a layer whose variables have names of a checkpoint's."""
    with tf.variable_scope(name):
        start = tf.truncated_normal_initializer(stddev=0.2, seed=3)
        kernel = tf.get_variable("kernel", [x.shape[-1].value, width], initializer=start)
        bias = tf.get_variable("bias", [width], initializer=tf.zeros_initializer())
        return tf.nn.bias_add(tf.matmul(x, kernel), bias)


def sizes(tf, x):
    """Return the sizes of a tensor: numbers where they are known, else tensors."""
    known, found = x.shape.as_list(), tf.shape(x)
    return [found[i] if d is None else d for i, d in enumerate(known)]


def looked_up(tf, ids, words, width):
    """Return the vectors of words."""
    if ids.shape.ndims == 2:
        ids = tf.expand_dims(ids, axis=[-1])
    start = tf.truncated_normal_initializer(stddev=0.2, seed=1)
    table = tf.get_variable("word_embeddings", [words, width], initializer=start)
    found = tf.gather(table, tf.reshape(ids, [-1]))
    shape = sizes(tf, ids)
    return tf.reshape(found, shape[0:-1] + [shape[-1] * width])


def attention(tf, x, mask, heads):
    """Let each place look at those that are no padding."""
    batch, length, width = sizes(tf, x)
    flat = tf.reshape(x, [-1, width])

    def apart(name):
        y = tf.reshape(dense(tf, flat, width, name), [batch, length, heads, width // heads])
        return tf.transpose(y, [0, 2, 1, 3])

    q, k, v = apart("query"), apart("key"), apart("value")
    scores = tf.multiply(tf.matmul(q, k, transpose_b=True), 1.0 / math.sqrt(width // heads))
    allowed = tf.cast(tf.reshape(mask, [batch, 1, 1, length]), tf.float32)
    probabilities = tf.nn.softmax(scores + (1.0 - allowed) * -10000.0)
    mixed = tf.transpose(tf.matmul(probabilities, v), [0, 2, 1, 3])
    return tf.reshape(mixed, [batch * length, width])


def updated(tf, rate, loss):
    """Return the step of an optimiser that is written out, with decay for some variables."""
    variables = tf.trainable_variables()
    gradients, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), clip_norm=1.0)
    assigned = []
    for grad, param in zip(gradients, variables):  # noqa: B905  (as it is published)
        name = re.match("^(.*):\\d+$", param.name).group(1)
        start, shape = tf.zeros_initializer(), param.shape.as_list()
        m = tf.get_variable(f"{name}/adam_m", shape, trainable=False, initializer=start)
        v = tf.get_variable(f"{name}/adam_v", shape, trainable=False, initializer=start)
        new_m = tf.multiply(0.9, m) + tf.multiply(0.1, grad)
        new_v = tf.multiply(0.999, v) + tf.multiply(0.001, tf.square(grad))
        step = new_m / (tf.sqrt(new_v) + 1e-6)
        if not re.search("LayerNorm|bias", name):
            step += 0.01 * param
        assigned += [param.assign(param - rate * step), m.assign(new_m), v.assign(new_v)]
    return tf.group(*assigned), norm


def encoder_with_its_own_optimiser(tf):
    """Train a small encoder with a rate that warms up."""
    ids, mask = (tf.placeholder(tf.int32, [None, 6], name=n) for n in ("ids", "mask"))
    labels = tf.placeholder(tf.int32, [None], name="labels")
    with tf.variable_scope("bert"):
        with tf.variable_scope("embeddings"):
            x = looked_up(tf, ids, 20, 8)
            start = tf.truncated_normal_initializer(stddev=0.2, seed=2)
            places = tf.get_variable("position_embeddings", [10, 8], initializer=start)
            x = layer_norm(tf, x + tf.reshape(tf.slice(places, [0, 0], [6, -1]), [1, 6, 8]))
        with tf.variable_scope("layer_0"):
            flat = tf.reshape(x, [-1, 8])
            mixed = layer_norm(tf, dense(tf, attention(tf, x, mask, 2), 8, "output") + flat)
            wide = dense(tf, mixed, 16, "intermediate")
            wide *= 0.5 * (1.0 + tf.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * tf.pow(wide, 3))))
            x = tf.reshape(layer_norm(tf, dense(tf, wide, 8, "back") + mixed), sizes(tf, x))
        pooled = tf.tanh(dense(tf, tf.squeeze(x[:, 0:1, :], axis=1), 8, "pooler"))
    logits = tf.nn.log_softmax(dense(tf, pooled, 2, "classifier"))
    loss = tf.reduce_mean(-tf.reduce_sum(tf.one_hot(labels, depth=2) * logits, axis=-1))
    steps = tf.train.get_or_create_global_step()
    rate = tf.train.polynomial_decay(0.01, steps, 20, end_learning_rate=0.0, power=1.0)
    is_warm = tf.cast(steps < 3, tf.float32)
    rate = (1.0 - is_warm) * rate + is_warm * 0.01 * tf.cast(steps, tf.float32) / 3.0
    train, norm = updated(tf, rate, loss)
    with tf.control_dependencies([train]):  # else the rate may be of the step before or after
        train = tf.group(steps.assign(steps + 1))
    feed = {
        ids: np.random.randint(0, 20, (4, 6)),
        mask: [[1] * 6, [1] * 4 + [0] * 2, [1] * 5 + [0], [1] * 6],
        labels: [0, 1, 1, 0],
    }
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = []
        for _ in range(6):  # what is read beside assignments may be read before or after them
            found.append(session.run([loss, rate, norm], feed))
            session.run(train, feed)
        names = [v.name for v in tf.trainable_variables()]
        return {"steps": found, "names": names, "logits": session.run(logits, feed)}
