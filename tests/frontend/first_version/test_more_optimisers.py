"""Optimisers, schedules and averages of the first version; the values are TensorFlow's."""

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1
train = v1.train
KEPT = {"l1_regularization_strength": 0.01, "l2_regularization_strength": 0.02}


def dual(step):
    return train.AdagradDAOptimizer(0.1, step, **KEPT)


class Own(train.Optimizer):
    """A program's own optimiser, as the documentation shows how to write one."""

    def __init__(self, rate, use_locking=False, name="Own"):
        super().__init__(use_locking, name)
        self._rate_given = rate

    def _create_slots(self, var_list):
        for variable in var_list:
            self._zeros_slot(variable, "m", self._name)

    def _prepare(self):
        self._now = tf.convert_to_tensor(self._call_if_callable(self._rate_given))

    def _apply_dense(self, grad, var):
        kept = self.get_slot(var, "m")
        new = kept.assign(kept * 0.5 + grad)
        return tf.group(v1.assign_sub(var, self._now * new), new)


DENSE = {
    "ftrl": (
        lambda _: train.FtrlOptimizer(0.1, **KEPT),
        [[0.60032, -1.57258], [0.00897, -0.04863], [2.57301, 3.56997]],
        ["w/Ftrl:0", "w/Ftrl_1:0"],
    ),
    "shrinking": (
        lambda _: train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.1, beta=0.3),
        [[0.5135, -1.44017], [0.00681, -0.0378], [2.43032, 3.41929]],
        ["w/Ftrl:0", "w/Ftrl_1:0"],
    ),
    "proximal": (
        lambda _: train.ProximalGradientDescentOptimizer(0.1, 0.1, 0.02),
        [[0.34756, -0.81268], [0.06312, -0.0], [1.16024, 1.56658]],
        [],
    ),
    "proximal adagrad": (
        lambda _: train.ProximalAdagradOptimizer(0.1, **KEPT),
        [[0.73379, -1.72597], [0.07786, -0.04296], [2.72326, 3.72208]],
        ["w/ProximalAdagrad:0"],
    ),
    "dual averaging": (
        dual,
        [[-0.08424, 0.07623], [-0.0624, -0.04356], [-0.09435, -0.09573]],
        ["w/AdagradDA:0", "w/AdagradDA_1:0"],
    ),
    "descent": (
        lambda _: train.GradientDescentOptimizer(lambda: 0.1),
        [[0.38008, -0.84872], [0.09336, -0.02542], [1.19928, 1.60888]],
        [],
    ),
    "own": (
        lambda _: Own(0.1),
        [[0.07873, -0.28907], [-0.00709, -0.04264], [0.32393, 0.44653]],
        ["w/Own:0"],
    ),
}
"""What makes an optimiser -> the variable behind four steps, and the variables kept for it."""
SPARSE = {
    "ftrl": [[0.66418, -1.65184], [0.3, 0.01], [2.57063, 3.56813]],
    "proximal": [[0.10689, -0.23546], [0.3, 0.01], [1.18963, 1.59597]],
    "proximal adagrad": [[0.73489, -1.72707], [0.3, 0.01], [2.7233, 3.72209]],
    "dual averaging": [[-0.07104, 0.08487], [0.3, 0.01], [-0.08934, -0.09197]],
    "descent": [[0.1296, -0.2592], [0.3, 0.01], [1.2288, 1.6384]],
}

SCHEDULES, NOISY = [0.23677, 0.3635, 0.5, 0.45249], -0.14584
AVERAGES = {False: [0.58, 0.542], True: [2.14022, 2.0]}


def trained(make, *, sparse):
    """Return a variable behind four steps, and the names of all others."""
    step = train.get_or_create_global_step()
    first = [[1.0, -2.0], [0.3, 0.01], [3.0, 4.0]]
    w = v1.get_variable("w", [3, 2], initializer=v1.constant_initializer(first))
    rows = tf.gather(w, [0, 2, 0]) if sparse else w
    loss = tf.reduce_sum(tf.square(rows)) + (0.0 if sparse else tf.reduce_sum(w) * 0.1)
    op = make(step).minimize(loss, step)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for _ in range(4):
            session.run(op)
        assert session.run(step) == 4
        return session.run(w), [v.name for v in v1.global_variables()]


@pytest.mark.parametrize("name", DENSE)
def test_dense_gradients(name):
    make, values, kept = DENSE[name]
    with tf.Graph().as_default():
        found, names = trained(make, sparse=False)
    np.testing.assert_allclose(found, values, atol=2e-5)
    assert names == ["global_step:0", "w:0", *kept]


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_gradients(name):
    with tf.Graph().as_default():
        found, _ = trained(DENSE[name][0], sparse=True)
    np.testing.assert_allclose(found, SPARSE[name], atol=2e-5)


def test_eagerly_and_in_functions():
    for wrap in (lambda f: f, tf.function):
        w = tf.Variable([[1.0, -2.0], [0.3, 0.01], [3.0, 4.0]])
        optimiser = train.FtrlOptimizer(0.1, **KEPT)

        def loss(w=w):
            return tf.reduce_sum(tf.square(w)) + tf.reduce_sum(w) * 0.1

        step = wrap(lambda o=optimiser, w=w, loss=loss: o.minimize(loss, var_list=[w]))
        for _ in range(4):
            step()
        np.testing.assert_allclose(w.numpy(), DENSE["ftrl"][1], atol=2e-5)


def test_what_is_refused():
    with pytest.raises(ValueError, match="gate_gradients"):
        train.GradientDescentOptimizer(0.1).compute_gradients(tf.constant(1.0), gate_gradients=7)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="No variables to optimize"):
        train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0))
    with pytest.raises(ValueError, match="negative or zero"):
        train.FtrlOptimizer(0.1, learning_rate_power=0.5)


def test_schedules():
    with tf.Graph().as_default(), v1.Session() as session:
        made = session.run(
            [
                train.linear_cosine_decay(0.5, 7, 20),
                train.cosine_decay(0.5, 7, 20),
                train.natural_exp_decay(0.5, 7, 20, 0.3, True),
                train.inverse_time_decay(0.5, 7, 20, 0.3),
            ]
        )
        np.testing.assert_allclose(made, SCHEDULES, atol=2e-5)
        v1.set_random_seed(3)
        noisy = session.run(train.noisy_linear_cosine_decay(0.5, 7, 20))
        np.testing.assert_allclose(noisy, NOISY, atol=2e-5)


@pytest.mark.parametrize("free", [False, True])
def test_averages_of_tensors(free):
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [2])
        y = x * 2.0
        average = train.ExponentialMovingAverage(0.9, zero_debias=free)
        update = average.apply([y])
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for i in range(3):
                session.run(update, {x: [i, 1.0]})
            found = session.run(average.average(y))
        names = [v.name for v in v1.global_variables()]
        assert average.average(x) is None
    np.testing.assert_allclose(found, AVERAGES[free], atol=2e-5)
    mean = "mul/ExponentialMovingAverage"
    more = [f"{mean}/biased:0", f"{mean}/local_step:0"] if free else []
    assert names == [f"{mean}:0", *more]


def test_slots_are_of_the_variable_scope_around_and_powers_of_the_scope_of_names() -> None:
    """The names that TensorFlow gives, also to two optimisers of one variable."""
    train = v1.train
    with tf.Graph().as_default():
        with v1.variable_scope("m"):
            a = v1.get_variable("a", [2])
            train.AdamOptimizer(0.1).minimize(tf.reduce_sum(a * a))
            with v1.variable_scope("in"):
                train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(a * a))
        with tf.name_scope("n"):
            train.AdamOptimizer(0.1).minimize(tf.reduce_sum(a * a))
        assert [each.name for each in v1.global_variables()] == [
            "m/a:0", "m/beta1_power:0", "m/beta2_power:0", "m/m/a/Adam:0", "m/m/a/Adam_1:0",
            "m/in/m/a/Momentum:0", "n/beta1_power:0", "n/beta2_power:0", "m/a/Adam:0",
            "m/a/Adam_1:0",
        ]  # fmt: skip


def test_optimisers_are_called_as_in_the_first_version():
    for name, label in (
        ("GradientDescent", "GradientDescent"),
        ("Momentum", "Momentum"),
        ("Adam", "Adam"),
        ("Adagrad", "Adagrad"),
        ("RMSProp", "RMSProp"),
        ("Adadelta", "Adadelta"),
        ("Ftrl", "Ftrl"),
        ("ProximalGradientDescent", "ProximalGradientDescent"),
        ("ProximalAdagrad", "ProximalAdagrad"),
    ):
        kind = getattr(tf.compat.v1.train, f"{name}Optimizer")
        options = {"momentum": 0.9} if name == "Momentum" else {}
        assert kind.__name__ == f"{name}Optimizer"
        assert kind(learning_rate=0.1, **options).get_name() == label
