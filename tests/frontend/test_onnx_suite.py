"""The standard's own test cases: each is right or refused, and most are right."""

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import gravure.ir as ir
from gravure.errors import UnsupportedOp
from gravure.frontend.programs.load import load_program
from gravure.frontend.programs.onnx_backend import refuse_draws
from gravure.ir.types.dtypes import of_numpy
from gravure.ir.types.numerics import saturate

FEWEST_RIGHT = {"node": 1865, "simple": 22, "pytorch-converted": 82, "pytorch-operator": 35}

# The standard rounds to narrow floats after each step of its own expansion.
NARROW = {"float16": 4e-3, "bfloat16": 3e-2}


def cases(kind: str) -> list[Any]:
    """Return the standard's cases of one kind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the standard overflows on purpose
        from onnx.backend.test.loader import load_model_tests  # noqa: PLC0415

        return load_model_tests(kind=kind)


def data_of(case: Any) -> tuple[bytes, list[tuple[list[Any], list[Any]]]]:
    """Return the model of a case, and its sets of inputs and outputs."""
    if case.model is not None:
        sets = [([*map(array, xs)], [*map(array, ys)]) for xs, ys in case.data_sets]
        return case.model.SerializeToString(), sets
    folder = Path(case.model_dir)
    data = (folder / "model.onnx").read_bytes()
    graph = onnx.load_from_string(data).graph
    sets = [
        ([*read(each, "input", graph.input)], [*read(each, "output", graph.output)])
        for each in sorted(folder.glob("test_data_set_*"))
    ]
    return data, sets


FEW_BITS = re.compile(r"test_cast(like)?_FLOAT(16)?_to_U?INT[24](_expanded)?")
"""Cases whose results are what ml_dtypes makes of floats that do not fit: from 0.7 on that is 0."""


def lower_bits(inputs: list[Any], outputs: list[Any]) -> list[Any]:
    """Return what these cases expect with ml_dtypes of before: the lower bits."""
    return [saturate(np.asarray(inputs[0]), of_numpy(outputs[0].dtype))]


KINDS = {"sequence_type": onnx.SequenceProto, "optional_type": onnx.OptionalProto}


def read(folder: Path, what: str, declared: Any) -> Iterator[Any]:
    """Give the values in the files of a set."""
    for number, each in enumerate(declared):
        path = folder / f"{what}_{number}.pb"
        if path.exists():
            kind: Any = KINDS.get(each.type.WhichOneof("value"), onnx.TensorProto)
            yield array(kind.FromString(path.read_bytes()))


def array(value: Any) -> Any:
    """Return a value of a case as arrays."""
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, onnx.SequenceProto):
        return numpy_helper.to_list(value)
    return numpy_helper.to_optional(value) if isinstance(value, onnx.OptionalProto) else value


def check(found: Any, expected: Any, rtol: float, atol: float) -> None:
    """Fail unless a value is what was expected, or close to it."""
    if isinstance(expected, list):
        assert isinstance(found, list)
        for one, other in zip(found, expected, strict=True):
            check(one, other, rtol, atol)
    elif expected is None or expected.dtype.kind in "OUS":
        assert np.asarray(found, object).tolist() == np.asarray(expected, object).tolist()
    else:
        assert found.dtype == expected.dtype
        rtol = max(rtol, NARROW.get(expected.dtype.name, 0))
        np.testing.assert_allclose(found, expected, rtol, max(atol, 1e-6))


def run(data: bytes, inputs: list[Any]) -> list[np.ndarray]:
    """Return the results; small inputs become constants where the program needs that."""
    try:
        return ir.interpret(load_program(data), inputs)
    except UnsupportedOp:
        graph = onnx.load_from_string(data).graph
        stored = {tensor.name for tensor in graph.initializer}
        names = [each.name for each in graph.input if each.name not in stored]
        fixed = {
            name: value
            for name, value in zip(names, inputs, strict=False)
            if isinstance(value, np.ndarray | np.generic)
            and value.size <= 64
            and (value.dtype.kind in "iub" or (value.dtype.kind == "f" and value.size <= 8))
        }
        left = [v for n, v in zip(names, inputs, strict=False) if n not in fixed]
        return ir.interpret(load_program(data, constants=fixed), left)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FEWEST_RIGHT)
def test_cases_are_right_or_refused(kind: str) -> None:
    right, wrong = 0, []
    for case in cases(kind):
        data, sets = data_of(case)
        try:
            refuse_draws(onnx.load_from_string(data))
            for inputs, outputs in sets:
                if FEW_BITS.fullmatch(case.name):
                    outputs[:] = lower_bits(inputs, outputs)
                check(run(data, list(inputs)), outputs, case.rtol, case.atol)
        except UnsupportedOp:
            continue
        except AssertionError as error:
            wrong.append(f"{case.name}: {error}")
            continue
        right += 1
    assert not wrong, "\n".join(wrong)
    assert right >= FEWEST_RIGHT[kind]
