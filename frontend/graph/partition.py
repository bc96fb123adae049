"""What of a plan runs where, why, and what is sent between devices: each value once to each.

found = partition(plan, places, available)
found.rows           # operation, device, reason
found.transfers      # tensor, from, to, bytes, which operations use it there
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ..values.devices import parse_device
from .execute import Plan
from .graph import GraphTensor, Operation
from .placement import groups_of
from .transfers import is_cut, sent_to


@dataclass(frozen=True)
class Placed:
    """Where an operation runs."""

    operation: str
    type: str
    device: str
    why: str


@dataclass(frozen=True)
class Transfer:
    """A value that a device gets from another one, once for all that use it there."""

    tensor: str
    source: str
    target: str
    bytes: int | None
    """None where its sizes are known only when it is run."""
    users: tuple[str, ...]
    is_cut: bool = False
    """Whether it is sent as the upper 16 bits of its numbers."""


@dataclass(frozen=True)
class Partition:
    """The operations of a plan on their devices."""

    rows: tuple[Placed, ...]
    transfers: tuple[Transfer, ...]

    @property
    def bytes(self) -> int:
        """Return how many bytes are sent, of all values whose sizes are known."""
        return sum(each.bytes or 0 for each in self.transfers)


def partition(
    plan: Plan,
    places: Mapping[Operation, str],
    available: Sequence[str],
    reasons: Mapping[Operation, str] | None = None,
    bits: int = 32,
) -> Partition:
    """Return where the operations of a plan run, by the full names of their devices, and why.

    `reasons` are those that are known already; `bits` those that values are sent in.
    """
    groups = {op: group for group in groups_of(plan.ops) for op in group}
    known = reasons or {}
    rows = [
        Placed(
            op.name, op.type, places[op],
            known.get(op) or reason(op, groups[op], places[op], available),
        )
        for op in plan.ops
    ]  # fmt: skip
    return Partition(tuple(rows), tuple(transfers(plan, places, bits)))


def reason(op: Operation, group: Sequence[Operation], device: str, available: Sequence[str]) -> str:
    """Return why an operation is on a device."""
    wishes = [other for other in group if other.device]
    if op.device and parse_device(op.device).is_within(parse_device(device)):
        return f"asks for {op.device}"
    if op.device:
        return f"asks for {op.device}, which is not there, and may be elsewhere"
    if wishes:
        return f"is where '{wishes[0].name}' is, which asks for {wishes[0].device}"
    if device == available[0]:
        return "asks for nothing: the first device"
    kinds = [parse_device(name).kind for name in available[: available.index(device)]]
    assert parse_device(device).kind not in kinds, "the first device that suits is taken"
    return f"has kernels for {', '.join(op.kind.devices)}"


def transfers(plan: Plan, places: Mapping[Operation, str], bits: int = 32) -> list[Transfer]:
    """Return what is sent, in the order in which it is made and used."""
    made = []
    for (tensor, target), users in sent_to(plan.ops, plan.fed, places).items():
        cut, size = is_cut(tensor, users, bits), bytes_of(tensor)
        counted = size // 2 if cut and size is not None else size
        names = tuple(op.name for op in users)
        made.append(Transfer(tensor.name, places[tensor.op], target, counted, names, cut))
    return made


def bytes_of(tensor: GraphTensor) -> int | None:
    """Return how many bytes a tensor has, None if that is known only when it is run."""
    spec = tensor.spec
    if spec.shape is None or not spec.is_static or spec.dtype.kind == "s":
        return None
    return prod(spec.static_shape) * spec.dtype.size
