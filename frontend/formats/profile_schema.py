"""The fields of a profile that TensorBoard's plug-in reads (`*.xplane.pb`), one line each.

A space has planes (devices), these have lines (threads), these have events, which name what they
are by a number in the plane.
"""

from __future__ import annotations

PROFILES: dict[str, list[str]] = {
    "XSpace": ["repeated XPlane planes 1", "repeated string hostnames 4"],
    "XPlane": [
        "int64 id 1",
        "string name 2",
        "repeated XLine lines 3",
        "longmap XEventMetadata event_metadata 4",
        "longmap XStatMetadata stat_metadata 5",
        "repeated XStat stats 6",
    ],
    "XLine": [
        "int64 id 1",
        "string name 2",
        "int64 timestamp_ns 3",
        "repeated XEvent events 4",
        "int64 duration_ps 9",
        "int64 display_id 10",
        "string display_name 11",
    ],
    "XEvent": [
        "int64 metadata_id 1",
        "oneof:data int64 offset_ps 2",
        "int64 duration_ps 3",
        "repeated XStat stats 4",
        "oneof:data int64 num_occurrences 5",
    ],
    "XStat": [
        "int64 metadata_id 1",
        "oneof:value double double_value 2",
        "oneof:value uint64 uint64_value 3",
        "oneof:value int64 int64_value 4",
        "oneof:value string str_value 5",
        "oneof:value bytes bytes_value 6",
        "oneof:value uint64 ref_value 7",
    ],
    "XEventMetadata": [
        "int64 id 1",
        "string name 2",
        "bytes metadata 3",
        "string display_name 4",
        "repeated XStat stats 5",
    ],
    "XStatMetadata": ["int64 id 1", "string name 2", "string description 3"],
}
