"""What the tests of datasets share among them: choices of options, and structures."""

import functools
import itertools
import unittest

from absl.testing import parameterized
from decorators import tf

MODES = {"eager": tf.init_scope, "graph": lambda: tf.Graph().as_default(), None: tf.init_scope}


class Named:
    """An object with a name for the test that gets it."""

    def __init__(self, name, obj):
        self._name, self._obj = name, obj

    def __call__(self, *args, **kwargs):
        return self._obj(*args, **kwargs)

    def __getattr__(self, name):
        return getattr(self._obj, name)

    def __iter__(self):
        return iter(self._obj)

    def __repr__(self):
        return self._name


def combine(**options):
    """Return all choices of one value for each option."""
    lists = [v if isinstance(v, list) else [v] for v in options.values()]
    return [dict(zip(options, each, strict=True)) for each in itertools.product(*lists)]


def times(*lists):
    """Return each choice of the first list with each one of the others."""
    return [functools.reduce(lambda a, b: a | b, each) for each in itertools.product(*lists)]


def in_mode(test):
    """Return a test that is run in a graph or eagerly, as its first option says."""

    @functools.wraps(test)
    def run(self, mode=None, **options):
        with MODES[mode]():
            test(self, **options)

    return run


def generate(choices):
    """Return a decorator that makes a test for each choice; those of the first version are none."""
    here = [{k: v for k, v in each.items() if k != "tf_api_version"}
            for each in choices if each.get("tf_api_version", 2) == 2]  # fmt: skip
    if not here:
        return unittest.skip("it is of the first version")
    named = [{"testcase_name": f"_{i}", **each} for i, each in enumerate(here)]

    def decorate(target):
        if isinstance(target, type):
            for name in [x for x in vars(target) if x.startswith("test")]:
                setattr(target, name, in_mode(getattr(target, name)))
            return parameterized.named_parameters(*named)(target)
        return parameterized.named_parameters(*named)(in_mode(target))

    return decorate


def parts(value):
    """Return the parts of a dictionary or tuple, None of what is one value, as lists are."""
    if isinstance(value, dict):
        return [value[key] for key in sorted(value)]
    return list(value) if isinstance(value, tuple) and not hasattr(value, "dense_shape") else None


def flatten(value):
    """Return the values of a structure, in order."""
    inner = parts(value)
    return [value] if inner is None else [x for part in inner for x in flatten(part)]


def assert_same_structure(one, other, check_types=True):
    """Raise unless two structures are alike."""
    first, second = parts(one), parts(other)
    if (first is None) != (second is None) or (first and len(first) != len(second)):
        raise ValueError(f"{one} and {other} are not of one structure")
    for a, b in zip(first or (), second or (), strict=True):
        assert_same_structure(a, b)


READERS = ("TextLineDataset", "TFRecordDataset", "FixedLengthRecordDataset")
NAMES = {
    "dataset_ops": {"Dataset": tf.data.Dataset},
    "autotrackable": {"AutoTrackable": tf.Module},
    "readers": {name: getattr(tf.data, name) for name in READERS},
    "combinations": {
        "combine": combine,
        "times": times,
        "generate": generate,
        "NamedObject": Named,
    },
    "data.util.nest": {"flatten": flatten, "assert_same_structure": assert_same_structure},
    "test_mode": {"toggle_test_mode": lambda _: None},
}
