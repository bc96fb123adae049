"""Operators made of others: products, blocks, inverses, updates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise

import numpy as np

from ..core.bridge import TfTensor
from ..core.shapes import TensorShape
from ..core.values import convert
from ..ops.array_ops import broadcast_to, concat, reshape
from ..ops.creation import eye, zeros
from ..ops.linear_ops import adjoint as turned
from ..ops.linear_ops import det, diag, solve
from ..ops.math_ops import FUNCTIONS, matmul, real
from .decompositions import slogdet
from .operator import LinearOperator

Hint = bool | None


def _total(parts: Sequence[TfTensor]) -> TfTensor:
    return reduce(lambda a, b: a + b, parts)


def _product(parts: Sequence[TfTensor]) -> TfTensor:
    return reduce(lambda a, b: a * b, parts)


def _together(operators: Sequence[LinearOperator]) -> list[int]:
    """Return the shape of the batch of several operators."""
    batches = [tuple(each.batch_shape.known()) for each in operators]
    return [*np.broadcast_shapes(*batches)]


def _all(operators: Sequence[LinearOperator], *hints: str) -> dict[str, Hint]:
    """Return which of these is known of all operators, and so of what is made of them."""
    return {h: True for h in hints if all(getattr(each, h) for each in operators)}


class LinearOperatorAdjoint(LinearOperator):
    """What an operator is, turned and conjugated."""

    def __init__(self, operator: LinearOperator, name: str | None = None, **hints: Hint) -> None:
        super().__init__(
            operator.dtype, {"operator": operator}, name, **{**operator.hints, **hints}
        )
        self.operator = operator

    def _shape(self) -> TensorShape:
        *batch, rows, columns = self.operator.shape.as_list()
        return TensorShape([*batch, columns, rows])

    def _dense(self) -> TfTensor:
        return turned(self.operator.to_dense())

    def _matmul(self, x: TfTensor, adjoint: bool) -> TfTensor:
        return self.operator._matmul(x, not adjoint)

    def _solve(self, rhs: TfTensor, adjoint: bool) -> TfTensor:
        return self.operator._solve(rhs, not adjoint)

    def _log_abs_determinant(self) -> TfTensor:
        return self.operator._log_abs_determinant()

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """Return the operator that this is the adjoint of."""
        return self.operator


class LinearOperatorInversion(LinearOperator):
    """What undoes an operator."""

    def __init__(self, operator: LinearOperator, name: str | None = None, **hints: Hint) -> None:
        known = {**operator.hints, "is_non_singular": True, "is_square": True}
        super().__init__(operator.dtype, {"operator": operator}, name, **{**known, **hints})
        self.operator = operator

    def _shape(self) -> TensorShape:
        return self.operator.shape

    def _dense(self) -> TfTensor:
        unit = eye(self.operator.shape.known()[-1], dtype=self.dtype)
        return self.operator._solve(broadcast_to(unit, self.shape.known()), adjoint=False)

    def _matmul(self, x: TfTensor, adjoint: bool) -> TfTensor:
        return self.operator._solve(x, adjoint)

    def _solve(self, rhs: TfTensor, adjoint: bool) -> TfTensor:
        return self.operator._matmul(rhs, adjoint)

    def _determinant(self) -> TfTensor:
        return 1.0 / self.operator.determinant()

    def _log_abs_determinant(self) -> TfTensor:
        return -self.operator._log_abs_determinant()

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """Return the operator that this undoes."""
        return self.operator


class Several(LinearOperator):
    """What is made of a list of operators of one element type."""

    WANTED = "Expected a non-empty list of operators. Found: {}"

    def __init__(
        self, operators: Sequence[LinearOperator], name: str | None = None, **hints: Hint
    ) -> None:
        if not operators:
            raise ValueError(self.WANTED.format(operators))
        if len({each.dtype for each in operators}) > 1:
            found = [f"('{type(each).__name__}', tf.{each.dtype.name})" for each in operators]
            raise TypeError(
                "Expected every operation in argument `operators` to have the same dtype. "
                f"Received {found}."
            )
        super().__init__(operators[0].dtype, {"operators": operators}, name, **hints)
        self.operators = list(operators)


class LinearOperatorComposition(Several):
    """One operator after another, the last one first."""

    def __init__(
        self, operators: Sequence[LinearOperator], name: str | None = None, **hints: Hint
    ) -> None:
        for a, b in pairwise(operators):
            if a.domain_dimension != b.range_dimension:
                raise ValueError(
                    f"Operators are incompatible: {a.shape} is followed by {b.shape} in a product"
                )
        super().__init__(operators, name, **{**_all(operators, "is_non_singular"), **hints})

    def _shape(self) -> TensorShape:
        first, last = self.operators[0], self.operators[-1]
        rows, columns = first.range_dimension, last.domain_dimension
        return TensorShape([*_together(self.operators), rows, columns])

    def _through(
        self, x: TfTensor, backwards: bool, step: Callable[[LinearOperator, TfTensor], TfTensor]
    ) -> TfTensor:
        for each in self.operators if backwards else reversed(self.operators):
            x = step(each, x)
        return x

    def _matmul(self, x: TfTensor, adjoint: bool) -> TfTensor:
        return self._through(x, adjoint, lambda each, y: each._matmul(y, adjoint))

    def _solve(self, rhs: TfTensor, adjoint: bool) -> TfTensor:
        return self._through(rhs, not adjoint, lambda each, y: each._solve(y, adjoint))

    def _dense(self) -> TfTensor:
        return reduce(matmul, [each.to_dense() for each in self.operators])

    def _determinant(self) -> TfTensor:
        if any(each.is_square is False for each in self.operators):
            return super()._determinant()
        return _product([each.determinant() for each in self.operators])

    def _log_abs_determinant(self) -> TfTensor:
        if any(each.is_square is False for each in self.operators):
            return super()._log_abs_determinant()
        return _total([each._log_abs_determinant() for each in self.operators])


class BlocksOfOperators(Several):
    """Operators at the places of a matrix of blocks, the diagonal ones square or not."""

    def _of_rows(self) -> list[list[LinearOperator | None]]:
        """Return the operators of each row of blocks, None where there are zeros."""
        raise NotImplementedError(f"{type(self).__name__} has no blocks")

    def _diagonal(self) -> list[LinearOperator]:
        return [each for i, row in enumerate(self._of_rows()) if (each := row[i]) is not None]

    def _shape(self) -> TensorShape:
        found = self._diagonal()
        sizes = [[each.shape.known()[axis] for each in found] for axis in (-2, -1)]
        return TensorShape([*_together(self.operators), *map(sum, sizes)])

    def _dense(self) -> TfTensor:
        batch, found = _together(self.operators), self._diagonal()
        rows = []
        for at, row in enumerate(self._of_rows()):
            height = found[at].shape.known()[-2]
            parts = []
            for each, column in zip(row, found, strict=True):
                dims = [*batch, height, column.shape.known()[-1]]
                zero = zeros(dims, self.dtype)
                parts.append(zero if each is None else broadcast_to(each.to_dense(), dims))
            rows.append(concat(parts, -1))
        return concat(rows, -2)

    def _determinant(self) -> TfTensor:
        return _product([each.determinant() for each in self._diagonal()])

    def _log_abs_determinant(self) -> TfTensor:
        return _total([each._log_abs_determinant() for each in self._diagonal()])


class LinearOperatorBlockDiag(BlocksOfOperators):
    """Operators along the diagonal."""

    def __init__(
        self, operators: Sequence[LinearOperator], name: str | None = None, **hints: Hint
    ) -> None:
        same = ("is_non_singular", "is_self_adjoint", "is_positive_definite")
        super().__init__(operators, name, **{**_all(operators, *same), **hints})

    def _of_rows(self) -> list[list[LinearOperator | None]]:
        count = len(self.operators)
        return [
            [each if i == j else None for j in range(count)]
            for i, each in enumerate(self.operators)
        ]

    def _by_blocks(
        self,
        x: TfTensor,
        axis: int,
        step: Callable[[LinearOperator, TfTensor], TfTensor],
    ) -> TfTensor:
        """Let each operator work on its rows."""
        made, start = [], 0
        for each in self.operators:
            end = start + each.shape.known()[axis]
            made.append(step(each, x[..., start:end, :]))
            start = end
        batch = np.broadcast_shapes(*(tuple(y.shape.known()[:-2]) for y in made))
        return concat([broadcast_to(y, [*batch, *y.shape.known()[-2:]]) for y in made], -2)

    def _matmul(self, x: TfTensor, adjoint: bool) -> TfTensor:
        return self._by_blocks(x, -2 if adjoint else -1, lambda each, y: each._matmul(y, adjoint))

    def _solve(self, rhs: TfTensor, adjoint: bool) -> TfTensor:
        return self._by_blocks(rhs, -2, lambda each, y: each._solve(y, adjoint))


class LinearOperatorBlockLowerTriangular(BlocksOfOperators):
    """Rows of operators, each one longer than the one above it."""

    def __init__(
        self,
        operators: Sequence[Sequence[LinearOperator]],
        name: str | None = None,
        **hints: Hint,
    ) -> None:
        for i, row in enumerate(operators):
            if len(row) != i + 1:
                raise ValueError(
                    f"Argument `operators[{i}]` must contain `{i + 1}` blocks. Received: "
                    f"{len(row)} blocks."
                )
        flat = [each for row in operators for each in row]
        known = _all([row[-1] for row in operators], "is_non_singular")
        super().__init__(flat, name, **{**known, **hints})
        self._rows = [list(row) for row in operators]

    def _of_rows(self) -> list[list[LinearOperator | None]]:
        count = len(self._rows)
        return [[*row, *[None] * (count - len(row))] for row in self._rows]


class LinearOperatorKronecker(Several):
    """Each element of one operator times all of the next."""

    WANTED = "Argument `operators` must be a list of >=1 operators. Received: {}."

    def __init__(
        self, operators: Sequence[LinearOperator], name: str | None = None, **hints: Hint
    ) -> None:
        same = ("is_non_singular", "is_self_adjoint", "is_positive_definite")
        super().__init__(operators, name, **{**_all(operators, *same), **hints})

    def _shape(self) -> TensorShape:
        sizes = [np.prod([each.shape.known()[at] for each in self.operators]) for at in (-2, -1)]
        return TensorShape([*_together(self.operators), *map(int, sizes)])

    def _dense(self) -> TfTensor:
        made = self.operators[0].to_dense()
        for each in self.operators[1:]:
            other = each.to_dense()
            joined = made[..., :, None, :, None] * other[..., None, :, None, :]
            *batch, a, b, c, d = joined.shape.known()
            made = reshape(joined, [*batch, a * b, c * d])
        return made

    def _powers(self) -> list[float]:
        """Return how often the determinant of each operator counts."""
        whole = self.shape.known()[-1]
        return [whole / each.shape.known()[-1] for each in self.operators]

    def _determinant(self) -> TfTensor:
        found = zip(self.operators, self._powers(), strict=True)
        return _product([FUNCTIONS["pow"](each.determinant(), power) for each, power in found])

    def _log_abs_determinant(self) -> TfTensor:
        found = zip(self.operators, self._powers(), strict=True)
        return _total([each._log_abs_determinant() * power for each, power in found])


class LinearOperatorLowRankUpdate(LinearOperator):
    """An operator, and a product of few columns that is added to it."""

    def __init__(
        self,
        base_operator: LinearOperator,
        u: object,
        diag_update: object = None,
        v: object = None,
        is_diag_update_positive: Hint = None,
        name: str | None = None,
        **hints: Hint,
    ) -> None:
        parameters = {"base_operator": base_operator, "u": u, "diag_update": diag_update, "v": v}
        positive = is_diag_update_positive or diag_update is None
        known = ("is_self_adjoint", "is_positive_definite") if v is None and positive else ()
        given = {**_all([base_operator], *known), **hints}
        super().__init__(base_operator.dtype, parameters, name, **given)
        self.base_operator, self.is_diag_update_positive = base_operator, is_diag_update_positive
        self.u = convert(u, self.dtype)
        self.v = self.u if v is None else convert(v, self.dtype)
        self._scales = None if diag_update is None else convert(diag_update, self.dtype)
        rows = base_operator.range_dimension
        pairs = [(rows, self.u, -2), (rows, self.v, -2)]
        if self._scales is not None and self.u.shape.rank is not None:
            pairs.append((self.u.shape.as_list()[-1], self._scales, -1))
        for size, each, axis in pairs:
            found = None if each.shape.rank is None else each.shape.as_list()[axis]
            if None not in (size, found) and size != found:
                raise ValueError(f"Dimensions {size} and {found} are not compatible")

    @property
    def diag_update(self) -> TfTensor | None:
        """Return what columns are multiplied by."""
        return self._scales

    def _shape(self) -> TensorShape:
        batch = np.broadcast_shapes(
            tuple(self.base_operator.batch_shape.known()), tuple(self.u.shape.known()[:-2])
        )
        return TensorShape([*batch, *self.base_operator.shape.known()[-2:]])

    def _sides(self, adjoint: bool) -> tuple[TfTensor, TfTensor]:
        """Return the columns that are put out, and those that are looked for."""
        scaled = self.u if self._scales is None else self.u * self._scales[..., None, :]
        return (self.v, scaled) if adjoint else (scaled, self.v)

    def _matmul(self, x: TfTensor, adjoint: bool) -> TfTensor:
        out, into = self._sides(adjoint)
        return self.base_operator._matmul(x, adjoint) + matmul(out, matmul(into, x, adjoint_a=True))

    def _dense(self) -> TfTensor:
        out, into = self._sides(adjoint=False)
        return self.base_operator.to_dense() + matmul(out, into, adjoint_b=True)

    def _capacitance(self, adjoint: bool) -> tuple[TfTensor, TfTensor]:
        """Return the small matrix that systems come down to, and the base's solution for it."""
        out, into = self._sides(adjoint)
        solved = self.base_operator._solve(out, adjoint)
        unit = diag(into[..., 0, :] * 0.0 + 1.0)
        return unit + matmul(into, solved, adjoint_a=True), solved

    def _solve(self, rhs: TfTensor, adjoint: bool) -> TfTensor:
        """Solve with the base, and take away what the columns add (Woodbury)."""
        small, solved = self._capacitance(adjoint)
        base = self.base_operator._solve(rhs, adjoint)
        found = matmul(self._sides(adjoint)[1], base, adjoint_a=True)
        return base - matmul(solved, solve(small, found))

    def _determinant(self) -> TfTensor:
        return self.base_operator.determinant() * det(self._capacitance(adjoint=False)[0])

    def _log_abs_determinant(self) -> TfTensor:
        small = slogdet(self._capacitance(adjoint=False)[0]).log_abs_determinant
        return self.base_operator._log_abs_determinant() + real(small)
