"""Programs in the style of TensorFlow's first version; each takes the module and returns values."""

import numpy as np

X = np.arange(12, dtype=np.float32).reshape(3, 4) / 7 - 0.5
L = np.eye(4, dtype=np.float32)[[0, 2, 1]]
PROGRAMS = {}


def program(function):
    """Enter a function under its name."""
    PROGRAMS[function.__name__] = function
    return function


def eager(function):
    """Enter a function that runs outside of a graph."""
    function.eager = True
    return program(function)


def fed(name, function, *feeds, slopes=True):
    """Enter a function of placeholders without shapes, run twice, with its gradients."""

    def run(tf):
        v1 = tf.compat.v1
        inputs = [v1.placeholder(tf.as_dtype(np.asarray(a).dtype)) for a in feeds]
        made = function(tf, *inputs)
        made = list(made) if isinstance(made, list | tuple) else [made]
        if slopes:
            floats = [np.asarray(a).dtype == np.float32 for a in feeds]
            smooth = [p for p, is_float in zip(inputs, floats, strict=True) if is_float]
            made += [g for g in v1.gradients(made, smooth) if g is not None]
        session = v1.Session()
        given = dict(zip(inputs, feeds, strict=True))
        first, second = session.run(made, given), session.run(made, given)
        return [[list(np.shape(x)), x] for x in first], plainly(first) == plainly(second)

    PROGRAMS[f"unknown_rank_{name}"] = run


def plainly(values):
    return [np.asarray(v).tolist() for v in values]


fed(
    "xe",
    lambda tf, a, b: tf.compat.v1.nn.softmax_cross_entropy_with_logits(labels=a, logits=b),
    L,
    X,
)
fed("l2n", lambda tf, a: tf.nn.l2_normalize(a, 1), X)
fed("td", lambda tf, a, b: tf.tensordot(a, b, 1), X, X.T)
fed("td2", lambda tf, a, b: tf.tensordot(a, b, [[1], [0]]), X, X.T)
fed("split", lambda tf, a: tf.split(a, 2, 1), X)
fed(
    "topk",
    lambda tf, a, b: tf.compat.v1.nn.in_top_k(a, b, 1),
    X,
    np.array([3, 2, 3], np.int32),
    slopes=False,
)
fed("where", lambda tf, c, a: tf.compat.v1.where(c, a, 2 * a), np.array([True, False, True]), X)
fed("where2", lambda tf, c, a: tf.compat.v1.where(c, a, 2 * a), X > 0, X)
fed("sum", lambda tf, a: tf.reduce_sum(a), X)
fed("mean1", lambda tf, a: tf.reduce_mean(a, 1), X)
fed("dropout", lambda tf, a, k: tf.compat.v1.nn.dropout(a, k), X, np.float32(1.0))
fed("py", lambda tf, a: tf.reduce_mean(tf.py_function(lambda v: v * 2, [a], tf.float32)), X)
fed("mat", lambda tf, a, b: tf.nn.relu(tf.matmul(a, b) + 1.0), X, X.T)
fed("transpose", lambda tf, a: tf.transpose(a), X)
fed("stack", lambda tf, a, b: tf.stack([a, b]), X, X)
fed("concat", lambda tf, a, b: tf.concat([a, b], 1), X, X)
fed("norm", lambda tf, a: tf.norm(a), X)
fed("pad", lambda tf, a: tf.pad(a, [[0, 0], [1, 1]]), X)
fed("oh", lambda tf, a: tf.one_hot(a, 4), np.array([1, 2], np.int32), slopes=False)
fed("seqmask", lambda tf, a: tf.sequence_mask(a), np.array([1, 2], np.int32), slopes=False)
fed("size", lambda tf, a: [tf.size(a), tf.rank(a), tf.shape(a)], X, slopes=False)
fed("slice", lambda tf, a: a[:, 1], X)
fed("slice2", lambda tf, a, b: a[:b], X, np.int32(2))
fed(
    "conv",
    lambda tf, a, b: tf.nn.conv2d(a, b, 1, "SAME"),
    np.ones((1, 3, 3, 1), np.float32),
    np.ones((2, 2, 1, 1), np.float32),
)
fed(
    "convt",
    lambda tf, a, b: tf.nn.conv2d_transpose(a, b, [tf.shape(a)[0], 6, 6, 1], 2),
    np.ones((2, 3, 3, 1), np.float32),
    np.ones((2, 2, 1, 1), np.float32),
)
fed(
    "convt2",
    lambda tf, a, b: tf.nn.conv2d_transpose(
        a, b, tf.stack([tf.shape(a)[0], tf.shape(a)[1] * 2, 6, 1]), [1, 2, 2, 1]
    ),
    np.ones((2, 3, 3, 1), np.float32),
    np.ones((2, 2, 1, 1), np.float32),
)
fed(
    "pool",
    lambda tf, a: tf.nn.max_pool2d(a, 2, 2, "SAME"),
    np.arange(9, dtype=np.float32).reshape(1, 3, 3, 1),
)
fed("dp", lambda tf, a, b: tf.dynamic_partition(a, b, 2), X, np.array([0, 1, 0], np.int32))
fed("fill", lambda tf, a: tf.fill([a, 2], 1.0), np.int32(3), slopes=False)
fed("addn", lambda tf, a, b: tf.add_n([a, b]), X, X)
fed("mse", lambda tf, a, b: tf.compat.v1.losses.mean_squared_error(a, b), X, X * 2)
fed("ln", lambda tf, a: tf.nn.moments(a, [0]), X)
fed("einsum", lambda tf, a, b: tf.einsum("ij,jk->ik", a, b), X, X.T)
fed("l2", lambda tf, a: tf.nn.l2_loss(a), X)
fed("am", lambda tf, a: tf.argmax(a, 1), X, slopes=False)
fed(
    "acc",
    lambda tf, a, b: tf.reduce_mean(
        tf.cast(tf.equal(tf.argmax(a, 1), tf.argmax(b, 1)), tf.float32)
    ),
    X,
    L,
    slopes=False,
)
fed("exp", lambda tf, a: tf.expand_dims(a, -1), X)
fed("sq", lambda tf, a: tf.squeeze(a, 1), X[:, :1])
fed("sq2", lambda tf, a: tf.squeeze(a), X[:, :1])
fed("seg", lambda tf, a, b: tf.math.segment_sum(a, b), X, np.array([0, 0, 1], np.int32))
fed("bias", lambda tf, a, b: tf.nn.bias_add(a, b), X, X[0])
fed("clip", lambda tf, a: tf.clip_by_norm(a, 0.5), X)
fed("tile", lambda tf, a, b: tf.tile(a, b), X, np.array([2, 1], np.int32))
fed("reshape", lambda tf, a, b: tf.reshape(a, b), X, np.array([2, -1], np.int32))
fed("rn", lambda tf, a: tf.shape(tf.random.normal(tf.shape(a))), X, slopes=False)


def rounded(values):
    """Return some elements of each value, rounded."""
    return [np.round(np.ravel(np.asarray(v, np.float64)), 3)[:5].tolist() for v in values]


def even(tf):
    """Return an initializer that gives numbers in order."""

    def initialise(shape, dtype=None, partition_info=None):
        count = int(np.prod(shape))
        return tf.reshape(tf.cast(tf.range(count), tf.float32) / count - 0.4, shape)

    return initialise


@program
def layers_by_name(tf2):
    tf = tf2.compat.v1
    even_ = {"kernel_initializer": even(tf)}
    x, training = tf.placeholder(tf.float32, [None, 8, 8, 3]), tf.placeholder(tf.bool, [])
    images = np.sin(np.arange(2 * 8 * 8 * 3, dtype=np.float32)).reshape(2, 8, 8, 3)
    penalty = {"kernel_regularizer": lambda w: 0.1 * tf.reduce_sum(w * w)}
    h = tf.layers.conv2d(x, 4, 3, padding="same", activation=tf.nn.relu, **even_, **penalty)
    h = tf.layers.batch_normalization(h, training=training)
    h = tf.layers.max_pooling2d(h, 2, 2)
    h = tf.layers.conv2d(h, 5, [3, 3], strides=(2, 2), name="second", **even_)
    deep = {"depthwise_initializer": even(tf), "pointwise_initializer": even(tf)}
    more = [
        tf.layers.conv2d_transpose(h, 2, 3, strides=2, padding="same", **even_),
        tf.layers.conv2d_transpose(h, 2, 3, strides=2, padding="valid", **even_),
        tf.layers.separable_conv2d(x, 4, 3, **deep),
        tf.layers.average_pooling2d(x, 3, 2, padding="same"),
        tf.layers.conv1d(x[:, 0], 3, 2, **even_),
    ]
    d = tf.layers.dense(
        tf.layers.flatten(h),
        7,
        tf.nn.tanh,
        activity_regularizer=lambda a: tf.reduce_sum(a * a),
        **even_,
    )
    d = tf.layers.batch_normalization(d, training=training, momentum=0.9, name="bn")
    d = tf.layers.dropout(d, 0.5, training=False)
    with tf.variable_scope("s"):
        e = tf.layers.dense(d, 2, name="out", **even_)
    with tf.variable_scope("s", reuse=True):
        again = tf.layers.dense(d, 2, name="out", **even_)
    g = tf.layers.dense(tf.reshape(d, [-1, 7, 1]), 2, **even_)
    own = tf.layers.Dense(3, use_bias=False, **even_)
    more += [d, e, again, g, own(d), own(d)]
    loss = tf.reduce_sum(e * e) + tf.reduce_sum(more[0]) + tf.reduce_sum(g)
    loss += tf.losses.get_regularization_loss()
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(updates):
        train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    made = [[v.name, v.shape.as_list()] for v in tf.global_variables()]
    made += [[t.shape.as_list() for t in [h, *more]], len(tf.trainable_variables())]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            made.append(rounded(session.run([loss, h, *more], {x: images, training: True})))
            session.run(train, {x: images, training: True})
        made.append(rounded(session.run([e, d, h], {x: images, training: False})))
    return made


CELLS = {
    "basic": lambda c, first: c.BasicRNNCell(4),
    "lstm": lambda c, first: c.BasicLSTMCell(4),
    "peepholes": lambda c, first: c.LSTMCell(
        4, use_peepholes=True, num_proj=3, cell_clip=0.5, initializer=first
    ),
    "gru": lambda c, first: c.GRUCell(4),
    "several": lambda c, first: c.MultiRNNCell([c.BasicLSTMCell(4), c.GRUCell(3)]),
    "dropout": lambda c, first: c.DropoutWrapper(c.BasicLSTMCell(4, forget_bias=0.0)),
    "residual": lambda c, first: c.ResidualWrapper(c.GRUCell(3)),
    "joined": lambda c, first: c.BasicLSTMCell(4, state_is_tuple=False),
}
SEQUENCES = np.sin(np.arange(2 * 5 * 3, dtype=np.float32)).reshape(2, 5, 3)


def recurrent(name, kind):
    """Enter a network of a cell whose steps are carried out in some way."""

    def run(tf2):
        tf = tf2.compat.v1
        x = tf.placeholder(tf.float32, [None, None if kind == "open" else 5, 3])
        with tf.variable_scope("m", initializer=even(tf)):
            cell = CELLS[name](tf.nn.rnn_cell, even(tf))
            if kind == "static":
                listed, state = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float32)
                made = tf.stack(listed, 1)
            else:
                lengths = tf.placeholder_with_default([2, 5], [None]) if kind == "ends" else None
                made, state = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)
        slopes = tf.gradients(tf.reduce_sum(made * made), tf.trainable_variables())
        states = tf2.nest.flatten(state)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            values = rounded(session.run([made, *states, *slopes], {x: SEQUENCES}))
        names = [v.name for v in tf.trainable_variables()]
        return values, names, made.shape.as_list(), [s.shape.as_list() for s in states]

    PROGRAMS[f"recurrent_{name}_{kind}"] = run


for _name, _kind in [
    *((name, "ends") for name in CELLS),
    *(("lstm", "fixed"), ("lstm", "open"), ("lstm", "static"), ("several", "static")),
]:
    recurrent(_name, _kind)


@program
def both_ways(tf2):
    tf = tf2.compat.v1
    c = tf.nn.rnn_cell
    x = tf.placeholder(tf.float32, [None, 5, 3])
    with tf.variable_scope("m", initializer=even(tf)):
        lengths = tf.placeholder_with_default([2, 5], [None])
        outputs, states = tf.nn.bidirectional_dynamic_rnn(
            c.LSTMCell(4), c.GRUCell(2), x, sequence_length=lengths, dtype=tf.float32
        )
        steps, last, first = tf.nn.static_bidirectional_rnn(
            c.LSTMCell(4), c.GRUCell(2), tf.unstack(x, axis=1), dtype=tf.float32, scope="b2"
        )
    found = [*outputs, *tf2.nest.flatten(states), *steps, *tf2.nest.flatten(last), first]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return rounded(session.run(found, {x: SEQUENCES})), [v.name for v in tf.global_variables()]


@program
def dimensions(tf2):
    tf = tf2.compat.v1
    x = tf.placeholder(tf.float32, [None, 4])
    tf.disable_v2_tensorshape()
    try:
        known, unknown = x.shape[1], x.shape[0]
        made = [str(x.shape), repr(x.shape), known.value, unknown.value, str(known * 2)]
        made += [str(unknown + 1), known == 4, unknown == 4, known < 5, f"{known}", int(known)]
        made += [tf.zeros([known, 3]).shape.as_list(), tf.dimension_value(known)]
        made += [[d.value for d in x.shape], repr(tf.dimension_at_index(x.shape, 0))]
        made += [isinstance(unknown, tf.Dimension), list(range(known)), str(7 - known)]
        try:
            known / 2
        except TypeError as error:
            made.append(str(error))
    finally:
        tf.enable_v2_tensorshape()
    return made, x.shape[1] == 4, x.shape[0]


@program
def metrics_over_batches(tf2):
    tf = tf2.compat.v1
    truth, found = (tf.placeholder(tf.int64, [None]) for _ in range(2))
    score, weight = (tf.placeholder(tf.float32, [None]) for _ in range(2))
    number = tf.cast(truth, tf.float32)
    m = tf.metrics
    pairs = [
        *(m.accuracy(truth, found), m.accuracy(truth, found, weight), m.mean(score)),
        *(m.mean(score, weight), m.mean_squared_error(number, score)),
        *(m.root_mean_squared_error(number, score), m.mean_absolute_error(number, score)),
        *(m.true_positives(truth, found), m.false_positives(truth, found)),
        *(m.true_negatives(truth, found), m.false_negatives(truth, found, weight)),
        *(m.precision(truth, found), m.recall(truth, found, weight), m.auc(truth, score)),
        *(m.auc(truth, score, weight), m.mean_iou(truth, found, 2)),
        *(m.mean_per_class_accuracy(truth, found, 2, weight), m.percentage_below(score, 0.5)),
        m.mean_tensor(tf.reshape(score, [4])),
    ]
    made = [len(tf.local_variables()), len(tf.global_variables())]
    made += [len(tf.get_collection("metric_variables"))]
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        for seed in range(3):
            draw = np.random.RandomState(seed)
            batch = {truth: draw.randint(0, 2, 4), found: draw.randint(0, 2, 4)}
            batch |= {score: draw.rand(4), weight: draw.rand(4)}
            made.append(rounded(session.run([step for _, step in pairs], batch)))
            made.append(rounded(session.run([value for value, _ in pairs])))
    return made
