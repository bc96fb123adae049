"""What objects of the public interface print, as TensorFlow 2.21 prints them."""

import re

import pytest

import gravure.tf as tf

NUMBERS = tf.data.Dataset.range(3)
ONE = "TensorSpec(shape=(), dtype=tf.int64, name=None)"
DATASETS = {
    "_MapDataset": lambda: NUMBERS.map(lambda x: x),
    "_ParallelMapDataset": lambda: NUMBERS.map(lambda x: x, num_parallel_calls=2),
    "_ShuffleDataset": lambda: NUMBERS.shuffle(2),
    "_RepeatDataset": NUMBERS.repeat,
    "_TakeDataset": lambda: NUMBERS.take(1),
    "_SkipDataset": lambda: NUMBERS.skip(1),
    "_FilterDataset": lambda: NUMBERS.filter(lambda x: x > 1),
    "CacheDataset": NUMBERS.cache,
    "_PrefetchDataset": lambda: NUMBERS.prefetch(1),
    "_ConcatenateDataset": lambda: NUMBERS.concatenate(NUMBERS),
    "_InterleaveDataset": lambda: NUMBERS.interleave(lambda x: tf.data.Dataset.range(2)),
    "_FlatMapDataset": lambda: NUMBERS.flat_map(lambda x: tf.data.Dataset.range(2)),
    "_ScanDataset": lambda: NUMBERS.scan(0, lambda s, x: (s, x)),
    "_UniqueDataset": NUMBERS.unique,
    "_ShardDataset": lambda: NUMBERS.shard(2, 0),
    "_UnbatchDataset": lambda: NUMBERS.batch(2).unbatch(),
    "_TakeWhileDataset": lambda: NUMBERS.take_while(lambda x: x < 2),
    "_RandomDataset": lambda: tf.data.Dataset.random(1),
}


@pytest.mark.parametrize("name", DATASETS)
def test_datasets(name: str) -> None:
    assert repr(DATASETS[name]()) == f"<{name} element_spec={ONE}>"


def test_other_datasets() -> None:
    assert str(NUMBERS.batch(2)).startswith("<_BatchDataset element_spec=TensorSpec(shape=(None,)")
    assert (
        str(NUMBERS.window(2))
        == f"<_WindowDataset element_spec=DatasetSpec({ONE}, TensorShape([]))>"
    )
    assert str(tf.data.TextLineDataset("x")).startswith("<TextLineDatasetV2 element_spec=")
    assert str(tf.data.TFRecordDataset("x")).startswith("<TFRecordDatasetV2 element_spec=")
    assert str(tf.data.Dataset.from_tensors(1)).startswith("<_TensorDataset ")
    assert str(tf.data.Dataset.from_tensor_slices([1])).startswith("<_TensorSliceDataset ")


def test_traces() -> None:
    @tf.function
    def both(a: tf.Tensor, b: int = 2, *, k: float = 3.0) -> dict[str, object]:
        return {"s": a + b, "t": (a, None)}

    trace = both.get_concrete_function(tf.TensorSpec([None, 3]), b=5)
    wide = "TensorSpec(shape=(None, 3), dtype=tf.float32, name=None)"
    gives = f"Dict[['s', {wide}], ['t', Tuple[{wide}, None]]]"
    assert trace.pretty_printed_signature().splitlines() == [
        "Input Parameters:",
        f"  a (POSITIONAL_OR_KEYWORD): {wide}",
        "  b (POSITIONAL_OR_KEYWORD): Literal[5]",
        "  k (KEYWORD_ONLY): Literal[3.0]",
        "Output Type:",
        f"  {gives}",
        "Captures:",
        "  None",
    ]
    shown = re.sub(r"0x\w+", "0x", repr(trace))
    assert (
        shown
        == f"<ConcreteFunction (a: {wide}, b: Literal[5], *, k: Literal[3.0]) -> {gives} at 0x>"
    )


def test_what_a_trace_takes_from_outside() -> None:
    table = tf.Variable([1.0])
    trace = tf.function(lambda: table + 1.0).get_concrete_function()
    said = f"  {id(table)}: TensorSpec(shape=(), dtype=tf.resource, name=None)"
    assert trace.pretty_printed_signature().splitlines()[1] == "Output Type:"
    assert trace.pretty_printed_signature().splitlines()[-1] == said


def test_slices_and_choices() -> None:
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([2, 1]))
    assert str(slices) == (
        "IndexedSlices(indices=tf.Tensor([0], shape=(1,), dtype=int32), "
        "values=tf.Tensor([[1.]], shape=(1, 1), dtype=float32), "
        "dense_shape=tf.Tensor([2 1], shape=(2,), dtype=int32))"
    )
    assert str(tf.UnconnectedGradients.ZERO) == "UnconnectedGradients.ZERO"
    x = tf.Variable(1.0)
    for choice in (tf.UnconnectedGradients.ZERO, "zero"):
        with tf.GradientTape() as tape:
            y = tf.constant(2.0) * 1.0
        assert tape.gradient(y, x, unconnected_gradients=choice).numpy() == 0


def test_operations() -> None:
    with tf.Graph().as_default():
        made = tf.compat.v1.placeholder(tf.int32) + tf.constant(1, name="c")
        assert repr(made.op) == "<tf.Operation 'add' type=AddV2>"
        assert str(made.op).splitlines()[:4] == [
            'name: "add"', 'op: "AddV2"', 'input: "Placeholder"', 'input: "c"'
        ]  # fmt: skip
        assert str(tf.no_op()) == 'name: "NoOp"\nop: "NoOp"\n'
        assert str(made) == 'Tensor("add:0", dtype=int32)'
        assert repr(made) == "<tf.Tensor 'add:0' shape=<unknown> dtype=int32>"
