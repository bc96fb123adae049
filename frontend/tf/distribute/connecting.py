"""Eager devices of other tasks: `tf.config.experimental_connect_to_cluster`, `..._to_host`.

Tasks are the ranks of the world, as everywhere: the others run `tf.distribute.Server(...).join()`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...distributed.client import TASKS
from ...distributed.remote import connect
from ...distributed.tasks import Task
from ...values.run_errors import NotFoundError, UnimplementedError
from .cluster import ClusterResolver, ClusterSpec, tf_config
from .server import Server


def connect_to_cluster(
    cluster_spec_or_resolver: object,
    job_name: str = "localhost",
    task_index: int = 0,
    protocol: str | None = None,
    make_master_device_default: bool = True,
    cluster_device_filters: object = None,
) -> None:
    """Let the devices of a cluster's tasks be among those of this process.

    This process is a task of the cluster itself: that of a server that it has, or that
    `gravure launch --cluster` has told it.
    """
    if protocol not in (None, "grpc"):
        raise UnimplementedError(f"protocol {protocol!r}: tasks talk by MPI, RDMA is its own")
    if cluster_device_filters is not None:
        raise UnimplementedError("cluster_device_filters: a process sees all tasks of its cluster")
    given = cluster_spec_or_resolver
    resolved = given.cluster_spec() if isinstance(given, ClusterResolver) else given
    spec = ClusterSpec(resolved)
    if not spec:
        return  # (as TensorFlow does: there is nobody to connect to)
    task = own_task(spec, job_name, task_index)
    connected(task, [f"{job}:{number}" for job, number in spec.all_tasks()])


def connect_to_host(
    remote_host: str | Sequence[str] | None = None, job_name: str = "worker"
) -> None:
    """Let the devices of single tasks, by their addresses, be among those of this process."""
    if not remote_host:
        raise ValueError("Must provide at least one remote_host")
    hosts = [remote_host] if isinstance(remote_host, str) else list(remote_host)
    told = ClusterSpec(tf_config().get("cluster", {}))
    known = {
        told.task_address(job, number): f"{job}:{number}"
        for job, number in told.all_tasks()
        if job == job_name
    }
    names = [known.get(host.removeprefix("grpc://"), "") for host in hosts]
    if not all(names):
        missing = hosts[names.index("")]
        raise NotFoundError(
            f"no task of job {job_name!r} has the address {missing!r}, known are "
            f"{', '.join(known) or 'none: gravure launch --cluster tells a program its tasks'}"
        )
    mine = tf_config().get("task", {})
    connected(own_task(told, str(mine.get("type", "")), int(mine.get("index", 0))), names)


def own_task(spec: ClusterSpec, job: str, index: int) -> Task:
    """Return the task that this process is: of a server it has, or of one that is started now."""
    names = [f"{each}:{number}" for each, number in spec.all_tasks()]
    mine = [task for task in TASKS.values() if set(names) <= set(task.names)]
    wanted = [task for task in mine if task.name == f"{job}:{index}"]
    if wanted or mine:
        return (wanted or mine)[0]
    told = tf_config()
    if (job, index) in spec.all_tasks():
        return Server(spec, job, index).task
    if told.get("task"):
        return Server(told["cluster"]).task
    raise NotFoundError(
        f"this process is no task of the cluster: {job}:{index} is not among {', '.join(names)}",
        hint="gravure launch --cluster chief=1,worker=2 program.py",
    )


def connected(task: Task, names: Sequence[str]) -> None:
    """Let the devices of tasks be there until the task of this process ends."""
    unknown = [name for name in names if name not in task.ranks]
    if unknown:
        raise NotFoundError(f"there is no task {unknown[0]}, known are {', '.join(task.names)}")
    task.ends.append(connect(task, names))
