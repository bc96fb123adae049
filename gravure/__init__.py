"""gravure: compile tensor programs to native code.

A graph becomes a program in one IR, is rewritten by named passes down a ladder of levels, and
leaves as native code that needs nothing else to run.

    graph -> fused -> planned -> loops -> LLVM -> object or shared library

Each level prints to text, reads back, is verified, and can be run by the reference interpreter.
Read in this order; the docstring of each folder's `__init__.py` is its chapter:

- `errors`, `requirements`, `knobs`, `target`, `capabilities`, `plugins`: what all may import:
  faults that a user can cause, what is said of values that are wrong, environment variables,
  machines as data, with what their kernels can do, and what comes from outside (`extend` has the
  names that it is written with).
- `ir`: the operations, the levels, text, verifier, reference interpreter. Imports nothing of ours.
- `passes`: one rewrite a file, and the pipelines made of them.
- `codegen`: kernel templates, the LLVM emitter, the writer of libraries.
- `runtime`: loads and runs what was compiled; needs nothing of the compiler.
- `frontend`: how programs come in: Python, ONNX, text.
- `tools`: the `gravure` command, and its verbs as functions (`gravure.inspect` and so on).

The public names below are imported when they are first used, so that `import gravure` is fast.
"""

from importlib import import_module

TYPE_CHECKING = False  # what is imported here cannot be interrupted: see `interrupts`

if TYPE_CHECKING:
    from .codegen.compiled import Options as Options
    from .errors import GravureError as GravureError
    from .errors import PerformanceWarning as PerformanceWarning
    from .errors import StagingWarning as StagingWarning
    from .frontend import distributed as distributed
    from .frontend.array import fft as fft
    from .frontend.array import linalg as linalg
    from .frontend.array import nn as nn
    from .frontend.array.creation import *  # noqa: F403
    from .frontend.array.elementwise import *  # noqa: F403
    from .frontend.array.info import *  # noqa: F403
    from .frontend.array.info import __array_api_version__ as __array_api_version__
    from .frontend.array.info import __array_namespace_info__ as __array_namespace_info__
    from .frontend.array.linear import *  # noqa: F403
    from .frontend.array.manipulation import *  # noqa: F403
    from .frontend.array.reduction import *  # noqa: F403
    from .frontend.array.searching import *  # noqa: F403
    from .frontend.eager.backward import gradient_override as gradient_override
    from .frontend.eager.tape import GradientTape as GradientTape
    from .frontend.eager.tape import identity as identity
    from .frontend.eager.tape import stop_gradient as stop_gradient
    from .frontend.eager.tensor import Tensor as Tensor
    from .frontend.function.custom_gradient import custom_gradient as custom_gradient
    from .frontend.function.function import function as function
    from .frontend.function.function import init_scope as init_scope
    from .frontend.function.function import run_functions_eagerly as run_functions_eagerly
    from .frontend.function.names import *  # noqa: F403
    from .frontend.function.on_device import device as device
    from .frontend.function.session import Session as Session
    from .frontend.function.state_libraries import save_functions as save_functions
    from .frontend.function.variable import Variable as Variable
    from .frontend.graph.graph import Graph as Graph
    from .frontend.graph.graph import Operation as Operation
    from .frontend.models.functions import load_functions as load_functions
    from .frontend.models.memory import MemoryCounter as MemoryCounter
    from .frontend.models.memory import count_memory as count_memory
    from .frontend.programs.compile import compile as compile  # noqa: A004  (users write gravure.compile)
    from .frontend.programs.compile import load as load
    from .frontend.values.context import executing_eagerly as executing_eagerly
    from .frontend.values.dtypes import *  # noqa: F403
    from .frontend.values.dtypes import bool_ as bool  # noqa: A004, F401
    from .tools.checking.bisect import bisect as bisect
    from .tools.checking.check import check as check
    from .tools.checking.lint import lint as lint
    from .tools.verbs.bench import bench as bench
    from .tools.verbs.diff import diff_models as diff_models
    from .tools.verbs.doctor import doctor as doctor
    from .tools.verbs.emit import emit as emit
    from .tools.verbs.emit import list_stages as list_stages
    from .tools.verbs.explain import explain as explain
    from .tools.verbs.explain import explain_placement as explain_placement
    from .tools.verbs.explain import explain_shapes as explain_shapes
    from .tools.verbs.inspect import inspect as inspect
    from .tools.verbs.lists import list_operations as list_operations
    from .tools.verbs.lists import list_passes as list_passes
    from .tools.verbs.lists import list_pipeline as list_pipeline
    from .tools.verbs.lists import list_plugins as list_plugins
    from .tools.verbs.lists import list_targets as list_targets
    from .tools.verbs.lists import load_plugin as load_plugin
    from .tools.verbs.optimize import optimize as optimize
    from .tools.verbs.parallel import compile_parallel as compile_parallel
    from .tools.verbs.peers import bench_peers as bench_peers
    from .tools.verbs.profile import profile as profile
    from .tools.verbs.quantize import quantize as quantize
    from .tools.verbs.reduce import reduce as reduce
    from .tools.verbs.run import check_numerics as check_numerics
    from .tools.verbs.run import run as run
    from .tools.verbs.run import run_onnx_tests as run_onnx_tests
    from .tools.verbs.size import size as size
    from .tools.verbs.surgery import convert as convert
    from .tools.verbs.surgery import extract as extract
    from .tools.verbs.surgery import rename_values as rename_values
    from .tools.verbs.surgery import reshape_model as reshape_model
    from .tools.verbs.view import view as view

__version__ = "0.1.0"

_NAMES: dict[str, str] = {
    "codegen.compiled": "Options",
    "tools.checking.bisect": "bisect",
    "tools.checking.check": "check",
    "tools.checking.lint": "lint",
    "tools.verbs.bench": "bench",
    "tools.verbs.diff": "diff_models",
    "tools.verbs.doctor": "doctor",
    "tools.verbs.emit": "emit list_stages",
    "tools.verbs.explain": "explain explain_placement explain_shapes",
    "tools.verbs.inspect": "inspect",
    "tools.verbs.lists": "list_operations list_passes list_pipeline list_plugins list_targets "
    "load_plugin",
    "tools.verbs.optimize": "optimize",
    "tools.verbs.parallel": "compile_parallel",
    "tools.verbs.peers": "bench_peers",
    "tools.verbs.profile": "profile",
    "tools.verbs.quantize": "quantize",
    "tools.verbs.reduce": "reduce",
    "tools.verbs.run": "check_numerics run run_onnx_tests",
    "tools.verbs.size": "size",
    "tools.verbs.surgery": "convert extract rename_values reshape_model",
    "tools.verbs.view": "view",
    "errors": "GravureError PerformanceWarning StagingWarning",
    "frontend.programs.compile": "compile load",
    "frontend.eager.tensor": "Tensor",
    "frontend.eager.tape": "GradientTape identity stop_gradient",
    "frontend.function.custom_gradient": "custom_gradient",
    "frontend.eager.backward": "gradient_override",
    "frontend.values.context": "executing_eagerly",
    "frontend.function.function": "function init_scope run_functions_eagerly",
    "frontend.models.memory": "MemoryCounter count_memory",
    "frontend.function.variable": "Variable",
    "frontend.graph.graph": "Graph Operation",
    "frontend.function.session": "Session",
    "frontend.function.on_device": "device",
    "frontend.function.state_libraries": "save_functions",
    "frontend.models.functions": "load_functions",
    "frontend.function.names": "cond control_dependencies gradients graph_mode group map_fn "
    "name_scope placeholder py_function scan switch_case while_loop",
    "frontend.values.dtypes": "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 "
    "float32 float64 complex64 complex128 string bool=bool_",
    "frontend": "distributed=",
    "frontend.array": "fft= linalg= nn=",
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
