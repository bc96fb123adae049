"""TensorFlow's names over gravure's objects: `import gravure.tf as tf`.

The names of the second version stand at the top, those of the first under `compat.v1` and, where
they do not clash, at the top too. Element types are not promoted (`core`).
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from .. import nest as _nest
from .. import run_errors as errors
from ..context import STATE as _STATE
from ..custom_gradient import custom_gradient
from ..dtypes import (
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ..function import init_scope, run_functions_eagerly
from ..graph import Operation
from . import array_ops as _a
from . import core as _core
from . import flow as _fl
from . import functional as _f
from . import indexing as _indexing  # noqa: F401  (fills in the operator)
from . import math_ops as _m
from . import nn_ops as _n
from . import optimizers as _o
from . import random_ops as _r
from . import sorting as _s
from . import state as _st
from . import train as _t
from . import window_ops as _w
from .array_ops import (
    boolean_mask,
    broadcast_to,
    concat,
    constant,
    expand_dims,
    eye,
    fill,
    gather,
    gather_nd,
    linspace,
    meshgrid,
    one_hot,
    ones,
    ones_like,
    pad,
    rank,
    reshape,
    reverse,
    roll,
    scatter_nd,
    shape,
    size,
    split,
    squeeze,
    stack,
    tensor_scatter_nd_update,
    tile,
    transpose,
    unstack,
    where,
    zeros,
    zeros_like,
)
from .core import Common as Tensor
from .core import convert
from .flow import (
    GradientTape,
    case,
    cond,
    gradients,
    numpy_function,
    py_function,
    stop_gradient,
    switch_case,
    while_loop,
)
from .math_ops import (
    add_n,
    argmax,
    argmin,
    cast,
    cumsum,
    identity,
    matmul,
    reduce_mean,
    square,
    truediv,
)
from .nn_ops import clip_by_global_norm, clip_by_norm, clip_by_value, einsum
from .shapes import TensorShape
from .sorting import argsort, searchsorted, sequence_mask, sort, unique
from .state import InitialisingSession as Session
from .state import (
    TensorSpec,
    Variable,
    control_dependencies,
    device,
    function,
    group,
    name_scope,
    no_op,
)
from .state import TfGraph as Graph
from .state import placeholder as placeholder
from .train import Module

bool = bool_
range = _a.range_
slice = _a.slice_
tuple = _st.tuple_
newaxis = None
convert_to_tensor = convert
globals().update({n: f for n, f in _m.FUNCTIONS.items() if n not in ("floormod",)})
globals().update(_m.REDUCTIONS)
ceil = _m.FUNCTIONS["ceil"]
random_uniform, random_normal = _r.uniform, _r.normal


def executing_eagerly() -> Any:
    """Say whether operations run at once."""
    return _STATE.context is None


def inside_function() -> Any:
    """Say whether a function is being traced."""
    return isinstance(_STATE.context, _st.TfFuncGraph)


def get_static_value(tensor: Any) -> Any:
    """Return the elements if they are known."""
    from .core import static  # noqa: PLC0415

    found = static(tensor)
    return None if found is tensor else np.asarray(found)


def _assert(name: str, holds: Any) -> Any:
    """Return a check of two tensors that fails with a message."""

    def check(x: Any, y: Any, message: Any = None, summarize: Any = None, name: Any = None) -> Any:
        from ..kinds import PyFunction  # noqa: PLC0415
        from .core import graph_of, same  # noqa: PLC0415

        def run(a: Any, b: Any) -> Any:
            if not np.all(holds(a, b)):
                text = f"{message or ''} condition x {sign} y did not hold: x = {a}, y = {b}"
                raise errors.InvalidArgumentError(text)
            return ()

        graph = graph_of([x, y])
        with _core.InGraph(graph):
            a, b = same(x, y)
            if graph is None:
                run(a.numpy(), b.numpy())
                return None
            kind = PyFunction(run, (), pure=False)
            return graph.add(kind, [graph.owned(a), graph.owned(b)], name=name)

    sign = name
    return check


debugging = SimpleNamespace(
    assert_greater=_assert(">", np.greater),
    assert_less=_assert("<", np.less),
    assert_equal=_assert("==", np.equal),
    assert_greater_equal=_assert(">=", np.greater_equal),
    assert_less_equal=_assert("<=", np.less_equal),
)
math = SimpleNamespace(
    **_m.FUNCTIONS,
    **_m.REDUCTIONS,
    **{
        n: getattr(_m, n)
        for n in (
            *("square", "squared_difference", "truediv", "add_n", "argmax", "argmin", "cumsum"),
            *("cumprod", "lgamma", "digamma", "reduce_mean", "reduce_variance", "reduce_std"),
        )
    },
    **{
        n: getattr(_s, n)
        for n in (
            *("top_k", "bincount", "count_nonzero", "invert_permutation", "segment_sum"),
            "unsorted_segment_sum",
        )
    },
    in_top_k=lambda targets, predictions, k, name=None: _w.in_top_k(targets, predictions, k=k),
    l2_normalize=_w.l2_normalize,
)
nn = SimpleNamespace(
    **{
        n: getattr(_n, n)
        for n in (
            *("relu", "relu6", "elu", "selu", "swish", "leaky_relu", "gelu", "softmax"),
            *("log_softmax", "softmax_cross_entropy_with_logits", "bias_add", "l2_loss"),
            *("sparse_softmax_cross_entropy_with_logits", "sigmoid_cross_entropy_with_logits"),
            "moments",
        )
    },
    **{
        n: getattr(_w, n)
        for n in (
            *("conv1d", "conv2d", "conv2d_transpose", "depthwise_conv2d", "max_pool2d"),
            *("avg_pool2d", "batch_normalization", "l2_normalize", "dropout"),
            *("local_response_normalization", "embedding_lookup"),
        )
    },
    max_pool=_w.max_pool2d,
    avg_pool=_w.avg_pool2d,
    lrn=_w.local_response_normalization,
    sigmoid=_m.FUNCTIONS["sigmoid"],
    tanh=_m.FUNCTIONS["tanh"],
    softplus=_m.FUNCTIONS["softplus"],
    silu=_n.swish,
)
bitwise = SimpleNamespace(
    **{
        n: _m.FUNCTIONS[n]
        for n in ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")
    }
)
linalg = SimpleNamespace(
    inv=_n.inv,
    band_part=_n.band_part,
    diag=_n.diag,
    diag_part=_n.diag_part,
    matmul=matmul,
    eye=eye,
    einsum=einsum,
    trace=_w.trace,
    matvec=_w.matvec,
    tensordot=_w.tensordot,
    norm=_w.norm,
    det=_f.det,
    cholesky=_f.cholesky,
    solve=_f.solve,
    triangular_solve=_f.triangular_solve,
)
norm, tensordot = _w.norm, _w.tensordot
map_fn, scan, foldl, foldr = _f.map_fn, _f.scan, _f.foldl, _f.foldr
vectorized_map = _f.vectorized_map
dynamic_partition, dynamic_stitch = _f.dynamic_partition, _f.dynamic_stitch
random = SimpleNamespace(
    uniform=_r.uniform,
    normal=_r.normal,
    truncated_normal=_r.truncated_normal,
    shuffle=_r.shuffle,
    set_seed=_r.set_seed,
    stateless_uniform=_r.stateless_uniform,
)
nest = SimpleNamespace(
    flatten=_nest.flatten, map_structure=_nest.map_structure, pack_sequence_as=_nest.pack
)
config = SimpleNamespace(
    run_functions_eagerly=run_functions_eagerly,
    set_soft_device_placement=lambda enabled: None,
    list_physical_devices=lambda kind=None: _devices(kind, "/physical_device:CPU:0"),
    list_logical_devices=lambda kind=None: _devices(kind, "/device:CPU:0"),
)


def _devices(kind: str | None, name: str) -> list[Any]:
    """Return the devices of a kind."""
    found = [SimpleNamespace(name=name, device_type="CPU")]
    return [d for d in found if kind in (None, d.device_type)]


keras = SimpleNamespace(
    optimizers=SimpleNamespace(
        SGD=_o.KerasSGD,
        Adam=_o.KerasAdam,
        AdamW=_o.KerasAdamW,
        Adagrad=_o.KerasAdagrad,
        RMSprop=_o.KerasRMSprop,
    )
)


class UnconnectedGradients:
    """What a gradient is where nothing depends."""

    NONE = "none"
    ZERO = "zero"


train = SimpleNamespace(
    Checkpoint=_t.Checkpoint,
    CheckpointManager=_t.CheckpointManager,
    Saver=_t.Saver,
    latest_checkpoint=_t.latest_checkpoint,
    list_variables=_t.list_variables,
    load_variable=_t.load_variable,
    GradientDescentOptimizer=_o.GradientDescent,
    MomentumOptimizer=_o.Momentum,
    AdamOptimizer=_o.Adam,
    AdagradOptimizer=_o.Adagrad,
    RMSPropOptimizer=_o.RMSProp,
)
__version__ = "2.21"


def _report_uninitialized_variables(*_: Any, **__: Any) -> Any:
    """Return the names of variables without a value."""
    from ..kinds import Kind  # noqa: PLC0415

    variables = _st.global_variables()
    graph = _st.get_default_graph()

    class Report(Kind):
        """The names of variables without a value."""

        type = "ReportUninitialized"

        def infer(self, specs: Any, attributes: Any) -> Any:
            """Return a list of text."""
            from .core import shape_spec  # noqa: PLC0415

            return (shape_spec("string", [None]),)

        def run(self, frame: Any, op: Any, inputs: Any) -> Any:
            """Look."""
            names = [v.state.name.encode() for v in variables if not v.state.has_value(frame.store)]
            made = np.empty(len(names), object)
            made[:] = names
            return (made,)

    return graph.add(Report(), ()).outputs[0]


def _module() -> Any:
    import sys  # noqa: PLC0415

    return sys.modules[__name__]


class _V1:
    """TensorFlow's first version: what is not said here is as at the top."""

    Session = _st.Session
    Variable = Variable
    placeholder = staticmethod(_st.placeholder)
    placeholder_with_default = staticmethod(_st.placeholder_with_default)
    global_variables_initializer = staticmethod(_st.global_variables_initializer)
    initialize_all_variables = staticmethod(_st.global_variables_initializer)
    variables_initializer = staticmethod(_st.variables_initializer)
    global_variables = staticmethod(_st.global_variables)
    trainable_variables = staticmethod(_st.trainable_variables)
    get_default_graph = staticmethod(_st.get_default_graph)
    report_uninitialized_variables = staticmethod(_report_uninitialized_variables)
    train = train
    ConfigProto = SimpleNamespace
    random_uniform = staticmethod(_r.uniform)
    random_normal = staticmethod(_r.normal)

    @staticmethod
    def scatter_add(ref: Any, indices: Any, updates: Any, **_: Any) -> Any:
        """Add rows to a variable."""
        return ref.scatter_nd_add(expand_dims(indices, -1), updates)

    hessians = staticmethod(_f.hessians)
    zeros_initializer = staticmethod(lambda **_: lambda shape, dtype="float32": zeros(shape, dtype))
    ones_initializer = staticmethod(lambda **_: lambda shape, dtype="float32": ones(shape, dtype))
    constant_initializer = staticmethod(
        lambda value=0, **_: lambda shape, dtype="float32": constant(value, dtype, shape)
    )
    set_random_seed = staticmethod(_r.set_seed)

    def __getattr__(self, name: str) -> Any:
        return getattr(_module(), name)

    @staticmethod
    def assign(ref: Any, value: Any, name: Any = None, **_: Any) -> Any:
        """Give a variable a value."""
        return ref.assign(value)

    @staticmethod
    def assign_add(ref: Any, value: Any, name: Any = None, **_: Any) -> Any:
        """Add to a variable."""
        return ref.assign_add(value)

    @staticmethod
    def assign_sub(ref: Any, value: Any, name: Any = None, **_: Any) -> Any:
        """Subtract from a variable."""
        return ref.assign_sub(value)

    @staticmethod
    def add_to_collection(name: str, value: Any) -> None:
        """Put a value into a list of the graph."""
        _st.get_default_graph().add_to_collection(name, value)

    @staticmethod
    def get_collection(name: str, scope: Any = None) -> list[Any]:
        """Return a list of the graph."""
        return _st.get_default_graph().get_collection(name)

    @staticmethod
    def get_default_session() -> Any:
        """Return the session that is entered."""
        from ..session import default_session  # noqa: PLC0415

        return default_session()


raw_ops = SimpleNamespace(
    Switch=lambda data, pred, name=None: _fl.switch(data, pred, name),
    Merge=lambda inputs, name=None: _fl.merge(inputs, name),
    Enter=_fl.enter,
    Exit=_fl.leave,
    NextIteration=_fl.next_iteration,
    LoopCond=_fl.loop_condition,
)
compat = SimpleNamespace(v1=_V1())
global_variables_initializer = _st.global_variables_initializer
initialize_all_variables = _st.global_variables_initializer

__all__ = [
    "GradientTape", "Graph", "Module", "Operation", "Session", "Tensor", "TensorShape",
    "TensorSpec", "UnconnectedGradients", "Variable", "add_n", "argmax", "argmin", "argsort",
    "bfloat16", "bitwise", "bool", "boolean_mask", "broadcast_to", "case", "cast",
    "clip_by_global_norm", "clip_by_norm", "clip_by_value", "compat", "complex64", "complex128",
    "concat", "cond", "config", "constant", "control_dependencies", "convert_to_tensor", "cumsum",
    "custom_gradient", "debugging", "device", "einsum", "errors", "executing_eagerly",
    "expand_dims", "eye", "fill", "float16", "float32", "float64", "function", "gather",
    "gather_nd", "gradients", "group", "identity", "init_scope", "int8", "int16", "int32",
    "int64", "keras", "linalg", "linspace", "math", "matmul", "meshgrid", "name_scope", "nest",
    "newaxis", "nn", "no_op", "numpy_function", "one_hot", "ones", "ones_like", "pad",
    "placeholder", "py_function", "random", "range", "rank", "reduce_mean", "reshape", "reverse",
    "roll", "scatter_nd", "searchsorted", "sequence_mask", "shape", "size", "slice", "sort",
    "split", "square", "squeeze", "stack", "stop_gradient", "string", "switch_case",
    "tensor_scatter_nd_update", "tile", "train", "transpose", "truediv", "tuple", "uint8",
    "uint16", "uint32", "uint64", "unique", "unstack", "where", "while_loop", "zeros",
    "zeros_like",
]  # fmt: skip
