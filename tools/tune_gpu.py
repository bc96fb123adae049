"""Measure which forms of kernels are fastest on a GPU, and keep it for all builds.

    python -m gravure.tools.tune_gpu                       # on gpu:0, into gravure/measured.json
    python -m gravure.tools.tune_gpu --only bf16 --jobs 8 -o FILE   # 8 processes compile first
    python -m gravure.tools.tune_gpu --device emulated --small -o FILE     # try it without a GPU

A record is for one architecture, template, element type and class of sizes (powers of two): the
tile of a product, the threads of a row, the warps and keys of an attention, and the keys that a
block has where few queries share them. Builds read the file that is committed, and never need a
GPU. What is not faster than the rule's by more than noise is not chosen, and of what is
as short as its launch nothing is kept. What was measured before
stays, unless it is measured again; equal times give equal bytes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeAlias

from ..codegen.compile import Compiled, Options
from ..errors import GravureError
from ..frontend.models.gpu import DeviceModel
from ..frontend.programs.compile import compile_source
from ..passes.analysis.kernels.choices import Question, noted
from ..runtime.devices import open_driver
from ..runtime.files import replacing
from ..runtime.gpu.device_array import DeviceArray
from ..runtime.gpu.driver import Driver
from ..target import MEASURED
from .bench_gpu import Bench, random_arrays

SCHEMA = "gravure.measured/1"
SECONDS = 0.06
"""How long each form is measured for."""
SHORTEST = 40e-6
"""Seconds of a model below which its launch is what was measured: nothing is kept of it."""
GAIN = 0.97
"""A form must take less than this part of the time of the rule's to be chosen."""
Sizes: TypeAlias = tuple[int, int, int, int]
KINDS = ("f32", "f16", "bf16", "f64")
SIZES = (
    *((1, n, n, n) for n in (256, 512, 1024, 2048, 4096, 8192)),
    *((1, m, n, k) for m in (16, 64, 128, 512) for n, k in ((1024, 1024), (4096, 4096))),
    *((1, 512, 3072, 768), (1, 512, 768, 3072), (1, 4096, 1024, 256), (1, 256, 1024, 8192)),
    *((12, 128, 128, 64), (12, 128, 64, 128), (96, 512, 512, 64), (96, 512, 64, 512)),
)
"""Batch, rows, columns and depth of the products that are measured."""
ROWS = tuple((rows, length) for rows in (16, 512, 8192) for length in (64, 256, 1024, 4096, 16384))
"""Rows, and how long they are."""
HEADS = (
    *((h, s, s, d) for h, s in ((12, 128), (16, 512), (32, 2048), (16, 8192)) for d in (64, 128)),
    *((h, 1, t, d) for h in (8, 32) for t in (1024, 4096, 16384) for d in (64, 128)),
)
"""Heads, queries, keys and depth of attentions."""
SMALL = (
    ((1, 128, 256, 64), (2, 32, 64, 32)),
    ((4, 512), (40, 2)),
    ((2, 32, 64, 32), (1, 1, 600, 8)),
)
"""All three, for the emulator."""


def texts(kinds: Sequence[str], *, small: bool) -> Iterator[str]:
    """Give the graph texts of all that is measured."""
    sizes, rows, heads = SMALL if small else (SIZES, ROWS, HEADS)
    for kind in kinds:
        yield from products(sizes, kind)
        for count, length in rows:
            for axis in (1, 0):
                made = f"  y = softmax(x, axis={axis})"
                yield f"model rows(x: {kind}[{count}, {length}]) -> (y) {{\n{made}\n}}"
        if kind != "f64":
            yield from map(partial(attention, kind), heads)


def products(sizes: Sequence[Sizes], kind: str) -> Iterator[str]:
    """Give products whose right operand lies either way."""
    for batch, m, n, k in sizes:
        head = f"{batch}, " if batch > 1 else ""
        order = "0, 2, 1" if batch > 1 else "1, 0"
        for right, y in ((f"{k}, {n}", "y"), (f"{n}, {k}", f"transpose(y, order=[{order}])")):
            operands = f"x: {kind}[{head}{m}, {k}], y: {kind}[{head}{right}]"
            yield f"model product({operands}) -> (z) {{\n  z = x @ {y}\n}}"


def attention(kind: str, sizes: Sizes) -> str:
    """Return an attention."""
    heads, queries, keys, depth = sizes
    q, k = f"{kind}[{heads}, {queries}, {depth}]", f"{kind}[{heads}, {keys}, {depth}]"
    scores = "q @ transpose(k, order=[0, 2, 1])"
    head = f"model attention(q: {q}, k: {k}, v: {k}) -> (y)"
    return f"{head} {{\n  y = softmax({scores}, axis=2) @ v\n}}"


class Tuner:
    """Measures models of a kernel or two on one device."""

    def __init__(self, driver: Driver, say: Any) -> None:
        self.bench = Bench(driver, target_of(driver), SECONDS)
        self.driver, self.say = driver, say
        self.records: dict[str, dict[str, Any]] = {}
        self._given: tuple[str, list[DeviceArray]] = "", []

    def tune(self, text: str, question: Question) -> None:
        """Measure a decision in a model, and keep its record."""
        record = self.measured(text, question)
        if record is not None:
            self.records[question.name] = record
        self.say(f"{question.name}: {record or 'as long as a launch'}")

    def measured(self, text: str, question: Question) -> dict[str, Any] | None:
        """Return the record of a decision: the choice, and the microseconds of all."""
        times = {each: self.time(text, question, each) for each in question.candidates}
        if max(times.values()) < SHORTEST:
            return None
        best = min(times, key=lambda each: (times[each], each))
        if times[best] >= GAIN * times[question.chosen]:
            best = question.chosen
        micro = {str(each): float(f"{1e6 * seconds:.4g}") for each, seconds in times.items()}
        return {"choice": best, "rule": question.chosen, "microseconds": micro}

    def time(self, text: str, question: Question, choice: int) -> float:
        """Return the seconds of a model with one choice."""
        compiled = compiled_so(text, self.bench.target, said(question, choice))
        with closing(DeviceModel.of(compiled, self.driver)) as model:
            run = model.bind(self.arrays(text, model))
            return self.bench.time(run, self.driver.seconds)

    def arrays(self, text: str, model: DeviceModel) -> list[DeviceArray]:
        """Return random inputs of a model; all its forms have the same."""
        if self._given[0] != text:
            for each in self._given[1]:
                each.close()
            made = [DeviceArray.of(self.driver, array) for array in random_arrays(model)]
            self._given = text, made
        return self._given[1]


def target_of(driver: Driver) -> str:
    """Return what code for a device is compiled for."""
    return f"cuda:{driver.architecture}"


def said(question: Question, choice: int) -> str:
    """Return the words of the target that make a decision."""
    return f"{question.name}={choice}"


def compiled_so(text: str, target: str, words: str) -> Compiled:
    """Compile a model with some decisions made."""
    return compile_source(text.encode(), Options(target=target, mattr=words, cache=bool(words)))


def asked(text: str, target: str) -> tuple[str, list[Question]]:
    """Return a model and what is to be decided in it."""
    with noted() as questions:
        compiled_so(text, target, "")
    return text, [each for each in questions.values() if len(each.candidates) > 1]


def compiled_ahead(form: tuple[str, str, str]) -> None:
    """Compile a model into the cache, where another process finds it."""
    compiled_so(*form)


def each_once(found: Iterable[tuple[str, list[Question]]]) -> Iterator[tuple[str, Question]]:
    """Give each decision once, with the first model in which it is asked."""
    known: set[str] = set()
    for text, questions in found:
        for question in questions:
            if question.name not in known:
                known.add(question.name)
                yield text, question


def decisions(texts: Iterator[str], target: str, jobs: int) -> Iterator[tuple[str, Question]]:
    """Give all decisions with a model for each; several processes compile its forms before."""
    if jobs == 1:
        yield from each_once(asked(text, target) for text in texts)
        return
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        found = [*each_once(pool.map(partial(asked, target=target), texts, chunksize=4))]
        forms = [(text, target, said(q, choice)) for text, q in found for choice in q.candidates]
        for _ in pool.map(compiled_ahead, forms, chunksize=4):
            pass  # an error of a form is raised here
    yield from found


def merged(old: dict[str, Any], driver: Driver, records: dict[str, Any]) -> dict[str, Any]:
    """Return what a file shall hold, with new records in place of old ones."""
    every = dict(old.get("records", {}))
    about = {**old.get("devices", {}), driver.architecture: driver.name.partition(" (")[0]}
    every[driver.architecture] = {**every.get(driver.architecture, {}), **records}
    return {"schema": SCHEMA, "devices": about, "records": every}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and write the records."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="gpu:0", metavar="NAME", help="gpu:N or emulated")
    parser.add_argument("--small", action="store_true", help="sizes for the emulator")
    parser.add_argument("--only", default="", metavar="KIND", help="one element type")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes that compile")
    parser.add_argument("-o", "--output", type=Path, default=MEASURED, metavar="FILE")
    args = parser.parse_args(arguments)
    try:
        tuner = Tuner(open_driver(args.device), lambda line: print(line, flush=True))
    except GravureError as error:
        return failed(error)
    kinds = [kind for kind in KINDS if args.only in ("", kind)]
    try:
        models = texts(kinds, small=args.small)
        for text, question in decisions(models, tuner.bench.target, args.jobs):
            tuner.tune(text, question)
    except GravureError as error:
        return failed(error)
    finally:
        keep(args.output, tuner)  # also of a tuning that was stopped
    return 0


def failed(error: GravureError) -> int:
    """Say what went wrong; return the exit status."""
    print(f"tune_gpu: {error}", file=sys.stderr)
    return error.exit_status


def keep(path: Path, tuner: Tuner) -> None:
    """Write what was measured, beside what the file has."""
    old = json.loads(path.read_text("utf-8")) if path.exists() else {}
    data = merged(old, tuner.driver, tuner.records)
    with replacing(path) as file:
        file.write(f"{json.dumps(data, indent=1, sort_keys=True)}\n".encode())


if __name__ == "__main__":
    sys.exit(main())
