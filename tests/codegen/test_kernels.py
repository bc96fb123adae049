"""Every template, on small shapes: loops interpreted and compiled equal the kernel evaluated."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from gravure.codegen.kernels import gemm, lower
from gravure.codegen.kernels.builder.blocks import RowBlocks
from gravure.ir import parse
from gravure.ir.dialects.kernel import GemmTile, Prefetch
from gravure.ir.interpret import loops as interpret_loops
from gravure.ir.program import functions
from gravure.target import Target

sys.path.insert(0, str(Path(__file__).parent))
from kernel_cases import check_kernel

pytestmark = pytest.mark.sampled(2)

RANDOM = np.random.default_rng(0)


def tensor(*shape: int, dtype: str = "f32") -> str:
    return f"tensor<{'x'.join([*map(str, shape), dtype])}>"


def kernel(kind: str, arguments: dict[str, str], body: str, result: str) -> str:
    given = ", ".join(f"%{name}: {kind_}" for name, kind_ in arguments.items())
    return (
        f'func.func @k({given}) -> {result} attributes {{gv.kind = "{kind}"}} {{\n{body}\n'
        f"  func.return %r : {result}\n}}"
    )


WIDEST = 64 if Target.parse("native").registers >= 32 else 24
"""The columns of the widest panel that this machine's registers hold a tile of."""


@pytest.mark.parametrize("shape", [(5, 40), (3,), (7, 1), (2, 3, 5), (4100,)])
def test_a_map_adds_with_broadcasting(shape: tuple[int, ...]) -> None:
    x, y = tensor(*shape), tensor(shape[-1])
    body = f"  %s = gv.add %x, %y : ({x}, {y}) -> {x}\n  %r = gv.mul %s, %x : ({x}, {x}) -> {x}"
    check_kernel(kernel("map", {"x": x, "y": y}, body, x))


@pytest.mark.parametrize("kind", ["map", "row"])
def test_results_are_written_past_the_caches_wherever_they_begin(kind: str) -> None:
    x, m = tensor(3, 83), tensor(3, 1)
    body = {
        "map": f"  %r = gv.neg %x : ({x}) -> {x}",
        "row": f"  %m = gv.max %x {{axes = array<i64: 1>, keepdims = true}} : ({x}) -> {m}\n"
        f"  %r = gv.sub %x, %m : ({x}, {m}) -> {x}",
    }[kind]
    text = kernel(kind, {"x": x}, body, x)
    check_kernel(text.replace("attributes {", "attributes {gv.streamed, "))


def softmax(x: str, m: str) -> str:
    keep = "{axes = array<i64: 1>, keepdims = true}"
    return (
        f"  %m = gv.max %x {keep} : ({x}) -> {m}\n"
        f"  %d = gv.sub %x, %m : ({x}, {m}) -> {x}\n"
        f"  %e = gv.exp %d : ({x}) -> {x}\n"
        f"  %s = gv.sum %e {keep} : ({x}) -> {m}\n"
        f"  %r = gv.div %e, %s : ({x}, {m}) -> {x}"
    )


@pytest.mark.parametrize("low", [0.0, 90.0, 1e9, 3.4028235e38, np.inf])
def test_a_softmax_is_exact_wherever_its_numbers_lie(low: float) -> None:
    x, m = tensor(4, 83), tensor(4, 1)
    values = np.random.default_rng(0).normal(0, 8, (4, 83)).astype(np.float32)
    values[0] -= np.float32(low) if np.isfinite(low) else np.float32(0)
    values[1, ::2] = -np.float32(low)
    values[2, 5] = np.nan
    check_kernel(kernel("row", {"x": x}, softmax(x, m), x), [values], rtol=2e-6)


@pytest.mark.parametrize(("rows", "length"), [(3, 192), (5, 80), (2, 32)])
def test_rows_overlap_where_results_are_written_past_the_caches(rows: int, length: int) -> None:
    x, m = tensor(rows, length), tensor(rows, 1)
    text = kernel("row", {"x": x}, softmax(x, m), x).replace(
        "attributes {", "attributes {gv.streamed, "
    )
    check_kernel(text, rtol=2e-6)
    (function,) = functions(parse(text))
    names = [op.name for op in lower(function, Target.parse("native")).walk()]
    assert "memref.extract_aligned_pointer_as_index" in names


def test_a_map_reads_through_moves() -> None:
    x, t, f = tensor(6, 4, 5), tensor(5, 6, 4), tensor(5, 24)
    body = (
        f"  %t = gv.transpose %x {{order = array<i64: 2, 0, 1>}} : ({x}) -> {t}\n"
        f"  %f = gv.reshape %t {{shape = array<i64: 5, 24>}} : ({t}) -> {f}\n"
        f"  %r = gv.exp %f : ({f}) -> {f}"
    )
    check_kernel(kernel("map", {"x": x}, body, f))


def test_a_map_divides_indices_where_a_reshape_is_not_linear() -> None:
    x, y = tensor(4, 6), tensor(3, 8)
    t = tensor(6, 4)
    body = (
        f"  %t = gv.transpose %x {{order = array<i64: 1, 0>}} : ({x}) -> {t}\n"
        f"  %r = gv.reshape %t {{shape = array<i64: 3, 8>}} : ({t}) -> {y}"
    )
    check_kernel(kernel("map", {"x": x}, body, y))


def test_a_map_reads_padding_and_slices() -> None:
    x, p, s = tensor(3, 20), tensor(6, 40), tensor(3, 13)
    body = (
        f"  %p = gv.pad %x {{pads = [array<i64: 1, 2>, array<i64: 3, 17>], value = 2.5 : f64}}"
        f" : ({x}) -> {p}\n"
        f"  %r = gv.slice %p {{starts = array<i64: 5, 1>, stops = array<i64: -7, 40>,"
        f" steps = array<i64: -2, 3>}}"
        f" : ({p}) -> {s}"
    )
    check_kernel(kernel("map", {"x": x}, body, s))


@pytest.mark.parametrize(
    ("rows", "tall", "others", "before", "after"),
    [
        (784, 14, 1, 1.28, 1.0),
        (784, 6, 3, 1.09, 1.01),
        (49, 6, 15, 1.06, 1.03),
        (7, 6, 1, 1.0, 1.0),
    ],
)
def test_threads_get_equal_shares_of_blocks(
    rows: int, tall: int, others: int, before: float, after: float
) -> None:
    blocks = RowBlocks(rows, tall)
    inner = blocks.count == 1
    assert blocks.largest(blocks.per_block, others, 2, inner=inner) >= before
    blocks.share(others, least=1, inner=inner)
    assert blocks.largest(blocks.per_block, others, 2, inner=inner) <= after
    assert isinstance(blocks.count, int)
    assert (blocks.count - 1) * blocks.per_block < blocks.tiles <= blocks.count * blocks.per_block


@pytest.mark.parametrize(("rows", "depth", "panels"), [(40, 20, 3), (196, 30, 2), (49, 352, 3)])
@pytest.mark.parametrize("behind", [300, 40_000])
def test_a_product_asks_for_what_is_read_next(
    monkeypatch: pytest.MonkeyPatch, rows: int, depth: int, panels: int, behind: int
) -> None:
    panel, line, columns = depth * WIDEST * 4, 64, panels * WIDEST
    size = panels * panel
    x, w, y = tensor(rows, depth), tensor(panels, depth, WIDEST), tensor(rows, columns)
    body = f"  %r = gv.matmul_packed %x, %w {{columns = {columns} : i64}} : ({x}, {w}) -> {y}"
    text = kernel("gemm", {"x": x, "w": w}, body, y)
    text = text.replace("attributes {", f"attributes {{gv.behind = {behind} : i64, ")
    asked: set[int] = set()
    inner = interpret_loops.EFFECTS["gvk.gemm_tile"]

    def noted(op: GemmTile, values: dict[object, int]) -> None:
        first, (ahead,) = int(values[op.b_offset]), op.ahead
        start = 4 * (first + int(values[ahead])) // line
        asked.update(range(start, start + op.tile.ahead * (int(values[op.k]) // 2)))
        inner(op, values)

    monkeypatch.setitem(interpret_loops.EFFECTS, "gvk.gemm_tile", noted)
    check_kernel(text)
    next_panels = range(panel // line, size // line) if size >= gemm.STREAMED else range(0)
    assert asked >= {*next_panels, *range(size // line, (size + behind) // line)}
    assert len(asked) < 2 * (len(next_panels) + behind // line) + panel // line


@pytest.mark.parametrize("columns", [64, 70, 10, 24, 37, 200])
@pytest.mark.parametrize("rows", [1, 5, 13, 197])
def test_a_packed_product_has_an_epilogue(rows: int, columns: int) -> None:
    widths = [wide for wide in (16, 24, 40, 64) if wide <= WIDEST]
    tile = next((wide for wide in widths if columns <= wide), WIDEST)
    panels = -(-columns // tile)
    x, w, y = tensor(rows, 24), tensor(panels, 24, tile), tensor(rows, columns)
    body = (
        f"  %m = gv.matmul_packed %x, %w {{columns = {columns} : i64}} : ({x}, {w}) -> {y}\n"
        f"  %s = gv.add %m, %b : ({y}, {tensor(columns)}) -> {y}\n"
        f"  %r = gv.relu %s : ({y}) -> {y}"
    )
    check_kernel(kernel("gemm", {"x": x, "w": w, "b": tensor(columns)}, body, y))


@pytest.mark.parametrize("dtype", ["bf16", "i8"])
@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", "native"])
@pytest.mark.parametrize("rows", [1, 7])
def test_a_packed_product_widens_its_weights(dtype: str, target: str, rows: int) -> None:
    x, w, y = tensor(rows, 25), tensor(2, 25, 16, dtype=dtype), tensor(rows, 20)
    body = f"  %r = gv.matmul_packed %x, %w {{columns = 20 : i64}} : ({x}, {w}) -> {y}"
    check_kernel(kernel("gemm", {"x": x, "w": w}, body, y), target=target)


@pytest.mark.skipif(
    not Target.parse("native").has("avx512bf16"), reason="the processor has no AVX512-BF16"
)
@pytest.mark.parametrize("kinds", [("bf16", "bf16", "f32"), ("ui8", "i8", "i32")])
@pytest.mark.parametrize(("rows", "depth"), [(1, 8), (7, 24), (14, 72)])
def test_a_packed_product_adds_up_neighbours(
    kinds: tuple[str, str, str], rows: int, depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gemm, "DEEP", 32)
    left, right, result = kinds
    dots = {"bf16": 2, "ui8": 4}[left]
    x, y = tensor(rows, depth, dtype=left), tensor(rows, 20, dtype=result)
    w = tensor(2, depth // dots, 16, dots, dtype=right)
    body = f"  %r = gv.matmul_packed %x, %w {{columns = 20 : i64}} : ({x}, {w}) -> {y}"
    text = kernel("gemm", {"x": x, "w": w}, body, y)
    check_kernel(text, rtol=1e-5)
    if left == "ui8":
        arrays = [np.full((rows, depth), 255, np.uint8)]
        arrays.append(RANDOM.integers(-128, 128, (2, depth // dots, 16, dots)).astype(np.int8))
        check_kernel(text, arrays)


@pytest.mark.parametrize("flip", ["true", "false"])
def test_a_product_of_two_inputs_reads_and_writes_through_moves(flip: str) -> None:
    x, h, q = tensor(2, 7, 24), tensor(2, 7, 3, 8), tensor(2, 3, 7, 8)
    k = tensor(2, 3, 9, 8) if flip == "true" else tensor(2, 3, 8, 9)
    m, t = tensor(2, 3, 7, 9), tensor(2, 7, 3, 9)
    body = (
        f"  %h = gv.reshape %x {{shape = array<i64: 2, 7, 3, 8>}} : ({x}) -> {h}\n"
        f"  %q = gv.transpose %h {{order = array<i64: 0, 2, 1, 3>}} : ({h}) -> {q}\n"
        f"  %m = gv.matmul %q, %k {{transpose_rhs = {flip}}} : ({q}, {k}) -> {m}\n"
        f"  %r = gv.transpose %m {{order = array<i64: 0, 2, 1, 3>}} : ({m}) -> {t}"
    )
    check_kernel(kernel("gemm", {"x": x, "k": k}, body, t))


@pytest.mark.parametrize(("rows", "columns"), [(300, 64), (128, 192)])
def test_a_product_copies_rows_whose_columns_lie_far_apart(rows: int, columns: int) -> None:
    x, y, r = tensor(2, 256, 384), tensor(2, 256, columns), tensor(2, rows, columns)
    s = tensor(2, 256, rows)
    body = (
        f"  %s = gv.slice %x {{starts = array<i64: 0, 0, 0>, steps = array<i64: 1, 1, 1>,"
        f" stops = array<i64: 2, 256, {rows}>}} : ({x}) -> {s}\n"
        f"  %r = gv.matmul %s, %y {{transpose_lhs = true}} : ({s}, {y}) -> {r}"
    )
    text = kernel("gemm", {"x": x, "y": y}, body, r)
    (function,) = functions(parse(text))
    lowered = lower(function, Target.parse("x86-64-v4"))
    assert any(isinstance(op, Prefetch) for op in lowered.walk())
    check_kernel(text)


def test_a_packed_product_walks_all_pixels_of_an_image_as_rows() -> None:

    def text(columns: int) -> str:
        x, w, y = tensor(1, 5, 7, 24), tensor(1, 24, columns), tensor(1, 5, 7, columns)
        body = f"  %r = gv.matmul_packed %x, %w {{columns = {columns} : i64}} : ({x}, {w}) -> {y}"
        return kernel("gemm", {"x": x, "w": w}, body, y)

    check_kernel(text(WIDEST))
    (function,) = functions(parse(text(64)))
    tiles = [
        op.tile.rows
        for op in lower(function, Target.parse("x86-64-v4")).walk()
        if isinstance(op, GemmTile)
    ]
    assert tiles == [5]  # seven of one height


def test_a_product_walks_rows_that_stand_before_the_batch_of_the_result() -> None:
    x, y, m, t = tensor(3, 5, 8), tensor(3, 8, 16), tensor(3, 5, 16), tensor(5, 3, 16)
    body = (
        f"  %m = gv.matmul %x, %y : ({x}, {y}) -> {m}\n"
        f"  %r = gv.transpose %m {{order = array<i64: 1, 0, 2>}} : ({m}) -> {t}"
    )
    check_kernel(kernel("gemm", {"x": x, "y": y}, body, t))


@pytest.mark.parametrize(("size", "bytes_"), [(512, "0"), (1024, str(4 * 1024 * 64))])
def test_a_product_packs_what_is_too_large_to_be_walked_in_place(size: int, bytes_: str) -> None:
    x = tensor(size, size)
    text = kernel("gemm", {"x": x, "y": x}, f"  %r = gv.matmul %x, %y : ({x}, {x}) -> {x}", x)
    (function,) = functions(parse(text))
    attribute = lower(function, Target.parse("x86-64-v4")).attributes["gv.scratch"]
    assert attribute.data == bytes_


@pytest.mark.parametrize("columns", [64, 70])
@pytest.mark.parametrize(("rows", "depth"), [(13, 33), (13, 64), (197, 20), (5, 40)])
def test_a_deep_product_is_summed_in_parts(
    rows: int, depth: int, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gemm, "DEEP", 16)
    x, y, r = tensor(rows, depth), tensor(depth, columns), tensor(rows, columns)
    body = f"  %m = gv.matmul %x, %y : ({x}, {y}) -> {r}\n  %r = gv.relu %m : ({r}) -> {r}"
    check_kernel(kernel("gemm", {"x": x, "y": y}, body, r))


def test_few_panels_are_shared_by_cutting_rows() -> None:
    x, w, y = tensor(64, 24), tensor(1, 24, 64), tensor(64, 64)
    body = f"  %r = gv.matmul_packed %x, %w {{columns = 64 : i64}} : ({x}, {w}) -> {y}"
    (function,) = functions(parse(kernel("gemm", {"x": x, "w": w}, body, y)))
    assert lower(function, Target.parse("x86-64-v4")).attributes["gv.units"].data == "4"


@pytest.mark.parametrize("heads", [3, 16])
def test_a_product_gathers_columns_that_lie_in_several_places(heads: int) -> None:
    x, y, t = tensor(4, 8), tensor(heads, 8, 5), tensor(8, heads, 5)
    f, r = tensor(8, 5 * heads), tensor(4, 5 * heads)
    body = (
        f"  %t = gv.transpose %y {{order = array<i64: 1, 0, 2>}} : ({y}) -> {t}\n"
        f"  %f = gv.reshape %t {{shape = array<i64: 8, {5 * heads}>}} : ({t}) -> {f}\n"
        f"  %m = gv.matmul %x, %f : ({x}, {f}) -> {r}\n  %r = gv.neg %m : ({r}) -> {r}"
    )
    check_kernel(kernel("gemm", {"x": x, "y": y}, body, r))


@pytest.mark.parametrize("length", [1, 5, 16, 40, 200, 1030])
def test_a_row_kernel_is_a_softmax(length: int) -> None:
    x, s = tensor(3, length), tensor(3, 1)
    flags = "{axes = array<i64: 1>, keepdims = true}"
    body = (
        f"  %m = gv.max %x {flags} : ({x}) -> {s}\n  %c = gv.sub %x, %m : ({x}, {s}) -> {x}\n"
        f"  %e = gv.exp %c : ({x}) -> {x}\n  %t = gv.sum %e {flags} : ({x}) -> {s}\n"
        f"  %r = gv.div %e, %t : ({x}, {s}) -> {x}"
    )
    check_kernel(kernel("row", {"x": x}, body, x))


def test_a_row_kernel_computes_what_is_dear_once() -> None:
    x, s = tensor(3, 64), tensor(3, 1)
    flags = "{axes = array<i64: 1>, keepdims = true}"
    body = (
        f"  %g = gv.erf %x : ({x}) -> {x}\n"
        f"  %m = gv.max %g {flags} : ({x}) -> {s}\n  %c = gv.sub %g, %m : ({x}, {s}) -> {x}\n"
        f"  %e = gv.exp %c : ({x}) -> {x}\n  %t = gv.sum %e {flags} : ({x}) -> {s}\n"
        f"  %r = gv.div %e, %t : ({x}, {s}) -> {x}"
    )
    text = kernel("row", {"x": x}, body, x)
    check_kernel(text)
    (function,) = functions(parse(text))
    names = [op.name for op in lower(function, Target.parse("x86-64-v4")).walk()]
    assert names.count("math.erf") == 1
    assert names.count("math.exp") == 1


@pytest.mark.parametrize("shape", [(3, 40), (2, 3, 7), (70,)])
def test_a_row_kernel_ends_in_a_number_a_row(shape: tuple[int, ...]) -> None:
    x, r = tensor(*shape), tensor(*shape[:-1])
    axis = len(shape) - 1
    body = f"  %r = gv.sum %x {{axes = array<i64: {axis}>}} : ({x}) -> {r}"
    check_kernel(kernel("row", {"x": x}, body, r))


@pytest.mark.parametrize("shape", [(20, 300), (600, 64), (3, 700, 128)])
def test_rows_are_added_up_by_bands(shape: tuple[int, ...]) -> None:
    x, y = tensor(*shape), tensor(*shape[:-2], shape[-1])
    body = f"  %r = gv.sum %x {{axes = array<i64: {len(shape) - 2}>}} : ({x}) -> {y}"
    check_kernel(kernel("reduce", {"x": x}, body, y))


@pytest.mark.parametrize("axes", ["0", "1", "0, 2"])
def test_a_reduction_takes_any_axes(axes: str) -> None:
    x = tensor(3, 600, 5)
    left = [d for a, d in enumerate((3, 600, 5)) if str(a) not in axes]
    r = tensor(*left)
    body = f"  %r = gv.sum %x {{axes = array<i64: {axes}>}} : ({x}) -> {r}"
    check_kernel(kernel("reduce", {"x": x}, body, r))


CONVS = {
    "3x3": dict(size=(7, 9), c=5, o=20, k=(3, 3), s=(1, 1), p=((1, 1), (1, 1)), d=(1, 1), g=1),
    "stride": dict(size=(9, 9), c=4, o=16, k=(3, 3), s=(2, 2), p=((1, 1), (1, 1)), d=(1, 1), g=1),
    "uneven": dict(size=(8, 6), c=3, o=8, k=(5, 4), s=(1, 2), p=((2, 1), (0, 3)), d=(1, 1), g=1),
    "dilated": dict(size=(9, 9), c=3, o=8, k=(3, 3), s=(1, 1), p=((2, 2), (2, 2)), d=(2, 2), g=1),
    "grouped": dict(size=(6, 6), c=8, o=12, k=(3, 3), s=(1, 1), p=((1, 1), (1, 1)), d=(1, 1), g=2),
    "pointwise": dict(size=(6, 6), c=8, o=70, k=(1, 1), s=(2, 2), p=((0, 0),) * 2, d=(1, 1), g=1),
    "line": dict(size=(20,), c=6, o=10, k=(4,), s=(2,), p=((1, 2),), d=(1,), g=1),
    "volume": dict(size=(4, 5, 6), c=3, o=6, k=(2, 3, 3), s=(1, 1, 1), p=((1, 0),) + ((1, 1),) * 2,
                   d=(1, 1, 1), g=1),
    "wide padding": dict(size=(2, 2), c=2, o=4, k=(3, 3), s=(1, 1), p=((3, 3),) * 2, d=(1, 1), g=1),
}  # fmt: skip


@pytest.mark.parametrize("case", CONVS.values(), ids=CONVS.keys())
def test_a_convolution(case: dict[str, tuple[int, ...]]) -> None:
    rows = zip(case["size"], case["k"], case["s"], case["p"], case["d"], strict=True)
    out = [(n + sum(p) - (k - 1) * d - 1) // s + 1 for n, k, s, p, d in rows]  # type: ignore[call-overload]
    groups, columns = case["g"], case["o"]
    depth = case["c"] // groups
    for k in case["k"]:
        depth *= k
    per = columns // groups
    tile = WIDEST if per > min(48, WIDEST) else -(-per // 8) * 8
    panels = groups * -(-per // tile)
    x, w = tensor(2, *case["size"], case["c"]), tensor(panels, depth, tile)
    y = tensor(2, *out, columns)

    def array(values: tuple[int, ...]) -> str:
        return f"array<i64: {', '.join(map(str, values))}>"

    flags = (
        f"columns = {columns} : i64, window = {array(case['k'])}, strides = {array(case['s'])}, "
        f"pads = [{', '.join(map(array, case['p']))}], dilations = {array(case['d'])}, "
        f"groups = {groups} : i64"
    )
    flags = flags.replace(", groups = 1 : i64", "")
    body = (
        f"  %c = gv.conv_packed %x, %w {{{flags}}} : ({x}, {w}) -> {y}\n"
        f"  %s = gv.add %c, %y : ({y}, {y}) -> {y}\n  %r = gv.relu %s : ({y}) -> {y}"
    )
    check_kernel(kernel("conv", {"x": x, "w": w, "y": y}, body, y))


SLIDES = {
    "same": dict(size=(4, 21), c=40, k=(3, 3), s=(1, 1), p=((1, 1), (1, 1)), d=(1, 1)),
    "stride": dict(size=(5, 30), c=32, k=(3, 3), s=(2, 2), p=((1, 1), (0, 1)), d=(1, 1)),
    "large": dict(size=(4, 16), c=16, k=(5, 5), s=(1, 1), p=((2, 2), (2, 2)), d=(1, 1)),
    "dilated": dict(size=(5, 19), c=5, k=(3, 3), s=(1, 1), p=((2, 2), (2, 2)), d=(2, 2)),
    "no padding": dict(size=(4, 28), c=96, k=(2, 2), s=(2, 2), p=((0, 0), (0, 0)), d=(1, 1)),
    "nothing seen": dict(size=(2, 2), c=3, k=(2, 2), s=(1, 1), p=((3, 3), (3, 3)), d=(1, 1)),
    "one channel": dict(size=(5, 6), c=1, k=(3, 3), s=(1, 1), p=((1, 1), (1, 1)), d=(1, 1)),
}  # fmt: skip


def sliding(case: dict[str, tuple[int, ...]]) -> tuple[str, str, str]:
    """Return source and result type, and the attributes of windows."""
    rows = zip(case["size"], case["k"], case["s"], case["p"], case["d"], strict=True)
    out = [(n + sum(p) - (k - 1) * d - 1) // s + 1 for n, k, s, p, d in rows]  # type: ignore[call-overload]

    def array(values: tuple[int, ...]) -> str:
        return f"array<i64: {', '.join(map(str, values))}>"

    flags = (
        f"strides = {array(case['s'])}, pads = [{', '.join(map(array, case['p']))}], "
        f"dilations = {array(case['d'])}"
    )
    return tensor(2, *case["size"], case["c"]), tensor(2, *out, case["c"]), flags


@pytest.mark.parametrize("case", SLIDES.values(), ids=SLIDES.keys())
def test_a_depthwise_convolution(case: dict[str, tuple[int, ...]]) -> None:
    x, y, flags = sliding(case)
    w, b = tensor(*case["k"], case["c"]), tensor(case["c"])
    body = (
        f"  %c = gv.depthwise_packed %x, %w {{{flags}}} : ({x}, {w}) -> {y}\n"
        f"  %s = gv.add %c, %b : ({y}, {b}) -> {y}\n  %r = gv.relu %s : ({y}) -> {y}"
    )
    check_kernel(kernel("depthwise", {"x": x, "w": w, "b": b}, body, y))


@pytest.mark.parametrize("name", ["max_pool", "sum_pool"])
@pytest.mark.parametrize("case", [SLIDES[n] for n in ("stride", "dilated", "no padding")])
def test_pooling_with_channels_last(case: dict[str, tuple[int, ...]], name: str) -> None:
    x, y, flags = sliding(case)
    window = f"window = array<i64: {', '.join(map(str, case['k']))}>, channels_last = true"
    body = (
        f"  %c = gv.{name} %x {{{window}, {flags}}} : ({x}) -> {y}\n  %r = gv.neg %c : ({y}) -> {y}"
    )
    check_kernel(kernel("pool", {"x": x}, body, y))


@pytest.mark.parametrize(
    ("size", "taps", "stride", "columns"),
    [
        ((2, 5, 9), 3, 1, 20),
        ((1, 7, 24), 3, 2, 0),
        ((1, 6, 5), 2, 2, 32),
        ((1, 1, 40), 3, 1, 0),
    ],
)
def test_a_bottleneck_by_rows(
    size: tuple[int, int, int], taps: int, stride: int, columns: int
) -> None:
    images, *sides = size
    rows, across = ((n + 2 - taps) // stride + 1 for n in sides)
    x, e = tensor(*size, 20), tensor(*size, 64)
    u, k, b = tensor(2, 20, 32), tensor(taps, taps, 64), tensor(64)
    d = tensor(images, rows, across, 64)
    body = (
        f"  %0 = gv.matmul_packed %x, %u {{columns = 64 : i64}} : ({x}, {u}) -> {e}\n"
        f"  %1 = gv.add %0, %b : ({e}, {b}) -> {e}\n  %2 = gv.relu %1 : ({e}) -> {e}\n"
        f"  %3 = gv.depthwise_packed %2, %k {{dilations = array<i64: 1, 1>, pads ="
        f" [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: {stride}, {stride}>}} :"
        f" ({e}, {k}) -> {d}\n  %r = gv.add %3, %b : ({d}, {b}) -> {d}"
    )
    given = {"x": x, "u": u, "k": k, "b": b}
    if not columns:
        check_kernel(kernel("bottleneck", given, body, d))
        return
    y, p = tensor(images, rows, across, columns), tensor(1, 64, 24 if columns < 24 else 32)
    body = body.replace("%r =", "%4 =") + (
        f"\n  %5 = gv.matmul_packed %4, %p {{columns = {columns} : i64}} : ({d}, {p}) -> {y}\n"
        f"  %r = gv.add %5, %z : ({y}, {y}) -> {y}"
    )
    check_kernel(kernel("bottleneck", {**given, "p": p, "z": y}, body, y))


def test_a_bottleneck_of_a_convolution() -> None:
    x, e, d = tensor(2, 9, 8, 3), tensor(2, 4, 8, 32), tensor(2, 4, 8, 32)
    u, k, b = tensor(1, 27, 32), tensor(3, 3, 32), tensor(32)
    body = (
        "  %0 = gv.conv_packed %x, %u {columns = 32 : i64, window = array<i64: 3, 3>, dilations ="
        " array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 1, 1>], strides ="
        f" array<i64: 2, 1>}} : ({x}, {u}) -> {e}\n"
        f"  %1 = gv.add %0, %b : ({e}, {b}) -> {e}\n"
        "  %r = gv.depthwise_packed %1, %k {dilations = array<i64: 1, 1>, pads = [array<i64: 1, 1>,"
        f" array<i64: 1, 1>], strides = array<i64: 1, 1>}} : ({e}, {k}) -> {d}"
    )
    check_kernel(kernel("bottleneck", {"x": x, "u": u, "k": k, "b": b}, body, d))


@pytest.mark.parametrize(
    ("form", "size", "channels", "columns", "pads"),
    [
        ((4, 1), (9, 10), 16, 20, ((1, 1), (1, 1))),
        ((4, 1), (4, 5), 32, 64, ((0, 2), (1, 0))),
        ((2, 1), (7, 6), 16, 64, ((1, 1), (1, 0))),
        ((2, 2), (13, 12), 16, 20, ((1, 1), (1, 0))),
        ((4, 2), (9, 20), 16, 32, ((0, 0), (0, 1))),
    ],
)
def test_a_convolution_by_winograd_tiles(
    form: tuple[int, int],
    size: tuple[int, int],
    channels: int,
    columns: int,
    pads: tuple[tuple[int, int], ...],
) -> None:
    side, stride = form
    out = [(n + sum(p) - 3) // stride + 1 for n, p in zip(size, pads, strict=True)]
    tile = WIDEST if columns > 48 else -(-columns // 16) * 16
    x, y = tensor(2, *size, channels), tensor(2, *out, columns)
    planes = (side + 2) ** 2
    u, b = tensor(-(-columns // tile), planes, channels, tile), tensor(columns)
    low_high = ", ".join(f"array<i64: {low}, {high}>" for low, high in pads)
    body = (
        f"  %c = gv.winograd_packed %x, %u {{columns = {columns} : i64, pads = [{low_high}],"
        f" tile = {side} : i64, stride = {stride} : i64}} : ({x}, {u}) -> {y}\n"
        f"  %s = gv.add %c, %b : ({y}, {b}) -> {y}\n  %r = gv.relu %s : ({y}) -> {y}"
    )
    check_kernel(kernel("winograd", {"x": x, "u": u, "b": b}, body, y))


SYMBOLS = {"M": 13, "K": 300, "N": 37}


@pytest.mark.parametrize("flip", ["true", "false"])
def test_a_product_of_symbolic_sizes(flip: str) -> None:
    def symbolic(*dims: str) -> str:
        return f'tensor<{"x".join("?" for _ in dims)}xf32, #gv.dims<"{", ".join(dims)}">>'

    x, y = symbolic("M", "K"), symbolic("N", "K") if flip == "true" else symbolic("K", "N")
    r = symbolic("M", "N")
    body = (
        f"  %m = gv.matmul %x, %y {{transpose_rhs = {flip}}} : ({x}, {y}) -> {r}\n"
        f"  %r = gv.relu %m : ({r}) -> {r}"
    )
    text = kernel("gemm", {"x": x, "y": y}, body, r)
    text = text.replace("attributes {", 'attributes {gv.symbols = ["K", "M", "N"], ')
    for sizes in (SYMBOLS, {"M": 1, "K": 1, "N": 1}, {"M": 200, "K": 256, "N": 64}):
        check_kernel(text, symbols=sizes)


@pytest.mark.parametrize("sizes", [(1, 1, 5), (3, 1, 4), (4, 5, 1)])
def test_a_product_with_a_dim_of_one(sizes: tuple[int, int, int]) -> None:
    m, k, n = sizes
    x, y, r = tensor(m, k), tensor(k, n), tensor(m, n)
    check_kernel(
        kernel("gemm", {"x": x, "y": y}, f"  %r = gv.matmul %x, %y : ({x}, {y}) -> {r}", r)
    )


WEIGHTS = {
    "same": dict(size=(5, 6), c=20, o=32, k=(3, 3), s=(1, 1), p=((1, 1), (1, 1)), d=(1, 1)),
    "stride": dict(size=(7, 8), c=17, o=80, k=(3, 3), s=(2, 2), p=((1, 1), (0, 1)), d=(1, 1)),
    "pointwise": dict(size=(1, 200), c=70, o=64, k=(1, 1), s=(1, 1), p=((0, 0), (0, 0)), d=(1, 1)),
    "few channels": dict(size=(9, 12), c=3, o=16, k=(3, 3), s=(2, 2), p=((1, 1), (0, 0)), d=(1, 1)),
    "dilated": dict(size=(6, 9), c=5, o=16, k=(2, 2), s=(1, 2), p=((1, 0), (2, 2)), d=(3, 2)),
    "nothing seen": dict(size=(2, 2), c=3, o=16, k=(2, 2), s=(1, 1), p=((3, 3), (3, 3)), d=(1, 1)),
}  # fmt: skip


@pytest.mark.parametrize("case", WEIGHTS.values(), ids=WEIGHTS.keys())
def test_the_gradient_of_weights(case: dict[str, tuple[int, ...]]) -> None:
    x, made, flags = sliding(case)
    made = made.replace(f"x{case['c']}xf32", f"x{case['o']}xf32")
    taps = case["k"]
    flags += f", window = array<i64: {taps[0]}, {taps[1]}>"
    y = tensor(*taps, case["c"], case["o"])  # type: ignore[arg-type]
    body = f"  %r = gv.conv_weights_packed %x, %g {{{flags}}} : ({x}, {made}) -> {y}"
    check_kernel(kernel("conv_weights", {"x": x, "g": made}, body, y))


TURNS = {
    "matrix": ((37, 21), "order = array<i64: 1, 0>", (21, 37)),
    "inner axes kept": ((5, 18, 6), "order = array<i64: 1, 0, 2>", (18, 5, 6)),
    "images": ((2, 5, 7, 19), "order = array<i64: 0, 3, 1, 2>", (2, 19, 5, 7)),
    "three channels last": ((2, 3, 5, 9), "order = array<i64: 0, 2, 3, 1>", (2, 5, 9, 3)),
    "pairs": ((2, 40), "order = array<i64: 1, 0>", (40, 2)),
    "to the front": ((4, 33, 17), "order = array<i64: 2, 0, 1>", (17, 4, 33)),
}


@pytest.mark.parametrize("case", TURNS.values(), ids=TURNS.keys())
def test_elements_are_moved_across_memory(
    case: tuple[tuple[int, ...], str, tuple[int, ...]],
) -> None:
    source, order, target = case
    x, y = tensor(*source), tensor(*target)
    body = f"  %r = gv.transpose %x {{{order}}} : ({x}) -> {y}"
    check_kernel(kernel("map", {"x": x}, body, y), rtol=0)
