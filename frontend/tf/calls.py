"""How a function of a `Maker` and values becomes an operation by its name.

`rule` enters the function under the type of the operation; `perform` carries the operation out:
called eagerly it computes, in a graph it adds one node. `op` makes a public function of a rule.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...ir.compositions import Maker
from ..context import STATE, record
from ..eager import OperandError
from ..gradients import node_backward
from ..kinds import RULES, Composite, Rule, register_rule
from ..run_errors import OpError
from ..tensor import Tensor, apply
from ..text_arrays import as_values, emit_text
from .core import EagerTensor, dressed
from .sizes import infer_sizes
from .values import InGraph, InvalidShapesError, convert, graph_of, same

Function = Callable[..., Any]


def rule(type_: str, **known: Any) -> Callable[[Function], Function]:
    """Enter a function as the rule of a type; `known` are fields of `Rule`."""

    def decorate(function: Function) -> Function:
        register_rule(Rule(type_, function, **known))
        return function

    return decorate


def perform(type_: str, tensors: Sequence[Any], *, name: str | None = None, **options: Any) -> Any:
    """Carry out the operation of a type on tensors."""
    found = RULES[type_]
    graph = graph_of(tensors)
    if graph is None:
        return compute(found, tensors, options)
    inputs = [graph.owned(x) for x in tensors]
    kind = Composite(found, options)
    known = {i: x.op.attributes["value"] for i, x in enumerate(inputs) if x.op.type == "Const"}
    attributes = {"known": known}
    specs = infer_sizes(kind, inputs, known)
    try:
        op = graph.add(kind, inputs, attributes, specs=specs, name=name)
    except TypeError as error:
        raise InvalidShapesError(str(error)) from None
    if STATE.recorders:
        backward, _ = node_backward(op)
        record(type_, tensors, op.outputs, backward)
    single = not found.gives_list and len(op.outputs) == 1
    return op.outputs[0] if single else list(op.outputs)


def compute(rule: Rule, tensors: Sequence[Any], options: dict[str, Any]) -> Any:
    """Carry out an operation on computed tensors."""
    try:
        with np.errstate(all="ignore"):
            texts = any(x._array.dtype.kind == "O" for x in tensors)
            if texts:
                values = as_values([x._array for x in tensors])
                made = rule.function(Maker(emit_text), *values, **options)
            else:
                made = rule.function(Maker(apply), *tensors, **options)
    except (OpError, InvalidShapesError):
        raise
    except (OperandError, TypeError, ValueError, IndexError, ArithmeticError) as error:
        raise InvalidShapesError(f"{error} [Op:{rule.type}]") from error
    if isinstance(made, tuple | list):
        return [dressed(_tensor(x)) for x in made]
    return dressed(_tensor(made))


def direct(kernels: Mapping[Any, Callable[..., Any]], values: Sequence[Any]) -> EagerTensor | None:
    """Return what numpy's function gives for plain tensors of one type, None if they are not."""
    first = values[0]
    if first.__class__ is not EagerTensor or not first.direct:
        return None
    dtype = first._array.dtype
    kernel = kernels.get(dtype)
    if kernel is None:
        return None
    if len(values) == 2:
        other = values[1]
        if other.__class__ is not EagerTensor or not other.direct or other._array.dtype != dtype:
            return None
    try:
        return EagerTensor(np.asarray(kernel(*[x._array for x in values])))
    except ValueError:
        return None  # the shapes do not broadcast: elsewhere it is said with their names


def plain(values: Sequence[Any], *, strict: bool) -> bool:
    """Say whether values are computed tensors, of one type with `strict`."""
    if any(x.__class__ is not EagerTensor for x in values):
        return False
    return not strict or len({x._array.dtype for x in values}) == 1


def _tensor(value: Any) -> Any:
    return value if isinstance(value, Tensor) else Tensor(np.asarray(value))


class Binder:
    """Gives arguments their parameters: by position at once, else as Python does it."""

    def __init__(self, signature: inspect.Signature, operands: Sequence[str]) -> None:
        self.signature, self.operands = signature, operands
        self.rest = {
            n: p.default for n, p in signature.parameters.items() if n not in operands and n != "_"
        }
        first = tuple(signature.parameters)[: len(operands)]
        required = any(value is inspect.Parameter.empty for value in self.rest.values())
        self.is_simple = first == tuple(operands) and not required and "_" not in first

    def bind(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Sequence[Any], dict[str, Any]]:
        """Return the values of the operands, and the other arguments by name."""
        if self.is_simple and len(args) == len(self.operands) and kwargs.keys() <= self.rest.keys():
            return args, {**self.rest, **kwargs}
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = [bound.arguments.pop(each) for each in self.operands]
        rest = dict(bound.arguments)
        rest.pop("_", None)
        return values, rest


def op(
    type_: str,
    *operands: str,
    strict: bool = True,
    kernels: Mapping[Any, Callable[..., Any]] | None = None,
    **known: Any,
) -> Callable[[Function], Function]:
    """Make an operation of a function; `operands` names the parameters that are tensors.

    With `strict`, the tensors have one element type. `kernels` are numpy's functions that are all
    there is to do, by the type of the tensors. `known` are fields of `Rule`.
    """

    def decorate(function: Function) -> Function:
        found = register_rule(Rule(type_, function, **known))
        signature = inspect.signature(function)
        parameters = list(signature.parameters.values())[1:]
        public = signature.replace(parameters=parameters)
        binder = Binder(public, operands)

        @functools.wraps(function)
        def called(*args: Any, name: str | None = None, **kwargs: Any) -> Any:
            busy = STATE.busy
            if kernels and not busy and not kwargs and len(args) == len(operands):
                made = direct(kernels, args)
                if made is not None:
                    return made
            values, rest = binder.bind(args, kwargs)
            if not busy and plain(values, strict=strict):
                return compute(found, values, rest)
            graph = graph_of(values)
            with InGraph(graph):
                if graph is None or all(isinstance(v, Tensor) for v in values):
                    tensors = same(*values) if strict else [convert(v) for v in values]
                    return perform(type_, tensors, name=name, **rest)
                with graph.name_scope(name or known.get("label") or type_) as scope:
                    labels = list(operands)
                    if strict:
                        tensors = same(*values, names=labels)
                    else:
                        tensors = [convert(v, None, n) for v, n in zip(values, labels, strict=True)]
                return perform(type_, tensors, name=scope, **rest)

        called.__signature__ = public  # type: ignore[attr-defined]
        return called

    return decorate
