"""Timings and whether they differ; profiles of launches."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

import gravure as gv
from gravure.codegen.compile import Options
from gravure.codegen.profile import profiled
from gravure.codegen.work import launches_of
from gravure.errors import ArtifactError
from gravure.frontend.models.compiled import load_compiled
from gravure.frontend.programs.compile import compile_source
from gravure.passes import Observer
from gravure.runtime.measure import MeasurePlan, Timing, change, measure
from gravure.runtime.profile import middle, profile

DIGITS = Path(__file__).parents[1] / "models" / "digits.onnx"


def test_short_calls_are_measured_several_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0]

    def passes(nanoseconds: int) -> int:
        now[0] += nanoseconds
        return now[0]

    monkeypatch.setattr("gravure.runtime.measure.perf_counter_ns", lambda: passes(20))
    found = measure(lambda: passes(10), MeasurePlan(0.001, 0.01))
    assert found.batch > 100
    assert found.percentile(50) < 1e-6


def test_long_calls_are_measured_one_by_one() -> None:
    found = measure(lambda: time.sleep(0.002), MeasurePlan(0.0, 0.0, 5))
    assert (found.batch, len(found.samples)) == (1, 5)
    assert found.mean >= 0.002
    assert found.as_json()["minimum"] >= 0.002


def test_confidence_grows_with_noise() -> None:
    random = np.random.default_rng(0)
    quiet = Timing(1000 + random.standard_normal(1000))
    loud = Timing(1000 + 100 * random.standard_normal(1000))
    assert quiet.confidence < loud.confidence / 10
    assert Timing(np.ones(1)).confidence == 0.0


@pytest.mark.parametrize(
    ("factor", "noise", "verdict"),
    [(1.0, 0.01, "same"), (1.2, 0.01, "slower"), (0.8, 0.01, "faster"), (1.02, 0.001, "same"),
     (1.1, 0.5, "same")],
)  # fmt: skip
def test_only_what_is_beyond_chance_and_threshold_counts(
    factor: float, noise: float, verdict: str
) -> None:
    random = np.random.default_rng(1)
    old = (1 + noise * random.standard_normal(20)).tolist()
    new = (factor * (1 + noise * random.standard_normal(20))).tolist()
    assert change(new, old, 0.05).verdict == verdict
    assert change(old, old, 0.05).errors == 0.0


@pytest.mark.parametrize("threads", [1, 2])
def test_launches_are_measured_and_results_stay(threads: int) -> None:
    compiled = compile_source(DIGITS, Options(slots=2), observers=[Observer()])
    model = load_compiled(profiled(compiled), threads)
    image = np.random.default_rng(2).standard_normal((1, 1, 8, 8)).astype(np.float32)
    found = profile(model, [image], seconds=0.05)
    assert compiled.program is not None
    infos = launches_of(compiled.program, {})
    assert len(found.launches) == len(infos) == 5
    assert min(found.launches) > 0
    assert found.inside / 2 < sum(found.launches) <= found.inside * (1 + 1e-9)
    assert max(zip(found.launches, infos, strict=True))[1].kind == "conv"
    np.testing.assert_array_equal(model(image), gv.compile(DIGITS)(image))


def test_outliers_are_left_out_and_what_stays_adds_up() -> None:
    parts = np.random.default_rng(1).integers(1, 100, (41, 3))
    parts[::7] += 10**6
    kept = middle(np.concatenate([parts.sum(axis=1, keepdims=True), parts], axis=1))
    assert len(kept) == 21
    assert kept.max() < 300
    np.testing.assert_array_equal(kept[:, 0], kept[:, 1:].sum(axis=1))


def test_model_without_a_clock_is_refused() -> None:
    with pytest.raises(ArtifactError, match="not compiled to be profiled"):
        profile(gv.compile(DIGITS), [np.zeros((1, 1, 8, 8), np.float32)])
