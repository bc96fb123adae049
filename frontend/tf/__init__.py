"""TensorFlow's names over gravure's objects: `import gravure.tf as tf`.

The names of the second version stand at the top, those of the first under `compat.v1` and, where
they do not clash, at the top too. Element types are not promoted (`values`). Read in this order:

- `core`, `values`, `calls`: tensors, Python values as tensors, functions as operations.
- `creation`, `array_ops`, `gathering`, `indexing`, `sorting`, `math_ops`, `special`, `linear_ops`,
  `nn_ops`, `window_ops`, `random_ops`, `generator`, `strings`: the operations.
- `state`, `scopes`, `flow`, `loops`, `tensor_array`, `queues`: graphs, variables, control.
- `indexed_slices`, `optimiser_ops`, `loss_ops`, `initial_values`, `savers`,
  `checkpoints`, `modules`: training.
- `graph_def`, `saved_model`: graphs and functions as files.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from .. import run_errors as errors
from ..context import STATE as _STATE
from ..dtypes import DataType as DType
from ..dtypes import (
    as_dtype,
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
from ..function import init_scope
from ..graph import GraphTensor, Operation
from . import array_ops as _a
from . import creation as _c
from . import debugging, strings
from . import flow as _fl
from . import functional as _fn
from . import graph_lists as _gl
from . import indexing as _indexing  # noqa: F401  (fills in the operator)
from . import math_ops as _m
from . import queues as _q
from . import random_ops as _r
from . import state as _st
from . import window_ops as _w
from .array_ops import (
    boolean_mask,
    broadcast_dynamic_shape,
    broadcast_to,
    concat,
    ensure_shape,
    expand_dims,
    pad,
    rank,
    repeat,
    reshape,
    reverse,
    reverse_sequence,
    roll,
    shape,
    shape_n,
    size,
    split,
    squeeze,
    stack,
    strided_slice,
    tile,
    transpose,
    unstack,
    where,
)
from .composed import (
    batch_to_space,
    bitcast,
    histogram_fixed_width,
    space_to_batch,
    unravel_index,
)
from .core import Common as Tensor
from .core import custom_gradient
from .creation import (
    constant,
    eye,
    fill,
    linspace,
    meshgrid,
    one_hot,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from .flow import (
    GradientTape,
    UnconnectedGradients,
    case,
    cond,
    gradients,
    numpy_function,
    py_function,
    stop_gradient,
    switch_case,
)
from .functional import hessians
from .gathering import (
    dynamic_partition,
    dynamic_stitch,
    gather,
    gather_nd,
    scatter_nd,
    tensor_scatter_nd_add,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
    tensor_scatter_nd_sub,
    tensor_scatter_nd_update,
)
from .graph_def import GraphDef, import_graph_def
from .indexed_slices import IndexedSlices
from .loops import foldl, foldr, map_fn, scan, vectorized_map, while_loop
from .math_ops import (
    add_n,
    argmax,
    argmin,
    cast,
    cumsum,
    identity,
    identity_n,
    matmul,
    reduce_mean,
    saturate_cast,
    square,
    truediv,
    truncatemod,
)
from .modules import Module
from .namespaces import (
    bitwise,
    config,
    constant_initializer,
    image,
    initializers,
    keras,
    linalg,
    losses,
    math,
    nest,
    nn,
    ones_initializer,
    optimizers,
    queue,
    random,
    random_normal_initializer,
    random_uniform_initializer,
    saved_model,
    signal,
    train,
    zeros_initializer,
)
from .nn_ops import clip_by_global_norm, clip_by_norm, clip_by_value, einsum
from .queues import FIFOQueue, RandomShuffleQueue
from .scopes import AUTO_REUSE, get_variable, variable_scope
from .sessions import InitialisingSession as Session
from .shapes import TensorShape, broadcast_static_shape
from .sorting import argsort, searchsorted, sequence_mask, sort, unique, unique_with_counts
from .specs import TensorSpec, type_spec_from_value
from .state import TfGraph as Graph
from .state import (
    Variable,
    control_dependencies,
    device,
    function,
    group,
    name_scope,
    no_op,
    placeholder,
)
from .strings import as_string
from .tensor_array import TensorArray
from .v1 import V1 as _V1
from .values import convert_to_tensor

bool = bool_
dtypes = SimpleNamespace(
    **{
        d.name: d
        for d in (
            *(bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, string),
            *(float16, bfloat16, float32, float64, complex64, complex128),
        )
    },
    DType=DType,
    as_dtype=as_dtype,
    cast=cast,
    saturate_cast=saturate_cast,
)
range = _c.range_
slice = _a.slice_
tuple = _st.tuple_
newaxis = None
globals().update({n: f for n, f in _m.FUNCTIONS.items() if n != "floormod"})
globals().update(_m.REDUCTIONS)
divide = truediv
Assert = debugging.Assert
assert_equal, assert_greater = debugging.assert_equal, debugging.assert_greater
assert_less, assert_rank = debugging.assert_less, debugging.assert_rank
realdiv = truediv
half, double = float16, float64
ceil, mod = _m.FUNCTIONS["ceil"], _m.FUNCTIONS["floormod"]
random_uniform, random_normal = _r.uniform, _r.normal
norm, tensordot = _w.norm, _w.tensordot
complex, real, imag, conj = _m.complex_, _m.real, _m.imag, _m.conj


def executing_eagerly() -> Any:
    """Say whether operations run at once."""
    return _STATE.context is None


def inside_function() -> Any:
    """Say whether a function is being traced."""
    return isinstance(_STATE.context, _st.TfFuncGraph)


def get_static_value(tensor: Any, partial: Any = False) -> Any:
    """Return the elements if they are known."""
    if isinstance(tensor, GraphTensor):
        return tensor.op.attributes["value"] if tensor.op.type == "Const" else None
    return tensor.numpy() if hasattr(tensor, "numpy") else np.asarray(tensor)


def is_tensor(x: Any) -> Any:
    """Say whether a value is a tensor or a variable."""
    return isinstance(x, Tensor | IndexedSlices)


def print(
    *inputs: Any,
    output_stream: Any = None,
    summarize: Any = None,
    sep: str = " ",
    end: str = "\n",
    name: Any = None,
) -> Any:
    """Write values to a stream (standard error if none is given), when the operation runs."""
    from .printing import write  # noqa: PLC0415

    return write(inputs, output_stream, sep, end, summarize)


raw_ops = SimpleNamespace(
    Switch=_fl.switch,
    Merge=_fl.merge,
    Enter=_fl.enter,
    Exit=_fl.leave,
    NextIteration=_fl.next_iteration,
    LoopCond=_fl.loop_condition,
    Mutex=_q.Mutex,
    MutexAcquire=lambda mutex, name=None: mutex.acquire(name),
    MutexRelease=lambda mutex, name=None: mutex.release(name),
)
compat = SimpleNamespace(v1=_V1())
RegisterGradient = _fl.RegisterGradient
autodiff = SimpleNamespace(ForwardAccumulator=_fn.ForwardAccumulator)
recompute_grad, grad_pass_through = _fn.recompute_grad, _fn.grad_pass_through
global_variables_initializer = initialize_all_variables = _gl.global_variables_initializer
__version__ = "2.21"

__all__ = [
    "AUTO_REUSE",
    "DType",
    "FIFOQueue",
    "GradientTape",
    "Graph",
    "GraphDef",
    "IndexedSlices",
    "Module",
    "Operation",
    "RandomShuffleQueue",
    "Session",
    "Tensor",
    "TensorArray",
    "TensorShape",
    "TensorSpec",
    "UnconnectedGradients",
    "Variable",
    "add_n",
    "argmax",
    "argmin",
    "argsort",
    "as_dtype",
    "as_string",
    "batch_to_space",
    "bfloat16",
    "bitcast",
    "bitwise",
    "bool",
    "boolean_mask",
    "broadcast_dynamic_shape",
    "broadcast_static_shape",
    "broadcast_to",
    "case",
    "cast",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "compat",
    "complex64",
    "complex128",
    "concat",
    "cond",
    "config",
    "constant",
    "constant_initializer",
    "control_dependencies",
    "convert_to_tensor",
    "cumsum",
    "custom_gradient",
    "debugging",
    "device",
    "dynamic_partition",
    "dynamic_stitch",
    "einsum",
    "ensure_shape",
    "errors",
    "executing_eagerly",
    "expand_dims",
    "eye",
    "fill",
    "float16",
    "float32",
    "float64",
    "foldl",
    "foldr",
    "function",
    "gather",
    "gather_nd",
    "get_variable",
    "gradients",
    "group",
    "hessians",
    "histogram_fixed_width",
    "identity",
    "identity_n",
    "image",
    "import_graph_def",
    "init_scope",
    "initializers",
    "int8",
    "int16",
    "int32",
    "int64",
    "keras",
    "linalg",
    "linspace",
    "losses",
    "map_fn",
    "math",
    "matmul",
    "meshgrid",
    "name_scope",
    "nest",
    "newaxis",
    "nn",
    "no_op",
    "numpy_function",
    "one_hot",
    "ones",
    "ones_initializer",
    "ones_like",
    "optimizers",
    "pad",
    "placeholder",
    "py_function",
    "queue",
    "random",
    "random_normal_initializer",
    "random_uniform_initializer",
    "range",
    "rank",
    "reduce_mean",
    "repeat",
    "reshape",
    "reverse",
    "reverse_sequence",
    "roll",
    "saturate_cast",
    "saved_model",
    "scan",
    "scatter_nd",
    "searchsorted",
    "sequence_mask",
    "shape",
    "shape_n",
    "signal",
    "size",
    "slice",
    "sort",
    "space_to_batch",
    "split",
    "square",
    "squeeze",
    "stack",
    "stop_gradient",
    "strided_slice",
    "string",
    "strings",
    "switch_case",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_max",
    "tensor_scatter_nd_min",
    "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update",
    "tile",
    "train",
    "transpose",
    "truediv",
    "truncatemod",
    "tuple",
    "type_spec_from_value",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unique",
    "unique_with_counts",
    "unravel_index",
    "unstack",
    "variable_scope",
    "vectorized_map",
    "where",
    "while_loop",
    "zeros",
    "zeros_initializer",
    "zeros_like",
]  # fmt: skip
