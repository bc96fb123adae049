"""Files that a saved module takes along."""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NotRequired, TypedDict, cast

import numpy as np

from ...eager.tensor import Tensor
from ...graph.graph import GraphTensor
from ...values.run_errors import NotFoundError
from ..core.bridge import TfTensor
from ..core.values import convert

FOLDER = "assets"


class TextData(TypedDict):
    """Texts among the constants of functions; of one that says where a file lies, its name."""

    shape: list[int]
    texts: list[str]
    file: NotRequired[str]


class Asset:
    """A file of a module: saved beside it, and found where the module is loaded from.

    `asset_path` is where it lies, as a tensor; functions that read it read the file of the module
    that they were loaded with.
    """

    def __init__(self, path: object) -> None:
        self.asset_path: TfTensor = convert(os.fspath(path) if isinstance(path, Path) else path)

    def __tf_tensor__(self, dtype: object = None, name: str | None = None) -> TfTensor:
        """Return where it lies."""
        return self.asset_path


class Assets:
    """The files of a module that is being saved: each has a name of its own in its folder."""

    def __init__(self) -> None:
        self.sources: dict[str, str] = {}
        """Where the files lie, by their names."""

    def name(self, asset: Asset) -> str:
        """Return what a file is called there; two of one name are told apart by a number."""
        source = _text(asset.asset_path)
        name, count = os.path.basename(source), 0
        while self.sources.get(name, source) != source:
            count += 1
            name = f"{os.path.basename(source)}_{count}"
        self.sources[name] = source
        return name

    def mark(self, data: object) -> None:
        """Note the names of files in functions: a text that they took is a constant of theirs."""
        known = {base64.b64encode(s.encode()).decode(): n for n, s in self.sources.items()}
        for text in _texts(data):
            for said in text["texts"]:
                if said in known:
                    text["file"] = known[said]

    def copy(self, folder: Path) -> None:
        """Copy the files to where the module is saved."""
        for name, source in self.sources.items():
            to = folder / FOLDER / name
            if not os.path.isfile(source):
                raise NotFoundError(f"{source}; No such file or directory")
            to.parent.mkdir(parents=True, exist_ok=True)
            if not (to.exists() and os.path.samefile(source, to)):
                shutil.copyfile(source, to)


def place_of(folder: Path, name: str) -> TfTensor:
    """Return where a file of a loaded module lies, or raise for what is no name of one."""
    return convert(path_in(folder, name))


def path_in(folder: Path, name: str) -> str:
    """Return where a file of a module lies, as text."""
    if name != os.path.basename(name) or name in ("", ".", ".."):
        raise ValueError(f"{name!r} is no name of a file in {FOLDER}")
    return str(folder / FOLDER / name)


def place_marked(folder: Path, data: object) -> None:
    """Change the texts of functions that say where a file lay to where it lies now."""
    for text in _texts(data):
        if "file" in text:
            place = path_in(folder, text.pop("file"))
            text["texts"] = [base64.b64encode(place.encode()).decode()]


def _text(tensor: TfTensor) -> str:
    """Return the one text that a tensor holds."""
    given: Tensor = tensor
    if isinstance(given, GraphTensor) and given.op.type == "Const":
        value = given.op.attributes["value"]
    else:
        value = tensor.numpy()
    (text,) = np.asarray(value, object).ravel().tolist()
    return bytes(text).decode()


def _texts(data: object) -> Iterator[TextData]:
    """Yield the single texts in the data of functions."""
    if isinstance(data, dict):
        if data.get("shape") == [] and "texts" in data:
            yield cast("TextData", data)
        data = list(data.values())
    if isinstance(data, list):
        for each in data:
            yield from _texts(each)
