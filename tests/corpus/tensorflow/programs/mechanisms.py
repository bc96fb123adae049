"""What the system offers beside operations: tapes, functions, checkpoints, data, errors."""

import tempfile

import numpy as np


def higher_orders_of_gradients(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as t3:
        with tf.GradientTape() as t2:
            with tf.GradientTape() as t1:
                y = x**4 + tf.sin(x)
            first = t1.gradient(y, x)
        second = t2.gradient(first, x)
    third = t3.gradient(second, x)
    v = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(v)
        z = tf.stack([tf.reduce_sum(v**2), tf.reduce_prod(v)])
        w = v * v
    return first, second, third, tape.jacobian(z, v), tape.jacobian(w, v)


def gradients_of_ones_own(tf):
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)

        def grad(upstream):
            return upstream * (1 - 1 / (1 + e))

        return tf.math.log(1 + e), grad

    @tf.custom_gradient
    def reversed_gradient(x):
        return tf.identity(x), lambda dy: -0.5 * dy

    @tf.custom_gradient
    def clipped(x):
        return x, lambda dy: tf.clip_by_norm(dy, 0.5)

    @tf.function
    def both(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = log1pexp(x) + reversed_gradient(x) ** 2 + clipped(x * 3.0)
        return y, tape.gradient(y, x)

    return [both(tf.constant(v)) for v in (0.0, 1.0, 100.0)]


def stopped_and_missing_gradients(tf):
    x, y = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        z = x * tf.stop_gradient(x * y)
        with tape.stop_recording():
            side = x * x
    missing = tape.gradient(z, y)
    zero = tape.gradient(z, y, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    grads = tape.gradient({"z": z}, {"x": x, "y": y})
    return missing is None, zero, grads["x"], grads["y"] is None, side


def tf_function_and_retracing(tf):
    traced = []

    @tf.function
    def double(a):
        traced.append(a.dtype.name)
        return a + a

    made = [double(tf.constant(1)), double(tf.constant(1.5)), double(tf.constant([1, 2]))]
    made += [double(tf.constant(7))]
    concrete = double.get_concrete_function(tf.TensorSpec([None], tf.float64))
    made.append(concrete(tf.constant([0.5, 0.25], tf.float64)))

    class Counter(tf.Module):
        def __init__(self):
            super().__init__()
            self.count = None

        @tf.function
        def __call__(self):
            if self.count is None:
                self.count = tf.Variable(0)
            return self.count.assign_add(1)

    counter = Counter()
    return made, sorted(set(traced)), [int(counter()) for _ in range(3)]


def autograph_of_everything(tf):
    @tf.function
    def fizzbuzz(n):
        fizz, buzz, both = 0, 0, 0
        for i in tf.range(1, n + 1):
            if i % 15 == 0:
                both += 1
            elif i % 3 == 0:
                fizz += 1
            elif i % 5 == 0:
                buzz += 1
            else:
                continue
        return fizz, buzz, both

    @tf.function
    def bisect(f, low, high):
        while high - low > 1e-6:
            middle = (low + high) / 2.0
            if f(middle) > 0.0:
                high = middle
            else:
                low = middle
        return (low + high) / 2.0

    @tf.function
    def first_negative(x):
        found = tf.constant(0.0)
        for v in x:
            if v < 0:
                found = v
                break
        return found

    @tf.function
    def prefix(x, n):
        total = tf.constant(0.0)
        for i in tf.range(n):
            total += tf.reduce_sum(x[:i])
        return total, x[:n], x[-n:]

    return (
        fizzbuzz(tf.constant(31)),
        bisect(lambda x: x * x - 2.0, tf.constant(0.0), tf.constant(2.0)),
        first_negative(tf.constant([1.0, -3.0, -4.0])),
        first_negative(tf.constant([1.0])),
        prefix(tf.constant([1.0, 2.0, 3.0, 4.0]), tf.constant(3)),
    )


def nested_structures_and_maps(tf):
    @tf.function
    def forward(batch):
        made = {"sum": tf.add_n([batch["a"], batch["b"][0]]), "rest": (batch["b"][1],)}
        return tf.nest.map_structure(lambda t: t * 2, made)

    batch = {"a": tf.ones([2]), "b": (tf.zeros([2]), tf.constant([3, 4]))}
    flat = tf.nest.flatten(batch)
    pairs = tf.map_fn(lambda p: (p[0] * p[1], p[0]), (tf.range(3.0), tf.range(3.0) + 1.0))
    cubes = tf.vectorized_map(lambda v: tf.reduce_sum(v**3), tf.reshape(tf.range(6.0), [3, 2]))
    run = tf.scan(lambda a, v: (a[0] + v, a[1] * v), tf.constant([1, 2, 3, 4]), (0, 1))
    return forward(batch), len(flat), pairs, cubes, run


def pipeline_of_data(tf):
    numbers = tf.data.Dataset.range(20)
    even = numbers.filter(lambda x: x % 2 == 0).map(lambda x: x * x, num_parallel_calls=2)
    windows = numbers.window(4, shift=3, drop_remainder=True).flat_map(lambda w: w.batch(4))
    zipped = tf.data.Dataset.zip((even, even.skip(1))).take(3)
    padded = (
        tf.data.Dataset.range(1, 5)
        .map(lambda n: tf.fill([n], n))
        .padded_batch(2, padded_shapes=[None])
    )
    total = even.reduce(np.int64(0), lambda a, x: a + x)
    interleaved = tf.data.Dataset.range(3).interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2, block_length=1
    )

    def generate():
        for i in range(3):
            yield i, [float(i)] * (i + 1)

    generated = tf.data.Dataset.from_generator(
        generate,
        output_signature=(tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.float32)),
    )
    return (
        list(even.as_numpy_iterator()),
        [w.numpy() for w in windows],
        [(a, b) for a, b in zipped],
        list(padded),
        total,
        list(interleaved),
        [(i, v) for i, v in generated],
        list(even.batch(4, drop_remainder=True).prefetch(tf.data.AUTOTUNE).enumerate(1)),
    )


def records_of_examples(tf):
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/data.tfrecord"
        with tf.io.TFRecordWriter(path) as writer:
            for i in range(4):
                feature = {
                    "x": tf.train.Feature(float_list=tf.train.FloatList(value=[i, i / 2])),
                    "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[i % 2])),
                    "s": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"n%d" % i])),
                }
                example = tf.train.Example(features=tf.train.Features(feature=feature))
                writer.write(example.SerializeToString())
        description = {
            "x": tf.io.FixedLenFeature([2], tf.float32),
            "y": tf.io.FixedLenFeature([], tf.int64),
            "s": tf.io.FixedLenFeature([], tf.string, default_value=""),
        }
        data = tf.data.TFRecordDataset(path).map(
            lambda record: tf.io.parse_single_example(record, description)
        )
        return [(e["x"], e["y"], e["s"]) for e in data]


def checkpoint_and_manager(tf):
    class Net(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([1.0, 2.0])
            self.layers = [tf.Variable(3.0), tf.Variable(4.0)]

    net, step = Net(), tf.Variable(0)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = tf.train.Checkpoint(step=step, net=net)
        manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
        for _ in range(3):
            step.assign_add(1)
            net.w.assign(net.w * 2.0)
            manager.save()
        other, other_step = Net(), tf.Variable(0)
        status = tf.train.Checkpoint(step=other_step, net=other).restore(manager.latest_checkpoint)
        status.assert_existing_objects_matched()
        keys = sorted(k for k, _ in tf.train.list_variables(folder) if "step" in k)
        return other.w, other_step, other.layers[1], len(manager.checkpoints), keys


def saved_and_loaded_model(tf):
    class Adder(tf.Module):
        def __init__(self):
            super().__init__()
            self.bias = tf.Variable(1.5)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def add(self, x):
            if tf.reduce_sum(x) > 0:
                return x + self.bias
            return x - self.bias

    module = Adder()
    module.bias.assign(2.5)
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder)
        loaded = tf.saved_model.load(folder)
        return loaded.add(tf.constant([1.0, 2.0])), loaded.add(tf.constant([-5.0])), loaded.bias


def errors_by_their_names(tf):
    seen = []

    def attempt(call):
        try:
            call()
        except tf.errors.InvalidArgumentError:
            seen.append("invalid argument")
        except ValueError:
            seen.append("value")
        except TypeError:
            seen.append("type")
        else:
            seen.append("nothing")

    @tf.function
    def checked(x):
        tf.debugging.assert_positive(x, message="not positive")
        with tf.control_dependencies([tf.debugging.assert_less(x, 10)]):
            return tf.identity(x) * 2

    attempt(lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])))
    attempt(lambda: tf.ones([2]) + tf.ones([3]))
    attempt(lambda: tf.constant(1) + tf.constant(1.0))
    attempt(lambda: tf.reshape(tf.ones([4]), [3]))
    attempt(lambda: tf.debugging.check_numerics(tf.constant([1.0, np.nan]), "bad"))
    attempt(lambda: tf.debugging.assert_equal(1, 2))
    attempt(lambda: tf.debugging.assert_shapes([(tf.ones([2, 3]), ("N", "N"))]))
    attempt(lambda: tf.ensure_shape(tf.ones([2]), [3]))
    attempt(lambda: tf.linalg.cholesky(tf.constant([[1.0, 2.0], [2.0, 1.0]])))
    attempt(lambda: tf.Variable([1.0, 2.0]).assign([1.0, 2.0, 3.0]))
    attempt(lambda: checked(tf.constant(3)))
    attempt(lambda: checked(tf.constant(-3)))
    attempt(lambda: checked(tf.constant(30)))
    attempt(lambda: tf.gather(tf.ones([3]), 5))
    attempt(lambda: tf.concat([tf.ones([2, 2]), tf.ones([3, 3])], axis=0))
    attempt(lambda: tf.stack([tf.ones([2]), tf.ones([3])]))
    return seen


def random_numbers_of_seeds(tf):
    tf.random.set_seed(5)
    a = tf.random.normal([3])
    b = tf.random.uniform([2], minval=0, maxval=10, dtype=tf.int32, seed=1)
    generator = tf.random.Generator.from_seed(3)
    c, d = generator.normal([2]), generator.uniform([2])
    e = tf.random.stateless_uniform([3], seed=(1, 2))
    f = tf.random.stateless_categorical(tf.math.log([[0.2, 0.8]]), 5, seed=[4, 5])
    h = tf.random.truncated_normal([2], seed=7)

    @tf.function
    def draw():
        return tf.random.uniform([2], seed=9)

    return a, b, c, d, e, f, h, draw(), draw()


def indices_slices_and_masks(tf):
    x = tf.reshape(tf.range(24), [2, 3, 4])
    v = tf.Variable(tf.zeros([4, 2]))
    v[1].assign([5.0, 6.0])
    v.scatter_nd_update([[0, 1], [3, 0]], [1.0, 2.0])
    mask = tf.constant([[True, False, True], [False, True, False]])
    updated = tf.tensor_scatter_nd_update(x[0], [[0, 0], [2, 3]], [100, 200])
    sparse = tf.sparse.SparseTensor([[0, 1], [2, 0]], [3.0, 4.0], [3, 3])
    return (
        x[..., ::2],
        x[:, tf.newaxis, 1, -2:],
        x[1][x[1] % 3 == 0],
        tf.boolean_mask(x, mask),
        tf.gather(x, [2, 0], axis=2),
        tf.gather_nd(x, [[0, 1], [1, 2]]),
        tf.where(x > 20),
        updated,
        v,
        tf.sparse.to_dense(sparse) @ tf.ones([3, 1]),
        tf.sparse.sparse_dense_matmul(sparse, tf.eye(3)),
    )


def strategies_and_variables(tf):
    strategy = tf.distribute.get_strategy()
    with strategy.scope():
        v = tf.Variable(2.0, aggregation=tf.VariableAggregation.MEAN)

    @tf.function
    def replica(x):
        return v.assign_add(x)

    per_replica = strategy.run(replica, args=(tf.constant(3.0),))
    total = strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)
    shadow = tf.train.ExponentialMovingAverage(decay=0.5)
    shadow.apply([v])
    v.assign(1.0)
    shadow.apply([v])
    return total, v, shadow.average(v), strategy.num_replicas_in_sync
