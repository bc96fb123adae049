"""Windows and rows of open sizes: one has to be a number, others have to be greater."""

import numpy as np
import pytest

import gravure.tf as tf

RNG = np.random.default_rng(7)
IMAGES = RNG.standard_normal((2, 9, 8, 3)).astype(np.float32)
FILTERS = RNG.standard_normal((3, 3, 3, 4)).astype(np.float32)
TURNED = FILTERS.transpose(0, 1, 3, 2)
ROWS = RNG.standard_normal((6, 5)).astype(np.float32)
PLACES = np.int32([3, 0, 11, 3, 7, 1])
MOVES = [1, 2, 1, 1], "SAME", "NHWC", [1, 1, 2, 1]

CASES = {
    "apart": (lambda x: tf.nn.convolution(x, FILTERS, padding="VALID", dilations=2), [IMAGES]),
    "atrous": (lambda x: tf.nn.atrous_conv2d(x, FILTERS, 3, "VALID"), [IMAGES]),
    "of one axis": (
        lambda x: tf.nn.conv1d(x, FILTERS[0], 1, "VALID", dilations=2),
        [IMAGES[:, 0]],
    ),
    "put in rows": (lambda x, at: tf.scatter_nd(at[:, None], x, [12, 5]), [ROWS, PLACES]),
    "back from windows": (
        lambda x: tf.nn.conv2d_transpose(x, TURNED, [tf.shape(x)[0], 18, 16, 4], 2, "SAME"),
        [IMAGES],
    ),
    "back from all windows": (
        lambda x: tf.nn.conv2d_transpose(x, TURNED, tf.shape(x) * [1, 2, 2, 1] + [0, 0, 0, 1], 2),
        [IMAGES],
    ),
    "greatest of windows": (lambda x: tf.nn.dilation2d(x, FILTERS[..., 0], *MOVES), [IMAGES]),
    "least of windows": (lambda x: tf.nn.erosion2d(x, FILTERS[..., 0], *MOVES), [IMAGES]),
    "where the greatest are": (
        lambda x: tf.nn.max_pool_with_argmax(x, 3, 2, "SAME", include_batch_in_index=True).argmax,
        [IMAGES],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_size_that_has_to_be_a_number_may_be_open(name):
    function, arrays = CASES[name]
    specs = [tf.TensorSpec([None] * x.ndim, x.dtype) for x in arrays]
    staged = tf.function(function, input_signature=specs)
    wanted = function(*map(tf.constant, arrays))
    for _ in range(4):
        np.testing.assert_allclose(staged(*arrays), wanted, rtol=1e-5, atol=1e-5)
    assert not [line for line in staged.explain() if "Python" in line]


OF_ANY_RANK = {
    "slices": (lambda x, at: tf.gather_nd(x, tf.stack([at % 6, at % 5], 1)), [ROWS, PLACES]),
    "slices of batches": (
        lambda x, at: tf.gather_nd(x, (at % 5)[:, None], batch_dims=1),
        [ROWS, PLACES],
    ),
    "logs": (lambda x: tf.math.cumulative_logsumexp(x, 1), [ROWS]),
    "logs from the end": (
        lambda x: tf.math.cumulative_logsumexp(x, -2, exclusive=True, reverse=True),
        [ROWS],
    ),
}


@pytest.mark.parametrize("name", OF_ANY_RANK)
def test_a_rank_may_be_open(name):
    function, arrays = OF_ANY_RANK[name]
    staged = tf.function(function, input_signature=[tf.TensorSpec(None, x.dtype) for x in arrays])
    wanted = function(*map(tf.constant, arrays))
    for _ in range(4):
        np.testing.assert_allclose(staged(*arrays), wanted, rtol=1e-5, atol=1e-5)


def test_a_size_that_none_fits_is_refused():
    wide = tf.TensorSpec([None, None, None, 5])
    with pytest.raises(ValueError, match="channels"):
        tf.function(CASES["apart"][0], input_signature=[wide]).get_concrete_function()


WEIGHTS = FILTERS[0, 0]
KNOWN = {
    "product": (lambda x: x @ WEIGHTS, [None, None], (None, 4)),
    "product with turned": (
        lambda x: tf.matmul(x, WEIGHTS, transpose_a=True),
        [None, 2],
        (2, 4),
    ),
    "product of rows": (lambda x: WEIGHTS @ x, [None, 5], (3, 5)),
    "products": (lambda x: x @ WEIGHTS, [None, None, None], (None, None, 4)),
    "with a vector": (lambda x: tf.linalg.matvec(WEIGHTS, x), [None], (3,)),
    "sum": (lambda x: x + WEIGHTS, [None, None], (3, 4)),
    "sum with a row": (lambda x: x + WEIGHTS[:1], [None, None], (None, 4)),
    "choice": (lambda x: tf.where(x > 0, x, WEIGHTS), [None, None], (3, 4)),
    "channels": (
        lambda x: tf.nn.depthwise_conv2d(x, FILTERS, [1] * 4, "SAME"),
        [None] * 4,
        (None, None, None, 12),
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_sizes_that_operands_leave_no_choice_of_are_known(name):
    function, shape, wanted = KNOWN[name]
    staged = tf.function(function, input_signature=[tf.TensorSpec(shape)])
    assert tuple(staged.get_concrete_function().structured_outputs.shape) == wanted


def test_a_size_that_may_be_one_as_well_is_not_taken_for_known():
    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def both(x):
        return x + WEIGHTS, tf.reduce_sum(x, 0)

    assert tuple(both.get_concrete_function().structured_outputs[1].shape) == (None,)
    assert both(np.ones((1, 1), np.float32))[0].shape == (3, 4)
    np.testing.assert_array_equal(both(np.ones((3, 1), np.float32))[1], [3])
