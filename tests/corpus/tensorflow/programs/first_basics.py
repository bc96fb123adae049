"""The first version: graphs that are built, and sessions that run parts of them."""

import numpy as np


def hello_and_constants(tf):
    hello = tf.constant("Hello, TensorFlow!")
    a, b = tf.constant(2), tf.constant(3)
    with tf.Session() as sess:
        greeting = sess.run(hello)
        total, product = sess.run([tf.add(a, b), tf.multiply(a, b)])
        matrix = sess.run(tf.matmul(tf.constant([[3.0, 3.0]]), tf.constant([[2.0], [2.0]])))
    return greeting.decode(), total, product, matrix


def linear_regression(tf):
    rng = np.random.RandomState(0)
    train_x = rng.rand(17).astype(np.float32) * 8
    train_y = 0.25 * train_x + 0.8 + 0.1 * rng.randn(17).astype(np.float32)
    n_samples = train_x.shape[0]
    X = tf.placeholder("float")
    Y = tf.placeholder("float")
    W = tf.Variable(0.3, name="weight")
    b = tf.Variable(-0.1, name="bias")
    pred = tf.add(tf.multiply(X, W), b)
    cost = tf.reduce_sum(tf.pow(pred - Y, 2)) / (2 * n_samples)
    optimizer = tf.train.GradientDescentOptimizer(0.01).minimize(cost)
    init = tf.global_variables_initializer()
    with tf.Session() as sess:
        sess.run(init)
        for _ in range(5):
            for x, y in zip(train_x, train_y):
                sess.run(optimizer, feed_dict={X: x, Y: y})
        return sess.run([cost, W, b], feed_dict={X: train_x, Y: train_y})


def softmax_digits(tf):
    rng = np.random.RandomState(1)
    images = rng.rand(60, 16).astype(np.float32)
    labels = np.eye(4, dtype=np.float32)[images[:, :4].argmax(1)]
    x = tf.placeholder(tf.float32, [None, 16])
    y_ = tf.placeholder(tf.float32, [None, 4])
    W = tf.Variable(tf.zeros([16, 4]))
    b = tf.Variable(tf.zeros([4]))
    y = tf.nn.softmax(tf.matmul(x, W) + b)
    cross_entropy = tf.reduce_mean(-tf.reduce_sum(y_ * tf.log(y), reduction_indices=[1]))
    train_step = tf.train.GradientDescentOptimizer(0.5).minimize(cross_entropy)
    correct_prediction = tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1))
    accuracy = tf.reduce_mean(tf.cast(correct_prediction, tf.float32))
    sess = tf.InteractiveSession()
    tf.global_variables_initializer().run()
    for i in range(12):
        rows = slice(i % 3 * 20, i % 3 * 20 + 20)
        sess.run(train_step, feed_dict={x: images[rows], y_: labels[rows]})
    found = accuracy.eval({x: images, y_: labels}), W.eval()
    sess.close()
    return found


def perceptron_with_scopes(tf):
    rng = np.random.RandomState(2)
    data = rng.randn(40, 5).astype(np.float32)
    wanted = (data.sum(1) > 0).astype(np.int64)
    global_step = tf.Variable(0, trainable=False, name="global_step")

    def layer(x, n, name, activation=None):
        with tf.variable_scope(name):
            w = tf.get_variable(
                "w",
                [x.shape[1].value, n],
                initializer=tf.constant_initializer(rng.randn(x.shape[1].value, n) * 0.5),
            )
            b = tf.get_variable("b", [n], initializer=tf.zeros_initializer())
            y = tf.nn.xw_plus_b(x, w, b)
            return activation(y) if activation else y

    with tf.name_scope("input"):
        x = tf.placeholder(tf.float32, [None, 5], name="x")
        y = tf.placeholder(tf.int64, [None], name="y")
    hidden = layer(x, 6, "hidden", tf.nn.relu)
    logits = layer(hidden, 2, "out")
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    regular = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if "b" not in v.name])
    rate = tf.train.exponential_decay(0.1, global_step, 5, 0.9, staircase=True)
    train = tf.train.MomentumOptimizer(rate, 0.9).minimize(
        loss + 1e-3 * regular, global_step=global_step
    )
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(12):
            _, value, step = sess.run([train, loss, global_step], {x: data, y: wanted})
        names = [v.name for v in tf.global_variables()]
        return value, step, sess.run(rate), names


def convolutional_network_with_dropout(tf):
    rng = np.random.RandomState(3)

    def weight_variable(shape):
        return tf.Variable(tf.constant(rng.randn(*shape) * 0.1, tf.float32))

    def bias_variable(shape):
        return tf.Variable(tf.constant(0.1, shape=shape))

    def conv2d(x, W):
        return tf.nn.conv2d(x, W, strides=[1, 1, 1, 1], padding="SAME")

    def max_pool_2x2(x):
        return tf.nn.max_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")

    x = tf.placeholder(tf.float32, [None, 64])
    y_ = tf.placeholder(tf.float32, [None, 3])
    keep_prob = tf.placeholder(tf.float32)
    x_image = tf.reshape(x, [-1, 8, 8, 1])
    h_conv1 = tf.nn.relu(conv2d(x_image, weight_variable([3, 3, 1, 4])) + bias_variable([4]))
    h_pool1 = max_pool_2x2(h_conv1)
    h_conv2 = tf.nn.relu(conv2d(h_pool1, weight_variable([3, 3, 4, 8])) + bias_variable([8]))
    h_pool2_flat = tf.reshape(max_pool_2x2(h_conv2), [-1, 2 * 2 * 8])
    h_fc1 = tf.nn.relu(tf.matmul(h_pool2_flat, weight_variable([32, 10])) + bias_variable([10]))
    h_fc1_drop = tf.nn.dropout(h_fc1, keep_prob)
    y_conv = tf.matmul(h_fc1_drop, weight_variable([10, 3])) + bias_variable([3])
    cross_entropy = tf.reduce_mean(
        tf.nn.softmax_cross_entropy_with_logits(labels=y_, logits=y_conv)
    )
    train_step = tf.train.AdamOptimizer(1e-2).minimize(cross_entropy)
    images = rng.rand(10, 64).astype(np.float32)
    labels = np.eye(3, dtype=np.float32)[rng.randint(0, 3, 10)]
    losses = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(6):
            feed = {x: images, y_: labels, keep_prob: 1.0}
            losses.append(sess.run(cross_entropy, feed))
            train_step.run(feed_dict=feed)
        return losses


def nearest_neighbour_of_digits(tf):
    rng = np.random.RandomState(4)
    train, test = rng.rand(20, 9), rng.rand(5, 9)
    xtr = tf.placeholder("float", [None, 9])
    xte = tf.placeholder("float", [9])
    distance = tf.reduce_sum(tf.abs(tf.add(xtr, tf.negative(xte))), reduction_indices=1)
    pred = tf.arg_min(distance, 0)
    with tf.Session() as sess:
        return [sess.run(pred, feed_dict={xtr: train, xte: row}) for row in test]


def counter_with_control_dependencies(tf):
    state = tf.Variable(0, name="counter")
    one = tf.constant(1)
    update = tf.assign(state, tf.add(state, one))
    with tf.control_dependencies([update]):
        doubled = tf.identity(state) * 2
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        seen = [sess.run([doubled, update])[1] for _ in range(3)]
        seen.append(sess.run(doubled))
        return seen, sess.run(state)


def feeds_of_anything_and_partial_runs(tf):
    a = tf.placeholder(tf.int16)
    b = tf.placeholder_with_default([1.0, 2.0], shape=[None])
    c = tf.square(b, name="c")
    d = c + 1.0
    with tf.Session() as sess:
        return (
            sess.run(tf.add(a, a), {a: [3, 4]}),
            sess.run(d),
            sess.run(d, {b: [5.0]}),
            sess.run("c:0", {"Placeholder:0": 1}),
            sess.run(d, {c: [0.5, 0.5, 0.5]}),
            sess.run({"x": [d, (c,)], "y": b}),
        )


def loops_and_conditions(tf):
    i0 = tf.constant(0)
    m0 = tf.ones([2, 2])
    c = lambda i, m: i < 4  # noqa: E731
    b = lambda i, m: [i + 1, tf.concat([m, m], axis=0)]  # noqa: E731
    _, grown = tf.while_loop(
        c, b, loop_vars=[i0, m0], shape_invariants=[i0.get_shape(), tf.TensorShape([None, 2])]
    )
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(x > 1.0, lambda: x * 2.0, lambda: x - 1.0)
    slope = tf.gradients(y, x)[0]
    x_i = tf.constant(0)
    z = tf.case(
        {x < 0: lambda: tf.constant(-1), x > 5: lambda: tf.constant(5)},
        default=lambda: x_i,
        exclusive=True,
    )
    with tf.Session() as sess:
        runs = [sess.run([y, slope, z], {x: v}) for v in (-2.0, 0.5, 3.0, 6.0, 7.0, 0.0)]
        return sess.run(tf.shape(grown)), runs


def tensor_arrays_and_scans(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    sums = tf.scan(lambda a, v: a + v, x)
    squares = tf.map_fn(lambda v: tf.reduce_sum(v * v), x)
    product = tf.foldl(lambda a, v: a * v, x)
    ta = tf.TensorArray(tf.float32, size=3).unstack(x)
    acc = tf.TensorArray(tf.float32, size=3)
    _, acc = tf.while_loop(
        lambda i, _: i < 3, lambda i, a: (i + 1, a.write(i, ta.read(i) * 2.0)), (0, acc)
    )
    out = acc.stack()
    slope = tf.gradients(tf.reduce_sum(out**2), x)[0]
    with tf.Session() as sess:
        return [sess.run([sums, squares, product, out, slope]) for _ in range(6)][-1]


def reference_variables_and_assignments(tf):
    w = tf.get_variable("w", initializer=tf.constant([1.0, 2.0, 3.0]))
    v = tf.get_variable("v", shape=[2, 2], initializer=tf.ones_initializer(), trainable=False)
    scatter = tf.scatter_update(w, [0, 2], [10.0, 30.0])
    add = tf.assign_add(v, [[1.0, 2.0], [3.0, 4.0]])
    with tf.control_dependencies([add]):
        total = tf.reduce_sum(v.read_value())
    with tf.Session() as sess:
        sess.run(tf.variables_initializer([w, v]))
        first = sess.run([total, scatter])
        v.load(np.zeros((2, 2), np.float32), sess)
        return first, sess.run(v), w.eval(sess), sess.run(tf.report_uninitialized_variables())


def saver_and_restored_session(tf):
    import tempfile

    w1 = tf.Variable([1.0, 2.0], name="w1")
    w2 = tf.Variable(tf.fill([2, 2], 3.0), name="w2")
    step = tf.assign_add(w1, [1.0, 1.0])
    saver = tf.train.Saver(max_to_keep=2)
    with tempfile.TemporaryDirectory() as folder:
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for i in range(5):
                sess.run(step)
                path = saver.save(sess, folder + "/model.ckpt", global_step=i)
        with tf.Session() as sess:
            saver.restore(sess, tf.train.latest_checkpoint(folder))
            found = sess.run([w1, w2])
        shapes = dict(tf.train.list_variables(path))
        kept = len(tf.train.get_checkpoint_state(folder).all_model_checkpoint_paths)
    return found, shapes, kept
