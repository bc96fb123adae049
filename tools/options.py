"""Arguments that several verbs share: the model, its shapes, how to compile it."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .console import is_terminal
from .errors import UsageError
from .given import positive, readable

if TYPE_CHECKING:
    from ..codegen.compile import Options
    from ..frontend.dims.symbols import DimOption, ShapeOption

ELF = b"\x7fELF"
GPU = b"GVGPU\0\0\1"
_DIM = re.compile(r"(\d+)(?:\.\.(\d*)(?::(\d+))?)?\Z")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def add_model(parser: argparse.ArgumentParser, what: str = "model: ONNX, graph text (.gv)") -> None:
    """Add the model that a verb works on."""
    parser.add_argument(
        "model", metavar="MODEL", help=f"{what}, IR text (.mlir), file.py:function, -"
    )


def add_shapes(parser: argparse.ArgumentParser) -> None:
    """Add what names and bounds dimensions."""
    group = parser.add_argument_group("shapes")
    group.add_argument(
        "--shape", action="append", default=[], metavar="NAME=D,D,...",
        help="shape of an input: numbers, names, or ? for a dimension of its own",
    )  # fmt: skip
    group.add_argument(
        "--dim", action="append", default=[], metavar="NAME=N|LOW..HIGH[:STEP]",
        help="fix or bound a dimension that has a name",
    )  # fmt: skip


def add_target(parser: argparse.ArgumentParser) -> None:
    """Add what says for which machine."""
    group = parser.add_argument_group("machine")
    group.add_argument("--target", default="", help="processor or triple (native): gravure targets")
    group.add_argument("--mcpu", default="", metavar="CPU", help="processor, with --triple")
    group.add_argument("--mattr", default="", metavar="+X,-Y", help="features to add and remove")
    group.add_argument("--triple", default="", help="architecture, vendor and system")


def add_pipeline(parser: argparse.ArgumentParser) -> None:
    """Add what chooses passes."""
    group = parser.add_argument_group("passes")
    group.add_argument(
        "-O", dest="level", choices=("0", "1", "2", "3"), default="2", help="pipeline (-O2)"
    )
    group.add_argument("--passes", default="", metavar="A,B{K=V}", help="a pipeline of your own")
    group.add_argument(
        "--disable-pass", action="append", default=[], metavar="NAME", help="leave a pass out"
    )
    group.add_argument(
        "--numerics", default="fast", metavar="exact|ulp:N|fast",
        help="exact: element-wise operations give the bits that each gives alone, as in functions;"
        " ulp:N: at most N ulps off",
    )  # fmt: skip
    group.add_argument(
        "--recompute", action="store_true",
        help="compute whole layers again on the way back of training, instead of keeping them",
    )  # fmt: skip
    group.add_argument(
        "--swap", action="store_true",
        help="of a GPU: keep what rests for long in the memory of its host meanwhile",
    )  # fmt: skip
    group.add_argument("--verify-each", action="store_true", help="verify the IR after each pass")


def add_compile(parser: argparse.ArgumentParser) -> None:
    """Add all that says how to compile."""
    add_shapes(parser)
    add_target(parser)
    add_pipeline(parser)
    parser.add_argument(
        "--dtype", choices=("f32", "bf16", "i8", "i4", "tf32"), default="f32",
        help="store the weights of products in fewer bits, or (tf32, of GPUs) multiply so; see what"
        " it costs with run --vs interp",
    )  # fmt: skip
    parser.add_argument(
        "--whichever", action="store_true",
        help="either of two sizes of an ONNX model that broadcast may be 1 in some runs",
    )  # fmt: skip
    parser.add_argument(
        "--use-lib", default="", metavar="cblas[:FILE]",
        help="have a library compute products of matrices: one with the functions of CBLAS",
    )  # fmt: skip
    parser.add_argument(
        "--tune", default="", metavar="FILE",
        help="decide by what FILE says was measured; measure here, and add, what it does not say",
    )  # fmt: skip
    parser.add_argument(
        "--threads", type=positive, default=0, metavar="N", help="the most threads of a run"
    )
    parser.add_argument(
        "--budget", type=budget, metavar="10s/1GB",
        help="refuse what takes longer to compile, or more memory",
    )  # fmt: skip
    parser.add_argument(
        "--no-cache", action="store_true", help="do not use kernels compiled before"
    )
    parser.add_argument(
        "--no-verify-inputs", action="store_true", help="a run trusts its arguments blindly"
    )


def budget(text: str) -> str:
    """Return what says how much compiling may take, if it says so."""
    from ..budget import Budget
    from ..errors import CompileError

    try:
        found = Budget.parse(text)
    except CompileError as error:
        raise argparse.ArgumentTypeError(error.message) from None
    if found == Budget():
        raise argparse.ArgumentTypeError("a budget of nothing is no limit")
    return text


def size(text: str) -> int:
    """Return a number of bytes: `512`, `64K`, `1.5G`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG]?)(?:i?B)?", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 512, 64K, 1.5G")
    return int(float(found[1]) * _UNITS[found[2]])


def options_of(args: argparse.Namespace, **more: object) -> Options:
    """Return the options of the compiler."""
    from dataclasses import replace

    from ..codegen.compile import Options

    target, mattr = target_of(args)
    made = Options(
        target=target,
        mattr=mattr,
        level=f"O{args.level}",
        passes=args.passes,
        dtype="" if getattr(args, "dtype", "f32") == "f32" else args.dtype,
        disable=tuple(name for each in args.disable_pass for name in each.split(",")),
        numerics=args.numerics,
        whichever=getattr(args, "whichever", False),
        use_lib=getattr(args, "use_lib", ""),
        recompute=args.recompute,
        swap=args.swap,
        verify=args.verify_each,
        cache=not getattr(args, "no_cache", False),
        budget=getattr(args, "budget", None) or "",
        checks=not getattr(args, "no_verify_inputs", False),
    )
    if getattr(args, "threads", 0):
        made = replace(made, slots=args.threads)
    made = replace(made, **more)  # type: ignore[arg-type]
    if getattr(args, "tune", ""):
        from .measuring.tuning import tuned

        given = {"shapes": shapes_of(args), "dims": dims_of(args)}
        return tuned(args, made, source_of(args.model), given)
    return made


def target_of(args: argparse.Namespace) -> tuple[str, str]:
    """Return name and features of the target, after a look whether there is such a one."""
    from ..target import Target

    given = [name for name in (args.target, args.mcpu) if name]
    if len(given) == 2 or (args.target and args.triple):
        raise UsageError("--target stands for itself, --mcpu and --triple go together")
    name, mattr = (given or ["native"])[0], args.mattr
    if args.triple:
        if args.mcpu:
            row = Target.parse(args.mcpu)
            mattr = ",".join([*(f"+{feature}" for feature in row.features), *filter(None, [mattr])])
        name = args.triple
    Target.parse(name, mattr)
    return name, mattr


def shapes_of(args: argparse.Namespace) -> dict[str, ShapeOption] | None:
    """Return the shapes of inputs by name."""
    found: dict[str, ShapeOption] = {}
    for text in args.shape:
        name, equals, rest = text.rpartition("=")
        parts = [part.strip() for part in rest.split(",")] if rest.strip() else []
        if not equals or not name or not all(parts):
            raise UsageError(f"--shape {text!r}: expected NAME=D,D,... such as x=N,3,224,224")
        found[name] = tuple(_dimension(part) for part in parts)
    return found or None


def _dimension(text: str) -> int | str | None:
    if text == "?":
        return None
    return int(text) if text.lstrip("-").isdecimal() else text


def dims_of(args: argparse.Namespace) -> dict[str, DimOption] | None:
    """Return what dimensions are fixed to, or lie between, by name."""
    found: dict[str, DimOption] = {}
    for text in args.dim:
        name, equals, rest = text.rpartition("=")
        match = _DIM.match(rest)
        if not equals or not name or match is None:
            expected = "NAME=N, NAME=LOW..HIGH or NAME=LOW..HIGH:STEP, such as N=1..64"
            raise UsageError(f"--dim {text!r}: expected {expected}")
        low, high, step = int(match[1]), match[2], int(match[3] or 1)
        found[name] = low if high is None else (low, int(high) if high else None, step)
    return found or None


def source_of(name: str) -> str | bytes:
    """Return a file that can be read, or the bytes of the standard input for `-`."""
    if name == "-":
        if is_terminal(sys.stdin):
            raise UsageError("a model cannot be typed in", hint="name a file, or pipe one in")
        return sys.stdin.buffer.read()
    from ..frontend.programs.load import named_function

    function = named_function(name)
    readable(function[0] if function else name)
    return name


def is_library(source: str | os.PathLike[str] | bytes) -> bool:
    """Say whether a source is compiled already: a library, or a model for GPUs."""
    if isinstance(source, bytes):
        return source.startswith((ELF, GPU))
    if not os.path.isfile(source):  # a function of a Python file
        return False
    with open(source, "rb") as file:
        return file.read(8).startswith((ELF, GPU))


def output_of(name: str | None, *inputs: str) -> Path | None:
    """Return where to write, None for the standard output; never over an input."""
    if name is None or name == "-":
        return None
    path = Path(name)
    if path.is_dir():
        raise UsageError(f"output {name!r} is a folder, expected a file")
    for each in inputs:
        if each != "-" and path.exists() and Path(each).exists() and path.samefile(each):
            raise UsageError(f"output {name!r} is the input")
    return path


def model_output(args: argparse.Namespace) -> Path:
    """Return the file that an ONNX model is written to."""
    path = output_of(args.output, args.model)
    if path is None:
        raise UsageError("an ONNX model is no text", hint="name a file: -o FILE.onnx")
    return path


def words(texts: Sequence[str]) -> frozenset[str]:
    """Return the names in lists that are parted by commas."""
    return frozenset(name for text in texts for name in text.split(",") if name)
