"""TensorFlow's namespaces can be imported by their names."""

import importlib

import pytest
from gravure.tf.compat.v1 import Session, placeholder
from gravure.tf.errors import InvalidArgumentError

import gravure.tf as tf

NAMES = [
    *("compat.v1", "errors", "nn", "math", "linalg", "train", "random", "compat.v2"),
    *("math.special", "data.experimental", "io.gfile", "config.experimental", "compat.v1.nn"),
    *("compat.v1.train", "compat.v1.logging", "compat.v2.nn", "experimental.numpy.random"),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_namespace_is_a_module(name: str) -> None:
    found = tf
    for part in name.split("."):
        found = getattr(found, part)
    assert importlib.import_module(f"gravure.tf.{name}") is found


def test_names_come_from_namespaces() -> None:
    assert (Session, placeholder) == (tf.compat.v1.Session, tf.compat.v1.placeholder)
    assert issubclass(InvalidArgumentError, tf.errors.OpError)


def test_what_there_is_not_is_no_module() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("gravure.tf.no_such_namespace")
