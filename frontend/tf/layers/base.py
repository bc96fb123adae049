"""What the layers of the first version share: variables in a variable scope, made at first use."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, TypeAlias, TypedDict, TypeVar

from ....errors import GraphError, printed_as
from ...graph.graph import Graph
from ...values import nest
from ...values.dtypes import DTypeLike
from ..core.bridge import SymbolicTfTensor, TfTensor
from ..core.shapes import ShapeLike, TensorShape
from ..core.values import convert
from ..graph.state import Variable, get_default_graph
from ..ops.array_ops import shape as sizes
from ..ops.initial_values import Zeros
from ..ops.math_ops import cast
from ..variables.partitioned import PartitionedVariable
from ..variables.scopes import First, Penalty, VariableScope, get_variable, variable_scope

Made = TypeVar("Made")
Activation: TypeAlias = Callable[[object], TfTensor]
PENALTIES = "regularization_losses"
ZEROS = Zeros()


@printed_as(ValueError)
class LayerShapeError(GraphError, ValueError):
    """A layer was given a tensor of a shape that it does not take."""

    code = "GV2348"


def snake(name: str) -> str:
    """Return the name of a class as its layers are named."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])", "_", name).lower()


class InputSpec:
    """What a layer demands of its operand."""

    def __init__(
        self,
        dtype: object = None,
        shape: Sequence[int | None] | None = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: dict[int, int] | None = None,
    ) -> None:
        self.dtype, self.shape, self.axes = dtype, shape, axes or {}
        self.ndim = len(shape) if shape is not None else ndim
        self.max_ndim, self.min_ndim = max_ndim, min_ndim


class LayerOptions(TypedDict, total=False):
    """The options that all layers have beside the penalty of what they make."""

    trainable: bool
    name: str | None
    dtype: DTypeLike | None
    _reuse: object
    _scope: str | VariableScope | None


class Layer:
    """A function with variables; `build` makes them, `call` uses them."""

    named: ClassVar[str] = ""
    """What its layers are named, if it is not the class."""

    def __init__(
        self,
        trainable: bool = True,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        *,
        activity_regularizer: Penalty | None = None,
        _reuse: object = None,
        _scope: str | VariableScope | None = None,
    ) -> None:
        self.trainable, self.dtype, self.built = trainable, dtype, False
        self.activity_regularizer = activity_regularizer
        self.input_spec: InputSpec | None = None
        self._given = name if _scope is None else _scope
        self._reuse = _reuse
        self._scope: VariableScope | None = None
        self._own: list[Variable] = []
        self._updates: list[object] = []
        self._losses: list[object] = []

    @property
    def base_name(self) -> str:
        """Return the name that is made unique where none is given."""
        return self.named or snake(type(self).__name__)

    @property
    def name(self) -> str:
        """Return the name."""
        if self._scope is not None:
            return self._scope.name.rpartition("/")[2]
        return str(self._given or self.base_name)

    @property
    def scope_name(self) -> str:
        """Return the name of the variable scope, which is there once the layer was called."""
        if self._scope is None:
            raise ValueError(f"No name available for layer scope because layer {self.name} is new")
        return self._scope.name

    def _entered(self) -> AbstractContextManager[VariableScope]:
        """Return the variable scope: made at the first call, shared by later ones."""
        if self._scope is not None:
            return variable_scope(self._scope, reuse=True)
        return variable_scope(self._given, default_name=self.base_name, reuse=self._reuse)

    def __call__(
        self, inputs: object, *args: object, scope: str | None = None, **options: object
    ) -> Any:
        """Return what the layer makes of its operand."""
        if scope is not None and self._scope is None:
            self._given = scope
        given = nest.map_structure(convert, inputs)
        with self._entered() as entered:
            self._scope = self._scope or entered
            if not self.built:
                first = nest.flatten(given)[0]
                self._check(first)
                if self.dtype is None and first.dtype.is_floating:
                    self.dtype = first.dtype  # that of its variables
                self.build(_shape_of(given))
                self.built = True
            made = self.call(given, *args, **options)
        if self.activity_regularizer is not None:
            count = cast(sizes(nest.flatten(made)[0])[0], "float32")
            self.add_loss(self.activity_regularizer(made) / count)  # for each example
        return made

    apply = __call__

    def _check(self, x: TfTensor) -> None:
        """Raise for an operand that the layer does not take."""
        spec = self.input_spec
        rank = x.shape.rank
        if spec is None or rank is None:
            return
        least, most = spec.min_ndim or 0, spec.max_ndim or rank
        if not least <= rank <= most or spec.ndim not in (None, rank):
            wanted = spec.ndim if spec.ndim is not None else f"at least {least}"
            raise LayerShapeError(
                f"layer {self.name}: an operand of {rank} axes (shape {x.shape}), expected {wanted}"
            )

    def build(self, input_shape: ShapeLike) -> None:
        """Make the variables."""

    def call(self, inputs: Any, *args: Any, **options: Any) -> object:
        """Return the result; a layer says how."""
        raise NotImplementedError(type(self).__name__)

    def add_weight(
        self,
        name: str,
        shape: ShapeLike,
        dtype: DTypeLike | None = None,
        initializer: First = None,
        regularizer: Penalty | None = None,
        trainable: bool = True,
        constraint: object = None,
        **more: Any,
    ) -> Variable:
        """Return a variable of the layer, made now or shared."""
        made = get_variable(
            name,
            shape,
            dtype or self.dtype or "float32",
            initializer,
            regularizer,
            trainable=trainable and self.trainable,
            constraint=constraint,
            **more,
        )
        self._own.extend(made if isinstance(made, PartitionedVariable) else [made])
        return made

    add_variable = add_weight

    def add_update(self, updates: object, inputs: object = None) -> None:
        """Let operations be run with each step of training."""
        listed = updates if isinstance(updates, list | tuple) else [updates]
        self._updates.extend(listed)
        for each in listed:
            get_default_graph().add_to_collection("update_ops", each)

    def add_loss(self, losses: object, inputs: object = None) -> None:
        """Put penalties into the graph's list."""
        listed = losses if isinstance(losses, list | tuple) else [losses]
        self._losses.extend(listed)
        for each in listed:
            get_default_graph().add_to_collection(PENALTIES, each)

    @property
    def variables(self) -> list[Variable]:
        """Return the variables."""
        return list({id(v): v for v in self._own}.values())

    weights = variables

    @property
    def trainable_variables(self) -> list[Variable]:
        """Return the variables that are trained."""
        return [v for v in self.variables if v.trainable]

    trainable_weights = trainable_variables

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """Return the variables that are not trained."""
        return [v for v in self.variables if not v.trainable]

    non_trainable_weights = non_trainable_variables

    @property
    def updates(self) -> list[object]:
        """Return what is to be run with each step of training."""
        return list(self._updates)

    @property
    def losses(self) -> list[object]:
        """Return penalties."""
        return list(self._losses)

    @property
    def graph(self) -> Graph | None:
        """Return the graph of the layer's variables."""
        return self._own[0].graph if self._own else get_default_graph()

    def count_params(self) -> int:
        """Return how many numbers the variables have."""
        return sum(v.shape.num_elements() or 0 for v in self.variables)


def _shape_of(given: Any) -> Any:
    """Return the shape of an operand, or of each of several."""
    if isinstance(given, list | tuple):
        return [_shape_of(each) for each in given]
    return TensorShape(given.shape)


def extent(shape: ShapeLike, axis: int, layer: Layer) -> int:
    """Return an extent of an operand, which a layer must know to make its variables."""
    dims = TensorShape(shape)._dims
    found = None if dims is None else dims[axis]
    if found is None:
        raise LayerShapeError(
            f"layer {layer.name}: axis {axis} of an operand of shape {TensorShape(shape)} is not "
            "known, expected a number: the layer's variables have it"
        )
    return found


def activated(function: Activation | None, value: TfTensor) -> TfTensor:
    """Return what an activation makes of a value; without one, the value."""
    return value if function is None else function(value)


def settled(made: Made, shape: Sequence[int | None] | TensorShape) -> Made:
    """Return a tensor, of whose shape something is known in a graph."""
    if isinstance(made, SymbolicTfTensor):
        made.set_shape(shape)
    return made
