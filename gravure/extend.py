"""The names that plugins are written with: what holds as long as `API` is the same number.

    from gravure import extend

    GRAVURE_API = 1

    @extend.register_operation
    class SoftThreshold(extend.Unary): ...

`docs/plugins.md` says what each is for. They are imported when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .capabilities import Capabilities as Capabilities
    from .codegen.backends.backend import Backend as Backend
    from .codegen.backends.backend import Code as Code
    from .codegen.backends.backend import Job as Job
    from .codegen.backends.backend import lower_by as lower_by
    from .codegen.backends.backend import refuse_stage as refuse_stage
    from .codegen.backends.table import register_backend as register_backend
    from .codegen.compiled import Compiled as Compiled
    from .codegen.describe import describe as describe
    from .errors import GravureError as GravureError
    from .frontend.eager.tensor import apply as apply
    from .frontend.onnx.node import Node as Node
    from .frontend.onnx.registry import rule as rule
    from .ir.build import GraphEmit as GraphEmit
    from .ir.build import replace as replace
    from .ir.compose.maker import Maker as Maker
    from .ir.facts import KernelForm as KernelForm
    from .ir.facts import Scaling as Scaling
    from .ir.facts import Work as Work
    from .ir.families import Binary as Binary
    from .ir.families import Elementwise as Elementwise
    from .ir.families import Unary as Unary
    from .ir.interpret.graph import Interpreter as Interpreter
    from .ir.interpret.planned import interpret_planned as interpret_planned
    from .ir.interpret.planned import weight_blob as weight_blob
    from .ir.iteration import Affine as Affine
    from .ir.iteration import Iteration as Iteration
    from .ir.iteration import dim as dim
    from .ir.op import Call as Call
    from .ir.op import Op as Op
    from .ir.program import Program as Program
    from .ir.program import functions as functions
    from .ir.reading import Reading as Reading
    from .ir.samples import Sample as Sample
    from .ir.scalar_math import Term as Term
    from .ir.types.indices import Indices as Indices
    from .ir.types.indices import number as number
    from .ir.types.tensor import Array as Array
    from .ir.types.tensor import TensorSpec as TensorSpec
    from .ir.types.tensor import spec_of as spec_of
    from .passes.analysis.blocks import operations_of as operations_of
    from .passes.base import Pass as Pass
    from .passes.manager import register_pass as register_pass
    from .passes.pipelines import pipeline_of as pipeline_of
    from .plugins import API as API
    from .runtime.executable import Executable as Executable
    from .target import Architecture as Architecture
    from .target import Processor as Processor
    from .target import Target as Target
    from .target import TargetError as TargetError

_MODULES: dict[str, str] = {
    "capabilities": "Capabilities",
    "codegen.backends.backend": "Backend Code Job lower_by refuse_stage",
    "codegen.backends.table": "register_backend",
    "codegen.compiled": "Compiled",
    "codegen.describe": "describe",
    "codegen.kernels": "lower_kernel=lower",
    "errors": "GravureError",
    "frontend.eager.tensor": "apply",
    "frontend.onnx.node": "Node",
    "frontend.onnx.registry": "rule",
    "ir.build": "GraphEmit replace",
    "ir.compose.functions": "Maker",
    "ir.facts": "KernelForm Scaling Work",
    "ir.families": "Binary Elementwise Unary",
    "ir.interpret.graph": "Interpreter",
    "ir.interpret.planned": "interpret_planned weight_blob",
    "ir.iteration": "Affine Iteration dim",
    "ir.op": "Call Op register_operation=register",
    "ir.program": "Program functions",
    "ir.reading": "Reading",
    "ir.samples": "Sample",
    "ir.scalar_math": "Term",
    "ir.types.indices": "Indices number",
    "ir.types.tensor": "Array TensorSpec spec_of",
    "passes.analysis.blocks": "operations_of",
    "passes.base": "Pass",
    "passes.manager": "register_pass",
    "passes.pipelines": "pipeline_of",
    "plugins": "API",
    "runtime.executable": "Executable",
    "target": "Architecture Processor Target TargetError",
}
"""Module -> the names that it defines: `name`, or `name=attribute`."""

_PLACES: dict[str, tuple[str, str]] = {
    entry.partition("=")[0]: (module, entry.partition("=")[2] or entry)
    for module, entries in _MODULES.items()
    for entry in entries.split()
}

__all__ = sorted(_PLACES)  # noqa: PLE0605  (a list of str)


def __getattr__(name: str) -> object:
    """Import a name on first use (PEP 562)."""
    if name not in _PLACES:
        raise AttributeError(f"module 'gravure.extend' has no attribute {name!r}")
    module, attribute = _PLACES[name]
    value: object = getattr(import_module(f".{module}", __package__), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the names."""
    return sorted({*globals(), *_PLACES})
