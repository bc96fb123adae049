"""Small programs on datasets, files and examples, of which TensorFlow's values are recorded.

Each is an expression, or a function of the module `tf` and a folder; what it gives is compared,
an error by the name of its class. `record.py` runs them in TensorFlow.
"""

import base64
import collections
import os
import time
from pathlib import Path

import numpy as np

EXPRESSIONS = Path(__file__).with_name("expressions.txt").read_text().splitlines()

PROGRAMS = {}


def program(function):
    """Enter a function of `tf` and a folder among the programs."""
    PROGRAMS[function.__name__] = function
    return function


def example(tf, **features):
    """Return an example of lists of bytes, floats or integers."""

    def feature(values):
        if isinstance(values[0], bytes):
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
        if isinstance(values[0], float):
            return tf.train.Feature(float_list=tf.train.FloatList(value=values))
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

    made = {name: feature(values) for name, values in features.items()}
    return tf.train.Example(features=tf.train.Features(feature=made))


@program
def two_iterators_at_once(tf, folder):
    data = tf.data.Dataset.range(4)
    a, b = iter(data), iter(data)
    return [next(a), next(b), next(a), next(a), next(b)]


@program
def reshuffled_each_time(tf, folder):
    data = tf.data.Dataset.range(6).shuffle(6, seed=3)
    return [list(data), list(data), list(data)]


@program
def not_reshuffled(tf, folder):
    data = tf.data.Dataset.range(6).shuffle(6, seed=3, reshuffle_each_iteration=False)
    return [list(data), list(data)]


@program
def seeds_of_the_process(tf, folder):
    tf.random.set_seed(3)
    data = tf.data.Dataset.range(8)
    made = [list(data.shuffle(4, seed=5)), list(data.shuffle(4)), list(data.shuffle(8))]
    tf.random.set_seed(3)
    return [*made, list(data.shuffle(4))]


@program
def cache_is_filled_once(tf, folder):
    calls = []

    def count(x):
        calls.append(int(x))
        return x

    data = tf.data.Dataset.range(3).map(lambda x: tf.py_function(count, [x], tf.int64)).cache()
    return [list(data), list(data), len(calls)]


@program
def shuffle_behind_cache(tf, folder):
    data = tf.data.Dataset.range(5).cache().shuffle(5, seed=1).repeat(2)
    return list(data)


@program
def cut_short_and_begun_again(tf, folder):
    data = tf.data.Dataset.range(10).shuffle(10, seed=4)
    first = [next(iter(data)) for _ in range(3)]
    found = []
    for x in data:
        found.append(x)
        if len(found) == 4:
            break
    return [first, found]


@program
def a_generator_that_raises(tf, folder):
    def numbers():
        yield 1
        yield 2
        raise ValueError("no more")

    made = []
    try:
        for x in tf.data.Dataset.from_generator(numbers, output_types=tf.int32):
            made.append(int(x))
    except tf.errors.InvalidArgumentError as error:
        made.append("no more" in str(error))
    return made


@program
def an_error_and_what_follows(tf, folder):
    data = tf.data.Dataset.range(5).map(lambda x: tf.gather([10, 20, 30], 4 - x))
    iterator, made = iter(data), []
    for _ in range(6):
        try:
            made.append(int(next(iterator)))
        except tf.errors.InvalidArgumentError:
            made.append("error")
        except StopIteration:
            made.append("end")
    return made


@program
def a_deep_chain(tf, folder):
    data = tf.data.Dataset.range(3)
    for i in range(40):
        data = data.map(lambda x, i=i: x + i).filter(lambda x: x >= 0)
    return list(data)


@program
def a_million_elements(tf, folder):
    data = tf.data.Dataset.range(1_000_000).batch(10_000).map(tf.reduce_sum)
    return int(data.reduce(np.int64(0), lambda s, x: s + x))


@program
def a_named_tuple(tf, folder):
    pair = collections.namedtuple("pair", "left right")
    data = tf.data.Dataset.from_tensor_slices(pair([1, 2], [3.0, 4.0]))
    made = next(iter(data.map(lambda p: pair(p.left * 2, p.right)).batch(2)))
    return [type(made).__name__, made.left, made.right]


@program
def a_captured_variable(tf, folder):
    step = tf.Variable(np.int64(10))
    data = tf.data.Dataset.range(3).map(lambda x: x + step)
    before = list(data)
    step.assign(20)
    return [before, list(data)]


@program
def a_table_of_a_function(tf, folder):
    @tf.function
    def total(data):
        return data.reduce(np.int64(0), lambda s, x: s + x)

    return [total(tf.data.Dataset.range(4)), total(tf.data.Dataset.range(6))]


@program
def an_iterator_in_a_function(tf, folder):
    iterator = iter(tf.data.Dataset.range(10))

    @tf.function
    def two():
        return next(iterator) + 100 * next(iterator)

    return [two(), two(), next(iterator)]


@program
def optionals(tf, folder):
    iterator = iter(tf.data.Dataset.range(1))
    first, second = iterator.get_next_as_optional(), iterator.get_next_as_optional()
    return [first.has_value(), first.get_value(), second.has_value()]


@program
def get_next_at_the_end(tf, folder):
    iterator = iter(tf.data.Dataset.range(1))
    made = [iterator.get_next()]
    try:
        iterator.get_next()
    except tf.errors.OutOfRangeError:
        made.append("end")
    return made


@program
def checkpoints_of_iterators(tf, folder):
    data = tf.data.Dataset.range(30).shuffle(8, seed=2).map(lambda x: x * 2).batch(3).repeat(2)
    iterator = iter(data)
    taken = [next(iterator) for _ in range(4)]
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    path = checkpoint.save(os.path.join(folder, "it"))
    after = [next(iterator) for _ in range(3)]
    checkpoint.restore(path)
    return [taken, after, [next(iterator) for _ in range(3)]]


@program
def a_one_shot_iterator(tf, folder):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        data = tf.data.Dataset.range(6).shuffle(6, seed=2).batch(4)
        take = tf.compat.v1.data.make_one_shot_iterator(data).get_next()
        made = [session.run(take), session.run(take)]
        try:
            session.run(take)
        except tf.errors.OutOfRangeError:
            made.append("end")
    return made


@program
def an_initializable_iterator(tf, folder):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.int32, [None])
        data = tf.data.Dataset.from_tensor_slices(x).map(lambda v: v * 2).batch(2)
        iterator = tf.compat.v1.data.make_initializable_iterator(data)
        take, made = iterator.get_next() + 1, []
        try:
            session.run(take)
        except tf.errors.FailedPreconditionError:
            made.append("not begun")
        for values in ([1, 2, 3], [10]):
            session.run(iterator.initializer, {x: values})
            while True:
                try:
                    made.append(session.run(take))
                except tf.errors.OutOfRangeError:
                    break
    return made


@program
def an_iterator_of_a_structure(tf, folder):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        one, two = tf.data.Dataset.range(3), tf.data.Dataset.range(10, 12)
        types, shapes = (tf.compat.v1.data.get_output_types(one),
                         tf.compat.v1.data.get_output_shapes(one))  # fmt: skip
        iterator = tf.compat.v1.data.Iterator.from_structure(types, shapes)
        take = iterator.get_next()
        begin = [iterator.make_initializer(one), iterator.make_initializer(two)]
        made = []
        for each in begin:
            session.run(each)
            made += [session.run(take), session.run(take)]
    return made


@program
def a_feedable_iterator(tf, folder):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        handle = tf.compat.v1.placeholder(tf.string, [])
        one, two = tf.data.Dataset.range(5), tf.data.Dataset.range(10, 15)
        iterator = tf.compat.v1.data.Iterator.from_string_handle(
            handle, tf.compat.v1.data.get_output_types(one),
            tf.compat.v1.data.get_output_shapes(one),
        )  # fmt: skip
        take = iterator.get_next()
        a = tf.compat.v1.data.make_one_shot_iterator(one)
        b = tf.compat.v1.data.make_initializable_iterator(two)
        handles = session.run([a.string_handle(), b.string_handle()])
        session.run(b.initializer)
        made = [session.run(take, {handle: handles[i]}) for i in (0, 1, 0, 1, 1)]
    return made


@program
def seeds_in_graphs(tf, folder):
    made = []
    for seed in (None, 7):
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            tf.compat.v1.set_random_seed(11)
            data = tf.data.Dataset.range(8).shuffle(8, seed=seed).repeat(2)
            iterator = tf.compat.v1.data.make_initializable_iterator(data)
            take = iterator.get_next()
            for _ in range(2):
                session.run(iterator.initializer)
                made.append([session.run(take) for _ in range(16)])
    return made


def written_records(tf, folder, compression=""):
    """Write records of three examples into two files; return their names."""
    paths = [os.path.join(folder, f"{name}{compression}.tfrecord") for name in "ab"]
    for number, path in enumerate(paths):
        with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions(compression)) as writer:
            for i in range(3):
                made = example(
                    tf, number=[10 * number + i], name=[b"x%d" % i], values=[0.5, float(i)],
                    many=list(range(i)) or [7],
                )  # fmt: skip
                writer.write(made.SerializeToString())
    return paths


FEATURES = {
    "number": lambda tf: tf.io.FixedLenFeature([], tf.int64),
    "name": lambda tf: tf.io.FixedLenFeature([1], tf.string),
    "values": lambda tf: tf.io.FixedLenFeature([2], tf.float32),
    "many": lambda tf: tf.io.VarLenFeature(tf.int64),
    "absent": lambda tf: tf.io.FixedLenFeature([2], tf.float32, [1.0, 2.0]),
    "steps": lambda tf: tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
}


def features(tf, *names):
    return {name: FEATURES[name](tf) for name in names or FEATURES}


@program
def records_and_examples(tf, folder):
    paths = written_records(tf, folder)
    data = tf.data.TFRecordDataset(paths)
    asked = features(tf)

    def parse(record):
        made = tf.io.parse_single_example(record, asked)
        return {**made, "many": tf.sparse.to_dense(made["many"])}

    return list(data.map(parse).as_numpy_iterator())


@program
def compressed_records(tf, folder):
    made = []
    for kind in ("GZIP", "ZLIB"):
        paths = written_records(tf, folder, kind)
        data = tf.data.TFRecordDataset(paths, compression_type=kind)
        asked = features(tf, "number")
        made.append(list(data.map(lambda r: tf.io.parse_single_example(r, asked)["number"])))
    return made


@program
def records_in_turns(tf, folder):
    paths = written_records(tf, folder)
    asked = features(tf, "number")
    data = tf.data.TFRecordDataset(paths, num_parallel_reads=2)
    files = tf.data.Dataset.from_tensor_slices(paths).interleave(tf.data.TFRecordDataset, 2)
    return [list(d.map(lambda r: tf.io.parse_single_example(r, asked)["number"]))
            for d in (data, files)]  # fmt: skip


@program
def batches_of_examples(tf, folder):
    paths = written_records(tf, folder)
    asked = features(tf)
    made = tf.io.parse_example(next(iter(tf.data.TFRecordDataset(paths).batch(4))), asked)
    many = made.pop("many")
    return [made, many.indices, many.values, many.dense_shape]


@program
def a_damaged_record(tf, folder):
    path = written_records(tf, folder)[0]
    with open(path, "rb") as file:
        data = file.read()
    made = []
    for damaged in (data[:-3], data[:20] + b"\x00" + data[21:], data[:3], b"", b"xx" + data,
                    data + b"x" * 11, data + b"x" * 12):  # fmt: skip
        with open(path, "wb") as file:
            file.write(damaged)
        count = 0
        try:
            for _ in tf.data.TFRecordDataset(path):
                count += 1
            made.append(count)
        except tf.errors.DataLossError:
            made.append(["damaged", count])
    return made


@program
def examples_that_do_not_fit(tf, folder):
    record = example(tf, a=[1, 2], b=[b"x"]).SerializeToString()
    wrong = [
        {"a": tf.io.FixedLenFeature([3], tf.int64)},
        {"a": tf.io.FixedLenFeature([2], tf.float32)},
        {"c": tf.io.FixedLenFeature([], tf.int64)},
    ]
    made = []
    for each in wrong:
        try:
            made.append(tf.io.parse_single_example(record, each))
        except tf.errors.InvalidArgumentError:
            made.append("error")
    return made


@program
def sequence_examples(tf, folder):
    step = lambda *v: tf.train.Feature(int64_list=tf.train.Int64List(value=v))  # noqa: E731
    made = tf.train.SequenceExample(
        context=tf.train.Features(feature={"n": step(3)}),
        feature_lists=tf.train.FeatureLists(
            feature_list={"s": tf.train.FeatureList(feature=[step(1, 2), step(3, 4)]),
                          "v": tf.train.FeatureList(feature=[step(1), step(), step(2, 3)])}
        ),
    )  # fmt: skip
    context, steps = tf.io.parse_single_sequence_example(
        made.SerializeToString(),
        {"n": tf.io.FixedLenFeature([], tf.int64)},
        {"s": tf.io.FixedLenSequenceFeature([2], tf.int64), "v": tf.io.VarLenFeature(tf.int64)},
    )
    return [context, steps["s"], tf.sparse.to_dense(steps["v"])]


@program
def messages_as_text(tf, folder):
    made = example(tf, a=[1, -2], b=[b"x\xff"], c=[0.5])
    back = tf.train.Example.FromString(made.SerializeToString())
    kinds = {k: v.WhichOneof("kind") for k, v in sorted(back.features.feature.items())}
    return [kinds, list(back.features.feature["a"].int64_list.value), back == made,
            back.features.feature["b"].bytes_list.value[0]]  # fmt: skip


@program
def lines_of_files(tf, folder):
    paths = [os.path.join(folder, name) for name in ("1.txt", "2.txt")]
    for path, contents in zip(paths, (b"one\ntwo\r\n\nthree", b"four\n"), strict=True):
        with open(path, "wb") as file:
            file.write(contents)
    one = list(tf.data.TextLineDataset(paths).as_numpy_iterator())
    two = tf.data.Dataset.list_files(os.path.join(folder, "*.txt"), shuffle=False)
    skipped = two.flat_map(lambda p: tf.data.TextLineDataset(p).skip(1))
    named = [os.path.basename(p).decode() for p in two.as_numpy_iterator()]
    return [one, list(skipped.as_numpy_iterator()), named]


@program
def files_in_random_order(tf, folder):
    for name in "abcdef":
        with open(os.path.join(folder, name), "w") as file:
            file.write(name)
    data = tf.data.Dataset.list_files(os.path.join(folder, "?"), seed=3)
    return [[os.path.basename(p).decode() for p in data.as_numpy_iterator()] for _ in range(2)]


@program
def no_files_match(tf, folder):
    return list(tf.data.Dataset.list_files(os.path.join(folder, "*.none")))


@program
def records_of_one_size(tf, folder):
    path = os.path.join(folder, "fixed")
    with open(path, "wb") as file:
        file.write(b"HHabcdefghiF")
    data = tf.data.FixedLengthRecordDataset(path, 3, header_bytes=2, footer_bytes=1)
    return list(data.as_numpy_iterator())


@program
def whole_files(tf, folder):
    path = os.path.join(folder, "deep", "file")
    tf.io.write_file(path, "hello")
    found = tf.io.matching_files(os.path.join(folder, "deep", "*"))
    return [tf.io.read_file(path), [os.path.basename(p) for p in found.numpy()]]


@program
def files_and_folders(tf, folder):
    g, join = tf.io.gfile, tf.io.gfile.join
    g.makedirs(join(folder, "a", "b"))
    with g.GFile(join(folder, "a", "f.txt"), "w") as file:
        file.write("one\ntwo\n")
    with g.GFile(join(folder, "a", "f.txt"), "a") as file:
        file.write("three")
    with g.GFile(join(folder, "a", "f.txt")) as file:
        lines = [*file]
    with g.GFile(join(folder, "a", "f.txt"), "rb") as file:
        raw = file.read(3), file.tell(), file.size()
    g.copy(join(folder, "a", "f.txt"), join(folder, "a", "g.txt"))
    made = [lines, raw, sorted(g.listdir(join(folder, "a"))), g.isdir(join(folder, "a")),
            g.stat(join(folder, "a", "g.txt")).length, len(g.glob(join(folder, "a", "*.txt")))]  # fmt: skip
    for step in (
        lambda: g.copy(join(folder, "a", "f.txt"), join(folder, "a", "g.txt")),
        lambda: g.GFile(join(folder, "none")).read(),
        lambda: g.mkdir(join(folder, "a")),
        lambda: g.remove(join(folder, "none")),
    ):
        try:
            step()
            made.append("done")
        except tf.errors.OpError as error:
            made.append(type(error).__name__)
    g.rmtree(join(folder, "a"))
    return [*made, g.exists(join(folder, "a"))]


@program
def readers_and_epochs(tf, folder):
    v1 = tf.compat.v1
    paths = []
    for name in "ab":
        paths.append(os.path.join(folder, f"{name}.txt"))
        with open(paths[-1], "w") as file:
            file.write(f"{name}0\n{name}1\n{name}2\n")
    with tf.Graph().as_default(), v1.Session() as session:
        queue = v1.train.string_input_producer(paths, num_epochs=2, shuffle=False)
        key, value = v1.TextLineReader().read(queue)
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        made = []
        try:
            while True:
                k, v = session.run([key, value])
                made.append([os.path.basename(k), v])
        except tf.errors.OutOfRangeError:
            made.append("end")
        coordinator.request_stop()
        coordinator.join(threads)
    return made


@program
def batches_of_readers(tf, folder):
    v1 = tf.compat.v1
    path = os.path.join(folder, "t.csv")
    with open(path, "w") as file:
        file.write("\n".join(f"{i},{i * i}.5" for i in range(7)))
    with tf.Graph().as_default(), v1.Session() as session:
        queue = v1.train.string_input_producer([path], num_epochs=1)
        _, line = v1.TextLineReader(skip_header_lines=1).read(queue)
        a, b = v1.decode_csv(line, [[0], [0.0]])
        pair = v1.train.batch([a, b], 4, allow_smaller_final_batch=True)
        session.run(v1.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        made = []
        try:
            while not coordinator.should_stop():
                made.append(session.run(pair))
        except tf.errors.OutOfRangeError:
            made.append("end")
        finally:
            coordinator.request_stop()
        coordinator.join(threads)
    return made


@program
def options_are_kept(tf, folder):
    options = tf.data.Options()
    options.deterministic = True
    data = tf.data.Dataset.range(3).with_options(options).map(lambda x: x)
    try:
        options.no_such_option = 1
        refused = False
    except AttributeError:
        refused = True
    return [data.options().deterministic, refused, list(data)]


@program
def slow_functions_overlap(tf, folder):
    def slow(x):
        time.sleep(0.02)
        return x * 2

    data = tf.data.Dataset.range(12)
    data = data.map(lambda x: tf.numpy_function(slow, [x], tf.int64), num_parallel_calls=4)
    return list(data.prefetch(3))


@program
def pictures(tf, folder):
    image = (np.arange(16 * 16 * 3).reshape(16, 16, 3) % 251).astype(np.uint8)
    png = tf.io.encode_png(image)
    gray = tf.io.encode_png(image[:, :, :1])
    made = [tf.io.decode_png(png), tf.io.decode_png(png, channels=1),
            tf.io.decode_png(gray, channels=3), tf.io.decode_image(png, channels=4),
            tf.io.decode_image(png, dtype=tf.float32, expand_animations=False)]  # fmt: skip
    jpeg = tf.io.encode_jpeg(image, quality=100)
    shape = tf.io.extract_jpeg_shape(jpeg)
    same = tf.reduce_max(tf.abs(tf.cast(tf.io.decode_jpeg(jpeg), tf.int32) - image)) < 90
    return [*(tf.cast(x, tf.float32)[3, ::5] for x in made), shape, same, tf.io.is_jpeg(jpeg),
            tf.io.is_jpeg(png)]  # fmt: skip


JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZG"
    "NywtQFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09P"
    "T09PT09PT09PT09PT09PT09PT09PT09PT0//wAARCAALAA0DASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAA"
    "BQb/xAAfEAABBAICAwAAAAAAAAAAAAABAAIDEQUhBBIiM4H/xAAVAQEBAAAAAAAAAAAAAAAAAAACBP/EABwRAQAB"
    "BAMAAAAAAAAAAAAAAAECAAMFQQRxof/aAAwDAQACEQMRAD8An8fgwQCW6TnHwjOnqH00muBFHUY6CimIWNDR4jYs"
    "6Uc+ZG3CKng6HfdHFZO4lf/Z"
)  # fmt: skip


@program
def jpegs(tf, folder):
    read = tf.io.decode_jpeg
    return [read(JPEG), read(JPEG, dct_method="INTEGER_ACCURATE"), read(JPEG, channels=1),
            read(JPEG, fancy_upscaling=False), read(JPEG, ratio=2), read(JPEG, ratio=8)]  # fmt: skip


@program
def jpeg_cut(tf, folder):
    return tf.io.decode_jpeg(JPEG[:300])


@program
def jpeg_of_four_channels(tf, folder):
    return tf.io.decode_jpeg(JPEG, channels=4)


@program
def slices_in_batches_of_several_epochs(tf, folder):
    data = tf.data.Dataset.from_tensor_slices((np.arange(23), np.arange(46.0).reshape(23, 2)))
    return [data.shuffle(size, seed=3, reshuffle_each_iteration=anew).repeat(turns).batch(batch)
            for size, turns, batch, anew in ((5, 1, 4, True), (30, 3, 10, True), (1, 2, 7, True),
                                             (23, 2, 46, False), (7, 2, 3, False))]  # fmt: skip


@program
def not_a_picture(tf, folder):
    return tf.io.decode_image(b"abc")
