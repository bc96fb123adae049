"""Gradients through choices and loops."""


def of_a_choice(tf):
    @tf.function
    def f(x):
        if x > 0.0:
            return x * x
        return x * 3.0

    found = []
    for v in (2.0, -2.0):
        x = tf.constant(v)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        found.append(tape.gradient(y, x))
    return found


def of_a_loop(tf):
    @tf.function
    def power(x, n):
        y = tf.ones_like(x)
        for _ in tf.range(n):
            y = y * x
        return y

    x = tf.constant([1.5, -2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = power(x, tf.constant(4))
    return y, tape.gradient(y, x)


def of_a_while(tf):
    @tf.function
    def f(x):
        while tf.reduce_sum(x) < 20.0:
            x = x * 2.0
        return x

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, x)


def tape_inside(tf):
    @tf.function
    def f(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(n):
                if y > 10.0:
                    y = y + 1.0
                else:
                    y = y * x
        return y, tape.gradient(y, x)

    return f(tf.constant(3.0), tf.constant(4))


def tape_in_the_body(tf):
    w = tf.Variable(5.0)

    @tf.function
    def train(n):
        for _ in tf.range(n):
            with tf.GradientTape() as tape:
                loss = (w - 2.0) ** 2
            w.assign_sub(0.1 * tape.gradient(loss, w))
        return w.read_value()

    return train(tf.constant(10)), w


def of_variables(tf):
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def f(x):
        h = x
        for i in tf.range(3):
            if i > 0:
                h = h * w
            else:
                h = h + w
        return tf.reduce_sum(h)

    with tf.GradientTape() as tape:
        y = f(tf.constant([1.0, 1.0]))
    return y, tape.gradient(y, w)


def of_tensor_arrays(tf):
    @tf.function
    def f(x):
        ta = tf.TensorArray(tf.float32, size=3)
        state = tf.zeros([])
        for i in tf.range(3):
            state = state * 0.5 + x[i]
            ta = ta.write(i, state * state)
        return tf.reduce_sum(ta.stack())

    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, x)


def through_rows(tf):
    @tf.function
    def f(x):
        s = 1.0
        for row in x:
            s = s * tf.reduce_sum(row)
        return s

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, x)


def with_break(tf):
    @tf.function
    def f(x):
        y = x
        for i in tf.range(10):
            if y > 30.0:
                break
            y = y * x
        return y

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, x)


def with_early_return(tf):
    @tf.function
    def f(x):
        if x < 0.0:
            return tf.exp(x)
        y = x * x
        if y > 4.0:
            return y * x
        return y

    made = []
    for v in (-1.0, 1.0, 3.0):
        x = tf.constant(v)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        made.append(tape.gradient(y, x))
    return made


def gradient_descent(tf):
    @tf.function
    def fit(x, y, steps):
        w, b = tf.constant(0.0), tf.constant(0.0)
        for _ in tf.range(steps):
            with tf.GradientTape() as tape:
                tape.watch([w, b])
                loss = tf.reduce_mean((w * x + b - y) ** 2)
            gw, gb = tape.gradient(loss, [w, b])
            w, b = w - 0.1 * gw, b - 0.1 * gb
        return w, b

    x = tf.constant([0.0, 1.0, 2.0])
    return fit(x, 2.0 * x + 1.0, tf.constant(50))


def of_expressions(tf):
    @tf.function
    def relu(x):
        return x if x > 0.0 else 0.1 * x

    found = []
    for v in (3.0, -3.0):
        x = tf.constant(v)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = relu(x) * 2.0
        found.append(tape.gradient(y, x))
    return found


def recurrent_cell(tf):
    class Cell(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([[0.5, -0.2], [0.1, 0.3]])

        @tf.function
        def __call__(self, xs, lengths):
            state = tf.zeros([2, 2])
            for t in tf.range(tf.shape(xs)[0]):
                new = tf.tanh(xs[t] + tf.matmul(state, self.w))
                state = tf.where((t < lengths)[:, None], new, state)
            return state

    cell = Cell()
    xs = tf.reshape(tf.range(12, dtype=tf.float32), [3, 2, 2]) / 10.0
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(cell(xs, tf.constant([3, 2])))
    return y, tape.gradient(y, cell.w)


def second_order(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x * x * x if x > 0.0 else x * x
            g = inner.gradient(y, x)
        return g, outer.gradient(g, x)

    return f(tf.constant(2.0)), f(tf.constant(-2.0))
