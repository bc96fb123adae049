"""Run programs that are written by chance, at once and staged, and see whether all agree.

What a program gives when its lines are carried out one by one is right. It is compared with a
function's first calls and its compiled code, with sizes or ranks that are open, with arrays of
numpy's as arguments, and with a session. Variables are compared, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from ...errors import GravureError
from ...frontend.autograph.state import VariableValueError
from ...frontend.tf.core.names import device
from ...frontend.values.context import STATE
from ...ir import Array
from ...runtime.compare import Tolerance, compare
from ...runtime.devices import EMULATED, open_driver, standing_in
from ..given import positive
from .making.python import BATCH, ROW, WIDTH, Script, written
from .tally import fuzzed
from .workers import FAULT, READ, REFUSED, Outcome

NAME = "programs"
TOLERANCES = {"float32": Tolerance(2e-3, 2e-4), "float64": Tolerance(1e-9, 1e-10)}
"""What may differ where sums are rearranged."""
Results = list[Array]


def configure(parser: argparse._ArgumentGroup) -> None:
    """Add the options."""
    parser.add_argument("--statements", type=positive, default=8, metavar="N", help="at most (8)")


def case(seed: int, number: int, statements: int = 8) -> Script:
    """Return the program of a case."""
    return written(Random(f"programs {seed} {number}"), most=statements)


def run(args: argparse.Namespace) -> int:
    """Do all cases; 1 if there is a fault."""

    def judge(number: int) -> tuple[int, str]:
        return judged(case(args.seed, number, args.statements), args.device)

    def keep(stem: Path, outcome: Outcome) -> None:
        made = case(args.seed, outcome.number, args.statements)
        stem.with_suffix(".py").write_text(made.text)
        calls = f"{made.dtype} {made.arguments}, rows {made.rows}"
        stem.with_suffix(".txt").write_text(f"{outcome.text}\n{calls}\n")

    return fuzzed(NAME, args, judge, keep)


@contextmanager
def placed(name: str) -> Iterator[None]:
    """Run what is inside on a GPU: `gpu:0`, or an emulated one; on the processor by no name."""
    if not name:
        yield
        return
    driver = open_driver(name)  # (who asks for one that is not there gets the processor else)
    standing = standing_in(0, driver) if name == EMULATED else nullcontext()
    with standing, device("gpu:0" if name == EMULATED else name):
        yield


def judged(made: Script, place: str = "") -> tuple[int, str]:
    """Return what became of a program, and why; all ways but the first may run on a GPU."""
    with np.errstate(all="ignore"):
        try:
            wanted = list(at_once(made))
        except GravureError as error:
            return REFUSED, f"{type(error).__name__}: {error}"
        if place:
            made = replace(made, single=False)  # (a GPU's functions round in their own ways)
        for name, way in WAYS.items():
            if name == "session" and not made.graphs:
                continue
            try:
                with placed(place):
                    what = differs(made, wanted, way)
            except VariableValueError:
                if not name.startswith("open "):
                    raise
                continue  # a loop's variable has a shape that is not known: TensorFlow refuses it
            if what:
                return FAULT, f"{name}, {what}"
    return READ, ""


def differs(
    made: Script, wanted: Sequence[Results], way: Callable[[Script], Iterator[Results]]
) -> str:
    """Return where a way gives something else; nothing if it does not."""
    for call, (found, right) in enumerate(zip(way(made), wanted, strict=True)):
        for place, (one, other) in enumerate(zip(found, right, strict=True)):
            what = difference(made, one, other)
            if what:
                return f"call {call + 1}, result {place + 1}: {what}"
    return ""


def difference(made: Script, found: Array, wanted: Array) -> str:
    """Return how an array differs; nothing if it has the same bits, or is close where sums are."""
    exact = made.single or wanted.dtype.kind != "f"
    tolerance = Tolerance(0.0, 0.0) if exact else TOLERANCES[made.dtype]
    result = compare(found, wanted, tolerance)
    if result.is_close:
        return ""
    return result.reason or (
        f"{result.wrong} of {result.size} elements differ, at {result.worst} {result.found} "
        f"for {result.wanted}"
    )


def arrays_of(results: Sequence[Any], names: dict[str, Any]) -> Results:
    """Return results, and what the variables hold, as arrays."""
    return [np.asarray(x) for x in (*results, *names["VARIABLES"])]


def at_once(made: Script) -> Iterator[Results]:
    """Give the results of each call, line by line."""
    names = made.run()
    for call in range(len(made.rows)):
        given = [names["tf"].constant(array) for array in made.arrays(call)]
        yield arrays_of(names["program"](*given), names)


def staged(made: Script, *, signature: str = "", plain: bool = False) -> Iterator[Results]:
    """Give the results of each call of a function."""
    names = made.run()
    tf = names["tf"]
    specs = None
    if signature:
        shapes = {BATCH: [None, WIDTH], ROW: [WIDTH]}
        every = [None if signature == "rank" else shapes.get(k, []) for k in made.arguments]
        specs = [tf.TensorSpec(shape, made.dtype) for shape in every]
    function = tf.function(names["program"], input_signature=specs)
    for call in range(len(made.rows)):
        arrays = made.arrays(call)
        given = arrays if plain else [tf.constant(array) for array in arrays]
        yield arrays_of(function(*given), names)


def in_session(made: Script) -> Iterator[Results]:
    """Give the results of each run of a session."""
    names = made.run()
    tf = names["tf"].compat.v1
    shapes = {BATCH: [None, WIDTH], ROW: [WIDTH]}
    graph = tf.Graph()
    place = None if STATE.device is None else f"/{STATE.device}"  # (graphs do not know of it)
    with graph.as_default(), tf.device(place):
        names = made.run()
        places = [tf.placeholder(made.dtype, shapes.get(k, [])) for k in made.arguments]
        fetches = names["program"](*places)
    soft = tf.ConfigProto(allow_soft_placement=True)
    with tf.Session(graph=graph, config=soft) as session:
        for call in range(len(made.rows)):
            feeds = dict(zip(places, made.arrays(call), strict=True))
            yield [np.asarray(x) for x in session.run(fetches, feeds)]


WAYS: dict[str, Callable[[Script], Iterator[Results]]] = {
    "function": staged,
    "open sizes": lambda made: staged(made, signature="sizes"),
    "open ranks": lambda made: staged(made, signature="rank"),
    "arrays": lambda made: staged(made, plain=True),
    "session": in_session,
}
