"""Emit `gvk.warpgroup_product`: a tile of a product by the warpgroups of a block, for Hopper.

    threads 0..127    bring tiles of both operands to shared memory, stage by stage, and leave
    the others        64 rows a group: wait for a stage, multiply, give back the stage before

A stage is full when all its bytes are there, and empty when every group gave it back; both are
barriers in shared memory behind the stages. Tiles are brought as tensor maps say, in rows of 128
bytes whose sixteenths change places by the row (the swizzle), so that no bank is met twice.
"""

from __future__ import annotations

from xdsl.ir import Operation

from ...ir.gpu_ops import WarpgroupProduct, WarpgroupTile
from .emitter import Emitter
from .text import Text

DYNAMIC = "@dynamic"
"""Shared memory whose size the launch says."""
MAPS = ("%left", "%right")
"""The kernel's parameters that are tensor maps."""
PRODUCER_REGISTERS, CONSUMER_REGISTERS = 40, 232
"""Of each thread: what the ones give up, the others take."""
_BARRIER = "llvm.nvvm.mbarrier"
_BLOCK = "scope.cta.space.cta"
_DESCRIPTOR = (1 << 16) | (64 << 32) | (1 << 62)
"""Of a tile in shared memory: blocks of eight rows are 1024 bytes apart, 128 bytes are swizzled."""


def emit_product(e: Emitter, op: Operation) -> None:
    """Emit the whole, and name the sums of this thread."""
    assert isinstance(op, WarpgroupProduct)
    row, column, turns = (e.text.value(f"trunc i64 {name} to i32") for name in e.operands(op))
    made = Product(e.text, op.tile, op.element.data).emit(row, column, turns)
    for number, result in enumerate(op.results):
        packed = "poison"
        for lane in range(4):
            one = made[4 * number + lane]
            packed = e.text.value(f"insertelement <4 x float> {packed}, float {one}, i64 {lane}")
        e.names[result] = packed


class Product:
    """The emission of one product."""

    def __init__(self, text: Text, tile: WarpgroupTile, element: str) -> None:
        self.text, self.tile, self.element = text, tile, element
        self.left_bytes = tile.rows * tile.depth * 2
        self.sums = tile.columns // 2
        text.declare(f"{DYNAMIC} = external addrspace(3) global [0 x i8], align 1024")

    # -- words ----------------------------------------------------------------------------

    def call(self, kind: str, name: str, *arguments: str) -> str:
        """Call a function; return its result."""
        kinds = ", ".join(argument.rpartition(" ")[0] for argument in arguments)
        self.text.declare(f"declare {kind} @{name}({kinds})")
        line = f"call {kind} @{name}({', '.join(arguments)})"
        if kind == "void":
            self.text.line(line)
            return ""
        return self.text.value(line)

    def number(self, operation: str, x: str, y: str | int) -> str:
        """Return the result of an operation on i32."""
        return self.text.value(f"{operation} i32 {x}, {y}")

    def place(self, offset: str | int) -> str:
        """Return the address of an offset in the dynamic shared memory."""
        return self.text.value(f"getelementptr i8, ptr addrspace(3) {DYNAMIC}, i32 {offset}")

    def full(self, stage: str | int) -> str:
        """Return the barrier that says that a stage is there."""
        return self.barrier(stage, 0)

    def empty(self, stage: str | int) -> str:
        """Return the barrier that says that a stage may be filled."""
        return self.barrier(stage, self.tile.stages)

    def barrier(self, stage: str | int, first: int) -> str:
        """Return one of the barriers behind the stages."""
        start = self.tile.stages * self.tile.stage_bytes + 8 * first
        if isinstance(stage, int):
            return self.place(start + 8 * stage)
        return self.place(self.number("add", self.number("shl", stage, 3), start))

    def wait(self, barrier: str, parity: str) -> None:
        """Wait until a barrier is in another phase than this parity's."""
        again, done = self.text.fresh_label(), self.text.fresh_label()
        self.text.line(f"br label %{again}")
        self.text.label(again)
        there = self.call(
            "i1", f"{_BARRIER}.try.wait.parity.{_BLOCK}",
            f"ptr addrspace(3) {barrier}", f"i32 {parity}",
        )  # fmt: skip
        self.text.line(f"br i1 {there}, label %{done}, label %{again}")
        self.text.label(done)

    def following(self, stage: str, parity: str) -> tuple[str, str]:
        """Return the next stage, and the parity that changes with every round."""
        one = self.number("add", stage, 1)
        last = self.text.value(f"icmp eq i32 {one}, {self.tile.stages}")
        other = self.number("xor", parity, 1)
        return (
            self.text.value(f"select i1 {last}, i32 0, i32 {one}"),
            self.text.value(f"select i1 {last}, i32 {other}, i32 {parity}"),
        )

    # -- parts ----------------------------------------------------------------------------

    def emit(self, row: str, column: str, turns: str) -> list[str]:
        """Emit the product; return the sums of a thread."""
        text = self.text
        thread = self.call("i32", "llvm.nvvm.read.ptx.sreg.tid.x")
        self.begin(thread)
        group = self.number("lshr", thread, 7)
        producer, consumer = text.fresh_label(), text.fresh_label()
        first = text.value(f"icmp eq i32 {group}, 0")
        text.line(f"br i1 {first}, label %{producer}, label %{consumer}")
        text.label(producer)
        self.call("void", "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32", f"i32 {PRODUCER_REGISTERS}")
        self.produce(thread, row, column, turns)
        text.label(consumer)
        self.call("void", "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32", f"i32 {CONSUMER_REGISTERS}")
        return self.consume(thread, self.number("sub", group, 1), turns)

    def begin(self, thread: str) -> None:
        """Make the barriers, by one thread."""
        text, tile = self.text, self.tile
        make, made = text.fresh_label(), text.fresh_label()
        text.line(f"br i1 {text.value(f'icmp eq i32 {thread}, 0')}, label %{make}, label %{made}")
        text.label(make)
        for stage in range(tile.stages):
            for barrier, count in ((self.full(stage), 1), (self.empty(stage), tile.groups)):
                self.call(
                    "void", f"{_BARRIER}.init.shared", f"ptr addrspace(3) {barrier}", f"i32 {count}"
                )
        self.call("void", "llvm.nvvm.fence.mbarrier_init.release.cluster")
        text.line(f"br label %{made}")
        text.label(made)
        self.call("void", "llvm.nvvm.barrier.cta.sync.aligned.all", "i32 0")

    def produce(self, thread: str, row: str, column: str, turns: str) -> None:
        """Bring all tiles, by one thread; then this part of the block is finished."""
        text, tile = self.text, self.tile
        loop, before = text.fresh_label(), text.block
        one = text.value(f"icmp eq i32 {thread}, 0")
        text.line(f"br i1 {one}, label %{loop}, label %finished")
        text.label(loop)
        turn, stage, parity = text.fresh(), text.fresh(), text.fresh()
        head = len(text.lines)
        full = self.full(stage)
        self.wait(self.empty(stage), parity)
        self.call(
            "i64", f"{_BARRIER}.arrive.expect.tx.{_BLOCK}",
            f"ptr addrspace(3) {full}", f"i32 {tile.stage_bytes}",
        )  # fmt: skip
        start = self.number("mul", stage, tile.stage_bytes)
        depth = self.number("mul", turn, tile.depth)
        for name, offset, outer in zip(MAPS, (0, self.left_bytes), (row, column), strict=True):
            place = self.place(self.number("add", start, offset))
            self.bring(name, place, full, (depth, outer))
        later, phase = self.following(stage, parity)
        after = self.number("add", turn, 1)
        more = text.value(f"icmp ult i32 {after}, {turns}")
        text.lines[head:head] = [
            f"  {name} = phi i32 [ {first}, %{before} ], [ {last}, %{text.block} ]"
            for name, first, last in ((turn, 0, after), (stage, 0, later), (parity, 1, phase))
        ]
        text.line(f"br i1 {more}, label %{loop}, label %finished")

    def bring(self, name: str, place: str, full: str, at: tuple[str, str]) -> None:
        """Begin to copy one tile."""
        there = self.text.value(f"addrspacecast ptr addrspace(3) {place} to ptr addrspace(7)")
        self.call(
            "void", "llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d",
            f"ptr addrspace(7) {there}", f"ptr addrspace(3) {full}", f"ptr {name}",
            f"i32 {at[0]}", f"i32 {at[1]}", "i16 0", "i64 0", "i1 false", "i1 false", "i32 0",
        )  # fmt: skip

    def consume(self, thread: str, group: str, turns: str) -> list[str]:
        """Multiply all tiles; return the sums of a thread."""
        text, tile = self.text, self.tile
        base = text.value(f"ptrtoint ptr addrspace(3) {DYNAMIC} to i32")
        mine = self.number("mul", group, 64 * tile.depth * 2)
        lane = self.number("and", thread, 127)
        is_first = text.value(f"icmp eq i32 {lane}, 0")
        loop, done, before = text.fresh_label(), text.fresh_label(), text.block
        text.line(f"br label %{loop}")
        text.label(loop)
        turn, stage, parity = text.fresh(), text.fresh(), text.fresh()
        sums = [text.fresh() for _ in range(self.sums)]
        head = len(text.lines)
        self.wait(self.full(stage), parity)
        start = self.number("add", base, self.number("mul", stage, tile.stage_bytes))
        left = self.descriptor(self.number("add", start, mine))
        right = self.descriptor(self.number("add", start, self.left_bytes))
        made = self.multiplied(sums, left, right)
        made = self.tied("wgmma.wait_group.sync.aligned 1;", made)
        self.give_back(turn, stage, is_first)
        later, phase = self.following(stage, parity)
        after = self.number("add", turn, 1)
        more = text.value(f"icmp ult i32 {after}, {turns}")
        phis = [
            f"  {name} = phi i32 [ 0, %{before} ], [ {last}, %{text.block} ]"
            for name, last in ((turn, after), (stage, later), (parity, phase))
        ]
        phis += [
            f"  {name} = phi float [ 0.0, %{before} ], [ {last}, %{text.block} ]"
            for name, last in zip(sums, made, strict=True)
        ]
        text.lines[head:head] = phis
        text.line(f"br i1 {more}, label %{loop}, label %{done}")
        text.label(done)
        return self.tied("wgmma.wait_group.sync.aligned 0;", made)

    def descriptor(self, address: str) -> str:
        """Return what names a tile in shared memory to the product."""
        short = self.number("lshr", self.number("and", address, 0x3FFFF), 4)
        wide = self.text.value(f"zext i32 {short} to i64")
        return self.text.value(f"or i64 {wide}, {_DESCRIPTOR}")

    def multiplied(self, sums: list[str], left: str, right: str) -> list[str]:
        """Begin the products of one stage, 16 depths at a time."""
        steps = self.tile.depth // 16
        registers = ", ".join(f"${i}" for i in range(self.sums))
        kinds = f"f32.{self.element}.{self.element}"
        lines = ["wgmma.fence.sync.aligned;"]
        further: list[str] = []
        for step in range(steps):
            a, b = 2 * self.sums + 2 * step, 2 * self.sums + 2 * step + 1
            lines.append(
                f"wgmma.mma_async.sync.aligned.m64n{self.tile.columns}k16.{kinds}"
                f" {{{registers}}}, ${a}, ${b}, 1, 1, 1, 0, 0;"
            )
            for one in (left, right):
                moved = self.text.value(f"add i64 {one}, {2 * step}") if step else one
                further.append(moved)
        lines.append("wgmma.commit_group.sync.aligned;")
        return self.tied("\\0A\\09".join(lines), sums, further)

    def tied(self, assembly: str, sums: list[str], further: list[str] | None = None) -> list[str]:
        """Append instructions that change the sums in place; return them as they are then."""
        further = further or []
        kind = "{ " + ", ".join(["float"] * len(sums)) + " }"
        constraints = [*["=f"] * len(sums), *map(str, range(len(sums))), *["l"] * len(further)]
        arguments = [*(f"float {x}" for x in sums), *(f"i64 {x}" for x in further)]
        made = self.text.value(
            f'call {kind} asm sideeffect "{assembly}", "{",".join([*constraints, "~{memory}"])}"'
            f"({', '.join(arguments)}) convergent"
        )
        return [self.text.value(f"extractvalue {kind} {made}, {i}") for i in range(len(sums))]

    def give_back(self, turn: str, stage: str, is_first: str) -> None:
        """Say that the stage of the turn before may be filled, whose products are done now."""
        text = self.text
        give, end = text.fresh_label(), text.fresh_label()
        some = text.value(f"icmp ne i32 {turn}, 0")
        text.line(f"br i1 {text.value(f'and i1 {is_first}, {some}')}, label %{give}, label %{end}")
        text.label(give)
        zero = text.value(f"icmp eq i32 {stage}, 0")
        below = self.number("sub", stage, 1)
        before = text.value(f"select i1 {zero}, i32 {self.tile.stages - 1}, i32 {below}")
        self.call(
            "i64", f"{_BARRIER}.arrive.{_BLOCK}",
            f"ptr addrspace(3) {self.empty(before)}", "i32 1",
        )  # fmt: skip
        text.line(f"br label %{end}")
        text.label(end)
