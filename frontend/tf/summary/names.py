"""The namespaces `tf.summary` and `tf.compat.v1.summary`."""

from __future__ import annotations

from ...formats import messages as _m
from ..core.space import Space
from . import first as _f
from . import second as _s

summary = Space(
    "summary",
    **{
        n: getattr(_s, n)
        for n in (
            *("SummaryWriter", "audio", "create_file_writer", "create_noop_writer", "flush"),
            *("graph", "histogram", "image", "record_if", "scalar", "should_record_summaries"),
            *("text", "trace_export", "trace_off", "trace_on", "write"),
        )
    },
    experimental=Space(
        "summary.experimental",
        **{n: getattr(_s, n) for n in ("get_step", "set_step", "summary_scope", "write_raw_pb")},
    ),
)
old_summary = Space(
    "compat.v1.summary",
    **{
        n: getattr(_f, n)
        for n in (
            *("FileWriter", "FileWriterCache", "audio", "histogram", "image", "merge"),
            *("merge_all", "scalar", "tensor_summary"),
        )
    },
    **{n: getattr(_m, n) for n in ("Event", "SessionLog", "Summary", "SummaryDescription")},
    TaggedRunMetadata=_m.TaggedRunMetadata,
    text=_f.text_summary,
    all_v2_summary_ops=_s.all_v2_summary_ops,
)
OLD_NAMES: dict[str, object] = {
    "scalar_summary": lambda tags, values, **more: _f.scalar(tags, values, more.get("collections")),
    "histogram_summary": lambda tag, values, **more: _f.histogram(tag, values),
    "image_summary": lambda tag, tensor, max_images=3, **more: _f.image(tag, tensor, max_images),
    "merge_summary": _f.merge,
    "merge_all_summaries": _f.merge_all,
}
"""Names from before the first version."""
V1: dict[str, object] = {
    "summary": old_summary,
    **{n: getattr(_m, n) for n in ("Event", "Summary", "SummaryMetadata", "AttrValue", "NodeDef")},
    "HistogramProto": _m.HistogramProto,
    "SessionLog": _m.SessionLog,
    **OLD_NAMES,
}
