"""Buckets of texts of every length: those of TensorFlow 2.21."""

import pytest

from gravure import tf
from gravure.frontend.formats.fingerprints import farm

TEXT = bytes((7 * i + i // 5 + 32) % 251 for i in range(300))
BUCKETS = {
    0: 1936946117179621455, 1: 4391848433299949651, 3: 490392689709395993,
    5: 722773104935098908, 8: 183548360858992715, 16: 3076401611851125829,
    17: 2154486883530084073, 31: 3087237702755308707, 32: 3769320570610564204,
    33: 4210202693020838548, 48: 1743693711385828723, 63: 647699038851452969,
    64: 3513607690112458209, 65: 2805139692850505806, 100: 211755516669998411,
    127: 30802083091388567, 128: 3076692913447104428, 129: 4563759053558788455,
    200: 2274181787866649783, 300: 1827930279502234653,
}  # fmt: skip


@pytest.mark.parametrize("size", BUCKETS)
def test_texts_are_put_into_the_same_buckets(size: int) -> None:
    assert farm(TEXT[:size]) % 2**62 == BUCKETS[size]
    [bucket] = tf.strings.to_hash_bucket_fast([TEXT[:size]], 2**62).numpy()
    assert bucket == BUCKETS[size]
