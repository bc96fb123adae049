"""What the tests of numpy's names and of vectorised maps share among them, by public names."""

import inspect
import types

import numpy as np
from decorators import tf
from public_names import NotPublicError

SPACE = tf.experimental.numpy


def mapped(loop_fn, iters, fallback_to_while_loop=True, parallel_iterations=None, **_):
    """Return what a function gives for each number, by a vectorised map."""
    del parallel_iterations
    called = loop_fn if inspect.isroutine(loop_fn) else loop_fn.__call__
    if "pfor_config" in inspect.signature(getattr(loop_fn, "func", called)).parameters:
        raise NotPublicError("pfor_config")
    return tf.vectorized_map(
        loop_fn, tf.range(iters), fallback_to_while_loop=fallback_to_while_loop
    )


def looped(loop_fn, loop_fn_dtypes, iters, parallel_iterations=None):
    """Return what a function gives for each number, by a loop."""
    return tf.map_fn(
        loop_fn,
        tf.range(iters),
        fn_output_signature=loop_fn_dtypes,
        parallel_iterations=parallel_iterations,
    )


def compiled(computation, inputs=()):
    """Return what a function gives that is compiled here: XLA's own entry is not."""
    return tf.function(computation, jit_compile=True)(*inputs)


def numpy_space():
    """Return the names of `tf.experimental.numpy` as a module of the tests has them."""
    drawing = types.SimpleNamespace(
        **{name: getattr(SPACE.random, name) for name in dir(SPACE.random) if name[0] != "_"},
        DEFAULT_RANDN_DTYPE=np.float32,
    )
    return {"random": drawing, "bfloat16": tf.bfloat16, "newaxis": None, "ndarray": SPACE.ndarray}


NAMES = {
    "ops.parallel_for.control_flow_ops": {"pfor": mapped, "for_loop": looped},
    "ops.numpy_ops.tests.np_wrapper": numpy_space(),
    "compiler.xla.xla": {"compile": compiled},
    "np_math_ops": {
        "enable_numpy_methods_on_tensor": SPACE.experimental_enable_numpy_behavior,
    },
    "np_arrays": {"ndarray": SPACE.ndarray, "convert_to_tensor": tf.convert_to_tensor},
}


def begin(path):
    """Do what has to be done before the tests of a file are read."""
    if "numpy_ops" in path.parts:
        SPACE.experimental_enable_numpy_behavior()
