"""Operators of one tensor or none: `LinearOperatorDiag` and its kin."""

from __future__ import annotations

import numpy as np

from ....ir.op import Array
from ...graph.graph import GraphTensor
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.element_types import as_dtype
from ..core.shapes import TensorShape
from ..core.values import convert, static
from ..graph import debugging
from ..ops.array_ops import concat, reverse
from ..ops.creation import eye, one_hot, ones_like, zeros
from ..ops.gathering import gather
from ..ops.linear_ops import adjoint as turned
from ..ops.linear_ops import diag, diag_part, triangular_solve
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, cast, conj, imag, matmul, real
from ..ops.nn_ops import band_part
from ..ops.sorting import invert_permutation
from .bands import tridiagonal_matmul, tridiagonal_solve
from .operator import HINTS, LinearOperator, require, require_always, require_floats

Hint = bool | None
FORMATS = ("compact", "matrix", "sequence")


def _require_rows(count: object, what: str = "num_rows") -> None:
    """Raise where a number of rows is none."""
    found = np.asarray(static(count))
    if found.dtype.kind not in "iu":
        raise TypeError(f"Argument {what} must be integer type.  Found: {convert(count)!s}")
    if found.ndim:
        raise ValueError(f"Argument {what} must be a 0-D Tensor.  Found: {found}")
    if found < 0:
        raise ValueError(f"Argument {what} must be non-negative.  Found: {found}")


def _require_batch(shape: object) -> None:
    """Raise where the shape of a batch is none."""
    if shape is None:
        return
    found = np.asarray(static(shape))
    if found.size and found.dtype.kind not in "iu":
        raise TypeError(f"Argument batch_shape must be integer type.  Found: {convert(shape)!s}")
    if found.ndim != 1:
        raise ValueError(f"Argument batch_shape must be a 1-D Tensor.  Found: {found}")
    if (found < 0).any():
        raise ValueError(f"Argument batch_shape must be non-negative.  Found:{found}")


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
                f"Argument `matrix` must have at least 2 dimensions. Received: {found}."
            )
        require_floats("matrix", found)
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

    LOGARITHMS_ARE_REAL = True

    def __init__(self, tril: object, name: str | None = None, **hints: Hint) -> None:
        found = convert(tril)
        require("tril", found, 2, ends=".  Found: ")
        if hints.get("is_square") is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
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

    def _singular_check(self) -> object:
        return _without_zeros(self.diag_part(), "Diagonal")


def _without_zeros(values: TfTensor, what: str) -> object:
    """Return what raises where there is a zero."""
    sizes = FUNCTIONS["abs"](values)
    text = f"Singular operator:  {what} contained zero values."
    return debugging.assert_less(cast(0.0, sizes.dtype), sizes, message=text)


def _without_imaginary(values: TfTensor, text: str) -> object:
    """Return what raises where a number has an imaginary part."""
    if not values.dtype.is_complex:
        return None
    parts = imag(values)
    return debugging.assert_equal(cast(0.0, parts.dtype), parts, message=text)


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
        require("diag", found, 1, ends=".  Found: ")
        if hints.get("is_square") is False:
            raise ValueError("Only square diagonal operators currently supported.")
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

    def _singular_check(self) -> object:
        return _without_zeros(self.diag, "Diagonal")

    def _adjoint_check(self) -> object:
        return _without_imaginary(
            self.diag,
            "This diagonal operator contained non-zero imaginary values.   Thus it was not "
            "self-adjoint.",
        )

    def _positive_check(self) -> object:
        text = "Real diagonal operator had non-positive diagonal entries"
        if self.dtype.is_complex:
            text = "Diagonal operator had diagonal entries with non-positive real part"
        return debugging.assert_positive(
            real(self.diag), message=f"{text}, thus was not positive definite."
        )

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

    LOGARITHMS_ARE_REAL = True

    def __init__(
        self, num_rows: int, multiplier: object, name: str | None = None, **hints: Hint
    ) -> None:
        found = convert(multiplier)
        _require_rows(num_rows)
        require_always("A ScaledIdentity operator", hints, {"is_square": True})
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

    def _singular_check(self) -> object:
        size = FUNCTIONS["abs"](self.multiplier)
        return debugging.assert_positive(size, message="LinearOperator was singular")

    def _adjoint_check(self) -> object:
        return _without_imaginary(self.multiplier, "LinearOperator was not self-adjoint")

    def _positive_check(self) -> object:
        text = "LinearOperator was not positive definite."
        return debugging.assert_positive(real(self.multiplier), message=text)


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
        _require_rows(num_rows)
        _require_batch(batch_shape)
        require_always("An identity operator", hints, dict.fromkeys(HINTS, True))
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

    def _singular_check(self) -> object:
        return None

    _adjoint_check = _positive_check = _singular_check

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
        for count, what in ((num_rows, "num_rows"), (num_columns, "num_columns")):
            _require_rows(0 if count is None else count, what)
        _require_batch(batch_shape)
        wide = num_rows if num_columns is None else num_columns
        known = {"is_non_singular": False, "is_positive_definite": False}
        known["is_self_adjoint"] = known["is_square"] = num_rows == wide
        require_always("A zero operator", hints, known)
        parameters: dict[str, object] = {"num_rows": num_rows, "num_columns": num_columns}
        super().__init__(as_dtype(dtype or "float32"), parameters, name, **{**known, **hints})
        batch = [] if batch_shape is None else np.asarray(batch_shape).tolist()
        self._dims = [*batch, int(num_rows), int(wide)]

    def _shape(self) -> TensorShape:
        return TensorShape(self._dims)

    def _dense(self) -> TfTensor:
        return zeros(self._dims, self.dtype)

    def _singular_check(self) -> object:
        raise InvalidArgumentError("Zero operators are always non-invertible.")

    def _positive_check(self) -> object:
        raise InvalidArgumentError("Zero operators are always non-positive definite.")

    def _adjoint_check(self) -> object:
        return None


def _is_no_order(places: Array) -> bool:
    """Say whether some row is no order of the numbers below its length."""
    return bool((np.sort(places) != np.arange(places.shape[-1])).any())


class LinearOperatorPermutation(LinearOperator):
    """What puts rows into another order."""

    def __init__(
        self, perm: object, dtype: DTypeLike = "float32", name: str | None = None, **hints: Hint
    ) -> None:
        found = convert(perm)
        known = {"is_non_singular": True, "is_square": True}
        require_always("A Permutation operator", hints, known)
        require("`perm`", found, 1, ends=". Received: ")
        if not found.dtype.is_integer:
            raise TypeError(f"Argument `perm` must be integer dtype. Received: {found}.")
        places = static(found)
        if not isinstance(places, GraphTensor) and _is_no_order(np.asarray(places)):
            raise ValueError(
                "Argument `perm` must be a vector of unique integers from 0 to "
                f"{np.shape(places)[-1] - 1}."
            )
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
        require("reflection_axis", found, 1, ends=".  Found: ")
        known = {"is_non_singular": True, "is_self_adjoint": True, "is_square": True}
        never = {"is_positive_definite": False}
        require_always("A Householder operator", hints, {**known, **never})
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

    def _singular_check(self) -> object:
        return None

    _adjoint_check = _singular_check

    def _positive_check(self) -> object:
        raise InvalidArgumentError("Householder operators are always non-positive definite.")


class LinearOperatorTridiag(LinearOperator):
    """Three diagonals, in one of the formats of `bands`."""

    def __init__(
        self,
        diagonals: object,
        diagonals_format: str = "compact",
        name: str | None = None,
        **hints: Hint,
    ) -> None:
        if diagonals_format not in FORMATS:
            raise ValueError(
                f"Argument `diagonals_format` must be one of {', '.join(FORMATS[:2])}, or "
                f"{FORMATS[2]}. Received : {diagonals_format}."
            )
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
        for what, each in (("col", self.col), ("row", self.row)):
            require(what, each, 1, ends=".  Found: ")
        sizes = [each.shape.as_list()[-1] for each in (self.col, self.row) if each.shape.rank]
        if None not in sizes and len({*sizes}) > 1:
            raise ValueError("Expected square matrix, got row and col with mismatched dimensions.")

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
        if hints.get("is_square") is False:
            raise ValueError(
                "A [[nested] block] circulant operator is always square. Expected argument "
                "`is_square` to be True. Received: False."
            )
        if found.shape.rank == 0:
            raise ValueError(
                f"Argument `spectrum` must have at least 1 dimensions. Received: {found}."
            )
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
        return cast(made if self.dtype.is_complex else real(made), self.dtype)

    def _singular_check(self) -> object:
        return _without_zeros(self.spectrum, "Spectrum")

    def _positive_check(self) -> object:
        text = "Not positive definite:  Real part of spectrum was not all positive."
        return debugging.assert_positive(real(self.spectrum), message=text)

    def _adjoint_check(self) -> object:
        text = "Not self-adjoint:  The spectrum contained non-zero imaginary part."
        return _without_imaginary(self.spectrum, text)
