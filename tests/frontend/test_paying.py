"""When functions are compiled: by what their calls and compiling cost, which is counted."""

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.function.staged import Staged
from gravure.frontend.graph.tolls import LEAST, SHARE, TALLY, Account, Outlook

pytestmark = pytest.mark.paying
X = tf.constant(np.linspace(0, 1, 12).reshape(3, 4).astype("f"))


def plan_of(function, *arguments):
    return function.get_concrete_function(*arguments).graph.whole_plan()


def known(function, *arguments):
    """Return what is known of the only shapes that a function was called with."""
    [found] = plan_of(function, *arguments).compiled.values()
    return found


def first_compiled(function, *arguments):
    """Return which call is the first one that compiled code makes, from one."""
    for number in range(1, 2000):
        function(*arguments)
        if isinstance(known(function, *arguments), Staged):
            return number
    raise AssertionError("it is never compiled")


def chain(count):
    """Return a function of some operations."""

    @tf.function
    def function(x):
        for factor in range(count):
            x = tf.sin(x) * float(factor)
        return x

    return function


def test_a_function_is_compiled_once_its_calls_have_taken_a_part_of_what_compiling_takes():
    function = chain(3)
    plan = plan_of(function, X)
    assert first_compiled(function, X) == -(-SHARE * plan.price // plan.toll)


def test_it_is_the_same_call_each_time_whatever_the_clock_says(monkeypatch):
    first = first_compiled(chain(4), X)
    for name in ("perf_counter", "perf_counter_ns", "monotonic", "process_time", "time"):
        monkeypatch.setattr(f"time.{name}", lambda: 0)
    assert first_compiled(chain(4), X) == first


def test_a_call_that_takes_as_much_by_itself_is_compiled_at_once():
    much = tf.zeros([1 << 13, 1 << 10])
    assert first_compiled(chain(3), much) == 1
    assert first_compiled(chain(3), X) > 20


def rounds():
    """Return a function that goes round as often as it is told."""

    @tf.function
    def function(x, count):
        for _ in tf.range(count):
            x = x * 0.5 + 1.0
        return x

    return function


def test_the_trips_of_a_loop_count_as_they_are_made():
    few, some, many = (first_compiled(rounds(), X, tf.constant(n)) for n in (1, 10, 1000))
    assert few > 2 * some > 8 == 4 * many


def long_loops():
    """Return functions that go round often, with arguments for that."""
    total = tf.Variable(0.0)

    @tf.function
    def until(limit):
        count, odd = 0, 0
        while count < limit:
            if count % 2 == 1:
                odd += count
            count += 1
        return count, odd

    @tf.function
    def drawn(limit):
        total.assign(0.0)
        x = tf.zeros([2])
        for i in tf.range(limit):
            x += tf.random.stateless_uniform([2], tf.stack([i, 3])) + tf.random.uniform([2])
            total.assign_add(1.0)
        return x, total.read_value()

    @tf.function
    def nested(limit):
        made = tf.TensorArray(tf.int32, size=limit)
        for i in tf.range(limit):
            inner = 0
            for j in tf.range(i):
                inner += j
            made = made.write(i, inner)
        return made.stack()

    return {"until": (until, 3000), "drawn": (drawn, 600), "nested": (nested, 200)}


@pytest.mark.parametrize("name", ["until", "drawn", "nested"])
def test_what_is_left_of_a_long_loop_is_compiled_in_the_first_call(name, monkeypatch):
    function, limit = long_loops()[name]
    tf.random.set_seed(7)
    found = [np.asarray(x) for x in tf.nest.flatten(function(tf.constant(limit)))]
    assert isinstance(known(function, tf.constant(limit)), Account)
    loops = [op.kind for op in plan_of(function, tf.constant(limit)).ops if op.type == "While"]
    [rest] = [made for kind in loops for made in kind.alone.whole_plan().compiled.values()]
    assert isinstance(rest, Staged)
    monkeypatch.setattr(Outlook, "is_worth", lambda *_: False)
    tf.random.set_seed(7)
    wanted = [np.asarray(x) for x in tf.nest.flatten(long_loops()[name][0](tf.constant(limit)))]
    for one, other in zip(found, wanted, strict=True):
        assert one.tobytes() == other.tobytes()


def halved(x):
    """Return what twenty steps make of a tensor."""
    for _ in range(20):
        x = x * 0.5
    return x


@tf.function
def plain(limit, x):
    for _ in tf.range(limit):
        x = halved(x)
    return x


@tf.function
def down(limit, x):
    while limit > 0:
        x = halved(x)
        limit -= 1
    return x


@tf.function
def broken(limit, x):
    for _ in tf.range(limit):
        x = halved(x)
        if tf.reduce_max(x) > 2.0:
            break
    return x


@tf.function
def limited(limit, x):
    return tf.while_loop(lambda x: tf.reduce_max(x) < 2.0, halved, [x], maximum_iterations=limit)


COUNTING = {"plain": plain, "down": down, "broken": broken, "limited": limited}


def rest_of(function, *arguments):
    [loop] = [op.kind for op in plan_of(function, *arguments).ops if op.type == "While"]
    made = [] if loop.alone is None else [*loop.alone.whole_plan().compiled.values()]
    return [each for each in made if isinstance(each, Staged)]


@pytest.mark.parametrize("kind", ["plain", "down", "broken", "limited"])
def test_a_loop_that_says_how_often_it_goes_round_is_compiled_where_that_pays(kind):
    few, function = tf.constant(70), tf.function(COUNTING[kind].python_function)
    before = TALLY.spent
    function(few, X)
    spent, price = TALLY.spent - before, plan_of(function, few, X).price
    assert SHARE * price < spent < price
    assert not rest_of(function, few, X)
    many, function = tf.constant(5000), tf.function(COUNTING[kind].python_function)
    before = TALLY.spent
    function(many, X)
    assert rest_of(function, many, X)
    if kind in {"plain", "down"}:
        assert LEAST <= TALLY.spent - before < 2 * LEAST < SHARE * price


def test_a_loop_that_cannot_be_compiled_goes_on_as_before():
    seen = []

    @tf.function
    def noted(limit):
        count = 0
        while count < limit:
            tf.py_function(lambda x: seen.append(int(x)), [count], [])
            count += 1
        return count

    assert int(noted(tf.constant(700))) == 700
    assert seen == [*range(700)]


def test_a_long_loop_ends_in_time_where_that_is_limited():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        done = tf.while_loop(lambda i: i < 1 << 25, lambda i: i + 1, [tf.constant(0)])
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(done, options=tf.compat.v1.RunOptions(timeout_in_ms=400))
        [plan] = session._plans.values()
        [kind] = [op.kind for op in plan.ops if op.type == "While"]
        assert not kind.alone.whole_plan().compiled


def test_branches_and_calls_count_as_they_are_taken():
    inner = chain(20)

    @tf.function
    def either(x, much):
        return inner(x) if much else x

    plan = plan_of(either, X, tf.constant(True))
    for much in (False, True):
        either(X, tf.constant(much))
        account = known(either, X, tf.constant(much))
        assert (account.last > 2 * plan.toll) == much
    assert account.calls == 2


def test_elements_of_sizes_that_are_not_known_count_as_they_come():
    signature = [tf.TensorSpec([None], tf.float32)]
    function = tf.function(lambda x: x * 2.0 + 1.0, input_signature=signature)
    accounts = {}
    for size in (4, 1 << 20):
        function(tf.zeros([size]))
        accounts[size] = plan_of(function).compiled[(size,),]
    assert accounts[1 << 20].last > accounts[4].last + 500


def test_each_shape_has_an_account_of_its_own():
    signature = [tf.TensorSpec([None], tf.float32)]
    function = tf.function(lambda x: tf.sin(x) * 2.0 + 1.0, input_signature=signature)
    for _ in range(5):
        function(tf.zeros([3]))
    function(tf.zeros([4]))
    made = plan_of(function).compiled
    assert [made[shape,].calls for shape in ((3,), (4,))] == [5, 1]


def test_calls_under_a_tape_are_counted_for_the_programs_of_both_ways():
    function = chain(4)
    concrete = function.get_concrete_function(X)
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = function(X)
        assert np.isfinite(tape.gradient(y, X)).all()
    [account] = concrete.gradients.known.values()
    assert account.calls == 3
    assert account.spent >= 3 * concrete.graph.whole_plan().toll


def test_a_session_counts_its_runs():
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [3])
        y = tf.sin(x) * 2.0
        with tf.compat.v1.Session() as session:
            plans = session._plans
            for _ in range(5):
                session.run(y, {x: np.ones(3, "f")})
            [plan] = plans.values()
            [account] = plan.compiled.values()
            assert account.calls == 5
            while not isinstance(plan.compiled[(3,),], Staged):
                session.run(y, {x: np.ones(3, "f")})
                assert plan.compiled[(3,),] is not None
    assert account.ahead(plan.toll) >= SHARE * plan.price


def step_of_training():
    """Return a step, and the weights that it changes."""
    weights = tf.Variable(np.linspace(-1, 1, 16).reshape(4, 4).astype("f"))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            y = tf.tanh(x @ weights)
        weights.assign_sub(0.01 * tape.gradient(y, weights))
        return y * tf.random.stateless_uniform([3, 4], [1, 2])

    return step, weights


@pytest.mark.parametrize("first", [0, 1, 3])
def test_a_call_gives_the_same_bits_before_and_behind(first, monkeypatch):
    def run(first):
        step, weights = step_of_training()
        monkeypatch.setattr(Account, "is_due", lambda account, *_: account.calls >= first)
        made = [step(X).numpy().tobytes() for _ in range(5)]
        return made, weights.numpy().tobytes()

    assert run(first) == run(5)
