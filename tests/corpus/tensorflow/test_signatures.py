"""Functions and methods take the arguments of TensorFlow 2.21, in its order and by its names."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

import pytest

import gravure.tf as tf

from .signatures import WRITTEN, parameters

OWN = {
    "tf.DType": "types are those that are there",
    "tf.*.__getitem__": "they are methods here",
    "tf.data.Dataset": "datasets are made by its functions",
    "tf.data.Dataset.*": "the dataset itself has another name",
    "tf.compat.v1.data.Iterator": "iterators are made by its functions",
    "tf.compat.v1.VariableScope": "scopes know the scope of names that they were made in",
    "tf.compat.v1.ReaderBase": "readers are made by their classes",
    "tf.compat.v1.ConditionalAccumulatorBase": "accumulators are made by their classes",
    "tf.compat.v1.device": "the name is given by its place",
    "tf.compat.v1.autograph.*": "types of arguments are not told",
    "tf.compat.v1.saved_model.build_signature_def": "signatures have no defaults",
    "tf.compat.v1.train.*Optimizer*": "slots have the names of the first version only",
    "tf.compat.v1.train.Checkpoint.*": "the session is the present one",
    "tf.compat.v1.train.QueueRunner": "runners are not read from messages",
    "tf.debugging.assert_none_equal": "checks have one order",
    "tf.*distribute.*": "strategies, contexts and resolvers make themselves",
    "tf.experimental.DynamicRaggedShape": "shapes are made by its functions",
    "tf.experimental.RowPartition": "partitions are made by its functions",
    "tf.experimental.numpy.*": "functions of numpy are called as numpy's",
    "tf.gather_nd": "the policy is given by its name",
    "tf.linalg.LinearOperator*.add_to_tensor": "all of them call the tensor x",
    "tf.lookup.experimental.DenseHashTable.lookup": "defaults of each call are taken, too",
    "tf.random.Generator.*": "numbers have no names",
    "tf.test.TestCase.assertDictEqual": "it is unittest's",
    "tf.train.CheckpointManager": "the newest step is read from the folder",
}
"""Patterns of names, and why they are called in another way."""
NOT_TAKEN = {"layout"}
"""Parameters of DTensor, which is refused as a whole."""


def rows() -> dict[str, list[str]]:
    """Return what TensorFlow is called with, by name."""
    found = (line.partition(":") for line in WRITTEN.read_text().splitlines())
    return {path: words.split() for path, _, words in found}


def here(path: str) -> object:
    """Return what has a name, None if it is refused."""
    found: object = tf
    for name in path.split(".")[1:]:
        found = getattr(found, name, None)
        if found is None:
            return None
    return found


def in_order(names: Sequence[str]) -> list[str]:
    """Return the parameters that may be given by their place."""
    end = names.index("*") if "*" in names else len(names)
    return [name for name in names[:end] if name != "..."]


def differences(theirs: Sequence[str], ours: Sequence[str]) -> str:
    """Return in what calls differ, an empty text if they do not."""
    by_name = {*theirs} - {"...", "*", "self", "cls"} - NOT_TAKEN
    missing = [] if "..." in ours else sorted(by_name - {*ours})
    if missing:
        return f"does not take {missing}"
    wanted, found = [n for n in in_order(theirs) if n not in NOT_TAKEN], in_order(ours)
    if "..." not in ours[: len(found) + 1] and found[: len(wanted)] != wanted:
        return f"takes {found}, expected {wanted}"
    return ""


def is_own(path: str) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in OWN)


SPACES = sorted({".".join(path.split(".")[:2]) for path in rows()})


@pytest.mark.parametrize("space", SPACES)
def test_what_is_here_is_called_as_in_tensorflow(space: str) -> None:
    wrong = {}
    for path, theirs in rows().items():
        found = here(path) if f"{path}.".startswith(f"{space}.") and not is_own(path) else None
        ours = parameters(found) if callable(found) else None
        said = "" if ours is None else differences(theirs, ours)
        if said:
            wrong[path] = said
    assert not wrong
