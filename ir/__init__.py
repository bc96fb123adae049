"""The IR: types, operations, text, verifier, interpreter.

Imports xDSL and numpy, nothing else of gravure. Read in this order: `types/` (elements,
dimensions, tensors), `op` (what an operation is), `ops/` (the operations, one family a file),
`build` (making graphs), `compose/` (operations made of others), `program` (module and weights),
`gradient/` (the way back), `levels` (what may stand where), `text`, `verify`, `interpret/`,
`dialects/` (what kernels say). The operations that only a host carries out are in `host`.
"""

from . import ops
from .build import (
    DEVICE,
    SOURCE,
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
from .interpret.graph import Interpreter, interpret
from .iteration import Affine, Iteration
from .op import REGISTRY, Array, Call, EagerEmit, Op, find_op, register
from .program import Program
from .samples import Sample
from .text import canonical_hash, context, parse, print_module
from .types import dims, dtypes
from .types.attributes import Symbol
from .types.dims import Dim, DimExpr, Range
from .types.dtypes import DTYPES, DType
from .types.tensor import TensorSpec, memref_of, spec, spec_of, spec_of_array
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
    "find_op",
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
