"""Find what a function's Python does once, while it is traced, and not in each run."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import StagingWarning
from ...frontend.eager.tensor import as_tensor
from ...frontend.function.arguments import spec_for
from ...frontend.function.effects import RETRACES, Effect, retraces
from ...frontend.programs.load import named_function
from ...frontend.programs.python_files import declared_arguments, function_of
from ...frontend.values import nest
from ...runtime.artifact import TensorInfo
from ..errors import UsageError
from ..inputs import Inputs, given_shapes, make_inputs
from ..talk import Progress, silent

if TYPE_CHECKING:
    from ...frontend.dims.symbols import ShapeOption
    from ...frontend.function.function import Function

SIZES = (3, 5)
"""What sizes that are open are in the first call, and in the second."""


@dataclass(frozen=True)
class Linted:
    """What was found; true if it is nothing."""

    effects: tuple[Effect, ...]
    traces: int
    """How often the function was traced, over two calls of other sizes."""

    def __bool__(self) -> bool:
        return not self.effects

    def __str__(self) -> str:
        if not self.effects:
            return "what its Python does, it does in each run"
        rows = [f"{each.line}: {each.message}\n    {each.mending}" for each in self.effects]
        return "\n".join(rows)

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "schema": "gravure.lint/1",
            "traces": self.traces,
            "effects": [vars(each) for each in self.effects],
        }


def lint(
    source: str,
    inputs: Inputs = None,
    *,
    shapes: Mapping[str, ShapeOption] | None = None,
    progress: Progress = silent,
) -> Linted:
    r"""Return what a function does while it is traced, and would do in each call of its Python.

    The function is traced, run and compared with its Python, twice where sizes are open. Found are
    random numbers of Python and numpy, clocks, files, prints, objects that change (globals, lists,
    arguments, attributes), tensors of the trace that are kept, results that differ, and functions
    that the file traces over and over.

    - `source`: `file.py:function`; the file is run, as if it was imported.
    - `inputs`: as for `gravure.run`; `shapes`: of arguments that no signature declares.
    - `progress`: is told what goes on.

    >>> import gravure as gv
    >>> from pathlib import Path
    >>> _ = Path("drawn.py").write_text(
    ...     "import numpy as np\ndef noise(x):\n    return x + np.random.normal()\n"
    ... )
    >>> found = gv.lint("drawn.py:noise", shapes={"x": (2, 3)})
    >>> [(each.kind, each.line) for each in found.effects]
    [('random', 'drawn.py:3')]
    """
    named = named_function(source)
    if named is None:
        raise UsageError(f"{source!r} is no function, expected file.py:function")
    file, name = named
    where = f"{Path(file).name}:{name}"
    with progress(f"running {file}"), redirect_stdout(sys.stderr):
        function = function_of(file, name, where)
    specs: Sequence[object] | None = function.input_signature
    if specs is None:
        specs = declared_arguments(function, {**given_shapes(inputs), **(shapes or {})}, where)
    checked = type(function)(
        function.python_function,
        input_signature=function.input_signature,
        reduce_retracing=function.reduce_retracing,
        autograph=function.autograph,
        features=function.features,
        check=True,
    )
    told = redirect_stdout(sys.stderr)
    with warnings.catch_warnings(), progress(f"tracing {name}"), told:
        warnings.simplefilter("ignore", StagingWarning)
        for size in SIZES:
            checked(*arguments(function, specs, inputs, size))
    often = retraces(name, function.reasons[:RETRACES])
    return Linted((*checked.effects, *often), checked.traced)


def arguments(
    function: Function, specs: Sequence[object], inputs: Inputs, size: int
) -> tuple[Any, ...]:
    """Return tensors for specs; those that are given, and others of this size where it is open."""
    known, names = given_shapes(inputs), [*function.signature.parameters]
    labels = [f"{names[i]}_{n}" if n else names[i]
              for i, each in enumerate(specs) for n in range(len(nest.flatten(each)))]  # fmt: skip
    infos = []
    for label, each in zip(labels, nest.flatten(list(specs)), strict=True):
        spec = spec_for(each)
        if spec is None or spec.shape is None:
            raise UsageError(f"argument {label!r} is {each!r}, expected a tensor of a known rank")
        shape = known.get(label) or [d if isinstance(d, int) else size for d in spec.shape]
        infos.append(TensorInfo(label, spec.dtype.name, tuple(map(int, shape))))
    made = iter(make_inputs(inputs, infos, ()).values())
    packed = nest.map_structure(lambda _: as_tensor(next(made)), list(specs))
    return tuple(packed)
