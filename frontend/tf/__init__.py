"""TensorFlow's names over gravure's objects: `import gravure.tf as tf`.

The names of the second version stand at the top, those of the first under `compat.v1` and, where
they do not clash, at the top too. Element types are not promoted (`values`). Read in this order:

- `core/`: tensors, Python values as tensors, functions as operations, shapes.
- `ops/`: the operations. `runs/`: options and metadata of runs.
- `graph/`: graphs, variables, control flow, queues.
- `train/`: optimisers, losses, what is saved.
- `data/`, `io/`, `summary/`: input, files, event files.
- `names/`: the namespaces, of both versions.
"""

from __future__ import annotations

import sys
from builtins import bool as _bool
from types import ModuleType, SimpleNamespace

from ..eager.conversions import register_tensor_conversion_function
from ..function.function import init_scope
from ..graph.graph import GraphTensor
from ..values import run_errors as errors
from ..values.context import STATE as _STATE
from .core.bridge import Common as _Common
from .core.bridge import TfTensor as Tensor
from .core.bridge import custom_gradient
from .core.creators import VariableAggregation, VariableSynchronization, variable_creator_scope
from .core.element_types import TfDataType as DType
from .core.element_types import (
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
from .core.listing import refusal as _refusal
from .core.names import device, name_scope
from .core.shapes import TensorShape, broadcast_static_shape
from .core.space import Space
from .core.specs import TensorSpec, TypeSpec, type_spec_from_value
from .core.structures import NoneTensorSpec
from .core.values import convert_to_tensor
from .data.names import data
from .distribute.tpu import tpu
from .graph import debugging as _debugging
from .graph import flow as _fl
from .graph import functional as _fn
from .graph import graph_lists as _gl
from .graph import state as _st
from .graph.autograph import autograph, function
from .graph.device_spec import DeviceSpec
from .graph.flow import (
    GradientTape,
    UnconnectedGradients,
    case,
    cond,
    gradients,
    stop_gradient,
    switch_case,
)
from .graph.functional import hessians
from .graph.graph_def import GraphDef
from .graph.loops import foldl, foldr, scan, while_loop
from .graph.queues import FIFOQueue, RandomShuffleQueue
from .graph.sessions import InitialisingSession as Session
from .graph.state import TfGraph as Graph
from .graph.state import (
    Variable,
    control_dependencies,
    group,
    no_op,
    placeholder,
)
from .graph.tensor_array import TensorArray, TensorArraySpec
from .io.names import io
from .lookup.names import lookup
from .names import first_operands as _fo
from .names.aliases import ALIASES
from .names.compat import compat_space
from .names.experimental import NARROW, experimental, types
from .names.importing import graph_util, import_graph_def
from .names.keras_names import keras_space
from .names.namespaces import (
    bitwise,
    config,
    constant_initializer,
    debugging,
    distribute,
    image,
    linalg,
    math,
    nest,
    nn,
    ones_initializer,
    profiler,
    queue,
    random,
    random_normal_initializer,
    random_uniform_initializer,
    saved_model,
    signal,
    strings,
    train,
    zeros_initializer,
)
from .names.raw import raw_space
from .names.trivia import TOP as _TRIVIA
from .names.v1 import first_version
from .nondense.composite import CompositeTensor
from .nondense.names import SparseTensor, SparseTensorSpec, edit_distance, sets, sparse
from .ops import complex_gradients as _complex_gradients  # noqa: F401  (enters them)
from .ops import creation as _c
from .ops import indexing as _indexing
from .ops import math_ops as _m
from .ops import random_ops as _r
from .ops import window_ops as _w
from .ops.array_ops import (
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
from .ops.composed import (
    batch_to_space,
    bitcast,
    histogram_fixed_width,
    roll,
    saturate_cast,
    space_to_batch,
    unravel_index,
)
from .ops.creation import (
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
from .ops.gathering import (
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
from .ops.indexed_slices import IndexedSlices, IndexedSlicesSpec
from .ops.math_ops import (
    add_n,
    argmax,
    argmin,
    cast,
    cumsum,
    identity,
    identity_n,
    matmul,
    reduce_mean,
    square,
    truediv,
    truncatemod,
)
from .ops.nn_ops import clip_by_global_norm, clip_by_norm, clip_by_value, einsum
from .ops.sorting import argsort, searchsorted, sequence_mask, sort, unique, unique_with_counts
from .ops.strings import as_string
from .program.testing import test
from .ragged.mapping import map_fn, vectorized_map
from .ragged.names import RaggedTensor, RaggedTensorSpec, ragged
from .runs.operations import TfOperation as Operation
from .runs.python_calls import numpy_function, py_function
from .special.fake_quantised import quantization
from .summary.names import summary
from .train.modules import Module
from .variables.scopes import AUTO_REUSE, get_variable, variable_scope

bool = bool_
dtypes = Space(
    "dtypes",
    **{
        d.name: d
        for d in (
            *(bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, string),
            *(float16, bfloat16, float32, float64, complex64, complex128),
        )
    },
    DType=DType,
    as_dtype=as_dtype,
    experimental=Space("dtypes.experimental", **NARROW),
    complex=_m.complex_,
    double=float64,
    half=float16,
    cast=cast,
    saturate_cast=saturate_cast,
)
range = _c.range_
slice = _indexing.slice_
tuple = _fl.tuple_
newaxis = None
globals().update({n: f for n, f in _m.FUNCTIONS.items() if n != "floormod"})
globals().update(_m.REDUCTIONS)
divide = truediv
Assert = _debugging.Assert
assert_equal, assert_greater = _debugging.assert_equal, _debugging.assert_greater
assert_less, assert_rank = _debugging.assert_less, _debugging.assert_rank
realdiv = truediv
add, truediv = _fo.add, _fo.truediv
half, double = float16, float64
ceil, mod = _m.FUNCTIONS["ceil"], _m.FUNCTIONS["floormod"]
random_uniform, random_normal = _r.uniform, _r.normal
norm, tensordot = _w.norm, _w.tensordot
complex, real, imag, conj = _m.complex_, _m.real, _m.imag, _m.conj


def executing_eagerly() -> _bool:
    """Say whether operations run at once."""
    return _STATE.context is None


def inside_function() -> _bool:
    """Say whether a function is being traced."""
    return isinstance(_STATE.context, _st.TfFuncGraph)


def get_static_value(tensor: object, partial: object = False) -> object:
    """Return the elements if they are known; what is no tensor comes back."""
    if isinstance(tensor, GraphTensor):
        return tensor.op.attributes["value"] if tensor.op.type == "Const" else None
    if isinstance(tensor, Tensor):
        return tensor.numpy()
    return None if isinstance(tensor, _Common) else tensor


keras: ModuleType
initializers: ModuleType
losses: ModuleType
metrics: ModuleType
optimizers: ModuleType


def __getattr__(name: str) -> object:
    """Return Keras's namespaces; refuse what TensorFlow has and this has not, and say why."""
    found = keras_space(name)
    if found is None:
        raise AttributeError(_refusal(f"tf.{name}"))
    return found


def is_tensor(x: object) -> _bool:
    """Say whether a value is a tensor or a variable."""
    return isinstance(x, _Common | IndexedSlices | CompositeTensor)


def print(
    *inputs: object,
    output_stream: object = None,
    summarize: object = None,
    sep: str = " ",
    end: str = "\n",
    name: str | None = None,
) -> object:
    """Write values to a stream (standard error if none is given), when the operation runs."""
    from .graph.printing import write  # noqa: PLC0415

    return write(inputs, output_stream, sep, end, summarize)


globals().pop("metrics", None)  # the folder of that name: `tf.metrics` is Keras's
raw_ops = raw_space(sys.modules[__name__])
RegisterGradient, no_gradient = _fl.RegisterGradient, _fl.no_gradient
autodiff = SimpleNamespace(ForwardAccumulator=_fn.ForwardAccumulator, GradientTape=GradientTape)
parallel_stack = ALIASES["parallel_stack"]
scalar_mul, space_to_batch_nd = ALIASES["scalar_mul"], ALIASES["space_to_batch_nd"]
histogram_fixed_width_bins = ALIASES["histogram_fixed_width_bins"]
required_space_to_batch_paddings = ALIASES["required_space_to_batch_paddings"]
extract_volume_patches, guarantee_const = (
    ALIASES["extract_volume_patches"],
    ALIASES["guarantee_const"],
)
eig, eigvals, matrix_square_root = linalg.eig, linalg.eigvals, linalg.sqrtm
recompute_grad, grad_pass_through = _fn.recompute_grad, _fn.grad_pass_through
global_variables_initializer = initialize_all_variables = _gl.global_variables_initializer
globals().update(_TRIVIA)
__version__ = "2.21.0"
compat = compat_space(first_version(globals()), sys.modules[__name__])
compat.v1.compat = compat_space(compat.v1, compat.v2)

__all__ = [
    "AUTO_REUSE",
    "DType",
    "DeviceSpec",
    "FIFOQueue",
    "GradientTape",
    "Graph",
    "GraphDef",
    "IndexedSlices",
    "IndexedSlicesSpec",
    "Module",
    "NoneTensorSpec",
    "Operation",
    "RaggedTensor",
    "RaggedTensorSpec",
    "RandomShuffleQueue",
    "Session",
    "SparseTensor",
    "SparseTensorSpec",
    "Tensor",
    "TensorArray",
    "TensorArraySpec",
    "TensorShape",
    "TensorSpec",
    "TypeSpec",
    "UnconnectedGradients",
    "Variable",
    "VariableAggregation",
    "VariableSynchronization",
    "add_n",
    "argmax",
    "argmin",
    "argsort",
    "as_dtype",
    "as_string",
    "autograph",
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
    "data",
    "debugging",
    "device",
    "distribute",
    "dynamic_partition",
    "dynamic_stitch",
    "edit_distance",
    "einsum",
    "ensure_shape",
    "errors",
    "executing_eagerly",
    "expand_dims",
    "experimental",
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
    "graph_util",
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
    "io",
    "keras",
    "linalg",
    "linspace",
    "lookup",
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
    "profiler",
    "py_function",
    "quantization",
    "queue",
    "ragged",
    "random",
    "random_normal_initializer",
    "random_uniform_initializer",
    "range",
    "rank",
    "reduce_mean",
    "register_tensor_conversion_function",
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
    "sets",
    "shape",
    "shape_n",
    "signal",
    "size",
    "slice",
    "sort",
    "space_to_batch",
    "sparse",
    "split",
    "square",
    "squeeze",
    "stack",
    "stop_gradient",
    "strided_slice",
    "string",
    "strings",
    "summary",
    "switch_case",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_max",
    "tensor_scatter_nd_min",
    "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update",
    "test",
    "tile",
    "tpu",
    "train",
    "transpose",
    "truediv",
    "truncatemod",
    "tuple",
    "type_spec_from_value",
    "types",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unique",
    "unique_with_counts",
    "unravel_index",
    "unstack",
    "variable_creator_scope",
    "variable_scope",
    "vectorized_map",
    "where",
    "while_loop",
    "zeros",
    "zeros_initializer",
    "zeros_like",
]  # fmt: skip
