"""The nodes of a graph, as they lie in a file: what they are, read and make, of all at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import count

import numpy as np
from onnx import AttributeProto, NodeProto

from .columns import RECORD, Columns, Integers, columns_of, decoded, folded, names_at

INPUT, OUTPUT, NAME, OPERATOR, ATTRIBUTE, TEXT, DOMAIN, OVERLOAD, NOTES = (
    number << 3 | RECORD for number in range(1, 10)
)
MOST_BYTES = 1 << 26
"""What nodes are at most together: they are copied. Some writers have weights in nodes."""
HEAD = 6
"""Bytes that a record has before it at the most: a tag, and a length."""


@dataclass(frozen=True)
class StoredNodes:
    """The nodes of a graph, by their positions."""

    data: bytes
    """The records of all, one behind the other."""
    starts: Integers
    ends: Integers
    """Where the record of each lies there."""
    columns: Columns
    reads: list[str]
    """What all nodes read, one behind the other."""
    makes: list[str]
    read: Integers
    """How many names each node reads."""
    made: Integers

    @classmethod
    def of(cls, data: memoryview, starts: Integers, ends: Integers) -> StoredNodes | None:
        """Return the nodes in some places; None where one is written in an odd way."""
        nodes = len(starts)
        begin, end = (int(starts[0]), int(ends[-1])) if nodes else (0, 0)
        sizes = ends - starts
        if sizes.sum() > MOST_BYTES:
            return None
        if end - begin <= sizes.sum() + HEAD * nodes:  # nothing else lies between them
            rows, firsts, limits = bytes(data[begin:end]), starts - begin, ends - begin
        else:
            places = zip(starts.tolist(), ends.tolist(), strict=True)
            rows, limits = b"".join([data[start:stop] for start, stop in places]), np.cumsum(sizes)
            firsts = limits - sizes
        octets = np.frombuffer(rows, np.uint8)
        columns = columns_of(octets, firsts, limits)
        if columns is None or np.any((columns.tags < INPUT) | (columns.tags > NOTES)):
            return None
        inputs, outputs = (columns.where(columns.tags == tag) for tag in (INPUT, OUTPUT))
        others = columns.where(np.isin(columns.tags, (NAME, OPERATOR, DOMAIN)))
        reads, makes = (names_at(octets, x.starts, x.ends) for x in (inputs, outputs))
        odd = others.not_ascii(octets).texts(rows)
        if reads is None or makes is None or decoded(odd) is None:
            return None
        counts = inputs.counts(nodes), outputs.counts(nodes)
        return cls(rows, firsts, limits, columns, reads, makes, *counts)

    def operations(self) -> tuple[Integers, list[int]]:
        """Return a number for each node that equal operations share, and which have graphs."""
        tags = self.columns.tags
        own = self.columns.where((tags >= OPERATOR) & (tags != TEXT) & (tags != NOTES))
        values, number, graphs = np.empty(len(own.tags), np.int64), count(), list[int]()
        for tag in np.unique(own.tags).tolist():
            chosen, known = own.tags == tag, dict[bytes, int]()
            texts = own.where(chosen).texts(self.data)
            values[chosen] = np.fromiter(map(known.setdefault, texts, number), np.int64, len(texts))
            if tag == ATTRIBUTE:
                graphs = [n for text, n in known.items() if has_graphs(text)]
        alone = np.unique(own.records[np.isin(values, graphs)])
        return folded(self.made, own.records, values), alone.tolist()

    def node(self, position: int) -> NodeProto:
        """Return one as protobuf has it."""
        start, end = int(self.starts[position]), int(self.ends[position])
        found: NodeProto = NodeProto.FromString(self.data[start:end])
        return found

    @cached_property
    def first_outputs(self) -> Integers:
        """Return where in `makes` the outputs of each node begin."""
        return np.cumsum(self.made) - self.made


def has_graphs(attribute: bytes) -> bool:
    """Say whether an attribute holds graphs."""
    found = AttributeProto.FromString(attribute)
    return found.HasField("g") or len(found.graphs) > 0
