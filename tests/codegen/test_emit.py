"""Every operation of the loops level does the same compiled and interpreted."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.parser import Parser

from gravure.codegen.llvm.compile import assemble
from gravure.codegen.llvm.emit.emitter import TERMINATORS
from gravure.codegen.llvm.emit.kernel import OPERATIONS, emit_kernel
from gravure.errors import CompileError, UnsupportedOp
from gravure.ir.dialects.kernel import loops_context
from gravure.ir.interpret.loop_values import PURE
from gravure.ir.interpret.loops import EFFECTS
from gravure.target import Target

pytestmark = pytest.mark.sampled(4)

Array = np.ndarray[Any, Any]
Both = Callable[..., list[tuple[Array, Array]]]

DTYPES: dict[str, Any] = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "index": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
}
INTEGERS = ("i8", "i16", "i32", "i64", "index")
FLOATS = ("f32", "f64")
LANES = (0, 16)
COUNT = 192


def samples(kind: str, seed: int) -> Array:
    """Return values of a type: the special ones in all pairs with another call's, then random."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(DTYPES[kind])
    if kind == "i1":
        return random.integers(0, 2, COUNT).astype(np.bool_)
    if kind in INTEGERS:
        limits = np.iinfo(dtype)
        special = [0, 1, -1, 2, -7, limits.min, limits.max, limits.min + 1, 8 * dtype.itemsize]
        values = random.integers(limits.min, limits.max, COUNT, dtype, endpoint=True)
        values[: COUNT // 2] >>= random.integers(0, 8 * dtype.itemsize, COUNT // 2).astype(dtype)
    else:
        tiny = float(ml_dtypes.finfo(dtype).smallest_subnormal)
        huge = float(ml_dtypes.finfo(dtype).max)
        special = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, tiny, -huge, 0.5, 2.5, -3e9, 1e19]
        with np.errstate(all="ignore"):
            bits = random.integers(0, 256, (COUNT, dtype.itemsize), np.uint8)
            values = bits.view(dtype)[:, 0].copy()
            values[: COUNT // 2] = (random.standard_normal(COUNT // 2) * 100).astype(dtype)
    pairs = np.array(list(itertools.product(special, special)), object)[:, seed % 2]
    with np.errstate(all="ignore"):
        values[: len(pairs)] = pairs.astype(np.int64 if kind in INTEGERS else np.float64)
    return values


def typed(kind: str, lanes: int) -> str:
    return f"vector<{lanes}x{kind}>" if lanes else kind


def kernel(operations: list[str], operands: list[str], result: str, lanes: int) -> str:
    """Return a kernel that does each of the operations on all elements.

    In an operation `{0}` is an operand, `{s}` its type, `{r}` the result's type; what stands
    before its last line comes first, and may define `%c{n}`.
    """
    load = "vector.load" if lanes else "memref.load"
    store = "vector.store" if lanes else "memref.store"

    def access(kind: str) -> str:
        return f"memref<?x{kind}>" + (f", {typed(kind, lanes)}" if lanes else "")

    lines = [f"%x{n} = {load} %in{n}[%i] : {access(kind)}" for n, kind in enumerate(operands)]
    names = [f"%x{n}" for n in range(len(operands))]
    types = {"s": typed(operands[0], lanes), "r": typed(result, lanes)}
    for n, operation in enumerate(operations):
        *before, last = operation.format(*names, n=n, **types).splitlines()
        lines += [*before, f"%r{n} = {last}"]
        lines += [f"{store} %r{n}, %out{n}[%i] : {access(result)}"]
    arguments = [f"%in{n}: memref<?x{kind}>" for n, kind in enumerate(operands)]
    arguments += [f"%out{n}: memref<?x{result}>" for n in range(len(operations))]
    body = "\n    ".join(lines)
    return f"""
func.func @k({", ".join(arguments)}, %lo: index, %hi: index, %slot: index) {{
  %step = arith.constant {max(lanes, 1)} : index
  scf.for %i = %lo to %hi step %step {{
    {body}
  }}
  func.return
}}"""


def agree(both: Both, operations: list[str], operands: list[str], result: str, lanes: int) -> None:
    """Check that a kernel of some operations does the same compiled and interpreted."""
    inputs = [samples(kind, seed) for seed, kind in enumerate(operands)]
    outputs = [np.zeros(COUNT, DTYPES[result]) for _ in operations]
    text = kernel(operations, operands, result, lanes)
    found = both(text, *inputs, *outputs, 0, COUNT, 0)[len(inputs) :]
    for operation, arrays in zip(operations, found, strict=True):
        same_bits(*arrays, inputs, operation)


def same_bits(expected: Array, found: Array, inputs: list[Array], name: str = "") -> None:
    """Check that results are the same, all NaNs being one."""
    if expected.dtype.kind in "fV":
        with np.errstate(invalid="ignore"):  # signalling NaNs
            missing, missing_too = expected != expected, found != found
        np.testing.assert_array_equal(missing, missing_too)
        expected, found = expected[~missing], found[~missing]
        inputs = [each[~missing] for each in inputs]
    bits = f"u{expected.dtype.itemsize}"
    wrong = np.flatnonzero(expected.view(bits) != found.view(bits))
    cases = [(*(each[n] for each in inputs), expected[n], found[n]) for n in wrong[:5]]
    assert not cases, f"{name}: operands, expected, found: {cases}"


def binary(names: list[str], dialect: str = "arith") -> list[str]:
    return [f"{dialect}.{name} {{0}}, {{1}} : {{s}}" for name in names]


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("kind", INTEGERS)
def test_integer_operations(both: Both, kind: str, lanes: int) -> None:
    names = ["addi", "subi", "muli", "minsi", "maxsi", "minui", "maxui", "andi", "ori", "xori"]
    names += ["divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"]
    names += ["shli", "shrsi", "shrui"]
    agree(both, binary(names), [kind, kind], kind, lanes)


@pytest.mark.parametrize("divisor", [1, 2, 7, 8, -1, -3, 0])
@pytest.mark.parametrize("lanes", [0, 16])
def test_integer_operations_by_constants(both: Both, divisor: int, lanes: int) -> None:
    names = ["divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"]
    names += ["shli", "shrsi", "shrui"]
    constant = f"%c{{n}} = arith.constant {f'dense<{divisor}>' if lanes else divisor} : {{s}}\n"
    operations = [f"{constant}arith.{name} {{0}}, %c{{n}} : {{s}}" for name in names]
    agree(both, operations, ["i32"], "i32", lanes)


@pytest.mark.parametrize("lanes", LANES)
def test_operations_on_bools(both: Both, lanes: int) -> None:
    names = ["addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui"]
    agree(both, binary(names), ["i1", "i1"], "i1", lanes)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("kind", ["i1", "i8", "i32", "index"])
def test_integer_comparisons(both: Both, kind: str, lanes: int) -> None:
    predicates = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
    agree(both, binary([f"cmpi {each}," for each in predicates]), [kind, kind], "i1", lanes)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("kind", ["i8", "i16", "i32", "i64"])
def test_integer_functions(both: Both, kind: str, lanes: int) -> None:
    names = ("absi", "ctpop", "ctlz", "cttz")
    agree(both, [f"math.{name} {{0}} : {{s}}" for name in names], [kind], kind, lanes)


EXTREMES = ["minimumf", "maximumf", "minnumf", "maxnumf"]


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("kind", FLOATS)
def test_float_operations(both: Both, kind: str, lanes: int) -> None:
    names = ["addf", "subf", "mulf", "divf", "remf", *EXTREMES]
    operations = [*binary(names), *binary(["copysign"], "math")]
    agree(both, operations, [kind, kind], kind, lanes)


@pytest.mark.parametrize("constant", ["0.0", "-0.0", "1.5", "0x7FC00000"])
@pytest.mark.parametrize("lanes", [0, 16])
def test_extremes_with_a_constant(both: Both, lanes: int, constant: str) -> None:
    value = f"%c{{n}} = arith.constant {f'dense<{constant}>' if lanes else constant} : {{s}}\n"
    operations = [
        f"{value}arith.{name} {order} : {{s}}"
        for name in EXTREMES
        for order in ("{0}, %c{n}", "%c{n}, {0}")
    ]
    agree(both, operations, ["f32"], "f32", lanes)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("kind", FLOATS)
def test_float_comparisons(both: Both, kind: str, lanes: int) -> None:
    ordered = ("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord")
    unordered = ("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true")
    names = [f"cmpf {each}," for each in (*ordered, *unordered)]
    agree(both, binary(names), [kind, kind], "i1", lanes)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("kind", FLOATS)
def test_float_functions(both: Both, kind: str, lanes: int) -> None:
    names = ("absf", "floor", "ceil", "roundeven", "round", "trunc", "sqrt")
    operations = [f"math.{name} {{0}} : {{s}}" for name in names]
    agree(both, [*operations, "arith.negf {0} : {s}"], [kind], kind, lanes)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("kind", FLOATS)
def test_fused_multiply_add(both: Both, target: Target, kind: str, lanes: int) -> None:
    if not target.has_fma:
        pytest.skip("rounds twice without the instruction")
    names = ["math.fma"] + ["vector.fma"] * bool(lanes)
    agree(both, [f"{name} {{0}}, {{1}}, {{2}} : {{s}}" for name in names], [kind] * 3, kind, lanes)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("kind", DTYPES)
def test_select(both: Both, kind: str, lanes: int) -> None:
    types = "{s}, {r}" if lanes else "{r}"
    agree(both, [f"arith.select {{0}}, {{1}}, {{2}} : {types}"], ["i1", kind, kind], kind, lanes)


CONVERSIONS = [
    *(("extsi", a, b) for a, b in itertools.combinations(("i1", "i8", "i16", "i32", "i64"), 2)),
    *(("extui", a, b) for a, b in itertools.combinations(("i1", "i8", "i16", "i32", "i64"), 2)),
    *(("trunci", b, a) for a, b in itertools.combinations(("i1", "i8", "i16", "i32", "i64"), 2)),
    *(("index_cast", a, "index") for a in ("i8", "i32", "i64")),
    *(("index_cast", "index", a) for a in ("i8", "i32", "i64")),
    *(
        (name, a, b)
        for name in ("sitofp", "uitofp")
        for a in ("i1", "i8", "i16", "i32", "i64")
        for b in ("f16", "bf16", "f32", "f64")
    ),
    *(
        (name, a, b)
        for name in ("fptosi", "fptoui")
        for a in ("f16", "bf16", "f32", "f64")
        for b in ("i8", "i16", "i32", "i64")
    ),
    *(("extf", a, b) for a in ("f16", "bf16") for b in ("f32", "f64")),
    ("extf", "f32", "f64"),
    *(("truncf", a, b) for a in ("f32", "f64") for b in ("f16", "bf16")),
    ("truncf", "f64", "f32"),
    *(("bitcast", a, b) for a, b in (("f16", "i16"), ("i16", "bf16"), ("f32", "i32"))),
    *(("bitcast", a, b) for a, b in (("i64", "f64"), ("f64", "i64"))),
]


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize(("source", "result"), sorted({names[1:] for names in CONVERSIONS}))
def test_conversions(both: Both, source: str, result: str, lanes: int) -> None:
    names = [name for name, *types in CONVERSIONS if types == [source, result]]
    agree(both, [f"arith.{name} {{0}} : {{s}} to {{r}}" for name in names], [source], result, lanes)


@pytest.mark.parametrize("lanes", [1, 2, 8, 16])
@pytest.mark.parametrize("kind", ["i1", "i8", "i32", "f32", "f64"])
def test_reductions(both: Both, kind: str, lanes: int) -> None:
    floats = ("add", "mul", "minnumf", "maxnumf", "minimumf", "maximumf")
    integers = ("add", "mul", "and", "or", "xor", "minsi", "maxsi", "minui", "maxui")
    inputs = samples(kind, 0)[:240]
    for name in floats if kind in FLOATS else integers:
        text = f"""
func.func @k(%in: memref<?x{kind}>, %out: memref<?x{kind}>, %lo: index, %hi: index, %s: index) {{
  %one = arith.constant 1 : index
  %lanes = arith.constant {lanes} : index
  scf.for %i = %lo to %hi step %one {{
    %first = arith.muli %i, %lanes : index
    %v = vector.load %in[%first] : memref<?x{kind}>, vector<{lanes}x{kind}>
    %a = memref.load %out[%i] : memref<?x{kind}>
    %r = vector.reduction <{name}>, %v, %a : vector<{lanes}x{kind}> into {kind}
    memref.store %r, %out[%i] : memref<?x{kind}>
  }}
  func.return
}}"""
        count = len(inputs) // lanes
        out = samples(kind, 1)[:count]
        same_bits(*both(text, inputs, out, 0, count, 0)[-1], [])


def test_lanes_move(both: Both) -> None:
    text = """
func.func @k(%in: memref<?xf32>, %out: memref<?xf32>,
             %n: index, %lo: index, %hi: index, %s: index) {
  %zero = arith.constant 0 : index
  %v = vector.load %in[%zero] : memref<?xf32>, vector<8xf32>
  %a = vector.extract %v[3] : f32 from vector<8xf32>
  %b = vector.extract %v[%n] : f32 from vector<8xf32>
  %c = arith.addf %a, %b : f32
  %w = vector.insert %c, %v[1] : f32 into vector<8xf32>
  %x = vector.insert %a, %w[%n] : f32 into vector<8xf32>
  %y = vector.shuffle %x, %v [0, 9, 2, 11, 4, 13, 6, 15] : vector<8xf32>, vector<8xf32>
  %h = vector.shuffle %y, %y [4, 5, 6, 7] : vector<8xf32>, vector<8xf32>
  %z = vector.shuffle %h, %y [3, 2, 1, 0, 4, 5, 6, 7] : vector<4xf32>, vector<8xf32>
  %d = vector.broadcast %c : f32 to vector<8xf32>
  %e = arith.addf %z, %d : vector<8xf32>
  %k = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -7.0]> : vector<8xf32>
  %f = arith.addf %e, %k : vector<8xf32>
  %i = vector.bitcast %f : vector<8xf32> to vector<4xi64>
  %j = vector.bitcast %i : vector<4xi64> to vector<8xf32>
  vector.store %j, %out[%zero] : memref<?xf32>, vector<8xf32>
  func.return
}"""
    inputs = np.arange(8, dtype=np.float32)
    same_bits(*both(text, inputs, np.zeros(8, np.float32), 5, 0, 1, 0)[-1], [])


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_masked_access_stays_inside_of_the_buffers(both: Both, kind: str, lanes: int) -> None:
    text = f"""
func.func @k(%in: memref<?x{kind}>, %out: memref<?x{kind}>,
             %n: index, %lo: index, %hi: index, %s: index) {{
  %step = arith.constant {lanes} : index
  %one = arith.constant dense<1> : vector<{lanes}xi32>
  %other = vector.load %in[%lo] : memref<?x{kind}>, vector<{lanes}x{kind}>
  scf.for %i = %lo to %hi step %step {{
    %left = arith.subi %n, %i : index
    %mask = vector.create_mask %left : vector<{lanes}xi1>
    %v = vector.maskedload %in[%i], %mask, %other
      : memref<?x{kind}>, vector<{lanes}xi1>, vector<{lanes}x{kind}> into vector<{lanes}x{kind}>
    vector.maskedstore %out[%i], %mask, %v
      : memref<?x{kind}>, vector<{lanes}xi1>, vector<{lanes}x{kind}>
  }}
  func.return
}}"""
    for count in (lanes, 17, 31, 37):
        inputs = samples(kind, 0)[:count]
        out = np.zeros(count, DTYPES[kind])
        same_bits(*both(text, inputs, out, count, 0, count, 0)[-1], [inputs])


@pytest.mark.parametrize("kind", ["i1", "i8", "f16", "i32", "f32", "f64", "i64"])
@pytest.mark.parametrize("lanes", [4, 16])
def test_gather_and_scatter(both: Both, kind: str, lanes: int) -> None:
    vector = f"vector<{lanes}x{kind}>"
    indices, bits = f"vector<{lanes}xindex>", f"vector<{lanes}xi1>"
    text = f"""
func.func @k(%in: memref<?x{kind}>, %out: memref<?x{kind}>,
             %n: index, %lo: index, %hi: index, %s: index) {{
  %one = arith.constant 1 : index
  %step = gvk.step : {indices}
  %three = arith.constant dense<3> : {indices}
  %far = arith.muli %step, %three : {indices}
  %mask = vector.create_mask %n : {bits}
  %all = gvk.gather %in[%one] %step : memref<?x{kind}>, {indices} -> {vector}
  %some = gvk.gather %in[%one] %far mask %mask, %all : {bits}, {vector}
    : memref<?x{kind}>, {indices} -> {vector}
  gvk.scatter %all, %out[%lo] %step : memref<?x{kind}>, {indices}, {vector}
  gvk.scatter %some, %out[%one] %far mask %mask : {bits} : memref<?x{kind}>, {indices}, {vector}
  gvk.prefetch %in[%n] {{write = false, locality = 2 : i64}} : memref<?x{kind}>
  func.return
}}"""
    shown = lanes - 1
    inputs = samples(kind, 0)[: max(2 + 3 * (shown - 1), lanes + 1)]
    out = np.zeros(len(inputs), DTYPES[kind])
    same_bits(*both(text, inputs, out, shown, 0, 1, 0)[-1], [])


def test_control_flow(both: Both) -> None:
    text = """
func.func @k(%in: memref<?xi32>, %out: memref<?xi32>,
             %n: index, %lo: index, %hi: index, %slot: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %i2 = arith.constant 2 : i32
  scf.for %i = %lo to %hi step %one {
    %x = memref.load %in[%i] : memref<?xi32>
    // steps of the Collatz sequence, at most n
    %end, %steps = scf.while (%v = %x, %c = %i0) : (i32, i32) -> (i32, i32) {
      %big = arith.cmpi sgt, %v, %i1 : i32
      %limit = arith.index_cast %n : index to i32
      %early = arith.cmpi slt, %c, %limit : i32
      %go = arith.andi %big, %early : i1
      scf.condition(%go) %v, %c : i32, i32
    } do {
    ^bb0(%v: i32, %c: i32):
      %odd = arith.remsi %v, %i2 : i32
      %is_odd = arith.cmpi ne, %odd, %i0 : i32
      %next = scf.if %is_odd -> (i32) {
        %t = arith.constant 3 : i32
        %m = arith.muli %v, %t : i32
        %p = arith.addi %m, %i1 : i32
        scf.yield %p : i32
      } else {
        %h = arith.divsi %v, %i2 : i32
        scf.yield %h : i32
      }
      %d = arith.addi %c, %i1 : i32
      scf.yield %next, %d : i32, i32
    }
    %sum, %count = scf.for %j = %zero to %three step %one
        iter_args(%s = %steps, %q = %i0) -> (i32, i32) {
      %inner = scf.for %k = %zero to %j step %one iter_args(%w = %s) -> (i32) {
        %w2 = arith.addi %w, %i1 : i32
        scf.yield %w2 : i32
      }
      %q2 = arith.addi %q, %i1 : i32
      scf.yield %inner, %q2 : i32, i32
    }
    %many = arith.cmpi sgt, %sum, %count : i32
    scf.if %many {
      memref.store %sum, %out[%i] : memref<?xi32>
    }
  }
  func.return
}"""
    inputs = np.arange(1, 41, dtype=np.int32)
    expected, found = both(text, inputs, np.full(40, -1, np.int32), 100, 1, 39, 0)[-1]
    same_bits(expected, found, [inputs])
    assert expected[26] == 100 + 3
    assert expected[0] == expected[39] == -1


def test_scratch_on_the_stack(both: Both) -> None:
    text = """
func.func @k(%in: memref<?xf64>, %out: memref<?xf64>, %lo: index, %hi: index, %slot: index) {
  %one = arith.constant 1 : index
  %last = arith.constant 15 : index
  %zero = arith.constant 0 : index
  %n = arith.constant 16 : index
  %t = memref.alloca() : memref<16xf64>
  scf.for %i = %zero to %n step %one {
    %x = memref.load %in[%i] : memref<?xf64>
    %j = arith.subi %last, %i : index
    memref.store %x, %t[%j] : memref<16xf64>
  }
  %v = vector.load %t[%zero] : memref<16xf64>, vector<16xf64>
  vector.store %v, %out[%zero] {nontemporal = false} : memref<?xf64>, vector<16xf64>
  func.return
}"""
    inputs = samples("f64", 0)[:16]
    same_bits(*both(text, inputs, np.zeros(16), 0, 1, 0)[-1], [inputs])


def test_too_much_scratch_is_refused() -> None:
    text = """
func.func @k(%out: memref<?xf64>, %lo: index, %hi: index, %slot: index) {
  %t = memref.alloca() : memref<100000xf64>
  func.return
}"""
    with pytest.raises(CompileError, match=r"memref.alloca: expected 65536 bytes at most"):
        emit(text)


@pytest.mark.parametrize("lanes", [3, 24, 256])
def test_vectors_that_llvm_would_abort_on_are_refused(lanes: int) -> None:
    with pytest.raises(CompileError, match="expected a vector of one dimension and 128 lanes"):
        emit(kernel(["arith.addf {0}, {1} : {s}"], ["f32", "f32"], "f32", lanes), "aarch64")


def test_arithmetic_on_narrow_floats_is_refused() -> None:
    with pytest.raises(CompileError, match=r"arith.addf: expected f32 or f64, found f16"):
        emit(kernel(["arith.addf {0}, {1} : {s}"], ["f16", "f16"], "f16", 0))


def test_other_operations_are_refused() -> None:
    text = """
func.func @k(%m: memref<?xf32>, %lo: index, %hi: index, %slot: index) {
  %d = memref.dim %m, %lo : memref<?xf32>
  func.return
}"""
    with pytest.raises(UnsupportedOp, match=r"memref.dim: the LLVM back end has no code"):
        emit(text)


def emit(text: str, target: str = "x86-64-v3") -> str:
    return emit_kernel(parse(text), Target.parse(target))


def parse(text: str) -> Any:
    return Parser(loops_context(), text).parse_module().body.block.first_op


def test_interpreter_and_emitter_know_the_same_operations() -> None:
    assert set(PURE) | set(EFFECTS) == set(OPERATIONS) | TERMINATORS


def test_text_is_the_same_every_time() -> None:
    text = kernel(["arith.divsi {0}, {1} : {s}"], ["i32", "i32"], "i32", 8)
    assert emit(text) == emit(text)


@pytest.mark.parametrize(
    ("name", "machine"),
    [("aarch64", 183), ("neoverse-v2", 183), ("riscv64", 243), ("riscv64-v", 243), ("znver5", 62)],
)
def test_objects_for_other_machines(name: str, machine: int) -> None:
    target = Target.parse(name)
    for text in (
        kernel(["arith.maximumf {0}, {1} : {s}"], ["f32", "f32"], "f32", target.lanes),
        kernel(["arith.truncf {0} : {s} to {r}"], ["f32"], "bf16", target.lanes),
        kernel(["arith.remf {0}, {1} : {s}"], ["f64", "f64"], "f64", 2),
    ):
        data = assemble(emit(text, name), target)
        assert data[:4] == b"\x7fELF"
        assert int.from_bytes(data[18:20], "little") == machine


def test_objects_need_no_library(target: Target) -> None:
    """No symbol but the kernel itself: what LLVM cannot select it would call from libm."""
    cases = [
        kernel([f"arith.{name} {{0}} : {{s}} to {{r}}"], [source], result, lanes)
        for name, source, result in CONVERSIONS
        for lanes in (0, target.lanes)
        if "f" in source + result
    ]
    cases += [
        kernel([f"math.{name} {{0}} : {{s}}"], [kind], kind, lanes)
        for name in ("floor", "ceil", "round", "roundeven", "trunc", "sqrt")
        for kind in FLOATS
        for lanes in (0, target.lanes)
    ]
    cases += [
        kernel(["math.fma {0}, {1}, {2} : {s}"], [kind] * 3, kind, lanes)
        for kind in FLOATS
        for lanes in (0, target.lanes)
    ]
    for text in cases:
        data = assemble(emit(text, target.name), target)
        assert undefined_symbols(data) == set(), text


def undefined_symbols(data: bytes) -> set[str]:
    """Return the names an ELF object needs from elsewhere."""
    start, size, count = (
        int.from_bytes(data[a:b], "little") for a, b in ((40, 48), (58, 60), (60, 62))
    )
    sections = [data[start + n * size : start + (n + 1) * size] for n in range(count)]

    def field(section: bytes, a: int, b: int) -> int:
        return int.from_bytes(section[a:b], "little")

    found = set()
    for section in sections:
        if field(section, 4, 8) == 2:  # SHT_SYMTAB
            names = field(sections[field(section, 40, 44)], 24, 32)
            first, length = field(section, 24, 32), field(section, 32, 40)
            for place in range(first + 24, first + length, 24):
                symbol = data[place : place + 24]
                if int.from_bytes(symbol[6:8], "little") == 0:
                    name = names + int.from_bytes(symbol[:4], "little")
                    found.add(data[name : data.index(b"\0", name)].decode())
    return found - {""}
