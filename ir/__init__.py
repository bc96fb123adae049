"""The IR: types, operations, text, verifier, interpreter.

Imports xDSL and numpy, nothing else of gravure. Read in this order: `dtypes`, `dims`,
`tensor` (types), `attributes`, `op` (what an operation is), `ops/` (the operations, one
family a file), `build` (making graphs), `program` (module and weights), `levels` (what may
stand where), `text`, `verify`, `interpret`. Values that are no tensors of numbers are in `values`,
the operations that only a host carries out in `host`.
"""

from . import dims, dtypes, ops
from .attributes import Symbol
from .build import (
    DEVICE,
    SOURCE,
    EagerEmit,
    GraphEmit,
    block_for,
    erase,
    move_operations,
    operands_of,
    operations,
    replace,
    replace_uses,
    set_operands,
    take_apart,
    uses_of,
)
from .dims import Dim, DimExpr, Range
from .dtypes import DTYPES, DType
from .interpret import Interpreter, interpret
from .iteration import Affine, Iteration
from .op import REGISTRY, Array, Call, Op, register
from .program import Program
from .samples import Sample
from .tensor import TensorSpec, memref_of, spec, spec_of, spec_of_array
from .text import canonical_hash, context, parse, print_module
from .verify import InvalidModuleError, verify

__all__ = [
    "DEVICE",
    "DTYPES",
    "REGISTRY",
    "SOURCE",
    "Affine",
    "Array",
    "Call",
    "DType",
    "Dim",
    "DimExpr",
    "EagerEmit",
    "GraphEmit",
    "Interpreter",
    "InvalidModuleError",
    "Iteration",
    "Op",
    "Program",
    "Range",
    "Sample",
    "Symbol",
    "TensorSpec",
    "block_for",
    "canonical_hash",
    "context",
    "dims",
    "dtypes",
    "erase",
    "interpret",
    "memref_of",
    "move_operations",
    "operands_of",
    "operations",
    "ops",
    "parse",
    "print_module",
    "register",
    "replace",
    "replace_uses",
    "set_operands",
    "spec",
    "spec_of",
    "spec_of_array",
    "take_apart",
    "uses_of",
    "verify",
]
