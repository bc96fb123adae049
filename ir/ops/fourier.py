"""Fourier transforms of rows of complex numbers, whose parts lie side by side."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2, prod
from typing import Any, ClassVar

import numpy as np

from ..compose.fourier import factors, transform
from ..compose.functions import cut
from ..compose.maker import Maker
from ..facts import KernelForm, Work
from ..families import spec_of_value
from ..op import Array, Call, Op, register
from ..types.dtypes import f32, f64
from ..types.tensor import TensorSpec

RADICES = (2, 3, 4, 5)
"""The factors of lengths that there is a kernel for."""


def has_kernel(count: int) -> bool:
    """Say whether there is a kernel for rows of so many complex numbers.

    >>> has_kernel(1000), has_kernel(14)
    (True, False)
    """
    return count > 1 and {*factors(count)} <= {*RADICES}


def turns(count: int, *, inverse: bool = False, half: bool = False) -> Array:
    """Return what each stage but the last multiplies by, one behind the other: f64[.., 2].

    A stage that has done `done` and leaves `rest` has, for each place of the rest, a number for
    each element of its radix but the first. For a `half`, those follow that its places are turned
    by when even and odd numbers are told apart.
    """
    sign, done, found = 1 if inverse else -1, 1, [np.zeros((0, 2))]
    for radix in factors(count):
        rest = count // (done * radix)
        if rest > 1:
            place = np.outer(np.arange(rest), np.arange(1, radix) * done)
            angle = place * (sign * 2 * np.pi / count)
            found.append(np.stack([np.cos(angle), np.sin(angle)], -1).reshape(-1, 2))
        done *= radix
    if half:
        angle = np.arange(count + 1) * (-np.pi / count)
        found.append(np.stack([np.cos(angle), np.sin(angle)], -1))
    return np.concatenate(found)


@register
class Fourier(Op):
    """The transform along the axis before the last, which has the real and the imaginary part.

    The second operand is what `turns` gives for the length and the attributes. All that comes out
    is divided by `parts`. With `half`, the pairs are neighbours of a row of real numbers, and the
    result is the first half of its transform, as numpy's `rfft` has it.
    """

    name = "gv.fourier"
    KERNEL: ClassVar = KernelForm(
        "fourier", needs=lambda can: can.walk_vectors, slow_needs=lambda can: False
    )

    @classmethod
    def infer(
        cls,
        x: TensorSpec,
        table: TensorSpec,
        *,
        inverse: bool = False,
        half: bool = False,
        parts: int = 1,
    ) -> Sequence[TensorSpec]:
        """Return the operand's spec; a half has one more pair."""
        if x.dtype not in (f32, f64) or x.rank < 2 or x.dims[-1] != 2:
            raise TypeError(f"{x}, expected pairs of f32 or f64")
        count = x.dims[-2]
        if not isinstance(count, int) or not has_kernel(count):
            raise TypeError(f"rows of {count}, expected a product of 2, 3 and 5")
        if inverse and half:
            raise TypeError("a half is not inverse")
        if parts < 1:
            raise TypeError(f"divided by {parts}, expected a positive number")
        wanted = TensorSpec(x.dtype, turns(count, inverse=inverse, half=half).shape)
        if table != wanted:
            raise TypeError(f"a table {table}, expected {wanted}")
        return (x.with_shape((*x.dims[:-2], count + half, 2)),)

    @classmethod
    def evaluate(
        cls, x: Array, table: Array, *, inverse: bool, half: bool, parts: int
    ) -> Sequence[Array]:
        """Transform."""
        kind = np.complex64 if x.dtype == np.float32 else np.complex128
        flat = np.ascontiguousarray(x)
        if half:
            made = np.fft.rfft(flat.reshape(*x.shape[:-2], 2 * x.shape[-2]))
        else:
            whole = flat.view(kind)[..., 0]
            made = np.fft.ifft(whole, norm="forward") if inverse else np.fft.fft(whole)
        made = (made / parts).astype(kind, copy=False)
        pairs = np.ascontiguousarray(made).view(x.dtype)
        return (pairs.reshape(*x.shape[:-2], x.shape[-2] + half, 2),)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Transform stage by stage."""
        make, x, spec = Maker(call.emit), call.operands[0], call.specs[0]
        sides = [cut(call.emit, x, spec.rank - 1, i, i + 1) for i in range(2)]
        flat = [make.reshape(side, shape=spec.dims[:-1]) for side in sides]
        made = transform(call.emit, *flat, inverse=call.attributes["inverse"])
        if call.attributes["half"]:
            made = _told_apart(make, made)
        dims = call.result_specs[0].dims
        deep = [make.reshape(part, shape=(*dims[:-1], 1)) for part in made]
        whole, parts = make.concat(*deep, axis=spec.rank - 1), call.attributes["parts"]
        return make.mul(whole, make.number(1 / parts, spec.dtype)) if parts > 1 else whole

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Transform back: the matrix of a transform is the conjugate of its inverse's."""
        if call.attributes["half"]:
            raise NotImplementedError(f"{cls.name}: a half has no gradient")
        spec, inverse = call.specs[0], not call.attributes["inverse"]
        table = turns(spec.static_shape[-2], inverse=inverse).astype(spec.dtype.numpy)
        make = Maker(call.emit)
        turned, parts = make.constant(value=table), call.attributes["parts"]
        return (make.fourier(grads[0], turned, inverse=inverse, parts=parts), None)

    @classmethod
    def work(
        cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec], **attributes: Any
    ) -> Work:
        """Count five for each number and binary digit of the length."""
        *_, count, _ = shape = results[0].static_shape
        return Work(flops=int(2.5 * prod(shape) * log2(count)))


def _told_apart(make: Maker, pairs: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return half the transform of a row from that of its pairs of neighbours.

    Those of the even and of the odd places are sums of it and of itself backwards.
    """
    spec = spec_of_value(pairs[0])
    axis, count = spec.rank - 1, spec.dims[-1]
    assert isinstance(count, int), "the length is known"
    turned = turns(count, half=True)[-count - 1 :].T
    cosine, sine = (make.constant(value=x.astype(spec.dtype.numpy)) for x in turned)
    there, back = (make.constant(value=sign * np.arange(count + 1) % count) for sign in (1, -1))
    half = make.number(0.5, spec.dtype)
    (real, other_real), (imag, other_imag) = (
        [make.mul(make.gather(x, order, axis=axis), half) for order in (there, back)] for x in pairs
    )
    odd_real, odd_imag = make.sub(real, other_real), make.add(imag, other_imag)
    return (
        make.add(
            make.add(real, other_real),
            make.add(make.mul(cosine, odd_imag), make.mul(sine, odd_real)),
        ),
        make.add(
            make.sub(imag, other_imag),
            make.sub(make.mul(sine, odd_imag), make.mul(cosine, odd_real)),
        ),
    )
