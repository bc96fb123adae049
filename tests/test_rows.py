"""The tests that docs/rows.md names for rows are there, and no row of devices is without."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TABLE = (ROOT / "docs" / "rows.md").read_text().partition("## 5. ")[2]
SHOWN = {
    row: re.findall(r"`([^`]+)`", tests)
    for row, tests in re.findall(r"^\| ([A-Z]\d+) \| (.+) \|$", TABLE, re.MULTILINE)
}


@pytest.mark.parametrize("row", SHOWN)
def test_the_tests_of_a_row_are_there(row: str) -> None:
    assert SHOWN[row]
    for name in SHOWN[row]:
        path, _, test = name.partition("::")
        text = (ROOT / path).read_text()
        assert not test or f"\ndef {test}(" in text, name


def test_all_rows_of_devices_and_distribution_are_shown() -> None:
    wanted = {f"E{number}" for number in range(1, 13)}
    assert {*SHOWN} >= wanted | {"B7", "B8", "C4", "C5", "D2", "D6", "F7", "H5", "H7"}
