"""What layers, pools and losses make of operands that are mixed, empty or wrong: as TensorFlow."""

from typing import Any

import numpy as np
import pytest

from gravure import tf

v1: Any = tf.compat.v1
nn: Any = tf.nn
raw: Any = tf.raw_ops
RAGGED = tf.ragged.constant([[1, 2], [0]])


def test_losses_of_no_examples_are_0_and_those_of_replicas_are_sums() -> None:
    assert nn.compute_average_loss([1.0, 2.0], global_batch_size=0).numpy() == 0.0
    assert nn.compute_average_loss([1.0, 2.0]).numpy() == 1.5
    assert nn.scale_regularization_loss([1.0, 2.0]).numpy() == 3.0


@pytest.mark.parametrize(("size", "error", "says"), [
    (10.0, TypeError, "must be an integer"), ([10], ValueError, "must be scalar"),
    (-1, tf.errors.InvalidArgumentError, "must be non-negative"),
])  # fmt: skip
def test_numbers_of_examples_are_numbers(size: Any, error: Any, says: str) -> None:
    with pytest.raises(error, match=f"global_batch_size {says}"):
        nn.compute_average_loss([1.0, 2.0], global_batch_size=size)
    with pytest.raises(ValueError, match="at least rank 1"):
        nn.compute_average_loss(2.0)


def test_moments_of_numpy_are_taken_in_the_type_of_the_scale() -> None:
    x, ones = tf.ones((2, 3, 3, 2)), np.ones(2)
    made = v1.nn.fused_batch_norm(x, tf.ones(2), ones, ones, ones, is_training=False)[0]
    assert made.dtype == tf.float32
    for share in (1.01, 0.99):
        made = v1.nn.fused_batch_norm(
            x, tf.ones(2), ones, ones, ones, is_training=True, exponential_avg_factor=share
        )
        assert {part.dtype for part in made} == {tf.float32}
    halves = nn.batch_normalization(tf.ones((3, 3), tf.float16), *[tf.ones((1, 3))] * 4, 1e-3)
    assert (halves.dtype, halves.numpy().tolist()) == (tf.float16, [[1.0] * 3] * 3)


def test_glimpses_are_floats() -> None:
    made = tf.image.extract_glimpse(np.zeros((0, 4, 3, 0)), [1, 1], np.zeros((0, 2)))
    assert (made.shape, made.dtype) == ((0, 1, 1, 0), tf.float32)


@pytest.mark.parametrize("call", [
    lambda: nn.dropout(tf.ones((4, 2)), [0.0, 1.0]),
    lambda: v1.nn.dropout(tf.ones((4, 2)), keep_prob=[0.0, 1.0]),
    lambda: nn.dropout(tf.ones((4, 2)), tf.constant([0.1, 0.2])),
    lambda: nn.dropout(tf.ones((4, 2)), tf.constant(0.1, tf.float64)),
    lambda: nn.max_pool(tf.ones((3, 4)), 2, 2, "SAME"),
    lambda: nn.avg_pool(tf.ones((3, 4, 1, 2, 1, 2)), 2, 2, "SAME"),
    lambda: nn.max_pool(tf.ones((3, 4, 4, 5)), [1, -1, -1, 1], 2, "SAME"),
    lambda: nn.conv_transpose(None, 2, [2, 3], "SAME"),
    lambda: nn.conv_transpose(None, 2, [2, 3, 4, 2, 5, 1], "SAME"),
    lambda: nn.conv_transpose(None, None, None, None),
    lambda: nn.embedding_lookup(None, [1]),
    lambda: nn.embedding_lookup([], [1]),
    lambda: v1.nn.embedding_lookup(None, [1]),
    lambda: nn.embedding_lookup([], RAGGED),
    lambda: nn.embedding_lookup(tf.ones((3, 2)), tf.cast(RAGGED, tf.float32)),
    lambda: nn.weighted_cross_entropy_with_logits(np.ones(3), np.ones((2, 2)), 1.0),
    lambda: nn.sparse_softmax_cross_entropy_with_logits([[0, 1], [2, 3]], tf.ones((4, 4))),
    lambda: nn.conv2d(tf.ones((1, 1, 1, 1)), tf.ones((1, 0, 1, 1)), 1, "SAME"),
    lambda: nn.ctc_loss(tf.zeros((0, 5), tf.int32), tf.zeros((1, 0, 2)), [], []),
])  # fmt: skip
def test_operands_that_do_not_fit_are_refused(call: Any) -> None:
    with pytest.raises(
        (ValueError, tf.errors.InvalidArgumentError), match=r"must|params|cannot be processed"
    ):
        call()


def test_ways_back_through_pools_compare_shapes() -> None:
    one, two = tf.ones((1, 1, 1, 1)), tf.ones((1, 1, 1, 2))
    options = {"ksize": [1] * 4, "strides": [1] * 4, "padding": "VALID"}
    with pytest.raises(ValueError, match=r"orig_output shape to be \[1,1,1,1\], but got \[1,1,1,2"):
        raw.MaxPoolGrad(orig_input=one, orig_output=two, grad=one, **options)
    with pytest.raises(ValueError, match=r"grad shape to be \[1,1,1,1\], but got \[1,1,1,2"):
        raw.MaxPoolGradGrad(orig_input=one, orig_output=one, grad=two, **options)
    places = tf.zeros((1, 1, 1, 1), tf.int64)
    with pytest.raises(ValueError, match="grad shape"):
        raw.MaxPoolGradWithArgmax(input=one, grad=two, argmax=places, **options)
    with pytest.raises(ValueError, match="argmax shape"):
        raw.MaxPoolGradWithArgmax(
            input=one, grad=one, argmax=tf.zeros((1, 1, 1, 2), tf.int64), **options
        )
    with pytest.raises(tf.errors.InvalidArgumentError, match="filter_sizes shape must be rank 1"):
        raw.Conv2DBackpropFilter(
            input=one, filter_sizes=0, out_backprop=one, strides=[1] * 4, padding="VALID"
        )


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_transposed_convolutions_take_channels_first(rank: int) -> None:
    random = np.random.default_rng(0)
    x, f = random.normal(size=(2, *[3] * rank, 3)), random.normal(size=(*[3] * rank, 4, 3))
    function = getattr(nn, f"conv{rank}d_transpose")
    wanted = function(x, f, [2, *[6] * rank, 4], 2).numpy()
    first = [0, rank + 1, *range(1, rank + 1)]
    form, steps = "NCDHW"[:2] + "DHW"[3 - rank :], [1, 1, *[2] * rank]
    made = function(x.transpose(first), f, [2, 4, *[6] * rank], steps, data_format=form)
    np.testing.assert_array_equal(made, wanted.transpose(first))


@pytest.mark.parametrize("pool", [nn.max_pool, v1.nn.max_pool, nn.max_pool2d])
def test_the_greatest_of_channels_is_pooled(pool: Any) -> None:
    x = tf.reshape(tf.range(16.0), (1, 2, 2, 4))
    made = pool(x, [1, 1, 1, 2], [1, 1, 1, 2], "SAME")
    assert made.numpy().ravel().tolist() == [1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0]
    turned = tf.function(lambda y: pool(y, [1, 4, 1, 1], [1, 4, 1, 1], "VALID", "NCHW"))
    assert turned(tf.transpose(x, [0, 3, 1, 2])).numpy().ravel().tolist() == [3.0, 7.0, 11.0, 15.0]
    for window, steps, says in (
        ([1, 2, 2, 2], [1, 1, 1, 2], "exactly one of pooling across depth"),
        ([1, 1, 1, 2], [1, 1, 1, 1], "depth window to equal the depth stride"),
        ([1, 1, 1, 3], [1, 1, 1, 3], "evenly divide"),
    ):
        with pytest.raises(tf.errors.UnimplementedError, match=says):
            pool(x, window, steps, "SAME")


@pytest.mark.parametrize(("kinds", "result"), [
    (("int8", "bfloat16"), "bfloat16"), (("uint8", "int8"), "int32"), (("int8", "int8"), "int32"),
])  # fmt: skip
def test_products_of_mixed_matrices_are_of_the_type_that_is_asked_for(
    kinds: Any, result: str
) -> None:
    a, b = (tf.cast([[100, 1], [2, 3]], kind) for kind in kinds)
    made: Any = tf.matmul(a, b, output_type=result)
    assert made.dtype == result
    wanted = np.array([[10002, 103], [206, 11]]).astype(made.dtype.as_numpy_dtype)
    np.testing.assert_array_equal(made.numpy(), wanted)


def test_windows_of_pools_may_be_computed() -> None:
    x = np.arange(32, dtype=np.float32).reshape(1, 4, 4, 2)
    wanted = nn.max_pool(x, 2, 2, "VALID").numpy()
    with tf.Graph().as_default(), v1.Session() as session:
        sizes = v1.placeholder(tf.int32, [4])
        made = raw.MaxPoolV2(input=x, ksize=sizes, strides=sizes, padding="VALID")
        assert made.shape.as_list() == [1, None, None, None]
        for _ in range(3):
            np.testing.assert_array_equal(session.run(made, {sizes: [1, 2, 2, 1]}), wanted)
        assert session.run(made, {sizes: [1, 1, 1, 2]}).shape == (1, 4, 4, 1)
