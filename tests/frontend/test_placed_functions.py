"""What the host does in a saved function: its functions are found again by where they stand."""

import json
import zlib

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.function.graph_data import GraphTextError, NotSerialisableError

TEXTS = np.array([b"the cat sat", b"on a mat", b"ok"], object)
PACKED = np.array([zlib.compress(text) for text in TEXTS], object)
NUMBERS = np.random.default_rng(0).random((3, 8), np.float32)
PIXELS = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
FEATURES = {"x": tf.io.FixedLenFeature([2], tf.float32), "y": tf.io.VarLenFeature(tf.int64)}


def example():
    listed = tf.train.FloatList(value=[1.0, 2.0])
    features = {"x": tf.train.Feature(float_list=listed)}
    message = tf.train.Example(features=tf.train.Features(feature=features))
    return np.array([message.SerializeToString()] * 2, object)


def words(x):
    return tf.strings.split(x)


def decoded(x):
    parsed = tf.io.parse_example(x, FEATURES)
    return parsed["x"], parsed["y"].dense_shape


CASES = {
    "rows": (TEXTS, lambda x: (words(x).value_rowids(), tf.concat([words(x)] * 2, 1).flat_values)),
    "masks": (TEXTS, lambda x: tf.ragged.boolean_mask(words(x), words(x) != "cat").flat_values),
    "ranges": (np.array([2, 0, 3]), lambda x: tf.ragged.range(x).to_tensor()),
    "places": (TEXTS, lambda x: tf.sparse.to_dense(words(x).to_sparse(), "")),
    "groups": (TEXTS, lambda x: tf.strings.ngrams(words(x), 2).to_tensor()),
    "characters": (TEXTS, lambda x: tf.strings.unicode_decode(x, "UTF-8").to_tensor()),
    "bytes": (TEXTS, lambda x: tf.strings.bytes_split(x).to_tensor()),
    "buckets": (TEXTS, lambda x: tf.strings.to_hash_bucket_fast(x, 10)),
    "base 64": (TEXTS, lambda x: tf.io.decode_base64(tf.io.encode_base64(x))),
    "compressed": (PACKED, lambda x: tf.io.decode_compressed(x, "ZLIB")),
    "columns": (TEXTS, lambda x: tf.io.decode_csv(tf.strings.join(["3,", x]), [[0], [""]])),
    "joins": (TEXTS, lambda x: tf.strings.reduce_join(words(x), axis=1, separator="+")),
    "formats": (NUMBERS, lambda x: tf.strings.format("{}", x)),
    "singular values": (NUMBERS, lambda x: tf.linalg.svd(x, compute_uv=False)),
    "triangles": (NUMBERS, tf.linalg.qr),
    "spectra": (NUMBERS, lambda x: tf.abs(tf.signal.stft(x, 4, 2))),
    "pictures": (PIXELS, lambda x: tf.io.decode_png(tf.io.encode_png(x), 3)),
    "examples": (example(), decoded),
    "zeros left out": (NUMBERS, lambda x: tf.sparse.reduce_sum(tf.sparse.from_dense(x), 1)),
    "draws": (np.array([1, 2]), lambda x: tf.random.stateless_gamma([3], x, 2.0)),
    "beams": (NUMBERS.reshape(3, 2, 4), lambda x: tf.nn.ctc_beam_search_decoder(x, [2, 2])[1]),
    "sounds": (NUMBERS, lambda x: tf.audio.decode_wav(tf.audio.encode_wav(x, 8000)).audio),
    "tensors": (NUMBERS, lambda x: tf.io.parse_tensor(tf.io.serialize_tensor(x), tf.float32)),
}


@pytest.mark.parametrize("name", CASES)
def test_steps_of_the_host_are_saved_and_loaded(name, tmp_path):
    array, function = CASES[name]
    given, module = tf.constant(array), tf.Module()
    sizes = [None, *given.shape[1:]] if name not in ("pictures", "draws") else given.shape
    module.f = tf.function(function, input_signature=[tf.TensorSpec(sizes, given.dtype)])
    wanted = tf.nest.flatten(module.f(given))
    tf.saved_model.save(module, str(tmp_path))
    found = tf.nest.flatten(tf.saved_model.load(str(tmp_path)).f(given))
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


def saved(function, spec, folder):
    module = tf.Module()
    module.f = tf.function(function, input_signature=[spec])
    tf.saved_model.save(module, str(folder))


def test_a_file_is_read_by_what_was_saved(tmp_path):
    saved(tf.io.read_file, tf.TensorSpec([], tf.string), tmp_path)
    (tmp_path / "there").write_bytes(b"some words")
    loaded = tf.saved_model.load(str(tmp_path))
    assert loaded.f(tf.constant(str(tmp_path / "there"))).numpy() == b"some words"


def test_functions_of_others_have_no_place(tmp_path):
    spec = tf.TensorSpec([], tf.float32)
    with pytest.raises(NotSerialisableError, match="known to this process only"):
        saved(lambda x: tf.numpy_function(np.sin, [x], tf.float32), spec, tmp_path)


@pytest.mark.parametrize(
    "wrong",
    [
        {0: "os"},
        {0: "gravure.frontend.tf.io.gfile", 1: "remove"},
        {0: "gravure.frontend.tf.ragged.nowhere"},
        {1: "RowPartition.nothing"},
        {2: 7},
        {3: {}},
    ],
)
def test_functions_that_are_not_there_are_refused(wrong, tmp_path):
    saved(lambda x: words(x).value_rowids(), tf.TensorSpec([None], tf.string), tmp_path)
    [path] = tmp_path.glob("*.json")

    def changed(data):
        if isinstance(data, dict):
            place = data.get("function")
            if isinstance(place, list) and "value_rowids" in place[1]:
                data["function"] = [wrong.get(i, each) for i, each in enumerate(place)]
                return data
            return {key: changed(each) for key, each in data.items()}
        return [changed(each) for each in data] if isinstance(data, list) else data

    path.write_text(json.dumps(changed(json.loads(path.read_text()))))
    with pytest.raises(GraphTextError, match="there is no"):
        tf.saved_model.load(str(tmp_path))


def test_values_of_several_tensors_are_taken_and_given(tmp_path):
    module = tf.Module()
    module.f = tf.function(
        lambda x: {"words": words(x), "places": (words(x).to_sparse(), tf.size(x), None)},
        input_signature=[tf.TensorSpec([None], tf.string)],
    )
    rows = tf.RaggedTensorSpec([None, None], tf.float32)
    module.g = tf.function(lambda r: (r * 2, tf.reduce_sum(r, 1)), input_signature=[rows])
    stated = tf.SparseTensorSpec([None, 3], tf.float32)
    module.h = tf.function(tf.sparse.to_dense, input_signature=[stated])
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    found = loaded.f(tf.constant(TEXTS))
    assert found["words"].to_list() == words(tf.constant(TEXTS)).to_list()
    sparse, size, nothing = found["places"]
    assert (tf.sparse.to_dense(sparse, "").shape, size.numpy(), nothing) == ((3, 3), 3, None)
    twice, sums = loaded.g(tf.ragged.constant([[1.0, 2.0], [], [3.0]]))
    assert (twice.to_list(), sums.numpy().tolist()) == ([[2, 4], [], [6]], [3, 0, 3])
    given = tf.sparse.from_dense(tf.constant([[0.0, 1, 0]]))
    np.testing.assert_array_equal(loaded.h(given), [[0, 1, 0]])
    tf.saved_model.save(loaded, str(tmp_path / "again"))
    again = tf.saved_model.load(str(tmp_path / "again"))
    assert again.g(tf.ragged.constant([[1.0]]))[0].to_list() == [[2]]


@pytest.mark.parametrize(
    "wrong", [["Nothing", []], ["RaggedTensorSpec", [None, "no type"]], ["", None]]
)
def test_values_that_are_not_there_are_refused(wrong, tmp_path):
    saved(words, tf.TensorSpec([None], tf.string), tmp_path)
    [path] = tmp_path.glob("*.json")

    def changed(data):
        if isinstance(data, dict):
            name, form = wrong
            made = {"composite": [name, form if form is None else {"tuple": form}]}
            return made if "composite" in data else {k: changed(v) for k, v in data.items()}
        return [changed(each) for each in data] if isinstance(data, list) else data

    path.write_text(json.dumps(changed(json.loads(path.read_text()))))
    with pytest.raises(GraphTextError, match=r"a composite|a RaggedTensorSpec of"):
        tf.saved_model.load(str(tmp_path))
