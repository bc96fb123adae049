"""Contexts: who carries operations out, and who sees them; rows A1 and A6 in part, I18."""

import contextlib
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure.frontend.eager.tensor import apply
from gravure.frontend.values import nest
from gravure.frontend.values.context import (
    STATE,
    Context,
    Use,
    accessed,
    entered,
    record,
    recording,
    unrecorded,
)
from gravure.frontend.values.origin import user_line
from gravure.ir import interpret, spec, spec_of_array
from gravure.ir.build import SOURCE
from gravure.ir.families import Unary
from gravure.ir.types import dtypes

sys.path.insert(0, str(Path(__file__).parent))
from traced_blocks import Trace


class Log:
    """Keeps what it sees."""

    def __init__(self) -> None:
        self.uses: list[Use] = []
        self.variables: list[Any] = []

    def record(self, use: Use) -> None:
        self.uses.append(use)

    def accessed(self, variable: Any) -> None:
        self.variables.append(variable)

    def knows(self, value: Any) -> bool:
        return False


class Counter(Context):
    """A context that counts, and gives its operands back."""

    is_open = True

    def __init__(self) -> None:
        self.names: list[str] = []

    def apply(self, op: Any, operands: Sequence[Any], attributes: dict[str, Any]) -> Any:
        self.names.append(op.name)
        return operands[0]

    def convert(self, value: Any, dtype: Any = None) -> Any:
        return value


def test_without_a_context_operations_run() -> None:
    assert gv.executing_eagerly()
    assert STATE.context is None
    assert (gv.ones(2) + 1).tolist() == [2.0, 2.0]


def test_the_present_context_carries_operations_out() -> None:
    counter = Counter()
    with entered(counter):
        assert not gv.executing_eagerly()
        gv.exp(gv.asarray([1.0]) * 2.0)
    assert counter.names == ["gv.mul", "gv.exp"]
    assert gv.executing_eagerly()


def test_contexts_end_when_an_error_leaves_them() -> None:
    with pytest.raises(KeyError), entered(Counter()):
        raise KeyError
    assert not STATE.busy


def test_i18_inside_of_a_context_values_can_be_computed() -> None:
    trace = Trace("function 'f'")
    with entered(trace):
        x = trace.argument("x", spec(dtypes.f32, 2))
        with entered(None):
            two = gv.ones(2) + 1
            assert gv.executing_eagerly()
        assert two.tolist() == [2.0, 2.0]
        y = x * two
    (found,) = interpret(trace.finish("f", {"y": y}), [np.array([3, 4], np.float32)])
    assert found.tolist() == [6.0, 8.0]


def test_other_threads_have_no_context() -> None:
    seen: list[bool] = []
    with entered(Counter()):
        thread = threading.Thread(target=lambda: seen.append(gv.executing_eagerly()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_recorders_see_operations_of_their_frame() -> None:
    log, x = Log(), gv.ones(2)
    with recording(log):
        y = gv.sum(x, axis=0)
        with entered(Counter()):
            gv.exp(x)
        with unrecorded():
            gv.exp(x)
        record("own", [x], [y], None)
        accessed("v")
    gv.exp(x)
    assert [use.name for use in log.uses] == ["gv.sum", "own"]
    assert log.uses[0].operands == (x,)
    assert log.uses[0].results == (y,)
    assert log.uses[0].attributes == {"axes": (0,), "keepdims": False}
    assert log.variables == ["v"]


def test_an_open_context_takes_operations_on_its_tensors_from_outside() -> None:
    trace = Trace("graph")
    trace.is_open = trace.is_default = True
    x = trace.argument("x", spec(dtypes.f32, 2))
    y = gv.exp(x) + gv.ones(2)
    (found,) = interpret(trace.finish("f", {"y": y}), [np.zeros(2, np.float32)])
    assert found.tolist() == [2.0, 2.0]


def test_a1_operations_of_a_trace_know_the_line_they_come_from() -> None:
    trace = Trace("function 'f'")
    with entered(trace):
        y = gv.exp(trace.argument("x", spec(dtypes.f32, 2)))
    (op,) = trace.block.ops
    line = test_a1_operations_of_a_trace_know_the_line_they_come_from.__code__.co_firstlineno + 3
    assert str(op.attributes[SOURCE]).endswith(f'test_context.py:{line}"')
    assert y.source.endswith(f"test_context.py:{line}")


def test_a_trace_captures_a_value_once() -> None:
    trace, two = Trace("function 'f'"), gv.asarray(2.0)
    with entered(trace):
        x = trace.argument("x", spec(dtypes.f32, 2))
        y = x * two + two
    trace.finish("f", {"y": y})
    assert [op.name for op in trace.block.ops] == ["gv.constant", "gv.mul", "gv.add", "func.return"]


def test_a_trace_converts_values() -> None:
    trace = Trace("function 'f'")
    x = trace.convert([1, 2], dtypes.f32)
    assert not x.eager
    assert x.spec == spec(dtypes.f32, 2)


def test_a6_an_operation_from_elsewhere_is_used_like_ours() -> None:
    class Double(Unary):
        """Twice each element."""

        name = "test.double"

        @classmethod
        def formula(cls, x: Any) -> Any:
            return x + x

        @classmethod
        def backward(cls, grad: Any, y: Any, x: Any) -> Any:
            return (grad * 2.0,)

    x = gv.asarray([1.0, 3.0])
    with gv.GradientTape() as tape:
        tape.watch(x)
        y = apply(Double, x)
    assert y.tolist() == [2.0, 6.0]
    assert tape.gradient(y, x).tolist() == [2.0, 2.0]
    trace = Trace("function 'f'")
    with entered(trace):
        z = apply(Double, trace.argument("x", spec_of_array(x.numpy())))
    (found,) = interpret(trace.finish("f", {"z": z}), [x.numpy()])
    assert found.tolist() == [2.0, 6.0]


def test_structures_are_taken_apart_and_put_together() -> None:
    value = {"a": 1, "b": [2, (3, None)]}
    assert nest.flatten(value) == [1, 2, 3, None]
    assert nest.pack(value, "wxyz") == {"a": "w", "b": ["x", ("y", "z")]}
    assert nest.map_structure(lambda x, y: x + y, [1, (2,)], [10, (20,)]) == [11, (22,)]


def test_a_decorator_in_between_is_not_the_users_line() -> None:
    @contextlib.contextmanager
    def nothing() -> Iterator[None]:
        yield

    assert nothing()(user_line)().startswith(f"{__file__}:")
