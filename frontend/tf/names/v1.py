"""TensorFlow's first version: `compat.v1`. What is not said here is as at the top."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from ...formats import messages as _msg
from ...graph.graph import GraphTensor
from ...values.context import default_session, executing_eagerly
from ..core import creators as _cr
from ..core import names as _names
from ..core.bridge import TfTensor
from ..core.dimensions import Behaviour, Dimension, dimension_value
from ..core.shapes import dimension_at_index
from ..core.space import Space
from ..core.values import InGraph, convert, graph_of
from ..data.names import V1 as _DATA
from ..distributions.names import distributions as _distributions
from ..draws import ops as _dr
from ..graph import functional as _f
from ..graph import graph_lists as _gl
from ..graph import sessions as _ss
from ..graph import state as _st
from ..graph.device_spec import FirstDeviceSpec
from ..graph.graph_def import GraphDef
from ..image.chance import random_crop
from ..io.names import V1 as _IO
from ..layers.names import layers as _layers
from ..lookup.names import V1 as _LOOKUP
from ..metrics.names import metrics as _metrics
from ..monitored.saved_graphs import first_saved_model
from ..nondense.names import V1 as _NONDENSE
from ..ops import initial_values as _i
from ..ops import random_ops as _r
from ..ops.creation import constant_v1
from ..ops.indexed_slices import IndexedSlices, batch_places
from ..program.flags import app as _app
from ..program.flags import flags as _flags
from ..program.logging import logging as _logging
from ..program.testing import first_test as _test
from ..ragged.names import first_ragged as _ragged
from ..runs.kept import get_session_handle
from ..runs.python_calls import numpy_function
from ..runs.seeds import set_seed
from ..summary.names import V1 as _SUMMARIES
from ..train import accumulators as _sy
from ..train import first_losses as _l
from ..train import reports as _re
from ..variables import partitioned as _pa
from ..variables import scopes as _sc
from ..variables import templates as _te
from ..variables import wrapping as _wr
from ..variables.guarded import guarded as _guarded
from .first_calls import first_space, in_first_order
from .first_spaces import made as _only_here
from .freezing import convert_variables_to_constants, extract_sub_graph
from .importing import import_graph_def
from .keras_names import keras_space
from .trivia import FIRST as _FACTS
from .v1_ops import TOP as _TOP

_st.Variable.guard = staticmethod(_guarded)


TOP = {**_TOP, **_FACTS, **_IO, **_DATA, **_LOOKUP, **_NONDENSE, **_SUMMARIES}


def is_variable_initialized(variable: Any) -> object:
    """Return whether a variable has a value; it may be given by its tensor in a graph."""
    if isinstance(variable, GraphTensor):
        handle = variable.op.attributes.get("variable")
        if handle is None:
            raise TypeError(f"{variable!r} is not the tensor of a variable")
        variable = handle().owner()
    return variable.is_initialized()


def scatter(method: str) -> Callable[..., object]:
    """Return what changes rows of a variable."""

    def change(
        ref: _st.Variable, indices: object, updates: object, name: str | None = None, **_: object
    ) -> object:
        from ..ops.array_ops import expand_dims  # noqa: PLC0415

        rows = _rows_of(ref, indices, updates)
        return getattr(ref, method)(expand_dims(indices, -1), rows)

    return change


def _rows_of(ref: _st.Variable, indices: object, updates: object) -> TfTensor:
    """Return new rows of a variable; one number stands for all elements of all of them."""
    from ..ops.array_ops import broadcast_to  # noqa: PLC0415

    rows = convert(updates, ref.dtype)
    if rows.shape.rank != 0:
        return rows
    return broadcast_to(rows, [*convert(indices).shape.as_list(), *ref.shape.as_list()[1:]])


def sliced(method: str) -> Callable[..., object]:
    """Return what combines rows of a variable with others."""

    def change(
        ref: _st.Variable,
        indices: object,
        updates: object,
        use_locking: object = None,
        name: str | None = None,
    ) -> object:
        rows = _rows_of(ref, indices, updates)
        return getattr(ref, method)(IndexedSlices(rows, convert(indices)))

    return change


def of_variable(method: str) -> Callable[..., object]:
    """Return a function that calls a method of a variable with places and values."""

    def change(
        ref: object,
        indices: object,
        updates: object,
        use_locking: object = None,
        name: str | None = None,
    ) -> object:
        return getattr(ref, method)(indices, updates)

    return change


def batch_scatter_update(
    ref: _st.Variable,
    indices: object,
    updates: object,
    use_locking: bool = True,
    name: str | None = None,
) -> object:
    """Give slices of a variable new values: the axes of indices before the last are its own."""
    with InGraph(graph_of([ref, indices, updates])):
        return ref.scatter_nd_update(batch_places(indices), updates)


def assigning(method: str) -> Callable[..., object]:
    """Return what changes a variable."""

    def change(
        ref: object, value: object, use_locking: object = None, name: str | None = None
    ) -> object:
        return getattr(ref, method)(value, name=name)

    return change


def assign(
    ref: object,
    value: object,
    validate_shape: bool | None = None,
    use_locking: object = None,
    name: str | None = None,
) -> object:
    """Give a variable a value; without validation of shapes, one of any shape in the run."""
    if validate_shape is False and isinstance(ref, _st.Variable):
        return ref.assign_unchecked(value, name)
    return assigning("assign")(ref, value, use_locking, name)


def container(container_name: str) -> AbstractContextManager[None]:
    """Let variables that are made inside have their values in a container of this name."""
    return _st.get_default_graph().container(container_name)


def behaving(name: str, value: bool) -> Callable[[], None]:
    """Return a function that lets a part of the first version's behaviour hold, or not."""
    return lambda: setattr(Behaviour, name, value)


def placeholder(dtype: object, shape: object = None, name: str | None = None) -> GraphTensor:
    """Make a tensor whose value is fed; unlike `gravure.tf.placeholder`, in a graph of its own."""
    if executing_eagerly():
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    return _st.placeholder(dtype, shape, name)


def enable_eager_execution(
    config: object = None, device_policy: int | None = None, execution_mode: int | None = None
) -> None:
    """Let operations run at once again.

    What sessions read of a configuration is theirs. Operands are copied to where an operation
    runs, and calls of operations wait for their results, whatever the policy and the mode say.
    """
    if config is not None and not isinstance(config, _msg.ConfigProto):
        raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
    for name, value, most in (
        ("device_policy", device_policy, 3),
        ("execution_mode", execution_mode, 1),
    ):
        if value is not None and value not in range(most + 1):
            raise ValueError(f"{name} is {value!r}, expected one of 0 to {most}")
    _ss.enable_eager_execution()


def get_seed(op_seed: object) -> tuple[int | None, object]:
    """Return the seeds of the graph and of an operation."""
    return _st.get_default_graph().seed, op_seed


def colocate_with(op: object, ignore_existing: bool = False) -> AbstractContextManager[None]:
    """Let operations run on the same device as another one."""
    return _st.get_default_graph().colocate_with(op, ignore_existing=ignore_existing)


class name_scope(_names.name_scope):  # noqa: N801  (TensorFlow's name)
    """Puts operations under a name; None is the scope of the whole graph."""

    needs_text = False


class V1:
    """The names of the first version."""

    Session = _ss.Session
    InteractiveSession = _ss.InteractiveSession
    Variable = _st.Variable
    placeholder = staticmethod(placeholder)
    placeholder_with_default = staticmethod(_st.placeholder_with_default)
    global_variables_initializer = staticmethod(_gl.global_variables_initializer)
    initialize_all_variables = staticmethod(_gl.global_variables_initializer)
    local_variables_initializer = staticmethod(_gl.local_variables_initializer)
    variables_initializer = staticmethod(_st.variables_initializer)
    global_variables = staticmethod(_gl.global_variables)
    all_variables = staticmethod(_gl.global_variables)
    trainable_variables = staticmethod(_gl.trainable_variables)
    local_variables = staticmethod(_gl.local_variables)
    moving_average_variables = staticmethod(_gl.moving_average_variables)
    get_default_graph = staticmethod(_st.get_default_graph)
    container = staticmethod(container)
    reset_default_graph = staticmethod(_ss.reset_default_graph)
    report_uninitialized_variables = staticmethod(_re.report_uninitialized_variables)
    assert_variables_initialized = staticmethod(_re.assert_variables_initialized)
    is_variable_initialized = staticmethod(is_variable_initialized)
    get_default_session = staticmethod(default_session)
    get_session_handle = staticmethod(get_session_handle)
    get_session_tensor = staticmethod(_ss.get_session_tensor)
    delete_session_tensor = staticmethod(_ss.delete_session_tensor)
    get_variable = staticmethod(_sc.get_variable)
    get_local_variable = staticmethod(_sc.get_local_variable)
    make_template = staticmethod(_te.make_template)
    create_partitioned_variables = staticmethod(_sc.create_partitioned_variables)
    name_scope = name_scope
    initialize_variables = staticmethod(_st.variables_initializer)
    scatter_div = staticmethod(sliced("scatter_div"))
    variable_creator_scope = staticmethod(_cr.variable_creator_scope)
    variable_scope = staticmethod(_sc.variable_scope)
    get_variable_scope = staticmethod(_sc.get_variable_scope)
    VariableScope = _sc.VariableScope
    fixed_size_partitioner = staticmethod(_pa.fixed_size_partitioner)
    variable_axis_size_partitioner = staticmethod(_pa.variable_axis_size_partitioner)
    min_max_variable_partitioner = staticmethod(_pa.min_max_variable_partitioner)
    AUTO_REUSE = _sc.AUTO_REUSE
    GraphDef = GraphDef
    import_graph_def = staticmethod(import_graph_def)
    saved_model = first_saved_model
    graph_util = Space(
        "compat.v1.graph_util",
        convert_variables_to_constants=convert_variables_to_constants,
        import_graph_def=import_graph_def,
        extract_sub_graph=extract_sub_graph,
    )
    ConfigProto = _msg.ConfigProto
    TensorInfo = _msg.TensorInfo
    GPUOptions = _msg.GPUOptions
    GraphOptions = _msg.GraphOptions
    OptimizerOptions = _msg.OptimizerOptions
    DeviceSpec = FirstDeviceSpec
    RunOptions = _msg.RunOptions
    RunMetadata = _msg.RunMetadata
    random_uniform = staticmethod(_r.uniform)
    random_normal = staticmethod(_r.normal)
    truncated_normal = staticmethod(_r.truncated_normal)
    random_shuffle = staticmethod(_dr.shuffle)
    random_gamma = staticmethod(_dr.gamma)
    random_poisson = staticmethod(_dr.random_poisson)
    random_crop = staticmethod(random_crop)
    set_random_seed = staticmethod(set_seed)
    get_seed = staticmethod(get_seed)
    colocate_with = staticmethod(colocate_with)
    hessians = staticmethod(_f.hessians)
    scatter_add = staticmethod(scatter("scatter_nd_add"))
    scatter_sub = staticmethod(scatter("scatter_nd_sub"))
    scatter_update = staticmethod(scatter("scatter_nd_update"))
    scatter_mul = staticmethod(sliced("scatter_mul"))
    scatter_max = staticmethod(sliced("scatter_max"))
    scatter_min = staticmethod(sliced("scatter_min"))
    scatter_nd_add = staticmethod(of_variable("scatter_nd_add"))
    scatter_nd_sub = staticmethod(of_variable("scatter_nd_sub"))
    scatter_nd_update = staticmethod(of_variable("scatter_nd_update"))
    batch_scatter_update = staticmethod(batch_scatter_update)
    assign = staticmethod(assign)
    assign_add = staticmethod(assigning("assign_add"))
    assign_sub = staticmethod(assigning("assign_sub"))
    add_to_collection = staticmethod(_gl.add_to_collection)
    add_to_collections = staticmethod(_gl.add_to_collections)
    get_collection = staticmethod(_gl.get_collection)
    get_collection_ref = staticmethod(_gl.get_collection_ref)
    GraphKeys = _gl.GraphKeys
    ConditionalAccumulator = _sy.ConditionalAccumulator
    ConditionalAccumulatorBase = _sy.ConditionalAccumulatorBase
    SparseConditionalAccumulator = _sy.SparseConditionalAccumulator
    constant = staticmethod(constant_v1)
    zeros_initializer = _i.Zeros
    ones_initializer = _i.Ones
    constant_initializer = _i.FirstConstant
    random_uniform_initializer = _i.FirstRandomUniform
    random_normal_initializer = _i.V1RandomNormal
    truncated_normal_initializer = _i.V1TruncatedNormal
    glorot_uniform_initializer = _i.first_version(_i.GlorotUniform)
    glorot_normal_initializer = _i.first_version(_i.GlorotNormal)
    orthogonal_initializer = _i.FirstOrthogonal
    uniform_unit_scaling_initializer = _i.UniformUnitScaling
    variance_scaling_initializer = _i.first_version(_i.VarianceScaling)
    wrap_function = staticmethod(_wr.wrap_function)
    py_func = staticmethod(numpy_function)
    disable_eager_execution = staticmethod(_ss.disable_eager_execution)
    enable_eager_execution = staticmethod(enable_eager_execution)
    disable_v2_behavior = staticmethod(_ss.disable_v2_behavior)
    enable_v2_behavior = staticmethod(_ss.enable_v2_behavior)
    Dimension = Dimension
    dimension_value = staticmethod(dimension_value)
    dimension_at_index = staticmethod(dimension_at_index)
    disable_v2_tensorshape = staticmethod(behaving("dimensions", True))
    enable_v2_tensorshape = staticmethod(behaving("dimensions", False))
    disable_resource_variables = staticmethod(behaving("references", True))
    enable_resource_variables = staticmethod(behaving("references", False))
    resource_variables_enabled = staticmethod(lambda: not Behaviour.references)
    disable_control_flow_v2 = staticmethod(behaving("one_graph", True))
    enable_control_flow_v2 = staticmethod(behaving("one_graph", False))
    control_flow_v2_enabled = staticmethod(lambda: not Behaviour.one_graph)
    executing_eagerly_outside_functions = staticmethod(_ss.executing_eagerly_outside_functions)
    losses = _l.SPACE
    ragged = _ragged
    distributions = _distributions
    layers = _layers
    metrics = _metrics
    app = _app
    flags = _flags
    logging = _logging
    test = _test


def _initializers() -> Space:
    """Return `compat.v1.initializers`: seeds are those of operations, as at the top."""
    there = ("zeros", "ones", "constant", "random_uniform", "random_normal", "truncated_normal")
    more = ("glorot_uniform", "glorot_normal", "orthogonal", "variance_scaling")
    found = {name: getattr(V1, f"{name}_initializer") for name in (*there, *more)}
    scaled = {
        name: _i.first_version(getattr(_i, kind))
        for name, kind in (
            *(("he_uniform", "HeUniform"), ("he_normal", "HeNormal")),
            *(("lecun_uniform", "LecunUniform"), ("lecun_normal", "LecunNormal")),
        )
    }
    scaled["uniform_unit_scaling"] = _i.UniformUnitScaling
    return Space("compat.v1.initializers", **{"identity": _i.Identity, **found, **scaled})


IN_FIRST_ORDER = ("math", "linalg", "random", "image", "sparse", "gfile", "io", "sets",
                  "debugging", "saved_model")  # fmt: skip
"""Namespaces of which functions are called in another way."""


def first_version(top: Mapping[str, object]) -> Space:
    """Return the namespace of the first version: what is not its own is as at the top."""
    own = {name: getattr(V1, name) for name in vars(V1) if not name.startswith("_")}
    shared = {name: value for name, value in top.items() if not name.startswith("_")}
    more = {"initializers": _initializers(), "__version__": top["__version__"]}
    later = {"keras": lambda: keras_space("keras")}
    names: dict[str, object] = {**shared, **TOP, **own, **more}
    names |= _only_here(top, names)
    names |= {name: first_space(name, vars(names[name])) for name in IN_FIRST_ORDER}
    return Space("compat.v1", later, **in_first_order("", names))
