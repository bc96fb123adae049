"""Where the operations of a graph in a file would run: on devices, or tasks of a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...distributed.client import explained
from ...distributed.places import device_of
from ...distributed.simulate import CostModel, reasons, simulated
from ...function.session import Session
from ...graph.execute import Plan
from ...graph.graph import GraphTensor, Operation
from ...graph.partition import Partition, partition
from ...graph.placement import available_with, check_placement
from .graph_def import GraphDef
from .importing import import_own
from .state import TfGraph


def placement_of(
    data: bytes,
    fetches: Sequence[str],
    feeds: Sequence[str],
    *,
    cpus: int,
    cluster: Mapping[str, int],
    soft: bool,
    bits: int,
    costs: CostModel | None,
) -> Partition:
    """Return where the operations of a graph run, why, and what is sent.

    `cluster` says how many tasks each job has; steps begin on the first worker, if there is one.
    `bits` are those that `float32` values are sent in. By `costs` is placed what asks for nothing.
    """
    graph = TfGraph()
    with graph.as_default():
        import_own(GraphDef.FromString(data), name="")
    session = Session(graph)
    wanted: list[GraphTensor | Operation] = [session.element(name) for name in fetches]
    names = [name if ":" in name else f"{name}:0" for name in feeds]
    given = [session.graph.get_tensor_by_name(name) for name in names]
    plan = Plan(wanted or [*graph.operations], given)
    available = devices_of_tasks(cluster) if cluster else available_with(cpus)
    found = check_placement(plan.ops, soft=soft, available=available)
    why = None
    if costs is not None:
        costs.check_for(plan, available)
        found = simulated(plan, available, costs, soft=soft)
        why = reasons(plan, found, available)
    said = explained if cluster else partition
    return said(plan, found, available, why, bits)


def devices_of_tasks(cluster: Mapping[str, int]) -> list[str]:
    """Return the devices of all tasks, that of the first worker first, if there is one."""
    names = [f"{job}:{number}" for job in sorted(cluster) for number in range(cluster[job])]
    first = next((name for name in names if name.startswith("worker:")), names[0])
    return [device_of(name) for name in sorted(names, key=lambda name: name != first)]
