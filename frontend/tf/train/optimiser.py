"""What optimisers have in common: gradients, the values kept for variables, and the step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ...function.variable import Variable as CoreVariable
from ...graph.func_graph import FuncGraph
from ...graph.graph import Graph, Operation
from ...values.context import STATE, entered
from ..core.bridge import TfTensor
from ..core.values import changed_in, convert
from ..graph.flow import GradientTape, gradients
from ..graph.graph_lists import trainable_variables
from ..graph.state import Variable, group
from ..ops.array_ops import expand_dims, reshape, shape, where
from ..ops.creation import ones_like, zeros_like
from ..ops.gathering import scatter_nd
from ..ops.indexed_slices import IndexedSlices
from ..ops.math_ops import cast, square
from ..variables.scopes import get_variable_scope
from .checkpoints import settle
from .rates import Schedule

Gradient: TypeAlias = TfTensor | IndexedSlices | None
Pair: TypeAlias = tuple[Gradient, Variable]
"""A gradient, None if there is none, and the variable that it changes."""
Variables: TypeAlias = Iterable[Variable] | Callable[[], Iterable[Variable]] | None
"""Variables, or what gives them; None stands for all that can be trained."""
Step: TypeAlias = TfTensor | list[TfTensor]
"""The number of the step, in a graph the powers that an optimiser keeps."""


class Optimizer:
    """Applies gradients to variables; `rule` says how one variable changes."""

    slots: ClassVar[dict[str, float]] = {}
    """The names of the values kept for each variable, and what they start with."""

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(
        self, learning_rate: object = 0.0, name: str = "", use_locking: bool = False
    ) -> None:
        self._rate, self._use_locking = learning_rate, use_locking
        self._name = name or type(self).__name__.removesuffix("Optimizer")
        self._others: dict[tuple[str, Graph | None], Variable] = {}
        self._rate_variable: Variable | None = None
        self._kept: dict[int, dict[str, Variable]] = {}
        self._steps: Variable | None = None
        self.name = self._name

    @property
    def iterations(self) -> Variable:
        """Return how many steps were made."""
        if self._steps is None:
            with entered(None) if not _in_graph() else _same():
                self._steps = Variable(np.int64(0), trainable=False, name="iterations")
        return self._steps

    @property
    def learning_rate(self) -> object:
        """Return the learning rate: a variable, if it is a number and this is no graph's."""
        if isinstance(self._rate, Schedule):
            return self._rate(self.iterations)
        number = isinstance(self._rate, int | float)
        return self._own_rate() if number and not _in_graph() else self._rate

    @learning_rate.setter
    def learning_rate(self, value: object) -> None:
        self._rate = value
        if self._rate_variable is not None:
            self._rate_variable.assign(value)

    lr = learning_rate

    def rate(self, variable: Variable) -> TfTensor:
        """Return the learning rate as a value in the variable's type."""
        if not _in_graph() and not callable(self._rate):
            return cast(self._own_rate(), variable.dtype)
        if isinstance(self._rate, Schedule):
            return cast(self._rate(self.iterations), variable.dtype)
        rate = self._rate() if callable(self._rate) else self._rate
        return (
            cast(rate, variable.dtype) if hasattr(rate, "spec") else convert(rate, variable.dtype)
        )

    def factor(self, given: object, variable: Variable) -> Any:
        """Return a number that the rule has besides, which may be a tensor, or what gives one."""
        value = given() if callable(given) else given
        return cast(value, variable.dtype) if hasattr(value, "spec") else value

    def rest(self, factor: float | TfTensor, variable: Variable) -> float | TfTensor:
        """Return what a factor leaves of one, of the factor as the variable's type rounds it."""
        if not isinstance(factor, int | float):
            return 1.0 - factor
        number = variable.spec.dtype.numpy.type
        return float(number(1) - number(factor))

    def _own_rate(self) -> Variable:
        """Return the variable of the learning rate."""
        if self._rate_variable is None:
            with entered(None):
                rate = np.asarray(self._rate, np.float32)
                self._rate_variable = Variable(rate, trainable=False, name="learning_rate")
        return self._rate_variable

    def slot(self, variable: Variable, name: str) -> Variable:
        """Return a value that is kept for a variable."""
        kept = self._kept.setdefault(variable.number, {})
        if name not in kept:
            start, label = self.start(name), f"{variable.state.name}/{name}"
            if variable.graph is not None:
                with slot_of(variable, self.label(name)) as label:
                    first = zeros_like(variable.initial_value) + start
                    kept[name] = Variable(first, trainable=False, name=label)
            else:
                with entered(None):
                    value = variable.state.value
                    assert value is not None, "it is not one of a graph"
                    full = np.full(value.shape, start, variable.spec.dtype.numpy)
                    kept[name] = Variable(full, trainable=False, name=label)
            settle()
        return kept[name]

    def checkpoint_parts(self) -> dict[str, object]:
        """Return what a checkpoint keeps, by name."""
        made: dict[str, object] = {"iterations": self.iterations}
        if self._rate_variable is not None:
            made["learning_rate"] = self._rate_variable
        return {**made, "_variables": self.kept_variables()}

    def start(self, name: str) -> float:
        """Return what a slot starts with."""
        return self.slots[name]

    def label(self, name: str) -> str:
        """Return what a value is called behind the name of its variable."""
        return self.name

    def keeps(self, name: str) -> bool:
        """Say whether something is kept for variables under a name."""
        return True

    def compute_gradients(
        self,
        loss: Any,
        var_list: Variables = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: object = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: object = None,
    ) -> list[Pair]:
        """Return pairs of gradient and variable; `grad_loss` weighs the loss.

        How gradients are added up, gated and placed changes no values, and is left to the plan.
        """
        del aggregation_method, colocate_gradients_with_ops
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                f"Optimizer.GATE_GRAPH. Not {gate_gradients}"
            )
        if callable(loss):
            with GradientTape() as tape:
                if var_list is not None and not callable(var_list):
                    tape.watch(list(var_list))
                value = loss()
            watched = tape.watched_variables() if var_list is None else var_list
            known: list[Variable] = [*(watched() if callable(watched) else watched)]
            return list(zip(tape.gradient(value, known, grad_loss), known, strict=True))
        given = trainable_variables() if var_list is None else var_list
        found: list[Variable] = [*(given() if callable(given) else given)]
        if not found:
            raise ValueError("No variables to optimize.")
        grads: list[Gradient] = [*gradients(loss, found, grad_loss)]  # type: ignore[list-item]
        return list(zip(grads, found, strict=True))

    def minimize(
        self,
        loss: object,
        global_step: Variable | None = None,
        var_list: Variables = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: object = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: object = None,
    ) -> object:
        """Make one step downhill."""
        del aggregation_method, colocate_gradients_with_ops
        pairs = self.compute_gradients(loss, var_list, gate_gradients, grad_loss=grad_loss)
        return self.apply_gradients(pairs, global_step, name)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[Pair],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> object:
        """Change variables by their gradients; a graph's operation has a name."""
        given = [(g, _held(v)) for g, v in grads_and_vars]
        if not given:
            raise ValueError("No variables provided.")
        fixed = [v for _, v in given if not isinstance(v, CoreVariable)]
        if fixed:
            raise NotImplementedError(f"Trying to update a Tensor: {fixed[0]!r}")
        pairs = [(g, v) for g, v in given if g is not None]
        if not pairs:
            names = [v.name for _, v in given]
            raise ValueError(f"No gradients provided for any variable: {names}.")
        if STATE.replica is not None:
            return STATE.replica.apply(self.applied, pairs)
        return self.applied(pairs, global_step, name)

    def applied(
        self,
        pairs: Sequence[Pair],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> object:
        """Change variables by gradients, which are those of all replicas."""
        if pairs[0][1].graph is not None:
            return self._apply_in_graph(pairs, global_step, name or self._name)
        self._before()
        self._create_slots([variable for _, variable in pairs])
        self._prepare()
        rates = [self.rate(variable) for _, variable in pairs]
        step = self.iterations.assign_add(np.int64(1))
        for (grad, variable), rate in zip(pairs, rates, strict=True):
            count = cast(convert(step), variable.dtype)
            self.apply_one(grad, variable, rate, count)
        self._finish([], self._name)
        if global_step is not None:
            global_step.assign_add(1)
        return self.iterations

    def _before(self) -> None:
        """Make what is needed before a trace looks at it."""

    def _apply_in_graph(
        self, pairs: Sequence[Pair], global_step: Variable | None, name: str
    ) -> Operation | None:
        home = pairs[0][1].graph
        assert home is not None, "the variables are those of a graph"
        graph = changed_in(home)
        with entered(graph), graph.control_dependencies([g for g, _ in pairs]):
            self._create_slots([variable for _, variable in pairs])
            self._prepare()
            powers = self.powers(pairs[0][1])
            with graph.name_scope(name) as scope:
                pass  # the last operation has the scope's name
            before = [p.read_value() for p in powers]
            made = [self._apply_beside(g, v, before) for g, v in pairs]
            with graph.control_dependencies(made):
                made += [p.assign(p.read_value() * p.initial_value) for p in powers]
            made = [self._finish(made, self._name)]
            if global_step is not None:
                with graph.control_dependencies(made):
                    made.append(global_step.assign_add(1))
            train = group(*made, name=scope)
            graph.add_to_collection("train_op", train)
            return train

    def _apply_beside(self, grad: Gradient, variable: Variable, step: Step) -> object:
        """Change one variable of a graph, by operations where it is: the gradient goes there."""
        assert variable.graph is not None, "it is one of a graph"
        with changed_in(variable.graph).beside(variable.op):
            return self.apply_one(grad, variable, self.rate(variable), step)

    def powers(self, first: Variable) -> list[Variable]:
        """Return variables of a graph that are multiplied by what they start with at each step."""
        return []

    def apply_one(self, grad: Gradient, variable: Variable, rate: TfTensor, step: Step) -> object:
        """Change one variable by its gradient, and let it keep to its constraint."""
        if variable.constraint is None:
            return self._change(grad, variable, rate, step)
        if isinstance(grad, IndexedSlices):
            raise RuntimeError("Cannot use a constraint function on a sparse variable.")
        made = self._change(grad, variable, rate, step)
        kept = variable.constraint
        assert callable(kept), "a constraint is a function"
        home = variable.graph
        with nullcontext() if home is None else changed_in(home).control_dependencies([made]):
            return variable.assign(kept(variable.read_value()))

    def _change(self, grad: Gradient, variable: Variable, rate: TfTensor, step: Step) -> object:
        """Change one variable by its gradient, which may be slices with indices."""
        if isinstance(grad, IndexedSlices) and self._is_own("_apply_sparse"):
            return self._apply_sparse(grad, variable)
        self.rows = grad if isinstance(grad, IndexedSlices) else None
        whole = grad.like(variable) if isinstance(grad, IndexedSlices) else grad
        made = self.rule(convert(whole), variable, rate, step)
        self.rows = None
        return made

    rows: IndexedSlices | None = None
    """The gradient that is being applied, if it is slices with indices."""

    def together(self, variable: Variable, value: TfTensor, parts: Sequence[object]) -> object:
        """Give a variable a value, and return what also waits for changes of what is kept."""
        made = variable.assign(value, read_value=False)
        return group(*[x for x in (made, *parts) if x is not None])

    def squared(self, grad: TfTensor) -> TfTensor:
        """Return the squares of a gradient."""
        return square(grad)

    def touched(self, new: TfTensor, old: TfTensor) -> TfTensor:
        """Return new values in the rows that the gradient has, old ones elsewhere."""
        if self.rows is None:
            return new
        hits = ones_like(self.rows.indices, dtype="float32")
        column = expand_dims(self.rows.indices, -1)
        count = scatter_nd(column, hits, [shape(old)[0]])
        mask = reshape(count > 0.0, [-1, *[1] * (len(old.shape) - 1)])
        return where(mask, new, old)

    def get_name(self) -> str:
        """Return the name of the optimiser."""
        return self.name

    def get_slot_names(self) -> list[str]:
        """Return the names of what is kept for variables."""
        return sorted({name for kept in self._kept.values() for name in kept})

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """Return what is kept for a variable under a name, None if there is nothing."""
        return self._kept.get(var.number, {}).get(name)

    def kept_variables(self) -> list[Variable]:
        """Return what is kept for variables."""
        return [*[v for kept in self._kept.values() for v in kept.values()], *self._others.values()]

    def variables(self) -> list[Variable]:
        """Return what the optimiser keeps in the present graph, or outside of graphs, by names."""
        home = STATE.context if isinstance(STATE.context, Graph) else None
        home = None if isinstance(home, FuncGraph) else home
        here = [each for each in self.kept_variables() if each.graph is home]
        return sorted(here, key=lambda each: each.name)

    def rule(self, grad: TfTensor, variable: Variable, rate: TfTensor, step: Step) -> object:
        """Change one variable; a program's own optimiser says so by `_apply_dense`."""
        if self._is_own("_resource_apply_dense"):
            return self._resource_apply_dense(grad, variable)
        return self._apply_dense(grad, variable)

    def _is_own(self, name: str) -> bool:
        """Say whether a program's class defines a method."""
        return any(name in vars(kind) for kind in type(self).__mro__ if kind is not Optimizer)

    def _apply_dense(self, grad: TfTensor, var: Variable) -> object:
        """Return what changes a variable by its gradient."""
        raise NotImplementedError(f"{type(self).__name__} has no _apply_dense")

    def _resource_apply_dense(self, grad: TfTensor, handle: Variable) -> object:
        """Return what changes a variable by its gradient."""
        raise NotImplementedError(f"{type(self).__name__} has no _resource_apply_dense")

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> object:
        """Return what changes rows of a variable by slices of its gradient."""
        raise NotImplementedError(f"{type(self).__name__} has no _apply_sparse")

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        """Make what is kept for variables."""

    def _prepare(self) -> None:
        """Make tensors of what the optimiser was given."""

    def _finish(self, update_ops: list[object], name_scope: str) -> object:
        """Return what is done when all variables are changed."""
        return group(*update_ops)

    def _call_if_callable(self, param: object) -> object:
        """Return a parameter, or what it gives if it is a function."""
        return param() if callable(param) else param

    def _zeros_slot(self, var: Variable, slot_name: str, op_name: str) -> Variable:
        """Return what is kept for a variable under a name; it starts with zeros."""
        return self._get_or_make_slot(var, None, slot_name, op_name)

    def _get_or_make_slot(
        self, var: Variable, val: object, slot_name: str, op_name: str
    ) -> Variable:
        """Return what is kept for a variable under a name; it starts with a value."""
        kept = self._kept.setdefault(var.number, {})
        if slot_name not in kept:
            if var.graph is None:
                with entered(None):
                    zeros = np.zeros(var.shape.known(), var.spec.dtype.numpy)
                    first, label = zeros if val is None else val, f"{var.state.name}/{op_name}"
                    kept[slot_name] = Variable(first, trainable=False, name=label)
            else:
                with slot_of(var, op_name) as label:
                    first = zeros_like(var.initial_value) if val is None else val
                    kept[slot_name] = Variable(first, trainable=False, name=label)
            settle()
        return kept[slot_name]

    def _create_non_slot_variable(
        self, initial_value: object, name: str, colocate_with: Variable
    ) -> Variable:
        """Return a variable that is kept once."""
        graph = colocate_with.graph
        if (name, graph) not in self._others:
            if graph is None:
                with entered(None):
                    made = Variable(initial_value, trainable=False, name=name)
            else:
                with apart(graph, colocate_with):
                    made = Variable(initial_value, trainable=False, name=name)
            self._others[name, graph] = made
        return self._others[name, graph]

    def _get_non_slot_variable(self, name: str, graph: Graph | None = None) -> Variable | None:
        """Return a variable that is kept once, None if there is none of the name in a graph."""
        return self._others.get((name, graph))


@contextmanager
def apart(graph: Graph, variable: Variable) -> Iterator[None]:
    """Let what is kept be made in the graph of a variable beside it, waiting for nothing."""
    with entered(graph), graph.control_dependencies(None), graph.beside(variable.op):
        yield


@contextmanager
def slot_of(variable: Variable, name: str) -> Iterator[str]:
    """Let what is kept for a variable of a graph be made; give its name.

    It is one of the variable scope around, whatever the scope of names is.
    """
    graph, around = variable.graph, get_variable_scope().name
    assert graph is not None, "it is one of a graph"
    with graph.name_scope(None), apart(graph, variable):
        yield (
            f"{around}/{variable.state.name}/{name}" if around else f"{variable.state.name}/{name}"
        )


def _held(variable: Variable) -> Variable:
    """Return what holds the value of a variable, which Keras's have under that name."""
    value = None if isinstance(variable, CoreVariable) else getattr(variable, "value", None)
    return value if isinstance(value, Variable) else variable


def _in_graph() -> bool:
    """Say whether operations go to a graph of a session, or to a branch or loop in one."""
    context = STATE.context
    while isinstance(context, FuncGraph):
        context = context.outer
    return isinstance(context, Graph)


def _same() -> nullcontext[None]:

    return nullcontext()
