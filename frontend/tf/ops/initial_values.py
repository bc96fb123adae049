"""First values of variables: functions of a shape and a type."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import NamedTuple, Self

import numpy as np

from ....ir.op import Array
from ....ir.types.tensor import TensorSpec
from ...values.dtypes import DTypeLike
from ..core.bridge import TfTensor
from ..core.host_ops import host
from ..core.shapes import ShapeLike, TensorShape
from . import random_ops as r
from .creation import constant, eye, named_row, ones, zeros


class PartOf(NamedTuple):
    """Of which whole something is a part, and where it begins in it."""

    whole: Sequence[int]
    start: Sequence[int] = ()


class Initializer:
    """Makes the first value of a variable of a shape; `dtype` is used where none is given."""

    has_parts = True
    """Whether it makes values of a part that is said by its shape and place in a whole."""

    def __init__(self, dtype: DTypeLike | None = None) -> None:
        self.dtype = dtype

    def __call__(
        self,
        shape: ShapeLike,
        dtype: DTypeLike | None = None,
        partition_info: object = None,
        partition_shape: Sequence[int] | None = None,
        partition_offset: Sequence[int] = (),
        **other: object,
    ) -> TfTensor:
        """Return the value, or that of a part of a variable.

        Of which whole it is a part, and where, says `partition_info`; or `shape` is the whole, and
        `partition_shape` and `partition_offset` say which part.
        """
        wanted = dtype if dtype is not None else self.dtype
        dims = [int(d or 0) for d in TensorShape(shape).as_list()]
        row = "float32" if wanted is None else wanted
        if other:
            raise TypeError(
                "Keyword argument should be one of ['partition_shape', 'partition_offset']. "
                f"Received: {', '.join(sorted(other))}"
            )
        if partition_shape is not None and not self.has_parts:
            name = type(self).__name__
            raise ValueError(f"{name} initializer doesn't support partition-related arguments")
        if partition_shape is not None:
            part = [int(n) for n in partition_shape]
            return self.part(part, row, PartOf(dims, list(partition_offset)))
        whole = getattr(partition_info, "full_shape", None)
        if whole is None:
            return self.make(dims, row)
        start = getattr(partition_info, "var_offset", ())
        return self.part(dims, row, PartOf(list(whole), list(start)))

    def get_config(self) -> dict[str, object]:
        """Return what makes one like it, but for the element type."""
        names = [name for name in signature(type(self)).parameters if name != "dtype"]
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_config(cls, config: Mapping[str, object]) -> Self:
        """Return one that `get_config` told of."""
        make: Callable[..., Self] = cls
        return make(**{name: value for name, value in config.items() if name != "dtype"})

    def part(self, shape: Sequence[int], dtype: DTypeLike | None, of: PartOf) -> TfTensor:
        """Return the value of a part of a variable: of most it is as if it were one."""
        return self.make(shape, dtype)

    def make(self, shape: Sequence[int], dtype: DTypeLike | None) -> TfTensor:
        """Return the value of a known shape and type."""
        raise NotImplementedError


class Zeros(Initializer):
    """Zeros."""

    def make(self, shape: Sequence[int], dtype: DTypeLike | None) -> TfTensor:
        """Return zeros."""
        return zeros(shape, dtype)


class Ones(Initializer):
    """Ones."""

    def make(self, shape: Sequence[int], dtype: DTypeLike | None) -> TfTensor:
        """Return ones."""
        return ones(shape, dtype)


class Constant(Initializer):
    """The same numbers each time."""

    def __init__(
        self,
        value: object = 0,
        support_partition: bool = False,
        *,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(dtype)
        self.value, self.has_parts = value, support_partition

    @property
    def support_partition(self) -> bool:
        """Say whether parts of a variable may be made."""
        return self.has_parts

    def make(self, shape: Sequence[int], dtype: DTypeLike | None) -> TfTensor:
        """Return the numbers in the shape."""
        array = np.asarray(self.value)
        full = np.broadcast_to(array, shape) if array.size == 1 else array.reshape(shape)
        return constant(full.astype(named_row(dtype).numpy))


class FirstConstant(Constant):
    """The same numbers each time, asked for as in the first version."""

    def __init__(
        self, value: object = 0, dtype: DTypeLike | None = None, verify_shape: bool = False
    ) -> None:
        super().__init__(value, dtype=dtype)
        self.verify_shape = verify_shape

    def make(self, shape: Sequence[int], dtype: DTypeLike | None) -> TfTensor:
        """Return the numbers in the shape; with `verify_shape` they have to be of it."""
        given = np.asarray(self.value).shape
        if self.verify_shape and given != tuple(shape):
            raise TypeError(f"Expected Tensor's shape: {tuple(shape)}, got {given}.")
        return super().make(shape, dtype)


class Identity(Initializer):
    """A matrix that is one on the diagonal, times a number."""

    has_parts = False

    def __init__(self, gain: float = 1.0, dtype: DTypeLike | None = None) -> None:
        super().__init__(dtype)
        self.gain = gain

    def make(self, shape: Sequence[int], dtype: DTypeLike | None) -> TfTensor:
        """Return the matrix."""
        if len(shape) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        return eye(shape[0], shape[1], dtype=dtype) * self.gain

    def part(self, shape: Sequence[int], dtype: DTypeLike | None, of: PartOf) -> TfTensor:
        """Return a part of the matrix of the whole."""
        (row, column), (height, width) = of.start, shape
        return self.make(of.whole, dtype)[row : row + height, column : column + width]


class Random(Initializer):
    """What random numbers have in common: a seed, which gives the same numbers at each call."""

    stateless = True
    """Whether a seed means numbers; in the first version it is that of an operation."""
    only_floats = True

    def __init__(self, seed: int | None = None, dtype: DTypeLike | None = None) -> None:
        super().__init__(dtype)
        self.seed = seed
        if self.only_floats and not self.stateless and dtype is not None:
            row = named_row(dtype)
            if not row.is_float and row.kind != "c":
                raise ValueError(
                    f"Argument `dtype` is expected to be floating point. Received: {dtype}."
                )

    def drawn(
        self, name: str, shape: Sequence[int], a: object, b: object, dtype: DTypeLike | None
    ) -> TfTensor:
        """Draw by the method of a name, with two numbers that say how."""
        fixed = self.stateless and isinstance(self.seed, int)
        label = name if name.startswith("truncated") else f"random_{name}"
        source = r.Stateless([self.seed, 0]) if fixed else r.Seeded(self.seed, label)
        draw: Callable[..., TfTensor] = getattr(source, name)
        return draw(shape, a, b, dtype)


def first_version(kind: type[Random]) -> type[Random]:
    """Return the initializer as the first version has it."""
    return type(f"V1{kind.__name__}", (kind,), {"stateless": False, "__doc__": kind.__doc__})


class RandomUniform(Random):
    """Even between two bounds."""

    only_floats = False

    def __init__(
        self,
        minval: float = -0.05,
        maxval: float = 0.05,
        seed: int | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(seed, dtype)
        self.minval, self.maxval = minval, maxval

    def make(self, shape: Sequence[int], dtype: DTypeLike | None) -> TfTensor:
        """Draw."""
        return self.drawn("uniform", shape, self.minval, self.maxval, dtype)


class FirstRandomUniform(first_version(RandomUniform)):  # type: ignore[misc]
    """Even between two bounds, 0 and 1 where none are given; integers need the upper one."""

    def __init__(
        self,
        minval: float = 0.0,
        maxval: float | None = None,
        seed: int | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(minval, maxval, seed, dtype)

    def make(self, shape: Sequence[int], dtype: DTypeLike | None) -> TfTensor:
        """Draw."""
        if self.maxval is None and named_row(dtype).kind in "iu":
            raise ValueError(
                f"Must specify maxval for integer dtype {np.dtype(named_row(dtype).numpy).name}"
            )
        high = 1.0 if self.maxval is None else self.maxval
        made: TfTensor = self.drawn("uniform", shape, self.minval, high, dtype)
        return made


class RandomNormal(Random):
    """The normal distribution."""

    name = "normal"

    def __init__(
        self,
        mean: float = 0.0,
        stddev: float = 0.05,
        seed: int | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(seed, dtype)
        self.mean, self.stddev = mean, stddev

    def make(self, shape: Sequence[int], dtype: DTypeLike | None) -> TfTensor:
        """Draw."""
        return self.drawn(self.name, shape, self.mean, self.stddev, dtype)


class TruncatedNormal(RandomNormal):
    """The normal distribution within two deviations."""

    name = "truncated_normal"


class V1RandomNormal(RandomNormal):
    """The normal distribution of deviation 1."""

    stateless = False

    def __init__(
        self,
        mean: float = 0.0,
        stddev: float = 1.0,
        seed: int | None = None,
        dtype: DTypeLike | None = None,
    ):
        super().__init__(mean, stddev, seed, dtype)


class V1TruncatedNormal(V1RandomNormal):
    """The normal distribution of deviation 1 within two deviations."""

    name = "truncated_normal"


def fans(shape: Sequence[int]) -> tuple[float, float]:
    """Return how many numbers one output is made of, and how many one input goes to."""
    if len(shape) < 2:
        one = float(shape[0]) if shape else 1.0
        return one, one
    field = math.prod(shape[:-2])
    return float(shape[-2] * field), float(shape[-1] * field)


class VarianceScaling(Random):
    """Random numbers whose variance depends on how many are added up."""

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(seed, dtype)
        if mode not in ("fan_in", "fan_out", "fan_avg") or scale <= 0:
            raise ValueError(f"scale {scale} with mode {mode!r}")
        self.scale, self.mode, self.distribution = scale, mode, distribution

    def make(self, shape: Sequence[int], dtype: DTypeLike | None) -> TfTensor:
        """Draw."""
        return self.part(shape, dtype, PartOf(shape))

    def part(self, shape: Sequence[int], dtype: DTypeLike | None, of: PartOf) -> TfTensor:
        """Draw a part: how many are added up is the whole's."""
        into, out = fans(of.whole)
        fan = {"fan_in": into, "fan_out": out, "fan_avg": (into + out) / 2}[self.mode]
        variance = self.scale / max(1.0, fan)
        if self.distribution == "uniform":
            bound = math.sqrt(3 * variance)
            return self.drawn("uniform", shape, -bound, bound, dtype)
        if self.distribution == "untruncated_normal":
            return self.drawn("normal", shape, 0.0, math.sqrt(variance), dtype)
        # the deviation of what is left within two deviations is 0.8796...
        deviation = math.sqrt(variance) / 0.87962566103423978
        return self.drawn("truncated_normal", shape, 0.0, deviation, dtype)


def _scaling(scale: float, mode: str, distribution: str, doc: str) -> type[VarianceScaling]:
    class Made(VarianceScaling):
        def __init__(self, seed: int | None = None, dtype: DTypeLike | None = None) -> None:
            super().__init__(scale, mode, distribution, seed, dtype)

    Made.__doc__ = doc
    return Made


GlorotUniform = _scaling(1.0, "fan_avg", "uniform", "Glorot's, even.")
GlorotNormal = _scaling(1.0, "fan_avg", "truncated_normal", "Glorot's, normal.")
HeUniform = _scaling(2.0, "fan_in", "uniform", "He's, even.")
HeNormal = _scaling(2.0, "fan_in", "truncated_normal", "He's, normal.")
LecunUniform = _scaling(1.0, "fan_in", "uniform", "LeCun's, even.")
LecunNormal = _scaling(1.0, "fan_in", "truncated_normal", "LeCun's, normal.")


class Orthogonal(Random):
    """A matrix whose rows or columns are orthogonal, times a number."""

    has_parts = False

    def __init__(
        self,
        gain: float = 1.0,
        seed: int | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(seed, dtype)
        self.gain = gain

    def make(self, shape: Sequence[int], dtype: DTypeLike | None) -> TfTensor:
        """Factorise a matrix of random numbers."""
        if len(shape) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional.")
        rows, columns = math.prod(shape[:-1]), shape[-1]
        size = (max(rows, columns), min(rows, columns))
        row = named_row(dtype)

        def turned(drawn: Array) -> Sequence[Array]:
            q, upper = np.linalg.qr(drawn)
            q = q * np.sign(np.diag(upper))
            made = q.T if rows < columns else q
            return [(self.gain * made.reshape(shape)).astype(row.numpy)]

        numbers = self.drawn("normal", size, 0.0, 1.0, dtype)
        return host("Orthogonal", turned, [numbers], [TensorSpec(row, tuple(shape))])[0]


FirstOrthogonal = first_version(Orthogonal)


class UniformUnitScaling(first_version(VarianceScaling)):  # type: ignore[misc]
    """Even numbers that keep the size of what a layer is given."""

    def __init__(
        self, factor: float = 1.0, seed: int | None = None, dtype: DTypeLike | None = None
    ) -> None:
        super().__init__(factor**2, "fan_in", "uniform", seed=seed, dtype=dtype)
        self.factor = factor
