"""What `--quick` takes of the tests: something of every folder, and no test twice."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SLOW = (ROOT / "tests" / "slow.txt").read_text().splitlines()


@pytest.mark.slow
def test_something_of_every_folder_is_quick() -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "--quick", "--assert=plain"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    picked = [line.partition("[")[0] for line in done.stdout.splitlines() if "::" in line]
    assert len(picked) == len({*picked})
    assert not {*picked} & {*SLOW}
    files = [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "tests").rglob("*.mlir")]
    folders = {path.parent.relative_to(ROOT).as_posix() for path in files}
    assert {name.partition("::")[0].rpartition("/")[0] for name in picked} == folders


def test_tests_that_are_known_to_be_slow_are_there() -> None:
    assert sorted({*SLOW}) == SLOW
    for name in SLOW:
        path, _, test = name.partition("::")
        text = (ROOT / path).read_text()
        assert path.endswith(".mlir") or f"def {test.rpartition('::')[2]}(" in text, name
