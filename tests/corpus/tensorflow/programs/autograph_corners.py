"""Functions as autograph meets them: loops left early, methods, recursion, lists, unknown ranks."""

import numpy as np


def nested_loops_with_breaks(tf):
    @tf.function
    def first_pair(xs, target):
        found_i, found_j = -1, -1
        for i in tf.range(tf.shape(xs)[0]):
            for j in tf.range(i + 1, tf.shape(xs)[0]):
                if xs[i] + xs[j] == target:
                    found_i, found_j = i, j
                    break
            if found_i >= 0:
                break
        return found_i, found_j

    xs = tf.constant([1, 5, 9, 14, 3])
    return first_pair(xs, 17), first_pair(xs, 100)


def classes_with_methods_and_state(tf):
    class Counter:
        def __init__(self):
            self.total = tf.Variable(0.0)
            self._scale = tf.Variable(2.0)

        @property
        def scale(self):
            return self._scale

        @staticmethod
        def limit(x):
            if x > 10.0:
                x = tf.constant(10.0)
            return x

        @classmethod
        def make(cls):
            return cls()

        @tf.function
        def add(self, x):
            y = Counter.limit(x)
            if y > 5.0:
                self.total.assign_add(y * self.scale)
            else:
                self.total.assign_sub(1.0)
            return self.total.read_value()

        def __call__(self, xs):
            return self.loop(xs)

        @tf.function
        def loop(self, xs):
            for x in xs:
                self.add(x)
            return self.total + 0.0

    a, b = Counter.make(), Counter()
    out = [a.add(tf.constant(v)) for v in (1.0, 6.0, 30.0)]
    b([1.0, 2.0])
    return out, b(tf.constant([7.0, 1.0, 20.0]))


def recursion_and_mutual_functions(tf):
    @tf.function
    def fact(n):
        if n <= 1:
            return 1
        return n * fact(n - 1)

    def even(n):
        return True if n == 0 else odd(n - 1)

    def odd(n):
        return False if n == 0 else even(n - 1)

    @tf.function
    def parity(x):
        if even(6):
            x = x + 1
        if odd(4):
            x = x * 100
        return x

    def power(x, n):
        if n == 0:
            return tf.ones_like(x)
        half = power(x, n // 2)
        return half * half * (x if n % 2 else 1.0)

    g = tf.function(power)
    x = tf.constant([1.5, 2.0])
    return fact(6), parity(tf.constant(2)), g(x, 13)


def comprehensions_lambdas_and_with(tf):
    @tf.function
    def mixed(xs):
        rows = [x * float(i) for i, x in enumerate(tf.unstack(xs)) if i != 1]
        table = {f"k{i}": r + 1 for i, r in enumerate(rows)}
        squares = list(map(lambda r: r * r if tf.reduce_max(r) > 3 else -r, rows))
        with tf.name_scope("inside"):
            if tf.reduce_sum(xs) > 10:
                s = sum(squares)
            else:
                s = rows[0]
        try:
            t = tf.reshape(s, (-1, 7))
        except (ValueError, tf.errors.InvalidArgumentError):
            t = s[None]
        total, *rest = squares
        total += sum(rest, 0.0)
        *head, last = rows
        return table, t, total, last, [h for h in head]

    @tf.function
    def tape_in_with(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for i in tf.range(3):
                if i == 1:
                    y = y * x
                else:
                    y = tf.sin(y)
        return tape.gradient(y, x)

    x = tf.reshape(tf.range(12.0), (4, 3))
    return mixed(x), mixed(-x), tape_in_with(x)


def decorated_functions(tf):
    import functools

    def twice(f):
        @functools.wraps(f)
        def inner(*args, **kwargs):
            return f(f(*args, **kwargs), **kwargs)

        return inner

    def scaled(by):
        def wrap(f):
            def g(x, **kw):
                return by * f(x, **kw)

            return g

        return wrap

    @tf.function
    @twice
    @scaled(0.5)
    def relu_like(x, leak=0.1):
        y = x
        if tf.reduce_mean(x) < 0:
            y = x * leak
        return y

    @tf.function
    def outer(x):
        @tf.custom_gradient
        def clip(v):
            def back(g):
                return tf.clip_by_value(g, -1.0, 1.0)

            return v * 3, back

        with tf.GradientTape() as t:
            t.watch(x)
            y = tf.reduce_sum(clip(x) ** 2)
        return y, t.gradient(y, x)

    part = tf.function(functools.partial(relu_like.python_function, leak=0.3))
    x = tf.constant([-2.0, 1.0, -0.05])
    return relu_like(x), relu_like(-x, leak=0.2), part(x), outer(x)


def lists_dicts_and_tuples_in_loops(tf):
    import collections

    State = collections.namedtuple("State", ["a", "b"])

    @tf.function
    def run(n, x):
        s = State(x, {"z": tf.zeros_like(x), "k": [x, x + 1]})
        for i in tf.range(n):
            z = s.b["z"] + s.a
            if i % 2 == 0:
                s = s._replace(a=s.a * 2, b={"z": z, "k": [s.b["k"][1], z]})
            else:
                s = State(a=s.a - 1, b={"z": z, "k": s.b["k"]})
        return s

    @tf.function
    def python_list_over_tensors(x):
        acc = []
        for i in range(4):
            if i == 2:
                continue
            acc.append(x[i] ** 2)
        acc[1] += 5.0
        d = {}
        d["sum"] = tf.add_n(acc)
        d.setdefault("max", tf.reduce_max(tf.stack(acc)))
        a, (b, c) = acc[0], (acc[1], acc[2])
        return d, a, b, c, acc[::-1]

    r = run(tf.constant(5), tf.constant([1.0, 2.0]))
    return r.a, r.b, python_list_over_tensors(tf.range(4.0))


def unknown_ranks_through_functions(tf):
    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
    def centre(x):
        m = tf.reduce_mean(x)
        y = tf.nn.relu(x - m)
        flat = tf.reshape(y, [-1])
        if tf.rank(x) > 1:
            flat = flat[: tf.shape(x)[0]]
        return y / (1.0 + tf.reduce_max(tf.abs(flat))), tf.size(x)

    @tf.function(
        input_signature=[tf.TensorSpec([None, None], tf.float32), tf.TensorSpec([None], tf.int32)]
    )
    def picked(x, i):
        with tf.GradientTape() as t:
            t.watch(x)
            logits = tf.gather(x, i)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels=i % tf.shape(x)[1], logits=logits
                )
            )
        return loss, tf.convert_to_tensor(t.gradient(loss, x))

    rs = np.random.RandomState(1)
    x = tf.constant(rs.randn(4, 3), tf.float32)
    return (
        centre(tf.constant(3.0)),
        centre(tf.range(4.0)),
        centre(x),
        centre(x[None]),
        picked(x, tf.constant([0, 3])),
        picked(x[:, :2], tf.constant([1, 1, 2])),
    )


def functions_given_to_functions(tf):
    @tf.function
    def apply(f, x, n):
        for _ in tf.range(n):
            x = f(x)
        return x

    @tf.function
    def newton(f, x0, tol=1e-6):
        x = x0
        delta = tf.constant(1.0)
        steps = 0
        while tf.abs(delta) > tol and steps < 50:
            with tf.GradientTape() as t:
                t.watch(x)
                y = f(x)
            delta = y / t.gradient(y, x)
            x = x - delta
            steps += 1
        return x, steps

    def f(v):
        return v * v - 2.0 if v > 0.5 else v + 1.0

    conc = newton.get_concrete_function(f, tf.TensorSpec([], tf.float32))
    return (
        apply(lambda v: v + 1, tf.constant(1), tf.constant(4)),
        apply(tf.square, tf.constant(1.1), tf.constant(3)),
        newton(f, tf.constant(3.0)),
        conc(tf.constant(10.0)),
        newton.experimental_get_tracing_count(),
    )


def arrays_written_in_loops(tf):
    @tf.function
    def rnn(x, w, lengths):
        b, t = tf.shape(x)[0], tf.shape(x)[1]
        h = tf.zeros([b, 3])
        hs = tf.TensorArray(tf.float32, size=t, element_shape=[None, 3])
        for i in tf.range(t):
            new = tf.tanh(tf.concat([x[:, i], h], 1) @ w)
            keep = tf.cast(i < lengths, tf.float32)[:, None]
            h = keep * new + (1 - keep) * h
            hs = hs.write(i, h)
        return tf.transpose(hs.stack(), [1, 0, 2]), h

    @tf.function
    def grow(n):
        x = tf.zeros([0, 2])
        i = 0
        while i < n:
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(x, tf.TensorShape([None, 2]))]
            )
            x = tf.concat(
                [
                    x,
                    tf.fill([i + 1, 2], float(i) if isinstance(i, int) else tf.cast(i, tf.float32)),
                ],
                0,
            )
            i += 1
        return x

    rs = np.random.RandomState(3)
    x, w = (
        tf.constant(rs.randn(2, 5, 4), tf.float32),
        tf.Variable(tf.constant(rs.randn(7, 3), tf.float32)),
    )

    @tf.function
    def train(x, lengths):
        with tf.GradientTape() as t:
            seq, last = rnn(x, w, lengths)
            loss = tf.reduce_sum(seq**2) + tf.reduce_sum(last)
        g = t.gradient(loss, w)
        w.assign_sub(0.01 * g)
        return loss, g

    r = [train(x, tf.constant([5, 2])) for _ in range(4)]
    return r, grow(tf.constant(4))
