"""Functions over one state, loaded: what they compute, share, keep and refuse."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.errors import ArtifactError, RuntimeInputError

X = np.random.default_rng(1).normal(size=(16, 3)).astype(np.float32)
Y = X @ np.array([[1], [-2], [3]], np.float32)


def functions() -> tuple[dict[str, Any], list[Any]]:
    """Return functions over a matrix, an offset, and a count of steps; and these."""
    w = tf.Variable(np.ones((3, 1), np.float32), name="w")
    b = tf.Variable(0.5, name="b")
    count = tf.Variable(0, dtype=tf.int64, name="count")
    rows = tf.TensorSpec([16, 3], tf.float32)

    @tf.function(input_signature=[rows])
    def infer(x: Any) -> Any:
        return x @ w + b

    @tf.function(input_signature=[rows, tf.TensorSpec([16, 1], tf.float32)])
    def learn(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(infer(x) - y))
        grads = tape.gradient(loss, [w, b])
        for variable, grad in zip((w, b), grads, strict=True):
            variable.assign_sub(0.1 * grad)
        count.assign_add(1)
        return loss, grads[0]

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def shift(by: Any) -> None:
        tf.debugging.check_numerics(by, "too far")
        b.assign_add(by)

    return {"infer": infer, "learn": learn, "shift": shift}, [w, b, count]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("state") / "line.so"
    gv.save_functions(made, functions()[0])
    return made


def test_steps_in_a_library_are_those_in_python_bit_for_bit(path: Path) -> None:
    loaded, (python, variables) = gv.load_functions(path), functions()
    assert list(loaded) == ["infer", "learn", "shift"]
    begin = [variable.numpy() for variable in variables]
    for _ in range(3):  # then they are compiled: numpy adds a product's terms in another order
        python["infer"](X)
        python["learn"](X, Y)
    for variable, value in zip(variables, begin, strict=True):
        variable.assign(value)
    for _ in range(20):
        for found, expected in zip(loaded["learn"](X, Y), python["learn"](X, Y), strict=True):
            assert np.array_equal(found, expected)
        assert loaded["shift"](np.float32(0.25)) == ()
        python["shift"](0.25)
        state = loaded.state
        for name, variable in zip(("w", "b", "count"), variables, strict=True):
            assert state[name].dtype == variable.numpy().dtype
            assert np.array_equal(state[name], variable.numpy())
    assert np.array_equal(loaded["infer"](X), python["infer"](X))
    assert int(loaded.state["count"]) == 20


def test_each_loaded_library_has_a_state_of_its_own(path: Path) -> None:
    first, second = gv.load_functions(path), gv.load_functions(path.read_bytes())
    first["learn"](x=X, y=Y)
    assert int(first.state["count"]) == 1
    assert int(second.state["count"]) == 0
    second.restore(first.saved())
    assert np.array_equal(second["infer"](X), first["infer"](X))
    looked = first.state["w"]
    first["learn"](X, Y)
    assert not np.array_equal(looked, first.state["w"])


def test_what_does_not_fit_is_refused_and_changes_nothing(path: Path) -> None:
    loaded = gv.load_functions(path)
    before = loaded.saved()
    cases: tuple[tuple[str, list[Any]], ...] = (
        ("argument 'x' compiled with f32.16, 3. and called with f32.4, 3.", [X[:4], Y]),
        ("called with f64", [X.astype(np.float64), Y]),
        ("1 arguments: expected 2 .'x', 'y'.", [X]),
    )
    for wrong, arguments in cases:
        with pytest.raises(RuntimeInputError, match=wrong):
            loaded["learn"](*arguments)
    with pytest.raises(RuntimeInputError, match="either in order or by name"):
        loaded["learn"](X, y=Y)
    with pytest.raises(gv.GravureError, match="too far"):
        loaded["shift"](np.float32(np.inf))
    for data in (b"", before[:-1], bytes(len(before))):
        with pytest.raises(RuntimeInputError, match="not what was saved of such a state"):
            loaded.restore(data)
    assert loaded.saved() == before


def test_functions_are_no_model_and_a_model_no_functions(path: Path, tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="functions over one state, no model"):
        gv.load(path)
    plain = tf.function(lambda x: x + 1, input_signature=[tf.TensorSpec([2], tf.float32)])
    plain.get_concrete_function().save(tmp_path / "plain.so")
    with pytest.raises(ArtifactError, match="no functions over one state"):
        gv.load_functions(tmp_path / "plain.so")
