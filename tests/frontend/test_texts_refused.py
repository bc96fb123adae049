"""What is wrong with texts is said as TensorFlow says it, and where it says it."""

import pytest

from gravure import tf

v1 = tf.compat.v1
WRONG = {
    "one letter of base64": (lambda: tf.io.decode_base64("AAAAA"), "cannot be 1 modulo 4"),
    "base64 filled up too far": (lambda: tf.io.decode_base64("YWJj===="), "not filled up to 4"),
    "base64 filled up in part": (lambda: tf.io.decode_base64("YQ="), "not filled up to 4"),
    "base64 of nothing but that": (lambda: tf.io.decode_base64(["YQ==", "=="]), "not filled up"),
    "no letter of base64": (lambda: tf.io.decode_base64("A*AA"), "Invalid character found"),
    "one value for two places": (
        lambda: tf.strings.format("{} {}", [1.0]), "template expects 2 tensors, but the inputs only"
    ),
    "no unit": (lambda: tf.strings.length("a", unit="XYZ"), "Op passed string 'XYZ' not in: "),
    "no way": (
        lambda: tf.strings.unicode_transcode("a", "UTF-8", "UTF-8", errors="odd"),
        "'odd' not in: \"strict\", \"replace\", \"ignore\"",
    ),
    "no encoding of results": (
        lambda: tf.strings.unicode_transcode("a", "UTF-8", "odd"), "Op passed string 'odd'"
    ),
    "no encoding": (lambda: tf.strings.unicode_decode("a", "odd"), "converter for input encoding"),
    "segments of others": (
        lambda: tf.strings.unsorted_segment_join([["Y"], ["p"]], [0, 1, 2], 3),
        "Segment dimension is 3 while input dimension is 2 in rank 0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_with_texts_is_named(what) -> None:
    call, text = WRONG[what]
    error = ValueError if "values" in text or "template" in text else tf.errors.InvalidArgumentError
    with pytest.raises(error, match=text):
        call()


def test_segments_of_more_axes_than_texts_are_refused() -> None:
    with pytest.raises(tf.errors.OutOfRangeError, match="segment_id rank 2 for input with 1"):
        tf.strings.unsorted_segment_join(["Y", "p"], [[0, 1]], 3)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="must be equal, but are 2 and 3"):
        tf.strings.unsorted_segment_join([["Y"], ["p"]], [0, 1, 2], 3)


def test_graphs_hear_of_an_encoding_when_they_run() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        made = tf.strings.unicode_transcode(["a"], "odd", "UTF-8")
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="converter for input encoding: od"
        ):
            session.run(made)


def test_the_first_version_names_the_result_before_the_unit() -> None:
    assert v1.strings.length(["é"], "a_name").numpy().tolist() == [2]
    assert v1.strings.length(["é"], unit="UTF8_CHAR").numpy().tolist() == [1]
    with tf.Graph().as_default():
        assert v1.strings.length(["a"], "a_name").op.name == "a_name"


def test_tests_see_zeros_at_the_end_of_texts() -> None:
    case = tf.test.TestCase()
    split = tf.strings.unicode_split([b"\xfe", b"a"], "UTF-8", "replace", 0)
    case.assertAllEqual([[b"\x00"], [b"a"]], split)
    with pytest.raises(AssertionError):
        case.assertAllEqual([[b""], [b"a"]], split)


TAKES_TEXT = {
    "StringUpper": tf.strings.upper,
    "StringLower": lambda x: tf.strings.lower(x, encoding="utf-8"),
    "StringStrip": tf.strings.strip,
    "StringLength": tf.strings.length,
    "StringToNumber": tf.strings.to_number,
    "Substr": lambda x: tf.strings.substr(x, 0, 1),
    "StaticRegexReplace": lambda x: tf.strings.regex_replace(x, "a", "b"),
    "StaticRegexFullMatch": lambda x: tf.strings.regex_full_match(x, "a"),
    "StringToHashBucketFast": lambda x: tf.strings.to_hash_bucket_fast(x, 3),
    "EncodeBase64": tf.io.encode_base64,
    "DecodeRaw": lambda x: tf.io.decode_raw(x, tf.uint8),
    "ReduceJoin": tf.strings.reduce_join,
    "UnicodeDecode": lambda x: tf.strings.unicode_decode(x, "UTF-8"),
    "UnicodeTranscode": lambda x: tf.strings.unicode_transcode(x, "UTF-8", "UTF-8"),
    "UnsortedSegmentJoin": lambda x: tf.strings.unsorted_segment_join(x, [0], 1),
    "ReadFile": lambda x: tf.io.read_file(x[0]),
    "ParseTensor": lambda x: tf.io.parse_tensor(x[0], tf.int32),
    "DecodePng": lambda x: tf.io.decode_png(x[0]),
}


@pytest.mark.parametrize("type_", TAKES_TEXT)
@pytest.mark.parametrize(("dtype", "named"), [("int32", "int32"), ("float32", "float")])
def test_numbers_are_no_texts(type_: str, dtype: str, named: str) -> None:
    """What was said of them at once was Python's own: that 'int' has no len()."""
    x = tf.constant([3], dtype)
    said = f"{type_} as input #0.zero-based. was expected to be a string tensor but is a {named}"
    for use in (TAKES_TEXT[type_], tf.function(TAKES_TEXT[type_])):
        with pytest.raises((tf.errors.InvalidArgumentError, TypeError), match=said):
            use(x)


def test_the_text_that_is_none_is_numbered() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"StringJoin as input #1.zero-based"):
        tf.strings.join([tf.constant(["a"]), tf.constant([1])])
