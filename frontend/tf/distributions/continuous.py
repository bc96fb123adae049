"""Distributions of numbers on a line."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from ..core.bridge import TfTensor
from ..core.shapes import TensorShape, broadcast_static_shape
from ..draws.ops import gamma
from ..graph import debugging
from ..ops.array_ops import broadcast_dynamic_shape, shape, where
from ..ops.creation import ones, ones_like
from ..ops.linear_ops import diag
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, cast
from ..ops.random_ops import normal, other_seed, uniform
from ..ops.special import digamma, lbeta, lgamma, xlog1py, xlogy
from ..special.beta import betainc
from ..special.gamma import igamma
from ..special.inverse_erf import ndtri
from .base import (
    FULLY_REPARAMETERIZED,
    Distribution,
    Parameters,
    RegisterKL,
    checked,
    exp,
    given,
    log,
    log1p,
    parameters,
    positive,
    same_floats,
    total,
)
from .normal import log_ndtr, ndtr

magnitude, greater, less = FUNCTIONS["abs"], FUNCTIONS["greater"], FUNCTIONS["less"]
both = FUNCTIONS["logical_and"]


class OfNumbers(Distribution):
    """A distribution of single numbers: the batch is what its parameters broadcast to."""

    def __init__(
        self,
        values: dict[str, TfTensor],
        validate_args: bool,
        allow_nan_stats: bool,
        known: Parameters,
        name: str,
    ) -> None:
        self._tensors = values
        dtype = next(iter(values.values())).dtype
        super().__init__(
            dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, known,
            list(values.values()), name,
        )  # fmt: skip

    def _batch_shape(self) -> TensorShape:
        first, *rest = [x.shape for x in self._tensors.values()]
        for each in rest:
            first = broadcast_static_shape(first, each)
        return first

    def _batch_shape_tensor(self) -> TfTensor:
        first, *rest = [shape(x) for x in self._tensors.values()]
        for each in rest:
            first = broadcast_dynamic_shape(first, each)
        return first

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _wide(self, x: TfTensor) -> TfTensor:
        """Return a parameter as large as the batch."""
        return x * ones(self.batch_shape_tensor(), dtype=self.dtype)


class LocationScale(OfNumbers):
    """A distribution that is moved and stretched."""

    PARAMETERS: ClassVar[dict[str, int]] = {"loc": 0, "scale": 0}

    @property
    def loc(self) -> TfTensor:
        """Return where the middle is."""
        return self._tensors["loc"]

    @property
    def scale(self) -> TfTensor:
        """Return how wide it is."""
        return self._tensors["scale"]

    def _z(self, x: TfTensor) -> TfTensor:
        return (x - self.loc) / self.scale

    def _mean(self) -> TfTensor:
        return self._wide(self.loc)

    def _mode(self) -> TfTensor:
        return self._mean()


def placed(loc: object, scale: object, validate_args: bool) -> dict[str, TfTensor]:
    """Return where a distribution lies and how wide it is, as tensors."""
    middle, width = parameters(loc, scale)
    width = positive(width, validate_args)
    same_floats(middle, width)
    return {"loc": middle, "scale": width}


class Normal(LocationScale):
    """The normal distribution."""

    def __init__(
        self,
        loc: object,
        scale: object,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Normal",
    ) -> None:
        known = given(locals())
        super().__init__(
            placed(loc, scale, validate_args), validate_args, allow_nan_stats, known, name
        )

    def _sample_n(self, n: object, seed: int | None = None) -> TfTensor:
        drawn = normal(self._sizes(n), 0.0, 1.0, self.loc.dtype, seed)
        return drawn * self.scale + self.loc

    def _log_prob(self, x: TfTensor) -> TfTensor:
        return -0.5 * self._z(x) ** 2 - (0.5 * math.log(2.0 * math.pi) + log(self.scale))

    def _log_cdf(self, x: TfTensor) -> TfTensor:
        return log_ndtr(self._z(x))

    def _cdf(self, x: TfTensor) -> TfTensor:
        return ndtr(self._z(x))

    def _log_survival_function(self, x: TfTensor) -> TfTensor:
        return log_ndtr(-self._z(x))

    def _survival_function(self, x: TfTensor) -> TfTensor:
        return ndtr(-self._z(x))

    def _quantile(self, p: TfTensor) -> TfTensor:
        return ndtri(p) * self.scale + self.loc

    def _entropy(self) -> TfTensor:
        return 0.5 * math.log(2.0 * math.pi * math.e) + log(self._wide(self.scale))

    def _stddev(self) -> TfTensor:
        return self._wide(self.scale)


class Laplace(LocationScale):
    """The exponential distribution to both sides."""

    def __init__(
        self,
        loc: object,
        scale: object,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Laplace",
    ) -> None:
        known = given(locals())
        super().__init__(
            placed(loc, scale, validate_args), validate_args, allow_nan_stats, known, name
        )

    def _sample_n(self, n: object, seed: int | None = None) -> TfTensor:
        kind = self.dtype.as_numpy_dtype
        drawn = uniform(self._sizes(n), np.nextafter(kind(-1), kind(0)), 1.0, self.dtype, seed)
        return self.loc - self.scale * FUNCTIONS["sign"](drawn) * log1p(-magnitude(drawn))

    def _log_prob(self, x: TfTensor) -> TfTensor:
        return -magnitude(self._z(x)) - (math.log(2.0) + log(self.scale))

    @staticmethod
    def _log_below(z: TfTensor) -> TfTensor:
        """Return the logarithm of the share below: on either side without a difference of ones."""
        less_than_half = z - math.log(2.0)
        return where(greater(z, 0.0), log1p(-0.5 * exp(-magnitude(z))), less_than_half)

    def _log_cdf(self, x: TfTensor) -> TfTensor:
        return self._log_below(self._z(x))

    def _log_survival_function(self, x: TfTensor) -> TfTensor:
        return self._log_below(-self._z(x))

    def _cdf(self, x: TfTensor) -> TfTensor:
        z = self._z(x)
        return 0.5 + 0.5 * FUNCTIONS["sign"](z) * (1.0 - exp(-magnitude(z)))

    def _entropy(self) -> TfTensor:
        return math.log(2.0) + 1.0 + log(self._wide(self.scale))

    def _stddev(self) -> TfTensor:
        return math.sqrt(2.0) * self._wide(self.scale)


class StudentT(LocationScale):
    """Student's distribution, of so many degrees of freedom."""

    PARAMETERS: ClassVar[dict[str, int]] = {"df": 0, "loc": 0, "scale": 0}

    def __init__(
        self,
        df: object,
        loc: object,
        scale: object,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentT",
    ) -> None:
        known = given(locals())
        degrees, middle, width = parameters(df, loc, scale)
        degrees = positive(degrees, validate_args)
        same_floats(degrees, middle, width)
        tensors = {"df": degrees, "loc": middle, "scale": width}
        super().__init__(tensors, validate_args, allow_nan_stats, known, name)

    @property
    def df(self) -> TfTensor:
        """Return the degrees of freedom."""
        return self._tensors["df"]

    def _sample_n(self, n: object, seed: int | None = None) -> TfTensor:
        drawn = normal(self._sizes(n), dtype=self.dtype, seed=seed)
        degrees = self._wide(self.df)
        squares = gamma([n], 0.5 * degrees, 0.5, self.dtype, other_seed(seed, "student_t"))
        return drawn * FUNCTIONS["rsqrt"](squares / degrees) * self.scale + self.loc

    def _log_prob(self, x: TfTensor) -> TfTensor:
        shape_ = -0.5 * (self.df + 1.0) * log1p(self._z(x) ** 2 / self.df)
        size = (
            log(magnitude(self.scale))
            + 0.5 * log(self.df)
            + 0.5 * math.log(math.pi)
            + lgamma(0.5 * self.df)
            - lgamma(0.5 * (self.df + 1.0))
        )
        return shape_ - size

    def _cdf(self, x: TfTensor) -> TfTensor:
        y = (x - self.loc) / magnitude(self.scale)
        tail = 0.5 * betainc(0.5 * self.df, cast(0.5, self.dtype), self.df / (y**2 + self.df))
        return where(less(y, 0.0), tail, 1.0 - tail)

    def _entropy(self) -> TfTensor:
        half = 0.5 * self._wide(self.df)
        more = half + 0.5
        beta = lgamma(half) + lgamma(0.5 * ones_like(half)) - lgamma(more)
        spread = log(magnitude(self._wide(self.scale))) + 0.5 * log(self._wide(self.df)) + beta
        return spread + more * (digamma(more) - digamma(half))

    def _mean(self) -> TfTensor:
        mean, one = self._wide(self.loc), cast(1.0, self.dtype)
        text = "mean not defined for components of df <= 1"
        return self._where_defined(greater(self._wide(self.df), 1.0), mean, (one, self.df, text))

    def _mode(self) -> TfTensor:
        return self._wide(self.loc)

    def _variance(self) -> TfTensor:
        degrees, one = self._wide(self.df), cast(1.0, self.dtype)
        above = where(greater(degrees, 2.0), degrees - 2.0, ones_like(degrees))
        finite = self._wide(self.scale) ** 2 * degrees / above
        found = where(greater(degrees, 2.0), finite, cast(math.inf, self.dtype))
        text = "variance not defined for components of df <= 1"
        return self._where_defined(greater(degrees, 1.0), found, (one, self.df, text))


class Uniform(OfNumbers):
    """What is as likely everywhere between two bounds."""

    PARAMETERS: ClassVar[dict[str, int]] = {"low": 0, "high": 0}

    def __init__(
        self,
        low: object = 0.0,
        high: object = 1.0,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Uniform",
    ) -> None:
        known = given(locals())
        least, most = parameters(low, high)
        if validate_args:
            text = "uniform not defined when low >= high."
            below = debugging.assert_less(least, most, message=text)
            least, most = checked(least, below), checked(most, below)
        same_floats(least, most)
        super().__init__({"low": least, "high": most}, validate_args, allow_nan_stats, known, name)

    @property
    def low(self) -> TfTensor:
        """Return the lower bound."""
        return self._tensors["low"]

    @property
    def high(self) -> TfTensor:
        """Return the upper bound."""
        return self._tensors["high"]

    def range(self, name: str = "range") -> TfTensor:
        """Return the distance of the bounds."""
        return self.high - self.low

    def _sample_n(self, n: object, seed: int | None = None) -> TfTensor:
        return self.low + self.range() * uniform(self._sizes(n), dtype=self.dtype, seed=seed)

    def _prob(self, x: TfTensor) -> TfTensor:
        wide = x * ones_like(self._wide(self.low))
        inside = both(FUNCTIONS["greater_equal"](wide, self.low), less(wide, self.high))
        found = where(inside, 1.0 / self._wide(self.range()), cast(0.0, self.dtype))
        return where(FUNCTIONS["is_nan"](wide), wide, found)

    def _cdf(self, x: TfTensor) -> TfTensor:
        wide = x * ones_like(self._wide(self.low))
        share = (wide - self.low) / self.range()
        share = where(FUNCTIONS["greater_equal"](wide, self.high), cast(1.0, self.dtype), share)
        return where(less(wide, self.low), cast(0.0, self.dtype), share)

    def _entropy(self) -> TfTensor:
        return log(self._wide(self.range()))

    def _mean(self) -> TfTensor:
        return self._wide((self.low + self.high) / 2.0)

    def _variance(self) -> TfTensor:
        return self._wide(self.range()) ** 2 / 12.0

    def _stddev(self) -> TfTensor:
        return self._wide(self.range()) / math.sqrt(12.0)


class Gamma(OfNumbers):
    """The gamma distribution."""

    PARAMETERS: ClassVar[dict[str, int]] = {"concentration": 0, "rate": 0}

    def __init__(
        self,
        concentration: object,
        rate: object,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Gamma",
    ) -> None:
        known = given(locals())
        self._begin(concentration, rate, validate_args, allow_nan_stats, known, name)

    def _begin(
        self,
        concentration: object,
        rate: object,
        validate_args: bool,
        allow_nan_stats: bool,
        known: Parameters,
        name: str,
    ) -> None:
        a, b = (positive(x, validate_args) for x in parameters(concentration, rate))
        same_floats(a, b)
        tensors = {"concentration": a, "rate": b}
        super().__init__(tensors, validate_args, allow_nan_stats, known, name)

    @property
    def concentration(self) -> TfTensor:
        """Return the concentration."""
        return self._tensors["concentration"]

    @property
    def rate(self) -> TfTensor:
        """Return the rate."""
        return self._tensors["rate"]

    def _sample_n(self, n: object, seed: int | None = None) -> TfTensor:
        return gamma([n], self.concentration, self.rate, self.dtype, seed)

    def _valid(self, x: TfTensor) -> TfTensor:
        return positive(x, self.validate_args)

    def _log_prob(self, x: TfTensor) -> TfTensor:
        x = self._valid(x)
        size = lgamma(self.concentration) - self.concentration * log(self.rate)
        return xlogy(self.concentration - 1.0, x) - self.rate * x - size

    def _cdf(self, x: TfTensor) -> TfTensor:
        return igamma(self.concentration, self.rate * self._valid(x))

    def _entropy(self) -> TfTensor:
        a = self.concentration
        return a - log(self.rate) + lgamma(a) + (1.0 - a) * digamma(a)

    def _mean(self) -> TfTensor:
        return self.concentration / self.rate

    def _variance(self) -> TfTensor:
        return self.concentration / self.rate**2

    def _stddev(self) -> TfTensor:
        return FUNCTIONS["sqrt"](self.concentration) / self.rate

    def _mode(self) -> TfTensor:
        found = (self.concentration - 1.0) / self.rate
        defined = greater(self._wide(self.concentration), 1.0)
        text = "mode not defined when any concentration <= 1"
        return self._where_defined(
            defined, found, (cast(1.0, self.dtype), self.concentration, text)
        )


class Exponential(Gamma):
    """The exponential distribution."""

    PARAMETERS: ClassVar[dict[str, int]] = {"rate": 0}

    def __init__(
        self,
        rate: object,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Exponential",
    ) -> None:
        known = given(locals())
        (found,) = parameters(rate)
        self._begin(ones_like(found), found, validate_args, allow_nan_stats, known, name)

    def _sample_n(self, n: object, seed: int | None = None) -> TfTensor:
        tiny = np.finfo(np.dtype(self.dtype.as_numpy_dtype)).tiny
        drawn = uniform(self._sizes(n), tiny, 1.0, self.dtype, seed)
        return -log(drawn) / self.rate

    def _log_survival_function(self, value: TfTensor) -> TfTensor:
        return -value * self.rate


class Beta(OfNumbers):
    """The beta distribution, of numbers between zero and one."""

    PARAMETERS: ClassVar[dict[str, int]] = {"concentration1": 0, "concentration0": 0}

    def __init__(
        self,
        concentration1: object = None,
        concentration0: object = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Beta",
    ) -> None:
        known = given(locals())
        text = "Concentration parameter must be positive."
        a, b = (
            positive(x, validate_args, text) for x in parameters(concentration1, concentration0)
        )
        same_floats(a, b)
        tensors = {"concentration1": a, "concentration0": b}
        super().__init__(tensors, validate_args, allow_nan_stats, known, name)

    @property
    def concentration1(self) -> TfTensor:
        """Return the concentration at one."""
        return self._tensors["concentration1"]

    @property
    def concentration0(self) -> TfTensor:
        """Return the concentration at zero."""
        return self._tensors["concentration0"]

    @property
    def total_concentration(self) -> TfTensor:
        """Return the sum of both."""
        return self.concentration1 + self.concentration0

    def _sample_n(self, n: object, seed: int | None = None) -> TfTensor:
        a, b = self._wide(self.concentration1), self._wide(self.concentration0)
        first = gamma([n], a, dtype=self.dtype, seed=seed)
        second = gamma([n], b, dtype=self.dtype, seed=other_seed(seed, "beta"))
        return first / (first + second)

    def _valid(self, x: TfTensor) -> TfTensor:
        if not self.validate_args:
            return x
        one = cast(1.0, self.dtype)
        return checked(
            x,
            debugging.assert_positive(x, message="sample must be positive"),
            debugging.assert_less(x, one, message="sample must be less than `1`."),
        )

    def _size(self) -> TfTensor:
        a, b = self.concentration1, self.concentration0
        return lgamma(a) + lgamma(b) - lgamma(self.total_concentration)

    def _log_prob(self, x: TfTensor) -> TfTensor:
        x = self._valid(x)
        a, b = self.concentration1 - 1.0, self.concentration0 - 1.0
        return xlogy(a, x) + xlog1py(b, -x) - self._size()

    def _cdf(self, x: TfTensor) -> TfTensor:
        return betainc(self.concentration1, self.concentration0, self._valid(x))

    def _entropy(self) -> TfTensor:
        a, b, whole = self.concentration1, self.concentration0, self.total_concentration
        parts = (a - 1.0) * digamma(a) + (b - 1.0) * digamma(b)
        return self._size() - parts + (whole - 2.0) * digamma(whole)

    def _mean(self) -> TfTensor:
        return self.concentration1 / self.total_concentration

    def _variance(self) -> TfTensor:
        mean = self._mean()
        return mean * (1.0 - mean) / (1.0 + self.total_concentration)

    def _mode(self) -> TfTensor:
        a, b, one = self.concentration1, self.concentration0, cast(1.0, self.dtype)
        defined = both(greater(self._wide(a), 1.0), greater(self._wide(b), 1.0))
        found = (a - 1.0) / (self.total_concentration - 2.0)
        return self._where_defined(
            defined,
            found,
            (one, a, "Mode undefined for concentration1 <= 1."),
            (one, b, "Mode undefined for concentration0 <= 1."),
        )


class OfConcentrations(Distribution):
    """What concentrations say, one for each part of an event."""

    _concentration: TfTensor

    @property
    def concentration(self) -> TfTensor:
        """Return the concentrations."""
        return self._concentration

    @property
    def total_concentration(self) -> TfTensor:
        """Return their sums."""
        return total(self._concentration, axis=-1)

    def _batch_shape(self) -> TensorShape:
        return self._concentration.shape[:-1]

    def _event_shape(self) -> TensorShape:
        return self._concentration.shape[-1:]

    def _batch_shape_tensor(self) -> TfTensor:
        return shape(self._concentration)[:-1]

    def _event_shape_tensor(self) -> TfTensor:
        return shape(self._concentration)[-1:]


class Dirichlet(OfConcentrations):
    """Shares of a whole."""

    PARAMETERS: ClassVar[dict[str, int]] = {"concentration": 1}

    def __init__(
        self,
        concentration: object,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Dirichlet",
    ) -> None:
        known = given(locals())
        (found,) = parameters(concentration)
        self._concentration = valid_concentration(found, validate_args)
        super().__init__(
            found.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, known, [found], name
        )

    def _sample_n(self, n: object, seed: int | None = None) -> TfTensor:
        drawn = gamma([n], self._concentration, dtype=self.dtype, seed=seed)
        return drawn / total(drawn, axis=-1, keepdims=True)

    def _valid(self, x: TfTensor) -> TfTensor:
        if not self.validate_args:
            return x
        text = "sample last-dimension must sum to `1`"
        sums = total(x, axis=-1)
        return checked(
            x,
            debugging.assert_positive(x, message="samples must be positive"),
            debugging.assert_near(ones_like(sums), sums, message=text),
        )

    def _log_prob(self, x: TfTensor) -> TfTensor:
        x = self._valid(x)
        return total(xlogy(self._concentration - 1.0, x), axis=-1) - lbeta(self._concentration)

    def _entropy(self) -> TfTensor:
        a, whole = self._concentration, self.total_concentration
        count = cast(self.event_shape_tensor()[0], self.dtype)
        parts = total((a - 1.0) * digamma(a), axis=-1)
        return lbeta(a) + (whole - count) * digamma(whole) - parts

    def _mean(self) -> TfTensor:
        return self._concentration / self.total_concentration[..., None]

    def _variance(self) -> TfTensor:
        mean, whole = self._mean(), self.total_concentration[..., None]
        return mean * (1.0 - mean) / (1.0 + whole)

    def _covariance(self) -> TfTensor:
        mean, whole = self._mean(), self.total_concentration[..., None, None]
        return (diag(mean) - mean[..., None] * mean[..., None, :]) / (1.0 + whole)

    def _mode(self) -> TfTensor:
        a, one = self._concentration, cast(1.0, self.dtype)
        count = cast(self.event_shape_tensor()[0], self.dtype)
        found = (a - 1.0) / (self.total_concentration[..., None] - count)
        defined = REDUCTIONS["reduce_all"](greater(a, 1.0), axis=-1, keepdims=True)
        text = "Mode undefined when any concentration <= 1"
        return self._where_defined(defined, found, (one, a, text))


def valid_concentration(x: TfTensor, wanted: bool) -> TfTensor:
    """Return concentrations, of which there have to be two at least, all positive."""
    if not wanted:
        return x
    return checked(
        x,
        debugging.assert_positive(x, message="Concentration parameter must be positive."),
        debugging.assert_rank_at_least(
            x, 1, message="Concentration parameter must have >=1 dimensions."
        ),
        debugging.assert_less(
            1, shape(x)[-1], message="Concentration parameter must have event_size >= 2."
        ),
    )


@RegisterKL(Normal, Normal)
def _of_normals(a: Normal, b: Normal, name: str | None = None) -> TfTensor:
    ratio = a.scale**2 / b.scale**2
    return (a.loc - b.loc) ** 2 / (2.0 * b.scale**2) + 0.5 * (ratio - 1.0 - log(ratio))


@RegisterKL(Gamma, Gamma)
def _of_gammas(a: Gamma, b: Gamma, name: str | None = None) -> TfTensor:
    return (
        (a.concentration - b.concentration) * digamma(a.concentration)
        + lgamma(b.concentration)
        - lgamma(a.concentration)
        + b.concentration * log(a.rate)
        - b.concentration * log(b.rate)
        + a.concentration * (b.rate / a.rate - 1.0)
    )


@RegisterKL(Beta, Beta)
def _of_betas(a: Beta, b: Beta, name: str | None = None) -> TfTensor:
    first = a.concentration1 - b.concentration1
    second = a.concentration0 - b.concentration0
    moved = first * digamma(a.concentration1) + second * digamma(a.concentration0)
    return b._size() - a._size() + moved - (first + second) * digamma(a.total_concentration)


@RegisterKL(Dirichlet, Dirichlet)
def _of_shares(a: Dirichlet, b: Dirichlet, name: str | None = None) -> TfTensor:
    apart = digamma(a.concentration) - digamma(a.total_concentration[..., None])
    moved = total((a.concentration - b.concentration) * apart, axis=-1)
    return moved - lbeta(a.concentration) + lbeta(b.concentration)
