"""Operators of one tensor or none: `LinearOperatorDiag` and its kin."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ....ir.op import Array
from ...graph.graph import GraphTensor
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor, dressed
from ..core.element_types import as_dtype
from ..core.shapes import TensorShape
from ..core.values import convert, static
from ..graph import debugging
from ..ops.array_ops import concat, stack
from ..ops.array_ops import shape as tensor_shape
from ..ops.creation import eye, one_hot, ones, zeros
from ..ops.gathering import gather
from ..ops.linear_ops import diag, diag_part, triangular_solve
from ..ops.math_ops import FUNCTIONS, REDUCTIONS, cast, conj, imag, matmul, real
from ..ops.nn_ops import band_part
from ..ops.sorting import invert_permutation
from .operator import (
    HINTS,
    KINDS,
    LinearOperator,
    kept,
    known_of_all,
    require,
    require_always,
    require_floats,
)

Hint = bool | None


def _require_rows(count: object, what: str = "num_rows") -> None:
    """Raise where a number of rows is none; one that only a run knows is not looked at."""
    if isinstance(static(count), GraphTensor):
        return
    found = np.asarray(static(count))
    if found.dtype.kind not in "iu":
        raise TypeError(f"Argument {what} must be integer type.  Found: {convert(count)!s}")
    if found.ndim:
        raise ValueError(f"Argument {what} must be a 0-D Tensor.  Found: {found}")
    if found < 0:
        raise ValueError(f"Argument {what} must be non-negative.  Found: {found}")


def _require_batch(shape: object) -> None:
    """Raise where the shape of a batch is none."""
    if shape is None or isinstance(static(shape), GraphTensor):
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


def squared(shape: TensorShape) -> TensorShape:
    """Return the shape of matrices of which a shape is that of a row."""
    return shape.concatenate(shape[-1:])


def squared_tensor(row: TfTensor) -> TfTensor:
    """Return the shape of matrices, as a tensor, of which one is that of a row."""
    shape = tensor_shape(row)
    return concat([shape, shape[-1:]], 0)


def _rows_of(count: object) -> int | TfTensor:
    """Return a number of rows: a tensor where only a run knows it."""
    found = static(count)
    return dressed(found) if isinstance(found, GraphTensor) else int(np.asarray(found).item())


def _batch_given(shape: object) -> list[int] | TfTensor:
    """Return the shape of a batch: a tensor where only a run knows it."""
    found = static([] if shape is None else shape)
    return dressed(found) if isinstance(found, GraphTensor) else np.asarray(found).tolist()


class Stated(LinearOperator):
    """What is made of a number of rows, and of the shape of a batch if there is one."""

    def _state(self, rows: object, columns: object, batch: object) -> None:
        """Note the sizes."""
        self._height, self._width = _rows_of(rows), _rows_of(columns)
        self._stated = _batch_given(batch)

    def _sliced(self, places: list[object], batch: TfTensor) -> LinearOperator:
        part = zeros(batch, "bool")[tuple(places)]
        is_known = part.shape.is_fully_defined()
        own = {**self.parameters, **self.hints}
        own["batch_shape"] = part.shape.known() if is_known else tensor_shape(part)
        return KINDS[type(self).__name__](**own)

    def _known_batch(self) -> TensorShape:
        if isinstance(self._stated, list):
            return TensorShape(self._stated)
        rank = self._stated.shape.as_list()[0] if self._stated.shape.rank else None
        return TensorShape(None if rank is None else [None] * rank)

    def _shape(self) -> TensorShape:
        sizes = [n if isinstance(n, int) else None for n in (self._height, self._width)]
        return self._known_batch().concatenate(sizes)

    def _shape_tensor(self) -> TfTensor:
        sizes = stack([convert(self._height, "int32"), convert(self._width, "int32")])
        return concat([convert(self._stated, "int32"), sizes], 0)


class LinearOperatorFullMatrix(LinearOperator):
    """A matrix as it is."""

    MATRIX_AXES: ClassVar = {"matrix": 2}

    def __init__(self, matrix: object, name: str | None = None, **hints: Hint) -> None:
        found = convert(matrix)
        if found.shape.rank is not None and found.shape.rank < 2:
            raise ValueError(
                f"Argument `matrix` must have at least 2 dimensions. Received: {found}."
            )
        require_floats("matrix", found)
        super().__init__(found.dtype, {"matrix": matrix}, name, **hints)
        self._matrix = kept(matrix)

    @property
    def matrix(self) -> TfTensor:
        """Return the matrix."""
        return convert(self._matrix)

    def _shape(self) -> TensorShape:
        return self.matrix.shape

    def _shape_tensor(self) -> TfTensor:
        return tensor_shape(self.matrix)

    def _dense(self) -> TfTensor:
        return self.matrix


class LinearOperatorLowerTriangular(LinearOperator):
    """A lower triangle; what stands above the diagonal does not count."""

    MATRIX_AXES: ClassVar = {"tril": 2}

    LOGARITHMS_ARE_REAL = True

    def __init__(self, tril: object, name: str | None = None, **hints: Hint) -> None:
        found = convert(tril)
        require("tril", found, 2, ends=".  Found: ")
        if hints.get("is_square") is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        super().__init__(found.dtype, {"tril": tril}, name, **{"is_square": True, **hints})
        self._tril = kept(tril)

    @property
    def tril(self) -> TfTensor:
        """Return the tensor that the triangle is of."""
        return convert(self._tril)

    def _shape(self) -> TensorShape:
        return self.tril.shape

    def _shape_tensor(self) -> TfTensor:
        return tensor_shape(self.tril)

    def _merged(self, other: LinearOperator) -> LinearOperator | None:
        if not isinstance(other, Diagonal):
            return None
        known = known_of_all([self, other], "is_non_singular", "is_self_adjoint")
        columns = other._values()[..., None, :]
        return KINDS["LinearOperatorLowerTriangular"](self.to_dense() * columns, **known)

    def _merged_behind(self, last: LinearOperator) -> LinearOperator | None:
        if not isinstance(last, Diagonal):
            return None
        known = known_of_all([self, last], "is_non_singular", "is_self_adjoint")
        rows = last._values()[..., None]
        return KINDS["LinearOperatorLowerTriangular"](rows * self.to_dense(), **known)

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
        return without_zeros(self.diag_part(), "Diagonal")


def without_zeros(values: TfTensor, what: str) -> object:
    """Return what raises where there is a zero."""
    sizes = FUNCTIONS["abs"](values)
    text = f"Singular operator:  {what} contained zero values."
    return debugging.assert_less(cast(0.0, sizes.dtype), sizes, message=text)


def without_imaginary(values: TfTensor, text: str) -> object:
    """Return what raises where a number has an imaginary part."""
    if not values.dtype.is_complex:
        return None
    parts = imag(values)
    return debugging.assert_equal(cast(0.0, parts.dtype), parts, message=text)


class Diagonal(LinearOperator):
    """What has nothing beside its diagonal, which `_values` gives as long as it is."""

    def _values(self) -> TfTensor:
        raise NotImplementedError(f"{type(self).__name__} has no diagonal")

    def _merged(self, other: LinearOperator) -> LinearOperator | None:
        if not isinstance(other, Diagonal):
            return None
        known = known_of_all([self, other], *HINTS)
        return KINDS["LinearOperatorDiag"](self._values() * other._values(), **known)

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

    MATRIX_AXES: ClassVar = {"diag": 1}

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
        self._diag = kept(diag)

    @property
    def diag(self) -> TfTensor:
        """Return the diagonals."""
        return convert(self._diag)

    def _shape(self) -> TensorShape:
        return squared(self.diag.shape)

    def _shape_tensor(self) -> TfTensor:
        return squared_tensor(self.diag)

    def _values(self) -> TfTensor:
        return self.diag

    def _singular_check(self) -> object:
        return without_zeros(self.diag, "Diagonal")

    def _adjoint_check(self) -> object:
        return without_imaginary(
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

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """Return the conjugated diagonal."""
        if self.is_self_adjoint:
            return self
        return KINDS["LinearOperatorDiag"](conj(self.diag), **self.hints)

    def _inverse(self) -> LinearOperator:
        return KINDS["LinearOperatorDiag"](
            1.0 / self.diag, **{**self.hints, "is_non_singular": True}
        )

    def _cholesky(self) -> LinearOperator:
        return KINDS["LinearOperatorDiag"](FUNCTIONS["sqrt"](self.diag), is_non_singular=True)


class LinearOperatorScaledIdentity(Diagonal):
    """One number on the diagonal, for each of a batch."""

    MATRIX_AXES: ClassVar = {"multiplier": 0}

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
        self._rows = _rows_of(num_rows)
        self._multiplier = kept(multiplier)

    @property
    def multiplier(self) -> TfTensor:
        """Return the numbers on the diagonals."""
        return convert(self._multiplier)

    def _shape(self) -> TensorShape:
        size = self._rows if isinstance(self._rows, int) else None
        return self.multiplier.shape.concatenate([size, size])

    def _shape_tensor(self) -> TfTensor:
        rows = convert(self._rows, "int32")
        return concat([tensor_shape(self.multiplier), stack([rows, rows])], 0)

    def _values(self) -> TfTensor:
        return self.multiplier[..., None] * ones(stack([self._rows]), self.dtype)

    def _merged(self, other: LinearOperator) -> LinearOperator | None:
        if not isinstance(other, LinearOperatorScaledIdentity):
            return super()._merged(other)
        return self._scaled(self.multiplier * other.multiplier, known_of_all([self, other], *HINTS))

    def _scaled(self, multiplier: TfTensor, hints: dict[str, Hint]) -> LinearOperator:
        """Return such an operator with another number."""
        return KINDS["LinearOperatorScaledIdentity"](
            self.parameters["num_rows"], multiplier, **hints
        )

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """Return the operator with the conjugated number."""
        return self if self.is_self_adjoint else self._scaled(conj(self.multiplier), self.hints)

    def _inverse(self) -> LinearOperator:
        return self._scaled(1.0 / self.multiplier, {**self.hints, "is_non_singular": True})

    def _cholesky(self) -> LinearOperator:
        return self._scaled(FUNCTIONS["sqrt"](self.multiplier), {"is_non_singular": True})

    def _singular_check(self) -> object:
        size = FUNCTIONS["abs"](self.multiplier)
        return debugging.assert_positive(size, message="LinearOperator was singular")

    def _adjoint_check(self) -> object:
        return without_imaginary(self.multiplier, "LinearOperator was not self-adjoint")

    def _positive_check(self) -> object:
        text = "LinearOperator was not positive definite."
        return debugging.assert_positive(real(self.multiplier), message=text)


class LinearOperatorIdentity(Stated, Diagonal):
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
        self._state(num_rows, num_rows, batch_shape)

    def _values(self) -> TfTensor:
        if self.shape.is_fully_defined():
            return ones(self.shape[:-1], self.dtype)
        return ones(self.shape_tensor()[:-1], self.dtype)

    def _merged(self, other: LinearOperator) -> LinearOperator | None:
        is_one = self.batch_shape.rank is not None and self.batch_shape == other.batch_shape
        return other if is_one or self.batch_shape.rank == 0 else super()._merged(other)

    def _merged_behind(self, last: LinearOperator) -> LinearOperator | None:
        return last if self.batch_shape.rank == 0 else None

    def _singular_check(self) -> object:
        return None

    _adjoint_check = _positive_check = _singular_check

    def _inverse(self) -> LinearOperator:
        return self

    _cholesky = _inverse


class LinearOperatorZeros(Stated):
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
        parameters |= {"batch_shape": batch_shape, "dtype": dtype}
        super().__init__(as_dtype(dtype or "float32"), parameters, name, **{**known, **hints})
        self._state(num_rows, wide, batch_shape)

    def _dense(self) -> TfTensor:
        return zeros(
            self.shape if self.shape.is_fully_defined() else self.shape_tensor(), self.dtype
        )

    def _merged(self, other: LinearOperator) -> LinearOperator | None:
        return self if other.is_square and self.is_square else None

    def _merged_behind(self, last: LinearOperator) -> LinearOperator | None:
        return self if last.is_square and self.is_square else None

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

    MATRIX_AXES: ClassVar = {"perm": 1}

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
        self._perm = kept(perm)

    @property
    def perm(self) -> TfTensor:
        """Return the order of the rows."""
        return convert(self._perm)

    def _shape(self) -> TensorShape:
        return squared(self.perm.shape)

    def _shape_tensor(self) -> TfTensor:
        return squared_tensor(self.perm)

    def _dense(self) -> TfTensor:
        return one_hot(self.perm, self._size(-1), dtype=self.dtype)

    def _matmul(self, x: TfTensor, adjoint: bool) -> TfTensor:
        if self.perm.shape.rank != 1:
            return super()._matmul(x, adjoint)
        return gather(x, invert_permutation(self.perm) if adjoint else self.perm, axis=-2)

    def _solve(self, rhs: TfTensor, adjoint: bool) -> TfTensor:
        return self._matmul(rhs, not adjoint)


class LinearOperatorHouseholder(LinearOperator):
    """What mirrors at the plane across an axis."""

    MATRIX_AXES: ClassVar = {"reflection_axis": 1}

    def __init__(self, reflection_axis: object, name: str | None = None, **hints: Hint) -> None:
        found = convert(reflection_axis)
        require("reflection_axis", found, 1, ends=".  Found: ")
        known = {"is_non_singular": True, "is_self_adjoint": True, "is_square": True}
        never = {"is_positive_definite": False}
        require_always("A Householder operator", hints, {**known, **never})
        parameters = {"reflection_axis": reflection_axis}
        super().__init__(found.dtype, parameters, name, **{**hints, **known})
        self._axis = kept(reflection_axis)

    @property
    def reflection_axis(self) -> TfTensor:
        """Return the axis."""
        return convert(self._axis)

    def _shape(self) -> TensorShape:
        return squared(self.reflection_axis.shape)

    def _shape_tensor(self) -> TfTensor:
        return squared_tensor(self.reflection_axis)

    def _matmul(self, x: TfTensor, adjoint: bool) -> TfTensor:
        axis = self.reflection_axis[..., None]
        square = REDUCTIONS["reduce_sum"](axis * conj(axis), axis=-2, keepdims=True)
        return x - 2.0 * axis * matmul(axis, x, adjoint_a=True) / square

    def _dense(self) -> TfTensor:
        return self._matmul(eye(self._size(-1), dtype=self.dtype), adjoint=False)

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """Return the operator itself."""
        return self

    def _inverse(self) -> LinearOperator:
        return self

    def _solve(self, rhs: TfTensor, adjoint: bool) -> TfTensor:
        return self._matmul(rhs, adjoint)

    def _singular_check(self) -> object:
        return None

    _adjoint_check = _singular_check

    def _positive_check(self) -> object:
        raise InvalidArgumentError("Householder operators are always non-positive definite.")
