"""Jumps: break, continue, return, and what follows them."""


def break_of_a_range(tf):
    @tf.function
    def f(n):
        s = 0
        for i in tf.range(10):
            if i >= n:
                break
            s += i
        return s

    return [f(tf.constant(v)) for v in (0, 4, 20)]


def continue_of_a_range(tf):
    @tf.function
    def f(n):
        s = 0
        for i in tf.range(n):
            if i % 3 == 0:
                continue
            s += i
        return s

    return f(tf.constant(8))


def both_of_a_while(tf):
    @tf.function
    def f(x):
        s = 0
        while x > 0:
            x -= 1
            if x % 2 == 0:
                continue
            if x < 4:
                break
            s += x
        return s, x

    return f(tf.constant(12)), f(tf.constant(3))


def break_of_an_inner_loop(tf):
    @tf.function
    def f(n):
        s = 0
        for i in tf.range(n):
            for j in tf.range(n):
                if j > i:
                    break
                s += 1
            s += 100
        return s

    return f(tf.constant(4))


def break_of_rows(tf):
    @tf.function
    def f(x):
        s = tf.constant(0)
        for v in x:
            if v < 0:
                break
            s += v
        return s

    return f(tf.constant([1, 2, -1, 5]))


def work_behind_a_jump(tf):
    @tf.function
    def f(n):
        a = b = 0
        for i in tf.range(n):
            if i == 2:
                a += 10
                continue
            if i == 5:
                b += 7
                break
            a += 1
            b += i
        return a, b

    return f(tf.constant(9)), f(tf.constant(3))


def early_return(tf):
    @tf.function
    def f(x):
        if x < 0:
            return tf.constant(-1)
        y = x * 2
        if y > 10:
            return y
        return x

    return [f(tf.constant(v)) for v in (-5, 7, 2)]


def nested_early_return(tf):
    @tf.function
    def f(x, y):
        if x > 0:
            if y > 0:
                return 1
            x = x - 1
            if x == 0:
                return 2
        else:
            return 3
        return x * 10

    return [f(tf.constant(a), tf.constant(b)) for a in (5, 1, -1) for b in (1, -1)]


def return_of_structures(tf):
    @tf.function
    def f(x):
        if x > 0:
            return {"a": x}, (x, 1)
        return {"a": -x}, (x, 2)

    return f(tf.constant(1)), f(tf.constant(-1))


def return_in_a_called_function(tf):
    def sign(v):
        if v > 0:
            return 1
        if v < 0:
            return -1
        return 0

    @tf.function
    def f(x):
        return sign(x) * 10 + sign(-x)

    return [f(tf.constant(v)) for v in (3, -3, 0)]


def return_by_python_in_a_loop(tf):
    @tf.function
    def f(x, stop):
        for i in range(5):
            x += i
            if i == stop:
                return x
        return x * 100

    return f(tf.constant(0), 2), f(tf.constant(0), 9)


def return_in_with(tf):
    @tf.function
    def f(x):
        with tf.name_scope("a"):
            if x > 0:
                return x
            return -x

    return f(tf.constant(-4))


def return_in_try(tf):
    log = []

    @tf.function
    def f(x):
        try:
            if x > 0:
                return x
            return -x
        finally:
            log.append("done")

    return f(tf.constant(-4)), log


def python_break_before_a_choice(tf):
    @tf.function
    def f(x):
        for i in range(10):
            if i == 3:
                break
            if x > i:
                x -= 1
            else:
                x += 10
        return x

    return f(tf.constant(2))


def while_with_two_breaks(tf):
    @tf.function
    def f(x, lim):
        i = 0
        while i < 100:
            i += 1
            x = x + i
            if x > lim:
                break
            if i == 5:
                x = x * 0
                break
        return x, i

    return f(tf.constant(0), tf.constant(4)), f(tf.constant(0), tf.constant(1000))


def continue_in_rows(tf):
    @tf.function
    def f(x):
        count, total = 0, 0.0
        for v in x:
            if tf.math.is_nan(v):
                continue
            total += v
            count += 1
        return total / tf.cast(count, tf.float32)

    return f(tf.constant([1.0, float("nan"), 3.0]))


def variable_set_before_break(tf):
    @tf.function
    def f(x):
        found = -1
        i = 0
        for v in x:
            if v == 7:
                found = i
                break
            i += 1
        return found

    return f(tf.constant([1, 7, 7])), f(tf.constant([1, 2]))


def effects_and_break(tf):
    v = tf.Variable(0)

    @tf.function
    def f(n):
        for i in tf.range(100):
            v.assign_add(i)
            if v > n:
                break
        return v.read_value()

    return f(tf.constant(10)), v


def primes(tf):
    @tf.function
    def count(n):
        total = 0
        for i in tf.range(2, n):
            prime = True
            for j in tf.range(2, i):
                if j * j > i:
                    break
                if i % j == 0:
                    prime = False
                    break
            if prime:
                total += 1
        return total

    return count(tf.constant(30))
