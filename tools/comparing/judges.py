"""Others that can say what a model's results should be: the interpreter, onnxruntime, a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import Advice
from ...frontend.dims.symbols import DimOption, ShapeOption
from ...runtime.compare import Difference, Tolerance, compare
from ..errors import NotInstalledError, UsageError
from ..given import readable
from ..inputs import read_arrays
from ..options import is_library

if TYPE_CHECKING:
    from ...runtime.buffer import Array
    from ...runtime.model import Model

DEFAULTS: Mapping[str, Tolerance] = {
    "f64": Tolerance(1e-9, 1e-11),
    "f32": Tolerance(1e-4, 1e-5),
    "f16": Tolerance(1e-2, 1e-3),
    "bf16": Tolerance(5e-2, 1e-2),
    "c64": Tolerance(1e-4, 1e-5),
    "c128": Tolerance(1e-9, 1e-11),
}
"""What may differ if nothing is said; the absolute part is relative to the largest element."""


class Task:
    """A model with the inputs that it was run on."""

    def __init__(
        self,
        source: str | bytes,
        inputs: Mapping[str, Array],
        outputs: Sequence[str],
        shapes: Mapping[str, ShapeOption] | None = None,
        dims: Mapping[str, DimOption] | None = None,
    ) -> None:
        self.source, self.inputs, self.outputs = source, inputs, outputs
        self.shapes, self.dims = shapes, dims

    @property
    def path(self) -> str:
        """Return the model's file."""
        if isinstance(self.source, bytes):
            raise UsageError("this needs the model as a file")
        return self.source


def judgement(name: str, task: Task) -> dict[str, Array]:
    """Return the results that one of `JUDGES`, a file of results, or another model gives."""
    judge = JUDGES.get(name)
    if judge is not None:
        return judge(task)
    readable(name)
    if name.endswith((".npz", ".safetensors")):
        return read_arrays(name)
    return by_gravure(name, task)


def by_interpreter(task: Task) -> dict[str, Array]:
    """Run the model, as it was read, on the reference interpreter."""
    from ...frontend.programs.load import load_program
    from ...ir import interpret
    from ...ir.interpret.planned import interpret_planned

    if is_library(task.source):
        raise UsageError("a library has no program left that could be interpreted")
    program = load_program(task.source, shapes=task.shapes, dims=task.dims)
    arrays = list(task.inputs.values())
    on_memory = program.level in ("planned", "loops")
    results = interpret_planned(program, arrays) if on_memory else interpret(program, arrays)
    return dict(zip(task.outputs, results, strict=True))


INSTEAD = Advice(
    'pip install onnxruntime, or vs="interp"', "pip install onnxruntime, or --vs=interp"
)


def by_onnxruntime(task: Task) -> dict[str, Array]:
    """Run the model by onnxruntime."""
    if is_library(task.source):
        raise UsageError("onnxruntime runs models, not what they were compiled to")
    if find_spec("onnxruntime") is None:
        raise NotInstalledError("onnxruntime is not installed", hint=INSTEAD)
    runtime: Any = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    try:
        session = runtime.InferenceSession(task.path, options, providers=["CPUExecutionProvider"])
        results = session.run(list(task.outputs), dict(task.inputs))
    except UsageError:
        raise
    except Exception as error:  # whatever it raises is about the model
        raise NotInstalledError(f"onnxruntime cannot run the model: {error}") from error
    return {n: np.asarray(r) for n, r in zip(task.outputs, results, strict=True)}


def by_gravure(path: str, task: Task) -> dict[str, Array]:
    """Run another model, or the same compiled in another way."""
    from ...frontend.programs.compile import compile, load  # noqa: A004  (they are called that)

    model = load(path) if is_library(path) else compile(path, shapes=task.shapes, dims=task.dims)
    results = model.run(list(task.inputs.values()))
    return {info.name: r for info, r in zip(model.outputs, results, strict=True)}


JUDGES: Mapping[str, Callable[[Task], dict[str, Array]]] = {
    "interp": by_interpreter,
    "ort": by_onnxruntime,
}


@dataclass(frozen=True)
class Tolerances:
    """What the user says may differ; None for what the element type allows."""

    relative: float | None = None
    absolute: float | None = None
    ulps: int = 0

    @classmethod
    def of(cls, rtol: float | None, atol: float | None, ulp: int | None) -> Tolerances:
        """Return what was asked for; ulps that are asked for alone are all that may differ."""
        if ulp is None:
            return cls(rtol, atol)
        return cls(rtol or 0.0, atol or 0.0, ulp)


def differences(
    model: Model, found: Mapping[str, Array], wanted: Mapping[str, Array], asked: Tolerances
) -> dict[str, Difference]:
    """Return how each output differs from what is wanted."""
    missing = [name for name in found if name not in wanted]
    if len(missing) == len(found) == len(wanted):  # other names for the same: by order
        wanted = dict(zip(found, wanted.values(), strict=True))
    elif missing:
        raise UsageError(f"there is no {missing[0]!r} to compare with, only {[*wanted]}")
    types = {info.name: info.dtype for info in model.outputs}
    return {
        name: compare(array, wanted[name], _tolerance(wanted[name], types[name], asked))
        for name, array in found.items()
    }


def _tolerance(wanted: Array, dtype: str, asked: Tolerances) -> Tolerance:
    """Return what may differ of a result: what was asked for, or what its type allows."""
    default = DEFAULTS.get(dtype, Tolerance(0.0, 0.0))
    relative, absolute = asked.relative, asked.absolute
    if absolute is None:
        wide = np.abs(wanted.astype(np.complex128 if dtype[0] == "c" else np.float64))
        finite = wide[np.isfinite(wide)]
        absolute = default.absolute * max(float(finite.max()) if finite.size else 0.0, 1.0)
    return Tolerance(default.relative if relative is None else relative, absolute, asked.ulps)
