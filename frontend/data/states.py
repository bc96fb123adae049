"""The state of a stream as bytes: JSON, with the arrays behind it as numpy writes them."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias, TypedDict, TypeVar, final

import numpy as np

from ...ir.types import dtypes as rows
from ...ir.types.tensor import Array
from ..values.run_errors import DataLossError, UnimplementedError
from .batches import Pile
from .sources import Listed, Within
from .stages import Given, Stage, State, Stream, part

Kind = TypeVar("Kind")


@final
class PiecePairs(TypedDict):
    """A dictionary, as pairs of keys and values."""

    map: list[tuple[Piece, Piece]]


@final
class PieceNumbers(TypedDict):
    """An array by its number, and its element type."""

    array: int
    dtype: str


@final
class PieceTexts(TypedDict):
    """An array of text: the number of the array of all bytes, and the size of each element."""

    text: int
    shape: list[int]
    sizes: list[int]


@final
class PieceWindow(TypedDict):
    """The elements of a pipeline that is a part of an element."""

    window: Piece


@final
class PieceStage(TypedDict):
    """A pipeline that is a part of an element: its kind, its inputs and its options."""

    stage: str
    inputs: Sequence[Piece]
    options: Piece


@final
class PiecePile(TypedDict):
    """A value of several arrays that is a part of an element: its class, and the arrays."""

    pile: str
    arrays: Sequence[Piece]


@final
class PieceListing(TypedDict):
    """A list."""

    list: Sequence[Piece]


@final
class PieceRow(TypedDict):
    """A tuple."""

    tuple: Sequence[Piece]


Piece: TypeAlias = (
    "bool | int | float | str | PiecePairs | PieceListing | PieceRow | PieceNumbers | PieceTexts"
    " | PieceWindow | PieceStage | PiecePile | None"
)
"""A part of a state as JSON's data."""


class Packer:
    """Turns a state into data of JSON's, and a list of arrays."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []

    def packed(self, value: object) -> Piece:
        """Return a value as JSON's data."""
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, dict):
            return {"map": [(self.packed(k), self.packed(v)) for k, v in value.items()]}
        if isinstance(value, list | tuple):
            items = [self.packed(each) for each in value]
            return {"list": items} if isinstance(value, list) else {"tuple": items}
        return self.array(np.asarray(value))

    def array(self, array: Array) -> Piece:
        """Return the number of an array; text is written as bytes with their lengths."""
        if array.dtype.kind != "O":
            self.arrays.append(array)
            return {"array": len(self.arrays) - 1, "dtype": array.dtype.name}
        flat = array.ravel().tolist()
        if flat and isinstance(flat[0], Stage):
            return self.stage(flat[0])
        if flat and isinstance(flat[0], Pile):
            arrays = [self.packed(each) for each in flat[0].arrays()]
            return {"pile": type(flat[0]).__name__, "arrays": arrays}
        self.arrays.append(np.frombuffer(b"".join(flat), np.uint8))
        return {"text": len(self.arrays) - 1, "shape": list(array.shape),
                "sizes": [len(x) for x in flat]}  # fmt: skip

    def stage(self, stage: Stage, known: Mapping[int, object] | None = None) -> Piece:
        """Return a pipeline; one of functions, or that waits for a graph, has no form."""
        if stage.kind is Listed:
            return {"window": self.packed(stage.options["elements"])}
        if stage.kind is Within:
            inner, values = stage.options["inner"], stage.options["values"]
            assert isinstance(inner, Stage), "there is one within"
            assert isinstance(values, Mapping), "it takes values from around it"
            inside = self.stage(inner, {**(known or {}), **values})
            return {"stage": Within.__name__, "inputs": [inside], "options": None}
        found = {n: option_of(stage, value, known or {}) for n, value in stage.options.items()}
        inputs = [self.stage(each, known) for each in stage.inputs]
        return {"stage": stage.kind.__name__, "inputs": inputs, "options": self.packed(found)}


def option_of(stage: Stage, value: object, known: Mapping[int, object]) -> object:
    """Return an option as what can be packed; `known` are values of tensors of graphs."""
    if isinstance(value, Given) and (id(value.tensor) in known or value.tensor.eager):
        return known[id(value.tensor)] if id(value.tensor) in known else value.tensor.numpy()
    if isinstance(value, tuple):
        return tuple([option_of(stage, each, known) for each in value])
    if value is None or isinstance(value, bool | int | float | str | np.ndarray):
        return value
    raise UnimplementedError(f"a pipeline of {stage.kind.__name__} as part of a state")


def kinds_below(kind: type[Kind]) -> dict[str, type[Kind]]:
    """Return a class and all that are made of it, by their names."""
    found = {kind.__name__: kind}
    for each in kind.__subclasses__():
        found.update(kinds_below(each))
    return found


class Unpacker:
    """Turns JSON's data and a list of arrays into a state."""

    def __init__(self, arrays: list[Array]) -> None:
        self.arrays = arrays

    def unpacked(self, data: Piece) -> Any:
        """Return a value."""
        if not isinstance(data, dict):
            return data
        if "map" in data:
            return {self.unpacked(k): self.unpacked(v) for k, v in data["map"]}
        if "list" in data:
            return [self.unpacked(each) for each in data["list"]]
        if "tuple" in data:
            return tuple([self.unpacked(each) for each in data["tuple"]])
        if "array" in data:
            return self.number(data)
        return self.text(data) if "text" in data else part(self.whole(data))

    def whole(self, data: PieceWindow | PiecePile | PieceStage) -> object:
        """Return a value that is a part of an element: a pipeline, or one of several arrays."""
        if "window" in data:
            return Stage(Listed, (), {"elements": self.unpacked(data["window"])})
        if "pile" in data:
            return kinds_below(Pile)[data["pile"]].of(list(map(self.unpacked, data["arrays"])))
        return self.stage(data)

    def stage(self, data: PieceStage) -> Stage:
        """Return a pipeline."""
        inputs = tuple([self.unpacked(each).item() for each in data["inputs"]])
        if data["stage"] == Within.__name__:
            return Stage(Within, (), {"inner": inputs[0], "values": {}})
        return Stage(kinds_below(Stream)[data["stage"]], inputs, self.unpacked(data["options"]))

    def text(self, data: PieceTexts) -> Array:
        """Return an array of text."""
        raw = self.arrays[data["text"]].tobytes()
        ends = np.cumsum([0, *data["sizes"]]).tolist()
        made: Array = np.empty(len(data["sizes"]), object)
        made[:] = [raw[a:b] for a, b in pairwise(ends)]
        found: Array = made.reshape(data["shape"])
        return found

    def number(self, data: PieceNumbers) -> Array:
        """Return an array; types that numpy does not know are written as their bytes."""
        found = self.arrays[data["array"]]
        wanted = next(r.numpy for r in rows.DTYPES.values() if r.numpy.name == data["dtype"])
        same: Array = found if found.dtype == wanted else found.view(wanted)
        return same


def to_bytes(state: State) -> bytes:
    """Return a state as bytes."""
    packer = Packer()
    text = json.dumps(packer.packed(state), separators=(",", ":")).encode()
    file = io.BytesIO()
    raw = [x.view(f"V{x.itemsize}") if x.dtype.kind == "V" else x for x in packer.arrays]
    named: dict[str, Any] = {f"a{i}": x for i, x in enumerate(raw)}
    np.savez(file, text=np.frombuffer(text, np.uint8), **named)
    return file.getvalue()


def from_bytes(data: bytes) -> State:
    """Return the state of bytes."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = [file[f"a{i}"] for i in range(len(file.files) - 1)]
            found: State = Unpacker(arrays).unpacked(json.loads(file["text"].tobytes()))
    except (ValueError, KeyError, OSError, IndexError) as error:
        raise DataLossError(f"this is not the state of a pipeline: {error}") from None
    return found
