"""Variables by their handles, as the raw operations of TensorFlow name them.

A handle leads to a variable: that which it was asked of, or one that a name stands for
(`VarHandleOp`) and that is made when a value is first assigned.
"""

from __future__ import annotations

from collections.abc import Callable

from ...function.function import init_scope
from ...graph.func_graph import FuncGraph
from ...graph.graph import Graph
from ...values.context import STATE, executing_eagerly
from ...values.dtypes import DTypeLike
from ...values.run_errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from ..core.bridge import TfTensor
from ..core.element_types import as_dtype
from ..core.shapes import ShapeLike, TensorShape
from ..core.values import convert
from ..graph.state import Variable
from ..ops.array_ops import shape as shape_of
from ..ops.gathering import gather
from ..ops.indexed_slices import IndexedSlices


class ResourceType:
    """The element type of handles, which is that of no tensor here."""

    name = "resource"

    def __repr__(self) -> str:
        return "<dtype: 'resource'>"


class Handle:
    """What leads to a variable."""

    dtype, shape = ResourceType(), TensorShape([])

    def __init__(self, name: str, variable: Variable | None = None) -> None:
        self.name, self.variable = name, variable
        self.declared: tuple[DTypeLike, ShapeLike] | None = None

    def __repr__(self) -> str:
        return f"<handle of variable {self.name!r}>"

    def found(self) -> Variable:
        """Return the variable, or raise if nothing was assigned yet."""
        if self.variable is None:
            raise FailedPreconditionError(
                f"Could not find variable {self.name}. This could mean that the variable has been "
                "deleted. In TF1, it can also mean the variable is uninitialized."
            )
        return self.variable

    def of_type(self, dtype: DTypeLike, doing: str) -> Variable:
        """Return the variable, or raise if it is of another element type."""
        variable = self.found()
        wanted = as_dtype(dtype)
        if wanted != variable.dtype:
            names = (wanted.name, variable.dtype.name)
            first, second = names if doing == "read" else names[::-1]
            raise InvalidArgumentError(
                f"Trying to {doing} variable with wrong dtype. Expected {first} got {second}"
            )
        return variable


NAMED: dict[tuple[str, str], Handle] = {}
"""Handles by container and name."""


def handle_of(variable: Variable) -> Handle:
    """Return the handle of a variable, always the same one."""
    known: Handle | None = vars(variable).get("_handle")
    if known is None:
        known = Handle(variable.name, variable)
        vars(variable)["_handle"] = known
    return known


Variable.handle = property(handle_of)  # type: ignore[attr-defined]


def var_handle_op(
    *,
    dtype: DTypeLike,
    shape: ShapeLike,
    container: str = "",
    shared_name: str = "",
    debug_name: str = "",
    allowed_devices: object = (),
    name: str | None = None,
) -> Handle:
    """Return the handle of what a name stands for; without a name, of a new variable."""
    if isinstance(STATE.context, Graph) and not isinstance(STATE.context, FuncGraph):
        raise UnimplementedError("VarHandleOp: variables of sessions are tf.compat.v1.Variable")
    made = Handle(shared_name or debug_name or name or "variable")
    if shared_name:
        made = NAMED.setdefault((container, shared_name), made)
    made.declared = made.declared or (dtype, shape)
    return made


def read_variable_op(*, resource: Handle, dtype: DTypeLike, name: str | None = None) -> TfTensor:
    """Return the value."""
    return resource.of_type(dtype, "read").read_value()


def assign_variable_op(
    *, resource: Handle, value: object, validate_shape: bool = False, name: str | None = None
) -> object:
    """Give a value; what has none yet is made with it."""
    found = convert(value)
    if resource.variable is not None:
        return _done(resource.of_type(found.dtype, "assign").assign(found))
    assert resource.declared is not None, "a name says what it stands for"
    dtype, shape = resource.declared
    if found.dtype != as_dtype(dtype):
        raise InvalidArgumentError(
            f"Trying to assign variable with wrong dtype. Expected {as_dtype(dtype).name} got "
            f"{found.dtype.name}"
        )
    if not executing_eagerly():
        raise UnimplementedError("AssignVariableOp: the first value is assigned eagerly")
    with init_scope():
        resource.variable = Variable(found, name=resource.name, shape=shape)
    return None


def _done(made: object) -> object:
    """Return the operation of a graph; eagerly nothing."""
    return None if executing_eagerly() else getattr(made, "op", made)


def _changing(how: str) -> Callable[..., object]:
    def change(*, resource: Handle, value: object, name: str | None = None) -> object:
        """Change the variable by a value."""
        found = convert(value, resource.found().dtype)
        return _done(getattr(resource.found(), how)(found))

    return change


def _scattering(how: str) -> Callable[..., object]:
    def change(
        *, resource: Handle, indices: object, updates: object, name: str | None = None
    ) -> object:
        """Combine rows of the variable with others."""
        variable = resource.found()
        slices = IndexedSlices(convert(updates, variable.dtype), convert(indices))
        return _done(getattr(variable, f"scatter_{how}")(slices))

    return change


def var_is_initialized_op(*, resource: Handle, name: str | None = None) -> TfTensor:
    """Say whether there is a value."""
    return convert(resource.variable is not None)


def variable_shape(
    *, input: Handle, out_type: DTypeLike = "int32", name: str | None = None
) -> TfTensor:
    """Return the shape of the value."""
    return shape_of(input.found(), out_type)


def resource_gather(
    *,
    resource: Handle,
    indices: object,
    dtype: DTypeLike,
    batch_dims: int = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> TfTensor:
    """Return rows of the value."""
    return gather(resource.of_type(dtype, "read"), indices, batch_dims=batch_dims)


def resource_apply_gradient_descent(
    *, var: Handle, alpha: object, delta: object, use_locking: bool = False, name: str | None = None
) -> object:
    """Take a share of a gradient from the variable."""
    variable = var.found()
    dtype = variable.dtype
    return _done(variable.assign_sub(convert(alpha, dtype) * convert(delta, dtype)))


def destroy_resource_op(
    *, resource: Handle, ignore_lookup_error: bool = True, name: str | None = None
) -> None:
    """Forget the value of a name."""
    if resource.variable is None and not ignore_lookup_error:
        resource.found()
    resource.variable = None


RAW: dict[str, Callable[..., object]] = {
    "AssignAddVariableOp": _changing("assign_add"),
    "AssignSubVariableOp": _changing("assign_sub"),
    "AssignVariableOp": assign_variable_op,
    "DestroyResourceOp": destroy_resource_op,
    "ReadVariableOp": read_variable_op,
    "ResourceApplyGradientDescent": resource_apply_gradient_descent,
    "ResourceGather": resource_gather,
    **{
        f"ResourceScatter{how.title()}": _scattering(how)
        for how in ("add", "div", "max", "min", "mul", "sub", "update")
    },
    "VarHandleOp": var_handle_op,
    "VarIsInitializedOp": var_is_initialized_op,
    "VariableShape": variable_shape,
}
"""Raw operations on handles, by their types."""
