"""The namespace `tf.tpu`: what describes embeddings is data, what needs a TPU is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, make_dataclass
from enum import Enum
from typing import NoReturn, cast

from ...values.dtypes import DTypeLike
from ...values.run_errors import UnimplementedError
from ..core.shapes import ShapeLike, TensorShape
from ..core.space import Space
from ..ops.initial_values import TruncatedNormal

THERE_IS_NONE = "there are no TPUs here"
COMBINERS = ("mean", "sum", "sqrtn")


@dataclass(eq=False)
class TableConfig:
    """How many rows a table of embeddings has, how wide they are, and how several become one."""

    vocabulary_size: int
    dim: int
    initializer: Callable[..., object] | None = None
    optimizer: object = None
    combiner: str = "mean"
    name: str | None = None
    quantization_config: object = None
    layout: object = None
    dtype: DTypeLike = "float32"

    def __post_init__(self) -> None:
        """Check sizes and names, and give rows a first value."""
        sizes = {
            "`vocabulary_size`": self.vocabulary_size,
            "`dim` (embedding dimension)": self.dim,
        }
        for name, size in sizes.items():
            if not isinstance(size, int) or size < 1:
                raise ValueError(f"Argument {name} must be an int and must be >= 1. Got {size}")
        if isinstance(self.combiner, str) and self.combiner not in COMBINERS:
            raise ValueError(
                f"Argument `combiner` must be in {COMBINERS}. Received: {self.combiner}"
            )
        if self.initializer is None:
            self.initializer = TruncatedNormal(mean=0.0, stddev=self.dim**-0.5)
        if not callable(self.initializer):
            raise ValueError(f"Argument `initializer` must be callable. Got {self.initializer}")


@dataclass(eq=False)
class FeatureConfig:
    """Which table a feature is looked up in, and what shape its result has."""

    table: TableConfig
    max_sequence_length: int = 0
    validate_weights_and_indices: bool = True
    output_shape: ShapeLike = None
    name: str | None = None

    def __post_init__(self) -> None:
        """Take the shape as one."""
        self.output_shape = TensorShape(self.output_shape)


@dataclass
class QuantizationConfig:
    """Between which bounds, and into how many values, embeddings are rounded."""

    num_buckets: int
    lower: float
    upper: float


@dataclass
class SparseCoreEmbeddingConfig:
    """How tables lie on the cores that look embeddings up."""

    disable_table_stacking: bool = False
    max_ids_per_chip_per_sample: int = 64
    max_ids_per_table: dict[str, int] | None = None
    max_unique_ids_per_table: dict[str, int] | None = None
    allow_id_dropping: bool = False
    initialize_tables_on_host: bool = True
    enable_fast_table_initialization: bool = False


class TableOptimizer:
    """How rows of tables are changed by their gradients."""

    use_gradient_accumulation: bool
    clipvalue: object

    def __post_init__(self) -> None:
        """Say between which bounds gradients are cut: one number stands for both."""
        given = self.clipvalue
        if given is not None and not self.use_gradient_accumulation:
            raise ValueError(
                "When `use_gradient_accumulation` is False, gradient clipping cannot be used and "
                f"`clipvalue` should be left as None. Received value {given} for argument "
                "`clipvalue`."
            )
        bounds = (-given, given) if isinstance(given, int | float) else given or (None, None)
        self.clip_gradient_min, self.clip_gradient_max = cast("tuple[object, object]", bounds)

    def __hash__(self) -> int:
        """Return a number that is the same for optimisers that are equal."""
        return hash((type(self), *(repr(getattr(self, f.name)) for f in fields(self))))  # type: ignore[arg-type]


_CLIPS: dict[str, object] = {
    "use_gradient_accumulation": True,
    "clip_weight_min": None,
    "clip_weight_max": None,
    "weight_decay_factor": None,
    "multiply_weight_decay_factor_by_learning_rate": None,
}
_SLOTS: dict[str, object] = {"slot_variable_creation_fn": None, "clipvalue": None}
_PACKED: dict[str, object] = {"low_dimensional_packing_status": False}


def _optimizer(name: str, **known: object) -> type:
    """Return the class of a table's optimiser by its arguments and what they are if not given."""
    listed = [(n, object, value) for n, value in known.items()]
    made: type = make_dataclass(name, listed, bases=(TableOptimizer,))
    return type(name, (made,), {"__hash__": TableOptimizer.__hash__})  # equality took it away


class EmbeddingFeature(Enum):
    """Which embeddings a TPU looks up."""

    UNSUPPORTED = "UNSUPPORTED"
    V1 = "V1"
    V2 = "V2"


class HardwareFeature:
    """What a TPU can do."""

    EmbeddingFeature = EmbeddingFeature


def _refused(name: str) -> type:
    return type(name.rpartition(".")[2], (), {"__init__": _without(name)})


def _without(name: str) -> Callable[..., NoReturn]:
    def function(*_: object, **__: object) -> NoReturn:
        raise UnimplementedError(f"tf.tpu.experimental.{name}: {THERE_IS_NONE}")

    return function


embedding = Space(
    "tpu.experimental.embedding",
    TableConfig=TableConfig,
    FeatureConfig=FeatureConfig,
    QuantizationConfig=QuantizationConfig,
    SparseCoreEmbeddingConfig=SparseCoreEmbeddingConfig,
    SGD=_optimizer("SGD", learning_rate=0.01, **_CLIPS, clipvalue=None, **_PACKED),
    Adagrad=_optimizer(
        "Adagrad", learning_rate=0.001, initial_accumulator_value=0.1, **_CLIPS, **_SLOTS, **_PACKED
    ),
    AdagradMomentum=_optimizer(
        "AdagradMomentum",
        **{"learning_rate": 0.001, "momentum": 0.0, "use_nesterov": False, "exponent": 2.0},
        **{"beta2": 1.0, "epsilon": 1e-10},
        **_CLIPS,
        **_SLOTS,
        **_PACKED,
    ),
    Adam=_optimizer(
        "Adam",
        **{"learning_rate": 0.001, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-7},
        **{"lazy_adam": True, "sum_inside_sqrt": True},
        **_CLIPS,
        **_SLOTS,
        **_PACKED,
    ),
    FTRL=_optimizer(
        "FTRL",
        **{"learning_rate": 0.001, "learning_rate_power": -0.5, "l1_regularization_strength": 0.0},
        **{"l2_regularization_strength": 0.0, "beta": 0.0, "initial_accumulator_value": 0.1},
        **_CLIPS,
        **_SLOTS,
        **{"multiply_linear_by_learning_rate": False, "allow_zero_accumulator": False},
        **_PACKED,
    ),
    **{
        n: _refused(f"embedding.{n}")
        for n in ("TPUEmbedding", "TPUEmbeddingForServing", "TPUEmbeddingV0", "TPUEmbeddingV2")
    },
)
tpu = Space(
    "tpu",
    experimental=Space(
        "tpu.experimental",
        embedding=embedding,
        HardwareFeature=HardwareFeature,
        initialize_tpu_system=_without("initialize_tpu_system"),
        shutdown_tpu_system=_without("shutdown_tpu_system"),
    ),
)
