"""Compile a model for several ranks: a library and a file of weights for each, and a manifest.

    compile_parallel("m.onnx", "m.parallel.json", "tensor=2")       m.rank0.so, m.rank0.weights, ...

By `tensor` the weights of products are shared out, and each rank computes a part of each product;
by `pipeline` the ranks follow each other, each with a stage of the model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ...codegen.backends.parts import part_tag, save_parts
from ...codegen.compiled import Compiled, Options
from ...errors import CompileError, GraphError
from ...ir import Op, Program, spec_of
from ...ir.host import refuse_host_steps
from ...ir.ops.host.collective import AllGather, AllReduce
from ...ir.program import argument_names, functions, result_names, set_level, set_ranges
from ...passes.manager import run as run_passes
from ...runtime.artifact import TensorInfo
from ...runtime.files import FilesTogether, replacing, together
from ...target import Target
from ..dims.symbols import DimOption, ShapeOption
from ..distributed.ranked import SCHEMA, file_sha256
from ..models.compiled import compile_program, tag_of
from ..models.given import info_of
from .compile import SUFFIX, Source, loaded
from .load import load_program

KINDS = ("tensor", "pipeline")
CLEAN = "canonicalize,constant-fold,cse,dce"
"""What stands before: products by weights are only seen as such when their weights are folded."""
MOST_RANKS = 1024


class ParallelError(CompileError, ValueError):
    """A model cannot be compiled for several ranks in this way.

    `--parallel tensor=2` shares the weights of products out, and the directions or units of
    recurrent layers (units where the number of steps is known); `--parallel pipeline=2` cuts a
    model into stages.
    There must be as many operations as stages, and sizes must be those of inputs.
    """

    code = "GV4330"


@dataclass(frozen=True)
class Parallel:
    """How a model is shared out."""

    kind: str
    ranks: int

    @classmethod
    def parse(cls, text: str) -> Parallel:
        """Return what `tensor=2` or `pipeline=2` says."""
        found = re.fullmatch(r"(\w+)=(\d{1,4})", text)
        if found is None or found[1] not in KINDS or not 2 <= int(found[2]) <= MOST_RANKS:
            wanted = f"tensor=N or pipeline=N with N from 2 to {MOST_RANKS}"
            raise ParallelError(f"parallel {text!r}, expected {wanted}")
        return cls(found[1], int(found[2]))


def compile_parallel(
    source: Source | Program,
    path: Path,
    how: Parallel,
    options: Options,
    *,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
) -> list[Path]:
    """Write the libraries and weights of all ranks, and the manifest; return the files."""
    if not path.name.endswith(SUFFIX):
        raise ParallelError(f"file {path.name!r}: expected a name that ends in {SUFFIX}")
    if not Target.parse(options.target, options.mattr).can.step_out:
        raise ParallelError(f"target {options.target}: the parts of ranks are for processors")
    if options.tag == Options().tag and not isinstance(source, bytes | Program):
        options = replace(options, tag=tag_of(str(source)))
    if isinstance(source, bytearray | memoryview):
        source = bytes(source)
    if isinstance(source, Program):
        program = source
    else:
        load = partial(load_program, source, shapes=shapes, dims=dims, settable=options.settable)
        program = loaded(load, options)
    refuse_host_steps(program)
    run_passes(CLEAN, program, observers=(), verify_each=False)
    ranks = [Rank.of(program, how, rank) for rank in range(how.ranks)]
    with together() as new:
        rows = [_write_rank(rank, path, options, new) for rank in ranks]
        manifest = {
            "schema": SCHEMA,
            "name": options.tag,
            "kind": how.kind,
            "ranks": how.ranks,
            "target": options.target,
            **described(program, ranks[0]),
            "files": rows,
        }
        with replacing(path) as file:
            file.write((json.dumps(manifest, indent=1) + "\n").encode())
    names = [row[key] for row in rows for key in ("library", "weights")]
    return [*(path.with_name(name) for name in names if name), path]


def _write_rank(rank: Rank, path: Path, options: Options, new: FilesTogether) -> dict[str, str]:
    """Write the library and the weights of one rank; return what the manifest says of them."""
    row = {"library": "", "weights": "", "sha256": ""}
    parts = [rank.compiled(part, options, n) for n, part in enumerate(rank.functions)]
    if parts:
        base = f"{path.name.removesuffix(SUFFIX)}.rank{rank.rank}"
        library, weights = path.with_name(f"{base}.so"), path.with_name(f"{base}.weights")
        has_weights = save_parts(parts, options.tag, library, weights)
        row |= {"library": library.name, "sha256": file_sha256(new.path(library))}
        if has_weights:
            row["weights"] = weights.name
    return row


def described(program: Program, rank: Rank) -> dict[str, object]:
    """Return inputs, results and steps as the manifest has them; all ranks have the same steps."""
    main = program.main
    inputs = infos(argument_names(main), main.body.block.args)
    ranges = program.ranges
    used = dict.fromkeys(name for info in inputs for name in map(str, info.shape) if name in ranges)
    return {
        "inputs": [tensor_json(info) for info in inputs],
        "outputs": [tensor_json(info) for info in infos(result_names(main), returned(main))],
        "dims": [{"name": n, "low": ranges[n][0], "high": ranges[n][1]} for n in used],
        "steps": rank.steps,
        "results": rank.results,
    }


def infos(names: Sequence[str], values: Sequence[SSAValue]) -> list[TensorInfo]:
    """Return what callers are told of values."""
    return [info_of(name, spec_of(v.type)) for name, v in zip(names, values, strict=True)]


def tensor_json(info: TensorInfo) -> dict[str, object]:
    """Return what is said of a tensor as plain data."""
    return {"name": info.name, "dtype": info.dtype, "shape": [*info.shape]}


def returned(function: FuncOp) -> Sequence[SSAValue]:
    """Return the values that a function returns."""
    last = function.body.block.last_op
    assert isinstance(last, ReturnOp), "a function returns"
    return tuple(last.operands)


class Rank:
    """What one rank has: the functions of its parts, and the steps of all."""

    def __init__(self, program: Program, how: Parallel, rank: int) -> None:
        self.program, self.how, self.rank = program, how, rank
        self.names: dict[SSAValue, str] = {
            value: f"input{n}" for n, value in enumerate(program.main.body.block.args)
        }
        self.functions: list[FuncOp] = []
        self.steps: list[dict[str, object]] = []
        self.counts = [0] * how.ranks
        """How many parts each rank has."""
        self.known: dict[int, dict[str, int]] = {}
        """By rank: the parts by their text, for the steps of a recurrent layer are the same."""
        self.owners: dict[SSAValue, int] = {}
        """Of values that one rank alone has, which."""
        for op in program.main.body.block.ops:
            self.add(op)
        self.results = [self.name(value, op) for value in returned(program.main)]

    @classmethod
    def of(cls, whole: Program, how: Parallel, rank: int) -> Rank:
        """Return what a rank of a program has; the program stays as it is."""
        program = Program(whole.module.clone(), dict(whole.weights))
        passes = f"cut-stages{{stages={how.ranks}}}"
        if how.kind == "tensor":
            passes = f"split-tensors{{ranks={how.ranks} rank={rank}}},dce,cut-stages{{stages=1}}"
        report = run_passes(passes, program, observers=(), verify_each=False)
        if how.kind == "tensor" and not report.steps[0].rewrite.changed:
            raise ParallelError(
                f"there is no product with a weight that {how.ranks} ranks can share out"
            )
        made = cls(program, how, rank)
        if how.kind == "pipeline" and 0 in made.counts:
            stages = sum(1 for count in made.counts if count)
            raise ParallelError(
                f"the model has operations for {stages} stages, expected {how.ranks}"
            )
        return made

    def add(self, op: Operation) -> None:
        """Note what is done for an operation of `main`."""
        if isinstance(op, CallOp):
            self.call(op)
        elif isinstance(op, AllReduce | AllGather):
            kind = op.name.removeprefix("gv.")
            how = {"how": op.plain_attributes()["how"]} if isinstance(op, AllReduce) else {}
            self.note(kind, op, **how)
        elif isinstance(op, ReturnOp):
            self.give([value for value in op.operands if value in self.owners])
        elif isinstance(op, Op) and op.name == "gv.room":
            raise ParallelError("a stage needs a size that none of its inputs has")
        else:
            raise ParallelError(f"{op.name}: a result that depends on no input")

    def call(self, op: CallOp) -> None:
        """Run a part: of a pipeline on one rank, else on all."""
        function = next(
            each for each in functions(self.program.module)
            if each.sym_name.data == op.callee.root_reference.data
        )  # fmt: skip
        rank = None
        if self.how.kind == "pipeline":
            rank = int(function.sym_name.data.removeprefix("stage"))
            self.give([x for x in op.operands if self.owners.get(x, rank) != rank])
            self.owners.update(dict.fromkeys(op.results, rank))
        known = self.known.setdefault(rank or 0, {})
        text = str(function).partition("(")[2]  # (all but its name)
        if text not in known:
            known[text] = self.counts[rank or 0]
            self.counts[rank or 0] += 1
            if rank in (None, self.rank):
                self.functions.append(function)
        self.note("run", op, part=known[text], rank=rank)

    def give(self, values: Sequence[SSAValue]) -> None:
        """Let all ranks have values that one has."""
        for value in dict.fromkeys(values):
            rank = self.owners.pop(value)
            name = self.names[value]
            self.steps.append({"do": "give", "rank": rank, "inputs": [name], "outputs": [name]})

    def note(self, kind: str, op: Operation, **more: object) -> None:
        """Note a step, and name its results."""
        inputs = [self.name(value, op) for value in op.operands]
        for value in op.results:
            self.names[value] = f"value{len(self.names)}"
        outputs = [self.names[value] for value in op.results]
        self.steps.append({"do": kind, "inputs": inputs, "outputs": outputs, **more})

    def name(self, value: SSAValue, op: Operation) -> str:
        """Return the name of a value."""
        if value not in self.names:
            raise GraphError(f"{op.name}: an operand that depends on no input")
        return self.names[value]

    def compiled(self, function: FuncOp, options: Options, number: int) -> Compiled:
        """Return the code of a part."""
        main = function.clone()
        main.properties["sym_name"] = StringAttr("main")
        main.properties.pop("sym_visibility", None)
        module = ModuleOp([main])
        set_level(module, "graph")
        set_ranges(module, self.program.ranges)
        used = {
            str(op.plain_attributes()["weight"])
            for op in main.walk()
            if isinstance(op, Op) and op.name == "gv.weight"
        }
        weights = {name: self.program.weights[name] for name in sorted(used)}
        extras = {"parallel": self.how.kind, "rank": self.rank, "ranks": self.how.ranks}
        own = replace(
            options, tag=part_tag(options.tag, number), embed=False,
            extras={**options.extras, **extras},
        )  # fmt: skip
        return compile_program(Program(module, weights), own)
