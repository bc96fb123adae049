"""How a function of a `Maker` and values becomes an operation by its name.

`rule` enters the function under the type of the operation; `perform` carries the operation out:
called eagerly it computes, in a graph it adds one node. `op` makes a public function of a rule.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ....ir.compose.maker import Maker
from ....ir.families import ElementTypeError
from ....ir.op import Array
from ...eager.composed import show_together, taking_parts, under_tapes
from ...eager.kernels import OperandError
from ...eager.remembered import depends_on_state, notes_of, remembered
from ...eager.tensor import Tensor, apply
from ...eager.text_arrays import as_values, emit_text
from ...graph.gradients import node_backward
from ...graph.kinds import (
    COMPLEX_GRADIENTS,
    RULES,
    Composite,
    Rule,
    complex_gradient,
    register_rule,
)
from ...values.context import STATE, record, unrecorded
from ...values.origin import short, user_line
from ...values.run_errors import OpError
from ...values.texts import Text
from .bridge import OPERATORS, EagerTensor, EagerTexts, TfTensor, dressed, eager
from .computed import WHICH, computed_in, with_operands, without
from .host_ops import refused
from .sizes import infer_sizes
from .values import InGraph, InvalidShapesError, InvalidTypesError, convert, graph_of, same

Made = TypeVar("Made")
Function = Callable[..., object]
"""A rule: it is given a `Maker` and values, and returns a value or several."""


SIZES = frozenset({"begin", "dims", "multiples", "shape", "size"})
"""Operands whose numbers are those of elements or places."""
NAME = inspect.Parameter("name", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
"""What each operation takes behind its own arguments."""
PUBLIC: dict[str, Callable[..., object]] = {}
"""By the type of an operation: the function that `op` made of its rule."""


def rule(type_: str, **known: Any) -> Callable[[Function], Function]:
    """Enter a function as the rule of a type; `known` are fields of `Rule`."""

    def decorate(function: Function) -> Function:
        register_rule(Rule(type_, function, **known))
        return function

    return decorate


def perform(
    type_: str, tensors: Sequence[TfTensor], *, name: str | None = None, **options: object
) -> TfTensor:
    """Carry out the operation of a type, which has one result, on tensors."""
    made = performed(type_, tensors, options, name)
    assert isinstance(made, TfTensor), f"{type_} has several results"
    return made


def perform_all(
    type_: str, tensors: Sequence[TfTensor], *, name: str | None = None, **options: object
) -> list[TfTensor]:
    """Carry out the operation of a type, which has several results, on tensors."""
    made = performed(type_, tensors, options, name)
    assert isinstance(made, list), f"{type_} has one result"
    return made


def performed(
    type_: str, tensors: Sequence[TfTensor], options: dict[str, object], name: str | None = None
) -> TfTensor | list[TfTensor]:
    """Carry out the operation of a type on tensors; return its result or a list of them."""
    found = RULES[type_]
    graph = graph_of(tensors)
    if told := computed_in(options):
        tensors = [*tensors, *map(dressed, told.values())]
        options = {**without(options, list(told)), WHICH: list(told)}
        graph, found = graph_of(tensors), with_operands(type_)
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
        wrong = InvalidTypesError if _is_of_types(error) else InvalidShapesError
        raise wrong(str(error), location=short(user_line())) from None
    if STATE.recorders:
        backward, _ = node_backward(op)
        record(type_, tensors, op.outputs, backward)
    single = not found.gives_list and len(op.outputs) == 1
    made = [dressed(x) for x in op.outputs]
    return made[0] if single else made


def _is_of_types(error: BaseException | None) -> bool:
    """Say whether an error is that of an operation that is not for a type of elements."""
    while error is not None and not isinstance(error, ElementTypeError):
        error = error.__cause__ or error.__context__
    return error is not None


def compute(
    rule: Rule, tensors: Sequence[TfTensor], options: dict[str, object]
) -> TfTensor | list[TfTensor]:
    """Carry out an operation on computed tensors."""
    if not STATE.recorders or STATE.part:
        return _compute(rule, tensors, options)
    if rule.type in COMPLEX_GRADIENTS and _is_complex(rule.type, tensors):
        with unrecorded():
            found = _compute(rule, tensors, options)
        results = found if isinstance(found, list) else [found]
        special = complex_gradient(rule.type, tensors, results)
        if special is not None:
            record(rule.type, tensors, results, lambda g: special(tensors, results, options, g))
            return found
    STATE.part = rule.type
    try:
        if rule.differentiable:
            return _as_one_use(rule, tensors, options)
        made = _compute(rule, tensors, options)
    finally:
        STATE.part = ""
    if rule.differentiable is None:
        results = made if isinstance(made, list) else [made]
        record(rule.type, tensors, results, functools.partial(refused, rule.type))
    return made


def _as_one_use(
    rule: Rule, tensors: Sequence[TfTensor], options: dict[str, object]
) -> TfTensor | list[TfTensor]:
    """Carry an operation out that recorders see as one use, as a graph has one node for it."""
    with taking_parts() as parts:
        made = _compute(rule, tensors, options)
    show_together(parts, rule.type, tensors, made if isinstance(made, list) else [made])
    return made


def _is_complex(type_: str, tensors: Sequence[TfTensor]) -> bool:
    """Say whether an operation takes or makes complex numbers."""
    return type_ in ("Complex", "Cast") or any(x._array.dtype.kind == "c" for x in tensors)


def _compute(
    rule: Rule, tensors: Sequence[TfTensor], options: dict[str, object]
) -> TfTensor | list[TfTensor]:
    if (notes := notes_of(tensors)) is None:
        return _computed(rule, tensors, options)
    is_list: list[bool] = []

    def whole(*arrays: Array) -> Sequence[Array]:
        """Carry the rule out on arrays."""
        made = _carried_out(rule, [EagerTensor(x) for x in arrays], options)
        is_list[:] = [isinstance(made, list)]
        results = made if isinstance(made, list) else [made]
        if any(isinstance(x, EagerTexts) for x in results):
            depends_on_state()  # notes hold arrays: a row of bytes would be cut each time
        return [x._array for x in results]

    found = notes.tried(lambda: _computed(rule, tensors, options), whole, tensors)
    if not is_list:
        return found  # type: ignore[return-value]
    made = [dressed(x) for x in found]
    return made if is_list[0] else made[0]


def _computed(
    rule: Rule, tensors: Sequence[TfTensor], options: dict[str, object]
) -> TfTensor | list[TfTensor]:
    with np.errstate(all="ignore"):
        return _carried_out(rule, tensors, options)


def _carried_out(
    rule: Rule, tensors: Sequence[TfTensor], options: dict[str, object]
) -> TfTensor | list[TfTensor]:
    """Carry an operation out; numpy may warn in it."""
    try:
        given = [x.text or x._array for x in tensors]
        if "O" in [x.dtype.kind for x in given]:
            values = as_values(given)
            made = rule.function(Maker(emit_text), *values, **options)
        else:
            made = rule.function(Maker(apply), *tensors, **options)
    except (OpError, InvalidShapesError):
        raise
    except np.linalg.LinAlgError as error:  # numpy's word for it is "singular"
        raise InvalidShapesError(f"Input is not invertible. [Op:{rule.type}]") from error
    except (OperandError, TypeError, ValueError, IndexError, ArithmeticError) as error:
        raise InvalidShapesError(f"{error} [Op:{rule.type}]") from error
    if isinstance(made, tuple | list):
        return [_tensor(x) for x in made]
    return _tensor(made)


def _tensor(value: object) -> TfTensor:
    if isinstance(value, Tensor):
        return dressed(value)
    if value.__class__ is np.ndarray:
        return eager(value)
    return eager(value if isinstance(value, Text) else Tensor(np.asarray(value))._array)


def arguments_of(
    signature: inspect.Signature,
    names: Sequence[str],
    defaults: dict[str, object],
    args: Sequence[object],
    kwargs: dict[str, object],
) -> dict[str, object]:
    """Return the arguments of a call by name, defaults included, or raise `TypeError`.

    `names` are the parameters where all are plain ones: then nothing has to be looked for.
    """
    made = {**defaults, **dict(zip(names, args, strict=False)), **kwargs}
    plain = len(args) <= len(names) == len(made) and all(map(made.__contains__, names))
    if plain and kwargs.keys().isdisjoint(names[: len(args)]):
        return made
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def op(
    type_: str,
    *operands: str,
    strict: bool = True,
    **known: object,
) -> Callable[[Function], Callable[..., TfTensor]]:
    """Make an operation of a function; `operands` names the parameters that are tensors.

    With `strict`, the tensors have one element type. `known` are fields of `Rule`. The operation
    has one result: `op_of_several` makes one that has a list of them.
    """
    return _operation(perform, type_, operands, strict, known)


def op_of_several(
    type_: str,
    *operands: str,
    strict: bool = True,
    **known: object,
) -> Callable[[Function], Callable[..., list[TfTensor]]]:
    """Make an operation that has a list of results, as `op` makes one that has a single result."""
    return _operation(perform_all, type_, operands, strict, known)


def in_whole_numbers(operand: str, value: object) -> object:
    """Return an operand; of a list of sizes, tensors of floats as integers: results of ceil."""
    if operand not in SIZES or not isinstance(value, list | tuple):
        return value
    return [
        OPERATORS["cast"](x, "int32") if isinstance(x, Tensor) and x.spec.dtype.kind == "f" else x
        for x in value
    ]


def as_places(value: object) -> object:
    """Return an operand of places: a list of nothing holds integers, too."""
    is_empty = isinstance(value, list | tuple) and not value
    return np.zeros(0, np.int32) if is_empty else value


OF_TRUTHS = frozenset({"All", "Any", "LogicalAnd", "LogicalOr", "LogicalXor", "LogicalNot"})


def truths(value: object) -> object:
    """Return an operand of truth values: arrays of numbers say where they are not 0."""
    is_of_numbers = isinstance(value, np.ndarray) and value.dtype.kind in "iufc"
    return np.asarray(value, bool) if is_of_numbers else value


def _operation(
    carry_out: Callable[..., Made],
    type_: str,
    operands: Sequence[str],
    strict: bool,
    known: dict[str, Any],
) -> Callable[[Function], Callable[..., Made]]:
    """Return what makes an operation of a function: `carry_out` performs it."""
    of_truths = type_ in OF_TRUTHS

    def decorate(function: Function) -> Callable[..., Made]:
        register_rule(Rule(type_, function, **known))
        signature = inspect.signature(function)
        parameters = list(signature.parameters.values())[1:]
        public = signature.replace(parameters=parameters)
        names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        several = any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)
        names = [] if several else names

        @functools.wraps(function)
        def called(*args: object, name: str | None = None, **kwargs: object) -> Made:
            one_more = names and len(args) == len(names) + 1
            if one_more and name is None and isinstance(args[-1], str | None):
                *args, name = args  # type: ignore[assignment]
            rest = arguments_of(public, names, defaults, args, kwargs)
            values = [in_whole_numbers(each, rest.pop(each)) for each in operands]
            if of_truths:
                values = [*map(truths, values)]
            rest.pop("_", None)
            graph = graph_of(values)
            with InGraph(graph):
                if graph is None or all(isinstance(v, Tensor) for v in values):
                    tensors = same(*values) if strict else [convert(v) for v in values]
                    return carry_out(type_, tensors, name=name, **rest)
                with graph.name_scope(name or known.get("label") or type_) as scope:
                    labels = list(operands)
                    if strict:
                        tensors = same(*values, names=labels)
                    else:
                        tensors = [convert(v, None, n) for v, n in zip(values, labels, strict=True)]
                return carry_out(type_, tensors, name=scope, **rest)

        made = remembered(called, under_tapes(called))
        made.__signature__ = _shown(signature)  # type: ignore[attr-defined]
        PUBLIC[type_] = made
        return made

    return decorate


def _shown(signature: inspect.Signature) -> inspect.Signature:
    """Return the signature of the operation of a function: without its maker, with a name."""
    every = [p for p in list(signature.parameters.values())[1:] if p.name != "_"]
    places = [p for p in every if p.kind is p.POSITIONAL_OR_KEYWORD]
    rest = every[len(places) :]
    is_last = any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in rest)
    name = NAME.replace(kind=NAME.KEYWORD_ONLY if is_last else NAME.POSITIONAL_OR_KEYWORD)
    behind = [p for p in rest if p.kind is p.VAR_KEYWORD]
    between = rest[: len(rest) - len(behind)]
    shown = [*between, name] if is_last else [name, *between]
    return signature.replace(parameters=[*places, *shown, *behind])
