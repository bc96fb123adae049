"""The search for the likeliest sequences of labels in a beam of prefixes.

For each prefix it keeps the chances of all ways to it that end in a blank and in its last label
(Graves and Jaitly, 2014, algorithm 1), as logarithms. What falls out of the beam has no chance any
more, not as the beginning of another prefix either: what could have come back less likely than it
was does not grow (as TensorFlow searches).

The prefixes in the beam are a heap whose first entry is the least likely, with all of `heapq`'s
steps: where chances are equal, the order of its entries decides what grows first. Each entry has
the chance that its prefix came with, and a number in the order in which they came.
"""

from __future__ import annotations

from math import exp, log1p
from typing import NamedTuple

import numpy as np

from ....codegen.serial.function import F64s, I64s, serial
from ....ir.op import Array
from ...values.heaps import heapify, is_less, rise, sift
from ...values.run_errors import InvalidArgumentError

NEVER = -float("inf")
LOG_2 = 0.6931471805599453
NO_ROOM, TOO_FEW = -1, -2
PARENT, LABEL, CHILD, SIBLING, NODE = range(5)
"""What a prefix has: the one without its last label, that label, one that is longer, and another
that is as long."""
BLANK, ENDED, TOTAL, WAS_BLANK, WAS_TOTAL, ODDS = range(6)
"""Its chances: of ways that end in a blank, or in its label, and of all, also a moment ago."""
AT_FIRST = 16
"""How many prefixes there is room for at first, for each that a beam holds."""


class BestPaths(NamedTuple):
    """The likeliest sequences of each row: their labels, how many, and how likely they are."""

    labels: Array
    sizes: Array
    chances: Array


def search(logits: Array, lengths: Array, width: int, paths: int) -> BestPaths:
    """Return the likeliest paths through the logits of each row, the best one first.

    The last class is the blank.
    """
    times, rows, classes = logits.shape
    wide = np.ascontiguousarray(logits, np.float64)
    counts = np.ascontiguousarray(lengths, np.int64)
    labels = np.zeros((rows, paths, times), np.int64)
    sizes, chances = np.zeros((rows, paths), np.int64), np.zeros((rows, paths))
    spots, beam = np.full(classes, -1), np.empty((3, width), np.int64)
    room, found = 1 + classes + AT_FIRST * width, NO_ROOM
    while found == NO_ROOM:
        nodes, odds = np.empty(room * NODE, np.int64), np.empty(room * ODDS)
        found = _search(
            wide, counts, nodes, odds, np.empty(classes), spots, *beam, np.empty(width),
            labels, sizes, chances,
        )  # fmt: skip
        room *= 4
    if found == TOO_FEW:
        raise InvalidArgumentError("Less leaves in the beam search than requested.")
    return BestPaths(labels, sizes, chances)


@serial
def _search(
    logits: F64s, counts: I64s, nodes: I64s, odds: F64s, row: F64s, spots: I64s, branches: I64s,
    heap: I64s, numbers: I64s, keys: F64s, labels: I64s, sizes: I64s, chances: F64s,
) -> int:  # fmt: skip
    """Search in each row; say where there is no room for all prefixes, or too few are found."""
    rows, classes = len(counts), len(row)
    paths = len(sizes) // max(rows, 1)
    times = len(labels) // max(len(sizes), 1)
    for place in range(rows):
        size, made, number = 1, 1, 0
        heap[0], numbers[0], keys[0] = 0, 0, 0.0
        _begin(nodes, odds, 0, -1, -1)
        odds[BLANK], odds[TOTAL] = 0.0, 0.0
        for time in range(counts[place]):
            _normalise(logits, (time * rows + place) * classes, row)
            count = size
            _order(heap, keys, count, branches)
            number = _stay(nodes, odds, row, branches, heap, numbers, keys, count, number)
            for i in range(count):
                if (made + classes) * NODE > len(nodes):
                    return NO_ROOM
                size, made, number = _grow(
                    branches[i], nodes, odds, row, spots, heap, numbers, keys, size, made, number
                )
        if size < paths:
            return TOO_FEW
        for path in range(paths):
            best = path
            for i in range(path + 1, size):
                if is_less(keys[best], numbers[best], keys[i], numbers[i]):
                    best = i
            at = place * paths + path
            chances[at] = keys[best]
            node, heap[best], numbers[best], keys[best] = (
                heap[best],
                heap[path],
                numbers[path],
                keys[path],
            )
            sizes[at] = _spell(nodes, node, labels, at * times)
    return 0


def _begin(nodes: I64s, odds: F64s, node: int, parent: int, label: int) -> int:
    """Set a prefix up that has no chance yet."""
    at = NODE * node
    nodes[at + PARENT], nodes[at + LABEL] = parent, label
    nodes[at + CHILD], nodes[at + SIBLING] = -1, -1
    for i in range(ODDS):
        odds[ODDS * node + i] = NEVER
    if parent >= 0:
        nodes[at + SIBLING] = nodes[NODE * parent + CHILD]
        nodes[NODE * parent + CHILD] = node
    return 0


def _normalise(logits: F64s, at: int, row: F64s) -> int:
    """Make a row of the logarithms of chances that are 1 in the sum."""
    total = NEVER
    for i in range(len(row)):
        total = _either(total, logits[at + i])
    for i in range(len(row)):
        row[i] = logits[at + i] - total
    return 0


def _either(x: float, y: float) -> float:
    """Return the logarithm of a sum of chances, as `numpy.logaddexp` does."""
    if x == y:
        return x + LOG_2
    more = x - y
    if more > 0:
        return x + log1p(exp(-more))
    return y + log1p(exp(more)) if more <= 0 else more


def _order(heap: I64s, keys: F64s, size: int, branches: I64s) -> int:
    """Order what the beam holds from the likeliest on; of equal ones, as they lie in the heap."""
    for i in range(size):
        at, key = i, keys[i]
        while at > 0 and keys[branches[at - 1]] < key:
            branches[at] = branches[at - 1]
            at -= 1
        branches[at] = i
    for i in range(size):
        branches[i] = heap[branches[i]]
    return 0


def _stay(
    nodes: I64s, odds: F64s, row: F64s, branches: I64s, heap: I64s, numbers: I64s, keys: F64s,
    size: int, number: int,
) -> int:  # fmt: skip
    """Give the prefixes their chances after one more moment; return how many have come."""
    for i in range(size):
        at = ODDS * branches[i]
        odds[at + WAS_BLANK], odds[at + WAS_TOTAL] = odds[at + BLANK], odds[at + TOTAL]
    for i in range(size):
        at, node = ODDS * branches[i], NODE * branches[i]
        label, parent = nodes[node + LABEL], nodes[node + PARENT]
        ended = odds[at + ENDED]
        if parent >= 0:
            if odds[ODDS * parent + TOTAL] > NEVER:
                ended = _either(ended, _ways(nodes, odds, parent, label))
            ended += row[label]
        odds[at + BLANK] = odds[at + WAS_TOTAL] + row[len(row) - 1]
        odds[at + ENDED] = ended
        odds[at + TOTAL] = _either(odds[at + BLANK], ended)
    for i in range(size):
        number += 1
        heap[i], numbers[i], keys[i] = branches[i], number, odds[ODDS * branches[i] + TOTAL]
    heapify(heap, numbers, keys, size)
    return number


def _ways(nodes: I64s, odds: F64s, node: int, label: int) -> float:
    """Return the chance of ways that a label can follow: the same one behind a blank only."""
    is_same = nodes[NODE * node + LABEL] == label
    return float(odds[ODDS * node + (WAS_BLANK if is_same else WAS_TOTAL)])


def _grow(
    branch: int, nodes: I64s, odds: F64s, row: F64s, spots: I64s, heap: I64s, numbers: I64s,
    keys: F64s, size: int, made: int, number: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Keep the longer prefixes that are likelier than what the beam holds.

    Return how many it holds, how many prefixes were made, and how many have come into the beam.
    """
    if not _counts(keys, size, odds[ODDS * branch + WAS_TOTAL]):
        return size, made, number
    first = nodes[NODE * branch + CHILD]
    child = first
    while child >= 0:
        spots[nodes[NODE * child + LABEL]] = child
        child = nodes[NODE * child + SIBLING]
    for label in range(len(row) - 1):
        longer = spots[label]
        if longer >= 0 and odds[ODDS * longer + TOTAL] > NEVER:
            continue
        chance = row[label] + _ways(nodes, odds, branch, label)
        total = _either(NEVER, chance)
        if not _counts(keys, size, total):
            if longer >= 0:
                _lose(odds, longer)
                odds[ODDS * longer + WAS_BLANK] = odds[ODDS * longer + WAS_TOTAL] = NEVER
            continue
        if longer < 0:
            longer = made
            made += 1
            _begin(nodes, odds, longer, branch, label)
        at = ODDS * longer
        odds[at + BLANK], odds[at + ENDED], odds[at + TOTAL] = NEVER, chance, total
        number += 1
        if size < len(heap):
            heap[size], numbers[size], keys[size] = longer, number, total
            size += 1
            rise(heap, numbers, keys, 0, size - 1)
        else:
            gone = heap[0]
            heap[0], numbers[0], keys[0] = longer, number, total
            sift(heap, numbers, keys, 0, size)
            _lose(odds, gone)
    while first >= 0:
        spots[nodes[NODE * first + LABEL]] = -1
        first = nodes[NODE * first + SIBLING]
    return size, made, number


def _lose(odds: F64s, node: int) -> int:
    """Leave a prefix without a chance."""
    at = ODDS * node
    odds[at + BLANK] = odds[at + ENDED] = odds[at + TOTAL] = NEVER
    return 0


def _counts(keys: F64s, size: int, chance: float) -> bool:
    """Say whether a prefix of some chance comes into the beam."""
    return chance > NEVER and (size < len(keys) or chance > keys[0])


def _spell(nodes: I64s, node: int, labels: I64s, at: int) -> int:
    """Write the labels of a prefix, and return how many there are."""
    size, each = 0, node
    while nodes[NODE * each + PARENT] >= 0:
        size += 1
        each = nodes[NODE * each + PARENT]
    for i in range(size - 1, -1, -1):
        labels[at + i] = nodes[NODE * node + LABEL]
        node = nodes[NODE * node + PARENT]
    return size


__all__ = ["BestPaths", "search"]
