"""The fields of the messages: one line each, `[repeated|map|oneof:NAME] TYPE NAME NUMBER`.

These are the published field numbers, so that other programs read what is written here. Fields
that nothing here reads or writes are left out: the protobuf library keeps them as they are.
"""

from __future__ import annotations

ENUMS: dict[str, dict[str, int]] = {
    "DataType": {
        "DT_INVALID": 0, "DT_FLOAT": 1, "DT_DOUBLE": 2, "DT_INT32": 3, "DT_UINT8": 4,
        "DT_INT16": 5, "DT_INT8": 6, "DT_STRING": 7, "DT_COMPLEX64": 8, "DT_INT64": 9,
        "DT_BOOL": 10, "DT_BFLOAT16": 14, "DT_UINT16": 17, "DT_COMPLEX128": 18, "DT_HALF": 19,
        "DT_RESOURCE": 20, "DT_VARIANT": 21, "DT_UINT32": 22, "DT_UINT64": 23,
        "DT_FLOAT8_E5M2": 24, "DT_FLOAT8_E4M3FN": 25, "DT_FLOAT8_E4M3FNUZ": 26,
        "DT_FLOAT8_E5M2FNUZ": 28, "DT_INT4": 29, "DT_UINT4": 30, "DT_INT2": 31, "DT_UINT2": 32,
        "DT_FLOAT4_E2M1FN": 33,
    },
    "DataClass": {
        "DATA_CLASS_UNKNOWN": 0, "DATA_CLASS_SCALAR": 1, "DATA_CLASS_TENSOR": 2,
        "DATA_CLASS_BLOB_SEQUENCE": 3,
    },
    "SessionStatus": {"STATUS_UNSPECIFIED": 0, "START": 1, "STOP": 2, "CHECKPOINT": 3},
    "VariableSynchronization": {
        "VARIABLE_SYNCHRONIZATION_AUTO": 0, "VARIABLE_SYNCHRONIZATION_NONE": 1,
        "VARIABLE_SYNCHRONIZATION_ON_WRITE": 2, "VARIABLE_SYNCHRONIZATION_ON_READ": 3,
    },
    "VariableAggregation": {
        "VARIABLE_AGGREGATION_NONE": 0, "VARIABLE_AGGREGATION_SUM": 1,
        "VARIABLE_AGGREGATION_MEAN": 2, "VARIABLE_AGGREGATION_ONLY_FIRST_REPLICA": 3,
    },
    "Code": {
        "OK": 0, "CANCELLED": 1, "UNKNOWN": 2, "INVALID_ARGUMENT": 3, "DEADLINE_EXCEEDED": 4,
        "NOT_FOUND": 5, "ALREADY_EXISTS": 6, "PERMISSION_DENIED": 7, "RESOURCE_EXHAUSTED": 8,
        "FAILED_PRECONDITION": 9, "ABORTED": 10, "OUT_OF_RANGE": 11, "UNIMPLEMENTED": 12,
        "INTERNAL": 13, "UNAVAILABLE": 14, "DATA_LOSS": 15, "UNAUTHENTICATED": 16,
    },
}  # fmt: skip

EXAMPLES: dict[str, list[str]] = {
    "BytesList": ["repeated bytes value 1"],
    "FloatList": ["repeated float value 1"],
    "Int64List": ["repeated int64 value 1"],
    "Feature": [
        "oneof:kind BytesList bytes_list 1",
        "oneof:kind FloatList float_list 2",
        "oneof:kind Int64List int64_list 3",
    ],
    "Features": ["map Feature feature 1"],
    "FeatureList": ["repeated Feature feature 1"],
    "FeatureLists": ["map FeatureList feature_list 1"],
    "Example": ["Features features 1"],
    "SequenceExample": ["Features context 1", "FeatureLists feature_lists 2"],
}

GRAPHS: dict[str, list[str]] = {
    "SaveSliceInfoDef": [
        "string full_name 1",
        "repeated int64 full_shape 2",
        "repeated int64 var_offset 3",
        "repeated int64 var_shape 4",
    ],
    "VariableDef": [
        "string variable_name 1",
        "string initializer_name 2",
        "string snapshot_name 3",
        "SaveSliceInfoDef save_slice_info_def 4",
        "bool is_resource 5",
        "string initial_value_name 6",
        "bool trainable 7",
        "VariableSynchronization synchronization 8",
        "VariableAggregation aggregation 9",
    ],
    "QueueRunnerDef": [
        "string queue_name 1",
        "repeated string enqueue_op_name 2",
        "string close_op_name 3",
        "string cancel_op_name 4",
        "repeated Code queue_closed_exception_types 5",
    ],
    "Dim": ["int64 size 1", "string name 2"],
    "TensorShapeProto": ["repeated Dim dim 2", "bool unknown_rank 3"],
    "TensorProto": [
        "DataType dtype 1",
        "TensorShapeProto tensor_shape 2",
        "int32 version_number 3",
        "bytes tensor_content 4",
        "repeated float float_val 5",
        "repeated double double_val 6",
        "repeated int32 int_val 7",
        "repeated bytes string_val 8",
        "repeated float scomplex_val 9",
        "repeated int64 int64_val 10",
        "repeated bool bool_val 11",
        "repeated double dcomplex_val 12",
        "repeated int32 half_val 13",
        "repeated uint32 uint32_val 16",
        "repeated uint64 uint64_val 17",
        "bytes float8_val 18",
    ],
    "ListValue": [
        "repeated bytes s 2",
        "repeated int64 i 3",
        "repeated float f 4",
        "repeated bool b 5",
        "repeated DataType type 6",
        "repeated TensorShapeProto shape 7",
        "repeated TensorProto tensor 8",
    ],
    "AttrValue": [
        "oneof:value bytes s 2",
        "oneof:value int64 i 3",
        "oneof:value float f 4",
        "oneof:value bool b 5",
        "oneof:value DataType type 6",
        "oneof:value TensorShapeProto shape 7",
        "oneof:value TensorProto tensor 8",
        "oneof:value ListValue list 1",
        "oneof:value string placeholder 9",
    ],
    "NodeDef": [
        "string name 1",
        "string op 2",
        "repeated string input 3",
        "string device 4",
        "map AttrValue attr 5",
    ],
    "VersionDef": ["int32 producer 1", "int32 min_consumer 2", "repeated int32 bad_consumers 3"],
    "ArgDef": [
        "string name 1",
        "string description 2",
        "DataType type 3",
        "string type_attr 4",
        "string number_attr 5",
        "string type_list_attr 6",
    ],
    "AttrDef": ["string name 1", "string type 2", "AttrValue default_value 3"],
    "OpDef": [
        "string name 1",
        "repeated ArgDef input_arg 2",
        "repeated ArgDef output_arg 3",
        "repeated AttrDef attr 4",
    ],
    "FunctionDef": [
        "OpDef signature 1",
        "repeated NodeDef node_def 3",
        "map string ret 4",
        "map AttrValue attr 5",
    ],
    "FunctionDefLibrary": ["repeated FunctionDef function 1"],
    "GraphDef": [
        "repeated NodeDef node 1",
        "FunctionDefLibrary library 2",
        "int32 version 3",
        "VersionDef versions 4",
    ],
}

EVENTS: dict[str, list[str]] = {
    "PluginData": ["string plugin_name 1", "bytes content 2"],
    "SummaryMetadata": [
        "PluginData plugin_data 1",
        "string display_name 2",
        "string summary_description 3",
        "DataClass data_class 4",
    ],
    "HistogramProto": [
        "double min 1",
        "double max 2",
        "double num 3",
        "double sum 4",
        "double sum_squares 5",
        "repeated double bucket_limit 6",
        "repeated double bucket 7",
    ],
    "Image": [
        "int32 height 1",
        "int32 width 2",
        "int32 colorspace 3",
        "bytes encoded_image_string 4",
    ],
    "Audio": [
        "float sample_rate 1",
        "int64 num_channels 2",
        "int64 length_frames 3",
        "bytes encoded_audio_string 4",
        "string content_type 5",
    ],
    "Value": [
        "string tag 1",
        "oneof:value float simple_value 2",
        "oneof:value Image image 4",
        "oneof:value HistogramProto histo 5",
        "oneof:value Audio audio 6",
        "oneof:value TensorProto tensor 8",
        "string node_name 7",
        "SummaryMetadata metadata 9",
    ],
    "Summary": ["repeated Value value 1"],
    "SummaryDescription": ["string type_hint 1"],
    "SessionLog": ["SessionStatus status 1", "string checkpoint_path 2", "string msg 3"],
    "TaggedRunMetadata": ["string tag 1", "bytes run_metadata 2"],
    "SourceMetadata": ["string writer 1"],
    "Event": [
        "double wall_time 1",
        "int64 step 2",
        "oneof:what string file_version 3",
        "oneof:what bytes graph_def 4",
        "oneof:what Summary summary 5",
        "oneof:what SessionLog session_log 7",
        "oneof:what TaggedRunMetadata tagged_run_metadata 8",
        "oneof:what bytes meta_graph_def 9",
        "SourceMetadata source_metadata 10",
    ],
}

INSIDE = {
    "Dim": "TensorShapeProto",
    "ListValue": "AttrValue",
    "PluginData": "SummaryMetadata",
    "Image": "Summary",
    "Audio": "Summary",
    "Value": "Summary",
    "SessionStatus": "SessionLog",
    "Code": "QueueRunnerDef",
}
"""Messages and enumerations that are declared inside of another message."""
