"""Loops over datasets and their iterators."""


def elements(tf):
    @tf.function
    def f(d):
        s = tf.constant(0, tf.int64)
        for x in d:
            s = s * 10 + x
        return s

    return f(tf.data.Dataset.range(5)), f(tf.data.Dataset.range(0))


def pairs_and_break(tf):
    @tf.function
    def f():
        s = 0.0
        for x, y in tf.data.Dataset.from_tensor_slices(([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])):
            if x > 2.5:
                break
            s += x * y
        return s

    return f()


def batches_and_continue(tf):
    @tf.function
    def f(d):
        s = tf.constant(0, tf.int64)
        for batch in d.batch(2):
            if tf.reduce_sum(batch) == 5:
                continue
            s += tf.reduce_max(batch)
        return s

    return f(tf.data.Dataset.range(5))


def numbered(tf):
    @tf.function
    def f(d):
        s = tf.constant(0, tf.int64)
        for i, x in enumerate(d):
            s += i * x
        return s

    return f(tf.data.Dataset.range(5))


def joined(tf):
    @tf.function
    def f(d):
        s = tf.constant(0, tf.int64)
        for x, y in zip(d, d.skip(1)):
            s += x * y
        return s

    return f(tf.data.Dataset.range(5))


def iterator_goes_on(tf):
    it = iter(tf.data.Dataset.range(10))

    @tf.function
    def f(it):
        s = tf.constant(0, tf.int64)
        for x in it:
            s += x
            if s > 4:
                break
        return s

    return f(it), f(it)


def training(tf):
    v = tf.Variable(0.0)

    @tf.function
    def train(d):
        n = 0
        for x in d:
            with tf.GradientTape() as tape:
                loss = (v - tf.cast(x, tf.float32)) ** 2
            v.assign_sub(0.1 * tape.gradient(loss, v))
            n += 1
        return v.read_value(), n

    d = tf.data.Dataset.range(5)
    return train(d), train(d)


def functions_of_elements(tf):
    def odd(x):
        if x % 2 == 1:
            return True
        return False

    d = tf.data.Dataset.range(6)
    return list(d.map(lambda x: x * 2 if x > 2 else x)), list(d.filter(odd))


def nested(tf):
    @tf.function
    def f(d):
        s = tf.constant(0, tf.int64)
        for x in d:
            for y in d.take(2):
                if x > y:
                    s += x - y
        return s

    return f(tf.data.Dataset.range(4))


def dictionaries(tf):
    @tf.function
    def f(d):
        total, seen = 0.0, 0
        for row in d:
            total += row["a"] * row["b"]
            seen += 1
        return {"total": total, "seen": seen}

    return f(tf.data.Dataset.from_tensor_slices({"a": [1.0, 2.0], "b": [3.0, 4.0]}))
