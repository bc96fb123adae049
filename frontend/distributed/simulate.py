"""Placement by simulation: each operation goes to the device on which it would end first.

    session.costs = gv.distributed.CostModel(flops=1e10, bandwidth=1e9, latency=1e-4)
    session.explain_placement(loss, [x])

The operations are gone through in the order in which they get ready. For each group that shall be
on one device, every device that suits it is tried: when it is free, when what the group takes has
come from where it is, and how long the group takes. The one that ends first is taken, the first of
those that end together. Times are those that were measured, or else follow from bytes and
arithmetic. State is not moved, and a gradient is where what it is of is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from math import isfinite, prod
from pathlib import Path
from typing import cast

from ...errors import InputError
from ..formats.messages import RunMetadata
from ..graph.execute import Plan
from ..graph.gradients import Backward
from ..graph.graph import GraphTensor, Operation
from ..graph.kinds import Const
from ..graph.partition import bytes_of
from ..graph.placement import devices_for, groups_of

SCHEMA = "gravure.costs/1"


@dataclass(frozen=True)
class CostModel:
    """What operations and transfers cost, in seconds.

    - `flops`: how many multiplications and additions a device does in a second.
    - `memory`: how many bytes of operands and results it goes through in a second.
    - `bandwidth`, `latency`: bytes a second between devices, and what each value costs at least.
    - `measured`: the seconds of operations by their names, which are better known than by counting;
      a mapping for each device where they differ.
    """

    flops: float = 2e10
    memory: float = 1e10
    bandwidth: float = 4e9
    latency: float = 5e-5
    measured: Mapping[str, float | Mapping[str, float]] = field(default_factory=dict)

    @classmethod
    def measured_by(cls, run_metadata: RunMetadata, **fields: float) -> CostModel:
        """Return a model with the times of a run, which `build_cost_model` was asked to tell of."""
        nodes = run_metadata.cost_graph.node
        times = {node.name: node.compute_time * 1e-9 for node in nodes if node.compute_time}
        return cls(measured=times, **fields)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> CostModel:
        """Return a model that `write` has kept.

        Raises `InputError` for what is none: it names the field, and what was expected.
        """
        name = os.fspath(path)
        try:
            told = json.loads(Path(name).read_bytes())
        except (OSError, ValueError) as error:
            raise InputError(f"no costs: {error}", location=name) from None
        if not isinstance(told, dict) or told.pop("schema", None) != SCHEMA:
            raise InputError(f"no costs of the schema {SCHEMA!r}", location=name)
        known = [each.name for each in fields(cls)]
        for key, value in told.items():
            if key not in known:
                raise InputError(f"{key!r}, expected {', '.join(known)}", location=name)
            rows = value if key == "measured" else {key: value}
            if not isinstance(rows, dict):
                raise InputError(f"measured {rows!r}, expected seconds by name", location=name)
            for operation, times in rows.items():
                parts = times.values() if isinstance(times, dict) else [times]
                if not all(map(is_cost, parts)):
                    raise InputError(
                        f"{key} {operation!r} is {times!r}, expected numbers of at least 0",
                        location=name,
                    )
        return cls(**told)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Keep it in a file of JSON."""
        text = json.dumps({"schema": SCHEMA, **asdict(self)}, indent=1)
        Path(path).write_text(text + "\n", encoding="utf-8")

    def check_for(self, plan: Plan, available: Sequence[str]) -> None:
        """Raise `InputError` if times are those of operations or devices that there are not."""
        names = {op.name for op in plan.ops[0].graph.operations} if plan.ops else set()
        for operation, times in self.measured.items():
            if operation not in names:
                raise InputError(f"costs of an operation {operation!r} that the graph has not")
            for device in times if isinstance(times, Mapping) else ():
                if device not in available:
                    there = ", ".join(available)
                    raise InputError(f"costs on a device {device!r}, there are {there}")

    def seconds(self, op: Operation, device: str) -> float:
        """Return how long an operation takes on a device."""
        known = self.measured.get(op.name)
        if isinstance(known, Mapping):
            known = known.get(device)
        if known is not None:
            return known
        if isinstance(op.kind, Const):
            return 0.0
        moved = sum(bytes_of(t) or 0 for t in (*op.inputs, *op.outputs))
        return moved / self.memory + arithmetic(op) / self.flops

    def transfer(self, tensor: GraphTensor) -> float:
        """Return how long a value takes from one device to another."""
        return self.latency + (bytes_of(tensor) or 0) / self.bandwidth


def is_cost(value: object) -> bool:
    """Say whether a value of a file is a number that a cost can be."""
    return type(value) in (int, float) and isfinite(cast(float, value)) and cast(float, value) >= 0


def arithmetic(op: Operation) -> float:
    """Return how many operations on numbers an operation is: of a product, its rows by columns."""
    made = sum(prod(t.spec.static_shape) for t in op.outputs if t.spec.is_static)
    if op.type not in ("MatMul", "BatchMatMulV2") or not op.inputs[0].spec.is_static:
        return float(made)
    taken = op.inputs[0].spec.static_shape
    return 2.0 * made * taken[-2 if op.attributes.get("transpose_a") else -1]


class Simulation:
    """A run of a plan that is only thought of, on some devices."""

    def __init__(self, plan: Plan, costs: CostModel) -> None:
        self.plan, self.costs = plan, costs
        self.free: dict[str, float] = {}
        """When each device has done all that was given to it."""
        self.ends: dict[Operation, float] = {}
        self.places: dict[Operation, str] = {}
        self.sent: dict[tuple[GraphTensor, str], float] = {}
        """When each value that was sent has come to a device: it is sent once."""

    def run(self, available: Sequence[str], *, soft: bool) -> dict[Operation, str]:
        """Return the device of each operation."""
        for group in in_order(groups_of(self.plan.ops)):
            allowed = self.allowed(group, devices_for(group, available, soft=soft))
            best = min(allowed, key=lambda device: self.end(group, device))
            self.put(group, best)
        return self.places

    def allowed(self, group: Sequence[Operation], devices: list[str]) -> list[str]:
        """Return the devices that a group may be moved to, of those that suit it."""
        for op in group:
            if isinstance(op.kind, Backward) and self.places.get(op.kind.forward) in devices:
                return [self.places[op.kind.forward]]
            if is_bound(op):
                return devices[:1]
        return devices

    def end(self, group: Sequence[Operation], device: str) -> float:
        """Return when a group would end on a device."""
        free = self.free.get(device, 0.0)
        for op in group:
            free = max(free, self.ready(op, device)) + self.costs.seconds(op, device)
        return free

    def ready(self, op: Operation, device: str) -> float:
        """Return when all that an operation takes has come to a device."""
        times = [self.ends[each] for each in op.control_inputs if each in self.ends]
        times += [self.comes(tensor, device) for tensor in self.made(op)]
        return max(times, default=0.0)

    def made(self, op: Operation) -> list[GraphTensor]:
        """Return what an operation takes that others have made before."""
        return [t for t in op.inputs if t not in self.plan.fed and t.op in self.ends]

    def comes(self, tensor: GraphTensor, device: str) -> float:
        """Return when a value is on a device."""
        made = self.ends[tensor.op]
        if self.places[tensor.op] == device or isinstance(tensor.op.kind, Const):
            return made  # (constants are copied to who uses them)
        return self.sent.get((tensor, device), made + self.costs.transfer(tensor))

    def put(self, group: Sequence[Operation], device: str) -> None:
        """Let a group run on a device."""
        for op in group:
            self.sent |= {(tensor, device): self.comes(tensor, device) for tensor in self.made(op)}
            start = max(self.free.get(device, 0.0), self.ready(op, device))
            self.ends[op] = self.free[device] = start + self.costs.seconds(op, device)
            self.places[op] = device


def is_bound(op: Operation) -> bool:
    """Say whether an operation has to do with what is in one place: state, or Python."""
    kind = op.kind
    state = "variable" in op.attributes or bool(kind.touched()) or hasattr(kind, "queue")
    return state or kind.stateful or kind.is_python


def reasons(
    plan: Plan, places: Mapping[Operation, str], available: Sequence[str]
) -> dict[Operation, str]:
    """Return why operations are where they are that ask for nothing and were moved."""
    moved = [op for op in plan.ops if not op.device and places[op] != available[0]]
    return dict.fromkeys(moved, "would end there first")


def in_order(groups: Sequence[list[Operation]]) -> list[list[Operation]]:
    """Return groups by their first operations, in the order in which these were made."""
    return sorted(groups, key=lambda group: group[0].index)


def simulated(
    plan: Plan, available: Sequence[str], costs: CostModel, *, soft: bool = False
) -> dict[Operation, str]:
    """Return the device of each operation of a plan, by what it would cost.

    Raises `PlacementError` for what no device suits.
    """
    return Simulation(plan, costs).run(available, soft=soft)
