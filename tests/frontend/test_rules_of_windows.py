"""Windows and element types by TensorFlow's rules: expected values are TensorFlow's."""

import numpy as np
import pytest

import gravure.tf as tf

IMAGE = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
V1 = tf.compat.v1


def pooled(padding, image=IMAGE, **options):
    return tf.raw_ops.MaxPool(
        input=image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding=padding, **options
    )


def test_raw_operations_take_paddings_apart() -> None:
    found = pooled("EXPLICIT", explicit_paddings=[0, 0, 0, 1, 1, 0, 0, 0])
    assert found.numpy()[0, :, :, 0].tolist() == [[4.0, 6.0], [12.0, 14.0]]
    assert pooled("VALID", explicit_paddings=[]).numpy().ravel().tolist() == [5, 7, 13, 15]
    sides = {"strides": [1, 1, 1, 1], "padding": "EXPLICIT"}
    filters = tf.ones([2, 2, 1, 1])
    for type_ in ("Conv2D", "DepthwiseConv2dNative"):
        ends = [0, 0, 1, 0, 0, 1, 0, 0]
        convolve = getattr(tf.raw_ops, type_)
        made = convolve(input=IMAGE, filter=filters, explicit_paddings=ends, **sides)
        around = tf.pad(IMAGE, [[0, 0], [1, 0], [0, 1], [0, 0]])
        np.testing.assert_array_equal(made, tf.nn.conv2d(around, filters, 1, "VALID"))


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ([1, 1, 1, 1, 1, 1, 0, 0], "batch or depth"),
        ([0, 0, 1, 1, 1, 1, 0, 1], "batch or depth"),
        ([0, 0, -1, 0, 0, 0, 0, 0], "must be nonnegative"),
        ([0, 0, 0, 1, 0, 2, 0, 0], "smaller than the window"),
        ([], "explicit_paddings is"),
    ],
)
def test_paddings_that_are_none_are_refused(ends, said) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=said):
        pooled("EXPLICIT", explicit_paddings=ends)


def test_paddings_of_channels_first_are_those_of_the_last_axes() -> None:
    turned = tf.transpose(IMAGE, [0, 3, 1, 2])
    ends = [[0, 0], [0, 0], [1, 0], [0, 1]]
    found = tf.nn.max_pool2d(turned, 2, 2, ends, "NCHW").numpy()
    expected = tf.nn.max_pool2d(IMAGE, 2, 2, [[0, 0], [1, 0], [0, 1], [0, 0]]).numpy()
    np.testing.assert_array_equal(found.transpose(0, 2, 3, 1), expected)


@pytest.mark.parametrize("function", [tf.nn.max_pool2d, tf.nn.avg_pool2d])
def test_a_window_larger_than_the_image_is_refused_in_a_graph(function) -> None:
    with tf.Graph().as_default():
        image = V1.placeholder(tf.float32, [1, 4, 4, 1])
        with pytest.raises(ValueError, match="Negative dimension size"):
            function(image, 5, 1, "VALID")


def test_the_greatest_integers_are_found_and_where_they_are() -> None:
    found, places = tf.nn.max_pool_with_argmax(tf.cast(-IMAGE, "int32"), 3, 3, "SAME")
    assert found.numpy().ravel().tolist() == [0, -2, -8, -10]
    assert places.numpy().ravel().tolist() == [0, 2, 8, 10]


@pytest.mark.parametrize("function", [tf.nn.softplus, tf.nn.softsign, tf.nn.elu, tf.tanh])
def test_other_types_of_elements_are_errors_of_types_in_a_graph(function) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="element type i32"):
        function(tf.constant([1]))
    with tf.Graph().as_default(), pytest.raises(TypeError, match="element type i32"):
        function(tf.constant([1]))


class TestSessions(V1.test.TestCase):
    """Sessions of tests."""

    def test_they_stay_outside_of_graphs_where_operations_run_at_once(self) -> None:
        with self.session(graph=V1.Graph()):
            assert tf.executing_eagerly()
            assert self.evaluate(tf.constant(1) + 1) == 2


def test_rows_and_columns_alone_are_sizes_of_such_images() -> None:
    filters = tf.reshape(tf.range(1.0, 9.0), [2, 2, 1, 2])
    back = tf.reshape([1.0, 2.0], [1, 1, 1, 2])
    steps = {"strides": [1, 1, 1, 1], "padding": "VALID"}
    raw = {"input_sizes": [2, 2], "filter": filters, **steps}
    first = tf.transpose(back, [0, 3, 1, 2])
    for found in (
        V1.nn.conv2d_backprop_input([2, 2], filters, back, **steps),
        tf.nn.conv2d_transpose(back, filters, [2, 2], 1, "VALID"),
        tf.raw_ops.Conv2DBackpropInput(out_backprop=back, **raw),
        tf.raw_ops.Conv2DBackpropInput(out_backprop=first, data_format="NCHW", **raw),
    ):
        assert found.numpy().ravel().tolist() == [5.0, 11.0, 17.0, 23.0]


def test_more_paths_than_are_kept_are_refused_as_in_a_run() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="more paths than the beam width"):
        tf.nn.ctc_beam_search_decoder(np.zeros((3, 1, 3), np.float32), [3], 2, 3)


@pytest.mark.parametrize("sizes", [[8, 8], [1, 8, 8, 2]])
def test_sizes_of_convolutions_back_may_be_open(sizes):
    @tf.function(
        input_signature=[tf.TensorSpec([None, None, 4, 3]), tf.TensorSpec([None], tf.int32)]
    )
    def given(x, sizes):
        sizes.set_shape(kept)
        return tf.nn.conv2d_transpose(x, filters, sizes, 2)

    @tf.function(input_signature=[tf.TensorSpec([None, None, 4, 3])])
    def computed(x):
        return tf.nn.conv2d_transpose(x, filters, [2 * tf.shape(x)[1], 8], 2)

    kept = [len(sizes)]
    images, filters = tf.random.stateless_normal([1, 4, 4, 3], [1, 2]), tf.ones([3, 3, 2, 3])
    wanted = tf.nn.conv2d_transpose(images, filters, [1, 8, 8, 2], 2)
    np.testing.assert_allclose(given(images, sizes), wanted, rtol=1e-5)
    np.testing.assert_allclose(computed(images), wanted, rtol=1e-5)


def test_a_convolution_back_gives_as_many_channels_as_its_filters_say():
    with pytest.raises(tf.errors.InvalidArgumentError, match="5 channels by filters of 2"):
        tf.nn.conv2d_transpose(tf.ones([1, 4, 4, 3]), tf.ones([3, 3, 2, 3]), [1, 8, 8, 5], 2)
