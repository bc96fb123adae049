"""Choices by tensors."""


def if_else(tf):
    @tf.function
    def f(x):
        if x > 0:
            y = x * 2
        else:
            y = -x
        return y

    return f(tf.constant(3)), f(tf.constant(-3)), f(tf.constant(0))


def if_without_else(tf):
    @tf.function
    def f(x):
        if x > 5:
            x = x - 5
        return x

    return [f(tf.constant(v)) for v in (3, 7)]


def elif_chain(tf):
    @tf.function
    def grade(x):
        if x > 90.0:
            g = 4
        elif x > 80.0:
            g = 3
        elif x > 70.0:
            g = 2
        elif x > 60.0:
            g = 1
        else:
            g = 0
        return g

    return [grade(tf.constant(v)) for v in (95.0, 85.0, 75.0, 65.0, 5.0)]


def nested_choices(tf):
    @tf.function
    def f(x, y):
        if x > 0:
            if y > 0:
                z = x + y
            else:
                z = x - y
        else:
            if y > 0:
                z = y * 10
            else:
                z = tf.constant(-1)
        return z

    return [f(tf.constant(a), tf.constant(b)) for a in (1, -1) for b in (2, -2)]


def several_variables(tf):
    @tf.function
    def f(x):
        a, b = x, x * 2
        c = 1.0
        if tf.reduce_sum(x) > 3.0:
            a, b = b, a
            c = 5.0
        return a, b, c

    return f(tf.constant([1.0, 1.0])), f(tf.constant([3.0, 1.0]))


def structures(tf):
    @tf.function
    def f(x):
        if x > 0:
            r = {"a": x, "b": (x + 1, [x + 2])}
        else:
            r = {"a": -x, "b": (x - 1, [x - 2])}
        return r

    return f(tf.constant(1)), f(tf.constant(-1))


def python_condition(tf):
    seen = []

    @tf.function
    def f(x, flag):
        if flag:
            seen.append("yes")
            return x + 1
        seen.append("no")
        return x - 1

    return f(tf.constant(1), True), f(tf.constant(1), False), f(tf.constant(5), True), seen


def mixed_condition(tf):
    @tf.function
    def f(x, flag):
        if flag and x > 0:
            return x
        if not flag or x < -5:
            return x * 100
        return -x

    return [f(tf.constant(v), b) for v in (1, -1, -7) for b in (True, False)]


def lazy_and(tf):
    @tf.function
    def f(x, i):
        if i < 3 and x[i] > 2:
            return x[i]
        return -1

    x = tf.constant([1, 2, 3])
    return [f(x, tf.constant(i)) for i in (0, 2, 3)]


def lazy_or_and_not(tf):
    @tf.function
    def f(a, b, c):
        return a or (b and not c), not (a and b), not a or (b or c)

    values = [tf.constant(True), tf.constant(False)]
    return [f(a, b, c) for a in values for b in values for c in values]


def chained_comparison(tf):
    @tf.function
    def f(x):
        if 0 < x < 10:
            return 1
        if 10 <= x <= 20 != x:
            return 2
        return 3

    return [f(tf.constant(v)) for v in (-1, 5, 10, 20, 30)]


def conditional_expression(tf):
    @tf.function
    def f(x):
        y = x if x > 0 else -x
        return (y if y < 5 else 5) + (1 if x > 100 else 0)

    return [f(tf.constant(v)) for v in (-3, 3, 7, 200)]


def python_numbers(tf):
    @tf.function
    def f(x):
        if x > 0:
            k = 1
        else:
            k = 2
        return k * x, k

    return f(tf.constant(4)), f(tf.constant(-4))


def values_of_variables(tf):
    v = tf.Variable(3.0)

    @tf.function
    def f(x):
        if v > 2.0:
            y = v
        else:
            y = x
        return y

    first = f(tf.constant(9.0))
    v.assign(1.0)
    return first, f(tf.constant(9.0))


def effects_of_branches(tf):
    v = tf.Variable(0)
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def f(x):
        if x > 0:
            v.assign_add(x)
            w.assign(w * 2.0)
        else:
            v.assign_sub(1)
        return v.read_value()

    made = [f(tf.constant(a)) for a in (3, -1, 2)]
    return made, v, w


def shapes_that_differ(tf):
    @tf.function
    def f(x):
        if tf.reduce_sum(x) > 0:
            y = tf.concat([x, x], 0)
        else:
            y = x
        return y

    return f(tf.constant([1, 2])), f(tf.constant([-1, -2, -3]))


def text(tf):
    @tf.function
    def f(x):
        if x > 0:
            s = "positive"
        else:
            s = "other"
        return s

    return f(tf.constant(1)), f(tf.constant(-1))


def temporaries_of_one_branch(tf):
    @tf.function
    def f(x):
        if x > 0:
            scale = 3
            for_nobody = [x]
            y = x * scale + len(for_nobody)
        else:
            y = x
        return y

    return f(tf.constant(1)), f(tf.constant(-1))


def both_none(tf):
    @tf.function
    def f(x):
        y = None
        if x > 0:
            z = x
        else:
            z = -x
        return z, y

    return f(tf.constant(-2))


def none_by_python(tf):
    @tf.function
    def f(x, mask=None):
        if mask is not None:
            x = x * mask
        if mask is None or tf.reduce_sum(mask) > 1:
            x = x + 1
        return x

    x = tf.constant([1, 2])
    return f(x), f(x, tf.constant([0, 1])), f(x, tf.constant([1, 1]))


def attributes_of_objects(tf):
    class Box:
        pass

    @tf.function
    def f(x):
        box = Box()
        box.v = x
        if x > 0:
            box.v = box.v * 2
        else:
            box.v = box.v - 1
        return box.v

    return f(tf.constant(2)), f(tf.constant(-2))


def elements_of_dictionaries(tf):
    @tf.function
    def f(x):
        d = {"a": x, "n": 0}
        if x > 0:
            d["a"] = d["a"] + 10
            d["n"] = 1
        return d["a"], d["n"]

    return f(tf.constant(2)), f(tf.constant(-2))


def condition_by_a_variable(tf):
    on = tf.Variable(True)

    @tf.function
    def f(x):
        if on:
            return x
        return -x

    first = f(tf.constant(2))
    on.assign(False)
    return first, f(tf.constant(2))


def eager_condition_from_outside(tf):
    limit = tf.constant(3)
    on = tf.constant(True)

    @tf.function
    def f(x):
        if on:
            x = x + limit
        if limit > 5:
            x = x * 100
        return x

    return f(tf.constant(1))


def one_condition_of_many_elements(tf):
    @tf.function
    def f(x):
        if tf.reduce_all(x > 0):
            return tf.reduce_sum(x)
        if tf.reduce_any(x > 0):
            return tf.reduce_max(x)
        return tf.reduce_min(x)

    return [f(tf.constant(v)) for v in ([1, 2], [1, -2], [-1, -2])]


def result_of_a_call(tf):
    def positive(x):
        return x > 0

    @tf.function
    def f(x):
        if positive(x):
            return x
        return tf.zeros_like(x)

    return f(tf.constant(5)), f(tf.constant(-5))


def choices_in_lambdas(tf):
    @tf.function
    def f(x):
        g = lambda v: v if v > 0 else -v  # noqa: E731
        h = lambda v, k=2: (v * k) if v > 10 else g(v)  # noqa: E731
        return g(x), h(x)

    return f(tf.constant(-3)), f(tf.constant(30))


def assigned_in_the_condition(tf):
    @tf.function
    def f(x):
        if x > 0:
            y = 1
        else:
            y = 0
        if y > 0:
            z = x
        else:
            z = x * 10
        return z

    return f(tf.constant(2)), f(tf.constant(-2))


def float_equality(tf):
    @tf.function
    def f(x, y):
        if x == y:
            return "same"
        if x != 3.0:
            return "other"
        return "three"

    return [f(tf.constant(a), tf.constant(1.0)) for a in (1.0, 2.0, 3.0)]
