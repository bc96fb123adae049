"""The manifest: what a model is and how it was made, as JSON inside the artefact.

It holds no time, no path and no name of a machine: the same input, options and versions give the
same text anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from ... import __version__
from ...runtime.artifact import DTYPES, Description, If, SizeDemand, TensorInfo, control_steps
from ...runtime.container import FORMAT
from .elf import Object
from .program import SectionGroup, group_of

EMBEDDED, IN_FILE, NONE = "embedded", "file", "none"
"""Where the weights of a model are."""


def manifest(
    model: Description,
    kernels: Sequence[bytes] = (),
    *,
    embedded: bool = True,
    stored: int | None = None,
) -> str:
    """Return the manifest of a model; `kernels` are the objects with the code of its kernels.

    `stored` are the bytes of weights in the file where they are laid out at loading.
    """
    where = NONE if not model.weights else EMBEDDED if embedded else IN_FILE
    control = list(control_steps(model.steps))
    choices = sum(isinstance(step, If) for step in control)
    found: dict[str, Any] = {
        "format": FORMAT,
        "tag": model.tag,
        "inputs": [_tensor(each) for each in model.inputs],
        "outputs": [_tensor(each) for each in model.outputs],
        "dims": [{"name": dim.name, "low": dim.low, "high": dim.high} for dim in model.dims],
        "demands": [plain_demand(each) for each in model.demands],
        "raw": [vars(each) for each in model.raw],
        "workspace_bytes": model.workspace_bytes,
        "prepare_bytes": model.prepare_bytes,
        "weights_bytes": model.weights,
        "weights": where,
        "peak_bytes": peak_bytes(model),
        "threads": model.slots,
        "target": model.target,
        "triple": model.triple,
        "features": list(model.features),
        "launches": len(model.kernels),
        "choices": choices,
        "loops": len(control) - choices,
        "sections": sections(kernels),
        "versions": versions(),
    }
    if stored is not None:
        found["stored_bytes"] = stored
    clash = found.keys() & model.extras.keys()
    assert not clash, f"extras of a manifest that it has already: {sorted(clash)}"
    return json.dumps(found | dict(model.extras), sort_keys=True, separators=(",", ":"))


def plain_demand(demand: SizeDemand) -> dict[str, Any]:
    """Return what is demanded of sizes as JSON."""
    return {"small": demand.small, "large": demand.large, "text": demand.text}


def _tensor(tensor: TensorInfo) -> dict[str, Any]:
    more: dict[str, Any] = {} if tensor.over is None else {"over": tensor.over}
    if tensor.within:
        more["within"] = list(map(list, tensor.within))
    return {"name": tensor.name, "dtype": tensor.dtype, "shape": list(tensor.shape), **more}


def peak_bytes(model: Description) -> int:
    """Return the most memory of a run: arguments at the largest dimensions, workspace, weights."""
    largest = {dim.name: dim.high for dim in model.dims}
    total = model.workspace_bytes + model.weights
    for tensor in (*model.inputs, *model.outputs):
        size = DTYPES[tensor.dtype]
        for each in tensor.shape_for(largest):
            size *= each
        total += size
    return total


def sections(kernels: Sequence[bytes]) -> Mapping[str, int]:
    """Return the bytes of code and constants of the kernels."""
    sizes = {SectionGroup.CODE.value: 0, SectionGroup.CONSTANTS.value: 0}
    for data in kernels:
        for section in Object.read(data).sections:
            group = group_of(section)
            if group is not None:
                sizes[group.value] = sizes.get(group.value, 0) + section.header.size
    return sizes


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of all that has a part in the code."""
    from importlib.metadata import version  # noqa: PLC0415  (it imports a mail reader)

    return {"gravure": __version__, **{name: version(name) for name in ("llvmlite", "xdsl")}}
