"""What is done to many texts as one row of bytes is what is done to each."""

from itertools import product

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.values.patterns import pattern_of, states_of
from gravure.frontend.values.texts import Texts


def test_many_texts_are_moved_chosen_joined_and_compared_as_each_is(monkeypatch):
    """All of it is done with rows of bytes; what numpy does with objects is what is wanted."""
    random = np.random.default_rng(0)
    texts = np.array([random.choice(list(b"ab\xff\0"), n).astype(np.uint8).tobytes()
                      for n in random.integers(0, 4, 200)], object)  # fmt: skip
    longer = np.array([x * 5 for x in texts[::-1]], object)
    few, some = np.array([b"a", b"", b"\xffb"], object), texts < b"b"
    x, y, z, chosen = tf.constant(texts), tf.constant(longer), tf.constant(few), tf.constant(some)
    ways = {
        "joined": (lambda: x + y, texts + longer),
        "joined with one": (lambda: b"?" + x, b"?" + texts),
        "joined with each": (lambda: x[:, None] + z, texts[:, None] + few),
        "chosen": (lambda: tf.where(chosen, x, y), np.where(some, texts, longer)),
        "chosen or one": (lambda: tf.where(chosen, x, b"-"), np.where(some, texts, b"-")),
        "chosen for each": (
            lambda: tf.where(chosen[:, None], x[:, None], z),
            np.where(some[:, None], texts[:, None], few),
        ),
        "compared with each": (lambda: x[:, None] == z, texts[:, None] == few),
        "compared with each long one": (lambda: y != z[:, None], longer != few[:, None]),
        "behind each other": (
            lambda: tf.concat([x, z, y], 0),
            np.concatenate([texts, few, longer]),
        ),
        "beside each other": (lambda: tf.stack([x, y], 1), np.stack([texts, longer], 1)),
        "padded": (lambda: tf.pad(x, [[1, 2]]), np.pad(texts, [[1, 2]], constant_values=b"")),
        "filled": (lambda: tf.fill([70], z[2]), np.full(70, few[2], object)),
        "few of many": (lambda: tf.gather(x, [3, 1, 3]), texts[[3, 1, 3]]),
    }
    for name, (way, wanted) in ways.items():
        monkeypatch.setattr(Texts, "separate", None)
        found = way()
        monkeypatch.undo()
        assert np.array_equal(found.numpy(), wanted), name


@pytest.mark.parametrize("sep", [None, ","])
def test_pieces_of_many_texts_are_filled_up_without_objects(monkeypatch, sep):
    texts = [b",".join([b"a b"] * (n % 4)) for n in range(5000)]
    given = tf.constant(texts)
    monkeypatch.setattr(Texts, "separate", None)
    found = tf.strings.split(given, sep).to_tensor(b"-", shape=[None, 3])
    monkeypatch.undo()
    pieces = [[*text.split(sep and sep.encode())[:3], *[b"-"] * 3][:3] for text in texts]
    assert found.numpy().tolist() == pieces


TEXTS_OF_ANY_BYTES = [
    np.random.default_rng(n).choice(list(b"ab\xc3\xa9\xe2\x82\xff\0 "), n % 9)
    .astype(np.uint8).tobytes() for n in range(400)
]  # fmt: skip


@pytest.mark.parametrize("place", range(-4, 5))
@pytest.mark.parametrize("count", [-2, 0, 1, 9])
def test_many_texts_are_cut_by_characters_as_each_is(monkeypatch, place, count):
    texts, wanted = [], []
    for text in TEXTS_OF_ANY_BYTES:
        try:
            made = tf.strings.substr(text, place, count, "UTF8_CHAR").numpy()
        except tf.errors.InvalidArgumentError:
            continue
        texts.append(text)
        wanted.append(made)
    given = tf.constant(texts)
    monkeypatch.setattr(Texts, "separate", None)
    found = tf.strings.substr(given, place, count, "UTF8_CHAR")
    monkeypatch.undo()
    assert found.numpy().tolist() == wanted
    with pytest.raises(tf.errors.InvalidArgumentError, match="pos 9 out of range"):
        tf.strings.substr(given, 9, 1, "UTF8_CHAR")


def test_many_whole_numbers_are_read_as_each_is():
    random = np.random.default_rng(0)
    texts = [b"%d" % i for i in random.integers(-(2**31), 2**31, 300)] + [b"+7", b"-0", b"007"]
    for kind in (tf.int32, tf.int64):
        found = tf.strings.to_number(texts, kind).numpy()
        assert found.tolist() == [*map(int, texts)]
        assert tf.strings.to_number([*texts, b" 12 "], kind).numpy()[-1] == 12
        for wrong in (b"", b"-", b"1.0", b"x", b"99999999999999999999", b"--1", b"+"):
            with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert"):
                tf.strings.to_number([*texts, wrong], kind)
    floats = [b"%.5f" % x for x in random.normal(size=300)] + [b"-0", b"-0.0", b"0"]
    found = tf.strings.to_number(floats, tf.float64).numpy()
    assert found.tobytes() == np.array([*map(float, floats)]).tobytes()


@pytest.mark.parametrize("digits", [-1, 0, 1, 3, 9, 12, 13])
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_many_floats_are_written_with_the_digits_that_each_has(kind, digits):
    """Halves, which a product may hide, and floats that are too large or too small for it."""
    random = np.random.default_rng(0)
    wide = 10 ** max(digits, 0)
    rows = [
        random.normal(size=2000) * 10.0 ** random.integers(-8, 4, 2000),
        random.integers(-30000, 30000, 2000) / 2.0 ** random.integers(0, 12, 2000),
        (random.integers(0, 10**6, 2000) + 0.5) / wide,
        np.repeat([0.0, -0.0, 5e-324, -1e-310, 2.0**52 - 0.5, 2.0**51 + 0.5], 20),
    ]
    with np.errstate(over="ignore"):
        every = [row.astype(kind) for row in rows]
    for row in every:
        form = f".{digits}f" if digits >= 0 else "f"
        wanted = [format(float(x), form).encode() for x in row]
        assert tf.as_string(row, precision=digits).numpy().tolist() == wanted


def test_many_texts_of_base_64_are_read_as_each_is():
    random = np.random.default_rng(0)
    texts = [random.bytes(n) for n in random.integers(0, 12, 300)]
    for pad in (False, True):
        written = tf.io.encode_base64(texts, pad=pad)
        assert tf.io.decode_base64(written).numpy().tolist() == texts
    odd = [b"", b"ab==", b"abc", b"abc="]
    few = tf.io.decode_base64(odd).numpy().tolist()
    assert tf.io.decode_base64([b"abcd"] * 70 + odd).numpy().tolist()[70:] == few
    said = "Invalid character|1 modulo 4|not filled up"
    for wrong in (b"a", b"ab=c", b"a+bc", b"ab c", b"=a", b"=", b"ab===", b"abc=="):
        with pytest.raises(tf.errors.InvalidArgumentError, match=said):
            tf.io.decode_base64([b"abcd"] * 70 + [wrong])


@pytest.mark.parametrize("sign", ["", "--"])
def test_texts_of_segments_are_joined_in_their_order(sign):
    texts = np.array(TEXTS_OF_ANY_BYTES[:240], object)
    numbers = np.random.default_rng(0).integers(0, 50, 240)
    pairs = [*zip(texts, numbers, strict=True)]
    wanted = [sign.encode().join([x for x, n in pairs if n == k]) for k in range(60)]
    join = tf.strings.unsorted_segment_join
    assert join(texts, numbers, 60, sign).numpy().tolist() == wanted
    function = tf.function(lambda x, n: join(x, n, 60, sign))
    for _ in range(4):
        assert function(texts, numbers).numpy().tolist() == wanted
    rows = join(texts.reshape(80, 3), numbers[:80], 50, sign).numpy()
    assert rows[7, 1] == sign.encode().join(texts.reshape(80, 3)[numbers[:80] == 7, 1])


PATTERNS = ["[0-9]", "[0-9]+", "[^a-z]+", r"\d", r"\W", ".", ".+", "a", r"\.", "[[:punct:]]",
            "[a\\]]", "(a|b)", "^a", "b$", "a*", "(?i)A", "\u00e9", r"\x61", "\u00e9+", "b+?",
            r"\x00", "[a-b]*", r"\Qa.\E"]  # fmt: skip


@pytest.mark.parametrize("used", [b"ab1 2.[-\n", b"ab\xc3\xa9", b"ab1 \xc3\xa9\xff\0\1\n["])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_many_texts_are_searched_and_replaced_as_each_is(pattern, used):
    random = np.random.default_rng(0)
    texts = [random.choice([*used], n % 9).astype(np.uint8).tobytes() for n in range(150)]
    thirds = [texts[:50], texts[50:100], texts[100:]]

    def same(function):
        wanted = [x for few in thirds for x in function(few).numpy().tolist()]
        assert function(texts).numpy().tolist() == wanted

    same(lambda x: tf.strings.regex_full_match(x, pattern))
    for rewrite in ("", "#", r"<\0>", "\u00e9", r"\\", "\0", "xy"):
        same(lambda x, new=rewrite: tf.strings.regex_replace(x, pattern, new))
        same(lambda x, new=rewrite: tf.strings.regex_replace(x, pattern, new, replace_global=False))


def test_many_texts_change_their_case_as_each_does():
    """A sigma at the end of a word is another one, and some characters become several."""
    few = [b"\xe2\x82", b"\xe2", b"\xff", b"", *map(str.encode, ["ΑΣ", "Σ", "ΑΣΑ", "ß", "İ", "ŉ"])]
    for function in (tf.strings.lower, tf.strings.upper):
        wanted = function(few, "utf-8").numpy().tolist()
        assert function(few * 10, "utf-8").numpy().tolist() == wanted * 10
        odd = [*few, b"\0\1"]
        assert function(odd * 10, "utf-8").numpy().tolist()[: len(few)] == wanted


def test_many_texts_are_looked_up_as_each_is(monkeypatch):
    """Many are looked up by one loop, few one by one; some are longer than a word, some alike."""
    random = np.random.default_rng(0)
    words = [b"word\0%d\xff" % i * (i % 4) + b"%d" % i * (i > 0) for i in range(50)]
    others = [b"%d" % i for i in range(40, 70)] + [b"word\0%d\xff" % i * 2 for i in range(20)]
    texts = [[*words, *others][i] for i in random.integers(0, 100, 9000)]
    given = tf.constant(texts)
    pairs = tf.lookup.KeyValueTensorInitializer
    whole = tf.lookup.StaticHashTable(pairs(tf.range(50), words), b"?")
    ids = np.tile(np.arange(-3, 57, dtype=np.int32), 30)
    wanted = [words[i] if 0 <= i < 50 else b"?" for i in ids]
    look = tf.function(whole.lookup)
    for way in (whole.lookup, look, look, look, look):
        assert way(ids).numpy().tolist() == wanted
    numbered = tf.lookup.StaticVocabularyTable(
        pairs(tf.range(50, dtype=tf.int64), tf.range(50, dtype=tf.int64)), 7
    )
    ids = ids.astype(np.int64)
    wanted = [x for i in range(0, 1800, 60) for x in numbered.lookup(ids[i : i + 60]).numpy()]
    assert numbered.lookup(ids).numpy().tolist() == wanted
    names = tf.lookup.StaticHashTable(pairs(words, words[::-1]), b"?")
    numbers = tf.lookup.StaticHashTable(pairs(words, tf.range(50, dtype=tf.int64)), -1)
    vocabulary = tf.lookup.StaticVocabularyTable(pairs(words, tf.range(50, dtype=tf.int64)), 7)
    for table in (names, numbers, vocabulary):
        parts = [texts[i : i + 60] for i in range(0, 9000, 60)]
        wanted = [x for part in parts for x in table.lookup(part).numpy().tolist()]
        look = tf.function(table.lookup)
        for way in (table.lookup, look, look, look, look):
            assert way(given).numpy().tolist() == wanted
        assert len(given.text.row) == 9000
        monkeypatch.setattr(Texts, "of", None)
        assert look(given).shape == (9000,)
        monkeypatch.undo()


@pytest.mark.parametrize("shape", [(0,), (2, 0)])
def test_no_texts_have_no_groups_though_rows_are_filled_up(shape):
    """Values of TensorFlow 2.21; where there are some, empty rows are filled up."""
    none = tf.constant(np.empty(shape, object), tf.string)
    group = tf.function(lambda x: tf.strings.ngrams(x, 2, pad_values=("<", ">")))
    for _ in range(4):
        assert group(none).numpy().tolist() == np.empty(shape, object).tolist()
    rows = tf.ragged.constant([[], ["a"]])
    assert tf.strings.ngrams(rows, 2, pad_values="-").to_list() == [[b"- -"], [b"- a", b"a -"]]


@pytest.mark.parametrize("count", [3, 100])
def test_texts_are_put_in_the_place_of_others(count):
    texts = [b"w%d\xff\0" % i for i in range(count)]
    x, wanted = tf.constant(texts), [b"s", texts[1], b"r", *texts[3:]]
    ways = {
        "elements": (
            lambda x: tf.tensor_scatter_nd_update(x, [[0], [2], [0]], ["q", "r", "s"]),
            wanted,
        ),
        "a row": (
            lambda x: tf.tensor_scatter_nd_update(x[:, None] + ["", "-"], [[1]], [["x", "yy"]]),
            [[t, t + b"-"] if i != 1 else [b"x", b"yy"] for i, t in enumerate(texts)],
        ),
    }
    for way, found in ways.values():
        assert way(x).numpy().tolist() == found
        for dims in ((count,), (None,)):
            function = tf.function(way, input_signature=[tf.TensorSpec(dims, tf.string)])
            for _ in range(4):
                assert function(x).numpy().tolist() == found
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.tensor_scatter_nd_update(x, [[count]], ["q"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="no such operation on text"):
        tf.tensor_scatter_nd_add(x, [[0]], ["q"])


LINES = [b"%d,%f,w%d" % (i, i / 7, i) for i in range(90)]
COLUMNS = ([7], [0.1], ["d"])


@pytest.mark.parametrize(("more", "options"), [
    ([b",,", b'\r\n1,\n0.14285714285714285,"a""b,c"', b'"3",1e-5,"x"', b" 1 ,+2,"], {}),
    ([b"?,?,?", b"1,2,??"], {"na_value": "?"}),
    ([b'1,2,"a"'], {"use_quote_delim": False}),
    ([b"1,2,3,4", b"1,2,3,\n", b'1,2,3,"4'], {"select_cols": [0, 1, 2]}),
])  # fmt: skip
def test_many_lines_are_cut_as_each_is(monkeypatch, more, options):
    lines = LINES + more
    parts = [tf.io.decode_csv(lines[i : i + 47], COLUMNS, **options) for i in (0, 47)]
    wanted = [np.concatenate(each).tolist() for each in zip(*parts, strict=True)]
    assert [x.numpy().tolist() for x in tf.io.decode_csv(lines, COLUMNS, **options)] == wanted
    monkeypatch.setattr(Texts, "separate", None)
    columns = tf.io.decode_csv(tf.constant(LINES), ([7], ["d"]), select_cols=[0, 2])
    assert columns[0].numpy().tolist() == [*range(90)]


@pytest.mark.parametrize(("line", "wrong"), [
    (b"1,2", "have 2 in record 90"), (b"1,2,3,4", "have 4 in record 90"), (b",2,x", "required"),
    (b'1,2,"x', "has to end with quote"), (b'1,2,"x"y', "escaped by another"),
    (b'1,2,x"', "cannot have quotes"), (b"1,2,3\n", "quotes/CRLFs"), (b"1\r,2,3", "quotes/CRLFs"),
    (b"", "have 0 in record 90"), (b"\n", "have 0 in record 90"),
    (b"1,2,\n", "have 2 in record 90"), (b"1,2,3,", "have 4 in record 90"),
    (b'1,2,"x"\n', "escaped by another"), (b"1.5,2,x", "not a valid int32: 1.5"),
    (b"99999999999,2,x", "not a valid int32"), (b"1,x,x", "not a valid float: x"),
])  # fmt: skip
def test_of_many_lines_the_wrong_one_is_named(line, wrong):
    defaults = (tf.constant([], tf.int32), [0.1], ["d"])
    with pytest.raises(tf.errors.InvalidArgumentError, match=wrong):
        tf.io.decode_csv([*LINES, line], defaults)


@pytest.mark.parametrize("is_little", [True, False])
@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.float32])
def test_many_texts_are_elements_as_each_is(kind, is_little):
    texts = [np.random.default_rng(i).bytes(8) for i in range(80)]
    found = tf.io.decode_raw(texts, kind, is_little).numpy()
    row = np.frombuffer(b"".join(texts), np.dtype(kind).newbyteorder("<" if is_little else ">"))
    assert found.tobytes() == row.astype(kind).tobytes()
    assert found.shape == (80, 8 // np.dtype(kind).itemsize)
    for wrong in ([*texts, b"x"], [b"123"] * 80):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.decode_raw(wrong, tf.int32)


@pytest.mark.parametrize("output", ["UTF-8", "UTF-16-BE", "UTF-32-BE"])
def test_many_texts_are_brought_into_another_encoding_as_each_is(output):
    texts = ["", "a\u00e9", "\u20ac", "\U0001f600b\U0001f600", "\n"] * 20
    names = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
    wanted = [x.encode(names[output]) for x in texts]
    given = [x.encode() for x in texts]
    transcode = tf.strings.unicode_transcode
    assert transcode(given, "UTF-8", output).numpy().tolist() == wanted
    wide = [x.encode("utf-16-be") for x in texts]
    assert transcode(wide, "UTF-16-BE", output).numpy().tolist() == wanted
    for more in (b"\xff", b"\xe2\x82", b"\xac", b"\xed\xa0\x80", b"\0"):
        few = transcode([more], "UTF-8", output, replace_control_characters=True).numpy()[0]
        found = transcode([*given, more], "UTF-8", output, replace_control_characters=True)
        assert found.numpy()[-1] == few
    with pytest.raises(tf.errors.InvalidArgumentError):
        transcode([*given, b"\xff"], "UTF-8", output, errors="strict")


@pytest.mark.parametrize("output", ["UTF-8", "UTF-16-BE", "UTF-32-BE"])
@pytest.mark.parametrize("given", [[], [b"a\0b", b"\0"], [b"a\xc3", b"\xa9b"], [b"", b"", b"\xe2"]])
def test_few_texts_are_brought_into_another_encoding_as_each_is(given, output):
    """They are read as one: that must not hide a character cut in two, nor part one at a zero."""
    transcode = tf.strings.unicode_transcode
    found = transcode(tf.constant(given, tf.string), "UTF-8", output)
    assert found.numpy().tolist() == [transcode(x, "UTF-8", output).numpy() for x in given]
    names = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
    wanted = [x.decode(errors="replace").encode(names[output]) for x in given]
    assert found.numpy().tolist() == wanted


@pytest.mark.parametrize(
    "pattern",
    ["", "a||b", "()*", "(a*)*b", "a{0}b{2,}", "(ab|c){0,2}?", "^[^a]b?$", "a+?b", r"\\Z", "a{300}",
     r"\bab", "(?i)AB", "(?m)^a$", "(?P<x>a)(?s)."],
)  # fmt: skip
def test_states_of_a_pattern_fit_what_it_fits(pattern):
    fitting = pattern_of(pattern.encode())
    states = states_of(fitting)
    assert (states is None) == (pattern in (r"\\Z", "a{300}", r"\bab", "(?i)AB", "(?m)^a$"))
    if states is not None:
        for size in range(5):
            for text in map("".join, product("abc\n", repeat=size)):
                state = 1
                for character in text:
                    state = int(states[0][state * 128 + ord(character)])
                assert states[1][state] == (fitting.fullmatch(text) is not None)


def test_many_texts_make_rows_of_one_length_and_empty_texts(monkeypatch):
    random = np.random.default_rng(0)
    sizes = random.integers(0, 4, 60)
    words = np.array([b"w%d" % i for i in range(sizes.sum())], object)
    function = tf.function(lambda x, n, k: (
        tf.RaggedTensor.from_row_lengths(x, n).to_tensor("-", shape=[None, k]), tf.zeros_like(x)
    ))  # fmt: skip
    for width in (5, 2, 2, 2):
        rows, empty = function(words, sizes, width)
        each = np.split(words, np.cumsum(sizes)[:-1])
        assert rows.numpy().tolist() == [[*x[:width], *[b"-"] * (width - len(x))] for x in each]
        assert empty.numpy().tolist() == [b""] * len(words)
