"""Write the values of `tf.image` that the tests compare with: run it where TensorFlow is.

python tests/frontend/record_images.py

"""

import json
from pathlib import Path

import numpy as np

METHODS = (
    *("bilinear", "nearest", "bicubic", "area"),
    *("lanczos3", "lanczos5", "mitchellcubic"),
)
ONE = "tf.image.{}(x)"
PLAIN = (
    *("flip_left_right", "flip_up_down", "transpose", "rgb_to_grayscale", "rgb_to_hsv"),
    *("hsv_to_rgb", "rgb_to_yuv", "yuv_to_rgb", "rgb_to_yiq", "yiq_to_rgb"),
    *("per_image_standardization", "total_variation", "rot90"),
)
CHANCE = {
    "flip_left_right": "", "flip_up_down": "", "brightness": "0.3, ", "contrast": "0.2, 1.8, ",
    "saturation": "0.2, 1.8, ", "hue": "0.3, ",
}  # fmt: skip
OLD = ("bilinear", "nearest_neighbor", "bicubic")
EXPRESSIONS = [
    *(
        f"tf.compat.v1.image.resize_{m}(x[None], {size}, align_corners={align})"
        for m in OLD
        for size in ("[3, 8]", "tf.shape(x)[:2] * 2")
        for align in (False, True)
    ),
    *(f"tf.compat.v1.image.resize_{m}(x[None], [3, 8], half_pixel_centers=True)" for m in OLD),
    *(f"tf.compat.v1.image.resize(x, [3, 8], method={n})" for n in range(4)),
    "tf.compat.v1.image.resize_area(x[None], [3, 8], align_corners=True)",
    "tf.compat.v1.image.resize_images(x, [9, 7], preserve_aspect_ratio=True)",
    *(f"tf.image.resize(x, [3, 8], {m!r})" for m in METHODS),
    *(f"tf.image.resize(x, [3, 8], {m!r}, antialias=True)" for m in METHODS),
    *(f"tf.image.resize(x, tf.shape(x)[:2] * 2, {m!r})" for m in METHODS),
    *(f"tf.image.resize(x, [9, 7], {m!r}, preserve_aspect_ratio=True)" for m in METHODS[:4]),
    *(f"tf.image.resize_with_pad(x, {h}, {w})" for h, w in ((4, 9), (7, 4), (10, 12))),
    *(
        f"tf.image.resize_with_crop_or_pad(x, {h}, {w})"
        for h, w in ((3, 4), (8, 3), (3, 9), (7, 8))
    ),
    *(f"tf.image.central_crop(x, {part})" for part in (0.3, 0.5, 1.0)),
    "tf.image.crop_to_bounding_box(x, 1, 2, 3, 2)",
    "tf.image.pad_to_bounding_box(x, 1, 2, 7, 9)",
    *map(ONE.format, PLAIN),
    "tf.image.grayscale_to_rgb(x[..., :1])",
    "tf.image.adjust_hue(x, 0.3)",
    "tf.image.adjust_saturation(x, 1.7)",
    *(f"tf.image.convert_image_dtype(x, {t!r}, True)" for t in ("uint8", "int16", "float16")),
    "tf.image.convert_image_dtype(tf.cast(x * 255.0, tf.uint8), 'int16')",
    "tf.image.convert_image_dtype(tf.cast(x * 9999.0, tf.int16), 'uint8')",
    *(f"tf.image.stateless_random_{n}(x, {a}seed=(3, 4))" for n, a in CHANCE.items()),
    *(f"tf.image.random_{n}(x, {a}seed=3)" for n, a in CHANCE.items()),
    "tf.image.random_crop(x, [2, 3, 3], seed=3)",
    "tf.image.stateless_random_crop(x, [2, 3, 3], seed=(3, 9))",
    "tf.image.sobel_edges(x[None])",
    "tf.image.psnr(x, x * 0.9, 1.0)",
    "tf.image.ssim(tf.image.resize(x, [13, 14]), tf.image.resize(x * 0.8, [13, 14]), 1.0)",
    "tf.image.ssim_multiscale(tf.image.resize(x, [31, 30]), tf.image.resize(x * 0.9, [31, 30]), "
    "1.0, power_factors=(0.4, 0.3, 0.3), filter_size=5)",
    *(
        f"tf.image.crop_and_resize(x[None], boxes, [0] * 5, [3, 4], {m!r}, 0.25)"
        for m in ("bilinear", "nearest")
    ),
    "tf.image.crop_and_resize(x[None], boxes, [0] * 5, [1, 3])",
    "tf.image.non_max_suppression(boxes, scores, 4, 0.3)",
    "tf.image.non_max_suppression_with_scores(boxes, scores, 5, 0.5, 0.1, 0.5)[0]",
    "tf.image.non_max_suppression_with_scores(boxes, scores, 5, 0.5, 0.1, 0.5)[1]",
    "tf.image.non_max_suppression_padded(boxes, scores, 5, 0.3, pad_to_max_output_size=True)[0]",
    "tf.image.combined_non_max_suppression(boxes[None, :, None], scores[None, :, None], 3, 4, "
    "0.3, 0.1).nmsed_boxes",
]


def names(tf):
    """Return what the expressions are about."""
    return {
        "tf": tf,
        "boxes": tf.constant(
            [[0, 0, 0.5, 0.5], [0.1, 0.1, 0.55, 0.6], [0.5, 0.5, 1, 1], [0.9, 0.8, 0.2, 0.1],
             [0, 0, 0.52, 0.5]]
        ),
        "scores": tf.constant([0.9, 0.8, 0.75, 0.6, 0.85]),
    }  # fmt: skip


def image(tf):
    """Return a small image whose pixels differ."""
    return tf.reshape(tf.range(90.0), [5, 6, 3]) * 37.0 % 91.0 / 91.0


def main():
    """Write what TensorFlow gives."""
    import tensorflow as tf  # noqa: PLC0415  (only where it is installed)

    found = {}
    for expression in EXPRESSIONS:
        tf.random.set_seed(5)
        value = np.asarray(eval(expression, {**names(tf), "x": image(tf)}))
        flat = [round(float(v), 6) for v in value.ravel()]
        found[expression] = [str(value.dtype), list(value.shape), flat]
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items())
    Path(__file__).with_name("image_values.json").write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
