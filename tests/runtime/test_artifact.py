"""Descriptions of models, and the sizes in them."""

from dataclasses import replace

import pytest

from gravure.runtime.artifact import (
    Binding,
    Description,
    DimInfo,
    If,
    Launch,
    Pointer,
    Repeat,
    Scalar,
    TensorInfo,
    While,
    bindings,
    launches,
)
from gravure.runtime.expression import evaluate, symbols


def description() -> Description:
    step = Launch("k0", (Pointer("input", 0, "N * 4"), Scalar("N // 2")), count="N", grain=8)
    flag = Pointer("workspace", offset=64)
    return Description(
        tag="model",
        inputs=(TensorInfo("x", "f32", ("N", 3)),),
        outputs=(TensorInfo("y", "bf16", ("N*3 + 1",)),),
        dims=(DimInfo("N", 1, 64),),
        steps=(step, If(flag, (step,)), While((step,), flag, (Repeat("i", "N", (step,)),))),
        workspace=100,
        slots=2,
        extras={"pipeline": ["fuse", "plan"], "options": {"level": 2}},
    )


def test_description_survives_json() -> None:
    text = description().to_json()
    assert Description.from_json(text) == description()
    assert Description.from_json(text).to_json() == text


def test_launches_inside_of_other_steps_are_found() -> None:
    assert len([*launches(description().steps)]) == 4
    assert description().kernels == ("k0",)


def test_workspaces_are_whole_lines_of_the_cache() -> None:
    made = replace(description(), workspace=100, prepare_workspace=300)
    assert (made.workspace_bytes, made.prepare_bytes) == (128, 320)


def test_shape_follows_the_dimensions() -> None:
    assert description().outputs[0].shape_for({"N": 5}) == (16,)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("N", 7),
        ("N*12 + -3", 81),
        ("(N + 1)//2 % 3", 1),
        ("(0 - N)//2", -4),
        ("min(N, 3, 2)", 2),
        ("max(N, 30)", 30),
        ("N // (N - 7)", 0),
        ("N % 0", 0),
    ],
)
def test_size_is_evaluated_as_python_would_and_never_fails(text: str, value: int) -> None:
    assert evaluate(text, {"N": 7}) == value
    assert symbols(text) == ("N",)


@pytest.mark.parametrize("text", ["N / 2", "f(N)", "N ** 2", "N.real", "'N'", "N if N else 1"])
def test_anything_else_is_not_a_size(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size"):
        evaluate(text, {"N": 7})


def test_dimension_gets_its_value_where_it_stands_alone() -> None:
    infos = (TensorInfo("x", "f32", ("2*N + 1", "M // 2")), TensorInfo("y", "f32", (3, "N")))
    dims = (DimInfo("N", 1, 9), DimInfo("M", 1, 9))
    assert bindings(infos, dims) == {"N": Binding(1, 1)}
    assert bindings(infos[:1], dims) == {"N": Binding(0, 0, 2, 1)}


def test_dimension_without_an_input_is_refused() -> None:
    with pytest.raises(AssertionError, match="no input says what"):
        Description("m", (), (), (), dims=(DimInfo("N", 1, 2),))
