"""Operations some of whose options are computed in the run: `reduce_sum(x, axis)` of any axis.

What an option is decides what an operation is compiled to, so that it has to be known while code
is made. Where it is a tensor of the graph, the operation gets a rule that takes it as one more
operand: a step of the host, unless the operand turns out to be a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, product

import numpy as np
from xdsl.ir import SSAValue

from ....ir.compose.maker import Maker
from ....ir.types.tensor import TensorSpec
from ...graph.frame import NotStageableError
from ...graph.graph import GraphTensor
from ...graph.inference import (
    Given,
    UnknownValueError,
    agreed,
    infer_function,
    of_first,
    on_specs,
)
from ...graph.kinds import OTHERS, RULES, Rule

Function = Callable[..., object]
SUFFIX = "WithComputed"
WHICH = "computed"
"""The option that says which options are operands, as `axis` or `axis.1`."""
MADE: dict[str, Rule] = {}
"""The rules of this file by their types."""
TRIED: Mapping[str, Sequence[object]] = {"b": (True, False), "f": (0.5,)}
"""What is tried in an option's place, by the kind of its elements, to learn shapes."""
NUMBERS = (0, 1, 2, 3, 4, 8, -1, -2)
MOST = 64


def _of_type(type_: str) -> Rule | None:
    """Return the rule of a type of operations with computed options."""
    plain = type_.removesuffix(SUFFIX)
    return with_operands(plain) if plain != type_ and plain in RULES else None


OTHERS.append(_of_type)


def with_operands(type_: str) -> Rule:
    """Return the rule of the operations of a type whose last operands are options."""
    named = f"{type_}{SUFFIX}"
    if named in MADE:
        return MADE[named]
    plain = RULES[type_]
    made = replace(
        plain,
        type=named,
        label=plain.label or plain.type,
        function=partial(_told, plain.function),
        shapes=partial(_stated, plain),
    )
    return MADE.setdefault(named, made)


def computed_in(options: Mapping[str, object]) -> dict[str, GraphTensor]:
    """Return the tensors of a graph among options, and in lists of theirs, by their places."""
    found: dict[str, GraphTensor] = {}
    for key, value in options.items():
        if isinstance(value, GraphTensor):
            found[key] = value
        elif isinstance(value, list | tuple):
            pairs = enumerate(value)
            found |= {f"{key}.{i}": each for i, each in pairs if isinstance(each, GraphTensor)}
    return found


def without(options: Mapping[str, object], places: Sequence[str]) -> dict[str, object]:
    """Return options without tensors: nothing is where these were, None in lists."""
    made: dict[str, object] = {}
    for key, value in options.items():
        inside = {place for place in places if place.startswith(f"{key}.")}
        if inside:
            assert isinstance(value, list | tuple), "tensors in a list"
            row = enumerate(value)
            made[key] = [None if f"{key}.{i}" in inside else each for i, each in row]
        elif key not in places:
            made[key] = value
    return made


def _with(options: Mapping[str, object], told: Mapping[str, object]) -> dict[str, object]:
    """Return options with values put in their places."""
    made = dict(options)
    for place, value in told.items():
        key, _, index = place.partition(".")
        if not index:
            made[key] = value
            continue
        row = [*made[key]]  # type: ignore[misc]
        row[int(index)] = value
        made[key] = row
    return made


def _told(
    plain: Function, m: Maker, *operands: object, computed: Sequence[str], **rest: object
) -> object:
    """Carry out a rule whose last operands are options."""
    count = len(operands) - len(computed)
    told = {place: _value(x) for place, x in zip(computed, operands[count:], strict=True)}
    return plain(m, *operands[:count], **_with(rest, told))


def _value(operand: object) -> object:
    """Return an option of an operand; where only the run has it, the host does the step."""
    if isinstance(operand, SSAValue):
        raise NotStageableError(f"what it does depends on the elements of a {operand.type}")
    return np.asarray(operand).tolist()


def _stated(plain: Rule, given: Given) -> Sequence[TensorSpec]:
    """Return what results are like whatever the options are: what tries have in common."""
    rest = dict(given.options)
    places = rest.pop(WHICH)
    count = len(given.specs) - len(places)
    known = {i: value for i, value in given.known.items() if i < count}
    specs = given.specs[:count]
    ranks_open = any(spec.shape is None for spec in specs)
    found, why = [], ""
    for row in islice(_rows(given, count), MOST):
        options = _with(rest, dict(zip(places, row, strict=True)))
        told, function = Given(specs, known, options), partial(plain.function, **options)
        stated = None if plain.shapes is None else partial(plain.shapes, told)
        try:
            if ranks_open:
                found.append(infer_function(function, specs, known, stated))
            else:
                found.append(on_specs(function, specs, known))
        except UnknownValueError:  # it looks at the elements of other operands, too
            return of_first(specs) if stated is None else stated()
        except (TypeError, ValueError, IndexError, ArithmeticError) as error:
            why = why or str(error)
            continue  # one of the numbers that such an operand may not have
    if not found:
        raise TypeError(f"nothing that its computed options may be goes with its operands: {why}")
    return [agreed([made[i] for made in found], ranks_open) for i in range(len(found[0]))]


def _rows(given: Given, count: int) -> Iterator[Sequence[object]]:
    """Give values that options may have, in all combinations."""
    columns = []
    for i, spec in enumerate(given.specs[count:], count):
        tried = [*TRIED.get(spec.dtype.kind, NUMBERS)]
        if i in given.known:
            tried = [given.known[i].tolist()]
        elif spec.shape is None:  # most often a number
            tried += [[each] for each in tried]
        elif spec.rank:
            size = spec.dims[0] if isinstance(spec.dims[0], int) else 1
            tried = [[each] * size for each in tried]
            if size > 1:  # those that have to differ, as the axes of an order
                tried += [[*range(size)], [*range(size)][::-1], [*range(1, size), 0]]
        columns.append(tried)
    return product(*columns)


__all__ = ["WHICH", "computed_in", "with_operands", "without"]
