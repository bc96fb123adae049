"""The data of weights and constants: from a file beside the text, or as the text spells it."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ...errors import ParseError
from ...ir import Array, TensorSpec
from ..files.weights import read_beside
from .expressions import WrongError, as_array, fits, flat
from .tree import Call, Expression, Items, Literal, Name, Operation, Weight

MAX_RANDOM = 1 << 31
"""Elements of random weights beyond which they must come from a file."""

DRAWN = 1 << 20
"""Random numbers that are drawn at once."""


class Stored:
    """Finds the data of one text."""

    def __init__(self, directory: Path | None) -> None:
        self.directory = directory
        self.files: dict[str, dict[str, Array] | ParseError] = {}

    def weight(self, weight: Weight, spec: TensorSpec) -> Array | None:
        """Return the data of a weight, None where the text gives none."""
        try:
            if weight.file is not None:
                return self._from_file(weight.name.text, *weight.file, spec)
            return None if weight.fill is None else _filled(weight.fill, spec)
        except ParseError as error:
            message = f"weight {weight.name.text!r}: {error.message}"
            raise WrongError(weight.at, message) from error

    def _from_file(self, name: str, path: Literal, key: Literal | None, spec: TensorSpec) -> Array:
        location, entry = str(path.value), name if key is None else str(key.value)
        if self.directory is None:
            raise ParseError(f"its data is in {location!r}, beside a text that is not a file")
        if location not in self.files:
            try:
                self.files[location], _ = read_beside(self.directory, location)
            except ParseError as error:
                self.files[location] = error
        tensors = self.files[location]
        if isinstance(tensors, ParseError):
            raise tensors
        if entry not in tensors:
            raise ParseError(f"{location!r} has no tensor {entry!r}")
        array = tensors[entry]
        if array.dtype != spec.dtype.numpy or array.shape != spec.shape:
            raise ParseError(f"{location!r} has {array.dtype}{[*array.shape]}, declared {spec}")
        return array


def _filled(fill: Expression, spec: TensorSpec) -> Array:
    """Return data that the text describes: random, one number, or a list."""
    shape, dtype = spec.static_shape, spec.dtype
    match fill:
        case Name(text="zeros"):
            return np.broadcast_to(np.zeros((), dtype.numpy), shape)
        case Name(text="ones"):
            return np.broadcast_to(np.ones((), dtype.numpy), shape)
        case Call(name="random"):
            return _random(fill, spec)
        case _:
            return spelled(fill, spec)


def _random(call: Call, spec: TensorSpec) -> Array:
    """Return normally distributed numbers, the same for a seed everywhere."""
    options: dict[str, Any] = {"seed": 0, "scale": 1.0}
    for keyword in call.keywords:
        value = keyword.value
        if keyword.name.text not in options or not isinstance(value, Literal):
            raise ParseError("random takes seed and scale, two numbers")
        options[keyword.name.text] = value.value
    if call.arguments or not isinstance(options["seed"], int) or isinstance(options["scale"], str):
        raise ParseError("random takes seed, a whole number, and scale, a number")
    size = spec.size
    if not spec.dtype.is_float or not isinstance(size, int) or size > MAX_RANDOM:
        raise ParseError(f"random numbers are floats, at most {MAX_RANDOM} of them")
    try:
        made = np.empty(size, spec.dtype.numpy)
    except MemoryError as error:
        raise ParseError(f"no memory for {size} random numbers") from error
    generator, scale = np.random.default_rng(options["seed"]), float(options["scale"])
    for begin in range(0, size, DRAWN):  # the numbers are drawn as f64
        piece = made[begin : begin + DRAWN]
        piece[...] = generator.standard_normal(piece.size) * scale
    return made.reshape(spec.static_shape)


def spelled(expression: Expression, spec: TensorSpec) -> Array:
    """Return the array that an expression spells: a number for all elements, or a list."""
    shape, dtype = spec.static_shape, spec.dtype
    if isinstance(expression, Call) and expression.name == "base64":
        return _decoded(expression, spec)
    value, place = _constant(expression), expression.at
    if dtype.kind == "c":
        return _complex(value, spec, place)
    leaves = flat(value)
    if leaves is None or not all(fits(leaf, dtype) for leaf in leaves):
        raise WrongError(place, f"this is not a number or a list of numbers of {dtype}")
    array = as_array(value, dtype)
    if not isinstance(value, tuple):
        return _spread(array, shape)
    if not array.size and spec.size == 0:
        array = array.reshape(shape)
    if array.shape != shape:
        raise WrongError(place, f"the list has shape {[*array.shape]}, declared {spec}")
    return array


def _spread(array: Array, shape: tuple[int, ...]) -> Array:
    """Return one number as all elements; it is stored once where there are several."""
    wide = np.broadcast_to(array, shape)
    return wide if wide.size > 1 else wide.copy()


Spelled: TypeAlias = "bool | int | float | str | tuple[Spelled, ...]"
"""What is written out: a number, a truth value, a text, or nested lists of them."""
WORDS = {"true": True, "false": False, "inf": float("inf"), "nan": float("nan")}


def _constant(root: Expression) -> Spelled:
    """Return a number, a text, or nested tuples of them, without recursion."""
    stack: list[tuple[Expression, bool]] = [(root, False)]
    done: list[Spelled] = []
    while stack:
        node, ready = stack.pop()
        match node:
            case Literal():
                done.append(node.value)
            case Name(text=word) if word in WORDS:
                done.append(WORDS[word])
            case Operation(sign="-", operands=(Literal() | Name() as operand,)):
                done.append(_negated(operand))
            case Items() if ready:
                values = done[len(done) - len(node.items) :]
                del done[len(done) - len(node.items) :]
                done.append(tuple(values))
            case Items():
                stack.append((node, True))
                stack.extend((item, False) for item in reversed(node.items))
            case _:
                raise WrongError(node.at, "this is not a number or a list of numbers")
    return done[0]


def _negated(operand: Literal | Name) -> int | float:
    value = operand.value if isinstance(operand, Literal) else WORDS.get(operand.text)
    if isinstance(value, bool | str | None):
        raise WrongError(operand.at, "this is not a number")
    return -value


def _decoded(call: Call, spec: TensorSpec) -> Array:
    match call.arguments:
        case (Literal(value=str(code)),):
            pass
        case _:
            raise WrongError(call.at, "base64 takes one text")
    try:
        data = np.frombuffer(base64.b64decode(code, validate=True), spec.dtype.numpy)
        return data.reshape(spec.static_shape).copy()
    except ValueError as error:
        raise WrongError(call.at, f"base64 does not hold {spec}: {error}") from error


def _complex(value: object, spec: TensorSpec, place: int) -> Array:
    """Return complex numbers, which are spelled as texts: `"1+2j"`."""
    try:
        array = np.array(value, dtype=np.str_).astype(spec.dtype.numpy)
        if not isinstance(value, tuple):
            return _spread(array, spec.static_shape)
        return array.reshape(spec.static_shape)
    except ValueError as error:
        raise WrongError(place, f"complex numbers are spelled as texts: {error}") from error
