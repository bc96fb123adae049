"""`tf.flags` and `tf.app.run`, which are absl's."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import NoReturn

from ....errors import GravureError


class MissingAbslError(GravureError, ImportError):
    """Flags are asked for, but the package that carries them out is not installed."""

    code = "GV2342"


def _absl(name: str) -> ModuleType:
    """Return a module of absl."""
    try:
        from absl import app, flags  # noqa: PLC0415  (optional)
    except ImportError as error:
        raise MissingAbslError(
            f"tf.{name} needs the package absl-py, which is not installed",
            hint="pip install gravure[flags]",
        ) from error
    modules: dict[str, ModuleType] = {"app": app, "flags": flags}
    return modules[name]


class Flags:
    """`tf.flags`: each name is absl's."""

    def __getattr__(self, name: str) -> object:
        found = _absl("flags")
        if name in ("tf_decorator", "__path__") or not hasattr(found, name):
            raise AttributeError(f"gravure.tf.flags has no {name!r}")
        return getattr(found, name)


flags = Flags()


class App:
    """`tf.app`: the flags, and what runs a program."""

    flags = flags

    @staticmethod
    def run(
        main: Callable[[Sequence[str]], object] | None = None, argv: Sequence[str] | None = None
    ) -> NoReturn:
        """Read flags, call the main function with what is left, and end the process."""
        found: object = main if main is not None else sys.modules["__main__"].__dict__["main"]
        known = _absl("flags")
        _absl("app").run(
            main=found,
            argv=argv,
            flags_parser=lambda args: known.FLAGS(args, known_only=True),
        )
        sys.exit(0)


app = App()
