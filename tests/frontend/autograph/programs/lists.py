"""Lists that loops of graphs append to, which TensorFlow refuses unless that is asked for."""


def stacked(tf):
    @tf.function
    def f(n):
        made = []
        for i in tf.range(n):
            made.append(tf.cast(i, tf.float32) * 2.0)
        return tf.stack(made), len(made), made[0]

    return f(tf.constant(4))


def appended_to_before_and_behind(tf):
    @tf.function
    def f(x):
        made = [tf.constant(0)]
        for v in x:
            if v > 1:
                made.append(v * 10)
        made.append(tf.constant(7))
        total = 0
        for each in made:
            total += each
        return tf.stack(made), total

    return f(tf.constant([1, 2, 3])), f(tf.constant([1]))


def joined_along_axes(tf):
    @tf.function
    def f(x):
        rows = []
        for i in tf.range(3):
            rows.append(x * tf.cast(i, tf.float32))
        return tf.stack(rows, axis=1), tf.concat(rows, 0), tf.concat(rows, axis=1)

    return f(tf.ones([2, 2]))


def with_break_and_while(tf):
    @tf.function
    def f(n):
        made, i = [], 1
        while i < 1000:
            i = i * n
            if i > 200:
                break
            made.append(i)
        return tf.stack(made)

    return f(tf.constant(3)), f(tf.constant(2))


def gradient(tf):
    @tf.function
    def f(x):
        made = []
        for i in tf.range(3):
            made.append(x * x)
            x = x + 1.0
        return tf.reduce_sum(tf.stack(made))

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, x)


def deque_of_python(tf):
    import collections  # noqa: PLC0415

    @tf.function
    def f(x):
        last = collections.deque(maxlen=2)
        for i in range(4):
            last.append(x * i)
        return list(last)

    return f(tf.constant(3))
