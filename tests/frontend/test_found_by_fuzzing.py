"""What graphs that were grown by chance found, each as small as it became."""

from __future__ import annotations

import tempfile

import numpy as np
import onnx
import pytest

import gravure as gv
from gravure import tf
from gravure.errors import GraphError, GravureError
from gravure.frontend.programs.load import load_program
from gravure.ir import interpret


def parsed(text: str) -> bytes:
    """Return a model of text."""
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 22]> {text}')
    return bytes(model.SerializeToString())


@pytest.mark.parametrize("start", [-9, -3, -1, 0, 2, 5, 11])
@pytest.mark.parametrize("stop", [-9, -3, -1, 0, 2, 5, 11, -(2**31)])
def test_slices_backwards_of_an_open_axis(start: int, stop: int) -> None:
    text = f"""m (float[N, 2] x) => (float[M, 2] y)
    <int64[1] s = {{{start}}}, int64[1] e = {{{stop}}}, int64[1] a = {{0}}, int64[1] t = {{-1}}>
    {{ y = Slice(x, s, e, a, t) }}"""
    made = gv.compile(parsed(text), dims={"N": (0, 12)}, level="O1")
    program = load_program(parsed(text), dims={"N": (0, 12)})
    for size in (0, 1, 2, 3, 6, 12):
        x = np.arange(2 * size, dtype=np.float32).reshape(size, 2)
        for found in (made.run([x])[0], interpret(program, [x])[0]):
            np.testing.assert_array_equal(found, x[max(start, -size) : stop : -1])


def test_parts_backwards_of_an_open_axis_are_pythons() -> None:
    ends = (-9, -3, -1, 0, 5, None)
    ways = [slice(a, b, step) for a in ends for b in ends for step in (-1, -2)]
    spec = tf.TensorSpec([None], tf.float32)
    made = tf.function(lambda x: [x[way] for way in ways], input_signature=[spec])
    for size in (0, 1, 2, 3, 6, 12):
        x = np.arange(size, dtype=np.float32)
        for found, way in zip(made(x), ways, strict=True):
            np.testing.assert_array_equal(found.numpy(), x[way], str(way))


def test_what_a_loop_of_no_trips_collects_has_the_sizes_of_its_parts() -> None:
    text = """m (float[N, 2, N] x, int64 n) => (float[N, 2, N] y, float[T, N, 2, N] all) {
        y, all = Loop(n, "", x) <body = b (int64 i, bool c, float[N, 2, N] s)
            => (bool d, float[N, 2, N] t, float[N, 2, N] u)
            { d = Identity(c) t = Neg(s) u = Identity(t) }>
    }"""
    data = parsed(text)
    made = gv.compile(data, dims={"N": (0, 8)}, level="O1")
    program = load_program(data, dims={"N": (0, 8)})
    for size in (3, 1, 0):
        x = np.ones((size, 2, size), np.float32)
        for trips in (0, 2, -1):
            given = [x, np.array(trips, np.int64)]
            for found in (made.run(given)[1], interpret(program, given)[1]):
                assert found.shape == (max(trips, 0), size, 2, size)


def test_a_concatenation_goes_back_to_its_first_part() -> None:
    data = tf.data.Dataset.range(3)
    both = data.concatenate(data.map(lambda x: x + 10).take(2))
    iterator = iter(both)
    taken = int(next(iterator))
    kept = tf.train.Checkpoint(iterator=iterator)
    with tempfile.TemporaryDirectory() as folder:
        path = kept.save(f"{folder}/c")
        other = iter(both)
        for _ in range(4):
            next(other)
        tf.train.Checkpoint(iterator=other).restore(path)
    assert [taken, *map(int, other)] == [0, 1, 2, 10, 11]


def test_tensors_of_any_rank_are_unstacked() -> None:
    spec = tf.TensorSpec(None, tf.float32)
    made = tf.function(lambda x: tf.stack(tf.unstack(x, 4, 1)[::-1], 1), input_signature=[spec])
    for shape in ((2, 4), (3, 4), (2, 4, 3), (0, 4), (2, 4)):
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        np.testing.assert_array_equal(made(x).numpy(), x[:, ::-1])
    with pytest.raises(ValueError, match="axis 1 must equal 4"):
        made(np.ones((3, 5), np.float32))


def test_shapes_that_were_seen_elsewhere_after_compiling_are_found() -> None:
    """A run beside may see other shapes while a program is compiled for those seen before."""

    @tf.function
    def made(n: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.py_function(lambda m: np.ones(int(m), np.float32), [n], tf.float32))

    for _ in range(5):
        assert float(made(tf.constant(3))) == 3.0
    (concrete,) = made.cache.values()
    seen = [x for op in concrete.graph.operations for x in op.outputs if x.seen is not None]
    assert seen
    for tensor in seen:
        if tensor.seen == (3,):
            tensor.see((5,))
    for count in (4, 0, 3, 1):
        assert float(made(tf.constant(count))) == count


def test_what_a_pad_moved_inside_is_read_through_a_reshape() -> None:
    """The loops were not split where the place along one axis is data: compiling failed."""
    text = """g (float[1, n, n] x) => (float[1, a, b] y)
    <int64[3] times = {2, 1, 3}, int64[6] pads = {0, 0, 0, -1, 1, 0}>
    { t = Tile(x, times)  p = Pad(t, pads)  y = Hardmax<axis = 2>(p) }"""
    made = gv.compile(parsed(text), dims={"n": (0, 5)}, cache=False)
    for n in (0, 1, 4):
        x = np.random.default_rng(n).standard_normal((1, n, n)).astype(np.float32)
        wide = np.concatenate([np.tile(x, (1, 1, 3)), np.zeros((1, 1, 3 * n), np.float32)], 1)
        first = np.arange(3 * n) == wide.argmax(2)[..., None] if n else wide
        np.testing.assert_array_equal(made(x), first.astype(np.float32))


@pytest.mark.parametrize("columns", [1, 2, 5, 64])
def test_products_of_nothing_are_zeros_in_rows_of_any_number(columns: int) -> None:
    """The kernel's panel had no bytes: the number of rows was read where it would have been."""
    text = f"""m (float[N, 0] x, float[0, {columns}] w) => (float[N, {columns}] y)
    {{ y = MatMul(x, w) }}"""
    made = gv.compile(parsed(text), dims={"N": (1, 100)}, cache=False)
    for rows in (1, 9, 100):
        given = [np.empty((rows, 0), np.float32), np.empty((0, columns), np.float32)]
        y = np.full((rows, columns), 7, np.float32)
        made.bind(given, [y])()
        assert not y.any()


@pytest.mark.parametrize("rows", ["4", "N"])
@pytest.mark.parametrize("rest", ["y = Softmax(g)", "s = Softmax(g) y = Mul(s, e)"])
def test_what_a_row_keeps_is_not_taken_for_what_lies_elsewhere(rows: str, rest: str) -> None:
    """Exponentials that a row kept for its next pass were read in its order, not the gather's."""
    text = f"""m (float[{rows}, 4] x) => (float[{rows}, 4] y) <int64[4] i = {{3, 1, 0, 2}}>
    {{ e = Exp(x) g = Gather <axis = 1> (e, i) {rest} }}"""
    dims = {"N": (1, 8)} if rows == "N" else {}
    made, program = gv.compile(parsed(text), dims=dims), load_program(parsed(text), dims=dims)
    x = np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32)
    np.testing.assert_allclose(made.run([x])[0], interpret(program, [x])[0], rtol=1e-5)


def test_a_sequence_is_no_part_of_one() -> None:
    text = """m (float[2] x, int64 p) => (float[2] y) {
        s = SequenceConstruct(x) t = SequenceInsert(s, s, p) y = SequenceAt(t, p) }"""
    with pytest.raises(GraphError, match=r"SequenceInsert.*a sequence, expected a tensor"):
        load_program(parsed(text))


def test_what_is_cut_to_nothing_assumes_no_size() -> None:
    """Nothing lies from 2 to 1: it was shown for two rows and more only, and assumed of all."""
    text = """m (float[N, 1] x, float[0, 1] w) => (bool[0, 1] y)
    <int64[1] a = {2}, int64[1] b = {1}, int64[1] axis = {-2}, int64[1] step = {2}>
    { s = Slice(x, a, b, axis, step)  y = Equal(s, w) }"""
    made = gv.compile(parsed(text), dims={"N": (0, 3)}, cache=False)
    for rows in range(4):
        given = np.zeros((rows, 1), np.float32), np.zeros((0, 1), np.float32)
        assert made(*given).shape == (0, 1)


@pytest.mark.parametrize("columns", ["6", "7", "N"])
@pytest.mark.parametrize("rest", ["", "t = Softmax(u)", "t = Exp(u)"])
def test_a_sum_of_each_row_is_not_taken_for_that_of_each_column(columns: str, rest: str) -> None:
    """A square's rows are as many as its columns: each row was multiplied by its own sum."""
    text = f"""m (float[6, {columns}] x, float[6, 6] w) => (float[6] y)
    <int64[1] a = {{1}}, int64[2] s = {{1, 6}}>
    {{ p = ReduceSum(x, a) q = Reshape(p, s) u = Mul(q, w) {rest}
      y = ReduceSum<keepdims = 0>({"t" if rest else "u"}, a) }}"""
    dims = {"N": (1, 8)} if columns == "N" else {}
    made, program = gv.compile(parsed(text), dims=dims), load_program(parsed(text), dims=dims)
    random = np.random.default_rng(0)
    x = random.standard_normal((6, 7 if columns == "7" else 6)).astype(np.float32) / 9
    given = [x, random.standard_normal((6, 6)).astype(np.float32)]
    np.testing.assert_allclose(made.run(given)[0], interpret(program, given)[0], rtol=1e-5)


def test_a_loop_of_one_region_and_one_without_names_are_refused() -> None:
    """Both were errors of Python's: a region and a name that are not there were looked at."""
    loop = """func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %y = gv.while %x ({
      ^bb0(%a: tensor<f32>):
        %t = gv.constant {value = #gv.array<bool, "", [false]>} : () -> tensor<i1>
        gv.yield %t : (tensor<i1>) -> ()
      }) {carried = 1 : i64} : (tensor<f32>) -> tensor<f32>
      func.return %y : tensor<f32>
    }"""
    with pytest.raises(GravureError, match=r"gv.while: 1 regions, expected 2"):
        load_program(loop.encode())
    text = """model m(x: f32[4]) -> (y) {
      while i = 0, v = x { yield i < 3 } do { yield i + 1, v * v }
      y = x
    }"""
    with pytest.raises(GravureError, match=r":2:\d+: error: 0 names for 2 values"):
        load_program(text.encode())


@pytest.mark.parametrize("other", [(1, 1), (1, 1, 17)])
@pytest.mark.parametrize("depth", [1, 8])
def test_what_has_more_axes_behind_a_product_is_walked(depth: int, other: tuple[int, ...]) -> None:
    """Moves of the product were asked for an index with the axes of what is behind it."""
    sizes = ", ".join(map(str, other))
    b = ", ".join(str(number % 5 - 2) for number in range(depth * 17))
    text = f"""m (float[1, {depth}] a, float[{sizes}] c) => (bool[{sizes}] y)
    <int64[1] s = {{17}}, float[{depth}, 17] b = {{{b}}}>
    {{ p = MatMul(a, b) q = Reshape(p, s) y = GreaterOrEqual(q, c) }}"""
    text = text.replace("bool[1, 1]", "bool[1, 17]")
    made, program = gv.compile(parsed(text), cache=False), load_program(parsed(text))
    random = np.random.default_rng(0)
    given = [random.standard_normal(shape).astype(np.float32) for shape in ((1, depth), other)]
    np.testing.assert_array_equal(made.run(given)[0], interpret(program, given)[0])
