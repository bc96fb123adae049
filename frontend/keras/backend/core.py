"""Variables, what shapes come out, and control flow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TypeAlias, TypeVar

import numpy as np
from keras.src import tree
from keras.src.backend.common import KerasVariable
from keras.src.backend.common.backend_utils import slice_along_axis
from keras.src.backend.common.keras_tensor import KerasTensor
from keras.src.backend.common.name_scope import name_scope
from keras.src.backend.common.stateless_scope import StatelessScope, in_stateless_scope
from keras.src.backend.common.symbolic_scope import SymbolicScope

from ....ir.types.tensor import Array
from ...eager.backward import key_of
from ...eager.tape import stop_gradient as _stop_gradient
from ...eager.tensor import Tensor
from ...function.custom_gradient import custom_gradient as _custom_gradient
from ...function.function import init_scope
from ...function.on_device import device
from ...function.variable import note_created
from ...graph.func_graph import FuncGraph
from ...graph.variables import VariableState
from ...tf.core.bridge import dressed
from ...tf.core.creators import VariableAggregation
from ...tf.core.shapes import TensorShape
from ...tf.core.specs import TensorSpec
from ...tf.core.values import graph_of
from ...tf.graph import flow, loops
from ...tf.graph.autograph import function
from ...tf.graph.functional import recompute_grad
from ...tf.graph.state import Variable as State
from ...tf.graph.tensor_array import TensorArray
from ...tf.ops import array_ops, creation, gathering, indexing, math_ops
from ...values.context import STATE
from ...values.given import Index, TensorLike
from .tensors import (
    DType,
    cast,
    convert_to_numpy,
    convert_to_tensor,
    is_dense,
    is_tensor,
    name_of,
    shape,
)

__all__ = ["cast", "convert_to_numpy", "convert_to_tensor", "is_tensor", "name_scope", "shape"]

SUPPORTS_SPARSE_TENSORS = False
SUPPORTS_RAGGED_TENSORS = False
SUPPORTS_COMPLEX_DTYPES = True
IS_THREAD_SAFE = True

Tree: TypeAlias = object
"""Tensors in nested structures, as Keras walks them."""
Result = TypeVar("Result")
LONG = 10
"""From so many steps on a scan is a loop, as recurrence is: to compile what is written out takes
as long as there are steps."""


class LayerVariable(KerasVariable):
    """A variable of Keras, whose state is a variable of gravure."""

    def _initialize(self, value: TensorLike) -> None:
        if isinstance(value, State):
            self._value = value
            return
        self._note()
        with init_scope():
            self._value = State(
                convert_to_tensor(value, self._dtype),
                trainable=self.trainable,
                name=self.name.replace(":", "_"),
            )
            self._value.share(self.synchronization, self.aggregation)
            self._value.aggregation = VariableAggregation[self.aggregation.upper()]

    def _note(self) -> None:
        """Tell a trace that it makes a variable: what asks whether there is one goes on otherwise.

        The function is traced once more then, as for variables of TensorFlow.
        """
        context = STATE.context
        if isinstance(context, FuncGraph):
            note_created(context, self, self.path)

    def _initialize_with_initializer(self, initializer: Callable[..., TensorLike]) -> None:
        self._note()
        with init_scope():
            self._initialize(initializer(self._shape, dtype=self._dtype))

    def _deferred_initialize(self) -> None:
        if self._value is not None:
            raise ValueError(f"Variable {self.path} is already initialized.")
        if in_stateless_scope():
            raise ValueError(
                f"Variable {self.path} is initialised in a stateless scope; make all variables "
                "before layers or models are used statelessly."
            )
        with init_scope():
            self._initialize_with_initializer(self._initializer)
        self._initializer = None

    def _direct_assign(self, value: TensorLike) -> None:
        self._value.assign(convert_to_tensor(value, self._dtype))

    def _convert_to_tensor(self, value: TensorLike, dtype: DType = None) -> Tensor:
        if isinstance(value, State) and not self._is_made() and dtype in (None, value.dtype.name):
            return value  # type: ignore[return-value]  # it is shared, as TensorFlow's backend does
        with nullcontext() if self._is_made() else init_scope():  # it outlives a trace
            return convert_to_tensor(value, dtype)

    def _is_made(self) -> bool:
        return getattr(self, "_value", None) is not None

    @property
    def _key(self) -> object:
        """What tapes know the variable by: its state."""
        return key_of(self._value)

    @property
    def state(self) -> VariableState:
        """Return what holds the value."""
        return self._value.state

    @property
    def spec(self) -> object:
        """Return the spec of the state."""
        return self._value.spec

    @property
    def spread(self) -> object:
        """Return the values that replicas have of it, if each has its own."""
        return self._value.spread

    def __gv_tensor__(self) -> Tensor:
        """Return the value that it has now."""
        return convert_to_tensor(self.value)

    @property
    def shape(self) -> TensorShape:
        """Return the sizes, as TensorFlow says them."""
        return TensorShape(super().shape)

    def numpy(self) -> Array | np.generic:
        """Return the elements as an array; one element alone as a number of numpy's."""
        found: Array | np.generic = convert_to_tensor(self.value).numpy()
        return found

    def __array__(
        self, dtype: np.dtype[np.generic] | None = None, copy: bool | None = None
    ) -> Array:
        """Return the elements as an array."""
        found = convert_to_numpy(self)
        return found if dtype is None else found.astype(dtype)

    def __getitem__(self, key: Index) -> Tensor:
        found: Tensor = self.value[key]
        return found


Variable = LayerVariable


def compute_output_spec(fn: Callable[..., Tree], *args: Tree, **kwargs: Tree) -> Tree:
    """Return what a function gives for symbolic tensors, as symbolic tensors: it is traced."""
    flat = tree.flatten((args, kwargs))
    specs = [TensorSpec(x.shape, x.dtype) for x in flat if isinstance(x, KerasTensor)]
    found: list[Tree] = []

    def traced(*given: Tensor) -> list[Tensor]:
        rest = iter(given)
        filled = [next(rest) if isinstance(x, KerasTensor) else x for x in flat]
        own_args, own_kwargs = tree.pack_sequence_as((args, kwargs), filled)
        found.append(tree.map_structure(_symbolic, fn(*own_args, **own_kwargs)))
        return []

    with StatelessScope(), SymbolicScope():
        function(traced, autograph=False).get_concrete_function(*specs)
    return found[0]


def _symbolic(x: Tree) -> Tree:
    if not is_dense(x):
        return x
    dims = tuple(n if isinstance(n, int) else None for n in dressed(x).shape)
    return KerasTensor(dims, name_of(x))


def cond(pred: TensorLike, true_fn: Callable[[], Result], false_fn: Callable[[], Result]) -> Result:
    """Return what one of two functions gives."""
    if isinstance(pred, bool):
        return true_fn() if pred else false_fn()
    chosen: Result = flow.cond(convert_to_tensor(pred, "bool"), true_fn, false_fn)
    return chosen


def vectorized_map(function: Callable[..., Tree], elements: Tree) -> Tree:
    """Return what a function gives for each element along the first axes."""
    return loops.vectorized_map(function, tree.map_structure(convert_to_tensor, elements))


def map(f: Callable[..., Tree], xs: Tree) -> Tree:  # noqa: A001  (Keras's name)
    """Return what a function gives for each element along the first axes, one after the other."""
    return scan(lambda _, x: ((), f(x)), (), xs)[1]


def scan(
    f: Callable[[Tree, Tree], tuple[Tree, Tree]],
    init: Tree,
    xs: Tree = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: bool | int = 1,
) -> tuple[Tree, Tree]:
    """Carry a state through the elements along the first axes; return it and what each gave."""
    if not callable(f):
        raise TypeError(f"`f` should be a callable. Received: f={f}")
    if not isinstance(unroll, bool | int) or (not isinstance(unroll, bool) and unroll < 1):
        raise ValueError(
            f"`unroll` must be an positive integer or boolean. Received: unroll={unroll}"
        )
    if xs is None and length is None:
        raise ValueError("Got no `xs` to scan over and `length` not provided.")
    flat = [convert_to_tensor(x) for x in tree.flatten(xs)] if xs is not None else []
    count = int(length) if length is not None else shape(flat[0])[0]
    carry = tree.map_structure(convert_to_tensor, init)

    def turned(carry: Tree, rows: Sequence[Tensor]) -> tuple[Tree, Tree]:
        carry, y = f(carry, tree.pack_sequence_as(xs, list(rows)) if xs is not None else None)
        return carry, y if y is not None else tree.map_structure(creation.zeros_like, init)

    if not isinstance(count, int) or (count >= LONG and graph_of([*flat, *tree.flatten(carry)])):
        return _looped(turned, carry, flat, count, reverse)
    given: list[Tree] = []
    for i in reversed(range(count)) if reverse else range(count):
        carry, y = turned(carry, [x[i] for x in flat])
        given.append(y)
    if reverse:
        given.reverse()
    if not given:
        return carry, tree.map_structure(lambda x: creation.zeros_like(x)[None][:0], init)
    return carry, tree.map_structure(lambda *each: array_ops.stack(each), *given)


def _looped(
    turned: Callable[[Tree, Sequence[Tensor]], tuple[Tree, Tree]],
    carry: Tree,
    flat: Sequence[Tensor],
    count: int | Tensor,
    reverse: bool,
) -> tuple[Tree, Tree]:
    """Carry a state through rows by a loop, which writes what each gives into arrays."""
    made: list[Tree] = []

    def traced(*rows: Tensor) -> list[Tensor]:
        made.append(turned(carry, rows)[1])
        return []

    with StatelessScope():
        specs = [TensorSpec(x.shape[1:], x.dtype) for x in flat]
        function(traced, autograph=False).get_concrete_function(*specs)
    shape_of = made[0]
    arrays = [TensorArray(x.dtype, size=count) for x in tree.flatten(shape_of)]

    def body(i: Tensor, state: list[Tensor], arrays: list[TensorArray]) -> tuple[Tree, ...]:
        place = count - 1 - i if reverse else i
        given = tree.pack_sequence_as(carry, list(state))
        after, y = turned(given, [gathering.gather(x, place) for x in flat])
        after = tree.map_structure(convert_to_tensor, after)
        rows = [convert_to_tensor(x) for x in tree.flatten(y)]
        kept = [a.write(place, x) for a, x in zip(arrays, rows, strict=True)]
        return i + 1, tree.flatten(after), kept

    start = (convert_to_tensor(0), tree.flatten(carry), arrays)
    _, last, kept = loops.while_loop(lambda i, *_: i < count, body, start)
    stacks = [a.stack() for a in kept]
    return tree.pack_sequence_as(carry, list(last)), tree.pack_sequence_as(shape_of, stacks)


def associative_scan(
    f: Callable[[Tree, Tree], Tree], elems: Tree, reverse: bool = False, axis: int = 0
) -> Tree:
    """Return all prefixes combined by an associative function, in a logarithm of steps."""
    if not callable(f):
        raise TypeError(f"`f` should be a callable. Received: f={f}")
    flat = [convert_to_tensor(x) for x in tree.flatten(elems)]
    counts = {x.shape[axis] for x in flat}
    if len(counts) != 1:
        raise ValueError(
            "Array inputs to associative_scan must have the same first dimension. "
            f"(saw: {[tuple(x.shape) for x in flat]})"
        )
    if reverse:
        flat = [array_ops.reverse(x, [axis % len(x.shape)]) for x in flat]

    def combined(a: list[Tensor], b: list[Tensor]) -> list[Tensor]:
        made = f(tree.pack_sequence_as(elems, a), tree.pack_sequence_as(elems, b))
        return [convert_to_tensor(x) for x in tree.flatten(made)]

    # Each round adds what stands twice as far before (Hillis and Steele, 1986).
    (count,) = counts
    step = 1
    while step < count:
        made = combined(
            [slice_along_axis(x, 0, -step, axis=axis) for x in flat],
            [slice_along_axis(x, step, None, axis=axis) for x in flat],
        )
        flat = [
            array_ops.concat([slice_along_axis(x, 0, step, axis=axis), y], axis)
            for x, y in zip(flat, made, strict=True)
        ]
        step *= 2
    if reverse:
        flat = [array_ops.reverse(x, [axis % len(x.shape)]) for x in flat]
    return tree.pack_sequence_as(elems, flat)


def scatter(indices: TensorLike, values: TensorLike, shape: Sequence[int]) -> Tensor:
    """Return zeros with values added at indices."""
    return gathering.scatter_nd(convert_to_tensor(indices), convert_to_tensor(values), shape)


SCATTERS = {
    None: gathering.tensor_scatter_nd_update,
    "add": gathering.tensor_scatter_nd_add,
    "max": gathering.tensor_scatter_nd_max,
    "min": gathering.tensor_scatter_nd_min,
    "mul": gathering.tensor_scatter_nd_mul,
}


def scatter_update(
    inputs: TensorLike, indices: TensorLike, updates: TensorLike, reduction: str | None = None
) -> Tensor:
    """Return a tensor with other elements at indices, or combined with these."""
    if reduction not in SCATTERS:
        raise ValueError(f"Unsupported reduction: {reduction}")
    tensor = convert_to_tensor(inputs)
    return SCATTERS[reduction](
        tensor, convert_to_tensor(indices), convert_to_tensor(updates, tensor.dtype)
    )


def slice(inputs: TensorLike, start_indices: TensorLike, shape: Sequence[int]) -> Tensor:  # noqa: A001
    """Return a block of a tensor."""
    return indexing.slice_(convert_to_tensor(inputs), start_indices, shape)


def slice_update(inputs: TensorLike, start_indices: TensorLike, updates: TensorLike) -> Tensor:
    """Return a tensor with another block at a place."""
    tensor, block = convert_to_tensor(inputs), convert_to_tensor(updates)
    starts = convert_to_tensor(start_indices, "int32")
    extents = tuple(block.shape)
    grid = creation.meshgrid(*[creation.range_(size) for size in extents], indexing="ij")
    places = array_ops.stack(grid, -1) + starts if grid else starts
    return gathering.tensor_scatter_nd_update(tensor, places, cast(block, tensor.dtype))


def switch(index: TensorLike, branches: Sequence[Callable[..., Tree]], *operands: Tree) -> Tree:
    """Return what one of several functions gives; the index is cut to those that there are."""
    last = len(branches) - 1
    place = convert_to_tensor(index, "int32")
    place = math_ops.FUNCTIONS["minimum"](math_ops.FUNCTIONS["maximum"](place, 0), last)
    return flow.switch_case(place, [lambda b=b: b(*operands) for b in branches])


def while_loop(
    cond: Callable[..., TensorLike],
    body: Callable[..., Tree],
    loop_vars: Tree,
    maximum_iterations: int | None = None,
) -> Tree:
    """Repeat a body while a condition holds; return the last values."""
    several = isinstance(loop_vars, tuple | list)
    given = tuple(loop_vars) if isinstance(loop_vars, tuple | list) else (loop_vars,)
    given = tree.map_structure(convert_to_tensor, given)

    def turned(*values: Tree) -> Tree:
        made = body(*values)
        made = tuple(made) if isinstance(made, tuple | list) else (made,)
        return tree.map_structure(convert_to_tensor, made)

    found = loops.while_loop(cond, turned, given, maximum_iterations=maximum_iterations)
    if several:
        return found
    return found[0] if isinstance(found, tuple | list) else found


def fori_loop(
    lower: TensorLike, upper: TensorLike, body_fun: Callable[..., Tree], init_val: Tree
) -> Tree:
    """Carry a value through a range of numbers."""
    number, value = tree.map_structure(_read, (lower, init_val))
    if graph_of([number, upper, *tree.flatten(value)]) is None:
        while number < upper:  # of Python's numbers, which are of any type
            number, value = number + 1, body_fun(number, value)
        return tree.map_structure(convert_to_tensor, value)
    found: tuple[Tree, Tree] = loops.while_loop(
        lambda i, _: i < upper, lambda i, x: (i + 1, body_fun(i, x)), (number, value)
    )
    return found[1]


def stop_gradient(variable: TensorLike) -> Tensor:
    """Return a tensor that no gradient flows back from."""
    return dressed(_stop_gradient(convert_to_tensor(variable)))


def unstack(x: TensorLike, num: int | None = None, axis: int = 0) -> list[Tensor]:
    """Return the parts along an axis."""
    return list(array_ops.unstack(convert_to_tensor(x), num, axis))


def random_seed_dtype() -> str:
    """Return the element type of seeds."""
    return "int64"


def custom_gradient(fun: Callable[..., tuple[Tree, Callable[..., Tree]]]) -> Callable[..., Tree]:
    """Return a function whose gradient is what it returns besides."""

    def ruled(*args: Tree, **kwargs: Tree) -> Tree:
        def rule(*given: Tensor) -> tuple[Tree, Callable[..., Tree]]:
            made, way_back = fun(*given, **kwargs)

            def back(*grads: Tensor, **more: Tree) -> Tree:
                return way_back(*grads, upstream=None, **more) if more else way_back(*grads)

            return made, back

        return _custom_gradient(rule)(*(_read(x) for x in args))

    return ruled


def _read(x: Tree) -> Tree:
    return convert_to_tensor(x) if isinstance(x, KerasVariable) else x


@contextmanager
def device_scope(device_name: str) -> Iterator[None]:
    """Place what is made inside: `cpu:0`, `gpu:0`, or a device of gravure."""
    if not isinstance(device_name, str):
        raise ValueError(f"device_name must be a string, got {device_name!r}")
    with device(device_name):
        yield


def remat(f: Callable[..., Tree]) -> Callable[..., Tree]:
    """Return a function whose values are computed again for its gradient."""
    rematerialised: Callable[..., Tree] = recompute_grad(f)
    return rematerialised
