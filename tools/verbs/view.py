"""A page that shows a model in a browser: graph, passes, kernels, memory, weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from ... import __version__
from ...codegen.compiled import Compiled, OptionFields, Options
from ...codegen.work import launches_of
from ...frontend.models.compiled import compile_if_whole, load_compiled
from ...frontend.programs.compile import options_with
from ...frontend.programs.load import load_program
from ...ir import Program
from ...ir.host import host_steps
from ...passes.analysis.cost import total
from ...passes.analysis.memory.chart import memory_map
from ...runtime.arguments import bind_dims
from ...runtime.files import replacing
from ..console import in_bytes, in_count
from ..errors import UsageError
from ..inputs import Inputs, given_shapes, make_inputs
from ..measuring.layers import measure_layers
from ..options import is_library
from ..talk import FilePath, Progress, Source, name_of, silent
from ..viewing.histograms import weights_of
from ..viewing.page import page
from ..viewing.snapshots import Snapshots, arguments_of

if TYPE_CHECKING:
    from ...frontend.dims.symbols import DimOption, ShapeOption


@dataclass(frozen=True)
class View:
    """What a page shows, and the file that it is in."""

    path: str
    data: Mapping[str, Any]

    def __str__(self) -> str:
        steps, kernels = len(self.data["steps"]), len(self.data["kernels"])
        return f"{self.path}: {steps - 1} passes, {kernels} launches"

    def as_json(self) -> dict[str, Any]:
        """Return what the page shows as plain data."""
        return {"schema": "gravure.view/1", "path": self.path, **self.data}


def view(  # noqa: PLR0913  (each option is its own)
    source: Source,
    path: FilePath,
    inputs: Inputs = None,
    *,
    threads: int = 1,
    measure: bool = True,
    seconds: float = 0.5,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    options: Options | None = None,
    progress: Progress = silent,
    **more: Unpack[OptionFields],
) -> View:
    """Write a page that shows a model in a browser, without any network: one file.

    It has the graph by the scopes of its nodes' names, the program behind each pass with what that
    changed, the kernels with their times, the workspace over time, and the weights' histograms.

    - `source`: a model (ONNX, graph text, IR text, `file.py:function`), or its bytes.
    - `path`: the file to write.
    - `inputs`, `threads`: what it is measured on, as for `gravure.bench`; `measure=False` runs
      nothing; `seconds`: how long it is measured.
    - `shapes`, `dims`, `options` and further keywords: as for `gravure.compile`.
    - `progress`: is told what goes on.

    >>> import gravure as gv, tempfile
    >>> text = b"model m(x: f32[2, 3]) -> (y) { y = relu(exp(x)) }"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = gv.view(text, f"{folder}/m.html", measure=False)
    >>> [row["operations"] for row in found.data["kernels"]]
    [['exp', 'relu']]
    """
    own = ("path", "inputs", "threads", "measure", "seconds", "shapes", "dims", "options",
           "progress")  # fmt: skip
    made = options_with("view", options, more, threads=threads, own=own)
    if is_library(source):
        raise UsageError("a page needs the model, not a library")
    shapes = {**given_shapes(inputs), **(shapes or {})}
    with progress(f"compiling {name_of(source)}"):
        program = load_program(source, shapes=shapes, dims=dims)
        data = _read(program, name_of(source))
        snapshots = Snapshots()
        compiled = compile_if_whole(program, made, [snapshots])
        if isinstance(compiled, Program):
            snapshots.start(compiled)
            named = ", ".join(map(str, host_steps(compiled)))
            data["why"] = f"it is not compiled as a whole, because of its host steps: {named}"
    data["steps"] = [each.as_json() for each in snapshots.taken]
    if isinstance(compiled, Compiled):
        with progress("measuring" if measure else "looking"):
            data |= _compiled(compiled, inputs, threads, seconds if measure else 0.0)
    name = Path(name_of(source)).name
    text = page(f"{name}: gravure", {**data, "title": name}, "view.js")
    with replacing(Path(path)) as file:
        file.write(text.encode())
    return View(str(path), data)


def _read(program: Program, name: str) -> dict[str, Any]:
    """Return what a program says before it is compiled."""
    weights = weights_of(program.weights)
    learned = sum(array.size for array in program.weights.values() if array.dtype.kind == "f")
    overview = [
        ["file", Path(name).name],
        ["level", program.level],
        ["weights", f"{len(weights)}, {in_count(learned)} floating-point numbers"],
        ["of bytes", in_bytes(sum(row["bytes"] for row in weights))],
        ["dimensions", ", ".join(f"{n} = {a}..{b or ''}" for n, (a, b) in program.ranges.items())],
        ["gravure", __version__],
    ]
    return {
        "overview": [row for row in overview if row[1]],
        "arguments": arguments_of(program),
        "weights": weights,
        "kernels": [],
        "memory": None,
    }


def _compiled(compiled: Compiled, inputs: Inputs, threads: int, seconds: float) -> dict[str, Any]:
    """Return kernels and memory, measured if there are seconds for that."""
    program, found = compiled.program, dict[str, Any]()
    assert program is not None, "what is compiled now has its program"
    model = load_compiled(compiled, threads)
    arrays = make_inputs(inputs, model.inputs, model.dims)
    sizes = bind_dims(list(arrays.values()), model.inputs, model.dims)
    infos = launches_of(program, sizes)
    found["kernels"] = [info.as_json() for info in infos]
    found["threads"] = model.threads
    if seconds and infos:
        layers = measure_layers(compiled, arrays, sizes, model.threads, seconds)
        found["kernels"] = layers.rows()
    found["memory"] = memory_map(program.main, sizes)
    cost = total(info.cost for info in infos)
    found["sizes"], found["flops"] = sizes, cost.flops
    return found
