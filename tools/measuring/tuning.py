"""Measure what can be decided in more than one way, and keep what was faster (`--tune FILE`).

Each decision of a model is tried in the whole model, where caches are as they will be, with all
others as they stand. Two builds run in turns; only launches whose kernels differ are compared.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...codegen.prepare import runs_here
from ...frontend.files.records import Records, with_words
from ...target import Target
from ..errors import UsageError
from ..inputs import make_inputs
from ..machine import machine, now, versions

if TYPE_CHECKING:
    from ...codegen.compiled import Compiled, Options
    from ...passes.analysis.kernels.choices import Question
    from ...runtime.model import Model

GAIN = 0.97
"""A choice must take less than this part of the rule's time to be kept."""
ROUNDS = 5
SECONDS = 0.05
"""How often, and how long each time, a build is run."""

Compiler = Callable[["Options"], "Compiled"]
"""Compile the model in hand with these options, and keep its program."""


@dataclass
class Build:
    """A model with some records, and how long its launches took."""

    compiled: Compiled
    model: Model
    inputs: dict[str, Any]
    kernels: list[str]
    best: list[float]

    @classmethod
    def of(cls, compiled: Compiled, threads: int) -> Build:
        """Load what was compiled, so that it notes times."""
        from ...codegen.profile import profiled
        from ...frontend.models.compiled import load_compiled
        from ...runtime.artifact import launches

        steps = [step.kernel for step in launches(compiled.description.steps)]
        model = load_compiled(profiled(compiled), threads)
        inputs = make_inputs([], model.inputs, model.dims, {})
        return cls(compiled, model, inputs, steps, [float("inf")] * len(steps))

    def measure(self) -> None:
        """Run for a while; keep the least time of each launch."""
        from ...runtime.profile import profile

        found = profile(self.model, self.inputs, seconds=SECONDS, runs=3)
        self.best = [min(pair) for pair in zip(self.best, found.launches, strict=True)]

    def seconds(self, other: Build) -> float:
        """Return the time of launches whose kernels the other has not."""
        rows = zip(self.kernels, self.best, strict=True)
        return sum(time for kernel, time in rows if kernel not in other.kernels)


def tune(
    path: Path, options: Options, threads: int, compile_with: Compiler, say: Callable[[str], None]
) -> str:
    """Return the words of all records, after measuring what the file has none of."""
    from ...passes.analysis.kernels.choices import noted

    target = Target.parse(options.target, options.mattr)
    records = Records.read(path, target) if path.exists() else Records(target.key)
    with noted() as questions:
        compiled = compile_with(recorded(options, records))
    open_ones = [q for q in questions.values() if len(q.candidates) > 1]
    missing = [q for q in open_ones if q.name not in records.found]
    if not missing:
        return records.words
    if not runs_here(target):
        raise UsageError(
            f"--tune: {path} has no record of {missing[0].name}, nor of {len(missing) - 1} others,"
            f" and this machine cannot measure {target}"
        )
    base = Build.of(compiled, threads)
    for question in missing:
        base = _settled(question, base, records, lambda: compile_with(recorded(options, records)))
        say(f"{question.name}: {records.found[question.name]}, by rule {question.chosen}")
    about = {"time": now(), "threads": threads, "machine": machine(), "versions": versions()}
    records.write(path, about)
    return records.words


def recorded(options: Options, records: Records) -> Options:
    """Return the options with what was decided."""
    return replace(options, mattr=with_words(options.mattr, records.words))


def _settled(
    question: Question, base: Build, records: Records, build: Callable[[], Compiled]
) -> Build:
    """Record the fastest choice; return the build that has it."""
    best, chosen = base, question.chosen
    for candidate in question.candidates:
        if candidate != question.chosen:
            records.found[question.name] = candidate
            other = Build.of(build(), base.model.threads)
            for _ in range(ROUNDS):
                best.measure()
                other.measure()
            if other.seconds(best) < GAIN * best.seconds(other):
                best, chosen = other, candidate
    records.found[question.name] = chosen
    return best


def tuned(
    args: argparse.Namespace, options: Options, source: str | bytes, given: Mapping[str, Any]
) -> Options:
    """Return the options with the records of `--tune`; `given` is said of shapes and sizes."""
    from ...frontend.programs.compile import compile_source
    from ...passes.base import Observer

    def compile_with(changed: Options) -> Compiled:
        return compile_source(source, changed, observers=[Observer()], **given)

    words = tune(Path(args.tune), options, args.threads or 1, compile_with, args.console.say)
    return replace(options, mattr=with_words(options.mattr, words))
