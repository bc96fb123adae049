"""Calls of kernels that TensorFlow's own tests ask for; each takes the module, returns values."""

import numpy as np

RANDOM = np.random.default_rng(11)
IMAGE = RANDOM.random((2, 9, 7, 3)).astype(np.float32)
WIDE = RANDOM.random((1, 10, 12, 2)).astype(np.float32)
BOXES = np.float32([
    [[0.1, 0.2, 0.8, 0.9], [0, 0, 0.5, 0.4], [0.9, 0.1, 0.2, 0.5]],
    [[-0.5, -0.5, 0.3, 0.4], [0.5, 0.5, 1.5, 1.5], [1.2, 1.2, 1.5, 1.6]],
])  # fmt: skip
COUNTS, CHANCES = np.float32([3, 7, 40, 200]), np.float32([0.2, 0.9, 0.5, 0.3])
HALVES = IMAGE.astype(np.float16)
SCALE, SHIFT = np.float32([1.0, 2.0, 0.5]), np.float32([0.1, 0.2, 0.3])
MEANS, SPREADS = np.float32([0.4, 0.5, 0.6]), np.float32([0.1, 0.2, 0.3])
LABELS, FOUND = np.int64([[0, 3], [2, 9], [1, 1]]), RANDOM.random((3, 5)).astype(np.float32)
PLACES = np.int64([[0, 0], [0, 1], [1, 0], [2, 0]])
TEXTS = [[b"ten", b"eleven"], [b"twelve", b"thirteen"]]

PROGRAMS = {}


def program(function):
    """Enter a function under its name."""
    PROGRAMS[function.__name__] = function
    return function


def each(name, **calls):
    """Enter several calls under one name."""
    for key, function in calls.items():
        PROGRAMS[f"{name}_{key}"] = function


def in_session(function):
    """Enter a function that builds a graph, whose results are run one after the other."""

    def run(tf):
        v1 = tf.compat.v1
        with tf.Graph().as_default(), v1.Session() as session:
            made = function(tf)
            session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
            return [session.run(one) for one in made]

    PROGRAMS[function.__name__] = run
    return function


each(
    "boxes",
    drawn=lambda tf: tf.image.draw_bounding_boxes(IMAGE, BOXES, None),
    coloured=lambda tf: tf.image.draw_bounding_boxes(HALVES, BOXES, [[1, 0, 0], [0, 0.5, 1]]),
    gray=lambda tf: tf.compat.v1.image.draw_bounding_boxes(IMAGE[..., :1], BOXES),
    chosen=lambda tf: [
        tf.image.stateless_sample_distorted_bounding_box(
            np.int32([50, 40, 3]), BOXES[:1, :2], [seed, 7], min_object_covered=share
        )
        for seed, share in ((1, 0.1), (2, 0.1), (3, 0.7), (4, 0.0))
    ],
    narrow=lambda tf: tf.image.stateless_sample_distorted_bounding_box(
        np.int32([33, 90, 3]), BOXES[:1, :1], [5, 6], 0.3, [0.3, 0.5], [0.2, 0.6], 10
    ),
    whole=lambda tf: tf.image.stateless_sample_distorted_bounding_box(
        np.int32([33, 90, 3]), np.zeros((1, 0, 4), np.float32), [5, 6],
        use_image_if_no_bounding_boxes=True,
    ),
)  # fmt: skip


@program
def boxes_seeded(tf):
    tf.random.set_seed(3)
    draw = tf.image.sample_distorted_bounding_box
    return [draw(np.int32([50, 40, 3]), BOXES[:1, :1], seed=s, max_attempts=9) for s in (5, 5, 6)]


each(
    "binomial",
    stateless=lambda tf: tf.random.stateless_binomial([30, 4], [1, 2], COUNTS, CHANCES),
    halves=lambda tf: tf.random.stateless_binomial(
        [9, 2, 2], [3, 4], [[5.0], [90.0]], np.float64([0.25, 0.75]), output_dtype=tf.float16
    ),
    edges=lambda tf: tf.random.stateless_binomial(
        [6], [3, 4], np.float32([5, 5, 0, 0, 5, -1]), np.float32([0, 1, 0.5, 9, -3, 0.5])
    ),
)


@program
def binomial_by_a_generator(tf):
    generator = tf.random.Generator.from_seed(42)
    made = [generator.binomial([5, 4], COUNTS, CHANCES) for _ in range(2)]
    return [*made, generator.state.read_value()]


each(
    "fractional",
    **{
        f"{how}_{'smooth' if smooth else 'mixed'}_{'over' if over else 'apart'}": (
            lambda tf, how=how, smooth=smooth, over=over: getattr(
                tf.compat.v1.nn, f"fractional_{how}_pool"
            )(WIDE, [1.0, 1.4, 1.7, 1.0], smooth, over, True, 87, 12)
        )
        for how in ("max", "avg")
        for smooth in (True, False)
        for over in (True, False)
    },
    seeded=lambda tf: tf.nn.fractional_max_pool(WIDE, 1.3, True, seed=5)[1:],
)


@program
def fractional_gradients(tf):
    x, made = tf.constant(WIDE), []
    for name in ("fractional_max_pool", "fractional_avg_pool"):
        for over in (True, False):
            with tf.GradientTape() as tape:
                tape.watch(x)
                found = getattr(tf.nn, name)(x, [1.0, 1.6, 1.6, 1.0], True, over, seed=5).output
                y = tf.reduce_sum(found * tf.constant(WIDE[:, :6, :7]))
            made.append(tape.gradient(y, x))
    return made


def normalised(tf, x, **options):
    """Return what fused normalisation gives, and its gradients."""
    given = [tf.constant(v) for v in (x, SCALE, SHIFT)]
    with tf.GradientTape() as tape:
        tape.watch(given)
        y, mean, spread = tf.compat.v1.nn.fused_batch_norm(*given, **options)
        total = tf.reduce_sum(tf.cast(y, tf.float32) * IMAGE)
    return [y, mean, spread, *tape.gradient(total, given)]


each(
    "normalised",
    plain=lambda tf: normalised(tf, IMAGE),
    halves=lambda tf: normalised(tf, HALVES),
    inference=lambda tf: normalised(tf, HALVES, mean=MEANS, variance=SPREADS, is_training=False),
    averaged=lambda tf: normalised(
        tf, IMAGE, mean=MEANS, variance=SPREADS, exponential_avg_factor=0.3
    ),
)
each(
    "unique",
    rows=lambda tf: tf.raw_ops.UniqueV2(x=[[1, 0, 0], [1, 0, 0], [2, 0, 0]], axis=[0]),
    columns=lambda tf: tf.raw_ops.UniqueV2(
        x=[[1, 0, 0], [1, 0, 0], [2, 0, 0]], axis=[-1], out_idx=tf.int64
    ),
    counts=lambda tf: tf.raw_ops.UniqueWithCountsV2(x=[[b"a"], [b"b"], [b"a"]], axis=[0]),
    whole=lambda tf: tf.raw_ops.UniqueWithCountsV2(x=[4, 2, 4], axis=np.int32([])),
)
each(
    "counted",
    one=lambda tf: tf.raw_ops.Bincount(arr=[1, 1, 9, 2], size=4, weights=np.int32([])),
    dense=lambda tf: tf.raw_ops.DenseBincount(input=[[1, 1, 3], [0, 9, 2]], size=4, weights=[]),
    weighted=lambda tf: tf.raw_ops.DenseBincount(input=[1, 1, 3], size=4, weights=[0.5, 2.0, 1.0]),
    binary=lambda tf: tf.raw_ops.DenseBincount(
        input=[[1, 1, 3]], size=4, weights=[], binary_output=True
    ),
    sparse=lambda tf: tf.raw_ops.SparseBincount(
        indices=PLACES, values=[1, 2, 2, 3], dense_shape=np.int64([3, 2]), size=4, weights=[]
    ),
    ragged=lambda tf: tf.raw_ops.RaggedBincount(
        splits=np.int64([0, 0, 3]), values=[1, 1, 2], size=3, weights=np.float64([1, 2, 3])
    ),
)
each(
    "moved",
    offsets=lambda tf: tf.raw_ops.ConcatOffset(
        concat_dim=-2, shape=[[2, 3, 5], [2, 7, 5], [2, 20, 5]]
    ),
    blocks=lambda tf: tf.raw_ops.SpaceToBatch(input=WIDE, paddings=[[0, 0], [1, 1]], block_size=2),
    back=lambda tf: tf.raw_ops.BatchToSpace(
        input=np.tile(WIDE, (4, 1, 1, 1)), crops=[[1, 0], [0, 2]], block_size=2
    ),
)
GRADS = RANDOM.random((2, 5, 4, 3)).astype(np.float32)
WINDOW = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}


def argmax(tf):
    """Return where the greatest elements of windows are."""
    return tf.raw_ops.MaxPoolWithArgmax(input=IMAGE, **WINDOW).argmax


each(
    "ways_back",
    max=lambda tf: tf.raw_ops.MaxPoolGrad(
        orig_input=IMAGE, orig_output=GRADS, grad=GRADS, **WINDOW
    ),
    max_twice=lambda tf: tf.raw_ops.MaxPoolGradGrad(
        orig_input=IMAGE, orig_output=tf.nn.max_pool2d(IMAGE, 2, 2, "SAME"), grad=IMAGE[::-1],
        **WINDOW,
    ),
    argmax=lambda tf: tf.raw_ops.MaxPoolGradWithArgmax(
        input=IMAGE, grad=GRADS, argmax=argmax(tf), **WINDOW
    ),
    avg=lambda tf: tf.raw_ops.AvgPoolGrad(orig_input_shape=[2, 9, 7, 3], grad=GRADS, **WINDOW),
    bias=lambda tf: tf.raw_ops.BiasAddGrad(out_backprop=IMAGE),
    mirror=lambda tf: tf.raw_ops.MirrorPadGrad(
        input=np.arange(20, dtype=np.float32).reshape(4, 5), paddings=[[1, 1], [0, 2]],
        mode="REFLECT",
    ),
    filters=lambda tf: tf.compat.v1.nn.conv2d_backprop_filter(
        IMAGE, [2, 2, 3, 3], GRADS, [1, 2, 2, 1], "SAME"
    ),
    images=lambda tf: tf.raw_ops.Conv2DBackpropInput(
        input_sizes=[2, 9, 7, 3], filter=WIDE.ravel()[:36].reshape(2, 2, 3, 3),
        out_backprop=GRADS, strides=[1, 2, 2, 1], padding="SAME",
    ),
    apart=lambda tf: tf.nn.depthwise_conv2d_backprop_filter(
        IMAGE, [2, 2, 3, 1], GRADS, [1, 2, 2, 1], "SAME"
    ),
    apart_images=lambda tf: tf.nn.depthwise_conv2d_backprop_input(
        [2, 9, 7, 3], WIDE.ravel()[:12].reshape(2, 2, 3, 1), GRADS, [1, 2, 2, 1], "SAME"
    ),
    atrous=lambda tf: tf.nn.atrous_conv2d_transpose(
        GRADS, WIDE.ravel()[:24].reshape(2, 2, 2, 3), [2, 7, 6, 2], 2, "VALID"
    ),
)  # fmt: skip
each(
    "entropy",
    whole=lambda tf: tf.raw_ops.SoftmaxCrossEntropyWithLogits(
        features=FOUND[:1], labels=np.float32([[0, 0, 1, 0, 0], [0.5, 0.5, 0, 0, 0]])
    ),
    sparse=lambda tf: tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(
        features=FOUND, labels=[1, 0, 4]
    ),
)


@in_session
def best_classes(tf):
    metrics = tf.compat.v1.metrics
    sparse = tf.SparseTensor(PLACES, np.int64([0, 3, 9, 2]), [3, 2])
    best, made = tf.constant(FOUND), []
    for labels in (LABELS, sparse):
        made += [metrics.precision_at_k(labels, best, 2), metrics.recall_at_k(labels, best, 3)]
        made += [metrics.average_precision_at_k(labels, best, 3)]
        made += [metrics.precision_at_k(labels, best, 3, class_id=2)]
    weights = np.float32([[1], [0], [2]])[:, 0]
    made += [
        metrics.recall_at_top_k(
            LABELS, tf.constant([[0, 1], [2, 3], [4, 1]], tf.int64), weights=weights
        )
    ]
    made += [metrics.average_precision_at_k(LABELS, best, 2, weights)]
    return [update for _, update in made] + [value for value, _ in made]


@in_session
def cut_into_parts(tf):
    make = tf.compat.v1.create_partitioned_variables
    parts = make([2, 4], [1, 2], tf.constant([[1, 2, 3, 4], [5, 6, 7, 8]]))
    ones = make([5, 2], [2, 1], tf.compat.v1.ones_initializer(), name="ones")
    return [parts, ones]


@in_session
def slices_by_their_own_rows(tf):
    variable = tf.compat.v1.get_variable("v", initializer=np.zeros((2, 3, 2), np.float32))
    update = tf.compat.v1.batch_scatter_update(
        variable, [[0, 2], [1, 0]], np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    )
    return [update, variable]


@in_session
def parts_of_texts(tf):
    made = tf.compat.v1.substr(TEXTS, [[1, -4], [2, -3]], [[2, 3], [9, 2]])
    return [made, tf.compat.v1.parallel_stack([made, made])]


@in_session
def sparse_as_texts(tf):
    v1, sparse = tf.compat.v1, tf.SparseTensor(PLACES, np.float32([1, 2, 3, 4]), [3, 2])
    one = v1.serialize_sparse(sparse)
    both = tf.stack([one, tf.io.serialize_sparse(tf.SparseTensor(PLACES, [1.0] * 4, [4, 2]))])
    made = [v1.deserialize_many_sparse(both, tf.float32, rank=2)]
    made.append(tf.io.deserialize_many_sparse(v1.serialize_many_sparse(sparse), tf.float32))
    return [[x.indices, x.values, x.dense_shape] for x in made]


@in_session
def numbers_of_texts(tf):
    floats = [b"0", b"3", b"-1", b"1.12", b"0xF", b"   -10.5", b"3.40283e+38", b"INF", b"NAN"]
    return [
        tf.strings.to_number(floats),
        tf.strings.to_number([b" -10 ", b"2147483647"], tf.int32),
        tf.strings.as_string([3, -7], width=4, fill="0"),
        tf.strings.as_string([3, -7], width=4, fill="-"),
    ]


each(
    "pooled_apart",
    max=lambda tf: tf.nn.pool(IMAGE - 0.5, [2, 3], "MAX", dilations=[2, 1]),
    avg=lambda tf: tf.nn.pool(IMAGE - 0.5, [2, 3], "AVG", dilations=[2, 1]),
    images=lambda tf: tf.nn.conv2d(
        np.stack([IMAGE, IMAGE * 2]), WIDE.ravel()[:24].reshape(2, 2, 3, 2), 1, "SAME"
    ),
    lists=lambda tf: tf.nn.conv1d(IMAGE, WIDE.ravel()[:12].reshape(2, 3, 2), 1, "VALID"),
)


@in_session
def distances(tf):
    found = tf.SparseTensor([[0, 0, 0], [1, 0, 0]], [b"a", b"b"], [2, 1, 1])
    truth = tf.SparseTensor([[0, 0, 0], [1, 0, 1]], [b"a", b"c"], [2, 2, 2])
    made = tf.edit_distance(found, truth)
    return [made, tf.constant(made.shape.as_list())]


@in_session
def shapes_of_draws(tf):
    v1, sizes = tf.compat.v1, tf.compat.v1.placeholder_with_default(np.int32([2, 3]), [2])
    drawn = [
        v1.random_normal(sizes), v1.random_uniform(sizes), v1.truncated_normal(sizes),
        v1.random_gamma(sizes, tf.ones([4])),
        v1.random_gamma([5], tf.ones([2, 1]), v1.placeholder(tf.float32, [1, 3])),
        v1.random_poisson(tf.ones([4, 2]), sizes), v1.random_poisson([], [3]),
    ]  # fmt: skip
    return [tf.constant([-1 if d is None else d for d in x.shape.as_list()]) for x in drawn]


@in_session
def nothing_drawn(tf):
    return [tf.compat.v1.random_gamma([0, 2], [[1.0]]), tf.compat.v1.random_poisson([], [0, 4])]


each(
    "pseudo_inverses",
    batch=lambda tf: tf.linalg.pinv(
        np.stack([WIDE[0, :4, :3, 0], WIDE[0, :4, 3:6, 1]]), rcond=np.float32([0.1, 0.6])
    ),
    whole=lambda tf: tf.linalg.pinv(WIDE[0, :4, :3, 0], rcond=0.3),
)


@program
def clipped_by_an_endless_norm(tf):
    made, norm = tf.clip_by_global_norm([tf.constant([1.0, np.inf]), tf.constant([2.0])], 5.0)
    return [*made, norm]


@program
def arrays_of_other_types(tf):
    x = np.float32([1.5, -2.7])
    return [
        tf.constant(x, tf.int32), tf.convert_to_tensor(x, tf.int32), tf.constant([1, 2]) + x,
        tf.constant(np.float64(2.5), tf.int64), tf.constant(np.int32([1, 0]), tf.bool),
        tf.constant(np.complex64([1j + 2]), tf.float32), tf.Variable([1, 2]).assign(x),
    ]  # fmt: skip


@in_session
def transforms_of_nothing(tf):
    made = []
    for rank, dims in ((1, (0,)), (1, (3, 0)), (2, (0, 0)), (1, (0, 4))):
        names = ("rfft", "irfft") if rank == 1 else ("rfft2d", "irfft2d")
        for name, kind in zip(names, (np.float32, np.complex64), strict=True):
            made.append(getattr(tf.signal, name)(np.zeros(dims, kind)))
    return made


@program
def sets_by_position(tf):
    a, b = np.int64([[1, 2, 2], [3, 4, 5]]), np.int64([[2, 2, 9], [5, 5, 5]])
    sets = tf.compat.v1.sets
    found = [sets.set_difference(a, b), sets.set_difference(a, b, False, True)]
    return [[x.indices, x.values, x.dense_shape] for x in found]


@in_session
def templates(tf):
    v1 = tf.compat.v1

    def double(getter, *args, **options):
        return getter(*args, **options) * 2.0

    def shared(scale):
        return v1.get_variable("x", initializer=3.0) * scale

    early = v1.make_template("early", shared, True, scale=2.0)
    with v1.variable_scope("other"):
        made = [early(), early()]
        made += [v1.make_template("a", shared, False, "mine", double)(1.0)]
        made += [v1.make_template("late", shared)(5.0)]
    return [*made, tf.constant([v.name for v in v1.global_variables()])]


def message(tf, **features):
    """Return a serialised example of lists of integers, of floats where it is `v`."""
    kinds = {"v": lambda x: {"float_list": tf.train.FloatList(value=x)}}
    integers = lambda x: {"int64_list": tf.train.Int64List(value=x)}  # noqa: E731
    made = {k: tf.train.Feature(**kinds.get(k, integers)(x)) for k, x in features.items()}
    return tf.train.Features(feature=made)


def ragged_features(tf):
    """Return features of all partitions, and of two."""
    of = tf.io.RaggedFeature
    cuts = [
        [], [of.RowSplits("s")], [of.RowLengths("l")], [of.RowStarts("a")], [of.RowLimits("z")],
        [of.ValueRowIds("i")], [of.UniformRowLength(2)],
        [of.RowLengths("o"), of.RowSplits("s")], [of.UniformRowLength(1), of.UniformRowLength(2)],
    ]  # fmt: skip
    return {
        str(number): of(tf.float32, "v", each, validate=number % 2 == 0)
        for number, each in enumerate(cuts)
    }


LISTS = (
    {"v": [1, 2, 3, 4], "s": [0, 1, 4], "l": [1, 3], "a": [0, 1], "z": [1, 4], "i": [0, 1, 1, 1],
     "o": [2]},
    {"v": [5, 6], "s": [0, 0, 2], "l": [0, 2], "a": [0, 0], "z": [0, 2], "i": [1, 1], "o": [1, 1]},
)  # fmt: skip


def taken(found):
    """Return ragged tensors as values and splits, in the order of their names."""
    if hasattr(found, "flat_values"):
        return [found.flat_values, *found.nested_row_splits]
    return [taken(found[k]) for k in sorted(found)] if isinstance(found, dict) else [found]


def examples(tf):
    """Return serialised examples."""
    return [tf.train.Example(features=message(tf, **x)).SerializeToString() for x in LISTS]


each(
    "ragged_features",
    several=lambda tf: taken(tf.io.parse_example(examples(tf), ragged_features(tf))),
    one=lambda tf: taken(tf.io.parse_single_example(examples(tf)[0], ragged_features(tf))),
    mapped=lambda tf: [
        taken(x)
        for x in tf.data.Dataset.from_tensor_slices(examples(tf)).batch(2).map(
            lambda x: tf.io.parse_example(x, ragged_features(tf))
        )
    ],
)  # fmt: skip


def sequences(tf):
    """Return serialised sequences."""
    made = []
    for lists in LISTS:
        steps = {
            "w": [tf.train.Feature(int64_list=tf.train.Int64List(value=lists[k])) for k in "slz"],
            "n": [
                tf.train.Feature(int64_list=tf.train.Int64List(value=[1, len(lists[k]) - 1]))
                for k in "slz"
            ],
        }
        listed = {k: tf.train.FeatureList(feature=x) for k, x in steps.items()}
        whole = tf.train.SequenceExample(
            context=message(tf, **lists), feature_lists=tf.train.FeatureLists(feature_list=listed)
        )
        made.append(whole.SerializeToString())
    return made


@program
def ragged_sequences(tf):
    of = tf.io.RaggedFeature
    around = {"x": of(tf.int64, "s"), "y": of(tf.float32, "v", [of.RowLengths("l")])}
    inside = {
        "p": of(tf.int64, "w"),
        "q": of(tf.int64, "w", [of.RowLengths("n")], validate=True),
        "u": of(tf.int64, "w", [of.UniformRowLength(1)]),
    }
    several = tf.io.parse_sequence_example(sequences(tf), around, inside)
    one = tf.io.parse_single_sequence_example(sequences(tf)[1], around, inside)
    return [*map(taken, several[:2]), *map(taken, one)]
