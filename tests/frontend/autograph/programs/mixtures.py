"""Programs that mix what the others try one by one."""

import collections

_Point = collections.namedtuple("_Point", "x y")


def named_tuples(tf):
    @tf.function
    def f(n):
        p = _Point(0, 1)
        for i in tf.range(n):
            p = _Point(p.y, p.x + p.y + i)
        if p.x > 5:
            p = p._replace(y=-p.y)
        return p.x, p.y

    return f(tf.constant(3)), f(tf.constant(6))


def early_exit_search(tf):
    @tf.function
    def find(x, value):
        low, high = 0, tf.size(x)
        while low < high:
            middle = (low + high) // 2
            if x[middle] == value:
                low = middle
                break
            elif x[middle] < value:
                low = middle + 1
            else:
                high = middle
        return low

    x = tf.constant([1, 3, 5, 7, 9, 11])
    return [find(x, tf.constant(v)) for v in (1, 7, 11, 4)]


def loop_in_while_in_choice(tf):
    @tf.function
    def f(x, deep):
        if deep:
            while tf.reduce_max(x) < 100:
                for i in tf.range(3):
                    if i == 1:
                        continue
                    x = x + i
                x = x * 2
        else:
            x = -x
        return x

    return f(tf.constant([1, 2]), tf.constant(True)), f(tf.constant([1, 2]), tf.constant(False))


def try_in_a_loop(tf):
    @tf.function
    def f(x):
        for key in ("a", "b", "c"):
            try:
                step = {"a": 1, "c": 3}[key]
            except KeyError:
                continue
            if x > 3:
                x -= step
            else:
                x += step * 10
        return x

    return f(tf.constant(1)), f(tf.constant(9))


def with_around_jumps(tf):
    @tf.function
    def f(n):
        total = 0
        for i in tf.range(n):
            with tf.name_scope("step"):
                if i == 3:
                    break
                if i == 1:
                    continue
                total += i
        return total

    return f(tf.constant(2)), f(tf.constant(10))


def closures_over_loop_variables(tf):
    @tf.function
    def f(n):
        total = 0
        scale = 1

        def add(v):
            return total + v * scale

        for i in tf.range(n):
            scale = scale + i
            total = add(i)
        return total

    return f(tf.constant(4))


def conditions_of_two_kinds(tf):
    @tf.function
    def f(x, verbose, limit=None):
        steps = 0
        while x < 50 and (limit is None or steps < limit):
            x = x * 2 if not verbose or x > 3 else x * 3
            steps += 1
        return x, steps

    one = tf.constant(1)
    return f(one, True), f(one, False), f(one, True, limit=3)


def sums_by_kind(tf):
    @tf.function
    def f(x):
        sums = {"even": 0, "odd": 0}
        for v in x:
            if v % 2 == 0:
                sums["even"] += v
            else:
                sums["odd"] += v
        return sums

    return f(tf.constant([1, 2, 3, 4, 5]))


def state_machine(tf):
    class Machine:
        def __init__(self):
            self.state = tf.constant(0)
            self.steps = tf.constant(0)

        def feed(self, v):
            if self.state == 0:
                if v > 0:
                    self.state = tf.constant(1)
            elif self.state == 1:
                self.state = tf.constant(2) if v > 5 else tf.constant(0)
            self.steps += 1

    @tf.function
    def f(x):
        m = Machine()
        for v in x:
            m.feed(v)
        return m.state, m.steps

    return f(tf.constant([1, 9])), f(tf.constant([1, 2, 3]))


def power_iteration(tf):
    @tf.function
    def f(m, tolerance):
        v = tf.ones([2, 1]) / tf.sqrt(2.0)
        value = tf.constant(0.0)
        for _ in tf.range(100):
            w = tf.matmul(m, v)
            new = tf.norm(w)
            v = w / new
            if tf.abs(new - value) < tolerance:
                value = new
                break
            value = new
        return value

    return f(tf.constant([[2.0, 1.0], [1.0, 3.0]]), tf.constant(1e-5))


def game_of_life(tf):
    @tf.function
    def f(board, steps):
        for _ in tf.range(steps):
            near = tf.zeros_like(board)
            for dy in (-1, 0, 1):
                for dx in (-1, 0, 1):
                    if dy or dx:
                        near += tf.roll(board, [dy, dx], [0, 1])
            alive = tf.logical_and(board > 0, tf.logical_or(near == 2, near == 3))
            born = tf.logical_and(board == 0, near == 3)
            board = tf.cast(tf.logical_or(alive, born), tf.int32)
        return board

    board = [[0, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
    return f(tf.constant(board), tf.constant(3))


def edit_distance(tf):
    @tf.function
    def f(a, b):
        row = tf.range(tf.size(b) + 1)
        for i in tf.range(tf.size(a)):
            last = row[0]
            row = tf.tensor_scatter_nd_update(row, [[0]], [i + 1])
            for j in tf.range(tf.size(b)):
                cost = 0 if a[i] == b[j] else 1
                best = tf.minimum(tf.minimum(row[j] + 1, row[j + 1] + 1), last + cost)
                last = row[j + 1]
                row = tf.tensor_scatter_nd_update(row, [[j + 1]], [best])
        return row[-1]

    return f(tf.constant([1, 2, 3, 4]), tf.constant([2, 3, 5]))


def beam_of_scores(tf):
    @tf.function
    def f(scores, width):
        beams = tf.constant([0.0])
        for t in tf.range(tf.shape(scores)[0]):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(beams, tf.TensorShape([None]))]
            )
            every = tf.reshape(beams[:, None] + scores[t][None, :], [-1])
            beams = tf.sort(every, direction="DESCENDING")[:width]
        return beams

    return f(tf.constant([[0.1, 0.5], [0.7, 0.2], [0.3, 0.4]]), tf.constant(3))


def accumulated_gradients(tf):
    w = tf.Variable([1.0, -1.0])

    @tf.function
    def f(xs):
        total = tf.zeros([2])
        for x in xs:
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(w * x)
                loss = y * y if y > 0.0 else -y
            total += tape.gradient(loss, w)
        return total

    return f(tf.constant([[1.0, 2.0], [3.0, 1.0], [0.5, 0.5]]))


def values_of_both_kinds(tf):
    @tf.function
    def f(x, n):
        k = 2
        while k < 5:
            k += 1
            if x > k:
                x = x - k
        for j in range(3):
            if j % 2:
                continue
            while x < n:
                x += j + 1
        return x, k, j

    return f(tf.constant(20), tf.constant(9))


def chosen_sizes(tf):
    @tf.function(input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec([], tf.bool)])
    def f(x, padded):
        if padded:
            x = tf.pad(x, [[0, 1], [0, 0]])
        s = tf.zeros([2])
        for row in x:
            s = s * 2.0 + row
        return s, tf.shape(x)

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return f(x, tf.constant(True)), f(x, tf.constant(False))
