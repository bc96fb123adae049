"""The first version: models as example collections have them."""

import numpy as np


def lstm_in_a_while_loop(tf):
    rng = np.random.RandomState(0)
    x = tf.placeholder(tf.float32, [None, 6, 3])
    y = tf.placeholder(tf.float32, [None, 2])
    with tf.variable_scope("rnn", initializer=tf.constant_initializer(0.1)):
        kernel = tf.get_variable("kernel", [7, 16])
        bias = tf.get_variable("bias", [16], initializer=tf.zeros_initializer())
    time = tf.TensorArray(tf.float32, size=6).unstack(tf.transpose(x, [1, 0, 2]))
    start = tf.zeros(tf.stack([tf.shape(x)[0], 4]))

    def cell(t, c, h):
        i, j, f, o = tf.split(tf.matmul(tf.concat([time.read(t), h], 1), kernel) + bias, 4, 1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        return t + 1, c, tf.tanh(c) * tf.sigmoid(o)

    _, c, last = tf.while_loop(lambda t, *_: tf.less(t, 6), cell, [0, start, start])
    w = tf.Variable(tf.constant(rng.randn(4, 2), tf.float32))
    loss = tf.reduce_mean(tf.square(tf.matmul(last, w) - y))
    train = tf.train.AdamOptimizer(0.05).minimize(loss)
    feed = {x: rng.randn(5, 6, 3), y: rng.randn(5, 2)}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, train], feed)[0] for _ in range(6)]
        return losses, sess.run(c, feed)[0]


def recurrent_network_unrolled(tf):
    rng = np.random.RandomState(1)
    x = tf.placeholder("float", [None, 4, 2])
    state = tf.zeros([tf.shape(x)[0], 5])
    for t, step in enumerate(tf.unstack(x, 4, 1)):
        with tf.variable_scope("cell", reuse=tf.AUTO_REUSE if t else None):
            w = tf.get_variable("w", [7, 5], initializer=tf.constant_initializer(0.2))
            b = tf.get_variable("b", [5], initializer=tf.constant_initializer(-0.1))
        state = tf.tanh(tf.nn.xw_plus_b(tf.concat([step, state], 1), w, b))
    logits = tf.matmul(state, tf.Variable(rng.randn(5, 3).astype(np.float32)))
    entropy = -tf.reduce_sum(tf.nn.softmax(logits) * tf.nn.log_softmax(logits))
    slopes = tf.gradients(entropy, tf.trainable_variables("cell"))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        feed = {x: rng.randn(3, 4, 2)}
        return [sess.run([entropy, slopes], feed) for _ in range(6)][-1]


def word_vectors_with_nce(tf):
    rng = np.random.RandomState(2)
    vocabulary_size, embedding_size = 12, 4
    inputs = tf.placeholder(tf.int32, shape=[6])
    labels = tf.placeholder(tf.int32, shape=[6, 1])
    embeddings = tf.Variable(
        rng.uniform(-1.0, 1.0, (vocabulary_size, embedding_size)).astype(np.float32)
    )
    embed = tf.nn.embedding_lookup(embeddings, inputs)
    nce_weights = tf.Variable(rng.randn(vocabulary_size, embedding_size).astype(np.float32) * 0.5)
    nce_biases = tf.Variable(tf.zeros([vocabulary_size]))
    sampled = (
        tf.constant([1, 5, 9], tf.int64),
        tf.fill([6, 1], 0.2),
        tf.constant([0.5, 0.2, 0.1]),
    )
    loss = tf.reduce_mean(
        tf.nn.nce_loss(
            weights=nce_weights,
            biases=nce_biases,
            inputs=embed,
            labels=labels,
            num_sampled=3,
            num_classes=vocabulary_size,
            sampled_values=sampled,
        )
    )
    train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keep_dims=True))
    normalized = embeddings / norm
    valid = tf.nn.embedding_lookup(normalized, tf.constant([0, 3]))
    similarity = tf.matmul(valid, normalized, transpose_b=True)
    with tf.Session() as sess:
        tf.global_variables_initializer().run()
        losses = []
        for _ in range(6):
            feed = {inputs: rng.randint(0, 12, 6), labels: rng.randint(0, 12, (6, 1))}
            losses.append(sess.run([train, loss], feed)[1])
        return losses, similarity.eval()


def autoencoder_of_layers(tf):
    rng = np.random.RandomState(3)
    data = rng.rand(20, 12).astype(np.float32)
    x = tf.placeholder("float", [None, 12])
    weights = {
        "encoder": tf.Variable(rng.randn(12, 4).astype(np.float32) * 0.3),
        "decoder": tf.Variable(rng.randn(4, 12).astype(np.float32) * 0.3),
    }
    biases = {k: tf.Variable(tf.zeros([n])) for k, n in (("encoder", 4), ("decoder", 12))}

    def encoder(x):
        return tf.nn.sigmoid(tf.add(tf.matmul(x, weights["encoder"]), biases["encoder"]))

    def decoder(x):
        return tf.nn.sigmoid(tf.add(tf.matmul(x, weights["decoder"]), biases["decoder"]))

    y_pred = decoder(encoder(x))
    loss = tf.reduce_mean(tf.pow(x - y_pred, 2))
    optimizer = tf.train.RMSPropOptimizer(0.01).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([optimizer, loss], feed_dict={x: data})[1] for _ in range(8)]
        return losses, sess.run(y_pred, {x: data[:1]})


def adversarial_networks_with_scopes(tf):
    rng = np.random.RandomState(4)

    def net(x, n, out, name, reuse=False):
        with tf.variable_scope(name, reuse=reuse):
            w1 = tf.get_variable("w1", [int(x.get_shape()[1]), n], initializer=fixed(0))
            b1 = tf.get_variable("b1", [n], initializer=tf.constant_initializer(0.0))
            w2 = tf.get_variable("w2", [n, out], initializer=fixed(1))
            return tf.matmul(tf.nn.relu(tf.matmul(x, w1) + b1), w2)

    def fixed(seed):
        def make(shape, dtype=None, partition_info=None):
            return tf.constant(np.random.RandomState(seed).randn(*shape) * 0.5, tf.float32)

        return make

    z = tf.placeholder(tf.float32, [None, 2])
    real = tf.placeholder(tf.float32, [None, 3])
    fake = net(z, 5, 3, "G")
    d_real, d_fake = net(real, 4, 1, "D"), net(fake, 4, 1, "D", reuse=True)
    d_loss = tf.reduce_mean(
        tf.nn.sigmoid_cross_entropy_with_logits(logits=d_real, labels=tf.ones_like(d_real))
        + tf.nn.sigmoid_cross_entropy_with_logits(logits=d_fake, labels=tf.zeros_like(d_fake))
    )
    g_loss = tf.reduce_mean(
        tf.nn.sigmoid_cross_entropy_with_logits(logits=d_fake, labels=tf.ones_like(d_fake))
    )
    d_vars = [v for v in tf.trainable_variables() if v.name.startswith("D")]
    g_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="G")
    d_step = tf.train.AdamOptimizer(0.01, beta1=0.5).minimize(d_loss, var_list=d_vars)
    g_step = tf.train.AdamOptimizer(0.01, beta1=0.5).minimize(g_loss, var_list=g_vars)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        losses = []
        for _ in range(6):
            feed = {z: rng.rand(8, 2), real: rng.randn(8, 3)}
            losses.append(sess.run([d_step, d_loss], feed)[1])
            losses.append(sess.run([g_step, g_loss], feed)[1])
        return losses, [v.name for v in d_vars]


def k_means_of_points(tf):
    rng = np.random.RandomState(5)
    vectors = tf.constant(rng.randn(30, 2) + 3 * rng.randint(0, 2, (30, 1)), tf.float32)
    centroids = tf.Variable(tf.slice(vectors, [0, 0], [2, -1]))
    expanded = tf.expand_dims(vectors, 0)
    assignments = tf.argmin(
        tf.reduce_sum(tf.square(tf.subtract(expanded, tf.expand_dims(centroids, 1))), 2), 0
    )
    means = tf.concat(
        [
            tf.reduce_mean(
                tf.gather(vectors, tf.reshape(tf.where(tf.equal(assignments, c)), [1, -1])),
                reduction_indices=[1],
            )
            for c in range(2)
        ],
        0,
    )
    update = tf.assign(centroids, means)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(6):
            _, values, where = sess.run([update, centroids, assignments])
        return sess.run(centroids), where


def support_vectors_with_kernel(tf):
    rng = np.random.RandomState(6)
    x_vals = rng.randn(24, 2)
    y_vals = np.where((x_vals**2).sum(1) < 1.2, 1.0, -1.0)
    x_data = tf.placeholder(shape=[None, 2], dtype=tf.float32)
    y_target = tf.placeholder(shape=[None, 1], dtype=tf.float32)
    b = tf.Variable(tf.fill([1, 24], 0.1))
    gamma = tf.constant(-10.0)
    sq_dists = tf.multiply(2.0, tf.matmul(x_data, tf.transpose(x_data)))
    dist = tf.reshape(tf.reduce_sum(tf.square(x_data), 1), [-1, 1])
    dists = tf.add(tf.subtract(dist, sq_dists), tf.transpose(dist))
    kernel = tf.exp(tf.multiply(gamma, tf.abs(dists)))
    first = tf.reduce_sum(b)
    cross = tf.matmul(y_target, tf.transpose(y_target))
    second = tf.reduce_sum(tf.multiply(kernel, tf.multiply(tf.matmul(tf.transpose(b), b), cross)))
    loss = tf.negative(tf.subtract(first, second))
    train_step = tf.train.GradientDescentOptimizer(0.002).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        feed = {x_data: x_vals, y_target: np.transpose([y_vals])}
        for _ in range(8):
            sess.run(train_step, feed)
        return sess.run([loss, b], feed)


def bidirectional_tagger_with_lengths(tf):
    rng = np.random.RandomState(7)
    ids = tf.placeholder(tf.int32, [None, None])
    lengths = tf.reduce_sum(tf.sign(ids), 1)
    table = tf.get_variable("table", initializer=tf.constant(rng.randn(9, 3), tf.float32))
    words = tf.nn.embedding_lookup(table, ids)

    def direction(inputs, name):
        with tf.variable_scope(name, initializer=tf.constant_initializer(0.1)):
            w = tf.get_variable("w", [7, 4])
        start = tf.zeros([tf.shape(inputs)[0], 4])
        step = lambda h, x: tf.tanh(tf.matmul(tf.concat([x, h], 1), w))  # noqa: E731
        found = tf.scan(step, tf.transpose(inputs, [1, 0, 2]), initializer=start)
        return tf.transpose(found, [1, 0, 2])

    turned = tf.reverse_sequence(words, lengths, seq_axis=1, batch_axis=0)
    backward = tf.reverse_sequence(direction(turned, "bw"), lengths, seq_axis=1, batch_axis=0)
    outputs = tf.concat([direction(words, "fw"), backward], axis=-1)
    mask = tf.sequence_mask(lengths, tf.shape(ids)[1])
    picked = tf.boolean_mask(outputs, mask)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        feed = {ids: [[1, 4, 2, 0], [3, 0, 0, 0], [5, 6, 7, 8]]}
        fetches = [lengths, tf.shape(picked), tf.reduce_mean(picked, 0)]
        return [sess.run(fetches, feed) for _ in range(6)][-1]


def actor_and_critic(tf):
    rng = np.random.RandomState(8)
    state = tf.placeholder(tf.float32, [None, 3])
    action = tf.placeholder(tf.int32, [None])
    reward = tf.placeholder(tf.float32, [None])
    hidden = tf.tanh(tf.matmul(state, tf.Variable(rng.randn(3, 4).astype(np.float32))))
    policy = tf.nn.softmax(tf.matmul(hidden, tf.Variable(rng.randn(4, 2).astype(np.float32))))
    value = tf.squeeze(tf.matmul(hidden, tf.Variable(rng.randn(4, 1).astype(np.float32))), 1)
    indexes = tf.range(0, tf.shape(policy)[0]) * tf.shape(policy)[1] + action
    responsible = tf.gather(tf.reshape(policy, [-1]), indexes)
    advantage = reward - tf.stop_gradient(value)
    entropy = -tf.reduce_sum(policy * tf.log(policy + 1e-8))
    loss = -tf.reduce_mean(tf.log(responsible) * advantage) + 0.5 * tf.nn.l2_loss(value - reward)
    optimizer = tf.train.AdamOptimizer(learning_rate=0.01)
    pairs = optimizer.compute_gradients(loss - 0.01 * entropy)
    clipped = [(tf.clip_by_value(g, -1.0, 1.0), v) for g, v in pairs if g is not None]
    train = optimizer.apply_gradients(clipped)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found = []
        for _ in range(6):
            feed = {
                state: rng.randn(5, 3),
                action: rng.randint(0, 2, 5),
                reward: rng.randn(5),
            }
            found.append(sess.run([loss, train], feed)[0])
        return found


def queue_of_experience(tf):
    queue = tf.FIFOQueue(10, [tf.float32, tf.int32], shapes=[[2], []])
    x = tf.placeholder(tf.float32, [None, 2])
    n = tf.placeholder(tf.int32, [None])
    enqueue = queue.enqueue_many([x, n])
    features, label = queue.dequeue()
    many = queue.dequeue_many(2)
    with tf.Session() as sess:
        sess.run(enqueue, {x: np.arange(10).reshape(5, 2), n: np.arange(5)})
        one = sess.run([features, label])
        two = sess.run(many)
        left = sess.run(queue.size())
        sess.run(queue.close())
        sess.run(many)
        try:
            sess.run(label)
        except tf.errors.OutOfRangeError:
            return one, two, left, "over"


def summaries_and_merged_writer(tf):
    import os
    import tempfile

    x = tf.placeholder(tf.float32, [None])
    mean = tf.reduce_mean(x)
    tf.summary.scalar("mean", mean)
    tf.summary.histogram("x", x)
    merged = tf.summary.merge_all()
    with tempfile.TemporaryDirectory() as folder, tf.Session() as sess:
        writer = tf.summary.FileWriter(folder, sess.graph)
        for i in range(6):
            summary, value = sess.run([merged, mean], {x: np.arange(i + 1.0)})
            writer.add_summary(summary, i)
        writer.close()
        (path,) = os.listdir(folder)
        events = list(tf.train.summary_iterator(os.path.join(folder, path)))
    tags = [v.tag for e in events for v in e.summary.value]
    message = tf.Summary.FromString(summary)
    return value, sorted(set(tags)), len(tags), message.value[0].simple_value


def deep_q_network_with_targets(tf):
    rng = np.random.RandomState(9)

    def q_network(x, scope):
        with tf.variable_scope(scope):
            w1 = tf.get_variable("w1", initializer=rng.randn(4, 6).astype(np.float32))
            w2 = tf.get_variable("w2", initializer=rng.randn(6, 2).astype(np.float32))
            return tf.matmul(tf.nn.relu(tf.matmul(x, w1)), w2)

    s, s_ = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 4])
    a, r = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None])
    done = tf.placeholder(tf.float32, [None])
    q, q_next = q_network(s, "eval"), q_network(s_, "target")
    one_hot = tf.one_hot(a, 2)
    target = tf.stop_gradient(r + 0.9 * (1.0 - done) * tf.reduce_max(q_next, axis=1))
    loss = tf.reduce_mean(tf.squared_difference(target, tf.reduce_sum(q * one_hot, axis=1)))
    mine = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="eval")
    other = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="target")
    copy = [tf.assign(t, e) for t, e in zip(other, mine)]
    train = tf.train.RMSPropOptimizer(0.01).minimize(loss, var_list=mine)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        losses = []
        for i in range(8):
            if i % 3 == 0:
                sess.run(copy)
            feed = {
                s: rng.randn(6, 4),
                s_: rng.randn(6, 4),
                a: rng.randint(0, 2, 6),
                r: rng.randn(6),
                done: rng.randint(0, 2, 6),
            }
            losses.append(sess.run([train, loss], feed)[1])
        return losses, sess.run(mine[1])


def raw_recurrence_and_printed_twice(tf):
    rs = np.random.RandomState(0)
    given = tf.constant(rs.randn(2, 5, 3).astype("f4"))
    rows = tf.TensorArray(tf.float32, size=5).unstack(tf.transpose(given, [1, 0, 2]))
    lengths = tf.constant([5, 3])
    w = tf.constant(rs.randn(7, 4).astype("f4"))

    class Cell:
        output_size = state_size = 4

        def __call__(self, x, state, scope=None):
            out = tf.tanh(tf.matmul(tf.concat([x, state], 1), w))
            return out, out

        def zero_state(self, batch, dtype):
            return tf.zeros([batch, 4], dtype)

    cell = Cell()

    def turn(time, out, state, _):
        over = time >= lengths
        following = cell.zero_state(2, tf.float32) if out is None else state
        x = tf.cond(tf.reduce_all(over), lambda: tf.zeros([2, 3]), lambda: rows.read(time))
        return over, x, following, out, None

    emitted, last, _ = tf.nn.raw_rnn(cell, turn)
    said = tf.Print(last, [last], first_n=1) + 1.0
    with tf.Session() as session:
        return [session.run([emitted.stack(), last, said]) for _ in range(2)]


def summaries_run_with_a_step(tf):
    x = tf.placeholder(tf.float32, [None, 4])
    w = tf.get_variable("w", initializer=tf.constant(np.ones((4, 2), "f4")))
    loss = tf.reduce_mean(tf.matmul(x, w) ** 2)
    step = tf.train.AdamOptimizer(0.1).minimize(loss)
    tf.summary.scalar("loss", loss)
    merged = tf.summary.merge_all()
    rs = np.random.RandomState(0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [session.run([step, loss, merged], {x: rs.rand(3, 4)}) for _ in range(5)]
    return [[loss, len(text)] for _, loss, text in found]
