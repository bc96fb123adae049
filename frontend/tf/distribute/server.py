"""Servers: this process as a task of a cluster; and where variables and operations go by default.

cluster = tf.train.ClusterSpec({"ps": ["host:2222"], "worker": ["host:2223", "host:2224"]})
server = tf.distribute.Server(cluster, job_name="worker", task_index=0)
with tf.device(tf.train.replica_device_setter(cluster=cluster)): ...
with tf.compat.v1.Session(server.target) as session: ...
"""

from __future__ import annotations

import atexit
import socket
from collections.abc import Callable, Sequence

from ....runtime.comm.local import alone
from ....runtime.comm.protocol import Comm, WorldError
from ....runtime.comm.world import world
from ...distributed.client import TASKS
from ...distributed.tasks import Task
from ...formats.messages import ConfigProto, ServerDef
from ...graph.graph import Operation
from ...values.devices import parse_device
from ...values.run_errors import InvalidArgumentError, UnimplementedError, UnknownError
from ..graph.device_spec import DeviceSpec
from ..runs.options import config_of
from .cluster import ClusterSpec, tf_config

PS_OPS = ("Variable", "VariableV2", "AutoReloadVariable", "VarHandleOp")
"""The types of operations that parameter servers have."""


class Server:
    """A task, which the process is: it keeps variables and queues, and runs its part of steps.

    Raises `WorldError` if the ranks of the world are not the tasks of the cluster, in order.
    """

    def __init__(
        self,
        server_or_cluster_def: object,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: object = None,
        start: bool = True,
        comm: Comm | None = None,
    ) -> None:
        if protocol not in (None, "grpc"):
            raise UnimplementedError(f"protocol {protocol!r}: tasks talk by MPI, RDMA is its own")
        if isinstance(server_or_cluster_def, ServerDef):
            told_by = server_or_cluster_def
            if config is None and told_by.HasField("default_session_config"):
                config = told_by.default_session_config
            job_name = told_by.job_name if job_name is None else job_name
            task_index = told_by.task_index if task_index is None else task_index
            server_or_cluster_def = told_by.cluster
        self._cluster = ClusterSpec(server_or_cluster_def)
        tasks = self._cluster.all_tasks()
        told = tf_config().get("task", {})
        only = tasks[0] if len(tasks) == 1 else (None, None)
        job = job_name or told.get("type") or only[0]
        index = next((x for x in (task_index, told.get("index"), only[1]) if x is not None), None)
        if (job, index) not in tasks:
            raise ValueError(f"there is no task {job}:{index}, known are {tasks}")
        self._comm = world() if comm is None else comm
        self.name = f"{job}:{index}"
        self._names = [f"{each}:{number}" for each, number in tasks]
        self._target = f"grpc://{listening(self._cluster.task_address(str(job), int(str(index))))}"
        config_of(config)  # what it cannot have is refused at once
        self._config = config
        self._task: Task | None = None
        if start:
            self.start()

    @staticmethod
    def create_local_server(config: object = None, start: bool = True) -> Server:
        """Return a server of a cluster of one task."""
        return Server({"localhost": ["localhost:0"]}, config=config, start=start, comm=alone())

    def start(self) -> None:
        """Begin to serve."""
        if self._task is not None:
            return
        rank = self._comm.rank
        if rank < len(self._names) == self._comm.size and self._names[rank] != self.name:
            raise WorldError(
                f"rank {rank} is {self._names[rank]}, and not {self.name}: tasks are ranks, in the "
                f"order {', '.join(self._names)}",
                hint="gravure launch --cluster ... tells each rank its task by TF_CONFIG",
            )
        if self._target in TASKS:
            raise UnknownError(f"Could not start a server at {self._target}: another one is there")
        self._task = TASKS[self._target] = Task(self._comm, self._names)
        self._task.config = self._config
        atexit.register(self._task.leave)

    @property
    def task(self) -> Task:
        """Return the task, which was started."""
        if self._task is None:
            raise RuntimeError("the server was not started")
        return self._task

    @property
    def target(self) -> str:
        """Return the target of sessions whose steps begin here."""
        return self._target

    @property
    def server_def(self) -> ServerDef:
        """Return the cluster, and which task of it this is, as a message."""
        job, index = self.name.split(":")
        cluster = self._cluster.as_cluster_def()
        made = ServerDef(cluster=cluster, job_name=job, task_index=int(index), protocol="grpc")
        if isinstance(self._config, ConfigProto):
            made.default_session_config.CopyFrom(self._config)
        return made

    def join(self) -> None:
        """Serve until no task begins steps any more."""
        self.task.join()

    def close(self) -> None:
        """End: begin no steps, and serve none."""
        TASKS.pop(self._target, None)
        self.task.close()


def listening(address: str) -> str:
    """Return the address of a task, with a port that is free in place of 0."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise InvalidArgumentError(f'Could not interpret "{address}" as a host-port pair.')
    if int(port):
        return address
    with socket.socket() as found:
        found.bind(("", 0))
        return f"{host}:{found.getsockname()[1]}"


def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: object = None,
    ps_ops: Sequence[str] | None = None,
    ps_strategy: Callable[[Operation], int] | None = None,
) -> Callable[[Operation], str] | None:
    """Return what puts variables on parameter servers, in turn, and the rest on a worker."""
    if cluster is not None:
        spec = ClusterSpec(cluster)
        job = parse_device(ps_device).job
        ps_tasks = spec.num_tasks(job) if job in spec.jobs else 0
    if ps_tasks == 0:
        return None
    if ps_strategy is not None and not callable(ps_strategy):
        raise TypeError(f"ps_strategy is a function of an operation, not {ps_strategy!r}")
    turns: list[Operation] = []
    wanted = PS_OPS if ps_ops is None else tuple(ps_ops)

    def in_turn(op: Operation) -> int:
        turns.append(op)
        return (len(turns) - 1) % ps_tasks

    strategy = ps_strategy or in_turn

    def device(op: Operation) -> str:
        if not merge_devices and op.device:
            return op.device
        present = DeviceSpec.from_string(op.device or "")
        if op.type not in wanted:
            own = DeviceSpec.from_string(worker_device)
            return own.make_merged_spec(present).to_string()
        server = DeviceSpec.from_string(ps_device)
        if server.job and (not present.job or present.job == server.job):
            server = server.replace(task=strategy(op))
        return server.make_merged_spec(present).to_string()

    return device
