"""Models that compute in fewer bits, and what that costs in accuracy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...codegen.compiled import Options
from ...counting import tell
from ...errors import Advice
from ...frontend.programs.compile import compile_model
from ...frontend.programs.load import guess_format
from ..console import in_bytes, table
from ..errors import DataError, UsageError
from ..inputs import read_arrays
from ..talk import FilePath, Progress, Source, name_of, silent

KINDS = ("i8", "f16", "bf16")
Array = np.ndarray[Any, Any]
Sample = dict[str, Array]


@dataclass(frozen=True)
class Accuracy:
    """How far the results of an output are from the original's, over all samples."""

    output: str
    absolute: float
    """The largest difference."""
    decibels: float
    """Signal to noise: the power of the results over that of the differences."""
    agreement: float | None
    """The share of rows whose largest element is at the same place; None if there are no rows."""

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name; endless decibels are None."""
        fields = dict(vars(self))
        return {**fields, "decibels": self.decibels if np.isfinite(self.decibels) else None}


@dataclass(frozen=True)
class Quantized:
    """What was written, and how accurate it is."""

    path: Path
    dtype: str
    nodes: int
    """Nodes that multiply integers, or tensors that were narrowed."""
    samples: int
    bytes_before: int
    bytes_after: int
    accuracy: tuple[Accuracy, ...]

    def __str__(self) -> str:
        what = "nodes multiply integers" if self.dtype == "i8" else f"tensors became {self.dtype}"
        smaller = self.bytes_after / max(self.bytes_before, 1)
        head = [
            ["wrote", f"{self.path}: {in_bytes(self.bytes_after)}, {smaller:.2f} of what it was"],
            ["changed", f"{self.nodes} {what}"],
        ]
        if not self.accuracy:
            return table(head)
        rows = [["output", "max abs", "SNR", "same largest"]]
        for each in self.accuracy:
            same = "" if each.agreement is None else f"{each.agreement:.2%}"
            rows.append([each.output, f"{each.absolute:.3g}", f"{each.decibels:.1f} dB", same])
        said = f"against the original, over {self.samples} samples:"
        return "\n".join([table(head), said, table(rows, right="123")])

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        fields = {**vars(self), "path": str(self.path)}
        return {
            "schema": "gravure.quantize/1",
            **fields,
            "accuracy": [each.as_json() for each in self.accuracy],
        }


def quantize(
    source: Source,
    output: FilePath,
    data: FilePath | Mapping[str, Any] | None = None,
    *,
    dtype: str = "i8",
    percentile: float = 100.0,
    progress: Progress = silent,
) -> Quantized:
    """Write an ONNX model that computes in fewer bits, and say how accurate it is.

    - `source`: the ONNX model, or its bytes; `output`: the file to write.
    - `data`: samples, as a file (`.npz`) or arrays by input: an array with one axis more than the
      input, or with several times its first size, is that many samples. Needed for `i8`.
    - `dtype`: `i8` for products of integers (QDQ: u8 times i8, a scale for each channel), `f16` or
      `bf16` for all tensors of f32.
    - `percentile`: of the numbers of each sample, which of them a range spans at both ends: 99.9
      leaves outliers out.
    - `progress`: is told what goes on.

    >>> import gravure as gv
    >>> whole = gv.convert(b"model m(x: f32[2]) -> (y) { y = exp(x) * 3 }", "m.onnx").path
    >>> small = gv.quantize(whole, "h.onnx", {"x": np.float32([[1, 2]])}, dtype="f16")
    >>> small.accuracy[0].decibels > 50
    True
    """
    from ...frontend.onnx.file.narrow import narrow
    from ...frontend.onnx.file.quantise import products_of, quantise, read_by_products
    from ...frontend.onnx.file.surgery import Surgery

    plain = source if isinstance(source, bytes) else Path(source).read_bytes()
    if dtype not in KINDS:
        raise UsageError(f"dtype {dtype!r}, expected one of {', '.join(KINDS)}")
    if not 50 < percentile <= 100:
        raise UsageError(f"percentile {percentile}, expected above 50, 100 at most")
    if guess_format(np.frombuffer(plain, np.uint8), source) != "onnx":
        raise UsageError(
            "this works on ONNX models",
            hint=Advice("gravure.convert makes one", "gravure convert makes one"),
        )
    surgery = Surgery.of(source if isinstance(source, bytes) else str(source))
    surgery.load_weights()
    before = surgery.proto.ByteSize()
    samples = samples_of(data, surgery) if data is not None else []
    if dtype == "i8":
        if not samples:
            raise UsageError(
                "there is no data to find ranges with",
                hint=Advice("data=", "--data FILE.npz, with an array for each input"),
            )
        wanted = read_by_products(products_of(surgery))
        if not wanted:
            reason = "no Conv, Gemm or MatMul has stored weights of f32"
            raise DataError(reason, location=name_of(source))
        whole = surgery.proto.SerializeToString()
        ranges = ranges_of(whole, wanted, samples, percentile, progress)
        count = quantise(surgery, ranges)
    else:
        count = narrow(surgery, dtype)
    files = surgery.save(Path(output))
    after = surgery.proto.ByteSize()
    accuracy = compared(source, files[0], samples, progress) if samples else ()
    return Quantized(files[0], dtype, count, len(samples), before, after, accuracy)


def samples_of(data: FilePath | Mapping[str, Any], surgery: Any) -> list[Sample]:
    """Return the samples in data, each with an array for every input."""
    arrays = read_arrays(str(data)) if not isinstance(data, Mapping) else dict(data)
    stored = {tensor.name for tensor in surgery.graph.initializer}
    inputs = {v.name: v.type.tensor_type.shape for v in surgery.graph.input if v.name not in stored}
    if len(inputs) == 1 and len(arrays) == 1:
        arrays = dict(zip(inputs, arrays.values(), strict=True))
    missing = [name for name in inputs if name not in arrays]
    if missing:
        raise DataError(f"there is no array for input {missing[0]!r}, only {[*arrays]}")
    rows = {name: _split(name, np.asarray(arrays[name]), shape) for name, shape in inputs.items()}
    counts = {name: len(each) for name, each in rows.items()}
    if len(set(counts.values())) > 1 or not min(counts.values(), default=0):
        raise DataError(f"inputs have other numbers of samples, or none: {counts}")
    return [dict(zip(rows, each, strict=True)) for each in zip(*rows.values(), strict=True)]


def _split(name: str, array: Array, shape: Any) -> list[Array]:
    """Return the samples in an array for an input of some shape."""
    rank = len(shape.dim)
    if array.ndim == rank + 1:
        return list(array)
    if array.ndim != rank:
        raise DataError(f"input {name!r} has {rank} axes, its array has {array.ndim}")
    size = shape.dim[0].dim_value if rank else 0
    if not size or array.shape[0] == size:
        return [array]
    if array.shape[0] % size:
        raise DataError(f"input {name!r}: {array.shape[0]} rows are no multiple of {size}")
    return np.split(array, array.shape[0] // size)


def ranges_of(
    model: bytes, names: Sequence[str], samples: Sequence[Sample], percentile: float, say: Progress
) -> dict[str, tuple[float, float]]:
    """Return the range of each value over all samples."""
    from ...frontend.onnx.file.surgery import Surgery

    given = [name for name in names if name in samples[0]]
    inner = [name for name in names if name not in samples[0]]
    runs: Callable[[Sample], dict[str, Array]] = lambda _: {}  # noqa: E731
    if inner:
        surgery = Surgery.of(model)
        surgery.extract([], inner)
        runs = runner(surgery.proto.SerializeToString(), samples[0])
    found: dict[str, tuple[float, float]] = {}
    for number, sample in enumerate(samples):
        tell("sample", number + 1, len(samples))
        with say(f"finding ranges: sample {number + 1} of {len(samples)}"):
            made = {**{name: sample[name] for name in given}, **runs(sample)}
        for name in names:
            flat = np.asarray(made[name], np.float64).reshape(-1)
            if not np.isfinite(flat).all():
                raise DataError(f"sample {number}: {name!r} has numbers that are not finite")
            ends = np.percentile(flat, (100 - percentile, percentile)) if flat.size else (0, 0)
            low, high = found.get(name, (float(ends[0]), float(ends[1])))
            found[name] = min(low, float(ends[0])), max(high, float(ends[1]))
    return found


def runner(source: Source, like: Sample) -> Callable[[Sample], dict[str, Array]]:
    """Return what runs a model on samples of the shapes of one; results by name."""
    shapes = {name: array.shape for name, array in like.items()}
    model = compile_model(source, Options(), shapes=shapes)
    needed = [info.name for info in model.inputs]

    def run(sample: Sample) -> dict[str, Array]:
        found = model.run({name: sample[name] for name in needed})
        return {info.name: r for info, r in zip(model.outputs, found, strict=True)}

    return run


def compared(
    source: Source, path: Path, samples: Sequence[Sample], say: Progress
) -> tuple[Accuracy, ...]:
    """Return how far the results of a model in a file are from the original's."""
    old, new = runner(source, samples[0]), runner(str(path), samples[0])
    pairs: dict[str, list[tuple[Array, Array]]] = {}
    for number, sample in enumerate(samples):
        with say(f"comparing: sample {number + 1} of {len(samples)}"):
            results = old(sample), new(sample)
        for name, wanted in results[0].items():
            pairs.setdefault(name, []).append((wanted, results[1][name]))
    return tuple(accuracy_of(name, rows) for name, rows in pairs.items())


def accuracy_of(name: str, rows: Sequence[tuple[Array, Array]]) -> Accuracy:
    """Return how far results are from what is wanted: `rows` are pairs, the wanted one first."""
    power = noise = most = 0.0
    same: list[Array] = []
    for wanted, found in rows:
        a, b = wanted.astype(np.float64), found.astype(np.float64)
        power, noise = power + float((a * a).sum()), noise + float(((a - b) ** 2).sum())
        most = max(most, float(np.abs(a - b).max(initial=0.0)))
        if a.ndim and a.shape[-1] > 1:
            same.append((a.argmax(axis=-1) == b.argmax(axis=-1)).reshape(-1))
    decibels = 10 * float(np.log10(power / noise)) if noise and power else float("inf")
    agreement = float(np.concatenate(same).mean()) if same else None
    return Accuracy(name, most, decibels, agreement)
