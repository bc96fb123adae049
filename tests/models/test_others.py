"""Models that others wrote, a small one of each family, against what onnxruntime gave for them.

They and the numbers were written by `tests/corpus/models/small.py`; the whole set is run by hand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure.frontend.programs.load import load_program
from gravure.ir.program import argument_names, argument_specs
from gravure.ir.types.dims import symbols

pytestmark = pytest.mark.sweep
SMALL = Path(__file__).parent.parent / "corpus" / "models" / "small"
NAMES = sorted(path.stem for path in SMALL.glob("*.onnx"))
TOLERANCES = dict.fromkeys(("half", "halved", "qdq", "qoperator", "dynamic8"), 2e-2)
"""The largest difference, as a part of the largest magnitude, of forms that round to few digits."""


def cases(name: str) -> list[tuple[dict[str, Any], list[Any]]]:
    """Return inputs by name and results, of each size that was tried."""
    arrays = np.load(SMALL / f"{name}.npz")
    found: dict[str, dict[str, Any]] = {}
    for key in arrays.files:
        number, _, rest = key.partition(".")
        found.setdefault(number, {})[rest] = arrays[key]
    return [
        (
            {key: x for key, x in each.items() if key[0] != "="},
            [each[f"={place}"] for place in range(sum(key[0] == "=" for key in each))],
        )
        for each in found.values()
    ]


def bounds(name: str) -> dict[str, tuple[int, int]]:
    """Return bounds for all sizes of inputs that are open: the largest that are tried."""
    main = (program := load_program(SMALL / f"{name}.onnx")).main
    found: dict[str, tuple[int, int]] = {}
    for key, spec in zip(argument_names(main), argument_specs(main), strict=True):
        for axis, dim in enumerate(spec.dims):
            for symbol in symbols(dim):
                low, high = program.ranges[symbol]
                if high is None:
                    most = max(feed[key].shape[axis] for feed, _ in cases(name))
                    found[symbol] = low, max(low, most)
    return found


def test_there_is_a_model_of_each_family() -> None:
    assert len(NAMES) >= 20
    sizes = {name: (SMALL / f"{name}.onnx").stat().st_size for name in NAMES}
    assert max(sizes.values()) < 50_000, sizes


@pytest.mark.parametrize("level", ["O0", "O2"])
@pytest.mark.parametrize("name", NAMES)
def test_an_exported_model_gives_what_onnxruntime_gave(name: str, level: str) -> None:
    model = gv.compile(SMALL / f"{name}.onnx", dims=bounds(name), level=level)
    allowed = TOLERANCES.get(name.rpartition("-")[2], 1e-4)
    for feed, wanted in cases(name):
        found = model.run(feed)
        assert len(found) == len(wanted)
        for want, got in zip(wanted, map(np.asarray, found), strict=True):
            assert got.shape == want.shape
            if want.dtype.kind not in "fiub":
                assert (got == want).all()
                continue
            scale = float(np.max(np.abs(want), initial=1e-6))
            worst = np.max(np.abs(got.astype(np.float64) - want), initial=0.0)
            assert worst <= allowed * scale, worst / scale
