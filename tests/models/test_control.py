"""Programs of nested choices and loops: the interpreter at every level and compiled code agree."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, SSAValue

import gravure as gv
from gravure import ir
from gravure.codegen.compile import Options, lower_kernels
from gravure.codegen.export import gpu_file_of
from gravure.frontend.models.compiled import load_compiled
from gravure.frontend.models.gpu import load_on_gpu
from gravure.frontend.programs.compile import compile_source
from gravure.ir import Program, interpret, parse, print_module, verify
from gravure.ir.compose.maker import Maker
from gravure.ir.interpret.planned import interpret_planned
from gravure.ir.ops.control.control import If, While
from gravure.ir.ops.structure import Yield
from gravure.ir.program import finish, new_function, set_level, set_ranges
from gravure.ir.types.dims import symbol
from gravure.ir.types.dtypes import bool_, f32, i32
from gravure.passes.manager import run
from gravure.passes.pipelines import LEVELS
from gravure.runtime.gpu.file import from_bytes
from gravure.target import Target

sys.path.insert(0, str(Path(__file__).parents[1] / "runtime"))
from chosen_device import chosen_driver

Array = np.ndarray[Any, Any]
COUNT, FLAG, SQUARE = ir.spec(i32), ir.spec(bool_), ir.spec(f32, 6, 6)
ROWS = ir.TensorSpec(f32, (symbol("N"), 6))
PIPELINE = LEVELS["O2"]


class Writer:
    """Appends to a block; the operations of `Maker`, choices and loops."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.make = Maker(ir.GraphEmit.at_end(block))

    def choice(
        self,
        condition: Any,
        values: Sequence[Any],
        then: Callable[..., Any],
        other: Callable[..., Any],
    ) -> list[Any]:
        """Append a choice between two functions of values."""
        kinds = [value.type for value in values]
        op = If.make_from(condition, values, region(kinds, then), region(kinds, other))
        self.block.add_op(op)
        return list(op.results)

    def loop(
        self,
        values: Sequence[Any],
        fixed: Sequence[Any],
        test: Callable[..., Any],
        body: Callable[..., Any],
    ) -> list[Any]:
        """Append a loop."""
        kinds = [value.type for value in (*values, *fixed)]
        op = While.make_from(values, fixed, region(kinds, test), region(kinds, body))
        self.block.add_op(op)
        return list(op.results)

    def count(self, number: int) -> Any:
        """Append a number."""
        return self.make.number(number, i32)


def region(kinds: Sequence[Any], function: Callable[..., Any]) -> Block:
    """Return a block that gives what a function of a writer and its arguments gives."""
    block = Block(arg_types=kinds)
    block.add_op(Yield.make(*function(Writer(block), *block.args)))
    return block


def program(specs: Sequence[Any], function: Callable[..., Any]) -> Program:
    """Return a program of one function."""
    main = new_function("main", [(f"x{i}", spec) for i, spec in enumerate(specs)])
    made: Sequence[SSAValue] = function(Writer(main.body.block), *main.body.block.args)
    finish(main, made, [f"y{i}" for i in range(len(made))])
    module = ModuleOp([main])
    module.attributes["gv.target"] = StringAttr("native")
    set_level(module, "graph")
    set_ranges(module, {"N": (1, 9)})
    verify(module)
    return Program(module)


def swapped(w: Writer, n: Any, x: Any, y: Any) -> Any:
    """Two values change places in every trip, and one of them is changed."""

    def body(w: Writer, i: Any, a: Any, b: Any) -> Any:
        return w.make.add(i, w.count(1)), b, w.make.tanh(a)

    def test(w: Writer, i: Any, a: Any, b: Any) -> Any:
        return [w.make.less(i, w.count(3))]

    return w.loop([n, x, y], [], test, body)


def nested(w: Writer, n: Any, x: Any, y: Any) -> Any:
    """A loop in a choice in a loop; the inner one ends by what is computed."""

    def grow(w: Writer, a: Any, b: Any) -> Any:
        return w.make.mul(a, w.make.number(2.0, f32)), b

    def small(w: Writer, a: Any, b: Any) -> Any:
        most = w.make.max(w.make.abs(a), axes=(0, 1))
        return [w.make.less(most, w.make.number(20.0, f32))]

    def odd(w: Writer, a: Any, b: Any) -> Any:
        return w.loop([a], [b], small, lambda w, a, b: grow(w, a, b)[:1])

    def body(w: Writer, i: Any, a: Any, b: Any) -> Any:
        rest = w.make.fmod(i, w.count(2))
        [made] = w.choice(
            w.make.equal(rest, w.count(1)), [a, b], odd, lambda w, a, b: [w.make.matmul(a, b)]
        )
        return w.make.sub(i, w.count(1)), w.make.mul(made, w.make.number(0.1, f32))

    def test(w: Writer, i: Any, a: Any, b: Any) -> Any:
        return [w.make.greater(i, w.count(0))]

    i, made = w.loop([n, x], [y], test, body)
    return i, made, w.make.add(made, x)


def passed(w: Writer, n: Any, x: Any, y: Any) -> Any:
    """Branches that give what they are given, one thing twice, and constants."""
    some = w.make.greater(n, w.count(0))
    first = w.choice(some, [x, y], lambda w, a, b: [b, a, a], lambda w, a, b: [a, w.make.neg(b), a])

    def fixed(w: Writer, *_: Any) -> Any:
        return [w.make.filled(3.0, f32, (6, 6))]

    second = w.choice(some, [first[0]], fixed, lambda w, a: [w.make.exp(a)])
    flag = w.loop([some, n], [], lambda w, f, i: [f], lambda w, f, i: [
        w.make.greater(i, w.count(1)), w.make.sub(i, w.count(1))])  # fmt: skip
    return [*first, *second, *flag]


def collected(w: Writer, n: Any, x: Any, y: Any) -> Any:
    """Rows of symbolic count change in a loop; some are written at a counted place."""
    first = w.make.slice(x, starts=(0, 0), stops=(1, 6), steps=(1, 1))
    start = w.make.filled(0.0, f32, (4, 6))

    def body(w: Writer, i: Any, a: Any, kept: Any, row: Any) -> Any:
        place = w.make.reshape(i, shape=(1, 1))
        made = w.make.add(a, row)
        update = w.make.slice(made, starts=(0, 0), stops=(1, 6), steps=(1, 1))
        kept = w.make.scatter_nd(kept, place, update, reduction="none")
        return w.make.add(i, w.count(1)), made, kept

    def test(w: Writer, i: Any, a: Any, kept: Any, row: Any) -> Any:
        return [w.make.less(i, w.count(4))]

    i, rows, kept = w.loop([n, x, start], [first], test, body)
    return [i, rows, w.make.matmul(rows, y), kept]


CASES: dict[str, tuple[Any, Any]] = {
    "swapped": (swapped, SQUARE),
    "nested": (nested, SQUARE),
    "passed": (passed, SQUARE),
    "collected": (collected, ROWS),
}


def inputs(name: str, trips: int) -> list[Array]:
    random = np.random.default_rng(trips)
    rows = 5 if CASES[name][1] is ROWS else 6
    x, y = (random.standard_normal((n, 6)).astype(np.float32) for n in (rows, 6))
    return [np.array(trips, np.int32), x, y]


def made(name: str) -> Program:
    function, spec = CASES[name]
    return program([COUNT, spec, SQUARE], function)


def close(found: Sequence[Array], wanted: Sequence[Array], level: str) -> None:
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-5, err_msg=level)


def read_back(program: Program) -> Program:
    module = parse(print_module(program.module))
    assert print_module(module) == print_module(program.module)
    verify(module)
    return Program(module, program.weights)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_every_level_computes_the_same(name: str) -> None:
    some = made(name)
    cases = [inputs(name, trips) for trips in (0, 1, 3)]
    wanted = [interpret(some, each) for each in cases]
    at = PIPELINE.index("fuse")
    for level, passes in (("graph", PIPELINE[:at]), ("fused", PIPELINE[at : at + 1])):
        run(",".join(passes), some)
        for each, want in zip(cases, wanted, strict=True):
            close(interpret(read_back(some), each), want, level)
    run(",".join(PIPELINE[at + 1 :]), some)
    for level in ("planned", "loops"):
        if level == "loops":
            lower_kernels(some, Target.parse("native"))
        for each, want in zip(cases, wanted, strict=True):
            close(interpret_planned(read_back(some), each), want, level)


@pytest.mark.parametrize("level", ["O0", "O1", "O2"])
@pytest.mark.parametrize("name", CASES)
def test_compiled_code_computes_the_same(name: str, level: str) -> None:
    compiled = compile_source(made(name), Options(level=level))
    assert compiled.max_live <= compiled.description.workspace
    one, two = (load_compiled(compiled, threads) for threads in (1, 2))
    for trips in (0, 1, 3):
        given = inputs(name, trips)
        found = one.run(given)
        close(found, interpret(made(name), given), level)
        for a, b in zip(found, two.run(given), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", CASES)
def test_a_gpu_computes_the_same(name: str) -> None:
    compiled = compile_source(made(name), Options(target="cuda:sm_80", cache=False))
    assert from_bytes(gpu_file_of(compiled))[0] == compiled.assembled
    model = load_on_gpu(compiled, chosen_driver("sm_80", seed=1))
    for trips in (0, 3):
        given = inputs(name, trips)
        close(model.run(given), interpret(made(name), given), "gpu")


def test_a_library_holds_its_loops_and_says_so(tmp_path: Path) -> None:
    compiled = compile_source(made("nested"), Options(tag="nested"))
    path = tmp_path / "nested.so"
    compiled.library().save(path)
    manifest = json.loads(compiled.manifest)
    assert (manifest["loops"], manifest["choices"]) == (2, 1)
    given = inputs("nested", 3)
    close(gv.load(path, threads=2).run(given), interpret(made("nested"), given), "library")


class Drawn:
    """A program that is drawn: choices and loops in each other, of values of one shape."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def program(self) -> Program:
        def top(w: Writer, *values: Any) -> Any:
            made = self.steps(w, values[1:], 0, 7)
            return [self.random.choice(made) for _ in range(self.random.randint(1, 3))]

        return program([COUNT, SQUARE, SQUARE], top)

    def steps(self, w: Writer, values: Sequence[Any], depth: int, most: int) -> list[Any]:
        """Append some operations; return the values that there are."""
        found = list(values)
        for _ in range(self.random.randint(1, most)):
            found += self.one(w, found, depth)
        return found[-8:]

    def one(self, w: Writer, values: Sequence[Any], depth: int) -> list[Any]:
        """Append one operation."""
        a, b = self.random.choice(values), self.random.choice(values)
        kinds: list[Callable[[], list[Any]]] = [
            lambda: [w.make.tanh(a)],
            lambda: [w.make.matmul(a, b)],
            lambda: [w.make.transpose(a, order=(1, 0))],
            lambda: [w.make.add(a, b)],
            lambda: [w.make.filled(0.25, f32, (6, 6))],
        ]
        if depth < 3:
            kinds += [
                lambda: self.choice(w, values, depth),
                lambda: self.loop(w, values, depth),
            ] * 2
        return self.random.choice(kinds)()

    def choice(self, w: Writer, values: Sequence[Any], depth: int) -> list[Any]:
        given = [self.random.choice(values) for _ in range(3)]
        total, count = w.make.sum(given[0], axes=(0, 1)), self.random.randint(1, 3)

        def branch(w: Writer, *values: Any) -> Any:
            made = self.steps(w, values, depth + 1, 3)
            return [self.random.choice(made) for _ in range(count)]

        return w.choice(w.make.greater(total, w.make.number(0.5, f32)), given, branch, branch)

    def loop(self, w: Writer, values: Sequence[Any], depth: int) -> list[Any]:
        given = [self.random.choice(values) for _ in range(self.random.randint(1, 3))]
        trips = self.random.randint(0, 3)

        def test(w: Writer, i: Any, *values: Any) -> Any:
            total = w.make.sum(self.random.choice(values), axes=(0, 1))
            low = w.make.less(total, w.make.number(50.0, f32))
            return [w.make.logical_and(w.make.less(i, w.count(trips)), low)]

        def body(w: Writer, i: Any, *values: Any) -> Any:
            made = self.steps(w, values, depth + 1, 4)
            return [w.make.add(i, w.count(1)), *(self.random.choice(made) for _ in given)]

        return w.loop([w.count(0), *given], [self.random.choice(values)], test, body)[1:]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("target", ["native", "cuda:sm_80"])
def test_drawn_programs_compute_the_same(seed: int, target: str) -> None:
    given = [x if x.ndim == 0 else x * np.float32(0.3) for x in inputs("swapped", seed)]
    wanted = interpret(Drawn(seed).program(), given)
    options = Options(level="O2" if seed % 2 else "O0", target=target)
    compiled = compile_source(Drawn(seed).program(), options)
    on_gpu = compiled.plan is not None
    model = load_on_gpu(compiled, chosen_driver("sm_80")) if on_gpu else load_compiled(compiled, 2)
    found = model.run(given)
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
