"""The first version around a training: savers, averages, old and new control flow, batches."""

import numpy as np


def input_queues_of_records(tf):
    import os
    import tempfile

    path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    with tf.python_io.TFRecordWriter(path) as w:
        for i in range(8):
            ex = tf.train.Example(
                features=tf.train.Features(
                    feature={
                        "x": tf.train.Feature(float_list=tf.train.FloatList(value=[i, i * 2.0])),
                        "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[i % 3])),
                        "t": tf.train.Feature(
                            bytes_list=tf.train.BytesList(value=[f"w{i}".encode()] * (i % 3))
                        ),
                    }
                )
            )
            w.write(ex.SerializeToString())
    names = tf.train.string_input_producer([path], num_epochs=2, shuffle=False)
    key, record = tf.TFRecordReader().read(names)
    f = tf.parse_single_example(
        record,
        {
            "x": tf.FixedLenFeature([2], tf.float32),
            "y": tf.FixedLenFeature([], tf.int64),
            "t": tf.VarLenFeature(tf.string),
            "none": tf.FixedLenFeature([1], tf.float32, default_value=[7.0]),
        },
    )
    x, y, t, n = tf.train.batch(
        [f["x"], f["y"], tf.sparse_tensor_to_dense(f["t"], default_value="-"), f["none"]],
        4,
        dynamic_pad=True,
    )
    out = []
    with tf.Session() as s:
        s.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=s, coord=coord)
        try:
            while not coord.should_stop():
                out.append(s.run([x, y, t, n]))
        except tf.errors.OutOfRangeError:
            out.append("end")
        finally:
            coord.request_stop()
        coord.join(threads)
    return out


def savers_and_partial_restore(tf):
    import os
    import tempfile

    folder = tempfile.mkdtemp()
    with tf.variable_scope("body"):
        a = tf.get_variable("a", [2], initializer=tf.constant_initializer(1.0))
        b = tf.get_variable("b", [], initializer=tf.constant_initializer(2.0))
    head = tf.get_variable("head", [3], initializer=tf.zeros_initializer())
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.reduce_sum(a * x + b, name="y")
    step = tf.Variable(0, name="step", trainable=False)
    up = tf.group(tf.assign_add(a, [1.0, 1.0]), tf.assign_add(step, 1))
    saver = tf.train.Saver(max_to_keep=2, keep_checkpoint_every_n_hours=100)
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        paths = []
        for _ in range(4):
            s.run(up)
            paths.append(saver.save(s, os.path.join(folder, "model"), global_step=step))
    state = tf.train.get_checkpoint_state(folder)
    names = [os.path.basename(p) for p in state.all_model_checkpoint_paths]
    listed = tf.train.list_variables(state.model_checkpoint_path)
    reader = tf.train.NewCheckpointReader(paths[-1])
    body = tf.train.Saver(tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="body"))
    renamed = tf.train.Saver({"body/b": head})
    with tf.Session() as s:
        body.restore(s, tf.train.latest_checkpoint(folder))
        un = s.run(tf.report_uninitialized_variables())
        s.run(tf.variables_initializer([head, step]))
        first = s.run([a, b, head, y], {x: [1.0, 2.0]})
        try:
            renamed.restore(s, paths[-1])
            wrong = "restored"
        except (ValueError, tf.errors.InvalidArgumentError):
            wrong = "shapes differ"
    with tf.Graph().as_default(), tf.Session() as s:
        again = tf.train.import_meta_graph(paths[-1] + ".meta")
        again.restore(s, paths[-1])
        g = tf.get_default_graph()
        second = s.run("y:0", {"x:0": [1.0, 1.0]}), [v.name for v in tf.global_variables()]
        w = g.get_tensor_by_name("body/a:0")
        third = s.run(w)
    tf.train.init_from_checkpoint(folder, {"body/": "body/"})
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        fourth = s.run([a, b])
    return (
        names,
        sorted(listed),
        reader.get_tensor("body/a"),
        reader.has_tensor("zzz"),
        un,
        first,
        wrong,
        second,
        third,
        fourth,
    )


def exponential_averages_evaluated(tf):
    import os
    import tempfile

    x = tf.placeholder(tf.float32, [None, 2])
    with tf.variable_scope("net"):
        w = tf.get_variable("w", [2, 1], initializer=tf.constant_initializer(0.5))
        y = tf.matmul(x, w)
    loss = tf.reduce_mean((y - 1.0) ** 2)
    step = tf.train.create_global_step()
    ema = tf.train.ExponentialMovingAverage(0.9, num_updates=step)
    op = tf.train.AdagradOptimizer(0.3).minimize(loss, step)
    with tf.control_dependencies([op]):
        train = ema.apply(tf.trainable_variables())
    avg_loss = tf.train.ExponentialMovingAverage(0.5)
    track = avg_loss.apply([loss])
    saver = tf.train.Saver()
    restored = tf.train.Saver(ema.variables_to_restore())
    path = os.path.join(tempfile.mkdtemp(), "m")
    rs = np.random.RandomState(0)
    a = rs.randn(5, 2)
    out = []
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for _ in range(4):
            s.run([train, track], {x: a})
            out.append(s.run([w, ema.average(w), avg_loss.average(loss)]))
        saver.save(s, path)
        restored.restore(s, path)
        out.append(s.run(w))
    return out, ema.average_name(w), sorted(ema.variables_to_restore())


def variables_of_all_kinds(tf):
    part = tf.get_variable(
        "part",
        [6, 2],
        partitioner=tf.fixed_size_partitioner(3),
        initializer=tf.constant_initializer(1.5),
    )
    with tf.variable_scope("a", use_resource=True, dtype=tf.float64):
        r = tf.get_variable("r", initializer=lambda: tf.ones([2], tf.float64))
    with tf.variable_scope(
        "a",
        reuse=tf.AUTO_REUSE,
        custom_getter=lambda getter, name, *a, **k: getter(name, *a, **k) * 2,
    ):
        doubled = tf.get_variable("s", [2], initializer=tf.ones_initializer())
    local = tf.get_local_variable("loc", [1], initializer=tf.zeros_initializer())
    init = tf.Variable([3.0, 4.0])
    dep = tf.Variable(init.initialized_value() * 2, name="dep")
    emb = tf.nn.embedding_lookup(part, [0, 3, 5], partition_strategy="div")
    sc = tf.scatter_update(init, [1], [9.0])
    with tf.control_dependencies([sc]):
        read = init.read_value()
    cnt = tf.count_up_to(tf.Variable(0, name="cnt"), 3)
    out = []
    with tf.Session() as s:
        s.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        out.append(s.run([r, doubled, local, dep, emb, read]))
        out.append([s.run(cnt) for _ in range(3)])
        try:
            s.run(cnt)
        except tf.errors.OutOfRangeError:
            out.append("limit")
        init.load([5.0, 6.0], s)
        out.append(init.eval(s))
    return out, [v.name for v in tf.global_variables()]


def gradients_by_hand_and_clipping(tf):
    x = tf.placeholder(tf.float32, [None, 2])
    w = tf.Variable([[1.0], [2.0]])
    h = tf.matmul(x, w)
    with tf.name_scope("n"):
        y = tf.identity(h)
    loss = tf.reduce_sum(tf.log1p(tf.exp(y)))
    g = tf.gradients(loss, [w, x], grad_ys=tf.constant(2.0))
    h2 = tf.hessians(loss, w)
    gg = tf.gradients(g[0], w, stop_gradients=[x])
    agg = tf.gradients([loss, tf.reduce_sum(w)], w, aggregation_method=tf.AggregationMethod.ADD_N)
    none = tf.gradients(loss, tf.Variable(1.0))
    clipped = tf.clip_by_norm(g[0], 0.5)
    acc = tf.Variable(tf.zeros_like(w), trainable=False)
    zero = acc.assign(tf.zeros_like(acc))
    add = acc.assign_add(g[0])
    train = tf.train.GradientDescentOptimizer(0.01).apply_gradients([(acc, w)])
    feed = {x: [[1.0, -1.0], [0.5, 2.0]]}
    out = []
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        out.append(s.run([g, h2, gg, agg, clipped], feed))
        for _ in range(2):
            s.run(zero)
            for _ in range(3):
                s.run(add, feed)
            s.run(train)
            out.append(s.run(w))
    return out, none
