"""Loops over single functions of the device math, compiled and loaded, to test and measure them."""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from ...codegen.aot.library import link
from ...codegen.llvm.compile import assemble
from ...codegen.llvm.math.functions import MATH
from ...codegen.llvm.math.lanes import Lanes
from ...codegen.llvm.text.build import Shape, Text
from ...target import Target

Array = np.ndarray[Any, Any]

ARITY = {"math.powf": 2, "math.atan2": 2, "math.copysign": 2, "math.fma": 3}
DTYPES: dict[str, Any] = {"float": np.float32, "double": np.float64}


def load(text: Text, parameters: str, target: Target) -> ctypes.CDLL:
    """Return a library whose function `gv_loop` has the lines of `text` as its body."""
    module = "\n".join(
        [
            f'target triple = "{target.triple}"',
            *text.declarations,
            *text.functions.values(),
            '@gv_manifest = constant [3 x i8] c"{}\\00"',
            f"define void @gv_loop({parameters}) #0 {{",
            "entry:",
            *text.lines,
            "}",
            f"attributes #0 = {{ {target.llvm_attributes} }}",
            "",
        ]
    )
    library = link([assemble(module, target)], "gv")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "loop.so")
        library.save(path)
        return ctypes.CDLL(path, os.RTLD_NOW)


def begin_loop(text: Text) -> tuple[str, int]:
    """Begin the block of a loop; return its label, and where in the lines its phis belong."""
    label = text.fresh_label()
    text.line(f"br label %{label}")
    text.label(label)
    return label, len(text.lines)


def end_loop(text: Text, label: str, head: int, step: int, carried: Sequence[str] = ()) -> None:
    """End the loop, which `%i` counts to `%n`, and the function's block after it begins.

    Carried values are given as lines with `NEXT` for the block that the loop comes from.
    """
    text.line(f"%next = add i64 %i, {step}")
    text.line("%more = icmp ult i64 %next, %n")
    phis = [f"  %i = phi i64 [ 0, %entry ], [ %next, %{text.block} ]"]
    phis += [line.replace("NEXT", f"%{text.block}") for line in carried]
    text.lines[head:head] = phis
    text.line(f"br i1 %more, label %{label}, label %done")
    text.label("done")


@dataclass(frozen=True)
class Map:
    """A function of the device math on arrays, in one form: element, lanes and target."""

    name: str
    shape: Shape
    target: Target
    unroll: int = 1

    @property
    def arity(self) -> int:
        """Return how many operands the function has."""
        return ARITY.get(self.name, 1)

    @cached_property
    def library(self) -> ctypes.CDLL:
        """Return the compiled loop: operands, result, count."""
        text, kind, element = Text(), self.shape.name, self.shape.element
        lanes = max(1, self.shape.lanes)
        label, head = begin_loop(text)
        for turn in range(self.unroll):
            index = text.value(f"add i64 %i, {turn * lanes}")
            pointers = [
                text.value(f"getelementptr inbounds {element}, ptr {base}, i64 {index}")
                for base in [f"%x{number}" for number in range(self.arity)] + ["%y"]
            ]
            loads = [f"load {kind}, ptr {pointer}, align 4" for pointer in pointers[:-1]]
            operands = [text.value(each) for each in loads]
            result = MATH[self.name](text, self.shape, self.target, *operands)
            text.line(f"store {kind} {result}, ptr {pointers[-1]}, align 4")
        end_loop(text, label, head, lanes * self.unroll)
        text.line("ret void")
        parameters = [f"ptr noalias %x{number}" for number in range(self.arity)]
        return load(text, ", ".join([*parameters, "ptr noalias %y", "i64 %n"]), self.target)

    def __call__(self, *operands: Array) -> Array:
        """Return the function of each element."""
        step = max(1, self.shape.lanes) * self.unroll
        count = operands[0].size
        padded = [np.zeros(-(-count // step) * step, DTYPES[self.shape.element]) for _ in operands]
        for whole, operand in zip(padded, operands, strict=True):
            whole[:count] = operand
        result = np.empty_like(padded[0])
        self.run(*padded, result)
        return result[:count]

    def run(self, *arrays: Array) -> None:
        """Write the function of the first arrays into the last; the sizes must fit the loop."""
        self.bound(*arrays)()

    def bound(self, *arrays: Array) -> Callable[[], Any]:
        """Return what does `run` on these arrays with as little around it as can be."""
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
        return partial(self.library.gv_loop, *pointers, ctypes.c_int64(arrays[0].size))


@dataclass(frozen=True)
class Worst:
    """The greatest error of a function, in units in the last place, and where it is."""

    ulp: float
    where: float


@dataclass(frozen=True)
class ErrorScan:
    """The error of a function of a float against the same in double, over the bits of floats."""

    name: str
    lanes: int
    target: Target

    @cached_property
    def library(self) -> ctypes.CDLL:
        """Return the loop: first bits, step of the bits, count, errors and where of each lane."""
        text = Text()
        lanes = Lanes(text, Shape("float", max(1, self.lanes)), self.target)
        wide = lanes.as_doubles()
        one = Shape("i32", lanes.shape.lanes)
        label, head = begin_loop(text)
        narrow_index = text.value("trunc i64 %i to i32")
        scaled = text.value(f"mul i32 {narrow_index}, %step")
        base = spread(text, one, text.value(f"add i32 %first, {scaled}"))
        steps = ", ".join(f"i32 {lane}" for lane in range(lanes.shape.lanes))
        offsets = text.value(f"mul {one.name} {spread(text, one, '%step')}, <{steps}>")
        bits = text.value(f"add {one.name} {base}, {offsets}")
        x = lanes.as_float(bits)
        found = self._apply(lanes, x)
        error = error_in_ulp(lanes, found, self._apply(wide, lanes.widen(x)))
        worse = wide.compare("ogt", error, "%worst")
        new_worst = wide.select(worse, error, "%worst")
        new_where = text.value(f"select {wide.mask} {worse}, {one.name} {bits}, {one.name} %where")
        zero = "zeroinitializer"
        carried = [
            f"  %worst = phi {wide.kind} [ {zero}, %entry ], [ {new_worst}, NEXT ]",
            f"  %where = phi {one.name} [ {zero}, %entry ], [ {new_where}, NEXT ]",
        ]
        end_loop(text, label, head, lanes.shape.lanes, carried)
        text.line(f"store {wide.kind} {new_worst}, ptr %errors, align 8")
        text.line(f"store {one.name} {new_where}, ptr %places, align 4")
        text.line("ret void")
        parameters = "i32 %first, i32 %step, i64 %n, ptr %errors, ptr %places"
        return load(text, parameters, self.target)

    def _apply(self, lanes: Lanes, x: str) -> str:
        """Return the function of a vector; element by element if the form is the scalar one."""
        if self.lanes:
            return MATH[self.name](lanes.text, lanes.shape, self.target, x)
        kind, element = lanes.kind, lanes.shape.element
        scalar = lanes.text.value(f"extractelement {kind} {x}, i64 0")
        result = MATH[self.name](lanes.text, Shape(element), self.target, scalar)
        return lanes.text.value(f"insertelement {kind} poison, {element} {result}, i64 0")

    def __call__(self, first: int = 0, step: int = 1, count: int = 1 << 32) -> Worst:
        """Return the greatest error over `count` floats, the bits of which are `step` apart."""
        errors, places = np.zeros(64), np.zeros(64, np.uint32)
        self.library.gv_loop(
            ctypes.c_uint32(first),
            ctypes.c_uint32(step),
            ctypes.c_int64(count),
            ctypes.c_void_p(errors.ctypes.data),
            ctypes.c_void_p(places.ctypes.data),
        )
        lane = int(errors.argmax())
        return Worst(float(errors[lane]), float(places.view(np.float32)[lane]))


def spread(text: Text, shape: Shape, scalar: str) -> str:
    """Return one number in all lanes of a vector."""
    kind = shape.name
    first = text.value(f"insertelement {kind} poison, {shape.element} {scalar}, i64 0")
    mask = f"<{shape.lanes} x i32> zeroinitializer"
    return text.value(f"shufflevector {kind} {first}, {kind} poison, {mask}")


def error_in_ulp(lanes: Lanes, found: str, exact: str) -> str:
    """Return how far floats are from doubles, in units in the last place of a float.

    It is infinite where only one is NaN or infinite, or where the signs differ.
    """
    wide, text, infinity = lanes.as_doubles(), lanes.text, float("inf")
    nearest, value = lanes.narrow(exact), lanes.widen(found)
    bits = wide.integer("and", wide.as_bits(exact), 0x7FF << 52)
    unit = wide.multiply(wide.maximum(2.0**-126, wide.as_float(bits)), 2.0**-23)
    error = wide.divide(wide.absolute(wide.subtract(value, exact)), unit)
    infinite = lanes.compare("oeq", lanes.absolute(nearest), infinity)
    same = lanes.compare("oeq", nearest, found)
    error = wide.select(text.value(f"and {lanes.mask} {infinite}, {same}"), 0.0, error)
    signs = text.value(f"xor {lanes.bits} {lanes.as_bits(nearest)}, {lanes.as_bits(found)}")
    error = wide.select(lanes.is_negative(lanes.as_float(signs)), infinity, error)
    error = wide.select(wide.compare("uno", error, error), infinity, error)
    neither = lanes.both(lanes.compare("uno", nearest, nearest), lanes.compare("uno", found, found))
    return wide.select(neither, 0.0, error)
