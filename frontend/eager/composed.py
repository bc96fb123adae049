"""Show recorders what is several operations as one use, as a graph has one node for them.

    l2_loss(x)      x * x, their sum, half of it      three uses: each is walked back through anew
                    one use, whose `Way` goes back    noted once: in one kernel where that pays

`taking_parts` lets a function run, and `show_together` shows what it did as one use; `under_tapes`
carries out again what such a function was noted to do. The way back computes once more what lies
between operands and results, unless it is still there: what nobody needs is left out where it is
noted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias, cast

from ...errors import GravureError
from ...ir.families import Elementwise
from ...ir.ops.control.state import Require
from ...ir.ops.gradient import Identity
from ...ir.ops.reduce import Reduction
from ...runtime.tracing import EARS
from ..values.context import STATE, Recorder, Use, show
from .backward import backward, is_smooth, key_of
from .remembered import MOST, WHILE_RECORDED, Plan, Recorded, planned, read_key, remembered
from .tensor import Tensor, apply, single

Made: TypeAlias = "tuple[Tensor | Sequence[Tensor], Sequence[Tensor]]"
"""What a plan gives: what the function returns, and what the way back is given besides."""


class TakenUses:
    """Takes the uses of a function before the recorders outside see them."""

    def __init__(self, outside: Sequence[Recorder]) -> None:
        self.uses: list[Use] = []
        self._outside = outside

    def record(self, use: Use) -> None:
        """See one use."""
        self.uses.append(use)

    def accessed(self, variable: object) -> None:
        """See that a variable is about to be read."""
        for recorder in self._outside:
            recorder.accessed(variable)

    def knows(self, value: object) -> bool:
        """Say whether gradients may be asked for that go through a value."""
        made = {key_of(x) for use in self.uses for x in use.results}
        return key_of(value) in made or any(each.knows(value) for each in self._outside)


@contextmanager
def taking_parts() -> Iterator[TakenUses]:
    """Take the uses of what happens inside; the recorders outside see nothing of it."""
    before = STATE.recorders
    parts = TakenUses(before)
    STATE.set(STATE.context, (parts,))
    try:
        yield parts
    finally:
        STATE.set(STATE.context, before)


def show_together(
    parts: TakenUses, name: str, operands: Sequence[Tensor], results: Sequence[Tensor]
) -> None:
    """Show the uses that were taken as one, if they are operations between operands and results."""
    uses, keys = parts.uses, [*map(key_of, results)]
    if len(uses) == 1 and [*map(key_of, uses[0].results)] == keys:
        show(replace(uses[0], results=tuple(results)))  # the tensors that the user has
    elif len(uses) > 1 and (composed := Composed.of(uses, operands, results)) is not None:
        show(Use(tuple(operands), tuple(results), name=name, way=composed))
    else:
        for use in uses:
            show(use)


@dataclass(frozen=True, slots=True)
class NumberedUse:
    """One use of numbered values."""

    use: Use
    """What was done, without the tensors."""
    operands: Sequence[int]
    results: Sequence[int]

    def again(self, operands: Sequence[Tensor]) -> Sequence[Tensor]:
        """Carry it out once more."""
        if isinstance(self.use.way, Composed):
            return self.use.way.forward(operands)
        assert self.use.op is not None, "a part is an operation, or composed"
        made: Tensor | tuple[Tensor, ...]
        made = apply(self.use.op, *operands, **(self.use.attributes or {}))
        return made if isinstance(made, tuple) else (made,)


class Composed:
    """What several uses do with numbered values, of which the first are operands: a way back.

    What they give to one operand is added up, as of one node; or it stays `apart`, in the order in
    which the uses are gone back through, if each of them is a node of a graph.
    """

    def __init__(self, operands: Sequence[Tensor], *, apart: bool = False) -> None:
        self.numbers: dict[object, int] = {}
        for i, x in enumerate(operands):
            self.numbers.setdefault(key_of(x), i)
        self.given, self.count, self.apart = len(operands), len(operands), apart
        self.parts: list[NumberedUse] = []
        self.results: list[int] = []
        self.constants: dict[int, Tensor] = {}
        self.between: dict[int, Tensor] = {}
        """What was made on the way, as long as it is there."""
        self.noted = remembered(self._back, is_known=True)

    @classmethod
    def of(
        cls,
        uses: Sequence[Use],
        operands: Sequence[Tensor],
        results: Sequence[Tensor],
        *,
        apart: bool = False,
    ) -> Composed | None:
        """Return what uses do with operands; None: each is to be seen alone."""
        if not all(map(_is_plain, uses)):
            return None
        made = cls(operands, apart=apart)
        for use in uses:
            made.add(use)
        made.results = [made.numbers.get(key_of(x), -1) for x in results]
        ends = {place for part in made.parts for place in part.results}
        watched = any(x.watched for x in made.constants.values())
        by_rows = any(
            _takes_rows(part.use) and part.operands[0] < made.given for part in made.parts
        )
        fits = ends.issuperset(made.results) and len({*made.results}) == len(made.results)
        return made if fits and not watched and not by_rows else None

    def add(self, use: Use) -> None:
        """Take in what one use does."""
        places = []
        for x in use.operands:
            place = self.numbers.get(key_of(x))
            if place is None:
                place = self._next()
                self.numbers[key_of(x)], self.constants[place] = place, x
            places.append(place)
        if use.op is Require:  # what was required was so
            self.numbers[key_of(use.results[0])] = places[0]
            return
        results, is_constant = [], self.constants.keys() >= {*places}
        for x in use.results:
            self.numbers[key_of(x)] = place = self._next()
            results.append(place)
            if not x.watched:
                (self.constants if is_constant else self.between)[place] = x
        if not is_constant:
            self.parts.append(NumberedUse(_without_tensors(use), places, results))

    def _next(self) -> int:
        self.count += 1
        return self.count - 1

    def slots(self) -> list[int]:
        """Return which operand each gradient is of."""
        if not self.apart:
            return [*range(self.given)]
        return [place for part in self.parts[::-1] for place in part.operands if place < self.given]

    def __call__(
        self,
        operands: Sequence[Tensor],
        results: Sequence[Tensor],
        grads: Sequence[object],
        wanted: Sequence[bool],
    ) -> Sequence[object]:
        """Return the gradients that are wanted, one for each of `slots`."""
        back = self._back if self.between else self.noted
        return back([*operands], [*results], [*grads], tuple(wanted))

    def forward(self, operands: Sequence[Tensor]) -> Sequence[Tensor]:
        """Return the results of all uses once more."""
        values = {**self.constants, **dict(zip(self.slots(), operands, strict=True))}
        for part in self.parts:
            made = part.again([values[place] for place in part.operands])
            values.update(zip(part.results, made, strict=True))
        return [values[place] for place in self.results]

    def _back(
        self,
        operands: Sequence[Tensor],
        results: Sequence[Tensor],
        grads: Sequence[object],
        wanted: Sequence[bool],
    ) -> Sequence[object]:
        known = dict(zip(self.results, results, strict=True))
        if not STATE.recorders:  # who records is to see how what is between was made
            known |= self.between
        slots = [_as_another(x) for x in operands]
        values = {**self.constants, **known}
        values.update(zip(self.slots(), slots, strict=True))
        later, uses = iter(slots[::-1]), []
        for part in self.parts:
            given = [values[place] for place in part.operands]
            if self.apart:  # each has a gradient of its own
                inside = [i for i, place in enumerate(part.operands) if place < self.given]
                for i in reversed(inside):
                    given[i] = next(later)
            if not known.keys() >= {*part.results}:
                values.update(zip(part.results, part.again(given), strict=True))
            made = tuple([values[place] for place in part.results])
            uses.append(_with_tensors(part.use, tuple(given), made))
        asked = [x for x, is_asked in zip(slots, wanted, strict=True) if is_asked and is_smooth(x)]
        ends = zip(map(key_of, [values[place] for place in self.results]), grads, strict=True)
        found = dict(zip(map(id, asked), backward(uses, ends, asked), strict=True))
        return [found.get(id(x)) for x in slots]


def _is_plain(use: Use) -> bool:
    """Say whether a use can be carried out once more by what it says of itself."""
    if use.backward is not None or use.rule is not None:
        return False
    is_known = use.op is not None and (use.op.PURE or use.op is Require)
    return isinstance(use.way, Composed) or is_known


def _takes_rows(use: Use) -> bool:
    """Say whether the gradient of a use may be rows with indices."""
    attributes, name = use.attributes or {}, "" if use.op is None else use.op.name
    return name == "gv.gather_nd" or (name == "gv.gather" and attributes.get("axis") == 0)


def _without_tensors(use: Use) -> Use:
    return _with_tensors(use, (), ())


def _with_tensors(use: Use, operands: tuple[object, ...], results: tuple[object, ...]) -> Use:
    return Use(operands, results, use.op, use.attributes, None, None, use.name, use.way)


def _as_another(x: Tensor) -> Tensor:
    """Return the same value as a tensor of its own."""
    return single(Identity, x) if STATE.recorders else x.alias()


@dataclass(frozen=True)
class Taped:
    """What a function does to tensors, and the use that recorders see."""

    plan: Plan
    use: Use
    operands: Sequence[int | Tensor]
    """The numbers of those given, or constants."""
    keeps: bool
    """Whether the plan gives, besides, results between that are not to be computed again."""

    def run(self, given: Sequence[object]) -> object:
        """Carry it out, and show it."""
        return self.shown(given, self.plan(given))

    def shown(self, given: Sequence[object], found: object) -> object:
        """Show what the plan gave for the tensors given; return what the function returns."""
        made, kept = cast("Made", found if self.keeps else (found, ()))
        operands = tuple([x if isinstance(x, Tensor) else given[x] for x in self.operands])
        results = (made,) if isinstance(made, Tensor) else tuple(made)
        show(_with_tensors(self.use, operands, (*results, *kept)))
        return made


def under_tapes(function: Callable[..., object], *, apart: bool = False) -> Recorded:
    """Return what carries a function out as one use, while recorders look on.

    What its uses give to one of the arguments stays `apart`, if each of them is a node in graphs.
    """
    plans: dict[object, Taped | None] = {}
    once: set[object] = set()

    def carried(args: Sequence[object], kwargs: dict[str, object]) -> tuple[object, ...]:
        key: list[object] = []
        given: list[object] = []
        busy = STATE.context is not None or STATE.device is not None or STATE.part or STATE.rules
        if busy or EARS.count or not read_key((*args, *kwargs.values()), key, given):
            return ()
        known = (*kwargs, *key)
        if known in plans:
            found = plans[known]
            return () if found is None else (found.run(given),)
        if known not in once:
            if len(once) >= MOST:
                once.clear()
            once.add(known)
            return ()
        if len(plans) >= MOST:
            plans.clear()
        plans[known] = None
        plans[known], made = _Noting(function, len(given), apart).noted(args, kwargs, given)
        return made

    return carried


@dataclass
class _Noting:
    """Notes what a function does, and as what use."""

    function: Callable[..., object]
    count: int
    apart: bool
    use: Use | None = None
    operands: Sequence[int | Tensor] = ()
    keeps: bool = False

    def noted(
        self, args: Sequence[object], kwargs: dict[str, object], given: Sequence[object]
    ) -> tuple[Taped | None, tuple[object, ...]]:
        """Return what the function is as one use, and what it returned, which is shown."""
        try:
            plan, result = planned(self._watched, args, kwargs, given)
        except GravureError:
            return None, ()  # who carries it out says what is wrong, and of which element
        if plan is None or self.use is None:
            return None, ()
        taped = Taped(plan, self.use, self.operands, self.keeps)
        return taped, (taped.shown(given, result[0]) if result else taped.run(given),)

    def _watched(self, *args: object, **kwargs: object) -> object:
        """Carry the function out on watched tensors; with what it returns comes what is kept."""
        with taking_parts() as parts:
            made = self.function(*args, **kwargs)
        results = [made] if isinstance(made, Tensor) else made
        if not isinstance(results, list | tuple) or not all(isinstance(x, Tensor) for x in results):
            return made
        if len(parts.uses) == 1:
            self._take_single(parts.uses[0], results)
            return made
        kept = self._take(parts.uses, results) if self.apart else []
        self.keeps = bool(kept)
        return (made, kept) if kept else made

    def _take_single(self, use: Use, results: Sequence[Tensor]) -> None:
        """Take the only use, if it is that of arguments and gives what is returned."""
        operands = [x._array.place if x.watched else x for x in use.operands]
        inside = any(isinstance(x, int) and x >= self.count for x in operands)
        same = [*map(key_of, results)] == [*map(key_of, use.results)]
        if same and not inside and _is_plain(use):
            self.use, self.operands = _without_tensors(use), operands

    def _take(self, uses: Sequence[Use], results: Sequence[Tensor]) -> list[Tensor]:
        """Take uses as one, if they lead from arguments to what is returned; give what to keep."""
        if not uses or not all(map(_is_plain, uses)):
            return []
        given: dict[int, Tensor] = {}
        for x in [x for use in uses for x in use.operands]:
            if x.watched and x._array.place < self.count:
                given.setdefault(x._array.place, x)
        ends = {key_of(x) for x in results}
        heavy = [x for use in uses if _is_heavy(use) for x in use.results if x.watched]
        kept = [x for x in heavy if key_of(x) not in ends]
        composed = Composed.of(uses, [*given.values()], [*results, *kept], apart=True)
        if composed is None:
            return []
        places = [*given]
        self.use = Use((), (), name=uses[-1].name, way=composed)
        self.operands = [places[slot] for slot in composed.slots()]
        return kept


def _is_heavy(use: Use) -> bool:
    """Say whether a use takes long for its results, more than going over them once."""
    if isinstance(use.way, Composed):
        return any(_is_heavy(part.use) for part in use.way.parts)
    assert use.op is not None, "a use is an operation, or composed"
    is_light = issubclass(use.op, Elementwise | Reduction) or use.op.moved(1) is not None
    return not is_light


WHILE_RECORDED.append(partial(under_tapes, apart=True))
