"""Cells made of cells: several on top of each other, with dropout, residues, on devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...values import nest
from ...values.dtypes import DTypeLike
from ..core.bridge import TfTensor
from ..core.names import device
from ..core.values import static
from ..graph.state import Variable
from ..ops import array_ops as _a
from ..ops.nn_ops import dropout
from ..variables.scopes import variable_scope
from .cells import LSTMStateTuple, Output, RNNCell


class MultiRNNCell(RNNCell):
    """Cells on top of each other: each takes what the one below gives."""

    def __init__(self, cells: Sequence[RNNCell], state_is_tuple: bool = True) -> None:
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not isinstance(cells, list | tuple):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        self._cells, self._is_tuple = list(cells), state_is_tuple

    @property
    def state_size(self) -> object:
        """Return the sizes of the states of all cells."""
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._is_tuple else sum(nest.flatten(list(sizes)))

    @property
    def output_size(self) -> object:
        """Return the size of what the uppermost gives."""
        return self._cells[-1].output_size

    def zero_state(self, batch_size: object, dtype: DTypeLike | None) -> object:
        """Return the state to begin with."""
        if not self._is_tuple:
            return super().zero_state(batch_size, dtype)
        return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)

    @property
    def variables(self) -> list[Variable]:
        """Return the variables of all cells."""
        return [v for cell in self._cells for v in cell.variables]

    weights = variables

    def call(self, inputs: object, state: Any) -> Output:
        """Go up."""
        sizes = [cell.state_size for cell in self._cells]
        states = state if self._is_tuple else _a.split(state, sizes, 1)
        made, after = inputs, []
        for number, (cell, before) in enumerate(zip(self._cells, states, strict=True)):
            with variable_scope(f"cell_{number}"):
                made, new = cell(made, before)
            after.append(new)
        return made, tuple(after) if self._is_tuple else _a.concat(after, 1)


class Wrapper(RNNCell):
    """A cell around a cell, which has the variables."""

    def __init__(self, cell: RNNCell) -> None:
        super().__init__()
        self._cell = cell

    @property
    def state_size(self) -> object:
        """Return the size of the state."""
        return self._cell.state_size

    @property
    def output_size(self) -> object:
        """Return the size of an output."""
        return self._cell.output_size

    def zero_state(self, batch_size: object, dtype: DTypeLike | None) -> object:
        """Return the state to begin with."""
        return self._cell.zero_state(batch_size, dtype)

    @property
    def variables(self) -> list[Variable]:
        """Return the variables of the cell."""
        return self._cell.variables

    weights = variables

    def __call__(self, inputs: object, state: object, scope: str | None = None) -> Output:  # type: ignore[override]
        """Return output and next state; a wrapper adds nothing to names."""
        return self.wrapped(inputs, state, scope)

    def wrapped(self, inputs: object, state: object, scope: str | None) -> Output:
        """Return output and next state."""
        raise NotImplementedError(type(self).__name__)


class DropoutWrapper(Wrapper):
    """Sets parts of inputs, states and outputs to 0 by chance."""

    def __init__(
        self,
        cell: RNNCell,
        input_keep_prob: float | TfTensor = 1.0,
        output_keep_prob: float | TfTensor = 1.0,
        state_keep_prob: float | TfTensor = 1.0,
        variational_recurrent: bool = False,
        input_size: object = None,
        dtype: object = None,
        seed: int | None = None,
        dropout_state_filter_visitor: object = None,
    ) -> None:
        super().__init__(cell)
        if variational_recurrent or dropout_state_filter_visitor is not None:
            raise NotImplementedError("DropoutWrapper: variational dropout is not supported")
        del input_size, dtype
        self._kept = input_keep_prob, state_keep_prob, output_keep_prob
        self._seed = seed

    def _dropped(self, value: object, keep: float | TfTensor) -> object:
        known = static(keep)
        if isinstance(known, int | float) and known == 1:
            return value
        return nest.map_structure(lambda x: dropout(x, 1 - keep, seed=self._seed), value)

    def wrapped(self, inputs: object, state: object, scope: str | None) -> Output:
        """Drop before and behind."""
        before, between, behind = self._kept
        made, after = self._cell(self._dropped(inputs, before), state, scope)
        if isinstance(after, LSTMStateTuple):  # memory is kept
            after = LSTMStateTuple(after.c, self._dropped(after.h, between))
        else:
            after = self._dropped(after, between)
        return self._dropped(made, behind), after


class ResidualWrapper(Wrapper):
    """Adds the input to the output."""

    def __init__(
        self, cell: RNNCell, residual_fn: Callable[[object, object], object] | None = None
    ) -> None:
        super().__init__(cell)
        self._residual = residual_fn

    def wrapped(self, inputs: object, state: object, scope: str | None) -> Output:
        """Add."""
        made, after = self._cell(inputs, state, scope)
        if self._residual is not None:
            return self._residual(inputs, made), after
        parts = zip(nest.flatten(inputs), nest.flatten(made), strict=True)
        return nest.pack(made, [a + b for a, b in parts]), after


class DeviceWrapper(Wrapper):
    """Lets a cell run on a device."""

    def __init__(self, cell: RNNCell, device: object) -> None:
        super().__init__(cell)
        self._device = device

    def wrapped(self, inputs: object, state: object, scope: str | None) -> Output:
        """Run there."""
        with device(self._device):
            return self._cell(inputs, state, scope)
