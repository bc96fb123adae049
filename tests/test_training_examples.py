"""Training examples: to stage one changes two lines at most, and the numbers stay."""

import difflib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).parent / "examples"


def text(name: str) -> str:
    return (EXAMPLES / f"{name}.py").read_text()


def example(name: str, **changed: Any) -> dict[str, Any]:
    """Return what an example defines, with some of its constants changed."""
    names: dict[str, Any] = {"__name__": name}
    exec(compile(text(name), str(EXAMPLES / f"{name}.py"), "exec"), names)
    names.update(changed)
    return names


@pytest.mark.parametrize("name", ["l2hmc", "resnet50"])
def test_i26_the_staged_version_differs_in_two_lines_at_most(name: str) -> None:
    eager, staged = (text(f"{name}_{kind}").split("\n") for kind in ("eager", "staged"))
    rows = difflib.unified_diff(eager, staged, n=0)
    changed = [row for row in rows if row[0] in "+-" and row[:3] not in ("+++", "---")]
    assert changed == ["+    @tf.function"]


def test_a_small_resnet_learns_the_same_staged() -> None:
    losses = []
    for kind in ("eager", "staged"):
        names = example(f"resnet50_{kind}")
        model = names["ResNet"](classes=5, stages=((1, 4),), width=4)
        step, given = names["training"](model), names["batch"](4, pixels=16, classes=5)
        losses.append([float(step(*given)) for _ in range(5)])
    eager, staged = losses
    assert eager[-1] < eager[0]
    np.testing.assert_allclose(staged, eager, rtol=2e-3)


SMALL = {
    "convnet": ("ConvNet", {"pixels": 8, "width": 4, "hidden": 8}, {"pixels": 8}),
    "transformer": (
        "Transformer",
        {"length": 6, "width": 16, "heads": 2, "blocks": 1},
        {"length": 6},
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_small_network_learns_the_same_compiled(name: str) -> None:
    network, sizes, data = SMALL[name]
    losses = []
    for eagerly in (True, False):
        names = example(name)
        step, given = names["training"](names[network](**sizes)), names["batch"](4, **data)
        names["tf"].config.run_functions_eagerly(eagerly)
        losses.append([float(step(*given)) for _ in range(5)])
    assert step.get_concrete_function(*given).graph.refusal == ""
    eager, compiled = losses
    assert eager[-1] < eager[0]
    np.testing.assert_allclose(compiled, eager, rtol=1e-4)


def test_a_sampler_of_one_leapfrog_step_learns_staged() -> None:
    names = example("l2hmc_staged", STEPS=1)
    names["tf"].random.set_seed(1)
    step, x = names["training"](samples=50)
    losses = []
    for _ in range(40):
        loss, x = step(x)
        losses.append(float(loss))
    assert step.get_concrete_function(x).graph.refusal == ""
    assert np.isfinite(losses).all()
    assert np.mean(losses[-10:]) < np.mean(losses[:10])
