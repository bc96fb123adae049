"""Templates that walk an axis, go through time, or write at indices: as in `test_kernels`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from kernel_cases import Array, check_kernel, random_arguments

import gravure as gv
from gravure.codegen.kernels import attention_blocks as attention_kernel
from gravure.codegen.kernels import lower
from gravure.ir import Program, interpret, parse, print_module, spec_of
from gravure.ir.program import functions
from gravure.ir.types import dims
from gravure.passes.analysis.kernels import recurrent
from gravure.target import Target

pytestmark = pytest.mark.sampled(4)

RANDOM = np.random.default_rng(3)


def tensor(*shape: int | str, dtype: str = "f32") -> str:
    sizes = "".join(f"{'?' if isinstance(d, str) else d}x" for d in shape)
    named = ", ".join(map(str, shape))
    rest = f', #gv.dims<"{named}">' if any(isinstance(d, str) for d in shape) else ""
    return f"tensor<{sizes}{dtype}{rest}>"


def kernel(
    kind: str, op: str, attributes: str, arguments: list[str], results: list[str], symbols: str = ""
) -> str:
    """Return a kernel function of one operation."""
    given = ", ".join(f"%x{i}: {kind_}" for i, kind_ in enumerate(arguments))
    names = ", ".join(f"%x{i}" for i in range(len(arguments)))
    made = ", ".join(f"%r{i}" for i in range(len(results)))
    known = f"gv.symbols = [{symbols}], " if symbols else ""
    return (
        f'func.func @k({given}) -> ({", ".join(results)}) attributes {{{known}gv.kind = "{kind}"}}'
        f" {{\n  {made} = {op} {names} {{{attributes}}} : ({', '.join(arguments)})"
        f" -> ({', '.join(results)})\n  func.return {made} : {', '.join(results)}\n}}"
    )


def small(*shape: int, dtype: Any = np.float32) -> Array:
    return np.asarray(RANDOM.uniform(-0.5, 0.5, shape)).astype(dtype)


# Recurrent layers.

LAYERS = {
    "lstm": ("gv.lstm_packed", "", 4, (4,), 2),
    "lstm backwards": ("gv.lstm_packed", "reverse = true", 4, (4,), 2),
    "gru": ("gv.gru_packed", "", 3, (2, 1), 1),
    "gru by product": (
        "gv.gru_packed",
        "linear_before_reset = true, reverse = true",
        3,
        (2, 1),
        1,
    ),
    "rnn": ("gv.rnn_packed", "", 1, (1,), 1),
    "relu": ("gv.rnn_packed", 'activation = "relu"', 1, (1,), 1),
}


def check_layer(
    name: str, steps: int, batch: int, hidden: int, tile: int, *, dtype: str = "f32",
    symbolic: bool = False, **more: Any,
) -> None:  # fmt: skip
    op, attributes, gates, panels, states = LAYERS[name]
    shapes: list[tuple[int, ...]] = [(steps, batch, gates * hidden)]
    shapes += [(-(-n * hidden // tile), hidden, tile) for n in panels]
    shapes += [(hidden,)] * (op == "gv.gru_packed") + [(batch, hidden)] * states
    results = [(steps, batch, hidden)] + [(batch, hidden)] * states
    array_type = np.float64 if dtype == "f64" else np.float32
    arrays = [small(*shape, dtype=array_type) for shape in shapes]

    def kinds(given: Sequence[tuple[int, ...]], first: bool) -> list[str]:
        if not symbolic:
            return [tensor(*shape, dtype=dtype) for shape in given]
        rows: list[tuple[int | str, ...]] = []
        for number, shape in enumerate(given):
            if number == 0:
                rows.append(("T", "B", *shape[2:]))
            elif not first or number >= len(given) - states:
                rows.append(("B", *shape[1:]))
            else:
                rows.append(shape)
        return [tensor(*row, dtype=dtype) for row in rows]

    text = kernel(
        "rnn", op, attributes, kinds(shapes, True), kinds(results, False),
        '"B", "T"' if symbolic else "",
    )  # fmt: skip
    symbols = {"B": batch, "T": steps} if symbolic else None
    check_kernel(text, arrays, symbols=symbols, **more)


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("batch", [1, 2, 15])
def test_a_layer_goes_through_time(name: str, batch: int) -> None:
    check_layer(name, 3, batch, 20, 32)


@pytest.mark.parametrize("name", ["lstm", "gru", "gru by product"])
@pytest.mark.parametrize("sizes", [(1, 1, 1, 16), (2, 3, 5, 48), (4, 1, 33, 128), (0, 2, 5, 16)])
def test_a_layer_takes_any_sizes(name: str, sizes: tuple[int, int, int, int]) -> None:
    check_layer(name, *sizes)


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("batch", [1, 15])
@pytest.mark.parametrize("tile", [16, 48])
def test_the_columns_of_a_step_are_shared(
    name: str, batch: int, tile: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recurrent, "WORTH_SHARING", 1)
    check_layer(name, 4, batch, 48, tile)
    check_layer(name, 4, batch, 40, tile)


def with_inputs(name: str, steps: int, depth: int, hidden: int, tile: int, dtype: str) -> str:
    """Return a kernel of a layer for one row whose gates are a product of the kernel's own."""
    op, attributes, gates, panels, states = LAYERS[name]
    width = gates * hidden
    given = [(steps, depth), (-(-width // 64), depth, 64), (width,)]
    more: list[tuple[int, ...]] = [(n * hidden // tile, hidden, tile) for n in panels]
    more += [(hidden,)] * (op == "gv.gru_packed") + [(1, hidden)] * states
    results = [(steps, 1, hidden)] + [(1, hidden)] * states

    def kinds(*shapes: tuple[int, ...]) -> str:
        return ", ".join(tensor(*shape, dtype=dtype) for shape in shapes)

    x, w, b = (kinds(shape) for shape in given)
    flat, whole = kinds((steps, width)), kinds((steps, 1, width))
    others = ", ".join(f"%s{n}" for n in range(len(more)))
    arguments = ", ".join(f"%s{n}: {kinds(shape)}" for n, shape in enumerate(more))
    made = ", ".join(f"%r{n}" for n in range(len(results)))
    return f"""
func.func @k(%x: {x}, %w: {w}, %b: {b}, {arguments}) -> ({flat}, {kinds(*results)})
    attributes {{gv.kind = "rnn"}} {{
  %p = gv.matmul_packed %x, %w {{columns = {width} : i64}} : ({x}, {w}) -> {flat}
  %g = gv.add %p, %b : ({flat}, {b}) -> {flat}
  %v = gv.reshape %g {{shape = array<i64: {steps}, 1, {width}>}} : ({flat}) -> {whole}
  {made} = {op} %v, {others} {{{attributes}}} : ({whole}, {kinds(*more)}) -> ({kinds(*results)})
  func.return %g, {made} : {flat}, {kinds(*results)}
}}"""


@pytest.mark.parametrize("name", ["lstm", "lstm backwards", "gru by product", "relu"])
@pytest.mark.parametrize(
    ("sizes", "dtype"),
    [((7, 48, 48, 48), "f32"), ((9, 20, 96, 48), "f32"), ((8, 50, 32, 16), "f64")],
)
def test_gates_are_computed_beside_the_steps_before(
    name: str, sizes: tuple[int, int, int, int], dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recurrent, "WORTH_SHARING", 1)
    text = with_inputs(name, *sizes, dtype)
    (function,) = functions(parse(text))
    arrays = [small(*a.shape, dtype=a.dtype) for a in random_arguments(function, {})]
    check_kernel(text, arrays, rtol=1e-12 if dtype == "f64" else 2e-5)
    loops = lower(function, Target.parse("native"))
    assert any(op.name == "gvk.gemm_pair" for op in loops.walk())


@pytest.mark.parametrize("name", ["lstm", "gru"])
@pytest.mark.parametrize(("steps", "batch"), [(2, 1), (3, 9), (0, 2)])
def test_a_layer_takes_symbolic_steps_and_batches(name: str, steps: int, batch: int) -> None:
    check_layer(name, steps, batch, 12, 16, symbolic=True)


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3"])
@pytest.mark.parametrize(("batch", "tile"), [(1, 64), (5, 16)])
def test_a_layer_fits_narrow_registers(target: str, batch: int, tile: int) -> None:
    check_layer("gru", 2, batch, 20, tile, target=target)
    check_layer("lstm", 2, batch, 20, tile, target=target)


def test_a_layer_computes_in_double_precision() -> None:
    check_layer("lstm", 3, 2, 20, 32, dtype="f64", rtol=1e-13)


def test_a_layer_takes_panels_narrower_than_registers() -> None:
    check_layer("lstm", 2, 3, 5, 4)


# Scans.


@pytest.mark.parametrize("op", ["gv.cumsum", "gv.cumprod"])
@pytest.mark.parametrize("flags", ["", ", reverse = true", ", exclusive = true",
                                   ", exclusive = true, reverse = true"])  # fmt: skip
@pytest.mark.parametrize(("shape", "axis"), [((3, 40), 1), ((70,), 0), ((5, 3, 21), 1),
                                             ((4, 3, 1), 0), ((2, 1), 1), ((16,), 0)])  # fmt: skip
def test_a_scan(op: str, flags: str, shape: tuple[int, ...], axis: int) -> None:
    x = tensor(*shape)
    text = kernel("scan", op, f"axis = {axis} : i64{flags}", [x], [x])
    check_kernel(text, [small(*shape) + 1])


@pytest.mark.parametrize("dtype", ["i8", "ui16", "i64", "f64", "f16", "bf16"])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_scan_of_any_type_wraps_or_rounds_once(dtype: str, axis: int) -> None:
    x = tensor(9, 35, dtype=dtype)
    text = kernel("scan", "gv.cumsum", f"axis = {axis} : i64", [x], [x])
    check_kernel(text, rtol={"f16": 1e-3, "bf16": 8e-3}.get(dtype, 1e-9))


@pytest.mark.parametrize("flags", ["", ", exclusive = true, reverse = true"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("sizes", [(3, 32), (1, 45), (7, 1)])
def test_a_scan_of_symbolic_sizes(flags: str, axis: int, sizes: tuple[int, int]) -> None:
    x = tensor("M", "N")
    text = kernel("scan", "gv.cumsum", f"axis = {axis} : i64{flags}", [x], [x], '"M", "N"')
    check_kernel(text, symbols=dict(zip("MN", sizes, strict=True)))


def test_a_scan_reads_what_makes_its_operand() -> None:
    x, t = tensor(40, 3), tensor(3, 40)
    check_kernel(
        f'func.func @k(%x: {x}) -> {t} attributes {{gv.kind = "scan"}} {{\n'
        f"  %t = gv.transpose %x {{order = array<i64: 1, 0>}} : ({x}) -> {t}\n"
        f"  %e = gv.exp %t : ({t}) -> {t}\n"
        f"  %r = gv.cumsum %e {{axis = 1 : i64, reverse = true}} : ({t}) -> {t}\n"
        f"  func.return %r : {t}\n}}"
    )


# Searches.


@pytest.mark.parametrize("op", ["gv.argmax", "gv.argmin"])
@pytest.mark.parametrize("last", ["", ", last = true"])
@pytest.mark.parametrize(("shape", "axis"), [((3, 200), 1), ((5,), 0), ((2, 70, 3), 1),
                                             ((4, 3), 0), ((2, 1), 1), ((150, 21), 0)])  # fmt: skip
def test_a_search(op: str, last: str, shape: tuple[int, ...], axis: int) -> None:
    x = tensor(*shape, dtype="i8")
    places = tensor(*(d for a, d in enumerate(shape) if a != axis), dtype="i64")
    text = kernel("argreduce", op, f"axis = {axis} : i64{last}", [x], [places])
    check_kernel(text, [RANDOM.integers(-4, 4, shape).astype(np.int8)])
    check_kernel(text, [np.full(shape, 127 if "min" in op else -128, np.int8)])


@pytest.mark.parametrize("op", ["gv.argmax", "gv.argmin"])
@pytest.mark.parametrize("last", ["", ", last = true"])
@pytest.mark.parametrize("passes", ["", ", passes_nan = true"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_a_search_stops_at_a_nan_or_passes_it(
    op: str, last: str, passes: str, axis: int, dtype: Any
) -> None:
    values = np.round(RANDOM.standard_normal((7, 140)) * 2)
    values[1, 7] = values[1, 99] = np.nan
    values[2] = np.inf
    values[3] = -np.inf
    values[4, 0] = values[4, 139] = np.nan
    values[5], values[6], values[6, 130] = np.nan, np.nan, np.inf
    values = (values if axis else values.T).astype(dtype)
    name = f"f{8 * values.itemsize}"
    x, places = tensor(*values.shape, dtype=name), tensor(7, dtype="i64")
    text = kernel("argreduce", op, f"axis = {axis} : i64{last}{passes}", [x], [places])
    check_kernel(text, [values])


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("sizes", [(3, 130), (1, 45), (70, 1)])
def test_a_search_of_symbolic_sizes(axis: int, sizes: tuple[int, int]) -> None:
    x, places = tensor("M", "N"), tensor("MN"[1 - axis], dtype="i64")
    text = kernel("argreduce", "gv.argmax", f"axis = {axis} : i64", [x], [places], '"M", "N"')
    check_kernel(text, symbols=dict(zip("MN", sizes, strict=True)))


# Sorting.


@pytest.mark.parametrize("k", [1, 2, 7, 64, 90])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_best_are_chosen_in_order(k: int, axis: int) -> None:
    largest = ", largest = false" if (k + axis) % 2 else ""
    shape, best = ((2, 90), (2, k)) if axis else ((90, 2), (k, 2))
    results = [tensor(*best, dtype="i16"), tensor(*best, dtype="i64")]
    attributes = f"axis = {axis} : i64, k = {k} : i64{largest}"
    text = kernel("sort", "gv.top_k", attributes, [tensor(*shape, dtype="i16")], results)
    check_kernel(text, [RANDOM.integers(-9, 9, shape).astype(np.int16)])
    check_kernel(text, [np.sort(RANDOM.integers(-9, 9, shape).astype(np.int16), axis)])


@pytest.mark.parametrize(
    "dtype", ["f32", "bf16", "f64", "i8", "ui8", "ui16", "i32", "ui32", "i64", "ui64"]
)
@pytest.mark.parametrize("length", [16, 17, 130])
def test_sorting_a_whole_row_of_any_type(dtype: str, length: int) -> None:
    largest = ", largest = false" if (len(dtype) + length) % 2 else ""
    results = [tensor(2, length, dtype=dtype), tensor(2, length, dtype="i64")]
    attributes = f"axis = 1 : i64, k = {length} : i64{largest}"
    text = kernel("sort", "gv.top_k", attributes, [tensor(2, length, dtype=dtype)], results)
    (function,) = functions(parse(text))
    spec = spec_of(function.function_type.inputs.data[0])
    low, high = (-99, 99) if spec.dtype.is_float else (spec.dtype.minimum, spec.dtype.maximum)
    kind = np.dtype(np.int64) if spec.dtype.is_float else spec.dtype.numpy
    values = RANDOM.integers(low, high, (2, length), kind, endpoint=True)
    values[:, 1:3] = [[low, high], [high, low]]
    values[:, ::3] = values[:, 1:2]
    check_kernel(text, [values.astype(spec.dtype.numpy)], rtol=0)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", ["f32", "bf16", "f64", "i8", "ui8", "i32", "ui32", "i64"])
def test_the_best_of_a_long_row_of_any_type(dtype: str, axis: int) -> None:
    """Keys with places in them are in the order of the elements, the lowest and the highest too."""
    largest = ", largest = false" if (len(dtype) + axis) % 2 else ""
    shape, best = ((3, 200), (3, 17)) if axis else ((200, 3), (17, 3))
    results = [tensor(*best, dtype=dtype), tensor(*best, dtype="i64")]
    attributes = f"axis = {axis} : i64, k = 17 : i64{largest}"
    text = kernel("sort", "gv.top_k", attributes, [tensor(*shape, dtype=dtype)], results)
    (function,) = functions(parse(text))
    spec = spec_of(function.function_type.inputs.data[0])
    low, high = (-99, 99) if spec.dtype.is_float else (spec.dtype.minimum, spec.dtype.maximum)
    kind = np.dtype(np.int64) if spec.dtype.is_float else spec.dtype.numpy
    values = RANDOM.integers(low, high, (3, 200), kind, endpoint=True).astype(spec.dtype.numpy)
    values[:, 150:155], values[:, 160:165], values[:, ::7] = low, high, values[:, 1:2]
    if spec.dtype.is_float:
        values[0, 170], values[1, 171:175], values[2, 180:190:2] = np.nan, 0.0, -0.0
    check_kernel(text, [values if axis else values.T.copy()], rtol=0)


@pytest.mark.parametrize("largest", ["", ", largest = false"])
@pytest.mark.parametrize("k", [5, 50])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_sorting_puts_nan_above_all(largest: str, k: int, dtype: Any) -> None:
    values = np.round(RANDOM.standard_normal((1, 50)) * 3)
    values[0, [3, 20, 21, 49]] = np.nan
    values[0, [5, 30]] = np.inf
    values[0, [6, 48]] = -np.inf
    values[0, [7, 8, 9]] = [-0.0, 0.0, -0.0]
    name = f"f{8 * np.dtype(dtype).itemsize}"
    results = [tensor(1, k, dtype=name), tensor(1, k, dtype="i64")]
    attributes = f"axis = 1 : i64, k = {k} : i64{largest}"
    text = kernel("sort", "gv.top_k", attributes, [tensor(1, 50, dtype=name)], results)
    check_kernel(text, [values.astype(dtype)])


@pytest.mark.parametrize("k", ["N", "N // 3"])
@pytest.mark.parametrize("n", [1, 2, 7, 100])
@pytest.mark.parametrize("axis", [0, 1])
def test_sorting_takes_symbolic_sizes(k: str, n: int, axis: int) -> None:
    shape, best = (("M", "N"), ("M", k)) if axis else (("N", "M"), (k, "M"))
    results = [tensor(*best), tensor(*best, dtype="i64")]
    attributes = f'axis = {axis} : i64, k = #gv.dim<"{k}">'
    text = kernel("sort", "gv.top_k", attributes, [tensor(*shape)], results, '"M", "N"')
    check_kernel(text, symbols={"M": 2, "N": n})


@pytest.mark.parametrize("dtype", ["f32", "bf16", "i8", "ui32"])
@pytest.mark.parametrize("n", [1, 2, 3, 17, 64, 100])
def test_sorting_a_whole_row_of_open_length(dtype: str, n: int) -> None:
    largest = ", largest = false" if n % 2 else ""
    results = [tensor("N", "M", dtype=dtype), tensor("N", "M", dtype="i64")]
    attributes = f'axis = 0 : i64, k = #gv.dim<"N">{largest}'
    text = kernel(
        "sort", "gv.top_k", attributes, [tensor("N", "M", dtype=dtype)], results, '"M", "N"'
    )
    (function,) = functions(parse(text))
    kind = spec_of(function.function_type.inputs.data[0]).dtype.numpy
    values = RANDOM.integers(0, 9, (n, 3)).astype(kind)
    if dtype == "f32":
        values[::5] = np.nan
    check_kernel(text, [values], symbols={"M": 3, "N": n}, rtol=0)


# Scatters.


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize(("shape", "updates", "axis"), [
    ((6, 40), (9, 40), 0), ((3, 40), (3, 70), 1), ((4, 5, 21), (4, 7, 21), 1),
    ((4, 5, 3), (2, 7, 2), 1), ((5,), (9,), 0), ((4, 5, 21), (3, 5, 9), 2),
])  # fmt: skip
def test_a_scatter_of_elements(
    reduction: str, shape: tuple[int, ...], updates: tuple[int, ...], axis: int
) -> None:
    kinds = [tensor(*shape), tensor(*updates, dtype="i64"), tensor(*updates)]
    how = "" if reduction == "none" else f', reduction = "{reduction}"'
    text = kernel("scatter", "gv.scatter_elements", f"axis = {axis} : i64{how}", kinds, kinds[:1])
    indices = RANDOM.integers(-shape[axis] - 2, shape[axis] + 2, updates)
    check_kernel(text, [small(*shape), indices, small(*updates)])


@pytest.mark.parametrize("reduction", ["none", "add", "max"])
@pytest.mark.parametrize(("shape", "indices"), [
    ((6, 40), (9, 1)), ((4, 5, 21), (3, 2, 2)), ((4, 3), (7, 2)), ((5,), (0, 1)), ((6,), (20, 1)),
    ((2, 3, 4, 5), (4, 2)),
])  # fmt: skip
def test_a_scatter_of_slices(
    reduction: str, shape: tuple[int, ...], indices: tuple[int, ...]
) -> None:
    updates = (*indices[:-1], *shape[indices[-1] :])
    kinds = [tensor(*shape), tensor(*indices, dtype="i32"), tensor(*updates)]
    how = "" if reduction == "none" else f'reduction = "{reduction}"'
    text = kernel("scatter", "gv.scatter_nd", how, kinds, kinds[:1])
    at = RANDOM.integers(-5, 5, indices).astype(np.int32)
    check_kernel(text, [small(*shape), at, small(*updates)])


@pytest.mark.parametrize(("op", "attributes", "depth"), [
    ("gv.scatter_elements", "axis = 0 : i64, reduction = \"add\"", ("U", "N")),
    ("gv.scatter_elements", "axis = 1 : i64, reduction = \"add\"", ("M", "U")),
    ("gv.scatter_nd", "reduction = \"add\"", ("U", 1)),
])  # fmt: skip
def test_a_scatter_of_symbolic_sizes(
    op: str, attributes: str, depth: tuple[int | str, ...]
) -> None:
    updates = ("U", "N") if op == "gv.scatter_nd" else depth
    kinds = [tensor("M", "N"), tensor(*depth, dtype="i64"), tensor(*updates)]
    text = kernel("scatter", op, attributes, kinds, kinds[:1], '"M", "N", "U"')
    for sizes in ((3, 40, 5), (4, 7, 0), (1, 1, 6)):
        check_kernel(text, symbols=dict(zip("MNU", sizes, strict=True)))


def test_a_scatter_into_a_number_fills_in_place() -> None:
    x, i, u = tensor(8, 20), tensor(5, 1, dtype="i64"), tensor(5, 20)
    check_kernel(
        f'func.func @k(%i: {i}, %u: {u}) -> {x} attributes {{gv.kind = "scatter"}} {{\n'
        f'  %c = gv.constant {{value = #gv.array<f32, "", [0.5]>}} : () -> {tensor()}\n'
        f"  %b = gv.broadcast_to %c {{shape = array<i64: 8, 20>}} : ({tensor()}) -> {x}\n"
        f"  %e = gv.exp %u : ({u}) -> {u}\n"
        f'  %r = gv.scatter_nd %b, %i, %e {{reduction = "add"}} : ({x}, {i}, {u}) -> {x}\n'
        f"  func.return %r : {x}\n}}"
    )


# The whole way.


@pytest.mark.parametrize("layer", ["gv.lstm", "gv.gru", "gv.rnn"])
def test_a_layer_of_symbolic_steps_and_batches_compiles(layer: str) -> None:
    gates, states = {"gv.lstm": (4, 2), "gv.gru": (3, 1), "gv.rnn": (1, 1)}[layer]
    weights = [(2, gates * 20, 6), (2, gates * 20, 20), (2, gates * 40)]
    last: list[tuple[int | str, ...]] = [(2, "B", 20)] * states
    shapes: list[tuple[int | str, ...]] = [("T", "B", 6), *weights, *last]
    results = [("T", 2, "B", 20), *last]
    text = kernel(
        "", layer, 'direction = "bidirectional"', [tensor(*shape) for shape in shapes],
        [tensor(*shape) for shape in results],
    )  # fmt: skip
    text = text.replace('attributes {gv.kind = ""} ', "").replace("@k", "@main")
    ranges = "{gv.ranges = {B = array<i64: 1, 20>, T = array<i64: 1, 9>}}"
    module = parse(f"builtin.module attributes {ranges} {{\n{text}\n}}")
    model = gv.compile(Program(parse(print_module(module))))
    for steps, batch in ((5, 3), (1, 20), (9, 1)):
        sizes: dict[int | str, Any] = {"T": steps, "B": batch}
        arrays = [small(*(sizes.get(d, d) for d in shape)) for shape in shapes]
        for found, want in zip(model.run(arrays), interpret(module, arrays), strict=True):
            np.testing.assert_allclose(found, want, rtol=2e-5, atol=2e-6)


SYMBOLS = 'gv.symbols = ["b", "p", "s"], '


def attention(
    shapes: dict[str, str], flags: str, result: str, before: str = "", behind: str = ""
) -> str:
    given = ", ".join(f"%{name}: {kind}" for name, kind in shapes.items())
    return (
        f"func.func @k({given}) -> {result} attributes {{{SYMBOLS if '?' in given else ''}"
        f'gv.kind = "attention"}} {{\n{before}\n'
        f"  %{'y' if behind else 'r'} = gv.attention {flags}{behind}\n"
        f"  func.return %r : {result}\n}}"
    )


ATTENTIONS = [
    ("", (2, 5, 7, 8, 4), False),
    ("scale = 0.5 : f64, softcap = 2.0 : f64, zeros = true", (2, 9, 40, 20, 33), True),
    ("scale = 0.25 : f64, causal = true", (1, 29, 29, 16, 32), False),
    ("causal = true", (1, 4, 140, 7, 3), False),
    ("causal = true", (2, 33, 3, 1, 5), False),
    ("causal = true, zeros = true", (2, 99, 3, 3, 5), True),
    ("causal = true, zeros = true", (2, 33, 20, 16, 40), False),
    ("scale = -1.0 : f64", (2, 1, 33, 16, 80), True),
    ("", (1, 2, 5, 1, 1), False),
]
"""Attributes, the sizes of batch, queries, keys and widths, and whether there is a bias."""


@pytest.fixture
def _blocks_of_64_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_kernel, "MOST", 128)


@pytest.mark.usefixtures("_blocks_of_64_keys")
@pytest.mark.parametrize(("flags", "sizes", "biased"), ATTENTIONS, ids=str)
def test_attention(flags: str, sizes: tuple[int, ...], biased: bool) -> None:
    batch, rows, keys, depth, width = sizes
    q, k = tensor(batch, rows, depth), tensor(batch, keys, depth)
    shapes = {"q": q, "k": k, "v": tensor(batch, keys, width)}
    shapes |= {"m": tensor(rows, keys)} if biased else {}
    made = tensor(batch, rows, width)
    names, kinds = ", ".join(f"%{n}" for n in shapes), ", ".join(shapes.values())
    text = attention(shapes, f"{names} {{{flags}}} : ({kinds}) -> {made}", made)
    for target in ["native", "x86-64-v3"] if biased else ["native"]:
        check_kernel(text, target=target)


@pytest.mark.usefixtures("_blocks_of_64_keys")
@pytest.mark.parametrize(
    ("rows", "keys", "flags"),
    [
        (1, 41, "causal = true"),
        (9, 9, "scale = 0.5 : f64"),
        (9, 0, "scale = 0.5 : f64"),
        (9, 4, "causal = true"),
        (7, 97, "causal = true, zeros = true"),
    ],
)
def test_attention_of_sizes_that_are_symbols(rows: int, keys: int, flags: str) -> None:
    def kind(*dims: object) -> str:
        return f'tensor<?x?x16xf32, #gv.dims<"{", ".join(map(str, dims))}, 16">>'

    shapes = {"p": 'tensor<?xf32, #gv.dims<"p">>', "q": kind("b", "s")}
    shapes |= {"k": kind("b", "p"), "v": kind("b", "p")}
    kinds, made = ", ".join([*shapes.values()][1:]), kind("b", "s")
    text = attention(shapes, f"%q, %k, %v {{{flags}}} : ({kinds}) -> {made}", made)
    check_kernel(text, symbols={"b": 2, "p": keys, "s": rows})


def test_attention_reads_through_moves_and_computes_its_bias() -> None:
    shapes = {"x": tensor(1, 40, 96), "m": tensor(40, 40, dtype="i1")}
    slices = [
        f"  %s{i} = gv.slice %x {{starts = array<i64: 0, 0, {low}>, steps = array<i64: 1, 1, 1>,"
        f" stops = array<i64: 1, 40, {high}>}} : ({shapes['x']}) -> {tensor(1, 40, high - low)}\n"
        for i, (low, high) in enumerate([(0, 64), (64, 80), (80, 96)])
    ]
    heads = tensor(1, 4, 40, 16)
    queries = (
        f"  %h = gv.reshape %s0 {{shape = array<i64: 1, 40, 4, 16>}} : ({tensor(1, 40, 64)})"
        f" -> {tensor(1, 40, 4, 16)}\n"
        f"  %q = gv.transpose %h {{order = array<i64: 0, 2, 1, 3>}} : ({tensor(1, 40, 4, 16)})"
        f" -> {heads}\n"
    )
    keys = "".join(
        f"  %u{i} = gv.reshape %s{i} {{shape = array<i64: 1, 1, 40, 16>}} : ({tensor(1, 40, 16)})"
        f" -> {tensor(1, 1, 40, 16)}\n"
        f"  %w{i} = gv.broadcast_to %u{i} {{shape = array<i64: 1, 4, 40, 16>}}"
        f" : ({tensor(1, 1, 40, 16)}) -> {heads}\n"
        for i in (1, 2)
    )
    bias = (
        '  %z = gv.constant {value = #gv.array<f32, "", [0.0]>} : () -> tensor<f32>\n'
        '  %l = gv.constant {value = #gv.array<f32, "", ["-inf"]>} : () -> tensor<f32>\n'
        f"  %b = gv.select %m, %z, %l : ({shapes['m']}, tensor<f32>, tensor<f32>)"
        f" -> {tensor(40, 40)}\n"
    )
    operands = f"({heads}, {heads}, {heads}, {tensor(40, 40)})"
    parts, made = tensor(1, 40, 4, 16), tensor(1, 40, 64)
    behind = (
        f" -> {heads}\n  %t = gv.transpose %y {{order = array<i64: 0, 2, 1, 3>}} : ({heads})"
        f" -> {parts}\n  %r = gv.reshape %t {{shape = array<i64: 1, 40, 64>}} : ({parts}) -> {made}"
    )
    flags = f"%q, %w1, %w2, %b {{zeros = true}} : {operands}"
    check_kernel(attention(shapes, flags, made, "".join(slices) + queries + keys + bias, behind))


def test_a_row_of_attention_that_sees_nothing_is_zero_or_not_a_number() -> None:
    q, m = tensor(3, 16), tensor(3, 20)
    k = tensor(20, 16)
    bias = np.zeros((3, 20), np.float32)
    bias[1] = -np.inf
    bias[2, 3:] = -np.inf
    arrays = [np.ones(shape, np.float32) for shape in ((3, 16), (20, 16), (20, 16))]
    for zeros in ("true", "false"):
        flags = f"%q, %k, %v, %m {{zeros = {zeros}}} : ({q}, {k}, {k}, {m}) -> {q}"
        check_kernel(attention({"q": q, "k": k, "v": k, "m": m}, flags, q), [*arrays, bias])


WINDOWS = {
    "same": dict(k=(3, 3), s=(1, 1), p=((1, 1), (1, 1)), d=(1, 1), c=17),
    "stride": dict(k=(3, 3), s=(2, 2), p=((1, 1), (0, 1)), d=(1, 1), c=5),
    "large": dict(k=(5, 5), s=(1, 2), p=((2, 2), (2, 1)), d=(1, 1), c=4),
    "dilated": dict(k=(3, 2), s=(1, 1), p=((2, 2), (3, 0)), d=(2, 2), c=5),
    "around": dict(k=(2, 2), s=(1, 1), p=((3, 3), (3, 3)), d=(1, 1), c=3),
}  # fmt: skip


def sliding(case: dict[str, Any]) -> tuple[str, str, str]:
    """Return the result's sizes for images of H x W, and the attributes of windows."""
    rows = zip("HW", case["k"], case["s"], case["p"], case["d"], strict=True)
    out = [
        str((dims.symbol(name) + (sum(p) - (k - 1) * d - 1)) // s + 1) for name, k, s, p, d in rows
    ]
    pads = ", ".join(f"array<i64: {low}, {high}>" for low, high in case["p"])
    s, d = (f"array<i64: {case[key][0]}, {case[key][1]}>" for key in "sd")
    return out[0], out[1], f"strides = {s}, pads = [{pads}], dilations = {d}"


@pytest.mark.parametrize(
    ("name", "op"),
    [*((name, "depthwise_packed") for name in WINDOWS), ("stride", "max_pool"),
     ("around", "sum_pool")],
)  # fmt: skip
def test_windows_over_images_of_any_size(name: str, op: str) -> None:
    case = WINDOWS[name]
    *out, flags = sliding(case)
    k, c = case["k"], case["c"]
    if op == "depthwise_packed":
        kind, weights = "depthwise", [tensor(*k, c)]
    else:
        kind, weights = "pool", []
        flags += f", window = array<i64: {k[0]}, {k[1]}>, channels_last = true"
    text = kernel(
        kind, f"gv.{op}", flags, [tensor(1, "H", "W", c), *weights], [tensor(1, *out, c)],
        '"H", "W"',
    )  # fmt: skip
    for height, width in ((3, 13), (1, 2)) if name == "same" else ((4, 5),):
        check_kernel(text, symbols={"H": height, "W": width})


@pytest.mark.parametrize(("tile", "stride"), [(4, 1), (2, 2)])
def test_winograd_tiles_of_images_of_any_size(tile: int, stride: int) -> None:
    case = dict(k=(3, 3), s=(stride, stride), p=((1, 1), (1, 0)), d=(1, 1))
    rows, columns, _ = sliding(case)
    planes = (tile + 2) ** 2
    flags = (
        "columns = 20 : i64, pads = [array<i64: 1, 1>, array<i64: 1, 0>], "
        f"tile = {tile} : i64, stride = {stride} : i64"
    )
    given = [tensor("N", "H", "W", 16), tensor(1, planes, 16, 32)]
    made = [tensor("N", rows, columns, 20)]
    text = kernel("winograd", "gv.winograd_packed", flags, given, made, '"N", "H", "W"')
    for sizes in ((1, 7, 6), (2, 3, 2)) if stride == 1 else ((1, 5, 5),):
        check_kernel(text, symbols=dict(zip("NHW", sizes, strict=True)), rtol=1e-4)


@pytest.mark.parametrize("from_row", [0, 1])
def test_what_is_interleaved_and_cropped_is_read_row_by_row(from_row: int) -> None:
    """Only the axes that a crop cuts are taken apart in the run: others stay together."""
    x, mixed, all_, made = tensor(5, 5, 128), tensor(5, 5, 2, 2, 32), tensor(10, 10, 32), (8, 8, 32)
    apart, cut = tensor(5, 2, 5, 2, 32), [from_row, from_row, 0]
    text = (
        f'func.func @k(%x: {x}) -> {tensor(*made)} attributes {{gv.kind = "map"}} {{\n'
        f"  %m = gv.reshape %x {{shape = array<i64: 5, 5, 2, 2, 32>}} : ({x}) -> {mixed}\n"
        f"  %t = gv.transpose %m {{order = array<i64: 0, 2, 1, 3, 4>}} : ({mixed}) -> {apart}\n"
        f"  %a = gv.reshape %t {{shape = array<i64: 10, 10, 32>}} : ({apart}) -> {all_}\n"
        f"  %r = gv.slice %a {{starts = array<i64: {cut[0]}, {cut[1]}, 0>, "
        f"steps = array<i64: 1, 1, 1>, stops = array<i64: {cut[0] + 8}, {cut[1] + 8}, 32>}} : "
        f"({all_}) -> {tensor(*made)}\n"
        f"  func.return %r : {tensor(*made)}\n}}"
    )
    check_kernel(text)
    (function,) = functions(parse(text))
    loops = print_module(lower(function, Target.parse("x86-64-v3")))
    assert "gvk.gather" not in loops
    assert loops.count("vector.load") == 1


def test_rows_of_another_shape_are_looked_up_where_they_are_in_memory() -> None:
    """No index is taken apart along the axes of the argument: vectors read whole rows."""
    x, rows, at, made = tensor(2, 3, 5, 4), tensor(30, 4), tensor(7, dtype="i64"), tensor(7, 4)
    text = (
        f'func.func @k(%x: {x}, %at: {at}) -> {made} attributes {{gv.kind = "map"}} {{\n'
        f"  %f = gv.reshape %x {{shape = array<i64: 30, 4>}} : ({x}) -> {rows}\n"
        f"  %r = gv.gather %f, %at {{axis = 0 : i64}} : ({rows}, {at}) -> {made}\n"
        f"  func.return %r : {made}\n}}"
    )
    places = RANDOM.integers(-30, 30, 7)
    check_kernel(text, [small(2, 3, 5, 4), places])
    (function,) = functions(parse(text))
    loops = print_module(lower(function, Target.parse("x86-64-v3")))
    assert "arith.remui" not in loops
    assert "gvk.gather" not in loops
