"""Cells: what one step of a recurrent network does to an input and a state."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, TypeAlias, TypedDict, Unpack

from ...values import nest
from ...values.dtypes import DataType, DTypeLike
from ..core.bridge import TfTensor
from ..core.element_types import as_dtype
from ..core.shapes import ShapeLike, TensorShape
from ..core.values import convert, static
from ..graph.state import Variable
from ..layers.base import Activation, Layer, extent
from ..ops import array_ops as _a
from ..ops import math_ops as _m
from ..ops.creation import zeros
from ..ops.initial_values import Constant, Zeros
from ..ops.nn_ops import bias_add, clip_by_value
from ..variables.partitioned import fixed_size_partitioner
from ..variables.scopes import First, Penalty, VariableScope

sigmoid, tanh = _m.FUNCTIONS["sigmoid"], _m.FUNCTIONS["tanh"]


Output: TypeAlias = tuple[object, object]
"""An output and the next state: structures whose form the cell says."""


class LSTMStateTuple(namedtuple("LSTMStateTuple", ("c", "h"))):
    """The state of an LSTM: its memory and what it gave last."""

    __slots__ = ()

    @property
    def dtype(self) -> DataType:
        """Return the element type."""
        found: DataType = self.c.dtype
        return found


class CellOptions(TypedDict, total=False):
    """The options that all cells have."""

    trainable: bool
    activity_regularizer: Penalty | None
    _scope: str | VariableScope | None


class RNNCell(Layer):
    """A step: `call(inputs, state)` gives an output and the next state."""

    state_size: Any
    output_size: Any

    def __call__(self, inputs: object, state: object, scope: str | None = None) -> Output:  # type: ignore[override]
        """Return output and next state; the variables have names within a scope."""
        made: Output = super().__call__(inputs, state, scope=scope)
        return made

    def build(self, input_shape: ShapeLike) -> None:
        """Make the variables; a cell of one's own may make them in `call`."""

    def zero_state(self, batch_size: object, dtype: DTypeLike | None) -> object:
        """Return the state to begin with."""
        return nest.map_structure(
            lambda size: zeros([batch_size, *TensorShape(size).as_list()], dtype), self.state_size
        )

    def get_initial_state(
        self, inputs: object = None, batch_size: object = None, dtype: DTypeLike | None = None
    ) -> object:
        """Return the state to begin with, for inputs or a number of them."""
        if inputs is not None:
            x = convert(inputs)
            known, given = x.shape.as_list()[0], static(batch_size)
            if batch_size is not None and given != known:
                raise ValueError(
                    "batch size from input tensor is different from the input param. Input tensor "
                    f"batch: {known}, batch_size: {given}"
                )
            if dtype is not None and as_dtype(dtype) != x.dtype:
                raise ValueError(
                    "dtype from input tensor is different from the input param. Input tensor "
                    f"dtype: {x.dtype}, dtype: {dtype}"
                )
            batch_size, dtype = known if known is not None else _a.shape(x)[0], x.dtype
        if batch_size is None or dtype is None:
            raise ValueError(
                "batch_size and dtype cannot be None while constructing initial state: "
                f"batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)


class Recurrent(RNNCell):
    """A cell with a size, an activation and its own variables."""

    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: object = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **more: Unpack[CellOptions],
    ) -> None:
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **more)
        self._num_units, self._activation = int(num_units), activation or tanh

    def __call__(self, inputs: object, state: object, scope: str | None = None) -> Output:  # type: ignore[override]
        """Return output and next state of floats."""
        found = convert(inputs).dtype
        if not found.is_floating and not found.is_complex:
            raise ValueError(
                f"RNN cell only supports floating point inputs, but saw dtype: {found}"
            )
        return super().__call__(inputs, state, scope)

    @property
    def state_size(self) -> LSTMStateTuple | int:
        """Return the size of the state."""
        return self._num_units

    @property
    def output_size(self) -> int:
        """Return the size of an output."""
        return self._num_units


def _joined(x: TfTensor, y: object, kernel: Variable, bias: Variable) -> TfTensor:
    return bias_add(_m.matmul(_a.concat([x, y], 1), kernel), bias)


class BasicRNNCell(Recurrent):
    """One matrix for input and state."""

    def build(self, input_shape: ShapeLike) -> None:
        """Make kernel and bias."""
        units = self._num_units
        self._kernel = self.add_weight("kernel", [extent(input_shape, -1, self) + units, units])
        self._bias = self.add_weight("bias", [units], initializer=Zeros())

    def call(self, inputs: TfTensor, state: TfTensor) -> Output:
        """Return the output, twice."""
        made = self._activation(_joined(inputs, state, self._kernel, self._bias))
        return made, made


class GRUCell(Recurrent):
    """Two gates say what of the state is seen, and what is kept."""

    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: object = None,
        kernel_initializer: First = None,
        bias_initializer: First = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **more: Unpack[CellOptions],
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **more)
        self._first, self._first_bias = kernel_initializer, bias_initializer

    def build(self, input_shape: ShapeLike) -> None:
        """Make kernels and biases of the gates and of what is new."""
        units, first = self._num_units, self._first
        both = extent(input_shape, -1, self) + units
        gates, new = self._first_bias or Constant(1.0), self._first_bias or Zeros()
        add = self.add_weight
        self._gate_kernel = add("gates/kernel", [both, 2 * units], initializer=first)
        self._gate_bias = add("gates/bias", [2 * units], initializer=gates)
        self._new_kernel = add("candidate/kernel", [both, units], initializer=first)
        self._new_bias = add("candidate/bias", [units], initializer=new)

    def call(self, inputs: TfTensor, state: TfTensor) -> Output:
        """Return the next state, twice."""
        gates = sigmoid(_joined(inputs, state, self._gate_kernel, self._gate_bias))
        seen, kept = _a.split(gates, 2, 1)
        new = self._activation(_joined(inputs, seen * state, self._new_kernel, self._new_bias))
        made = kept * state + (1.0 - kept) * new
        return made, made


def _paired(memory: object, output: object, *, as_tuple: bool) -> object:
    """Return the state of an LSTM: both in a tuple, or one beside the other."""
    return LSTMStateTuple(memory, output) if as_tuple else _a.concat([memory, output], 1)


class BasicLSTMCell(Recurrent):
    """A memory that gates write, keep and read."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Activation | None = None,
        reuse: object = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **more: Unpack[CellOptions],
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **more)
        self._forget, self._is_tuple = forget_bias, state_is_tuple

    @property
    def state_size(self) -> LSTMStateTuple | int:
        """Return the sizes of memory and output."""
        units = self._num_units
        return LSTMStateTuple(units, units) if self._is_tuple else 2 * units

    def build(self, input_shape: ShapeLike) -> None:
        """Make kernel and bias of all gates."""
        units = self._num_units
        both = extent(input_shape, -1, self) + units
        self._kernel = self.add_weight("kernel", [both, 4 * units])
        self._bias = self.add_weight("bias", [4 * units], initializer=Zeros())

    def call(self, inputs: TfTensor, state: LSTMStateTuple | TfTensor) -> Output:
        """Return the output, and memory and output."""
        memory, last = state if self._is_tuple else _a.split(state, 2, 1)
        gates = _joined(inputs, last, self._kernel, self._bias)
        write, new, keep, read = _a.split(gates, 4, 1)
        fresh = sigmoid(write) * self._activation(new)
        memory = memory * sigmoid(keep + self._forget) + fresh
        made = self._activation(memory) * sigmoid(read)
        return made, _paired(memory, made, as_tuple=self._is_tuple)


class LSTMCell(Recurrent):
    """An LSTM with peepholes, a projection and limits, as they are asked for."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: First = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Activation | None = None,
        reuse: object = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **more: Unpack[CellOptions],
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **more)
        self._shards, self._projected_shards = num_unit_shards, num_proj_shards
        self._peepholes, self._clip, self._first = use_peepholes, cell_clip, initializer
        self._projected, self._projected_clip = num_proj, proj_clip
        self._forget, self._is_tuple = forget_bias, state_is_tuple

    @property
    def output_size(self) -> int:
        """Return the size of an output."""
        return self._projected or self._num_units

    @property
    def state_size(self) -> LSTMStateTuple | int:
        """Return the sizes of memory and output."""
        pair = LSTMStateTuple(self._num_units, self.output_size)
        return pair if self._is_tuple else sum(pair)

    def build(self, input_shape: ShapeLike) -> None:
        """Make kernel and bias of all gates, peepholes and the projection."""
        units, first, add = self._num_units, self._first, self.add_weight
        both = extent(input_shape, -1, self) + self.output_size
        more = _cut_by(self._shards)
        self._kernel = add("kernel", [both, 4 * units], initializer=first, **more)
        self._bias = add("bias", [4 * units], initializer=Zeros())
        if self._peepholes:
            names = ("w_f_diag", "w_i_diag", "w_o_diag")
            self._seen = [add(name, [units], initializer=first) for name in names]
        if self._projected is not None:
            shape = [units, self._projected]
            more = _cut_by(self._projected_shards)
            self._projection = add("projection/kernel", shape, initializer=first, **more)

    def call(self, inputs: TfTensor, state: LSTMStateTuple | TfTensor) -> Output:
        """Return the output, and memory and output."""
        sizes = [self._num_units, self.output_size]
        memory, last = state if self._is_tuple else _a.split(state, sizes, 1)
        gates = _joined(inputs, last, self._kernel, self._bias)
        write, new, keep, read = _a.split(gates, 4, 1)
        keep = keep + self._forget
        if self._peepholes:
            keep, write = keep + self._seen[0] * memory, write + self._seen[1] * memory
        memory = sigmoid(keep) * memory + sigmoid(write) * self._activation(new)
        memory = _limited(memory, self._clip)
        if self._peepholes:
            read = read + self._seen[2] * memory
        made = sigmoid(read) * self._activation(memory)
        if self._projected is not None:
            made = _limited(_m.matmul(made, self._projection), self._projected_clip)
        return made, _paired(memory, made, as_tuple=self._is_tuple)


def _cut_by(shards: int | None) -> dict[str, Any]:
    """Return the option that cuts a variable into shards, if there are to be some."""
    return {} if shards is None else {"partitioner": fixed_size_partitioner(shards)}


def _limited(value: TfTensor, limit: float | None) -> TfTensor:
    return value if limit is None else clip_by_value(value, -limit, limit)
