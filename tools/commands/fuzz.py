"""Look for inputs that are neither read nor refused.

    gravure fuzz files                          # 200 changed files of each kind that is read
    gravure fuzz files --kind onnx --seconds 600 --seed 7 --keep faults
    gravure fuzz files --kind onnx --seed 7 --first 1234 --cases 1   # that case again
    gravure fuzz graphs --seconds 600 --keep faults   # models that are grown by chance, in all ways
    gravure fuzz programs --cases 500                 # programs of Python, at once and staged
    gravure fuzz pipelines --cases 2000               # pipelines of data against plain lists
    gravure fuzz graphs --device emulated             # the code for GPUs: gpu:0 where there is one

Prints what became of the cases, and each fault; exits with 1 if there is one. A seed and a number
are a case.
"""

from __future__ import annotations

import argparse

from ...runtime.devices import EMULATED, gpu_index
from ..errors import UsageError
from ..fuzz import files, graphs, pipelines, programs
from ..fuzz.workers import NO_LIMIT
from ..given import above_zero, amount, natural, positive

NAME = "fuzz"
WHAT = (files, graphs, programs, pipelines)
"""What can be fuzzed: a module each."""
ON_DEVICES = (graphs.NAME, programs.NAME)
"""What can be run on a GPU."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what can be fuzzed, and the options of all."""
    parser.add_argument("what", choices=[module.NAME for module in WHAT], help="what is changed")
    parser.add_argument("--seed", type=natural, default=0, help="another seed, other cases (0)")
    parser.add_argument("--first", type=natural, default=0, metavar="N", help="begin with case N")
    parser.add_argument(
        "--cases", type=positive, default=200, metavar="N", help="of each kind (200)"
    )
    parser.add_argument("--seconds", type=amount, default=0, help="go on for so long, all together")
    parser.add_argument("--limit", type=above_zero, default=20, help="seconds for one case (20)")
    parser.add_argument(
        "--memory", type=positive, default=16, metavar="GB", help="for one child (16)"
    )
    parser.add_argument(
        "--device", metavar="NAME", default="",
        help="graphs and programs: on a GPU instead, gpu:0 or emulated",
    )  # fmt: skip
    parser.add_argument("--keep", metavar="FOLDER", help="write what is at fault there")
    for module in WHAT:
        first = (module.__doc__ or "").splitlines()[0]
        module.configure(parser.add_argument_group(module.NAME, first))


def run(args: argparse.Namespace) -> int:
    """Do it."""
    chosen = {module.NAME: module for module in WHAT}[args.what]
    if args.device:
        if args.what not in ON_DEVICES:
            raise UsageError(f"fuzz {args.what} runs on no device, found --device {args.device}")
        if args.device != EMULATED:
            gpu_index(args.device)
            args.memory = NO_LIMIT  # (a driver maps all that its GPU could ever address)
    status: int = chosen.run(args)
    return status
