"""Which public names the names of TensorFlow's own modules have, read from its sources.

`@tf_export("math.add", "add", v1=[...])` above a function or class says its names: those by
position are in both versions if no `v1` is given, else only in the second one; those of `v1` are in
`compat.v1`. What a module takes from others is looked up there.
"""

import ast
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

EXPORTS = ("tf_export", "keras_export", "estimator_export")


class NotPublicError(AttributeError):
    """A name is not public."""


@dataclass(frozen=True)
class Public:
    """The public names of something: of the second version, and of the first."""

    second: tuple[str, ...]
    first: tuple[str, ...]

    def names(self):
        """Return where it is found, without `tf.`."""
        return [*self.second, *(f"compat.v1.{name}" for name in self.first)]


@dataclass
class Source:
    """What a module's source says of its names."""

    exported: dict = field(default_factory=dict)
    defined: set = field(default_factory=set)
    taken: dict = field(default_factory=dict)
    """Names that are another module's: the module and its name there, None for the module."""
    stars: list = field(default_factory=list)

    def also(self, name):
        """Say whether something of another name is public by this name."""
        every = (x.rpartition(".")[2] for p in self.exported.values() for x in p.names())
        return name in every


def export_of(call):
    """Return the public names that a call or decorator gives, None if it gives none."""
    while isinstance(call, ast.Call):
        called = call.func
        name = getattr(called, "id", getattr(called, "attr", ""))
        if name in EXPORTS:
            texts = tuple(x.value for x in call.args if isinstance(x, ast.Constant))
            v1 = next((x.value for x in call.keywords if x.arg == "v1"), None)
            first = texts if v1 is None else tuple(ast.literal_eval(v1))
            return Public(texts, first)
        call = called
    return None


def leaf_of(call):
    """Return the name that is given to an export, through what is wrapped around it."""
    while isinstance(call, ast.Call):
        call = call.args[0] if call.args else None
    return call.id if isinstance(call, ast.Name) else None


def note(source, node):
    """Note what a statement says of names."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        source.defined.add(node.name)
        found = [p for p in map(export_of, node.decorator_list) if p]
        if found:
            source.exported[node.name] = Public(
                tuple(x for p in found for x in p.second), tuple(x for p in found for x in p.first)
            )
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        note_value(source, node.targets[0].id, node.value)
    elif isinstance(node, ast.Expr):
        public, name = export_of(node.value), leaf_of(node.value)
        called = node.value.func if isinstance(node.value, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr == "export_constant":
            public, name = export_of(called.value), node.value.args[1].value
        if public and name:
            source.exported[name] = public
    elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tensorflow.python"):
        for each in node.names:
            if each.name == "*":
                source.stars.append(node.module)
            else:
                source.taken[each.asname or each.name] = (node.module, each.name)


def note_value(source, name, value):
    """Note what a name is given."""
    public = export_of(value)
    if public:
        source.exported[name] = public
    elif isinstance(value, ast.Name):
        source.taken[name] = (None, value.id)
    elif isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        source.taken[name] = (source.taken.get(value.value.id, ("", ""))[0], value.attr)


class Sources:
    """The modules below a folder."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def has(self, module):
        """Say whether there is a module or package of a name."""
        path = self.folder.joinpath(*module.split("."))
        return path.is_dir() or path.with_suffix(".py").is_file()

    def path(self, module):
        """Return the file of a module."""
        return self.folder.joinpath(*module.split(".")).with_suffix(".py")

    def is_file(self, module):
        """Say whether a name is that of a file."""
        return self.path(module).is_file()

    def is_package(self, module):
        """Say whether a name is that of a folder."""
        return self.folder.joinpath(*module.split(".")).is_dir()

    @cache  # noqa: B019  (one object a process)
    def read(self, module):
        """Return what a module says of its names, None if there is no source."""
        path = self.folder.joinpath(*module.split("."))
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if not path.is_file():
            return None
        source = Source()
        for node in ast.parse(path.read_text()).body:
            note(source, node)
        return source

    def find(self, module, name, depth=0):
        """Return the public names of a module's name; False if it has none, None if unknown."""
        source = self.read(module)
        if source is None or depth > 9:
            return None
        if name in source.exported:
            return source.exported[name]
        if name in source.defined:
            return None if source.also(name) else False
        if name in source.taken:
            other, inner = source.taken[name]
            return self.find(other or module, inner, depth + 1)
        for other in source.stars:
            found = self.find(other, name, depth + 1)
            if found is not None:
                return found
        return None
