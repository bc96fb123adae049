"""Run libraries for GPUs: `python gpu_library_session.py FAKE_DRIVER ANSWERS LIBRARY...`.

Beside each LIBRARY lie its inputs, `.in.npz`. Its outputs go to the file ANSWERS.npz, and what else
is to be known to ANSWERS.json.
"""

import gc
import json
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from fake_cuda import LAUNCH_FAILED, FakeCuda

import gravure
from gravure.errors import GravureError
from gravure.runtime.buffer import address, aligned_bytes
from gravure.runtime.direct import tensor_table

TRIPS = 3
"""The first run launches, the second records, the third runs what was recorded."""


def message(function: Any) -> str:
    try:
        function()
    except GravureError as error:
        return str(error)
    return "nothing was wrong"


def arrays_of(path: Path) -> list[Any]:
    with np.load(path.with_suffix(".in.npz")) as given:
        return [given[name] for name in given.files]


def on_device(fake: FakeCuda, path: Path) -> Any:
    """Run a model on data that lie on the device, and statuses that only C sees."""
    model = gravure.load(path)
    library, inputs = model._library, arrays_of(path)
    run, create = library.function("run", "ipppp"), library.function("create", "ippi")
    tables = [tensor_table(model.inputs), tensor_table(model.outputs)]
    workspace = aligned_bytes(model.workspace_bytes)
    shapes = [np.array(each.shape, np.int64) for each in inputs]
    places = []
    for array, row, shape in zip(inputs, tables[0], shapes, strict=True):
        places.append(fake.heap.allocate(array.nbytes))
        fake.heap.bytes_at(places[-1], array.nbytes)[:] = array.reshape(-1).view(np.uint8)
        row[0], row[1] = places[-1], address(shape)
    result = model(*inputs)
    places.append(fake.heap.allocate(result.nbytes))
    shape = np.array(result.shape, np.int64)
    tables[1][0][0], tables[1][0][1] = places[-1], address(shape)
    arguments = (*map(address, tables), address(workspace), None)
    found = {"not created": library.status(run(*arguments))}
    found["created"] = library.status(create(address(workspace), None, 0))
    fake.calls.clear()
    found["ran"] = library.status(run(*arguments))
    found["calls"] = [*fake.calls]
    for again in ("second", "third"):
        fake.calls.clear()
        run(*arguments)
        found[f"calls of the {again}"] = [*fake.calls]
    data = fake.heap.bytes_at(places[-1], result.nbytes).view(result.dtype)
    found["same"] = bool((data.reshape(result.shape) == result).all())
    with patch.object(fake, "_run", lambda *rest: LAUNCH_FAILED):
        found["failed"] = library.status(run(*arguments))
    tables[1][0][0] += 4
    found["misaligned"] = library.status(run(*arguments))
    library.function("destroy", "vp")(address(workspace))
    found["destroyed"] = library.status(run(*arguments))
    for place in places:
        fake.heap.free(place)
    return found


def main(fake_library: str, answers: str, *libraries: str) -> None:
    fake = FakeCuda(Path(fake_library))
    results: dict[str, Any] = {}
    for name in libraries:
        path = Path(name)
        with gravure.load(path) as model:
            for trip in range(TRIPS):
                for number, array in enumerate(model.run(arrays_of(path))):
                    results[f"{path.stem}_{trip}_{number}"] = array
    gc.collect()
    found: dict[str, Any] = {"left": len(fake.heap.starts)}
    found["device"] = on_device(fake, Path(libraries[0]))
    found["no device"] = message(lambda: gravure.load(libraries[0], device="gpu:3"))
    found["left at the end"] = (gc.collect(), len(fake.heap.starts))[1]
    np.savez(answers, **results)
    Path(answers).with_suffix(".json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
