"""Every operation in the registry, on each of its samples, by every rule it states.

`evaluate` is the meaning; each other rule is compared with it. An operation in a new file
is tested here without a change, as soon as it is registered and has `SAMPLES`.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

import gravure as gv
from gravure.frontend.eager.settled import SETTLED, settled
from gravure.ir import (
    REGISTRY,
    Affine,
    Array,
    Call,
    DType,
    EagerEmit,
    GraphEmit,
    Iteration,
    Op,
    Program,
    Sample,
    TensorSpec,
    interpret,
    parse,
    print_module,
    spec_of_array,
    verify,
)
from gravure.ir.families import spec_of_value
from gravure.ir.host import HostOp
from gravure.ir.program import finish, new_function, set_ranges
from gravure.ir.scalar_math import NumpyMath
from gravure.ir.types import dims
from gravure.ir.types.dtypes import bf16, bool_, f16, f32, f64, i32
from gravure.ir.types.numerics import saturate, widen

sys.path.insert(0, str(Path(__file__).parents[1] / "runtime"))
from chosen_device import chosen_driver

WITHOUT_SAMPLES = {
    "gv.assign": "changes a variable, tested with the frontend's variables",
    "gv.assign_add": "changes a variable, tested with the frontend's variables",
    "gv.assign_sub": "changes a variable, tested with the frontend's variables",
    "gv.buffer": "a place in memory, tested with the planned level",
    "gv.check_numerics": "raises instead of giving what is not finite, tested with the frontend",
    "gv.constant": "no operand; tested as an attribute",
    "gv.following": "a place in memory, tested with the planned level",
    "gv.fourier": "its table goes with its length, tested in codegen/test_fourier.py",
    "gv.if": "regions, tested in test_control.py",
    "gv.kernel": "a region, tested with the fused level",
    "gv.choose": "tested with the planned level",
    "gv.launch": "tested with the planned level",
    "gv.loop": "tested with the planned level",
    "gv.matmul_library": "calls what the machine may lack, tested in codegen/test_use_library.py",
    "gv.repeat": "tested with the planned level, by passes/repeat_layers.mlir",
    "gv.prefix": "a place in memory, tested with the planned level",
    "gv.py_function": "calls what Python has, tested with the frontend",
    "gv.read": "reads a variable, tested with the frontend's variables",
    "gv.require": "raises where a condition does not hold, tested with the frontend",
    "gv.tell": "tested with the planned level",
    "gv.told": "its size is known in a run only, tested in frontend/test_told_sizes.py",
    "gv.as_parts": "a place in memory, tested with the planned level",
    "gv.view": "a place in memory, tested with the planned level",
    "gv.weight": "reads the program's store",
    "gv.while": "regions, tested in test_control.py",
    "gv.yield": "a terminator",
}
"""Operations that cannot be tried by themselves, and why."""

RELATIVE = {"f64": 1e-12, "f32": 5e-6, "f16": 2e-3, "bf16": 1.6e-2, "c64": 5e-6, "c128": 1e-12}
"""How far one way of computing may be from another, relative to the largest element."""


@dataclass(frozen=True)
class Case:
    """One sample of one operation with one element type."""

    op: type[Op]
    number: int
    dtype: DType

    @property
    def sample(self) -> Sample:
        found: Sample = self.op.SAMPLES[self.number]
        return found

    @property
    def attributes(self) -> dict[str, Any]:
        return self.op.complete(self.sample.attributes)

    def __str__(self) -> str:
        return f"{self.op.name.removeprefix('gv.')}-{self.number}-{self.dtype}"

    def operand_dtype(self, index: int, dtype: DType) -> DType:
        given = self.sample.operand_dtypes
        return (given[index] if index < len(given) else None) or dtype

    def draw(self, dtype: DType | None = None) -> list[Array]:
        """Return read-only operands, always the same ones."""
        random = np.random.default_rng(crc32(f"{self.op.name}-{self.number}".encode()))
        ranges = dict(enumerate(self.sample.ranges))
        drawn = []
        for i, shape in enumerate(self.sample.shapes):
            low, high = ranges.get(i) or (self.sample.low, self.sample.high)
            array = draw(self.operand_dtype(i, dtype or self.dtype), shape, low, high, random)
            array.flags.writeable = False
            drawn.append(array)
        return drawn

    def evaluate(self, operands: Sequence[Array]) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            return tuple(self.op.evaluate(*operands, **self.attributes))

    def call(self, operands: Sequence[Any], results: Sequence[Any], emit: Any) -> Call:
        specs = [spec_of_value(x) for x in operands]
        made = tuple(self.op.infer(*specs, **self.attributes))
        return Call(self.op, operands, results, self.attributes, specs, emit, made)


def draw(dtype: DType, shape: Sequence[int], low: float, high: float, random: Any) -> Array:
    """Return random elements from a range, as far as the type has them."""
    if dtype.kind == "b":
        return np.asarray(random.random(shape) < 0.5)
    if dtype.is_integer or dtype.is_narrow_integer:
        low, high = max(int(np.ceil(low)), dtype.minimum), min(int(high), dtype.maximum)
        return np.asarray(random.integers(low, high, shape, endpoint=True)).astype(dtype.numpy)
    values = np.asarray(random.uniform(low, high, shape))
    if dtype.kind == "c":
        values = np.asarray(values + 1j * random.uniform(low, high, shape))
    return values.astype(dtype.numpy)


CASES = [
    Case(op, number, dtype)
    for _, op in sorted(REGISTRY.items())
    for number, sample in enumerate(op.SAMPLES)
    for dtype in sample.dtypes
]


def cases_with(rule: str) -> pytest.MarkDecorator:
    """Parametrise over the cases whose operation states a rule."""
    return pytest.mark.parametrize("case", [c for c in CASES if c.op.has(rule)], ids=str)


def assert_close(
    found: Sequence[Array],
    wanted: Sequence[Array],
    *,
    tolerance: float = 0.0,
    largest: float = np.inf,
) -> None:
    """Fail unless types and shapes agree, and numbers to within rounding of the largest one."""
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        assert spec_of_array(a) == spec_of_array(b)
        dtype = spec_of_array(b).dtype
        if dtype.kind == "n":
            np.testing.assert_array_equal(a.astype(np.float32), b.astype(np.float32))
            continue
        if dtype.name not in RELATIVE:
            np.testing.assert_array_equal(a, b)
            continue
        wide = np.complex128 if dtype.kind == "c" else np.float64
        finite = np.abs(b[np.isfinite(b)].astype(wide))
        scale = min(float(finite.max()), largest) if finite.size else 0.0
        relative = tolerance or RELATIVE[dtype.name]
        pair = a.astype(wide), b.astype(wide)
        np.testing.assert_allclose(*pair, rtol=relative, atol=relative * scale)


def test_every_operation_has_samples() -> None:
    compiled = {name: op for name, op in REGISTRY.items() if not issubclass(op, HostOp)}
    missing = {name for name, op in compiled.items() if not op.SAMPLES}
    assert missing == WITHOUT_SAMPLES.keys()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_inferred_specs_are_those_of_what_is_evaluated(case: Case) -> None:
    operands = case.draw()
    inferred = case.op.infer(*map(spec_of_array, operands), **case.attributes)
    results = case.evaluate(operands)
    assert [spec_of_array(r) for r in results] == list(inferred)
    assert all(type(r) is np.ndarray for r in results)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_layout_of_the_operands_does_not_matter(case: Case) -> None:
    operands = case.draw()
    wanted = case.evaluate(operands)
    by_columns = [np.array(x, order="F") for x in operands]
    backwards = [np.asarray(np.flip(np.array(np.flip(x)))) for x in operands]
    assert_close(case.evaluate(by_columns), wanted)
    assert_close(case.evaluate(backwards), wanted)


# Ways to run programs. To add one (a back end), add a line to `paths`.

Path = Callable[[ModuleOp, Sequence[Array]], Sequence[Array]]
"""Runs the function `main` of a module on arrays."""


def test_what_is_done_once_for_operands_of_known_types_leaves_the_bits_as_they_are() -> None:
    tried = set()
    for case in CASES:
        if len(operands := case.draw()) and len(wanted := case.evaluate(operands)) == 1:
            with np.errstate(all="ignore"):
                found = np.asarray(settled(case.op, operands, case.attributes)(*operands))
            assert (found.dtype, found.shape) == (wanted[0].dtype, wanted[0].shape), case
            assert found.tobytes() == wanted[0].tobytes(), case
            tried.add(case.op)
    assert set(SETTLED) <= tried


def paths() -> dict[str, Path]:
    """Return the ways to run a module, by name."""
    return {
        "interpreted": interpret,
        "read back": read_back,
        "unoptimised": lambda module, operands: compiled(module, operands, level="O0"),
        "compiled": compiled,
        "GPU": on_a_gpu,
    }


COMPILERS = ("unoptimised", "compiled", "GPU")


def read_back(module: ModuleOp, operands: Sequence[Array]) -> Sequence[Array]:
    """Interpret what the module's text says."""
    text = print_module(module)
    again = parse(text)
    assert print_module(again) == text
    return interpret(again, operands)


def compiled(module: ModuleOp, operands: Sequence[Array], *, level: str = "O2") -> Sequence[Array]:
    """Compile without the cache, which would hide a change of the compiler, and run."""
    return gv.compile(Program(module), cache=False, level=level).run(operands)


def on_a_gpu(module: ModuleOp, operands: Sequence[Array]) -> Sequence[Array]:
    """Compile to PTX and run that on the emulator, which finds accesses that nothing orders."""
    model = gv.compile(Program(module), target="cuda:sm_80", device=chosen_driver(), cache=False)
    return model.run(list(operands))


def make_module(cases: Sequence[Case], specs: Sequence[Sequence[TensorSpec]]) -> ModuleOp:
    """Return a module whose `main` has all cases in it, side by side."""
    inputs = [(f"x{i}", spec) for i, spec in enumerate(chain.from_iterable(specs))]
    function = new_function("main", inputs)
    arguments, results = iter(function.body.block.args), list[SSAValue]()
    for case, given in zip(cases, specs, strict=True):
        own = [next(arguments) for _ in given]
        made = GraphEmit.at_end(function.body.block)(case.op, *own, **case.sample.attributes)
        results += made if isinstance(made, tuple) else (made,)
    finish(function, results, [f"y{i}" for i in range(len(results))])
    module = ModuleOp([function])
    verify(module)
    return module


def run_cases(
    path: str,
    cases: Sequence[Case],
    drawn: Sequence[Sequence[Array]],
    *,
    largest: float = np.inf,
) -> None:
    """Run all cases in one program, and compare each with what is evaluated."""
    specs = [list(map(spec_of_array, operands)) for operands in drawn]
    compare(cases, drawn, paths()[path](make_module(cases, specs), flat(drawn)), largest=largest)


def flat(drawn: Sequence[Sequence[Array]]) -> list[Array]:
    return list(chain.from_iterable(drawn))


def compare(
    cases: Sequence[Case],
    drawn: Sequence[Sequence[Array]],
    results: Sequence[Array],
    *,
    largest: float = np.inf,
) -> None:
    """Compare the results of all cases, one behind the other, with what is evaluated."""
    found = iter(results)
    for case, operands in zip(cases, drawn, strict=True):
        wanted = case.evaluate(operands)
        own = [next(found) for _ in wanted]
        assert_close(own, wanted, tolerance=case.sample.tolerance, largest=largest)


SAMPLED = [op for op in REGISTRY.values() if op.SAMPLES]
ONE_TEMPLATE = {"gv.add", "gv.cast", "gv.clip", "gv.exp", "gv.select"}
"""Element-wise operations whose shapes are tried in compiled code, for all of them: they share
a template, and what each computes is tried on special values."""
BY_TARGET = {
    "gv.conv_groups_packed", "gv.conv_packed", "gv.conv_weights_packed", "gv.depthwise_packed",
    "gv.gather_packed", "gv.matmul_packed", "gv.winograd_packed",
}  # fmt: skip
"""Operations on panels, which are compiled in the widths that `pack-weights` gives them."""
COMPILED = [
    op
    for op in SAMPLED
    if op.name not in BY_TARGET and (op.name in ONE_TEMPLATE or not op.has("scalar"))
]
SWEEP = pytest.mark.sweep
ON_A_GPU = [op for op in SAMPLED if op.name not in BY_TARGET]


def operations_for(path: str) -> list[type[Op]]:
    """Return the operations that a path is tried with."""
    if path == "GPU":
        return ON_A_GPU
    return COMPILED if path in COMPILERS else SAMPLED


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("path", "op"),
    [
        pytest.param(path, op, id=f"{path}-{op.name}", marks=[SWEEP] if path == "GPU" else [])
        for path in paths()
        for op in operations_for(path)
    ],
)
def test_path_computes_what_is_evaluated(path: str, op: type[Op]) -> None:
    cases = [case for case in CASES if case.op is op and runs(path, case)]
    run_cases(path, cases, [case.draw() for case in cases])


def runs(path: str, case: Case) -> bool:
    """Say whether a path has such element types."""
    operands = case.draw()
    arrays = (*operands, *case.evaluate(operands))
    return path not in COMPILERS or not any(x.dtype.kind == "c" for x in arrays)


# The rules.


def by_scalar_rule(case: Case, operands: Sequence[Array]) -> tuple[Array]:
    """Return what the scalar rule gives for all elements; narrow floats are widened first."""
    (spec,) = case.op.infer(*map(spec_of_array, operands), **case.attributes)
    wide = [widen(x) if spec_of_array(x).dtype.is_float else x for x in operands]
    with np.errstate(all="ignore"):
        made = np.asarray(case.op.scalar(NumpyMath(), *wide, **case.attributes))
        return (np.broadcast_to(made.astype(spec.dtype.numpy), spec.static_shape),)


@cases_with("scalar")
def test_scalar_rule_computes_what_is_evaluated(case: Case) -> None:
    operands = case.draw()
    assert_close(by_scalar_rule(case, operands), case.evaluate(operands))


@cases_with("scalar")
def test_scalar_rule_on_special_values(case: Case) -> None:
    operands = special_operands(case)
    assert_close(by_scalar_rule(case, operands), case.evaluate(operands), largest=1.0)


def special_operands(case: Case) -> list[Array]:
    """Return operands in which each special value of one meets each of the others."""
    dtypes = [case.operand_dtype(i, case.dtype) for i in range(len(case.sample.shapes))]
    grids = np.meshgrid(*(np.arange(special(d).size) for d in dtypes), indexing="ij")
    return [special(d)[grid.ravel()] for d, grid in zip(dtypes, grids, strict=True)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("op", [o for o in SAMPLED if o.has("scalar")], ids=lambda op: op.name)
def test_compiled_code_on_special_values(op: type[Op]) -> None:
    seen: dict[str, Case] = {}
    for case in CASES:
        if case.op is op and runs("compiled", case):
            seen.setdefault(f"{case.dtype} {case.sample.attributes}", case)
    cases = list(seen.values())
    run_cases("compiled", cases, [special_operands(case) for case in cases], largest=1.0)


@pytest.mark.parametrize("dtype", [f32, f64, f16, bf16], ids=str)
@pytest.mark.parametrize("axis", [0, 1])
def test_compiled_reductions_keep_what_is_not_finite(axis: int, dtype: DType) -> None:
    x = np.array(np.random.default_rng(5).standard_normal((6, 21)))
    x[0, 3] = x[4, [4, 19]] = np.nan
    x[1, 0] = x[4, 1] = x[5, 20] = np.inf
    x[2, 5] = x[5, 2] = -np.inf
    x[3] = -np.inf
    x = np.array((x if axis else x.T).astype(dtype.numpy))
    uses: list[tuple[str, dict[str, Any]]] = [
        *((f"gv.{n}", {"axes": (axis,)}) for n in ("sum", "max", "min", "mean", "logsumexp")),
        *((f"gv.arg{n}", {"axis": axis}) for n in ("max", "min")),
        *((f"gv.arg{n}", {"axis": axis, "last": True}) for n in ("max", "min")),
        ("gv.softmax", {"axis": axis}),
    ]
    function = new_function("main", [("x", spec_of_array(x))])
    emit = GraphEmit.at_end(function.body.block)
    results = [emit(REGISTRY[n], function.body.block.args[0], **kept) for n, kept in uses]
    finish(function, results, [f"y{i}" for i in range(len(results))])
    module = ModuleOp([function])
    wanted = interpret(module, [x])
    assert_close(compiled(module, [x]), wanted)


def special(dtype: DType) -> Array:
    """Return the values at which something changes."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.is_integer:
        low, high, bits = dtype.minimum, dtype.maximum, dtype.bits
        values = {low, low + 1, low // 2, -2, -1, 0, 1, 2, 3, bits - 1, bits, high // 2, high}
        return np.array(sorted(v for v in values if v >= low), dtype.numpy)
    if dtype.kind == "c":
        return np.array([0, 1, -1j, 2 + 3j, -0.5 + 1e3j], dtype.numpy)
    top = {"f16": 65504.0, "f64": 1.7e308}.get(dtype.name, 3.3e38)
    tiny = {"f16": 6e-8, "f64": 5e-324}.get(dtype.name, 1e-40)
    half = [0.0, tiny, 1e-4, 0.25, 0.5, 1.0, 1.5, 2.5, 3.0, 20.0, 100.0, 4e4, top, np.inf]
    values = np.array([*half, *(-x for x in half), np.nan])
    return saturate(values, dtype) if dtype.kind == "n" else values.astype(dtype.numpy)


@cases_with("decompose")
def test_decomposition_computes_what_is_evaluated(case: Case) -> None:
    operands = case.draw()
    with np.errstate(all="ignore"):
        made = case.op.decompose(case.call(operands, (), EagerEmit()))
    made = made if isinstance(made, tuple) else (made,)
    assert_close(made, case.evaluate(operands), tolerance=case.sample.tolerance)


@cases_with("iteration")
def test_iteration_computes_what_is_evaluated(case: Case) -> None:
    operands = case.draw()
    specs = [spec_of_array(x) for x in operands]
    (result,) = case.op.infer(*specs, **case.attributes)
    found = run_iteration(case.op.iteration(*specs, **case.attributes), operands, result)
    assert_close((found,), case.evaluate(operands), tolerance=case.sample.tolerance)


COMBINERS: dict[str, tuple[Any, Callable[[DType], Any]]] = {
    "add": (np.add, lambda dtype: 0),
    "mul": (np.multiply, lambda dtype: 1),
    "max": (np.maximum, lambda dtype: dtype.minimum),
    "min": (np.minimum, lambda dtype: dtype.maximum),
    "and": (np.logical_and, lambda dtype: True),
    "or": (np.logical_or, lambda dtype: False),
}


def run_iteration(what: Iteration, operands: Sequence[Array], result: TensorSpec) -> Array:
    """Carry out an iteration over all of its points at once."""
    extents = (*what.parallel, *what.reduce)
    points = np.indices([int(str(n)) for n in extents], dtype=np.int64)
    guarded = what.guarded or (False,) * len(operands)
    math, rank = NumpyMath(), len(what.parallel)
    combine, identity = COMBINERS[what.combiner]
    elements = []
    for x, indices, guard in zip(operands, what.reads, guarded, strict=True):
        wide = widen(x) if spec_of_array(x).dtype.is_float else x
        neutral = identity(spec_of_array(x).dtype) if what.outside == "identity" else 0
        elements.append(read(wide, [at(i, points) for i in indices], guard, neutral))
    with np.errstate(all="ignore"):
        body = np.broadcast_to(what.body(math, *elements), points.shape[1:])
        total, dtype = body, spec_of_array(body).dtype
        if what.reduce:
            axes = tuple(range(rank, body.ndim))
            total = combine.reduce(body, axis=axes, dtype=body.dtype, initial=identity(dtype))
        total = what.finish(math, total) if what.finish else total
    made = np.zeros(result.static_shape, result.dtype.numpy)
    points = np.indices(total.shape, dtype=np.int64)
    made[tuple(at(i, points) for i in what.write)] = total
    return made


def at(index: Affine, points: Array) -> Array:
    """Return an index at each point of a loop nest."""
    total = np.full(points.shape[1:], index.offset, np.int64)
    for number, coefficient in index.terms:
        total = total + points[number] * coefficient
    return total


def read(x: Array, indices: Sequence[Array], guard: bool, outside: Any) -> Array:
    """Return elements; where an index is outside, a constant if that is allowed."""
    if not indices:
        return x
    pairs = list(zip(indices, x.shape, strict=True))
    inside = np.logical_and.reduce([(i >= 0) & (i < n) for i, n in pairs])
    assert guard or inside.all(), "an index is outside without a guard"
    if not x.size:
        return np.full(indices[0].shape, outside, x.dtype)
    found = x[tuple(np.clip(i, 0, n - 1) for i, n in pairs)]
    return np.where(inside, found, np.array(outside).astype(x.dtype))


# Gradients.


def is_smooth(case: Case) -> bool:
    """Say whether there is a gradient to check."""
    floats = any(dtype.is_float for dtype in case.sample.dtypes)
    return case.op.has("gradient") and case.sample.differentiable and floats


SMOOTH = [
    Case(case.op, case.number, f64)
    for case in CASES
    if is_smooth(case) and case.dtype == case.sample.dtypes[0]
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", SMOOTH, ids=str)
def test_gradient_is_the_slope(case: Case) -> None:
    operands, weights = case.draw(), result_weights(case)
    call = case.call(operands, case.evaluate(operands), EagerEmit())
    with np.errstate(all="ignore"):
        grads = case.op.gradient(call, *weights)
    assert len(grads) == len(operands)
    for i, (x, grad) in enumerate(zip(operands, grads, strict=True)):
        if not spec_of_array(x).dtype.is_float:
            assert grad is None, f"operand {i} is no float but has a gradient"
            continue
        slope = measure_slope(case, operands, i, weights)
        assert grad is None or spec_of_array(grad) == spec_of_array(x)
        found = np.zeros(x.shape) if grad is None else grad
        np.testing.assert_allclose(found, slope, rtol=2e-5, atol=1e-6)


def result_weights(case: Case) -> list[Array | None]:
    """Return a gradient for each result that is a float."""
    specs = case.op.infer(*map(spec_of_array, case.draw()), **case.attributes)
    random = np.random.default_rng(7)
    return [
        np.asarray(random.uniform(0.5, 1.5, s.static_shape)).astype(s.dtype.numpy)
        if s.dtype.is_float
        else None
        for s in specs
    ]


def measure_slope(
    case: Case, operands: Sequence[Array], index: int, weights: Sequence[Array | None]
) -> Array:
    """Return central differences of the weighted sum of the results."""

    def total(x: Array) -> float:
        results = case.evaluate([*operands[:index], x, *operands[index + 1 :]])
        pairs = zip(results, weights, strict=True)
        return sum(float(np.sum(r * w, dtype=np.float64)) for r, w in pairs if w is not None)

    slope, step = np.zeros(operands[index].shape), 1e-6
    for place in np.ndindex(slope.shape):
        up, down = operands[index].copy(), operands[index].copy()
        up[place] += step
        down[place] -= step
        slope[place] = (total(up) - total(down)) / (2 * step)
    return slope


# Symbolic dimensions: every size becomes a symbol, and no rule may notice.

SYMBOLIC = [
    case
    for case in CASES
    if case.op.LEVEL == "graph"
    and case.dtype == case.sample.dtypes[0]
    and {size for shape in case.sample.shapes for size in shape} - {0, 1}
]
RULES = [
    (case, rule)
    for case, rule in product(SYMBOLIC, ("decompose", "gradient"))
    if case.op.has(rule) and (rule == "decompose" or (case.dtype.is_float and is_smooth(case)))
]
SIZES = {f"D{size}": size for size in range(2, 100)}


def symbolic_specs(case: Case) -> list[TensorSpec]:
    """Return the operands' specs with a symbol for each size from 2 on."""
    return [
        spec_of_array(x).with_shape([dims.symbol(f"D{n}") if n > 1 else n for n in x.shape])
        for x in case.draw()
    ]


def infer_symbolic(case: Case) -> Sequence[TensorSpec] | None:
    """Return the result specs; None where the operation needs numbers."""
    try:
        return case.op.infer(*symbolic_specs(case), **case.attributes)
    except TypeError:
        assert not case.op.has("scalar"), "element-wise operations take any shape"
        return None


@pytest.mark.parametrize("case", SYMBOLIC, ids=str)
def test_inference_takes_symbols(case: Case) -> None:
    inferred = infer_symbolic(case)
    if inferred is None:
        pytest.skip("needs numbers")
    numbers = [tuple(dims.evaluate(d, SIZES) for d in spec.dims) for spec in inferred]
    assert numbers == [r.shape for r in case.evaluate(case.draw())]


@pytest.mark.parametrize(("case", "rule"), RULES, ids=str)
def test_rule_appends_to_a_graph_with_symbols(case: Case, rule: str) -> None:
    if infer_symbolic(case) is None:
        pytest.skip("needs numbers")
    operands = case.draw()
    eager = apply_rule(case, rule, operands, EagerEmit())
    if case.op.name == "gv.conv_transpose" and not eager[0].size:
        pytest.skip("a window that does not fit is refused where sizes are open")
    specs = [(f"x{i}", spec) for i, spec in enumerate(symbolic_specs(case))]
    function = new_function("main", specs)
    made = apply_rule(case, rule, function.body.block.args, GraphEmit.at_end(function.body.block))
    finish(function, made, ())
    module = ModuleOp([function])
    verify(module)
    assert_close(interpret(module, operands), eager)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("op", COMPILED, ids=lambda op: op.name)
def test_compiled_code_takes_any_size(op: type[Op]) -> None:
    cases = [c for c in SYMBOLIC if c.op is op and runs("compiled", c) and infer_symbolic(c)]
    if not cases:
        pytest.skip("needs numbers")
    cases = cases[:4]
    drawn = [case.draw() for case in cases]
    module = make_module(cases, [symbolic_specs(case) for case in cases])
    set_ranges(module, {name: (1, 100) for name in SIZES if name in print_module(module)})
    compare(cases, drawn, compiled(module, flat(drawn)))


def apply_rule(case: Case, rule: str, operands: Sequence[Any], emit: Any) -> list[Any]:
    """Return what a rule gives, without the operands that have no gradient."""
    with np.errstate(all="ignore"):
        if rule == "decompose":
            made = case.op.decompose(case.call(operands, (), emit))
            return list(made) if isinstance(made, tuple) else [made]
        results = emit(case.op, *operands, **case.attributes)
        results = results if isinstance(results, tuple) else (results,)
        grads = [r if spec_of_value(r).dtype.is_float else None for r in results]
        found = case.op.gradient(case.call(operands, results, emit), *grads)
    return [grad for grad in found if grad is not None]


# ONNX: an operation that names an operator means what ONNX's own reference computes.


ONNX_CASES = [
    case
    for case in CASES
    if case.op.ONNX and case.dtype in (bool_, i32, f32) and all(case.sample.shapes)
]
"""Without numbers alone, which some operators of the reference do not take."""


@pytest.mark.parametrize("case", ONNX_CASES, ids=str)
def test_onnx_reference_computes_what_is_evaluated(case: Case) -> None:
    operands = case.draw()
    names = [f"x{i}" for i in range(len(operands))]
    results = case.evaluate(operands)
    outputs = [f"y{i}" for i in range(len(results))]
    node = onnx.helper.make_node(str(case.op.ONNX), names, outputs, **case.sample.attributes)
    inputs = [describe(n, x) for n, x in zip(names, operands, strict=True)]
    graph = onnx.helper.make_graph([node], "case", inputs, list(map(describe, outputs, results)))
    model = onnx.helper.make_model(graph)
    onnx.checker.check_model(model)
    with np.errstate(all="ignore"):
        found = ReferenceEvaluator(model).run(None, dict(zip(names, operands, strict=True)))
    assert_close([np.asarray(x) for x in found], results, tolerance=case.sample.tolerance)


def describe(name: str, x: Array) -> onnx.ValueInfoProto:
    kind = onnx.helper.np_dtype_to_tensor_dtype(x.dtype)
    return onnx.helper.make_tensor_value_info(name, kind, x.shape)
