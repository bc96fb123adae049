"""Programs of a stranger, of the first version: branches that change state, speech, freezing."""

import numpy as np


def moments_are_kept_where_a_branch_trains(tf):
    x = tf.placeholder(tf.float32, [None, 3])
    training = tf.placeholder(tf.bool, [])
    w = tf.get_variable("w", [3, 2], initializer=tf.random_uniform_initializer(-1, 1, seed=4))
    hidden = tf.matmul(x, w)
    mean, variance = tf.nn.moments(hidden, [0])
    average = tf.train.ExponentialMovingAverage(0.5)

    def of_batch():
        with tf.control_dependencies([average.apply([mean, variance])]):
            return tf.identity(mean), tf.identity(variance)

    used = tf.cond(training, of_batch, lambda: (average.average(mean), average.average(variance)))
    out = tf.nn.batch_normalization(hidden, *used, None, None, 1e-3)
    loss = tf.reduce_mean(tf.square(tf.nn.relu(out) - 1.0)) + tf.nn.l2_loss(w)
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    data = np.random.RandomState(2).randn(6, 3)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, train], {x: data, training: True})[0] for _ in range(6)]
        again = [session.run(out, {x: data[:2], training: False}) for _ in range(2)]
        return losses, again, [v.op.name for v in tf.global_variables()][:3]


def gradients_are_summed_and_applied_each_third_run(tf):
    x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None])
    w = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_mean(tf.square(tf.einsum("bi,i->b", x, w) - y))
    optimiser = tf.train.AdamOptimizer(0.1)
    [(slope, _)] = optimiser.compute_gradients(loss, [w])
    held = tf.get_variable("held", [2], initializer=tf.zeros_initializer(), trainable=False)
    count = tf.get_variable("count", [], tf.int32, tf.zeros_initializer(), trainable=False)
    with tf.control_dependencies([held.assign_add(slope)]):
        reached = count.assign_add(1)

    def applied():
        train = optimiser.apply_gradients([(held / 3.0, w)], global_step=step)
        with tf.control_dependencies([train]), tf.control_dependencies([held.assign([0.0, 0.0])]):
            return tf.constant(True)

    with tf.control_dependencies([reached]):
        done = tf.cond(tf.equal(reached % 3, 0), applied, lambda: tf.constant(False))
    data = np.random.RandomState(5).randn(12, 3)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = [session.run([loss, done], {x: d[None, :2], y: d[2:]}) for d in data]
        return seen, session.run([w, held, step])


def speech_of_any_length_is_labelled(tf):
    sound = tf.placeholder(tf.float32, [None, None, 4])
    words, lengths = tf.sparse_placeholder(tf.int32), tf.placeholder(tf.int32, [None])
    w = tf.get_variable("w", [4, 4], initializer=tf.random_uniform_initializer(-1, 1, seed=3))
    size = tf.shape(sound)
    flat = tf.matmul(tf.reshape(sound, [-1, 4]), w)
    scores = tf.transpose(tf.reshape(flat, [size[0], -1, 4]), [1, 0, 2])
    costs = tf.nn.ctc_loss(words, scores, lengths)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(costs))
    said, _ = tf.nn.ctc_greedy_decoder(scores, lengths)
    wrong = tf.reduce_mean(tf.edit_distance(tf.cast(said[0], tf.int32), words))
    numbers = np.random.RandomState(7)
    places = np.int64([[0, 0], [0, 1], [1, 0]])
    feed = {words: (places, np.int32([0, 2, 1]), np.int64([2, 2])), lengths: [5, 4]}
    feed[sound] = numbers.randn(2, 5, 4)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [session.run([costs, train], feed)[0] for _ in range(6)]
        return found, session.run(wrong, feed)


def a_trained_graph_is_frozen_and_cut(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", [2, 2], initializer=tf.constant_initializer([[1, 2], [3, 4]]))
    hidden = tf.nn.relu(tf.matmul(x, w), name="hidden")
    tf.nn.softmax(hidden, name="out")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        whole = tf.get_default_graph().as_graph_def()
        frozen = tf.graph_util.convert_variables_to_constants(session, whole, ["out"])
    part = tf.graph_util.extract_sub_graph(frozen, ["hidden"])
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.constant([[1.0, -1.0]])
        wanted = ["out:0", "hidden:0"]
        again = tf.import_graph_def(frozen, {"x:0": given}, wanted, name="again")
        return session.run(again), [n.name for n in part.node][-1]


def scores_in_their_scope(tf):
    rng = np.random.RandomState(3)
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    with tf.variable_scope("scores", initializer=tf.constant_initializer(0.1)):
        w, b = tf.get_variable("w", [4, 3]), tf.get_variable("b", [3])
        hidden = tf.nn.relu_layer(x, w, b)
        made = tf.nn.xw_plus_b(hidden, tf.ones([3, 2]), tf.zeros([2]), name="logits")
    graph = tf.get_default_graph()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        given = {x: rng.rand(2, 4)}
        found = session.run([made, "scores/logits/MatMul:0", "scores/relu_layer:0"], given)
    with graph.name_scope("later"):
        return made.name, made.op.type, graph.get_name_scope(), found
