"""Compute an expansion, the windows that slide over it and its projection row by row.

    %e = gv.kernel %x, %u ({ matmul_packed, clip }) {kind = "gemm"}
    %d = gv.kernel %e, %w ({ depthwise_packed, clip }) {kind = "depthwise"}     =>
    %y = gv.kernel %d, %p, %x ({ matmul_packed, add }) {kind = "gemm"}

    %y = gv.kernel %x, %u, %w, %p ({ matmul_packed, ... add }) {kind = "bottleneck"}

The first can be a convolution too. Where what it makes is larger than what stays in cache, so that
it would be written to memory and read again, and a few of its rows are not. Each tensor in between
must have one user, which reads it as it is. Needs `fuse`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import BlockArgument

from ..ir import Op, Program
from ..ir.ops.laid_out.packed import DepthwisePacked
from ..ir.ops.structure import Kernel
from ..ir.program import functions
from ..ir.types.dims import product
from ..ir.types.tensor import TensorSpec
from .analysis.blocks import blocks_of
from .analysis.kernels.tiles import lanes_of
from .analysis.targets import target_of
from .base import Pass
from .merge_maps import merge

IN_CACHE = 1 << 20
"""Bytes of an image of the expansion up to which it stays in a core's cache."""
RING = 384 << 10
"""Bytes of the rows that windows see, at most: they are to stay there."""
WEIGHTS = 256 << 10
"""Bytes of weights of a product, at most: they are read again for each row."""


@dataclass(frozen=True)
class MergeBottlenecks(Pass):
    """Compute an expansion, windows and a projection row by row."""

    LEVEL = "fused"
    FOR = (DepthwisePacked,)

    def apply(self, program: Program) -> None:
        """Merge in every function."""
        target = target_of(program)
        if not target.can.pack_panels:
            return
        for block in [b for f in functions(program.module) for b in blocks_of(f)]:
            for slide in [op for op in block.ops if isinstance(op, Kernel)]:
                windows = anchor(slide, "depthwise", "gv.depthwise_packed")
                expand = maker(slide, windows) if windows else None
                if windows is None or expand is None or not pays(windows, expand):
                    continue
                if int(windows.specs[0].dims[-1]) % lanes_of(target, windows.specs[0].dtype):  # type: ignore[arg-type]
                    continue
                made = merge(expand, slide, block, "bottleneck")
                self.count("expansions")
                project = next(iter(u.operation for u in made.results[0].uses), None)
                if isinstance(project, Kernel) and reads_rows(project, made):
                    merge(made, project, block, "bottleneck")
                    self.count("projections")


def anchor(kernel: Kernel, kind: str, name: str) -> Op | None:
    """Return the operation of a name that a kernel of a kind is about."""
    if kernel.kind != kind:
        return None
    return next((op for op in kernel.body.ops if isinstance(op, Op) and op.name == name), None)


def maker(slide: Kernel, windows: Op) -> Kernel | None:
    """Return the product that makes what windows slide over, if it can be computed by rows."""
    source = windows.operands[0]
    if not isinstance(source, BlockArgument):
        return None
    value = slide.operands[source.index]
    made, uses = value.owner, list(value.uses)
    if not isinstance(made, Kernel) or len(uses) != 1 or len(list(source.uses)) != 1:
        return None
    found = anchor(made, "gemm", "gv.matmul_packed") or anchor(made, "conv", "gv.conv_packed")
    if found is None or not by_rows(found, made.result_specs[0]):
        return None
    if found.plain_attributes().get("groups", 1) != 1:
        return None
    return made if isinstance(found.operands[0], BlockArgument) else None


def reads_rows(project: Kernel, made: Kernel) -> bool:
    """Say whether a product reads rows of the only result of a kernel, which nothing else does."""
    found = anchor(project, "gemm", "gv.matmul_packed")
    if found is None or not by_rows(found, project.result_specs[0]):
        return False
    source = found.operands[0]
    once = len(list(made.results[0].uses)) == 1
    if not once or not isinstance(source, BlockArgument) or len(list(source.uses)) != 1:
        return False
    return project.operands[source.index].owner is made


def by_rows(product_: Op, result: TensorSpec) -> bool:
    """Say whether a product of images and few weights of their type gives the kernel's result."""
    x, panels = product_.specs
    known = x.rank == 4 and panels.rank == 3 and x.dtype == panels.dtype and x.is_static
    return known and result == product_.result_specs[0] and int(panels.nbytes) <= WEIGHTS  # type: ignore[arg-type]


def pays(windows: Op, expand: Kernel) -> bool:
    """Say whether the expansion leaves the cache, and the rows that windows see do not."""
    source, weight = windows.specs
    flags = windows.plain_attributes()
    if weight.rank != 3 or flags["dilations"] != (1, 1) or expand.result_specs[0] != source:
        return False
    taps, stride = int(weight.dims[0]), flags["strides"][0]  # type: ignore[arg-type]
    if source.dtype.name not in ("f32", "f64") or stride > taps or taps > 3:
        return False
    row = int(product(source.dims[2:])) * source.dtype.size  # type: ignore[arg-type]
    return row * int(source.dims[1]) > IN_CACHE and row * (taps + 1) <= RING  # type: ignore[arg-type]
