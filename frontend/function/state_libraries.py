"""Functions over the variables they share, as one library for C: `gravure.save_functions`.

    made = gravure.save_functions("model.so", {"infer": f, "grad": g, "train_step": step})
    made.save("model.h")

The variables become one struct. `TAG_init` gives them the values that they have now, `TAG_save` and
`TAG_load` write and read the bytes of a checkpoint, and each function reads and writes them there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace

from safetensors.numpy import save
from xdsl.dialects.builtin import ModuleOp

from ...codegen.compiled import Compiled, Options
from ...codegen.state import RESERVED, Field, Member, StateLibrary, layout
from ...errors import CompileError, UnsupportedOp
from ...ir import Program
from ...ir.build import GraphEmit
from ...ir.ops.structure import Weight
from ...ir.program import finish, new_function, set_level
from ...ir.types.attributes import Symbol
from ...ir.types.tensor import Array, spec_of_array
from ...runtime.artifact import TensorInfo
from ..graph.frame import NotStageableError, Stateful, Store
from ..graph.variables import VariableState
from ..models.compiled import compile_program, tag_of
from .function import Function
from .libraries import names_of
from .staged import Export, Staged
from .traces import ACTIVE, ConcreteFunction


def save_functions(
    path: str | os.PathLike[str],
    functions: Mapping[str, Function | ConcreteFunction],
    options: Options | None = None,
) -> StateLibrary:
    """Compile functions over the variables they share, and write what the suffix asks for.

    That is `.so`, `.o`, `.a`, or `.h` with the struct of the state; what is returned writes the
    others (`save`). A function has an `input_signature`, or is one for given arguments
    (`get_concrete_function`). Raises `UnsupportedOp` for what only Python can do, and for random
    numbers.
    """
    options = options or Options(numerics="exact")
    tag = tag_of(path)
    staged: dict[str, tuple[ConcreteFunction, Staged]] = {}
    for name, function in functions.items():
        if not name.isascii() or not name.isidentifier() or name in RESERVED:
            raise CompileError(f"a function cannot be called {name!r} in C")
        concrete = function if isinstance(function, ConcreteFunction) else one_of(function)
        staged[name] = concrete, staged_for(concrete, f"{tag}0{name}", options)
    store = ACTIVE[-1]
    states = states_of([made for _, made in staged.values()])
    if not states:
        raise UnsupportedOp("the functions use no variables", hint="save them one by one")
    fields, head = fields_of(states, store)
    numbers: dict[Stateful, int] = {state: i for i, state in enumerate(states)}
    members = [init_of(fields, states, store, replace(options, tag=f"{tag}0init"))]
    for name, (concrete, made) in staged.items():
        inputs = names_of([x.op.name for x in concrete.graph.inputs])
        read = [numbers[x()] for x in made.arguments if not isinstance(x, tuple)]
        written = [numbers[x()] for x in made.written.handles]
        fault = made.written.fault
        faults = () if fault is None else [each.plain() for each in fault.known]
        members.append(Member(name, made.model.compiled, inputs, read, made.count, written, faults))
    library = StateLibrary(tag, fields, members, head)
    library.save(path)
    return library


def one_of(function: Function) -> ConcreteFunction:
    """Return the trace of a function with a signature."""
    if function.input_signature is None:
        raise CompileError(
            f"function {function.label!r} has no input_signature",
            hint="give one, or pass what get_concrete_function returns",
        )
    return function.get_concrete_function()


def staged_for(concrete: ConcreteFunction, tag: str, options: Options) -> Staged:
    """Return a compiled function; tensors from outside are constants."""
    graph = concrete.graph
    taken = [tensor.numpy() for tensor, _ in graph.captured.values()]
    inputs = [tensor.spec for tensor in graph.inputs]
    try:
        made = Staged(graph.whole_plan(), inputs, Export(replace(options, tag=tag), taken))
    except NotStageableError as error:
        raise UnsupportedOp(f"{concrete.function.label} is not compiled: {error}") from None
    handles = [x for x in made.arguments if not isinstance(x, tuple)]
    draws = [x[0].name for x in made.arguments if isinstance(x, tuple)]
    handles += made.written.handles
    draws += [x.name for x in handles if not isinstance(x(), VariableState)]
    if draws:
        raise UnsupportedOp(f"{concrete.function.label}: node {draws[0]!r} draws random numbers")
    return made


def states_of(staged: list[Staged]) -> list[VariableState]:
    """Return the variables of all functions, each once."""
    found: dict[VariableState, None] = {}
    for made in staged:
        handles = [x for x in made.arguments if not isinstance(x, tuple)]
        states = [x() for x in (*handles, *made.written.handles)]
        found.update(dict.fromkeys(x for x in states if isinstance(x, VariableState)))
    return list(found)


def fields_of(states: list[VariableState], store: Store) -> tuple[list[Field], bytes]:
    """Return the fields of the state, and the head of a file that holds it."""
    names = names_of([state.name.removesuffix(":0") for state in states])
    arrays = dict(zip(names, (state.value_in(store) for state in states), strict=True))
    data = save({name: array.copy() for name, array in arrays.items()})
    size = 8 + int.from_bytes(data[:8], "little")
    places = {name: row["data_offsets"][0] for name, row in json.loads(data[8:size]).items()}
    infos = [
        TensorInfo(name, spec_of_array(array).dtype.name, array.shape)
        for name, array in arrays.items()
    ]
    return layout((i.name, i, places[i.name]) for i in infos), data[:size]


def init_of(
    fields: list[Field], states: list[VariableState], store: Store, options: Options
) -> Member:
    """Return the function that gives every variable the value that it has now."""
    weights: dict[str, Array] = {}
    main = new_function("main", [])
    emit = GraphEmit.at_end(main.body.block)
    made = []
    for field, state in zip(fields, states, strict=True):
        array = weights[field.name] = state.value_in(store).copy()
        spec = spec_of_array(array)
        made.append(emit(Weight, weight=Symbol(field.name), dtype=spec.dtype, shape=spec.dims))
    finish(main, made, [field.name for field in fields])
    module = ModuleOp([main])
    set_level(module, "graph")
    compiled: Compiled = compile_program(Program(module, weights), options)
    assert not compiled.description.workspace_bytes, "copies take no memory"
    return Member("init", compiled, (), (), 0, range(len(fields)))


__all__ = ["save_functions"]
