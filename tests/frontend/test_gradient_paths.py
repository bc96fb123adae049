"""Every operation that has a gradient, on each of its samples, by every way back there is.

A tape, `gravure.gradients` in a session, the two programs of a function under a tape, and the
derivative within a program go the same walk (`ir/gradient/walk.py`): they give the same bits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
import onnx
import pytest
from onnx import helper
from xdsl.dialects.builtin import ModuleOp

import gravure as gv
from gravure import tf
from gravure.frontend.eager import kernels
from gravure.frontend.eager.in_loops import IN_LOOPS
from gravure.frontend.eager.tensor import apply
from gravure.frontend.function import lowering_gradient
from gravure.frontend.function.lowering_gradient import StagedGradient
from gravure.frontend.graph.execute import Plan
from gravure.frontend.graph.frame import OutsideError, Store
from gravure.frontend.programs.load import load_program
from gravure.ir import REGISTRY, Array, GraphEmit, Op, Program, Sample, interpret
from gravure.ir.families import Elementwise
from gravure.ir.gradient.program import gradients_in_block
from gravure.ir.program import finish, new_function, set_level
from gravure.ir.types.dtypes import f64
from gravure.ir.types.tensor import spec_of_array


@dataclass(frozen=True)
class Case:
    """One sample of one operation, with operands and gradients of its results."""

    op: type[Op]
    number: int

    @property
    def sample(self) -> Sample:
        found: Sample = self.op.SAMPLES[self.number]
        return found

    def __str__(self) -> str:
        return f"{self.op.name.removeprefix('gv.')}-{self.number}"

    @property
    def operands(self) -> list[Array]:
        random = np.random.default_rng(crc32(str(self).encode()))
        ranges, types = (
            dict(enumerate(self.sample.ranges)),
            dict(enumerate(self.sample.operand_dtypes)),
        )
        made = []
        for i, shape in enumerate(self.sample.shapes):
            low, high = ranges.get(i) or (self.sample.low, self.sample.high)
            dtype = types.get(i) or f64
            if dtype.kind == "b":
                made.append(np.asarray(random.random(shape) < 0.5))
            elif dtype.is_float:
                made.append(np.asarray(random.uniform(low, high, shape)).astype(dtype.numpy))
            else:
                low, high = max(int(np.ceil(low)), dtype.minimum), min(int(high), dtype.maximum)
                drawn = random.integers(low, high, shape, endpoint=True)
                made.append(np.asarray(drawn).astype(dtype.numpy))
        return made

    def of(self, *operands: Any) -> list[Any]:
        """Return the results on tensors."""
        made = apply(self.op, *operands, **self.sample.attributes)
        return [*made] if isinstance(made, tuple) else [made]

    @property
    def weights(self) -> list[Array | None]:
        """Return a gradient for each result that is a float."""
        specs = self.op.inferred(list(map(spec_of_array, self.operands)), self.sample.attributes)
        random = np.random.default_rng(7)
        return [
            np.asarray(random.uniform(0.5, 1.5, s.static_shape)).astype(s.dtype.numpy)
            if s.dtype.is_float
            else None
            for s in specs
        ]


CASES = [
    Case(op, number)
    for _, op in sorted(REGISTRY.items())
    for number, sample in enumerate(op.SAMPLES)
    if op.has("gradient") and sample.differentiable and any(d.is_float for d in sample.dtypes)
]
CASES = [case for case in CASES if any(w is not None for w in case.weights)]


def by_tape(case: Case) -> list[Array | None]:
    xs = [*map(gv.asarray, case.operands)]
    with gv.GradientTape() as tape:
        tape.watch(xs)
        pairs = [(y, w) for y, w in zip(case.of(*xs), case.weights, strict=True) if w is not None]
    found = tape.gradient([y for y, _ in pairs], xs, [w for _, w in pairs])
    return [None if g is None else g.numpy() for g in found]


def in_session(case: Case, *, sizes_known: bool = True) -> list[Array | None]:
    graph, arrays = gv.Graph(), case.operands
    with gv.graph_mode(graph):
        xs = [gv.placeholder(str(a.dtype), a.shape if sizes_known else [None] * a.ndim)
              for a in arrays]  # fmt: skip
        pairs = [(y, w) for y, w in zip(case.of(*xs), case.weights, strict=True) if w is not None]
        found = gv.gradients([y for y, _ in pairs], xs, [graph.constant(w) for _, w in pairs])
    made = gv.Session(graph).run(
        [g for g in found if g is not None], dict(zip(xs, arrays, strict=True))
    )
    values = iter(made)
    return [None if g is None else next(values) for g in found]


def as_compiled(oracle: Callable[..., Sequence[Array]]) -> Any:
    """Return what evaluates an element-wise function as eager code does: by compiled code."""

    def evaluate(cls: type[Op], *operands: Array, **attributes: Any) -> Sequence[Array]:
        if operands[0].dtype in (np.float32, np.float64):
            return kernels.evaluate(cls, operands, attributes)
        return oracle(*operands, **attributes)

    return classmethod(evaluate)


def in_loops(op: type[Op], oracle: Callable[..., Sequence[Array]]) -> Any:
    """Return what evaluates an operation as eager code does: by loops where it has few elements."""

    def evaluate(cls: type[Op], *operands: Array, **attributes: Any) -> Sequence[Array]:
        if operands[0].dtype not in (np.float32, np.float64) or not all(x.size for x in operands):
            return oracle(*operands, **attributes)
        made = IN_LOOPS[op](**cls.complete(attributes))(*operands)
        return made if isinstance(made, tuple) else (made,)

    return classmethod(evaluate)


@pytest.fixture(autouse=True)
def one_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the interpreter compute as eager code does: the ways are compared, not what computes."""
    for op in REGISTRY.values():
        if issubclass(op, Elementwise) and op.is_near():
            monkeypatch.setattr(op, "evaluate", as_compiled(op.evaluate))
    for op in IN_LOOPS:
        monkeypatch.setattr(op, "evaluate", in_loops(op, op.evaluate))


class Interpreted:
    """A program that is interpreted where it would be compiled: nothing rounds otherwise."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def call(self, *arrays: Any) -> Any:
        made = interpret(self.program, [*map(np.asarray, arrays)])
        return tuple(made) if len(made) > 1 else made[0]


def by_programs(case: Case) -> list[Array | None]:
    """Go forward and back by the two programs of a function."""
    traced = gv.function(case.of).get_concrete_function(*map(gv.asarray, case.operands))
    try:
        made = StagedGradient(traced.graph.whole_plan(), [x.spec for x in traced.inputs])
    except OutsideError:  # nothing depends on the operands: there is no way back
        return [None] * len(case.operands)
    _, back = made.run(Store(), case.operands)
    return list(back(case.weights))


def in_block(case: Case) -> list[Array | None]:
    """Append the derivatives to a program."""
    arrays, weights = case.operands, case.weights
    *others, (number, weight) = [(n, w) for n, w in enumerate(weights) if w is not None]
    only_last = case.op.name == "gv.log_determinant"  # signs of determinants have no slope
    assert only_last or not others, "several results that are floats: give each a weight"
    names = [(f"x{i}", spec_of_array(a)) for i, a in enumerate([*arrays, weight])]
    main = new_function("main", names)
    *xs, grad = main.body.block.args
    emit = GraphEmit.at_end(main.body.block)
    made = emit(case.op, *xs, **case.sample.attributes)
    goal = (made if isinstance(made, tuple) else (made,))[number]
    found = gradients_in_block(goal, grad, xs, emit)
    results = [g for g in found if g is not None]
    finish(main, results, [f"y{i}" for i in range(len(results))])
    module = ModuleOp([main])
    set_level(module, "graph")
    values = iter(interpret(Program(module, {}), [*arrays, weight]))
    return [None if g is None else next(values) for g in found]


def assert_equal(found: Sequence[Array | None], wanted: Sequence[Array | None]) -> None:
    """Fail unless the same gradients are there, with the same bits."""
    assert [g is None for g in found] == [g is None for g in wanted]
    for a, b in zip(found, wanted, strict=True):
        if a is not None and b is not None:
            assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_way_back_gives_the_same_bits(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowering_gradient, "loaded", Interpreted)
    wanted = by_tape(case)
    for g, x in zip(wanted, case.operands, strict=True):
        assert g is None or (g.dtype, g.shape) == (x.dtype, x.shape)
    for way in (in_session, by_programs, in_block):
        assert_equal(way(case), wanted)


NEED_SIZES = {"gv.conv_weights", "gv.group_norm", "gv.max_pool_gradient", "gv.reshape"}
"""Operations that refuse operands of unknown sizes that have to do with each other."""
OPEN = [c for c in CASES if c.number == 0 and c.op.name not in NEED_SIZES]


@pytest.mark.parametrize("case", OPEN, ids=str)
def test_recorded_runs_give_the_same_bits(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Plan, "slides", lambda *_: False)  # else compiled at once
    found, wanted = in_session(case, sizes_known=False), by_tape(case)
    for a, b in zip(found, wanted, strict=True):
        assert_equal([a], [np.zeros_like(a) if b is None and a is not None else b])


# Programs: what is used often, by ways that meet, or leads nowhere.

X, Y = np.array([[0.7, -1.3], [2.1, 0.4]]), np.array([0.3, -0.9])


def meets_often(x, y):
    a = gv.sin(x) * y + x / 3.0
    b = a * a + gv.exp(a) * x
    return [gv.sum(b, axis=0) + y, b * a, gv.tanh(b - a * y)]


def twice_the_same(x, y):
    z = x * x
    return [z, z, gv.matmul(x, x) + gv.concat([z, z], axis=0)[:2] * y]


def leads_nowhere(x, y):
    through = gv.astype(gv.astype(x, gv.int32), gv.float64)
    return [through + y, gv.stop_gradient(x) * y, x > y]


def stops_between(x, y):
    z = x * y
    return [gv.stop_gradient(z) * x + z]


def a_target_is_a_source(x, y):
    return [x, x * y, y]


def of_itself(x, y):
    @gv.custom_gradient
    def cube(v):
        return v**3, lambda grad: grad * 0.5

    return [cube(x) + cube(y) * x]


PROGRAMS = [meets_often, twice_the_same, leads_nowhere, stops_between, a_target_is_a_source,
            of_itself]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_every_way_back_through_a_program_gives_the_same_bits(
    program: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lowering_gradient, "loaded", Interpreted)
    xs = [gv.asarray(X), gv.asarray(Y)]
    with gv.GradientTape(persistent=True) as tape:
        tape.watch(xs)
        made = program(*xs)
        called = gv.function(program)(*xs)
    wanted = arrays(tape.gradient(made, xs))
    assert_equal(arrays(tape.gradient(called, xs)), wanted)

    graph = gv.Graph()
    with gv.graph_mode(graph):
        fed = [gv.placeholder("float64", X.shape), gv.placeholder("float64", Y.shape)]
        grads = gv.gradients(program(*fed), fed)
    there = [g for g in grads if g is not None]
    values = iter(gv.Session(graph).run(there, dict(zip(fed, (X, Y), strict=True))))
    assert_equal([None if g is None else next(values) for g in grads], wanted)

    traced = gv.function(program).get_concrete_function(*xs)
    staged = StagedGradient(traced.graph.whole_plan(), [x.spec for x in traced.inputs])
    results, back = staged.run(Store(), [X, Y])
    assert_equal(back([np.ones_like(r) if r.dtype.kind == "f" else None for r in results]), wanted)


def arrays(found: Sequence[Any]) -> list[Array | None]:
    return [None if g is None else g.numpy() for g in found]


def test_derivatives_in_an_onnx_model_are_those_of_a_tape() -> None:
    def node(kind: str, given: str, made: str, **more: Any) -> onnx.NodeProto:
        return helper.make_node(kind, given.split(), made.split(), **more)

    training, double = "ai.onnx.preview.training", onnx.TensorProto.DOUBLE
    nodes = [
        node("Mul", "x y", "a"),
        node("Sin", "a", "s"),
        node("Add", "s a", "b"),
        node("MatMul", "b x", "c"),
        node("ReduceSum", "c", "z", keepdims=0),
        node("Gradient", "x y u", "dx dy du", domain=training, xs=["x", "y", "u"], y="z"),
    ]
    shapes = {"x": [2, 2], "y": [2], "u": [3]}
    inputs = [helper.make_tensor_value_info(n, double, s) for n, s in shapes.items()]
    outputs = [helper.make_tensor_value_info(f"d{n}", double, s) for n, s in shapes.items()]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(training, 1)]
    model = helper.make_model(
        helper.make_graph(nodes, "g", inputs, outputs), opset_imports=opsets, ir_version=8
    )
    arrays_of = [X, Y, np.ones(3)]
    found = interpret(load_program(model.SerializeToString()), arrays_of)

    xs = [*map(gv.asarray, arrays_of)]
    with gv.GradientTape() as tape:
        tape.watch(xs)
        a = xs[0] * xs[1]
        z = gv.sum(gv.matmul(gv.sin(a) + a, xs[0]))
    *wanted, none = arrays(tape.gradient(z, xs))
    assert none is None
    assert_equal(found, [*wanted, np.zeros(3)])


@pytest.mark.parametrize(
    ("kind", "said"), [("Unheard", "Unheard"), ("SequenceConstruct", "which is no tensor")]
)
def test_derivatives_of_what_is_no_tensor_are_refused(kind: str, said: str) -> None:
    """One whose own node could not be read was an AttributeError, found by changed files."""
    training = "ai.onnx.preview.training"
    nodes = [
        helper.make_node(kind, ["x"], ["z"]),
        helper.make_node("Gradient", ["x"], ["dx"], domain=training, xs=["x"], y="z"),
    ]
    made = [helper.make_tensor_value_info(n, onnx.TensorProto.DOUBLE, [2]) for n in ("x", "dx")]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(training, 1)]
    model = helper.make_model(
        helper.make_graph(nodes, "g", made[:1], made[1:]), opset_imports=opsets, ir_version=8
    )
    with pytest.raises(gv.GravureError, match=said):
        load_program(model.SerializeToString())


@pytest.mark.parametrize("name", ["rfft", "fft", "stft"])
def test_gradients_of_fourier_transforms_in_functions_are_those_at_once(name):
    transforms = {
        "rfft": tf.signal.rfft,
        "fft": lambda x: tf.signal.fft(tf.cast(x, tf.complex64)),
        "stft": lambda x: tf.signal.stft(x, 4, 2),
    }
    w = tf.Variable(np.linspace(-1, 1, 8, dtype=np.float32))

    def slope(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.abs(transforms[name](x * w)) ** 2)
        return tape.gradient(loss, w)

    staged, x = tf.function(slope), tf.constant(np.cos(np.arange(8, dtype=np.float32)))
    for _ in range(4):
        np.testing.assert_allclose(staged(x).numpy(), slope(x).numpy(), rtol=1e-4, atol=1e-5)


W = np.linspace(-1, 1, 16, dtype=np.float32)
IN_PARTS: dict[str, tuple[Callable[[Any, Any], Any], float]] = {
    "rfft": (lambda x, w: tf.abs(tf.signal.rfft(x * w)) ** 2, 41.373),
    "fft": (lambda x, w: tf.abs(tf.signal.fft(tf.cast(w, tf.complex64))), 15.492),
    "complex": (lambda x, w: tf.abs(tf.cast(w, tf.complex64) * (2 + 1j)) ** 2, 24.585),
    "eigh": (lambda x, w: tf.linalg.eigh(tf.reshape(w * x, [4, 4]))[0], 1.4246),
}
"""What was zero, missing or an error there; the norms of its gradients."""


@pytest.mark.filterwarnings("ignore::gravure.PerformanceWarning")
@pytest.mark.parametrize("part", ["choice", "loop"])
@pytest.mark.parametrize("name", IN_PARTS)
def test_gradients_of_complex_numbers_in_choices_and_loops(name: str, part: str) -> None:
    function, norm = IN_PARTS[name]
    w, x = tf.Variable(W), tf.constant(np.cos(np.arange(16) * 0.3).astype(np.float32))

    @tf.function(autograph=False)
    def slope(count: Any) -> Any:
        with tf.GradientTape() as tape:
            once = tf.constant(0.0)
            if part == "choice":
                loss = tf.cond(count > 0, lambda: tf.reduce_sum(function(x, w)), lambda: once)
            else:
                loss = tf.while_loop(
                    lambda i, _: i < count,
                    lambda i, total: (i + 1, total + tf.reduce_sum(function(x, w))),
                    (tf.constant(0), once),
                )[1]
        return tape.gradient(loss, w, unconnected_gradients="zero")

    for count in (1, 0, 1, 1, 1):
        found = slope(tf.constant(count)).numpy()
        np.testing.assert_allclose(np.linalg.norm(found), norm * count, rtol=2e-3, atol=1e-6)
    with tf.GradientTape() as tape:
        at_once = tf.reduce_sum(function(x, w))
    np.testing.assert_allclose(found, tape.gradient(at_once, w).numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.reduce_sum(tf.reduce_sum(x * x, 1, keepdims=True) * x),
        lambda x: tf.reduce_sum(tf.math.rsqrt(x * x + 1e-3) * x),
        lambda x: tf.reduce_sum(x * x * tf.sin(x) * x + tf.matmul(x, x)),
    ],
)
def test_what_an_operation_gives_back_twice_is_added_up_in_the_order_of_the_tape(
    function: Callable[[Any], Any],
) -> None:
    x = tf.constant(np.random.default_rng(5).normal(size=(48, 48)).astype(np.float32))

    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x)

    found = tf.function(gradient)(x).numpy()
    assert found.tobytes() == gradient(x).numpy().tobytes()
