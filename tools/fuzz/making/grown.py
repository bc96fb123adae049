"""A graph of a seed and a number, with the sizes of its worlds and the elements of its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ....ir import Array
from . import control, elementwise, indices, moves, products, quantised, reductions, standard
from .maker import FLOATS, Grower, Input, UnfitError, Value, imports, numpy_type, onnx_type

FAMILIES = (elementwise, moves, indices, products, reductions, quantised, control, standard)
WEIGHTS = (8, 10, 4, 3, 4, 2, 2)
"""How often each is chosen; the last one once."""
TYPES = ("float32",) * 6 + (
    "float64",
    "float16",
    "bfloat16",
    "int32",
    "int64",
    "int8",
    "uint8",
    "bool",
)

TRIES = 5
"""Rules that are tried for each that has to fit."""


@dataclass(frozen=True)
class Grown:
    """A model, and how to run it."""

    model: bytes
    inputs: Sequence[Input]
    outputs: Sequence[Value]
    worlds: Sequence[Mapping[str, int]]
    """The sizes of the open dimensions, by name."""
    wrong: frozenset[int] = frozenset()
    """The worlds in which operands disagree."""

    @property
    def ranges(self) -> dict[str, tuple[int, int]]:
        """Return from where to where each open dimension goes."""
        names = self.worlds[0] if self.worlds else {}
        sizes = {name: [world[name] for world in self.worlds] for name in names}
        return {name: (min(each), max(each)) for name, each in sizes.items()}

    def arrays(self, world: int) -> list[Array]:
        """Return the elements of the inputs in a world."""
        return [elements(each, world) for each in self.inputs]

    @property
    def operators(self) -> set[str]:
        """Return the operators of the model, those in branches and loops left out."""
        return {node.op_type for node in onnx.load_from_string(self.model).graph.node}

    def has_empty(self, world: int) -> bool:
        """Say whether an input or a constant has no elements in a world."""
        constants = onnx.load_from_string(self.model).graph.initializer
        arrays = self.arrays(world)
        return any(0 in each.dims for each in constants) or any(not each.size for each in arrays)


def elements(each: Input, world: int) -> Array:
    """Return an input's elements: small numbers, halves among floats."""
    if each.array is not None:
        return each.array
    shape = tuple(dim[world] for dim in each.value.shape)
    random = np.random.default_rng([world, *each.value.name.encode()])
    dtype = numpy_type(each.value.dtype)
    if dtype.kind == "b":
        low, high, part = 0, 2, 1
    elif each.value.dtype in FLOATS:
        low, high, part = -8, 9, 2
    else:
        low, high, part = 0 if dtype.kind == "u" else -3, 4, 1
    return np.asarray(random.integers(low, high, shape) / part).astype(dtype)


def grown(random: Random, *, most: int = 12, cases: bool = True) -> Grown:
    """Return a graph of so many operators at most; with test cases of the standard, or without."""
    usual = random.choice((2, 3, 4, 5, 7, 8, 9, 16, 17))
    sizes = [usual, 1, usual - 1, usual + 1] + ([0] if random.random() < 0.3 else [])
    maker = Grower(random, len(sizes))
    opened = [tuple(sizes)]
    if maker.chance(0.4):
        rest = sizes[1:]
        random.shuffle(rest)
        opened.append((maker.choose((2, 3, 6)), *rest))
    if maker.chance(0.3):
        opened = []
    for number in range(maker.number(1, 2)):
        maker.input(maker.choose(TYPES if number else TYPES[:6]), _shape(maker, opened))
    wanted = len(maker.values) + maker.number(2, most)
    for _ in range(TRIES * most):
        if len(maker.values) < wanted:
            grow(maker, cases)
    return finished(maker)


def _shape(maker: Grower, opened: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return a shape of open and fixed dimensions."""
    fixed = [maker.fixed(size) for size in (1, 2, 3, 4, 8)]
    rank = maker.choose((0, 1, 1, 2, 2, 3, 3, 4, 4))
    return [maker.choose(opened if opened and maker.chance(0.5) else fixed) for _ in range(rank)]


def grow(maker: Grower, cases: bool) -> None:
    """Append what one rule makes, if it fits."""
    family = maker.random.choices(FAMILIES, (*WEIGHTS, int(cases)))[0]
    rule = maker.choose(family.RULES)
    with maker.tried():
        maker.values.append(rule(maker, maker.pick()))


def finished(maker: Grower) -> Grown:
    """Return the graph with what nobody uses as its results."""
    used = {name for node in maker.nodes for name in node.input} | captured(maker)
    names = {each.value.name for each in maker.inputs}
    made = [v for v in maker.values if v.name not in names]
    outputs = [value for value in made if value.name not in used][-4:] or made[-1:]
    if not outputs:
        x = maker.inputs[0].value
        outputs = [maker.append("Identity", [x], [x.shape])]
    wrong = [value for value, _ in maker.wrong]
    every = [*outputs, *wrong]
    graph = helper.make_graph(
        maker.nodes, "grown",
        [helper.make_tensor_value_info(x.value.name, onnx_type(x.value.dtype), x.dims)
         for x in maker.inputs],
        [helper.make_tensor_value_info(v.name, onnx_type(v.dtype), _declared(v)) for v in outputs]
        + [onnx.ValueInfoProto(name=v.name) for v in wrong],
        [numpy_helper.from_array(array, name) for name, array in maker.constants.items()
         if name in used],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=imports(), ir_version=10)
    worlds = [
        {name: dim[world] for name, dim in maker.symbols.items()} for world in range(maker.worlds)
    ]
    declared = {dim for each in maker.inputs for dim in each.dims}
    worlds = [{n: size for n, size in world.items() if n in declared} for world in worlds]
    disagreeing = frozenset(world for _, found in maker.wrong for world in found)
    return Grown(model.SerializeToString(), maker.inputs, every, worlds, disagreeing)


def _declared(value: Value) -> list[int | None]:
    """Return a result's sizes, None for what is open."""
    return [dim[0] if len(set(dim)) == 1 else None for dim in value.shape]


def captured(maker: Grower) -> set[str]:
    """Return what graphs inside of nodes use."""
    graphs = [a.g for node in maker.nodes for a in node.attribute if a.HasField("g")]
    found: set[str] = set()
    while graphs:
        graph = graphs.pop()
        found |= {name for node in graph.node for name in node.input}
        found |= {value.name for value in graph.output}
        graphs += [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    return found


__all__ = ["Grown", "UnfitError", "grown"]
