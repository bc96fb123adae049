"""Values that are given, and the operations that hold programs together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from xdsl.ir import Attribute, Block, BlockArgument, OpTraits, Region, SSAValue
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from ..compose.complex import Complex
from ..demands import may_equal
from ..interpret.launch import interpret_launch
from ..op import Array, Op, register
from ..reading import Reading
from ..types.attributes import Symbol, integer_attribute, to_attribute, to_python
from ..types.dims import Dim, evaluate
from ..types.dtypes import PARTS, DType, c64, i64, string
from ..types.indices import Indices
from ..types.tensor import TensorSpec, memref_of, spec_of, spec_of_array


@register
class Constant(Op):
    """A tensor that is known at compile time and small enough for the text."""

    name = "gv.constant"
    AS_CALL: ClassVar = False
    NODE: ClassVar = "Const"
    WORKLESS: ClassVar = True
    CHEAP: ClassVar = True

    @classmethod
    def infer(cls, *, value: Array) -> Sequence[TensorSpec]:
        """Return the spec of the value."""
        if value.dtype == object:
            return (TensorSpec(string, value.shape),)
        return (spec_of_array(value),)

    @classmethod
    def evaluate(cls, *, value: Array) -> Sequence[Array]:
        """Return the value."""
        return (value,)

    @classmethod
    def by_parts(cls, make: Any, *, value: Array) -> Any:
        """Return two constants."""
        return Complex(make, *(make.constant(value=np.array(x)) for x in (value.real, value.imag)))

    @classmethod
    def element_at(
        cls, reading: Reading, index: Indices, *operands: SSAValue, **attributes: Any
    ) -> Any:
        """Return the one number there is: others are stored, not read in place."""
        value = attributes["value"]
        assert value.size == 1 or not any(value.strides), "only splat constants stay in kernels"
        element = np.asarray(value)[(0,) * value.ndim]
        return reading.math.constant(element.item(), spec_of_array(value).dtype)


@register
class Weight(Op):
    """A tensor whose data is in the program's store under a name."""

    name = "gv.weight"
    AS_CALL: ClassVar = False
    WORKLESS: ClassVar = True

    @classmethod
    def infer(cls, *, weight: Symbol, dtype: DType, shape: tuple[Dim, ...]) -> Sequence[TensorSpec]:
        """Return the declared spec."""
        return (TensorSpec(dtype, shape),)

    @classmethod
    def takes_parts(cls, count: int, attributes: Mapping[str, Any]) -> bool:
        """Say so: it is memory."""
        return True

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Array]:
        """Return the stored array."""
        return (np.asarray(machine.weights[str(self.plain_attributes()["weight"])]),)


@register
class Yield(Op):
    """Ends a region and gives its results."""

    name = "gv.yield"
    AS_CALL: ClassVar = False
    WORKLESS: ClassVar = True
    PURE: ClassVar = False

    @classmethod
    def infer(cls, *xs: TensorSpec) -> Sequence[TensorSpec]:
        """Return nothing: a terminator has no results."""
        return ()

    @classmethod
    def takes_parts(cls, count: int, attributes: Mapping[str, Any]) -> bool:
        """Say so: it computes nothing."""
        return True


Yield.traits = OpTraits(lambda: (IsTerminator(),))


class Isolated(Op):
    """An operation whose regions see nothing but their arguments."""

    def blocks(self) -> list[Block]:
        """Return the block of each region."""
        return [region.block for region in self.regions]

    def yielded(self, index: int) -> Sequence[SSAValue]:
        """Return the values that a region yields."""
        last = self.regions[index].block.last_op
        if not isinstance(last, Yield):
            raise VerifyException(f"region {index} does not end in gv.yield")
        return tuple(last.operands)

    def check_isolated(self, count: int) -> None:
        """Check that so many regions are one block each, and see nothing but their arguments."""
        if len(self.regions) != count:
            raise VerifyException(f"{len(self.regions)} regions, expected {count}")
        for index, region in enumerate(self.regions):
            if len(region.blocks) != 1:
                raise VerifyException(f"region {index} has {len(region.blocks)} blocks, not one")
        for index, block in enumerate(self.blocks()):
            inside: set[SSAValue] = set(block.args)
            for op in block.ops:
                if any(operand not in inside for operand in op.operands):
                    raise VerifyException(f"{op.name} in region {index} uses a value from outside")
                inside.update(op.results)


@register
class Kernel(Op):
    """A group of operations that will be one kernel; `kind` names its template.

    The region's arguments are the operands. Choices (tiles, threads, algorithm) are
    discardable attributes put there by `choose-kernels`.
    """

    name = "gv.kernel"
    AS_CALL: ClassVar = False
    LEVEL: ClassVar = "fused"

    @classmethod
    def infer(cls, *xs: TensorSpec, kind: str) -> Sequence[TensorSpec]:
        """Refuse: the results are what the region yields."""
        raise TypeError("the results of gv.kernel are given by its region")

    @classmethod
    def make_from(cls, operands: Sequence[SSAValue], body: Block, kind: str) -> Kernel:
        """Create a kernel from a block whose arguments match and that ends in `gv.yield`."""
        last = body.last_op
        assert isinstance(last, Yield), "the body of a kernel ends in gv.yield"
        return cls.create(
            operands=operands,
            result_types=[v.type for v in last.operands],
            properties={"kind": to_attribute(kind)},
            regions=[Region(body)],
        )

    @property
    def body(self) -> Block:
        """Return the block of operations."""
        return self.regions[0].block

    @property
    def kind(self) -> str:
        """Return the template's name."""
        return self.properties["kind"].data  # type: ignore[attr-defined,no-any-return]

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """Return the values inside that are the results."""
        last = self.body.last_op
        assert last is not None, "the body of a kernel ends in gv.yield"
        return tuple(last.operands)

    def verify_(self) -> None:
        """Check arguments against operands and results against what is yielded."""
        if [a.type for a in self.body.args] != [o.type for o in self.operands]:
            raise VerifyException("the region's arguments differ from the operands")
        last = self.body.last_op
        if not isinstance(last, Yield):
            raise VerifyException("the region does not end in gv.yield")
        if [r.type for r in self.results] != [v.type for v in last.operands]:
            raise VerifyException("the results differ from what the region yields")

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Any]:
        """Run the region."""
        done: Sequence[Any] = machine.block(self.body, operands)
        return done


@register
class Buffer(Op):
    """A tensor's place in memory: `offset` bytes into a space (`workspace` or `weights`)."""

    name = "gv.buffer"
    WORKLESS: ClassVar = True
    LEVEL: ClassVar = "planned"
    FREE: ClassVar = frozenset({"offset"})

    @classmethod
    def infer(
        cls, base: TensorSpec, *, offset: Dim, dtype: DType, shape: tuple[Dim, ...]
    ) -> Sequence[TensorSpec]:
        """Return the spec of the tensor that lies there."""
        return (TensorSpec(dtype, shape),)

    @classmethod
    def at(cls, base: SSAValue, offset: Dim, spec: TensorSpec) -> Buffer:
        """Create a buffer for a tensor."""
        place = integer_attribute(offset) if isinstance(offset, int) else to_attribute(offset)
        properties = {"offset": place, **_layout(spec)}
        return cls.create(operands=[base], properties=properties, result_types=[memref_of(spec)])

    @property
    def offset(self) -> Dim:
        """Return where it begins."""
        return to_python(self.properties["offset"])  # type: ignore[no-any-return]

    def verify_(self) -> None:
        """Check that the result is the memref of the declared spec."""
        attributes = self.plain_attributes()
        expected = memref_of(TensorSpec(attributes["dtype"], attributes["shape"]))
        if self.results[0].type != expected:
            raise VerifyException(f"result type is {self.results[0].type}, expected {expected}")

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Array]:
        """Return a view of the bytes."""
        attributes = self.plain_attributes()
        shape = tuple(evaluate(d, machine.symbols) for d in attributes["shape"])
        offset = evaluate(attributes["offset"], machine.symbols)
        dtype: DType = attributes["dtype"]
        size = int(np.prod(shape, dtype=np.int64)) * dtype.size
        data: Array = operands[0][offset : offset + size]
        assert data.nbytes == size, f"buffer at {offset} of {size} bytes does not fit its space"
        return (data.view(dtype.numpy).reshape(shape),)


@lru_cache(maxsize=8192)
def _layout(spec: TensorSpec) -> dict[str, Attribute]:
    """Return what a buffer says of its tensor."""
    return {"dtype": to_attribute(spec.dtype), "shape": to_attribute(spec.dims)}


@register
class View(Op):
    """The same memory as a tensor of another shape."""

    name = "gv.view"
    WORKLESS: ClassVar = True
    LEVEL: ClassVar = "planned"

    @classmethod
    def infer(cls, source: TensorSpec, *, shape: tuple[Dim, ...]) -> Sequence[TensorSpec]:
        """Return the source with another shape."""
        return (source.with_shape(shape),)

    @classmethod
    def of(cls, source: SSAValue, shape: Sequence[Dim]) -> View:
        """Create a view of a buffer."""
        spec = spec_of(source.type).with_shape(shape)
        return cls.build_unchecked([source], [memref_of(spec)], {"shape": tuple(shape)})

    @classmethod
    def as_spec(cls, source: SSAValue, spec: TensorSpec) -> View:
        """Create a view of a buffer as a tensor of another shape; `AsParts` of another type."""
        kind = cls if spec_of(source.type).dtype == spec.dtype else AsParts
        return kind.build_unchecked([source], [memref_of(spec)], {"shape": spec.dims})

    def verify_(self) -> None:
        """Check that the number of elements is kept."""
        source, result = self.specs[0], self.result_specs[0]
        if not may_equal(source.size, result.size) or source.dtype != result.dtype:
            raise VerifyException(f"a view of {source} cannot be {result}")

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Array]:
        """Return the array with another shape, on the same memory."""
        shape = tuple(evaluate(d, machine.symbols) for d in self.plain_attributes()["shape"])
        view: Array = operands[0].reshape(shape)
        assert np.shares_memory(view, operands[0]) or not view.size, "a view was copied"
        return (view,)


@register
class AsParts(View):
    """The memory of complex numbers as that of their parts, or as words of both; or back."""

    name = "gv.as_parts"

    @classmethod
    def infer(cls, source: TensorSpec, *, shape: tuple[Dim, ...]) -> Sequence[TensorSpec]:
        """Refuse: it is made of both specs."""
        raise TypeError("the result of gv.as_parts is given by its type")

    def verify_(self) -> None:
        """Check that the number of parts is kept."""
        source, result = self.specs[0], self.result_specs[0]
        wide, parts = (source, result) if source.dtype in PARTS else (result, source)
        are_pairs = parts == TensorSpec(PARTS.get(wide.dtype, wide.dtype), (*wide.dims, 2))
        are_words = wide.dtype == c64 and parts == wide.with_dtype(i64)
        if not (are_pairs or are_words):
            raise VerifyException(f"a view of {source} cannot be {result}")

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Array]:
        """Return the array as another type, on the same memory."""
        spec = self.result_specs[0]
        shape = tuple(evaluate(d, machine.symbols) for d in spec.dims)
        return (operands[0].reshape(-1).view(spec.dtype.numpy).reshape(shape),)


@register
class Prefix(View):
    """The memory of the first slices along the first axis of a tensor."""

    name = "gv.prefix"

    def verify_(self) -> None:
        """Check that slices stay what they are."""
        source, result = self.specs[0], self.result_specs[0]
        if source.dims[1:] != result.dims[1:] or source.dtype != result.dtype:
            raise VerifyException(f"the first slices of {source} cannot be {result}")

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Array]:
        """Return a part of the array, on the same memory."""
        return (operands[0][: evaluate(self.plain_attributes()["shape"][0], machine.symbols)],)


@register
class Following(Op):
    """Of the weights that an argument stands for, the one that is `by` places behind the first."""

    name = "gv.following"
    WORKLESS: ClassVar = True
    LEVEL: ClassVar = "planned"

    @classmethod
    def infer(cls, first: TensorSpec, *, by: Dim) -> Sequence[TensorSpec]:
        """Return the spec of each of them."""
        return (first,)

    @classmethod
    def of(cls, first: SSAValue, by: Dim) -> Following:
        """Create the operation for an argument."""
        return cls.create(
            operands=[first], properties={"by": to_attribute(by)}, result_types=[first.type]
        )

    @property
    def by(self) -> Dim:
        """Return how many places behind the first one it is."""
        return to_python(self.properties["by"])  # type: ignore[no-any-return]

    def verify_(self) -> None:
        """Check that an argument is given."""
        if not isinstance(self.operands[0], BlockArgument):
            raise VerifyException("the operand is no argument of the function")
        if self.results[0].type != self.operands[0].type:
            raise VerifyException(f"{self.results[0].type}, expected {self.operands[0].type}")

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Array]:
        """Return the weight."""
        [every] = operands
        return (every[evaluate(self.by, machine.symbols)],)


@register
class Tell(Op):
    """A symbol gets its value from a number in memory, from 0 to `most`: what follows uses it."""

    name = "gv.tell"
    LEVEL: ClassVar = "planned"
    PURE: ClassVar = False

    @classmethod
    def infer(cls, count: TensorSpec, *, size: Dim, most: Dim) -> Sequence[TensorSpec]:
        """Return nothing."""
        if count != TensorSpec(i64, ()):
            raise TypeError(f"{count} as a size, expected i64[]")
        return ()

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Any]:
        """Give it its value."""
        rules = self.plain_attributes()
        most = evaluate(rules["most"], machine.symbols)
        machine.bind_size(rules["size"], min(max(int(operands[0]), 0), most), self)
        return ()


@register
class Launch(Op):
    """Run a kernel function: `inputs` read buffers, then written buffers.

    `dims` are the values of the kernel's own symbols, in the order of its `gv.symbols`;
    `after` are the positions of the earlier launches that this one waits for.
    """

    name = "gv.launch"
    LEVEL: ClassVar = "planned"
    PURE: ClassVar = False
    FREE: ClassVar = frozenset({"after", "kernel"})

    @classmethod
    def infer(
        cls,
        *xs: TensorSpec,
        kernel: Symbol,
        inputs: int,
        dims: tuple[Dim, ...] = (),
        after: tuple[int, ...] = (),
    ) -> Sequence[TensorSpec]:
        """Return nothing: results are written in place."""
        return ()

    @property
    def kernel(self) -> str:
        """Return the name of the kernel function."""
        return self.properties["kernel"].root_reference.data  # type: ignore[attr-defined,no-any-return]

    @property
    def sizes(self) -> tuple[Dim, ...]:
        """Return the values of the kernel's own symbols."""
        given = self.properties.get("dims")
        return () if given is None else to_python(given)

    @property
    def inputs(self) -> int:
        """Return how many operands are read; the others are written."""
        return int(self.properties["inputs"].value.data)  # type: ignore[attr-defined]

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Any]:
        """Call the kernel function and copy its results out."""
        interpret_launch(self, machine, operands)
        return ()
