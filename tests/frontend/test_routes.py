"""One model by three routes has one canonical hash: ONNX, graph text, IR text (row P2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from gravure.frontend.programs.load import load_program
from gravure.frontend.text.writer import write_text
from gravure.ir import Program, canonical_hash, parse, print_module

MODELS = Path(__file__).parent.parent / "models"
NAMES = ("mlp", "mlp_batch", "digits", "conv_norm", "elementwise", "attention", "embedding")


def hashes(program: Program, folder: Path) -> set[str]:
    text = folder / "model.gv"
    text.write_text(write_text(program))
    ir = folder / "model.mlir"
    ir.write_text(print_module(program.module))
    return {
        canonical_hash(program.module),
        canonical_hash(load_program(text).module),
        canonical_hash(parse(ir.read_text(), "model.mlir")),
    }


@pytest.mark.parametrize("name", NAMES)
def test_p2_three_routes_give_one_hash(name: str, tmp_path: Path) -> None:
    assert len(hashes(load_program(MODELS / f"{name}.onnx"), tmp_path)) == 1


@pytest.mark.parametrize("path", sorted((MODELS / "small").glob("*.gv")), ids=lambda p: p.stem)
def test_p2_graph_text_keeps_its_hash(path: Path, tmp_path: Path) -> None:
    assert len(hashes(load_program(path), tmp_path)) == 1
