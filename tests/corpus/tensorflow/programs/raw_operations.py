"""Operations by their own names: `tf.raw_ops`."""

import numpy as np


def raw_operations_of_numbers(tf):
    raw = tf.raw_ops
    x = tf.constant([[0.5, -1.0, 2.0], [3.0, 0.25, -0.75]])
    y = tf.constant([[1.0, 2.0, -1.5], [0.5, 4.0, 1.0]])
    whole = tf.constant([[3, 1, 2], [5, 2, 2]])
    of_two = {
        name: getattr(raw, name)(x=x, y=y)
        for name in ("Add", "AddV2", "Maximum", "Mod", "Mul", "SquaredDifference", "Sub")
    }
    of_one = {
        name: getattr(raw, name)(x=x)
        for name in ("Abs", "Inv", "OnesLike", "Rint", "Sign", "Tanh", "ZerosLike")
    }
    slopes = {
        name: getattr(raw, name)(y=y, dy=x)
        for name in ("InvGrad", "RsqrtGrad", "SigmoidGrad", "SqrtGrad", "TanhGrad")
    }
    of_features = {
        name: getattr(raw, name)(gradients=y, features=x)
        for name in ("LeakyReluGrad", "ReluGrad", "Relu6Grad", "SoftplusGrad", "SoftsignGrad")
    }
    of_outputs = [raw.EluGrad(gradients=y, outputs=x), raw.SeluGrad(gradients=y, outputs=x)]
    unique = raw.Unique(x=tf.constant([1, 1, 2]))
    best = raw.TopKV2(input=x, k=2)
    others = raw.ListDiff(x=tf.constant([1, 2, 3]), y=tf.constant([2]))
    moved = [
        raw.Pack(values=[x, y], axis=1),
        raw.ConcatV2(values=[x, y], axis=1),
        raw.Unpack(value=x, num=2),
        raw.Split(axis=tf.constant(1), value=x, num_split=3),
        raw.Select(condition=x > 0.0, x=x, y=y),
        raw.SelectV2(condition=tf.constant(True), t=x, e=y),
        raw.Where(condition=x > 0.0),
        raw.Cast(x=x, DstT=tf.int32),
        raw.Diag(diagonal=tf.constant([1.0, 2.0])),
        raw.DiagPart(input=tf.constant([[1.0, 2.0], [3.0, 4.0]])),
        raw.MatrixDiag(diagonal=x),
        raw.MatrixBandPart(input=x, num_lower=tf.constant(0), num_upper=tf.constant(1)),
        raw.OneHot(indices=whole, depth=tf.constant(4), on_value=1.0, off_value=-1.0),
        raw.PadV2(input=x, paddings=[[1, 0], [0, 1]], constant_values=9.0),
        raw.UnravelIndex(indices=tf.constant([5, 7]), dims=tf.constant([3, 4])),
        raw.TensorScatterAdd(tensor=x, indices=[[0, 1]], updates=[10.0]),
        raw.Range(start=1, limit=7, delta=2),
    ]
    zeta = raw.Zeta(x=tf.constant([0.5, 1.0, 2.0]), q=tf.constant([1.0, 1.0, 3.0]))
    orders = raw.Polygamma(a=tf.constant([0.5, 0.0, 2.0]), x=tf.constant([1.0, 1.0, 3.0]))
    named = [unique.y, unique.idx, best.values, best.indices, others.out, others.idx]
    return of_two, of_one, slopes, of_features, of_outputs, named, moved, zeta, orders


def raw_operations_of_matrices_and_images(tf):
    raw = tf.raw_ops
    a = tf.constant([[4.0, 1.0], [1.0, 3.0]])
    image = tf.constant(np.arange(32.0).reshape(1, 4, 4, 2), tf.float32)
    pooled = raw.MaxPoolWithArgmax(
        input=image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID"
    )
    signs = raw.LogMatrixDeterminant(input=a)
    rows = tf.constant([[1.0], [2.0]])
    wave = tf.complex(tf.constant([1.0, 2.0, 3.0, 4.0]), tf.constant([0.0, 1.0, 0.0, -1.0]))
    return [
        *(pooled.output, pooled.argmax, signs.sign, signs.log_abs_determinant),
        raw.BatchMatMulV2(x=a, y=a, adj_y=True),
        raw.MatrixTriangularSolve(matrix=a, rhs=rows, lower=False),
        raw.ResizeBilinear(images=image, size=[2, 6], half_pixel_centers=True),
        raw.ResizeNearestNeighbor(images=image, size=[3, 3]),
        raw.ExtractImagePatches(
            images=image, ksizes=[1, 2, 2, 1], strides=[1, 2, 2, 1], rates=[1, 1, 1, 1],
            padding="VALID",
        ),
        raw.FFT(input=wave),
        raw.IFFT(input=wave),
        raw.Svd(input=a).s,
        raw.StringJoin(inputs=[tf.constant(["a"]), tf.constant(["b"])], separator="-"),
        raw.StringToHashBucketFast(input=tf.constant(["a", "bc"]), num_buckets=100),
        raw.StaticRegexReplace(input=tf.constant(["a1"]), pattern="[0-9]", rewrite="x"),
    ]  # fmt: skip


def raw_operations_by_other_names(tf):
    raw = tf.raw_ops
    image = tf.constant(np.linspace(0.0, 1.0, 48).reshape(1, 4, 4, 3), tf.float32)
    boxes = tf.constant([[[0.1, 0.1, 0.8, 0.8]]])
    x = tf.constant([[0.5, -1.0, 2.0], [3.0, 0.25, -0.75]])
    wave = tf.complex(x, x * 2.0)
    picture = tf.io.encode_png(tf.constant(np.arange(12).reshape(2, 2, 3) * 20, tf.uint8))
    rows = raw.DecodeCSV(records=["1,a", "2,b"], record_defaults=[[0], [""]])
    hits = raw.ComputeAccidentalHits(
        true_classes=tf.constant([[1], [3]], tf.int64), num_true=1,
        sampled_candidates=tf.constant([3, 1, 5], tf.int64),
    )  # fmt: skip
    raw.Assert(condition=tf.constant(True), data=[x])
    return [
        raw.AdjustContrastv2(images=image, contrast_factor=1.5),
        raw.AdjustHue(images=image, delta=0.1),
        raw.AdjustSaturation(images=image, scale=0.5),
        *(hits.indices, hits.ids, *rows),
        raw.ConjugateTranspose(x=wave, perm=[1, 0]),
        raw.DecodeImage(contents=picture),
        raw.Dilation2D(
            input=image, filter=tf.ones([2, 2, 3]), strides=[1, 1, 1, 1], rates=[1, 1, 1, 1],
            padding="SAME",
        ),
        raw.DrawBoundingBoxes(images=image, boxes=boxes),
        raw.DrawBoundingBoxesV2(images=image, boxes=boxes, colors=[[0.0, 1.0, 0.0]]),
        raw.QuantizeAndDequantizeV2(input=x, input_min=-1.0, input_max=1.0, range_given=True),
        raw.QuantizeAndDequantizeV3(input=x, input_min=-1.0, input_max=1.0, num_bits=4),
        raw.QuantizeAndDequantizeV4(input=x, input_min=-2.0, input_max=2.0, num_bits=5),
        raw.ScatterNdNonAliasingAdd(input=x, indices=[[1]], updates=[[1.0, 2.0, 3.0]]),
        raw.StatelessRandomBinomial(shape=[3], seed=[1, 2], counts=10.0, probs=0.5),
        raw.StridedSlice(input=x, begin=[0, 1], end=[2, 3], strides=[1, 1], shrink_axis_mask=1),
        raw.StringFormat(inputs=[tf.constant([1, 2])], template="x: %s"),
        raw.TridiagonalSolve(
            diagonals=tf.constant([[1.0, 1.0, 0.0], [4.0, 4.0, 4.0], [0.0, 1.0, 1.0]]),
            rhs=tf.constant([[1.0], [2.0], [3.0]]),
        ),
        raw.UpperBound(sorted_inputs=[[1.0, 2.0, 2.0, 3.0]], values=[[2.0, 0.5, 9.0]]),
    ]  # fmt: skip
