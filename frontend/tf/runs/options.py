"""What `ConfigProto` and `RunOptions` ask for: what has an effect, and a refusal of all else.

A field that is set and that nothing here acts upon is refused by name, unless what it asks for is
how it is anyhow (`HOLDS`). So a program never believes to have what it has not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ....runtime.comm.protocol import transfer_bits
from ....runtime.devices import gpu_names
from ...formats.messages import ConfigProto, OptimizerOptions, RewriterConfig, RunOptions
from ...graph.execute import Wishes
from ...models.threads import Asked as AskedThreads
from ...values.devices import DeviceName, parse_device
from ...values.run_errors import InvalidArgumentError, UnimplementedError

NOTHING, AGAIN = RewriterConfig.NO_MEM_OPT, RewriterConfig.RECOMPUTATION_HEURISTICS
SWAPPED = RewriterConfig.SWAPPING_HEURISTICS
"""Ways to use less memory that there are: none, layers that are computed again, and what rests for
long on a GPU lies on its host."""
HOLDS: dict[str, Callable[[object], bool]] = {
    "graph_options.infer_shapes": lambda wanted: True,  # they are inferred when an edge is made
    "graph_options.place_pruned_graph": lambda wanted: True,  # what is not run is not placed
    "graph_options.optimizer_options.do_common_subexpression_elimination": lambda wanted: True,
    "graph_options.optimizer_options.do_constant_folding": lambda wanted: True,
    "graph_options.optimizer_options.do_function_inlining": lambda wanted: True,
    "graph_options.optimizer_options.cpu_global_jit": lambda wanted: True,  # code is for it too
    "graph_options.rewrite_options.shape_optimization": lambda toggle: toggle == 1,
    "graph_options.rewrite_options.remapping": lambda toggle: toggle == 1,
    "graph_options.rewrite_options.function_optimization": lambda toggle: toggle == 1,
    "graph_options.rewrite_options.loop_optimization": lambda toggle: toggle == 1,
    "graph_options.rewrite_options.dependency_optimization": lambda toggle: toggle == 1,
    "graph_options.rewrite_options.disable_model_pruning": lambda wanted: False,
    "graph_options.rewrite_options.min_graph_nodes": lambda least: (
        least == -1
    ),  # graphs of any size
    "graph_options.rewrite_options.memory_optimization": lambda way: (
        way in {NOTHING, AGAIN, SWAPPED}
    ),
    "gpu_options.allow_growth": lambda wanted: True,  # memory is taken when it is needed
    "gpu_options": lambda wanted: not gpu_names(),  # nothing to say of what is not there
}
"""Fields that say how it is anyhow: whether a value does."""
ACTED = (
    *("allow_soft_placement", "log_device_placement", "intra_op_parallelism_threads"),
    *("operation_timeout_in_ms", "device_count", "graph_options.build_cost_model"),
    *("inter_op_parallelism_threads", "device_filters", "isolate_session_state"),
    *("graph_options.enable_bfloat16_sendrecv", "graph_options.enable_recv_scheduling"),
    "graph_options.optimizer_options.opt_level",
    "graph_options.optimizer_options.global_jit_level",
    "graph_options.rewrite_options.constant_folding",
    "graph_options.rewrite_options.layout_optimizer",
    "graph_options.rewrite_options.arithmetic_optimization",
    "graph_options.rewrite_options.common_subgraph_elimination",
    "graph_options.rewrite_options.disable_meta_optimizer",
)
"""Fields that have an effect."""
PASSES = {
    "constant_folding": "constant-fold",
    "layout_optimizer": "choose-layout",
    "arithmetic_optimization": "simplify-arithmetic",
    "common_subgraph_elimination": "cse",
}
"""By a switch of TensorFlow's rewriter: the pass that does the same."""
WHY = {
    "placement_period": "operations are placed when a plan is made",
    "session_inter_op_thread_pool": "there is one pool in a process",
    "use_per_session_threads": "there is one pool in a process",
    "rpc_options": "tasks talk by MPI: its environment variables set it up",
    "cluster_def": "the cluster is that of the tf.distribute.Server",
    "share_cluster_devices_in_session": "the cluster is that of the tf.distribute.Server",
}
"""Why a field has no effect."""
RUN_ACTED = ("trace_level", "timeout_in_ms", "output_partition_graphs",
             "report_tensor_allocations_upon_oom")  # fmt: skip


def given(message: Any, before: str = "") -> Iterator[tuple[str, object]]:
    """Give the fields of a message that are set, with those inside of others: path and value."""
    for field, value in message.ListFields():
        path = f"{before}{field.name}"
        plain = field.message_type is None or field.message_type.GetOptions().map_entry
        if plain or not hasattr(value, "ListFields"):
            yield path, value
        else:
            yield from given(value, f"{path}.")


def refuse_others(message: object, acted: tuple[str, ...]) -> None:
    """Raise for all fields at once that are set and have no effect."""
    kind = type(message).__name__
    found = []
    for path, value in given(message):
        top = path.partition(".")[0]
        if path not in acted and not any(HOLDS[way](value) for way in (path, top) if way in HOLDS):
            shown = str(value).strip().replace("\n", " ")
            found.append(f"{kind}.{path} = {shown}: {WHY.get(top, 'this has no effect here')}")
    if found:
        raise UnimplementedError("; ".join(found))


USUAL = Wishes()


@dataclass(frozen=True)
class Config:
    """What a session is told."""

    soft_placement: bool = False
    log_placement: bool = False
    timeout: float = 0.0
    """Seconds that a run may take where it does not say so itself; 0: as long as it likes."""
    costs: bool = False
    """Whether runs say what the operations cost."""
    wishes: Wishes = USUAL
    """How plans are compiled."""
    bits: int = 32
    """In how many bits `float32` values are sent from device to device."""
    delays: bool = False
    """Whether tasks let values of others come just before they need them."""
    filters: Sequence[DeviceName] = ()
    """The devices of other tasks that a session sees; nothing: all."""
    isolated: bool = False
    """Whether a session shares no variables and queues with others of its target."""


def config_of(message: object) -> Config:
    """Return what a `ConfigProto` asks for, or raise for what it cannot have."""
    if message is None:
        return Config(wishes=wishes_of(ConfigProto()), bits=transfer_bits())
    if not isinstance(message, ConfigProto):
        raise TypeError(
            f'Argument `config` must be a tf.ConfigProto, but got "{type(message).__name__}"'
        )
    refuse_others(message, ACTED)
    if message.intra_op_parallelism_threads < 0:
        raise InvalidArgumentError(
            f"ConfigProto.intra_op_parallelism_threads = {message.intra_op_parallelism_threads}, "
            "expected 0 or more"
        )
    return Config(
        soft_placement=message.allow_soft_placement,
        log_placement=message.log_device_placement,
        timeout=max(message.operation_timeout_in_ms, 0) / 1000,
        costs=message.graph_options.build_cost_model > 0,
        wishes=wishes_of(message),
        delays=message.graph_options.enable_recv_scheduling,
        isolated=message.isolate_session_state,
        filters=[parse_device(each) for each in message.device_filters],
        bits=16 if message.graph_options.enable_bfloat16_sendrecv else transfer_bits(),
    )


def wishes_of(message: Any) -> Wishes:
    """Return how plans are to be compiled."""
    optimizer = message.graph_options.optimizer_options
    rewriter = message.graph_options.rewrite_options
    off = [
        name for switch, name in PASSES.items() if getattr(rewriter, switch) == RewriterConfig.OFF
    ]
    plain = optimizer.opt_level == OptimizerOptions.L0 or rewriter.disable_meta_optimizer
    at_once = {OptimizerOptions.OFF: None, OptimizerOptions.DEFAULT: False}
    beside = message.inter_op_parallelism_threads or AskedThreads.beside
    return Wishes(
        level="O0" if plain else "O2",
        disable=tuple(off),
        recompute=rewriter.memory_optimization == AGAIN,
        swap=rewriter.memory_optimization == SWAPPED,
        overlap=beside != 1,
        threads_each=max(beside, 0),
        threads=message.intra_op_parallelism_threads,
        at_once=at_once.get(optimizer.global_jit_level, True),
    )


@dataclass(frozen=True)
class Asked:
    """What one run is told."""

    traced: bool = False
    partitions: bool = False
    timeout: float = 0.0
    """Seconds; 0: as long as it likes."""
    tells_memory: bool = False
    """Whether an error of memory names the largest tensors."""


def asked_of(message: object, config: Config) -> Asked:
    """Return what `RunOptions` ask for, or raise for what they cannot have."""
    if message is None:
        return Asked(timeout=config.timeout)
    if not isinstance(message, RunOptions):
        raise TypeError(f"options must be a RunOptions, but got {type(message)}")
    if message.inter_op_thread_pool > 0:
        raise InvalidArgumentError(f"Invalid inter_op_thread_pool: {message.inter_op_thread_pool}")
    refuse_others(message, (*RUN_ACTED, "inter_op_thread_pool"))
    return Asked(
        traced=message.trace_level != RunOptions.NO_TRACE,
        partitions=message.output_partition_graphs,
        timeout=message.timeout_in_ms / 1000 if message.timeout_in_ms > 0 else config.timeout,
        tells_memory=message.report_tensor_allocations_upon_oom,
    )
