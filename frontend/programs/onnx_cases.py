"""Test folders as the `onnx` package has them: a model, and sets of inputs with their results.

CASE/model.onnx
CASE/test_data_set_0/input_0.pb, ..., output_0.pb, ...
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import DecodeError
from onnx import OptionalProto, SequenceProto, TensorProto, ValueInfoProto, numpy_helper

from ...errors import ParseError
from .onnx_backend import GravureRep, prepare

SET = "test_data_set_"
_KINDS: dict[str, Any] = {"sequence_type": SequenceProto, "optional_type": OptionalProto}


@dataclass(frozen=True)
class Data:
    """One set: values that go in, and those that must come out, by name."""

    name: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One folder of a test."""

    folder: Path

    @property
    def model(self) -> Path:
        """Return the model's file."""
        return self.folder / "model.onnx"

    def prepared(self) -> GravureRep:
        """Return the model, ready to run."""
        try:
            return prepare(onnx.load(self.model))
        except DecodeError as error:
            raise ParseError("not an ONNX model", location=str(self.model)) from error

    def data(self) -> Iterator[Data]:
        """Give the sets in order."""
        graph = onnx.load(self.model, load_external_data=False).graph
        stored = {tensor.name for tensor in graph.initializer}
        inputs = [value for value in graph.input if value.name not in stored]
        for folder in sorted(self.folder.glob(f"{SET}*"), key=_number):
            given, wanted = _read(folder, "input", inputs), _read(folder, "output", graph.output)
            yield Data(folder.name, given, wanted)


def find_cases(folder: Path) -> list[Case]:
    """Return the cases in a folder and in those inside of it, sorted by name."""
    found = sorted(path.parent for path in folder.rglob("model.onnx"))
    return [Case(path) for path in found if any(path.glob(f"{SET}*"))]


def _number(folder: Path) -> tuple[int, str]:
    text = folder.name.removeprefix(SET)
    return (int(text) if text.isdigit() else 0, text)


def _read(folder: Path, what: str, declared: Sequence[ValueInfoProto]) -> dict[str, Any]:
    """Return the values in the files of one set."""
    found = {}
    for number, value in enumerate(declared):
        path = folder / f"{what}_{number}.pb"
        if not path.is_file():
            raise ParseError(f"{path.name} is missing", location=str(folder))
        kind = _KINDS.get(value.type.WhichOneof("value") or "", TensorProto)
        try:
            found[value.name] = _value(kind.FromString(path.read_bytes()))
        except (DecodeError, ValueError, TypeError) as error:
            raise ParseError(f"no value of the standard: {error}", location=str(path)) from error
    return found


def _value(stored: Any) -> Any:
    if isinstance(stored, SequenceProto):
        return numpy_helper.to_list(stored)
    if isinstance(stored, OptionalProto):
        return numpy_helper.to_optional(stored)
    return numpy_helper.to_array(stored)
