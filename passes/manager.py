"""Find passes by name and run pipelines of them.

`passes/constant_fold.py` is the pass `constant-fold`: there is no list to keep. A pipeline is
a text such as `canonicalize,cse,constant-fold{limit=8}`, or a sequence of such texts.

    >>> print_pipeline(parse_pipeline("cse, constant-fold{limit=8}"))
    'cse,constant-fold{limit=8}'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import perf_counter
from typing import TypeVar

from xdsl.dialects.builtin import ModuleOp

from .. import extensions, knobs, plugins
from ..counting import tell
from ..errors import CompileError, GravureError
from ..ir import REGISTRY, InvalidModuleError, Program, verify
from .base import Observer, Pass, PassError, PipelineError, Report, Step, count_operations
from .instruments import from_environment
from .pipelines import DESCENTS
from .reproduce import Snapshot, write_reproducer

_DEFINES_PASS = re.compile(r"^class \w+\(Pass\):$", re.MULTILINE)
_FIRST_LINE = re.compile(r'\A"""(.*)')


def available() -> dict[str, str]:
    """Return a line about each pass by its name; of gravure's own nothing is imported."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        first = _FIRST_LINE.match(text)
        if first and _DEFINES_PASS.search(text):
            found[path.stem.replace("_", "-")] = first[1].removesuffix('"""')
    plugins.load_installed()
    lines = {name: (row.__doc__ or "").partition("\n")[0] for name, row in OUTSIDE.items()}
    return {**found, **dict(sorted(lines.items()))}


PassT = TypeVar("PassT", bound=type[Pass])
OUTSIDE: dict[str, type[Pass]] = {}
"""Passes from outside, by name."""


def register_pass(cls: PassT) -> PassT:
    """Enter a pass from outside under its name (a class decorator)."""
    if cls.name in OUTSIDE or _has_file(cls.name):
        raise extensions.taken("pass", cls.name)
    OUTSIDE[cls.name] = cls
    extensions.note("pass", cls.name, cls, lambda: _forget(cls.name))
    return cls


def _forget(name: str) -> None:
    del OUTSIDE[name]


def _has_file(name: str) -> bool:
    stem = name.replace("-", "_")
    return bool(re.fullmatch(r"\w+", stem)) and (Path(__file__).parent / f"{stem}.py").is_file()


def load(name: str) -> type[Pass]:
    """Return the pass of a name: the one that its file defines, or one from outside.

    Raises `PipelineError` where there is none.
    """
    found = _own(name)
    if found is None:
        if name not in OUTSIDE and not (plugins.load_installed() and name in OUTSIDE):
            raise _unknown(name)
        return OUTSIDE[name]
    return found


@cache
def _own(name: str) -> type[Pass] | None:
    """Return the pass that the file of a name defines; None where there is no such file."""
    if not _has_file(name):
        return None
    stem = name.replace("-", "_")
    module = import_module(f"{__package__}.{stem}")
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Pass)
        and value is not Pass
        and value.__module__ == module.__name__
    ]
    if not found:
        raise _unknown(name)
    assert len(found) == 1, f"passes/{stem}.py defines {len(found)} passes, expected one"
    return found[0]


def _unknown(name: str) -> PipelineError:
    names = available()
    close = get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"passes are {', '.join(names)}"
    return PipelineError(f"pass {name!r} is unknown", hint=hint)


def parse_pipeline(pipeline: str | Iterable[str | Pass]) -> tuple[Pass, ...]:
    """Return the passes of a pipeline, or raise `PipelineError`."""
    if isinstance(pipeline, str):
        return tuple(load(name).from_options(options) for name, options in _items(pipeline))
    passes: list[Pass] = []
    for item in pipeline:
        passes += (item,) if isinstance(item, Pass) else parse_pipeline(item)
    return tuple(passes)


def print_pipeline(passes: Iterable[Pass]) -> str:
    """Return the text that `parse_pipeline` reads."""
    return ",".join(map(str, passes))


_ITEM = re.compile(r"\s*([\w-]+)\s*(?:\{((?:[^{}\"]|\"(?:[^\"\\]|\\.)*\")*)\})?\s*(,|\Z)")
_OPTION = re.compile(r'\s*([\w-]+)(?:=((?:"(?:[^"\\]|\\.)*"|[^\s"])*))?(?:\s+|\Z)')


def _items(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Give the name and the options of each pass in a text."""
    position = 0
    while text.strip() and position < len(text):
        item = _ITEM.match(text, position)
        if item is None:
            raise PipelineError(
                f"pipeline {text!r} cannot be read at {text[position:].strip()!r}, "
                "expected names parted by commas, with options in braces"
            )
        yield item[1], _option_texts(item[1], item[2] or "")
        position = item.end()


def _option_texts(name: str, text: str) -> dict[str, str]:
    options: dict[str, str] = {}
    position = 0
    while position < len(text.rstrip()):
        option = _OPTION.match(text, position)
        if option is None:
            raise PipelineError(
                f"options of {name} cannot be read at {text[position:].strip()!r}, "
                "expected key=value parted by blanks"
            )
        options[option[1]] = option[2] or ""
        position = option.end()
    return options


def run(
    pipeline: str | Sequence[str | Pass],
    program: Program | ModuleOp,
    *,
    observers: Sequence[Observer] | None = None,
    verify_each: bool = True,
    disable: Sequence[str] = (),
    reproducer: Path | None = None,
) -> Report:
    """Run a pipeline on a program in place and return what was recorded.

    Observers are those that the environment asks for if none are given. Passes named in
    `disable` are left out. With `verify_each` off, the module is verified after the last pass
    only, unless GRAVURE_VERIFY is set. A pass that fails leaves a file that replays the
    failure (at `reproducer`, or in the directory for temporary files), and is named by the
    `PassError` that is raised.
    """
    whole = program if isinstance(program, Program) else Program(program)
    passes = _enabled(parse_pipeline(pipeline), disable)
    watching = from_environment() if observers is None else observers
    runner = _Runner(passes, whole, watching, verify_each or knobs.VERIFY.is_on(), reproducer)
    return runner.run()


def _enabled(passes: Sequence[Pass], disable: Sequence[str]) -> tuple[Pass, ...]:
    off = {load(name).name for name in disable}
    return closed([p for p in passes if p.name not in off]) if off else tuple(passes)


def closed(passes: Sequence[Pass]) -> tuple[Pass, ...]:
    """Return passes without those that take something away which none of them puts back."""
    names = {each.name for each in passes}
    return tuple(each for each in passes if not each.UNTIL or each.UNTIL in names)


class _Runner:
    """One run of a pipeline on a program."""

    def __init__(
        self,
        passes: Sequence[Pass],
        program: Program,
        observers: Sequence[Observer],
        verify_each: bool,
        reproducer: Path | None,
    ) -> None:
        self.passes, self.program, self.observers = passes, program, observers
        self.verify_each, self.reproducer = verify_each, reproducer
        self.report = Report()
        self.snapshot = Snapshot.of(program)
        self.names = count_operations(program.module)
        """How many operations there are, by name."""
        self.idle: set[str] = set()
        """Passes that left the program, as it is now, as it was: they would do so again."""

    def run(self) -> Report:
        """Run all passes."""
        start = perf_counter()
        for observer in self.observers:
            observer.start(self.program)
        for index, rewrite in enumerate(self.passes, 1):
            tell("pass", index, len(self.passes))
            step = Step(index, rewrite, ops_before=self.names.total())
            self.step(step, check=self.verify_each or index == len(self.passes))
        self.report.seconds = perf_counter() - start
        for observer in self.observers:
            observer.finish(self.report)
        return self.report

    def step(self, step: Step, *, check: bool) -> None:
        """Run one pass, verify what it leaves, and record it."""
        self.report.steps.append(step)
        for observer in self.observers:
            observer.before(step, self.program)
        peak, start = getrusage(RUSAGE_SELF).ru_maxrss, perf_counter()
        self.apply(step)
        applied = perf_counter()
        if check:
            self.verify(step)
        step.seconds, step.verify_seconds = applied - start, perf_counter() - applied
        step.memory = (getrusage(RUSAGE_SELF).ru_maxrss - peak) * 1024
        step.ops_after = self.names.total()
        for observer in self.observers:
            observer.after(step, self.program)

    def apply(self, step: Step) -> None:
        """Apply the pass; an exception that is not the user's becomes a `CompileError`."""
        rewrite, level = step.rewrite, self.program.level
        if rewrite.LEVEL not in ("", level):
            raise CompileError(
                f"pass {rewrite.name} works on level {rewrite.LEVEL}, "
                f"the program is on level {level}",
                hint=", ".join(f"{name} comes before it" for name, made in DESCENTS.items()
                               if made == rewrite.LEVEL),
            )  # fmt: skip
        rewrite.counts.clear()
        if str(rewrite) in self.idle or not self.concerns(rewrite):
            return
        try:
            rewrite.apply(self.program)
            self.note(rewrite)
        except GravureError:
            raise
        except Exception as error:
            self.fail(step, f"{type(error).__name__}: {error}", error)

    def concerns(self, rewrite: Pass) -> bool:
        """Say whether there are operations that a pass is for."""
        found = (REGISTRY[name] for name in self.names if name in REGISTRY)
        return not rewrite.FOR or any(issubclass(op, rewrite.FOR) for op in found)

    def note(self, rewrite: Pass) -> None:
        """Count the operations anew if the pass changed anything."""
        if rewrite.changed:
            self.names = count_operations(self.program.module)
            self.idle &= rewrite.KEEPS
        if not rewrite.changed or rewrite.name in rewrite.KEEPS:
            self.idle.add(str(rewrite))

    def verify(self, step: Step) -> None:
        """Verify the module; a fault is a failure of the pass."""
        try:
            verify(self.program.module)
        except InvalidModuleError as error:
            self.fail(step, f"it left IR that does not verify:\n{error}", error)

    def fail(self, step: Step, reason: str, cause: Exception) -> None:
        """Write the reproducer and raise the error that names it."""
        rest = self.passes[step.index - 1 :]
        before = self.snapshot.replay(self.passes[: step.index - 1])
        path = write_reproducer(before, print_pipeline(rest), step.name, self.reproducer)
        owner = extensions.owner_of(type(step.rewrite)) or "gravure"
        found = plugins.blamed(cause)
        where = f" ({found[1]})" if found else ""
        error = PassError(
            f"pass {step.name} failed: {reason}{where}",
            location=self.program.source,
            hint=f"this is a mistake in {owner}; {path} replays it",
        )
        error.reproducer = path
        raise error from cause
