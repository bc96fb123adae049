"""Small programs on sparse and ragged values, tables and text, whose values TensorFlow recorded.

Each is an expression, or a function of the module `tf`; what it gives is compared, an error by the
kind of its class. `record.py` runs them in TensorFlow.
"""

import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
EXPRESSIONS = [
    line
    for file in sorted(HERE.glob("*.txt"))
    for line in file.read_text().splitlines()
    if line and not line.startswith("#")
]

PROGRAMS = {}


def program(function):
    """Enter a function of `tf` among the programs."""
    PROGRAMS[function.__name__] = function
    return function


@program
def sparse_values_in_functions(tf):
    @tf.function
    def scaled(sp, x):
        return sp * 2.0, tf.sparse.sparse_dense_matmul(sp, x), sp.shape, tf.sparse.to_dense(sp)

    a = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 2])
    made = [scaled(a, tf.ones([2, 2])) for _ in range(4)]
    other = tf.SparseTensor([[0, 1]], [1.0], [3, 2])
    made.append(scaled(other, tf.ones([2, 2])))
    return made, scaled.experimental_get_tracing_count()


@program
def rows_of_different_lengths_from_a_map(tf):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def ranges(counts):
        spec = tf.RaggedTensorSpec([None], tf.int32)
        return tf.map_fn(lambda n: tf.range(n) * 2, counts, fn_output_signature=spec)

    return ranges(tf.constant([1, 0, 2])), ranges(tf.constant([3]))


@program
def sparse_signature(tf):
    @tf.function(input_signature=[tf.SparseTensorSpec([None, 3], tf.float32)])
    def total(sp):
        return tf.sparse.reduce_sum(sp, 1), tf.sparse.add(sp, sp), sp.shape[1]

    a = tf.SparseTensor([[0, 1], [1, 2]], [1.0, 2.0], [2, 3])
    b = tf.SparseTensor([[0, 1]], [1.0], [5, 3])
    return total(a), total(b), total.experimental_get_tracing_count()


@program
def sparse_signature_that_does_not_fit(tf):
    @tf.function(input_signature=[tf.SparseTensorSpec([None, 3], tf.float32)])
    def total(sp):
        return tf.sparse.reduce_sum(sp, 1)

    return total(tf.ones([2, 3]))


@program
def gradients_of_sparse_functions(tf):
    made = []
    v, x = tf.constant([1.0, -2.0, 3.0]), tf.constant(np.arange(8.0).reshape(4, 2), tf.float32)
    dense = tf.constant(np.arange(12.0).reshape(3, 4), tf.float32)

    def sp():
        return tf.SparseTensor([[0, 1], [2, 0], [2, 3]], v, [3, 4])

    functions = [
        lambda: tf.sparse.sparse_dense_matmul(sp(), x),
        lambda: tf.sparse.to_dense(sp()),
        lambda: tf.sparse.reduce_sum(sp(), 1) ** 2,
        lambda: tf.sparse.add(sp(), dense) ** 2,
        lambda: tf.sparse.add(sp(), sp()).values ** 2,
        lambda: tf.sparse.softmax(sp()).values ** 2,
        lambda: (sp() * dense).values ** 2,
        lambda: tf.sparse.reorder(sp()).values ** 2,
        lambda: tf.sparse.transpose(sp()).values ** 2,
        lambda: tf.sparse.slice(sp(), [1, 0], [2, 2]).values ** 2,
        lambda: tf.sparse.sparse_dense_matmul(sp(), dense, adjoint_a=True),
        lambda: tf.sparse.sparse_dense_matmul(sp(), dense, adjoint_b=True),
        lambda: tf.sparse.fill_empty_rows(sp(), 1.0)[0].values ** 2,
    ]
    for function in functions:
        with tf.GradientTape() as tape:
            tape.watch([v, x, dense])
            y = function()
        made.append(tape.gradient(y, [v, x, dense]))
    return made


@program
def gradient_by_a_sparse_tensor(tf):
    a = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 2])
    with tf.GradientTape() as tape:
        tape.watch(a.values)
        y = tf.sparse.to_dense(a) ** 2
    return tape.gradient(y, a.values)


@program
def sparse_feeds_and_fetches(tf):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        p = v1.sparse_placeholder(tf.float32)
        q = v1.sparse_placeholder(tf.float32, shape=[2, 3])
        y = v1.sparse_tensor_dense_matmul(q, tf.ones([3, 2]))
        value = v1.SparseTensorValue([[0, 1], [1, 2]], [1.0, 2.0], [2, 3])
        return [
            sess.run(p, {p: value}),
            sess.run(v1.sparse_reduce_sum(p, 1), {p: ([[0, 1]], [3.0], [2, 2])}),
            sess.run([y, q], {q: value}),
            [str(p.shape), str(q.shape), str(p.indices.shape), str(q.indices.shape)],
            sess.run(v1.sparse_tensor_to_dense(p), {p: value}),
            sess.run({"a": [v1.sparse_add(p, p)]}, {p: value}),
        ]


@program
def sparse_elements_of_datasets(tf):
    a = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 2])
    data = tf.data.Dataset.from_tensor_slices(a)
    batched = data.batch(2)
    mapped = data.map(lambda sp: tf.sparse.to_dense(sp) * 2)
    return list(data), list(batched), list(mapped), str(data.element_spec)


@program
def sparse_values_of_choices_and_loops(tf):
    a = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 2])

    @tf.function
    def chosen(flag):
        return tf.cond(flag, lambda: a * 2.0, lambda: tf.sparse.reorder(a))

    @tf.function
    def looped(n):
        sp = a
        for _ in tf.range(n):
            sp = tf.sparse.add(sp, a)
        return sp

    @tf.function
    def branched(x):
        if x > 0:  # noqa: SIM108  (is what is tried)
            sp = a
        else:
            sp = a * -1.0
        return sp

    return (
        chosen(tf.constant(True)),
        chosen(tf.constant(False)),
        looped(tf.constant(3)),
        branched(tf.constant(-1.0)),
    )


@program
def structures_with_sparse_values(tf):
    a = tf.SparseTensor([[0, 1]], [1.0], [3, 2])
    return (
        len(tf.nest.flatten({"x": a, "y": [a, 1]})),
        len(tf.nest.flatten({"x": a, "y": [a, 1]}, expand_composites=True)),
        tf.nest.map_structure(lambda x: x * 2, [a], expand_composites=False),
        tf.nest.pack_sequence_as(a, tf.nest.flatten(a, expand_composites=True), True),
        tf.is_tensor(a),
        str(tf.type_spec_from_value(a)),
        isinstance(tf.type_spec_from_value(a), tf.TypeSpec),
    )


@program
def sparse_lookups_of_embeddings(tf):
    table = tf.Variable(np.arange(10.0).reshape(5, 2).astype("f"))
    ids = tf.SparseTensor([[0, 0], [0, 2], [1, 0], [3, 1]], [1, 3, 0, 4], [5, 3])
    weights = tf.SparseTensor([[0, 0], [0, 2], [1, 0], [3, 1]], [1.0, 0.5, 2.0, -1.0], [5, 3])
    made = []
    for combiner in ("sum", "mean", "sqrtn"):
        for w in (None, weights):
            with tf.GradientTape() as tape:
                y = tf.nn.embedding_lookup_sparse(table, ids, w, combiner=combiner)
            made.append([y, tf.convert_to_tensor(tape.gradient(y, table))])
            for default in (None, 2):
                kept = {"combiner": combiner, "default_id": default}
                made += [tf.nn.safe_embedding_lookup_sparse(table, ids, w, **kept)]
    made.append(tf.nn.embedding_lookup_sparse(table, ids, None, "sum", max_norm=1.0))
    cube = tf.SparseTensor([[0, 0, 0], [0, 1, 1], [1, 1, 0]], [1, -1, 3], [2, 2, 2])
    made.append(tf.nn.safe_embedding_lookup_sparse(table, cube))
    return made


@program
def sparse_lookups_of_parts(tf):
    parts = [tf.constant([[0.0, 1.0], [2.0, 3.0]]), tf.constant([[10.0, 11.0], [12.0, 13.0]])]
    ids = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [1, 2, 3], [2, 2])
    v1 = tf.compat.v1
    return [
        v1.nn.embedding_lookup_sparse(parts, ids, None, partition_strategy=s, combiner="sum")
        for s in ("mod", "div")
    ]


@program
def tables_that_change(tf):
    m = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    m.insert(tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64))
    m.insert(["c"], [3])
    made = [m.lookup(tf.constant(["a", "q"])), m[tf.constant(["b"])], m.size()]
    made.append(m.lookup(tf.constant(["a", "q"]), tf.constant([7, 8], tf.int64)))
    m.remove(tf.constant(["b", "q"]))
    made += [m.size(), sorted(m.export()[0].numpy().tolist())]
    rows = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0])
    rows.insert(tf.constant([4], tf.int64), [[1.0, 2.0]])
    made.append(rows.lookup(tf.constant([4, 5], tf.int64)))
    dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -2)
    dense.insert(tf.constant([5], tf.int64), tf.constant([6], tf.int64))
    return [*made, dense.lookup(tf.constant([5, 6], tf.int64)), dense.size()]


@program
def a_key_that_stands_for_an_empty_place(tf):
    dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -2)
    return dense.insert(tf.constant([0], tf.int64), tf.constant([6], tf.int64))


@program
def tables_in_functions(tf):
    init = tf.lookup.KeyValueTensorInitializer(["good", "bad"], [1.0, -1.0])
    table = tf.lookup.StaticHashTable(init, 0.0)
    counts = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)
    weight = tf.Variable(2.0)

    @tf.function
    def score(words):
        counts.insert(words, counts.lookup(words) + 1)
        return tf.reduce_sum(table.lookup(words)) * weight, counts.lookup(words)

    texts = (["good", "so"], ["bad", "good"], ["bad", "bad"], ["x", "y"], ["good", "x"])
    return [score(tf.constant(each)) for each in texts]


@program
def tables_of_graphs(tf):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        init = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
        table = tf.lookup.StaticVocabularyTable(init, 2)
        words = v1.placeholder(tf.string, [None])
        found = table.lookup(words)
        try:
            sess.run(found, {words: ["a"]})
            early = "ran"
        except tf.errors.FailedPreconditionError:
            early = "not initialised"
        sess.run(v1.tables_initializer())
        return early, sess.run(found, {words: ["b", "a", "zebra"]})


@program
def tables_of_files(tf):
    index = tf.lookup.TextFileIndex
    forms = [(tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER)]
    forms.append((tf.int64, index.LINE_NUMBER, tf.string, index.WHOLE_LINE))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "words.txt"
        path.write_text("aa\nbb\ncc\n")
        made = []
        for form in forms:
            for more in ({}, {"vocab_size": 2}):
                table = tf.lookup.StaticHashTable(
                    tf.lookup.TextFileInitializer(str(path), *form, **more),
                    "?" if form[2] == tf.string else -1,
                )
                keys = tf.constant(["cc", "aa"] if form[0] == tf.string else [2, 0], form[0])
                made.append([table.size(), table.lookup(keys)])
        path.write_text("aa,1\nbb,2\n")
        columns = tf.lookup.TextFileInitializer(str(path), tf.string, 0, tf.int64, 1, delimiter=",")
        return made, tf.lookup.StaticHashTable(columns, -1).lookup(tf.constant(["bb", "x"]))


@program
def words_of_datasets_by_a_table(tf):
    init = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64))
    table = tf.lookup.StaticHashTable(init, 0)
    data = tf.data.Dataset.from_tensor_slices(["a", "b", "c", "a"]).map(table.lookup).batch(3)
    return list(data)


@program
def rows_of_datasets(tf):
    rt = tf.ragged.constant([[1, 2], [3], []])
    deep = tf.ragged.constant([[[1, 2], [3]], [], [[4]]])
    data = tf.data.Dataset
    batched = data.from_tensor_slices(rt).batch(2)
    counted = data.from_tensor_slices([1, 2, 3]).map(tf.range)
    words = data.from_tensor_slices(["a b", "c", "d e f"])
    return [
        list(data.from_tensor_slices(rt)),
        str(data.from_tensor_slices(rt).element_spec),
        list(data.from_tensor_slices(deep)),
        list(batched),
        str(batched.element_spec),
        list(batched.map(lambda rows: tf.reduce_sum(rows, 1))),
        list(batched.map(lambda rows: rows + 1)),
        list(batched.unbatch()),
        list(counted.ragged_batch(2)),
        list(counted.apply(tf.data.experimental.dense_to_ragged_batch(2))),
        list(words.batch(2).map(tf.strings.split)),
        list(words.map(tf.strings.split).ragged_batch(2, drop_remainder=True)),
    ]


@program
def rows_of_sessions(tf):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        p = v1.ragged.placeholder(tf.float32, 1, [])
        fed = {p: v1.ragged.constant_value([[1.0, 2.0], [3.0]], dtype="float32")}
        total = tf.reduce_sum(p * 2.0, axis=1)
        made = sess.run([total, p, tf.concat([p, p], 1), p.to_tensor(), p[:, :1]], fed)
        known = tf.ragged.constant([[1, 2], [], [3]])
        words = tf.strings.split(tf.constant(["a b", "c"]))
        return [*made, *sess.run([known, tf.reduce_max(known, 1), words])]


@program
def rows_in_functions(tf):
    rt = tf.ragged.constant([[1, 2], [3], []])

    @tf.function
    def chosen(flag):
        return tf.cond(flag, lambda: rt + 1, lambda: rt * 2)

    @tf.function
    def looped(n):
        rows = rt
        for _ in tf.range(n):
            rows = rows * 2
        return rows

    @tf.function
    def words(text):
        pieces = tf.strings.split(text)
        return pieces.to_tensor("-"), tf.strings.length(pieces), pieces.row_lengths()

    @tf.function
    def taken(rows, order):
        return tf.gather(rows, order), rows[1:], rows[:, -1:], tf.expand_dims(rows, 1)

    return [
        chosen(tf.constant(True)),
        chosen(tf.constant(False)),
        looped(tf.constant(3)),
        *[words(tf.constant(text)) for text in (["a bb", "c"], ["x y", "z"], ["", "u v"])],
        *[taken(rt, tf.constant([2, 0])) for _ in range(3)],
    ]


@program
def gradients_through_rows(tf):
    made = []
    v = tf.constant([1.0, -2.0, 3.0, 0.5])

    def rows():
        return tf.RaggedTensor.from_row_splits(v, [0, 2, 2, 4])

    functions = [
        lambda: rows().to_tensor() ** 2,
        lambda: tf.reduce_sum(rows() ** 2, 1),
        lambda: tf.reduce_mean(rows() ** 2, 1)[:1],
        lambda: tf.reduce_max(rows() * 3.0, 1)[::2],
        lambda: tf.reduce_sum(rows() ** 3, 0),
        lambda: tf.concat([rows(), rows() * 2.0], 1).flat_values ** 2,
        lambda: tf.gather(rows(), [2, 0, 2]).flat_values ** 2,
        lambda: rows()[:, 1:].flat_values ** 2,
        lambda: (rows() * [[1.0], [2.0], [3.0]]).flat_values,
        lambda: tf.nn.softmax(rows()).flat_values ** 2,
        lambda: tf.where(rows() > 0.0, rows(), 2.0 * rows()).flat_values,
        lambda: tf.ragged.boolean_mask(rows(), rows() > 0.0).flat_values ** 2,
    ]
    for function in functions:
        with tf.GradientTape() as tape:
            tape.watch(v)
            y = function()
        made.append(tf.convert_to_tensor(tape.gradient(y, v)))
    rt = tf.ragged.constant([[1.0, 2.0], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(rt.flat_values)
        y = tf.reduce_sum(rt**2)
    return [*made, tape.gradient(y, rt.flat_values)]


@program
def rows_in_tables(tf):
    pairs = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64))
    table = tf.lookup.StaticHashTable(pairs, -1)
    words = tf.ragged.constant([["a", "x"], [], ["b"]])
    return table.lookup(words), table[words]


@program
def shapes_of_rows(tf):
    rt = tf.ragged.constant([[1, 2], [3], []])
    shape = tf.shape(rt)
    made = [repr(shape), shape.rank, shape.num_row_partitions, shape[0], repr(shape[:1])]
    made += [tf.ones(shape), tf.zeros(shape, tf.int32), tf.fill(shape, 3)]
    made += [tf.broadcast_to(1, shape), tf.broadcast_to([[1], [2], [3]], shape)]
    made += [tf.reshape(tf.constant([4, 5, 6]), shape), shape.inner_shape]
    made += [repr(tf.shape(tf.expand_dims(rt, 1))), repr(shape.row_partitions)]
    return made


@program
def structures_with_rows(tf):
    rt = tf.ragged.constant([[1, 2], [3]])
    return (
        len(tf.nest.flatten({"x": rt, "y": [rt, 1]})),
        len(tf.nest.flatten({"x": rt, "y": [rt, 1]}, expand_composites=True)),
        tf.nest.map_structure(lambda x: x * 2, rt, expand_composites=False),
        tf.nest.pack_sequence_as(rt, tf.nest.flatten(rt, expand_composites=True), True),
        tf.split(rt, 2),
        tf.split(tf.ragged.constant([[1], [2, 3], []]), [1, 2]),
    )
