"""What all regions of a program have in common while it is made, and what is known before."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.ir import Operation as XdslOperation

from ...ir import REGISTRY, GraphEmit
from ...ir.compose.maker import Maker
from ...ir.op import Array, Op
from ...ir.ops.control.backward import append
from ...ir.ops.control.control import If
from ...ir.ops.gradient import Instead
from ...ir.ops.host.host_control import HostIf
from ...ir.ops.host.late import ReadSizes
from ...ir.ops.host.python_step import PythonCall, PythonStep
from ...ir.ops.layout import Extent
from ...ir.ops.structure import Constant, Yield
from ...ir.types.dims import Dim, DimExpr, parse, symbols
from ...ir.types.dtypes import i64, string
from ...ir.types.tensor import TensorSpec, spec_of
from ...ir.types.values import ANY, held, join
from ...requirements import NUMBERS, Requirement
from ..dims.alike import Alike
from ..eager.recorded import Recorded
from ..graph.execute import RunError
from ..graph.frame import NotSeenError, NotStageableError, Store
from ..graph.graph import GraphTensor, Operation
from ..graph.kinds import Primitive, is_symbolic
from ..graph.variables import VariableState
from ..models.later import ReadyQueue
from ..values.context import Emitter
from ..values.texts import Text, as_kept
from .host_steps import Expected, ShapesChangedError, not_seen

SIZES = 64
"""So many integers are computed while a program is made, not when it runs."""


@dataclass(frozen=True)
class Where:
    """Where a graph is to run."""

    device: str = ""
    """The device of what asks for none; nothing for the processor."""
    soft: bool = False
    """Whether what asks for a device that cannot be may run elsewhere."""
    processors: int = 0
    """As how many devices the processor appears; 0: as many as elsewhere in the process."""


def as_seen(frame: Appending, tensor: GraphTensor, value: object) -> object:
    """Return a value; one whose sizes only the run tells has those that it always had so far.

    Should it have others, the run goes on as one does whose steps give other shapes.
    """
    seen = tensor.seen
    if seen is None or not isinstance(value, SSAValue) or spec_of(value.type).is_static:
        return value
    known = [size for size in seen if size is not None]
    if len(known) < len(seen) or tensor.spec.dtype.kind == "s":
        return value
    if value not in frame.known:
        step = Expected(tensor, TensorSpec(tensor.spec.dtype, tuple(known)))
        frame.shared.calls.append(step)
        frame.known[value] = frame.emit(PythonStep, value, function=step.name, sizes=())
    return frame.known[value]


class Through:
    """Appends by way of a recording, which can then be gone back through."""

    def __init__(self, record: Recorded) -> None:
        self.record = record

    def __call__(self, op: type[Op], *operands: object, **attributes: object) -> object:
        """Append an operation."""
        return self.record.emit(op, *operands, **attributes)

    def insert(self, op: XdslOperation) -> Sequence[SSAValue]:
        """Append a choice or a loop."""
        return append(self.record.tape, op, self.record.start)


class Appending(Protocol):
    """What appends to a program: a frame."""

    emit: Emitter
    shared: Shared
    known: dict[SSAValue, object]
    """Values with the sizes that they always had so far."""

    def appended(self, op: type[Op], *operands: object, **attributes: object) -> object:
        """Append an operation."""

    def insert(self, op: XdslOperation) -> Sequence[SSAValue]:
        """Append an operation that is made already."""


class Way:
    """Appends to the frame that is being made, which may be another one on the way back."""

    def __init__(self, frame: Appending) -> None:
        self.frame = frame

    def __call__(self, op: type[Op], *operands: object, **attributes: object) -> object:
        """Append an operation."""
        return self.frame.appended(op, *operands, **attributes)

    def insert(self, op: XdslOperation) -> Sequence[SSAValue]:
        """Append an operation that is made already."""
        return self.frame.insert(op)


def apart(
    emit: Emitter, recorded: Recorded | None, value: SSAValue, old: SSAValue | None = None
) -> SSAValue:
    """Return a new value of a variable, from which nobody goes back to what it was made of.

    In a region, where there is an old value, it comes to that one: it is the variable outside. A
    recording does not know the value, and what reads it reads the variable.
    """
    start = emit if recorded is None else recorded.start
    made: object = value
    if spec_of(value.type).dtype.kind in "fc":
        if old is not None and old.type == value.type:
            made = start(Instead, old, value)
        elif recorded is not None:
            made = start(REGISTRY["gv.identity"], value)
    assert isinstance(made, SSAValue), "what is appended has a result"
    return made


class ConstantText(PythonCall):
    """Gives a text, whose row of bytes is made once."""

    def __init__(self, array: Array) -> None:
        self.text = as_kept(Text(array))
        super().__init__(lambda: [array], [TensorSpec(string, array.shape)])

    def __call__(self, *_: Array) -> Sequence[Array]:
        """Return the text."""
        return [self.text]  # type: ignore[list-item]


class Shared:
    """What all regions of one program have in common."""

    def __init__(self, where: Where | None = None) -> None:
        self.weights: dict[str, Array] = {}
        self.keys: list[Operation] = []
        self.where = where
        self.fault: FaultVariable | None = None
        """What takes note of requirements, if anything does."""
        self.sizes = 0
        """How many sizes have names that only the run tells."""
        self.op: Operation | None = None
        """The operation that is being lowered, the innermost one."""
        self.reports = True
        """Whether what did not hold is a result of a program that writes no variables too."""
        self.has_host = False
        """Whether the program may have host steps of Python's."""
        self.found: dict[Hashable, object] = {}
        """What steps have found out, by what they do with which values."""
        self.has_sizes = False
        """Whether a host may read sizes of what the program computes."""
        self.apart: frozenset[Operation] = frozenset()
        """The calls of Python that may go on beside others."""
        self.queues: Mapping[Operation, ReadyQueue] = {}
        """Where they wait for their turns."""
        self.calls: list[PythonCall] = []
        """What the program calls."""
        self.slow: dict[Operation, str] = {}
        """Operations that Python carries out although it need not be so, and why."""
        self.variables: list[VariableState] = []
        """The variables that the program touches."""
        self.begun: dict[SSAValue, None] = {}
        """Arrays of a loop that have no elements yet, so that these have no shape."""
        self.alike = Alike()
        """Which values are alike, of which the same was found out."""
        self.withheld: dict[object, None] = {}
        """Variables that are not to be written at all in a step that has a fault."""

    def text(self, array: Array) -> PythonCall:
        """Return a step that gives a text, which programs do not hold."""
        if not self.has_host:
            raise NotStageableError("text")
        step = ConstantText(array)
        self.calls.append(step)
        return step

    def settled(self, given: Sequence[SSAValue], arguments: Sequence[SSAValue]) -> list[object]:
        """Return the arguments of a region; where a few integers are given that are known, these.

        So sizes that a choice or a loop takes from outside are numbers inside, too.
        """
        self.goes_on_as(given, arguments)
        self.alike.outside.update(zip(arguments, given, strict=True))
        found = [
            x.owner.plain_attributes()["value"] if isinstance(x.owner, Constant) else None
            for x in given
        ]
        both = zip(found, arguments, strict=True)
        return [value if is_size(value) else argument for value, argument in both]

    def goes_on_as(self, given: Sequence[SSAValue], taken: Sequence[SSAValue]) -> None:
        """Note that values are known by others too: arrays without elements are that there."""
        pairs = zip(given, taken, strict=False)
        self.begun.update({there: None for x, there in pairs if x in self.begun})

    def named(self, spec: TensorSpec) -> TensorSpec:
        """Return a tensor's spec with new names for the sizes that are open."""
        dims = [self.size() if dim == ANY else dim for dim in spec.dims]
        return TensorSpec(spec.dtype, tuple(dims))

    def named_together(
        self, specs: Sequence[TensorSpec], stated: Sequence[TensorSpec]
    ) -> list[TensorSpec]:
        """Return the specs of one step's results with new names for the sizes that are open.

        Sizes that are stated to be one, by one symbol, have one name.
        """
        names: dict[Dim, Dim] = {}
        made = []
        for spec, other in zip(specs, stated, strict=True):
            known = spec.dims if other.shape is None else other.dims
            dims = list(spec.dims)
            for place, (dim, own) in enumerate(zip(spec.dims, known, strict=True)):
                if dim == ANY and own in names:
                    dims[place] = names[own]
                elif dim == ANY:
                    dims[place] = self.size()
                    names |= {own: dims[place]} if isinstance(own, DimExpr) and own != ANY else {}
            made.append(TensorSpec(spec.dtype, tuple(dims)))
        return made

    def size(self) -> Dim:
        """Return a new name for a size."""
        self.sizes += 1
        return parse(f"size{self.sizes}")


class FaultVariable:
    """Which requirement of a program did not hold, as a variable that the program writes.

    Its value is the number of the requirement (0: all hold), and of the first element that is
    wrong the place and what it is.
    """

    is_eager = False
    name = "fault"
    spec = TensorSpec(i64, (NUMBERS,))

    def __init__(self) -> None:
        self.known: dict[Requirement, int] = {}
        """The number of each requirement, from 1."""
        self.supposed: dict[int, set[Operation]] = {}
        """By its number what is no error: which operations were thought to give other sizes."""

    def number(self, wanted: Requirement, op: Operation | None) -> int:
        """Return the number of a requirement of an operation."""
        if op is not None:
            wanted = replace(wanted, node=op.name, source=op.source)
        return self.known.setdefault(wanted, len(self.known) + 1)

    def suppose(self, wanted: Requirement, op: Operation) -> None:
        """Note that what does not hold is a reason to go on by another program, and no error."""
        self.supposed.setdefault(self.number(wanted, op), set()).add(op)

    def error(self, found: Array) -> RunError | ShapesChangedError:
        """Return the error of the requirement that a run found wrong, or what lets it go on."""
        number, place, value = found.tolist()
        if number in self.supposed:
            for op in self.supposed[number]:
                op.varies = True
            return ShapesChangedError(", ".join(op.name for op in self.supposed[number]))
        wanted = [*self.known][number - 1]
        text = wanted.at_node(wanted.text(place, value))
        return RunError(text, location=wanted.source)

    def owner(self) -> None:
        """Say that there is no object for it."""

    def value_in(self, store: Store) -> Array:
        """Return that all requirements hold, as in the beginning of a run."""
        return np.zeros(NUMBERS, np.int64)

    def put_in(self, store: Store, value: Array) -> None:
        """Refuse: it is read before variables are written (`put_all`)."""
        raise AssertionError("a fault is raised, it is no variable")


def folded(
    op: type[Op], operands: Sequence[object], attributes: dict[str, object]
) -> Sequence[Array] | None:
    """Return what an operation makes of a few integers that are known, None if it is to run.

    So sizes that are computed of shapes are numbers for those who ask for them.
    """
    if op is Constant:
        value = np.asarray(attributes["value"])
        return [value] if is_size(value) else None
    if not operands or not op.PURE or op.HOST or not all(map(is_size, operands)):
        return None
    if any(map(is_symbolic, attributes.values())):
        return None
    with np.errstate(all="ignore"):
        made = op.evaluate(*map(np.asarray, operands), **op.complete(attributes))
    return made if all(map(is_size, made)) else None


def found_by(
    shared: Shared,
    emitter: GraphEmit,
    op: type[Op],
    values: Sequence[SSAValue],
    attributes: dict[str, object],
) -> object:
    """Append a step that finds out sizes, which get names; return its results, or the sizes."""
    if not shared.has_sizes:
        raise NotStageableError("a size depends on elements")
    keys = [(op, tuple(attributes.items()), *key) for key in shared.alike.keys(values)]
    around = keys if op is ReadSizes else keys[:1]
    key = next((k for k in around if k in shared.found), keys[0])
    if key not in shared.found:
        asked = attributes["sizes"]
        assert isinstance(asked, tuple), "a step says which sizes it finds out"
        sizes = shared.named(TensorSpec(i64, asked)).dims
        made: object = emitter(op, *values, **{**attributes, "sizes": sizes})
        shared.found[key] = sizes if op is ReadSizes else made
    found: object = shared.found[key]
    return emitter(Extent, values=found) if op is ReadSizes else found


def as_python(value: Any) -> Any:
    """Return an attribute with Python's integers in the place of numpy's."""
    if isinstance(value, np.integer):
        return int(value)
    return type(value)(map(as_python, value)) if type(value) in (list, tuple) else value


def is_size(value: object) -> bool:
    """Say whether a value is known, and a few integers."""
    return (
        isinstance(value, np.ndarray | np.generic)
        and value.dtype.kind in "iub"
        and value.size <= SIZES
    )


def elements_of(value: object, depth: int = 8) -> Array | None:
    """Return the few integers or truth values that a value is known to be, None of all others.

    What a way back is made beside is not folded where it is appended, but may be of constants.
    """
    if not isinstance(value, SSAValue):
        return np.asarray(value) if is_size(value) else None
    op = value.owner
    if not isinstance(op, Op) or op.regions or not depth:
        return None
    known: list[Array] = []
    for operand in op.operands:
        elements = elements_of(operand, depth - 1)
        if elements is None:
            return None
        known.append(elements)
    found = folded(type(op), known, op.plain_attributes())
    return None if found is None else np.asarray(found[0])


def inferred(
    traced: Operation | None,
    op: type[Op],
    values: Sequence[SSAValue],
    attributes: dict[str, object],
) -> list[Attribute] | None:
    """Return the types of what the operation gives that is being lowered, as the trace knows them.

    None where it is made of others, or took or gave another thing there.
    """
    if traced is None or not isinstance(traced.kind, Primitive) or traced.kind.op is not op:
        return None
    known = traced.inferred
    if known is None or not all(spec.is_static for spec in (*known.taken, *known.made)):
        return None
    if [spec.type for spec in known.taken] != [value.type for value in values]:
        return None
    if any(attributes.get(name) is not value for name, value in traced.attributes.items()):
        return None
    return [spec.type for spec in known.made]


def widened(a: TensorSpec, b: TensorSpec) -> TensorSpec:
    """Return the narrowest spec that tensors of both have."""
    made = join(held(a), held(b))
    assert isinstance(made, TensorSpec), "tensors have a spec of tensors in common"
    return made


def is_begun(spec: TensorSpec, wanted: TensorSpec) -> bool:
    """Say whether an array without elements gets the shape of these from another spec."""
    if spec.shape is None or wanted.shape is None or not spec.rank or not wanted.rank:
        return False
    own, others = spec.dims[1:], wanted.dims[1:]
    return others != own and (own == (0,) or (0 in own and len(own) == len(others)))


def grown(a: TensorSpec, b: TensorSpec, *, begun: bool) -> TensorSpec:
    """Return the spec of what a loop carries from those before and behind a turn."""
    if begun and is_begun(a, b):
        return TensorSpec(a.dtype, (held(a).dims[0], *held(b).dims[1:]))
    return widened(a, b)


def begun(shared: Shared, make: Maker, x: SSAValue, wanted: TensorSpec) -> SSAValue:
    """Return what a loop begins with; elements of a shape that was not known get theirs."""
    spec = spec_of(x.type)
    if x not in shared.begun or not is_begun(spec, wanted):
        return x
    dims = [d if isinstance(d, int) else 0 for d in wanted.dims[1:]]
    made: SSAValue = make.filled(0, spec.dtype, (spec.dims[0], *dims))
    return made


def chosen(
    shared: Shared, condition: SSAValue, operands: Sequence[SSAValue], blocks: Sequence[Block]
) -> If | HostIf:
    """Return a choice between two blocks: the host's where they give values of other sizes.

    What one gives whose elements have no shape yet gets that of the other.
    """
    ends = [block.last_op for block in blocks]
    assert all(isinstance(end, Yield) for end in ends), "the block of a choice ends in gv.yield"
    rows = [[*end.operands] for end in ends if end is not None]
    if [x.type for x in rows[0]] == [x.type for x in rows[1]]:
        op = If.make_from(condition, operands, *blocks)
        both = [x if y in shared.begun else y for x, y in zip(*rows, strict=True)]
        shared.goes_on_as(both, op.results)
        return op
    known = {d for x in operands for d in spec_of(x.type).dims if not isinstance(d, int)}
    specs = [common(shared, a, b, known) for a, b in zip(*rows, strict=True)]
    for row, end in zip(rows, ends, strict=True):
        assert end is not None, "the block of a choice ends in gv.yield"
        make = Maker(GraphEmit.before(end))
        end.operands = [begun(shared, make, x, spec) for x, spec in zip(row, specs, strict=True)]
    types = [shared.named(spec).type for spec in specs]
    return HostIf.make_from(condition, operands, blocks, types)


def common(shared: Shared, x: SSAValue, y: SSAValue, known: Set[Dim]) -> TensorSpec:
    """Return the spec of what one of two branches gives: sizes that differ are open.

    So are those that both find out for themselves, which are not known outside.
    """
    a, b = spec_of(x.type), spec_of(y.type)
    if y in shared.begun and is_begun(b, a):
        x, a, b = y, b, a
    is_array = x in shared.begun and is_begun(a, b)
    made = grown(a, b, begun=True) if is_array else join(a, b)
    if not isinstance(made, TensorSpec) or made.shape is None:
        raise NotStageableError("a choice between values of other numbers of axes")
    return made.with_shape(
        [d if isinstance(d, int) or symbols(d) <= {*map(str, known)} else ANY for d in made.shape]
    )


def is_steady(turn: Block, begin: Sequence[SSAValue]) -> bool:
    """Say whether a turn of a loop gives on what is of the types that the loop begins with."""
    end = turn.last_op
    return end is not None and [x.type for x in end.operands] == [x.type for x in begin]


def if_seen(shared: Shared, make: Callable[[], Block]) -> Block | None:
    """Return a block that is made, None if it has a host step that was never run."""
    count = len(shared.calls)
    try:
        return make()
    except NotSeenError:
        del shared.calls[count:]
        return None


def way_out(
    shared: Shared, taken: Sequence[TensorSpec], given: Sequence[TensorSpec], state: slice
) -> Block:
    """Return what stands for a block that was never run: should it be, the program is left.

    What is touched, which is among what it takes, is given back as it was.
    """
    assert shared.op is not None, "a choice or a loop is being lowered"
    block = Block(arg_types=[spec.type for spec in taken])
    step = not_seen(shared.op, given)
    shared.calls.append(step)
    sizes = tuple(d for spec in given for d in spec.dims if not isinstance(d, int))
    made = GraphEmit.at_end(block)(PythonStep, function=step.name, sizes=sizes)
    several = made if isinstance(made, tuple | list) else [made] if given else []
    block.add_op(Yield.make(*several, *block.args[state]))
    return block
