"""What parts of the keys give to an attention, for several threads to share a query.

    for unit in lo..hi                       parallel: parts x batch x blocks of queries
      for block of keys of the part          as an attention does
      for query: out = values, largest score, sum of weights

Nothing is divided: other kernels put the parts together.
"""

from __future__ import annotations

from ...ir.types.dtypes import f32
from ...ir.types.indices import Term
from .attention_blocks import AttentionKernel
from .builder.loops import Index


class Parts(AttentionKernel):
    """Builds one kernel."""

    NAME = "gv.attention_parts"

    @property
    def apart(self) -> set[Term]:
        """Return the axis of parts: it is no heads that share keys."""
        return set(self.plan.axes[0].tokens)

    def keys_at_once(self, most: int) -> bool:
        """Say no: what a part gives is not divided by its sum."""
        return False

    def ends(self) -> tuple[Index, Index]:
        """Return the first key of the part, and the one behind its last."""
        loops, step = self.loops, int(self.anchor.plain_attributes()["step"])
        part: Index = 0
        for group in self.batch:
            if self.apart & set(group.tokens):
                assert group.value is not None, "the part is known"
                part = group.value
        low, keys = loops.multiply(part, step), self.keys
        return low, loops.minimum(loops.add(low, step), loops.index(keys))

    def finish(self, rows: int, start: Index) -> None:
        """Store what belongs to rows: their largest scores and sums."""
        math = self.math

        def row(_: Index) -> None:
            most, total = self.load("most"), self.load("total")
            if self.plain:
                most = math.mul(most, math.constant(self.scale, f32))
            for number, each in enumerate((most, total)):
                self.of_width.value = self.width + number
                base = self.wide.space.split(self.loops, self.c.offset)[0]
                self.loops.store(each.value, self.out, base)
            self.of_width.value = 0

        self.each_row(rows, start, row)
