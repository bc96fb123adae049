"""The array API standard: every name, and its meaning three ways beside numpy.

Functions are run on computed values, under a tape that knows them (so that operations of the IR
do the work) and in a graph that is interpreted. The public suite of the standard is larger; this
says more of where something fails. Row I1, and I2 in part.
"""

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure.frontend.values.context import entered
from gravure.ir import interpret, spec, spec_of_array
from gravure.ir.types import dims, dtypes

sys.path.insert(0, str(Path(__file__).parent))
from traced_blocks import Trace

NAMES = """
e inf nan newaxis pi arange asarray empty empty_like eye from_dlpack full full_like linspace
meshgrid ones ones_like tril triu zeros zeros_like astype can_cast finfo iinfo isdtype
result_type bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64
complex128 abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift
bitwise_invert bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide
equal exp expm1 floor floor_divide greater greater_equal hypot imag isfinite isinf isnan less
less_equal log log1p log2 log10 logaddexp logical_and logical_not logical_or logical_xor maximum
minimum multiply negative nextafter not_equal positive pow real reciprocal remainder round sign
signbit sin sinh square sqrt subtract tan tanh trunc take take_along_axis __array_namespace_info__
matmul matrix_transpose tensordot vecdot broadcast_arrays broadcast_to concat expand_dims flip
moveaxis permute_dims repeat reshape roll squeeze stack tile unstack argmax argmin count_nonzero
nonzero searchsorted where unique_all unique_counts unique_inverse unique_values argsort sort
cumulative_prod cumulative_sum max mean min prod std sum var all any diff __array_api_version__
""".split()  # noqa: SIM905
LINALG = """
cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank
matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm
""".split()  # noqa: SIM905
FFT = """
fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift ifftshift
""".split()  # noqa: SIM905

RNG = np.random.default_rng(0)
X = RNG.normal(0, 2, (2, 3, 4)).astype(np.float32)
Y = RNG.normal(0, 2, (3, 1)).astype(np.float32)
UNIT = RNG.uniform(-0.9, 0.9, (2, 5)).astype(np.float32)
POSITIVE = RNG.uniform(1.1, 9.0, (2, 5)).astype(np.float64)
N = RNG.integers(-9, 9, (3, 4)).astype(np.int32)
M = RNG.integers(1, 5, (4,)).astype(np.int32)
B = RNG.random((3, 4)) < 0.5
SQUARE = RNG.normal(size=(2, 3, 3))
C = B[::-1].copy()
PLACES = np.array([2, 0, -1])
Case = tuple[Callable[..., Any], tuple[Any, ...]]


def elementwise() -> dict[str, Case]:
    """Return a case for each element-wise function."""
    groups: list[tuple[str, tuple[Any, ...]]] = [
        ("cos sin tan exp expm1 sinh cosh tanh asinh atan square positive", (UNIT,)),
        ("abs negative sign ceil floor trunc round isnan isinf isfinite signbit", (X,)),
        ("acos asin atanh log1p", (UNIT,)),
        ("acosh log log2 log10 sqrt reciprocal", (POSITIVE,)),
        ("abs negative sign ceil floor trunc round bitwise_invert square", (N,)),
        ("add subtract multiply divide maximum minimum atan2 hypot logaddexp copysign", (X, Y)),
        ("less less_equal greater greater_equal equal not_equal", (X, Y)),
        ("add subtract multiply maximum minimum equal less floor_divide remainder", (N, M)),
        ("bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift", (N, M)),
        ("pow", (POSITIVE, UNIT[:, :1].astype(np.float64))),
        ("floor_divide remainder", (X, Y)),
        ("logical_and logical_or logical_xor", (B, C)),
        ("logical_not", (B,)),
        (
            "isnan isinf isfinite signbit sign",
            (np.array([np.nan, np.inf, -np.inf, -0.0, 1], np.float32),),
        ),
        (
            "hypot logaddexp copysign",
            (np.array([np.inf, 0, -3], np.float32), np.array([2, 0, -np.inf], np.float32)),
        ),
    ]
    made: dict[str, Case] = {}
    for number, (names, operands) in enumerate(groups):
        for name in names.split():
            made[f"{name}-{number}"] = (
                lambda xp, *xs, name=name: getattr(xp, name)(*xs),
                operands,
            )
    return made


MOVES: dict[str, Case] = {
    "concat": (lambda xp, x, y: xp.concat([x, y], axis=1), (X, X[:, :1])),
    "concat_flat": (lambda xp, x, y: xp.concat([x, y], axis=None), (X, Y)),
    "concat_promotes": (lambda xp, x, y: xp.concat([x, y]), (Y, Y.astype(np.float64))),
    "stack": (lambda xp, x, y: xp.stack([x, y], axis=-1), (X, X)),
    "unstack": (lambda xp, x: xp.unstack(x, axis=1), (X,)),
    "expand_dims": (lambda xp, x: xp.expand_dims(x, axis=-2), (X,)),
    "squeeze": (lambda xp, y: xp.squeeze(y, axis=1), (Y,)),
    "flip": (lambda xp, x: xp.flip(x, axis=(0, 2)), (X,)),
    "flip_all": (lambda xp, x: xp.flip(x), (X,)),
    "permute_dims": (lambda xp, x: xp.permute_dims(x, (2, 0, 1)), (X,)),
    "matrix_transpose": (lambda xp, x: xp.matrix_transpose(x), (X,)),
    "moveaxis": (lambda xp, x: xp.moveaxis(x, (0, 1), (-1, 0)), (X,)),
    "reshape": (lambda xp, x: xp.reshape(x, (4, -1)), (X,)),
    "repeat": (lambda xp, x: xp.repeat(x, 3, axis=1), (X,)),
    "repeat_flat": (lambda xp, x: xp.repeat(x, 2), (X,)),
    "tile": (lambda xp, x: xp.tile(x, (2, 1, 3, 1)), (X,)),
    "tile_short": (lambda xp, x: xp.tile(x, (2,)), (X,)),
    "roll": (lambda xp, x: xp.roll(x, (1, -5), axis=(0, 2)), (X,)),
    "roll_flat": (lambda xp, x: xp.roll(x, 5), (X,)),
    "broadcast_to": (lambda xp, y: xp.broadcast_to(y, (2, 3, 4)), (Y,)),
    "broadcast_arrays": (lambda xp, x, y: xp.broadcast_arrays(x, y), (X, Y)),
    "meshgrid": (lambda xp, x, y: xp.meshgrid(x, y), (PLACES, M)),
    "meshgrid_ij": (lambda xp, x, y: xp.meshgrid(x, y, indexing="ij"), (PLACES, M)),
    "tril": (lambda xp, x: xp.tril(x, k=1), (X,)),
    "triu": (lambda xp, x: xp.triu(x, k=-1), (X,)),
    "take": (lambda xp, x, i: xp.take(x, i, axis=1), (X, PLACES)),
    "where": (lambda xp, b, x, y: xp.where(b, x, y), (B, N, N * 2)),
    "where_number": (lambda xp, x: xp.where(x > 0, x, 0.0), (X,)),
    "clip": (lambda xp, x: xp.clip(x, -1, 1.5), (X,)),
    "clip_low": (lambda xp, x, y: xp.clip(x, min=y), (X, Y)),
    "astype": (lambda xp, x: xp.astype(x, xp.int64), (X,)),
    "astype_bool": (lambda xp, x: xp.astype(x, xp.bool), (N,)),
    "zeros_like": (lambda xp, x: xp.zeros_like(x), (N,)),
    "full_like": (lambda xp, x: xp.full_like(x, 2.5), (X,)),
    "diff": (lambda xp, x: xp.diff(x, axis=1, n=2), (X,)),
    "diff_more": (lambda xp, x, y: xp.diff(x, axis=2, prepend=y), (X, X[:, :, :1])),
    "sort": (lambda xp, x: xp.sort(x, axis=1), (X,)),
    "argsort": (lambda xp, x: xp.argsort(x, axis=0, stable=True), (N,)),
    "searchsorted": (lambda xp, x, v: xp.searchsorted(x, v, side="right"), (M.cumsum(), N)),
}

REDUCTIONS: dict[str, Case] = {
    "sum": (lambda xp, x: xp.sum(x, axis=(0, -1)), (X,)),
    "sum_all": (lambda xp, x: xp.sum(x), (X,)),
    "sum_kept": (lambda xp, x: xp.sum(x, axis=1, keepdims=True), (X,)),
    "sum_small": (lambda xp, x: xp.sum(x, axis=0), (N.astype(np.int8),)),
    "sum_unsigned": (lambda xp, x: xp.sum(x), (M.astype(np.uint16),)),
    "sum_typed": (lambda xp, x: xp.sum(x, dtype=xp.float64), (N,)),
    "prod": (lambda xp, x: xp.prod(x, axis=1), (X,)),
    "mean": (lambda xp, x: xp.mean(x, axis=2), (X,)),
    "var": (lambda xp, x: xp.var(x, axis=0), (X,)),
    "std": (lambda xp, x: xp.std(x, keepdims=True), (X,)),
    "max": (lambda xp, x: xp.max(x, axis=-1), (X,)),
    "min": (lambda xp, x: xp.min(x), (N,)),
    "all": (lambda xp, x: xp.all(x, axis=0), (B,)),
    "any": (lambda xp, x: xp.any(x, axis=1), (N,)),
    "argmax": (lambda xp, x: xp.argmax(x), (X,)),
    "argmin": (lambda xp, x: xp.argmin(x, axis=1, keepdims=True), (X,)),
    "argmax_kept": (lambda xp, x: xp.argmax(x, keepdims=True), (X,)),
    "count_nonzero": (lambda xp, x: xp.count_nonzero(x, axis=1), (N,)),
    "cumulative_sum": (lambda xp, x: xp.cumulative_sum(x, axis=1), (X,)),
    "cumulative_sum_first": (
        lambda xp, x: xp.cumulative_sum(x, axis=0, include_initial=True),
        (N,),
    ),
    "cumulative_prod": (lambda xp, x: xp.cumulative_prod(x, axis=-1), (X,)),
    "matmul": (lambda xp, x, y: xp.matmul(x, y), (X, RNG.random((4, 2)).astype(np.float32))),
    "matmul_vector": (lambda xp, x, y: xp.matmul(x, y), (X, M.astype(np.float32))),
    "matmul_vectors": (lambda xp, x, y: xp.matmul(x, y), (M, M)),
    "vecdot": (lambda xp, x, y: xp.vecdot(x, y, axis=-2), (X, X[:1])),
    "tensordot": (lambda xp, x, y: xp.tensordot(x, y, axes=((2, 0), (0, 1))), (X, X[0].T @ X[1])),
    "diagonal": (lambda xp, x: xp.linalg.diagonal(x, offset=1), (X,)),
    "diagonal_below": (lambda xp, x: xp.linalg.diagonal(x, offset=-2), (X,)),
    "trace": (lambda xp, x: xp.linalg.trace(x), (X,)),
    "cross": (lambda xp, x, y: xp.linalg.cross(x, y, axis=1), (X, X[::-1])),
    "outer": (lambda xp, x, y: xp.linalg.outer(x, y), (M, M)),
    "vector_norm": (lambda xp, x: xp.linalg.vector_norm(x, axis=(0, 1), ord=3), (X,)),
    "matrix_norm": (lambda xp, x: xp.linalg.matrix_norm(x), (X,)),
    "inv": (lambda xp, x: xp.linalg.inv(x), (SQUARE,)),
    "det": (lambda xp, x: xp.linalg.det(x), (SQUARE,)),
    "slogdet": (lambda xp, x: xp.linalg.slogdet(x), (SQUARE,)),
    "solve": (lambda xp, x, y: xp.linalg.solve(x, y), (SQUARE, SQUARE[:1, :, :2])),
    "solve_vector": (lambda xp, x, y: xp.linalg.solve(x, y), (SQUARE[0], SQUARE[1, 0])),
    "cholesky": (lambda xp, x: xp.linalg.cholesky(x, upper=True), (np.eye(3) * 2 + 0.5,)),
    "matrix_power": (lambda xp, x: xp.linalg.matrix_power(x, 5), (X[:, :, :3] / 4,)),
}
MOVES["tensordot_shape"] = (lambda xp, x: xp.tensordot(x, x, axes=((0, 1, 2), (0, 1, 2))), (X,))
del REDUCTIONS["tensordot"]
REDUCTIONS["tensordot"] = (
    lambda xp, x, y: xp.tensordot(x, y, axes=((2, 0), (0, 1))),
    (X, RNG.random((4, 2, 3)).astype(np.float32)),
)

KEYS: dict[str, Any] = {
    "number": 1,
    "negative": -1,
    "two": (1, 2),
    "slice": slice(1, None),
    "steps": (slice(None), slice(None, None, -2), slice(3, 0, -1)),
    "dots": (..., 1),
    "inner_dots": (0, ..., slice(1, 3)),
    "none": (None, 0, None),
    "none_dots": (..., None),
    "far": slice(-99, 99),
    "empty": (slice(2, 1),),
    "all": (),
    "array": (np.array([1, 0, 1]),),
    "array_inside": (slice(None), np.array([[2, -1], [0, 0]])),
    "arrays": (np.array([1, 0]), np.array([2, -1]), np.array([0, 3])),
    "arrays_together": (slice(None), np.array([[0], [1]]), np.array([1, 2])),
    "arrays_apart": (np.array([1, 0]), slice(1, 3), np.array([2, -1])),
    "array_and_number": (slice(None), np.array([1, 2]), 0),
    "array_and_none": (None, np.array([1, 1]), None, 0),
    "mask": (np.array(X > 0.5),),
    "mask_first": (np.array([True, False]),),
    "mask_inside": (slice(None), np.array([True, False, True]), 1),
}
INDEXED: dict[str, Case] = {
    f"index_{name}": (lambda xp, x, key=key: x[key], (X,)) for name, key in KEYS.items()
}
CASES = {**elementwise(), **MOVES, **REDUCTIONS, **INDEXED}


def parts(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def check(found: Any, expected: Any) -> None:
    assert len(parts(found)) == len(parts(expected))
    for a, b in zip(parts(found), parts(expected), strict=True):
        array, wanted = np.asarray(a), np.asarray(b)
        assert array.dtype == wanted.dtype or {array.dtype.kind, wanted.dtype.kind} == {"f"}
        np.testing.assert_allclose(array, wanted, rtol=2e-5, atol=2e-6)
        assert array.shape == wanted.shape


def oracle(name: str) -> tuple[Case, Any]:
    function, operands = CASES[name]
    with np.errstate(all="ignore"):
        return CASES[name], function(np, *operands)


@pytest.mark.parametrize("name", CASES)
def test_i1_functions_give_what_numpy_gives(name: str) -> None:
    (function, operands), expected = oracle(name)
    check(function(gv, *map(gv.asarray, operands)), expected)


@pytest.mark.parametrize("name", CASES)
def test_i2_functions_under_a_tape_give_the_same(name: str) -> None:
    (function, operands), expected = oracle(name)
    tensors = [gv.asarray(x) for x in operands]
    with gv.GradientTape() as tape:
        tape.watch(tensors)
        found = function(gv, *tensors)
    check(found, expected)


@pytest.mark.parametrize("name", CASES)
def test_i2_functions_in_a_graph_give_the_same(name: str) -> None:
    (function, operands), expected = oracle(name)
    trace = Trace("function 'f'")
    arguments = [trace.argument(f"x{i}", spec_of_array(x)) for i, x in enumerate(operands)]
    with entered(trace):
        made = parts(function(gv, *arguments))
    done = trace.finish("f", {f"y{i}": y for i, y in enumerate(made)})
    found = interpret(done, list(operands))
    check(found if len(made) > 1 else found[0], expected)


@pytest.mark.parametrize("name", sorted({n.partition("-")[0] for n in {**MOVES, **INDEXED}}))
def test_functions_take_symbolic_sizes(name: str) -> None:
    (function, operands), expected = oracle(name)
    trace = Trace("function 'f'")
    sizes = {n: dims.symbol(f"D{n}") for x in operands for n in x.shape if n > 1}
    arguments = []
    for i, x in enumerate(operands):
        shape = [sizes.get(n, n) for n in x.shape]
        arguments.append(trace.argument(f"x{i}", spec(spec_of_array(x).dtype, *shape)))
    try:
        with entered(trace):
            made = parts(function(gv, *arguments))
    except (TypeError, gv.GravureError):
        pytest.skip("needs numbers")
    done = trace.finish("f", {f"y{i}": y for i, y in enumerate(made)})
    found = interpret(done, list(operands))
    check(found if len(made) > 1 else found[0], expected)


def test_every_name_of_the_standard_is_there() -> None:
    assert not [name for name in NAMES if not hasattr(gv, name)]
    assert not [name for name in LINALG if not hasattr(gv.linalg, name)]
    assert not [name for name in FFT if not hasattr(gv.fft, name)]
    assert gv.__array_api_version__ == "2024.12"
    assert gv.ones(1).__array_namespace__() is gv
    with pytest.raises(ValueError, match=r"expected 2024\.12"):
        gv.ones(1).__array_namespace__(api_version="1999.01")


@pytest.mark.parametrize("name", NAMES)
def test_functions_have_a_sentence_of_documentation(name: str) -> None:
    value = getattr(gv, name)
    if inspect.isfunction(value):
        assert (value.__doc__ or "").strip().endswith((".", "."))


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (("int8", "uint8"), "int16"),
        (("int32", "uint32"), "int64"),
        (("float32", "float64"), "float64"),
        (("float32", "complex64"), "complex64"),
        (("float64", "complex64"), "complex128"),
        (("int64", "float32"), "float32"),
        (("bool", "int8"), "int8"),
        (("float16", "bfloat16"), "float32"),
        (("uint8", 3), "uint8"),
        (("float32", 3), "float32"),
        (("float32", 1j), "complex64"),
        ((1, 2.0), "float32"),
    ],
)
def test_promotion(types: tuple[Any, ...], expected: str) -> None:
    given = [getattr(gv, t) if isinstance(t, str) else t for t in types]
    assert gv.result_type(*given) == expected
    values = [gv.ones(2, dtype=t) if isinstance(t, str) else t for t in types]
    if all(isinstance(t, str) for t in types) and "bfloat16" not in types:
        assert gv.add(*values).dtype == expected


def test_uint64_and_signed_integers_have_no_common_type() -> None:
    with pytest.raises(TypeError, match="u64 and i8 have no common type"):
        gv.ones(1, dtype=gv.uint64) + gv.ones(1, dtype=gv.int8)
    assert not gv.can_cast(gv.uint64, gv.int64)
    assert gv.can_cast(gv.int8, gv.int64)


def test_creation_gives_what_numpy_gives() -> None:
    def both(make: Callable[[Any], Any], dtype: Any = None) -> None:
        found, expected = make(gv).numpy(), make(np)
        assert found.dtype == (dtype or expected.dtype)
        np.testing.assert_allclose(found, expected, rtol=1e-6)

    both(lambda xp: xp.arange(5))
    both(lambda xp: xp.arange(2, 11, 3))
    both(lambda xp: xp.arange(0.5, 3.0, 0.25), np.float32)
    both(lambda xp: xp.arange(5, dtype=xp.float64))
    both(lambda xp: xp.linspace(0, 1, 7), np.float32)
    both(lambda xp: xp.linspace(0, 1, 7, dtype=xp.float64, endpoint=False))
    both(lambda xp: xp.eye(3, 4, k=1), np.float32)
    both(lambda xp: xp.full((2, 3), 7))
    both(lambda xp: xp.full(2, 1.5), np.float32)
    both(lambda xp: xp.zeros((2, 0)), np.float32)
    both(lambda xp: xp.ones(3, dtype=xp.int8))
    both(lambda xp: xp.asarray([[1, 2], [3, 4]]))
    assert gv.asarray([1.0, 2.0]).dtype == gv.float32
    assert gv.asarray(np.float64(1)).dtype == gv.float64
    assert gv.asarray([gv.asarray(1.0), gv.asarray(2.0)]).tolist() == [1.0, 2.0]


def test_creation_in_a_graph_takes_symbols() -> None:
    trace = Trace("function 'f'")
    x = trace.argument("x", spec(dtypes.f32, dims.symbol("N"), 3))
    with entered(trace):
        made = {
            "zeros": gv.zeros((x.shape[0], 2)),
            "count": gv.arange(x.shape[0]),
            "ones": gv.ones_like(x, dtype=gv.int32),
            "eye": gv.eye(3),
        }
    zeros, count, ones, eye = interpret(trace.finish("f", made), [np.zeros((4, 3), np.float32)])
    assert zeros.shape == (4, 2)
    assert count.tolist() == [0, 1, 2, 3]
    assert ones.dtype == np.int32
    assert ones.shape == (4, 3)
    assert eye.tolist() == np.eye(3).tolist()


def test_asarray_shares_or_copies_as_asked() -> None:
    array = np.arange(3.0)
    assert np.shares_memory(gv.asarray(array).numpy(), array)
    assert np.shares_memory(gv.asarray(array, copy=False).numpy(), array)
    assert not np.shares_memory(gv.asarray(array, copy=True).numpy(), array)
    with pytest.raises(ValueError, match="cannot be shared"):
        gv.asarray([1, 2], copy=False)
    with pytest.raises(ValueError, match="device 'tpu' is unknown"):
        gv.asarray(1, device="tpu")


@pytest.mark.parametrize(
    "use",
    [
        gv.unique_values,
        gv.nonzero,
        gv.linalg.svd,
        gv.fft.fft,
        lambda x: gv.nextafter(x, x),
        lambda x: x[x > 0],
    ],
)
def test_what_needs_computed_values_says_so_in_a_graph(use: Callable[..., Any]) -> None:
    trace = Trace("function 'f'")
    x = trace.argument("x", spec(dtypes.f32, 3, 3))
    with entered(trace), pytest.raises(gv.GravureError, match=r"test_array_api.py:\d+") as caught:
        use(x)
    assert "computed values" in str(caught.value) or "not known in a graph" in str(caught.value)


@pytest.mark.parametrize("key", [3, -4, (0, 3), (0, 0, 4), np.array([3]), ([0], [0], [9])])
def test_indices_outside_are_refused(key: Any) -> None:
    x = gv.asarray(X[:, :, :])
    with pytest.raises(IndexError):
        x[key]
    with gv.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(IndexError):
            x[key]


def test_finfo_and_iinfo() -> None:
    assert gv.finfo(gv.bfloat16).bits == 16
    assert gv.finfo(gv.complex64).dtype == gv.float32
    assert gv.iinfo(gv.ones(1, dtype=gv.uint8)).max == 255
    with pytest.raises(TypeError, match="expected a float"):
        gv.finfo(gv.int8)
    assert gv.isdtype(gv.bfloat16, ("real floating", "bool"))
    with pytest.raises(ValueError, match="'reel', expected one of bool, signed integer"):
        gv.isdtype(gv.int8, "reel")
    info = gv.__array_namespace_info__()
    assert info.default_dtypes()["real floating"] == gv.float32
    assert list(info.dtypes(kind="complex floating")) == ["complex64", "complex128"]
    assert info.devices() == [info.default_device()] == [gv.ones(1).device]


def test_decompositions_put_matrices_together_again() -> None:
    a = gv.asarray(RNG.normal(size=(2, 4, 4)))
    s = a @ a.mT
    q, r = gv.linalg.qr(a)
    u, values, v = gv.linalg.svd(a)
    w, vectors = gv.linalg.eigh(s)
    for found, expected in (
        (q @ r, a),
        ((u * values[:, None, :]) @ v, a),
        ((vectors * w[:, None, :]) @ vectors.mT, s),
        (gv.linalg.cholesky(s) @ gv.linalg.cholesky(s, upper=True), s),
        (gv.linalg.solve(s, s @ a), a),
        (gv.linalg.pinv(a) @ a, gv.eye(4, dtype=gv.float64)),
    ):
        np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), atol=1e-9)
    sign, logdet = gv.linalg.slogdet(s)
    np.testing.assert_allclose(sign * gv.exp(logdet), gv.linalg.det(s), rtol=1e-9)
    assert gv.linalg.matrix_rank(a).tolist() == [4, 4]


def test_transforms_come_back() -> None:
    x = gv.asarray(X)
    np.testing.assert_allclose(gv.real(gv.fft.ifftn(gv.fft.fftn(x))), X, atol=1e-5)
    np.testing.assert_allclose(gv.fft.irfft(gv.fft.rfft(x), n=4), X, atol=1e-5)
    np.testing.assert_array_equal(gv.fft.ifftshift(gv.fft.fftshift(x)), X)
    assert gv.fft.fft(x).dtype == gv.complex64
    assert gv.fft.fftfreq(4).tolist() == [0.0, 0.25, -0.5, -0.25]
