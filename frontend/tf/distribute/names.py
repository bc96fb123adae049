"""The namespace `tf.distribute`."""

from __future__ import annotations

from ..core.space import Space
from . import cluster, inputs, replicas, server, strategy


class CommunicationOptions:
    """How sums over ranks are to be made: MPI decides."""

    def __init__(self, bytes_per_pack: int = 0, timeout_seconds: object = None) -> None:
        if timeout_seconds is not None:
            raise ValueError("timeout_seconds: GRAVURE_TIMEOUT says how long a rank may wait")
        self.bytes_per_pack = bytes_per_pack


MEMBERS: dict[str, object] = {
    "Server": server.Server,
    "Strategy": strategy.Strategy,
    "MirroredStrategy": strategy.MirroredStrategy,
    "MultiWorkerMirroredStrategy": strategy.MultiWorkerMirroredStrategy,
    "OneDeviceStrategy": strategy.OneDeviceStrategy,
    "ReduceOp": replicas.ReduceOp,
    "ReplicaContext": replicas.ReplicaContext,
    "DistributedValues": replicas.PerReplica,
    "DistributedDataset": inputs.DistributedDataset,
    "InputContext": inputs.InputContext,
    "get_strategy": strategy.get_strategy,
    "has_strategy": strategy.has_strategy,
    "get_replica_context": strategy.get_replica_context,
    "in_cross_replica_context": strategy.in_cross_replica_context,
    "cluster_resolver": Space(
        "distribute.cluster_resolver",
        SimpleClusterResolver=cluster.SimpleClusterResolver,
        TFConfigClusterResolver=cluster.TFConfigClusterResolver,
        **{name: cluster.refused(name) for name in cluster.REFUSED},
    ),
    "experimental": Space(
        "distribute.experimental",
        CommunicationOptions=CommunicationOptions,
        MultiWorkerMirroredStrategy=strategy.MultiWorkerMirroredStrategy,
        **{name: strategy.refused(name) for name in ("TPUStrategy", "ParameterServerStrategy")},
    ),
    **{name: strategy.refused(name) for name in strategy.REFUSED},
}
VariableAggregation = replicas.VariableAggregation
VariableSynchronization = replicas.VariableSynchronization
