"""`function`: Python that is traced into a graph once for each kind of arguments.

    @function
    def step(x, training=True): ...

Tensors are traced by element type and shape, everything else by its value (objects by their
identity). What was traced is kept; `explain` says why each trace but the first was made.
"""

from __future__ import annotations

import functools
import inspect
import os
import threading
import warnings
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MethodType
from typing import TYPE_CHECKING, Any, ClassVar

from ...collection import paused
from ...errors import GraphError, StagingWarning, printed_as
from ...forks import renewed
from ...ir.types.dtypes import DType
from ...ir.types.tensor import TensorSpec as Traced
from ...lazy import cached_property
from ...runtime.tracing import EARS, span
from ..autograph import to_trace
from ..eager.tensor import Tensor, as_tensor
from ..graph.execute import Wishes
from ..graph.func_graph import FuncGraph
from ..graph.graph import Graph, GraphTensor
from ..values import nest
from ..values.context import STATE, Context, entered, passing
from ..values.origin import short, user_line
from .arguments import (
    Bound,
    VariableArgument,
    call_with,
    describe,
    of_themselves,
    spec_for,
    structure_key,
)
from .effects import Effect, Watch, compared, retraces
from .staged import Staged
from .traces import ACTIVE, ConcreteFunction

if TYPE_CHECKING:
    from ..dims.symbols import DimOption, ShapeOption


class Called:
    """The graphs of the functions that are called, while somebody takes note of them."""

    graphs: dict[FuncGraph, None] | None = None


CALLED = Called()


class Settings:
    """What holds for all functions of the process."""

    run_eagerly = False


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Let functions run their Python each time they are called, for debugging."""
    Settings.run_eagerly = bool(run_eagerly)


def init_scope() -> AbstractContextManager[Context | None]:
    """Leave all traces for a while: what is inside runs at once, or goes to a graph around."""
    context = STATE.context
    while isinstance(context, FuncGraph):
        context = context.outer
    return entered(context)


@printed_as(ValueError)
class ChangedArgumentError(GraphError, ValueError):
    """A traced function changed a list or a dictionary that it was given."""


class Method:
    """A function with an object before its arguments, which it does not keep alive."""

    __signature__: inspect.Signature

    def __init__(self, function: Callable[..., object], instance: Callable[[], object]) -> None:
        self.function, self.instance = function, instance

    @property
    def method(self) -> Callable[..., object]:
        """Return it as Python binds it: what `tf.autograph` finds the source of."""
        return MethodType(self.function, self.instance())

    def converted(self, features: frozenset[str]) -> Callable[..., object]:
        """Return the method with its choices and loops handed to the graph."""
        return Method(to_trace(self.function, features), self.instance)

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Call the function."""
        return self.function(self.instance(), *args, **kwargs)


def apart() -> bool:
    """Say whether this is a replica that has traces of its own, as it draws by its number."""
    return STATE.replica is not None and STATE.replica.draws_as is not None


class Function:
    """A Python function that runs as a graph."""

    graph_class: type[FuncGraph] = FuncGraph
    tensor_class: type[GraphTensor] = GraphTensor
    concrete_class: type[ConcreteFunction] = ConcreteFunction
    has_python: ClassVar[bool] = True
    """Whether it can run eagerly, and not by its traces alone."""

    def __init__(  # noqa: PLR0913  (the options of `function`)
        self,
        python_function: Callable[..., object],
        *,
        input_signature: Sequence[object] | None = None,
        reduce_retracing: bool = False,
        autograph: bool = False,
        features: frozenset[str] = frozenset(),
        check: bool = False,
        recompute: bool = False,
        swap: bool = False,
        stated: Mapping[str, str] | None = None,
    ) -> None:
        functools.update_wrapper(self, python_function)
        self.python_function = python_function
        self.autograph, self.features = autograph, features
        """Whether its choices and loops are handed to the graph, and what else of it is."""
        self.input_signature = None if input_signature is None else tuple(input_signature)
        self.reduce_retracing = reduce_retracing
        self.check, self.recompute, self.swap = check, recompute, swap
        self.stated = dict(stated or {})
        """What is said of it to other programs."""
        self.effects: list[Effect] = []
        """What was found, where that is checked, that a trace does once and not each run."""
        self.signature = inspect.signature(python_function)
        self.cache: dict[Hashable, ConcreteFunction] = {}
        self._wider: dict[Hashable, ConcreteFunction] = {}
        """Traces of open sizes, by arguments that they were found to fit."""
        self.traced = self.calls = 0
        self.reasons: list[str] = []
        self._tracing: set[object] = set()
        self._compared: list[ConcreteFunction] = []
        """Traces whose results were compared with what their Python gives."""
        self._making = renewed(threading.RLock())
        """Held while a trace is made: other threads wait for it."""
        self._ready: dict[object, tuple[ConcreteFunction, Staged]] = {}
        """Compiled graphs by types and shapes of arguments that are all tensors."""
        self._whole: Callable[[], Function | None] = lambda: None
        """The function that this is the face of, if it is one and that is still there."""
        self._bound: weakref.WeakKeyDictionary[object, Function] = weakref.WeakKeyDictionary()

    def to_tensor(self, value: object, dtype: DType | None = None) -> Tensor:
        """Return an argument as a tensor."""
        return as_tensor(value, dtype)

    def spec_of(self, tensor: GraphTensor, name: str) -> object:
        """Return the spec of an argument of a trace, which has no name here."""
        return tensor.spec

    def spec_of_variable(self, variable: VariableArgument) -> object:
        """Return what a trace takes where it is given variables."""
        return variable

    def seen(self, spec: Traced) -> object:
        """Return a spec as users see it."""
        return spec

    def wrap(self, array: object) -> Tensor:
        """Return a result as a tensor: one on a device is one already."""
        return array if isinstance(array, Tensor) else Tensor(array)

    @property
    def options(self) -> dict[str, Any]:
        """Return what it was made with beside its Python."""
        names = ("input_signature", "reduce_retracing", "autograph", "features", "check")
        return {name: getattr(self, name) for name in (*names, "recompute", "swap", "stated")}

    def __reduce__(self) -> tuple[Callable[..., Function], tuple[object]]:
        """Return what makes it anew, in another process too: a copy has no traces yet."""
        return functools.partial(type(self), **self.options), (self.python_function,)

    @cached_property
    def face(self) -> Function:
        """Return what traces know of the function: without its traces.

        So it keeps them, and not they it: what is let go of is gone at once.
        """
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        made.cache, made._wider, made._ready, made._compared = {}, {}, {}, []
        made._bound = weakref.WeakKeyDictionary()
        made._whole = weakref.ref(self)
        return made

    @property
    def label(self) -> str:
        """Return the function's name."""
        return getattr(self.python_function, "__name__", "function")

    def __get__(self, instance: object, owner: object = None) -> Function:
        """Return the method of an object, with traces of its own."""
        if instance is None:
            return self
        found = self._bound.get(instance)
        if found is None:
            parameters = list(self.signature.parameters.values())[1:]
            method = Method(self.python_function, weakref.ref(instance))
            functools.update_wrapper(method, self.python_function)
            method.__signature__ = self.signature.replace(parameters=parameters)
            found = type(self)(method, **self.options)
            self._bound[instance] = found
        return found

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Run the graph for these arguments, which is made if there is none."""
        self.calls += 1
        if EARS.count:
            with span("function", self.label):
                return self.call(args, kwargs)
        if not (kwargs or STATE.busy or STATE.passed or Settings.run_eagerly or apart()):
            arrays = [x.text or x._array for x in args if isinstance(x, Tensor) and x.direct]
            key = tuple([(x.dtype, x.shape) for x in arrays])
            known = self._ready.get(key) if len(arrays) == len(args) else None
            if known is not None and not known[1].is_stale:
                return known[0].packed(known[1].run(ACTIVE[-1], arrays))
        return self.call(args, kwargs)

    def call(self, args: Sequence[object], kwargs: dict[str, object]) -> object:
        """Find or make the trace for arguments, and run it."""
        if Settings.run_eagerly and self.has_python:
            return self.python_function(*args, **kwargs)
        bound = self.bind(args, kwargs)
        concrete = self.concrete(bound)
        if CALLED.graphs is not None:
            CALLED.graphs[concrete.graph] = None
        tensors = [x for x in bound.leaves if isinstance(x, Tensor)]
        passed = concrete.passing(bound.passed) if bound.variables else None
        if self.check and not self.effects and concrete not in self._compared:
            self._compared.append(concrete)
            with compared(concrete, lambda: self.python_function(*args, **kwargs)) as check:
                check.made = made = concrete.call(tensors, passed)
            self.warn(check.found)
        else:
            made = concrete.call(tensors, passed)
        arrays = [x.text or x._array for x in args if isinstance(x, Tensor) and x.direct]
        if not kwargs and len(arrays) == len(args) and not apart():
            compiled = concrete.compiled.get(tuple(x.shape for x in arrays))
            if isinstance(compiled, Staged) and not concrete.graph.captured:
                self._ready[tuple([(x.dtype, x.shape) for x in arrays])] = concrete, compiled
        return made

    def bind(self, args: Sequence[object], kwargs: dict[str, object]) -> Bound:
        """Return the arguments by the parameters of the function, arrays as tensors."""
        try:
            found = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(
                f"Binding inputs to tf.function failed due to `{error}`, of function {self.label!r}"
            ) from None
        found.apply_defaults()
        arguments = dict(found.arguments)
        for name, declared in self.declared.items():
            arguments[name] = self._declared(declared, arguments[name])
        return Bound(self, arguments)

    @cached_property
    def declared(self) -> dict[str, object]:
        """Return what the input signature says by parameter; of `*args`, a tuple."""
        signature = self.input_signature
        try:
            found = dict(self.signature.bind_partial(*(signature or ())).arguments)
        except TypeError as error:
            raise TypeError(
                f"input_signature of function {self.label!r} does not fit it: {error}"
            ) from None
        if signature is None:
            return found
        kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        missing = [
            name
            for name, each in self.signature.parameters.items()
            if name not in found and each.kind not in kinds and each.default is each.empty
        ]
        if missing:
            raise TypeError(
                f"input_signature missing type constraint for {', '.join(missing)} of function "
                f"{self.label!r}"
            )
        return found

    def _declared(self, declared: Any, value: Any) -> object:
        """Return an argument in the structure that a signature declares, its parts as tensors."""
        spec = spec_for(declared)
        if spec is not None:
            convert = self.to_tensor
            return value if spec_for(value) is not None else convert(value, spec.dtype)
        mapped = isinstance(declared, Mapping) and isinstance(value, Mapping)
        if mapped and declared.keys() == value.keys():
            return {key: self._declared(each, value[key]) for key, each in declared.items()}
        listed = isinstance(declared, list | tuple) and isinstance(value, list | tuple)
        if listed and len(declared) == len(value):
            pairs = zip(declared, value, strict=True)
            return nest.pack_level(value, [self._declared(d, v) for d, v in pairs])
        return value

    def concrete(self, bound: Bound) -> ConcreteFunction:
        """Return the trace for arguments, made now if there is none."""
        whole = self._whole()
        if whole is not None:
            return whole.concrete(bound)
        if self.input_signature is not None:
            bound.take_signature(self.declared)
        key = self._key(bound)
        found = self._known(bound, key)
        if found is not None:
            return found
        with self._making:
            return self._found_or_made(bound, key)

    def _known(self, bound: Bound, key: Hashable) -> ConcreteFunction | None:
        """Return the trace that there is for arguments; names that specs give are its own."""
        found = self.cache.get(key) or self.cache.get((key, id(STATE.context)))
        if found is None:
            wider = self._wider.get(key)
            serves = wider is None or not bound.variables or wider.serves(bound.passed)
            return wider if serves else None
        if bound.variables and not found.serves(bound.passed):
            return self.cache.get((key, of_themselves(bound.passed)))
        named = bound.named()
        if not named or found.bound.named() == named:
            return found
        return self.cache.get((key, named))

    def _accepting(self, bound: Bound, key: Hashable) -> ConcreteFunction | None:
        """Return the narrowest trace of open sizes that arguments fit; it is known from then on."""
        traces = [] if apart() else [*self.cache.values()]
        named = bound.named()
        fit = [
            c
            for c in traces
            if c.accepts(bound) and c.is_in(STATE.context) and named in ((), c.bound.named())
        ]
        found = next((c for c in fit if all(other.accepts(c.bound) for other in fit)), None)
        if found is not None and not found.is_local:
            self._wider[key] = found
        return found

    @staticmethod
    def _key(bound: Bound) -> Hashable:
        """Return what arguments are traced by; replicas that draw by their numbers do apart."""
        number = None if STATE.replica is None else STATE.replica.draws_as
        return bound.key() if number is None else (bound.key(), number)

    def _found_or_made(self, bound: Bound, key: Hashable) -> ConcreteFunction:
        found = self._known(bound, key) or self._accepting(bound, key)
        if found is None and self.reduce_retracing and self.cache:
            bound.relax(list(self.cache.values())[-1].bound)
            key = self._key(bound)
            found = self.cache.get(key)
        if found is None:
            self.reasons.append(self.reason(bound))
            if self.check:
                self.warn(retraces(self.label, self.reasons))
            here = key, os.getpid(), threading.get_ident()  # not a thread that a child has not got
            if here in self._tracing:
                raise GraphError(
                    f"function {self.label!r} calls itself with arguments like its own, expected a"
                    " Python value that ends it",
                    location=short(user_line()),
                    hint="a trace has no end then; write what depends on a tensor as while_loop",
                )
            self._tracing.add(here)
            try:
                found = self.trace(bound)
            finally:
                self._tracing.discard(here)
            place = (key, bound.named()) if key in self.cache else key
            if key in self.cache and bound.variables:
                place = key, of_themselves(bound.passed)
            self.cache[(key, id(STATE.context)) if found.is_local else place] = found
        return found

    @paused()
    def trace(self, bound: Bound) -> ConcreteFunction:
        """Trace; once more if variables were made, which must not happen again."""
        concrete = self._trace(bound, may_create=not self.traced)
        if concrete.graph.created:
            concrete = self._trace(bound, may_create=False)
        return concrete

    def _trace(self, bound: Bound, *, may_create: bool) -> ConcreteFunction:
        with passing(None):
            return self._made(bound, may_create=may_create)

    def _made(self, bound: Bound, *, may_create: bool) -> ConcreteFunction:
        outer = STATE.context if isinstance(STATE.context, Graph) else None
        graph = self.graph_class(f"function {self.label!r}", outer, self.tensor_class)
        graph.may_create, graph.stated = may_create, self.stated
        graph.counted_by = f"function {getattr(self.python_function, '__qualname__', self.label)!r}"
        graph.keep_apart()
        self.traced += 1
        with entered(graph):
            arguments = self.handed(bound.enter(graph))
            taken = nest.map_structure(lambda x: x, arguments)
            graph.wishes = Wishes(recompute=self.recompute, swap=self.swap)
            if self.check:
                with Watch(self.python_function, arguments) as watch:
                    made = call_with(self.to_trace(), self.signature, arguments)
                self.warn(watch.found)
            else:
                made = call_with(self.to_trace(), self.signature, arguments)
                self._check_unchanged(taken, arguments)
            made = self.returned(made)
            leaves = nest.flatten(made)
            outputs = [self._output(graph, x) for x in leaves]
        graph.finish([x for x in outputs if x is not None])
        graph.values = None
        kept = bound.without_values(self.face)
        concrete = self.concrete_class(self.face, kept, graph, made, outputs)
        if bound.variables:
            concrete.take_variables(bound.passed)
        return concrete

    def handed(self, arguments: dict[str, object]) -> dict[str, object]:
        """Return the arguments as the Python function is given them."""
        return arguments

    def _check_unchanged(self, before: object, after: object) -> None:
        """Raise where the Python changed a structure of its arguments: it was given a copy."""
        pairs = zip(nest.flatten(before), nest.flatten(after), strict=False)
        try:
            nest.assert_same(before, after, check_types=False)
        except (TypeError, ValueError):
            changed = True
        else:
            changed = any(old is not new for old, new in pairs)
        if changed:
            raise ChangedArgumentError(
                f"function {self.label!r} should not modify its Python input arguments",
                hint="what it does to a list or a dictionary happens once a trace: change a copy",
            )

    def warn(self, effects: Sequence[Effect]) -> None:
        """Tell of effects that were not told of, each once."""
        for each in effects:
            if each not in self.effects:
                self.effects.append(each)
                warnings.warn(str(each), StagingWarning, stacklevel=2)

    def to_trace(self) -> Callable[..., object]:
        """Return what is called when it is traced: the function, converted if that is wanted."""
        function = self.python_function
        if not self.autograph:
            return function
        if isinstance(function, Method):
            return function.converted(self.features)
        return to_trace(function, self.features)

    def printed(self, trace: object, *, long: bool) -> str | None:
        """Return a trace as users see it, None for the usual text."""
        return None

    def type_of(self, trace: object) -> object:
        """Return what a trace takes and gives: a signature."""
        return self.signature

    def message_of(self, trace: object) -> object:
        """Return a trace as data that other programs read."""
        raise AttributeError(f"{self.label}: only functions of gravure.tf have this as data")

    def inner(self, trace: object) -> object:
        """Return the function without gradients that a trace is: itself."""
        return trace

    def returned(self, made: object) -> object:
        """Return what the Python function gave as a structure of what becomes tensors."""
        return made

    def _output(self, graph: FuncGraph, value: object) -> GraphTensor | None:
        """Return what the function returns as an output of its graph."""
        try:
            return None if value is None else graph.output(value)
        except (TypeError, ValueError):
            if isinstance(value, Tensor):
                raise
            raise TypeError(
                f"function {self.label!r} returns {value!r}, expected tensors, what becomes one, "
                "or None"
            ) from None

    def get_concrete_function(self, *args: object, **kwargs: object) -> ConcreteFunction:
        """Return the trace for arguments, of which specs may stand for tensors."""
        if not args and not kwargs and self.input_signature is not None:
            args = tuple(self.input_signature)
        return self.concrete(self.bind(args, kwargs))

    def save(
        self,
        path: str | os.PathLike[str],
        *args: object,
        frozen: bool = False,
        shapes: Mapping[str, ShapeOption] | None = None,
        dims: Mapping[str, DimOption] | None = None,
        **kwargs: object,
    ) -> None:
        """Compile the trace for arguments (specs may stand for tensors) into a library.

        See `ConcreteFunction.save`. With `frozen`, sizes may be open: `shapes={"x": ("N", 4)}`
        names them, or they are called `x_d0`, and `dims={"N": (1, 64)}` bounds them.
        """
        from .libraries import Sizes  # noqa: PLC0415  (only who saves needs it)

        sizes = Sizes(shapes or {}, dims or {})
        self.get_concrete_function(*args, **kwargs).save(path, frozen=frozen, sizes=sizes)

    def experimental_get_tracing_count(self) -> int:
        """Return how many traces there are."""
        return self.traced

    def reason(self, bound: Bound) -> str:
        """Return why these arguments are traced."""
        line = short(user_line())
        if not self.cache:
            return f"{line}: first call"
        rows = [self.differences(each.bound, bound) for each in self.cache.values()]
        nearest = min(reversed(rows), key=lambda row: (row is None, len(row or ())))
        if not nearest:
            return f"{line}: the arguments have another structure"
        name, old, new = nearest[0]
        more = f", and {len(nearest) - 1} more" if len(nearest) > 1 else ""
        return f"{line}: argument {name!r}: {describe(new)} instead of {describe(old)}{more}"

    def differences(self, old: Bound, new: Bound) -> list[tuple[str, object, object]] | None:
        """Return in which arguments two calls differ; None where they have no common structure."""
        rows = old.compared(new)
        alike = structure_key(old.described) == structure_key(new.described)
        return [row for row in rows if row[1] != row[2]] if alike else None

    def explain(self) -> list[str]:
        """Return a sentence for each trace: what was new, and at which line.

        Behind them, one for each trace that is run operation by operation: why it is not compiled;
        one for each operation inside of compiled code that Python carries out; and, of a function
        with `check`, one for each effect of its Python that happens once a trace; with `recompute`,
        one for each compiled trace: how much memory a run works in.
        """
        graphs = [concrete.graph for concrete in self.cache.values()]
        refused = [f"{g.name} is not compiled: {g.refusal}" for g in graphs if g.refusal]
        made = [x for c in self.cache.values() for x in c.compiled.values()]
        slow = {op: why for x in made if isinstance(x, Staged) for op, why in x.slow.items()}
        left = [
            f"{op.source}: {op.type} {op.name!r} is carried out by Python: {why}"
            for op, why in slow.items()
        ]
        effects = [str(each) for each in self.effects if each.kind != "retrace"]
        return [*self.reasons, *refused, *left, *effects, *self._memory()]

    def _memory(self) -> list[str]:
        """Return how much memory runs work in, where layers are computed again to save some."""
        if not self.recompute:
            return []
        return [
            f"{concrete.graph.name} works in {staged.model.workspace_bytes} bytes, as layers are "
            "computed again"
            for concrete in self.cache.values()
            for staged in concrete.compiled.values()
            if isinstance(staged, Staged)
        ]

    def pretty_printed_concrete_signatures(self) -> str:
        """Return the signatures of all traces."""
        return "\n".join(str(c) for c in self.cache.values())


def function(  # noqa: PLR0913  (each is an option of its own)
    python_function: Callable[..., object] | None = None,
    *,
    input_signature: Sequence[object] | None = None,
    reduce_retracing: bool = False,
    autograph: bool = False,
    features: frozenset[str] = frozenset(),
    check: bool = False,
    recompute: bool = False,
    swap: bool = False,
) -> Any:
    """Let a Python function run as a graph; a decorator, with or without options.

    - `python_function`: what is traced at the first call with tensors of these types and shapes,
      compiled, and run from then on. Other arguments count by their value: another one is another
      trace, and so is another object.
    - `input_signature`: a `gravure.tf.TensorSpec` for each argument, or nests of them: the only
      trace there will be. A dimension that is None may have any size.
    - `reduce_retracing`: whether sizes that change from call to call are left open at the second
      trace, instead of a trace for each.
    - `autograph`: whether Python's own `if`, `while` and `for` become choices and loops of the
      graph where a tensor decides; without it, they need `gravure.cond` and `gravure.while_loop`.
    - `features`: what is converted besides, by the names that `tf.autograph.experimental.Feature`
      has, such as `BUILTIN_FUNCTIONS`.
    - `check`: whether to look, while it is traced, for what the Python does once and not in each
      run: random numbers of numpy, clocks, files, lists and globals that change, tensors that are
      kept. The Python is run once more for each trace, to compare results. Each is a
      `gravure.StagingWarning` with its line.
    - `recompute`: whether whole layers are computed again for gradients that are taken inside,
      instead of being kept till then: less than half of the memory where there are many layers,
      for the time of going forward once more. The numbers stay the same.
    - `swap`: whether what rests for long on a GPU lies in the memory of its host meanwhile.

    Returns a `Function`: called like the original, and `explain()` says which traces there are,
    why, and what is not compiled.

    >>> import gravure as gv
    >>> @gv.function(autograph=True)
    ... def halvings(x):
    ...     n = 0
    ...     while x > 1:
    ...         x, n = x / 2, n + 1
    ...     return n
    >>> int(halvings(gv.asarray(40.0)))
    6
    """

    def made(called: Callable[..., object]) -> Function:
        return Function(
            called,
            input_signature=input_signature,
            reduce_retracing=reduce_retracing,
            autograph=autograph,
            features=features,
            check=check,
            recompute=recompute,
            swap=swap,
        )

    return made if python_function is None else made(python_function)
