"""Programs of the first version that somebody wrote who had not seen the project."""

import numpy as np


def a_rate_is_cut_beside_the_graph(tf):
    """What is added while another graph is the default one goes to the graph of the variable."""
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(5)
        weight = tf.get_variable("weight", [3], initializer=tf.random_uniform_initializer(seed=2))
        drawn = tf.Variable(tf.random_normal([3], seed=7), name="drawn")
        twice = tf.Variable(drawn.initialized_value() * 2, name="twice")
        rate = tf.Variable(0.5, trainable=False)
        given = tf.placeholder(tf.float32, [None, 3])
        loss = tf.reduce_mean(tf.square(tf.reduce_sum(given * weight, 1) - 1.0))
        train = tf.train.AdagradOptimizer(rate).minimize(loss)
        start = tf.variables_initializer([weight, drawn, rate, *tf.global_variables("weight")])
    rows, found = np.random.RandomState(1).rand(4, 3).astype("float32"), []
    with tf.Session(graph=graph) as session, tf.Graph().as_default():
        session.run([start, tf.variables_initializer([twice])])
        found.append(session.run([weight, twice - 2.0 * drawn]))
        for _ in range(3):
            found.append(session.run([train, loss], {given: rows})[1])
            found.append(session.run(rate.assign(rate * 0.7)))
        found.append(session.run(tf.concat([weight, [1.0]], 0)))
    return found
