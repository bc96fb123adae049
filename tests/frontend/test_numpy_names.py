"""`tf.experimental.numpy`: numpy's functions on tensors, by numpy itself."""

import gravure.tf.experimental.numpy as tnp
import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.tf.arrays import behaviour, promoting
from gravure.frontend.tf.core import bridge

X = np.arange(12, dtype=np.float32).reshape(3, 4)
F, W, Z = np.float32([1, 2]), np.int32([1, 2]), np.complex64([1 + 1j, 2])
CASES = [
    *((name, (F,), {}) for name in (
        *("abs", "arccosh", "arcsinh", "arctan", "ceil", "cos", "cosh", "deg2rad", "exp", "exp2"),
        *("expm1", "fabs", "fix", "floor", "isfinite", "isinf", "isnan", "isneginf", "isposinf"),
        *("log", "log10", "log1p", "log2", "negative", "rad2deg", "real", "imag", "reciprocal"),
        *("sign", "signbit", "sin", "sinh", "sqrt", "square", "tan", "tanh", "cbrt", "isreal"),
        *("logical_not", "positive", "nonzero", "copy", "diff", "prod", "ravel", "ones_like"),
    )),
    *((name, (F, 2.0), {}) for name in (
        *("add", "subtract", "multiply", "divide", "true_divide", "power", "mod", "remainder"),
        *("floor_divide", "maximum", "minimum", "arctan2", "hypot", "logaddexp", "logaddexp2"),
        *("equal", "greater", "less_equal", "not_equal", "logical_and", "logical_xor", "divmod"),
        *("isclose", "allclose", "nextafter", "heaviside", "float_power"),
    )),
    ("add", (W, F), {}), ("add", (W, 1.5), {}), ("maximum", (W, 1), {}), ("gcd", (W, 4), {}),
    ("lcm", (4, 6), {}), ("bitwise_and", (W, 3), {}), ("bitwise_not", (W,), {}),
    ("angle", (Z,), {}), ("conj", (Z,), {}), ("iscomplex", (Z,), {}), ("sinc", (F * 0.3,), {}),
    ("sum", (W,), {}), ("sum", (X,), {"axis": 0}), ("mean", (X,), {"axis": (0, 1)}),
    ("mean", (W,), {}), ("std", (X,), {"axis": 1, "keepdims": True}),
    ("var", (X,), {"axis": 0, "ddof": 1}), ("any", (X > 10,), {}), ("all", (X,), {"axis": 0}),
    ("max", (X,), {"axis": 1}), ("amin", (X,), {}), ("argmax", (X,), {"axis": 1}),
    ("argmin", (X,), {}), ("cumsum", (X,), {}), ("cumprod", (X,), {"axis": 1}),
    ("nansum", ([1.0, np.nan],), {}), ("nanmean", ([1.0, np.nan],), {}),
    ("nanprod", ([2.0, np.nan],), {}), ("ptp", (X,), {"axis": 1}), ("sort", (-X,), {"axis": 1}),
    ("argsort", (-X,), {}), ("count_nonzero", (X,), {}), ("average", (F,), {"weights": F}),
    ("average", (X,), {"axis": 1, "weights": np.float32([1, 2, 3, 4])}), ("diff", (X, 2, 0), {}),
    ("dot", (X, X.T), {}), ("inner", (X, X), {}), ("vdot", (X, X), {}),
    ("outer", (F, F), {}), ("matmul", (X, F.repeat(2)), {}), ("matmul", (F.repeat(2), X.T), {}),
    ("tensordot", (X, X, [[1], [1]]), {}), ("einsum", ("ij,kj->ik", X, X), {}), ("trace", (X,), {}),
    ("cross", ([1.0, 0, 0], [0, 1.0, 0]), {}), ("array_equal", (F, F), {}),
    ("array_equal", (F, X), {}),
    ("polyval", ([1.0, 2.0], np.float64([3, 4])), {}), ("append", (F, F), {}),
    ("reshape", (X, (2, 6)), {"order": "F"}), ("reshape", (X, -1), {}), ("transpose", (X,), {}),
    ("swapaxes", (X, 0, 1), {}), ("moveaxis", (X[None], [0, 1], [2, 0]), {}),
    ("expand_dims", (X, (0, 1)), {}), ("squeeze", (X[None],), {}), ("atleast_1d", (1.0,), {}),
    ("atleast_2d", (F,), {}), ("atleast_3d", (X,), {}), ("flip", (X,), {}), ("fliplr", (X,), {}),
    ("flipud", (X,), {}), ("rot90", (X, 3), {}), ("roll", (X, 1), {}), ("roll", (X, 1, 0), {}),
    ("repeat", (X, 2, 0), {}), ("tile", (F, (2, 2)), {}), ("broadcast_to", (F, (2, 2)), {}),
    ("broadcast_arrays", (F, F[:, None]), {}), ("concatenate", ([X, X], None), {}),
    ("concatenate", ([W, F],), {}), ("stack", ([F, F], 1), {}), ("vstack", ([F, F],), {}),
    ("hstack", ([F, F],), {}), ("hstack", ([X, X],), {}), ("dstack", ([F, F],), {}),
    ("split", (X, [1, 3], 1), {}), ("split", (F, 2), {}), ("hsplit", (X, 2), {}),
    ("vsplit", (X, 3), {}), ("take", (X, [0, 5]), {}), ("take", (X, [0, 3], 1), {"mode": "clip"}),
    ("take_along_axis", (X, np.argsort(-X, 1), 1), {}),
    ("compress", ([True, False, True], X, 0), {}),
    ("pad", (X, ((0, 0), (1, 1)), "constant"), {}), ("pad", (X, 1, "reflect"), {}),
    ("diag", (X,), {}), ("diag", (F, 1), {}), ("diagonal", (X, 1), {}), ("diagflat", ([1, 2],), {}),
    ("tril", (X,), {}), ("triu", (X, 1), {}), ("meshgrid", (F, F), {}),
    ("kron", (F, np.float32([[1, 2]])), {}),
    ("where", (X > 5, X, 0.0), {}), ("where", (X > 5,), {}), ("clip", (X, 2, 6), {}),
    ("clip", (X, None, 6), {}), ("select", ([X > 8, X > 4], [X, -X], 1.0), {}),
    ("around", (X / 3, 1), {}), ("arange", (1, 7, 2), {}), ("arange", (3.0,), {}),
    ("linspace", (0.0, 1.0, 4), {"endpoint": False}), ("logspace", (0, 2, 3), {}),
    ("geomspace", (1.0, 100.0, 3), {}), ("eye", (2, 3), {"k": 1}), ("identity", (2,), {}),
    ("tri", (2, 3, 1), {}), ("full", ((2,), 7), {}), ("full_like", (X, 3), {}),
    ("ones", ((2, 2),), {}),
    ("zeros", (3,), {}), ("zeros_like", (W,), {}), ("array", ([[1, 2]],), {"ndmin": 3}),
    ("asarray", ([1.5, 2],), {}), ("vander", ([1, 2, 3],), {}),
    ("diag_indices", (2,), {}), ("ix_", ([0], [1]), {}), ("ndim", (X,), {}), ("shape", (X,), {}),
    ("size", (X,), {}), ("isscalar", (3,), {}), ("iscomplexobj", (Z,), {}),
    ("result_type", (W, F), {}),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("name", "args", "options"), CASES, ids=lambda x: str(x)[:20])
def test_functions_give_what_numpy_gives(name, args, options):
    given = [tf.constant(x) if isinstance(x, np.ndarray) else x for x in args]
    found = getattr(tnp, name)(*given, **options)
    plain = {k: v for k, v in options.items() if name != "take"}
    wanted = getattr(np, name)(*args, **plain)
    several = isinstance(wanted, list | tuple) and name != "shape"
    for one, each in zip(*([found, wanted] if several else [[found], [wanted]]), strict=True):
        other = np.asarray(each)
        assert np.shape(one) == other.shape
        if hasattr(one, "dtype") and name not in ("diag_indices", "result_type"):
            assert one.dtype == other.dtype, name
        if other.dtype.kind in "fc":
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
        else:
            assert np.asarray(one).tolist() == other.tolist()


def test_lists_of_numbers_take_the_type_of_tensors():
    f = tf.constant(F)
    assert tnp.add(f, [1.0, 2.0]).dtype == tf.float32
    assert tnp.add(f, np.ones(2)).dtype == tf.float64
    assert tnp.stack([f, [1.0, 2.0]]).dtype == tf.float32
    assert tnp.array([f, f]).shape == [2, 2]


def test_functions_of_numpy_are_staged_and_have_gradients():
    w = tf.Variable(tf.ones([4, 1]))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tnp.sum(tnp.square(tnp.matmul(x, w)))
        return loss, tape.gradient(loss, w)

    loss, gradient = step(tf.constant(X))
    assert loss.numpy() == 1964
    assert gradient.numpy().ravel().tolist() == [784, 916, 1048, 1180]


def test_draws_are_those_of_tensorflow():
    tnp.random.seed(3)
    drawn = [tnp.random.rand(2), tnp.random.randn(2), tnp.random.randint(0, 5, (4,))]
    wanted = [[0.06930561, 0.97065371], [-0.0537417, 1.08121045], [4, 1, 3, 2]]
    for one, other in zip(drawn, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    assert tnp.random.poisson(3.0, 4).numpy().tolist() == [3, 2, 1, 2]


@pytest.fixture
def as_numpy(monkeypatch):
    """Let tensors behave as numpy's for one test."""
    monkeypatch.setattr(bridge, "OF_NUMPY", {})
    monkeypatch.setattr(behaviour, "OF_NUMPY", bridge.OF_NUMPY)
    for table in (bridge.OPERATORS, bridge.COMPARISONS, promoting.PREFERRED):
        for name, value in table.items():
            monkeypatch.setitem(table, name, value)
    tnp.experimental_enable_numpy_behavior()


KEYS = {
    "mask": lambda x: x > 5,
    "rows": lambda x: [0, 2],
    "columns": lambda x: (slice(None), [-1, 0]),
    "columns of a tuple": lambda x: (slice(None), (-1, 0)),
    "a mask of a tuple": lambda x: (slice(None), (True,) + (False,) * (x.shape[1] - 1)),
    "pairs": lambda x: ([0, 1], [1, 2]),
    "apart": lambda x: ([0, 1], None, [[1], [2]]),
    "after": lambda x: (Ellipsis, [1, 1]),
    "masked": lambda x: (np.array([True, False, True]), slice(1, 3)),
    "number": lambda x: (1, [0, 3]),
    "plain": lambda x: (slice(None, None, -1), 2),
}


@pytest.mark.parametrize("name", KEYS)
def test_brackets_take_what_numpy_takes(name, as_numpy):
    x = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    wanted = x[KEYS[name](x)]
    np.testing.assert_array_equal(tf.constant(x)[KEYS[name](x)], wanted)
    np.testing.assert_array_equal(tf.function(lambda t: t[KEYS[name](x)])(x), wanted)
    with tf.GradientTape() as tape:
        v = tf.constant(x)
        tape.watch(v)
        loss = tf.reduce_sum(v[KEYS[name](x)])
    assert np.sum(tape.gradient(loss, v)) == wanted.size


def test_brackets_take_lists_with_tensors(as_numpy):
    x = tf.reshape(tf.range(12), [3, 4])
    taken = tf.function(lambda t, i: t[[i, 0], [1, i + 1]])(x, tf.constant(2))
    assert taken.numpy().tolist() == [9, 3]


def test_operators_cast_as_numpy_does(as_numpy):
    whole, single = tf.constant([1, 2]), tf.constant([0.5, 1.5])
    assert (whole + single).dtype == tf.float64
    assert (single * np.float64(2)).dtype == tf.float64
    assert (whole * 1.5).dtype == tf.float64
    assert (single * 2).dtype == tf.float32
    np.testing.assert_array_equal(tf.function(lambda a, b: a / b)(whole, single), [2, 4 / 3])
    np.testing.assert_array_equal(whole == single, [False, False])


def test_tensors_have_methods_of_numpys(as_numpy):
    x = np.arange(6.0).reshape(2, 3)
    t = tf.constant(x)
    assert (t.T.shape, t.size, t.tolist(), t.data) == ((3, 2), 6, x.tolist(), t)
    for name, arguments in {"reshape": (3, 2), "ravel": (), "clip": (1, 4), "mean": (1,)}.items():
        wanted = getattr(x, name)(*arguments)
        np.testing.assert_array_equal(getattr(t, name)(*arguments), wanted)
    assert isinstance(t.T, tf.Tensor)
    assert t.astype("int32").dtype == tf.int32
    assert t.transpose([1, 0]).shape == (3, 2)
    assert t.flatten("A").tolist() == x.ravel().tolist()
    assert (t @ tf.ones([3], tf.int32)).tolist() == [3.0, 12.0]
    assert (tf.ones([2]) @ tf.ones([2])).shape == ()
    np.testing.assert_array_equal(tf.function(lambda t: t.transpose(1, 0).max(0))(t), x.T.max(0))


def test_names_of_numpys_want_to_be_asked_for():
    for name in ("T", "mT", "astype", "reshape", "size", "tolist"):
        with pytest.raises(AttributeError, match="experimental_enable_numpy_behavior"):
            getattr(tf.constant([[1.0]]), name)
    with pytest.raises(NotImplementedError, match="'safe'"):
        tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="safe")
    with pytest.raises(ValueError, match="does not exist"):
        tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="other")
