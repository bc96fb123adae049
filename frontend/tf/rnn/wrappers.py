"""Cells made of cells: several on top of each other, with dropout, residues, on devices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...values import nest
from ...values.dtypes import DTypeLike
from ..core.bridge import TfTensor
from ..core.names import device
from ..core.shapes import TensorShape
from ..core.values import static
from ..graph.state import Variable
from ..layers.base import settled
from ..ops import array_ops as _a
from ..ops.math_ops import FUNCTIONS
from ..ops.nn_ops import dropout
from ..ops.random_ops import other_seed, uniform
from ..variables.scopes import variable_scope
from .cells import LSTMStateTuple, Output, RNNCell

floor = FUNCTIONS["floor"]


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
        if self._is_tuple and not isinstance(state, list | tuple):
            raise ValueError(
                f"Expected state to be a tuple of length {len(sizes)}, but received: {state}"
            )
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
    def wrapped_cell(self) -> RNNCell:
        """Return the cell."""
        return self._cell

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
        dtype: DTypeLike | None = None,
        seed: int | None = None,
        dropout_state_filter_visitor: object = None,
    ) -> None:
        super().__init__(cell)
        if dropout_state_filter_visitor is not None:
            raise NotImplementedError(
                "DropoutWrapper: dropout_state_filter_visitor is not supported, expected None: "
                "all of a state is dropped but the memory of LSTMs"
            )
        self._kept = {
            "input": input_keep_prob,
            "state": state_keep_prob,
            "output": output_keep_prob,
        }
        self._seed = seed
        self._noise: dict[str, list[TfTensor]] = {}
        """What is dropped in all steps alike, if it is to be so: chances of a row."""
        if variational_recurrent:
            sizes = {"input": input_size, "state": cell.state_size, "output": cell.output_size}
            self._draw(sizes, dtype)

    def _draw(self, sizes: Mapping[str, object], dtype: DTypeLike | None) -> None:
        """Draw the chances that are the same in all steps, and for all examples."""
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")
        for what, size in sizes.items():
            if what == "input" and self._keeps_all(what):
                continue
            if size is None:
                raise ValueError(
                    "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, "
                    "input_size must be provided"
                )
            self._noise[what] = [
                uniform([1, *TensorShape(n).as_list()], dtype=dtype, seed=self._seed_of(what, i))
                for i, n in enumerate(nest.flatten(size))
            ]

    def _keeps_all(self, what: str) -> bool:
        known = static(self._kept[what])
        return isinstance(known, int | float) and known == 1

    def _seed_of(self, what: str, number: int) -> int | None:
        """Return the seed of a part, which is another one than those of the others."""
        return other_seed(self._seed, f"{what}_{number}")

    def _dropped(self, value: object, what: str) -> object:
        """Drop parts of a structure; the memory of LSTMs is kept."""
        if self._keeps_all(what):
            return value
        memories = _memories(value) if what == "state" else set()
        made = [
            x if number in memories else self._dropped_part(x, what, number)
            for number, x in enumerate(nest.flatten(value))
        ]
        return nest.pack(value, made)

    def _dropped_part(self, x: TfTensor, what: str, number: int) -> TfTensor:
        keep = self._kept[what]
        if what not in self._noise:
            return dropout(x, 1 - keep, seed=self._seed_of(what, number))
        kept = floor(keep + self._noise[what][number])
        return settled(x / keep * kept, x.shape.as_list())

    def wrapped(self, inputs: object, state: object, scope: str | None) -> Output:
        """Drop before and behind: of the state first, as TensorFlow counts its seeds."""
        made, after = self._cell(self._dropped(inputs, "input"), state, scope)
        kept = self._dropped(after, "state")
        return self._dropped(made, "output"), kept


def _memories(state: object, number: int = 0) -> set[int]:
    """Return the numbers of the parts of a state that are memories of LSTMs."""
    if isinstance(state, LSTMStateTuple) or not isinstance(state, list | tuple):
        return {number} if isinstance(state, LSTMStateTuple) else set()
    found: set[int] = set()
    for part in state:
        found |= _memories(part, number)
        number += len(nest.flatten(part))
    return found


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
