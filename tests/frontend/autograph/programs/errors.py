"""What is refused: the class of the error is what TensorFlow's is derived from."""


def defined_in_one_branch(tf):
    @tf.function
    def f(x):
        if x > 0:
            y = x
        return y

    return f(tf.constant(1))


def types_of_branches(tf):
    @tf.function
    def f(x):
        if x > 0:
            y = x
        else:
            y = 1.5
        return y

    return f(tf.constant(1))


def structures_of_branches(tf):
    @tf.function
    def f(x):
        if x > 0:
            y = (x, x)
        else:
            y = (x, x, x)
        return y

    return f(tf.constant(1))


def none_in_one_branch(tf):
    @tf.function
    def f(x):
        y = None
        if x > 0:
            y = x
        return y

    return f(tf.constant(1))


def return_in_one_branch(tf):
    @tf.function
    def f(x):
        if x > 0:
            return x

    return f(tf.constant(1))


def shape_changes_in_a_loop(tf):
    @tf.function
    def f(n):
        v = tf.constant([1])
        for _ in tf.range(n):
            v = tf.concat([v, v], 0)
        return v

    return f(tf.constant(2))


def type_changes_in_a_loop(tf):
    @tf.function
    def f(n):
        v = tf.constant(1)
        for _ in tf.range(n):
            v = tf.cast(v, tf.float32)
        return v

    return f(tf.constant(2))


def undefined_before_a_loop(tf):
    @tf.function
    def f(n):
        while n > 0:
            y = y + 1  # noqa: F821
            n -= 1
        return y

    return f(tf.constant(2))


def list_grows_in_a_loop(tf):
    @tf.function
    def f(n):
        v = []
        for i in tf.range(n):
            v = v + [i]
        return v

    return f(tf.constant(2))


def condition_is_a_number(tf):
    @tf.function
    def f(x):
        if x:
            return 1
        return 2

    return f(tf.constant(1))


def condition_is_a_vector(tf):
    @tf.function
    def f(x):
        if x > 0:
            return 1
        return 2

    return f(tf.constant([1, 2]))


def loop_over_a_scalar(tf):
    @tf.function
    def f(x):
        for v in x:
            x += v
        return x

    return f(tf.constant(1))


def python_errors(tf):
    @tf.function
    def f(x):
        if x > 0:
            y = {}["missing"]
        else:
            y = x
        return y

    return f(tf.constant(1))


def raised_in_a_branch(tf):
    @tf.function
    def f(x):
        if x > 0:
            raise ValueError("no")
        return x

    return f(tf.constant(-1))


def unbound_in_python(tf):
    @tf.function
    def f(x):
        if x is None:
            y = 1
        return y

    return f(tf.constant(1))


def function_by_a_tensor(tf):
    @tf.function
    def f(x):
        g = lambda v: v  # noqa: E731
        if x > 0:
            g = lambda v: -v  # noqa: E731
        return g(x)

    return f(tf.constant(1))


def not_of_a_number(tf):
    @tf.function
    def f(x):
        return not x

    return f(tf.constant(1))


def invariant_that_is_too_narrow(tf):
    @tf.function
    def f(n):
        v = tf.constant([1])
        for _ in tf.range(n):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape([1]))])
            v = tf.concat([v, v], 0)
        return v

    return f(tf.constant(2))


def generator_function(tf):
    @tf.function
    def f(x):
        yield x

    return f(tf.constant(1))


def assigned_to_an_element(tf):
    @tf.function
    def f(x):
        for i in tf.range(2):
            x[i] = i
        return x

    return f(tf.constant([1, 2]))


def without_conversion(tf):
    @tf.function(autograph=False)
    def f(x):
        if x > 0:
            return x
        return -x

    return f(tf.constant(1))
