r"""Patterns of texts are RE2's; the numbers were recorded from TensorFlow 2.21."""

import pytest

import gravure.tf as tf

TEXTS = ["Hello, wörld\n", "aab ÀÉ東", b"a\xffc", "x_1\t(y)"]
REPLACED = [
    (
        ".",
        [
            "<H><e><l><l><o><,>< ><w><ö><r><l><d>\n",
            "<a><a><b>< ><À><É><東>",
            "<a>\udcff<c>",
            "<x><_><1><\t><(><y><)>",
        ],
        ["#ello, wörld\n", "#ab ÀÉ東"],
    ),
    (
        "[^a-z]",
        ["<H>ello<,>< >w<ö>rld<\n>", "aab< ><À><É><東>", "a\udcffc", "x<_><1><\t><(>y<)>"],
        ["#ello, wörld\n", "aab#ÀÉ東"],
    ),
    (
        "\\w",
        ["<H><e><l><l><o>, <w>ö<r><l><d>\n", "<a><a><b> ÀÉ東", "<a>\udcff<c>", "<x><_><1>\t(<y>)"],
        ["#ello, wörld\n", "#ab ÀÉ東"],
    ),
    (
        "\\s",
        ["Hello,< >wörld<\n>", "aab< >ÀÉ東", "a\udcffc", "x_1<\t>(y)"],
        ["Hello,#wörld\n", "aab#ÀÉ東"],
    ),
    (
        "\\b",
        ["<>Hello<>, <>w<>ö<>rld<>\n", "<>aab<> ÀÉ東", "<>a<>\udcff<>c<>", "<>x_1<>\t(<>y<>)"],
        ["#Hello, wörld\n", "#aab ÀÉ東"],
    ),
    (
        "a*",
        [
            "<>H<>e<>l<>l<>o<>,<> <>w<>ö<>r<>l<>d<>\n<>",
            "<aa>b<> <>À<>É<>東<>",
            "<a>\udcff<>c<>",
            "<>x<>_<>1<>\t<>(<>y<>)<>",
        ],
        ["#Hello, wörld\n", "#b ÀÉ東"],
    ),
    (
        "|a",
        [
            "<>H<>e<>l<>l<>o<>,<> <>w<>ö<>r<>l<>d<>\n<>",
            "<>a<>a<>b<> <>À<>É<>東<>",
            "<>a<>\udcff<>c<>",
            "<>x<>_<>1<>\t<>(<>y<>)<>",
        ],
        ["#Hello, wörld\n", "#aab ÀÉ東"],
    ),
    (
        "\\p{L}+",
        ["<Hello>, <wörld>\n", "<aab> <ÀÉ東>", "<a>\udcff<c>", "<x>_1\t(<y>)"],
        ["#, wörld\n", "# ÀÉ東"],
    ),
    (
        "\\PL",
        ["Hello<,>< >wörld<\n>", "aab< >ÀÉ東", "a\udcffc", "x<_><1><\t><(>y<)>"],
        ["Hello# wörld\n", "aab#ÀÉ東"],
    ),
    (
        "[\\p{Lu}\\d]",
        ["<H>ello, wörld\n", "aab <À><É>東", "a\udcffc", "x_<1>\t(y)"],
        ["#ello, wörld\n", "aab #É東"],
    ),
    (
        "[[:alpha:]]+",
        ["<Hello>, <w>ö<rld>\n", "<aab> ÀÉ東", "<a>\udcff<c>", "<x>_1\t(<y>)"],
        ["#, wörld\n", "# ÀÉ東"],
    ),
    (
        "[[:^alpha:]]",
        ["Hello<,>< >w<ö>rld<\n>", "aab< ><À><É><東>", "a\udcffc", "x<_><1><\t><(>y<)>"],
        ["Hello# wörld\n", "aab#ÀÉ東"],
    ),
    (
        "(?i)à",
        ["Hello, wörld\n", "aab <À>É東", "a\udcffc", "x_1\t(y)"],
        ["Hello, wörld\n", "aab #É東"],
    ),
    (
        "b|(?i)h|A",
        ["<H>ello, wörld\n", "<a><a><b> ÀÉ東", "<a>\udcffc", "x_1\t(y)"],
        ["#ello, wörld\n", "#ab ÀÉ東"],
    ),
    (
        "$",
        ["Hello, wörld\n<>", "aab ÀÉ東<>", "a\udcffc<>", "x_1\t(y)<>"],
        ["Hello, wörld\n#", "aab ÀÉ東#"],
    ),
    (
        "(?m)$",
        ["Hello, wörld<>\n<>", "aab ÀÉ東<>", "a\udcffc<>", "x_1\t(y)<>"],
        ["Hello, wörld#\n", "aab ÀÉ東#"],
    ),
    (
        "[]a)]",
        ["Hello, wörld\n", "<a><a>b ÀÉ東", "<a>\udcffc", "x_1\t(y<)>"],
        ["Hello, wörld\n", "#ab ÀÉ東"],
    ),
    (
        "[é-ö]",
        ["Hello, w<ö>rld\n", "aab ÀÉ東", "a\udcffc", "x_1\t(y)"],
        ["Hello, w#rld\n", "aab ÀÉ東"],
    ),
    (
        "\\Q(y\\E.",
        ["Hello, wörld\n", "aab ÀÉ東", "a\udcffc", "x_1\t<(y)>"],
        ["Hello, wörld\n", "aab ÀÉ東"],
    ),
    (
        "a{,2}",
        ["Hello, wörld\n", "aab ÀÉ東", "a\udcffc", "x_1\t(y)"],
        ["Hello, wörld\n", "aab ÀÉ東"],
    ),
    (
        "(?U)l+",
        ["He<l><l>o, wör<l>d\n", "aab ÀÉ東", "a\udcffc", "x_1\t(y)"],
        ["He#lo, wörld\n", "aab ÀÉ東"],
    ),
    (
        "(?P<n>l)(o)?",
        ["He<l><lo>, wör<l>d\n", "aab ÀÉ東", "a\udcffc", "x_1\t(y)"],
        ["He#lo, wörld\n", "aab ÀÉ東"],
    ),
    (
        "\\x{f6}|\\x41|\\141",
        ["Hello, w<ö>rld\n", "<a><a>b ÀÉ東", "<a>\udcffc", "x_1\t(y)"],
        ["Hello, w#rld\n", "#ab ÀÉ東"],
    ),
    (
        "[^\\S]",
        ["Hello,< >wörld<\n>", "aab< >ÀÉ東", "a\udcffc", "x_1<\t>(y)"],
        ["Hello,#wörld\n", "aab#ÀÉ東"],
    ),
    (
        "(?i)[^h-rà]",
        [
            "H<e>llo<,>< ><w><ö>rl<d><\n>",
            "<a><a><b>< >À<É><東>",
            "<a>\udcff<c>",
            "<x><_><1><\t><(><y><)>",
        ],
        ["H#llo, wörld\n", "#ab ÀÉ東"],
    ),
    (
        "(?s)d.",
        ["Hello, wörl<d\n>", "aab ÀÉ東", "a\udcffc", "x_1\t(y)"],
        ["Hello, wörl#", "aab ÀÉ東"],
    ),
]
REFUSED = [
    "(?=a)",
    "(a)\\1",
    "a++",
    "\\Z",
    "[a",
    "(",
    ")",
    "[[:foo:]]",
    "\\p{Foo}",
    "a{1001}",
    "[z-a]",
    "*a",
    "(?<n>o)",
]


@pytest.mark.parametrize(("pattern", "every", "once"), REPLACED, ids=str)
def test_texts_are_replaced_as_in_tensorflow(pattern, every, once):
    found = tf.strings.regex_replace(TEXTS, pattern, r"<\0>").numpy().tolist()
    assert [x.decode("utf-8", "surrogateescape") for x in found] == every
    first = tf.strings.regex_replace(TEXTS[:2], pattern, "#", replace_global=False)
    assert [x.decode() for x in first.numpy()] == once


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_is_no_pattern_is_refused(pattern):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid pattern"):
        tf.strings.regex_full_match(["a"], pattern)


@pytest.mark.parametrize(
    ("pattern", "texts", "wanted"),
    [
        ("a$", ["a", "a\n"], [True, False]),
        (".", ["é", "\n", "東"], [True, False, True]),
        ("\\d+", ["12", "\uff11\uff12"], [True, False]),
        ("(?i)é", ["É", "e"], [True, False]),
    ],
)
def test_whole_texts_fit_as_in_tensorflow(pattern, texts, wanted):
    assert tf.strings.regex_full_match(texts, pattern).numpy().tolist() == wanted
