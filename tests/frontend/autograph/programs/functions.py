"""Functions that are called, nested, methods, closures, decorated."""

import functools


def _clip(x, low=-2, high=2):
    if x < low:
        return low
    if x > high:
        return high
    return x


def _factorial(n):
    if n <= 1:
        return 1
    return n * _factorial(n - 1)


_TOTAL = 0


def called_by_keyword(tf):
    @tf.function
    def f(x):
        return _clip(x), _clip(x, high=5), _clip(low=0, x=x), _clip(*[x, 1], **{"high": 3})

    return [f(tf.constant(v)) for v in (-7, 4, 9)]


def python_recursion(tf):
    @tf.function
    def f(x):
        return x * _factorial(5)

    return f(tf.constant(2))


def nested_functions(tf):
    @tf.function
    def f(x):
        def outer(y):
            def inner(z):
                if z > 0:
                    return z * y
                return z - y

            return inner(y - 2)

        return outer(x)

    return f(tf.constant(5)), f(tf.constant(1))


def closures(tf):
    def make(k):
        def scale(x):
            if x > k:
                return x * k
            return x

        return scale

    @tf.function
    def f(x):
        return make(3)(x) + make(10)(x)

    return f(tf.constant(5)), f(tf.constant(20))


def nonlocal_state(tf):
    @tf.function
    def f(x):
        total = 0

        def add(v):
            nonlocal total
            if v > 0:
                total = total + v

        add(x)
        add(x - 3)
        add(-x)
        return total

    return f(tf.constant(2)), f(tf.constant(9))


def nonlocal_in_loops(tf):
    @tf.function
    def f(n):
        count = 0

        def bump(by):
            nonlocal count
            count += by

        for i in tf.range(n):
            bump(i)
        return count

    return f(tf.constant(5))


def global_state(tf):
    @tf.function
    def f(x):
        global _TOTAL
        _TOTAL = 5
        if x > 0:
            _TOTAL = 7
        y = _TOTAL + 1
        _TOTAL = 0
        return y

    return f(tf.constant(1)), f(tf.constant(-1)), _TOTAL


def methods(tf):
    class Model:
        def __init__(self):
            self.w = tf.Variable(2.0)
            self.__calls = 0

        def double(self, x):
            self.__calls += 1
            if x > 1.0:
                return x * self.w
            return x

        @tf.function
        def step(self, x):
            return self.double(self.double(x)), self.__calls

    return Model().step(tf.constant(3.0)), Model().step(tf.constant(0.5))


def inherited_methods(tf):
    class Base:
        def act(self, x):
            if x > 0:
                return x + 1
            return x - 1

    class Derived(Base):
        def act(self, x):
            y = super().act(x)
            if y > 5:
                y = super().act(y)
            return y

    @tf.function
    def f(x):
        return Derived().act(x)

    return f(tf.constant(7)), f(tf.constant(1)), f(tf.constant(-1))


def static_and_class_methods(tf):
    class Tools:
        limit = 3

        @staticmethod
        def low(x):
            return x if x < 0 else 0 * x

        @classmethod
        def cut(cls, x):
            if x > cls.limit:
                return cls.limit
            return x

    @tf.function
    def f(x):
        return Tools.low(x), Tools.cut(x), Tools().cut(x - 1)

    return f(tf.constant(9)), f(tf.constant(-9))


def callable_objects(tf):
    class Gate:
        def __init__(self, at):
            self.at = at

        def __call__(self, x):
            if x > self.at:
                return x
            return x * 0

    gate = Gate(3)

    @tf.function
    def f(x):
        return gate(x) + Gate(1)(x)

    return f(tf.constant(2)), f(tf.constant(4))


def properties(tf):
    class Counter:
        def __init__(self):
            self.n = tf.Variable(0)

        @property
        def many(self):
            return self.n > 2

    c = Counter()

    @tf.function
    def f(x):
        if c.many:
            return x * 10
        c.n.assign_add(1)
        return x

    return [f(tf.constant(1)) for _ in range(5)]


def partial_functions(tf):
    @tf.function
    def f(x):
        g = functools.partial(_clip, high=6)
        h = functools.partial(_clip, x)
        return g(x), h(low=-1)

    return f(tf.constant(9)), f(tf.constant(-9))


def wrapped_functions(tf):
    def twice(function):
        @functools.wraps(function)
        def run(x):
            return function(function(x))

        return run

    @twice
    def halve(x):
        if x % 2 == 0:
            return x // 2
        return x + 1

    @tf.function
    def f(x):
        return halve(x)

    return f(tf.constant(7)), f(tf.constant(8))


def functions_of_functions(tf):
    @tf.function
    def inner(x):
        if x > 0:
            return x
        return -x

    @tf.function
    def outer(x):
        s = 0
        for v in x:
            s += inner(v)
        return s

    return outer(tf.constant([1, -2, 3]))


def functions_given_to_tensorflow(tf):
    def absolute(v):
        if v > 0:
            return v
        return -v

    @tf.function
    def f(x):
        a = tf.map_fn(absolute, x)
        b = tf.map_fn(lambda v: v if v < 2 else v * 100, x)
        c = tf.foldl(lambda s, v: s + v if v > 0 else s, x)
        return a, b, c

    return f(tf.constant([1, -2, 3]))


def functions_in_containers(tf):
    def up(x):
        return x + 1 if x > 0 else x

    def down(x):
        return x - 1 if x < 0 else x

    @tf.function
    def f(x):
        for function in [up, down, up]:
            x = function(x)
        return x, {"up": up}["up"](x)

    return f(tf.constant(1)), f(tf.constant(-1))


def not_converted(tf):
    @tf.autograph.experimental.do_not_convert
    def plain(x):
        return x + 1

    @tf.function
    def f(x):
        if x > 0:
            return plain(x)
        return x

    @tf.function(autograph=False)
    def g(x):
        return tf.cond(x > 0, lambda: x, lambda: -x)

    return f(tf.constant(1)), g(tf.constant(-1))


def defaults_and_rest(tf):
    @tf.function
    def f(x, *more, scale=2, **named):
        for m in more:
            x = x + m
        if x > 5:
            x = x * scale
        for value in named.values():
            x = x - value
        return x

    one = tf.constant(1)
    return f(one), f(one, 2, 3), f(one, one, 8, scale=3), f(one, q=one, p=5)


def inner_functions_with_defaults(tf):
    @tf.function
    def f(x):
        def g(v, k=x, *, m=2):
            if v > k:
                return v * m
            return k

        return g(x + 1), g(x - 1), g(x, 0, m=5)

    return f(tf.constant(3))


def modules(tf):
    class Dense(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([[1.0], [2.0]])
            self.steps = tf.Variable(0)

        @tf.function
        def __call__(self, x, training=False):
            y = tf.matmul(x, self.w)
            if training:
                self.steps.assign_add(1)
            if tf.reduce_sum(y) > 10.0:
                y = y / 10.0
            return y

    layer = Dense()
    x = tf.constant([[1.0, 2.0]])
    return layer(x), layer(x * 3.0, training=True), layer.steps


def state_of_an_object(tf):
    class Machine:
        def __init__(self):
            self.state = tf.constant(0)
            self.count = 0

        def run(self, n):
            self.state = tf.constant(1)
            for i in tf.range(n):
                self.state = self.state * 2 + i
            return self.state

    @tf.function
    def f(n):
        return Machine().run(n)

    return f(tf.constant(4))


def object_state_in_while(tf):
    class Box:
        pass

    @tf.function
    def f(n):
        box = Box()
        box.total, box.i = 0, 0
        while box.i < n:
            box.total = box.total + box.i
            box.i = box.i + 1
        return box.total

    return f(tf.constant(5))


def lambda_functions(tf):
    f = tf.function(lambda x: x if x > 0 else -x)
    g = tf.function(lambda x, y: tf.reduce_sum(x) if x[0] > y else y)
    return f(tf.constant(-3)), g(tf.constant([1, 2]), tf.constant(0))


def local_functions_by_choice(tf):
    @tf.function
    def f(x, kind):
        if kind == "square":

            def op(v):
                return v * v

        else:

            def op(v):
                return v + v

        if x > 2:
            return op(x)
        return x

    return f(tf.constant(5), "square"), f(tf.constant(5), "double")


def sorted_and_max_of_python(tf):
    @tf.function
    def f(x):
        order = sorted([3, 1, 2], key=lambda v: -v)
        return x * order[0] + max(order) - min(1, 2) + sum(order)

    return f(tf.constant(1))


def polynomial_of_coefficients(tf):
    class Polynomial:
        def __init__(self, *coefficients):
            self.c = [tf.constant(v) for v in coefficients]

        def __call__(self, x):
            y = tf.zeros_like(x)
            for c in self.c:
                y = y * x + c
            return y

    p = Polynomial(1.0, -2.0, 3.0)

    @tf.function
    def f(x):
        if p(x) > 2.5:
            return p(x)
        return -p(x)

    return f(tf.constant(1.0)), f(tf.constant(2.0))


def tensor_recursion_by_depth(tf):
    def walk(x, depth):
        if depth == 0:
            return x
        if x > 0:
            return walk(x - 1, depth - 1)
        return walk(x + 3, depth - 1)

    @tf.function
    def f(x):
        return walk(x, 3)

    return [f(tf.constant(v)) for v in (5, 1, 0)]
