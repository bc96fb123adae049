"""`tf.experimental.ExtensionType`: types that users make of several tensors."""

from collections.abc import Mapping

import pytest

import gravure.tf as tf


class Masked(tf.experimental.BatchableExtensionType):
    """Elements of which some do not count."""

    values: tf.Tensor
    mask: tf.Tensor

    def with_default(self, default):
        """Return the elements, and others where they do not count."""
        return tf.where(self.mask, self.values, default)


class Fraction(tf.experimental.ExtensionType):
    """A pair of tensors with a name."""

    over: tf.Tensor
    under: tf.Tensor
    name: str = "half"

    def __validate__(self):
        """Raise where shapes differ."""
        self.over.shape.assert_is_compatible_with(self.under.shape)


class Node(tf.experimental.ExtensionType):
    """A value with structures inside."""

    parts: tuple[tf.Tensor, ...]
    named: Mapping[str, tf.Tensor]
    inner: Masked
    kind: int | str


MASKED = Masked([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[True, True, False], [True, False, True]])


def test_fields_become_tensors_and_do_not_change():
    assert MASKED.with_default(0.0).numpy().tolist() == [[1, 2, 0], [4, 0, 6]]
    assert MASKED.mask.dtype == tf.bool
    with pytest.raises(AttributeError, match="Cannot mutate attribute `mask`"):
        MASKED.mask = 3
    with pytest.raises(AttributeError, match="Cannot delete attribute `mask`"):
        del MASKED.mask
    with pytest.raises(TypeError, match="name: expected 'str', got 'int'"):
        Fraction(1.0, 2.0, 3)
    with pytest.raises(TypeError, match="under: expected a Tensor, got 'NoneType'"):
        Fraction(1.0, None)
    with pytest.raises(ValueError, match="are incompatible"):
        Fraction([1.0], [2.0, 3.0])
    assert Fraction(1.0, under=2.0).name == "half"


def test_structures_are_fields_too():
    node = Node([1, 2], {"a": 3.0}, MASKED, "leaf")
    assert node.kind == "leaf"
    assert node.named["a"].numpy() == 3
    assert len(tf.nest.flatten(node, expand_composites=True)) == 5
    with pytest.raises(TypeError, match="does not change"):
        node.named["b"] = 3
    spec = tf.type_spec_from_value(node)
    assert spec == tf.type_spec_from_value(Node([1, 2], {"a": 3.0}, MASKED, "leaf"))
    assert spec != tf.type_spec_from_value(Node([1, 2], {"a": 3.0}, MASKED, "root"))
    assert spec.inner.values == tf.TensorSpec([2, 3], tf.float32)


def test_functions_choices_and_loops_take_and_give_them():
    traces = []

    @tf.function
    def doubled(x, count):
        traces.append(1)
        for _ in tf.range(count):
            x = Masked(x.values * 2.0, x.mask)
        return tf.cond(count > 5, lambda: MASKED, lambda: x)

    assert doubled(MASKED, tf.constant(3)).values[0].numpy().tolist() == [8, 16, 24]
    assert doubled(MASKED, tf.constant(9)).values[0].numpy().tolist() == [1, 2, 3]
    assert len(traces) == 1
    spec = Masked.Spec(tf.TensorSpec([None], tf.float32), tf.TensorSpec([None], tf.bool))
    declared = tf.function(lambda x: x.with_default(0.0), input_signature=[spec])
    assert declared(Masked([1.0, 2.0], [True, False])).numpy().tolist() == [1, 0]


def test_gradients_come_as_values():
    x = Masked([1.0, 2.0], [1.0, 0.0])
    with tf.GradientTape() as tape:
        tape.watch(tf.nest.flatten(x, expand_composites=True))
        y = tf.reduce_sum(x.values**2)
    found = tape.gradient(y, x)
    assert found.values.numpy().tolist() == [2, 4]


def test_datasets_hold_them():
    data = tf.data.Dataset.from_tensor_slices(MASKED).map(lambda x: Masked(x.values + 1.0, x.mask))
    assert [x.with_default(0.0).numpy().tolist() for x in data] == [[2, 3, 0], [5, 0, 7]]
    (batch,) = data.batch(2)
    assert batch.values.shape == [2, 3]


def test_functions_of_tensors_may_be_given_a_meaning():
    experimental = tf.experimental

    @experimental.dispatch_for_unary_elementwise_apis(Masked)
    def each(api, x):
        return Masked(api(x.values), x.mask)

    @experimental.dispatch_for_binary_elementwise_apis(Masked, Masked)
    def both(api, x, y):
        return Masked(api(x.values, y.values), tf.logical_and(x.mask, y.mask))

    @experimental.dispatch_for_api(tf.reduce_sum, {"input_tensor": Masked})
    def total(input_tensor, axis=None, keepdims=False, name=None):
        return tf.reduce_sum(input_tensor.with_default(0.0), axis, keepdims)

    try:
        assert tf.square(MASKED).values[0].numpy().tolist() == [1, 4, 9]
        assert tf.maximum(MASKED, MASKED).values[1].numpy().tolist() == [4, 5, 6]
        assert tf.reduce_sum(MASKED, axis=1).numpy().tolist() == [3, 10]
    finally:
        for handler in (each, both, total):
            experimental.unregister_dispatch_for(handler)


def test_equality_is_that_of_all_elements():
    assert bool(Masked([1.0], [True]) == Masked([1.0], [True]))
    assert not bool(Masked([1.0], [True]) == Masked([2.0], [True]))
    assert Masked([1.0], [True]) != 3
    assert repr(Fraction(1.0, 2.0)).startswith("Fraction(over=<tf.Tensor: shape=(), dtype=float32")


def test_a_map_makes_values_of_a_signature_that_has_parts():
    signature = Masked.Spec(tf.TensorSpec([2]), tf.TensorSpec([2], tf.bool))

    def rows(x):
        return tf.map_fn(lambda row: Masked(row * 2.0, row > 2.0), x, fn_output_signature=signature)

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    counted = tf.function(rows)
    uncounted = tf.function(rows, input_signature=[tf.TensorSpec([None, 2])])
    for function in (rows, counted, uncounted):
        made = function(x)
        assert isinstance(made, Masked)
        assert made.values.numpy().tolist() == [[2.0, 4.0], [6.0, 8.0]]
        assert made.mask.numpy().tolist() == [[False, False], [True, True]]
    assert uncounted(x[:0]).values.shape == (0, 2)


def test_a_map_goes_over_the_rows_of_a_value_that_has_parts():
    given = Masked(tf.constant([[1.0], [2.0]]), tf.constant([[True], [False]]))
    like = Masked.Spec(tf.TensorSpec([1]), tf.TensorSpec([1], tf.bool))
    made = tf.map_fn(lambda x: Masked(x.values + 1.0, ~x.mask), given, fn_output_signature=like)
    assert made.with_default(0.0).numpy().tolist() == [[0.0], [3.0]]


def test_classes_are_refused_whose_fields_can_be_none():
    base = tf.experimental.ExtensionType
    for names in ({"_to_components": int}, {"_tf_extension_type_x": int}):
        with pytest.raises(ValueError, match=r"for Wrong are invalid\. Field '_t.*' is reserved"):
            type(base)("Wrong", (base,), {"__annotations__": names})
    for kind in (list[int], complex, int | tuple[complex, ...]):
        with pytest.raises(TypeError, match="In field 'x': Unsupported type annotation"):
            type(base)("Wrong", (base,), {"__annotations__": {"x": kind}})
    with pytest.raises(ValueError, match=r"Wrong\.Spec must be a nested class; got 12"):
        type(base)("Wrong", (base,), {"Spec": 12})
    with pytest.raises(TypeError, match="unresolved type: name 'Nothing'"):
        type(base)("Wrong", (base,), {"__annotations__": {"x": "Nothing"}})(x=1)
    with pytest.raises(AssertionError, match="ExtensionType is an abstract base class"):
        base()


class Weighted(tf.experimental.ExtensionType):
    """Is described by a class of its own."""

    values: tf.Tensor
    weight: tf.Tensor

    class Spec:
        """Says the type of the weight."""

        def __init__(self, shape, dtype=tf.float32):
            self.values = tf.TensorSpec(shape, dtype)
            self.weight = tf.TensorSpec([], dtype)

        def __validate__(self):
            self.weight.shape.assert_has_rank(0)

        def with_shape(self, shape):
            """Return another one."""
            return Weighted.Spec(shape, self.weight.dtype)


def test_a_description_may_have_a_constructor_of_its_own():
    spec = Weighted.Spec([2]).with_shape([3])
    assert spec == Weighted.Spec([3])
    scaled = tf.function(lambda x: x.values * x.weight, input_signature=[spec])
    assert scaled(Weighted([1.0, 2.0, 3.0], 2.0)).numpy().tolist() == [2.0, 4.0, 6.0]
    with pytest.raises(AttributeError, match="Cannot mutate attribute `weight` outside the custom"):
        spec.weight = 1
    with pytest.raises(AttributeError, match="Cannot mutate attribute `weight` outside the custom"):
        del spec.weight


@pytest.mark.parametrize("staged", [False, True])
def test_values_of_other_shapes_are_others(staged):
    def compared(x):
        same, other = Weighted(x, 2.0), Weighted([x, x], 2.0)
        return same == Weighted(x, 2.0), same != Weighted(x, 2.0), same == other, same != other

    found = (tf.function(compared) if staged else compared)(tf.constant([1.0, 2.0]))
    assert [bool(x) for x in found] == [True, False, False, True]
