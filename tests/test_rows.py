"""The tests that docs/rows.md names are there; no row of devices or of faults is without."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TABLE = (ROOT / "docs" / "rows.md").read_text().partition("## 5. ")[2]
ROWS: dict[str, str] = dict(re.findall(r"^\| ([A-Z]\d+) \| (.+) \|$", TABLE, re.MULTILINE))
SHOWN = {row: re.findall(r"`(tests/[^`]+)`", tests) for row, tests in ROWS.items()}
"""By row: its tests. A fault that is not mended says what is open; what devices do has tests."""


@pytest.mark.parametrize("row", SHOWN)
def test_the_tests_of_a_row_are_there(row: str) -> None:
    assert SHOWN[row] or "open: " in ROWS[row]
    for name in SHOWN[row]:
        path, _, test = name.partition("::")
        text = (ROOT / path).read_text()
        assert not test or f"\ndef {test}(" in text, name


def test_all_rows_of_devices_and_distribution_are_shown() -> None:
    wanted = {f"E{number}" for number in range(1, 13)}
    wanted |= {"B7", "B8", "C4", "C5", "D2", "D6", "F7", "H5", "H7"}
    assert {row for row in SHOWN if SHOWN[row]} >= wanted


def test_every_fault_that_was_found_has_a_row() -> None:
    found = [int(row[1:]) for row in re.findall(r"^\| (T\d+) \|", TABLE, re.MULTILINE)]
    assert found == [*range(1, len(found) + 1)]
    assert found
