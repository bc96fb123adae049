"""Functions that remember what they do to tensors of given types give the same again."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.frontend.eager import compiled_notes, kernels
from gravure.frontend.eager import remembered as remembering
from gravure.frontend.eager.compiled_notes import ROWS, Noted
from gravure.frontend.eager.remembered import Notes, remembered
from gravure.frontend.eager.tensor import Tensor
from gravure.frontend.tf.image.boxes import Suppression, kept
from gravure.frontend.values.sums import places_above
from gravure.ir.ops.selecting import overlaps

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(3, 4)).astype(np.float32)
Y = RANDOM.normal(size=(3, 4)).astype(np.float32)
AT = np.array([2, 0], np.int32)

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "std": lambda x, _: gv.std(x, axis=1, correction=1.0),
    "hypot": gv.hypot,
    "stack": lambda x, y: gv.stack([x, y], axis=1),
    "slogdet": lambda x, _: gv.linalg.slogdet(x[:, :3]),
    "tf.matmul": lambda x, y: tf.matmul(
        tf.constant(x.numpy()), tf.constant(y.numpy()), False, True
    ),
    "tf.split": lambda x, _: tf.split(tf.constant(x.numpy()), 2, axis=1),
    "tf.gather": lambda x, _: tf.gather(tf.constant(x.numpy()), tf.constant(AT)),
    "tf.segment_max": lambda x, _: tf.math.segment_max(tf.constant(x.numpy()), [0, 2, 2]),
    "tf.max_pool_with_argmax": lambda x, _: tf.nn.max_pool_with_argmax(
        tf.constant(x.numpy()[None, :, :, None]), 2, 1, "SAME"
    ),
    "tf.top_k": lambda x, _: tf.math.top_k(tf.constant(x.numpy()), 2),
}


def arrays(made: Any) -> list[np.ndarray[Any, Any]]:
    return [x.numpy() for x in (made if isinstance(made, tuple | list) else [made])]


@pytest.mark.parametrize("name", CALLS)
def test_the_same_bits_come_out_whether_remembered_or_not(name: str) -> None:
    x, y = gv.asarray(X), gv.asarray(Y)
    first, *others = [CALLS[name](x, y) for _ in range(4)]
    for other in others:
        assert type(other) is type(first)
        for a, b in zip(arrays(first), arrays(other), strict=True):
            np.testing.assert_array_equal(a, b, strict=True)


def test_what_is_remembered_of_a_lookup_still_names_the_index_that_is_wrong() -> None:
    x, right = tf.constant(np.eye(3, dtype=np.float32)), tf.constant([2, 1])
    for _ in range(4):
        np.testing.assert_array_equal(tf.gather(x, right).numpy(), np.eye(3)[[2, 1]])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = -1"):
        tf.gather(x, tf.constant([-1, 1]))


def test_places_of_the_greatest_elements_are_those_of_the_flattened_image() -> None:
    x = RANDOM.normal(size=(2, 5, 4, 3)).astype(np.float32)
    for _ in range(3):
        made, places = tf.nn.max_pool_with_argmax(
            tf.constant(x), 3, 2, "SAME", include_batch_in_index=True
        )
        np.testing.assert_array_equal(x.ravel()[places.numpy()], made.numpy())
        np.testing.assert_array_equal(made.numpy(), tf.nn.max_pool2d(x, 3, 2, "SAME").numpy())


def test_rows_of_segments_in_order_and_rows_put_together_keep_their_values() -> None:
    x = RANDOM.normal(size=(5, 2)).astype(np.float32)
    for ids in ([0, 0, 2, 2, 2], [1, 1, 1, 3, 3], [0, 1, 2, 3, 4]):
        at = np.array(ids, np.int32)
        rows = [x[at == i] for i in range(at.max() + 1)]
        means, most = tf.math.segment_mean(x, at).numpy(), tf.math.segment_max(x, at).numpy()
        for each, mean, greatest in zip(rows, means, most, strict=True):
            np.testing.assert_allclose(mean, each.mean(0) if len(each) else [0, 0], rtol=1e-6)
            np.testing.assert_array_equal(greatest, each.max(0) if len(each) else [0, 0])
    made = tf.dynamic_stitch([tf.constant([0, 3, 0]), tf.constant([1])], [x[:3], x[3:4]])
    np.testing.assert_array_equal(made.numpy(), [x[2], x[3], [0, 0], x[1]])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"partitions\[1\] = 2 is not"):
        tf.dynamic_partition(x[:2], [0, 2], 2)


def test_boxes_that_are_compared_together_are_those_that_are_compared_one_by_one() -> None:
    low = RANDOM.random((300, 2))
    boxes = np.concatenate([low, low + RANDOM.random((300, 2)) * 0.3], 1).astype(np.float32)
    scores = np.round(RANDOM.random(300), 1).astype(np.float32)
    for most, overlap in ((1000, 0.3), (20, 0.5), (1, 0.0)):
        limits = Suppression(most, overlap, 0.2)
        wanted: list[int] = []
        for i in sorted(np.flatnonzero(scores > 0.2), key=lambda i: (-scores[i], i)):
            if (overlaps(boxes[i], boxes[wanted].reshape(-1, 4)) <= overlap).all():
                wanted.append(int(i))
        assert kept(boxes, scores, limits)[0].tolist() == wanted[:most]


def test_what_is_remembered_is_no_longer_called() -> None:
    calls = []

    @remembered
    def function(x: Any, scale: float, *, turn: bool = False) -> Any:
        calls.append(scale)
        return (gv.exp(x) * scale, x, x.shape, gv.permute_dims(x, (1, 0)) if turn else None)

    x = gv.asarray(X)
    made = [function(x, 2.0, turn=True) for _ in range(5)]
    assert len(calls) == 2  # to see it, and to write it down
    assert all(m[1] is x and m[2] == (3, 4) for m in made)
    np.testing.assert_array_equal(made[4][0].numpy(), made[0][0].numpy())
    np.testing.assert_array_equal(made[4][3].numpy(), X.T)
    zeros = [function(x, zero)[0].numpy() for zero in (0.0, -0.0) * 4]
    assert [bool(np.signbit(z).any()) for z in zeros] == [False, True] * 4
    assert function(gv.asarray(X[0]), 2.0)[0].shape == (4,)


def test_each_call_carries_out_once_what_it_returns() -> None:
    """Taking notes gives the call's own result: a product in an operator was made three times."""
    calls = []

    @remembered
    def inner(x: Any) -> Any:
        calls.append(x.shape)
        return gv.exp(x)

    @remembered
    def outer(x: Any) -> Any:
        return inner(x) * 2.0

    made = [outer(gv.asarray(X)).numpy() for _ in range(4)]
    assert len(calls) == 2
    for other in made[1:]:
        np.testing.assert_array_equal(other, made[0], strict=True)


def test_a_function_that_looks_at_elements_runs_each_time() -> None:
    @remembered
    def function(x: Any) -> Any:
        return x if bool(gv.any(x > 0.0)) else gv.zeros(x.shape)

    kept = [function(gv.asarray(sign * abs(X))).numpy().max() > 0 for sign in (1, -1) * 3]
    assert kept == [True, False] * 3
    found = [len(gv.unique_values(gv.asarray(values))) for values in ([1, 1], [1, 2]) * 3]
    assert found == [1, 2] * 3


def test_errors_are_those_of_the_function() -> None:
    x = tf.constant(X)
    for index in (1, 1, 1, 3, 1, 3):
        at = tf.constant([index])
        if index < 3:
            np.testing.assert_array_equal(tf.gather(x, at).numpy(), X[[index]])
        else:
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 3 is not in"):
                tf.gather(x, at)
    for _ in range(4):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.matmul(x, x)


def test_results_are_no_longer_tied_to_what_is_remembered() -> None:
    ones = [gv.ones_like(gv.asarray(X)) for _ in range(4)]
    ones[3][0, 0] = 5.0
    assert float(gv.ones_like(gv.asarray(X))[0, 0]) == 1.0
    x = gv.asarray(X.copy())
    copies = [gv.astype(x, gv.float32) for _ in range(4)]
    copies[3][0, 0] = 7.0
    np.testing.assert_array_equal(x.numpy(), X)


def test_tapes_see_what_is_remembered() -> None:
    x = gv.asarray(X)
    for _ in range(3):
        gv.mean(x, axis=1)
    with gv.GradientTape() as tape:
        tape.watch(x)
        y = gv.mean(x, axis=1)
    assert isinstance(y, Tensor)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), np.full((3, 4), 0.25, np.float32))


def test_large_constants_are_not_kept() -> None:
    calls = []

    @remembered
    def ones(x: Any) -> Any:
        calls.append(x.shape)
        return gv.ones(x.shape)

    for size in (10, 1 << 15):
        for _ in range(5):
            assert float(gv.sum(ones(gv.zeros((size,), dtype=gv.float32)))) == size
    assert calls.count((10,)) == 2
    assert calls.count((1 << 15,)) == 6  # once more, to see it


SPECIAL = {
    "lgamma": tf.math.lgamma,
    "erfinv": tf.math.erfinv,
    "digamma": tf.math.digamma,
    "zeta": lambda x: tf.math.zeta(x + 1.0, x),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_many_small_steps_are_one_kernel_for_all_sizes_of_the_same_bits(name: str) -> None:
    function, dtype = SPECIAL[name], np.float64
    stepwise, kernels = [], []
    ROWS.clear()
    for count in (5, 12, 700):
        x = tf.constant(np.random.default_rng(count).uniform(0.01, 0.99, (count, 2)).astype(dtype))
        stepwise.append(function(x).numpy())  # not noted yet
        function(x)
        kernels.append(len(ROWS))  # of few calls of one size there is none, others have it at once
        for _ in range(1 if kernels[1:] else compiled_notes.SOON):
            np.testing.assert_array_equal(function(x).numpy(), stepwise[-1])
    assert 0 == kernels[0] < kernels[1] == kernels[2] == len(ROWS)


def test_moves_of_many_elements_are_compiled_with_what_is_done_to_them() -> None:
    @remembered
    def turned(x: Tensor, y: Tensor) -> Any:
        return gv.permute_dims(x, (1, 0)) * y + gv.flip(y, axis=0)

    x, y = (gv.asarray(RANDOM.normal(size=(700, 600)).astype(np.float32)) for _ in range(2))
    y = gv.permute_dims(y, (1, 0))
    first, *others = [turned(x, y).numpy() for _ in range(3)]
    np.testing.assert_array_equal(first, x.numpy().T * y.numpy() + y.numpy()[::-1])
    for other in others:
        np.testing.assert_array_equal(other, first)


@pytest.mark.parametrize("kind", ["complex64", "float16", "bfloat16"])
def test_moves_are_compiled_of_elements_that_nobody_computes_with(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    whole = compiled_notes.compiled

    def watched(noted: Noted, times: int = 1) -> Any:
        made.append(whole(noted, times))
        return made[-1]

    monkeypatch.setattr(remembering, "compiled", watched)
    size = {"complex64": 8}.get(kind, 2)
    bits = RANDOM.integers(0, 256, (400 * 500 * size,)).astype(np.uint8)
    x = tf.constant(bits.view(tf.as_dtype(kind).as_numpy_dtype).reshape(1, 400, 500, 1))
    for move in (
        lambda x: tf.nn.space_to_depth(x, 2),
        lambda x: tf.signal.fftshift(x, (1, 2)),
    ):
        made.clear()
        first, *others = [move(x).numpy() for _ in range(3)]
        assert [each is not None for each in made] == [True]
        for other in others:
            assert other.dtype == first.dtype
            assert other.tobytes() == first.tobytes()


def test_what_has_other_bits_in_another_order_is_not_compiled() -> None:
    x = gv.asarray(RANDOM.normal(size=(700, 600)).astype(np.float32))

    def noted(function: Callable[[Any], Any], x: Any = x) -> Noted:
        notes = Notes()
        made = function(notes.watch(x))
        return Noted(tuple(notes.calls), notes.arrays, (0,), (made._array.place,))

    assert noted(lambda x: gv.exp(x) * x).can_be_compiled()
    assert noted(lambda x: gv.sum(x, axis=1) * 2.0).can_be_compiled()  # as it is at once
    assert not noted(lambda x: gv.sum(x, axis=0) * 2.0).can_be_compiled()
    few = gv.asarray(x.numpy()[:9])
    assert not noted(lambda x: gv.sum(x, axis=1) * 2.0, few).can_be_compiled()
    assert not noted(lambda x: gv.remainder(x, x) * 2.0).can_be_compiled()


SUMS: dict[str, Callable[[Any], Any]] = {
    "half of squares": tf.nn.l2_loss,
    "root of squares": tf.math.reduce_euclidean_norm,
    "roots along rows": lambda x: tf.math.reduce_euclidean_norm(x, -1, keepdims=True),
    "variance": tf.math.reduce_variance,
    "deviations of rows": lambda x: tf.math.reduce_std(x, -1),
    "limited norm": lambda x: tf.clip_by_norm(x, 1.0),
    "normalised rows": lambda x: tf.nn.l2_normalize(x, -1),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", SUMS)
def test_sums_of_many_have_one_kernel_with_what_is_added_up(name: str, dtype: Any) -> None:
    function, known = SUMS[name], []
    for shape in ((400, 401), (140000,), (3, 50001), (2, 90, 801)):
        x = tf.constant(RANDOM.normal(size=shape).astype(dtype))
        first, *others = [np.asarray(function(x)) for _ in range(4)]
        staged = tf.function(function)
        for other in (*others, *[np.asarray(staged(x)) for _ in range(4)]):
            assert other.shape == first.shape
            assert other.tobytes() == first.tobytes()
        known.append(len(ROWS))
    if name in ("half of squares", "root of squares"):
        assert len({*known}) == 1  # whatever their ranks, all is a row


@pytest.mark.parametrize("channels", [3, 8, 64])
def test_moments_of_images_keep_their_bits_and_are_found_once(channels: int) -> None:
    x = tf.constant(RANDOM.normal(size=(4, 60, 240, channels)).astype(np.float32))
    scale = tf.constant(RANDOM.random(channels, np.float32))
    results = [tf.compat.v1.nn.fused_batch_norm(x, scale, scale) for _ in range(4)]
    first, *others = [[each.numpy() for each in result] for result in results]
    for other in others:
        for a, b in zip(first, other, strict=True):
            np.testing.assert_array_equal(a, b, strict=True)
    wide = x.numpy().astype(np.float64)
    np.testing.assert_allclose(first[1], wide.mean((0, 1, 2)), atol=1e-6)


def test_what_is_done_again_to_the_same_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[Any] = []
    place = remembering._place_of_step

    def watched(step: Any) -> Any:
        function, operands, result = place(step)
        return (lambda *xs: done.append(step.call.op.name) or function(*xs)), operands, result

    monkeypatch.setattr(remembering, "_place_of_step", watched)

    @remembered
    def run(x: Tensor) -> Any:
        one, other = gv.sum(x, axis=1), gv.sum(x, axis=1, keepdims=True)
        third = gv.sum(x, axis=(1,))
        return gv.exp(x) * other + gv.exp(x), one, third, gv.sum(x, axis=0)

    x = gv.asarray(RANDOM.normal(size=(5, 7)))
    first, *others = [[each.numpy() for each in run(x)] for _ in range(4)]
    for other in others:
        for a, b in zip(first, other, strict=True):
            np.testing.assert_array_equal(a, b, strict=True)
    count = len(others) - 1
    assert done.count("gv.exp") == count
    assert done.count("gv.sum") == 3 * count  # two of them are returned, and belong to the caller


@pytest.mark.parametrize("name", ["batch_to_space", "space_to_batch"])
def test_pixels_of_blocks_are_moved_by_one_kernel(name: str) -> None:
    x = tf.constant(RANDOM.random((4, 96, 100, 5), np.float32))
    function = getattr(tf, name)
    first, *others = [function(x, [2, 2], [[0, 0], [2, 4]]).numpy() for _ in range(4)]
    for other in others:
        np.testing.assert_array_equal(first, other, strict=True)
    back = tf.space_to_batch if name == "batch_to_space" else tf.batch_to_space
    whole = back(function(x, [2, 2], [[0, 0], [0, 0]]), [2, 2], [[0, 0], [0, 0]])
    np.testing.assert_array_equal(whole, x)


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_sums_of_complex_numbers_are_those_of_their_parts(axis: int | None) -> None:
    parts = RANDOM.normal(size=(2, 300, 701)).astype(np.float32)
    z = tf.complex(*[tf.constant(part) for part in parts])
    first, *others = [np.asarray(tf.reduce_sum(z, axis)) for _ in range(4)]
    for other in others:
        np.testing.assert_array_equal(first, other, strict=True)
    exact = parts.astype(np.float64).sum({None: (1, 2), 0: 1, -1: 2}[axis])
    np.testing.assert_allclose(np.stack([first.real, first.imag]), exact, atol=1e-2)


@pytest.mark.parametrize("kind", [tf.float16, tf.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["add", "multiply", "divide", "maximum", "less", "exp", "cast"])
def test_floats_of_16_bits_have_the_same_bits_compiled_as_one_by_one(name: str, kind: Any) -> None:
    random = np.random.default_rng(7)
    bits = random.integers(0, 1 << 16, (2, 8000)).astype(np.uint16)
    x, y = (tf.bitcast(tf.constant(each), kind) for each in bits)

    def run(x: Any, y: Any) -> Any:
        if name == "cast":
            return tf.cast(tf.cast(x, tf.float32) * tf.cast(y, tf.float32), kind).numpy()
        function = tf.exp if name == "exp" else getattr(tf, name)
        return (function(x) if name == "exp" else function(x, y)).numpy()

    whole = run(x, y)
    pieces = [run(x[i : i + 500], y[i : i + 500]) for i in range(0, 8000, 500)]
    with np.errstate(invalid="ignore"):
        wide = np.concatenate(pieces).astype(np.float64)
        np.testing.assert_array_equal(whole.astype(np.float64), wide)


def test_what_is_made_of_no_operands_is_compiled_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw() -> Any:
        return tf.linalg.band_part(tf.ones([600, 1000]), 2, -1)

    made: list[object] = []
    whole = compiled_notes.compiled
    monkeypatch.setattr(
        remembering, "compiled", lambda noted: made.append(whole(noted)) or made[-1]
    )
    first, *others = [draw().numpy() for _ in range(4)]
    assert made, "nothing was noted"
    assert made[-1] is not None, "what was noted was not compiled"
    for other in others:
        np.testing.assert_array_equal(first, other, strict=True)


@pytest.mark.parametrize("kind", [gv.int32, tf.int32], ids=["own", "tensorflow"])
def test_element_types_are_told_apart_so_that_what_takes_one_is_remembered(kind: Any) -> None:
    calls = []

    @remembered
    def function(x: Any, kind: Any) -> Any:
        calls.append(kind)
        return tf.cast(x, kind)

    x = tf.constant(X)
    made = [function(x, kind).numpy() for _ in range(5)]
    assert len(calls) == 2
    np.testing.assert_array_equal(made[4], X.astype(np.int32), strict=True)
    assert function(x, tf.float64).dtype == tf.float64


ODD, OTHER = np.random.default_rng(7).normal(size=(2, 3, 29)).astype(np.float32)
"""Of a shape that no other test has: what has been seen is known already."""
LOOKING: dict[str, Callable[[], Any]] = {
    "linalg.qr": lambda: tf.linalg.qr(tf.constant(ODD)),
    "linalg.eigh": lambda: tf.linalg.eigh(tf.constant(ODD[:, :3])),
    "linalg.svd": lambda: tf.linalg.svd(tf.constant(ODD)),
    "signal.rfft": lambda: tf.signal.rfft(tf.constant(ODD)),
    "signal.fft": lambda: tf.signal.fft(tf.complex(tf.constant(ODD), tf.constant(OTHER))),
    "unique": lambda: tf.unique(tf.constant([3, 1, 3, 2, 1])),
    "unique_with_counts": lambda: tf.unique_with_counts(tf.constant([3, 1, 3, 2, 1])),
    "where": lambda: tf.where(tf.constant(ODD) > 0),
    "boolean_mask": lambda: tf.boolean_mask(tf.constant(ODD), tf.constant(ODD) > 0),
    "igamma": lambda: tf.math.igamma(tf.abs(tf.constant(ODD)), tf.abs(tf.constant(OTHER))),
    "dynamic_partition": lambda: tf.dynamic_partition(tf.constant(ODD), tf.constant([1, 0, 1]), 2),
    **{
        f"segment_{how}": lambda how=how: getattr(tf.math, f"segment_{how}")(
            tf.constant(ODD), tf.constant([0, 2, 2])
        )
        for how in ("sum", "prod", "max", "min", "mean")
    },
}


@pytest.mark.parametrize("name", LOOKING)
def test_what_looks_at_elements_is_remembered_as_one_step(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans: list[Any] = []
    whole = remembering._plan
    monkeypatch.setattr(remembering, "_plan", lambda *a: plans.append(whole(*a)) or plans[-1])
    first, *others = [arrays(LOOKING[name]()) for _ in range(5)]
    assert plans or name in ("where", "boolean_mask", "igamma")  # another test may have seen them
    for other in others:
        for a, b in zip(first, other, strict=True):
            np.testing.assert_array_equal(a, b, strict=True)


def test_what_depends_on_elements_has_another_shape_when_they_differ() -> None:
    for _ in range(4):
        assert tf.unique(tf.constant([1, 1, 2, 2])).y.shape == (2,)
        assert tf.unique(tf.constant([1, 4, 2, 3])).y.shape == (4,)
        assert tf.math.segment_sum(tf.constant(X), tf.constant([0, 1, 4])).shape == (5, 4)
        assert tf.math.segment_sum(tf.constant(X), tf.constant([0, 0, 1])).shape == (2, 4)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not increasing"):
        tf.math.segment_sum(tf.constant(X), tf.constant([2, 0, 1]))


def test_what_is_called_often_is_compiled_for_few_elements_and_keeps_its_bits() -> None:
    image = tf.constant(RANDOM.normal(size=(1, 5, 5, 3)).astype(np.float32))
    calls: dict[str, Callable[[], Any]] = {
        "max_pool": lambda: tf.nn.max_pool2d(image, 2, 1, "SAME"),
        "sum": lambda: tf.math.unsorted_segment_sum(tf.constant(X), tf.constant([1, 0, 1]), 3),
        "half": lambda: tf.math.unsorted_segment_sum(
            tf.constant(X.astype(np.float16)), tf.constant([1, 1, 1]), 3
        ),
        "all": lambda: tf.reduce_all(tf.constant(X > 0), 1),
    }
    for call in calls.values():
        first, *others = [call().numpy() for _ in range(kernels.OFTEN + 5)]
        for other in others[-4:]:
            np.testing.assert_array_equal(first, other, strict=True)


def test_steps_on_constants_are_carried_out_once() -> None:
    @remembered
    def function(x: Any) -> Any:
        steps = tf.cast(tf.range(4), tf.float32) * 2.0
        return x + steps, steps

    x = tf.constant(X)
    for _ in range(4):
        made, steps = function(x)
        np.testing.assert_array_equal(made.numpy(), X + np.arange(4, dtype=np.float32) * 2)
        steps.numpy()[:] = 7.0  # what is given out is the caller's own


def test_what_lies_around_other_steps_is_compiled_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum in an order of its own lies in between, and a number of a row is looked at."""
    plans: list[Any] = []
    whole = remembering.in_parts
    monkeypatch.setattr(remembering, "in_parts", lambda *a: plans.append(whole(*a)) or plans[-1])

    @remembered
    def function(x: Any, at: Any) -> Any:
        rows = tf.gather(tf.exp(x) * 2.0, at)
        sums = tf.cumsum(rows, 1)
        return tf.maximum(sums, 1.5) - sums, tf.reshape(rows, [-1]), sums

    x = tf.constant(RANDOM.normal(size=(700, 600)).astype(np.float32))
    at = tf.constant(RANDOM.integers(0, 700, 700), tf.int32)
    first, *others = [arrays(function(x, at)) for _ in range(5)]
    names = [[step.call and step.call.op.name for step in steps] for steps in plans]
    assert [None, "gv.require", "gv.cumsum", None] in names
    for other in others:
        for a, b in zip(first, other, strict=True):
            np.testing.assert_array_equal(a, b, strict=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[3\] = 700 is not in"):
        function(x, tf.constant([0, 1, 2, 700, *[0] * 696], tf.int32))


def test_classes_are_drawn_as_chances_add_up() -> None:
    for rows in (0, 5, 50):
        chances = RANDOM.random((rows, 37))
        rising = chances.cumsum(axis=1)
        parts = np.concatenate([RANDOM.random((rows, 9)), [[0.0, 1.0]] * rows or chances[:, :2]], 1)
        wanted = (rising[:, None, :] <= (parts * rising[:, -1:])[:, :, None]).sum(-1)
        np.testing.assert_array_equal(places_above(chances, parts), wanted)
    with pytest.raises(tf.errors.InvalidArgumentError, match="should be positive"):
        tf.random.categorical(tf.zeros([2, 0]), 1)


@pytest.mark.parametrize("name", ["top_k", "argsort"])
def test_what_is_put_in_order_is_the_same_where_it_is_compiled(name: str) -> None:
    x = np.round(RANDOM.normal(size=(700, 500)).astype(np.float32) * 20)
    x[::7, 3:9], x[3, 5], x[3, 6] = np.nan, np.inf, -np.inf
    x[5, ::2] = -0.0
    given = tf.constant(x)
    first, *others = [
        arrays(tf.math.top_k(given, 5) if name == "top_k" else tf.argsort(given)) for _ in range(4)
    ]
    for other in others:
        for a, b in zip(first, other, strict=True):
            np.testing.assert_array_equal(a, b, strict=True)
            assert (np.signbit(a) == np.signbit(b)).all()


def test_what_is_done_to_images_of_any_type_is_remembered_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = []
    whole = remembering.planned
    monkeypatch.setattr(
        remembering, "planned", lambda f, *rest: names.append(f.__name__) or whole(f, *rest)
    )
    for x in (
        RANDOM.random((1, 9, 7, 3), np.float32),
        RANDOM.integers(0, 255, (4, 5, 3), np.uint8),
    ):
        first, *others = [tf.image.adjust_contrast(tf.constant(x), 0.37).numpy() for _ in range(4)]
        for other in others:
            np.testing.assert_array_equal(first, other, strict=True)
    assert names.count("adjust_contrast") == 2
