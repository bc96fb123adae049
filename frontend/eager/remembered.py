"""Remember what a function does to tensors of given types, so that it is worked out once.

`remembered(function)` runs like the function. The second time that it is called on tensors of the
same element types and shapes with the same other arguments, it is run on `Watched` tensors, which
have no elements: each operation that it carries out is noted. From then on the notes are carried
out on the arrays at once. A function that looks at the elements is never noted.

A variable among the arguments is read first: its value is what a function looks at.

It is for functions of their arguments alone. What depends on a state besides, as draws do, calls
`depends_on_state` before it touches that: then the function is not noted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from operator import itemgetter
from types import FunctionType
from typing import Any, ClassVar, NoReturn, ParamSpec, Self, TypeVar, cast

import numpy as np

from ...errors import GravureError
from ...ir.op import Array, Op
from ...ir.ops.control.state import Require
from ...ir.types.dtypes import DType
from ...ir.types.numerics import own
from ...runtime.tracing import EARS
from ..values.context import STATE
from ..values.dispatch import NotDenseError, answered
from ..values.dtypes import DataType
from .compiled_notes import (
    OFTEN,
    SOON,
    Noted,
    NotedCall,
    NotedStep,
    compiled,
    in_parts,
    reshaping,
    without_gaps,
)
from .kernels import Kernel, evaluate, prepared, quiet
from .tensor import NOTING, Tensor

Arguments = ParamSpec("Arguments")
Made = TypeVar("Made")

Arrays = Callable[..., Sequence[Array]]
Recorded = Callable[[Sequence[object], dict[str, object]], tuple[object, ...]]
"""Carries a call out as recorders are to see it: gives its result in a tuple, or none at all."""
MOST = 512
"""How many ways to call a function are remembered."""
LONGEST = 64
"""The longest list of arguments that is told apart from others."""
TIMES = (SOON, OFTEN)
"""After so many calls it is asked again whether to compile their steps."""
LARGEST = 1 << 16
"""How many bytes a constant may have that is remembered."""

WHILE_RECORDED: list[Callable[[Callable[..., object]], Recorded]] = []
"""What makes, of a function, the one that carries it out as one use while recorders look on."""


class ElementsError(Exception):
    """A function looked at the elements of what it was given."""


class StateError(ElementsError):
    """A function looked at a state."""


def depends_on_state() -> None:
    """Say that what follows differs from call to call: it is not noted what the caller does."""
    if NOTING.get() is not None:
        raise StateError


class HiddenElements:
    """Stands for the elements of a tensor while only their type and shape may be seen."""

    def __init__(self, notes: Notes, array: Array, *, is_made: bool = False) -> None:
        self.notes, self.arrays, self.place = notes, notes.arrays, len(notes.arrays)
        self.dtype, self.shape = array.dtype, array.shape
        self.ndim, self.size, self.is_made = array.ndim, array.size, is_made
        notes.arrays.append(array)

    def __del__(self) -> None:
        """Give the memory of many elements back: what is noted needs their type and shape."""
        if self.is_made and self.arrays[self.place].nbytes > LARGEST:
            self.arrays[self.place] = _like(self.arrays[self.place])

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        self.notes.failed = True
        raise ElementsError

    __array__ = __bool__ = __int__ = __float__ = __complex__ = __index__ = _refuse
    __len__ = __iter__ = __getitem__ = __setitem__ = _refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __hash__ = None  # type: ignore[assignment]


class Hidden:
    """An attribute of arrays that says more than their type and shape."""

    def __get__(self, elements: HiddenElements | None, owner: type) -> Self:
        if elements is not None:
            elements._refuse()
        return self


for _name in {*dir(np.ndarray)} - {*dir(HiddenElements), "dtype", "shape", "ndim", "size"}:
    if not _name.startswith("__"):
        setattr(HiddenElements, _name, Hidden())
    elif not _name.startswith("__array") and callable(getattr(np.ndarray, _name)):
        setattr(HiddenElements, _name, HiddenElements._refuse)


class OpenElements(HiddenElements):
    """Those of a tensor that has another shape from call to call: that cannot be seen either."""

    shape = ndim = size = property(HiddenElements._refuse, lambda _, __: None)


class Watched(Tensor):
    """A tensor whose elements cannot be seen."""

    __slots__ = ()
    direct: ClassVar[bool] = False
    watched: ClassVar[bool] = True

    def __init__(self, elements: HiddenElements) -> None:
        self._array: Any = elements

    @property
    def notes(self) -> Notes:
        """Return the notes that are taken of what is done to it."""
        found: Notes = self._array.notes
        return found

    def note(
        self, op: type[Op], values: Sequence[Tensor], attributes: dict[str, object]
    ) -> Tensor | tuple[Tensor, ...]:
        """Carry an operation out on watched tensors and others; note it, and return its result."""
        notes: Notes = self._array.notes
        return notes.add(op, values, attributes)


STANDS: dict[type, type] = {Tensor: Watched}
"""By the class of a tensor: that of the watched one that stands for it."""
BEHIND: dict[type, type] = {Watched: Tensor}
"""The other way round."""
READERS: dict[type, Callable[[Any], Tensor | None]] = {}
"""By the class of an argument that has a value: what reads it; None: it has to be seen itself."""
NAMED: set[type] = {DataType}
"""The classes of other arguments that are told apart by their names."""
APART: dict[type, Callable[..., tuple[object, ...]]] = {slice: lambda x: (x.start, x.stop, x.step)}
"""By the class of other arguments: what they are told apart by."""
PLAIN = {bool, int, str, type(None), type(Ellipsis), DType, np.dtype, type}
"""The classes of other arguments that are told apart by equality."""


def stands_for(real: type) -> Callable[[type], type]:
    """Let watched tensors of a class stand for those of another one (a class decorator)."""

    def decorate(watched: type) -> type:
        STANDS[real], BEHIND[watched] = watched, real
        return watched

    return decorate


class Notes:
    """What a function did: operations on numbered arrays, and what it returned."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self.given: list[object] = []
        self.read: list[object] = []
        """Those of the given ones that stand for what was read."""
        self.steps: list[NotedStep] = []
        self.calls: list[NotedCall] = []
        self.only_calls = True
        """Whether all steps are calls of operations."""
        self.returned: set[int] = set()
        """The numbers of the arrays that are returned."""
        self.failed = False

    def watch(self, value: Any) -> object:
        """Return an argument with watched tensors in place of its tensors."""
        kind = value.__class__
        if kind in STANDS:
            self.given.append(STANDS[kind](HiddenElements(self, value._array)))
            return self.given[-1]
        if kind in READERS:
            self.read.append(self.watch(READERS[kind](value)))
            return self.read[-1]
        if kind is slice:
            return slice(*map(self.watch, (value.start, value.stop, value.step)))
        return kind(map(self.watch, value)) if kind in (list, tuple) else value

    def add(
        self, op: type[Op], operands: Sequence[Tensor], attributes: dict[str, object]
    ) -> Tensor | tuple[Tensor, ...]:
        """Carry an operation out, and note it."""
        places = [self.place_of(x) for x in operands]
        if any(isinstance(x._array, OpenElements) for x in operands):
            made = self.step(lambda *xs: evaluate(op, xs, attributes), operands)
            return made[0] if len(made) == 1 else tuple(made)
        given = [self.arrays[place] for place in places]
        return self.added(op, places, attributes, evaluate(op, given, attributes))

    def step(
        self,
        function: Callable[..., Sequence[object]],
        operands: Sequence[Tensor],
        *,
        is_open: bool = True,
    ) -> list[Tensor]:
        """Note a function of arrays; its results have the same shapes each time, or are open."""
        places = [self.place_of(x) for x in operands]
        made = [Tensor(x)._array for x in function(*[self.arrays[place] for place in places])]
        kind = OpenElements if is_open else HiddenElements
        found: list[Tensor] = [Watched(kind(self, x, is_made=True)) for x in made]
        alone = (lambda *xs: function(*xs)[0]) if len(made) == 1 else function
        self.steps.append(NotedStep(alone, places, [self.place_of(x) for x in found]))
        self.only_calls = False
        return found

    def tried(
        self, run: Callable[[], Made], whole: Arrays, operands: Sequence[Tensor]
    ) -> Made | list[Tensor]:
        """Note what a function does, or if it looks at elements, the function as one step."""
        marks = len(self.arrays), len(self.steps), len(self.calls), self.failed
        try:
            return run()
        except StateError:
            raise
        except ElementsError:
            arrays, steps, calls, self.failed = marks
            self.arrays = self.arrays[:arrays]  # another list: those that go look at theirs
            del self.steps[steps:], self.calls[calls:]
            return self.step(whole, operands)

    def begun(
        self, op: type[Op], operands: Sequence[Tensor], attributes: dict[str, object],
        results: Sequence[Array],
    ) -> Tensor | tuple[Tensor, ...]:  # fmt: skip
        """Return the results of an operation on constants; large ones are made each time."""
        sizes = map(_stored, results) if operands else [x.nbytes for x in results]
        is_large = sum(sizes) > LARGEST and all(_stored(x._array) <= LARGEST for x in operands)
        if is_large and not isinstance(attributes.get("value"), np.ndarray):
            return self.added(op, [*map(self.place_of, operands)], attributes, results)
        return Tensor(results[0]) if len(results) == 1 else tuple(map(Tensor, results))

    def added(
        self,
        op: type[Op],
        places: Sequence[int],
        attributes: dict[str, object],
        results: Sequence[Array],
    ) -> Tensor | tuple[Tensor, ...]:
        """Note an operation on numbered arrays, and return its results to be watched."""
        given = [self.arrays[place] for place in places]
        made = [Tensor(x)._array for x in results]
        self.failed |= not op.PURE and op is not Require
        found = [Watched(HiddenElements(self, x, is_made=True)) for x in made]
        function = prepared(op, given, attributes, count=len(made))
        numbers = [x._array.place for x in found]
        copies = op.IS_VIEW and not np.may_share_memory(made[0], given[0])
        call = NotedCall(op, tuple(places), tuple(numbers), tuple(attributes.items()), copies)
        self.steps.append(NotedStep(function, places, numbers, call))
        self.calls.append(call)
        return found[0] if len(found) == 1 else tuple(found)

    def place_of(self, tensor: Tensor) -> int:
        """Return the number of a tensor's array, which is a constant if it is not watched."""
        elements: Any = tensor._array if tensor.watched else self.constant(tensor._array)
        place: int = elements.place
        return place

    def constant(self, array: Array) -> HiddenElements:
        """Take note of an array that was made inside; of a large one, nothing is remembered."""
        self.failed |= _stored(array) > LARGEST
        return HiddenElements(self, array)

    def form(self, made: Any) -> Form:
        """Return a function of all arrays and of the given tensors that makes the result."""
        kind = made.__class__
        for i, x in enumerate(self.given):
            if x is made:
                self.failed |= any(x is each for each in self.read)  # what is returned is itself
                return lambda _, given: given[i]
        if kind in BEHIND:
            form = FormOfTensor(BEHIND[kind], made._array.place)
            self.returned.add(form.place)
            return form
        if kind in STANDS:
            array = self.arrays[self.constant(made._array).place]
            return lambda _, __: kind(own(array))
        if kind in (list, tuple) or hasattr(made, "_fields"):
            parts = [self.form(x) for x in made]
            make = kind._make if hasattr(made, "_fields") else kind
            return lambda arrays, given: make([part(arrays, given) for part in parts])
        self.failed |= kind not in PLAIN and kind not in NAMED
        return lambda _, __: made


@dataclass(frozen=True)
class FormOfTensor:
    """Makes a tensor of a class of the array of a number."""

    real: type
    place: int

    def __call__(self, arrays: Sequence[object], _: Sequence[object]) -> object:
        """Return the tensor."""
        return self.real(arrays[self.place])


def notes_of(tensors: Sequence[Tensor]) -> Notes | None:
    """Return the notes that are taken of what is done to tensors, if any are."""
    return next((x.notes for x in tensors if isinstance(x, Watched)), None)


Form = Callable[[Sequence[object], Sequence[object]], object]
Plan = Callable[[Sequence[object]], Any]
"""What makes a result of the given tensors."""


def planned(
    function: Callable[..., object],
    args: Sequence[object],
    kwargs: dict[str, object],
    given: Sequence[object],
) -> tuple[Plan | None, Sequence[object]]:
    """Return a function of the tensors among the arguments that does the same; None: there is none.

    It may raise where the function raises, and then need not say why. With it comes what the
    function has just returned to whom took notes, if that may be handed out: it is not done twice.
    `given` are the tensors among the arguments.
    """
    notes = Notes()
    watched = [notes.watch(x) for x in args], {n: notes.watch(x) for n, x in kwargs.items()}
    before = NOTING.set(notes.begun)
    try:
        made = quiet(function)(*watched[0], **watched[1])
        form = notes.form(made)
    except ElementsError:
        return None, ()
    finally:
        NOTING.reset(before)
    if notes.failed:
        return None, ()
    is_new = notes.returned <= {place for step in notes.steps for place in step.results}
    result = (form(notes.arrays, given),) if is_new else ()
    return _plan_of(notes, made, form), result


def _plan_of(notes: Notes, made: object, form: Form) -> Plan:
    """Return what does again what was noted: compiled code where that is one operation, or some."""
    kind = made.__class__
    is_new = all(made is not x for x in notes.given)
    if kind in BEHIND and isinstance(made, Tensor) and is_new and notes.only_calls:
        given, results = tuple(range(len(notes.given))), (notes.place_of(made),)
        noted = Noted(tuple(notes.calls), notes.arrays, given, results)
        if (kernel := compiled(noted)) is not None:
            return cast("Plan", partial(_run, without_gaps(kernel), BEHIND[kind]))
        if noted.is_worth_it(SOON):
            return _plan_soon(notes, form, noted, BEHIND[kind])
    return _plan(notes, form)


def _plan_soon(notes: Notes, form: Form, noted: Noted, real: type) -> Plan:
    """Return what carries the notes out, step by step until one kernel of all of them pays."""
    constants = noted.constants()
    arrays = [x if i in constants else _like(x) for i, x in enumerate(noted.arrays)]
    plan, times = _plan(notes, form), 0
    alike = replace(noted, arrays=arrays)

    def run(given: Sequence[Any]) -> object:
        nonlocal plan, times
        times += 1
        if times == SOON and (kernel := compiled(alike, times)) is not None:
            plan = cast("Plan", partial(_run, without_gaps(kernel), real))
        return plan(given)

    return run


def _plan(notes: Notes, form: Form) -> Plan:
    """Return what carries the notes out."""
    count = len(notes.given)
    later, returned = _without_repeats(notes, _after_known(notes)), notes.returned
    made = {place for step in later for place in step.results}
    start = [None if i < count or i in made else x for i, x in enumerate(notes.arrays)]
    steps = [_place_of_step(step) for step in in_parts(later, notes.arrays, count, returned)]
    alike = [_like(x) if i < count or i in made else x for i, x in enumerate(notes.arrays)]
    times = 0
    if (alone := _alone(notes, later, form)) is not None:
        return alone

    def run(given: Sequence[Any]) -> object:
        nonlocal steps, times
        times += 1
        if times in TIMES:
            again = in_parts(later, alike, count, returned, times)
            steps = [_place_of_step(step) for step in again]
        arrays = start.copy()
        arrays[:count] = [x._array for x in given]
        for function, operands, place in steps:
            found = function(*operands(arrays))
            if isinstance(place, int):
                arrays[place] = found if found.__class__ is np.ndarray else np.asarray(found)
            else:
                for i, x in zip(place, found, strict=True):
                    arrays[i] = x if x.__class__ is np.ndarray else np.asarray(x)
        return form(arrays, given)

    return quiet(run) if steps else run


def _alone(notes: Notes, steps: Sequence[NotedStep], form: Form) -> Plan | None:
    """Return what carries a single step on what is given out, whose one result is returned."""
    count = len(notes.given)
    if len(steps) != 1 or not isinstance(form, FormOfTensor):
        return None
    [step] = steps
    if [*step.results] != [form.place] or not all(place < count for place in step.operands):
        return None
    function, real, operands = step.function, form.real, step.operands

    def run(given: Sequence[Tensor]) -> object:
        return real(function(*[given[i]._array for i in operands]))

    return cast("Plan", quiet(run))


def _stored(x: Array) -> int:
    """Return how many bytes the elements of an array take that are not one and the same."""
    own = [size for size, step in zip(x.shape, x.strides, strict=True) if step]
    return math.prod(own) * x.itemsize if x.size else 0


def _like(x: Array) -> Array:
    """Return an array of the same type and shape that takes no memory."""
    return np.broadcast_to(np.zeros((), x.dtype), x.shape)


def _after_known(notes: Notes) -> list[NotedStep]:
    """Return the steps without those that give the same each time: small results of constants.

    What is returned is made each time, since its owner may change it.
    """
    made = set(range(len(notes.given))) | {place for step in notes.steps for place in step.results}
    later = []
    for step in notes.steps:
        is_known = step.operands and made.isdisjoint(step.operands)
        small = sum(notes.arrays[place].nbytes for place in step.results) <= LARGEST
        if is_known and small and notes.returned.isdisjoint(step.results):
            made.difference_update(step.results)
        else:
            later.append(step)
    return _used(notes, later)


def _used(notes: Notes, steps: Sequence[NotedStep]) -> list[NotedStep]:
    """Return the steps without operations whose results nobody has: gradients that none wants."""
    used, found = set(notes.returned), list[NotedStep]()
    for step in reversed(steps):
        op = step.call.op if step.call is not None else None
        may_go = op is not None and op.PURE and not op.has("refuse") and op is not Require
        if not may_go or not used.isdisjoint(step.results):
            used.update(step.operands)
            found.append(step)
    return found[::-1]


def _without_repeats(notes: Notes, steps: Sequence[NotedStep]) -> list[NotedStep]:
    """Return the steps without what was done before to the same arrays.

    What is returned is made each time, since its owner may change it.
    """
    kept: list[NotedStep] = []
    seen: dict[object, int] = {}
    same: dict[int, int] = {}
    for step in steps:
        operands = tuple([same.get(place, place) for place in step.operands])
        call = step.call and replace(step.call, operands=operands)
        if call is not None and len(call.results) == 1 and (key := call.what()) is not None:
            [place] = call.results
            before = seen.setdefault(key, place)
            if before != place and place not in notes.returned:
                shape = notes.arrays[place].shape
                if notes.arrays[before].shape == shape:
                    same[place] = before
                else:
                    kept.append(reshaping(before, place, shape))
                continue
        kept.append(replace(step, operands=operands, call=call))
    return kept


def _place_of_step(step: NotedStep) -> tuple[Kernel, Kernel, int | Sequence[int]]:
    """Return a step's function, what takes its operands out of all, and where its results go."""
    place = step.results[0] if len(step.results) == 1 else step.results
    if len(step.operands) > 1:
        return step.function, itemgetter(*step.operands), place
    return step.function, itemgetter(slice(*_from_to(step.operands))), place


def _from_to(places: Sequence[int]) -> tuple[int, int]:
    """Return the ends of a part with the only place, or none."""
    return (places[0], places[0] + 1) if places else (0, 0)


def _run(kernel: Callable[..., Array], real: type, given: Sequence[Tensor]) -> object:
    """Return the one tensor that compiled code makes of those given."""
    return real(kernel(*[x._array for x in given]))


def remembered(
    function: Callable[Arguments, Made],
    recorded: Recorded | None = None,
    *,
    is_known: bool = False,
) -> Callable[Arguments, Made]:
    """Return the function, which remembers what it does.

    While somebody records, `recorded` carries it out if it can, and is asked first. Of a function
    that `is_known` to be called often it is noted the first time what it does, else the second.
    """
    first = seen if is_known else unseen
    plans: dict[object, Plan | None] = {}
    unplanned = _without_plan(function, recorded)
    name = getattr(function, "__qualname__", "a function")

    @wraps(function)
    def called(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Made:
        key: list[object] = []
        given: list[object] = []
        plain = not (STATE.busy or EARS.count) and read_key(args, key, given)
        if not plain or (kwargs and not _named(kwargs, key, given)):
            return unplanned(called, args, kwargs)
        known = tuple(key)
        plan: Plan | None = plans.get(known, first)
        if plan is None:
            return function(*args, **kwargs)
        if plan is unseen:
            if len(plans) >= MOST:
                plans.clear()
            plans[known] = seen
            return function(*args, **kwargs)
        if plan is seen:
            try:
                plans[known], result = planned(function, args, kwargs, given)
            except GravureError:
                function(*args, **kwargs)  # which says what is wrong, and of which element
                raise
            return cast("Made", result[0]) if result else function(*args, **kwargs)
        try:
            found: Made = plan(given)
        except Exception as error:
            function(*args, **kwargs)  # which says what is wrong
            raise AssertionError(f"what is remembered of {name} does not fit") from error
        return found

    return called


def _without_plan(
    function: Callable[..., Made], recorded: Recorded | None
) -> Callable[[Callable[..., Made], Sequence[object], dict[str, object]], Made]:
    """Return what carries a function out where nothing is remembered of the arguments."""

    def unplanned(
        called: Callable[..., Made], args: Sequence[object], kwargs: dict[str, object]
    ) -> Made:
        """Carry it out; `called` is asked for what it does to parts of what is not dense."""
        nonlocal recorded
        if STATE.recorders:
            if recorded is None and WHILE_RECORDED:
                recorded = WHILE_RECORDED[0](function)
            if recorded is not None and (made := recorded(args, kwargs)):
                return cast("Made", made[0])
        try:
            return function(*args, **kwargs)
        except NotDenseError as error:
            return cast("Made", answered(error, called, args, kwargs))

    return unplanned


def unseen(given: Sequence[object]) -> NoReturn:
    """Stand for what is to be done with arguments that were not seen yet."""
    raise AssertionError("nothing is known of the arguments")


def seen(given: Sequence[object]) -> NoReturn:
    """Stand for what is to be done with arguments that were seen once."""
    raise AssertionError("nothing is known of the arguments but that they were seen")


def _named(values: dict[str, object], key: list[object], given: list[object]) -> bool:
    key.extend(values)
    return read_key(values.values(), key, given)


def read_key(values: Iterable[Any], key: list[object], given: list[object]) -> bool:
    """Append to a key what tells arguments apart, and to `given` their tensors; False: cannot."""
    for x in values:
        kind = x.__class__
        key.append(kind)
        if kind in STANDS:
            array = x._array
            key += (array.dtype, array.shape)
            given.append(x)
        elif kind in NAMED:
            key.append(x.name)
        elif kind in PLAIN:
            key.append(x)
        elif kind is float:
            key.append(x if x and x == x else x.hex())  # noqa: PLR0124  (NaN, and the sign of 0)
        elif kind is tuple or kind is list:
            key.append(len(x))
            if len(x) > LONGEST or not read_key(x, key, given):
                return False
        elif (parts := _behind(x, kind)) is None or not read_key(parts, key, given):
            return False
    return True


def _behind(x: object, kind: type) -> tuple[object, ...] | None:
    """Return what tells a slice apart from others, or a variable; None of anything else."""
    if kind in APART:
        return APART[kind](x)
    value = READERS[kind](x) if kind in READERS else None
    return None if value is None else (value,)


def remember_all(names: dict[str, Any]) -> None:
    """Let the public functions of a module remember what they do: those that it defines itself."""
    for name, value in list(names.items()):
        own = isinstance(value, FunctionType) and value.__module__ == names["__name__"]
        if own and value.__code__.co_name == name and not name.startswith("_"):
            names[name] = remembered(value)
