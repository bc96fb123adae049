"""Small parts of the frontends that larger tests came by without looking."""

import math
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.errors import GraphError
from gravure.frontend.array import linalg as array_api_linalg
from gravure.frontend.data.batches import Batched
from gravure.frontend.dims.slices import DEPTH, Knowledge
from gravure.frontend.dims.symbols import Symbols
from gravure.frontend.formats.fingerprints import farm
from gravure.frontend.formats.summaries import LARGEST, histogram
from gravure.frontend.onnx.rules.window import _longer
from gravure.frontend.onnx.shapes import fold
from gravure.frontend.programs.load import load_program
from gravure.frontend.tf.core.structures import with_front
from gravure.frontend.tf.names.aliases import extract_image_patches
from gravure.frontend.tf.ops.cepstra import inverse_mdct
from gravure.frontend.tf.ops.composed import batch_to_space
from gravure.frontend.tf.ops.older import is_numeric_tensor
from gravure.frontend.tf.ragged.elementwise import chosen
from gravure.frontend.tf.ragged.shapes import DynamicRaggedShape
from gravure.frontend.tf.special.beta import _by_fraction
from gravure.frontend.tf.train.loss_ops import EPSILON, binary_crossentropy
from gravure.ir.types import dims as dim_rules


@pytest.mark.parametrize("seed", range(20))
def test_sizes_are_compared_by_all_sums_of_facts(seed: int) -> None:
    """A size is at least 0 where it is a sum of up to `DEPTH` facts and of what is positive."""
    random = np.random.default_rng(seed)
    names = [dim_rules.symbol(name) for name in "abcd"]

    def some() -> Any:
        return sum(int(n) * name for n, name in zip(random.integers(-2, 3, 4), names, strict=True))

    facts, asked = [some() for _ in range(4)], some()
    sums = (
        sum(chosen)
        for count in range(DEPTH + 1)
        for chosen in combinations_with_replacement(facts, count)
    )
    wanted = any(dim_rules.bounds(asked - each, {})[0] >= 0 for each in sums)
    assert Knowledge({}, facts).at_least(asked, 0) == wanted


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(20))
def test_sizes_are_not_said_to_be_larger_than_they_are(seed: int) -> None:
    """Sums of quotients, remainders and extremes, at all sizes in range."""
    random = np.random.default_rng(seed)
    ranges: dict[str, tuple[int, int | None]] = {"a": (1, 30), "b": (0, 9)}

    def some(depth: int) -> str:
        if not depth:
            return str(random.choice(["a", "b", "3", "7", "1"]))
        left, right, by = some(depth - 1), some(depth - 1), random.integers(2, 8)
        forms = [
            f"({left}) + ({right})", f"({left}) - ({right})", f"{by} * ({left})",
            f"({left}) // {by}", f"({left}) % {by}", f"max({left}, {right})",
            f"min({left}, {right})", f"{by} * (({left}) // {by})",
        ]  # fmt: skip
        return str(random.choice(forms))

    for _ in range(40):
        large, small = (dim_rules.parse(some(3)) for _ in range(2))
        lowest = min(
            dim_rules.evaluate(large - small, {"a": a, "b": b})
            for a in range(1, 31)
            for b in range(10)
        )
        for more in (lowest, lowest + 1):
            sure = Knowledge(ranges).at_least(large, small + more)
            assert not sure or more <= lowest, (large, small, more)


def test_what_is_left_of_a_size_is_looked_into_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts taken away in another order leave the same; those of other symbols are not taken."""
    asked, bounds = [], dim_rules.bounds
    monkeypatch.setattr(
        dim_rules, "bounds", lambda dim, ranges: asked.append(dim) or bounds(dim, ranges)
    )
    a, b = dim_rules.symbol("a"), dim_rules.symbol("b")
    others = [dim_rules.symbol(f"o{n}") - 3 for n in range(20)]
    facts = [*others, *(b - n for n in range(1, 7))]
    assert not Knowledge({}, facts).at_least(a - b, 0)
    assert len(asked) < 300  # taken in all orders: 475 255


def test_batches_are_counted() -> None:
    def count(elements: int, size: int, whole: bool) -> int:
        return Batched.count([elements], {"size": np.int64(size), "whole": np.bool_(whole)})

    assert [count(7, 3, False), count(7, 3, True), count(6, 3, False), count(-1, 3, True)] == [
        3, 2, 2, -1,
    ]  # fmt: skip


@pytest.mark.parametrize("size", range(4, 8))
def test_short_texts_have_the_fingerprints_of_farmhash(size: int) -> None:
    """Two words that overlap: the first moved by three bits and with the size added."""
    data, mask, factor = bytes(range(1, size + 1)), (1 << 64) - 1, 0x9AE16A3B2F90404F + size * 2
    first, last = (int.from_bytes(part, "little") for part in (data[:4], data[-4:]))
    a = ((size + (first << 3) ^ last) * factor) & mask
    a ^= a >> 47
    b = ((last ^ a) * factor) & mask
    b ^= b >> 47
    assert farm(data) == b * factor & mask


def test_specs_of_elements_that_are_stacked() -> None:
    found: Any = with_front(tf.TensorSpec([2, None], "float32"), 5)
    assert found.shape.as_list() == [5, 2, None]
    unknown: Any = with_front(tf.TensorSpec(None, "float32"), 5)
    assert unknown.shape.rank is None


def test_patches_want_all_that_says_which() -> None:
    x, one = np.zeros((1, 3, 3, 1), np.float32), [1, 1, 1, 1]
    assert extract_image_patches(x, one, one, one, "VALID").shape == (1, 3, 3, 1)
    for missing in range(4):
        given: list[Any] = [one, one, one, "VALID"]
        given[missing] = None
        with pytest.raises(TypeError, match="wants ksizes, strides, rates and padding"):
            extract_image_patches(x, *given)


def test_transforms_that_overlap_are_undone() -> None:
    signal = np.random.default_rng(0).standard_normal(24).astype(np.float32)
    made = tf.signal.mdct(signal, 8, pad_end=True)
    np.testing.assert_allclose(inverse_mdct(made)[4:24], signal[4:], atol=1e-5)


@pytest.mark.parametrize("blocks", [[2], [2, 3], [2, 3, 2]])
def test_blocks_are_put_back(blocks: list[int]) -> None:
    x = np.arange(2 * 4 * 6 * 2 * 3, dtype=np.float32).reshape(2, 4, 6, 2, 3)
    pads = [[0, 0]] * len(blocks)
    apart = tf.space_to_batch_nd(x, blocks, pads)
    np.testing.assert_array_equal(batch_to_space(apart, blocks, pads), x)


def test_numbers_are_no_text() -> None:
    assert is_numeric_tensor(tf.constant(1.5))
    assert not is_numeric_tensor(tf.constant("1.5"))
    assert not is_numeric_tensor(1.5)


def test_windows_of_one_cosine() -> None:
    np.testing.assert_allclose(tf.signal.hann_window(5, periodic=False), np.hanning(5), atol=1e-6)
    np.testing.assert_allclose(tf.signal.hann_window(4), np.hanning(5)[:4], atol=1e-6)


def test_norms_of_vectors_and_matrices_have_names() -> None:
    x = np.float32([[3, 0], [0, 4]])
    np.testing.assert_allclose(tf.norm(x, "fro", axis=[0, 1]), 5)
    np.testing.assert_allclose(tf.norm(x, 2.5, axis=1), [3, 4], rtol=1e-6)
    with pytest.raises(ValueError, match="supported vector norm, got fro"):
        tf.norm(x, "fro", axis=1)
    with pytest.raises(ValueError, match="supported matrix norm"):
        tf.norm(x, 2.5, axis=[0, 1])


def test_padding_has_the_shape_of_an_element() -> None:
    x = np.float32([[[1, 1], [0, 0]], [[2, 2], [3, 3]]])
    made = tf.RaggedTensor.from_tensor(x, padding=np.float32([0, 0]))
    assert made.to_list() == [[[1, 1]], [[2, 2], [3, 3]]]
    with pytest.raises(ValueError, match="are incompatible"):
        tf.RaggedTensor.from_tensor(x, padding=np.zeros((2, 2), np.float32))


def test_rows_of_one_length_must_hold_the_values() -> None:
    made = tf.RaggedTensor.from_uniform_row_length(np.arange(6), 3)
    assert made.to_list() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.RaggedTensor.from_uniform_row_length(np.arange(6), 3, nrows=3)


def test_lengths_of_shapes_without_and_with_rows() -> None:
    flat = DynamicRaggedShape([], [2, 3])
    assert flat.static_lengths() == [2, 3]
    ragged = DynamicRaggedShape.from_tensor(tf.ragged.constant([[1, 2], [3]]))
    assert ragged.static_lengths() == [2, (2, 1)]


def test_shares_of_the_beta_distribution() -> None:
    """Of whole numbers it is a sum of binomial terms."""
    a, b, x = 3, 4, np.linspace(0.05, 0.95, 7)
    wanted = sum(
        math.comb(a + b - 1, j) * x**j * (1 - x) ** (a + b - 1 - j) for j in range(a, a + b)
    )
    found = tf.math.betainc(np.float64(a), np.float64(b), x)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    front = math.factorial(6) / 2 / 6 * x**3 * (1 - x) ** 4 / 3
    low = x < 0.4
    fraction = _by_fraction(np.full(7, 3.0), np.full(7, 4.0), x)
    np.testing.assert_allclose((front * fraction)[low], wanted[low], rtol=1e-12)
    with tf.GradientTape() as tape:
        point = tf.constant(0.3, "float64")
        tape.watch(point)
        made = tf.math.betainc(tf.constant(3.0, "float64"), tf.constant(4.0, "float64"), point)
    np.testing.assert_allclose(tape.gradient(made, point), 60 * 0.3**2 * 0.7**3, rtol=1e-10)


def test_names_in_expressions_of_sizes_are_symbols() -> None:
    symbols = Symbols(None)
    assert str(symbols.parsed("2*n")) == "2*n"
    assert str(symbols.parsed("n")) == "n"
    assert symbols.parsed("7") == 7


def test_records_are_read_in_pieces(tmp_path: Path) -> None:
    path = str(tmp_path / "records")
    texts = [bytes([n]) * (n * 3000) for n in range(1, 30)]
    with tf.io.TFRecordWriter(path) as writer:
        for text in texts:
            writer.write(text)
    data = tf.data.TFRecordDataset(path, buffer_size=16)
    assert [each.numpy() for each in data] == texts


def test_the_largest_numbers_are_in_the_last_part_of_a_histogram() -> None:
    with np.errstate(over="ignore"):
        made = histogram(np.array([0.0, LARGEST, -LARGEST, 1.0]))
    assert sum(made.bucket) == made.num == 4
    assert (made.bucket[-1], made.bucket_limit[-1]) == (1, LARGEST)


def test_sizes_that_differ_between_runs_are_forgotten() -> None:
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder("float32", None)
    assert x.seen is None
    for shape, seen in (
        ((2, 3), (2, 3)),
        ((2, 3), (2, 3)),
        ((2, 4), (2, None)),
        ((5, 4), (None, None)),
        ((7,), (7,)),
    ):
        x.see(shape)
        assert x.seen == seen


def test_pads_are_longer_behind() -> None:
    assert _longer(((0, 0), (1, 2)), [1, 3]) == ((0, 1), (1, 5))


@pytest.mark.parametrize("axes", [[1], [0, 2], [-1]])
@pytest.mark.parametrize("keepdims", [True, False])
def test_sizes_are_folded_along_axes(axes: list[int], keepdims: bool) -> None:
    x = np.arange(24).reshape(2, 3, 4)
    plain = [axis % 3 for axis in axes]
    found = fold(max, x.astype(object), plain, keepdims=keepdims)
    np.testing.assert_array_equal(found.astype(int), x.max(tuple(axes), keepdims=keepdims))


def test_functions_of_a_text_take_no_attributes() -> None:
    text = "function f(a: f32[2]) -> (b) { b = a + 1 } model m(x: f32[2]) -> (y) { y = f(x, k=1) }"
    with pytest.raises(GraphError, match="f"):
        load_program(text.encode())
    assert load_program(text.replace(", k=1", "").encode())


def test_graphs_of_devices_keep_what_operations_wait_for() -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = v1.placeholder("float32", [2], name="x")
        first = tf.exp(x, name="first")
        with tf.control_dependencies([first]):
            y = tf.negative(x, name="second")
        told, options = v1.RunMetadata(), v1.RunOptions(output_partition_graphs=True)
        v1.Session().run([y, first], {x: [1, 2]}, options=options, run_metadata=told)
    [part] = told.partition_graphs
    assert "^first" in {node.name: node for node in part.node}["second"].input


def test_slopes_of_roots_of_matrices() -> None:
    a = np.float64([[[4, 1, 0.5], [2, 5, 1], [0.3, 0.2, 3]], [[2, 0.1, 0], [0.2, 3, 1], [0, 1, 4]]])
    weights = np.random.default_rng(1).standard_normal(a.shape)
    with tf.GradientTape() as tape:
        given = tf.constant(a)
        tape.watch(given)
        made = tf.reduce_sum(tf.linalg.sqrtm(given) * weights)
    slope = tape.gradient(made, given).numpy()
    for place in ((0, 0, 0), (0, 1, 2), (1, 2, 1)):
        near = []
        for step in (1e-5, -1e-5):
            moved = a.copy()
            moved[place] += step
            near.append(float((tf.linalg.sqrtm(moved).numpy() * weights).sum()))
        np.testing.assert_allclose(slope[place], (near[0] - near[1]) / 2e-5, rtol=1e-6)


@pytest.mark.parametrize("size", [3, None])
def test_filters_are_spread_over_images_of_any_size(size: int | None) -> None:
    layer = tf.compat.v1.layers.Conv2DTranspose(2, 3, 2)
    x = np.ones((1, 3, 4, 2), np.float32)
    with tf.Graph().as_default():
        given = tf.compat.v1.placeholder("float32", [None, size, size and 4, 2])
        made = layer(given)
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            assert session.run(made, {given: x}).shape == (1, 7, 9, 2)
    if size:
        assert made.shape.as_list() == [None, 7, 9, 2]


@pytest.mark.parametrize("offset", [-3, -1, 0, 1, 2, 4])
def test_diagonals_of_matrices(offset: int) -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    found = array_api_linalg.diagonal(gv.asarray(x), offset=offset)
    np.testing.assert_array_equal(np.asarray(found), np.diagonal(x, offset, 1, 2))


@pytest.mark.parametrize("merge", [True, False])
def test_labels_that_follow_each_other_are_merged_where_that_is_wanted(merge: bool) -> None:
    best = [0, 0, 2, 1, 1, 2, 2, 1]
    scores = np.full((8, 1, 3), -5, np.float32)
    scores[range(8), 0, best] = 1
    [found], total = tf.nn.ctc_greedy_decoder(scores, [8], merge_repeated=merge)
    assert found.values.numpy().tolist() == ([0, 1, 1] if merge else [0, 0, 1, 1, 1])
    np.testing.assert_allclose(total, [[-8]])


def test_elements_are_chosen_from_two_sides() -> None:
    x, y = np.float32([1, 2]), np.float32([3, 4])
    np.testing.assert_array_equal(chosen([True, False], x, y), [1, 4])
    rows = tf.ragged.constant([[1.0], [2.0, 3.0]])
    assert chosen(rows > 1.5, rows, -rows).to_list() == [[-1], [2, 3]]


def test_losses_of_yes_and_no_with_smoothed_labels_and_sure_predictions() -> None:
    truth, found = np.float32([[1, 0]]), np.float32([[0.8, 0.3]])
    soft = truth * 0.8 + 0.1
    wanted = -(soft * np.log(found) + (1 - soft) * np.log(1 - found)).mean(-1)
    np.testing.assert_allclose(binary_crossentropy(truth, found, False, 0.2), wanted, rtol=1e-5)
    sure = binary_crossentropy(truth, np.float32([[0, 1]]))
    np.testing.assert_allclose(sure, -np.log(EPSILON), rtol=1e-1)
    assert np.isfinite(binary_crossentropy(truth, truth).numpy()).all()


def test_gradients_by_name_take_tensors_and_numbers() -> None:
    x, dy = np.float32([-1, 2]), np.float32([3, 5])
    np.testing.assert_allclose(
        tf.raw_ops.LeakyReluGrad(gradients=dy, features=x, alpha=0.5), [1.5, 5]
    )
    np.testing.assert_allclose(tf.raw_ops.TanhGrad(y=x / 4, dy=dy), dy * (1 - x * x / 16))
