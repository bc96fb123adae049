"""Choices and loops by the rows of the feature table: run, compiled, and gone back through."""

from __future__ import annotations

import numpy as np
import pytest

import gravure as gv
from gravure import tf
from gravure.frontend.graph.control_flow import ControlFlowError

v1, raw = tf.compat.v1, tf.raw_ops
TWO = np.float32(2.0)


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


def compiled(function, *cases):
    """Return the results of a function for each case, once it is compiled for all of them."""
    staged = gv.function(function)
    for case in cases:
        for _ in range(3):
            staged(*map(gv.asarray, case))
    for concrete in staged.cache.values():
        assert concrete.graph.refusal == ""
        assert all(concrete.compiled.values())
    return [np.asarray(staged(*map(gv.asarray, case))) for case in cases]


def runs(session, fetches, feeds):
    """Return what a session gives once the plan is compiled."""
    for _ in range(3):
        found = session.run(fetches, feeds)
    plan = list(session._plans.values())[-1]
    assert plan.refusal == ""
    return found


def slope(function):
    """Return the function that gives the gradient of another one."""

    def gradient(x, *others):
        with gv.GradientTape() as tape:
            tape.watch(x)
            y = function(x, *others)
        return tape.gradient(y, x)

    return gradient


def hand_made(n, x):
    """Return the result of a loop of single nodes: how often x was multiplied, and the product."""
    count, product = (raw.Enter(data=tf.constant(v), frame_name="f") for v in (0, 1.0))
    limit, factor = (raw.Enter(data=v, frame_name="f", is_constant=True) for v in (n, x))
    merges = [raw.Merge(inputs=[v, v]) for v in (count, product)]
    goes_on = raw.LoopCond(input=merges[0].output < limit)
    switches = [raw.Switch(data=merge.output, pred=goes_on) for merge in merges]
    results = [raw.Exit(data=switch.output_false) for switch in switches]
    following = [switches[0].output_true + 1, switches[1].output_true * factor]
    for merge, value in zip(merges, following, strict=True):
        merge.output.op.update_input(1, raw.NextIteration(data=value))
    return results


def test_d1_switch_and_merge_are_recovered_to_a_choice(graph):
    x, p = v1.placeholder(tf.float32, []), v1.placeholder(tf.bool, [])
    no, yes = raw.Switch(data=x, pred=p)
    merged, index = raw.Merge(inputs=[no * 2.0, yes * 3.0])
    session = v1.Session()
    assert runs(session, [merged, index], {x: 7.0, p: True}) == [21.0, 1]
    assert runs(session, [merged, index], {x: 7.0, p: False}) == [14.0, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Retval\[0\] does not have value"):
        runs(session, no, {x: 7.0, p: True})


def test_d2_a_loop_of_single_nodes_is_a_while_loop(graph):
    n, x = v1.placeholder(tf.int32, []), v1.placeholder(tf.float32, [])
    by_hand = hand_made(n, x)
    loop = tf.while_loop(lambda i, p: i < n, lambda i, p: [i + 1, p * x], [0, 1.0])
    session = v1.Session()
    for k, expected in ((5, 32.0), (0, 1.0)):
        assert runs(session, by_hand, {n: k, x: 2.0}) == [k, expected]
        assert runs(session, loop, {n: k, x: 2.0}) == [k, expected]


def test_d2_a_loop_of_single_nodes_comes_from_text(graph):
    n, x = v1.placeholder(tf.int32, [], name="n"), v1.placeholder(tf.float32, [], name="x")
    made = hand_made(n, x)
    text = graph.as_graph_def()
    with tf.Graph().as_default() as other:
        names = [tensor.name for tensor in made]
        found = tf.import_graph_def(text, return_elements=names, name="")
        session = v1.Session(graph=other)
        for k, expected in ((5, 32.0), (0, 1.0)):
            assert session.run(found, {"n:0": k, "x:0": 2.0}) == [k, expected]
        assert other.as_graph_def() == text


def test_d2_a_loop_of_single_nodes_may_hold_another(graph):
    n = v1.placeholder(tf.int32, [])

    def loop(name, limit, start, step):
        enter = [raw.Enter(data=v, frame_name=name) for v in (tf.constant(0), start)]
        merges = [raw.Merge(inputs=[v, v]) for v in enter]
        goes_on = raw.LoopCond(input=merges[0].output < limit)
        pairs = [raw.Switch(data=merge.output, pred=goes_on) for merge in merges]
        ended = raw.Exit(data=pairs[1].output_false)
        following = [pairs[0].output_true + 1, step(pairs[1].output_true)]
        for merge, value in zip(merges, following, strict=True):
            merge.output.op.update_input(1, raw.NextIteration(data=value))
        return ended

    total = loop("outer", n, tf.constant(1), lambda t: loop("inner", 3, t, lambda s: s + t))
    assert [v1.Session().run(total, {n: k}) for k in (0, 1, 3)] == [1, 4, 64]


def test_d3_only_the_branch_that_is_taken_runs_in_compiled_code():
    v, w = gv.Variable(np.float32(0)), gv.Variable(np.float32(0))

    @gv.function
    def step(p):
        w.assign_add(1.0)
        return gv.cond(p, lambda: v.assign_add(1.0) * 1.0, lambda: w * 10.0)

    for taken in (False, False, False, False, True, True):
        step(gv.asarray(taken))
    [concrete] = step.cache.values()
    assert concrete.graph.refusal == ""
    assert (float(v), float(w)) == (2.0, 6.0)


def test_d3_a_choice_of_several_by_a_number():
    def choose(i, x):
        return gv.switch_case(i, [lambda: x, lambda: x * 3, lambda: gv.exp(x), lambda: -x])

    found = compiled(choose, *((np.int32(i), TWO) for i in (-1, 0, 1, 2, 3, 9)))
    np.testing.assert_allclose(found, [-2, 2, 6, np.exp(2.0), -2, -2], rtol=1e-6)


def test_d4_trips_depend_on_data_in_compiled_code():
    def power(n, x):
        return gv.while_loop(lambda i, p: i < n, lambda i, p: [i + 1, p * x], [0, 1.0])[1]

    def halved(x):
        return gv.while_loop(lambda x: gv.sum(x) > 1.0, lambda x: [x * 0.5], [x])[0]

    assert compiled(power, *((np.int64(n), TWO) for n in (5, 0))) == [32.0, 1.0]
    [found] = compiled(halved, (np.full(3, 8.0, np.float32),))
    assert found.tolist() == [0.25, 0.25, 0.25]


def test_d5_gradients_go_through_compiled_loops_and_choices():
    def power(x):
        return gv.while_loop(lambda i, p: i < 5, lambda i, p: [i + 1, p * x], [0, 1.0])[1]

    def either(x):
        return gv.cond(x > 0.0, lambda: x * x, lambda: x * -3.0)

    def none(x):
        return x + gv.while_loop(lambda i, p: i < 0, lambda i, p: [i + 1, p * x], [0, x])[1]

    assert compiled(slope(power), (TWO,)) == [80.0]
    assert compiled(slope(either), (TWO,), (np.float32(-1),)) == [4.0, -3.0]
    assert compiled(slope(none), (TWO,)) == [2.0]


def test_d5_a_loop_without_a_bound_has_its_gradient_in_compiled_code():
    def power(x, n):
        return gv.while_loop(lambda i, p: i < n, lambda i, p: [i + 1, p * x], [0, 1.0])[1]

    cases = [(TWO, np.int64(n)) for n in (5, 0, 1)]
    assert compiled(slope(power), *cases) == [80.0, 0.0, 1.0]


def test_d5_trips_that_have_lost_their_row_are_reached_again():
    def drift(x, n):
        def step(i, p):
            return [i + 1, p * 0.5 + gv.sin(p * x)]

        return gv.sum(gv.while_loop(lambda i, p: i < n, step, [0, x])[1])

    x = np.array([0.3, 0.5])
    counts = (15, 16, 17, 40, 255, 256, 257, 700, 1100)
    given = gv.asarray(x)
    expected = [slope(drift)(given, gv.asarray(np.int64(n))) for n in counts]
    found = compiled(slope(drift), *((x, np.int64(n)) for n in counts))
    np.testing.assert_allclose(found, np.asarray(expected), rtol=1e-9)


def test_d5_second_gradients_go_through_compiled_loops_and_choices():
    def power(x, n):
        p = gv.while_loop(lambda i, p: i < n, lambda i, p: [i + 1, p * x], [0, 1.0])[1]
        return gv.cond(p > 3.0, lambda: p * x, lambda: -p)

    cases = [(TWO, np.int64(n)) for n in (3, 1, 0)]
    assert compiled(slope(slope(power)), *cases) == [48.0, 0.0, 0.0]
    assert compiled(slope(slope(slope(power))), *cases) == [48.0, 0.0, 0.0]


def test_d6_gradients_nest_in_loops_in_choices_in_loops():
    def deep(x):
        def inner(i, t):
            done = gv.while_loop(
                lambda j, s: (j < i) & (j < 3), lambda j, s: [j + 1, s * x], [0, t]
            )
            return done[1]

        def body(i, t):
            t = gv.cond(gv.sum(t) > 3.0, lambda: inner(i, t), lambda: t * t + x)
            return [i + 1, t]

        return gv.sum(gv.while_loop(lambda i, t: i < 4, body, [0, x])[1])

    x = np.array([1.0, 0.5])
    step = 1e-6 * np.eye(2)
    expected = [(deep(gv.asarray(x + d)) - deep(gv.asarray(x - d))) / 2e-6 for d in step]
    [found] = compiled(slope(deep), (x,))
    np.testing.assert_allclose(found, np.asarray([float(e) for e in expected]), rtol=1e-6)


def test_d7_what_is_no_loop_is_refused_by_the_name_of_a_node(graph):
    x = tf.constant(1.0)
    enter = raw.Enter(data=x, frame_name="f", name="start")
    merge = raw.Merge(inputs=[enter, enter], name="joined")
    following = raw.NextIteration(data=merge.output + 1.0, name="again")
    merge.output.op.update_input(1, following)
    session = v1.Session()
    with pytest.raises(ControlFlowError, match=r"node 'joined': .* goes to 0 Switches"):
        session.run(merge.output)
    with pytest.raises(ControlFlowError, match=r"node 'alone': Exit belongs to no loop"):
        session.run(raw.Exit(data=x, name="alone"))
    other = raw.Merge(inputs=[enter, enter], name="asked")
    switch = raw.Switch(data=other.output, pred=tf.constant(True), name="side")
    other.output.op.update_input(1, raw.NextIteration(data=switch.output_true))
    with pytest.raises(ControlFlowError, match=r"node 'side': .* expected a LoopCond"):
        session.run(raw.Exit(data=switch.output_false))


def test_d7_a_value_of_each_trip_is_not_fetched(graph):
    by_hand = hand_made(tf.constant(3), tf.constant(2.0))
    inner = by_hand[1].op.inputs[0].op.inputs[0]
    with pytest.raises(ControlFlowError, match="has a value in each trip of a loop"):
        v1.Session().run([inner, by_hand[1]])


@pytest.mark.filterwarnings("ignore::gravure.PerformanceWarning")
def test_d7_a_merge_of_one_side_only_is_not_compiled(graph):
    x, p = v1.placeholder(tf.float32, []), v1.placeholder(tf.bool, [])
    _, yes = raw.Switch(data=x, pred=p)
    merged = raw.Merge(inputs=[yes * 2.0, yes * 3.0], name="both").output
    session = v1.Session()
    assert [session.run(merged, {x: 7.0, p: True}) for _ in range(6)] == [14.0] * 6
    [plan] = session._plans.values()
    assert "node 'both'" in plan.refusal


def test_scans_and_maps_of_many_slices_are_one_loop():
    def both(xs):
        last, seen = gv.scan(
            lambda state, x: (state * 0.5 + x, {"seen": gv.exp(-state)}),
            gv.asarray(np.zeros(2, np.float32)),
            xs,
        )
        return gv.sum(last) + gv.sum(seen["seen"] * gv.map_fn(lambda x: x * x, xs))

    xs = np.random.default_rng(0).standard_normal((30, 2)).astype(np.float32)
    eager = both(gv.asarray(xs)), slope(both)(gv.asarray(xs))
    [value], [gradient] = compiled(both, (xs,)), compiled(slope(both), (xs,))
    np.testing.assert_allclose(value, np.asarray(eager[0]), rtol=1e-5)
    np.testing.assert_allclose(gradient, np.asarray(eager[1]), rtol=1e-4, atol=1e-5)


def test_what_a_loop_carries_changes_in_place_where_it_can():
    def collected(xs):
        return gv.map_fn(lambda x: gv.exp(x) * 2.0, xs)

    staged = gv.function(collected)
    for _ in range(3):
        staged(gv.asarray(np.ones((100, 64), np.float32)))
    [concrete] = staged.cache.values()
    [made] = concrete.compiled.values()
    assert made.model.compiled.description.workspace < 4096  # the rows are written to the output


def test_d5_a_tape_around_a_function_goes_through_two_programs():
    @gv.function
    def power(x):
        y = gv.while_loop(lambda i, p: i < 5, lambda i, p: [i + 1, p * x], [0, 1.0])[1]
        return gv.cond(y > 3.0, lambda: y * y, lambda: y)

    for _ in range(4):
        for x, expected in ((TWO, 5120.0), (np.float32(1), 5.0)):
            given = gv.asarray(x)
            with gv.GradientTape() as tape:
                tape.watch(given)
                y = power(given)
            assert float(tape.gradient(y, given)) == expected
    [concrete] = power.cache.values()
    assert concrete.graph.refusal == ""
    assert concrete.gradients.made == 1


def test_d6_the_body_of_a_loop_is_on_two_devices(graph):
    def body(i, s):
        with tf.device("/cpu:0"):
            doubled = s * 2.0
        with tf.device("/cpu:1"):
            return i + 1, doubled + 1.0

    made = tf.while_loop(lambda i, s: i < 3, body, (0, 1.0))
    config = v1.ConfigProto(device_count={"CPU": 2})
    assert v1.Session(config=config).run(made) == (3, 15.0)


NUMBER, ROW, ROWS = tf.TensorSpec([], tf.int32), tf.TensorSpec([None]), tf.TensorSpec([None, 2])


def staged(function, *arguments, calls=4):
    """Return the results of calls, of which the last ones are compiled, and the function."""
    made = tf.function(function)
    return [made(*arguments) for _ in range(calls)], made


def refusals(function):
    return [concrete.graph.refusal for concrete in function.cache.values()]


def test_d4_growing_variables_are_compiled():
    def collatz(n):
        def body(n, seen):
            n = tf.where(n % 2 == 0, n // 2, 3 * n + 1)
            return n, tf.concat([seen, tf.reshape(n, [1])], 0)

        start = (n, tf.reshape(n, [1]))
        shapes = (NUMBER, tf.TensorSpec([None], tf.int32))
        return tf.while_loop(lambda n, _: n > 1, body, start, shape_invariants=shapes)[1]

    f = tf.function(collatz)
    for n, length in ((6, 9), (6, 9), (6, 9), (27, 112), (1, 1)):
        seen = f(tf.constant(n)).numpy()
        assert (len(seen), seen[0], seen[-1]) == (length, n, 1)
        assert np.array_equal(seen, collatz(tf.constant(n)).numpy())
    assert refusals(f) == [""]


def test_d4_shrinking_variables_are_compiled():
    def pascal(x):
        turn = lambda x: (x[:-1] + x[1:],)  # noqa: E731
        return tf.while_loop(lambda x: tf.shape(x)[0] > 2, turn, (x,), shape_invariants=(ROW,))[0]

    found, f = staged(pascal, tf.constant(np.arange(12, dtype=np.float32)))
    assert [x.numpy().tolist() for x in found] == [[5120.0, 6144.0]] * 4
    assert refusals(f) == [""]


@pytest.mark.parametrize(
    "key",
    [slice(1, None), slice(-2, None), slice(None, 3), slice(-3, -1), slice(None, None, -1),
     slice(4, 1, -1), slice(2, -1, 2), slice(-1, None, -2)],
    ids=str,
)  # fmt: skip
def test_d4_slices_of_grown_variables_are_those_of_numpy(key):
    @tf.function
    def grown(n):
        more = lambda x: (tf.concat([x, x[:1] + 1.0], 0),)  # noqa: E731
        start = (tf.constant([7.0]),)
        test = lambda x: tf.shape(x)[0] < n  # noqa: E731
        [x] = tf.while_loop(test, more, start, shape_invariants=(ROW,))
        return x[key], x

    for n in (1, 1, 1, 2, 5):
        part, whole = (x.numpy() for x in grown(tf.constant(n)))
        assert np.array_equal(part, whole[key])
    assert refusals(grown) == [""]


def test_d4_growing_loops_change_variables_and_draw():
    v = tf.Variable(0.0)

    def walk(n):
        def body(i, path):
            v.assign_add(1.0)
            return i + 1, tf.concat([path, tf.random.uniform([1], seed=4) + v * 10.0], 0)

        shapes = (NUMBER, ROW)
        start = (0, tf.zeros([1]))
        return tf.while_loop(lambda i, _: i < n, body, start, shape_invariants=shapes)[1]

    tf.random.set_seed(1)
    found, f = staged(walk, tf.constant(3))
    assert v.numpy() == 12.0
    v.assign(0.0)
    tf.random.set_seed(1)
    for path in found:
        assert np.array_equal(path.numpy(), walk(tf.constant(3)).numpy())
    assert refusals(f) == [""]


@pytest.mark.filterwarnings("ignore::gravure.PerformanceWarning")
def test_d4_a_loop_that_is_not_compiled_is_explained():
    x = tf.Variable(2.0)

    def slope(n):
        with tf.GradientTape() as tape:
            y = tf.constant(1.0)
            if n > 0:
                for _ in tf.range(n):
                    three = tf.numpy_function(lambda: np.float32(3.0), [], tf.float32)
                    y = y * x * tf.ensure_shape(three, [])
        return tape.gradient(y, x)

    found, f = staged(slope, tf.constant(3))
    assert [float(g) for g in found] == [324.0] * 4
    told = "is not compiled: the gradient of a Python step in a loop in a choice or a loop"
    assert told in f.explain()[-1]


@pytest.mark.parametrize("change", ["assign_add", "assign", "scaled", "in a choice"])
def test_d4_no_gradient_passes_through_a_change_of_a_variable(graph, change):
    x, c = v1.placeholder(tf.float32, []), v1.placeholder(tf.float32, [])
    v = v1.get_variable("v", initializer=TWO, use_resource=True)

    def changed():
        match change:
            case "assign_add":
                return v.assign_add(c)
            case "assign":
                return v.assign(c)
            case "scaled":
                return v.assign(v * c)
        return tf.cond(c > 0.0, lambda: v.assign_sub(c), lambda: v.assign_add(c))

    def body(i, y):
        y = y * v
        with tf.control_dependencies([y]):
            now = changed()
        with tf.control_dependencies([now]):
            return i + 1, y * v.read_value() + 1.0

    y = tf.while_loop(lambda i, y: i < 3, body, (0, x))[1]
    slopes = tf.gradients(y, [x, v, c], unconnected_gradients="zero")
    with v1.Session() as session:
        rows = []
        for _ in range(6):  # interpreted, then compiled
            session.run(v.initializer)
            rows.append(session.run([y, *slopes], {x: 1.0, c: 0.5}))
    assert rows[0] == rows[-1]
    if change == "assign":  # it is 2 in its first read, and 0.5 in the five others

        def of_reads(values):
            y = 1.0
            for first, second in zip(values[::2], values[1::2], strict=True):
                y = y * first * second + 1.0
            return y

        reads = np.array([2.0, *[0.5] * 5])
        one_by_one = [(of_reads(reads + d) - of_reads(reads - d)) * 2.0 for d in np.eye(6) / 4.0]
        assert rows[0] == [of_reads(reads), np.prod(reads), sum(one_by_one), 0.0]


def test_d4_variables_that_loops_read_have_gradients_of_the_same_bits_once_compiled(graph):
    rng = np.random.default_rng(0)
    x = v1.placeholder(tf.float32, [8])
    v = v1.get_variable("v", initializer=np.float32(rng.normal(size=8)), use_resource=True)

    def body(i, y):
        return i + 1, tf.tanh(y * v) + tf.sin(y * v)

    y = tf.while_loop(lambda i, y: i < 9, body, (0, x))[1]
    slopes = tf.gradients(y, [x, v])
    row = rng.normal(size=8).astype(np.float32)
    with v1.Session() as session:
        session.run(v.initializer)
        found = [[a.tobytes() for a in session.run([y, *slopes], {x: row})] for _ in range(7)]
    assert found == found[:1] * 7


def test_d4_code_inside_of_loops_and_choices_finds_the_collections_of_the_graph(graph):
    v = v1.get_variable("v", [], use_resource=True)
    v1.add_to_collection("rates", v)
    seen = []

    def look(value):
        v1.add_to_collection("rates", value)
        seen.append((len(v1.get_collection("rates")), v1.trainable_variables() == [v]))
        return value + 1

    tf.while_loop(lambda i: i < 3, look, (0,))
    tf.cond(tf.constant(True), lambda: look(tf.constant(1)), lambda: look(tf.constant(2)))
    assert seen == [(2, True), (3, True), (4, True)]
    assert len(v1.get_collection("rates")) == 4


def test_d4_gradients_inside_of_a_choice_come_to_tensors_of_the_graph_outside(graph):
    x = v1.placeholder(tf.float32, [4])
    v = v1.get_variable("v", initializer=np.float32([0.5, 1.0, 1.5, 2.0]), use_resource=True)
    ways = (
        lambda: x * v,
        lambda: tf.cond(tf.reduce_sum(x) > 1.0, lambda: x * v, lambda: v + x),
        lambda: tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y * v)), (0, x)
        )[1],
    )  # fmt: skip

    def slopes(way):
        return tf.add_n(tf.gradients(way(), [x, v]))

    made = [tf.cond(tf.reduce_sum(x) > 0.0, lambda way=way: slopes(way), lambda: x) for way in ways]
    # what TensorFlow 2.21 gives
    wanted = [[1.5, 3.0, 4.5, 6.0]] * 2
    wanted += [[0.78440577, 0.40913123, -0.1080991, -0.3977945]]
    with v1.Session() as session:
        session.run(v.initializer)
        for _ in range(6):
            found = session.run(made, {x: [1.0, 2.0, 3.0, 4.0]})
            np.testing.assert_allclose(found, wanted, rtol=1e-5)
