"""The namespace `tf.strings`, and the names of the first version."""

from __future__ import annotations

from ..core.space import Space
from ..ops import strings as _s
from . import characters as _c
from . import joined as _j
from . import pieces as _p
from .scripts import unicode_script

BOTH: dict[str, object] = {
    **{
        n: getattr(_s, n)
        for n in (
            *("as_string", "join", "length", "lower", "regex_full_match", "regex_replace"),
            *("strip", "substr", "to_number", "upper"),
        )
    },
    **{
        n: getattr(_c, n)
        for n in (
            *("unicode_decode", "unicode_decode_with_offsets", "unicode_encode", "unicode_split"),
            *("unicode_split_with_offsets", "unicode_transcode"),
        )
    },
    **{
        n: getattr(_j, n)
        for n in (
            *("format", "reduce_join", "to_hash_bucket", "to_hash_bucket_fast"),
            *("to_hash_bucket_strong", "unsorted_segment_join"),
        )
    },
    **{n: getattr(_p, n) for n in ("bytes_split", "ngrams", "split")},
    "unicode_script": unicode_script,
}
strings = Space("strings", **BOTH)
V1: dict[str, object] = {
    "strings": Space(
        "compat.v1.strings",
        **{
            **BOTH,
            "length": _s.first_length,
            "reduce_join": _j.first_reduce_join,
            "split": _p.first_split,
            "substr": _s.first_substr,
        },
    ),
    "string_split": _p.string_split,
    "string_to_hash_bucket": _j.first_to_hash_bucket,
    "string_to_hash_bucket_fast": _j.to_hash_bucket_fast,
    "string_to_hash_bucket_strong": _j.to_hash_bucket_strong,
}

__all__ = ["V1", "strings"]
