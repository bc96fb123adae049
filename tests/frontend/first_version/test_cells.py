"""Cells of recurrent networks with shards, dropout and lengths: values are TensorFlow's."""

from typing import Any

import numpy as np
import pytest

from gravure import tf

v1: Any = tf.compat.v1
rnn: Any = v1.nn
cell: Any = v1.nn.rnn_cell
X = np.linspace(-1, 1, 24).reshape(4, 3, 2).astype(np.float32)


@pytest.fixture(autouse=True)
def graph() -> Any:
    """Run each test in a graph of its own, whose chances are the same each time."""
    with tf.Graph().as_default() as made:
        v1.set_random_seed(5)
        yield made


def sums(made: Any) -> list[float]:
    """Return the sums of what a structure holds."""
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        return [float(np.sum(x)) for x in tf.nest.flatten(session.run(made))]


def lstm(units: int, **options: Any) -> Any:
    """Return a cell whose variables are all alike."""
    return cell.LSTMCell(units, initializer=v1.constant_initializer(0.3), **options)


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_steps_to_both_sides_end_where_examples_do(kind: str) -> None:
    lengths, steps = tf.constant([2, 4, 0], kind), tf.unstack(tf.constant(X))
    made = rnn.static_bidirectional_rnn(
        lstm(2), lstm(2), steps, dtype=tf.float32, sequence_length=lengths
    )
    wanted = [-0.44252, -0.26238, 0.27437, 0.52906, -0.15686, -0.00219, -0.52196, -0.18109]
    assert sums(made) == pytest.approx(wanted, abs=3e-5)


def test_matrices_may_be_in_shards(graph: Any) -> None:
    one = lstm(3, use_peepholes=True, num_proj=4, num_unit_shards=2, num_proj_shards=3)
    made = rnn.dynamic_rnn(one, tf.constant(X), dtype=tf.float32)
    assert sums(made) == pytest.approx([2.92581, 2.35945, 2.0286], abs=5e-5)
    names = [v.name for v in graph.get_collection("variables")]
    assert "rnn/lstm_cell/kernel/part_1:0" in names
    assert "rnn/lstm_cell/projection/kernel/part_2:0" in names
    assert len(one.variables) == 9


@pytest.mark.parametrize(("make", "wanted"), [
    (lambda: lstm(4), [-0.74718, -2.22421, -0.97568]),
    (lambda: cell.MultiRNNCell([
        cell.GRUCell(2, kernel_initializer=v1.constant_initializer(0.3)), lstm(2)
    ]), [-0.16485, -1.22361, -0.3519, -0.20265]),
])  # fmt: skip
def test_each_part_is_dropped_by_a_seed_of_its_own(make: Any, wanted: Any) -> None:
    dropping = cell.DropoutWrapper(make(), 0.8, 0.7, 0.6, seed=9)
    made = dropping(tf.constant(X[0]), dropping.zero_state(3, tf.float32))
    assert sums(made) == pytest.approx(wanted, abs=3e-5)
    assert dropping.wrapped_cell is dropping._cell


def test_all_steps_may_drop_the_same() -> None:
    dropping = cell.DropoutWrapper(lstm(4), 0.8, 0.7, 0.6, variational_recurrent=True,
                                   input_size=2, dtype=tf.float32, seed=9)  # fmt: skip
    made = rnn.dynamic_rnn(dropping, tf.constant(X), dtype=tf.float32)
    assert sums(made) == pytest.approx([4.92591, 4.92553, 5.03732], abs=1e-4)
    with pytest.raises(ValueError, match="dtype must be provided"):
        cell.DropoutWrapper(lstm(4), variational_recurrent=True)
    with pytest.raises(ValueError, match="input_size must be provided"):
        cell.DropoutWrapper(lstm(4), 0.5, variational_recurrent=True, dtype=tf.float32)


class Keeper:
    """Keeps the state of a network."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    def state(self, name: str) -> Any:
        """Return the state to begin with."""
        return tf.fill([3, 2], {"c": 0.1, "h": 0.2}[name])

    def save_state(self, name: str, value: Any) -> Any:
        """Keep a state."""
        self.kept[name] = value
        return tf.identity(value)


def test_states_may_be_kept_by_an_object() -> None:
    keeper, steps = Keeper(), tf.unstack(tf.constant(X))
    made, last = rnn.static_state_saving_rnn(lstm(2), steps, keeper, ("c", "h"), [2, 4, 1])
    wanted = [-0.17218, -0.27687, -0.03603, 0.28317, 0.02094, 0.09123, 0.02094, 0.09123]
    assert sums([made, last, keeper.kept]) == pytest.approx(wanted, abs=3e-5)
    with pytest.raises(ValueError, match="state_name"):
        rnn.static_state_saving_rnn(lstm(2), steps, keeper, "c")


def test_lengths_types_and_states_are_checked() -> None:
    gru, steps = cell.GRUCell(2), tf.unstack(tf.constant(X))
    with pytest.raises(ValueError, match="must be a vector"):
        rnn.dynamic_rnn(gru, tf.constant(X), sequence_length=[[4]], dtype=tf.float32)
    with pytest.raises(ValueError, match="must be a vector"):
        rnn.static_rnn(gru, steps, sequence_length=4, dtype=tf.float32)
    with pytest.raises(ValueError, match="only supports floating"):
        gru(tf.ones((3, 2), tf.int32), tf.ones((3, 2), tf.int32))
    with pytest.raises(ValueError, match="Expected state to be a tuple"):
        cell.MultiRNNCell([gru, gru])(tf.ones((1, 2)), tf.ones((1, 4)))
    with pytest.raises(ValueError, match="batch_size and dtype cannot be None"):
        gru.get_initial_state()
    with pytest.raises(ValueError, match="batch size from input"):
        gru.get_initial_state(tf.ones((3, 2)), 4)
    with pytest.raises(ValueError, match="dtype from input"):
        gru.get_initial_state(tf.ones((3, 2)), dtype=tf.float64)
