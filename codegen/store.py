"""Whole compiled programs on disk: everything but the weights, found by a key of the input.

The frontend gives a key that stands for the graph (names, shapes, small constants, not the
data of weights); together with the options and versions it finds objects, description and
places of weights, so that only the weights have to be prepared again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO

import numpy as np

from .. import __version__
from ..runtime.artifact import Description
from ..runtime.buffer import Array
from ..target import Target
from .compiled import Compiled, Options, object_cache
from .llvm.cache import key_of

UNSEEN = ("cache", "verify", "jobs")
"""Options that what is compiled does not depend on."""


def program_key(source: str, options: Options, target: Target) -> str:
    """Return the key of a program compiled with these options."""
    fields = sorted((k, str(v)) for k, v in vars(options).items() if k not in UNSEEN)
    return key_of(f"program {__version__}\n{fields}\n{source}", target)


Given = Mapping[str, int]
"""Weights that come with the input again, each with the number it has there."""


def keep(key: str, compiled: Compiled, given: Given) -> None:
    """Store a compiled program; of weights that come again only name, type and shape."""
    made = {name: a for name, a in compiled.weights.items() if name not in given}
    rows = [
        [name, number, compiled.weights[name].dtype.str, list(compiled.weights[name].shape)]
        for name, number in given.items()
    ]
    head = {
        "description": compiled.description.to_json(),
        "places": compiled.places,
        "peak": compiled.peak,
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
    object_cache(compiled.options).put(key, stream.getvalue())


def find(
    key: str, options: Options, target: Target, payloads: Mapping[int, Array]
) -> Compiled | None:
    """Return a stored program, its weights taken from the numbered bytes; None if there is none."""
    content = object_cache(options).get(key)
    if content is None:
        return None
    stream = BytesIO(content)
    head = json.loads(stream.read(int.from_bytes(stream.read(8), "little")))
    linked, *objects = [stream.read(size) for size in head["objects"]]
    weights: dict[str, Array] = {}
    for name, number, dtype, shape in head["given"]:
        weights[name] = np.frombuffer(payloads[number], np.dtype(dtype)).reshape(shape)
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
        cached=len(objects),
    )
    compiled.linked = linked
    return compiled
