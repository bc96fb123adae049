"""What became of each kernel in code: whether it uses vectors and threads, and why not.

report(compiled, sizes)             a row for each launch, in order
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from xdsl.dialects.builtin import VectorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ..ir import TensorSpec
from ..ir.dialects.kernel import LibraryGemm
from ..ir.program import by_name
from ..ir.types.tensor import spec_of
from ..passes.analysis.kernels.kinds import KINDS
from ..target import Target
from . import kernels
from .compiled import Compiled
from .work import LaunchInfo, launches_of


def report(compiled: Compiled, sizes: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return a row for each launch: what it computes, and what its code uses."""
    program = compiled.program
    assert program is not None, "what is reported on is not taken from the cache"
    known = by_name(program.module)
    code: dict[str, dict[str, Any]] = {}
    rows = []
    for number, info in enumerate(launches_of(program, sizes)):
        if info.kernel not in code:
            code[info.kernel] = _code(known[info.kernel], info, compiled.target, program.level)
        rows.append(
            {"launch": number, **info.as_json(), **code[info.kernel], **_parallel(info, compiled)}
        )
    return rows


def _code(kernel: FuncOp, info: LaunchInfo, target: Target, level: str) -> dict[str, Any]:
    """Say whether a kernel's loops are over vectors."""
    loops = kernel if level == "loops" else kernels.lower(kernel, target)
    called = {op.function.data for op in loops.walk() if isinstance(op, LibraryGemm)}
    if called:
        return {"calls": ", ".join(sorted(called))}
    lanes = max(map(_lanes, loops.walk()), default=0)
    if any(op.name == "gvk.gemm_tile" for op in loops.walk()):
        width = spec_of(kernel.function_type.outputs.data[0]).dtype.size
        lanes = max(lanes, target.lanes * 4 // width)
    if lanes:
        return {"vector_lanes": lanes}
    return {"vector_lanes": 0, "not_vectorised": _why_scalar(kernel, info, target)}


def _lanes(op: Operation) -> int:
    """Return how many elements the widest vector holds that an operation makes."""
    kinds = [result.type for result in op.results if isinstance(result.type, VectorType)]
    return max((prod(kind.get_shape()) for kind in kinds), default=0)


def _why_scalar(kernel: FuncOp, info: LaunchInfo, target: Target) -> str:
    if target.lanes <= 1:
        return f"{target.name} has no vectors"
    if KINDS[info.kind].in_order:
        return f"a kernel of kind {info.kind} goes element by element"
    specs = [spec_of(kind) for kind in kernel.function_type.outputs]
    last = [spec.dims[-1] for spec in specs if spec.rank]
    if not last:
        return "its result is one element"
    if all(isinstance(dim, int) and dim < target.lanes for dim in last):
        return f"its rows of {last[0]} elements are shorter than a vector of {target.lanes}"
    return f"there is no vector form of it for {_types(specs)}"


def _types(specs: list[TensorSpec]) -> str:
    return ", ".join(dict.fromkeys(str(spec.dtype) for spec in specs))


def _parallel(info: LaunchInfo, compiled: Compiled) -> dict[str, Any]:
    """Say in how many parts a launch can be done, and why in one only."""
    if info.units > 1:
        return {}
    if info.units == 1:
        work = info.cost.flops + info.cost.functions
        return {"not_parallel": f"{work} operations on {info.cost.written} bytes are one part"}
    return {"not_parallel": "it is not lowered yet"}
