"""Values that are sent from one device to another as the upper 16 bits of their numbers.

    with gv.distributed.transfer_bits(16):
        y = tf.matmul(x, w)              # takes its operands so where they are made elsewhere

(White paper, section 5.5.) A value is sent once to each device: in 16 bits if all that use it there
take it so. Only `float32` is cut. A session may ask it of all (`enable_bfloat16_sendrecv`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ...ir.compose.maker import Maker
from ...ir.types.dtypes import f32, u16, u32
from ..values.context import STATE
from ..values.devices import short_name
from .frame import Frame
from .graph import Graph, GraphTensor, Operation
from .kinds import DEAD, Const
from .placement import graphs_in

ATTRIBUTE = "_transfer_bits"
"""The attribute of operations that says in how many bits they take what is made elsewhere."""
BITS = (16, 32)
Place = TypeVar("Place", str, int)
"""A device by its name, or a task by its number."""


@contextmanager
def transfer_bits(bits: int) -> Iterator[None]:
    """Let operations made within take `float32` values of other devices in 16 bits, or in 32.

    Raises `ValueError` for another number, and where operations run at once: nothing is cut there.
    """
    if bits not in BITS:
        raise ValueError(f"transfer_bits({bits}), expected 16 or 32")
    with marked("transfer_bits", lambda op: mark(op, bits)):
        yield


@contextmanager
def marked(what: str, note: Callable[[Operation], object]) -> Iterator[None]:
    """Mark the operations made within, for `what`; raise `ValueError` where they run at once."""
    graph = STATE.context
    if not isinstance(graph, Graph):
        raise ValueError(f"{what} is for operations of graphs, not for eager ones")
    first = len(graph.operations)
    try:
        yield
    finally:
        for op in graph.operations[first:]:
            note(op)


def mark(op: Operation, bits: int) -> None:
    """Let an operation, and those inside of it, take values in so many bits, if none is said."""
    op.attributes.setdefault(ATTRIBUTE, bits)
    for graph in graphs_in(op):
        for inner in graph.operations:
            mark(inner, bits)


def is_cut(tensor: GraphTensor, users: Sequence[Operation], bits: int) -> bool:
    """Say whether a value is sent in 16 bits to a device where some operations use it.

    `bits` are those of operations that do not say.
    """
    asked = [op.attributes.get(ATTRIBUTE, bits) for op in users]
    return tensor.spec.dtype == f32 and max(asked, default=bits) == min(BITS)


@dataclass(frozen=True)
class Hop:
    """The way of a value from one device of this process to another, by their short names."""

    source: str
    target: str


def sent_to(
    ops: Sequence[Operation], fed: set[GraphTensor], places: Mapping[Operation, Place]
) -> dict[tuple[GraphTensor, Place], list[Operation]]:
    """Return what is sent to which place, with the operations that use it there.

    What is fed is given where it is needed, and constants are copied to who uses them.
    """
    users: dict[tuple[GraphTensor, Place], list[Operation]] = {}
    for op in ops:
        for tensor in op.inputs:
            if tensor in fed or tensor.op not in places or isinstance(tensor.op.kind, Const):
                continue
            if places[tensor.op] != places[op]:
                found = users.setdefault((tensor, places[op]), [])
                if op not in found:
                    found.append(op)
    return users


def hops(
    ops: Sequence[Operation], fed: set[GraphTensor], places: Mapping[Operation, str], bits: int
) -> dict[Operation, dict[GraphTensor, Hop]]:
    """Return which operands of operations come to them in 16 bits, and on which way."""
    found: dict[Operation, dict[GraphTensor, Hop]] = {}
    for (tensor, target), users in sent_to(ops, fed, places).items():
        if is_cut(tensor, users, bits):
            hop = Hop(short_name(places[tensor.op]), short_name(target))
            for op in users:
                found.setdefault(op, {})[tensor] = hop
    return found


def brought(frame: Frame, value: object, hop: Hop) -> object:
    """Return a value as it comes over a way: its upper halves go, zeros are filled in there."""
    if value is DEAD:
        return value
    outer, emit = frame.device, Maker(frame.emit)
    try:
        frame.device = hop.source if outer else outer
        bits = emit.shift_right(emit.bitcast(value, dtype=u32), np.uint32(16))
        half = emit.cast(bits, dtype=u16)
        frame.device = hop.target if outer else outer
        whole: object = emit.shift_left(emit.cast(half, dtype=u32), np.uint32(16))
        return emit.bitcast(whole, dtype=f32)
    finally:
        frame.device = outer
