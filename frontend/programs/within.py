"""Ways to compile a program so that its runs need less memory, the fastest code first.

as asked for                  kernels are ordered so that little lives at one time
computed again                cheap values are computed again where they are used late
weights as they are           no packed and no transformed copies, which are larger
on the host                   what rests for long lies in the memory of a GPU's host meanwhile
layers again                  of what a way back needs little is kept, the rest is made once more
few threads                   kernels need scratch for few threads only, then for one

Each is tried alone and with the ones before it. What is computed stays the same, but for the order
of sums where weights are not packed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...codegen.aot.manifest import peak_bytes
from ...codegen.compiled import Compiled, Options
from ...errors import Advice, CompileError
from ...passes.analysis.cost import largest
from ...passes.analysis.memory.chart import memory_map
from ...passes.pipelines import pipeline_of
from ...target import Target

AGAIN, PLAIN = "cheap values are computed again", "weights stay as they are"
LAYERS = "layers are computed again"
HOST = "what rests for long lies on the host"
FEW = (8, 1)
"""Threads that are fewer."""
DISTANCE = 4
"""What is used so many operations later is computed again."""
COPIES = ("winograd", "block-weights", "pack-weights")
"""The passes that lay weights out anew, in more bytes."""
NAMED = 6
"""How many tensors an error names."""


def ways(options: Options) -> Iterator[tuple[str, Options]]:
    """Give options by what they do to need less memory; a pipeline of the user's own stays."""
    for slots in sorted({options.slots, *(few for few in FEW if few < options.slots)})[::-1]:
        threads = "" if slots == options.slots else f"at most {slots} threads run it"
        for words, made in _pipelines(replace(options, slots=slots)):
            yield ", ".join(filter(None, (words, threads))), made


def _pipelines(options: Options) -> Iterator[tuple[str, Options]]:
    yield "", options
    if options.passes:
        return
    passes = pipeline_of(options.level, options.dtype).split(",")
    copies = tuple(name for name in COPIES if name in passes)
    if Target.parse(options.target, options.mattr).can.swap:
        yield HOST, replace(options, swap=True)
    if options.numerics != "fast" or options.use_lib:  # a pipeline of its own says neither
        if copies:
            yield PLAIN, replace(options, disable=(*options.disable, *copies))
        return
    place, plain = passes.index("fuse"), (*options.disable, *copies)
    for words, layers in ((AGAIN, ""), (LAYERS, " layers")):
        pipeline = [
            *passes[:place],
            f"rematerialise{{distance={DISTANCE}{layers}}}",
            *passes[place:],
        ]
        again = replace(options, passes=",".join(pipeline))
        yield words, again
        if copies:
            if words == AGAIN:
                yield PLAIN, replace(options, disable=plain)
            yield f"{words}, {PLAIN}", replace(again, disable=plain)


def check_size(compiled: Compiled, most: int) -> None:
    """Raise `CompileError` if a library has more bytes than it may."""
    if compiled.plan is not None or compiled.executable is not None:
        raise CompileError(f"target {compiled.target}: only libraries of processors have a size")
    found = compiled.library().seal.file_size
    if found > most:
        weights = compiled.description.weights if compiled.options.embed else 0
        raise CompileError(
            f"the library has {found} bytes, {weights} of them weights, expected at most {most}",
            hint=Advice(
                "gravure.size says what they are; embed=False or a dtype of fewer bits helps",
                "gravure size says what they are; --weights file or --dtype helps",
            ),
        )


def too_large(compiled: Compiled, limit: int) -> CompileError:
    """Return the error of a program that needs more memory in all ways: this is the smallest."""
    program, description = compiled.program, compiled.description
    assert program is not None, "what is compiled now has its program"
    needed = peak_bytes(description)
    chart = memory_map(program.main, largest(program.ranges))
    at = chart["peak_at"]
    there = [row for row in chart["buffers"] if row["first"] <= at <= row["last"]]
    there.sort(key=lambda row: -row["bytes"])
    rows = [
        f"{row['bytes']} bytes: {row['type']}{' of ' if row['name'] else ''}{row['name']}"
        for row in there[:NAMED]
    ]
    if len(there) > NAMED:
        rows.append(f"and {len(there) - NAMED} smaller ones")
    arguments = needed - description.workspace_bytes - description.weights
    lines = "\n  ".join(
        [
            f"{description.weights} bytes: weights",
            f"{arguments} bytes: arguments and results",
            f"{description.workspace_bytes} bytes: workspace, of which live at launch {at}:",
            *(f"  {row}" for row in rows),
        ]
    )
    return CompileError(
        f"a run needs {needed} bytes of memory at least, expected at most {limit}\n  {lines}",
        hint=Advice(
            "smaller dimensions (dims=) or weights of fewer bits (dtype=) need less",
            "smaller dimensions (--dim) or weights of fewer bits (--dtype) need less",
        ),
    )
