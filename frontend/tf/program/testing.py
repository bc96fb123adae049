"""`tf.test`: test cases that know tensors."""

from __future__ import annotations

import atexit
import os
import random
import tempfile
import threading
import unittest
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import IO, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from ....ir.types.tensor import Array
from ...formats.messages import ConfigProto, Proto, alike, parsed, shown
from ...graph.graph import GraphTensor, Operation
from ...values.context import STATE, default_session, entered
from ...values.devices import list_devices, parse_device
from ...values.run_errors import OpError
from ..core.bridge import TfTensor
from ..core.nested import flatten
from ..core.space import Space
from ..core.values import convert
from ..graph.sessions import Session, reset_default_graph
from ..graph.state import DEFAULT, TfGraph, get_default_graph, placeholder
from ..runs.seeds import set_seed
from . import gradient_checker as first
from .benchmarks import Benchmark
from .gradient_checker import numbers
from .more_assertions import MoreAssertions

SEED = 87654321
Bound: TypeAlias = float | Array


@runtime_checkable
class HasRows(Protocol):
    """A ragged tensor, or its value."""

    @property
    def ragged_rank(self) -> int:
        """Return how many of its axes are ragged."""

    @property
    def flat_values(self) -> object:
        """Return the elements of all rows."""

    def to_list(self) -> list[object]:
        """Return its rows as lists."""


class Captured:
    """What has been written to a stream so far."""

    def __init__(self, stream: IO[str], file: IO[bytes]) -> None:
        self._stream, self._file, self._text = stream, file, ""

    def contents(self) -> str:
        """Return it as text."""
        if not self._file.closed:
            self._stream.flush()
            self._file.seek(0)
            self._text = self._file.read().decode()
        return self._text


class CheckedThread:
    """A thread of a test: what it raises fails the test where it is joined."""

    def __init__(self, case: unittest.TestCase, target: Callable[[], object]) -> None:
        self._case, self._target = case, target
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._error: BaseException | None = None

    def _run(self) -> None:
        try:
            self._target()
        except BaseException as error:  # it is raised where it is joined
            self._error = error

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def join(self) -> None:
        """Wait for the end; fail if it was an error."""
        self._thread.join()
        if self._error is not None:
            self._case.fail(f"Error in checkedThread: {self._error}")

    def is_alive(self) -> bool:
        """Say whether it runs."""
        return self._thread.is_alive()


def _of_tests(config: object) -> object:
    """Return what a session of a test is configured with: its devices need not be there."""
    return ConfigProto(allow_soft_placement=True) if config is None else config


class SessionAtOnce:
    """Stands for a test's session where operations run at once: what it runs is computed."""

    def __init__(self, case: TestCase) -> None:
        self._case = case

    @property
    def graph(self) -> TfGraph:
        """Return the graph that operations would go to."""
        return get_default_graph()

    def run(self, fetches: object, feed_dict: Mapping[object, object] | None = None) -> object:
        """Return values as arrays; nothing can be fed."""
        if feed_dict:
            raise RuntimeError("feed_dict is not supported when eager execution is enabled")
        return self._case.evaluate(fetches)


class TestCase(MoreAssertions):
    """A test in a graph of its own, with the same seeds each time."""

    __test__ = False
    _cached: Session | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__test__ = True

    def setUp(self) -> None:
        """Begin with a new default graph and the seeds of all tests."""
        super().setUp()
        random.seed(SEED)
        np.random.seed(SEED)
        reset_default_graph()
        set_seed(SEED)
        DEFAULT[0].seed = SEED
        self._cached = None

    def tearDown(self) -> None:
        """End the session that was kept, and forget the seed."""
        if self._cached is not None:
            self._cached.close()
        set_seed(None)
        super().tearDown()

    def get_temp_dir(self) -> str:
        """Return a folder for the files of this test."""
        if not hasattr(self, "_folder"):  # it stays till the process ends: others may be inside
            self._folder = tempfile.TemporaryDirectory()
            atexit.register(self._folder.cleanup)
        return self._folder.name

    @contextmanager
    def session(
        self,
        graph: object = None,
        config: object = None,
        use_gpu: bool = True,
        force_gpu: bool = False,
    ) -> Iterator[Session | SessionAtOnce]:
        """Give a session on a graph, or what stands for one where operations run at once."""
        if STATE.context is None:
            yield SessionAtOnce(self)
            return
        with Session(graph=graph or get_default_graph(), config=_of_tests(config)) as made:
            yield made

    @contextmanager
    def cached_session(
        self,
        graph: object = None,
        config: object = None,
        use_gpu: bool = True,
        force_gpu: bool = False,
    ) -> Iterator[Session | SessionAtOnce]:
        """Give the one session of the test."""
        if STATE.context is None:
            yield SessionAtOnce(self)
            return
        if self._cached is None:
            home = graph or get_default_graph()
            self._cached = Session(graph=home, config=_of_tests(config))
        with entered(self._cached.graph), self._cached.as_default():
            yield self._cached

    def test_session(
        self, *args: Any, **options: Any
    ) -> AbstractContextManager[Session | SessionAtOnce]:
        """Return `cached_session`, by its older name; it is no test."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        return self.cached_session(*args, **options)

    def evaluate(self, tensors: object) -> Any:
        """Return values as arrays, by a session of the graph that is entered, or at once."""
        session = default_session()
        if STATE.context is None:
            there = session or self._cached
            if there is not None and any(
                map(_is_symbolic, flatten(tensors, expand_composites=True))
            ):
                return there.run(tensors)  # a thread of a test in a graph
            return self._plain(tensors)
        if session is not None:
            return session.run(tensors)
        with self.cached_session() as kept:
            return kept.run(tensors)

    def _plain(self, value: object) -> Any:
        if isinstance(value, Mapping):
            return {k: self._plain(v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            made = [self._plain(v) for v in value]
            return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
        of_parts = getattr(value, "fetched", None)
        if of_parts is not None:  # several tensors: what a session gives for them
            return of_parts([self._plain(x) for x in getattr(value, "fetched_parts", ())])
        return value.numpy() if hasattr(value, "numpy") else value

    def _array(self, value: object) -> Array:
        """Return a value as an array; tensors of a graph, also within lists, are evaluated."""
        if _is_of_graph(value):
            value = self.evaluate(value)
        elif isinstance(value, list | tuple) and any(map(_is_of_graph, value)):
            value = [self._array(x) for x in value]
        whole = getattr(value, "numpy", None) if hasattr(value, "fetched") else None
        return np.asarray(self._plain(value) if whole is None else whole())

    @contextmanager
    def captureWritesToStream(self, stream: IO[str]) -> Iterator[Captured]:
        """Give what is written to a stream of the process meanwhile, by Python or beside it."""
        stream.flush()
        number = stream.fileno()
        kept = os.dup(number)
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), number)
            found = Captured(stream, file)
            try:
                yield found
            finally:
                found.contents()
                os.dup2(kept, number)
                os.close(kept)

    def checkedThread(
        self,
        target: Callable[..., object],
        args: Iterable[object] | None = None,
        kwargs: Mapping[str, object] | None = None,
    ) -> CheckedThread:
        """Return a thread whose errors are those of the test once it is joined."""
        return CheckedThread(self, lambda: target(*(args or ()), **(kwargs or {})))

    def _rows(self, value: object) -> object:
        """Return a value, which may be ragged, as lists of numbers or bytes."""
        if isinstance(value, list | tuple):
            return [self._rows(x) for x in value]
        if isinstance(value, bytes):
            return value  # numpy's texts have no zeros at their end
        if isinstance(value, HasRows):
            symbolic = isinstance(value.flat_values, TfTensor) and not value.flat_values.eager
            found = self.evaluate(value) if symbolic else value
            return found.to_list() if isinstance(found, HasRows) else found
        return self._array(value).tolist()

    def assertAllClose(
        self,
        a: object,
        b: object,
        rtol: float | Array = 1e-6,
        atol: float | Array = 1e-6,
        msg: str | None = None,
    ) -> None:
        """Fail unless two structures of numbers are close."""
        self._require_close(a, b, self._array(rtol), self._array(atol), msg or "")

    def _require_close(self, a: object, b: Any, rtol: Array, atol: Array, msg: str) -> None:
        """Fail as `assertAllClose`, which a class may have replaced by one that calls this."""
        if isinstance(a, Mapping):
            self.assertEqual(set(a), set(b), msg)
            for key in a:
                self._require_close(a[key], b[key], rtol, atol, f"at {key}: {msg}")
            return
        if isinstance(a, HasRows) or isinstance(b, HasRows):
            self._require_close(self._rows(a), self._rows(b), rtol, atol, msg)
            return
        if isinstance(a, list | tuple) and _is_ragged(a):
            self.assertEqual(len(a), len(b), msg)
            for x, y in zip(a, b, strict=True):
                self._require_close(x, y, rtol, atol, msg)
            return
        x, y = self._array(a), self._array(b)
        self.assertEqual(x.shape, y.shape, f"Shape mismatch: {x.shape}, {y.shape}. {msg}")
        half = np.float16 in (x.dtype, y.dtype) or "bfloat16" in (x.dtype.name, y.dtype.name)
        if half:
            rtol, atol = np.maximum(rtol, 1e-3), np.maximum(atol, 1e-3)
            x, y = x.astype(np.float64), y.astype(np.float64)
        if rtol.ndim or atol.ndim:  # what numpy's own check cannot print
            close = np.isclose(x, y, rtol=rtol, atol=atol, equal_nan=True)
            self.assertTrue(close.all(), f"not close: {x[~close]}, {y[~close]}. {msg}")
            return
        np.testing.assert_allclose(
            x, y, rtol=float(rtol), atol=float(atol), err_msg=msg, equal_nan=True
        )

    def assertAllCloseAccordingToType(
        self,
        a: object,
        b: object,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """Fail unless numbers are as close as their type allows."""
        x, y = self._array(a), self._array(b)
        names = {x.dtype.name, y.dtype.name}
        for kind, (relative, absolute) in {
            "float32": (float_rtol, float_atol),
            "complex64": (float_rtol, float_atol),
            "float16": (half_rtol, half_atol),
            "bfloat16": (bfloat16_rtol, bfloat16_atol),
        }.items():
            if kind in names:
                rtol, atol = max(rtol, relative), max(atol, absolute)
        self.assertAllClose(x, y, rtol, atol, msg)

    def assertNotAllClose(self, a: object, b: object, **options: Any) -> None:
        """Fail if two structures of numbers are close."""
        with self.assertRaises(AssertionError):
            self.assertAllClose(a, b, **options)

    def assertAllEqual(self, a: object, b: object, msg: str | None = None) -> None:
        """Fail unless two arrays, or rows of as many levels, are the same."""
        if isinstance(a, HasRows) or isinstance(b, HasRows):
            self.assertEqual(self._rows(a), self._rows(b), msg)
            if not isinstance(a, list | tuple) and not isinstance(b, list | tuple):
                levels = [x.ragged_rank if isinstance(x, HasRows) else 0 for x in (a, b)]
                self.assertEqual(levels[0], levels[1], msg)
            return
        x, y = _texts(self._array(a)), _texts(self._array(b))
        self.assertEqual(x.shape, y.shape, f"Shape mismatch: {x.shape}, {y.shape}. {msg or ''}")
        np.testing.assert_array_equal(x, y, err_msg=msg or "")

    def assertNotAllEqual(self, a: object, b: object, msg: str | None = None) -> None:
        """Fail if two arrays are the same."""
        with self.assertRaises(AssertionError, msg=msg):
            self.assertAllEqual(a, b)

    def assertProtoEquals(
        self,
        expected_message_maybe_ascii: Proto | str | bytes,
        validate_message: Proto,
        msg: str | None = None,
        relative_tolerance: float | None = None,
    ) -> None:
        """Fail unless a message is another one, or what a text describes.

        With a tolerance, floats may differ by that share of the expected one.
        """
        expected = expected_message_maybe_ascii
        if isinstance(expected, str | bytes):
            expected = parsed(expected, type(validate_message))
        self.assertIs(type(expected), type(validate_message), msg)
        same = expected == validate_message or (
            relative_tolerance is not None and alike(expected, validate_message, relative_tolerance)
        )
        self.assertTrue(same, f"{shown(validate_message)}\nis not\n{shown(expected)} {msg or ''}")

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Fail unless two numbers differ by less."""
        same = f1 == f2 or abs(f1 - f2) <= err
        self.assertTrue(same, f"{f1} != {f2} +/- {err} {msg or ''}")

    def assertArrayNear(
        self, farray1: Sequence[float], farray2: Sequence[float], err: float, msg: str | None = None
    ) -> None:
        """Fail unless the numbers of two lists differ by less."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for x, y in zip(farray1, farray2, strict=True):
            self.assertNear(float(x), float(y), err, msg)

    def assertNDArrayNear(
        self, ndarray1: object, ndarray2: object, err: float, msg: str | None = None
    ) -> None:
        """Fail unless the norm of a difference is less."""
        norm = np.linalg.norm(self._array(ndarray1) - self._array(ndarray2))
        self.assertTrue(norm < err, f"{ndarray1} != {ndarray2} +/- {err} {msg or ''}")

    def _all(self, values: object, holds: Callable[[Array], object], what: str) -> None:
        array = self._array(values)
        kept = np.asarray(holds(array))
        self.assertTrue(kept.all(), f"{array[~kept][:5]} {what}")

    def assertAllGreater(self, a: object, comparison_target: Bound) -> None:
        """Fail unless all elements are greater."""
        self._all(a, lambda x: x > comparison_target, f"not > {comparison_target}")

    def assertAllGreaterEqual(self, a: object, comparison_target: Bound) -> None:
        """Fail unless no element is less."""
        self._all(a, lambda x: x >= comparison_target, f"not >= {comparison_target}")

    def assertAllLess(self, a: object, comparison_target: Bound) -> None:
        """Fail unless all elements are less."""
        self._all(a, lambda x: x < comparison_target, f"not < {comparison_target}")

    def assertAllLessEqual(self, a: object, comparison_target: Bound) -> None:
        """Fail unless no element is greater."""
        self._all(a, lambda x: x <= comparison_target, f"not <= {comparison_target}")

    def assertAllInRange(
        self,
        target: object,
        lower_bound: Bound,
        upper_bound: Bound,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Fail unless all elements are between two bounds."""
        (self.assertAllGreater if open_lower_bound else self.assertAllGreaterEqual)(
            target, lower_bound
        )
        (self.assertAllLess if open_upper_bound else self.assertAllLessEqual)(target, upper_bound)

    def assertAllInSet(self, target: object, expected_set: Iterable[object]) -> None:
        """Fail unless all elements are in a set."""
        strange = set(np.unique(self._array(target)).tolist()) - set(expected_set)
        self.assertFalse(strange, f"{strange} not in {expected_set}")

    def assertShapeEqual(
        self, input_a: Array | TfTensor, input_b: Array | TfTensor, msg: str | None = None
    ) -> None:
        """Fail unless shapes are equal."""
        self.assertEqual(list(input_a.shape), list(input_b.shape), msg)

    def assertDTypeEqual(self, target: object, expected_dtype: np.typing.DTypeLike) -> None:
        """Fail unless elements are of a type."""
        self.assertEqual(self._array(target).dtype, np.dtype(expected_dtype))

    def assertDeviceEqual(self, device1: object, device2: object, msg: str | None = None) -> None:
        """Fail unless two names of devices are equal."""
        names = [str(parse_device(str(device or ""))) for device in (device1, device2)]
        self.assertEqual(names[0], names[1], msg)

    def assertStartsWith(self, actual: str, expected_start: str, msg: object = None) -> None:
        """Fail unless a text begins with another one."""
        self.assertTrue(actual.startswith(expected_start), msg or f"{actual!r}: {expected_start!r}")

    def assertEmpty(self, container: Sequence[object], msg: str | None = None) -> None:
        """Fail if something is inside."""
        self.assertEqual(len(container), 0, msg)

    def assertNotEmpty(self, container: Sequence[object], msg: str | None = None) -> None:
        """Fail if nothing is inside."""
        self.assertNotEqual(len(container), 0, msg)

    def assertLen(self, container: Sequence[object], length: int, msg: str | None = None) -> None:
        """Fail unless so many are inside."""
        self.assertEqual(len(container), length, msg)

    @contextmanager
    def assertRaisesWithPredicateMatch(
        self, exception_type: Any, expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """Fail unless an error of a type is raised for which something holds."""
        wanted = expected_err_re_or_predicate
        if not callable(wanted):
            with self.assertRaisesRegex(exception_type, wanted):
                yield
            return
        with self.assertRaises(exception_type) as caught:
            yield
        self.assertTrue(wanted(caught.exception), f"not expected: {caught.exception}")

    def assertRaisesOpError(
        self, expected_err_re_or_predicate: object
    ) -> AbstractContextManager[None]:
        """Fail unless an operation fails with a message."""
        return self.assertRaisesWithPredicateMatch(OpError, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(
        self, exception_type: object = OpError, **_: object
    ) -> AbstractContextManager[None]:
        """Fail unless shapes are said not to fit together."""
        pattern = "shapes|Shapes|shape|Dimensions"
        return self.assertRaisesWithPredicateMatch(exception_type, pattern)


def _is_symbolic(value: object) -> bool:
    """Say whether a value is a graph's, which a session gives."""
    return isinstance(value, GraphTensor | Operation)


def _is_of_graph(value: object) -> bool:
    """Say whether a value is to be evaluated: a tensor of a graph, or a variable."""
    return isinstance(value, GraphTensor) or hasattr(value, "__gv_tensor__")


def _is_ragged(value: Sequence[Any]) -> bool:
    """Say whether a list holds lists of several lengths, or texts by name."""
    if any(isinstance(x, Mapping) for x in value):
        return True
    if any(isinstance(x, list | tuple) and _is_ragged(x) for x in value):
        return True
    shapes = {np.shape(x) if not hasattr(x, "shape") else tuple(x.shape) for x in value}
    return len(shapes) > 1


def _texts(array: Array) -> Array:
    """Return an array of text as one of bytes."""
    if array.dtype.kind not in "UO":
        return array
    flat = [x.encode() if isinstance(x, str) else x for x in array.ravel().tolist()]
    made = np.empty(array.shape, object)
    made.ravel()[:] = flat
    return made.reshape(array.shape)


def compute_gradient(
    f: Callable[..., TfTensor], x: Sequence[object], delta: float | None = None
) -> tuple[list[Array], list[Array]]:
    """Return the matrices of slopes of a function: as gradients give them, and by differences.

    Real and imaginary part of a complex number are two numbers.
    """
    arrays = [_elements(v) for v in x]
    step = delta or 1.0 / 1024
    if STATE.context is not None:
        return _in_graph(f, arrays, step)
    return (
        [_slopes(f, arrays, i) for i in range(len(arrays))],
        [_differences(f, arrays, i, step) for i in range(len(arrays))],
    )


def _elements(value: object) -> Array:
    """Return the elements of a value; those of a graph's tensor are from its session."""
    session = default_session()
    if isinstance(value, GraphTensor) and session is not None:
        return np.array(session.run(value), order="C")
    with entered(None):
        return np.array(convert(value).numpy(), order="C")


def _in_graph(
    f: Callable[..., TfTensor], arrays: Sequence[Array], step: float
) -> tuple[list[Array], list[Array]]:
    """Return the matrices of slopes of what a function makes in a graph, by its session."""
    session = default_session()
    if not isinstance(session, Session):
        raise ValueError("compute_gradient needs a default session in a graph")
    given = [placeholder(array.dtype, array.shape) for array in arrays]
    feeds: dict[object, object] = dict(zip(given, arrays, strict=True))
    found = f(*given)
    assert isinstance(found, GraphTensor), "a function of tensors of a graph gives one"
    shape = np.shape(session.run(found, feeds))
    points = [first.Point(session, x, a, feeds) for x, a in zip(given, arrays, strict=True)]
    return (
        [point.exact(found, shape).T for point in points],
        [point.differences(found, shape, step).T for point in points],
    )


def _slopes(f: Callable[..., TfTensor], arrays: Sequence[Array], place: int) -> Array:
    """Return what gradients give: each row is that of one number of the result."""
    from ..graph.flow import GradientTape  # noqa: PLC0415

    given = [convert(a) for a in arrays]
    with GradientTape(persistent=True) as tape:
        tape.watch(given[place])
        found = f(*given)
    row = np.zeros(found.numpy().shape, found.dtype.as_numpy_dtype)
    parts = numbers(arrays[place])
    made = np.zeros((numbers(row).size, parts.size), parts.dtype)
    if not len(made):
        slope = tape.gradient(found, given[place], output_gradients=convert(row))
        first.check_empty(arrays[place], arrays[place] if slope is None else convert(slope).numpy())
    for at in range(len(made)):
        numbers(row)[at] = 1
        slope = tape.gradient(found, given[place], output_gradients=convert(row.copy()))
        made[at] = 0 if slope is None else numbers(convert(slope).numpy())
        numbers(row)[at] = 0
    return made


def _differences(
    f: Callable[..., TfTensor], arrays: Sequence[Array], place: int, step: float
) -> Array:
    columns = []
    for at in range(numbers(arrays[place]).size):
        ends = []
        for sign in (1, -1):
            moved = [a.copy() for a in arrays]
            numbers(moved[place])[at] += sign * step
            found = f(*[convert(a) for a in moved]).numpy()
            ends.append(numbers(np.asarray(found)).astype(np.float64))
        columns.append((ends[0] - ends[1]) / (2 * step))
    made = np.stack(columns, 1) if columns else np.zeros((0, 0))
    return made.astype(numbers(arrays[place]).dtype)


def gpu_device_name() -> str:
    """Return the name of the first GPU, an empty text if there is none."""
    found = [str(name) for name in list_devices() if "gpu" in str(name).lower()]
    return f"/device:GPU:{found[0].rpartition(':')[2]}" if found else ""


def main(argv: list[str] | None = None) -> None:
    """Run the tests of the main module."""
    unittest.main(argv=argv)


def _mock() -> object:
    from unittest import mock  # noqa: PLC0415  (it imports asyncio)

    return mock


SHARED: dict[str, object] = {
    "TestCase": TestCase,
    "Benchmark": Benchmark,
    "main": main,
    "gpu_device_name": gpu_device_name,
    "get_temp_dir": tempfile.mkdtemp,
    "is_gpu_available": lambda *_, **__: bool(gpu_device_name()),
    "is_built_with_cuda": lambda: bool(gpu_device_name()),
    "is_built_with_gpu_support": lambda: bool(gpu_device_name()),
    "is_built_with_rocm": lambda: False,
    "is_built_with_xla": lambda: False,
    "is_cpu_target_available": lambda target: target == "x86_64",
}
"""What both versions have."""
LATER = {"mock": _mock}
test = Space("test", LATER, compute_gradient=compute_gradient, **SHARED)
first_test = Space(
    "compat.v1.test",
    LATER,
    compute_gradient=first.compute_gradient,
    compute_gradient_error=first.compute_gradient_error,
    **SHARED,
)
