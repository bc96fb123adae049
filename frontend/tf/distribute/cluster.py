"""Specs of clusters: which jobs there are, with which tasks."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from ....runtime.comm.protocol import Comm
from ...formats.messages import ClusterDef
from ...values.run_errors import UnimplementedError


class ClusterSpec:
    """Jobs by name, each with the addresses of its tasks by number.

    Tasks talk by MPI, whatever their addresses say: the ranks of the world are the tasks, in the
    order of the jobs' names and of the tasks' numbers.
    """

    def __init__(self, cluster: object) -> None:
        if isinstance(cluster, ClusterDef):
            cluster = {job.name: dict(job.tasks) for job in cluster.job}
        given = cluster.as_dict() if isinstance(cluster, ClusterSpec) else cluster
        if not isinstance(given, Mapping):
            raise TypeError(f"a cluster is a dict of jobs, not {given!r}")
        self._jobs: dict[str, dict[int, str]] = {}
        for job, tasks in given.items():
            if not isinstance(job, str):
                raise TypeError(f"the name of a job is text, not {job!r}")
            if isinstance(tasks, str) or not isinstance(tasks, Mapping | Sequence):
                raise TypeError(f"the tasks of job {job!r} are a list or a dict, not {tasks!r}")
            rows = [*(tasks.items() if isinstance(tasks, Mapping) else enumerate(tasks))]
            if wrong := [each for _, each in rows if not isinstance(each, str | bytes)]:
                raise TypeError(f"the address of a task of job {job!r} is text, not {wrong[0]!r}")
            self._jobs[job] = {int(number): _text(address) for number, address in rows}

    @property
    def jobs(self) -> list[str]:
        """Return the names of the jobs."""
        return list(self._jobs)

    def num_tasks(self, job_name: str) -> int:
        """Return how many tasks a job has."""
        return len(self._tasks(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """Return the numbers of a job's tasks."""
        return sorted(self._tasks(job_name))

    def job_tasks(self, job_name: str) -> list[str | None]:
        """Return the addresses of a job's tasks, None for numbers that are left out."""
        tasks = self._tasks(job_name)
        return [tasks.get(number) for number in range(max(tasks, default=-1) + 1)]

    def task_address(self, job_name: str, task_index: int) -> str:
        """Return the address of a task."""
        tasks = self._tasks(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def _tasks(self, job: str) -> dict[int, str]:
        if job not in self._jobs:
            raise ValueError(f"No such job in cluster: {job!r}, there are {', '.join(self._jobs)}")
        return self._jobs[job]

    def all_tasks(self) -> list[tuple[str, int]]:
        """Return job and number of each task, in the order of the ranks."""
        jobs = sorted(self._jobs.items())
        return [(job, number) for job, tasks in jobs for number in sorted(tasks)]

    def as_dict(self) -> dict[str, object]:
        """Return the jobs with their tasks: a list, or where numbers are left out a dict."""
        made: dict[str, object] = {}
        for job, tasks in self._jobs.items():
            dense = sorted(tasks) == list(range(len(tasks)))
            made[job] = self.job_tasks(job) if dense else dict(tasks)
        return made

    def as_cluster_def(self) -> ClusterDef:
        """Return it as a message."""
        made = ClusterDef()
        for name, tasks in sorted(self._jobs.items()):
            job = made.job.add(name=name)
            for number, address in tasks.items():
                job.tasks[number] = address
        return made

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and other._jobs == self._jobs

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ClusterSpec({dict(sorted(self.as_dict().items()))!r})"


def _text(address: str | bytes) -> str:
    """Return the address of a task as text."""
    return address.decode() if isinstance(address, bytes) else address


class ClusterResolver(ABC):
    """What knows of which cluster this process is a task."""

    @abstractmethod
    def cluster_spec(self) -> ClusterSpec:
        """Return the cluster."""

    @abstractmethod
    def master(self, *_: object, **__: object) -> str:
        """Return the target of sessions."""


class SimpleClusterResolver(ClusterResolver):
    """A cluster that is said."""

    def __init__(
        self,
        cluster_spec: object,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        **_: object,
    ) -> None:
        self._spec, self._master = ClusterSpec(cluster_spec), master
        self.task_type, self.task_id = task_type, task_id

    def cluster_spec(self) -> ClusterSpec:
        """Return the cluster."""
        return self._spec

    def master(self, *_: object, **__: object) -> str:
        """Return the target of sessions."""
        return self._master


class TFConfigClusterResolver(SimpleClusterResolver):
    """The cluster that the environment variable `TF_CONFIG` says; `gravure launch` sets it."""

    def __init__(self, task_type: str | None = None, task_id: int | None = None) -> None:
        found = tf_config()
        task = found.get("task", {})
        super().__init__(
            found.get("cluster", {}),
            task_type=task_type or task.get("type"),
            task_id=task.get("index") if task_id is None else task_id,
        )


def cluster_of(comm: Comm) -> SimpleClusterResolver:
    """Return the cluster that `TF_CONFIG` says, or where it says none that of a worker a rank.

    Programs ask it for the one task that writes files.
    """
    found = TFConfigClusterResolver()
    if found.task_type is not None or comm.size == 1:
        return found
    workers = [f"rank-{rank}:0" for rank in range(comm.size)]
    return SimpleClusterResolver({"worker": workers}, task_type="worker", task_id=comm.rank)


def tf_config() -> dict[str, Any]:
    """Return what `TF_CONFIG` says; nothing if it is not set."""
    text = os.environ.get("TF_CONFIG", "")
    try:
        found = json.loads(text) if text else {}
    except json.JSONDecodeError as error:
        raise ValueError(f"TF_CONFIG is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"TF_CONFIG is {text}, expected an object")
    return found


REFUSED = {
    "TPUClusterResolver": "there is no backend for TPUs",
    "GCEClusterResolver": "cluster schedulers start `gravure launch` or `mpiexec`",
    "KubernetesClusterResolver": "cluster schedulers start `gravure launch` or `mpiexec`",
    "SlurmClusterResolver": "cluster schedulers start `gravure launch` or `mpiexec`",
}


def refused(name: str) -> type:
    """Return a class that refuses to be made, by its name."""

    class Refused:
        def __init__(self, *_: object, **__: object) -> None:
            raise UnimplementedError(f"tf.distribute.cluster_resolver.{name}: {REFUSED[name]}")

    Refused.__name__ = name
    return Refused
