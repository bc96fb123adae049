"""Distributions of classes and counts."""

from __future__ import annotations

from typing import ClassVar

from ...values.dtypes import DTypeLike
from ..core.bridge import TfTensor
from ..core.element_types import as_dtype
from ..core.shapes import TensorShape
from ..draws.ops import gamma
from ..graph import debugging
from ..graph.loops import map_fn
from ..ops.array_ops import concat, reshape, shape, transpose
from ..ops.creation import one_hot, ones_like, range_
from ..ops.linear_ops import diag
from ..ops.math_ops import FUNCTIONS, argmax, cast
from ..ops.nn_ops import (
    log_softmax,
    sigmoid_cross_entropy_with_logits,
    softmax,
    sparse_softmax_cross_entropy_with_logits,
)
from ..ops.random_ops import categorical, other_seed, uniform
from ..ops.special import lbeta, lgamma
from .base import (
    NOT_REPARAMETERIZED,
    Distribution,
    RegisterKL,
    checked,
    given,
    log,
    log1p,
    parameters,
    total,
)
from .continuous import OfConcentrations, valid_concentration

softplus, sigmoid = FUNCTIONS["softplus"], FUNCTIONS["sigmoid"]


def both_forms(
    logits: object, probs: object, validate_args: bool, *, several: bool = False
) -> tuple[TfTensor, TfTensor]:
    """Return logits and probabilities, of which one is given; `several` are of one event."""
    if (logits is None) == (probs is None):
        raise ValueError("Must pass probs or logits, but not both.")
    if logits is not None:
        (found,) = parameters(logits)
        return found, softmax(found) if several else sigmoid(found)
    (share,) = parameters(probs)
    if validate_args:
        one = cast(1.0, share.dtype)
        shares = [debugging.assert_non_negative(share)]
        if several:
            sums = total(share, axis=-1)
            text = "probs does not sum to 1."
            shares.append(debugging.assert_near(sums, ones_like(sums), message=text))
        else:
            text = "probs has components greater than 1."
            shares.append(debugging.assert_less_equal(share, one, message=text))
        share = checked(share, *shares)
    return (log(share) if several else log(share) - log1p(-share)), share


def whole_numbers(x: TfTensor, wanted: bool, message: str) -> TfTensor:
    """Return a tensor, whose elements have to be whole and not negative if that is wanted."""
    if not wanted:
        return x
    checks = [debugging.assert_non_negative(x, message=message)]
    if x.dtype.is_floating:
        text = "cannot contain fractional components."
        checks.append(debugging.assert_equal(x, FUNCTIONS["round"](x), message=text))
    return checked(x, *checks)


class OfProbabilities(Distribution):
    """What logits or probabilities say."""

    _logits: TfTensor
    _probs: TfTensor

    @property
    def logits(self) -> TfTensor:
        """Return the logits."""
        return self._logits

    @property
    def probs(self) -> TfTensor:
        """Return the probabilities."""
        return self._probs


class Bernoulli(OfProbabilities):
    """One or zero."""

    PARAMETERS: ClassVar[dict[str, int]] = {"logits": 0}

    def __init__(
        self,
        logits: object = None,
        probs: object = None,
        dtype: DTypeLike = "int32",
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ) -> None:
        known = given(locals())
        self._logits, self._probs = both_forms(logits, probs, validate_args)
        super().__init__(
            as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, known,
            [self._logits, self._probs], name,
        )  # fmt: skip

    def _batch_shape(self) -> TensorShape:
        return self._logits.shape

    def _batch_shape_tensor(self) -> TfTensor:
        return shape(self._logits)

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _sample_n(self, n: object, seed: int | None = None) -> TfTensor:
        drawn = uniform(self._sizes(n), dtype=self._probs.dtype, seed=seed)
        return cast(FUNCTIONS["less"](drawn, self._probs), self.dtype)

    def _log_prob(self, event: TfTensor) -> TfTensor:
        if self.validate_args:
            event = whole_numbers(event, True, "Elements must be non-negative.")
            text = "Elements cannot exceed 1."
            event = checked(
                event, debugging.assert_less_equal(event, ones_like(event), message=text)
            )
        found = cast(event, self._logits.dtype)
        logits, found = ones_like(found) * self._logits, ones_like(self._logits) * found
        return -sigmoid_cross_entropy_with_logits(labels=found, logits=logits)

    def _entropy(self) -> TfTensor:
        return -self._logits * (sigmoid(self._logits) - 1.0) + softplus(-self._logits)

    def _mean(self) -> TfTensor:
        return FUNCTIONS["multiply"](self._probs, 1.0)

    def _variance(self) -> TfTensor:
        return self._probs * (1.0 - self._probs)

    def _mode(self) -> TfTensor:
        return cast(FUNCTIONS["greater"](self._probs, 0.5), self.dtype)


class Categorical(OfProbabilities):
    """One of several classes."""

    PARAMETERS: ClassVar[dict[str, int]] = {"logits": 1}

    def __init__(
        self,
        logits: object = None,
        probs: object = None,
        dtype: DTypeLike = "int32",
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Categorical",
    ) -> None:
        known = given(locals())
        self._logits, self._probs = both_forms(logits, probs, validate_args, several=True)
        super().__init__(
            as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, known,
            [self._logits, self._probs], name,
        )  # fmt: skip

    @property
    def event_size(self) -> TfTensor:
        """Return how many classes there are."""
        return shape(self._logits)[-1]

    def _batch_shape(self) -> TensorShape:
        return self._logits.shape[:-1]

    def _batch_shape_tensor(self) -> TfTensor:
        return shape(self._logits)[:-1]

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _sample_n(self, n: object, seed: int | None = None) -> TfTensor:
        rows = reshape(self._logits, [-1, self.event_size])
        kind = "int64" if self.dtype.size > 4 else "int32"
        drawn = categorical(rows, n, dtype=kind, seed=seed)
        return cast(reshape(transpose(drawn), self._sizes(n)), self.dtype)

    def _class(self, k: TfTensor) -> TfTensor:
        return whole_numbers(k, self.validate_args, "Elements must be non-negative.")

    def _log_prob(self, k: TfTensor) -> TfTensor:
        found = cast(self._class(k), "int32" if self.dtype.size <= 4 else "int64")
        found = found * ones_like(self._logits[..., 0], dtype=found.dtype)
        logits = self._logits * ones_like(found[..., None], dtype=self._logits.dtype)
        return -sparse_softmax_cross_entropy_with_logits(labels=found, logits=logits)

    def _cdf(self, k: TfTensor) -> TfTensor:
        below = FUNCTIONS["less"](range_(self.event_size), cast(self._class(k), "int32")[..., None])
        return total(self._probs * cast(below, self._probs.dtype), axis=-1)

    def _entropy(self) -> TfTensor:
        return -total(log_softmax(self._logits) * self._probs, axis=-1)

    def _mode(self) -> TfTensor:
        return cast(argmax(self._logits, axis=-1), self.dtype)


class Counts(Distribution):
    """How often each class is drawn."""

    _total_count: TfTensor

    @property
    def total_count(self) -> TfTensor:
        """Return how many draws there are."""
        return self._total_count

    def _ways(self, counts: TfTensor) -> TfTensor:
        """Return the logarithm of in how many orders counts may come."""
        return lgamma(1.0 + self._total_count) - total(lgamma(1.0 + counts), axis=-1)

    def _valid(self, counts: TfTensor) -> TfTensor:
        if not self.validate_args:
            return counts
        text = "counts must sum to `self.total_count`"
        sums = total(counts, axis=-1)
        counts = whole_numbers(counts, True, f"'{counts}' must be non-negative.")
        return checked(counts, debugging.assert_equal(self._total_count, sums, message=text))

    def _draw(self, logits: TfTensor, n: object, seed: int | None) -> TfTensor:
        """Return counts of classes, of each row of logits its own number: `[n, rows, classes]`."""
        draws = cast(self._total_count, "int32")
        draws = ones_like(logits[..., 0], dtype="int32") * draws
        logits = ones_like(draws[..., None], dtype=logits.dtype) * logits
        classes = shape(logits)[-1]

        def of_row(row: tuple[TfTensor, TfTensor]) -> TfTensor:
            drawn = categorical(row[0][None], n * row[1], dtype="int64", seed=seed)
            return total(one_hot(reshape(drawn, [n, -1]), classes), axis=-2)

        rows = reshape(logits, [-1, classes]), reshape(draws, [-1])
        found = map_fn(of_row, rows, dtype=self.dtype)
        sizes = concat([[n], shape(draws), [classes]], 0)
        return reshape(transpose(found, [1, 0, 2]), sizes)


class Multinomial(Counts, OfProbabilities):
    """How often each of several classes is drawn."""

    PARAMETERS: ClassVar[dict[str, int]] = {"total_count": 0, "logits": 1}

    def __init__(
        self,
        total_count: object,
        logits: object = None,
        probs: object = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Multinomial",
    ) -> None:
        known = given(locals())
        (count,) = parameters(total_count)
        self._total_count = whole_numbers(count, validate_args, "total_count must be non-negative.")
        self._logits, self._probs = both_forms(logits, probs, validate_args, several=True)
        self._mean_value = self._total_count[..., None] * self._probs
        super().__init__(
            self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, known,
            [self._total_count, self._logits, self._probs], name,
        )  # fmt: skip

    def _batch_shape(self) -> TensorShape:
        return self._mean_value.shape[:-1]

    def _event_shape(self) -> TensorShape:
        return self._mean_value.shape[-1:]

    def _batch_shape_tensor(self) -> TfTensor:
        return shape(self._mean_value)[:-1]

    def _event_shape_tensor(self) -> TfTensor:
        return shape(self._mean_value)[-1:]

    def _sample_n(self, n: object, seed: int | None = None) -> TfTensor:
        return self._draw(self._logits, n, seed)

    def _log_prob(self, counts: TfTensor) -> TfTensor:
        found = self._valid(counts)
        return total(found * log_softmax(self._logits), axis=-1) + self._ways(found)

    def _mean(self) -> TfTensor:
        return FUNCTIONS["multiply"](self._mean_value, 1.0)

    def _variance(self) -> TfTensor:
        return self._mean_value - self._mean_value * self._probs

    def _covariance(self) -> TfTensor:
        share = self._probs * ones_like(self._total_count)[..., None]
        return diag(self._mean_value) - self._mean_value[..., None] * share[..., None, :]


class DirichletMultinomial(Counts, OfConcentrations):
    """How often each class is drawn where the probabilities themselves are."""

    PARAMETERS: ClassVar[dict[str, int]] = {"total_count": 0, "concentration": 1}

    def __init__(
        self,
        total_count: object,
        concentration: object,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "DirichletMultinomial",
    ) -> None:
        known = given(locals())
        count, found = parameters(total_count, concentration)
        self._total_count = whole_numbers(count, validate_args, "total_count must be non-negative.")
        self._concentration = valid_concentration(found, validate_args)
        super().__init__(
            found.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, known,
            [self._total_count, self._concentration], name,
        )  # fmt: skip

    def _sample_n(self, n: object, seed: int | None = None) -> TfTensor:
        logits = log(gamma([n], self._concentration, dtype=self.dtype, seed=seed))
        seed = other_seed(seed, "dirichlet_multinomial")
        if self._total_count.shape.rank != 0:
            return self._draw(logits, 1, seed)[0]
        classes = shape(logits)[-1]
        draws = cast(self._total_count, "int32")
        drawn = categorical(reshape(logits, [-1, classes]), draws, dtype="int64", seed=seed)
        counts = total(one_hot(drawn, classes), axis=-2)
        return cast(reshape(counts, shape(logits)), self.dtype)

    def _log_prob(self, counts: TfTensor) -> TfTensor:
        found = self._valid(counts)
        more = lbeta(self._concentration + found) - lbeta(self._concentration)
        return more + self._ways(found)

    def _share(self) -> TfTensor:
        return self._concentration / self.total_concentration[..., None]

    def _mean(self) -> TfTensor:
        """Return the means: counts are those of classes here, as in TensorFlow, not of batches."""
        return self._total_count * self._share()

    def _spread(self) -> TfTensor:
        """Return what variances are multiplied by, compared with those of known probabilities."""
        whole = self.total_concentration[..., None]
        return (self._total_count + whole) / (1.0 + whole)

    def _variance(self) -> TfTensor:
        return self._mean() * (1.0 - self._share()) * self._spread()

    def _covariance(self) -> TfTensor:
        apart = diag(self._mean()) - self._mean()[..., None] * self._share()[..., None, :]
        return apart * self._spread()[..., None]


@RegisterKL(Bernoulli, Bernoulli)
def _of_bernoullis(a: Bernoulli, b: Bernoulli, name: str | None = None) -> TfTensor:
    zeros = softplus(-b.logits) - softplus(-a.logits)
    ones = softplus(b.logits) - softplus(a.logits)
    return sigmoid(a.logits) * zeros + sigmoid(-a.logits) * ones


@RegisterKL(Categorical, Categorical)
def _of_classes(a: Categorical, b: Categorical, name: str | None = None) -> TfTensor:
    apart = log_softmax(a.logits) - log_softmax(b.logits)
    return total(softmax(a.logits) * apart, axis=-1)
