"""Pictures, boxes and signals."""

import numpy as np


def photo(seed=0, n=12):
    """Return a picture."""
    return np.random.RandomState(seed).rand(n, n, 3).astype(np.float32)


def edges_and_blurs(tf):
    image = tf.constant(photo())[tf.newaxis]
    gray = tf.image.rgb_to_grayscale(image)
    sobel = tf.image.sobel_edges(gray)
    magnitude = tf.sqrt(tf.reduce_sum(sobel**2, axis=-1))
    x = np.arange(-1, 2)
    kernel = np.exp(-(x[:, None] ** 2 + x[None] ** 2) / 2.0)
    kernel = tf.constant(kernel / kernel.sum(), tf.float32)[:, :, None, None]

    @tf.function
    def blur(image):
        return tf.nn.conv2d(image, kernel, strides=[1, 1, 1, 1], padding="SAME")

    dilated = tf.nn.max_pool2d(gray, 3, 1, "SAME")
    eroded = -tf.nn.max_pool2d(-gray, 3, 1, "SAME")
    return magnitude[0, 3, :, 0], blur(gray)[0, :, 2, 0], (dilated - eroded)[0, 5, :, 0]


def augmentation_of_batches(tf):
    images = np.stack([photo(i, 8) for i in range(4)])

    def augment(image, seed):
        image = tf.image.resize_with_crop_or_pad(image, 10, 10)
        image = tf.image.stateless_random_crop(image, size=[8, 8, 3], seed=seed)
        image = tf.image.flip_left_right(image)
        image = tf.image.adjust_brightness(image, 0.1)
        image = tf.image.adjust_contrast(image, 1.5)
        return tf.clip_by_value(image, 0.0, 1.0)

    seeds = tf.stack([tf.range(4), tf.range(4) + 10], axis=1)
    data = tf.data.Dataset.from_tensor_slices((images, seeds)).map(augment).batch(4)
    made = next(iter(data))
    return made.shape.as_list(), made[:, 2, 3], tf.image.rot90(made)[0, 0]


def colours_changed(tf):
    image = tf.constant(photo(3, 6))
    hsv = tf.image.rgb_to_hsv(image)
    back = tf.image.hsv_to_rgb(hsv)
    hue = tf.image.adjust_hue(image, 0.2)
    saturated = tf.image.adjust_saturation(image, 1.7)
    gamma = tf.image.adjust_gamma(image, 0.5)
    yuv = tf.image.rgb_to_yuv(image)
    standard = tf.image.per_image_standardization(image)
    as_bytes = tf.image.convert_image_dtype(image, tf.uint8)
    return hsv[0], back[1], hue[2], saturated[3], gamma[4], yuv[5], standard[0], as_bytes[1]


def quality_of_pictures(tf):
    a, b = tf.constant(photo(4, 16)), tf.constant(photo(5, 16))
    near = 0.9 * a + 0.1 * b
    return (
        tf.image.psnr(a, near, max_val=1.0),
        tf.image.ssim(a, near, 1.0),
        tf.image.total_variation(near),
    )


def resized_and_cropped(tf):
    image = tf.constant(photo(6, 6))[None]

    @tf.function
    def shrink(image, size):
        return tf.image.resize(image, size, method=tf.image.ResizeMethod.NEAREST_NEIGHBOR)

    bigger = tf.image.resize(image, [9, 9], method="bilinear")
    cubic = tf.image.resize(image, [4, 4], method="bicubic")
    boxes = tf.constant([[0.1, 0.1, 0.8, 0.9], [0.0, 0.0, 1.0, 1.0]])
    crops = tf.image.crop_and_resize(image, boxes, [0, 0], [3, 3])
    patches = tf.image.extract_patches(image, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
    return bigger[0, 4], cubic[0, 1], crops[:, 1, 1], shrink(image, (3, 3))[0, 0], patches[0, 1, 1]


def boxes_without_overlap(tf):
    boxes = tf.constant(
        [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1]],
        tf.float32,
    )
    scores = tf.constant([0.9, 0.75, 0.6, 0.95, 0.5])
    built_in = tf.image.non_max_suppression(boxes, scores, 3, iou_threshold=0.5)

    def iou(a, b):
        top_left = tf.maximum(a[:2], b[..., :2])
        bottom_right = tf.minimum(a[2:], b[..., 2:])
        inter = tf.reduce_prod(tf.maximum(bottom_right - top_left, 0.0), axis=-1)
        area = tf.reduce_prod(a[2:] - a[:2]) + tf.reduce_prod(b[..., 2:] - b[..., :2], axis=-1)
        return inter / (area - inter)

    @tf.function
    def by_hand(boxes, scores, most):
        kept = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        count = 0
        alive = tf.ones_like(scores, tf.bool)
        while count < most and tf.reduce_any(alive):
            best = tf.argmax(tf.where(alive, scores, -1.0), output_type=tf.int32)
            kept = kept.write(count, best)
            count += 1
            alive = tf.logical_and(alive, iou(boxes[best], boxes) <= 0.5)
        return kept.stack()

    return built_in, by_hand(boxes, scores, tf.constant(4)), tf.gather(boxes, built_in)


def spectrogram_and_filters(tf):
    t = np.arange(256) / 256.0
    signal = tf.constant(np.sin(2 * np.pi * 20 * t) + 0.5 * np.sin(2 * np.pi * 50 * t), tf.float32)

    @tf.function
    def features(signal):
        stft = tf.signal.stft(signal, frame_length=64, frame_step=32)
        spectrogram = tf.abs(stft)
        mel = tf.signal.linear_to_mel_weight_matrix(8, 33, 256, 5.0, 120.0)
        mels = tf.tensordot(spectrogram, mel, 1)
        return spectrogram, tf.signal.mfccs_from_log_mel_spectrograms(tf.math.log(mels + 1e-6))

    spectrogram, mfcc = features(signal)
    frames = tf.signal.frame(signal, 32, 16)
    back = tf.signal.inverse_stft(
        tf.signal.stft(signal, 64, 32, window_fn=tf.signal.hann_window),
        64,
        32,
        window_fn=tf.signal.inverse_stft_window_fn(32),
    )
    return spectrogram[2, :12], mfcc[1], frames[3, :4], back[64:70]


def fourier_convolution(tf):
    rng = np.random.RandomState(7)
    a, b = tf.constant(rng.randn(16), tf.float32), tf.constant(rng.randn(16), tf.float32)

    @tf.function
    def convolve(a, b):
        return tf.signal.irfft(tf.signal.rfft(a, [32]) * tf.signal.rfft(b, [32]), [32])

    image = tf.complex(tf.constant(rng.randn(8, 8), tf.float32), tf.zeros([8, 8]))
    low_pass = tf.signal.fftshift(tf.signal.fft2d(image))
    mask = tf.cast(tf.pad(tf.ones([4, 4]), [[2, 2], [2, 2]]), tf.complex64)
    filtered = tf.math.real(tf.signal.ifft2d(tf.signal.ifftshift(low_pass * mask)))
    return convolve(a, b)[:8], filtered[0], tf.signal.dct(a)[:5]


def segmentation_by_watershed_of_labels(tf):
    grid = np.zeros((6, 6), np.int32)
    grid[0:2, 0:2] = grid[3:6, 2:5] = 1

    @tf.function
    def components(grid):
        labels = tf.reshape(tf.range(1, tf.size(grid) + 1), tf.shape(grid)) * grid
        changed = tf.constant(True)
        while changed:
            spread = tf.nn.max_pool2d(tf.cast(labels, tf.float32)[None, ..., None], 3, 1, "SAME")
            new = tf.cast(tf.squeeze(spread, [0, 3]), tf.int32) * grid
            changed = tf.reduce_any(new != labels)
            labels = new
        return labels

    labels = components(tf.constant(grid))
    values, index, counts = tf.unique_with_counts(tf.reshape(labels, [-1]))
    return labels, values, counts, index[:4]
