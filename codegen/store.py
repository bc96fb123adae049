"""Whole compiled programs on disk: everything but the weights, found by a key of the input.

The frontend gives a key that stands for every byte of the files that it read. Together with the
options and versions it finds objects, description and places of weights in those files, so that
only the weights have to be prepared again.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from io import BytesIO
from math import prod

import numpy as np

from .. import __version__
from ..runtime.artifact import Description
from ..runtime.buffer import Array, address
from ..target import Target
from .aot.vendors import vendor_of
from .compiled import Compiled, Options, object_cache
from .keys import key_of

UNSEEN = ("budget", "cache", "verify", "jobs")
"""Options that what is compiled does not depend on."""


def program_key(source: str, options: Options, target: Target) -> str:
    """Return the key of a program compiled with these options."""
    fields = sorted((k, str(v)) for k, v in vars(options).items() if k not in UNSEEN)
    library = vendor_of(options.use_lib).text if options.use_lib else ""
    return key_of(f"program {__version__}\n{fields}\n{library}\n{source}", target)


Given = Mapping[str, tuple[int, int]]
"""Weights that lie in the input, each with the number of the file and the byte that it is at."""


def find_given(weights: Mapping[str, Array], files: Sequence[Array]) -> Given:
    """Return the weights that are views of files, and where in them they are."""
    starts = sorted((address(file), number) for number, file in enumerate(files) if file.size)
    found: dict[str, tuple[int, int]] = {}
    for name, array in weights.items():
        place = bisect_right(starts, (address(array), len(files))) - 1
        if place < 0 or not array.size or not array.flags.c_contiguous:
            continue
        start, number = starts[place]
        offset = address(array) - start
        if offset + array.nbytes <= files[number].size:
            found[name] = number, offset
    return found


def keep(key: str, compiled: Compiled, files: Sequence[Array]) -> None:
    """Store a compiled program; of weights that lie in the files only name, type and shape."""
    given = find_given(compiled.weights, files)
    made = {name: a for name, a in compiled.weights.items() if name not in given}
    rows = [
        [name, *place, compiled.weights[name].dtype.str, list(compiled.weights[name].shape)]
        for name, place in given.items()
    ]
    head = {
        "description": compiled.description.to_json(),
        "places": compiled.places,
        "peak": compiled.peak,
        "effort": compiled.effort,
        "objects": [len(o) for o in (compiled.code(), *compiled.objects)],
        "given": rows,
        "arrays": list(made),
    }
    stream = BytesIO()
    text = json.dumps(head).encode()
    stream.write(len(text).to_bytes(8, "little"))
    stream.write(text)
    for data in (compiled.code(), *compiled.objects):
        stream.write(data)
    for array in made.values():
        np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)
    label = f"program {compiled.description.tag}"
    object_cache(compiled.options).put(key, stream.getvalue(), label)


def find(key: str, options: Options, target: Target, files: Sequence[Array]) -> Compiled | None:
    """Return a stored program, its weights taken from the files; None if there is none."""
    content = object_cache(options).get(key)
    if content is None:
        return None
    stream = BytesIO(content)
    head = json.loads(stream.read(int.from_bytes(stream.read(8), "little")))
    linked, *objects = [stream.read(size) for size in head["objects"]]
    weights: dict[str, Array] = {}
    for name, number, offset, dtype, shape in head["given"]:
        row = np.dtype(dtype)
        data = files[number][offset : offset + prod(shape) * row.itemsize]
        weights[name] = np.frombuffer(data, row).reshape(shape)
    for name in head["arrays"]:
        weights[name] = np.lib.format.read_array(stream, allow_pickle=False)
    compiled = Compiled(
        description=Description.from_json(head["description"]),
        objects=objects,
        weights=weights,
        places=[(name, offset, size) for name, offset, size in head["places"]],
        options=options,
        target=target,
        peak=head["peak"],
        effort=head["effort"],
        cached=len(objects),
    )
    compiled.linked = linked
    return compiled
