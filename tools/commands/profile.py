"""Note what goes on while a program or a model runs: a trace, a table, the chain it waited for.

    gravure profile train.py -o t.json --args "--epochs 2"
    gravure profile model.onnx --runs 20 -o t.json        # a model, run on random inputs
    gravure profile model.onnx --threads 4 --critical-path
    gravure profile train.py --tensorboard logs           # then: tensorboard --logdir logs

The file is for Perfetto (ui.perfetto.dev) and chrome://tracing: lanes for threads, launches,
queues, streams of GPUs and messages. --critical-path names the chain of slices, and of waits in
between, whose lengths sum to the whole time. --args is what a program is given, as a shell
parts it. In Python: with gravure.profile("t.json").
"""

from __future__ import annotations

import argparse
import runpy
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from ...codegen.compiled import Options
from ...errors import GravureError
from ..console import Console
from ..errors import UsageError
from ..given import positive, readable
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
from .run import add_inputs

NAME = "profile"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_model(parser, "a Python program (.py), or a model: ONNX, .so, graph text (.gv)")
    parser.add_argument("--args", default="", metavar="TEXT", help="what a program is given")
    add_inputs(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="keep the trace, as JSON")
    parser.add_argument(
        "--tensorboard", metavar="DIR", help="keep it for TensorBoard's plug-in profile"
    )
    parser.add_argument("--runs", type=positive, default=10, metavar="N", help="of a model (10)")
    parser.add_argument(
        "--critical-path", action="store_true", help="what the whole time consists of"
    )
    parser.add_argument(
        "--no-limits", action="store_true", help="do not measure what the machine can do"
    )
    add_compile(parser)


def run(args: argparse.Namespace) -> int:
    """Run, and say what went on."""
    from ..verbs.profile import profile

    console: Console = args.console
    output = output_of(args.output, args.model)
    is_program = args.model.endswith(".py")
    if args.args and not is_program:
        raise UsageError(f"--args {args.args!r}: {args.model} is no program")
    again = None if is_program else calls(args)
    with profile(output, limits=not args.no_limits) as found:
        if again is None:
            run_program(args.model, shlex.split(args.args))
        else:
            for _ in range(args.runs):
                again()
    if args.tensorboard is not None:
        found.save_tensorboard(args.tensorboard)
    console.result(found.text(chain=args.critical_path), found.as_json())
    return 0


def run_program(path: str, arguments: list[str]) -> None:
    """Run a program as Python does; what it ends with does not end us.

    Raises:
        GravureError: of the program, with its line where it is not one of ours; what is our
            mistake is raised as it is.

    """
    from ...frontend.programs.mistakes import is_ours
    from ...frontend.programs.python_files import of_file

    readable(path)
    before, sys.argv = sys.argv, [path, *arguments]
    sys.path.insert(0, str(Path(path).resolve().parent))
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    except GravureError:
        raise
    except Exception as error:
        if is_ours(error, path):
            raise
        raise of_file(error, path) from error
    finally:
        sys.argv = before
        sys.path.pop(0)


def calls(args: argparse.Namespace) -> Callable[[], object]:
    """Return what runs a model once; it is compiled, and was run before."""
    from ...passes.base import Observer
    from ..verbs.profile import runner
    from ..verbs.subject import Wanted

    source, threads = source_of(args.model), args.threads or 1
    wanted = Wanted(
        args.input, threads, shapes_of(args), dims_of(args), args.weights_file,
        observers=[Observer()],  # the program is wanted, so it is not taken from the cache
    )  # fmt: skip
    options = Options() if is_library(source) else options_of(args, slots=threads)
    return runner(source, wanted, options, args.console.progress)
