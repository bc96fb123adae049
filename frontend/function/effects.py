"""What a function does beside its operations while it is traced: once, and not in each run.

    with Watch(function, arguments) as watch: ...             # the Python of the function
    watch.found                                               # effects, each with its line

Each line of the user's program is looked at before the next is run: whether random numbers were
drawn, and whether what the function can reach (globals, closures, arguments and their attributes)
is another than before. Calls of clocks and files are seen as they happen.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

from ...ir.types.tensor import Array
from ...runtime.compare import Tolerance, compare
from ..eager.tensor import Tensor
from ..graph.frame import Owner
from ..graph.func_graph import FuncGraph
from ..graph.graph import GraphTensor
from ..values import nest
from ..values.origin import OURS, short
from .variable import Variable

DEPTH = 3
"""How far into containers and objects is looked."""
LARGEST = 1 << 16
"""Bytes of an array up to which it is compared."""
CLOCKS = frozenset(("time", "time_ns", "monotonic", "perf_counter", "now", "today", "utcnow"))
FILES = frozenset(("open", "input"))
LIBRARY = os.path.dirname(os.__file__)


@dataclass(frozen=True)
class Effect:
    """Something that a trace does once, where each call of the Python would do it."""

    kind: str
    """`random`, `time`, `file`, `print`, `mutation`, `leak`, `retrace` or `result`."""
    line: str
    message: str
    mending: str

    def __str__(self) -> str:
        return f"{self.line}: {self.message}; {self.mending}"


MENDING = {
    "random": "draw by gravure.tf.random, or pass the numbers as an argument",
    "time": "pass the time as an argument, or use gravure.tf.timestamp()",
    "file": "read it before, and pass what was read as an argument",
    "print": "gravure.tf.print prints in each run",
    "leak": "return it from the function",
    "result": "look for values of Python that are others in each call",
    "mutation": "return what changes, or keep it in a Variable",
}
SAID = {
    "random": "a random number is drawn while the function is traced, and is the same in each run",
    "time": "a clock is read while the function is traced, and gives the same in each run",
    "file": "a file is read while the function is traced, and not in each run",
    "print": "this is printed while the function is traced, and not in each run",
}


@dataclass
class Watch:
    """Looks on while a function is traced."""

    function: Callable[..., object]
    arguments: Mapping[str, object]
    found: list[Effect] = field(default_factory=list)
    line: str = ""
    """The line of the user's program that is run now."""

    def __enter__(self) -> Watch:
        self.reached = dict(reachable(self.function, self.arguments))
        self.last, self.drawn = self.look(), _draws(self.reached)
        self.before = sys.gettrace(), sys.getprofile()
        sys.settrace(self.trace)
        sys.setprofile(self.profile)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self.before[0])
        sys.setprofile(self.before[1])
        self.compare()

    def trace(self, frame: FrameType, event: str, _: object) -> TraceFunction | None:
        """Look at what the line before has done, when one of the user's begins."""
        if not is_of_user(frame):
            return None
        if event in ("line", "return"):
            self.compare()
        if event == "line":
            self.line = f"{short(frame.f_code.co_filename)}:{frame.f_lineno}"
        return self.trace

    def profile(self, frame: FrameType, event: str, called: object) -> None:
        """See calls of clocks, files and print."""
        if event != "c_call" or not is_of_user(frame):
            return
        name, module = getattr(called, "__name__", ""), getattr(called, "__module__", None)
        owner = getattr(called, "__self__", None)
        of_time = module == "time" or getattr(owner, "__module__", "") == "datetime"
        if of_time and name in CLOCKS:
            self.add("time", SAID["time"])
        elif module in ("io", "_io", "builtins") and name in FILES:
            self.add("file", SAID["file"])
        elif module == "builtins" and name == "print":
            self.add("print", SAID["print"])

    def compare(self) -> None:
        """Take down what is another than when it was last looked at."""
        drawn = _draws(self.reached)
        if drawn != self.drawn:
            self.add("random", SAID["random"])
            self.drawn = drawn
        now = self.look()
        for name, state in now.items():
            if not _alike(state, self.last[name]):
                self.changed(name, self.last[name], state)
        self.last = now

    def changed(self, name: str, before: list[object], now: list[object]) -> None:
        """Take down that something is another; variables and functions may be kept for later."""
        known = {id(each) for each in before}
        new = [each for each in now if id(each) not in known]
        if any(isinstance(each, GraphTensor) for each in new):
            self.add("leak", f"{name} keeps a tensor of the trace, which no run gives a value")
        elif not any(isinstance(each, Variable | FunctionType) or callable(each) for each in new):
            self.add("mutation", f"{name} is changed while the function is traced, not in each run")

    def add(self, kind: str, message: str) -> None:
        """Take down an effect, once a line."""
        made = Effect(kind, self.line, message, MENDING[kind])
        if made not in self.found:
            self.found.append(made)

    def look(self) -> dict[str, list[object]]:
        """Return the state of all that can be reached."""
        return {name: [*_state(get(), DEPTH)] for name, get in self.reached.items()}


def is_of_user(frame: FrameType) -> bool:
    """Say whether a frame is of the user's program: neither ours nor of a library."""
    name, file = str(frame.f_globals.get("__name__", "")), frame.f_code.co_filename
    is_ours = name.startswith(OURS) or file.startswith((LIBRARY, "<frozen", "<string>"))
    return not is_ours and "site-packages" not in file


FIXED = (ModuleType, type, BuiltinFunctionType)
"""What globals hold that is no state."""
Getter = Callable[[], object]
TraceFunction: TypeAlias = "Callable[[FrameType, str, object], TraceFunction | None]"


@runtime_checkable
class Bare(Protocol):
    """A method that does not keep its object alive."""

    function: Callable[..., object]
    instance: Callable[[], object]


def reachable(
    function: Callable[..., object], arguments: Mapping[str, object]
) -> Iterator[tuple[str, Getter]]:
    """Give the names by which a function reaches what outlives it, and how to look there."""
    for name, value in arguments.items():
        if not isinstance(value, Tensor):
            yield f"argument {name!r}", partial(_same, value)
    open_: list[object] = [function]
    seen: set[object] = set()
    while open_:
        each = open_.pop()
        if isinstance(each, Bare):
            yield f"object {type(each.instance()).__name__!r}", each.instance
            each = each.function
        elif isinstance(each, MethodType):
            yield f"object {type(each.__self__).__name__!r}", partial(_same, each.__self__)
            each = each.__func__
        each = getattr(each, "python_function", each)
        if isinstance(each, FunctionType) and each not in seen:
            seen.add(each)
            yield from _of_code(each, open_)


def _of_code(function: FunctionType, called: list[object]) -> Iterator[tuple[str, Getter]]:
    """Give what the code of a function names; put the functions that it may call to those known."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in cells:
        yield f"{name!r} of the function around", partial(_content, cell)
        called.append(_content(cell))
    for name in _names(function.__code__):
        value = function.__globals__.get(name)
        inner = getattr(value, "python_function", value)
        if isinstance(inner, FunctionType) and inner.__module__ == function.__module__:
            called.append(inner)
        elif name in function.__globals__ and not isinstance(value, FIXED):
            yield f"global {name!r}", partial(function.__globals__.get, name)


def _same(value: object) -> object:
    return value


def _content(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # nothing yet
        return None


def _names(code: CodeType) -> Iterator[str]:
    """Give the names of globals and attributes in code, and in the functions inside of it."""
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


def _state(value: object, depth: int) -> Iterator[object]:
    """Give a value and all that is in it, in order; arrays by what they hold."""
    yield value
    if isinstance(value, np.ndarray):
        if value.nbytes <= LARGEST and value.dtype != object:
            yield value.tobytes()
    elif depth and isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from _state(each, depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        yield len(value)
        for each in value:
            yield from _state(each, depth - 1)
    elif depth and not isinstance(value, Tensor | Variable | FunctionType | ModuleType | type):
        yield from _state(_own(value), depth - 1)


def _own(value: object) -> dict[str, object]:
    """Return the attributes of an object of the user's; of others, none."""
    if str(type(value).__module__).startswith((OURS, "numpy", "builtins")):
        return {}
    return dict(getattr(value, "__dict__", {}))


def _alike(first: list[object], second: list[object]) -> bool:
    """Say whether two states are of the same objects; numbers and texts count by their value."""
    if len(first) != len(second):
        return False
    pairs = zip(first, second, strict=True)
    return all(a is b or _is_equal(a, b) for a, b in pairs)


def _is_equal(a: object, b: object) -> bool:
    """Say whether two numbers or texts are equal; what is in dictionaries is compared by itself."""
    if type(a) is not type(b):
        return False
    return type(a) is dict or (isinstance(a, int | float | complex | str | bytes) and a == b)


def _draws(reached: Mapping[str, Getter]) -> tuple[object, ...]:
    """Return where the generators of random numbers stand that a function can reach."""
    values = (get() for get in reached.values())
    generators = [repr(v.bit_generator.state) for v in values if isinstance(v, np.random.Generator)]
    return random.getstate(), repr(np.random.get_state()), *generators


RETRACES = 5
"""How many traces of a function are told of."""


def retraces(label: str, reasons: list[str]) -> list[Effect]:
    """Return what is to be said of a function that was traced so often, once."""
    if len(reasons) != RETRACES:
        return []
    line, _, what = reasons[-1].partition(": ")
    if "] instead of" in what:
        mending = "leave sizes open: reduce_retracing=True, or an input_signature"
    elif "object" in what:
        mending = "an object counts by its identity: give the same one"
    else:
        mending = "a number of Python's counts by its value: give it as a tensor"
    return [Effect("retrace", line, f"{label!r} is traced {RETRACES} times ({what})", mending)]


class Traced(Protocol):
    """A trace, as far as it is compared with its Python."""

    graph: FuncGraph

    @property
    def variables(self) -> tuple[Owner | None, ...]:
        """Return the variables that are used."""


@dataclass
class Compared:
    """A run of a trace, and what its Python gives instead."""

    made: object = None
    found: list[Effect] = field(default_factory=list)


@contextmanager
def compared(trace: Traced, function: Callable[[], object]) -> Iterator[Compared]:
    """Run the Python behind a run of its trace, and compare; variables stay as that leaves them.

    A function that draws random numbers gives others each time: it is not compared.
    """
    variables = [each for each in trace.variables if isinstance(each, Variable)]
    check, before = Compared(), [each.numpy() for each in variables]
    yield check
    if any("random" in op.type.lower() for op in trace.graph.operations):
        return
    after = [each.numpy() for each in variables]
    try:
        _assign(variables, before)
        wanted = nest.flatten(function())
        again = [each.numpy() for each in variables]
    finally:
        _assign(variables, after)
    pairs = zip(nest.flatten(check.made), wanted, strict=True)
    rows = [(f"result {number}", *pair) for number, pair in enumerate(pairs)]
    names = [f"variable {each.name!r}" for each in variables]
    rows += zip(names, after, again, strict=True)
    for name, found, right in rows:
        if found is not None and right is not None:
            difference = compare(np.asarray(found), np.asarray(right), CLOSE)
            if not difference.is_close:
                what = difference.reason or f"{difference.found} instead of {difference.wanted}"
                said = f"{name} is not what the Python gives: {what}"
                check.found.append(Effect("result", trace.graph.name, said, MENDING["result"]))


CLOSE = Tolerance(1e-3, 1e-4)
"""What sums in another order may differ by."""


def _assign(variables: list[Variable], values: list[Array]) -> None:
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)
