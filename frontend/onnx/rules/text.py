"""Rules of operators on texts and image files: host steps, but where texts are numbers already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....ir import Array
from ....ir.compose import functions as c
from ....ir.ops.host.images import pillow
from ....ir.types import dtypes as d
from ..grams import weighed_counts
from ..node import Node, Value
from ..registry import rule

ML, MICROSOFT = "ai.onnx.ml", "com.microsoft"
EACH = "(?s:.)"
"""What describes each character: a point alone means the ends of lines, too."""


@rule("StringConcat")
def concat(node: Node, a: Value, b: Value) -> Value:
    """Join texts, element by element."""
    return node.make.text_concat(a, b)


@rule("RegexFullMatch")
def matches(node: Node, x: Value) -> Value:
    """Say which texts a pattern describes."""
    return node.make.text_match(x, pattern=node.text("pattern", ""))


@rule("StringSplit")
def split(node: Node, x: Value) -> Sequence[Value]:
    """Return the parts of texts, and how many each has."""
    made: Sequence[Value] = node.make.text_split(
        x,
        sizes=node.unknown(),
        delimiter=node.text("delimiter", ""),
        limit=node.integer("maxsplit", -1),
    )
    return made


@rule("Tokenizer", domain=MICROSOFT)
def words(node: Node, x: Value) -> Value:
    """Return the words of texts, which a pattern describes."""
    if node.texts("separators"):
        node.refuse("words between separators are not supported, expected a pattern of words")
    pattern = node.text("tokenexp", "")
    if not pattern:
        node.fail("attribute tokenexp is missing")
    return node.make.text_words(
        x,
        sizes=node.unknown(),
        pattern=EACH if pattern == "." else pattern,
        least=node.integer("mincharnum"),
        fill=node.text("pad_value"),
        mark=bool(node.integer("mark")),
    )


@rule("StringNormalizer")
def normalize(node: Node, x: Value) -> Value:
    """Return texts in one case, without some of them."""
    node.text("locale", "")  # cases are those of Unicode
    return node.make.text_normalize(
        x,
        sizes=node.unknown(),
        case=node.text("case_change_action", "NONE"),
        stopwords=node.texts("stopwords") or (),
        exact=bool(node.integer("is_case_sensitive", 0)),
    )


@rule("ImageDecoder")
def decode_image(node: Node, data: Value) -> Value:
    """Return the pixels of an image file."""
    try:
        pillow()
    except ImportError:
        node.refuse(
            "decoding images takes the package pillow, which is not here",
            hint="pip install gravure[images]; or decode before the model, and pass the pixels",
        )
    layout = node.text("pixel_format", "RGB")
    return node.make.decode_image(data, sizes=node.unknown(2), layout=layout)


@rule("TfIdfVectorizer")
def count_grams(node: Node, x: Value) -> Value:
    """Count sequences of words, or of numbers that stand for them."""
    texts = node.texts("pool_strings")
    if not texts:
        return weighed_counts(node, x, node.integers("pool_int64s") or ())
    return node.make.count_grams(
        x,
        pool=as_texts(texts),
        counts=node.integers("ngram_counts") or (),
        places=node.integers("ngram_indexes") or (),
        lengths=(node.integer("min_gram_length"), node.integer("max_gram_length")),
        skips=node.integer("max_skip_count"),
        mode=node.text("mode"),
        weights=np.array(node.floats("weights") or (), np.float32),
    )


@rule("LabelEncoder", domain=ML)
def encode(node: Node, x: Value) -> Value:
    """Return the value beside each key; before version 2, the place of a text or the reverse."""
    classes = node.texts("classes_strings")
    if classes is not None:
        places = np.arange(len(classes))
        if node.dtype(x).is_text:
            keys, values = as_texts(classes), places
            default = np.array(node.integer("default_int64", -1))
            node.text("default_string", "")
        else:
            keys, values = places, as_texts(classes)
            default = as_texts((node.text("default_string", "_Unused"),))
            node.integer("default_int64", 0)
        return node.make.lookup(x, keys=keys, values=values, default=default)
    keys, _ = listed(node, "keys")
    values, kind = listed(node, "values")
    default = default_of(node, kind, values)
    if object not in (keys.dtype, values.dtype) and not node.dtype(x).is_text:
        return _number_beside(node, x, keys, values, default)
    return node.make.lookup(x, keys=keys, values=values, default=default)


def labels_of(node: Node, name: str) -> Array:
    """Return the labels of classes: numbers of an attribute, or texts of `classlabels_strings`."""
    numbers, texts = node.integers(name), node.texts("classlabels_strings")
    if numbers is None and texts is None:
        node.refuse(f"neither {name} nor classlabels_strings are given")
    return as_texts(texts or ()) if numbers is None else np.array(numbers, np.int64)


def label_at(node: Node, place: Value, labels: Array) -> Value:
    """Return the label of each place; texts are looked up by the host."""
    if labels.dtype == object:
        none = as_texts(("",))
        return node.make.lookup(place, keys=np.arange(len(labels)), values=labels, default=none)
    return node.make.gather(node.constant(labels, d.i64), place, axis=0)


def _number_beside(node: Node, x: Value, keys: Array, values: Array, default: Array) -> Value:
    """Return the number beside each key, of the first of equal ones."""
    make, rank = node.make, node.rank(x)
    column = c.unsqueeze(node.emit, x, (rank,))
    same = make.equal(column, node.constant(keys.ravel(), node.dtype(x)))
    if np.isnan(keys.astype(np.float64)).any():
        missing = node.constant(np.isnan(keys.ravel().astype(np.float64)))
        same = make.logical_or(same, make.logical_and(make.isnan(column), missing))
    place = make.argmax(make.to(same, d.i32), axis=rank, keepdims=False)
    found = make.gather(node.constant(values.ravel()), place, axis=0)
    other = node.constant(default.reshape(()).astype(values.dtype))
    return make.select(make.any(same, axes=(rank,)), found, other)


def listed(node: Node, stem: str) -> tuple[Array, str]:
    """Return the attribute that is given of several kinds, and its kind."""
    readers: dict[str, Any] = {
        "strings": lambda name: as_texts(node.texts(name) or ()),
        "int64s": lambda name: np.array(node.integers(name), np.int64),
        "floats": lambda name: np.array(node.floats(name), np.float32),
        "tensor": node.tensor,
    }
    for kind, read in readers.items():
        if node.has(f"{stem}_{kind}"):
            return read(f"{stem}_{kind}"), kind
    return node.fail(f"no attribute {stem}_ is given")


def default_of(node: Node, kind: str, values: Array) -> Array:
    """Return the value of what is not among the keys."""
    text, whole = node.text("default_string", "_Unused"), node.integer("default_int64", -1)
    number = node.number("default_float", -0.0)
    tensor = node.tensor("default_tensor")
    if kind == "strings":
        return as_texts((text,))
    if kind != "tensor":
        return np.array(whole if kind == "int64s" else number, values.dtype)
    if tensor is not None:
        return tensor
    if values.dtype == object:
        return as_texts((text,))
    return np.array(whole if values.dtype.kind in "iu" else number, values.dtype)


def as_texts(texts: Sequence[str]) -> Array:
    """Return texts as an array."""
    made = np.empty(len(texts), object)
    made[:] = texts
    return made
