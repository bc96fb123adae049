"""What the tests of TensorFlow are decorated with: modes that they are run in, and in which not."""

import functools
import importlib
import os
import unittest

tf = importlib.import_module(os.environ.get("UNIT_TESTS_ON", "gravure.tf"))


def graph_mode(test):
    """Run a test, or what sets it up, in a graph: one for all that belongs to a test."""

    @functools.wraps(test)
    def run(self, *args, **kwargs):
        if not tf.executing_eagerly():
            return test(self, *args, **kwargs)
        graph = self.__dict__.setdefault("_graph_of_unit", tf.Graph())
        with graph.as_default():
            return test(self, *args, **kwargs)

    return run


def in_session(test):
    """Run a test in a new graph and a session of it."""

    @functools.wraps(test)
    def run(self, *args, **kwargs):
        with tf.Graph().as_default(), self.cached_session():
            return test(self, *args, **kwargs)

    return run


def both_modes(test=None, **_):
    """Run a test in a graph, and eagerly."""
    if test is None:
        return both_modes

    @functools.wraps(test)
    def run(self, *args, **kwargs):
        in_session(test)(self, *args, **kwargs)
        self.tearDown()
        if "_tempdir" in vars(self):
            self._tempdir = None  # TensorFlow's own, which does so too
        vars(self).pop("_folder", None)
        self.setUp()
        test(self, *args, **kwargs)

    return run


def of_all(decorator):
    """Return a decorator of classes of tests."""

    def decorate(cls):
        fixtures = [x for x in ("setUp", "tearDown") if decorator is graph_mode and x in vars(cls)]
        names = {*unittest.TestLoader().getTestCaseNames(cls)} - {"test_session"}
        for name in [*sorted(names), *fixtures]:
            setattr(cls, name, decorator(getattr(cls, name)))
        return cls

    return decorate


def on_either(decorator):
    """Return a decorator of tests and of classes of them, with a reason or without."""

    def decorate(target=None, *_, **__):
        if isinstance(target, type):
            return of_all(decorator)(target)
        return decorator(target) if callable(target) else on_either(decorator)

    return decorate


def skipped(*_, **__):
    """Leave a test out that is for a GPU."""
    return unittest.skip("it is for a GPU")(_[0]) if _ and callable(_[0]) else skipped


def for_all_tests(decorator, *args, **kwargs):
    """Return a decorator of classes that decorates each test."""
    made = decorator(*args, **kwargs) if args or kwargs else decorator
    return of_all(made)


def skipped_if(pred, skip_message):
    """Return a decorator of tests that leaves them out where something holds."""
    return unittest.skipIf(pred(), skip_message)
