"""Write a compiled program as what the suffix of a file asks for.

| suffix    | what it is                                                      |
|-----------|-----------------------------------------------------------------|
| `.so`     | a shared library: link it, or load it with `gravure.load`       |
| `.o` `.a` | an object, and an archive of it: for a linker                   |
| `.h`      | the header: declarations, sizes, and an example of a call       |
| `.gpu`    | plan, code and weights for a GPU, which `gravure.load` reads    |
| `.ptx`    | the kernels for a GPU                                           |

A file with another suffix, or none, is a shared library.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from ..errors import Advice, CompileError
from ..runtime.files import replacing
from ..runtime.gpu.file import to_bytes
from ..runtime.gpu.plan import GpuPlan
from .aot.header import header
from .aot.static import archive, merge
from .aot.weights import Weights
from .compiled import Compiled
from .ptx.listing import ptx_text


def export(compiled: Compiled, path: str | os.PathLike[str]) -> None:
    """Write one file, which is replaced only when all of it is written."""
    made = FORMS.get(Path(path).suffix)
    if made is None:
        compiled.library().save(path)
        return
    with replacing(path) as file:
        file.write(made(compiled))


def object_of(compiled: Compiled) -> bytes:
    """Return one relocatable object; weights that are embedded are in it.

    Raises `CompileError` where kernels call a library: no object says which it needs.
    """
    needed = compiled.description.libraries
    if needed:
        raise CompileError(
            f"objects and archives do not name the libraries that they need: {', '.join(needed)}",
            hint=Advice(
                "write a library (.so), or leave use_lib out",
                "write a library (.so), or leave --use-lib out",
            ),
        )
    embed = compiled.options.embed and compiled.description.weights > 0
    weights = Weights.of(compiled.blob) if embed else None
    objects = [*compiled.entry(embedded=compiled.options.embed), *compiled.objects]
    return merge(objects, compiled.description.tag, weights)


def archive_of(compiled: Compiled) -> bytes:
    """Return an archive of that object; the object's name in it is cut to what fits there."""
    return archive(f"{compiled.description.tag[:13]}.o", object_of(compiled))


def header_of(compiled: Compiled) -> bytes:
    """Return the text of the C header."""
    return header(compiled.face, embedded=compiled.options.embed).encode()


def gpu_file_of(compiled: Compiled) -> bytes:
    """Return the file of a model for GPUs."""
    plan_of(compiled)
    plan = compiled.assembled
    return to_bytes(plan, compiled.blob if plan.weights else None)


def ptx_of(compiled: Compiled) -> bytes:
    """Return the text of all kernels."""
    return ptx_text(plan_of(compiled)).encode("ascii")


def plan_of(compiled: Compiled) -> GpuPlan:
    """Return the plan of a program compiled for GPUs; refuse another."""
    if compiled.plan is None:
        raise CompileError(
            f"target {compiled.target} is a processor, expected a GPU",
            hint=Advice('target="cuda:sm_80"', "--target cuda:sm_80"),
        )
    return compiled.plan


FORMS: Mapping[str, Callable[[Compiled], bytes]] = {
    ".a": archive_of,
    ".gpu": gpu_file_of,
    ".h": header_of,
    ".o": object_of,
    ".ptx": ptx_of,
}
