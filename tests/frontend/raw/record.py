"""Record what TensorFlow gives for operations by their own names: `tf.raw_ops`.

python tests/frontend/raw/record.py    # in a Python that has TensorFlow
"""

import base64
import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np

RANDOM = np.random.default_rng(5)
MATRIX = np.eye(3) * 4 + RANDOM.random((3, 3))
BOTH = MATRIX @ MATRIX.T
WIDE, TABLE = RANDOM.random((3, 5)), RANDOM.random((4, 2)).astype(np.float32)
ABOVE = np.array([0.3, 1.2, 2.5])
IMAGE = RANDOM.random((1, 4, 4, 2)).astype(np.float32)
LOW = RANDOM.random((5, 2))
BOXES = np.concatenate([LOW, LOW + 0.3], 1).astype(np.float32)
SCORES = np.array([0.5, 0.9, 0.3, 0.8, 0.1], np.float32)
ROWS, IDS = np.array([3, 0, 1], np.int32), np.array([0, 0, 2], np.int32)
BMP = base64.b64decode(
    "Qk1GAAAAAAAAADYAAAAoAAAAAgAAAAIAAAABABgAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AQIDBAUGAAAHCAkKCwwAAA=="
)
SEED = np.array([4, 7])
PAIR = np.array([0.5, 1.5], np.float32)
PLANES = {"x": IMAGE, "scale": PAIR + 1, "offset": PAIR}

SAMPLES: dict[str, dict[str, Any]] = {
    "BandedTriangularSolve": {"matrix": np.array([[1.0, 2, 3], [0, 1, 2]]), "rhs": np.ones((3, 1))},
    **{
        name: {"x": ABOVE}
        for name in (
            *("BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselJ0", "BesselJ1"),
            *("BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "BesselY0", "BesselY1"),
            *("Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence"),
        )
    },
    "FusedBatchNorm": {**PLANES, "mean": PAIR[:0], "variance": PAIR[:0], "epsilon": 1e-7},
    "FusedBatchNormV2": {**PLANES, "mean": PAIR, "variance": PAIR * 2, "is_training": False},
    "FusedBatchNormV3": {
        **PLANES, "x": np.moveaxis(IMAGE, 3, 1), "mean": PAIR, "variance": PAIR * 2,
        "data_format": "NCHW", "exponential_avg_factor": 0.3,
    },
    "Betainc": {"a": ABOVE, "b": ABOVE + 1, "x": ABOVE / 3},
    "BiasAddV1": {"value": TABLE, "bias": TABLE[0]},
    "Bucketize": {"input": np.float32([[-5, 10, 3], [150, 5, 100]]), "boundaries": [0.0, 10, 100]},
    "CombinedNonMaxSuppression": {
        "boxes": BOXES[None, :, None], "scores": SCORES[None, :, None],
        "max_output_size_per_class": 3, "max_total_size": 4, "iou_threshold": 0.4,
        "score_threshold": 0.2,
    },
    "CropAndResize": {
        "image": IMAGE, "boxes": BOXES[:2], "box_ind": [0, 0], "crop_size": [3, 2],
    },
    "DecodeBase64": {"input": [b"YWJj", b"eHl6"]},
    "DecodeBmp": {"contents": BMP},
    "DecodePaddedRaw": {"input_bytes": [b"ab", b"c"], "fixed_length": 2, "out_type": "uint8"},
    "DecodeRaw": {"bytes": [b"abcd", b"efgh"], "out_type": "int16"},
    "DeepCopy": {"x": TABLE},
    "DynamicStitch": {"indices": [[0, 2], [1]], "data": [TABLE[:2], TABLE[2:3]]},
    "EncodeBase64": {"input": [b"abc", b"xyz?"], "pad": True},
    "FakeQuantWithMinMaxArgs": {"inputs": TABLE * 9, "min": -2.0, "max": 5.0},
    "FakeQuantWithMinMaxVars": {"inputs": TABLE * 9, "min": -2.0, "max": 5.0, "num_bits": 4},
    "FakeQuantWithMinMaxVarsPerChannel": {
        "inputs": TABLE * 9, "min": np.float32([-2, 0]), "max": np.float32([5, 3]),
    },
    "Fingerprint": {"data": [b"abc", b"d"], "method": "farmhash64"},
    "GuaranteeConst": {"input": TABLE},
    "LowerBound": {"sorted_inputs": [[1.0, 3.0, 5.0]], "values": [[3.0, 0.0, 9.0]]},
    "Lu": {"input": MATRIX},
    "MatrixLogarithm": {"input": BOTH.astype(np.complex128)},
    "MatrixSolveLs": {"matrix": MATRIX, "rhs": WIDE, "l2_regularizer": 0.1},
    "MatrixSquareRoot": {"input": BOTH},
    "NonMaxSuppression": {"boxes": BOXES, "scores": SCORES, "max_output_size": 3},
    "NonMaxSuppressionV2": {
        "boxes": BOXES, "scores": SCORES, "max_output_size": 3, "iou_threshold": 0.2,
    },
    "NonMaxSuppressionV3": {
        "boxes": BOXES, "scores": SCORES, "max_output_size": 5, "iou_threshold": 0.2,
        "score_threshold": 0.4,
    },
    "NonMaxSuppressionWithOverlaps": {
        "overlaps": np.eye(5, dtype=np.float32), "scores": SCORES, "max_output_size": 4,
        "overlap_threshold": 0.5, "score_threshold": 0.2,
    },
    "ParallelDynamicStitch": {"indices": [[0, 2], [1]], "data": [TABLE[:2], TABLE[2:3]]},
    "SparseMatMul": {"a": TABLE, "b": TABLE, "transpose_b": True},
    **{
        f"SparseSegment{how}WithNumSegments": {
            "data": TABLE, "indices": ROWS, "segment_ids": IDS, "num_segments": 4,
        }
        for how in ("Mean", "SqrtN", "Sum")
    },
    "SparseToDense": {
        "sparse_indices": [[0, 1], [2, 0]], "output_shape": [3, 2], "sparse_values": [5, 6],
        "default_value": -1,
    },
    "StatelessMultinomial": {"logits": TABLE, "num_samples": 6, "seed": SEED},
    "StatelessRandomGammaV2": {"shape": [2, 2], "seed": SEED, "alpha": np.float32([0.5, 2])},
    "StatelessRandomNormal": {"shape": [5], "seed": SEED},
    "StatelessRandomPoisson": {"shape": [2, 2], "seed": SEED, "lam": [0.5, 20.0], "dtype": "int64"},
    "StatelessRandomUniform": {"shape": [5], "seed": SEED, "dtype": "float64"},
    "UnsortedSegmentJoin": {
        "inputs": [b"a", b"b", b"c"], "segment_ids": [1, 0, 1], "num_segments": 3, "separator": "-",
    },
}  # fmt: skip
"""By operation: what it is given. Names have to fit, so that a sample is one of the arguments."""


def shown(tf: Any, name: str) -> list[tuple[str, str, list[int], list[Any]]]:
    """Return each result of an operation: its name, element type, shape and elements."""
    made = getattr(tf.raw_ops, name)(**SAMPLES[name])
    names = getattr(made, "_fields", None)
    found = []
    for i, each in enumerate(made if isinstance(made, list | tuple) else [made]):
        array = np.asarray(each)
        flat = array.ravel()
        if array.dtype.kind == "c":
            flat = np.stack([flat.real, flat.imag], 1).ravel()
        elements = [x.decode("latin-1") if isinstance(x, bytes) else x for x in flat.tolist()]
        kind = "string" if array.dtype.kind in "OSU" else str(array.dtype)
        found.append((names[i] if names else "", kind, list(array.shape), elements))
    return found


if __name__ == "__main__":
    tensorflow = importlib.import_module("tensorflow")
    recorded = {name: shown(tensorflow, name) for name in SAMPLES}
    Path(__file__).with_name("values.json").write_text(json.dumps(recorded))
