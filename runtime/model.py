"""A compiled model in Python: load it, look at it, run it.

    >>> model = Model.load("mlp.so")            # doctest: +SKIP
    >>> model.inputs                            # doctest: +SKIP
    (TensorInfo(name='x', dtype='f32', shape=('N', 8)),)
    >>> [scores] = model.run({"x": batch})      # doctest: +SKIP

Loading an artefact runs its code: load only what you trust. It is checked before, so that a file
which is damaged or made for another machine is an `ArtifactError`.
"""

from __future__ import annotations

import os
import shutil
from _thread import LockType
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from threading import Lock
from time import perf_counter_ns
from typing import Any, TypeAlias

import numpy as np

from ..errors import Advice, ArtifactError, RuntimeInputError
from ..requirements import NUMBERS, check
from . import direct
from .arguments import (
    Inputs,
    are_mapped,
    bind_dims,
    check_demands,
    check_threads,
    describe,
    in_order,
    mismatch,
    numpy_dtype,
    result_shape,
    to_array,
)
from .artifact import FUNCTIONS, OUTSIDE, REQUIRED, DimInfo, RawWeights, SizeDemand, TensorInfo
from .buffer import (
    SHARED_ROOMS,
    Array,
    RecycledBytes,
    address,
    aligned_array,
    aligned_bytes,
    is_plain,
    may_be_kept,
    told,
)
from .container import PIECE, check_weights
from .files import replacing
from .gpu.library import create_on_gpu, is_for_gpu
from .library import Library, Mapped, map_weights
from .pool import Pool, shared_pool
from .traces.recorder import Recorder
from .tracing import EARS, WATCHED, note, tell

CPU_CHECKED = 1
"""What says in a context that the processor was asked: loading did it."""
REACHED = 65
"""The code of a status that says which kernel would have gone outside of a buffer."""
REQUIREMENT = 64
"""The low bits of a status that says which requirement of values did not hold."""
SHORT = 1 << 16
"""Below this many bytes in all, Python's lock is kept during a run: giving it up takes longer."""
PLANS = 1024
"""How many combinations of shapes are remembered."""

Source: TypeAlias = "str | os.PathLike[str] | bytes"
WeightsSource: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any] | Array | Mapped | None"


@dataclass(frozen=True)
class Context:
    """What all runs are given, and what must stay alive for them."""

    words: Array
    """A `gravure_context`."""
    pool: Pool | None
    weights: Array | None

    @classmethod
    def make(cls, pool: Pool | None, weights: Array | None) -> Context:
        """Fill in the fields."""
        words = np.zeros(5, np.int64)
        if pool is not None:
            words[:4] = pool.parallel_for, pool.address, 0, pool.scope
        words[2] = 0 if weights is None else address(weights)
        words[4] = (1 if pool is None else pool.threads) | CPU_CHECKED << 32
        return cls(words, pool, weights)

    @property
    def address(self) -> int:
        """Return where the fields are."""
        return address(self.words)

    def wake(self) -> None:
        """Make sure that the pool has its threads, also after a fork."""
        if self.pool is not None and not self.pool.is_running:
            self.pool.start()


@dataclass(frozen=True)
class Plan:
    """What follows from the shapes of the inputs."""

    outputs: tuple[tuple[int, ...], ...]
    dims: Mapping[str, int]
    """The values of the symbolic dimensions."""
    shapes: Array
    """All dimensions of all arguments, one after the other."""
    places: Array
    """Where those of each argument begin."""

    @classmethod
    def of(
        cls,
        inputs: Sequence[tuple[int, ...]],
        outputs: tuple[tuple[int, ...], ...],
        dims: Mapping[str, int],
    ) -> Plan:
        """Return what follows from the shapes of inputs and outputs."""
        shapes = np.array([size for shape in (*inputs, *outputs) for size in shape], np.int64)
        before = list(accumulate(map(len, (*inputs, *outputs)), initial=0))[:-1]
        return cls(outputs, dims, shapes, address(shapes) + 8 * np.array(before, np.int64))


@dataclass(frozen=True)
class Frame:
    """What one run works in: its workspace, and the tables of its arguments."""

    workspace: Array
    inputs: Array
    outputs: Array
    is_kept: bool = True
    """Whether the next run works in it, too; else its workspace is one that all models share."""

    def fill(self, arrays: Sequence[Array], outputs: Sequence[Array], plan: Plan) -> None:
        """Write down where the arrays and their shapes are."""
        split = len(arrays)
        for table, values, places in (
            (self.inputs, arrays, plan.places[:split]),
            (self.outputs, outputs, plan.places[split:]),
        ):
            table[:, 0], table[:, 1] = [address(x) for x in values], places

    def addresses(self) -> tuple[int, int, int]:
        """Return the first three arguments of a run."""
        return address(self.inputs), address(self.outputs), address(self.workspace)


@dataclass(eq=False)
class Model:
    """A compiled model. Any number of threads may run it at the same time."""

    _library: Library
    _source: Source
    _context: Context
    inputs: tuple[TensorInfo, ...]
    """Names, element types and shapes of what goes in."""
    outputs: tuple[TensorInfo, ...]
    """Names, element types and shapes of what comes out."""
    dims: tuple[DimInfo, ...]
    """The symbolic dimensions in the shapes, with their ranges."""
    call: Callable[..., Any] = field(init=False, repr=False)
    """The model as a function of arrays in order; it returns an array, or a tuple if not one.

    This is the fastest way to call it with new arrays; fetch it again after a change of weights
    or threads.
    """
    _device: int = field(default=0, init=False, repr=False)
    """The number of the GPU, where the kernels run on one."""
    _mapped: Mapped | None = field(default=None, init=False, repr=False)
    """The file that the weights lie in, where they are mapped."""
    _frames: list[Frame] = field(default_factory=list, init=False, repr=False)
    _large: RecycledBytes = field(default_factory=RecycledBytes, init=False, repr=False)
    _plain: tuple[Context, Callable[..., Any]] | None = field(default=None, init=False, repr=False)
    _plans: dict[tuple[tuple[int, ...], ...], Plan] = field(
        default_factory=dict, init=False, repr=False
    )

    _calls: direct.Gates = field(default_factory=direct.Gates, init=False, repr=False)
    _bound: direct.Gates = field(default_factory=direct.Gates, init=False, repr=False)
    """What has those tell that were made before somebody listened."""

    def __post_init__(self) -> None:
        self._names = {info.name for info in self.inputs}
        self._demands = tuple(SizeDemand(**each) for each in self.manifest["demands"])
        WATCHED.add(self)

    @classmethod
    def load(
        cls,
        source: Source,
        threads: int = 1,
        weights: WeightsSource = None,
        device: int | None = None,
    ) -> Model:
        """Load a compiled model from a file, or from the bytes of one.

        `weights` are needed if they are not in the same file: the file they are in, the raw
        weights by name (if the model prepares its own), or prepared bytes. `device` is the number
        of the GPU for a model that runs on one.
        """
        library = Library.load(source)
        manifest = library.manifest
        if FUNCTIONS in manifest:
            text = "functions over one state, no model: gravure.load_functions takes them"
            raise ArtifactError(text, location=library.location)
        kept = bytes(source) if isinstance(source, bytes) else os.path.abspath(source)
        model = cls.of_library(library, kept, threads, device or 0)
        if weights is not None:
            model.set_weights(weights)
        elif manifest["weights"] == "file":
            raise ArtifactError(
                "the weights are in a file of their own",
                location=library.location,
                hint=Advice('load(..., weights="FILE")', "--weights-file FILE names it"),
            )
        if is_for_gpu(library):
            model._frames.append(model._new_frame())  # what is missing shows now
        elif device is not None:
            raise ArtifactError(
                f"the model runs on the processor, not on gpu:{device}",
                location=library.location,
                hint=Advice(
                    'compile it for a GPU: target="cuda:sm_90"',
                    "compile it for a GPU: --target cuda:sm_90",
                ),
            )
        return model

    @classmethod
    def of_library(cls, library: Library, source: Source, threads: int, device: int = 0) -> Model:
        """Return the model that a loaded library says that it is, still without weights."""
        manifest = library.manifest
        inputs, outputs = (
            tuple(tensor_of(each) for each in manifest[kind]) for kind in ("inputs", "outputs")
        )
        dims = tuple(DimInfo(each["name"], each["low"], each["high"]) for each in manifest["dims"])
        model = cls(library, source, Context.make(None, None), inputs, outputs, dims)
        model._device = device
        model._change(threads, None)
        return model

    def __repr__(self) -> str:
        arguments = ", ".join(f"{info.name}: {info}" for info in self.inputs)
        results = ", ".join(f"{info.name}: {info}" for info in self.outputs)
        return f"<Model {self._library.tag}({arguments}) -> ({results})>"

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What the model is and how it was made."""
        return self._library.manifest

    @property
    def workspace_bytes(self) -> int:
        """Return how much memory each run works in."""
        return int(self.manifest["workspace_bytes"])

    @property
    def threads(self) -> int:
        """How many threads share the work of a run; not more than it was compiled for."""
        pool = self._context.pool
        return 1 if pool is None else pool.threads

    @threads.setter
    def threads(self, threads: int) -> None:
        self._change(threads, self._context.weights)

    def __call__(self, *arrays: Any) -> Any:
        """Run the model on arrays in order; return an array, or a tuple if it is not one."""
        try:
            return self.call(*arrays)
        except MemoryError as error:
            raise told(error) from None

    def run(self, inputs: Inputs) -> list[Array]:
        """Run the model on inputs by name or in order, and return new arrays."""
        self._context.wake()
        if type(inputs) is dict and inputs.keys() == self._names:
            values = [inputs[info.name] for info in self.inputs]
        else:
            values = in_order(inputs, self.inputs)
        results = self.call(*values)
        return [results] if len(self.outputs) == 1 else list(results)

    def bind(
        self, inputs: Inputs, outputs: Inputs | None = None, *, release: bool | None = None
    ) -> Callable[[], list[Array]]:
        """Return a function that runs the model on these very arrays, whatever is in them then.

        Its results are in the arrays `outputs` (new ones if not given), in the list that it
        returns each time. It is for one thread at a time. `release` says whether other threads of
        Python may work meanwhile, which costs 0.1 us a call; if not said, small models keep them
        waiting.
        """
        context = self._open()
        arrays = _as_they_are(in_order(inputs, self.inputs), self.inputs, "argument")
        plan = self._plan(arrays)
        results = self._results(outputs, plan)
        for number, result in enumerate(results):
            if any(np.may_share_memory(result, other) for other in (*arrays, *results[:number])):
                raise RuntimeInputError(
                    f"output {self.outputs[number].name!r} overlaps another array of the call"
                )
        frame = self._new_frame()
        frame.fill(arrays, results, plan)
        addresses = (*frame.addresses(), context.address)
        keep = (self._library, context, frame, plan, arrays)
        function = self._library.address("python_again")
        if function is not None and direct.is_possible():
            release = self._is_long(context) if release is None else release
            how = plan, context, Lock()
            slow = direct.SlowWay(partial(self._bound_slowly, arrays, results, how), self._bound)
            again: Callable[[], list[Array]] = direct.call_again(
                function, addresses, results, slow, release=release, keep=keep
            )
            self._bound.shut(on=bool(EARS.everyone))
        else:
            again = partial(self._run_again, addresses, results, keep)
        return again if self._mapped is None else self._mapped.before(again)

    def set_weights(self, weights: WeightsSource) -> None:
        """Use other weights from the next run on: see `load` for what they can be."""
        self._open()
        mapped = None
        if isinstance(weights, Mapping):
            found = self._prepare(weights)
        elif isinstance(weights, str | os.PathLike):
            mapped = map_weights(os.fspath(weights), self._library.sealed.seal)
            found = mapped.weights
        elif isinstance(weights, Mapped):
            mapped, found = weights, self._given(weights.weights)
        else:
            found = self._given(weights)
        self._mapped = mapped
        self._change(self.threads, found)

    def check_weights(self) -> None:
        """Read all weights and compare them with the digest that the model was compiled with."""
        seal, location = self._library.sealed.seal, self._library.location
        weights = self._context.weights
        if weights is not None:
            pieces = (weights[at : at + PIECE] for at in range(0, weights.nbytes, PIECE))
            check_weights(pieces, seal, location)
        elif seal.has_weights and isinstance(self._source, bytes):
            check_weights([memoryview(self._source)[seal.weights_offset :]], seal, location)
        elif seal.has_weights:
            with open(self._source, "rb") as file:
                file.seek(seal.weights_offset)
                check_weights(iter(lambda: file.read(PIECE), b""), seal, location)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the artefact to `path`, which is replaced only when all is written."""
        with replacing(path, mode=0o755) as file:
            if isinstance(self._source, bytes):
                file.write(self._source)
                return
            with open(self._source, "rb") as source:
                shutil.copyfileobj(source, file, PIECE)

    def close(self) -> None:
        """Give back the memory; functions made by `bind` go on to work as long as they are kept."""
        self._frames.clear()
        self._plans.clear()
        self._context = _CLOSED
        self.call = _closed
        self._plain, self._large = None, RecycledBytes()

    def _open(self) -> Context:
        """Return the context of a run that begins now."""
        context = self._context
        if context is _CLOSED:
            _closed()
        context.wake()
        return context

    def _change(self, threads: int, weights: Array | None) -> None:
        """Make a new context; runs that are going on keep the old one."""
        check_threads(threads)
        threads = min(threads, int(self.manifest["threads"]))
        pool = None
        if threads > 1 and self._library.address("pool_init") is not None:
            pool = shared_pool(self._library, threads)
        self._context = Context.make(pool, weights)
        self._run = self._library.function("run", "ipppp")
        self._frames.clear()
        self._calls = direct.Gates()  # calls of before go on with what they have
        self.listen(on=bool(EARS.everyone))

    def listen(self, *, on: bool) -> None:
        """Let `call` tell who listens when it ran, or nobody."""
        if self._context is not _CLOSED:
            call = self._slow_call if on else self._plain_call()
            self.call = call if self._mapped is None else self._mapped.before(call)
            self._calls.shut(on=on)
        self._bound.shut(on=on)

    def _plain_call(self) -> Callable[..., Any]:
        """Return what nobody listens to; it is made once for a context, with its memory."""
        if self._plain is None or self._plain[0] is not self._context:
            self._plain = self._context, self._caller(self._slow_call)
        return self._plain[1]

    @property
    def recorder(self) -> Recorder | None:
        """Return what runs the model so that it notes its launches: None for a library."""
        return None

    def updating(self) -> Callable[..., Any]:
        """Return `call`, but for outputs that may lie over an input: they are written there.

        An array that cannot be used as it is is copied, and the copy is written and returned.
        """
        return self._caller(self._slow_update, update=True)

    def telling(self, *, update: bool) -> Callable[..., Any]:
        """Return `call` (`updating`, if it updates) for a call that somebody listens to."""
        return partial(self._slow_call, update=update)

    def _caller(self, slow: Callable[..., Any], *, update: bool = False) -> Callable[..., Any]:
        """Return a builtin that is called with arrays, or `slow` where there can be none."""
        context, function = self._context, self._library.address("python_call")
        if function is None or not direct.is_possible():
            return slow
        if not may_be_kept(self.workspace_bytes) or are_mapped(self.outputs):
            SHARED_ROOMS.take(self.workspace_bytes)  # what is missing shows now
            return slow
        workspace = aligned_bytes(self.workspace_bytes)
        outputs = [info if update else replace(info, over=None) for info in self.outputs]
        return direct.call_with_arrays(
            function,
            (self.inputs, outputs),
            (address(workspace), context.address),
            direct.SlowWay(slow, self._calls),
            release=self._is_long(context),
            keep=(self._library, context, workspace),
        )

    def _is_long(self, context: Context) -> bool:
        """Say whether a run may take long enough to let other threads of Python work."""
        return context.pool is not None or int(self.manifest["peak_bytes"]) > SHORT

    def _slow_update(self, *values: Any) -> Any:
        """Do what `updating` does for arguments that need a second look."""
        return self._slow_call(*values, update=True)

    def _slow_call(self, *values: Any, update: bool = False) -> Any:
        """Do what `call` does for arguments that need a second look."""
        context = self._open()
        arrays = self._taken(values)
        plan = self._plan(arrays)
        outputs = [
            arrays[info.over]
            if update and info.over is not None
            else self._large.array(shape, numpy_dtype(info.dtype))
            for shape, info in zip(plan.outputs, self.outputs, strict=True)
        ]
        self._run_on(arrays, outputs, plan, context)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def run_recycled(
        self, values: Sequence[Any], kept: RecycledBytes, inside: Sequence[bool]
    ) -> list[Array]:
        """Run on arrays in order; the results that `inside` marks lie in one block of memory."""
        context = self._open()
        arrays = self._taken(values)
        plan = self._plan(arrays)
        dtypes = [numpy_dtype(info.dtype) for info in self.outputs]
        outputs = kept.arrays([*zip(plan.outputs, dtypes, strict=True)], inside)
        self._run_on(arrays, outputs, plan, context)
        return outputs

    def _taken(self, values: Sequence[Any]) -> list[Array]:
        """Return arguments as arrays that code can work on."""
        rows = zip(in_order(values, self.inputs), self.inputs, strict=True)
        return [to_array(value, info) for value, info in rows]

    def _run_on(
        self, arrays: Sequence[Array], outputs: Sequence[Array], plan: Plan, context: Context
    ) -> None:
        """Run on arrays that fit; tell who listens."""
        if EARS.everyone:
            self._tell(arrays, outputs, plan, context)
            return
        frame = self._take_frame()
        try:
            frame.fill(arrays, outputs, plan)
            self._check(self._run(*frame.addresses(), context.address), frame.workspace)
        finally:
            if frame.is_kept:
                self._frames.append(frame)

    def _tell(
        self, arrays: Sequence[Array], outputs: Sequence[Array], plan: Plan, context: Context
    ) -> None:
        """Run, and tell who listens when; of the launches too, where the code notes them."""
        recorder, tag = self.recorder, self._library.tag
        frames = self._frames if recorder is None else recorder.frames
        frame: Frame = frames.pop() if frames else self._new_frame(recorder)
        frame.fill(arrays, outputs, plan)
        addresses = (*frame.addresses(), context.address)
        notes = None if recorder is None else recorder.begin(frame.workspace)
        start = perf_counter_ns()
        try:
            run = self._run if recorder is None else recorder.run
            self._check(run(*addresses), frame.workspace)
        finally:
            note("library", tag, start, threads=self.threads)
            if recorder is not None and notes is not None:
                tell(recorder.end(notes, start, plan.dims))
            if frame.is_kept:
                frames.append(frame)

    def _bound_slowly(
        self, arrays: Sequence[Array], results: list[Array], how: tuple[Plan, Context, LockType]
    ) -> list[Array]:
        """Do what a bound function does while somebody listens; else say why it failed."""
        plan, context, lock = how
        if EARS.everyone:
            if not lock.acquire(blocking=False):
                raise _busy()
            try:
                self._tell(arrays, results, plan, context)
            finally:
                lock.release()
            return results
        if REQUIRED in self.manifest:  # a value: elsewhere, for another thread may still be at it
            self._slow_call(*arrays)
        raise _busy()

    def _run_again(
        self, addresses: Sequence[int], results: list[Array], keep: Sequence[Any]
    ) -> list[Array]:
        """Do what a bound function does, where there is no builtin for it; nobody is told."""
        frame: Frame = keep[2]
        self._check(self._run(*addresses), frame.workspace)
        return results

    def _check(self, status: int, workspace: Array | None = None) -> None:
        """Raise the error that a status stands for; the workspace has what is said of values."""
        if not status:
            return
        wanted = self.manifest.get(REQUIRED)
        if wanted is not None and workspace is not None and status & 0xFF == REQUIREMENT:
            first = wanted["offset"]
            check(wanted["rows"], workspace[first : first + 8 * NUMBERS].view(np.int64))
        outside = self.manifest.get(OUTSIDE)
        if outside is not None and workspace is not None and status & 0xFF == REACHED:
            first = outside["offset"]
            _, place, access = workspace[first : first + 24].view(np.int64)
            told = f"{self._library.status(status)}: access {access} at element {place}"
            raise RuntimeInputError(told)
        raise RuntimeInputError(self._library.status(status))

    def _plan(self, arrays: Sequence[Array]) -> Plan:
        """Check the shapes of the inputs, and return what follows from them."""
        key = tuple(array.shape for array in arrays)
        plan = self._plans.get(key)
        if plan is None:
            values = bind_dims(arrays, self.inputs, self.dims)
            check_demands(self._demands, values)
            outputs = tuple(result_shape(info, values) for info in self.outputs)
            if len(self._plans) >= PLANS:
                self._plans.clear()
            plan = self._plans[key] = Plan.of(key, outputs, values)
        return plan

    def _results(self, outputs: Inputs | None, plan: Plan) -> list[Array]:
        """Return the arrays that a bound function writes to."""
        if outputs is None:
            return [
                aligned_array(shape, numpy_dtype(info.dtype))
                for shape, info in zip(plan.outputs, self.outputs, strict=True)
            ]
        values = in_order(outputs, self.outputs, "output")
        results = _as_they_are(values, self.outputs, "output")
        for array, shape, info in zip(results, plan.outputs, self.outputs, strict=True):
            if array.shape != shape or not array.flags.writeable:
                found = describe(array) if array.flags.writeable else "a read-only array"
                raise mismatch(found, TensorInfo(info.name, info.dtype, shape), "output")
        return results

    def _take_frame(self) -> Frame:
        try:
            return self._frames.pop()
        except IndexError:
            return self._new_frame()

    def _new_frame(self, recorder: Recorder | None = None) -> Frame:
        size = self.workspace_bytes if recorder is None else recorder.room
        on_gpu = is_for_gpu(self._library)
        is_kept = on_gpu or may_be_kept(size)
        workspace = aligned_bytes(size) if is_kept else SHARED_ROOMS.take(size)
        if on_gpu:
            create_on_gpu(self._library, workspace, self._context.address, self._device)
        tables = direct.tensor_table(self.inputs), direct.tensor_table(self.outputs)
        return Frame(workspace, *tables, is_kept)

    def _given(self, weights: Any) -> Array:
        """Return prepared weights at a place that code can use."""
        found = np.frombuffer(weights, np.uint8)
        wanted = int(self.manifest["weights_bytes"])
        if found.nbytes != wanted:
            raise ArtifactError(f"weights of {found.nbytes} bytes, expected {wanted}")
        if address(found) % 64 == 0:
            return found
        copy = aligned_bytes(wanted)
        copy[:] = found
        return copy

    def _prepare(self, raw: Mapping[str, Any]) -> Array:
        """Compute the weights from the raw ones."""
        infos = raw_infos(self.manifest)
        if not infos:
            raise ArtifactError(
                "the model prepares no weights of its own", location=self._library.location
            )
        _refuse_unknown(raw, infos)
        arrays = [
            to_array(value, info, "weight")
            for value, info in zip(in_order(raw, infos, "weight"), infos, strict=True)
        ]
        for array, info in zip(arrays, infos, strict=True):
            if array.shape != info.shape:
                raise mismatch(describe(array), info, "weight")
        weights = aligned_bytes(int(self.manifest["weights_bytes"]))
        workspace = aligned_bytes(int(self.manifest["prepare_bytes"]))
        addresses = np.array([address(array) for array in arrays], np.int64)
        prepare = self._library.function("prepare", "ipppp")
        places = (address(addresses), address(weights), address(workspace))
        self._check(prepare(*places, self._context.address))
        return weights


def _refuse_unknown(raw: Mapping[str, Any], infos: Sequence[TensorInfo]) -> None:
    names = dict.fromkeys(info.name for info in infos)
    unknown = [name for name in raw if name not in names]
    if unknown:
        raise RuntimeInputError(
            f"unknown weight {', '.join(map(repr, unknown))}: expected "
            f"{', '.join(map(repr, names))}",
            hint=Advice(
                "small tensors are part of the code; compile(..., settable=[NAMES]) keeps them",
                "small tensors are part of the code",
            ),
        )


def tensor_of(described: Mapping[str, Any]) -> TensorInfo:
    """Return what a manifest says of an argument or a result."""
    shape, within = (tuple(described.get(name, ())) for name in ("shape", "within"))
    return TensorInfo(described["name"], described["dtype"], shape, described.get("over"), within)


def raw_infos(manifest: Mapping[str, Any]) -> list[TensorInfo]:
    """Return the weights that a model takes as they are given, in their order."""
    rows = [RawWeights(tuple(r["names"]), r["dtype"], tuple(r["shape"])) for r in manifest["raw"]]
    return [info for each in rows for info in each.infos()]


def _as_they_are(values: Sequence[Any], infos: Sequence[TensorInfo], kind: str) -> list[Array]:
    """Return values that are arrays which code can work on without a copy."""
    arrays = []
    for value, info in zip(values, infos, strict=True):
        is_array = isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray)
        if not is_array or value.dtype != numpy_dtype(info.dtype):
            raise mismatch(describe(value), info, kind)
        if not is_plain(value):
            raise RuntimeInputError(
                f"{kind} {info.name!r}: an array that would have to be copied cannot be bound",
                hint="numpy.ascontiguousarray makes it usable",
            )
        arrays.append(value)
    return arrays


def _closed(*arrays: object) -> Any:
    raise ArtifactError("the model is closed")


def _busy() -> RuntimeInputError:
    return RuntimeInputError("this call is already running in another thread")


_CLOSED = Context.make(None, None)
