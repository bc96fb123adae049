"""Run a model, compiled now or before, and look at its results or compare them.

    gravure run model.onnx                                # on random inputs
    gravure run model.so -i image=@cat.npy -o out.npz --threads 4
    gravure run model.onnx -i x=3x8xf32:ones --vs interp --vs ort
    gravure run model.onnx -i @inputs.npz --vs expected.npz --rtol 1e-3
    gravure run model.onnx --check-numerics               # names the first node that gives a NaN
    gravure run --onnx-test FOLDER                        # test folders of the onnx package

An input is @FILE.npz, NAME=@FILE.npy, NAME=2x3xf32, with :ones, :zeros, :iota, :random:SEED or a
number behind it, or one of these for all inputs. --vs compares with the reference interpreter
(interp), onnxruntime (ort), results in a file (.npz), or another model; exit status 1 says that
they differ. Results are found by name, or by order if all have other names. An element is close if
|found - wanted| <= atol + rtol * |wanted|, or within --ulp representable numbers. Running a library
runs the code in it: run only what you trust. A test folder holds model.onnx and sets of inputs with
results; a folder of such folders runs them all, and exit status 1 says that one is not right.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..console import Console, table
from ..errors import UsageError
from ..options import (
    add_compile,
    add_model,
    dims_of,
    is_library,
    options_of,
    output_of,
    shapes_of,
    source_of,
)

if TYPE_CHECKING:
    from ...runtime.buffer import Array
    from ...runtime.compare import Difference
    from ...runtime.model import Model

NAME = "run"
SHOWN = 6
"""How many elements of a result are shown."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_model(parser, "model or library: ONNX, .so, graph text (.gv)")
    add_inputs(parser)
    parser.add_argument("-o", "--output", metavar="FILE.npz", help="keep the results")
    parser.add_argument("--save-inputs", metavar="FILE.npz", help="keep the inputs")
    parser.add_argument(
        "--vs", action="append", default=[], metavar="WHAT", help="interp, ort, .npz or a model"
    )
    parser.add_argument(
        "--device", metavar="NAME", help="where a model for GPUs runs: gpu:0, or emulated"
    )
    parser.add_argument("--rtol", type=float, metavar="X", help="relative tolerance")
    parser.add_argument("--atol", type=float, metavar="X", help="absolute tolerance")
    parser.add_argument("--ulp", type=int, default=0, metavar="N", help="tolerance in ulps")
    parser.add_argument(
        "--check-numerics", action="store_true", help="find what first gives NaN or infinity"
    )
    parser.add_argument(
        "--onnx-test", action="store_true", help="MODEL is a folder with the onnx package's tests"
    )
    add_compile(parser)


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Add what a model is run on."""
    parser.add_argument(
        "-i", "--input", action="append", default=[], metavar="SPEC", help="an input, or all"
    )
    parser.add_argument(
        "--weights-file", metavar="FILE", help="weights of a library that has them not"
    )


def run(args: argparse.Namespace) -> int:
    """Run, and compare if asked to."""
    from ..inputs import make_inputs, save_arrays
    from ..judges import Task, judgement

    if args.onnx_test:
        return run_tests(args)
    outputs = [output_of(name, args.model) for name in (args.output, args.save_inputs)]
    source = source_of(args.model)
    console: Console = args.console
    with console.progress(f"compiling {args.model}"):
        model = model_of(args, source)
    sizes = sizes_of(args) if is_library(source) else {}
    inputs = make_inputs(args.input, model.inputs, model.dims, sizes)
    with console.progress("running"):
        results = model.run(inputs)
    found = {info.name: r for info, r in zip(model.outputs, results, strict=True)}
    for path, arrays in zip(outputs, (found, inputs), strict=True):
        if path is not None:
            save_arrays(path, arrays)
    rows = compiled_from(args, source)
    task = Task(source, inputs, list(found), rows[0], rows[1])
    if args.check_numerics:
        return check_numerics(task, console)
    verdicts: dict[str, dict[str, Difference]] = {}
    for judge in args.vs:
        with console.progress(f"running {judge}"):
            wanted = judgement(judge, task)
        verdicts[judge] = differences(args, model, found, wanted)
    console.result(text_of(found, verdicts), data_of(found, verdicts))
    return int(any(not d.is_close for rows in verdicts.values() for d in rows.values()))


def run_tests(args: argparse.Namespace) -> int:
    """Run the test folders of the onnx package."""
    from ...runtime.compare import Tolerance
    from ..onnx_tests import TOLERANCE, data_of, run_folder, text_of

    console: Console = args.console
    tolerance = Tolerance(
        TOLERANCE.relative if args.rtol is None else args.rtol,
        TOLERANCE.absolute if args.atol is None else args.atol,
        args.ulp,
    )
    with console.progress(f"testing {args.model}"):
        verdicts = list(run_folder(args.model, tolerance))
    console.result(text_of(verdicts), data_of(verdicts))
    return int(any(verdict.status != "ok" for verdict in verdicts))


def model_of(args: argparse.Namespace, source: str | bytes) -> Model:
    """Return the model, loaded or compiled."""
    from ...frontend.compile import compile_model, load

    threads = args.threads or 1
    if is_library(source):
        return load(source, threads=threads, weights=args.weights_file, device=args.device)
    options = options_of(args, slots=threads)
    return compile_model(
        source,
        options,
        threads,
        device=args.device,
        shapes=shapes_of(args),
        dims=dims_of(args),
    )


def compiled_from(args: argparse.Namespace, source: str | bytes) -> tuple[Any, Any]:
    """Return the shapes and dimensions that a model was compiled with; none for a library."""
    return (None, None) if is_library(source) else (shapes_of(args), dims_of(args))


def sizes_of(args: argparse.Namespace) -> dict[str, int]:
    """Return the values that dimensions of a library shall have."""
    found: dict[str, int] = {}
    for name, value in (dims_of(args) or {}).items():
        if not isinstance(value, int):
            raise UsageError(f"--dim {name}: a library has its bounds already, expected a number")
        found[name] = value
    return found


def differences(
    args: argparse.Namespace, model: Model, found: dict[str, Array], wanted: dict[str, Array]
) -> dict[str, Difference]:
    """Return how each output differs from what is wanted."""
    from ...runtime.compare import compare
    from ..judges import tolerance

    missing = [name for name in found if name not in wanted]
    if len(missing) == len(found) == len(wanted):  # other names for the same: by order
        wanted = dict(zip(found, wanted.values(), strict=True))
    elif missing:
        raise UsageError(f"there is no {missing[0]!r} to compare with, only {[*wanted]}")
    types = {info.name: info.dtype for info in model.outputs}
    return {
        name: compare(
            array,
            wanted[name],
            tolerance(wanted[name], types[name], args.rtol, args.atol, args.ulp),
        )
        for name, array in found.items()
    }


def check_numerics(task: Any, console: Console) -> int:
    """Find the first operation that gives numbers which are not finite."""
    from ...frontend.load import load_program
    from ...passes.analysis.finite import first_not_finite

    if is_library(task.source):
        raise UsageError("--check-numerics needs the model, not a library")
    program = load_program(task.source, shapes=task.shapes, dims=task.dims)
    if program.level not in ("graph", "fused"):
        raise UsageError(f"--check-numerics works on graphs, this is on level {program.level}")
    with console.progress("interpreting"):
        wrong = first_not_finite(program, list(task.inputs.values()))
    data = {"schema": "gravure.numerics/1", "first": None if wrong is None else vars(wrong)}
    console.result("every number is finite" if wrong is None else str(wrong), data)
    return 0 if wrong is None else 1


def text_of(found: dict[str, Array], verdicts: dict[str, dict[str, Difference]]) -> str:
    """Return results and comparisons as tables."""
    parts = [table([[f"{name}:", *_look(array)] for name, array in found.items()])]
    for judge, rows in verdicts.items():
        lines = [["", f"against {judge}", "max abs", "max rel", "max ulp", "wrong"]]
        for name, each in rows.items():
            word = "ok" if each.is_close else "FAIL"
            lines.append([word, name, *_numbers(each)])
        parts.append(table(lines, right="2345"))
        for name, each in rows.items():
            if not each.is_close:
                parts.append(_worst(name, each))
    return "\n".join(parts)


def _numbers(each: Difference) -> list[str]:
    ulps = "-" if each.ulps < 0 else str(each.ulps)
    return [f"{each.absolute:.3g}", f"{each.relative:.3g}", ulps, f"{each.wrong} of {each.size}"]


def _worst(name: str, each: Difference) -> str:
    if each.reason:
        return f"{name}: {each.reason}"
    place = ", ".join(map(str, each.worst or ()))
    return f"{name}[{place}] is {each.found}, expected {each.wanted}"


def _look(array: Any) -> list[str]:
    """Return type, range and first elements of a result."""
    import numpy as np

    if array is None or isinstance(array, list):
        inner = "; ".join(_look(each)[0] for each in array[:SHOWN]) if array else ""
        return ["nothing" if array is None else f"{len(array)} values", "", inner]
    kind = f"{array.dtype}[{', '.join(map(str, array.shape))}]"
    if not array.size:
        return [kind, "", ""]
    first = ", ".join(str(x) for x in array.reshape(-1)[:SHOWN])
    more = ", ..." if array.size > SHOWN else ""
    if array.dtype.kind in "cO":
        return [kind, "", f"{first}{more}"]
    wide = array.astype(np.float64)
    return [kind, f"{wide.min():.5g} to {wide.max():.5g}, mean {wide.mean():.5g}", first + more]


def _described(value: Any) -> dict[str, Any]:
    if value is None or isinstance(value, list):
        return {"values": None if value is None else [_described(each) for each in value]}
    return {"dtype": str(value.dtype), "shape": list(value.shape)}


def data_of(found: dict[str, Array], verdicts: dict[str, dict[str, Difference]]) -> dict[str, Any]:
    """Return results and comparisons as plain data."""
    outputs = [{"name": name, **_described(value)} for name, value in found.items()]
    compared = {
        judge: {name: each.as_json() for name, each in rows.items()}
        for judge, rows in verdicts.items()
    }
    return {"schema": "gravure.run/1", "outputs": outputs, "compared": compared}
