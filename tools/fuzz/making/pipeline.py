"""Pipelines of data that nobody would write, each with a plain model of it: lists of Python's.

    made = chained(Random(1))
    made.text          # "D.range(7).map(...).batch(2)"
    made.dataset()     # by gravure.tf
    made.wanted()      # the elements, as nested lists

Elements are whole numbers, or lists of them, of any length where rows are ragged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from random import Random
from typing import Any

from .python import readable

Elements = list[Any]
NUMBER, LIST, RAGGED = "number", "list", "ragged"
MOST = 400
"""Elements that a pipeline may have."""


@dataclass(frozen=True)
class Link:
    """One step of a pipeline: how it is written, and what it makes of a list."""

    text: str
    model: Callable[[Elements], Elements]
    kind: str
    buffer: int = 0
    """Of a shuffle: how many elements it chooses among."""


@dataclass(frozen=True)
class Chained:
    """A pipeline."""

    source: str
    elements: Elements
    steps: Sequence[Link]
    kind: str

    @property
    def text(self) -> str:
        """Return the pipeline as it is written."""
        return self.upto(len(self.steps))

    def upto(self, count: int) -> str:
        """Return the source and so many steps, as they are written."""
        lines = [self.source, *(step.text for step in self.steps[:count])]
        return "\n    ".join(["(", *lines]) + "\n)"


def namespace() -> Any:
    """Return what programs import as `tf`."""
    names: dict[str, Any] = {}
    exec(readable("from gravure import tf", "exec"), names)
    return names["tf"]


def evaluated(text: str, tf: Any) -> Any:
    """Return the pipeline that a text says."""
    return eval(readable(text, "eval"), {"tf": tf, "D": tf.data.Dataset})


def batches(elements: Elements, size: int, *, rest: bool) -> Elements:
    """Return lists of so many elements; the last may have fewer."""
    made = [elements[at : at + size] for at in range(0, len(elements), size)]
    return [each for each in made if rest or len(each) == size]


def padded(elements: Elements, size: int, value: int) -> Elements:
    """Return lists of rows that are as long as the longest of them."""
    made = []
    for rows in batches(elements, size, rest=True):
        longest = max(map(len, rows))
        made.append([[*row, *[value] * (longest - len(row))] for row in rows])
    return made


def interleaved(parts: Iterable[Elements], cycle: int, block: int) -> Elements:
    """Return elements of several lists in turns, a block of each."""
    waiting = iter(parts)
    lanes: list[Any] = [iter(each) for each in islice(waiting, cycle)]
    made: Elements = []
    while lanes:
        kept: list[Any] = []
        for number, lane in enumerate(lanes):
            taken = list(islice(lane, block))
            made += taken
            if len(taken) == block:
                kept.append((number, lane))
            else:
                kept.append((number, None))
        lanes = []
        for _, lane in kept:
            following = lane if lane is not None else next((iter(p) for p in waiting), None)
            if following is not None:
                lanes.append(following)
    return made


def totals(elements: Elements) -> Elements:
    """Return the sum of all elements up to each."""
    made, total = [], 0
    for each in elements:
        total += each
        made.append(total)
    return made


def until(elements: Elements, least: int) -> Elements:
    """Return what comes before the first element that is so large."""
    made = []
    for each in elements:
        if each >= least:
            break
        made.append(each)
    return made


def firsts(elements: Elements) -> Elements:
    """Return each element once."""
    return list(dict.fromkeys(elements))


@dataclass
class Chain:
    """A pipeline under construction."""

    random: Random
    count: int
    """About how many elements there are."""
    kind: str = NUMBER
    steps: list[Link] = field(default_factory=list)

    def number(self, low: int, high: int) -> int:
        """Return a number, both ends included."""
        return self.random.randint(low, high)

    def add(self, text: str, model: Callable[[Elements], Elements], kind: str = "", *,
            buffer: int = 0, count: int | None = None) -> None:  # fmt: skip
        """Append a step."""
        self.steps.append(Link(text, model, kind or self.kind, buffer))
        self.kind = kind or self.kind
        self.count = self.count if count is None else count

    def any_step(self) -> None:
        """Append a step that takes any elements."""
        rules = (
            self.take,
            self.skip,
            self.repeat,
            self.shard,
            self.shuffle,
            self.same,
            self.joined,
        )
        self.random.choice(rules)()

    def step(self) -> None:
        """Append a step."""
        rules: tuple[Callable[[], None], ...]
        if self.kind == NUMBER:
            rules = (self.mapped, self.kept, self.batch, self.batch, self.scanned, self.flattened,
                     self.rows, self.windows, self.before, self.unique, self.zipped, self.numbered,
                     self.in_turns, self.any_step, self.any_step, self.any_step)  # fmt: skip
        elif self.kind == LIST:
            rules = (self.unbatch, self.unbatch, self.summed, self.any_step, self.any_step)
        else:
            rules = (self.pad, self.summed, self.any_step)
        self.random.choice(rules)()

    # Of any elements

    def take(self) -> None:
        """Keep the first elements."""
        n = self.number(-1, self.count + 2)
        self.add(f".take({n})", lambda e: e if n < 0 else e[:n], count=min(self.count, n % MOST))

    def skip(self) -> None:
        """Leave out the first elements."""
        n = self.number(0, 3)
        self.add(f".skip({n})", lambda e: e[n:])

    def repeat(self) -> None:
        """Give all elements several times."""
        n = self.number(0, 3) if self.count * 3 < MOST else 1
        self.add(f".repeat({n})", lambda e: e * n, count=self.count * n)

    def shard(self) -> None:
        """Keep every other element."""
        n = self.number(1, 3)
        at = self.number(0, n - 1)
        self.add(f".shard({n}, {at})", lambda e: e[at::n])

    def shuffle(self) -> None:
        """Give all elements in another order, the same each time."""
        size, seed = self.number(1, 9), self.number(0, 99)
        text = f".shuffle({size}, seed={seed}, reshuffle_each_iteration=False)"
        self.add(text, lambda e: e, buffer=size)

    def same(self) -> None:
        """Change no element."""
        text = self.random.choice([".cache()", ".prefetch(2)", ".prefetch(tf.data.AUTOTUNE)",
                                   ".with_options(tf.data.Options())"])  # fmt: skip
        self.add(text, lambda e: e)

    def joined(self) -> None:
        """Put the first elements behind, too."""
        n = self.number(0, 4)
        self.add(f".apply(lambda d: d.concatenate(d.take({n})))", lambda e: e + e[:n],
                 count=self.count + n)  # fmt: skip

    # Of numbers

    def mapped(self) -> None:
        """Make a number of each."""
        a, b = self.number(-2, 3), self.number(-4, 4)
        way = self.random.choice(
            ["", ", num_parallel_calls=2", ", num_parallel_calls=tf.data.AUTOTUNE"]
        )
        self.add(f".map(lambda x: x * {a} + {b}{way})", lambda e: [x * a + b for x in e])

    def kept(self) -> None:
        """Keep numbers of a kind."""
        m = self.number(2, 4)
        at = self.number(0, m - 1)
        self.add(f".filter(lambda x: x % {m} == {at})", lambda e: [x for x in e if x % m == at])

    def batch(self) -> None:
        """Make lists of numbers."""
        n, drop = self.number(1, 5), self.random.random() < 0.5
        way = self.random.choice(["", ", num_parallel_calls=2"])
        self.add(f".batch({n}, drop_remainder={drop}{way})", lambda e: batches(e, n, rest=not drop),
                 LIST)  # fmt: skip

    def scanned(self) -> None:
        """Make sums up to each number."""
        text = '.scan(tf.constant(0, "int64"), lambda s, x: (s + x, s + x))'
        self.add(text, totals)

    def flattened(self) -> None:
        """Make several numbers of each."""
        n = self.number(0, 3) if self.count * 3 < MOST else 1
        self.add(f".flat_map(lambda x: D.range({n}).map(lambda y: x + y))",
                 lambda e: [x + y for x in e for y in range(n)], count=self.count * n)  # fmt: skip

    def rows(self) -> None:
        """Make rows of several lengths."""
        text = ".map(lambda x: tf.fill([tf.abs(x) % 4], x))"
        self.add(text, lambda e: [[x] * (abs(x) % 4) for x in e], RAGGED)

    def windows(self) -> None:
        """Make lists of numbers that overlap."""
        size, shift, gap = self.number(1, 4), self.number(1, 3), self.number(1, 2)
        drop = self.random.random() < 0.5

        def model(e: Elements) -> Elements:
            made = [e[at : at + (size - 1) * gap + 1 : gap] for at in range(0, len(e), shift)]
            return [w for w in made if len(w) == size or not drop]

        text = f".window({size}, {shift}, {gap}, {drop}).flat_map(lambda w: w.batch({size}))"
        self.add(text, model, LIST, count=self.count)

    def before(self) -> None:
        """Keep what comes before a large number."""
        n = self.number(2, 30)
        self.add(f".take_while(lambda x: x < {n})", lambda e: until(e, n))

    def unique(self) -> None:
        """Keep each number once."""
        self.add(".unique()", firsts)

    def zipped(self) -> None:
        """Make sums with the numbers behind."""
        n = self.number(0, 3)
        text = f".apply(lambda d: D.zip((d, d.skip({n}))).map(lambda x, y: x + 2 * y))"
        self.add(text, lambda e: [x + 2 * y for x, y in zip(e, e[n:], strict=False)])

    def numbered(self) -> None:
        """Make sums with their places."""
        n = self.number(-2, 5)
        self.add(f".enumerate({n}).map(lambda i, x: i * 3 + x)",
                 lambda e: [(i + n) * 3 + x for i, x in enumerate(e)])  # fmt: skip

    def in_turns(self) -> None:
        """Take numbers of several lists in turns."""
        cycle, block, length = self.number(1, 3), self.number(1, 3), self.number(0, 3)
        if self.count * 3 > MOST:
            return
        way = self.random.choice(["", ", num_parallel_calls=2"])
        text = (
            f".interleave(lambda x: D.range({length}).map(lambda y: x * 10 + y), {cycle}, {block}"
        )

        def model(e: Elements) -> Elements:
            return interleaved(([x * 10 + y for y in range(length)] for x in e), cycle, block)

        self.add(f"{text}{way})", model, count=self.count * length)

    # Of lists

    def unbatch(self) -> None:
        """Give the numbers of all lists."""
        self.add(".unbatch()", lambda e: list(chain.from_iterable(e)), NUMBER)

    def summed(self) -> None:
        """Make the sum of each list."""
        self.add(".map(lambda x: tf.reduce_sum(x))", lambda e: [sum(x) for x in e], NUMBER)

    def pad(self) -> None:
        """Make rows of one length, and the sums of their columns."""
        n, value = self.number(1, 3), self.number(0, 2)
        fill = f'tf.constant({value}, "int64")'
        text = f".padded_batch({n}, padded_shapes=[None], padding_values={fill})"

        def model(e: Elements) -> Elements:
            return [[sum(c) for c in zip(*rows, strict=True)] for rows in padded(e, n, value)]

        self.add(f"{text}.map(lambda x: tf.reduce_sum(x, 0))", model, RAGGED)


def chained(random: Random, *, most: int = 6) -> Chained:
    """Return a pipeline of so many steps at most."""
    count = random.choice((0, 1, 2, 5, 8, 13))
    if random.random() < 0.5:
        source, elements = f"D.range({count})", list(range(count))
    else:
        elements = [random.randint(-9, 9) for _ in range(max(count, 1))]
        source = f'D.from_tensor_slices(tf.constant({elements}, "int64"))'
    made = Chain(random, len(elements))
    for _ in range(random.randint(1, most)):
        made.step()
    return Chained(source, elements, tuple(made.steps), made.kind)
