"""What the tests ask of packages as they were: numpy's older names, and the package `six`."""

import builtins
import functools
import io
import itertools
import pickle
import queue
import sys
import types

import numpy as np

OLDER = {
    **{"str": str, "float": float, "bool": bool, "object": object, "int": int, "complex": complex},
    **{"float_": np.float64, "complex_": np.complex128, "string_": np.bytes_, "unicode_": np.str_},
    **{"unicode": str, "bool8": np.bool_, "asfarray": lambda x, dtype=float: np.asarray(x, dtype)},
    **{"Inf": np.inf, "NaN": np.nan, "NAN": np.nan, "infty": np.inf, "product": np.prod},
    **{"unicode": str, "asscalar": lambda x: x.item(), "row_stack": np.vstack, "alltrue": np.all},
    **{
        "sometrue": np.any,
        "round_": np.round,
        "cumproduct": np.cumprod,
        "long": int,
        "unicode": str,
    },
}
"""Names of numpy that it had when the tests were written."""


def as_older_numpy():
    """Give numpy older names, and let tests make arrays of lists of several lengths."""
    for name, kind in OLDER.items():
        if name not in np.__dict__:
            setattr(np, name, kind)
    make, reshape = np.array, np.reshape

    def of_any(given, *args, **options):
        if not sys._getframe(1).f_globals["__name__"].startswith("unit_"):
            return make(given, *args, **options)
        try:
            return make(given, *args, **options)
        except ValueError as error:
            if "inhomogeneous" not in str(error) or args or "dtype" in options:
                raise
            found = np.empty(len(given), object)
            found[:] = given
            return found

    def reshaped(a, *args, newshape=None, **options):
        return reshape(a, *args, **options) if newshape is None else reshape(a, newshape, **options)

    def of_lists(a):
        try:
            return depth(a)
        except ValueError:
            return 1

    depth = np.ndim
    np.array, np.reshape, np.ndim = of_any, reshaped, of_lists


def six():
    """Return what the tests ask of the package `six`."""
    made = types.ModuleType("six")
    made.moves = types.SimpleNamespace(
        **{"xrange": range, "zip": zip, "range": range, "map": map, "filter": filter},
        **{"reduce": functools.reduce, "zip_longest": itertools.zip_longest, "queue": queue},
        **{"builtins": builtins, "cPickle": pickle},
    )
    made.iteritems, made.itervalues = dict.items, dict.values
    made.string_types, made.integer_types = (str,), (int,)
    made.PY2, made.PY3 = False, True
    made.int2byte = lambda x: bytes([x])
    made.BytesIO, made.StringIO = io.BytesIO, io.StringIO
    made.text_type, made.binary_type = str, bytes
    made.iterkeys, made.ensure_str = dict.keys, lambda x: x.decode() if isinstance(x, bytes) else x
    made.with_metaclass = lambda meta, *bases: meta("Base", bases, {})
    return made
