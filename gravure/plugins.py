"""Plugins: packages and files from outside that register what gravure then has too.

    [project.entry-points."gravure.plugins"]
    shrink = "gravure_shrink"

A plugin is a module that says `GRAVURE_API = 1` and registers, while it is imported, operations,
passes, ONNX rules and back ends: see `docs/plugins.md` and `gravure.extend`. Installed plugins are
looked for when a name is asked for that nobody has, not before: the search costs tens of
milliseconds, and most programs need no plugin. A file is loaded when it is named.

A plugin that cannot be loaded is an error, for what was asked for may be in it; what it has
registered until then is taken back.
"""

from __future__ import annotations

import ast
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from . import extensions
from .errors import GravureError
from .knobs import PLUGINS
from .trees import module_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

API = 1
"""What a plugin can rely on, counted up when something of it goes: the names of `extend`."""
GROUP = "gravure.plugins"
"""The group of entry points that packages name their plugins in."""
MARK = "GRAVURE_API"
"""What a plugin's module sets to the number that it was written for."""


class PluginError(GravureError):
    """A plugin cannot be loaded, or made a mistake.

    The message names the plugin, with its package and version or its file, and where in it the
    mistake is. `gravure plugins` lists all that are installed. GRAVURE_PLUGINS=off leaves installed
    plugins out; so does taking the package away.
    """

    code = "GV4150"
    exit_status = 69


@dataclass
class Plugin:
    """One plugin, installed or a file."""

    name: str
    package: str
    """Name and version of its package; empty for a file."""
    module: str
    """The module that registers."""
    path: str = ""
    """Its file or folder, once that is known."""
    is_loaded: bool = False
    fault: PluginError | None = None
    """Why it cannot be loaded."""

    @property
    def title(self) -> str:
        """Return what errors call it."""
        return f"plugin {self.name!r} of {self.package or self.path}"

    @property
    def registered(self) -> list[extensions.Registered]:
        """Return what it has registered."""
        top, rows = self.module.partition(".")[0], extensions.REGISTERED
        return [row for row in rows if row.what.__module__.partition(".")[0] == top]

    def has_file(self, name: str) -> bool:
        """Say whether a file is its own."""
        return bool(self.path) and (name == self.path or Path(self.path) in Path(name).parents)


@dataclass
class PluginState:
    """What is known of plugins in this process."""

    found: dict[str, Plugin] = field(default_factory=dict)
    """By name, in the order in which they were found."""
    is_searched: bool = False
    """Whether installed plugins were looked for."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    busy: bool = False
    """Whether one is being loaded: what it asks for it must have itself."""


STATE = PluginState()


def load_installed() -> bool:
    """Load all installed plugins, if they are not; return whether there are any.

    Raises `PluginError` as long as there is one that cannot be loaded.
    """
    with STATE.lock:
        if STATE.busy:
            return False
        load_possible()
        for plugin in STATE.found.values():
            if plugin.fault is not None:
                raise plugin.fault
        return bool(STATE.found)


def load_possible() -> None:
    """Load all installed plugins that can be; the others have their faults then."""
    with STATE.lock:
        for plugin in _search():
            if not plugin.is_loaded and plugin.fault is None:
                _load(plugin)


def load_named(name: str) -> bool:
    """Load an installed plugin; return whether there is one of that name."""
    with STATE.lock:
        plugin = next((each for each in _search() if each.name == name), None)
        if plugin is not None and not plugin.is_loaded:
            if plugin.fault is None:
                _load(plugin)
            if plugin.fault is not None:
                raise plugin.fault
        return plugin is not None


def load_file(path: Path) -> Plugin:
    """Load a plugin from a file of Python, or from a folder that is a package.

    A file that is loaded already is not loaded again. Raises `PluginError`.
    """
    path = path.absolute()
    start = path / "__init__.py" if path.is_dir() else path
    known = next((each for each in STATE.found.values() if each.path == str(path)), None)
    if known is not None and known.is_loaded:
        return known
    plugin = Plugin(path.stem, "", path.stem, str(path))
    if not start.is_file():
        raise PluginError("no such plugin, expected a file of Python", location=str(path))
    if not path.stem.isidentifier():
        raise PluginError(f"plugin {path.stem!r}: the name is no module's", location=str(path))
    if path.stem in sys.modules or plugin.name in STATE.found:
        raise PluginError(
            f"plugin {path.stem!r}: there is a module or plugin of that name already",
            location=str(path),
        )
    with STATE.lock:
        _load(plugin, lambda: _execute(path.stem, start, is_package=path.is_dir()))
    if plugin.fault is not None:
        raise plugin.fault
    STATE.found[plugin.name] = plugin
    return plugin


def unload(plugin: Plugin) -> None:
    """Take what a plugin has registered out of all tables; its modules stay imported."""
    with STATE.lock:
        for row in reversed(plugin.registered):
            row.undo()
            extensions.REGISTERED.remove(row)
        plugin.is_loaded = False
        STATE.found.pop(plugin.name, None)
        if not plugin.package:
            for name in [n for n in sys.modules if n.partition(".")[0] == plugin.module]:
                del sys.modules[name]


def installed() -> list[Plugin]:
    """Return all plugins that are known, those with faults too; none is loaded for it."""
    with STATE.lock:
        _search()
        return [*STATE.found.values()]


def names_loaded() -> list[str]:
    """Return the names of installed plugins that are loaded."""
    return [each.name for each in STATE.found.values() if each.is_loaded and each.package]


def _search() -> list[Plugin]:
    """Return the installed plugins, looked for once."""
    if not STATE.is_searched and PLUGINS.text() != "off":
        from importlib.metadata import entry_points  # noqa: PLC0415  (takes milliseconds)

        for entry in sorted(entry_points(group=GROUP), key=lambda e: (e.name, _package(e))):
            _find(entry)
        STATE.is_searched = True
    return [each for each in STATE.found.values() if each.package]


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"


def _find(entry: EntryPoint) -> None:
    """Note an installed plugin; one whose name is taken is at fault."""
    package = _package(entry)
    plugin = Plugin(entry.name, package, entry.module)
    known = STATE.found.get(entry.name)
    if known is None:
        STATE.found[entry.name] = plugin
    elif (known.package, known.module) != (package, entry.module):
        plugin.fault = PluginError(f"{plugin.title}: {known.package or known.path} has its name")
        STATE.found[f"{entry.name} ({package})"] = plugin


def _load(plugin: Plugin, execute: Callable[[], object] | None = None) -> None:
    """Import a plugin's module; keep what went wrong as its fault."""
    before, modules = len(extensions.REGISTERED), {*sys.modules}
    STATE.busy, extensions.LOADING.owner = True, plugin.title
    try:
        _check_api(plugin)
        if execute is None:
            import_module(plugin.module)
        else:
            execute()
        plugin.is_loaded = True
    except PluginError as error:
        plugin.fault = error
    except Exception as error:  # whatever a plugin raises is told with its place
        plugin.fault = _fault(plugin, error)
    finally:
        STATE.busy, extensions.LOADING.owner = False, ""
        if not plugin.is_loaded:
            extensions.forget_behind(before)
            top = plugin.module.partition(".")[0]
            for name in {*sys.modules} - modules:
                if name.partition(".")[0] == top:
                    del sys.modules[name]


def _execute(name: str, start: Path, *, is_package: bool) -> None:
    """Run a file as a module."""
    folders = [str(start.parent)] if is_package else None
    spec = spec_from_file_location(name, start, submodule_search_locations=folders)
    assert spec is not None, f"{start} is Python's"
    assert spec.loader is not None, f"{start} is Python's"
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)


def _check_api(plugin: Plugin) -> None:
    """Read, before anything of a plugin runs, which number it was written for."""
    start = Path(plugin.path)
    if plugin.package:
        spec = find_spec(plugin.module)
        if spec is None or spec.origin is None:
            raise PluginError(f"{plugin.title}: there is no module {plugin.module!r}")
        start = Path(spec.origin)
        plugin.path = str(start.parent if start.name == "__init__.py" else start)
    elif start.is_dir():
        start = start / "__init__.py"
    number = _number(module_of(start.read_bytes(), str(start)))
    if number is None:
        raise PluginError(
            f"{plugin.title}: the module says no number, expected {MARK} = {API}",
            location=str(start),
        )
    if number != API:
        what = "an older" if number > API else "a newer"
        raise PluginError(
            f"{plugin.title} is written for the interface {number}, this is {what} gravure with"
            f" {API}",
            location=str(start),
        )


def _number(tree: ast.Module) -> int | None:
    """Return the number that a module sets; None if there is none."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            names = [each.id for each in node.targets if isinstance(each, ast.Name)]
            if MARK in names and type(node.value.value) is int:
                return node.value.value
    return None


def _fault(plugin: Plugin, error: Exception) -> PluginError:
    """Return the error of a plugin that cannot be loaded, with the place in it."""
    if isinstance(error, SyntaxError) and error.filename:
        place = f"{error.filename}:{error.lineno or 1}"
    else:
        place = _place(plugin, error.__traceback__) or plugin.path
    text = error.message if isinstance(error, GravureError) else f"{type(error).__name__}: {error}"
    made = PluginError(f"{plugin.title} cannot be loaded: {text}", location=place)
    made.__cause__ = error
    return made


def _place(plugin: Plugin, trace: TracebackType | None) -> str:
    """Return the innermost line of a plugin's own files that a traceback passes through."""
    frames = traceback.extract_tb(trace)
    own = [each for each in frames if plugin.has_file(each.filename)]
    return f"{own[-1].filename}:{own[-1].lineno}" if own else ""


def blamed(error: BaseException) -> tuple[Plugin, str] | None:
    """Return the plugin in whose code an error came up last, and the line; None: in no plugin's.

    Frames of gravure below it are called by the plugin.
    """
    for plugin in STATE.found.values():
        place = _place(plugin, error.__traceback__) if plugin.is_loaded else ""
        if place:
            return plugin, place
    return None


@contextmanager
def blaming() -> Iterator[None]:
    """Raise what a plugin's code raises, errors of gravure's aside, as `PluginError`."""
    try:
        yield
    except GravureError:
        raise
    except Exception as error:
        found = blamed(error)
        if found is None:
            raise
        plugin, place = found
        raise PluginError(
            f"{plugin.title} failed: {type(error).__name__}: {error}", location=place
        ) from error
