"""Graphs, sessions, state, control flow and gradients: one test a row of the feature table."""

import threading

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.frontend.eager.tensor import apply
from gravure.frontend.function.libraries import program_of
from gravure.frontend.graph.frame import Store
from gravure.frontend.graph.gradients import OVERRIDES
from gravure.frontend.graph.symbolic import FinalizedGraphError
from gravure.frontend.values import dtypes
from gravure.ir.families import Unary
from gravure.ir.op import REGISTRY, register
from gravure.passes.manager import run

v1 = tf.compat.v1


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


def test_a1_a_node_has_several_outputs_and_both_ends_know_each_other(graph):
    parts = tf.split(tf.constant([1.0, 2.0, 3.0]), 3)
    assert [t.name for t in parts] == ["split:0", "split:1", "split:2"]
    assert len({id(t.op) for t in parts}) == 1
    assert all(a is b for a, b in zip(parts[0].op.outputs, parts, strict=True))
    user = tf.exp(parts[1])
    assert parts[1].consumers() == [user.op]
    assert len(user.op.inputs) == 1
    assert user.op.inputs[0] is parts[1]
    assert parts[0].consumers() == []


def test_a2_names_are_unique_and_scopes_are_numbered(graph):
    names = [tf.constant(1.0).name, tf.constant(1.0).name]
    with tf.name_scope("s"):
        a = tf.constant(1.0)
        names += [a.name, tf.add(a, a).name]
    with tf.name_scope("s"):
        names.append(tf.constant(1.0).name)
    assert names == ["Const:0", "Const_1:0", "s/Const:0", "s/Add:0", "s_1/Const:0"]
    assert v1.Session().run("s/Add:0") == 2.0


def test_a3_control_edges_order_effects_and_can_be_cleared(graph):
    v = v1.Variable(1.0)
    with tf.control_dependencies([v.assign(5.0)]):
        read = v.read_value()
        with tf.control_dependencies(None):
            free = tf.constant(1.0)
    assert free.op.control_inputs == []
    with v1.Session() as s:
        s.run(v1.global_variables_initializer())
        assert s.run(read) == 5.0


def test_a4_types_are_not_promoted(graph):
    whole, real = tf.add(1, 2).op, tf.add(1.0, 2.0).op
    assert whole.type == real.type
    assert [whole.get_attr("T"), real.get_attr("T")] == [tf.int32, tf.float32]
    with pytest.raises(ValueError, match="has no attr named 'U'"):
        whole.get_attr("U")
    with pytest.raises(TypeError, match=r"int32 tensor.*float tensor"):
        tf.constant(1) + tf.constant(1.0)


def test_a7_shapes_are_checked_when_an_operation_is_made(graph):
    shapes = r"Dimensions must be equal, but are 3 and 4.*\[2, 3\].*\[4, 5\]"
    with pytest.raises(ValueError, match=rf"test_graph_rows\.py:\d+.*: {shapes}"):
        tf.matmul(tf.ones([2, 3]), tf.ones([4, 5]))
    unknown = v1.placeholder(tf.float32, [None, 3])
    assert tf.matmul(unknown, tf.ones([3, 5])).shape.as_list() == [None, 5]
    assert tf.exp(v1.placeholder(tf.float32)).shape.rank is None


def test_b1_a_graph_grows_between_runs_until_it_is_finalized(graph):
    a = tf.constant(2)
    s = v1.Session()
    assert s.run(a) == 2
    b = a * 3
    assert s.run(b) == 6
    graph.finalize()
    with pytest.raises(FinalizedGraphError, match=r"Graph is finalized and cannot be modified\."):
        tf.constant(1)


def test_b2_only_what_is_needed_runs(graph):
    v = v1.Variable(0.0)
    a = v.assign_add(1.0)
    missing = v1.placeholder(tf.float32)
    tf.exp(missing)
    c = tf.constant(3.0)
    with v1.Session() as s:
        s.run(v1.global_variables_initializer())
        assert s.run(c) == 3.0
        assert s.run(v) == 0.0
        s.run(a)
        assert s.run(v) == 1.0


def test_b3_any_edge_can_be_fed(graph):
    x = v1.placeholder(tf.float32)
    y = tf.multiply(x, x)
    z = tf.add(x, y)
    s = v1.Session()
    assert s.run(z, {x: 2}) == 6
    assert s.run(z, {x: 2, y: 2}) == 4
    assert s.run(z, {y: 3, x: 1}) == 4
    assert s.run("Add:0", {"Placeholder:0": 5}) == 30


def test_b4_results_have_the_structure_of_the_fetches(graph):
    a, n = tf.constant(1.0), tf.no_op()
    found = v1.Session().run({"k": [a, (a * 2.0, a * 2.0)], "o": n, "e": []})
    assert found == {"k": [1.0, (2.0, 2.0)], "o": None, "e": []}
    assert v1.Session().run(("Const:0", ["mul:0", n.name])) == (1.0, [2.0, None])


def test_b5_what_cannot_be_run_is_named(graph):
    x = v1.placeholder(tf.float32, [2], name="x")
    s = v1.Session()
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="You must feed a value for placeholder tensor 'x'"
    ):
        s.run(x)
    with pytest.raises(ValueError, match=r"Cannot feed value of shape \(3,\) for Tensor x:0"):
        s.run(x, {x: [1, 2, 3]})
    with pytest.raises(ValueError, match="which has shape"):
        s.run(x, {x: [[1.0, 2.0]]})
    with pytest.raises((TypeError, ValueError), match=r"text|could not convert|type"):
        s.run(x, {x: ["a", "b"]})
    for fetch, what in ((3, "int"), ([...], "ellipsis")):
        with pytest.raises(TypeError, match=what):
            s.run(fetch)


def test_b6_a_second_run_of_one_signature_plans_nothing(graph):
    x = v1.placeholder(tf.float32)
    y, s = x + 1.0, v1.Session()
    for value in range(5):
        s.run(y, {x: value})
    assert s.compiles == 1


def test_b7_threads_may_run_one_session(graph):
    v = v1.Variable(0)
    step, s = v.assign_add(1), v1.Session()
    s.run(v1.global_variables_initializer())

    def work():
        for _ in range(1000):
            s.run(step)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert s.run(v) == 8000


def test_c1_a_variable_keeps_its_value_between_runs(graph):
    v = v1.Variable(0.0, name="v")
    more, less = v.assign_add(1.0), v.assign_sub(5.0)
    with v1.Session() as s:
        s.run(v1.global_variables_initializer())
        for _ in range(3):
            s.run(more)
        assert s.run(v) == 3.0
        s.run(less)
        assert s.run(v) == -2.0


def test_c2_a_variable_without_a_value_is_not_read(graph):
    v = v1.Variable(0.0, name="v")
    s = v1.Session()
    with pytest.raises(
        tf.errors.FailedPreconditionError, match="Attempting to use uninitialized value v"
    ):
        s.run(v)
    s.run(v.initializer)
    assert s.run(v) == 0.0


def test_c3_two_sessions_have_values_of_their_own(graph):
    v = v1.Variable(0.0)
    step, one, two = v.assign_add(1.0), v1.Session(), v1.Session()
    for s in (one, two):
        s.run(v1.global_variables_initializer())
    one.run(step)
    assert [one.run(v), two.run(v)] == [1.0, 0.0]


def test_c4_containers_are_shared_by_name():
    sessions = []
    for _ in range(2):
        with tf.Graph().as_default() as made:
            with v1.container("c"):
                v = v1.Variable(1.0, name="shared")
            own = v1.Variable(1.0, name="own")
            sessions.append((v1.Session(graph=made), v, v.assign(7.0), own, own.assign(2.0)))
    (first, _, write, _, alone), (second, read, _, own, _) = sessions
    first.run([write, alone])
    assert second.run(read) == 7.0
    with pytest.raises(tf.errors.FailedPreconditionError, match="own"):
        second.run(own)
    v1.Session.reset("", ["c"])
    with pytest.raises(tf.errors.CancelledError, match="closed"):
        second.run(read)
    with (
        v1.Session(graph=second.graph) as third,
        pytest.raises(tf.errors.FailedPreconditionError, match="shared"),
    ):
        third.run(read)


def test_c7_effects_in_functions_happen_in_program_order():
    a, b = tf.Variable(1.0), tf.Variable(1.0)

    @tf.function
    def f():
        a.assign(2.0)
        b.assign(3.0)
        return a + b

    v = tf.Variable(1.0)

    @tf.function
    def g():
        v.assign(2.0)
        return v.read_value()

    for _ in range(4):
        v.assign(1.0)
        assert float(f()) == 5.0
        assert float(g()) == 2.0


def test_d3_only_the_branch_that_is_taken_runs(graph):
    v, w = v1.Variable(0), v1.Variable(0)
    p = v1.placeholder(tf.bool, [])
    outside = w.assign_add(1)

    def yes():
        with tf.control_dependencies([v.assign_add(1)]):
            return tf.identity(outside)

    y = tf.cond(p, yes, lambda: tf.identity(outside))
    with v1.Session() as s:
        s.run(v1.global_variables_initializer())
        s.run(y, {p: False})
        assert s.run([v, w]) == [0, 1]
        s.run(y, {p: True})
        assert s.run([v, w]) == [1, 2]


def test_d4_loops_have_any_number_of_trips(graph):
    n = v1.placeholder(tf.int32, [])
    found = tf.while_loop(lambda i, p: i < n, lambda i, p: [i + 1, p * 2], [0, 1])[1]
    s = v1.Session()
    assert [s.run(found, {n: k}) for k in (5, 0)] == [32, 1]
    with pytest.raises(ValueError, match="use the `shape_invariants` argument"):
        tf.while_loop(
            lambda x: tf.size(x) < 5, lambda x: [tf.concat([x, x], 0)], [tf.constant([1.0])]
        )
    [grown] = tf.while_loop(
        lambda x: tf.size(x) < 5,
        lambda x: [tf.concat([x, x], 0)],
        [tf.constant([1.0])],
        shape_invariants=[tf.TensorShape([None])],
    )
    assert s.run(grown).tolist() == [1.0] * 8


def test_d5_gradients_go_through_loops_and_choices(graph):
    x = v1.placeholder(tf.float32, [])
    n = v1.placeholder(tf.int32, [])
    y = tf.while_loop(lambda i, p: i < n, lambda i, p: [i + 1, p * x], [0, 1.0])[1]
    g = tf.gradients(y, x)[0]
    s = v1.Session()
    assert s.run([y, g], {x: 2.0, n: 5}) == [32.0, 80.0]
    assert s.run([y, g], {x: 2.0, n: 0}) == [1.0, 0.0]
    z = tf.cond(x > 0.0, lambda: x * x, lambda: x * -3.0)
    dz = tf.gradients(z, x)[0]
    assert [s.run([z, dz], {x: k}) for k in (2.0, -2.0)] == [[4.0, 4.0], [6.0, -3.0]]


def test_d6_loops_nest_in_choices_in_loops(graph):
    n = v1.placeholder(tf.int32, [])

    def inner(i):
        return tf.while_loop(lambda j, t: j < i, lambda j, t: [j + 1, t + j], [0, 0])[1]

    def body(i, t):
        return [i + 1, t + tf.cond(i > 2, lambda: inner(i), lambda: i)]

    found = tf.while_loop(lambda i, t: i < n, body, [0, 0])[1]
    expected = sum(sum(range(i)) if i > 2 else i for i in range(6))
    assert v1.Session().run(found, {n: 6}) == expected


def test_f1_f2_f3_gradients_extend_the_graph(graph):
    x, lone = tf.constant(3.0), tf.constant(1.0)
    s = v1.Session()
    assert s.run(tf.gradients(x * x + x, x)[0]) == 7.0
    assert tf.gradients(x * x, lone) == [None]
    assert s.run(tf.gradients(x * x, lone, unconnected_gradients="zero")[0]) == 0.0
    first = tf.gradients(x * x * x, x)[0]
    assert s.run([first, tf.gradients(first, x)[0]]) == [27.0, 18.0]
    parts = tf.split(tf.stack([x, x]), 2)
    assert s.run(tf.gradients(parts[0], x)[0]) == 1.0


def test_f5_an_operation_without_a_gradient_gives_none_or_its_name(graph):
    x = tf.constant([1.0, 2.0])
    assert tf.gradients(tf.cast(tf.argmax(x), tf.float32), x) == [None]


def test_g9_python_runs_in_a_graph(graph):
    y = tf.py_function(lambda x: x + 1.0, [tf.constant(1.0)], tf.float32)
    assert v1.Session().run(y) == 2.0


def test_g10_random_numbers_differ_by_run_and_repeat_by_seed(graph):
    r = tf.random.uniform([3], seed=1)
    pair = [r + 0.0, r + 0.0]
    first, second = v1.Session(), v1.Session()
    a, b = first.run(pair)
    assert np.array_equal(a, b)
    assert not np.array_equal(a, first.run(r))
    assert np.array_equal(a, second.run(r))


def test_d1_what_is_not_taken_is_dead(graph):
    x = v1.placeholder(tf.float32, [])
    p = v1.placeholder(tf.bool, [])
    no, yes = tf.raw_ops.Switch(data=x, pred=p)
    merged, index = tf.raw_ops.Merge(inputs=[no * 2.0, yes * 3.0])
    s = v1.Session()
    assert s.run([merged, index], {x: 7.0, p: True}) == [21.0, 1]
    assert s.run([merged, index], {x: 7.0, p: False}) == [14.0, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Retval\[0\] does not have value"):
        s.run(no, {x: 7.0, p: True})


def test_f5_unique_has_no_gradient(graph):
    x = tf.constant([1.0, 2.0, 1.0])
    with pytest.raises(LookupError, match="No gradient defined for operation 'Unique'"):
        tf.gradients(tf.unique(x)[0], x)


def test_f2_weights_and_stops(graph):
    x = tf.constant(3.0)
    y = x * x
    s = v1.Session()
    assert s.run(tf.gradients(y, x, grad_ys=tf.constant(12.0))[0]) == 72.0
    assert s.run(tf.gradients(y * tf.stop_gradient(y), x)[0]) == 54.0


def test_f4_a_graph_overrides_a_gradient(graph):
    OVERRIDES["custom"] = lambda op, grad: grad * -99.0
    graph.gradient_overrides["Identity"] = "custom"
    x = tf.constant(1.0)
    assert v1.Session().run(tf.gradients(tf.identity(x), x)[0]) == -99.0


def test_c5_a_run_resumes_from_its_checkpoint(graph, tmp_path):
    v = v1.Variable([1.0, 2.0], name="v")
    step = v.assign_add(v.read_value() * 0.5)
    saver = v1.train.Saver()
    with v1.Session() as s:
        s.run(v1.global_variables_initializer())
        s.run(step)
        path = saver.save(s, str(tmp_path / "m"), global_step=1)
        for _ in range(2):
            s.run(step)
        expected = s.run(v)
    with v1.Session() as again:
        saver.restore(again, tf.train.latest_checkpoint(str(tmp_path)))
        for _ in range(2):
            again.run(step)
        assert np.array_equal(again.run(v), expected)
    assert path.endswith("m-1")


def test_h1_equal_draws_stay_two(graph):
    a, b = tf.random.uniform([4]), tf.random.uniform([4])
    first, second = v1.Session().run([a, b])
    assert not np.array_equal(first, second)


def test_h4_effects_are_kept():
    v = tf.Variable(0.0)

    @tf.function
    def f(x):
        tf.matmul(x, x)
        v.assign_add(1.0)
        return x

    f(tf.eye(2))
    assert float(v) == 1.0


def test_a6_an_operation_from_elsewhere_runs_four_ways(tmp_path):
    class Doubled(Unary):
        """Twice each element."""

        name = "test.doubled"

        @classmethod
        def formula(cls, x):
            return x + x

        @classmethod
        def backward(cls, grad, y, x):
            return (grad * 2.0,)

    register(Doubled)
    try:
        x = np.float32([1.0, 3.0])
        doubled = lambda x: apply(Doubled, x)  # noqa: E731
        assert doubled(tf.constant(x)).numpy().tolist() == [2.0, 6.0]
        with tf.Graph().as_default():
            fed = v1.placeholder(tf.float32, [2])
            y = doubled(fed)
            [slope] = tf.gradients(y * y, fed)
            found = v1.Session().run([y, slope], {fed: x})
        assert np.array_equal(found, [[2.0, 6.0], [8.0, 24.0]])
        f = tf.function(doubled)
        for _ in range(4):
            assert f(tf.constant(x)).numpy().tolist() == [2.0, 6.0]
        [concrete] = f.cache.values()
        assert concrete.graph.refusal == ""
        f.save(tmp_path / "f.so", tf.TensorSpec([2]), frozen=True)
        assert gv.load(tmp_path / "f.so")(x).tolist() == [2.0, 6.0]
    finally:
        del REGISTRY["test.doubled"]


@pytest.mark.parametrize("dtype", [d for d in dtypes.TYPES.values() if d is not dtypes.string])
def test_a9_constants_of_every_type_go_through_a_session(graph, dtype):
    values = np.array([1, 0, 1]).astype(dtype.numpy)
    x = tf.constant(values)
    found, same = v1.Session().run([x, tf.identity(x)])
    assert x.dtype == dtype
    assert found.dtype == same.dtype == dtype.numpy
    assert found.tobytes() == same.tobytes() == values.tobytes()  # (some types have no 0, but NaN)


def test_a9_text_is_made_passed_on_and_fetched(graph):
    x = tf.identity(tf.constant(["a", "bc"]))
    assert v1.Session().run(x).tolist() == [b"a", b"bc"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="no such operation on text"):
        tf.exp(x)


def test_a9_text_goes_through_whatever_only_moves_joins_or_chooses(graph):
    x = tf.constant([["a", "bc"], ["d", "e"]])
    y = tf.gather(x, [[1], [0]], batch_dims=1)
    z = tf.where(tf.equal(x, "a"), x + "!", tf.transpose(x))
    found = v1.Session().run([y, z, tf.not_equal(x, "e")])
    assert found[0].tolist() == [[b"bc"], [b"d"]]
    assert found[1].tolist() == [[b"a!", b"d"], [b"bc", b"e"]]
    assert found[2].tolist() == [[True, True], [True, False]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="no such operation on text"):
        tf.less(x, "b")


def test_h1_equal_operations_are_one_and_draws_stay_two():
    @tf.function
    def both(x):
        return tf.exp(x) + tf.exp(x), tf.random.uniform([4]) - tf.random.uniform([4])

    x = tf.constant([1.0])
    for _ in range(4):
        assert np.all(both(x)[1].numpy() != 0)
    graph = tf.function(lambda x: tf.exp(x) + tf.exp(x)).get_concrete_function(x).graph
    program = program_of(graph.whole_plan(), graph.inputs, ["y"], Store(), {})
    assert str(program.module).count("gv.exp ") == 2
    run(("cse", "dce"), program)
    assert str(program.module).count("gv.exp ") == 1


@pytest.mark.parametrize(
    "use",
    [
        lambda c: c + 1.0,
        tf.sin,
        lambda c: tf.concat([c, [1.0]], 0),
        tf.function(lambda x: x * 2),
        lambda c: tf.function(lambda: c * 2)(),
        tf.Variable,
    ],
)
def test_i21_a_tensor_of_a_graph_is_not_used_eagerly(use):
    graph = tf.Graph()
    with graph.as_default():
        c = tf.constant([1.0, 2.0])
    before = len(graph.get_operations())
    with pytest.raises((TypeError, ValueError), match="is used outside of it"):
        use(c)
    assert len(graph.get_operations()) == before


def test_b3_a_variable_that_is_fed_is_fed_wherever_it_is_read():
    v1.disable_v2_behavior()
    try:
        with tf.Graph().as_default(), v1.Session() as session:
            v = v1.get_variable("fed", initializer=3.0)
            doubled, changed = v * 2.0, v.assign(5.0)
            session.run(v1.global_variables_initializer())
            assert [session.run(doubled, {v: 10.0}) for _ in range(8)] == [20.0] * 8
            assert session.run([v, doubled], {v: 10.0}) == [10.0, 20.0]
            with pytest.raises(tf.errors.InvalidArgumentError, match="expected the variable"):
                session.run([doubled, changed], {v: 10.0})
            assert session.run([v, doubled]) == [3.0, 6.0]
    finally:
        v1.enable_v2_behavior()


def test_lists_that_were_fetched_before_are_what_they_were() -> None:
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 2])
        w = v1.Variable(np.ones((2, 2), np.float32))
        y = tf.reduce_sum(tf.matmul(x, w))
        more = w.assign_add(tf.ones([2, 2]))
        both = v1.py_func(lambda a: a * np.float32(2), [y], tf.float32)
        ends = {"list": [y, more.op], "tuple": (y, y), "calls": [both, y], "one": more.op}
        with v1.Session(graph=graph) as session:
            session.run(w.initializer)
            for number in range(12):
                rows = np.full((1 + number % 3, 2), number, np.float32)
                total = float(rows.sum()) * 2 * (number + 1)
                assert session.run(ends["tuple"], {x: rows}) == (total, total)
                assert session.run(ends["calls"], {x: rows}) == [total * 2, total]
                listed = session.run([*ends["list"]], {x: rows.tolist() if number == 9 else rows})
                assert listed[1] is None
                assert isinstance(listed[0], np.float32)
                with pytest.raises(ValueError, match="Cannot feed value of shape"):
                    session.run([y], {x: rows[0]})
                assert session.run(w)[0, 0] == number + 2
            assert session.run(ends["one"]) is None
            np.testing.assert_array_equal(session.run([w])[0], np.full((2, 2), 14))
        with pytest.raises(RuntimeError, match="closed Session"):
            session.run([*ends["list"]], {x: rows})
