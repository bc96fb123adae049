"""Operations of blocks of threads: their text reads back, and what cannot be is refused."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import VerifyException

from gravure.codegen.ptx.kernels import lower
from gravure.ir import parse, print_module, verify
from gravure.ir.dialects.gpu import MAPS, SHARED_BYTES, THREADS
from gravure.ir.dialects.kernel import loops_context
from gravure.ir.dialects.warpgroup import WarpgroupTile
from gravure.ir.program import functions
from gravure.target import Target

PRODUCT = """func.func @k(%x: tensor<128x64x{0}>, %w: tensor<128x64x{0}>) -> tensor<128x128x{0}>
    attributes {{gv.kind = "reduce"}} {{
  %r = gv.matmul %x, %w {{transpose_rhs = true}}
    : (tensor<128x64x{0}>, tensor<128x64x{0}>) -> tensor<128x128x{0}>
  func.return %r : tensor<128x128x{0}>
}}"""


def lowered(dtype: str, target: str) -> FuncOp:
    (kernel,) = functions(parse(PRODUCT.format(dtype)))
    return lower(kernel, Target.parse(target))


@pytest.mark.parametrize(
    ("dtype", "target", "operation"),
    [
        ("f32", "cuda:sm_80", "gvk.barrier"),
        ("bf16", "cuda:sm_80", "gvk.mma"),
        ("f16", "cuda:sm_90a", "gvk.warpgroup_product"),
    ],
)
def test_loops_of_blocks_are_ir(dtype: str, target: str, operation: str) -> None:
    loops = lowered(dtype, target)
    text = f"module {{\n{print_module(loops)}\n}}"
    assert f"{operation}" in text
    module = parse(text)
    verify(module)
    (again,) = functions(module)
    assert print_module(again) == print_module(loops)
    assert THREADS in again.attributes
    assert (SHARED_BYTES in again.attributes) == (dtype != "f32")
    assert (MAPS in again.attributes) == (operation == "gvk.warpgroup_product")


ATTENTION = """func.func @k(%q: {0}, %k: {0}, %v: {0}) -> {0}
    attributes {{gv.kind = "attention"}} {{
  %r = gv.attention %q, %k, %v : ({0}, {0}, {0}) -> {0}
  func.return %r : {0}
}}"""


@pytest.mark.parametrize(
    ("target", "operations"),
    [
        ("cuda:sm_80", ("gvk.copy_async", "gvk.await_copies", "gvk.mma", "gvk.shuffle")),
        ("cuda:sm_90a", ("gvk.fence_shared", "gvk.warpgroup_multiply")),
    ],
)
def test_loops_of_attention_are_ir(target: str, operations: tuple[str, ...]) -> None:
    (kernel,) = functions(parse(ATTENTION.format("tensor<128x64xf16>")))
    text = f"module {{\n{print_module(lower(kernel, Target.parse(target)))}\n}}"
    assert [name for name in operations if name not in text] == []
    module = parse(text)
    verify(module)
    assert print_module(parse(print_module(module))) == print_module(module)


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("%s = gvk.shared : memref<?xf32>", "known size"),
        ("%i = arith.constant 1.0 : f32\n%s = gvk.shuffle %i {distance = 32 : i64} : f32 -> f32",
         "distance 1 to 31"),
        ("%m = gvk.shared : memref<64xf64>\n%i = arith.constant 0 : index\n"
         "%s = gvk.load_matrix %m[%i] {transposed = false} : memref<64xf64> -> vector<2xf64>",
         "of a type of matrices"),
    ],
)  # fmt: skip
def test_what_threads_cannot_do_is_refused(body: str, fault: str) -> None:
    from xdsl.parser import Parser  # noqa: PLC0415

    module = Parser(loops_context(), f"module {{\n{body}\n}}").parse_module()
    with pytest.raises(VerifyException, match=fault):
        module.verify()


def test_stages_of_warpgroups_fit_shared_memory() -> None:
    tile = WarpgroupTile(128, 256, 64, 4)
    assert tile.threads == 384
    assert tile.stage_bytes == 49152
    assert tile.shared_bytes <= Target.parse("cuda:sm_90a").l1
