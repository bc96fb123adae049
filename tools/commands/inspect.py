"""Say what is in a model: arguments, operators, parameters, arithmetic; nothing is run.

    gravure inspect model.onnx
    gravure inspect model.onnx --dim batch=8 --params
    gravure inspect model.onnx --check                    # exit status 1 if it cannot be compiled
    gravure inspect model.so                              # what a compiled model says of itself
    gravure inspect model.onnx --json | jq .parameters

A MAC is a multiplication with addition, and two flops; functions are exp, tanh, sqrt and the like.
Host steps are what is not compiled: a model that has them runs from Python and makes no library.
Dimensions without a number count as their largest, or as 1 if they have no bound.
"""

from __future__ import annotations

import argparse
from math import prod
from typing import TYPE_CHECKING, Any

from ..console import Console, in_bytes, in_count, table
from ..options import add_model, add_shapes, dims_of, is_library, shapes_of, source_of

if TYPE_CHECKING:
    from ...frontend.inspection import Inspection

NAME = "inspect"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_model(parser, "model or library: ONNX, .so, graph text (.gv)")
    parser.add_argument("--params", action="store_true", help="list every stored tensor")
    parser.add_argument("--ops", action="store_true", help="what each kind of operation costs")
    parser.add_argument("--check", action="store_true", help="fail if it cannot be compiled")
    add_shapes(parser)


def run(args: argparse.Namespace) -> int:
    """Look, and print."""
    source = source_of(args.model)
    console: Console = args.console
    if is_library(source):
        return library(args.model, console)
    from ...frontend.inspection import inspect_model

    found = inspect_model(source, shapes=shapes_of(args), dims=dims_of(args))
    data = found.as_json()
    if args.params:
        data["stored"] = [tensor.as_json() for tensor in found.tensors]
    parts = [overview(found)]
    if args.ops:
        parts.append(costs(found))
    if args.params:
        parts.append(parameters(found))
    console.result("\n\n".join(parts), data)
    return 1 if args.check and (found.faults or found.unsupported) else 0


def overview(found: Inspection) -> str:
    """Return the main table."""
    cost = found.cost
    header = ", ".join(f"{key} {_value(value)}" for key, value in found.header.items() if value)
    rows = [
        ["model", f"{found.name}: {found.format}, {in_bytes(found.bytes)}, level {found.level}"],
        *([["made by", header]] if header else []),
        *_listed("inputs", [f"{t.name}: {t}" for t in found.inputs]),
        *_listed("outputs", [f"{t.name}: {t}" for t in found.outputs]),
        *_listed("dims", [f"{name} = {low}..{'' if high is None else high}"
                          for name, (low, high) in found.ranges.items()]),
        ["parameters", _exact(found.parameters)],
        ["stored", _stored(found)],
        *_listed("operators", _counts(found.operators)),
        *_listed("operations", _counts(found.operations)),
        *_listed("host steps", list(found.host_steps)),
    ]  # fmt: skip
    if found.faults:
        rows += _listed("unsupported", _counts(found.unsupported))
        rows += _listed("cannot be compiled", found.faults.splitlines())
        return table(rows)
    sizes = ", ".join(f"{name} = {size}" for name, size in found.sizes.items())
    rows += [
        ["one run", f"{in_count(cost.macs)} MACs, {in_count(cost.flops)} flops, "
         f"{in_count(cost.functions)} functions{f', with {sizes}' if sizes else ''}"],
        ["moved", f"{in_bytes(cost.read)} read, {in_bytes(cost.written)} written, "
         "if every operation stood alone"],
    ]  # fmt: skip
    return table(rows)


def _exact(number: int) -> str:
    return f"{number} ({in_count(number)})" if number >= 1_000_000 else str(number)


def _value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {each}" for key, each in value.items())
    return str(value)


def _listed(name: str, lines: list[str]) -> list[list[str]]:
    return [[name if number == 0 else "", line] for number, line in enumerate(lines)]


def _counts(counts: Any) -> list[str]:
    """Return counts as lines that are not too long."""
    lines, line = [], ""
    for part in (f"{number} {name}" for name, number in counts.items()):
        if line and len(line) + len(part) > 80:
            lines.append(f"{line},")
            line = ""
        line = f"{line}, {part}" if line else part
    return [*lines, line] if line else lines


def _stored(found: Inspection) -> str:
    from ...ir.dtypes import DTYPES

    sums: dict[str, int] = {}
    for tensor in found.tensors:
        size = prod(d for d in tensor.shape if isinstance(d, int))
        width = DTYPES[tensor.dtype].size if tensor.dtype in DTYPES else 0
        sums[tensor.dtype] = sums.get(tensor.dtype, 0) + size * width
    kinds = ", ".join(f"{in_bytes(size)} of {dtype}" for dtype, size in sums.items())
    return f"{len(found.tensors)} tensors{': ' if kinds else ''}{kinds}"


def costs(found: Inspection) -> str:
    """Return what each kind of operation costs."""
    whole = max(found.cost.flops, 1)
    rows = [["operation", "MACs", "flops", "share", "functions", "read", "written"]]
    for name, cost in found.costs.items():
        counts = [in_count(n) for n in (cost.macs, cost.flops)]
        rest = [in_count(cost.functions), in_bytes(cost.read), in_bytes(cost.written)]
        rows.append([name, *counts, f"{cost.flops / whole:.1%}", *rest])
    return table(rows, right="123456")


def parameters(found: Inspection) -> str:
    """Return every stored tensor."""
    rows = [["tensor", "type", "elements"]]
    for tensor in found.tensors:
        size = prod(d for d in tensor.shape if isinstance(d, int))
        rows.append([tensor.name, str(tensor), str(size)])
    return table([*rows, ["parameters", "", str(found.parameters)]], right="2")


def library(path: str, console: Console) -> int:
    """Print what a compiled model says of itself."""
    from ...runtime.library import inspect

    found = inspect(path)
    manifest, seal = found.manifest, found.seal
    gpu = manifest.get("gpu")
    control = [f"{manifest[each]} {each}" for each in ("loops", "choices") if manifest.get(each)]
    rows = [
        ["library", f"{path}: {in_bytes(seal.file_size)}, tag {manifest['tag']}"],
        *_listed("inputs", [_tensor(each) for each in manifest["inputs"]]),
        *_listed("outputs", [_tensor(each) for each in manifest["outputs"]]),
        *_listed("dims", [f"{d['name']} = {d['low']}..{d['high']}" for d in manifest["dims"]]),
        ["made for", f"{manifest['target']}: {manifest['triple']}"
         + ("" if gpu else f", {manifest['threads']} threads at most")],
        ["needs", ", ".join(manifest["features"]) or "nothing beyond the plain architecture"],
        ["workspace", in_bytes(manifest["workspace_bytes"])],
        ["weights", f"{in_bytes(manifest['weights_bytes'])}, {manifest['weights']}"],
        ["memory", f"{in_bytes(gpu['bytes'] if gpu else manifest['peak_bytes'])} for a run in all"
         + (", on the GPU" if gpu else "")],
        ["kernels", f"{manifest['launches']} distinct, " + _code(manifest)],
        *_listed("control", [", ".join(control)] if control else []),
        ["made with", ", ".join(f"{k} {v}" for k, v in manifest["versions"].items())],
        ["passes", str(manifest.get("pipeline", ""))],
        ["digest", seal.digest.hex()],
    ]  # fmt: skip
    data = {"schema": "gravure.library/1", "bytes": seal.file_size, "digest": seal.digest.hex()}
    console.result(table(rows), {**data, "manifest": manifest})
    return 0


def _code(manifest: Any) -> str:
    """Return how much code the kernels are."""
    gpu = manifest.get("gpu")
    if gpu is None:
        return ", ".join(f"{in_bytes(n)} of {name}" for name, n in manifest["sections"].items())
    form = f"PTX {gpu['ptx']}{' and assembled' if gpu['cubin'] else ''}"
    return f"{in_bytes(gpu['code_bytes'])} of {form}, launched {gpu['launches']} times"


def _tensor(row: Any) -> str:
    return f"{row['name']}: {row['dtype']}[{', '.join(map(str, row['shape']))}]"
