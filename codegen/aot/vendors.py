"""Libraries of others that compute products of matrices: where they are, what they export.

    found = vendor_of("cblas")                          what this machine, numpy or scipy brings
    found = vendor_of("cblas:/opt/lib/libopenblas.so")  a file
    found.sgemm, found.needed                           'cblas_sgemm', 'libopenblas.so.0'

A library is loaded to see what it exports; nothing of it is called here.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from glob import glob
from importlib.util import find_spec

from ...errors import Advice, CompileError
from ...runtime.elf import soname_of
from ...target import Target

SYSTEM = ("cblas", "openblas", "mkl_rt", "blis", "flexiblas", "blas")
"""What such libraries are called, without `lib` and suffix."""

BUNDLED = {
    "numpy": "../numpy.libs/*openblas*.so*",
    "scipy": "../scipy.libs/*openblas*.so*",
    "scipy_openblas32": "lib/*openblas*.so*",
    "scipy_openblas64": "lib/*openblas*.so*",
}
"""Where packages of Python have one, from their folder."""

SPELLINGS = (
    *("cblas_{}gemm", "cblas_{}gemm64_", "cblas_{}gemm_64"),
    *("scipy_cblas_{}gemm", "scipy_cblas_{}gemm64_"),
)
"""How the functions are called: some libraries have a prefix, or say that they count in 64 bits."""

HINT = Advice(
    'name the file: use_lib="cblas:/path/libopenblas.so"',
    "name the file: --use-lib cblas:/path/libopenblas.so",
)


@dataclass(frozen=True)
class Vendor:
    """A library with products of matrices."""

    path: str
    """What it is loaded by in this process: a path, or the name that the loader finds it by."""
    needed: str
    """The name that libraries which need it have in themselves."""
    sgemm: str
    dgemm: str
    """Its functions for f32 and f64."""

    @property
    def text(self) -> str:
        """Return all of this in one line, for keys of what is made with it."""
        return f"{self.path} {self.needed} {self.sgemm} {self.dgemm}"


def vendor_of(text: str) -> Vendor:
    """Return the library that `cblas` or `cblas:FILE` names; raise `CompileError`."""
    name, colon, path = text.partition(":")
    if name != "cblas" or (colon and not path):
        raise CompileError(f"library {text!r} is unknown, expected cblas or cblas:FILE")
    if path and not os.path.isfile(path):
        raise CompileError(f"library {path}: no such file", hint=HINT)
    return _found(os.path.abspath(path) if path else "")


@lru_cache(maxsize=8)
def _found(path: str) -> Vendor:
    """Return the library in a file; without one the first that this machine has."""
    reasons = []
    for each in [path] if path else candidates():
        made = load(each)
        if isinstance(made, Vendor):
            return made
        reasons.append(made)
    if path:
        raise CompileError(f"library {path}: {reasons[0]}", hint=HINT)
    looked = "; ".join(reasons) or "none is installed, and numpy brings none"
    raise CompileError(f"no library with the functions of CBLAS: {looked}", hint=HINT)


def candidates() -> Iterator[str]:
    """Give what may be such a library: names that the loader knows, then files of packages."""
    for name in SYSTEM:
        found = ctypes.util.find_library(name)
        if found:
            yield found
    for package, pattern in BUNDLED.items():
        spec = find_spec(package)
        if spec is not None and spec.origin:
            folder = os.path.dirname(spec.origin)
            yield from sorted(map(os.path.abspath, glob(os.path.join(folder, pattern))))


def load(path: str) -> Vendor | str:
    """Return what a library has, or why it will not do."""
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        return str(error)
    for spelling in SPELLINGS:
        names = [spelling.format(letter) for letter in "sd"]
        if all(hasattr(library, name) for name in names):
            return Vendor(path, soname_of(path) if os.path.isabs(path) else path, *names)
    return f"{path} exports neither {SPELLINGS[0].format('s')} nor another spelling of it"


def check_target(text: str, target: Target) -> None:
    """Raise `CompileError` for a target whose code cannot call a library of this machine."""
    host = Target.parse("native")
    if target.architecture is not host.architecture or target.system != host.system:
        kind = "a GPU" if target.architecture.backend == "cuda" else target.triple
        raise CompileError(
            f"target {target}: its code runs on {kind}, and cannot call {text.partition(':')[0]}, a"
            f" library for {host.triple}",
            hint=Advice('leave use_lib out, or target="native"', "leave --use-lib out"),
        )
