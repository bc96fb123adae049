"""What traces are like when they are printed, as TensorFlow writes them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping

from ...function.traces import ConcreteFunction
from ..core.bridge import TfTensor
from ..core.specs import TensorSpec

RESOURCE = "TensorSpec(shape=(), dtype=tf.resource, name=None)"
"""What a variable is to a function that takes it from outside."""


def _type(value: object) -> str:
    """Return the type of a leaf or a structure of arguments or results."""
    if isinstance(value, TensorSpec | TfTensor):
        return repr(TensorSpec(value.shape, value.dtype))
    if isinstance(value, Mapping):
        return f"Dict[{', '.join(f'[{k!r}, {_type(v)}]' for k, v in value.items())}]"
    if isinstance(value, list | tuple):
        kind = "List" if isinstance(value, list) else "Tuple"
        return f"{kind}[{', '.join(map(_type, value))}]"
    if value is None:
        return "None"
    plain = isinstance(value, bool | int | float | str | bytes | complex)
    return f"Literal[{value!r}]" if plain else repr(value)


def _parameters(trace: ConcreteFunction) -> Iterable[tuple[inspect.Parameter, str]]:
    """Give the parameters of a trace, each with its type."""
    args, kwargs = trace.structured_input_signature
    bound = trace.function.signature.bind_partial(*args, **kwargs)
    for name, value in bound.arguments.items():
        yield trace.function.signature.parameters[name], _type(value)


def long(trace: ConcreteFunction) -> str:
    """Return a trace in lines: its parameters, what it gives, and takes from outside."""
    found = [f"  {p.name} ({p.kind.name}): {text}" for p, text in _parameters(trace)]
    taken = [
        f"  {id(x)}: {_type(x) if isinstance(x, TfTensor) else RESOURCE}"
        for x in trace.captured_inputs
    ]
    return "\n".join(
        [
            "Input Parameters:",
            *found,
            "Output Type:",
            f"  {_type(trace.structured_outputs)}",
            "Captures:",
            *(taken or ["  None"]),
        ]
    )


def short(trace: ConcreteFunction) -> str:
    """Return a trace in one line."""
    parts: list[str] = []
    for parameter, text in _parameters(trace):
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        parts.append(f"{parameter.name}: {text}")
    gives = _type(trace.structured_outputs)
    return f"({', '.join(parts)}) -> {gives}"


class FunctionType(inspect.Signature):
    """The parameters of a trace with their types, what it gives, and takes from outside."""

    output: object
    captures: dict[int, object]
    text: str

    @classmethod
    def of_trace(cls, trace: ConcreteFunction) -> FunctionType:
        """Return that of a trace."""
        made = cls([p.replace(annotation=text) for p, text in _parameters(trace)])
        made.output = trace.structured_outputs
        made.captures = {id(x): x for x in trace.captured_inputs}
        made.text = short(trace)
        return made

    def __repr__(self) -> str:
        return self.text

    __str__ = __repr__


class AtomicFunction:
    """A trace as the function that is run where nobody asks for gradients."""

    def __init__(self, trace: ConcreteFunction) -> None:
        self.trace = trace

    @property
    def name(self) -> bytes:
        """Return the name of its graph."""
        return self.trace.name

    @property
    def function_type(self) -> FunctionType:
        """Return what it takes and gives."""
        return FunctionType.of_trace(self.trace)

    @property
    def graph(self) -> object:
        """Return its graph."""
        return self.trace.graph

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Run it."""
        return self.trace(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<AtomicFunction> {self.trace.graph.name}{short(self.trace)}"
