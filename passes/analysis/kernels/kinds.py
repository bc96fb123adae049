"""The kind of kernel that an operation with its own loop nest becomes."""

from __future__ import annotations

from ....capabilities import PLAIN, Capabilities
from ....ir import Op
from ....ir.types.dtypes import DType
from ....ir.types.shapes import normalize_axes

KINDS: dict[str, str] = {
    "gv.matmul_packed": "gemm",
    "gv.matmul_blocked": "blocked",
    "gv.conv_packed": "conv",
    "gv.conv_weights_packed": "conv_weights",
    "gv.conv_turned": "contract",
    "gv.matmul_wide": "contract",
    "gv.matmul_grouped": "contract",
    "gv.depthwise_packed": "depthwise",
    "gv.winograd_packed": "winograd",
    "gv.concat": "concat",
    "gv.cumsum": "scan",
    "gv.cumprod": "scan",
    "gv.argmax": "argreduce",
    "gv.argmin": "argreduce",
    "gv.scatter_elements": "scatter",
    "gv.scatter_nd": "scatter",
    "gv.lstm_packed": "rnn",
    "gv.gru_packed": "rnn",
    "gv.rnn_packed": "rnn",
    "gv.top_k": "sort",
    "gv.attention": "attention",
    "gv.attention_parts": "attention",
}
"""Operations that have a template of their own; all others go by their iteration space."""

EPILOGUE = frozenset(
    {"gemm", "blocked", "conv", "depthwise", "winograd", "pool", "reduce", "contract", "attention"}
)
"""Kinds whose result may pass through others before it is stored: of attention, only moves."""

CONVERTED = frozenset(
    {"gv.matmul_packed", "gv.matmul_wide", "gv.conv_packed", "gv.depthwise_packed"}
)
"""Operations behind which a result may become another element type before it is stored."""

BUFFERED = frozenset(
    {
        "gemm",
        "blocked",
        "conv",
        "conv_weights",
        "depthwise",
        "winograd",
        "rnn",
        "contract",
        "attention",
    }
)
"""Kinds whose operands are walked in memory."""

WALKED = {"gv.attention": 3, "gv.attention_parts": 3}
"""How many operands of an operation are walked in memory, where the others are read as elements."""

BY_BLOCKS = ("gv.matmul_grouped",)
"""What only blocks of a GPU share; for processors it decomposes."""

PROLOGUE = frozenset({"map", "row", "reduce", "concat", "scan", "argreduce", "scatter", "sort"})
"""Kinds that read their operands element by element, so that producers may be read in place."""

ROW_REDUCTIONS = frozenset({"gv.sum", "gv.prod", "gv.max", "gv.min", "gv.mean", "gv.any", "gv.all"})
WINDOWS = frozenset({"gv.max_pool", "gv.avg_pool", "gv.sum_pool"})
FAST_FLOATS = ("f32", "f64")


def kind_of(op: Op, can: Capabilities = PLAIN) -> str | None:
    """Return the kind, or None where there is no kernel for the operation."""
    if op.name in KINDS:
        return KINDS[op.name] if _is_there(op, can) else None
    if op.name in ROW_REDUCTIONS:
        return "row" if _trailing(op, columns=can.reduce_columns) else "reduce"
    if op.name == "gv.matmul":
        return "gemm" if _fast(op.specs[0].dtype) else "contract"
    if op.name in WINDOWS:
        return "pool"
    return "reduce" if op.has("iteration") else None


def _is_there(op: Op, can: Capabilities) -> bool:
    """Say whether the template of an operation can take this one."""
    if op.name in BY_BLOCKS:
        return can.group_products
    return op.name not in WALKED or can.attend_halves or _fast(op.specs[0].dtype)


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
