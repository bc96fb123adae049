"""Each public name of TensorFlow is here, or refused by its name and with a reason."""

from pathlib import Path

import pytest

import gravure.tf as tf
from gravure.frontend.tf.core.listing import listed, refusals, why_not
from gravure.tools.tensorflow_table import differences, is_here, page

PAGE = Path(__file__).parents[2] / "docs" / "tensorflow.md"
WHOLE = (
    *("tf", "tf.math", "tf.linalg", "tf.nn", "tf.image", "tf.signal", "tf.strings", "tf.random"),
    *("tf.io", "tf.train", "tf.raw_ops", "tf.compat.v1", "tf.compat.v1.nn", "tf.compat.v1.train"),
)
"""Namespaces whose names are all refused by name, at the place where they are asked for."""


def test_the_page_is_what_the_tool_writes() -> None:
    assert PAGE.read_text() == page(), (
        "run python -m gravure.tools.tensorflow_table > docs/tensorflow.md"
    )


@pytest.mark.parametrize("space", listed())
def test_each_name_is_here_or_there_is_a_reason(space: str) -> None:
    paths = [f"{space}.{name}" for name in listed()[space]]
    silent = [path for path in paths if not is_here(path) and why_not(path) is None]
    assert not silent, "say in frontend/tf/core/refusals.txt why"


@pytest.mark.parametrize("space", WHOLE)
def test_what_is_not_here_is_refused_by_name(space: str) -> None:
    here: object = tf
    for part in space.split(".")[1:]:
        here = getattr(here, part)
    for name in listed()[space]:
        if not is_here(f"{space}.{name}"):
            with pytest.raises(AttributeError, match=rf"has no '{name}': \w"):
                getattr(here, name)


def test_each_reason_is_of_some_name() -> None:
    paths = [f"{space}.{name}" for space, names in listed().items() for name in names]
    told = {why_not(path) for path in paths if not is_here(path)}
    unused = [pattern for pattern, why in refusals() if why not in told and "Keras" not in why]
    assert not unused, "these say why something is refused that is here, or not TensorFlow's"


def test_a_name_that_tensorflow_has_not_is_only_not_found() -> None:
    with pytest.raises(AttributeError, match=r"gravure\.tf\.math has no 'ad'$"):
        _ = tf.math.ad


def test_differences_are_what_the_code_refuses() -> None:
    assert differences(tf.image.encode_jpeg) == ["encode_jpeg: xmp_metadata is not written"]
    assert differences(tf.add) == []
