"""A whole training step is one function: compiled, it does what it does eagerly."""

import threading

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.function.traces import PROCESS
from gravure.frontend.graph.variables import VariableState

OPTIMIZERS = {
    "sgd": lambda: tf.keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True),
    "adam": lambda: tf.keras.optimizers.Adam(0.01),
    "adamw": lambda: tf.keras.optimizers.AdamW(0.01),
    "adagrad": lambda: tf.keras.optimizers.Adagrad(0.05),
    "rmsprop": lambda: tf.keras.optimizers.RMSprop(0.01, momentum=0.5),
}


def train(make, steps, *, staged):
    rng = np.random.default_rng(0)
    weights = [
        tf.Variable(rng.normal(size=(8, 6)).astype("f") * 0.3),
        tf.Variable(np.zeros(6, "f")),
        tf.Variable(rng.normal(size=(6, 3)).astype("f") * 0.3),
    ]
    optimizer = make()

    def step(x, labels):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(x @ weights[0] + weights[1])
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, hidden @ weights[2])
            loss = tf.reduce_mean(losses)
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    run = tf.function(step) if staged else step
    x = tf.constant(rng.normal(size=(5, 8)).astype("f"))
    labels = tf.constant(rng.integers(0, 3, 5).astype("i4"))
    losses = [float(run(x, labels)) for _ in range(steps)]
    return losses, [w.numpy() for w in weights], run


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_f8_a_compiled_step_trains_as_the_eager_one(name):
    expected, weights, _ = train(OPTIMIZERS[name], 6, staged=False)
    losses, found, run = train(OPTIMIZERS[name], 6, staged=True)
    [concrete] = run.cache.values()
    assert concrete.graph.refusal == ""
    assert np.allclose(losses, expected, rtol=1e-4)
    for a, b in zip(found, weights, strict=True):
        assert np.allclose(a, b, rtol=1e-3, atol=1e-5)
    assert losses[-1] < losses[0]


def place(variable):
    return variable.state.value_in(PROCESS).__array_interface__["data"][0]


def test_c1_a_compiled_step_changes_variables_where_they_are(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAVURE_CACHE", str(tmp_path))  # what is in the cache has no report
    _, _, run = train(OPTIMIZERS["adam"], 4, staged=True)
    [concrete] = run.cache.values()
    [compiled] = concrete.compiled.values()
    variables = [compiled.arguments[i]() for i in compiled.updated]
    assert variables == [x() for x in compiled.written.handles if isinstance(x(), VariableState)]
    steps = compiled.model.compiled.report.steps
    [planned] = [step for step in steps if step.name == "plan-memory"]
    assert planned.rewrite.counts["copies left out"] == len(variables)
    x, labels = tf.constant(np.ones((5, 8), "f")), tf.constant(np.zeros(5, "i4"))
    before = [v.value_in(PROCESS).__array_interface__["data"][0] for v in variables]
    run(x, labels)
    assert before == [v.value_in(PROCESS).__array_interface__["data"][0] for v in variables]


def test_c1_what_was_read_of_a_variable_stays_when_it_is_changed_in_place():
    v = tf.Variable(np.ones(32, "f"))

    @tf.function
    def step():
        v.assign(v * 2)
        return tf.reduce_sum(v)

    for _ in range(3):
        step()
    whole, part = v.read_value(), v.read_value().numpy()[3:]
    first = place(v)
    assert float(step()) == 32 * 16
    assert place(v) != first
    assert np.array_equal(whole.numpy(), np.full(32, 8, "f"))
    step()
    assert np.array_equal(part, np.full(29, 8, "f"))
    second = place(v)
    step()
    assert place(v) == second
    assert np.array_equal(v.numpy(), np.full(32, 64, "f"))


def test_c7_old_values_are_read_before_a_step_writes_over_them():
    rng = np.random.default_rng(0)
    given = [rng.normal(size=(4, 4)).astype("f") for _ in range(3)]
    ends = []
    for decorate in (lambda f: f, tf.function):
        a, b, c = variables = [tf.Variable(x) for x in given]

        def step(a=a, b=b, c=c):
            old_a, old_b = a.read_value(), b.read_value()
            a.assign(tf.nn.tanh(old_b))  # a and b change places
            b.assign(tf.nn.tanh(old_a))
            c.assign(c @ a)  # a product of the new value, over an operand
            c.assign(c / tf.norm(c))
            return old_a @ old_b

        run = decorate(step)
        made = [run().numpy() for _ in range(5)]
        ends.append([*made, *(v.numpy() for v in variables)])
    for eager, staged in zip(*ends, strict=True):
        assert np.allclose(eager, staged, rtol=1e-4, atol=1e-6)


def test_c1_variables_change_places_and_keep_their_values():
    a, b = tf.Variable(np.arange(8, dtype="f")), tf.Variable(np.zeros(8, "f"))

    @tf.function
    def swap():
        old = a.read_value()
        a.assign(b)
        b.assign(old)

    for _ in range(5):
        swap()
    assert np.array_equal(a.numpy(), np.zeros(8))
    assert np.array_equal(b.numpy(), np.arange(8))


def test_c6_readers_wait_for_a_step_that_changes_in_place():
    v, w = (tf.Variable(np.zeros(1 << 16, "f")) for _ in range(2))

    @tf.function
    def step():
        v.assign_add(tf.ones_like(v))
        w.assign_add(tf.ones_like(w))

    for _ in range(3):
        step()
    done, torn = threading.Event(), []

    def read():
        while not done.is_set():
            found = v.numpy()
            torn.append(found.min() != found.max())

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(200):
        step()
    done.set()
    reader.join()
    assert not any(torn)
    assert np.array_equal(v.numpy(), np.full(1 << 16, 203, "f"))


def test_compiled_functions_run_on_as_many_threads_as_were_asked_for():
    threading_of = tf.config.threading
    x = tf.constant(np.ones((256, 256), "f"))
    try:
        for count in (1, 2):
            threading_of.set_intra_op_parallelism_threads(count)
            assert threading_of.get_intra_op_parallelism_threads() == count
            product = tf.function(lambda a: a @ a)
            for _ in range(3):
                product(x)
            [compiled] = product.get_concrete_function(x).graph.whole_plan().compiled.values()
            assert compiled.model.threads == count
    finally:
        threading_of.set_intra_op_parallelism_threads(0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="-1 threads, expected 0 or more"):
        threading_of.set_intra_op_parallelism_threads(-1)
