"""The namespace `tf.lookup`, and the names of the first version."""

from __future__ import annotations

from ..core.space import Space
from . import dense as _dense
from . import initial as _i
from . import tables as _t

lookup = Space(
    "lookup",
    KeyValueTensorInitializer=_i.KeyValueTensorInitializer,
    StaticHashTable=_t.StaticHashTable,
    StaticVocabularyTable=_t.StaticVocabularyTable,
    TextFileIndex=_i.TextFileIndex,
    TextFileInitializer=_i.TextFileInitializer,
    experimental=Space(
        "lookup.experimental",
        DenseHashTable=_dense.DenseHashTable,
        MutableHashTable=_t.MutableHashTable,
    ),
)
V1: dict[str, object] = {
    "lookup": lookup,
    "tables_initializer": _t.tables_initializer,
    "initialize_all_tables": _t.tables_initializer,
}
