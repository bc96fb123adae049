"""The kinds of kernels, in one table: what each reads, what may be put behind it, how it runs.

Which kind an operation becomes is up to its class (`KERNEL`, else its iteration). The loops of a
kind are its template, the file of its name in `codegen/kernels/`, beside which GPUs may have
another in `codegen/ptx/`. What a kernel costs is counted from its operations (`analysis/cost.py`),
and that it stays inside of its buffers is proven from its loops (`passes/check_bounds.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from ....capabilities import PLAIN, Capabilities
from ....errors import UnsupportedOp
from ....ir import Op
from ....ir.facts import KernelForm
from ....ir.types.dtypes import DType
from ....ir.types.shapes import normalize_axes


class Behind(Enum):
    """What a result may pass through before it is stored."""

    NOTHING = "nothing"
    ELEMENTS = "formulas of elements"
    MOVES = "moves"
    BOTH = "formulas of elements and moves"


class Reads(Enum):
    """How operands are read."""

    ELEMENTS = "element by element: producers are computed where they are read"
    ARGUMENTS = "from arguments and constants"
    MEMORY = "from memory, even one element"


class Over(Enum):
    """Over which operand a result may be written."""

    NONE = "none"
    ELEMENT = "read no later than the element is written"
    TILE = "read behind a register tile, just before that is stored"
    CHANGED = "the one that is changed"


@dataclass(frozen=True)
class KernelKind:
    """What fusion, memory and compilation know of the kernels of a kind."""

    reads: Reads = Reads.MEMORY
    """How operands are read."""
    behind: Behind = Behind.NOTHING
    """What may be fused behind it."""
    over: Over = Over.NONE
    """How it may save a buffer."""
    in_order: bool = False
    """Whether each element's work depends on those before, so that there are no vectors."""
    compiling: int = 1
    """How long it takes to compile, against a map."""


KINDS: Mapping[str, KernelKind] = {
    "map": KernelKind(Reads.ELEMENTS, over=Over.ELEMENT),
    "row": KernelKind(Reads.ELEMENTS, over=Over.ELEMENT, compiling=2),
    "reduce": KernelKind(Reads.ELEMENTS, behind=Behind.ELEMENTS),
    "concat": KernelKind(Reads.ELEMENTS),
    "scan": KernelKind(Reads.ELEMENTS, in_order=True),
    "argreduce": KernelKind(Reads.ELEMENTS, in_order=True),
    "scatter": KernelKind(Reads.ELEMENTS, over=Over.CHANGED, in_order=True),
    "sort": KernelKind(Reads.ELEMENTS, in_order=True),
    "pool": KernelKind(Reads.ARGUMENTS, behind=Behind.ELEMENTS, compiling=8),
    "gemm": KernelKind(behind=Behind.BOTH, over=Over.TILE),
    "blocked": KernelKind(behind=Behind.ELEMENTS),
    "contract": KernelKind(behind=Behind.ELEMENTS),
    "conv": KernelKind(behind=Behind.ELEMENTS, over=Over.TILE, compiling=3),
    "conv_groups": KernelKind(behind=Behind.ELEMENTS, compiling=10),
    "conv_weights": KernelKind(),
    "depthwise": KernelKind(behind=Behind.ELEMENTS, compiling=10),
    "winograd": KernelKind(behind=Behind.ELEMENTS, compiling=6),
    "bottleneck": KernelKind(compiling=12),
    "rnn": KernelKind(compiling=3),
    "attention": KernelKind(behind=Behind.MOVES),
    "library": KernelKind(),
    "solve": KernelKind(compiling=3),
    "factor": KernelKind(compiling=3),
    "fourier": KernelKind(compiling=4),
}
"""All kinds: that of a `gv.kernel` is one of these."""

REDUCED = KernelForm("reduce")
"""The kernel of an iteration that says nothing else."""
FAST_FLOATS = ("f32", "f64")


def kind_of(op: Op, can: Capabilities = PLAIN) -> str | None:
    """Return the kind, or None where there is no kernel for the operation."""
    form = form_of(op)
    if form is None:
        return None
    if form.kind not in KINDS:
        raise UnsupportedOp(f"{op.name}: kernel {form.kind!r}, expected one of {', '.join(KINDS)}")
    fast = not op.operands or _fast(op.specs[0].dtype)
    if not (form.needs(can) and (fast or form.slow_needs(can))):
        return None
    if form.rows is not None and _trailing(op, columns=can.reduce_columns):
        return form.rows
    return form.kind if fast or form.slow is None else form.slow


def form_of(op: Op) -> KernelForm | None:
    """Return the kernel that an operation has, by its class or its iteration."""
    return op.KERNEL or (REDUCED if op.has("iteration") else None)


def is_row_reduction(op: object) -> bool:
    """Say whether an operation reduces along axes, which may be a row each."""
    return isinstance(op, Op) and op.KERNEL is not None and op.KERNEL.rows is not None


def strides_of(op: object) -> int:
    """Return how many operands an operation walks in strides through the moves before them."""
    return op.KERNEL.strides if isinstance(op, Op) and op.KERNEL is not None else 0


def takes_formulas(kind: str | None) -> bool:
    """Say whether the result of a kind may pass through formulas of elements."""
    return kind is not None and KINDS[kind].behind in (Behind.ELEMENTS, Behind.BOTH)


def takes_any(kind: str | None) -> bool:
    """Say whether anything may be fused behind a kind."""
    return kind is not None and KINDS[kind].behind is not Behind.NOTHING


def converts(op: Op) -> bool:
    """Say whether the result may become another element type before it is stored."""
    return op.KERNEL is not None and op.KERNEL.converts


def _fast(dtype: DType) -> bool:
    return dtype.name in FAST_FLOATS


def _trailing(op: Op, *, columns: bool) -> bool:
    """Say whether the reduced axes are the last ones (or the last is not), dims of one aside."""
    dims = op.specs[0].dims
    axes = set(normalize_axes(op.plain_attributes()["axes"], len(dims)))
    kept = [a for a, d in enumerate(dims) if a not in axes and d != 1]
    reduced = [a for a in axes if dims[a] != 1]
    if reduced and kept and columns and max(kept) > max(reduced):
        return True
    return bool(reduced) and (not kept or max(kept) < min(reduced))
