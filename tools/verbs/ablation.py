"""What each pass of a pipeline buys: the model without it, and with those up to it only.

Every variant is compiled, tried for its results, and called in turns with all others, so that what
disturbs the machine disturbs all. A variant whose code and plan are those of another is not
measured again. A pass without which the model does not compile is needed, and its message says why.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter_ns, process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from ...counting import tell
from ..console import Console, in_bytes, in_seconds, table, to_json
from ..errors import UsageError
from ..measuring.statistics import Ratio, median_interval, ratio, turns
from ..options import dims_of, is_library, options_of, output_of, shapes_of, source_of

if TYPE_CHECKING:
    from ...codegen.compile import Compiled, Options
    from ...frontend.models.compiled import CompiledModel
    from ...runtime.buffer import Array

BLOCK = 0.01
"""Seconds that a block of calls takes, about."""
PARTS = 5
ROUNDS = 15
"""Rounds at least."""


@dataclass
class Variant:
    """One pipeline, and what was measured of it."""

    kind: str
    """`all`, `without` or `up to`."""
    what: str
    """The pass that is left out, or the last one that is in."""
    pipeline: str
    compiled: Compiled | None = None
    seconds: float = 0.0
    """How long compiling took, of processor time."""
    refused: str = ""
    """Why it does not compile."""
    same_as: Variant | None = None
    """The variant that has the same code."""
    blocks: list[float] = field(default_factory=list)
    error: float = 0.0
    """The largest difference from the reference, relative to its largest element."""
    model: CompiledModel | None = None
    call: Any = None
    calls: int = 1

    @property
    def measured(self) -> Variant:
        """Return the variant that was measured in its place."""
        return self if self.same_as is None else self.same_as

    def block(self) -> float:
        """Make a block of calls in some parts; return the median part's seconds for one."""
        parts = []
        for _ in range(PARTS):
            start = perf_counter_ns()
            for _ in range(self.calls):
                self.call()
            parts.append((perf_counter_ns() - start) / self.calls / 1e9)
        return float(np.median(parts))


def run(args: argparse.Namespace) -> int:
    """Measure all variants, and print, record and draw them."""
    from ...runtime.files import replacing, together
    from ..viewing.ablation import page

    outputs = [output_of(name, args.model) for name in (args.output, args.html)]
    source = source_of(args.model)
    if is_library(source):
        raise UsageError("--passes needs the model: a library has none left")
    console: Console = args.console
    args.passes = ""
    with console.progress("compiling variants"):
        variants = compiled_variants(args, source)
    with console.progress("measuring variants"):
        measure(args, source, variants)
    record = record_of(args, variants)
    texts = (to_json(record), page(record) if outputs[1] else "")
    with together():
        for path, text in zip(outputs, texts, strict=True):
            if path is not None:
                with replacing(path) as file:
                    file.write(f"{text}\n".encode())
    console.result(text_of(record), record)
    return 0


def pipelines(options: Options) -> list[Variant]:
    """Return all variants of a level's pipeline; the whole one first."""
    from ...codegen.stages import passes_of
    from ...passes.manager import print_pipeline
    from ...passes.pipelines import LEVELS

    passes = [p for p in passes_of(options) if p.name not in options.disable]
    needed = {*LEVELS["O0"]}
    found = [Variant("all", "", print_pipeline(passes))]
    for name in dict.fromkeys(each.name for each in passes):
        rest = [each for each in passes if each.name != name]
        found.append(Variant("without", name, print_pipeline(rest)))
    last = [i for i, each in enumerate(passes) if each.name not in needed]
    for end in [-1, *last]:
        kept = [p for i, p in enumerate(passes) if i <= end or p.name in needed]
        what = passes[end].name if end >= 0 else "what is needed"
        found.append(Variant("up to", what, print_pipeline(kept)))
    return found


def compiled_variants(args: argparse.Namespace, source: str | bytes) -> list[Variant]:
    """Return all variants, compiled as far as they can be."""
    from ...errors import GravureError
    from ...frontend.programs.compile import compile_source
    from ...passes.base import Observer

    options = options_of(args, slots=args.threads or 1)
    variants = pipelines(options)
    known: dict[str, Variant] = {}
    for number, variant in enumerate(variants, 1):
        tell("variant", number, len(variants))
        start = process_time()
        try:
            variant.compiled = compile_source(
                source, replace(options, passes=variant.pipeline, disable=()),
                shapes=shapes_of(args), dims=dims_of(args), observers=[Observer()],
            )  # fmt: skip
        except (GravureError, AssertionError, TypeError, KeyError) as error:
            if variant.kind == "all":
                raise
            variant.refused = (str(error).strip() or type(error).__name__).splitlines()[0]
            continue
        variant.seconds = process_time() - start
        variant.same_as = known.setdefault(_identity(variant.compiled), variant)
        variant.same_as = None if variant.same_as is variant else variant.same_as
    return variants


def _identity(compiled: Compiled) -> str:
    """Return a digest of the code and the plan, the pipeline's text left out."""
    described = replace(compiled.description, extras={})
    digest = hashlib.sha256(described.to_json().encode())
    for each in compiled.objects:
        digest.update(each)
    return digest.hexdigest()


def measure(args: argparse.Namespace, source: str | bytes, variants: Sequence[Variant]) -> None:
    """Call all that differ in turns."""
    from ...frontend.models.compiled import load_compiled
    from ..inputs import make_inputs

    live = [v for v in variants if v.compiled is not None and v.same_as is None]
    inputs: dict[str, Array] = {}
    for variant in live:
        assert variant.compiled is not None, "what lives is compiled"
        variant.model = load_compiled(variant.compiled, args.threads or 1)
        inputs = inputs or make_inputs(args.input, variant.model.inputs, variant.model.dims, {})
        variant.call = variant.model.bind(inputs)
    wanted = reference(args, source, inputs, live)
    for variant in live:
        assert variant.model is not None, "what lives is loaded"
        variant.error = _difference(variant.model.run(inputs), wanted)
        once = min(variant.block() for _ in range(2))
        variant.calls = max(1, int(BLOCK / PARTS / max(once, 1e-9)))
    one_round = sum(variant.block() * variant.calls * PARTS for variant in live)
    rounds = max(ROUNDS, int(args.seconds / max(one_round, 1e-9)))
    for order in turns(len(live), rounds):
        for index in order:
            live[index].blocks.append(live[index].block())


LARGEST_INTERPRETED = 50_000_000
"""Multiplications up to which the reference interpreter gives the results to compare with."""


def reference(
    args: argparse.Namespace, source: str | bytes, inputs: dict[str, Array], live: Sequence[Variant]
) -> list[Array]:
    """Return results by the interpreter; of a large model, those of the fewest passes."""
    from ...codegen.work import launches_of
    from ...frontend.programs.load import load_program
    from ...ir import interpret
    from ...passes.analysis.cost import largest, total

    first = live[0].compiled
    assert first is not None, "what lives is compiled"
    assert first.program is not None, "what is compiled now has its program"
    sizes = largest(first.program.ranges)
    if total(info.cost for info in launches_of(first.program, sizes)).macs <= LARGEST_INTERPRETED:
        program = load_program(source, shapes=shapes_of(args), dims=dims_of(args))
        if program.level == "graph":
            return interpret(program, list(inputs.values()))
    few = next((v for v in live if v.kind == "up to"), live[0])
    assert few.model is not None, "what lives is loaded"
    return list(few.model.run(inputs))


def _difference(found: Sequence[Array], wanted: Sequence[Array]) -> float:
    worst = 0.0
    for a, b in zip(found, wanted, strict=True):
        if not b.size or a.dtype.kind == "c":
            continue
        wide = a.astype(np.float64), b.astype(np.float64)
        scale = float(np.abs(wide[1]).max()) or 1.0
        worst = max(worst, float(np.abs(wide[0] - wide[1]).max()) / scale)
    return worst


def record_of(args: argparse.Namespace, variants: Sequence[Variant]) -> dict[str, Any]:
    """Return all that was found out."""
    from ..machine import machine, now, versions

    whole = variants[0]
    return {
        "schema": "gravure.ablation/1",
        "model": Path(args.model).name,
        "time": now(),
        "threads": args.threads or 1,
        "level": f"O{args.level}",
        "rounds": len(whole.blocks),
        "variants": [_row(variant, whole) for variant in variants],
        "machine": machine(),
        "versions": versions(),
    }


def _row(variant: Variant, whole: Variant) -> dict[str, Any]:
    """Return one variant as plain data; ratios are its time through that of the whole."""
    row: dict[str, Any] = {"kind": variant.kind, "pass": variant.what}
    compiled = variant.compiled
    if compiled is None:
        return {**row, "needed": variant.refused}
    shown = variant.measured
    versus = Ratio(1.0, 1.0, 1.0) if shown is whole else ratio(shown.blocks, whole.blocks)
    low, high = median_interval(shown.blocks)
    return {
        **row,
        "same_code": variant.same_as is not None,
        "p50": float(np.median(shown.blocks)),
        "interval": [low, high],
        **versus.as_json(),
        "significant": versus.is_significant,
        "workspace_bytes": compiled.description.workspace_bytes,
        "weights_bytes": compiled.description.weights,
        "code_bytes": sum(len(each) for each in compiled.objects),
        "kernels": len(compiled.objects),
        "launches": len(compiled.description.steps),
        "error": shown.error,
        "compile_seconds": variant.seconds,
        "pipeline": variant.pipeline,
    }


HEAD = [
    "", "pass", "time", "of all", "between", "", "workspace", "weights", "code", "launches",
    "error", "compile",
]  # fmt: skip


def text_of(record: dict[str, Any]) -> str:
    """Return the variants as tables, with what the columns mean."""
    rows, needed = [HEAD], []
    for row in record["variants"]:
        if "needed" in row:
            needed.append(f"{row['pass']}: needed: {row['needed']}")
        else:
            rows.append(_cells(row))
    meaning = (
        f"{record['rounds']} rounds in turns; 'of all' is the median ratio to the whole pipeline, "
        "above 1 the pass makes the model faster ('without') or is not enough ('up to'); * marks "
        "what chance does not explain, = the same code; error: against the reference"
    )
    return "\n".join([table(rows, right="23678"), meaning, *needed])


def _cells(row: dict[str, Any]) -> list[str]:
    low, high = row["ratio_interval"]
    mark = "=" if row["same_code"] else "*" if row["significant"] else ""
    sizes = [in_bytes(row[f"{name}_bytes"]) for name in ("workspace", "weights", "code")]
    return [
        row["kind"], row["pass"], in_seconds(row["p50"]), f"{row['ratio']:.3f}",
        f"{low:.3f} to {high:.3f}", mark, *sizes, str(row["launches"]), f"{row['error']:.1e}",
        in_seconds(max(row["compile_seconds"], 1e-9)),
    ]  # fmt: skip
