"""What a checkpoint has of a table that changes: a column of keys, and one of values."""

from __future__ import annotations

from collections.abc import Callable

from ....ir.op import Array
from ....ir.types.tensor import TensorSpec
from ...graph.frame import Store
from ...graph.variables import VariableState

Pairs = tuple[Array, Array]


class Column(VariableState):
    """The keys or the values of a table, which are saved like a variable."""

    graph = None

    def __init__(self, name: str, spec: TensorSpec, columns: Columns, place: int) -> None:
        super().__init__(name, spec)
        self.columns, self.place = columns, place

    @property
    def state(self) -> Column:
        """Return what is saved."""
        return self

    def value_in(self, store: Store) -> Array:
        """Return what the table has, wherever that is asked for."""
        return self.columns.pairs()[self.place]

    def put_in(self, store: Store, value: Array) -> None:
        """Let the table have what was saved, once both columns are there."""
        self.assign(value)

    def has_value(self, store: Store) -> bool:
        """Say that there is one."""
        return True

    def assign(self, value: Array) -> None:
        """Let the table have what was saved, once both columns are there."""
        self.columns.told[self.place] = value
        if len(self.columns.told) == 2:
            keys, values = (self.columns.told.pop(place) for place in (0, 1))
            self.columns.fill(keys, values)


class Columns:
    """The two columns of a table."""

    def __init__(
        self,
        name: str,
        specs: tuple[TensorSpec, TensorSpec],
        pairs: Callable[[], Pairs],
        fill: Callable[[Array, Array], None],
    ) -> None:
        self.pairs, self.fill = pairs, fill
        self.told: dict[int, Array] = {}
        """By place: what came of a checkpoint while the other column had not."""
        self.parts = {
            f"table-{what}": Column(f"{name}-{what}", spec, self, place)
            for place, (what, spec) in enumerate(zip(("keys", "values"), specs, strict=True))
        }
