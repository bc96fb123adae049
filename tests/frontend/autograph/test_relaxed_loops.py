"""Loops over datasets leave sizes open that their turns change, as TensorFlow's do."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gravure.tf as tf
from gravure import PerformanceWarning

NUMBERS = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0, 4.0, 5.0])


def test_what_a_turn_makes_longer_is_open() -> None:
    @tf.function
    def grown(numbers):
        out, count, rows = tf.zeros([0]), tf.constant(0), tf.zeros([2, 3])
        for x in numbers:
            out, count = tf.concat([out, [x]], 0), count + 1
            rows = tf.concat([rows, tf.fill([1, 3], x)], 0)
            if x > 3.0:
                break
        return out, count, rows

    out, count, rows = grown.get_concrete_function(NUMBERS).structured_outputs
    assert [x.shape.as_list() for x in (out, count, rows)] == [[None], [], [None, 3]]
    for _ in range(4):
        out, count, rows = grown(NUMBERS)
        assert (out.numpy().tolist(), int(count)) == ([1.0, 2.0, 3.0, 4.0], 4)
        assert rows.numpy()[:, 1].tolist() == [0.0, 0.0, 1.0, 2.0, 3.0, 4.0]


def test_elements_of_unknown_rank_make_a_sum_of_unknown_rank() -> None:
    numbers = tf.data.Dataset.from_generator(lambda: [(1, 3)] * 3, (tf.int32, tf.int32))

    @tf.function
    def added(numbers):
        total = tf.constant(0)
        for x, y in numbers:
            total += tf.abs(y - x)
        return total

    assert [int(added(numbers)) for _ in range(4)] == [6] * 4


def test_shapes_that_are_stated_still_hold() -> None:
    @tf.function
    def stated(numbers):
        out = tf.zeros([0, 2])
        for x in numbers:
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(out, tf.TensorShape([None, 2]))]
            )
            out = tf.fill([1, 3], x)
        return out

    with pytest.raises(ValueError, match=r"does not conform with the shape invariant"):
        stated(NUMBERS)


def test_loops_over_tensors_refuse_it() -> None:
    @tf.function
    def grown(numbers):
        out = tf.zeros([0])
        for x in numbers:
            out = tf.concat([out, [x]], 0)
        return out

    with pytest.raises(ValueError, match="shape invariants"):
        grown(tf.range(3.0))


@pytest.mark.parametrize("grows", [False, True])
def test_the_way_back_goes_through_a_loop_over_an_argument(grows: bool) -> None:
    @tf.function
    def slope(numbers, w):
        with tf.GradientTape() as tape:
            tape.watch(w)
            out = tf.zeros([0]) if grows else tf.zeros([1])
            for x in numbers:
                out = tf.concat([out, w * x], 0) if grows else out + w * x
            loss = tf.reduce_sum(out**2)
        return tape.gradient(loss, w)

    wanted = 2 * (55.0 if grows else 15.0**2) * 3.0
    for _ in range(4):
        np.testing.assert_allclose(slope(NUMBERS, tf.constant([3.0])).numpy(), [wanted])


def test_what_only_a_turn_makes_is_refused_where_there_is_none() -> None:
    @tf.function
    def last(values):
        found = None
        for value in values:
            found = value
        return found

    @tf.function
    def made(count):
        while count > 0:
            count, ones = count - 1, tf.ones([count])
        return tf.reduce_sum(ones)

    for _ in range(3):
        assert int(last(tf.constant([4, 5]))) == 5
        assert float(made(tf.constant(3))) == 1.0
    for call in (lambda: last(tf.zeros([0])), lambda: made(tf.constant(0))):
        with pytest.raises(tf.errors.InvalidArgumentError, match="at least once to initialize"):
            call()


def test_what_only_a_turn_makes_may_have_any_rank() -> None:
    @tf.function
    def made(count):
        while count > 0:
            count, ones = count - 1, tf.ones(tf.range(1, count + 1))
        return tf.rank(ones)

    with pytest.warns(PerformanceWarning, match="how many axes"):
        assert [int(made(tf.constant(2))) for _ in range(3)] == [1] * 3


def test_a_loop_goes_through_rows_of_several_lengths() -> None:
    @tf.function
    def digits(rows):
        total = 0
        for row in rows:
            for digit in row:
                total = total * 10 + digit
        return total

    for rows in ([[]], [[], [1]], [[3, 1], [], [2]]):
        want = int("0" + "".join(str(x) for row in rows for x in row))
        assert int(digits(tf.ragged.constant(rows, tf.int32))) == want


def test_what_a_turn_may_not_change_is_said_of_turns() -> None:
    @tf.function
    def other_type(numbers):
        total = 0
        for _ in numbers:
            total = 1.5
        return total

    @tf.function
    def other_shape(count):
        made = tf.zeros([2])
        while count > 0:
            tf.autograph.experimental.set_loop_options(shape_invariants=[(made, [2])])
            count, made = count - 1, tf.zeros([3])
        return made

    with pytest.raises(TypeError, match="has dtype int32 before the loop, but dtype float32 after"):
        other_type(NUMBERS)
    with pytest.raises(ValueError, match="does not conform with the shape invariant"):
        other_shape(tf.constant(2))


def test_what_only_one_branch_puts_into_a_dictionary_is_refused() -> None:
    @tf.function
    def made(x):
        found = {"a": x}
        if x > 0:
            found["b"] = x
        else:
            found["a"] = -x
        return found

    with pytest.raises(ValueError, match="must also be initialized in the else branch"):
        made(tf.constant(1))


def test_an_attribute_that_a_turn_needs_is_to_be_defined_before_the_loop() -> None:
    @tf.function
    def made(count):
        kept = SimpleNamespace()
        while count < 5:
            if count == 0:
                kept.x = count
            else:
                kept.x = kept.x + 1
            count += 1
        return kept.x

    with pytest.raises(ValueError, match=r"'kept\.x' must be defined before the loop"):
        made(tf.constant(0))


def test_a_value_of_several_tensors_is_true() -> None:
    sparse = tf.sparse.from_dense([1, 0])

    @tf.function
    def made(x, given):
        if given:
            x = -x
        return x

    assert int(made(tf.constant(1), sparse)) == -1
    assert int(made(tf.constant(1), None)) == 1


def test_names_inside_pythons_choices_and_loops_begin_with_theirs():
    names = []

    def named(x, name):
        made = tf.identity(x, name=name)
        names.append(made.name)
        return made

    @tf.function
    def f(x):
        if x > 0.0:
            x = named(x, "a") * 1.0
            assert names == ["cond/a:0"]
        else:
            x = named(x, "b")
        for _ in tf.range(2):
            x = named(x, "c")
            if x > 0.0:
                x = named(x, "d")
        if x > 0.0:
            x = named(x, "e")
        while x < 5.0:
            x = named(x, "g") + 1.0
        return x

    assert f(tf.constant(1.0)) == 5.0
    inside = ["while/c:0", "while/cond/d:0", "cond_1/e:0", "while_1/g:0"]
    assert names == ["cond/a:0", "cond/b:0", *inside]


COMPOSITES = {
    "a shape": lambda: tf.TensorShape([None, None]),
    "a description": lambda: tf.RaggedTensorSpec([None, None], tf.int32, 1, tf.int64),
}


@pytest.mark.parametrize("kind", COMPOSITES)
def test_shapes_are_stated_of_all_of_a_ragged_tensor(kind: str) -> None:
    @tf.function
    def rows(n: Any) -> Any:
        made, total = tf.ragged.constant([[7]]), tf.zeros([0], tf.int32)
        for i in tf.range(n):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(total, tf.TensorShape([None])), (made, COMPOSITES[kind]())]
            )
            made = tf.concat([made, tf.RaggedTensor.from_tensor(tf.range(i)[None])], 0)
            total = tf.concat([total, [tf.reduce_sum(made)]], 0)
        return made, total

    made, total = rows(tf.constant(4))
    assert made.to_list() == [[7], [], [0], [0, 1], [0, 1, 2]]
    assert total.numpy().tolist() == [7, 7, 8, 11]


def test_shapes_that_ragged_tensors_do_not_have_are_refused() -> None:
    @tf.function
    def rows(n: Any) -> Any:
        made = tf.ragged.constant([[7]])
        for _i in tf.range(n):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(made, tf.TensorShape([None, None, 3]))]
            )
            made = tf.concat([made, made], 0)
        return made

    with pytest.raises(ValueError, match="does not conform to the shape invariant"):
        rows(tf.constant(4))
