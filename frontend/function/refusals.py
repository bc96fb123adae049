"""Why an operation of a trace may fail where it is appended to a program, and is right to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from xdsl.ir import SSAValue

from ...errors import GravureError
from ...ir.compose.maker import Maker
from ...ir.op import Array
from ...ir.ops.control.backward import UnknownSizesError
from ...ir.types.tensor import TensorSpec, spec_of
from ..eager.recorded import unboxed
from ..graph.execute import Plan
from ..graph.frame import LoweringError, NotStageableError
from ..graph.graph import Operation
from ..graph.inference import is_of_operations
from ..graph.inference import spec_of as spec_of_elements
from ..graph.kinds import Composite, NoGradientError, Primitive
from ..values.devices import PlacementError

MISTAKES = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, AssertionError)
"""What an operation raises that looks at elements which only the run has; or by a mistake."""


def wants_the_run(op: Operation, inputs: Sequence[object]) -> bool:
    """Say whether an operation fails for what it is given, and not for how it is lowered.

    Sizes are open, or its rule fails on types and shapes alone, too: it looks at elements, or
    refuses such operands, which is an error of the run if it gets there.
    """
    values = [unboxed(x) for x in inputs]
    known = {i: np.asarray(x) for i, x in enumerate(values) if not isinstance(x, SSAValue)}
    specs = [spec_of_value(x) for x in values]
    if not all(spec.is_static for spec in specs):
        return True
    try:
        return not _is_of_operations(op, specs, known)
    except (TypeError, ValueError, IndexError):
        return True


def spec_of_value(value: object) -> TensorSpec:
    """Return what is known of a value of a program, or of an array."""
    return (
        spec_of(value.type) if isinstance(value, SSAValue) else spec_of_elements(np.asarray(value))
    )


def _is_of_operations(op: Operation, specs: Sequence[TensorSpec], known: dict[int, Array]) -> bool:
    """Say whether the rule of an operation carries out others on what is known before the run."""
    kind = op.kind
    if isinstance(kind, Composite):
        return is_of_operations(kind.call, specs, known)
    assert isinstance(kind, Primitive), "other kinds have no rule"
    primitive = kind.op

    def apply(make: Maker, *values: object) -> object:
        return make.emit(primitive, *values, **op.attributes)

    return is_of_operations(apply, specs, known)


@contextmanager
def appending(plan: Plan) -> Iterator[None]:
    """Turn what is known to have no form in a program into a refusal; of all else, be the error.

    What goes wrong behind it, when the program is compiled, is no refusal.
    """
    try:
        yield
    except (NotStageableError, PlacementError, LoweringError):
        raise
    except (GravureError, UnknownSizesError, NoGradientError) as error:
        raise NotStageableError(str(error)) from error
    except MISTAKES as error:
        last = plan.ops[-1]
        raise LoweringError(f"the way back of {last.graph.name}", last.source, error) from error
