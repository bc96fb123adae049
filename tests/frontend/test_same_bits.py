"""Element-wise functions of f32 and f64 give the same bits wherever they are computed.

At once, in a function's first calls, in its compiled code, in sessions, in libraries, on any
threads and in any shape: there is one implementation, that of compiled code (row X2).
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import gravure as gv
from gravure.codegen.compile import Options
from gravure.codegen.prepare import runs_here
from gravure.frontend.eager.tensor import apply
from gravure.frontend.function.staged import Staged
from gravure.frontend.models.compiled import compile_program, load_compiled
from gravure.ir import REGISTRY, Array, Op
from gravure.ir import Program as IrProgram
from gravure.ir.families import Elementwise
from gravure.ir.ops.convert import Bitcast, Cast
from gravure.ir.ops.elementwise import POWERS
from gravure.ir.types import dtypes
from gravure.passes.base import PipelineError
from gravure.runtime.compare import ulps_between
from gravure.runtime.model import Model
from gravure.target import Target

FLOATS = [np.float32, np.float64]
BITS = {np.dtype(np.float32): np.uint32, np.dtype(np.float64): np.uint64}


def takes_floats(op: type[Op]) -> bool:
    return issubclass(op, Elementwise) and "f" in op.KINDS and op not in (Cast, Bitcast)


OPERATIONS = [op for _, op in sorted(REGISTRY.items()) if takes_floats(op)]


def drawn(dtype: Any, count: int, seed: int = 0) -> Array:
    """Return floats of all sizes, and those at which functions have their edges."""
    random, ends = np.random.default_rng(seed), np.finfo(dtype)
    edges = [0.0, 1.0, 0.5, 2.0, 3.0, np.inf, np.nan, 1e-10, 88.5, 103.0, 709.5, np.pi]
    edges += [ends.max, ends.tiny, ends.smallest_subnormal, 1 + ends.eps]
    bits = BITS[np.dtype(dtype)]
    any_bits = random.integers(0, np.iinfo(bits).max, count // 4, dtype=bits).view(dtype)
    usual = [random.normal(0, each, count // 4) for each in (0.3, 3, 40)]
    found = np.concatenate([edges, np.negative(edges), *usual]).astype(dtype)
    return random.permutation(np.concatenate([found, any_bits]))


def operands(op: type[Op], dtype: Any, count: int) -> list[Array]:
    names = op.signature().operands
    made = [drawn(dtype, count, seed) for seed in range(len(names))]
    return [made[0] > 0, *made[1:]] if op.name == "gv.select" else made


def assert_same(found: Any, wanted: Any, what: str) -> None:
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype), what
    if wanted.dtype not in BITS:
        assert np.array_equal(found, wanted), what
        return
    bits = BITS[wanted.dtype]
    other = np.ascontiguousarray(found).view(bits) != np.ascontiguousarray(wanted).view(bits)
    other &= ~(np.isnan(found) & np.isnan(wanted))
    assert not other.any(), f"{what}: {found[other][:3]} instead of {wanted[other][:3]}"


class All:
    """Every operation on operands of its own, as one function."""

    def __init__(self, dtype: Any, count: int) -> None:
        self.arrays = [x for op in OPERATIONS for x in operands(op, dtype, count)]

    def __call__(self, *xs: Any) -> list[Any]:
        rest = iter(xs)
        return [apply(op, *[next(rest) for _ in op.signature().operands]) for op in OPERATIONS]

    def check(self, found: Sequence[Any], wanted: Sequence[Any], where: str) -> None:
        for op, made, right in zip(OPERATIONS, found, wanted, strict=True):
            assert_same(made, right, f"{op.name} {where}")


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_operation_on_every_way(dtype: Any, tmp_path: Path) -> None:
    every = All(dtype, 1600)
    given = [*map(gv.asarray, every.arrays)]
    wanted = [x.numpy() for x in every(*given)]
    function = gv.function(lambda *xs: tuple(every(*xs)))
    for number in range(4):
        every.check([x.numpy() for x in function(*given)], wanted, f"in call {number}")
    (concrete,) = function.cache.values()
    assert [*map(type, concrete.compiled.values())] == [Staged]

    path = tmp_path / "all.so"
    function.save(path, *given)
    for threads in (1, 2):
        model = Model.load(path, threads=threads)
        every.check(model.call(*every.arrays), wanted, f"in a library on {threads} threads")
    assert model.manifest["numerics"] == "exact"

    graph = gv.Graph()
    with gv.graph_mode(graph):
        places = [gv.placeholder(str(x.dtype), x.shape) for x in every.arrays]
        fetches = every(*places)
    with gv.Session(graph) as session:
        for number in range(6):
            found = session.run(fetches, dict(zip(places, every.arrays, strict=True)))
            every.check(found, wanted, f"in run {number} of a session")


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_processors_do_not_matter(dtype: Any, target: str) -> None:
    """Without fused products, functions that are near the true ones have other last bits."""
    if not runs_here(Target.parse(target)):
        pytest.skip(f"this machine runs no code for {target}")
    every = All(dtype, 1600)
    given = [*map(gv.asarray, every.arrays)]
    program = gv.function(every).get_concrete_function(*given).frozen(None)
    found = {}
    for each in ("native", target):
        copy = IrProgram(program.module.clone(), program.weights)
        made = compile_program(copy, Options(target=each, numerics="exact"))
        found[each] = load_compiled(made, 1).call(*every.arrays)
    is_fused = target != "x86-64-v2" and "fma" in Target.parse("native").features
    for op, one, other in zip(OPERATIONS, *found.values(), strict=True):
        if is_fused or not op.is_near():
            assert_same(other, one, op.name)


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", FLOATS)
def test_shapes_do_not_matter(dtype: Any) -> None:
    """What is left at the end of a row is computed on fewer lanes, or on one."""
    every = All(dtype, 400)
    wanted = [x.numpy() for x in every(*map(gv.asarray, every.arrays))]
    for shape in ((1,), (3,), (5, 7), (2, 1, 9)):
        count = int(np.prod(shape))
        parts = [np.ascontiguousarray(x[:count]).reshape(shape) for x in every.arrays]
        made = [right[:count].reshape(shape) for right in wanted]
        given = [*map(gv.asarray, parts)]
        every.check([x.numpy() for x in every(*given)], made, f"on {shape}")
        function = gv.function(lambda *xs: tuple(every(*xs)))
        for _ in range(3):
            found = [x.numpy() for x in function(*given)]
        every.check(found, made, f"compiled for {shape}")


UNARY = [op for op in OPERATIONS if len(op.signature().operands) == 1 and op.RESULT is None]
BINARY = [op for op in OPERATIONS if len(op.signature().operands) == 2 and op.RESULT is None]
NUMBERS = [0.0, -0.0, 1, -1, 2, 3, 0.5, -0.5, 0.1, 1 / 3, 7, 10, 100, 1e-3, np.pi, 255, 1e20, 0.7]

Program = Callable[[Any], Any]


def chain(random: np.random.Generator, dtype: Any) -> Program:
    """Return a few operations, each on results of others or on numbers."""
    steps: list[tuple[type[Op], list[int | Array]]] = []
    for count in range(1, int(random.integers(4, 12))):
        op = UNARY[random.integers(len(UNARY))]
        given: list[int | Array] = [int(random.integers(count))]
        if random.random() < 0.6:
            op = BINARY[random.integers(len(BINARY))]
            shape = [(), (1,), (5,), (3, 1)][random.integers(4)]
            number = np.full(shape, NUMBERS[random.integers(len(NUMBERS))], dtype)
            given.append(number if random.random() < 0.6 else int(random.integers(count)))
            given = given[:: int(random.choice([1, -1]))]
        steps.append((op, given))

    def run(x: Any) -> Any:
        values = [x]
        for op, given in steps:
            taken = [values[g] if isinstance(g, int) else gv.asarray(g) for g in given]
            values.append(apply(op, *taken))
        return values[-1]

    return run


@pytest.mark.parametrize("seed", range(60))
def test_expressions(seed: int) -> None:
    """What passes make of several operations gives what each of them gives alone."""
    random, dtype = np.random.default_rng(seed), FLOATS[seed % 2]
    program = chain(random, dtype)
    x = gv.asarray(drawn(dtype, 960, seed)[:960].reshape(64, 3, 5))
    wanted, function = program(x).numpy(), gv.function(program)
    for number in range(3):
        assert_same(function(x).numpy(), wanted, f"call {number}")


@pytest.mark.parametrize("seed", range(12))
def test_gradients(seed: int) -> None:
    random, dtype = np.random.default_rng(1000 + seed), FLOATS[seed % 2]
    program = chain(random, dtype)
    x = gv.asarray(random.normal(0, 2, (4, 3, 5)).astype(dtype))

    def step(x: Any) -> Any:
        with gv.GradientTape() as tape:
            tape.watch(x)
            y = program(x) * x
        return tape.gradient(y, x)

    wanted, function = step(x).numpy(), gv.function(step)
    for number in range(3):
        assert_same(function(x).numpy(), wanted, f"call {number}")


def test_gradients_through_a_call_are_one_sum() -> None:
    """What is used within a function and beside it: the terms are added in one order."""
    function = gv.function(lambda x: gv.tanh(x) * 0.3 + gv.exp(x) / (1.5 + x * x))
    made = []
    for _ in range(4):
        x = gv.asarray(np.linspace(-2, 2, 99, dtype=np.float32))
        with gv.GradientTape() as tape:
            tape.watch(x)
            y = function(x) * x
        made.append(tape.gradient(y, x).numpy())
    for number, found in enumerate(made):
        assert_same(found, made[0], f"call {number}")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("exponent", [*POWERS, 0.0, 4.0, 1 / 3, np.inf, np.nan])
def test_powers(dtype: Any, exponent: float) -> None:
    """An exponent that is known, one that is given, and one of many are the same power."""
    x = gv.asarray(drawn(dtype, 1200))
    one, many = gv.asarray(dtype(exponent)), gv.asarray(np.full(x.shape, exponent, dtype))
    wanted = gv.pow(x, many).numpy()
    assert_same(gv.pow(x, one).numpy(), wanted, "one exponent")
    known, given = gv.function(lambda x: gv.pow(x, one)), gv.function(gv.pow)
    for _ in range(3):
        found = known(x), given(x, one), given(x, many)
    for made, what in zip(found, ("known", "one", "many"), strict=True):
        assert_same(made.numpy(), wanted, what)


@pytest.mark.parametrize("dtype", FLOATS)
def test_powers_of_infinity_and_zero_are_those_of_c(dtype: Any) -> None:
    x = gv.asarray(np.array([-np.inf, -0.0, 0.0, np.inf], dtype))
    for exponent, wanted in ((0.5, [np.inf, 0, 0, np.inf]), (-0.5, [0, np.inf, np.inf, 0])):
        assert_same(gv.pow(x, exponent).numpy(), np.array(wanted, dtype), f"{exponent}")


def test_functions_of_numbers_are_left_to_the_code() -> None:
    """What is known while it is compiled is what it is when it is run."""
    numbers = [gv.asarray(np.float32(each)) for each in (0.3, 0.7, 1.3)]

    def body(x: Any) -> Any:
        return [x * gv.sin(n) + gv.exp(n) * gv.tanh(n) / gv.log(n) for n in numbers]

    x = gv.asarray(drawn(np.float32, 400))
    wanted, function = [y.numpy() for y in body(x)], gv.function(body)
    for _ in range(3):
        found = function(x)
    for made, right in zip(found, wanted, strict=True):
        assert_same(made.numpy(), right, "a function of a number")


@pytest.mark.parametrize("numerics", ["sloppy", "default", "ulp:0", "ulp:", "ulp:x", "ulp:-1", ""])
def test_numerics_that_there_are_not_are_refused_by_name(numerics: str) -> None:
    with pytest.raises(PipelineError, match=r"are unknown, expected exact, ulp:N or fast"):
        gv.compile("tests/models/mlp.onnx", options=Options(numerics=numerics))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("divisor", [3.0, 0.1, 7e-12, 12345.678, 1e30, 5e-30, 1 / 3, 1.9999999])
def test_ulps_hold_where_they_buy_something(dtype: Any, divisor: float) -> None:
    """Other instructions are chosen, other bits come out, and none is further off than is said."""
    name = {np.float32: "f32", np.float64: "f64"}[dtype]
    text = f"model m(x: {name}[4096]) -> (y, r) {{ y = x / {divisor}\n r = 1.0 / sqrt(x) }}"
    random = np.random.default_rng(3)
    x = np.concatenate([drawn(dtype, 2000)[:2000], random.uniform(1, 2, 2096)]).astype(dtype)
    exact, near = (gv.compile(text.encode(), numerics=each).call(x) for each in ("exact", "ulp:2"))
    for wanted, found in zip(exact, near, strict=True):
        ulps = ulps_between(found, wanted)
        assert ulps is not None
        assert ulps.max() <= 2
    assert near[0].tobytes() != exact[0].tobytes()


CHAINS = {
    "arithmetic": ("Mul:y", "Add:y", "Div:y", "Sub:y"),
    "functions": ("Exp", "Tanh", "Mul:y", "Sigmoid", "Sqrt"),
    "taken_apart": ("Add:y", "Softmax", "Mul:y", "Gelu", "Add:y", "LogSoftmax"),
    "sums": ("Mul:y", "ReduceMean", "Add:y", "Mul:y", "ReduceSum"),
    "product": ("MatMul:y", "Add:y", "Relu", "MatMul:y", "Mul:y"),
    "moves": ("Mul:y", "Transpose", "Add:y", "Transpose", "Mul:y"),
}


@pytest.mark.parametrize("numerics", ["exact", "ulp:2"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("chain", CHAINS)
def test_halves_are_rounded_between_operations(chain: str, dtype: str, numerics: str) -> None:
    kind = dtypes.DTYPES[{"float16": "f16", "bfloat16": "bf16"}[dtype]]
    code = onnx.TensorProto.FLOAT16 if dtype == "float16" else onnx.TensorProto.BFLOAT16
    rng = np.random.default_rng(3)
    x, y = (rng.uniform(0.5, 1.5, (32, 32)).astype(kind.numpy) for _ in range(2))

    def model(steps: Sequence[str]) -> bytes:
        nodes, last = [], "x"
        for number, step in enumerate(steps):
            name, _, other = step.partition(":")
            inputs = [last, other] if other else [last]
            nodes.append(onnx.helper.make_node(name, inputs, [last := f"v{number}"]))
        given = [onnx.helper.make_tensor_value_info(n, code, (None, None)) for n in "xy"]
        made = onnx.helper.make_tensor_value_info(last, code, (None, None))
        graph = onnx.helper.make_graph(nodes, "halves", given, [made])
        opset = [onnx.helper.make_opsetid("", 20)]
        whole = onnx.helper.make_model(graph, opset_imports=opset, ir_version=9)
        return bytes(whole.SerializeToString())

    def run(steps: Sequence[str], value: Any) -> Any:
        shapes = {"x": value.shape, "y": y.shape}
        made = gv.compile(model(steps), shapes=shapes, numerics=numerics)
        return made.run({"x": value, "y": y})[0]

    want = x
    for step in CHAINS[chain]:
        want = run([step], want)
    got = run(CHAINS[chain], x)
    assert got.dtype == want.dtype
    assert got.tobytes() == want.tobytes()
