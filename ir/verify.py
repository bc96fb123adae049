"""Check a module, and report everything that is wrong with it at once.

Beyond xDSL's own checks: every use stands behind its definition (xDSL does not look at
dominance), and the rules of the level that the module says it is on (`levels.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import FileLineColLoc, ModuleOp, StringAttr, TensorType
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ..errors import VerifyError
from .build import operands_of
from .levels import fault_of_level
from .op import Op
from .types.tensor import spec_of


@dataclass(frozen=True)
class Fault:
    """What is wrong with one operation."""

    op: Operation
    message: str

    def __str__(self) -> str:
        return f"{place(self.op)}: error: {self.op.name}: {self.message}"


class InvalidModuleError(VerifyError):
    """The module breaks the rules of the IR. `faults` lists each."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("\n".join(map(str, faults)))
        self.faults = faults


def verify(module: ModuleOp) -> None:
    """Raise `InvalidModuleError` with every fault, if there is one."""
    faults = find_faults(module)
    if faults:
        raise InvalidModuleError(faults)


def find_faults(module: ModuleOp) -> list[Fault]:
    """Return every fault, in the order of the text."""
    level = module.attributes.get("gv.level")
    level_name = level.data if isinstance(level, StringAttr) else None
    faults: list[Fault] = []
    defined: set[int] = set()
    sound: set[object] = set()
    for op in _visit(module, defined):
        message = _fault(op, defined, sound)
        stands = op.name, id(op.parent)
        if message is None and level_name is not None and stands not in sound:
            message = fault_of_level(op, level_name)
            if message is None:
                sound.add(stands)
        if message:
            faults.append(Fault(op, message))
    return faults


def _visit(module: Operation, defined: set[int]) -> Iterator[Operation]:
    """Give each operation in text order, keeping in `defined` which values are visible there."""
    yield module
    stack = [_Scope(block) for region in module.regions for block in region.blocks][::-1]
    for scope in stack:
        scope.enter(defined)
    while stack:
        top = stack[-1]
        if top.next is None:
            defined.difference_update(top.values)
            stack.pop()
            continue
        op, top.next = top.next, top.next._next_op
        yield op
        top.define(op.results, defined)
        if not op.regions:
            continue
        inner = [_Scope(block) for region in op.regions for block in region.blocks][::-1]
        for scope in inner:
            scope.enter(defined)
        stack.extend(inner)


class _Scope:
    """One block on the way through: the operation to come and the values defined so far."""

    def __init__(self, block: Block) -> None:
        self.block, self.next = block, block.first_op
        self.values: list[int] = []
        """Values by identity: they are alive meanwhile."""

    def enter(self, defined: set[int]) -> None:
        """Make the block's arguments visible."""
        self.define(self.block.args, defined)

    def define(self, values: Sequence[SSAValue], defined: set[int]) -> None:
        """Make values visible until the block ends."""
        for value in values:
            self.values.append(id(value))
            defined.add(id(value))


def _fault(op: Operation, defined: set[int], sound: set[object]) -> str | None:
    """Return what is wrong with an operation; `sound` is how those look that were found right."""
    for index, operand in enumerate(operands_of(op)):
        if id(operand) not in defined:
            what = "an argument of another block" if isinstance(operand, BlockArgument) else "later"
            return f"operand {index} is used before its definition ({what})"
    key = _looks(op)
    if key is not None and key in sound:
        return None
    missing = [n for n in _required(op) if n not in op.properties]
    if missing:
        return f"attribute {missing[0]} is missing"
    for number, region in enumerate(op.regions):
        if wrong := _wrong_argument(region):
            return f"region {number}: {wrong}"
    try:
        op.verify(verify_nested_ops=False)
    except VerifyException as error:
        return str(error).removeprefix("Operation does not verify: ").split("\n\n")[0]
    if key is not None:
        sound.add(key)
    return None


def _wrong_argument(region: Region) -> str:
    """Return what is wrong with the types of a region's tensors; nothing if all are tensors here.

    What operations make of theirs is looked at by themselves.
    """
    for block in region.blocks:
        for place, argument in enumerate(block.args):
            if isinstance(argument.type, TensorType):
                try:
                    spec_of(argument.type)
                except TypeError as error:
                    return f"argument {place}: {error}"
    return ""


def _looks(op: Operation) -> object:
    """Return all that xDSL's check looks at; None where that depends on what is around it.

    Types and attributes go by identity: the program holds them meanwhile.
    """
    if not isinstance(op, Op) or op.regions or op.next_op is None:
        return None
    operands = operands_of(op)
    types = [id(value.type) for value in (*operands, *op.results)]
    free = op.FREE
    given = [
        (name, type(value) if name in free else id(value)) for name, value in op.properties.items()
    ]
    return type(op), len(operands), *types, *given


def _required(op: Operation) -> Sequence[str]:
    """Return the names of the attributes that an operation must have."""
    return type(op).signature().required if isinstance(op, Op) else ()


def place(op: Operation) -> str:
    """Return file:line:column of an operation, or its source, as far as it is known."""
    if isinstance(at := op.location, FileLineColLoc):
        return f"{at.filename.data}:{at.line.data}:{at.column.data}"
    source = op.attributes.get("source")
    return source.data if isinstance(source, StringAttr) else "<unknown>"
