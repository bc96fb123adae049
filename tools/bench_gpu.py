"""Measure what GPUs are judged by: bandwidth, products, attention, launches, whole models.

    python -m gravure.tools.bench_gpu --json figures.json     # on gpu:0, a Markdown table
    python -m gravure.tools.bench_gpu --only resnet50 --dtype bf16
    python -m gravure.tools.bench_gpu --models DIR
    python -m gravure.tools.bench_gpu --device emulated --small     # try the tool without a GPU

Every result is compared with numpy on a sample, or with torch, before its time is believed.
Operands are random, for zeros are faster. Where torch is installed it computes the same in the same
process, on the same device, measured in the same way: operations as they are, and ResNet-50,
BERT-base and GPT-2 (128 words) by `torch.compile`, whose weights are given to both. Neither may
take f32 for less (tf32). `DIR` has NAME.onnx and NAME.inputs.npz. A case that fails is a row that
says why; the file is written after each row.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ..codegen.compile import Options
from ..errors import GravureError
from ..frontend.models.gpu import DeviceModel
from ..frontend.programs.compile import compile_source
from ..runtime.arguments import numpy_dtype
from ..runtime.buffer import Array
from ..runtime.devices import open_driver
from ..runtime.gpu.device_array import DeviceArray
from ..runtime.gpu.driver import Driver

SECONDS = 0.3
"""How long each figure is measured for, if nothing else is said."""
CHAIN = 100
"""How many launches the model has that shows what a launch costs."""
BEGINNINGS = 50
"""How often it is begun."""
NETWORKS = ("resnet50", "bert_base", "gpt2")
"""The names that `torch_models` knows."""
BATCHES = (1, 32)
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
class CaseTime:
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


def chain_sample(inputs: Sequence[Array], outputs: Sequence[Array]) -> tuple[Array, Array]:
    """Return all of a softmax of columns, of rows, and so on; it hardly changes after some."""
    x = wide(inputs[0])
    for _ in range(CHAIN // 2):
        x = softmax(softmax(x.T).T)
    return wide(outputs[0]), x


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
    links = 10 if small else CHAIN
    steps = [f"  a{n + 1} = softmax(a{n}, axis={n % 2})" for n in range(links)]
    chain = "\n".join(["  a0 = x", *steps[:-1], f"  y = softmax(a{links - 1}, axis=1)"])
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
            f"{links} launches, one after the other",
            f"model chain(x: f32[32, 32]) -> (y) {{\n{chain}\n}}",
            0,
            "us",
            "",
            chain_sample,
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


def find_peer(driver: Driver) -> tuple[Any, str]:
    """Return torch on the same device, if it is there and sees it, and what is to be said of it."""
    try:
        torch_models = import_module(".torch_models", __package__)
    except (ImportError, OSError) as error:
        return None, f"no torch: {error}"
    peer = torch_models.Peer(getattr(driver, "index", None))
    return (peer if peer.is_there else None), peer.said


class Bench:
    """Measures on one device."""

    def __init__(self, driver: Driver, target: str, seconds: float = SECONDS) -> None:
        self.driver = driver
        self.target = target
        self.seconds = seconds
        self.peer, self.said = find_peer(driver)

    def model(self, source: str | bytes) -> DeviceModel:
        """Return a model on the device."""
        return DeviceModel.of(compile_source(source, Options(target=self.target)), self.driver)

    def time(
        self, run: Callable[[], object], seconds: Callable[[Callable[[], object]], float]
    ) -> float:
        """Return the seconds of a run, the device's time, as the best of some rounds."""
        once = min(seconds(run) for _ in range(3))
        count = max(1, min(1000, int(self.seconds / 5 / max(once, 1e-6))))

        def several() -> None:
            for _ in range(count):
                run()

        return min(seconds(several) / count for _ in range(5 if count > 1 else 1))

    def case(self, case: Case) -> CaseTime:
        """Measure one case; a failure becomes a row."""
        try:
            with closing(self.model(case.text.encode())) as model:
                return self._measure(case, model)
        except Exception as fault:
            return CaseTime(case.name, 0, None, case.unit, case.aim, 0, reason(fault))

    def _measure(self, case: Case, model: DeviceModel) -> CaseTime:
        arrays = random_arrays(model)
        run = model.bind([DeviceArray.of(self.driver, array) for array in arrays])
        results = [each.numpy() for each in run()]
        error = difference(*case.sample(arrays, results))
        seconds = self.time(run, self.driver.seconds)
        torch = self._torch(case, arrays) if case.torch and self.peer else None
        return CaseTime(case.name, figure(case, seconds), torch, case.unit, case.aim, error)

    def _torch(self, case: Case, arrays: Sequence[Array]) -> float:
        """Return torch's figure."""
        names = {name: self.peer.tensor(each) for name, each in zip("xyz", arrays, strict=False)}
        return figure(case, self.time(self.peer.evaluation(case.torch, names), self.peer.seconds))

    def copy(self, small: bool) -> CaseTime:
        """Measure copying on the device, which bounds what else can move."""
        size = 1 << (16 if small else 30)
        source, target = (DeviceArray.empty(self.driver, (size,), "u8") for _ in range(2))
        seconds = self.time(
            lambda: self.driver.copy(target.address, source.address, size), self.driver.seconds
        )
        return CaseTime(f"copy of {size >> 20} MiB", 2e-12 * size / seconds, None, "TB/s", "", 0)

    def launching(self, case: Case) -> list[CaseTime]:
        """Measure the processor's time to begin a run of many launches, and all of its time."""
        try:
            with closing(self.model(case.text.encode())) as model:
                arrays = random_arrays(model)
                run = model.bind([DeviceArray.of(self.driver, arrays[0])])
                error = difference(*case.sample(arrays, [each.numpy() for each in run()]))
                begun = [self.beginning(run)]
                while len(begun) < BEGINNINGS and sum(begun) < self.seconds:
                    begun.append(self.beginning(run))
                whole = self.time(run, self.driver.seconds)
                count = len(model.plan.launches)
        except Exception as fault:
            return [CaseTime(case.name, 0, None, "us", "10", 0, reason(fault))]
        return [
            CaseTime(
                f"begin {count} launches", statistics.median(begun) * 1e6, None, "us", "10", error
            ),
            CaseTime(f"one of {count} launches", whole / count * 1e6, None, "us", "", error),
        ]

    def beginning(self, run: Callable[[], object]) -> float:
        """Return the processor's seconds to begin a run, after all before is done."""
        self.driver.wait()
        start = perf_counter()
        run()
        return perf_counter() - start

    def network(self, name: str, batch: int, dtype: str, *, small: bool) -> CaseTime:
        """Measure a network of torch, written as ONNX, beside what torch makes of it."""
        title = f"{name}, batch {batch}, {dtype}"
        try:
            network = self.peer.network(name, batch, dtype, small=small)
            with closing(self.model(network.onnx)) as model:
                x = network.input.astype(numpy_dtype(model.inputs[0].dtype))
                run = model.bind([DeviceArray.of(self.driver, x)])
                [result] = [each.numpy() for each in run()]
                error = difference(wide(result), wide(network.output))
                seconds = self.time(run, self.driver.seconds)
            torch = self.time(self.peer.compiled(network), self.peer.seconds)
        except Exception as fault:
            return CaseTime(title, 0, None, "ms", "torch", 0, reason(fault))
        return CaseTime(title, seconds * 1e3, torch * 1e3, "ms", "torch", error)

    def file(self, path: Path) -> CaseTime:
        """Measure a model in a file on the inputs beside it."""
        name, unit = path.stem, "ms"
        try:
            with closing(self.model(str(path))) as model:
                given = np.load(path.with_suffix("").with_suffix(".inputs.npz"))
                arrays = [given[info.name] for info in model.inputs]
                run = model.bind([DeviceArray.of(self.driver, array) for array in arrays])
                results = [each.numpy() for each in run()]
                seconds = self.time(run, self.driver.seconds)
        except Exception as fault:
            return CaseTime(name, 0, None, unit, "", 0, reason(fault))
        return CaseTime(name, seconds * 1e3, None, unit, "", reference_error(path, results))


def difference(found: Array, wanted: Array) -> float:
    """Return the largest difference over the largest number."""
    return float(np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-30))


def reason(error: Exception) -> str:
    """Return the first line of what an error says."""
    said = str(error).partition("\n")[0]
    return said if isinstance(error, GravureError) else f"{type(error).__name__}: {said}"


def reference_error(path: Path, results: Sequence[Array]) -> float:
    """Return the largest difference to the results beside a model, over their largest."""
    place = path.with_suffix("").with_suffix(".ref.npz")
    if not place.is_file():
        return math.nan
    with np.load(place) as wanted:
        pairs = [(wide(results[n]), wide(wanted[name])) for n, name in enumerate(wanted.files)]
    return max(difference(x, y) for x, y in pairs)


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
    parser.add_argument("--dtype", default="f32", choices=("f32", "bf16"), help="of the networks")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures as JSON")
    args = parser.parse_args(arguments)
    try:
        driver = open_driver(args.device)
    except GravureError as error:
        print(f"bench_gpu: {error}", file=sys.stderr)
        return error.exit_status
    bench = Bench(driver, args.target or f"cuda:{driver.architecture}")
    words = sys.argv[1:] if arguments is None else arguments
    about = {
        "device": driver.name,
        "machine": machine(),
        "target": bench.target,
        "torch": bench.said,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": " ".join(["python -m gravure.tools.bench_gpu", *words]),
    }
    *most, command = about.values()
    print(f"{', '.join(filter(None, most))}\n`{command}`\n\n{HEAD}\n{'|---' * 6}|")
    rows = []
    for row in all_rows(bench, args):
        print(row, flush=True)
        rows.append(row)
        if args.json:
            text = json.dumps({**about, "rows": [asdict(row) for row in rows]}, indent=1)
            args.json.write_text(f"{text}\n", encoding="utf-8")
    return int(any(row.why for row in rows))


def machine() -> str:
    """Return driver, clocks and power limit, as NVIDIA's own program says them; or nothing."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return ""
    wanted = "driver_version,clocks.sm,clocks.max.sm,power.limit"
    command = [program, f"--query-gpu={wanted}", "--format=csv,noheader"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return f"driver, clock, highest clock, power: {done.stdout.partition(chr(10))[0]}"


def all_rows(bench: Bench, args: argparse.Namespace) -> Iterator[CaseTime]:
    """Give a row for each case that is asked for."""
    if args.only in "copy":
        yield bench.copy(args.small)
    for case in cases(args.small):
        if args.only in case.name:
            yield from [bench.case(case)] if case.work else bench.launching(case)
    for name in NETWORKS if bench.peer else ():
        for batch in BATCHES:
            if args.only in name:
                yield bench.network(name, batch, args.dtype, small=args.small)
    for path in sorted(args.models.glob("*.onnx")) if args.models else ():
        if args.only in path.stem:
            yield bench.file(path)


if __name__ == "__main__":
    sys.exit(main())
