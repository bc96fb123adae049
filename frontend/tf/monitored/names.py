"""What `tf.compat.v1.train` has of watched training."""

from __future__ import annotations

from ..summary.first import summary_iterator
from . import hooks as _h
from . import manager as _m
from . import profiling as _p
from . import scaffold as _c
from . import sessions as _s
from . import supervisor as _u
from . import sync_replicas as _r
from . import writing as _w

MEMBERS: dict[str, object] = {
    **{
        n: getattr(_h, n)
        for n in (
            *("SessionRunArgs", "SessionRunContext", "SessionRunHook", "SessionRunValues"),
            *("FeedFnHook", "FinalOpsHook", "GlobalStepWaiterHook", "LoggingTensorHook"),
            *("NanLossDuringTrainingError", "NanTensorHook", "SecondOrStepTimer"),
            "StopAtStepHook",
        )
    },
    **{
        n: getattr(_w, n)
        for n in (
            *("CheckpointSaverHook", "CheckpointSaverListener", "StepCounterHook"),
            "SummarySaverHook",
        )
    },
    **{
        n: getattr(_s, n)
        for n in (
            *("ChiefSessionCreator", "MonitoredSession", "MonitoredTrainingSession"),
            *("SessionCreator", "SingularMonitoredSession", "WorkerSessionCreator"),
        )
    },
    "LooperThread": _u.LooperThread,
    "ProfilerHook": _p.ProfilerHook,
    "Scaffold": _c.Scaffold,
    "SessionManager": _m.SessionManager,
    "summary_iterator": summary_iterator,
    "Supervisor": _u.Supervisor,
    "basic_train_loop": _u.basic_train_loop,
    "SyncReplicasOptimizer": _r.SyncReplicasOptimizer,
}
