"""Operators that multiply the spectrum of what they get, over one axis or several of a block."""

from __future__ import annotations

from functools import reduce
from math import prod
from typing import ClassVar

import numpy as np

from ...values.dtypes import DTypeLike
from ..core.bridge import TfTensor
from ..core.element_types import as_dtype
from ..core.shapes import TensorShape
from ..core.values import convert
from ..graph import debugging
from ..ops.array_ops import concat, reshape
from ..ops.array_ops import shape as tensor_shape
from ..ops.creation import range_
from ..ops.linear_ops import adjoint as turned
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, cast, complex_, conj, imag, matmul, real
from .operator import HINTS, KINDS, LinearOperator, kept, known_of_all, require_always
from .operators import Hint, without_imaginary, without_zeros


def _waves(n: int | TfTensor, kind: str) -> TfTensor:
    """Return the waves that fit into n places, a row for each place."""
    count = range_(n)
    turns = cast(count[:, None] * count % n, "float64") * (2 * np.pi)
    angles = turns / cast(n, "float64")
    return cast(complex_(FUNCTIONS["cos"](angles), FUNCTIONS["sin"](angles)), kind)


def _of_blocks(a: TfTensor, b: TfTensor) -> TfTensor:
    """Return each element of a square times all of another."""
    made = a[:, None, :, None] * b[None, :, None, :]
    rows = tensor_shape(made)[0] * tensor_shape(made)[1]
    return reshape(made, [rows, rows])


class LinearOperatorCirculant(LinearOperator):
    """What multiplies the spectrum of a vector by another."""

    BLOCK_DEPTH: ClassVar = 1
    """Over how many axes a spectrum is one."""

    def __init__(
        self,
        spectrum: object,
        input_output_dtype: DTypeLike = "complex64",
        name: str | None = None,
        **hints: Hint,
    ) -> None:
        found = convert(spectrum)
        row = as_dtype(input_output_dtype)
        parameters = {"spectrum": spectrum, "input_output_dtype": row, "is_square": True, **hints}
        if not found.dtype.is_complex:
            require_always("An operator of a real spectrum", hints, {"is_self_adjoint": True})
            hints["is_self_adjoint"] = True
        if hints.get("is_square") is False:
            raise ValueError(
                "A [[nested] block] circulant operator is always square. Expected argument "
                "`is_square` to be True. Received: False."
            )
        if found.shape.rank is not None and found.shape.rank < self.BLOCK_DEPTH:
            raise ValueError(
                f"Argument `spectrum` must have at least {self.BLOCK_DEPTH} dimensions. "
                f"Received: {found}."
            )
        super().__init__(row, parameters, name, **{**hints, "is_square": True})
        wide = "complex128" if found.dtype.name in ("float64", "complex128") else "complex64"
        self._given, self._wide = kept(spectrum), wide

    def _matrix_axes(self) -> dict[str, int]:
        return {"spectrum": self.BLOCK_DEPTH}

    @property
    def spectrum(self) -> TfTensor:
        """Return the spectrum."""
        return cast(convert(self._given), self._wide)

    @property
    def block_depth(self) -> int:
        """Return over how many axes a spectrum is one."""
        return self.BLOCK_DEPTH

    @property
    def block_shape(self) -> TensorShape:
        """Return the shape of a block."""
        shape = self.spectrum.shape
        known = [None] * self.BLOCK_DEPTH if shape.rank is None else shape[-self.BLOCK_DEPTH :]
        return TensorShape(known)

    def block_shape_tensor(self) -> TfTensor:
        """Return the shape of a block as a tensor."""
        return tensor_shape(self.spectrum)[-self.BLOCK_DEPTH :]

    def _flat(self) -> TfTensor:
        """Return the spectrum as one row."""
        if self.BLOCK_DEPTH == 1:
            return self.spectrum
        batch = tensor_shape(self.spectrum)[: -self.BLOCK_DEPTH]
        return reshape(self.spectrum, concat([batch, [-1]], 0))

    def _shape(self) -> TensorShape:
        shape = self.spectrum.shape
        if shape.rank is None:
            return shape
        block = self.block_shape
        size = prod(block.known()) if block.is_fully_defined() else None
        return shape[: -self.BLOCK_DEPTH].concatenate([size, size])

    def _shape_tensor(self) -> TfTensor:
        shape = tensor_shape(self._flat())
        return concat([shape, shape[-1:]], 0)

    def _with(self, factors: TfTensor) -> TfTensor:
        """Return the matrices that multiply spectra by factors."""
        known, sizes = self.block_shape.as_list(), self.block_shape_tensor()
        extents = [sizes[i] if n is None else n for i, n in enumerate(known)]
        waves = reduce(_of_blocks, [_waves(n, self._wide) for n in extents])
        made = matmul(waves * factors[..., None, :], turned(waves)) / cast(
            self._size(-1), self._wide
        )
        return self._as_own(made)

    def _as_own(self, x: TfTensor) -> TfTensor:
        return cast(x if self.dtype.is_complex else real(x), self.dtype)

    def _dense(self) -> TfTensor:
        return self._with(self._flat())

    def _solve(self, rhs: TfTensor, adjoint: bool) -> TfTensor:
        return matmul(self._with(1.0 / self._flat()), rhs, adjoint_a=adjoint)

    def _determinant(self) -> TfTensor:
        return self._as_own(REDUCTIONS["reduce_prod"](self._flat(), axis=-1))

    def _log_abs_determinant(self) -> TfTensor:
        sizes = FUNCTIONS["log"](FUNCTIONS["abs"](self._flat()))
        return cast(REDUCTIONS["reduce_sum"](sizes, axis=-1), self.dtype)

    def trace(self, name: str = "trace") -> TfTensor:
        """Return the sums of the spectra."""
        return self._as_own(REDUCTIONS["reduce_sum"](self._flat(), axis=-1))

    def eigvals(self, name: str = "eigvals") -> TfTensor:
        """Return the spectra, each as one row."""
        return self._flat()

    def convolution_kernel(self, name: str = "convolution_kernel") -> TfTensor:
        """Return what vectors are convolved with: the first columns, as blocks."""
        return reshape(self._dense()[..., 0], tensor_shape(self.spectrum))

    def _of(self, spectrum: TfTensor, hints: dict[str, Hint]) -> LinearOperator:
        """Return such an operator of another spectrum."""
        return KINDS[type(self).__name__](spectrum, self.dtype, **hints)

    def _merged(self, other: LinearOperator) -> LinearOperator | None:
        if type(other) is not type(self):
            return None
        return self._of(self.spectrum * other.spectrum, known_of_all([self, other], *HINTS))

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """Return the operator with the conjugated spectrum."""
        return self if self.is_self_adjoint else self._of(conj(self.spectrum), self.hints)

    def _inverse(self) -> LinearOperator:
        return self._of(1.0 / self.spectrum, {**self.hints, "is_non_singular": True})

    def _singular_check(self) -> object:
        return without_zeros(self.spectrum, "Spectrum")

    def _positive_check(self) -> object:
        text = "Not positive definite:  Real part of spectrum was not all positive."
        return debugging.assert_positive(real(self.spectrum), message=text)

    def _adjoint_check(self) -> object:
        text = "Not self-adjoint:  The spectrum contained non-zero imaginary part."
        return without_imaginary(self.spectrum, text)

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> object:
        """Raise where the matrix is not one of real numbers; in a graph, return what does so."""
        kernel = self.convolution_kernel()
        if not kernel.dtype.is_complex:
            return None
        found = FUNCTIONS["abs"](imag(kernel))
        most = np.finfo(np.dtype(found.dtype.as_numpy_dtype)).eps * cast(
            self._size(-1), found.dtype
        )
        return debugging.assert_less(found, most, message="Spectrum was not Hermitian")


class LinearOperatorCirculant2D(LinearOperatorCirculant):
    """What multiplies spectra over two axes: blocks, each of which is circulant, in circles."""

    BLOCK_DEPTH = 2


class LinearOperatorCirculant3D(LinearOperatorCirculant):
    """What multiplies spectra over three axes."""

    BLOCK_DEPTH = 3
