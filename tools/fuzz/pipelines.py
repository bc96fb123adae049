"""Read pipelines of data that are put together by chance, and compare them with plain lists.

A pipeline is read at once and again, in a function, and from a checkpoint that was written on the
way. A shuffle has to be a permutation that its buffer allows; what follows sees its order.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from ...errors import GravureError
from ..given import positive
from .making.pipeline import LIST, NUMBER, Chained, Elements, chained, evaluated, namespace
from .tally import fuzzed
from .workers import FAULT, READ, REFUSED, Outcome

NAME = "pipelines"


def configure(parser: argparse._ArgumentGroup) -> None:
    """Add the options."""
    parser.add_argument("--steps", type=positive, default=6, metavar="N", help="of a pipeline (6)")


def case(seed: int, number: int, steps: int = 6) -> tuple[Chained, Random]:
    """Return the pipeline of a case, and further numbers."""
    random = Random(f"pipelines {seed} {number}")
    return chained(random, most=steps), random


def run(args: argparse.Namespace) -> int:
    """Do all cases; 1 if there is a fault."""

    def judge(number: int) -> tuple[int, str]:
        return judged(*case(args.seed, number, args.steps))

    def keep(stem: Path, outcome: Outcome) -> None:
        made, _ = case(args.seed, outcome.number, args.steps)
        stem.with_suffix(".txt").write_text(f"{outcome.text}\n{made.text}\n")

    return fuzzed(NAME, args, judge, keep)


def judged(made: Chained, random: Random) -> tuple[int, str]:
    """Return what became of a pipeline, and why."""
    tf = namespace()
    try:
        wanted, what = modelled(made, tf)
        if not what:
            what = found_wrong(made, wanted, random, tf)
    except GravureError as error:
        return REFUSED, f"{type(error).__name__}: {error}"
    return (FAULT, f"{what} of {made.text}") if what else (READ, "")


def modelled(made: Chained, tf: Any) -> tuple[Elements, str]:
    """Return the elements by the model, and what is wrong with an order of a shuffle."""
    elements = made.elements
    for count, step in enumerate(made.steps, 1):
        if step.buffer:
            order = read(evaluated(made.upto(count), tf))
            what = misplaced(elements, order, step.buffer)
            if what:
                return [], f"step {count}: {what}"
            elements = order
        else:
            elements = step.model(elements)
    return elements, ""


def misplaced(elements: Elements, order: Elements, buffer: int) -> str:
    """Return what is wrong with an order: elements that are not there, or come too early."""
    before, after = (Counter(map(repr, each)) for each in (elements, order))
    if before != after:
        return f"shuffled {elements} to {order}"
    early: Counter[str] = Counter()
    for place, each in enumerate(order):
        early[repr(each)] += 1
        there = Counter(map(repr, elements[: place + buffer]))
        if there[repr(each)] < early[repr(each)]:
            return f"{each} came at {place} by a buffer of {buffer}: {order} of {elements}"
    return ""


def read(dataset: Any) -> Elements:
    """Return all elements as nested lists."""
    return [np.asarray(each).tolist() for each in dataset]


def found_wrong(made: Chained, wanted: Elements, random: Random, tf: Any) -> str:
    """Return where what is read is not what is wanted."""
    dataset = evaluated(made.text, tf)
    for name, found in (
        ("first", read(dataset)),
        ("second", read(dataset)),
        ("numpy", [np.asarray(x).tolist() for x in dataset.as_numpy_iterator()]),
    ):
        if found != wanted:
            return f"{name}: {found} for {wanted}"
    size = int(dataset.cardinality())
    if size not in (len(wanted), tf.data.UNKNOWN_CARDINALITY):
        return f"cardinality {size} for {len(wanted)}"
    for each in dataset:
        if not tf.TensorSpec.from_tensor(each).is_compatible_with(dataset.element_spec) and (
            not dataset.element_spec.is_compatible_with(each)
        ):
            return f"an element of {each.shape} for {dataset.element_spec}"
    return in_function(made, dataset, wanted, tf) or from_checkpoint(made, wanted, random, tf)


def in_function(made: Chained, dataset: Any, wanted: Elements, tf: Any) -> str:
    """Return what is wrong where a function loops over the pipeline."""
    if made.kind not in (NUMBER, LIST):
        return ""

    @tf.function  # type: ignore[untyped-decorator]
    def mixed(d: Any) -> Any:
        return d.reduce(tf.constant(1, "int64"), lambda s, x: (s * 3 + tf.reduce_sum(x)) % 10007)

    right = 1
    for each in wanted:
        right = (right * 3 + (sum(each) if isinstance(each, list) else each)) % 10007
    for _ in range(2):
        found = int(mixed(dataset))
        if found != right:
            return f"reduced in a function: {found} for {right}"
    return ""


def from_checkpoint(made: Chained, wanted: Elements, random: Random, tf: Any) -> str:
    """Return what is wrong where reading goes on from a checkpoint."""
    count = random.randint(0, len(wanted))
    iterator = iter(evaluated(made.text, tf))
    head = [np.asarray(next(iterator)).tolist() for _ in range(count)]
    with tempfile.TemporaryDirectory(prefix="gravure-fuzz-") as folder:
        path = tf.train.Checkpoint(iterator=iterator).save(f"{folder}/c")
        other = iter(evaluated(made.text, tf))
        for _ in range(random.randint(0, len(wanted))):
            next(other)
        tf.train.Checkpoint(iterator=other).restore(path)
        found = head + [np.asarray(each).tolist() for each in other]
    return "" if found == wanted else f"from a checkpoint at {count}: {found} for {wanted}"
