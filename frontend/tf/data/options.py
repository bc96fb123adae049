"""`tf.data.Options`: what a pipeline is told about how it is carried out."""

from __future__ import annotations

import enum
from typing import ClassVar, Self


class AutoShardPolicy(enum.IntEnum):
    """How a dataset is shared among workers."""

    OFF, AUTO, FILE, DATA, HINT = -1, 0, 1, 2, 3


class AutotuneAlgorithm(enum.Enum):
    """How TensorFlow tunes; here threads are chosen by measuring."""

    DEFAULT, HILL_CLIMB, GRADIENT_DESCENT, MAX_PARALLELISM, STAGE_BASED = range(5)


class ExternalStatePolicy(enum.Enum):
    """What is done when the state of a pipeline cannot be saved."""

    WARN, IGNORE, FAIL = range(3)


class OptionGroup:
    """Settings by name; names that are not known are refused."""

    FIELDS: ClassVar[dict[str, object]] = {}

    def __init__(self) -> None:
        for name, make in self.FIELDS.items():
            object.__setattr__(self, name, make() if isinstance(make, type) else make)

    def __setattr__(self, name: str, value: object) -> None:
        if name not in self.FIELDS:
            raise AttributeError(
                f"Cannot set the property {name} on {type(self).__name__}: it has "
                f"{', '.join(self.FIELDS)}"
            )
        object.__setattr__(self, name, value)

    def _values(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.FIELDS}

    def merge(self, options: OptionGroup) -> Self:
        """Return these settings with those of others that say something."""
        made = type(self)()
        for name, mine in self._values().items():
            theirs = getattr(options, name)
            if isinstance(mine, OptionGroup):
                object.__setattr__(made, name, mine.merge(theirs))
            else:
                object.__setattr__(made, name, mine if theirs is None else theirs)
        return made

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(type(self).__name__)

    def __repr__(self) -> str:
        said = ", ".join(f"{k}={v!r}" for k, v in self._values().items() if v is not None)
        return f"{type(self).__name__}({said})"


class AutotuneOptions(OptionGroup):
    """How much is used for what is tuned: threads are chosen by measuring, whatever is said."""

    FIELDS: ClassVar[dict[str, object]] = dict.fromkeys(
        (
            *("enabled", "cpu_budget", "ram_budget", "autotune_algorithm"),
            *("initial_parallelism", "min_parallelism"),
        )
    )


class DistributeOptions(OptionGroup):
    """How a dataset is shared among workers."""

    FIELDS: ClassVar[dict[str, object]] = {"auto_shard_policy": None, "num_devices": None}


class OptimizationOptions(OptionGroup):
    """Which steps TensorFlow would put together; the elements are the same."""

    FIELDS: ClassVar[dict[str, object]] = dict.fromkeys(
        (
            *("apply_default_optimizations", "filter_fusion", "filter_parallelization"),
            *("inject_prefetch", "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion"),
            *("map_parallelization", "noop_elimination", "parallel_batch"),
            *("seq_interleave_prefetch", "shuffle_and_repeat_fusion"),
        )
    )


class ThreadingOptions(OptionGroup):
    """How many threads are used."""

    FIELDS: ClassVar[dict[str, object]] = dict.fromkeys(
        ("max_intra_op_parallelism", "private_threadpool_size")
    )


class Options(OptionGroup):
    """What a pipeline is told. None of it changes the elements, or their order."""

    experimental_external_state_policy: ExternalStatePolicy | None
    FIELDS: ClassVar[dict[str, object]] = {
        **dict.fromkeys(
            (
                *("deterministic", "experimental_deterministic", "experimental_slack"),
                *("experimental_symbolic_checkpoint", "experimental_external_state_policy"),
                *("experimental_warm_start", "dataset_name", "framework_type"),
            )
        ),
        "autotune": AutotuneOptions,
        "distribute": DistributeOptions,
        "experimental_distribute": DistributeOptions,
        "experimental_optimization": OptimizationOptions,
        "experimental_threading": ThreadingOptions,
        "threading": ThreadingOptions,
    }
