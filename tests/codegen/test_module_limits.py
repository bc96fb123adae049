"""How long a module of LLVM text may be."""

from __future__ import annotations

import pytest

from gravure.codegen.llvm import compile as compiler
from gravure.errors import CompileError
from gravure.target import Target

TEXT = "define void @f() {\n  ret void\n}\n"


def test_a_plain_module_may_be_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    target = Target.parse("native")
    monkeypatch.setattr(compiler, "PLAIN_LINES", 3)
    assert compiler.assemble(TEXT, target, optimisation=0)
    with pytest.raises(CompileError, match="4 lines: expected 3"):
        compiler.assemble(f"{TEXT}\n", target, optimisation=0)
    assert compiler.assemble(f"{TEXT}\n", target)
