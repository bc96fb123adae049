"""Programs of a user's trial, of the first version: loops of cells, states that are fed, names."""

import numpy as np


def cells_that_read_what_they_said(tf):
    hidden, words, steps = 6, 7, 4
    start = tf.random_uniform_initializer(-0.4, 0.4, seed=3)
    first = tf.placeholder(tf.int32, [None])
    table = tf.get_variable("table", [words, 5], initializer=start)
    out = tf.get_variable("out", [hidden, words], initializer=start)
    with tf.variable_scope("cell", initializer=start):
        cell = tf.nn.rnn_cell.LSTMCell(hidden)
        batch = tf.shape(first)[0]

        def turn(time, made, state, kept):
            word = first if made is None else tf.argmax(tf.matmul(made, out), 1)
            state = cell.zero_state(batch, tf.float32) if made is None else state
            over = tf.fill([batch], time >= steps)
            return over, tf.nn.embedding_lookup(table, word), state, made, kept

        rows, _, _ = tf.nn.raw_rnn(cell, turn)
    logits = tf.einsum("tbh,hv->tbv", rows.stack(), out)
    loss = tf.reduce_mean(tf.square(logits - 1.0))
    train = tf.train.AdamOptimizer(0.02).minimize(loss)
    feed = {first: [1, 4, 2]}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, train], feed)[0] for _ in range(8)]
        return losses, session.run(logits, feed)


def states_are_fed_in_their_form(tf):
    x = tf.placeholder(tf.float32, [1, None, 2])
    start = tf.random_uniform_initializer(-0.5, 0.5, seed=1)
    with tf.variable_scope("rnn", initializer=start):
        cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(3) for _ in range(2)])
        begin = cell.zero_state(1, tf.float32)
        made, last = tf.nn.dynamic_rnn(cell, x, initial_state=begin)
    data = np.linspace(-1, 1, 8, dtype=np.float32).reshape(4, 1, 1, 2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        state, found = session.run(begin), []
        for piece in data:
            part, state = session.run([made, last], {x: piece, begin: state})
            found.append(part)
        whole = session.run(made, {x: data.reshape(1, 4, 2)})
    return found, whole


def layers_have_the_type_of_their_operand(tf):
    x = tf.placeholder(tf.float64, [None, 3])
    ones = tf.ones_initializer()
    made = tf.layers.dense(x, 2, kernel_initializer=ones)
    made = tf.layers.batch_normalization(made, training=True)
    loss = tf.losses.mean_squared_error(x[:, :2], made)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
    kinds = [v.dtype.base_dtype.name for v in tf.trainable_variables()]
    known = [tf.get_default_graph().get_operation_by_name(n).name for n in ("train", "Adam/x")[:1]]
    adam = tf.train.AdamOptimizer().minimize(loss)
    with tf.name_scope("again"):
        other = tf.train.AdamOptimizer().minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        feed = {x: np.arange(12.0).reshape(4, 3) ** 0.5}
        losses = [session.run([loss, train], feed)[0] for _ in range(6)]
    return losses, kinds, known, train.name, adam.name, other.name


def texts_of_queues(tf):
    queue = tf.FIFOQueue(4, [tf.string], [[]])
    put = queue.enqueue_many([["a\0", "bc"]])
    one, many = queue.dequeue(), queue.dequeue_many(1)
    with tf.Session() as session:
        session.run(put)
        first, second = session.run(one), session.run(many)
    return first, type(first).__name__, second, second.dtype.name


def shapes_that_are_put_together(tf):
    x = tf.placeholder(tf.float32, [20])
    weights = tf.random_normal(tf.squeeze(tf.stack([tf.shape(x), [5]])), stddev=0.1)
    twice = tf.zeros(tf.shape(x) * 2)
    p = tf.placeholder(tf.float32, [None, 4, 5])
    flat = tf.reshape(p, tf.concat([tf.shape(p)[:1], [20]], 0))
    made = tf.squeeze(tf.matmul(tf.expand_dims(x, 0), weights))
    shapes = [t.shape.as_list() for t in (weights, twice, made, flat)]
    with tf.Session() as session:
        return shapes, session.run(tf.shape(flat), {p: np.ones((2, 4, 5))})
