"""What a run of a session says of itself: the fields of a `RunMetadata`.

step_stats          when each node was carried out, on which device, by which thread
cost_graph          of each node that was run: what it takes and makes, and how long
partition_graphs    for each device the nodes that run there, with what is sent between them
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....runtime.tracing import Span, Trace
from ...formats.messages import RunMetadata
from ...formats.tensors import NUMBERS, number_of
from ...graph.execute import Plan
from ...graph.graph import GraphTensor, Operation
from .graph_messages import shape_message
from .partitions import full_name, partition_graphs

ALLOCATOR = "cpu"
"""What memory for the outputs of nodes comes from."""
MOST = 10
"""How many tensors are named where memory does not do."""


def metadata_of(
    plan: Plan,
    places: Mapping[Operation, str],
    trace: Trace,
    *,
    steps: bool,
    costs: bool,
    partitions: bool,
) -> RunMetadata:
    """Return what is said of a run of a plan, whose operations are on the devices `places`."""
    made = RunMetadata()
    if steps:
        add_steps(made.step_stats, trace, {op.name: place for op, place in places.items()})
    if costs:
        add_costs(made.cost_graph, plan, places, took(nodes_of(trace)))
    if partitions:
        made.partition_graphs.extend(partition_graphs(plan, places))
    return made


def nodes_of(trace: Trace) -> list[Span]:
    """Return what was noted of nodes."""
    return [span for span in trace.spans if "node" in span.details]


def took(spans: Sequence[Span]) -> dict[str, int]:
    """Return the nanoseconds that each node took, in all its runs."""
    found: dict[str, int] = {}
    for each in spans:
        found[each.details["node"]] = found.get(each.details["node"], 0) + each.end - each.start
    return found


def add_steps(message: Any, trace: Trace, places: Mapping[str, str]) -> None:
    """Fill in when nodes were carried out, device by device."""
    spans = nodes_of(trace)
    lanes = {lane: number for number, lane in enumerate(dict.fromkeys(s.lane for s in spans))}
    devices: dict[str, list[Span]] = {}
    for span in spans:
        place = places.get(span.details["node"], span.details["device"])
        devices.setdefault(place, []).append(span)
    for device, found in devices.items():
        stats = message.dev_stats.add(device=full_name(device))
        for lane, number in lanes.items():
            stats.thread_names[number] = lane
        for span in found:
            add_node_stats(stats.node_stats.add(), trace, span, lanes[span.lane])


def add_node_stats(node: Any, trace: Trace, span: Span, thread: int) -> None:
    """Fill in when one node was carried out, and what it made."""
    start, length = trace.wall_of(span.start), span.end - span.start
    node.node_name, node.thread_id = span.details["node"], thread
    node.all_start_nanos = node.scheduled_nanos = start
    node.all_start_micros = node.scheduled_micros = start // 1000
    node.op_end_rel_nanos = node.all_end_rel_nanos = length
    micros = max(1, -(-length // 1000))
    node.op_end_rel_micros = node.all_end_rel_micros = micros
    inputs = ", ".join(span.details.get("inputs", ()))
    node.timeline_label = f"{span.details['node']} = {span.details['type']}({inputs})"
    made = 0
    for slot, (dtype, shape) in enumerate(span.details["outputs"]):
        described = node.output.add(slot=slot).tensor_description
        described.dtype = number_of(dtype)
        for size in shape:
            described.shape.dim.add(size=size)
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        described.allocation_description.requested_bytes = size
        described.allocation_description.allocated_bytes = size
        described.allocation_description.allocator_name = ALLOCATOR
        made += size
    if made:
        node.memory.add(
            allocator_name=ALLOCATOR, total_bytes=made, peak_bytes=made, live_bytes=made
        )


def add_costs(
    message: Any, plan: Plan, places: Mapping[Operation, str], times: Mapping[str, int]
) -> None:
    """Fill in what each node takes, makes and costs."""
    numbers = {op: number for number, op in enumerate(plan.ops)}
    final = {f if isinstance(f, Operation) else f.op for f in plan.fetches}
    for op, number in numbers.items():
        nanos = times.get(op.name, 0)
        node = message.node.add(
            name=op.name, device=full_name(places[op]), id=number, is_final=op in final,
            compute_cost=-(-nanos // 1000), compute_time=nanos,
        )  # fmt: skip
        for tensor in op.inputs:
            if tensor not in plan.fed:
                preceding = numbers[tensor.op]
                node.input_info.add(preceding_node=preceding, preceding_port=tensor.value_index)
        node.control_input.extend(numbers[o] for o in op.control_inputs if o in numbers)
        for tensor in op.outputs:
            spec = tensor.spec
            size = int(np.prod(spec.static_shape)) * spec.dtype.size if is_known(tensor) else -1
            info = node.output_info.add(size=size, alias_input_port=-1)
            info.shape.CopyFrom(shape_message(spec))
            info.dtype = NUMBERS.get(str(spec.dtype), 0)


def largest(plan: Plan) -> str:
    """Return what is said of the largest tensors of a plan."""
    sizes = {
        tensor: int(np.prod(tensor.spec.static_shape)) * tensor.spec.dtype.size
        for op in plan.ops
        for tensor in op.outputs
        if is_known(tensor)
    }
    most = sorted(sizes, key=lambda tensor: -sizes[tensor])[:MOST]
    rows = [f"  {sizes[t]} bytes: {t.name} {t.spec}, made at {t.op.source}" for t in most]
    return "\n".join(["the largest tensors of the step:", *rows])


def is_known(tensor: GraphTensor) -> bool:
    """Say whether all sizes of a tensor are known before the run."""
    return tensor.spec.shape is not None and tensor.spec.is_static
