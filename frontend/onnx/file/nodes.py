"""The nodes of a graph, as they lie in a file: what they are, read and make, of all at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from onnx import AttributeProto, NodeProto

from .columns import RECORD, Columns, Integers, columns_of, decoded, folded

INPUT, OUTPUT, NAME, OPERATOR, ATTRIBUTE, TEXT, DOMAIN, OVERLOAD, NOTES = (
    number << 3 | RECORD for number in range(1, 10)
)
MOST_BYTES = 1 << 26
"""What nodes are at most together: they are copied. Some writers have weights in nodes."""


@dataclass(frozen=True)
class StoredNodes:
    """The nodes of a graph, by their positions."""

    data: bytes
    """The records of all, one behind the other."""
    ends: Integers
    columns: Columns
    reads: list[str]
    """What all nodes read, one behind the other."""
    makes: list[str]
    read: Integers
    """How many names each node reads."""
    made: Integers

    @classmethod
    def of(cls, data: memoryview, starts: list[int], ends: list[int]) -> StoredNodes | None:
        """Return the nodes in some places; None where one is written in an odd way."""
        count = len(starts)
        limits = np.cumsum(np.array(ends) - np.array(starts))
        if count and limits[-1] > MOST_BYTES:
            return None
        rows = b"".join([data[start:end] for start, end in zip(starts, ends, strict=True)])
        firsts = np.concatenate(([0], limits[:-1])).astype(np.int64)
        octets = np.frombuffer(rows, np.uint8)
        columns = columns_of(octets, firsts, limits)
        if columns is None or np.any((columns.tags < INPUT) | (columns.tags > NOTES)):
            return None
        inputs, outputs = (columns.where(columns.tags == tag) for tag in (INPUT, OUTPUT))
        others = columns.where(np.isin(columns.tags, (NAME, OPERATOR, DOMAIN)))
        reads, makes = decoded(inputs.texts(rows)), decoded(outputs.texts(rows))
        odd = others.not_ascii(octets).texts(rows)
        if reads is None or makes is None or decoded(odd) is None:
            return None
        counts = inputs.counts(count), outputs.counts(count)
        return cls(rows, limits, columns, reads, makes, *counts)

    def operations(self) -> tuple[Integers, list[int]]:
        """Return a number for each node that equal operations share, and which have graphs."""
        tags = self.columns.tags
        own = self.columns.where((tags >= OPERATOR) & (tags != TEXT) & (tags != NOTES))
        known = dict[tuple[int, bytes], int]()
        pairs = zip(own.tags.tolist(), own.texts(self.data), strict=True)
        values = np.array([known.setdefault(pair, len(known)) for pair in pairs], np.int64)
        graphs = [n for (tag, text), n in known.items() if tag == ATTRIBUTE and has_graphs(text)]
        alone = np.unique(own.records[np.isin(values, graphs)])
        return folded(self.made, own.records, values), alone.tolist()

    def node(self, position: int) -> NodeProto:
        """Return one as protobuf has it."""
        start = int(self.ends[position - 1]) if position else 0
        found: NodeProto = NodeProto.FromString(self.data[start : int(self.ends[position])])
        return found

    @cached_property
    def first_outputs(self) -> Integers:
        """Return where in `makes` the outputs of each node begin."""
        return np.cumsum(self.made) - self.made


def has_graphs(attribute: bytes) -> bool:
    """Say whether an attribute holds graphs."""
    found = AttributeProto.FromString(attribute)
    return found.HasField("g") or len(found.graphs) > 0
