"""Where operations of a graph are to run: which devices have a kernel, and are what was asked for.

An operation that asks for nothing runs on the first device that there is, or that its caller
asked for. One that asks for a device that is not there, or that has no kernel for it, is refused,
unless it may run elsewhere (`soft`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..values.devices import (
    HOST,
    MACHINE,
    PlacementError,
    list_devices,
    parse_device,
    processors,
    short_name,
)
from .graph import Graph, Operation


def check_placement(
    ops: Sequence[Operation], *, soft: bool, available: Sequence[str] | None = None
) -> dict[Operation, str]:
    """Return the devices of operations; refuse the first that has none, inside of branches too."""
    wishing = any(op.device or op.colocated for op in ops)
    if wishing or any("CPU" not in op.kind.devices for op in ops):
        MACHINE.used = True
        known = list_devices() if available is None else available
        found = place(ops, known, soft=soft)
    else:
        found = dict.fromkeys(ops, available[0] if available else f"{HOST}CPU:0")
    for op in ops:
        for graph in graphs_in(op):
            check_placement(graph.operations, soft=soft, available=available)
    return found


def graphs_in(op: Operation) -> list[Graph]:
    """Return the graphs that an operation carries out: what it calls, branches, test and body."""
    kind: object = op.kind
    parts = [getattr(kind, name, None) for name in ("graph", "test", "body")]
    return [*(part for part in parts if part is not None), *getattr(kind, "branches", ())]


def asks(op: Operation) -> bool:
    """Say whether an operation, or one in what it calls, asks to be computed by a GPU."""
    if op.device and not op.kind.is_state and parse_device(op.device).kind == "GPU":
        return True
    return any(asks(inner) for graph in graphs_in(op) for inner in graph.operations)


def available_with(count: int) -> list[str]:
    """Return the devices there are if the processor appears as so many; 0: as it does."""
    known = list_devices()
    if not count:
        return known
    return [*processors(count), *(name for name in known if parse_device(name).kind != "CPU")]


def devices_of(
    ops: Sequence[Operation], default: str, *, soft: bool, more: int = 0
) -> dict[Operation, str]:
    """Return the short name of each operation's device (`gpu:0`); `default` is the first choice."""
    first = f"{HOST}{default.upper()}"
    names = sorted(available_with(more), key=lambda name: name != first)
    return {op: short_name(name) for op, name in place(ops, names, soft=soft).items()}


def place(
    ops: Sequence[Operation], available: Sequence[str], *, soft: bool = False
) -> dict[Operation, str]:
    """Return the device of each operation: the first that all constraints of its group allow.

    A group is what shall run on one device. A device must be what each member asks for, and have
    a kernel for each; with `soft`, what is asked for is forgotten where it cannot be, but for the
    task: another machine is never meant.
    """
    found: dict[Operation, str] = {}
    for group in groups_of(ops):
        found |= dict.fromkeys(group, devices_for(group, available, soft=soft)[0])
    return found


def devices_for(group: Sequence[Operation], available: Sequence[str], *, soft: bool) -> list[str]:
    """Return the devices that suit all operations of a group; raise if none does."""
    allowed = [name for name in available if all(_may_run(op, name) for op in group)]
    if not allowed and soft:
        allowed = [name for name in available if all(_is_near(op, name) for op in group)]
    if not allowed:
        raise _cannot_place(group, available)
    return allowed


def groups_of(ops: Sequence[Operation]) -> list[list[Operation]]:
    """Return the operations that shall run on one device, by union-find over colocation."""
    parents = {op: op for op in ops}

    def root(op: Operation) -> Operation:
        while parents[op] is not op:
            parents[op] = op = parents[parents[op]]
        return op

    for op in ops:
        for other in op.colocated:
            if other in parents:
                parents[root(op)] = root(other)
    groups: dict[Operation, list[Operation]] = {}
    for op in ops:
        groups.setdefault(root(op), []).append(op)
    return list(groups.values())


def _may_run(op: Operation, name: str) -> bool:
    """Say whether an operation can run on a device, and may."""
    if not _has_kernel(op, name):
        return False
    return not op.device or parse_device(op.device).is_within(parse_device(name))


def _is_near(op: Operation, name: str) -> bool:
    """Say whether an operation can run on a device, and its task is what was asked for."""
    return _has_kernel(op, name) and parse_device(op.device).is_at(parse_device(name))


def _has_kernel(op: Operation, name: str) -> bool:
    return parse_device(name).kind in op.kind.devices


def _cannot_place(group: Sequence[Operation], available: Sequence[str]) -> PlacementError:
    """Return the error of a group that no device is for; it names what asks for too much."""
    there = ", ".join(available)
    for op in group:
        if not any(_may_run(op, name) for name in available):
            return PlacementError(
                f"Cannot assign a device for operation '{op.name}' ({op.type}): it was explicitly "
                f"assigned to {op.device}, available devices are [{there}], devices "
                f"with a kernel: {', '.join(op.kind.devices)}",
                location=op.source,
            )
    wishes = [f"'{op.name}' ({op.device or 'anywhere'})" for op in group]
    return PlacementError(
        f"Cannot colocate operations {', '.join(wishes)}: no device suits all, available devices "
        f"are [{there}]",
        location=group[0].source,
    )
