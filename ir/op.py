"""`Op`: everything gravure knows about one operation, in one class.

A subclass in `ir/ops/` states the result types (`infer`), the meaning (`evaluate`), the
derivative (`gradient`) and one lowering. Nothing else changes for a new operation: the
tracer, the eager API, the interpreter, the constant folder, autodiff, the importers, the
text form and the generated tests all read it from here.

One calling convention: operands by position, attributes by keyword, as plain Python
values. The signature of `infer` *is* the definition: its positional parameters name the
operands (`*xs` for any number), its keyword-only parameters name the attributes, with
their defaults.

Text form of every operation, with attributes that have their default left out:

    %r = gv.softmax %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
"""

from __future__ import annotations

import inspect
import math
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar, TypeVar

import numpy as np
from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import (
    Attribute,
    Block,
    BlockArgument,
    Operation,
    OpResult,
    OpTraits,
    Region,
    SSAValue,
    SSAValues,
    Use,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .. import extensions, plugins
from .facts import KernelForm, Scaling, Work
from .reading import Reading
from .types.attributes import to_attribute, to_python
from .types.dtypes import DType
from .types.indices import Indices
from .types.tensor import Array, TensorSpec, check_size, spec_of_array
from .types.values import value_spec

OpT = TypeVar("OpT", bound="Op")
OperationT = TypeVar("OperationT", bound=Operation)

REGISTRY: dict[str, type[Op]] = {}


class Inferences:
    """Result specs by operation, specs of operands and attributes, where no size is open.

    What a trace has inferred is so known when it is lowered and whenever it is verified. Half of
    them are the latest, the others those before: what is in use stays.
    """

    MOST: ClassVar = 1 << 15
    """How many are in one half."""

    def __init__(self) -> None:
        self.latest: dict[Any, Sequence[TensorSpec]] = {}
        self.before: dict[Any, Sequence[TensorSpec]] = {}

    def get(self, key: object) -> Sequence[TensorSpec] | None:
        """Return what is known; raise `TypeError` of what has no hash."""
        found = self.latest.get(key)
        if found is None and (found := self.before.get(key)) is not None:
            self.put(key, found)
        return found

    def put(self, key: object, specs: Sequence[TensorSpec]) -> None:
        """Remember, and forget the older half where this one is full."""
        if len(self.latest) >= self.MOST:
            self.latest, self.before = {}, self.latest
        self.latest[key] = specs

    def clear(self) -> None:
        """Forget all."""
        self.latest, self.before = {}, {}


INFERRED = Inferences()
SMALL = 64
"""An array of so many elements is known by them."""


@dataclass(frozen=True)
class Call:
    """One use of an operation: on SSA values in a graph, on arrays in eager code."""

    op: type[Op]
    operands: Sequence[Any]
    results: Sequence[Any]
    attributes: dict[str, Any]
    specs: Sequence[TensorSpec]
    """The specs of the operands."""
    emit: Callable[..., Any]
    """`emit(op, *operands, **attributes)` carries out another operation the same way.

    It returns the result, or the tuple of results where the operation has several.
    """
    result_specs: Sequence[TensorSpec] = ()


@dataclass(frozen=True)
class Signature:
    """What `infer`'s parameters say of an operation."""

    operands: tuple[str, ...]
    variadic: str | None
    defaults: dict[str, Any]
    required: tuple[str, ...]

    @property
    def attributes(self) -> tuple[str, ...]:
        """Return the names of all attributes."""
        return (*self.required, *self.defaults)


class OpKind(ABCMeta):
    """The class of operations' classes: which subclasses there are is known by inheritance alone.

    `isinstance` of an abstract class asks for subclasses that were registered too, in Python code;
    passes ask a hundred times for each operation.
    """

    __instancecheck__ = type.__instancecheck__


class Values(SSAValues[Any]):
    """Operands or results of an operation of ours; parts of them are plain tuples."""

    __getitem__ = tuple.__getitem__  # type: ignore[assignment]


class Result(OpResult):
    """A result of an operation; passes make very many, and look them up in dictionaries."""

    def __init__(self, type: Attribute, op: Operation, index: int) -> None:
        self._type, self.op, self.index = type, op, index

    __hash__ = object.__hash__
    __eq__ = object.__eq__


class Argument(BlockArgument):
    """An argument of a kernel's block."""

    def __init__(self, value: SSAValue, block: Block, index: int) -> None:
        self._type, self._name, self.block, self.index = value._type, value._name, block, index
        self.location = UNKNOWN_LOC

    __hash__ = object.__hash__
    __eq__ = object.__eq__


def created(
    kind: type[OperationT],
    operands: Sequence[SSAValue],
    types: Sequence[Attribute],
    properties: Mapping[str, Attribute] | None = None,
    attributes: Mapping[str, Attribute] | None = None,
) -> OperationT:
    """Return an operation made from its parts."""
    made = kind.__new__(kind)
    row = Values if isinstance(made, Op) else SSAValues
    made._operands = values = row(operands)
    made._operand_uses = tuple([Use(made, i) for i in range(len(values))])
    for value, use in zip(values, made._operand_uses, strict=True):
        value.add_use(use)
    made.results = row([Result(each, made, i) for i, each in enumerate(types)])
    made.properties = dict(properties) if properties else {}
    made.attributes = dict(attributes) if attributes else {}
    made.location = UNKNOWN_LOC
    return made


class Op(Operation, metaclass=OpKind):
    """Base of all graph operations."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__

    ONNX: ClassVar[str | None] = None
    """The ONNX operator that means exactly this, attribute names included, if there is one."""

    HOST: ClassVar[str | None] = None
    """What carries the operation out on the host, where that is not compiled: see `host.py`."""

    SAMPLES: ClassVar[tuple[Any, ...]] = ()
    """`Sample`s (ir/samples.py) for the generated tests."""

    PURE: ClassVar[bool] = True
    """Whether equal calls may be merged and unused ones dropped."""

    LEVEL: ClassVar[str] = "graph"
    """The first level of the ladder on which the operation may stand."""

    FREE: ClassVar[frozenset[str]] = frozenset()
    """Attributes on whose value, beside its type, nothing else depends: they are right."""

    CHEAP: ClassVar[bool] = False
    """Whether kernels compute it again rather than read what another stored, as with moves."""

    BIJECTIVE: ClassVar[bool] = False
    """Of an operation with `source_index`: whether it keeps every element, once."""

    INDICES: ClassVar[int | None] = None
    """Of an operation whose elements are those of operands: how many indices are behind these.

    With `source_index` there are none, and nothing is to be said.
    """

    COMMUTATIVE: ClassVar[bool] = False
    """Whether the order of the operands does not matter."""
    IDEMPOTENT: ClassVar[bool] = False
    """Whether f(f(x)) is f(x); of two operands, whether f(x, x) is x."""
    INVOLUTION: ClassVar[bool] = False
    """Whether f(f(x)) is x."""
    STEPS: ClassVar[str] = ""
    """On what its slope depends in steps, `operands` or `results`: 0 is its slope, and not none."""

    UNSIGNED: ClassVar[bool] = False
    """Whether floats that have no sign, not even a zero, are made of such alone."""

    ALONG_AXIS: ClassVar[bool] = False
    """Whether it goes along its `axis` for all other places; further operands are vectors there."""

    SCALES: ClassVar[Scaling] = Scaling.NONE
    """For which numbers s the result is s times as large, if all operands are."""

    OF_SIZES: ClassVar[bool] = False
    """Whether it gives expressions of sizes for such: `evaluate` takes arrays of them, too."""
    WORKLESS: ClassVar[bool] = False
    """Whether nothing is computed: the result is there, or is another name for the operand."""

    KERNEL: ClassVar[KernelForm | None] = None
    """The kernel that computes it, where neither `scalar` nor `iteration` say all of it."""

    CONTRACTS: ClassVar[bool] = False
    """Of an iteration: whether it adds up products of two operands as tiles of threads do."""

    WIDENS: ClassVar[bool] = False
    """Whether floats of 16 bits are multiplied and added as f32, and rounded once, at the end."""

    SLIDES: ClassVar[bool] = False
    """Of what contracts: whether windows slide, so that the result has not the loops' dims."""

    COMPILED_ALONE: ClassVar[bool] = False
    """Whether eager code compiles it for many elements, which numpy would pass several times."""

    COMPILED_KINDS: ClassVar[str] = "biufcV"
    """Of what is compiled alone: the kinds of numpy's types of the first operand with which."""

    COMPILED_SIZED: ClassVar[bool] = False
    """Of what is compiled alone: whether for its exact sizes, of which much can be worked out."""

    COMPILED_FIXED: ClassVar[bool] = False
    """Whether eager code compiles it for its exact sizes, where there is much to multiply."""

    EXACT: ClassVar[bool] = False
    """Of what is not element-wise: whether results have the same bits however it is computed."""

    AS_CALL: ClassVar[bool] = True
    """Whether graph text writes it as a call of its name."""

    ON_BOOLS: ClassVar[type[Op] | None] = None
    """The operation that this one is on bools, where it has none itself."""

    NODE: ClassVar[str | None] = None
    """What TensorFlow's graphs call it, where that is not the name in capitals: `AddV2`."""

    PARTWISE: ClassVar[bool] = False
    """Whether of complex operands each part of the result is what it makes of their parts."""
    COMPLEX: ClassVar[Callable[..., Any] | None] = None
    """What makes the result of complex operands by their parts, where that is one formula."""
    COMPLEX_FUNCTION: ClassVar[Callable[..., Any] | None] = None
    """What gives the same bits as that formula on complex arrays, in numpy's steps."""

    IS_VIEW: ClassVar[bool] = False
    """Whether the result is the operand's memory, read as another tensor."""

    traits = OpTraits(lambda: (Pure(),))

    @classmethod
    def is_exact(cls, dtypes: Sequence[DType]) -> bool:
        """Say whether results from operands of these types have the same bits in any order."""
        return cls.EXACT or not any(dtype.is_float for dtype in dtypes)

    @classmethod
    @abstractmethod
    def infer(cls, *operands: Any, **attributes: Any) -> Sequence[TensorSpec]:
        """Return the result specs, or raise `TypeError` with what is wrong."""

    @classmethod
    def evaluate(cls, *operands: Any, **attributes: Any) -> Sequence[Array]:
        """Return the results on numpy arrays. All compiled code is tested against this.

        An operation that only decomposes is evaluated through its decomposition.
        """
        return evaluate_decomposition(cls, operands, attributes)

    @classmethod
    def ready(cls, **attributes: Any) -> Callable[..., Sequence[Array]]:
        """Return `evaluate` of these attributes, for many operands."""
        return partial(cls.evaluate, **attributes)

    @classmethod
    def refuse(cls, result: Array, *operands: Array, **attributes: Any) -> None:
        """Raise what `evaluate` raises for operands for which compiled code gives such a result."""
        raise NotImplementedError(f"{cls.name} takes all operands")

    @classmethod
    def needs(cls, emit: Any, *operands: Any, **attributes: Any) -> Sequence[tuple[Any, str]]:
        """Return truths that operands must have in a function, and what is said where they do not.

        They are what `evaluate` refuses by the elements: compiled code gives a result all the same.
        """
        del emit, operands, attributes
        return ()

    @classmethod
    def is_well(cls, emit: Any, result: Any) -> Any:
        """Return a truth of a result that has it only where operands have what they need to."""
        raise NotImplementedError(f"{cls.name} needs nothing of its operands")

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Return the gradient of each operand, None where there is none."""
        raise NotImplementedError(f"{cls.name} has no gradient")

    @classmethod
    def scalar(cls, math: Any, *elements: Any, **attributes: Any) -> Any:
        """Return one result element from one element of each operand (element-wise only)."""
        raise NotImplementedError(f"{cls.name} is not element-wise")

    @classmethod
    def source_index(
        cls, index: Indices, source: TensorSpec, result: TensorSpec, **attributes: Any
    ) -> Indices | None:
        """Return the index of the operand's element that is the result's at an index (moves only).

        None where that is not linear.
        """
        raise NotImplementedError(f"{cls.name} computes more than an index")

    @classmethod
    def element_at(
        cls, reading: Reading, index: Indices, *operands: SSAValue, **attributes: Any
    ) -> Any:
        """Return the element at an index by what it reads, where that is no linear index."""
        raise NotImplementedError(f"{cls.name} is not read in place by a rule of its own")

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Return the result made by other operations through `call.emit`."""
        raise NotImplementedError(f"{cls.name} does not decompose")

    @classmethod
    def by_parts(cls, make: Any, *operands: Any, **attributes: Any) -> Any:
        """Return the result of complex operands by their parts: a `Complex`, or a real tensor."""
        if cls.COMPLEX is None:
            raise NotImplementedError(f"{cls.name} does not take complex numbers apart")
        return cls.COMPLEX(*operands)

    @classmethod
    def takes_parts(cls, count: int, attributes: Mapping[str, Any]) -> bool:
        """Say whether it can be made of the parts of so many operands, as compiled code has to."""
        del attributes
        known = cls.PARTWISE or cls.COMPLEX is not None or cls.has("by_parts")
        return known or cls.IS_VIEW or cls.moved(count) is not None

    @classmethod
    def iteration(cls, *specs: Any, **attributes: Any) -> Any:
        """Return the iteration space and its combiner (an `ir.iteration.Iteration`)."""
        raise NotImplementedError(f"{cls.name} has no iteration space")

    @classmethod
    def work(
        cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec], **attributes: Any
    ) -> Work:
        """Return what is computed, where no other rule says it; all sizes are numbers."""
        raise NotImplementedError(f"{cls.name} is counted by its other rules")

    @classmethod
    def multiplied(cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec]) -> float:
        """Return about how often `evaluate` multiplies, of what is compiled for its exact sizes.

        That is the mean size of operands and results to the power of 1.5: right for a product of
        matrices, where that is n * n * n, and for a convolution.
        """
        sizes = [math.prod(spec.static_shape) for spec in (*operands, *results)]
        return math.pow(math.prod(sizes), 1.5 / len(sizes))

    @classmethod
    def moved(cls, count: int) -> int | None:
        """Return of how many of its operands' elements the result is made; None if it computes."""
        if cls.INDICES is None:
            return count if cls.has("source_index") else None
        return count - cls.INDICES

    @classmethod
    def smooth(cls, count: int, attributes: Mapping[str, Any]) -> Sequence[int]:
        """Return which of so many operands may get a gradient, whatever their types are."""
        return range(count)

    @classmethod
    def has(cls, rule: str) -> bool:
        """Say whether the class defines a rule itself or by a family base."""
        return _has(cls, rule)

    @classmethod
    def signature(cls) -> Signature:
        """Return operand and attribute names, read off `infer`."""
        return _signature(cls)

    @classmethod
    def make(
        cls: type[OpT], *operands: SSAValue, regions: Sequence[Region] = (), **attributes: Any
    ) -> OpT:
        """Create the operation on SSA values; result types are inferred."""
        given: list[Any] = [value_spec(operand.type) for operand in operands]
        specs = cls.inferred(given, attributes)
        return cls.build_unchecked(operands, [s.type for s in specs], attributes, regions)

    @classmethod
    def inferred(
        cls, specs: Sequence[TensorSpec], attributes: dict[str, Any]
    ) -> Sequence[TensorSpec]:
        """Return the result specs, or raise `TypeError` that names the operation."""
        try:
            return cls._inferred(specs, attributes)
        except TypeError as error:
            raise TypeError(f"{cls.name}: {error}") from error

    @classmethod
    def _inferred(
        cls, specs: Sequence[TensorSpec], attributes: dict[str, Any]
    ) -> Sequence[TensorSpec]:
        key: Any = cls, *specs, *attributes.items()
        try:
            known = INFERRED.get(key)
        except TypeError:  # an array is not hashable
            try:
                key = cls, *specs, *[(name, _hashable(x)) for name, x in attributes.items()]
                known = INFERRED.get(key)
            except TypeError:
                return cls._infer(specs, attributes)
        if known is not None:
            return known
        made = tuple(cls._infer(specs, attributes))
        if all(isinstance(spec, TensorSpec) and spec.is_static for spec in specs):
            INFERRED.put(key, made)
        return made

    @classmethod
    def _infer(
        cls, specs: Sequence[TensorSpec], attributes: dict[str, Any]
    ) -> Sequence[TensorSpec]:
        attributes, signature = cls.complete(attributes), cls.signature()
        if signature.variadic is None and len(specs) != len(signature.operands):
            raise TypeError(f"{len(specs)} operands, expected {len(signature.operands)}")
        results = cls.infer(*specs, **attributes)
        for result in results:
            if isinstance(result, TensorSpec):
                check_size(result)
        return results

    @classmethod
    def build_unchecked(
        cls: type[OpT],
        operands: Sequence[SSAValue],
        types: Sequence[Attribute],
        attributes: dict[str, Any],
        regions: Sequence[Region] = (),
    ) -> OpT:
        """Create the operation with given result types."""
        defaults = cls.signature().defaults
        properties = {
            name: to_attribute(value)
            for name, value in attributes.items()
            if not (name in defaults and _same(defaults[name], value))
        }
        return cls.create(
            operands=operands, properties=properties, result_types=types, regions=regions
        )

    @classmethod
    def complete(cls, attributes: dict[str, Any]) -> dict[str, Any]:
        """Return the attributes with defaults filled in, or raise `TypeError`."""
        signature = cls.signature()
        unknown = [name for name in attributes if name not in signature.attributes]
        missing = [name for name in signature.required if name not in attributes]
        if unknown or missing:
            wrong = [f"attribute {n} is unknown" for n in unknown]
            wrong += [f"attribute {n} is missing" for n in missing]
            raise TypeError(", ".join(wrong))
        return {**signature.defaults, **attributes}

    @classmethod
    def create(  # noqa: PLR0913  (as xDSL has it)
        cls: type[OpT],
        *,
        operands: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] = (),
        properties: Mapping[str, Attribute] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        location: LocationAttr | None = None,
        successors: Sequence[Block] = (),
        regions: Sequence[Region] = (),
    ) -> OpT:
        """Create the operation from its parts: what xDSL does, in half of the time."""
        assert not successors, f"{cls.name} gives control to no block"
        made = created(cls, operands, result_types, properties, attributes)
        if location is not None:
            made.location = location
        for region in regions:
            made.add_region(region)
        return made

    def is_ancestor(self, op: Operation | Block | Region) -> bool:
        """Say whether something is this operation or stands in it."""
        return super().is_ancestor(op) if self.regions else op is self

    @property
    def specs(self) -> list[TensorSpec]:
        """Return the specs of the operands: of tensors, but for those of host steps."""
        found: list[Any] = [value_spec(operand.type) for operand in self._operands]
        return found

    @property
    def result_specs(self) -> list[TensorSpec]:
        """Return the specs of the results: of tensors, but for those of host steps."""
        found: list[Any] = [value_spec(result.type) for result in self.results]
        return found

    def plain_attributes(self) -> dict[str, Any]:
        """Return all attributes as plain Python values, defaults included."""
        given = {name: to_python(value) for name, value in self.properties.items()}
        return {**self.signature().defaults, **given}

    def verify_(self) -> None:
        """Check attribute names, and the result types against `infer`."""
        try:
            attributes = {name: to_python(value) for name, value in self.properties.items()}
            expected = [s.type for s in self._inferred(self.specs, attributes)]
        except TypeError as error:
            raise VerifyException(str(error)) from error
        found = [result.type for result in self.results]
        if expected != found:
            raise VerifyException(
                f"result type is {_list(found)}, but the operands give {_list(expected)}"
            )

    def print(self, printer: Printer) -> None:
        """Write the part behind the name."""
        if self.operands:
            printer.print_string(" ")
            printer.print_list(self.operands, printer.print_ssa_value)
        if self.regions:
            printer.print_string(" (")
            printer.print_list(self.regions, printer.print_region)
            printer.print_string(")")
        if self.properties:
            ordered = {name: self.properties[name] for name in sorted(self.properties)}
            printer.print_op_attributes(ordered)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" : ")
        printer.print_operation_type(self)

    @classmethod
    def parse(cls: type[OpT], parser: Parser) -> OpT:
        """Read the part behind the name."""
        operands = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        regions = parser.parse_optional_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_region
        )
        properties = parser.parse_optional_attr_dict()
        discardable = parser.parse_optional_attr_dict_with_keyword()
        parser.parse_punctuation(":")
        type_ = parser.parse_function_type()
        resolved = parser.resolve_operands(operands or [], type_.inputs.data, parser.pos)
        return cls.create(
            operands=resolved,
            properties=properties,
            attributes=discardable.data if discardable else {},
            result_types=type_.outputs.data,
            regions=regions or [],
        )


def find_op(name: str) -> type[Op] | None:
    """Return the operation of a name, which an installed plugin may have; None if there is none."""
    found = REGISTRY.get(name)
    if found is None and plugins.load_installed():
        found = REGISTRY.get(name)
    return found


def register(cls: type[OpT]) -> type[OpT]:
    """Enter the operation in the registry (a class decorator)."""
    if cls.name in REGISTRY:
        raise extensions.taken("operation", cls.name)
    if cls.ONNX and extensions.is_outside(cls):
        _refuse_taken(cls.ONNX)
    if not cls.PURE:
        cls.traits = OpTraits(lambda: ())
    REGISTRY[cls.name] = cls
    extensions.note("operation", cls.name, cls, lambda: _forget(cls))
    return cls


def _refuse_taken(operator: str) -> None:
    if any(operator == op.ONNX for op in REGISTRY.values()):
        raise extensions.taken("ONNX rule", operator)


def _forget(cls: type[Op]) -> None:
    del REGISTRY[cls.name]


@cache
def _has(cls: type[Op], rule: str) -> bool:
    return getattr(cls, rule).__func__ is not getattr(Op, rule).__func__


@cache
def _signature(cls: type[Op]) -> Signature:
    parameters = inspect.signature(cls.infer).parameters.values()
    keywords = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    variadic = [p.name for p in parameters if p.kind is p.VAR_POSITIONAL]
    return Signature(
        operands=tuple(p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD),
        variadic=variadic[0] if variadic else None,
        defaults={p.name: p.default for p in keywords if p.default is not p.empty},
        required=tuple(p.name for p in keywords if p.default is p.empty),
    )


def _hashable(value: Any) -> Any:
    """Return what stands for an attribute in a key: of a small array its type and elements."""
    if isinstance(value, np.ndarray) and value.size <= SMALL and not value.dtype.hasobject:
        return value.dtype, value.shape, value.tobytes()
    return value


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and bool(a == b)


def _list(types: Sequence[Attribute]) -> str:
    return ", ".join(map(str, types))


__all__ = [
    "REGISTRY",
    "Array",
    "Call",
    "Op",
    "Signature",
    "TensorSpec",
    "register",
]


@dataclass(frozen=True)
class EagerEmit:
    """Carries out each operation at once on numpy arrays."""

    def __call__(self, op: type[Op], *operands: Array, **attributes: Any) -> Any:
        """Evaluate one operation; return its result, or the tuple of several."""
        op.inferred([spec_of_array(x) for x in operands], attributes)
        with np.errstate(all="ignore"):
            results = tuple(op.evaluate(*operands, **op.complete(attributes)))
        return results[0] if len(results) == 1 else results


def evaluate_decomposition(
    op: type[Op], operands: Sequence[Array], attributes: dict[str, Any]
) -> Sequence[Array]:
    """Return the results of `op.decompose` on arrays."""
    arrays = [np.asarray(x) for x in operands]
    specs = [spec_of_array(x) for x in arrays]
    result_specs = tuple(op.infer(*specs, **attributes))
    made = op.decompose(Call(op, arrays, (), attributes, specs, EagerEmit(), result_specs))
    return made if isinstance(made, tuple) else (made,)
