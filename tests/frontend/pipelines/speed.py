"""Seconds that pipelines take: `python speed.py FOLDER gravure.tf|tensorflow [rounds]`.

The folder is filled at the first use. Run both side by side and compare medians.
"""

import importlib
import io
import os
import statistics
import sys
import time

import numpy as np
from PIL import Image

EXAMPLES, PICTURES = 20_000, 400


def fill(folder, tf):
    """Write a file of examples and one of pictures."""
    random = np.random.default_rng(0)
    feature, train = tf.train.Feature, tf.train
    with tf.io.TFRecordWriter(os.path.join(folder, "examples")) as writer:
        for i in range(EXAMPLES):
            image = random.integers(0, 256, 784, np.uint8).tobytes()
            made = {
                "image": feature(bytes_list=train.BytesList(value=[image])),
                "label": feature(int64_list=train.Int64List(value=[i % 10])),
                "weights": feature(float_list=train.FloatList(value=random.random(8))),
            }
            writer.write(train.Example(features=train.Features(feature=made)).SerializeToString())
    with tf.io.TFRecordWriter(os.path.join(folder, "pictures")) as writer:
        for _ in range(PICTURES):
            small = random.integers(0, 256, (14, 14, 3), np.uint8)
            file = io.BytesIO()
            Image.fromarray(small).resize((224, 224)).save(file, "JPEG", quality=90)
            writer.write(file.getvalue())


def examples(tf, folder):
    """Records that are parsed, mapped, shuffled and put into batches."""
    features = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "label": tf.io.FixedLenFeature([], tf.int64),
        "weights": tf.io.FixedLenFeature([8], tf.float32),
    }

    def parse(record):
        found = tf.io.parse_single_example(record, features)
        image = tf.reshape(tf.io.decode_raw(found["image"], tf.uint8), [28, 28, 1])
        return tf.cast(image, tf.float32) / 255.0, found["label"], found["weights"]

    data = tf.data.TFRecordDataset(os.path.join(folder, "examples"))
    data = data.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    return data.shuffle(2000, seed=1).batch(128).prefetch(tf.data.AUTOTUNE)


def pictures(tf, folder):
    """JPEGs of 224 by 224 that are decoded, scaled and put into batches."""

    def decode(record):
        image = tf.io.decode_jpeg(record, channels=3)
        return tf.cast(tf.reshape(image, [224, 224, 3]), tf.float32) / 127.5 - 1.0

    data = tf.data.TFRecordDataset(os.path.join(folder, "pictures"))
    data = data.map(decode, num_parallel_calls=tf.data.AUTOTUNE)
    return data.batch(32).prefetch(tf.data.AUTOTUNE)


def arrays(tf, folder):
    """Slices of arrays that are shuffled and put into batches."""
    x, y = np.zeros((60_000, 64), np.float32), np.zeros(60_000, np.int64)
    data = tf.data.Dataset.from_tensor_slices((x, y))
    return data.shuffle(10_000, seed=1).batch(128).prefetch(2)


def main(folder, name, rounds=5):
    """Write the median of some rounds for each pipeline."""
    tf = importlib.import_module(name)
    if not os.path.exists(os.path.join(folder, "pictures")):
        fill(folder, tf)
    for pipeline in (examples, pictures, arrays):
        data, taken = pipeline(tf, folder), []
        for _ in range(int(rounds)):
            start = time.perf_counter()
            for _ in data:
                pass
            taken.append(time.perf_counter() - start)
        sys.stdout.write(f"{name} {pipeline.__name__} {statistics.median(taken):.3f}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
