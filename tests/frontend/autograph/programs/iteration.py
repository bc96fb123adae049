"""What is gone through: tensors, Python's values, and both."""


def rows_of_a_tensor(tf):
    @tf.function
    def f(x):
        s = tf.zeros([2])
        for row in x:
            s = s * 2.0 + row
        return s

    return f(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))


def elements_of_unknown_count(tf):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def f(x):
        s = 0
        for v in x:
            if v > 0:
                s += v
            else:
                s -= 1
        return s

    return f(tf.constant([1, -2, 3])), f(tf.constant([5]))


def rows_of_a_variable(tf):
    v = tf.Variable([[1, 2], [3, 4]])

    @tf.function
    def f():
        s = 0
        for row in v:
            s = s * 100 + tf.reduce_sum(row)
        return s

    first = f()
    v.assign([[5, 6], [7, 8]])
    return first, f()


def no_rows(tf):
    @tf.function
    def f(x):
        s = 7
        for row in x:
            s += row
        return s

    return f(tf.zeros([0], tf.int32))


def python_values(tf):
    @tf.function
    def f(x):
        for a, b in [(1, 2), (3, 4)]:
            x = x * a + b
        for name, value in {"p": 5, "q": 6}.items():
            if name == "q":
                x += value
        for i, v in enumerate((10, 20)):
            x += i * v
        for p, q in zip([1, 2], [3, 4]):
            x -= p * q
        return x

    return f(tf.constant(1))


def list_of_tensors(tf):
    @tf.function
    def f(xs):
        total = tf.constant(0)
        for x in xs:
            if x > 1:
                total += x
        return total

    return f([tf.constant(v) for v in (1, 2, 3)])


def comprehensions(tf):
    @tf.function
    def f(x):
        a = [x + i for i in range(3)]
        b = {i: x * i for i in range(2)}
        c = sum([v * v for v in a])
        return a, b[1], c, tf.stack([v for v in a if v is not x])

    return f(tf.constant(2))


def generators_of_python(tf):
    seen = []

    @tf.function
    def f(x):
        def give():
            for i in range(5):
                seen.append(i)
                yield i

        it = give()
        for i in it:
            x += i
            if i == 2:
                break
        rest = list(it)
        return x, rest

    return f(tf.constant(0)), seen


def iterator_that_is_left(tf):
    @tf.function
    def f(x):
        it = iter([1, 2, 3, 4, 5])
        for v in it:
            x += v
            if v >= 2:
                break
        for v in it:
            x += 10 * v
        return x

    return f(tf.constant(0))


def python_else(tf):
    @tf.function
    def f(x, stop):
        for i in range(3):
            if i == stop:
                x += 100
                break
        else:
            x += 1
        return x

    return f(tf.constant(0), 1), f(tf.constant(0), 9)


def unpacked_targets(tf):
    @tf.function
    def f(x):
        s = 0
        for pair in x:
            a, b = tf.unstack(pair)
            s += a * b
        return s

    return f(tf.constant([[1, 2], [3, 4]]))


def target_that_is_an_attribute(tf):
    class Box:
        pass

    @tf.function
    def f():
        box = Box()
        total = 0
        for box.v in [1, 2, 3]:
            total += box.v
        return total

    return f()


def rows_of_a_matrix_product(tf):
    @tf.function
    def f(a, b):
        s = 0.0
        for row in tf.matmul(a, b):
            s += tf.reduce_max(row)
        return s

    a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return f(a, a)


def length(tf):
    @tf.function
    def f(x):
        return len(x) + len([1, 2]), x * len(x)

    return f(tf.constant([1, 2, 3]))


def numbers_of_tensors(tf):
    @tf.function
    def f(x):
        return int(x), float(x), abs(x), int(2.5), float("1.5")

    return f(tf.constant(-2.7))


def tensor_in_a_tensor_loop(tf):
    @tf.function
    def f(x, y):
        s = 0
        for a in x:
            for b in y:
                s += a * b
        return s

    return f(tf.constant([1, 2]), tf.constant([3, 4, 5]))


def running_maximum(tf):
    @tf.function
    def f(x):
        best, where, i = x[0], 0, 0
        for v in x:
            if v > best:
                best, where = v, i
            i += 1
        return best, where

    return f(tf.constant([3, 9, 2, 9]))
