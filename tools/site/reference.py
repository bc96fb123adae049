"""Pages about all public names of the package, made from their signatures and docstrings."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)
"""Lines of a docstring that are a session of Python."""
_QUOTED = re.compile(r"(: )'([^']*)'")
"""An annotation of a module whose annotations are texts."""
_ADDRESS = re.compile(r"<(?:function|class) '?([\w.]+)(?:'| at 0x\w+)>")
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Compile, load, run, write": ("frontend.programs", "frontend.models", "codegen", "runtime"),
    "What the command does, as functions": ("tools",),
    "Functions, graphs, sessions": (
        "frontend.function", "frontend.graph", "frontend.values", "frontend.eager",
    ),
    "Errors": ("errors",),
    "Arrays": ("",),
}  # fmt: skip
"""Title of a page -> the packages of gravure that its names are from; the last takes the rest."""


def pages() -> dict[str, str]:
    """Return the text of each page by its name."""
    whole = sys.modules[__name__.partition(".")[0]]
    found: dict[str, list[str]] = {title: [] for title in GROUPS}
    for name in sorted(whole.__all__, key=str.lower):
        if not name.startswith("__"):
            value = getattr(whole, name)
            found[group_of(value)].append(entry(f"gravure.{name}", value))
    return {_file(title): page(title, entries) for title, entries in found.items() if entries}


def page(title: str, entries: list[str]) -> str:
    """Return a page."""
    return "\n\n".join([f"# {title}", *entries]) + "\n"


def group_of(value: object) -> str:
    """Return the title of the page that a value stands on."""
    module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")
    place = str(module).removeprefix("gravure.")
    return next(
        title for title, starts in GROUPS.items() if any(place.startswith(s) for s in starts)
    )


def entry(name: str, value: object) -> str:
    """Return what is said about one name: its signature, its docstring, its public methods."""
    lines = [f"## `{name}`"]
    if inspect.isclass(value) or callable(value):
        lines.append(f"```python\n{_signature(name, value)}\n```")
    elif not isinstance(value, ModuleType):
        return f"{lines[0]}\n\nThe constant `{value!r}`."
    lines.append(markdown(inspect.getdoc(value) or ""))
    if inspect.isclass(value):
        lines += [f"### `{label}`\n\n{text}" for label, text in _methods(value)]
    if isinstance(value, ModuleType):
        lines += [
            f"### `{name}.{each}`\n\n{markdown(inspect.getdoc(getattr(value, each)) or '')}"
            for each in getattr(value, "__all__", ())
        ]
    return "\n\n".join(line for line in lines if line)


def markdown(text: str) -> str:
    r"""Return a docstring as Markdown: its examples become blocks.

    >>> markdown("Add.\n\n>>> add(1, 2)\n3")
    'Add.\n\n```pycon\n>>> add(1, 2)\n3\n```'
    """
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", text)


def _signature(name: str, value: Callable[..., object]) -> str:
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    parts = [_QUOTED.sub(r"\1\2", str(each)) for each in found.parameters.values()]
    parts = [_ADDRESS.sub(r"\1", part) for part in parts]
    whole = f"{name}({', '.join(parts)})"
    if len(whole) <= 88:
        return whole
    return "\n".join([f"{name}(", *(f"    {part}," for part in parts), ")"])


def _methods(value: type) -> Iterator[tuple[str, str]]:
    """Give name and text of each public method and property that has a docstring of its own."""
    for name, member in sorted(vars(value).items()):
        text = inspect.getdoc(member)
        is_shown = inspect.isfunction(member) or isinstance(member, property | classmethod)
        if is_shown and text and not name.startswith("_"):
            yield f"{value.__name__}.{name}", markdown(text)


def _file(title: str) -> str:
    return "reference-" + re.sub(r"\W+", "-", title.lower())
