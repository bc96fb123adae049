"""The `gvk` dialect: what kernels say that the upstream dialects of the `loops` level cannot.

    %i = gvk.step : vector<16xindex>                                  [0, 1, ... 15]
    %g = gvk.gather %m[%base] %i mask %k, %z : ...                    m[base + i], z where not k
    gvk.scatter %v, %m[%base] %i mask %k : ...                        m[base + i] = v where k
    gvk.prefetch %m[%o] {write = true, locality = 3 : i64} : ...
    gvk.gemm_tile %a[%ao] %lda, %b[%bo] %ldb, %c[%co] %ldc, ...       a register tile of a product
    gvk.gemm_pair %a, %ao, %b, %bo, %ldb, %c, %co, %x, ...            two of them in one loop
    gvk.transpose_tile %s[%so] %ls, %d[%do] %ld, %rows, %cols ...     a block, columns to rows
    gvk.library_gemm %a[%ao], %b[%bo], %c[%co], %m, %n, %k ...        a product by a library

Offsets count elements. The constructors skip xDSL's generic argument handling, because templates
make many of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from xdsl.context import Context
from xdsl.dialects import arith, builtin, func, math, memref, scf, vector
from xdsl.dialects.builtin import (
    BoolAttr,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    VectorType,
    bf16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import (
    MemoryReadEffect,
    MemoryWriteEffect,
    Pure,
)
from xdsl.utils.exceptions import VerifyException

from .gpu import GPU_OPS
from .upstream import RemFOp
from .warpgroup import WARPGROUP_OPS

INDEX = IndexType()

Strided: TypeAlias = tuple[SSAValue, SSAValue, SSAValue]
"""Where a matrix lies: the memref, the offset of its first element, the distance of rows."""


@lru_cache(maxsize=256)
def _integer(value: int) -> IntegerAttr[IntegerType]:
    return IntegerAttr(value, i64)


_BOOLS = (BoolAttr.from_bool(False), BoolAttr.from_bool(True))


def _lanes(kind: Attribute) -> int:
    """Return how many elements a 1-D vector type has."""
    if not isinstance(kind, VectorType) or len(kind.get_shape()) != 1:
        raise VerifyException(f"expected a vector of one dimension, found {kind}")
    return int(kind.get_shape()[0])


def _element(kind: Attribute) -> Attribute:
    """Return the element type of a memref or vector."""
    assert isinstance(kind, MemRefType | VectorType)
    element: Attribute = kind.element_type
    return element


CHECKED = "gvk.checked"
"""Attribute of an access that is looked at in the run: its number in the kernel."""


@irdl_op_definition
class Step(IRDLOperation):
    """The vector 0, 1, 2, ... of `index`."""

    name = "gvk.step"
    result = result_def(VectorType)
    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, lanes: int) -> None:
        Operation.__init__(self, result_types=(VectorType(INDEX, [lanes]),))


@irdl_op_definition
class Gather(IRDLOperation):
    """Elements of a memref at `base + offsets`; `passthru` where the mask is false."""

    name = "gvk.gather"
    memref = operand_def(MemRefType)
    base = operand_def(IndexType)
    offsets = operand_def(VectorType)
    masking = var_operand_def(VectorType)
    result = result_def(VectorType)
    traits = traits_def(MemoryReadEffect())
    assembly_format = (
        "$memref `[` $base `]` $offsets (`mask` $masking^ `:` type($masking))? attr-dict"
        " `:` type($memref) `,` type($offsets) `->` type($result)"
    )

    def __init__(
        self,
        memref: SSAValue,
        base: SSAValue,
        offsets: SSAValue,
        mask: SSAValue | None = None,
        passthru: SSAValue | None = None,
    ) -> None:
        assert (mask is None) == (passthru is None), "gvk.gather: mask and passthru go together"
        kind = VectorType(_element(memref.type), [_lanes(offsets.type)])
        masking = () if mask is None or passthru is None else (mask, passthru)
        Operation.__init__(self, operands=(memref, base, offsets, *masking), result_types=(kind,))

    def verify_(self) -> None:
        """Check that types and lanes agree."""
        _check_lanes(self, self.offsets.type, self.result.type)
        if len(self.masking) not in (0, 2):
            raise VerifyException("expected mask and passthru, or neither")


@irdl_op_definition
class Scatter(IRDLOperation):
    """Write the lanes of a vector to `base + offsets`, in lane order, where the mask is true."""

    name = "gvk.scatter"
    value = operand_def(VectorType)
    memref = operand_def(MemRefType)
    base = operand_def(IndexType)
    offsets = operand_def(VectorType)
    masking = var_operand_def(VectorType)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = (
        "$value `,` $memref `[` $base `]` $offsets (`mask` $masking^ `:` type($masking))?"
        " attr-dict `:` type($memref) `,` type($offsets) `,` type($value)"
    )

    def __init__(
        self,
        value: SSAValue,
        memref: SSAValue,
        base: SSAValue,
        offsets: SSAValue,
        mask: SSAValue | None = None,
    ) -> None:
        masking = () if mask is None else (mask,)
        Operation.__init__(self, operands=(value, memref, base, offsets, *masking))

    def verify_(self) -> None:
        """Check that types and lanes agree."""
        _check_lanes(self, self.offsets.type, self.value.type)
        if len(self.masking) > 1:
            raise VerifyException("expected one mask at most")


def _check_lanes(op: Gather | Scatter, offsets: Attribute, values: Attribute) -> None:
    """Check lanes and element types of a gather or scatter."""
    if _element(offsets) != INDEX:
        raise VerifyException(f"expected offsets of index, found {offsets}")
    if _element(values) != _element(op.memref.type):
        raise VerifyException(f"expected elements of {op.memref.type}, found {values}")
    for kind in (values, *(value.type for value in op.masking)):
        if _lanes(kind) != _lanes(offsets):
            raise VerifyException(f"expected {_lanes(offsets)} lanes, found {kind}")


@irdl_op_definition
class Prefetch(IRDLOperation):
    """Ask for the cache line at an offset, which need not lie inside the buffer."""

    name = "gvk.prefetch"
    memref = operand_def(MemRefType)
    offset = operand_def(IndexType)
    write = prop_def(BoolAttr)
    locality = prop_def(IntegerAttr)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$memref `[` $offset `]` attr-dict `:` type($memref)"

    def __init__(
        self, memref: SSAValue, offset: SSAValue, *, write: bool = False, locality: int = 3
    ) -> None:
        Operation.__init__(
            self,
            operands=(memref, offset),
            properties={"write": _BOOLS[write], "locality": _integer(locality)},
        )

    def verify_(self) -> None:
        """Check the locality."""
        if not 0 <= self.locality.value.data <= 3:
            raise VerifyException(f"expected locality 0 to 3, found {self.locality.value.data}")


@dataclass(frozen=True)
class Tile:
    """The part of a `gvk.gemm_tile` that code is specialised on; `lanes` elements a vector."""

    rows: int
    vectors: int
    lanes: int
    accumulate: bool = False
    masked: bool = False
    dots: int = 1
    """Neighbours along k that one instruction multiplies and adds up: 1, 2 of bf16, 4 of i8."""
    ahead: int = 0
    """Cache lines of what is multiplied next, to ask for in every two steps of k."""
    added: bool = False
    """Whether what lies beside c is added."""
    low: float | None = None
    high: float | None = None
    """What the results are kept between, where given."""


class GemmSizes(NamedTuple):
    """The numbers a `gvk.gemm_tile` is told at run time, all of `index`."""

    k: SSAValue
    segments: SSAValue
    a_segment: SSAValue
    b_segment: SSAValue
    columns: SSAValue
    a_step: SSAValue
    ahead: tuple[SSAValue, ...] = ()
    """How far behind a row of b its lines to ask for lie, if there are any."""


class Behind(NamedTuple):
    """What is read when the sums of a `gvk.gemm_tile` are there, if anything."""

    beside: tuple[SSAValue, ...] = ()
    """A memref that is read where c is written."""
    bias: tuple[SSAValue, ...] = ()
    """A memref, and the offset of what is added to the first column."""


NOTHING = Behind()


@lru_cache(maxsize=256)
def _properties(tile: Tile, beside: int, bias: int) -> dict[str, Attribute]:
    counts = [*[1] * 15, tile.ahead > 0, beside, bias, bias]
    return {
        "operandSegmentSizes": DenseArrayBase.from_list(i32, counts),
        "rows": _integer(tile.rows),
        "vectors": _integer(tile.vectors),
        "lanes": _integer(tile.lanes),
        "accumulate": _BOOLS[tile.accumulate],
        "masked": _BOOLS[tile.masked],
        **({"dots": _integer(tile.dots)} if tile.dots > 1 else {}),
        **({"lines": _integer(tile.ahead)} if tile.ahead else {}),
        **({"added": _BOOLS[True]} if tile.added else {}),
        **({"low": FloatAttr(tile.low, f64)} if tile.low is not None else {}),
        **({"high": FloatAttr(tile.high, f64)} if tile.high is not None else {}),
    }


DOTS = {2: (bf16, bf16, f32), 4: (i8, i8, i32), 8: (i16, i32, i32)}
"""Element types of a, b and c for groups of so many; the i32 of b hold eight numbers of 4 bits."""


@irdl_op_definition
class GemmTile(IRDLOperation):
    """A register tile of a matrix product, its sum over `segments` stretches of `k` each.

    c[r*ldc + j] (+)= a[r*lda + s*a_segment + kk*a_step] * b[s*b_segment + kk*ldb + j], beyond
    the three offsets, for r < rows, j < vectors*lanes (j < columns too when masked; b is always
    readable in full), s < segments, kk < k. The sum starts from c when accumulating, else from
    `bias[j]` beyond its offset if there is one, else from 0, and is kept in registers throughout:
    the order is s, then kk, each step one fused multiply-add. Elements of b that are bf16 or i8
    become those of c, which is exact.

    With `dots`, a and b are walked in groups of so many neighbours, of which the products are
    added up: k, lda, ldb, the segments and a_step count groups. Then c is f32 and a and b are
    bf16, or c is i32, a has 8 bits without a sign, and b is i8; or a is i16, and b words in i32 of
    eight numbers 0..15 (see `words`).

    Meanwhile memory can be asked for what comes next: in every two steps, `lines` more cache lines
    from `ahead` elements behind the segment of b on, which need not lie inside the buffer; and
    `beside`, what lies in another buffer where c lies in its own.

    At the end the sums can be finished, in this order: when accumulating, `bias[j]` is added; what
    lies beside c is, with `added`; and where it is beyond `low` or `high`, that is taken instead.
    """

    name = "gvk.gemm_tile"
    a = operand_def(MemRefType)
    a_offset = operand_def(IndexType)
    lda = operand_def(IndexType)
    b = operand_def(MemRefType)
    b_offset = operand_def(IndexType)
    ldb = operand_def(IndexType)
    c = operand_def(MemRefType)
    c_offset = operand_def(IndexType)
    ldc = operand_def(IndexType)
    k = operand_def(IndexType)
    segments = operand_def(IndexType)
    a_segment = operand_def(IndexType)
    b_segment = operand_def(IndexType)
    columns = operand_def(IndexType)
    a_step = operand_def(IndexType)
    ahead = var_operand_def(IndexType)
    beside = var_operand_def(MemRefType)
    bias = var_operand_def(MemRefType)
    bias_offset = var_operand_def(IndexType)
    rows = prop_def(IntegerAttr)
    vectors = prop_def(IntegerAttr)
    lanes = prop_def(IntegerAttr)
    accumulate = prop_def(BoolAttr)
    masked = prop_def(BoolAttr)
    dots = opt_prop_def(IntegerAttr)
    lines = opt_prop_def(IntegerAttr)
    added = opt_prop_def(BoolAttr)
    low = opt_prop_def(FloatAttr)
    high = opt_prop_def(FloatAttr)
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$a `[` $a_offset `]` $lda `,` $b `[` $b_offset `]` $ldb `,` $c `[` $c_offset `]` $ldc"
        " `,` $k `,` $segments `,` $a_segment `,` $b_segment `,` $columns `,` $a_step"
        " (`ahead` $ahead^)? (`beside` $beside^ `:` type($beside))?"
        " (`bias` $bias^ `[` $bias_offset `]` `:` type($bias))? attr-dict `:`"
        " type($a) `,` type($b) `,` type($c)"
    )

    def __init__(
        self, a: Strided, b: Strided, c: Strided, sizes: GemmSizes, tile: Tile,
        behind: Behind = NOTHING,
    ) -> None:  # fmt: skip
        assert len(sizes.ahead) == bool(tile.ahead), "lines to ask for have a place"
        operands = (*a, *b, *c, *sizes[:-1], *sizes.ahead, *behind.beside, *behind.bias)
        properties = _properties(tile, len(behind.beside), len(behind.bias) // 2)
        Operation.__init__(self, operands=operands, properties=properties)

    @property
    def tile(self) -> Tile:
        """Return the attributes as one value."""
        found = self.properties
        rows, vectors, lanes, accumulate, masked = [
            found[name].value.data  # type: ignore[attr-defined]
            for name in ("rows", "vectors", "lanes", "accumulate", "masked")
        ]
        dots = self.dots.value.data if self.dots is not None else 1
        lines = self.lines.value.data if self.lines is not None else 0
        low, high = (x.value.data if x is not None else None for x in (self.low, self.high))
        how = (bool(accumulate), bool(masked), dots, lines, self.added is not None, low, high)
        return Tile(rows, vectors, lanes, *how)

    def _verify_operands(self) -> None:
        """Check what is there only at times."""
        if len(self.ahead) != bool(self.tile.ahead):
            raise VerifyException("expected lines and how far ahead they lie, or neither")
        for each in (self.beside, self.bias):
            if len(each) > 1 or any(m.type != self.c.type for m in each):
                raise VerifyException("expected one buffer beside c, and one bias, of its type")
        if len(self.bias) != len(self.bias_offset) or (self.added is not None and not self.beside):
            raise VerifyException("expected an offset of the bias, and what is added")

    def verify_(self) -> None:
        """Check the tile and the element types."""
        for name in ("rows", "vectors", "lanes"):
            value = self.properties[name]
            assert isinstance(value, IntegerAttr)
            if value.value.data < 1:
                raise VerifyException(f"expected positive {name}, found {value.value.data}")
        self._verify_operands()
        kinds = tuple(_element(matrix.type) for matrix in (self.a, self.b, self.c))
        if self.tile.dots > 1:
            if DOTS.get(self.tile.dots) != kinds:
                raise VerifyException(f"expected types for {self.tile.dots} dots, found {kinds}")
            return
        if _element(self.a.type) != _element(self.c.type):
            raise VerifyException("expected one element type for a and c")
        if _element(self.b.type) not in (_element(self.c.type), bf16, i8):
            raise VerifyException(f"expected b of the type of c, bf16 or i8, found {self.b.type}")


class PairSizes(NamedTuple):
    """The numbers a `gvk.gemm_pair` is told at run time, all of `index`."""

    k: SSAValue
    a_step: SSAValue


@irdl_op_definition
class GemmPair(IRDLOperation):
    """Two register tiles whose sums are made in one loop: a row of one product, rows of another.

    c[j] = sum over kk < k of a[kk*a_step] * b[kk*ldb + j], for j < vectors*lanes, and
    g[r*ldg + j] = bias[j] + sum over kk < k of x[r*ldx + kk] * w[kk*ldw + j], for r < rows,
    j < lanes, beyond the offsets. One row waits for memory, and several rows for arithmetic: in one
    loop they do so at a time. The order of each sum is that of a `gvk.gemm_tile`.
    """

    name = "gvk.gemm_pair"
    a = operand_def(MemRefType)
    a_offset = operand_def(IndexType)
    b = operand_def(MemRefType)
    b_offset = operand_def(IndexType)
    ldb = operand_def(IndexType)
    c = operand_def(MemRefType)
    c_offset = operand_def(IndexType)
    x = operand_def(MemRefType)
    x_offset = operand_def(IndexType)
    ldx = operand_def(IndexType)
    w = operand_def(MemRefType)
    w_offset = operand_def(IndexType)
    ldw = operand_def(IndexType)
    g = operand_def(MemRefType)
    g_offset = operand_def(IndexType)
    ldg = operand_def(IndexType)
    bias = operand_def(MemRefType)
    bias_offset = operand_def(IndexType)
    k = operand_def(IndexType)
    a_step = operand_def(IndexType)
    rows = prop_def(IntegerAttr)
    vectors = prop_def(IntegerAttr)
    lanes = prop_def(IntegerAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self, row: tuple[SSAValue, ...], rows: tuple[SSAValue, ...], sizes: PairSizes, tile: Tile
    ) -> None:
        properties = {n: _integer(getattr(tile, n)) for n in ("rows", "vectors", "lanes")}
        Operation.__init__(self, operands=(*row, *rows, *sizes), properties=properties)

    @property
    def tile(self) -> Tile:
        """Return the rows of the second product, and the vectors of the row of the first."""
        rows, vectors, lanes = (n.value.data for n in (self.rows, self.vectors, self.lanes))
        return Tile(rows, vectors, lanes)

    def verify_(self) -> None:
        """Check the tile and the element types."""
        kinds = {_element(m.type) for m in (self.a, self.b, self.c, self.x, self.w, self.g)}
        if kinds != {_element(self.bias.type)}:
            raise VerifyException("expected one element type")
        if min(each.value.data for each in (self.rows, self.vectors, self.lanes)) < 1:
            raise VerifyException(f"expected positive sizes, found {self.tile}")


@irdl_op_definition
class TransposeTile(IRDLOperation):
    """dst[j*ld + i] = src[i*ls + j] beyond the offsets, i < rows <= lanes, j < cols <= lanes."""

    name = "gvk.transpose_tile"
    src = operand_def(MemRefType)
    src_offset = operand_def(IndexType)
    ls = operand_def(IndexType)
    dst = operand_def(MemRefType)
    dst_offset = operand_def(IndexType)
    ld = operand_def(IndexType)
    rows = operand_def(IndexType)
    cols = operand_def(IndexType)
    lanes = prop_def(IntegerAttr)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$src `[` $src_offset `]` $ls `,` $dst `[` $dst_offset `]` $ld `,` $rows `,` $cols"
        " attr-dict `:` type($src) `,` type($dst)"
    )

    def __init__(
        self,
        src: Strided,
        dst: Strided,
        rows: SSAValue,
        cols: SSAValue,
        *,
        lanes: int,
    ) -> None:
        Operation.__init__(
            self, operands=(*src, *dst, rows, cols), properties={"lanes": _integer(lanes)}
        )

    def verify_(self) -> None:
        """Check that both sides have one element type."""
        if _element(self.src.type) != _element(self.dst.type):
            raise VerifyException(
                f"expected one element type, found {self.src.type}, {self.dst.type}"
            )


@irdl_op_definition
class LibraryGemm(IRDLOperation):
    """c[i*n + j] = sum of a[i*k + l] * b[l*n + j], l < k, by a function of a library.

    Beyond the offsets, i < m and j < n; of a transposed operand, row and column change places. The
    order of the sum is the library's.
    """

    name = "gvk.library_gemm"
    a = operand_def(MemRefType)
    a_offset = operand_def(IndexType)
    b = operand_def(MemRefType)
    b_offset = operand_def(IndexType)
    c = operand_def(MemRefType)
    c_offset = operand_def(IndexType)
    m = operand_def(IndexType)
    n = operand_def(IndexType)
    k = operand_def(IndexType)
    function = prop_def(StringAttr)
    transpose_a = prop_def(BoolAttr)
    transpose_b = prop_def(BoolAttr)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$a `[` $a_offset `]` `,` $b `[` $b_offset `]` `,` $c `[` $c_offset `]` `,` $m `,` $n `,`"
        " $k attr-dict `:` type($a) `,` type($b) `,` type($c)"
    )

    def __init__(
        self, places: Sequence[SSAValue], sizes: Sequence[SSAValue], function: str, *,
        transposed: tuple[bool, bool],
    ) -> None:  # fmt: skip
        properties = {
            "function": StringAttr(function),
            "transpose_a": _BOOLS[transposed[0]],
            "transpose_b": _BOOLS[transposed[1]],
        }
        Operation.__init__(self, operands=(*places, *sizes), properties=properties)

    @property
    def transposed(self) -> tuple[bool, bool]:
        """Return whether the columns of a, and of b, lie as rows do."""
        return bool(self.transpose_a.value.data), bool(self.transpose_b.value.data)

    def verify_(self) -> None:
        """Check that there is one element type, of those that such functions have."""
        kinds = {_element(m.type) for m in (self.a, self.b, self.c)}
        if kinds not in ({f32}, {f64}):
            raise VerifyException(f"expected f32 or f64, found {self.a.type}, {self.c.type}")


Gvk = Dialect(
    "gvk",
    [
        *(Step, Gather, Scatter, Prefetch, GemmTile, GemmPair, TransposeTile, LibraryGemm, RemFOp),
        *GPU_OPS,
        *WARPGROUP_OPS,
    ],
)

LOOPS_DIALECTS: Sequence[Dialect] = (
    builtin.Builtin,
    func.Func,
    arith.Arith,
    math.Math,
    memref.MemRef,
    scf.Scf,
    vector.Vector,
    Gvk,
)
"""The dialects that may stand at the `loops` level."""


def loops_context() -> Context:
    """Return a fresh context in which `loops` modules parse."""
    context = Context()
    for dialect in LOOPS_DIALECTS:
        context.load_dialect(dialect)
    return context
