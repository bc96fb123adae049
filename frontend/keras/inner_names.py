"""TensorFlow's inner modules, as far as programs import public names from them.

`from tensorflow.python.framework import ops` stands at the top of many programs, for
`ops.reset_default_graph()` and the like. These names are public elsewhere: they are looked up in
`compat.v1`, and in the namespace that a module's functions are in. What is public nowhere is not
here either.
"""

from __future__ import annotations

from types import ModuleType

from ..tf import compat

PACKAGES = {
    "framework": "constant_op dtypes errors errors_impl function graph_util importer ops "
    "random_seed sparse_tensor tensor_shape tensor_spec tensor_util",
    "ops": "array_ops bitwise_ops check_ops clip_ops control_flow_ops ctc_ops data_flow_ops "
    "embedding_ops functional_ops gradients gradients_impl histogram_ops image_ops "
    "image_ops_impl init_ops io_ops linalg_ops logging_ops lookup_ops map_fn math_ops nn nn_impl "
    "nn_ops parsing_ops partitioned_variables random_ops resource_variable_ops rnn rnn_cell "
    "rnn_cell_impl script_ops sparse_ops special_math_ops standard_ops state_ops string_ops "
    "template tensor_array_ops variable_scope variables while_loop",
    "training": "adagrad adam basic_session_run_hooks checkpoint_management checkpoint_utils "
    "coordinator ftrl gradient_descent input learning_rate_decay momentum monitored_session "
    "moving_averages optimizer queue_runner queue_runner_impl rmsprop saver session_run_hook "
    "supervisor training training_util",
    "util": "compat deprecation nest tf_inspect",
    "platform": "app flags gfile googletest resource_loader test tf_logging",
    "client": "session timeline",
    "eager": "backprop context def_function",
    "summary": "summary",
    "layers": "base convolutional core normalization pooling",
    "lib": "",
    "lib.io": "file_io tf_record",
    "data": "",
    "data.ops": "dataset_ops iterator_ops",
}
"""The modules of each package that are answered."""
SPACES = {
    "train": PACKAGES["training"],
    "nn": "ctc_ops embedding_ops nn nn_impl nn_ops rnn",
    "nn.rnn_cell": "rnn_cell rnn_cell_impl",
    "layers": PACKAGES["layers"],
    "math": "math_ops special_math_ops",
    "linalg": "linalg_ops",
    "image": "image_ops image_ops_impl",
    "random": "random_ops",
    "strings": "string_ops",
    "sparse": "sparse_ops",
    "lookup": "lookup_ops",
    "queue": "data_flow_ops",
    "data": "dataset_ops iterator_ops",
    "initializers": "init_ops",
    "bitwise": "bitwise_ops",
    "errors": "errors errors_impl",
    "logging": "tf_logging",
    "test": "googletest",
    "io": "parsing_ops tf_record",
    "gfile": "file_io",
}
"""The modules whose names are in a namespace, by that."""


def is_inner(path: str) -> bool:
    """Say whether there is a module of a path below `tensorflow.python`.

    >>> is_inner("ops"), is_inner("ops.math_ops"), is_inner("ops.math_ops.add")
    (True, True, False)
    """
    package, _, name = path.rpartition(".")
    return path in ("", *PACKAGES) or name in PACKAGES.get(package, "").split()


def public_names(path: str) -> dict[str, object]:
    """Return the names of a module below `tensorflow.python` that are public, with what they name.

    Packages have none but their modules.
    """
    if path in ("", *PACKAGES):
        return {}
    last = path.rpartition(".")[2]
    found: dict[str, object] = {}
    for space in ("", *(space for space, names in SPACES.items() if last in names.split()), last):
        here: object = compat.v1
        for part in filter(None, space.split(".")):
            here = getattr(here, part, None)
        if here is not None and not isinstance(here, ModuleType):
            found = {**vars(here), **found}
    return {n: x for n, x in found.items() if n[0] != "_" and not isinstance(x, ModuleType)}
