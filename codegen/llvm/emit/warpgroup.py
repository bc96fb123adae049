"""Emit products by warpgroups, for Hopper: a ring of stages between who brings and who multiplies.

A stage is full when all its bytes are there, and empty when every group gave it back; both are
barriers in shared memory behind the stages. Tiles are brought as tensor maps say, in rows of 128
bytes whose sixteenths change places by the row (the swizzle), so that no bank is met twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from ....ir.dialects.warpgroup import (
    AwaitStores,
    BeginStages,
    BringTiles,
    SetRegisters,
    StoreTile,
    WarpgroupMultiply,
    WarpgroupProduct,
    WarpgroupTile,
)
from ..text.build import Text
from .emitter import Emit, Emitter

DYNAMIC = "@dynamic"
"""Shared memory whose size the launch says."""
MAPS = ("%left", "%right", "%result")
"""The kernel's parameters that are tensor maps: of both operands, or also of the result."""
PANEL = 64
"""Columns of a panel, of 128 bytes, in which a turned tile lies."""
_BARRIER = "llvm.nvvm.mbarrier"
_BLOCK = "scope.cta.space.cta"


GENERIC = ("addrspacecast (ptr addrspace(3) ", " to ptr)")
"""What makes a general address of one in shared memory."""


def inner(e: Emitter, memref: SSAValue, offset: SSAValue) -> str:
    """Return the address of an element of shared memory, as one in shared memory."""
    name, (head, tail) = e.names[memref], GENERIC
    assert name.startswith(head), f"expected shared memory, found {name}"
    at = f"ptr addrspace(3) {name.removeprefix(head).removesuffix(tail)}"
    element = e.stored(memref).name
    return e.text.value(f"getelementptr {element}, {at}, i64 {e.names[offset]}")


def _begin(e: Emitter, op: Operation) -> None:
    assert isinstance(op, BeginStages)
    ring = Ring(e.text, op.tile)
    ring.begin(ring.call("i32", "llvm.nvvm.read.ptx.sreg.tid.x"))


def _set_registers(e: Emitter, op: Operation) -> None:
    assert isinstance(op, SetRegisters)
    name = f"@llvm.nvvm.setmaxnreg.{op.change.data}.sync.aligned.u32"
    e.text.declare(f"declare void {name}(i32)")
    e.text.line(f"call void {name}(i32 {op.count.value.data})")


def _bring(e: Emitter, op: Operation) -> None:
    assert isinstance(op, BringTiles)
    turns, stage, parity, *places = _short(e, op)
    made = Ring(e.text, op.tile).produce(turns, (stage, parity), places)
    _name_state(e, op, made)


def _product(e: Emitter, op: Operation) -> None:
    """Emit the product, and name the sums of this thread."""
    assert isinstance(op, WarpgroupProduct)
    turns, stage, parity = _short(e, op)
    made, state = Ring(e.text, op.tile, op.element.data).consume(turns, (stage, parity))
    _name_state(e, op, state)
    for number, result in enumerate(op.sums):
        packed = "poison"
        for lane in range(4):
            one = made[4 * number + lane]
            packed = e.text.value(f"insertelement <4 x float> {packed}, float {one}, i64 {lane}")
        e.names[result] = packed


def _fence(e: Emitter, op: Operation) -> None:
    del op
    e.text.line('call void asm sideeffect "fence.proxy.async.shared::cta;", "~{memory}"()')


def _await_stores(e: Emitter, op: Operation) -> None:
    assert isinstance(op, AwaitStores)
    text = e.text

    def wait() -> None:
        text.declare("declare void @llvm.nvvm.cp.async.bulk.wait.group.read(i32)")
        text.line(f"call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 {op.open.value.data})")

    thread = _thread(text)
    _by_first(text, thread, wait)
    _meet(text, thread)


def _store_tile(e: Emitter, op: Operation) -> None:
    assert isinstance(op, StoreTile)
    text = e.text
    tile = inner(e, op.memref, op.offset)
    places = [text.value(f"trunc i64 {e.names[place]} to i32") for place in op.places]
    name = f"@llvm.nvvm.cp.async.bulk.tensor.s2g.tile.{len(places)}d"

    def store() -> None:
        kinds = ", ".join(["ptr addrspace(3)", "ptr", *("i32" for _ in places), "i64", "i1"])
        text.declare(f"declare void {name}({kinds})")
        at = ", ".join(f"i32 {place}" for place in places)
        arguments = f"ptr addrspace(3) {tile}, ptr {MAPS[2]}, {at}, i64 0, i1 false"
        text.line(f"call void {name}({arguments})")
        text.declare("declare void @llvm.nvvm.cp.async.bulk.commit.group()")
        text.line("call void @llvm.nvvm.cp.async.bulk.commit.group()")

    _fence(e, op)
    thread = _thread(text)
    _meet(text, thread)
    _by_first(text, thread, store)


def _meet_cluster(e: Emitter, op: Operation) -> None:
    del op
    meet_cluster(e.text)


def meet_cluster(text: Text) -> None:
    """Wait for all threads of all blocks of the cluster."""
    for step in ("arrive", "wait"):
        name = f"@llvm.nvvm.barrier.cluster.{step}.aligned"
        text.declare(f"declare void {name}()")
        text.line(f"call void {name}()")


def _thread(text: Text) -> str:
    """Return the number of this thread."""
    text.declare("declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()")
    return text.value("call i32 @llvm.nvvm.read.ptx.sreg.tid.x()")


def _by_first(text: Text, thread: str, action: Callable[[], None]) -> None:
    """Let the first thread of a warpgroup do something."""
    one, all_ = text.fresh_label(), text.fresh_label()
    number = text.value(f"and i32 {thread}, 127")
    text.line(f"br i1 {text.value(f'icmp eq i32 {number}, 0')}, label %{one}, label %{all_}")
    text.label(one)
    action()
    text.line(f"br label %{all_}")
    text.label(all_)


def _meet(text: Text, thread: str) -> None:
    """Wait for all threads of the warpgroup, at the barrier of its number."""
    name = "@llvm.nvvm.barrier.cta.sync.aligned.count"
    text.declare(f"declare void {name}(i32, i32)")
    text.line(f"call void {name}(i32 {text.value(f'lshr i32 {thread}, 7')}, i32 128)")


def _multiply(e: Emitter, op: Operation) -> None:
    """Emit a product whose left operand is in registers, with what waits for it."""
    assert isinstance(op, WarpgroupMultiply)
    text, columns = e.text, 8 * len(op.before)
    turned = bool(op.turned.value.data)
    start = text.value(f"ptrtoint ptr addrspace(3) {inner(e, op.memref, op.offset)} to i32")
    kind = op.element.data
    sums = [
        text.value(f"extractelement <4 x float> {e.names[x]}, i64 {lane}")
        for x in op.before
        for lane in range(4)
    ]
    registers = ", ".join(f"${i}" for i in range(len(sums)))
    panel_bytes = op.panel.value.data * 128
    lines, words, places = ["wgmma.fence.sync.aligned;"], [], []
    fixed = _fixed(panel_bytes if turned else 16)
    for number, x in enumerate(op.left):
        packed = text.value(f"bitcast {e.shape(x).name} {e.names[x]} to <4 x i32>")
        words += [text.value(f"extractelement <4 x i32> {packed}, i64 {i}") for i in range(4)]
        panel, inside = divmod(number, 4)
        further = 16 * 128 * number if turned else panel * panel_bytes + 32 * inside
        at = text.value(f"add i32 {start}, {further}")
        short = text.value(f"lshr i32 {text.value(f'and i32 {at}, {0x3FFFF}')}, 4")
        places.append(text.value(f"or i64 {text.value(f'zext i32 {short} to i64')}, {fixed}"))
        first = 2 * len(sums) + 4 * number
        left = ", ".join(f"${first + i}" for i in range(4))
        right = 2 * len(sums) + 4 * len(op.left) + number
        lines.append(
            f"wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.{kind}.{kind} {{{registers}}},"
            f" {{{left}}}, ${right}, 1, 1, 1, {int(turned)};"
        )
    lines += ["wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;"]
    made = tied(text, "\\0A\\09".join(lines), sums, [("i32", words), ("i64", places)])
    for number, result in enumerate(op.sums):
        packed = "poison"
        for lane in range(4):
            one = made[4 * number + lane]
            packed = text.value(f"insertelement <4 x float> {packed}, float {one}, i64 {lane}")
        e.names[result] = packed


def tied(
    text: Text, assembly: str, sums: Sequence[str], further: Sequence[tuple[str, Sequence[str]]]
) -> list[str]:
    """Append instructions that change sums in place; return them as they are then."""
    kind = "{ " + ", ".join(["float"] * len(sums)) + " }"
    letters = {"i32": "r", "i64": "l"}
    constraints = [*["=f"] * len(sums), *map(str, range(len(sums)))]
    constraints += [letters[name] for name, values in further for _ in values]
    arguments = [f"float {x}" for x in sums]
    arguments += [f"{name} {x}" for name, values in further for x in values]
    made = text.value(
        f'call {kind} asm sideeffect "{assembly}", "{",".join([*constraints, "~{memory}"])}"'
        f"({', '.join(arguments)}) convergent"
    )
    return [text.value(f"extractvalue {kind} {made}, {i}") for i in range(len(sums))]


def _fixed(leading: int) -> int:
    """Return what a descriptor says beside the place: the swizzle, and how far pieces are apart.

    Pieces of eight rows are 1024 bytes apart, and panels `leading` bytes.
    """
    return (leading >> 4) << 16 | 64 << 32 | 1 << 62


def _blocks(e: Emitter, op: Operation) -> None:
    name = "@llvm.nvvm.read.ptx.sreg.nctaid.x"
    e.text.declare(f"declare i32 {name}()")
    count = e.text.value(f"call range(i32 1, {2**31 - 1}) i32 {name}()")
    e.names[op.results[0]] = e.text.value(f"zext i32 {count} to i64")


def _short(e: Emitter, op: Operation) -> list[str]:
    """Return the operands in 32 bits."""
    return [e.text.value(f"trunc i64 {name} to i32") for name in e.operands(op)]


def _name_state(e: Emitter, op: Operation, state: Sequence[str]) -> None:
    """Name the stage and the parity that come next."""
    for result, name in zip(op.results[:2], state, strict=True):
        e.names[result] = e.text.value(f"zext i32 {name} to i64")


class Ring:
    """The stages of one block."""

    def __init__(self, text: Text, tile: WarpgroupTile, element: str = "") -> None:
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

    def begin(self, thread: str) -> None:
        """Make the barriers, by one thread."""
        text, tile = self.text, self.tile
        make, made = text.fresh_label(), text.fresh_label()
        text.line(f"br i1 {text.value(f'icmp eq i32 {thread}, 0')}, label %{make}, label %{made}")
        text.label(make)
        for stage in range(tile.stages):
            users = tile.groups * tile.cluster
            for barrier, count in ((self.full(stage), 1), (self.empty(stage), users)):
                self.call(
                    "void", f"{_BARRIER}.init.shared", f"ptr addrspace(3) {barrier}", f"i32 {count}"
                )
        self.call("void", "llvm.nvvm.fence.mbarrier_init.release.cluster")
        text.line(f"br label %{made}")
        text.label(made)
        if tile.cluster > 1:
            meet_cluster(text)
        else:
            self.call("void", "llvm.nvvm.barrier.cta.sync.aligned.all", "i32 0")

    def produce(self, turns: str, state: Sequence[str], places: Sequence[str]) -> list[str]:
        """Bring all tiles, by one thread; return the next stage and parity."""
        tile, loop = self.tile, Turns(self.text, turns, state)
        stage, parity = loop.state
        full = self.full(stage)
        # The first round finds all stages empty: it waits for the phase before the first.
        self.wait(self.empty(stage), self.number("xor", parity, 1))
        self.call(
            "i64", f"{_BARRIER}.arrive.expect.tx.{_BLOCK}",
            f"ptr addrspace(3) {full}", f"i32 {tile.stage_bytes}",
        )  # fmt: skip
        start = self.number("mul", stage, tile.stage_bytes)
        depth = self.number("mul", loop.turn, tile.depth)
        row, column, *batch = places
        sides = (
            (MAPS[0], 0, row, tile.rows if tile.left_turned else 0),
            (MAPS[1], self.left_bytes, column, tile.columns if tile.right_turned else 0),
        )
        for name, offset, outer, turned in sides:
            further = () if tile.left_alone and not offset else batch
            place = self.number("add", start, offset)
            width, masks = turned, 0
            if offset and tile.cluster > 1:
                # Each block brings its part to all of them.
                part = tile.columns // tile.cluster
                mine = self.number("mul", self.rank(), part)
                outer = self.number("add", outer, mine)  # noqa: PLW2901
                place = self.number("add", place, self.number("mul", mine, tile.depth * 2))
                width, masks = min(turned, part), (1 << tile.cluster) - 1
            if not turned:
                self.bring(name, self.place(place), full, (depth, outer, *further), masks)
            for first in range(0, width, PANEL):
                there = self.place(self.number("add", place, first * tile.depth * 2))
                along = self.number("add", outer, first)
                self.bring(name, there, full, (along, depth, *further), masks)
        return loop.close(self.following(stage, parity), [])[0]

    def rank(self) -> str:
        """Return the number of this block in its cluster."""
        return self.call("i32", "llvm.nvvm.read.ptx.sreg.cluster.ctarank")

    def bring(self, name: str, place: str, full: str, at: Sequence[str], blocks: int) -> None:
        """Begin to copy one tile, to the blocks of the cluster whose bits are set, if any is."""
        there = self.text.value(f"addrspacecast ptr addrspace(3) {place} to ptr addrspace(7)")
        self.call(
            "void", f"llvm.nvvm.cp.async.bulk.tensor.g2s.tile.{len(at)}d",
            f"ptr addrspace(7) {there}", f"ptr addrspace(3) {full}", f"ptr {name}",
            *(f"i32 {one}" for one in at),
            f"i16 {blocks}", "i64 0", f"i1 {str(blocks > 0).lower()}", "i1 false", "i32 0",
        )  # fmt: skip

    def consume(self, turns: str, state: Sequence[str]) -> tuple[list[str], list[str]]:
        """Multiply all tiles; return the sums of a thread, and the next stage and parity."""
        text, tile = self.text, self.tile
        thread = self.call("i32", "llvm.nvvm.read.ptx.sreg.tid.x")
        group = self.number("sub", self.number("lshr", thread, 7), 1)
        base = text.value(f"ptrtoint ptr addrspace(3) {DYNAMIC} to i32")
        mine = self.number("mul", group, 64 * tile.depth * 2)
        lane = self.number("and", thread, 127)
        is_first = text.value(f"icmp eq i32 {lane}, 0")
        loop = Turns(text, turns, state, self.sums)
        stage, parity = loop.state
        self.wait(self.full(stage), parity)
        start = self.number("add", base, self.number("mul", stage, tile.stage_bytes))
        left = self.descriptor(self.number("add", start, mine), tile.left_turned)
        right = self.descriptor(self.number("add", start, self.left_bytes), tile.right_turned)
        made = self.multiplied(loop.sums, left, right)
        made = tied(text, "wgmma.wait_group.sync.aligned 1;", made, [])
        some = text.value(f"icmp ne i32 {loop.turn}, 0")
        self.give_back(stage, text.value(f"and i1 {is_first}, {some}"))
        end, made = loop.close(self.following(stage, parity), made)
        made = tied(text, "wgmma.wait_group.sync.aligned 0;", made, [])
        self.give_back(end[0], is_first)
        return made, end

    def descriptor(self, address: str, turned: int) -> str:
        """Return what names a tile in shared memory to the product."""
        short = self.number("lshr", self.number("and", address, 0x3FFFF), 4)
        wide = self.text.value(f"zext i32 {short} to i64")
        panel = PANEL * self.tile.depth * 2
        return self.text.value(f"or i64 {wide}, {_fixed(panel if turned else 16)}")

    def multiplied(self, sums: list[str], left: str, right: str) -> list[str]:
        """Begin the products of one stage, 16 depths at a time."""
        tile, steps = self.tile, self.tile.depth // 16
        turned = f"{tile.left_turned}, {tile.right_turned}"
        # In units of 16 bytes: 16 rows of 128 bytes, or 16 elements of a row.
        steps_apart = [128 if flag else 2 for flag in (tile.left_turned, tile.right_turned)]
        registers = ", ".join(f"${i}" for i in range(self.sums))
        kinds = f"f32.{self.element}.{self.element}"
        lines = ["wgmma.fence.sync.aligned;"]
        further: list[str] = []
        for step in range(steps):
            a, b = 2 * self.sums + 2 * step, 2 * self.sums + 2 * step + 1
            lines.append(
                f"wgmma.mma_async.sync.aligned.m64n{self.tile.columns}k16.{kinds}"
                f" {{{registers}}}, ${a}, ${b}, 1, 1, 1, {turned};"
            )
            for one, apart in zip((left, right), steps_apart, strict=True):
                moved = self.text.value(f"add i64 {one}, {apart * step}") if step else one
                further.append(moved)
        lines.append("wgmma.commit_group.sync.aligned;")
        return tied(self.text, "\\0A\\09".join(lines), sums, [("i64", further)])

    def give_back(self, stage: str, condition: str) -> None:
        """Say that the stage before one may be filled, whose products are done now."""
        text = self.text
        give, end = text.fresh_label(), text.fresh_label()
        text.line(f"br i1 {condition}, label %{give}, label %{end}")
        text.label(give)
        zero = text.value(f"icmp eq i32 {stage}, 0")
        below = self.number("sub", stage, 1)
        before = text.value(f"select i1 {zero}, i32 {self.tile.stages - 1}, i32 {below}")
        empty = self.empty(before)
        if self.tile.cluster == 1:
            self.call("i64", f"{_BARRIER}.arrive.{_BLOCK}", f"ptr addrspace(3) {empty}", "i32 1")
        else:
            self.give_back_to_all(empty)
        text.line(f"br label %{end}")
        text.label(end)

    def give_back_to_all(self, empty: str) -> None:
        """Say it to all blocks of the cluster, for each of them fills a part of the stage."""
        for block in range(self.tile.cluster):
            mapped = "llvm.nvvm.mapa.shared.cluster"
            there = self.call(
                "ptr addrspace(7)", mapped, f"ptr addrspace(3) {empty}", f"i32 {block}"
            )
            arrive = f"{_BARRIER}.arrive.scope.cluster.space.cluster"
            self.call("void", arrive, f"ptr addrspace(7) {there}", "i32 1")


class Turns:
    """A loop over tiles of depth that carries a stage, a parity, and sums that begin with 0."""

    def __init__(self, text: Text, turns: str, state: Sequence[str], sums: int = 0) -> None:
        self.text, self.turns, self.begun = text, turns, state
        self.label, self.before = text.fresh_label(), text.block
        text.line(f"br label %{self.label}")
        text.label(self.label)
        self.turn, *self.state = (text.fresh() for _ in range(3))
        self.sums = [text.fresh() for _ in range(sums)]
        self.head = len(text.lines)

    def close(self, state: Sequence[str], sums: Sequence[str]) -> tuple[list[str], list[str]]:
        """Go round again with these, or on; return both as they are then."""
        text, done = self.text, self.text.fresh_label()
        after = text.value(f"add i32 {self.turn}, 1")
        more = text.value(f"icmp ult i32 {after}, {self.turns}")
        rows = [("i32", self.turn, "0", after)]
        rows += [("i32", *row) for row in zip(self.state, self.begun, state, strict=True)]
        rows += [("float", name, "0.0", last) for name, last in zip(self.sums, sums, strict=True)]
        text.lines[self.head : self.head] = [
            f"  {name} = phi {kind} [ {first}, %{self.before} ], [ {last}, %{text.block} ]"
            for kind, name, first, last in rows
        ]
        text.line(f"br i1 {more}, label %{self.label}, label %{done}")
        text.label(done)
        return list(state), list(sums)


WARPGROUP: Mapping[str, Emit] = {
    "gvk.begin_stages": _begin,
    "gvk.set_registers": _set_registers,
    "gvk.bring_tiles": _bring,
    "gvk.warpgroup_product": _product,
    "gvk.blocks": _blocks,
    "gvk.fence_shared": _fence,
    "gvk.await_stores": _await_stores,
    "gvk.store_tile": _store_tile,
    "gvk.meet_cluster": _meet_cluster,
    "gvk.warpgroup_multiply": _multiply,
}
"""Emitters of the operations of warpgroups."""
