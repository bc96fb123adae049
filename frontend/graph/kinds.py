"""What an operation of a graph is: its results' specs, how it is run, and its gradient.

A kind is run through a `Frame` (execute.py): `frame.emit` carries operations of the IR out, at
once on arrays or by appending to a program, so that one rule serves to run and to compile.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...ir import REGISTRY
from ...ir.compose.maker import Maker
from ...ir.families import spec_of_value
from ...ir.interpret.graph import resolve
from ...ir.op import Array, Call, Op
from ...ir.types.dims import DimExpr
from ...ir.types.dtypes import DType
from ...ir.types.tensor import TensorSpec, spec_of_array
from ..eager.text_arrays import as_values, emit_text, is_text
from ..values.context import STATE, Emitter
from ..values.texts import Text, as_kept
from .frame import Frame, NotStageableError
from .graph import EVERYWHERE, STANDARD, Kind, Operation
from .inference import (
    Abstract,
    Given,
    abstracts,
    emit_abstract,
    infer_function,
    infer_primitive,
    is_small,
    spec_of,
)


class NoGradientError(LookupError):
    """An operation on the way from a result to a source has no gradient."""

    @classmethod
    def of(cls, op: Operation) -> NoGradientError:
        """Return the error of an operation of a graph."""
        return cls(f"No gradient defined for operation '{op.name}' (op type: {op.type})")


def names_of_results(made: object) -> tuple[object, ...]:
    """Return results as a tuple."""
    return tuple(made) if isinstance(made, tuple | list) else (made,)


class Primitive(Kind):
    """One operation of the IR."""

    def __init__(self, op: type[Op]) -> None:
        self.op = op
        words = op.name.removeprefix("gv.").split("_")
        self.type = op.NODE or "".join(word.capitalize() for word in words)
        self.stateful = not op.PURE
        self.devices = ("CPU",) if op.HOST else EVERYWHERE
        self.slides = op.COMPILED_FIXED

    def multiplied(self, operands: Sequence[TensorSpec], results: Sequence[TensorSpec]) -> float:
        """Ask the operation."""
        return self.op.multiplied(operands, results)

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Infer by the operation's rule; leave open what sizes leave open."""
        return infer_primitive(self.op, specs, attributes)

    def followed(self, op: Operation, values: Sequence[Abstract]) -> Sequence[Abstract]:
        """Infer anew, unless it is told of sizes by symbols: these belong to its graph."""
        if any(is_symbolic(value) for value in op.attributes.values()):
            return super().followed(op, values)
        try:
            return abstracts(emit_abstract(self.op, *values, **op.attributes))
        except (TypeError, ValueError):
            return super().followed(op, values)  # the run says what is wrong with it

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Carry the operation out."""
        attributes = op.attributes
        if any(is_symbolic(value) for value in attributes.values()):
            attributes = resolve(attributes, frame.symbols)
        return names_of_results(frame.emit(self.op, *inputs, **attributes))

    def smooth_operands(self, op: Operation) -> Sequence[Hashable]:
        """Return the inputs that the operation's rule may give gradients."""
        return [op.inputs[i].edge for i in self.op.smooth(len(op.inputs), op.attributes)]

    def gradient(
        self, op: Operation, grads: Sequence[object], emit: Emitter
    ) -> Sequence[object] | None:
        """Apply the operation's rule where everything is known, else record."""
        specs = [tensor.spec for tensor in op.inputs]
        if any(spec.shape is None for spec in (*specs, *(t.spec for t in op.outputs))):
            return None
        if any(not spec.is_static for spec in (*specs, *(t.spec for t in op.outputs))):
            return None
        attributes = self.op.complete(op.attributes)
        results = [tensor.spec for tensor in op.outputs]
        call = Call(self.op, op.inputs, op.outputs, attributes, specs, emit, results)
        try:
            return self.op.gradient(call, *grads)
        except NotImplementedError as error:
            raise NoGradientError.of(op) from error


def is_symbolic(value: object) -> bool:
    """Say whether an attribute holds a size that is known only when it is run."""
    if isinstance(value, tuple):
        return any(is_symbolic(v) for v in value)
    return isinstance(value, DimExpr)


PRIMITIVES: dict[str, Primitive] = {}


def primitive(op: type[Op]) -> Primitive:
    """Return the kind of an operation of the IR."""
    if op.name not in PRIMITIVES:
        PRIMITIVES[op.name] = Primitive(op)
    return PRIMITIVES[op.name]


@dataclass(frozen=True)
class Rule:
    """What an operation of several does: a function of a `Maker`, values, and options by name."""

    type: str
    function: Callable[..., Any]
    label: str = ""
    """The default name of its operations, if it is not the type."""
    differentiable: bool | None = True
    """False: nothing depends on the inputs smoothly. None: a gradient is refused by name."""
    slopes: tuple[int, ...] | None = None
    """The places of the operands that it may change with smoothly; None: all of them."""
    gives_list: bool = False
    """Whether the results are a list even if there is one."""
    refuses: bool | Callable[[dict[str, object]], bool] = False
    """Whether it has requirements (`gv.require`) of values that are not known before the run.

    Where that depends on them, a function of the options.
    """
    is_check: bool = False
    """Whether a function runs it even if nothing uses its result."""
    slides: bool = False
    """Whether it multiplies windows: carried out by itself, it is compiled for its sizes."""
    shapes: Callable[[Given], Sequence[TensorSpec]] | None = None
    """What is known of the results where ranks or values of operands are not."""


def known_in(attributes: dict[str, object]) -> dict[int, Array]:
    """Return the inputs of an operation that are constants, by their place."""
    found = attributes.get("known", {})
    assert isinstance(found, dict), "constants by their place"
    return found


RULES: dict[str, Rule] = {}
"""All rules by their type: graphs that are read from text find them here."""


OTHERS: list[Callable[[str], Rule | None]] = []
"""What knows rules that are made when they are asked for, by their types."""


def find_rule(type_: str) -> Rule | None:
    """Return the rule of a type, None if there is none."""
    made = (find(type_) for find in OTHERS)
    return RULES.get(type_) or next((rule for rule in made if rule is not None), None)


def register_rule(rule: Rule) -> Rule:
    """Enter a rule under its type."""
    if rule.type in RULES:
        raise ValueError(f"a rule {rule.type!r} is there already")
    RULES[rule.type] = rule
    return rule


ComplexGradient = Callable[..., Sequence[object]]
COMPLEX_GRADIENTS: dict[str, ComplexGradient] = {}
"""By type of a rule: the gradients of its inputs where numbers are complex.

A function is given inputs, outputs, options and the gradient of the output.
"""


def complex_gradient(
    type_: str, inputs: Sequence[object], outputs: Sequence[object]
) -> ComplexGradient | None:
    """Return the gradient of an operation on complex numbers, None if its own rule holds."""
    found = COMPLEX_GRADIENTS.get(type_)
    if found is None or not any(spec_of_value(x).dtype.kind == "c" for x in (*inputs, *outputs)):
        return None
    return found


class Composite(Kind):
    """A function of a `Maker` and values: several operations of the IR under one name."""

    devices = EVERYWHERE
    reads_text = True

    def __init__(self, rule: Rule, options: dict[str, object] | None = None) -> None:
        self.rule, self.type, self.options = rule, rule.type, options or {}
        self.checks, self.slides = rule.is_check, rule.slides
        refuses = rule.refuses
        self.refuses = refuses if isinstance(refuses, bool) else refuses(self.options)

    @property
    def label(self) -> str:
        """Return the default name."""
        return self.rule.label or self.type

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Infer by the function on specs."""
        known, rule = known_in(attributes), self.rule.shapes
        stated = None if rule is None else lambda: rule(Given(specs, known, self.options))
        return infer_function(self.call, specs, known, stated)

    def followed(self, op: Operation, values: Sequence[Abstract]) -> Sequence[Abstract]:
        """Call the function on what is known, or infer with the values that are."""
        try:
            return abstracts(self.call(Maker(emit_abstract), *values))
        except (TypeError, ValueError, IndexError):
            known = {i: x.value for i, x in enumerate(values) if x.value is not None}
        try:
            made = self.infer([x.spec for x in values], {**op.attributes, "known": known})
        except (TypeError, ValueError, IndexError):
            return super().followed(op, values)  # the run says what is wrong with it
        return list(map(Abstract, made))

    def call(self, make: Maker, *values: object) -> object:
        """Return what the function gives."""
        return self.rule.function(make, *values, **self.options)

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Call the function."""
        if not frame.is_staging and any(is_text(x) for x in inputs):
            made = names_of_results(self.call(Maker(emit_text), *as_values(inputs)))
            as_given = as_kept if Text in [x.__class__ for x in inputs] else np.asarray
            return [*map(as_given, made)]
        if frame.is_staging or not STATE.recorders:
            return names_of_results(self.call(Maker(frame.emit), *inputs))
        before, STATE.part = STATE.part, self.type
        try:
            return names_of_results(self.call(Maker(frame.emit), *inputs))
        finally:
            STATE.part = before

    def smooth_operands(self, op: Operation) -> Sequence[Hashable]:
        """Return the inputs that the rule says."""
        slopes = self.rule.slopes
        return (
            super().smooth_operands(op) if slopes is None else [op.inputs[i].edge for i in slopes]
        )

    def gradient(
        self, op: Operation, grads: Sequence[object], emit: Emitter
    ) -> Sequence[object] | None:
        """Record the function, or say that nothing depends on its inputs smoothly."""
        rule = complex_gradient(self.type, op.inputs, op.outputs)
        if rule is not None:
            return rule(op.inputs, op.outputs, self.options, grads[0])
        smooth = self.rule.differentiable
        if smooth is None:
            raise NoGradientError.of(op)
        return None if smooth else (None,) * len(op.inputs)


class Const(Kind):
    """A value that is known."""

    devices = EVERYWHERE
    type = "Const"

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return the spec of the value."""
        return (spec_of(np.asarray(attributes["value"])),)

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Return the value."""
        return (frame.constant(op.attributes["value"]),)

    def followed(self, op: Operation, values: Sequence[Abstract]) -> Sequence[Abstract]:
        """Return the value, if it is of few elements."""
        spec = op.outputs[0].spec
        return (Abstract(spec, np.asarray(op.attributes["value"]) if is_small(spec) else None),)

    def gradient(self, op: Operation, grads: Sequence[object], emit: Emitter) -> Sequence[object]:
        """Return nothing: there are no inputs."""
        return ()


CONSTANT = Const()


class MissingFeedError(Exception):
    """A placeholder was not fed (turned into a session's error)."""

    def __init__(self, op: Operation) -> None:
        super().__init__(op.name)
        self.op = op


class Placeholder(Kind):
    """A value that is given from outside; one with an input has that as its default."""

    devices = EVERYWHERE
    type = "Placeholder"

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return the declared spec."""
        spec = attributes["spec"]
        assert isinstance(spec, TensorSpec), "a placeholder says its spec"
        return (spec,)

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Return the default, or fail."""
        if inputs and op.attributes.get("begun"):
            return [frame.begun(inputs[0])]
        if inputs:
            return inputs
        raise MissingFeedError(op)

    def gradient(self, op: Operation, grads: Sequence[object], emit: Emitter) -> Sequence[object]:
        """Pass the gradient to the default."""
        return grads[: len(op.inputs)]


class PlaceholderWithDefault(Placeholder):
    """A placeholder that need not be fed."""

    type = "PlaceholderWithDefault"


class NoOp(Kind):
    """Nothing, but it waits for its control inputs."""

    devices = EVERYWHERE
    type = "NoOp"

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return nothing."""
        return ()

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Do nothing."""
        return ()

    def gradient(self, op: Operation, grads: Sequence[object], emit: Emitter) -> Sequence[object]:
        """Return nothing."""
        return (None,) * len(op.inputs)


class PyFunction(Kind):
    """A Python function of this process, called with arrays each time."""

    stateful = True
    is_python = True

    def __init__(
        self, function: Callable[..., object], dtypes: Sequence[DType], *, pure: bool
    ) -> None:
        self.function, self.dtypes = function, tuple(dtypes)
        self.type = "PyFunc"
        self.stateful = not pure

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return the element types; shapes are not known."""
        return tuple(TensorSpec(dtype, None) for dtype in self.dtypes)

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Call the function."""
        return frame.host(self.function, inputs, self.dtypes)


def zeros(emit: Emitter, spec: TensorSpec) -> object:
    """Make zeros of a static spec."""
    zero = emit(REGISTRY["gv.constant"], value=np.zeros((), spec.dtype.numpy))
    return emit(REGISTRY["gv.broadcast_to"], zero, shape=spec.dims) if spec.dims else zero


def as_array(value: object) -> Array:
    """Return a value as a numpy array."""
    return np.asarray(value)


class Stop(Kind):
    """The input itself, through which no gradient passes."""

    type: ClassVar[str] = "StopGradient"  # type: ignore[misc]

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return the input's spec."""
        return (specs[0],)

    def followed(self, op: Operation, values: Sequence[Abstract]) -> Sequence[Abstract]:
        """Return what is known of the input."""
        return values

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Return the input, unknown to who records."""
        return (frame.detached(inputs[0]),)

    def gradient(self, op: Operation, grads: Sequence[object], emit: Emitter) -> Sequence[object]:
        """Return nothing."""
        return (None,)


STOP = Stop()


class Dead:
    """What an operation on the way that was not taken gives."""

    def __repr__(self) -> str:
        return "dead"


DEAD = Dead()


class Switch(Kind):
    """The input at output 0 where the second input is false, at output 1 where it is true."""

    type = "Switch"

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return the input's spec twice."""
        return (specs[0], specs[0])

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Let one output live."""
        if frame.is_staging:
            raise NotStageableError("raw control flow")
        return (DEAD, inputs[0]) if bool(np.asarray(inputs[1])) else (inputs[0], DEAD)


class Merge(Kind):
    """The input that is alive, and which one it is."""

    type = "Merge"
    takes_dead = True

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return the inputs' spec and a number."""
        shapes = {s.shape for s in specs}
        first = specs[0] if len(shapes) == 1 else TensorSpec(specs[0].dtype, None)
        return (first, spec_of_array(np.array(0, np.int32)))

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Pass on what is alive."""
        for place, value in enumerate(inputs):
            if value is not DEAD:
                return (value, np.array(place, np.int32))
        return (DEAD, DEAD)


class Passing(Kind):
    """A node of a loop that gives its input: at the start, the end, or the end of a trip."""

    def __init__(self, type_: str) -> None:
        self.type = type_

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return the input's spec."""
        return (specs[0],)

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Return the input."""
        return (inputs[0],)


ENTER, EXIT, NEXT_ITERATION, LOOP_CONDITION = map(
    Passing, ("Enter", "Exit", "NextIteration", "LoopCond")
)


STANDARD.constant, STANDARD.stop, STANDARD.primitive = CONSTANT, STOP, primitive
