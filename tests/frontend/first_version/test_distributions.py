"""`compat.v1.distributions`: what is asked of each; the numbers are TensorFlow 2.21's."""

import math
from typing import Any

import numpy as np
import pytest

import gravure.tf as tf

D: Any = tf.compat.v1.distributions
PAIR = [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]
MAKERS: dict[str, Any] = {
    "Normal": lambda **k: D.Normal([0.0, 1.0], [1.0, 2.0], **k),
    "Bernoulli": lambda **k: D.Bernoulli(probs=[0.2, 0.7], **k),
    "Categorical": lambda **k: D.Categorical(logits=[[0.2, 0.7, 0.1], [1.0, 2.0, 3.0]], **k),
    "Uniform": lambda **k: D.Uniform([0.0, 1.0], [1.0, 3.0], **k),
    "Gamma": lambda **k: D.Gamma([2.0, 0.5], [1.0, 3.0], **k),
    "Beta": lambda **k: D.Beta([2.0, 0.5], [1.0, 3.0], **k),
    "Exponential": lambda **k: D.Exponential([2.0, 0.5], **k),
    "Laplace": lambda **k: D.Laplace([2.0, 0.5], [1.0, 3.0], **k),
    "Multinomial": lambda **k: D.Multinomial(total_count=[3.0, 2.0], probs=PAIR, **k),
    "StudentT": lambda **k: D.StudentT([3.0, 4.0], [0.0, 1.0], [1.0, 2.0], **k),
    "Dirichlet": lambda **k: D.Dirichlet([[1.0, 2.0, 3.0], [0.5, 0.5, 2.0]], **k),
    "DirichletMultinomial": lambda **k: D.DirichletMultinomial(3.0, [1.0, 2.0, 3.0], **k),
}
VALUES: dict[str, Any] = {
    **{name: [0.5, 2.0] for name in MAKERS},
    "Normal": [0.5, -1.0],
    "Bernoulli": [1, 0],
    "Categorical": [1, 2],
    "Uniform": [0.5, 5.0],
    "Beta": [0.5, 0.2],
    "Multinomial": [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]],
    "Dirichlet": PAIR,
    "DirichletMultinomial": [1.0, 2.0, 0.0],
}
WANTED = {
    "Normal": {
        "mean": [0.0, 1.0],
        "variance": [1.0, 4.0],
        "stddev": [1.0, 2.0],
        "mode": [0.0, 1.0],
        "entropy": [1.4189, 2.1121],
        "covariance": None,
        "log_prob": [-1.0439, -2.1121],
        "prob": [0.3521, 0.121],
        "cdf": [0.6915, 0.1587],
        "log_cdf": [-0.3689, -1.841],
        "survival_function": [0.3085, 0.8413],
        "log_survival_function": [-1.1759, -0.1728],
    },
    "Bernoulli": {
        "mean": [0.2, 0.7],
        "variance": [0.16, 0.21],
        "stddev": [0.4, 0.4583],
        "mode": [0.0, 1.0],
        "entropy": [0.5004, 0.6109],
        "covariance": None,
        "log_prob": [-1.6094, -1.204],
        "prob": [0.2, 0.3],
        "cdf": None,
        "log_cdf": None,
        "survival_function": None,
        "log_survival_function": None,
    },
    "Categorical": {
        "mean": None,
        "variance": None,
        "stddev": None,
        "mode": [1.0, 2.0],
        "entropy": [1.0614, 0.8324],
        "covariance": None,
        "log_prob": [-0.7679, -0.4076],
        "prob": [0.464, 0.6652],
        "cdf": [0.2814, 0.3348],
        "log_cdf": [-1.2679, -1.0943],
        "survival_function": [0.7186, 0.6652],
        "log_survival_function": [-0.3305, -0.4076],
    },
    "Uniform": {
        "mean": [0.5, 2.0],
        "variance": [0.0833, 0.3333],
        "stddev": [0.2887, 0.5774],
        "mode": None,
        "entropy": [0.0, 0.6931],
        "covariance": None,
        "log_prob": [0.0, -math.inf],
        "prob": [1.0, 0.0],
        "cdf": [0.5, 1.0],
        "log_cdf": [-0.6931, 0.0],
        "survival_function": [0.5, 0.0],
        "log_survival_function": [-0.6931, -math.inf],
    },
    "Gamma": {
        "mean": [2.0, 0.1667],
        "variance": [2.0, 0.0556],
        "stddev": [1.4142, 0.2357],
        "mode": [1.0, math.nan],
        "entropy": [1.5772, -1.008],
        "covariance": None,
        "log_prob": [-1.1931, -6.3696],
        "prob": [0.3033, 0.0017],
        "cdf": [0.0902, 0.9995],
        "log_cdf": [-2.4057, -0.0005],
        "survival_function": [0.9098, 0.0005],
        "log_survival_function": [-0.0945, -7.5388],
    },
    "Beta": {
        "mean": [0.6667, 0.1429],
        "variance": [0.0556, 0.0272],
        "stddev": [0.2357, 0.165],
        "mode": [math.nan, math.nan],
        "entropy": [-0.1931, -1.1081],
        "covariance": None,
        "log_prob": [0.0, 0.2939],
        "prob": [1.0, 1.3416],
        "cdf": [0.25, 0.7334],
        "log_cdf": [-1.3863, -0.31],
        "survival_function": [0.75, 0.2666],
        "log_survival_function": [-0.2877, -1.3221],
    },
    "Exponential": {
        "mean": [0.5, 2.0],
        "variance": [0.25, 4.0],
        "stddev": [0.5, 2.0],
        "mode": [math.nan, math.nan],
        "entropy": [0.3069, 1.6931],
        "covariance": None,
        "log_prob": [-0.3069, -1.6931],
        "prob": [0.7358, 0.1839],
        "cdf": [0.6321, 0.6321],
        "log_cdf": [-0.4587, -0.4587],
        "survival_function": [0.3679, 0.3679],
        "log_survival_function": [-1.0, -1.0],
    },
    "Laplace": {
        "mean": [2.0, 0.5],
        "variance": [2.0, 18.0],
        "stddev": [1.4142, 4.2426],
        "mode": [2.0, 0.5],
        "entropy": [1.6931, 2.7918],
        "covariance": None,
        "log_prob": [-2.1931, -2.2918],
        "prob": [0.1116, 0.1011],
        "cdf": [0.1116, 0.6967],
        "log_cdf": [-2.1931, -0.3614],
        "survival_function": [0.8884, 0.3033],
        "log_survival_function": [-0.1183, -1.1931],
    },
    "Multinomial": {
        "mean": [[0.6, 0.9, 1.5], [0.2, 0.2, 1.6]],
        "variance": [[0.48, 0.63, 0.75], [0.18, 0.18, 0.32]],
        "stddev": [[0.6928, 0.7937, 0.866], [0.4243, 0.4243, 0.5657]],
        "mode": None,
        "entropy": None,
        "covariance": [
            [[0.48, -0.18, -0.3], [-0.18, 0.63, -0.45], [-0.3, -0.45, 0.75]],
            [[0.18, -0.02, -0.16], [-0.02, 0.18, -0.16], [-0.16, -0.16, 0.32]],
        ],
        "log_prob": [-2.9188, -1.8326],
        "prob": [0.054, 0.16],
        "cdf": None,
        "log_cdf": None,
        "survival_function": None,
        "log_survival_function": None,
    },
    "StudentT": {
        "mean": [0.0, 1.0],
        "variance": [3.0, 8.0],
        "stddev": [1.7321, 2.8284],
        "mode": [0.0, 1.0],
        "entropy": [1.7735, 2.3749],
        "covariance": None,
        "log_prob": [-1.161, -1.8255],
        "prob": [0.3132, 0.1611],
        "cdf": [0.6743, 0.6783],
        "log_cdf": [-0.3941, -0.3881],
        "survival_function": [0.3257, 0.3217],
        "log_survival_function": [-1.1217, -1.1342],
    },
    "Dirichlet": {
        "mean": [[0.1667, 0.3333, 0.5], [0.1667, 0.1667, 0.6667]],
        "variance": [[0.0198, 0.0317, 0.0357], [0.0347, 0.0347, 0.0556]],
        "stddev": [[0.1409, 0.1782, 0.189], [0.1863, 0.1863, 0.2357]],
        "entropy": [-1.2443, -1.9347],
        "covariance": [
            [[0.0198, -0.0079, -0.0119], [-0.0079, 0.0317, -0.0238], [-0.0119, -0.0238, 0.0357]],
            [[0.0347, -0.0069, -0.0278], [-0.0069, 0.0347, -0.0278], [-0.0278, -0.0278, 0.0556]],
        ],
        "log_prob": [1.5041, 1.6279],
        "prob": [4.5, 5.093],
        "cdf": None,
        "log_cdf": None,
        "survival_function": None,
        "log_survival_function": None,
    },
    "DirichletMultinomial": {
        "mean": [0.5, 1.0, 1.5],
        "variance": [0.5357, 0.8571, 0.9643],
        "stddev": [0.7319, 0.9258, 0.982],
        "mode": None,
        "entropy": None,
        "covariance": [
            [0.5357, -0.2143, -0.3214],
            [-0.2143, 0.8571, -0.6429],
            [-0.3214, -0.6429, 0.9643],
        ],
        "log_prob": -2.9267,
        "prob": 0.0536,
        "cdf": None,
        "log_cdf": None,
        "survival_function": None,
        "log_survival_function": None,
    },
}
SAMPLES = {
    "Normal": [[-0.4507, -0.3058], [0.3364, 3.7045], [0.7076, 0.2704]],
    "Bernoulli": [[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]],
    "Categorical": [[2.0, 2.0], [0.0, 2.0], [2.0, 1.0]],
    "Uniform": [[0.73, 2.1923], [0.3788, 1.0776], [0.7284, 1.6515]],
    "Gamma": [[2.5327, 0.109], [2.3635, 0.0104], [0.2816, 0.0136]],
    "Beta": [[0.5312, 0.0672], [0.9535, 0.0214], [0.106, 0.0164]],
    "Exponential": [[0.1573, 1.0345], [0.4854, 6.4984], [0.1585, 2.2432]],
    "Laplace": [[2.6163, 1.1408], [1.7223, -7.1681], [2.6102, -0.7854]],
    "Multinomial": [
        [[1.0, 0.0, 2.0], [0.0, 0.0, 2.0]],
        [[0.0, 1.0, 2.0], [0.0, 1.0, 1.0]],
        [[1.0, 2.0, 0.0], [0.0, 0.0, 2.0]],
    ],
    "StudentT": [[-0.3241, -0.499], [0.3968, 3.7672], [1.5128, -0.291]],
    "Dirichlet": [
        [[0.0078, 0.3326, 0.6596], [0.0119, 0.0152, 0.9729]],
        [[0.0463, 0.175, 0.7787], [0.1275, 0.2935, 0.5791]],
        [[0.057, 0.0242, 0.9188], [0.3933, 0.0085, 0.5982]],
    ],
    "DirichletMultinomial": [[0.0, 1.0, 2.0], [0.0, 0.0, 3.0], [0.0, 0.0, 3.0]],
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "asked", "wanted"), [
    (name, asked, wanted) for name, every in WANTED.items() for asked, wanted in every.items()
])  # fmt: skip
def test_what_is_known_of_a_distribution(name: str, asked: str, wanted: Any) -> None:
    made = MAKERS[name]()
    is_of_value = asked.startswith(("log", "prob", "cdf", "surv"))
    ask: Any = lambda: getattr(made, asked)(*([VALUES[name]] if is_of_value else []))  # noqa: E731
    if wanted is None:
        with pytest.raises(NotImplementedError, match=f"{asked} is not implemented: {name}"):
            ask()
        return
    for found in (ask(), tf.function(ask)()):
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=2e-4)


@pytest.mark.parametrize("name", MAKERS)
def test_samples_are_those_of_tensorflow(name: str) -> None:
    tf.random.set_seed(3)
    made = MAKERS[name]()
    drawn = made.sample(3, seed=7)
    assert (drawn.dtype, drawn.shape[1:]) == (made.dtype, made.batch_shape + made.event_shape)
    np.testing.assert_allclose(tf.cast(drawn, tf.float32), SAMPLES[name], atol=2e-4)
    assert made.sample(seed=1).shape == made.batch_shape + made.event_shape
    assert made.sample([2, 3]).shape[:2] == [2, 3]
    staged: Any = tf.function(lambda: MAKERS[name]().sample(4, seed=1))
    assert staged().shape == [4, *made.batch_shape, *made.event_shape]


@pytest.mark.parametrize(("a", "b", "wanted"), [
    (lambda: D.Gamma(2.0, 1.0), lambda: D.Gamma(3.0, 0.5), 1.3498),
    (lambda: D.Beta(2.0, 1.0), lambda: D.Beta(3.0, 0.5), 0.5077),
    (lambda: D.Categorical([0.0, 1.0]), lambda: D.Categorical([1.0, 1.0]), 0.1109),
    (lambda: D.Bernoulli([0.0, 1.0]), lambda: D.Bernoulli([1.0, 1.0]), [0.1201, 0.0]),
    (lambda: D.Normal(0.0, 1.0), lambda: D.Normal(1.0, 2.0), 0.4431),
    (lambda: D.Dirichlet([1.0, 2.0]), lambda: D.Dirichlet([2.0, 2.0]), 0.4014),
    (lambda: D.Exponential([1.0, 2.0]), lambda: D.Exponential([2.0, 2.0]), [0.3069, 0.0]),
])  # fmt: skip
def test_divergences(a: Any, b: Any, wanted: Any) -> None:
    np.testing.assert_allclose(D.kl_divergence(a(), b()), wanted, atol=1e-4)
    np.testing.assert_allclose(a().cross_entropy(b()), a().entropy() + wanted, atol=1e-4)
    assert np.allclose(a().kl_divergence(a()), 0.0, atol=1e-6)


def test_divergences_are_registered_by_class() -> None:
    class Mine(D.Normal):  # type: ignore[misc]
        pass

    class Other(D.Laplace):  # type: ignore[misc]
        pass

    assert D.kl_divergence(Mine(0.0, 1.0), D.Normal(1.0, 2.0)).numpy() == pytest.approx(
        0.4431, 1e-3
    )
    with pytest.raises(
        NotImplementedError, match=r"No KL.*type Mine and distribution_b type Other"
    ):
        D.kl_divergence(Mine(0.0, 1.0), Other(0.0, 1.0))

    @D.RegisterKL(Mine, Other)
    def _divergence(a: Any, b: Any, name: Any = None) -> Any:
        return a.loc + b.loc + math.nan

    assert np.isnan(D.kl_divergence(Mine(1.0, 1.0), Other(2.0, 1.0)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="returned NaN"):
        D.kl_divergence(Mine(1.0, 1.0), Other(2.0, 1.0), allow_nan_stats=False)
    with pytest.raises(ValueError, match=r"KL\(Mine \|\| Other\) has already been registered"):
        D.RegisterKL(Mine, Other)(_divergence)


@pytest.mark.parametrize(("make", "wrong"), [
    (lambda: D.Normal([0.0], [-1.0], validate_args=True), "Condition x > 0"),
    (lambda: D.Uniform([1.0], [0.0], validate_args=True), "not defined when low >= high"),
    (lambda: D.Beta([-1.0], [1.0], validate_args=True), "Concentration parameter must be positive"),
    (lambda: D.Dirichlet([1.0], validate_args=True), "event_size >= 2"),
    (lambda: D.Bernoulli(probs=[1.2], validate_args=True), "components greater than 1"),
    (lambda: D.Categorical(probs=[0.2, 0.2], validate_args=True), "does not sum to 1"),
    (lambda: D.Gamma(0.5, 1.0, allow_nan_stats=False).mode(), "mode not defined"),
    (lambda: D.StudentT(0.5, 0.0, 1.0, allow_nan_stats=False).mean(), "mean not defined"),
    (lambda: D.Bernoulli([0.1], validate_args=True).log_prob([-1]), "must be non-negative"),
    (lambda: D.Multinomial(2.0, [0.1, 0.1], validate_args=True).prob([1.0, 2.0]), "must sum to"),
])  # fmt: skip
def test_what_is_no_parameter_or_value_is_refused_where_that_is_asked(
    make: Any, wrong: str
) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=wrong):
        make()


def test_parameters_are_of_one_type_of_floats() -> None:
    with pytest.raises(ValueError, match="must be of the same type"):
        D.Normal(0.0, tf.constant(1.0, tf.float64))
    with pytest.raises(ValueError, match="Expected floating point type"):
        D.Normal(0, 1)
    for given in ({}, {"probs": [0.1], "logits": [0.1]}):
        with pytest.raises(ValueError, match="Must pass probs or logits, but not both"):
            D.Bernoulli(**given)
    assert D.Normal(np.float64(0.0), np.float64(1.0)).prob(1.0).dtype == tf.float64


def test_a_distribution_says_what_it_is() -> None:
    made = MAKERS["Normal"](name="mine")
    assert str(made) == (
        'tfp.distributions.Normal("None", batch_shape=(2,), event_shape=(), dtype=float32)'
    )
    assert repr(made.reparameterization_type) == "<Reparameterization Type: FULLY_REPARAMETERIZED>"
    assert sorted(made.parameters) == ["allow_nan_stats", "loc", "name", "scale", "validate_args"]
    assert made.copy(scale=[3.0, 3.0]).stddev().numpy().tolist() == [3.0, 3.0]
    assert not made.is_scalar_batch()
    assert made.is_scalar_event()
    assert D.Normal.param_static_shapes([2, 3])["loc"] == [2, 3]
    assert D.Normal.param_shapes([2, 3])["scale"].numpy().tolist() == [2, 3]


def test_gradients_go_through_samples() -> None:
    for name in ("Normal", "Laplace", "Gamma", "StudentT", "Uniform", "Exponential"):
        count = len(D.__dict__[name].PARAMETERS)
        parameters = [tf.constant([1.5, 2.5]) + i for i in range(count)]
        with tf.GradientTape() as tape:
            tape.watch(parameters)
            drawn = getattr(D, name)(*parameters).sample(5, seed=1)
        assert all(g is not None for g in tape.gradient(drawn, parameters)), name


def test_distributions_of_the_graph_have_their_scope() -> None:
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None])
        made = D.Normal(x, 1.0)
        drawn, other = made.sample(4), D.kl_divergence(made, D.Normal(0.0, 1.0))
        density = made.log_prob(drawn)
        assert (made.name, drawn.shape.as_list()) == ("Normal/", [4, None])
        assert drawn.op.name.startswith("Normal/sample/")
        with tf.compat.v1.Session() as session:
            found = session.run([density, other, made.batch_shape_tensor()], {x: [1.0, 2.0]})
    assert [each.tolist() for each in found[1:]] == [[0.5, 2.0], [2]]
    assert found[0].shape == (4, 2)


class Own(D.Distribution):  # type: ignore[misc]
    """A distribution of a program's own."""

    def __init__(self) -> None:
        super().__init__(tf.float32, D.NOT_REPARAMETERIZED, False, True, {})

    def _log_prob(self, x: Any) -> Any:
        return -x * x

    def _cdf(self, x: Any) -> Any:
        return x * 0.0 + 0.25

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return tf.zeros([n])


def test_the_rest_follows_from_what_a_class_says() -> None:
    made = Own()
    np.testing.assert_allclose(made.prob([1.0, 2.0]), np.exp([-1.0, -4.0]), rtol=1e-5)
    assert made.survival_function(1.0).numpy() == 0.75
    assert made.log_survival_function(1.0).numpy() == pytest.approx(math.log(0.75))
    assert made.sample([2, 2]).shape == [2, 2]
    with pytest.raises(NotImplementedError, match="variance is not implemented: Own"):
        made.variance()


def test_moves_of_gamma_draws_are_asked_for_by_themselves() -> None:
    moves: Any = lambda a, x: tf.raw_ops.RandomGammaGrad(alpha=a, sample=x)  # noqa: E731
    wanted = [0.5098, 0.9366, 1.0543]
    found = moves([0.5, 2.0, 30.0], [0.1, 1.5, 33.0])
    np.testing.assert_allclose(found, wanted, rtol=1e-3)
    staged: Any = tf.function(moves)
    np.testing.assert_allclose(
        staged([[1.0, 2.0]], [[0.5], [1.0]]),
        [[0.807, 0.498], [1.1736, 0.7508]],
        rtol=1e-3,
    )


def test_counts_of_each_batch_are_those_of_its_moments():
    one = D.DirichletMultinomial([[2.0], [5.0]], [[1.0, 2.0, 3.0]] * 2)
    for row, n in enumerate((2.0, 5.0)):
        alone = D.DirichletMultinomial(n, [1.0, 2.0, 3.0])
        for name in ("mean", "variance", "covariance"):
            expected = getattr(alone, name)().numpy()
            np.testing.assert_allclose(getattr(one, name)().numpy()[row], expected, rtol=1e-6)


def test_few_survive_long():
    found = D.Exponential([2.0, 0.5]).log_survival_function([50.0, 400.0]).numpy()
    assert found.tolist() == [-100.0, -200.0]
