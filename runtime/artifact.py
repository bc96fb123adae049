"""What a compiled model is, as plain data: the face between the compiler and what runs it.

A `Description` says what goes in and out, how much memory a run needs, and which kernels run on
which pieces of it, in which order. `codegen` makes one from planned IR, writes the entry function
from it, and leaves the part that callers need in the artefact's manifest.

    >>> add = Launch("k0", (Pointer("input", 0), Pointer("output", 0), Scalar("N")), count="N")
    >>> model = Description(
    ...     tag="twice",
    ...     inputs=(TensorInfo("x", "f32", ("N", 4)),),
    ...     outputs=(TensorInfo("y", "f32", ("N", 4)),),
    ...     dims=(DimInfo("N", 1, 64),),
    ...     steps=(add,),
    ... )
    >>> Description.from_json(model.to_json()) == model
    True
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from math import prod
from typing import Any, Literal, TypeAlias, get_args

from ..requirements import Within
from .expression import Extent, affine, evaluate, symbols

DTYPES: Mapping[str, int] = {
    **{"bool": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1, "u16": 2, "u32": 4, "u64": 8},
    **{"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "c64": 8, "c128": 16},
    **dict.fromkeys(("i4", "u4", "i2", "u2", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz"), 1),
    **dict.fromkeys(("f8e8m0", "f6e2m3", "f6e3m2", "f4e2m1"), 1),
}
"""Bytes of an element of each type; the position in this table is the type's code in C."""

DTYPE_CODES: Mapping[str, int] = {name: code for code, name in enumerate(DTYPES)}
"""The number of each element type in the C interface."""

ALIGNMENT = 64
"""Bytes that the workspace, the weights, and each buffer in them are aligned to."""

OUTSIDE = "outside"
"""Where the manifest says which kernels look at their accesses, and where a run tells of them."""
FUNCTIONS = "functions"
"""Where the manifest of functions over one state says which there are."""
LIBRARIES = "libraries"
"""The extra that names other libraries, each with the functions of it that kernels call."""
REQUIRED = "requirements"
"""Where the manifest says what is required of values, and where a run tells of it."""

TOLD = "told"
"""Where the manifest says which extents of results a run tells, and by which other results."""

Base: TypeAlias = Literal["input", "output", "workspace", "weights", "host", "raw"]


@dataclass(frozen=True)
class TensorInfo:
    """A tensor that goes in or comes out; a dimension is a number or an expression of symbols."""

    name: str
    dtype: str
    shape: tuple[Extent, ...]
    over: int | None = None
    """Of an output: the number of the input whose buffer may be given for it, too."""
    within: Within = field(default=(), compare=False)
    """Of an input of integers: the ranges in which a run wants all of them."""

    def __post_init__(self) -> None:
        assert self.dtype in DTYPES, f"tensor {self.name!r}: no element type {self.dtype!r}"

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"

    @property
    def is_static(self) -> bool:
        """Say whether every dimension is a number."""
        return all(isinstance(size, int) for size in self.shape)

    def shape_for(self, values: Mapping[str, int]) -> tuple[int, ...]:
        """Return the shape when the symbols have these values."""
        return tuple(evaluate(size, values) for size in self.shape)


@dataclass(frozen=True)
class RawWeights:
    """Weights as they are given, of one type: that of each layer, or one alone."""

    names: tuple[str, ...]
    """They are given in this order, one behind the other."""
    dtype: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Return the bytes of each."""
        return DTYPES[self.dtype] * prod(self.shape)

    def infos(self) -> list[TensorInfo]:
        """Return what is known of each."""
        return [TensorInfo(name, self.dtype, self.shape) for name in self.names]


@dataclass(frozen=True)
class Copies:
    """Pieces of the same size that are copied into the constants, from equal distances to equal."""

    first: int
    """The number of the first raw weight; of constants that nobody gives, where the first is."""
    offset: int
    """Where the first piece is to lie."""
    size: int
    count: int = 1
    step: int = 1
    """From one piece to the next, in numbers of weights or in bytes."""
    distance: int = 0
    """Bytes from where one piece is to lie to where the next is."""


@dataclass(frozen=True)
class DimInfo:
    """A symbolic dimension and the lowest and highest value that a run may give it."""

    name: str
    low: int
    high: int

    def __post_init__(self) -> None:
        assert self.name.isidentifier(), f"dimension {self.name!r} is not an identifier"
        assert 0 <= self.low <= self.high < 1 << 62, f"dimension {self.name!r}: no such range"


@dataclass(frozen=True)
class Binding:
    """Where a symbolic dimension gets its value: it is (size - offset) // factor."""

    input: int
    axis: int
    factor: int = 1
    offset: int = 0


def bindings(inputs: Sequence[TensorInfo], dims: Sequence[DimInfo]) -> dict[str, Binding]:
    """Return where each dimension gets its value: where it stands by itself, if it does.

    Else it is taken from the first size that is a * dimension + b, with numbers a and b. What
    else there is in the shapes must then fit, and is compared.
    """
    found: dict[str, Binding] = {}
    places = [
        (number, axis, size)
        for number, info in enumerate(inputs)
        for axis, size in enumerate(info.shape)
    ]
    for dim in dims:
        for number, axis, size in sorted(places, key=lambda place: place[2] != dim.name):
            line = affine(size, dim.name)
            if line is not None:
                found[dim.name] = Binding(number, axis, *line)
                break
    return found


@dataclass(frozen=True)
class SizeDemand:
    """`small <= large` of sizes; `text` says what is wrong in a run where it is not so."""

    small: Extent
    large: Extent
    text: str


@dataclass(frozen=True)
class Pointer:
    """The address a kernel gets for one of its buffers: `offset` bytes behind a base.

    `workspace` is the arena of this run; `weights` are the constants; `raw` (only in `prepare`)
    are the weights as they were given.
    """

    base: Base
    index: Extent = 0
    """Which input, output or raw weight; 0 for the other bases."""
    offset: Extent = 0

    def __post_init__(self) -> None:
        assert self.base in get_args(Base), f"no base {self.base!r} of a pointer"


@dataclass(frozen=True)
class Scalar:
    """A number that a kernel gets: a symbolic dimension or an expression of them."""

    value: Extent


Argument: TypeAlias = Pointer | Scalar


@dataclass(frozen=True)
class Work:
    """What one launch is there for, for people: nothing that a run depends on."""

    template: str
    """What the code of its kernel was made by."""
    sources: tuple[str, ...]
    """The nodes of the model that it computes, as far as they are known."""
    operations: tuple[str, ...]
    numbers: tuple[int, ...] = ()
    """Multiplications with addition, arithmetic, functions, bytes read and written, each once;
    empty where that depends on the sizes of a run."""


@dataclass(frozen=True)
class Launch:
    """Run a kernel over `count` units that may run at the same time.

    Threads share the units when there are more than `grain` of them; the next step begins when
    all are done.
    """

    kernel: str
    arguments: tuple[Argument, ...]
    count: Extent = 1
    grain: int = 1
    work: Work | None = None


@dataclass(frozen=True)
class If:
    """Run `then` when the byte at `condition` is not zero, and else `otherwise`."""

    condition: Pointer
    then: tuple[Step, ...]
    otherwise: tuple[Step, ...] = ()


@dataclass(frozen=True)
class While:
    """Run `test` and then, as long as the byte at `condition` is not zero, `body` and `test`."""

    test: tuple[Step, ...]
    condition: Pointer
    body: tuple[Step, ...]


@dataclass(frozen=True)
class Repeat:
    """Run `body` `count` times; the symbol `index` counts from 0 in the expressions of `body`."""

    index: str
    count: Extent
    body: tuple[Step, ...]


@dataclass(frozen=True)
class Require:
    """End the run with a status unless this holds: what comes next would leave its buffers."""

    demand: SizeDemand


@dataclass(frozen=True)
class Tell:
    """From here on a symbol has the value of the i64 at `count`, at least 0 and at most `most`."""

    symbol: str
    count: Pointer
    most: Extent


Step: TypeAlias = Launch | If | While | Repeat | Require | Tell


@dataclass(frozen=True)
class Description:
    """All that is to be known about a compiled model, except the code of its kernels."""

    tag: str
    """What the names of all its symbols begin with: an identifier of C."""
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    steps: tuple[Step, ...]
    dims: tuple[DimInfo, ...] = ()
    """Each gets its value from the shape of an input: see `bindings`."""
    demands: tuple[SizeDemand, ...] = ()
    """What every run must find of its dimensions, before anything is done."""
    workspace: int = 0
    """Bytes of the arena that all steps share, at the largest dimensions."""
    max_live: int = 0
    """The largest sum of bytes of the arena that are needed at one time: no plan can be below."""
    slots: int = 1
    """How many threads may run a kernel at the same time."""
    weights: int = 0
    """Bytes of the constants."""
    raw: tuple[RawWeights, ...] = ()
    """The weights as they were given."""
    prepare: tuple[Step, ...] = ()
    """What makes constants from the raw weights; empty if they are used as they are."""
    copies: tuple[Copies, ...] = ()
    """Raw weights that are used as they are."""
    fixed: tuple[Copies, ...] = ()
    """Constants that are no weights, which lie elsewhere one behind the other: `prepare` writes
    them, too."""
    prepare_workspace: int = 0
    """Bytes of the arena while `prepare` runs."""
    target: str = "x86-64-v2"
    triple: str = "x86_64-unknown-linux-gnu"
    features: tuple[str, ...] = ()
    """What the kernels need of the processor beyond the plain architecture."""
    checks: bool = True
    """Whether a run looks at its arguments before it uses them."""
    extras: Mapping[str, Any] = field(default_factory=dict)
    """More for the manifest, as JSON: pipeline, versions, options, hash of the input."""

    def __post_init__(self) -> None:
        assert self.tag.encode("ascii", "replace").decode().isidentifier(), f"tag {self.tag!r}"
        known = {dim.name for dim in self.dims}
        bound = bindings(self.inputs, self.dims).keys()
        assert known <= bound, f"no input says what the dimensions {sorted(known - bound)} are"
        for tensor in (*self.inputs, *self.outputs):
            used = {name for size in tensor.shape for name in symbols(size)}
            assert used <= known, f"tensor {tensor.name!r}: unknown {sorted(used - known)}"

    @property
    def raw_names(self) -> list[str]:
        """Return the names of all weights that are given, in their order."""
        return [name for each in self.raw for name in each.names]

    @property
    def has_prepare(self) -> bool:
        """Say whether there is a function `prepare`: layers may have constants alone to prepare."""
        return bool(self.raw or self.prepare)

    @property
    def is_for_gpu(self) -> bool:
        """Say whether the kernels run on a GPU."""
        return self.target.startswith("cuda:")

    @property
    def libraries(self) -> tuple[str, ...]:
        """Return the names of other libraries whose functions the kernels call."""
        return tuple(self.extras.get(LIBRARIES, ()))

    @property
    def workspace_bytes(self) -> int:
        """Return the bytes of memory that a run needs beyond its inputs, outputs and weights."""
        return round_up(self.workspace, ALIGNMENT)

    @property
    def prepare_bytes(self) -> int:
        """Return the bytes of memory that `prepare` works in."""
        return round_up(self.prepare_workspace, ALIGNMENT)

    @property
    def demanded(self) -> tuple[SizeDemand, ...]:
        """Return what runs must find, each once: a status names one by its place here."""
        return tuple(dict.fromkeys((*self.demands, *requirements(self.steps))))

    @property
    def required(self) -> Sequence[Mapping[str, Any]]:
        """Return what is required of values: a status names one by its place here, from 1."""
        found: Sequence[Mapping[str, Any]] = self.extras.get(REQUIRED, {}).get("rows", ())
        return found

    @property
    def kernels(self) -> tuple[str, ...]:
        """Return the names of the kernels, each once, in the order they are first launched."""
        return tuple(dict.fromkeys(each.kernel for each in launches(self.prepare + self.steps)))

    def to_json(self) -> str:
        """Return this as text; equal descriptions give equal text."""
        return json.dumps(plain(self), sort_keys=True)  # with an indent Python's own code writes

    @classmethod
    def from_json(cls, text: str) -> Description:
        """Return what `to_json` was called on."""
        value = rebuild(json.loads(text), CLASSES)
        assert isinstance(value, Description), "the text of something else"
        return value


def launches(steps: tuple[Step, ...]) -> Iterator[Launch]:
    """Give every launch in `steps`, also those inside of other steps, in order."""
    for step in steps:
        match step:
            case Launch():
                yield step
            case If(then=first, otherwise=second) | While(test=first, body=second):
                yield from launches(first)
                yield from launches(second)
            case Repeat(body=body):
                yield from launches(body)


def requirements(steps: tuple[Step, ...]) -> Iterator[SizeDemand]:
    """Give what `steps` require, also those inside of other steps, in order."""
    for step in steps:
        match step:
            case Require(demand=demand):
                yield demand
            case If(then=first, otherwise=second) | While(test=first, body=second):
                yield from requirements(first)
                yield from requirements(second)
            case Repeat(body=body):
                yield from requirements(body)


def control_steps(steps: tuple[Step, ...]) -> Iterator[If | While | Repeat]:
    """Give every choice and loop in `steps`, also those inside of others."""
    for step in steps:
        match step:
            case If(then=first, otherwise=second) | While(test=first, body=second):
                yield step
                yield from control_steps((*first, *second))
            case Repeat(body=body):
                yield step
                yield from control_steps(body)


def round_up(size: int, multiple: int) -> int:
    """Return the smallest multiple of `multiple` that is not below `size`."""
    return -(-size // multiple) * multiple


CLASSES: Mapping[str, type] = {
    each.__name__: each
    for each in (
        *(Description, TensorInfo, RawWeights, Copies, DimInfo, Pointer, Scalar),
        *(Launch, Work, If, While, Repeat, Require, SizeDemand, Tell),
    )
}


def plain(value: Any) -> Any:
    """Return dataclasses as dictionaries that name their class, tuples as lists, JSON as it is."""
    if is_dataclass(value):
        items = {each.name: plain(getattr(value, each.name)) for each in fields(value)}
        return {"kind": type(value).__name__, **items}
    if isinstance(value, Mapping):
        return {"kind": "json", "value": value}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def rebuild(value: Any, classes: Mapping[str, type]) -> Any:
    """Return what `plain` was called on, with tuples for all lists."""
    if isinstance(value, list):
        return tuple(rebuild(item, classes) for item in value)
    if not isinstance(value, dict):
        return value
    if value["kind"] == "json":
        return value["value"]
    items = {key: rebuild(item, classes) for key, item in value.items() if key != "kind"}
    return classes[value["kind"]](**items)
