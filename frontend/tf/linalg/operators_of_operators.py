"""Operators made of others: products, blocks, inverses, updates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from math import prod
from typing import ClassVar

import numpy as np

from ..core.bridge import TfTensor
from ..core.shapes import TensorShape, broadcast_static_shape
from ..core.values import convert
from ..ops.array_ops import broadcast_dynamic_shape, broadcast_to, concat, reshape, stack
from ..ops.array_ops import shape as tensor_shape
from ..ops.creation import eye, zeros
from ..ops.linear_ops import adjoint as turned
from ..ops.linear_ops import det, diag, solve_each
from ..ops.math_ops import FUNCTIONS, cast, matmul, real
from .decompositions import slogdet
from .operator import KINDS, LinearOperator, agreed, kept, known_of_all

Hint = bool | None


def _total(parts: Sequence[TfTensor]) -> TfTensor:
    return reduce(lambda a, b: a + b, parts)


def _product(parts: Sequence[TfTensor]) -> TfTensor:
    return reduce(lambda a, b: a * b, parts)


def _batch_of(operators: Sequence[LinearOperator]) -> TensorShape:
    """Return the shape of the batch of several operators, as far as it is known."""
    return reduce(broadcast_static_shape, [each.batch_shape for each in operators])


def _batch_tensor_of(operators: Sequence[LinearOperator]) -> TfTensor:
    """Return the shape of the batch of several operators as a tensor."""
    return reduce(broadcast_dynamic_shape, [each.batch_shape_tensor() for each in operators])


def _known_sizes(operators: Sequence[LinearOperator], axis: int) -> list[int] | None:
    """Return how many rows or columns operators have, None where some are not known."""
    found = [n for each in operators if isinstance(n := each._size(axis), int)]
    return found if len(found) == len(operators) else None


def _joined(batch: list[int] | TfTensor, sizes: Sequence[int | TfTensor]) -> object:
    """Return a shape of a batch and of matrices: numbers where all of them are known."""
    if isinstance(batch, list) and all(isinstance(n, int) for n in sizes):
        return [*batch, *sizes]
    return concat([convert(batch, "int32"), stack(list(sizes))], 0)


class LinearOperatorAdjoint(LinearOperator):
    """What an operator is, turned and conjugated."""

    MATRIX_AXES: ClassVar = {"operator": 0}

    def __init__(self, operator: LinearOperator, name: str | None = None, **hints: Hint) -> None:
        named = name or f"{operator.name}_adjoint"
        super().__init__(
            operator.dtype, {"operator": operator}, named, **agreed(operator.hints, hints)
        )
        self.operator = operator

    def _shape(self) -> TensorShape:
        shape = self.operator.shape
        if shape.rank is None:
            return shape
        *batch, rows, columns = shape.as_list()
        return TensorShape([*batch, columns, rows])

    def _shape_tensor(self) -> TfTensor:
        shape = self.operator.shape_tensor()
        return concat([shape[:-2], shape[-1:], shape[-2:-1]], 0)

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

    MATRIX_AXES: ClassVar = {"operator": 0}

    def __init__(self, operator: LinearOperator, name: str | None = None, **hints: Hint) -> None:
        if operator.is_non_singular is False:
            raise ValueError(f"is_non_singular is False for {operator.name}: nothing undoes it")
        known = {**operator.hints, "is_non_singular": True, "is_square": True}
        named = name or f"{operator.name}_inv"
        super().__init__(operator.dtype, {"operator": operator}, named, **agreed(known, hints))
        self.operator = operator

    def _shape(self) -> TensorShape:
        return self.operator.shape

    def _shape_tensor(self) -> TfTensor:
        return self.operator.shape_tensor()

    def _dense(self) -> TfTensor:
        unit = eye(self._size(-1), batch_shape=self._batch(), dtype=self.dtype)
        return self.operator._solve(unit, adjoint=False)

    def _matmul(self, x: TfTensor, adjoint: bool) -> TfTensor:
        return self.operator._solve(x, adjoint)

    def _solve(self, rhs: TfTensor, adjoint: bool) -> TfTensor:
        return self.operator._matmul(rhs, adjoint)

    def _determinant(self) -> TfTensor:
        return 1.0 / self.operator.determinant()

    def _log_abs_determinant(self) -> TfTensor:
        return -self.operator._log_abs_determinant()

    def _inverse(self) -> LinearOperator:
        return self.operator


def _are_adjoint(a: LinearOperator, b: LinearOperator) -> bool:
    """Say whether two operators are made as each other's adjoint."""
    pairs = ((a, b), (b, a))
    if any(isinstance(x, LinearOperatorAdjoint) and x.operator is y for x, y in pairs):
        return True
    return a is b and a.is_self_adjoint is True


class Several(LinearOperator):
    """What is made of a list of operators of one element type."""

    MATRIX_AXES: ClassVar = {"operators": 0}
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
            if not a.domain_dimension.is_compatible_with(b.range_dimension):
                raise ValueError(
                    f"Operators are incompatible: {a.shape} is followed by {b.shape} in a product"
                )
        named = name or "_o_".join(each.name for each in operators)
        known = known_of_all(operators, "is_non_singular")
        half = len(operators) // 2
        pairs = zip(operators[:half], operators[::-1], strict=False)
        if 2 * half == len(operators) and all(_are_adjoint(a, b) for a, b in pairs):
            known |= {"is_self_adjoint": True, "is_positive_definite": known.get("is_non_singular")}
        super().__init__(operators, named, **agreed(known, hints))

    def _shape(self) -> TensorShape:
        sizes = [self.operators[0].range_dimension, self.operators[-1].domain_dimension]
        return _batch_of(self.operators).concatenate([n.value for n in sizes])

    def _shape_tensor(self) -> TfTensor:
        first, last = self.operators[0].shape_tensor(), self.operators[-1].shape_tensor()
        return concat([_batch_tensor_of(self.operators), first[-2:-1], last[-1:]], 0)

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
        sizes = [_known_sizes(found, axis) for axis in (-2, -1)]
        return _batch_of(self.operators).concatenate([None if n is None else sum(n) for n in sizes])

    def _shape_tensor(self) -> TfTensor:
        found = [each.shape_tensor()[-2:] for each in self._diagonal()]
        return concat([_batch_tensor_of(self.operators), _total(found)], 0)

    def _dense(self) -> TfTensor:
        batch, found = self._batch(), self._diagonal()
        rows = []
        for at, row in enumerate(self._of_rows()):
            parts = []
            for each, column in zip(row, found, strict=True):
                dims = _joined(batch, [found[at]._size(-2), column._size(-1)])
                zero = zeros(dims, self.dtype)
                parts.append(zero if each is None else broadcast_to(each.to_dense(), dims))
            rows.append(concat(parts, -1))
        return concat(rows, -2)

    def _determinant(self) -> TfTensor:
        return _product([each.determinant() for each in self._diagonal()])

    def _log_abs_determinant(self) -> TfTensor:
        return _total([each._log_abs_determinant() for each in self._diagonal()])


class EachByItself(Several):
    """What does with each of its operators what is done with it."""

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """Return the operator of the adjoint ones."""
        if self.is_self_adjoint:
            return self
        return KINDS[type(self).__name__]([each.adjoint() for each in self.operators], **self.hints)

    def _inverse(self) -> LinearOperator:
        return KINDS[type(self).__name__](
            [each.inverse() for each in self.operators], is_non_singular=True
        )

    def _cholesky(self) -> LinearOperator:
        return KINDS[type(self).__name__](
            [each.cholesky() for each in self.operators], is_non_singular=True
        )


class LinearOperatorBlockDiag(EachByItself, BlocksOfOperators):
    """Operators along the diagonal."""

    def __init__(
        self, operators: Sequence[LinearOperator], name: str | None = None, **hints: Hint
    ) -> None:
        same = ("is_non_singular", "is_self_adjoint", "is_positive_definite")
        named = name or "_ds_".join(each.name for each in operators)
        known = known_of_all(operators, *same)
        super().__init__(operators, named, **agreed(known, {"is_square": True, **hints}))

    def _of_rows(self) -> list[list[LinearOperator | None]]:
        count = len(self.operators)
        return [
            [each if i == j else None for j in range(count)]
            for i, each in enumerate(self.operators)
        ]

    def _merged(self, other: LinearOperator) -> LinearOperator | None:
        if not isinstance(other, LinearOperatorBlockDiag):
            return None
        sizes = [
            [each.shape.as_list()[axis] for each in side.operators]
            if all(each.shape.rank for each in side.operators)
            else None
            for side, axis in ((self, -1), (other, -2))
        ]
        if sizes[0] != sizes[1]:
            return None
        made = [a.matmul(b) for a, b in zip(self.operators, other.operators, strict=True)]
        return KINDS["LinearOperatorBlockDiag"](
            made, **known_of_all([self, other], "is_non_singular")
        )

    def _by_blocks(
        self,
        x: TfTensor,
        axis: int,
        step: Callable[[LinearOperator, TfTensor], TfTensor],
    ) -> TfTensor:
        """Let each operator work on its rows."""
        made: list[TfTensor] = []
        start: int | TfTensor = 0
        for each in self.operators:
            end = start + each._size(axis)
            made.append(step(each, x[..., start:end, :]))
            start = end
        if all(y.shape.is_fully_defined() for y in made):
            batch = np.broadcast_shapes(*(tuple(y.shape.known()[:-2]) for y in made))
            return concat([broadcast_to(y, [*batch, *y.shape.known()[-2:]]) for y in made], -2)
        shapes = [tensor_shape(y) for y in made]
        whole = reduce(broadcast_dynamic_shape, [shape[:-2] for shape in shapes])
        pairs = zip(made, shapes, strict=True)
        return concat([broadcast_to(y, concat([whole, s[-2:]], 0)) for y, s in pairs], -2)

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
        known = known_of_all([row[-1] for row in operators], "is_non_singular", "is_square")
        super().__init__(flat, name, **agreed(known, hints))
        self.parameters = {"operators": operators}
        self._rows = [list(row) for row in operators]

    def _of_rows(self) -> list[list[LinearOperator | None]]:
        count = len(self._rows)
        return [[*row, *[None] * (count - len(row))] for row in self._rows]


class LinearOperatorKronecker(EachByItself):
    """Each element of one operator times all of the next."""

    WANTED = "Argument `operators` must be a list of >=1 operators. Received: {}."

    def __init__(
        self, operators: Sequence[LinearOperator], name: str | None = None, **hints: Hint
    ) -> None:
        same = ("is_square", "is_non_singular", "is_self_adjoint", "is_positive_definite")
        named = name or "_x_".join(each.name for each in operators)
        super().__init__(operators, named, **agreed(known_of_all(operators, *same), hints))

    def _shape(self) -> TensorShape:
        sizes = [_known_sizes(self.operators, axis) for axis in (-2, -1)]
        return _batch_of(self.operators).concatenate(
            [None if n is None else prod(n) for n in sizes]
        )

    def _shape_tensor(self) -> TfTensor:
        found = [each.shape_tensor()[-2:] for each in self.operators]
        return concat([_batch_tensor_of(self.operators), _product(found)], 0)

    def _dense(self) -> TfTensor:
        made = self.operators[0].to_dense()
        for each in self.operators[1:]:
            other = each.to_dense()
            joined = made[..., :, None, :, None] * other[..., None, :, None, :]
            if joined.shape.is_fully_defined():
                *batch, a, b, c, d = joined.shape.known()
                made = reshape(joined, [*batch, a * b, c * d])
                continue
            sizes = tensor_shape(joined)
            pairs = stack([sizes[-4] * sizes[-3], sizes[-2] * sizes[-1]])
            made = reshape(joined, concat([sizes[:-4], pairs], 0))
        return made

    def _powers(self) -> list[int | TfTensor]:
        """Return how often the determinant of each operator counts."""
        whole = self._size(-1)
        return [whole // each._size(-1) for each in self.operators]

    def _determinant(self) -> TfTensor:
        found = zip(self.operators, self._powers(), strict=True)
        power = FUNCTIONS["pow"]
        return _product([power(each.determinant(), cast(n, self.dtype)) for each, n in found])

    def _log_abs_determinant(self) -> TfTensor:
        found = [each._log_abs_determinant() for each in self.operators]
        pairs = zip(found, self._powers(), strict=True)
        return _total([each * cast(n, each.dtype) for each, n in pairs])


class LinearOperatorLowRankUpdate(LinearOperator):
    """An operator, and a product of few columns that is added to it."""

    MATRIX_AXES: ClassVar = {"base_operator": 0, "u": 2, "diag_update": 1, "v": 2}

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
        given = agreed(known_of_all([base_operator], *known), hints)
        super().__init__(base_operator.dtype, parameters, name, **given)
        self.base_operator, self.is_diag_update_positive = base_operator, is_diag_update_positive
        self._u, self._v = kept(u, self.dtype), None if v is None else kept(v, self.dtype)
        self._scales = None if diag_update is None else kept(diag_update, self.dtype)
        rows = base_operator.range_dimension.value
        pairs = [(rows, self.u, -2), (rows, self.v, -2)]
        scales = self.diag_update
        if scales is not None and self.u.shape.rank is not None:
            pairs.append((self.u.shape.as_list()[-1], scales, -1))
        for size, each, axis in pairs:
            found = None if each.shape.rank is None else each.shape.as_list()[axis]
            if None not in (size, found) and size != found:
                raise ValueError(f"Dimensions {size} and {found} are not compatible")

        self._shape()  # which raises where batches do not broadcast

    @property
    def u(self) -> TfTensor:
        """Return the columns that are put out."""
        return convert(self._u, self.dtype)

    @property
    def v(self) -> TfTensor:
        """Return the columns that are looked for."""
        return self.u if self._v is None else convert(self._v, self.dtype)

    @property
    def diag_update(self) -> TfTensor | None:
        """Return what columns are multiplied by."""
        return None if self._scales is None else convert(self._scales, self.dtype)

    def _shape(self) -> TensorShape:
        scales = [] if self.diag_update is None else [self.diag_update.shape[:-1]]
        parts = [self.u.shape[:-2], self.v.shape[:-2], *scales]
        batch = reduce(broadcast_static_shape, parts, self.base_operator.batch_shape)
        sizes = [self.base_operator.range_dimension, self.base_operator.domain_dimension]
        return batch.concatenate([n.value for n in sizes])

    def _shape_tensor(self) -> TfTensor:
        base = self.base_operator.shape_tensor()
        scales = [] if self.diag_update is None else [tensor_shape(self.diag_update)[:-1]]
        parts = [base[:-2], tensor_shape(self.u)[:-2], tensor_shape(self.v)[:-2], *scales]
        return concat([reduce(broadcast_dynamic_shape, parts), base[-2:]], 0)

    def _sides(self, adjoint: bool) -> tuple[TfTensor, TfTensor]:
        """Return the columns that are put out, and those that are looked for."""
        scales = self.diag_update
        scaled = self.u if scales is None else self.u * scales[..., None, :]
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
        return base - matmul(solved, solve_each(small, found))

    def _determinant(self) -> TfTensor:
        return self.base_operator.determinant() * det(self._capacitance(adjoint=False)[0])

    def _log_abs_determinant(self) -> TfTensor:
        small = slogdet(self._capacitance(adjoint=False)[0]).log_abs_determinant
        return self.base_operator._log_abs_determinant() + real(small)
