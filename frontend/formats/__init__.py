"""File formats of TensorFlow's world that hold data: records, examples, events.

Knows nothing of graphs, tensors or datasets: bytes, arrays and messages only. Read in this order:

- `messages`: `Example`, `Event`, `Summary`, `GraphDef` and their parts as protobuf messages.
- `schema`: the fields of these messages.
- `checksums`: CRC-32C, masked as record files mask it.
- `records`: files of records (TFRecord): reading, writing, compression.
- `examples`: features out of serialised examples, as arrays, without a message in between.
- `events`: files that TensorBoard reads. `summaries`: what is in them.
- `profiles`: what went on, for TensorBoard's plug-in (`profile_schema`).
- `tensors`: arrays as `TensorProto` and back.
"""
