"""gravure: compile tensor programs to native code.

A graph becomes a program in one IR, is rewritten by named passes down a ladder of levels, and
leaves as native code that needs nothing else to run.

    graph -> fused -> planned -> loops -> LLVM -> object or shared library

Each level prints to text, reads back, is verified, and can be run by the reference interpreter.
Read in this order; the docstring of each folder's `__init__.py` is its chapter:

- `errors`, `target`: what all may import: faults that a user can cause, and machines as data.
- `ir`: the operations, the levels, text, verifier, reference interpreter. Imports nothing of ours.
- `passes`: one rewrite a file, and the pipelines made of them.
- `codegen`: kernel templates, the LLVM emitter, the writer of libraries.
- `runtime`: loads and runs what was compiled; needs nothing of the compiler.
- `frontend`: how programs come in: Python, ONNX, text.
- `tools`: the `gravure` command.

The public names below are imported when they are first used, so that `import gravure` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .errors import GravureError as GravureError
    from .frontend import nn as nn
    from .frontend.array import fft as fft
    from .frontend.array import linalg as linalg
    from .frontend.array.creation import *  # noqa: F403
    from .frontend.array.elementwise import *  # noqa: F403
    from .frontend.array.info import *  # noqa: F403
    from .frontend.array.info import __array_api_version__ as __array_api_version__
    from .frontend.array.info import __array_namespace_info__ as __array_namespace_info__
    from .frontend.array.linear import *  # noqa: F403
    from .frontend.array.manipulation import *  # noqa: F403
    from .frontend.array.reduction import *  # noqa: F403
    from .frontend.array.searching import *  # noqa: F403
    from .frontend.compile import compile as compile  # noqa: A004  (users write gravure.compile)
    from .frontend.compile import load as load
    from .frontend.context import executing_eagerly as executing_eagerly
    from .frontend.custom_gradient import custom_gradient as custom_gradient
    from .frontend.differentiate import gradient_override as gradient_override
    from .frontend.dtypes import *  # noqa: F403
    from .frontend.dtypes import bool_ as bool  # noqa: A004, F401
    from .frontend.function import function as function
    from .frontend.function import init_scope as init_scope
    from .frontend.function import run_functions_eagerly as run_functions_eagerly
    from .frontend.graph import Graph as Graph
    from .frontend.graph import Operation as Operation
    from .frontend.on_device import device as device
    from .frontend.session import Session as Session
    from .frontend.staging import *  # noqa: F403
    from .frontend.state_functions import save_functions as save_functions
    from .frontend.tape import GradientTape as GradientTape
    from .frontend.tape import identity as identity
    from .frontend.tape import stop_gradient as stop_gradient
    from .frontend.tensor import Tensor as Tensor
    from .frontend.variable import Variable as Variable

__version__ = "0.1.0"

_NAMES: dict[str, str] = {
    "errors": "GravureError",
    "frontend.compile": "compile load",
    "frontend.tensor": "Tensor",
    "frontend.tape": "GradientTape identity stop_gradient",
    "frontend.custom_gradient": "custom_gradient",
    "frontend.differentiate": "gradient_override",
    "frontend.context": "executing_eagerly",
    "frontend.function": "function init_scope run_functions_eagerly",
    "frontend.variable": "Variable",
    "frontend.graph": "Graph Operation",
    "frontend.session": "Session",
    "frontend.on_device": "device",
    "frontend.state_functions": "save_functions",
    "frontend.staging": "cond control_dependencies gradients graph_mode group map_fn name_scope "
    "placeholder py_function scan switch_case while_loop",
    "frontend.dtypes": "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 "
    "float32 float64 complex64 complex128 string bool=bool_",
    "frontend": "nn=",
    "frontend.array": "fft= linalg=",
    "frontend.array.creation": "arange asarray empty empty_like eye from_dlpack full full_like "
    "linspace meshgrid ones ones_like tril triu zeros zeros_like",
    "frontend.array.elementwise": "abs acos acosh add asin asinh astype atan atan2 atanh "
    "bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor "
    "ceil clip conj copysign cos cosh divide equal erf exp exp2 expm1 floor floor_divide fmod "
    "greater greater_equal hypot imag isfinite isinf isnan less less_equal log log10 log1p log2 "
    "logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply negative "
    "nextafter not_equal positive pow real reciprocal remainder round rsqrt sign signbit sin "
    "sinh sqrt square subtract tan tanh trunc where",
    "frontend.array.info": "__array_api_version__ __array_namespace_info__ can_cast e finfo "
    "iinfo inf isdtype nan newaxis pi result_type",
    "frontend.array.linear": "einsum matmul matrix_transpose outer tensordot vecdot",
    "frontend.array.manipulation": "broadcast_arrays broadcast_shapes broadcast_to concat "
    "expand_dims flip moveaxis pad permute_dims repeat reshape roll squeeze stack take "
    "take_along_axis tile unstack",
    "frontend.array.reduction": "all any count_nonzero cumulative_prod cumulative_sum diff "
    "logsumexp max mean min prod std sum var",
    "frontend.array.searching": "argmax argmin argsort isin nonzero one_hot searchsorted sort "
    "top_k unique_all unique_counts unique_inverse unique_values",
}
"""Module -> the public names it defines: `name`, `name=attribute`, or `name=` for a module."""

PUBLIC: dict[str, tuple[str, str]] = {
    entry.partition("=")[0]: (module, entry)
    for module, entries in _NAMES.items()
    for entry in entries.split()
}
"""Public name -> module of this package that defines it, and the entry above."""

__all__ = sorted(["__version__", *PUBLIC])  # noqa: PLE0605  (a list of str)


def __getattr__(name: str) -> object:
    """Import a public name on first use (PEP 562)."""
    if name not in PUBLIC:
        raise AttributeError(f"module 'gravure' has no attribute {name!r}")
    module, entry = PUBLIC[name]
    _, renamed, attribute = entry.partition("=")
    if renamed and not attribute:
        value: object = import_module(f".{module}.{name}", __name__)
    else:
        value = getattr(import_module(f".{module}", __name__), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted({*globals(), *PUBLIC})
