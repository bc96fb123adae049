"""What depends on no tensor is Python."""

import contextlib


def exceptions_are_caught(tf):
    @tf.function
    def f(x, key):
        d = {"a": 1}
        try:
            k = d[key]
        except KeyError:
            k = -1
        else:
            k = k + 10
        finally:
            x = x * 2
        if x > 0:
            return x + k
        return x - k

    return f(tf.constant(1), "a"), f(tf.constant(-1), "b")


def order_of_evaluation(tf):
    log = []

    def note(name, value):
        log.append(name)
        return value

    @tf.function
    def f(x):
        a = note("a", False) and note("b", True)
        b = note("c", True) or note("d", True)
        c = note("e", 1) < note("f", 0) < note("g", 3)
        d = note("h", 1) if note("i", False) else note("j", 2)
        return x + d, a, b, c

    return f(tf.constant(1)), log


def values_of_logic(tf):
    @tf.function
    def f(x):
        a = [] or "text"
        b = 0 and 1
        c = None or 5
        d = "x" and [1]
        return x + len(a) + b + c + len(d) + (not [])

    return f(tf.constant(0))


def with_statements(tf):
    log = []

    @contextlib.contextmanager
    def noted(name):
        log.append("+" + name)
        yield name
        log.append("-" + name)

    @tf.function
    def f(x):
        with noted("a") as a, noted("b"):
            if x > 0:
                y = x + len(a)
            else:
                y = -x
        return y

    return f(tf.constant(3)), log


def match_statements(tf):
    @tf.function
    def f(x, command):
        match command:
            case ("add", n):
                y = x + n
            case ("mul", n) if n > 1:
                y = x * n
            case {"neg": True}:
                y = -x
            case [*rest]:
                y = x + len(rest)
            case _:
                y = x
        if y > 10:
            y = y - 10
        return y

    x = tf.constant(6)
    return f(x, ("add", 7)), f(x, ("mul", 3)), f(x, "other")


def deleted_names(tf):
    @tf.function
    def f(x):
        a = x
        b = a + 1
        del a
        try:
            a  # noqa: B018
        except NameError:
            b = b * 2
        return b

    return f(tf.constant(3))


def starred_and_augmented(tf):
    @tf.function
    def f(x):
        first, *rest = [x, x + 1, x + 2]
        rest += [first]
        total = 0
        for v in rest:
            total += v
        total **= 2
        total //= 3
        return total, len(rest)

    return f(tf.constant(2))


def strings_and_formats(tf):
    @tf.function
    def f(x, name):
        label = f"{name!r:>5}-{len(name):03d}"
        if label.endswith("001") and x > 0:
            return x + len(label)
        return x

    return f(tf.constant(1), "q"), f(tf.constant(1), "qq")


def while_else(tf):
    @tf.function
    def f(x, n):
        i = 0
        while i < n:
            i += 1
            if i == 3:
                break
        else:
            x += 100
        return x + i

    return f(tf.constant(0), 2), f(tf.constant(0), 5)


def nested_scopes(tf):
    @tf.function
    def f(x):
        fs = []
        for i in range(3):
            fs.append(lambda v, i=i: v * i)
        gs = [lambda v: v + i for i in range(3)]
        return sum([g(x) for g in fs]), sum([g(x) for g in gs])

    return f(tf.constant(2))


def raised_errors_pass_through(tf):
    class OwnError(Exception):
        pass

    @tf.function
    def f(x, bad):
        if bad:
            raise OwnError("mine")
        return x

    try:
        f(tf.constant(1), True)
    except OwnError as error:
        text = str(error)
    return f(tf.constant(1), False), text[-4:]


def classes_inside(tf):
    @tf.function
    def f(x):
        class Point:
            scale = 2

            def __init__(self, v):
                self.v = v

            def scaled(self):
                if self.v > 1:
                    return self.v * self.scale
                return self.v

        return Point(x).scaled(), Point.__name__

    return f(tf.constant(2))[0], f(tf.constant(1))[0]


def unused_branches_do_not_run(tf):
    log = []

    @tf.function
    def f(x):
        if len(log) > 100:
            log.append("never")
        elif isinstance(x, int):
            log.append("int")
        else:
            log.append("tensor")
        return x

    f(tf.constant(1))
    f(3)
    return log


def both_branches_are_traced(tf):
    log = []

    @tf.function
    def f(x):
        log.append("start")
        if x > 0:
            log.append("yes")
            y = x
        else:
            log.append("no")
            y = -x
        log.append("end")
        return y

    f(tf.constant(1))
    f(tf.constant(-1))
    return log


def loops_are_traced_once(tf):
    log = []

    @tf.function
    def f(n):
        s = 0
        for i in tf.range(n):
            log.append("body")
            s += i
        return s

    f(tf.constant(5))
    return log


def lists_of_python(tf):
    @tf.function
    def f(x):
        made = []
        for i in range(3):
            made.append(x * i)
        made.extend([x, x])
        made[0] = x + 100
        last = made.pop()
        return tf.stack(made), last

    return f(tf.constant(2))


def dictionaries_of_python(tf):
    @tf.function
    def f(x):
        d = dict(a=x)
        d.update(b=x + 1)
        d.setdefault("c", x + 2)
        return {k: v * 2 for k, v in sorted(d.items())}

    return f(tf.constant(1))


def conversions_of_calls(tf):
    @tf.function
    def f(x):
        n = int("12") + int(3.9)
        s = str(n) + repr([1])
        return x + n + len(s), bool(n), tuple([1, 2]), list(map(abs, [-1, 2]))

    return f(tf.constant(0))


def any_and_all_of_python(tf):
    @tf.function
    def f(x, values):
        if any(v > 2 for v in values) and all(values):
            return x + 1
        return x

    return f(tf.constant(0), (1, 2, 3)), f(tf.constant(0), (1, 0, 3))


def shadowed_builtins(tf):
    @tf.function
    def f(x):
        def len(v):
            return v * 1000

        if x > 0:
            return len(x)
        return x

    return f(tf.constant(2))


def star_arguments(tf):
    @tf.function
    def f(x):
        def g(*args, **kwargs):
            total = 0
            for a in args:
                total += a
            for k in kwargs:
                total += kwargs[k] * 10
            return total

        values = [x, x + 1]
        return g(*values, 5, **{"k": x}), g()

    return f(tf.constant(1))
