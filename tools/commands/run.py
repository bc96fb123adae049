"""Run a model, compiled now or before, and look at its results or compare them.

    gravure run model.onnx                                # on random inputs
    gravure run model.so -i image=@cat.npy -o out.npz --threads 4
    gravure run model.onnx -i x=3x8xf32:ones --vs interp --vs ort
    gravure run model.onnx -i @inputs.npz --vs expected.npz --rtol 1e-3
    gravure run model.onnx --vs ort --outputs all         # names the first tensor that differs
    gravure run model.onnx --check-numerics               # names the first node that gives a NaN
    gravure run model.onnx --trace t.json                 # for Perfetto; see gravure profile
    gravure run --onnx-test FOLDER                        # test folders of the onnx package

An input is @FILE.npz, NAME=@FILE.npy, NAME=2x3xf32, with :ones, :zeros, :iota, :random:SEED or a
number behind it, or one of these for all inputs. --vs compares with the reference interpreter
(interp), onnxruntime (ort), results in a file (.npz), or another model; exit status 1 says that
they differ. Results are found by name, or by order if all have other names. An element is close if
|found - wanted| <= atol + rtol * |wanted|, or within --ulp representable numbers; --ulp alone is
all that may differ: --ulp 0 asks for equal numbers. --outputs all compiles the model once more so
that it gives every tensor inside, compares these too, and keeps them with -o. Dimensions that
follow from the inputs that are given need no --dim. Running a library runs the code in it: run only
what you trust. A test folder holds model.onnx and sets of inputs with results; a folder of such
folders runs them all, and exit status 1 says that one is not right.
"""

from __future__ import annotations

import argparse
from contextlib import nullcontext

from ..console import Console
from ..given import amount, natural
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

NAME = "run"


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
        "--outputs", choices=("all",), default="", help="compare every tensor inside as well"
    )
    parser.add_argument(
        "--device", metavar="NAME", help="where a model for GPUs runs: gpu:0, or emulated"
    )
    parser.add_argument(
        "--trace", metavar="FILE", help="note what goes on, for Perfetto (gravure profile)"
    )
    parser.add_argument("--rtol", type=amount, metavar="X", help="relative tolerance")
    parser.add_argument("--atol", type=amount, metavar="X", help="absolute tolerance")
    parser.add_argument("--ulp", type=natural, metavar="N", help="tolerance in ulps")
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
    from ..inputs import save_arrays
    from ..verbs.profile import profile
    from ..verbs.run import check_numerics, run

    if args.onnx_test:
        return run_tests(args)
    outputs = [output_of(name, args.model) for name in (args.output, args.save_inputs)]
    source, threads = source_of(args.model), args.threads or 1
    console: Console = args.console
    shapes, dims = shapes_of(args), dims_of(args)
    if args.check_numerics:
        checked = check_numerics(
            source, args.input, shapes=shapes, dims=dims, progress=console.progress
        )
        console.show(checked)
        return int(not checked)
    traced = nullcontext() if args.trace is None else profile(output_of(args.trace, args.model))
    with traced:
        found = run(
            source, args.input, against=args.vs, rtol=args.rtol, atol=args.atol, ulp=args.ulp,
            outputs=args.outputs, threads=threads, device=args.device, shapes=shapes, dims=dims,
            weights=args.weights_file, progress=console.progress,
            options=None if is_library(source) else options_of(args, slots=threads),
        )  # fmt: skip
    results = {**(found.tensors.values if found.tensors else {}), **found.outputs}
    for path, arrays in zip(outputs, (results, found.inputs), strict=True):
        if path is not None:
            save_arrays(path, arrays)
    console.show(found)
    if found.is_close and found.absent:
        raise found.absent[0]
    return int(not found.is_close)


def run_tests(args: argparse.Namespace) -> int:
    """Run the test folders of the onnx package."""
    from ..verbs.run import run_onnx_tests

    console: Console = args.console
    found = run_onnx_tests(
        args.model, rtol=args.rtol, atol=args.atol, ulp=args.ulp or 0, progress=console.progress
    )
    console.show(found)
    return int(not found)
