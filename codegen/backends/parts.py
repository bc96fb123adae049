"""Several compiled programs as one library, with their weights in one file: what one rank has.

`frontend/distributed/ranked.py` loads it. The name of each begins with the library's; whatever they
have in common is in it once for each.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ..aot.library import link
from ..aot.static import merge
from ..aot.weights import Weights
from ..compiled import Compiled
from ..export import object_of
from ..llvm.compile import assemble
from ..llvm.entry.functions import entry_target
from ..llvm.entry.routine import c_string


def part_tag(tag: str, number: int) -> str:
    """Return what the names of a part begin with."""
    return f"{tag}_part{number}"


def save_parts(parts: Sequence[Compiled], tag: str, library: Path, weights: Path) -> bool:
    """Write library and weights; say whether there are weights, and so a file of them."""
    manifests = [json.loads(part.manifest) for part in parts]
    size, text = c_string(json.dumps({**manifests[0], "parts": manifests}))
    target = entry_target(parts[0].target)
    module = f'target triple = "{target.triple}"\n@{tag}_manifest = constant [{size} x i8] {text}\n'
    head = assemble(module, target, optimisation=0)
    blobs = [part.blob for part in parts if part.description.weights]
    every = Weights.of(*blobs) if blobs else None
    if every is not None:
        every.save(weights)
    made = merge([head, *map(object_of, parts)], tag)
    link([made], tag, weights=every, embed=False).save(library)
    return every is not None
