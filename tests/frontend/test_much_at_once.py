"""What is done to many elements together is what would be done to each of them alone."""

import base64
import itertools
import math

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.eager import kernels
from gravure.frontend.formats.fingerprints import farms
from gravure.frontend.formats.hashing import hash_of, hashes
from gravure.frontend.formats.messages import Summary
from gravure.frontend.formats.summaries import histogram, limits, merged
from gravure.frontend.tf.nondense import numbering
from gravure.frontend.tf.nondense.sparse_math import _interleaved_slowly, interleaved
from gravure.frontend.tf.special.beta import _by_fraction, _moderate, _regularised, incomplete_beta
from gravure.frontend.tf.text.hashes import murmurs, sips
from gravure.frontend.values.texts import Texts
from gravure.ir.op import REGISTRY
from gravure.ir.types.tensor import spec_of_array

pytestmark = pytest.mark.filterwarnings("error")
FEW_TEXTS = 40
HASHES = {"farm": (farms, 0), "murmur": (murmurs, 1 << 63), "sip": (sips, 3, 1 << 63, 1 << 63)}
ALONE = ("isinf", "sign", "reciprocal", "sqrt", "thresholded_relu", "shift_left", "shift_right",
         "div", "floor_divide", "mod", "fmod", "pow")  # fmt: skip


@pytest.mark.parametrize("name", HASHES)
def test_texts_have_the_hashes_that_each_has_alone(name):
    random, (function, *key) = np.random.default_rng(0), HASHES[name]
    texts = Texts.of([random.bytes(size) for size in (*range(140), 1000, *range(20))])
    found = hashes(function, texts.every, texts.sizes, *key)
    each = texts.separate().tolist()
    assert found.tolist() == [hash_of(function, text, *key) for text in each]


@pytest.mark.parametrize("name", HASHES)
def test_hashes_are_what_their_functions_say_in_python(name):
    random, (function, *key) = np.random.default_rng(1), HASHES[name]
    for size in (*range(140), 700):
        text, made = random.bytes(size), [0]
        function.function(text, [size], *key, made)
        assert made == [hash_of(function, text, *key)]


def test_hash_with_a_key_is_that_of_its_authors() -> None:
    key = 0x0706050403020100, 0x0F0E0D0C0B0A0908
    found = hash_of(sips, bytes(range(15)), *key, 1 << 63)
    assert found == 0xA129CA6149BE45E5 % (1 << 63)


def test_no_rows_have_no_fingerprints() -> None:
    assert tf.fingerprint(tf.zeros([0, 4])).shape.as_list() == [0, 8]


@pytest.mark.parametrize("name", ALONE)
@pytest.mark.parametrize("dtype", [np.int8, np.uint32, np.int64, np.float32, np.float64])
def test_many_elements_have_the_bits_that_few_have(monkeypatch, name, dtype):
    """Compiled code does what numpy does: at the ends, and where 0 or -1 divides."""
    op = REGISTRY[f"gv.{name}"]
    if np.dtype(dtype).kind == "f":
        ends = [0.0, -0.0, 1, -1, 2.5, -3.7, np.inf, -np.inf, np.nan, 1e-42, 1e30]
    else:
        about = np.iinfo(dtype)
        ends = [0, 1, 2, 7, 100, about.min, about.max, about.max - 1, max(about.min, -1)]
    one = np.array(ends, dtype)
    pairs = [np.repeat(one, len(one)), np.tile(one, len(one))]
    given = pairs[: len(op.signature().operands)]
    try:
        op.inferred([spec_of_array(x) for x in given], {})
    except TypeError:
        pytest.skip("not of this type")
    [few] = kernels.evaluate(op, given, {})
    monkeypatch.setattr(kernels, "MANY", 16)
    monkeypatch.setattr(kernels, "_RUNNERS", {})
    [many] = kernels.evaluate(op, given, {})
    np.testing.assert_array_equal(many, few)
    assert (np.signbit(many) == np.signbit(few))[few == few].all()


@pytest.mark.parametrize(("length", "step"), [(4, 2), (5, 2), (6, 1), (3, 3), (2, 5), (1, 1)])
def test_pieces_that_overlap_are_added_up_step_by_step(length, step):
    pieces = np.random.default_rng(0).standard_normal((2, 7, length)).astype(np.float32)
    wanted = np.zeros((2, length + 6 * step), np.float32)
    for i in range(7):
        wanted[:, i * step : i * step + length] += pieces[:, i]
    found = tf.signal.overlap_and_add(pieces, step)
    assert found.numpy().tobytes() == wanted.tobytes()
    assert tf.signal.overlap_and_add(pieces[:, :0], step).shape == (2, 0)


def test_lists_of_indices_are_merged_alike_by_numbers_and_one_by_one():
    random = np.random.default_rng(0)
    for count in (0, 1, 5, 30):
        one, two = (np.unique(random.integers(0, 6, (count, 2)), axis=0) for _ in range(2))
        found, wanted = interleaved(one, two), _interleaved_slowly(one.tolist(), two.tolist())
        assert [x.tolist() for x in found] == [x.tolist() for x in wanted]


def test_indices_too_large_for_a_number_are_told_apart(monkeypatch):
    table = np.array([[1 << 40, 1 << 40], [0, 3], [1 << 40, 1 << 40], [0, 1]])
    assert numbering.numbered(table) is None
    there, place = numbering.different(table)
    assert there.tolist() == [[0, 1], [0, 3], [1 << 40, 1 << 40]]
    assert place.tolist() == [2, 1, 2, 0]


def test_numbers_that_others_have_not_are_found_with_nan_and_zeros():
    x = np.array([np.nan, 0.0, -0.0, 3.0, np.inf, 2.0], np.float32)
    out, places = tf.compat.v1.setdiff1d(x, np.array([-0.0, np.nan, np.inf], np.float32))
    np.testing.assert_array_equal(out.numpy(), np.float32([np.nan, 3.0, 2.0]))
    assert places.numpy().tolist() == [0, 3, 5]
    out, places = tf.compat.v1.setdiff1d([b"a", b"b", b"a"], [b"b", b"c"])
    assert (out.numpy().tolist(), places.numpy().tolist()) == ([b"a", b"a"], [0, 2])


def test_numbers_are_written_as_cs_printf_writes_them():
    x = tf.constant([[1.5, -2.25], [np.nan, -np.inf]], tf.float64)
    for options, wanted in (
        ({}, [b"1.500000", b"-2.250000", b"nan", b"-inf"]),
        ({"precision": 1}, [b"1.5", b"-2.2", b"nan", b"-inf"]),
        ({"width": 6, "shortest": True}, [b"   1.5", b" -2.25", b"   nan", b"  -inf"]),
        ({"width": 6, "shortest": True, "fill": "-"}, [b"1.5   ", b"-2.25 ", b"nan   ", b"-inf  "]),
        ({"precision": 1, "scientific": True}, [b"1.5e+00", b"-2.2e+00", b"nan", b"-inf"]),
    ):
        assert tf.as_string(x, **options).numpy().ravel().tolist() == wanted
    assert tf.as_string(tf.zeros([0, 3])).shape == (0, 3)


def test_texts_are_different_in_the_order_they_come():
    values, places = tf.unique([b"b", b"a", b"b", b"", b"a"])
    assert values.numpy().tolist() == [b"b", b"a", b""]
    assert places.numpy().tolist() == [0, 1, 0, 2, 1]


def test_matrices_of_a_batch_have_the_factors_that_each_has_alone():
    x = np.random.default_rng(0).standard_normal((5, 4, 4)).astype(np.float32)
    both, order = tf.linalg.lu(x)
    for i, one in enumerate(x):
        alone = tf.linalg.lu(one)
        assert both[i].numpy().tobytes() == alone.lu.numpy().tobytes()
        assert order[i].numpy().tolist() == alone.p.numpy().tolist()
    np.testing.assert_allclose(tf.linalg.lu_reconstruct(both, order), x, atol=1e-5)
    x[3] = 0
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        tf.linalg.lu(x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_factors_of_few_rows_are_those_of_doubles(dtype):
    x = np.random.default_rng(1).integers(-3, 4, (40, 5, 5)).astype(dtype) + np.eye(5, dtype=dtype)
    for a in (each / np.dtype(dtype).type(3) for each in x if abs(np.linalg.det(each)) > 0.5):
        both, order = (z.numpy() for z in tf.linalg.lu(a))
        left, rows = a.astype(np.float64), list(range(5))
        for k in range(5):
            best = k + int(np.argmax(abs(left[k:, k])))
            left[[k, best]], rows[k], rows[best] = left[[best, k]], rows[best], rows[k]
            left[k + 1 :, k] /= left[k, k]
            left[k + 1 :, k + 1 :] -= left[k + 1 :, k, None] * left[k, k + 1 :]
        np.testing.assert_array_equal(both, left.astype(dtype))
        assert order.tolist() == rows


def test_elements_are_among_the_largest_at_once_as_in_functions():
    random = np.random.default_rng(0)
    staged = tf.function(tf.math.in_top_k, autograph=False)
    for columns in (1, 3, 7):
        x = random.integers(0, 4, (50, columns)).astype(np.float32)
        x[random.random(x.shape) < 0.1] = np.inf
        for k in range(-1, 4):
            given = random.integers(-1, columns + 1, 50), x, k
            found = tf.math.in_top_k(*given).numpy()
            assert found.tolist() == staged(*given).numpy().tolist()


def test_numbers_are_different_in_the_order_they_come():
    random = np.random.default_rng(0)
    for count, dtype in ((3, np.int8), (500, np.int8), (500, np.uint64), (70, np.int32)):
        x = random.integers(-9 if dtype == np.int8 else 0, 30, count).astype(dtype)
        values, places, counts = (z.numpy() for z in tf.unique_with_counts(x))
        assert values.tolist() == [*dict.fromkeys(x.tolist())]
        assert values.dtype == dtype
        np.testing.assert_array_equal(values[places], x)
        assert counts.tolist() == [x.tolist().count(y) for y in values.tolist()]


def test_parts_of_a_distribution_that_follow_without_values_are_one():
    made = histogram(np.array([0.0, 1.0, 1.0, 1e30, -1e-13]))
    edges, counts = [*made.bucket_limit], [*made.bucket]
    assert sum(counts) == 5
    assert edges[-1] == limits()[-1]
    assert all(a or b for a, b in itertools.pairwise(counts))
    assert set(edges) <= set(limits().tolist())


def test_summaries_that_follow_each_other_are_one_of_all():
    parts = [Summary(value=[{"tag": tag, "simple_value": 1.5}]) for tag in "abc"]
    whole = Summary()
    for part in parts:
        whole.MergeFrom(part)
    assert merged([part.SerializeToString() for part in parts]) == whole.SerializeToString()


@pytest.mark.parametrize("range_given", [True, False])
def test_what_is_quantised_is_the_same_whether_a_tape_watches_or_not(range_given):
    x = tf.constant(np.linspace(-2, 2, 23, dtype=np.float32))
    for quantise in (
        lambda x: tf.quantization.fake_quant_with_min_max_vars(x, -1.0, 1.5),
        lambda x: tf.quantization.quantize_and_dequantize_v2(x, -1.0, 1.5, range_given=range_given),
    ):
        with tf.GradientTape() as tape:
            tape.watch(x)
            watched = quantise(x)
        assert tape.gradient(watched, x) is not None
        for _ in range(4):
            assert quantise(x).numpy().tobytes() == watched.numpy().tobytes()


@pytest.mark.parametrize("how", ["sum", "mean", "max", "prod"])
def test_segments_of_numbers_are_those_of_rows_of_one(monkeypatch, how):
    monkeypatch.setattr(kernels, "OFTEN", 2)
    function = getattr(tf.math, f"segment_{how}")
    x = np.random.default_rng(0).standard_normal(50).astype(np.float32)
    ids = np.sort(np.random.default_rng(1).integers(0, 9, 50))
    wide = function(np.stack([x, x], axis=1), ids).numpy()
    for _ in range(6):
        assert function(x, ids).numpy().tobytes() == wide[:, 0].tobytes()


def test_parts_and_sizes_of_many_texts_are_those_of_each():
    texts = tf.constant([["äx€ö", ""], ["abcd", "日本"]])
    assert tf.strings.length(texts).numpy().tolist() == [[8, 0], [4, 6]]
    assert tf.strings.length(texts, "UTF8_CHAR").numpy().tolist() == [[4, 0], [4, 2]]
    assert tf.strings.length("abc").numpy() == 3
    words = [b"abcde", b"fghi", b"jkl"]
    for first in range(-3, 4):
        for size in range(-1, 6):
            rest = [x[first + len(x) * (first < 0) :] for x in words]
            wanted = [x[:size] if size >= 0 else x for x in rest]  # (so TensorFlow 2.21)
            assert tf.strings.substr(words, first, size).numpy().tolist() == wanted
            many = tf.strings.substr(words * FEW_TEXTS, first, size)
            assert many.numpy().tolist() == wanted * FEW_TEXTS
    assert tf.strings.substr("äx€ö", 1, 2, "UTF8_CHAR").numpy().decode() == "x€"
    first = tf.compat.v1.strings.substr("äx€ö", 1, 2, "named", "UTF8_CHAR")
    assert first.numpy().decode() == "x€"
    with pytest.raises(tf.errors.InvalidArgumentError, match="pos 4 out of range"):
        tf.strings.substr(words, 4, 1)


def test_many_texts_stay_a_row_of_bytes_and_are_what_few_are(monkeypatch):
    """Nothing between the first and the last step makes objects of them, and all can."""
    random = np.random.default_rng(0)
    texts = [random.choice(list(b"aZ\xc3\xa9 \0"), n).tobytes() for n in random.integers(0, 9, 150)]
    x, pairs = tf.constant(texts), [*zip(texts, texts[::-1], strict=True)]
    monkeypatch.setattr(Texts, "separate", None)
    joined = tf.strings.join([x, b"=", tf.constant(texts[::-1])], "--")
    sizes = np.arange(150, dtype=np.int32) % 11
    made = tf.strings.substr(tf.strings.upper(joined), np.full_like(sizes, 2), sizes)
    assert made.shape == (150,)
    assert made.dtype == tf.string
    assert tf.strings.length(made).shape == (150,)
    monkeypatch.undo()
    wanted = [b"--=--".join(p).upper()[2:][: i % 11] for i, p in enumerate(pairs)]
    assert made.numpy().tolist() == wanted == made[:].numpy().tolist()
    assert tf.strings.length(made).numpy().tolist() == [len(x) for x in wanted]
    made.numpy()[0] = np.asarray(made)[1] = b"is its owner's"
    assert [*tf.reshape(made, [150]).numpy()] == wanted == [*tf.identity(made).numpy()]
    with pytest.raises(tf.errors.InvalidArgumentError, match="shapes do not match"):
        tf.strings.join([x, tf.reshape(x[:2], [2, 1])])
    cut = tf.strings.substr(x, [[0], [0]], [[1], [2]]).numpy().tolist()
    assert cut == [[x[:1] for x in texts], [x[:2] for x in texts]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="pos 9 out of range"):
        tf.strings.substr(x, 9, 1)


def test_what_is_written_for_a_match_has_groups_and_backslashes():
    found = tf.strings.regex_replace(["word", "ward"], "(o|(a))r", r"[\2\\\0]")
    assert found.numpy().tolist() == [rb"w[\or]d", rb"w[a\ar]d"]
    assert tf.strings.regex_replace(["abc"], "b", r"\3").numpy().tolist() == [b"abc"]


def test_rows_are_not_written_out_where_a_function_knows_them(monkeypatch):
    """Each call wrote all rows into an error that was answered."""
    rows = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
    monkeypatch.setattr(type(rows), "__repr__", lambda self: pytest.fail("it is written out"))
    assert tf.negative(rows).to_list() == [[-1.0, -2.0], [], [-3.0]]
    assert tf.gather(rows, [2, 0]).to_list() == [[3.0], [1.0, 2.0]]


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16-BE"])
@pytest.mark.parametrize("texts", [["äx€ö", "", "ab", "日本\U0001f600"], ["a\x01", ""], []])
def test_characters_of_many_texts_are_those_of_each(encoding, texts):
    given = [text.encode(encoding) for text in texts]
    for how in ({}, {"replace_control_characters": True}):
        found = tf.strings.unicode_decode_with_offsets(given, encoding, **how)
        each = [tf.strings.unicode_decode_with_offsets(x, encoding, **how) for x in given]
        for i in range(2):
            assert found[i].to_list() == [pair[i].numpy().tolist() for pair in each]
    pieces = tf.strings.unicode_split(given, encoding)
    assert pieces.to_list() == [[c.encode(encoding) for c in text] for text in texts]
    numbers = tf.strings.unicode_decode(given, encoding)
    assert tf.strings.unicode_encode(numbers, encoding).numpy().tolist() == given


def test_bytes_that_are_no_characters_alone_are_none_together():
    """The end of one text and the beginning of the next one are a character."""
    halves = ["é".encode()[:1], "é".encode()[1:]]
    assert tf.strings.unicode_decode(halves, "UTF-8").to_list() == [[0xFFFD], [0xFFFD]]


def test_numbers_of_many_texts_are_read_as_each_is():
    texts = ["1.5", "-2e3", "+.5", "7.", "1e400"]
    assert tf.strings.to_number(texts).numpy().tolist() == [1.5, -2000, 0.5, 7, np.inf]
    assert tf.strings.to_number([*texts, " inf ", "0x1p-1"]).numpy().tolist()[-1] == 0.5
    for wrong in ("1e", "", "--1", "1_0", "1.2.3"):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"string: {wrong}"):
            tf.strings.to_number(["1", wrong])


def _sparse(random, dtype, shape, count):
    places = np.unique(random.integers(0, np.prod(shape), count))
    values = (random.standard_normal(len(places)) * 9).astype(dtype)
    indices = np.stack(np.unravel_index(places, shape), 1)
    return tf.sparse.SparseTensor(indices, values, shape)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.complex64])
@pytest.mark.parametrize("count", [1, 12, 3000])
def test_sparse_tensors_have_the_bits_at_once_that_functions_give(dtype, count):
    random = np.random.default_rng(count)
    one, other = (_sparse(random, dtype, (40, 70), count) for _ in range(2))
    factor = tf.constant((random.standard_normal((70, 3)) * 9).astype(dtype))

    def compute(one, other, factor):
        made = [tf.sparse.sparse_dense_matmul(one, factor), tf.sparse.to_dense(one)]
        made += [tf.sparse.sparse_dense_matmul(one, tf.sparse.to_dense(other), adjoint_a=True)]
        sums = [tf.sparse.add(one, other)]
        sums += [] if dtype == np.complex64 else [tf.sparse.maximum(one, other)]
        sums += [tf.sparse.softmax(one)] if np.dtype(dtype).kind == "f" else []
        return [*made, *(part for x in sums for part in (x.indices, x.values, x.dense_shape))]

    found, wanted = compute(one, other, factor), tf.function(compute)(one, other, factor)
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype
        assert a.numpy().tobytes() == b.numpy().tobytes()


@pytest.mark.parametrize("count", [5, 200_000])
def test_permutations_are_turned_round_whatever_their_size(count):
    order = np.random.default_rng(0).permutation(count)
    assert (tf.math.invert_permutation(order).numpy() == np.argsort(order)).all()
    for place, wrong in (
        (-1, "-1 is not between"),
        (count, f"{count} is not"),
        (1, "duplicated"),
    ):
        order[np.argmax(order == 0)] = place
        with pytest.raises(tf.errors.InvalidArgumentError, match=wrong):
            tf.math.invert_permutation(order)
        order[np.argmax(order == place)] = 0


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "sin", "cos", "tanh"])
def test_functions_of_complex_numbers_follow_numpy_at_the_ends(name):
    ends = [0.0, -0.0, 1.0, -2.5, 1e30, -1e-30, 3e38, np.inf, -np.inf, np.nan, 90.0]
    z = np.array([complex(a, b) for a in ends for b in ends], np.complex64)
    function = getattr(tf.math, name)
    found, wanted = function(z).numpy(), getattr(np, name)
    with np.errstate(all="ignore"):
        wide = wanted(z.astype(np.complex128)).astype(np.complex64)
        odd = ~(np.isfinite(z) & np.isfinite(wide))
    for part in ("real", "imag"):  # signs are not said of all zeros and infinities
        here, there = (np.abs(getattr(x[odd], part)) for x in (found, wide))
        np.testing.assert_allclose(here, there, 3e-7)
    np.testing.assert_allclose(found[~odd], wide[~odd], 3e-7)
    assert tf.function(function)(z).numpy().tobytes() == found.tobytes()


def test_what_the_error_function_leaves_has_all_its_digits():
    """It was a difference from 1: nothing was left of it from 6 on."""
    x = [-5.0, -0.3, 0.0, 0.7, 3.0, 6.0, 9.0]
    wanted = np.array([math.erfc(a) for a in x])
    slopes = -2 / math.sqrt(math.pi) * np.exp(-np.square(x))
    for dtype, close in ((np.float32, 2e-6), (np.float64, 4e-14)):
        given = tf.constant(x, dtype)
        with tf.GradientTape() as tape:
            tape.watch(given)
            made = tf.math.erfc(given)
        np.testing.assert_allclose(made, wanted, close)
        np.testing.assert_allclose(tape.gradient(made, given), slopes, close)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("most", [1.0, 5.0])
def test_the_complement_of_the_error_function_is_within_six_units_of_its_last_digit(most, dtype):
    """It was eight units off near 1, and 1.2 in the mean up to there."""
    x = np.linspace(-most, most, 200_001, dtype=dtype)
    wanted = np.array([math.erfc(a) for a in x.tolist()])
    found = tf.math.erfc(x).numpy()
    away = np.abs(found - wanted) / np.spacing(wanted.astype(dtype))
    assert away.max() <= (4 if most == 1 else 6)
    assert away.mean() < 0.6
    np.testing.assert_array_equal(found[:1000], tf.math.erfc(x[:1000]))
    np.testing.assert_array_equal(found, tf.function(tf.math.erfc, autograph=False)(x))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("axis", [0, -1])
def test_running_sums_of_powers_take_few_steps(axis, exclusive, reverse):
    """A step was done for each element of the axis: graphs had as many."""
    x = np.random.default_rng(0).standard_normal((5, 33)).astype(np.float32)
    how = {"axis": axis, "exclusive": exclusive, "reverse": reverse}
    turned = np.flip(x, axis) if reverse else x
    wanted = np.logaddexp.accumulate(turned.astype(np.float64), axis)
    if exclusive:
        none = np.full_like(np.take(wanted, [0], axis), -np.inf)
        wanted = np.concatenate([none, np.delete(wanted, -1, axis)], axis)
    wanted = np.flip(wanted, axis) if reverse else wanted
    with tf.GradientTape() as tape:
        given = tf.constant(x)
        tape.watch(given)
        made = tf.math.cumulative_logsumexp(given, **how)
        total = tf.reduce_sum(tf.where(tf.math.is_finite(made), made, 0.0))
    np.testing.assert_allclose(made, wanted, 1e-5, 1e-6)
    assert np.isfinite(tape.gradient(total, given)).all()
    graph = tf.Graph()
    with graph.as_default():
        tf.math.cumulative_logsumexp(tf.compat.v1.placeholder("float32", [1000]))
    assert len(graph.get_operations()) < 400


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("axis", [0, -1])
def test_running_sums_of_powers_go_along_axes_whose_extent_is_not_known(axis, exclusive, reverse):
    how = {"axis": axis, "exclusive": exclusive, "reverse": reverse}

    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            made = tf.math.cumulative_logsumexp(x, **how)
            total = tf.reduce_sum(tf.where(tf.math.is_finite(made), made, 0.0) ** 2)
        return made, tape.gradient(total, x)

    staged = tf.function(slope, input_signature=[tf.TensorSpec([None, None])])
    for count in (0, 1, 2, 3, 33):
        x = np.random.default_rng(0).standard_normal((5, count) if axis else (count, 5))
        x = tf.constant(x, tf.float32)
        for found, wanted in zip(staged(x), slope(x), strict=True):
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, 2e-5, 1e-5)


@pytest.mark.parametrize("shape", [(3, 50), (40, 500)])
def test_running_sums_of_powers_are_the_same_in_functions_and_where_infinite(shape):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32) * 9
    x[0, :3], x[1, 5], x[2, 7] = -np.inf, np.inf, np.nan
    with np.errstate(all="ignore"):
        wanted = np.logaddexp.accumulate(x.astype(np.float64), 1)
    found = tf.math.cumulative_logsumexp(x, 1)
    np.testing.assert_allclose(found, wanted, 3e-6 if x.size > 1000 else 1e-7, 1e-6)
    staged = tf.function(lambda x: tf.math.cumulative_logsumexp(x, 1))(tf.constant(x))
    assert staged.numpy().tobytes() == found.numpy().tobytes()


def test_shares_of_beta_are_the_same_near_and_far():
    """By one quotient of polynomials, or in loops."""
    random = np.random.default_rng(0)
    for narrow, least, close in ((True, -6, 3e-8), (True, -3, 3e-8), (False, -3, 1e-10)):
        (a, b), x = 10 ** random.uniform(least, 1.3, (2, 200)), random.uniform(0, 1, 200)
        found = incomplete_beta(a, b, x, narrow=narrow)
        np.testing.assert_allclose(found, _regularised(a, b, x), close)


def test_scores_that_fall_are_tensorflows():
    """All of them fall at once beside each box that is kept."""
    boxes = [[0.0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 0.5, 1, 1.5], [2, 2, 3, 3]]
    how = {"max_output_size": 4, "iou_threshold": 1.0, "soft_nms_sigma": 0.5}
    found, scores = tf.image.non_max_suppression_with_scores(boxes, [0.9, 0.8, 0.7, 0.6], **how)
    assert found.numpy().tolist() == [0, 2, 3, 1]  # (of TensorFlow 2.21)
    np.testing.assert_allclose(scores, [0.9, 0.62638748, 0.6, 0.34087536], 1e-6)


def test_many_numbers_are_written_and_read_as_each_is():
    random = np.random.default_rng(0)
    floats = (random.standard_normal(300) * 10.0 ** random.integers(-9, 9, 300)).astype(np.float32)
    ends = np.array(
        [0, -0.0, 0.5e-6, 2.0**-7, 3 * 2.0**-7, 8.9e9, 0.9999995, 0.9999996], np.float32
    )
    halves = random.standard_normal(99).astype(np.float16)
    for x in (np.concatenate([floats, ends]), halves, random.random(99, "f")):
        known = x[np.isfinite(x)]
        written = tf.as_string(known).numpy().tolist()
        assert written == [b"%f" % each for each in known.tolist()]
    for kind in (np.int8, np.uint32, np.int64, np.uint64):
        ends = np.iinfo(kind)
        x = np.concatenate(
            [np.array([ends.min, ends.max, 0, 9, 10], kind), np.arange(99, dtype=kind)]
        )
        assert tf.as_string(x).numpy().tolist() == [b"%d" % each for each in x.tolist()]
    assert tf.as_string([*floats, np.inf, np.nan]).numpy().tolist()[-2:] == [b"inf", b"nan"]
    texts = [b"%f" % x for x in random.random(99)] + [b".5", b"5.", b"00.10", b"123456789.12345"]
    for extra in ([], [b"-1.5"], [b" 1e3"], [b"1234567890123456789"]):
        found = tf.strings.to_number(texts + extra, tf.float64).numpy()
        assert found.tolist() == [*map(float, texts + extra)]
    with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert"):
        tf.strings.to_number([*texts, b"1.2.3"])


@pytest.mark.parametrize("texts", [["a", "b", "a", "", "c", ""], ["ab", "abcdefghi", "ab"]])
def test_many_texts_come_in_the_order_of_the_first_of_each(texts):
    texts = [x.encode() for x in texts] * 40
    known = [*dict.fromkeys(texts)]
    values, places, counts = tf.unique_with_counts(texts)
    assert values.numpy().tolist() == known == tf.unique(texts).y.numpy().tolist()
    assert places.numpy().tolist() == [*map(known.index, texts)]
    assert counts.numpy().tolist() == [*map(texts.count, known)]
    random = np.random.default_rng(0)
    every = [random.bytes(20) for _ in range(3000)]
    found, places = Texts.of([x for x in every for _ in "ab"]).different()
    assert found.separate().tolist() == every
    assert (places == np.arange(3000).repeat(2)).all()


def test_many_texts_are_cut_as_each_is():
    random = np.random.default_rng(0)
    texts = [random.choice(list(b"ab ,,\t\n"), n).astype(np.uint8).tobytes()
             for n in random.integers(0, 8, 300)]  # fmt: skip
    for some in (texts, [b""] * 70, [b"a"] * 70, [b" ", b",", b"a"] * 30):
        assert tf.strings.split(some).to_list() == [x.split() for x in some]
        assert tf.strings.split(some, ",").to_list() == [x.split(b",") for x in some]
        assert tf.strings.split(some, ",", 1).to_list() == [x.split(b",", 1) for x in some]
        assert tf.strings.split(some, ",,").to_list() == [x.split(b",,") for x in some]
        cut = tf.function(lambda x: tf.strings.split(x, ","))(tf.constant(some))
        assert cut.to_list() == [x.split(b",") for x in some]
        pieces = [[bytes([i]) for i in x] for x in some]
        assert tf.strings.bytes_split(some).to_list() == pieces


def test_many_texts_are_stripped_compared_grouped_and_coded_as_each_is():
    random = np.random.default_rng(0)
    texts = [random.choice(list(b"a \t\xff\0b+"), n).astype(np.uint8).tobytes()
             for n in random.integers(0, 14, 300)]  # fmt: skip
    short = [x[:7].replace(b"\0", b"") for x in texts]
    for some in (texts, short, [b""] * 80, [b"\n "] * 70):
        x, turned = tf.constant(some), tf.constant(some[::-1])
        assert tf.strings.strip(x).numpy().tolist() == [each.strip() for each in some]
        pairs = [*zip(some, some[::-1], strict=True)]
        assert (x == turned).numpy().tolist() == [a == b for a, b in pairs]
        assert (x != some[3]).numpy().tolist() == [a != some[3] for a in some]
        assert (x == b"a").numpy().tolist() == [a == b"a" for a in some]
        assert (x == tf.reshape(x, [-1, 1])).shape == (len(some), len(some))
        for sign in ("", "--"):
            rows = tf.reshape(x, [2, -1, 5])
            joined = tf.strings.reduce_join(rows, -1, separator=sign)
            lists = rows.numpy().reshape(-1, 5).tolist()
            assert joined.numpy().ravel().tolist() == [sign.encode().join(a) for a in lists]
            assert tf.strings.reduce_join(rows, 2, True, sign).shape == (2, len(some) // 10, 1)
        coded = [base64.urlsafe_b64encode(a) for a in some]
        assert tf.io.encode_base64(x, pad=True).numpy().tolist() == coded
        assert tf.io.encode_base64(x).numpy().tolist() == [a.rstrip(b"=") for a in coded]


def test_boxes_that_others_hide_are_kept_last() -> None:
    """A score that falls to nothing is still a score: what was kept before is not looked at."""
    boxes = np.array([*[[0, 0, 1, 1]] * 3, [2, 2, 3, 3]], np.float32)
    for dtype in (np.float32, np.float16):
        found, scores = tf.image.non_max_suppression_with_scores(
            boxes.astype(dtype), np.array([0.9, 0.8, 0.7, 0.6], dtype), 4, soft_nms_sigma=0.001
        )
        assert found.numpy().tolist() == [0, 3, 1, 2]
        assert scores.numpy().tolist()[2:] == [0, 0]


def test_beams_that_hold_fewer_than_are_asked_for_are_refused() -> None:
    logits = np.log(np.array([[[0.5, 0.5]]], np.float32))
    [found], chances = tf.nn.ctc_beam_search_decoder(logits, [1], 5, 1)
    assert found.values.numpy().tolist() == []
    np.testing.assert_allclose(chances, [[np.log(0.5)]], 1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Less leaves"):
        tf.nn.ctc_beam_search_decoder(logits, [1], 5, 3)


def test_draws_end_where_no_other_class_is_left() -> None:
    """One class has all of the weight, and two different ones are asked for."""
    classes = tf.constant([[0]], tf.int64)
    with pytest.raises(ValueError, match="fewer than 2 classes"):
        tf.random.fixed_unigram_candidate_sampler(classes, 1, 2, True, 3, unigrams=[0.0, 1.0, 0.0])


def test_many_texts_keep_their_bytes_where_they_are_moved() -> None:
    random = np.random.default_rng(0)
    texts = [random.bytes(n) for n in random.integers(0, 20, 100)]
    x = tf.reshape(tf.constant(texts), [10, 10])
    rows = [texts[i : i + 10] for i in range(0, 100, 10)]
    assert tf.transpose(x).numpy().tolist() == [list(column) for column in zip(*rows, strict=True)]
    assert tf.strings.join([x, x], "-").numpy()[3, 4] == rows[3][4] + b"-" + rows[3][4]
    mine = tf.expand_dims(x, 0).numpy()
    mine[:] = b"other"
    assert x.numpy().tolist() == rows


def test_texts_of_any_bytes_are_coded_as_python_does() -> None:
    random = np.random.default_rng(0)
    texts = [random.bytes(n) for n in [*range(40), *range(40)]]
    for pad in (True, False):
        coded = [base64.urlsafe_b64encode(x) for x in texts]
        wanted = coded if pad else [x.rstrip(b"=") for x in coded]
        assert tf.io.encode_base64(texts, pad).numpy().tolist() == wanted


@pytest.mark.parametrize("function", [tf.math.segment_sum, tf.math.segment_mean])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_numbers_of_segments_are_added_up_in_order(function, dtype) -> None:
    random = np.random.default_rng(0)
    x = random.standard_normal(5000).astype(dtype)
    ids = np.sort(random.integers(0, 90, 5000))
    found = function(x, ids).numpy()
    assert found.dtype == dtype
    for number in range(ids[-1] + 1):
        own = x[ids == number]
        total = np.add.accumulate(own)[-1] if len(own) else dtype(0)
        mean = total / dtype(len(own) or 1)
        assert found[number] == (mean if function is tf.math.segment_mean else total)


def test_incomplete_betas_of_small_numbers_are_compiled_and_do_not_depend_on_others():
    random = np.random.default_rng(0)
    a, b = 10 ** random.uniform(-250, 1, (2, 500))
    x = random.random(500)
    made, wanted = _moderate(16, 1e-3)(a, b, x), _regularised(a, b, x)
    direct = x * (a + b + 2) < a + 1
    assert not np.isnan(made[direct | (b >= 1e-3)]).any()
    known = ~np.isnan(made)
    np.testing.assert_allclose(made[known], wanted[known], 1e-8)
    least = np.minimum(x, (a + 1) / (a + b + 2))
    one = [_by_fraction(a[i : i + 1], b[i : i + 1], least[i : i + 1])[0] for i in range(len(a))]
    assert _by_fraction(a, b, least).tolist() == one


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "string"])
@pytest.mark.parametrize("shape", [(60,), (60, 3), (6, 10), (0,)])
def test_rows_are_parted_by_numbers_in_order(shape, dtype):
    """They were looked through once for each number."""
    random = np.random.default_rng(0)
    x = tf.strings.as_string(random.integers(0, 99, shape)) if dtype == "string" else tf.cast(
        random.integers(0, 99, shape), dtype)  # fmt: skip
    for ids in (random.integers(0, 4, shape[0]), random.integers(0, 4, shape)):
        count = ids.shape[0] * (ids.shape[1] if ids.ndim > 1 else 1)
        rows = x.numpy().reshape(count, *shape[ids.ndim :])
        for _ in range(3):  # (noted at the second call)
            made = tf.dynamic_partition(x, ids.astype(np.int32), 5)
            assert len(made) == 5
            for number, part in enumerate(made):
                np.testing.assert_array_equal(part.numpy(), rows[ids.ravel() == number])
    wrong = np.full(shape[0], 5, np.int32)
    for _ in range(3 if shape[0] else 0):
        with pytest.raises((tf.errors.InvalidArgumentError, TypeError), match="5"):
            tf.dynamic_partition(x, wrong, 5)
