"""Tables of keys and values: those that are filled once, and those that change."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.dtypes import DType
from ....ir.types.tensor import TensorSpec
from ...data.stored import StoredStep, stored
from ...formats.fingerprints import farm, farms
from ...formats.hashing import hashes
from ...function.function import init_scope
from ...function.graph_data import RESOURCES, GraphTextError, Resource
from ...graph.graph import Graph, Operation
from ...values import decimals
from ...values.context import STATE
from ...values.dtypes import DataType, DTypeLike
from ...values.run_errors import FailedPreconditionError, InvalidArgumentError
from ...values.texts import Text, Texts, as_objects, made_text
from ..core.bridge import TfTensor, row_of
from ..core.element_types import as_dtype, int32, int64, string
from ..core.host_ops import host, host_effect, unknown
from ..core.values import InGraph, InvalidShapesError, convert, graph_of
from ..graph.graph_lists import GraphKeys, add_to_collection, get_collection
from ..graph.state import group
from ..nondense.sparse_tensor import SparseTensor
from ..ragged.tensor import RaggedTensor
from .index import KeyIndex, filled
from .initial import Initializer
from .saving import Columns

INITIALIZERS = "table_initializer"
"""The list of a graph that what fills its tables is kept in."""

Found: TypeAlias = TfTensor | SparseTensor | RaggedTensor
Function = Callable[[TfTensor], TfTensor]


LONG = rows.i64


def row_for(dtype: DataType) -> DType:
    """Return the row of an element type."""
    row = row_of(dtype)
    assert row is not None, "a type was given"
    return row


Size = TypeVar("Size")
Key = Hashable
"""A key: a number or a text, or several of them."""


@dataclass(frozen=True, eq=False)
class TableStep:
    """A step of a table: what it does by its name in `DOES`."""

    table: Table
    does: str

    def __call__(self, *arrays: Array) -> Sequence[Array | Text]:
        """Do it."""
        return DOES[self.does](self.table, *arrays)

    def as_stored(self) -> StoredStep:
        """Return the step with the table as it is now."""
        held = {"table": self.table, "does": self.does}
        return StoredStep("step of a table", held, effect=True)


@stored("step of a table")
def _step_of(table: object, does: str) -> TableStep:
    """Return a step of a table."""
    if not isinstance(table, Table) or does not in DOES:
        raise GraphTextError(f"a table {table!r} does {does!r}, expected one of {sorted(DOES)}")
    return TableStep(table, does)


class Table(Resource):
    """What all tables have: types, and how keys become values."""

    kind = "table"
    _dims: tuple[int, ...] = ()
    """The shape of a value."""
    _key_dims: tuple[int, ...] = ()
    """The shape of a key."""

    def __init__(self, key_dtype: DataType, value_dtype: DataType, name: str) -> None:
        self.key_dtype, self.value_dtype, self.name = key_dtype, value_dtype, name
        self._content: dict[object, object] = {}
        self._index: KeyIndex | None = None
        self._ready = True

    def _check_ready(self) -> None:
        if not self._ready:
            raise FailedPreconditionError("Table not initialized.")

    def _keys(self, keys: object) -> TfTensor:
        """Return keys as a tensor, which must be of the table's type."""
        found = convert(keys)
        if found.dtype != self.key_dtype:
            raise TypeError(
                f"Dtype of argument `keys` must be {self.key_dtype!r}, received: {found.dtype!r}"
            )
        return found

    def _with_values(self, keys: object, function: Function) -> Found:
        """Return what a function gives for keys; of sparse and ragged ones, for the elements."""
        if isinstance(keys, RaggedTensor):
            return keys.with_flat_values(function(self._keys(keys.flat_values)))
        if isinstance(keys, SparseTensor):
            return keys.with_values(function(self._keys(keys.values)))
        with InGraph(graph_of([keys])):
            return function(self._keys(keys))

    def size(self, name: str | None = None) -> TfTensor:
        """Return how many keys there are."""
        spec, step = TensorSpec(LONG, ()), TableStep(self, "size")
        return host("LookupTableSizeV2", step, [], [spec], effect=True, name=name)[0]

    def _counted(self) -> Sequence[Array]:
        self._check_ready()
        return (np.array(len(self._content), np.int64),)

    def form(self) -> dict[str, object]:
        """Return what makes a table that has what this one has now."""
        return self.as_held()

    def as_held(self) -> dict[str, object]:
        """Return types, keys and values as a step holds them."""
        self._check_ready()
        keys = filled(list(self._content), self.key_dtype, ())
        values = filled([*self._content.values()], self.value_dtype, ())
        types = [self.key_dtype.name, self.value_dtype.name]
        return {"keys": keys, "values": values, "types": types}

    def index(self) -> KeyIndex | None:
        """Return the index of a table that is filled for good; None: keys are of another type."""
        if self.key_dtype != string and not self.key_dtype.is_integer:
            return None
        if self._index is None or self._index.content is not self._content:
            self._index = KeyIndex(self._content, self.key_dtype, self.value_dtype)
        return self._index

    def _pairs(self) -> tuple[Array, Array]:
        """Return all keys and their values."""
        keys = filled(list(self._content), self.key_dtype, self._key_dims)
        return keys, filled(list(self._content.values()), self.value_dtype, self._dims)

    def _shown_pairs(self) -> Sequence[Array]:
        self._check_ready()
        return self._pairs()

    def _exported(self) -> list[TfTensor]:
        def specs(_: object) -> Sequence[TensorSpec]:
            keys, values = row_for(self.key_dtype), row_for(self.value_dtype)
            return unknown(keys, None, *self._key_dims), unknown(values, None, *self._dims)

        return host("LookupTableExportV2", TableStep(self, "export"), [], specs, effect=True)


def shape_text(dims: Sequence[int]) -> str:
    """Return a shape as TensorFlow's runtime writes it.

    >>> shape_text((2, 3))
    '[2,3]'
    """
    return f"[{','.join(map(str, dims))}]"


MANY = 1 << 6
"""So many keys are looked up at once."""
OFTEN = 2
"""When a table that changes is asked for many keys so often between changes, they get an index."""


def one_by_one(keys: Array | Text, find: Callable[[Sequence[Key]], Array]) -> Array:
    """Return what a function finds for keys."""
    given = as_objects(keys)
    return find(given.ravel().tolist()).reshape(given.shape)


class StaticHashTable(Table):
    """A table that is filled once; other keys have a default."""

    def __init__(
        self,
        initializer: Initializer,
        default_value: object,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        types = as_dtype(initializer.key_dtype), as_dtype(initializer.value_dtype)
        super().__init__(*types, name or "hash_table")
        self.default_value = convert(default_value, self.value_dtype)
        if self.default_value.shape.rank not in (0, None):
            raise ValueError(f"Shapes {self.default_value.shape} and () are not compatible")
        self._ready = False
        self.initializer: Operation | None = initializer.initialize(self)
        if self.initializer is not None:
            add_to_collection(INITIALIZERS, self.initializer)

    def fill_from(self, initializer: Initializer) -> Operation | None:
        """Put the pairs of an initialiser in; return the operation of a graph that does."""
        operands = list(initializer.operands())

        def fill(*arrays: Array) -> Sequence[Array]:
            self._content = _unique(*initializer.pairs(*arrays))
            self._ready = True
            return ()

        with InGraph(graph_of(operands)):
            return host_effect("LookupTableImportV2", fill, operands)

    def lookup(self, keys: object, name: str | None = None) -> Found:
        """Return the values of keys."""

        def found(given: TfTensor) -> TfTensor:
            row = row_for(self.value_dtype)
            operands, step = [given, self.default_value], FindStep(self)
            spec = TensorSpec(row, given.spec.shape)
            made = host(
                "LookupTableFindV2",
                step,
                operands,
                [spec],
                effect=True,
                reads_text=True,
                name=name,
            )
            return made[0]

        return self._with_values(keys, found)

    def __getitem__(self, keys: object) -> Found:
        return self.lookup(keys)

    def export(self, name: str | None = None) -> tuple[TfTensor, TfTensor]:
        """Return all keys and their values."""
        keys, values = self._exported()
        return keys, values


@dataclass(frozen=True, eq=False)
class FindStep:
    """The step that looks keys up in a table, which may be filled later."""

    table: Table

    def __call__(self, keys: Array | Text, default: Array | Text) -> Sequence[Array | Text]:
        """Return the values of keys."""
        table, rest = self.table, np.asarray(default).item()
        table._check_ready()

        if math.prod(keys.shape) >= MANY and (index := table.index()) is not None:
            return (index.found(keys, rest),)

        def find(every: Sequence[Key]) -> Array:
            return filled([table._content.get(key, rest) for key in every], table.value_dtype, ())

        return (one_by_one(keys, find),)

    def as_stored(self) -> StoredStep:
        """Return the step with what is in the table now."""
        return StoredStep("table values", self.table.as_held())


@stored("table values")
def _finding(keys: Array, values: Array, types: Sequence[str]) -> FindStep:
    """Return what looks keys up in a table that is filled for good."""
    return FindStep(_table(keys, values, types))


def _table(keys: Array, values: Array, types: Sequence[str]) -> Table:
    """Return a table that is filled."""
    made = Table(as_dtype(types[0]), as_dtype(types[1]), "hash_table")
    made._content = _unique(keys, values)
    return made


@dataclass(frozen=True, eq=False)
class NumberStep:
    """The step that gives the numbers of words in a table, which may be filled later."""

    words: Table | None
    buckets: int

    def __call__(self, keys: Array | Text) -> Sequence[Array]:
        """Return the numbers of words; of others, those of their hashes."""
        known: dict[object, object] = {}
        if self.words is not None:
            self.words._check_ready()
            known = self.words._content

        def find(every: Sequence[Key]) -> Array:
            return np.array([_number(known, key, self.buckets) for key in every], np.int64)

        index = None if self.words is None else self.words.index()
        if math.prod(keys.shape) < MANY or (index is None and self.words is not None):
            return (one_by_one(keys, find),)
        return (self.at_once(keys, index).reshape(keys.shape),)

    def at_once(self, keys: Array | Text, index: KeyIndex | None) -> Array:
        """Return the numbers of many words, in a row; without an index none is known."""
        made, count = np.empty(math.prod(keys.shape), np.int64), 0
        others = np.arange(len(made))
        if index is not None:
            (places, missing), count = index.places(keys), len(index.content)
            assert not isinstance(index.values, Texts), "values are numbers"
            made[:] = index.values.take(places, mode="clip") if count else 0
            others = np.flatnonzero(places == count) if missing else others[:0]
        if not len(others):
            return made
        if isinstance(keys, Text) or keys.dtype.kind == "O":
            texts = made_text(keys).row.taken(others)
        else:
            written = decimals.written(keys.ravel()[others])
            assert written is not None, "keys are texts or integers"
            texts = written
        made[others] = count + hashes(farms, texts.every, texts.sizes, self.buckets).view(np.int64)
        return made

    def as_stored(self) -> StoredStep:
        """Return the step with what is in the table now."""
        held = None if self.words is None else self.words.as_held()
        return StoredStep("numbers of words", {"words": held, "buckets": self.buckets})


@stored("numbers of words")
def _numbering(words: Any, buckets: int) -> NumberStep:
    """Return what gives the numbers of words in a table that is filled for good."""
    return NumberStep(None if words is None else _table(**words), buckets)


def _unique(keys: Array, values: Array) -> dict[object, object]:
    """Return pairs as a dictionary; a key may not have two values."""
    made: dict[object, object] = {}
    for key, value in zip(keys.tolist(), values.tolist(), strict=True):
        if made.setdefault(key, value) != value:
            raise FailedPreconditionError(
                f"HashTable has different value for same key. Key {_shown(key)} has "
                f"{_shown(made[key])} and trying to add value {_shown(value)}"
            )
    return made


def _shown(value: object) -> object:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


class StaticVocabularyTable(Table):
    """A table of numbers of words; other words have a number behind them by their hash."""

    def __init__(
        self,
        initializer: Initializer | None,
        num_oov_buckets: int,
        lookup_key_dtype: DTypeLike | None = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        wanted = None if lookup_key_dtype is None else as_dtype(lookup_key_dtype)
        key_dtype = wanted or (string if initializer is None else initializer.key_dtype)
        if key_dtype not in (string, int32, int64):
            raise TypeError(f"Invalid `key_dtype`, expected integer or string, got {key_dtype!r}.")
        super().__init__(key_dtype, int64, name or "string_to_index")
        self._buckets = num_oov_buckets
        self._inner: StaticHashTable | None = None
        if initializer is None:
            return
        if initializer.value_dtype != int64:
            raise TypeError(
                f"Invalid `value_dtype`, expected {int64!r} but got {initializer.value_dtype!r}."
            )
        if (key_dtype == string) != (initializer.key_dtype == string):
            raise TypeError(
                f"Invalid `key_dtype` {initializer.key_dtype!r} of the initializer, expected "
                f"{'string' if key_dtype == string else 'an integer'}"
            )
        self._inner = StaticHashTable(initializer, -1, name)

    @property
    def initializer(self) -> Operation | None:
        """Return the operation of a graph that fills the table."""
        return None if self._inner is None else self._inner.initializer

    def _words(self) -> dict[object, object]:
        if self._inner is None:
            return {}
        self._inner._check_ready()
        return self._inner._content

    def lookup(self, keys: object, name: str | None = None) -> Found:
        """Return the numbers of words."""
        step = NumberStep(self._inner, self._buckets)

        def found(given: TfTensor) -> TfTensor:
            spec = TensorSpec(LONG, given.spec.shape)
            made = host(
                "VocabularyLookup", step, [given], [spec], effect=True, reads_text=True, name=name
            )
            return made[0]

        return self._with_values(keys, found)

    def __getitem__(self, keys: object) -> Found:
        return self.lookup(keys)

    def size(self, name: str | None = None) -> TfTensor:
        """Return how many numbers there are, those of hashes included."""

        def compute() -> Sequence[Array]:
            return (np.array(len(self._words()) + self._buckets, np.int64),)

        spec = TensorSpec(LONG, ())
        return host("VocabularySize", compute, [], [spec], effect=True, name=name)[0]


def _number(known: dict[object, object], key: object, buckets: int) -> object:
    """Return the number of a word, or one behind the known ones by its hash."""
    found = known.get(key)
    if found is not None:
        return found
    text = key if isinstance(key, bytes) else str(key).encode()
    return len(known) + farm(text) % buckets


class MutableHashTable(Table):
    """A table that changes; keys that it has not have a default."""

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: object,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        graph = STATE.context if isinstance(STATE.context, Graph) else None
        label = name if graph is None else graph.unique_name(name)
        super().__init__(as_dtype(key_dtype), as_dtype(value_dtype), label)
        self._default = convert(default_value, value_dtype)
        self._dims = tuple(self._default.shape.known())
        if len(self._dims) > 1:
            raise InvalidArgumentError(
                f"Default value must be a vector, got shape {shape_text(self._dims)}"
            )
        self._is_saved = checkpoint
        self._changes = self._asked = 0
        """How often it was changed, and how often since then it was asked for many keys."""
        self._indexed: tuple[int, KeyIndex] | None = None
        """The index, and behind how many changes it was made."""
        self._listed: tuple[int, Array, Array] | None = None
        """All keys and values, and behind how many changes they were listed."""
        if checkpoint and graph is not None:
            graph.add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self)

    kind = "table that changes"

    def form(self) -> dict[str, object]:
        """Return what makes a table that has what this one has now."""
        keys, values = MutableHashTable._pairs(self)
        named: dict[str, object] = {"keys": keys, "values": values, "name": self.name}
        types = {"key_dtype": self.key_dtype.name, "value_dtype": self.value_dtype.name}
        return {**types, **named, "default": self._default.numpy()}

    @classmethod
    def of_form(cls, keys: Array, values: Array, **arguments: Any) -> Self:
        """Return a table that has pairs."""
        with init_scope():
            made = cls(default_value=arguments.pop("default"), checkpoint=False, **arguments)
        made._put_all(made._names(keys), values)
        return made

    def checkpoint_parts(self) -> dict[str, object]:
        """Return what checkpoints have of it: its keys and its values."""
        return {**self._columns.parts} if self._is_saved else {}

    @cached_property
    def _columns(self) -> Columns:
        """Return the keys and the values as they are saved."""
        keys, values = row_for(self.key_dtype), row_for(self.value_dtype)
        specs = unknown(keys, None, *self._key_dims), unknown(values, None, *self._dims)
        return Columns(self.name, specs, self._pairs, self._fill)

    def _fill(self, keys: Array, values: Array) -> None:
        """Have these pairs, and no others."""
        self._content.clear()
        self._changed()
        self._put_all(self._names(keys), values)

    def _keys(self, keys: object) -> TfTensor:
        return convert(keys, self.key_dtype)

    def _names(self, keys: Array) -> list[Key]:
        """Return keys one by one; those of several elements are tuples."""
        if not self._key_dims:
            made: list[Key] = keys.ravel().tolist()
            return made
        return list(map(tuple, keys.reshape(-1, *self._key_dims).tolist()))

    def _around(self, dims: Sequence[Size]) -> tuple[Size, ...]:
        """Return the axes of keys around those that a key has itself."""
        return tuple(dims[: len(dims) - len(self._key_dims)])

    def _check_keys(self, keys: Array, values: tuple[int, ...] | None) -> None:
        """Raise where values of a shape do not fit keys."""
        whole = (*self._around(keys.shape), *self._dims)
        if values is not None and values != whole:
            raise InvalidShapesError(
                f"Expected shape {shape_text(whole)} for value, got {shape_text(values)}"
            )

    def lookup(
        self, keys: object, dynamic_default_values: object = None, name: str | None = None
    ) -> Found:
        """Return the values of keys; `dynamic_default_values` are those of each key, or of all."""

        def found(given: TfTensor) -> TfTensor:
            rest = self._default
            if dynamic_default_values is not None:
                rest = convert(dynamic_default_values, self.value_dtype)

            def specs(_: object) -> Sequence[TensorSpec]:
                row, dims = row_for(self.value_dtype), given.shape._dims
                if dims is None:
                    return (TensorSpec(row, None),)
                return (unknown(row, *self._around(dims), *self._dims),)

            operands, step = [given, rest], TableStep(self, "find")
            made = host("LookupTableFindV2", step, operands, specs, effect=True, name=name)
            return made[0]

        return self._with_values(keys, found)

    def _found(self, keys: Array, default: Array) -> Sequence[Array | Text]:
        self._check_keys(keys, None)
        whole = (*self._around(keys.shape), *self._dims)
        if default.shape not in (self._dims, whole):
            raise InvalidArgumentError(
                f"Expected shape {shape_text(self._dims)} or {shape_text(whole)} for default "
                f"value, got {shape_text(default.shape)}"
            )
        is_one = default.shape == self._dims
        if is_one and not self._dims and keys.size >= MANY and (index := self.index()) is not None:
            return (index.found(keys, default.item()),)
        rest = repeat(default[()]) if is_one else iter(default.reshape(-1, *self._dims))
        flat = list(map(self._content.get, self._names(keys), rest))
        return (filled(flat, self.value_dtype, self._dims).reshape(whole),)

    def __getitem__(self, keys: object) -> Found:
        return self.lookup(keys)

    def insert(self, keys: object, values: object, name: str | None = None) -> Operation | None:
        """Give keys values, other ones if they have some."""
        with InGraph(graph_of([keys, values])):
            given = [convert(keys, self.key_dtype), convert(values, self.value_dtype)]
            return host_effect("LookupTableInsertV2", TableStep(self, "insert"), given, name)

    def _insert(self, names: Array, new: Array) -> Sequence[Array]:
        self._check_keys(names, new.shape)
        self._put_all(self._names(names), new.reshape(-1, *self._dims))
        return ()

    def index(self) -> KeyIndex | None:
        """Return the index; None: keys are of another type, or it is changed between lookups."""
        if self._key_dims or (self.key_dtype != string and not self.key_dtype.is_integer):
            return None
        changes, known = self._changes, self._indexed
        if known is not None and known[0] == changes:
            return known[1]
        self._asked += 1
        if self._asked < OFTEN:
            return None
        made = KeyIndex(dict(self._content), self.key_dtype, self.value_dtype)
        self._indexed = changes, made
        return made

    def _shown_pairs(self) -> Sequence[Array]:
        changes, known = self._changes, self._listed
        if known is None or known[0] != changes:
            known = self._listed = changes, *self._pairs()
        return known[1].copy(), known[2].copy()

    def _changed(self) -> None:
        """Forget what is known of the keys: behind a change, as who reads meanwhile keeps it."""
        self._changes += 1
        self._asked, self._indexed, self._listed = 0, None, None

    def _put_all(self, keys: Sequence[Key], values: Array) -> None:
        try:
            self._content |= zip(keys, values, strict=True)
        finally:
            self._changed()

    def _drop(self, key: Key) -> None:
        self._content.pop(key, None)

    def remove(self, keys: object, name: str | None = None) -> Operation | None:
        """Forget keys; what is not there need not be forgotten."""
        with InGraph(graph_of([keys])):
            given, step = super()._keys(keys), TableStep(self, "remove")
            return host_effect("LookupTableRemoveV2", step, [given], name)

    def _remove(self, names: Array) -> Sequence[Array]:
        try:
            for key in self._names(names):
                self._drop(key)
        finally:
            self._changed()
        return ()

    def export(self, name: str | None = None) -> tuple[TfTensor, TfTensor]:
        """Return all keys and their values."""
        keys, values = self._exported()
        return keys, values


DOES: dict[str, Callable[..., Sequence[Array | Text]]] = {
    "size": lambda table: table._counted(),
    "export": lambda table: table._shown_pairs(),
    "find": lambda table, *arrays: table._found(*arrays),
    "insert": lambda table, *arrays: table._insert(*arrays),
    "remove": lambda table, *arrays: table._remove(*arrays),
}
"""What steps of tables do, by the names that graphs have for it."""
RESOURCES[Table.kind] = _table
RESOURCES[MutableHashTable.kind] = MutableHashTable.of_form


def tables_initializer(name: str = "init_all_tables") -> Operation | None:
    """Return the operation that fills all tables of the default graph."""
    return group(*get_collection(INITIALIZERS), name=name)
