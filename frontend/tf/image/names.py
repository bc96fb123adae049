"""What `tf.image` has, beside what reads and writes files."""

from __future__ import annotations

from . import boxes, chance, colours, cutting, drawing, quality, resizing


def _listed(room: object, *names: str) -> dict[str, object]:
    return {name: getattr(room, name) for name in names}


NAMES: dict[str, object] = {
    **_listed(resizing, "ResizeMethod", "resize", "resize_with_pad"),
    **_listed(cutting, "flip_left_right", "flip_up_down", "rot90", "crop_to_bounding_box"),
    **_listed(cutting, "pad_to_bounding_box", "resize_with_crop_or_pad", "central_crop"),
    **_listed(colours, "convert_image_dtype", "adjust_brightness", "adjust_contrast"),
    **_listed(colours, "adjust_gamma", "adjust_hue", "adjust_saturation", "rgb_to_grayscale"),
    **_listed(colours, "grayscale_to_rgb", "rgb_to_yuv", "yuv_to_rgb", "rgb_to_yiq", "yiq_to_rgb"),
    **_listed(colours, "rgb_to_hsv", "hsv_to_rgb", "per_image_standardization"),
    **_listed(quality, "psnr", "ssim", "ssim_multiscale", "sobel_edges", "total_variation"),
    **_listed(boxes, "crop_and_resize", "non_max_suppression", "non_max_suppression_padded"),
    **_listed(boxes, "non_max_suppression_with_scores", "non_max_suppression_overlaps"),
    **_listed(boxes, "combined_non_max_suppression"),
    **_listed(chance, "random_brightness", "random_contrast", "random_crop", "random_hue"),
    **_listed(chance, "random_flip_left_right", "random_flip_up_down", "random_saturation"),
    **_listed(chance, "stateless_random_brightness", "stateless_random_contrast"),
    **_listed(chance, "stateless_random_crop", "stateless_random_hue"),
    **_listed(chance, "stateless_random_flip_left_right", "stateless_random_flip_up_down"),
    **_listed(chance, "stateless_random_saturation"),
    **_listed(drawing, "draw_bounding_boxes", "sample_distorted_bounding_box"),
    **_listed(drawing, "stateless_sample_distorted_bounding_box"),
    "extract_glimpse": cutting.extract_glimpse,
    "extract_patches": cutting.extract_patches,
    "image_gradients": quality.steps,
    "transpose": cutting.turned,
}
