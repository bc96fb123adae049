"""Measure what GPUs are judged by: bandwidth, products, attention, launches, whole models.

    python -m gravure.tools.bench_gpu                     # on gpu:0, a Markdown table
    python -m gravure.tools.bench_gpu --models DIR --json figures.json
    python -m gravure.tools.bench_gpu --device emulated --small     # try the tool without a GPU

Every result is compared with numpy on a sample before its time is believed. Operands are random,
for zeros are faster. Where torch is installed it computes the same in the same process, on the
same device. `DIR` has NAME.onnx and NAME.inputs.npz. A case that fails is a row that says why.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ..codegen.compile import Options
from ..errors import GravureError
from ..frontend.compile import compile_source
from ..frontend.gpu import DeviceModel
from ..runtime.arguments import numpy_dtype
from ..runtime.buffer import Array
from ..runtime.device_array import DeviceArray
from ..runtime.devices import open_driver
from ..runtime.gpu_driver import Driver

SECONDS = 0.3
"""How long each figure is measured for."""
CHAIN = 100
"""How many launches the model has that shows what a launch costs."""
HEAD = "| case | gravure | torch | unit | aim | error |"


@dataclass(frozen=True)
class Case:
    """One model, and what its time stands for."""

    name: str
    text: str
    work: float
    """Operations, or bytes, of a run; 0 if the figure is the time."""
    unit: str
    aim: str
    sample: Callable[[Sequence[Array], Sequence[Array]], tuple[Array, Array]]
    """Return some of the results, and what they should be, from inputs and outputs."""
    torch: str = ""
    """The same in torch, of the inputs x, y, z."""


@dataclass(frozen=True)
class Row:
    """What was measured of one case."""

    name: str
    gravure: float
    torch: float | None
    unit: str
    aim: str
    error: float
    why: str = ""

    def __str__(self) -> str:
        if self.why:
            return f"| {self.name} | {self.why} | | {self.unit} | {self.aim} | |"
        torch = "-" if self.torch is None else f"{self.torch:.4g}"
        figures = f"{self.gravure:.4g} | {torch} | {self.unit} | {self.aim} | {self.error:.1e}"
        return f"| {self.name} | {figures} |"


def wide(array: Array) -> Array:
    """Return numbers in f64."""
    return array.astype(np.float64)


def first_rows(function: Callable[..., Array], count: int = 8) -> Any:
    """Return a sample of the first rows, which `function` computes from those of the inputs."""

    def sample(inputs: Sequence[Array], outputs: Sequence[Array]) -> tuple[Array, Array]:
        return wide(outputs[0][:count]), function(*(wide(each[:count]) for each in inputs))

    return sample


def softmax(x: Array) -> Array:
    """Return the softmax of the last axis."""
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    found: Array = powers / powers.sum(axis=-1, keepdims=True)
    return found


def product_sample(inputs: Sequence[Array], outputs: Sequence[Array]) -> tuple[Array, Array]:
    """Return some rows of a product."""
    x, y = inputs
    rows = np.linspace(0, len(x) - 1, 8).astype(int)
    return wide(outputs[0][rows]), wide(x[rows]) @ wide(y)


def attention_sample(inputs: Sequence[Array], outputs: Sequence[Array]) -> tuple[Array, Array]:
    """Return some rows of attention, of the first and last head."""
    q, k, v = inputs
    rows = np.linspace(0, q.shape[1] - 1, 4).astype(int)
    found, wanted = [], []
    for head in (0, len(q) - 1):
        scores = wide(q[head, rows]) @ wide(k[head]).T / math.sqrt(q.shape[2])
        found.append(wide(outputs[0][head, rows]))
        wanted.append(softmax(scores) @ wide(v[head]))
    return np.stack(found), np.stack(wanted)


def cases(small: bool) -> list[Case]:
    """Return all cases, of sizes for a GPU or for the emulator."""
    rows, width = (64, 256) if small else (65536, 4096)
    size = rows * width
    big = 64 if small else 8192
    heads, length, depth = (2, 64, 32) if small else (16, 16384, 128)
    flops = 4.0 * heads * length * length * depth
    shapes = f"x: f32[{rows}, {width}]"
    pair = f"x: f32[{rows}, {width}], y: f32[{rows}, {width}]"
    steps = [f"  a{n + 1} = softmax(a{n}, axis={n % 2})" for n in range(CHAIN)]
    chain = "\n".join(["  a0 = x", *steps[:-1], f"  y = softmax(a{CHAIN - 1}, axis=1)"])
    mib = f"{4 * size >> 20} MiB"
    found = [
        Case(
            f"map: x * y + 1, {mib} each",
            f"model map({pair}) -> (z) {{\n  z = x * y + 1\n}}",
            12.0 * size,
            "TB/s",
            "4.0",
            first_rows(lambda x, y: x * y + 1),
            "x * y + 1",
        ),
        Case(
            f"sum of rows, {mib}",
            f"model total({shapes}) -> (z) {{\n  z = sum(x, axes=[1])\n}}",
            4.0 * size,
            "TB/s",
            "4.0",
            first_rows(lambda x: x.sum(axis=1)),
            "x.sum(1)",
        ),
        Case(
            f"softmax of rows, {mib}",
            f"model normal({shapes}) -> (z) {{\n  z = softmax(x, axis=1)\n}}",
            8.0 * size,
            "TB/s",
            "4.0",
            first_rows(softmax),
            "x.softmax(1)",
        ),
    ]
    for kind, aim in (("bf16", "700 (790)"), ("f16", ""), ("f32", "")):
        found.append(
            Case(
                f"product of {big} cubed, {kind}",
                f"model product(x: {kind}[{big}, {big}], y: {kind}[{big}, {big}]) -> (z) {{\n"
                "  z = x @ y\n}",
                2.0 * big**3,
                "TFLOP/s",
                aim,
                product_sample,
                "x @ y",
            )
        )
    shape = f"bf16[{heads}, {length}, {depth}]"
    found.append(
        Case(
            f"attention, {heads} heads, {length} long, {depth} deep, bf16",
            f"model attend(x: {shape}, y: {shape}, z: {shape}) -> (w) {{\n"
            f"  s = (x @ transpose(y, order=[0, 2, 1])) * {1 / math.sqrt(depth)!r}\n"
            "  w = softmax(s, axis=2) @ z\n}",
            flops,
            "TFLOP/s",
            "450 (600)",
            attention_sample,
            "torch.nn.functional.scaled_dot_product_attention(x[None], y[None], z[None])",
        )
    )
    found.append(
        Case(
            f"{CHAIN} launches, one after the other",
            f"model chain(x: f32[32, 32]) -> (y) {{\n{chain}\n}}",
            0,
            "us",
            "",
            first_rows(lambda x: np.full((8, 32), 1 / 32), 8),
        )
    )
    return found


def random_arrays(model: DeviceModel, seed: int = 0) -> list[Array]:
    """Return normal random numbers for the inputs of a model without symbolic dimensions."""
    random = np.random.default_rng(seed)
    return [
        random.standard_normal(info.shape_for({}), np.float32).astype(numpy_dtype(info.dtype))
        for info in model.inputs
    ]


class Bench:
    """Measures on one device."""

    def __init__(self, driver: Driver, target: str) -> None:
        self.driver = driver
        self.target = target
        self.torch = import_module("torch") if find_spec("torch") else None
        if self.torch is not None and not self.torch.cuda.is_available():
            self.torch = None

    def model(self, source: str | bytes) -> DeviceModel:
        """Return a model on the device."""
        return DeviceModel.of(compile_source(source, Options(target=self.target)), self.driver)

    def time(self, run: Callable[[], object]) -> float:
        """Return the seconds of a run, the device's time, as the best of some rounds."""
        once = self.driver.seconds(run)
        once = min(once, self.driver.seconds(run))
        count = max(1, min(1000, int(SECONDS / 5 / max(once, 1e-6))))

        def several() -> None:
            for _ in range(count):
                run()

        return min(self.driver.seconds(several) / count for _ in range(5 if count > 1 else 1))

    def case(self, case: Case) -> Row:
        """Measure one case; a failure becomes a row."""
        try:
            with closing(self.model(case.text.encode())) as model:
                return self._measure(case, model)
        except GravureError as error:
            why = str(error).partition("\n")[0]
            return Row(case.name, 0, None, case.unit, case.aim, 0, why)

    def _measure(self, case: Case, model: DeviceModel) -> Row:
        arrays = random_arrays(model)
        run = model.bind([DeviceArray.of(self.driver, array) for array in arrays])
        results = [each.numpy() for each in run()]
        found, wanted = case.sample(arrays, results)
        error = float(np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-30))
        seconds = self.time(run)
        torch = None if self.torch is None or not case.torch else self._torch(case, arrays)
        return Row(case.name, figure(case, seconds), torch, case.unit, case.aim, error)

    def _torch(self, case: Case, arrays: Sequence[Array]) -> float:
        """Return torch's figure."""
        torch = self.torch
        assert torch is not None
        kinds = {"bfloat16": torch.bfloat16}
        names = {"torch": torch}
        for name, array in zip("xyz", arrays, strict=False):
            plain = array.astype(np.float32) if array.dtype.name in kinds else array
            moved = torch.from_numpy(plain).cuda()
            names[name] = moved.to(kinds.get(array.dtype.name, moved.dtype))
        code = compile(case.torch, case.name, "eval")

        def run() -> None:
            eval(code, names)

        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        best = math.inf
        for _ in range(10):
            start.record()
            for _ in range(5):
                run()
            end.record()
            torch.cuda.synchronize()
            best = min(best, start.elapsed_time(end) * 1e-3 / 5)
        return figure(case, best)

    def copy(self, small: bool) -> Row:
        """Measure copying on the device, which bounds what else can move."""
        size = 1 << (16 if small else 30)
        source, target = (DeviceArray.empty(self.driver, (size,), "u8") for _ in range(2))
        seconds = self.time(lambda: self.driver.copy(target.address, source.address, size))
        return Row(f"copy of {size >> 20} MiB", 2e-12 * size / seconds, None, "TB/s", "", 0)

    def launching(self, case: Case) -> list[Row]:
        """Measure the processor's time to begin a run of many launches, and all of its time."""
        try:
            with closing(self.model(case.text.encode())) as model:
                x = DeviceArray.of(self.driver, random_arrays(model)[0])
                run = model.bind([x])
                run()
                self.driver.wait()
                start = perf_counter()
                run()
                begun = perf_counter() - start
                self.driver.wait()
                whole = self.time(run)
                count = len(model.plan.launches)
        except GravureError as error:
            return [Row(case.name, 0, None, "us", "10", 0, str(error).partition("\n")[0])]
        return [
            Row(f"begin {count} launches", begun * 1e6, None, "us", "10", 0),
            Row(f"one of {count} launches", whole / count * 1e6, None, "us", "", 0),
        ]

    def file(self, path: Path) -> Row:
        """Measure a model in a file on the inputs beside it."""
        name, unit = path.stem, "ms"
        try:
            with closing(self.model(str(path))) as model:
                given = np.load(path.with_suffix("").with_suffix(".inputs.npz"))
                arrays = [given[info.name] for info in model.inputs]
                run = model.bind([DeviceArray.of(self.driver, array) for array in arrays])
                results = [each.numpy() for each in run()]
                seconds = self.time(run)
        except (GravureError, OSError, KeyError) as error:
            return Row(name, 0, None, unit, "", 0, str(error).partition("\n")[0])
        return Row(name, seconds * 1e3, None, unit, "", reference_error(path, results))


def reference_error(path: Path, results: Sequence[Array]) -> float:
    """Return the largest difference to the results beside a model, over their largest."""
    place = path.with_suffix("").with_suffix(".ref.npz")
    if not place.is_file():
        return math.nan
    with np.load(place) as wanted:
        pairs = [(wide(results[n]), wide(wanted[name])) for n, name in enumerate(wanted.files)]
    return max(float(np.abs(x - y).max() / max(np.abs(y).max(), 1e-30)) for x, y in pairs)


def figure(case: Case, seconds: float) -> float:
    """Return what a time stands for."""
    return 1e-12 * case.work / seconds if case.work else seconds * 1e6


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="gpu:0", metavar="NAME", help="gpu:N or emulated")
    parser.add_argument("--target", default="", help="what to compile for (the device's own)")
    parser.add_argument("--small", action="store_true", help="sizes for the emulator")
    parser.add_argument("--only", default="", metavar="WORD", help="cases whose name has it")
    parser.add_argument("--models", type=Path, metavar="DIR", help="models to measure as well")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures as JSON")
    args = parser.parse_args(arguments)
    try:
        driver = open_driver(args.device)
    except GravureError as error:
        print(f"bench_gpu: {error}", file=sys.stderr)
        return error.exit_status
    bench = Bench(driver, args.target or f"cuda:{driver.architecture}")
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    command = " ".join(["python -m gravure.tools.bench_gpu", *(arguments or sys.argv[1:])])
    print(f"{driver.name}, {bench.target}, {now}\n`{command}`\n\n{HEAD}\n{'|---' * 6}|")
    rows = []
    for row in all_rows(bench, args):
        print(row, flush=True)
        rows.append(row)
    if args.json:
        data = {"device": driver.name, "target": bench.target, "date": now, "command": command}
        text = json.dumps({**data, "rows": [asdict(row) for row in rows]}, indent=1)
        args.json.write_text(f"{text}\n", encoding="utf-8")
    return int(any(row.why for row in rows))


def all_rows(bench: Bench, args: argparse.Namespace) -> Any:
    """Give a row for each case that is asked for."""
    if args.only in "copy":
        yield bench.copy(args.small)
    for case in cases(args.small):
        if args.only in case.name:
            yield from [bench.case(case)] if case.work else bench.launching(case)
    for path in sorted(args.models.glob("*.onnx")) if args.models else ():
        if args.only in path.stem:
            yield bench.file(path)


if __name__ == "__main__":
    sys.exit(main())
