"""What an operation gives is inferred once: not again when its trace is lowered or verified."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure import tf
from gravure.frontend.function.in_common import Shared
from gravure.frontend.function.lowering import StagingFrame
from gravure.ir import Op, TensorSpec
from gravure.ir.op import INFERRED, Inferences
from gravure.ir.program import new_function
from gravure.ir.types.dtypes import f32

X = np.linspace(0.1, 0.9, 24, dtype=np.float32).reshape(4, 6)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[Any]]:
    """Count how often each rule is asked the same."""
    found, infer = Counter[Any](), Op.__dict__["_infer"].__func__

    def counted(cls: type[Op], specs: Any, attributes: dict[str, Any]) -> Any:
        plain = [
            (n, (x.dtype, x.shape, x.tobytes()) if isinstance(x, np.ndarray) else x)
            for n, x in attributes.items()
        ]
        if all(spec.is_static for spec in specs):  # eager functions are compiled for any size
            found[cls.name, *specs, *plain] += 1
        return infer(cls, specs, attributes)

    monkeypatch.setattr(Op, "_infer", classmethod(counted))
    INFERRED.clear()
    yield found
    INFERRED.clear()


def looked_up(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count which operations are looked up among what is inferred already."""
    found, inferred = Counter[str](), Op.__dict__["inferred"].__func__

    def counted(cls: type[Op], specs: Any, attributes: dict[str, Any]) -> Any:
        found[cls.name] += 1
        return inferred(cls, specs, attributes)

    monkeypatch.setattr(Op, "inferred", classmethod(counted))
    return found


def primitives(x: Any) -> Any:
    return gv.tanh(x @ gv.matrix_transpose(x)) + gv.exp(gv.sum(x, axis=1)) * 2.0


def composites(x: Any) -> Any:
    logits = tf.nn.gelu(x)[:, 1:]
    return tf.nn.softmax_cross_entropy_with_logits(labels=x[:, 1:], logits=logits)


def loops(x: Any) -> Any:
    return gv.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, gv.cos(y) * y), (0, x))[1]


@pytest.mark.parametrize("body", [primitives, composites, loops])
def test_each_rule_is_asked_once(body: Callable[[Any], Any], asked: Counter[Any]) -> None:
    function = gv.function(body)
    for _ in range(4):
        function(gv.asarray(X))
    (concrete,) = function.cache.values()
    assert [type(x).__name__ for x in concrete.compiled.values()] == ["Staged"]
    assert len(asked) > 3
    assert {key: n for key, n in asked.items() if n > 1} == {}


def test_the_gradient_asks_nothing_again(asked: Counter[Any]) -> None:
    def step(x: Any) -> Any:
        with gv.GradientTape() as tape:
            tape.watch(x)
            y = gv.sum(primitives(x))
        return tape.gradient(y, x)

    function = gv.function(step)
    for _ in range(4):
        function(gv.asarray(X))
    assert {key: n for key, n in asked.items() if n > 1} == {}


def test_lowering_looks_up_no_primitive(monkeypatch: pytest.MonkeyPatch) -> None:
    """The trace's own types are handed over."""
    function = gv.function(primitives)
    plan = function.get_concrete_function(gv.asarray(X)).graph.whole_plan()
    found = looked_up(monkeypatch)
    main = new_function("main", [("x", TensorSpec(f32, X.shape))])
    plan.run(StagingFrame(main.body.block, Shared(), top=True), main.body.block.args)
    made = {op.name for op in main.body.block.ops}
    assert made >= {"gv.tanh", "gv.matmul", "gv.transpose", "gv.exp", "gv.sum", "gv.add"}
    assert found.keys() == {"gv.constant"}


def test_open_sizes_are_inferred_for_those_that_come() -> None:
    """A trace for any size knows less than what is lowered: that is inferred then."""
    signature = [tf.TensorSpec([None, 6], tf.float32)]
    function = tf.function(primitives, input_signature=signature)
    for rows in (1, 4, 1, 4, 1, 4):
        x = X[:rows]
        wanted = np.tanh(x @ x.T) + np.exp(x.sum(1)) * 2
        np.testing.assert_allclose(function(tf.constant(x)).numpy(), wanted, rtol=1e-5)
    concrete = function.get_concrete_function()
    assert sum(type(x).__name__ == "Staged" for x in concrete.compiled.values()) == 2


def test_an_input_that_is_exchanged_is_inferred_anew() -> None:
    """What was inferred holds for the inputs that there were."""
    graph = gv.Graph()
    with gv.graph_mode(graph):
        x = gv.placeholder("float32", (2, 3))
        y = gv.placeholder("float32", (4, 3))
        total = gv.tanh(x)
    total.op.update_input(0, y)
    with gv.Session(graph) as session:
        for _ in range(8):
            (made,) = session.run([total], {y: X[:, :3]})
            np.testing.assert_allclose(made, np.tanh(X[:, :3]), rtol=1e-6)


def test_what_is_in_use_is_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Inferences, "MOST", 4)
    memo, spec = Inferences(), TensorSpec(f32, (1,))
    for number in range(40):
        memo.put(number, (spec,))
        assert memo.get(0) == (spec,)
        assert memo.get(number) == (spec,)
    assert memo.get(1) is None
    assert len(memo.latest) + len(memo.before) <= 8


@pytest.mark.parametrize("size", [1, 3, 7, 11, 13])
def test_no_size_that_is_tried_is_taken_for_known(size: int) -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x, y = (tf.compat.v1.placeholder(tf.float32, s) for s in ([None, size], [None, None]))
        product = tf.matmul(x, y)
        given = {x: np.ones((2, size), np.float32), y: np.ones((size, 5), np.float32)}
        assert session.run(tf.shape(product), given).tolist() == [2, 5]


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (lambda x, w: tf.nn.conv2d(x, w, 2, "VALID"), [(1, 7, 9, 2), (3, 3, 2, 4)]),
        (lambda x, w: tf.nn.conv2d(x, w, 1, "VALID"), [(1, 7, 9, 2), (3, 3, 2, 4)]),
        (lambda x, w: tf.nn.depthwise_conv2d(x, w, [1] * 4, "VALID"), [(1, 7, 9, 2), (3, 3, 2, 1)]),
        (lambda x, w: tf.nn.conv1d(x, w, 2, "VALID"), [(1, 9, 2), (3, 2, 4)]),
        (
            lambda x, w: tf.nn.conv3d(x, w, [1, 2, 2, 2, 1], "VALID"),
            [(1, 5, 6, 7, 2), (3, 3, 3, 2, 4)],
        ),
    ],
)
def test_windows_of_unknown_sizes_are_not_taken_for_as_large_as_images(
    function: Callable[..., Any], shapes: list[tuple[int, ...]]
) -> None:
    """The results of each had one element along each axis: so had ones of their shape."""
    given = [tf.constant(np.random.RandomState(0).rand(*s).astype(np.float32)) for s in shapes]
    found: list[Any] = []

    def slopes(*xs: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(xs)
            made = function(*xs)
        found.append(made.shape)
        return made, *tape.gradient(made, xs)

    signature = [tf.TensorSpec([None] * len(s)) for s in shapes]
    wanted = slopes(*given)
    got = tf.function(slopes, input_signature=signature)(*given)
    assert all(size is None for size in found[1][1:-1])
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
