"""Make the inputs of a run from what is said about them on the command line.

    @all.npz                     arrays by name, also from .safetensors
    x=@x.npy                     one array
    x=2x3xf32                    random numbers of this shape
    x=2x3xf32:ones               the same with ones, zeros, iota, random:SEED, or a number
    random:7   ones   zeros      all inputs that are not named

Random floats are normally distributed; random integers are 0 to 7, so that they serve as indices,
and where it is known which ones a run takes as such, only those.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from zlib import crc32

import numpy as np

from ..errors import Advice, did_you_mean
from ..frontend.dims.symbols import ArrayShape
from ..runtime.arguments import numpy_dtype
from ..runtime.artifact import DTYPES, DimInfo, TensorInfo, bindings
from ..runtime.expression import evaluate
from ..runtime.values import ValueInfo
from .errors import DataError, UsageError
from .given import readable

if TYPE_CHECKING:
    from ..runtime.buffer import Array

HIGHEST = 8
"""Random integers are below this."""
_SHAPED = re.compile(r"(?P<shape>(?:\d+x)*)(?P<dtype>[a-z]+\d*)(?::(?P<fill>.*))?\Z")
_RANDOM = re.compile(r"random(?::(\d+))?\Z")


Inputs: TypeAlias = Mapping[str, Any] | Sequence[str] | str | None
"""Arrays by name, or what is said of them as texts such as the command takes."""


def make_inputs(
    given: Inputs,
    infos: Sequence[TensorInfo],
    dims: Sequence[DimInfo],
    sizes: Mapping[str, int] | None = None,
) -> dict[str, Array]:
    """Return an array for each input; what nothing is said about is random.

    `sizes` are the values of dimensions; what no array and no size tells is as large as it can be.
    """
    makers = Makers([info.name for info in infos])
    makers.take(given)
    values = _dimensions(makers.shapes(), infos, dims, sizes or {})
    made = {}
    for info in infos:
        array = makers.arrays.get(info.name)
        if array is None and isinstance(info, ValueInfo):
            raise UsageError(
                f"input {info.name!r} is {info}, which cannot be made up",
                hint="give texts as @FILE.npz; run sequences and optionals from Python",
            )
        if array is None:
            shape, dtype, how = makers.described(info)
            wanted = info.shape_for(values) if shape is None else shape
            array = fill(how, wanted, dtype, info.name, _bounds(info, values))
        if info.name in makers.numbers:
            array = array.astype(numpy_dtype(info.dtype))
        made[info.name] = array
    return made


def given_shapes(given: Inputs) -> dict[str, ArrayShape]:
    """Return the shapes of the inputs that are given, by name."""
    specs = texts_of(given)
    names = {text.rpartition("=")[0] for text in specs if not text.startswith("@")}
    files = [read_arrays(text[1:]) for text in specs if text.startswith("@")]
    named = given if isinstance(given, Mapping) else ()
    makers = Makers([*names, *named, *(name for arrays in files for name in arrays)])
    makers.take(given)
    return {name: ArrayShape(shape) for name, shape in makers.shapes().items()}


def texts_of(given: Inputs) -> list[str]:
    """Return what is said of inputs as texts."""
    if given is None:
        return []
    if isinstance(given, Mapping):
        return [f"{name}={value}" for name, value in given.items() if isinstance(value, str)]
    return [given] if isinstance(given, str) else [*given]


class Makers:
    """What the command line says about inputs, by name."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.arrays: dict[str, Array] = {}
        self.numbers: set[str] = set()
        """Names of arrays that were lists of Python's numbers: they have no type of their own."""
        self.declared: dict[str, tuple[tuple[int, ...], str, str]] = {}
        """Shape, element type and filling."""
        self.fills: dict[str, str] = {}
        self.default = "random"

    def take(self, given: Inputs) -> None:
        """Take in all that is said."""
        for text in texts_of(given):
            self.add(text)
        if isinstance(given, Mapping):
            for name, value in given.items():
                if not isinstance(value, str):
                    self.arrays[self.known(name, name)] = np.asarray(value)
                    if not hasattr(value, "dtype"):
                        self.numbers.add(name)

    def add(self, text: str) -> None:
        """Take in one argument."""
        if text.startswith("@"):
            for name, array in read_arrays(text[1:]).items():
                self.arrays[self.known(name, text)] = array
            return
        name, equals, value = text.rpartition("=")
        if not equals:
            if not is_fill(value):
                raise UsageError(
                    f"input {text!r}: expected NAME=VALUE, @FILE, random, ones or zeros",
                    hint=Advice(
                        "help(gravure.run) has examples", "gravure run --help has examples"
                    ),
                )
            self.default = value
            return
        self.known(name, text)
        if value.startswith("@"):
            self.arrays[name] = read_array(value[1:])
        elif is_fill(value):
            self.fills[name] = value
        else:
            self.declared[name] = _declared(value, text)

    def known(self, name: str, text: str) -> str:
        """Return a name that is an input's, or raise `UsageError`."""
        if name not in self.names:
            hint = did_you_mean(name, self.names)
            raise UsageError(
                f"input {text!r}: there is no input {name!r}, inputs are {[*self.names]}",
                hint=hint,
            )
        return name

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes that are known."""
        declared = {name: shape for name, (shape, _, _) in self.declared.items()}
        return {**declared, **{name: array.shape for name, array in self.arrays.items()}}

    def described(self, info: TensorInfo) -> tuple[tuple[int, ...] | None, str, str]:
        """Return shape (None for the input's own), element type and filling of an input."""
        if info.name in self.declared:
            return self.declared[info.name]
        return None, info.dtype, self.fills.get(info.name, self.default)


def _declared(value: str, text: str) -> tuple[tuple[int, ...], str, str]:
    found = _SHAPED.match(value)
    if found is None or found["dtype"] not in DTYPES:
        raise UsageError(f"input {text!r}: expected a shape and a type such as 2x3xf32")
    how = found["fill"] or "random"
    if not is_fill(how):
        raise UsageError(f"input {text!r}: {how!r} is not random, ones, zeros, iota or a number")
    return tuple(int(size) for size in found["shape"].split("x") if size), found["dtype"], how


def is_fill(text: str) -> bool:
    """Say whether a text describes elements."""
    return text in ("ones", "zeros", "iota") or bool(_RANDOM.match(text)) or _is_number(text)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _bounds(info: TensorInfo, sizes: Mapping[str, int]) -> tuple[int, int]:
    """Return from where to below where random integers are: those that a run takes."""
    ranges = [[evaluate(end, sizes) for end in each] for each in info.within]
    low, high = max([0, *(each[0] for each in ranges)]), min([HIGHEST, *(e[1] for e in ranges)])
    return low, max(high, low + 1)


def fill(
    how: str, shape: tuple[int, ...], dtype: str, name: str, bounds: tuple[int, int] = (0, HIGHEST)
) -> Array:
    """Return an array whose elements a text describes; inputs of other names get others."""
    kind = numpy_dtype(dtype)
    random = _RANDOM.match(how)
    if random is not None:
        generator = np.random.default_rng([int(random[1] or 0), crc32(name.encode())])
        if dtype == "bool" or dtype[0] in "iu":
            low, high = (0, 2) if dtype == "bool" else bounds
            return generator.integers(low, high, shape).astype(kind)
        made = generator.standard_normal(shape)
        if dtype[0] == "c":
            return (made + 1j * generator.standard_normal(shape)).astype(kind)
        return np.asarray(made).astype(kind)
    if how == "iota":
        return np.arange(int(np.prod(shape, dtype=np.int64))).astype(kind).reshape(shape)
    number = {"ones": 1.0, "zeros": 0.0}.get(how)
    return np.full(shape, float(how) if number is None else number).astype(kind)


def _dimensions(
    shapes: Mapping[str, tuple[int, ...]],
    infos: Sequence[TensorInfo],
    dims: Sequence[DimInfo],
    sizes: Mapping[str, int],
) -> dict[str, int]:
    """Return a value for every dimension: from an array, as asked, or its largest."""
    for name in sizes:
        if name not in [dim.name for dim in dims]:
            hint = did_you_mean(name, [dim.name for dim in dims])
            raise UsageError(f"there is no dimension {name!r}", hint=hint)
    known = [info for info in infos if len(shapes.get(info.name, ())) == len(info.shape)]
    values: dict[str, int] = {}
    for dim in dims:
        place = bindings(known, (dim,)).get(dim.name)
        if place is None:
            values[dim.name] = sizes.get(dim.name, dim.high)
        else:
            size = shapes[known[place.input].name][place.axis]
            values[dim.name] = (size - place.offset) // place.factor
    return values


def read_arrays(path: str) -> dict[str, Array]:
    """Return the arrays of a .npz or .safetensors file by name."""
    if path.endswith(".safetensors"):
        from ..frontend.files.beside import map_file
        from ..frontend.files.weights import read_safetensors

        readable(path)
        return read_safetensors(map_file(Path(path)), path)
    found = _read(path)
    if isinstance(found, np.ndarray):
        raise DataError("this is one array, expected several with names", location=path)
    return found


def read_array(path: str) -> Array:
    """Return the array of a .npy file, or the only one of a .npz file."""
    found = _read(path)
    if isinstance(found, np.ndarray):
        return found
    if len(found) != 1:
        raise DataError(f"these are {len(found)} arrays, expected one", location=path)
    return next(iter(found.values()))


def _read(path: str) -> Array | dict[str, Array]:
    """Read a file of numpy's; what would have to be unpickled is refused."""
    readable(path)
    try:
        with open(path, "rb") as file:
            found = np.load(file, allow_pickle=False)
            return found if isinstance(found, np.ndarray) else {n: found[n] for n in found.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"not a file of arrays: {error}", location=path) from error


def save_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays by name into a .npz file, which is replaced when all is written."""
    from ..runtime.files import replacing

    with replacing(path) as file:
        np.savez(file, allow_pickle=False, **dict(arrays))
