"""Every operation a function can hold is compiled and equal to itself at once, for any shapes.

All operations times their samples times what a function is told of its arguments: their sizes,
only their ranks, or nothing; and the gradient of each.
"""

import contextlib
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "ir"))
import test_ops as judge

import gravure as gv
import gravure.tf as tf
from gravure.frontend.eager.kernels import OperandError
from gravure.frontend.eager.tensor import apply
from gravure.ir import REGISTRY, Array, Op
from gravure.ir.host import HostOp
from gravure.ir.types.dtypes import f64

FORMS = (pytest.param("fixed", marks=pytest.mark.sweep), "open", "rank")
MADE_BY_PASSES = "gravure.ir.ops.laid_out."
"""Operations on weights that passes lay out: their sizes are numbers."""
IN_THE_KEY = {"gv.random_bits"}
"""Operations whose operand is a key, of one size."""
NARROW = ("i4", "u4")
"""Element types that tensors do not have."""
OPEN_REFUSED = {"gv.reshape": "into a shape of numbers: the facade asks for elements instead"}
"""Operations that are refused by name where sizes are open, and why."""

SKIPPED = {"gv.gather": 1}
"""Samples that have no gradient of TensorFlow's: an index that is out of range is clamped there."""


def operations() -> Iterator[type[Op]]:
    for _, op in sorted(REGISTRY.items()):
        outside = issubclass(op, HostOp) or op.__module__.startswith(MADE_BY_PASSES)
        if op.LEVEL == "graph" and op.SAMPLES and not outside and op.name not in IN_THE_KEY:
            yield op


def cases(op: type[Op]) -> list[judge.Case]:
    found = [judge.Case(op, n, sample.dtypes[0]) for n, sample in enumerate(op.SAMPLES)]
    return [c for c in found if c.sample.shapes and c.dtype.name not in NARROW]


def described(x: Array, form: str) -> tf.TensorSpec:
    """Return what a function is told of an argument."""
    shapes = {"fixed": x.shape, "open": [None] * x.ndim, "rank": None}
    return tf.TensorSpec(shapes[form], tf.as_dtype(x.dtype))


def staged(function: Any, given: list[Array], form: str) -> Any:
    """Return a function of arguments that are described so."""
    names = ", ".join(f"v{i}" for i in range(len(given)))
    plain = eval(f"lambda {names}: function({names})", {"function": function})
    signature = [described(x, form) for x in given]
    return tf.function(plain, input_signature=signature, autograph=False)


def run(function: Any, given: list[Array]) -> list[Array]:
    """Return the results of the third call; all of it is compiled, or there is a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", gv.PerformanceWarning)
        for _ in range(3):
            made = function(*[tf.constant(x) for x in given])
    slow = [line for line in function.explain() if "not compiled" in line or "by Python" in line]
    assert not slow
    return [x.numpy() for x in (made if isinstance(made, tuple | list) else [made])]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("op", list(operations()), ids=lambda op: op.name.removeprefix("gv."))
def test_any_operation_is_compiled_for_what_comes(op: type[Op], form: str) -> None:
    for case in cases(op):
        given = case.draw()
        kept = case.sample.attributes
        function = staged(lambda *xs, kept=kept: apply(op, *xs, **kept), given, form)
        if op.name in OPEN_REFUSED and form != "fixed":
            with contextlib.suppress(OperandError):
                run(function, given)
            continue
        found = run(function, given)
        judge.assert_close(found, case.evaluate(given), tolerance=case.sample.tolerance)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "op",
    [op for op in operations() if any(map(judge.is_smooth, cases(op)))],
    ids=lambda op: op.name.removeprefix("gv."),
)
def test_any_gradient_is_compiled_for_what_comes(op: type[Op], form: str) -> None:
    if op.name in OPEN_REFUSED and form != "fixed":
        pytest.skip(OPEN_REFUSED[op.name])
    smooth = next(c for c in cases(op)[SKIPPED.get(op.name, 0) :] if judge.is_smooth(c))
    case = judge.Case(op, smooth.number, f64)
    given, weights = case.draw(), judge.result_weights(case)
    wanted = case.op.gradient(case.call(given, case.evaluate(given), judge.EagerEmit()), *weights)
    places = [i for i, x in enumerate(given) if x.dtype == np.float64 and wanted[i] is not None]
    if not places:
        pytest.skip("nothing depends on the operands smoothly")
    function = staged(slopes(case, places, weights), given, form)
    for found, i in zip(run(function, given), places, strict=True):
        np.testing.assert_allclose(found, wanted[i], rtol=1e-6, atol=1e-9)


def slopes(case: judge.Case, places: list[int], weights: list[Any]) -> Any:
    """Return the function that gives gradients for the operands at some places."""

    def function(*xs: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([xs[i] for i in places])
            made = apply(case.op, *xs, **case.sample.attributes)
            results = list(made) if isinstance(made, tuple | list) else [made]
        pairs = [(y, w) for y, w in zip(results, weights, strict=True) if w is not None]
        found = tape.gradient(
            [y for y, _ in pairs], [xs[i] for i in places],
            output_gradients=[tf.constant(w) for _, w in pairs],
        )  # fmt: skip
        return [tf.convert_to_tensor(x) for x in found]

    return function
