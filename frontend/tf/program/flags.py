"""`tf.flags` and `tf.app.run`, which are absl's."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial, wraps
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from ....errors import GravureError
from ..core.space import Space


class MissingAbslError(GravureError, ImportError):
    """Flags are asked for, but the package that carries them out is not installed."""

    code = "GV2342"


def _absl(name: str) -> ModuleType:
    """Return a module of absl."""
    try:
        from absl import app, flags  # noqa: PLC0415  (optional)

        import_module("absl.testing.absltest")  # (it defines the flags that tests are told by)
    except ImportError as error:
        raise MissingAbslError(
            f"tf.{name} needs the package absl-py, which is not installed",
            hint="pip install gravure[flags]",
        ) from error
    modules: dict[str, ModuleType] = {"app": app, "flags": flags}
    return modules[name]


NAMES = (
    *("DEFINE", "DEFINE_alias", "DEFINE_bool", "DEFINE_boolean", "DEFINE_enum", "DEFINE_float"),
    *("DEFINE_enum_class", "DEFINE_flag", "DEFINE_integer", "DEFINE_list", "DEFINE_multi"),
    *("DEFINE_multi_enum", "DEFINE_multi_enum_class", "DEFINE_multi_float"),
    *("DEFINE_multi_integer", "DEFINE_multi_string", "DEFINE_spaceseplist", "DEFINE_string"),
    *("ArgumentParser", "ArgumentSerializer", "BaseListParser", "BooleanFlag", "BooleanParser"),
    *("CantOpenFlagFileError", "CsvListSerializer", "DuplicateFlagError", "EnumClassFlag"),
    *("EnumClassParser", "EnumFlag", "EnumParser", "Error", "FLAGS", "Flag", "FlagHolder"),
    *("FlagNameConflictsWithMethodError", "FlagValues", "FloatParser", "IllegalFlagValueError"),
    *("IntegerParser", "ListParser", "ListSerializer", "MultiEnumClassFlag", "MultiFlag"),
    *("UnparsedFlagAccessError", "UnrecognizedFlagError", "ValidationError"),
    *("WhitespaceSeparatedListParser", "adopt_module_key_flags", "declare_key_flag"),
    *("disclaim_key_flags", "doc_to_help", "flag_dict_to_args", "get_help_width"),
    *("mark_bool_flags_as_mutual_exclusive", "mark_flag_as_required"),
    *("mark_flags_as_mutual_exclusive", "mark_flags_as_required", "multi_flags_validator"),
    *("override_value", "register_multi_flags_validator", "register_validator", "set_default"),
    *("text_wrap", "validator"),
)
"""The names of `tf.flags`."""


class Read:
    """absl's flags: what the command line says is read when the first is asked for."""

    def __init__(self, found: object) -> None:
        self.__dict__["found"] = found

    def __getattr__(self, name: str) -> object:
        found = self.__dict__["found"]
        if name in found and not found.is_parsed():
            found(sys.argv)
        return getattr(found, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.__dict__["found"], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.__dict__["found"], name)

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["found"])

    def __getitem__(self, name: str) -> object:
        return self.__dict__["found"][name]

    def __contains__(self, name: str) -> bool:
        return name in self.__dict__["found"]

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__["found"])

    def __len__(self) -> int:
        return len(self.__dict__["found"])

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Read flags of a command line."""
        return self.__dict__["found"](*args, **kwargs)


OLDER = {"flag_name": "name", "default_value": "default", "docstring": "help"}
"""Names of arguments as they were before absl."""


def _defining(define: Callable[..., object]) -> Callable[..., object]:
    """Return a function that defines a flag, which takes the older names too."""

    @wraps(define)
    def public(*args: object, **kwargs: object) -> object:
        return define(*args, **{OLDER.get(name, name): x for name, x in kwargs.items()})

    return public


def _flag(name: str) -> object:
    """Return what absl has under a name of `tf.flags`."""
    found = getattr(_absl("flags"), name)
    if name == "FLAGS":
        return Read(found)
    return _defining(found) if name.startswith("DEFINE") else found


flags = Space("compat.v1.flags", {name: partial(_flag, name) for name in NAMES})
"""`tf.flags`: each name is absl's, which is imported when the first is asked for."""


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
