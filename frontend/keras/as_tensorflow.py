"""Run programs that import TensorFlow, unchanged: its modules are those of `gravure.tf`.

import tensorflow.compat.v1 as tf              finds  gravure.tf.compat.v1
from tensorflow.keras import layers            finds  gravure.tf.keras.layers
import keras                                   finds  Keras, on gravure
from tensorflow.python.framework import ops    has what is public of it (see `inner_names`)
from tensorflow.contrib import slim            is refused by name
"""

from __future__ import annotations

import argparse
import re
import runpy
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from ...errors import GravureError
from .hook import TENSORFLOW, Alias, load
from .inner_names import is_inner, public_names

THEIRS, INNER = "tensorflow", "python"
KERAS = re.compile(r"python\.keras(\.|$)")


class TensorFlowImportError(GravureError, ModuleNotFoundError):
    """A module of TensorFlow cannot be gravure's: it has none of the name, or it is there already.

    The modules of gravure are those of TensorFlow's public names, which docs/tensorflow.md lists.
    Import `gravure.as_tensorflow` before `tensorflow`, in a fresh process.
    """

    code = "GV2394"


class InnerLoader(Loader):
    """Makes modules below `tensorflow.python`."""

    def exec_module(self, module: ModuleType) -> None:
        """Give the module what is public of its names."""
        path = module.__name__.removeprefix(f"{THEIRS}.{INNER}").removeprefix(".")
        vars(module).update(public_names(path))


class InPlace(MetaPathFinder):
    """Finds the modules of gravure under TensorFlow's names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module comes from; None for those of others."""
        if fullname == "keras":
            # While it is loaded this is asked again, and others find it.
            sys.meta_path.remove(self)
            try:
                load()
            finally:
                sys.meta_path.insert(0, self)
            return ModuleSpec(fullname, Alias(fullname), is_package=True)
        if not fullname.startswith(f"{THEIRS}."):
            return None
        rest = fullname.removeprefix(f"{THEIRS}.")
        if rest == INNER or (rest.startswith(f"{INNER}.") and is_inner(rest[len(INNER) + 1 :])):
            return ModuleSpec(fullname, InnerLoader(), is_package=True)
        ours = f"{TENSORFLOW}.{rest.removeprefix(f'{INNER}.') if KERAS.match(rest) else rest}"
        try:
            import_module(ours)
        except ModuleNotFoundError as error:
            if error.name is None or not ours.startswith(error.name):
                raise
            raise TensorFlowImportError(
                f"No module named {fullname!r} in gravure, which has TensorFlow's public names",
                hint="docs/tensorflow.md has those that there are",
            ) from None
        return ModuleSpec(fullname, Alias(ours), is_package=True)


def install() -> None:
    """Let `tensorflow` and `keras` be gravure's in this process, from now on.

    Raises `TensorFlowImportError` where TensorFlow was imported before. Importing `keras` raises
    `KerasError` if it runs on another backend already.
    """
    tf = import_module(TENSORFLOW)
    found = sys.modules.get(THEIRS)
    if found is tf:
        return
    if found is not None:
        raise TensorFlowImportError(
            f"{THEIRS} was imported before, from {getattr(found, '__file__', 'elsewhere')}",
            hint="import gravure.as_tensorflow before tensorflow",
        )
    sys.modules.update(
        (f"{THEIRS}{name.removeprefix(TENSORFLOW)}", module)
        for name, module in list(sys.modules.items())
        if name == TENSORFLOW or name.startswith(f"{TENSORFLOW}.")
    )
    sys.meta_path.insert(0, InPlace())


def main(arguments: Sequence[str]) -> None:
    """Run a program, or with `-m` a module, as `python` does, with the arguments behind it."""
    parser = argparse.ArgumentParser(
        prog="python -m gravure.as_tensorflow",
        description="Run a program that imports TensorFlow on gravure.",
    )
    parser.add_argument("-m", dest="module", action="store_true", help="it is a module's name")
    parser.add_argument("program", help="a file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program is given")
    given = parser.parse_args(arguments)
    install()
    sys.argv[:] = [given.program, *given.arguments]
    if given.module:
        sys.path.insert(0, str(Path.cwd()))
        runpy.run_module(given.program, run_name="__main__", alter_sys=True)
        return
    try:
        source = Path(given.program).read_bytes()
    except OSError as error:
        parser.error(f"can't open file {given.program!r}: {error.strerror}")
    sys.path[0] = str(Path(given.program).resolve().parent)
    # It stays, as threads of the program may run on when it has ended.
    module = sys.modules["__main__"] = ModuleType("__main__")
    module.__file__ = given.program
    exec(compile(source, given.program, "exec"), module.__dict__)
