"""What programs met that were written for a trial: TensorFlow's values stand beside."""

import sys

import numpy as np

import gravure.tf as tf
from gravure.frontend.tf.program.flags import flags


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_flags_are_read_from_the_command_line_when_the_first_is_asked_for(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["program", "--trial_size=3"])
    flags.DEFINE_integer("trial_size", 16, "size")
    flags.DEFINE_string(flag_name="trial_name", default_value="n", docstring="name")
    absl = flags.FLAGS.__dict__["found"]
    absl.unparse_flags()
    assert "trial_size" in flags.FLAGS
    assert flags.FLAGS.trial_size == 3
    assert flags.FLAGS.trial_name == "n"
    del flags.FLAGS.trial_size
    del flags.FLAGS.trial_name


def test_text_of_python_functions_is_bytes_as_any_text():
    def named(i):
        return np.float32(i), f"f{int(i)}"

    data = tf.data.Dataset.range(2)
    data = data.map(lambda i: tf.numpy_function(named, [i], (tf.float32, tf.string)))
    assert [text for _, text in data.as_numpy_iterator()] == [b"f0", b"f1"]
    staged = tf.function(lambda: tf.numpy_function(lambda: "abc", [], tf.string))
    assert staged().numpy() == b"abc"


def test_windows_and_frames_of_lengths_that_a_run_tells():
    @tf.function
    def parts(x, n, step):
        return (
            tf.signal.frame(x, n, step, pad_end=True),
            tf.signal.hann_window(n),
            tf.signal.hamming_window(n, periodic=False),
            tf.signal.kaiser_window(n),
            tf.signal.vorbis_window(n),
            tf.signal.rfft(x, [n]),
            tf.signal.irfft(tf.signal.rfft(x), [n]),
            tf.signal.stft(x, n, step),
            tf.signal.overlap_and_add(tf.ones([3, 4]), step // 2),
            tf.signal.inverse_stft(tf.signal.stft(x, n, step), n, step),
        )

    x = tf.range(20.0) ** 1.1
    found = parts(x, tf.constant(8), tf.constant(4))
    wanted = parts.python_function(x, 8, 4)
    for one, other in zip(found, wanted, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=2e-4)


def test_gradients_go_through_transforms_of_lengths_that_a_run_tells():
    @tf.function
    def energy(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.abs(tf.signal.rfft(x, [n])) ** 2)
        return tape.gradient(y, x)

    x = tf.range(6.0)
    close(energy(x, tf.constant(4)), energy.python_function(x, 4))


def test_turns_of_images_may_be_a_tensor():
    image = tf.reshape(tf.range(12.0), [2, 3, 2])
    turned = tf.function(tf.image.rot90)
    for k in range(-1, 5):
        close(turned(image, tf.constant(k)), tf.image.rot90(image, k))


def test_a_rank_is_that_of_the_whole_sparse_tensor():
    texts = tf.io.serialize_many_sparse(tf.sparse.from_dense([[1, 0, 2], [0, 3, 0]]))

    @tf.function
    def back(texts):
        made = tf.io.deserialize_many_sparse(texts, tf.int32, rank=2)
        assert made.indices.shape.as_list() == [None, 2]
        return tf.sparse.to_dense(made)

    assert back(texts).numpy().tolist() == [[1, 0, 2], [0, 3, 0]]


def test_complex_matrices_are_multiplied_by_their_parts():
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=(2, 20, 20)) + 1j * rng.normal(size=(2, 20, 20)) for _ in range(2))
    for turned in ({}, {"transpose_a": True}, {"adjoint_b": True}):
        left = np.swapaxes(x, 1, 2) if "transpose_a" in turned else x
        right = np.conj(np.swapaxes(y, 1, 2)) if "adjoint_b" in turned else y
        staged = tf.function(lambda a, b, turned=turned: tf.matmul(a, b, **turned))
        for made in (tf.matmul(x, y, **turned), staged(tf.constant(x), tf.constant(y))):
            close(made, left @ right)
    graph = staged.get_concrete_function(tf.constant(x), tf.constant(y)).graph
    types = {op.type for op in graph.get_operations()}
    assert {"Real", "Imag", "MatMul"} <= types


def test_numbers_are_quantised_and_back():
    x = tf.constant([[-1.3, 0.3, 2.7], [0.126, -0.5, 0.9]])
    q = tf.quantization.quantize_and_dequantize_v2
    close(q(x, -1.0, 2.0, range_given=True)[0], [-1.3070866, 0.2992126, 2.0])
    close(q(x, -1.0, 2.0)[0], [-1.2968504, 0.2976378, 2.7])
    close(q(x, -1.0, 2.0, signed_input=False, range_given=True)[0], [0.0, 0.29803923, 2.0])
    half = q(x, -1.0, 2.0, round_mode="HALF_UP", range_given=True, num_bits=3)
    close(half[0], [-1.3333334, 0.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = q(x, -1.0, 1.0, range_given=True)
        z = tf.quantization.quantize_and_dequantize(x, -1.0, 1.0, range_given=True)
    assert tape.gradient(y, x).numpy().tolist() == [[0, 1, 0], [1, 1, 1]]
    assert tape.gradient(z, x).numpy().tolist() == [[1, 1, 1], [1, 1, 1]]
    columns = q(x, [-1.0] * 3, [1.0, 2.0, 1.0], range_given=True, axis=1)
    close(columns, tf.stack([q(x[:, i], -1.0, (1.0, 2.0, 1.0)[i], range_given=True)
                             for i in range(3)], 1))  # fmt: skip


def test_traces_say_what_they_take_and_give():
    @tf.function
    def double(x, *, flag=True):
        return {"a": x + x}

    trace = double.get_concrete_function(tf.TensorSpec([None], tf.float32))
    spec = "TensorSpec(shape=(None,), dtype=tf.float32, name=None)"
    short = f"(x: {spec}, *, flag: Literal[True]) -> Dict[['a', {spec}]]"
    assert str(trace.function_type) == short
    assert [*trace.function_type.parameters] == ["x", "flag"]
    assert str(trace).startswith("ConcreteFunction Input Parameters:\n  x (POSITIONAL_OR_KEYWORD)")
    assert repr(trace.inference_fn).endswith(short)
    assert trace.inference_fn(tf.ones([2]))["a"].numpy().tolist() == [2, 2]
    experimental = tf.types.experimental
    assert isinstance(double, experimental.GenericFunction)
    assert isinstance(trace, experimental.ConcreteFunction)
    assert isinstance(3, experimental.TensorLike)


def test_memory_is_shared_by_capsules():
    x = tf.constant([1.0, 2.0])
    capsule = tf.experimental.dlpack.to_dlpack(x)
    assert tf.experimental.dlpack.from_dlpack(capsule).numpy().tolist() == [1, 2]
    assert tf.experimental.dlpack.from_dlpack(np.ones(2)).numpy().tolist() == [1, 1]


def test_where_operations_run_may_be_told():
    tf.debugging.set_log_device_placement(True)
    assert tf.debugging.get_log_device_placement()
    tf.debugging.set_log_device_placement(False)
    assert not tf.debugging.get_log_device_placement()
