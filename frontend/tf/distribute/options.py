"""How replicas' values are to be put together, and how they get their data: what can be wished.

Within a process values are added up on one device, over ranks as MPI likes: each wish that this
meets is taken, each other one is refused by name.
"""

from __future__ import annotations

from enum import Enum

from ....runtime.devices import gpu_names
from ...values.run_errors import UnimplementedError


class CrossDeviceOps:
    """How values of the devices of a process become one."""


class ReductionToOneDevice(CrossDeviceOps):
    """By adding them up on one device: that of the first replica."""

    def __init__(self, reduce_to_device: object = None, accumulation_fn: object = None) -> None:
        for name, given in (
            ("reduce_to_device", reduce_to_device),
            ("accumulation_fn", accumulation_fn),
        ):
            if given is not None:
                raise UnimplementedError(
                    f"{name}={given!r}: values are added up, on the device of the first replica"
                )


class HierarchicalCopyAllReduce(CrossDeviceOps):
    """By copies between GPUs in two steps; without GPUs they are added up on one device."""

    def __init__(self, num_packs: int = 1) -> None:
        if num_packs < 0:
            raise ValueError(f"HierarchicalCopy requires num_packs >= 0, but {num_packs} given")
        self.num_packs = num_packs


class NcclAllReduce(HierarchicalCopyAllReduce):
    """By NCCL, between GPUs."""

    def __init__(self, num_packs: int = 1) -> None:
        super().__init__(num_packs)
        refuse_nccl("NcclAllReduce")


class CommunicationImplementation(Enum):
    """What is to add up values over ranks."""

    AUTO = "AUTO"
    RING = "RING"
    """In a ring, if MPI likes."""
    NCCL = "NCCL"


class CommunicationOptions:
    """How sums over ranks are to be made: MPI decides on packs and ways."""

    def __init__(
        self,
        bytes_per_pack: int = 0,
        timeout_seconds: float | None = None,
        implementation: object = CommunicationImplementation.AUTO,
    ) -> None:
        if timeout_seconds is not None and timeout_seconds <= 0:
            raise ValueError(f"timeout_seconds={timeout_seconds}, expected more than 0")
        self.timeout_seconds = timeout_seconds
        """How long a rank waits for others, at most; None: as `GRAVURE_TIMEOUT` says."""
        if bytes_per_pack < 0:
            raise ValueError(f"bytes_per_pack={bytes_per_pack}, expected 0 or more")
        self.implementation = CommunicationImplementation(
            getattr(implementation, "value", implementation)
        )
        if self.implementation is CommunicationImplementation.NCCL:
            refuse_nccl("CommunicationImplementation.NCCL")
        self.bytes_per_pack = bytes_per_pack


def refuse_nccl(name: str) -> None:
    """Raise where there are no GPUs between which NCCL could send anything."""
    if not gpu_names():
        raise UnimplementedError(f"tf.distribute.{name}: there is no GPU here")


class InputReplicationMode(Enum):
    """Whether each process has a pipeline of its own, or each replica."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class InputOptions:
    """How replicas get their data: each process has one pipeline, for all of its replicas."""

    def __init__(
        self,
        experimental_fetch_to_device: bool | None = None,
        experimental_replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER,
        experimental_place_dataset_on_device: bool = False,
        experimental_per_replica_buffer_size: int = 1,
    ) -> None:
        wished = {
            "experimental_replication_mode": experimental_replication_mode
            is not InputReplicationMode.PER_WORKER,
            "experimental_place_dataset_on_device": experimental_place_dataset_on_device,
            "experimental_per_replica_buffer_size": experimental_per_replica_buffer_size != 1,
        }
        for name, other in wished.items():
            if other:
                raise UnimplementedError(
                    f"tf.distribute.InputOptions.{name}: a process has one pipeline, on its "
                    "processor; `prefetch` says how many batches wait"
                )
        self.experimental_fetch_to_device = experimental_fetch_to_device


class RunOptions:
    """How `run` is to compile: sizes that change are no other program here."""

    def __init__(
        self,
        experimental_enable_dynamic_batch_size: bool = True,
        experimental_bucketizing_dynamic_shape: bool = False,
        experimental_xla_options: object = None,
    ) -> None:
        if experimental_bucketizing_dynamic_shape or experimental_xla_options is not None:
            raise UnimplementedError(
                "tf.distribute.RunOptions: experimental_bucketizing_dynamic_shape and "
                "experimental_xla_options are for TPUs"
            )
        self.experimental_enable_dynamic_batch_size = experimental_enable_dynamic_batch_size
