"""The page of operators is what the tool writes, and tells what is so."""

from pathlib import Path

import pytest

from gravure.frontend.onnx.coverage import COMPILED, HOST, PARTLY, page, status

PAGE = Path(__file__).parents[2] / "docs" / "operators.md"


def test_the_page_is_what_the_tool_writes() -> None:
    assert PAGE.read_text() == page(), (
        "run python -m gravure.tools.operator_table > docs/operators.md"
    )


@pytest.mark.parametrize(
    ("operator", "version", "expected"),
    [
        ("Add", 1, COMPILED),
        ("Attention", 24, COMPILED),
        ("SequenceAt", 11, HOST),
        ("Cast", 21, PARTLY),
        ("ImageDecoder", 20, HOST),
        ("Bernoulli", 15, COMPILED),
    ],
)
def test_how_an_operator_runs(operator: str, version: int, expected: str) -> None:
    assert status("", operator, version) == expected
