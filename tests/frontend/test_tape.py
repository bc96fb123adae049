"""Gradient tapes; rows F2 to F5 and I3 to I7."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.frontend.eager.backward import GradientError
from gravure.frontend.eager.tape import TapeError
from gravure.frontend.eager.tensor import Tensor, apply
from gravure.frontend.values.context import entered
from gravure.ir import REGISTRY, Sample, interpret, spec
from gravure.ir.types import dtypes

sys.path.insert(0, str(Path(__file__).parent))
from traced_blocks import Trace


def grad(function: Callable[..., Any], *values: Any, **options: Any) -> Any:
    xs = [gv.asarray(v) for v in values]
    with gv.GradientTape() as tape:
        tape.watch(xs)
        y = function(*xs)
    found = tape.gradient(y, xs, **options)
    return found[0] if len(found) == 1 else found


def test_i3_a_watched_tensor_has_a_gradient() -> None:
    assert grad(lambda x: x * x, 3.0) == 6.0


def test_i3_an_unwatched_tensor_has_none() -> None:
    x = gv.asarray(3.0)
    with gv.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x) is None


def test_i3_only_tensors_are_watched() -> None:
    with gv.GradientTape() as tape, pytest.raises(TypeError, match="a float cannot be watched"):
        tape.watch(1.0)


def test_i4_a_tape_gives_gradients_once() -> None:
    x = gv.asarray(3.0)
    with gv.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(TapeError, match="persistent=True"):
        tape.gradient(y, x)
    assert issubclass(TapeError, RuntimeError)


def test_i4_a_persistent_tape_gives_many() -> None:
    x = gv.asarray(3.0)
    with gv.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    assert (tape.gradient(y, x), tape.gradient(z, x), tape.gradient(z, y)) == (6.0, 108.0, 18.0)


def test_i5_nested_tapes_give_higher_orders() -> None:
    x = gv.asarray(3.0)
    with gv.GradientTape() as outer:
        outer.watch(x)
        with gv.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        first = inner.gradient(y, x)
    assert (first, outer.gradient(first, x)) == (27.0, 18.0)


def test_i5_one_persistent_tape_differentiates_its_own_gradient() -> None:
    x = gv.asarray(3.0)
    with gv.GradientTape(persistent=True) as tape:
        tape.watch(x)
        first = tape.gradient(x * x * x, x)
    assert tape.gradient(first, x) == 18.0


def test_i5_inside_of_the_tape_a_gradient_ends_the_recording() -> None:
    x = gv.asarray(3.0)
    with gv.GradientTape() as tape:
        tape.watch(x)
        assert tape.gradient(x * x, x) == 6.0


def test_i6_elements_of_targets_are_summed_and_weighed() -> None:
    x = gv.asarray([1.0, 2.0])
    with gv.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x).tolist() == [2.0, 4.0]
    assert tape.gradient(y, x, output_gradients=[10.0, 1.0][0] * gv.ones(2)).tolist() == [20, 40]
    assert tape.gradient([y, y], x, output_gradients=[gv.asarray([10.0, 1.0]), None]).tolist() == [
        22.0,
        8.0,
    ]
    assert tape.jacobian(y, x).tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_i6_sources_may_be_a_structure() -> None:
    a, b, c = gv.asarray(1.0), gv.asarray(2.0), gv.asarray(3.0)
    with gv.GradientTape() as tape:
        tape.watch({"a": a, "l": [b, (c,)]})
        y = a * 2.0 + b * b
    found = tape.gradient(y, {"a": a, "l": [b, (c,)]})
    assert found == {"a": 2.0, "l": [4.0, (None,)]}


def test_i6_unconnected_sources_are_none_or_zeros() -> None:
    x, other = gv.asarray([1.0, 2.0]), gv.asarray([[5.0]])
    for choice, expected in (("none", None), ("zero", [[0.0]])):
        with gv.GradientTape() as tape:
            tape.watch([x, other])
            y = x * x
        found = tape.gradient(y, other, unconnected_gradients=choice)
        assert (found if found is None else found.tolist()) == expected
    with gv.GradientTape() as tape, pytest.raises(ValueError, match="expected 'none' or 'zero'"):
        tape.gradient(x, x, unconnected_gradients="one")


def test_i6_integers_have_no_gradient() -> None:
    assert grad(lambda x: gv.astype(x, gv.int32), 2.0) is None
    assert grad(lambda x: x * x, 2) is None


def test_i6_recording_stops_and_starts_again() -> None:
    x = gv.asarray(2.0)
    with gv.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            y = y * x
        z = y + x
    assert tape.gradient(z, x) == 1.0
    with pytest.raises(TapeError, match="not recording"), tape.stop_recording():
        pass


def test_i6_reset_forgets() -> None:
    x = gv.asarray(2.0)
    with gv.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        tape.reset()
        tape.watch(x)
        z = x * 5.0
    assert tape.gradient([y, z], x) == 5.0


def test_i6_jacobians_by_example() -> None:
    x = gv.asarray(np.arange(6.0, dtype=np.float32).reshape(2, 3))
    w = gv.asarray(np.arange(6.0, dtype=np.float32).reshape(3, 2))
    with gv.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = gv.sin(x @ w)
    each, whole = tape.batch_jacobian(y, x).numpy(), tape.jacobian(y, x).numpy()
    assert each.shape == (2, 2, 3)
    for i in range(2):
        np.testing.assert_allclose(each[i], whole[i, :, i], rtol=1e-6)
    assert tape.batch_jacobian(y, gv.ones((2, 3))) is None
    assert tape.jacobian(y, gv.ones(3)) is None
    assert tape.jacobian(y, gv.ones(3), unconnected_gradients="zero").shape == (2, 2, 3)


@pytest.mark.parametrize(("start", "expected"), [(2.0, (64.0, 192.0)), (60.0, (60.0, 1.0))])
def test_i7_python_control_flow_is_differentiated(start: float, expected: Any) -> None:
    def f(x: Any) -> Any:
        y = x
        while y < 50:
            y = y * x
        return y

    assert (f(gv.asarray(start)), grad(f, start)) == expected


def test_a_tape_sees_its_own_thread_only() -> None:
    x = gv.asarray(2.0)
    made: list[Any] = []
    with gv.GradientTape() as tape:
        tape.watch(x)
        thread = threading.Thread(target=lambda: made.append(x * x))
        thread.start()
        thread.join()
    assert tape.gradient(made[0], x) is None


def test_f2_paths_are_summed() -> None:
    assert grad(lambda x: x * x + x, 3.0) == 7.0


def test_f2_unused_results_count_as_zero() -> None:
    found = grad(lambda x: gv.top_k(x, 2)[0][1], np.array([1, 5, 3], np.float32))
    assert found.tolist() == [0.0, 0.0, 1.0]


def test_f2_stop_gradient_cuts() -> None:
    assert grad(lambda x: x * gv.stop_gradient(x), 3.0) == 3.0
    assert grad(lambda x: gv.stop_gradient([x])[0], 3.0) is None


def test_f4_a_rule_of_the_user_stands_in() -> None:
    with gv.gradient_override({"identity": lambda call, g: (g * -99.0,)}):
        assert grad(gv.identity, 1.0) == -99.0
    with gv.gradient_override({"gv.exp": lambda call, g: (g * call.operands[0],)}):
        assert grad(gv.exp, 5.0) == 5.0
    assert grad(gv.identity, 1.0) == 1.0
    with (
        pytest.raises(LookupError, match=r"no operation 'gv\.nonsense'"),
        gv.gradient_override({"gv.nonsense": lambda call, g: (g,)}),
    ):
        pass


def test_f4_a_function_has_its_own_gradient() -> None:
    @gv.custom_gradient
    def f(x: Any, y: Any) -> Any:
        e = gv.exp(x)
        return e * y, lambda g: (g * 3.0, g * e)

    assert [float(g) for g in grad(f, 0.0, 2.0)] == [3.0, 1.0]
    assert f.__name__ == "f"


def test_f4_a_custom_gradient_is_differentiated_again() -> None:
    @gv.custom_gradient
    def cube(x: Any) -> Any:
        y = x * x
        return y * x, lambda g: g * 3.0 * y

    x = gv.asarray(3.0)
    with gv.GradientTape() as outer:
        outer.watch(x)
        first = grad_inside(cube, x)
    assert (first, outer.gradient(first, x)) == (27.0, 18.0)


def grad_inside(function: Callable[..., Any], x: Any) -> Any:
    with gv.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


def test_f4_a_custom_gradient_gives_as_many_as_there_are_operands() -> None:
    @gv.custom_gradient
    def f(x: Any, y: Any) -> Any:
        return x * y, lambda g: g

    with pytest.raises(TapeError, match="gave 1 values, expected 2"):
        grad(f, 1.0, 2.0)


def test_f4_a_custom_gradient_holds_in_functions_and_graphs() -> None:
    @gv.custom_gradient
    def f(x: Any, y: Any) -> Any:
        e = gv.exp(x)
        return gv.log1p(e) * y, lambda g: (g * y * (1.0 - 1.0 / (1.0 + e)), None)

    def both(x: Any) -> Any:
        return f(x, 2.0) * gv.stop_gradient(x) + gv.identity(x)

    expected = float(grad(both, 0.5))
    assert float(grad(gv.function(both), 0.5)) == pytest.approx(expected)
    inside = gv.function(lambda x: grad_inside(both, x))
    assert float(inside(gv.asarray(0.5))) == pytest.approx(expected)
    graph = gv.Graph()
    with gv.graph_mode(graph):
        x = gv.placeholder(gv.float32, ())
        (found,) = gv.gradients(both(x), [x])
    assert gv.Session(graph).run(found, {x: 0.5}) == pytest.approx(expected)


def test_f5_an_operation_without_gradient_is_named() -> None:
    with pytest.raises(LookupError, match=r"gv.unique has no gradient") as caught:
        grad(gv.unique_values, np.array([1, 2], np.float32))
    assert isinstance(caught.value, GradientError)
    assert grad(gv.argmax, np.array([1, 2], np.float32)) is None


def test_f5_beside_the_path_no_gradient_is_wanted() -> None:
    def f(x: Any) -> Any:
        gv.unique_values(x)
        return x * 2.0

    assert grad(f, np.array([1, 2], np.float32)).tolist() == [2.0, 2.0]


def test_elements_that_a_tape_knows_are_not_assigned_to() -> None:
    x = gv.asarray([1.0, 2.0])
    with gv.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(TypeError, match="a tape watches"):
            x[0] = 5.0


def test_a_later_assignment_does_not_change_what_was_recorded() -> None:
    x = gv.asarray([1.0, 2.0])
    with gv.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    old = x.alias()
    x[0] = 100.0
    assert tape.gradient(y, x) is None
    del old


def test_a_tape_in_a_graph_adds_to_the_graph() -> None:
    trace = Trace("function 'f'")
    with entered(trace):
        x = trace.argument("x", spec(dtypes.f32, 2))
        with gv.GradientTape() as tape:
            tape.watch(x)
            y = gv.sum(gv.exp(x) * x)
        found = tape.gradient(y, x)
    function = trace.finish("f", {"g": found})
    value = np.array([0.5, -1.0], np.float32)
    (result,) = interpret(function, [value])
    np.testing.assert_allclose(result, np.exp(value) * (value + 1), rtol=1e-6)


def differentiable() -> list[Any]:
    return [
        pytest.param(op, sample, id=f"{name[3:]}-{i}")
        for name, op in REGISTRY.items()
        if op.LEVEL == "graph"
        for i, sample in enumerate(op.SAMPLES)
        if sample.differentiable and dtypes.f32 in sample.dtypes and op.has("gradient")
    ]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("op", "sample"), differentiable())
def test_gradients_of_operations_are_central_differences(op: Any, sample: Sample) -> None:
    arrays = values_of(sample)
    weights: list[Any] = []

    def total(*xs: Any) -> Any:
        made = apply(op, *xs, **sample.attributes)
        parts = [r for r in (made if isinstance(made, tuple) else (made,)) if r.dtype.kind == "f"]
        if not weights:
            rng = np.random.default_rng(1)
            weights.extend(rng.uniform(0.5, 1.5, r.shape) for r in parts)
        return sum((gv.sum(r * w) for r, w in zip(parts, weights, strict=True)), gv.asarray(0.0))

    smooth = [i for i, a in enumerate(arrays) if a.dtype.kind == "f"]
    xs = [Tensor(a) for a in arrays]
    with gv.GradientTape() as tape:
        tape.watch([xs[i] for i in smooth])
        y = total(*xs)
    found = tape.gradient(y, [xs[i] for i in smooth], unconnected_gradients="zero")
    rng = np.random.default_rng(2)
    for place, gradient in zip(smooth, found, strict=True):
        direction, step = rng.uniform(-1, 1, arrays[place].shape), 1e-6
        ends = []
        for sign in (1, -1):
            moved = [Tensor(a) for a in arrays]
            moved[place] = Tensor(arrays[place] + sign * step * direction)
            ends.append(float(total(*moved)))
        slope = (ends[0] - ends[1]) / (2 * step)
        assert np.sum(gradient.numpy() * direction) == pytest.approx(slope, rel=1e-4, abs=1e-5)


def values_of(sample: Sample) -> list[Any]:
    rng = np.random.default_rng(0)
    made = []
    for i, shape in enumerate(sample.shapes):
        dtype = (sample.operand_dtypes[i] if i < len(sample.operand_dtypes) else None) or dtypes.f64
        span = sample.ranges[i] if i < len(sample.ranges) else None
        low, high = span or (sample.low, sample.high)
        if dtype.kind == "f":
            made.append(rng.uniform(low, high, shape).astype(np.float64))
        elif dtype.kind == "b":
            made.append(rng.integers(0, 2, shape).astype(bool))
        else:
            made.append(rng.integers(int(low), int(high), shape, endpoint=True).astype(dtype.numpy))
    return made


def test_f4_a_custom_gradient_may_be_one_of_variables() -> None:
    w = gv.Variable([1.0, 2.0])

    @gv.custom_gradient
    def f(x: Any) -> Any:
        def gradient(grad: Any, variables: Any = None) -> Any:
            return grad * w.read_value(), [grad * x * 100.0]

        return x * w, gradient

    x = gv.asarray([3.0, 4.0])
    with gv.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    found = tape.gradient(y, [x, w])
    assert np.array_equal(found[0], [1.0, 2.0])
    assert np.array_equal(found[1], [300.0, 400.0])


def test_f4_a_custom_gradient_may_be_one_of_variables_in_functions_too() -> None:
    w = gv.Variable([1.0, 2.0])

    @gv.custom_gradient
    def f(x: Any) -> Any:
        def gradient(grad: Any, variables: Any = None) -> Any:
            return grad * w, [grad * x * 100.0]

        return x * w, gradient

    @gv.function
    def slopes(x: Any) -> Any:
        with gv.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, [x, w])

    for number in range(5):
        w.assign([number, 2.0])
        found = slopes(gv.asarray([3.0, 4.0]))
        assert np.asarray(found).tolist() == [[number, 2.0], [300.0, 400.0]]
    [concrete] = slopes.cache.values()
    assert concrete.graph.refusal == ""


UNKNOWN = [tf.TensorSpec(None, tf.float32)]


@pytest.mark.parametrize(
    "f", [lambda x: tf.sin(x) * 2.0, lambda x: tf.py_function(lambda z: z * z, [x], tf.float32)]
)
def test_what_a_tape_differentiates_may_have_an_unknown_rank(f):
    @tf.function(input_signature=UNKNOWN)
    def slope(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x), tape.gradient(y, tf.zeros([]), unconnected_gradients="zero")

    for x in (tf.constant(0.5), tf.constant([0.5, 2.0]), tf.constant([[0.5], [2.0]])):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        expected = tape.gradient(y, x)
        for _ in range(3):
            found, zero = slope(x)
            np.testing.assert_allclose(found, expected, rtol=1e-6)
            assert float(zero) == 0.0


def test_rows_that_are_parted_and_put_back_have_gradients():
    def slope(x, p):
        with tf.GradientTape() as tape:
            tape.watch(x)
            places = tf.dynamic_partition(tf.range(tf.shape(x)[0]), p, 3)
            parts = tf.dynamic_partition(x, p, 3)
            y = tf.dynamic_stitch(places, [a * float(i + 1) for i, a in enumerate(parts)])
        assert y.dtype == tf.float32
        return y, tape.gradient(y, x)

    x, p = tf.constant([1.0, 2.0, 3.0, 4.0]), tf.constant([2, 0, 1, 0])
    staged = tf.function(slope)
    for function in (slope, staged, staged, staged):
        y, grad = function(x, p)
        assert y.numpy().tolist() == [3.0, 2.0, 6.0, 4.0]
        assert grad.numpy().tolist() == [3.0, 1.0, 2.0, 1.0]


def test_what_was_not_watched_has_no_gradient():
    """Though it is an operand of what is recorded; as a target it is its own derivative."""
    variable, inner = tf.Variable(2.0), tf.function(lambda a, b: a * b)
    n = tf.constant(2)
    ways = {
        "product": lambda x: x * variable,
        "call": lambda x: inner(x, variable),
        "choice": lambda x: tf.cond(n > 0, lambda: x * variable, lambda: x),
        "loop": lambda x: tf.while_loop(
            lambda i, _: i < n, lambda i, y: (i + 1, y * variable), (0, x)
        )[1],
    }
    for way in ways.values():

        def slopes(x, way=way):
            with tf.GradientTape(persistent=True) as tape:
                y = way(x)
            assert tape.gradient(y, x) is None
            assert tape.jacobian(y, x) is None
            assert float(tape.gradient(x, x) if tf.executing_eagerly() else 1.0) == 1.0
            return tape.gradient(y, variable)

        for function in (slopes, tf.function(slopes)):
            assert float(function(tf.constant(3.0))) == (12.0 if way is ways["loop"] else 3.0)


@pytest.mark.parametrize(
    "function",
    [
        tf.nn.relu,
        tf.nn.leaky_relu,
        tf.nn.crelu,
        tf.nn.relu6,
        lambda x: tf.nn.max_pool1d(x[None, :, None], 2, 2, "VALID"),
    ],
    ids=["relu", "leaky_relu", "crelu", "relu6", "max_pool"],
)
def test_slopes_of_steps_are_zeros_and_not_none(function):
    x = tf.constant([1.0, -2.0, 3.0, 4.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(function(x))
        slope = inner.gradient(y, x)
    assert outer.jacobian(slope, x).numpy().tolist() == np.zeros((4, 4)).tolist()
