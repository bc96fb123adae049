"""`Distribution`: what can be asked of a distribution, by what its class says of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import ClassVar, TypeVar

from ...graph.graph import Graph
from ...values.context import STATE
from ...values.dtypes import DataType, DTypeLike
from ..core.bridge import TfTensor
from ..core.element_types import as_dtype
from ..core.names import name_scope
from ..core.shapes import ShapeLike, TensorShape
from ..core.values import convert_to_tensor
from ..graph import debugging
from ..graph.state import control_dependencies
from ..ops.array_ops import concat, reshape, shape, where
from ..ops.creation import constant
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, cast, identity

Parameters = dict[str, object]
Rule = TypeVar("Rule", bound="Callable[..., TfTensor]")
log, exp, sqrt = FUNCTIONS["log"], FUNCTIONS["exp"], FUNCTIONS["sqrt"]
log1p, total = FUNCTIONS["log1p"], REDUCTIONS["reduce_sum"]
NAN = float("nan")


class ReparameterizationType:
    """Whether gradients go through samples to the parameters."""

    def __init__(self, rep_type: str) -> None:
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameterization Type: {self._rep_type}>"


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


def given(names: Parameters) -> Parameters:
    """Return the arguments of a constructor, of all that is known in it."""
    return {k: v for k, v in names.items() if k not in ("self", "__class__")}


def checked(x: TfTensor, *checks: object) -> TfTensor:
    """Return a tensor behind checks, those that raise when they are made eagerly included."""
    with control_dependencies([c for c in checks if c is not None]):
        return identity(x)


def positive(x: TfTensor, wanted: bool, message: str = "") -> TfTensor:
    """Return a tensor, whose elements have to be positive if that is wanted."""
    return checked(x, debugging.assert_positive(x, message=message)) if wanted else x


def same_floats(*tensors: TfTensor) -> None:
    """Raise where parameters are not of one type of floats."""
    debugging.assert_same_float_dtype(tensors)


def parameters(*values: object) -> list[TfTensor]:
    """Return parameters as tensors."""
    return [convert_to_tensor(x) for x in values]


class Distribution:
    """A distribution, or a batch of some.

    A class says `_log_prob` or `_prob`, `_sample_n`, `_mean` and so on; what is not said follows
    from the rest, or is not implemented.
    """

    PARAMETERS: ClassVar[dict[str, int]] = {}
    """How many axes of each parameter belong to one event."""

    def __init__(
        self,
        dtype: DTypeLike,
        reparameterization_type: ReparameterizationType,
        validate_args: bool,
        allow_nan_stats: bool,
        parameters: Parameters | None = None,
        graph_parents: Sequence[object] | None = None,
        name: str | None = None,
    ) -> None:
        self._dtype, self._reparameterization_type = as_dtype(dtype), reparameterization_type
        self._validate_args, self._allow_nan_stats = validate_args, allow_nan_stats
        self._parameters = dict(parameters or {})
        self._graph_parents = list(graph_parents or ())
        with name_scope(name or type(self).__name__) as scope:
            self._name = scope if isinstance(STATE.context, Graph) else None

    @property
    def name(self) -> str | None:
        """Return the scope of its operations in a graph; eagerly there is none."""
        return self._name

    @property
    def dtype(self) -> DataType:
        """Return the element type of samples."""
        return self._dtype

    @property
    def parameters(self) -> Parameters:
        """Return the arguments that it was made of."""
        return {k: v for k, v in self._parameters.items() if not k.startswith("__")}

    @property
    def reparameterization_type(self) -> ReparameterizationType:
        """Say whether gradients go through samples."""
        return self._reparameterization_type

    @property
    def allow_nan_stats(self) -> bool:
        """Say whether what is not defined is NaN, and no error."""
        return self._allow_nan_stats

    @property
    def validate_args(self) -> bool:
        """Say whether parameters and values are looked at."""
        return self._validate_args

    def copy(self, **override_parameters_kwargs: object) -> Distribution:
        """Return one with other parameters."""
        make: Callable[..., Distribution] = type(self)
        return make(**{**self._parameters, **override_parameters_kwargs})

    def _scope(self, name: str) -> AbstractContextManager[object]:
        return nullcontext() if self._name is None else name_scope(f"{self._name}{name}/")

    def _sizes(self, n: object) -> TfTensor:
        """Return the shape of so many samples of numbers."""
        return concat([[n], self.batch_shape_tensor()], 0)

    def _has(self, name: str) -> bool:
        return hasattr(self, name)

    def _refused(self, name: str) -> NotImplementedError:
        return NotImplementedError(f"{name} is not implemented: {type(self).__name__}")

    def _told(self, name: str, says: str | None = None) -> TfTensor:
        """Return what the class says without a value."""
        if not self._has(f"_{name}"):
            raise self._refused(says or name)
        with self._scope(name):
            made: TfTensor = getattr(self, f"_{name}")()
            return made

    def _of(self, value: object, name: str) -> TfTensor:
        """Return what the class says of a value, or what follows from what it says."""
        with self._scope(name):
            x = convert_to_tensor(value, dtype_hint=self.dtype)
            if self._has(f"_{name}"):
                made: TfTensor = getattr(self, f"_{name}")(x)
                return made
            for other, follow in FOLLOWS.get(name, ()):
                if self._has(f"_{other}"):
                    return follow(getattr(self, f"_{other}")(x))
        raise self._refused(name)

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> TfTensor:
        """Return the shape of the batch as a tensor."""
        if self.batch_shape.is_fully_defined():
            return constant(self.batch_shape.known(), "int32")
        return self._told("batch_shape_tensor")

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> TfTensor:
        """Return the shape of one event as a tensor."""
        if self.event_shape.is_fully_defined():
            return constant(self.event_shape.known(), "int32")
        return self._told("event_shape_tensor")

    @property
    def batch_shape(self) -> TensorShape:
        """Return the shape of the batch."""
        known = getattr(self, "_batch_shape", None)
        return TensorShape(known() if known else None)

    @property
    def event_shape(self) -> TensorShape:
        """Return the shape of one event."""
        known = getattr(self, "_event_shape", None)
        return TensorShape(known() if known else None)

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> TfTensor:
        """Say whether there is one distribution."""
        return _is_scalar(self.batch_shape, self.batch_shape_tensor)

    def is_scalar_event(self, name: str = "is_scalar_event") -> TfTensor:
        """Say whether an event is one number."""
        return _is_scalar(self.event_shape, self.event_shape_tensor)

    def sample(
        self, sample_shape: object = (), seed: int | None = None, name: str = "sample"
    ) -> TfTensor:
        """Draw so many samples."""
        if not self._has("_sample_n"):
            raise self._refused("sample_n")
        with self._scope(name):
            wanted = reshape(convert_to_tensor(sample_shape, "int32"), [-1])
            if isinstance(sample_shape, int | list | tuple | TensorShape):
                known = TensorShape(
                    [sample_shape] if isinstance(sample_shape, int) else sample_shape
                )
                count: object = known.num_elements()
            else:
                known, count = TensorShape(None), REDUCTIONS["reduce_prod"](wanted)
            drawn: TfTensor = self._sample_n(count, seed)  # type: ignore[attr-defined]
            made = reshape(drawn, concat([wanted, shape(drawn)[1:]], 0))
            made.set_shape(known.concatenate(self.batch_shape).concatenate(self.event_shape))
            return made

    def log_prob(self, value: object, name: str = "log_prob") -> TfTensor:
        """Return the logarithm of the density."""
        return self._of(value, "log_prob")

    def prob(self, value: object, name: str = "prob") -> TfTensor:
        """Return the density."""
        return self._of(value, "prob")

    def log_cdf(self, value: object, name: str = "log_cdf") -> TfTensor:
        """Return the logarithm of the share at most a value."""
        return self._of(value, "log_cdf")

    def cdf(self, value: object, name: str = "cdf") -> TfTensor:
        """Return the share at most a value."""
        return self._of(value, "cdf")

    def log_survival_function(self, value: object, name: str = "log_survival_function") -> TfTensor:
        """Return the logarithm of the share above a value."""
        return self._of(value, "log_survival_function")

    def survival_function(self, value: object, name: str = "survival_function") -> TfTensor:
        """Return the share above a value."""
        return self._of(value, "survival_function")

    def quantile(self, value: object, name: str = "quantile") -> TfTensor:
        """Return the value that has so large a share below it."""
        return self._of(value, "quantile")

    def entropy(self, name: str = "entropy") -> TfTensor:
        """Return the entropy."""
        return self._told("entropy")

    def mean(self, name: str = "mean") -> TfTensor:
        """Return the mean."""
        return self._told("mean")

    def mode(self, name: str = "mode") -> TfTensor:
        """Return the likeliest value."""
        return self._told("mode")

    def covariance(self, name: str = "covariance") -> TfTensor:
        """Return the covariances of the parts of an event."""
        return self._told("covariance")

    def variance(self, name: str = "variance") -> TfTensor:
        """Return the variance."""
        if not self._has("_variance") and self._has("_stddev"):
            return self._told("stddev") ** 2
        return self._told("variance")

    def stddev(self, name: str = "stddev") -> TfTensor:
        """Return the standard deviation."""
        if self._has("_stddev") or not self._has("_variance"):
            return self._told("stddev")
        return sqrt(self._told("variance"))

    def cross_entropy(self, other: Distribution, name: str = "cross_entropy") -> TfTensor:
        """Return the entropy plus the divergence from another distribution."""
        return self.entropy() + kl_divergence(self, other, self.allow_nan_stats)

    def kl_divergence(self, other: Distribution, name: str = "kl_divergence") -> TfTensor:
        """Return the divergence from another distribution."""
        return kl_divergence(self, other, self.allow_nan_stats)

    def _where_defined(
        self, is_defined: TfTensor, value: TfTensor, *refusals: tuple[object, object, str]
    ) -> TfTensor:
        """Return a statistic: what is not defined is NaN, or is refused."""
        if self.allow_nan_stats:
            return where(is_defined, value, cast(NAN, self.dtype))
        asserted = [debugging.assert_less(a, b, message=text) for a, b, text in refusals]
        return checked(value, *asserted)

    @classmethod
    def param_shapes(
        cls, sample_shape: object, name: str = "DistributionParamShapes"
    ) -> dict[str, TfTensor]:
        """Return of which shapes the parameters are that give samples of a shape."""
        return {name: convert_to_tensor(sample_shape, "int32") for name in cls.PARAMETERS}

    @classmethod
    def param_static_shapes(cls, sample_shape: ShapeLike) -> dict[str, TensorShape]:
        """Return of which shapes the parameters are, as they are known."""
        return {name: TensorShape(sample_shape) for name in cls.PARAMETERS}

    def _described(self, apart: str) -> str:
        dtype = self.dtype.name
        return apart.join(
            [f"batch_shape={self.batch_shape}", f"event_shape={self.event_shape}", f"dtype={dtype}"]
        )

    def __str__(self) -> str:
        return f'tfp.distributions.{type(self).__name__}("{self.name}", {self._described(", ")})'

    def __repr__(self) -> str:
        return f"<tfp.distributions.{type(self).__name__} '{self.name}' {self._described(' ')}>"


def _is_scalar(known: TensorShape, as_tensor: Callable[[], TfTensor]) -> TfTensor:
    if known.rank is not None:
        return convert_to_tensor(known.rank == 0)
    return FUNCTIONS["equal"](shape(as_tensor())[0], 0)


FOLLOWS: dict[str, tuple[tuple[str, Callable[[TfTensor], TfTensor]], ...]] = {
    "log_prob": (("prob", log),),
    "prob": (("log_prob", exp),),
    "log_cdf": (("cdf", log),),
    "cdf": (("log_cdf", exp),),
    "log_survival_function": (("survival_function", log), ("cdf", lambda x: log1p(-x)),
                              ("log_cdf", lambda x: log1p(-exp(x)))),
    "survival_function": (("log_survival_function", exp), ("cdf", lambda x: 1.0 - x),
                          ("log_cdf", lambda x: 1.0 - exp(x))),
}  # fmt: skip
"""What follows from what a class says of a value."""


DIVERGENCES: dict[tuple[type, type], Callable[..., TfTensor]] = {}
"""By two classes: the function of their distributions that gives the divergence."""


class RegisterKL:
    """Enters a function as the divergence between distributions of two classes."""

    def __init__(self, dist_cls_a: type, dist_cls_b: type) -> None:
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn: Rule) -> Rule:
        """Enter the function."""
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in DIVERGENCES:
            a, b = self._key
            raise ValueError(
                f"KL({a.__name__} || {b.__name__}) has already been registered to: "
                f"{DIVERGENCES[self._key]}"
            )
        DIVERGENCES[self._key] = kl_fn
        return kl_fn


def kl_divergence(
    distribution_a: Distribution,
    distribution_b: Distribution,
    allow_nan_stats: bool = True,
    name: str | None = None,
) -> TfTensor:
    """Return the divergence, by the function of the nearest classes."""
    classes = [type(x).__mro__ for x in (distribution_a, distribution_b)]
    ways = [
        (i + j, function)
        for i, a in enumerate(classes[0])
        for j, b in enumerate(classes[1])
        if (function := DIVERGENCES.get((a, b))) is not None
    ]
    if not ways:
        raise NotImplementedError(
            "No KL(distribution_a || distribution_b) registered for distribution_a type "
            f"{type(distribution_a).__name__} and distribution_b type "
            f"{type(distribution_b).__name__}"
        )
    made = min(ways, key=lambda way: way[0])[1](distribution_a, distribution_b, name=name)
    if allow_nan_stats:
        return made
    number = convert_to_tensor(made)
    is_number = REDUCTIONS["reduce_all"](FUNCTIONS["logical_not"](FUNCTIONS["is_nan"](number)))
    text = (
        f"KL calculation between {distribution_a.name} and {distribution_b.name} returned NaN "
        "values (and was called with allow_nan_stats=False). Values:"
    )
    return checked(number, debugging.Assert(is_number, [text, number]))
