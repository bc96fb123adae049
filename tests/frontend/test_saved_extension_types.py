"""Functions of extension types in what is saved, and fields that are called as one likes."""

from collections.abc import Mapping

import numpy as np
import pytest

import gravure.tf as tf


class Marked(tf.experimental.ExtensionType):
    """Values of which some count."""

    __name__ = "gravure_tests.Marked"
    values: tf.Tensor
    mask: tf.Tensor


class Listed(tf.experimental.ExtensionType):
    """One of these, with all kinds of fields."""

    __name__ = "gravure_tests.Listed"
    marked: Marked
    name: str = "x"
    parts: tuple[tf.Tensor, ...] = ()
    named: Mapping[str, tf.Tensor] = {}
    kind: tf.DType = tf.float32
    extents: tf.TensorShape = tf.TensorShape([None, 2])


class Nameless(tf.experimental.ExtensionType):
    """A type that nothing finds again."""

    values: tf.Tensor


class Doubling(tf.Module):
    @tf.function
    def __call__(self, x):
        return Marked(x.values + 1.0, x.mask)

    @tf.function(
        input_signature=[Marked.Spec(tf.TensorSpec([None]), tf.TensorSpec([None], tf.bool))]
    )
    def any_size(self, x):
        return {"a": Marked(x.values * 2.0, ~x.mask), "b": x.values}

    @tf.function
    def nested(self, x):
        inner = Marked(x.marked.values + x.parts[0] + x.named["k"], x.marked.mask)
        return Listed(inner, x.name + "y", (x.parts[0] * 2.0,), x.named, x.kind, x.extents)


MARKED = Marked([1.0, 2.0], [True, False])
LISTED = Listed(MARKED, "q", (tf.constant(3.0),), {"k": tf.constant(10.0)}, tf.int32, [None, 2])


@pytest.fixture
def saved(tmp_path):
    module = Doubling()
    module(MARKED), module.nested(LISTED)
    tf.saved_model.save(module, str(tmp_path))
    return tf.saved_model.load(str(tmp_path))


def test_functions_of_extension_types_are_saved(saved) -> None:
    made = saved(MARKED)
    assert type(made) is Marked
    assert made.values.numpy().tolist() == [2.0, 3.0]
    both = saved.any_size(Marked([1.0, 2.0, 3.0], [True, False, True]))
    assert both["a"].values.numpy().tolist() == [2.0, 4.0, 6.0]
    assert both["a"].mask.numpy().tolist() == [False, True, False]
    with pytest.raises(ValueError, match="Could not find matching concrete function"):
        saved(Marked([1.0, 2.0, 3.0], [True, False, True]))


def test_all_kinds_of_fields_come_back(saved) -> None:
    made = saved.nested(LISTED)
    assert type(made) is Listed
    assert made.marked.values.numpy().tolist() == [14.0, 15.0]
    assert (made.name, made.kind, made.extents.as_list()) == ("qy", tf.int32, [None, 2])
    assert (made.parts[0].numpy(), made.named["k"].numpy()) == (6.0, 10.0)


def test_values_of_classes_that_are_gone_are_anonymous(tmp_path) -> None:
    def make() -> None:
        class Gone(tf.experimental.ExtensionType):
            __name__ = "gravure_tests.Gone"
            values: tf.Tensor

        module = tf.Module()
        module.f = tf.function(lambda x: Gone(x * 1.0))
        module.f(tf.constant([1.0]))
        tf.saved_model.save(module, str(tmp_path))
        with pytest.raises(ValueError, match="has already been registered"):
            type("Other", (tf.experimental.ExtensionType,), {"__name__": "gravure_tests.Marked"})

    make()
    from gravure.frontend.tf.extension import stored  # noqa: PLC0415

    stored.REGISTERED.pop("gravure_tests.Gone", None)
    found = tf.saved_model.load(str(tmp_path)).f(tf.constant([4.0]))
    assert type(found).__name__ == "AnonymousExtensionType"
    assert found.values.numpy().tolist() == [4.0]


def test_types_without_names_are_refused_by_name(tmp_path) -> None:
    module = tf.Module()
    module.f = tf.function(lambda x: x.values)
    module.f(Nameless([1.0]))
    with pytest.raises(ValueError, match="a Nameless has no name that loading finds it by"):
        tf.saved_model.save(module, str(tmp_path))
    with pytest.raises(ValueError, match="must have the form"):
        type("Flat", (tf.experimental.ExtensionType,), {"__name__": "flat"})


def test_fields_may_be_called_like_what_composites_have() -> None:
    class Odd(tf.experimental.BatchableExtensionType):
        parts: tuple[tf.Tensor, ...]
        part_spec: tf.Tensor

    odd = Odd((tf.constant([3.0]),), tf.constant([1.0, 2.0]))
    assert odd.parts[0].numpy() == 3.0
    made = tf.function(lambda x: [x.parts[0], x.part_spec, x])(odd)
    assert (made[0].numpy(), made[1].numpy().tolist()) == (3.0, [1.0, 2.0])
    assert made[2].parts[0].numpy() == 3.0


def test_labels_of_another_rank_are_rows_of_classes() -> None:
    labels, logits = np.eye(3, dtype=np.float32)[[0, 2]], np.arange(6.0, dtype=np.float32) * 0.3
    logits = logits.reshape(2, 3)
    entropy = tf.nn.softmax_cross_entropy_with_logits
    wanted = [1.4283903, 0.82839024]
    np.testing.assert_allclose(entropy(labels[None], logits), wanted, 1e-6)
    np.testing.assert_allclose(entropy(labels, logits[None]), [wanted], 1e-6)
    np.testing.assert_allclose(entropy(labels[0], logits), wanted[:1] * 2, 1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not broadcast"):
        entropy(np.stack([labels, labels]), logits)

    @tf.function(input_signature=[tf.TensorSpec([1, None, 3]), tf.TensorSpec([None, 3])])
    def slope(truth, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = entropy(truth, x)
        return loss, tape.gradient(loss, x)

    loss, grad = slope(labels[None], logits)
    np.testing.assert_allclose(loss, wanted, 1e-6)
    np.testing.assert_allclose(grad, tf.nn.softmax(logits) - labels, 1e-5, 1e-6)
