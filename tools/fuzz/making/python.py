"""Programs of Python that nobody would write: text, so that they can be read and run again.

    made = written(Random(1))
    module = made.run()          # variables of its own each time
    module["program"](x, y)

A value is a row of `WIDTH` numbers, a batch of such rows, or a scalar; the number of rows is open.
"""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from ....ir import Array

WIDTH = 4
SCALAR, ROW, BATCH = "scalar", "row", "batch"
ROWS = ((3, 3, 3, 3, 5, 1, 3, 8), (2, 2, 2, 7, 7, 7, 1, 2), (1, 4, 4, 4, 4, 9, 1, 4))
"""How many rows the arguments have in each call."""

UNARY = ("tf.tanh({})", "tf.sigmoid({})", "tf.sin({})", "tf.abs({})", "-{}", "tf.nn.relu({})",
         "tf.square({}) * 0.25", "tf.exp(-tf.abs({}))", "tf.sqrt(tf.abs({}) + 1.0)",
         "tf.math.log1p(tf.abs({}))", "tf.math.softplus({})", "tf.floor({} * 2.0 + 0.37)",
         "tf.clip_by_value({}, -1.0, 2.0)", "tf.nn.leaky_relu({})", "tf.identity({})",
         "tf.cast(tf.cast({} * 3.0 + 0.11, tf.int32), TYPE)")  # fmt: skip
"""Functions of single elements."""
BINARY = ("{} + {}", "{} - {}", "{} * {}", "tf.maximum({}, {})", "tf.minimum({}, {})",
          "{} / (tf.abs({}) + 1.0)", "tf.where({0} > {1} + 0.13, {0}, {1})",
          "tf.where(tf.abs({0}) < 0.77, {0} * 0.5, {1})")  # fmt: skip
"""Functions of two values that broadcast."""
MOVES = ("{}[::-1]", "tf.reverse({}, [1])", "tf.roll({}, 1, 1)", "tf.roll({}, -1, 0)",
         "tf.transpose(tf.transpose({}) * 2.0)", "tf.concat([{0}, {0}], 0)[:tf.shape({0})[0]]",
         "tf.concat([{0}, {0} * 2.0], 1)[:, 2:6]",
         "tf.reshape(tf.reshape({0}, [-1]), tf.shape({0}))",
         "tf.tile({0}, [2, 1])[::2]", "tf.gather({0}, tf.range(tf.shape({0})[0])[::-1])",
         "tf.gather({0}, [3, 1, 0, 2], axis=1)", "tf.stack(tf.unstack({0}, 4, 1), 1)",
         "tf.pad({0}, [[1, 0], [0, 0]])[1:]", "tf.expand_dims({0}, 1)[:, 0]",
         "tf.squeeze(tf.expand_dims({0}, 0), 0)", "tf.linalg.band_part({0}, 1, 2)")  # fmt: skip
"""Moves of the elements of a batch that keep its shape."""
MIXES = ("tf.matmul({0}, W)", "tf.nn.softmax({0})", "{0} - tf.reduce_mean({0}, 1, keepdims=True)",
         "tf.cumsum({0}, 1)", "tf.matmul(tf.matmul({0}, {0}, transpose_b=True), {0}) * 0.05",
         "tf.einsum('ij,jk->ik', {0}, W)", "tf.nn.l2_normalize({0} + 3.0, 1)",
         "tf.nn.log_softmax({0}, axis=1)")  # fmt: skip
"""Functions of a batch that mix its elements."""
REDUCTIONS = ("tf.reduce_sum({}{})", "tf.reduce_mean({}{})", "tf.reduce_max({}{})",
              "tf.reduce_min({}{})")  # fmt: skip


NUMBERS = ("tf.constant(0.5, TYPE)", "tf.constant(2.0, TYPE)", "tf.constant(-1.25, TYPE)")


def readable(text: str, mode: str) -> CodeType:
    """Return the code of a text whose lines can be read by who looks for a function's source."""
    name = f"<fuzz {len(linecache.cache)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return compile(text, name, mode)


@dataclass(frozen=True)
class Script:
    """A program, and what it is run on."""

    text: str
    dtype: str
    arguments: Sequence[str]
    """The kind of each argument."""
    rows: Sequence[int]
    """The number of rows in each call."""
    single: bool
    """Whether all is done with single elements, so that every way gives the same bits."""
    graphs: bool
    """Whether it can be a part of a graph: no state, no statements that depend on values."""

    def run(self) -> dict[str, Any]:
        """Run the text, and return its names: variables of its own, and `program`."""
        module = ModuleType("fuzzed")
        exec(readable(self.text, "exec"), module.__dict__)
        return module.__dict__

    def arrays(self, call: int) -> list[Array]:
        """Return the arguments of a call."""
        shapes = {SCALAR: (), ROW: (WIDTH,), BATCH: (self.rows[call], WIDTH)}
        random = np.random.default_rng([call, len(self.text)])
        made = [random.normal(0, 1, shapes[kind]) for kind in self.arguments]
        return [np.asarray(array).astype(self.dtype) for array in made]


@dataclass
class Scribe:
    """Writes lines of a program."""

    random: Random
    dtype: str
    lines: list[str] = field(default_factory=list)
    known: list[tuple[str, str]] = field(default_factory=list)
    """Names of values, and their kinds."""
    variables: list[tuple[str, str]] = field(default_factory=list)
    depth: int = 1
    count: int = 0
    single: bool = True
    graphs: bool = True
    inside: bool = False
    """Whether this is under a tape or in a branch, where state stays as it is."""

    def line(self, text: str) -> None:
        """Append a line."""
        self.lines.append("    " * self.depth + text.replace("TYPE", f"tf.{self.dtype}"))

    def fresh(self) -> str:
        """Return a new name."""
        self.count += 1
        return f"v{self.count}"

    def pick(self, *kinds: str) -> tuple[str, str]:
        """Return a value of some kinds, younger ones more often."""
        found = [value for value in self.known if not kinds or value[1] in kinds]
        if not found:
            kind = kinds[0]
            shape = {BATCH: [1, WIDTH], ROW: [WIDTH], SCALAR: []}[kind]
            x = self.known[0][0] if kind == BATCH else "0.0"
            return f"({x} * 0.0 + tf.ones({shape}, TYPE))", kind
        return self.random.choice(found[-3:] if self.random.random() < 0.6 else found)

    def keep(self, text: str, kind: str) -> str:
        """Give an expression a name."""
        name = self.fresh()
        self.line(f"{name} = {text}")
        self.known.append((name, kind))
        return name

    def expression(self, kind: str = "") -> tuple[str, str]:
        """Return an expression, and the kind of its value."""
        rules = [self.unary, self.unary, self.binary, self.binary, self.move, self.move, self.mix,
                 self.reduction]  # fmt: skip
        for _ in range(20):
            text, found = self.random.choice(rules)()
            if kind in ("", found):
                return text, found
        name, found = self.pick(kind)
        return f"tf.identity({name})", found  # (see `repeated`: a branch may give it as it is)

    def unary(self) -> tuple[str, str]:
        """Return a function of a value."""
        name, kind = self.pick()
        return self.random.choice(UNARY).format(name), kind

    def binary(self) -> tuple[str, str]:
        """Return a function of two values, or of one and a number."""
        (one, kind), (other, second) = self.pick(), self.pick()
        if self.random.random() < 0.3:
            other, second = self.random.choice(NUMBERS), SCALAR
        if self.random.random() < 0.5:
            one, other, kind, second = other, one, second, kind
        order = (SCALAR, ROW, BATCH)
        return self.random.choice(BINARY).format(one, other), max(kind, second, key=order.index)

    def move(self) -> tuple[str, str]:
        """Return a batch whose elements are elsewhere."""
        name, kind = self.pick(BATCH)
        return self.random.choice(MOVES).format(name), kind

    def mix(self) -> tuple[str, str]:
        """Return a batch whose elements are mixed."""
        name, kind = self.pick(BATCH)
        self.single = False
        return f"tf.tanh({self.random.choice(MIXES).format(name)})", kind

    def reduction(self) -> tuple[str, str]:
        """Return a row or a scalar of a batch."""
        name, kind = self.pick()
        self.single = False
        axis, left = self.random.choice([(", 0", ROW), ("", SCALAR)]) if kind == BATCH else (
            "", SCALAR)  # fmt: skip
        text = self.random.choice(REDUCTIONS).format(name, axis)
        return f"tf.tanh({text} * 0.1)", left

    # Statements

    def statement(self) -> None:
        """Append a statement."""
        rules = [self.assigned] * 5 + [self.branch, self.loop, self.chosen, self.repeated]
        rules += [self.tape] * (not self.inside) + [self.state] * (2 * (not self.inside))
        self.random.choice(rules)()

    def assigned(self) -> None:
        """Append a value."""
        self.keep(*self.expression())

    def condition(self) -> str:
        """Return a condition on a scalar."""
        name, kind = self.pick()
        self.single = self.single and kind == SCALAR
        number = self.random.choice(["0.137", "-0.219", "0.731"])
        scalar = name if kind == SCALAR else f"tf.reduce_mean({name})"
        return f"{scalar} > {number}"

    def block(self, name: str, kind: str) -> None:
        """Append statements, the last of which changes a value."""
        before, inside = len(self.known), self.inside
        self.depth, self.inside = self.depth + 1, True
        for _ in range(self.random.randint(0, 2)):
            self.assigned()
        self.line(f"{name} = {self.expression(kind)[0]}")
        self.depth, self.inside = self.depth - 1, inside
        del self.known[before:]

    def own(self) -> tuple[str, str]:
        """Return a name that may be written anew."""
        name, kind = self.pick()
        return self.keep(f"{name} * 1.0", kind), kind

    def branch(self) -> None:
        """Append a choice by a statement."""
        self.graphs = False
        name, kind = self.own()
        self.line(f"if {self.condition()}:")
        self.block(name, kind)
        if self.random.random() < 0.6:
            self.line("else:")
            self.block(name, kind)

    def loop(self) -> None:
        """Append a loop by a statement."""
        self.graphs = False
        name, kind = self.own()
        if self.random.random() < 0.5:
            self.line(f"for i in tf.range({self.random.randint(0, 3)}):")
            self.block(name, kind)
            return
        count = self.keep("tf.constant(0)", "count")
        self.known.pop()
        self.line(f"while {count} < 3 and {self.condition()}:")
        self.block(name, kind)
        self.line(f"    {count} += 1")

    def chosen(self) -> None:
        """Append a choice by a function."""
        kind = self.pick()[1]
        one, other = self.expression(kind)[0], self.expression(kind)[0]
        self.keep(f"tf.cond({self.condition()}, lambda: {one}, lambda: {other})", kind)

    def repeated(self) -> None:
        """Append a loop by a function."""
        name, kind = self.pick()
        step = self.random.choice(UNARY).format("a")
        # (at once, a loop without turns gives what it began with, which a tape may watch later)
        self.keep(f"tf.while_loop(lambda i, a: i < {self.random.randint(0, 3)}, "
                  f"lambda i, a: (i + 1, {step}), (0, tf.identity({name})))[1]", kind)  # fmt: skip

    def tape(self) -> None:
        """Append a gradient."""
        self.graphs = False
        source, kind = self.pick()
        self.line("with tf.GradientTape() as tape:")
        self.line(f"    tape.watch({source})")
        before, self.inside = len(self.known), True
        self.depth += 1
        first = self.keep(self.random.choice(UNARY[:5]).format(source), kind)
        for _ in range(self.random.randint(0, 3)):
            self.assigned()
        end, _ = self.pick()
        target = self.keep(f"tf.reduce_sum({first}) + tf.reduce_sum({end} * {end})", SCALAR)
        self.depth -= 1
        self.inside = False
        del self.known[before:]
        self.single = False
        self.keep(f"tf.tanh(tape.gradient({target}, {source}))", kind)

    def state(self) -> None:
        """Append a change of a variable, and read it."""
        self.graphs = False
        if not self.variables or self.random.random() < 0.3:
            name = f"s{len(self.variables)}"
            self.variables.append((name, self.random.choice([ROW, SCALAR])))
        name, kind = self.random.choice(self.variables)
        value = self.expression(kind)[0]
        way = self.random.choice(["assign", "assign_add", "assign_sub"])
        self.line(f"{name}.{way}(tf.tanh({value}))")
        self.keep(f"{name} * 0.5", kind)


def written(random: Random, *, most: int = 8) -> Script:
    """Return a program of so many statements at most."""
    dtype = random.choice(("float32", "float32", "float64"))
    kinds = [BATCH] + [random.choice((BATCH, ROW, SCALAR)) for _ in range(random.randint(0, 2))]
    names = [f"x{n}" for n in range(len(kinds))]
    writer = Scribe(random, dtype, known=list(zip(names, kinds, strict=True)))
    for _ in range(random.randint(1, most)):
        writer.statement()
    results = [name for name, _ in writer.known[len(kinds) :][-3:]] or names
    head = ["import numpy as np", "import gravure.tf as tf", ""]
    weights = np.random.default_rng(random.randrange(1000)).normal(0, 0.5, (WIDTH, WIDTH)).round(3)
    head.append(f"W = tf.constant({weights.tolist()}, tf.{dtype})")
    for name, kind in writer.variables:
        value = [0.25] * WIDTH if kind == ROW else 0.5
        head.append(f"{name} = tf.Variable({value}, dtype=tf.{dtype})")
    head.append(f"VARIABLES = [{', '.join(name for name, _ in writer.variables)}]")
    head += ["", "", f"def program({', '.join(names)}):"]
    lines = [*head, *writer.lines, f"    return [{', '.join(results)}]", ""]
    rows = random.choice(ROWS)
    return Script("\n".join(lines), dtype, kinds, rows, writer.single, writer.graphs)
