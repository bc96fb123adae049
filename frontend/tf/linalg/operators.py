"""Operators of one tensor or none: `LinearOperatorDiag` and its kin."""

from __future__ import annotations

import numpy as np

from ...values.dtypes import DTypeLike
from ..core.bridge import TfTensor
from ..core.element_types import as_dtype
from ..core.shapes import TensorShape
from ..core.values import convert, static
from ..ops.array_ops import concat, reverse
from ..ops.creation import eye, one_hot, ones_like, zeros
from ..ops.gathering import gather
from ..ops.linear_ops import adjoint as turned
from ..ops.linear_ops import diag, diag_part, triangular_solve
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, cast, conj, matmul, real
from ..ops.nn_ops import band_part
from ..ops.sorting import invert_permutation
from .bands import tridiagonal_matmul, tridiagonal_solve
from .operator import LinearOperator

Hint = bool | None


def _whole_product(x: TfTensor) -> TfTensor:
    return REDUCTIONS["reduce_prod"](x, axis=-1)


def _log_of_product(x: TfTensor) -> TfTensor:
    return REDUCTIONS["reduce_sum"](FUNCTIONS["log"](FUNCTIONS["abs"](x)), axis=-1)


def _squared(shape: TensorShape) -> TensorShape:
    """Return the shape of matrices of which a shape is that of a row."""
    return shape.concatenate(shape[-1:])


class LinearOperatorFullMatrix(LinearOperator):
    """A matrix as it is."""

    def __init__(self, matrix: object, name: str | None = None, **hints: Hint) -> None:
        found = convert(matrix)
        if found.shape.rank is not None and found.shape.rank < 2:
            raise ValueError(
                f"Argument `matrix` must have at least 2 dimensions. Found: {found.shape}"
            )
        super().__init__(found.dtype, {"matrix": matrix}, name, **hints)
        self._matrix = matrix if hasattr(matrix, "__gv_tensor__") else found

    @property
    def matrix(self) -> TfTensor:
        """Return the matrix."""
        return convert(self._matrix)

    def _shape(self) -> TensorShape:
        return self.matrix.shape

    def _dense(self) -> TfTensor:
        return self.matrix


class LinearOperatorLowerTriangular(LinearOperator):
    """A lower triangle; what stands above the diagonal does not count."""

    def __init__(self, tril: object, name: str | None = None, **hints: Hint) -> None:
        found = convert(tril)
        super().__init__(found.dtype, {"tril": tril}, name, **{"is_square": True, **hints})
        self._tril = tril if hasattr(tril, "__gv_tensor__") else found

    @property
    def tril(self) -> TfTensor:
        """Return the tensor that the triangle is of."""
        return convert(self._tril)

    def _shape(self) -> TensorShape:
        return self.tril.shape

    def _dense(self) -> TfTensor:
        return band_part(self.tril, -1, 0)

    def _solve(self, rhs: TfTensor, adjoint: bool) -> TfTensor:
        return triangular_solve(self.tril, rhs, adjoint=adjoint)

    def _determinant(self) -> TfTensor:
        return _whole_product(self.diag_part())

    def _log_abs_determinant(self) -> TfTensor:
        return _log_of_product(self.diag_part())

    def diag_part(self, name: str = "diag_part") -> TfTensor:
        """Return the diagonals."""
        return diag_part(self.tril)


class Diagonal(LinearOperator):
    """What has nothing beside its diagonal, which `_values` gives as long as it is."""

    def _values(self) -> TfTensor:
        raise NotImplementedError(f"{type(self).__name__} has no diagonal")

    def _dense(self) -> TfTensor:
        return diag(self._values())

    def _matmul(self, x: TfTensor, adjoint: bool) -> TfTensor:
        values = self._values()
        return (conj(values) if adjoint else values)[..., None] * x

    def _solve(self, rhs: TfTensor, adjoint: bool) -> TfTensor:
        values = self._values()
        return rhs / (conj(values) if adjoint else values)[..., None]

    def _determinant(self) -> TfTensor:
        return _whole_product(self._values())

    def _log_abs_determinant(self) -> TfTensor:
        return _log_of_product(self._values())

    def diag_part(self, name: str = "diag_part") -> TfTensor:
        """Return the diagonals."""
        return self._values()

    def eigvals(self, name: str = "eigvals") -> TfTensor:
        """Return the diagonals."""
        return self._values()

    def cond(self, name: str = "cond") -> TfTensor:
        """Return the largest element over the smallest."""
        sizes = FUNCTIONS["abs"](self._values())
        return REDUCTIONS["reduce_max"](sizes, axis=-1) / REDUCTIONS["reduce_min"](sizes, axis=-1)


class LinearOperatorDiag(Diagonal):
    """A diagonal."""

    def __init__(self, diag: object, name: str | None = None, **hints: Hint) -> None:
        found = convert(diag)
        if not found.dtype.is_complex:
            if hints.get("is_self_adjoint") is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            hints["is_self_adjoint"] = True
        super().__init__(found.dtype, {"diag": diag}, name, **{**hints, "is_square": True})
        self._diag = diag if hasattr(diag, "__gv_tensor__") else found

    @property
    def diag(self) -> TfTensor:
        """Return the diagonals."""
        return convert(self._diag)

    def _shape(self) -> TensorShape:
        return _squared(self.diag.shape)

    def _values(self) -> TfTensor:
        return self.diag

    def _after(self, other: LinearOperator) -> LinearOperator:
        if isinstance(other, LinearOperatorDiag):
            return LinearOperatorDiag(self.diag * other.diag)
        return super()._after(other)

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """Return the conjugated diagonal."""
        return self if self.is_self_adjoint else LinearOperatorDiag(conj(self.diag))

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """Return the diagonal of reciprocals."""
        return LinearOperatorDiag(1.0 / self.diag, is_non_singular=True)

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """Return the diagonal of roots."""
        return LinearOperatorDiag(FUNCTIONS["sqrt"](self.diag), is_non_singular=True)


class LinearOperatorScaledIdentity(Diagonal):
    """One number on the diagonal, for each of a batch."""

    def __init__(
        self, num_rows: int, multiplier: object, name: str | None = None, **hints: Hint
    ) -> None:
        found = convert(multiplier)
        if not found.dtype.is_complex:
            hints["is_self_adjoint"] = True
        parameters = {"num_rows": num_rows, "multiplier": multiplier}
        hints.pop("assert_proper_shapes", None)
        super().__init__(found.dtype, parameters, name, **{**hints, "is_square": True})
        self._rows = int(static(num_rows))
        self._multiplier = multiplier if hasattr(multiplier, "__gv_tensor__") else found

    @property
    def multiplier(self) -> TfTensor:
        """Return the numbers on the diagonals."""
        return convert(self._multiplier)

    def _shape(self) -> TensorShape:
        return self.multiplier.shape.concatenate([self._rows, self._rows])

    def _values(self) -> TfTensor:
        return self.multiplier[..., None] * ones_like(zeros([self._rows], self.dtype))


class LinearOperatorIdentity(Diagonal):
    """What changes nothing."""

    def __init__(
        self,
        num_rows: int,
        batch_shape: object = None,
        dtype: DTypeLike | None = None,
        name: str | None = None,
        **hints: Hint,
    ) -> None:
        hints.pop("assert_proper_shapes", None)
        if any(value is False for value in hints.values()):
            raise ValueError("An identity operator is always self-adjoint, regular and square.")
        every = {"is_non_singular": True, "is_self_adjoint": True, "is_positive_definite": True}
        parameters = {"num_rows": num_rows, "batch_shape": batch_shape, "dtype": dtype}
        super().__init__(as_dtype(dtype or "float32"), parameters, name, **every, is_square=True)
        self._rows = int(static(num_rows))
        batch = [] if batch_shape is None else np.asarray(batch_shape).tolist()
        self._batch = TensorShape(batch)

    def _shape(self) -> TensorShape:
        return self._batch.concatenate([self._rows, self._rows])

    def _values(self) -> TfTensor:
        return ones_like(zeros([*self._batch.known(), self._rows], self.dtype))

    def _after(self, other: LinearOperator) -> LinearOperator:
        return super()._after(other) if self._batch.rank else other

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """Return the operator itself."""
        return self

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """Return the operator itself."""
        return self


class LinearOperatorZeros(LinearOperator):
    """What makes zeros of everything."""

    def __init__(
        self,
        num_rows: int,
        num_columns: int | None = None,
        batch_shape: object = None,
        dtype: DTypeLike | None = None,
        name: str | None = None,
        **hints: Hint,
    ) -> None:
        hints.pop("assert_proper_shapes", None)
        wide = num_rows if num_columns is None else num_columns
        known = {"is_non_singular": False, "is_positive_definite": False}
        known["is_self_adjoint"] = known["is_square"] = num_rows == wide
        parameters: dict[str, object] = {"num_rows": num_rows, "num_columns": num_columns}
        super().__init__(as_dtype(dtype or "float32"), parameters, name, **{**known, **hints})
        batch = [] if batch_shape is None else np.asarray(batch_shape).tolist()
        self._dims = [*batch, int(num_rows), int(wide)]

    def _shape(self) -> TensorShape:
        return TensorShape(self._dims)

    def _dense(self) -> TfTensor:
        return zeros(self._dims, self.dtype)


class LinearOperatorPermutation(LinearOperator):
    """What puts rows into another order."""

    def __init__(
        self, perm: object, dtype: DTypeLike = "float32", name: str | None = None, **hints: Hint
    ) -> None:
        found = convert(perm)
        known = {"is_non_singular": True, "is_square": True}
        super().__init__(
            as_dtype(dtype), {"perm": perm, "dtype": dtype}, name, **{**known, **hints}
        )
        self.perm = found

    def _shape(self) -> TensorShape:
        return _squared(self.perm.shape)

    def _dense(self) -> TfTensor:
        return one_hot(self.perm, self.perm.shape.known()[-1], dtype=self.dtype)

    def _matmul(self, x: TfTensor, adjoint: bool) -> TfTensor:
        if self.perm.shape.rank != 1:
            return super()._matmul(x, adjoint)
        return gather(x, invert_permutation(self.perm) if adjoint else self.perm, axis=-2)

    def _solve(self, rhs: TfTensor, adjoint: bool) -> TfTensor:
        return self._matmul(rhs, not adjoint)


class LinearOperatorHouseholder(LinearOperator):
    """What mirrors at the plane across an axis."""

    def __init__(self, reflection_axis: object, name: str | None = None, **hints: Hint) -> None:
        found = convert(reflection_axis)
        known = {"is_non_singular": True, "is_self_adjoint": True, "is_square": True}
        parameters = {"reflection_axis": reflection_axis}
        super().__init__(found.dtype, parameters, name, **{**hints, **known})
        self.reflection_axis = found

    def _shape(self) -> TensorShape:
        return _squared(self.reflection_axis.shape)

    def _matmul(self, x: TfTensor, adjoint: bool) -> TfTensor:
        axis = self.reflection_axis[..., None]
        square = REDUCTIONS["reduce_sum"](axis * conj(axis), axis=-2, keepdims=True)
        return x - 2.0 * axis * matmul(axis, x, adjoint_a=True) / square

    def _dense(self) -> TfTensor:
        n = self.reflection_axis.shape.known()[-1]
        return self._matmul(eye(n, dtype=self.dtype), adjoint=False)

    def _solve(self, rhs: TfTensor, adjoint: bool) -> TfTensor:
        return self._matmul(rhs, adjoint)


class LinearOperatorTridiag(LinearOperator):
    """Three diagonals, in one of the formats of `bands`."""

    def __init__(
        self,
        diagonals: object,
        diagonals_format: str = "compact",
        name: str | None = None,
        **hints: Hint,
    ) -> None:
        is_list = diagonals_format == "sequence" and isinstance(diagonals, list | tuple)
        found = [convert(x) for x in diagonals] if is_list else convert(diagonals)  # type: ignore[attr-defined]
        middle = found[1] if isinstance(found, list) else found
        parameters = {"diagonals": diagonals, "diagonals_format": diagonals_format}
        super().__init__(middle.dtype, parameters, name, **{**hints, "is_square": True})
        self.diagonals, self.diagonals_format = found, diagonals_format

    def _shape(self) -> TensorShape:
        if isinstance(self.diagonals, list):
            return _squared(self.diagonals[1].shape)
        if self.diagonals_format == "matrix":
            return self.diagonals.shape
        return _squared(self.diagonals[..., 1, :].shape)

    def _dense(self) -> TfTensor:
        unit = eye(self.shape.known()[-1], batch_shape=self.batch_shape.known(), dtype=self.dtype)
        return tridiagonal_matmul(self.diagonals, unit, self.diagonals_format)

    def _matmul(self, x: TfTensor, adjoint: bool) -> TfTensor:
        if adjoint or x.shape.rank != self.shape.rank:
            return super()._matmul(x, adjoint)
        return tridiagonal_matmul(self.diagonals, x, self.diagonals_format)

    def _solve(self, rhs: TfTensor, adjoint: bool) -> TfTensor:
        if adjoint or rhs.shape.rank != self.shape.rank:
            return super()._solve(rhs, adjoint)
        return tridiagonal_solve(self.diagonals, rhs, self.diagonals_format)


class LinearOperatorToeplitz(LinearOperator):
    """Diagonals of one number each: its first column and its first row."""

    def __init__(self, col: object, row: object, name: str | None = None, **hints: Hint) -> None:
        column = convert(col)
        parameters = {"col": col, "row": row}
        super().__init__(column.dtype, parameters, name, **{**hints, "is_square": True})
        self.col, self.row = column, convert(row, column.dtype)

    def _shape(self) -> TensorShape:
        return _squared(self.row.shape)

    def _dense(self) -> TfTensor:
        n = self.row.shape.known()[-1]
        line = concat([reverse(self.row[..., 1:], [-1]), self.col], -1)
        places = np.arange(n)[:, None] - np.arange(n) + n - 1
        return gather(line, places, axis=-1)


class LinearOperatorCirculant(LinearOperator):
    """What multiplies the spectrum of a vector by another."""

    def __init__(
        self,
        spectrum: object,
        input_output_dtype: DTypeLike = "complex64",
        name: str | None = None,
        **hints: Hint,
    ) -> None:
        found = convert(spectrum)
        parameters = {"spectrum": spectrum, "input_output_dtype": input_output_dtype}
        row = as_dtype(input_output_dtype)
        super().__init__(row, parameters, name, **{**hints, "is_square": True})
        wide = "complex128" if found.dtype.name in ("float64", "complex128") else "complex64"
        self.spectrum = cast(found, wide)

    def _shape(self) -> TensorShape:
        return _squared(self.spectrum.shape)

    def _dense(self) -> TfTensor:
        n, kind = self.spectrum.shape.known()[-1], self.spectrum.dtype
        wave = np.exp(2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n)
        waves = cast(convert(wave), kind)
        made = matmul(waves * self.spectrum[..., None, :], turned(waves)) / cast(n, kind)
        return made if self.dtype.is_complex else cast(real(made), self.dtype)
