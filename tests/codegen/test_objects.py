"""Kernels are the same whoever makes them, and are made while passes go on."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest
from xdsl.dialects.builtin import StringAttr

from gravure.codegen import objects as module
from gravure.codegen.backends.processors import are_kernels_done
from gravure.codegen.children import Children
from gravure.codegen.compile import Options, compile_program
from gravure.codegen.compiled import Compiled
from gravure.codegen.objects import WORTH_A_CHILD, Digests, Objects
from gravure.errors import CompileError
from gravure.ir import SOURCE, Program
from gravure.ir.program import functions
from gravure.ir.text import parse
from gravure.passes.manager import parse_pipeline
from gravure.passes.pipelines import LEVELS
from gravure.passes.plan_memory import PlanMemory
from gravure.target import Target

MANY = WORTH_A_CHILD + 2


def text_of(kinds: list[str], *chain: str) -> str:
    """Return a program that applies a chain of operations to each of its arguments."""
    arguments = ", ".join(f'%x{i}: {k} {{gv.name = "x{i}"}}' for i, k in enumerate(kinds))
    results = ", ".join(f'{k} {{gv.name = "y{i}"}}' for i, k in enumerate(kinds))
    lines = [f"func.func @main({arguments}) -> ({results}) {{"]
    names = [f"%x{i}" for i in range(len(kinds))]
    for place, op in enumerate(chain):
        made = [f"%v{place}_{i}" for i in range(len(kinds))]
        for name, new, kind in zip(names, made, kinds, strict=True):
            lines.append(f"  {new} = gv.{op} {name} : ({kind}) -> {kind}")
        names = made
    end = f"  func.return {', '.join(names)} : {', '.join(kinds)}"
    return "\n".join([*lines, end, "}"])


def program() -> Program:
    """Return a program of many kernels; each argument is one's only input."""
    return Program(parse(text_of([f"tensor<{3 + i}xf32>" for i in range(MANY)], "exp")))


def compiled(monkeypatch: pytest.MonkeyPatch, processes: int) -> Compiled:
    monkeypatch.setattr(module, "processes", lambda _: processes)
    return compile_program(program(), Options(cache=False))


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return what children send from here on."""
    contents: list[bytes] = []
    receive = Objects.receive

    def noted(self: Objects, content: bytes) -> object:
        contents.append(content)
        return receive(self, content)

    monkeypatch.setattr(Objects, "receive", noted)
    return contents


@pytest.mark.parametrize("several", [2, 3])
def test_it_does_not_matter_who_makes_a_kernel(
    several: int, sent: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = compiled(monkeypatch, 1)
    assert not sent
    shared = compiled(monkeypatch, several)
    assert len(sent) == several - 1
    assert len(alone.description.kernels) == MANY
    assert shared.objects == alone.objects
    assert shared.description == alone.description
    assert shared.manifest == alone.manifest


def test_what_a_child_does_not_bring_is_made_here(
    sent: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(self: Objects, numbers: Iterator[int]) -> bytes:
        self.make_some(iter([next(numbers)]))
        os._exit(0)

    alone = compiled(monkeypatch, 1)
    monkeypatch.setattr(Objects, "send", dies)
    assert compiled(monkeypatch, 2).objects == alone.objects
    assert not sent


def test_kernels_that_passes_erase_behind_the_beginning_are_not_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def dies(self: Objects, numbers: Iterator[int]) -> bytes:
        os._exit(0)

    monkeypatch.setattr(Objects, "send", dies)
    monkeypatch.setattr(module, "processes", lambda _: 2)
    copies = Program(parse(text_of([f"tensor<0x{3 + i}xf32>" for i in range(MANY)], "identity")))
    assert not compile_program(copies, Options(cache=False, level="O0")).description.kernels


def test_no_child_is_left_when_a_pass_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[int] = []
    stop = Children.stop

    def noted(self: Children) -> None:
        stopped.extend(child for child, _ in self.running)
        stop(self)

    def fails(self: PlanMemory, _: Program) -> None:
        raise CompileError("no plan")

    monkeypatch.setattr(Children, "stop", noted)
    monkeypatch.setattr(PlanMemory, "apply", fails)
    with pytest.raises(CompileError, match="no plan"):
        compiled(monkeypatch, 2)
    assert len(stopped) == 1
    with pytest.raises(ProcessLookupError):
        os.kill(stopped[0], 0)


def digest(text: str, source: str = "") -> str:
    """Return the digest of the only function of a text, whose operations come from a source."""
    (function,) = functions(parse(text))
    for op in function.body.block.ops if source else ():
        op.attributes[SOURCE] = StringAttr(source)
    return Digests().of(function)


def test_a_digest_is_of_what_a_kernel_computes() -> None:
    def kernel(body: str, name: str = "k0", attributes: str = 'gv.kind = "map"') -> str:
        head = f"func.func private @{name}(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32>"
        return f"{head} attributes {{{attributes}}} {{\n{body}\n func.return %b : tensor<4xf32>\n}}"

    kinds = "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"
    body = f"%a = gv.sub %x, %y : {kinds}\n %b = gv.sub %a, %y : {kinds}"
    one = kernel(body)
    assert digest(one) == digest(kernel(body.replace("%a", "%c"), "k1"), source="line 1")
    others = [
        kernel(body.replace("%x, %y", "%y, %x")),
        kernel(body.replace("%a, %y", "%a, %x")),
        kernel(body.replace("%a, %y", "%y, %a")),
        kernel(body.replace("= gv.sub %x", "= gv.add %x")),
        kernel(body, attributes='gv.kind = "row"'),
        kernel(body, attributes='gv.kind = "map", gv.streamed'),
        one.replace("4xf32", "5xf32"),
    ]
    assert len({digest(text) for text in (one, *others)}) == 1 + len(others)


def test_kernels_are_begun_when_nothing_changes_them_any_more() -> None:
    assert all(are_kernels_done(parse_pipeline(passes)) for passes in LEVELS.values())
    assert not are_kernels_done(parse_pipeline("outline-kernels,dce,bufferise"))
    assert not are_kernels_done(parse_pipeline("bufferise,plan-memory"))


@pytest.fixture
def assembled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the modules that LLVM is given from here on."""
    texts: list[str] = []
    assemble = module.assemble

    def noted(text: str, target: Target) -> bytes:
        texts.append(text)
        return assemble(text, target)

    monkeypatch.setattr(module, "assemble", noted)
    monkeypatch.setattr(module, "processes", lambda _: 1)
    return texts


def product(rows: int, size: int) -> str:
    """Return a function that multiplies rows by a square matrix."""
    x, w = f"tensor<{rows}x{size}xf32>", f"tensor<{size}x{size}xf32>"
    return f"""func.func @main(%x: {x} {{gv.name = "x"}}, %w: {w} {{gv.name = "w"}}) ->
        ({x} {{gv.name = "y"}}) {{
      %y = gv.matmul %x, %w : ({x}, {w}) -> {x}
      func.return %y : {x}
    }}"""


def test_what_many_kernels_call_is_compiled_once(assembled: list[str]) -> None:
    options = Options(cache=False, target="x86-64-v4")
    kinds = [f"tensor<{100 + i}xf32>" for i in range(3)]
    compile_program(Program(parse(text_of(kinds, "sin", "cos"))), options)
    for function in ("gv_sin_v16f32", "gv_cos_v16f32"):
        whole = [text for text in assembled if re.search(rf"define .*@{function}\(", text)]
        assert len(whole) == 1
        assert len([t for t in assembled if re.search(rf"declare .*@{function}\(", t)]) == 3
        assert len([text for text in assembled if "@gv_turns = " in text]) == 2


def test_rows_of_little_products_are_cut_into_tiles_of_one_height(assembled: list[str]) -> None:
    options = Options(cache=False, target="x86-64-v4")
    for size, heights in ((32, 1), (256, 2)):
        assembled.clear()
        compile_program(Program(parse(product(64, size))), options)
        tiles = [text for text in assembled if re.search(r"define .*@gv_gemm_", text)]
        assert len(tiles) == heights
