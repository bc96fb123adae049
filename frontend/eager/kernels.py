"""Run one operation at once on numpy arrays, with as little between as possible.

The types of operands are checked once for each operation and each combination of element types;
the shapes of what is element-wise are checked by numpy, and only if it refuses, `infer` is asked
for the reason; what else there is, `infer` checks once for each combination of shapes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np

from ...errors import GraphError
from ...ir.families import Binary, Elementwise
from ...ir.op import REGISTRY, Array, Op
from ...ir.ops.complex import ToComplex
from ...ir.ops.convert import Cast
from ...ir.ops.elementwise import Abs, Neg
from ...ir.ops.reduce import Fold, Prod
from ...ir.ops.scatter import Scatter
from ...ir.ops.sort import TopK
from ...ir.types import dtypes as rows
from ...ir.types.numerics import in_wide, round_to
from ...ir.types.shapes import normalize_axes
from ...ir.types.tensor import TensorSpec, spec_of_array
from ...runtime.buffer import keep_pages
from ...runtime.tracing import EARS, span
from ..values.origin import short, user_line
from .complex_parts import COMPARED, of_formula, opposite, products_along, together
from .in_loops import FLOATS, IN_LOOPS, LOOPED
from .long_rows import in_long_rows
from .settled import settled

Kernel = Callable[..., Any]


class OperandError(GraphError, TypeError, ValueError):
    """The operands or attributes of an operation do not fit.

    The location is the line of Python that asked for the operation.
    """

    code = "GV2200"


class HostOp(Op):
    """A function of numpy's that no graph has: it works in eager code only."""

    FUNCTION: ClassVar[Callable[..., object]]

    @classmethod
    def infer(cls, *xs: TensorSpec, **attributes: object) -> Sequence[TensorSpec]:
        """Refuse."""
        raise TypeError(f"{cls.name} works on computed values only, not on those of a graph")

    @classmethod
    def inferred(
        cls, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Refuse."""
        return cls.infer(*specs, **attributes)

    @classmethod
    def evaluate(cls, *xs: Array, **attributes: object) -> Sequence[Array]:
        """Call the function."""
        made = cls.FUNCTION(*xs, **attributes)
        return made if isinstance(made, tuple) else (made,)


@cache
def host(name: str, function: Callable[..., object]) -> type[HostOp]:
    """Return the operation that calls a function of numpy's."""
    return type(
        f"Host_{name}", (HostOp,), {"name": f"gv.{name}", "FUNCTION": staticmethod(function)}
    )


_ON_COMPLEX = {
    f"gv.a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")
}


def on_complex(op: type[Op]) -> type[Op]:
    """Return the host operation that stands in for one that complex numbers do not have."""
    name = op.name.removeprefix("gv.")
    numpy_name = _ON_COMPLEX.get(op.name, name)
    function: object = getattr(np, numpy_name, None)
    return op if function is None else host(name, function)


quiet = np.errstate(all="ignore")
"""Lets a function compute infinities and NaN without numpy's warnings."""

SIGNED: dict[str, Kernel] = {"gv.mod": np.remainder}
"""Functions of floats that also get the sign of a zero right, as the array API wants it."""


@cache
def kernels_of(op: type[Op]) -> dict[np.dtype[np.generic], Kernel]:
    """Return what computes an element-wise operation, by the type that all operands have.

    Empty for operations that are not one function of numpy's.
    """
    function = getattr(op, "FUNCTION", None)
    if not issubclass(op, Elementwise) or function is None:
        return {}
    if issubclass(op, Binary):
        is_exact = REGISTRY.get(op.name) is op and op.name not in SIGNED and not is_compiled(op)
        function = in_long_rows(function, op if is_exact else None)
    kernels = {
        row.numpy: _kernel(SIGNED.get(op.name, function), row, result=op.RESULT)
        if row.kind in "fc"
        else function
        for row in rows.DTYPES.values()
        if row.kind in op.KINDS
    }
    if op.COMPLEX is not None and REGISTRY.get(op.name) is op:
        kernels |= {row.numpy: on_complex_arrays(op, row) for row in COMPLEX}
    if op is Neg:
        kernels |= {row.numpy: opposite for row in COMPLEX}
    if is_compiled(op):
        return kernels | {row.numpy: near(op, row, {}) for row in ALIKE if row.kind in op.KINDS}
    if REGISTRY.get(op.name) is op and op.name not in SIGNED and "f" in op.KINDS:
        kernels |= {
            row.numpy: BY_BITS.get(op) or of_halves(op, row, kernels[row.numpy]) for row in HALVES
        }
    return kernels


def on_complex_arrays(op: type[Elementwise], row: rows.DType) -> Kernel:
    """Return what computes an operation on complex numbers, with the bits of compiled code."""
    function = op.COMPLEX_FUNCTION
    if function is None:
        return of_formula(op, row)
    by_numpy = quiet(function)
    if op in COMPARED:
        return of_many(by_numpy, COMPARED[op])
    make = partial(of_formula, op, row)
    return by_numpy if op.RESULT else by_need(by_numpy, make, many=SOME)


def of_many(few: Kernel, many: Kernel) -> Kernel:
    """Return a function of arrays that is computed in another way where there are many elements."""

    def kernel(*arrays: Array) -> Array:
        result: Array = (few if max([x.size for x in arrays]) < SOME else many)(*arrays)
        return result

    return kernel


SIGN = np.uint16(1 << 15)
"""The sign of a float of 16 bits."""


def half_opposite(x: Array) -> Array:
    """Return floats of 16 bits with the other sign."""
    made: Array = np.bitwise_xor(x.view(np.uint16), SIGN).view(x.dtype)
    return made


def half_size(x: Array) -> Array:
    """Return floats of 16 bits without signs."""
    made: Array = np.bitwise_and(x.view(np.uint16), ~SIGN).view(x.dtype)
    return made


BY_BITS: dict[type[Op], Kernel] = {Neg: half_opposite, Abs: half_size}
"""By operation on floats of 16 bits: what does it without having them as numbers.

A NaN that signals, which only bits make, stays one.
"""


def of_halves(op: type[Elementwise], row: rows.DType, function: Kernel) -> Kernel:
    """Return what computes an operation on floats of 16 bits, which numpy does one by one."""
    return by_need(function, lambda: near(op, row, {}), many=SOME)


def is_narrow(x: Array) -> bool:
    """Say whether the elements are floats of 16 bits."""
    return any(row.numpy == x.dtype for row in HALVES)


def is_compiled(op: type[Elementwise]) -> bool:
    """Say whether compiled code computes an operation, which must be registered for that."""
    return op.is_near() and REGISTRY.get(op.name) is op


def by_need(
    before: Kernel, make: Callable[[], Kernel], *, is_simple: bool = False, many: int = 0
) -> Kernel:
    """Return what computes by numpy's steps until compiled code of the same bits pays.

    It does if it was called often, and where there is much to do, `many` elements or `MANY`: unless
    numpy's steps are simple, at the first call.
    """
    made: list[Kernel] = []
    left = OFTEN

    def kernel(*arrays: Array) -> Array:
        """Carry it out."""
        nonlocal left
        if not made:
            most = max([x.size for x in arrays])
            if left > 0 and (is_simple or most < (many or MANY)):
                left -= 1 + most // MUCH
                first: Array = before(*arrays)
                return first
            made.append(make())
        result: Array = made[0](*arrays)
        return result

    return kernel


COMPLEX = (rows.c64, rows.c128)
HALVES = (rows.f16, rows.bf16)
ALIKE = (rows.f32, rows.f64, *HALVES)
"""The types of which results have the same bits in eager code as in compiled code."""


def near(op: type[Elementwise], row: rows.DType, attributes: dict[str, object]) -> Kernel:
    """Return what computes an operation whose last bits are those of who computes it.

    That is compiled code, so that they are the same everywhere.
    """
    made: list[Kernel] = []

    def compiled(*arrays: Array) -> Array:
        """Carry it out."""
        if not made:
            from ...codegen import single  # noqa: PLC0415  (only who computes needs it)

            made.append(single.near(op, row, attributes))
        result: Array = made[0](*arrays)
        return result

    def kernel(*arrays: Array) -> Array:
        """Carry it out, in another way if the bits are the same."""
        found: Array | None = op.nearest(*arrays)
        return compiled(*arrays) if found is None else found

    return kernel if op.has_nearest() else compiled


def _kernel(function: Kernel, row: rows.DType, *, result: rows.DType | None) -> Kernel:
    if result is not None:
        return function
    if row.size == 2:
        return quiet(in_wide(function))
    return quiet(function)


MANY = 1 << 17
"""So many elements are worth compiled code, if numpy goes over them more than once."""
MUCH = 1 << 18
"""So many multiplications cost more by numpy's windows, or eliminations, than compiling."""
SOME = 1 << 11
"""So many floats of 16 bits are worth compiled code."""


OFTEN = 100
"""So many calls with few elements are worth compiled code, which costs less than numpy's steps."""
MOST = 1024
"""How many kinds of operands that an operation was checked for are remembered."""


class Runner:
    """What is known of an operation after its first use."""

    __slots__ = ("checked", "defaults", "evaluate", "kernels", "known", "near", "op")

    def __init__(self, op: type[Op]) -> None:
        keep_pages()
        self.op = op
        self.defaults = {} if issubclass(op, HostOp) else op.signature().defaults
        self.kernels = kernels_of(op)
        self.evaluate: Kernel = quiet(op.evaluate)
        self.checked: set[tuple[object, ...]] = set()
        self.known: dict[tuple[object, ...], Kernel | None] = {}
        """By types, shapes and attributes that fit: what computes it, if not numpy."""
        self.near: dict[object, Kernel] = {}
        """What computes it by element type and attributes, where that is to be compiled code."""

    def function(self, arrays: Sequence[Array], attributes: dict[str, object]) -> Kernel | None:
        """Return what gives the result on arrays like these as compiled code does, if it must."""
        if not issubclass(self.op, Elementwise):
            return self.on_parts(arrays, attributes)
        if arrays[-1].dtype.kind == "c" and self.op.COMPLEX is not None:
            whole = rows.of_numpy(arrays[-1].dtype)
            return self.kernels.get(whole.numpy) or on_complex_arrays(self.op, whole)
        if not is_compiled(self.op):
            return None
        row = next((row for row in ALIKE if row.numpy == arrays[0].dtype), None)
        if row is None:
            return None
        given = {**self.defaults, **attributes}
        key = row, *given.items()
        if key not in self.near:
            self.near[key] = near(self.op, row, given)
        return self.near[key]

    def on_parts(self, arrays: Sequence[Array], attributes: dict[str, object]) -> Kernel | None:
        """Return what computes complex numbers by loops, where that is not their formula's."""
        if self.op is ToComplex:
            return together if max([x.size for x in arrays]) >= SOME else None
        if self.op is Prod and arrays[0].dtype.kind == "c":
            return quiet(partial(products_along, **{**self.defaults, **attributes}))
        return None

    def is_for_many(self, arrays: Sequence[Array]) -> bool:
        """Say whether compiled code may be faster than a function of numpy's."""
        op = self.op
        alone = op.COMPILED_ALONE and arrays[0].dtype.kind in op.COMPILED_KINDS
        return alone and max([x.size for x in arrays]) >= MANY

    def check_once(self, arrays: Sequence[Array], attributes: dict[str, object]) -> Kernel | None:
        """Check, unless the same was checked for operands of these types and shapes.

        Return what computes the result, if that is compiled code.
        """
        try:
            key = (*[(x.dtype, x.shape) for x in arrays], *attributes.items())
            if key in self.known:
                return self.known[key]
        except TypeError:  # an attribute that has no hash is looked at each time
            self.check(arrays, attributes)
            return None
        self.check(arrays, attributes)
        if len(self.known) >= MOST:
            self.known.clear()
        self.known[key] = self.function(arrays, attributes) or self.whole(arrays, attributes)
        return self.known[key]

    def whole(self, arrays: Sequence[Array], attributes: dict[str, object]) -> Kernel | None:
        """Return compiled code for much to do, where that is faster than numpy."""
        given = {**self.defaults, **attributes}
        if arrays and is_narrow(arrays[0]) and (found := self.of_narrow(arrays, given)) is not None:
            return found
        if not self.may_be_whole(arrays, given):
            return None
        specs = [spec_of_array(x) for x in arrays]
        results = self.op.inferred(specs, given)
        every = (*specs, *results)
        sizes = [math.prod(spec.static_shape) for spec in every]
        is_half = issubclass(self.op, Elementwise) and any(spec.dtype in HALVES for spec in every)
        if self.op.COMPILED_FIXED or self.widens(arrays):
            is_little = self.op.multiplied(specs, results) < MUCH
        elif is_half:
            is_little = max(sizes) < SOME
        else:
            is_little = max(sizes) < MANY or not self.op.COMPILED_ALONE
        is_fit = len(results) == 1 or self.op.COMPILED_FIXED
        is_fit = is_fit and self.is_of_known_types(every, given, is_little=is_little)
        if not is_fit or not all(sizes):
            return None
        looped = LOOPED.get(self.op, FLOATS)
        if is_little and self.op in IN_LOOPS and {x.dtype for x in specs} <= looped:
            return quiet(IN_LOOPS[self.op](**given))
        if is_little and not self.pays_often(specs, is_half=is_half):
            return None
        before = quiet(settled(self.op, arrays, given)) if is_little else None
        return self.compiled(specs, given, before)

    def of_narrow(self, arrays: Sequence[Array], given: dict[str, object]) -> Kernel | None:
        """Return what does for floats of 16 bits what it does for those of 32, None if nothing."""
        if issubclass(self.op, Scatter) and given["reduction"] != "none":
            return self.in_single(arrays, given)
        if self.op is TopK and given["k"] and arrays[0].size:
            return self.best_in_single(arrays[0], given)
        return None

    def in_single(self, arrays: Sequence[Array], attributes: dict[str, object]) -> Kernel:
        """Return what combines floats of 16 bits as those of 32 bits, and rounds them once."""
        row = rows.of_numpy(arrays[0].dtype)
        wide = [recast(x, rows.f32) if is_narrow(x) else x for x in arrays]
        kernel = self.check_once(wide, attributes)
        if kernel is None:
            kernel = quiet(settled(self.op, wide, {**self.defaults, **attributes}))
        combine = kernel

        def rounded(x: Array, indices: Array, updates: Array) -> Array:
            """Combine them."""
            return recast(combine(recast(x, rows.f32), indices, recast(updates, rows.f32)), row)

        return quiet(rounded)

    def best_in_single(self, x: Array, attributes: dict[str, object]) -> Kernel:
        """Return what looks for the best floats of 16 bits among those of 32 bits."""
        spec = TensorSpec(rows.f32, x.shape)
        before = quiet(partial(self.op.evaluate, **attributes)) if x.size < MANY else None
        find = self.compiled([spec], attributes, before)
        axis = attributes["axis"]
        assert isinstance(axis, int), "infer said so"

        def best(x: Array) -> tuple[Array, ...]:
            """Find them, and take them as they are."""
            _, places = find(recast(x, rows.f32))
            return (np.take_along_axis(x, places, axis), places)

        return best

    def pays_often(self, specs: Sequence[TensorSpec], *, is_half: bool) -> bool:
        """Say whether few elements are worth compiled code of the same bits, if they come often.

        A formula on floats of 16 bits is carried out in wider ones, step by step, by numpy.
        """
        if issubclass(self.op, Elementwise):
            return is_half and self.op.is_by_formula()
        return self.op.COMPILED_ALONE and self.op.is_exact([spec.dtype for spec in specs])

    def is_of_known_types(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object], *, is_little: bool
    ) -> bool:
        """Say whether compiled code may be for these types: of complex ones, for sums.

        Along axes that lie apart numpy takes the two parts of each number together.
        """
        if not any(spec.dtype.kind in "cs" for spec in specs):
            return True
        axes = attributes.get("axes")
        if is_little or not (self.op.PARTWISE and issubclass(self.op, Fold)):
            return False
        found = normalize_axes(axes, specs[0].rank) if isinstance(axes, tuple) else ()
        return bool(found) and max(found) - min(found) < len(found)

    def compiled(
        self,
        specs: Sequence[TensorSpec],
        attributes: dict[str, object],
        before: Kernel | None,
        often: int = OFTEN,
    ) -> Kernel:
        """Return compiled code; `before` computes it as long as it was not called often."""
        made: list[Kernel] = []
        left = often if before is not None else 0

        def kernel(*arrays: Array) -> Array | tuple[Array, ...]:
            """Carry it out; they are a tuple where the operation has several results."""
            nonlocal left
            if left and before is not None:
                left -= 1
                first: Array = before(*arrays)
                return first
            if not made:
                from ...codegen import single  # noqa: PLC0415  (only who computes needs it)

                made.append(single.whole(self.op, specs, attributes))
            found = made[0](*[x if x.flags.c_contiguous else x.copy() for x in arrays])
            if refuses:
                self.op.refuse(found, *arrays, **attributes)
            result: Array | tuple[Array, ...] = found
            return result

        refuses = self.op.has("refuse")
        return kernel

    def may_be_whole(self, arrays: Sequence[Array], attributes: dict[str, object]) -> bool:
        """Say whether it depends on the sizes whether compiled code is faster than numpy."""
        fits = all(x.dtype.kind in self.op.COMPILED_KINDS for x in arrays[:1])
        alone = self.op.COMPILED_ALONE and fits
        if self.op.COMPILED_FIXED or alone or self.widens(arrays):
            return all(x.dtype.kind not in "OSU" for x in arrays)
        if not issubclass(self.op, Elementwise) or REGISTRY.get(self.op.name) is not self.op:
            return False
        types = {x.dtype for x in arrays} | {getattr(attributes.get("dtype"), "numpy", None)}
        return any(row.numpy in types for row in HALVES)

    def widens(self, arrays: Sequence[Array]) -> bool:
        """Say whether floats of 16 bits are multiplied: numpy widens all of them first, slowly."""
        return self.op.WIDENS and is_narrow(arrays[0])

    def check(self, arrays: Sequence[Array], attributes: dict[str, object]) -> None:
        """Raise an error that says why operands and attributes do not fit, if they do not."""
        if not issubclass(self.op, HostOp):
            explain(self.op, [spec_of_array(x) for x in arrays], attributes)


_RUNNERS: dict[type[Op], Runner] = {}


def evaluate(
    op: type[Op], arrays: Sequence[Array], attributes: dict[str, object]
) -> Sequence[Array]:
    """Return the results of an operation on arrays."""
    if EARS.count:
        return seen(op, arrays, attributes)
    return computed(op, arrays, attributes)


LOOKS: list[Callable[[type[Op], Sequence[Array], Sequence[Array]], None]] = []
"""What is given each operation with its operands and results, as long as there are `EARS`."""


def seen(op: type[Op], arrays: Sequence[Array], attributes: dict[str, object]) -> Sequence[Array]:
    """Return the results of an operation that somebody listens to, or looks at."""
    if EARS.everyone:
        with span("operation", op.name.removeprefix("gv."), shapes=[x.shape for x in arrays]):
            made = computed(op, arrays, attributes)
    else:
        made = computed(op, arrays, attributes)
    for look in LOOKS:
        look(op, arrays, made)
    return made


def computed(
    op: type[Op], arrays: Sequence[Array], attributes: dict[str, object]
) -> Sequence[Array]:
    """Return the results of an operation on arrays, whoever listens."""
    runner = _RUNNERS.get(op)
    if runner is None:
        runner = _RUNNERS[op] = Runner(op)
    try:
        if runner.kernels and not attributes and not runner.is_for_many(arrays):
            types = tuple([x.dtype for x in arrays])
            if types not in runner.checked:
                runner.check(arrays, attributes)
                runner.checked.add(types)
            return (runner.kernels[arrays[0].dtype](*arrays),)
        if (kernel := runner.check_once(arrays, attributes)) is not None:
            found = kernel(*arrays)
            return found if isinstance(found, tuple) else (found,)
        made: Sequence[Array] = runner.evaluate(*arrays, **{**runner.defaults, **attributes})
    except (ArithmeticError, AssertionError, IndexError, TypeError, ValueError):
        runner.check(arrays, attributes)
        raise
    return made


def recast(x: Array, row: rows.DType) -> Array:
    """Return floats as those of another width: many by compiled code, numpy takes ten times."""
    if x.size < MANY or x.dtype == row.numpy:
        return round_to(x, row)
    return computed(Cast, [x], {"dtype": row})[0]


def prepared(
    op: type[Op], arrays: Sequence[Array], attributes: dict[str, object], *, count: int
) -> Kernel:
    """Return what computes the results from arrays like these, a single one itself.

    numpy may warn in it.
    """
    runner = _RUNNERS[op]
    given = {**runner.defaults, **attributes}
    if count != 1:
        return runner.check_once(arrays, attributes) or partial(op.evaluate, **given)
    if runner.kernels and not attributes and not runner.is_for_many(arrays):
        quieted = runner.kernels[arrays[0].dtype]
        kernel: Kernel = getattr(quieted, "__wrapped__", quieted)
        return kernel
    return runner.check_once(arrays, attributes) or settled(op, arrays, given)


def explain(
    op: type[Op], specs: Sequence[TensorSpec], attributes: dict[str, object]
) -> Sequence[TensorSpec]:
    """Return the result specs, or raise an error that names the operation and the user's line."""
    try:
        return op.inferred(specs, attributes)
    except TypeError as error:
        raise OperandError(str(error), location=short(user_line())) from None
