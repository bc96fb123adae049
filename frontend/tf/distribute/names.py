"""The namespace `tf.distribute`."""

from __future__ import annotations

from ..core.space import Space
from . import cluster, extended, inputs, options, replicas, server, strategy
from .partitioners import partitioners

MEMBERS: dict[str, object] = {
    "Server": server.Server,
    "Strategy": strategy.Strategy,
    "StrategyExtended": extended.StrategyExtended,
    "MirroredStrategy": strategy.MirroredStrategy,
    "MultiWorkerMirroredStrategy": strategy.MultiWorkerMirroredStrategy,
    "OneDeviceStrategy": strategy.OneDeviceStrategy,
    "ReduceOp": replicas.ReduceOp,
    "ReplicaContext": replicas.ReplicaContext,
    "DistributedValues": replicas.PerReplica,
    "DistributedDataset": inputs.DistributedDataset,
    "DistributedIterator": inputs.DistributedIterator,
    "InputContext": inputs.InputContext,
    "InputOptions": options.InputOptions,
    "InputReplicationMode": options.InputReplicationMode,
    "RunOptions": options.RunOptions,
    "CrossDeviceOps": options.CrossDeviceOps,
    "ReductionToOneDevice": options.ReductionToOneDevice,
    "HierarchicalCopyAllReduce": options.HierarchicalCopyAllReduce,
    "NcclAllReduce": options.NcclAllReduce,
    "get_strategy": strategy.get_strategy,
    "has_strategy": strategy.has_strategy,
    "get_replica_context": strategy.get_replica_context,
    "in_cross_replica_context": strategy.in_cross_replica_context,
    "cluster_resolver": Space(
        "distribute.cluster_resolver",
        ClusterResolver=cluster.ClusterResolver,
        SimpleClusterResolver=cluster.SimpleClusterResolver,
        TFConfigClusterResolver=cluster.TFConfigClusterResolver,
        **{name: cluster.refused(name) for name in cluster.REFUSED},
    ),
    "experimental": Space(
        "distribute.experimental",
        CentralStorageStrategy=strategy.CentralStorageStrategy,
        CollectiveCommunication=options.CommunicationImplementation,
        CollectiveHints=options.CommunicationOptions,
        CommunicationImplementation=options.CommunicationImplementation,
        CommunicationOptions=options.CommunicationOptions,
        MultiWorkerMirroredStrategy=strategy.MultiWorkerMirroredStrategy,
        partitioners=partitioners,
        **{name: strategy.refused(name) for name in ("TPUStrategy", "ParameterServerStrategy")},
    ),
    **{name: strategy.refused(name) for name in strategy.REFUSED},
}
