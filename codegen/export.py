"""Write a compiled program as what the suffix of a file asks for.

| suffix    | what it is                                                      |
|-----------|-----------------------------------------------------------------|
| `.so`     | a shared library: link it, or load it with `gravure.load`       |
| `.o` `.a` | an object, and an archive of it: for a linker                   |
| `.h`      | the header: declarations, sizes, and an example of a call       |

A file with another suffix, or none, is a shared library.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from ..runtime.files import replacing
from .aot.header import header
from .aot.static import archive, merge
from .aot.weights import Weights
from .compile import Compiled


def export(compiled: Compiled, path: str | os.PathLike[str]) -> None:
    """Write one file, which is replaced only when all of it is written."""
    made = FORMS.get(Path(path).suffix)
    if made is None:
        compiled.library().save(path)
        return
    with replacing(path) as file:
        file.write(made(compiled))


def object_of(compiled: Compiled) -> bytes:
    """Return one relocatable object; weights that are embedded are in it."""
    embed = compiled.options.embed and compiled.description.weights > 0
    weights = Weights.of(compiled.blob) if embed else None
    objects = [*compiled.entry(embedded=compiled.options.embed), *compiled.objects]
    return merge(objects, compiled.description.tag, weights)


def archive_of(compiled: Compiled) -> bytes:
    """Return an archive of that object; the object's name in it is cut to what fits there."""
    return archive(f"{compiled.description.tag[:13]}.o", object_of(compiled))


def header_of(compiled: Compiled) -> bytes:
    """Return the text of the C header."""
    return header(compiled.description, embedded=compiled.options.embed).encode()


FORMS: Mapping[str, Callable[[Compiled], bytes]] = {
    ".a": archive_of,
    ".h": header_of,
    ".o": object_of,
}
