"""Loops whose condition is a tensor, and loops over ranges."""


def countdown(tf):
    @tf.function
    def f(x):
        while x > 3:
            x = x - 2
        return x

    return f(tf.constant(10)), f(tf.constant(2))


def collatz(tf):
    @tf.function
    def steps(n):
        count = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            count += 1
        return count

    return [steps(tf.constant(v)) for v in (1, 6, 27)]


def fibonacci(tf):
    @tf.function
    def fib(n):
        a, b = 0, 1
        for _ in tf.range(n):
            a, b = b, a + b
        return a

    return [fib(tf.constant(v)) for v in (0, 1, 10)]


def newton(tf):
    @tf.function
    def root(a):
        x = a
        while tf.abs(x * x - a) > 1e-3:
            x = 0.5 * (x + a / x)
        return x

    return root(tf.constant(2.0)), root(tf.constant(100.0))


def python_counter(tf):
    @tf.function
    def f(n):
        i = 0
        total = 0.0
        while i < n:
            total += tf.cast(i, tf.float32) * 0.5
            i += 1
        return i, total

    return f(tf.constant(5))


def python_loop(tf):
    trips = []

    @tf.function
    def f(x):
        i = 0
        while i < 4:
            trips.append(i)
            x = x * 2
            i += 1
        return x

    return f(tf.constant(1)), f(tf.constant(2)), trips


def range_with_step(tf):
    @tf.function
    def f(n):
        s = 0
        for i in tf.range(1, n, 3):
            s = s * 10 + i
        for j in tf.range(n, 0, -4):
            s = s * 10 + j
        return s

    return f(tf.constant(9))


def range_of_floats(tf):
    @tf.function
    def f():
        s = 0.0
        for x in tf.range(0.0, 1.0, 0.25):
            s += x
        return s

    return f()


def python_range_of_a_tensor(tf):
    @tf.function
    def f(n):
        s = 0
        for i in range(n):
            s += i * i
        for i in range(2, n, 2):
            s -= i
        return s

    return f(tf.constant(6))


def step_that_is_a_tensor(tf):
    @tf.function
    def f(a, b, c):
        s = 0
        for i in tf.range(a, b, c):
            s = s * 10 + i
        return s

    def of(*v):
        return f(*[tf.constant(x) for x in v])

    return of(0, 5, 2), of(5, 0, -2), of(0, 5, 7)


def loop_variable_behind(tf):
    @tf.function
    def f(n):
        for i in tf.range(n):
            last = i * 2
        return i, last

    return f(tf.constant(4))


def nested_loops(tf):
    @tf.function
    def f(n):
        s = 0
        for i in tf.range(n):
            for j in tf.range(i):
                s += i * j
        return s

    return f(tf.constant(5))


def loop_in_choice_in_loop(tf):
    @tf.function
    def f(n):
        s = 0
        for i in tf.range(n):
            if i % 2 == 0:
                k = i
                while k > 0:
                    s += k
                    k -= 1
            else:
                s -= i
        return s

    return f(tf.constant(7))


def python_loop_around(tf):
    @tf.function
    def f(x):
        for k in [1, 2, 3]:
            if x > k:
                x = x - k
            for _ in tf.range(k):
                x = x * 2
        return x

    return f(tf.constant(2)), f(tf.constant(-1))


def matrix_power(tf):
    @tf.function
    def f(m, n):
        r = tf.eye(2)
        while n > 0:
            if n % 2 == 1:
                r = tf.matmul(r, m)
            m = tf.matmul(m, m)
            n = n // 2
        return r

    return f(tf.constant([[1.0, 1.0], [1.0, 0.0]]), tf.constant(10))


def structures_carried(tf):
    @tf.function
    def f(n):
        state = {"a": 0, "b": (1.0, tf.zeros([2]))}
        for i in tf.range(n):
            a, (b, c) = state["a"], state["b"]
            state = {"a": a + i, "b": (b * 2.0, c + b)}
        return state

    return f(tf.constant(4))


def shape_invariants(tf):
    @tf.function
    def f(n):
        v = tf.constant([1])
        for i in tf.range(n):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(v, tf.TensorShape([None]))]
            )
            v = tf.concat([v, [i]], 0)
        return v

    return f(tf.constant(4)), f(tf.constant(0))


def shape_invariants_of_while(tf):
    @tf.function
    def f(n):
        m = tf.ones([1, 2])
        while tf.shape(m)[0] < n:
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(m, tf.TensorShape([None, 2]))]
            )
            m = tf.concat([m, m * 2.0], axis=0)
        return m

    return f(tf.constant(4))


def maximum_iterations(tf):
    @tf.function
    def f(n):
        s = 0
        while s < n:
            tf.autograph.experimental.set_loop_options(maximum_iterations=3)
            s += 1
        for _ in tf.range(n):
            tf.autograph.experimental.set_loop_options(maximum_iterations=2)
            s += 100
        return s

    return f(tf.constant(10)), f(tf.constant(1))


def variables_in_loops(tf):
    v = tf.Variable(1.0)
    n = tf.Variable(0)

    @tf.function
    def f(k):
        while v < k:
            v.assign(v * 2.0)
            n.assign_add(1)
        return v + 0.5

    return f(tf.constant(50.0)), v, n


def undefined_before(tf):
    @tf.function
    def f(n):
        for i in tf.range(n):
            y = tf.cast(i, tf.float32) * 1.5
            z = [y, i]
        return y, z

    return f(tf.constant(3))


def none_before(tf):
    @tf.function
    def f(n):
        state = None
        for i in tf.range(n):
            state = i * 3
        return state

    return f(tf.constant(4))


def tests_with_and(tf):
    @tf.function
    def f(x, n):
        i = 0
        while i < n and x[i] > 0:
            i += 1
        return i

    x = tf.constant([3, 2, 1, 0, 5])
    return f(x, tf.constant(5)), f(x, tf.constant(2))


def condition_that_writes(tf):
    @tf.function
    def f(n):
        i = 0
        s = 0
        while True and i < n:
            i = i + 1
            s = s + i
        return s

    return f(tf.constant(4))


def temporaries(tf):
    @tf.function
    def f(n):
        s = 0
        for i in tf.range(n):
            t = (i, i + 1)
            u = [k * 2 for k in t]
            s += u[0] + u[1]
        return s

    return f(tf.constant(4))


def tensor_array(tf):
    @tf.function
    def f(n):
        ta = tf.TensorArray(tf.int32, size=n)
        for i in tf.range(n):
            ta = ta.write(i, i * i)
        return ta.stack()

    return f(tf.constant(5))


def growing_tensor_array(tf):
    @tf.function
    def f(n):
        ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        i = 0
        while i < n:
            ta = ta.write(i, tf.cast(i, tf.float32) / 2.0)
            i += 1
        return ta.stack()

    return f(tf.constant(5))


def tensor_array_of_vectors(tf):
    @tf.function
    def f(x):
        n = tf.shape(x)[0]
        ta = tf.TensorArray(tf.float32, size=n, element_shape=[2])
        total = tf.zeros([2])
        for i in tf.range(n):
            total += x[i]
            ta = ta.write(i, total)
        return ta.stack(), ta.read(1) if n > 1 else total

    return f(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))


def tensor_array_in_a_choice(tf):
    @tf.function
    def f(n):
        ta = tf.TensorArray(tf.int32, size=n)
        for i in tf.range(n):
            if i % 2 == 0:
                ta = ta.write(i, i)
            else:
                ta = ta.write(i, -i)
        return ta.stack()

    return f(tf.constant(5))


def tf_print_and_group(tf):
    v = tf.Variable(0)

    @tf.function
    def f(n):
        for i in tf.range(n):
            with tf.control_dependencies([v.assign_add(i)]):
                x = tf.identity(v) * 2
        return x

    return f(tf.constant(3)), v


def bubble_sort(tf):
    @tf.function
    def sort(x):
        n = tf.size(x)
        for i in tf.range(n):
            for j in tf.range(n - i - 1):
                if x[j] > x[j + 1]:
                    a, b = x[j], x[j + 1]
                    x = tf.tensor_scatter_nd_update(x, [[j], [j + 1]], [b, a])
        return x

    return sort(tf.constant([3, 1, 2, 5, 4]))


def gcd(tf):
    @tf.function
    def f(a, b):
        while b:
            a, b = b, a % b
        return a

    @tf.function
    def g(a, b):
        while b != 0:
            a, b = b, a % b
        return a

    return g(tf.constant(48), tf.constant(18))


def random_walk_without_randomness(tf):
    @tf.function
    def f(steps):
        x = tf.constant([0.0, 0.0])
        direction = tf.constant(0)
        for s in tf.range(steps):
            if direction == 0:
                x += [1.0, 0.0]
            elif direction == 1:
                x += [0.0, 1.0]
            else:
                x -= [0.5, 0.5]
            direction = (direction + s) % 3
        return x

    return f(tf.constant(10))
