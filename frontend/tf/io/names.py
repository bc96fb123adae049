"""The namespaces `tf.io`, `tf.io.gfile`, and those of the first version."""

from __future__ import annotations

from ...formats import messages as _m
from ..core.space import Space
from ..nondense.serialised import FIRST as _FIRST_TEXTS
from ..nondense.serialised import SECOND as _TEXTS
from ..train.meta_graph import write_graph
from . import batches as _b
from . import decoding as _d
from . import features as _f
from . import files as _files
from . import gfile as _g
from . import jpeg_quality as _jq
from . import parsing as _p
from . import pictures as _i
from . import producers as _pr
from . import readers as _re
from . import records as _r
from . import sequences as _s

gfile = Space(
    "io.gfile",
    GFile=_g.GFile,
    glob=_g.find,
    **{
        n: getattr(_g, n)
        for n in (
            *("copy", "exists", "isdir", "join", "listdir", "makedirs", "mkdir", "remove"),
            *("rename", "rmtree", "stat", "walk", "get_registered_schemes"),
        )
    },
)
PICTURES: dict[str, object] = {
    n: getattr(_i, n)
    for n in (
        *("decode_jpeg", "decode_and_crop_jpeg", "decode_png", "decode_bmp", "decode_gif"),
        *("decode_image", "encode_jpeg", "encode_png", "is_jpeg", "extract_jpeg_shape"),
    )
}
CHANGED: dict[str, object] = {
    n: getattr(_jq, n)
    for n in ("adjust_jpeg_quality", "random_jpeg_quality", "stateless_random_jpeg_quality")
}
"""What is of `tf.image`, but writes and reads files in between."""
DECODING: dict[str, object] = {
    n: getattr(_d, n)
    for n in (
        *("decode_base64", "encode_base64", "decode_compressed", "decode_csv", "decode_raw"),
        *("parse_tensor", "serialize_tensor"),
    )
}
FEATURES: dict[str, object] = {
    n: getattr(_f, n)
    for n in (
        *("FixedLenFeature", "FixedLenSequenceFeature", "RaggedFeature", "SparseFeature"),
        "VarLenFeature",
    )
}
PARSING: dict[str, object] = {
    **{n: getattr(_p, n)
       for n in ("parse_example", "parse_single_example", "parse_single_sequence_example")},
    **{n: getattr(_s, n) for n in ("parse_sequence_example", "decode_json_example")},
}  # fmt: skip
WHOLE: dict[str, object] = {
    n: getattr(_files, n) for n in ("matching_files", "read_file", "write_file")
}
RECORDS: dict[str, object] = {n: getattr(_r, n) for n in ("TFRecordOptions", "TFRecordWriter")}
io = Space(
    "io",
    gfile=gfile,
    write_graph=write_graph,
    match_filenames_once=_pr.match_filenames_once,
    **{**PICTURES, **DECODING, **FEATURES, **PARSING, **WHOLE, **RECORDS, **_TEXTS},
)

OLD_RECORDS = {
    "tf_record_iterator": _r.tf_record_iterator,
    "TFRecordCompressionType": _r.TFRecordCompressionType,
}
old_gfile = Space(
    "compat.v1.gfile",
    **dict(Copy=_g.copy, DeleteRecursively=_g.rmtree, Exists=_g.exists, FastGFile=_g.GFile),
    **dict(GFile=_g.GFile, Glob=_g.find, IsDirectory=_g.isdir, ListDirectory=_g.list_names),
    **dict(MakeDirs=_g.makedirs, MkDir=_g.mkdir, Open=_g.GFile, Remove=_g.remove),
    **dict(Rename=_g.rename, Stat=_g.stat, Walk=_g.walk),
)
python_io = Space("compat.v1.python_io", **RECORDS, **OLD_RECORDS)
old_io = Space("compat.v1.io", **{**vars(io), **OLD_RECORDS, **_FIRST_TEXTS})
READERS: dict[str, object] = {
    n: getattr(_re, n)
    for n in (
        *("ReaderBase", "WholeFileReader", "IdentityReader", "TextLineReader"),
        *("FixedLengthRecordReader", "TFRecordReader"),
    )
}
PRODUCERS: dict[str, object] = {
    n: getattr(_pr, n)
    for n in (
        *("input_producer", "string_input_producer", "range_input_producer"),
        *("slice_input_producer", "limit_epochs", "match_filenames_once"),
    )
} | {
    f"{kept}{how}{many}": getattr(_b, f"{kept}{how}{many}")
    for kept in ("", "maybe_")
    for how in ("batch", "shuffle_batch")
    for many in ("", "_join")
}
MESSAGES: dict[str, object] = {
    n: getattr(_m, n)
    for n in (
        *("BytesList", "FloatList", "Int64List", "Feature", "Features", "FeatureList"),
        *("FeatureLists", "Example", "SequenceExample", "ClusterDef", "JobDef", "ServerDef"),
        "SaverDef",
    )
}
"""What `tf.train` has of messages."""
V1: dict[str, object] = {
    **FEATURES,
    **PARSING,
    **WHOLE,
    **READERS,
    **{n: DECODING[n] for n in ("decode_base64", "encode_base64", "decode_csv", "decode_raw")},
    **{n: DECODING[n] for n in ("parse_tensor", "serialize_tensor")},
    **{"gfile": old_gfile, "python_io": python_io, "io": old_io, "count_up_to": _pr.count_up_to},
}
"""What stands at the top of the first version."""
