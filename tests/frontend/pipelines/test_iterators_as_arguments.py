"""Iterators that functions are given: all of one kind of elements share a trace."""

from typing import Any

import pytest

import gravure.tf as tf

D = tf.data.Dataset


def test_iterators_of_equal_elements_share_a_trace() -> None:
    traces: list[Any] = []

    @tf.function
    def total(iterator: Any) -> Any:
        traces.append(iterator.element_spec)
        found = tf.constant(0, tf.int64)
        for x in iterator:
            found += x
        return found

    for epoch in range(3):
        assert total(iter(D.range(5 + epoch))).numpy() == sum(range(5 + epoch))
    assert len(traces) == 1
    with pytest.raises(TypeError):
        total(iter(D.from_tensors(b"a")))
    assert total(iter(D.range(4).map(lambda x: x * 2))).numpy() == 12
    assert len(traces) == 2


def test_an_iterator_goes_on_where_calls_left_it() -> None:
    @tf.function
    def step(iterator: Any) -> Any:
        return inner(iterator) * 10

    @tf.function
    def inner(iterator: Any) -> Any:
        return next(iterator)

    iterator, other = iter(D.range(1, 4)), iter(D.range(7, 9))
    found = [int(step(x)) for x in (iterator, other, iterator, other)]
    assert found == [10, 70, 20, 80]
    assert int(next(iterator)) == 3
    with pytest.raises(tf.errors.OutOfRangeError):
        step(iterator)


def test_iterators_in_structures_loops_and_signatures() -> None:
    @tf.function
    def both(pair: Any, steps: Any) -> Any:
        found = tf.constant(0, tf.int64)
        for _ in tf.range(steps):
            found += next(pair["a"]) * next(pair["b"][0])
        return found

    pair = {"a": iter(D.range(9)), "b": [iter(D.range(10, 19))]}
    assert int(both(pair, tf.constant(3))) == 0 * 10 + 1 * 11 + 2 * 12
    assert int(both(pair, tf.constant(1))) == 3 * 13

    spec = tf.data.IteratorSpec(tf.TensorSpec([], tf.int64))

    @tf.function(input_signature=[spec])
    def following(iterator: Any) -> Any:
        return iterator.get_next()

    assert spec == tf.data.IteratorSpec(iter(D.range(3)).element_spec)
    assert int(following(iter(D.range(6, 8)))) == 6
    optional = tf.function(lambda iterator: iterator.get_next_as_optional().has_value())
    empty = iter(D.range(0))
    assert not bool(optional(empty))
