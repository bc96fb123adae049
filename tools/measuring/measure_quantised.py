"""Quantise models with onnxruntime's own quantiser, and measure them beside it and others.

    python -m gravure.tools.measuring.measure_quantised MODELS --python PYTHON [NAME:FORM ...] \
        [--threads N]

MODELS is a folder with NAME.onnx, NAME.inputs.npz and NAME.ref.npz (outputs o0, o1, ... of f32);
PYTHON is an interpreter that has onnxruntime with onnx, and may have OpenVINO. FORM is qdq-u8,
qdq-i8 (operators between quantised and dequantised values), operators (QLinearConv and the like)
or dynamic. Prints one Markdown row a model: milliseconds of a call of each runtime by the clock,
measured in turns, and of its processors in brackets; gravure's time over the best other's; and
how far the results of each are from those of f32, over the largest of these.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...codegen.compile import Options
from ...frontend.models.compiled import load_compiled, tag_of
from ...frontend.programs.compile import compile_source
from ..errors import UsageError
from .measure_models import error_of
from .peers import Contender, Duel, Peer, compare
from .quantise import FORMS
from .statistics import ratio

QUANTISER = Path(__file__).with_name("quantise.py")
CASES = (
    "resnet50:qdq-u8", "resnet50:qdq-i8", "resnet50:operators", "mobilenet_v2:qdq-u8",
    "mobilenet_v2:qdq-i8", "mobilenet_v2:operators", "bert_base_128:dynamic",
)  # fmt: skip
RUNTIMES = ("onnxruntime", "openvino")
HEAD = "| model | form | gravure | onnxruntime | openvino | ratio | errors |"


def row_of(models: Path, case: str, python: str, threads: int) -> str:
    """Return what is measured of one quantised model."""
    name, _, form = case.partition(":")
    if form not in FORMS:
        raise UsageError(f"form {form!r} of {name}, expected one of {', '.join(FORMS)}")
    given = models / f"{name}.inputs.npz"
    with tempfile.TemporaryDirectory(prefix="gravure-") as folder:
        model = Path(folder) / f"{name}.onnx"
        command = [python, str(QUANTISER), form, str(models / f"{name}.onnx"), str(given)]
        done = subprocess.run([*command, str(model)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise UsageError(f"{python} cannot quantise {name}: {done.stderr[-300:]}")
        options = Options(slots=threads, tag=tag_of(model))
        compiled = load_compiled(compile_source(model, options), threads)
        library = Path(folder) / "model.so"
        compiled.save(library)
        with np.load(given) as stored:
            inputs = {n: stored[n] for n in stored.files}
        peers = [Peer(each, each, python) for each in RUNTIMES]
        running, _ = compare(Duel(library, str(model), inputs, threads, 1.0), peers)
    return text_of(name, form, running, models / f"{name}.ref.npz")


def text_of(name: str, form: str, running: Sequence[Contender], wanted: Path) -> str:
    """Return a row of the table."""
    by_name = {each.peer.name: each for each in running}
    own = by_name["gravure"]
    cells, errors = [], []
    for each in ("gravure", *RUNTIMES):
        found = by_name.get(each)
        cells.append("-" if found is None else milliseconds(found))
        errors.append("-" if found is None else f"{error_of(wanted, found.about['results']):.1e}")
    others = [ratio(own.blocks, found.blocks).value for found in running if found is not own]
    most = f"{max(others):.2f}" if others else "-"
    return f"| {name} | {form} | {' | '.join(cells)} | {most} | {' / '.join(errors)} |"


def milliseconds(found: Contender) -> str:
    """Return the median of a call by the clock and of its processors."""
    clock, processor = float(np.median(found.blocks)), float(np.median(found.processor))
    return f"{clock * 1e3:.2f} ({processor * 1e3:.2f})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", type=Path)
    parser.add_argument("cases", nargs="*", metavar="NAME:FORM")
    parser.add_argument("--python", required=True, help="an interpreter with onnxruntime")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_intermixed_args(arguments)
    print(HEAD, "|---|" + "---|" * 6, sep="\n")
    for case in given.cases or CASES:
        print(row_of(given.models, case, given.python, given.threads), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
