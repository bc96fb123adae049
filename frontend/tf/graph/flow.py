"""Choices, loops, gradients and Python in graphs by TensorFlow's names."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any, NamedTuple, Self, cast

import numpy as np

from ....ir.compose.maker import Maker
from ....ir.types import dtypes as rows
from ...eager.tape import GradientTape as CoreTape
from ...eager.tape import wants_zeros
from ...graph.control_flow import ControlFlowError, choose
from ...graph.func_graph import FuncGraph
from ...graph.gradients import OVERRIDES
from ...graph.gradients import gradients as graph_gradients
from ...graph.graph import Graph, GraphTensor, Kind, Operation
from ...graph.kinds import ENTER, EXIT, LOOP_CONDITION, NEXT_ITERATION, Merge, Stop, Switch
from ...values import nest
from ...values.context import STATE, Use
from ..core.bridge import TfTensor, dressed, dressed_leaves, wrap
from ..core.calls import perform, rule
from ..core.required import known, require
from ..core.values import InGraph, convert, graph_of
from ..ops.creation import zeros_like
from ..ops.indexed_slices import IndexedSlices, as_argument, as_slices, holds_slices, of_use
from ..ops.math_ops import identity
from .tensor_array import TensorArray

SWITCH, MERGE = Switch(), Merge()
Branch = Callable[[], object]


class Merged(NamedTuple):
    """What a Merge gives."""

    output: object
    value_index: object


class Switched(NamedTuple):
    """What a Switch gives."""

    output_false: object
    output_true: object


def truth(pred: object) -> TfTensor:
    """Return a condition as a tensor."""
    return convert(pred, "bool") if not hasattr(pred, "spec") else convert(pred)


def cond(
    pred: object, true_fn: Any = None, false_fn: Any = None, name: str | None = None, **_: object
) -> Any:
    """Run one of two functions."""
    for what, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(function):
            raise TypeError(f"cond(): {what!r} must be callable, found {function!r}")
    graph = graph_of([pred])
    if graph is None:
        return true_fn() if bool(pred) else false_fn()
    if isinstance(pred, bool):
        return true_fn() if pred else false_fn()
    with InGraph(graph):
        return _chosen(graph, truth(pred), [false_fn, true_fn], name or "cond", "If")


def _chosen(
    graph: Graph, index: TfTensor, functions: Sequence[Branch], name: str, type_: str
) -> object:
    """Add a choice to a graph: tensors stand for arrays of tensors and for slices meanwhile."""
    given = OfBranches()
    try:
        made = choose(graph, index, [given.of(f) for f in functions], name, type_)
    except ControlFlowError as error:
        if type_ == "If" and (place := given.mismatch()) is not None:
            raise ControlFlowError(
                f"Cannot reconcile tf.cond {place}-th outputs: one branch gives IndexedSlices and "
                f"the other one a tensor. {error}"
            ) from None
        what = "true_fn and false_fn" if type_ == "If" else "branch_fns"
        called = "tf.cond" if type_ == "If" else "tf.switch_case"
        raise ControlFlowError(
            f"{what} arguments to {called} must have the same number, type, and overall structure "
            f"of return values. {error}"
        ) from None
    return given.packed(made)


class OfBranches:
    """What the functions of a choice give, of which only tensors leave its graphs."""

    def __init__(self) -> None:
        self.arrays: list[TensorArray | None] = []
        """The arrays of tensors among the leaves, as the last branch that was traced gave them."""
        self.has_slices = False
        self.rows: list[list[bool]] = []
        """Which values of each branch are slices."""

    def of(self, branch: Branch) -> Branch:
        """Return a function that gives tensors: true for an operation, once it has been run."""

        def run() -> object:
            made = branch()
            self.has_slices = holds_slices([made])
            self.rows.append([isinstance(x, IndexedSlices) for x in nest.flatten(made)])
            parts = nest.map_structure(as_argument, made) if self.has_slices else made
            leaves = nest.flatten(parts)
            self.arrays = [x if isinstance(x, TensorArray) else None for x in leaves]
            return nest.pack(parts, [_leaf_of_branch(x) for x in leaves])

        return run

    def mismatch(self) -> int | None:
        """Return the first place where one branch gives slices and another one a tensor."""
        columns = enumerate(zip(*self.rows, strict=False))
        return next((at for at, column in columns if len(set(column)) > 1), None)

    def packed(self, made: object) -> object:
        """Return the result of the choice in the structure that its functions give."""
        if any(x is not None for x in self.arrays):
            pairs = zip(nest.flatten(made), self.arrays, strict=True)
            made = nest.pack(made, [x if a is None else a.carrying(x) for x, a in pairs])
        return as_slices(made) if self.has_slices else made


def _leaf_of_branch(value: object) -> object:
    if isinstance(value, TensorArray):
        return value.carried()[0]
    if not isinstance(value, Operation):
        return value
    with value.graph.control_dependencies([value]):
        return convert(True)


def switch_case(
    branch_index: Any, branch_fns: Any, default: object = None, name: str = "switch_case"
) -> object:
    """Run one of several functions, by its number."""
    if not hasattr(branch_index, "spec"):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(branch_index)}")
    if branch_index.spec.dtype.kind not in "iu":
        raise TypeError(f"'branch_index' must be of an integer type, got {branch_index.dtype}")
    listed = branch_fns.items() if isinstance(branch_fns, dict) else enumerate(branch_fns)
    by_number: dict[int, Any] = dict(p[1] if isinstance(p[1], tuple) else p for p in listed)
    for key in by_number:
        if not isinstance(key, int):
            raise TypeError(f"branch index (key) must be a Python `int`, got {key!r}")
    if sorted(by_number) != list(range(len(by_number))):
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(by_number)}) but "
            f"found {sorted(by_number)}"
        )
    functions = [by_number[i] for i in range(len(by_number))]
    functions.append(default or functions[-1])
    graph = graph_of([branch_index])
    if graph is None:
        at = int(branch_index)
        return functions[at if 0 <= at < len(functions) else -1]()
    with InGraph(graph), graph.name_scope(name):
        return _chosen(graph, convert(branch_index), functions, "indexed_case", "Case")


def case(
    pred_fn_pairs: Any,
    default: Any = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> object:
    """Run the function of the first condition that holds."""
    del strict, name
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    if not pairs:
        raise ValueError("case: there must be at least one pair of a condition and a function")
    graph = graph_of([p for p, _ in pairs])
    preds = [p for p, _ in pairs]
    if exclusive or default is None:
        with InGraph(graph):
            preds = [_counted(pred, preds, exclusive=exclusive, some=default is None)
                     for pred in map(truth, preds)]  # fmt: skip
    chosen = default if default is not None else pairs[-1][1]
    for pred, (_, each) in reversed([*zip(preds, pairs, strict=True)]):
        chosen = _either(pred, each, chosen)
    return chosen()


@rule("CaseCondition", refuses=True, differentiable=False)
def _case_condition(m: Maker, pred: object, *preds: object, exclusive: bool, some: bool) -> object:
    """Return a condition; of all of them some must hold, or at most one."""
    ones = [m.to(p, rows.i32) for p in preds]
    count = functools.reduce(m.add, ones)
    one = m.number(1, rows.i32)
    if some:
        _require(
            m, count, lambda n: m.greater_equal(n, one), "None of conditions evaluated as True"
        )
    if exclusive:
        _require(
            m, count, lambda n: m.less_equal(n, one), "more than one condition evaluated as True"
        )
    return m.logical_and(pred, m.greater_equal(count, m.number(0, rows.i32)))


def _require(m: Maker, count: object, holds: Callable[[object], object], message: str) -> None:
    found = known(count)
    if found is None:
        require(m, count, holds, f"Input error: {message}")
    elif not np.asarray(holds(found)).all():
        raise ValueError(f"Input error: {message}")


def _counted(pred: TfTensor, preds: Sequence[object], **options: Any) -> TfTensor:
    return perform("CaseCondition", [pred, *map(truth, preds)], **options)


def _either(pred: object, yes: object, no: object) -> Callable[[], object]:
    return lambda: cond(pred, yes, no)


def _for_each(grad_ys: object, count: int) -> list[object] | None:
    """Return a value for each target, which may be a list of numbers; None: there are none."""
    if grad_ys is None:
        return None
    listed = list(grad_ys) if isinstance(grad_ys, list | tuple) else [grad_ys]
    return listed if len(listed) == count else nest.flatten(grad_ys)


def gradients(
    ys: object,
    xs: object,
    grad_ys: object = None,
    name: str = "gradients",
    gate_gradients: object = False,
    aggregation_method: object = None,
    stop_gradients: object = None,
    unconnected_gradients: object = "none",
    colocate_gradients_with_ops: bool = False,
) -> list[object]:
    """Return the gradients of the sum of `ys`, as tensors added to the graph."""
    targets, zero = nest.flatten(ys), wants_zeros(unconnected_gradients)
    graph = graph_of(targets)
    if graph is None:
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. "
            "Use tf.GradientTape instead."
        )
    here = STATE.context
    if isinstance(here, FuncGraph) and here.is_inside(graph):
        graph = here  # (what goes back stands where it is asked for, and not where a target is)
    with InGraph(graph):
        targets = [graph.owned(convert(y)) for y in targets]
        for y in targets if grad_ys is None else ():
            if y.spec.dtype.kind == "c":
                raise TypeError(
                    f"Gradients of complex tensors {y!r} must set grad_ys (y.dtype = "
                    f"{y.dtype.name})"
                )
        sources = [getattr(x, "state", x) for x in nest.flatten(xs)]
        weights = _for_each(grad_ys, len(targets))
        given = [
            g if g is None or isinstance(g, IndexedSlices) else graph.owned(convert(g))
            for g in ([None] * len(targets) if weights is None else weights)
        ]
        stops = [] if stop_gradients is None else nest.flatten(stop_gradients)
        colocate = bool(colocate_gradients_with_ops)
        found = graph_gradients(targets, sources, given, stops, name=name, colocate=colocate)
        if zero:
            found = [
                zeros_like(x) if g is None else g
                for x, g in zip(nest.flatten(xs), found, strict=True)
            ]
    return found


class RegisterGradient:
    """Enters a function as the gradient that a graph's `gradient_override_map` names."""

    def __init__(self, op_type: str) -> None:
        self._name = op_type

    def __call__(self, f: Callable[..., object]) -> Callable[..., object]:
        """Enter a function."""
        if self._name in OVERRIDES:
            raise KeyError(f"Registering two gradient with name '{self._name}'!")
        OVERRIDES[self._name] = f
        return f


def no_gradient(op_type: str) -> None:
    """Enter that operations of a name pass no gradient on."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    RegisterGradient(op_type)(lambda op, *_: [None] * len(op.inputs))


class UnconnectedGradients(Enum):
    """What a gradient is where nothing depends."""

    NONE = "none"
    ZERO = "zero"


class GradientTape(CoreTape):
    """Records operations for gradients."""

    _has_begun = False

    def __enter__(self) -> Self:
        self._has_begun = True
        return super().__enter__()

    def sparse(self, use: Use, grads: Sequence[object]) -> Sequence[object] | None:
        """Return the gradients of a use of which some are `IndexedSlices`, or None."""
        return of_use(use, grads)

    def watch(self, tensor: object) -> None:
        """Watch tensors or variables, or a structure of them."""
        for x in nest.flatten(tensor):
            if not hasattr(x, "spec"):
                raise ValueError(
                    f"Passed in object {x!r} of type {type(x).__name__!r}, not tf.Tensor or "
                    "tf.Variable."
                )
        super().watch(tensor)

    def gradient(
        self,
        target: object,
        sources: object,
        output_gradients: object = None,
        unconnected_gradients: object = "none",
    ) -> Any:
        """Return the gradients of the sum of the target."""
        for x in nest.flatten(sources):
            if not hasattr(x, "spec"):
                raise TypeError(f"{x!r} is no tensor or variable to differentiate by")
        made = super().gradient(target, sources, output_gradients, unconnected_gradients)
        return dressed_leaves(made)

    def _begin(self) -> None:
        self._check_unused()
        super()._begin()

    def _check_unused(self) -> None:
        """Raise if a tape that gives gradients once has done so, or one that was never entered."""
        if not self._has_begun or (self._used and not self._persistent):
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients "
                "(or jacobians)"
            )

    def _check_loop(self, vectorised: bool, what: str) -> None:
        """Raise where TensorFlow goes over rows one by one, for which a tape must be kept."""
        if not (vectorised or self._persistent) and STATE.context is None:
            raise RuntimeError(
                f"GradientTape must be created with persistent=True to compute the {what} with "
                "eager execution enabled and with experimental_use_pfor set to False."
            )

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: object = "none",
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> object:
        """Return the derivatives of each example of the target by the same of the source."""
        self._check_unused()
        self._check_loop(experimental_use_pfor, "batch_jacobian")
        if parallel_iterations is not None and not self._persistent:
            raise RuntimeError(
                "GradientTape must be created with persistent=True to compute the batch_jacobian "
                "with parallel_iterations."
            )
        for x in (target, source):
            x.shape.with_rank_at_least(2)
        if not target.shape[:1].is_compatible_with(source.shape[:1]):
            raise ValueError(
                f"Need first dimension of target shape ({target.shape}) and source shape "
                f"({source.shape}) to match."
            )
        none = str(getattr(unconnected_gradients, "value", unconnected_gradients)) == "none"
        # TensorFlow gives zeros also where nothing is connected
        made = super().batch_jacobian(target, source, "zero" if none else unconnected_gradients)
        return dressed_leaves(made)

    def jacobian(
        self,
        target: object,
        sources: object,
        unconnected_gradients: object = "none",
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Return the derivatives of each element of the target."""
        self._check_unused()
        self._check_loop(experimental_use_pfor, "jacobian")
        made = super().jacobian(target, sources, unconnected_gradients)
        return dressed_leaves(made)


def switch(data: object, pred: object, name: str | None = None) -> tuple[object, object]:
    """Return the data for false and for true; one of them is dead."""
    graph = graph_of([data, pred])
    if graph is None:
        raise TypeError("switch is an operation of graphs")
    with InGraph(graph):
        inputs = [graph.owned(convert(data)), graph.owned(truth(pred))]
        no, yes = graph.add(SWITCH, inputs, name=name).outputs
    return Switched(no, yes)


def merge(inputs: Sequence[object], name: str | None = None) -> tuple[object, object]:
    """Return the input that is alive, and its number."""
    graph = graph_of(list(inputs))
    if graph is None:
        raise TypeError("merge is an operation of graphs")
    with InGraph(graph):
        value, index = graph.add(
            MERGE, [graph.owned(convert(x)) for x in inputs], name=name
        ).outputs
    return Merged(value, index)


def passing(kind: Kind, data: object, name: str | None = None, **attributes: object) -> GraphTensor:
    """Add a node of a loop that gives its input."""
    graph = graph_of([data])
    if graph is None:
        raise TypeError(f"{kind.type} is an operation of graphs")
    with InGraph(graph):
        return graph.add(kind, [graph.owned(convert(data))], attributes, name=name).outputs[0]


def enter(
    data: object,
    frame_name: str,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    name: str | None = None,
) -> GraphTensor:
    """Bring a tensor into a loop."""
    return passing(ENTER, data, name, frame_name=frame_name, is_constant=is_constant)


def leave(data: object, name: str | None = None) -> GraphTensor:
    """Bring a tensor out of a loop."""
    return passing(EXIT, data, name)


def next_iteration(data: object, name: str | None = None) -> GraphTensor:
    """Give a tensor to the next trip of a loop."""
    return passing(NEXT_ITERATION, data, name)


def loop_condition(input: object, name: str | None = None) -> GraphTensor:
    """Mark what says whether a loop has another trip."""
    return passing(LOOP_CONDITION, truth(input), name)


def stop_gradient(input: object, name: str | None = None) -> TfTensor:
    """Return a tensor through which no gradient passes."""
    if isinstance(input, nest.TensorGroup):
        stopped = [stop_gradient(x, name) for x in input.components()]
        return cast("TfTensor", input.with_components(stopped))
    graph = graph_of([input])
    with InGraph(graph):
        x = convert(input)
        if graph is None:
            return wrap(x._array)
        return dressed(graph.add(Stop(), [graph.owned(x)], name=name).outputs[0])


def tuple_(
    tensors: Sequence[object],
    control_inputs: Iterable[object] | None = None,
    name: str | None = None,
) -> list[object]:
    """Return tensors that are ready only when all of them are."""
    graph = graph_of(list(tensors))
    if graph is None:
        return list(tensors)
    if not tensors:
        raise ValueError("'tensors' must have at least one Tensor. Received: [].")
    given = [t for t in tensors if t is not None]
    wait = graph.control_dependencies([*given, *(control_inputs or ())])
    with graph.name_scope(name or "tuple"), wait:
        return [t if t is None else identity(t, name="control_dependency") for t in tensors]
